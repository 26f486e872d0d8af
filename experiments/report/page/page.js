/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page.js - what a reader can do with the report beyond reading it: sort and
 * filter its tables, and look closer at its figures.
 *
 * The page is whole without this script: pictures and tables stand in it, and
 * print shows them alone.  A figure's numbers are those that gnuplot drew:
 * NAME.dat and the head of NAME.gp, as hidden text beside the picture.  Charts
 * are uPlot's.  Nothing is fetched.
 */
(function () {
"use strict";

function make(tag, className, text) {
    const element = document.createElement(tag);

    if (className)
        element.className = className;
    if (text !== undefined)
        element.textContent = text;
    return element;
}

function make_button(text, action) {
    const button = make("button", "", text);

    button.type = "button";
    button.addEventListener("click", action);
    return button;
}

/* A labelled list; change(i) hears which of `names` was chosen. */
function make_choice(title, names, change) {
    const label = make("label", "", title + " ");
    const select = make("select");

    names.forEach(function (name, i) {
        const option = make("option", "", name);

        option.value = i;
        select.append(option);
    });
    select.addEventListener("change", function () { change(Number(select.value)); });
    label.append(select);
    return label;
}

/* Four significant digits, thousands apart. */
function format_number(value) {
    if (value === null || value === undefined || !isFinite(value))
        return "-";
    const size = Math.abs(value);

    if (size !== 0 && size < 1e-3)
        return value.toExponential(2);
    return value.toLocaleString("en", { maximumSignificantDigits: size < 1e4 ? 4 : 15,
                                        maximumFractionDigits: size < 1e4 ? 4 : 0 });
}

/* As many decimals as tell a tick from the next one, `step` away; on a
 * logarithmic axis steps tell nothing. */
function format_tick(value, step) {
    return step > 0 && value >= step ? value.toLocaleString("en", {
        maximumFractionDigits: Math.max(0, Math.ceil(-Math.log10(step)) + 1)
    }) : format_number(value);
}

/* Tables ------------------------------------------------------------------ */

const ROWS_TO_FILTER = 8;

/* What a cell says first, without what stands small below it. */
function cell_text(row, column) {
    const cell = row.cells[column];

    return cell === undefined || cell.firstChild === null
        ? "" : cell.firstChild.textContent.trim();
}

/* The number that a text begins with; NaN: none. */
function leading_number(text) {
    const found = text.replace(/[\u2212]/g, "-").match(/^[-+]?[0-9][0-9,]*(\.[0-9]*)?(e[-+]?[0-9]+)?/i);

    return found === null ? NaN : Number(found[0].replace(/,/g, ""));
}

/* Numbers by size, before words by letter; cells without either come last. */
function compare_cells(a, b) {
    const x = leading_number(a), y = leading_number(b);

    if (isNaN(x) !== isNaN(y))
        return isNaN(x) ? 1 : -1;
    return isNaN(x) ? a.localeCompare(b, "en") : x - y;
}

/* Click by click: upward, downward, as the page had it. */
function sort_table(table, column, rows) {
    const heads = table.tHead.rows[0].cells, head = heads[column];
    const was = head.getAttribute("aria-sort");
    const order = was === null ? "ascending" : was === "ascending" ? "descending" : null;
    const sorted = rows.slice();

    for (const other of heads)
        other.removeAttribute("aria-sort");
    if (order !== null) {
        const sign = order === "ascending" ? 1 : -1;

        head.setAttribute("aria-sort", order);
        sorted.sort(function (a, b) {
            const x = cell_text(a, column), y = cell_text(b, column);

            return (x === "" || x === "-") !== (y === "" || y === "-")
                ? (x === "" || x === "-" ? 1 : -1)
                : sign * compare_cells(x, y) || rows.indexOf(a) - rows.indexOf(b);
        });
    }
    table.tBodies[0].append(...sorted);
}

/* Hides rows that lack one of the words. */
function filter_rows(rows, text, count) {
    const words = text.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;

    for (const row of rows) {
        const said = row.textContent.toLowerCase();

        row.hidden = !words.every(function (word) { return said.includes(word); });
        shown += !row.hidden;
    }
    count.textContent = words.length ? shown + " of " + rows.length + " rows" : "";
}

function serve_table(table) {
    const rows = Array.from(table.tBodies[0].rows);

    if (rows.length > 2)
        Array.from(table.tHead.rows[0].cells).forEach(function (head, column) {
            const button = make_button(head.textContent, function () {
                sort_table(table, column, rows);
            });

            button.className = "sort";
            button.title = "sort by this column";
            head.textContent = "";
            head.append(button);
        });
    if (rows.length >= ROWS_TO_FILTER) {
        const label = make("label", "tool", "rows with "), input = make("input");
        const count = make("span", "count");

        input.type = "search";
        input.addEventListener("input", function () {
            filter_rows(rows, input.value, count);
        });
        count.setAttribute("role", "status");
        label.append(input, " ", count);
        table.parentNode.before(label);
    }
}

/* Numbers of a figure ----------------------------------------------------- */

/* 'it''s' as gnuplot writes it in single quotation marks. */
function unquote(text) {
    return text.replace(/''/g, "'");
}

/* A gnuplot script's arrays and, from the lines that the program wrote above its
 * commands, values: name = number, name = 'text', array name[n] = [...],
 * name[i] = number. */
function read_script(text) {
    const head = {};
    const one = /^(?:array )?(\w+)(\[\d+\])?(?: = (.*))?$/;
    const commands = text.indexOf("# SPDX");

    for (const line of text.slice(0, commands).split("\n")
                           .concat(text.slice(commands).replace(/\\\n */g, "")
                                       .split("\n").filter(function (command) {
                               return command.startsWith("array ");
                           })))
        for (const part of line.includes("'") ? [line] : line.split("; ")) {
            const found = part.match(one);

            if (found === null)
                continue;
            const name = found[1], value = found[3];

            if (part.startsWith("array ") && value === undefined)
                head[name] = [];
            else if (part.startsWith("array "))
                head[name] = Array.from(value.matchAll(/'((?:[^']|'')*)'|[-+.\w]+/g),
                                        function (item) {
                    return item[1] === undefined ? Number(item[0]) : unquote(item[1]);
                });
            else if (found[2] !== undefined)
                head[name][Number(found[2].slice(1, -1)) - 1] = Number(value);
            else if (value !== undefined)
                head[name] = value.startsWith("'") ? unquote(value.slice(1, -1))
                                                   : Number(value);
        }
    return head;
}

/* Blocks of rows of numbers; two empty lines part them, as gnuplot's `index`. */
function read_blocks(text) {
    return text.split(/\n\n\n/).map(function (block) {
        return block.split("\n").filter(function (line) {
            return line.trim() !== "" && line[0] !== "#";
        }).map(function (line) {
            return line.trim().split(/\s+/).map(Number);
        }).filter(function (row) { return !isNaN(row[0]); });
    });
}

/* Curves that step, on one axis: [all x, y of the first, ...].  A curve holds
 * its value until its next x; before its first it has none. */
function join_steps(curves) {
    const all = new Set();

    for (const curve of curves)
        for (const point of curve)
            all.add(point[0]);
    const xs = Array.from(all).sort(function (a, b) { return a - b; });

    return [xs].concat(curves.map(function (curve) {
        let i = 0, value = null;

        return xs.map(function (x) {
            for (; i < curve.length && curve[i][0] <= x; i++)
                value = curve[i][1];
            return value;
        });
    }));
}

/* Charts ------------------------------------------------------------------ */

/* Of Okabe and Ito, as plots/style.gp; dashes tell curves apart in grey. */
const DASH = [[], [10, 3], [9, 3, 3, 3], [5, 3], [2, 3], [], [10, 3], [9, 3, 3, 3]];
const dark = window.matchMedia("(prefers-color-scheme: dark)");

function ink() { return dark.matches ? "#ddd" : "#222"; }
function rule() { return dark.matches ? "#444" : "#ddd"; }

function axis(label, side) {
    return { label: label, stroke: ink, grid: { stroke: rule, width: 1 },
             ticks: { stroke: rule }, font: "13px system-ui,sans-serif",
             labelFont: "13px system-ui,sans-serif", side: side,
             size: side === 3 ? 70 : 46,
             values: function (u, splits, i, space, step) {
                 return splits.map(function (v) {
                     return v === null ? "" : format_tick(v, step);
                 });
             } };
}

function curves_of(names, colour, more) {
    return names.map(function (name, i) {
        const black = colour[i % colour.length] === "#000000";

        return Object.assign({
            label: name, width: 2, dash: DASH[i % DASH.length], points: { show: false },
            stroke: function () { return black ? ink() : colour[i % colour.length]; },
            value: function (u, v) { return format_number(v); }
        }, more);
    });
}

/* Buttons for those who do not drag: each moves the x axis of `chart()`. */
function zoom_buttons(chart) {
    const bar = make("div", "tool");
    let whole = null;

    function move(scale, shift) {
        const u = chart(), x = u.scales.x, log = x.distr === 3;
        const low = log ? Math.log(x.min) : x.min, high = log ? Math.log(x.max) : x.max;
        const middle = (low + high) / 2 + shift * (high - low);
        const half = scale * (high - low) / 2;

        if (whole === null || whole.u !== u)
            whole = { u: u, min: u.data[0][0], max: u.data[0][u.data[0].length - 1] };
        const min = log ? Math.exp(middle - half) : middle - half;
        const max = log ? Math.exp(middle + half) : middle + half;

        if (min < whole.max && max > whole.min)
            u.setScale("x", { min: Math.max(min, whole.min), max: Math.min(max, whole.max) });
    }
    bar.append(make_button("zoom in", function () { move(0.5, 0); }),
               make_button("zoom out", function () { move(2, 0); }),
               make_button("\u2190 earlier", function () { move(1, -0.25); }),
               make_button("later \u2192", function () { move(1, 0.25); }),
               make_button("all", function () { move(1e9, 0); }),
               make("span", "pale", " or drag over the chart; double-click shows all again"));
    return bar;
}

/* A chart with what chooses its data.  options(choice) makes what uPlot takes:
 * { opts, data }; `choices`: [title, names]. */
function put_chart(panel, choices, options) {
    const chosen = choices.map(function () { return 0; });
    const place = make("div", "chart");
    let chart = null;

    function draw() {
        const made = options(chosen);

        if (chart !== null)
            chart.destroy();
        made.opts.width = Math.max(260, panel.clientWidth);
        chart = new uPlot(made.opts, made.data, place);
        chart.over.parentNode.parentNode.setAttribute("role", "img");
        chart.over.parentNode.parentNode.setAttribute("aria-label", made.alternative);
    }
    choices.forEach(function (choice, i) {
        if (choice[1].length > 1)
            panel.append(make_choice(choice[0], choice[1], function (number) {
                chosen[i] = number;
                draw();
            }));
    });
    panel.append(zoom_buttons(function () { return chart; }), place);
    draw();
    return { draw: draw, chart: function () { return chart; } };
}

function look_jct_cdf(panel, head, blocks, colour) {
    const steps = uPlot.paths.stepped({ align: 1 });

    return put_chart(panel, [["at", head.point_title]], function (chosen) {
        const mine = blocks.slice(chosen[0] * head.policies, (chosen[0] + 1) * head.policies);

        return {
            alternative: "shares of jobs done by job completion time; the picture above",
            data: join_steps(mine.map(function (rows) {
                return rows.map(function (row) {
                    return [row[0] / head.time_unit, 100 * row[1]];
                });
            })),
            opts: { height: 360, scales: { x: { time: false, distr: 3 }, y: { range: [0, 100] } },
                    axes: [axis("job completion time, " + head.time_name, 2),
                           axis("submitted jobs done, percent", 3)],
                    series: [{ label: "JCT, " + head.time_name,
                               value: function (u, v) { return format_number(v); } }]
                        .concat(curves_of(head.policy, colour, { paths: steps })) }
        };
    });
}

function look_timeline(panel, head, blocks, colour) {
    const steps = uPlot.paths.stepped({ align: 1 });
    const measures = ["asks waiting", "GPUs leased", "GPUs at work"], column = [4, 2, 3];

    return put_chart(panel, [["show", measures]], function (chosen) {
        return {
            alternative: measures[chosen[0]] + " over time; the picture above",
            data: join_steps(blocks.slice(0, head.policies).map(function (rows) {
                return rows.map(function (row) {
                    return [(row[0] - head.zero_s) / head.time_unit, row[column[chosen[0]]]];
                });
            })),
            opts: { height: 320, scales: { x: { time: false } },
                    axes: [axis("simulated time, " + head.time_name, 2),
                           axis(measures[chosen[0]], 3)],
                    series: [{ label: "t, " + head.time_name,
                               value: function (u, v) { return format_number(v); } }]
                        .concat(curves_of(head.policy, colour, { paths: steps })) }
        };
    });
}

/* Whiskers from low to high beside each mean. */
function draw_whiskers(low, high) {
    return function (u) {
        u.ctx.save();
        u.ctx.lineWidth = 1.5 * devicePixelRatio;
        for (let p = 0; p < low.length; p++)
            for (let i = 0; i < u.data[0].length; i++) {
                if (!u.series[p + 1].show || !isFinite(low[p][i]) || low[p][i] === null)
                    continue;
                const x = u.valToPos(u.data[0][i], "x", true) +
                          (p - (low.length - 1) / 2) * 3 * devicePixelRatio;

                u.ctx.strokeStyle = u.series[p + 1].stroke(u, p + 1);
                u.ctx.beginPath();
                u.ctx.moveTo(x, u.valToPos(low[p][i], "y", true));
                u.ctx.lineTo(x, u.valToPos(high[p][i], "y", true));
                u.ctx.stroke();
            }
        u.ctx.restore();
    };
}

function look_sweep(panel, head, blocks, colour) {
    const shown = head.present.split(" ").map(function (m) { return Number(m) - 1; });
    const names = shown.map(function (m) { return head.what[m] + ", " + head.unit_of[m]; });

    return put_chart(panel, [["show", names]], function (chosen) {
        const m = shown[chosen[0]], factor = head.factor[m];
        const xs = blocks[0].map(function (row) { return row[0]; });
        const of = function (offset) {
            return blocks.slice(0, head.policies).map(function (rows) {
                return rows.map(function (row) {
                    const value = factor * row[1 + 3 * m + offset];

                    return isNaN(value) ? null : value;
                });
            });
        };
        const means = of(0), low = of(1), high = of(2);
        const top = Math.max(...high.flat(), ...means.flat());
        const bottom = head.below && head.below[m] ? Math.min(...low.flat(), ...means.flat()) : 0;

        return {
            alternative: names[chosen[0]] + " by " + head.swept_key + "; the picture above",
            data: [xs].concat(means),
            opts: { height: 360,
                    scales: { x: { time: false, distr: head.swept_ratio > 0 ? 3 : 1 },
                              y: { range: [1.06 * bottom, Math.max(0, 1.06 * top)] } },
                    axes: [axis(head.swept_key +
                                (head.swept_unit ? ", " + head.swept_unit : ""), 2),
                           axis(names[chosen[0]], 3)],
                    hooks: { draw: [draw_whiskers(low, high)] },
                    series: [{ label: head.swept_key,
                               value: function (u, v) { return format_number(v); } }]
                        .concat(curves_of(head.policy, colour, {
                            points: { show: true, size: 7 },
                            value: function (u, v, s, i) {
                                return v === null || i === null ? "-" : format_number(v) +
                                    (isFinite(low[s - 1][i]) && low[s - 1][i] !== high[s - 1][i]
                                         ? " [" + format_number(low[s - 1][i]) + ", " +
                                           format_number(high[s - 1][i]) + "]" : "");
                            }
                        })) }
        };
    });
}

/* The Gantt chart --------------------------------------------------------- */

/* The colour of a kind in a tone: the rule of plots/gantt.gp, whose arrays these are. */
function tint(head, kind, tone) {
    const hue = head.hues[(head.hue[kind] - 1) % head.hues.length];
    const light = head.lightness[head.shade[kind]];

    return "#" + [16, 8, 0].map(function (bits) {
        const channel = hue >> bits & 255;
        const lit = Math.round(light > 0 ? channel + (255 - channel) * light
                                         : channel * (1 + light));

        return Math.round(lit + (255 - lit) * 0.15 * tone).toString(16).padStart(2, "0");
    }).join("");
}

/* "train 2, GPU 5" of a row. */
function row_name(head, row) {
    let n = 0;

    while (n + 1 < head.nodes && head.node_row[n + 1] <= row)
        n++;
    return head.node[n] + ", GPU " + (Math.floor(row) - head.node_row[n]);
}

function bar_text(head, bar) {
    const from = (bar[2] - head.zero_s) / head.time_unit;
    const to = (bar[3] - head.zero_s) / head.time_unit;
    const job = bar.length > 6 && bar[6] > 0 ? "job " + head.bar_job[bar[6] - 1] + ", " : "";

    return job + (bar[4] > 0 ? head.kind[bar[4] - 1] : "between two phases of one job") +
           ": " + format_tick(from, 0.01) + " to " + format_tick(to, 0.01) + " " + head.time_name +
           " (" + format_number(bar[3] - bar[2]) + " s)";
}

function draw_bars(head, bars) {
    return function (u) {
        u.ctx.save();
        u.ctx.beginPath();
        u.ctx.rect(u.bbox.left, u.bbox.top, u.bbox.width, u.bbox.height);
        u.ctx.clip();
        for (const bar of bars) {
            const x = u.valToPos((bar[2] - head.zero_s) / head.time_unit, "x", true);
            const end = u.valToPos((bar[3] - head.zero_s) / head.time_unit, "x", true);
            const y = u.valToPos(bar[0], "y", true), low = u.valToPos(bar[1], "y", true);

            u.ctx.fillStyle = bar[4] > 0 ? tint(head, bar[4] - 1, bar[5])
                                         : dark.matches ? "#3a3a3a" : "#e4e4e4";
            u.ctx.fillRect(x, y, Math.max(1, end - x), low - y);
        }
        u.ctx.strokeStyle = dark.matches ? "#888" : "#444";
        u.ctx.lineWidth = devicePixelRatio / 2;
        for (let n = 1; n < head.nodes; n++) {
            const y = u.valToPos(head.node_row[n], "y", true);

            u.ctx.beginPath();
            u.ctx.moveTo(u.bbox.left, y);
            u.ctx.lineTo(u.bbox.left + u.bbox.width, y);
            u.ctx.stroke();
        }
        u.ctx.restore();
    };
}

/* Says below the chart what lies under the pointer. */
function name_bar(head, bars, said) {
    return function (u) {
        if (u.cursor.left === null || u.cursor.left < 0)
            return;
        const t = u.posToVal(u.cursor.left, "x") * head.time_unit + head.zero_s;
        const row = u.posToVal(u.cursor.top, "y");
        const under = bars.filter(function (bar) {
            return bar[0] <= row && row < bar[1] && bar[2] <= t && t < bar[3];
        });

        if (row >= 0 && row < head.rows)
            said.textContent = row_name(head, row) + ": " +
                (under.length ? bar_text(head, under[under.length - 1]) : "no phase of any job");
    };
}

function look_gantt(panel, head, blocks) {
    const sides = [head.left].concat(head.right ? [head.right] : []);
    const said = make("p", "pale", "Point at a bar to read what it is.");
    const first = (head.start_s - head.zero_s) / head.time_unit;
    const last = (head.end_s - head.zero_s) / head.time_unit;
    const names = sides.map(function (p) { return head.policy[p - 1]; });
    const made = put_chart(panel, [["policy", names]], function (chosen) {
        const bars = blocks[3 * chosen[0]].concat(blocks[3 * chosen[0] + 1]);

        return {
            alternative: "what every GPU does under " + names[chosen[0]] + "; the picture above",
            data: [[first, last], [null, null]],
            opts: { height: 80 + Math.min(900, Math.max(260, head.rows * 9)),
                    scales: { x: { time: false },
                              y: { range: [0, head.rows], dir: -1 } },
                    legend: { show: false },
                    axes: [axis("simulated time, " + head.time_name, 2),
                           Object.assign(axis("", 3), {
                               size: 110, grid: { show: false },
                               splits: function () {
                                   return head.node.map(function (name, n) {
                                       return (head.node_row[n] + head.node_row[n + 1]) / 2;
                                   });
                               },
                               values: function () { return head.node; } })],
                    hooks: { draw: [draw_bars(head, bars)],
                             setCursor: [name_bar(head, bars, said)] },
                    series: [{}, { show: true }] }
        };
    });

    said.setAttribute("role", "status");
    panel.append(said);
    return made;
}

/* Figures ----------------------------------------------------------------- */

const colours = read_script(document.querySelector("pre.style").textContent).colour;
const looks = { jct_cdf: look_jct_cdf, timeline: look_timeline, sweep: look_sweep,
                gantt: look_gantt };

/* The button under a picture; its chart is made when it is first asked for. */
function serve_figure(figure) {
    const script = figure.querySelector("pre.gp"), dat = figure.querySelector("pre.dat");
    const panel = make("div", "look");
    let made = null;
    const button = make_button("look closer: hover, zoom, choose", function () {
        const open = panel.hidden;

        panel.hidden = !open;
        button.setAttribute("aria-expanded", String(open));
        if (open && made === null) {
            made = looks[figure.dataset.figure](panel, read_script(script.textContent),
                                                read_blocks(dat.textContent), colours);
        } else if (open) {
            made.draw();
        }
    });

    panel.hidden = true;
    button.setAttribute("aria-expanded", "false");
    figure.append(button, panel);
    dark.addEventListener("change", function () {
        if (made !== null && !panel.hidden)
            made.draw();
    });
}

document.querySelectorAll(".wide > table").forEach(serve_table);
document.querySelectorAll("figure[data-figure]").forEach(serve_figure);
})();

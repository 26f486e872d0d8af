# SPDX-License-Identifier: GPL-3.0-or-later
#
# page.awk - from the comment and the checks of each claim: claims.csv,
# report.html, and a table on stdout.
#
# Expectations whose claim is the row's id alone decide; others ("A1 at half
# the cores") are shown beside them.  All hold: holds; none: does not hold;
# some: holds if.  A border lies between two neighbours of a sweep with
# different verdicts.

# The fields of one CSV line into f[1..n].
function csv(line,    n, c, i, quoted, text) {
    n = 1; text = ""; quoted = 0
    for (i = 1; i <= length(line); i++) {
        c = substr(line, i, 1)
        if (quoted && c == "\"" && substr(line, i + 1, 1) == "\"") {
            text = text c; i++
        } else if (c == "\"")
            quoted = !quoted
        else if (c == "," && !quoted) {
            f[n++] = text; text = ""
        } else
            text = text c
    }
    f[n] = text
    return n
}

function html(text) {
    gsub(/&/, "\\&amp;", text); gsub(/</, "\\&lt;", text)
    gsub(/>/, "\\&gt;", text)
    return text
}

# A list in a cell: each item on a line.
function cell(text) {
    text = html(text)
    gsub(/; /, ";<br>", text)
    return text
}

function quote(text) {
    if (text !~ /[,"]/)
        return text
    gsub(/"/, "\"\"", text)
    return "\"" text "\""
}

function number(x) { return sprintf("%.3g", x) }

# What differs between two labels that differ in one word; "" otherwise.
function step(a, b,    x, y, n, i, found, text, key) {
    n = split(a, x, " ")
    if (split(b, y, " ") != n)
        return ""
    for (i = 1; i <= n; i++)
        if (x[i] != y[i]) {
            if (index(x[i], "=") == 0)
                return ""
            found++
            key = x[i]; sub(/=.*/, "", key)
            sub(/.*\./, "", key)
            sub(/^[^=]*=/, "", y[i]); sub(/^[^=]*=/, "", x[i])
            text = key " between " x[i] " and " y[i]
        }
    return found == 1 ? text : ""
}

# A label without the paths of its keys.
function short(label,    n, i, w, key, text) {
    n = split(label, w, " ")
    for (i = 1; i <= n; i++) {
        if (index(w[i], "=") > 0) {
            key = w[i]; sub(/=.*/, "", key); sub(/.*\./, "", key)
            sub(/^[^=]*=/, "", w[i])
            w[i] = key "=" w[i]
        }
        text = text (i > 1 ? " " : "") w[i]
    }
    return text
}

function add(list, text, by) {
    return list == "" || text == "" ? list text : list by text
}

function measured(i,    unit, text) {
    unit = percent[i] ? "%" : ""
    if (value[i] == "")
        return "none"
    text = (percent[i] && value[i] > 0 ? "+" : "") number(value[i]) unit
    if (low[i] != "")
        text = text " [" number(low[i]) ", " number(high[i]) "]"
    return text
}

function limits(i,    unit) {
    unit = percent[i] ? "%" : ""
    if (least[i] == "")
        return "at most " most[i] unit
    if (most[i] == "")
        return "at least " least[i] unit
    return "between " least[i] unit " and " most[i] unit
}

function subject(i) {
    return metric[i] (policy[i] == "advice" ? "" : " of " policy[i]) \
        (vs[i] == "" ? "" : " vs " vs[i]) \
        (vspoint[i] == "" ? "" : " vs " short(vspoint[i]))
}

# Each border once.
function border(text) {
    if (index("; " borders ";", "; " text ";") == 0)
        borders = add(borders, text, "; ")
}

# ---- one claim ------------------------------------------------------------

# Is the word in the label of every deciding check like i?
function common(word, i,    j) {
    for (j = 1; j <= n; j++)
        if (claim[j] == id && like(i, j) &&
            index(" " short(point[j]) " ", " " word " ") == 0)
            return 0
    return 1
}

function like(i, j) {
    return subject(i) == subject(j) && limits(i) == limits(j)
}

# What tells a check from those like it: " at rate=4/h".
function where(i,    n, w, k, text) {
    if (point[i] == "base")
        return ""
    n = split(short(point[i]), w, " ")
    for (k = 1; k <= n; k++)
        if (policy[i] == "advice" || !common(w[k], i))
            text = add(text, w[k], " ")
    return text == "" ? "" : " at " text
}

function note(i) {
    if (like(i, group))
        figures = figures ", " measured(i) where(i)
    else
        figures = add(figures, subject(i) ": " measured(i) where(i), "; ")
    if (verdict[i] == "holds" && like(i, last_held))
        holding = holding (everywhere(i) ? "" : "," where(i))
    else if (verdict[i] == "holds")
        holding = add(holding, subject(i) " " limits(i) \
            (everywhere(i) ? "" : where(i)), "; ")
    if (verdict[i] == "holds")
        last_held = i
    group = i
}

# Do all deciding checks like i hold?
function everywhere(i,    j) {
    if (policy[i] == "advice")
        return 0
    for (j = 1; j <= n; j++)
        if (claim[j] == id && like(i, j) && verdict[j] != "holds")
            return 0
    return 1
}

function judge(    i, last) {
    held = votes = undecided = group = last_held = 0
    figures = borders = holding = ""
    for (i = 1; i <= n; i++) {
        if (claim[i] != id && claim[i] != id " border")
            continue
        if (last && like(i, last) &&
            (verdict[i] == "holds") != (verdict[last] == "holds"))
            border(step(point[last], point[i]))
        last = i
        if (claim[i] != id)
            continue
        votes++
        held += verdict[i] == "holds"
        undecided += verdict[i] == "undecided"
        note(i)
    }
    answer = held == votes ? "holds" : undecided == votes ? "undecided" \
           : held == 0 ? "does not hold" : borders == "" ? "holds in part" \
           : "holds if"
}

# A bar for each check, all of one metric on one scale; a line where the limit
# is.
function chart(    i, j, max, x, y, w, text, sign, scale, left) {
    w = 360; left = 470; y = 4
    text = "<svg viewBox=\"0 0 1000 " (n * 20 + 8) "\" role=\"img\">"
    for (i = 1; i <= n; i++) {
        max = 1e-300
        for (j = 1; j <= n; j++)
            if (metric[j] == metric[i] && percent[j] == percent[i]) {
                if (size(value[j]) > max) max = size(value[j])
                if (size(low[j]) > max) max = size(low[j])
                if (size(high[j]) > max) max = size(high[j])
                if (size(least[j]) > max) max = size(least[j])
                if (size(most[j]) > max) max = size(most[j])
            }
        scale = w / 2 / max
        sign = left + w / 2
        text = text "<text x=\"" left - 8 "\" y=\"" y + 13 \
            "\" text-anchor=\"end\">" \
            html(substr(metric[i] " " policy[i] " " short(point[i]), 1, 66)) \
            "</text>"
        x = value[i] * scale
        text = text sprintf("<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" " \
            "height=\"12\" class=\"%s\"/>", x < 0 ? sign + x : sign, y + 2,
            x < 0 ? -x : x, verdict[i] == "holds" ? "yes" \
            : verdict[i] == "undecided" ? "maybe" : "no")
        if (low[i] != "")
            text = text sprintf("<path d=\"M%.1f %dH%.1f\"/>",
                sign + low[i] * scale, y + 8, sign + high[i] * scale)
        if (least[i] != "")
            text = text sprintf("<path class=\"limit\" d=\"M%.1f %dv18\"/>",
                sign + least[i] * scale, y - 1)
        if (most[i] != "")
            text = text sprintf("<path class=\"limit\" d=\"M%.1f %dv18\"/>",
                sign + most[i] * scale, y - 1)
        text = text "<text x=\"" left + w + 8 "\" y=\"" y + 13 "\">" \
            html(measured(i)) "</text>"
        y += 20
    }
    return text "</svg>"
}

function size(x) { return x == "" ? 0 : x < 0 ? -x : x + 0 }

function finish(    i, title) {
    if (id == "")
        return
    judge()
    printf "%-3s %-13s ", id, answer
    lines = figures
    gsub(/; /, "\n                  ", lines)
    print lines
    if (borders != "")
        printf "%17s border: %s\n", "", borders
    print id "," quote(answer) "," held "," votes "," quote(figures) "," \
        quote(borders) "," quote(holding) > (out "/claims.csv")
    title = words; sub(/\n\n.*/, "", title); sub(/^Claim ..: /, "", title)
    rows = rows "<tr><td><a href=\"#" name "\">" id "</a></td><td>" \
        html(title) "</td><td class=\"" (answer ~ /^holds ./ ? "part" \
        : substr(answer, 1, 5)) "\">" answer \
        (answer ~ /(if|part)$/ ? ": " cell(holding) : "") "</td><td>" \
        cell(figures) "</td><td>" cell(borders) "</td><td><a href=\"" \
        (policy[1] == "advice" ? name "/checks.csv" : name "/report.html") \
        "\">" (policy[1] == "advice" ? "figures" : "charts") \
        "</a></td></tr>\n"
    text = text "<h2 id=\"" name "\">" id ": " answer "</h2>\n<pre>" \
        html(words) "</pre>\n" chart() "\n<table><tr><th>verdict</th>" \
        "<th>expected</th><th>found</th></tr>\n"
    for (i = 1; i <= n; i++)
        text = text "<tr><td>" verdict[i] "</td><td>" html(claim[i] ": " \
            subject(i) " " limits(i) \
            (point[i] == "base" ? "" : " at " short(point[i]))) "</td><td>" \
            html(reason[i]) "</td></tr>\n"
    text = text "</table>\n"
}

BEGIN { print "claim,verdict,held,judged,figures,border,holds_at" \
            > (out "/claims.csv") }

/^@claim / {
    finish()
    name = $2; id = name; sub(/_.*/, "", id)
    n = checks = 0; words = ""
    next
}
/^@checks$/ { checks = 1; next }
!checks { words = words (words == "" ? "" : "\n") $0; next }
checks == 1 { checks = 2; next }
{
    csv($0)
    n++
    claim[n] = f[1]; point[n] = f[2]; metric[n] = f[3]; policy[n] = f[4]
    vs[n] = f[5]; percent[n] = f[6] + 0; least[n] = f[7]; most[n] = f[8]
    value[n] = f[11]; low[n] = f[12]; high[n] = f[13]
    verdict[n] = f[14]; reason[n] = f[15]; vspoint[n] = f[16]
}

END {
    finish()
    page = out "/report.html"
    print "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">" \
        "<title>Claims under test</title>\n<style>" \
        "body{font:15px/1.4 sans-serif;max-width:1300px;margin:2em auto;" \
        "padding:0 1em}table{border-collapse:collapse;font-size:13px}" \
        "td,th{border:1px solid #ccc;padding:3px 8px;text-align:left;" \
        "vertical-align:top}pre{background:#f6f6f6;padding:.8em;" \
        "overflow-x:auto}svg{width:100%;font:12px sans-serif}" \
        "rect.yes{fill:#4a9b5e}rect.no{fill:#c0504d}rect.maybe{fill:#999}" \
        "path{stroke:#222;stroke-width:2}path.limit{stroke:#1f4e9c;" \
        "stroke-dasharray:3 2}td.holds{background:#e6f4e8}" \
        "td.does{background:#f9e3e2}td.part{background:#fff6dd}</style></head>\n<body>" \
        "<h1>Claims under test</h1>\n<p>Each row is an experiment in " \
        "experiments/claims. Intervals are of 95%; bars are green where an " \
        "expectation holds, blue lines are its limits.</p>\n<table><tr>" \
        "<th>id</th><th>claim</th><th>verdict</th><th>measured</th>" \
        "<th>border</th><th></th></tr>\n" rows "</table>\n" text \
        "</body></html>" > page
}

# SPDX-License-Identifier: GPL-3.0-or-later
#
# page.awk - from the comment and the checks of each claim: claims.csv,
# report.html, and a table on stdout.  The page begins with a table for people
# who know no names of metrics; what turns a verdict is what the comment says
# after "What turns it:".
#
# Use it with csv.awk.  Expectations whose claim is the row's id alone decide; others ("A1 at half
# the cores") are shown beside them.  All hold: holds; none: does not hold;
# some: holds if.  A border lies between two neighbours of a sweep with
# different verdicts.

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

# ---- in plain words -------------------------------------------------------

# A number with what it is a number of.
function amount(i, x,    name) {
    name = metric[i]
    if (percent[i])
        return (x > 0 ? "+" : "") number(x) "%"
    if (name ~ /fraction$|utilization$|_mfu$|^mfu$/)
        return number(100 * x) "%"
    if (name ~ /^(fits|feasible)$/)
        return x + 0 ? "yes" : "no"
    if (name ~ /_s$/)
        return size(x) >= 172800 ? sprintf("%.1f days", x / 86400) \
             : size(x) >= 7200 ? sprintf("%.1f h", x / 3600) \
             : size(x) >= 300 ? sprintf("%.0f min", x / 60) \
             : size(x) >= 1 ? number(x) " s" : number(1000 * x) " ms"
    return (size(x) >= 1000 ? sprintf("%.0f", x) : number(x)) \
        (name ~ /_usd$/ ? " USD" : name ~ /_gb$/ ? " GB" : "")
}

function found(i,    text) {
    if (value[i] == "")
        return "none"
    text = amount(i, value[i])
    if (low[i] != "")
        text = text " (" amount(i, low[i]) " to " amount(i, high[i]) ")"
    return text
}

function plain(name) { return name in words_of ? words_of[name] : name }

# A label as words: "split-4, rate 3/h".
function say(text) {
    text = short(text)
    gsub(/workload=/, "", text)
    gsub(/ on /, "\001", text)
    gsub(/ x /, "\002", text)
    gsub(/ /, ", ", text)
    gsub(/\001/, " on ", text)
    gsub(/\002/, " x ", text)
    gsub(/=/, " ", text)
    return text
}

function asked(i,    text) {
    text = plain(metric[i])
    if (policy[i] !~ /^(advice|fcfs)$/)
        text = text " of " policy[i]
    if (vs[i] != "")
        text = text " against " vs[i]
    if (vspoint[i] != "")
        text = text (vs[i] == "" ? " against " : " at ") say(vspoint[i])
    return text
}

function spot(i,    text) {
    text = where(i)
    sub(/^ at /, "", text)
    return text == "" ? "" : ", " say(text)
}

# What was found, a line for each question: all of up to three, else the
# least and the most.
function brief(    i, j, text, part, least_at, most_at, count, good, before) {
    for (i = 1; i <= n; i++) {
        if (claim[i] != id)
            continue
        before = 0
        for (j = 1; j < i; j++)
            if (claim[j] == id && like(i, j))
                before = 1
        if (before)
            continue
        count = good = least_at = most_at = 0
        part = ""
        for (j = i; j <= n; j++) {
            if (claim[j] != id || !like(i, j))
                continue
            count++
            good += verdict[j] == "holds"
            if (value[j] == "")
                continue
            part = add(part, found(j) spot(j), "; ")
            if (!least_at || value[j] + 0 < value[least_at] + 0)
                least_at = j
            if (!most_at || value[j] + 0 > value[most_at] + 0)
                most_at = j
        }
        if (count > 3 && least_at && value[least_at] == value[most_at])
            part = found(least_at) " at all " count
        else if (count > 3 && least_at)
            part = "from " found(least_at) spot(least_at) " to " \
                found(most_at) spot(most_at)
        text = text "<p class=\"" (good == count ? "yes" : good ? "some" \
            : "no") "\"><b>" html(asked(i)) "</b>: " html(part) \
            ". <i>Expected " html(bounds(i)) ": " good " of " count \
            " so</i></p>"
    }
    return text
}

function bounds(i) {
    if (metric[i] ~ /^(fits|feasible)$/)
        return least[i] == "" ? "no" : "yes"
    if (least[i] == "")
        return "at most " amount(i, most[i])
    if (most[i] == "")
        return "at least " amount(i, least[i])
    return amount(i, least[i]) " to " amount(i, most[i])
}

# What the comment says would turn the verdict; else the borders found.
function turns(    text) {
    text = words
    if (!sub(/^.*\nWhat turns it: /, "", text))
        return cell(borders)
    if (match(text, /\n(Assumed|Sources?|Not asked|Measured|Expected|Run|Asked)[ :(]/))
        text = substr(text, 1, RSTART - 1)
    gsub(/`/, "", text)
    return html(toupper(substr(text, 1, 1)) substr(text, 2))
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

# ---- what was searched ----------------------------------------------------

# A key as words: "t4 price", "dynamic grow", "reward core_time".
function key_words(key) {
    sub(/^(workload|cluster|policies)\./, "", key)
    sub(/^(mix\.\*|mix|services|nodes)\./, "", key)
    gsub(/\.(requests|lognormal|exponential|nodes)/, "", key)
    gsub(/\./, " ", key)
    return key
}

# What would turn the claim if one input alone takes another plausible value: a line
# for each key that turns some answer, and one for the others.
function inputs_in_words(    i, j, k, keys, key, rows, turned, unknown, places, text, rest) {
    for (i = 1; i <= searches; i++) {
        if (t_search[i] != "sensitivity" || t_claim[i] != id)
            continue
        for (k = 1; k <= keys && key[k] != t_key[i]; k++)
            ;
        if (k > keys) {
            key[++keys] = t_key[i]
            first_of[keys] = i
            rows[k] = turned[k] = unknown[k] = 0
            places[k] = ""
        }
        rows[k]++
        turned[k] += t_turns[i] != "no" && t_turns[i] != "not known"
        unknown[k] += t_turns[i] == "not known"
        if (t_at[i] != "" && index("; " places[k] "; ", "; " t_at[i] "; ") == 0 &&
            gsub(/;/, ";", places[k]) < 3)
            places[k] = add(places[k], t_at[i], "; ")
    }
    for (k = 1; k <= keys; k++) {
        j = first_of[k]
        if (!turned[k]) {
            rest = add(rest, key_words(key[k]) (unknown[k] ? " (not known)" : ""), ", ")
            continue
        }
        gsub(/; /, " or ", places[k])
        text = text "<p class=\"turn\"><b>" html(key_words(key[k])) "</b>" \
            (places[k] == "" ? "" : " at " html(places[k])) ", of " html(t_from[j]) \
            " to " html(t_to[j]) ": " turned[k] " of " rows[k] \
            (rows[k] == 1 ? " answer turns" : " answers turn") "</p>"
    }
    if (rest != "")
        text = text "<p class=\"turn\">" (text == "" ? "No" : "No other") \
            " input asked turns an answer: " html(rest) "</p>"
    return text
}

function border_in_words(i,    text) {
    if (t_turns[i] == "no")
        return "does not turn, and " t_atfrom[i] ", from " t_from[i] " to " t_to[i]
    if (t_turns[i] == "forth and back")
        return "turns forth and back from " t_from[i] " to " t_to[i]
    if (t_turns[i] != "yes")
        return "not known"
    text = t_holds[i] == "" ? "" : "holds at " t_holds[i]
    return add(text, t_fails[i] == "" ? "undecided beyond" : "does not at " t_fails[i],
        ", ") (t_holds[i] == "" ? ", undecided before" : "")
}

# All that was searched for the claim, as a table.
function search_table(    i, text) {
    if (!searches)
        return ""
    text = "<table><tr><th>of</th><th>input or border</th><th>range, and why</th>" \
        "<th>turns</th></tr>\n"
    for (i = 1; i <= searches; i++)
        text = text "<tr><td>" html(t_claim[i] ": " t_metric[i] \
            (t_policy[i] == "advice" ? "" : " of " t_policy[i]) \
            (t_vs[i] == "" ? "" : " vs " short(t_vs[i])) \
            (t_point[i] == "" ? "" : ", " short(t_point[i]))) "</td><td>" \
            html(t_key[i]) "</td><td>" html(t_from[i] " to " t_to[i] \
            (t_why[i] == "" ? "" : ": " t_why[i])) "</td><td>" \
            html(t_search[i] == "border" ? border_in_words(i) : t_turns[i] \
            (t_at[i] == "" ? "" : ", at " t_at[i]) \
            (t_vf[i] == "" || t_vt[i] == "" ? "" : "; " number(t_vf[i]) " at the one end, " \
            number(t_vt[i]) " at the other")) "</td></tr>\n"
    return text "</table>\n"
}

function size(x) { return x == "" ? 0 : x < 0 ? -x : x + 0 }

function verdict_words() {
    return answer == "holds" || answer == "does not hold" ? answer \
        : answer == "undecided" ? "undecided: intervals straddle the limits" \
        : "holds in part: " held " of " votes \
        (undecided ? ", and " undecided " undecided" : "")
}

# The answer of the manual, in words.
function said() {
    return id in answer_of ? "<p class=\"said\"><b>" \
        html(toupper(substr(answer_of[id], 1, 1)) substr(answer_of[id], 2)) \
        "</b></p>" : ""
}

function finish(    i, title, topic) {
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
    title = words; sub(/\n\n.*/, "", title)
    sub(/^Claim [A-Z][0-9]+(, [a-z ]+)?: /, "", title)
    tally[answer ~ /^holds ./ ? "part" : answer]++
    topic = name; sub(/^[^_]*_/, "", topic); gsub(/_/, " ", topic)
    rows = rows "<tr><td><a href=\"#" name "\">" id "</a><br>" topic \
        "</td><td>" \
        html(title) "</td><td class=\"" (answer ~ /^holds ./ ? "part" \
        : substr(answer, 1, 5)) "\">" said() verdict_words() "</td><td>" brief() \
        "</td><td>" turns() inputs_in_words() "</td><td><a href=\"" \
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
    text = text "</table>\n" search_table()
}

function name_words(    list, k, n) {
    n = split("jct_mean_s,mean completion time,jct_p95_s," \
        "95th percentile of completion time,cost_usd,cost," \
        "cost_per_job_usd,cost per job,held_cost_usd," \
        "cost of the GPUs that jobs hold,gpu_utilization," \
        "GPU utilization,gpu_busy_fraction,GPU time at work," \
        "cpu_utilization,CPU utilization,memory_utilization," \
        "host memory in use,gpu_switch_fraction,GPU time lost to starts," \
        "held_mfu,useful part of the peak rate,slo_attained_fraction," \
        "promises kept,service_cost_usd,cost of the service," \
        "service_cost_per_million_usd,cost of a million answers," \
        "service_latency_p99_s,99th percentile of latency,time_s,time," \
        "total_gb,GPU memory needed,weights_gb,weights,optimizer_gb," \
        "state of the optimizer,fits,fits in GPU memory,feasible," \
        "a layout fits", list, ",")
    for (k = 1; k < n; k += 2)
        words_of[list[k]] = list[k + 1]
}

BEGIN {
    name_words()
    print "claim,verdict,held,judged,figures,border,holds_at" \
        > (out "/claims.csv")
}

/^@answer / {
    line = $0
    sub(/^@answer [^ ]* /, "", line)
    answer_of[$2] = line
    next
}
/^@claim / {
    finish()
    name = $2; id = name; sub(/_.*/, "", id)
    n = checks = searches = 0; words = ""
    next
}
/^@checks$/ { checks = 1; next }
/^@turns$/ { checks = 3; next }
checks == 3 && (/^#/ || /^search,/) { next }
checks == 3 {
    csv($0)
    i = ++searches
    t_search[i] = f[1]; t_claim[i] = f[2]; t_metric[i] = f[3]; t_policy[i] = f[4]
    t_vs[i] = f[5]; t_point[i] = f[6]; t_key[i] = f[7]; t_from[i] = f[8]; t_to[i] = f[9]
    t_turns[i] = f[10]; t_at[i] = f[11]; t_vf[i] = f[12]; t_vt[i] = f[13]
    t_holds[i] = f[14]; t_fails[i] = f[15]; t_atfrom[i] = f[16]; t_why[i] = f[18]
    next
}
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
        "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">" \
        "<title>Claims under test</title>\n<style>" \
        "body{font:15px/1.4 sans-serif;max-width:1300px;margin:2em auto;" \
        "padding:0 1em}table{border-collapse:collapse;font-size:13px}" \
        "td,th{border:1px solid #ccc;padding:3px 8px;text-align:left;" \
        "vertical-align:top}pre{background:#f6f6f6;padding:.8em;" \
        "overflow-x:auto}svg{width:100%;font:12px sans-serif}" \
        "rect.yes{fill:#4a9b5e}rect.no{fill:#c0504d}rect.maybe{fill:#999}" \
        "path{stroke:#222;stroke-width:2}path.limit{stroke:#1f4e9c;" \
        "stroke-dasharray:3 2}td p{margin:0 0 .4em;border-left:5px solid #999;" \
        "padding-left:6px}p.yes{border-color:#4a9b5e}p.no{border-color:" \
        "#c0504d}p.some{border-color:#e0b030}p.turn{border-color:#1f4e9c}" \
        "td i{color:#555}td.holds{background:#e6f4e8}" \
        "td.does{background:#f9e3e2}td.part{background:#fff6dd}p.said{border:0;padding:0}" \
        "td p.turn:first-of-type{margin-top:.4em}" \
        "@media(max-width:700px){table{display:block;overflow-x:auto}table.first," \
        ".first tbody,.first tr,.first td{display:block}.first th{display:none}" \
        ".first td{border:0}.first tr{border-top:2px solid #777}}</style></head>\n<body>" \
        "<h1>Claims under test</h1>\n<p>" tally["holds"] + 0 " hold, " \
        tally["part"] + 0 " hold in part, " \
        tally["does not hold"] + 0 " do not hold" \
        (tally["undecided"] ? ", " tally["undecided"] " are undecided" : "") \
        ". Each row is an experiment of experiments/claims that anyone can " \
        "change and run again; its answer is short and bold. A range in brackets is " \
        "an interval of 95%; " \
        "without one nothing was drawn at random. Further down each claim " \
        "has all its figures. Green: an expectation holds; red: it does " \
        "not; yellow: in some of the cases asked; blue: an input that, with a plausible " \
        "value, turns an answer, all others as they are.</p>\n<table " \
        "class=\"first\"><tr><th>id</th>" \
        "<th style=\"width:20%\">claim</th><th>answer</th><th style=" \
        "\"width:42%\">found, and what was expected</th><th style=" \
        "\"width:25%\">what would turn it</th><th></th></tr>\n" rows "</table>\n" text \
        "</body></html>" > page
}

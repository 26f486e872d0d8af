# SPDX-License-Identifier: GPL-3.0-or-later
#
# csv.awk - reading and writing of CSV, for the other awk programs here.

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

function quote(text) {
    if (text !~ /[,"]/)
        return text
    gsub(/"/, "\"\"", text)
    return "\"" text "\""
}

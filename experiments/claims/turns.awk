# SPDX-License-Identifier: GPL-3.0-or-later
#
# turns.awk - the columns of border.csv and sensitivity.csv that the page of the
# claims shows, as rows of one table.

function keep(name) {
    line = line "," (name in at ? quote(f[at[name]]) : "")
}

BEGIN {
    print "search,claim,metric,policy,versus,point,key,from,to,turns,at,value_from," \
        "value_to,holds_at,fails_at,at_from,seeds,why"
}

/^claim,/ {
    for (name in at)
        delete at[name]
    n = split($0, head, ",")
    for (i = 1; i <= n; i++)
        at[head[i]] = i
    search = "input" in at ? "sensitivity" : "border"
    next
}

{
    csv($0)
    line = search
    keep("claim"); keep("metric"); keep("policy"); keep("versus"); keep("point")
    keep("input" in at ? "input" : "key")
    keep("from"); keep("to"); keep("turns"); keep("turns_at")
    keep("value_from"); keep("value_to"); keep("holds_at"); keep("fails_at")
    keep("verdict_from"); keep("seeds"); keep("why")
    print line
}

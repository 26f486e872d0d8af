#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make.sh - prints one of the sample traces: `make.sh csv` or `make.sh swf`.
#
# 120 (swf: 60) jobs from seed 20260101, drawn in integers by the minimal
# standard generator (Park and Miller 1988), so that any awk gives the same
# bytes.  Gaps and run times are geometric-like sums of halvings: short ones
# are common, long ones rare; GPU counts are powers of two up to 16.
set -eu
export LC_ALL=C
format=${1:?csv or swf}

awk -v format="$format" '
function draw(limit) {                  # 0 .. limit - 1
    seed = (16807 * seed) % 2147483647
    return seed % limit
}
function long_tail(scale,    times) {   # scale doubled, and doubled again ...
    for (times = 1; times < 64 && draw(2) == 0; times *= 2)
        ;
    return 1 + draw(scale * times)
}
BEGIN {
    seed = 20260101
    jobs = format == "swf" ? 60 : 120
    if (format == "swf")
        print "; Version: 2.2\n; Computer: none, made by make.sh\n" \
              "; MaxProcs: 64\n; Note: synthetic, seed 20260101"
    else
        print "job,submit_s,run_s,gpus,limit_s,tenant,priority"
    for (job = 1; job <= jobs; job++) {
        at += long_tail(120)
        run = 30 + long_tail(600)
        gpus = 2 ^ draw(5)
        limit = 60 * int((run * (1 + draw(4))) / 60 + 1)
        if (format == "swf")
            printf "%d %d -1 %d %d -1 -1 %d %d -1 1 %d 1 -1 1 -1 -1 -1\n",
                   job, at, run, job % 7 == 0 ? -1 : gpus, gpus, limit,
                   1 + draw(5)
        else
            printf "j%03d,%d,%d.%02d,%d,%d,team-%d,%d\n", job, at, run,
                   draw(100), gpus, limit, 1 + draw(4), draw(3)
    }
}'

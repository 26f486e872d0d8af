#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# make.sh - prints one of the sample traces: `make.sh csv` or `make.sh swf`;
# or, in the columns of openb, 150 pods (`make.sh pods`) and the 40 nodes they
# are for (`make.sh nodes`): made up, with models A to C and round sizes.
#
# 120 (swf: 60) jobs from seed 20260101, drawn in integers by the minimal
# standard generator (Park and Miller 1988), so that any awk gives the same
# bytes.  Gaps and run times are geometric-like sums of halvings: short ones
# are common, long ones rare; GPU counts are powers of two up to 16.
set -eu
export LC_ALL=C
format=${1:?csv, swf, pods or nodes}

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
function pick(list,    word) {          # one word of it
    return word[1 + draw(split(list, word, " "))]
}
function nodes(    node, model, gpus) {
    print "sn,cpu_milli,memory_mib,gpu,model"
    for (node = 0; node < 40; node++) {
        model = pick("A A A B B C")
        gpus = model == "A" ? 8 : model == "B" ? 4 : 2
        printf "node-%02d,%d,%d,%d,%s\n", node,
               model == "A" ? 96000 : 64000, 65536 * gpus, gpus, model
    }
}
function pods(    pod, gpus, milli, cpu) {
    print "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec"
    for (pod = 0; pod < 150; pod++) {
        gpus = pick("0 1 1 1 1 1 1 1 1 2 4 8")
        milli = gpus == 0 ? 0 : 1000
        if (gpus == 1 && draw(5) < 3)
            milli = pick("100 250 460 500 500 750")
        cpu = gpus * pick("4000 6000 8200") * (milli < 1000 ? 0.5 : 1)
        if (gpus == 0)
            cpu = pick("2000 3152 8000")
        printf "pod-%03d,%d,%d,%d,%d,%s\n", pod, cpu, 4096 + 2 * cpu, gpus,
               milli, (gpus > 0 && gpus < 4 && draw(8) == 0 ? "A|C" : "")
    }
}
BEGIN {
    seed = 20260101
    if (format == "pods")
        pods()
    if (format == "nodes")
        nodes()
    if (format == "pods" || format == "nodes")
        exit
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

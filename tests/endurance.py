#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""endurance.py - does anything grow, or drift, in runs that are very long?

Each row runs an experiment in two sizes, one ten times the other, takes the peak of memory
and the processor time of both, and compares a figure with what arithmetic says it must be.

    tests/endurance.py BUILD [--quick] [--only NAME]

--quick runs a hundredth of each size.  Status 1: the peak of memory, or what one unit of
the size adds to it beyond what a run takes once, is over its limit in the table below, or a
figure is not what it must be.
"""
import argparse
import csv
import os
import resource
import subprocess
import sys
import tempfile

# Megabytes that a run takes once, on its way from the first rows to all that it uses (2.9 where
# nothing grows: five years of `century` less half a year, 2026-11-28).  A small run's peak may
# also be that of the interpreter, from which the program is started.
ONCE = 4

NODE = ("cluster: {{nodes: [{{name: n, count: {nodes}, gpus: {{type: generic, count: 8}}}}]}}\n")
END = "policies: [{policy}]\noutput: {{plots: [], tables: [{tables}]}}\n"

# Jobs of one GPU for an hour on 64 GPUs.  64/h fill them.
FIFO = ("experiment: fifo\nseeds: 1\n" + NODE + "workload:\n"
        "  arrival: {{process: poisson, rate: {rate}/h}}\n  jobs: {size}\n"
        "  mix: [{{recipe: trace, name: j, gpus: 1, duration: {{exponential: {{mean: 1h}}}}}}]\n"
        + END)
# One job of ten seconds an hour, on one GPU.
CENTURY = ("experiment: century\nseeds: 1\n" + NODE + "workload:\n"
           "  arrival: {{process: fixed, every: 1h}}\n  for: {size}d\n"
           "  mix: [{{recipe: trace, name: j, gpus: 1, duration: 10s}}]\n" + END)
# Fifty jobs a trial.
TRIALS = ("experiment: trials\nseeds: {size}\n" + NODE + "workload:\n"
          "  arrival: {{process: poisson, rate: {rate}/h}}\n  jobs: 50\n"
          "  mix: [{{recipe: trace, name: j, gpus: 1, duration: {{exponential: {{mean: 1h}}}}}}]\n"
          + END)
# A chat model on four cards, asked once a second on average.
SERVICE = ("experiment: service\nseeds: 1\n"
           "cluster:\n  nodes:\n    - {{name: n, count: {nodes}, gpus: {{type: l40s, count: 4}},\n"
           "       cpu: {{type: epyc-7763, sockets: 1}}, memory: 512GB}}\n"
           "  storage: {{bandwidth: 10GB/s}}\n"
           "workload:\n  services:\n    - name: chat\n      model: llama-3.1-8b\n"
           "      gpu: {{gpus: 1, types: [l40s]}}\n      replicas: {{min: 4, max: 4}}\n"
           "      requests:\n        arrival: {{process: poisson, rate: {rate}/h}}\n"
           "        for: {size}h\n        prompt: 256\n        output: 64\n" + END)

# name, experiment, sizes, values, most MB, most bytes for one of the size more, why
ROWS = [
    ("fifo", FIFO, 1000000, 10000000, dict(nodes=8, rate=58, policy="fcfs", tables="summary"),
     100, 100, "a queue that keeps up, no rows"),
    ("fifo rows", FIFO, 1000000, 10000000,
     dict(nodes=8, rate=58, policy="fcfs", tables="summary, jobs"),
     400, 120, "the same with a row a job"),
    ("growing queue", FIFO, 100000, 1000000,
     dict(nodes=8, rate=640, policy="fcfs", tables="summary"),
     1000, 1100, "nine of ten jobs wait at the end: what a waiting job costs"),
    ("century", CENTURY, 3652, 36525,
     dict(nodes=1, rate=1, policy="fcfs", tables="summary"), 100, 200, "876,600 jobs in 100 years"),
    ("trials", TRIALS, 10000, 100000,
     dict(nodes=8, rate=58, policy="fcfs", tables="summary"), 100, 800, "as many trials"),
    ("service", SERVICE, 17, 168, dict(nodes=1, rate=3600, policy="fcfs", tables="summary"),
     100, 200000, "a week of one request a second"),
]


def run(program, folder, text):
    """(peak in MB, processor seconds, rows of summary.csv, rows of services.csv)."""
    with open(os.path.join(folder, "e.yaml"), "w", encoding="utf-8") as file:
        file.write(text)
    out = os.path.join(folder, "out")
    child = subprocess.Popen([program, "run", os.path.join(folder, "e.yaml"), "-q", "-j", "1",
                              "-o", out], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = child.stderr.read().decode(errors="replace")
    _, status, used = os.wait4(child.pid, 0)
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit("endurance: status %d: %s" % (os.waitstatus_to_exitcode(status), said))
    tables = []
    for name in ("summary.csv", "services.csv"):
        path = os.path.join(out, name)
        tables.append(list(csv.DictReader(open(path, newline="", encoding="utf-8")))
                      if os.path.exists(path) else [])
    subprocess.run(["rm", "-rf", out], check=True)
    return used.ru_maxrss / 1024, used.ru_utime + used.ru_stime, *tables


def faults(name, size, summary, services):
    """What is not as arithmetic says."""
    row, wrong = summary[0], []

    def must(what, found, wanted, part=0.0):
        if abs(float(found) - wanted) > part * abs(wanted):
            wrong.append("%s is %s, and must be %.12g" % (what, found, wanted))
    if name == "century":
        must("jobs_done", row["jobs_done"], size * 24)
        must("jct_mean_s", row["jct_mean_s"], 10)
        must("jct_p99_s", row["jct_p99_s"], 10)
        # The last job comes an hour before the end, and takes ten seconds.
        must("makespan_s", row["makespan_s"], size * 86400 - 3590)
    elif name == "service":
        must("requests done", services[0]["done"], float(services[0]["requests"]))
        # A Poisson count: six standard deviations.
        must("requests", services[0]["requests"], size * 3600, 6 / (size * 3600) ** 0.5)
    elif name == "trials":
        must("trials", len(summary), size)
        must("jobs of a trial", min(int(r["jobs_done"]) for r in summary), 50)
    else:
        must("jobs_done", row["jobs_done"], size)
    return wrong


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    program, counts = os.path.join(os.path.abspath(args.build), "clustersim"), [0, 0]
    print("| | size | peak, MB | ten times it | limit | a unit more | time, s | ten times it |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, form, small, large, values, most, most_more, why in ROWS:
        if args.only not in name:
            continue
        sizes = [max(1, small // 100), max(2, large // 100)] if args.quick else [small, large]
        peaks, times, failed = [], [], False
        for size in sizes:
            with tempfile.TemporaryDirectory(prefix="clustersim-endurance-") as folder:
                peak, seconds, summary, services = run(
                    program, folder, form.format(size=size, **values))
            peaks.append(peak)
            times.append(seconds)
            for what in faults(name, size, summary, services):
                print("FAILED  endurance %s: %s" % (name, what), file=sys.stderr)
                failed = True
        more = (peaks[1] - peaks[0]) * 1048576 / (sizes[1] - sizes[0])
        print("| %s: %s | %s | %.1f | %.1f | %d | %.1f B | %.1f | %.1f |" % (
            name, why, format(sizes[0], ","), peaks[0], peaks[1], most, more, *times), flush=True)
        if peaks[1] > most or (peaks[1] - peaks[0] - ONCE) * 1048576 > most_more * (
                sizes[1] - sizes[0]):
            print("FAILED  endurance %s: a peak of %.0f MB and %.0f B a unit more; %d and %d are "
                  "allowed" % (name, peaks[1], more, most, most_more), file=sys.stderr)
            failed = True
        counts[failed] += 1
    # The score of tests/count.sh.
    if "COUNTS" in os.environ:
        with open(os.environ["COUNTS"], "a", encoding="utf-8") as file:
            file.write("%d %d\n" % tuple(counts))
    return counts[1] > 0


if __name__ == "__main__":
    sys.exit(main())

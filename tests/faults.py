#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""faults.py - would a wrong figure leave the program?

Plants faults, one in one line, in the code that computes figures; builds each (one
object and a link), runs the experiments of tests/faults, and says what became of it:

  equivalent   all CSVs are as without the fault, numbers within 1e-8 of each other: more
               than nine printed digits do not say, and the second opinion states it
  stopped      the run ended with a status that is not 0: the audit (70), an assertion,
               or an error
  wrong        other CSVs, and status 0

    tests/faults.py BUILD [--seed N] [--count N] [--files PATTERN] [--seconds S] [--list]
                    [--audit quick|full] [--at-least FRACTION]

Places are drawn by the seed from the files of tests/faults/files.tsv, as many in each
group as it says for 100 faults; a place is a line that is code, and one change of it.
--list prints all wrong ones with their line. Status 1: less than --at-least of those
with an effect were stopped.
"""
import argparse
import collections
import concurrent.futures
import csv
import filecmp
import glob
import os
import random
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from mutation.places import ROOT, lines_of, planted

HERE = os.path.dirname(os.path.abspath(__file__))
CPU_S = 30                      # of one run, which takes 0.1: only to end a hang


def draw(seed, count, pattern):
    """The faults: as many of each group as files.tsv says, in its order."""
    rng, faults = random.Random(seed), []
    with open(os.path.join(HERE, "faults", "files.tsv"), encoding="utf-8") as table:
        rows = [line.rstrip("\n").split("\t") for line in table if line[0] not in "#\n"]
    for group, share, names, _why in rows:
        files = [name for name in names.split() if re.search(pattern, name)]
        # One line has many changes: first the line is drawn, then the change.
        by_line = lines_of(files)
        lines = sorted(by_line)
        rng.shuffle(lines)
        wanted = max(1, round(int(share) * count / 100)) if lines else 0
        faults.append((group, [rng.choice(by_line[line]) for line in lines], wanted))
    return faults


def near(path, other):
    """Are all cells equal, or numbers that differ by rounding?"""
    with open(path, newline="") as a, open(other, newline="") as b:
        rows, others = list(csv.reader(a)), list(csv.reader(b))
    return [len(row) for row in rows] == [len(row) for row in others] and all(
        one == two or close(one, two)
        for row, row2 in zip(rows, others) for one, two in zip(row, row2))


def close(one, two):
    try:
        return abs(float(one) - float(two)) <= max(
            1e-12, 1e-8 * max(abs(float(one)), abs(float(two))))
    except ValueError:
        return False


class Bench:
    """Builds and runs in a folder of its own."""

    def __init__(self, build, audit):
        self.build, self.audit = os.path.abspath(build), audit
        self.scratch = tempfile.mkdtemp(prefix="clustersim-faults-")
        self.experiments = sorted(glob.glob(os.path.join(HERE, "faults", "*.yaml")))
        cflags = subprocess.run(["pkg-config", "--cflags", "gsl", "yaml-0.1", "zlib", "libzstd",
                                 "libelf", "libarchive"], capture_output=True, text=True,
                                check=True).stdout.split()
        libs = subprocess.run(["pkg-config", "--libs", "gsl", "yaml-0.1", "zlib", "libzstd",
                               "libelf", "libarchive"], capture_output=True, text=True,
                              check=True).stdout.split()
        self.compile = ["gcc", "-std=c11", "-O0", "-w", "-ffp-contract=off", "-fPIC", "-pthread",
                        "-I" + ROOT, *cflags, "-D_POSIX_C_SOURCE=200809L",
                        "-DCLUSTERSIM_VERSION=\"faults\"", "-DCLUSTERSIM_FLAGS=\"faults\""]
        self.libs = [*libs, "-lglpk", "-lxxhash", "-lm", "-pthread"]
        self.reference = self.run(os.path.join(self.build, "clustersim"), "reference")[1]

    def run(self, program, name):
        """(status of the first run that did not end with 0, folder)."""
        folder = os.path.join(self.scratch, name)
        for experiment in self.experiments:
            out = os.path.join(folder, os.path.basename(experiment)[:-5])
            words = [program, "run", experiment, "-o", out, "-j", "1", "-q"]
            if self.audit == "full":
                words += ["--audit", "full"]
            done = subprocess.run(words, capture_output=True, text=True, errors="replace",
                                  preexec_fn=lambda: resource.setrlimit(
                                      resource.RLIMIT_CPU, (CPU_S, CPU_S)))
            if done.returncode != 0:
                said = [line for line in done.stderr.split("\n") if ": " in line]
                return (done.returncode, (said or [""])[-1 if done.returncode < 0 else 0]), folder
        return (0, ""), folder

    def same(self, folder):
        for path in glob.glob(os.path.join(self.reference, "*", "*.csv")):
            other = os.path.join(folder, os.path.relpath(path, self.reference))
            if not os.path.exists(other) or not (
                    filecmp.cmp(path, other, shallow=False) or near(path, other)):
                return False
        return True

    def judge(self, number, fault):
        """What became of a fault; None: it does not compile."""
        name, line, kind, new = fault
        work = os.path.join(self.scratch, "fault%d" % number)
        os.makedirs(work)
        # Beside its own folder, as its includes are from the root.
        source, program = os.path.join(work, "fault.c"), os.path.join(work, "clustersim")
        with open(source, "w", encoding="utf-8") as file:
            file.write(planted(name, line, new))
        words = [*self.compile, "-c", "-o", work + "/fault.o", source]
        built = subprocess.run(words, capture_output=True).returncode == 0
        built = built and subprocess.run(
            ["gcc", "-o", program, self.build + "/experiments/main.o", work + "/fault.o",
             self.build + "/libclustersim.a", *self.libs], capture_output=True).returncode == 0
        if not built:
            shutil.rmtree(work)
            return None
        (status, said), folder = self.run(program, "run%d" % number)
        verdict = "stopped" if status != 0 else \
            "equivalent" if self.same(folder) else "wrong"
        shutil.rmtree(work)
        shutil.rmtree(folder, ignore_errors=True)
        return fault, verdict, status, said


def how(status, said):
    if status == 70 and "figures" in said:
        return "second opinion"
    if status == 70:
        return "audit"
    if status < 0:
        return "assertion or signal"
    return "status %d" % status


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=120)
    parser.add_argument("--files", default=".")
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--audit", choices=["quick", "full"], default="quick")
    parser.add_argument("--at-least", type=float, default=0)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("-j", type=int, default=2)
    args = parser.parse_args()
    bench, began = Bench(args.build, args.audit), time.monotonic()
    rows, ways, wrong, number = [], collections.Counter(), [], 0
    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        for group, faults, wanted in draw(args.seed, args.count, args.files):
            counts, left = collections.Counter(), list(faults)
            while wanted > sum(counts.values()) and left and \
                    time.monotonic() - began < args.seconds:
                batch = left[:wanted - sum(counts.values())]
                del left[:len(batch)]
                for result in pool.map(lambda pair: bench.judge(*pair),
                                       list(enumerate(batch, number))):
                    if result is None:
                        continue
                    fault, verdict, status, said = result
                    counts[verdict] += 1
                    if verdict == "stopped":
                        ways[how(status, said)] += 1
                    if verdict == "wrong":
                        wrong.append(fault)
                number += len(batch)
            rows.append((group, counts))
    shutil.rmtree(bench.scratch)
    total = collections.Counter()
    print("| group | planted | equivalent | stopped | wrong |\n|---|--:|--:|--:|--:|")
    for group, counts in [*rows, ("all", total)]:
        print("| %s | %d | %d | %d | %d |" % (group, sum(counts.values()), counts["equivalent"],
                                              counts["stopped"], counts["wrong"]))
        total.update(counts if group != "all" else {})
    effect = total["stopped"] + total["wrong"]
    print("stopped by: " + ", ".join("%s %d" % way for way in ways.most_common()))
    print("%d of %d with an effect were stopped: %.1f%%"
          % (total["stopped"], effect, 100 * total["stopped"] / max(1, effect)))
    for name, line, kind, new in wrong if args.list else []:
        print("wrong: %s:%d: %s: %s" % (name, line + 1, kind, new.strip()))
    return effect > 0 and total["stopped"] < args.at_least * effect


if __name__ == "__main__":
    sys.exit(main())

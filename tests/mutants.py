#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""mutants.py - would a test fail?

Plants faults, one in one line of the product, and runs the tests that run this line until
one of them fails:

  killed       a test failed, crashed or did not end; `by golden` of these: only a golden
               experiment did
  equivalent   the compiler makes the same code of it at -O2, or it stands with a reason in
               tests/mutation/equivalent.tsv
  survived     no test failed; `not run` of these: no test runs the line, nor, of a table
               within a function, the function

    tests/mutants.py BUILD [--seed N] [--count N] [--files PATTERN] [--seconds S] [--each S]
                     [--leave PATTERN] [--at-least FRACTION] [--known] [--near]
                     [--write-near] [--log FILE] [-j N]

--count is for each folder of the product that has files of the PATTERN, which has of experiments
those rooms alone that compute figures, unless it is given.  --seconds is processor time of all,
what is not judged by then is left; --each is that of one fault, and once more for golden experiments.  --leave names tests
that do not run.  The first run measures which test runs which line, some ten minutes; --known
takes what is measured.  --near needs none of it: it runs the few tests that near.tsv has for a
file, and takes the week's number for the seed; --write-near writes this table from what runs have
seen.  A test that fails without a fault is left out.  Verdicts go to --log (stderr) as they come.
Status 1: the share of killed is below --at-least, by more than a sample of this size may be by
chance (1 in 100), or equivalent.tsv has a line that its function has no more.
"""
import argparse
import collections
import concurrent.futures
import datetime
import json
import math
import os
import random
import re
import resource
import shutil
import sys
import tempfile
import threading

from mutation import reach
from mutation.bench import Bench
from mutation.places import (ROOT, function_at, function_lines, in_table, in_words, line_at,
                             lines_of)

HERE = os.path.join(ROOT, "tests", "mutation")
# Floors of the product; of experiments the rooms that compute what is printed.
FOLDERS = ("^(sim|models|workloads|policies)/|^experiments/(advise|audit|bounds|calibrate|columns|"
           "decide|import|measure|own|pairs|recount|results|sensitivity|spec|tune)/|"
           "^experiments/report/(check_rows|plot_stats|report_.*|services_table)[.]c")
NEAR = 11                       # tests for a file in near.tsv
NEAR_S = 4                      # seconds of a test there
REFUSALS = ("refusals_test", "bad_input_test", "many_errors_test")
TABLES = ("key_bounds_test", "param_range_test")   # run no line of the tables that they read
REFUSES = re.compile(r"\b(conf_acts|err_set|err_hint|cs_fail|cs_note)\(")
IDLE = ("idle_keys_test",)      # keys that do nothing where they stand


def rows_of(name):
    path = os.path.join(HERE, name)
    if not os.path.exists(path):
        return []
    with open(path, encoding="utf-8") as table:
        return [line.rstrip("\n").split("\t") for line in table if line[0] not in "#\n"]


def draw(seed, count, pattern):
    """The faults of each folder: lists, longer than wanted, as not all compile."""
    by_folder = collections.defaultdict(list)
    for name in reach.sources():
        if re.search(pattern, name):
            by_folder[name.split("/")[0]].append(name)
    drawn = {}
    for folder, files in sorted(by_folder.items()):
        rng, by_line = random.Random("%s %s" % (seed, folder)), lines_of(files)
        lines = sorted(by_line)
        rng.shuffle(lines)
        chosen = [rng.choice(by_line[line]) for line in lines[:2 * count + 20]]
        drawn[folder] = [place for place in chosen if not in_words(place[0], place[1], place[3])]
    return drawn


class Judge:
    """What runs have seen, and what may be left alone."""

    def __init__(self, bench, args):
        self.bench, self.near, self.each_s = bench, args.near, args.each
        self.leave = re.compile(args.leave or "^$")
        self.scratch = tempfile.mkdtemp(prefix="clustersim-mutants-")
        self.equivalent = {tuple(row[:4]) for row in rows_of("equivalent.tsv")}
        self.lock = threading.Lock()
        self.sound = {}                 # of a test: does it pass without a fault?
        self.kills_path = os.path.join(bench.folder, "kills.json")
        self.kills = collections.defaultdict(collections.Counter)
        if os.path.exists(self.kills_path):
            with open(self.kills_path, encoding="utf-8") as file:
                for name, counts in json.load(file).items():
                    self.kills[name].update(counts)
        self.reached = {} if args.near else reach.learn(bench, 2, lambda text: print(
            "mutants: " + text, file=sys.stderr), args.known)
        self.table = {row[0]: row[1].split() for row in rows_of("near.tsv")} if args.near else {}

    def tests_of(self, name, number):
        """The tests that run a line, their seconds, and after which they do not end: first those
        that kill most in a second; goldens last."""
        data = in_table(name, number)
        # Where a fault is handed on, tests of what is refused are near.
        line = line_at(name, number)
        refuses = line.strip() == "return false;" or REFUSES.search(line)
        if self.near:
            tests = dict.fromkeys((*(TABLES if data else ()), *self.table.get(name, []),
                                   *(REFUSALS[:2] if refuses else ()),
                                   *(IDLE if "conf_acts(" in line else ())))
            return [(test, NEAR_S, 3 * NEAR_S + 3) for test in tests if self.bench.prepare(test)]
        room, stem = name.split("/")[0], os.path.basename(name)[:-2]

        def worth(test):
            lines = self.reached[test]["set"]           # all that it runs
            part = len(lines.get(name, ())) / max(1, sum(map(len, lines.values())))
            near = self.kills[name][test] + 0.3 * (self.bench.room.get(test) == room) + \
                2.0 * (stem in test) + 5.0 * (refuses and test in REFUSALS) + 9.0 * part + 0.1
            return near / (self.reached[test]["cpu"] + 0.1)

        # The compiler may have given the code of a line to one beside it, and data has none.
        lines = set(range(number - 2, number + 3))
        in_file = [test for test, entry in self.reached.items()
                   if entry["set"].get(name) and not self.leave.search(test)]
        tests = [test for test in in_file if lines & self.reached[test]["set"][name]]
        if not tests:                   # a table within a function: what runs the function
            lines = set(function_lines(name, number))
            tests = [test for test in in_file if lines & self.reached[test]["set"][name]]
        if data:
            tests = list({*in_file, *(test for test in TABLES if test in self.reached)})
        tests.sort(key=lambda test: (test in self.bench.golden, -worth(test), test))
        return [(test, self.reached[test]["cpu"], 3 * self.reached[test]["noted"] + 3)
                for test in tests]

    def is_sound(self, test, limit_s):
        """Does a test pass without a fault?  One that does not has found none."""
        with self.lock:
            if test not in self.sound:
                work = os.path.join(self.scratch, "sound")
                os.makedirs(work)
                shutil.copy(os.path.join(self.bench.folder, "none", "libmutant.so"), work)
                self.sound[test] = not self.bench.run(test, work, limit_s)[0]
                shutil.rmtree(work)
                if not self.sound[test]:
                    print("mutants: %s fails without a fault: left out" % test, file=sys.stderr)
            return self.sound[test]

    def judge(self, at, fault):
        """(fault, verdict, which test failed); None: it does not compile."""
        name, number, _kind, new = fault
        work = os.path.join(self.scratch, str(at))
        os.makedirs(work)
        try:
            if (name, function_at(name, number), line_at(name, number).strip(),
                    new.strip()) in self.equivalent:
                return fault, "equivalent", ""
            if not self.bench.make(work, fault):
                return None
            tests, ran = self.tests_of(name, number), 0
            left_s = {False: self.each_s, True: self.each_s}
            for test, cpu_s, limit_s in tests:
                golden = test in self.bench.golden
                if cpu_s > left_s[golden]:
                    continue
                failed, used_s, _said = self.bench.run(test, work, limit_s)
                ran, left_s[golden] = ran + 1, left_s[golden] - used_s
                if failed and self.is_sound(test, limit_s):
                    with self.lock:
                        self.kills[name][test] += 1
                    return fault, "by golden" if golden else "killed", test
            if self.bench.same_code(work, fault):
                return fault, "equivalent", ""
            return fault, "survived" if tests else "not run", "%d of %d tests" % (
                ran, len(tests))
        finally:
            shutil.rmtree(work, ignore_errors=True)

    def store(self):
        """What killed where: for the order of tests in the next run."""
        with self.lock:
            with open(self.kills_path + ".new", "w", encoding="utf-8") as file:
                json.dump(self.kills, file)
            os.replace(self.kills_path + ".new", self.kills_path)


def processor_s():
    return sum(sum(resource.getrusage(who)[:2])
               for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))


def judge_all(judge, drawn, args):
    """Judges in turn one of each folder; returns {folder: [results]}."""
    results, number = {folder: [] for folder in drawn}, 0

    def one(at, folder, fault):
        result = judge.judge(at, fault) if processor_s() < args.seconds else None
        if result:
            (name, line, _kind, _new), verdict, by = result
            print("%s:%d: %s: %s" % (name, line + 1, verdict, by), file=args.log)
            judge.store()
        return folder, result

    with concurrent.futures.ThreadPoolExecutor(args.j) as pool:
        while processor_s() < args.seconds:
            missing = {folder: args.count - len(results[folder]) for folder in drawn}
            batch = [(folder, faults[turn]) for turn in range(max(missing.values()))
                     for folder, faults in drawn.items()
                     if turn < min(missing[folder], len(faults))]
            if not batch:
                break
            for folder, faults in drawn.items():
                del faults[:missing[folder]]
            jobs = [pool.submit(one, number + at, *pair) for at, pair in enumerate(batch)]
            number += len(batch)
            for folder, result in (job.result() for job in jobs):
                results[folder] += [result] if result else []
    return results


def chance(killed, planted, share):
    """Of no more than `killed` of `planted`, where each is killed with `share`."""
    return sum(math.comb(planted, k) * share ** k * (1 - share) ** (planted - k)
               for k in range(killed + 1))


def report(results, at_least):
    """Prints the table and the survivors; returns whether the share of killed is below its
    floor by more than chance."""
    print("| folder | planted | equivalent | killed | of these by golden alone | survived | "
          "of these not run | score |\n|---|--:|--:|--:|--:|--:|--:|--:|")
    every = [row for rows in results.values() for row in rows]
    for folder, rows in [*results.items(), ("all", every)]:
        counts = collections.Counter(verdict for _fault, verdict, _by in rows)
        killed = counts["killed"] + counts["by golden"]
        effect = len(rows) - counts["equivalent"]
        print("| %s | %d | %d | %d | %d | %d | %d | %.1f%% |" % (
            folder, len(rows), counts["equivalent"], killed, counts["by golden"],
            effect - killed, counts["not run"], 100 * killed / max(1, effect)))
    for (name, number, kind, new), verdict, by in sorted(every):
        if verdict in ("survived", "not run"):
            print("%s (%s): %s:%d: %s:\n    %s\n    %s" % (
                verdict, by, name, number + 1, kind, line_at(name, number).strip(),
                new.strip()))
    return at_least > 0 and (effect == 0 or chance(killed, effect, at_least) < 0.01)


def stale():
    """Entries of equivalent.tsv whose line is no more in its function, or without a reason."""
    gone = []
    for row in rows_of("equivalent.tsv"):
        path = os.path.join(ROOT, row[0])
        lines = []
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                lines = file.read().split("\n")
        if len(row) != 5 or not any(
                line.strip() == row[2] and function_at(row[0], number) == row[1]
                for number, line in enumerate(lines)):
            gone.append(row)
    for row in gone:
        print("equivalent.tsv: no such line: " + ": ".join(row[:3]))
    return bool(gone)


def choose_near(judge, name, cheap, before):
    """Of cheap tests those that killed in the file most, then those that were chosen before, then
    those that run most of its lines that fewer than three chosen ones do, and little else."""
    killed = [test for test, _n in judge.kills[name].most_common()]
    chosen = [test for test in dict.fromkeys(killed + before) if test in cheap][:NEAR - 3]
    left = collections.Counter({n: 3 for entry in cheap.values() for n in entry["set"][name]})
    for test in chosen:
        left.subtract(list(cheap[test]["set"][name]))

    def adds(test):
        lines = cheap[test]["set"]
        part = len(lines[name]) / sum(map(len, lines.values()))
        own = 1 + 20 * part + 2 * (os.path.basename(name)[:-2] in test)
        return own * sum(left[n] > 0 for n in lines[name]) / (cheap[test]["cpu"] + 0.2)

    while len(chosen) < min(NEAR, len(cheap)):
        test = max(sorted(set(cheap) - set(chosen)), key=adds)
        if adds(test) == 0:             # all lines have three: three more
            left.update({n: 3 for entry in cheap.values() for n in entry["set"][name]})
            continue
        left.subtract(list(cheap[test]["set"][name]))
        chosen.append(test)
    return sorted(chosen, key=lambda test: -(judge.kills[name][test] + 0.5) /
                  (cheap[test]["cpu"] + 0.1))


def write_near(judge):
    """For each file a few tests, and two golden experiments behind them.  What the table had
    already and what still runs the file comes before tests that are new in it."""
    old = {row[0]: row[1].split() for row in rows_of("near.tsv")}
    text = ["# file\ttests that `mutants.py --near` runs for it, in this order"]
    for name in reach.sources():
        cheap = {test: entry for test, entry in judge.reached.items() if not entry["failed"] and
                 entry["cpu"] < NEAR_S and name in entry["set"]}
        if not cheap or not re.search(FOLDERS, name):
            continue
        golden = {test: cheap.pop(test) for test in list(cheap) if test in judge.bench.golden}
        before = old.get(name, [])
        tests = choose_near(judge, name, cheap, before) + \
            choose_near(judge, name, golden, before)[:2]
        text.append(name + "\t" + " ".join(tests))
    with open(os.path.join(HERE, "near.tsv"), "w", encoding="utf-8") as file:
        file.write("\n".join(text) + "\n")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build")
    parser.add_argument("--seed", default=None)
    parser.add_argument("--count", type=int, default=100)
    parser.add_argument("--files", default=FOLDERS)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--each", type=float, default=30)
    parser.add_argument("--leave")
    parser.add_argument("--at-least", type=float, default=0)
    parser.add_argument("--near", action="store_true")
    parser.add_argument("--known", action="store_true")
    parser.add_argument("--write-near", action="store_true")
    parser.add_argument("-j", type=int, default=2)
    parser.add_argument("--log", type=argparse.FileType("w", bufsize=1), default=sys.stderr)
    args = parser.parse_args()
    year, week, _day = datetime.date.today().isocalendar()
    seed = args.seed or ("%d-W%02d" % (year, week) if args.near else "1")
    judge = Judge(Bench(args.build), args)
    for entry in judge.reached.values():
        entry["set"] = {name: set(numbers) for name, numbers in entry["lines"].items()}
    try:
        if args.write_near:
            write_near(judge)
            return 0
        results = judge_all(judge, draw(seed, args.count, args.files), args)
    finally:
        shutil.rmtree(judge.scratch, ignore_errors=True)
    print("seed %s" % seed)
    below = report(results, args.at_least)
    print("%.0f s of processor time" % processor_s())
    return 1 if below or stale() else 0


if __name__ == "__main__":
    sys.exit(main())

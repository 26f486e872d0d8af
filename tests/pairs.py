# SPDX-License-Identifier: GPL-3.0-or-later
"""Generated experiments, each run twice: what must change nothing changes nothing.

    pairs.py BUILD SECONDS [SEED]

An experiment is drawn by lot from the grammar of random_experiment_test, or it is one of this
tree with few seeds.  It is run, with the full audit, and then once more in another
way that must give the same rows.  A wrong one ends with status 70 or a signal, or in
rows that differ.  An experiment that is refused is counted.  Prints "ok" or "no" and what, a
line for each pair; the file of a wrong pair is kept in BUILD/pairs.
"""
import csv
import glob
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import yaml

BUILD, SECONDS = sys.argv[1], float(sys.argv[2])
SEED = int(sys.argv[3]) if len(sys.argv) > 3 else 1
PROGRAM = os.path.abspath(BUILD) + "/clustersim"
KEPT = os.path.join(BUILD, "pairs")
LONG_S = 60         # of one run: what takes longer is passed over
TABLES = ["summary", "compare", "jobs"]

# Orders by what the file says alone: twice as long jobs are done in twice the time.
TIMELESS = ["fcfs", "sjf", "ljf", "srtf", "srsf", "fewest-gpus", "easy", "conservative"]


# ---- experiments ----

def draw_experiment(r):
    """By the grammar of the test of that name: all that a file may say."""
    text = subprocess.run([os.path.join(BUILD, "tests", "random_experiment_test"),
                           str(r.randint(1, 10 ** 9))], stdout=subprocess.PIPE, check=True)
    x = as_words(yaml.safe_load(text.stdout))
    x.update(experiment="e", seeds=2, output={"tables": list(TABLES), "plots": []})
    if r.random() < 0.2 and "rate" in x["workload"].get("arrival", {}):
        x["sweep"] = {"workload.arrival.rate": ["6/h", "20/h"]}
    return x


def as_words(x):
    """`on` is a word here, where YAML 1.1 has it for true."""
    if isinstance(x, dict):
        return {"on" if k is True else k: as_words(v) for k, v in x.items()}
    return [as_words(v) for v in x] if isinstance(x, list) else x


def lacks_a_file(x, folder):
    """Does it name a file of ../shared that is not there?"""
    if isinstance(x, (dict, list)):
        return any(lacks_a_file(v, folder) for v in (x.values() if isinstance(x, dict) else x))
    return isinstance(x, str) and x.startswith("../") and "/shared/" in x and \
        not os.path.exists(os.path.join(folder, x))


def tree_experiments():
    files = []
    for folder in ("experiments", "experiments/*", "tests/golden/*"):
        for path in glob.glob(folder + "/*.yaml"):
            with open(path) as f:
                x = yaml.safe_load(f)
            if isinstance(x, dict) and "policies" in x and "train" not in x and \
                    not x.get("tuned"):
                if lacks_a_file(x, os.path.dirname(path)):
                    print("    skip: %s names a file of ../shared that is not there" % path,
                          file=sys.stderr)
                else:
                    files.append((path, x))
    return sorted(files, key=lambda file: file[0])


def absolute(x, folder):
    """Paths from the file's folder, wherever the file is now."""
    if isinstance(x, dict):
        return {k: absolute(v, folder) for k, v in x.items()}
    if isinstance(x, list):
        return [absolute(v, folder) for v in x]
    path = os.path.join(folder, x) if isinstance(x, str) and "." in x else ""
    return os.path.abspath(path) if os.path.isfile(path) else x


def draw_from_tree(r, files):
    path, x = r.choice(files)
    x = absolute(as_words(x), os.path.dirname(path))
    drop = ("expect", "border", "tune", "sensitivity", "options", "decide", "description")
    x = {k: v for k, v in x.items() if k not in drop}
    x.update(experiment="e", seeds=2, output={"tables": list(TABLES), "plots": []})
    if isinstance(x.get("sweep"), dict):
        x["sweep"] = {k: r.sample(v, min(len(v), 2)) if isinstance(v, list) else v
                      for k, v in x["sweep"].items()}
    return x


def draw_trace(r):
    """Jobs with times in whole seconds, in a table."""
    rows, at = ["job,submit,gpus,run"], 0
    for i in range(r.randint(10, 60)):
        at += r.randint(0, 900)
        rows.append("%d,%d,%d,%d" % (i, at, r.choice([1, 1, 2, 4]), r.randint(60, 7200)))
    return rows


# ---- runs ----

class Wrong(Exception):
    pass


class Refused(Exception):
    pass


def call(folder, words):
    p = subprocess.run([PROGRAM] + words, cwd=folder, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT, timeout=LONG_S)
    said = p.stdout.decode(errors="replace")
    if p.returncode in (2, 3):
        raise Refused(said)
    if p.returncode not in (0, 5):
        raise Wrong("status %d: %s\n%s" % (p.returncode, " ".join(words), said[-1500:]))
    return said


def write(folder, name, x):
    with open(os.path.join(folder, name), "w") as f:
        json.dump(x, f, indent=1)
    return name


def run(folder, x, out, *words):
    call(folder, ["run", write(folder, out + ".yaml", x), "-q", "-o", out] + list(words))
    return read(folder, out)


def read(folder, out):
    """The rows of each table; failed trials are a table, too."""
    tables = {}
    for name in TABLES + ["failures"]:
        path = os.path.join(folder, out, name + ".csv")
        if os.path.exists(path):
            with open(path, newline="") as f:
                tables[name] = list(csv.reader(f))
    return tables


def same(one, other, what):
    if one.keys() != other.keys():
        raise Wrong("%s: tables %s and %s" % (what, sorted(one), sorted(other)))
    for name in one:
        if one[name] == other[name]:
            continue
        for a, b in zip(one[name] + [["no row"]], other[name] + [["no row"]]):
            if a != b:
                raise Wrong("%s: %s.csv:\n  %s\n  %s" % (what, name, ",".join(a), ",".join(b)))
        raise Wrong("%s: %s.csv has rows more" % (what, name))


def names_of(x):
    return [p if isinstance(p, str) else p.get("name", p["policy"]) for p in x["policies"]]


# ---- pairs: each gets the experiment and its tables ----

def by_threads(r, folder, x, tables):
    same(tables, run(folder, x, "other", "-j", "2"), "two threads")


def by_shards(r, folder, x, tables):
    n = r.randint(2, 3)
    path = write(folder, "other.yaml", x)
    parts = ["part%d" % i for i in range(n)]
    for i in range(n):
        call(folder, ["run", path, "-q", "--shard", "%d/%d" % (i + 1, n), "-o", parts[i]])
    call(folder, ["merge"] + parts + ["-o", "other"])
    if not os.path.exists(os.path.join(folder, "other", "summary.csv")):
        # Trials that failed are missing: they fail again, and are listed.
        call(folder, ["run", path, "-q", "-o", "other", "--resume"])
    same(tables, read(folder, "other"), "%d shards" % n)


def by_processes(r, folder, x, tables):
    x = dict(x, trial_limits={"time": "1h"})
    same(tables, run(folder, x, "other"), "processes of their own")


def by_more_tables(r, folder, x, tables):
    """The host's own path, where the short one served."""
    x = dict(x, output={"tables": TABLES + ["phases", "timeline", "decisions"], "plots": [],
                        "detail_seeds": "all"})
    same(tables, run(folder, x, "other"), "more tables")


def by_resuming(r, folder, x, tables):
    path = write(folder, "other.yaml", x)
    p = subprocess.Popen([PROGRAM, "run", path, "-q", "-o", "other"], cwd=folder,
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while p.poll() is None and not os.path.exists(os.path.join(folder, "other", ".trials")):
        time.sleep(0.001)               # before that it does not listen yet
    time.sleep(r.uniform(0, 0.1))
    p.send_signal(r.choice([signal.SIGINT, signal.SIGKILL, signal.SIGTERM]))
    if p.wait() not in (0, 5, 130, -signal.SIGKILL):
        raise Wrong("a signal ends it with status %d" % p.returncode)
    call(folder, ["run", path, "-q", "-o", "other", "--resume"])
    same(tables, read(folder, "other"), "resumed")


def by_fewer_policies(r, folder, x, tables):
    """A policy does not see the others; the first is the baseline of all."""
    only = r.choice(names_of(x))
    some = run(folder, x, "other", "--only", only)
    for name in ("summary", "jobs"):
        column = tables[name][0].index("policy")
        whole = [row for row in tables[name] if row[column] in (only, "policy")]
        same({name: whole}, {name: some[name]}, "--only " + only)


def by_order(r, folder, x, tables):
    """Policies in another order: the same rows, in that order."""
    policies = list(x["policies"])
    r.shuffle(policies)
    some = run(folder, dict(x, policies=policies), "other")
    for name in ("summary", "jobs"):
        same({name: sorted(tables[name])}, {name: sorted(some[name])}, "policies in order")


def by_fewer_seeds(r, folder, x, tables):
    some = run(folder, x, "other", "--seeds", "1")
    for name in ("summary", "jobs"):
        column = tables[name][0].index("seed")
        whole = [row for row in tables[name] if row[column] in ("0", "seed")]
        same({name: whole}, {name: some[name]}, "--seeds 1")


def rename(x, names):
    """New names for pools, wherever they stand."""
    if isinstance(x, dict):
        return {k: names.get(v, v) if k in ("name", "pool", "home") and isinstance(v, str)
                else rename(v, names) for k, v in x.items()}
    return [rename(v, names) for v in x] if isinstance(x, list) else x


def by_names(r, folder, x, tables):
    """Pools that the jobs do not name may have any name."""
    if "trace" not in json.dumps(x["workload"]) or not isinstance(x["cluster"], dict):
        return by_threads(r, folder, x, tables)
    pools = [n["name"] for n in x["cluster"]["nodes"] if n["name"] not in ("rollout", "train",
                                                                           "cpu")]
    names = dict(zip(pools, ["pool-%s" % c for c in r.sample("zyxwv", len(pools))]))
    some = run(folder, dict(x, cluster=rename(x["cluster"], names)), "other")
    same({"summary": tables["summary"]}, {"summary": some["summary"]}, "other names")


UNITS = {"h": (60, "min"), "min": (60, "s"), "d": (24, "h"), "s": (1000, "ms"),
         "GB": (1000, "MB"), "GB/s": (1000, "MB/s")}


def in_units(x):
    """Each quantity in a smaller unit."""
    if isinstance(x, dict):
        return {k: in_units(v) for k, v in x.items()}
    if isinstance(x, list):
        return [in_units(v) for v in x]
    for unit, (factor, smaller) in UNITS.items():
        number = x[:-len(unit)] if isinstance(x, str) and x.endswith(unit) else ""
        if number.isdigit():
            return "%d%s" % (int(number) * factor, smaller)
    return x


def by_units(r, folder, x, tables):
    """The labels of points have the values of the sweep as written."""
    y = in_units({k: v for k, v in x.items() if k != "sweep"})
    if "sweep" in x:
        y["sweep"] = x["sweep"]
    same(tables, run(folder, y, "other"), "other units")


def by_set(r, folder, x, tables):
    """A point of the sweep, by --set."""
    if list(x.get("sweep", [])) != ["workload.arrival.rate"]:
        return by_units(r, folder, x, tables)
    value = r.choice(x["sweep"]["workload.arrival.rate"])
    y = {k: v for k, v in x.items() if k != "sweep"}
    some = run(folder, y, "other", "--set", "workload.arrival.rate=" + value)
    for name in ("summary", "jobs"):
        rows = [row[1:] for row in tables[name] if row[0] in ("point", "arrival.rate=" + value)]
        same({name: rows}, {name: [row[1:] for row in some[name]]}, "--set")
    return None


def by_scale(r, folder, x, tables):
    """A trace in which all takes twice as long."""
    rows = draw_trace(r)
    factor = r.choice([2, 3, 10])
    jobs = {}
    for k in (1, factor):
        with open(os.path.join(folder, "t%d.csv" % k), "w") as f:
            f.write(rows[0] + "\n")
            for row in rows[1:]:
                job, at, gpus, took = row.split(",")
                f.write("%s,%d,%s,%d\n" % (job, int(at) * k, gpus, int(took) * k))
        y = {"experiment": "e", "seeds": 1,
             "cluster": {"nodes": [{"name": "a", "count": r.randint(1, 3) if k == 1 else count,
                                    "gpus": {"type": "generic", "count": 4}}]},
             "workload": {"trace": {"file": "t%d.csv" % k, "format": "csv", "columns": {
                 "job": "job", "submit": "submit", "gpus": "gpus", "duration": "run"}}},
             "policies": TIMELESS, "output": {"tables": ["jobs", "summary"], "plots": []}}
        count = y["cluster"]["nodes"][0]["count"]
        jobs[k] = run(folder, y, "scale%d" % k)["jobs"]
    head = jobs[1][0]
    times = [head.index(c) for c in ("submit_s", "start_s", "end_s")]
    for a, b in zip(jobs[1][1:], jobs[factor][1:]):
        for c in times:
            if float(a[c]) * factor != float(b[c]):
                raise Wrong("%d times as long: %s\n  %s\n  %s" % (
                    factor, head[c], ",".join(a), ",".join(b)))
    if len(jobs[1]) != len(jobs[factor]):
        raise Wrong("%d times as long: other jobs" % factor)


PAIRS = [by_threads, by_shards, by_processes, by_more_tables, by_resuming, by_fewer_policies,
         by_order, by_fewer_seeds, by_names, by_units, by_set, by_scale]


def keep(folder, number):
    os.makedirs(KEPT, exist_ok=True)
    to = os.path.join(KEPT, "%d.yaml" % number)
    shutil.copy(os.path.join(folder, "e.yaml"), to)
    return to


def main():
    began, number, refused, files = time.monotonic(), 0, {}, tree_experiments()
    while time.monotonic() - began < SECONDS:
        r = random.Random("%d %d" % (SEED, number))
        folder = tempfile.mkdtemp(prefix="clustersim-pairs-")
        pair = PAIRS[number % len(PAIRS)]
        try:
            x = draw_from_tree(r, files) if r.random() < 0.3 else draw_experiment(r)
            tables = run(folder, x, "e", "--audit", "full")
            pair(r, folder, x, tables)
            print("ok %d %s" % (number, pair.__name__))
        except subprocess.TimeoutExpired:
            refused["takes long"] = refused.get("takes long", 0) + 1
        except Refused as e:
            reason = str(e).strip().split("\n")[0].split("error: ")[-1]
            refused[reason] = refused.get(reason, 0) + 1
        except Wrong as e:
            print("no %d %s: %s: %s" % (number, pair.__name__, keep(folder, number),
                                        str(e).replace("\n", "\\n")))
        finally:
            shutil.rmtree(folder)
        sys.stdout.flush()
        number += 1
    for reason in sorted(refused, key=lambda k: -refused[k])[:8]:
        print("refused %d: %s" % (refused[reason], reason), file=sys.stderr)
    print("%d experiments, %d refused" % (number, sum(refused.values())), file=sys.stderr)


main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""reach.py - which test runs which line: measured once, by a build that notes each block.

BUILD/mutation/reach.json has, for each test, its seconds of processor time, plain and with the
blocks noted, and the lines of each file that it runs.  A test is measured again when its program
is newer, and all are when a source of the product changed.
"""
import bisect
import collections
import concurrent.futures
import glob
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

from mutation.places import ROOT

HERE = os.path.dirname(os.path.abspath(__file__))
FLOORS = ("sim", "models", "workloads", "policies", "experiments")
LONG_S = 30                     # a test that takes ten times as long is left out
BEGIN = re.compile(r"^[0-9a-f]+ <.*>:$")
ROW = re.compile(r"^(\d+)\.c\s+(\d+)\s+0x([0-9a-f]+)")


def sources():
    """The sources of the product, without main.c and what others build."""
    found = [path for floor in FLOORS for path in asked_files(floor)]
    return sorted(name for name in found if not re.search(
        r"^experiments/main\.c|fleet/mpi\.c|^policies/(clients|python)/", name))


def asked_files(floor):
    pattern = os.path.join(ROOT, floor, "**", "*.c")
    return [os.path.relpath(path, ROOT) for path in glob.glob(pattern, recursive=True)]


def digest(names):
    total = hashlib.sha256()
    for name in names:
        with open(os.path.join(ROOT, name), "rb") as file:
            total.update(file.read())
    return total.hexdigest()


def version(bench, test):
    """Of a test's own code: it is measured again when this changes."""
    return digest([bench.object_of(test)] if test in bench.room else [])


def build_noting(bench, jobs):
    """reach/libmutant.so: the whole product, noting the blocks that run."""
    folder, names = os.path.join(bench.folder, "reach"), sources()
    os.makedirs(folder, exist_ok=True)
    words = [*bench.compile, "-O1", "-g1", "-fno-inline", "-fsanitize-coverage=trace-pc", "-c"]
    objects = [os.path.join(folder, "%d.o" % at) for at in range(len(names))]
    # The table of lines has names without folders: so each source gets a number.
    for at, name in enumerate(names):
        shutil.copy(os.path.join(ROOT, name), os.path.join(folder, "%d.c" % at))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(lambda path: subprocess.run([*words, "-o", path, path[:-1] + "c"],
                                                  check=True), objects))
    subprocess.run([*bench.compile, "-O2", "-c", "-o", folder + "/note.o", HERE + "/reach.c"],
                   check=True)
    bench.link("reach/libmutant.so", "-shared", "-Wl,-Bsymbolic", folder + "/note.o", *objects)


def lines_of_blocks(bench):
    """(sorted addresses of the calls that note a block, the lines of each)."""
    library = os.path.join(bench.folder, "reach", "libmutant.so")
    code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", library], capture_output=True,
                          text=True, check=True).stdout.split("\n")
    calls, begins = [], []
    for at, line in enumerate(code):
        if BEGIN.match(line):
            begins.append(int(line.split()[0], 16))
        if "call" in line and "__sanitizer_cov_trace_pc" in line:
            calls.append(int(code[at + 1].split(":")[0], 16) if ":" in code[at + 1] else 0)
    calls = sorted(set(calls) - {0})
    table = subprocess.run(["objdump", "--dwarf=decodedline", library], capture_output=True,
                           text=True, check=True).stdout
    lines, names = collections.defaultdict(set), sources()
    for row in table.split("\n"):
        found = ROW.match(row)
        if not found:
            continue
        address = int(found.group(3), 16)
        at = bisect.bisect_right(calls, address) - 1
        # What a function does before its first block is noted belongs to that block.
        began = bisect.bisect_right(begins, address) - 1
        if began >= 0 and at + 1 < len(calls) and (at < 0 or calls[at] < begins[began]):
            at += 1
        if at >= 0:
            lines[calls[at]].add((names[int(found.group(1))], int(found.group(2)) - 1))
    return calls, lines


def learn(bench, jobs, say, known_alone=False):
    """Measures what is not known yet, unless `known_alone`; returns {test: {"cpu": s, "noted":
    s, "failed": is it of no use, "lines": {file: [...]}}}.  A test that fails runs no line."""
    path = os.path.join(bench.folder, "reach.json")
    known, now = {"product": "", "tests": {}}, digest(sources())
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            known = json.load(file)
    if known_alone:
        return known["tests"]
    tests = [test for test in bench.all_tests() if bench.prepare(test)]
    if all(test in bench.golden for test in tests):
        sys.exit("mutants: no test program is built; first run: make tests")
    tests.sort(key=lambda test: FLOORS.index(bench.room.get(test, "sim")) if
               bench.room.get(test, "sim") in FLOORS else len(FLOORS))
    if known["product"] != now:
        say("builds the product so that it notes what runs")
        build_noting(bench, jobs)
        known = {"product": now, "tests": {}}
    wanted = [test for test in tests if known["tests"].get(test, {}).get("made") !=
              version(bench, test)]
    if not wanted:
        return known["tests"]
    say("measures what %d tests run" % len(wanted))
    calls, lines = lines_of_blocks(bench)
    size = os.path.getsize(os.path.join(bench.folder, "reach", "libmutant.so"))
    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        jobs = {pool.submit(measured, bench, test, calls, lines, size): test for test in wanted}
        for job in concurrent.futures.as_completed(jobs):
            known["tests"][jobs[job]] = job.result()
            with open(path + ".new", "w", encoding="utf-8") as file:
                json.dump(known, file)
            os.replace(path + ".new", path)
    return known["tests"]


def measured(bench, test, calls, lines, size):
    """Runs a test with the product that notes its blocks."""
    work = os.path.join(bench.folder, "reach", "of." + test.replace(":", "."))
    os.makedirs(work, exist_ok=True)
    noted, library = os.path.join(work, "noted"), os.path.join(work, "libmutant.so")
    if not os.path.lexists(library):
        os.symlink("../libmutant.so", library)
    with open(noted, "wb") as file:
        file.truncate(size)
    failed, cpu, _said = bench.run(test, work, LONG_S, MUTATION_REACH=noted)
    with open(noted, "rb") as file:
        marks = file.read()
    os.remove(noted)
    reached = collections.defaultdict(set)
    for call in calls:
        if marks[call] and not failed:
            for name, number in lines[call]:
                reached[name].add(number)
    # Noting takes up to four times as long: a budget is spent in seconds without it.
    plain = cpu
    if not failed and cpu > 1:
        failed, plain, _said = bench.run(test, work, LONG_S, LD_LIBRARY_PATH=bench.folder + "/none")
    return {"made": version(bench, test), "cpu": plain, "noted": cpu, "failed": failed,
            "lines": {name: sorted(numbers) for name, numbers in reached.items()}}

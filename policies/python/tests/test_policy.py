# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies in Python: they give what the built-in ones give, and what is wrong with one
fails its trials alone.  `python3 -m unittest` from policies/python runs them."""
import csv
import io
import os
import contextlib
import dataclasses
import doctest
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path
from typing import Literal

HERE = Path(__file__).resolve().parent
# The checkout, for its experiments: around this file, else around the program.
ROOT = next((root for place in (HERE, Path(os.environ.get("CLUSTERSIM", "/")).resolve())
             for root in place.parents if (root / "policies" / "policy.h").is_file()), None)
# The client for policies over a pipe.
CLIENTS = next((folder for tree in (ROOT, os.environ.get("CLUSTERSIM_TREE")) if tree
                for folder in [Path(tree) / "policies" / "clients" / "python"]
                if folder.is_dir()), None)
sys.path.insert(0, str(HERE))

try:
    import clustersim as cs
    from clustersim import policy as words
    from clustersim.policy import DONE, Policy, param
    from clustersim.run import run
    import mirrors
    MISSING = None
except ImportError as why:
    MISSING, Policy, cs = str(why), object, None

    def param(default, **_):
        return default

SMALL = """
experiment: small
seeds: 2
cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}}]}
workload:
  arrival: {process: poisson, rate: 30/h}
  jobs: 40
  mix:
    - {recipe: trace, name: part, share: 2, gpus: 4, duration: 10min}
    - {recipe: trace, name: node, share: 1, gpus: 8, duration: 14min}
policies: [fcfs]
"""


def rows(path, policy):
    """The rows of a policy, without its name."""
    with open(path, newline="", encoding="utf-8") as file:
        return [[cell for name, cell in row.items() if name != "policy"]
                for row in csv.DictReader(file) if row["policy"] == policy]


@unittest.skipIf(MISSING, f"the compiled part of the package is absent: {MISSING}")
class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        self.small = self.dir / "small.yaml"
        self.small.write_text(SMALL, encoding="utf-8")

    def run_small(self, policies, **more):
        return run(self.small, policies=policies, out=self.dir / "out", draw=False, **more)

    def failures(self, *policies, settings=None):
        """Message and hint of each failed trial, of a run beside fcfs that goes well."""
        results = self.run_small(["fcfs", *policies], settings=settings)
        self.assertEqual(results.status, 5)
        self.assertEqual(len(rows(self.dir / "out" / "summary.csv", "fcfs")), 2)
        with open(self.dir / "out" / "failures.csv", newline="", encoding="utf-8") as file:
            return [(row["message"], row["hint"]) for row in csv.DictReader(file)]

    def assert_fails(self, policy, message, hint=None):
        told = self.failures(policy)
        self.assertEqual(len(told), 2)
        self.assertIn(message, told[0][0])
        if hint is not None:
            self.assertIn(hint, told[0][1])


class Conformance(Case):
    def assert_alike(self, experiment, pairs, tables=("summary", "jobs"), **more):
        out = self.dir / "alike"
        listed = [entry for pair in pairs for entry in pair]
        results = run(experiment, policies=listed, out=out, draw=False, **more)
        self.assertEqual(results.status, 0, results.failures)
        for built_in, mine in pairs:
            name = built_in["name"] if isinstance(built_in, dict) else built_in
            of = mine["name"] if isinstance(mine, dict) else words.name_of(mine)
            for table in tables:
                first = rows(out / f"{table}.csv", name)
                self.assertGreater(len(first), 0)
                self.assertEqual(first, rows(out / f"{table}.csv", of), (of, table))

    @unittest.skipIf(ROOT is None, "no checkout is around")
    def test_whole_jobs_of_a_trace_give_the_same_bytes(self):
        experiment = cs.Experiment(experiment="alike", policies=["fcfs"],
                                   cluster=str(ROOT / "models/clusters/generic_64.yaml"),
                                   workload=str(ROOT / "workloads/trace_c480.yaml"))
        self.assert_alike(experiment, [("fcfs", mirrors.MyFcfs), ("sjf", mirrors.SjfKey),
                                       ("easy", mirrors.MyEasy)])

    def test_jobs_that_are_drawn_give_the_same_bytes(self):
        pairs = [("fcfs", mirrors.MyFcfs), ("sjf", mirrors.SjfKey), ("easy", mirrors.MyEasy)]
        self.assert_alike(self.small, pairs, settings={"workload.arrival.rate": "12/h"})
        self.assert_alike(self.small, [("sjf", mirrors.SjfBefore)])

    def test_keys_of_other_types_of_number_give_the_same_bytes(self):
        class Real(float):                      # as numpy.float64
            pass

        class Whole:                            # as numpy.int64
            def __init__(self, number):
                self.number = number

            def __index__(self):
                return self.number

        class Single:                           # as numpy.float32
            def __init__(self, number):
                self.number = number

            def __float__(self):
                return float(self.number)

        class ByReal(mirrors.SjfKey):
            """floats of a class"""
            def key(self, host, task):
                return Real(task.estimate_ns)

        class ByWhole(mirrors.SjfKey):
            """what counts as a whole number"""
            def key(self, host, task):
                return Whole(task.estimate_ns)

        class BySingle(mirrors.SjfKey):
            """what counts as a float"""
            def key(self, host, task):
                return Single(task.estimate_ns)

        class ByTruth(mirrors.SjfKey):
            """True for each: as they came"""
            def key(self, host, task):
                return True

        for built_in, mine in (("sjf", ByReal), ("sjf", ByWhole), ("sjf", BySingle),
                               ("fcfs", ByTruth)):
            self.assert_alike(self.small, [(built_in, mine)])

    def test_an_order_that_moves_gives_the_same_bytes(self):
        busy = {"workload.arrival.rate": "60/h", "workload.jobs": 300}
        self.assert_alike(self.small, [("hrrn", mirrors.MyHrrn)], settings=busy)

    def test_a_policy_that_preempts_by_a_key_that_moves_gives_the_same_bytes(self):
        busy = {"workload.arrival.rate": "40/h", "workload.jobs": 200}
        pairs = [({"policy": "srtf", "name": "theirs", "preemption": {"cost": "30s"}},
                  {"policy": mirrors.MySrtf, "name": "mine", "preemption": {"cost": "30s"}})]
        self.assert_alike(self.small, pairs, settings=busy)
        with open(self.dir / "alike" / "summary.csv", newline="", encoding="utf-8") as file:
            self.assertTrue(all(int(row["preemptions"]) > 0 for row in csv.DictReader(file)))

    def test_a_policy_that_reserves_in_a_plan_gives_the_same_bytes(self):
        late = {"estimate": "noisy", "noise": 0.5}
        pairs = [("conservative", mirrors.MyConservative),
                 ({"policy": "conservative", "name": "theirs", **late},
                  {"policy": mirrors.MyConservative, "name": "mine", **late})]
        for rate in ("20/h", "60/h"):
            self.assert_alike(self.small, pairs, settings={
                "workload.arrival.rate": rate, "workload.jobs": 150})

    def test_a_policy_that_resizes_jobs_gives_the_same_bytes(self):
        elastic = {"recipe": "trace", "name": "elastic", "gpus": 2, "share": 3,
                   "duration": {"lognormal": {"mean": "40min", "cv": 1}},
                   "elastic": {"min": 1, "max": 8, "scaling": {"table": {1: 1, 8: 5}}}}
        rigid = {"recipe": "trace", "name": "rigid", "gpus": 4, "share": 1,
                 "duration": "30min"}
        cost = {"preemption": {"cost": "20s"}}
        pairs = [("optimus", mirrors.MyOptimus),
                 ({"policy": "optimus", "name": "theirs", "interval": "3min", **cost},
                  {"policy": mirrors.MyOptimus, "name": "mine", "interval": "3min", **cost})]
        self.assert_alike(self.small, pairs, settings={"workload.mix": [elastic, rigid]})
        with open(self.dir / "alike" / "summary.csv", newline="", encoding="utf-8") as file:
            self.assertTrue(any(int(row["resizes"]) > 0 for row in csv.DictReader(file)))

    def test_passing_over_what_does_not_fit_gives_the_same_bytes(self):
        pairs = [({"policy": "fcfs", "name": "skip", "blocking": "skip"},
                  {"policy": mirrors.MyFcfs, "name": "my-skip", "blocking": "skip"})]
        self.assert_alike(self.small, pairs, settings={"workload.arrival.rate": "20/h"})

    @unittest.skipIf(ROOT is None, "no checkout is around")
    def test_a_policy_that_lends_between_phases_gives_the_same_bytes(self):
        settings = {"sweep": {"workload.arrival.rate": ["2/h", "6/h"]}, "expect": [],
                    "baseline": "dynamic"}
        self.assert_alike(ROOT / "experiments/dpo_vs_static.yaml",
                          [("dynamic", mirrors.MyDynamic)], seeds=2, settings=settings)

    def test_results_do_not_depend_on_threads(self):
        texts = []
        for threads in (1, 2):
            self.run_small(["sjf", mirrors.SjfKey, mirrors.MyEasy], threads=threads, seeds=3)
            texts.append([(self.dir / "out" / name).read_bytes()
                          for name in ("summary.csv", "jobs.csv", "compare.csv")])
        self.assertEqual(texts[0], texts[1])


class Raises(Policy):
    """raises in the method that `where` names"""
    where: str = "decide"

    def _maybe(self, where):
        if self.where == where:
            raise ValueError(f"no {where}")

    def init(self, host):
        self._maybe("init")

    def before(self, host, a, b):
        self._maybe("before")
        return False

    def decide(self, host):
        self._maybe("decide")
        while host.pending_count() and host.start(host.pending(0)) == words.DONE:
            host.wake_at(host.now_ns() + 1)

    def job_submitted(self, host, job):
        self._maybe("job_submitted")

    def job_ended(self, host, job):
        self._maybe("job_ended")

    def wakeup(self, host):
        self._maybe("wakeup")


class Faults(Case):
    def test_an_error_in_any_method_fails_its_trials_with_the_traceback(self):
        methods = ("init", "before", "decide", "job_submitted", "job_ended", "wakeup")
        told = self.failures(*({"policy": Raises, "name": f"in-{method}", "where": method}
                               for method in methods))
        self.assertEqual(len(told), 2 * len(methods))
        for i, method in enumerate(methods):
            message, hint = told[2 * i]
            self.assertIn(f"{method}() raised ValueError: no {method}, at test_policy.py:",
                          message)
            self.assertIn("Traceback (most recent call last): |", hint)
            self.assertIn("in _maybe", hint)

    def test_a_policy_without_an_error_is_none(self):
        self.assertEqual(self.run_small([{"policy": Raises, "where": "nowhere"}]).status, 0)

    def test_an_error_in_key_or_init_fails_its_trials(self):
        class InKey(Policy):
            def key(self, host, task):
                return [][1]

        class InInit(Policy):
            def __init__(self):
                raise KeyError("x")

        self.assert_fails(InKey, "key() raised IndexError")
        self.assert_fails(InInit, "__init__() raised KeyError: 'x'")

    def test_a_wrong_type_fails_its_trials(self):
        class Numbers(Policy):
            def before(self, host, a, b):
                return 1

        class Texts(Policy):
            def key(self, host, task):
                return "short"

        class NotANumber(Policy):
            def key(self, host, task):
                return float("nan")

        class Deep(Policy):
            def key(self, host, task):
                return (1, (task.job, float("nan")))

        class Other:                    # a number that is no float, as numpy.float32
            def __float__(self):
                return float("nan")

            def __repr__(self):
                return "other nan"

        class DeepOther(Policy):
            def key(self, host, task):
                return (1, (task.job, Other()))

        class Lists(Policy):
            def decide(self, host):
                return [host.pending(0)]

        self.assert_fails(Numbers, "before() must return True or False, and returned 1")
        self.assert_fails(Texts, "key() must return a number or a tuple, and no NaN, and returned 'short'")
        self.assert_fails(NotANumber, "key() must return a number or a tuple, and no NaN, and returned nan")
        self.assert_fails(Deep, "and no NaN, and returned (1, (4, nan))")
        self.assert_fails(DeepOther, "and no NaN, and returned (1, (4, other nan))")
        self.assert_fails(Lists, "decide() must return nothing, and returned [<Task of job")

    def test_keys_that_cannot_be_compared_fail_their_trials(self):
        class Mixed(Policy):
            def key(self, host, task):
                return (1, task.job) if task.job % 2 else 1

            def decide(self, host):
                if host.running_count() == 0 and host.pending_count() > 4:
                    host.start(host.pending(0))

        self.assert_fails(Mixed, "key() raised TypeError: '<' not supported")

    def test_a_key_that_is_none_fails_its_trials(self):
        class Texts(Policy):
            flags = ("preempts",)

            def decide(self, host):
                host.reallocate(lambda job: "long")

        class Nans(Policy):
            flags = ("preempts",)

            def decide(self, host):
                host.reallocate(lambda job: float("nan"))

        class Asks(Policy):
            flags = ("preempts",)

            def decide(self, host):
                host.reallocate(host.stop)

        class Numbers(Policy):
            flags = ("preempts",)

            def decide(self, host):
                host.reallocate(1)

        class Unflagged(Policy):
            def decide(self, host):
                host.reallocate(host.left_ns)

        self.assert_fails(Texts, "decide() raised TypeError: must be real number, not str")
        self.assert_fails(Nans, "decide() raised ValueError: the key of job 0 is not a number")
        self.assert_fails(Asks, "may ask, but not request")
        self.assert_fails(Numbers, "a function that returns the key of a job, found 1")
        self.assert_fails(Unflagged, "this needs the flag preempts, and not per_phase")

    def test_sizes_that_are_none_fail_their_trials(self):
        class Pairs(Policy):
            flags = ("preempts", "resizes")
            sizes: str = "x"

            def decide(self, host):
                host.set_sizes({"x": 1, "short": [(1,)], "text": [(0, "2")]}[self.sizes])

        class Far(Policy):
            flags = ("preempts", "resizes")

            def decide(self, host):
                host.set_node_gpus([(0, 99, 1)])

        self.assert_fails(Pairs, "set_sizes: a list of (job, gpus) is needed, found 1")
        self.assert_fails({"policy": Pairs, "sizes": "short"}, "a tuple of 2 is needed")
        self.assert_fails({"policy": Pairs, "sizes": "text"}, "a whole number is needed")
        self.assert_fails(Far, "set_node_gpus: a node must be from 0 to 1, found 99")

    def test_places_need_both_flags(self):
        class Places(Policy):
            flags = ("resizes",)

            def decide(self, host):
                host.set_node_gpus([(host.pending(0).job, 0, 1)])

        self.assert_fails(Places, "set_node_gpus: this needs the flags resizes and preempts, "
                                  "and not per_phase")

    def test_a_request_from_before_is_refused(self):
        class Asks(Policy):
            def before(self, host, a, b):
                host.start(a)
                return False

        self.assert_fails(Asks, "before() and key() may ask, but not request")

    def test_a_wrong_argument_says_what_is_needed(self):
        class Wants(Policy):
            def decide(self, host):
                host.start(host.pending(0), pool=1)

        class Far(Policy):
            def decide(self, host):
                host.pending(1000)

        class NoTask(Policy):
            def decide(self, host):
                host.start(0)

        self.assert_fails(Wants, "a want has no key 'pool'; it has role, gpus, pools")
        self.assert_fails(Far, "pending: the place of a task must be from 0 to 0, found 1000")
        self.assert_fails(NoTask, "a Task is needed, found 0")

    def test_a_list_without_pools_is_not_all_of_them(self):
        class NoPool(Policy):
            def decide(self, host):
                assert host.free_gpus(0) == 16 == host.free_gpus(["a"])
                host.free_gpus([])

        self.assert_fails(NoPool, "free_gpus: [] names no pool; 0 stands for all")

    def test_a_task_that_was_started_is_no_task_any_more(self):
        class Twice(Policy):
            def decide(self, host):
                task = host.pending(0)
                if host.start(task) == DONE:
                    self.seen = task
                    host.wake_at(host.now_ns() + 1)
                    host.start(task)

        results = self.run_small([Twice], seeds=1)
        self.assertEqual(results.status, 5)         # it starts one task at a decision

    def test_a_policy_that_never_returns_is_ended(self):
        class Spins(Policy):
            def decide(self, host):
                while host.now_ns() > 0:
                    pass

        begin = time.monotonic()
        told = self.failures(Spins, settings={"plugins": {"event_limit": "1s"}})
        self.assertLess(time.monotonic() - begin, 60)
        self.assertIn("decide() raised TimeoutError: it has not returned for more "
                      "than 1 s", told[0][0])
        self.assertIn(" in decide | ", told[0][1])

    def test_a_policy_that_holds_every_error_back_is_ended_too(self):
        class Deaf(Policy):
            def decide(self, host):
                while host.now_ns() > 0:
                    try:
                        while True:
                            pass
                    except BaseException:
                        pass

        told = self.failures(Deaf, settings={"plugins": {"event_limit": "1s"}})
        self.assertIn("needs more than 1 s of wall time for one event", told[0][0])

    def test_a_slow_policy_that_goes_on_is_left_alone(self):
        class Slow(mirrors.MyFcfs):
            """takes its time"""
            def decide(self, host):
                time.sleep(0.02)
                super().decide(host)

        results = self.run_small([Slow], settings={"plugins": {"event_limit": "1s"}})
        self.assertEqual(results.status, 0, results.failures)

    def test_a_policy_that_crashes_exits_or_forks_harms_nobody(self):
        class Crashes(Policy):
            def decide(self, host):
                os.kill(os.getpid(), signal.SIGSEGV)

        class Leaves(Policy):
            def decide(self, host):
                sys.exit(3)

        class Ends(Policy):
            def decide(self, host):
                os._exit(4)

        class Forks(mirrors.MyFcfs):
            """forks at each decision"""
            def decide(self, host):
                pid = os.fork()
                if pid == 0:
                    time.sleep(60)
                os.waitpid(pid, 0)
                super().decide(host)

        self.assert_fails(Crashes, "crashed (Segmentation fault)")
        self.assert_fails(Leaves, "decide() raised SystemExit: 3")
        self.assert_fails(Ends, "left its process with status 4")
        begin = time.monotonic()
        results = self.run_small(["fcfs", Forks])
        self.assertEqual(results.status, 0)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertEqual(rows(self.dir / "out" / "summary.csv", "fcfs"),
                         rows(self.dir / "out" / "summary.csv", "forks"))

    def test_a_policy_that_takes_all_memory_is_ended(self):
        class Takes(Policy):
            def decide(self, host):
                self.kept = [bytearray(1 << 28) for _ in range(100)]

        told = self.failures(Takes, settings={"plugins": {"memory": "1GB"}})
        self.assertIn("decide() raised MemoryError", told[0][0])

    def test_what_a_policy_prints_is_not_lost_and_harms_nothing(self):
        script = (f"import sys; sys.path[:0] = {sys.path!r}\n"
                  "import clustersim as cs\n"
                  "class Speaks(cs.Policy):\n"
                  "    def init(self, host):\n"
                  "        print('hello from the trial')\n"
                  "print('before')\n"
                  f"cs.run({str(self.small)!r}, policies=[Speaks], seeds=1, draw=False, "
                  f"out={str(self.dir / 'out')!r})\n"
                  "print('after')\n")
        done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE,
                              encoding="utf-8", check=True)
        self.assertEqual(done.stdout, "before\nhello from the trial\nafter\n")


class Mode(Policy):
    """has a parameter of each type"""
    count: int = param(3, min=1, max=9, help="how many")
    share: float = 0.5
    part: "words.Fraction" = "20%"
    patience: "words.Time" = "90s"
    bold: bool = True
    pool: str = "a"
    way: Literal["up", "down"] = "up"

    def init(self, host):
        assert (self.count, self.share, self.part, self.patience, self.bold, self.pool,
                self.way) == self.expected

    expected_default = (3, 0.5, 0.2, 90 * 10**9, True, "a", "up")


class Parameters(Case):
    def test_parameters_are_attributes_of_their_type(self):
        class Default(Mode):
            def init(self, host):
                self.expected = Mode.expected_default
                super().init(host)

        class Set(Mode):
            def init(self, host):
                self.expected = (4, 0.25, 0.75, 5 * 10**9, False, "b c", "down")
                super().init(host)

        results = self.run_small([Default, {"policy": Set, "count": 4, "share": 0.25,
                                            "part": "75%", "patience": "5s", "bold": False,
                                            "pool": "b c", "way": "down"}])
        self.assertEqual(results.status, 0, results.failures)

    def test_a_choice_has_the_type_in_which_it_is_written(self):
        class Level(Policy):
            level: Literal[1, 2] = 1
            wanted = 1

            def init(self, host):
                assert self.level == self.wanted and isinstance(self.level, int), self.level

        class Second(Level):
            wanted = 2

        results = self.run_small([Level, {"policy": Second, "level": 2}])
        self.assertEqual(results.status, 0, results.failures)

    def test_texts_may_have_any_letters(self):
        class Smiles(Policy):
            face: str = "none"

            def init(self, host):
                assert self.face == "\U0001f600 é", self.face

        results = self.run_small([{"policy": Smiles, "face": "\U0001f600 é"}])
        self.assertEqual(results.status, 0, results.failures)
        with self.assertRaisesRegex(cs.Error, "a text must be one of UTF-8"):
            self.run_small([{"policy": Smiles, "face": "\ud83d"}])
        with self.assertRaisesRegex(cs.Error, "found set"):
            self.run_small(["fcfs"], settings={"workload.jobs": {5}})

    def test_a_default_may_have_any_letters(self):
        for text in ("a: b", "[c", "# d", "'e'", "~", " f "):
            class Says(Policy):
                face: str = text
                wanted = text

                def init(self, host):
                    assert self.face == self.wanted, self.face

            self.assertEqual(self.run_small([Says], seeds=1).status, 0, text)

    def test_fields_of_a_dataclass_are_parameters(self):
        @dataclasses.dataclass
        class Record(Policy):
            depth: int = 10
            way: Literal["up", "down"] = dataclasses.field(default="up")
            _seen: list = dataclasses.field(default_factory=list)

            def init(self, host):
                assert (self.depth, self.way, self._seen) == self.wanted(), self

            def wanted(self):
                return 10, "up", []

        class Other(Record):
            def wanted(self):
                return 3, "down", []

        results = self.run_small([Record, {"policy": Other, "depth": 3, "way": "down"}])
        self.assertEqual(results.status, 0, results.failures)

    def test_a_name_may_be_long(self):
        named = type("Named", (Policy,), {"name": "n" * 300, "key": lambda *_: 0})
        self.assertEqual(self.run_small(["fcfs", named]).policies, ["fcfs", "n" * 300])

    def test_settings_are_a_dict(self):
        with self.assertRaisesRegex(cs.Error, "settings must be a dict, found list"):
            self.run_small(["fcfs"], settings=["workload.jobs=5"])

    def test_name_and_flags_may_be_annotated(self):
        class Annotated(Policy):
            name: str = "mine"
            flags: tuple = ("preempts", "whole_gpus", "one_kind")

        self.assertEqual(self.run_small([Annotated]).policies, ["mine"])

    def test_types_of_parameters_are_found_where_messages_name_them(self):
        self.assertEqual((cs.Time, cs.Fraction, cs.param), (words.Time, words.Fraction, param))

    def test_a_wrong_value_is_an_error_with_the_key(self):
        for key, value, message in (("count", 10, "count"), ("way", "sideways", "way"),
                                    ("patience", 90, "patience"), ("cuont", 1, "cuont")):
            with self.assertRaises(cs.Error) as caught:
                self.run_small([{"policy": Mode, key: value}])
            self.assertIn(message, caught.exception.message)
            self.assertEqual(caught.exception.status, 3)
        self.assertIn("count", caught.exception.hint)

    def test_a_wrong_class_is_an_error_at_its_line(self):
        class NoDefault(Policy):
            depth: int

        class OddType(Policy):
            depth: bytes = b""

        class OddFlag(Policy):
            flags = ("preempt",)

        class Both(mirrors.SjfKey):
            """both orders"""
            def before(self, host, a, b):
                return False

        class NoUnit(Policy):
            patience: "words.Time" = 90

        class Sjf(Policy):
            """has a name that is taken"""

        class Misspelt(Policy):
            def Decide(self, host):
                """no method that is called"""

        class Blank(Policy):
            way: Literal["up", "to the left"] = "up"

        class NoLimit(Policy):
            depth: int = param(3, min="one")

        class NoNumber(Policy):
            depth: int = param(3, max=float("nan"))

        class NoType(Policy):
            depth: "Nowhere" = 3  # noqa: F821

        class OddDefault(Policy):
            depth: int = 3.5

        class Untyped(Policy):
            depth = param(3)

        class Method(Policy):
            key: int = 3

        class OfPrograms(Policy):
            exec: str = "true"

        for cls, message, hint in (
                (Misspelt, "none of its methods is called: Decide", "Did you mean decide?"),
                (Blank, "must be a word without blanks, found 'to the left'", None),
                (NoLimit, "min and max of parameter depth must be numbers, found 'one'", None),
                (NoNumber, "param depth has a min above its max, or one that is no number", None),
                (NoType, "annotations cannot be read: name 'Nowhere' is not defined", None),
                (NoDefault, "parameter depth must have a default", "depth: int = VALUE"),
                (OddDefault, "must be a whole number such as 12, found '3.5'", None),
                (Untyped, "parameter depth must have a type", "depth: int = "),
                (Method, "parameter key has the name of a method", "another one"),
                (OfPrograms, "parameter exec has the name of a key of programs", None),
                (OddType, "parameter depth must be int, float", None),
                (OddFlag, "there is no flag 'preempt'", "Did you mean preempts?"),
                (Both, "has before() and key()", "Keep one"),
                (NoUnit, "is a time with a unit, found 90", '"90s"'),
                (Sjf, "has the name of a built-in one", "another one")):
            with self.assertRaises(cs.Error) as caught:
                self.run_small([cls])
            self.assertIn(message, caught.exception.message)
            if hint is not None:
                self.assertIn(hint, caught.exception.hint)
            self.assertTrue(caught.exception.file.endswith("test_policy.py"))
            self.assertGreater(caught.exception.line, 100)

    def test_an_instance_or_a_number_is_no_policy(self):
        for wrong in ([mirrors.MyFcfs()], [5], 5, {"fcfs", "sjf"}):
            with self.assertRaises(cs.Error) as caught:
                self.run_small(wrong)
            self.assertEqual(caught.exception.key, "policies")


class Guide(Case):
    """core/README.md: what its blocks show is what happens."""

    def test_the_blocks_of_the_guide_are_true(self):
        text = (HERE.parent / "core" / "README.md").read_text(encoding="utf-8")
        blocks = "".join(part.split("```", 1)[0] for part in text.split("```python\n")[1:])
        here = os.getcwd()
        self.addCleanup(os.chdir, here)
        os.chdir(self.dir)
        told = io.StringIO()
        test = doctest.DocTestParser().get_doctest(blocks, {"experiment": str(self.small)},
                                                   "core/README.md", None, 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS |
                                       doctest.NORMALIZE_WHITESPACE)
        runner.run(test, out=told.write)
        self.assertEqual((runner.failures, runner.tries > 8), (0, True), told.getvalue())


class Runs(Case):
    def test_an_error_of_the_file_has_its_place(self):
        self.small.write_text(SMALL.replace("count: 8", "cuont: 8"), encoding="utf-8")
        with self.assertRaises(cs.Error) as caught:
            self.run_small(None)
        error = caught.exception
        self.assertEqual((error.file, error.line, error.status), (str(self.small), 4, 3))
        self.assertEqual(error.key, "cluster.nodes.0.gpus.cuont")
        self.assertIn("count", error.hint)
        self.assertIn("cuont", error.source)

    def test_an_error_of_code_has_no_place_in_a_file_that_is_not_there(self):
        cluster = {"nodes": [{"name": "a", "count": 1, "gpus": {"type": "generic", "count": 8}}]}
        coded = cs.Experiment(experiment="coded", policies=["fcfs"], cluster=cluster,
                              workload=str(self.dir / "absent.yaml"), folder=self.dir)
        for given, more, place in ((coded, {}, "experiment coded"),
                                   (self.small, {"settings": {"workload.jobs": "x"}},
                                    "settings workload.jobs"),
                                   (self.small, {"policies": [{"policy": "sjf", "depth": 1}]},
                                    "policies")):
            with self.assertRaises(cs.Error) as caught:
                run(given, out=self.dir / "out", **more)
            self.assertEqual(caught.exception.file, place)

    def test_an_argument_of_another_type_is_an_error(self):
        for words, key in (({"seeds": 1.0}, "seeds"), ({"threads": True}, "threads"),
                           ({"on_trial": 5}, "on_trial")):
            with self.assertRaises(cs.Error) as caught:
                self.run_small(["fcfs"], **words)
            self.assertEqual(caught.exception.key, key)
        for out in (5, b"out", "a\0b"):
            with self.assertRaisesRegex(cs.Error, "out must be a path"):
                run(self.small, out=out)
        with self.assertRaisesRegex(cs.Error, "experiment must be a path"):
            run("a\0b.yaml")

    def test_a_name_of_the_file_is_that_policy_with_its_keys(self):
        self.small.write_text(SMALL.replace("[fcfs]", "[{policy: easy, name: e, depth_max: 1}]"),
                              encoding="utf-8")
        results = self.run_small(["e", "easy", mirrors.MyFcfs], seeds=1)
        self.assertEqual(results.status, 0)
        self.assertEqual(len(rows(self.dir / "out" / "summary.csv", "e")), 1)

    def test_a_class_with_the_name_of_another_policy_of_the_file_is_refused(self):
        """An entry of the file stands for its name: it would have run in place of the class."""
        class Short(mirrors.SjfKey):
            """shortest first"""

        by_file, named = "[{policy: fcfs, name: short}]", {"policy": Short, "name": "mine"}
        self.small.write_text(SMALL.replace("[fcfs]", by_file), encoding="utf-8")
        for given in ([Short], ["short", named]):
            with self.assertRaises(cs.Error) as caught:
                self.run_small(given)
            self.assertIn("short of the program has the name of another", caught.exception.message)
            self.assertIn("another `name`", caught.exception.hint)
        self.assertEqual(self.run_small([named]).policies, ["mine"])
        self.small.write_text(SMALL.replace("[fcfs]", "[{policy: short, name: short}, sjf]"),
                              encoding="utf-8")
        self.assertEqual(self.run_small([Short, "sjf"]).status, 0)
        for table in ("summary.csv", "jobs.csv"):
            self.assertEqual(rows(self.dir / "out" / table, "short"),
                             rows(self.dir / "out" / table, "sjf"))

    def test_trials_are_told_in_their_order(self):
        told = []
        self.run_small(["fcfs", Raises], on_trial=told.append, threads=2)
        self.assertEqual([trial["index"] for trial in told], [0, 1, 2, 3])
        self.assertEqual([trial["policy"] for trial in told], ["fcfs"] * 2 + ["raises"] * 2)
        self.assertIsNone(told[0]["error"])
        self.assertIn("no decide", told[3]["error"]["message"])

    def test_an_error_of_the_listener_ends_the_run(self):
        def listen(trial):
            raise LookupError("enough")

        with self.assertRaisesRegex(LookupError, "enough"):
            self.run_small(["fcfs"], on_trial=listen)

    def test_an_interrupt_ends_the_run(self):
        # A shell has programs in its background ignore the signal.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        told = []
        threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
        with self.assertRaises(KeyboardInterrupt):
            self.run_small([mirrors.SjfBefore], seeds=1000, on_trial=told.append,
                           settings={"workload.jobs": 20000, "workload.arrival.rate": "60/h"})
        self.assertLess(len(told), 1000)

    def test_other_threads_go_on_meanwhile(self):
        counted = []
        done = threading.Event()

        def count():
            while not done.is_set():
                counted.append(1)
                time.sleep(0.001)

        thread = threading.Thread(target=count)
        thread.start()
        self.run_small([mirrors.SjfBefore], seeds=8, settings={"workload.jobs": 3000})
        done.set()
        thread.join()
        self.assertGreater(len(counted), 20)

    def test_one_policy_in_c_in_python_and_over_a_pipe_gives_the_same_bytes(self):
        (self.dir / "widest.c").write_text("""
#include "policies/policy.h"
static bool before(const void *self, const struct cs_host *host, struct task_id a,
                   struct task_id b)
{
    (void)self;
    return cs_task(host, a)->gpus > cs_task(host, b)->gpus;
}
extern const struct cs_policy widest_policy;
const struct cs_policy widest_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "widest", .summary = "most GPUs first", .before = before,
};
""", encoding="utf-8")

        class Wide(Policy):
            """the same in Python"""
            def key(self, host, task):
                return -task.gpus

        listed, names = [str(self.dir / "widest.c"), Wide], ["widest", "wide"]
        if CLIENTS is not None:
            (self.dir / "piped.py").write_text(f"""
import sys
sys.path.insert(0, {str(CLIENTS)!r})
import clustersim_client as cs

class Piped(cs.Policy):
    name, order, flags = "piped", ("-gpus",), ("blocking",)
    def decide(self, now):
        return [cs.start(task) for task in self.waits]

cs.run(Piped())
""", encoding="utf-8")
            listed.append({"exec": [sys.executable, str(self.dir / "piped.py")]})
            names.append("piped")
        self.assertEqual(self.run_small(listed).status, 0)
        for table in ("summary.csv", "jobs.csv"):
            first = rows(self.dir / "out" / table, "widest")
            self.assertGreater(len(first), 0)
            for name in names[1:]:
                self.assertEqual(rows(self.dir / "out" / table, name), first, (table, name))

    def test_isolation_cannot_be_given_up(self):
        with self.assertRaises(cs.Error) as caught:
            self.run_small([mirrors.MyFcfs], settings={"plugins": {"isolate": False}})
        self.assertIn("isolate must be true", caught.exception.message)

    def test_warnings_are_written_to_stderr(self):
        said = io.StringIO()
        with contextlib.redirect_stderr(said):
            self.run_small(["fcfs", "static"], seeds=1)
        self.assertIn("warning: ", said.getvalue())


if __name__ == "__main__":
    unittest.main()

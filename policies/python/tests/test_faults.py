# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies in Python that go wrong in each way and in each method: their trials fail, or go on as
if nothing were, and those of others are whole."""
import os
import signal
import subprocess
import sys
import threading
import time
import unittest

try:
    from test_policy import ROOT, Case, Policy
    from mirrors import MyFcfs
    from clustersim import policy as words
except ImportError:                     # test_policy says why
    ROOT, Case, Policy, MyFcfs = None, unittest.TestCase, object, object

METHODS = ("init", "before", "key", "decide", "job_submitted", "job_ended", "wakeup",
           "lease_idle")


def made(name, method, what, **more):
    """A policy that does `what` in one of its methods, and else starts what fits."""
    def decide(self, host):
        while host.pending_count() and host.start(host.pending(0)) == words.DONE:
            host.wake_at(host.now_ns() + 1)

    def go(self, host, *rest):
        return what()

    flags = ("per_phase",) if method == "lease_idle" else ()
    return type(name, (Policy,), {"name": name, "decide": decide, "flags": flags, method: go,
                                  **more})


def raises():
    raise ValueError("as it was told")


def spins():
    while True:
        pass


def sleeps():
    while True:
        time.sleep(10)


class Methods(Case):
    def told(self, make, **settings):
        """The message of the failed trial, by method; make(method) returns what it does.
        Leases are idle where jobs have phases."""
        found = {}
        phases = {} if ROOT is None else {
            "cluster": str(ROOT / "models/clusters/mixed_64.yaml"), "until": "3h",
            "workload": str(ROOT / "workloads/dpo_mix.yaml")}
        rounds = [(METHODS[:-1], {})] + ([(METHODS[-1:], phases)] if phases else [])
        for methods, more in rounds:
            policies = [made(f"in-{m.replace('_', '-')}", m, make(m)) for m in methods]
            results = self.run_small(["fcfs", *policies], seeds=1,
                                     settings={**settings, **more} or None)
            self.assertEqual(results.status, 5)
            self.assertEqual(len(results.table("summary").where(policy="fcfs")), 1)
            for row in results.table("failures"):
                found[row["policy"][3:].replace("-", "_")] = row["message"]
        self.assertEqual(set(found), set(METHODS if phases else METHODS[:-1]))
        return found.items()

    def test_an_error_in_any_method_fails_its_trial(self):
        for m, told in self.told(lambda m: raises):
            self.assertIn(f"{m}() raised ValueError: as it was told, at test_faults.py:", told)

    def test_a_wrong_type_from_any_method_fails_its_trial(self):
        must = {"before": "True or False", "key": "a number or a tuple, and no NaN"}
        for m, told in self.told(lambda m: lambda: "x"):
            self.assertIn(f"{m}() must return {must.get(m, 'nothing')}, and returned 'x'", told)

    def test_a_method_that_does_not_return_is_ended(self):
        for m, told in self.told(lambda m: spins if METHODS.index(m) % 2 else sleeps,
                                 plugins={"event_limit": "1s"}):
            self.assertIn(f"{m}() raised TimeoutError: it has not returned for more than 1 s, "
                          "at test_faults.py:", told)

    def test_a_policy_may_use_alarms_and_is_ended_whatever_signals_it_holds_back(self):
        def rings():
            signal.signal(signal.SIGALRM, lambda number, frame: rung.append(number))
            signal.alarm(10000)                 # in place of another one, if there is one
            spins()

        def holds():
            signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
            spins()

        rung = []
        results = self.run_small([made("rings", "decide", rings), made("holds", "decide", holds)],
                                 seeds=1, settings={"plugins": {"event_limit": "1s"}})
        told = {row["policy"]: row["message"] for row in results.table("failures")}
        self.assertIn("raised TimeoutError: it has not returned for more than 1 s", told["rings"])
        self.assertIn("needs more than 1 s of wall time for one event", told["holds"])

    @unittest.skipIf(sys.version_info < (3, 11), "each frame takes of the stack of C")
    def test_a_recursion_of_a_million_frames_is_told_as_one(self):
        def dives():
            sys.setrecursionlimit(10**6)
            deep()

        results = self.run_small([made("dives", "decide", dives)], seeds=1,
                                 settings={"plugins": {"event_limit": "10min"}})
        row = results.table("failures")[0]
        self.assertIn("decide() raised RecursionError: maximum recursion depth", row["message"])
        self.assertIn("in deep | deep()", row["hint"])


class NoRepr:
    def __repr__(self):
        raise ValueError("no words")


class NoText(Exception):
    def __str__(self):
        raise ValueError("no words")


def throws(error):
    def throw():
        raise error
    return throw


async def later():
    pass


def items():
    yield 1


def deep():
    deep()


# What decide() does, and what is said of it.
ENDS = {
    "coroutine": (later, "decide() must return nothing, and returned <coroutine object"),
    "generator": (items, "decide() must return nothing, and returned <generator object"),
    "deep": (deep, "decide() raised RecursionError"),
    "exits": (throws(SystemExit(3)), "decide() raised SystemExit: 3"),
    "interrupts": (throws(KeyboardInterrupt()), "decide() raised KeyboardInterrupt"),
    "is-killed": (lambda: os.kill(os.getpid(), 9), "crashed (Killed)"),
    "leaves": (lambda: os._exit(0), "left its process with status 0"),
    "becomes-another": (lambda: os.execvp("true", ["true"]), "left its process with status 0"),
    "no-repr": (NoRepr, "and returned an object of NoRepr"),
    "no-text": (throws(NoText()), "decide() raised test_faults.NoText"),
    "odd-letters": (throws(ValueError("\ud800 \0 \"a\",\nb")), "ValueError: ? ? \"a\",?b"),
    "closes-files": (lambda: os.closerange(3, 400), "closed files that it did not open"),
}


class Speaks(MyFcfs):
    """writes much, and closes what it writes to"""
    def init(self, host):
        os.write(os.open(os.devnull, os.O_WRONLY), b"x" * 3000000)
        os.closerange(0, 3)


class Threads(MyFcfs):
    """has a thread that never ends, and one that asks the host meanwhile"""
    def init(self, host):
        threading.Thread(target=sleeps, daemon=False).start()
        threading.Thread(target=self.ask, args=(host,), daemon=True).start()

    def ask(self, host):
        while True:
            host.pending_count()


class Children(MyFcfs):
    """starts programs, forks, and goes to another folder"""
    def init(self, host):
        subprocess.Popen(["sleep", "50"], stdout=subprocess.DEVNULL)
        pid = os.fork()
        if pid == 0:
            time.sleep(60)
        os.waitpid(pid, 0)
        os.chdir("/")


class Deleted(MyFcfs):
    """raises when it is thrown away"""
    def __del__(self):
        sys.stderr = None
        raise ValueError("gone")


class Odd(Case):
    def test_what_ends_a_trial_is_told_and_ends_no_other(self):
        policies = [made(name, "init" if name == "closes-files" else "decide", what)
                    for name, (what, _) in ENDS.items()]
        results = self.run_small(["fcfs", *policies])
        self.assertEqual(results.status, 5)
        table = results.table("failures")
        self.assertEqual(len(table), 2 * len(ENDS))
        self.assertEqual(len(results.table("summary")), 2)
        for row in table:
            self.assertIn(ENDS[row["policy"]][1], row["message"])

    def test_what_is_odd_and_harms_nothing_gives_the_same_results(self):
        odd = (Speaks, Threads, Children, Deleted)
        results = self.run_small(["fcfs", *odd])
        self.assertEqual(results.status, 0, results.failures)
        table = results.table("summary")
        for cls in odd:
            rows = [{**row, "policy": ""} for row in table.where(policy=words.name_of(cls))]
            self.assertEqual(rows, [{**row, "policy": ""} for row in table.where(policy="fcfs")])

    def test_an_order_that_is_none_ends_nothing(self):
        class Always(Policy):
            """each goes before each"""
            def before(self, host, a, b):
                return True

        class Draws(Policy):
            """goes before by chance"""
            turn = 1

            def before(self, host, a, b):
                self.turn = self.turn * 1103515245 % 2147483647
                return self.turn % 3 == 0

        busy = {"workload.arrival.rate": "90/h", "workload.jobs": 200}
        self.assertEqual(self.run_small([Always, Draws], settings=busy).status, 0)


if __name__ == "__main__":
    unittest.main()

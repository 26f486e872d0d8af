# SPDX-License-Identifier: GPL-3.0-or-later
"""What Python costs: `python3 tests/bench.py` from policies/python prints a table.

Each figure is the least processor time of nine whole runs, with one thread: reading the
experiment, a trial of 20,000 jobs in a process of its own, writing summary.csv and reading it
again.  What a call takes is what its run takes beyond the run of a class without a method,
by the calls that another run counted.
"""
import resource
import sys
import tempfile
from pathlib import Path

import clustersim as cs
from clustersim.policy import DONE, Policy

JOBS = 20000
EXPERIMENT = f"""
experiment: bench
seeds: 1
cluster: {{nodes: [{{name: a, count: 8, gpus: {{type: generic, count: 8}}}}]}}
workload:
  arrival: {{process: poisson, rate: RATE/h}}
  jobs: {JOBS}
  mix:
    - {{recipe: trace, name: part, share: 2, gpus: 4, duration: 10min}}
    - {{recipe: trace, name: node, share: 1, gpus: 8, duration: 14min}}
policies: [fcfs]
output: {{tables: [summary]}}
"""


class Default(Policy):
    """no method"""
    flags = ("asks_blocking",)


class Decides(Policy):
    """first come, first served, by decide()"""
    flags = ("asks_blocking",)

    def decide(self, host):
        while host.pending_count() and host.start(host.pending(0)) == DONE:
            pass


class Before(Policy):
    """most GPUs first, by before()"""

    def before(self, host, a, b):
        return a.gpus > b.gpus


class Key(Policy):
    """most GPUs first, by key()"""

    def key(self, host, task):
        return -task.gpus


class Counting(Policy):
    """says at the end how often it was called"""
    calls = 0
    ended = 0

    def job_ended(self, host, job):
        self.ended += 1
        if self.ended == JOBS:
            Path(self.file).write_text(str(self.calls))


class Counts(Counting):
    """counts the calls of before()"""

    def before(self, host, a, b):
        self.calls += 1
        return a.gpus > b.gpus


class CountsKeys(Counting):
    """counts the calls of key()"""

    def key(self, host, task):
        self.calls += 1
        return -task.gpus


class CountsDecides(Counting):
    """counts the calls of decide()"""
    flags = ("asks_blocking",)

    def decide(self, host):
        self.calls += 1
        Decides.decide(self, host)


def processor_s():
    """Of this process and of the trials that it ran."""
    own, trials = (resource.getrusage(who)
                   for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + trials.ru_utime + trials.ru_stime


def run_s(path, policy):
    times = []
    for _ in range(9):
        begin = processor_s()
        results = cs.run(path, policies=[policy], out=path.parent / "out", draw=False, threads=1)
        times.append(processor_s() - begin)
        assert results.status == 0, results.failures
    return min(times)


def count_calls(path, policy):
    """A policy says how often it was called; a trial shares nothing but files."""
    policy.file = str(path.parent / "calls")
    cs.run(path, policies=[policy], out=path.parent / "out", draw=False)
    return int(Path(policy.file).read_text())


def main():
    print("jobs/h  policy         CPU s   jobs/s       calls  us a call")
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "bench.yaml"
        for rate in (20, 60, 66):
            path.write_text(EXPERIMENT.replace("RATE", str(rate)))
            for policy, counts in (("fcfs", None), (Default, None), (Decides, CountsDecides),
                                   (Before, Counts), (Key, CountsKeys)):
                seconds = run_s(path, policy)
                called = policy if isinstance(policy, str) else policy.__name__
                row = f"{rate:6}  {called:10} {seconds:9.3f} {JOBS / seconds:8.0f}"
                if policy is Default:
                    least = seconds
                calls = 0 if counts is None else count_calls(path, counts)
                if counts is not None:
                    row += f" {calls:11}"
                if calls > 1000:        # else it is noise
                    row += f" {1e6 * (seconds - least) / calls:10.3f}"
                print(row, flush=True)


if __name__ == "__main__":
    sys.exit(main())

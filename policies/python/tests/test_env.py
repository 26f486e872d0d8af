# SPDX-License-Identifier: GPL-3.0-or-later
"""Environments: what Gymnasium asks of one, seeds beyond its checker, many in one call, and
the rows of the policy that an agent copies.  `python3 -m unittest` from policies/python runs
them; without gymnasium they are skipped."""
import csv
import os
import subprocess
import sys
import tempfile
import unittest
import warnings
from pathlib import Path

try:
    import gymnasium
    import numpy as np
    from gymnasium.utils.env_checker import check_env
    MISSING = None
except ImportError as why:
    MISSING = f"gymnasium is absent: {why}"

try:
    import clustersim as cs
    from clustersim import _core
    if MISSING is None:
        from clustersim import env as made
        from clustersim.run import run
except ImportError as why:
    MISSING = MISSING or f"the compiled part of the package is absent: {why}"

SMALL = """
experiment: small
seeds: 2
cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}}]}
workload:
  arrival: {process: poisson, rate: 60/h}
  jobs: 40
  mix:
    - {recipe: trace, name: part, share: 2, gpus: 4,
       duration: {lognormal: {mean: 10min, cv: 1}, min: 1s, max: 1h}}
    - {recipe: trace, name: node, share: 1, gpus: 8, duration: 14min}
policies: [fcfs]
"""
ESTIMATE = 3                    # of a task's numbers


def shortest(observation, mask):
    """The shortest if it fits; else the last action: wait."""
    tasks = observation["tasks"]
    waiting = int(tasks[:, 0].sum())
    best = int(np.argmin(tasks[:waiting, ESTIMATE])) if waiting else 0
    return best if mask[best] else len(mask) - 1


def oldest(observation, mask):
    return 0 if mask[0] else len(mask) - 1


@unittest.skipIf(MISSING, MISSING)
class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.dir = Path(folder.name)
        self.small = self.dir / "small.yaml"
        self.small.write_text(SMALL, encoding="utf-8")

    def make(self, **more):
        env = made.ScheduleEnv(self.small, **more)
        self.addCleanup(env.close)
        return env

    def play(self, env, seed, agent):
        """The sum of the rewards of an episode; None: of one that is drawn."""
        observation, info = env.reset(seed=seed)
        total, done = 0.0, False
        while not done:
            observation, reward, terminated, truncated, info = env.step(
                agent(observation, env.action_masks()))
            self.assertEqual(info["verdict"], "done")
            total += reward
            done = terminated or truncated
        self.assertAlmostEqual(info["score"], total, delta=1e-6)
        return total


class OneTest(Case):
    def test_passes_the_checker_of_gymnasium(self):
        for more in ({}, {"sizes": (1, 2, 8), "running": 8},
                     {"phases": True, "reward": "makespan", "rows": 5, "max_steps": 9}):
            env = gymnasium.make("clustersim/Schedule-v0", experiment=self.small, **more)
            self.addCleanup(env.close)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                check_env(env.unwrapped)

    def test_an_agent_gives_the_rows_of_the_policy_that_it_copies(self):
        run(self.small, policies=["fcfs", "sjf"], out=self.dir / "out", draw=False)
        with open(self.dir / "out" / "summary.csv", newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        self.assertEqual(len(rows), 4)
        env = self.make(split="test")
        names = ("jct_mean_s", "jct_p99_s", "wait_mean_s", "makespan_s", "cost_usd",
                 "gpu_utilization", "slowdown_mean", "decisions")
        for row in rows:
            self.play(env, int(row["seed"]), oldest if row["policy"] == "fcfs" else shortest)
            for name in names:
                if row.get(name):
                    self.assertAlmostEqual(float(row[name]), env.metric(name),
                                           delta=1e-6 * abs(env.metric(name)), msg=name)
            self.assertTrue(row["jct_mean_s"])

    def test_an_agent_that_sizes_jobs_gives_the_rows_of_the_policy_that_it_copies(self):
        sizes = (1, 2, 4, 8)
        elastic = {"recipe": "trace", "name": "elastic", "gpus": 2,
                   "duration": {"lognormal": {"mean": "20min", "cv": 1}},
                   "elastic": {"min": 1, "max": 8, "scaling": {"table": {1: 1, 8: 5}}}}
        settings = {"workload.mix": [elastic]}

        def in_turn(count):
            """The order in which the next one to start tries sizes."""
            return sizes[count % 4:] + sizes[:count % 4]

        class InTurn(cs.Policy):
            """the oldest, on each size in its turn"""
            flags = ("grows", "shrinks")
            count = 0

            def decide(self, host):
                while host.pending_count():
                    if not any(host.start(host.pending(0), gpus=size) == cs.policy.DONE
                               for size in in_turn(self.count)):
                        return
                    self.count += 1

        results = run(self.small, policies=[InTurn], out=self.dir / "out", draw=False,
                      settings=settings)
        self.assertEqual(results.status, 0, results.failures)
        env = self.make(split="test", sizes=sizes, settings=settings)
        used = []

        def choose(observation, mask):
            for gpus in in_turn(len(used)):
                action = env.action_of(0, 0, 1 + sizes.index(gpus))
                if mask[action]:
                    used.append(gpus)
                    return action
            return len(mask) - 1

        for row in results.table("summary"):
            used.clear()
            self.play(env, row["seed"], choose)
            for name in ("jct_mean_s", "wait_mean_s", "makespan_s", "gpu_utilization"):
                self.assertAlmostEqual(row[name], env.metric(name), msg=name,
                                       delta=1e-6 * abs(env.metric(name)))
            self.assertEqual(set(used), set(sizes))

    def test_an_agent_that_stops_jobs_gives_the_rows_of_the_policy_that_it_copies(self):
        class Shortest(cs.Policy):
            """the shortest that fits; else stops the one with most left, if it has more than
            twice as much as what waits"""
            flags = ("preempts", "asks_estimates")

            def decide(self, host):
                while host.pending_count():
                    waits = [host.pending(i) for i in range(host.pending_count())]
                    waits.sort(key=lambda task: task.estimate_ns)
                    if any(host.start(task) == cs.policy.DONE for task in waits):
                        continue
                    left = {job: host.left_ns(job) for job in map(host.running, range(host.running_count()))
                            if host.lease(host.role_lease(job, 0)).since_ns < host.now_ns()}
                    if not left or max(left.values()) <= 2 * waits[0].estimate_ns:
                        return
                    host.stop(max(left, key=left.get))

        results = run(self.small, policies=[Shortest], out=self.dir / "out", draw=False)
        self.assertEqual(results.status, 0, results.failures)
        env = self.make(split="test", running=16)

        def hours(number):
            return number / (1 - number)

        def choose(observation, mask):
            tasks, running = observation["tasks"], observation["running"]
            for row in np.argsort(hours(tasks[:int(tasks[:, 0].sum()), ESTIMATE]), kind="stable"):
                if mask[row]:
                    return row
            may = [row for row in range(16) if mask[env.action_on(row)]]
            most = max(may, key=lambda row: running[row, ESTIMATE], default=None)
            least = min(tasks[:int(tasks[:, 0].sum()), ESTIMATE])
            if most is None or hours(running[most, ESTIMATE]) <= 2 * hours(least):
                return len(mask) - 1
            return env.action_on(most)

        for row in results.table("summary"):
            self.play(env, row["seed"], choose)
            self.assertGreater(row["preemptions"], 5)
            for name in ("jct_mean_s", "wait_mean_s", "makespan_s", "preemptions", "jct_p99_s"):
                self.assertAlmostEqual(row[name], env.metric(name), msg=name,
                                       delta=1e-6 * abs(env.metric(name)))

    def test_sizes_that_make_no_sense_are_errors(self):
        for sizes, said in (((0,), "whole numbers of GPUs"), ((1.5,), "whole numbers of GPUs"),
                            ((-1,), "whole numbers of GPUs"), ((2, 2), "rise"),
                            ((4, 2), "rise"), (tuple(range(1, 65)), "at most 63")):
            with self.assertRaises(cs.Error) as caught:
                self.make(sizes=sizes)
            self.assertIn(said, caught.exception.message)
        env = self.make(sizes=(1, 2))
        with self.assertRaises(cs.Error):
            env.action_of(0, 0, 3)

    def test_a_size_that_a_job_cannot_have_is_masked(self):
        env = self.make(sizes=(1, 4, 8))
        observation, _ = env.reset(seed=0)
        gpus = round(float(observation["tasks"][0, 1]) * 16)
        for size, number in enumerate((1, 4, 8), 1):
            self.assertEqual(env.action_masks()[env.action_of(0, 0, size)], number == gpus)
        before = env.action_masks()
        action = env.action_of(0, 0, 1 if gpus != 1 else 2)
        self.assertEqual(env.step(action)[4]["verdict"], "bad_shape")
        np.testing.assert_array_equal(before, env.action_masks())

    def test_rewards_sum_to_the_metric(self):
        env = self.make()
        total = self.play(env, 5, oldest)
        jct = env.metric("jct_mean_s") * env.metric("jobs_done")
        self.assertAlmostEqual(-total, jct, delta=1e-9 * jct)
        env = self.make(reward="makespan")
        self.assertAlmostEqual(-self.play(env, 5, oldest), env.metric("makespan_s"), delta=1e-6)

    def test_an_action_that_is_masked_changes_nothing(self):
        env = self.make()
        before, _ = env.reset(seed=1)
        masked = int(np.argmin(env.action_masks()))
        after, reward, terminated, truncated, info = env.step(masked)
        self.assertEqual((reward, terminated, truncated), (0.0, False, False))
        self.assertNotEqual(info["verdict"], "done")
        for name, array in before.items():
            np.testing.assert_array_equal(array, after[name])

    def test_observations_that_are_kept_stay(self):
        env = self.make()
        first, _ = env.reset(seed=1)
        copy = {name: array.copy() for name, array in first.items()}
        for _ in range(20):
            env.step(int(np.argmax(env.action_masks())))
        for name, array in copy.items():
            np.testing.assert_array_equal(array, first[name])


class SeedTest(Case):
    def test_resets_without_a_seed_follow_from_the_last_seed(self):
        """What the checker does not see (Gymnasium#1084)."""
        def story(env, seed):
            env.reset(seed=seed)
            return [self.play(env, None, oldest) for _ in range(3)]

        env, other = self.make(), self.make()
        first = story(env, 3)
        self.assertEqual(len(set(first)), 3)            # three episodes
        env.reset()                                     # one more does not change what follows
        self.assertEqual(story(env, 3), first)
        self.assertEqual(story(other, 3), first)
        self.assertNotEqual(story(other, 4), first)

    def test_a_seed_names_an_episode_whatever_was_before(self):
        env = self.make()
        first = self.play(env, 9, oldest)
        self.play(env, 10, oldest)
        env.reset(seed=11)
        self.assertEqual(self.play(env, 9, oldest), first)
        self.assertEqual(self.play(self.make(), 9, oldest), first)

    def test_splits_lie_apart(self):
        ranges = [made.replicas(split) for split in made.SPLITS]
        for i, a in enumerate(ranges):
            for b in ranges[:i]:
                self.assertTrue(a.stop <= b.start or b.stop <= a.start)
        sums = {self.play(self.make(split=split), 0, oldest) for split in made.SPLITS}
        self.assertEqual(len(sums), 3)


class VecTest(Case):
    def test_many_are_as_each_alone(self):
        vec = gymnasium.make_vec("clustersim/Schedule-v0", num_envs=4, experiment=self.small,
                                 vectorization_mode="vector_entry_point")
        self.addCleanup(vec.close)
        single = self.make()
        observation, info = vec.reset(seed=20)
        self.assertEqual(info["episode_seed"].tolist(), [20, 21, 22, 23])
        self.assertTrue(vec.observation_space.contains(observation))
        total, ended = np.zeros(4), np.zeros(4, int)
        for _ in range(200):
            masks = vec.action_masks()
            actions = [shortest({"tasks": observation["tasks"][i]}, masks[i]) for i in range(4)]
            observation, reward, terminated, truncated, info = vec.step(actions)
            total += reward
            for i in np.flatnonzero(terminated):
                self.assertEqual(self.play(single, 20 + i + 4 * int(ended[i]), shortest),
                                 total[i])
                total[i] = 0
                ended[i] += 1
            self.assertFalse(truncated.any())
        self.assertTrue((ended >= 2).all())

    def test_seeds_may_be_listed(self):
        vec = made.ScheduleVec(self.small, 3)
        self.addCleanup(vec.close)
        _, info = vec.reset(seed=[5, 1, 9])
        self.assertEqual(info["episode_seed"].tolist(), [5, 1, 9])
        with self.assertRaisesRegex(cs.Error, "seed must be 3 numbers, found 2"):
            vec.reset(seed=[5, 1])


class ExampleTest(Case):
    def test_the_example_learns_to_beat_the_oldest_first(self):
        program = Path(__file__).resolve().parents[1] / "examples" / "train_pg.py"
        package = Path(cs.__file__).resolve().parents[1]
        said = subprocess.run([sys.executable, program, "20", "20"], check=True,
                              encoding="utf-8", stdout=subprocess.PIPE,
                              env={**os.environ, "PYTHONPATH": str(package)}).stdout
        hours = {line.split(":")[0]: float(line.split(":")[1].split()[0])
                 for line in said.splitlines() if line.startswith(("learned:", "fcfs:"))}
        self.assertLess(hours["learned"], 0.8 * hours["fcfs"], said)


class WrongTest(Case):
    def test_what_is_wrong_is_told(self):
        for words, message in (
                ({"split": "dev"}, "split must be one of train, validation, test, found 'dev'"),
                ({"reward": "usd"}, "reward must be jct, wait or makespan, found 'usd'"),
                ({"rows": 0}, "rows must be a whole number from 1 to 4096, found 0"),
                ({"rows": True}, "rows must be a whole number from 1 to 4096, found True"),
                ({"sizes": (True,)}, "sizes must be whole numbers of GPUs, found True"),
                *(({"max_steps": steps}, "max_steps must be None or a whole number from 1")
                  for steps in (-1, 0, True, 2**63, 2**64 + 3, 1.5)),
                ({"running": -1}, "running must be a whole number from 0 to 4096, found -1"),
                ({"rules": {"placments": "count"}}, "'placments' is not known")):
            with self.assertRaisesRegex(cs.Error, message):
                self.make(**words)
        for words, message in (({"reward": 5}, "reward must be a text, found 5"),
                               ({"sizes": None}, "sizes must be whole numbers of GPUs"),
                               ({"settings": ["workload.jobs=5"]}, "settings must be a dict")):
            with self.assertRaisesRegex(cs.Error, message):
                self.make(**words)
        with self.assertRaisesRegex(cs.Error, "could not|cannot|no such|not there"):
            made.ScheduleEnv(self.dir / "absent.yaml")
        env = self.make()
        with self.assertRaisesRegex(cs.Error, "must be reset before its first step"):
            env.step(0)
        with self.assertRaisesRegex(cs.Error, "seed must be a whole number from 0"):
            env.reset(seed=-1)
        env.reset(seed=0)
        with self.assertRaisesRegex(cs.Error, "must be from 0 to 128, found 200"):
            env.step(200)
        for action in (1.7, float("nan"), "3", None, np.array([3]), 2**70):
            with self.assertRaisesRegex(cs.Error, "an action must be a whole number below 129"):
                env.step(action)
        with self.assertRaisesRegex(cs.Error, "there is no metric 'jct_means'") as caught:
            env.metric("jct_means")
        self.assertEqual(caught.exception.hint, "Did you mean 'jct_mean_s'?")
        self.assertIsNone(env.metric("jct_mean_s"))     # no episode has ended
        env.close()
        with self.assertRaisesRegex(ValueError, "closed"):
            env.step(0)

    def test_numbers_of_numpy_are_numbers(self):
        env = self.make(rows=np.int64(4), sizes=np.array([1, 2]), max_steps=np.int32(7))
        self.assertEqual(env.observation_space["tasks"].shape[0], 4)
        many = made.ScheduleVec(self.small, np.int64(2))
        self.addCleanup(many.close)
        self.assertEqual((many.num_envs, type(many.num_envs)), (2, int))

    def test_actions_of_many_are_one_whole_number_each(self):
        many = made.ScheduleVec(self.small, 3)
        self.addCleanup(many.close)
        many.reset(seed=1)
        for actions in (0, [0], [0, 1], [1.7, 0, 0], ["0", "0", "0"], None, [[0], [0], [0]]):
            with self.assertRaisesRegex(cs.Error, "actions must be 3 whole numbers"):
                many.step(actions)
        for trial in (-1, 3, 2**32, 0.5):
            with self.assertRaisesRegex(cs.Error, "trial must be from 0 to 2"):
                many.metric(trial, "jct_mean_s")
        many.step([0, 0, 0])

    def test_arrays_of_the_wrong_size_are_refused(self):
        env = _core.Env(str(self.small), None, [], None, 1, 4, False, "jct", 0, 0, False, (), 0)
        with self.assertRaisesRegex(ValueError, "array 0 must have"):
            env.bind(*[bytearray(3) for _ in range(7)])
        with self.assertRaisesRegex(ValueError, "closed"):
            env.reset(0, 0)


if __name__ == "__main__":
    unittest.main()

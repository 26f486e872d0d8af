# SPDX-License-Identifier: GPL-3.0-or-later
"""The example that trains by PPO: its policy gives the rows that the environment gives.  Where
stable-baselines3 and sb3-contrib are, it is trained as well, for some steps."""
import os
import sys
import tempfile
import unittest
from pathlib import Path

try:
    from test_policy import ROOT
    import gymnasium                                # noqa: F401
    import numpy as np
    from clustersim.run import run
    sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "examples"))
    import train_ppo
    MISSING = "no checkout is around" if ROOT is None else None
except ImportError as why:
    MISSING = f"gymnasium, numpy or the compiled part is absent: {why}"

try:
    import sb3_contrib                              # noqa: F401
    TORCH = None
except ImportError as why:
    TORCH = f"sb3-contrib is absent: {why}"


SHORT = {"until": "4h", "sweep": {"workload.arrival.rate": ["4/h"]}}


@unittest.skipIf(MISSING, MISSING)
class Ppo(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        os.chdir(folder.name)
        self.experiment = str(ROOT / "experiments/dpo_vs_static.yaml")

    def play(self, env, seed):
        """Plays the best of what the mask allows."""
        policy = train_ppo.Played()
        policy.net = np.load(train_ppo.WEIGHTS)
        seen, _ = env.reset(seed=seed)
        done = False
        while not done:
            scores = np.where(env.action_masks()[:-1], policy.scores(seen), -np.inf)
            seen, _, terminated, truncated, _ = env.step(int(np.argmax(scores)))
            self.assertFalse(truncated)
            done = terminated

    def assert_alike(self):
        results = run(self.experiment, seeds=1, policies=[train_ppo.Played], out="out",
                      draw=False, settings={"baseline": "played", "expect": [], **SHORT})
        self.assertEqual(results.status, 0, results.failures)
        env = train_ppo.make_env(self.experiment, "test", settings=SHORT)
        rows = list(results.table("summary"))
        points = len({row["point"] for row in rows})
        for i, point in enumerate(dict.fromkeys(row["point"] for row in rows)):
            for row in (row for row in rows if row["point"] == point):
                self.play(env, i + points * row["seed"])
                for name in ("jct_mean_s", "wait_mean_s", "cost_usd"):
                    value = env.unwrapped.metric(name)
                    self.assertAlmostEqual(row[name], value, delta=1e-6 * value, msg=name)

    def test_a_network_plays_in_a_trial_as_in_the_environment(self):
        rng = np.random.default_rng(5)
        rest, choices = 3 * 4 + 2, 3 * 4
        inputs, hidden = 7 + rest, train_ppo.HIDDEN

        def layer(name, out, of):
            return {f"{name}.weight": rng.normal(size=(out, of)) * of ** -0.5 * 2,
                    f"{name}.bias": rng.normal(size=out) * 0.1}

        np.savez(train_ppo.WEIGHTS, **layer("row.0", hidden, inputs),
                 **layer("row.2", hidden, hidden), **layer("row.4", choices, hidden))
        self.assert_alike()

    @unittest.skipIf(TORCH, TORCH)
    def test_what_ppo_learned_plays_in_a_trial_as_in_the_environment(self):
        train_ppo.train(self.experiment, 1024, episodes=1)
        self.assert_alike()


if __name__ == "__main__":
    unittest.main()

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
            scores = np.where(env.action_masks(), policy.scores(seen), -np.inf)
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
        size = 16 * 7 + 3 * 4
        np.savez(train_ppo.WEIGHTS, **{
            "mlp_extractor.policy_net.0.weight": rng.normal(size=(64, size)) * 0.3,
            "mlp_extractor.policy_net.0.bias": rng.normal(size=64) * 0.1,
            "mlp_extractor.policy_net.2.weight": rng.normal(size=(64, 64)) * 0.3,
            "mlp_extractor.policy_net.2.bias": rng.normal(size=64) * 0.1,
            "action_net.weight": rng.normal(size=(49, 64)), "action_net.bias": np.zeros(49)})
        bias = np.load(train_ppo.WEIGHTS)
        bias = {name: bias[name] for name in bias}
        bias["action_net.bias"][-1] = -3            # it seldom waits
        np.savez(train_ppo.WEIGHTS, **bias)
        self.assert_alike()

    @unittest.skipIf(TORCH, TORCH)
    def test_what_ppo_learned_plays_in_a_trial_as_in_the_environment(self):
        train_ppo.train(self.experiment, 2048)
        self.assert_alike()


if __name__ == "__main__":
    unittest.main()

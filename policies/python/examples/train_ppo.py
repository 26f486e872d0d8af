# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains an agent by PPO with masks, and plays it under `clustersim run` beside other policies.

    pip install gymnasium stable-baselines3 sb3-contrib
    python3 train_ppo.py experiments/dpo_vs_static.yaml [STEPS [SEEDS]]

The agent is asked phase by phase: which of the 16 oldest tasks starts now, where (as its owner
asks, or in which pool), or whether to wait.  It learns on the training split of the experiment's
points.  Its network is written to ppo.npz, and `Played` is a policy of Python that reads it: numpy
alone, within the processes of trials.  What it sees it asks of `host`, and it gives the rows that
the environment gives (tests/test_ppo.py).
"""
import sys

import numpy as np

import clustersim as cs

ROWS, HOUR, WEIGHTS = 16, 3.6e12, "ppo.npz"
# Numbers of a task that a policy can ask for as well; see env.feature_help().
COLUMNS = [0, 1, 2, 3, 4, 7, 8]


def half_at_hour(ns):
    return ns / (ns + HOUR) if ns > 0 else 0.0


class Played(cs.Policy):
    "what PPO learned, phase by phase"
    flags = ("per_phase", "asks_estimates")

    def init(self, host):
        self.net = np.load(WEIGHTS)
        with_gpus = [1 << p for p in range(host.pool_count()) if host.total_gpus(1 << p)]
        self.pools = [0, *with_gpus] if len(with_gpus) > 1 else [0]     # each of one GPU type
        self.all = host.total_gpus()

    def see(self, host, tasks):
        rows = np.zeros((ROWS, len(COLUMNS)), np.float32)
        for row, task in zip(rows, tasks):
            row[:] = (1, task.gpus / self.all, half_at_hour(host.now_ns() - task.ready_ns),
                      half_at_hour(task.estimate_ns), 0.5, task.started, task.held is not None)
        places = np.zeros((len(self.pools), 4), np.float32)
        for pools, place in zip(self.pools, places):
            gpus, free, idle = host.total_gpus(pools), host.free_gpus(pools), host.idle_gpus(pools)
            place[:] = gpus / self.all, free / gpus, idle / gpus, (gpus - free - idle) / gpus
        return np.concatenate([rows.ravel(), places.ravel()])

    def scores(self, x):
        for layer in ("mlp_extractor.policy_net.0", "mlp_extractor.policy_net.2"):
            x = np.tanh(self.net[layer + ".weight"] @ x + self.net[layer + ".bias"])
        return self.net["action_net.weight"] @ x + self.net["action_net.bias"]

    def start(self, host, task, place):
        if place == 0 and task.held is not None:
            return host.start(task)
        if place == 0:
            return host.start(task, take_idle=True)
        return host.start(task, pools=self.pools[place], take_idle=True)

    def decide(self, host):
        """The best of what is not refused; waiting only while something works or may come."""
        while host.pending_count():
            tasks = [host.pending(i) for i in range(min(ROWS, host.pending_count()))]
            order = np.argsort(-self.scores(self.see(host, tasks)), kind="stable")
            for action in order:
                row, place = divmod(int(action), len(self.pools))
                if row == ROWS:
                    return
                if row < len(tasks) and (place == 0 or tasks[row].gpus > 0) and \
                        self.start(host, tasks[row], place) == cs.policy.DONE:
                    break
            else:
                return


def make_env(experiment, split, **more):
    import gymnasium
    from clustersim.env import ScheduleEnv

    class Seen(gymnasium.ObservationWrapper):
        """The numbers that `Played` sees; costs in hours, so that they are near 1."""

        def __init__(self, env):
            super().__init__(env)
            places = env.observation_space["places"].shape[0]
            size = ROWS * len(COLUMNS) + places * 4
            self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (size,), np.float32)

        def observation(self, seen):
            return np.concatenate([seen["tasks"][:, COLUMNS].ravel(), seen["places"].ravel()])

        def step(self, action):
            seen, reward, *rest = super().step(action)
            return seen, reward / 3600, *rest

        def action_masks(self):
            return self.env.unwrapped.action_masks()

    return Seen(ScheduleEnv(experiment, split, rows=ROWS, phases=True, **more))


def train(experiment, steps):
    import torch
    from sb3_contrib import MaskablePPO

    torch.set_num_threads(2)
    agent = MaskablePPO("MlpPolicy", make_env(experiment, "train", max_steps=2000), seed=1, n_steps=2048,
                        batch_size=256, gamma=0.999, learning_rate=3e-4, verbose=0)
    agent.learn(steps)
    np.savez(WEIGHTS, **{name: value.numpy() for name, value in agent.policy.state_dict().items()
                         if "value" not in name})
    return agent


def main():
    experiment = sys.argv[1]
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    seeds = int(sys.argv[3]) if len(sys.argv) > 3 else 10
    train(experiment, steps)
    results = cs.run(experiment, seeds=seeds, out="out/ppo", draw=False,
                     policies=["static", "dynamic", Played],
                     settings={"baseline": "static", "expect": []})
    print(results)
    print(results.table("compare").where(metric="jct_mean_s", policy="played").select(
        "point", "baseline", "delta_percent", "delta_ci95_low_percent",
        "delta_ci95_high_percent", "p_value"))


if __name__ == "__main__":
    main()

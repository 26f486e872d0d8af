# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains an agent by policy gradient, with numpy alone, and tries it on jobs that it has not met.

    python3 train_pg.py [UPDATES [TEST_SEEDS]]

The agent scores each task that waits by a weighted sum of its numbers, and waiting by one
weight; it draws among what the mask allows by the softmax of the scores.  Gradient: eight
episodes of the same seed are compared with each other, so that an easy workload is not taken
for a good choice (REINFORCE with the mean of the group as baseline).  Training, choice of the
weights and the last comparison use the three splits, in this order.
"""
import sys
import tempfile
from pathlib import Path

import numpy as np

from clustersim.env import ScheduleEnv

EXPERIMENT = """
experiment: mixed
cluster: {nodes: [{name: a, count: 4, gpus: {type: generic, count: 8}}]}
workload:
  arrival: {process: poisson, rate: 24/h}
  jobs: 100
  mix:
    - {recipe: trace, name: small, share: 6, gpus: 1,
       duration: {lognormal: {mean: 1h, cv: 2}, min: 1min, max: 1d}}
    - {recipe: trace, name: part, share: 3, gpus: 4,
       duration: {lognormal: {mean: 1h, cv: 2}, min: 1min, max: 1d}}
    - {recipe: trace, name: node, share: 2, gpus: 8,
       duration: {lognormal: {mean: 1h, cv: 2}, min: 1min, max: 1d}}
policies: [fcfs]
"""
GROUP, SEEDS, RATE = 8, 4, 0.5          # episodes of a seed, seeds of an update; its size
GPUS, WAITED, ESTIMATE = 1, 2, 3        # of a task's numbers; see env.feature_help()


def features(observation):
    """(tasks that wait + 1, 6): what the agent makes of each action; the last is to wait."""
    tasks = observation["tasks"]
    tasks = tasks[:int(tasks[:, 0].sum())]
    out = np.zeros((len(tasks) + 1, 6))
    out[:-1, 0] = tasks[:, GPUS]
    out[:-1, 1] = tasks[:, WAITED]
    out[:-1, 2] = tasks[:, ESTIMATE]
    out[:-1, 3] = tasks[:, GPUS] * tasks[:, ESTIMATE]
    out[-1, 4] = 1
    out[-1, 5] = observation["places"][0, 1]        # what is free
    return out


def allowed(mask, count):
    return np.append(mask[:count - 1], mask[-1])


def play(env, seed, choose):
    """Minus the mean JCT of an episode in hours, and the gradient of its choices."""
    observation, _ = env.reset(seed=seed)
    gradient, done = 0.0, False
    while not done:
        x = features(observation)
        i, slope = choose(x, allowed(env.action_masks(), len(x)))
        gradient = gradient + slope
        action = env.action_space.n - 1 if i == len(x) - 1 else i
        observation, _, terminated, truncated, _ = env.step(action)
        done = terminated or truncated
    return -env.metric("jct_mean_s") / 3600, gradient


def draw(weights, rng):
    def choose(x, may):
        score = np.where(may, x @ weights, -np.inf)
        p = np.exp(score - score.max())
        p /= p.sum()
        i = int(rng.choice(len(p), p=p))
        return i, x[i] - p @ x
    return choose


def best(weights):
    return lambda x, may: (int(np.argmax(np.where(may, x @ weights, -np.inf))), 0.0)


def oldest(x, may):
    return (0 if may[0] else len(x) - 1), 0.0


def shortest(x, may):
    i = int(np.argmin(np.where(may[:-1], x[:-1, 2], np.inf))) if may[:-1].any() else len(x) - 1
    return i, 0.0


def mean_of(env, choose, seeds):
    return np.array([-play(env, seed, choose)[0] for seed in seeds])


def train(path, updates):
    env, judge = ScheduleEnv(path, "train"), ScheduleEnv(path, "validation")
    rng, weights = np.random.default_rng(1), np.zeros(6)
    found = weights, np.inf
    for step in range(updates):
        total = np.zeros(6)
        for seed in range(step * SEEDS, (step + 1) * SEEDS):
            tries = [play(env, seed, draw(weights, rng)) for _ in range(GROUP)]
            score = np.array([result for result, _ in tries])
            gain = (score - score.mean()) / (score.std() + 1e-9)
            total += sum(g * slope for g, (_, slope) in zip(gain, tries)) / (GROUP * SEEDS)
        weights = weights + RATE * total / (np.linalg.norm(total) + 1e-9)
        if step % 10 == 9:
            hours = mean_of(judge, best(weights), range(20)).mean()
            print(f"{step + 1:4} updates: {hours:.3f} h on validation", flush=True)
            if hours < found[1]:
                found = weights, hours
    return found[0]


def main():
    updates = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    seeds = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "mixed.yaml"
        path.write_text(EXPERIMENT, encoding="utf-8")
        weights = train(path, updates)
        test = ScheduleEnv(path, "test")
        mine = mean_of(test, best(weights), range(seeds))
        print("weights:", np.round(weights, 2))
        print(f"learned:  {mine.mean():.3f} h mean JCT on {seeds} seeds of test")
        for name, choose in (("fcfs", oldest), ("shortest", shortest)):
            other = mean_of(test, choose, range(seeds))
            gap = mine - other
            half = 1.984 * gap.std(ddof=1) / seeds**0.5     # Student's t for 100 seeds, 95%
            print(f"{name + ':':9} {other.mean():.3f} h; learned - {name} = "
                  f"{gap.mean():+.3f} ± {half:.3f} h")


if __name__ == "__main__":
    main()

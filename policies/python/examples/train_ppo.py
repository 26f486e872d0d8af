# SPDX-License-Identifier: GPL-3.0-or-later
"""Trains an agent by PPO with masks, and plays it under `clustersim run` beside other policies.

    pip install gymnasium stable-baselines3 sb3-contrib
    python3 train_ppo.py experiments/dpo_vs_static.yaml [STEPS [SEEDS [TRAININGS]]]

The agent is asked phase by phase: which of the 16 oldest tasks starts now, where (as its owner
asks, or in which pool), on how many GPUs.  It does not wait where something fits.  One small
network scores each task at each place and size, from the task's numbers and those of the cluster;
the same for all rows.  It learns on the training split of the experiment's points, in EPISODES
trials at once.  Trainings differ by their seed, so of several the one is kept that is best on the
validation split.

The network is written to ppo.npz, and `Played` is a policy of Python that reads it: numpy alone,
within the processes of trials.  What it sees it asks of `host`, and it gives the rows that the
environment gives (tests/test_ppo.py).  `Oldest`, `Shortest` and `ShortestLarge` are the simple
orders that it is set against: they choose from the same tasks and sizes.
"""
import sys

import numpy as np

import clustersim as cs

ROWS, HOUR, WEIGHTS = 16, 3.6e12, "ppo.npz"
# `seed` of the experiment that judges: settings were chosen by looks at the seed of the file.
JUDGED = 20261126
SIZES, HIDDEN, EPISODES = (4, 8, 16), 32, 8
# Numbers of a task, and of the clock, that a policy can ask for as well; see env.feature_help().
COLUMNS, CLOCK = [0, 1, 2, 3, 4, 7, 8], [1, 3]


def half_at_hour(ns):
    return ns / (ns + HOUR) if ns > 0 else 0.0


class Chooses(cs.Policy):
    "starts tasks in an order of choices: of rows, sizes and places"
    flags = ("per_phase", "asks_estimates")

    def init(self, host):
        with_gpus = [1 << p for p in range(host.pool_count()) if host.total_gpus(1 << p)]
        self.pools = [0, *with_gpus] if len(with_gpus) > 1 else [0]     # each of one GPU type
        self.all = host.total_gpus()

    def start(self, host, task, size, place):
        if size == place == 0 and task.held is not None:
            return host.start(task)
        want = {"gpus": SIZES[size - 1]} if size else {}
        if place:
            want["pools"] = self.pools[place]
        return host.start(task, take_idle=True, **want)

    def decide(self, host):
        """The first that is not refused, until all are."""
        while host.pending_count():
            tasks = [host.pending(i) for i in range(min(ROWS, host.pending_count()))]
            for row, size, place in self.choices(host, tasks):
                if row < len(tasks) and (size == place == 0 or tasks[row].gpus > 0) and \
                        self.start(host, tasks[row], size, place) == cs.policy.DONE:
                    break
            else:
                return


class Oldest(Chooses):
    "the oldest that fits, as its owner asks"
    sizes = (0,)

    def order(self, tasks):
        return range(len(tasks))

    def choices(self, host, tasks):
        for row in self.order(tasks):
            for size in self.sizes:
                yield row, size, 0


class Shortest(Oldest):
    "the shortest that fits, as its owner asks"

    def order(self, tasks):
        return sorted(range(len(tasks)), key=lambda row: tasks[row].estimate_ns)


class ShortestLarge(Shortest):
    "the shortest that fits, on the most GPUs that are free"
    sizes = (3, 2, 0, 1)


class Played(Chooses):
    "what PPO learned, phase by phase"

    def init(self, host):
        super().init(host)
        self.net = np.load(WEIGHTS)

    def see(self, host, tasks):
        rows = np.zeros((ROWS, len(COLUMNS)), np.float32)
        for row, task in zip(rows, tasks):
            row[:] = (1, task.gpus / self.all, half_at_hour(host.now_ns() - task.ready_ns),
                      half_at_hour(task.estimate_ns), 0.5, task.started, task.held is not None)
        places = np.zeros((len(self.pools), 4), np.float32)
        for pools, place in zip(self.pools, places):
            gpus, free, idle = host.total_gpus(pools), host.free_gpus(pools), host.idle_gpus(pools)
            place[:] = gpus / self.all, free / gpus, idle / gpus, (gpus - free - idle) / gpus
        counts = [n / (n + ROWS) for n in (host.pending_count(), host.running_count())]
        return np.concatenate([rows.ravel(), places.ravel(), np.array(counts, np.float32)])

    def scores(self, seen):
        """Of each start: rows by choices."""
        net, end = self.net, ROWS * len(COLUMNS)
        rows, rest = seen[:end].reshape(ROWS, -1), seen[end:]
        x = np.concatenate([rows, np.broadcast_to(rest, (ROWS, len(rest)))], axis=1)
        hidden = np.tanh(x @ net["row.0.weight"].T + net["row.0.bias"])
        hidden = np.tanh(hidden @ net["row.2.weight"].T + net["row.2.bias"])
        return (hidden @ net["row.4.weight"].T + net["row.4.bias"]).ravel()

    def choices(self, host, tasks):
        places = len(self.pools)
        for action in np.argsort(-self.scores(self.see(host, tasks)), kind="stable"):
            row, choice = divmod(int(action), places * (1 + len(SIZES)))
            yield row, choice // places, choice % places


def make_env(experiment, split, **more):
    import gymnasium
    from clustersim.env import ScheduleEnv

    class Seen(gymnasium.ObservationWrapper):
        """The numbers that `Played` sees; costs in units of ten hours, so that sums are near 1."""

        def __init__(self, env):
            super().__init__(env)
            places = env.observation_space["places"].shape[0]
            size = ROWS * len(COLUMNS) + places * 4 + len(CLOCK)
            self.observation_space = gymnasium.spaces.Box(0.0, 1.0, (size,), np.float32)

        def observation(self, seen):
            return np.concatenate([seen["tasks"][:, COLUMNS].ravel(), seen["places"].ravel(),
                                   seen["clock"][CLOCK]])

        def step(self, action):
            seen, reward, *rest = super().step(action)
            return seen, reward / 36000, *rest

        def action_masks(self):
            mask = self.env.unwrapped.action_masks()
            mask[-1] = not mask[:-1].any()      # at the end alone: to wait
            return mask

    return Seen(ScheduleEnv(experiment, split, rows=ROWS, phases=True, sizes=SIZES, **more))


def make_policy():
    """A policy of stable-baselines3 with one network for all rows."""
    import torch
    from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy

    class Rows(torch.nn.Module):
        def __init__(self, seen, actions):
            super().__init__()
            self.rest = seen - ROWS * len(COLUMNS)
            inputs, choices = len(COLUMNS) + self.rest, (actions - 1) // ROWS
            self.row = torch.nn.Sequential(
                torch.nn.Linear(inputs, HIDDEN), torch.nn.Tanh(),
                torch.nn.Linear(HIDDEN, HIDDEN), torch.nn.Tanh(),
                torch.nn.Linear(HIDDEN, choices))
            self.value = torch.nn.Sequential(torch.nn.Linear(seen, 64), torch.nn.Tanh(),
                                             torch.nn.Linear(64, 64), torch.nn.Tanh())
            self.latent_dim_pi, self.latent_dim_vf = actions, 64
            torch.nn.init.zeros_(self.row[4].weight)

        def forward_actor(self, seen):
            rows = seen[:, :-self.rest].reshape(len(seen), ROWS, len(COLUMNS))
            rest = seen[:, -self.rest:]
            x = torch.cat([rows, rest[:, None].expand(-1, ROWS, -1)], dim=2)
            return torch.nn.functional.pad(self.row(x).flatten(1), (0, 1))      # to wait: 0

        def forward_critic(self, seen):
            return self.value(seen)

        def forward(self, seen):
            return self.forward_actor(seen), self.forward_critic(seen)

    class RowPolicy(MaskableActorCriticPolicy):
        def _build_mlp_extractor(self):
            self.mlp_extractor = Rows(self.features_dim, int(self.action_space.n))

        def _build(self, lr_schedule):
            self.ortho_init = False
            super()._build(lr_schedule)
            self.action_net = torch.nn.Identity()
            self.optimizer = self.optimizer_class(self.parameters(), lr=lr_schedule(1),
                                                  **self.optimizer_kwargs)

    return RowPolicy


def train(experiment, steps, seed=1, episodes=EPISODES):
    import torch
    from sb3_contrib import MaskablePPO
    from stable_baselines3.common.vec_env import DummyVecEnv

    torch.set_num_threads(1)
    envs = DummyVecEnv([lambda: make_env(experiment, "train")] * episodes)
    agent = MaskablePPO(make_policy(), envs, seed=seed, n_steps=512, batch_size=512, n_epochs=5,
                        gamma=0.9995, gae_lambda=0.98, ent_coef=0.001,
                        learning_rate=lambda left: 1e-3 * max(left, 0.1))
    agent.learn(steps)
    kept = agent.policy.mlp_extractor.state_dict()
    np.savez(WEIGHTS, **{name: value.numpy() for name, value in kept.items()
                         if not name.startswith("value")})
    return agent


def validate(experiment, episodes=3):
    """Mean completion time of jobs in hours, of episodes that nothing was learned on."""
    env, played, hours = make_env(experiment, "validation"), Played(), []
    played.net = np.load(WEIGHTS)
    for seed in range(episodes):
        seen, _ = env.reset(seed=seed)
        over = False
        while not over:
            scores = np.where(env.action_masks()[:-1], played.scores(seen), -np.inf)
            seen, _, over, _, _ = env.step(int(np.argmax(scores)))
        hours.append(env.unwrapped.metric("jct_mean_s") / 3600)
    return float(np.mean(hours))


def main():
    experiment = sys.argv[1]
    given = [int(word) for word in sys.argv[2:5]]
    steps, seeds, trainings = given + [250000, 6, 3][len(given):]
    best = np.inf
    for seed in range(1, trainings + 1):
        train(experiment, steps, seed)
        hours = validate(experiment)
        print(f"training {seed}: {hours:.3f} h on the validation split", flush=True)
        if hours < best:
            best, kept = hours, dict(np.load(WEIGHTS))
    np.savez(WEIGHTS, **kept)
    results = cs.run(experiment, seeds=seeds, out="out/ppo", draw=False,
                     policies=["static", "dynamic", Oldest, Shortest, ShortestLarge, Played],
                     settings={"seed": JUDGED, "baseline": "shortest", "expect": []})
    print(results)
    print(results.table("compare").where(metric="jct_mean_s", policy="played").select(
        "point", "baseline", "delta_percent", "delta_ci95_low_percent",
        "delta_ci95_high_percent", "p_value"))


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Environments for Gymnasium: trials that stop where a policy decides.

    import gymnasium
    import clustersim.env

    env = gymnasium.make("clustersim/Schedule-v0", experiment="first.yaml", split="train")
    observation, info = env.reset(seed=7)
    done = False
    while not done:
        action = env.action_space.sample(mask=env.unwrapped.action_masks().astype("int8"))
        observation, reward, terminated, truncated, info = env.step(action)
        done = terminated or truncated

The cluster, the workload and the host keys are the experiment's; the agent takes the place of
its policies.  It is asked where something that waits could start now, and with `running` also
where a job that runs could be stopped for what waits, or get another size.

Observation, all numbers from 0 to 1 (`feature_help()` says what each one is):
    tasks   (rows, 9)    what waits, the oldest first; rows without a task are 0
    places  (places, 4)  the whole cluster, then each type of GPU in each pool
    clock   (5,)         time, and how much waits and runs
    running (running, 6) jobs that run, those that ran first at the front; not if `running` is 0
Action: row * choices + size * places + place starts a task at a place, size 0 being the GPUs that
its owner asks for (`action_of()`).  From rows * choices on, row * ends + size stops the job of a
running row (size 0), or changes it to a size (`action_on()`).  The last one waits until something
changes.  `action_masks()` tells which would be carried out.  Another one changes nothing, and
info["verdict"] says why.
Reward: what the potential named `reward` has grown by, in seconds (`reward_help()`).

Seeds name workloads: reset(seed=s) is point s % points of the experiment, and replica
s // points of the split.  "train", "validation" and "test" have no replica in common, and
`clustersim run` uses the first replicas of "test".
"""
from __future__ import annotations

import operator
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv

from . import _core
from .errors import Error, set_place, whole_of
from .experiment import json_of, set_words
from .table import nearest

__all__ = ["ScheduleEnv", "ScheduleVec", "SPLITS", "VERDICTS", "replicas"]

SPLITS = ("train", "validation", "test")        # enum clustersim_env_split, in its order
VERDICTS = ("done", "not_pending", "no_room", "bad_shape", "not_idle", "not_allowed")
_SEEDS = 2**31                                  # seeds that are drawn lie below


def replicas(split: str) -> range:
    """The replicas of a split: what `replica` or `seed` counts in an experiment."""
    first, count = _core.replicas(_index_of(split))
    return range(first, first + count)


def _whole(name: str, number: Any, least: int, most: int) -> int:
    whole = whole_of(number)
    if whole is None or not least <= whole <= most:
        raise Error(f"{name} must be a whole number from {least} to {most}, found {number!r}",
                    key=name)
    return whole


def _steps_of(max_steps: Any) -> int:
    """0: no limit."""
    whole = 0 if max_steps is None else whole_of(max_steps)
    if whole is None or not (max_steps is None or 0 < whole < 2**63):
        raise Error("max_steps must be None or a whole number from 1 to 2**63 - 1, "
                    f"found {max_steps!r}", key="max_steps")
    return whole


def _sizes_of(sizes: Any) -> Tuple[int, ...]:
    found = []
    for size in sizes if hasattr(sizes, "__iter__") else [sizes]:
        whole = whole_of(size)
        if whole is None or not 0 < whole < 2**32 or size is sizes:
            raise Error(f"sizes must be whole numbers of GPUs, found {size!r}", key="sizes")
        found.append(whole)
    return tuple(found)


def _index_of(split: str) -> int:
    if split not in SPLITS:
        raise Error(f"split must be one of {', '.join(SPLITS)}, found {split!r}", key="split")
    return SPLITS.index(split)


def _as_error(why: BaseException) -> BaseException:
    told = why.args[0] if why.args and isinstance(why.args[0], dict) else None
    if told is None:
        return why
    return Error(told["message"], told["file"], told["line"] or None, told["column"] or None,
                 None, told["hint"], status=told["status"])


def _source(experiment: Any) -> Tuple[str, Optional[str]]:
    """The path of an experiment, and its text if it is not in a file."""
    if isinstance(experiment, (str, os.PathLike)):
        return os.fspath(experiment), None
    to_yaml = getattr(experiment, "to_yaml", None)
    if to_yaml is None:
        raise Error("experiment must be a path or an Experiment, found "
                    f"{type(experiment).__name__}", key="experiment")
    folder = getattr(experiment, "folder", None) or "."
    name = getattr(experiment, "name", None) or "experiment"
    return os.path.join(os.fspath(folder), f"{name}.yaml"), to_yaml()


class _Trials:
    """Trials in C, with the arrays that they write to."""

    def __init__(self, experiment: Any, split: str, count: int, rows: int, phases: bool,
                 reward: str, rules: Optional[Mapping[str, Any]],
                 settings: Optional[Mapping[str, Any]], max_steps: Optional[int],
                 sizes: Sequence[int], running: int, go_on: bool) -> None:
        path, text = _source(experiment)
        count, rows = _whole("num_envs", count, 1, 65536), _whole("rows", rows, 1, 4096)
        running, sizes = _whole("running", running, 0, 4096), _sizes_of(sizes)
        steps = _steps_of(max_steps)
        if reward is not None and not isinstance(reward, str):
            raise Error(f"reward must be a text, found {reward!r}", key="reward")
        if rules is not None and not isinstance(rules, Mapping):
            raise Error(f"rules must be a dict, found {rules!r}", key="rules")
        words = set_words(settings)
        try:
            self.env = _core.Env(path, text, words, json_of(rules, "rules") if rules else None,
                                 count, rows, phases, reward, _index_of(split), steps, go_on,
                                 sizes, running)
        except RuntimeError as why:
            error = _as_error(why)
            if isinstance(error, Error):
                set_place(error, None if text is None else path)
            raise error from None
        shape = self.shape = self.env.shape()
        self.flat = np.zeros((count, shape["floats"]), np.float32)
        self.mask = np.zeros((count, shape["actions"]), np.bool_)
        self.reward = np.zeros(count, np.float64)
        self.terminated = np.zeros(count, np.bool_)
        self.truncated = np.zeros(count, np.bool_)
        self.verdict = np.zeros(count, np.uint8)
        self.action = np.zeros(count, np.int64)
        self.env.bind(self.flat, self.mask, self.reward, self.terminated, self.truncated,
                      self.verdict, self.action)
        self.tasks_end = shape["rows"] * shape["row_features"]
        self.places_end = self.tasks_end + shape["places"] * shape["place_features"]
        self.clock_end = self.places_end + shape["clock_features"]
        self.tasks_shape = (shape["rows"], shape["row_features"])
        self.places_shape = (shape["places"], shape["place_features"])
        self.running_shape = (shape["running"], shape["running_features"])

    def space(self) -> spaces.Dict:
        def box(*sizes: int) -> spaces.Box:
            return spaces.Box(0.0, 1.0, sizes, np.float32)

        seen = {"tasks": box(*self.tasks_shape), "places": box(*self.places_shape),
                "clock": box(self.shape["clock_features"])}
        if self.shape["running"]:
            seen["running"] = box(*self.running_shape)
        return spaces.Dict(seen)

    def part(self, flat: np.ndarray) -> Dict[str, np.ndarray]:
        """The numbers of a trial, or of many, by their names; they are no copies."""
        many = flat.shape[:-1]
        seen = {"tasks": flat[..., :self.tasks_end].reshape(*many, *self.tasks_shape),
                "places": flat[..., self.tasks_end:self.places_end].reshape(
                    *many, *self.places_shape),
                "clock": flat[..., self.places_end:self.clock_end]}
        if self.shape["running"]:
            seen["running"] = flat[..., self.clock_end:].reshape(*many, *self.running_shape)
        return seen

    def reset(self, i: int, seed: int) -> None:
        try:
            self.env.reset(i, seed)
        except RuntimeError as why:
            raise _as_error(why) from None

    def metric(self, i: int, name: str) -> Optional[float]:
        whole = whole_of(i)
        if whole is None or not 0 <= whole < self.shape["count"]:
            raise Error(f"trial must be from 0 to {self.shape['count'] - 1}, found {i!r}")
        i = whole
        value = self.env.metric(i, name)
        names = [known for known, _ in self.env.names("metric")] if value is None else []
        if value is None and name not in names:
            near = nearest(name, names)
            raise Error(f"there is no metric '{name}'", key=name,
                        hint=f"Did you mean '{near}'?" if near else None)
        return value

    def help_of(self, *kinds: str) -> Dict[str, Dict[str, str]]:
        return {kind: dict(self.env.names(kind)) for kind in kinds}


def _seed_of(seed: Any) -> int:
    if isinstance(seed, (bool, np.bool_)) or not isinstance(seed, (int, np.integer)) or \
            not 0 <= seed < 2**63:
        raise Error(f"seed must be a whole number from 0 to 2**63 - 1, found {seed!r}",
                    key="seed")
    return int(seed)


class ScheduleEnv(gymnasium.Env):
    """One trial; see the module.

    experiment: path of a YAML file, or an `Experiment`
    split: "train", "validation" or "test": from which replicas episodes are
    rows: tasks that are seen, the oldest that wait
    phases: tasks are phases of jobs, which go on where they were, or elsewhere; else whole jobs
    reward: "jct", "wait" or "makespan"
    rules: keys of the host, as beside `policy:`: {"placement": "count"}
    settings: {"workload.arrival.rate": "4/h"}: keys that are replaced
    max_steps: steps after which an episode is truncated
    sizes: GPUs that a task may start on beside what its owner asks for, in rising order: (1, 2, 4)
    running: jobs that run and are seen; each may be stopped, or changed to one of `sizes`.  A job
        that got its GPUs at this instant stays.  Set max_steps, too: an agent may stop jobs so
        often that none ends.
    """

    metadata: Dict[str, Any] = {"render_modes": []}

    def __init__(self, experiment: Any, split: str = "train", *, rows: int = 128,
                 phases: bool = False, reward: str = "jct",
                 rules: Optional[Mapping[str, Any]] = None,
                 settings: Optional[Mapping[str, Any]] = None,
                 max_steps: Optional[int] = None, sizes: Sequence[int] = (), running: int = 0,
                 render_mode: Optional[str] = None) -> None:
        if render_mode is not None:
            raise Error(f"render_mode must be None, found {render_mode!r}", key="render_mode")
        self.render_mode = None
        self._trials = _Trials(experiment, split, 1, rows, phases, reward, rules, settings,
                               max_steps, sizes, running, False)
        self._step = self._trials.env.step
        self._flat = self._trials.flat[0]
        self._mask = self._trials.mask[0]
        self.observation_space = self._trials.space()
        self.action_space = spaces.Discrete(self._trials.shape["actions"])

    def _observe(self) -> Dict[str, np.ndarray]:
        return self._trials.part(self._flat.copy())

    def reset(self, *, seed: Optional[int] = None,
              options: Optional[Dict[str, Any]] = None
              ) -> Tuple[Dict[str, np.ndarray], Dict[str, Any]]:
        """Begins the episode that `seed` names; without one, one that is drawn after the last
        seed, or at random if there was none."""
        if seed is not None:
            seed = _seed_of(seed)
        super().reset(seed=seed)
        episode = int(self.np_random.integers(_SEEDS)) if seed is None else seed
        self._trials.reset(0, episode)
        return self._observe(), {"episode_seed": episode}

    def step(self, action: Any) -> Tuple[Dict[str, np.ndarray], float, bool, bool,
                                         Dict[str, Any]]:
        try:
            reward, terminated, truncated, verdict = self._step(operator.index(action))
        except RuntimeError as why:
            raise _as_error(why) from None
        except (TypeError, OverflowError):
            raise Error(f"an action must be a whole number below {self.action_space.n}, found "
                        f"{action!r}") from None
        info: Dict[str, Any] = {"verdict": VERDICTS[verdict]}
        if terminated or truncated:
            info["score"] = self._trials.env.score(0)
        return self._observe(), reward, terminated, truncated, info

    def action_masks(self) -> np.ndarray:
        """True for each action that would be carried out now."""
        return self._mask.copy()

    def metric(self, name: str) -> Optional[float]:
        """A metric of summary.csv, of the last episode that terminated; None: no value."""
        return self._trials.metric(0, name)

    def places(self) -> List[str]:
        """Where tasks can be started, in the order of actions: "as asked", then POOL/GPU."""
        return [name for name, _ in self._trials.env.names("places")]

    def action_of(self, row: int, place: int = 0, size: int = 0) -> int:
        """The action that starts the task of a row at a place, on the GPUs of sizes[size - 1]."""
        shape = self._trials.shape
        if not (0 <= row < shape["rows"] and 0 <= place < shape["places"] and
                0 <= size * shape["places"] < shape["choices"]):
            raise Error(f"there is no action of row {row}, place {place}, size {size}")
        return row * shape["choices"] + size * shape["places"] + place

    def action_on(self, row: int, size: int = 0) -> int:
        """The action that stops the job of a running row, or with a size changes it to that number
        of GPUs, sizes[size - 1]."""
        shape = self._trials.shape
        if not (0 <= row < shape["running"] and 0 <= size < shape["ends"]):
            raise Error(f"there is no action on running row {row}, size {size}")
        return shape["rows"] * shape["choices"] + row * shape["ends"] + size

    def feature_help(self) -> Dict[str, Dict[str, str]]:
        """What each number of an observation is, in its order."""
        return self._trials.help_of("task", "place", "clock", "running")

    def reward_help(self) -> Dict[str, str]:
        """What each reward sums to."""
        return self._trials.help_of("reward")["reward"]

    def close(self) -> None:
        self._trials.env.close()


class ScheduleVec(VectorEnv):
    """Many trials, stepped by one call of C, in one thread.

    reset(seed=s) begins trial i with seed s + i, and it goes on with s + i + num_envs and so
    on: no two of them have an episode in common.  An episode that is over is followed by the
    next one at the next step, whose action is not looked at (AutoresetMode.NEXT_STEP).
    copy: False gives the same arrays at each step, written anew.
    """

    metadata: Dict[str, Any] = {"render_modes": [], "autoreset_mode": AutoresetMode.NEXT_STEP}

    def __init__(self, experiment: Any, num_envs: int = 1, split: str = "train", *,
                 rows: int = 128, phases: bool = False, reward: str = "jct",
                 rules: Optional[Mapping[str, Any]] = None,
                 settings: Optional[Mapping[str, Any]] = None,
                 max_steps: Optional[int] = None, copy: bool = True,
                 sizes: Sequence[int] = (), running: int = 0,
                 render_mode: Optional[str] = None) -> None:
        if render_mode is not None:
            raise Error(f"render_mode must be None, found {render_mode!r}", key="render_mode")
        self.render_mode = None
        self.copy = copy
        self._trials = _Trials(experiment, split, num_envs, rows, phases, reward, rules,
                               settings, max_steps, sizes, running, True)
        self.num_envs = num_envs = self._trials.shape["count"]
        self.single_observation_space = self._trials.space()
        self.single_action_space = spaces.Discrete(self._trials.shape["actions"])
        self.observation_space = gymnasium.vector.utils.batch_space(
            self.single_observation_space, num_envs)
        self.action_space = gymnasium.vector.utils.batch_space(
            self.single_action_space, num_envs)

    def _observe(self) -> Dict[str, np.ndarray]:
        flat = self._trials.flat
        return self._trials.part(flat.copy() if self.copy else flat)

    def reset(self, *, seed: Union[int, Sequence[Optional[int]], None] = None,
              options: Optional[Dict[str, Any]] = None
              ) -> Tuple[Dict[str, np.ndarray], Dict[str, Any]]:
        one = seed if seed is None or isinstance(seed, (int, np.integer)) else None
        super().reset(seed=None if one is None else _seed_of(one))
        if seed is not None and one is None:
            if len(seed) != self.num_envs:              # type: ignore[arg-type]
                raise Error(f"seed must be {self.num_envs} numbers, found {len(seed)}",
                            key="seed")                 # type: ignore[arg-type]
            given = list(seed)                          # type: ignore[arg-type]
        else:
            first = int(self.np_random.integers(_SEEDS)) if one is None else _seed_of(one)
            given = [first + i for i in range(self.num_envs)]
        seeds = [int(self.np_random.integers(_SEEDS)) if s is None else _seed_of(s)
                 for s in given]
        for i, episode in enumerate(seeds):
            self._trials.reset(i, episode)
        return self._observe(), {"episode_seed": np.array(seeds, np.int64)}

    def step(self, actions: Any) -> Tuple[Dict[str, np.ndarray], np.ndarray, np.ndarray,
                                          np.ndarray, Dict[str, Any]]:
        trials = self._trials
        given = np.asarray(actions)
        if given.dtype.kind not in "iu" or given.shape != (self.num_envs,):
            raise Error(f"actions must be {self.num_envs} whole numbers, found {actions!r}")
        trials.action[:] = given
        try:
            trials.env.step_all()
        except RuntimeError as why:
            raise _as_error(why) from None
        return (self._observe(), trials.reward.copy(), trials.terminated.copy(),
                trials.truncated.copy(), {"verdict": trials.verdict.copy()})

    def action_masks(self) -> np.ndarray:
        """(num_envs, actions): True for each action that would be carried out now."""
        return self._trials.mask.copy()

    def metric(self, i: int, name: str) -> Optional[float]:
        """A metric of summary.csv, of the last episode of trial i that terminated."""
        return self._trials.metric(i, name)

    def close_extras(self, **_: Any) -> None:
        self._trials.env.close()


def register() -> None:
    """Makes "clustersim/Schedule-v0" known to gymnasium.make() and make_vec()."""
    if "clustersim/Schedule-v0" not in gymnasium.registry:
        gymnasium.register("clustersim/Schedule-v0", entry_point="clustersim.env:ScheduleEnv",
                           vector_entry_point="clustersim.env:ScheduleVec")


register()

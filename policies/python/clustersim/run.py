# SPDX-License-Identifier: GPL-3.0-or-later
"""Experiments, run within this process by the library."""
from __future__ import annotations

import os
import sys
from typing import (TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple,
                    Type, Union)

from . import _core
from .errors import Error
from .experiment import json_of
from .policy import Policy, name_of, table_of
from .results import Results, load

if TYPE_CHECKING:
    from .experiment import Experiment

__all__ = ["run"]

PathLike = Union[str, "os.PathLike[str]"]
# A name, a path to a .c or .so file, a class, or a map with the keys of the policy.
PolicyLike = Union[str, Type[Policy], Mapping[str, Any]]


def _is_class(value: Any) -> bool:
    return isinstance(value, type) and issubclass(value, Policy)


def _add_class(cls: Type[Policy], tables: Dict[Type[Policy], Any]) -> str:
    if cls not in tables:
        tables[cls] = table_of(cls)
    return name_of(cls)


def _is_path(policy: str) -> bool:
    return "/" in policy or policy.endswith((".c", ".so"))


def _entry(given: PolicyLike, tables: Dict[Type[Policy], Any]) -> Any:
    """An entry of `policies:` as YAML has it."""
    if isinstance(given, os.PathLike):
        given = os.fspath(given)
    if isinstance(given, str):
        return os.path.abspath(given) if _is_path(given) else given
    if _is_class(given):
        return _add_class(given, tables)
    if isinstance(given, Mapping):
        policy = given.get("policy")
        return dict(given) if policy is None else {**given, "policy": _entry(policy, tables)}
    if isinstance(given, Policy):
        raise Error(f"a policy must be a class, found an instance of {type(given).__name__}",
                    key="policies", hint="Each trial makes an instance of its own: give the "
                    'class, and parameters as {"policy": Mine, "share": 0.5}.')
    raise Error("a policy must be a name, a path, a class or a dict, found "
                f"{type(given).__name__}", key="policies")


def _source(experiment: Any) -> Tuple[str, Optional[str]]:
    """The path of an experiment, and its text if it is not in a file."""
    if isinstance(experiment, (str, os.PathLike)):
        return os.fspath(experiment), None
    to_yaml = getattr(experiment, "to_yaml", None)
    if to_yaml is None:
        raise Error("an experiment must be a path or an Experiment, found "
                    f"{type(experiment).__name__}")
    folder = getattr(experiment, "folder", None) or "."
    name = getattr(experiment, "name", None) or "experiment"
    return os.path.join(os.fspath(folder), f"{name}.yaml"), to_yaml()


def _raise(errors: List[Dict[str, Any]]) -> None:
    made = []
    for told in errors:
        lines = told["text"].splitlines() if told["text"] else []
        source = next((line.split(" | ", 1)[1].strip() for line in lines[1:]
                       if " | " in line and line.split(" | ", 1)[0].strip().isdigit()), None)
        made.append(Error(told["message"], told["file"], told["line"] or None,
                          told["column"] or None, told["key"], told["hint"], source=source,
                          status=told["status"]))
    made[0].others = made[1:]
    if made[0].status == 130:
        raise KeyboardInterrupt
    raise made[0]


def run(experiment: Union[PathLike, "Experiment"], *, seeds: Optional[int] = None,
        policies: Optional[Sequence[PolicyLike]] = None, threads: Optional[int] = None,
        out: Optional[PathLike] = None, settings: Optional[Mapping[str, Any]] = None,
        draw: bool = True,
        on_trial: Optional[Callable[[Dict[str, Any]], Any]] = None) -> Results:
    """Runs an experiment and returns its results.

    experiment: path of a YAML file, or an `Experiment`
    seeds: replicas of each point and policy, instead of those of the experiment
    policies: names, paths of .c or .so files, subclasses of `Policy`, or dicts such as
        {"policy": Mine, "name": "half", "share": 0.5}, instead of the experiment's; a name
        of a policy of the experiment stands for that policy with its keys
    threads: how many trials run at once; None: one per processor.  Results do not depend on it
    out: folder of the results; None: that of the experiment, else out/NAME below the
        current folder
    settings: {"workload.arrival.rate": "4/h"}: keys that are replaced before the run
    draw: charts and report.html, too
    on_trial: called with a dict for each trial once it has ended, in the order of trials:
        index, count, point, policy, seed, copy (of seed 0, as nothing is drawn) and error

    Trials that fail do not raise: `Results.failures` lists them, `Results.status` is 5.
    """
    tables: Dict[Type[Policy], Any] = {}
    listed = None
    if policies is not None:
        if isinstance(policies, (str, os.PathLike, Mapping)) or _is_class(policies):
            policies = [policies]
        listed = json_of([_entry(policy, tables) for policy in policies], "policies")
    for name, number in (("seeds", seeds), ("threads", threads)):
        if number is not None and (not isinstance(number, int) or isinstance(number, bool) or
                                   not 0 < number < 2**31):
            raise Error(f"{name} must be a whole number from 1, found {number!r}", key=name)
    path, text = _source(experiment)
    if settings is not None and not isinstance(settings, Mapping):
        raise Error(f"settings must be a dict, found {type(settings).__name__}", key="settings",
                    hint='Write {"workload.jobs": 50}.')
    words = [f"{key}={json_of(value, key)}" for key, value in (settings or {}).items()]
    sys.stdout.flush()                  # what waits there would be written by each trial
    sys.stderr.flush()
    answer = _core.run(path, text, seeds or 0, threads or 0, listed, words,
                       list(tables.values()), None if out is None else os.fspath(out), draw,
                       False, on_trial)
    if answer["errors"]:
        _raise(answer["errors"])
    for warning in answer["warnings"]:
        sys.stderr.write("warning: " + warning["text"])
    results = load(answer["dir"])
    results.status = 5 if answer["failed"] else 0
    return results

# SPDX-License-Identifier: GPL-3.0-or-later
"""Experiments, run within this process by the library."""
from __future__ import annotations

import os
import re
import sys
from typing import (TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple,
                    Type, Union)

from . import _core
from .errors import Error, set_place, whole_of
from .experiment import json_of, set_words
from .policy import Policy, name_of, place_of, table_of
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


def _listed(policies: Any) -> Sequence[Any]:
    if isinstance(policies, (str, os.PathLike, Mapping)) or _is_class(policies):
        return [policies]
    # The first policy is what others are compared with: a set has none.
    if isinstance(policies, (set, frozenset)) or not hasattr(policies, "__iter__"):
        raise Error(f"policies must be a list, found {type(policies).__name__}", key="policies")
    return list(policies)


def _count_of(name: str, number: Any) -> int:
    """A number of seeds or threads; 0: not given."""
    if number is None:
        return 0
    whole = whole_of(number)
    if whole is None or not 0 < whole < 2**31:
        raise Error(f"{name} must be a whole number from 1, found {number!r}", key=name)
    return whole


def _path_of(name: str, given: Any) -> str:
    path = os.fspath(given) if isinstance(given, (str, os.PathLike)) else None
    if not isinstance(path, str) or "\0" in path:
        raise Error(f"{name} must be a path, found {given!r}", key=name)
    return path


def _source(experiment: Any) -> Tuple[str, Optional[str]]:
    """The path of an experiment, and its text if it is not in a file."""
    if isinstance(experiment, (str, os.PathLike)):
        return _path_of("experiment", experiment), None
    to_yaml = getattr(experiment, "to_yaml", None)
    if to_yaml is None:
        raise Error("an experiment must be a path or an Experiment, found "
                    f"{type(experiment).__name__}")
    folder = getattr(experiment, "folder", None) or "."
    name = getattr(experiment, "name", None) or "experiment"
    return _path_of("experiment", os.path.join(os.fspath(folder), f"{name}.yaml")), to_yaml()


_OF_A_CLASS = re.compile(r"policy ([a-z0-9-]+)(?:: (?:default of )?param | has the name of )")


def _set_class(error: Error, classes: Sequence[Type[Policy]]) -> bool:
    """Is it a class that is wrong?  Then the error gets its place."""
    told = _OF_A_CLASS.match(error.message)
    cls = next((cls for cls in classes if told and name_of(cls) == told[1]), None)
    if cls is None:
        return False
    error.file, error.line = place_of(cls)
    error.column = error.source = None
    return True


def _raise(errors: List[Dict[str, Any]], classes: Sequence[Type[Policy]],
           unwritten: Optional[str]) -> None:
    made = []
    for told in errors:
        lines = told["text"].splitlines() if told["text"] else []
        source = next((line.split(" | ", 1)[1].strip() for line in lines[1:]
                       if " | " in line and line.split(" | ", 1)[0].strip().isdigit()), None)
        made.append(Error(told["message"], told["file"], told["line"] or None,
                          told["column"] or None, told["key"], told["hint"], source=source,
                          status=told["status"]))
        if not _set_class(made[-1], classes):
            set_place(made[-1], unwritten)
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
        listed = json_of([_entry(policy, tables) for policy in _listed(policies)], "policies")
    counts = [_count_of(name, number) for name, number in (("seeds", seeds),
                                                            ("threads", threads))]
    if on_trial is not None and not callable(on_trial):
        raise Error(f"on_trial must be a function, found {type(on_trial).__name__}",
                    key="on_trial")
    path, text = _source(experiment)
    words = set_words(settings)
    sys.stdout.flush()                  # what waits there would be written by each trial
    sys.stderr.flush()
    answer = _core.run(path, text, *counts, listed, words, list(tables.values()),
                       None if out is None else _path_of("out", out), draw, False, on_trial)
    if answer["errors"]:
        _raise(answer["errors"], list(tables), None if text is None else path)
    for warning in answer["warnings"]:
        sys.stderr.write("warning: " + warning["text"])
    results = load(answer["dir"])
    results.status = 5 if answer["failed"] else 0
    return results

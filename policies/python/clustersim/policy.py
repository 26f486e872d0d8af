# SPDX-License-Identifier: GPL-3.0-or-later
"""Policies written in Python.

    import clustersim as cs

    class Widest(cs.Policy):
        "most GPUs first"
        def before(self, host, a, b):
            return a.gpus > b.gpus

`clustersim.run("x.yaml", policies=["fcfs", Widest])` runs it beside others, under the same
audit and with the same seeds, each trial in a process of its own.
"""
from __future__ import annotations

import dataclasses
import enum
import os
import re
import signal
import sys
import traceback
import typing
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Type, Union

from . import _core
from ._core import Forecast, Host, Job, Lease, Node, Plan, Task
from .parameters import Fraction, Time, param

__all__ = ["Policy", "Verdict", "DONE", "NOT_PENDING", "NO_ROOM", "BAD_SHAPE", "NOT_IDLE",
           "NOT_ALLOWED", "ALIKE_NONE", "ALIKE_AS_LONG", "ALIKE_ALL", "ON_CORES", "Fraction",
           "Time", "param", "Forecast", "Host", "Job", "Lease", "Node", "Plan", "Task"]


class Verdict(enum.IntEnum):
    """What became of a request."""
    DONE = 0
    NOT_PENDING = 1
    NO_ROOM = 2
    BAD_SHAPE = 3
    NOT_IDLE = 4
    NOT_ALLOWED = 5


DONE, NOT_PENDING, NO_ROOM, BAD_SHAPE, NOT_IDLE, NOT_ALLOWED = Verdict
_core.set_verdicts(tuple(Verdict))

ALIKE_NONE, ALIKE_AS_LONG, ALIKE_ALL = range(3)     # what host.tried() passes over, too
ON_CORES = 2**32 - 1                                # a gpu_type: cores in place of GPUs

# enum cs_policy_flags, in its order.
_FLAGS = ("per_phase", "preempts", "clairvoyant", "resizes", "packs", "tunes_batches", "draws",
          "order_moves", "order_at_news", "asks_blocking", "asks_estimates", "asks_weights",
          "solves", "reserves", "homes", "forecasts", "grows", "shrinks", "confines",
          "one_role", "needs_gpus", "asks_priority", "takes_over", "whole_gpus", "one_kind",
          "counts_whole", "one_pool", "confines_pairs", "relieves")

# enum cs_param_type.
_INT, _REAL, _FRACTION, _TIME, _BOOL, _TEXT, _CHOICE = range(7)


class Policy:
    """A scheduling policy.  A class without any method is first come, first served.

    name: what results call it; if it is not said, the name of the class as words-like-this
    flags: words of `CS_...` in policies/policy.h, in small letters: ("preempts",)
    Annotated attributes with a default are parameters, which an experiment may set:
    `depth: int = 10`, `share: clustersim.Fraction = 0.5`, `patience: clustersim.Time = "5min"`.

    What a method asks and requests are methods of `host`.  No random numbers but
    `host.random()`, no clock but `host.now_ns()`: else the same experiment does not give the
    same results.
    """

    name: typing.ClassVar[str] = ""
    flags: typing.ClassVar[Sequence[str]] = ()

    def init(self, host: Host) -> None:
        """Called once, before the first job."""

    def before(self, host: Host, a: Task, b: Task) -> bool:
        """Should a go before b?  A strict order; equal tasks keep the order they came in."""
        return False

    def key(self, host: Host, task: Task) -> Union[float, Tuple[Any, ...]]:
        """In place of before(): the task with the lowest key goes first.

        Asked once for a task that waits, or with the flag `order_moves` at each decision.
        """
        return 0

    def decide(self, host: Host) -> None:
        """Starts and stops.  Called when something changed, and at times of host.wake_at().

        A class without it starts tasks in order, until one does not fit.
        """

    def job_submitted(self, host: Host, job: int) -> None:
        """News: a job has come."""

    def job_ended(self, host: Host, job: int) -> None:
        """News: a job has ended; it may be asked about until the next decision is over."""

    def lease_idle(self, host: Host, lease: int) -> None:
        """News, with the flag `per_phase`: a phase has ended, its lease is idle."""

    def wakeup(self, host: Host) -> None:
        """A time of host.wake_at() has come; decide() follows."""


# ---- the table of a class ----

def _name_of(cls: Type[Policy]) -> str:
    name = cls.__dict__.get("name") or re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-",
                                              cls.__name__).lower().replace("_", "-")
    if not isinstance(name, str) or not re.fullmatch(r"[a-z][a-z0-9-]*", name):
        raise _error(cls, f"name must match [a-z][a-z0-9-]*, found {name!r}", "name")
    return name


def place_of(cls: Type[Policy]) -> Tuple[Optional[str], Optional[int]]:
    """File and line of a class; None: it was typed at a prompt."""
    import inspect

    try:
        return inspect.getsourcefile(cls), inspect.getsourcelines(cls)[1]
    except (OSError, TypeError):
        return None, None


def _error(cls: Type[Policy], message: str, key: Optional[str] = None,
           hint: Optional[str] = None) -> Exception:
    from .errors import Error

    file, line = place_of(cls)
    return Error(f"policy {cls.__name__}: {message}", file, line, None, key, hint)


def _flags_of(cls: Type[Policy]) -> int:
    import difflib

    words = [cls.flags] if isinstance(cls.flags, str) else list(cls.flags)
    bits = 0
    for word in words:
        if word not in _FLAGS:
            near = difflib.get_close_matches(str(word), _FLAGS, 1)
            raise _error(cls, f"there is no flag {word!r}; there are {', '.join(_FLAGS)}",
                         "flags", f"Did you mean {near[0]}?" if near else None)
        bits |= 1 << _FLAGS.index(word)
    return bits


def _type_of(cls: Type[Policy], name: str, hint: Any, given: param) -> Tuple[int, List[Any]]:
    """The type of a parameter, and what it may be, if that is a choice."""
    choice = (typing.get_args(hint) if typing.get_origin(hint) is typing.Literal
              else given.words)
    if choice is not None:
        for word in choice:
            if not _written(word) or " " in _written(word):
                raise _error(cls, f"a choice of parameter {name} must be a word without blanks, "
                             f"found {word!r}", name)
        return _CHOICE, list(choice)
    types = {int: _INT, float: _REAL, Fraction: _FRACTION, Time: _TIME, bool: _BOOL,
             str: _TEXT}
    if hint not in types:
        raise _error(cls, f"parameter {name} must be int, float, bool, str, Literal[...], "
                     f"clustersim.Fraction or clustersim.Time, found {hint!r}", name)
    return types[hint], []


def _written(value: Any) -> str:
    """A default as a user would write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _hints_of(cls: Type[Policy]) -> Dict[str, Any]:
    try:
        return typing.get_type_hints(cls)
    except Exception as why:            # it runs what annotations say
        raise _error(cls, f"its annotations cannot be read: {why}") from None


def _limit(cls: Type[Policy], name: str, limit: Optional[float], otherwise: float) -> float:
    try:
        return otherwise if limit is None else float(limit)
    except (TypeError, ValueError, OverflowError):
        raise _error(cls, f"min and max of parameter {name} must be numbers, found {limit!r}",
                     name) from None


def _check_param(cls: Type[Policy], name: str, hint: Any) -> None:
    """May a parameter have this name, and has it a default?"""
    if name in _METHODS or name == "exec":
        raise _error(cls, f"parameter {name} has the name of "
                     + ("a method" if name in _METHODS else "a key of programs"), name,
                     "Give it another one.")
    if not hasattr(cls, name):
        raise _error(cls, f"parameter {name} must have a default", name,
                     f"Write {name}: {getattr(hint, '__name__', hint)} = VALUE, or begin its "
                     "name with _ if it is none.")
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise _error(cls, f"parameter {name} must match [a-z][a-z0-9_]*", name)


def _check_hints(cls: Type[Policy], hints: Mapping[str, Any]) -> None:
    """Without a type no entry could set it, and a method would find the param itself."""
    for name in dir(cls):
        if name not in hints and isinstance(getattr(cls, name, None), param):
            raise _error(cls, f"parameter {name} must have a type", name,
                         f"Write {name}: int = clustersim.param(...).")


def _params_of(cls: Type[Policy]) -> Tuple[List[tuple], Dict[str, List[Any]]]:
    rows, words = [], {}
    hints = _hints_of(cls)
    _check_hints(cls, hints)
    for name, hint in hints.items():
        # name and flags are no parameters, however a class annotates its own.
        if name.startswith("_") or typing.get_origin(hint) is typing.ClassVar or \
                name in ("name", "flags"):
            continue
        _check_param(cls, name, hint)
        given = getattr(cls, name)
        given = given if isinstance(given, param) else param(given)
        kind, values = _type_of(cls, name, hint, given)
        choice = [_written(value) for value in values]
        fallback = _written(given.default)
        if kind == _TIME and not isinstance(given.default, str):
            raise _error(cls, f"parameter {name} is a time with a unit, found "
                         f"{given.default!r}", name, f'Write {name}: clustersim.Time = "90s".')
        if choice and fallback not in choice:
            raise _error(cls, f"parameter {name} must be one of {', '.join(choice)}, found "
                         f"{fallback}", name)
        end = 0.0 if given.min is None and given.max is None else float("inf")
        rows.append((name, name, kind, _limit(cls, name, given.min, -end),
                     _limit(cls, name, given.max, end), fallback,
                     given.help or f"parameter of {cls.__name__}",
                     " ".join(choice) if choice else None))
        if choice:
            words[name] = values
    return rows, words


def _summary_of(cls: Type[Policy]) -> str:
    lines = (cls.__dict__.get("__doc__") or "").strip().splitlines()
    return lines[0].strip() if lines else "a policy in Python"


_METHODS = ("init", "before", "key", "decide", "job_submitted", "job_ended", "lease_idle",
            "wakeup")


def _check_methods(cls: Type[Policy]) -> None:
    """A class with methods of which none is ever called is no first come, first served: a name
    is misspelt."""
    import difflib

    own = [name for base in cls.__mro__ if issubclass(base, Policy) and base is not Policy
           for name, value in vars(base).items() if callable(value) and not name.startswith("_")]
    if not own or any(getattr(cls, name) is not getattr(Policy, name) for name in _METHODS):
        return
    near = difflib.get_close_matches(own[0].lower(), _METHODS, 1)
    raise _error(cls, f"none of its methods is called: {', '.join(own)}; a policy may have "
                 + ", ".join(_METHODS), own[0], f"Did you mean {near[0]}?" if near else None)


def table_of(cls: Type[Policy]) -> Any:
    """The table of a class, as the library takes it.  Raises Error if the class is wrong."""
    _check_methods(cls)
    rows, words = _params_of(cls)
    cls._words = words
    flags = _flags_of(cls)
    if cls.before is not Policy.before and cls.key is not Policy.key:
        raise _error(cls, "has before() and key(), which both order tasks", None,
                     "Keep one of them.")
    if "order_moves" in cls.flags and cls.before is Policy.before and cls.key is Policy.key:
        raise _error(cls, "has the flag order_moves, and neither before() nor key()", "flags")
    return _core.table(cls, Policy, _name_of(cls), _summary_of(cls), flags, tuple(rows))


def name_of(cls: Type[Policy]) -> str:
    """What an experiment calls the class."""
    return _name_of(cls)


# ---- called by the module, within the process of a trial ----

_in_trial = False

# The watch has a signal and a timer of its own where there are such: alarm() and setitimer() are
# a policy's, who may limit the time of a solver by them.
_TICK = signal.SIGRTMAX if hasattr(_core, "tick") else signal.SIGALRM


def _tick(tick_s: float) -> None:
    if hasattr(_core, "tick"):
        _core.tick(_TICK, tick_s)
    else:
        signal.setitimer(signal.ITIMER_REAL, tick_s, tick_s)


def _end_copies() -> None:
    if _in_trial:
        os._exit(1)             # a copy of a trial must not run on


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_end_copies)


def _watch(host: Host, limit_s: float) -> None:
    """Raises where a method has not returned for limit_s, so that the error says where.  A
    second later the process of the trial is ended from outside, whatever it does to signals."""
    tick_s = min(limit_s / 8, 0.2)
    still = 0

    def look(number: int, frame: Any) -> None:
        nonlocal still
        still = 0 if host._moved() else still + 1
        if still * tick_s > limit_s:
            still = 0
            raise TimeoutError(f"it has not returned for more than {limit_s:.4g} s")

    signal.signal(_TICK, look)
    signal.siginterrupt(_TICK, False)
    _tick(tick_s)


def _words_of_init(cls: Type[Policy], values: Mapping[str, Any]) -> Dict[str, Any]:
    """What a dataclass sets its fields from: without them it would set the defaults again."""
    owner = next(base for base in cls.__mro__ if "__init__" in vars(base))
    how = vars(owner).get("__dataclass_params__")
    if how is None or not how.init:
        return {}
    return {field.name: values[field.name] for field in dataclasses.fields(owner)
            if field.init and field.name in values}


def _make(cls: Type[Policy], params: Dict[str, Any], host: Host, limit_s: float) -> Policy:
    global _in_trial

    _in_trial = True
    _watch(host, limit_s)
    policy = cls.__new__(cls)
    values = {name: cls._words[name][value] if name in cls._words else value
              for name, value in params.items()}
    for name, value in values.items():
        setattr(policy, name, value)
    policy.__init__(**_words_of_init(cls, values))
    return policy


_FRAMES = 20            # that are told of a traceback


def _shorten(error: Optional[BaseException]) -> None:
    """Leaves the last frames of each traceback: a recursion may have a million, and to write
    them takes longer than a method may."""
    seen = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        trace, count = error.__traceback__, 0
        while trace is not None:
            trace, count = trace.tb_next, count + 1
        trace = error.__traceback__
        for _ in range(count - _FRAMES):
            trace = trace.tb_next                   # type: ignore[union-attr]
        error.__traceback__ = trace
        error = error.__cause__ or error.__context__


def _tell(error: BaseException) -> Tuple[str, str]:
    """What a trial failed of: in a word, and the traceback on one line."""
    _shorten(error)
    frames = [frame for frame in traceback.extract_tb(error.__traceback__)
              if frame.filename != __file__]            # the watch raises here
    place = f", at {os.path.basename(frames[-1].filename)}:{frames[-1].lineno}" if frames else ""
    what = traceback.format_exception_only(type(error), error)[-1].strip()
    lines = [line.strip() for part in traceback.format_exception(type(error), error,
                                                                 error.__traceback__)
             for line in part.splitlines()]
    text = " | ".join(line for line in lines if line and set(line) - set("^~ "))
    note = text if len(text) <= 1100 else "... " + text[-1096:]
    return _plain(f"raised {what}"[:150] + place), _plain(note)


def _plain(text: str) -> str:
    """Of letters that any terminal and table can show, on one line."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)


def _end() -> None:
    _tick(0)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            pass                        # there is none, or nobody reads it

# SPDX-License-Identifier: GPL-3.0-or-later
"""clustersim: simulate GPU and CPU clusters, and compare scheduling policies.

    import clustersim as cs
    results = cs.run("first.yaml", seeds=20, policies=["fcfs", "sjf"])
    results.compare
"""
from __future__ import annotations

from importlib.util import find_spec as _find_spec
from sys import modules as _modules

from .errors import Error
from .experiment import Experiment
from .parameters import Fraction, Time, param
from .program import call_program, find_program, run_program
from .results import Figure, Results, load
from .table import Table

try:
    from .policy import Policy
    from .run import run
except ImportError:
    if _find_spec("clustersim._core") is not None:
        raise                   # it is there, and is broken
    run = run_program

    class Policy:  # type: ignore[no-redef]
        """Stands for the class of policies in Python where the compiled part is absent."""

        def __init_subclass__(cls, **_: object) -> None:
            raise Error(f"policy {cls.__name__} is in Python, which needs the compiled part of "
                        "the package (clustersim._core), and this installation has none",
                        hint="Install the wheel that has it, or write the policy in C or as a "
                             "program: {exec: CMD}.")

if "gymnasium" in _modules and _find_spec("clustersim._core") is not None:
    from . import env           # registers clustersim/Schedule-v0

__version__ = "0.1.0"
__all__ = ["Error", "Experiment", "Figure", "Fraction", "Policy", "Results", "Table", "Time",
           "call_program", "find_program", "load", "param", "run", "run_program"]

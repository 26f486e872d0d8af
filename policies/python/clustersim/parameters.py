# SPDX-License-Identifier: GPL-3.0-or-later
"""Types of the parameters that a policy in Python declares."""
from __future__ import annotations

from typing import Any, Optional, Sequence

__all__ = ["Fraction", "Time", "param"]


class Fraction(float):
    """The type of a parameter that may be written as 20% or 0.2."""


class Time(int):
    """The type of a parameter that is a time, as "90s"; the policy sees nanoseconds."""


class param:
    """A parameter with more than a default: `share: float = cs.param(0.5, min=0, max=1)`.

    min, max: what it may be; times in seconds
    words: what a text may be
    help: one line for users
    """

    def __init__(self, default: Any, *, min: Optional[float] = None,
                 max: Optional[float] = None, words: Optional[Sequence[str]] = None,
                 help: str = "") -> None:
        self.default = default
        self.min = min
        self.max = max
        self.words = words
        self.help = help

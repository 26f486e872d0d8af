# SPDX-License-Identifier: GPL-3.0-or-later
"""What went wrong, and where in the user's own file.

The program prints messages as

    FILE:LINE:COLUMN: KIND error: TEXT
        2 | SOURCE LINE
          | ^
    hint: SENTENCES

`parse_messages` makes an `Error` of each; `raise_messages` raises the first, with the
others in `Error.others`.
"""
from __future__ import annotations

import operator
import os
import re
from typing import Any, List, NoReturn, Optional

__all__ = ["Error", "parse_messages", "raise_messages"]

_KINDS = ("(?:usage|file|syntax|schema|range|reference|policy|internal) error"
          "|limit reached|interrupted")
_PLACED = re.compile(
    r"^(?:(?P<file>.+?):(?:(?P<line>[0-9]+):(?P<column>[0-9]+):)? )?"
    r"(?P<kind>" + _KINDS + r"): (?P<text>.*)$")
_WARNING = re.compile(r"^(?:warning|note): ")
_SOURCE = re.compile(r"^ +(?P<line>[0-9]+) \| (?P<text>.*)$")
_KEY = re.compile(r"^(?:key )?'(?P<key>[^']+)' ")


class Error(Exception):
    """An input, a file or a trial is wrong.

    message: what is wrong, without its place
    file: the file in which it is wrong, or None
    line, column: the place in that file, from 1; None: the file as a whole
    key: the key that it is about, or None
    hint: sentences that say what would help, or None
    source: the line of the file, or None
    status: exit status of the program (3: input, 4: file, 5: trials), or None
    others: further errors of the same files, in their order
    """

    def __init__(self, message: str, file: Optional[str] = None, line: Optional[int] = None,
                 column: Optional[int] = None, key: Optional[str] = None,
                 hint: Optional[str] = None, *, source: Optional[str] = None,
                 status: Optional[int] = None) -> None:
        super().__init__(message)
        self.message = message
        self.file = file
        self.line = line
        self.column = column
        self.key = key
        self.hint = hint
        self.source = source
        self.status = status
        self.others: List["Error"] = []

    @property
    def place(self) -> str:
        """"file:line:column", as far as it is known; else ""."""
        parts = [str(part) for part in (self.file, self.line, self.column) if part is not None]
        return ":".join(parts)

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}" if self.place else self.message
        if self.source is not None:
            text += "\n    " + self.source
        if self.hint:
            text += "\nhint: " + self.hint
        for other in self.others:
            text += "\n" + str(other)
        return text

    def __reduce__(self):
        return (_rebuild, (self.__dict__.copy(),))


def _rebuild(state: dict) -> Error:
    error = Error(state["message"])
    error.__dict__.update(state)
    return error


def whole_of(value: Any) -> Optional[int]:
    """A whole number, of Python or of NumPy, as an int; None: the value is none."""
    if isinstance(value, bool):
        return None
    try:
        return operator.index(value)
    except TypeError:
        return None


def set_place(error: Error, unwritten: Optional[str]) -> None:
    """Says where the caller of Python wrote what is wrong: in an argument, or in an Experiment,
    which stands for the file `unwritten`."""
    if error.file is not None and error.file.startswith("--set "):
        word = error.file[len("--set "):]
        error.file = "policies" if word == "policies" else f"settings {word}"
    elif error.file is not None and error.file == unwritten:
        error.file = "experiment " + os.path.basename(unwritten)[:-len(".yaml")]


def _error_of(match: "re.Match[str]", status: Optional[int]) -> Error:
    line, column = match["line"], match["column"]
    key = _KEY.match(match["text"])
    return Error(match["text"], match["file"], int(line) if line else None,
                 int(column) if column else None, key["key"] if key else None, status=status)


def parse_messages(text: str, status: Optional[int] = None) -> List[Error]:
    """Returns the errors of what the program wrote to stderr, in its order.

    Warnings, and lines that belong to no error, are left out.
    """
    errors: List[Error] = []
    current: Optional[Error] = None
    for row in text.splitlines():
        match = None if _WARNING.match(row) else _PLACED.match(row)
        if match:
            current = _error_of(match, status)
            errors.append(current)
        elif current is None or _WARNING.match(row):
            current = None
        elif row.startswith("hint: "):
            current.hint = row[len("hint: "):]
        elif current.source is None:
            source = _SOURCE.match(row)
            current.source = source["text"].strip() if source else None
    return errors


def raise_messages(text: str, status: int, otherwise: str) -> NoReturn:
    """Raises what the program wrote to stderr before it ended with `status`.

    otherwise: the message, if there is no error in the text that can be read
    """
    errors = parse_messages(text, status)
    if not errors:
        rest = text.strip()
        errors = [Error(otherwise + (": " + rest if rest else ""), status=status)]
    errors[0].others = errors[1:]
    raise errors[0]

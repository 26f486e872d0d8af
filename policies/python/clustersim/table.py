# SPDX-License-Identifier: GPL-3.0-or-later
"""Tables of a results folder without pandas: columns with types and units, and rows."""
from __future__ import annotations

import csv
import html
import importlib
from numbers import Number
from types import ModuleType
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import Error

__all__ = ["Table", "Value", "need", "nearest"]

Value = Union[int, float, bool, str, None]

_SHOWN_ROWS = 20
_EXTRAS = {"pandas": "pandas", "matplotlib": "matplotlib", "gymnasium": "gymnasium"}


def need(module: str, what: str) -> ModuleType:
    """Imports a package that clustersim can do without; Error says how to install it."""
    try:
        return importlib.import_module(module)
    except ImportError:
        extra = _EXTRAS[module.split(".", maxsplit=1)[0]]
        raise Error(f"{what} needs the package {extra}, which is not installed",
                    hint=f"Install it with: pip install {extra}") from None


def nearest(word: str, names: Sequence[str]) -> Optional[str]:
    """Returns the name that was probably meant by `word`, or None."""
    from difflib import get_close_matches

    found = get_close_matches(word, names, n=1, cutoff=0.6)
    return found[0] if found else None


def _count(text: str) -> Value:
    return int(text) if text.lstrip("-").isdigit() else float(text)


_READERS: Dict[str, Callable[[str], Value]] = {"count": _count, "time": float, "real": float}


def read_cell(kind: str, text: str) -> Value:
    """Returns a cell of a CSV as a number, or as text; None: a number that does not exist."""
    if kind == "text":
        return text
    return _READERS[kind](text) if text else None


def _kind(value: Any) -> str:
    if isinstance(value, bool) or type(value).__name__ == "bool_":      # of numpy
        return "true or false"
    return "numbers" if isinstance(value, Number) else \
        "texts" if isinstance(value, str) else f"values of type {type(value).__name__}"


def _shown(value: Value) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value)


class Table:
    """Rows of values under named columns.

    columns: names, in order
    units: unit by column, such as "s", "USD" or "fraction"; texts have none
    rows: one list of values a row; None is a value that does not exist

    `for row in table` gives dicts, `table["jct_s"]` the values of a column, `table[3]` a row
    as a dict.
    """

    def __init__(self, columns: Sequence[str], rows: Sequence[Sequence[Value]],
                 units: Optional[Mapping[str, str]] = None, name: str = "") -> None:
        self.name = name
        self.columns: List[str] = list(columns)
        self.rows: List[List[Value]] = [list(row) for row in rows]
        self.units: Dict[str, str] = {c: u for c, u in (units or {}).items()
                                      if u and c in self.columns}
        for number, row in enumerate(self.rows):
            if len(row) != len(self.columns):
                raise Error(f"row {number} has {len(row)} values for {len(self.columns)} columns",
                            file=name or None)

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[Dict[str, Value]]:
        return (dict(zip(self.columns, row)) for row in self.rows)

    def _index(self, column: str) -> int:
        if column in self.columns:
            return self.columns.index(column)
        near = nearest(column, self.columns)
        raise Error(f"there is no column '{column}' in {self.name or 'the table'}", key=column,
                    hint=f"Did you mean '{near}'?" if near else
                    "There are: " + ", ".join(self.columns) + ".")

    def _check_kind(self, column: str, value: Value, cells: Sequence[Value]) -> None:
        have = {_kind(cell) for cell in cells if cell is not None}
        if value is None or not have or _kind(value) in have:
            return
        example = next(cell for cell in cells if cell is not None)
        raise Error(f"column '{column}' of {self.name or 'the table'} has {' and '.join(sorted(have))}, "
                    f"found {value!r}", key=column, hint=f"The first of its values is {example!r}.")

    def __getitem__(self, which: Union[str, int]) -> Any:
        if isinstance(which, str):
            index = self._index(which)
            return [row[index] for row in self.rows]
        return dict(zip(self.columns, self.rows[which]))

    def where(self, **values: Value) -> "Table":
        """Returns the rows that have these values: table.where(policy="fcfs", seed=0).

        Names of columns with dots go into a dict: table.where(**{"arrival.rate": 4}).  None
        finds empty fields.  A text for a column of numbers, or a number for one of texts, is an
        Error: no row could have it.
        """
        wanted = [(self._index(column), value) for column, value in values.items()]
        for (index, value), column in zip(wanted, values):
            self._check_kind(column, value, [row[index] for row in self.rows])
        kept = [row for row in self.rows if all(row[i] == value for i, value in wanted)]
        return Table(self.columns, kept, self.units, self.name)

    def select(self, *columns: str) -> "Table":
        """Returns these columns alone, in this order."""
        indices = [self._index(column) for column in columns]
        return Table(columns, [[row[i] for i in indices] for row in self.rows], self.units,
                     self.name)

    def to_csv(self, path: Any) -> None:
        """Writes the table as CSV with a header line (UTF-8, LF); None is an empty field."""
        with open(path, "w", encoding="utf-8", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(self.columns)
            writer.writerows(["" if value is None else value for value in row]
                             for row in self.rows)

    def to_pandas(self) -> Any:
        """Returns a pandas DataFrame; `frame.attrs["units"]` has the units."""
        pandas = need("pandas", "Table.to_pandas")
        frame = pandas.DataFrame(self.rows, columns=self.columns)
        for index, column in enumerate(self.columns):
            if any(isinstance(row[index], float) or row[index] is None for row in self.rows) and \
                    not any(isinstance(row[index], str) for row in self.rows):
                frame[column] = frame[column].astype("float64")
        frame.attrs["units"] = dict(self.units)
        return frame

    def _cells(self, limit: int) -> Tuple[List[List[str]], int]:
        shown = self.rows if len(self.rows) <= limit else self.rows[:limit]
        return [[_shown(value) for value in row] for row in shown], len(self.rows) - len(shown)

    def to_text(self, limit: int = _SHOWN_ROWS) -> str:
        """Returns the first rows as aligned text: numbers to the right, units below names."""
        cells, more = self._cells(limit)
        units = [self.units.get(column, "") for column in self.columns]
        heads = [self.columns] + ([units] if any(units) else [])
        widths = [max([len(row[i]) for row in heads + cells]) for i in range(len(self.columns))]
        right = [any(isinstance(row[i], (int, float)) for row in self.rows[:limit])
                 for i in range(len(self.columns))]
        lines = ["  ".join(text.rjust(width) if number else text.ljust(width)
                           for text, width, number in zip(row, widths, right)).rstrip()
                 for row in heads + cells]
        if more:
            lines.append(f"... {more} more rows")
        return "\n".join(lines)

    def to_html(self, limit: int = _SHOWN_ROWS) -> str:
        """Returns the first rows as an HTML table."""
        cells, more = self._cells(limit)
        head = "".join(
            f"<th>{html.escape(column)}"
            + (f"<br><small>{html.escape(self.units[column])}</small>"
               if column in self.units else "") + "</th>" for column in self.columns)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>"
                       for row in cells)
        tail = f"<p>... {more} more rows</p>" if more else ""
        return (f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{tail}")

    def __repr__(self) -> str:
        return self.to_text()

    def _repr_html_(self) -> str:
        return self.to_html()

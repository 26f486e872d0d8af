# SPDX-License-Identifier: GPL-3.0-or-later
"""A folder of results: its tables, its charts, and what it was made from.

    results = clustersim.load("out/small")
    results.summary         one row a point, policy and seed
    results.compare         means with 95% intervals, and differences to the baseline
    results.jobs            one row a job

Tables are pandas DataFrames if pandas is installed, else `Table`.  A swept key is a column of
its own behind `point`.  Times are in seconds, costs in USD; `results.units("jobs")` has the
unit of each column.
"""
from __future__ import annotations

import base64
import contextlib
import csv
import functools
import html
import importlib.util
import json
import os
import re
from pathlib import Path
from typing import Any, Dict, IO, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import Error
from .svg import interval_chart
from .table import Table, Value, nearest, need, read_cell

__all__ = ["Results", "Figure", "Table", "load"]

PathLike = Union[str, "os.PathLike[str]"]

# Files that a run writes only if there is something to say.
_MAY_BE_EMPTY = ("failures", "checks")
_HOW_TO_GET = {
    "services": "It is written if the workload has services.",
    "tenants": "It is written if jobs have two tenants or more.",
    "arrived": "It is written under `blocking: drop`.",
    "seeds": "It is written if `seeds` is a rule such as {until: decided, at_most: 40}.",
    "metrics": "It is written if the experiment has metrics of its own.",
    "border": "`clustersim border` writes it.",
    "sensitivity": "`clustersim sensitivity` writes it.",
}
_SHOWN = ("jct_mean_s", "wait_mean_s", "slowdown_mean", "gpu_utilization", "cost_usd",
          "jobs_done")
_PICTURES = ("sweep", "delta", "jct_cdf", "cost")


@functools.lru_cache(maxsize=None)
def _declared() -> Dict[str, Dict[str, Tuple[str, str]]]:
    """Type and unit by table and column, as `clustersim list columns --json` prints them."""
    text = (Path(__file__).parent / "columns.json").read_text(encoding="utf-8")
    tables: Dict[str, Dict[str, Tuple[str, str]]] = {}
    for row in json.loads(text):
        name = row["table"][:-len(".csv")]
        tables.setdefault(name, {})[row["column"]] = (row["type"], row["unit"])
    return tables


_WHOLE = re.compile(r"-?(?:0|[1-9][0-9]*)")
_NUMBER = re.compile(r"(-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?) ?(\D*)")


def type_values(texts: Sequence[str]) -> Tuple[List[Value], str]:
    """Returns the values of a swept key, and their unit.

    Whole numbers, numbers, true and false get their types.  Quantities of one and the same
    unit ("2/h", "4/h") become numbers; of several units they stay as they are written.
    """
    if all(text in ("true", "false") for text in texts):
        return [text == "true" for text in texts], ""
    if all(_WHOLE.fullmatch(text) for text in texts):
        return [int(text) for text in texts], ""
    matches = [match for match in map(_NUMBER.fullmatch, texts) if match]
    if len(matches) == len(texts) and len({match[2] for match in matches}) == 1:
        return [float(match[1]) for match in matches], matches[0][2]
    return list(texts), ""


def split_point(point: str, labels: Sequence[str]) -> Optional[List[str]]:
    """Takes the label of a point apart: "jobs=4 rate=2/h" with jobs, rate gives 4 and 2/h.

    Returns None if it is not a label of these keys, or could be taken apart in two ways.
    """
    if not labels:
        return None
    found = []
    for repeat in ("*?", "*"):
        pattern = " ".join(re.escape(label) + f"=(.{repeat})" for label in labels)
        match = re.fullmatch(pattern, point)
        found.append(list(match.groups()) if match else None)
    return found[0] if found[0] == found[1] else None


def _keys_of_labels(points: Sequence[str]) -> List[Dict[str, str]]:
    """The swept keys where provenance.json does not name them, as that of 0.1.0 did not: the
    words of the first label; `_Sweep` refuses labels of other keys."""
    words = [] if not points or points == ["base"] else points[0].split(" ")
    labels = [word.split("=", maxsplit=1)[0] for word in words]
    return [{"key": label, "label": label} for label in labels]


class _Sweep:
    """The swept keys as columns: their names, and their values at each point."""

    def __init__(self, keys: Sequence[Mapping[str, str]], points: Sequence[str]) -> None:
        declared = set().union(*(set(table) for table in _declared().values()))
        labels = [key["label"] for key in keys]
        self.names = [key["label"] if key["label"] not in declared else
                      key["key"] if key["key"] not in declared else
                      "point: " + key["label"] for key in keys]
        self.values: Dict[str, List[Value]] = {}
        self.units: Dict[str, str] = {}
        texts: List[List[str]] = []
        for point in points:
            words = split_point(point, labels) if labels else []
            if words is None:
                raise Error(f"point '{point}' is no point of the swept keys "
                            + ", ".join(labels), hint="Is the folder from one run?")
            texts.append(words)
        columns = [type_values([words[i] for words in texts]) for i in range(len(labels))]
        for name, (_, unit) in zip(self.names, columns):
            if unit:
                self.units[name] = unit
        for number, point in enumerate(points):
            self.values[point] = [values[number] for values, _ in columns]


class Figure:
    """A chart of a run.  Notebooks show it; `path` is the file, `data` its bytes."""

    def __init__(self, name: str, path: Path) -> None:
        self.name = name
        self.path = path

    @property
    def data(self) -> bytes:
        return self.path.read_bytes()

    def __repr__(self) -> str:
        return f"Figure({str(self.path)!r})"

    def _repr_png_(self) -> Optional[bytes]:
        return self.data if self.path.suffix == ".png" else None

    def _repr_svg_(self) -> Optional[str]:
        return self.data.decode("utf-8") if self.path.suffix == ".svg" else None


def _read_json(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as why:
        raise Error(f"cannot read the file: {why.strerror}", file=str(path)) from None
    except ValueError as why:
        raise Error(f"the file is no JSON: {why}", file=str(path)) from None


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[IO[str]]:
    """A table's file.  Raises Error where it was cut, and where what reads it finds no table."""
    with open(path, "rb") as file:
        whole = file.seek(0, os.SEEK_END) > 0 and file.seek(-1, os.SEEK_END) >= 0 and \
            file.read(1) == b"\n"
    if not whole:
        raise Error("the table was cut: its last line has no end", file=str(path),
                    hint="Copy it again, or run the experiment again.")
    try:
        with open(path, encoding="utf-8", newline="") as text:
            yield text
    except (ValueError, csv.Error) as why:  # bytes that are no text, a number that is none
        raise Error(f"the file is no table of results: {why}", file=str(path)) from None


def _header_of(reader: Iterator[List[str]]) -> List[str]:
    header = next(reader)
    if not header:
        raise ValueError("its first line names no column")
    return header


def _rows_of(reader: Iterator[List[str]], header: Sequence[str]) -> Iterator[List[str]]:
    for number, row in enumerate(reader):
        if len(row) != len(header):
            raise ValueError(f"row {number} has {len(row)} values for {len(header)} columns")
        yield row


class Results:
    """The results of a run.

    folder: where they are
    provenance: what they were made from (provenance.json): version, seeds, inputs, semantics
    status: exit status of the run, 0 or 5 (some trials failed); None if it was loaded later
    """

    def __init__(self, folder: PathLike) -> None:
        self.folder = Path(folder)
        self._place = self.folder.absolute()    # tables are read later, maybe from elsewhere
        self._written: Optional[Tuple[int, int]] = None
        self.status: Optional[int] = None
        if not self.folder.is_dir():
            raise Error("there is no such folder of results", file=str(folder),
                        hint="A run writes out/NAME below the folder in which it is started.")
        if not (self._root / "provenance.json").is_file():
            raise Error("the folder has no provenance.json: no run was completed in it",
                        file=str(folder), hint=self._why_incomplete())
        self._written = self._stamp()
        self.provenance: Dict[str, Any] = _read_json(self._root / "provenance.json")

    def _stamp(self) -> Optional[Tuple[int, int]]:
        """Which run wrote the folder; each writes provenance.json.  None: it is not there."""
        try:
            found = os.stat(self._place / "provenance.json")
        except OSError:
            return None
        return found.st_ino, found.st_mtime_ns

    @property
    def _root(self) -> Path:
        """The folder.  Raises Error if another run has written to it, for what is read now
        would be another result than what was read before."""
        if self._written is not None and self._stamp() != self._written:
            raise Error("the folder was written anew, or taken away, since these results were "
                        "loaded", file=str(self.folder), hint="Give each run a folder of its "
                        "own, by out=, or load the folder again.")
        return self._place

    def _why_incomplete(self) -> str:
        if (self._root / ".trials").is_dir():
            return ("It holds trials of a run that did not end.  "
                    "`clustersim run EXPERIMENT --resume` completes it.")
        return "Give the folder that a run wrote, such as out/NAME."

    @property
    def name(self) -> str:
        """Name of the experiment."""
        return str(self.provenance["experiment"])

    @property
    def policies(self) -> List[str]:
        """Names of the policies, in the order of the experiment."""
        return [policy["name"] for policy in self.provenance["policies"]]

    @property
    def baseline(self) -> str:
        """The policy with which the others are compared; "" if it was not run."""
        return str(self.provenance["baseline"])

    @functools.cached_property
    def points(self) -> List[str]:
        """Labels of the points of the sweep, in order; ["base"] without a sweep."""
        with _opened(self._path("summary")) as file:
            reader = csv.reader(file)
            header = _header_of(reader)
            at = header.index("point")
            return list(dict.fromkeys(row[at] for row in _rows_of(reader, header)))

    @functools.cached_property
    def _sweep(self) -> _Sweep:
        keys = self.provenance.get("sweep")
        return _Sweep(_keys_of_labels(self.points) if keys is None else keys, self.points)

    @property
    def swept(self) -> List[str]:
        """Columns of the swept keys, in the order of the labels of points."""
        return list(self._sweep.names)

    @functools.cached_property
    def audit(self) -> Dict[str, Any]:
        """What the trials checked of their own results, and how often (audit.json)."""
        return _read_json(self._root / "audit.json")

    # Tables

    @property
    def tables(self) -> List[str]:
        """Names of the tables that this folder has."""
        return [name for name in _declared() if (self._root / f"{name}.csv").is_file()]

    def _path(self, name: str) -> Path:
        path = self._root / f"{name}.csv"
        if name not in _declared():
            near = nearest(name, list(_declared()))
            raise Error(f"there is no table '{name}'", key=name,
                        hint=f"Did you mean '{near}'?" if near else
                        "There are: " + ", ".join(_declared()) + ".")
        if not path.is_file():
            raise Error(f"the run did not write {name}.csv", file=str(self.folder), key=name,
                        hint=_HOW_TO_GET.get(name, "Ask for it in the experiment: output: "
                                             f"{{tables: [{name}]}}."))
        return path

    def _own_units(self) -> Dict[str, str]:
        """Units of metrics that the experiment defines."""
        path = self._root / "metrics.csv"
        if not path.is_file():
            return {}
        with _opened(path) as file:
            return {row["metric"]: row["unit"] for row in csv.DictReader(file)}

    def _column_kinds(self, name: str, header: Sequence[str]) -> Tuple[Dict[str, str],
                                                                        Dict[str, str]]:
        """Types and units by column of a file with this header."""
        declared, kinds, units = _declared()[name], {}, {}
        own = self._own_units() if name == "summary" else {}
        for column in header:
            if column in declared:
                kinds[column], units[column] = declared[column]
            elif column in own:
                kinds[column], units[column] = "real", own[column]
            else:
                raise Error(f"column '{column}' of {name}.csv is not known to this package",
                            file=str(self.folder / f"{name}.csv"), key=column,
                            hint="The results are of another version of clustersim: "
                                 + str(self.provenance.get("version")) + ".")
        return kinds, units

    def _swept_in(self, name: str, header: Sequence[str]) -> bool:
        """Do points of this table have all swept keys?"""
        return "point" in header and name not in ("border", "sensitivity") and \
            bool(self._sweep.names)

    def units(self, name: str) -> Dict[str, str]:
        """Returns the unit of each column of a table that holds numbers with one."""
        with _opened(self._path(name)) as file:
            header = _header_of(csv.reader(file))
        _, units = self._column_kinds(name, header)
        if self._swept_in(name, header):
            units.update(self._sweep.units)
        return {column: unit for column, unit in units.items() if unit}

    def _values_at(self, point: str) -> List[Value]:
        if point not in self._sweep.values:
            raise Error(f"there is no point '{point}' in summary.csv", file=str(self.folder),
                        hint="Is the folder from one run?")
        return self._sweep.values[point]

    def table(self, name: str) -> Table:
        """Returns a table, such as "jobs", without pandas."""
        if name in _MAY_BE_EMPTY and not (self._root / f"{name}.csv").is_file():
            columns = list(_declared()[name])
            return Table(columns, [], {c: _declared()[name][c][1] for c in columns}, name)
        path = self._path(name)
        with _opened(path) as file:
            reader = csv.reader(file)
            header = _header_of(reader)
            kinds, units = self._column_kinds(name, header)
            types = [kinds[column] for column in header]
            rows = [[read_cell(kind, cell) for kind, cell in zip(types, row)]
                    for row in _rows_of(reader, header)]
        if self._swept_in(name, header):
            at = header.index("point") + 1
            sweep = self._sweep
            rows = [row[:at] + (self._values_at(str(row[at - 1])) if row[at - 1] else
                                [None] * len(sweep.names)) + row[at:] for row in rows]
            header = header[:at] + sweep.names + header[at:]
            units.update(sweep.units)
        return Table(header, rows, units, f"{name}.csv")

    def frame(self, name: str) -> Any:
        """Returns a table, such as "jobs", as a pandas DataFrame; attrs["units"] has units."""
        pandas = need("pandas", "Results.frame")
        if name in _MAY_BE_EMPTY and not (self._root / f"{name}.csv").is_file():
            return self.table(name).to_pandas()
        path = self._path(name)
        with _opened(path) as file:
            header = _header_of(csv.reader(file))
            kinds, _ = self._column_kinds(name, header)
            texts = [column for column in header if kinds[column] == "text"]
            frame = pandas.read_csv(
                path, dtype={column: (str if column in texts else "float64")
                             for column in header if kinds[column] != "count"},
                keep_default_na=False, na_values={c: [""] for c in header if c not in texts},
                # Exact reals must be asked for, until pandas 3 made them the default.
                **({"float_precision": "round_trip"} if int(pandas.__version__.split(".")[0]) < 3
                   else {}))
        if self._swept_in(name, header):
            at = header.index("point") + 1
            for number, column in enumerate(self._sweep.names):
                values = {point: self._values_at(point)[number]
                          for point in frame["point"].unique() if point}
                frame.insert(at + number, column, frame["point"].map(values))
        frame.attrs["units"] = self.units(name)
        return frame

    def _get(self, name: str) -> Any:
        if importlib.util.find_spec("pandas") is None:
            return self.table(name)
        return self.frame(name)

    @functools.cached_property
    def summary(self) -> Any:
        """One row a point, policy and seed, one column a metric (times in s, costs in USD)."""
        return self._get("summary")

    @functools.cached_property
    def compare(self) -> Any:
        """One row a point, policy and metric: mean, its 95% interval, and the difference to
        the baseline in percent with its 95% interval.  `mean` has the unit of the metric."""
        return self._get("compare")

    @functools.cached_property
    def jobs(self) -> Any:
        """One row a job (times in s, gpu_seconds in GPU-s)."""
        return self._get("jobs")

    @functools.cached_property
    def phases(self) -> Any:
        """One row a run of a phase, of the first seed (times in s)."""
        return self._get("phases")

    @functools.cached_property
    def timeline(self) -> Any:
        """One row an interval and pool, of the first seed (t_s in s)."""
        return self._get("timeline")

    @functools.cached_property
    def decisions(self) -> Any:
        """One row a request of the policy, if output.tables asks for it (t_s in s)."""
        return self._get("decisions")

    @functools.cached_property
    def services(self) -> Any:
        """One row a service and trial, if there are services (times in s)."""
        return self._get("services")

    @functools.cached_property
    def tenants(self) -> Any:
        """One row a tenant and trial, if there are two tenants or more."""
        return self._get("tenants")

    @functools.cached_property
    def checks(self) -> Any:
        """One row an expectation and point, with its verdict; no row without expectations."""
        return self._get("checks")

    @functools.cached_property
    def failures(self) -> Any:
        """One row a trial that failed, with why and what would help; no row if none did."""
        return self._get("failures")

    # Charts

    @property
    def figures(self) -> List[str]:
        """Names of the charts that the run drew."""
        plots = self._root / "plots"
        return sorted({path.stem for path in plots.glob("*.png")} |
                      {path.stem for path in plots.glob("*.svg")})

    def figure(self, name: str) -> Figure:
        """Returns a chart of the run, such as "jct_cdf"; `figures` has the names."""
        for ending in ("png", "svg"):
            path = self._root / "plots" / f"{name}.{ending}"
            if name in self.figures and path.is_file():
                return Figure(name, path)
        raise Error(f"there is no chart '{name}'", file=str(self.folder / "plots"), key=name,
                    hint=self._why_no_figure(name))

    def _why_no_figure(self, name: str) -> str:
        skipped = self._root / "plots" / "skipped.txt"
        if skipped.is_file():
            for line in skipped.read_text(encoding="utf-8").splitlines():
                if re.match(re.escape(name) + r"\b", line):
                    return "The run did not draw it: " + line + "."
        if not self.figures:
            return "The run drew no chart.  `clustersim plot DIR` draws them, with gnuplot."
        near = nearest(name, self.figures)
        return f"Did you mean '{near}'?" if near else \
            "There are: " + ", ".join(self.figures) + "."

    def plot(self, metric: str = "jct_mean_s", x: Optional[str] = None) -> Any:
        """Draws the means of a metric with 95% intervals, and returns matplotlib's Axes.

        x: a swept key (see `swept`); None: the first one, or one place a policy
        """
        pyplot = need("matplotlib.pyplot", "Results.plot")
        rows = self._means(metric)
        names = self.swept
        if x is not None and x not in names:
            near = nearest(x, names)
            raise Error(f"'{x}' is no swept key", key=x, hint=f"Did you mean '{near}'?"
                        if near else "There are: " + (", ".join(names) or "none") + ".")
        x = x if x is not None else (names[0] if names else "policy")
        figure, axes = pyplot.subplots()
        for policy in dict.fromkeys(row["policy"] for row in rows):
            own = [row for row in rows if row["policy"] == policy]
            axes.errorbar([row[x] for row in own], [row["mean"] for row in own],
                          yerr=[[row["mean"] - row["low"] for row in own],
                                [row["high"] - row["mean"] for row in own]],
                          marker="o", capsize=3, linestyle="-" if len(names) == 1 else "none",
                          label=policy)
        unit = self.units("summary").get(metric, "")
        axes.set_xlabel(x)
        axes.set_ylabel(f"{metric} ({unit})" if unit else metric)
        axes.legend()
        return axes

    # What notebooks and terminals show

    def _means(self, metric: str) -> List[Dict[str, Any]]:
        """Mean and ends of the 95% interval of a metric, by point and policy.  Where there is
        no interval, both ends are the mean."""
        rows = []
        for row in self._compared.where(metric=metric):
            if row["mean"] is None:
                continue
            low, high = row["ci95_low"], row["ci95_high"]
            rows.append({**row, "low": row["mean"] if low is None else low,
                         "high": row["mean"] if high is None else high})
        if not rows:
            metrics = list(dict.fromkeys(self._compared["metric"]))
            near = nearest(metric, metrics)
            raise Error(f"compare.csv has no mean of '{metric}'", key=metric,
                        file=str(self.folder), hint=f"Did you mean '{near}'?" if near else None)
        return rows

    @functools.cached_property
    def _compared(self) -> Table:
        return self.table("compare")

    def overview(self) -> Table:
        """Returns the means of the main metrics, one row a point and policy; `a ± b` has the
        longer side of the 95% interval, `*` the difference to the baseline that excludes 0."""
        units = self.units("summary")
        metrics = [m for m in _SHOWN if any(v is not None for v in
                                            self._compared.where(metric=m)["mean"])]
        cells: Dict[Tuple[Value, Value], Dict[str, str]] = {}
        for row in self._compared:
            if row["metric"] in metrics:
                cell = cells.setdefault((row["point"], row["policy"]), {})
                cell[str(row["metric"])] = _mean_text(row)
        columns = ["point", "policy"] + metrics
        rows = [[point, policy] + [cell.get(m, "") for m in metrics]
                for (point, policy), cell in cells.items()]
        if self.points == ["base"]:
            columns, rows = columns[1:], [row[1:] for row in rows]
        return Table(columns, rows, {m: units.get(m, "") for m in metrics}, "overview")

    def _title(self) -> str:
        points, seeds = len(self.points), self.provenance["seeds"]
        failed = len(self.table("failures"))
        return (f"{self.name}: {points} point{'s' if points != 1 else ''}, "
                f"{len(self.policies)} polic{'ies' if len(self.policies) != 1 else 'y'}, "
                f"{seeds} seed{'s' if seeds != 1 else ''}"
                + (f"; {failed} failed trial{'s' if failed != 1 else ''}" if failed else ""))

    def __repr__(self) -> str:
        if "compare" not in self.tables:
            return f"{self._title()}\n{self.folder}"
        return f"{self._title()}\n{self.overview()}"

    def _picture(self) -> str:
        for name in _PICTURES:
            path = self._root / "plots" / f"{name}.png"
            if path.is_file():
                data = base64.b64encode(path.read_bytes()).decode("ascii")
                return (f'<img alt="{name}" style="max-width: 100%" '
                        f'src="data:image/png;base64,{data}">')
        metric = "jct_mean_s"
        try:
            rows = self._means(metric)
        except Error:
            return ""
        return interval_chart(f"{metric} (s), mean and 95% interval", rows,
                              self.points != ["base"])

    def _repr_html_(self) -> str:
        title = f"<h4>{html.escape(self._title())}</h4>"
        if "compare" not in self.tables:
            return title
        return title + self.overview().to_html() + self._picture()


def _mean_text(row: Mapping[str, Any]) -> str:
    if row["mean"] is None:
        return ""
    text = f"{row['mean']:.4g}"
    if row["ci95_low"] is not None and row["ci95_high"] is not None:
        half = max(row["mean"] - row["ci95_low"], row["ci95_high"] - row["mean"])
        text += f" ± {half:.2g}"
    if row["p_value"] is not None and row["p_value"] < 0.05:
        text += " *"
    return text + (f" ({row['of']})" if row["of"] else "")


def load(folder: PathLike) -> Results:
    """Returns the results in a folder that a run wrote, such as "out/small"."""
    return Results(folder)

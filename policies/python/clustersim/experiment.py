# SPDX-License-Identifier: GPL-3.0-or-later
"""An experiment built in code, and written as the YAML that the program reads."""
from __future__ import annotations

import copy
import json
import math
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, Mapping, Optional, Tuple, Union

from .errors import Error
from .schema import check_keys

if TYPE_CHECKING:
    from .results import Results

__all__ = ["Experiment"]

PathLike = Union[str, "os.PathLike[str]"]

_WORDS = {"true", "false", "null", "~", "yes", "no", "on", "off", "y", "n"}
_PLAIN = re.compile(r"[A-Za-z0-9./][A-Za-z0-9_./%+-]*")
_DATE = re.compile(r"[0-9-]+")
_NO_NUMBER = re.compile(r"[-+]?\.(inf|nan)", re.IGNORECASE)    # a number in YAML, of no value


def _looks_like_number(text: str) -> bool:
    """Would any reader of YAML take it for a number, or for a date?"""
    if _NO_NUMBER.fullmatch(text):
        return True
    for read in (float, lambda digits: int(digits, 0)):
        try:
            read(text.replace("_", ""))
            return True
        except ValueError:
            continue
    return _DATE.fullmatch(text) is not None


def _yaml_text(text: str) -> str:
    """Returns the text as a YAML scalar that reads as a text, with quotation marks if it
    must have them."""
    if _PLAIN.fullmatch(text) and text.lower() not in _WORDS and not _looks_like_number(text):
        return text
    quoted = ""
    for char in text:
        if char in '"\\':
            quoted += "\\" + char
        elif char == "\n":
            quoted += "\\n"
        elif char == "\t":
            quoted += "\\t"
        elif char.isprintable():
            quoted += char
        else:
            quoted += f"\\U{ord(char):08x}" if ord(char) > 0xFFFF else f"\\u{ord(char):04x}"
    return f'"{quoted}"'


def _yaml_scalar(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        text = repr(value)          # without a point, 1e+22 is a text to some readers
        return text.replace("e", ".0e") if "." not in text else text
    return _yaml_text(value)


def _yaml_lines(value: Any, indent: str) -> Iterator[str]:
    """The lines of a map or a list that is not empty."""
    pairs = ([(f"{_yaml_text(key)}:", item) for key, item in value.items()]
             if isinstance(value, dict) else [("-", item) for item in value])
    for head, item in pairs:
        if not isinstance(item, (dict, list)):
            yield f"{indent}{head} {_yaml_scalar(item)}"
        elif not item:
            yield f"{indent}{head} " + ("{}" if isinstance(item, dict) else "[]")
        elif head == "-":
            lines = list(_yaml_lines(item, indent + "  "))
            yield f"{indent}- {lines[0][len(indent) + 2:]}"
            yield from lines[1:]
        else:
            yield indent + head
            yield from _yaml_lines(item, indent + "  ")


def _clean_key(key: Any, path: Tuple[str, ...]) -> str:
    if hasattr(key, "tolist"):
        key = key.tolist()          # a number of numpy
    if isinstance(key, str):
        return str.__str__(key)
    if isinstance(key, (int, float)) and not isinstance(key, bool):
        # Maps such as choice: {1: 0.5, 8: 0.5}.
        return repr(int(key) if isinstance(key, int) else float(key))
    raise Error(f"a key must be a text or a number, found {type(key).__name__}",
                key=".".join(path))


def _clean_map(value: Mapping[Any, Any], path: Tuple[str, ...]) -> Dict[str, Any]:
    found: Dict[str, Any] = {}
    for key, item in value.items():
        text = _clean_key(key, path)
        if text in found:           # {1: 0.5, "1": 0.3} is one map in Python
            raise Error(f"key '{text}' is given twice", key=".".join(path + (text,)),
                        hint="As a number and as a text it is the same key.")
        found[text] = _clean(item, path + (text,))
    return found


def _clean(value: Any, path: Tuple[str, ...]) -> Any:
    """Returns the value as dicts, lists, texts, numbers, True, False and None; a copy.  Members
    of an enum that are texts or numbers count as these."""
    if hasattr(value, "tolist"):
        value = value.tolist()      # of numpy or pandas
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, Mapping):
        return _clean_map(value, path)
    if isinstance(value, (list, tuple)):
        return [_clean(item, path + (str(number),)) for number, item in enumerate(value)]
    if isinstance(value, float) and not math.isfinite(value):
        raise Error(f"a number must be finite, found {value}", key=".".join(path))
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        return str.__str__(value)
    if isinstance(value, (int, float)):
        return int(value) if isinstance(value, int) else float(value)
    found = f"the class {value.__name__}" if isinstance(value, type) else type(value).__name__
    raise Error(f"a value must be a number, a text, a bool, a list or a dict, found {found}",
                key=".".join(path), hint="run(policies=[...]) takes policies that are classes; "
                "a file has no word for them." if isinstance(value, type) else None)


def json_of(value: Any, key: str) -> str:
    """Returns a value of that key as JSON, which the program reads as YAML: letters as they are,
    since \\u escapes of YAML have no pairs."""
    text = json.dumps(_clean(value, (str(key),)), ensure_ascii=False)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        raise Error(f"a text must be one of UTF-8, found {text!r}", key=str(key)) from None
    return text


def set_words(settings: Optional[Mapping[str, Any]]) -> List[str]:
    """Returns settings as the program takes them behind --set."""
    if settings is not None and not isinstance(settings, Mapping):
        raise Error(f"settings must be a dict, found {type(settings).__name__}", key="settings",
                    hint='Write {"workload.jobs": 50}.')
    return [f"{key}={json_of(value, key)}" for key, value in (settings or {}).items()]


def _texts(value: Any) -> Iterator[str]:
    """All texts of a tree that are no keys."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


class Experiment:
    """An experiment, with the keys of an experiment file.

        cs.Experiment(
            experiment="small", seeds=5,
            cluster={"nodes": [{"name": "gpu", "count": 4,
                                "gpus": {"type": "generic", "count": 8}}]},
            workload={"arrival": {"process": "poisson", "rate": "4/h"}, "jobs": 100,
                      "mix": [{"recipe": "trace", "gpus": 4, "duration": "1h"}]},
            policies=["fcfs", "sjf"])

    Keys may be given as a dict, as keyword arguments, or both.  `clustersim explain KEY` says
    what a key means.  Quantities are texts with units ("4/h", "80GB").  A key that the
    program does not know raises Error with the nearest spelling.

    folder: where relative paths of the experiment begin; None: the current folder
    """

    def __init__(self, tree: Optional[Mapping[str, Any]] = None, *,
                 folder: Optional[PathLike] = None, **keys: Any) -> None:
        if tree is not None and not isinstance(tree, Mapping):
            raise Error(f"an experiment must be a dict, found {type(tree).__name__}",
                        hint="To read a file: Experiment.from_yaml(PATH).")
        self._tree: Dict[str, Any] = _clean({**(tree or {}), **keys}, ())
        self._folder = Path(folder if folder is not None else os.getcwd()).absolute()
        check_keys(self._tree)
        for key in ("experiment", "cluster", "workload", "policies"):
            if key not in self._tree:
                raise Error(f"key '{key}' is missing in 'experiment'", key=key,
                            hint=f"Give {key}=.")

    @classmethod
    def from_yaml(cls, path: PathLike) -> "Experiment":
        """Reads an experiment file, which the program checks.  Relative paths in it stay
        relative to its folder; comments are lost."""
        from .program import read_yaml

        tree = read_yaml(path)
        if not isinstance(tree, dict) or "experiment" not in tree:
            raise Error("the file is no experiment", file=os.fspath(path), line=1, column=1,
                        key="experiment", hint="An experiment has the keys experiment, "
                        "cluster, workload and policies.")
        return cls(tree, folder=Path(path).parent)

    @property
    def name(self) -> str:
        """The value of the key `experiment`, which names the folder of results."""
        name = self._tree["experiment"]
        return name if isinstance(name, str) else _yaml_scalar(name)

    @property
    def folder(self) -> Path:
        """Where relative paths of the experiment begin."""
        return self._folder

    def __getitem__(self, key: str) -> Any:
        if key not in self._tree:
            raise Error(f"the experiment has no key '{key}'", key=key,
                        hint="It has: " + ", ".join(self._tree) + ".")
        return copy.deepcopy(self._tree[key])

    def __contains__(self, key: object) -> bool:
        return key in self._tree

    def __iter__(self) -> Iterator[str]:
        return iter(self._tree)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Experiment) and self._tree == other._tree

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return self.to_yaml()

    def replace(self, **keys: Any) -> "Experiment":
        """Returns a copy with these keys at the top replaced; None takes a key away."""
        tree = {**self._tree, **keys}
        return Experiment({key: value for key, value in tree.items() if value is not None},
                          folder=self._folder)

    def to_dict(self) -> Dict[str, Any]:
        """Returns the keys and values as dicts and lists; a copy."""
        return copy.deepcopy(self._tree)

    def to_yaml(self) -> str:
        """Returns the experiment as YAML, which reads as the same keys and values."""
        return "\n".join(_yaml_lines(self._tree, "")) + "\n"

    def _files_left_behind(self, folder: Path) -> List[str]:
        """Texts that name a file from the folder of the experiment, and not from this one."""
        return [text for text in dict.fromkeys(_texts(self._tree))
                if ("/" in text or "." in text) and not os.path.isabs(text)
                and (self._folder / text).exists()
                and (self._folder / text).resolve() != (folder / text).resolve()]

    def save(self, path: PathLike) -> Path:
        """Writes the experiment as a YAML file.

        Raises Error if a file that it names would not be found from there.
        """
        path = Path(path)
        lost = self._files_left_behind(path.absolute().parent)
        if lost:
            raise Error(f"'{lost[0]}' is relative to {self._folder}, and would not be found "
                        f"from {path.absolute().parent}", file=str(path),
                        hint="Save the experiment in the folder where its paths begin, or "
                             "give absolute paths.")
        try:
            path.write_text(self.to_yaml(), encoding="utf-8")
        except OSError as why:
            raise Error(f"cannot write the file: {why.strerror}", file=str(path)) from None
        return path

    def validate(self) -> str:
        """Checks everything by the program, and returns what it says: trials, loads, what is
        not written and decides.  Raises Error if anything is wrong."""
        from .program import call_program, written

        with written(self) as path:
            said = call_program(["validate", str(path)]).stdout
            return said.replace(str(path), f"experiment {self.name}")

    def run(self, **options: Any) -> "Results":
        """Runs the experiment; options as of `clustersim.run`."""
        from . import run

        return run(self, **options)

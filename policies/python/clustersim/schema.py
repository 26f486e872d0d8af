# SPDX-License-Identifier: GPL-3.0-or-later
"""Keys of files against the JSON Schema that `clustersim schema` prints.

The schema is the only list of keys.  Here only keys are judged, so that a wrong one is told
with its place in the code that wrote it; values are judged by the program.
"""
from __future__ import annotations

import functools
import json
import os
import re
from typing import Any, Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple
from urllib.parse import unquote

from .errors import Error
from .table import nearest

__all__ = ["check_keys"]

_TYPES: Dict[str, Tuple[type, ...]] = {
    "object": (dict,), "array": (list,), "string": (str,), "number": (int, float),
    "integer": (int,), "boolean": (bool,), "null": (type(None),)}


class _Wrong(NamedTuple):
    """A key that is not known; `known` has those that are.  key None: the value is of a kind
    that this branch of the schema does not take."""
    path: Tuple[str, ...]
    key: Optional[str]
    known: Tuple[str, ...]


def _has_type(kinds: Any, value: Any) -> bool:
    for kind in [kinds] if isinstance(kinds, str) else kinds:
        if isinstance(value, bool):
            if kind == "boolean":
                return True
        elif isinstance(value, _TYPES[kind]):
            return True
    return False


class _Schema:
    def __init__(self, root: Mapping[str, Any]) -> None:
        self.root = root

    def _target(self, reference: str) -> Any:
        found: Any = self.root
        for step in reference[len("#/"):].split("/"):
            found = found[unquote(step)]
        return found

    def _matches_map(self, schema: Mapping[str, Any], value: Any) -> bool:
        if not isinstance(value, dict):
            return True
        known = schema.get("properties", {})
        if any(key not in value for key in schema.get("required", ())):
            return False
        if schema.get("additionalProperties", True) is False and set(value) - set(known):
            return False
        return all(self.matches(known[key], item) for key, item in value.items()
                   if key in known)

    def _matches_scalar(self, schema: Mapping[str, Any], value: Any) -> bool:
        if "const" in schema and schema["const"] != value:
            return False
        if "enum" in schema and value not in schema["enum"]:
            return False
        if "pattern" in schema and isinstance(value, str):
            return re.search(schema["pattern"], value) is not None
        return True

    def matches(self, schema: Any, value: Any) -> bool:
        """Is the value one that this part of the schema takes?  Ranges of numbers and lengths
        are not looked at."""
        if isinstance(schema, bool):
            return schema
        if "$ref" in schema and not self.matches(self._target(schema["$ref"]), value):
            return False
        if "type" in schema and not _has_type(schema["type"], value):
            return False
        if not self._matches_scalar(schema, value) or not self._matches_map(schema, value):
            return False
        if "items" in schema and isinstance(value, list) and \
                not all(self.matches(schema["items"], item) for item in value):
            return False
        if "contains" in schema and isinstance(value, list) and \
                not any(self.matches(schema["contains"], item) for item in value):
            return False
        if "not" in schema and self.matches(schema["not"], value):
            return False
        if not all(self.matches(part, value) for part in schema.get("allOf", ())):
            return False
        for branches in ("anyOf", "oneOf"):
            if branches in schema and \
                    not any(self.matches(part, value) for part in schema[branches]):
                return False
        return self.matches(self._branch(schema, value), value)

    def _branch(self, schema: Mapping[str, Any], value: Any) -> Any:
        if "if" not in schema:
            return True
        return schema.get("then" if self.matches(schema["if"], value) else "else", True)

    def wrong(self, schema: Any, value: Any, path: Tuple[str, ...]) -> List[_Wrong]:
        """Returns the keys in the value that this part of the schema does not know."""
        if isinstance(schema, bool):
            return []
        if isinstance(value, (dict, list)) and (
                not _has_type(schema.get("type", ("object", "array")), value)
                or "enum" in schema or "const" in schema):
            return [_Wrong(path, None, ())]
        found: List[_Wrong] = []
        if "$ref" in schema:
            found += self.wrong(self._target(schema["$ref"]), value, path)
        for part in [*schema.get("allOf", ()), self._branch(schema, value)]:
            found += self.wrong(part, value, path)
        for branches in ("anyOf", "oneOf"):
            if branches in schema:
                found += self._least(schema[branches], value, path)
        if isinstance(value, dict):
            found += self._wrong_in_map(schema, value, path)
        elif isinstance(value, list) and "items" in schema:
            for number, item in enumerate(value):
                found += self.wrong(schema["items"], item, path + (str(number),))
        return found

    def _least(self, branches: Sequence[Any], value: Any, path: Tuple[str, ...]) -> List[_Wrong]:
        """Of the branches the one that was probably meant: it takes the kind of value, and
        knows most of its keys."""
        tried = [self.wrong(branch, value, path) for branch in branches]
        return min(tried, key=lambda found: (any(w.key is None for w in found), len(found)))

    def _wrong_in_map(self, schema: Mapping[str, Any], value: Mapping[str, Any],
                      path: Tuple[str, ...]) -> List[_Wrong]:
        known = schema.get("properties", {})
        others = schema.get("additionalProperties", True)
        found: List[_Wrong] = []
        for key, item in value.items():
            if known.get(key, True) is False:
                found.append(_Wrong(path, None, ()))    # this branch is without the key
            elif key in known:
                found += self.wrong(known[key], item, path + (key,))
            elif others is False:
                found.append(_Wrong(path, key, tuple(known)))
            else:
                found += self.wrong(others, item, path + (key,))
        return found


@functools.lru_cache(maxsize=4)
def _load(program: str, changed_ns: int) -> _Schema:
    """The schema of a program, which is read again if the program was built anew."""
    from .program import call_program

    return _Schema(json.loads(call_program(["schema", "experiment"]).stdout))


def check_keys(tree: Mapping[str, Any]) -> None:
    """Raises Error, with the nearest spelling, if the program knows no such key there."""
    from .program import find_program

    program = find_program()
    schema = _load(program, os.stat(program).st_mtime_ns)
    errors: List[Error] = []
    seen = set()
    for wrong in schema.wrong(schema.root, dict(tree), ()):
        if wrong.key is None or (wrong.path, wrong.key) in seen:
            continue
        seen.add((wrong.path, wrong.key))
        place = ".".join(wrong.path)
        near = nearest(wrong.key, wrong.known)
        hint = f"Did you mean '{near}'?" if near else \
            "There are: " + ", ".join(wrong.known) + "."
        errors.append(Error(f"key '{wrong.key}' is not known in '{place or 'experiment'}'",
                            key=".".join(wrong.path + (wrong.key,)), hint=hint))
    if errors:
        errors[0].others = errors[1:]
        raise errors[0]

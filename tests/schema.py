# SPDX-License-Identifier: GPL-3.0-or-later
"""Judges YAML files by `clustersim schema` with a stock validator.

    schema.py SCHEMA.json FILE.yaml...

Prints "ok FILE" or "no FILE PLACE: why" for each; python3-jsonschema and
python3-yaml of the distribution do the work.  YAML is read as version 1.2 has
it and as clustersim reads it: `on` and `yes` are words, 1e3 is a number.
"""
import json
import re
import sys

import jsonschema
import yaml


class Loader(yaml.SafeLoader):
    pass


Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in [
        ("bool", r"^(?:true|false)$", "tf"),
        ("null", r"^(?:~|null|)$", ["~", "n", ""]),
        ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
        ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?$",
         "-+.0123456789")]:
    Loader.add_implicit_resolver("tag:yaml.org,2002:" + tag,
                                 re.compile(pattern), list(first))
Loader.add_constructor("tag:yaml.org,2002:int",
                       lambda loader, node: int(node.value))
Loader.add_constructor("tag:yaml.org,2002:float",
                       lambda loader, node: float(node.value))


def as_json(value):
    """Keys of JSON are texts."""
    if isinstance(value, dict):
        return {("%s" % key if not isinstance(key, bool) else str(key).lower()):
                as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        schema = json.load(file)
    jsonschema.Draft7Validator.check_schema(schema)
    validator = jsonschema.Draft7Validator(schema)
    for path in sys.argv[2:]:
        try:
            with open(path, encoding="utf-8") as file:
                tree = as_json(yaml.load(file, Loader=Loader))
        except (yaml.YAMLError, UnicodeError) as fault:
            print("no %s not YAML: %s" % (path, str(fault).split("\n")[0]))
            continue
        fault = jsonschema.exceptions.best_match(validator.iter_errors(tree))
        if fault is None:
            print("ok %s" % path)
        else:
            place = ".".join(str(step) for step in fault.absolute_path)
            print("no %s %s: %s" % (path, place, fault.message[:150]))


main()

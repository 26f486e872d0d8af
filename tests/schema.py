# SPDX-License-Identifier: GPL-3.0-or-later
"""What `clustersim schema` says of files, against what `validate` says.

    schema.py BUILD

A stock validator (python3-jsonschema) judges every YAML file of the tree by
the schema of all files and by that of its kind, and each wrong file of
tests/bad.  `validate` must say the same of each.  What a schema cannot know
is listed below with the reason; everything else that `validate` refuses must
be refused.  Keys that nobody knows are put into each map of some files: they
must be refused wherever the reader would refuse them.  Prints "ok" or "no"
and why, a line for each.
"""
import copy
import glob
import json
import re
import subprocess
import sys

import jsonschema
import yaml

PROGRAM = sys.argv[1] + "/clustersim"

# What `validate` says of files that a schema may accept, and why it may.
BEYOND = [
    (r": file error: ", "files are not looked at"),
    (r": syntax error: ", "the text as such: tabs, keys given twice, anchors"),
    (r": policy error: ", "what comes in a run"),
    (r"'[^']+' must be from .*found '[^']*[a-zA-Z%]'",
     "ranges of quantities with units"),
    (r"'[^']+' must be at least .*found '[^']*[a-zA-Z%]'",
     "ranges of quantities with units"),
    (r"must be below 292 years", "ranges of quantities with units"),
    (r": range error: (?!')", "sums, and values against other values"),
    (r"is given twice", "maps of JSON have no key twice"),
    (r"not among the (policies|options)", "names that the file itself gives"),
    (r"no point of the sweep", "names that the file itself gives"),
    (r"(which no expectation has|no point is left for claim|no point at which)",
     "names that the file itself gives"),
    (r"(option '[^']+' (changes nothing|sets keys of)|no option runs the policy)",
     "what other places of the file say"),
    (r"the first option, .* must name its policy", "what other places of the file say"),
    (r"of set (changes nothing|replaces|names the policy)|set changes the jobs",
     "what other places of the file say"),
    (r"two (options|policies|groups of nodes|points of the sweep|entries of mix)",
     "names that the file itself gives"),
    (r"is given to two groups", "names that the file itself gives"),
    (r"(wants pool|no pool and no GPU type)", "names that the cluster gives"),
    (r"(sweep must not rename|path '[^']+': )", "values of a sweep"),
    (r"(with changes the jobs|of with (changes nothing|replaces)|is without "
     r"effect: ')", "what other places of the file say"),
    (r"must be one that can be better|there are no nodes '|tuned is without effect|"
     r"a choice of .* must be a map of dotted keys|names no policy of the",
     "what other places say"),
    (r"control colocated changes no job", "what other places of the file say"),
    (r"cannot (change while a trial|begin while jobs) run|cannot take over jobs of which|"
     r"then changes nothing", "what the two policies of `then` can do"),
    (r"asks for no weights", "what another policy's table says"),
    (r"weights of policy \S+ lack the key|weights of .* must be a list of|knows no weight '",
     "what weights a policy declares"),
    (r"of policy \S+ (must be GPUs or a share|names a tenant twice|must name at most)",
     "a text that names tenants, with GPUs of each"),
    (r"no other point has", "names that the file itself gives"),
    (r"must have two percentages or two numbers", "values of one kind"),
    (r"the file has no column|names column .* does not have",
     "files are not looked at"),
    (r"needs the key '", "entries of the catalogue that files together give"),
    (r"must (have both experts|all be above 0)",
     "keys that are given by several files together"),
    (r"wan leads to the shared storage", "a key of a list and one beside it"),
    (r"requests of .* have neither output nor trace",
     "what a model of the catalogue is"),
    (r"does nothing here with policy", "what another key of the entry says"),
    (r"does nothing here: it needs `prefix_cache` where", "what another key of the map says"),
    (r"does nothing here: it needs `scale: ", "what another key of the map says"),
    (r"does nothing here: it needs `on: ", "what another key of the map says"),
    (r"does nothing here: it needs `min` below", "what another key of the map says"),
    (r"does nothing here: it needs nodes of known power whose price", "prices of a catalogue"),
    (r"does nothing here: it needs nodes (that fail and are not rented|with GPUs)",
     "what the nodes of the cluster are"),
    (r"has no meaning for recipe [a-z]+: it reads texts", "what another key of the entry says"),
    (r"gpu_type has no meaning for format", "what another key of the trace says"),
    (r"key cost says nothing of jobs of more than", "that a map ends with `more`"),
    (r"noise [0-9]+ must have as many", "lengths of two lists"),
    (r"'[a-z]+' of '[^']+' names no", "names that files together give"),
]
# Files at whose fault the message alone does not tell.
BEYOND_FILES = {
    "experiment_seeds_decided": "two places: seeds and expect",
    "experiment_with_unknown": "values of another place of the tree",
    "experiment_tables_self": "files are not looked at",
    "experiment_then_file": "where a policy may come from a file",
    "experiment_then_name": "names that plug-ins may have",
    "experiment_then_tick": "two places: the entry and `then`",
    "experiment_sweep_bad_value": "values of a sweep",
    "experiment_sweep_policy_key": "values of a sweep",
    "experiment_sweep_unknown_key": "values of a sweep",
}
# Maps whose keys are the user's own words, or are not judged; beside them the
# choices of tune.over and the values of `with`, which belong to other places.
FREE = {"rates", "packing", "choice", "hyperexponential", "weights", "sources",
        "gpus", "cpus", "links", "prices", "llms", "nets", "applications", "instances",
        "speeds", "noise", "params"}


class Loader(yaml.SafeLoader):
    """YAML 1.2, as clustersim and editors read it: on and yes are words."""


Loader.yaml_implicit_resolvers = {}
for tag, pattern, first in [
        ("bool", r"^(?:true|false)$", "tf"),
        ("null", r"^(?:~|null|)$", ["~", "n", ""]),
        ("int", r"^[-+]?[0-9]+$", "-+0123456789"),
        ("float", r"^[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)"
                  r"(?:[eE][-+]?[0-9]+)?$", "-+.0123456789")]:
    Loader.add_implicit_resolver("tag:yaml.org,2002:" + tag,
                                 re.compile(pattern), list(first))
Loader.add_constructor("tag:yaml.org,2002:int",
                       lambda loader, node: int(node.value))
Loader.add_constructor("tag:yaml.org,2002:float",
                       lambda loader, node: float(node.value))


def as_json(value):
    """Keys of JSON are texts."""
    if isinstance(value, dict):
        return {str(key).lower() if isinstance(key, bool) else str(key):
                as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    return value


def load(path):
    with open(path, encoding="utf-8") as file:
        return as_json(yaml.load(file, Loader=Loader))


def schema_of(*kind):
    text = subprocess.run([PROGRAM, "schema", *kind], check=True,
                          capture_output=True).stdout
    schema = json.loads(text)
    jsonschema.Draft7Validator.check_schema(schema)
    return jsonschema.Draft7Validator(schema)


def why(validator, tree):
    """None: it is accepted."""
    fault = jsonschema.exceptions.best_match(validator.iter_errors(tree))
    if fault is None:
        return None
    place = ".".join(str(step) for step in fault.absolute_path)
    return "%s: %s" % (place, fault.message[:120])


def validate(path):
    """The first error, or None."""
    run = subprocess.run([PROGRAM, "validate", path], capture_output=True,
                         text=True, check=False)
    return None if run.returncode == 0 else run.stderr.split("\n")[0]


def kind_of(tree):
    if "experiment" in tree or "policies" in tree:
        return "experiment"
    if "advise" in tree:
        return "advise"
    if "nodes" in tree or "cluster" in tree:
        return "cluster"
    if {"gpus", "cpus", "links", "prices", "llms", "nets",
            "applications", "instances"} & set(tree):
        return "catalogue"
    return "weights" if "weights" in tree else "workload"


def say(good, text):
    print("%s %s" % ("ok" if good else "no", text))


def judge_shipped(whole, by_kind):
    files = sorted(path for folder in
                   ["experiments", "models", "workloads", "policies",
                    "tests/experiments", "tests/golden"]
                   for path in glob.glob(folder + "/**/*.yaml",
                                         recursive=True))
    for path in files:
        tree = load(path)
        for name, validator in [("any", whole),
                                (kind_of(tree), by_kind[kind_of(tree)])]:
            fault = why(validator, tree)
            say(fault is None, "%s by the schema of %s: %s" %
                (path, name, fault or "accepted"))
    return files


def may_accept(path, said):
    name = re.sub(r".*/|[.]yaml$", "", path)
    if name in BEYOND_FILES or not said.startswith(path):
        return True             # the fault stands in another file
    return any(re.search(pattern, said) for pattern, _ in BEYOND)


def judge_bad(whole):
    refused = 0
    for path in sorted(glob.glob("tests/bad/*.yaml")):
        if "/conf_" in path:
            continue            # of no kind of file
        said = validate(path)
        try:
            fault = why(whole, load(path))
        except (yaml.YAMLError, UnicodeError):
            continue
        refused += fault is not None
        if said is None:
            say(fault is None, "%s is right: %s" % (path, fault))
        elif fault is None:
            say(may_accept(path, said), "%s accepted, but: %s" % (path, said))
        else:
            say(True, "%s refused: %s" % (path, fault))
    say(refused >= 120, "%d wrong files are refused" % refused)


def maps_of(tree, path=()):
    """Paths of all maps whose keys are ours."""
    if isinstance(tree, dict):
        if not (path and (path[-1] in FREE or path[0] == "sweep" or
                          path[:2] == ("tune", "over") and len(path) >= 4 or
                          "with" in path[:-1] or "set" in path[:-1])):
            yield path
        for key, item in tree.items():
            yield from maps_of(item, path + (key,))
    elif isinstance(tree, list):
        for i, item in enumerate(tree):
            yield from maps_of(item, path + (i,))


def judge_keys(whole, files):
    """A key that nobody knows is refused at any depth."""
    for path in files:
        tree = load(path)
        if kind_of(tree) in ("catalogue", "weights"):
            continue
        accepted = []
        maps = list(maps_of(tree))
        for place in maps:
            changed = copy.deepcopy(tree)
            at = changed
            for step in place:
                at = at[step]
            at["zzz"] = 1
            if whole.is_valid(changed):
                accepted.append(place)
        say(not accepted, "%s: a wrong key in each of %d maps: %s" %
            (path, len(maps), accepted or "refused"))


def main():
    whole = schema_of()
    by_kind = {kind: schema_of(kind) for kind in
               ["experiment", "advise", "cluster", "workload", "catalogue",
                "weights"]}
    files = judge_shipped(whole, by_kind)
    judge_bad(whole)
    judge_keys(whole, files)


main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""The program `clustersim`, run as a process of its own.

`find_program` says which file it is; `call_program` runs a command and raises `Error` where
the program says that something is wrong; `run_program` runs an experiment and loads its
results.
"""
from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Iterator, List, Mapping, Optional, Sequence, Union

from .errors import Error, raise_messages
from .results import Results, load

if TYPE_CHECKING:
    from .experiment import Experiment

__all__ = ["find_program", "call_program", "read_yaml", "run_program"]

PathLike = Union[str, "os.PathLike[str]"]
# A name, a path to a .c or .so file, or a map with the keys of the policy.
PolicyLike = Union[str, Mapping[str, Any]]

_PACKED = Path(__file__).parent / "bin" / "clustersim"
_FAILED_TRIALS = 5


def find_program() -> str:
    """Returns the path of the program: $CLUSTERSIM, else the one that the wheel carries,
    else the one on PATH, else build/clustersim of the checkout that this package lies in.
    """
    named = os.environ.get("CLUSTERSIM")
    if named:
        found = shutil.which(named)
        if found is None:
            raise Error(f"CLUSTERSIM is '{named}', which is no program that can be run",
                        hint="Set it to the path of the program clustersim, or unset it.")
        return found
    if os.access(_PACKED, os.X_OK):
        return str(_PACKED)
    found = shutil.which("clustersim")
    if found is not None:
        return found
    built = Path(__file__).resolve().parents[3] / "build" / "clustersim"
    if os.access(built, os.X_OK):
        return str(built)
    raise Error("the program clustersim is not found: not in $CLUSTERSIM, in this package, on "
                "PATH or in build/ of a checkout",
                hint="Build it with `make`, then set CLUSTERSIM to the path of "
                     "build/clustersim.")


def main() -> None:
    """The command `clustersim`: becomes the program that the wheel carries."""
    try:
        found = find_program()
        if os.path.realpath(found) == os.path.realpath(sys.argv[0]):
            raise Error("this package carries no program: set CLUSTERSIM to the path of one")
    except Error as error:
        raise SystemExit(str(error)) from None
    os.execv(found, ["clustersim", *sys.argv[1:]])


def call_program(words: Sequence[str], *, folder: Optional[PathLike] = None,
                 accept: Sequence[int] = (0,)) -> "subprocess.CompletedProcess[str]":
    """Runs `clustersim WORDS...` in `folder` (the current one if None).

    Raises Error with place and hint if the exit status is not one of `accept`.
    """
    command = [find_program(), *words]
    done = subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    if done.returncode not in accept:
        raise_messages(done.stderr, done.returncode,
                       f"clustersim {words[0]} ended with status {done.returncode}")
    return done


def read_yaml(path: PathLike) -> Any:
    """Returns what an experiment, cluster or workload file says, checked by the program.

    Maps are dicts, lists are lists; numbers, true, false and null have their Python types,
    values with units are texts.
    """
    return json.loads(call_program(["validate", "--json", os.fspath(path)]).stdout)


def _entry_name(entry: PolicyLike) -> str:
    if isinstance(entry, str):
        return entry
    return str(entry.get("name", entry.get("policy", "")))


def _check_policy(entry: Any) -> None:
    if isinstance(entry, (str, os.PathLike)) or isinstance(entry, Mapping):
        return
    raise Error(f"a policy must be a name, a path or a dict, found {type(entry).__name__}",
                key="policies",
                hint="Policies in Python need the compiled part of the package: "
                     "use clustersim.run.")


def _is_path(policy: str) -> bool:
    return "/" in policy or policy.endswith((".c", ".so"))


def _resolve(entry: PolicyLike) -> PolicyLike:
    """Returns the entry with a path that is relative to the current folder made absolute."""
    if isinstance(entry, str):
        return os.path.abspath(entry) if _is_path(entry) else entry
    policy = entry.get("policy")
    if isinstance(policy, str) and _is_path(policy):
        return {**entry, "policy": os.path.abspath(policy)}
    return dict(entry)


def _choose(policies: Any, given: Sequence[PolicyLike]) -> List[PolicyLike]:
    """Returns the entries of `policies:` to run.  A name that the experiment has stands for
    the entry of the experiment.
    """
    if isinstance(policies, (str, os.PathLike, Mapping)):
        policies = [policies]
    known = {_entry_name(entry): entry for entry in given}
    chosen: List[PolicyLike] = []
    for entry in policies:
        _check_policy(entry)
        if isinstance(entry, os.PathLike):
            entry = os.fspath(entry)
        kept = known.get(entry) if isinstance(entry, str) else None
        chosen.append(_resolve(entry) if kept is None else kept)
    return chosen


def _write_beside(folder: Path, name: str, text: str) -> Path:
    """Writes the experiment where its relative paths hold, under a name that nobody has."""
    for number in range(1, 1000):
        path = folder / (f".{name}.yaml" if number == 1 else f".{name}-{number}.yaml")
        try:
            with open(path, "x", encoding="utf-8") as file:
                file.write(text)
            return path
        except FileExistsError:
            continue
        except OSError as why:
            raise Error(f"an experiment must be written to its folder to be run: {why.strerror}",
                        file=str(folder),
                        hint="Give the experiment a folder that can be written to.") from None
    raise Error(f"there are 1000 files .{name}-N.yaml", file=str(folder),
                hint="Remove those that interrupted runs left.")


@contextlib.contextmanager
def written(experiment: "Experiment") -> Iterator[Path]:
    """The experiment as a file beside the files that it names, for as long as the block.

    In errors the experiment stands for that file.
    """
    path = _write_beside(experiment.folder, experiment.name, experiment.to_yaml())
    try:
        yield path
    except Error as error:
        for each in [error, *error.others]:
            if each.file == str(path):
                each.file = f"experiment {experiment.name}"
        raise
    finally:
        path.unlink()


def _finish(done: "subprocess.CompletedProcess[str]", folder: Path) -> Results:
    if done.returncode == _FAILED_TRIALS and "failures.csv lists them" not in done.stderr:
        # No trial was run, and what lies in the folder is of another run.
        raise_messages(done.stderr, done.returncode, "the run failed")
    if done.stderr and done.returncode == 0:
        sys.stderr.write(done.stderr)
    results = load(folder)
    results.status = done.returncode
    return results


def run_program(experiment: Union[PathLike, "Experiment"], *, seeds: Optional[int] = None,
                policies: Optional[Sequence[PolicyLike]] = None,
                threads: Optional[int] = None, out: Optional[PathLike] = None,
                settings: Optional[Mapping[str, Any]] = None) -> Results:
    """Runs an experiment by the program and returns its results.

    experiment: path of a YAML file, or an `Experiment`
    seeds: replicas of each point and policy, instead of those of the experiment
    policies: names, paths of .c or .so files, or dicts, instead of the experiment's; a name
        of a policy of the experiment stands for that policy with its keys
    threads: how many trials run at once; None: one per processor.  Results do not depend on it
    out: folder of the results; None: that of the experiment, else out/NAME below the
        current folder
    settings: {"workload.arrival.rate": "4/h"}: keys that are replaced before the run

    Trials that fail do not raise: `Results.failures` lists them, `Results.status` is 5.
    """
    from .experiment import Experiment, set_words

    tail: List[str] = []
    if seeds is not None:
        tail += ["--seeds", str(seeds)]
    if threads is not None:
        tail += ["--threads", str(threads)]
    for word in set_words(settings):
        tail += ["--set", word]
    if isinstance(experiment, Experiment):
        whole: Optional[Experiment] = experiment
        path, tree = experiment.folder / "experiment", experiment.to_dict()
    else:
        whole, path, tree = None, Path(experiment), read_yaml(experiment)
    if policies is not None:
        chosen = _choose(policies, tree["policies"])
        if all(entry in tree["policies"] for entry in chosen):
            tail += ["--only", ",".join(map(_entry_name, chosen))]
        else:
            tree["policies"] = chosen
            whole = Experiment(tree, folder=path.parent)
    if whole is None:
        return _run_file(path, tail, _folder_of(path, tree, out, settings or {}))
    with written(whole) as path:
        return _run_file(path, tail, _folder_of(path, tree, out, settings or {}))


def _run_file(path: Path, options: Sequence[str], folder: Path) -> Results:
    words = ["run", os.fspath(path), *options, "--output", str(folder), "--quiet"]
    return _finish(call_program(words, accept=(0, _FAILED_TRIALS)), folder)


def _folder_of(path: Path, tree: Mapping[str, Any], out: Optional[PathLike],
               settings: Mapping[str, Any]) -> Path:
    """Returns where results go: `out`, output.dir, or out/NAME, as the program chooses it."""
    output = tree.get("output")
    if out is not None or "output.dir" in settings:
        return Path(out if out is not None else settings["output.dir"])
    if isinstance(output, Mapping) and output.get("dir") is not None:
        return path.parent / str(output["dir"])
    return Path("out") / str(settings.get("experiment", tree["experiment"]))

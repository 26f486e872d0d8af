# SPDX-License-Identifier: GPL-3.0-or-later
"""Commands of setuptools that make the wheel carry the program (see pyproject.toml), and the
client for policies that are programs.

The program is that of $CLUSTERSIM, else build/clustersim of the checkout, which make builds
if it is not there.  A source distribution carries the sources of the checkout as tree/.
"""
import os
import shutil
import subprocess
from pathlib import Path

from setuptools.command.build_py import build_py
from setuptools.command.sdist import sdist

try:
    from setuptools.command.bdist_wheel import bdist_wheel
except ImportError:
    try:
        from wheel.bdist_wheel import bdist_wheel
    except ImportError:
        raise SystemExit("clustersim: this setuptools builds no wheels: pip install wheel, or "
                         "setuptools 70.1 or later") from None

HERE = Path(__file__).resolve().parent
SOURCES = ["Makefile", "LICENSE", "sim", "models", "policies", "workloads", "experiments",
           "plots", "tests/bench", "tests/oracles"]


def find_checkout():
    """The folder with the C sources."""
    for folder in (HERE.parent.parent, HERE / "tree"):
        if (folder / "Makefile").is_file() and (folder / "sim").is_dir():
            return folder
    raise SystemExit("clustersim: neither a checkout nor a source distribution is here: set "
                     "CLUSTERSIM to the path of the program")


def build_program():
    """The path of the program."""
    named = os.environ.get("CLUSTERSIM")
    if named:
        found = shutil.which(named)
        if found is None:
            raise SystemExit(f"clustersim: CLUSTERSIM is '{named}', which is no program")
        return found
    root = find_checkout()
    built = root / "build" / "clustersim"
    if not built.is_file():
        subprocess.run(["make", "--no-print-directory", "-j2", "build/clustersim"], cwd=root,
                       check=True)
    return str(built)


def find_client():
    """The client for policies that are programs, which needs nothing of this package."""
    build = os.environ.get("CLUSTERSIM_BUILD")
    folders = [*Path(build).resolve().parents] if build else []
    for folder in [*folders, HERE.parent.parent, HERE / "tree"]:
        client = folder / "policies" / "clients" / "python" / "clustersim_client.py"
        if client.is_file():
            return client
    return None


class BuildWithProgram(build_py):
    editable_mode = False       # older versions of setuptools do not set it

    def run(self):
        super().run()
        if self.editable_mode:
            return              # find_program() knows build/ of the checkout
        target = Path(self.build_lib) / "clustersim" / "bin"
        target.mkdir(parents=True, exist_ok=True)
        shutil.copy2(build_program(), target / "clustersim")
        client = find_client()
        if client is not None:
            shutil.copy2(client, self.build_lib)


def skip_of_tree(folder, names):
    """What a source distribution needs not: this folder, which it has beside tree/."""
    if Path(folder).name == "policies":
        return ["python"]
    return [name for name in names if name in ("__pycache__", "out")]


class SourcesWithTree(sdist):
    def make_release_tree(self, base_dir, files):
        super().make_release_tree(base_dir, files)
        shutil.copy2(HERE / "carry.py", base_dir)
        root = find_checkout()
        for name in SOURCES:
            source, target = root / name, Path(base_dir) / "tree" / name
            target.parent.mkdir(parents=True, exist_ok=True)
            if source.is_dir():
                shutil.copytree(source, target, ignore=skip_of_tree)
            else:
                shutil.copy2(source, target)


class WheelOfOneMachine(bdist_wheel):
    def finalize_options(self):
        # A compiled program is in it: then files go where those of one machine go.
        self.distribution.has_ext_modules = lambda: True
        super().finalize_options()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the extension module; all else stands in pyproject.toml.

It links libclustersim.a, so that a wheel carries the library: that of $CLUSTERSIM_BUILD, a
build folder of a checkout, else of build/ in the checkout around this folder, or in tree/ of a
source distribution, where make builds it if it is not there.  Without any of them it links the
installed library, as pkg-config knows it.
"""
import os
import subprocess
from pathlib import Path

from setuptools import Extension, setup

HERE = Path(__file__).resolve().parent
SOURCES = ["core.c", "deal.c", "env.c", "host.c", "ids.c", "objects.c", "policy.c", "want.c"]


def pkg_config(*words):
    return subprocess.run(["pkg-config", *words], check=True, encoding="utf-8",
                          stdout=subprocess.PIPE).stdout.split()


def find_build():
    """The build folder with the library, and its checkout; None: there is no checkout."""
    named = os.environ.get("CLUSTERSIM_BUILD")
    folders = [Path(named).resolve()] if named else [HERE.parent.parent / "build",
                                                     HERE / "tree" / "build"]
    for build in folders:
        for root in build.parents:
            if (root / "policies" / "policy.h").is_file():
                return build, root
    if named:
        raise SystemExit(f"CLUSTERSIM_BUILD is '{named}', which is no folder of a checkout")
    return None


def of_checkout(build, root):
    """Words for the compiler and the linker, with the library of a checkout."""
    library = build / "libclustersim.a"
    if not library.is_file():
        subprocess.run(["make", "--no-print-directory", "-j2", f"B={build}", str(library)],
                       cwd=root, check=True)
    link = pkg_config("--libs", "gsl", "yaml-0.1", "zlib", "libzstd", "libelf", "libarchive")
    return ([f"-I{root}", "-DCLUSTERSIM_CHECKOUT"],
            ["-Wl,--whole-archive", str(library), "-Wl,--no-whole-archive", *link, "-lglpk",
             "-lxxhash", "-lm", "-pthread"], [str(library)])


def installed():
    return pkg_config("--cflags", "clustersim"), pkg_config("--libs", "clustersim"), []


found = find_build()
compile_words, link_words, depends = installed() if found is None else of_checkout(*found)

setup(include_package_data=False, ext_modules=[Extension(
    "clustersim._core",
    sources=[f"core/{name}" for name in SOURCES],
    depends=depends + [f"core/{name}" for name in
                       ("core.h", "objects.h", "want.h", "exports.map")],
    extra_compile_args=["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra",
                        "-Wno-missing-field-initializers", "-Wno-unused-parameter",
                        *compile_words],
    extra_link_args=[f"-Wl,--version-script={HERE / 'core' / 'exports.map'}",
                     "-Wl,-Bsymbolic-functions", *link_words],
)])

# SPDX-License-Identifier: GPL-3.0-or-later
"""Builds the extension module; all else stands in pyproject.toml.

In a checkout it links build/libclustersim.a ($CLUSTERSIM_BUILD names another folder than
build), so that a wheel carries the library.  Elsewhere it links the installed library, as
pkg-config knows it.
"""
import os
import subprocess
from pathlib import Path

from setuptools import Extension, setup

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGE = HERE / "clustersim"
SOURCES = ["_core.c", "_host.c", "_objects.c", "_policy.c", "_want.c"]


def pkg_config(*words):
    return subprocess.run(["pkg-config", *words], check=True, encoding="utf-8",
                          stdout=subprocess.PIPE).stdout.split()


def of_checkout():
    """Words for the compiler and the linker, with the library of this checkout."""
    build = Path(os.environ.get("CLUSTERSIM_BUILD", ROOT / "build")).resolve()
    library = build / "libclustersim.a"
    if not library.is_file():
        raise SystemExit(f"{library} is not there: run make in {ROOT} first")
    link = pkg_config("--libs", "gsl", "yaml-0.1", "zlib", "libelf")
    return ([f"-I{ROOT}", "-DCLUSTERSIM_CHECKOUT"],
            ["-Wl,--whole-archive", str(library), "-Wl,--no-whole-archive", *link, "-lglpk",
             "-lxxhash", "-lm", "-pthread"], [str(library)])


def installed():
    return pkg_config("--cflags", "clustersim"), pkg_config("--libs", "clustersim"), []


compile_words, link_words, depends = (
    of_checkout() if (ROOT / "policies" / "policy.h").is_file() else installed())

setup(ext_modules=[Extension(
    "clustersim._core",
    sources=[f"clustersim/{name}" for name in SOURCES],
    depends=depends + [f"clustersim/{name}" for name in ("_core.h", "_objects.h", "_want.h")],
    extra_compile_args=["-std=c11", "-D_POSIX_C_SOURCE=200809L", "-Wall", "-Wextra",
                        "-Wno-missing-field-initializers", "-Wno-unused-parameter",
                        *compile_words],
    extra_link_args=[f"-Wl,--version-script={PACKAGE / '_core.map'}",
                     "-Wl,-Bsymbolic-functions", *link_words],
)])

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# version.sh - the rule of experiments/CHANGES.md: VERSION of the Makefile is the last
# release, and so say CITATION.cff and the Python package.  CHANGES begins with that version,
# or with a later one that is "not yet released" and then that version.

# Lines "FILE VERSION", of all but CHANGES.
versions() {
    sed -n 's/^VERSION *= */Makefile /p' Makefile 2>/dev/null
    files '^(experiments|policies)/(.*/)?(CITATION\.cff|pyproject\.toml|__init__\.py)$' |
        while read -r f; do
            sed -n 's/^version: \([0-9].*\)/\1/p; s/^\(__version__\|version\) = "\(.*\)"/\2/p' \
                "$f" | sed "s|^|$f |"
        done
}

check() {
    last=$(versions | sed -n 's/^Makefile //p')
    versions | while read -r file version; do
        [ "$version" = "$last" ] || echo "$file: version $version, and the Makefile has $last"
    done
    files '^experiments/(.*/)?CHANGES\.md$' | while read -r f; do
        set -- $(sed -n 's/^## \([0-9.]*\), not yet released$/\1 next/p; s/^## \([0-9.]*\)$/\1/p' \
            "$f" | head -n 2)
        [ "${2:-}" != next ] || {
            newest=$(printf '%s\n' "$1" "$last" | sort -V | tail -n 1)
            [ "$1" != "$last" ] && [ "$newest" = "$1" ] ||
                echo "$f: $1 is not after $last"
            set -- "${3:-none}"
        }
        [ "${1:-none}" = "$last" ] ||
            echo "$f: the last release is ${1:-none} there, and $last in the Makefile"
    done
}

tree() { # MAKEFILE CITATION CHANGES
    put Makefile "VERSION = $1"
    put experiments/CITATION.cff "version: $2"
    printf '%b\n' "$3" >changes.txt
    put experiments/CHANGES.md "$(cat changes.txt)"
}
bad_1() { tree 0.1.0 0.2.0 '## 0.1.0'; }
bad_2() { tree 0.1.0 0.1.0 '## 0.2.0'; }
bad_3() { tree 0.1.0 0.1.0 '## 0.1.0, not yet released\n## 0.1.0'; }
bad_4() { tree 0.3.0 0.3.0 '## 0.4.0, not yet released\n## 0.2.0'; }
bad_5() { tree 0.10.0 0.10.0 '## 0.9.0, not yet released\n## 0.10.0'; }
bad_6() { tree 0.1.0 0.1.0 '## 0.1.0'; put policies/a/pyproject.toml 'version = "0.2.0"'; }
bad_7() { tree 0.1.0 0.1.0 '## 0.1.0'; put policies/a/__init__.py '__version__ = "0.2.0"'; }
good() { tree 0.9.0 0.9.0 '## 0.10.0, not yet released\n- x\n## 0.9.0'; }
. "$(dirname "$0")/gate.sh"

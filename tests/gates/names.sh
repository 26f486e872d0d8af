#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# names.sh - files are named in lower case with underscores (experiments of
# claims, and what turns them, begin with the claim, as in A1_cores.yaml; files of the Python
# package may begin with underscores; CITATION.cff has the name that others look for), and the
# top level holds the Makefile, the README, the licence, the seven folders and dot-files.

check() {
    files . | grep -vE '^\.' | awk -F / '
    NF == 1 && !/^(Makefile|README\.md|LICENSE)$/ {
        print $0 ": not at the top level"
    }
    NF > 1 && !/^(sim|models|policies|workloads|experiments|plots|tests)\// {
        print $0 ": no such folder"
    }
    /^experiments\/claims\/(turns\/)?[A-E][1-9][0-9]?_/ { $NF = tolower($NF) }
    /^policies\/python\/clustersim\/_/ { sub(/^_+/, "", $NF) }
    NF > 1 && !/\/((README(\.zh)?|CHANGES|PROTOCOL)\.md|CITATION\.cff|Dockerfile)$/ &&
        $NF !~ /^[a-z0-9][a-z0-9_]*(\.[a-z0-9]+)*$/ {
        print $0 ": name"
    }'
}

bad_1() { put TODO.md; }
bad_2() { put src/a.c; }
bad_3() { put sim/MyFile.c; }
bad_5() { put experiments/A1_x.yaml; }
bad_4() { put sim/my-file.c; }
bad_6() { put sim/_a.c; }
good() {
    put Makefile; put sim/README.md; put sim/CHANGES.md; put sim/CITATION.cff
    put workloads/a_b2.csv.gz; put .ci/run
    put experiments/ci/Dockerfile
    put experiments/claims/A1_x.yaml; put experiments/claims/E10_x.yaml
    put experiments/claims/turns/A1_x.csv; put sim/a.c
    put policies/python/clustersim/__init__.py; put policies/python/clustersim/_core.c
}
. "$(dirname "$0")/gate.sh"

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# validate.sh - published measurements, predicted: `validate.sh BUILD [DATA]`.
# Those of models/validation always, and those of the folder DATA if it is
# there (../shared/calibration unless said).  Charts go to BUILD/validate.
set -eu
cd "$(dirname "$0")/.."

build=$1
data=${2:-../shared/calibration}
for folder in models/validation "$data"; do
    [ -d "$folder" ] || continue
    echo "== $folder"
    "$build/clustersim" calibrate --data "$folder" \
        --plots "$build/validate/$(basename "$folder")"
done

#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# adding.sh - the manual's steps to add a metric, trace format, recipe, figure,
# policy, GPU, CPU, link, price and instance are enough.  `adding.sh BUILD` carries out in a
# copy of the tree what the READMEs show, and nothing else, builds it from BUILD's
# objects, and looks for each new thing where users meet it.  A block of a README
# is a step if its first line, a comment, says
#
#   file: PATH                  a new file
#   add to: PATH                goes to the end of that file
#   add to: FUNCTION of PATH    goes to the end of that function
set -eu
cd "$(dirname "$0")/.."
. tests/count.sh

build=$(cd "$1" && pwd)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" "$count_file"' EXIT
tree=$scratch/tree
MANUALS='experiments/columns/README.md workloads/formats/README.md
workloads/recipes/README.md plots/README.md policies/README.md
models/catalogue/README.md'

# Lines "MANUAL VERB PATH TEXT FUNCTION" of all steps; their texts in files.
steps() {
    # shellcheck disable=SC2086 # our file names hold no blanks
    awk -v dir="$scratch" '
    /^```/ { if (text) close(text); text = ""; first = $0 != "```"; next }
    first {
        first = 0
        if (match($0, /file: (plots|policies|workloads|experiments)\/[^ ]*\.(c|gp)/)) {
            path = substr($0, RSTART + 6, RLENGTH - 6); verb = "file"; of = "-"
        } else if (match($0, /add to: ([a-z_0-9]+ of )?[a-z_0-9\/.]+/)) {
            n = split(substr($0, RSTART + 8, RLENGTH - 8), word, " ")
            path = word[n]; verb = "add"; of = n > 1 ? word[1] : "-"
        } else next
        text = dir "/step." ++count
        print FILENAME, verb, path, text, of
        next
    }
    text { print >text }' $MANUALS
}

# Puts file $1 into file $2: at the end of function $3, or at its end.
insert() {
    if [ "$3" = - ]; then
        case $2 in *.yaml) echo >>"$2" ;; esac
        cat "$1" >>"$2"
        return
    fi
    awk -v added="$1" -v name="$3" '
        $0 ~ "^[a-z].*[ *]" name "\\(" { inside = 1 }
        inside && /^}/ {
            while ((getline line < added) > 0) print line
            inside = 0; done = 1
        }
        { print }
        END { exit !done }' "$2" >"$scratch/edited"
    cp "$scratch/edited" "$2"
}

follow() {
    steps >"$scratch/steps"
    while read -r manual verb path text of; do
        if [ "$verb" = file ]; then
            [ ! -e "$tree/$path" ] || failed "$manual: there is a $path already"
            cp "$text" "$tree/$path"
        else
            insert "$text" "$tree/$path" "$of" ||
                failed "$manual: there is no function $of in $path"
        fi
        echo "$manual: $verb $path"
    done <"$scratch/steps"
}

# The tree with BUILD's objects, newer than all that they were made from: another
# folder is another command line, but gives the same objects.
copy_tree() {
    mkdir -p "$tree/build"
    tar -cf - --exclude=./build --exclude=./out --exclude=./.git . |
        tar -xf - -C "$tree"
    (cd "$build" && find sim models policies workloads experiments embed \
        -name '*.[ocd]' | tar -cf - -T -) | tar -xf - -C "$tree/build"
    make_in_tree build/flags.stamp build/sources.stamp
    find "$tree/build" -name '*.[ocd]' -exec touch {} +
}
make_in_tree() {
    (cd "$tree" && unset MAKEFLAGS MFLAGS MAKEOVERRIDES &&
        make --no-print-directory -j2 "$@") >"$scratch/log" 2>&1 ||
        { cat "$scratch/log"; failed "make $*"; exit 1; }
}

# shows TEXT COMMAND...: what the command prints holds the text.
shows() {
    want=$1
    shift
    if "$@" >"$scratch/said" 2>&1 && grep -qF -- "$want" "$scratch/said"; then
        passed
    else
        head -n 20 "$scratch/said"
        failed "$* does not say '$want'"
    fi
}

# The values of a column of a CSV, each once.
values() {
    awk -F, -v name="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) c = i; next }
        { print $c }' "$1" | sort -u | tr '\n' ' '
}

listed() {
    shows 'wait_p50_s ' clustersim list metrics
    shows 'lab  ' clustersim list formats
    shows 'embed  ' clustersim list recipes
    shows 'widest  ' clustersim list policies
    shows 'lab-96 ' clustersim list gpus
    shows 'lab-cpu ' clustersim list cpus
    shows 'lab-nic ' clustersim list links
    shows 'lab-96-on-demand ' clustersim list prices
    shows 'lab-node ' clustersim list instances
    shows 'median' clustersim explain wait_p50_s
    shows 'logs of our lab' clustersim explain lab
    shows 'texts turned into vectors' clustersim explain embed
    shows 'most GPUs first' clustersim explain widest
    shows 'card of our lab' clustersim explain lab-96
    shows 'node of our lab' clustersim explain lab-node
    for word in wait_p50_s embed widest lab-96 waits '"lab"'; do
        shows "$word" clustersim schema experiment
    done
}

used() {
    cat >added.yaml <<END
experiment: added
seeds: 2
cluster: {nodes: [{name: lab, count: 2, gpus: {type: lab-96, count: 4},
          cpu: {type: lab-cpu, sockets: 2}, memory: 512GB,
          nics: {type: lab-nic, count: 2}}]}
workload:
  arrival: {process: poisson, rate: 60/h}
  jobs: 30
  mix:
    - {recipe: embed, name: wide, model: llama-3.1-8b, prompts: 4000,
       prompt_tokens: 512, steps: 20, infer: {gpus: 4}}
    - {recipe: embed, name: narrow, model: llama-3.1-8b, prompts: 4000,
       prompt_tokens: 512, steps: 20, infer: {gpus: 1}}
policies: [fcfs, widest]
expect: [{metric: wait_p50_s, policy: widest, at_most: 365d}]
output: {tables: [compare, jobs], plots: [waits]}
END
    printf 'name,queued_at,seconds,gpus\na,0,60,1\nb,5,90,4\nc,9,30,2\n' >lab.csv
    sed '/^workload/,/^policies/{/^policies/!d;}; /^expect/d; s/added/logged/
        s/^seeds.*/seeds: 1\nworkload: {trace: {file: lab.csv, format: lab}}/' \
        added.yaml >logged.yaml
    sed -n '/^workload/,/^policies/{/^ /p;}' added.yaml | sed 's/^  //
        s/poisson, rate: 60\/h/fixed, times: [0s]/; s/^jobs.*/jobs: 1/' >job.yaml
    shows '1 of 1 checks hold' clustersim check added.yaml
    shows 'fcfs widest ' values out/added/summary.csv policy
    shows '30 ' values out/added/summary.csv jobs_done
    shows 'wait_p50_s' cat out/added/compare.csv
    shows 'narrow wide ' values out/added/jobs.csv kind
    for column in jct_mean_s wait_p50_s; do     # two policies, two seeds
        if [ "$(values out/added/summary.csv $column | wc -w)" = 4 ]; then
            passed
        else
            failed "widest does as fcfs does by $column, or nothing sets it"
        fi
    done
    shows 'lab-96 ' values out/added/jobs.csv gpu_type
    shows 'How long do jobs wait for GPUs?' cat out/added/report.html
    shows PNG head -c 8 out/added/plots/waits.png
    shows 'out/logged' clustersim run logged.yaml
    shows '3 ' values out/logged/summary.csv jobs_done
    shows 'lab-96' clustersim advise job.yaml --job wide --gpus 8 -o advice.yaml
    shows 'cpu: {type: lab-cpu, sockets: 2}' cat advice.yaml
    shows 'nvme: 1x7.68TB, nvme_type: nvme-gen5, nics: {type: lab-nic, count: 2}' \
        cat advice.yaml
    shows '2 of 2 checks hold' clustersim check advice.yaml
    shows 'jobs         3' clustersim import lab lab.csv -o imported.yaml
}

copy_tree
follow
make_in_tree all
PATH=$tree/build:$PATH
cd "$scratch"
listed
used
for gate in lists rooms text headers; do
    (cd "$tree" && "tests/gates/$gate.sh" build) >"$scratch/said" 2>&1 || true
    if [ -s "$scratch/said" ]; then
        cat "$scratch/said"
        failed "gate $gate"
    else
        passed
    fi
done
echo "adding: $(count_sum)"
count_sum >/dev/null

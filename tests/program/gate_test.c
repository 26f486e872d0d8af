/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gate_test.c - `check`, `compare` and `diff` as CI runs them: the program,
 * from a folder of its own, line after line, judged by its exit status and by
 * what it says.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "tests/aid/scratch.h"

static char program[4096];      /* its path */

struct line {
    const char *text;           /* `clustersim` is the program */
    int status;
    const char *says;           /* part of what it prints; NULL: anything */
};

static void run_lines(struct scratch *scratch, const struct line *line,
                      size_t count)
{
    char command[8192];

    for (size_t i = 0; i < count; i++) {
        snprintf(command, sizeof command, "cd %s && clustersim() { '%s' "
                 "\"$@\"; } && { %s\n} >said 2>&1", scratch->dir, program,
                 line[i].text);
        int status = system(command);
        char *said = scratch_read(scratch, "said");

        if (!WIFEXITED(status) || WEXITSTATUS(status) != line[i].status ||
            (line[i].says != NULL && strstr(said, line[i].says) == NULL))
            fail_msg("%s: status %d for %d, and it says\n%s", line[i].text,
                     WEXITSTATUS(status), line[i].status, said);
        free(said);
    }
}
#define RUN(SCRATCH, LINES) \
    run_lines(SCRATCH, LINES, sizeof (LINES) / sizeof (LINES)[0])

/* On one node of eight GPUs the wide job blocks the third, which has room:
 * `blocking: skip` is better in all that can be better.  `noisy` draws, and
 * takes the last five in another order for each seed. */
static const char experiment[] =
    "experiment: e\n"
    "seeds: 3\n"
    "cluster: {nodes: [{name: n, count: 1, gpus: {type: generic, count: 8}}]}\n"
    "workload:\n"
    "  trace: {file: jobs.csv, format: csv, columns: {job: job, submit: "
    "submit, duration: duration, gpus: gpus}}\n"
    "policies: [fcfs, sjf, {policy: sjf, name: noisy, estimate: noisy, "
    "noise: 3}]\n"
    "output: {plots: [], tables: [compare, jobs, decisions]}\n"
    "expect:\n"
    "  - {claim: A, metric: jobs_done, policy: fcfs, between: [8, 8]}\n"
    "  - {claim: B, metric: jct_mean_s, policy: sjf, vs: fcfs, at_most: 0%}\n"
    "  - {claim: C, metric: jobs_done, policy: noisy, at_least: 8}\n";

static void write_experiment(struct scratch *scratch)
{
    scratch_write(scratch, "jobs.csv", "job,submit,duration,gpus\na,0,100.1,4\n"
                  "b,1,100.7,8\nc,2.3,50.9,4\nd,1000,70,8\ne,1000,60,8\n"
                  "f,1000,50,8\ng,1000,40,8\nh,1000,30,8\n");
    scratch_write(scratch, "e.yaml", experiment);
}

static int setup(void **state)
{
    struct scratch *scratch = calloc(1, sizeof *scratch);

    scratch_open(scratch);
    write_experiment(scratch);
    *state = scratch;
    return 0;
}

static int teardown(void **state)
{
    scratch_close(*state);
    free(*state);
    return 0;
}

static void unchanged_is_0_worse_is_1_better_is_0(void **state)
{
    static const struct line lines[] = {
        { "clustersim e.yaml -o strict -q", 0, NULL },
        { "clustersim run e.yaml -o skip -q --set "
          "'policies.0={policy: fcfs, blocking: skip}'", 0, NULL },
        { "clustersim check e.yaml --baseline strict", 0, "6 of 6 checks" },
        { "clustersim check e.yaml -q --baseline strict -o again", 0, NULL },
        /* a baseline that its own judgement replaced would be green for ever */
        { "clustersim check e.yaml -q --baseline again -o ./again/", 2,
          "--baseline and the results are one folder" },
        { "clustersim check again --baseline strict", 0, "nothing worse" },
        { "clustersim check e.yaml -q --baseline skip -o s2 --set "
          "'policies.0={policy: fcfs, blocking: skip}'", 0, NULL },
        { "clustersim check e.yaml --baseline skip -o w", 1,
          "jct_mean_s worse in 1 of 1 seeds" },
        { "clustersim check strict --baseline skip", 1, "gap_to_bound worse" },
        { "clustersim check skip --baseline strict", 0, "6 of 6 checks" },
        { "clustersim check strict --baseline skip --tolerance 1000000%", 0,
          NULL },
        { "clustersim compare strict again", 0, "no metric moved" },
        { "clustersim compare strict skip", 0, "jct_mean_s" },
        { "clustersim diff strict skip", 0, "base, fcfs, seed 0: parts here" },
        { "clustersim diff strict again", 0, "0 part" },
        { "clustersim check e.yaml -q -o j --baseline strict --junit j.xml "
          "--markdown j.md && grep -q 'tests=\"6\" failures=\"0\"' j.xml && "
          "grep -q '| holds | A' j.md", 0, NULL },
    };

    RUN(*state, lines);
}

/* The table of a folder is edited as a later version, an older one, or an
 * accident would leave it. */
static void what_is_gone_is_1(void **state)
{
    static const struct line lines[] = {
        { "clustersim e.yaml -o b -q", 0, NULL },
        { "cp -r b gone && grep -v ',noisy,2,' b/summary.csv >"
          "gone/summary.csv", 0, NULL },
        { "clustersim check gone --baseline b", 1,
          "1 of 3 trials of the baseline are gone" },
        { "clustersim check gone", 1, "2 of 3 seeds are there" },
        { "grep -v ',sjf,' b/summary.csv >gone/summary.csv", 0, NULL },
        { "clustersim check gone", 1, "sjf was not run" },
        { "clustersim check b --baseline gone", 0, "not in the baseline: policy sjf" },
        { "clustersim check b --baseline gone --json", 0,
          "\"not_in_baseline\": [{\"kind\": \"policy\", \"name\": \"sjf\"}]" },
        { "clustersim check gone --allow-not-judged", 0, "1 not judged" },
        /* a value that is no longer there, and one that never was */
        { "awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == "
          "\"jct_mean_s\") c = i } NR == 2 { $c = \"\" } { print }' "
          "b/summary.csv >gone/summary.csv", 0, NULL },
        { "clustersim check gone --baseline b", 1, "jct_mean_s worse" },
        { "clustersim check b --baseline gone", 0, NULL },
        /* a metric that only one version has */
        { "sed '1s/wait_mean_s/wait_was_s/' b/summary.csv >gone/summary.csv",
          0, NULL },
        { "clustersim check b --baseline gone", 1, "wait_was_s is not compared" },
        { "clustersim check b --baseline gone --allow-not-judged", 0, "wait_was_s is not" },
        { "clustersim check gone --baseline b", 1, "wait_mean_s worse" },
        /* nothing but jobs, of which neither way is better, and one metric */
        { "awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == \"jobs\") j = i; "
          "else if ($i == \"jct_mean_s\") c = i } { print $1 \",\" $2 \",\" $3 \",\" $j "
          "\",\" $c }' b/summary.csv >gone/summary.csv", 0, NULL },
        { "clustersim check b --baseline gone", 0, "nothing worse in 3 trials, 1 metric\n" },
        { "cut -d, -f1-4 gone/summary.csv >cut.csv && mv cut.csv gone/summary.csv", 0, NULL },
        { "clustersim check b --baseline gone", 3, "no metric that can get worse" },
        { "cut -d, -f1-3 gone/summary.csv >cut.csv && mv cut.csv gone/summary.csv", 0, NULL },
        { "clustersim check b --baseline gone", 3, "no column jobs" },
        { "clustersim check b --baseline b", 2, "--baseline and the results are one folder" },
        { "head -1 b/summary.csv >gone/summary.csv", 0, NULL },
        { "clustersim check b --baseline gone", 3, "no row" },
        { "clustersim check b --baseline nowhere", 4, NULL },
        { "rm b/checks.csv && clustersim check b", 2, "nothing to check" },
    };

    RUN(*state, lines);
}

static void no_flag_turns_the_gate_green(void **state)
{
    static const struct line lines[] = {
        { "clustersim e.yaml -o b -q", 0, NULL },
        { "clustersim check e.yaml --only fcfs", 1, "2 not judged" },
        { "clustersim check out/e", 1, "noisy was not run" },
        { "clustersim check e.yaml --only sjf", 1, "fcfs was not run" },
        { "clustersim check e.yaml -q --only fcfs --allow-not-judged --junit "
          "j.xml --markdown j.md && grep -q 'skipped=\"2\"' j.xml && "
          "grep -q '<skipped message' j.xml && grep -q '| not judged' j.md",
          0, NULL },
        { "clustersim check e.yaml -q --only fcfs --junit j.xml; grep -q "
          "'failure type=\"not judged\"' j.xml", 0, NULL },
        { "clustersim check e.yaml --only fcfs --baseline b", 1,
          "1 of 1 trials of the baseline were left out" },
        { "clustersim check e.yaml --only fcfs --baseline b "
          "--allow-not-judged", 0, NULL },
        { "clustersim check e.yaml --seeds 1", 1,
          "1 sample, and 2 are needed" },
        { "clustersim check out/e", 1, "1 not judged" },
        { "clustersim check e.yaml --set seeds=1", 1,
          "1 sample, and 2 are needed" },
        { "clustersim check e.yaml --seeds 2 -q", 0, NULL },
        { "clustersim check e.yaml --seeds 2 --baseline b", 1,
          "1 of 3 trials of the baseline were left out" },
        { "clustersim check e.yaml --seeds 2 --update-baseline u", 2, "of a part" },
        { "clustersim check e.yaml --only fcfs --update-baseline u", 2, "of a part" },
        { "test ! -e u", 0, NULL },
        { "clustersim check e.yaml --shard 1/2", 2, "--shard" },
        { "clustersim check e.yaml --set 'policies=[fcfs]'", 3, "sjf" },
        { "clustersim check e.yaml --set expect.0.point=x=1", 3, "x=1" },
        { "clustersim check e.yaml --set 'expect=[]' -o unrun", 2,
          "nothing to check" },
        { "test ! -e unrun", 0, NULL },
        { "clustersim check e.yaml --only nobody", 2, "nobody" },
    };

    RUN(*state, lines);
}

/* The folder of a file of verdicts is made, as that of results is. */
static void verdicts_go_into_folders_that_are_not_there(void **state)
{
    static const struct line lines[] = {
        { "clustersim check e.yaml -q -o f --junit new/a/j.xml --markdown new/m.md "
          "--code-quality f/q.json", 0, NULL },
        { "grep -c testcase new/a/j.xml && ls new/m.md f/q.json", 0, "f/q.json" },
        { "clustersim check f -q --junit e.yaml/j.xml", 4, "e.yaml" },
    };

    RUN(*state, lines);
}

static void a_failed_trial_is_neither_held_nor_undecided(void **state)
{
    static const struct line lines[] = {
        { "clustersim e.yaml -o b -q", 0, NULL },
        { "clustersim check e.yaml -o f --set event_count_max=2", 5,
          "failed trial   A: jobs_done" },
        { "clustersim check f", 5, "3 with a failed trial" },
        { "clustersim check f --allow-not-judged --junit j.xml; "
          "grep -q 'errors=\"3\"' j.xml && grep -q '<error type' j.xml", 0,
          NULL },
        { "clustersim check f --baseline b", 5,
          "1 of 1 trials of the baseline failed" },
    };

    RUN(*state, lines);
}

/* A baseline of the time when each seed was run, though all were copies. */
static void ten_copies_are_as_good_as_the_one_trial(void **state)
{
    static const struct line lines[] = {
        { "clustersim e.yaml -o b -q --seeds 10", 0, NULL },
        { "test $(wc -l <b/summary.csv) = 13", 0, NULL },
        { "cp -r b old && awk -F, -v OFS=, 'NR == 1 { n = NF - 2 * ($NF == "
          "\"without\"); NF = n; print; next } { NF = n; if ($2 == "
          "\"noisy\") print; else for (s = 0; s < 10; s++) { $3 = s; print } }"
          "' b/summary.csv >old/summary.csv && test $(wc -l <old/summary.csv) "
          "= 31", 0, NULL },
        { "clustersim check e.yaml --seeds 10 --baseline old", 0,
          "nothing worse" },
        { "clustersim check b --baseline old", 0, NULL },
        { "clustersim check old --baseline b", 0, NULL },
        { "clustersim check old", 0, "count as one" },
        { "clustersim compare b old", 0, "no metric moved" },
        { "clustersim compare old b", 0, "no metric moved" },
        { "clustersim plot old", 0, NULL },
    };

    RUN(*state, lines);
}

static void copies_are_not_run_and_have_no_interval(void **state)
{
    static const struct line lines[] = {
        { "clustersim e.yaml -o b", 0, "fcfs and sjf are deterministic" },
        { "clustersim validate e.yaml", 0, "run once: 5 trials" },
        { "grep -c ',fcfs,' b/summary.csv", 0, "1\n" },
        { "grep -c ',noisy,' b/summary.csv", 0, "3\n" },
        { "grep '^base,sjf,jct_mean_s,1,[0-9.]*,,,fcfs,[-0-9.]*,,,,,,1,,,,$' "
          "b/compare.csv", 0, NULL },
        { "grep -q 'deterministic: nothing is drawn' b/report.html", 0, NULL },
        { "clustersim check b", 0, "deterministic, seeds add nothing" },
        { "clustersim run e.yaml -o x --shard 1/2", 0, "3 of 5 trials" },
        { "clustersim run e.yaml -o y --shard 2/2 -q && cp y/.trials/* "
          "x/.trials/ && clustersim run e.yaml -o x --resume", 0,
          "5 trials were known already" },
        { "for f in summary compare jobs checks decisions; do cmp b/$f.csv "
          "x/$f.csv || exit 9; done", 0, NULL },
        { "clustersim run e.yaml -o n --set 'policies.2.noise=0.000001'", 0,
          "noisy gave equal results in all 3 seeds" },
        { "clustersim run e.yaml -o n --set 'policies=[fcfs, sjf, {policy: "
          "fcfs, name: noisy}]'", 0, "fcfs and noisy gave equal results" },
    };

    RUN(*state, lines);
}

/* Forty days of three jobs on one GPU, jobs.csv, and their results, d. */
#define MAKE_DAYS \
    { "awk 'BEGIN { print \"job,submit,duration,gpus\"; for (d = 0; d < " \
      "40; d++) for (j = 0; j < 3; j++) printf \"%d-%d,%d,%d,1\\n\", d, " \
      "j, 86400 * d + j, j == 0 ? 1000 : j == 1 ? 100 + d : 10 }' " \
      ">jobs.csv", 0, NULL }, \
    { "sed 's/count: 8}/count: 1}/; s/\\[8, 8\\]/[120, 120]/; " \
      "s/at_least: 8/at_least: 120/' e.yaml >d.yaml && " \
      "clustersim check d.yaml -o d", 0, NULL }

/* On one GPU and for forty days, three jobs of 1,000, 100 + day and 10 s come a
 * second apart: the shortest first lets the last one pass the second, which
 * costs 10 s and saves 100 + day.  So a job takes (90 + 19.5) / 3 s less. */
static void jobs_of_two_policies_are_paired_over_days(void **state)
{
    static const struct line lines[] = {
        MAKE_DAYS,
        { "clustersim compare d --jobs >one && clustersim compare d --jobs "
          ">two && cmp one two && cat one", 0, "base, fcfs -> sjf\n    120 "
          "pairs; mean completion time" },
        { "cat one", 0, "faster 33.3%, slower 33.3%, equal 33.3%" },
        { "cat one", 0, "-36.5 s; 95% interval [" },
        { "cat one", 0, "40 blocks; p = 1.8e-12" },
        { "cat one", 0, "neighbouring blocks are alike" },
        /* seeds of the same jobs share their days; fcfs, which draws nothing, has one of three */
        { "cat one", 0, "base, fcfs -> noisy\n    120 pairs; 2 trials of seeds that one side "
          "lacks are left out; mean" },
        { "clustersim compare d d --jobs", 0, "base, noisy\n    360 pairs" },
        { "clustersim compare d --jobs --block 7d", 0, "no interval: 6 "
          "blocks" },
        { "cp -r d e && awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) "
          "if ($i == \"jct_s\") c = i } $2 == \"sjf\" && $4 ~ /^1[0-9]-0/ { "
          "$c = \"\" } { print }' d/jobs.csv >e/jobs.csv && clustersim compare "
          "e --jobs", 0, "110 pairs of 120: 10 jobs did not end on both sides (10 on the "
          "left alone, 0 on the right alone, 0 on neither), and nothing is said of them\n"
          "    of the pairs: mean completion time" },
        /* a policy that drops what finds no room does the first job of each day, as late as
           fcfs does, and no other: a dropped job ends at once, and has no completion time */
        { "sed '/^expect/,$d; s/^policies:.*/policies: [fcfs, {policy: fcfs, name: drops, "
          "blocking: drop}]/; /noise: 3/d' d.yaml >g.yaml && clustersim g.yaml -q -o g && "
          "clustersim compare g --jobs", 0, "40 pairs of 120: 80 jobs did not end on both sides "
          "(80 on the left alone, 0 on the right alone, 0 on neither)" },
        { "clustersim compare g --jobs", 0, "faster 0.0%, slower 0.0%, equal 100.0%" },
        /* of 40 days with three jobs each, ten are the warm-up */
        { "clustersim d.yaml -q -o w --set warmup=10d && clustersim compare w --jobs", 0,
          "base, fcfs -> sjf\n    90 pairs; 30 jobs of the warm-up are left out; mean" },
        /* a century of seconds, of which 120 have a job */
        { "cp -r d f && awk -F, -v OFS=, 'NR == 1 { for (i = 1; i <= NF; i++) "
          "if ($i == \"submit_s\") c = i } NR > 1 { $c = $c \"000\" } { print }' "
          "d/jobs.csv >f/jobs.csv && clustersim compare f --jobs --block 1s", 0,
          "\n    120 blocks; p = " },
        { "clustersim compare d d --jobs", 0, "equal 100.0%" },
        /* jobs of the same names that take longer are others, and that is said first */
        { "awk -F, -v OFS=, '$3 == 10 { $3 = 20 } { print }' jobs.csv >k.csv && "
          "sed 's/jobs.csv/k.csv/' d.yaml >k.yaml && clustersim k.yaml -q -o k && "
          "clustersim compare d k --jobs | head -1", 0, "the jobs differ at 1 point: `seed`" },
        { "clustersim compare d d --jobs | head -1", 0, "jobs of the same name and seed" },
        { "clustersim compare d", 2, "one and --jobs" },
        { "clustersim compare d d --block 1d", 2, "--block needs --jobs" },
        { "clustersim compare d --jobs --block 7", 2, "unit" },
        { "rm e/jobs.csv && clustersim compare d e --jobs", 4, NULL },
    };

    RUN(*state, lines);
}

/* Where one of 40 days differs, 36% of the draws lack it and have no spread: the interval has no
 * end on its side.  But no time falls by more than 100%. */
static void where_few_days_differ_an_interval_has_no_end(void **state)
{
    static const struct line lines[] = {
        MAKE_DAYS,
        { "for by in + -; do cp -r d n$by && awk -F, -v OFS=, -v by=$by '{ for (i = 1; NR == 1 && "
          "i <= NF; i++) if ($i == \"jct_s\") c = i } NR > 1 && $2 == \"fcfs\" && $4 ~ /^5-0/ "
          "{ $c += by == \"+\" ? 100 : -100 } { print }' d/jobs.csv >n$by/jobs.csv; done; "
          "clustersim compare d n+ --jobs | grep 'change of the mean'", 0, ", no end], [" },
        { "clustersim compare d n- --jobs | grep 'change of the mean'", 0,
          "95% interval [-100%, " },
        { "clustersim compare d n- --jobs | grep 'change of the mean'", 0, "], [no end, " },
    };

    RUN(*state, lines);
}

/* Three jobs and two replicas of a service, whose names have the same kind, in two seeds: six
 * pairs, and a curve of six jobs, where all of ten rows would be. */
static void replicas_of_services_are_no_pairs_and_in_no_curve(void **state)
{
    static const struct line lines[] = {
        { "printf 'experiment: s\nseeds: 2\ncluster:\n  nodes:\n"
          "    - {name: a, count: 1, gpus: {type: t4, count: 8}, memory: 256GB,\n"
          "       cpu: {type: epyc-7742, sockets: 1}}\n"
          "workload:\n  services:\n    - name: cls\n      model: bert-base\n"
          "      gpu: {tp: 1, types: [t4], cores: 2}\n"
          "      replicas: {min: 2, max: 2}\n      times: {batch: 1s}\n"
          "      requests: {arrival: {process: fixed, times: [100s]}, prompt: 100, for: 1h}\n"
          "  arrival: {process: fixed, times: [1s, 2s, 3s]}\n"
          "  mix: [{recipe: trace, name: cls, gpus: 1, duration: {exponential: {mean: "
          "10min}}}]\npolicies: [fcfs, sjf]\n"
          "output: {tables: [jobs], plots: [jct_cdf]}\n' >s.yaml && "
          "clustersim run s.yaml -q -o s && grep -c ',cls-[01],cls,' s/jobs.csv", 0, "8" },
        { "clustersim compare s --jobs", 0, "replicas of services are left out: they are no "
          "jobs of a user\n\nbase, fcfs -> sjf\n    6 pairs; mean" },
        { "sed -n '4p' s/plots/jct_cdf.dat | grep ' 0.166666667$'", 0, NULL },
        { "rm s/services.csv && clustersim compare s --jobs", 0, "10 pairs" },
    };

    RUN(*state, lines);
}

/* Jobs of known length that start at once work for as long as they hold GPUs, also when they
 * are stopped and go on: they wait for nothing, to the last bit. */
static void jobs_that_only_work_pay_nothing_for_waiting(void **state)
{
    static const struct line lines[] = {
        { "printf 'experiment: w\nseeds: 1\ncluster:\n  nodes: [{name: g, count: 2, gpus: "
          "{type: generic, count: 8}, price: 20.1USD/h}]\n"
          "workload:\n  arrival: {process: poisson, rate: 60/h}\n  jobs: 300\n"
          "  mix: [{recipe: trace, name: x, gpus: {choice: {1: 1, 2: 1, 3: 1, 5: 1}}, "
          "duration: {exponential: {mean: 10min}}}]\npolicies: [las]\n"
          "output: {tables: [jobs], plots: []}\n' >w.yaml && "
          "clustersim run w.yaml -q -o w && awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) { "
          "if ($i == \"cost_wait_usd\") c = i; if ($i == \"preemptions\") p = i } next } "
          "{ stops += $p; bad += $c != \"0\" } END { print (stops > 100), bad }' w/jobs.csv",
          0, "1 0" },
    };

    RUN(*state, lines);
}

/* The manual says so.  Phases that overlap begin in another order than they end. */
static void rows_of_phases_are_by_their_end_for_any_number_of_threads(void **state)
{
    static const struct line lines[] = {
        { "printf 'experiment: p\nseeds: 3\ncluster:\n  nodes: [{name: g, count: 1, gpus: "
          "{type: generic, count: 8}}]\n"
          "workload:\n  arrival: {process: poisson, rate: 60/h}\n  jobs: 60\n"
          "  mix: [{recipe: trace, name: x, gpus: 1, duration: {exponential: {mean: 10min}}}]\n"
          "policies: [fcfs, las]\noutput: {tables: [phases], plots: [], detail_seeds: all}\n' "
          ">p.yaml && clustersim run p.yaml -q -j 1 -o p1 && clustersim run p.yaml -q -j 3 -o p3 "
          "&& cmp p1/phases.csv p3/phases.csv", 0, NULL },
        { "awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { k = $1 $2 $3; "
          "if (k == last) { fell += $c[\"end_s\"] + 0 < end; begun += $c[\"start_s\"] + 0 < "
          "start } else { trials++ } last = k; end = $c[\"end_s\"] + 0; "
          "start = $c[\"start_s\"] + 0 } END { print trials, fell + 0, (begun > 0) }' "
          "p1/phases.csv", 0, "6 0 1" },
    };

    RUN(*state, lines);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(unchanged_is_0_worse_is_1_better_is_0),
        TEST(what_is_gone_is_1),
        TEST(no_flag_turns_the_gate_green),
        TEST(verdicts_go_into_folders_that_are_not_there),
        TEST(a_failed_trial_is_neither_held_nor_undecided),
        TEST(ten_copies_are_as_good_as_the_one_trial),
        TEST(jobs_of_two_policies_are_paired_over_days),
        TEST(where_few_days_differ_an_interval_has_no_end),
        TEST(rows_of_phases_are_by_their_end_for_any_number_of_threads),
        TEST(jobs_that_only_work_pay_nothing_for_waiting),
        TEST(replicas_of_services_are_no_pairs_and_in_no_curve),
        TEST(copies_are_not_run_and_have_no_interval),
    };

    (void)argc;
    scratch_program(program, sizeof program, argv[0]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

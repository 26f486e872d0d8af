/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tune_test.c - what tuning finds is what trying all finds, on the seeds that it
 * says, whatever the threads and however often it was interrupted.
 *
 * The oracle runs trials one by one, without probe, race or judgement.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiments/cli/cli.h"
#include "experiments/columns/metric.h"
#include "experiments/probe/claim.h"
#include "experiments/probe/probe.h"
#include "experiments/results/results.h"
#include "experiments/run/trial.h"
#include "experiments/runner/race.h"
#include "experiments/tune/tune.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/folder.h"
#include "tests/aid/logs.h"
#include "tests/aid/scratch.h"

static char program[4096];      /* its path */

/* Twice as much work for pool b as for pool a, on 4 nodes each. */
static const char common[] =
    "experiment: e\n"
    "seeds: 3\n"
    "cluster:\n"
    "  nodes:\n"
    "    - {name: a, count: 4, gpus: {type: generic, count: 4}}\n"
    "    - {name: b, count: 4, gpus: {type: generic, count: 4}}\n"
    "workload:\n"
    "  arrival: {process: poisson, rate: 30/h}\n"
    "  jobs: 60\n"
    "  mix:\n"
    "    - {recipe: trace, name: x, share: 1, gpus: 4, role: {pool: a},"
    " duration: {lognormal: {mean: 600s, cv: 0.5}}}\n"
    "    - {recipe: trace, name: y, share: 2, gpus: 4, role: {pool: b},"
    " duration: {lognormal: {mean: 800s, cv: 0.5}}}\n"
    "output: {tables: [summary], plots: []}\n";

static const char splits[] =
    "policies: [{policy: fcfs, blocking: skip}, {policy: sjf, name: short, blocking: skip}]\n"
    "tune: {metric: jct_mean_s, seeds: 4, judge: 8, budget: 60,"
    " over: {split: {nodes: [a, b], least: 1}}}\n";

static void write_experiment(struct scratch *scratch, const char *name,
                             const char *more)
{
    char text[6144];

    snprintf(text, sizeof text, "%s%s", common, more);
    scratch_write(scratch, name, text);
}

/* ---- the oracle --------------------------------------------------------- */

/* A metric of policy p with `a` nodes in pool a, the rest of 8 in b, of one seed. */
static double value_of(struct scratch *scratch, uint32_t policy, unsigned a, uint32_t seed,
                       enum metric metric)
{
    struct arena *arena = arena_new(0);
    struct err err = { 0 };
    struct trial_result result;
    struct trial_tables none = { 0 };
    char left[64], right[64];
    const char *set[2] = { left, right };
    struct experiment_options options = { .set = set, .set_count = 2 };

    snprintf(left, sizeof left, "cluster.nodes.a.count=%u", a);
    snprintf(right, sizeof right, "cluster.nodes.b.count=%u", 8 - a);
    const struct experiment *e =
        experiment_read(arena, scratch_path(scratch, "e.yaml"), &options, &err);
    if (e == NULL)
        fail_msg("%s", err.text);
    struct trial_spec spec = experiment_trial_spec(e, policy * e->seeds);
    spec.replica = seed;
    if (!trial_run(&spec, &none, &result, &err))
        fail_msg("%s", err.text);
    arena_free(arena);
    return result.value[metric];
}

static double jct_of(struct scratch *scratch, uint32_t policy, unsigned a, uint32_t seed)
{
    return value_of(scratch, policy, a, seed, METRIC_JCT_MEAN);
}

static unsigned best_by_trying_all(struct scratch *scratch, uint32_t policy)
{
    double least = INFINITY;
    unsigned best = 0;

    for (unsigned a = 1; a < 8; a++) {
        double sum = 0;

        for (uint32_t s = 0; s < 4; s++)
            sum += jct_of(scratch, policy, a, TUNE_TRAINING_FROM + s);
        if (sum < least) {
            least = sum;
            best = a;
        }
    }
    return best;
}

/* ---- a search ----------------------------------------------------------- */

struct search {
    struct arena *arena;
    struct probe *probe;
    const struct tune_found *found;
    uint32_t count;
    struct probe_counts took;
    char *file;                 /* tuned.yaml, to be freed */
};

static void run_search(struct scratch *scratch, uint32_t threads, struct search *search)
{
    const struct tune_options how = { NULL, NULL };
    const struct probe_options options = { .threads = threads };
    struct results results;
    struct err err = { 0 };

    *search = (struct search){ .arena = arena_new(0) };
    search->probe = probe_open(search->arena, scratch_path(scratch, "e.yaml"), &options, &err);
    if (search->probe == NULL)
        fail_msg("%s", err.text);
    assert_true(results_open(search->arena, scratch_path(scratch, "out"), &results, &err));
    probe_keep(search->probe, results.store);
    search->found = tune_run(search->arena, search->probe, &how, &search->count, &err);
    if (search->found == NULL)
        fail_msg("%s", err.text);
    assert_true(tune_write(search->arena, search->probe, search->found, search->count,
                           results.dir, &err));
    search->took = probe_counts(search->probe);
    results_close(&results);
    search->file = scratch_read(scratch, "out/tuned.yaml");
}

static void end_search(struct search *search)
{
    free(search->file);
    arena_free(search->arena);
}

static void the_split_that_is_found_is_the_best_of_all(void **state)
{
    struct scratch *scratch = *state;
    struct search search;

    write_experiment(scratch, "e.yaml", splits);
    run_search(scratch, 2, &search);
    assert_int_equal(search.count, 2);
    for (uint32_t p = 0; p < 2; p++) {
        const struct tune_found *f = &search.found[p];
        unsigned best = best_by_trying_all(scratch, p);
        char text[100];

        snprintf(text, sizeof text, "with: {cluster.nodes.a.count: %u, "
                 "cluster.nodes.b.count: %u}", best, 8 - best);
        assert_int_not_equal(best, 4);
        assert_false(f->kept);
        if (strstr(f->entry, text) == NULL)
            fail_msg("%s is not in %s", text, f->entry);
        /* Seven splits, of which one is the entry: two seeds each, then four of them two
         * more. */
        assert_int_equal(f->candidates, 7);
        assert_int_equal(f->trials, 7 * 2 + 4 * 2);
    }
    end_search(&search);
}

/* Maps of keys, of which each begins with one that has none: the first combination is
 * the entry as it is, and the others are tried. */
static void maps_that_begin_with_an_empty_one_are_tried(void **state)
{
    struct scratch *scratch = *state;
    struct search search;

    write_experiment(scratch, "e.yaml",
                     "policies: [{policy: fcfs, blocking: skip}]\n"
                     "tune: {metric: jct_mean_s, seeds: 4, judge: 8, budget: 60, over: {\n"
                     "  fewer: [{}, {cluster.nodes.a.count: 2}],\n"
                     "  more: [{}, {cluster.nodes.b.count: 6}]}}\n");
    run_search(scratch, 2, &search);
    assert_int_equal(search.found[0].candidates, 4);
    assert_false(search.found[0].kept);
    assert_non_null(strstr(search.found[0].entry, "cluster.nodes.b.count: 6"));
    end_search(&search);
}

/* Eighteen points of a range of whole numbers are five numbers, and with the entry six
 * candidates.  They have two seeds each.  All are among the better half of nineteen, and
 * have two more. */
static void what_says_the_same_is_one_candidate(void **state)
{
    static const char *const over[] = {
        "policies.easy.depth_max: {from: 1, to: 5}",
        "policies.easy.depth_max: [1, 2, 1, 3, 1, 4, 2, 1, 5]",
        "b: [{policies.easy.depth_max: 5}, {}, {cluster.nodes.a.count: 4}]",
    };
    static const uint32_t candidates[] = { 6, 6, 2 }, trials[] = { 24, 6 * 2 + 5 * 2, 4 };
    struct scratch *scratch = *state;

    for (int i = 0; i < 3; i++) {
        struct search search;
        char text[300];
        snprintf(text, sizeof text, "policies: [easy]\ntune: {metric: jct_mean_s, seeds: %d, "
                 "judge: 8, budget: 60, over: {%s}}\n", i < 2 ? 4 : 2, over[i]);
        write_experiment(scratch, "e.yaml", text);
        run_search(scratch, 2, &search);
        assert_int_equal(search.found[0].candidates, candidates[i]);
        assert_int_equal(search.found[0].trials, trials[i]);
        end_search(&search);
    }
}

/* The split is better on the one training seed and does as many jobs there until 2 h; on a
 * judging seed it does fewer.  What is told names the split, and not that nothing won. */
static void a_winner_that_does_fewer_jobs_when_judged_is_named(void **state)
{
    struct scratch *scratch = *state;
    struct search search;
    char *text = NULL;
    size_t bytes = 0;
    bool fewer = false;
    FILE *to = open_memstream(&text, &bytes);

    write_experiment(scratch, "e.yaml", "until: 120min\n"
                     "policies: [{policy: fcfs, blocking: skip}]\n"
                     "tune: {metric: jct_mean_s, seeds: 1, judge: 8, budget: 4, over: {one: "
                     "[{cluster.nodes.a.count: 2, cluster.nodes.b.count: 6}]}}\n");
    assert_true(jct_of(scratch, 0, 2, 1000000) < jct_of(scratch, 0, 4, 1000000));
    assert_true(value_of(scratch, 0, 2, 1000000, METRIC_JOBS_DONE) >=
                value_of(scratch, 0, 4, 1000000, METRIC_JOBS_DONE));
    for (uint32_t s = 2000000; s < 2000008; s++)
        fewer |= value_of(scratch, 0, 2, s, METRIC_JOBS_DONE) <
                 value_of(scratch, 0, 4, s, METRIC_JOBS_DONE);
    assert_true(fewer);
    run_search(scratch, 2, &search);
    assert_true(search.found[0].kept && search.found[0].out);
    tune_print(probe_experiment(search.probe), search.found, 1, to);
    fclose(to);
    assert_non_null(strstr(text, "stays: judged, cluster.nodes.a.count=2 "
                                 "cluster.nodes.b.count=6 is out"));
    assert_null(strstr(text, "none of"));
    assert_non_null(strstr(search.file, "judged: {out: true}"));
    free(text);
    end_search(&search);
}

/* Judged against an entry whose mean may be 0: the interval has no upper end.  YAML knows `inf` as
 * a text alone, so tuned.yaml has no such key, and its other figures are numbers. */
static void an_end_that_an_interval_has_not_is_left_out(void **state)
{
    struct scratch *scratch = *state;
    struct search search;
    struct results results;
    char *text = NULL;
    size_t bytes = 0;
    FILE *to = open_memstream(&text, &bytes);
    struct err err = { 0 };

    write_experiment(scratch, "e.yaml", splits);
    run_search(scratch, 2, &search);
    struct tune_found found = search.found[0];
    found.kept = found.out = false;
    found.judged = (struct stats_delta){ .count = 8, .percent = -20.5, .percent_low = -100,
                                         .percent_high = INFINITY, .p_value = 0.25 };
    tune_print(probe_experiment(search.probe), &found, 1, to);
    fclose(to);
    assert_non_null(strstr(text, "jct_mean_s -20.5% [-100.0%, no end] ("));
    assert_true(results_open(search.arena, scratch_path(scratch, "other"), &results, &err));
    assert_true(tune_write(search.arena, search.probe, &found, 1, results.dir, &err));
    results_close(&results);
    const struct conf_node *root = conf_load(search.arena, scratch_path(scratch,
                                                                        "other/tuned.yaml"), &err);
    const struct conf_node *judged = conf_get(conf_item(conf_get(root, "found"), 0), "judged");
    assert_int_equal(conf_count(judged), 4);
    assert_null(conf_get(judged, "high"));
    assert_string_equal(conf_text(conf_get(judged, "low")), "-100");
    assert_string_equal(conf_text(conf_get(judged, "p_value")), "0.25");
    assert_string_equal(conf_text(conf_get(judged, "seeds")), "8");
    free(text);
    end_search(&search);
}

/* Both metrics are below 0 and say the same as the mean completion time. */
static void values_below_zero_keep_their_order(void **state)
{
    static const char *const metric[] = { "{of: 1 - jct_mean_s, unit: s, better: more}",
                                          "{of: jct_mean_s - 1e6, unit: s, better: less}" };
    struct scratch *scratch = *state;

    for (int m = 0; m < 2; m++) {
        struct search search;
        char text[400], with[100];
        unsigned best;

        snprintf(text, sizeof text, "policies: [{policy: fcfs, blocking: skip}]\n"
                 "metrics: {%s: %s}\n"
                 "tune: {metric: %s, seeds: 4, judge: 8, budget: 60,"
                 " over: {split: {nodes: [a, b], least: 1}}}\n", m == 0 ? "gain" : "loss",
                 metric[m], m == 0 ? "gain" : "loss");
        write_experiment(scratch, "e.yaml", text);
        run_search(scratch, 2, &search);
        best = best_by_trying_all(scratch, 0);
        snprintf(with, sizeof with, "with: {cluster.nodes.a.count: %u, "
                 "cluster.nodes.b.count: %u}", best, 8 - best);
        if (strstr(search.found[0].entry, with) == NULL)
            fail_msg("%s is not in %s", with, search.found[0].entry);
        assert_true(m == 0 ? search.found[0].judged.percent > 0
                           : search.found[0].judged.percent < 0);
        end_search(&search);
    }
}

/* Jobs of 4, 8 and 4 GPUs and 100 s each come at 0 to 8 GPUs.  Strict: they end at 100, 200
 * and 300 s, mean 200; skip: at 100, 200 and 100 s, mean 400/3, a third less.  Each seed is
 * that trace, so there is one sample and no interval. */
static void a_replayed_trace_judges_without_an_interval(void **state)
{
    struct scratch *scratch = *state;
    struct search search;

    scratch_write(scratch, "t.csv", "j,s,d,g\na,0,100,4\nb,0,100,8\nc,0,100,4\n");
    scratch_write(scratch, "e.yaml", "experiment: e\nseeds: 2\n"
        "cluster: {nodes: [{name: n, count: 1, gpus: {type: generic, count: 8}}]}\n"
        "workload: {trace: {file: t.csv, format: csv,\n"
        "  columns: {job: j, submit: s, duration: d, gpus: g}}}\n"
        "policies: [fcfs]\n"
        "tune: {metric: jct_mean_s, seeds: 2, judge: 8, budget: 20,\n"
        "  over: {policies.fcfs.blocking: [strict, skip]}}\n");
    run_search(scratch, 1, &search);
    assert_false(search.found[0].kept);
    assert_int_equal(search.found[0].judged.count, 1);
    assert_true(fabs(search.found[0].judged.percent + 100.0 / 3) < 1e-6);
    assert_true(isnan(search.found[0].judged.low));
}

/* Seeds of the experiment, of the search and of the judgement never meet. */
static void a_winner_is_judged_on_seeds_of_its_own(void **state)
{
    struct scratch *scratch = *state;
    double tuned = 0, untuned = 0;
    struct search search;
    unsigned best;

    write_experiment(scratch, "e.yaml", splits);
    run_search(scratch, 2, &search);
    best = best_by_trying_all(scratch, 0);
    for (uint32_t s = 0; s < 8; s++) {
        tuned += jct_of(scratch, 0, best, TUNE_JUDGING_FROM + s);
        untuned += jct_of(scratch, 0, 4, TUNE_JUDGING_FROM + s);
    }
    assert_int_equal(search.found[0].judged.count, 8);
    assert_true(fabs(search.found[0].judged.percent - 100 * (tuned / untuned - 1)) < 1e-6);
    assert_true(TUNE_TRAINING_FROM >= 1000000);         /* the most seeds there are */
    assert_true(TUNE_JUDGING_FROM >= TUNE_TRAINING_FROM + 10000);  /* the most trained on */
    end_search(&search);
}

static void threads_and_resuming_change_no_byte(void **state)
{
    struct scratch *scratch = *state;
    struct search one, two, again;

    write_experiment(scratch, "e.yaml", splits);
    run_search(scratch, 1, &one);
    run_search(scratch, 2, &again);             /* all trials are there */
    assert_int_equal(again.took.run, 0);
    assert_int_equal(again.took.recalled, one.took.run);
    assert_true(one.took.run > 30);
    scratch_close(scratch);
    scratch_open(scratch);
    write_experiment(scratch, "e.yaml", splits);
    run_search(scratch, 2, &two);
    assert_int_equal(two.took.run, one.took.run);
    assert_string_equal(one.file, two.file);
    assert_string_equal(one.file, again.file);
    end_search(&one);
    end_search(&two);
    end_search(&again);
}

static void what_nothing_beats_stays(void **state)
{
    struct scratch *scratch = *state;
    struct search search;

    /* Fewer nodes are worse; another noise is as good. */
    write_experiment(scratch, "e.yaml",
        "policies: [{policy: fcfs, blocking: skip}, {policy: sjf, estimate: noisy}]\n"
        "tune: {metric: jct_mean_s, seeds: 4, judge: 12, budget: 60, over: {"
        "policies.fcfs.with: [{cluster.nodes.b.count: 2}, {cluster.nodes.b.count: 3}],"
        "policies.sjf.noise: [0.46, 0.47, 0.48, 0.49, 0.51, 0.52, 0.53, 0.54]}}\n");
    run_search(scratch, 2, &search);
    assert_true(search.found[0].kept);
    assert_int_equal(search.found[0].judged.count, 0);
    assert_int_equal(search.found[0].setting_count, 0);
    assert_string_equal(search.found[0].entry, "{policy: fcfs, blocking: skip}");
    assert_true(search.found[1].kept);
    assert_string_not_equal(search.found[1].best, "as it is");
    assert_int_equal(search.found[1].judged.count, 12);
    assert_string_equal(search.found[1].entry, "{policy: sjf, estimate: noisy}");
    end_search(&search);
}

/* Of two points the named one alone is tuned for: two candidates have the two seeds of the first
 * round there, after which one is left. */
static void a_point_that_is_named_is_tuned_for_alone(void **state)
{
    struct scratch *scratch = *state;
    struct search search;

    write_experiment(scratch, "e.yaml",
        "policies: [{policy: fcfs, blocking: skip}]\n"
        "sweep: {workload.arrival.rate: [20/h, 30/h]}\n"
        "tune: {metric: jct_mean_s, seeds: 4, budget: 8, point: \"arrival.rate=20/h\", over: "
        "{cluster.nodes.b.count: [3]}}\n");
    run_search(scratch, 2, &search);
    assert_int_equal(search.found[0].candidates, 2);
    assert_int_equal(search.found[0].trials, 2 * 2 * 1);
    assert_true(search.found[0].kept);
    end_search(&search);
}

/* `fcfs` has no key `reserve`.  The entry and the other layout have two seeds each, and what is
 * no valid experiment has no trial: its reason is told. */
static void who_is_refused_has_no_trials_and_a_reason(void **state)
{
    struct scratch *scratch = *state;
    struct search search;

    write_experiment(scratch, "e.yaml",
        "policies: [{policy: fcfs, blocking: skip}]\n"
        "tune: {metric: jct_mean_s, seeds: 2, budget: 20, over: {m: [{cluster.nodes.b.count: 3}, "
        "{policies.fcfs.reserve: 1}, {policies.fcfs.reserve: 2}]}}\n");
    run_search(scratch, 2, &search);
    assert_int_equal(search.found[0].candidates, 4);
    assert_int_equal(search.found[0].refused, 2);
    assert_int_equal(search.found[0].trials, 2 * 2);
    assert_non_null(strstr(search.found[0].refusal, "policies.fcfs.reserve=1: "));
    assert_non_null(strstr(search.found[0].refusal, "'reserve'"));
    end_search(&search);
}

/* A candidate that does fewer jobs in time has the better mean of them. */
static void who_does_fewer_jobs_is_out(void **state)
{
    struct scratch *scratch = *state;
    struct search search;

    write_experiment(scratch, "e.yaml",
        "until: 2h\npolicies: [{policy: fcfs, blocking: skip}]\n"
        "tune: {metric: jct_mean_s, seeds: 4, budget: 60, over: {cluster.nodes.b.count: "
        "[1, 2]}}\n");
    run_search(scratch, 2, &search);
    assert_int_equal(search.found[0].failed, 2);
    assert_true(search.found[0].kept);
    end_search(&search);
}

/* An H100 generates 200 tokens in a third of the time of an L40S, so the requests that it
 * answers are done sooner; but one has 8 places, four L40S have 32, and a request that finds
 * another one waiting is dropped. */
static void who_answers_fewer_requests_is_out(void **state)
{
    struct scratch *scratch = *state;
    struct search search;

    scratch_write(scratch, "e.yaml", "experiment: e\nseeds: 2\nwarmup: 2min\n"
        "cluster: {nodes: [{name: l, count: 1, gpus: {type: l40s, count: 4},"
        " cpu: {type: epyc-7742, sockets: 2}, memory: 2TB}]}\n"
        "workload:\n  services:\n    - {name: chat, model: llama-3-8b,\n"
        "       gpu: {tp: 1, types: [l40s, h100], cores: 4}, replicas: {min: 4, max: 4},\n"
        "       batch: 8, queue: 1, requests: {arrival: {process: poisson, rate: 3/s},\n"
        "       prompt: {constant: 1000}, output: {constant: 200}, for: 4min}}\n"
        "policies: [fcfs]\n"
        "tune: {metric: service_latency_p99_s, seeds: 2, judge: 2, budget: 20, over: {fewer:\n"
        "  [{cluster.nodes.l.gpus.type: h100, cluster.nodes.l.gpus.count: 1}]}}\n");
    run_search(scratch, 1, &search);
    assert_int_equal(search.found[0].candidates, 2);
    assert_int_equal(search.found[0].failed, 1);
    assert_true(search.found[0].kept);
    end_search(&search);
}

/* Of 20,000 requests 3 more without an answer may be under way when `until` cuts the run
 * off, and so may 20; 0.1% of them is 20. */
static void requests_under_way_at_the_end_are_excused(void **state)
{
    double value[METRIC_COUNT] = { 0 }, none[METRIC_COUNT] = { 0 };

    (void)state;
    value[METRIC_REQUESTS] = 20000;
    value[METRIC_REQUESTS_DONE] = 19997;
    none[METRIC_REQUESTS] = none[METRIC_REQUESTS_DONE] = NAN;
    assert_true(metric_unanswered(value) == 3);
    assert_true(metric_unanswered_excused(value, true) == 20);
    assert_true(metric_unanswered_excused(value, false) == 0);
    assert_true(metric_unanswered(none) == 0 && metric_unanswered_excused(none, true) == 0);
}

static int run(struct scratch *scratch, const char *words)
{
    char command[8192];

    snprintf(command, sizeof command, "cd %s && '%s' %s >said 2>&1", scratch->dir,
             program, words);
    return WEXITSTATUS(system(command));
}

/* The oracle is an experiment that says what tuned.yaml found. */
static void tuned_runs_are_those_of_the_entries_that_were_found(void **state)
{
    struct scratch *scratch = *state;
    char text[2048], *tuned, *found, *end, *left, *right, *said;

    snprintf(text, sizeof text, "%stuned: true\ncontrols: [random]\n", splits);
    write_experiment(scratch, "e.yaml", text);
    assert_int_equal(run(scratch, "e.yaml -o d"), 0);
    tuned = scratch_read(scratch, "d/tuned.yaml");
    found = strstr(tuned, "policies:");
    end = strstr(tuned, "found:");
    snprintf(text, sizeof text, "%.*scontrols: [random]\n", (int)(end - found), found);
    write_experiment(scratch, "by_hand.yaml", text);
    if (run(scratch, "by_hand.yaml -o h") != 0) {
        said = scratch_read(scratch, "said");
        fail_msg("%s", said);
    }
    left = scratch_read(scratch, "d/summary.csv");
    right = scratch_read(scratch, "h/summary.csv");
    assert_string_equal(left, right);
    free(right);
    right = scratch_read(scratch, "d/provenance.json");
    assert_non_null(strstr(right, "\"from\": \"tuned\""));
    free(left);
    free(right);
    free(tuned);
}

/* ---- several processes -------------------------------------------------- */

static pid_t start(struct scratch *scratch, const char *dir)
{
    pid_t child = fork();

    if (child == 0) {
        if (chdir(scratch->dir) == 0)
            execl(program, program, "tune", "e.yaml", "-q", "-j", "1", "-o", dir,
                  (char *)NULL);
        _exit(127);
    }
    assert_true(child > 0);
    return child;
}

static int end_of(pid_t child)
{
    int status;

    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void expect_same(struct scratch *scratch, const char *one, const char *two)
{
    char *left = scratch_read(scratch, one), *right = scratch_read(scratch, two);

    assert_non_null(left);
    assert_non_null(right);
    assert_string_equal(left, right);
    free(left);
    free(right);
}

static void processes_on_one_folder_share_the_search(void **state)
{
    struct scratch *scratch = *state;
    pid_t first, second;

    write_experiment(scratch, "e.yaml", splits);
    assert_int_equal(end_of(start(scratch, "one")), 0);
    first = start(scratch, "two");
    second = start(scratch, "two");
    assert_int_equal(end_of(first), 0);
    assert_int_equal(end_of(second), 0);
    expect_same(scratch, "one/tuned.yaml", "two/tuned.yaml");
    assert_int_equal(access(scratch_path(scratch, "two/.trials"), F_OK), -1);
}

/* One of two is killed, maybe in a trial: the other goes on with it. */
static void a_killed_process_keeps_nothing_from_another(void **state)
{
    struct scratch *scratch = *state;
    const struct timespec wait = { 0, 1000000 };
    pid_t first, second;

    write_experiment(scratch, "e.yaml", splits);
    assert_int_equal(end_of(start(scratch, "one")), 0);
    first = start(scratch, "two");
    second = start(scratch, "two");
    while (logs_count(scratch->dir, "two/.trials") < 5 &&
           access(scratch_path(scratch, "two/tuned.yaml"), F_OK) != 0)
        (void)nanosleep(&wait, NULL);
    assert_int_equal(kill(first, SIGKILL), 0);
    (void)end_of(first);
    assert_int_equal(end_of(second), 0);
    expect_same(scratch, "one/tuned.yaml", "two/tuned.yaml");
    assert_int_equal(access(scratch_path(scratch, "two/.trials"), F_OK), -1);
}

/* While somebody holds the claim of a trial, nobody else has it. */
static void a_trial_has_one_process_at_a_time(void **state)
{
    struct scratch *scratch = *state;
    struct arena *arena = arena_new(0);
    struct err err = { 0 };
    struct folder *dir = folder_make(arena, scratch_path(scratch, "f"), &err);
    int one, two, other;

    assert_non_null(dir);
    assert_true(claim_take(dir, 7, &one));
    assert_false(claim_take(dir, 7, &two));
    assert_true(claim_take(dir, 8, &other));
    claim_drop(dir, 7, one);
    assert_true(claim_take(dir, 7, &two));
    claim_drop(dir, 7, two);
    claim_drop(dir, 8, other);
    assert_true(folder_is_empty(dir, NULL));
    folder_close(dir);
    arena_free(arena);
}

/* A shard, another one, and the run that puts them together: the search of the first
 * serves all, and goes with the last. */
static void a_tuned_run_that_goes_on_searches_once(void **state)
{
    struct scratch *scratch = *state;
    char text[2048], path[8][300];
    ino_t inode[8];
    struct stat st;
    unsigned count;

    snprintf(text, sizeof text, "%stuned: true\n", splits);
    write_experiment(scratch, "e.yaml", text);
    assert_int_equal(run(scratch, "e.yaml -q -o one"), 0);
    assert_int_equal(run(scratch, "e.yaml -q -o two --shard 1/2"), 0);
    assert_true(logs_count(scratch->dir, "two/.trials") > 30);
    count = logs_list(scratch->dir, "two/.trials", path, 8);
    assert_in_range(count, 1, 8);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(stat(path[i], &st), 0);
        inode[i] = st.st_ino;
    }
    assert_int_equal(run(scratch, "e.yaml -q -o two --shard 2/2 --resume"), 0);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(stat(path[i], &st), 0);
        assert_true(st.st_ino == inode[i]);
    }
    assert_int_equal(run(scratch, "e.yaml -q -o two --resume"), 0);
    expect_same(scratch, "one/tuned.yaml", "two/tuned.yaml");
    expect_same(scratch, "one/summary.csv", "two/summary.csv");
    assert_int_equal(access(scratch_path(scratch, "one/.trials"), F_OK), -1);
    assert_int_equal(access(scratch_path(scratch, "two/.trials"), F_OK), -1);
}

/* ---- the race alone ----------------------------------------------------- */

struct known {
    double of[40];
    uint32_t spent;
    bool origin_always;
};

static bool score_known(void *self, const uint32_t *candidate, uint32_t count,
                        uint32_t seeds, double *score, struct err *err)
{
    struct known *known = self;
    bool origin = false;

    (void)err;
    (void)seeds;
    for (uint32_t i = 0; i < count; i++) {
        score[i] = known->of[candidate[i]];
        origin |= candidate[i] == 0;
    }
    known->origin_always &= origin;
    return true;
}

static void a_race_finds_the_best_within_its_budget(void **state)
{
    (void)state;
    for (uint32_t pulls = 8; pulls < 300; pulls += 7) {
        uint32_t seeds = pulls % 3 == 0 ? 1 : pulls % 3 == 1 ? 5 : 8;
        uint32_t n = race_most(pulls, seeds), best, spent;
        struct known known = { { 0 }, 0, true };
        struct err err = { 0 };

        n = n > 40 ? 40 : n;
        assert_true(n >= 1);
        for (uint32_t best_at = 0; best_at < n; best_at++) {
            struct race race = { .candidates = n, .seeds = seeds,
                                 .score = score_known, .self = &known };

            for (uint32_t i = 0; i < n; i++)
                known.of[i] = i == best_at ? 0.5 : 1 + (i * 7 % 5) * 0.1;
            assert_true(race_run(&race, &best, &spent, &err));
            assert_int_equal(best, best_at);
            assert_true(spent <= pulls);
        }
        assert_true(known.origin_always);
    }
}

/* Candidates that are never fewer than `keep`, and the best of them at each round. */
struct survivors {
    const double *of;
    uint32_t keep, all, rounds;
};

static bool watch_survivors(void *self, const uint32_t *candidate, uint32_t count,
                            uint32_t seeds, double *score, struct err *err)
{
    struct survivors *s = self;
    double worst = 0;
    uint32_t better = 0, others = 0;

    (void)err;
    (void)seeds;
    s->rounds++;
    assert_true(count >= s->keep);
    for (uint32_t i = 0; i < count; i++) {
        score[i] = s->of[candidate[i]];
        others += candidate[i] != 0;
        if (candidate[i] != 0 && score[i] > worst)
            worst = score[i];
    }
    for (uint32_t i = 1; i < s->all; i++)
        better += s->of[i] <= worst;
    assert_int_equal(better, others);   /* nobody outside is as good as anyone inside */
    return true;
}

static void a_race_keeps_the_better_and_as_many_as_asked(void **state)
{
    double of[24];

    (void)state;
    for (uint32_t i = 0; i < 24; i++)
        of[i] = 1 + (i * 17 % 24) * 0.01;
    for (uint32_t keep = 1; keep <= 24; keep++) {
        struct survivors s = { of, keep, 24, 0 };
        struct race race = { .candidates = 24, .seeds = 20, .keep = keep,
                             .score = watch_survivors, .self = &s };
        uint32_t best, spent;
        struct err err = { 0 };

        of[0] = keep % 2 == 0 ? 0.9 : 9;
        assert_true(race_run(&race, &best, &spent, &err));
        assert_int_equal(best, keep % 2 == 0 ? 0 : 17);
        assert_int_equal(s.rounds, 5);      /* 2, 4, 8, 16 and 20 seeds */
    }
}

/* Runs `clustersim validate` and stores what it prints.  Returns the status. */
static int validate_command(const char *path, char said[4096])
{
    char file[256];
    char *argv[] = { "clustersim", "validate", file };
    FILE *out = tmpfile();

    assert_non_null(out);
    snprintf(file, sizeof file, "%s", path);
    int status = cli_main(3, argv, out, out);
    rewind(out);
    said[fread(said, 1, 4095, out)] = '\0';
    fclose(out);
    return status;
}

/* `clustersim tune FILE -o out [--only ONLY]`: its status, and what it says. */
static int tune_command(struct scratch *scratch, const char *path, const char *only,
                        char said[4096])
{
    char file[256], dir[256];
    char *argv[] = { "clustersim", "tune", file, "-q", "-o", dir, "--only",
                     (char *)(uintptr_t)only };
    FILE *out = tmpfile();
    int status;

    assert_non_null(out);
    snprintf(file, sizeof file, "%s", path);
    snprintf(dir, sizeof dir, "%s", scratch_path(scratch, "out"));
    status = cli_main(only == NULL ? 6 : 8, argv, out, out);
    rewind(out);
    said[fread(said, 1, 4095, out)] = '\0';
    fclose(out);
    return status;
}

static void what_is_wrong_is_told_with_its_place(void **state)
{
    static const char *const bad[] = {
        "tests/bad/experiment_tune_metric.yaml", "tests/bad/experiment_tune_over.yaml",
        "tests/bad/experiment_tune_key.yaml",
    };
    struct scratch *scratch = *state;
    char said[4096], path[256];

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(tune_command(scratch, bad[i], NULL, said), 3);
        if (strncmp(said, bad[i], strlen(bad[i])) != 0)
            fail_msg("it begins otherwise: %s", said);
    }
    write_experiment(scratch, "e.yaml", splits);
    snprintf(path, sizeof path, "%s", scratch_path(scratch, "e.yaml"));
    assert_int_equal(tune_command(scratch, path, "nobody", said), 2);
    assert_non_null(strstr(said, "--only names 'nobody', which is no policy of "));
    assert_null(scratch_read(scratch, "out/tuned.yaml"));
}

/* Nobody is preempted under first come, first served: no share of that is better or worse. */
static void what_is_nothing_at_first_cannot_be_tuned(void **state)
{
    struct scratch *scratch = *state;
    char said[4096], path[256];

    write_experiment(scratch, "e.yaml",
        "policies: [fcfs]\n"
        "tune: {metric: preemptions, seeds: 2, budget: 8, over: {cluster.nodes.b.count: [5]}}\n");
    snprintf(path, sizeof path, "%s", scratch_path(scratch, "e.yaml"));
    assert_int_equal(tune_command(scratch, path, NULL, said), 3);
    if (strstr(said, "e.yaml:14:12: ") == NULL)
        fail_msg("%s", said);
    assert_non_null(strstr(said, "preemptions of policy fcfs is 0 at base: nothing can be "
                                 "compared with it"));
    assert_null(scratch_read(scratch, "out/tuned.yaml"));
}

/* A value that no candidate can have is an error at its place, before any trial and in `validate`
 * too: `fcfs` has no key `reserve`, `sjf` no blocking `skp`, jobs must stay the same, and no node
 * is no group of nodes.  `noise` acts beside `estimate: noisy` alone.  The map of `over` begins
 * in column 66 of line 15. */
static void what_no_candidate_can_have_is_an_error(void **state)
{
    static const struct { const char *over, *says; int status; } of[] = {
        { "{policies.fcfs.reserve: [1, 2], cluster.nodes.b.count: [3]}",
          "e.yaml:15:67: schema error: policies.fcfs.reserve cannot be 1: ", 3 },
        { "{policies.fcfs.reserve: [1, 2], policies.sjf.blocking: [skip]}",
          "e.yaml:15:67: schema error: policies.fcfs.reserve cannot be 1: ", 3 },
        { "{policies.sjf.blocking: [skip, skp]}",
          "e.yaml:15:97: schema error: policies.sjf.blocking cannot be skp: ", 3 },
        { "{workload.jobs: [30]}",
          "e.yaml:15:83: schema error: workload.jobs cannot be 30: ", 3 },
        { "{m: [{cluster.nodes.b.count: 3}, {workload.jobs: 30}]}",
          "e.yaml:15:99: schema error: m cannot be {workload.jobs: 30}: ", 3 },
        { "{cluster.nodes.b.count: {from: 0, to: 3}}",
          "e.yaml:15:97: range error: cluster.nodes.b.count cannot be 0: ", 3 },
        { "{policies.sjf.noise: [0.2]}",
          "e.yaml:15:88: schema error: policies.sjf.noise cannot be 0.2: ", 3 },
        { "{policies.sjf.noise: [0.2], policies.sjf.estimate: [noisy]}", "", 0 },
    };
    struct scratch *scratch = *state;
    char said[4096], path[256], text[400];

    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        snprintf(text, sizeof text, "policies: [sjf, fcfs]\n"
                 "tune: {metric: jct_mean_s, seeds: 2, judge: 4, budget: 20, over: %s}\n",
                 of[i].over);
        write_experiment(scratch, "e.yaml", text);
        snprintf(path, sizeof path, "%s", scratch_path(scratch, "e.yaml"));
        assert_int_equal(tune_command(scratch, path, NULL, said), of[i].status);
        if (strstr(said, of[i].says) == NULL)
            fail_msg("%s", said);
        if (of[i].status != 0)
            assert_null(scratch_read(scratch, "out/tuned.yaml"));
        assert_int_equal(validate_command(path, said), of[i].status);
        if (strstr(said, of[i].says) == NULL)
            fail_msg("%s", said);
    }
}

/* With 40 nodes in place of 4 nobody of pool b waits.  Over four judging seeds the interval of the
 * difference reaches far to both sides, and a wait cannot fall by more than all of it. */
static void no_wait_falls_by_more_than_all_of_it(void **state)
{
    struct scratch *scratch = *state;
    struct search search;

    write_experiment(scratch, "e.yaml",
        "policies: [{policy: fcfs, blocking: skip}]\n"
        "tune: {metric: wait_mean_s, seeds: 2, judge: 4, budget: 20, over: "
        "{cluster.nodes.b.count: [40]}}\n");
    run_search(scratch, 2, &search);
    const struct stats_delta *judged = &search.found[0].judged;

    assert_int_equal(judged->count, 4);
    assert_true(judged->percent < 0 && judged->percent >= -100);
    assert_true(judged->percent_low == -100);
    assert_true(judged->percent_high > judged->percent);
    end_search(&search);
}

/* Tenants own less than their jobs ask for, and may borrow nothing. */
static void what_fails_at_first_is_named_with_its_place(void **state)
{
    struct scratch *scratch = *state;
    char said[4096], path[256];

    scratch_write(scratch, "e.yaml",
        "experiment: e\n"
        "cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 4}}]}\n"
        "workload:\n"
        "  arrival: {process: poisson, rate: 30/h}\n"
        "  jobs: 60\n"
        "  mix: [{recipe: trace, tenant: a, gpus: {choice: {1: 9, 2: 1}}, duration: 600s}]\n"
        "policies: [fcfs, {policy: quota, quotas: a=1, borrow: false}]\n"
        "tune: {metric: jct_mean_s, seeds: 2, budget: 8, over: {policies.quota.borrow: "
        "[true]}}\n");
    snprintf(path, sizeof path, "%s", scratch_path(scratch, "e.yaml"));
    assert_int_equal(tune_command(scratch, path, "quota", said), 5);
    if (strstr(said, "e.yaml:7:18: policy error: ") == NULL)
        fail_msg("%s", said);
    assert_non_null(strstr(said, "A trial of policy quota failed as the entry is"));
    assert_null(scratch_read(scratch, "out/tuned.yaml"));
}

#define TEST(name) \
    cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(the_split_that_is_found_is_the_best_of_all),
        TEST(maps_that_begin_with_an_empty_one_are_tried),
        TEST(what_says_the_same_is_one_candidate),
        TEST(a_winner_that_does_fewer_jobs_when_judged_is_named),
        TEST(an_end_that_an_interval_has_not_is_left_out),
        TEST(values_below_zero_keep_their_order),
        TEST(a_winner_is_judged_on_seeds_of_its_own),
        TEST(a_replayed_trace_judges_without_an_interval),
        TEST(threads_and_resuming_change_no_byte),
        TEST(what_is_wrong_is_told_with_its_place),
        TEST(what_is_nothing_at_first_cannot_be_tuned),
        TEST(what_fails_at_first_is_named_with_its_place),
        TEST(what_no_candidate_can_have_is_an_error),
        TEST(no_wait_falls_by_more_than_all_of_it),
        TEST(what_nothing_beats_stays),
        TEST(a_point_that_is_named_is_tuned_for_alone),
        TEST(who_is_refused_has_no_trials_and_a_reason),
        TEST(who_does_fewer_jobs_is_out),
        TEST(who_answers_fewer_requests_is_out),
        TEST(requests_under_way_at_the_end_are_excused),
        TEST(tuned_runs_are_those_of_the_entries_that_were_found),
        TEST(processes_on_one_folder_share_the_search),
        TEST(a_killed_process_keeps_nothing_from_another),
        TEST(a_trial_has_one_process_at_a_time),
        TEST(a_tuned_run_that_goes_on_searches_once),
        TEST(a_race_finds_the_best_within_its_budget),
        TEST(a_race_keeps_the_better_and_as_many_as_asked),
    };

    (void)argc;
    scratch_program(program, sizeof program, argv[0]);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

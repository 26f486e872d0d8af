/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * source_test.c - workloads: common random numbers, ends, sample files, bad
 * files.
 */
#include <dirent.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "sim/base/clock.h"
#include "tests/aid/workload_aid.h"

#define JOBS 500

static const char mix[] =
    "jobs: 500\n"
    "mix:\n"
    "  - {recipe: lora, name: a, share: 3, model: qwen2.5-1.5b, batch: 8,\n"
    "     sequence: 512, steps: {gamma: {mean: 400, cv: 2}},\n"
    "     limit: {exponential: {mean: 2h}}, train: {gpus: 4}}\n"
    "  - {recipe: batch-infer, name: b, model: qwen2.5-1.5b, prompts: 10,\n"
    "     prompt_tokens: 9, steps: {lognormal: {mean: 40, cv: 1}},\n"
    "     deadline: 1d, priority: 2, tenant: t, infer: {gpus: 2}}\n";

static const struct workload_spec *with_arrival(struct aid *aid,
                                                const char *arrival,
                                                const char *rest)
{
    char text[2048];
    const struct workload_spec *spec;

    snprintf(text, sizeof text, "arrival: %s\n%s", arrival, rest);
    spec = aid_workload(aid, "w.yaml", text);
    if (spec == NULL)
        fail_msg("%s", aid_message(aid));
    return spec;
}

static void same_but_for_time(const struct job_birth *a,
                              const struct job_birth *b)
{
    assert_string_equal(a->request.form->name, b->request.form->name);
    assert_int_equal(a->request.id.i, b->request.id.i);
    assert_int_equal(a->request.steps, b->request.steps);
    assert_int_equal(a->request.limit_ns, b->request.limit_ns);
    assert_int_equal(a->request.priority, b->request.priority);
    assert_true(a->truth.seed == b->truth.seed);
}

static void equal_seeds_give_equal_jobs_however_they_are_read(void **state)
{
    struct aid aid;
    static struct job_birth a[JOBS], b[JOBS];
    const struct workload_spec *spec;
    struct source *left, *right;
    struct job_birth job;

    (void)state;
    aid_open(&aid);
    spec = with_arrival(&aid, "{process: poisson, rate: 4/h}", mix);
    assert_int_equal(aid_jobs(&aid, spec, 1, 2, a, JOBS), JOBS);
    /* Two streams in turn, one of another replica. */
    left = source_open(aid.arena, spec, 1, 2);
    right = source_open(aid.arena, spec, 1, 3);
    for (size_t i = 0; i < JOBS; i++) {
        assert_int_equal(source_next(left, &b[i], &aid.err), SOURCE_JOB);
        if (i % 3 == 0)
            source_next(right, &job, &aid.err);
        same_but_for_time(&a[i], &b[i]);
        assert_int_equal(a[i].request.submit_ns, b[i].request.submit_ns);
    }
    assert_int_equal(source_next(left, &job, &aid.err), SOURCE_END);
    assert_int_equal(source_next(left, &job, &aid.err), SOURCE_END);
    aid_close(&aid);
}

static void another_rate_or_process_moves_only_times(void **state)
{
    struct aid aid;
    static struct job_birth a[JOBS], b[JOBS];
    const char *const other[] = {
        "{process: poisson, rate: 9/h}", "{process: all_at_once}",
        "{process: gamma, rate: 4/h, cv: 3}"};
    size_t moved = 0;

    (void)state;
    aid_open(&aid);
    aid_jobs(&aid, with_arrival(&aid, "{process: poisson, rate: 4/h}", mix),
             1, 0, a, JOBS);
    for (size_t k = 0; k < 3; k++) {
        assert_int_equal(aid_jobs(&aid, with_arrival(&aid, other[k], mix), 1,
                                  0, b, JOBS), JOBS);
        for (size_t i = 0; i < JOBS; i++) {
            same_but_for_time(&a[i], &b[i]);
            moved += a[i].request.submit_ns != b[i].request.submit_ns;
        }
    }
    assert_true(moved > JOBS);
    aid_close(&aid);
}

static void another_length_of_one_kind_moves_no_other_job(void **state)
{
    struct aid aid;
    static struct job_birth a[JOBS], b[JOBS];
    char changed[sizeof mix + 64], *at;

    (void)state;
    aid_open(&aid);
    aid_jobs(&aid, with_arrival(&aid, "{process: poisson, rate: 4/h}", mix),
             1, 0, a, JOBS);
    strcpy(changed, mix);
    at = strstr(changed, "mean: 400");
    memcpy(at, "mean: 900", 9);
    aid_jobs(&aid, with_arrival(&aid, "{process: poisson, rate: 4/h}",
                                changed), 1, 0, b, JOBS);
    for (size_t i = 0; i < JOBS; i++) {
        assert_int_equal(a[i].request.submit_ns, b[i].request.submit_ns);
        assert_string_equal(a[i].request.form->name,
                            b[i].request.form->name);
        if (strcmp(a[i].request.form->name, "b") == 0)
            same_but_for_time(&a[i], &b[i]);
        assert_int_equal(a[i].request.limit_ns, b[i].request.limit_ns);
    }
    aid_close(&aid);
}

static void shares_are_kept_and_requests_are_filled(void **state)
{
    struct aid aid;
    static struct job_birth job[JOBS];
    double a = 0.0;

    (void)state;
    aid_open(&aid);
    aid_jobs(&aid, with_arrival(&aid, "{process: poisson, rate: 4/h}", mix),
             3, 0, job, JOBS);
    for (size_t i = 0; i < JOBS; i++) {
        const struct job_request *r = &job[i].request;

        assert_int_equal(r->id.i, i);
        assert_true(r->steps >= 1);
        assert_true(i == 0 || r->submit_ns >= job[i - 1].request.submit_ns);
        if (strcmp(r->form->name, "a") == 0) {
            a += 1.0;
            assert_true(r->limit_ns > 0 && r->deadline_ns == CLOCK_NEVER_NS);
            assert_null(r->tenant);
        } else {
            assert_int_equal(r->priority, 2);
            assert_string_equal(r->tenant, "t");
            assert_int_equal(r->deadline_ns - r->submit_ns,
                             INT64_C(86400) * CLOCK_NS_PER_S);
        }
    }
    /* 3 of 4, five standard deviations of a binomial. */
    assert_near(a / JOBS, 0.75, 5.0 * sqrt(0.75 * 0.25 / JOBS));
    aid_close(&aid);
}

/* The mean by which validate tells the offered load is that of the jobs that come, also where
 * `min` and `max` cut their GPUs: of 1 and 64 GPUs at most 8, 4.5; of 2 at least 4, 4. */
static void means_heed_clamps_of_gpus(void **state)
{
    static const struct { const char *gpus; double mean; } kind[] = {
        { "{choice: {1: 0.5, 8: 0.5}}", 4.5 }, { "{choice: {1: 0.5, 64: 0.5}, max: 8}", 4.5 },
        { "{choice: {1: 0.25, 2: 0.75}, min: 2, max: 4}", 2 }, { "{constant: 2, min: 4}", 4 },
    };
    static struct job_birth job[JOBS];

    (void)state;
    for (size_t i = 0; i < sizeof kind / sizeof kind[0]; i++) {
        struct aid aid;
        char text[400];
        double sum = 0;

        aid_open(&aid);
        snprintf(text, sizeof text, "jobs: %d\nmix:\n  - {recipe: trace, name: t, gpus: %s, "
                 "duration: 1h}\n", JOBS, kind[i].gpus);
        const struct workload_spec *spec = with_arrival(&aid, "{process: poisson, rate: 4/h}",
                                                        text);
        assert_int_equal(aid_jobs(&aid, spec, 1, 0, job, JOBS), JOBS);
        for (size_t j = 0; j < JOBS; j++)
            sum += job[j].request.gpus;
        assert_true(fabs(sum / JOBS - kind[i].mean) < 0.5);
        assert_true(fabs(workload_mean(spec, 0).gpus - kind[i].mean) < 1e-12);
        assert_true(fabs(workload_mean(spec, 0).gpu_s - 3600 * kind[i].mean) < 1e-6);
        aid_close(&aid);
    }
}

/* What checks and manifests ask of a workload, of one thing that it states at a time. */
static void a_workload_answers_for_what_it_states(void **state)
{
    static const struct {
        const char *jobs;
        bool limits, parts, steps, choices, priority, generates, deadlines;
    } row[] = {
        { "{recipe: trace, name: t, gpus: 1, duration: 1h}", false, false, false, false, false,
          false, false },
        { "{recipe: trace, name: t, gpus: 1, duration: 1h, limit: 2}", true, false, false, false,
          false, false, false },
        { "{recipe: trace, name: t, gpus: 0.5, duration: 1h}", false, true, false, false, false,
          false, false },
        { "{recipe: trace, name: t, gpus: {choice: {0.5: 0.5, 0.25: 0.5}}, duration: 1h}", false,
          true, false, false, false, false, false },
        { "{recipe: trace, name: t, gpus: 1, duration: 1h, priority: 3}", false, false, false,
          false, true, false, false },
        { "{recipe: trace, name: t, gpus: 1, duration: 1h, deadline: 3h}", false, false, false,
          false, false, false, true },
        { "{recipe: batch-infer, name: t, model: qwen2.5-1.5b, prompts: 10, prompt_tokens: 9, "
          "steps: 4, infer: {gpus: 1, cpu: {cores: 8}}}", false, false, true, true, false, false,
          false },
        { "{recipe: batch-infer, name: t, model: qwen2.5-1.5b, prompts: 10, prompt_tokens: 9, "
          "steps: 4, infer: {gpus: 1, types: [a10]}}", false, false, true, false, false, false,
          false },
        { "{recipe: batch-infer, name: t, model: qwen2.5-1.5b, prompts: 10, prompt_tokens: 9, "
          "steps: 4, limit: 1h, infer: {gpus: 1, types: [a10]}}", true, false, true, false,
          false, false, false },
        { "{recipe: batch-infer, name: t, model: qwen2.5-1.5b, prompts: 10, prompt_tokens: 9, "
          "response: {mean: 9, cv: 0.5, max: 30}, steps: 4, infer: {gpus: 1, types: [a10]}}",
          false, false, true, false, false, true, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        for (int more = 0; more < 3; more++) {     /* alone, before another, behind it */
            static const char plain[] = "{recipe: trace, name: o, gpus: 2, duration: 1h}";
            struct aid aid;
            char text[900];

            aid_open(&aid);
            snprintf(text, sizeof text, "jobs: 9\nmix:\n  - %s\n%s%s\n",
                     more == 2 ? plain : row[i].jobs, more > 0 ? "  - " : "",
                     more == 0 ? "" : more == 2 ? row[i].jobs : plain);
            const struct workload_spec *spec = with_arrival(
                &aid, "{process: poisson, rate: 4/h}", text);
            assert_int_equal(workload_has_limits(spec), row[i].limits);
            assert_int_equal(workload_has_parts(spec), row[i].parts);
            assert_int_equal(workload_has_deadlines(spec), row[i].deadlines);
            assert_int_equal(workload_has_steps(spec), row[i].steps);
            assert_int_equal(workload_generates(spec), row[i].generates);
            assert_int_equal(workload_has_choices(spec), row[i].choices);
            assert_int_equal(workload_states_priority(spec), row[i].priority);
            assert_false(workload_is_trace(spec) || workload_is_trace_alone(spec));
            assert_int_equal(workload_form_count(spec), more > 0 ? 2 : 1);
            aid_close(&aid);
        }
}

/* Of three rows one states a thing, wherever it stands, or none does.  A column of priorities
 * or of types states them whatever it says. */
static void a_trace_answers_for_what_its_rows_state(void **state)
{
    static const struct {
        const char *columns, *usual, *one;
        bool limits, parts, deadlines, priority;
    } row[] = {
        { "limit: more", "0", "700", true, false, false, false },
        { "deadline: more", "", "900", false, false, true, false },
        { "priority: more", "0", "5", false, false, false, true },
        { "priority: more", "0", "-5", false, false, false, true },
        { "gpu_types: more", "", "a10", false, true, false, false },
        { "tenant: more", "", "me", false, false, false, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        for (int at = 0; at <= 3; at++) {       /* 3: in no row */
            struct aid aid;
            char path[] = "/tmp/source_test.XXXXXX", text[300];

            aid_open(&aid);
            FILE *file = fdopen(mkstemp(path), "w");
            fputs("id,at,run,n,more\n", file);
            for (int k = 0; k < 3; k++)
                fprintf(file, "%d,%d,50,1,%s\n", k, k, k == at ? row[i].one : row[i].usual);
            fclose(file);
            snprintf(text, sizeof text, "trace: {file: %s, columns: {job: id, submit: at, "
                     "duration: run, gpus: n, %s}}\n", path, row[i].columns);
            const struct workload_spec *spec = aid_workload(&aid, "w.yaml", text);
            if (spec == NULL)
                fail_msg("%s", aid_message(&aid));
            assert_int_equal(workload_has_limits(spec), at < 3 && row[i].limits);
            assert_int_equal(workload_has_parts(spec), row[i].parts);
            assert_int_equal(workload_has_deadlines(spec), at < 3 && row[i].deadlines);
            assert_int_equal(workload_states_priority(spec), row[i].priority);
            assert_true(workload_is_trace(spec) && workload_is_trace_alone(spec));
            assert_false(workload_has_steps(spec) || workload_generates(spec) ||
                         workload_has_choices(spec));
            assert_int_equal(workload_jobs(spec), 3);
            remove(path);
            aid_close(&aid);
        }
}

/* Draws of a mean of 0.5 are below 10 but for one in 5e8, and `min` makes them 10. */
static void steps_may_have_a_small_mean_and_a_larger_least(void **state)
{
    struct job_birth job[20];
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct workload_spec *spec = with_arrival(
        &aid, "{process: poisson, rate: 4/h}",
        "jobs: 20\nmix:\n  - {recipe: batch-infer, name: t, model: qwen2.5-1.5b, prompts: 10, "
        "prompt_tokens: 9, steps: {exponential: {mean: 0.5}, min: 10}, infer: {gpus: 1, "
        "types: [a10]}}\n");
    assert_int_equal(aid_jobs(&aid, spec, 1, 0, job, 20), 20);
    for (size_t j = 0; j < 20; j++)
        assert_int_equal(job[j].request.steps * job[j].request.form->round_steps, 10);
    aid_close(&aid);
}

/* 4/h is one in 900 s; one each 90 s is 1/90 of one a second; all at once have no rate.  Of 3 h
 * the one that comes each hour has 3, at 0, 1 and 2 h or an hour later; of two jobs, two. */
static void a_workload_tells_how_many_jobs_come(void **state)
{
    static const char one[] = "mix:\n  - {recipe: trace, name: t, gpus: 1, duration: 1h, "
                              "tenant: me}\n  - {recipe: trace, name: u, share: 3, gpus: 8, "
                              "duration: 2h}\n";
    struct aid aid;
    char text[600];

    (void)state;
    aid_open(&aid);
    snprintf(text, sizeof text, "jobs: 9\n%s", one);
    const struct workload_spec *spec = with_arrival(&aid, "{process: poisson, rate: 4/h}", text);
    assert_near(workload_rate_per_s(spec), 1.0 / 900, 1e-15);
    assert_int_equal(workload_jobs(spec), 9);
    assert_int_equal(workload_counts(spec).jobs, 0);
    assert_int_equal(workload_begin_ns(spec), 0);
    assert_near(workload_mean(spec, 0).share, 0.25, 1e-15);
    assert_near(workload_mean(spec, 1).share, 0.75, 1e-15);
    assert_near(workload_mean(spec, 1).gpu_s, 8 * 7200, 1e-9);
    assert_true(workload_mean(spec, 1).runs == 1.0);
    assert_string_equal(workload_tenant(spec, 0), "me");
    assert_string_equal(workload_tenant(spec, 1), "");
    assert_null(workload_tenant(spec, 2));
    assert_string_equal(workload_request(spec, 0).tenant, "me");
    assert_int_equal(workload_request(spec, 1).gpus, 8);
    assert_near(workload_rate_per_s(with_arrival(&aid, "{process: fixed, every: 90s}", text)),
                1.0 / 90, 1e-15);
    assert_true(workload_rate_per_s(with_arrival(&aid, "{process: all_at_once}", text)) == 0.0);
    snprintf(text, sizeof text, "for: 3h\n%s", one);
    spec = with_arrival(&aid, "{process: fixed, every: 1h}", text);
    assert_int_equal(workload_jobs(spec), 0);
    assert_true(workload_for_ns(spec) == INT64_C(10800) * CLOCK_NS_PER_S);
    aid_close(&aid);
}

/* Parts of a GPU are thousandths of one; a length below `min` is `min`. */
static void parts_are_thousandths_and_lengths_have_bounds(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct workload_spec *spec = with_arrival(
        &aid, "{process: poisson, rate: 4/h}", "jobs: 9\nmix:\n"
        "  - {recipe: trace, name: a, gpus: 0.001, duration: {choice: {1s: 0.5, 3s: 0.5}}}\n"
        "  - {recipe: trace, name: b, gpus: 0.25, duration: {constant: 5s, min: 20s}}\n"
        "  - {recipe: trace, name: c, gpus: 0.251, duration: 2s}\n"
        "  - {recipe: trace, name: d, gpus: 3, duration: 2s}\n");
    assert_int_equal(workload_request(spec, 0).gpu_milli, 1);
    assert_int_equal(workload_request(spec, 1).gpu_milli, 250);
    assert_int_equal(workload_request(spec, 2).gpu_milli, 251);
    assert_int_equal(workload_request(spec, 2).gpus, 1);
    assert_int_equal(workload_request(spec, 3).gpu_milli, 0);
    assert_int_equal(workload_request(spec, 3).gpus, 3);
    assert_near(workload_mean(spec, 0).gpu_s, 0.001 * 2, 1e-9);
    assert_near(workload_mean(spec, 1).gpu_s, 0.25 * 20, 1e-9);
    assert_near(workload_mean(spec, 0).share, 0.25, 1e-15);
    aid_close(&aid);
}

/* A GPU that is nowhere is answered with those that are, each once, in the order of the file. */
static void a_gpu_that_is_nowhere_is_answered_with_those_there_are(void **state)
{
#define HOST "cpu: {type: xeon-platinum-8380, sockets: 2}, memory: 1TB"
    static const char nodes[] =
        "nodes:\n"
        "  - {name: a, count: 1, gpus: {type: a100-80, count: 8}, " HOST ", pool: p}\n"
        "  - {name: b, count: 1, gpus: {type: a10, count: 4}, " HOST ", pool: q}\n"
        "  - {name: c, count: 1, gpus: {type: a100-80, count: 4}, " HOST ", pool: p}\n"
        "  - {name: d, count: 1, gpus: {type: a10, count: 4}, " HOST ", pool: p}\n"
        "  - {name: e, count: 1, " HOST ", pool: r}\n";
    static const struct { const char *role, *hint; } row[] = {
        { "types: [l40s]", "It has a100-80, a10." },
        { "types: [l40s], pool: p", "It has a100-80, a10." },
        { "types: [l40s], pool: q", "It has a10." },
        { "types: [a100-80], pool: q", "It has a10." },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct aid aid;
        char text[400];

        aid_open(&aid);
        aid.cluster = cluster_read(aid.arena, conf_parse(aid.arena, "c.yaml", nodes,
                                                         strlen(nodes), &aid.err),
                                   aid.catalogue, &aid.err);
        assert_non_null(aid.cluster);
        snprintf(text, sizeof text, "arrival: {process: all_at_once}\njobs: 1\nmix:\n"
                 "  - {recipe: lora, model: qwen2.5-1.5b, batch: 8, sequence: 512, steps: 4, "
                 "train: {gpus: 1, %s}}\n", row[i].role);
        assert_null(aid_workload(&aid, "w.yaml", text));
        assert_int_equal(aid.err.kind, ERR_RANGE);
        if (strcmp(aid.err.hint, row[i].hint) != 0)
            fail_msg("%s: %s | %s", row[i].role, aid.err.text, aid.err.hint);
        aid_close(&aid);
    }
#undef HOST
}

static void for_ends_the_arrivals(void **state)
{
    struct aid aid;
    static struct job_birth job[JOBS];
    char text[sizeof mix + 16];
    size_t count;

    (void)state;
    aid_open(&aid);
    snprintf(text, sizeof text, "for: 10h\n%s", mix + strlen("jobs: 500\n"));
    count = aid_jobs(&aid, with_arrival(&aid, "{process: fixed, every: 1h}",
                                        text), 1, 0, job, JOBS);
    assert_int_equal(count, 10);
    aid_close(&aid);
}

static void every_sample_workload_runs_on_its_cluster(void **state)
{
    static const char *const mixed[] = {
        "workloads/dpo_mix.yaml", "workloads/steady_mix.yaml",
        "workloads/burst_mix.yaml", "workloads/multimodal_mix.yaml"};
    struct aid aid;
    const struct conf_node *conf;

    (void)state;
    aid_open(&aid);
    conf = conf_load(aid.arena, "models/clusters/mixed_64.yaml", &aid.err);
    assert_non_null(conf);
    aid.cluster = cluster_read(aid.arena, conf, aid.catalogue, &aid.err);
    assert_non_null(aid.cluster);
    for (size_t i = 0; i < sizeof mixed / sizeof mixed[0]; i++) {
        const struct workload_spec *spec = aid_workload_file(&aid, mixed[i]);
        static struct job_birth job[10];

        if (spec == NULL)
            fail_msg("%s", aid_message(&aid));
        assert_int_equal(aid_jobs(&aid, spec, 1, 0, job, 10), 10);
    }
    aid_close(&aid);
    aid_open_generic(&aid, 64);
    assert_non_null(aid_workload_file(&aid, "workloads/trace_c480.yaml"));
    assert_non_null(aid_workload_file(&aid, "workloads/trace_sample.yaml"));
    assert_non_null(aid_workload_file(&aid, "workloads/whole_jobs.yaml"));
    aid_close(&aid);
}

static void steady_and_burst_have_equal_jobs(void **state)
{
    struct aid aid;
    static struct job_birth a[60], b[60];

    (void)state;
    aid_open(&aid);
    aid.cluster = cluster_read(aid.arena,
                               conf_load(aid.arena,
                                         "models/clusters/mixed_64.yaml",
                                         &aid.err), aid.catalogue, &aid.err);
    aid_jobs(&aid, aid_workload_file(&aid, "workloads/steady_mix.yaml"), 1,
             0, a, 60);
    aid_jobs(&aid, aid_workload_file(&aid, "workloads/burst_mix.yaml"), 1, 0,
             b, 60);
    for (size_t i = 0; i < 60; i++)
        same_but_for_time(&a[i], &b[i]);
    aid_close(&aid);
}

static void the_sample_traces_are_what_their_script_makes(void **state)
{
    static const char *const made[][2] = {
        {"csv", "workloads/traces/sample.csv"},
        {"swf", "workloads/traces/sample.swf"},
        {"pods", "workloads/traces/pods.csv"},
        {"nodes", "workloads/traces/nodes.csv"}};

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        char command[128];

        snprintf(command, sizeof command,
                 "sh workloads/traces/make.sh %s | cmp -s - %s", made[i][0],
                 made[i][1]);
        assert_int_equal(system(command), 0);
    }
}

/* The first YAML block of the manual, as it stands there. */
static void the_workload_shown_in_the_manual_is_accepted(void **state)
{
    struct aid aid;
    static char text[16384];
    FILE *file = fopen("workloads/README.md", "r");
    char *from, *to;
    static struct job_birth job[20];
    const struct workload_spec *spec;

    (void)state;
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    from = strstr(text, "```yaml\n");
    assert_non_null(from);
    from += strlen("```yaml\n");
    to = strstr(from, "```");
    assert_non_null(to);
    *to = '\0';
    aid_open(&aid);
    spec = aid_workload(&aid, "README.md", from);
    if (spec == NULL)
        fail_msg("%s", aid_message(&aid));
    assert_int_equal(aid_jobs(&aid, spec, 1, 0, job, 20), 20);
    aid_close(&aid);
}

/* Part of the message that each bad file must give. */
static const char *const bad[][2] = {
    {"bad_distribution", "either mean and cv"},
    {"duplicate_key", "jobs"},
    {"empty_mix", "mix must be a list"},
    {"key_of_another_recipe", "prompts"},
    {"missing_arrival", "arrival is missing"},
    {"missing_end", "jobs or for is missing"},
    {"missing_key", "sequence"},
    {"mix_is_no_list", "mix must be a list"},
    {"negative_share", "share"},
    {"pp_above_layers", "pp (times vp) of role train of sft must be at most"},
    {"precision_of_no_gpu", "found fp8"},
    {"rate_without_unit", "rate"},
    {"reward_core_time_on_gpu", "core_time' does nothing here: it needs `on: cpu`"},
    {"reward_model_on_cpu", "model' does nothing here: it needs `on: gpu`"},
    {"reward_without_cost", "core_time is missing"},
    {"same_name_twice", "two entries of mix are called sft"},
    {"small_batch", "batch of sft must be at least micro_batch times"},
    {"too_large_model", "GB) are missing"},
    {"too_many_cores", "5000 cores"},
    {"too_many_gpus", "at least 128 GPUs of one type, the cluster has 32"},
    {"tp_and_heads", "must divide the 32 heads of llama-2-7b, found 3"},
    {"trace_beside_mix", "arrival has no meaning beside trace"},
    {"trace_missing_column", "submit_tim"},
    {"trace_missing_file", "which is not there"},
    {"unknown_gpu", "a100-90"},
    {"unknown_key", "untill"},
    {"unknown_model", "qwen2.5-1b"},
    {"unknown_pool", "trains"},
    {"unknown_recipe", "Did you mean sft?"},
    {"zero_shares", "at least one share"},
};

static void every_bad_workload_is_refused_with_its_message(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char path[128];

        snprintf(path, sizeof path, "tests/bad/workload_%s.yaml", bad[i][0]);
        if (aid_workload_file(&aid, path) != NULL)
            fail_msg("accepted: %s", path);
        if (strstr(aid_message(&aid), bad[i][1]) == NULL)
            fail_msg("%s lacks \"%s\"", aid_message(&aid), bad[i][1]);
        assert_non_null(aid.err.pos.file);
        assert_true(aid.err.pos.line > 0 || aid.err.kind == ERR_IO);
    }
    aid_close(&aid);
}

static void every_bad_workload_file_is_tested(void **state)
{
    DIR *folder = opendir("tests/bad");
    struct dirent *entry;
    size_t count = 0;

    (void)state;
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL)
        count += strncmp(entry->d_name, "workload_", 9) == 0;
    closedir(folder);
    assert_int_equal(count, sizeof bad / sizeof bad[0]);
}

static void every_table_has_a_name_and_every_key_a_help(void **state)
{
    size_t count;
    const struct conf_schema *const *schema = workload_schemas(&count);

    (void)state;
    assert_true(count > 20);
    for (size_t i = 0; i < count; i++) {
        assert_true(schema[i]->name[0] != '\0');
        for (size_t k = 0; k < schema[i]->count; k++)
            assert_true(schema[i]->fields[k].help[0] != '\0');
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(schema[i]->name, schema[j]->name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_seeds_give_equal_jobs_however_they_are_read),
        cmocka_unit_test(another_rate_or_process_moves_only_times),
        cmocka_unit_test(another_length_of_one_kind_moves_no_other_job),
        cmocka_unit_test(shares_are_kept_and_requests_are_filled),
        cmocka_unit_test(means_heed_clamps_of_gpus),
        cmocka_unit_test(a_workload_answers_for_what_it_states),
        cmocka_unit_test(a_trace_answers_for_what_its_rows_state),
        cmocka_unit_test(steps_may_have_a_small_mean_and_a_larger_least),
        cmocka_unit_test(a_workload_tells_how_many_jobs_come),
        cmocka_unit_test(parts_are_thousandths_and_lengths_have_bounds),
        cmocka_unit_test(a_gpu_that_is_nowhere_is_answered_with_those_there_are),
        cmocka_unit_test(for_ends_the_arrivals),
        cmocka_unit_test(every_sample_workload_runs_on_its_cluster),
        cmocka_unit_test(steady_and_burst_have_equal_jobs),
        cmocka_unit_test(the_sample_traces_are_what_their_script_makes),
        cmocka_unit_test(the_workload_shown_in_the_manual_is_accepted),
        cmocka_unit_test(every_bad_workload_is_refused_with_its_message),
        cmocka_unit_test(every_bad_workload_file_is_tested),
        cmocka_unit_test(every_table_has_a_name_and_every_key_a_help),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

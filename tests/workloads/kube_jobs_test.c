/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kube_jobs_test.c - pods that become jobs: drawn files of pods beside a naive merge of them, and
 * priorities by hand.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "tests/aid/scratch.h"
#include "workloads/logs/log.h"

#define MORNING INT64_C(1768204800)     /* 2026-01-12T08:00:00Z, s since 1970 */
#define PODS_MAX 24
#define JOBS_MAX 6
#define NEVER (-1)

/* A pod as the file states it; times in s from MORNING, NEVER: it has none. */
struct pod {
    int owner, created, began, ended, node;     /* node: 0 none */
    int gpus, core_milli, mib, type;            /* type: 0 any */
    bool failed;
    int priority;               /* NEVER: none is stated */
};

/* A job as it must be read; the same units. */
struct job {
    int owner, created, began, ended;
    int gpus, core_milli, mib, type, priority;
    bool failed, one_node;
};

struct rows {
    int count;
    char text[JOBS_MAX][LOG_COLUMNS][64];
    enum csv_step end;
    struct err err;
};

static void read_file(struct scratch *scratch, const char *text, struct rows *rows)
{
    struct arena *arena = arena_new(1 << 14);
    struct csv_field field[LOG_COLUMNS];
    struct csv_source source;

    memset(rows, 0, sizeof *rows);
    scratch_write(scratch, "pods", text);
    if (!kube_open(arena, scratch_path(scratch, "pods"), &source, &rows->err)) {
        rows->end = CSV_ERROR;
        arena_free(arena);
        return;
    }
    while ((rows->end = source.next(source.self, field, &rows->err)) == CSV_ROW) {
        assert_true(rows->count < JOBS_MAX);
        for (int i = 0; i < LOG_COLUMNS; i++)
            snprintf(rows->text[rows->count][i], 64, "%s", field[i].text);
        rows->count++;
    }
    source.close(source.self);
    arena_free(arena);
}

/* ---- drawn pods ---- */

static int put_time(char *at, const char *key, int s)
{
    return s == NEVER ? 0 : sprintf(at, "%s'2026-01-12T08:%02d:%02dZ'", key, s / 60, s % 60);
}

static void write_pods(const struct pod *pod, int count, char *text)
{
    char *at = text + sprintf(text, "items:\n");

    for (int i = 0; i < count; i++) {
        const struct pod *p = &pod[i];
        at += sprintf(at, "- {apiVersion: v1, kind: Pod, metadata: {name: p%d, ", i);
        at += put_time(at, "creationTimestamp: ", p->created);
        at += sprintf(at, ", ownerReferences: [{kind: ReplicaSet, name: o%d, controller: true}]}, "
                      "spec: {", p->owner);
        if (p->node > 0)
            at += sprintf(at, "nodeName: n%d, ", p->node);
        if (p->type > 0)
            at += sprintf(at, "nodeSelector: {nvidia.com/gpu.product: t%d}, ", p->type);
        if (p->priority != NEVER)
            at += sprintf(at, "priority: %d, ", p->priority);
        at += sprintf(at, "containers: [{resources: {limits: {cpu: %dm, memory: %dMi, "
                      "nvidia.com/gpu: %d}}}]}, status: {phase: %s", p->core_milli, p->mib,
                      p->gpus, p->ended == NEVER ? "Running" : p->failed ? "Failed" : "Succeeded");
        at += put_time(at, ", startTime: ", p->began);
        at += sprintf(at, ", containerStatuses: [{state: {terminated: {");
        at += put_time(at, "finishedAt: ", p->ended);
        at += sprintf(at, "}}}]}}\n");
    }
}

/* Does the pod hold its GPUs at that second? */
static bool holds_at(const struct pod *p, int s)
{
    return p->began != NEVER && p->began <= s && (p->ended == NEVER || p->ended > s);
}

/* The largest of all sets of the owner's pods that ran at a time at which one of them began; one
 * that never began stands for all at once.  A pod that ends when it begins counts for itself. */
static void add_largest(const struct pod *pod, int count, struct job *job)
{
    int best_gpus = -1, best_pods = -1;

    for (int i = 0; i < count; i++) {
        int gpus = 0, cores = 0, mib = 0, pods = 0;
        if (pod[i].owner != job->owner)
            continue;
        for (int j = 0; j < count; j++)
            if (pod[j].owner == job->owner &&
                (j == i || pod[i].began == NEVER || holds_at(&pod[j], pod[i].began))) {
                gpus += pod[j].gpus;
                cores += pod[j].core_milli;
                mib += pod[j].mib;
                pods++;
            }
        if (gpus > best_gpus || (gpus == best_gpus && pods > best_pods)) {
            best_gpus = job->gpus = gpus;
            best_pods = pods;
            job->core_milli = cores;
            job->mib = mib;
            job->type = pod[i].type;
        }
    }
}

static struct job job_of(const struct pod *pod, int count, int owner)
{
    struct job job = { .owner = owner, .created = 9999, .began = NEVER, .ended = NEVER,
                       .one_node = true, .priority = NEVER };
    int node = NEVER;
    bool all_ended = true;

    for (int i = 0; i < count; i++) {
        const struct pod *p = &pod[i];
        if (p->owner != owner)
            continue;
        job.created = p->created < job.created ? p->created : job.created;
        if (p->began != NEVER && (job.began == NEVER || p->began < job.began))
            job.began = p->began;
        job.ended = p->ended > job.ended ? p->ended : job.ended;
        all_ended = all_ended && p->ended != NEVER;
        job.failed = job.failed || p->failed;
        job.one_node = job.one_node && p->node > 0 && (node == NEVER || node == p->node);
        node = p->node;
        job.priority = p->priority > job.priority ? p->priority : job.priority;
    }
    if (!all_ended)
        job.ended = NEVER;
    add_largest(pod, count, &job);
    return job;
}

/* Jobs by creation; of one second, as their first pods stand in the file. */
static int list_jobs(const struct pod *pod, int count, struct job job[JOBS_MAX])
{
    bool listed[JOBS_MAX] = { false };
    int jobs = 0;

    for (int i = 0; i < count; i++)
        if (!listed[pod[i].owner]) {
            int at = jobs++;
            struct job new = job_of(pod, count, pod[i].owner);
            for (; at > 0 && job[at - 1].created > new.created; at--)
                job[at] = job[at - 1];
            job[at] = new;
            listed[new.owner] = true;
        }
    return jobs;
}

static int draw_pods(uint64_t seed, struct pod pod[PODS_MAX])
{
    struct rng rng;
    int owners, count;

    rng_init(&rng, seed, "pods", 0);
    owners = 1 + (int)rng_below(&rng, JOBS_MAX);
    count = 1 + (int)rng_below(&rng, PODS_MAX);
    for (int i = 0; i < count; i++) {
        int created = (int)rng_below(&rng, 20) * 30;
        int began = rng_below(&rng, 8) == 0 ? NEVER : created + (int)rng_below(&rng, 4) * 30;
        int ended = began == NEVER || rng_below(&rng, 8) == 0
                        ? NEVER : began + (int)rng_below(&rng, 12) * 30;
        pod[i] = (struct pod){ .owner = (int)rng_below(&rng, (uint64_t)owners),
            .created = created, .began = began, .ended = ended,
            .node = (int)rng_below(&rng, 8) == 0 ? 0 : 1 + (int)rng_below(&rng, seed % 3 + 1),
            .gpus = (int)rng_below(&rng, 4), .core_milli = 250 * (int)rng_below(&rng, 9),
            .mib = 512 * (int)rng_below(&rng, 5), .type = (int)rng_below(&rng, 3),
            .failed = ended != NEVER && rng_below(&rng, 4) == 0,
            .priority = rng_below(&rng, 3) == 0 ? NEVER : (int)rng_below(&rng, 5) };
    }
    return count;
}

/* An empty text for NEVER, else the number. */
static void has_number(uint64_t seed, const char *what, const char *text, int value, int64_t from)
{
    char expected[32] = "";

    if (value != NEVER)
        snprintf(expected, sizeof expected, "%lld", (long long)(from + value));
    if (strcmp(text, expected) != 0)
        fail_msg("seed %llu: %s is '%s', expected '%s'", (unsigned long long)seed, what, text,
                 expected);
}

static void check_job(uint64_t seed, char text[LOG_COLUMNS][64], const struct job *job)
{
    char name[32];

    snprintf(name, sizeof name, "default/o%d", job->owner);
    assert_string_equal(text[LOG_JOB], name);
    assert_string_equal(text[LOG_TENANT], "default");
    has_number(seed, "submit", text[LOG_SUBMIT], job->created, MORNING);
    has_number(seed, "start", text[LOG_START], job->began, MORNING);
    has_number(seed, "end", text[LOG_END], job->ended, MORNING);
    has_number(seed, "gpus", text[LOG_GPUS], job->gpus, 0);
    has_number(seed, "memory", text[LOG_MEMORY], job->mib, 0);
    has_number(seed, "nodes", text[LOG_NODES], job->one_node ? 1 : NEVER, 0);
    has_number(seed, "priority", text[LOG_PRIORITY], job->priority, 0);
    snprintf(name, sizeof name, "t%d", job->type);
    assert_string_equal(text[LOG_TYPES], job->type > 0 ? name : "");
    assert_string_equal(text[LOG_STATE], job->failed ? "Failed" : "COMPLETED");
    assert_string_equal(text[LOG_RUN], "");
    assert_string_equal(text[LOG_LIMIT], "");
    if (fabs(1000 * atof(text[LOG_CORES]) - job->core_milli) > 1e-6)
        fail_msg("seed %llu: %s cores, expected %d m", (unsigned long long)seed, text[LOG_CORES],
                 job->core_milli);
}

static void drawn_pods_are_merged_as_a_naive_merge_does(void **state)
{
    static char text[PODS_MAX * 600];
    struct pod pod[PODS_MAX];
    struct job job[JOBS_MAX];
    struct rows rows;

    for (uint64_t seed = 1; seed <= 400; seed++) {
        int count = draw_pods(seed, pod), jobs = list_jobs(pod, count, job);
        write_pods(pod, count, text);
        read_file(*state, text, &rows);
        if (rows.end != CSV_END || rows.count != jobs)
            fail_msg("seed %llu: %d jobs, expected %d: %s", (unsigned long long)seed, rows.count,
                     jobs, rows.err.text);
        for (int i = 0; i < jobs; i++)
            check_job(seed, rows.text[i], &job[i]);
    }
}

/* ---- by hand ---- */

/* Pods and Workloads state a number; rows hold up to 1,000,000 of it either way. */
static void priorities_are_those_of_the_spec(void **state)
{
    static const struct { const char *spec, *priority; } row[] = {
        { "", "" }, { "priority: 0, ", "0" }, { "priority: -5, ", "-5" },
        { "priority: null, ", "" }, { "priority: 1000000, ", "1000000" },
        { "priority: 1000001, ", "1000000" }, { "priority: 2000001000, ", "1000000" },
        { "priority: -1000000, ", "-1000000" }, { "priority: -1000001, ", "-1000000" },
        { "priority: -2147483648, ", "-1000000" }, { "priorityClassName: high, ", "" },
        { "priorityClassName: high, priority: 70, ", "70" },
        { "priority: high, ", NULL }, { "priority: 1.5, ", NULL }, { "priority: [1], ", NULL },
        { "priority: -9223372036854775808, ", NULL },
    };
    static const char *const kind[] = { "v1, kind: Pod", "kueue.x-k8s.io/v1beta1, kind: Workload" };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        for (int k = 0; k < 2; k++) {
            char text[300];
            struct rows rows;
            snprintf(text, sizeof text, "{apiVersion: %s, metadata: {name: p}, spec: {%s"
                     "containers: []}}\n", kind[k], row[i].spec);
            read_file(*state, text, &rows);
            if ((rows.end == CSV_END) != (row[i].priority != NULL))
                fail_msg("%s: %s", text, rows.err.text);
            if (row[i].priority != NULL)
                assert_string_equal(rows.text[0][LOG_PRIORITY], row[i].priority);
            else
                assert_string_equal(rows.err.text, "spec.priority must be a whole number");
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(drawn_pods_are_merged_as_a_naive_merge_does,
                                        scratch_setup, scratch_teardown),
        cmocka_unit_test_setup_teardown(priorities_are_those_of_the_spec, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

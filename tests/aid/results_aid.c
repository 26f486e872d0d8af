/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * results_aid.c - numbers small enough to check by hand.
 *
 * Cost of seed s under policy p at point t is 10 (t + 1) (2 - p) + 2 s, jobs
 * done are 10, so that means are 10 (t + 1) (2 - p) + 1.
 */
#include "tests/aid/results_aid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiments/columns/columns.h"
#include "experiments/run/trial.h"
#include "sim/base/clock.h"

const struct results_names results_plain = {
    { "x=1/h", "x=2/h" }, { "first", "second" }, "train", "little"
};

static void put(const char *dir, const char *name, const char *header,
                const struct table *table)
{
    char path[256];
    size_t bytes;
    const char *rows = table_bytes(table, &bytes);
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    fputs(header, file);
    fwrite(rows, 1, bytes, file);
    assert_int_equal(fclose(file), 0);
}

static void put_kind(const char *dir, const struct csv_kind *kind,
                     struct table *table)
{
    char header[4096];

    table_header(kind->columns, kind->count, header, sizeof header);
    put(dir, kind->file, header, table);
    table_free(table);
}

static double value_of(int metric, int t, int p, int s)
{
    double cost = 10.0 * (t + 1) * (2 - p) + 2 * s;

    switch (metric) {
    case METRIC_JOBS: case METRIC_JOBS_DONE: return 10;
    case METRIC_COST: return cost;
    case METRIC_COST_PER_JOB: return cost / 10;
    case METRIC_JCT_MEAN: return 3600.0 * (t + 1);
    case METRIC_GPU_ALLOCATED: return 0.75;
    case METRIC_GPU_UTILIZATION: return 0.25 + 0.25 * p;
    case METRIC_GPU_BUSY: return 0.25 + 0.25 * p;
    case METRIC_GPU_BUBBLE: return 0.5 - 0.25 * p;
    case METRIC_GPU_IDLE_EMPTY: return 0.25;
    default: return 0;
    }
}

static void summary(const char *dir, const struct results_names *names)
{
    struct table *table = table_new(csv_summary.columns, csv_summary.count);

    for (int i = 0; i < 8; i++) {
        int t = i >> 2, p = i >> 1 & 1, s = i & 1;

        table_text(table, names->point[t]);
        table_text(table, names->policy[p]);
        table_count(table, (uint64_t)s);
        for (int m = 0; m < METRIC_COUNT; m++) {
            double value = value_of(m, t, p, s);

            if (csv_summary.columns[3 + m].type == TABLE_COUNT)
                table_count(table, (uint64_t)value);
            else if (csv_summary.columns[3 + m].type == TABLE_TIME)
                table_time(table, (int64_t)value * CLOCK_NS_PER_S);
            else
                table_real(table, value);
        }
        table_count(table, 0);
        table_text(table, "");
        table_end_row(table);
    }
    put_kind(dir, &csv_summary, table);
}

/* The second policy against the first: cost only. */
static void compare(const char *dir, const struct results_names *names)
{
    struct table *table = table_new(csv_compare.columns, csv_compare.count);

    for (int i = 0; i < 4; i++) {
        table_text(table, names->point[i >> 1]);
        table_text(table, names->policy[i & 1]);
        table_text(table, "cost_usd");
        table_count(table, 2);
        table_real(table, 10.0 * ((i >> 1) + 1) * (2 - (i & 1)) + 1);
        table_empty(table);
        table_empty(table);
        table_text(table, names->policy[0]);
        for (int c = 0; c < 4; c++)
            if (i & 1)
                table_real(table, c == 0 ? -48 : c == 1 ? -50
                                  : c == 2 ? -46 : 0.004);
            else
                table_empty(table);
        table_text(table, "");
        table_text(table, "");
        table_count(table, 0);
        table_empty(table);
        table_text(table, "");
        table_text(table, "");
        table_count(table, 0);
        table_end_row(table);
    }
    put_kind(dir, &csv_compare, table);
}

static void keys(struct table *table, const struct results_names *names,
                 int t, int p, int s)
{
    table_text(table, names->point[t]);
    table_text(table, names->policy[p]);
    table_count(table, (uint64_t)s);
}

/* Two jobs a trial, of 100 (p + 1) and 200 (p + 1) seconds; in the second
 * seed of the second policy the longer one is not done. */
static void jobs(const char *dir, const struct results_names *names)
{
    struct table *table = table_new(csv_jobs.columns, csv_jobs.count);

    for (int i = 0; i < 16; i++) {
        int t = i >> 3, p = i >> 2 & 1, s = i >> 1 & 1, j = i & 1;
        bool done = !(p == 1 && s == 1 && j == 1);
        int64_t jct = 100 * (p + 1) * (j + 1);

        keys(table, names, t, p, s);
        table_text(table, j == 0 ? "0" : "1");
        table_text(table, "kind");
        table_time(table, 0);
        table_time(table, 0);
        for (int c = 0; c < 3; c++)
            if (c == 1)
                table_time(table, 0);
            else if (done)
                table_time(table, jct * CLOCK_NS_PER_S);
            else
                table_empty(table);
        table_count(table, 2);
        table_text(table, "h100");
        for (int c = 0; c < 4; c++)
            table_real(table, 1);
        table_count(table, 0);
        table_text(table, done ? "done" : "unfinished");
        for (int c = 0; c < 4; c++)
            table_real(table, 0.25);
        table_count(table, 0);
        for (int c = 0; c < 5; c++)
            table_empty(table);
        table_end_row(table);
    }
    put_kind(dir, &csv_jobs, table);
}

/* Job 0 trains twice, a rollout of job 1 in between on other GPUs. */
static void phases(const char *dir, const struct results_names *names)
{
    static const struct {
        int64_t start, end;
        const char *job, *where;
    } run[] = {
        { 0, 10, "0", "0:0-1 1:0" },
        { 5, 15, "1", "3:1" },
        { 12, 20, "0", "0:0-1 1:0" },
    };
    struct table *table = table_new(csv_phases.columns, csv_phases.count);

    for (int i = 0; i < 6; i++) {
        keys(table, names, 1, i / 3, 0);
        table_text(table, run[i % 3].job);
        table_text(table, i % 3 == 1 ? "rollout" : names->phase);
        table_text(table, "gpus");
        table_time(table, run[i % 3].start * CLOCK_NS_PER_S);
        table_time(table, run[i % 3].end * CLOCK_NS_PER_S);
        table_count(table, i % 3 == 1 ? 1 : 3);
        table_text(table, "h100");
        table_text(table, run[i % 3].where);
        table_text(table, "gpu");
        table_real(table, 0.1);
        table_real(table, 0.5);
        table_real(table, 0.4);
        table_real(table, 0.4);
        table_end_row(table);
    }
    put_kind(dir, &csv_phases, table);
}

/* Two pools, two intervals of 60 s. */
static void timeline(const char *dir, const struct results_names *names)
{
    struct table *table = table_new(csv_timeline.columns, csv_timeline.count);

    for (int i = 0; i < 8; i++) {
        int p = i >> 2, t = i >> 1 & 1, pool = i & 1;

        keys(table, names, 1, p, 0);
        table_time(table, t * 60 * CLOCK_NS_PER_S);
        table_text(table, pool ? "b" : "a");
        table_count(table, 4);
        table_real(table, 2 + pool);
        table_real(table, 1 + 0.5 * t);
        table_real(table, 0);
        table_real(table, t + p);
        table_real(table, 1);
        table_real(table, 8);
        table_end_row(table);
    }
    put_kind(dir, &csv_timeline, table);
}

void results_make(char dir[64], const struct results_names *names)
{
    snprintf(dir, 64, "/tmp/clustersim_results.XXXXXX");
    assert_non_null(mkdtemp(dir));
    summary(dir, names);
    compare(dir, names);
    jobs(dir, names);
    phases(dir, names);
    timeline(dir, names);
}

void results_remove(const char *dir)
{
    char command[128];

    assert_memory_equal(dir, "/tmp/clustersim_results.", 24);
    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    assert_int_equal(system(command), 0);
}

char *results_text(const char *dir, const char *name)
{
    char path[256];
    FILE *file;
    char *text;
    long bytes;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    file = fopen(path, "rb");
    if (file == NULL)
        fail_msg("there is no %s", path);
    fseek(file, 0, SEEK_END);
    bytes = ftell(file);
    rewind(file);
    text = calloc(1, (size_t)bytes + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)bytes, file), bytes);
    fclose(file);
    return text;
}

void results_write_text(const char *dir, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

bool results_has(const char *dir, const char *name)
{
    char path[256];
    struct stat st;

    snprintf(path, sizeof path, "%s/%s", dir, name);
    return stat(path, &st) == 0;
}

void results_delete(const char *dir, const char *name)
{
    char path[256];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(unlink(path), 0);
}

bool results_gnuplot(void)
{
    return system("gnuplot --version >/dev/null 2>&1") == 0;
}

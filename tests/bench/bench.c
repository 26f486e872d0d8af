/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bench.c - the program: rows, turns, medians, a table and a CSV.
 *
 * A row has up to three probes: the engine, the bound and the plain heap.  All
 * probes of a row take turns, so that what is compared ran in the same
 * minute; each figure is the median over turns.  Times are of the processor,
 * except for whole runs, for two workers and for policies that are programs, which are
 * wall time.
 */
#include <assert.h>
#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/err.h"
#include "tests/bench/cluster.h"
#include "tests/bench/growth.h"
#include "tests/bench/probe.h"

#define TURN_COUNT 7u
#define TURN_COUNT_QUICK 3u

enum { PROBE_ENGINE, PROBE_BOUND, PROBE_HEAP, PROBE_COUNT };

/* A goal of 0 is no goal.  The goals are the design's: see sim/README.md. */
struct row {
    const char *name;
    const char *unit;
    uint64_t size;              /* 0: it has none */
    const struct bench_probe_type *probe[PROBE_COUNT];
    double goal, goal_bound;    /* in units, and as multiple of the bound */
    bool more_is_better;
    bool quick;                 /* part of --quick */
};

static const struct row rows[] = {
    {"hold", "ns", 100, {&bench_hold_loop, &bench_bound, &bench_hold_heap},
     30, 6, false, true},
    {"hold", "ns", 10000, {&bench_hold_loop, &bench_bound, &bench_hold_heap},
     40, 6, false, true},
    {"hold", "ns", 1000000, {&bench_hold_loop, &bench_bound, &bench_hold_heap},
     140, 1, false, false},
    {"cancel", "ns", 100,
     {&bench_cancel_loop, &bench_bound, &bench_cancel_heap},
     45, 0, false, true},
    {"cancel", "ns", 10000,
     {&bench_cancel_loop, &bench_bound, &bench_cancel_heap},
     55, 0, false, true},
    {"cancel", "ns", 1000000,
     {&bench_cancel_loop, &bench_bound, &bench_cancel_heap},
     300, 0, false, false},
    {"mm1-customer", "ns", 0, {&bench_mm1_loop, NULL, &bench_mm1_heap},
     40, 0, false, true},
    {"bytes-pending", "B", 10000, {&bench_bytes, NULL, NULL},
     64, 0, false, true},
    {"bytes-pending", "B", 1000000, {&bench_bytes, NULL, NULL},
     64, 0, false, false},
    {"u64", "ns", 0, {&bench_u64, NULL, NULL}, 0, 0, false, true},
    {"exponential", "ns", 0, {&bench_exponential, NULL, NULL},
     2.5, 0, false, true},
    {"normal", "ns", 0, {&bench_normal, NULL, NULL}, 2.5, 0, false, true},
    {"lognormal", "ns", 0, {&bench_lognormal, NULL, NULL}, 0, 0, false, true},
    {"flow-solve", "us", 1000, {&bench_flow_solve, NULL, NULL},
     120, 0, false, true},
    {"flow-full", "us", 1000, {&bench_flow_full, NULL, NULL},
     120, 0, false, true},
    {"flow-giant", "us", 1000, {&bench_flow_giant, NULL, NULL},
     0, 0, false, true},
    {"flow-local", "us", 1000, {&bench_flow_local, NULL, NULL},
     5, 0, false, true},
    {"flow-link", "us", 100, {&bench_flow_link, NULL, NULL},
     0, 0, false, false},
    {"flow-link", "us", 1000, {&bench_flow_link, NULL, NULL},
     0, 0, false, true},
    {"flow-link", "us", 10000, {&bench_flow_link, NULL, NULL},
     0, 0, false, false},
    {"flow-link", "us", 100000, {&bench_flow_link, NULL, NULL},
     0, 0, false, false},
    {"flow-own", "us", 100, {&bench_flow_own, NULL, NULL},
     0, 0, false, false},
    {"flow-own", "us", 1000, {&bench_flow_own, NULL, NULL},
     0, 0, false, true},
    {"flow-own", "us", 10000, {&bench_flow_own, NULL, NULL},
     0, 0, false, false},
    {"flow-own", "us", 100000, {&bench_flow_own, NULL, NULL},
     0, 0, false, false},
    {"flow-caps", "us", 100, {&bench_flow_caps, NULL, NULL},
     0, 0, false, false},
    {"flow-caps", "us", 1000, {&bench_flow_caps, NULL, NULL},
     0, 0, false, true},
    {"flow-caps", "us", 10000, {&bench_flow_caps, NULL, NULL},
     0, 0, false, false},
    {"flow-caps", "us", 100000, {&bench_flow_caps, NULL, NULL},
     0, 0, false, false},
    {"serve-pass", "ns", 8, {&bench_serve_pass, NULL, NULL},
     600, 0, false, true},
    {"serve-pass", "ns", 80, {&bench_serve_pass, NULL, NULL},
     600, 0, false, false},
    {"serve-pass", "ns", 800, {&bench_serve_pass, NULL, NULL},
     600, 0, false, true},
    {"serve-answer", "ns", 8, {&bench_serve_answer, NULL, NULL},
     0, 0, false, true},
    {"serve-answer", "ns", 80, {&bench_serve_answer, NULL, NULL},
     0, 0, false, false},
    {"serve-answer", "ns", 800, {&bench_serve_answer, NULL, NULL},
     0, 0, false, true},
    {"law-again", "ns", 0, {&bench_law_again, NULL, NULL},
     2000, 0, false, true},
    {"law-step", "ns", 0, {&bench_law_step, NULL, NULL},
     2000, 0, false, true},
    {"law-rollout", "us", 0, {&bench_law_rollout, NULL, NULL},
     0, 0, false, true},
    {"advise-70b", "ms", 0, {&bench_advise, NULL, NULL},
     2000, 0, false, true},
    {"advised", "us", 32, {&bench_advised, &bench_advised_rule, NULL},
     20, 0, false, true},
    {"advised", "us", 1000, {&bench_advised, &bench_advised_rule, NULL},
     250, 0, false, true},
    {"env-step", "us", 1, {&bench_env, NULL, NULL},
     5, 0, false, true},
    {"env-step", "us", 16, {&bench_env, NULL, NULL},
     5, 0, false, true},
    {"talk-c", "us", 1, {&bench_talk_c, &bench_ping, NULL}, 12.5, 4, false, true},
    {"talk-c", "us", 11, {&bench_talk_c, &bench_ping, NULL}, 40, 0, false, true},
    {"talk-python", "us", 1, {&bench_talk_python, &bench_ping, NULL}, 25, 8, false, true},
    {"talk-python", "us", 11, {&bench_talk_python, &bench_ping, NULL}, 40, 0, false, true},
    {"two-workers", "x", 0, {&bench_workers, NULL, NULL},
     1.9, 0, true, true},
    {"run-trial", "us", 2000, {&bench_many_trial, NULL, NULL}, 1000, 0, false, true},
    {"run-trial", "us", 20000, {&bench_many_trial, NULL, NULL}, 1000, 0, false, false},
    {"run-two-threads", "x", 2000, {&bench_many_speed, NULL, NULL}, 1.9, 0, true, true},
    {"run-two-threads", "x", 20000, {&bench_many_speed, NULL, NULL}, 1.9, 0, true, false},
    {"run-trial-bytes", "B", 20000, {&bench_many_bytes, NULL, NULL}, 500, 0, false, false},
};

struct figure {
    double median, min, max;
};

struct options {
    bool quick, help, cluster, growth;
    const char *plots;
    const char *only;
    const char *csv_path;
};

static const char help_text[] =
    "usage: clustersim bench [--quick] [--only NAME] [--csv FILE]\n"
    "                        [--suite engine|cluster|growth] [--plots DIR]\n"
    "\n"
    "Measures the engine on this machine: events, cancels, random numbers,\n"
    "max-min fair sharing, two workers.  \"bound\" is a random draw and one\n"
    "dependent load of 64 bytes among as many records, \"heap4\" a plain\n"
    "4-ary heap, both measured in turns with the engine.\n"
    "\n"
    "The suite cluster runs whole trials over synthetic jobs: processor time,\n"
    "jobs a second and peak memory, by jobs, GPUs, and jobs that come at once\n"
    "and wait.  \"x bare\" is the time over that of a bare C loop (strict FIFO\n"
    "over a count of GPUs; it reads and writes where the trial writes).\n"
    "\n"
    "The suite growth measures what a job costs under policies on 64 to 64000\n"
    "GPUs, half empty and overloaded, and where 100 to 10000 jobs wait.\n"
    "\n"
    "  --quick       a few seconds: fewer turns, nothing with 1000000 pending\n"
    "  --only NAME   only rows whose name contains NAME\n"
    "  --csv FILE    writes the rows as CSV, too\n"
    "  --suite NAME  engine (the default), cluster or growth\n"
    "  --plots DIR   of cluster: draws scale.png there\n";

static bool read_options(int argc, char **argv, struct options *options,
                         struct err *err)
{
    const struct err_pos nowhere = {NULL, 0, 0};
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--quick") == 0) {
            options->quick = true;
        } else if (strcmp(argv[i], "--help") == 0) {
            options->help = true;
        } else if (strcmp(argv[i], "--only") == 0 && next != NULL) {
            options->only = argv[++i];
        } else if (strcmp(argv[i], "--csv") == 0 && next != NULL) {
            options->csv_path = argv[++i];
        } else if (strcmp(argv[i], "--suite") == 0 && next != NULL) {
            options->cluster = strcmp(argv[++i], "cluster") == 0;
            options->growth = strcmp(argv[i], "growth") == 0;
            if (!options->cluster && !options->growth && strcmp(argv[i], "engine") != 0)
                return err_set(err, ERR_USAGE, nowhere,
                               "bench suite '%s' is unknown: allowed are "
                               "engine, cluster and growth", argv[i]);
        } else if (strcmp(argv[i], "--plots") == 0 && next != NULL) {
            options->plots = argv[++i];
        } else {
            return err_set(err, ERR_USAGE, nowhere,
                           "bench does not know '%s', or it lacks a value",
                           argv[i]);
        }
    }
    return true;
}

static bool row_is_wanted(const struct row *row, const struct options *options)
{
    if (options->quick && !row->quick)
        return false;
    return options->only == NULL || strstr(row->name, options->only) != NULL;
}

static struct figure figure_of(double *turn, size_t count)
{
    for (size_t i = 1; i < count; i++)
        for (size_t j = i; j > 0 && turn[j] < turn[j - 1]; j--) {
            double swap = turn[j];
            turn[j] = turn[j - 1];
            turn[j - 1] = swap;
        }
    return (struct figure){turn[count / 2], turn[0], turn[count - 1]};
}

/* Worlds of one row at a time exist: a million of each is enough memory. */
static void measure(const struct row *row, bool quick,
                    struct figure figure[PROBE_COUNT])
{
    void *world[PROBE_COUNT] = {NULL};
    double turn[PROBE_COUNT][TURN_COUNT];
    size_t turn_count = quick ? TURN_COUNT_QUICK : TURN_COUNT;
    for (size_t p = 0; p < PROBE_COUNT; p++)
        if (row->probe[p] != NULL)
            world[p] = row->probe[p]->make(row->size, quick);
    for (size_t t = 0; t < turn_count; t++)
        for (size_t p = 0; p < PROBE_COUNT; p++)
            if (world[p] != NULL)
                turn[p][t] = row->probe[p]->stretch(world[p]);
    for (size_t p = 0; p < PROBE_COUNT; p++) {
        figure[p] = (struct figure){0, 0, 0};
        if (world[p] == NULL)
            continue;
        figure[p] = figure_of(turn[p], turn_count);
        row->probe[p]->drop(world[p]);
    }
}

static bool goal_is_met(const struct row *row, double value)
{
    return value == 0 ? false : row->more_is_better ? value >= row->goal : value <= row->goal;
}

/* "6.1" or "-" where there is nothing to say. */
static const char *number(double value, char out[32])
{
    if (value == 0)
        return "-";
    snprintf(out, 32, value < 10 ? "%.2f" : "%.1f", value);
    return out;
}

static double ratio(double value, double to)
{
    return to == 0 ? 0 : value / to;
}

static void print_head(void)
{
    printf("%-14s %8s %9s %-4s %8s %7s %8s %7s %7s %-4s %7s %-4s\n", "measure",
           "size", "median", "unit", "bound", "x bound", "heap4", "x heap4",
           "goal", "met", "x goal", "met");
}

static void print_row(const struct row *row, const struct figure *figure)
{
    char text[6][32], size[32] = "-";
    double value = figure[PROBE_ENGINE].median;
    double bound = ratio(value, figure[PROBE_BOUND].median);
    double heap = ratio(value, figure[PROBE_HEAP].median);
    if (row->size > 0)
        snprintf(size, sizeof size, "%llu", (unsigned long long)row->size);
    printf("%-14s %8s %9.2f %-4s %8s %7s %8s %7s %7s %-4s %7s %-4s\n",
           row->name, size, value, row->unit,
           number(figure[PROBE_BOUND].median, text[0]),
           number(bound, text[1]),
           number(figure[PROBE_HEAP].median, text[2]), number(heap, text[3]),
           number(row->goal, text[4]),
           row->goal == 0 ? "-" : goal_is_met(row, value) ? "yes" : "no",
           number(row->goal_bound, text[5]),
           row->goal_bound == 0 ? "-"
           : bound > 0 && bound <= row->goal_bound ? "yes" : "no");
    fflush(stdout);
}

static void write_head(FILE *csv)
{
    fputs("measure,size,unit,median,min,max,bound,bound_ratio,heap4,"
          "heap4_ratio,goal,goal_met,bound_ratio_goal,bound_ratio_met\n", csv);
}

static void write_cell(FILE *csv, double value)
{
    if (value != 0)
        fprintf(csv, "%.6g", value);
    fputc(',', csv);
}

static void write_row(FILE *csv, const struct row *row,
                      const struct figure *figure)
{
    double value = figure[PROBE_ENGINE].median;
    double bound = ratio(value, figure[PROBE_BOUND].median);
    fprintf(csv, "%s,", row->name);
    write_cell(csv, (double)row->size);
    fprintf(csv, "%s,%.6g,%.6g,%.6g,", row->unit, value,
            figure[PROBE_ENGINE].min, figure[PROBE_ENGINE].max);
    write_cell(csv, figure[PROBE_BOUND].median);
    write_cell(csv, bound);
    write_cell(csv, figure[PROBE_HEAP].median);
    write_cell(csv, ratio(value, figure[PROBE_HEAP].median));
    write_cell(csv, row->goal);
    if (row->goal != 0)
        fputs(goal_is_met(row, value) ? "yes" : "no", csv);
    fputc(',', csv);
    write_cell(csv, row->goal_bound);
    if (row->goal_bound != 0)
        fputs(bound > 0 && bound <= row->goal_bound ? "yes" : "no", csv);
    fputc('\n', csv);
}

static bool run_rows(const struct options *options, FILE *csv,
                     struct err *err)
{
    size_t wanted_count = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        wanted_count += row_is_wanted(&rows[i], options);
    if (wanted_count == 0)
        return err_set(err, ERR_USAGE, (struct err_pos){NULL, 0, 0},
                       "no %smeasure of bench has '%s' in its name",
                       options->quick ? "quick " : "", options->only);
    print_head();
    if (csv != NULL)
        write_head(csv);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct figure figure[PROBE_COUNT];
        if (!row_is_wanted(&rows[i], options))
            continue;
        measure(&rows[i], options->quick, figure);
        print_row(&rows[i], figure);
        if (csv != NULL)
            write_row(csv, &rows[i], figure);
    }
    return true;
}

static bool run(const struct options *options, struct err *err)
{
    const struct err_pos nowhere = {NULL, 0, 0};
    FILE *csv = NULL;
    if (options->csv_path != NULL) {
        csv = fopen(options->csv_path, "w");
        if (csv == NULL)
            return err_set(err, ERR_IO, nowhere, "cannot write '%s'",
                           options->csv_path);
    }
    struct bench_cluster_options cluster = {
        options->quick, options->only, options->plots, csv,
    };
    bool ok = options->cluster ? bench_cluster(&cluster, err)
              : options->growth ? bench_growth(&cluster, err)
                                : run_rows(options, csv, err);
    if (csv != NULL) {
        bool written = ferror(csv) == 0;
        written = fclose(csv) == 0 && written;
        if (ok && !written)
            ok = err_set(err, ERR_IO, nowhere, "cannot write all of '%s'",
                         options->csv_path);
    }
    return ok;
}

int main(int argc, char **argv)
{
    struct options options = {.quick = false};
    struct err err = {.kind = ERR_NONE};
    assert(argc > 0);
    gsl_set_error_handler_off();
    bool ok = read_options(argc, argv, &options, &err);
    if (ok && options.help) {
        fputs(help_text, stdout);
        return 0;
    }
    if (ok && run(&options, &err))
        return 0;
    char text[1024];
    err_format(&err, text, sizeof text);
    fputs(text, stderr);
    return err_exit_status(err.kind);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recount_wrong_test.c - the second opinion is shown one wrong figure at a time: each metric a
 * little too high or too low, and each cell of a table with another digit or letter.
 *
 * The worlds of tests/faults run here with a recount.c whose two entries for published figures
 * are behind those of this file.  Each wrong figure is judged by a child process, as judging
 * changes the books.
 */
#include <math.h>
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

#include "experiments/columns/columns.h"
#include "experiments/recount/recount.h"
#include "experiments/recount/tables.h"
#include "experiments/run/trial.h"
#include "experiments/spec/experiment.h"

static bool close_once(struct recount *r, const double *value, int64_t end_ns,
                       uint64_t *compared, struct err *err);
static void job_once(const struct table *table, size_t *since, const struct host_job *job,
                     enum job_status status, struct judge *judge);

#define recount_close close_once
#define tables_job job_once
#include "experiments/recount/recount.c"
#undef recount_close
#undef tables_job

#define PART 1e-6               /* by which a wrong metric is off */

/* What was tried, and the first wrong figure that nobody named. */
static struct {
    unsigned tried;
    bool seen[METRIC_COUNT];    /* a wrong one was named in some world */
    char missed[700];
} all;

/* One close with wrong figures. */
struct attempt {
    struct recount *r;
    int64_t end_ns;
    double value[METRIC_COUNT];
    const double *right;
};

static const char *name_of(enum metric metric)
{
    return metric_info(NULL, metric)->name;
}

/* Notes that `said`, the answer to a wrong figure, should begin with `name`. */
static void expect(const char *said, const char *name)
{
    static const char head[] = "the audit failed: figures: ";

    all.tried++;
    if (strncmp(said, head, strlen(head)) == 0)
        said += strlen(head);
    if (strncmp(said, name, strlen(name)) != 0 && all.missed[0] == '\0')
        snprintf(all.missed, sizeof all.missed, "a wrong %s: '%s'", name, said);
}

/* What the second opinion says of the attempt; "": nothing. */
static void ask(const struct attempt *attempt, char said[300])
{
    int pipes[2];
    pid_t child;
    ssize_t bytes;

    assert_int_equal(pipe(pipes), 0);
    child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct err err = { 0 };
        uint64_t compared;
        bool sound = close_once(attempt->r, attempt->value, attempt->end_ns, &compared, &err);
        bytes = write(pipes[1], err.text, sound ? 0 : strlen(err.text));
        _exit(bytes < 0);
    }
    close(pipes[1]);
    bytes = read(pipes[0], said, 299);
    said[bytes > 0 ? bytes : 0] = '\0';
    close(pipes[0]);
    waitpid(child, NULL, 0);
}

static struct attempt right(struct recount *r, const double *value, int64_t end_ns)
{
    struct attempt attempt = { .r = r, .end_ns = end_ns, .right = value };

    memcpy(attempt.value, value, sizeof attempt.value);
    return attempt;
}

/* ---- metrics ---- */

/* Is a metric never counted again, or not in this world?  The first seven are those that
 * experiments/recount/README.md names. */
static bool is_left_out(const struct recount *r, enum metric metric)
{
    switch (metric) {
    case METRIC_SERIES_HELD: case METRIC_LIMITED: case METRIC_RENT_FORECAST: case METRIC_ENVY:
    case METRIC_QUEUE_GROWTH: case METRIC_QUEUE_FILLING: case METRIC_STEADY_AFTER:
        return true;
    case METRIC_JCT_BOUND: case METRIC_MAKESPAN_BOUND: case METRIC_COST_BOUND:
        return true;            /* sides of an inequality: below */
    case METRIC_GPU_FRAGMENT: case METRIC_GPU_GANG: case METRIC_GPU_UNSUITED:
    case METRIC_GPU_BEHIND:
        return true;            /* parts of a sum: below */
    case METRIC_PFLOP: case METRIC_WORK: case METRIC_HELD_MFU: case METRIC_HELD_WORK:
    case METRIC_PFLOP_USD: case METRIC_WORK_USD:
        return r->parts.spec->warmup_ns > 0;    /* what was before it is not known */
    case METRIC_PREEMPTIONS:
        return r->parts.spec->warmup_ns > 0 || r->host == NULL;
    case METRIC_REQUESTS: case METRIC_REQUESTS_DONE: case METRIC_SERVICE_MILLION:
    case METRIC_SERVICE_LATENCY:
        return !r->services;
    case METRIC_SLO_COUNT:
        return r->services;
    default:
        return r->host == NULL && (metric == METRIC_DECISIONS || metric == METRIC_REFUSED ||
                                   metric == METRIC_RESIZES || metric == METRIC_INTERRUPTIONS ||
                                   metric == METRIC_DROPPED || metric == METRIC_AT_100 ||
                                   metric == METRIC_AT_LAST);
    }
}

/* Each metric alone, too high in the full form and too low in the quick one.  The cost of a job is
 * judged before the cost, so it is made to fit. */
static void try_metrics(struct recount *r, const double *value, int64_t end_ns)
{
    char said[300];

    for (enum metric m = 0; m < METRIC_COUNT; m++) {
        double by = r->full ? PART : -PART;
        struct attempt attempt = right(r, value, end_ns);

        if (is_left_out(r, m))
            continue;
        attempt.value[m] = isnan(value[m]) ? 0.5 : value[m] == 0 ? 1000 * by
                                                                 : value[m] * (1 + by);
        if (m == METRIC_COST)
            attempt.value[METRIC_COST_PER_JOB] *= 1 + by;
        ask(&attempt, said);
        bool sum = m == METRIC_GPU_IDLE_EMPTY || m == METRIC_GPU_IDLE_QUEUED;
        expect(said, sum ? "gpu_idle_queued_fraction and gpu_idle_empty_fraction" : name_of(m));
        all.seen[m] = true;
    }
}

/* Moves a part of the free GPUs from one cause to another. */
static void try_move(struct recount *r, const double *value, int64_t end_ns, enum metric from,
                     enum metric to, const char *name)
{
    struct attempt attempt = right(r, value, end_ns);
    char said[300];

    attempt.value[from] -= 1e-3;
    attempt.value[to] += 1e-3;
    ask(&attempt, said);
    expect(said, name);
}

/* Which causes free GPUs have is counted again in the full form, on a host. */
static void try_causes(struct recount *r, const double *value, int64_t end_ns)
{
    static const enum metric part[] = { METRIC_GPU_FRAGMENT, METRIC_GPU_GANG,
                                        METRIC_GPU_UNSUITED, METRIC_GPU_BEHIND };
    char said[300];

    for (int i = 0; i < 4; i++) {
        struct attempt attempt = right(r, value, end_ns);
        attempt.value[part[i]] += PART;
        ask(&attempt, said);
        expect(said, "parts of gpu_idle_queued_fraction");
    }
    if (r->host == NULL)
        return;
    try_move(r, value, end_ns, METRIC_GPU_IDLE_EMPTY, METRIC_GPU_IDLE_QUEUED,
             "parts of gpu_idle_queued_fraction");
    if (!r->full)
        return;
    try_move(r, value, end_ns, METRIC_GPU_UNSUITED, METRIC_GPU_GANG, "gpu_unsuited_fraction");
    try_move(r, value, end_ns, METRIC_GPU_GANG, METRIC_GPU_FRAGMENT, "gpu_gang_fraction");
    try_move(r, value, end_ns, METRIC_GPU_GANG, METRIC_GPU_BEHIND, "gpu_gang_fraction");
}

/* A bound that is `part` of what was reached, with the gap that it would have. */
static void try_bound(struct recount *r, const double *value, int64_t end_ns, double part,
                      enum metric bound, enum metric reached, enum metric gap)
{
    struct attempt attempt = right(r, value, end_ns);
    char said[300];

    if (isnan(value[bound]) || value[reached] == 0)
        return;
    attempt.value[bound] = value[reached] * part;
    if (gap != METRIC_COUNT)
        attempt.value[gap] = part > 1 ? 0 : 1 / part - 1;
    ask(&attempt, said);
    expect(said, name_of(bound));
    all.seen[bound] = true;
}

/* Above what was reached.  Jobs of a trace that need all of their GPUs for all of their time have
 * lower bounds, too: a thousandth of what was reached is below them. */
static void try_bounds(struct recount *r, const double *value, int64_t end_ns)
{
    for (int low = 0; low <= (r->host == NULL); low++) {
        double part = low ? 1e-3 : 1 + PART;
        try_bound(r, value, end_ns, part, METRIC_JCT_BOUND, METRIC_JCT_MEAN, METRIC_GAP);
        try_bound(r, value, end_ns, part, METRIC_MAKESPAN_BOUND, METRIC_MAKESPAN,
                  METRIC_MAKESPAN_GAP);
    }
    if (r->parts.spec->warmup_ns == 0)
        try_bound(r, value, end_ns, 1 + PART, METRIC_COST_BOUND, METRIC_COST, METRIC_COUNT);
}

/* ---- tables ---- */

/* The rows of a table, to be changed where they lie. */
static char *rows_of(const struct table *table, size_t *bytes)
{
    return (char *)(uintptr_t)table_bytes(table, bytes);
}

/* The cell of a row that begins at `row`; no cell here has quotes. */
static char *cell_of(char *row, size_t column)
{
    for (; column > 0; column--)
        row = strchr(row, ',') + 1;
    return row;
}

/* Changes the first digit of a number that is not 0, or the first letter of a text; an empty cell
 * stays.  Returns the byte and stores what it was; NULL: none. */
static char *spoil(char *cell, bool number, char *was)
{
    size_t length = strcspn(cell, ",\n"), at = 0;

    if (length == 0)
        return NULL;
    if (number) {
        at = strcspn(cell, "123456789");
        at = at < length ? at : 0;
    }
    *was = cell[at];
    cell[at] = number ? (char)(*was < '9' ? *was + 1 : '8') : *was == 'x' ? 'y' : 'x';
    return &cell[at];
}

/* Spoils one cell of a table, asks, and puts it back. */
static void try_cell(const struct attempt *attempt, char *row, size_t column,
                     const struct csv_kind *kind, const char *name)
{
    char said[300], was, *byte;

    byte = spoil(cell_of(row, column), kind->columns[column].type != TABLE_TEXT, &was);
    if (byte == NULL)
        return;
    ask(attempt, said);
    *byte = was;
    expect(said, name);
}

/* Columns of tenants.csv, but for envy, which is not counted again. */
static void try_tenants(const struct attempt *attempt, const struct table *table)
{
    size_t bytes;
    char *row = rows_of(table, &bytes), *end = row + bytes, name[64];

    for (; row < end; row = strchr(row, '\n') + 1)
        for (size_t c = 3; c < csv_tenants.count; c++) {
            const char *column = csv_tenants.columns[c].name;
            if (strncmp(column, "envy", 4) == 0)
                continue;
            snprintf(name, sizeof name, "%s of tenants.csv", column);
            try_cell(attempt, row, c, &csv_tenants, c == 3 ? "tenants.csv: " : name);
        }
}

/* What rows of services.csv are said to be, one column wrong; NULL: it is not counted again.
 * Where requests came and where they went must add up. */
static const char *of_service(const char *column)
{
    static const char *const said[][2] = {
        { "requests", "requests of services.csv" }, { "done", "requests of services.csv" },
        { "dropped", "requests of services.csv" }, { "refused", "requests of services.csv" },
        { "unfinished", "requests of services.csv" },
        { "latency_p99_s", "service_latency_p99_s" },
        { "gpu_hours", "gpu_hours of services.csv" },
        { "core_hours", "core_hours of services.csv" },
        { "cost_usd", "cost_per_million_usd of services.csv" },
        { "cost_per_million_usd", "cost_per_million_usd of services.csv" },
        { "energy_kwh", "energy_kwh of services.csv" },
    };

    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        if (strcmp(column, said[i][0]) == 0)
            return said[i][1];
    return NULL;
}

static void try_services(const struct attempt *attempt, const struct table *table)
{
    size_t bytes;
    char *row = rows_of(table, &bytes), *end = row + bytes;

    for (; row < end; row = strchr(row, '\n') + 1)
        for (size_t c = 3; c < csv_services.count; c++) {
            const char *name = of_service(csv_services.columns[c].name);
            if (name != NULL)
                try_cell(attempt, row, c, &csv_services, name);
        }
}

/* The first row of timeline.csv, and one in fifty: each column from the allocated GPUs on is
 * integrated, and a first time is that of the run. */
static void try_timeline(const struct attempt *attempt, const struct table *table)
{
    size_t bytes, number = 0;
    char *row = rows_of(table, &bytes), *end = row + bytes, name[64];

    for (; row < end; row = strchr(row, '\n') + 1, number++)
        for (size_t c = 3; c < csv_timeline.count && number % 50 == 0; c++) {
            const char *column = csv_timeline.columns[c].name;
            if (c == 4 || c == 5 || (c == 3 && number > 0))
                continue;
            snprintf(name, sizeof name, "%s of timeline.csv", column);
            try_cell(attempt, row, c, &csv_timeline, name);
        }
}

/* ---- in their places ---- */

bool recount_close(struct recount *r, const double *value, int64_t end_ns, uint64_t *compared,
                   struct err *err)
{
    struct attempt attempt = right(r, value, end_ns);

    try_metrics(r, value, end_ns);
    try_causes(r, value, end_ns);
    try_bounds(r, value, end_ns);
    if (r->parts.tenants != NULL && rows_all(r->books.rows, &(uint32_t){ 0 }) != NULL)
        try_tenants(&attempt, r->parts.tenants);
    if (r->parts.services != NULL)
        try_services(&attempt, r->parts.services);
    if (r->parts.timeline != NULL)
        try_timeline(&attempt, r->parts.timeline);
    return close_once(r, value, end_ns, compared, err);
}

/* Each cell of the row of a job but for the point, the policy, the seed, the number and the kind
 * of the job. */
static void job_once(const struct table *table, size_t *since, const struct host_job *job,
                     enum job_status status, struct judge *judge)
{
    size_t bytes;
    char *row = rows_of(table, &bytes) + *since, was, name[64];

    for (size_t c = 5; c < csv_jobs.count && table_is_whole(table); c++) {
        struct judge wrong = { .terms = judge->terms };
        size_t from = *since;
        char *byte = spoil(cell_of(row, c), csv_jobs.columns[c].type != TABLE_TEXT, &was);

        if (byte == NULL)
            continue;
        tables_job(table, &from, job, status, &wrong);
        *byte = was;
        snprintf(name, sizeof name, "%s of jobs.csv", csv_jobs.columns[c].name);
        expect(wrong.broken, name);
    }
    tables_job(table, since, job, status, judge);
}

/* ---- worlds ---- */

/* Runs a trial with all tables, and looks at what was missed. */
static void run(const struct experiment *experiment, uint32_t trial, bool full)
{
    struct trial_spec spec = experiment_trial_spec(experiment, trial);
    struct table *table[] = {
        table_new(csv_jobs.columns, csv_jobs.count),
        table_new(csv_timeline.columns, csv_timeline.count),
        table_new(csv_tenants.columns, csv_tenants.count),
        table_new(csv_services.columns, csv_services.count),
    };
    struct trial_tables tables = { .jobs = table[0], .timeline = table[1], .tenants = table[2],
                                   .services = table[3] };
    struct trial_result result;
    struct err err = { 0 };

    spec.audit_full = full;
    if (!trial_run(&spec, &tables, &result, &err))
        fail_msg("%s", err.text);
    if (all.missed[0] != '\0')
        fail_msg("policy %u, %s: %s", trial, full ? "full" : "quick", all.missed);
    for (size_t i = 0; i < 4; i++)
        table_free(table[i]);
}

static void run_file(const char *path)
{
    struct experiment_options options = { 0 };
    struct arena *arena = arena_new(1 << 16);
    struct err err = { 0 };
    const struct experiment *experiment = experiment_read(arena, path, &options, &err);

    if (experiment == NULL)
        fail_msg("%s", err.text);
    for (uint32_t i = 0; i < 2 * experiment->policy_count; i++)
        run(experiment, i / 2, i % 2 == 1);
    arena_free(arena);
}

static void wrong_figures_of_phases_are_named(void **state)
{
    (void)state;
    run_file("tests/faults/rl.yaml");
}

static void wrong_figures_of_tenants_are_named(void **state)
{
    (void)state;
    run_file("tests/faults/shared.yaml");
}

static void wrong_figures_of_services_are_named(void **state)
{
    (void)state;
    run_file("tests/faults/chat.yaml");
}

static void wrong_figures_of_pools_are_named(void **state)
{
    (void)state;
    run_file("tests/faults/capped.yaml");
}

static void wrong_figures_of_counted_gpus_are_named(void **state)
{
    (void)state;
    run_file("tests/faults/counted.yaml");
}

/* No metric was left out in all worlds, but for the seven, and for the parts of a sum. */
static void each_metric_was_wrong_once(void **state)
{
    unsigned never = 0;

    (void)state;
    for (int m = 0; m < METRIC_COUNT; m++)
        never += !all.seen[m];
    assert_int_equal(never, 7 + 4);
    assert_true(all.tried > 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_figures_of_phases_are_named),
        cmocka_unit_test(wrong_figures_of_tenants_are_named),
        cmocka_unit_test(wrong_figures_of_services_are_named),
        cmocka_unit_test(wrong_figures_of_pools_are_named),
        cmocka_unit_test(wrong_figures_of_counted_gpus_are_named),
        cmocka_unit_test(each_metric_was_wrong_once),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

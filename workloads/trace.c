/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace.c - a file of past jobs: CSV whose columns the workload names, or SWF.
 *
 * Fields of the Standard Workload Format (Chapin et al. 1999; version 2.2):
 * 2 submit time, 4 run time, 5 allocated processors or, where that is not
 * known, 8 requested processors, 9 requested time.  A processor is taken for
 * a GPU.
 *
 * Invariant: jobs come in file order and submit times never go down.  If the
 * workload asks for `unsorted: sort`, the rows are kept when the file is
 * checked, sorted by (submit time, row), and trials walk that array.
 */
#include "workloads/trace.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "models/catalogue.h"
#include "models/cluster.h"
#include "models/phase.h"
#include "sim/arena.h"
#include "sim/clock.h"
#include "sim/rng.h"
#include "workloads/csv.h"
#include "workloads/recipe.h"
#include "workloads/trace_row.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

struct columns {
    const char *job, *submit, *duration, *gpus, *limit, *tenant, *priority;
};
struct slice_keys { int64_t from_ns, for_ns, jobs; };
struct skip_keys { bool run_time, gpus, too_large; };

struct trace_keys {
    const char *file;
    int format, estimate, unsorted, origin, gpus_are;
    const struct conf_node *columns, *slice, *skip, *role;
};

static const char *const format_choices[] = {"csv", "swf", NULL};
static const char *const estimate_choices[] = {
    "exact", "requested", "noisy", NULL};
static const char *const unsorted_choices[] = {"error", "sort", NULL};
static const char *const origin_choices[] = {"first", "file", NULL};
static const char *const gpus_are_choices[] = {"gpus", "processors", NULL};
enum { FORMAT_CSV, FORMAT_SWF };
enum { UNSORTED_ERROR, UNSORTED_SORT };
enum { ORIGIN_FIRST, ORIGIN_FILE };

#define TRACE(NAME, TYPE, FALLBACK, CHOICES, HELP) \
    {#NAME, TYPE, offsetof(struct trace_keys, NAME), 0, 0, FALLBACK, \
     CHOICES, HELP}
static const struct conf_field trace_fields[] = {
    TRACE(file, CONF_TEXT, NULL, NULL, "the file, plain or gzip"),
    TRACE(format, CONF_CHOICE, "csv", format_choices, "how it is written"),
    TRACE(columns, CONF_NODE, CONF_ABSENT, NULL,
          "csv: which column is what; needed there"),
    TRACE(estimate, CONF_CHOICE, "exact", estimate_choices,
          "what a policy may know of run times"),
    TRACE(slice, CONF_NODE, CONF_ABSENT, NULL, "a part of the file"),
    TRACE(skip, CONF_NODE, CONF_ABSENT, NULL,
          "rows to leave out, counted; without it they are errors"),
    TRACE(unsorted, CONF_CHOICE, "error", unsorted_choices,
          "rows whose submit times go down"),
    TRACE(origin, CONF_CHOICE, "first", origin_choices,
          "time 0: the first job's submission, or the file's own zero"),
    TRACE(gpus_are, CONF_CHOICE, CONF_ABSENT, gpus_are_choices,
          "what the file counts: swf counts processors, each taken for a "
          "GPU"),
    TRACE(role, CONF_NODE, CONF_ABSENT, NULL,
          "per GPU: cores, memory; types, pool"),
};
const struct conf_schema trace_schema = {
    "workload.trace", "jobs of a file", trace_fields, COUNT(trace_fields)};

#define COLUMN(NAME, FALLBACK, HELP) \
    {#NAME, CONF_TEXT, offsetof(struct columns, NAME), 0, 0, FALLBACK, \
     NULL, HELP}
static const struct conf_field columns_fields[] = {
    COLUMN(job, CONF_ABSENT, "name of the job; default: its number"),
    COLUMN(submit, NULL, "submit time: seconds, or a date and time"),
    COLUMN(duration, NULL, "run time in seconds"),
    COLUMN(gpus, NULL, "GPUs, a whole number"),
    COLUMN(limit, CONF_ABSENT, "requested time in seconds; <= 0: none"),
    COLUMN(tenant, CONF_ABSENT, "whose job it is"),
    COLUMN(priority, CONF_ABSENT, "whole number, larger goes first"),
};
const struct conf_schema trace_columns_schema = {
    "workload.trace.columns", "which column of the CSV is what",
    columns_fields, COUNT(columns_fields)};

#define SLICE(NAME, TYPE, MEMBER, MAX, HELP) \
    {NAME, TYPE, offsetof(struct slice_keys, MEMBER), 0, MAX, CONF_ABSENT, \
     NULL, HELP}
static const struct conf_field slice_fields[] = {
    SLICE("from", CONF_TIME, from_ns, 9e9,
          "after the first row of the file"),
    SLICE("for", CONF_TIME, for_ns, 9e9, "length, from there"),
    SLICE("jobs", CONF_INT, jobs, 4e9, "at most so many jobs"),
};
const struct conf_schema trace_slice_schema = {
    "workload.trace.slice", "a part of the file", slice_fields,
    COUNT(slice_fields)};

#define SKIP(NAME, MEMBER, HELP) \
    {NAME, CONF_BOOL, offsetof(struct skip_keys, MEMBER), 0, 0, "false", \
     NULL, HELP}
static const struct conf_field skip_fields[] = {
    SKIP("run_time_not_positive", run_time, "run time <= 0, or unknown"),
    SKIP("gpus_not_positive", gpus, "no GPUs"),
    SKIP("larger_than_cluster", too_large, "more GPUs than the cluster has"),
};
const struct conf_schema trace_skip_schema = {
    "workload.trace.skip", "rows to leave out, counted", skip_fields,
    COUNT(skip_fields)};

struct trace_spec {
    struct trace_keys keys;
    struct columns columns;
    struct slice_keys slice;
    struct skip_keys skip;
    const char *path;
    const struct conf_node *conf;
    struct err_pos columns_pos;
    struct job_form form;
    uint32_t gpus_max;          /* the largest job the cluster could run */
    int64_t first_ns;           /* submit time of the first row */
    int64_t origin_ns;          /* subtracted from every submit time */
    struct source_counts counts;
    const struct row *sorted;   /* `unsorted: sort`; else NULL */
    size_t sorted_count;
};

/* A set of texts, so that a tenant is kept once: open addressing, a power of
 * two of slots; looked up, never walked. */
struct names {
    const char **slot;
    size_t slots, count;
};

struct trace {
    struct arena *arena;
    const struct trace_spec *spec;
    struct csv *csv;            /* NULL: spec->sorted */
    struct row_columns at;
    struct names tenants;
    uint64_t rows, jobs;        /* read; handed out */
    int64_t last_ns;            /* submit time of the last row */
    struct source_counts counts;
};

/* ---- rows into jobs --------------------------------------------------- */

enum fate { FATE_JOB, FATE_SKIP, FATE_END, FATE_ERROR };

static bool too_large(const struct trace *trace, const struct row *row,
                      struct err *err)
{
    const struct trace_spec *spec = trace->spec;

    err_set(err, ERR_RANGE, csv_pos(trace->csv, trace->at.gpus),
            "job asks for %lld GPUs and can never run: the cluster has %u "
            "that it may use", (long long)row->gpus, spec->gpus_max);
    return err_hint(err, "Leave such rows out with skip: "
                         "{larger_than_cluster: true}.");
}

/* Is the row a job by its own values? */
static enum fate judge_values(struct trace *trace, const struct row *row,
                              struct err *err)
{
    const struct skip_keys *skip = &trace->spec->skip;

    if (row->duration_ns <= 0) {
        if (skip->run_time) {
            trace->counts.skipped_run_time++;
            return FATE_SKIP;
        }
        row_fault(trace->csv, trace->at.duration, ERR_RANGE,
                  "greater than 0", err);
        err_hint(err, "Leave such rows out with skip: "
                      "{run_time_not_positive: true}.");
        return FATE_ERROR;
    }
    if (row->gpus <= 0) {
        if (skip->gpus) {
            trace->counts.skipped_gpus++;
            return FATE_SKIP;
        }
        row_fault(trace->csv, trace->at.gpus, ERR_RANGE, "greater than 0",
                  err);
        err_hint(err, "Leave such rows out with skip: {gpus_not_positive: "
                      "true}.");
        return FATE_ERROR;
    }
    if (row->gpus <= (int64_t)trace->spec->gpus_max)
        return FATE_JOB;
    if (skip->too_large) {
        trace->counts.skipped_too_large++;
        return FATE_SKIP;
    }
    too_large(trace, row, err);
    return FATE_ERROR;
}

static bool is_sorted(const struct trace *trace, const struct row *row,
                      struct err *err)
{
    char now[32], last[32];

    if (trace->rows == 0 || row->submit_ns >= trace->last_ns ||
        trace->spec->keys.unsorted == UNSORTED_SORT)
        return true;
    clock_format_s(row->submit_ns, now, sizeof now);
    clock_format_s(trace->last_ns, last, sizeof last);
    err_set(err, ERR_RANGE, csv_pos(trace->csv, trace->at.submit),
            "submit time %s s is before that of the row above, %s s: rows "
            "must be sorted", now, last);
    return err_hint(err, "Sort the file, or ask for it with unsorted: sort.");
}

/* Where the row lies: before, in or after the slice. */
static enum fate judge_slice(struct trace *trace, const struct row *row)
{
    const struct slice_keys *slice = &trace->spec->slice;
    int64_t at_ns = row->submit_ns - trace->spec->first_ns;

    if (at_ns < slice->from_ns ||
        (slice->for_ns > 0 && at_ns - slice->from_ns >= slice->for_ns)) {
        trace->counts.outside_slice++;
        return FATE_SKIP;
    }
    return FATE_JOB;
}

/* Has the slice all its jobs?  Of rows that are sorted later, none is known
 * to be among the first before all are read. */
static bool slice_is_full(const struct trace *trace)
{
    const struct trace_spec *spec = trace->spec;

    return spec->keys.unsorted == UNSORTED_ERROR && spec->slice.jobs > 0 &&
           trace->jobs >= (uint64_t)spec->slice.jobs;
}

/* The next row that is a job. */
static enum fate next_row(struct trace *trace, struct row *row,
                          struct err *err)
{
    while (!slice_is_full(trace)) {
        enum csv_step step = csv_next(trace->csv, err);
        enum fate fate;

        if (step == CSV_END)
            return FATE_END;
        if (step == CSV_ERROR || !row_read(trace->csv, &trace->at, row, err) ||
            !is_sorted(trace, row, err))
            return FATE_ERROR;
        row->number = trace->rows++;
        trace->last_ns = row->submit_ns;
        fate = judge_slice(trace, row);
        if (fate == FATE_JOB)
            fate = judge_values(trace, row, err);
        if (fate == FATE_JOB)
            trace->jobs++;
        if (fate != FATE_SKIP)
            return fate;
    }
    return FATE_END;
}

/* ---- opening ---------------------------------------------------------- */

static bool find_column(const struct trace *trace, const char *key,
                        const char *name, size_t *out, struct err *err)
{
    const struct trace_spec *spec = trace->spec;
    const char *near;

    *out = ROW_NO_COLUMN;
    if (name == NULL)
        return true;
    *out = csv_find(trace->csv, name);
    if (*out != ROW_NO_COLUMN)
        return true;
    err_set(err, ERR_REFERENCE, spec->columns_pos,
            "%s names column %s, which %s does not have", key, name,
            spec->path);
    near = conf_nearest(name, csv_names(trace->csv));
    if (near != NULL)
        return err_hint(err, "The nearest column is %s.", near);
    return err_hint(err, "Its first column is %s.",
                    csv_names(trace->csv)[0]);
}

static bool find_columns(struct trace *trace, struct err *err)
{
    const struct columns *names = &trace->spec->columns;
    struct row_columns *at = &trace->at;

    at->gpus_else = ROW_NO_COLUMN;
    if (trace->spec->keys.format == FORMAT_SWF) {
        *at = (struct row_columns){
            .job = 0, .submit = 1, .duration = 3, .gpus = 4, .gpus_else = 7,
            .limit = 8, .tenant = ROW_NO_COLUMN, .priority = ROW_NO_COLUMN};
        return true;
    }
    return find_column(trace, "job", names->job, &at->job, err) &&
           find_column(trace, "submit", names->submit, &at->submit, err) &&
           find_column(trace, "duration", names->duration, &at->duration,
                       err) &&
           find_column(trace, "gpus", names->gpus, &at->gpus, err) &&
           find_column(trace, "limit", names->limit, &at->limit, err) &&
           find_column(trace, "tenant", names->tenant, &at->tenant, err) &&
           find_column(trace, "priority", names->priority, &at->priority,
                       err);
}

static struct trace *open_file(struct arena *arena,
                               const struct trace_spec *spec,
                               struct err *err)
{
    struct trace *trace = arena_alloc(arena, 1, sizeof *trace);

    trace->arena = arena;
    trace->spec = spec;
    trace->csv = csv_open(arena, spec->path,
                          spec->keys.format == FORMAT_SWF ? CSV_SWF
                                                          : CSV_COMMA, err);
    if (trace->csv == NULL)
        return NULL;
    if (find_columns(trace, err))
        return trace;
    csv_close(trace->csv);
    return NULL;
}

struct trace *trace_open(struct arena *arena, const struct trace_spec *spec,
                         struct err *err)
{
    struct trace *trace;

    assert(spec != NULL && spec->counts.jobs > 0);
    if (spec->sorted == NULL)
        return open_file(arena, spec, err);
    trace = arena_alloc(arena, 1, sizeof *trace);
    trace->arena = arena;
    trace->spec = spec;
    return trace;
}

void trace_close(struct trace *trace)
{
    if (trace != NULL)
        csv_close(trace->csv);
}

static void names_put(struct names *names, const char *text)
{
    size_t i = rng_hash_text(text) & (names->slots - 1);

    while (names->slot[i] != NULL)
        i = (i + 1) & (names->slots - 1);
    names->slot[i] = text;
}

/* The kept copy of a text, made when it is met for the first time. */
static const char *names_keep(struct names *names, struct arena *arena,
                              const char *text)
{
    struct names larger = {NULL, names->slots == 0 ? 64 : 2 * names->slots,
                           names->count};
    size_t i;

    if (2 * names->count >= names->slots) {
        larger.slot = arena_alloc(arena, larger.slots, sizeof *larger.slot);
        for (i = 0; i < names->slots; i++)
            if (names->slot[i] != NULL)
                names_put(&larger, names->slot[i]);
        *names = larger;
    }
    i = rng_hash_text(text) & (names->slots - 1);
    while (names->slot[i] != NULL && strcmp(names->slot[i], text) != 0)
        i = (i + 1) & (names->slots - 1);
    if (names->slot[i] == NULL) {
        names->slot[i] = arena_text(arena, text);
        names->count++;
    }
    return names->slot[i];
}

static void birth_fill(struct trace *trace, const struct row *row,
                       struct job_birth *birth)
{
    const struct trace_spec *spec = trace->spec;

    memset(birth, 0, sizeof *birth);
    birth->request.id.i = (uint32_t)(trace->jobs - 1);
    birth->request.form = &spec->form;
    birth->request.name = row->name;
    birth->request.tenant = row->tenant;
    birth->request.submit_ns = row->submit_ns - spec->origin_ns;
    birth->request.limit_ns = row->limit_ns;
    birth->request.deadline_ns = CLOCK_NEVER_NS;
    birth->request.priority = row->priority;
    birth->request.gpus = (uint32_t)row->gpus;
    birth->request.steps = 1;
    birth->truth.duration_ns = row->duration_ns;
    birth->truth.seed = row->number;
}

enum source_step trace_next(struct trace *trace, struct job_birth *birth,
                            struct err *err)
{
    struct row row;

    if (trace->csv == NULL) {
        if (trace->jobs == trace->spec->sorted_count)
            return SOURCE_END;
        birth_fill(trace, &trace->spec->sorted[trace->jobs++], birth);
        birth->request.id.i = (uint32_t)(trace->jobs - 1);
        return SOURCE_JOB;
    }
    switch (next_row(trace, &row, err)) {
    case FATE_ERROR:
        return SOURCE_ERROR;
    case FATE_END:
    case FATE_SKIP:
        return SOURCE_END;
    case FATE_JOB:
        break;
    }
    if (row.name != NULL)
        row.name = arena_text(trace->arena, row.name);
    if (row.tenant != NULL)
        row.tenant = names_keep(&trace->tenants, trace->arena, row.tenant);
    birth_fill(trace, &row, birth);
    return SOURCE_JOB;
}

/* ---- the first reading ------------------------------------------------ */

static int by_submit(const void *left, const void *right)
{
    const struct row *a = left, *b = right;

    if (a->submit_ns != b->submit_ns)
        return a->submit_ns < b->submit_ns ? -1 : 1;
    return a->number < b->number ? -1 : a->number > b->number;
}

/* Rows kept while the file is checked, for `unsorted: sort`. */
struct kept_rows {
    struct row *row;
    size_t count, room;
};

static void keep_row(struct trace *trace, struct kept_rows *kept,
                     struct row *row)
{
    if (kept->count == kept->room) {
        size_t room = kept->room == 0 ? 1024 : 2 * kept->room;

        kept->row = arena_grow(trace->arena, kept->row, kept->count, room,
                               sizeof *kept->row);
        kept->room = room;
    }
    if (row->name != NULL)
        row->name = arena_text(trace->arena, row->name);
    if (row->tenant != NULL)
        row->tenant = names_keep(&trace->tenants, trace->arena, row->tenant);
    kept->row[kept->count++] = *row;
}

/* Submit time of the first row, or the least of all: where slices start.  A
 * date has no zero of its own that a simulation could begin at. */
static bool find_first(struct trace_spec *spec, struct trace *trace,
                       struct err *err)
{
    struct row row;
    enum csv_step step;
    bool sort = spec->keys.unsorted == UNSORTED_SORT;

    while ((step = csv_next(trace->csv, err)) == CSV_ROW) {
        if (!row_read(trace->csv, &trace->at, &row, err))
            return false;
        if (trace->rows++ == 0 || row.submit_ns < spec->first_ns)
            spec->first_ns = row.submit_ns;
        if (!sort)
            return true;
    }
    if (step == CSV_ERROR)
        return false;
    if (trace->rows > 0)
        return true;
    return err_set(err, ERR_SYNTAX, (struct err_pos){spec->path, 0, 0},
                   "file has no rows");
}

/* Reads every row, once. */
static bool check_rows(struct trace_spec *spec, struct trace *trace,
                       struct kept_rows *kept, struct err *err)
{
    struct row row;
    enum fate fate;

    while ((fate = next_row(trace, &row, err)) == FATE_JOB) {
        if (trace->jobs == 1 || row.submit_ns < spec->origin_ns)
            spec->origin_ns = row.submit_ns;
        if (spec->keys.unsorted == UNSORTED_SORT)
            keep_row(trace, kept, &row);
    }
    if (fate == FATE_ERROR)
        return false;
    if (spec->keys.origin == ORIGIN_FILE)
        spec->origin_ns = 0;
    spec->counts = trace->counts;
    spec->counts.rows = trace->rows;
    spec->counts.jobs = trace->jobs;
    spec->counts.blank_lines = csv_blank_lines(trace->csv);
    if (trace->jobs == 0)
        return err_set(err, ERR_RANGE, conf_pos(spec->conf),
                       "none of the %llu rows of %s is a job: %llu were "
                       "left out by skip, %llu lie outside of the slice",
                       (unsigned long long)trace->rows, spec->path,
                       (unsigned long long)(trace->rows -
                                            trace->counts.outside_slice),
                       (unsigned long long)trace->counts.outside_slice);
    if (trace->jobs < ID_NONE)
        return true;
    return err_set(err, ERR_RANGE, conf_pos(spec->conf),
                   "%s has more than %u jobs", spec->path, ID_NONE - 1);
}

static void sort_rows(struct trace_spec *spec, const struct kept_rows *kept)
{
    uint64_t most = (uint64_t)spec->slice.jobs;

    qsort(kept->row, kept->count, sizeof *kept->row, by_submit);
    spec->sorted = kept->row;
    spec->sorted_count = kept->count;
    if (most > 0 && most < kept->count) {
        spec->counts.outside_slice += kept->count - most;
        spec->counts.jobs = spec->sorted_count = most;
    }
}

static bool check_file(struct trace_spec *spec, const struct world *world)
{
    struct trace *trace = open_file(world->arena, spec, world->err);
    struct kept_rows kept = {0};
    bool good;

    if (trace == NULL)
        return false;
    good = find_first(spec, trace, world->err);
    trace_close(trace);
    if (!good)
        return false;
    trace = open_file(world->arena, spec, world->err);
    if (trace == NULL)
        return false;
    good = check_rows(spec, trace, &kept, world->err);
    trace_close(trace);
    if (!good || spec->keys.unsorted != UNSORTED_SORT)
        return good;
    sort_rows(spec, &kept);
    return true;
}

/* ---- keys -------------------------------------------------------------- */

static bool read_keys(struct trace_spec *spec, const struct world *world,
                      const struct conf_node *conf)
{
    struct trace_keys *keys = &spec->keys;
    struct err *err = world->err;

    spec->conf = conf;
    keys->gpus_are = -1;
    if (!conf_fill(conf, &trace_schema, keys, err))
        return false;
    spec->path = csv_path(world->arena, conf_pos(conf_get(conf, "file")).file,
                          keys->file);
    if (keys->format == FORMAT_CSV && keys->columns == NULL)
        return err_set(err, ERR_SCHEMA, conf_pos(conf),
                       "columns is missing: format csv needs it");
    if (keys->format == FORMAT_SWF && keys->columns != NULL)
        return err_set(err, ERR_SCHEMA, conf_pos(keys->columns),
                       "columns has no meaning for format swf");
    if (keys->columns != NULL) {
        spec->columns_pos = conf_pos(keys->columns);
        if (!conf_fill(keys->columns, &trace_columns_schema, &spec->columns,
                       err))
            return false;
    }
    if (keys->estimate == ESTIMATE_REQUESTED &&
        keys->format == FORMAT_CSV && spec->columns.limit == NULL)
        return err_set(err, ERR_SCHEMA, conf_pos(conf),
                       "estimate requested needs the column limit");
    if (keys->slice != NULL &&
        !conf_fill(keys->slice, &trace_slice_schema, &spec->slice, err))
        return false;
    return keys->skip == NULL ||
           conf_fill(keys->skip, &trace_skip_schema, &spec->skip, err);
}

const struct trace_spec *trace_read(const struct world *world,
                                    const struct conf_node *conf)
{
    struct trace_spec *spec = arena_alloc(world->arena, 1, sizeof *spec);

    assert(conf != NULL);
    if (!read_keys(spec, world, conf) ||
        !whole_job_form(world, "trace", &role_trace_schema, spec->keys.role,
                        conf_pos(conf), &spec->form, &spec->gpus_max) ||
        !check_file(spec, world))
        return NULL;
    return spec;
}

const struct job_form *trace_form(const struct trace_spec *spec)
{
    return &spec->form;
}

struct source_counts trace_counts(const struct trace_spec *spec)
{
    return spec->counts;
}

enum workload_estimate trace_estimate(const struct trace_spec *spec)
{
    return (enum workload_estimate)spec->keys.estimate;
}

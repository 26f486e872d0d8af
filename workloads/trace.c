/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace.c - a file of past jobs: CSV whose columns the workload names, or SWF.
 *
 * Fields of the Standard Workload Format (Chapin et al. 1999; version 2.2):
 * 2 submit time, 4 run time, 5 allocated processors or, where that is not
 * known, 8 requested processors, 9 requested time.  A processor is taken for
 * a GPU.  Other formats are read by their import_NAME.c, row by row.
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
#include "sim/scan.h"
#include "workloads/csv.h"
#include "workloads/import.h"
#include "workloads/packing.h"
#include "workloads/pacing.h"
#include "workloads/recipe.h"
#include "workloads/resample.h"
#include "workloads/texts.h"
#include "workloads/trace_kind.h"
#include "workloads/trace_row.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

struct columns {
    const char *job, *submit, *duration, *gpus, *limit, *tenant, *priority,
        *deadline, *cores, *memory_mib, *gpu_memory_mib, *gpu_types;
};
struct slice_keys { int64_t from_ns, for_ns, jobs; };
struct skip_keys { bool reason[IMPORT_REASONS]; };

struct trace_keys {
    const char *file, *lengths, *gpu_type;
    int format, estimate, unsorted, origin, gpus_are, constraints;
    const struct conf_node *columns, *slice, *skip, *role, *resample,
        *elastic, *rates, *packing;
};

/* The first two are read here, the others as `import` reads them. */
static const char *const format_choices[] = {
    "csv", "swf", "philly", "philly-log", "itp", "elasticflow", "tiresias",
    "helios", "acme", "gavel", "shockwave", "pollux", "sia", "openb", "pai",
    "spot2026", "dlrm2025", "alea", NULL};
static const char *const estimate_choices[] = {
    "exact", "requested", "noisy", NULL};
static const char *const unsorted_choices[] = {"error", "sort", NULL};
static const char *const origin_choices[] = {"first", "file", NULL};
static const char *const gpus_are_choices[] = {"gpus", "processors", NULL};
static const char *const constraints_choices[] = {"heed", "ignore", NULL};
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
    TRACE(lengths, CONF_TEXT, CONF_ABSENT, NULL,
          "run times or rates that the format lacks; a file beside it"),
    TRACE(gpu_type, CONF_TEXT, CONF_ABSENT, NULL,
          "whose rates, where lengths has several"),
    TRACE(estimate, CONF_CHOICE, "exact", estimate_choices,
          "what policies are told of run times that say nothing of it themselves"),
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
    TRACE(constraints, CONF_CHOICE, "heed", constraints_choices,
          "types of GPU that rows name: jobs take no others, or any"),
    TRACE(resample, CONF_NODE, CONF_ABSENT, NULL,
          "the list shuffled, and cut or drawn from until it asks for so "
          "much; jobs come one by one"),
    TRACE(role, CONF_NODE, CONF_ABSENT, NULL,
          "per GPU: cores, memory; types, pool"),
    TRACE(elastic, CONF_NODE, CONF_ABSENT, NULL,
          "sizes jobs can be resized to: {min:, max:, scaling:}; default: "
          "they cannot"),
    TRACE(rates, CONF_NODE, CONF_ABSENT, NULL,
          "pace by pool or GPU type, {v100: 1, k80: 0.25}, or (gavel) lengths: "
          "by the kind of job too, as that file says"),
    TRACE(packing, CONF_NODE, CONF_ABSENT, NULL,
          "{trace: 0.8}: pace of a job while another holds the same GPUs, "
          "over the pace alone; with rates: lengths, that file says it"),
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
    COLUMN(gpus, NULL, "GPUs: a whole number, or a part of one, as 0.25"),
    COLUMN(limit, CONF_ABSENT, "requested time in seconds; <= 0: none"),
    COLUMN(tenant, CONF_ABSENT, "whose job it is"),
    COLUMN(priority, CONF_ABSENT, "whole number, larger goes first"),
    COLUMN(deadline, CONF_ABSENT,
           "when it should be done, by the clock of submit; empty: none"),
    COLUMN(cores, CONF_ABSENT,
           "cores of the job in all; it then lies on one node"),
    COLUMN(memory_mib, CONF_ABSENT,
           "host memory of the job in all; it then lies on one node"),
    COLUMN(gpu_memory_mib, CONF_ABSENT,
           "memory that a part of a GPU takes of it"),
    COLUMN(gpu_types, CONF_ABSENT,
           "names of GPU types that it takes, as V100|T4; empty: any"),
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

#define SKIP(NAME, REASON, HELP) \
    {NAME, CONF_BOOL, offsetof(struct skip_keys, reason) + (REASON), 0, 0, \
     "false", NULL, HELP}
static const struct conf_field skip_fields[] = {
    SKIP("run_time_not_positive", IMPORT_RUN_TIME,
         "run time <= 0, or unknown"),
    SKIP("gpus_not_positive", IMPORT_GPUS, "no GPUs"),
    SKIP("larger_than_cluster", IMPORT_TOO_LARGE,
         "more GPUs than the cluster has"),
    SKIP("duplicate_job", IMPORT_DUPLICATE,
         "a name that stands above already"),
    SKIP("fractional_gpus", IMPORT_FRACTION, "parts of a GPU"),
    SKIP("type_constraint", IMPORT_TYPES, "certain types of GPU only"),
    SKIP("never_ran", IMPORT_NEVER_RAN, "no start"),
    SKIP("no_length", IMPORT_NO_LENGTH, "lengths say nothing of it"),
    SKIP("no_submit_time", IMPORT_NO_SUBMIT, "no time of submission"),
    SKIP("still_running", IMPORT_STILL_RUNNING, "no end"),
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
    const struct import_format *import;         /* NULL: csv or swf */
    struct import_request request;
    const struct conf_node *conf;
    struct err_pos columns_pos;
    struct job_form form;
    uint32_t gpus_max;          /* the largest job the cluster could run */
    const struct job_rates *rates;      /* of all jobs; NULL: none, or: */
    const struct pacing_kinds *kinds;   /* by kind of job */
    int64_t first_ns;           /* submit time of the first row */
    int64_t origin_ns;          /* subtracted from every submit time */
    struct source_counts counts;
    const struct row *sorted;   /* `unsorted: sort`, resample; else NULL */
    size_t sorted_count;
    const struct world *world;  /* while the file is checked */
    struct trace_kinds *asks;   /* by cores, memory and types of GPU */
    struct resample resample;   /* until_milli 0: none */
};

struct trace {
    struct arena *arena;
    const struct trace_spec *spec;
    struct import_stream *import;       /* NULL: csv or swf */
    const struct csv *csv;      /* NULL: spec->sorted */
    struct csv *own;            /* csv or swf: the same */
    struct row_columns at;
    struct import_row row;      /* read last, of an import */
    struct texts tenants;
    struct seen *seen;          /* NULL: names are not compared */
    uint64_t rows, jobs;        /* read; handed out */
    struct resampled drawn;     /* jobs by number; count 0: as in the file */
    int64_t last_ns;            /* submit time of the last row */
    struct source_counts counts;
};

/* Names met while the file is checked.  Whole numbers below 2^26, as most
 * traces have, are bits: at most 8 MiB; other texts are kept until the end of
 * the check. */
#define SEEN_BITS (INT64_C(1) << 26)
struct seen {
    struct arena *arena;
    struct texts texts;
    uint8_t *bit;
    size_t bytes;
};

/* ---- rows into jobs --------------------------------------------------- */

enum fate { FATE_JOB, FATE_SKIP, FATE_END, FATE_ERROR };

/* Larger than any place for it. */
static bool too_large(const struct trace *trace, const struct row *row,
                      uint32_t gpus_max, struct err *err)
{
    if (row->pod) {
        err_set(err, ERR_RANGE, csv_pos(trace->csv, trace->at.gpus),
                "job asks for %lld GPUs, %.3f cores and %.1f GB of one node "
                "and can never run: no node that it may use has them",
                (long long)row->gpus, (double)row->core_milli / 1e3,
                (double)row->memory_bytes / 1e9);
        return err_hint(err, "Leave such rows out with skip: "
                             "{larger_than_cluster: true}.");
    }
    err_set(err, ERR_RANGE, csv_pos(trace->csv, trace->at.gpus),
            "job asks for %lld GPUs and can never run: the cluster has %u "
            "that it may use", (long long)row->gpus, gpus_max);
    return err_hint(err, "Leave such rows out with skip: "
                         "{larger_than_cluster: true}.");
}

/* Was the name met above?  It was not, and now it is. */
static bool is_duplicate(struct seen *seen, const char *name)
{
    int64_t number;
    size_t bytes = strlen(name), at;
    uint8_t mask;
    bool is_new;

    if (bytes == 0 || name[0] == '+' || name[0] == '-' ||
        (name[0] == '0' && bytes > 1) || !scan_i64(name, bytes, &number) ||
        number >= SEEN_BITS) {
        texts_keep(&seen->texts, seen->arena, name, &is_new);
        return !is_new;
    }
    at = (size_t)number / 8;
    mask = (uint8_t)(1u << number % 8);
    if (at >= seen->bytes) {
        size_t room = seen->bytes == 0 ? 4096 : seen->bytes;

        while (room <= at)
            room *= 2;
        seen->bit = arena_grow(seen->arena, seen->bit, seen->bytes, room, 1);
        seen->bytes = room;
    }
    if (seen->bit[at] & mask)
        return true;
    seen->bit[at] |= mask;
    return false;
}

/* A row that is no job for a reason that its format knows. */
static enum fate judge_reason(struct trace *trace, enum import_reason reason,
                              size_t column, struct err *err)
{
    const char *meaning;
    const char *name = import_reason_name(reason, &meaning);

    if (trace->spec->skip.reason[reason]) {
        trace->counts.skipped_other++;
        return FATE_SKIP;
    }
    err_set(err, ERR_RANGE, csv_pos(trace->csv, column),
            "row is no job: %s (column %s is \"%.40s\")", meaning,
            csv_names(trace->csv)[column],
            csv_field(trace->csv, column).text);
    err_hint(err, "Leave such rows out with skip: {%s: true}.", name);
    return FATE_ERROR;
}

/* Reasons that judge_values does not look at; they stand before its, since
 * such a row may have no submit time. */
static bool has_reason(const struct trace *trace)
{
    enum import_reason reason = trace->row.reason;

    return trace->import != NULL && trace->row.drop &&
           reason != IMPORT_RUN_TIME && reason != IMPORT_GPUS &&
           reason != IMPORT_TOO_LARGE;
}

/* What is asked beside GPUs: a kind of its own where it is more.  False: the
 * cluster has none of the types that the row wants. */
static bool find_kind(struct trace *trace, struct row *row)
{
    const struct trace_spec *spec = trace->spec;

    if (spec->keys.constraints == 1)
        row->types = NULL;
    row->kind = NULL;
    if (!trace_kind_needed(row))
        return true;
    row->kind = spec->world != NULL
                    ? trace_kind_make(spec->asks, spec->world, row)
                    : trace_kind_find(spec->asks, row);
    return row->kind != NULL && row->kind->has_type;
}

/* Could it run if the cluster were free? */
static bool has_place(const struct trace *trace, const struct row *row,
                      uint32_t *gpus_max)
{
    *gpus_max = row->kind == NULL ? trace->spec->gpus_max
                                  : row->kind->gpus_max;
    if (trace->spec->resample.until_milli > 0 && row->pod)
        return true;            /* it arrives, and finds no room */
    if (row->gpus == 0)
        return row->kind != NULL && row->kind->runs;
    return row->gpus <= (int64_t)*gpus_max;
}

/* Of a kind that the table of rates knows at that size, on some pool? */
static bool runs_somewhere(const struct trace_spec *spec,
                           const struct row *row)
{
    struct job_request request = {
        .form = &spec->form, .gpus = (uint32_t)row->gpus,
        .rates = row->rates, .rate_known = row->rate_known};

    if (spec->kinds == NULL)
        return true;
    for (uint32_t p = 0; row->rates != NULL && p < row->rates->pool_count;
         p++)
        if (pace_of(&request, p, request.gpus) > 0.0)
            return true;
    return false;
}

/* Is the row a job by its own values? */
static enum fate judge_values(struct trace *trace, struct row *row,
                              struct err *err)
{
    const struct skip_keys *skip = &trace->spec->skip;
    uint32_t gpus_max;

    if (row->duration_ns <= 0) {
        if (skip->reason[IMPORT_RUN_TIME]) {
            trace->counts.skipped_run_time++;
            return FATE_SKIP;
        }
        row_fault(trace->csv, trace->at.duration, ERR_RANGE,
                  "greater than 0", err);
        err_hint(err, "Leave such rows out with skip: "
                      "{run_time_not_positive: true}.");
        return FATE_ERROR;
    }
    if (row->gpus <= 0 &&
        !(row->pod && row->gpus == 0 && row->core_milli > 0)) {
        if (skip->reason[IMPORT_GPUS]) {
            trace->counts.skipped_gpus++;
            return FATE_SKIP;
        }
        row_fault(trace->csv, trace->at.gpus, ERR_RANGE, "greater than 0",
                  err);
        err_hint(err, "Leave such rows out with skip: {gpus_not_positive: "
                      "true}.");
        return FATE_ERROR;
    }
    if (!find_kind(trace, row))
        return judge_reason(trace, IMPORT_TYPES, trace->at.types, err);
    if (has_place(trace, row, &gpus_max)) {
        if (!runs_somewhere(trace->spec, row))
            return judge_reason(trace, IMPORT_NO_LENGTH, trace->at.gpus, err);
        if (trace->seen == NULL || row->name == NULL ||
            !is_duplicate(trace->seen, row->name))
            return FATE_JOB;
        return judge_reason(trace, IMPORT_DUPLICATE, trace->at.job, err);
    }
    if (skip->reason[IMPORT_TOO_LARGE]) {
        trace->counts.skipped_too_large++;
        return FATE_SKIP;
    }
    too_large(trace, row, gpus_max, err);
    return FATE_ERROR;
}

static bool is_sorted(const struct trace *trace, const struct row *row,
                      struct err *err)
{
    char now[32], last[32];

    if (row->submit_ns >= trace->last_ns ||
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

/* The next row of the file, whatever it is. */
static enum csv_step step_row(struct trace *trace, struct row *row,
                              struct err *err)
{
    const struct import_job *job = &trace->row.job;
    enum csv_step step;

    if (trace->import == NULL) {
        step = csv_next(trace->own, err);
        return step != CSV_ROW || row_read(trace->csv, &trace->at, row, err)
                   ? step : CSV_ERROR;
    }
    step = import_next(trace->import, &trace->row, err);
    if (step != CSV_ROW)
        return step;
    *row = (struct row){
        .submit_ns = job->submit_ns, .duration_ns = job->run_ns,
        .limit_ns = job->limit_ns, .gpus = job->gpus,
        .gpu_milli = job->gpu_milli, .gpu_mib = job->gpu_mib,
        .types = job->types, .pod = job->pod, .core_milli = job->core_milli,
        .memory_bytes = job->memory_bytes,
        .deadline_ns = job->deadline_ns, .priority = job->priority,
        .name = job->name, .tenant = job->tenant};
    if (trace->spec->kinds != NULL && job->kind != NULL && job->gpus > 0)
        row->rates = pacing_kind(trace->spec->kinds, job->kind,
                                 (uint32_t)job->gpus, &row->rate_known);
    trace->at.job = trace->row.name_column;
    trace->at.submit = trace->row.submit_column;
    trace->at.duration = trace->row.run_column;
    trace->at.gpus = trace->row.gpus_column;
    trace->at.types = trace->row.types_column;
    return CSV_ROW;
}

/* The next row that is a job. */
static enum fate next_row(struct trace *trace, struct row *row,
                          struct err *err)
{
    while (!slice_is_full(trace)) {
        enum csv_step step = step_row(trace, row, err);
        enum fate fate;

        if (step == CSV_END)
            return FATE_END;
        if (step == CSV_ERROR)
            return FATE_ERROR;
        row->number = trace->rows;
        if (has_reason(trace)) {
            trace->rows++;
            if (judge_reason(trace, trace->row.reason, trace->row.column,
                             err) == FATE_ERROR)
                return FATE_ERROR;
            continue;
        }
        if (!is_sorted(trace, row, err))
            return FATE_ERROR;
        trace->rows++;
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
            .limit = 8, .tenant = ROW_NO_COLUMN, .priority = ROW_NO_COLUMN,
            .deadline = ROW_NO_COLUMN, ROW_NO_MORE};
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
                       err) &&
           find_column(trace, "deadline", names->deadline, &at->deadline,
                       err) &&
           find_column(trace, "cores", names->cores, &at->cores, err) &&
           find_column(trace, "memory_mib", names->memory_mib,
                       &at->memory_mib, err) &&
           find_column(trace, "gpu_memory_mib", names->gpu_memory_mib,
                       &at->gpu_memory_mib, err) &&
           find_column(trace, "gpu_types", names->gpu_types, &at->types,
                       err);
}

static struct trace *open_file(struct arena *arena,
                               const struct trace_spec *spec,
                               struct err *err)
{
    struct trace *trace = arena_alloc(arena, 1, sizeof *trace);

    trace->arena = arena;
    trace->spec = spec;
    trace->last_ns = INT64_MIN;
    if (spec->import != NULL) {
        trace->import = import_open(arena, spec->import, &spec->request, err);
        if (trace->import == NULL)
            return NULL;
        trace->csv = import_csv_of(trace->import);
        return trace;
    }
    trace->csv = trace->own =
        csv_open(arena, spec->path,
                 spec->keys.format == FORMAT_SWF ? CSV_SWF : CSV_COMMA, err);
    if (trace->own == NULL)
        return NULL;
    if (find_columns(trace, err))
        return trace;
    csv_close(trace->own);
    return NULL;
}

struct trace *trace_open(struct arena *arena, const struct trace_spec *spec,
                         uint64_t seed, uint32_t replica, struct err *err)
{
    struct trace *trace;

    assert(spec != NULL && spec->counts.jobs > 0);
    if (spec->sorted == NULL)
        return open_file(arena, spec, err);
    trace = arena_alloc(arena, 1, sizeof *trace);
    trace->arena = arena;
    trace->spec = spec;
    if (spec->resample.until_milli > 0 && replica != TRACE_AS_FILED)
        trace->drawn = resample_draw(&spec->resample, arena, spec->sorted,
                                     spec->sorted_count, seed, replica);
    return trace;
}

void trace_close(struct trace *trace)
{
    if (trace == NULL)
        return;
    csv_close(trace->own);
    import_close(trace->import);
}

static void birth_fill(struct trace *trace, const struct row *row,
                       struct job_birth *birth)
{
    const struct trace_spec *spec = trace->spec;

    memset(birth, 0, sizeof *birth);
    birth->request.id.i = (uint32_t)(trace->jobs - 1);
    birth->request.form = row->kind != NULL ? &row->kind->form : &spec->form;
    birth->request.gpu_milli = (uint32_t)row->gpu_milli;
    birth->request.gpu_mib = (uint32_t)row->gpu_mib;
    birth->request.name = row->name;
    birth->request.tenant = row->tenant;
    birth->request.submit_ns = row->submit_ns - spec->origin_ns;
    birth->request.limit_ns = row->limit_ns;
    birth->request.deadline_ns = CLOCK_NEVER_NS;
    if (row->deadline_ns != CLOCK_NEVER_NS)
        birth->request.deadline_ns =
            row->deadline_ns > spec->origin_ns
                ? row->deadline_ns - spec->origin_ns : 0;
    birth->request.priority = row->priority;
    birth->request.gpus = (uint32_t)row->gpus;
    birth->request.steps = 1;
    birth->request.rates = spec->kinds != NULL ? row->rates : spec->rates;
    birth->request.rate_known = spec->kinds != NULL ? row->rate_known : 1.0;
    birth->truth.duration_ns = row->duration_ns;
    birth->truth.seed = row->number;
}

/* A trial must read what was checked: not less, and not more. */
static enum source_step end_of_file(const struct trace *trace,
                                    struct err *err)
{
    const struct trace_spec *spec = trace->spec;

    if (trace->jobs == spec->counts.jobs)
        return SOURCE_END;
    err_set(err, ERR_IO, (struct err_pos){spec->path, 0, 0},
            "file changed while it was in use: it had %llu jobs when it was "
            "checked, and now has %s", (unsigned long long)spec->counts.jobs,
            trace->jobs < spec->counts.jobs ? "fewer" : "more");
    return SOURCE_ERROR;
}

/* The i-th job of a list that was drawn anew. */
static enum source_step next_drawn(struct trace *trace,
                                   struct job_birth *birth)
{
    const struct resampled *drawn = &trace->drawn;
    struct row row;

    if (trace->jobs == drawn->count)
        return SOURCE_END;
    row = resampled_row(drawn, trace->arena, trace->jobs++);
    birth_fill(trace, &row, birth);
    birth->request.submit_ns = row.submit_ns;
    birth->truth.seed = trace->jobs;
    return SOURCE_JOB;
}

enum source_step trace_next(struct trace *trace, struct job_birth *birth,
                            struct err *err)
{
    struct row row;

    if (trace->drawn.count > 0)
        return next_drawn(trace, birth);

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
        return end_of_file(trace, err);
    case FATE_JOB:
        if (trace->jobs > trace->spec->counts.jobs)
            return end_of_file(trace, err);
        break;
    }
    if (row.tenant != NULL)
        row.tenant = texts_keep(&trace->tenants, trace->arena, row.tenant,
                                NULL);
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
        row->tenant = texts_keep(&trace->tenants, trace->arena, row->tenant,
                                 NULL);
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

    while ((step = step_row(trace, &row, err)) == CSV_ROW) {
        if (has_reason(trace))
            continue;
        if (trace->rows++ == 0 || row.submit_ns < spec->first_ns)
            spec->first_ns = row.submit_ns;
        if (!sort)
            return true;
    }
    if (step == CSV_ERROR)
        return false;
    if (trace->rows > 0 || trace->import != NULL)
        return true;            /* check_rows says what is wrong */
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
        trace->counts.parts += row.gpu_milli != 0 || row.pod ||
                               row.types != NULL;
        if (spec->keys.unsorted == UNSORTED_SORT ||
            spec->resample.until_milli > 0)
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
    spec->counts.longer_rows = csv_longer_rows(trace->csv);
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
    struct seen seen = {0};
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
    trace->seen = &seen;
    seen.arena = arena_new(0);
    good = check_rows(spec, trace, &kept, world->err);
    arena_free(seen.arena);
    trace_close(trace);
    if (!good || kept.count == 0)
        return good;
    sort_rows(spec, &kept);
    return true;
}

/* ---- keys -------------------------------------------------------------- */

/* What a format of import needs beside the file. */
static bool read_format(struct trace_spec *spec, const struct world *world,
                        const struct conf_node *conf)
{
    const struct trace_keys *keys = &spec->keys;
    const char *name = format_choices[keys->format];
    struct err *err = world->err;
    const struct conf_node *node = conf_get(conf, "lengths");

    if (keys->format > FORMAT_SWF)
        spec->import = import_format_find(name);
    assert(keys->format <= FORMAT_SWF || spec->import != NULL);
    spec->request.file = spec->path;
    if (keys->lengths != NULL)
        spec->request.lengths = csv_path(world->arena, conf_pos(node).file,
                                         keys->lengths);
    spec->request.gpu_type = keys->gpu_type;
    if (spec->import != NULL && spec->import->lengths != NULL) {
        if (keys->lengths == NULL)
            return err_set(err, ERR_SCHEMA, conf_pos(conf),
                           "lengths is missing: traces of format %s hold no "
                           "run times", name);
        if (!spec->import->typed || keys->gpu_type != NULL)
            return true;
        return err_set(err, ERR_SCHEMA, conf_pos(conf), "gpu_type is missing: "
                       "run times depend on the type of GPU");
    }
    if (keys->lengths == NULL && keys->gpu_type == NULL)
        return true;
    return err_set(err, ERR_SCHEMA, conf_pos(node != NULL ? node : conf),
                   "format %s holds its own run times and takes neither "
                   "lengths nor gpu_type", name);
}

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
    if (keys->format != FORMAT_CSV && keys->columns != NULL)
        return err_set(err, ERR_SCHEMA, conf_pos(keys->columns),
                       "columns has no meaning for format %s",
                       format_choices[keys->format]);
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
    if (!read_format(spec, world, conf))
        return false;
    if (keys->resample != NULL &&
        !resample_read(keys->resample, world->cluster->gpu_count,
                       &spec->resample, err))
        return false;
    if (spec->resample.until_milli > 0 && spec->resample.stay &&
        spec->import != NULL)
        spec->request.untimed = spec->import->untimed;
    if (keys->slice != NULL &&
        !conf_fill(keys->slice, &trace_slice_schema, &spec->slice, err))
        return false;
    return keys->skip == NULL ||
           conf_fill(keys->skip, &trace_skip_schema, &spec->skip, err);
}

/* Other sizes and pools than the file's. */
static bool read_pacing(struct trace_spec *spec, const struct world *world)
{
    const struct trace_keys *keys = &spec->keys;
    const struct conf_node *rates = keys->rates;
    uint32_t most;

    if (!pacing_read(world, keys->elastic, rates, &spec->form, &spec->rates))
        return false;
    if (rates != NULL && spec->rates == NULL) {
        if (strcmp(conf_text(rates), "lengths") != 0 ||
            spec->import == NULL || !spec->import->typed)
            return err_set(world->err, ERR_SCHEMA, conf_pos(rates),
                           "rates must be a map of pools or GPU types, or, "
                           "for format gavel, lengths");
        spec->kinds = pacing_kinds_read(world, rates, spec->request.lengths,
                                        keys->gpu_type);
        if (spec->kinds == NULL)
            return false;
    } else if (spec->form.scaling != NULL &&
               spec->form.scaling->kind == SCALING_RATES) {
        return err_set(world->err, ERR_SCHEMA, conf_pos(keys->elastic),
                       "scaling rates needs rates by size: rates: lengths of "
                       "format gavel");
    }
    const struct job_form *form = &spec->form;
    if (!packing_read(world, keys->packing, &spec->form) ||
        !packing_names_ok(world, keys->packing, &form, 1))
        return false;
    most = pacing_gpus_max(world, spec->rates ? spec->rates->pool_mask : 0);
    if (rates != NULL && most < spec->gpus_max)
        spec->gpus_max = most;
    return true;
}

const struct trace_spec *trace_read(const struct world *world,
                                    const struct conf_node *conf)
{
    struct trace_spec *spec = arena_alloc(world->arena, 1, sizeof *spec);

    assert(conf != NULL);
    if (!read_keys(spec, world, conf) ||
        !whole_job_form(world, "trace", &role_trace_schema, spec->keys.role,
                        conf_pos(conf), &spec->form, &spec->gpus_max) ||
        !read_pacing(spec, world))
        return NULL;
    spec->asks = trace_kinds_new(world->arena, &spec->form);
    spec->world = world;
    if (!check_file(spec, world))
        return NULL;
    spec->world = NULL;         /* kinds are only looked up from now on */
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

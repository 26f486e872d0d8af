/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file.c - a trace's file, read once: rows become jobs, are left out for
 * a reason that the workload names, or end the reading.
 *
 * Other formats than CSV and SWF are read by their import_NAME.c, row by row.
 */
#include "models/jobs/speedup.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "workloads/formats/columns.h"
#include "workloads/formats/import.h"
#include "workloads/formats/trace_row.h"
#include "workloads/jobs/birth.h"
#include "workloads/replay/spec.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/catalogue/goodput.h"
#include "models/cluster/cluster.h"
#include "models/laws/phase.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/text/csv.h"
#include "sim/text/scan.h"
#include "sim/text/string_set.h"
#include "workloads/jobs/speedup_keys.h"
#include "workloads/replay/applications.h"
#include "workloads/replay/job_store.h"
#include "workloads/replay/kind.h"
#include "workloads/replay/run_times.h"
#include "workloads/replay/where.h"

struct reading {
    struct arena *arena;
    const struct trace_spec *spec;
    struct import_stream *import;       /* NULL: csv or swf */
    const struct csv *csv;
    struct csv *own;            /* csv or swf: the same */
    struct row_columns at;
    struct import_row row;      /* read last, of an import */
    struct string_set tenants;
    struct seen *seen;          /* NULL: names are not compared */
    const struct where *where;  /* NULL: every row is taken */
    uint64_t filtered;          /* rows that are not */
    uint64_t rows, jobs;        /* read; that are jobs */
    int64_t last_ns;            /* submit time of the last row */
    struct source_counts counts;
};

/* Names met while the file is checked.  Whole numbers below 2^26, as most
 * traces have, are bits: at most 8 MiB; other texts are kept until the end of
 * the check. */
#define SEEN_BITS (INT64_C(1) << 26)
struct seen {
    struct arena *arena;
    struct string_set texts;
    uint8_t *bit;
    size_t bytes;
};

/* ---- rows into jobs --------------------------------------------------- */

/* What becomes of a row. */
enum fate { FATE_JOB, FATE_SKIP, FATE_END, FATE_ERROR };

/* Larger than any place for it. */
static bool is_too_large(const struct reading *in, const struct row *row,
                         uint32_t gpus_max, struct err *err)
{
    if (row->pod) {
        err_set(err, ERR_RANGE, csv_pos(in->csv, in->at.gpus),
                "job asks for %lld GPUs, %.3f cores and %.1f GB of one node "
                "and can never run: no node that it may use has them",
                (long long)row->gpus, (double)row->core_milli / 1e3,
                (double)row->memory_bytes / 1e9);
        return err_hint(err, "Leave such rows out with skip: "
                             "{larger_than_cluster: true}.");
    }
    err_set(err, ERR_RANGE, csv_pos(in->csv, in->at.gpus),
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
        string_set_keep(&seen->texts, seen->arena, name, &is_new);
        return !is_new;
    }
    at = (size_t)number / 8;
    mask = (uint8_t)(1u << number % 8);
    ARENA_REACH(seen->arena, seen->bit, seen->bytes, at);
    if (seen->bit[at] & mask)
        return true;
    seen->bit[at] |= mask;
    return false;
}

/* A row that is no job for a reason that its format knows. */
static enum fate judge_reason(struct reading *in, enum import_reason reason,
                              size_t column, struct err *err)
{
    const char *meaning;
    const char *name = import_reason_name(reason, &meaning);

    if (in->spec->skip.reason[reason]) {
        in->counts.skipped_other++;
        return FATE_SKIP;
    }
    err_set(err, ERR_RANGE, csv_pos(in->csv, column),
            "row is no job: %s (column %s is \"%.40s\")", meaning,
            csv_names(in->csv)[column],
            csv_field(in->csv, column)->text);
    err_hint(err, "Leave such rows out with skip: {%s: true}.", name);
    return FATE_ERROR;
}

/* Reasons that judge_values does not look at; they stand before its, since
 * such a row may have no submit time. */
static bool has_reason(const struct reading *in)
{
    enum import_reason reason = in->row.reason;

    return in->import != NULL && in->row.drop &&
           reason != IMPORT_RUN_TIME && reason != IMPORT_GPUS &&
           reason != IMPORT_TOO_LARGE;
}

/* With tenant_pools: the pool of the job's tenant.  False: it has none. */
static bool find_pool(const struct reading *in, struct row *row)
{
    const struct cluster_spec *cluster;
    uint32_t pool;

    if (!in->spec->keys.tenant_pools || in->spec->world == NULL)
        return true;
    cluster = in->spec->world->cluster;
    pool = row->tenant == NULL ? UINT32_MAX
                               : cluster_pool(cluster, row->tenant);
    row->pool = pool == UINT32_MAX ? NULL : cluster->pool_name[pool];
    return row->pool != NULL;
}

/* What is asked beside GPUs: a kind of its own where it is more.  False: the
 * cluster has none of the types that the row wants. */
static bool find_kind(struct reading *in, struct row *row)
{
    const struct trace_spec *spec = in->spec;

    if (spec->keys.constraints == 1)
        row->types = NULL;
    row->kind = NULL;
    if (!trace_kind_needed(row))
        return true;
    row->kind = spec->world != NULL
                    ? trace_kind_make(spec->tasks, spec->world, row)
                    : trace_kind_find(spec->tasks, row);
    return row->kind != NULL && row->kind->has_type;
}

/* Could it run if the cluster were free? */
static bool has_place(const struct reading *in, const struct row *row,
                      uint32_t *gpus_max)
{
    *gpus_max = row->kind == NULL ? in->spec->gpus_max
                                  : row->kind->gpus_max;
    if (in->spec->resample.until_milli > 0 && row->pod)
        return true;            /* it arrives, and finds no room */
    if (row->gpus == 0)
        return row->kind != NULL && row->kind->runs;
    return row->gpus <= (int64_t)*gpus_max;
}

/* Of a kind that the table of rates knows at that size, on some pool? */
static bool has_rate(const struct trace_spec *spec,
                     const struct row *row)
{
    if (spec->applications != NULL)
        return row->application != NULL;
    if (spec->kinds == NULL && spec->run_times == NULL)
        return true;
    struct job_request request = {
        .form = &spec->form, .gpus = (uint32_t)row->gpus,
        .rates = row->rates, .rate_known = row->rate_known};
    for (uint32_t p = 0; row->rates != NULL && p < row->rates->pool_count;
         p++)
        if (speedup_of(&request, p, request.gpus) > 0.0)
            return true;
    return false;
}

/* Why an application's job has no rate: nobody knows the application (its
 * column is that of the run time), or not so many GPUs and that batch. */
static void report_application(const struct reading *in,
                               const struct row *row, struct err *err)
{
    const struct catalogue *catalogue = in->spec->world->catalogue;
    const char *name = csv_field(in->csv, in->at.duration)->text, *near;
    const struct application *app = catalogue_application(catalogue, name);

    if (app != NULL) {
        err_set(err, ERR_RANGE, csv_pos(in->csv, in->at.gpus),
                "application %s cannot have %lld GPUs with that batch: it "
                "takes batches of %u to %u samples, %u a GPU at least, on "
                "GPU types that it is known on",
                name, (long long)row->gpus, app->batch_first, app->batch_max,
                app->local_min);
        err_hint(err, "Its types: `clustersim list applications`.  Leave such "
                      "rows out with skip: {no_length: true}.");
        return;
    }
    near = conf_nearest(name, catalogue_names(catalogue, CATALOGUE_APPLICATIONS));
    err_set(err, ERR_REFERENCE, csv_pos(in->csv, in->at.duration),
            "application \"%.40s\" is not in the catalogue", name);
    err_hint(err, "%s%s%sLeave such rows out with skip: {no_length: true}.",
             near != NULL ? "The nearest is " : "", near != NULL ? near : "",
             near != NULL ? ".  " : "");
}

/* A row without a rate: left out if the workload says so, else an error with
 * the reason. */
static enum fate judge_rate(struct reading *in, const struct row *row,
                            struct err *err)
{
    const struct trace_spec *spec = in->spec;

    if (spec->applications == NULL || spec->skip.reason[IMPORT_NO_LENGTH])
        return judge_reason(in, IMPORT_NO_LENGTH, in->at.gpus, err);
    report_application(in, row, err);
    return FATE_ERROR;
}

/* A run time below 0 stands for one that is not known. */
static void assume_run_time(struct reading *in, struct row *row)
{
    int64_t unknown_ns = in->spec->keys.unknown_run_ns;

    if (in->import != NULL || unknown_ns == 0 || row->duration_ns >= 0)
        return;
    row->duration_ns = unknown_ns;
    in->counts.assumed_run_time++;
}

/* Does it ask for GPUs?  A pod may run on cores alone; but `rates` and
 * `elastic` say how fast GPUs are, and nothing of cores. */
static bool requests_enough(const struct reading *in, const struct row *row)
{
    return row->gpus > 0 || (row->pod && row->gpus == 0 &&
                             row->core_milli > 0 && !in->spec->form.paced);
}

/* Is the row a job by its own values? */
static enum fate judge_values(struct reading *in, struct row *row,
                              struct err *err)
{
    const struct trace_spec *spec = in->spec;
    const struct trace_skip *skip = &spec->skip;
    uint32_t gpus_max;

    assume_run_time(in, row);
    if (row->duration_ns <= 0) {
        if (skip->reason[IMPORT_RUN_TIME]) {
            in->counts.skipped_run_time++;
            return FATE_SKIP;
        }
        row_fault(in->csv, in->at.duration, ERR_RANGE,
                  "greater than 0", err);
        err_hint(err, "Leave such rows out with skip: "
                      "{run_time_not_positive: true}%s.",
                 row->duration_ns < 0 && in->import == NULL
                     ? ", or say how long they run with unknown_run_time: 10s"
                     : "");
        return FATE_ERROR;
    }
    if (!requests_enough(in, row)) {
        if (skip->reason[IMPORT_GPUS]) {
            in->counts.skipped_gpus++;
            return FATE_SKIP;
        }
        row_fault(in->csv, in->at.gpus, ERR_RANGE, "greater than 0",
                  err);
        err_hint(err, "Leave such rows out with skip: {gpus_not_positive: "
                      "true}%s.", row->pod && in->spec->form.paced
                          ? ", or leave out rates and elastic, which say "
                            "nothing of jobs without GPUs" : "");
        return FATE_ERROR;
    }
    if (!find_pool(in, row))
        return judge_reason(in, IMPORT_NO_POOL,
                            in->import == NULL ? in->at.tenant : in->at.submit,
                            err);
    if (!find_kind(in, row))
        return judge_reason(in, IMPORT_TYPES, in->at.types, err);
    if (spec->run_times != NULL &&
        !run_times_row(spec->run_times, in->arena, in->csv, row, err))
        return FATE_ERROR;
    if (has_place(in, row, &gpus_max)) {
        if (!has_rate(in->spec, row))
            return judge_rate(in, row, err);
        if (in->seen == NULL || row->name == NULL ||
            !is_duplicate(in->seen, row->name))
            return FATE_JOB;
        return judge_reason(in, IMPORT_DUPLICATE, in->at.job, err);
    }
    if (skip->reason[IMPORT_TOO_LARGE]) {
        in->counts.skipped_too_large++;
        return FATE_SKIP;
    }
    is_too_large(in, row, gpus_max, err);
    return FATE_ERROR;
}

/* Rows must come in the order of submission, unless they are sorted
 * afterwards. */
static bool is_sorted(const struct reading *in, const struct row *row,
                      struct err *err)
{
    char now[32], last[32];

    if (row->submit_ns >= in->last_ns ||
        in->spec->keys.unsorted == UNSORTED_SORT)
        return true;
    clock_format_s(row->submit_ns, now, sizeof now);
    clock_format_s(in->last_ns, last, sizeof last);
    err_set(err, ERR_RANGE, csv_pos(in->csv, in->at.submit),
            "submit time %s s is before that of the row above, %s s: rows "
            "must be sorted", now, last);
    return err_hint(err, "Sort the file, or ask for it with unsorted: sort.");
}

/* Where the row lies: before, in or after the slice. */
static enum fate judge_slice(struct reading *in, const struct row *row)
{
    const struct trace_slice *slice = &in->spec->slice;
    int64_t at_ns = row->submit_ns - in->spec->first_ns;

    if (at_ns < slice->from_ns ||
        (slice->for_ns > 0 && at_ns - slice->from_ns >= slice->for_ns)) {
        in->counts.outside_slice++;
        return FATE_SKIP;
    }
    return FATE_JOB;
}

/* Has the slice all its jobs?  Of rows that are sorted later, none is known
 * to be among the first before all are read. */
static bool slice_is_full(const struct reading *in)
{
    const struct trace_spec *spec = in->spec;

    return spec->keys.unsorted == UNSORTED_ERROR && spec->slice.jobs > 0 &&
           in->jobs >= (uint64_t)spec->slice.jobs;
}

/* What it takes as its owner asked; judge_values() says it if it cannot. */
static void fill_application(struct reading *in, const struct import_job *job,
                             struct row *row)
{
    row->application = applications_job(in->spec->applications,
                                        in->spec->world, job->kind,
                                        (uint32_t)job->gpus,
                                        (uint32_t)job->batch);
    if (row->application != NULL)
        row->duration_ns = goodput_job_ns(&row->application->goodput);
}

/* Is the row taken by `where`?  If it is not, it is counted. */
static enum csv_step judge_where(struct reading *in, bool *taken,
                                 struct err *err)
{
    *taken = true;
    if (in->where != NULL && !where_holds(in->where, in->csv, taken, err))
        return CSV_ERROR;
    in->filtered += !*taken;
    return CSV_ROW;
}

/* The next row of a csv or swf that is taken; rows that are not are never read. */
static enum csv_step next_plain(struct reading *in, struct err *err)
{
    enum csv_step step;
    bool taken = true;

    do {
        step = csv_next(in->own, err);
        if (step == CSV_ROW)
            step = judge_where(in, &taken, err);
    } while (step == CSV_ROW && !taken);
    return step;
}

static enum csv_step next_imported(struct reading *in, struct err *err)
{
    enum csv_step step;
    bool taken = true;

    do {
        step = import_next(in->import, &in->row, err);
        if (step == CSV_ROW)
            step = judge_where(in, &taken, err);
    } while (step == CSV_ROW && !taken);
    return step;
}

/* The next row of the file that `where` takes. */
static enum csv_step step_row(struct reading *in, struct row *row,
                              struct err *err)
{
    const struct import_job *job = &in->row.job;
    enum csv_step step;

    if (in->import == NULL) {
        step = next_plain(in, err);
        return step != CSV_ROW || row_read(in->csv, &in->at, row, err)
                   ? step : CSV_ERROR;
    }
    step = next_imported(in, err);
    if (step != CSV_ROW)
        return step;
    *row = (struct row){
        .submit_ns = job->submit_ns, .duration_ns = job->run_ns,
        .limit_ns = job->limit_ns, .gpus = job->gpus,
        .gpu_milli = job->gpu_milli, .gpu_mib = job->gpu_mib,
        .types = job->types, .pod = job->pod, .core_milli = job->core_milli,
        .memory_bytes = job->memory_bytes,
        .deadline_ns = job->deadline_ns, .priority = job->priority,
        .name = job->name, .tenant = job->tenant,
        .modes = job->modes, .regimes = job->regimes};
    if (in->spec->kinds != NULL && job->kind != NULL && job->gpus > 0)
        row->rates = speedup_kind(in->spec->kinds, job->kind,
                                  (uint32_t)job->gpus, &row->rate_known);
    if (in->spec->applications != NULL && job->kind != NULL && job->gpus > 0)
        fill_application(in, job, row);
    in->at.job = in->row.name_column;
    in->at.submit = in->row.submit_column;
    in->at.duration = in->row.run_column;
    in->at.gpus = in->row.gpus_column;
    in->at.types = in->row.types_column;
    return CSV_ROW;
}

/* The next row that is a job. */
static enum fate next_row(struct reading *in, struct row *row,
                          struct err *err)
{
    while (!slice_is_full(in)) {
        enum csv_step step = step_row(in, row, err);
        enum fate fate;

        if (step == CSV_END)
            return FATE_END;
        if (step == CSV_ERROR)
            return FATE_ERROR;
        row->number = in->rows;
        if (has_reason(in)) {
            in->rows++;
            if (judge_reason(in, in->row.reason, in->row.column,
                             err) == FATE_ERROR)
                return FATE_ERROR;
            continue;
        }
        if (!is_sorted(in, row, err))
            return FATE_ERROR;
        in->rows++;
        in->last_ns = row->submit_ns;
        fate = judge_slice(in, row);
        if (fate == FATE_JOB)
            fate = judge_values(in, row, err);
        if (fate == FATE_JOB)
            in->jobs++;
        if (fate != FATE_SKIP)
            return fate;
    }
    return FATE_END;
}

/* ---- opening ---------------------------------------------------------- */

/* SWF's columns are fixed, and those behind the ninth are not cut out. */
static bool find_columns(struct reading *in, struct err *err)
{
    const struct trace_spec *spec = in->spec;

    if (spec->keys.format == FORMAT_SWF) {
        in->at = (struct row_columns){
            .job = 0, .submit = 1, .duration = 3, .gpus = 4, .gpus_else = 7,
            .limit = 8, .tenant = ROW_NO_COLUMN, .priority = ROW_NO_COLUMN,
            .deadline = ROW_NO_COLUMN, ROW_NO_MORE};
        if (spec->keys.where == NULL)
            csv_cut(in->own, in->at.limit + 1);
        return true;
    }
    return trace_columns_find(in->own, in->arena, &spec->columns, spec->path,
                              spec->columns_pos, &in->at, err);
}

/* Opens the file by its format: CSV and SWF here, the others through
 * import.h. */
static struct reading *open_file(struct arena *arena,
                               const struct trace_spec *spec,
                               struct err *err)
{
    struct reading *in = arena_alloc(arena, 1, sizeof *in);

    in->arena = arena;
    in->spec = spec;
    in->last_ns = INT64_MIN;
    in->where = spec->where;
    if (spec->import != NULL) {
        in->import = import_open(arena, spec->import, &spec->request, err);
        if (in->import == NULL)
            return NULL;
        in->csv = import_csv_of(in->import);
        return in;
    }
    in->csv = in->own =
        csv_open(arena, spec->path,
                 spec->keys.format == FORMAT_SWF ? CSV_SWF : CSV_COMMA, err);
    if (in->own == NULL)
        return NULL;
    if (find_columns(in, err) &&
        (spec->run_times == NULL ||
         run_times_find(spec->run_times, in->csv, err)))
        return in;
    csv_close(in->own);
    return NULL;
}

static void close_file(struct reading *in)
{
    csv_close(in->own);
    import_close(in->import);
}

/* ---- the reading ------------------------------------------------ */

static int compare_submits(const void *left, const void *right)
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

/* Names end with the row, so they are copied. */
static void keep_row(struct reading *in, struct kept_rows *kept,
                     const struct row *row)
{
    ARENA_REACH(in->arena, kept->row, kept->room, kept->count);
    kept->row[kept->count] = *row;
    if (row->name != NULL)
        kept->row[kept->count].name = arena_text(in->arena, row->name);
    kept->count++;
}

/* Submit time of the first row, or the least of all: where slices start.  A
 * date has no zero of its own that a simulation could begin at. */
static bool find_first(struct trace_spec *spec, struct reading *in,
                       struct err *err)
{
    struct row row;
    enum csv_step step;
    bool sort = spec->keys.unsorted == UNSORTED_SORT;

    while ((step = step_row(in, &row, err)) == CSV_ROW) {
        if (has_reason(in))
            continue;
        if (in->rows++ == 0 || row.submit_ns < spec->first_ns)
            spec->first_ns = row.submit_ns;
        if (!sort)
            return true;
    }
    if (step == CSV_ERROR)
        return false;
    if (in->rows > 0 || in->import != NULL || in->filtered > 0)
        return true;            /* check_rows says what is wrong */
    return err_set(err, ERR_SYNTAX, (struct err_pos){spec->path, 0, 0},
                   "file has no rows");
}

/* If it never waits. */
static int64_t find_end(const struct row *row)
{
    return clock_after(row->submit_ns, row->duration_ns);
}

/* Says what became of all the rows. */
static bool report_no_job(const struct trace_spec *spec,
                          const struct reading *in, struct err *err)
{
    err_set(err, ERR_RANGE, conf_pos(spec->conf),
            "none of the %llu rows of %s is a job: %llu were left out by skip, "
            "%llu lie outside of the slice",
            (unsigned long long)(in->rows + in->filtered),
            spec->path,
            (unsigned long long)(in->rows - in->counts.outside_slice),
            (unsigned long long)in->counts.outside_slice);
    return in->filtered == 0
               ? false : err_hint(err, "The condition `where` does not take the "
                                       "other %llu rows.",
                                  (unsigned long long)in->filtered);
}

/* Reads every row, once. */
static bool check_rows(struct trace_spec *spec, struct reading *in,
                       struct kept_rows *kept, struct err *err)
{
    struct row row;
    enum fate fate;
    int64_t last_ns = 0;

    while ((fate = next_row(in, &row, err)) == FATE_JOB) {
        if (last_ns < find_end(&row))
            last_ns = find_end(&row);
        if (in->jobs == 1 || row.submit_ns < spec->origin_ns)
            spec->origin_ns = row.submit_ns;
        if (row.limit_ns > 0)
            in->counts.limits++;
        in->counts.parts += row.gpu_milli != 0 || row.pod ||
                               row.types != NULL;
        if (row.tenant != NULL)
            row.tenant = string_set_keep(&in->tenants, in->arena, row.tenant,
                                         NULL);
        if (spec->keys.unsorted == UNSORTED_SORT ||
            spec->keys.resample != NULL)
            keep_row(in, kept, &row);
        else
            job_store_put(spec->job_store, &row);
    }
    if (fate == FATE_ERROR)
        return false;
    int64_t first_ns = spec->origin_ns;
    if (spec->keys.origin == ORIGIN_FILE)
        spec->origin_ns = 0;
    if (spec->resample.until_milli == 0) {
        spec->begin_ns = first_ns - spec->origin_ns;
        spec->end_ns = last_ns - spec->origin_ns;
    }
    spec->counts = in->counts;
    spec->counts.rows = in->rows + in->filtered;
    spec->counts.not_taken = in->filtered;
    spec->counts.jobs = in->jobs;
    spec->counts.blank_lines = csv_blank_lines(in->csv);
    spec->counts.longer_rows = csv_longer_rows(in->csv);
    if (in->jobs == 0)
        return report_no_job(spec, in, err);
    if (in->jobs < ID_NONE)
        return true;
    return err_set(err, ERR_RANGE, conf_pos(spec->conf),
                   "%s has more than %u jobs", spec->path, ID_NONE - 1);
}

/* Sorts, then cuts to the number of jobs of the slice: the first ones by
 * time. */
static void sort_rows(struct trace_spec *spec, const struct kept_rows *kept)
{
    uint64_t most = (uint64_t)spec->slice.jobs;

    qsort(kept->row, kept->count, sizeof *kept->row, compare_submits);
    spec->sorted = kept->row;
    spec->sorted_count = kept->count;
    if (most > 0 && most < kept->count) {
        spec->counts.outside_slice += kept->count - most;
        spec->counts.jobs = spec->sorted_count = most;
    }
}

/* Reads `where`: what its columns hold is seen in the first rows.  A row that is
 * wrong ends the look; it is told when it is read. */
static bool read_where(struct trace_spec *spec, const struct world *world)
{
    struct reading *in;
    struct where *where;
    struct row row;
    struct err ignored = {0};

    if (spec->keys.where == NULL)
        return true;
    in = open_file(world->arena, spec, world->err);
    if (in == NULL)
        return false;
    where = where_new(world->arena, in->csv);
    for (unsigned i = 0; i < WHERE_ROWS; i++) {
        enum csv_step step = in->own != NULL ? csv_next(in->own, &ignored)
                                             : step_row(in, &row, &ignored);
        if (step != CSV_ROW)
            break;
        where_look(where, in->csv);
    }
    close_file(in);
    spec->where = where;
    return where_read(where, world->arena, spec->keys.where, world->err);
}

/* Two readings: the first finds time 0, the second judges every row. */
bool trace_check(struct trace_spec *spec, const struct world *world)
{
    struct reading *in;
    struct kept_rows kept = {0};
    struct seen seen = {0};
    bool good;

    if (!read_where(spec, world))
        return false;
    in = open_file(world->arena, spec, world->err);
    if (in == NULL)
        return false;
    good = find_first(spec, in, world->err);
    close_file(in);
    if (!good)
        return false;
    in = open_file(world->arena, spec, world->err);
    if (in == NULL)
        return false;
    in->seen = &seen;
    spec->job_store = job_store_new(world->arena, JOB_STORE_MEMORY_BYTES);
    seen.arena = arena_new(0);
    good = check_rows(spec, in, &kept, world->err);
    arena_free(seen.arena);
    close_file(in);
    if (!good || kept.count == 0)
        return good;
    sort_rows(spec, &kept);
    return true;
}

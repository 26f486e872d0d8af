/* SPDX-License-Identifier: GPL-3.0-or-later */
/* file.c - a trace's file: rows are taken one by one, judged (judge.c), and
 * kept, or end the reading.
 *
 * Other formats than CSV and SWF are read by workloads/formats, row by row.
 * The file is opened two or three times (trace_check), as it may be far larger
 * than memory. */
#include <inttypes.h>
#include <stdlib.h>

#include "models/catalogue/goodput.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/csv.h"
#include "sim/text/string_set.h"
#include "workloads/formats/columns.h"
#include "workloads/formats/import.h"
#include "workloads/formats/trace_row.h"
#include "workloads/jobs/speedup_keys.h"
#include "workloads/replay/applications.h"
#include "workloads/replay/job_store.h"
#include "workloads/replay/judge.h"
#include "workloads/replay/run_times.h"
#include "workloads/replay/spec.h"
#include "workloads/replay/where.h"

/* ---- rows --------------------------------------------------------------- */

/* Does the row come at or after the row before?  Rows that are sorted
 * afterwards need not.  False: err is at its submission. */
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

/* FATE_SKIP, counted: the row lies before or after the slice.  Else FATE_JOB. */
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

/* Has the slice all its jobs?  Of rows that are sorted later, nobody knows
 * which are the first before all are read. */
static bool slice_is_full(const struct reading *in)
{
    const struct trace_spec *spec = in->spec;

    return spec->keys.unsorted == UNSORTED_ERROR && spec->slice.jobs > 0 &&
           in->jobs >= (uint64_t)spec->slice.jobs;
}

/* Looks the application up that the row names, and sets the run time on the
 * GPUs that it asks for.  If it cannot run so, row->application stays NULL, and
 * judge_values() reports it. */
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

/* *taken tells if `where` takes the row; a row that it does not take is
 * counted.  CSV_ERROR: a cell is wrong. */
static enum csv_step judge_where(struct reading *in, bool *taken,
                                 struct err *err)
{
    enum where_verdict verdict = WHERE_TAKEN;

    if (in->where != NULL && !where_judge(in->where, in->csv, &verdict, err))
        return CSV_ERROR;
    in->counts.not_taken += verdict == WHERE_NOT_TAKEN;
    in->counts.no_value += verdict == WHERE_NO_VALUE;
    *taken = verdict == WHERE_TAKEN;
    return CSV_ROW;
}

/* Reads on to the next row that `where` takes.  Of csv and swf, the cells of
 * other rows are never converted. */
static enum csv_step next_taken(struct reading *in, struct err *err)
{
    enum csv_step step;
    bool taken = true;

    do {
        step = in->own != NULL ? csv_next(in->own, err)
                               : import_next(in->import, &in->row, err);
        if (step == CSV_ROW)
            step = judge_where(in, &taken, err);
    } while (step == CSV_ROW && !taken);
    return step;
}

/* Reads the next row that `where` takes into *row, whatever the format.  The
 * columns of in->at become those of the row, for places of errors. */
static enum csv_step step_row(struct reading *in, struct row *row,
                              struct err *err)
{
    const struct import_job *job = &in->row.job;
    enum csv_step step = next_taken(in, err);

    if (step != CSV_ROW)
        return step;
    if (in->import == NULL)
        return row_read(in->csv, &in->at, row, err) ? step : CSV_ERROR;
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

/* Was the row dropped by its format, for a reason that judge_values() does not
 * look at?  Such rows are judged before all others, since they may have no
 * submission time. */
static bool has_reason(const struct reading *in)
{
    enum import_reason reason = in->row.reason;

    return in->import != NULL && in->row.drop &&
           reason != IMPORT_RUN_TIME && reason != IMPORT_GPUS &&
           reason != IMPORT_TOO_LARGE;
}

/* Reads on to the next row that is a job.  Order: the format's own reasons, the
 * order of rows, the slice, and then the values; so a wrong value outside of
 * the slice is no error. */
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

/* Finds the columns.  Those of SWF are fixed; fields behind the ninth are not
 * even cut out, unless `where` may name them. */
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

/* Opens the file by its format: CSV and SWF here, the others through import.h.
 * NULL: err is set. */
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

/* Orders rows by submission; those of one instant by their number in the file. */
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

/* Keeps a row.  Its name is copied, since the reader overwrites it with the
 * next row. */
static void keep_row(struct reading *in, struct kept_rows *kept,
                     const struct row *row)
{
    ARENA_REACH(in->arena, kept->row, kept->room, kept->count);
    kept->row[kept->count] = *row;
    if (row->name != NULL)
        kept->row[kept->count].name = arena_text(in->arena, row->name);
    kept->count++;
}

/* Returns how many rows `where` left out. */
static uint64_t count_filtered(const struct reading *in)
{
    return in->counts.not_taken + in->counts.no_value;
}

/* Finds spec->first_ns, the submission of the first row, or of the earliest if
 * rows are sorted: slices are counted from there. */
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
    if (in->rows > 0 || in->import != NULL || count_filtered(in) > 0)
        return true;            /* check_rows says what is wrong */
    return err_set(err, ERR_SYNTAX, (struct err_pos){spec->path, 0, 0},
                   "file has no rows");
}

/* Returns when the job ends if it never waits. */
static int64_t find_end(const struct row *row)
{
    return clock_after(row->submit_ns, row->duration_ns);
}

/* Reports a file without a job, and what became of all its rows.  Returns
 * false. */
static bool report_no_job(const struct trace_spec *spec, struct err *err)
{
    const struct source_counts *counts = &spec->counts;
    uint64_t filtered = counts->not_taken + counts->no_value;

    err_set(err, ERR_RANGE, conf_pos(spec->conf),
            "none of the %" PRIu64 " rows of %s is a job: %" PRIu64 " were left "
            "out by skip, %" PRIu64 " lie outside of the slice",
            counts->rows, spec->path,
            counts->rows - filtered - counts->outside_slice,
            counts->outside_slice);
    if (counts->no_value > 0)
        return err_hint(err, "Rows that `where` does not take: %" PRIu64 "; for "
                             "which it has no value (x / 0, the root of -1): %"
                             PRIu64 ".", counts->not_taken, counts->no_value);
    return filtered == 0
               ? false : err_hint(err, "The condition `where` does not take the "
                                       "other %" PRIu64 " rows.", filtered);
}

/* Returns the kept name of a tenant, and lists it where it is new. */
static const char *keep_tenant(struct trace_spec *spec, struct reading *in, const char *name)
{
    bool is_new = false;
    const char *kept = string_set_keep(&in->tenants, in->arena, name, &is_new);

    if (is_new)
        ARENA_ADD(in->arena, spec->tenant, spec->tenants, spec->tenant_room, kept);
    return kept;
}

/* Reads every row and keeps the jobs: in the store, or in *kept where they are
 * sorted or drawn anew.  Then sets counts, the origin of time, and begin and
 * end.  A list drawn to a bound has times of its own. */
static bool check_rows(struct trace_spec *spec, struct reading *in,
                       struct kept_rows *kept, struct err *err)
{
    struct row row;
    enum fate fate;
    int64_t last_ns = 0;

    while ((fate = next_row(in, &row, err)) == FATE_JOB) {
        if (last_ns < find_end(&row))
            last_ns = find_end(&row);
        /* Rows may be unsorted: the earliest counts. */
        if (in->jobs == 1 || row.submit_ns < spec->origin_ns)
            spec->origin_ns = row.submit_ns;
        if (row.limit_ns > 0)
            in->counts.limits++;
        spec->has_priority |= row.priority != 0;
        in->counts.deadlines += row.deadline_ns != CLOCK_NEVER_NS;
        in->counts.parts += row.gpu_milli != 0 || row.pod ||
                               row.types != NULL;
        if (row.tenant != NULL)
            row.tenant = keep_tenant(spec, in, row.tenant);
        /* Else jobs go to the store, which keeps 1 MiB in memory and the rest in a file. */
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
    spec->counts.rows = in->rows + count_filtered(in);
    spec->counts.jobs = in->jobs;
    spec->counts.blank_lines = csv_blank_lines(in->csv);
    spec->counts.longer_rows = csv_longer_rows(in->csv);
    if (in->jobs == 0)
        return report_no_job(spec, err);
    /* Numbers of jobs are 32 bits, and ID_NONE is none. */
    if (in->jobs < ID_NONE)
        return true;
    return err_set(err, ERR_RANGE, conf_pos(spec->conf),
                   "%s has more than %u jobs", spec->path, ID_NONE - 1);
}

/* Sorts the rows, then cuts them to the number of jobs of the slice, which are
 * the first by time. */
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

/* Reads `where`. The types of columns follow from the first WHERE_ROWS rows.  A
 * row that is wrong ends that look; it is reported when it is read as a job. */
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

/* The file is read once for `where`, if it is given, then twice: the first
 * reading finds time 0, the second judges every row. */
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

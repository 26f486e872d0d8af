/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import.c - the table of formats, and the walk that all of them share.
 *
 * The walk: read a row, let the format make a job of it, judge it by rules that
 * hold for all formats, then keep, skip or refuse it.  Names and tenants are
 * kept once each, in string sets.  A stream does all but the keeping.
 */
#include "workloads/formats/import.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/string_set.h"
#include "workloads/formats/row.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

static const struct import_format *const format_table[] = {
#define FORMAT(ID, NAME) &import_##ID,
#include "workloads/formats/formats.def"
#undef FORMAT
};

static const struct {
    const char *name, *meaning;
} reason_table[IMPORT_REASONS] = {
    [IMPORT_RUN_TIME] = {"run_time_not_positive", "run time is not above 0"},
    [IMPORT_GPUS] = {"gpus_not_positive", "it asks for no GPU"},
    [IMPORT_TOO_LARGE] = {"larger_than_cluster",
                          "it asks for more GPUs than the cluster has"},
    [IMPORT_DUPLICATE] = {"duplicate_job", "its name stands above already"},
    [IMPORT_FRACTION] = {"fractional_gpus",
                         "it asks for parts of several GPUs, or of one in a "
                         "format that is not read for them"},
    [IMPORT_TYPES] = {"type_constraint",
                      "it wants types of GPU that the cluster does not have"},
    [IMPORT_NEVER_RAN] = {"never_ran", "it never ran: no run time is known"},
    [IMPORT_NO_LENGTH] = {"no_length",
                          "the lengths have no run time or rate for it"},
    [IMPORT_NO_SUBMIT] = {"no_submit_time",
                          "when it was submitted is not known"},
    [IMPORT_STILL_RUNNING] = {"still_running",
                              "it has no end: it ran when the log ended"},
    [IMPORT_NO_POOL] = {"no_pool", "no pool of the cluster is its tenant's"},
};

static const char *const remark_table[REMARKS] = {
    [REMARK_REQUESTED] = "GPUs are those requested: none were allocated",
    [REMARK_NO_SUCCESS] = "failed or were cancelled; replayed as they ran",
    [REMARK_NO_LIMIT] = "no requested time",
    [REMARK_LATE] = "deadline is before submission + run time",
    [REMARK_WEIGHT] = "priority weight is not 1; it is not used",
    [REMARK_SLO] = "have an SLO; it is not used",
    [REMARK_TYPE] = "ask for a type of GPU; it is not used",
    [REMARK_ATTEMPTS] = "ran in several attempts; run time is their sum",
    [REMARK_UNTIMED] = "have attempts without start or end, not counted",
    [REMARK_DURATION] = "state another duration than end - start; not used",
    [REMARK_EARLY] = "began before they were submitted; submission is taken",
    [REMARK_NO_GPU] = "ask for no GPU; they take cores and memory of a node",
    [REMARK_DYNAMIC] = "change their batch size; run time as the file states",
};

const char *import_reason_name(enum import_reason reason,
                               const char **meaning)
{
    assert((unsigned)reason < IMPORT_REASONS);
    if (meaning != NULL)
        *meaning = reason_table[reason].meaning;
    return reason_table[reason].name;
}

const char *import_remark_text(enum import_remark remark)
{
    assert((unsigned)remark < REMARKS);
    return remark_table[remark];
}

const struct import_format *import_format_at(size_t i)
{
    return i < COUNT(format_table) ? format_table[i] : NULL;
}

/* Formats are few, and are looked up once per run. */
const struct import_format *import_format_find(const char *name)
{
    for (size_t i = 0; i < COUNT(format_table); i++)
        if (strcmp(format_table[i]->name, name) == 0)
            return format_table[i];
    return NULL;
}

/* ---- the walk ---------------------------------------------------------- */

/* An open file.  It is the importer itself, which only the formats may see
 * into. */
struct import_stream {
    struct importer importer;
};

/* One call of import_read(). */
struct walk {
    struct import_stream *stream;   /* the file, read row by row */
    const struct import_request *request;   /* what may be left out, and whether rows are sorted */
    struct arena *arena;        /* of the result */
    struct import_result *result;   /* of the caller */
    size_t room;                /* of result->job */
    struct string_set names, tenants;   /* met so far: names must differ, tenants are kept once */
    int64_t last_ns;            /* submission of the job above */
};

/* Drops a row for what is wrong with any job, whatever its format.  A pod may
 * have cores in the place of GPUs.  A row that its format has dropped keeps
 * that reason. */
static void judge_row(const struct import_request *request,
                      struct import_row *row)
{
    uint32_t most = request->gpus_max;

    if (!row->drop && row->job.run_ns <= 0)
        import_drop(row, IMPORT_RUN_TIME, row->run_column);
    if (!row->drop && row->job.gpus <= 0 &&
        !(row->job.pod && row->job.gpus == 0 && row->job.core_milli > 0))
        import_drop(row, IMPORT_GPUS, row->gpus_column);
    if (!row->drop && most > 0 && row->job.gpus > (int64_t)most)
        import_drop(row, IMPORT_TOO_LARGE, row->gpus_column);
}

/* Drops a row whose name was met before; a new name is kept. */
static void judge_name(struct walk *walk, struct import_row *row)
{
    bool is_new;

    if (row->drop || row->job.name == NULL)
        return;
    row->job.name = string_set_keep(&walk->names, walk->arena, row->job.name,
                                    &is_new);
    if (!is_new)
        import_drop(row, IMPORT_DUPLICATE, row->name_column);
}

bool import_refuse(const struct import_stream *stream,
                   const struct import_row *row, struct err *err)
{
    const struct csv *csv = stream->importer.csv;

    err_set(err, ERR_RANGE, csv_pos(csv, row->column),
            "job cannot be imported: %s (column %s is \"%.40s\")",
            reason_table[row->reason].meaning, csv_names(csv)[row->column],
            csv_field(csv, row->column)->text);
    return err_hint(err, "Leave such rows out, counted, with --skip %s.",
                    reason_table[row->reason].name);
}

/* Jobs must come in the order of submission, unless the request sorts; then
 * those that do not are counted. */
static bool check_order(struct walk *walk, const struct import_row *row,
                        struct err *err)
{
    struct import_result *result = walk->result;
    char now[32], last[32];
    bool before = result->count > 0 && row->job.submit_ns < walk->last_ns;

    if (before && !walk->request->sort) {
        clock_format_s(row->job.submit_ns, now, sizeof now);
        clock_format_s(walk->last_ns, last, sizeof last);
        err_set(err, ERR_RANGE,
                csv_pos(import_csv_of(walk->stream), row->submit_column),
                "submit time %s s is before that of the job above, %s s",
                now, last);
        return err_hint(err, "Rows are sorted, and counted, with --sort.");
    }
    result->unsorted += before;
    walk->last_ns = row->job.submit_ns;
    return true;
}

/* Keeps a job.  Its texts end with the row, so they are kept once each in a
 * string set. */
static void keep_job(struct walk *walk, struct import_row *row)
{
    struct import_result *result = walk->result;
    struct arena *arena = walk->arena;

    ARENA_REACH(arena, result->job, walk->room, result->count);
    if (row->job.tenant != NULL)
        row->job.tenant = string_set_keep(&walk->tenants, arena,
                                          row->job.tenant, NULL);
    if (row->job.types != NULL)
        row->job.types = string_set_keep(&walk->tenants, arena, row->job.types,
                                         NULL);
    row->job.row = result->rows;
    result->job[result->count++] = row->job;
}

/* Takes one row: it is kept, left out and counted, or refused (false). */
static bool take_row(struct walk *walk, struct import_row *row,
                     struct err *err)
{
    struct import_result *result = walk->result;

    judge_name(walk, row);
    if (row->drop) {
        if (!walk->request->skip[row->reason])
            return import_refuse(walk->stream, row, err);
        result->skipped[row->reason]++;
    } else {
        if (!check_order(walk, row, err))
            return false;
        keep_job(walk, row);
        row->remark[REMARK_NO_GPU] = row->job.gpus == 0;
        for (int i = 0; i < REMARKS; i++)
            result->remark[i] += row->remark[i];
    }
    result->rows++;
    return true;
}

/* Orders jobs by submission; rows of the same instant stay in the order of the
 * file. */
static int compare_submits(const void *left, const void *right)
{
    const struct import_job *a = left, *b = right;

    if (a->submit_ns != b->submit_ns)
        return a->submit_ns < b->submit_ns ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Walks over the file.  A file without a single job is an error. */
static bool read_rows(struct walk *walk, struct err *err)
{
    struct import_result *result = walk->result;
    struct import_row row;
    enum csv_step step;

    while ((step = import_next(walk->stream, &row, err)) == CSV_ROW)
        if (!take_row(walk, &row, err))
            return false;
    if (step == CSV_ERROR)
        return false;
    result->blank_lines = csv_blank_lines(import_csv_of(walk->stream));
    result->longer_rows = csv_longer_rows(import_csv_of(walk->stream));
    result->notes = csv_notes(import_csv_of(walk->stream));
    if (result->unsorted > 0)
        qsort(result->job, result->count, sizeof *result->job, compare_submits);
    if (result->count > 0)
        return true;
    if (result->rows == 0)
        return err_set(err, ERR_RANGE,
                       (struct err_pos){walk->request->file, 0, 0},
                       "the file has no rows: there is no job in it");
    return err_set(err, ERR_RANGE,
                   (struct err_pos){walk->request->file, 0, 0},
                   "none of its %llu rows is a job",
                   (unsigned long long)result->rows);
}

/* Does the request give the lengths, and the GPU type, that the format needs,
 * and no others? */
static bool check_lengths(const struct import_format *format,
                          const struct import_request *request,
                          struct err *err)
{
    struct err_pos pos = {request->file, 0, 0};

    if (format->lengths == NULL && request->lengths != NULL)
        return err_set(err, ERR_USAGE, pos,
                       "format %s holds its own run times and takes no "
                       "--lengths", format->name);
    if (format->has_lengths && request->lengths == NULL &&
        request->gpu_type == NULL)
        return true;
    if (!format->typed && request->gpu_type != NULL)
        return err_set(err, ERR_USAGE, pos,
                       "format %s has no lengths by GPU type and takes no "
                       "--gpu-type", format->name);
    if (format->lengths != NULL && request->lengths == NULL &&
        !request->applications) {
        err_set(err, ERR_USAGE, pos,
                "traces of format %s hold no run times", format->name);
        return err_hint(err, "Give --lengths FILE: %s.", format->lengths);
    }
    if (!format->typed || request->gpu_type != NULL)
        return true;
    err_set(err, ERR_USAGE, pos, "run times depend on the type of GPU");
    return err_hint(err, "Say which with --gpu-type, such as v100.");
}

/* Opens the file as a table.  A log that is none (pods, accounting records) is read
 * by its own source, which gives rows as a CSV would. */
static struct csv *open_csv(struct arena *arena,
                            const struct import_format *format,
                            const char *path, struct err *err)
{
    struct csv_source source;

    if (format->source == NULL)
        return csv_open(arena, path, format->layout, err);
    return format->source(arena, path, &source, err)
               ? csv_of(arena, path, &source) : NULL;
}

/* Opens the file, finds the format's columns, and lets the format open what
 * else it reads.  NULL: err says why, and nothing stays open. */
struct import_stream *import_open(struct arena *arena,
                                  const struct import_format *format,
                                  const struct import_request *request,
                                  struct err *err)
{
    struct import_stream *stream = arena_alloc(arena, 1, sizeof *stream);
    struct importer *importer = &stream->importer;

    assert(format != NULL && request->file != NULL);
    importer->arena = arena;
    importer->format = format;
    importer->request = request;
    if (!check_lengths(format, request, err))
        return NULL;
    importer->csv = open_csv(arena, format, request->file, err);
    if (importer->csv == NULL)
        return NULL;
    if ((format->columns == NULL || request->columns != NULL ||
         import_columns(importer, err)) &&
        (format->open == NULL || format->open(importer, err)))
        return stream;
    import_close(stream);
    return NULL;
}

void import_close(struct import_stream *stream)
{
    if (stream == NULL)
        return;
    csv_close(stream->importer.csv);
    stream->importer.csv = NULL;
}

const struct csv *import_csv_of(const struct import_stream *stream)
{
    return stream->importer.csv;
}

/* Reads one row by the format, then judges whether it can be a job; a row that
 * cannot has a reason, and is no error. */
enum csv_step import_next(struct import_stream *stream,
                          struct import_row *row, struct err *err)
{
    struct importer *importer = &stream->importer;
    enum csv_step step = csv_next(importer->csv, err);

    if (step != CSV_ROW)
        return step;
    memset(row, 0, sizeof *row);
    row->name_column = ROW_NO_COLUMN;
    if (!importer->format->row(importer, row, err))
        return CSV_ERROR;
    judge_row(importer->request, row);
    return CSV_ROW;
}

bool import_read(struct arena *arena, const struct import_format *format,
                 const struct import_request *request,
                 struct import_result *result, struct err *err)
{
    struct walk walk = {.request = request, .arena = arena,
                        .result = result};
    bool good;

    memset(result, 0, sizeof *result);
    walk.stream = import_open(arena, format, request, err);
    if (walk.stream == NULL)
        return false;
    good = read_rows(&walk, err);
    import_close(walk.stream);
    return good;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import.c - the table of formats, and the walk that all of them share.
 */
#include "workloads/import.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/clock.h"
#include "sim/rng.h"
#include "workloads/import_row.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

/* A new format: its file, its name in import_row.h, a line here. */
static const struct import_format *const format_table[] = {
    &import_csv, &import_swf, &import_philly, &import_itp, &import_tiresias,
    &import_helios, &import_gavel, &import_shockwave, &import_pollux,
    &import_sia, &import_openb,
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
                         "it asks for a part of a GPU, and GPUs are whole "
                         "here"},
    [IMPORT_TYPES] = {"type_constraint",
                      "it wants certain GPU types, and all jobs of a trace "
                      "want the same here"},
    [IMPORT_NEVER_RAN] = {"never_ran", "it never ran: no run time is known"},
    [IMPORT_NO_LENGTH] = {"no_length",
                          "the lengths have no run time or rate for it"},
};

static const char *const remark_table[REMARKS] = {
    [REMARK_REQUESTED] = "GPUs are those requested: none were allocated",
    [REMARK_NO_SUCCESS] = "failed or were cancelled; replayed as they ran",
    [REMARK_NO_LIMIT] = "no requested time",
    [REMARK_LATE] = "deadline is before submission + run time",
    [REMARK_WEIGHT] = "priority weight is not 1; it is not used",
    [REMARK_SLO] = "have an SLO; it is not used",
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

const struct import_format *import_format_find(const char *name)
{
    for (size_t i = 0; i < COUNT(format_table); i++)
        if (strcmp(format_table[i]->name, name) == 0)
            return format_table[i];
    return NULL;
}

/* ---- the walk ---------------------------------------------------------- */

/* A set of texts: open addressing, a power of two of slots; looked up, never
 * walked. */
struct texts {
    const char **slot;
    size_t slots, count;
};

struct walk {
    struct importer importer;
    struct import_result *result;
    size_t room;                /* of result->job */
    struct texts names, tenants;
    int64_t last_ns;            /* submission of the job above */
};

static const char **find_slot(const struct texts *texts, const char *text)
{
    size_t i = rng_hash_text(text) & (texts->slots - 1);

    while (texts->slot[i] != NULL && strcmp(texts->slot[i], text) != 0)
        i = (i + 1) & (texts->slots - 1);
    return &texts->slot[i];
}

/* The kept copy of a text; `*is_new` if it was not met before. */
static const char *keep(struct texts *texts, struct arena *arena,
                        const char *text, bool *is_new)
{
    const char **slot;

    if (2 * texts->count >= texts->slots) {
        struct texts larger = {
            NULL, texts->slots == 0 ? 64 : 2 * texts->slots, texts->count};

        larger.slot = arena_alloc(arena, larger.slots, sizeof *larger.slot);
        for (size_t i = 0; i < texts->slots; i++)
            if (texts->slot[i] != NULL)
                *find_slot(&larger, texts->slot[i]) = texts->slot[i];
        *texts = larger;
    }
    slot = find_slot(texts, text);
    *is_new = *slot == NULL;
    if (*is_new) {
        *slot = arena_text(arena, text);
        texts->count++;
    }
    return *slot;
}

/* What is wrong with any job, whatever its format. */
static void judge(struct walk *walk, struct import_row *row)
{
    uint32_t most = walk->importer.request->gpus_max;
    bool is_new = true;

    if (!row->drop && row->job.run_ns <= 0)
        import_drop(row, IMPORT_RUN_TIME, row->run_column);
    if (!row->drop && row->job.gpus <= 0)
        import_drop(row, IMPORT_GPUS, row->gpus_column);
    if (!row->drop && most > 0 && row->job.gpus > (int64_t)most)
        import_drop(row, IMPORT_TOO_LARGE, row->gpus_column);
    if (row->drop || row->job.name == NULL)
        return;
    row->job.name = keep(&walk->names, walk->importer.arena, row->job.name,
                         &is_new);
    if (!is_new)
        import_drop(row, IMPORT_DUPLICATE, row->name_column);
}

static bool refuse(const struct walk *walk, const struct import_row *row,
                   struct err *err)
{
    struct csv *csv = walk->importer.csv;

    err_set(err, ERR_RANGE, csv_pos(csv, row->column),
            "job cannot be imported: %s (column %s is \"%.40s\")",
            reason_table[row->reason].meaning, csv_names(csv)[row->column],
            csv_field(csv, row->column).text);
    return err_hint(err, "Leave such rows out, counted, with --skip %s.",
                    reason_table[row->reason].name);
}

static bool in_order(struct walk *walk, const struct import_row *row,
                     struct err *err)
{
    struct import_result *result = walk->result;
    char now[32], last[32];
    bool before = result->count > 0 && row->job.submit_ns < walk->last_ns;

    if (before && !walk->importer.request->sort) {
        clock_format_s(row->job.submit_ns, now, sizeof now);
        clock_format_s(walk->last_ns, last, sizeof last);
        err_set(err, ERR_RANGE,
                csv_pos(walk->importer.csv, row->submit_column),
                "submit time %s s is before that of the job above, %s s",
                now, last);
        return err_hint(err, "Rows are sorted, and counted, with --sort.");
    }
    result->unsorted += before;
    walk->last_ns = row->job.submit_ns;
    return true;
}

static void keep_job(struct walk *walk, struct import_row *row)
{
    struct import_result *result = walk->result;
    struct arena *arena = walk->importer.arena;
    bool is_new;

    if (result->count == walk->room) {
        walk->room = walk->room == 0 ? 1024 : 2 * walk->room;
        result->job = arena_grow(arena, result->job, result->count,
                                 walk->room, sizeof *result->job);
    }
    if (row->job.tenant != NULL)
        row->job.tenant = keep(&walk->tenants, arena, row->job.tenant,
                               &is_new);
    row->job.row = result->rows;
    result->job[result->count++] = row->job;
}

/* One row: a job, left out, or refused. */
static bool take_row(struct walk *walk, struct err *err)
{
    struct import_result *result = walk->result;
    struct importer *importer = &walk->importer;
    struct import_row row = {.reason = IMPORT_REASONS,
                             .name_column = ROW_NO_COLUMN};
    uint64_t remark[REMARKS] = {0};

    importer->remark = remark;
    if (!importer->format->row(importer, &row, err))
        return false;
    judge(walk, &row);
    if (row.drop) {
        if (!importer->request->skip[row.reason])
            return refuse(walk, &row, err);
        result->skipped[row.reason]++;
    } else {
        if (!in_order(walk, &row, err))
            return false;
        keep_job(walk, &row);
        for (int i = 0; i < REMARKS; i++)
            result->remark[i] += remark[i];
    }
    result->rows++;
    return true;
}

static int by_submit(const void *left, const void *right)
{
    const struct import_job *a = left, *b = right;

    if (a->submit_ns != b->submit_ns)
        return a->submit_ns < b->submit_ns ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static bool take_rows(struct walk *walk, struct err *err)
{
    struct import_result *result = walk->result;
    enum csv_step step;

    while ((step = csv_next(walk->importer.csv, err)) == CSV_ROW)
        if (!take_row(walk, err))
            return false;
    if (step == CSV_ERROR)
        return false;
    result->blank_lines = csv_blank_lines(walk->importer.csv);
    if (result->unsorted > 0)
        qsort(result->job, result->count, sizeof *result->job, by_submit);
    if (result->count > 0)
        return true;
    return err_set(err, ERR_RANGE,
                   (struct err_pos){walk->importer.request->file, 0, 0},
                   "none of its %llu rows is a job",
                   (unsigned long long)result->rows);
}

static bool check_lengths(const struct import_format *format,
                          const struct import_request *request,
                          struct err *err)
{
    struct err_pos pos = {request->file, 0, 0};

    if (format->lengths == NULL && request->lengths != NULL)
        return err_set(err, ERR_USAGE, pos,
                       "format %s holds its own run times and takes no "
                       "--lengths", format->name);
    if (!format->typed && request->gpu_type != NULL)
        return err_set(err, ERR_USAGE, pos,
                       "format %s has no lengths by GPU type and takes no "
                       "--gpu-type", format->name);
    if (format->lengths != NULL && request->lengths == NULL) {
        err_set(err, ERR_USAGE, pos,
                "traces of format %s hold no run times", format->name);
        return err_hint(err, "Give --lengths FILE: %s.", format->lengths);
    }
    if (!format->typed || request->gpu_type != NULL)
        return true;
    err_set(err, ERR_USAGE, pos, "run times depend on the type of GPU");
    return err_hint(err, "Say which with --gpu-type, such as v100.");
}

bool import_read(struct arena *arena, const struct import_format *format,
                 const struct import_request *request,
                 struct import_result *result, struct err *err)
{
    struct walk walk = {
        .importer = {.arena = arena, .format = format, .request = request},
        .result = result};
    struct importer *importer = &walk.importer;
    bool good;

    assert(format != NULL && request->file != NULL);
    memset(result, 0, sizeof *result);
    if (!check_lengths(format, request, err))
        return false;
    importer->csv = csv_open(arena, request->file, format->layout, err);
    if (importer->csv == NULL)
        return false;
    good = (format->columns == NULL || import_columns(importer, err)) &&
           (format->open == NULL || format->open(importer, err)) &&
           take_rows(&walk, err);
    csv_close(importer->csv);
    importer->csv = NULL;
    return good;
}

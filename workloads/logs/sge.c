/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sge.c - the file `accounting` of Grid Engine (man accounting(5), of Sun, Open
 * and Univa Grid Engine): a line for each job that ended, fields between colons,
 * told by their number.
 *
 * GPUs stand in the category, the options of the job: "-l gpu=2,h_rt=3600 -pe
 * smp 8".  What such a request is called depends on the site; gpu, gpus, ngpus
 * and those of the catalogue's vendors are known.  Univa writes milliseconds.
 *
 * The eighth field, priority, is not read: it is that of the queue's configuration,
 * the niceness of its processes, and orders no jobs.
 */
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/decimal.h"
#include "sim/base/err.h"
#include "sim/text/notes.h"
#include "sim/text/scan.h"
#include "workloads/logs/record.h"

static const char *const row_names[] = {
    "job_number", "project", "submission_time", "start_time", "end_time",
    "run", "h_rt", "gpu", "slots", "mem_free", "gpu_type", "granted_pe",
    "priority", "exit_status", NULL
};

/* Fields by number, from 0. */
enum { GROUP = 2, OWNER, JOB = 5, SUBMITTED = 8, STARTED, ENDED, FAILED, STATUS,
       PROJECT = 31, PE = 33, SLOTS, TASK, CATEGORY = 39, PE_TASK = 41,
       FIELDS_MIN = 42 };

/* A log under way: the fields of the line that was read last. */
struct sge {
    struct record record;       /* row and place */
    struct cell cell[RECORD_CELLS_MAX];
    char name[2 * RECORD_BYTES], types[64]; /* the job's name with its task; GPU
                                               type, empty: any */
};

/* What the options of a job ask for. */
struct asked {
    int64_t gpus, limit_ns;     /* 0 unless has_gpus, has_limit */
    bool has_gpus, has_limit;
};

/* Reads a field that must be a number of 0 or more.  `what` names it in errors. */
static bool read_whole(const struct sge *log, int field, const char *what,
                       int64_t *out, struct err *err)
{
    struct cell cell = log->cell[field];

    return (scan_i64(cell.text, strlen(cell.text), out) && *out >= 0) ||
           record_fault(&log->record, cell, what, "a whole number", err);
}

/* Is this one of the names that sites give to GPUs?  Grid Engine has no name of
 * its own for them. */
static bool is_gpu(const char *name, size_t bytes)
{
    static const char *const names[] = {"gpu", "gpus", "ngpus", "GPU", "cuda",
                                        "nvidia_gpu"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == bytes && memcmp(names[i], name, bytes) == 0)
            return true;
    return false;
}

/* Reads one "name=value" of -l: GPUs, a GPU type, or h_rt, the limit.  A name
 * alone is a switch, and means one GPU. Others are passed over.  False: the
 * value cannot be read. */
static bool read_request(struct sge *log, const char *text, size_t bytes,
                         struct asked *asked)
{
    const char *value = memchr(text, '=', bytes);
    size_t name = value == NULL ? bytes : (size_t)(value - text);
    size_t length = value == NULL ? 0 : bytes - name - 1;
    char limit[32];

    if (is_gpu(text, name)) {
        asked->has_gpus = true;
        asked->gpus = 1;
        return value == NULL || (scan_i64(value + 1, length, &asked->gpus) &&
                                 asked->gpus >= 0);
    }
    if (value != NULL && name == 8 && memcmp(text, "gpu_type", 8) == 0 &&
        length < sizeof log->types) {
        memcpy(log->types, value + 1, length);
        log->types[length] = '\0';
    }
    if (value == NULL || name != 4 || memcmp(text, "h_rt", 4) != 0 || length >= sizeof limit)
        return true;
    memcpy(limit, value + 1, length);
    limit[length] = '\0';
    asked->has_limit = strcmp(limit, "INFINITY") != 0;
    return !asked->has_limit || record_span(limit, &asked->limit_ns);
}

/* Reads the requests behind each -l of the category; other options, such as -q
 * and -pe, are passed over. */
static bool read_category(struct sge *log, struct asked *asked,
                          struct err *err)
{
    const char *at = log->cell[CATEGORY].text;

    *asked = (struct asked){0};
    log->types[0] = '\0';
    while ((at = strstr(at, "-l ")) != NULL) {
        at += 3;
        for (bool more = true; more; at++) {
            size_t bytes = strcspn(at, ", ");

            if (!read_request(log, at, bytes, asked))
                return record_fault(&log->record, log->cell[CATEGORY],
                                    "category", "options such as -l "
                                    "gpu=2,h_rt=3600", err);
            more = at[bytes] == ',';
            at += bytes;
            if (*at == '\0')
                break;
        }
    }
    return true;
}

/* Puts an instant.  A value above 1e11 is taken for milliseconds, which Univa
 * writes: as seconds it would be the year 5138. 0 is not known, and puts
 * nothing. */
static bool put_time(struct sge *log, int field, enum log_column column,
                     struct err *err)
{
    static const char *const what[] = {"submission_time", "start_time",
                                       "end_time"};
    int64_t value;

    if (!read_whole(log, field, what[field - SUBMITTED], &value, err))
        return false;
    if (value > INT64_C(100000000000)) {
        if (field == SUBMITTED)
            notes_count(&log->record.notes, "jobs have times in milliseconds, "
                        "as Univa writes them");
        if (value > INT64_C(9000000000000))
            return record_fault(&log->record, log->cell[field],
                                what[field - SUBMITTED],
                                "seconds since 1970", err);
        value *= 1000000;
    } else {
        if (value > INT64_C(9000000000))
            return record_fault(&log->record, log->cell[field],
                                what[field - SUBMITTED],
                                "seconds since 1970", err);
        value *= CLOCK_NS_PER_S;
    }
    if (value > 0)
        record_put_ns(&log->record, column, value, log->cell[field].col);
    return true;
}

/* Puts GPUs, cores (slots) and nodes.  A job without a parallel environment
 * runs on one node; for others the log does not say on how many. */
static bool put_resources(struct sge *log, struct err *err)
{
    struct record *record = &log->record;
    struct asked asked;
    int64_t slots;

    if (!read_category(log, &asked, err) ||
        !read_whole(log, SLOTS, "slots", &slots, err))
        return false;
    record_put_count(record, LOG_GPUS, asked.gpus, log->cell[CATEGORY].col);
    record_put_count(record, LOG_CORES, slots, log->cell[SLOTS].col);
    if (strcmp(log->cell[PE].text, "NONE") == 0)
        record_put_count(record, LOG_NODES, 1, log->cell[PE].col);
    record_put(record, LOG_TYPES, log->types, log->cell[CATEGORY].col);
    if (asked.has_limit)
        record_put_ns(record, LOG_LIMIT, asked.limit_ns,
                      log->cell[CATEGORY].col);
    if (asked.gpus > 0 && slots > 1)
        notes_count(&record->notes, "jobs ask for GPUs and several slots: the "
                    "GPUs are taken for those of the job, not of a slot");
    return true;
}

/* Puts the job's name, "4101", or "4101.3" of an array job; its tenant; and its
 * state. */
static bool put_names(struct sge *log, struct err *err)
{
    struct record *record = &log->record;
    const char *project = log->cell[PROJECT].text;
    int64_t number, task;
    char *end;
    int owner = strcmp(project, "NONE") != 0 && project[0] != '\0' ? PROJECT
                                                                   : GROUP;

    if (!read_whole(log, JOB, "job_number", &number, err) ||
        !read_whole(log, TASK, "task_number", &task, err))
        return false;
    end = decimal_put(log->name, (uint64_t)number);
    if (task > 0) {
        *end++ = '.';
        end = decimal_put(end, (uint64_t)task);
    }
    *end = '\0';
    record_put(record, LOG_JOB, log->name, log->cell[JOB].col);
    record_put(record, LOG_TENANT, log->cell[owner].text,
               log->cell[owner].col);
    if (owner == GROUP)
        notes_count(&record->notes, "jobs have no project: their group is the "
                    "tenant");
    record_put(record, LOG_STATE,
               strcmp(log->cell[FAILED].text, "0") == 0 &&
                       strcmp(log->cell[STATUS].text, "0") == 0
                   ? LOG_GOOD : "failed", log->cell[STATUS].col);
    return true;
}

/* Is it a name such as "1.node17", of a task of a parallel job? */
static bool is_task(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    const char *host = name + digits + 1;

    return digits > 0 && name[digits] == '.' && strpbrk(name, " ,=") == NULL &&
           host[strspn(host, "0123456789.")] != '\0';
}

/* The last field that is read must be NONE or the name of a task.  If it is
 * neither, a field before it holds a colon, and the line was cut in wrong
 * places. */
static bool check_task(const struct sge *log, struct err *err)
{
    if (is_task(log->cell[PE_TASK].text))
        return true;
    (void)record_fault(&log->record, log->cell[PE_TASK], "pe_taskid",
                       "NONE or such as 1.node17", err);
    return err_hint(err, "A field before it may hold a colon, as h_rt=8:00:00 of "
                         "the category: write seconds there.");
}

/* Reads the next line that is a job: no comment, and no task of a parallel job,
 * which is within the line of its job. */
static enum csv_step read_line(struct sge *log, struct err *err)
{
    struct record *record = &log->record;
    enum csv_step step;
    char *line;

    for (;;) {
        size_t count;

        if ((step = record_line(record, &line, err)) != CSV_ROW)
            return step;
        if (line[0] == '#')
            continue;
        count = record_cut(line, ':', log->cell, RECORD_CELLS_MAX);
        if (count < FIELDS_MIN) {
            struct err_pos pos = scan_pos(record->scan, 1);

            pos.file = record->path;
            err_set(err, ERR_SYNTAX, pos, "line has %zu fields, accounting of "
                    "Grid Engine has %d or more", count, FIELDS_MIN);
            return CSV_ERROR;
        }
        if (strcmp(log->cell[PE_TASK].text, "NONE") == 0)
            return CSV_ROW;
        if (!check_task(log, err))
            return CSV_ERROR;
        notes_count(&record->notes, "lines are tasks of parallel jobs, whose "
                    "own lines count");
    }
}

/* The rows of the log, one for each record; CSV_ERROR: err says what a record lacks. */
static enum csv_step next_job(void *self, struct csv_field *field,
                              struct err *err)
{
    struct sge *log = self;
    struct record *record = &log->record;
    enum csv_step step = read_line(log, err);

    if (step != CSV_ROW)
        return step;
    record_begin(record, scan_pos(record->scan, 1).line, 1);
    if (!put_names(log, err) || !put_resources(log, err) ||
        !put_time(log, SUBMITTED, LOG_SUBMIT, err) ||
        !put_time(log, STARTED, LOG_START, err) ||
        !put_time(log, ENDED, LOG_END, err))
        return CSV_ERROR;
    memcpy(field, record->field, sizeof record->field);
    return CSV_ROW;
}

static void close_log(void *self)
{
    scan_close(((struct sge *)self)->record.scan);
}

bool sge_open(struct arena *arena, const char *path,
              struct csv_source *source, struct err *err)
{
    struct sge *log = arena_alloc(arena, 1, sizeof *log);

    *source = (struct csv_source){row_names, log, next_job, close_log,
                                  &log->record.notes};
    return record_open(&log->record, arena, path, err);
}

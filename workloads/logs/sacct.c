/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sacct.c - what Slurm's `sacct --parsable2` prints (man sacct, Slurm 20 to
 * 24): a header line, and fields between '|'.
 *
 * The header says which columns there are.  Lines of steps (123.batch, 123.0)
 * are parts of a job, whose own line counts.  Trackable resources (TRES) are
 * read as "cpu=8,gres/gpu:a100=4,mem=64G,node=2": those that were allocated, or
 * else those that were requested.  A GPU type constrains a job only if the job
 * asked for it (ReqTRES).
 *
 * A job is submitted when it became eligible, if that is later: before it
 * waited for another job or for its begin time, and not for resources.
 */
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/notes.h"
#include "sim/text/scan.h"
#include "workloads/logs/record.h"

static const char *const row_names[] = {
    "JobID", "Account", "Submit", "Start", "End", "Elapsed", "Timelimit",
    "AllocTRES gres/gpu", "AllocTRES cpu", "AllocTRES mem", "ReqTRES gres/gpu",
    "NNodes", "Priority", "State", NULL
};

/* Columns that are read, and what it means that one is absent; NULL: it is one of
 * several that say the same. */
enum { ID, SUBMIT, ELIGIBLE, START, END, ELAPSED, ELAPSED_RAW, LIMIT, LIMIT_RAW,
       ALLOC, REQ, ALLOC_GRES, REQ_GRES, NODES, CPUS, MEMORY, USER, ACCOUNT,
       STATE, WANTED };
static const struct {
    const char *name, *absent;
} wanted[WANTED] = {
    [ID] = {"JobID", NULL}, [SUBMIT] = {"Submit", NULL},
    [ELIGIBLE] = {"Eligible", "waiting for other jobs counts as waiting for "
                              "GPUs"},
    [START] = {"Start", NULL}, [END] = {"End", NULL},
    [ELAPSED] = {"Elapsed", NULL}, [ELAPSED_RAW] = {"ElapsedRaw", NULL},
    [LIMIT] = {"Timelimit", NULL}, [LIMIT_RAW] = {"TimelimitRaw", NULL},
    [ALLOC] = {"AllocTRES", NULL}, [REQ] = {"ReqTRES", NULL},
    [ALLOC_GRES] = {"AllocGRES", NULL}, [REQ_GRES] = {"ReqGRES", NULL},
    [NODES] = {"NNodes", NULL}, [CPUS] = {"NCPUS", NULL},
    [MEMORY] = {"ReqMem", NULL}, [USER] = {"User", NULL},
    [ACCOUNT] = {"Account", NULL},
    [STATE] = {"State", "that jobs failed or were cancelled is not known"},
};

struct sacct {
    struct record record;
    struct cell cell[RECORD_CELLS_MAX];
    size_t columns;             /* of the header */
    size_t at[WANTED];          /* SIZE_MAX: absent */
    char types[120];
    char nothing[1];            /* an empty text */
};

/* More than any job has; so sums stay in range. */
#define COUNT_MAX 1000000000
#define BYTES_MAX 1e15

/* Resources of a job in all; 0 or empty: not said. */
struct tres {
    int64_t gpus, cores, nodes;
    double memory_bytes;
    char types[120];            /* "a100|h100" */
};

static bool has(const struct sacct *log, int column)
{
    return log->at[column] != SIZE_MAX;
}

/* An absent column has empty cells. */
static struct cell cell_of(struct sacct *log, int column)
{
    return has(log, column) ? log->cell[log->at[column]]
                            : (struct cell){log->nothing, 1};
}

/* ---- resources ------------------------------------------------------------- */

/* Adds a name to "a|b"; one that does not fit is left out, so that the job may
 * take any type. */
static void add_type(char types[120], const char *name, size_t bytes)
{
    size_t used = strlen(types);

    if (used + bytes + 2 > 120)
        return;
    if (used > 0)
        types[used++] = '|';
    memcpy(types + used, name, bytes);
    types[used + bytes] = '\0';
}

/* The value of one name.  GPUs of a type stand beside their sum, gres/gpu, or alone. */
static bool read_value(const char *text, const char *value, struct tres *tres,
                       int64_t *typed)
{
    static const char gpu[] = "gres/gpu";
    const char *rest;
    int64_t count;

    if (strcmp(text, "mem") == 0)
        return record_bytes(value, 1024.0 * 1024.0, &tres->memory_bytes,
                            &rest) && *rest == '\0';
    if (strcmp(text, "cpu") != 0 && strcmp(text, "node") != 0 &&
        strncmp(text, gpu, sizeof gpu - 1) != 0)
        return true;
    if (!scan_i64(value, strlen(value), &count) || count < 0 ||
        count > COUNT_MAX)
        return false;
    if (text[0] == 'c')
        tres->cores = count;
    else if (text[0] == 'n')
        tres->nodes = count;
    else if (text[sizeof gpu - 1] == '\0')
        tres->gpus = count;
    else if (text[sizeof gpu - 1] == ':' && count > 0) {
        *typed += count;
        add_type(tres->types, text + sizeof gpu, strlen(text + sizeof gpu));
    }
    return true;
}

/* One "name=value"; left as it is where it is wrong. */
static bool read_resource(char *text, struct tres *tres, int64_t *typed)
{
    char *value = strchr(text, '=');

    if (value == NULL)
        return false;
    *value = '\0';
    if (read_value(text, value + 1, tres, typed))
        return true;
    *value = '=';
    return false;
}

/* "billing=8,cpu=8,gres/gpu:a100=4,mem=64G,node=2" */
static bool read_tres(struct sacct *log, int column, struct tres *tres,
                      struct err *err)
{
    struct cell whole = cell_of(log, column), part[64];
    int64_t typed = 0;
    size_t count;

    memset(tres, 0, sizeof *tres);
    if (whole.text[0] == '\0')
        return true;
    count = record_cut(whole.text, ',', part, 64);
    for (size_t i = 0; i < count && i < 64; i++) {
        part[i].col += whole.col - 1;
        if (!read_resource(part[i].text, tres, &typed))
            return record_fault(&log->record, part[i], wanted[column].name,
                                "NAME=COUNT between commas", err);
    }
    if (typed > tres->gpus)
        tres->gpus = typed;
    return true;
}

/* "gpu:a100:4" or "gpu:4", of each node, as Slurm wrote it before 20.11. */
static bool read_gres(struct sacct *log, int column, int64_t nodes,
                      struct tres *tres, struct err *err)
{
    struct cell whole = cell_of(log, column), part[8];
    size_t count;
    int64_t gpus;

    memset(tres, 0, sizeof *tres);
    if (strncmp(whole.text, "gres:", 5) == 0)
        whole.text += 5;
    if (strncmp(whole.text, "gpu", 3) != 0)
        return true;
    count = record_cut(whole.text, ':', part, 8);
    if (count > 3 || count < 2 ||
        !scan_i64(part[count - 1].text, strlen(part[count - 1].text), &gpus) ||
        gpus < 0 || gpus > 1000)
        return record_fault(&log->record, whole, wanted[column].name,
                            "such as gpu:a100:4", err);
    tres->gpus = gpus * (nodes > 0 ? nodes : 1);
    if (count == 3)
        add_type(tres->types, part[1].text, strlen(part[1].text));
    return true;
}

/* "4000Mc" is of a core, "4Gn" of a node; "4G" of the job, since Slurm 21.08. */
static bool read_memory(struct sacct *log, struct tres *tres,
                        struct err *err)
{
    struct cell cell = cell_of(log, MEMORY);
    const char *rest;
    double bytes;

    if (tres->memory_bytes > 0.0 || cell.text[0] == '\0' ||
        strcmp(cell.text, "0") == 0)
        return true;
    if (!record_bytes(cell.text, 1024.0 * 1024.0, &bytes, &rest) ||
        (*rest != '\0' && rest[1] != '\0') || strchr("cn", *rest) == NULL)
        return record_fault(&log->record, cell, "ReqMem",
                            "memory such as 64G, 4000Mc or 4Gn", err);
    if (*rest == 'c')
        bytes *= (double)tres->cores;
    else if (*rest == 'n')
        bytes *= (double)(tres->nodes > 0 ? tres->nodes : 1);
    tres->memory_bytes = bytes <= BYTES_MAX ? bytes : BYTES_MAX;
    return true;
}

/* A column of its own says it where the resources do not. */
static bool read_count(struct sacct *log, int column, int64_t *count,
                       struct err *err)
{
    struct cell cell = cell_of(log, column);

    if (*count > 0 || cell.text[0] == '\0')
        return true;
    return (scan_i64(cell.text, strlen(cell.text), count) && *count >= 0 &&
            *count <= COUNT_MAX) ||
           record_fault(&log->record, cell, wanted[column].name,
                        "a whole number", err);
}

/* What the job held, or asked for, if it never ran. */
static bool put_resources(struct sacct *log, struct err *err)
{
    struct record *record = &log->record;
    struct tres held, asked;
    uint32_t col = cell_of(log, has(log, ALLOC) ? ALLOC : REQ).col;

    if (!read_tres(log, REQ, &asked, err) ||
        !read_tres(log, ALLOC, &held, err))
        return false;
    if (held.gpus == 0 && held.cores == 0)
        held = asked;
    if (!read_count(log, NODES, &held.nodes, err) ||
        !read_count(log, CPUS, &held.cores, err) ||
        (held.gpus == 0 &&
         !read_gres(log, has(log, ALLOC_GRES) ? ALLOC_GRES : REQ_GRES,
                    held.nodes, &asked, err)) ||
        !read_memory(log, &held, err))
        return false;
    if (held.gpus == 0)
        held.gpus = asked.gpus;
    record_put_count(record, LOG_GPUS, held.gpus, col);
    if (held.nodes > 0)
        record_put_count(record, LOG_NODES, held.nodes, col);
    if (held.cores > 0)
        record_put_count(record, LOG_CORES, held.cores, col);
    if (held.memory_bytes > 0.0)
        record_put_count(record, LOG_MEMORY,
                         (int64_t)(held.memory_bytes / 1048576.0), col);
    memcpy(log->types, asked.types, sizeof log->types);
    record_put(record, LOG_TYPES, log->types, col);
    if (asked.types[0] != '\0')
        notes_count(&record->notes, "jobs asked for GPU type %s, and are kept "
                    "to the types of that name", asked.types);
    return true;
}

/* ---- times ----------------------------------------------------------------- */

static bool read_moment(struct sacct *log, int column, int64_t *ns,
                        bool *known, struct err *err)
{
    struct cell cell = cell_of(log, column);

    return record_moment(cell.text, ns, known) ||
           record_fault(&log->record, cell, wanted[column].name,
                        "a date such as 2026-01-05T09:00:00, or Unknown", err);
}

/* "1-02:00:00", UNLIMITED, Partition_Limit; or TimelimitRaw, minutes. */
static bool put_limit(struct sacct *log, struct err *err)
{
    struct cell cell = cell_of(log, has(log, LIMIT) ? LIMIT : LIMIT_RAW);
    int64_t ns;

    if (cell.text[0] == '\0' || strcmp(cell.text, "UNLIMITED") == 0 ||
        strcmp(cell.text, "Partition_Limit") == 0 ||
        strcmp(cell.text, "INVALID") == 0)
        return true;
    if (!record_span(cell.text, &ns))
        return record_fault(&log->record, cell, "Timelimit",
                            "a time such as 1-12:00:00, UNLIMITED or "
                            "Partition_Limit", err);
    if (!has(log, LIMIT) && ns > INT64_MAX / 60)
        return true;            /* no limit that matters */
    if (!has(log, LIMIT))
        ns *= 60;
    record_put_ns(&log->record, LOG_LIMIT, ns, cell.col);
    return true;
}

/* Elapsed leaves out the time for which a job was suspended. */
static bool put_run(struct sacct *log, int64_t held_ns, struct err *err)
{
    struct cell cell = cell_of(log, has(log, ELAPSED) ? ELAPSED : ELAPSED_RAW);
    int64_t ns;

    if (cell.text[0] == '\0')
        return true;
    if (!record_span(cell.text, &ns))
        return record_fault(&log->record, cell, "Elapsed",
                            "a time such as 1-12:00:00", err);
    if (held_ns != CLOCK_NEVER_NS && ns < held_ns)
        notes_count(&log->record.notes, "jobs ran for another time (Elapsed) "
                    "than from Start to End, as if suspended; Elapsed is "
                    "taken");
    else if (held_ns != CLOCK_NEVER_NS && ns > held_ns)
        notes_count(&log->record.notes, "jobs ran for longer (Elapsed) than "
                    "from Start to End, so one of them is wrong; Elapsed is "
                    "taken");
    record_put_ns(&log->record, LOG_RUN, ns, cell.col);
    return true;
}

/* Submission is the instant from which a job could have run. */
static bool put_submit(struct sacct *log, struct err *err)
{
    int64_t ns, eligible_ns;
    bool known, eligible;

    if (!read_moment(log, SUBMIT, &ns, &known, err) ||
        !read_moment(log, ELIGIBLE, &eligible_ns, &eligible, err))
        return false;
    if (known && eligible && eligible_ns > ns) {
        notes_count(&log->record.notes, "jobs were eligible later than "
                    "submitted (dependencies, begin times); Eligible is "
                    "taken");
        ns = eligible_ns;
    }
    if (known)
        record_put_ns(&log->record, LOG_SUBMIT, ns, cell_of(log, SUBMIT).col);
    return true;
}

/* Start, end and what lies between.  The start of a job that was cancelled in the
 * queue is its end. */
static bool put_times(struct sacct *log, struct err *err)
{
    struct record *record = &log->record;
    bool started, ended, cancelled;
    int64_t start_ns, end_ns, held_ns = CLOCK_NEVER_NS;
    const char *state = cell_of(log, STATE).text;

    if (!put_submit(log, err) ||
        !read_moment(log, START, &start_ns, &started, err) ||
        !read_moment(log, END, &end_ns, &ended, err))
        return false;
    cancelled = started && ended && start_ns == end_ns &&
                strncmp(state, "CANCELLED", 9) == 0;
    if (started && !cancelled)
        record_put_ns(record, LOG_START, start_ns, cell_of(log, START).col);
    if (ended)
        record_put_ns(record, LOG_END, end_ns, cell_of(log, END).col);
    if (started && ended)
        held_ns = end_ns - start_ns;
    return put_run(log, held_ns, err) && put_limit(log, err);
}

/* States of sacct, of which all but the first count as no success. */
static void put_state(struct sacct *log)
{
    static const char *const known[] = {
        LOG_GOOD, "BOOT_FAIL", "CANCELLED", "COMPLETING", "DEADLINE", "FAILED",
        "LAUNCH_FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PENDING", "PREEMPTED",
        "REQUEUED", "RESIZING", "REVOKED", "RUNNING", "SUSPENDED", "TIMEOUT"};
    struct cell cell = cell_of(log, STATE);
    size_t bytes = strcspn(cell.text, " +"), i = 0;     /* CANCELLED by 1003 */

    while (i < sizeof known / sizeof *known &&
           (strlen(known[i]) != bytes || memcmp(known[i], cell.text, bytes) != 0))
        i++;
    if (has(log, STATE) && i == sizeof known / sizeof *known)
        notes_count(&log->record.notes, "jobs have the state '%.40s', which is "
                    "not known; they count as failed", cell.text);
    record_put(&log->record, LOG_STATE, has(log, STATE) ? cell.text : LOG_GOOD,
               cell.col);
}

/* ---- lines ----------------------------------------------------------------- */

/* Cuts the line; as many cells as the header has, and one more, empty, where
 * `--parsable` ends lines with a separator. */
static bool cut_line(struct sacct *log, char *line, struct err *err)
{
    size_t count = record_cut(line, '|', log->cell, RECORD_CELLS_MAX);
    struct err_pos pos = scan_pos(log->record.scan, 1);

    if (count == log->columns || (count == log->columns + 1 &&
                                  log->cell[count - 1].text[0] == '\0'))
        return true;
    pos.file = log->record.path;
    err_set(err, ERR_SYNTAX, pos,
            "line has %zu fields, the header line has %zu", count,
            log->columns);
    return count > log->columns
               ? err_hint(err, "A job's name may hold a |: leave JobName, "
                               "Comment and such out of --format.") : false;
}

static enum csv_step next_job(void *self, struct csv_field *field,
                              struct err *err)
{
    struct sacct *log = self;
    struct record *record = &log->record;
    enum csv_step step;
    struct cell id, owner;
    char *line;

    for (;;) {
        if ((step = record_line(record, &line, err)) != CSV_ROW)
            return step;
        if (!cut_line(log, line, err))
            return CSV_ERROR;
        id = cell_of(log, ID);
        if (strchr(id.text, '.') == NULL)
            break;
        notes_count(&record->notes, "lines are steps of jobs, whose own lines "
                    "count");
    }
    record_begin(record, scan_pos(record->scan, 1).line, 1);
    record_put(record, LOG_JOB, id.text, id.col);
    owner = cell_of(log, has(log, ACCOUNT) ? ACCOUNT : USER);
    record_put(record, LOG_TENANT, owner.text, owner.col);
    put_state(log);
    if (!put_times(log, err) || !put_resources(log, err))
        return CSV_ERROR;
    memcpy(field, record->field, sizeof record->field);
    return CSV_ROW;
}

/* Says what each column that is absent would have told. */
static void note_absent(struct sacct *log)
{
    struct notes *notes = &log->record.notes;

    for (int i = 0; i < WANTED; i++)
        if (!has(log, i) && wanted[i].absent != NULL)
            notes_file(notes, "column %s is absent: %s", wanted[i].name,
                       wanted[i].absent);
    if (!has(log, LIMIT) && !has(log, LIMIT_RAW))
        notes_file(notes, "column Timelimit is absent: jobs have no limit");
    if (!has(log, ACCOUNT))
        notes_file(notes, has(log, USER)
                       ? "column Account is absent: the user is the tenant"
                       : "columns Account and User are absent: jobs have no "
                         "tenant");
    if (!has(log, REQ))
        notes_file(notes, "column ReqTRES is absent: jobs take any GPU type");
    notes_file(notes, "dates without a zone are taken for UTC");
}

/* What a job must have.  False and an err that says how to get it. */
static bool check_columns(const struct sacct *log, struct err *err)
{
    const char *lacks = NULL;

    if (!has(log, ID))
        lacks = "JobID";
    else if (!has(log, SUBMIT))
        lacks = "Submit";
    else if (!has(log, START))
        lacks = "Start";
    else if (!has(log, END))
        lacks = "End";
    else if (!has(log, ALLOC) && !has(log, REQ) && !has(log, ALLOC_GRES) &&
             !has(log, REQ_GRES))
        lacks = "AllocTRES or ReqTRES";
    if (lacks == NULL)
        return true;
    err_set(err, ERR_SYNTAX, (struct err_pos){log->record.path, 1, 1},
            "file has no column %s, and format sacct needs it", lacks);
    return err_hint(err, "Print it by: sacct -a -X -P --format=JobID,User,"
                         "Account,State,Submit,Eligible,Start,End,Elapsed,"
                         "Timelimit,NNodes,ReqTRES,AllocTRES.");
}

/* The first line names the columns. */
static bool read_header(struct sacct *log, struct err *err)
{
    char *line;
    size_t count;
    enum csv_step step = record_line(&log->record, &line, err);

    if (step == CSV_ERROR)
        return false;
    if (step == CSV_END)
        return err_set(err, ERR_SYNTAX,
                       (struct err_pos){log->record.path, 0, 0},
                       "file is empty: the header line of sacct is expected");
    if (strncmp(line, "\xEF\xBB\xBF", 3) == 0)
        line += 3;
    count = record_cut(line, '|', log->cell, RECORD_CELLS_MAX);
    if (count > 1 && count <= RECORD_CELLS_MAX &&
        log->cell[count - 1].text[0] == '\0')
        count--;
    if (count > RECORD_CELLS_MAX)
        return err_set(err, ERR_RANGE, (struct err_pos){log->record.path, 1, 1},
                       "header has %zu columns, at most %u are read", count,
                       RECORD_CELLS_MAX);
    log->columns = count;
    for (int i = 0; i < WANTED; i++) {
        log->at[i] = SIZE_MAX;
        for (size_t j = 0; j < count && log->at[i] == SIZE_MAX; j++)
            if (strcmp(log->cell[j].text, wanted[i].name) == 0)
                log->at[i] = j;
    }
    return check_columns(log, err);
}

static void close_log(void *self)
{
    scan_close(((struct sacct *)self)->record.scan);
}

bool sacct_open(struct arena *arena, const char *path,
                struct csv_source *source, struct err *err)
{
    struct sacct *log = arena_alloc(arena, 1, sizeof *log);

    log->record.path = path;
    log->record.notes.arena = arena;
    *source = (struct csv_source){row_names, log, next_job, close_log,
                                  &log->record.notes};
    log->record.scan = scan_open(path, err);
    if (log->record.scan == NULL)
        return false;
    if (read_header(log, err)) {
        note_absent(log);
        return true;
    }
    close_log(log);
    return false;
}

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
 *
 * Column Priority is not read: it is what the scheduler made of the job's age, of
 * shares and of its size up to its start, and grows with the wait.  A policy that
 * is to be compared would be told how long the job waited in truth.
 */
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/notes.h"
#include "sim/text/scan.h"
#include "workloads/logs/record.h"
#include "workloads/logs/sacct.h"

/* Names of the columns of a row, as messages show them. */
static const char *const row_names[] = {
    "JobID", "Account", "Submit", "Start", "End", "Elapsed", "Timelimit",
    "AllocTRES gres/gpu", "AllocTRES cpu", "AllocTRES mem", "ReqTRES gres/gpu",
    "NNodes", "Priority", "State", NULL
};

/* What the absence of a column means, beside what note_absent() says of
 * several. */
static const char *const absence[WANTED] = {
    [ELIGIBLE] = "waiting for other jobs counts as waiting for GPUs",
    [STATE] = "that jobs failed or were cancelled is not known",
};

/* ---- times ----------------------------------------------------------------- */

/* Reads a date of sacct; "Unknown" and an empty one are not known, and no error. */
static bool read_moment(struct sacct *log, int column, int64_t *ns,
                        bool *known, struct err *err)
{
    struct cell cell = sacct_cell(log, column);

    return record_moment(cell.text, ns, known) ||
           record_fault(&log->record, cell, sacct_columns[column],
                        "a date such as 2026-01-05T09:00:00, or Unknown", err);
}

/* Puts the limit: Timelimit such as "1-02:00:00", or TimelimitRaw, which is in
 * minutes and is read as if it were seconds first.  UNLIMITED and
 * Partition_Limit are no limit that is known. */
static bool put_limit(struct sacct *log, struct err *err)
{
    struct cell cell = sacct_cell(log, sacct_has(log, LIMIT) ? LIMIT : LIMIT_RAW);
    int64_t ns;

    if (cell.text[0] == '\0' || strcmp(cell.text, "UNLIMITED") == 0 ||
        strcmp(cell.text, "Partition_Limit") == 0 ||
        strcmp(cell.text, "INVALID") == 0)
        return true;
    if (!record_span(cell.text, &ns))
        return record_fault(&log->record, cell, "Timelimit",
                            "a time such as 1-12:00:00, UNLIMITED or "
                            "Partition_Limit", err);
    if (!sacct_has(log, LIMIT) && ns > INT64_MAX / 60)
        return true;            /* no limit that matters */
    if (!sacct_has(log, LIMIT))
        ns *= 60;
    record_put_ns(&log->record, LOG_LIMIT, ns, cell.col);
    return true;
}

/* Puts how long the job ran.  Elapsed leaves out the time for which it was
 * suspended, so it goes before the time from start to end (held_ns;
 * CLOCK_NEVER_NS: not known). A difference is noted. */
static bool put_run(struct sacct *log, int64_t held_ns, struct err *err)
{
    struct cell cell = sacct_cell(log, sacct_has(log, ELAPSED) ? ELAPSED
                                                              : ELAPSED_RAW);
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

/* Puts the instant from which the job could have run: Eligible, if it is later
 * than Submit. */
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
        record_put_ns(&log->record, LOG_SUBMIT, ns, sacct_cell(log, SUBMIT).col);
    return true;
}

/* Puts start, end and what lies between.  A job that was cancelled while it
 * waited has its end as start; it did not start, so none is put. */
static bool put_times(struct sacct *log, struct err *err)
{
    struct record *record = &log->record;
    bool started, ended, cancelled;
    int64_t start_ns, end_ns, held_ns = CLOCK_NEVER_NS;
    const char *state = sacct_cell(log, STATE).text;

    if (!put_submit(log, err) ||
        !read_moment(log, START, &start_ns, &started, err) ||
        !read_moment(log, END, &end_ns, &ended, err))
        return false;
    cancelled = started && ended && start_ns == end_ns &&
                strncmp(state, "CANCELLED", 9) == 0;
    if (started && !cancelled)
        record_put_ns(record, LOG_START, start_ns, sacct_cell(log, START).col);
    if (ended)
        record_put_ns(record, LOG_END, end_ns, sacct_cell(log, END).col);
    if (started && ended)
        held_ns = end_ns - start_ns;
    return put_run(log, held_ns, err) && put_limit(log, err);
}

/* Puts the state.  All states but COMPLETED count as no success; one that is
 * not known is noted.  Text behind the state ("CANCELLED by 1003") does not
 * count. */
static void put_state(struct sacct *log)
{
    static const char *const known[] = {
        LOG_GOOD, "BOOT_FAIL", "CANCELLED", "COMPLETING", "DEADLINE", "FAILED",
        "LAUNCH_FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "PENDING", "PREEMPTED",
        "REQUEUED", "RESIZING", "REVOKED", "RUNNING", "SUSPENDED", "TIMEOUT"};
    struct cell cell = sacct_cell(log, STATE);
    size_t bytes = strcspn(cell.text, " +"), i = 0;     /* CANCELLED by 1003 */

    while (i < sizeof known / sizeof *known &&
           (strlen(known[i]) != bytes || memcmp(known[i], cell.text, bytes) != 0))
        i++;
    if (sacct_has(log, STATE) && i == sizeof known / sizeof *known)
        notes_count(&log->record.notes, "jobs have the state '%.40s', which is "
                    "not known; they count as failed", cell.text);
    record_put(&log->record, LOG_STATE, sacct_has(log, STATE) ? cell.text : LOG_GOOD,
               cell.col);
}

/* ---- lines ----------------------------------------------------------------- */

/* Cuts a line into cells.  It must have as many as the header.  `--parsable`,
 * unlike `--parsable2`, ends lines with a separator, which makes one more,
 * empty. */
static bool cut_line(struct sacct *log, char *line, struct err *err)
{
    size_t count = record_cut(line, '|', log->cell, RECORD_CELLS_MAX);
    struct err_pos pos = scan_pos(log->record.scan, 1);

    if (count == log->columns ||
        (count == log->columns + 1 && count <= RECORD_CELLS_MAX &&
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

/* Gives the next job.  A line of a step (12.batch, 12.0) is passed over: its
 * resources are within those of its job. */
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
        id = sacct_cell(log, ID);
        if (strchr(id.text, '.') == NULL)
            break;
        notes_count(&record->notes, "lines are steps of jobs, whose own lines "
                    "count");
    }
    if (strchr(id.text, '+') != NULL)
        notes_count(&record->notes, "lines are parts of heterogeneous jobs (12+0, "
                    "12+1): each is a job of its own, and they need not start together");
    record_begin(record, scan_pos(record->scan, 1).line, 1);
    record_put(record, LOG_JOB, id.text, id.col);
    owner = sacct_cell(log, sacct_has(log, ACCOUNT) ? ACCOUNT : USER);
    record_put(record, LOG_TENANT, owner.text, owner.col);
    put_state(log);
    if (!put_times(log, err) || !sacct_put_resources(log, err))
        return CSV_ERROR;
    memcpy(field, record->field, sizeof record->field);
    return CSV_ROW;
}

/* Says what each column that is absent would have told. */
static void note_absent(struct sacct *log)
{
    struct notes *notes = &log->record.notes;

    for (int i = 0; i < WANTED; i++)
        if (!sacct_has(log, i) && absence[i] != NULL)
            notes_file(notes, "column %s is absent: %s", sacct_columns[i],
                       absence[i]);
    if (!sacct_has(log, LIMIT) && !sacct_has(log, LIMIT_RAW))
        notes_file(notes, "column Timelimit is absent: jobs have no limit");
    if (!sacct_has(log, ACCOUNT))
        notes_file(notes, sacct_has(log, USER)
                       ? "column Account is absent: the user is the tenant"
                       : "columns Account and User are absent: jobs have no "
                         "tenant");
    if (!sacct_has(log, REQ))
        notes_file(notes, "column ReqTRES is absent: jobs take any GPU type");
    notes_file(notes, "dates without a zone are taken for UTC");
}

/* Refuses a log without the columns that a job needs; the hint shows the
 * command that prints them. */
static bool check_columns(const struct sacct *log, struct err *err)
{
    const char *lacks = NULL;

    if (!sacct_has(log, ID))
        lacks = "JobID";
    else if (!sacct_has(log, SUBMIT))
        lacks = "Submit";
    else if (!sacct_has(log, START))
        lacks = "Start";
    else if (!sacct_has(log, END))
        lacks = "End";
    else if (!sacct_has(log, ALLOC) && !sacct_has(log, REQ) && !sacct_has(log, ALLOC_GRES) &&
             !sacct_has(log, REQ_GRES))
        lacks = "AllocTRES or ReqTRES";
    if (lacks == NULL)
        return true;
    err_set(err, ERR_SYNTAX, (struct err_pos){log->record.path, 1, 1},
            "file has no column %s, and format sacct needs it", lacks);
    return err_hint(err, "Print it by: sacct -a -X -P --starttime DATE --format=JobID,User,"
                         "Account,State,Submit,Eligible,Start,End,Elapsed,"
                         "Timelimit,NNodes,ReqTRES,AllocTRES.");
}

/* Reads the first line, which names the columns, and finds the wanted ones.  A
 * byte order mark before it is passed over. */
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
            if (strcmp(log->cell[j].text, sacct_columns[i]) == 0)
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

    *source = (struct csv_source){row_names, log, next_job, close_log,
                                  &log->record.notes};
    if (!record_open(&log->record, arena, path, err))
        return false;
    if (read_header(log, err)) {
        note_absent(log);
        return true;
    }
    close_log(log);
    return false;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sacct_test.c - what Slurm's sacct prints, called alone: drawn headers and lines, beside rows
 * that are made of the numbers and not of the text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/text/notes.h"
#include "tests/aid/scratch.h"
#include "workloads/logs/log.h"

#define MORNING INT64_C(1768204800)     /* 2026-01-12T08:00:00Z, s since 1970 */
#define JOBS 8
#define NEVER INT64_MIN
#define PICK(RNG, TABLE) TABLE[rng_below(RNG, sizeof TABLE / sizeof TABLE[0])]

enum column { ID, SUBMIT, ELIGIBLE, START, END, ELAPSED, ELAPSED_RAW, LIMIT, LIMIT_RAW, ALLOC, REQ,
              ALLOC_GRES, REQ_GRES, NODES, CPUS, MEMORY, USER, ACCOUNT, STATE, OTHER, COLUMNS };
static const char *const name[COLUMNS] = {
    "JobID", "Submit", "Eligible", "Start", "End", "Elapsed", "ElapsedRaw", "Timelimit",
    "TimelimitRaw", "AllocTRES", "ReqTRES", "AllocGRES", "ReqGRES", "NNodes", "NCPUS", "ReqMem",
    "User", "Account", "State", "Partition",
};

/* Texts of one cell, and what each means.  Limits are in s, memory in MiB: of the job (0), of
 * each core ('c') or of each node ('n'). */
struct limit { const char *text; int64_t s; };
static const struct limit limits[] = {
    { "", NEVER }, { "UNLIMITED", NEVER }, { "Partition_Limit", NEVER }, { "INVALID", NEVER },
    { "01:30:00", 5400 }, { "2-00:00:00", 172800 }, { "10:00", 600 },
};
static const struct limit raw_limits[] = {
    { "", NEVER }, { "UNLIMITED", NEVER }, { "90", 5400 }, { "1", 60 }, { "0", 0 },
};
struct memory { const char *text; int64_t mib; char of; };
static const struct memory memories[] = {
    { "", 0, 0 }, { "0", 0, 0 }, { "64G", 65536, 0 }, { "4000Mc", 4000, 'c' },
    { "4Gn", 4096, 'n' }, { "512", 512, 0 },
};
struct gres { const char *text; int64_t gpus; const char *types; bool shares; };
static const struct gres many[] = {     /* of one node */
    { "", 0, "", false }, { "gpu:2", 2, "", false }, { "gpu:a100:2", 2, "a100", false },
    { "gpu:a100:1,gpu:t4:3", 4, "a100|t4", false }, { "mps:100", 0, "", true },
    { "gres:gpu:4", 4, "", false }, { "gpu:1,shard:1", 1, "", true }, { "gpus:7", 0, "", false },
};

/* Trackable resources of a job. */
struct tres {
    int64_t cores, nodes, gpus, mib;
    bool shares;
    char types[32], text[160];
};

struct job {
    char id[24];
    int64_t submit, eligible, start, end, elapsed, nodes, cores;        /* s; NEVER: unknown */
    struct tres alloc, req;
    const struct limit *limit, *raw_limit;
    const struct gres *alloc_gres, *req_gres;
    const struct memory *memory;
    const char *state;
    bool step;
};

/* A log: the place of each column, -1 for none, and its jobs. */
struct log {
    struct job job[JOBS];
    int count, columns, at[COLUMNS];
    char text[20000];
};

/* ---- drawing ---- */

static int64_t draw_s(struct rng *rng, int64_t from)
{
    return rng_below(rng, 7) == 0 ? NEVER : from + 30 * (int64_t)rng_below(rng, 5);
}

static void draw_tres(struct rng *rng, struct tres *tres)
{
    static const struct { const char *text; int64_t mib; } mem[] = {
        { "mem=64G", 65536 }, { "mem=512M", 512 }, { "mem=300", 300 }, { "mem=1.5G", 1536 } };
    int64_t sum = (int64_t)rng_below(rng, 5), a100 = (int64_t)rng_below(rng, 3);
    int64_t t4 = (int64_t)rng_below(rng, 3);
    char *at = tres->text;

    memset(tres, 0, sizeof *tres);
    if (rng_below(rng, 4) == 0)
        return;
    at += sprintf(at, "billing=%d", 9);
    if (rng_below(rng, 3) > 0)
        at += sprintf(at, ",cpu=%d", (int)(tres->cores = (int64_t)rng_below(rng, 9)));
    if (rng_below(rng, 2) == 0) {
        at += sprintf(at, ",gres/gpu=%d", (int)sum);
        tres->gpus = sum;
    }
    if (rng_below(rng, 2) == 0) {
        at += sprintf(at, ",gres/gpu:a100=%d,gres/gpu:t4=%d", (int)a100, (int)t4);
        tres->gpus = a100 + t4 > tres->gpus ? a100 + t4 : tres->gpus;
        sprintf(tres->types, "%s%s%s", a100 > 0 ? "a100" : "", a100 > 0 && t4 > 0 ? "|" : "",
                t4 > 0 ? "t4" : "");
    }
    if (rng_below(rng, 2) == 0) {
        size_t m = rng_below(rng, 4);
        at += sprintf(at, ",%s", mem[m].text);
        tres->mib = mem[m].mib;
    }
    if (rng_below(rng, 2) == 0)
        at += sprintf(at, ",node=%d", (int)(tres->nodes = 1 + (int64_t)rng_below(rng, 3)));
    if (rng_below(rng, 4) == 0) {
        tres->shares = rng_below(rng, 3) > 0;
        sprintf(at, ",gres/%s=%d", rng_below(rng, 2) ? "shard" : "mps:a100", tres->shares ? 5 : 0);
    }
}

static void draw_job(struct rng *rng, int i, struct job *job)
{
    static const char *const states[] = { "COMPLETED", "FAILED", "CANCELLED by 1003", "CANCELLED",
                                          "TIMEOUT", "ODD", "COMPLETED+" };

    *job = (struct job){ .submit = draw_s(rng, 60), .eligible = draw_s(rng, 0),
        .start = draw_s(rng, 200), .end = draw_s(rng, 320), .elapsed = draw_s(rng, 0),
        .nodes = draw_s(rng, 1), .cores = draw_s(rng, 1), .limit = &PICK(rng, limits),
        .raw_limit = &PICK(rng, raw_limits), .alloc_gres = &PICK(rng, many),
        .req_gres = &PICK(rng, many), .memory = &PICK(rng, memories), .state = PICK(rng, states),
        .step = i > 0 && rng_below(rng, 5) == 0 };
    draw_tres(rng, &job->alloc);
    draw_tres(rng, &job->req);
    sprintf(job->id, job->step ? "%d.batch" : rng_below(rng, 6) == 0 ? "%d+1" : "%d", 100 + i);
}

static void put_time(char *out, int64_t s, bool dated)
{
    static const char *const unknown[] = { "Unknown", "", "None", "N/A" };

    if (s == NEVER)
        strcpy(out, unknown[dated ? 0 : 1]);
    else if (dated)
        sprintf(out, "2026-01-12T08:%02d:%02d", (int)(s / 60), (int)(s % 60));
    else
        sprintf(out, "%lld", (long long)(MORNING + s));
}

static void put_number(char *out, int64_t number)
{
    out[0] = '\0';
    if (number != NEVER)
        sprintf(out, "%lld", (long long)number);
}

static void cell_of(const struct job *job, enum column column, bool dated, char *out)
{
    const int64_t time[] = { [SUBMIT] = job->submit, [ELIGIBLE] = job->eligible,
                             [START] = job->start, [END] = job->end };
    const char *text[COLUMNS] = { [ID] = job->id, [LIMIT] = job->limit->text,
        [LIMIT_RAW] = job->raw_limit->text, [ALLOC] = job->alloc.text, [REQ] = job->req.text,
        [ALLOC_GRES] = job->alloc_gres->text, [REQ_GRES] = job->req_gres->text,
        [MEMORY] = job->memory->text, [USER] = "ana", [ACCOUNT] = "nlp", [STATE] = job->state,
        [OTHER] = "gpu" };

    if (column >= SUBMIT && column <= END)
        put_time(out, time[column], dated);
    else if (column == ELAPSED && job->elapsed != NEVER)
        sprintf(out, "00:%02d:%02d", (int)(job->elapsed / 60), (int)(job->elapsed % 60));
    else if (column == ELAPSED || column == ELAPSED_RAW)
        put_number(out, job->elapsed);
    else if (column == NODES || column == CPUS)
        put_number(out, column == NODES ? job->nodes : job->cores);
    else
        strcpy(out, text[column]);
}

/* Columns in an order by lot; those that a job needs are never left out. */
static void draw_log(uint64_t seed, struct log *log)
{
    enum column order[COLUMNS];
    struct rng rng;
    char *at = log->text;

    rng_init(&rng, seed, "sacct", 0);
    memset(log, 0, sizeof *log);
    for (int i = 0; i < COLUMNS; i++) {
        int other = (int)rng_below(&rng, (uint64_t)i + 1);
        order[i] = order[other];
        order[other] = (enum column)i;
        log->at[i] = -1;
    }
    enum column needed = (enum column)(ALLOC + rng_below(&rng, 4));
    for (int i = 0; i < COLUMNS; i++)
        if (order[i] == ID || order[i] == SUBMIT || order[i] == START || order[i] == END ||
            order[i] == needed || rng_below(&rng, 2) == 0) {
            at += sprintf(at, "%s%s", log->columns > 0 ? "|" : "", name[order[i]]);
            log->at[order[i]] = log->columns;
            order[log->columns++] = order[i];
        }
    at += sprintf(at, "\n");
    log->count = 1 + (int)rng_below(&rng, JOBS);
    for (int i = 0; i < log->count; i++) {
        draw_job(&rng, i, &log->job[i]);
        for (int c = 0; c < log->columns; c++) {
            char cell[200];
            cell_of(&log->job[i], order[c], seed % 2 == 0, cell);
            at += sprintf(at, "%s%s", c > 0 ? "|" : "", cell);
        }
        at += sprintf(at, seed % 3 == 0 ? "|\n" : "\n");
    }
}

/* ---- what must be read ---- */

static bool has(const struct log *log, enum column column)
{
    return log->at[column] >= 0;
}

struct row { int64_t submit, start, end, run, limit, gpus, cores, mib, nodes; const char *types,
             *tenant, *state; bool shares; };

/* What was allocated, or, if that is neither cores nor GPUs, what was asked for; columns of their
 * own say what the resources leave out. */
static void add_resources(const struct log *log, const struct job *job, struct row *row)
{
    static const struct tres nothing;
    static const struct gres none;
    const struct tres *asked = has(log, REQ) ? &job->req : &nothing;
    const struct tres *held = has(log, ALLOC) ? &job->alloc : &nothing;
    const struct gres *gres = has(log, ALLOC_GRES) ? job->alloc_gres
                            : has(log, REQ_GRES) ? job->req_gres : &none;

    row->shares = asked->shares || held->shares;
    if (held->gpus + held->cores == 0)
        held = asked;
    row->gpus = held->gpus;
    row->cores = held->cores > 0 || !has(log, CPUS) || job->cores == NEVER ? held->cores
                                                                          : job->cores;
    row->nodes = held->nodes > 0 || !has(log, NODES) || job->nodes == NEVER ? held->nodes
                                                                           : job->nodes;
    row->types = asked->types;
    if (row->gpus == 0) {
        row->gpus = gres->gpus * (row->nodes > 0 ? row->nodes : 1);
        row->types = gres->types == NULL ? "" : gres->types;
        row->shares = row->shares || gres->shares;
    }
    row->mib = held->mib;
    if (row->mib == 0 && has(log, MEMORY))
        row->mib = job->memory->mib * (job->memory->of == 'c' ? row->cores
                                     : job->memory->of == 'n' && row->nodes > 0 ? row->nodes : 1);
    row->shares = row->shares && row->gpus == 0;
}

static struct row row_of(const struct log *log, const struct job *job)
{
    struct row row = { .submit = job->submit, .start = job->start, .end = job->end,
        .run = NEVER, .limit = NEVER, .tenant = has(log, ACCOUNT) ? "nlp" : has(log, USER) ? "ana"
                                                                                           : "",
        .state = has(log, STATE) ? job->state : "COMPLETED" };

    if (has(log, ELIGIBLE) && job->submit != NEVER && job->eligible > job->submit)
        row.submit = job->eligible;
    if (has(log, STATE) && strncmp(job->state, "CANCELLED", 9) == 0 && job->start == job->end)
        row.start = NEVER;
    if (has(log, ELAPSED) || has(log, ELAPSED_RAW))
        row.run = job->elapsed;
    if (has(log, LIMIT) || has(log, LIMIT_RAW))
        row.limit = has(log, LIMIT) ? job->limit->s : job->raw_limit->s;
    add_resources(log, job, &row);
    return row;
}

/* ---- reading ---- */

struct rows {
    int count;
    char text[JOBS][LOG_COLUMNS][64];
    char of_file[1000];         /* notes of the file, and how many */
    int of_file_count;
    uint64_t steps, eligible, shorter, longer, odd, shares, parts;      /* notes */
    enum csv_step end;
    struct err err;
};

static uint64_t noted(const struct notes *notes, const char *begins)
{
    for (size_t i = 0; i < notes->count; i++)
        if (strncmp(notes->note[i].text, begins, strlen(begins)) == 0)
            return notes->note[i].count;
    return 0;
}

static void read_log(struct scratch *scratch, const char *text, struct rows *rows)
{
    struct arena *arena = arena_new(1 << 14);
    struct csv_field field[LOG_COLUMNS];
    struct csv_source source;

    memset(rows, 0, sizeof *rows);
    scratch_write(scratch, "log", text);
    if (!sacct_open(arena, scratch_path(scratch, "log"), &source, &rows->err))
        fail_msg("%s: %s", text, rows->err.text);
    while ((rows->end = source.next(source.self, field, &rows->err)) == CSV_ROW) {
        for (int i = 0; i < LOG_COLUMNS; i++)
            snprintf(rows->text[rows->count][i], 64, "%s", field[i].text);
        rows->count++;
    }
    for (size_t i = 0; i < source.notes->count; i++)
        if (source.notes->note[i].count == 0) {
            size_t used = strlen(rows->of_file);
            snprintf(rows->of_file + used, sizeof rows->of_file - used, "%s\n",
                     source.notes->note[i].text);
            rows->of_file_count++;
        }
    rows->steps = noted(source.notes, "lines are steps");
    rows->parts = noted(source.notes, "lines are parts of heterogeneous");
    rows->eligible = noted(source.notes, "jobs were eligible later");
    rows->shorter = noted(source.notes, "jobs ran for another time");
    rows->longer = noted(source.notes, "jobs ran for longer");
    rows->odd = noted(source.notes, "jobs have the state 'ODD'");
    rows->shares = noted(source.notes, "jobs have shares of GPUs");
    source.close(source.self);
    arena_free(arena);
}

/* What the file lacks is said once each, and nothing else of the file. */
static void check_absent(const struct log *log, const struct rows *rows)
{
    const struct { bool is; const char *begins; } row[] = {
        { !has(log, ELIGIBLE), "column Eligible is absent" },
        { !has(log, STATE), "column State is absent" },
        { !has(log, LIMIT) && !has(log, LIMIT_RAW), "column Timelimit is absent" },
        { !has(log, ACCOUNT) && has(log, USER), "column Account is absent" },
        { !has(log, ACCOUNT) && !has(log, USER), "columns Account and User are absent" },
        { !has(log, REQ), "column ReqTRES is absent" },
        { true, "dates without a zone are taken for UTC" },
    };
    int expected = 0;

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        bool said = strstr(rows->of_file, row[i].begins) != NULL;
        if (said != row[i].is)
            fail_msg("%s: '%s': %d", log->text, row[i].begins, said);
        expected += row[i].is;
    }
    assert_int_equal(rows->of_file_count, expected);
}

static void has_text(const struct log *log, const char *what, const char *text,
                     const char *expected)
{
    if (strcmp(text, expected) != 0)
        fail_msg("%s\n%s is '%s', expected '%s'", log->text, what, text, expected);
}

static void has_number(const struct log *log, const char *what, const char *text, int64_t value,
                       int64_t from)
{
    char expected[32] = "";

    if (value != NEVER)
        snprintf(expected, sizeof expected, "%lld", (long long)(from + value));
    has_text(log, what, text, expected);
}

static void check_row(const struct log *log, char text[LOG_COLUMNS][64], const struct row *row)
{
    has_number(log, "submit", text[LOG_SUBMIT], row->submit, MORNING);
    has_number(log, "start", text[LOG_START], row->start, MORNING);
    has_number(log, "end", text[LOG_END], row->end, MORNING);
    has_number(log, "run", text[LOG_RUN], row->run, 0);
    has_number(log, "limit", text[LOG_LIMIT], row->limit, 0);
    has_number(log, "gpus", text[LOG_GPUS], row->gpus, 0);
    has_number(log, "cores", text[LOG_CORES], row->cores > 0 ? row->cores : NEVER, 0);
    has_number(log, "memory", text[LOG_MEMORY], row->mib > 0 ? row->mib : NEVER, 0);
    has_number(log, "nodes", text[LOG_NODES], row->nodes > 0 ? row->nodes : NEVER, 0);
    has_text(log, "types", text[LOG_TYPES], row->types);
    has_text(log, "tenant", text[LOG_TENANT], row->tenant);
    has_text(log, "state", text[LOG_STATE], row->state);
    has_text(log, "priority", text[LOG_PRIORITY], "");
}

static void drawn_lines_are_the_rows_of_their_numbers(void **state)
{
    static struct log log;
    struct rows rows;

    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct rows want = { .count = 0 };
        draw_log(seed, &log);
        read_log(*state, log.text, &rows);
        if (rows.end != CSV_END)
            fail_msg("%s: %s", log.text, rows.err.text);
        for (int i = 0; i < log.count; i++) {
            const struct job *job = &log.job[i];
            if (job->step) {
                want.steps++;
                continue;
            }
            struct row row = row_of(&log, job);
            assert_true(want.count < rows.count);
            assert_string_equal(rows.text[want.count][LOG_JOB], job->id);
            check_row(&log, rows.text[want.count++], &row);
            bool both = job->start != NEVER && job->end != NEVER && row.run != NEVER;
            want.parts += strchr(job->id, '+') != NULL;
            want.eligible += row.submit != job->submit;
            want.shorter += both && row.run < job->end - job->start;
            want.longer += both && row.run > job->end - job->start;
            want.odd += strcmp(row.state, "ODD") == 0;
            want.shares += row.shares;
        }
        assert_int_equal(rows.count, want.count);
        check_absent(&log, &rows);
        if (rows.steps != want.steps || rows.parts != want.parts ||
            rows.eligible != want.eligible || rows.shorter != want.shorter ||
            rows.longer != want.longer || rows.odd != want.odd || rows.shares != want.shares)
            fail_msg("%s: notes count otherwise", log.text);
    }
}

/* ---- headers ---- */

#define NEEDED "JobID|Submit|Start|End|AllocTRES"
#define LINE "7|2026-01-12T08:00:00|2026-01-12T08:00:10|2026-01-12T08:01:00|gres/gpu=2"

/* A mark of the order of bytes, and a separator at the end, are no part of a name. */
static void a_header_may_have_a_mark_and_an_end(void **state)
{
    static const char *const text[] = {
        NEEDED "\n" LINE "\n", "\xEF\xBB\xBF" NEEDED "\n" LINE "\n", NEEDED "|\n" LINE "|\n",
        NEEDED "|\n" LINE "\n", "AllocTRES|" NEEDED "\n" "gres/gpu=2|" LINE "\n",
    };

    for (size_t i = 0; i < sizeof text / sizeof text[0]; i++) {
        struct rows rows;
        read_log(*state, text[i], &rows);
        if (rows.end != CSV_END || rows.count != 1)
            fail_msg("%s: %s", text[i], rows.err.text);
        assert_string_equal(rows.text[0][LOG_JOB], "7");
        assert_string_equal(rows.text[0][LOG_SUBMIT], "1768204800");
        assert_string_equal(rows.text[0][LOG_GPUS], "2");
    }
}

static void refuses(struct scratch *scratch, const char *text, const char *says)
{
    struct arena *arena = arena_new(1 << 14);
    struct csv_source source;
    struct err err = { 0 };

    scratch_write(scratch, "log", text);
    if (sacct_open(arena, scratch_path(scratch, "log"), &source, &err))
        fail_msg("accepted: %s", text);
    if (strstr(err.text, says) == NULL)
        fail_msg("'%s' is not in '%s'", says, err.text);
    arena_free(arena);
}

static void columns_that_a_job_needs_are_asked_for(void **state)
{
    refuses(*state, "Submit|Start|End|AllocTRES\n", "no column JobID,");
    refuses(*state, "JobID|Start|End|AllocTRES\n", "no column Submit,");
    refuses(*state, "JobID|Submit|End|AllocTRES\n", "no column Start,");
    refuses(*state, "JobID|Submit|Start|ReqTRES\n", "no column End,");
    refuses(*state, "JobID|Submit|Start|End|NNodes\n", "no column AllocTRES or ReqTRES,");
    refuses(*state, "", "file is empty");
}

/* 256 columns are read; a line of them may not have one more, unless that is empty. */
static void as_many_columns_as_there_is_room_for(void **state)
{
    static char text[4000];

    for (int columns = 255; columns <= 257; columns++) {
        struct rows rows;
        for (int more = -1; more <= 2; more++) {
            char *at = text + sprintf(text, NEEDED);
            for (int i = 5; i < columns; i++)
                at += sprintf(at, "|x");
            at += sprintf(at, "\n" LINE);
            for (int i = 5; i < columns + more; i++)
                at += sprintf(at, "|%s", more == 2 && i == columns ? "" : "y");
            sprintf(at, "\n");
            if (columns > 256) {
                refuses(*state, text, "header has 257 columns, at most 256 are read");
                continue;
            }
            read_log(*state, text, &rows);
            if ((rows.end == CSV_END) != (more == 0))
                fail_msg("%d columns, a line of %d: %s", columns, columns + more, rows.err.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(drawn_lines_are_the_rows_of_their_numbers, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_header_may_have_a_mark_and_an_end, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(columns_that_a_job_needs_are_asked_for, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(as_many_columns_as_there_is_room_for, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

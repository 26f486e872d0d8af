/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * philly.c - cluster_job_log of msr-fiddle/philly-traces (Jeon et al., ATC
 * 2019), an array of objects, as rows of fields.
 *
 * A job has any number of attempts, each with a start, an end and the GPUs of
 * its nodes; either time may be missing, by an error of the log or because the
 * job still ran.  A row's run time is the sum of the attempts that have both
 * times: that is how long it held GPUs.  If an attempt ends before it starts, how
 * long is not known, and the run time is below 0: what reads rows leaves the job
 * out, as one of a format that states start and end.
 *
 * What it does not do: it builds no tree and keeps one job at a time, so memory
 * does not grow with the log.  Keys that it does not know are passed over.
 */
#include "workloads/logs/philly.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/decimal.h"
#include "sim/base/err.h"
#include "sim/text/json.h"
#include "sim/text/trace_date.h"

#define TEXT_BYTES 128u         /* of a field; longer ones are an error */

static const char *const philly_names[] = {
    "jobid", "submitted_time", "vc", "user", "status", "run_s", "gpus",
    "attempts", "attempts_untimed", "still_running", NULL
};

/* A log under way: one job at a time. */
struct philly {
    struct json *json;          /* the open file */
    bool begun;                 /* the bracket of the array was read */
    char text[PHILLY_COLUMNS][TEXT_BYTES];
    struct err_pos pos[PHILLY_COLUMNS];     /* where each text was read */
    /* Of the job being read: the time of its attempts together, the GPUs of the
     * largest one, their number, and how many lack a time.  reversed_ns: of its
     * first attempt that ends before it starts, from start to end; 0: none does. */
    int64_t run_ns, gpus, attempts, untimed, reversed_ns;
    bool open_end;              /* of the attempt read last */
};

/* Reports a fault at the token read last; returns false. */
static bool report_fault(struct philly *philly, const char *what, struct err *err)
{
    assert(what[0] != '\0');
    return err_set(err, ERR_SYNTAX, json_pos(philly->json), "%s", what);
}

/* A text, or null; `None`, as Python prints it, is null, too. */
static bool read_text(struct philly *philly, char out[TEXT_BYTES],
                      struct err *err)
{
    enum json_token token = json_next(philly->json, err);
    size_t bytes;
    const char *text = json_text(philly->json, &bytes);

    out[0] = '\0';
    if (token == JSON_ERROR)
        return false;
    if (token == JSON_NULL)
        return true;
    if (token != JSON_TEXT && token != JSON_NUMBER)
        return report_fault(philly, "a text is expected here", err);
    if (bytes >= TEXT_BYTES)
        return report_fault(philly, "text is longer than 127 bytes", err);
    if (bytes == 4 && memcmp(text, "None", 4) == 0)
        return true;
    memcpy(out, text, bytes);
    out[bytes] = '\0';
    assert(bytes < TEXT_BYTES);
    return true;
}

/* "gpus": ["gpu0", ...]; adds their number. */
static bool count_gpus(struct philly *philly, int64_t *gpus, struct err *err)
{
    enum json_token token;

    if (!json_expect(philly->json, JSON_ARRAY, "an array of GPUs", err))
        return false;
    while ((token = json_next(philly->json, err)) == JSON_TEXT)
        ++*gpus;
    assert(*gpus >= 0);
    return token == JSON_ARRAY_END ||
           (token != JSON_ERROR && report_fault(philly, "a GPU's name is expected",
                                                err));
}

/* "detail": [{"ip": ..., "gpus": [...]}, ...] */
static bool read_detail(struct philly *philly, int64_t *gpus,
                        struct err *err)
{
    struct json *json = philly->json;
    enum json_token token;

    if (!json_expect(json, JSON_ARRAY, "an array of nodes", err))
        return false;
    while ((token = json_next(json, err)) == JSON_OBJECT)
        while ((token = json_next(json, err)) != JSON_OBJECT_END) {
            size_t bytes;

            if (token == JSON_ERROR)
                return false;
            if (strcmp(json_text(json, &bytes), "gpus") == 0) {
                if (!count_gpus(philly, gpus, err))
                    return false;
            } else if (!json_skip(json, json_next(json, err), err)) {
                return false;
            }
        }
    assert(*gpus >= 0);
    return token == JSON_ARRAY_END ||
           (token != JSON_ERROR && report_fault(philly, "a node is expected", err));
}

/* Reads a date; *known: there is one. */
static bool read_time(struct philly *philly, int64_t *ns, bool *known,
                      struct err *err)
{
    char text[TEXT_BYTES];

    assert(ns != NULL && known != NULL);
    if (!read_text(philly, text, err))
        return false;
    *known = text[0] != '\0';
    return !*known || date_read(text, strlen(text), ns) ||
           report_fault(philly, "a date such as 2017-10-07 01:11:39 is expected",
                        err);
}

/* One attempt, whose brace was read.  Sets of the job: the number of attempts,
 * the GPUs of the largest, and the sum of run times. */
static bool read_attempt(struct philly *philly, struct err *err)
{
    struct json *json = philly->json;
    int64_t from_ns = 0, to_ns = 0, gpus = 0;
    bool from = false, to = false, good = true;
    enum json_token token;

    while ((token = json_next(json, err)) == JSON_KEY && good) {
        size_t bytes;
        const char *key = json_text(json, &bytes);

        good = strcmp(key, "start_time") == 0
                   ? read_time(philly, &from_ns, &from, err)
               : strcmp(key, "end_time") == 0
                   ? read_time(philly, &to_ns, &to, err)
               : strcmp(key, "detail") == 0
                   ? read_detail(philly, &gpus, err)
                   : json_skip(json, json_next(json, err), err);
    }
    if (!good || token == JSON_ERROR)
        return false;
    philly->attempts++;
    philly->open_end = from && !to;
    if (gpus > philly->gpus)
        philly->gpus = gpus;
    if (!from || !to)
        philly->untimed++;
    else if (to_ns >= from_ns)
        philly->run_ns = clock_after(philly->run_ns, to_ns - from_ns);
    else if (philly->reversed_ns == 0) {
        philly->reversed_ns = to_ns - from_ns;
        philly->pos[PHILLY_RUN] = json_pos(json);
    }
    assert(philly->run_ns >= 0 && philly->untimed <= philly->attempts);
    return true;
}

/* Reads the array of a job's attempts. */
static bool read_attempts(struct philly *philly, struct err *err)
{
    enum json_token token;

    assert(philly->begun);
    if (!json_expect(philly->json, JSON_ARRAY, "an array of attempts", err))
        return false;
    while ((token = json_next(philly->json, err)) == JSON_OBJECT)
        if (!read_attempt(philly, err))
            return false;
    return token == JSON_ARRAY_END ||
           (token != JSON_ERROR && report_fault(philly, "an attempt is expected",
                                                err));
}

/* Reads one job, behind its opening brace.  False: err says what is wrong, and where. */
static bool read_job(struct philly *philly, struct err *err)
{
    struct json *json = philly->json;
    enum json_token token;

    while ((token = json_next(json, err)) == JSON_KEY) {
        size_t bytes;
        const char *key = json_text(json, &bytes);
        int column = PHILLY_JOB;

        while (column <= PHILLY_STATUS &&
               strcmp(key, philly_names[column]) != 0)
            column++;
        if (column <= PHILLY_STATUS) {
            if (!read_text(philly, philly->text[column], err))
                return false;
            philly->pos[column] = json_pos(json);
        } else if (strcmp(key, "attempts") == 0) {
            philly->pos[PHILLY_ATTEMPTS] = philly->pos[PHILLY_RUN] = json_pos(json);
            if (!read_attempts(philly, err))
                return false;
        } else if (!json_skip(json, json_next(json, err), err)) {
            return false;
        }
    }
    assert(token != JSON_KEY);
    return token == JSON_OBJECT_END;
}

/* Writes the numbers of a job into its fields. */
static void put_numbers(struct philly *philly)
{
    assert(philly->untimed <= philly->attempts && philly->gpus >= 0);
    const int64_t value[] = { philly->gpus, philly->attempts,
                              philly->untimed, philly->open_end };

    clock_format_s(philly->reversed_ns < 0 ? philly->reversed_ns : philly->run_ns,
                   philly->text[PHILLY_RUN], TEXT_BYTES);
    for (int i = 0; i < 4; i++)
        *decimal_put(philly->text[PHILLY_GPUS + i], (uint64_t)value[i]) =
            '\0';
}

/* Behind the array the file must end. */
static enum csv_step check_end(struct philly *philly, struct err *err)
{
    assert(philly->begun);
    enum json_token token = json_next(philly->json, err);

    if (token == JSON_END)
        return CSV_END;
    if (token != JSON_ERROR)
        report_fault(philly, "the end of the file is expected here", err);
    return CSV_ERROR;
}

/* One job of the log as a row of fixed columns; fields point into buffers that
 * the next row fills again. */
static enum csv_step next_job(void *self, struct csv_field *field,
                              struct err *err)
{
    struct philly *philly = self;
    struct err_pos pos;
    enum json_token token;

    if (!philly->begun &&
        !json_expect(philly->json, JSON_ARRAY,
                     "a log of Philly, an array of jobs,", err))
        return CSV_ERROR;
    philly->begun = true;
    token = json_next(philly->json, err);
    if (token == JSON_ARRAY_END)
        return check_end(philly, err);
    if (token != JSON_OBJECT) {
        if (token != JSON_ERROR)
            report_fault(philly, "a job, an object, is expected here", err);
        return CSV_ERROR;
    }
    pos = json_pos(philly->json);
    for (int i = 0; i < PHILLY_COLUMNS; i++) {
        philly->text[i][0] = '\0';
        philly->pos[i] = pos;
    }
    philly->run_ns = philly->gpus = philly->attempts = philly->untimed = 0;
    philly->reversed_ns = 0;
    philly->open_end = false;
    if (!read_job(philly, err))
        return CSV_ERROR;
    put_numbers(philly);
    for (int i = 0; i < PHILLY_COLUMNS; i++) {
        const struct err_pos *at =
            &philly->pos[i <= PHILLY_RUN ? i : PHILLY_ATTEMPTS];

        field[i] = (struct csv_field){philly->text[i],
                                      strlen(philly->text[i]), at->col,
                                      at->line};
    }
    assert(field[PHILLY_RUN].bytes > 0);
    return CSV_ROW;
}

static void close_log(void *self)
{
    json_close(((struct philly *)self)->json);
}

bool philly_open(struct arena *arena, const char *path,
                 struct csv_source *source, struct err *err)
{
    struct philly *philly = arena_alloc(arena, 1, sizeof *philly);

    assert(path != NULL && err != NULL);
    *source = (struct csv_source){philly_names, philly, next_job, close_log,
                                  NULL};
    philly->json = json_open(arena, path, err);
    return philly->json != NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request_trace.c - the formats of request_trace.h, read a row at a time.
 *
 * The file is read twice: by request_trace_read(), before anything runs, which
 * counts it and refuses what is wrong; and then by each trial, which streams it
 * (request_trace_next) and checks that it gives no more than was counted.  A row is
 * CSV, an object of JSON, or drawn from the windows of a client (ServeGen); all
 * become an instant and two numbers of tokens.
 */
#include "workloads/requests/request_trace.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/csv.h"
#include "sim/text/json.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"
#include "sim/text/trace_date.h"
#include "workloads/requests/request_servegen.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))
#define TOKENS_MAX 10000000     /* of a prompt or an output; more is an error of
                                   the file */
#define BLOCK_TOKENS 512u       /* of a hash id of Mooncake's */

/* How a file is laid out, in the order of format_names. */
enum format {
    FORMAT_CSV, FORMAT_AZURE, FORMAT_BURSTGPT, FORMAT_MOONCAKE,
    FORMAT_SERVEGEN
};
static const char *const format_names[] = {
    "csv", "azure", "burstgpt", "mooncake", "servegen", NULL
};
/* As format_names, from azure on. */
static const char *const format_about[] = {
    "Azure LLM inference traces: TIMESTAMP, ContextTokens, GeneratedTokens",
    "BurstGPT: Timestamp, Request tokens, Response tokens",
    "Mooncake (Kimi): an object a line, with hash_ids of blocks of 512 tokens",
    "a client of ServeGen, chunk-N-trace.csv with chunk-N-dataset.json: drawn",
};
/* What becomes of a request without output: an error, or it is counted and left
 * out. */
enum empty { EMPTY_REFUSE, EMPTY_SKIP };
static const char *const empty_names[] = { "refuse", "skip", NULL };

/* The keys of `trace:` of requests, as they are written. */
struct trace_keys {
    const char *file;           /* as it is written: relative to the file that
                                   names it */
    int format, empty;          /* enum format, enum empty */
    const struct conf_node *columns;
};
/* Names of the three columns of a CSV: seconds, tokens, tokens. */
struct column_keys { const char *arrive, *prompt, *output; };

static const struct conf_field trace_fields[] = {
    CONF_KEY("file", CONF_TEXT, trace_keys, file, CONF_REQUIRED,
             "where the requests are; plain, gzip or zstd"),
    CONF_KEY("format", CONF_CHOICE, trace_keys, format, "csv",
             "how the file is laid out", .choices = format_names),
    CONF_KEY("empty", CONF_CHOICE, trace_keys, empty, "refuse",
             "what becomes of requests without output", .choices = empty_names),
    CONF_KEY("columns", CONF_NODE, trace_keys, columns, CONF_ABSENT,
             "of csv: {arrive: t, prompt: in, output: out}"),
};
const struct conf_schema request_trace_schema =
    CONF_SCHEMA("workload.services[].requests.trace",
                "requests of a file", trace_fields);

static const struct conf_field column_fields[] = {
    CONF_KEY("arrive", CONF_TEXT, column_keys, arrive, "arrive_s", "seconds"),
    CONF_KEY("prompt", CONF_TEXT, column_keys, prompt, "prompt_tokens",
             "tokens of the prompt"),
    CONF_KEY("output", CONF_TEXT, column_keys, output, "output_tokens",
             "tokens generated"),
};
const struct conf_schema request_trace_columns_schema =
    CONF_SCHEMA("workload.services[].requests.trace.columns",
                "names of columns", column_fields);

/* What the check of a file found: trials share it, and read the file anew. */
struct request_trace_spec {
    const char *path;           /* of the file, from the folder of the run */
    enum format format;         /* which of the readers below is open */
    bool skip_empty;            /* `empty: skip` */
    struct column_keys name;    /* of a CSV; other formats have none */
    struct request_trace_facts facts; /* what the first reading counted */
};

/* One reading of the file, by one trial; of csv, json and client the one of
 * its format is open. */
struct request_trace {
    struct arena *arena;
    const struct request_trace_spec *spec;
    struct csv *csv;            /* NULL: another format */
    struct json *json;          /* likewise */
    struct servegen *client;    /* likewise: requests are drawn by its windows */
    size_t arrive, prompt, output;      /* columns */
    int64_t first_ns, last_ns;  /* of the first row, and of the last one that was
                                   read; on the clock of the file */
    uint64_t *block;            /* hash_ids of the last row */
    uint32_t blocks, block_room;
    uint64_t rows, skipped, given; /* rows read; of these without output; given to
                                      the trial */
    bool broken;                /* not the file that was checked */
};

const char *request_format_at(size_t i, const char **summary)
{
    if (i >= COUNT(format_about))
        return NULL;
    *summary = format_about[i];
    return format_names[FORMAT_AZURE + i];
}

/* ---- rows -------------------------------------------------------------- */

/* What reading a row gave. */
enum row { ROW_REQUEST, ROW_END, ROW_ERROR };

/* A row: its instant, first on the clock of the file and then from its first
 * row; tokens; and where it stands. */
struct row_values {
    int64_t at_ns, prompt, output;
    struct err_pos pos;
};

/* Returns how many bytes of a value a message shows.  A number of a JSON has no zero
 * behind it: the rest of its line follows. */
static int shown(size_t bytes)
{
    return bytes < 40 ? (int)bytes : 40;
}

/* Reads a whole number of tokens, from `least` to TOKENS_MAX. Numbers such as
 * 12.0 are accepted, as pandas writes columns that have empty fields.  False:
 * err says that `what` is no such number. */
static bool read_tokens(const char *text, size_t bytes, int64_t least,
                        struct err_pos pos, const char *what, int64_t *out,
                        struct err *err)
{
    double value;

    if (scan_f64(text, bytes, &value) && value >= (double)least &&
        value <= TOKENS_MAX && value == floor(value)) {
        *out = (int64_t)value;
        return true;
    }
    return err_set(err, ERR_RANGE, pos, "%s must be a whole number of tokens "
                   "from %lld to %d, found '%.*s'", what, (long long)least,
                   TOKENS_MAX, shown(bytes), text);
}

/* Reads a time as the format writes it: a date (Azure), milliseconds
 * (Mooncake), else seconds.  *ns is on the clock of the file.  Negative times
 * are an error. */
static bool read_instant(const struct request_trace *t, const char *text,
                         size_t bytes, struct err_pos pos, int64_t *ns,
                         struct err *err)
{
    double ms;

    if (t->spec->format == FORMAT_AZURE && date_read(text, bytes, ns))
        return true;
    if (t->spec->format == FORMAT_MOONCAKE && scan_f64(text, bytes, &ms) &&
        ms >= 0 && ms < 1e15) {
        *ns = (int64_t)(ms * 1e6);
        return true;
    }
    if (t->spec->format != FORMAT_AZURE &&
        t->spec->format != FORMAT_MOONCAKE && scan_time(text, bytes, ns) &&
        *ns >= 0)
        return true;
    return err_set(err, ERR_RANGE, pos, "%s expected, found '%.*s'",
                   t->spec->format == FORMAT_AZURE
                       ? "a date such as 2023-11-16 18:17:03.97"
                       : t->spec->format == FORMAT_MOONCAKE
                       ? "milliseconds" : "seconds", shown(bytes), text);
}

/* Reads one row of a CSV. A prompt has at least one token; an output may have
 * none, which read_next_row() judges.  ROW_ERROR: err is at the field. */
static enum row read_csv_row(struct request_trace *t, struct row_values *row,
                             struct err *err)
{
    enum csv_step step = csv_next(t->csv, err);

    if (step != CSV_ROW)
        return step == CSV_END ? ROW_END : ROW_ERROR;
    struct csv_field at = *csv_field(t->csv, t->arrive);
    struct csv_field prompt = *csv_field(t->csv, t->prompt);
    struct csv_field output = *csv_field(t->csv, t->output);
    row->pos = csv_pos(t->csv, t->arrive);
    return read_instant(t, at.text, at.bytes, row->pos, &row->at_ns, err) &&
           read_tokens(prompt.text, prompt.bytes, 1, csv_pos(t->csv, t->prompt),
                       "a prompt", &row->prompt, err) &&
           read_tokens(output.text, output.bytes, 0, csv_pos(t->csv, t->output),
                       "an output", &row->output, err) ? ROW_REQUEST : ROW_ERROR;
}

/* Reads hash_ids, the ids of a prompt's blocks of 512 tokens, behind those that
 * are in t->block.  An id stands for its block and all blocks before it, so two
 * prompts that share an id share their beginning up to there.  Ids up to 2^53
 * are whole in a double. */
static bool read_blocks(struct request_trace *t, enum json_token token,
                        struct err *err)
{
    size_t bytes;
    double id;

    if (token != JSON_ARRAY)
        return err_set(err, ERR_SCHEMA, json_pos(t->json),
                       "hash_ids must be a list of numbers");
    while ((token = json_next(t->json, err)) == JSON_NUMBER) {
        const char *text = json_text(t->json, &bytes);

        if (!scan_f64(text, bytes, &id) || id < 0 || id != floor(id) ||
            id > 0x1p53)
            return err_set(err, ERR_RANGE, json_pos(t->json),
                           "hash_ids must be whole numbers from 0, found "
                           "'%.*s'", shown(bytes), text);
        ARENA_ADD(t->arena, t->block, t->blocks, t->block_room, (uint64_t)id);
    }
    return token == JSON_ARRAY_END ||
           (token != JSON_ERROR &&
            err_set(err, ERR_SCHEMA, json_pos(t->json),
                    "hash_ids must be a list of numbers"));
}

/* Reads the value of one key, whose name was read last.  *seen gets bit 0, 1 or
 * 2 for timestamp, input_length and output_length; other keys are passed over,
 * but for hash_ids. */
static bool read_member(struct request_trace *t, struct row_values *row,
                        unsigned *seen, struct err *err)
{
    static const char *const keys[] = {
        "timestamp", "input_length", "output_length"
    };
    size_t bytes, k = 0;
    const char *text = json_text(t->json, &bytes);
    enum json_token token;

    while (k < 3 && (strlen(keys[k]) != bytes ||
                     memcmp(text, keys[k], bytes) != 0))
        k++;
    bool ids = bytes == 8 && memcmp(text, "hash_ids", 8) == 0;
    token = json_next(t->json, err);
    if (ids && token != JSON_ERROR)
        return read_blocks(t, token, err);
    if (k == 3 || token == JSON_ERROR)
        return token != JSON_ERROR && json_skip(t->json, token, err);
    struct err_pos pos = json_pos(t->json);
    if (token != JSON_NUMBER)
        return err_set(err, ERR_SCHEMA, pos, "%s must be a number", keys[k]);
    text = json_text(t->json, &bytes);
    *seen |= 1u << k;
    if (k == 0)
        return read_instant(t, text, bytes, pos, &row->at_ns, err);
    return read_tokens(text, bytes, k == 1, pos, keys[k],
                       k == 1 ? &row->prompt : &row->output, err);
}

/* Reads one object.  `seen` has a bit for each of the three keys that it must
 * have: 7 is all of them. */
static enum row read_json_row(struct request_trace *t, struct row_values *row,
                              struct err *err)
{
    enum json_token token = json_next(t->json, err);
    unsigned seen = 0;

    if (token == JSON_END)
        return ROW_END;
    row->pos = json_pos(t->json);
    t->blocks = 0;
    if (token != JSON_OBJECT) {
        if (token != JSON_ERROR)
            err_set(err, ERR_SCHEMA, row->pos, "an object for each request "
                    "expected");
        return ROW_ERROR;
    }
    while ((token = json_next(t->json, err)) == JSON_KEY)
        if (!read_member(t, row, &seen, err))
            return ROW_ERROR;
    if (token != JSON_OBJECT_END)
        return ROW_ERROR;
    if (seen == 7)
        return ROW_REQUEST;
    err_set(err, ERR_SCHEMA, row->pos, "a request must have timestamp, "
            "input_length and output_length");
    return ROW_ERROR;
}

/* Draws a row of a client of ServeGen.  It has no line in a file: its place is
 * the file. */
static enum row draw_row(struct request_trace *t, struct row_values *row)
{
    row->pos = (struct err_pos){ t->spec->path, 0, 0 };
    return servegen_next(t->client, &row->at_ns, &row->prompt, &row->output)
        ? ROW_REQUEST : ROW_END;
}

/* Reads the next row that counts, in any format.  Rows must be in ascending
 * order of time.  Instants are counted from the first row, also where that row
 * itself has no output and is left out. */
static enum row read_next_row(struct request_trace *t, struct row_values *row,
                              struct err *err)
{
    enum row step;

    for (;;) {
        step = t->json != NULL ? read_json_row(t, row, err)
               : t->client != NULL ? draw_row(t, row) : read_csv_row(t, row, err);
        if (step != ROW_REQUEST)
            return step;
        if (t->rows++ == 0)
            t->first_ns = t->last_ns = row->at_ns;
        if (row->at_ns < t->last_ns) {
            err_set(err, ERR_RANGE, row->pos, "a request that came before "
                    "the one in the row above: rows must be in order of "
                    "time");
            return ROW_ERROR;
        }
        t->last_ns = row->at_ns;
        row->at_ns -= t->first_ns;
        if (row->output > 0)
            return ROW_REQUEST;
        if (!t->spec->skip_empty) {
            err_set(err, ERR_RANGE, row->pos, "a request without output");
            err_hint(err, "With `empty: skip` (import: --skip no_output) such "
                     "requests are left out, counted.");
            return ROW_ERROR;
        }
        t->skipped++;
    }
}

/* ---- opening ----------------------------------------------------------- */

/* Finds the column that a key of `columns` names, or reports it with the columns that there
 * are. */
static bool find_column(const struct request_trace *t, const char *key, const char *name,
                        size_t *column, struct err *err)
{
    struct err_pos pos = {t->spec->path, 1, 1};
    const char *near;
    char has[120];

    *column = csv_find(t->csv, name);
    if (*column != SIZE_MAX)
        return true;
    csv_list(t->csv, has, sizeof has);
    err_set(err, ERR_SCHEMA, pos, "there is no column '%.60s': the columns "
            "are %s", name, has);
    near = conf_nearest(name, csv_names(t->csv));
    if (near != NULL)
        return err_hint(err, "Did you mean %s?", near);
    if (t->spec->format == FORMAT_CSV)
        return err_hint(err, "Name it in the workload: `trace: {columns: {%s: COLUMN}}`.", key);
    return false;
}

/* Opens the file by its format; NULL and an err if that fails.  What was opened
 * is closed again. */
static struct request_trace *open_rows(struct arena *arena,
                                       const struct request_trace_spec *spec,
                                       struct err *err)
{
    struct request_trace *t = arena_alloc(arena, 1, sizeof *t);

    t->arena = arena;
    t->spec = spec;
    if (spec->format == FORMAT_MOONCAKE) {
        t->json = json_open(arena, spec->path, err);
        return t->json != NULL ? t : NULL;
    }
    if (spec->format == FORMAT_SERVEGEN) {
        t->client = servegen_open(arena, spec->path, err);
        return t->client != NULL ? t : NULL;
    }
    t->csv = csv_open(arena, spec->path, CSV_COMMA, err);
    if (t->csv == NULL)
        return NULL;
    if (find_column(t, "arrive", spec->name.arrive, &t->arrive, err) &&
        find_column(t, "prompt", spec->name.prompt, &t->prompt, err) &&
        find_column(t, "output", spec->name.output, &t->output, err))
        return t;
    request_trace_close(t);
    return NULL;
}

void request_trace_close(struct request_trace *t)
{
    if (t == NULL)
        return;
    csv_close(t->csv);
    json_close(t->json);
    t->csv = NULL;
    t->json = NULL;
}

/* Reads the whole file once, so that faults are known before anything runs, and
 * fills spec->facts.  A file without requests is an error. */
static bool check_file(struct arena *arena, struct request_trace_spec *spec,
                       const struct conf_node *conf, struct err *err)
{
    struct request_trace *t = open_rows(arena, spec, err);
    struct request_trace_facts *facts = &spec->facts;
    struct row_values row;
    enum row step;

    if (t == NULL)
        return false;
    while ((step = read_next_row(t, &row, err)) == ROW_REQUEST) {
        facts->requests++;
        facts->span_ns = row.at_ns;
        facts->prompt_mean += (double)row.prompt;
        facts->output_mean += (double)row.output;
        if ((uint64_t)row.prompt + (uint64_t)row.output > facts->tokens_max)
            facts->tokens_max = (uint64_t)row.prompt + (uint64_t)row.output;
    }
    facts->skipped = t->skipped;
    request_trace_close(t);
    if (step == ROW_ERROR)
        return false;
    if (facts->requests == 0)
        return err_set(err, ERR_RANGE, conf_pos(conf),
                       "the trace has no requests");
    facts->prompt_mean /= (double)facts->requests;
    facts->output_mean /= (double)facts->requests;
    return true;
}

/* Published CSVs have fixed names of columns, in the place of those of
 * `columns:`. */
static void name_columns(struct request_trace_spec *spec)
{
    static const struct column_keys azure = {
        "TIMESTAMP", "ContextTokens", "GeneratedTokens"
    };
    static const struct column_keys burstgpt = {
        "Timestamp", "Request tokens", "Response tokens"
    };

    if (spec->format == FORMAT_AZURE)
        spec->name = azure;
    if (spec->format == FORMAT_BURSTGPT)
        spec->name = burstgpt;
}

/* Order: the file must be there, then keys are checked, then the file is read. */
const struct request_trace_spec *request_trace_read(
    struct arena *arena, const struct conf_node *conf, struct err *err)
{
    struct request_trace_spec *spec = arena_alloc(arena, 1, sizeof *spec);
    const struct conf_node *columns;
    struct trace_keys keys = {0};

    if (!conf_fill(conf, &request_trace_schema, &keys, err))
        return NULL;
    spec->path = path_beside(arena, conf_pos(conf).file, keys.file);
    if (!path_check_named(spec->path, "trace", conf_pos(conf_get(conf, "file")), err))
        return NULL;
    spec->format = (enum format)keys.format;
    spec->skip_empty = keys.empty == EMPTY_SKIP;
    columns = keys.columns;
    if (columns != NULL && spec->format != FORMAT_CSV) {
        err_set(err, ERR_SCHEMA, conf_pos(columns),
                "columns have no meaning with format %s",
                format_names[spec->format]);
        return NULL;
    }
    if (columns == NULL)
        columns = conf_parse(arena, conf_pos(conf).file, "{}", 2, err);
    if (columns == NULL || !conf_fill(columns, &request_trace_columns_schema,
                                      &spec->name, err))
        return NULL;
    name_columns(spec);
    return check_file(arena, spec, conf, err) ? spec : NULL;
}

struct request_trace_facts request_trace_facts(
    const struct request_trace_spec *spec)
{
    return spec->facts;
}

/* A file that is gone gives no error here: request_trace_verdict() reports it
 * when the trial ends, as it reports a file that was changed. */
struct request_trace *request_trace_open(
    struct arena *arena, const struct request_trace_spec *spec)
{
    struct request_trace *none = arena_alloc(arena, 1, sizeof *none);
    struct err ignored = {0};
    struct request_trace *t = open_rows(arena, spec, &ignored);

    none->spec = spec;
    none->broken = true;
    return t != NULL ? t : none;
}

/* No more requests are given than the check counted: a file that grew is
 * noticed.  A file that became shorter, or has other rows, ends with `broken`,
 * too. */
bool request_trace_next(struct request_trace *t, struct request *out)
{
    struct err ignored = {0};
    struct row_values row;
    enum row step;

    if (t->broken)
        return false;
    step = read_next_row(t, &row, &ignored);
    if (step == ROW_REQUEST && t->given++ < t->spec->facts.requests) {
        *out = (struct request){.arrive_ns = row.at_ns,
                                .prompt_tokens = (uint32_t)row.prompt,
                                .output_tokens = (uint32_t)row.output,
                                .prefix = {t->block, t->blocks,
                                           BLOCK_TOKENS}};
        return true;
    }
    t->broken = step != ROW_END || t->given != t->spec->facts.requests;
    return false;
}

bool request_trace_verdict(const struct request_trace *t, struct err *err)
{
    struct err_pos pos = {t->spec->path, 0, 0};

    return !t->broken ||
           err_set(err, ERR_IO, pos, "the file was changed while it was in "
                   "use");
}

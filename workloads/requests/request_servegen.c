/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request_servegen.c - a client of ServeGen, as it was fitted to production.
 *
 * The trace has a row for each ten minutes: start, requests a second, cv,
 * family of the gaps and its shape and scale, no header.  The data set has, for
 * parts of the day, texts that hold Python dicts of tokens and probabilities.
 * Gaps are drawn with the fitted shape, their mean being that of the rate; the
 * first of a window is a part of one (assumption).  Lengths are of the latest
 * part that has any, or else of the next.  Of several kinds of input each is
 * drawn, and they add up (assumption).  The draws depend on the file's name
 * alone, so that a client is as fixed as a trace.
 */
#include "workloads/requests/request_servegen.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/text/json.h"
#include "sim/text/scan.h"

/* Limits of what is read.  A window is a row of the trace.  The others refuse
 * what no service has: requests a second, and tokens of one kind in one
 * request. */
#define WINDOW_S 600.0          /* seconds that one row of the trace describes */
#define RATE_MAX 1e6            /* requests a second */
#define TOKENS_MAX 1e7
#define INPUTS 5u               /* kinds of input; a request is the sum of all */
#define FIELDS 6u               /* columns of the trace */
#define TRACE_END "-trace.csv"

/* Numbers of tokens and how likely each is.  Draws search `sum`, so the
 * probabilities need not add up to 1.
 *
 *      {45: 0.25, 46: 0.75}    value 45, 46    sum 0.25, 1.0 */
struct tokens {
    uint32_t *value;            /* [count], rising */
    double *sum;                /* of the probabilities up to it */
    uint32_t count, room;
};

/* The lengths of requests from `start_s` on, until the next part begins.  A
 * kind of input that the file does not name has count 0, and adds no tokens. */
struct part {
    double start_s;             /* since the start of the trace */
    struct tokens input[INPUTS], output;
};

/* Ten minutes with one rate and one shape of gaps. */
struct window {
    double start_s, rate, shape; /* start of the window; requests a second; shape
                                    of the gaps */
    bool weibull;               /* false: gaps are of a gamma distribution */
};

/* One client: rates by window of the trace, lengths by part of the day.  Reading
 * fills both; drawing moves through the windows. */
struct servegen {
    struct arena *arena;
    const char *path, *dataset; /* files of the rates, and of the lengths */
    struct window *window;      /* by start; those without requests are left out */
    size_t windows, window_room, at; /* `at`: the window that is drawn from */
    struct part *part;          /* by start */
    size_t parts, part_room;
    double now_s;               /* of the last request; < 0: a new window */
    struct rng rng;             /* of gaps and lengths */
};

static const char *const input_names[INPUTS] = {
    "input_tokens", "text_tokens", "image_tokens", "audio_tokens",
    "video_tokens"
};

/* ---- the trace ---------------------------------------------------------- */

/* Reports a fault of the row that was read last, at a column of its line;
 * returns false. */
static bool report_row(struct scan *scan, uint32_t col, const char *what,
                       struct err *err)
{
    return err_set(err, ERR_SYNTAX, scan_pos(scan, col), "%s", what);
}

/* Cuts a line at its commas; returns how many fields it has, of which FIELDS
 * are kept. */
static size_t split_line(char *line, char *field[FIELDS])
{
    size_t count = 0;

    for (char *at = line; at != NULL; count++) {
        char *comma = strchr(at, ',');
        if (count < FIELDS)
            field[count] = at;
        if (comma != NULL)
            *comma = '\0';
        at = comma != NULL ? comma + 1 : NULL;
    }
    return count;
}

/* A number from `least` to `most`. */
static bool read_real(const char *text, double least, double most, double *out)
{
    return scan_f64(text, strlen(text), out) && *out >= least && *out <= most;
}

/* One row: a window of ten minutes.  Windows without requests are not kept.
 * *line is cut into its fields.  False: err is at the field that is wrong. */
static bool read_window(struct servegen *client, struct scan *scan,
                        char *line, struct err *err)
{
    char *field[FIELDS];
    struct window window = { 0 };

    if (split_line(line, field) != FIELDS)
        return report_row(scan, 1, "a row must have 6 fields: start, rate, cv, "
                                   "family, shape, scale", err);
    if (!read_real(field[0], 0, 1e9, &window.start_s) ||
        (client->windows > 0 && window.start_s <
             client->window[client->windows - 1].start_s + WINDOW_S))
        return report_row(scan, 1, "starts must be seconds, 600 apart at "
                                   "least", err);
    if (!read_real(field[1], 0, RATE_MAX, &window.rate))
        return report_row(scan, (uint32_t)(field[1] - line) + 1,
                          "a rate must be requests a second, up to 1e6", err);
    if (window.rate == 0)
        return true;
    window.weibull = strcmp(field[3], "Weibull") == 0;
    if (!window.weibull && strcmp(field[3], "Gamma") != 0)
        return report_row(scan, (uint32_t)(field[3] - line) + 1,
                          "a family must be Gamma or Weibull", err);
    if (!read_real(field[4], 1e-4, 1e4, &window.shape))
        return report_row(scan, (uint32_t)(field[4] - line) + 1,
                          "a shape must be from 1e-4 to 1e4", err);
    ARENA_ADD(client->arena, client->window, client->windows,
              client->window_room, window);
    return true;
}

/* Reads the windows of a client, one a line; empty lines are skipped. */
static bool read_trace(struct servegen *client, struct err *err)
{
    struct scan *scan = scan_open(client->path, err);
    enum scan_step step = SCAN_ERROR;
    char *line;
    size_t bytes;

    if (scan == NULL)
        return false;
    while ((step = scan_line(scan, &line, &bytes, err)) == SCAN_LINE)
        if (bytes > 0 && !read_window(client, scan, line, err))
            break;
    scan_close(scan);
    return step == SCAN_END;
}

/* ---- the lengths --------------------------------------------------------- */

/* Reads the number between `from` and `to`, without the blanks around it:
 * Python prints them in dicts.  False: it is no number. */
static bool read_trimmed(const char *from, const char *to, double *out)
{
    while (from < to && *from == ' ')
        from++;
    while (to > from && to[-1] == ' ')
        to--;
    return scan_f64(from, (size_t)(to - from), out);
}

/* Adds a number of tokens.  `weight` is its probability, above 0. Each entry of
 * `sum` holds the probabilities up to it, so a draw is a search.  Both arrays
 * grow together: `room` is that of both. */
static void add_token(struct servegen *client, struct tokens *tokens, double value,
                      double weight)
{
    uint32_t room = tokens->room;

    ARENA_REACH(client->arena, tokens->value, room, tokens->count);
    ARENA_REACH(client->arena, tokens->sum, tokens->room, tokens->count);
    tokens->value[tokens->count] = (uint32_t)value;
    tokens->sum[tokens->count] =
        weight + (tokens->count ? tokens->sum[tokens->count - 1] : 0);
    tokens->count++;
}

/* Reads the text that was read last as a Python dict such as "{45: 0.25, 46:
 * 0.75}". Numbers of tokens are whole; probabilities are above 0. False: err
 * shows the form that is expected. */
static bool read_dict(struct servegen *client, struct json *json,
                      struct tokens *tokens, struct err *err)
{
    size_t bytes;
    const char *at = json_text(json, &bytes), *end = at + bytes - 1;

    if (bytes < 2 || at[0] != '{' || *end != '}')
        goto fault;
    for (at++; at < end;) {
        const char *colon = memchr(at, ':', (size_t)(end - at));
        const char *comma = colon ? memchr(colon, ',', (size_t)(end - colon))
                                  : NULL;
        const char *stop = comma ? comma : end;
        double value, weight;

        if (!colon || !read_trimmed(at, colon, &value) || value < 0 ||
            value > TOKENS_MAX || value != floor(value) ||
            !read_trimmed(colon + 1, stop, &weight) || !(weight > 0))
            goto fault;
        add_token(client, tokens, value, weight);
        at = comma ? comma + 1 : end;
    }
    return true;
fault:
    return err_set(err, ERR_SYNTAX, json_pos(json), "a dict of tokens and "
                   "probabilities is expected, as \"{45: 0.5, 46: 0.5}\"");
}

/* Returns where the counts of a kind of token are kept, by its name in the file; NULL:
 * the name is of no such kind. */
static struct tokens *find_tokens(struct part *part, const char *name,
                                  size_t bytes)
{
    for (uint32_t i = 0; i < INPUTS; i++)
        if (strlen(input_names[i]) == bytes &&
            memcmp(input_names[i], name, bytes) == 0)
            return &part->input[i];
    return bytes == 13 && memcmp(name, "output_tokens", 13) == 0
        ? &part->output : NULL;
}

/* The lengths of one part of the day; kinds of input that are not known are
 * passed over.  False: a value is no text, or no dict. */
static bool read_part(struct servegen *client, struct json *json,
                      struct part *part, struct err *err)
{
    enum json_token token;
    size_t bytes;

    if (!json_expect(json, JSON_OBJECT, "an object", err))
        return false;
    while ((token = json_next(json, err)) == JSON_KEY) {
        const char *name = json_text(json, &bytes);
        struct tokens *tokens = find_tokens(part, name, bytes);
        if (!json_expect(json, JSON_TEXT, "a text", err) ||
            (tokens && !read_dict(client, json, tokens, err)))
            return false;
    }
    return token == JSON_OBJECT_END;
}

/* Parts of a day, by their begin in seconds, each with its distributions of
 * lengths.  They must be in ascending order. */
static bool read_parts(struct servegen *client, struct json *json,
                       struct err *err)
{
    enum json_token token;
    size_t bytes;

    if (!json_expect(json, JSON_OBJECT, "an object of parts of a day", err))
        return false;
    while ((token = json_next(json, err)) == JSON_KEY) {
        struct part part = { 0 };
        const char *text = json_text(json, &bytes);
        if (!scan_f64(text, bytes, &part.start_s) ||
            (client->parts > 0 &&
             part.start_s <= client->part[client->parts - 1].start_s))
            return err_set(err, ERR_SYNTAX, json_pos(json),
                           "starts must be seconds that rise");
        if (!read_part(client, json, &part, err))
            return false;
        ARENA_ADD(client->arena, client->part, client->parts,
                  client->part_room, part);
    }
    return token == JSON_OBJECT_END;
}

/* Has the part lengths of at least one kind of input, and of the output?
 * Requests are drawn from such parts alone. */
static bool has_lengths(const struct part *part)
{
    for (uint32_t i = 0; i < INPUTS; i++)
        if (part->input[i].count > 0)
            return part->output.count > 0;
    return false;
}

/* Reads the lengths of the client.  A file in which no part has lengths could
 * make no request, and is refused. */
static bool read_dataset(struct servegen *client, struct err *err)
{
    struct json *json = json_open(client->arena, client->dataset, err);
    struct err_pos pos = { client->dataset, 0, 0 };
    bool good = json != NULL && read_parts(client, json, err);

    json_close(json);
    if (!good)
        return false;
    for (size_t i = 0; i < client->parts; i++)
        if (has_lengths(&client->part[i]))
            return true;
    return err_set(err, ERR_RANGE, pos, "no part has both tokens of input and "
                   "of output");
}

/* ---- drawing ------------------------------------------------------------- */

/* Returns the part from which a request at that second takes its lengths: the
 * latest that has begun and has lengths, else the first that has lengths.
 * There is one (read_dataset). */
static const struct part *find_part(const struct servegen *client, double s)
{
    const struct part *found = NULL;

    for (size_t i = 0; i < client->parts; i++) {
        const struct part *part = &client->part[i];
        if (has_lengths(part) && (found == NULL || part->start_s <= s))
            found = part;
    }
    assert(found != NULL);
    return found;
}

/* Draws a number of tokens: the first whose sum of probabilities is above a
 * uniform number.  Bisection; 0 where the distribution is empty. */
static int64_t draw_tokens(struct servegen *client,
                           const struct tokens *tokens)
{
    uint32_t low = 0, high = tokens->count - 1;
    double at;

    if (tokens->count == 0)
        return 0;
    at = rng_uniform(&client->rng) * tokens->sum[high];
    while (low < high) {
        uint32_t mid = (low + high) / 2;
        if (tokens->sum[mid] > at)
            high = mid;
        else
            low = mid + 1;
    }
    return tokens->value[low];
}

/* Draws the seconds to the next request.  The scale that the file states is not
 * used: the mean of the gaps is 1 / rate.  The mean of a gamma distribution is
 * scale x shape, that of a Weibull distribution is scale x Gamma(1 + 1 /
 * shape); both give the scale here. */
static double draw_gap(struct servegen *client, const struct window *window)
{
    double mean = 1 / window->rate, shape = window->shape;

    if (!window->weibull)
        return rng_gamma(&client->rng, shape, mean / shape);
    return rng_weibull(&client->rng, mean / tgamma(1 + 1 / shape), shape);
}

/* A window ends with the first gap that leads out of it, and the request behind
 * that gap is not made.  The next window begins with a part of a gap: it is
 * unlikely that a request comes at its very start. */
bool servegen_next(struct servegen *client, int64_t *at_ns, int64_t *prompt,
                   int64_t *output)
{
    for (; client->at < client->windows; client->at++, client->now_s = -1) {
        const struct window *window = &client->window[client->at];
        const struct part *part;

        if (client->now_s < 0)
            client->now_s = window->start_s +
                            rng_uniform(&client->rng) *
                                draw_gap(client, window);
        else
            client->now_s += draw_gap(client, window);
        if (client->now_s >= window->start_s + WINDOW_S)
            continue;
        part = find_part(client, client->now_s);
        *at_ns = (int64_t)(client->now_s * 1e9);
        *prompt = 0;
        for (uint32_t i = 0; i < INPUTS; i++)
            *prompt += draw_tokens(client, &part->input[i]);
        *prompt = *prompt > 0 ? *prompt : 1;
        *output = draw_tokens(client, &part->output);
        return true;
    }
    return false;
}

/* Bytes of a path without ".gz" behind it. */
static size_t count_plain(const char *path)
{
    size_t bytes = strlen(path), end = strlen(".gz");

    return bytes > end && strcmp(path + bytes - end, ".gz") == 0
               ? bytes - end : bytes;
}

/* Returns the name of the data set that belongs to a trace:
 * chunk-N-dataset.json beside chunk-N-trace.csv, packed if there is a packed
 * one.  NULL: the trace is not called so. */
static const char *find_dataset(struct arena *arena, const char *path,
                                struct err *err)
{
    size_t bytes = count_plain(path), end = strlen(TRACE_END);
    struct err_pos pos = { path, 0, 0 };
    char *name;

    if (bytes < end || memcmp(path + bytes - end, TRACE_END, end) != 0) {
        err_set(err, ERR_SCHEMA, pos, "a client of ServeGen is a file "
                "chunk-N" TRACE_END ", plain or with .gz behind it");
        return NULL;
    }
    name = arena_alloc(arena, bytes + 16, 1);
    memcpy(name, path, bytes - end);
    strcpy(name + bytes - end, "-dataset.json.gz");
    if (access(name, F_OK) != 0)
        name[bytes - end + strlen("-dataset.json")] = '\0';
    return name;
}

/* The stream is seeded with the file's name, so that clients are independent
 * of each other and of their order. */
struct servegen *servegen_open(struct arena *arena, const char *path,
                               struct err *err)
{
    struct servegen *client = arena_alloc(arena, 1, sizeof *client);
    const char *slash = strrchr(path, '/');
    char *name = arena_text(arena, slash ? slash + 1 : path);

    /* Packed or not, it draws the same. */
    name[count_plain(name)] = '\0';
    client->arena = arena;
    client->path = path;
    client->now_s = -1;
    client->dataset = find_dataset(arena, path, err);
    if (client->dataset == NULL || !read_trace(client, err) ||
        !read_dataset(client, err))
        return NULL;
    rng_init(&client->rng, rng_hash_text(name), "servegen", 0);
    return client;
}

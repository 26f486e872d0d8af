/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prometheus.c - answers of Prometheus' /api/v1/query_range ("HTTP API",
 * prometheus.io): a matrix, of which each result is a series.
 *
 *   {"status": "success", "data": {"resultType": "matrix", "result": [
 *     {"metric": {"__name__": "DCGM_FI_DEV_GPU_UTIL", "gpu": "0"},
 *      "values": [[1768204800, "97"], ...]}]}}
 *
 * A series is called by its metric and labels, NAME/gpu=0/...  Values are texts;
 * NaN and infinities are no values, and are counted.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/err.h"
#include "sim/text/json.h"
#include "sim/text/scan.h"
#include "workloads/series/reader.h"

#define NAME_BYTES 240u         /* of a series, with the NUL behind it */

/* A result under way: its name as far as it was read. */
struct matrix {
    struct series_reader *reader;
    struct json *json;          /* the answer of the API */
    char name[NAME_BYTES];      /* of the series, made of its labels */
    bool named;                 /* "metric" was read */
};

/* Reports a fault at the token that was read last; returns false. */
static bool report_fault(struct json *json, const char *what, struct err *err)
{
    return err_set(err, ERR_SYNTAX, json_pos(json), "%s", what);
}

/* Adds "/key=value" to the name of the series.  The name of the metric
 * (__name__) is put in front of all labels, wherever it stands in the object,
 * and without its key. */
static bool add_label(struct matrix *m, const char *key, const char *value,
                      struct err *err)
{
    size_t used = strlen(m->name);
    bool metric = strcmp(key, "__name__") == 0;
    char rest[NAME_BYTES];
    int n;

    if (metric) {
        memcpy(rest, m->name, used + 1);
        n = snprintf(m->name, sizeof m->name, "%s%s%s", value,
                     used > 0 ? "/" : "", rest);
    } else {
        n = snprintf(m->name + used, sizeof m->name - used, "%s%s=%s",
                     used > 0 ? "/" : "", key, value);
        n += (int)used;
    }
    return n < (int)sizeof m->name ||
           report_fault(m->json, "labels of a series are longer than 239 bytes: "
                        "sum by fewer of them", err);
}

/* Reads the object of labels, such as {"__name__": "...", "gpu": "0"}, into the
 * name.  The sum over everything has no labels; its series is called "value". */
static bool read_metric(struct matrix *m, struct err *err)
{
    enum json_token token;
    char key[NAME_BYTES];
    size_t bytes;

    m->name[0] = '\0';
    m->named = true;
    if (!json_expect(m->json, JSON_OBJECT, "an object of labels", err))
        return false;
    while ((token = json_next(m->json, err)) == JSON_KEY) {
        const char *text = json_text(m->json, &bytes);

        if (bytes >= sizeof key)
            return report_fault(m->json, "label is longer than 239 bytes", err);
        memcpy(key, text, bytes + 1);
        if (!json_expect(m->json, JSON_TEXT, "the text of a label", err) ||
            !add_label(m, key, json_text(m->json, &bytes), err))
            return false;
    }
    if (m->name[0] == '\0')
        strcpy(m->name, "value");       /* of a sum over everything */
    return token == JSON_OBJECT_END;
}

/* Reads a point such as [1768204800.5, "97"], whose bracket was read, and adds
 * it.  NaN and infinities are counted as empty, since a series holds numbers. */
static bool read_point(struct matrix *m, size_t number, struct err *err)
{
    struct err_pos pos = json_pos(m->json);
    int64_t time_ns;
    double value;
    size_t bytes;
    const char *text;

    if (!json_expect(m->json, JSON_NUMBER, "a time in seconds", err))
        return false;
    text = json_text(m->json, &bytes);
    if (!scan_time(text, bytes, &time_ns) || time_ns < 0)
        return report_fault(m->json, "a time must be seconds since 1970", err);
    if (!json_expect(m->json, JSON_TEXT, "a value, as a text,", err))
        return false;
    text = json_text(m->json, &bytes);
    if (strcmp(text, "NaN") == 0 || strcmp(text, "+Inf") == 0 ||
        strcmp(text, "-Inf") == 0)
        m->reader->counts->empty++;
    else if (!scan_f64(text, bytes, &value))
        return err_set(err, ERR_SYNTAX, json_pos(m->json),
                       "a value must be a number, found \"%.40s\"", text);
    else if (!series_add(m->reader, number, time_ns, value, pos, err))
        return false;
    return json_expect(m->json, JSON_ARRAY_END, "the end of a point", err);
}

/* Reads the points of one series.  Its name must have come before: the file is read
 * as a stream, and points are not kept until a name follows. */
static bool read_values(struct matrix *m, struct err *err)
{
    enum json_token token;
    size_t number;

    if (!m->named)
        return report_fault(m->json, "metric must stand before values", err);
    number = series_number(m->reader, m->name);
    if (!json_expect(m->json, JSON_ARRAY, "an array of [time, value]", err))
        return false;
    while ((token = json_next(m->json, err)) == JSON_ARRAY)
        if (!read_point(m, number, err))
            return false;
    return token == JSON_ARRAY_END ||
           (token != JSON_ERROR &&
            report_fault(m->json, "[time, value] is expected here", err));
}

/* Reads one result, whose brace was read.  A "value" in the place of "values"
 * is the answer to a query of one instant; the hint says how to ask for a
 * range. */
static bool read_result(struct matrix *m, struct err *err)
{
    enum json_token token;
    size_t bytes;

    m->named = false;
    while ((token = json_next(m->json, err)) == JSON_KEY) {
        const char *key = json_text(m->json, &bytes);

        if (strcmp(key, "value") == 0) {
            report_fault(m->json, "result is of one instant, a vector: a "
                         "matrix is expected", err);
            return err_hint(err, "Ask for it by /api/v1/query_range, with "
                                 "start, end and step.");
        }
        if (strcmp(key, "metric") == 0 ? !read_metric(m, err)
            : strcmp(key, "values") == 0 ? !read_values(m, err)
            : !json_skip(m->json, json_next(m->json, err), err))
            return false;
    }
    return token == JSON_OBJECT_END;
}

/* Reads an object such as {"resultType": "matrix", "result": [...]}. */
static bool read_data(struct matrix *m, struct err *err)
{
    enum json_token token, item;
    size_t bytes;

    if (!json_expect(m->json, JSON_OBJECT, "the data of an answer", err))
        return false;
    while ((token = json_next(m->json, err)) == JSON_KEY) {
        if (strcmp(json_text(m->json, &bytes), "result") != 0) {
            if (!json_skip(m->json, json_next(m->json, err), err))
                return false;
            continue;
        }
        if (!json_expect(m->json, JSON_ARRAY, "an array of results", err))
            return false;
        while ((item = json_next(m->json, err)) == JSON_OBJECT)
            if (!read_result(m, err))
                return false;
        if (item != JSON_ARRAY_END)
            return item != JSON_ERROR &&
                   report_fault(m->json, "a result, an object, is expected",
                                err);
    }
    return token == JSON_OBJECT_END;
}

/* Reads the whole answer, {"status": "success", "data": {...}}. If it is an
 * error of Prometheus, err holds its text. */
static bool read_answer(struct matrix *m, struct err *err)
{
    enum json_token token;
    bool answered = false;
    size_t bytes;

    if (!json_expect(m->json, JSON_OBJECT, "an answer of Prometheus", err))
        return false;
    while ((token = json_next(m->json, err)) == JSON_KEY) {
        const char *key = json_text(m->json, &bytes);

        if (strcmp(key, "error") == 0) {
            if (!json_expect(m->json, JSON_TEXT, "the text of an error", err))
                return false;
            return err_set(err, ERR_RANGE, json_pos(m->json),
                           "the answer is an error: %.120s",
                           json_text(m->json, &bytes));
        }
        if (strcmp(key, "data") != 0) {
            if (!json_skip(m->json, json_next(m->json, err), err))
                return false;
            continue;
        }
        answered = true;
        if (!read_data(m, err))
            return false;
    }
    if (token != JSON_OBJECT_END)
        return false;
    return answered ||
           report_fault(m->json, "object has no \"data\": it is no answer of "
                        "Prometheus", err);
}

/* An answer of the HTTP interface of Prometheus, which holds one matrix.  A second
 * answer behind it would not be read, so it is an error. */
static bool read_file(struct series_reader *reader, struct err *err)
{
    struct matrix m = {.reader = reader};
    bool good;

    m.json = json_open(reader->arena, reader->request->file, err);
    if (m.json == NULL)
        return false;
    good = read_answer(&m, err);
    if (good && json_next(m.json, err) != JSON_END)
        good = err->kind == ERR_NONE &&
               report_fault(m.json, "something follows the end of the answer", err);
    json_close(m.json);
    return good;
}

const struct series_format series_prometheus = {
    .name = "prometheus",
    .summary = "answers of Prometheus' query_range, a JSON: a series for each "
               "result, as of DCGM_FI_DEV_GPU_UTIL or rate(requests[5m])",
    .about = "# Prometheus, query_range: a value holds until the next one.  "
             "Series are called\n"
             "# METRIC/LABEL=VALUE/...\n",
    .kind = "metric", .unit = "as the query has it", .read = read_file,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json.c - series in JSON files: AWS spot prices, ticks of availability,
 * faults of nodes.
 */
#include <stdio.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/json.h"
#include "sim/text/scan.h"
#include "sim/text/trace_date.h"
#include "workloads/series/reader.h"

#define TEXT_BYTES 100u         /* of a scalar, with the NUL behind it */

/* Reports a fault at the token that was read last; returns false. */
static bool report_fault(struct json *json, const char *what, struct err *err)
{
    return err_set(err, ERR_SYNTAX, json_pos(json), "%s", what);
}

/* Reads the next value as text: a text, a number or a word, as it stands in the
 * file.  False: it is an array or an object, or too long. */
static bool read_scalar(struct json *json, char out[TEXT_BYTES],
                        struct err *err)
{
    enum json_token token = json_next(json, err);
    size_t bytes;
    const char *text = json_text(json, &bytes);

    if (token == JSON_ERROR)
        return false;
    if (token != JSON_TEXT && token != JSON_NUMBER && token != JSON_NULL)
        return report_fault(json, "a text or a number is expected here", err);
    if (bytes >= TEXT_BYTES)
        return report_fault(json, "text is longer than 99 bytes", err);
    memcpy(out, text, bytes);
    out[bytes] = '\0';
    return true;
}

/* Reads an object whose brace was read.  out[i] gets the scalar of keys[i]; the
 * list of keys ends with NULL. Other keys are passed over.  Each key of the
 * list must be there, and not be empty.  *pos is where the object begins. */
static bool read_object(struct json *json, const char *const *keys,
                        char (*out)[TEXT_BYTES], struct err_pos *pos,
                        struct err *err)
{
    enum json_token token;

    for (size_t i = 0; keys[i] != NULL; i++)
        out[i][0] = '\0';
    *pos = json_pos(json);
    while ((token = json_next(json, err)) == JSON_KEY) {
        size_t bytes, i = 0;
        const char *key = json_text(json, &bytes);

        while (keys[i] != NULL && strcmp(keys[i], key) != 0)
            i++;
        if (keys[i] == NULL ? !json_skip(json, json_next(json, err), err)
                            : !read_scalar(json, out[i], err))
            return false;
    }
    for (size_t i = 0; token == JSON_OBJECT_END && keys[i] != NULL; i++)
        if (out[i][0] == '\0')
            return err_set(err, ERR_SYNTAX, *pos, "object has no \"%s\"",
                           keys[i]);
    return token == JSON_OBJECT_END;
}

/* ---- AWS ----------------------------------------------------------------- */

/* Reads one price and adds it.  The series is called ZONE/INSTANCE, with
 * /PRODUCT behind it where the product is not Linux: other systems have other
 * prices. */
static bool read_aws_price(struct series_reader *reader, struct json *json,
                           struct err *err)
{
    static const char *const keys[] = {
        "AvailabilityZone", "InstanceType", "ProductDescription",
        "SpotPrice", "Timestamp", NULL};
    char field[5][TEXT_BYTES], name[3 * TEXT_BYTES];
    struct err_pos pos;
    int64_t time_ns;
    double price;
    bool plain;

    if (!read_object(json, keys, field, &pos, err))
        return false;
    if (!scan_f64(field[3], strlen(field[3]), &price) || price < 0.0)
        return err_set(err, ERR_RANGE, pos, "price must be a number of at "
                       "least 0, found \"%.40s\"", field[3]);
    if (!date_read(field[4], strlen(field[4]), &time_ns))
        return err_set(err, ERR_SYNTAX, pos, "stamp must be a date, found "
                       "\"%.40s\"", field[4]);
    plain = strcmp(field[2], "Linux/UNIX") == 0;
    snprintf(name, sizeof name, "%s/%s%s%s", field[0], field[1],
             plain ? "" : "/", plain ? "" : field[2]);
    return series_add(reader, series_number(reader, name), time_ns, price,
                      pos, err);
}

/* {"SpotPriceHistory": [{...}, ...]} */
static bool read_aws_file(struct series_reader *reader, struct json *json,
                          struct err *err)
{
    enum json_token token;
    size_t bytes;

    if (!json_expect(json, JSON_OBJECT, "a spot price history of AWS", err))
        return false;
    while ((token = json_next(json, err)) == JSON_KEY) {
        if (strcmp(json_text(json, &bytes), "SpotPriceHistory") != 0) {
            if (!json_skip(json, json_next(json, err), err))
                return false;
            continue;
        }
        if (!json_expect(json, JSON_ARRAY, "an array of prices", err))
            return false;
        while ((token = json_next(json, err)) == JSON_OBJECT)
            if (!read_aws_price(reader, json, err))
                return false;
        if (token != JSON_ARRAY_END)
            return token != JSON_ERROR &&
                   report_fault(json, "a price, an object, is expected", err);
    }
    return token == JSON_OBJECT_END;
}

/* ---- ticks --------------------------------------------------------------- */

/* Evenly spaced points: the i-th is at i gaps. */
struct ticks {
    double gap_s;               /* 0: not read yet */
    uint64_t count;             /* points so far */
    size_t number;
};

/* Adds the number that was read last as the next point.  Ticks have no times of
 * their own: the k-th is k gaps after the first. */
static bool read_tick(struct series_reader *reader, struct json *json,
                      struct ticks *ticks, struct err *err)
{
    size_t bytes;
    const char *text = json_text(json, &bytes);
    double value;
    int64_t time_ns;

    if (!scan_f64(text, bytes, &value) || value < 0.0)
        return report_fault(json, "a number of instances, at least 0, is expected",
                            err);
    if (!clock_ns_from_s(ticks->gap_s * (double)ticks->count, &time_ns))
        return report_fault(json, "the series is longer than a clock", err);
    ticks->count++;
    return series_add(reader, ticks->number, time_ns, value, json_pos(json),
                      err);
}

/* Reads the seconds between two points, above 0 and at most 1e6. */
static bool read_gap(struct json *json, struct ticks *ticks, struct err *err)
{
    static const char *const keys[] = {"gap_seconds", NULL};
    char field[1][TEXT_BYTES];
    struct err_pos pos;

    if (!json_expect(json, JSON_OBJECT, "an object with gap_seconds", err) ||
        !read_object(json, keys, field, &pos, err))
        return false;
    return (scan_f64(field[0], strlen(field[0]), &ticks->gap_s) &&
            ticks->gap_s > 0.0 && ticks->gap_s <= 1e6) ||
           err_set(err, ERR_RANGE, pos, "gap_seconds must be above 0 and at "
                   "most 1e6, found \"%.40s\"", field[0]);
}

/* {"metadata": {"gap_seconds": 600}, "data": [1, 0, ...]} */
static bool read_ticks_file(struct series_reader *reader, struct json *json,
                            struct err *err)
{
    struct ticks ticks = {.number = series_number(reader, "instances")};
    enum json_token token;
    size_t bytes;

    if (!json_expect(json, JSON_OBJECT, "ticks of availability", err))
        return false;
    while ((token = json_next(json, err)) == JSON_KEY) {
        const char *key = json_text(json, &bytes);

        if (strcmp(key, "metadata") == 0) {
            if (!read_gap(json, &ticks, err))
                return false;
        } else if (strcmp(key, "data") == 0) {
            if (ticks.gap_s == 0.0)
                return report_fault(json, "metadata must stand before data", err);
            if (!json_expect(json, JSON_ARRAY, "an array of numbers", err))
                return false;
            while ((token = json_next(json, err)) == JSON_NUMBER)
                if (!read_tick(reader, json, &ticks, err))
                    return false;
            if (token != JSON_ARRAY_END)
                return token != JSON_ERROR &&
                       report_fault(json, "a number is expected", err);
        } else if (!json_skip(json, json_next(json, err), err)) {
            return false;
        }
    }
    return token == JSON_OBJECT_END;
}

/* ---- faults -------------------------------------------------------------- */

/* Reads one event and adds a point: how many faults the node has from then on.
 * An event that starts a fault adds one, an event that ends a fault takes one
 * away.  A fault that ends without having started is an error. */
static bool read_fault(struct series_reader *reader, struct json *json,
                       struct err *err)
{
    static const char *const keys[] = {"node_id", "event_time", "event_type",
                                       NULL};
    char field[3][TEXT_BYTES];
    struct err_pos pos;
    const struct series *node;
    size_t number;
    double days, faults;
    int64_t time_ns;
    bool starts;

    if (!read_object(json, keys, field, &pos, err))
        return false;
    starts = strcmp(field[2], "fault_start") == 0;
    if (!starts && strcmp(field[2], "fault_end") != 0)
        return err_set(err, ERR_RANGE, pos, "event_type must be fault_start "
                       "or fault_end, found \"%.40s\"", field[2]);
    if (!scan_f64(field[1], strlen(field[1]), &days) || days < 0.0 ||
        !clock_ns_from_s(days * 86400.0, &time_ns))
        return err_set(err, ERR_RANGE, pos, "event_time must be a number of "
                       "days, at least 0, found \"%.40s\"", field[1]);
    number = series_number(reader, field[0]);
    node = &reader->set->series[number];
    faults = node->count == 0 ? 0.0 : node->point[node->count - 1].value;
    if (!starts && faults == 0.0)
        return err_set(err, ERR_RANGE, pos, "a fault of node %.40s ends that "
                       "did not start", field[0]);
    reader->counts->overlaps += starts && faults > 0.0;
    return series_add(reader, number, time_ns, faults + (starts ? 1.0 : -1.0),
                      pos, err);
}

/* Reads the events of all nodes.  Their order in the file matters, since each
 * changes the count that the one before left. */
static bool read_faults_file(struct series_reader *reader, struct json *json,
                             struct err *err)
{
    enum json_token token;

    if (!json_expect(json, JSON_ARRAY, "an array of faults", err))
        return false;
    while ((token = json_next(json, err)) == JSON_OBJECT)
        if (!read_fault(reader, json, err))
            return false;
    return token == JSON_ARRAY_END ||
           (token != JSON_ERROR && report_fault(json, "a fault is expected", err));
}

/* ---- the formats --------------------------------------------------------- */

/* Reads the value of a whole file from its stream of tokens. */
typedef bool read_file(struct series_reader *reader, struct json *json,
                       struct err *err);

/* Opens the file and lets `read` read its one value.  Whatever follows that
 * value is an error. */
static bool with_json(struct series_reader *reader, read_file *read,
                      struct err *err)
{
    struct json *json = json_open(reader->arena, reader->request->file, err);
    bool good = json != NULL && read(reader, json, err);

    if (good && json_next(json, err) != JSON_END)
        good = err->kind == ERR_NONE &&
               report_fault(json, "something follows the end of the series", err);
    json_close(json);
    return good;
}

static bool read_aws(struct series_reader *reader, struct err *err)
{
    return with_json(reader, read_aws_file, err);
}

static bool read_ticks(struct series_reader *reader, struct err *err)
{
    return with_json(reader, read_ticks_file, err);
}

/* Events are never sorted: a count of faults is the sum of all events before
 * it, so events in the wrong order would give wrong counts.  `--sort` is
 * refused. */
static bool read_faults(struct series_reader *reader, struct err *err)
{
    if (reader->request->sort)
        return err_set(err, ERR_USAGE,
                       (struct err_pos){reader->request->file, 0, 0},
                       "events of faults are not sorted: they must be in "
                       "order");
    return with_json(reader, read_faults_file, err);
}

const struct series_format series_aws_price = {
    .name = "aws-price",
    .summary = "spot price history of AWS, a JSON, newest first",
    .about = "# Spot price history of AWS: a price holds until the next "
             "stamp.  Series are called\n"
             "# ZONE/INSTANCE.\n",
    .kind = "price", .unit = "USD/h", .read = read_aws,
};

const struct series_format series_spot_ticks = {
    .name = "spot-ticks",
    .summary = "SkyPilot's spot traces, a JSON: instances obtained at each "
               "tick",
    .about = "# Spot availability (Can't Be Late, NSDI 2024): instances "
             "obtained at each tick.  Above 0\n"
             "# is available; older simulators of SkyPilot store the "
             "inverse.\n",
    .kind = "availability", .unit = "instances", .read = read_ticks,
};

const struct series_format series_faults = {
    .name = "faults",
    .summary = "faults of nodes (InfiniteHBD), a JSON: starts and ends, in "
               "days",
    .about = "# Faults of GPU servers (InfiniteHBD, SIGCOMM 2025): how many "
             "a node has, 0 being well.\n"
             "# Nodes without a fault are not in the file: 400 servers "
             "there.\n",
    .kind = "faults", .unit = "faults", .read = read_faults,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lengths.c - run times and rates that stand in a file of their own.
 *
 * Some traces say what a job computes and not for how long.  What it takes on
 * some GPU was measured and published beside them.
 */
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/json.h"
#include "sim/text/scan.h"
#include "workloads/formats/row.h"
#include "workloads/formats/trace_row.h"

/* A table from a key to a length or a rate, in the order of the file. */
struct import_lengths {
    const char **key;
    double *value;
    size_t count, room;
};

/* Both arrays have one room, so they are reached in turn. */
static void add_length(struct arena *arena, struct import_lengths *lengths,
                       const char *key, double value)
{
    size_t room = lengths->room;

    ARENA_REACH(arena, lengths->key, room, lengths->count);
    ARENA_REACH(arena, lengths->value, lengths->room, lengths->count);
    lengths->key[lengths->count] = arena_text(arena, key);
    lengths->value[lengths->count++] = value;
}

double import_length(const struct import_lengths *lengths, const char *key)
{
    for (size_t i = 0; i < lengths->count; i++)
        if (strcmp(lengths->key[i], key) == 0)
            return lengths->value[i];
    return 0.0;
}

/* An application may stand in the file once, with seconds above 0. */
static bool read_lengths(struct importer *importer, struct csv *csv,
                         struct import_lengths *lengths, struct err *err)
{
    size_t name = csv_find(csv, "application"), run = csv_find(csv, "run_s");
    enum csv_step step;

    if (name == ROW_NO_COLUMN || run == ROW_NO_COLUMN)
        return err_set(err, ERR_SYNTAX,
                       (struct err_pos){importer->request->lengths, 1, 1},
                       "lengths must have the columns application and run_s");
    while ((step = csv_next(csv, err)) == CSV_ROW) {
        struct csv_field field = *csv_field(csv, run);
        const char *key = csv_field(csv, name)->text;
        double value;

        if (!scan_f64(field.text, field.bytes, &value) || !(value > 0.0))
            return row_fault(csv, run, ERR_RANGE,
                             "a number of seconds above 0", err);
        if (import_length(lengths, key) > 0.0)
            return row_fault(csv, name, ERR_RANGE, "there once", err);
        add_length(importer->arena, lengths, key, value);
    }
    return step == CSV_END;
}

bool import_lengths_csv(struct importer *importer, struct err *err)
{
    struct import_lengths *lengths = arena_alloc(importer->arena, 1,
                                                 sizeof *lengths);
    struct csv *csv = csv_open(importer->arena, importer->request->lengths,
                               CSV_COMMA, err);
    bool good = csv != NULL && read_lengths(importer, csv, lengths, err);

    csv_close(csv);
    importer->lengths = lengths;
    return good;
}

/* ---- Gavel's JSON -------------------------------------------------------- */

/* "('job type', 1)": {"null": 4.0, "('other', 1)": [1.0, 2.0], ...} */
static bool read_job(struct importer *importer, struct json *json,
                     struct import_lengths *lengths, struct err *err)
{
    enum json_token token;
    size_t bytes;
    const char *key = arena_text(importer->arena, json_text(json, &bytes));

    if (!json_expect(json, JSON_OBJECT, "an object of rates", err))
        return false;
    while ((token = json_next(json, err)) == JSON_KEY) {
        bool alone = strcmp(json_text(json, &bytes), "null") == 0;
        const char *text;
        double rate;

        token = json_next(json, err);
        text = json_text(json, &bytes);
        if (!alone) {
            if (!json_skip(json, token, err))
                return false;
            continue;
        }
        if (token == JSON_ERROR)
            return false;
        if (token != JSON_NUMBER || !scan_f64(text, bytes, &rate))
            return err_set(err, ERR_SYNTAX, json_pos(json),
                           "\"null\" must be a rate in steps/s");
        add_length(importer->arena, lengths, key, rate);
    }
    return token == JSON_OBJECT_END;
}

/* {"v100": {job: rates, ...}, ...}; other types are passed over. */
static bool read_types(struct importer *importer, struct json *json,
                       struct import_lengths *lengths, bool *found,
                       struct err *err)
{
    const char *type = importer->request->gpu_type;
    enum json_token token;
    size_t bytes;

    if (!json_expect(json, JSON_OBJECT, "a JSON of Gavel's throughputs", err))
        return false;
    while ((token = json_next(json, err)) == JSON_KEY) {
        if (strcmp(json_text(json, &bytes), type) != 0) {
            if (!json_skip(json, json_next(json, err), err))
                return false;
            continue;
        }
        *found = true;
        if (!json_expect(json, JSON_OBJECT, "an object of jobs", err))
            return false;
        while ((token = json_next(json, err)) == JSON_KEY)
            if (!read_job(importer, json, lengths, err))
                return false;
        if (token != JSON_OBJECT_END)
            return false;
    }
    return token == JSON_OBJECT_END;
}

/* Only the rates of the wanted GPU type are kept. */
bool import_lengths_gavel(struct importer *importer, struct err *err)
{
    const struct import_request *request = importer->request;
    struct import_lengths *lengths = arena_alloc(importer->arena, 1,
                                                 sizeof *lengths);
    struct json *json = json_open(importer->arena, request->lengths, err);
    bool found = false;
    bool good = json != NULL &&
                read_types(importer, json, lengths, &found, err);

    json_close(json);
    importer->lengths = lengths;
    if (!good || found)
        return good;
    err_set(err, ERR_REFERENCE, (struct err_pos){request->lengths, 0, 0},
            "there are no rates of GPU type %.40s", request->gpu_type);
    return err_hint(err, "Gavel measured v100, p100, k80 and each with "
                         "_unconsolidated.");
}

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
#include "sim/text/scan.h"
#include "workloads/formats/row.h"
#include "workloads/formats/trace_row.h"
#include "workloads/jobs/gavel_rates.h"

/* A table from a key to a length or a rate, in the order of the file. */
struct import_lengths {
    const char **key;           /* [count], as the file has them */
    double *value;              /* [count]; unit of the format: seconds, or steps/s */
    size_t count, room;
};

/* Adds an entry.  Both arrays grow together. */
static void add_length(struct arena *arena, struct import_lengths *lengths,
                       const char *key, double value)
{
    size_t room = lengths->room;

    ARENA_REACH(arena, lengths->key, room, lengths->count);
    ARENA_REACH(arena, lengths->value, lengths->room, lengths->count);
    lengths->key[lengths->count] = arena_text(arena, key);
    lengths->value[lengths->count++] = value;
}

/* Searched from the first on: tables have some hundred entries. */
double import_length(const struct import_lengths *lengths, const char *key)
{
    for (size_t i = 0; i < lengths->count; i++)
        if (strcmp(lengths->key[i], key) == 0)
            return lengths->value[i];
    return 0.0;
}

/* Reads a CSV of applications and their seconds.  Each stands there once, with
 * a time above 0. */
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

/* One reading of Gavel's file: the rates of the GPU type that the request
 * names. */
struct rates_reading {
    const struct importer *importer;    /* whose request names the type */
    struct import_lengths *lengths; /* where rates go */
    bool found;                 /* the type of GPU is in the file */
};

/* For gavel_visit: are rates of this type of GPU wanted? self: a rates_reading. */
static bool wants_type(void *self, const char *type)
{
    struct rates_reading *reading = self;
    bool wanted = strcmp(type, reading->importer->request->gpu_type) == 0;

    reading->found = reading->found || wanted;
    return wanted;
}

/* For gavel_visit: keeps the rate of a kind of job. */
static bool add_rate(void *self, struct json *json, const char *type,
                     const char *key, double rate)
{
    const struct rates_reading *reading = self;

    (void)json, (void)type;
    add_length(reading->importer->arena, reading->lengths, key, rate);
    return true;
}

/* Only the rates of the wanted GPU type are kept. */
bool import_lengths_gavel(struct importer *importer, struct err *err)
{
    const struct import_request *request = importer->request;
    struct import_lengths *lengths = arena_alloc(importer->arena, 1,
                                                 sizeof *lengths);
    static const struct gavel_visit visit = {wants_type, add_rate, NULL};
    struct rates_reading reading = {importer, lengths, false};
    bool good = gavel_rates_read(importer->arena, request->lengths, &visit,
                                 &reading, err);

    importer->lengths = lengths;
    if (!good || reading.found)
        return good;
    err_set(err, ERR_REFERENCE, (struct err_pos){request->lengths, 0, 0},
            "there are no rates of GPU type %.40s", request->gpu_type);
    return err_hint(err, "Gavel measured v100, p100, k80 and each with "
                         "_unconsolidated.");
}

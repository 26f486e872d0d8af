/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_lengths.c - run times and rates that stand in a file of their own.
 *
 * Some traces say what a job computes and not for how long.  What it takes on
 * some GPU was measured and published beside them.
 */
#include <assert.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/scan.h"
#include "workloads/import_row.h"

struct import_lengths {
    const char **key;
    double *value;
    size_t count, room;
};

static void add(struct arena *arena, struct import_lengths *lengths,
                const char *key, double value)
{
    if (lengths->count == lengths->room) {
        size_t room = lengths->room == 0 ? 64 : 2 * lengths->room;

        lengths->key = arena_grow(arena, lengths->key, lengths->count, room,
                                  sizeof *lengths->key);
        lengths->value = arena_grow(arena, lengths->value, lengths->count,
                                    room, sizeof *lengths->value);
        lengths->room = room;
    }
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

static bool read_length(struct importer *importer, struct csv *csv,
                        struct import_lengths *lengths, struct err *err)
{
    size_t name = csv_find(csv, "application"), run = csv_find(csv, "run_s");
    enum csv_step step;

    if (name == ROW_NO_COLUMN || run == ROW_NO_COLUMN)
        return err_set(err, ERR_SYNTAX,
                       (struct err_pos){importer->request->lengths, 1, 1},
                       "lengths must have the columns application and run_s");
    while ((step = csv_next(csv, err)) == CSV_ROW) {
        struct csv_field field = csv_field(csv, run);
        const char *key = csv_field(csv, name).text;
        double value;

        if (!scan_f64(field.text, field.bytes, &value) || !(value > 0.0))
            return row_fault(csv, run, ERR_RANGE,
                             "a number of seconds above 0", err);
        if (import_length(lengths, key) > 0.0)
            return row_fault(csv, name, ERR_RANGE, "there once", err);
        add(importer->arena, lengths, key, value);
    }
    return step == CSV_END;
}

bool import_lengths_csv(struct importer *importer, struct err *err)
{
    struct import_lengths *lengths = arena_alloc(importer->arena, 1,
                                                 sizeof *lengths);
    struct csv *csv = csv_open(importer->arena, importer->request->lengths,
                               CSV_COMMA, err);
    bool good = csv != NULL && read_length(importer, csv, lengths, err);

    csv_close(csv);
    importer->lengths = lengths;
    return good;
}

/* ---- Gavel's JSON: one key or one number a line ----------------------- */

struct json {
    struct importer *importer;
    struct import_lengths *lengths;
    unsigned depth;             /* 1: in the file, 2: in a type, 3: in a job */
    bool wanted, found;         /* the type */
    char *job;                  /* its key, cut out of the line */
};

/* The text between the first quotation mark and the last but the colon. */
static char *key_of(char *line)
{
    char *from = strchr(line, '"');
    char *to = from == NULL ? NULL : strstr(from + 1, "\":");

    if (to == NULL)
        return NULL;
    *to = '\0';
    return from + 1;
}

static bool number_of(const char *text, double *out)
{
    size_t bytes = strlen(text);

    while (bytes > 0 && (text[bytes - 1] == ',' || text[bytes - 1] == ' '))
        bytes--;
    return scan_f64(text, bytes, out);
}

static bool json_line(struct json *json, char *line, struct err_pos pos,
                      struct err *err)
{
    static const char alone[] = "\"null\": ";
    struct arena *arena = json->importer->arena;
    char last, *key;
    double value;

    line += strspn(line, " ");
    last = line[0] == '\0' ? '\0' : line[strlen(line) - 1];
    if (line[0] == '}' || line[0] == ']') {
        if (json->depth-- == 0)
            return err_set(err, ERR_SYNTAX, pos, "one bracket too many");
    } else if (last == '{' || last == '[') {
        key = key_of(line);
        if (json->depth == 1) {
            json->wanted = key != NULL &&
                strcmp(key, json->importer->request->gpu_type) == 0;
            json->found = json->found || json->wanted;
        } else if (json->depth == 2) {
            json->job = arena_text(arena, key == NULL ? "" : key);
        }
        json->depth++;
    } else if (json->depth == 3 && json->wanted &&
               strncmp(line, alone, sizeof alone - 1) == 0) {
        if (!number_of(line + sizeof alone - 1, &value))
            return err_set(err, ERR_SYNTAX, pos,
                           "\"null\" must be a rate in steps/s");
        add(arena, json->lengths, json->job, value);
    } else if (json->depth == 0 && last != '\0') {
        return err_set(err, ERR_SYNTAX, pos,
                       "throughputs must be a JSON of Gavel, one key a line");
    }
    return true;
}

static bool json_read(struct json *json, struct scan *scan, struct err *err)
{
    const struct import_request *request = json->importer->request;
    struct err_pos pos = {request->lengths, 0, 0};
    enum scan_step step;
    size_t bytes;
    char *line;

    while ((step = scan_line(scan, &line, &bytes, err)) == SCAN_LINE) {
        pos = scan_pos(scan, 1);
        pos.file = request->lengths;
        if (!json_line(json, line, pos, err))
            return false;
    }
    if (step == SCAN_ERROR)
        return false;
    if (json->depth != 0)
        return err_set(err, ERR_SYNTAX, pos, "file ends within a bracket");
    if (json->found)
        return true;
    pos.line = pos.col = 0;
    err_set(err, ERR_REFERENCE, pos, "there are no rates of GPU type %.40s",
            request->gpu_type);
    return err_hint(err, "Gavel measured v100, p100, k80 and each with "
                         "_unconsolidated.");
}

bool import_lengths_gavel(struct importer *importer, struct err *err)
{
    struct import_lengths *lengths = arena_alloc(importer->arena, 1,
                                                 sizeof *lengths);
    struct json json = {.importer = importer, .lengths = lengths};
    struct scan *scan = scan_open(importer->request->lengths, err);
    bool good = scan != NULL && json_read(&json, scan, err);

    scan_close(scan);
    importer->lengths = lengths;
    return good;
}

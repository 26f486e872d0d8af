/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * args.c - what import and fit have in common on a command line.
 *
 * Options that are lists ("a,b" of --skip, "key=name" of --columns) are read
 * here, against the same tables as the keys of a workload, so that both know
 * the same words.
 */
#include "experiments/import/args.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "experiments/import/machines.h"
#include "experiments/options/args.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"
#include "workloads/formats/columns.h"
#include "workloads/formats/import.h"
#include "workloads/replay/trace.h"
#include "workloads/requests/request_trace.h"
#include "workloads/series/series.h"

static const struct err_pos nowhere = { NULL, 0, 0 };

/* Names and summaries of all formats; more than 64 there are not. */
struct known {
    const char *name[65], *summary[64];
    size_t count;
};

/* More than 64 are left out of the message alone; they can still be named. */
static void add_known(struct known *known, const char *name, const char *summary)
{
    if (known->count == 64)
        return;
    known->name[known->count] = name;
    known->summary[known->count++] = summary;
}

/* The formats of jobs; with `series`, all others too. */
static void find_known(struct known *known, bool series)
{
    const char *name, *summary;

    for (size_t i = 0; import_format_at(i) != NULL; i++)
        add_known(known, import_format_at(i)->name, import_format_at(i)->summary);
    for (size_t i = 0; series && series_format_at(i) != NULL; i++)
        add_known(known, series_format_at(i)->name, series_format_at(i)->summary);
    for (size_t i = 0; series && (name = request_format_at(i, &summary)) != NULL; i++)
        add_known(known, name, summary);
    for (size_t i = 0; series && machines_format_at(i) != NULL; i++)
        add_known(known, machines_format_at(i)->name, machines_format_at(i)->summary);
}

/* Does the word stand in the text, in upper or lower case?  Short ones stand in others. */
static bool mentions(const char *text, const char *word)
{
    size_t bytes = strlen(word);

    for (; *text != '\0'; text++)
        if (bytes > 3 && strncasecmp(text, word, bytes) == 0)
            return true;
    return false;
}

/* "kube, kube-nodes": the formats in whose summary the word stands; the number of them. */
static size_t list_told(const struct known *known, const char *word, char *out, size_t room)
{
    size_t told = 0, used = 0;

    out[0] = '\0';
    for (size_t i = 0; i < known->count; i++)
        if (mentions(known->summary[i], word) && used < room) {
            int wrote = snprintf(out + used, room - used, "%s%s", told == 0 ? "" : ", ",
                                 known->name[i]);
            used += wrote > 0 ? (size_t)wrote : 0;
            told++;
        }
    return told;
}

const struct import_format *import_arg_format(const char *name, bool series,
                                              struct err *err)
{
    const struct import_format *format = import_format_find(name);
    struct known known = { .count = 0 };
    char told[200];
    const char *near;

    if (format != NULL)
        return format;
    find_known(&known, series);
    near = conf_nearest(name, known.name);
    err_set(err, ERR_USAGE, nowhere, "there is no format '%.60s'", name);
    if (list_told(&known, name, told, sizeof told) > 0)
        err_hint(err, "Did you mean one of %s?  `clustersim list formats` says what each is.",
                 told);
    else if (near != NULL)
        err_hint(err, "Did you mean %s?", near);
    else
        err_hint(err, "`clustersim list formats` names them.");
    return NULL;
}

/* Reads one word of --skip "a,b": rows that have this fault are left out and
 * counted. */
static bool take_reason(const char *text, size_t bytes,
                        struct import_request *request, struct err *err)
{
    for (int r = 0; r < IMPORT_REASONS; r++) {
        const char *name = import_reason_name((enum import_reason)r, NULL);

        if (strlen(name) == bytes && memcmp(name, text, bytes) == 0) {
            request->skip[r] = true;
            return true;
        }
    }
    err_set(err, ERR_USAGE, nowhere, "--skip knows no reason '%.*s'",
            bytes < 60 ? (int)bytes : 60, text);
    return err_hint(err, "`clustersim list formats` names them.");
}

bool import_arg_skips(const struct args *args,
                      struct import_request *request, struct err *err)
{
    for (size_t i = 0; i < args->set_count; i++)
        for (const char *at = args->set[i];; at++) {
            size_t bytes = strcspn(at, ",");

            if (!take_reason(at, bytes, request, err))
                return false;
            at += bytes;
            if (*at == '\0')
                break;
        }
    return true;
}

/* Returns the field of the key table of `columns:` with that key, or NULL. */
static const struct conf_field *column_field(const char *key, size_t bytes)
{
    const struct conf_schema *schema = &trace_columns_schema;

    for (size_t i = 0; i < schema->count; i++)
        if (strlen(schema->fields[i].key) == bytes &&
            memcmp(schema->fields[i].key, key, bytes) == 0)
            return &schema->fields[i];
    return NULL;
}

/* False, with err: there is no such key. */
static bool refuse_column(const char *text, size_t bytes, struct err *err)
{
    const struct conf_schema *schema = &trace_columns_schema;
    const char *names[32], *near;
    char key[40], list[120] = "";

    bytes = bytes < sizeof key ? bytes : sizeof key - 1;
    memcpy(key, text, bytes);
    key[bytes] = '\0';
    for (size_t i = 0; i < schema->count && i < 31; i++) {
        names[i] = schema->fields[i].key;
        names[i + 1] = NULL;
        if (strlen(list) + strlen(names[i]) + 3 < sizeof list) {
            strcat(list, i > 0 ? ", " : "");
            strcat(list, names[i]);
        }
    }
    near = conf_nearest(key, names);
    err_set(err, ERR_USAGE, nowhere, "--columns knows no '%s': keys are %s",
            key, list);
    return near == NULL ? false : err_hint(err, "Did you mean %s?", near);
}

/* Reads one "key=name" of --columns into the member that the key table names.  An
 * empty name, or a key that stands twice, is refused. */
static bool take_column(struct arena *arena, const char *text, size_t bytes,
                        struct trace_columns *columns, struct err *err)
{
    const char *equals = memchr(text, '=', bytes);
    const struct conf_field *field;
    const char **member;

    if (equals == NULL || equals + 1 == text + bytes) {
        err_set(err, ERR_USAGE, nowhere,
                "--columns must be a list of KEY=NAME, and has '%.*s'",
                bytes < 60 ? (int)bytes : 60, text);
        return err_hint(err, "As in --columns submit=arrived,duration=runtime,"
                             "gpus=1.");
    }
    field = column_field(text, (size_t)(equals - text));
    if (field == NULL)
        return refuse_column(text, (size_t)(equals - text), err);
    member = (const char **)(void *)((char *)columns + field->offset);
    if (*member != NULL)
        return err_set(err, ERR_USAGE, nowhere, "--columns has %s twice",
                       field->key);
    *member = text_format(arena, "%.*s", (int)(text + bytes - equals - 1),
                          equals + 1);
    return true;
}

/* The first format is csv, the only one without columns of its own. */
bool import_arg_columns(struct arena *arena, const struct args *args,
                        const struct trace_columns **columns,
                        struct err *err)
{
    struct trace_columns *made;

    *columns = NULL;
    if (!args->given[ARG_COLUMNS])
        return true;
    if (strcmp(args->word[0], import_format_at(0)->name) != 0)
        return err_set(err, ERR_USAGE, nowhere,
                       "format %s has columns of its own: --columns is for "
                       "csv", args->word[0]);
    made = arena_alloc(arena, 1, sizeof *made);
    for (const char *at = args->value[ARG_COLUMNS];; at++) {
        size_t bytes = strcspn(at, ",");

        if (!take_column(arena, at, bytes, made, err))
            return false;
        at += bytes;
        if (*at == '\0')
            break;
    }
    *columns = made;
    if (made->submit != NULL && made->duration != NULL && made->gpus != NULL)
        return true;
    err_set(err, ERR_USAGE, nowhere, "--columns lacks %s",
            made->submit == NULL ? "submit" : made->duration == NULL
                                                  ? "duration" : "gpus");
    return err_hint(err, "It needs submit, duration and gpus; a number in "
                         "place of a name stands for every row: gpus=1.");
}

/* Is the path an input, under whatever name? */
static bool is_input(const struct args *args, const char *path)
{
    return path_same(path, args->word[1]) ||
           (args->given[ARG_LENGTHS] && path_same(path, args->value[ARG_LENGTHS]));
}

/* The CSV is written while the input is still open; and a list of nodes of Kubernetes
 * is YAML, as what is written. */
bool import_arg_csv(struct arena *arena, const struct args *args, bool written,
                    const char **csv, struct err *err)
{
    const char *yaml = args->value[ARG_OUT], *dot;

    if (!args->given[ARG_OUT])
        return err_set(err, ERR_USAGE, nowhere,
                       "%s needs -o WORKLOAD.yaml", args->argv[1]);
    dot = strrchr(yaml, '.');
    if (dot == NULL || (strcmp(dot, ".yaml") != 0 && strcmp(dot, ".yml") != 0))
        return err_set(err, ERR_USAGE, nowhere,
                       "-o must name a file that ends in .yaml, and is "
                       "'%.80s'", yaml);
    *csv = text_format(arena, "%.*s.csv", (int)(dot - yaml), yaml);
    if (!is_input(args, yaml) && !(written && is_input(args, *csv)))
        return true;
    return err_set(err, ERR_USAGE, nowhere,
                   "%.80s would be overwritten: give -o another name",
                   is_input(args, yaml) ? yaml : *csv);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_args.c - what import and fit have in common on a command line.
 */
#include "experiments/import_args.h"

#include <string.h>

#include "experiments/args.h"
#include "experiments/paths.h"
#include "sim/conf.h"
#include "sim/err.h"
#include "workloads/import.h"
#include "workloads/request_trace.h"
#include "workloads/series.h"

static const struct err_pos nowhere = { NULL, 0, 0 };

const struct import_format *import_arg_format(const char *name, bool series,
                                              struct err *err)
{
    const struct import_format *format = import_format_find(name);
    const char *names[64], *near, *summary;
    size_t n = 0;

    if (format != NULL)
        return format;
    for (size_t i = 0; import_format_at(i) != NULL && n + 1 < 64; i++)
        names[n++] = import_format_at(i)->name;
    for (size_t i = 0; series && series_format_at(i) != NULL && n + 1 < 64;
         i++)
        names[n++] = series_format_at(i)->name;
    for (size_t i = 0; series && n + 1 < 64 &&
                       (near = request_format_at(i, &summary)) != NULL; i++)
        names[n++] = near;
    names[n] = NULL;
    near = conf_nearest(name, names);
    err_set(err, ERR_USAGE, nowhere, "there is no format '%.60s'", name);
    if (near != NULL)
        err_hint(err, "Did you mean %s?", near);
    else
        err_hint(err, "`clustersim list formats` names them.");
    return NULL;
}

/* One of "a,b" of --skip. */
static bool skip_one(const char *text, size_t bytes,
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

            if (!skip_one(at, bytes, request, err))
                return false;
            at += bytes;
            if (*at == '\0')
                break;
        }
    return true;
}

bool import_arg_csv(struct arena *arena, const struct args *args,
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
    if (!path_same(*csv, args->word[1]) &&
        !(args->given[ARG_LENGTHS] &&
          path_same(*csv, args->value[ARG_LENGTHS])))
        return true;
    return err_set(err, ERR_USAGE, nowhere,
                   "%.80s would be overwritten: give -o another name", *csv);
}

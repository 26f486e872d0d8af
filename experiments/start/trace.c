/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace.c - which column of a CSV is what, by usual names or as the user says.
 */
#include <stdio.h>
#include <string.h>

#include "experiments/start/parts.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

#define HEADER_BYTES 4096

/* The keys of `columns:` that a workload needs, and names that traces give them. */
static const struct column {
    const char *key, *usual;    /* names, each with a blank on both sides */
} column[] = {
    { "job", " job job_id jobid id name " },
    { "submit", " submit submit_s submit_time submission_time submitted arrival_time " },
    { "duration", " duration duration_s run_s run_time runtime " },
    { "gpus", " gpus num_gpu num_gpus gpu_num gpu_count " },
};
#define COLUMNS (sizeof column / sizeof column[0])

/* Returns the value of "key=VALUE" in the user's list, or NULL. */
static const char *find_said(const struct start *start, const char *key)
{
    size_t bytes = strlen(key);

    for (const char *at = start->columns; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        if (strncmp(at, key, bytes) == 0 && at[bytes] == '=')
            return text_format(start->arena, "%.*s", (int)strcspn(at + bytes + 1, ","),
                               at + bytes + 1);
    }
    return NULL;
}

/* Returns the name in the header that is usual for a column, or NULL. */
static const char *find_usual(struct arena *arena, const char *header, const char *usual)
{
    for (const char *at = header; at != NULL; at = strchr(at, ',')) {
        at += *at == ',';
        const char *name = text_format(arena, " %.*s ", (int)strcspn(at, ","), at);

        if (strstr(usual, name) != NULL && name[1] != ' ')
            return text_format(arena, "%.*s", (int)strlen(name) - 2, name + 1);
    }
    return NULL;
}

/* Reads the first line without its end; NULL: err says why. */
static const char *read_header(struct arena *arena, const char *path, struct err *err)
{
    char line[HEADER_BYTES];
    FILE *file = fopen(path, "r");
    bool read = file != NULL && fgets(line, sizeof line, file) != NULL;

    if (file != NULL)
        fclose(file);
    if (!read) {
        err_set(err, ERR_IO, (struct err_pos){ path, 0, 0 }, "could not read a first line");
        return NULL;
    }
    line[strcspn(line, "\r\n")] = '\0';
    return arena_text(arena, line);
}

bool start_read_trace(struct start *start, const char *path, struct err *err)
{
    struct err_pos pos = { path, 1, 1 };
    const char *end = strrchr(path, '.'), *header, *yaml = "";

    start->trace_columns = NULL;
    if (end != NULL && strcmp(end, ".swf") == 0) {
        start->trace = path;
        return true;
    }
    if (end == NULL || strcmp(end, ".csv") != 0) {
        err_set(err, ERR_USAGE, pos, "a file of jobs must end in .csv, .swf or .yaml");
        return err_hint(err, "`clustersim import FORMAT FILE -o WORKLOAD.yaml` reads other "
                        "formats; then give WORKLOAD.yaml.");
    }
    header = read_header(start->arena, path, err);
    if (header == NULL)
        return false;
    for (size_t i = 0; i < COLUMNS; i++) {
        const char *name = find_said(start, column[i].key);

        if (name == NULL)
            name = find_usual(start->arena, header, column[i].usual);
        if (name == NULL) {
            err_set(err, ERR_SCHEMA, pos, "no column is known as '%s', found %.120s",
                    column[i].key, header);
            return err_hint(err, "Say which one it is: --columns %s=NAME", column[i].key);
        }
        yaml = text_format(start->arena, "%s%s%s: %s", yaml, i == 0 ? "" : ", ",
                           column[i].key, name);
    }
    start->trace = path;
    start->trace_columns = yaml;
    return true;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * files.c - names of the files, and how they are written.
 */
#include <string.h>
#include <unistd.h>

#include "experiments/start/parts.h"
#include "experiments/start/start.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "workloads/start/start_file.h"

#define FOLDER_BYTES 4096

/* Names of files have _ where those of recipes have -. */
const char *start_recipe(const struct start *start, const struct start_file *file)
{
    char *name = arena_text(start->arena, path_stem(start->arena, file->name));

    for (char *at = name; *at != '\0'; at++)
        if (*at == '_')
            *at = '-';
    return name;
}

const char *start_seen_path(const struct start *start, const char *path)
{
    char folder[FOLDER_BYTES];

    if (strchr(start->path, '/') == NULL || path[0] == '/' ||
        getcwd(folder, sizeof folder) == NULL)
        return path;
    return path_join(start->arena, folder, path);
}

/* Writes one file, none of whose bytes is there if it fails. */
static bool write_file(struct start *start, const char *path, const char *text,
                       struct err *err)
{
    struct out *out = out_open(start->arena, path, err);

    if (out == NULL)
        return false;
    out_text(out, text);
    return out_close(out, err);
}

/* The names of the three files: cluster, workload, experiment. */
static const char *file_name(const struct start *start, size_t i)
{
    static const char *const end[] = { "-cluster", "-workload", "" };

    return text_format(start->arena, "%.*s%s.yaml", (int)(strlen(start->path) - 5),
                       start->path, end[i]);
}

bool start_check_free(const struct start *start, struct err *err)
{
    for (size_t i = 0; i < 3; i++) {
        const char *path = file_name(start, i);

        if (path_is_file(path) || path_is_folder(path)) {
            err_set(err, ERR_IO, (struct err_pos){ path, 0, 0 },
                    "is there already, and is not overwritten");
            return err_hint(err, "-o FILE.yaml names another experiment.");
        }
    }
    return true;
}

/* The experiment last: it names the others. */
bool start_write(struct start *start, FILE *to, struct err *err)
{
    const char *const text[] = { start->cluster_text,
                                 start->workload != NULL ? NULL : start->workload_text,
                                 start->experiment_text };
    static const char *const what[] = { "its cluster", "its jobs", "the experiment" };

    if (!start_check_free(start, err))
        return false;
    for (size_t i = 0; i < 3; i++)
        if (text[i] != NULL && !write_file(start, file_name(start, i), text[i], err))
            return false;
    for (size_t i = 3; i-- > 0;)
        if (text[i] != NULL)
            fprintf(to, "%s: %s\n", file_name(start, i), what[i]);
    fprintf(to, "run it: clustersim %s    its report: out/%s/report.html\n", start->path,
            start->name);
    return true;
}

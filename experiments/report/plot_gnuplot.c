/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_gnuplot.c - runs gnuplot, and finds the line that says what was wrong.
 *
 * The chart is drawn into an empty file beside, and renamed.
 */
#include "experiments/report/plot_gnuplot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "experiments/process/program.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

#define LINE_BYTES 160

/* Finds the line that says what is wrong: one that begins with the script's name
 * in quotation marks, else the first, else none. gnuplot may first show the line
 * that it stumbled over. */
static void find_complaint(const char *said, char line[LINE_BYTES])
{
    line[0] = '\0';
    for (; *said != '\0'; said += strcspn(said, "\n")) {
        said += strspn(said, " \n");
        if (*said != '\0' && (line[0] == '\0' || (line[0] != '"' && *said == '"')))
            snprintf(line, LINE_BYTES, "%.*s", (int)strcspn(said, "\n"), said);
    }
}

/* False, with err. */
static bool say_why(struct err_pos pos, int status,
                    const char *complaint, struct err *err)
{
    if (status == PROGRAM_NOT_THERE) {
        err_set(err, ERR_IO, pos, "gnuplot is not installed: no chart drawn");
        return err_hint(err, "Install the package gnuplot-nox (Debian), then "
                        "run `clustersim plot` on the folder.");
    }
    return err_set(err, ERR_IO, pos, "gnuplot failed: %s",
                   complaint[0] != '\0' ? complaint : "it did not say why");
}

bool plot_gnuplot(struct arena *arena, const struct folder *dir,
                  const char *name, const char *format, struct err *err)
{
    char *script = text_format(arena, "%s.gp", name);
    const char *whole = text_format(arena, "%s.%s", name, format), *part;
    struct err_pos pos = { folder_join(arena, dir, whole), 0, 0 };
    char said[2048], complaint[LINE_BYTES];
    int at = folder_handle(dir), status = 0;
    int fd = out_part(arena, at, name, &part);
    bool ok = false;

    if (fd >= 0) {
        char *setting = text_format(arena, "format = '%s'; file = '%s'",
                                    format, part);
        char *const words[] = { "gnuplot", "-d", "-e", setting, script, NULL };

        const struct program program = { .word = words, .folder = at, .said = said,
                                         .said_bytes = sizeof said };

        (void)close(fd);
        status = program_run(&program);
        ok = status == 0 && renameat(at, part, at, whole) == 0;
    }
    if (!ok && status == 0)
        err_set(err, ERR_IO, pos, "cannot be drawn: %s", strerror(errno));
    if (status != 0) {
        pos.file = folder_join(arena, dir, script);
        find_complaint(said, complaint);
        say_why(pos, status, complaint, err);
    }
    if (!ok && fd >= 0)
        (void)unlinkat(at, part, 0);
    return ok;
}

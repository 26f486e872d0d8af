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
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

#define LINE_BYTES 160
#define LIMIT_S 120u            /* a chart takes a second; one that hangs is ended */

extern char **environ;

/* What would decide about a chart: its terminal and settings, fonts, and the locale. */
static bool decides(const char *variable)
{
    static const char *const begins[] = { "GNUTERM", "GNUPLOT_", "GNUHELP", "FIT_", "GDFONTPATH",
                                          "FONTLIST", "LC_", "LANG" };

    for (size_t i = 0; i < sizeof begins / sizeof begins[0]; i++)
        if (strncmp(variable, begins[i], strlen(begins[i])) == 0)
            return true;
    return false;
}

/* The environment without those. */
static char *const *plain_environment(struct arena *arena)
{
    size_t count = 0, kept = 0;

    while (environ[count] != NULL)
        count++;
    char **env = arena_alloc(arena, count + 2, sizeof *env);
    for (size_t i = 0; i < count; i++)
        if (!decides(environ[i]))
            env[kept++] = environ[i];
    env[kept++] = text_format(arena, "LC_ALL=C.UTF-8");
    return env;
}

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
    if (status == PROGRAM_TOO_LONG)
        return err_set(err, ERR_IO, pos, "gnuplot took more than %u s, and was ended",
                       LIMIT_S);
    return err_set(err, ERR_IO, pos, "gnuplot failed: %s",
                   complaint[0] != '\0' ? complaint : "it did not say why");
}

/* Runs the script of a chart with settings, which come before its first line.  False:
 * err says what gnuplot said. */
static bool run_script(struct arena *arena, const struct folder *dir, const char *name,
                       char *setting, struct err *err)
{
    char *script = text_format(arena, "%s.gp", name);
    char *const words[] = { "gnuplot", "-d", "-e", setting, script, NULL };
    struct err_pos pos = { folder_join(arena, dir, script), 0, 0 };
    char said[2048], complaint[LINE_BYTES];
    const struct program program = { .word = words, .folder = folder_handle(dir),
                                     .said = said, .said_bytes = sizeof said,
                                     .env = plain_environment(arena), .limit_s = LIMIT_S };
    int status = program_run(&program);

    if (status == 0)
        return true;
    find_complaint(said, complaint);
    return say_why(pos, status, complaint, err);
}

bool plot_gnuplot(struct arena *arena, const struct folder *dir,
                  const char *name, const char *format, struct err *err)
{
    const char *whole = text_format(arena, "%s.%s", name, format), *part;
    struct err_pos pos = { folder_join(arena, dir, whole), 0, 0 };
    int at = folder_handle(dir), fd = out_part(arena, at, name, &part);
    bool ok;

    if (fd < 0)
        return err_set(err, ERR_IO, pos, "cannot be drawn: %s", strerror(errno));
    (void)close(fd);
    ok = run_script(arena, dir, name, text_format(
                        arena, "format = '%s'; file = '%s'", format, part), err);
    if (ok && renameat(at, part, at, whole) != 0)
        ok = err_set(err, ERR_IO, pos, "cannot be drawn: %s", strerror(errno));
    if (!ok)
        (void)unlinkat(at, part, 0);
    return ok;
}

/* Removes the parts of a figure for TeX. */
static bool remove_tex(struct arena *arena, const struct folder *dir,
                       const char *name, struct err *err)
{
    static const char *const ending[] = { "-tex.tex", "-tex.pdf", "-caption.tex" };
    bool ok = true;

    for (size_t i = 0; ok && i < sizeof ending / sizeof ending[0]; i++)
        ok = folder_remove(arena, dir, text_format(arena, "%s%s", name, ending[i]),
                           err);
    return ok;
}

bool plot_gnuplot_tex(struct arena *arena, const struct folder *dir,
                      const char *name, struct err *err)
{
    struct err ignored = { 0 };

    if (!remove_tex(arena, dir, name, err))
        return false;
    if (run_script(arena, dir, name, text_format(
                       arena, "format = 'tex'; file = '%s-tex.tex'", name), err))
        return true;
    (void)remove_tex(arena, dir, name, &ignored);
    return false;
}

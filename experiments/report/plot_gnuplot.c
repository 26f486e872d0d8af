/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_gnuplot.c - fork, exec, and listen to what the program complains of.
 *
 * One line of its stderr is kept; all of it is read, so that it never waits.
 * The chart is drawn into an empty file beside, and renamed.
 */
#include "experiments/report/plot_gnuplot.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

#define NOT_INSTALLED 127       /* as a shell would say */
#define LINE_BYTES 160

struct complaint {
    char line[LINE_BYTES];      /* the one to tell, so far */
    char next[LINE_BYTES];      /* being read */
    size_t bytes;               /* of next */
};

/* After fork: only functions that a signal handler may call. */
static void child(int dir, const int *pipe_fd, char *const *words)
{
    int null = open("/dev/null", O_RDWR);

    if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 ||
        dup2(pipe_fd[1], 2) < 0 || fchdir(dir) != 0)
        _exit(1);
    close(pipe_fd[0]);
    close(pipe_fd[1]);
    execvp(words[0], words);
    _exit(errno == ENOENT ? NOT_INSTALLED : 1);
}

/* gnuplot may first show the line that it stumbled over, and says what is
 * wrong in a line that begins with the script's name in quotation marks. */
static void end_line(struct complaint *c)
{
    c->next[c->bytes] = '\0';
    if (c->bytes > 0 && (c->line[0] == '\0' ||
                         (c->line[0] != '"' && c->next[0] == '"')))
        memcpy(c->line, c->next, c->bytes + 1);
    c->bytes = 0;
}

static void hear(struct complaint *c, const char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] == '\n')
            end_line(c);
        else if (c->bytes + 1 < sizeof c->next &&
                 (c->bytes > 0 || bytes[i] != ' '))
            c->next[c->bytes++] = bytes[i];
    }
}

static int wait_for(pid_t pid, int fd, struct complaint *complaint)
{
    char buffer[512];
    int status;
    ssize_t got;

    while ((got = read(fd, buffer, sizeof buffer)) != 0) {
        if (got > 0)
            hear(complaint, buffer, (size_t)got);
        else if (errno != EINTR)
            break;
    }
    end_line(complaint);
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

static int run(int dir, char *const *words,
               struct complaint *complaint)
{
    int pipe_fd[2], status;
    pid_t pid;

    if (pipe(pipe_fd) != 0) {
        snprintf(complaint->line, LINE_BYTES, "%s", strerror(errno));
        return 1;
    }
    pid = fork();
    if (pid == 0)
        child(dir, pipe_fd, words);
    close(pipe_fd[1]);
    if (pid < 0) {
        snprintf(complaint->line, LINE_BYTES, "%s", strerror(errno));
        status = 1;
    } else {
        status = wait_for(pid, pipe_fd[0], complaint);
    }
    close(pipe_fd[0]);
    return status;
}

static bool say_why(struct err_pos pos, int status,
                    const struct complaint *complaint, struct err *err)
{
    if (status == NOT_INSTALLED) {
        err_set(err, ERR_IO, pos, "gnuplot is not installed: no chart drawn");
        return err_hint(err, "Install the package gnuplot-nox (Debian), then "
                        "run `clustersim plot` on the folder.");
    }
    return err_set(err, ERR_IO, pos, "gnuplot failed: %s",
                   complaint->line[0] != '\0' ? complaint->line
                                              : "it did not say why");
}

bool plot_gnuplot(struct arena *arena, const struct folder *dir,
                  const char *name, const char *format, struct err *err)
{
    char *script = text_format(arena, "%s.gp", name);
    const char *whole = text_format(arena, "%s.%s", name, format), *part;
    struct err_pos pos = { folder_join(arena, dir, whole), 0, 0 };
    struct complaint complaint = { "", "", 0 };
    int at = folder_handle(dir), status = 0;
    int fd = out_part(arena, at, name, &part);
    bool ok = false;

    if (fd >= 0) {
        char *setting = text_format(arena, "format = '%s'; file = '%s'",
                                    format, part);
        char *const words[] = { "gnuplot", "-d", "-e", setting, script, NULL };

        (void)close(fd);
        status = run(at, words, &complaint);
        ok = status == 0 && renameat(at, part, at, whole) == 0;
    }
    if (!ok && status == 0)
        err_set(err, ERR_IO, pos, "cannot be drawn: %s", strerror(errno));
    if (status != 0) {
        pos.file = folder_join(arena, dir, script);
        say_why(pos, status, &complaint, err);
    }
    if (!ok && fd >= 0)
        (void)unlinkat(at, part, 0);
    return ok;
}

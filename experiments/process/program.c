/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program.c - fork, exec, and listen.
 *
 * For programs that run to their end within a step of ours: the compiler,
 * gnuplot, git.  They get no input, and their stderr is the message if they
 * fail.
 */
#include "experiments/process/program.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/process/stop.h"

#define LISTEN_MS 100           /* between two looks for a signal that waits */

/* The child, after fork: only functions that a signal handler may call, since
 * other threads of the parent may have held locks. */
static void exec_program(const struct program *program, const int *pipe_fd, int answer_fd)
{
    int null = open("/dev/null", O_RDWR);

    if (null < 0 || dup2(null, 0) < 0 || dup2(answer_fd < 0 ? null : answer_fd, 1) < 0 ||
        dup2(pipe_fd[1], 2) < 0 ||
        (program->folder >= 0 && fchdir(program->folder) != 0) ||
        (program->held != NULL && sigprocmask(SIG_SETMASK, program->held, NULL) != 0))
        _exit(1);
    close(pipe_fd[0]);
    close(pipe_fd[1]);
    execvp(program->word[0], program->word);
    _exit(errno == ENOENT ? PROGRAM_NOT_THERE : 1);
}

/* Waits until there is something to read.  A signal that waits is sent on, once: from a
 * terminal the program has it already. */
static void listen_to(const struct program *program, int fd, pid_t pid, bool *sent)
{
    struct pollfd ready = { .fd = fd, .events = POLLIN };

    while (program->held != NULL && poll(&ready, 1, *sent ? -1 : LISTEN_MS) <= 0)
        if (!*sent && stop_waits()) {
            (void)kill(pid, SIGTERM);
            *sent = true;
        }
}

/* Reads stderr to its end and keeps what fits: a program whose pipe is not emptied
 * would wait for ever. */
static void read_all(const struct program *program, int fd, pid_t pid)
{
    char block[512];
    size_t used = 0;
    ssize_t got;
    bool sent = false;

    listen_to(program, fd, pid, &sent);
    while ((got = read(fd, block, sizeof block)) != 0) {
        size_t rest = program->said_bytes - 1 - used;

        if (got < 0) {
            if (errno != EINTR)
                break;
            continue;
        }
        if (rest > (size_t)got)
            rest = (size_t)got;
        memcpy(program->said + used, block, rest);
        used += rest;
        listen_to(program, fd, pid, &sent);
    }
    program->said[used] = '\0';
}

/* What the program wrote to stdout lies in a file. */
static void read_answer(const struct program *program, FILE *file)
{
    size_t got = 0;

    if (file != NULL) {
        rewind(file);
        got = fread(program->answer, 1, program->answer_bytes - 1, file);
        fclose(file);
    }
    if (program->answer != NULL)
        program->answer[got] = '\0';
}

/* Returns the exit status; 1 for an end by a signal. */
static int wait_for_exit(pid_t pid)
{
    int status;

    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return 1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int program_run(const struct program *program)
{
    FILE *answer = program->answer == NULL ? NULL : tmpfile();
    int pipe_fd[2] = { -1, -1 }, status = 1;
    pid_t pid = -1;

    assert(program->word[0] != NULL && program->said_bytes > 0);
    program->said[0] = '\0';
    if ((program->answer == NULL || answer != NULL) && pipe(pipe_fd) == 0)
        pid = fork();
    if (pid == 0)
        exec_program(program, pipe_fd, answer == NULL ? -1 : fileno(answer));
    if (pid < 0)
        snprintf(program->said, program->said_bytes, "%s", strerror(errno));
    if (pipe_fd[1] >= 0)
        close(pipe_fd[1]);
    if (pid > 0) {
        read_all(program, pipe_fd[0], pid);
        status = wait_for_exit(pid);
    }
    if (pipe_fd[0] >= 0)
        close(pipe_fd[0]);
    read_answer(program, answer);
    return status;
}

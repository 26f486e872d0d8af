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
#include <stdint.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiments/process/stop.h"
#include "experiments/process/system.h"

extern char **environ;

#define LISTEN_MS 100           /* between two looks for a signal that waits */
#define GRACE_MS 1000           /* between SIGTERM and SIGKILL */

/* A program that runs, and how it is told to end. */
struct child {
    const struct program *program;  /* what runs, and its limits */
    pid_t pid;                  /* of the program, and of its process group */
    struct timespec began, told;
    int sent;                   /* the last signal; 0: none yet */
    bool too_long;
};

/* The child, after fork: only functions that a signal handler may call, since
 * other threads of the parent may have held locks. */
static void exec_program(const struct program *program, const sigset_t *mask,
                         const int *pipe_fd, int answer_fd)
{
    int null = open("/dev/null", O_RDWR);

    (void)setpgid(0, 0);
    system_end_with_parent();
    if (program->env != NULL)
        environ = (char **)program->env;

    if (null < 0 || dup2(null, 0) < 0 || dup2(answer_fd < 0 ? null : answer_fd, 1) < 0 ||
        dup2(pipe_fd[1], 2) < 0 ||
        (program->folder >= 0 && fchdir(program->folder) != 0) ||
        sigprocmask(SIG_SETMASK, mask, NULL) != 0)
        _exit(1);
    close(pipe_fd[0]);
    close(pipe_fd[1]);
    execvp(program->word[0], program->word);
    _exit(errno == ENOENT ? PROGRAM_NOT_THERE : 1);
}

/* Returns milliseconds of wall time since then, to within one. */
static int64_t ms_since(const struct timespec *then)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)(now.tv_sec - then->tv_sec) * 1000 +
           (now.tv_nsec - then->tv_nsec) / 1000000;
}

/* All of its group, and the program itself where it has none yet. */
static void send_signal(struct child *child, int number)
{
    if (kill(-child->pid, number) != 0)
        (void)kill(child->pid, number);
    child->sent = number;
    clock_gettime(CLOCK_MONOTONIC, &child->told);
}

/* Ends the program if a signal waits here or its time is over. */
static void look_at(struct child *child)
{
    unsigned limit_s = child->program->limit_s;

    if (child->sent == SIGTERM && ms_since(&child->told) >= GRACE_MS)
        send_signal(child, SIGKILL);
    if (child->sent != 0)
        return;
    child->too_long = limit_s > 0 && ms_since(&child->began) >= (int64_t)limit_s * 1000;
    if (child->too_long || stop_waits())
        send_signal(child, SIGTERM);
}

/* Reads stderr to its end and keeps what fits: a program whose pipe is not emptied
 * would wait for ever. */
static void read_all(struct child *child, int fd)
{
    const struct program *program = child->program;
    struct pollfd ready = { .fd = fd, .events = POLLIN };
    char block[512];
    size_t used = 0;
    ssize_t got = 1;

    while (got != 0 && child->sent != SIGKILL) {
        int polled = poll(&ready, 1, LISTEN_MS);
        size_t rest = program->said_bytes - 1 - used;

        look_at(child);
        if (polled <= 0)
            continue;
        got = read(fd, block, sizeof block);
        if (got < 0 && errno != EINTR)
            break;
        if (got <= 0)
            continue;
        if (rest > (size_t)got)
            rest = (size_t)got;
        memcpy(program->said + used, block, rest);
        used += rest;
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
static int wait_for_exit(struct child *child)
{
    const struct timespec pause = { 0, LISTEN_MS * 100000L };
    int status = 0;
    pid_t got;

    /* One that has closed its stderr may still run. */
    while ((got = waitpid(child->pid, &status, WNOHANG)) == 0 ||
           (got < 0 && errno == EINTR)) {
        look_at(child);
        (void)nanosleep(&pause, NULL);
    }
    if (child->sent != 0)       /* what it started */
        (void)kill(-child->pid, SIGKILL);
    if (child->too_long)
        return PROGRAM_TOO_LONG;
    return got > 0 && WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

/* In the parent: until the program has ended. */
static int attend(const struct program *program, pid_t pid, int fd)
{
    struct child child = { .program = program, .pid = pid };

    (void)setpgid(pid, pid);    /* also in the child: either may run first */
    clock_gettime(CLOCK_MONOTONIC, &child.began);
    read_all(&child, fd);
    return wait_for_exit(&child);
}

int program_run(const struct program *program)
{
    FILE *answer = program->answer == NULL ? NULL : tmpfile();
    int pipe_fd[2] = { -1, -1 }, status = 1;
    sigset_t before;
    pid_t pid = -1;

    assert(program->word[0] != NULL && program->said_bytes > 0);
    program->said[0] = '\0';
    if (program->held == NULL)
        stop_hold(&before);
    if ((program->answer == NULL || answer != NULL) && pipe(pipe_fd) == 0)
        pid = fork();
    if (pid == 0)
        exec_program(program, program->held != NULL ? program->held : &before, pipe_fd,
                     answer == NULL ? -1 : fileno(answer));
    if (pid < 0)
        snprintf(program->said, program->said_bytes, "%s", strerror(errno));
    if (pipe_fd[1] >= 0)
        close(pipe_fd[1]);
    if (pid > 0)
        status = attend(program, pid, pipe_fd[0]);
    if (pipe_fd[0] >= 0)
        close(pipe_fd[0]);
    read_answer(program, answer);
    if (program->held == NULL)
        stop_release(&before);
    return status;
}

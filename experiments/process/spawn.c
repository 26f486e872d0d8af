/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spawn.c - fork, pipes and exec.
 *
 * Three pipes carry stdin, stdout and stderr.  A fourth one is closed by a successful
 * exec, and else tells errno, so that this process learns why the program does not run
 * before it sends anything.
 */
#include "experiments/process/spawn.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/process/isolate.h"
#include "experiments/process/system.h"
#include "experiments/process/talk.h"

/* Both ends of the four pipes, [0] to read from and [1] to write to. */
struct ends {
    int in[2], out[2], said[2], fault[2];
};

/* The child, after fork.  The program gets the usual signals, a group of its own,
 * so that Ctrl-C does not reach it, and no file of ours.  If it cannot be started,
 * errno goes through the fourth pipe. */
static _Noreturn void exec_program(const struct talk_plan *plan, const struct ends *ends,
                                   pid_t parent)
{
    struct sigaction usual = { .sa_handler = SIG_DFL };
    sigset_t none;
    int why;

    system_end_with_parent();
    (void)setpgid(0, 0);
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    sigaction(SIGPIPE, &usual, NULL);
    system_hide_files(3);
    if (plan->memory_bytes > 0)
        isolate_limit_memory(plan->memory_bytes);
    if (getppid() == parent && dup2(ends->in[0], 0) >= 0 && dup2(ends->out[1], 1) >= 0 &&
        dup2(ends->said[1], 2) >= 0 && chdir(plan->folder) == 0)
        execvp(plan->word[0], plan->word);
    why = errno;
    (void)!write(ends->fault[1], &why, sizeof why);
    _exit(127);
}

/* Opens all pipes or none. */
static bool open_ends(struct ends *ends)
{
    int (*pair[4])[2] = { &ends->in, &ends->out, &ends->said, &ends->fault };

    for (int i = 0; i < 4; i++)
        if (!system_pipe(*pair[i])) {
            while (i-- > 0) {
                close((*pair[i])[0]);
                close((*pair[i])[1]);
            }
            return false;
        }
    return true;
}

/* Closes the child's ends, then reads the fourth pipe: it is closed without a byte
 * when exec succeeds.  Returns 0 once the program runs, else the errno why it does
 * not. */
static int read_fault(struct ends *ends)
{
    int why = 0;
    ssize_t got;

    close(ends->in[0]);
    close(ends->out[1]);
    close(ends->said[1]);
    close(ends->fault[1]);
    while ((got = read(ends->fault[0], &why, sizeof why)) < 0 && errno == EINTR)
        continue;
    close(ends->fault[0]);
    return got > 0 ? why : 0;
}

void spawn_collect(pid_t pid)
{
    while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
        continue;
}

bool spawn_start(const struct talk_plan *plan, struct spawned *child, char *why,
                 size_t why_bytes)
{
    struct ends ends;
    pid_t parent = getpid(), pid;
    int fault;

    assert(plan->word[0] != NULL && plan->limit_ns > 0);
    if (!open_ends(&ends)) {
        snprintf(why, why_bytes, "cannot be started: %s", strerror(errno));
        return false;
    }
    pid = fork();
    if (pid == 0)
        exec_program(plan, &ends, parent);
    fault = read_fault(&ends);
    *child = (struct spawned){ pid, ends.in[1], ends.out[0], ends.said[0] };
    if (pid > 0 && fault == 0)
        return true;
    if (pid > 0)
        spawn_collect(pid);
    close(child->in);
    close(child->out);
    close(child->said);
    if (fault == ENOENT)
        snprintf(why, why_bytes, "is not there");
    else
        snprintf(why, why_bytes, "cannot be started: %s", strerror(fault ? fault : EAGAIN));
    return false;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program.h - runs another program to its end and keeps what it says.
 */
#ifndef EXPERIMENTS_PROCESS_PROGRAM_H
#define EXPERIMENTS_PROCESS_PROGRAM_H

#include <stddef.h>

/* Returned where there is no such program, as a shell would say. */
#define PROGRAM_NOT_THERE 127
/* Returned where the limit of time was over, as timeout(1) would say. */
#define PROGRAM_TOO_LONG 124

#include <signal.h>

struct program {
    char *const *word;          /* its name and its arguments, then NULL */
    int folder;                 /* handle of the folder to run in; -1: this one */
    char *said;                 /* [said_bytes]: what it writes to stderr, ended
                                   by NUL; the rest of a longer text is lost */
    size_t said_bytes;
    char *answer;               /* [answer_bytes]: likewise of stdout; or NULL */
    size_t answer_bytes;
    const sigset_t *held;       /* mask before stop_hold(), which the program gets; NULL: the
                                   signals are held back here, for as long as it runs */
    char *const *env;           /* its environment, ended by NULL; NULL: that of this one */
    unsigned limit_s;           /* seconds after which it is ended; 0: never */
};

/* Runs the program and waits for its end.  Its name is looked up in PATH; stdin is
 * /dev/null, and so is stdout unless `answer` takes it.  It has a process group of its own:
 * when a signal of stop.h waits here, or the limit of time is over, all of the group is
 * ended, by SIGTERM and a second later by SIGKILL, and it ends with this process in any
 * case (system.h).  Returns the exit status, PROGRAM_NOT_THERE, PROGRAM_TOO_LONG, or 1 where
 * the program could not be started (`said` then has the system's message) or was ended by
 * a signal. */
int program_run(const struct program *program);

#endif

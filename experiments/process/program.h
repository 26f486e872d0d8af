/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * program.h - runs another program to its end and keeps what it says.
 */
#ifndef EXPERIMENTS_PROCESS_PROGRAM_H
#define EXPERIMENTS_PROCESS_PROGRAM_H

#include <stddef.h>

/* Returned where there is no such program, as a shell would say. */
#define PROGRAM_NOT_THERE 127

#include <signal.h>

struct program {
    char *const *word;          /* its name and its arguments, then NULL */
    int folder;                 /* handle of the folder to run in; -1: this one */
    char *said;                 /* [said_bytes]: what it writes to stderr, ended
                                   by NUL; the rest of a longer text is lost */
    size_t said_bytes;
    char *answer;               /* [answer_bytes]: likewise of stdout; or NULL */
    size_t answer_bytes;
    const sigset_t *held;       /* mask before stop_hold(), which the program gets: it is
                                   ended by a signal that waits here; or NULL */
};

/* Runs the program and waits for its end, without a limit of time.  Its name is
 * looked up in PATH; stdin is /dev/null, and so is stdout unless `answer` takes it.
 * Returns the exit status, PROGRAM_NOT_THERE, or 1 where the program could not be
 * started (`said` then has the system's message) or was ended by a signal. */
int program_run(const struct program *program);

#endif

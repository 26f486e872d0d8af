/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * system.h - what Linux has beyond POSIX, and what is done without it.  Private to
 * experiments/process.
 *
 * Two processes that answer each other in turn run fastest on one processor: a message
 * to a sleeper on another, idle one takes ten times as long.  A pair keeps both there,
 * and looks from time to time whether others want that processor and one is idle.
 */
#ifndef EXPERIMENTS_PROCESS_SYSTEM_H
#define EXPERIMENTS_PROCESS_SYSTEM_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* For a child, at once after fork: it ends with its parent, as far as the system
 * can do that.  The caller must still compare getppid(), as the parent may have
 * ended before. */
void system_end_with_parent(void);
/* Files from this number on are closed where this process execs another program. */
void system_hide_files(int from);
/* Opens a pipe whose ends are closed where another program begins.  False: errno
 * says why. */
bool system_pipe(int fd[2]);
/* Returns how many processors this process may run on, at least 1; where the system does
 * not say, all that are on. */
unsigned system_processors(void);
/* Was this program built with a sanitizer that watches memory or threads? */
bool system_is_sanitized(void);
/* Can system_has_ended() be asked? */
bool system_sees_others(void);
/* Has a process of this user ended that another one started and has not waited for yet?
 * Then *status is what its parent will get from waitpid(). */
bool system_has_ended(pid_t pid, int *status);

struct system_pair;

/* Puts this process and the other, with its threads and children, on the processor
 * on which this one runs.  The caller frees the pair by system_pair_free().  NULL
 * where the system has no such calls; the functions below accept that. */
struct system_pair *system_pair_new(pid_t other);
/* To be called often: moves the pair to an idle processor if others want this one.
 * `now_ns` is CLOCK_MONOTONIC; most calls only compare it. */
void system_pair_look(struct system_pair *pair, int64_t now_ns);
/* Lets both go wherever this process might go before.  Accepts NULL. */
void system_pair_free(struct system_pair *pair);

#endif

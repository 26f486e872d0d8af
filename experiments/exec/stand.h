/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stand.h - programs that stay from trial to trial.
 *
 * A program that says `reuse` serves one trial after another.  It is started by the
 * process that runs trials, one for each thread, and lent to the process of each trial.
 * A trial that does not end well takes its program with it: the next one gets a new one.
 */
#ifndef EXPERIMENTS_EXEC_STAND_H
#define EXPERIMENTS_EXEC_STAND_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct cs_policy;
struct exec_stand;
struct exec_stands;

/* For `threads` threads; the caller frees it, once exec_stands_leave() was called for each
 * thread. */
struct exec_stands *exec_stands_new(uint32_t threads);
void exec_stands_free(struct exec_stands *stands);      /* accepts NULL */
/* Must be held around each fork of a trial (isolate_set_gate()). */
pthread_mutex_t *exec_stands_gate(struct exec_stands *stands);

/* Before the fork of a trial of this policy: starts its program if it does not stand.
 * `memory_bytes`: that a new one may have.  NULL: the policy is no program that stays, or
 * it cannot be started, which the trial then finds by itself. */
struct exec_stand *exec_stand_lend(struct exec_stands *stands, uint32_t thread,
                                   const struct cs_policy *policy, uint64_t memory_bytes);
/* In the process of the trial, before anything else; `stand` may be NULL. */
void exec_stand_enter(struct exec_stands *stands, struct exec_stand *stand);
/* After the end of that process; `well`: the trial came to its end. */
void exec_stand_return(struct exec_stands *stands, struct exec_stand *stand, bool well);
/* Ends the programs of a thread, in that thread. */
void exec_stands_leave(struct exec_stands *stands, uint32_t thread);

#endif

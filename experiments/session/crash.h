/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crash.h - trials that take their process with them.  Private to experiments/session.
 *
 * A trial that crashes the program is noted in .trials (experiments/trials/crashed.h), and the
 * program begins anew (experiments/process/rescue.h).  It then runs that trial in a process
 * of its own, where it fails without harm to others.  A trial that was lost so is passed over
 * by later runs of the same program under the same limits.
 */
#ifndef EXPERIMENTS_SESSION_CRASH_H
#define EXPERIMENTS_SESSION_CRASH_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct crash;
struct err;
struct experiment;
struct results;
struct runner_trial;
struct session_options;

/* Reads what an earlier run noted; without `resume` it is forgotten.  In the arena; the
 * results must stay open. */
struct crash *crash_open(struct arena *arena, const struct experiment *experiment,
                         const struct results *results,
                         const struct session_options *options);
/* Between these two, a crash of a thread is noted. */
void crash_arm(struct crash *crash);
void crash_disarm(struct crash *crash);

/* Of a thread, as the runner calls them (experiments/runner/runner.h); crash_mark(): this trial
 * begins there. */
void crash_enter(struct crash *crash, uint32_t thread);
void crash_leave(struct crash *crash, uint32_t thread);
void crash_mark(struct crash *crash, uint32_t thread, const struct experiment *experiment,
                uint32_t index);

/* Before a run: waiting trials that were lost in an earlier one fail at once, and *passed
 * counts them. */
void crash_pass_over(struct crash *crash, const struct experiment *experiment,
                     struct runner_trial *trial, uint32_t *passed);
/* Must the trial have a process of its own?  One of its policy has crashed, so the program
 * begins anew once for each policy that crashes, not for each trial. */
bool crash_is_alone(const struct crash *crash, const struct experiment *experiment,
                    uint32_t index);
/* Notes those that this run lost.  False: err says why that could not be written. */
bool crash_note(struct arena *arena, const struct crash *crash,
                const struct experiment *experiment, const struct runner_trial *trial,
                struct err *err);
/* Nothing failed: there is nothing to remember. */
void crash_forget(struct arena *arena, const struct crash *crash);

#endif

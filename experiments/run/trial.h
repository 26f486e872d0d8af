/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial.h - one run: a function of (experiment, point, policy, seed) and of
 * nothing else.
 */
#ifndef EXPERIMENTS_RUN_TRIAL_H
#define EXPERIMENTS_RUN_TRIAL_H

#include <stdbool.h>

#include "experiments/measure/result.h"
#include "experiments/spec/trial_spec.h"

struct cs_host;
struct err;
struct journal;

/* For a trial whose policy holds its decisions (policies/host/host.h): trial_open(),
 * then trial_go() until it is over, answering what the policy asks in between, then
 * trial_close().  trial_run() does all of it; only that takes the shorter way for
 * clusters that are a count of GPUs. */
enum trial_state { TRIAL_ASKS, TRIAL_OVER };
struct trial;
/* Begins a trial and stops before its first event.  `spec` and `tables` must live
 * as long as the trial. NULL: err says why. */
struct trial *trial_open(const struct trial_spec *spec, const struct trial_tables *tables,
                         struct err *err);
/* Ends the decision that is held, if one is, and runs to the next one that is
 * held, or to the end. */
enum trial_state trial_go(struct trial *trial);
/* Stores the result of a trial that is over, and audits it; the trial is freed in
 * any case.  False: as trial_run(). */
bool trial_close(struct trial *trial, struct trial_result *result, struct err *err);
/* Drops a trial, over or not; accepts NULL. */
void trial_drop(struct trial *trial);
/* Return the host and the journal of the trial, to look at and to listen to. */
struct cs_host *trial_host(const struct trial *trial);
struct journal *trial_journal(const struct trial *trial);
/* Is a job of the workload still to come? */
bool trial_job_to_come(const struct trial *trial);

/* Runs a whole trial. A function of spec alone: equal specs give equal results and
 * rows, in any thread.  False: err says why (ERR_POLICY, ERR_LIMIT,
 * ERR_INTERRUPTED ...); the tables may hold rows of the failed run.  A broken
 * audit is ERR_BUG with the fact that broke it. */
bool trial_run(const struct trial_spec *spec,
               const struct trial_tables *tables, struct trial_result *result,
               struct err *err);

#endif

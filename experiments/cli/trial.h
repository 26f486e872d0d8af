/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial.h - `clustersim run EXPERIMENT.yaml --trial N`, and what is kept of a trial that
 * is to be run so.
 */
#ifndef EXPERIMENTS_CLI_TRIAL_H
#define EXPERIMENTS_CLI_TRIAL_H

#include <stdbool.h>

struct args;
struct cli;
struct experiment;
struct session;

struct err;

/* Refuses --trial beside an option that it leaves without effect. */
bool cmd_trial_check(const struct args *args, struct err *err);
/* Runs trial N alone, in a thread of this process, so that a debugger sees it, and says
 * how it ended.  Nothing is written.  Returns the exit status. */
int cmd_trial_run(struct cli *cli, const struct args *args,
                  const struct experiment *experiment);
/* After a run in which trials failed by the program's fault: copies its inputs into the folder
 * `repro` of the results, and writes how each such trial is run from there. */
void cmd_trial_keep(struct cli *cli, const struct session *session);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tuned.h - an experiment as it is to be run: if it says `tuned: true`, its policies
 * are tuned first.
 */
#ifndef EXPERIMENTS_CLI_TUNED_H
#define EXPERIMENTS_CLI_TUNED_H

#include "experiments/cli/command.h"

struct experiment;

/* Reads the experiment as cmd_experiment_read() does; if it says `tuned: true`,
 * tunes its policies first, which runs trials.  NULL: err says why. */
const struct experiment *cmd_tuned_read(struct cli *cli, const struct args *args,
                                        struct err *err);

#endif

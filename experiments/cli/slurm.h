/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slurm.h - `clustersim run --slurm`.
 */
#ifndef EXPERIMENTS_CLI_SLURM_H
#define EXPERIMENTS_CLI_SLURM_H

#include <stdbool.h>

#include "experiments/cli/command.h"

/* Reads and checks the experiment, writes its batch files, and submits them, but for
 * --dry-run.  Returns the exit status. */
int cmd_slurm_run(struct cli *cli, const struct args *args);
/* Is --dry-run given without --slurm?  Then false and err. */
bool cmd_slurm_check(const struct args *args, struct err *err);

#endif

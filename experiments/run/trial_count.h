/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial_count.h - trials in which GPUs are no more than a count: jobs of known
 * length, first come first served or EASY, on nodes that are all alike.
 *
 * Their results are those of the host (policies/host/host.h), to the byte, without
 * its nodes, leases and phases: tests compare the two.
 */
#ifndef EXPERIMENTS_RUN_TRIAL_COUNT_H
#define EXPERIMENTS_RUN_TRIAL_COUNT_H

#include "experiments/run/trial.h"

/* May the trial be run this way?  If not, it needs the host. */
bool trial_count_applies(const struct trial_spec *spec,
                         const struct trial_tables *tables);
/* As trial_run(). */
bool trial_count_run(const struct trial_spec *spec,
                     const struct trial_tables *tables,
                     struct trial_result *result, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare_jobs.h - job by job: how long the same jobs took on both sides.
 */
#ifndef EXPERIMENTS_PAIRS_COMPARE_JOBS_H
#define EXPERIMENTS_PAIRS_COMPARE_JOBS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

struct err;

struct compare_jobs {
    const char *left, *right;   /* folders; right NULL: the policies of left
                                   against its baseline */
    int64_t block_ns;           /* jobs submitted within it are one sample */
};

/* Prints, for each point and pair of policies, how completion times of paired jobs differ:
 * of jobs that came after the warm-up and ended on both sides, and how many others there
 * are.
 * False: err says why; each folder needs summary.csv and jobs.csv. */
bool compare_jobs_print(FILE *file, const struct compare_jobs *what,
                        struct err *err);

#endif

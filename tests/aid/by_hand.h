/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * by_hand.h - worlds whose answer is worked out by hand: runs them and reads cells of
 * their tables.  All fail the test where something is missing.
 */
#ifndef TESTS_BY_HAND_H
#define TESTS_BY_HAND_H

#include "tests/aid/program.h"

/* Runs an experiment of one seed into FOLDER/out.  jobs: a CSV that it reads as jobs.csv,
 * or NULL. */
void hand_run(struct program *program, const char *yaml, const char *jobs);

/* The cell of a row of a table, by its policy and, where the table has one, its fourth
 * column (the job or the service); "" is NAN. */
double hand_cell(struct program *program, const char *table, const char *policy,
                 const char *job, const char *column);

/* The n-th (from 0) run of a phase of the only job under a policy: its start or end. */
double hand_phase(struct program *program, const char *policy, const char *name, int n,
                  const char *column);

/* Fails unless the value is the expected one, to a millionth of it. */
void hand_near(double value, double expected);

#endif

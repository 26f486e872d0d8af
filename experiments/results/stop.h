/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stop.h - have enough seeds been run?
 *
 * For an experiment whose `seeds:` says what they are to suffice for.  The question is asked
 * at sizes that follow from the file alone (sim/stats/looks.h).
 */
#ifndef EXPERIMENTS_RESULTS_STOP_H
#define EXPERIMENTS_RESULTS_STOP_H

#include <stdbool.h>

struct arena;
struct experiment;
struct grid;

/* Judges `grid`, of experiment->seeds seeds; sets `reached` and `why` of
 * experiment->stop.  True: no more seeds are to be run. */
bool stop_judge(struct arena *arena, struct experiment *experiment,
                const struct grid *grid);

#endif

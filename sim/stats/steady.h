/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * steady.h - does a run have a steady state, and from when on?
 */
#ifndef SIM_STATS_STEADY_H
#define SIM_STATS_STEADY_H

#include <stddef.h>

/* From the mean number of jobs in the system in each quarter of the time in which
 * jobs came.  Returns by how many jobs the last quarter is above what a queue at a
 * load of 1 would have come to, from the quarter before; at most 0 if the quarters
 * before do not rise.  Its mean over runs is above 0 only where the queue grows. */
double steady_growth(const double quarter[4]);
/* From the same: the last quarter less the first, over the mean of the four.  Its
 * mean over runs is 0 where each begins in its steady state. */
double steady_filling(const double quarter[4]);

#define STEADY_NONE ((size_t)-1)
#define STEADY_LEAST 50u
/* MSER-5: how many of the first values to leave out.  STEADY_NONE: fewer than
 * STEADY_LEAST are given, or more than half would be left out. */
size_t steady_after(const double *value, size_t count);

#endif

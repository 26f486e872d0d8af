/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * growth.h - does the queue grow, and was the system still filling?
 *
 * One-sided tests at 5% of the means of queue_growth and queue_filling over the
 * seeds (sim/stats/steady.h).  tests/sim/steady_test.c measures both.
 */
#ifndef EXPERIMENTS_RESULTS_GROWTH_H
#define EXPERIMENTS_RESULTS_GROWTH_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct grid;

/* Fewer seeds say nothing. */
#define GROWTH_SEEDS_LEAST 3u

/* Are there seeds enough to tell? */
bool growth_known(const struct grid *grid, uint32_t point, uint32_t policy);
/* Does the queue grow as long as jobs come? */
bool growth_told(const struct grid *grid, uint32_t point, uint32_t policy);
/* Returns a line that says so of a policy; NULL: it does so at no point. */
const char *growth_text(struct arena *arena, const struct grid *grid,
                        uint32_t policy);
/* Returns a line that says that runs of a policy begin emptier than they end, and
 * which warm-up MSER-5 would choose; NULL: they do so at no point.  It speaks of
 * runs that end at a time and whose queue does not grow. */
const char *growth_warmup_text(struct arena *arena, const struct grid *grid,
                               uint32_t policy);

#endif

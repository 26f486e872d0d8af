/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rank.h - times the rows of advice and sorts them.
 */
#ifndef EXPERIMENTS_ADVISE_RANK_H
#define EXPERIMENTS_ADVISE_RANK_H

#include <stdbool.h>
#include <stddef.h>

struct advice;
struct advise_row;

/* Times these rows exactly: the best `top` by time and by cost, the Pareto
 * front, and those of a chart.  Then marks the Pareto front among them. */
void advise_rank(struct advice *advice, size_t top);
/* Sets *rows to the timed rows, best first; returns their number. */
size_t advise_order(const struct advice *advice, bool by_time,
                    const struct advise_row ***rows);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rank.h - rows of advice, timed and put in order.
 */
#ifndef EXPERIMENTS_ADVISE_RANK_H
#define EXPERIMENTS_ADVISE_RANK_H

#include <stdbool.h>
#include <stddef.h>

struct advice;
struct advise_row;

/* Times exactly the best `top` by either measure, the Pareto front, and what
 * a chart needs; then marks the front among them. */
void advise_rank(struct advice *advice, size_t top);
/* The timed rows, best first. */
size_t advise_order(const struct advice *advice, bool by_time,
                    const struct advise_row ***rows);

#endif

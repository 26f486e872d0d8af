/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mean_text.h - a mean as the table of a run has it.  Private to experiments/decide.
 */
#ifndef EXPERIMENTS_DECIDE_MEAN_TEXT_H
#define EXPERIMENTS_DECIDE_MEAN_TEXT_H

#include <stdbool.h>

#include "experiments/results/summary_table.h"
#include "sim/stats/stats.h"

#define MEAN_TEXT_BYTES 96
/* Writes "5695 ± 334" into MEAN_TEXT_BYTES bytes: the mean and the longer side of its
 * interval, with a question mark where that is not trusted; "-" without a sample. */
void mean_text(char *out, struct stats_mean m, struct summary_unit unit, bool trusted);
/* Writes one value likewise; NAN: "-". */
void value_text(char *out, double value, struct summary_unit unit);

#endif

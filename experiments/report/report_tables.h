/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_tables.h - one point of the sweep in the report: means, differences,
 * and where GPU time went.
 */
#ifndef EXPERIMENTS_REPORT_REPORT_TABLES_H
#define EXPERIMENTS_REPORT_REPORT_TABLES_H

#include <stdint.h>

struct out;
struct plot_source;

/* Writes means, GPU time by cause, and sentences on both, of one point. */
void report_point(struct out *out, const struct plot_source *source,
                  uint32_t point);

#endif

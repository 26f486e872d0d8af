/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.h - report.html of a results folder, made from its files alone.
 *
 * It reads summary.csv, compare.csv, checks.csv, border.csv, sensitivity.csv,
 * failures.csv, audit.json, provenance.json and plots/, as far as they are there.
 */
#ifndef EXPERIMENTS_REPORT_REPORT_H
#define EXPERIMENTS_REPORT_REPORT_H

#include <stdbool.h>

struct err;
struct grid;

/* Writes dir/report.html, one file with its pictures in it; an earlier one is replaced as a
 * whole.  `grid` is what summary.csv holds, for a caller that has it; or NULL.  False: err
 * says why. */
bool report_write(const char *dir, const struct grid *grid, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * growth.h - how the time a job grows with GPUs and with what waits:
 * `clustersim bench --suite growth`.
 */
#ifndef TESTS_BENCH_GROWTH_H
#define TESTS_BENCH_GROWTH_H

#include <stdbool.h>

struct bench_cluster_options;
struct err;

/* Prints a row for each policy and load, and writes it to options->csv, if there is
 * one.  False: *err says why. */
bool bench_growth(const struct bench_cluster_options *options, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_json.h - trace.json for ui.perfetto.dev, made from phases.csv.
 */
#ifndef EXPERIMENTS_RESULTS_TRACE_JSON_H
#define EXPERIMENTS_RESULTS_TRACE_JSON_H

#include <stdbool.h>

struct err;
struct folder;

bool trace_json_write(const struct folder *dir, struct err *err);

#endif

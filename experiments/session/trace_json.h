/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_json.h - trace.json for ui.perfetto.dev, made from phases.csv.
 */
#ifndef EXPERIMENTS_SESSION_TRACE_JSON_H
#define EXPERIMENTS_SESSION_TRACE_JSON_H

#include <stdbool.h>

struct err;
struct folder;

/* Writes trace.json into the folder, in Chrome's trace event format, from its
 * phases.csv: a process for each trial with phases, a thread for each role of a
 * job.  False: err says why. */
bool trace_json_write(const struct folder *dir, struct err *err);

#endif

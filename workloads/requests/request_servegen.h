/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request_servegen.h - requests drawn from a client of ServeGen (Xiang et al.,
 * Alibaba 2025), chunk-N-trace.csv with chunk-N-dataset.json beside it.
 */
#ifndef WORKLOADS_REQUESTS_REQUEST_SERVEGEN_H
#define WORKLOADS_REQUESTS_REQUEST_SERVEGEN_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/err.h"

struct arena;
struct servegen;

/* Opens both files; NULL: *err says what is wrong, and where. */
struct servegen *servegen_open(struct arena *arena, const char *path,
                               struct err *err);
/* Draws the next request, in order of time; every open gives the same requests.
 * False: there are no more.  *at_ns is on the clock of the trace; *prompt is at
 * least 1 token, *output may be 0. */
bool servegen_next(struct servegen *client, int64_t *at_ns, int64_t *prompt,
                   int64_t *output);

#endif

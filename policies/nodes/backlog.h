/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backlog.h - nodes and power for the tasks that wait.  For rent.c.
 */
#ifndef POLICIES_NODES_BACKLOG_H
#define POLICIES_NODES_BACKLOG_H

#include <stdint.h>

struct cs_host;

/* Counts the tasks that wait, in their order: adds to `wanted` and `planned` of each group,
 * and to planned_mw and drawn_mw, which the caller has set to 0; it has also set `room`.
 * Returns the earliest time at which another task will have waited long enough, or
 * CLOCK_NEVER_NS. */
int64_t host_backlog_count(struct cs_host *host);

#endif

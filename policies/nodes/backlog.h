/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * backlog.h - nodes and power for the tasks that wait.  For rent.c.
 */
#ifndef POLICIES_NODES_BACKLOG_H
#define POLICIES_NODES_BACKLOG_H

#include <stdint.h>

struct cs_host;

/* Counts the tasks that wait, in their order: `wanted` and `planned` of each group, and
 * planned_mw and drawn_mw, which are 0 before, as is `room` set.  Returns the earliest time
 * at which another task will have waited long enough, or CLOCK_NEVER_NS. */
int64_t host_backlog_count(struct cs_host *host);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * watchdog.h - ends a run that goes on without getting anywhere.
 *
 * A run moves when a job comes, or ends, or gets further than it ever was,
 * when a phase has run since the last look, when a service is asked or
 * answers, and for as long as jobs are still to come.  Decisions, rentals,
 * failures and repairs are no movement: they can go on for ever.
 *
 * It looks eight times in the time that is allowed, between two events, and
 * adds no event: a run that moves is the same with it and without it.
 */
#ifndef EXPERIMENTS_RUN_WATCHDOG_H
#define EXPERIMENTS_RUN_WATCHDOG_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct cs_host;
struct trial_serve;
struct watchdog;

/* Returns the watchdog, in the arena. stalled_ns: simulated time that is allowed
 * without movement. serve: NULL, no services. */
struct watchdog *watchdog_new(struct arena *arena, const struct cs_host *host,
                              const struct trial_serve *serve,
                              int64_t stalled_ns);
/* Returns when it looks next, if it looked at now_ns. */
int64_t watchdog_next_ns(const struct watchdog *dog, int64_t now_ns);
/* False: nothing has moved for as long as is allowed. */
bool watchdog_look(struct watchdog *dog, int64_t now_ns, bool jobs_to_come);

#endif

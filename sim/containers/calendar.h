/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calendar.h - when what runs should end, and how many GPUs come back then.
 *
 * For backfill: when will so many be free, and how many more by that time?
 * What ends first is asked for most, and is found at once.
 */
#ifndef SIM_CONTAINERS_CALENDAR_H
#define SIM_CONTAINERS_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct calendar;

/* Lives in the arena. */
struct calendar *calendar_new(struct arena *arena);

/* An id may be there once; a time is any, CLOCK_NEVER_NS too. */
void calendar_add(struct calendar *ends, int64_t end_ns, uint32_t id, uint32_t gpus);
/* False: it is not there.  end_ns is that of calendar_add. */
bool calendar_drop(struct calendar *ends, int64_t end_ns, uint32_t id);

/* The first end with which so many GPUs are back, at least 1; CLOCK_NEVER_NS:
 * all together have less. */
int64_t calendar_when(const struct calendar *ends, uint64_t gpus);
/* GPUs of all that end at that time or before it. */
uint64_t calendar_by(const struct calendar *ends, int64_t time_ns);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calendar.h - when leases should end, and how many GPUs they free then.
 *
 * For backfill: when will a number of GPUs be free, and how many are free by a
 * time?  The lease that ends first is found without a search.
 *
 * With n ends, adding and removing take O(log n + n / 64) with a small factor;
 * a question walks over blocks, O(n / 64) at most, and is done after a few
 * where few GPUs are asked for. Equal times are in the order of ids. Memory is
 * the arena's, and nothing here fails.
 */
#ifndef SIM_CONTAINERS_CALENDAR_H
#define SIM_CONTAINERS_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct calendar;

/* Returns an empty calendar in the arena. */
struct calendar *calendar_new(struct arena *arena);

/* Adds an id, which must not be there yet.  end_ns may be CLOCK_NEVER_NS. */
void calendar_add(struct calendar *ends, int64_t end_ns, uint32_t id, uint32_t gpus);
/* Removes an id; end_ns must be that of calendar_add().  False: the id is not
 * there. */
bool calendar_drop(struct calendar *ends, int64_t end_ns, uint32_t id);

/* Returns the first time by which at least `gpus` (>= 1) GPUs have been freed;
 * CLOCK_NEVER_NS: all leases together have fewer. */
int64_t calendar_when(const struct calendar *ends, uint64_t gpus);
/* Returns the GPUs that are freed up to and at that time. */
uint64_t calendar_by(const struct calendar *ends, int64_t time_ns);

#endif

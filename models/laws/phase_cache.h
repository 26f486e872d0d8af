/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase_cache.h - a cache of the plans of phases, for one trial.
 *
 * A trial starts the same few phases on the same few kinds of gang a million
 * times.  The part that does not depend on the draw is computed once per (law,
 * gang).  Results are equal to those of phase.h to the bit.
 */
#ifndef MODELS_LAWS_PHASE_CACHE_H
#define MODELS_LAWS_PHASE_CACHE_H

#include "models/laws/phase.h"

struct arena;
struct phase_cache;

/* Returns an empty cache in the arena.  Laws must outlive it: their addresses
 * are the keys. */
struct phase_cache *phase_cache_new(struct arena *arena);
/* Return what phase_plan() and phase_seconds() return. */
struct phase_plan phase_cache_plan(struct phase_cache *cache,
                                   const struct phase_law *law,
                                   const struct gang *gang, double u);
double phase_cache_seconds(struct phase_cache *cache,
                           const struct phase_law *law,
                           const struct gang *gang, double u);
/* Returns the number of entries, each of which took one full computation. */
uint32_t phase_cache_count(const struct phase_cache *cache);

#endif

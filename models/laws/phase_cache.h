/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase_cache.h - plans of phases that were made before, in one trial.
 *
 * A trial starts the same few phases on the same few kinds of gang a million
 * times.  What does not depend on the draw is computed once per (law, gang);
 * the answers are those of phase.h to the bit.
 */
#ifndef MODELS_LAWS_PHASE_CACHE_H
#define MODELS_LAWS_PHASE_CACHE_H

#include "models/laws/phase.h"

struct arena;
struct phase_cache;

/* Laws must outlive the cache: they are told apart by address. */
struct phase_cache *phase_cache_new(struct arena *arena);
struct phase_plan phase_cache_plan(struct phase_cache *cache,
                                   const struct phase_law *law,
                                   const struct gang *gang, double u);
double phase_cache_seconds(struct phase_cache *cache,
                           const struct phase_law *law,
                           const struct gang *gang, double u);
/* Entries made so far: each cost one full computation. */
uint32_t phase_cache_count(const struct phase_cache *cache);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase_cache.c - a small table with open addressing, at most half full.
 *
 * Where an entry lies depends on addresses, what is found does not: the table
 * is only ever asked for one key, never walked but to grow.
 */
#include "models/laws/phase_cache.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "models/laws/rollout.h"
#include "sim/base/arena.h"

#define FIRST_SLOTS 64u

struct entry {
    const struct phase_law *law;        /* NULL: free */
    struct gang gang;
    struct phase_plan plan;             /* all laws but LAW_ROLLOUT */
    const struct rollout_plan *rollout; /* LAW_ROLLOUT, else NULL */
};

/* Open addressing; entries are not moved when the table grows, so that
 * pointers to them stay good. */
struct phase_cache {
    struct arena *arena;        /* of the trial */
    struct entry **slot;        /* [slots]; NULL: empty */
    uint32_t slots, count;              /* slots: a power of two */
};

struct phase_cache *phase_cache_new(struct arena *arena)
{
    assert(arena != NULL);
    struct phase_cache *cache = arena_alloc(arena, 1, sizeof *cache);
    cache->arena = arena;
    cache->slots = FIRST_SLOTS;
    cache->slot = arena_alloc(arena, FIRST_SLOTS, sizeof *cache->slot);
    return cache;
}

/* The finalizer of MurmurHash3 (Appleby), over the parts that differ most. */
static uint32_t hash_key(const struct phase_law *law, const struct gang *gang)
{
    assert(law != NULL && gang != NULL);
    uint64_t x = (uint64_t)(uintptr_t)law;
    x = x * 31 + (uint64_t)(uintptr_t)gang->gpu;
    x = x * 31 + gang->gpus;
    x = x * 31 + gang->nodes;
    x = x * 31 + gang->cores;
    x ^= x >> 33;
    x *= UINT64_C(0xff51afd7ed558ccd);
    x ^= x >> 33;
    return (uint32_t)x;
}

/* Gangs are compared part by part, since padding bytes of a struct may
 * differ. */
static bool same_gang(const struct gang *a, const struct gang *b)
{
    assert(a != NULL && b != NULL);
    return a->gpu == b->gpu && a->gpus == b->gpus && a->nodes == b->nodes &&
           a->cores == b->cores && a->cpu == b->cpu &&
           a->intra_bps == b->intra_bps && a->inter_bps == b->inter_bps &&
           a->pcie_bps == b->pcie_bps &&
           a->intra_latency_s == b->intra_latency_s &&
           a->inter_latency_s == b->inter_latency_s;
}

/* The slot of that key, or the free one where it belongs. */
static struct entry **find_slot(const struct phase_cache *cache,
                                const struct phase_law *law,
                                const struct gang *gang)
{
    uint32_t mask = cache->slots - 1, i = hash_key(law, gang) & mask;
    assert(cache->count < cache->slots);
    for (; cache->slot[i] != NULL; i = (i + 1) & mask)
        if (cache->slot[i]->law == law && same_gang(&cache->slot[i]->gang,
                                                    gang))
            break;
    return &cache->slot[i];
}

/* Doubles the table and files its entries again. */
static void grow_cache(struct phase_cache *cache)
{
    struct entry **old = cache->slot;
    uint32_t slots = cache->slots;
    cache->slots = 2 * slots;
    cache->slot = arena_alloc(cache->arena, cache->slots, sizeof *cache->slot);
    for (uint32_t i = 0; i < slots; i++)
        if (old[i] != NULL)
            *find_slot(cache, old[i]->law, &old[i]->gang) = old[i];
}

/* Evaluates the law once; of a rollout what does not depend on the draw. */
static struct entry *make_entry(struct phase_cache *cache,
                                const struct phase_law *law,
                                const struct gang *gang)
{
    assert(law != NULL && gang != NULL);
    struct entry *entry = arena_alloc(cache->arena, 1, sizeof *entry);
    entry->law = law;
    entry->gang = *gang;
    if (law->kind != LAW_ROLLOUT || !phase_can_run(law, gang)) {
        entry->plan = phase_plan(law, gang, 0.5);
        return entry;
    }
    struct rollout_plan *rollout =
        arena_alloc(cache->arena, 1, sizeof *rollout);
    rollout_plan_init(rollout, &law->rollout, gang);
    entry->rollout = rollout;
    return entry;
}

struct phase_plan phase_cache_plan(struct phase_cache *cache,
                                   const struct phase_law *law,
                                   const struct gang *gang, double u)
{
    assert(cache != NULL && law != NULL && gang != NULL);
    struct entry **slot = find_slot(cache, law, gang);
    if (*slot == NULL) {
        if (2 * (cache->count + 1) > cache->slots) {
            grow_cache(cache);
            slot = find_slot(cache, law, gang);
        }
        *slot = make_entry(cache, law, gang);
        cache->count++;
    }
    const struct entry *entry = *slot;
    if (entry->rollout == NULL)
        return entry->plan;
    return phase_rollout_drawn(law, gang, entry->rollout, u);
}

double phase_cache_seconds(struct phase_cache *cache,
                           const struct phase_law *law,
                           const struct gang *gang, double u)
{
    assert(cache != NULL);
    assert(u >= 0.0 && u < 1.0);
    double rate = phase_cache_plan(cache, law, gang, u).rate_max;
    return rate > 0.0 ? 1.0 / rate : INFINITY;
}

uint32_t phase_cache_count(const struct phase_cache *cache)
{
    assert(cache != NULL);
    return cache->count;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prefix_cache.h - which beginnings of prompts a replica has computed already.
 *
 * A prompt begins with blocks of tokens, each named by a number that stands for
 * it and all before it (as the hash_ids of Mooncake's traces do): two prompts
 * share a beginning as far as their numbers agree.  What was not used for the
 * longest time goes when the cache is full (vLLM, SGLang).
 */
#ifndef MODELS_SERVING_PREFIX_CACHE_H
#define MODELS_SERVING_PREFIX_CACHE_H

#include <stdint.h>

struct arena;
struct prefix_cache;

/* A beginning: `count` blocks of so many tokens each. */
struct prefix {
    const uint64_t *block;
    uint32_t count;
    uint32_t block_tokens;
};

/* Holds at most so many tokens; 0: nothing. */
struct prefix_cache *prefix_cache_new(struct arena *arena, uint64_t tokens);
/* Tokens of the beginning that it has. */
uint32_t prefix_cache_match(const struct prefix_cache *cache,
                            const struct prefix *prefix);
/* The same; afterwards it has all of them, as far as they fit. */
uint32_t prefix_cache_use(struct prefix_cache *cache,
                          const struct prefix *prefix);
/* Now. */
uint64_t prefix_cache_tokens(const struct prefix_cache *cache);

#endif

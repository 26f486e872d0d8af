/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prefix_cache.h - the prefixes of prompts whose KV cache a replica keeps.
 *
 * A prefix is a sequence of blocks of tokens.  Each block has a number that
 * identifies this block and all before it (as hash_ids in Mooncake's traces):
 * two prompts share their first n blocks if their first n numbers are equal.
 * When the cache is full, the least recently used blocks are evicted (vLLM,
 * SGLang).
 */
#ifndef MODELS_SERVING_PREFIX_CACHE_H
#define MODELS_SERVING_PREFIX_CACHE_H

#include <stdint.h>

struct arena;
struct prefix_cache;

/* `count` blocks of block_tokens tokens each. */
struct prefix {
    const uint64_t *block;      /* their numbers, first block first */
    uint32_t count;
    uint32_t block_tokens;
};

/* Returns an empty cache that holds at most `tokens` tokens. */
struct prefix_cache *prefix_cache_new(struct arena *arena, uint64_t tokens);
/* Returns how many tokens of the prefix are in the cache. */
uint32_t prefix_cache_match(const struct prefix_cache *cache,
                            const struct prefix *prefix);
/* Returns the same, then adds all blocks of the prefix that fit. */
uint32_t prefix_cache_use(struct prefix_cache *cache,
                          const struct prefix *prefix);
/* Returns the tokens that the cache holds. */
uint64_t prefix_cache_tokens(const struct prefix_cache *cache);

#endif

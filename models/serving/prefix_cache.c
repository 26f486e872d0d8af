/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * prefix_cache.c - a table of blocks, chained by hash, in a list by last use.
 *
 * Blocks of one prompt are touched from the last to the first, so that the end
 * of a beginning goes before its start.
 */
#include "models/serving/prefix_cache.h"

#include <assert.h>
#include <stdbool.h>

#include "sim/base/arena.h"

#define NONE UINT32_MAX

struct entry {
    uint64_t block;             /* its number, which stands for the blocks before it too */
    uint32_t tokens;            /* of the block */
    uint32_t older, newer;      /* by last use */
    uint32_t chain;             /* next of the same bucket, or spare */
};

/* Entries are found by the hash of their block and listed by their last use;
 * both lists are of indices, since the array of entries grows. */
struct prefix_cache {
    struct arena *arena;        /* of the trial */
    struct entry *entry;
    uint32_t *bucket;           /* room of them */
    uint32_t room, count, spare;
    uint32_t oldest, newest;
    uint64_t tokens, tokens_max;    /* kept; that there is room for */
};

/* Multiplicative hashing by the golden ratio; the upper bits are the good
 * ones. */
static uint32_t bucket_of(const struct prefix_cache *c, uint64_t block)
{
    uint64_t mixed = block * UINT64_C(0x9e3779b97f4a7c15);

    return (uint32_t)(mixed >> 32) & (c->room - 1);
}

struct prefix_cache *prefix_cache_new(struct arena *arena, uint64_t tokens)
{
    assert(arena != NULL);
    struct prefix_cache *c = arena_alloc(arena, 1, sizeof *c);

    c->arena = arena;
    c->tokens_max = tokens;
    c->spare = c->oldest = c->newest = NONE;
    return c;
}

/* Returns the entry of a block; NONE: it is not cached. */
static uint32_t find_block(const struct prefix_cache *c, uint64_t block)
{
    if (c->room == 0)
        return NONE;
    uint32_t i = c->bucket[bucket_of(c, block)];

    while (i != NONE && c->entry[i].block != block)
        i = c->entry[i].chain;
    return i;
}

/* Puts an entry into the chain of its bucket. */
static void chain_in(struct prefix_cache *c, uint32_t i)
{
    uint32_t *head = &c->bucket[bucket_of(c, c->entry[i].block)];

    c->entry[i].chain = *head;
    *head = i;
}

/* Doubles entries and buckets together; all chains are made anew. */
static void grow_cache(struct prefix_cache *c)
{
    ARENA_REACH(c->arena, c->entry, c->room, c->count);
    assert((c->room & (c->room - 1)) == 0);     /* as bucket_of() needs */
    c->bucket = arena_alloc(c->arena, c->room, sizeof *c->bucket);
    for (uint32_t b = 0; b < c->room; b++)
        c->bucket[b] = NONE;
    for (uint32_t i = 0; i < c->count; i++)
        chain_in(c, i);
}

/* Takes an entry out of the list by last use, and puts one at its new end. */
static void unlink_use(struct prefix_cache *c, uint32_t i)
{
    struct entry *e = &c->entry[i];

    if (e->older != NONE)
        c->entry[e->older].newer = e->newer;
    else
        c->oldest = e->newer;
    if (e->newer != NONE)
        c->entry[e->newer].older = e->older;
    else
        c->newest = e->older;
}

/* Puts an entry at the young end of the list by last use. */
static void link_newest(struct prefix_cache *c, uint32_t i)
{
    c->entry[i].older = c->newest;
    c->entry[i].newer = NONE;
    if (c->newest != NONE)
        c->entry[c->newest].newer = i;
    else
        c->oldest = i;
    c->newest = i;
}

/* Drops the block that was used longest ago; its entry serves another one. */
static void drop_oldest(struct prefix_cache *c)
{
    uint32_t i = c->oldest;
    uint32_t *at = &c->bucket[bucket_of(c, c->entry[i].block)];

    unlink_use(c, i);
    while (*at != i)
        at = &c->entry[*at].chain;
    *at = c->entry[i].chain;
    c->tokens -= c->entry[i].tokens;
    c->entry[i].chain = c->spare;
    c->spare = i;
}

/* Adds a block that was just used. */
static void add_block(struct prefix_cache *c, uint64_t block, uint32_t tokens)
{
    uint32_t i = c->spare;

    if (i != NONE) {
        c->spare = c->entry[i].chain;
    } else {
        /* All entries made so far are in use: chains hold just those. */
        if (c->count == c->room)
            grow_cache(c);
        i = c->count++;
    }
    c->entry[i].block = block;
    c->entry[i].tokens = tokens;
    chain_in(c, i);
    link_newest(c, i);
    c->tokens += tokens;
}

/* Blocks count only up to the first that is missing: later ones cannot be used
 * without it. */
uint32_t prefix_cache_match(const struct prefix_cache *c,
                            const struct prefix *prefix)
{
    assert(c != NULL && prefix != NULL);
    uint32_t n = 0;

    while (n < prefix->count && find_block(c, prefix->block[n]) != NONE)
        n++;
    return n * prefix->block_tokens;
}

/* Blocks are used from the last to the first, so that the first of a prefix
 * are the newest: without them the later ones are worth nothing, and they must
 * be dropped last. */
uint32_t prefix_cache_use(struct prefix_cache *c, const struct prefix *prefix)
{
    assert(c != NULL && prefix != NULL);
    uint32_t had = prefix_cache_match(c, prefix);
    uint64_t fits = c->tokens_max / (prefix->block_tokens > 0
                                         ? prefix->block_tokens : 1);
    uint32_t n = prefix->count < fits ? prefix->count : (uint32_t)fits;

    while (n-- > 0) {
        uint32_t i = find_block(c, prefix->block[n]);

        if (i != NONE) {
            unlink_use(c, i);
            link_newest(c, i);
            continue;
        }
        while (c->tokens + prefix->block_tokens > c->tokens_max)
            drop_oldest(c);
        add_block(c, prefix->block[n], prefix->block_tokens);
    }
    return had;
}

uint64_t prefix_cache_tokens(const struct prefix_cache *c)
{
    assert(c != NULL);
    return c->tokens;
}

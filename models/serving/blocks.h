/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * blocks.h - the blocks of a replica's KV cache.  For the files of this room only.
 */
#ifndef MODELS_SERVING_BLOCKS_H
#define MODELS_SERVING_BLOCKS_H

#include <stdbool.h>
#include <stdint.h>

struct flight;
struct replica;

/* Returns the blocks that a context of `tokens` takes. */
uint32_t service_blocks(const struct replica *replica, uint32_t tokens);
/* Begins with blocks_max free ones. */
void service_blocks_begin(struct replica *replica);
/* Returns the whole blocks that are left of a context of `tokens` of a request that was thrown
 * out, from its beginning on, and sets its known_tokens; 0: it was not, or none is left. */
uint32_t service_blocks_kept(const struct replica *replica, struct flight *flight,
                             uint32_t tokens);
/* Gives a request that was taken from the queue its blocks for `tokens`: `kept` that are left. */
void service_blocks_take(struct replica *replica, struct flight *flight, uint32_t kept,
                         uint32_t tokens);
/* Gives a request more for `tokens`, if it has too few. */
void service_blocks_grow(struct replica *replica, struct flight *flight, uint32_t tokens);
/* Frees the blocks of one that is done. */
void service_blocks_free(struct replica *replica, struct flight *flight);
/* Frees those of one that is thrown out, before it is put into the queue.  computed: they hold
 * its context. */
void service_blocks_throw(struct replica *replica, struct flight *flight, bool computed);
/* Those that wait go to other replicas: none of them has any. */
void service_blocks_forget(struct replica *replica);
/* The replica goes, and its blocks with it: no request has any. */
void service_blocks_lose(struct replica *replica);

#endif

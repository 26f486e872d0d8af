/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heap4.h - an event loop over a plain 4-ary heap, for tests and `bench`.
 *
 * It has the order, handles and digest of loop.h, with the simplest structure
 * that is not slow: an implicit heap of 16-byte entries that store their push
 * number; a dead entry stays until it is popped.  At most 2^24 events are
 * pending and 2^37 pushed.  Tests compare loop.c with it event by event;
 * tests/bench prints its time beside the loop's.  Simulations use
 * loop.h.
 */
#ifndef TESTS_HEAP4_H
#define TESTS_HEAP4_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/event/loop.h"

struct heap4;
typedef void heap4_fn(struct heap4 *heap, void *self, uint64_t arg);

struct heap4 *heap4_new(void);
void heap4_free(struct heap4 *heap);                    /* accepts NULL */

struct loop_handle heap4_at(struct heap4 *heap, int64_t time_ns,
                            enum loop_rank rank, heap4_fn *fn, void *self,
                            uint64_t arg);
bool heap4_cancel(struct heap4 *heap, struct loop_handle handle);
/* Runs until no event is left or event_count events have run. */
void heap4_run(struct heap4 *heap, uint64_t event_count);
int64_t heap4_now_ns(const struct heap4 *heap);
uint64_t heap4_digest(const struct heap4 *heap);

#endif

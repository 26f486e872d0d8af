/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * heap4.h - an event loop over a plain 4-ary heap: the oracle and yardstick.
 *
 * The same order, handles and digest as loop.h, by the simplest structure that
 * is not slow: an implicit heap of 16-byte entries, push numbers stored, dead
 * entries left until they are popped; up to 2^24 pending and 2^37 pushed.
 * loop_test.c compares loop.c with it event by event; tests/bench prints its
 * time beside the loop's.
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
/* Until none is left or event_count more have run. */
void heap4_run(struct heap4 *heap, uint64_t event_count);
int64_t heap4_now_ns(const struct heap4 *heap);
uint64_t heap4_digest(const struct heap4 *heap);

#endif

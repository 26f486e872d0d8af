/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loop.h - the event loop: it moves the clock and calls what is due.
 *
 * The loop knows nothing of clusters.  A callback may schedule and cancel; it
 * must not schedule into the past, which is an assertion.  Events are ordered
 * by time, then rank, then push number; nothing else breaks a tie.  An event
 * may be pushed at the present instant with a lower rank than the one that is
 * running: it is then the next to run.
 */
#ifndef SIM_EVENT_LOOP_H
#define SIM_EVENT_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct loop;

/* What goes first when several things happen at one instant.  Room is made
 * before it is asked for, the policy decides when all news is in, and shared
 * links are divided anew when the policy has spoken. */
enum loop_rank {
    LOOP_RANK_FINISH,
    LOOP_RANK_OUTAGE,
    LOOP_RANK_ARRIVAL,
    LOOP_RANK_DECIDE,
    LOOP_RANK_SETTLE,
    LOOP_RANK_SAMPLE,
    LOOP_RANK_COUNT
};

enum loop_end {
    LOOP_DRAINED, LOOP_STOPPED, LOOP_TIME_LIMIT, LOOP_EVENT_LIMIT,
    LOOP_CALLED_OFF             /* by limits.stop */
};

struct loop_limits {
    int64_t until_ns;           /* >= 0; events after it stay unrun, and the
                                   clock is left standing at it */
    uint64_t event_count_max;
    const volatile int *stop;   /* set by others: ends the run within some
                                   thousand events; may be NULL */
};

/* Safe after its event ran or was cancelled: cancelling again is false.
 * All zero: no event. */
struct loop_handle {
    uint32_t slot;
    uint32_t generation;
};

typedef void loop_fn(struct loop *loop, void *self, uint64_t arg);

/* The loop grows its own arrays; loop_free returns them. */
struct loop *loop_new(struct loop_limits limits);
void loop_free(struct loop *loop);                      /* accepts NULL */

struct loop_handle loop_at(struct loop *loop, int64_t time_ns,
                           enum loop_rank rank, loop_fn *fn, void *self,
                           uint64_t arg);
/* Another limit of time, from the next loop_run on; not before now. */
void loop_until(struct loop *loop, int64_t until_ns);
bool loop_cancel(struct loop *loop, struct loop_handle handle);
enum loop_end loop_run(struct loop *loop);
/* Ends the run when the present callback returns; loop_run may go on. */
void loop_stop(struct loop *loop);
int64_t loop_now_ns(const struct loop *loop);
uint64_t loop_event_count(const struct loop *loop);     /* events run */
uint64_t loop_pending_count(const struct loop *loop);
size_t loop_held_bytes(const struct loop *loop);        /* for its events */

/* Depends on (time, rank, arg) of every event run, in order, and on nothing
 * else: two runs that agree in it did the same things at the same times. */
uint64_t loop_digest(const struct loop *loop);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * loop.h - the event loop: it moves the clock and calls the events that are
 * due.
 *
 * The loop knows nothing of clusters.  A callback may schedule and cancel
 * events; scheduling into the past fails an assertion.  Events are ordered by
 * time, then rank, then push number; nothing else decides between equals.  An
 * event may be pushed at the present instant with a lower rank than the running
 * one; it is then the next to run.
 */
#ifndef SIM_EVENT_LOOP_H
#define SIM_EVENT_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct loop;

/* The order of events at one instant.  Resources are freed before they are
 * requested, the policy decides when all changes are known, and the rates of
 * shared links are solved after its decision. */
enum loop_rank {
    LOOP_RANK_FINISH,           /* work ends, and gives back what it held */
    LOOP_RANK_OUTAGE,           /* nodes fail, return, or are rented */
    LOOP_RANK_ARRIVAL,          /* jobs and requests come in */
    LOOP_RANK_DECIDE,           /* the policy is asked */
    LOOP_RANK_SETTLE,           /* rates of shared links are solved */
    LOOP_RANK_SAMPLE,           /* figures are taken: nothing changes any
                                   more */
    LOOP_RANK_COUNT
};

/* Why loop_run() returned: no event was left, loop_stop() was called, the next event is after
 * until_ns, event_count_max events have run, or another thread asked for an end. */
enum loop_end {
    LOOP_DRAINED, LOOP_STOPPED, LOOP_TIME_LIMIT, LOOP_EVENT_LIMIT,
    LOOP_CALLED_OFF             /* by limits.stop */
};

/* How far a run is, for watchers outside of it. */
struct loop_pulse {
    uint64_t event_count;       /* begun so far */
    int64_t now_ns;
};

struct loop_limits {
    int64_t until_ns;           /* >= 0; later events do not run, and the clock
                                   stops at this time */
    uint64_t event_count_max;   /* events that may run, of all loop_run() together */
    const volatile int *stop;   /* not 0: ends the run within some thousand
                                   events; may be NULL */
};

/* May be used after its event ran or was cancelled.  All zero: no event. */
struct loop_handle {
    uint32_t slot;              /* of the record in the queue */
    uint32_t generation;        /* of that record; 0 with slot 0: no event */
};

/* Every loop begins with it, so that loop_now_ns() needs no call. */
struct loop_clock {
    int64_t now_ns;
};

typedef void loop_fn(struct loop *loop, void *self, uint64_t arg);
typedef void loop_over_fn(void *self);

/* The loop owns its arrays; loop_free() returns them. */
struct loop *loop_new(struct loop_limits limits);
void loop_free(struct loop *loop);                      /* accepts NULL */
/* From now on the pulse, which stays the caller's, is set before each event. */
void loop_pulse(struct loop *loop, struct loop_pulse *pulse);

/* Schedules fn(loop, self, arg) for time_ns, at or after now, in the order of
 * rank among the events of that time.  Returns a handle for loop_cancel().
 * `self` stays the caller's and must live until the event ran or was
 * cancelled.  O(1) on average. */
struct loop_handle loop_at(struct loop *loop, int64_t time_ns,
                           enum loop_rank rank, loop_fn *fn, void *self,
                           uint64_t arg);
/* Calls over(self) whenever all events of an instant have run and the clock is
 * about to move; it may look, but must add no event.  LOOP_OVER_MAX functions at most;
 * they are called in the order in which they were given. */
#define LOOP_OVER_MAX 3u
void loop_when_over(struct loop *loop, loop_over_fn *over, void *self);
/* Sets another limit of time, for the next loop_run(); not before now. */
void loop_until(struct loop *loop, int64_t until_ns);
/* False: the event ran, runs, or was cancelled; nothing happens. */
bool loop_cancel(struct loop *loop, struct loop_handle handle);

/* Runs events until one of the limits, loop_stop(), or no event is left;
 * returns which.  After LOOP_TIME_LIMIT the clock stands at until_ns; after
 * the others at the last event that ran. */
enum loop_end loop_run(struct loop *loop);
/* Ends the run when the present callback returns; loop_run() may be called
 * again. */
void loop_stop(struct loop *loop);
/* Returns the time of the event that runs, or of the last one that ran.  It reads the first
 * member of struct loop, whose other members are private. */
static inline int64_t loop_now_ns(const struct loop *loop)
{
    return ((const struct loop_clock *)(const void *)loop)->now_ns;
}
uint64_t loop_event_count(const struct loop *loop);     /* events run */
uint64_t loop_pending_count(const struct loop *loop);
size_t loop_held_bytes(const struct loop *loop);        /* for its events */

/* Returns a hash of (time, rank, arg) of all events run, in order.  Two runs
 * with the same digest did the same things at the same times. */
uint64_t loop_digest(const struct loop *loop);

#endif

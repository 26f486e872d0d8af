/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * levels.c - adds up levels over time.
 */
#include "experiments/recount/levels.h"

#include <assert.h>
#include <string.h>

#include "experiments/recount/events.h"
#include "experiments/recount/held.h"
#include "experiments/recount/nodes.h"
#include "experiments/recount/recount.h"
#include "experiments/recount/rows.h"
#include "experiments/spec/trial_spec.h"
#include "models/cluster/cluster.h"
#include "policies/host/host.h"
#include "policies/state/terms.h"

/* Says what the free GPUs of each pool are free for, as
 * experiments/measure/idle.h defines it.  `least` is what the smallest task
 * that waits for this pool wants.  0: none can use the pool, so its GPUs are
 * unsuited.  More than is free: gang.  Otherwise the GPUs would do, and
 * `behind` tells a task that may not pass the first in the order from one that
 * does not fit on the nodes. */
static void classify(struct levels *l, struct cs_host *host)
{
    uint32_t pools = l->parts->spec->cluster->pool_count;
    int64_t milli[32] = { 0 };

    memset(l->idle_milli, 0, sizeof l->idle_milli);
    for (uint32_t p = 0; p < pools; p++)
        milli[p] = host_pool_free_milli(host, p);
    for (uint32_t p = 0; p < pools && l->free_milli > 0; p++) {
        int64_t least = (int64_t)host_pool_waits(host, p) * 1000, behind = 0;
        enum recount_idle kind = IDLE_UNSUITED;

        if (least > milli[p])
            kind = IDLE_GANG;
        else if (least > 0) {
            behind = (int64_t)host_pool_behind(host, p, milli) * 1000;
            kind = behind > 0 && behind <= milli[p] ? IDLE_BEHIND : IDLE_FRAGMENT;
        }
        l->idle_milli[kind] += milli[p];
    }
}

/* What is before the warm-up's end counts for timeline.csv alone. */
void levels_until(struct levels *l, int64_t now)
{
    struct recount_books *b = l->books;
    int64_t from = l->over_ns > b->held->from_ns ? l->over_ns : b->held->from_ns;

    if (now > from)
        b->queued += (__int128_t)l->free_milli * (now - from);
    for (int k = 0; b->full && now > from && k < IDLE_KINDS; k++)
        b->idle[k] += (__int128_t)l->idle_milli[k] * (now - from);
    if (l->parts->timeline != NULL) {
        b->pending += (__int128_t)l->waits * (now - l->over_ns);
        b->running += (__int128_t)l->runs * (now - l->over_ns);
    }
    l->over_ns = now;
}

/* GPUs are free for nothing that waits unless a task waits.  All that no lease
 * has is free then, but what is out of service or not rented. */
void levels_see(struct levels *l, struct cs_host *host, int64_t now)
{
    struct recount_books *b = l->books;
    int64_t gone = b->held->now_milli + nodes_gone_milli(b->nodes);

    assert(l->over_ns == now);
    l->waits = host_pending(host);
    l->runs = host_running(host);
    if (b->held->events != NULL)
        events_add(b->held->events, (struct event){ now, UINT32_MAX, (double)l->waits,
                                                    (double)l->runs });
    l->free_milli = l->waits > 0 && rows_inside(b->rows) > 0
                        ? (int64_t)l->parts->spec->cluster->gpu_count * 1000 - gone : 0;
    if (b->full)
        classify(l, host);
}

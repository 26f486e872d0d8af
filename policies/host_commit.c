/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host_commit.c - `blocking: commit` with `backfill: true`, as RLScheduler
 * does it (Zhang et al., SC 2020).
 *
 * What was chosen keeps its turn.  When it is found not to fit, the instant is
 * noted at which it would, were leases to end as expected; until it starts,
 * others that would end before that instant, and not at it, start in the order
 * of submission.  The instant is not looked at again, though it may come
 * earlier or later: EASY without a second thought.
 */
#include "policies/host_state.h"

/* Asks that would end in time, in the order of submission, in host->list. */
static uint32_t list_short(struct cs_host *host, uint32_t chosen)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < host_order_count(host); i++) {
        uint32_t ask = ranks_at(host->order, i), k;
        if (ask == chosen ||
            host->ask[ask].pub.estimate_ns >=
                host->committed_until_ns - host_now(host))
            continue;
        for (k = count++; k > 0 && host->ask[host->list[k - 1]].seq >
                                       host->ask[ask].seq; k--)
            host->list[k] = host->list[k - 1];
        host->list[k] = ask;
    }
    return count;
}

void host_commit_chosen(struct cs_host *host, uint32_t ask)
{
    uint32_t spare;

    assert(host->rules->blocking == HOST_COMMIT);
    host->committed = ask;
    if (host->rules->backfill)
        host->committed_until_ns =
            cs_earliest_ns(host, host->ask[ask].pub.gpus, &spare);
}

void host_commit_backfill(struct cs_host *host)
{
    uint32_t chosen = host->committed;

    if (!host->rules->backfill || chosen == ID_NONE ||
        cs_free_gpus(host, 0) == 0)
        return;
    host_list_room(host, host_order_count(host));
    uint32_t count = list_short(host, chosen);
    for (uint32_t i = 0; i < count && cs_free_gpus(host, 0) > 0; i++)
        if (host->ask[host->list[i]].pub.gpus <= cs_free_gpus(host, 0))
            cs_start(host, (struct ask_id){ host->list[i] });
}

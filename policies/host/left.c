/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * left.c - cs_reallocate() without a look at every job, where keys move as said.
 *
 * The list is the one of deal.c: stably sorted by key, from deal to deal.
 * It is an order that moves, as keys.c has it, so that a deal
 * costs the logarithm of the list for every job that overtakes others, starts
 * or stops.  Where lines have different slopes the list falls apart into the
 * lanes of lanes.c.  All jobs that were dealt are in one place at a time:
 * here, in the lanes or in the plain list of deal.c, which turn over to
 * each other all of them, in order.  Failures and rented nodes turn the deals
 * over to deal.c: with them what is left of a job may change while it waits, and
 * a job that is interrupted may wait beside GPUs that it was dealt, as they are
 * under notice, so that its key changes after the deal that read it.
 */
#include <assert.h>

#include "models/cluster/cluster.h"
#include "policies/host/keys.h"
#include "policies/policy.h"
#include "policies/rank.h"
#include "policies/state/deals.h"
#include "policies/state/jobs.h"
#include "policies/state/queue.h"
#include "policies/state/sort.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/containers/order.h"
#include "sim/containers/rank_tree.h"

/* ---- the list, up to date ---- */

/* Makes an entry for a job, at the place that `before` gives it; NULL: at the end. */
static void add(struct cs_host *host, struct job_id job,
                rank_tree_before_fn *before)
{
    assert(!host_job_ended(host, job.i));
    uint32_t i = host_keys_make(host, job);

    order_insert(host->deals->lefts, i, host_keys_item(host, i), before);
}

/* Takes in what happened since the last deal.  Jobs that ended leave first,
 * since their keys may not be asked for any more.  Jobs that were started or
 * stopped, by the last deal or otherwise, get new lines.  Where keys stand
 * still they are taken out and put in again; where keys move, the order itself
 * moves them later (order_touch). */
static void take_news(struct cs_host *host)
{
    struct host_deals *deals = host->deals;
    bool still = deals->motion->still;

    assert(deals->lefts != NULL);
    for (uint32_t k = 0; k < deals->left_endeds; k++) {
        order_remove(deals->lefts, deals->left_ended[k]);
        deals->left_spare[deals->left_spares++] = deals->left_ended[k];
    }
    deals->left_endeds = 0;
    assert(deals->left_changeds <= deals->left_changed_room);
    for (uint32_t k = 0; k < deals->left_changeds; k++) {
        uint32_t i = deals->left_changed[k];
        if (deals->left[i].over)
            continue;
        if (still)
            order_remove(deals->lefts, i);
        struct order_item known = host_keys_note(host, i);
        if (!still)
            order_touch(deals->lefts, i, known);
    }
    for (uint32_t k = 0; still && k < deals->left_changeds; k++) {
        uint32_t i = deals->left_changed[k];
        if (!deals->left[i].over)
            order_insert(deals->lefts, i, host_keys_item(host, i),
                         host_keys_before);
    }
    deals->left_changeds = 0;
    assert(deals->left_spares <= deals->left_count);
}

/* ---- from one list to the other ---- */

/* The index pays while many jobs wait for each that runs.  Where jobs that run
 * have lines of different slope they cross each other without end, though only
 * crossings with a job that waits matter: while few wait, and there are no
 * lanes, a look at all jobs costs less.  FEW_WAIT and MANY_WAIT: jobs that wait
 * for each that runs.  The index is dropped at the first and made at the
 * second, so that it is not made and dropped in turns. */
#define FEW_WAIT 2u             /* times those that run */
#define MANY_WAIT 6u

/* Is the index worth its upkeep?  It pays where many wait for few that run.  Two
 * limits, so that it is not made and dropped in turns. */
static bool worth_it(const struct cs_host *host)
{
    uint32_t running = cs_running_count(host);
    uint32_t waiting = host_order_count(host);

    if (!host->deals->left_crossing)
        return true;
    return waiting > (host->deals->lefts != NULL ? FEW_WAIT : MANY_WAIT) * running;
}

/* Takes the list of deal.c over, in its order. */
static void take_over(struct cs_host *host)
{
    static const struct order_rules still = { host_keys_before, NULL,
                                              ORDER_TAKES };
    struct host_deals *deals = host->deals;

    assert(deals->lefts == NULL);
    if (deals->store == NULL)
        deals->store = order_store_new(host->parts.arena);
    if (deals->left_order == NULL) {
        deals->left_order = arena_alloc(host->parts.arena, 1,
                                        sizeof *deals->left_order);
        order_init(deals->left_order, deals->store,
                   deals->motion->still ? &still : &host_keys_rules, host);
    }
    deals->lefts = deals->left_order;
    deals->left_count = deals->left_spares = 0;
    for (uint32_t k = 0; k < deals->deals; k++) {
        struct job_id job = { deals->deal[k].job };
        if (!host_job_ended(host, job.i))
            add(host, job, NULL);
    }
    deals->deals = 0;
    assert(deals->deals == 0 && deals->lefts != NULL);
}

/* Hands the list over to deal.c, in its order, from which deal.c goes on. */
static void turn_over(struct cs_host *host)
{
    assert(host->deals->lefts != NULL);
    take_news(host);
    uint32_t count = order_count(host->deals->lefts);
    uint32_t *list = host_list_scratch(host, count);

    rank_tree_list(&host->deals->lefts->tree, list);
    order_clear(host->deals->lefts);
    host_keys_hand_over(host, list, count);
    host->deals->lefts = NULL;
    assert(host->deals->lefts == NULL);
}

/* Sorts all entries, whose keys have all changed.  The keys are read once and
 * sorted as numbers: a comparison that asks for the keys of both costs three
 * times as much. */
static void sort_anew(struct cs_host *host)
{
    struct order *lefts = host->deals->lefts;
    uint32_t count = order_count(lefts);
    uint32_t *list = host_list_scratch(host, count);
    struct host_sorted *key = host_sort_scratch(host, count);

    rank_tree_list(&lefts->tree, list);
    for (uint32_t k = 0; k < count; k++) {
        order_know(lefts, list[k], host_keys_note(host, list[k]));
        key[k] = (struct host_sorted) { host->deals->left[list[k]].key,
                                        list[k] };
    }
    const struct host_sorted *sorted = host_sort(host, count);
    assert(count == 0 || sorted != NULL);
    for (uint32_t k = 0; k < count; k++)
        list[k] = sorted[k].item;
    order_arrange(lefts, list);
}

/* Brings the list up to date. */
static void refresh(struct cs_host *host)
{
    struct host_deals *deals = host->deals;

    take_news(host);
    deals->lefts->back = deals->motion->rises;
    if (deals->motion->anew)
        sort_anew(host);
    else if (!deals->motion->still)
        order_refresh(deals->lefts, host_now(host));
    for (; deals->deal_seen < host_jobs_submitted(host); deals->deal_seen++) {
        struct job_id job = { deals->deal_seen };
        if (!host_job_ended(host, job.i))
            add(host, job, host_keys_before);
    }
    assert(deals->deal_seen == host_jobs_submitted(host));
}

/* ---- the deal ---- */

void cs_reallocate_note(struct cs_host *host, struct job_id job)
{
    assert(!host_job_ended(host, job.i));
    host_left_change(host, job.i);
}

/* Is this deal made in lanes?  Opens or closes them first, if that is due. */
static bool in_lanes(struct cs_host *host, bool plain)
{
    assert(host->deals->motion != NULL);
    bool may = plain && host->deals->left_crossing && !host->deals->motion->still &&
               !host->deals->motion->anew;

    if (host_lanes_open(host))
        return host_lanes_refresh(host, may);
    if (!host_lanes_due(host, may))
        return false;
    if (host->deals->lefts != NULL)
        turn_over(host);
    return host_lanes_begin(host);
}

/* Three ways lead to the deal, all with one result: lanes, the single order of
 * this file, and the plain list of deal.c. */
void cs_reallocate_moving(struct cs_host *host, const struct cs_moving_key *motion)
{
    assert(!host_per_phase(host) && motion->key != NULL);
    bool plain = host->spec->failures == NULL && host->rules->tick_ns == 0 &&
                 !host->spec->rents;
    host->deals->motion = motion;
    if (in_lanes(host, plain)) {
        host_lanes_deal(host);
        return;
    }
    bool worth = plain && worth_it(host);
    if (host->deals->lefts == NULL && worth)
        take_over(host);
    else if (host->deals->lefts != NULL && !worth)
        turn_over(host);
    if (!worth) {
        cs_reallocate(host, motion->sorted != NULL ? motion->sorted : motion->key);
        return;
    }
    refresh(host);
    host->deals->dealt.stops = host->deals->dealt.takes = 0;
    assert(host->deals->lefts != NULL);
    order_take(host->deals->lefts, cs_total_gpus(host, 0), &host->deals->dealt);
    host_keys_carry_out(host);
}

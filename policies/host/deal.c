/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deal.c - a tool for policies that preempt: all GPUs dealt anew.
 *
 * The list of unfinished jobs persists from deal to deal and is sorted stably,
 * so that jobs of equal keys keep the order they had; that is what Tiresias's
 * simulator does (Gu et al., NSDI 2019), and it is seen in the results.  With
 * ticks the list is made anew, as Helios's simulator does: of equal keys those
 * that wait go before those that run, each in the order in which they began to.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "policies/policy.h"
#include "policies/rank.h"
#include "policies/state/deals.h"
#include "policies/state/jobs.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"

/* Brings the list up to date: jobs that ended leave, and jobs that came are put
 * at its end. */
static void refresh(struct cs_host *host)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < host->deals->deals; i++)
        if (!host_job_ended(host, host->deals->deal[i].job))
            host->deals->deal[kept++] = host->deals->deal[i];
    host->deals->deals = kept;
    for (; host->deals->deal_seen < host_jobs_submitted(host); host->deals->deal_seen++) {
        struct job_id job = { host->deals->deal_seen };
        if (host->deals->deals == host->deals->deal_room) {
            uint32_t room = host->deals->deal_room ? 2 * host->deals->deal_room : 256;
            host->deals->deal = arena_grow(host->parts.arena, host->deals->deal,
                                    host->deals->deal_room, room,
                                    sizeof *host->deals->deal);
            host->deals->deal_room = room;
        }
        if (!host_job_ended(host, job.i))
            host->deals->deal[host->deals->deals++] = (struct host_deal) {
                .job = job.i, .gpus = cs_job_gpus(host, job),
                .since = host->deals->deal_since++,
            };
    }
    assert(host->deals->deals <= host->deals->deal_room);
}

/* Does the job of an entry wait? */
static bool waits(const struct cs_host *host, const struct host_deal *entry)
{
    assert(!host_job_ended(host, entry->job));
    struct job_id job = { entry->job };

    return cs_job_task(host, job, CS_ALL_ROLES).i != ID_NONE;
}

/* Does entry a go before entry b?  By key.  With ticks, of equal keys those
 * that wait go first, then the one that has waited or run for longer. */
static bool goes_before(const struct cs_host *host, const struct host_deal *a,
                        const struct host_deal *b)
{
    assert(!isnan(a->key) && !isnan(b->key));
    if (a->key != b->key || host->rules->tick_ns == 0)
        return a->key < b->key;
    return waits(host, a) != waits(host, b) ? waits(host, a)
                                            : a->since < b->since;
}

/* Sorts the list by goes_before(), O(n log n), whatever order it had.  Stable:
 * of two entries that are equal, the one in front stays in front. */
static void merge_sort(struct cs_host *host)
{
    assert(host->deals->deals <= host->deals->deal_room);
    uint32_t count = host->deals->deals;
    struct host_deal *from = host->deals->deal, *to;

    if (host->deals->deal_spare_room < count) {
        host->deals->deal_spare = arena_alloc(host->parts.arena, host->deals->deal_room,
                                       sizeof *host->deals->deal_spare);
        host->deals->deal_spare_room = host->deals->deal_room;
    }
    to = host->deals->deal_spare;
    assert(host->deals->deal_spare_room >= count);
    for (uint64_t width = 1; width < count; width *= 2) {
        uint32_t out = 0;
        for (uint64_t low = 0; low < count; low += 2 * width) {
            uint64_t middle = low + width < count ? low + width : count;
            uint64_t high = middle + width < count ? middle + width : count;
            uint64_t i = low, j = middle;
            while (i < middle || j < high)
                to[out++] = i == middle ||
                            (j < high &&
                             goes_before(host, &from[j], &from[i]))
                                ? from[j++] : from[i++];
        }
        struct host_deal *swap = from;
        from = to;
        to = swap;
    }
    if (from != host->deals->deal)
        memcpy(host->deals->deal, from, count * sizeof *from);
}

/* If an insertion sort has moved entries more than this number of times for
 * each job, the list was far from sorted, and merge_sort() takes over. */
#define MOVES_MAX 16u

/* Sorts the list by the keys of now.  From one decision to the next only a few
 * jobs change their place, for which an insertion sort costs O(n + moves). */
static void sort(struct cs_host *host, cs_key_fn *key)
{
    uint64_t moves = 0;

    for (uint32_t i = 0; i < host->deals->deals; i++) {
        struct job_id job = { host->deals->deal[i].job };
        host->deals->deal[i].key = key(host->self, host, job);
    }
    for (uint32_t i = 1; i < host->deals->deals; i++) {
        struct host_deal entry = host->deals->deal[i];
        uint32_t j = i;
        while (j > 0 && goes_before(host, &entry, &host->deals->deal[j - 1])) {
            host->deals->deal[j] = host->deals->deal[j - 1];
            j--;
        }
        host->deals->deal[j] = entry;
        moves += i - j;
        if (moves > (uint64_t)MOVES_MAX * host->deals->deals) {
            merge_sort(host);
            return;
        }
    }
    assert(host->deals->deals <= host->deals->deal_room);
}

/* Three walks over the sorted list.  The first decides: each job that still
 * fits into what the ones before it left gets its GPUs.  The second stops those
 * that run and got none; only then the third starts those that wait and got
 * theirs, as the GPUs are free by then.  With 4 GPUs and jobs that want 3, 2
 * and 1, in this order, the first and the third job run. */
void cs_reallocate(struct cs_host *host, cs_key_fn *key)
{
    uint32_t room = cs_total_gpus(host, 0);

    assert(!host_per_phase(host));
    refresh(host);
    sort(host, key);
    for (uint32_t i = 0; i < host->deals->deals; i++) {
        struct host_deal *entry = &host->deals->deal[i];
        entry->take = entry->gpus <= room;
        if (entry->take)
            room -= entry->gpus;
        assert(room <= cs_total_gpus(host, 0));
    }
    for (uint32_t i = 0; i < host->deals->deals; i++) {
        struct job_id job = { host->deals->deal[i].job };
        if (!host->deals->deal[i].take &&
            cs_job_task(host, job, CS_ALL_ROLES).i == ID_NONE &&
            cs_stop(host, job) == CS_DONE)
            host->deals->deal[i].since = host->deals->deal_since++;
    }
    for (uint32_t i = 0; i < host->deals->deals; i++) {
        struct job_id job = { host->deals->deal[i].job };
        struct task_id task = cs_job_task(host, job, CS_ALL_ROLES);
        if (host->deals->deal[i].take && task.i != ID_NONE &&
            cs_start(host, task) == CS_DONE)
            host->deals->deal[i].since = host->deals->deal_since++;
    }
    assert(host->deals->deals <= host->deals->deal_room);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ends.c - when leases should end, so that a policy that asks when there is room
 * need not walk all of them.
 *
 * One calendar of all leases is for plans.  Of pools, a calendar for each and one for
 * all hold the leases with GPUs that are not idle; the GPUs of idle leases are a sum. A
 * lease on several pools is in the calendar of each.  Kept from the first question on.
 *
 * A GPU that jobs hold in parts is free when the last of them ends: calendars do not
 * count these leases, and a question looks at each of them.
 */
#include <assert.h>
#include <stdlib.h>

#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/types/placement.h"
#include "policies/state/ends.h"
#include "policies/state/job_slot.h"
#include "policies/state/lease_slot.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/containers/calendar.h"

/* ---- GPUs that are held in parts ---- */

/* When the last lease of a part of a GPU should end. */
struct host_part_end {
    uint64_t gpu;               /* its node and place there, in one number */
    int64_t end_ns;
};

static bool is_part(const struct cs_host *host, const struct cs_lease *lease)
{
    if (!host->waiting->has_parts)
        return false;
    const struct host_job_slot *job = host_job_slot(host, lease->job.i);

    assert(lease->role < FORM_ROLES_MAX);
    return job_role_milli(&job->pub.request, lease->role) < GPU_MILLI;
}

/* Returns what calendars count of a lease. */
static uint32_t whole_gpus(const struct cs_host *host, const struct cs_lease *lease)
{
    assert(lease->gpus <= host->spec->gpu_count);
    return is_part(host, lease) ? 0 : lease->gpus;
}

/* For qsort(): by GPU, of one GPU the last end first. */
static int by_gpu(const void *left, const void *right)
{
    const struct host_part_end *a = left, *b = right;

    assert(a->end_ns >= 0 && b->end_ns >= 0);
    if (a->gpu != b->gpu)
        return a->gpu < b->gpu ? -1 : 1;
    return a->end_ns > b->end_ns ? -1 : a->end_ns < b->end_ns;
}

/* For qsort(). */
static int by_end(const void *left, const void *right)
{
    const struct host_part_end *a = left, *b = right;

    assert(a->end_ns >= 0 && b->end_ns >= 0);
    return a->end_ns < b->end_ns ? -1 : a->end_ns > b->end_ns;
}

/* Lists in scratch when GPUs of the pools (0: all) that are held in parts should be free,
 * the first one first, and returns how many they are. */
static uint32_t list_part_ends(const struct cs_host *host, uint32_t pool_mask)
{
    struct host_waiting *waiting = host->waiting;
    uint32_t parts = 0, gpus = 0;

    for (uint32_t i = 0; waiting->has_parts && i < host->leases->count; i++) {
        const struct host_lease_slot *lease = &host->leases->slot[i];
        if (!lease->live || !is_part(host, &lease->pub) || lease->pub.gpus == 0 ||
            (pool_mask != 0 && !(lease->pool_mask & pool_mask)))
            continue;
        const struct share *share = lease->pub.placement.share;
        if (parts == waiting->part_end_room) {
            uint32_t room = parts > 0 ? 2 * parts : 64;
            waiting->part_end = arena_grow(host->parts.arena, waiting->part_end, parts, room,
                                           sizeof *waiting->part_end);
            waiting->part_end_room = room;
        }
        waiting->part_end[parts++] = (struct host_part_end) {
            share->node * (uint64_t)NODE_GPUS_MAX + (uint64_t)__builtin_ctzll(share->gpu_mask),
            lease->pub.expected_end_ns };
    }
    if (parts == 0)
        return 0;
    qsort(waiting->part_end, parts, sizeof *waiting->part_end, by_gpu);
    for (uint32_t i = 0; i < parts; i++)
        if (i == 0 || waiting->part_end[i].gpu != waiting->part_end[gpus - 1].gpu)
            waiting->part_end[gpus++] = waiting->part_end[i];
    qsort(waiting->part_end, gpus, sizeof *waiting->part_end, by_end);
    assert(gpus <= parts);
    return gpus;
}

/* Returns the first time by which so many GPUs (>= 1) are freed by a calendar and the
 * first `parts` of the list of list_part_ends(); CLOCK_NEVER_NS: never. */
static int64_t find_when(const struct cs_host *host, const struct calendar *ends,
                         uint32_t parts, uint64_t gpus)
{
    int64_t best = calendar_when(ends, gpus);

    assert(gpus > 0);
    for (uint32_t k = 1; k <= parts && k <= gpus; k++) {
        int64_t part = host->waiting->part_end[k - 1].end_ns;
        int64_t whole = k < gpus ? calendar_when(ends, gpus - k) : 0;
        int64_t at = part > whole ? part : whole;
        best = at < best ? at : best;
    }
    return best;
}

/* ---- of a pool ---- */

struct pool_ends {
    struct calendar *ends;
    uint64_t idle_gpus;
};

struct host_pool_ends {
    uint32_t pools;
    struct pool_ends *of;       /* by pool; the last is of all pools */
};

/* Adds a lease to what is known of a pool, or takes it away. */
static void note(const struct cs_host *host, struct pool_ends *of,
                 const struct cs_lease *lease, uint32_t i, bool comes)
{
    assert(lease->gpus > 0);
    if (lease->state == CS_LEASE_IDLE && comes)
        of->idle_gpus += lease->gpus;
    else if (lease->state == CS_LEASE_IDLE)
        of->idle_gpus -= lease->gpus;
    else if (comes)
        calendar_add(of->ends, lease->expected_end_ns, i, whole_gpus(host, lease));
    else
        calendar_drop(of->ends, lease->expected_end_ns, i);
}

void host_pool_ends_note(struct cs_host *host, uint32_t i, bool comes)
{
    const struct host_pool_ends *all = host->waiting->pool_ends;
    const struct host_lease_slot *lease = &host->leases->slot[i];

    if (all == NULL || lease->pub.gpus == 0)
        return;
    assert(lease->pool_mask != 0);
    for (uint32_t p = 0; p < all->pools; p++)
        if (lease->pool_mask & 1u << p)
            note(host, &all->of[p], &lease->pub, i, comes);
    note(host, &all->of[all->pools], &lease->pub, i, comes);
}

/* Returns what is known of all pools; makes it at the first question. */
static const struct host_pool_ends *keep(const struct cs_host *host)
{
    struct arena *arena = host->parts.arena;

    if (host->waiting->pool_ends != NULL)
        return host->waiting->pool_ends;
    struct host_pool_ends *all = arena_alloc(arena, 1, sizeof *all);
    all->pools = host->spec->pool_count;
    all->of = arena_alloc(arena, all->pools + 1, sizeof *all->of);
    for (uint32_t p = 0; p <= all->pools; p++)
        all->of[p].ends = calendar_new(arena);
    host->waiting->pool_ends = all;
    for (uint32_t i = 0; i < host->leases->count; i++) {
        const struct host_lease_slot *lease = &host->leases->slot[i];
        for (uint32_t p = 0; lease->live && lease->pub.gpus > 0 && p <= all->pools; p++)
            if (p == all->pools || lease->pool_mask & 1u << p)
                note(host, &all->of[p], &lease->pub, i, true);
    }
    return all;
}

bool host_pool_ends_when(const struct cs_host *host, uint32_t pool_mask, uint32_t free_gpus,
                         uint32_t gpus, int64_t *at_ns)
{
    uint32_t pools = host->spec->pool_count;
    uint32_t p = pool_mask == 0 ? pools : (uint32_t)__builtin_ctz(pool_mask);

    if (p < pools && pool_mask != 1u << p)
        return false;           /* a lease may lie in several of them */
    assert(p <= pools && free_gpus < gpus);
    const struct pool_ends *of = &keep(host)->of[p];
    uint64_t now = free_gpus + of->idle_gpus;
    int64_t at = host_now(host);
    if (now < gpus)
        at = find_when(host, of->ends, list_part_ends(host, pool_mask), gpus - now);
    *at_ns = at < host_now(host) ? host_now(host) : at;
    return true;
}

/* ---- of all ---- */

void host_lease_expect(struct cs_host *host, uint32_t lease, int64_t end_ns)
{
    struct cs_lease *pub = &host->leases->slot[lease].pub;

    assert(host->leases->slot[lease].live && end_ns >= host_now(host));
    if (host->waiting->pool_ends != NULL)
        host_pool_ends_note(host, lease, false);
    if (host->waiting->ends != NULL) {
        calendar_drop(host->waiting->ends, pub->expected_end_ns, lease);
        calendar_add(host->waiting->ends, end_ns, lease, whole_gpus(host, pub));
    }
    pub->expected_end_ns = end_ns;
    if (host->waiting->pool_ends != NULL)
        host_pool_ends_note(host, lease, true);
}

void host_lease_unexpect(struct cs_host *host, uint32_t lease)
{
    assert(lease < host->leases->count);
    if (host->waiting->pool_ends != NULL)
        host_pool_ends_note(host, lease, false);
    if (host->waiting->ends != NULL)
        calendar_drop(host->waiting->ends, host->leases->slot[lease].pub.expected_end_ns, lease);
}

/* Makes the calendar with the leases that are held. */
static void keep_ends(struct cs_host *host)
{
    assert(host->waiting->ends == NULL);
    host->waiting->ends = calendar_new(host->parts.arena);
    for (uint32_t i = 0; i < host->waiting->held->count; i++) {
        uint32_t lease = host->waiting->held->item[i];

        if (lease != ID_NONE)
            calendar_add(host->waiting->ends, host->leases->slot[lease].pub.expected_end_ns,
                         lease, whole_gpus(host, &host->leases->slot[lease].pub));
    }
}

void host_end_expect(struct cs_host *host, int64_t end_ns, uint32_t number,
                     uint32_t gpus)
{
    assert(number >= host->leases->capacity);
    if (host->waiting->ends == NULL)
        keep_ends(host);
    calendar_add(host->waiting->ends, end_ns, number, gpus);
}

void host_end_unexpect(struct cs_host *host, int64_t end_ns, uint32_t number)
{
    assert(host->waiting->ends != NULL);
    bool was_there = calendar_drop(host->waiting->ends, end_ns, number);
    assert(was_there);
}

int64_t host_ends_when(struct cs_host *host, int64_t now_ns, uint32_t free_now,
                       uint32_t gpus, uint32_t *left_gpus)
{
    int64_t at = now_ns;
    uint64_t free = free_now;

    if (host->waiting->ends == NULL)
        keep_ends(host);
    uint32_t parts = list_part_ends(host, 0);
    if (free < gpus) {
        int64_t end = find_when(host, host->waiting->ends, parts, gpus - free);
        if (end == CLOCK_NEVER_NS)
            return CLOCK_NEVER_NS;
        at = end > at ? end : at;
    }
    /* A lease that outlives its estimate may end at any moment. */
    free += calendar_by(host->waiting->ends, at);
    for (uint32_t k = 0; k < parts && host->waiting->part_end[k].end_ns <= at; k++)
        free++;
    assert(at >= now_ns);
    assert(free >= gpus);
    *left_gpus = (uint32_t)(free - gpus);
    return at;
}

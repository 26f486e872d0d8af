/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ends.c - when leases should end, so that a policy that asks when there is room
 * need not walk all of them.
 *
 * One calendar of all leases is for plans.  Of pools, a calendar for each and one for
 * all hold the leases with GPUs that are not idle; the GPUs of idle leases are a sum. A
 * lease on several pools is in the calendar of each.  Kept from the first question on.
 *
 * A set of groups of nodes, of which a promise to a job that may use some nodes alone is made,
 * has a calendar of GPUs and one of cores, from the first question about the set on.  There are
 * as many sets as forms of jobs reach different groups, which are few.
 *
 * A GPU that jobs hold in parts is free when the last of them ends: of these leases,
 * calendars count the last one as a GPU, and the others as none.
 */
#include <assert.h>

#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/types/placement.h"
#include "policies/state/ends.h"
#include "policies/state/lease_slot.h"
#include "policies/state/nodes.h"
#include "policies/state/queue.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/containers/calendar.h"

/* ---- GPUs that are held in parts ---- */

/* Leases of parts of GPUs, in a list for each GPU.  Made when the first of them
 * comes. */
struct host_part_ends {
    uint32_t *first, *last;     /* by GPU: a lease that holds a part of it, or ID_NONE;
                                   the one of them that should end last */
    uint32_t *next, *gpu;       /* by lease: the next one of its GPU; that GPU, or ID_NONE */
    uint32_t room;              /* for leases */
};

/* Does a lease hold a part of a GPU? */
static bool is_part(const struct cs_lease *lease)
{
    assert(lease->gpu_milli <= GPU_MILLI);
    return lease->gpus > 0 && lease->gpu_milli < GPU_MILLI;
}

/* Returns the GPUs that calendars count for a lease.  A GPU that several leases
 * share is counted for the one that should end last, and 0 for the others.
 * Example: leases of 300 and 500 thousandths of one GPU should end at 40 and 70
 * s: the GPU counts as free from 70 s on. */
static uint32_t whole_gpus(const struct cs_host *host, uint32_t i)
{
    const struct cs_lease *lease = &host->leases->slot[i].pub;
    const struct host_part_ends *parts = host->waiting->part_ends;

    assert(lease->gpus <= host->spec->gpu_count);
    if (!is_part(lease))
        return lease->gpus;
    return parts != NULL && i < parts->room && parts->gpu[i] != ID_NONE &&
           parts->last[parts->gpu[i]] == i;
}

/* Returns the parts, with room for a lease. */
static struct host_part_ends *reach_parts(struct cs_host *host, uint32_t lease)
{
    struct arena *arena = host->parts.arena;
    struct host_part_ends *parts = host->waiting->part_ends;
    uint32_t gpus = host->spec->node_count * NODE_GPUS_MAX;

    if (parts == NULL) {
        parts = host->waiting->part_ends = arena_alloc(arena, 1, sizeof *parts);
        parts->first = arena_alloc(arena, gpus, sizeof *parts->first);
        parts->last = arena_alloc(arena, gpus, sizeof *parts->last);
        for (uint32_t g = 0; g < gpus; g++)
            parts->first[g] = parts->last[g] = ID_NONE;
    }
    if (lease >= parts->room) {
        uint32_t room = host->leases->capacity;
        parts->next = arena_grow(arena, parts->next, parts->room, room, sizeof *parts->next);
        parts->gpu = arena_grow(arena, parts->gpu, parts->room, room, sizeof *parts->gpu);
        for (uint32_t i = parts->room; i < room; i++)
            parts->gpu[i] = ID_NONE;
        parts->room = room;
    }
    assert(lease < parts->room);
    return parts;
}

static inline void group_ends_note(struct cs_host *host, uint32_t lease, bool comes);
static int64_t cores_here(const struct cs_host *host, uint64_t groups);

/* Counts a lease anew, which has become the last of its GPU or is it no more. */
static void count_anew(struct cs_host *host, uint32_t lease)
{
    int64_t end_ns = host->leases->slot[lease].pub.expected_end_ns;

    assert(host->leases->slot[lease].live);
    host_pool_ends_note(host, lease, false);
    host_pool_ends_note(host, lease, true);
    group_ends_note(host, lease, false);
    group_ends_note(host, lease, true);
    if (host->waiting->ends != NULL && calendar_drop(host->waiting->ends, end_ns, lease))
        calendar_add(host->waiting->ends, end_ns, lease, whole_gpus(host, lease));
}

/* Finds out which lease of a GPU should end last, the lowest of equals.  What was counted
 * of others is counted anew; `lease` is in no calendar now. */
static void find_last(struct cs_host *host, uint32_t gpu, uint32_t lease)
{
    struct host_part_ends *parts = host->waiting->part_ends;
    uint32_t before = parts->last[gpu], last = ID_NONE;

    assert(gpu != ID_NONE);
    for (uint32_t i = parts->first[gpu]; i != ID_NONE; i = parts->next[i]) {
        int64_t end_ns = host->leases->slot[i].pub.expected_end_ns;
        int64_t most_ns = last == ID_NONE ? 0 : host->leases->slot[last].pub.expected_end_ns;
        if (last == ID_NONE || end_ns > most_ns || (end_ns == most_ns && i < last))
            last = i;
    }
    parts->last[gpu] = last;
    if (before == last)
        return;
    if (before != ID_NONE && before != lease)
        count_anew(host, before);
    if (last != ID_NONE && last != lease)
        count_anew(host, last);
}

/* A lease that is in no calendar now leaves its GPU, if it has a part of one. */
static void leave_gpu(struct cs_host *host, uint32_t lease)
{
    struct host_part_ends *parts = host->waiting->part_ends;

    if (parts == NULL || lease >= parts->room || parts->gpu[lease] == ID_NONE)
        return;
    uint32_t gpu = parts->gpu[lease], *link = &parts->first[gpu];
    while (*link != lease)
        link = &parts->next[*link];
    assert(parts->next[lease] != lease);
    *link = parts->next[lease];
    parts->gpu[lease] = ID_NONE;
    find_last(host, gpu, lease);
}

/* A lease of a part of a GPU, which is in no calendar now, comes to its GPU, or its expected
 * end has changed. */
static void join_gpu(struct cs_host *host, uint32_t lease)
{
    const struct cs_lease *pub = &host->leases->slot[lease].pub;

    if (!is_part(pub))
        return;
    leave_gpu(host, lease);
    const struct share *share = pub->placement.share;
    struct host_part_ends *parts = reach_parts(host, lease);
    assert(share->gpu_mask != 0);
    uint32_t gpu = share->node * NODE_GPUS_MAX + (uint32_t)__builtin_ctzll(share->gpu_mask);

    parts->gpu[lease] = gpu;
    parts->next[lease] = parts->first[gpu];
    parts->first[gpu] = lease;
    find_last(host, gpu, lease);
}

/* Returns the lease of a GPU that should end next, after the lease `after` (ID_NONE: the
 * first to end), of equal ends the one with the lowest number. */
static uint32_t next_part(const struct cs_host *host, uint32_t gpu, uint32_t after)
{
    const struct host_part_ends *parts = host->waiting->part_ends;
    const struct host_lease_slot *slot = host->leases->slot;
    uint32_t best = ID_NONE;

    assert(gpu != ID_NONE && (after == ID_NONE || parts->gpu[after] == gpu));
    for (uint32_t i = parts->first[gpu]; i != ID_NONE; i = parts->next[i]) {
        int64_t end_ns = slot[i].pub.expected_end_ns;
        if (after != ID_NONE && (end_ns < slot[after].pub.expected_end_ns ||
                                 (end_ns == slot[after].pub.expected_end_ns && i <= after)))
            continue;
        if (best == ID_NONE || end_ns < slot[best].pub.expected_end_ns ||
            (end_ns == slot[best].pub.expected_end_ns && i < best))
            best = i;
    }
    return best;
}

/* Returns the part of a GPU that is free now. */
static struct cs_part free_part(const struct cs_host *host, uint32_t gpu)
{
    uint32_t node = gpu / NODE_GPUS_MAX, i = gpu % NODE_GPUS_MAX;

    assert(host->cluster->parts != NULL && node < host->spec->node_count);
    return (struct cs_part) { cluster_left(host->cluster, node)[i],
                              cluster_mib_left(host->cluster, node)[i] };
}

/* Adds what a lease of a part gives back when it ends.  Memory that is not known
 * (UINT32_MAX) stays so. */
static void add_part(const struct cs_host *host, uint32_t lease, struct cs_part *left)
{
    const struct cs_lease *pub = &host->leases->slot[lease].pub;
    uint32_t mib = pub->placement.share->gpu_mib;

    left->milli += pub->gpu_milli;
    left->mib = left->mib < UINT32_MAX - mib ? left->mib + mib : UINT32_MAX;
    assert(left->milli <= GPU_MILLI);
}

/* Adds up what leases of the GPU give back, in the order of their ends, until
 * the part fits. */
int64_t host_part_when(const struct cs_host *host, uint32_t gpu, struct cs_part part)
{
    struct cs_part left = free_part(host, gpu);
    uint32_t i = ID_NONE;

    assert(part.milli > 0 && part.milli < GPU_MILLI);
    if (host_part_fits(left, part))
        return host_now(host);
    while ((i = next_part(host, gpu, i)) != ID_NONE) {
        add_part(host, i, &left);
        if (host_part_fits(left, part))
            return host->leases->slot[i].pub.expected_end_ns;
    }
    return CLOCK_NEVER_NS;
}

/* Leases that outlive their estimate count as ended: their expected end is before at_ns. */
struct cs_part host_part_by(const struct cs_host *host, uint32_t gpu, int64_t at_ns)
{
    struct cs_part left = free_part(host, gpu);
    const struct host_part_ends *parts = host->waiting->part_ends;

    for (uint32_t i = parts->first[gpu]; i != ID_NONE; i = parts->next[i])
        if (host->leases->slot[i].pub.expected_end_ns <= at_ns)
            add_part(host, i, &left);
    assert(left.milli <= GPU_MILLI);
    return left;
}

/* Walks over the leases that are held, and answers with a GPU at the first
 * lease of its list: so each GPU comes once. */
uint32_t host_next_part_gpu(const struct cs_host *host, uint32_t *at)
{
    const struct host_part_ends *parts = host->waiting->part_ends;
    const struct host_list *held = host->waiting->held;

    for (; parts != NULL && *at < held->count; ++*at) {
        uint32_t i = held->item[*at];
        if (i == ID_NONE || i >= parts->room || parts->gpu[i] == ID_NONE ||
            parts->first[parts->gpu[i]] != i)
            continue;
        ++*at;
        return parts->gpu[i];
    }
    return ID_NONE;
}

/* ---- of a pool ---- */

/* What is known of a pool: when its leases that work or load should end, and
 * the GPUs of its idle leases, which could be taken over now. */
struct pool_ends {
    struct calendar *ends;      /* expected ends, with the GPUs that each frees */
    uint64_t idle_gpus;         /* of leases in the state CS_LEASE_IDLE */
};

/* What is known of all pools. */
struct host_pool_ends {
    uint32_t pools;             /* of the cluster */
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
        calendar_add(of->ends, lease->expected_end_ns, i, whole_gpus(host, i));
    else
        calendar_drop(of->ends, lease->expected_end_ns, i);
}

/* Kept out of line, as under most policies nobody asks. */
__attribute__((noinline)) static void note_pools(struct cs_host *host, uint32_t i, bool comes)
{
    const struct host_pool_ends *all = host->waiting->pool_ends;
    const struct host_lease_slot *lease = &host->leases->slot[i];

    if (lease->pub.gpus == 0)
        return;
    assert(lease->pool_mask != 0);
    for (uint32_t p = 0; p < all->pools; p++)
        if (lease->pool_mask & 1u << p)
            note(host, &all->of[p], &lease->pub, i, comes);
    note(host, &all->of[all->pools], &lease->pub, i, comes);
}

void host_pool_ends_note(struct cs_host *host, uint32_t i, bool comes)
{
    assert(i < host->leases->count);
    if (host->waiting->pool_ends != NULL)
        note_pools(host, i, comes);
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

/* Leases that outlive their estimate count as ending now. */
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
        at = calendar_when(of->ends, gpus - now);
    *at_ns = at < host_now(host) ? host_now(host) : at;
    return true;
}

/* ---- of cores ---- */

/* Returns the thousandths of cores that a lease holds on nodes whose cores are stated. */
static uint32_t core_milli(const struct cs_host *host, const struct cs_lease *lease)
{
    uint64_t milli = 0;

    for (uint32_t s = 0; s < lease->placement.share_count; s++) {
        const struct share *share = &lease->placement.share[s];
        if (cluster_group_of(host->spec, share->node)->cores != CLUSTER_CORES_UNLIMITED)
            milli += UINT64_C(1000) * share->cores + share->core_milli;
    }
    assert(milli <= UINT32_MAX);
    return (uint32_t)milli;
}

/* Kept out of line, as under most policies nobody asks. */
__attribute__((noinline)) static void note_kept_cores(const struct cs_host *host, uint32_t i,
                                                      bool comes)
{
    const struct cs_lease *lease = &host->leases->slot[i].pub;
    struct calendar *ends = host->waiting->core_ends;

    assert(ends != NULL);
    if (!comes)
        calendar_drop(ends, lease->expected_end_ns, i);
    else if (core_milli(host, lease) > 0)
        calendar_add(ends, lease->expected_end_ns, i, core_milli(host, lease));
}

/* A lease comes to the ends of cores or goes from them, with its expected end of now. */
static inline void note_cores(const struct cs_host *host, uint32_t i, bool comes)
{
    assert(i < host->leases->count);
    if (host->waiting->core_ends != NULL)
        note_kept_cores(host, i, comes);
}

/* Returns the thousandths of cores of all nodes that are in service. */
static int64_t cores_in_service(const struct cs_host *host)
{
    int64_t milli = (int64_t)calendar_by(host->waiting->core_ends, CLOCK_NEVER_NS);

    if (host->nodes->outage == NULL && host->rent == NULL)
        return INT64_C(1000) * host->spec->core_count;
    assert(milli >= 0);
    return milli + cores_here(host, UINT64_MAX);
}

/* Makes the calendar of cores with the leases that are held. */
static void keep_core_ends(struct cs_host *host)
{
    assert(host->waiting->core_ends == NULL);
    host->waiting->core_ends = calendar_new(host->parts.arena);
    for (uint32_t i = 0; i < host->waiting->held->count; i++)
        if (host->waiting->held->item[i] != ID_NONE)
            note_cores(host, host->waiting->held->item[i], true);
}

/* Counts what is held, since cores that are free are not kept: `milli` thousandths are free if
 * at most `left` are held.  While more are held, leases must end. */
int64_t host_cores_when(struct cs_host *host, int64_t milli, int64_t from_ns, int64_t *spare)
{
    if (host->waiting->core_ends == NULL)
        keep_core_ends(host);
    const struct calendar *ends = host->waiting->core_ends;
    int64_t left = cores_in_service(host) - milli;
    int64_t held = (int64_t)calendar_by(ends, CLOCK_NEVER_NS), at = from_ns;

    *spare = 0;
    assert(milli >= 0 && from_ns >= 0);
    if (left < 0)
        return CLOCK_NEVER_NS;
    if (held > left) {
        int64_t end_ns = calendar_when(ends, (uint64_t)(held - left));
        at = end_ns > at ? end_ns : at;
    }
    if (at < CLOCK_NEVER_NS)
        *spare = left - held + (int64_t)calendar_by(ends, at);
    assert(*spare >= 0);
    return at;
}

/* ---- on some groups of nodes ---- */

/* What is known of one set of groups. */
struct group_ends {
    uint64_t groups;            /* a mask, bit g: group g of the cluster */
    struct calendar *gpus, *cores;      /* cores in thousandths */
};

struct host_group_ends {
    struct group_ends *of;      /* [count], one for each set that was asked for */
    uint32_t count, room;
};

/* Is a group in the set?  UINT64_MAX holds all, also those beyond the 64th. */
static bool has_group(uint64_t groups, uint32_t group)
{
    return groups == UINT64_MAX || (group < 64 && groups >> group & 1);
}

/* Does a node belong to one of the groups? */
static bool has_node(const struct cs_host *host, uint64_t groups, uint32_t node)
{
    assert(node < host->spec->node_count);
    return has_group(groups, host->cluster->group_of[node]);
}

uint32_t host_lease_gpus_on(const struct cs_host *host, uint32_t lease, uint64_t groups)
{
    assert(lease < host->leases->count);
    const struct placement *placement = &host->leases->slot[lease].pub.placement;
    uint32_t gpus = 0;

    for (uint32_t s = 0; s < placement->share_count; s++)
        if (has_node(host, groups, placement->share[s].node))
            gpus += mask_count(placement->share[s].gpu_mask);
    assert(gpus <= host->leases->slot[lease].pub.gpus);
    return gpus;
}

/* Returns the thousandths of cores that a lease holds on nodes of the groups. */
static uint32_t core_milli_on(const struct cs_host *host, uint32_t lease, uint64_t groups)
{
    const struct cs_lease *pub = &host->leases->slot[lease].pub;
    uint32_t milli = 0;

    for (uint32_t s = 0; s < pub->placement.share_count; s++) {
        struct cs_lease one = { .placement = { .share = &pub->placement.share[s],
                                               .share_count = 1 } };
        if (has_node(host, groups, pub->placement.share[s].node))
            milli += core_milli(host, &one);
    }
    assert(milli <= core_milli(host, pub));
    return milli;
}

/* Adds a lease to a set of groups, or takes it away. */
static void note_groups(const struct cs_host *host, const struct group_ends *of, uint32_t lease,
                 bool comes)
{
    const struct cs_lease *pub = &host->leases->slot[lease].pub;
    uint32_t gpus = host_lease_gpus_on(host, lease, of->groups);
    uint32_t milli = core_milli_on(host, lease, of->groups);

    assert(pub->placement.share_count > 0);
    if (!comes) {
        calendar_drop(of->gpus, pub->expected_end_ns, lease);
        calendar_drop(of->cores, pub->expected_end_ns, lease);
        return;
    }
    if (gpus > 0 && whole_gpus(host, lease) > 0)
        calendar_add(of->gpus, pub->expected_end_ns, lease, gpus);
    if (milli > 0)
        calendar_add(of->cores, pub->expected_end_ns, lease, milli);
}

/* A live lease comes to the ends by groups or goes from them, with its expected end of now. */
static inline void group_ends_note(struct cs_host *host, uint32_t lease, bool comes)
{
    const struct host_group_ends *all = host->waiting->group_ends;

    assert(lease < host->leases->count);
    for (uint32_t i = 0; all != NULL && i < all->count; i++)
        note_groups(host, &all->of[i], lease, comes);
}

/* Returns what is known of a set of groups; makes it at the first question. */
static const struct group_ends *keep_groups(struct cs_host *host, uint64_t groups)
{
    struct arena *arena = host->parts.arena;
    struct host_group_ends *all = host->waiting->group_ends;

    for (uint32_t i = 0; all != NULL && i < all->count; i++)
        if (all->of[i].groups == groups)
            return &all->of[i];
    if (all == NULL)
        all = host->waiting->group_ends = arena_alloc(arena, 1, sizeof *all);
    assert(all->count <= all->room);
    if (all->count == all->room) {
        uint32_t room = all->room ? 2 * all->room : 4;
        all->of = arena_grow(arena, all->of, all->room, room, sizeof *all->of);
        all->room = room;
    }
    struct group_ends *of = &all->of[all->count++];
    *of = (struct group_ends) { groups, calendar_new(arena), calendar_new(arena) };
    for (uint32_t i = 0; i < host->waiting->held->count; i++)
        if (host->waiting->held->item[i] != ID_NONE)
            note_groups(host, of, host->waiting->held->item[i], true);
    return of;
}

uint32_t host_groups_free(const struct cs_host *host, uint64_t groups)
{
    uint32_t most = host_gpus_capped(host->nodes, host->spec->power_cap_w), gpus = 0;

    for (uint32_t g = 0; g < host->spec->group_count; g++)
        if (has_group(groups, g))
            gpus += host->cluster->index.gpus[g];
    assert(gpus <= host->spec->gpu_count);
    return most < gpus ? most : gpus;
}

/* Returns the thousandths of cores that are free on nodes of these groups whose cores are
 * stated. */
static int64_t cores_here(const struct cs_host *host, uint64_t groups)
{
    int64_t milli = 0;

    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        const struct node_group *group = &host->spec->group[g];
        if (!has_group(groups, g) || group->cores == CLUSTER_CORES_UNLIMITED)
            continue;
        for (uint32_t n = 0; n < group->node_count; n++)
            milli += cluster_core_milli(host->cluster, group->first_node + n);
    }
    assert(milli >= 0);
    return milli;
}

/* GPUs that are free now count first; leases make up for the rest, the earliest
 * end first. */
int64_t host_groups_when(struct cs_host *host, uint64_t groups, uint32_t gpus,
                         uint32_t *left_gpus)
{
    const struct group_ends *of = keep_groups(host, groups);
    uint64_t free = host_groups_free(host, groups);
    int64_t at_ns = host_now(host);

    *left_gpus = 0;
    if (free < gpus) {
        int64_t end_ns = calendar_when(of->gpus, gpus - free);
        if (end_ns == CLOCK_NEVER_NS)
            return CLOCK_NEVER_NS;
        at_ns = end_ns > at_ns ? end_ns : at_ns;
    }
    free += calendar_by(of->gpus, at_ns);
    assert(free >= gpus);
    *left_gpus = (uint32_t)(free - gpus);
    return at_ns;
}

/* The cap on power counts for what is free now, and not for what comes free. */
uint64_t host_groups_by(struct cs_host *host, uint64_t groups, int64_t at_ns)
{
    const struct group_ends *of = keep_groups(host, groups);

    assert(at_ns >= 0);
    return host_groups_free(host, groups) + calendar_by(of->gpus, at_ns);
}

int64_t host_groups_cores_when(struct cs_host *host, uint64_t groups, int64_t milli,
                               int64_t from_ns, int64_t *spare)
{
    const struct group_ends *of = keep_groups(host, groups);
    int64_t free = cores_here(host, groups), at_ns = from_ns;

    *spare = 0;
    assert(milli >= 0 && from_ns >= 0);
    if (free + (int64_t)calendar_by(of->cores, CLOCK_NEVER_NS) < milli)
        return CLOCK_NEVER_NS;
    if (free < milli) {
        int64_t end_ns = calendar_when(of->cores, (uint64_t)(milli - free));
        at_ns = end_ns > at_ns ? end_ns : at_ns;
    }
    if (at_ns < CLOCK_NEVER_NS)
        *spare = free - milli + (int64_t)calendar_by(of->cores, at_ns);
    return at_ns;
}

/* ---- of all ---- */

/* The lease leaves all calendars under its old end, and comes back under the
 * new one.  Between the two it joins the list of its GPU, since that decides
 * what it counts for. */
void host_lease_expect(struct cs_host *host, uint32_t lease, int64_t end_ns)
{
    struct cs_lease *pub = &host->leases->slot[lease].pub;

    assert(host->leases->slot[lease].live && end_ns >= host_now(host));
    host_pool_ends_note(host, lease, false);
    if (host->waiting->ends != NULL)
        calendar_drop(host->waiting->ends, pub->expected_end_ns, lease);
    note_cores(host, lease, false);
    group_ends_note(host, lease, false);
    pub->expected_end_ns = end_ns;
    note_cores(host, lease, true);
    join_gpu(host, lease);
    group_ends_note(host, lease, true);
    if (host->waiting->ends != NULL)
        calendar_add(host->waiting->ends, end_ns, lease, whole_gpus(host, lease));
    host_pool_ends_note(host, lease, true);
}

/* Its GPU counts for another lease of it from now on, if there is one. */
void host_lease_unexpect(struct cs_host *host, uint32_t lease)
{
    assert(lease < host->leases->count);
    host_pool_ends_note(host, lease, false);
    if (host->waiting->ends != NULL)
        calendar_drop(host->waiting->ends, host->leases->slot[lease].pub.expected_end_ns, lease);
    note_cores(host, lease, false);
    group_ends_note(host, lease, false);
    leave_gpu(host, lease);
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
                         lease, whole_gpus(host, lease));
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
    if (free < gpus) {
        int64_t end = calendar_when(host->waiting->ends, gpus - free);
        if (end == CLOCK_NEVER_NS)
            return CLOCK_NEVER_NS;
        at = end > at ? end : at;
    }
    /* A lease that outlives its estimate may end at any moment. */
    free += calendar_by(host->waiting->ends, at);
    assert(at >= now_ns);
    assert(free >= gpus);
    *left_gpus = (uint32_t)(free - gpus);
    return at;
}

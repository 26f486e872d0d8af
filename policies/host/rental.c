/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rental.c - one rented node, from its order until it is gone: given back
 * when it has nothing to do, or taken away by its owner.
 *
 * A node is away (all its GPUs and cores are blocked in the cluster), coming,
 * here, or under notice: then what it has free is blocked at once and what its
 * leases give back, as they do.  Reclaims are drawn per node and rental from
 * the seed, so that the k-th rental of a node lives as long under every
 * policy.  How many are ordered is decided in rent.c.
 *
 * What a reclaim costs: state that stood on the node, or was parked in its
 * memory, is lost, and its job goes back to what it saved.  A role that keeps
 * nothing of worth on its GPUs (generation) loses its lease and the phase that
 * ran, not the job.
 */
#include "policies/host/rental.h"
#include "models/types/facts.h"
#include "policies/host/outage.h"
#include "policies/leases/idle.h"
#include "policies/leases/job.h"
#include "policies/leases/lease.h"
#include "policies/leases/phase.h"
#include "policies/leases/power.h"
#include "policies/state/pools.h"
#include "policies/state/nodes.h"
#include "policies/state/slots.h"
#include "policies/state/waiting.h"

#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/types/placement.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/event/loop.h"
#include "sim/base/rng.h"

#define RECLAIM_STREAM 104      /* of rng_at, beside those of outages */
#define KEEP_MIN_NS CLOCK_NS_PER_S

static const struct rent_spec *spec_of(const struct cs_host *host,
                                       uint32_t node)
{
    return cluster_group_of(host->spec, node)->rent;
}

static struct rent_group *group_of(const struct cs_host *host, uint32_t node)
{
    return &host->nodes->rent->group[cluster_group_of(host->spec, node) -
                              host->spec->group];
}

bool host_rental_here(const struct cs_host *host, uint32_t n)
{
    return host->nodes->rent->node[n].state == RENT_HERE;
}

static uint64_t *away_of(struct cs_host *host, uint32_t node)
{
    return &host->pools->pool[cluster_group_of(host->spec, node)->pool].away_milli;
}

/* ---- what is blocked --------------------------------------------------- */

/* Blocks a part of a node that is free now; returns its GPUs. */
static double block(struct cs_host *host, const struct share *free)
{
    struct rent_node *node = &host->nodes->rent->node[free->node];
    struct placement part = { .share = (struct share *)free,
                              .share_count = 1 };

    if (node->blocks == node->block_room) {
        uint32_t room = node->block_room ? 2 * node->block_room : 1;
        node->block = arena_grow(host->parts.arena, node->block,
                                 node->block_room, room, sizeof *node->block);
        node->block_room = room;
    }
    cluster_take(host->cluster, &part);
    node->block[node->blocks++] = *free;
    *away_of(host, free->node) += share_milli(free);
    return share_milli(free) / (double)GPU_MILLI;
}

/* What is left of GPUs of which parts are taken, one by one. */
static double block_parts(struct cs_host *host, uint32_t n)
{
    uint32_t gpus = cluster_group_of(host->spec, n)->gpus;
    double sum = 0;

    for (uint32_t g = 0; g < gpus; g++) {
        uint16_t left = cluster_left(host->cluster, n)[g];
        uint32_t mib = cluster_mib_left(host->cluster, n)[g];
        struct share part = { .node = n, .gpu_mask = UINT64_C(1) << g,
                              .gpu_milli = left,
                              .gpu_mib = mib == UINT32_MAX ? 0 : mib };
        if (left > 0 && left < GPU_MILLI)
            sum += block(host, &part);
    }
    return sum;
}

static double block_free(struct cs_host *host, uint32_t n)
{
    const struct cluster *cluster = host->cluster;
    struct share free = {
        .node = n, .gpu_mask = cluster->free_mask[n],
        .cores = cluster->free_cores[n],
        .memory_bytes = cluster->free_memory[n],
        .core_milli = cluster->parts ? cluster->parts->core_milli[n] : 0,
    };
    double gpus = block(host, &free);

    return cluster->parts ? gpus + block_parts(host, n) : gpus;
}

void host_rental_block(struct cs_host *host, uint32_t n)
{
    assert(host->nodes->rent->node[n].state == RENT_AWAY);
    assert(host->nodes->rent->node[n].blocks == 0);
    block_free(host, n);
}

static void unblock(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->nodes->rent->node[n];

    while (node->blocks > 0) {
        struct share *share = &node->block[--node->blocks];
        struct placement part = { .share = share, .share_count = 1 };
        cluster_release(host->cluster, &part);
        *away_of(host, n) -= share_milli(share);
    }
}

static void unkeep(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->nodes->rent->node[n];

    group_of(host, n)->kept -= node->kept;
    node->kept = false;
}

/* ---- the end of a rental ------------------------------------------------ */

static void now_away(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->nodes->rent->node[n];
    struct rent_group *group = group_of(host, n);
    uint32_t first = cluster_group_of(host->spec, n)->first_node;
    double gpus = 0;

    assert(node->leases == 0);
    unkeep(host, n);
    if (node->state == RENT_COMING)
        group->coming--;
    if (node->state == RENT_NOTICE)
        group->leaving--;
    if (node->state == RENT_HERE) {
        group->here--;
        group->idle--;
        gpus = block_free(host, n);
    }
    loop_cancel(host->parts.loop, node->event);
    loop_cancel(host->parts.loop, node->reclaim);
    loop_cancel(host->parts.loop, node->keep);
    node->state = RENT_AWAY;
    host->nodes->rent->leaving[n] = false;
    host_power_node(host, n, false);
    if (n - first < group->first_away)
        group->first_away = n - first;
    host_tell(host, FACT_RENT_END, n, 0, gpus);
    host->hooks.wake(host);
}

/* Only the lease is gone; its phase will be asked for again. */
static void lose_lease(struct cs_host *host, uint32_t i)
{
    uint32_t j = host->slots->lease[i].pub.job.i;

    host->counts.interruptions++;
    host_job_slot(host, j)->pub.interruptions++;
    if (host->slots->lease[i].running)
        host_phase_cut_keep(host, i);
    host_drop(host, i);
    host_tell(host, FACT_JOB_INTERRUPT, j, 0, 0);
    host_job_advance(host, j);
}

/* State of worth is on the node, or cannot be told apart from it. */
static void lose(struct cs_host *host, uint32_t i, bool saved)
{
    uint32_t j = host->slots->lease[i].pub.job.i;
    const struct host_job_slot *job = host_job_slot(host, j);
    const struct role_spec *role =
        &host_form_of(job)->role[host->slots->lease[i].pub.role];
    bool precious = role->save_bytes > 0 || host->slots->form[job->form].fixed;

    if (precious && !saved)
        host_interrupt(host, j);
    else if (host_per_phase(host) && !host->slots->form[job->form].fixed)
        lose_lease(host, i);
    else
        host_suspend(host, j);
}

static void lose_leases(struct cs_host *host, uint32_t n)
{
    for (uint32_t k = 0; k < host_held(host)->count;) {
        if (host_stands_on(&host->slots->lease[host->waiting->held->item[k]], n)) {
            lose(host, host->waiting->held->item[k], false);
            k = 0;              /* others went with it */
        } else {
            k++;
        }
    }
}

/* What waits in its memory is lost, or was carried to the storage in time. */
static void lose_parked(struct cs_host *host, uint32_t n, bool saved)
{
    for (uint32_t j = 0; j < host->slots->job_count; j++) {
        if (host_job_over(host, j))
            continue;
        struct host_job_slot *job = host_job_slot(host, j);
        if (!saved && host_parked_on(job, n))
            host_interrupt(host, j);
        for (uint32_t r = 0; r < FORM_ROLES_MAX; r++)
            if (job->home[r] == n && job->lease[r] == ID_NONE)
                job->home[r] = ID_NONE;
    }
}

static void take_away(struct cs_host *host, uint32_t n, bool saved)
{
    struct rent_node *node = &host->nodes->rent->node[n];

    lose_leases(host, n);
    lose_parked(host, n, saved);
    if (node->state != RENT_AWAY)       /* its last lease may have done it */
        now_away(host, n);
}

static void taken(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;
    uint32_t n = (uint32_t)arg;

    (void)loop;
    assert(host->nodes->rent->node[n].state == RENT_NOTICE);
    take_away(host, n, spec_of(host, n)->on_notice == RENT_SAVE);
}

/* ---- notice ------------------------------------------------------------- */

/* A job whose state is on the node stops and saves it. */
static void save_lease(struct cs_host *host, uint32_t i)
{
    struct host_lease_slot *lease = &host->slots->lease[i];
    uint32_t j = lease->pub.job.i;
    const struct host_job_slot *job = host_job_slot(host, j);
    const struct role_spec *role = &host_form_of(job)->role[lease->pub.role];

    if (lease->leaving)
        return;
    if (host->slots->form[job->form].fixed || !host_per_phase(host) ||
        lease->pub.state == CS_LEASE_LOADING) {
        lose(host, i, true);
        return;
    }
    if (!(role->save_bytes > 0))
        return;                 /* works on until the end */
    host->counts.interruptions++;
    host_job_slot(host, j)->pub.interruptions++;
    if (lease->running)
        host_phase_cut(host, i);
    host_leave(host, i);
    host_tell(host, FACT_JOB_INTERRUPT, j, 0, 0);
    host_job_advance(host, j);
}

static void save_leases(struct cs_host *host, uint32_t n)
{
    uint32_t done = 0;          /* leases before it stand elsewhere, save, or
                                   work on */
    while (done < host_held(host)->count) {
        uint32_t i = host->waiting->held->item[done];
        uint32_t count = host->waiting->held->count;
        if (host_stands_on(&host->slots->lease[i], n))
            save_lease(host, i);
        if (host_held(host)->count == count && host->waiting->held->item[done] == i)
            done++;
        else
            done = 0;
    }
}

void host_rental_notice(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->nodes->rent->node[n];
    struct rent_group *group = group_of(host, n);
    const struct rent_spec *spec = spec_of(host, n);

    if (node->state == RENT_COMING || node->leases == 0) {
        take_away(host, n, true);
        return;
    }
    assert(node->state == RENT_HERE);
    loop_cancel(host->parts.loop, node->reclaim);
    node->state = RENT_NOTICE;
    group->here--;
    group->leaving++;
    host->nodes->rent->leaving[n] = true;
    host_idle_node_leaves(host, n);
    host_tell(host, FACT_RENT_NOTICE, n, 0, block_free(host, n));
    node->event = loop_at(host->parts.loop,
                          clock_after(host_now(host), spec->notice_ns),
                          LOOP_RANK_OUTAGE, taken, host, n);
    if (spec->on_notice == RENT_SAVE)
        save_leases(host, n);
    host->hooks.wake(host);
}

static void reclaim_due(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;

    (void)loop;
    if (host->nodes->rent->node[arg].state == RENT_HERE)
        host_rental_notice(host, (uint32_t)arg);
}

void host_rental_failed(struct cs_host *host, uint32_t n)
{
    enum rent_state state = host->nodes->rent->node[n].state;

    if (state == RENT_AWAY)
        return;
    for (uint32_t k = 0; k < host_held(host)->count;) {
        uint32_t i = host->waiting->held->item[k];
        if (host_stands_on(&host->slots->lease[i], n)) {
            host_interrupt(host, host->slots->lease[i].pub.job.i);
            k = 0;
        } else {
            k++;
        }
    }
    lose_parked(host, n, false);
    if (host->nodes->rent->node[n].state != RENT_AWAY)
        now_away(host, n);
}

/* ---- the beginning of a rental ------------------------------------------ */

static void keep_over(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;
    uint32_t n = (uint32_t)arg;
    struct rent_node *node = &host->nodes->rent->node[n];
    const struct rent_spec *spec = spec_of(host, n);
    const struct rent_group *group = group_of(host, n);

    (void)loop;
    if (node->state != RENT_HERE || node->leases > 0)
        return;
    if (group->here + group->coming > spec->nodes_min) {
        lose_parked(host, n, true);
        now_away(host, n);
    } else {
        node->kept = true;
        group_of(host, n)->kept++;
    }
}

/* After the decision of the instant: a lease that goes can be followed by
 * another at once. */
static void arm_keep(struct cs_host *host, uint32_t n)
{
    const struct rent_spec *spec = spec_of(host, n);
    int64_t keep = spec->keep_ns > 0 ? spec->keep_ns : KEEP_MIN_NS;

    if (spec->scale == RENT_QUEUE)
        host->nodes->rent->node[n].keep =
            loop_at(host->parts.loop, clock_after(host_now(host), keep),
                    LOOP_RANK_SETTLE, keep_over, host, n);
}

/* There are more than the least again: who waited to be given back does so. */
static void release_kept(struct cs_host *host, uint32_t near)
{
    const struct node_group *spec = cluster_group_of(host->spec, near);
    const struct rent_group *group = group_of(host, near);

    if (group->here + group->coming <= spec->rent->nodes_min)
        return;
    for (uint32_t n = spec->first_node; group->kept > 0; n++)
        if (host->nodes->rent->node[n].kept) {
            unkeep(host, n);
            arm_keep(host, n);
        }
}

static void arm_reclaim(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->nodes->rent->node[n];
    int64_t mtbf = spec_of(host, n)->reclaim_mtbf_ns;

    if (mtbf == 0)
        return;
    double u = 1 - rng_at(host->parts.seed, n, host->parts.replica,
                          RECLAIM_STREAM + (uint64_t)node->rentals * 1000);
    double s = -log(u) * clock_s_from_ns(mtbf);
    if (s < 1e9)
        node->reclaim = loop_at(host->parts.loop,
                                clock_after(host_now(host),
                                           clock_ns_for_work(s, 1.0)),
                                LOOP_RANK_OUTAGE, reclaim_due, host, n);
}

static void arrived(struct cs_host *host, uint32_t n)
{
    struct rent_node *node = &host->nodes->rent->node[n];
    struct rent_group *group = group_of(host, n);

    assert(node->state == RENT_AWAY || node->state == RENT_COMING);
    if (node->state == RENT_COMING)
        group->coming--;
    node->state = RENT_HERE;
    group->here++;
    group->idle++;
    unblock(host, n);
    host_tell(host, FACT_RENT_UP, n, 0,
              cluster_group_of(host->spec, n)->gpus);
    arm_keep(host, n);
    arm_reclaim(host, n);
    release_kept(host, n);
    host->hooks.wake(host);
}

static void start_over(struct loop *loop, void *self, uint64_t arg)
{
    (void)loop;
    arrived(self, (uint32_t)arg);
}

void host_rental_order(struct cs_host *host, uint32_t n, int64_t start_ns)
{
    struct rent_node *node = &host->nodes->rent->node[n];

    assert(node->state == RENT_AWAY && start_ns >= 0);
    node->rentals++;
    host_power_node(host, n, true);
    host_tell(host, FACT_RENT_ORDER, n, 0,
              cluster_group_of(host->spec, n)->gpus);
    if (start_ns == 0) {
        arrived(host, n);
        return;
    }
    node->state = RENT_COMING;
    group_of(host, n)->coming++;
    node->event = loop_at(host->parts.loop,
                          clock_after(host_now(host), start_ns),
                          LOOP_RANK_FINISH, start_over, host, n);
}

void host_rental_held(struct cs_host *host, uint32_t lease, bool is_taken)
{
    const struct placement *place = &host->slots->lease[lease].pub.placement;
    struct host_job_slot *job =
        host_job_slot(host, host->slots->lease[lease].pub.job.i);
    uint32_t role = host->slots->lease[lease].pub.role;

    for (uint32_t s = 0; s < place->share_count; s++) {
        uint32_t n = place->share[s].node;
        struct rent_node *node = &host->nodes->rent->node[n];
        if (spec_of(host, n) == NULL)
            continue;
        if (is_taken) {
            assert(node->state == RENT_HERE);
            if (node->leases++ == 0) {
                group_of(host, n)->idle--;
                unkeep(host, n);
                loop_cancel(host->parts.loop, node->keep);
            }
            continue;
        }
        assert(node->leases > 0);
        node->leases--;
        if (node->state == RENT_HERE && node->leases == 0) {
            group_of(host, n)->idle++;
            arm_keep(host, n);
        }
        if (node->state != RENT_NOTICE)
            continue;
        if (job->home[role] == n)       /* its memory will be gone */
            job->home[role] = ID_NONE;
        host_tell(host, FACT_RENT_TAKEN, n, 0,
                  block(host, &place->share[s]));
        if (node->leases == 0)
            now_away(host, n);
    }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lease.c - the life of a lease: granted, loading, idle or busy, gone.
 *
 * Loading is a flow over the links that exist: from shared storage the first
 * time, from the memory of the node that kept the state later on (over PCIe
 * there, over the network from elsewhere).  A lease that throws another out
 * loads only when the other's state has been saved: its bytes go first, over
 * the same PCIe.  GPUs are held, and paid for, all that time.
 *
 * The life of a lease, by its functions: host_grant() evicts idle leases, takes the placement and
 * begins to load; start_process() runs when the bytes are there, and loaded() when the process is
 * up: the lease is idle.  host_lease_work() makes it busy and idle again.  host_leave() saves its
 * state and then drops it; host_drop() ends it at once; host_regrant() moves it.
 */
#include "policies/leases/lease.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/cluster/fit.h"
#include "models/cluster/place.h"
#include "models/cluster/power.h"
#include "models/cluster/reclaimable.h"
#include "models/jobs/job.h"
#include "models/types/facts.h"
#include "models/types/placement.h"
#include "models/types/rates.h"
#include "policies/leases/cost.h"
#include "policies/leases/idle.h"
#include "policies/leases/kept.h"
#include "policies/leases/power.h"
#include "policies/leases/step.h"
#include "policies/leases/time.h"
#include "policies/state/decision.h"
#include "policies/state/ends.h"
#include "policies/state/job_slot.h"
#include "policies/state/lease_slot.h"
#include "policies/state/life.h"
#include "policies/state/news.h"
#include "policies/state/nodes.h"
#include "policies/state/read.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "sim/base/clock.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"

/* Finds a placement that the policy names node by node (want->spot).  On each node
 * the GPUs are chosen by the fit rule that is nearest to the placement rule of the
 * experiment.  The shares go to life->scratch, in the order of the spots.  False: a
 * node lacks room. */
static bool find_spots(struct cs_host *host, const struct cs_want *want,
                       struct fit_want *fit, struct placement *out)
{
    uint32_t nodes = host->spec->node_count;
    struct placement one;

    assert(want->spot_count <= nodes);
    for (uint32_t i = 0; i < want->spot_count; i++) {
        fit->gpus = want->spot[i].gpus;
        fit->node_first = want->spot[i].node;
        fit->node_end = want->spot[i].node + 1;
        if (!fit_find(host->cluster, place_fit_rule(host->rules->placement),
                      fit, host->life->scratch + i, nodes - i, &one) ||
            one.share_count != 1 || one.share[0].node != want->spot[i].node)
            return false;
        host->life->scratch[i] = one.share[0];
    }
    *out = (struct placement) { host->life->scratch, want->spot_count };
    assert(want->spot_count > 0);
    return true;
}

/* What a want asks for a role: within its nodes, with the GPUs of idle leases if it takes
 * them.  False: it can be nowhere. */
static bool make_fit(struct cs_host *host, const struct host_job_slot *job, uint32_t role,
                     const struct cs_want *want, struct fit_want *fit)
{
    assert(role < host_form_of(job)->role_count);
    if (!host_fit_want(host, job, role, want, fit))
        return false;
    if (want->node_count > 0 && fit->gpus > 0) {
        fit->node_first = want->first_node;
        fit->node_end = want->first_node + want->node_count;
    }
    if (want->take_idle) {
        fit->spare = host_idle_spare(host, want->idle_ns);
        fit->extra = fit->spare->extra;
    }
    fit->looks = &host->counts.nodes_seen;
    return true;
}

uint32_t host_lease_least_gpus(const struct cs_host *host, const struct host_job_slot *job,
                               uint32_t role)
{
    assert(job != NULL);
    return host_shape_least(host, job, role);
}

int64_t host_lease_draw_mw(const struct cs_host *host, const struct host_job_slot *job,
                           uint32_t role, bool least, const struct node_group *group)
{
    struct cs_want want = { .role = role }, option[HOST_OPTIONS];
    struct fit_want fit;

    if (least)
        want.gpus = host_shape_least(host, job, role);
    uint32_t options = host_want_options(host, job, role, &want, option);
    assert(options > 0 && options <= HOST_OPTIONS);
    for (uint32_t i = 0; i < options; i++)
        if (host_fit_want(host, job, role, &option[i], &fit))
            return host_power_want_mw(host->spec, group, &fit);
    return 0;
}

/* Finds a place for one role of a job by one want, within the limit of power.  `look`: the
 * answer alone is wanted, and no random number is drawn for it.  The place lies in
 * life->scratch until the next search. */
static bool search_one(struct cs_host *host, const struct host_job_slot *job,
                   uint32_t role, const struct cs_want *want, bool look,
                   struct placement *out)
{
    struct power_draw draw = { 0 };
    struct fit_want fit;

    assert(want->spot_count == 0 || want->spot != NULL);
    if (!make_fit(host, job, role, want, &fit))
        return false;
    if (want->spot_count > 0)
        return find_spots(host, want, &fit, out) &&
               host_power_allows(host->nodes, host->cluster, out, &draw.more_mw);
    return host_power_find(host->nodes, host->cluster, host->placer, &fit, look,
                           host->life->scratch, host->spec->node_count, &draw, out);
}

/* As search_one(); a role that may run on GPUs or on cores tries both, in the order
 * of its `types:`. */
static bool search(struct cs_host *host, const struct host_job_slot *job,
                   uint32_t role, const struct cs_want *want, bool look,
                   struct placement *out)
{
    struct cs_want option[HOST_OPTIONS];
    uint32_t options;

    if (host_form_of(job)->role[role].on_cores.cores == 0)
        return search_one(host, job, role, want, look, out);
    options = host_want_options(host, job, role, want, option);
    assert(options > 0 && options <= HOST_OPTIONS);
    for (uint32_t i = 0; i < options; i++)
        if (search_one(host, job, role, &option[i], look, out))
            return true;
    return false;
}

bool host_find(struct cs_host *host, const struct host_job_slot *job,
               uint32_t role, const struct cs_want *want,
               struct placement *out)
{
    assert(job->pub.end_ns == CLOCK_NEVER_NS);
    return search(host, job, role, want, false, out);
}

bool host_look(struct cs_host *host, const struct host_job_slot *job,
               uint32_t role, const struct cs_want *want,
               struct placement *out)
{
    assert(job->pub.end_ns == CLOCK_NEVER_NS);
    return search(host, job, role, want, true, out);
}

/* The search of search_one(), for a want without cores. */
bool host_look_for_gpus(struct cs_host *host, const struct host_job_slot *job, uint32_t role,
                        const struct cs_want *want)
{
    struct power_draw draw = { 0 };
    struct placement place;
    struct fit_want fit;

    assert(want->spot_count == 0);
    if (!make_fit(host, job, role, want, &fit) || fit.gpus == 0)
        return false;
    fit.cores = 0;
    fit.core_milli = 0;
    assert(fit.node_first <= fit.node_end);
    return host_power_find(host->nodes, host->cluster, host->placer, &fit, true,
                           host->life->scratch, host->spec->node_count, &draw, &place);
}

/* Energy follows the busy fraction.  A fraction above 1 counts as 1. */
void host_lease_settle(struct cs_host *host, struct host_lease_slot *lease)
{
    int64_t now = host_now(host), from = lease->changed_ns;

    assert(now >= from);
    if (now == from)
        return;
    lease->changed_ns = now;
    if (!lease->gang.gpu)
        return;
    lease->owner->pub.joules +=
        clock_s_from_ns(now - from) * host_lease_amount(&lease->pub) *
        power_gpu_w(lease->gang.gpu, lease->busy_now < 1 ? lease->busy_now : 1);
}

/* Gives a lease a state and a busy fraction (0 to 1, of its GPUs), and brings
 * the counters of pools, the list of idle leases and the index of ends up to
 * date. */
static void set_state(struct cs_host *host, uint32_t i, enum cs_lease_state state,
                      double busy)
{
    struct host_lease_slot *lease = &host->leases->slot[i];

    assert(lease->live);
    if (lease->pub.state == CS_LEASE_IDLE && host->nodes->idle != NULL)
        host_idle_remove(host, i);
    host_pool_ends_note(host, i, false);
    host_pools_move(host, lease, state, busy);
    host_pool_ends_note(host, i, true);
    if (state != CS_LEASE_IDLE)
        return;
    lease->pub.idle_since_ns = host_now(host);
    cluster_note_freed(host->cluster, &lease->pub.placement);
    if (host->nodes->idle != NULL)
        host_idle_add(host, i);
}

void host_lease_busy(struct cs_host *host, uint32_t i, double fraction)
{
    struct host_lease_slot *lease = &host->leases->slot[i];

    assert(lease->live && fraction >= 0);
    host_lease_settle(host, lease);
    host_pools_move(host, lease, lease->pub.state, fraction);
    host_tell(host, FACT_LEASE_BUSY, i, 0, fraction);
}

void host_lease_work(struct cs_host *host, uint32_t i, enum cs_lease_state state,
                     double fraction)
{
    assert(state != CS_LEASE_LOADING && (fraction == 0 || state == CS_LEASE_BUSY));
    host_lease_settle(host, &host->leases->slot[i]);
    set_state(host, i, state, fraction);
    host_tell(host, FACT_LEASE_BUSY, i, 0, fraction);
}

/* Gives a lease that does no work another state. */
static void change_state(struct cs_host *host, uint32_t i, enum cs_lease_state state)
{
    assert(host->leases->slot[i].busy_now == 0);
    set_state(host, i, state, 0);
}

void host_lease_waited(struct cs_host *host, struct host_lease_slot *lease, int64_t until_ns)
{
    assert(until_ns >= lease->paid_ns);
    if (until_ns > lease->paid_ns)
        lease->owner->pub.usd_wait += host_lease_usd(host->spec, &lease->pub.placement,
                                                     lease->paid_ns, until_ns);
    lease->paid_ns = until_ns;
}

/* Charges what the lease cost since it began to load, or to save, as the cost
 * of a switch, and what it cost before as waiting. */
static void pay_switch(struct cs_host *host, struct host_lease_slot *lease)
{
    host_lease_waited(host, lease, lease->load_from_ns);
    lease->owner->pub.usd_switch += host_lease_usd(host->spec, &lease->pub.placement,
                                                   lease->load_from_ns, host_now(host));
    lease->paid_ns = host_now(host);
}

/* Adds to the job what its lease held and cost from the grant to now: GPU-seconds,
 * core-seconds, joules, USD, and the part of USD that went into a switch. */
static void settle_job(struct cs_host *host, struct host_lease_slot *lease)
{
    struct host_job *job = &lease->owner->pub;
    double s = clock_s_from_ns(host_now(host) - lease->pub.since_ns);

    assert(s >= 0 && lease->load_from_ns >= lease->pub.since_ns);
    host_lease_settle(host, lease);
    job->gpu_seconds += s * host_lease_amount(&lease->pub);
    job->core_seconds +=
        s * (double)placement_core_milli(&lease->pub.placement) / 1000.0;
    job->usd += host_lease_usd(host->spec, &lease->pub.placement, lease->pub.since_ns,
                               host_now(host));
    if (lease->pub.state == CS_LEASE_LOADING)
        pay_switch(host, lease);
    else
        host_lease_waited(host, lease, host_now(host));
}

/* The lease of a role has gone.  A task of the role that would have continued
 * on it asks for a new one. */
static void lose_held(struct cs_host *host, const struct host_job_slot *job,
                      uint32_t role)
{
    assert(role < host_form_of(job)->role_count);
    uint32_t task = job->role_task[role];

    if (task == ID_NONE)
        return;
    host_task_lost_lease(host, task);
}

/* A lease ends in which the restart of its job went on: the next lease owes the rest, of
 * several that end together the longest. */
static void owe_rest(const struct cs_host *host, const struct host_lease_slot *lease)
{
    struct host_job_slot *job = lease->owner;
    int64_t left = lease->restart_until_ns - host_now(host);

    assert(job->penalty_ns >= 0);
    if (left <= 0)
        return;
    if (job->restart_until_ns > 0)
        job->penalty_ns = clock_after(job->penalty_ns, left);
    else if (left > job->penalty_ns)
        job->penalty_ns = left;
    job->restart_until_ns = 0;
}

/* Pays ahead for the bytes of a copy of `all` bytes that cross the shared storage. */
static void pay_copy(struct cs_host *host, struct host_lease_slot *lease, double bytes, double all)
{
    double usd = host_transfer_usd(host->spec, &lease->pub.placement, bytes);

    assert(usd >= 0 && all > 0);
    lease->owner->pub.usd_transfer += usd;
    lease->copy_usd = usd / all;
}

/* Stops what a lease copies, and gives back what was paid for the rest of it. */
static void stop_copy(struct cs_host *host, struct host_lease_slot *lease)
{
    double left = flow_stop(host->parts.net, lease->flow);

    assert(!lease->running && left >= 0);
    lease->owner->pub.usd_transfer -= left * lease->copy_usd;
    lease->copy_usd = 0;
}

/* Ends a lease at once.  Everything that knows it is told: flows and events are
 * cancelled, its work in progress is lost, the job is charged, GPUs and power are
 * free again, and counters and indexes forget it.  A job without leases no longer
 * runs.  A job that shared the GPUs has them alone from now on. */
void host_drop(struct cs_host *host, uint32_t i)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct host_job_slot *job = lease->owner;
    uint32_t role = lease->pub.role, beside = lease->beside;

    assert(lease->live && !lease->running);
    stop_copy(host, lease);
    loop_cancel(host->parts.loop, lease->event);
    loop_cancel(host->parts.loop, lease->recall);
    job->pub.work_lost_s += lease->part;
    owe_rest(host, lease);
    settle_job(host, lease);
    host_tell(host, FACT_LEASE_DROP, i, lease->pub.job.i, lease->pub.gpus);
    host_pools_add(host, lease, -1);
    if (host->spec->power_cap_w > 0)
        host_power_lease(host->nodes, host->cluster, &lease->pub.placement, false);
    if (lease->pub.state == CS_LEASE_IDLE)
        host_idle_remove(host, i);
    cluster_release(host->cluster, &lease->pub.placement);
    if (lease->pub.state != CS_LEASE_LOADING)   /* what is on its way is not there */
        host_kept_put(host, job, role, &lease->pub.placement);
    if (job->lease[role] == i) {
        job->lease[role] = ID_NONE;
        lose_held(host, job, role);
    }
    job->leases--;
    if (job->leases == 0) {
        host_running_remove(host, lease->pub.job.i);
        host->hooks.ran(host, lease->pub.job.i, false);
    }
    if (host->rent)
        host->hooks.held(host, i, false);
    host_steps_drop(host, i);
    host_lease_unmake(host, i);
    if (beside != ID_NONE) {
        host->leases->slot[beside].beside = ID_NONE;
        if (!host->decision->closing)
            host->hooks.alone(host, beside);
    }
    host->hooks.wake(host);
}

/* The end of the flow that saves a lease's state: the lease ends.  `self`: the
 * host, `arg`: the lease. */
static void left(void *self, uint64_t arg)
{
    host_drop(self, (uint32_t)arg);
}

/* Starts a flow of `bytes` bytes, at most bps_max bytes a second, over the first
 * `uses` links in life->uses; without links, at bps_max alone.  `done` is called
 * with the lease when all is copied. */
static struct flow_handle copy(struct cs_host *host, double bytes,
                               double bps_max, uint32_t uses,
                               flow_done_fn *done, uint32_t lease)
{
    assert(bytes > 0 && bps_max > 0);
    struct flow_spec spec = {
        .work = bytes, .rate_max = bps_max, .use = host->life->uses,
        .use_count = uses, .done = done, .self = host, .arg = lease,
    };
    return flow_start(host->parts.net, &spec);
}

/* Returns the bandwidth of the PCIe links of a placement's GPUs; INFINITY: it has none. */
static double pcie_bps(const struct cluster_spec *spec,
                       const struct placement *placement)
{
    assert(placement->share_count > 0);
    double bps = 0;

    for (uint32_t i = 0; i < placement->share_count; i++)
        bps += fabric_pcie_bps(
            cluster_group_of(spec, placement->share[i].node),
            placement->share[i].gpu_mask);
    return bps > 0 ? bps : INFINITY;
}

/* Over the host links of the lease's GPUs, with no other flow there.  A lease that loads has
 * nothing to save. */
double host_save_s(const struct cs_host *host, uint32_t i)
{
    const struct host_lease_slot *lease = &host->leases->slot[i];
    const struct host_job_slot *job = lease->owner;
    const struct role_spec *role = &host_form_of(job)->role[lease->pub.role];

    assert(lease->live && role->save_bytes >= 0);
    if (lease->pub.state == CS_LEASE_LOADING)   /* nothing is there yet */
        return 0;
    return role->save_bytes / pcie_bps(host->spec, &lease->pub.placement);
}

bool host_on_leaving_node(const struct host_nodes *nodes,
                          const struct placement *placement)
{
    assert(placement->share_count > 0);
    for (uint32_t s = 0; nodes->leaving && s < placement->share_count; s++)
        if (nodes->leaving[placement->share[s].node])
            return true;
    return false;
}

/* Gives an idle lease up.  Its state is first saved over the PCIe links of its
 * GPUs, and for that time it loads and no longer belongs to its role; a node that
 * is being taken away saves to the shared storage.  Without state or links it ends
 * at once. */
void host_leave(struct cs_host *host, uint32_t i)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct host_job_slot *job = lease->owner;
    const struct role_spec *role = &host_form_of(job)->role[lease->pub.role];
    double bps = pcie_bps(host->spec, &lease->pub.placement);

    assert(lease->pub.state == CS_LEASE_IDLE && !lease->leaving);
    if (!(role->save_bytes > 0) || !isfinite(bps)) {
        host_drop(host, i);
        return;
    }
    struct demand_rates rates = { .pcie_bytes = 1 };
    if (host_on_leaving_node(host->nodes, &lease->pub.placement))
        rates.storage_bytes = 1;
    uint32_t uses = fabric_uses(host->parts.fabric, &lease->pub.placement,
                                &rates, host->life->uses);
    change_state(host, i, CS_LEASE_LOADING);
    lease->leaving = true;
    lease->load_from_ns = host_now(host);
    if (rates.storage_bytes > 0)
        pay_copy(host, lease, role->save_bytes, role->save_bytes);
    host_tell(host, FACT_LEASE_LEAVE, i, lease->pub.job.i, 0);
    if (job->lease[lease->pub.role] == i)
        job->lease[lease->pub.role] = ID_NONE;
    lose_held(host, job, lease->pub.role);
    lease->flow = copy(host, role->save_bytes, bps, uses, left, i);
}

/* A lease that is held while its state is copied no longer loads or works. */
void host_lease_hold(struct cs_host *host, uint32_t i, double s, loop_fn *then)
{
    struct host_lease_slot *lease = &host->leases->slot[i];

    assert(!lease->running && !lease->leaving && s > 0);
    stop_copy(host, lease);
    loop_cancel(host->parts.loop, lease->event);
    if (lease->pub.state != CS_LEASE_LOADING) {
        change_state(host, i, CS_LEASE_LOADING);
        lease->load_from_ns = host_now(host);
        host_tell(host, FACT_LEASE_LEAVE, i, lease->pub.job.i, 0);
    }
    lease->leaving = true;
    lease->event = loop_at(host->parts.loop,
                           clock_after(host_now(host), clock_ns_for_work(s, 1.0)),
                           LOOP_RANK_FINISH, then, host, i);
}

/* Sums over the idle leases in the way: what saving their state now and loading it
 * again later takes on free links, and waking their processes. */
double host_evict_s(struct cs_host *host, const struct placement *placement)
{
    const uint32_t *found;
    uint32_t count = host_idle_in_the_way(host, placement, false, &found);
    double s = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct host_lease_slot *lease = &host->leases->slot[found[i]];
        const struct role_spec *role =
            &host_form_of(lease->owner)
                 ->role[lease->pub.role];
        s += (role->save_bytes + role->load_bytes) /
                 pcie_bps(host->spec, &lease->pub.placement) +
             job_role_start_s(role, true, placement_gpus(&lease->pub.placement) > 0);
    }
    assert(s >= 0);
    return s;
}

/* Throws out idle leases until the placement can be taken: first those on the very
 * GPUs, then, while cores or memory are short, any on those nodes.  Returns the
 * bytes of state that they must save, which are copied before the new lease loads;
 * 0 if nothing was in the way. */
static double evict(struct cs_host *host, const struct placement *placement)
{
    double bytes = 0;

    /* Who takes none from idle leases has found room beside them. */
    if (host->nodes->idle == NULL ||
        cluster_can_take(host->cluster, placement))
        return 0;
    for (int pass = 0; pass < 2; pass++) {
        const uint32_t *found;
        uint32_t count = host_idle_in_the_way(host, placement, pass == 1,
                                              &found);
        for (uint32_t i = 0; i < count; i++) {
            const struct host_lease_slot *lease = &host->leases->slot[found[i]];
            assert(lease->live && lease->pub.state == CS_LEASE_IDLE);
            bytes += host_form_of(lease->owner)
                         ->role[lease->pub.role].save_bytes;
            host_drop(host, found[i]);
            if (cluster_can_take(host->cluster, placement))
                return bytes;
        }
    }
    assert(bytes >= 0);
    return bytes;
}

/* The process of the role is up.  The lease becomes idle, which ends the cost of
 * the switch, and the job goes on with what is ready. */
static void loaded(void *self, uint64_t arg)
{
    struct cs_host *host = self;
    uint32_t i = (uint32_t)arg;
    struct host_lease_slot *lease = &host->leases->slot[i];

    assert(lease->live && lease->pub.state == CS_LEASE_LOADING);
    pay_switch(host, lease);
    change_state(host, i, CS_LEASE_IDLE);
    host_tell(host, FACT_LEASE_READY, i, host->leases->slot[i].pub.job.i, 0);
    host->hooks.lease_ready(host, i);
}

/* The event at the end of start_process(). */
static void started(struct loop *loop, void *self, uint64_t arg)
{
    (void)loop;
    loaded(self, arg);
}

/* The restart of its job goes on in a lease whose bytes are loaded. */
static void begin_restart(const struct cs_host *host, struct host_lease_slot *lease)
{
    struct host_job_slot *job = lease->owner;

    assert(job->penalty_ns >= 0 && lease->restart_ns >= 0);
    if (job->penalty_ns > 0)
        lease->restart_ns = job->penalty_ns;
    job->penalty_ns = 0;
    if (lease->restart_ns == 0)
        return;
    lease->restart_until_ns = clock_after(host_now(host), lease->restart_ns);
    if (lease->restart_until_ns > job->restart_until_ns)
        job->restart_until_ns = lease->restart_until_ns;
}

/* The bytes are loaded; the process still has to come up, on GPUs or on cores: start_s
 * seconds the first time, wake_s later, and the penalty that a stop laid on the job.  From now
 * on the role's state lies on the nodes of the lease. */
static void start_process(void *self, uint64_t arg)
{
    struct cs_host *host = self;
    struct host_lease_slot *lease = &host->leases->slot[arg];
    struct host_job_slot *job = lease->owner;
    const struct role_spec *role = &host_form_of(job)->role[lease->pub.role];
    bool later = job->home[lease->pub.role] != ID_NONE;
    double s = job_role_start_s(role, later, placement_gpus(&lease->pub.placement) > 0);
    int64_t wait_ns;

    assert(lease->live && lease->pub.state == CS_LEASE_LOADING);
    if (later)
        host_note_switch(host, lease, s + clock_s_from_ns(host_now(host) -
                                                     lease->load_from_ns));
    begin_restart(host, lease);
    wait_ns = lease->restart_ns;
    if (s > 0)
        wait_ns = clock_after(wait_ns, clock_ns_for_work(s, 1.0));
    host_kept_put(host, job, lease->pub.role, &lease->pub.placement);
    if (wait_ns == 0) {
        loaded(host, arg);
        return;
    }
    lease->event = loop_at(host->parts.loop,
                           clock_after(host_now(host), wait_ns),
                           LOOP_RANK_FINISH, started, host, arg);
}

/* Loads the state of a role on cores, which lies in the memory of the node: from
 * the shared storage the first time, over the network from another node, and not at
 * all on the node that kept it. */
static void load_memory(struct cs_host *host, uint32_t i)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct host_job_slot *job = lease->owner;
    const struct placement *to = &lease->pub.placement;
    uint32_t home = job->home[lease->pub.role], uses;
    double bytes = job_role_load(&host_form_of(job)->role[lease->pub.role], false,
                                 false, 1).bytes;
    struct share share = { .node = home };
    struct placement from = { .share = &share, .share_count = 1 };
    struct demand_rates rates = { .storage_bytes = 1 };

    if (!(bytes > 0) || home == to->share[0].node) {
        start_process(host, i);
        return;
    }
    if (home == ID_NONE)
        pay_copy(host, lease, bytes, bytes);
    uses = home == ID_NONE
               ? fabric_uses(host->parts.fabric, to, &rates, host->life->uses)
               : fabric_uses_between(host->parts.fabric, &from, to, 1,
                                     host->life->uses);
    assert(lease->pub.gpus == 0);
    if (uses == 0)
        start_process(host, i);
    else
        lease->flow = copy(host, bytes, INFINITY, uses, start_process, i);
}

/* Adds to life->uses what `bytes` of new weights take on their way into the memory of
 * the nodes; their way from there is that of the load. */
static uint32_t add_owed(struct cs_host *host, const struct host_lease_slot *lease,
                         double bytes, uint32_t uses)
{
    const struct fabric *fabric = host->parts.fabric;
    const struct host_job_slot *job = lease->owner;
    struct flow_use *more = host->life->more_uses;
    struct share one;
    uint32_t from, count, nics = 0;

    assert(bytes > 0);
    if (!(host_kept_owed(job, lease->pub.role, &from) > 0) || job->home[from] == ID_NONE)
        return uses;
    struct placement home = host_kept_from(job, from, &one);
    count = fabric_uses_copies(fabric, &home, &lease->pub.placement, bytes, more);
    for (uint32_t k = 0; k < count; k++)
        if (fabric_class(fabric, more[k].link) != FABRIC_PCIE)
            more[nics++] = more[k];
    return fabric_uses_join(host->life->uses, uses, more, nics);
}

/* Stores in life->uses what a load moves over links, per byte of state, and returns how
 * many entries that are.  saved, loaded: parts of a byte that are state of leases in the
 * way, and the role's own; far: the part of `loaded` that its nodes take over the
 * network.  owed: bytes of new weights for each byte of state. */
static uint32_t load_uses(struct cs_host *host, const struct host_lease_slot *lease,
                          double saved, double loaded, double far, double owed)
{
    const struct fabric *fabric = host->parts.fabric;
    const struct host_job_slot *job = lease->owner;
    const struct placement *to = &lease->pub.placement;
    bool kept = job->home[lease->pub.role] != ID_NONE;
    struct flow_use *use = host->life->uses, *more = host->life->more_uses;
    struct demand_rates rates = {
        .pcie_bytes = saved + (kept ? loaded - far : loaded),
        .storage_bytes = kept ? 0 : far,
    };
    uint32_t uses = fabric_uses(fabric, to, &rates, use);
    struct share one;

    assert(saved >= 0 && far >= 0 && far <= loaded && owed >= 0);
    if (kept && far > 0) {
        struct placement home = host_kept_from(job, lease->pub.role, &one);
        uses = fabric_uses_join(
            use, uses, more, fabric_uses_between(fabric, &home, to, far, more));
    }
    return owed > 0 ? add_owed(host, lease, owed, uses) : uses;
}

/* Starts to load the state of a role onto its GPUs.  `saved`: bytes that the leases
 * in the way must save first, over the same PCIe links; all copies are one flow, so
 * that the links are shared with others for all of the bytes.
 *
 * The state comes from the shared storage the first time, and later from the nodes
 * that have it; new weights come from the role that trains.  Without bytes or links
 * the process starts at once. */
static void begin_loading(struct cs_host *host, uint32_t i, double saved)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct host_job_slot *job = lease->owner;
    uint32_t role = lease->pub.role;
    const struct placement *to = &lease->pub.placement;
    bool kept = job->home[role] != ID_NONE;
    struct role_load load = job_role_load(
        &host_form_of(job)->role[role],
        !kept && host_job_is_new(host, lease->pub.job.i), true, to->share_count);

    assert(saved >= 0 && lease->pub.state == CS_LEASE_LOADING);

    if (lease->pub.gpus == 0) {
        load_memory(host, i);
        return;
    }
    double owed = host_kept_owed(job, role, NULL), all = load.bytes + saved;
    if (!(all > 0)) {
        start_process(host, i);
        return;
    }
    double bps = pcie_bps(host->spec, to), loaded = load.bytes / all;
    uint32_t uses = load_uses(host, lease, saved / all, loaded, loaded * load.part,
                              owed / all);

    if (!kept)
        pay_copy(host, lease, load.bytes * load.part, all);
    host_kept_owe(host, job, role, role, 0);
    if (uses == 0 && !isfinite(bps))
        start_process(host, i);
    else
        lease->flow = copy(host, all, bps, uses, start_process, i);
}

/* Does this lease start the job?  The first lease with GPUs or with cores to
 * compute on does.  Cores that prepare data do only if no role of the job has GPUs. */
static bool starts(const struct host_job_slot *job,
                   const struct host_lease_slot *lease)
{
    const struct job_request *request = &job->pub.request;

    assert(lease->pub.role < request->form->role_count);
    if (lease->pub.gpus > 0 ||
        request->form->role[lease->pub.role].on_cores.cores > 0)
        return true;
    for (uint32_t r = 0; r < request->form->role_count; r++)
        if (job_role_gpus(request, r) > 0)
            return false;
    return true;
}

/* Returns the pools, as a mask, on whose nodes a placement lies; never 0. */
static uint32_t pools_of(const struct cluster_spec *spec,
                         const struct placement *placement)
{
    uint32_t pools = 0;

    for (uint32_t s = 0; s < placement->share_count; s++) {
        const struct node_group *group =
            cluster_group_of(spec, placement->share[s].node);
        pools |= 1u << group->pool;
        if (spec->pool_count == 1)
            break;
    }
    assert(pools != 0);
    return pools;
}

/* Returns how long a lease that begins now is held by the restart of its job: each that
 * begins before the restart is over is held for all of it, so that a job whose roles start
 * together works again after the slowest load and the restart. */
static int64_t restart_of(const struct cs_host *host, const struct host_job_slot *job)
{
    int64_t longest = 0;

    assert(job->penalty_ns >= 0);
    if (job->penalty_ns > 0 || job->restart_until_ns <= host_now(host))
        return job->penalty_ns;
    for (uint32_t r = 0; r < FORM_ROLES_MAX; r++) {
        uint32_t i = job->lease[r];

        if (i != ID_NONE && host->leases->slot[i].restart_ns > longest)
            longest = host->leases->slot[i].restart_ns;
    }
    return longest;
}

/* Makes a lease of a placement and counts it everywhere; returns its number.  It
 * does not load yet.  `speedup`: how fast the job runs there against what it asked
 * for; 0: by the law.  The part of a phase that a stop kept goes on in it. */
static uint32_t take(struct cs_host *host, uint32_t j, uint32_t role,
                     const struct placement *placement, double speedup)
{
    struct host_job_slot *job = host_job_slot(host, j);
    int64_t now = host_now(host);

    assert(job->lease[role] == ID_NONE);
    cluster_take(host->cluster, placement);
    if (host->spec->power_cap_w > 0)
        host_power_lease(host->nodes, host->cluster, placement, true);
    uint32_t i = host_lease_make(host);
    struct host_lease_slot *lease = &host->leases->slot[i];
    /* The caller's placement lies in scratch: the lease needs a copy of its own. */
    host_placement_keep(host, lease, placement);
    lease->gang = fabric_gang(host->spec, &lease->pub.placement);
    lease->pool_mask = pools_of(host->spec, &lease->pub.placement);
    lease->pub.job.i = j;
    lease->owner = job;
    lease->pub.role = role;
    lease->pub.gpus = lease->gang.gpus;
    lease->pub.gpu_milli = placement->share[0].gpu_milli > 0
                               ? placement->share[0].gpu_milli : GPU_MILLI;
    lease->pub.state = CS_LEASE_LOADING;
    lease->pub.since_ns = lease->changed_ns = lease->load_from_ns = now;
    lease->paid_ns = now;
    lease->restart_ns = restart_of(host, job);
    lease->speedup = speedup > 0 ? speedup
                           : host_speedup_on(host, job, &lease->pub.placement);
    lease->beside = ID_NONE;
    host_lease_expect(
        host, i, clock_after(now, host_lease_left_ns(host, job, lease)));
    /* A role on cores leaves the type of the job's last GPUs as it is. */
    if (lease->gang.gpu)
        job->pub.gpu_type = lease->gang.gpu->name;
    job->lease[role] = i;
    if (job->leases++ == 0) {
        host_running_add(host, j);
        host->hooks.ran(host, j, true);
    }
    job->pub.status = JOB_RUNNING;
    if (job->pub.start_ns == CLOCK_NEVER_NS && starts(job, lease)) {
        job->pub.start_ns = now;
        host_tell(host, FACT_JOB_START, j, 0, lease->pub.gpus);
    }
    host_pools_add(host, lease, +1);
    if (host->rent)
        host->hooks.held(host, i, true);
    /* The part is taken over once; a phase of another role leaves it for the role that it is of. */
    if (job->stopped_part > 0 &&
        host_form_of(job)->phase[job->stopped_phase].role == role) {
        lease->part = job->stopped_part;
        lease->part_phase = job->stopped_phase;
        job->stopped_part = 0;
    }
    host_tell(host, FACT_LEASE_TAKE, i, j, lease->pub.gpus);
    return i;
}

/* Throws out what is in the way, takes the placement, and starts to load.  The
 * lease is there at once, and idle or busy later. */
uint32_t host_grant_at(struct cs_host *host, uint32_t j, uint32_t role,
                       const struct placement *placement, double speedup)
{
    double saved = evict(host, placement);
    uint32_t i = take(host, j, role, placement, speedup);

    begin_loading(host, i, saved);
    assert(host->leases->slot[i].live);
    return i;
}

uint32_t host_grant(struct cs_host *host, uint32_t j, uint32_t role,
                    const struct placement *placement)
{
    return host_grant_at(host, j, role, placement, 0);
}

/* The state that was on the old GPUs is saved: the new lease may load it.  `self`
 * is the host, `arg` the new lease. */
static void moved(void *self, uint64_t arg)
{
    struct cs_host *host = self;

    assert(host->leases->slot[arg].live && host->leases->slot[arg].saving);
    host->leases->slot[arg].saving = false;
    begin_loading(host, (uint32_t)arg, 0);
}

/* Returns the flow that saves the state of a lease which is about to be moved, for the
 * caller to give to the new lease; all zero: nothing is to be saved.  A lease that loads
 * has nothing of its own.  If it took over from another one whose state is still being
 * saved, that flow goes on: over the links of the GPUs on which the state lies. */
static struct flow_handle save_of(struct cs_host *host, struct host_lease_slot *lease)
{
    double bytes = host_form_of(lease->owner)->role[lease->pub.role].save_bytes;
    double bps = pcie_bps(host->spec, &lease->pub.placement);
    struct demand_rates rates = { .pcie_bytes = 1 };
    struct flow_handle none = { 0 }, flow = lease->flow;

    assert(lease->live && !lease->running && !lease->leaving);
    if (lease->pub.state == CS_LEASE_LOADING) {
        if (!lease->saving)
            return none;
        lease->flow = none;
        return flow;
    }
    if (!(bytes > 0) || !isfinite(bps))
        return none;
    uint32_t uses = fabric_uses(host->parts.fabric, &lease->pub.placement, &rates,
                                host->life->uses);
    return copy(host, bytes, bps, uses, moved, ID_NONE);
}

/* Moves or resizes a lease: ends the old one and takes the new placement in one
 * step, so that the job keeps running and the part of the phase that is done is
 * kept.  The state is saved from the old GPUs first, and then loaded. */
uint32_t host_regrant_at(struct cs_host *host, uint32_t old,
                         const struct placement *placement, double speedup)
{
    struct host_lease_slot *lease = &host->leases->slot[old];
    struct job_id id = lease->pub.job;
    struct host_job_slot *job = host_job_slot(host, id.i);
    uint32_t role = lease->pub.role, phase = lease->part_phase;
    double part = lease->part;
    struct flow_handle save = save_of(host, lease);

    assert(lease->live && job->leases > 0);
    lease->part = 0;            /* it is not lost: the new lease has it */
    job->leases++;              /* and the job runs on: it keeps its place */
    host_drop(host, old);
    uint32_t i = take(host, id.i, role, placement, speedup);
    job->leases--;
    lease = &host->leases->slot[i];
    lease->part = part;
    lease->part_phase = phase;
    lease->saving = flow_alive(host->parts.net, save);
    if (lease->saving) {
        lease->flow = save;
        flow_set_arg(host->parts.net, save, i);
    } else {
        begin_loading(host, i, 0);
    }
    return i;
}

uint32_t host_regrant(struct cs_host *host, uint32_t old,
                      const struct placement *placement)
{
    return host_regrant_at(host, old, placement, 0);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * view.c - what a policy may ask: the cs_ functions that change nothing.
 *
 * What is free as it is now; what is left and what would be, as the policy is told
 * it (`estimate`).  read.c, queue.c and slots.c of policies/state answer what
 * waits and what runs.
 */
#include "policies/advice.h"
#include "policies/cores.h"
#include "policies/due.h"
#include "policies/host/view.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/jobs/job.h"
#include "models/jobs/regimes.h"
#include "models/laws/phase_cache.h"
#include "policies/leases/cost.h"
#include "policies/leases/kept.h"
#include "policies/leases/lease.h"
#include "policies/leases/time.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/plan.h"
#include "policies/policy.h"
#include "policies/rank.h"
#include "policies/resize.h"
#include "policies/state/decision.h"
#include "policies/state/ends.h"
#include "policies/state/form.h"
#include "policies/state/gpus.h"
#include "policies/state/job_slot.h"
#include "policies/state/lease_slot.h"
#include "policies/state/life.h"
#include "policies/state/nodes.h"
#include "policies/state/pools.h"
#include "policies/state/queue.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/waiting.h"
#include "sim/base/clock.h"

int64_t cs_now_ns(const struct cs_host *host)
{
    return host_now(host);
}

const struct cs_policy *cs_table(const struct cs_host *host)
{
    assert(host->policy != NULL);
    return host->policy;
}

bool cs_skips(const struct cs_host *host)
{
    return host->rules->blocking == HOST_SKIP;
}

/* 0 where the host asks by ticks: a tick is not a round of the policy. */
int64_t cs_round_ns(const struct cs_host *host)
{
    assert(host->rules->round_ns >= 0 && host->rules->tick_ns >= 0);
    return host->rules->tick_ns > 0 ? 0 : host->rules->round_ns;
}

/* Is this decision the first at or after a multiple of the interval?  Rounds
 * stand so far apart that a multiple may lie between two of them: then it is
 * due at the next one.  Example: rounds of 60 s and an interval of 100 s are
 * due at 0, 120, 240 and 300 s. */
bool cs_is_due(const struct cs_host *host, int64_t interval_ns)
{
    int64_t now = host_now(host), round = host->rules->round_ns;

    assert(interval_ns > 0 && round >= 0);
    return now % interval_ns == 0 || now < round ||
           (round > 0 && now / interval_ns > (now - round) / interval_ns);
}

/* Counts each decision once, however often the policy says it. */
void cs_limit_reached(struct cs_host *host)
{
    host->counts.limited += !host->decision->limited;
    host->decision->limited = true;
    assert(host->counts.limited <= host->counts.decide);
}

/* True at most once in `resolve_at_most_every`; the first question is always
 * answered so. */
bool cs_may_solve(struct cs_host *host)
{
    assert(host->decision->solved_ns <= host_now(host));
    if (host->decision->solved_ns > 0 &&
        host_now(host) < clock_after(host->decision->solved_ns, host->rules->resolve_ns))
        return false;
    host->decision->solved_ns = host_now(host);
    return true;
}

/* Is the pool in a mask?  A mask of 0 holds all pools. */
static bool in_mask(uint32_t mask, uint32_t pool)
{
    assert(pool < 32);
    return mask == 0 || (mask >> pool & 1);
}

/* Returns the GPUs of some pools, without those that failed and those that are
 * not rented now. */
static uint32_t gpus_in_service(const struct cs_host *host, uint32_t pool_mask)
{
    uint32_t gpus = 0;

    for (uint32_t p = 0; p < host->spec->pool_count; p++)
        if (in_mask(pool_mask, p))
            gpus += host->pools->pool[p].gpus - host->pools->pool[p].down -
                    (uint32_t)(host->pools->pool[p].away_milli / GPU_MILLI);
    assert(gpus <= host->spec->gpu_count);
    return gpus;
}

/* A power cap counts as if GPUs were missing: free ones that it does not let
 * run are taken off. */
uint32_t cs_total_gpus(const struct cs_host *host, uint32_t pool_mask)
{
    uint32_t gpus = gpus_in_service(host, pool_mask), free = host_free_gpus(host, pool_mask);
    uint32_t more = host_gpus_capped(host->nodes, host->spec->power_cap_w);

    assert(free <= host->spec->gpu_count);
    return more < free ? gpus - (free - more) : gpus;
}

uint32_t cs_total_cores(const struct cs_host *host)
{
    assert(host->spec->node_count > 0);
    return host->spec->core_count;
}

/* Of all nodes of the cluster's file, rented or not. */
double cs_total_memory_bytes(const struct cs_host *host)
{
    double bytes = 0;

    for (uint32_t g = 0; g < host->spec->group_count; g++)
        bytes += (double)host->spec->group[g].memory_bytes *
                 host->spec->group[g].node_count;
    assert(bytes >= 0);
    return bytes;
}

uint32_t cs_free_gpus(const struct cs_host *host, uint32_t pool_mask)
{
    uint32_t gpus = host_free_gpus(host, pool_mask);
    uint32_t more = host_gpus_capped(host->nodes, host->spec->power_cap_w);

    assert(gpus <= host->spec->gpu_count);
    return more < gpus ? more : gpus;
}

uint32_t cs_idle_gpus(const struct cs_host *host, uint32_t pool_mask)
{
    uint32_t gpus = 0;

    for (uint32_t p = 0; p < host->spec->pool_count; p++)
        if (in_mask(pool_mask, p))
            gpus += host->pools->pool[p].idle_leased;
    assert(gpus <= host->spec->gpu_count || host->waiting->has_parts);
    return gpus;
}

uint32_t cs_pool_count(const struct cs_host *host)
{
    assert(host->spec->pool_count > 0 && host->spec->pool_count <= 32);
    return host->spec->pool_count;
}

const char *cs_pool_name(const struct cs_host *host, uint32_t pool)
{
    assert(host->spec->pool_count <= 32);
    return pool < host->spec->pool_count ? host->spec->pool_name[pool] : NULL;
}

int64_t cs_left_ns(const struct cs_host *host, struct job_id job)
{
    assert(job.i < host->jobs->count);
    return host_left_ns(host, host_job_slot(host, job.i), false);
}

/* A job that learns has no length of its own (goodput.h). */
bool cs_is_steady(const struct cs_host *host, struct job_id id)
{
    assert(id.i < host->jobs->count);
    const struct host_job_slot *job = host_job_slot(host, id.i);
    const struct job_form *form = host_form_of(job);

    return host->spec->failures == NULL && !host->spec->rents && form->role_count == 1 &&
           host->forms->form[job->form].fixed && form->packing == NULL &&
           job->pub.request.goodput == NULL && !(form->role[0].load_bytes > 0) &&
           job_role_is_up_at_once(&form->role[0]);
}

/* Returns by how much cs_left_ns() changes in a nanosecond: -1 for a job of one
 * phase of known length that starts at once and runs at its known speed; NAN
 * for all others. */
double cs_left_per_ns(const struct cs_host *host, struct job_id job)
{
    const struct host_form *form =
        &host->forms->form[host_job_slot(host, job.i)->form];
    const struct role_spec *role = &form->form->role[0];

    assert(form->form->role_count > 0);
    return form->fixed && !form->form->paced &&
                   form->form->packing == NULL &&
                   form->form->role_count == 1 && !(role->load_bytes > 0) &&
                   job_role_is_up_at_once(role)
               ? -1 : (double)NAN;
}

double cs_attained_gpu_s(const struct cs_host *host, struct job_id id)
{
    assert(host_job_slot(host, id.i)->pub.gpu_seconds >= 0);
    assert(id.i < host->jobs->count);
    return host_attained_gpu_s(host, host_job_slot(host, id.i));
}

/* Returns the GPU-seconds that a job gains in a second: the GPUs that it holds
 * now. */
double cs_attained_per_s(const struct cs_host *host, struct job_id id)
{
    assert(id.i < host->jobs->count);
    return host_attained_per_s(host, host_job_slot(host, id.i));
}

bool host_task_live(const struct cs_host *host, struct task_id task)
{
    return task.i < host->tasks->count && host->tasks->slot[task.i].live;
}

uint32_t host_want_role(const struct cs_task *task, const struct cs_want *want)
{
    assert(task->role == CS_ALL_ROLES || task->role < FORM_ROLES_MAX);
    return task->role == CS_ALL_ROLES ? want->role : task->role;
}

/* By the law of the phase on that gang, with lengths of responses at their mean and
 * free links; by the estimate of the task where there is no law (a whole job, a
 * length that is known, a copy of weights), or where the law knows no end there. */
double host_run_s(struct cs_host *host, const struct cs_task *task,
                  const struct gang *gang)
{
    struct host_job_slot *job = host_job_slot(host, task->job.i);
    const struct phase_law *law =
        phase_law_at(&host_form_of(job)->phase[task->phase], job->pub.step);
    double s = INFINITY;

    if (task->role != CS_ALL_ROLES && law->kind != LAW_FIXED &&
        law->kind != LAW_SYNC)
        s = phase_cache_seconds(host->life->plans, law, gang, 0.5);
    assert(s >= 0);
    return isfinite(s) ? s : clock_s_from_ns(task->estimate_ns);
}

bool cs_forecast_held(struct cs_host *host, struct task_id id,
                      struct cs_forecast *out)
{
    if (!host_task_live(host, id) || host->tasks->slot[id.i].pub.held.i == ID_NONE)
        return false;
    const struct cs_task *task = &host->tasks->slot[id.i].pub;
    const struct host_lease_slot *lease = &host->leases->slot[task->held.i];
    assert(lease->live);
    *out = (struct cs_forecast) {
        .run_s = host_run_s(host, task, &lease->gang), .gpus = lease->pub.gpus,
    };
    out->usd = out->run_s / 3600 *
               host_gpu_usd_per_h(host->spec, &lease->pub.placement,
                                  host_now(host));
    return true;
}

/* A count of GPUs that saves most searches in a full cluster.  True where parts of
 * GPUs are in play: then whole GPUs say nothing. */
bool host_room_at_all(const struct cs_host *host, const struct cs_want *want,
                      uint32_t gpus)
{
    uint32_t room = cs_free_gpus(host, want->pool_mask);

    if (host->waiting->has_parts)
        return true;
    if (want->take_idle)
        room += cs_idle_gpus(host, want->pool_mask);
    assert(gpus <= host->spec->gpu_count || room < gpus);
    return room >= gpus;
}

/* Looks for a place and takes none: no random number is drawn, so that a forecast
 * does not change what follows. */
bool cs_forecast(struct cs_host *host, struct task_id id,
                 const struct cs_want *want, struct cs_forecast *out)
{
    if (!host_task_live(host, id) || (want->take_idle && !host_per_phase(host)))
        return false;
    const struct cs_task *task = &host->tasks->slot[id.i].pub;
    struct host_job_slot *job = host_job_slot(host, task->job.i);
    uint32_t role = host_want_role(task, want);
    if (role >= host_form_of(job)->role_count)
        return false;
    struct placement place;
    if (!host_want_ok(host, job, role, want) ||
        !host_room_at_all(host, want, host_want_gpus(host, job, role, want)) ||
        !host_look(host, job, role, want, &place))
        return false;
    struct gang gang = fabric_gang(host->spec, &place);
    assert(place.share_count > 0);
    out->run_s = host_run_s(host, task, &gang);
    if (host->forms->form[job->form].fixed)    /* by its rates there, and its size */
        out->run_s /= host_speedup_on(host, job, &place);
    out->switch_s = host_switch_s(host->spec, &host_form_of(job)->role[role],
                                  host_standing_of(host, task->job.i, role), &place);
    out->evict_s = want->take_idle ? host_evict_s(host, &place) : 0;
    out->usd = (out->run_s + out->switch_s + out->evict_s) / 3600 *
               host_gpu_usd_per_h(host->spec, &place, host_now(host));
    out->gpus = gang.gpus;
    assert(out->run_s >= 0 && out->switch_s >= 0 && out->evict_s >= 0);
    return true;
}

bool cs_has_gpus_for(struct cs_host *host, struct task_id id, const struct cs_want *want)
{
    if (!host_task_live(host, id) || want->spot_count > 0 ||
        (want->take_idle && !host_per_phase(host)))
        return false;
    const struct cs_task *task = &host->tasks->slot[id.i].pub;
    const struct host_job_slot *job = host_job_slot(host, task->job.i);
    uint32_t role = host_want_role(task, want);

    assert(job->pub.end_ns == CLOCK_NEVER_NS);
    return role < host_form_of(job)->role_count && host_want_ok(host, job, role, want) &&
           host_room_at_all(host, want, host_want_gpus(host, job, role, want)) &&
           host_look_for_gpus(host, job, role, want);
}

uint32_t cs_home_pools(const struct cs_host *host, struct task_id id,
                       uint32_t role)
{
    if (!host_task_live(host, id))
        return 0;
    const struct cs_task *task = &host->tasks->slot[id.i].pub;
    uint32_t r = task->role == CS_ALL_ROLES ? role : task->role;

    assert(r < FORM_ROLES_MAX);

    return cs_role_homes(host, task->job, r);
}

/* Returns when the pools will have `gpus` GPUs that are free or idle, by the
 * expected ends of leases; CLOCK_NEVER_NS: never.  It steps from end to end and
 * counts all leases again each time, O(leases^2) at worst: only where no calendar
 * of ends is kept. */
static int64_t room_by_walk(const struct cs_host *host, uint32_t pool_mask,
                            uint32_t gpus)
{
    int64_t at = host_now(host);
    const struct host_list *held = host_held(host);

    for (;;) {
        int64_t next = CLOCK_NEVER_NS;
        uint32_t free = cs_free_gpus(host, pool_mask);
        for (uint32_t i = 0; i < held->count; i++) {
            const struct host_lease_slot *lease =
                &host->leases->slot[held->item[i]];
            int64_t end = lease->pub.expected_end_ns;
            if (pool_mask && !(lease->pool_mask & pool_mask))
                continue;
            if (end <= at || lease->pub.state == CS_LEASE_IDLE)
                free += lease->pub.gpus;
            else if (end < next)
                next = end;
        }
        assert(next > at);
        if (free >= gpus || next == CLOCK_NEVER_NS)
            return free >= gpus ? at : CLOCK_NEVER_NS;
        at = next;
    }
}

/* Returns the seconds until the pools should have that number of GPUs free, by
 * the expected ends of leases; INFINITY: never.  The index of ends answers if
 * it keeps these pools; else all leases are walked. */
double cs_room_in_s(const struct cs_host *host, uint32_t pool_mask,
                    uint32_t gpus)
{
    uint32_t free = cs_free_gpus(host, pool_mask);
    int64_t at;

    if (free >= gpus)
        return 0;
    if (!host_pool_ends_when(host, pool_mask, free, gpus, &at))
        at = room_by_walk(host, pool_mask, gpus);
    assert(at >= host_now(host));
    return at == CLOCK_NEVER_NS ? INFINITY : clock_s_from_ns(at - host_now(host));
}

/* Of all pools at once; idle leases count as held until their expected ends. */
int64_t cs_earliest_ns(struct cs_host *host, uint32_t gpus,
                       uint32_t *spare_gpus)
{
    return host_ends_when(host, host_now(host), cs_free_gpus(host, 0), gpus,
                          spare_gpus);
}

int64_t cs_cores_free_ns(struct cs_host *host, int64_t milli, int64_t from_ns,
                         int64_t *spare)
{
    return host_cores_when(host, milli, from_ns, spare);
}

uint32_t cs_find_pending(struct cs_host *host, uint32_t i,
                         const struct cs_filter *filter)
{
    return host_order_find(host, i, filter, CS_ALL_GROUPS);
}

/* The groups are passed on to the search of the queue. */
uint32_t cs_find_beside(struct cs_host *host, uint32_t i, const struct cs_filter *filter,
                        uint64_t groups)
{
    assert(filter != NULL);
    return host_order_find(host, i, filter, groups);
}

/* Policies have a few weights by key, so that they are searched from the front. */
double cs_weight(const struct cs_host *host, const char *key)
{
    const struct host_policy *policy = host->parts.policy;

    assert(policy->weight_count == 0 || policy->weight != NULL);
    for (uint32_t i = 0; i < policy->weight_count; i++)
        if (strcmp(policy->weight[i].key, key) == 0)
            return policy->weight[i].value;
    return 0;
}

/* The list has the length that the policy's table declares: weights_read() saw to it. */
const double *cs_weight_list(const struct cs_host *host, const char *key)
{
    const struct host_policy *policy = host->parts.policy;

    assert(policy->weight_count == 0 || policy->weight != NULL);
    for (uint32_t i = 0; i < policy->weight_count; i++)
        if (strcmp(policy->weight[i].key, key) == 0)
            return policy->weight[i].list;
    return NULL;
}

/* Tells the epochs that are done, and the batch sizes in them, but nothing of
 * those to come: the true length is read to count what is done, and is not
 * told. */
bool cs_epochs(const struct cs_host *host, struct job_id id,
               struct cs_epochs *out)
{
    assert(id.i < host->jobs->count);
    const struct host_job_slot *job = host_job_slot(host, id.i);
    const struct job_modes *modes = job->pub.request.modes;

    if (modes == NULL || !host->forms->form[job->form].fixed)
        return false;
    assert(CS_MODES_MAX == JOB_MODES_MAX && job->truth.regimes != NULL);
    int64_t left_ns = host_left_ns(host, job, true) -
                      host_restart_ns(job, host_now(host));
    *out = (struct cs_epochs) { .count = modes->epochs, .modes = modes->count,
                                .epoch_s = modes->epoch_s };
    out->done = regimes_done(modes, job->truth.regimes,
                             clock_s_from_ns(job->truth.duration_ns -
                                             left_ns),
                             out->seen);
    assert(out->done <= out->count);
    return true;
}

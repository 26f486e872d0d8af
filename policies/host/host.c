/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host.c - the scheduler around a policy: its parts, arrivals, the end, and what
 * a trial asks of it.  When the policy decides, decide.c says.
 *
 * A trial makes a host (host_new), submits jobs as they come (host_submit), runs
 * the event loop, and closes it (host_close): what has not ended then is
 * unfinished. host_verdict() says whether the policy kept its contract.
 */
#include "policies/host/host.h"

#include <assert.h>
#include <string.h>

#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/laws/phase_cache.h"
#include "models/types/facts.h"
#include "policies/host/decide.h"
#include "policies/host/pack.h"
#include "policies/leases/cost.h"
#include "policies/leases/goodput.h"
#include "policies/leases/interrupt.h"
#include "policies/leases/job.h"
#include "policies/leases/phase.h"
#include "policies/leases/power.h"
#include "policies/leases/time.h"
#include "policies/nodes/demand.h"
#include "policies/nodes/outage.h"
#include "policies/nodes/rent.h"
#include "policies/nodes/rental.h"
#include "policies/phases.h"
#include "policies/state/deals.h"
#include "policies/state/decision.h"
#include "policies/state/form.h"
#include "policies/state/job_slot.h"
#include "policies/state/lease_slot.h"
#include "policies/state/life.h"
#include "policies/state/news.h"
#include "policies/state/nodes.h"
#include "policies/state/pools.h"
#include "policies/state/slots.h"
#include "policies/state/stand.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/tops.h"
#include "policies/state/turn.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/containers/demand_count.h"
#include "sim/containers/rank_tree.h"
#include "sim/flow/flow.h"

/* With rounds that end early, the last arrival lets the next round begin at once: it waits. */
void host_submit_none(struct cs_host *host)
{
    assert(!host->decision->submits_over);
    host->decision->submits_over = true;
    if (host->rules->round_ends_early && host->waiting->order != NULL)
        host_wake(host);
}

/* Outages and rented nodes stop when no job is left.  If the run goes on
 * nevertheless, they are started again here. */
void host_lasts(struct cs_host *host, bool lasts)
{
    assert(!host->decision->closing);
    if (lasts == host->decision->lasts)
        return;
    host->decision->lasts = lasts;
    if (!lasts)
        return;
    host_outage_wake(host);
    host_rent_follow(host);
}

/* A lease is loaded.  If it was granted for a phase, the first phase of its role
 * that is ready runs on it, without a second request; else its job goes on with
 * what is ready. */
static void lease_ready(struct cs_host *host, uint32_t lease)
{
    struct host_job_slot *job =
        host_job_slot(host, host->leases->slot[lease].pub.job.i);
    uint32_t role = host->leases->slot[lease].pub.role;

    assert(host->leases->slot[lease].pub.state == CS_LEASE_IDLE);
    /* A lease granted for a phase runs it at once, without a second ask. */
    if (host_per_phase(host) && !host->leases->slot[lease].running) {
        const struct job_form *form = host_form_of(job);
        for (uint32_t p = 0; p < form->phase_count; p++) {
            uint32_t after = form->phase[p].after_mask, bit = 1u << p;
            if (form->phase[p].role == role &&
                !((job->phases_done | job->phases_running) & bit) &&
                (after & job->phases_done) == after) {
                host_phase_start(host, lease, p);
                return;
            }
        }
    }
    host_job_advance(host, host->leases->slot[lease].pub.job.i);
    host_wake(host);
}

/* Returns a host whose parts are allocated and all zero, but for the turn of
 * `blocking: commit`: 0 would be a task there. */
static struct cs_host *make_host(struct arena *arena)
{
    struct cs_host *host = arena_alloc(arena, 1, sizeof *host);

    host->jobs = arena_alloc(arena, 1, sizeof *host->jobs);
    host->forms = arena_alloc(arena, 1, sizeof *host->forms);
    host->tasks = arena_alloc(arena, 1, sizeof *host->tasks);
    host->leases = arena_alloc(arena, 1, sizeof *host->leases);
    host->waiting = arena_alloc(arena, 1, sizeof *host->waiting);
    host->deals = arena_alloc(arena, 1, sizeof *host->deals);
    host->turn = arena_alloc(arena, 1, sizeof *host->turn);
    host->stand = arena_alloc(arena, 1, sizeof *host->stand);
    host->decision = arena_alloc(arena, 1, sizeof *host->decision);
    host->life = arena_alloc(arena, 1, sizeof *host->life);
    host->nodes = arena_alloc(arena, 1, sizeof *host->nodes);
    host->pools = arena_alloc(arena, 1, sizeof *host->pools);
    host->turn->committed = ID_NONE;
    host->turn->committed_ns = -1;        /* nothing was chosen yet */
    assert(host->jobs->count == 0 && host->tasks->count == 0);
    return host;
}

/* The order matters: the cluster before the placer, queues before what indexes
 * them, and the policy last, since its init may ask anything. */
struct cs_host *host_new(const struct host_parts *parts, struct err *err)
{
    struct arena *arena = parts->arena;
    struct cs_host *host = make_host(arena);
    const struct cluster_spec *spec = parts->cluster;

    assert(spec->node_count > 0 && spec->pool_count <= 32);
    host->parts = *parts;
    if (parts->vain_max == 0)
        host->parts.vain_max = HOST_VAIN_MAX;
    host->policy = parts->policy->policy;
    host->rules = &parts->policy->rules;
    host->spec = spec;
    host->hooks = (struct host_hooks) {
        /* state and leases call these, so that they need not know the host */
        .lease_ready = lease_ready, .ran = host_interrupt_ran,
        .phase_over = host_phase_over, .held = host_rental_held,
        .rented_failed = host_rental_failed, .alone = host_pack_alone,
    };
    host->cluster = cluster_new(arena, spec);
    struct placer_parts placing = {
        arena, host->cluster, host->rules->placement,
        host->rules->ties_shuffled, parts->seed, parts->replica,
        parts->demand, parts->demand_count,
    };
    host->placer = placer_new(&placing);
    host_decide_begin(host);
    host_lists_begin(host);
    host->life->plans = phase_cache_new(arena);
    host_goodput_init(host);
    host->life->scratch = arena_alloc(arena, (size_t)spec->node_count *
                                           FORM_ROLES_MAX,
                                sizeof *host->life->scratch);
    uint32_t uses = fabric_use_max(parts->fabric, 2 * spec->node_count);
    host->life->uses = arena_alloc(arena, uses, sizeof *host->life->uses);
    host->life->more_uses = arena_alloc(arena, uses, sizeof *host->life->more_uses);
    host->life->bursts = arena_alloc(arena, flow_link_count(parts->net) + 1,
                               sizeof *host->life->bursts);
    host->pools->pool = arena_alloc(arena, spec->pool_count, sizeof *host->pools->pool);
    host->pools->waits = arena_alloc(arena, spec->pool_count, sizeof *host->pools->waits);
    for (uint32_t g = 0; g < spec->group_count; g++)
        host->pools->pool[spec->group[g].pool].gpus +=
            spec->group[g].node_count * spec->group[g].gpus;
    assert(host->turn->committed == ID_NONE);
    host_outage_begin(host);
    host_power_begin(host->nodes, spec);
    host_rent_begin(host);
    host_tops_begin(host);
    return host_policy_begin(host, err) ? host : NULL;
}

void host_free(struct cs_host *host)
{
    assert(host == NULL || host->policy != NULL);
    if (host && host->policy->fini)
        host->policy->fini(host->self);
}

/* Returns a copy of a name that lives as long as the job; NULL: it has none.  Short
 * names lie within the slot of the job, so that a million jobs need no memory
 * beside it. */
static const char *name_kept(struct cs_host *host, struct host_job_slot *job,
                             const char *name)
{
    size_t bytes = name == NULL ? 0 : strlen(name) + 1;

    if (bytes == 0)
        return NULL;
    if (bytes > sizeof job->name)
        return arena_text(host->parts.arena, name);
    return memcpy(job->name, name, bytes);
}

/* Jobs are numbered from 0 in the order in which they are submitted.  A job whose
 * policy leases for phases asks for its first phases at once, any other for all its
 * roles. */
void host_submit(struct cs_host *host, const struct job_request *request,
                 const struct job_truth *truth)
{
    uint32_t j = host->jobs->count;
    struct host_job_slot *job = host_job_make(host);
    const struct job_form *form = request->form;

    assert(request->id.i == j && request->steps > 0);
    assert(!host->decision->closing);
    job->pub.request = *request;
    job->pub.request.name = name_kept(host, job, request->name);
    job->pub.start_ns = job->pub.end_ns = CLOCK_NEVER_NS;
    job->truth = *truth;
    job->form = host_form_index(host, form);
    job->seq = host->waiting->next_seq++;
    assert(job->form < host->forms->count);
    /* No interruption was drawn: the first is drawn when the job runs. */
    job->gap_ns = -1;
    host->decision->jobs_left++;
    if (host->forms->form[job->form].fixed) {
        /* A simulator that counts ticks sees an end one tick late: see `tick`. */
        job->truth.duration_ns = clock_after(job->truth.duration_ns,
                                             host->rules->tick_ns);
        job->pub.work_due_s = clock_s_from_ns(job->truth.duration_ns) *
                              job_role_amount(request, 0);
    }
    else
        for (uint32_t p = 0; p < form->phase_count; p++)
            job->pub.work_due_s += phase_runs(&form->phase[p],
                                              request->steps);
    host_estimate(host, job);
    if (job_role_milli(request, 0) < GPU_MILLI) {
        host_note_part(host, job->form, job_role_milli(request, 0));
        /* validate refuses such jobs where it sees them; this is for all others. */
        if (host->policy->flags & CS_WHOLE_GPUS)
            cs_fail(host, "it deals whole GPUs, and a job asks for a part of one");
    }
    host_tell(host, FACT_JOB_SUBMIT, j, 0, job_role_amount(request, 0));
    host_news_add(host, NEWS_SUBMITTED, j);
    if (host_per_phase(host))
        host_job_advance(host, j);
    else
        host_task_job(host, j);
    /* Failures and rentals stand still while no job is in the system, so that a run can end. */
    host_outage_wake(host);
    host_rent_wake(host, request->id);
    host_wake(host);
    assert(host->decision->jobs_left <= host->jobs->count);
}

/* The gang is stored with the lease, so the pointer is good for as long as the
 * lease is live. */
const struct gang *host_gang(const struct cs_host *host,
                             struct lease_id lease)
{
    assert(lease.i < host->leases->count && host->leases->slot[lease.i].live);
    return &host->leases->slot[lease.i].gang;
}

/* Ends jobs that have not ended; while it closes, nothing starts and no policy is
 * asked. */
void host_close(struct cs_host *host)
{
    assert(!host->decision->closing);
    host->decision->closing = true;
    assert(host->decision->jobs_left <= host->jobs->count);
    for (uint32_t j = 0; j < host->jobs->count; j++)
        if (!host_job_over(host, j))
            host_job_end(host, j, JOB_UNFINISHED);
    assert(host->decision->jobs_left == 0);
}

/* Walks from the last job to the first, so that *first is the lowest number. */
uint32_t host_unfinished(const struct cs_host *host, uint32_t *first)
{
    uint32_t left = 0;

    for (uint32_t j = host->jobs->count; j-- > 0;)
        if (!host_job_over(host, j)) {
            left++;
            *first = j;
        }
    assert(left == host->decision->jobs_left);
    return left;
}

/* Of jobs that have not ended: what their ended leases cost, and what the leases
 * that they hold have cost so far. */
double host_held_usd(const struct cs_host *host)
{
    double usd = 0;

    for (uint32_t j = 0; j < host->jobs->count; j++)
        usd += host_job_over(host, j) ? 0 : host_job_slot(host, j)->pub.usd;
    for (uint32_t i = 0; i < cs_lease_count(host); i++) {
        const struct cs_lease *lease = cs_lease(host, cs_lease_at(host, i));

        usd += host_lease_usd(host->spec, &lease->placement, lease->since_ns,
                              host_now(host));
    }
    assert(usd >= 0);
    return usd;
}

/* What a job that has ended held is no longer kept here: its facts told it. */
double host_job_gpu_s(const struct cs_host *host, struct job_id id)
{
    assert(id.i < host->jobs->count);
    return host_job_over(host, id.i) ? 0
         : host_attained_gpu_s(host, host_job_slot(host, id.i));
}

/* FLOPs are counted at the end of each phase.  Jobs of known length have none:
 * for them the seconds that are done count, at the speed of the trace, times
 * their GPUs. */
void host_work_now(const struct cs_host *host, double *flops, double *gpu_s)
{
    *flops = *gpu_s = 0;
    for (uint32_t j = 0; j < host->jobs->count; j++) {
        if (host_job_over(host, j))
            continue;
        const struct host_job_slot *job = host_job_slot(host, j);

        assert(job->form < host->forms->count);
        *flops += job->pub.flops;
        if (host->forms->form[job->form].fixed)
            *gpu_s += clock_s_from_ns(host_done_ns(host, job)) *
                      job_role_amount(&job->pub.request, 0);
    }
}

/* Two faults are possible: the policy failed the trial (cs_fail, or the host in its
 * place), or it drew random numbers without the flag CS_DRAWS.  The second is a fault, as
 * replicas of a policy without the flag may be copied instead of run. */
bool host_verdict(const struct cs_host *host, struct err *err)
{
    struct err_pos nowhere = { 0 };

    if (!host->decision->failed && host->decision->random_state > 0 &&
        (host->policy->flags & CS_DRAWS) == 0)
        return err_set(err, ERR_POLICY, nowhere, "policy %s draws random "
                       "numbers, and its flags lack CS_DRAWS",
                       host->policy->name);
    if (!host->decision->failed)
        return true;
    err_set(err, ERR_POLICY, nowhere, "policy %s: %s", host->policy->name,
            host->decision->why);
    if (host->decision->note[0])
        err_hint(err, "%s", host->decision->note);
    assert(host->decision->why[0] != '\0');
    return false;
}

const struct host_counts *host_counts(const struct cs_host *host)
{
    assert(host->counts.limited <= host->counts.decide);
    return &host->counts;
}

const struct host_job *host_job(const struct cs_host *host, struct job_id id)
{
    assert(id.i < host->jobs->count);
    return &host_job_slot(host, id.i)->pub;
}

const struct job_truth *host_job_truth(const struct cs_host *host,
                                       struct job_id id)
{
    assert(id.i < host->jobs->count);
    return &host_job_slot(host, id.i)->truth;
}

uint32_t host_job_count(const struct cs_host *host)
{
    return host->jobs->count;
}

const struct host_phase_run *host_phase_run(const struct cs_host *host,
                                            struct lease_id lease)
{
    assert(lease.i < host->leases->count);
    return &host->leases->slot[lease.i].run;
}

const struct host_pool_now *host_pool_now(const struct cs_host *host, uint32_t pool)
{
    assert(pool < host->spec->pool_count);
    return &host->pools->pool[pool];
}

/* GPUs that are down or on nodes that are not rented now are not free; down:
 * whole GPUs, away: thousandths. */
int64_t host_pool_free_milli(const struct cs_host *host, uint32_t pool)
{
    const struct host_pool_now *now = &host->pools->pool[pool];

    assert(pool < host->spec->pool_count && now->down <= now->gpus);
    return (int64_t)(now->gpus - now->down) * GPU_MILLI -
           (int64_t)(now->allocated_milli + now->away_milli);
}

/* Does nothing start before the first of the queue?  Then the first one holds back
 * all others, and idle GPUs are its doing.
 *
 * With GPUs as a count, a reservation holds back only a task that wants no more
 * than are free; on nodes it may be the nodes that do, so that only GPUs as a count
 * are decided. */
static bool starts_in_order(const struct cs_host *host)
{
    const struct cs_policy *policy = host->policy;
    const struct host_rules *rules = host->rules;

    assert(rules->blocking <= HOST_DROP);
    if (policy->flags & CS_RESERVES)
        return rules->placement == PLACE_COUNT;
    if (policy->decide && !(policy->flags & CS_ASKS_BLOCKING))
        return false;
    return rules->blocking == HOST_STRICT ||
           (rules->blocking == HOST_COMMIT &&
            (!rules->backfill || rules->placement == PLACE_COUNT));
}

/* Returns the GPUs of the smallest role of a task that may use the pool; 0: none
 * may. */
static uint32_t wants_of_pool(const struct cs_host *host, uint32_t task,
                              uint32_t pool)
{
    const struct host_job_slot *job =
        host_job_slot(host, host->tasks->slot[task].pub.job.i);
    uint32_t role = host->tasks->slot[task].pub.role, least = 0;

    assert(task < host->tasks->count && pool < host->spec->pool_count);
    for (uint32_t r = 0; r < host_form_of(job)->role_count; r++) {
        uint32_t gpus = job_role_gpus(&job->pub.request, r);
        if ((role == CS_ALL_ROLES || role == r) && gpus > 0 &&
            host->forms->form[job->form].gpu_pools[r] >> pool & 1 &&
            (least == 0 || gpus < least))
            least = gpus;
    }
    return least;
}

/* Does a role of the task want more GPUs than are free in every pool that it may
 * use? free_milli[]: by pool, in thousandths of a GPU. */
static bool is_short(const struct cs_host *host, uint32_t task,
                     const int64_t *free_milli)
{
    assert(task < host->tasks->count && host->tasks->slot[task].live);
    const struct cs_task *pub = &host->tasks->slot[task].pub;
    const struct host_job_slot *job = host_job_slot(host, pub->job.i);

    for (uint32_t r = 0; r < host_form_of(job)->role_count; r++) {
        int64_t milli = (int64_t)job_role_gpus(&job->pub.request, r) *
                        pub->gpu_milli, most = 0;
        if (pub->role != CS_ALL_ROLES && pub->role != r)
            continue;
        for (uint32_t p = 0; p < host->spec->pool_count; p++)
            if (host->forms->form[job->form].gpu_pools[r] >> p & 1 &&
                free_milli[p] > most)
                most = free_milli[p];
        if (milli > most)
            return true;
    }
    return false;
}

/* Returns the least number of GPUs that a task behind the first of the queue wants
 * in the pool; 0: none, or the first is not what holds it back.  Idle time of these
 * GPUs is then head of line blocking. */
uint32_t host_pool_behind(struct cs_host *host, uint32_t pool,
                          const int64_t *free_milli)
{
    uint32_t first;

    assert(pool < host->spec->pool_count);
    if (!starts_in_order(host) || cs_pending_count(host) < 2)
        return 0;
    if (host->rules->blocking == HOST_COMMIT && !host->policy->decide) {
        first = host->turn->committed;
        /* It has started just now: its turn is over when this decision ends. */
        if (first != ID_NONE && !host->tasks->slot[first].live)
            first = ID_NONE;
        if (first == ID_NONE && host->rules->placement == PLACE_COUNT)
            return host_pool_waits(host, pool);     /* about to be chosen */
    } else if (host->waiting->tops != NULL) {
        first = host_tops_first(host, UINT32_MAX, false);
    } else {
        first = rank_tree_at(host->waiting->order, 0);
    }
    if (first == ID_NONE || !is_short(host, first, free_milli))
        return 0;
    return demand_count_least_but(&host->pools->waits[pool],
                                  wants_of_pool(host, first, pool));
}

uint32_t host_running(const struct cs_host *host)
{
    assert(cs_running_count(host) <= host->decision->jobs_left);
    return cs_running_count(host);
}

uint32_t host_jobs_left(const struct cs_host *host)
{
    assert(host->decision->jobs_left <= host->jobs->count);
    return host->decision->jobs_left;
}

double host_rent_error(const struct cs_host *host, int64_t from_ns)
{
    return host_demand_error(host, from_ns);
}

uint32_t host_pending(const struct cs_host *host)
{
    return cs_pending_count(host);
}

void host_on_decision(struct cs_host *host, host_decision_fn *fn, void *self)
{
    host->decision->decision_fn = fn;
    host->decision->decision_self = self;
}

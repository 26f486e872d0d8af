/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase.c - a phase on a lease: how fast it runs, when it is over, and
 * what is kept of it where it is cut short.
 *
 * A phase that crosses no shared link ends at a time that is known at its start: one
 * event.  Any other is a fluid flow, which slows down while others share its links.
 * With `fidelity: step` training goes step by step (step.c) and a rollout response by
 * response.  What follows a phase is up to its job: hooks.phase_over.
 *
 * Parts of a phase count from 0 to 1.  lease->part is the part that was done before,
 * on a lease of the same phase, and need not be done again.
 */
#include "policies/leases/phase.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>

#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/jobs/job.h"
#include "models/laws/outage.h"
#include "models/laws/phase_cache.h"
#include "models/laws/rollout.h"
#include "models/serving/rollout_steps.h"
#include "models/types/facts.h"
#include "models/types/rates.h"
#include "policies/leases/cost.h"
#include "policies/leases/kept.h"
#include "policies/leases/lease.h"
#include "policies/leases/step.h"
#include "policies/leases/time.h"
#include "policies/state/decision.h"
#include "policies/state/ends.h"
#include "policies/state/form.h"
#include "policies/state/job_slot.h"
#include "policies/state/lease_slot.h"
#include "policies/state/life.h"
#include "policies/state/news.h"
#include "policies/state/state.h"
#include "policies/state/terms.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"

#define SLOWER 1e-6             /* a part of the work: times are rounded to
                                   nanoseconds */

/* Returns the part of the phase that runs which an earlier run has done and a
 * stop has kept. */
static double part_before(const struct host_lease_slot *lease)
{
    assert(lease->part >= 0 && lease->part <= 1);
    return lease->part_phase == lease->phase ? lease->part : 0;
}

/* Asks for memory that the end of a phase will read.  Where many jobs run, none of
 * it is in the cache; asked for all at once, it is there sooner.  A hint alone:
 * nothing depends on it. */
static void fetch(const void *at, size_t bytes)
{
    for (size_t b = 0; b < bytes; b += HOST_LINE_BYTES)
        __builtin_prefetch((const char *)at + b);
}

/* Asks for a lease, its job and its placement. */
static void fetch_for(const struct cs_host *host, uint64_t i)
{
    const struct host_lease_slot *lease = &host->leases->slot[i];

    fetch(lease, sizeof *lease);
    fetch(lease->owner, sizeof *lease->owner);
    __builtin_prefetch(lease->pub.placement.share);
}

/* The event at the end of a phase that crosses no link. */
static void over_by_event(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;

    (void)loop;
    fetch_for(host, arg);
    host->hooks.phase_over(host, (uint32_t)arg);
}

/* A phase is over that was a flow.  If it took longer than it would have alone, the
 * link that its flow ended at is noted as its bottleneck. */
static void over_by_flow(void *self, uint64_t arg)
{
    struct cs_host *host = self;
    struct host_phase_run *run = &host->leases->slot[arg].run;

    fetch_for(host, arg);
    uint32_t link = flow_ended_at(host->parts.net);
    double s = clock_s_from_ns(host_now(host) - run->start_ns);
    double work = 1 - part_before(&host->leases->slot[arg]);

    assert(s >= 0 && host->leases->slot[arg].running);

    if (link != UINT32_MAX && s * run->rate_max > work * (1 + SLOWER))
        run->bottleneck =
            link_class_name(fabric_class(host->parts.fabric, link));
    host->hooks.phase_over(host, (uint32_t)arg);
}

/* Schedules the end of the phase on a lease `ns` from now. */
static void end_after(struct cs_host *host, uint32_t lease, int64_t ns)
{
    host->leases->slot[lease].event =
        loop_at(host->parts.loop, clock_after(host_now(host), ns),
                LOOP_RANK_FINISH, over_by_event, host, lease);
}

/* Returns how much of the known length of a job is left, in ns of what it asked
 * for. */
static int64_t known_left_ns(const struct host_job_slot *job)
{
    assert(job->truth.duration_ns >= job->done_ns);
    return job->truth.duration_ns - job->done_ns;
}

/* Returns how long a phase of known length takes on a lease from now: by its law,
 * else what is left of the job at the speed of the lease. */
static int64_t fixed_ns(const struct cs_host *host,
                        const struct host_job_slot *job,
                        const struct phase_law *law,
                        const struct host_lease_slot *lease)
{
    if (law->seconds > 0)
        return clock_ns_for_work(law->seconds, 1.0);
    return host_ran_ns(host, job, lease, job->done_ns, known_left_ns(job));
}

/* Fills life->uses with the links of a phase, and returns their number: those of
 * its own work, and those over which it sends its results to lease `to`.  While
 * that one holds nothing (ID_NONE), it sends to a buffer behind its own NIC. */
static uint32_t work_uses(struct cs_host *host, uint32_t to,
                          const struct host_lease_slot *lease,
                          const struct phase_law *law,
                          const struct phase_plan *plan)
{
    assert(to == ID_NONE || host->leases->slot[to].live);
    const struct fabric *fabric = host->parts.fabric;
    uint32_t uses = fabric_uses(fabric, &lease->pub.placement, &plan->rates,
                                host->life->uses);

    if (law->kind != LAW_CPU || !(law->bytes > 0))
        return uses;
    return fabric_uses_send(fabric, &lease->pub.placement,
                            to != ID_NONE ? &host->leases->slot[to].pub.placement
                                          : NULL,
                            law->bytes, law->zero_copy, host->life->uses, uses);
}

/* Fills life->uses with the links of a phase, and returns their number.  A sync
 * uses those between two leases.  *nothing: there is nothing to do, since the other
 * role holds no GPUs: its next load brings the new weights. */
static uint32_t phase_uses(struct cs_host *host,
                           const struct host_lease_slot *lease,
                           const struct phase_law *law,
                           const struct phase_plan *plan, bool *nothing)
{
    struct host_job_slot *job = lease->owner;
    uint32_t role = lease->run.phase->sync_to, to = job->lease[role];

    assert(lease->running);
    if (law->kind != LAW_SYNC)
        return work_uses(host, to, lease, law, plan);
    *nothing = to == ID_NONE || host->leases->slot[to].pub.state != CS_LEASE_IDLE ||
               !(law->bytes > 0);
    host_kept_owe(host, job, role, lease->pub.role, *nothing ? law->bytes : 0);
    if (*nothing)
        return 0;
    return fabric_uses_copies(host->parts.fabric, &lease->pub.placement,
                              &host->leases->slot[to].pub.placement,
                              law->bytes, host->life->uses);
}

/* Starts a phase whose speed links may limit: as a flow if it crosses any, and else
 * as one event.  Work is what is left of the phase, 1 for all of it. */
static void start_flow(struct cs_host *host, uint32_t i,
                       const struct phase_law *law,
                       const struct phase_plan *plan)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    bool nothing = false;
    uint32_t uses = phase_uses(host, lease, law, plan, &nothing);
    double work = 1 - part_before(lease);

    assert(work >= 0 && plan->rate_max > 0);
    if (nothing || (uses == 0 && isinf(plan->rate_max))) {
        end_after(host, i, 0);
    } else if (uses == 0) {
        end_after(host, i, clock_ns_for_work(work, plan->rate_max));
    } else {
        struct flow_spec spec = {
            .work = work, .rate_max = plan->rate_max,
            .use = host->life->uses, .use_count = uses, .done = over_by_flow,
            .self = host, .arg = i,
        };
        lease->flow = flow_start(host->parts.net, &spec);
    }
}

/* Counts a lease that trains over several nodes on the links between them, or (sign
 * -1) takes it off.  If another one trains over the same link, run.shares_bursts is
 * set: the fluid mode takes both at their mean, while bursts can collide. */
static void count_bursts(struct cs_host *host, uint32_t i, int sign)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct demand_rates rates = { .network_bytes = 1 };
    uint32_t uses = fabric_uses(host->parts.fabric, &lease->pub.placement,
                                &rates, host->life->uses);

    assert(sign == 1 || sign == -1);
    lease->bursting = sign > 0;
    for (uint32_t k = 0; k < uses; k++) {
        uint32_t *count = &host->life->bursts[host->life->uses[k].link];

        *count += sign > 0 ? 1u : 0u;
        lease->run.shares_bursts |= *count > 1;
        assert(*count > 0);
        *count -= sign > 0 ? 0u : 1u;
    }
}

/* Runs a rollout response by response.  Its time is drawn at its start, since
 * nothing outside can change it: it crosses no link. */
static void start_rollout(struct cs_host *host, uint32_t i,
                          const struct phase_law *law)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    const struct host_job_slot *job = lease->owner;
    double u = rng_at(job->truth.seed, job->pub.step, lease->phase, 0);
    double s = rollout_steps_s(&law->rollout, &lease->gang,
                               (uint64_t)(u * 0x1p53));

    assert(u >= 0 && u < 1 && s > 0);

    lease->run.rate_max = 1 / s;
    s *= 1 - part_before(lease);
    end_after(host, i, clock_ns_for_work(s, 1.0));
}

/* Starts a phase in the detail that the trial asks for. */
static void start_work(struct cs_host *host, uint32_t i,
                       const struct phase_law *law,
                       const struct phase_plan *plan)
{
    assert(law->kind != LAW_FIXED && law->kind != LAW_SERVE);
    if (plan->rates.network_bytes > 0 && law->kind == LAW_TRAIN)
        count_bursts(host, i, +1);
    if (host_steps_apply(host, i, law))
        host_steps_start(host, i, law, plan, part_before(&host->leases->slot[i]));
    else if (host->parts.by_step && law->kind == LAW_ROLLOUT &&
             host->leases->slot[i].gang.gpus > 0)
        start_rollout(host, i, law);
    else
        start_flow(host, i, law, plan);
}

/* Returns when a phase will be over if it runs at rate_max (in phases per second)
 * from now on, what was done before being left out. */
static int64_t phase_end_ns(const struct cs_host *host,
                            const struct host_lease_slot *lease,
                            double rate_max)
{
    assert(rate_max > 0);
    if (isinf(rate_max))
        return host_now(host);
    return clock_after(host_now(host),
                      clock_ns_for_work(1 - part_before(lease), rate_max));
}

/* Fails the trial: a phase makes no progress where the policy put it. */
static void fail_phase(struct cs_host *host, const struct phase_spec *phase)
{
    snprintf(host->decision->why, sizeof host->decision->why,
             "phase %s cannot make progress on the lease it was given",
             phase->name);
    host->decision->failed = true;
    loop_stop(host->parts.loop);
}

/* Returns how a phase runs on a lease with free links: rate, links, busy fraction,
 * bottleneck.  What is random in it (lengths of responses) is drawn by (job, step,
 * phase), so that all policies meet the same. */
static struct phase_plan plan_of(struct cs_host *host,
                                 const struct host_lease_slot *lease,
                                 const struct phase_law *law, uint32_t p)
{
    assert(p < host_form_of(lease->owner)->phase_count);
    const struct host_job_slot *job = lease->owner;
    struct phase_plan plan = { .rate_max = INFINITY, .gpu_busy_fraction = 1 };

    if (law->kind != LAW_FIXED)
        return phase_cache_plan(host->life->plans, law, &lease->gang,
                                rng_at(job->truth.seed, job->pub.step, p, 0));
    double s = clock_s_from_ns(fixed_ns(host, job, law, lease));
    if (s > 0)
        plan.rate_max = 1 / s;
    return plan;
}

/* A rollout that was cut short goes on after the responses that the job kept:
 * that part moves from the job to the lease. */
static void take_kept(struct host_lease_slot *lease, struct host_job_slot *job,
                      const struct phase_law *law, uint32_t p)
{
    if (!(job->kept > 0) || job->kept_phase != p || law->kind != LAW_ROLLOUT)
        return;
    assert(job->kept < 1);
    lease->part = job->kept;
    lease->part_phase = p;
    job->kept = 0;
}

void host_phase_start(struct cs_host *host, uint32_t i, uint32_t p)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct host_job_slot *job = lease->owner;
    const struct phase_spec *phase = &host_form_of(job)->phase[p];
    const struct phase_law *law = phase_law_at(phase, job->pub.step);
    bool fixed = law->kind == LAW_FIXED;

    assert(lease->pub.state == CS_LEASE_IDLE && !lease->running);
    struct phase_plan plan = plan_of(host, lease, law, p);
    take_kept(lease, job, law, p);
    lease->running = true;
    lease->storage_bytes = plan.rates.storage_bytes;
    lease->phase = p;
    lease->phase_start_ns = host_now(host);
    lease->run = (struct host_phase_run) {
        .job = lease->pub.job, .phase = phase, .lease = { i },
        .start_ns = host_now(host), .rate_max = plan.rate_max,
        .busy_fraction = lease->pub.gpus ? plan.gpu_busy_fraction : 0,
        .tail_fraction = plan.tail_fraction,
        .mfu = plan.mfu, .hfu = plan.hfu, .flops = plan.flops,
        .bottleneck = plan.bottleneck ? plan.bottleneck : "",
        .step = job->pub.step,
    };
    job->phases_running |= 1u << p;
    if (host->forms->form[job->form].fixed && lease->speedup == 1 &&
        !job->pub.request.goodput)
        job->even_from_ns = host_now(host);
    host_lease_work(host, i, CS_LEASE_BUSY, lease->run.busy_fraction);
    host_tell(host, FACT_PHASE_START, i, p, 0);
    if (host_per_phase(host) && !fixed && plan.rate_max > 0)
        host_lease_expect(host, i,
                          phase_end_ns(host, lease, plan.rate_max));
    if (fixed)
        end_after(host, i, fixed_ns(host, job, law, lease));
    else if (!(plan.rate_max > 0))
        fail_phase(host, phase);
    else if (law->kind == LAW_SERVE)
        host_lease_busy(host, i, 0);    /* until it is told otherwise */
    else
        start_work(host, i, law, &plan);
}

/* Work that ends within a nanosecond of its phase has no end of its own: times are rounded
 * up to whole ones. */
#define CLOCK_ROUNDS_S 1e-9

/* Adds to the job what the phase on a lease cost: the busy part of s seconds as
 * computing, the others as waiting, and the bytes it read from the storage, in
 * proportion to what ran. */
static void phase_cost(struct cs_host *host, struct host_lease_slot *lease, double s)
{
    struct host_job *job = &lease->owner->pub;
    double usd = host_lease_usd(host->spec, &lease->pub.placement,
                                lease->phase_start_ns,
                                host_now(host));
    double part = fmin(1 - part_before(lease), lease->run.part);
    double busy_s = host_busy_s(&lease->run, s);

    assert(s >= 0 && part >= 0 && busy_s <= s);
    host_lease_waited(host, lease, lease->phase_start_ns);
    lease->paid_ns = host_now(host);
    if (s > 0)
        job->usd_compute += usd * busy_s / s;
    if (s - busy_s > CLOCK_ROUNDS_S)
        job->usd_wait += usd * (1 - busy_s / s);
    if (lease->storage_bytes > 0 && part > 0)
        job->usd_transfer += host_transfer_usd(host->spec,
                                               &lease->pub.placement,
                                               part * lease->storage_bytes);
}

/* Charges the phase, makes the lease idle and tells the journal.  run.part and run.rate
 * are set before that, as listeners read them. */
void host_phase_off(struct cs_host *host, uint32_t i, bool done)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct host_job_slot *job = lease->owner;
    double s = clock_s_from_ns(host_now(host) - lease->phase_start_ns);

    assert(lease->running && job != NULL && s >= 0);
    if (lease->bursting)
        count_bursts(host, i, -1);
    lease->run.rate = done && s > 0 ? (1 - part_before(lease)) / s : 0;
    if (done)
        lease->run.part = 1 - part_before(lease);
    phase_cost(host, lease, s);
    host_lease_work(host, i, CS_LEASE_IDLE, 0);
    host_tell(host, FACT_PHASE_END, i, lease->phase, done);
    lease->running = false;
    job->phases_running &= ~(1u << lease->phase);
    job->even_from_ns = CLOCK_NEVER_NS;
}

/* Counts known_ns of the length of a job as done, and as work in GPU-seconds of
 * what it asked for. */
static void known_done(struct host_job_slot *job, int64_t known_ns)
{
    assert(known_ns >= 0);
    job->done_ns = clock_after(job->done_ns, known_ns);
    job->pub.work_done_s += clock_s_from_ns(known_ns) *
                            job_role_amount(&job->pub.request, 0);
}

/* What a lease ran brings a job of known length from done_ns to known_ns more.  If it
 * saves between, notes what it had held when it saved last: a failure costs what it holds
 * from then on. */
static void note_save(const struct cs_host *host, struct host_job_slot *job,
                      const struct host_lease_slot *lease, int64_t known_ns)
{
    int64_t every = host->spec->failures ? host->spec->failures->checkpoint_ns : 0;
    int64_t saved = every > 0 ? clock_after(job->done_ns, known_ns) / every * every : 0;

    if (saved <= job->done_ns)
        return;
    int64_t ran = host_ran_ns(host, job, lease, job->done_ns, saved - job->done_ns);
    assert(lease->phase_start_ns >= lease->pub.since_ns);
    job->saved_gpu_s = job->pub.gpu_seconds + host_lease_amount(&lease->pub) *
        clock_s_from_ns(clock_after(lease->phase_start_ns - lease->pub.since_ns, ran));
}

/* Returns what was done of the phase that a lease runs: what flowed of its work, or what its
 * time is enough for, where no link slows it. */
static double part_now(const struct cs_host *host, const struct host_lease_slot *lease)
{
    double before = part_before(lease);
    double s = clock_s_from_ns(host_now(host) - lease->phase_start_ns);

    assert(lease->running && s >= 0);
    if (flow_alive(host->parts.net, lease->flow))
        return fmin(fmax(1 - before - flow_left(host->parts.net, lease->flow), 0), 1 - before);
    return isfinite(lease->run.rate_max) ? s * lease->run.rate_max : INFINITY;
}

/* A job of known length keeps what ran.  Any other phase keeps nothing here:
 * host_phase_pause() and host_phase_cut_keep() keep a part before they call
 * this. */
void host_phase_cut(struct cs_host *host, uint32_t i)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct host_job_slot *job = lease->owner;
    int64_t ran = host_now(host) - lease->phase_start_ns;

    assert(lease->running);
    lease->run.part = part_now(host, lease);
    host_steps_stop(host, i);
    flow_stop(host->parts.net, lease->flow);
    loop_cancel(host->parts.loop, lease->event);
    if (host->forms->form[job->form].fixed) {
        int64_t known = host_known_ns(host, job, lease, ran);
        int64_t left = known_left_ns(job);
        assert(known >= 0 && left >= 0);
        if (known > left)
            known = left;
        note_save(host, job, lease, known);
        known_done(job, known);
        if (known > 0)
            host->decision->vain_stops = 0;
    }
    host_phase_off(host, i, false);
}

/* Returns the part of the phase that was done on this lease so far, 0 to 1: by its
 * steps, by what is left of its flow, or by the time at its rate. */
static double part_ran(const struct cs_host *host, uint32_t i,
                       const struct phase_law *law)
{
    const struct host_lease_slot *lease = &host->leases->slot[i];
    double before = part_before(lease), ran = 0;

    assert(lease->running && before >= 0 && before <= 1);
    if (host_steps_apply(host, i, law))
        ran = host_steps_part(host, i) - before;
    else if (flow_alive(host->parts.net, lease->flow))
        ran = 1 - before - flow_left(host->parts.net, lease->flow);
    else if (isfinite(lease->run.rate_max))
        ran = lease->run.rate_max *
              clock_s_from_ns(host_now(host) - lease->phase_start_ns);
    return fmin(fmax(ran, 0), 1 - before);
}

double host_vain_gpu_s(const struct cs_host *host, uint32_t i)
{
    const struct host_lease_slot *lease = &host->leases->slot[i];
    bool loads = lease->pub.state == CS_LEASE_LOADING;
    int64_t from_ns = loads ? lease->pub.since_ns : lease->phase_start_ns;

    assert(lease->live);
    if (lease->leaving)
        return lease->lost_gpu_s;
    if (!loads && (!lease->running || host->forms->form[lease->owner->form].fixed ||
                   phase_law_usual(lease->run.phase)->kind == LAW_SERVE))
        return 0;
    return clock_s_from_ns(host_now(host) - from_ns) * host_lease_amount(&lease->pub);
}

void host_note_vain(struct cs_host *host, uint32_t lease, double gpu_s)
{
    assert(lease < host->leases->count && gpu_s >= 0);
    host->leases->slot[lease].lost_gpu_s = gpu_s;
}

/* Returns the part of a phase that is kept if it stops once `ran` more has run, of its law.
 * Training keeps whole steps, of which the last is never kept: a phase that is as
 * good as done must still end by itself.  What lies between two steps is lost.
 * SLOWER absorbs rounding, so that a step that is just over counts. */
static double part_kept(const struct phase_law *law, double before, double ran)
{
    double steps = law->kind == LAW_TRAIN && law->repeats > 0 ? law->repeats
                                                              : 1;
    double kept = floor((before + ran) * steps + SLOWER) / steps;

    assert(before >= 0 && ran >= 0);
    return fmax(before, fmin(kept, (steps - 1) / steps));
}

bool host_phase_keeps(const struct cs_host *host, uint32_t i)
{
    const struct host_lease_slot *lease = &host->leases->slot[i];
    const struct phase_law *law = phase_law_at(lease->run.phase, lease->run.step);
    double before = part_before(lease);

    assert(lease->running && law->kind == LAW_TRAIN);
    return part_kept(law, before, part_ran(host, i, law)) > before;
}

/* A job of known length needs no part: its length counts what ran. */
double host_phase_pause(struct cs_host *host, uint32_t i)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct host_job_slot *job = lease->owner;
    const struct phase_law *law = phase_law_at(lease->run.phase,
                                               lease->run.step);
    double before = part_before(lease), kept = before;

    assert(lease->running && law->kind != LAW_SERVE);
    if (!host->forms->form[job->form].fixed) {
        double ran = part_ran(host, i, law);
        kept = part_kept(law, before, ran);
        job->pub.work_done_s += ran;
        job->pub.work_lost_s += before + ran - kept;
    }
    if (kept > before)
        host->decision->vain_stops = 0;
    host_phase_cut(host, i);
    assert(kept >= before && kept <= 1);
    return kept;
}

/* Returns the part of a rollout that need not be done again, in time of the whole
 * on this gang, after `before` was kept and `ran` more has run. rollout_rest() says
 * what is left to generate.  Below 1, so that the phase has an end. */
static double responses_kept(const struct host_lease_slot *lease,
                             const struct phase_law *law, double before,
                             double ran)
{
    assert(before >= 0 && ran >= 0 && before + ran <= 1);
    double whole_s = rollout_time(&law->rollout, &lease->gang, 0.5).total_s;
    struct rollout_shape rest =
        rollout_rest(&law->rollout, &lease->gang, (before + ran) * whole_s);
    double rest_s = rollout_time(&rest, &lease->gang, 0.5).total_s;

    return fmax(before, fmin(0.999, 1 - rest_s / whole_s));
}

/* A job whose rollout is cut keeps the responses that are finished.  If it keeps those of an
 * earlier cut already, these stand. */
void host_phase_cut_keep(struct cs_host *host, uint32_t i)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct host_job_slot *job = lease->owner;
    const struct phase_law *law = phase_law_at(lease->run.phase,
                                               lease->run.step);
    double before = part_before(lease);

    assert(lease->running);
    if (law->kind == LAW_ROLLOUT && job->kept == 0) {
        double s = clock_s_from_ns(host_now(host) - lease->phase_start_ns);
        double ran = fmin(1 - before, s * lease->run.rate_max);
        double kept = responses_kept(lease, law, before, ran);
        job->pub.work_done_s += ran;
        job->pub.work_lost_s += before + ran - kept;
        job->kept = kept;
        job->kept_phase = lease->phase;
        if (kept > before)
            host->decision->vain_stops = 0;
        lease->part = 0;            /* the job has it now */
    }
    host_phase_cut(host, i);
}

/* At speedup 1 the time that ran is the length that passed, to the nanosecond.
 * At another one what was left counts, so that no rounding remains. */
void host_phase_done(struct cs_host *host, uint32_t i)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct host_job_slot *job = lease->owner;

    assert(lease->running);
    host->decision->vain_stops = 0;
    host_phase_off(host, i, true);
    if (host->forms->form[job->form].fixed) {
        int64_t ran = host_now(host) - lease->phase_start_ns;
        int64_t known = lease->speedup == 1 && !job->pub.request.goodput
                            ? ran : known_left_ns(job);
        assert(ran == host_ran_ns(host, job, lease, job->done_ns, known));
        known_done(job, known);
    } else {
        job->pub.work_done_s += 1 - part_before(lease);
        job->pub.flops += lease->run.flops;
        lease->part = lease->part_phase == lease->phase ? 0 : lease->part;
    }
}

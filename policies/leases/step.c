/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * step.c - `fidelity: step`: a training phase step by step.
 *
 * A loader fills a buffer of batches, each a flow over cores, drives, storage
 * and PCIe; a step takes one batch, computes for the time of the law and, at
 * its end, exchanges gradients in a burst over the links between nodes.  The
 * fluid mode takes the same laws at their mean: here the pipeline has to be
 * filled, bursts of several jobs can collide or miss each other, and a step
 * that waits delays the next.
 */
#include "policies/leases/step.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/cluster/fabric.h"
#include "models/laws/phase.h"
#include "models/types/rates.h"
#include "policies/state/lease_slot.h"
#include "policies/state/life.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"

/* Batches ready ahead: prefetch_factor of PyTorch's DataLoader. */
#define PREFETCH 2u

/* The steps of the phase on one lease. */
struct host_steps {
    struct host_steps *next;        /* in the list of spare ones, */
    bool spare;                     /* while it is there */
    const struct phase_law *law;
    struct phase_plan plan;
    uint32_t total, done;           /* steps of this run */
    uint32_t buffered;              /* batches */
    double feed_left;               /* of the batch that is being loaded */
    struct flow_handle feed, burst;
    struct loop_handle compute, burst_begin;
    bool feeding, computing, sending;
    int64_t wait_from_ns;           /* no batch since, or CLOCK_NEVER_NS */
    int64_t wait_ns, late_ns;       /* for data, for other nodes */
    int64_t computed_ns;            /* end of the last computation */
    const char *waited_for;         /* what held back the last batch */
};

static void step_begin(struct cs_host *host, uint32_t i);
static void feed_begin(struct cs_host *host, uint32_t i);

/* Returns the steps of a lease on which some were started. */
static struct host_steps *steps_of(const struct cs_host *host, uint32_t i)
{
    assert(host->leases->slot[i].steps != NULL);
    return host->leases->slot[i].steps;
}

/* Does a loader feed these steps? */
static bool fed(const struct host_steps *s)
{
    const struct demand_rates *rates = &s->plan.rates;

    return isfinite(s->plan.feed_rate) || rates->core_s > 0 ||
           rates->storage_bytes > 0 || rates->nvme_bytes > 0 ||
           rates->pcie_bytes > 0;
}

/* ---- the end of a step ------------------------------------------------- */

/* The last step is done: says what held the run back, and ends the phase. */
static void run_over(struct cs_host *host, uint32_t i)
{
    struct host_steps *s = steps_of(host, i);
    struct host_phase_run *run = &host->leases->slot[i].run;
    int64_t ran = host_now(host) - run->start_ns;

    assert(ran >= 0 && s->done == s->total);
    if (s->wait_ns > s->late_ns && s->wait_ns > ran / 100)
        run->bottleneck = s->waited_for;
    else if (s->late_ns > ran / 100)
        run->bottleneck = link_class_name(FABRIC_NIC);
    host_steps_stop(host, i);
    host->hooks.phase_over(host, i);
}

/* Called when a step has computed, and when it has sent its gradients.  When
 * both are over, the step is done, and the next one begins or the phase ends. */
static void step_over(struct cs_host *host, uint32_t i)
{
    struct host_steps *s = steps_of(host, i);

    if (s->computing || s->sending)
        return;
    assert(s->done < s->total);
    s->late_ns = clock_after(s->late_ns, host_now(host) - s->computed_ns);
    if (++s->done == s->total) {
        run_over(host, i);
        return;
    }
    step_begin(host, i);
}

/* The event at the end of a step's computation.  The step is over once its flow has ended,
 * too. */
static void computed(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;
    struct host_steps *s = steps_of(host, (uint32_t)arg);

    assert(s->computing);
    s->computing = false;
    s->computed_ns = loop_now_ns(loop);
    step_over(host, (uint32_t)arg);
}

/* The end of the flow of a step's gradients. */
static void sent(void *self, uint64_t arg)
{
    struct cs_host *host = self;

    assert(steps_of(host, (uint32_t)arg)->sending);
    steps_of(host, (uint32_t)arg)->sending = false;
    step_over(host, (uint32_t)arg);
}

/* ---- gradients: sent at the end of a step -------------------------------- */

/* Sets the links of one step's exchange in host->life->uses; returns their number. */
static uint32_t burst_uses(struct cs_host *host, uint32_t i)
{
    struct host_steps *s = steps_of(host, i);
    struct demand_rates rates = {
        .network_bytes = s->plan.rates.network_bytes / s->total };

    assert(s->total > 0);
    return fabric_uses(host->parts.fabric, &host->leases->slot[i].pub.placement,
                       &rates, host->life->uses);
}

/* Starts to exchange the gradients of a step, at the time that burst_plan() chose. */
static void burst(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;
    struct host_steps *s = steps_of(host, (uint32_t)arg);
    uint32_t uses = burst_uses(host, (uint32_t)arg);
    struct flow_spec spec = {
        .work = 1, .rate_max = INFINITY, .use = host->life->uses,
        .use_count = uses, .done = sent, .self = host, .arg = arg,
    };

    assert(s->sending && uses > 0);
    (void)loop;
    s->burst = flow_start(host->parts.net, &spec);
}

/* Plans the exchange so that it ends with the step, if it is alone on its links. */
static void burst_plan(struct cs_host *host, uint32_t i, double step_s)
{
    struct host_steps *s = steps_of(host, i);
    uint32_t uses = burst_uses(host, i);
    double alone_s = 0;

    assert(step_s > 0);
    if (uses == 0)
        return;
    for (uint32_t k = 0; k < uses; k++)
        alone_s = fmax(alone_s, host->life->uses[k].per_unit /
                                    flow_link_capacity(host->parts.net,
                                                       host->life->uses[k].link));
    s->sending = true;
    assert(alone_s >= 0);
    s->burst_begin = loop_at(
        host->parts.loop,
        clock_after(host_now(host),
                    clock_ns_for_work(fmax(step_s - alone_s, 0), 1.0)),
        LOOP_RANK_FINISH, burst, host, i);
}

/* ---- a step ------------------------------------------------------------ */

/* Begins a step, if a batch is ready and the last step is over. */
static void step_begin(struct cs_host *host, uint32_t i)
{
    struct host_steps *s = steps_of(host, i);
    double step_s = 1 / (s->plan.gpu_rate * s->total);
    int64_t now = host_now(host);

    assert(step_s > 0 && s->done < s->total);
    if (s->computing || s->sending)
        return;
    if (fed(s) && s->buffered == 0) {
        if (s->wait_from_ns == CLOCK_NEVER_NS)
            s->wait_from_ns = now;
        return;
    }
    if (s->wait_from_ns != CLOCK_NEVER_NS)
        s->wait_ns = clock_after(s->wait_ns, now - s->wait_from_ns);
    s->wait_from_ns = CLOCK_NEVER_NS;
    s->buffered -= fed(s);
    s->computing = true;
    s->compute = loop_at(host->parts.loop,
                         clock_after(now, clock_ns_for_work(step_s, 1.0)),
                         LOOP_RANK_FINISH, computed, host, i);
    burst_plan(host, i, step_s);
    feed_begin(host, i);
}

/* ---- the loader -------------------------------------------------------- */

/* The end of the flow of a batch: a step that waited for it may begin. */
static void loaded(void *self, uint64_t arg)
{
    struct cs_host *host = self;
    uint32_t i = (uint32_t)arg, link = flow_ended_at(host->parts.net);
    struct host_steps *s = steps_of(host, i);

    assert(s->feeding && s->buffered < PREFETCH);
    s->feeding = false;
    s->feed_left = 1;
    s->buffered++;
    s->waited_for = link == UINT32_MAX
        ? s->plan.feed_bottleneck
        : link_class_name(fabric_class(host->parts.fabric, link));
    step_begin(host, i);
    feed_begin(host, i);
}

/* Begins to load a batch, if the buffer has room for one. */
static void feed_begin(struct cs_host *host, uint32_t i)
{
    struct host_steps *s = steps_of(host, i);
    struct demand_rates rates = s->plan.rates;

    if (s->feeding || s->buffered >= PREFETCH || !fed(s))
        return;
    rates.network_bytes = 0;
    uint32_t uses = fabric_uses(host->parts.fabric,
                                &host->leases->slot[i].pub.placement, &rates,
                                host->life->uses);
    for (uint32_t k = 0; k < uses; k++)
        host->life->uses[k].per_unit /= s->total;
    if (uses == 0 && isinf(s->plan.feed_rate)) {
        s->buffered = PREFETCH;
        return;
    }
    struct flow_spec spec = {
        .work = s->feed_left, .rate_max = s->plan.feed_rate * s->total, .use = host->life->uses,
        .use_count = uses, .done = loaded, .self = host, .arg = i,
    };
    assert(s->feed_left > 0);
    s->feeding = true;
    s->feed = flow_start(host->parts.net, &spec);
}

/* ---- begin and stop ---------------------------------------------------- */

/* Only GPUs are simulated step by step.  Cores prepare a batch before they
 * compute on it, and every step takes the same time: steps would tell nothing. */
bool host_steps_apply(const struct cs_host *host, uint32_t i,
                      const struct phase_law *law)
{
    return host->parts.by_step && host->leases->slot[i].gang.gpus > 0 &&
           (law->kind == LAW_TRAIN || law->kind == LAW_FORWARD);
}

/* Memory of a phase that is over is used again. */
void host_steps_start(struct cs_host *host, uint32_t i,
                      const struct phase_law *law,
                      const struct phase_plan *plan, double part)
{
    struct host_lease_slot *lease = &host->leases->slot[i];
    struct host_steps *s = lease->steps;

    assert(part >= 0 && part <= 1);
    assert(s == NULL || !s->spare);
    assert(plan->gpu_rate > 0 && isfinite(plan->gpu_rate));
    if (s == NULL) {
        s = host->life->steps_spare;
        host->life->steps_spare = s != NULL ? s->next : NULL;
        if (s == NULL)
            s = arena_alloc(host->parts.arena, 1, sizeof *s);
        assert(!s->feeding && !s->computing && !s->sending);    /* no other lease has it */
        lease->steps = s;
        memset(s, 0, sizeof *s);
    }
    /* Batches for another phase are of no use to this one. */
    if (s->law != law) {
        s->buffered = 0;
        s->feed_left = 1;
    }
    s->law = law;
    s->plan = *plan;
    s->total = law->repeats > 0 ? law->repeats : 1;
    s->done = (uint32_t)lround(part * s->total);
    s->wait_ns = s->late_ns = 0;
    s->wait_from_ns = CLOCK_NEVER_NS;
    s->waited_for = plan->bottleneck;
    assert(s->total > 0 && s->done <= s->total);
    feed_begin(host, i);
    step_begin(host, i);
}

double host_steps_part(const struct cs_host *host, uint32_t i)
{
    const struct host_steps *s = steps_of(host, i);

    assert(s->done <= s->total);
    return (double)s->done / s->total;
}

/* What is left of a batch that is being loaded is kept: it goes on if the phase
 * is started again. */
void host_steps_stop(struct cs_host *host, uint32_t i)
{
    struct host_steps *s = host->leases->slot[i].steps;

    if (s == NULL)
        return;
    if (s->feeding)
        s->feed_left = fmax(flow_stop(host->parts.net, s->feed), 1e-12);
    flow_stop(host->parts.net, s->burst);
    loop_cancel(host->parts.loop, s->compute);
    loop_cancel(host->parts.loop, s->burst_begin);
    s->feeding = s->computing = s->sending = false;
    assert(s->done <= s->total);
}

/* Puts the memory into the list of spare ones. */
void host_steps_drop(struct cs_host *host, uint32_t i)
{
    assert(host->leases->slot[i].live);
    struct host_steps *s = host->leases->slot[i].steps;

    if (s == NULL)
        return;
    host_steps_stop(host, i);
    s->next = host->life->steps_spare;
    s->spare = true;
    host->life->steps_spare = s;
    host->leases->slot[i].steps = NULL;
}

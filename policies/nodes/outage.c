/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * outage.c - failures: when they come, and which nodes go out of service and come
 * back.  policies/leases/interrupt.c says what becomes of the jobs there.
 *
 * Hardware failures are one random stream that depends on the seed alone: a
 * node fails at the same times under every policy.  A node that is down cannot
 * fail again.
 *
 * While no job is left and none is to come, no failure is scheduled, so that a run
 * can end.  If a job comes nevertheless, the failures of the time between are worked
 * off.
 * Recorded failures come beside drawn ones: each node plays one server of the
 * trace.
 */
#include "policies/nodes/outage.h"

#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/cluster/faults.h"
#include "models/jobs/job.h"
#include "models/laws/outage.h"
#include "models/types/facts.h"
#include "models/types/placement.h"
#include "policies/leases/interrupt.h"
#include "policies/leases/kept.h"
#include "policies/state/decision.h"
#include "policies/state/jobs.h"
#include "policies/state/news.h"
#include "policies/state/nodes.h"
#include "policies/state/pools.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"

struct host_outage {
    struct rng rng;
    double mean_s;              /* seconds between failures of the whole cluster; INFINITY:
                                 * none is drawn */
    double node_share;          /* of them, the part that is of single nodes */
    int64_t next_ns;            /* when the next failure is drawn to come */
    const struct faults *recorded;      /* or NULL */
    uint32_t *played_by;        /* per server: its node, or UINT32_MAX */
    uint32_t fault;             /* the next recorded failure */
    bool scheduled;             /* an event for the next failure is pending */
    bool *down;                 /* per node */
    int64_t *until_ns;          /* per node that is down */
    double *weight;             /* per group: node failures per second */
    struct share *share;        /* per node that is down: all its resources */
};

/* The failures of the cluster; NULL: nothing fails. */
static const struct outage_spec *spec_of(const struct cs_host *host)
{
    return host->spec->failures;
}

/* Returns how many leaf switches there are, the last one perhaps with fewer nodes;
 * 0: switches do not fail. */
static uint32_t count_switches(const struct cluster_spec *spec)
{
    assert(spec->node_count > 0);
    return spec->leaf_nodes
        ? (spec->node_count + spec->leaf_nodes - 1) / spec->leaf_nodes : 0;
}

/* Adds a drawn gap to next_ns; a gap of 1e9 s and more never ends. */
static void draw_next(struct cs_host *host)
{
    struct host_outage *o = host->nodes->outage;

    assert(isfinite(o->mean_s) && o->mean_s > 0);
    double s = rng_exponential(&o->rng, o->mean_s);
    assert(s >= 0);
    o->next_ns = s < 1e9 ? clock_after(o->next_ns, clock_ns_for_work(s, 1.0))
                         : CLOCK_NEVER_NS;
}

/* Gives each node a server of the trace: the first ones of a shuffled list
 * (Knuth, algorithm P).  The trace has at least as many servers as the cluster has nodes. */
static void assign_servers(struct cs_host *host)
{
    struct host_outage *o = host->nodes->outage;
    uint32_t servers = o->recorded->servers;
    uint32_t *list = arena_alloc(host->parts.arena, servers, sizeof *list);
    struct rng rng;

    o->played_by = arena_alloc(host->parts.arena, servers,
                               sizeof *o->played_by);
    rng_init(&rng, host->parts.seed, "servers", host->parts.replica);
    for (uint32_t i = 0; i < servers; i++) {
        list[i] = i;
        o->played_by[i] = UINT32_MAX;
    }
    assert(host->spec->node_count <= servers);
    for (uint32_t n = 0; n < host->spec->node_count; n++) {
        uint32_t k = n + (uint32_t)rng_below(&rng, servers - n);
        uint32_t server = list[k];

        assert(server < servers && o->played_by[server] == UINT32_MAX);
        list[k] = list[n];
        o->played_by[server] = n;
    }
}

/* Failures of the whole cluster are one Poisson process, whose rate is the sum of those of
 * nodes and switches; what fails is drawn when it is due. */
void host_outage_begin(struct cs_host *host)
{
    const struct cluster_spec *spec = host->spec;
    const struct outage_spec *f = spec_of(host);
    double node_rate = 0, all;

    assert(host->nodes->outage == NULL);
    if (f == NULL)
        return;
    struct host_outage *o = arena_alloc(host->parts.arena, 1, sizeof *o);
    o->down = arena_alloc(host->parts.arena, spec->node_count,
                          sizeof *o->down);
    o->until_ns = arena_alloc(host->parts.arena, spec->node_count,
                              sizeof *o->until_ns);
    o->share = arena_alloc(host->parts.arena, spec->node_count,
                           sizeof *o->share);
    o->weight = arena_alloc(host->parts.arena, spec->group_count,
                            sizeof *o->weight);
    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        o->weight[g] = group->node_count *
                       outage_hardware_per_s(f, group->gpus, 1, 0);
        node_rate += o->weight[g];
    }
    /* Per second, of everything that can fail. */
    all = node_rate + outage_hardware_per_s(f, 0, 0, count_switches(spec));
    assert(isfinite(all) && all >= node_rate && node_rate >= 0);
    rng_init(&o->rng, host->parts.seed, "failures", host->parts.replica);
    host->nodes->outage = o;
    o->recorded = f->recorded;
    if (o->recorded != NULL)
        assign_servers(host);
    o->mean_s = all > 0 ? 1 / all : INFINITY;
    o->node_share = all > 0 ? node_rate / all : 0;
    if (all > 0)
        draw_next(host);
    else
        o->next_ns = CLOCK_NEVER_NS;
}

/* Interrupts each job that has a lease or parked state on a node.  Interrupting a job ends its
 * leases, so the walk begins again. */
static void interrupt_all_on(struct cs_host *host, uint32_t node)
{
    assert(node < host->spec->node_count);
    for (uint32_t i = 0; i < cs_lease_count(host);) {
        const struct cs_lease *lease = cs_lease(host, cs_lease_at(host, i));
        if (host_stands_on(lease, node)) {
            host_interrupt(host, lease->job.i);
            i = 0;              /* the job's other leases are gone too */
        } else {
            i++;
        }
    }
    for (EACH_JOB(j, host))
        if (host_parked_on(host, j, node))
            host_interrupt(host, j);
}

/* A node is repaired: its GPUs are free again, and the policy is told.  If it is out
 * for longer by now, it is not. */
static void return_node(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;
    struct host_outage *o = host->nodes->outage;
    uint32_t node = (uint32_t)arg;
    struct placement all = { .share = &o->share[node], .share_count = 1 };
    uint32_t gpus = mask_count(o->share[node].gpu_mask);

    assert(o->down[node]);
    if (o->until_ns[node] > loop_now_ns(loop)) {
        if (o->until_ns[node] != CLOCK_NEVER_NS)
            loop_at(loop, o->until_ns[node], LOOP_RANK_OUTAGE, return_node, host, node);
        return;
    }
    assert(host->pools->pool[cluster_group_of(host->spec, node)->pool].down >=
           gpus);
    cluster_release(host->cluster, &all);
    o->down[node] = false;
    host->pools->pool[cluster_group_of(host->spec, node)->pool].down -= gpus;
    host_tell(host, FACT_NODE_UP, node, 0, gpus);
    host->hooks.wake(host);
}

/* Takes a node out of service.  until_ns: CLOCK_NEVER_NS if it never comes
 * back.  Does nothing to a node that is down already.  Its free resources are all of the node,
 * after the leases there have ended; they are taken from the cluster as a lease takes them. */
static void take_node_down(struct cs_host *host, uint32_t node,
                           int64_t until_ns)
{
    struct host_outage *o = host->nodes->outage;
    const struct node_group *group = cluster_group_of(host->spec, node);
    struct placement all = { .share = &o->share[node], .share_count = 1 };

    assert(node < host->spec->node_count && until_ns > host_now(host));
    if (o->down[node])
        return;
    if (group->rent != NULL) {      /* the provider replaces it */
        host->hooks.rented_failed(host, node);
        return;
    }
    interrupt_all_on(host, node);
    o->share[node] = (struct share) {
        .node = node, .gpu_mask = host->cluster->free_mask[node],
        .cores = host->cluster->free_cores[node],
        .memory_bytes = host->cluster->free_memory[node],
    };
    assert(mask_count(o->share[node].gpu_mask) == group->gpus);
    cluster_take(host->cluster, &all);
    o->down[node] = true;
    o->until_ns[node] = until_ns;
    host->pools->pool[group->pool].down += group->gpus;
    host_tell(host, FACT_NODE_DOWN, node, 0, group->gpus);
    if (until_ns != CLOCK_NEVER_NS)
        loop_at(host->parts.loop, until_ns, LOOP_RANK_OUTAGE, return_node, host,
                node);
    host->hooks.wake(host);
}

/* Draws the node that fails: its group by the groups' rates, then the node
 * evenly.  Two draws for each failure, whatever comes of it. */
static uint32_t draw_node(struct cs_host *host)
{
    const struct cluster_spec *spec = host->spec;
    struct host_outage *o = host->nodes->outage;
    double total = 0, u;
    uint32_t g = 0;

    for (uint32_t i = 0; i < spec->group_count; i++)
        total += o->weight[i];
    assert(total > 0);
    u = rng_uniform(&o->rng) * total;
    while (g + 1 < spec->group_count && u >= o->weight[g])
        u -= o->weight[g++];
    return spec->group[g].first_node +
           (uint32_t)rng_below(&o->rng, spec->group[g].node_count);
}

/* Works off the drawn failure that is due at next_ns.  It changes nothing on
 * nodes that are repaired by now.  A failure that is not of a single node is of a leaf switch,
 * and takes all its nodes down. */
static void fail_drawn(struct cs_host *host)
{
    struct host_outage *o = host->nodes->outage;
    bool single = rng_uniform(&o->rng) < o->node_share;
    int64_t until_ns = clock_after(o->next_ns, spec_of(host)->repair_ns);
    uint32_t leaf = host->spec->leaf_nodes, first, count = leaf;

    assert(o->next_ns <= host_now(host) && (single || leaf > 0));
    if (single) {
        first = draw_node(host);
        count = 1;
    } else {
        first = leaf * (uint32_t)rng_below(&o->rng, count_switches(host->spec));
    }
    draw_next(host);
    for (uint32_t n = first; n < first + count &&
                             n < host->spec->node_count; n++)
        if (until_ns > host_now(host))
            take_node_down(host, n, until_ns);
}

/* Returns when the next failure comes, drawn or recorded. */
static int64_t find_due_ns(const struct host_outage *o)
{
    assert(o->recorded == NULL || o->fault <= o->recorded->count);
    int64_t recorded = o->recorded != NULL && o->fault < o->recorded->count
                           ? o->recorded->fault[o->fault].down_ns
                           : CLOCK_NEVER_NS;

    return recorded < o->next_ns ? recorded : o->next_ns;
}

/* Carries out the next failure: a drawn one, or the next of the record.  A recorded
 * server that plays no node of this cluster, and an outage that is over already, do
 * nothing.  A node that is down is out until the record says, if that is later. */
static void fail_next(struct cs_host *host)
{
    struct host_outage *o = host->nodes->outage;
    const struct fault *f;
    uint32_t node;

    if (find_due_ns(o) == o->next_ns) {
        fail_drawn(host);
        return;
    }
    assert(o->recorded != NULL && o->fault < o->recorded->count);
    f = &o->recorded->fault[o->fault++];
    assert(f->server < o->recorded->servers);
    node = o->played_by[f->server];
    if (node == UINT32_MAX || f->up_ns <= host_now(host))
        return;
    if (o->down[node] && f->up_ns > o->until_ns[node])
        o->until_ns[node] = f->up_ns;
    take_node_down(host, node, f->up_ns);
}

/* A failure is due.  Nothing fails any more when the run could end. */
static void handle_failure(struct loop *loop, void *self, uint64_t arg)
{
    struct cs_host *host = self;

    (void)loop;
    (void)arg;
    assert(host->nodes->outage->scheduled);
    host->nodes->outage->scheduled = false;
    if (!host_goes_on(host->decision))
        return;
    fail_next(host);
    host_outage_wake(host);
}

/* Failures of the time in which nothing was scheduled are carried out first. */
void host_outage_wake(struct cs_host *host)
{
    struct host_outage *o = host->nodes->outage;

    if (o == NULL || o->scheduled || host->decision->closing)
        return;
    assert(host_goes_on(host->decision));
    while (find_due_ns(o) < host_now(host))
        fail_next(host);
    if (find_due_ns(o) == CLOCK_NEVER_NS)
        return;
    o->scheduled = true;
    loop_at(host->parts.loop, find_due_ns(o), LOOP_RANK_OUTAGE, handle_failure,
            host, 0);
}

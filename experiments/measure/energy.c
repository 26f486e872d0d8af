/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * energy.c - a gauge of watts per node group.
 *
 * A GPU draws what models/cluster/power.h says for the busy share of its phase, and
 * its idle power in a lease without one or without a lease.  Nodes draw theirs
 * from the first second to the last: what stands in the hall costs power.
 */
#include "experiments/measure/energy.h"

#include <string.h>

#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/cluster/power.h"
#include "models/types/facts.h"
#include "models/types/placement.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/event/journal.h"
#include "sim/flow/flow.h"
#include "sim/stats/tally.h"

/* A gauge for each group of nodes, and the busy part of each lease. */
struct energy {
    struct metrics_parts parts;
    const struct cs_host *host;
    struct gauge *watts;        /* per group, all its GPUs */
    double *busy;               /* per lease slot; 0: no lease, or idle */
    uint32_t busy_room;
    double *busy_w;             /* per group: of a GPU, above idle */
    double *core_s;             /* per node, at from_ns */
    int64_t from_ns;            /* the end of the warm-up */
};

/* Returns the busy fraction of a lease, 0 for a new one; the array grows with the
 * largest number. */
static double *busy_of(struct energy *energy, uint32_t lease)
{
    ARENA_REACH(energy->parts.arena, energy->busy, energy->busy_room, lease);
    return &energy->busy[lease];
}

/* Returns by how many watts a GPU of a group draws more when it goes from one
 * busy fraction to another; below 0: less. */
static inline double more_w(const struct energy *energy, uint32_t g, double before,
                            double after)
{
    const struct gpu_type *gpu = energy->parts.spec->cluster->group[g].gpu;

    if (before == 0 && after == 1)
        return energy->busy_w[g];
    if (before == 1 && after == 0)
        return 0 - energy->busy_w[g];
    return power_gpu_w(gpu, after) - power_gpu_w(gpu, before);
}

/* Adds to the gauge of a group that `milli` thousandths of GPUs go from one
 * busy fraction to another. */
static void add(struct energy *energy, uint32_t g, int64_t now_ns,
                uint64_t milli, double before, double after)
{
    struct gauge *watts = &energy->watts[g];

    if (energy->parts.spec->cluster->group[g].gpu == NULL || milli == 0)
        return;
    gauge_set(watts, now_ns,
              watts->level + more_w(energy, g, before, after) *
                                 (double)milli / GPU_MILLI);
}

/* A trial without a host has one group, and its GPUs work fully or not at all. */
void energy_count(struct energy *energy, int64_t now_ns, uint32_t gpus,
                  bool start)
{
    struct gauge *watts = &energy->watts[0];
    double more = (start ? energy->busy_w[0] : -energy->busy_w[0]) *
                  (double)((uint64_t)gpus * GPU_MILLI) / GPU_MILLI;

    gauge_set(watts, now_ns, watts->level + more);
}

/* Finds the GPUs of a lease in each group, which go from one busy fraction to
 * another. */
static void change(struct energy *energy, const struct fact *fact,
                   double before, double after)
{
    const struct cluster_spec *spec = energy->parts.spec->cluster;
    struct lease_id id = { fact->subject };
    const struct cs_lease *lease = cs_lease(energy->host, id);
    const struct placement *place = &lease->placement;

    if (spec->group_count == 1) {
        add(energy, 0, fact->time_ns,
            (uint64_t)lease->gpus * lease->gpu_milli, before, after);
        return;
    }
    for (uint32_t i = 0; i < place->share_count;) {
        const struct node_group *group =
            cluster_group_of(spec, place->share[i].node);
        uint32_t end = group->first_node + group->node_count;
        uint64_t milli = 0;
        for (; i < place->share_count && place->share[i].node < end; i++)
            milli += share_milli(&place->share[i]);
        add(energy, (uint32_t)(group - spec->group), fact->time_ns, milli,
            before, after);
    }
}

/* Takes in that a lease became more or less busy, or ended. */
static void hear(void *self, const struct fact *fact)
{
    struct energy *energy = self;
    double *busy = busy_of(energy, fact->subject);
    double now = 0;

    if (fact->kind == FACT_LEASE_BUSY)
        now = fact->amount < 0 ? 0 : fact->amount > 1 ? 1 : fact->amount;
    if (now == *busy)
        return;
    change(energy, fact, *busy, now);
    *busy = now;
}

struct energy *energy_new(const struct metrics_parts *parts)
{
    struct energy *energy = arena_alloc(parts->arena, 1, sizeof *energy);
    const struct cluster_spec *spec = parts->spec->cluster;

    energy->parts = *parts;
    energy->watts = arena_alloc(parts->arena, spec->group_count,
                                sizeof *energy->watts);
    energy->core_s = arena_alloc(parts->arena, spec->node_count,
                                 sizeof *energy->core_s);
    energy->busy_w = arena_alloc(parts->arena, spec->group_count,
                                 sizeof *energy->busy_w);
    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];

        if (group->gpu == NULL)
            continue;
        energy->busy_w[g] = power_gpu_w(group->gpu, 1) - power_gpu_w(group->gpu, 0);
        gauge_set(&energy->watts[g], 0,
                  power_gpu_w(group->gpu, 0) * group->gpus * group->node_count);
    }
    journal_listen(parts->journal,
                   UINT64_C(1) << FACT_LEASE_BUSY | UINT64_C(1) << FACT_LEASE_DROP,
                   hear, energy);
    return energy;
}

void energy_watch(struct energy *energy, const struct cs_host *host)
{
    energy->host = host;
}

/* Returns how many core-seconds the cores of a node have worked; 0 for a node
 * without. */
static double core_seconds(struct energy *energy, uint32_t node)
{
    uint32_t link = fabric_link(energy->parts.fabric, FABRIC_CPU, node);

    return link == UINT32_MAX ? 0 : flow_link_area(energy->parts.net, link);
}

void energy_begin(struct energy *energy, int64_t now_ns)
{
    const struct cluster_spec *spec = energy->parts.spec->cluster;

    for (uint32_t g = 0; g < spec->group_count; g++) {
        double level = energy->watts[g].level;
        energy->watts[g] = (struct gauge) { .from_ns = now_ns,
                                            .last_ns = now_ns };
        gauge_set(&energy->watts[g], now_ns, level);
    }
    for (uint32_t n = 0; n < spec->node_count; n++)
        energy->core_s[n] = core_seconds(energy, n);
    energy->from_ns = now_ns;
}

double energy_group_j(struct energy *energy, uint32_t g, int64_t now_ns,
                      double *core_s)
{
    const struct node_group *group = &energy->parts.spec->cluster->group[g];
    double span_s = clock_s_from_ns(now_ns - energy->from_ns);
    double joules = gauge_area(&energy->watts[g], now_ns), work_s = 0;

    for (uint32_t k = 0; k < group->node_count; k++)
        work_s += core_seconds(energy, group->first_node + k) -
                  energy->core_s[group->first_node + k];
    joules += span_s * group->idle_w * group->node_count;
    if (group->cores)
        joules += (group->max_w - group->idle_w) * work_s / group->cores;
    if (core_s)
        *core_s = work_s;
    return joules;
}

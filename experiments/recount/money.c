/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * money.c - what everything cost and drew, group by group.
 */
#include "experiments/recount/money.h"

#include <assert.h>
#include <math.h>

#include "experiments/recount/books.h"
#include "experiments/recount/held.h"
#include "experiments/recount/judge.h"
#include "experiments/recount/nodes.h"
#include "experiments/recount/recount.h"
#include "experiments/recount/rows.h"
#include "experiments/spec/trial_spec.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/cluster/power.h"
#include "sim/base/clock.h"
#include "sim/flow/flow.h"

/* Returns the core-seconds of work of a group from the warm-up on: what flows
 * took of the links that stand for its nodes' cores. */
static double group_core_s(const struct asked *a, uint32_t g)
{
    const struct node_group *group = &a->cluster->group[g];
    double s = 0;

    for (uint32_t n = 0; n < group->node_count; n++) {
        uint32_t l = fabric_link(a->parts->fabric, FABRIC_CPU, group->first_node + n);

        if (l < a->books->links)
            s += a->books->carried[l].units - a->books->carried[l].before;
    }
    return s;
}

/* Returns joules of a group with PUE: idle nodes and GPUs while they are there, what
 * leases drew above that, and cores by their work. */
static double group_joules(const struct asked *a, uint32_t g, double core_s,
                           const struct nodes_sum *rented)
{
    const struct node_group *group = &a->cluster->group[g];
    double gpus = group->gpu != NULL ? group->gpus * power_gpu_w(group->gpu, 0) : 0;
    double node_s = group->rent != NULL ? rented->node_s : group->node_count * a->span_s;
    double work = group->cores > 0 ? core_s / group->cores * (group->max_w - group->idle_w)
                                   : 0;

    return a->cluster->pue *
           (a->books->held->group_j[g] + work + node_s * (group->idle_w + gpus));
}

/* Returns what the nodes of a group cost from the warm-up to the end, without
 * electricity. */
static double group_usd(const struct asked *a, uint32_t g, const struct nodes_sum *rented)
{
    const struct node_group *group = &a->cluster->group[g];

    if (group->rent != NULL || group->billed_held)
        return rented->usd;
    return group->node_count *
           cluster_node_usd(group, a->books->held->from_ns, a->end_ns);
}

/* Each flow may be off by a nanosecond of its link when it ends.  This is far
 * more than JUDGE_NEAR of a short flow. */
double money_core_scale(const struct asked *a)
{
    double core_s = 0;

    for (uint32_t l = 0; l < a->books->links; l++)
        if (a->books->carried[l].ends > 0 &&
            fabric_class(a->parts->fabric, l) == FABRIC_CPU)
            core_s += (double)a->books->carried[l].ends * 1e-9 *
                      flow_link_capacity(a->parts->net, l);
    return a->core_s + core_s / JUDGE_NEAR;
}

/* Energy in kWh and by price.  Where the carbon intensity changes over time, only the
 * sign of carbon is checked. */
static void judge_energy(const struct asked *a, double joules, double usd, double scale)
{
    const struct cluster_spec *cluster = a->cluster;
    double kwh = joules / 3.6e6;

    judge_metric(a->judge, METRIC_ENERGY, kwh, scale);
    judge_metric(a->judge, METRIC_COST_ENERGY,
                 a->parts->spec->warmup_ns > 0 ? NAN : usd,
                 scale * cluster->electricity_usd_per_kwh);
    if (cluster->carbon == NULL)
        judge_metric(a->judge, METRIC_CARBON, kwh * cluster->carbon_g_per_kwh / 1000,
                     scale * cluster->carbon_g_per_kwh);
    else
        judge_holds(a->judge, "carbon_kg", a->value[METRIC_CARBON] >= 0 &&
                    (kwh > 0 || a->value[METRIC_CARBON] == 0), "it is below 0");
}

/* Splits what was paid by cause: leases that worked, loaded or waited, nodes
 * that no lease held, rented nodes that could not be used, transfers and
 * storage.  `paid` is the USD of all nodes, and `rent` the part of it for
 * rented nodes that could not be used.  After a warm-up no cause is published,
 * for what a job paid before is not known. */
static void judge_causes(const struct asked *a, double paid, double rent, double transfer)
{
    const struct held *held = a->books->held;
    bool warm = a->parts->spec->warmup_ns > 0;
    double held_usd = fmax(0, held->usd), work = held->all_compute_usd;
    double load = held->all_switch_usd;

    judge_metric(a->judge, METRIC_HELD_COST, held_usd, held->all_usd);
    judge_metric(a->judge, METRIC_COST_COMPUTE, warm ? NAN : work, 0);
    judge_metric(a->judge, METRIC_COST_SWITCH, warm ? NAN : load, 0);
    judge_metric(a->judge, METRIC_COST_WAIT,
                 warm ? NAN : fmax(0, held_usd - work - load), held_usd);
    judge_metric(a->judge, METRIC_COST_FREE,
                 warm ? NAN : fmax(0, paid - held_usd - rent), paid + held_usd);
    judge_metric(a->judge, METRIC_COST_RENT, warm ? NAN : rent, paid);
    judge_metric(a->judge, METRIC_COST_TRANSFER, warm ? NAN : transfer, 0);
    judge_metric(a->judge, METRIC_COST_STORAGE,
                 warm ? NAN : a->cluster->storage_usd_per_h * a->span_s / 3600, 0);
}

/* Compares what was spent in all, group by group, and sets core_s. */
static void judge_cost(struct asked *a)
{
    const struct cluster_spec *cluster = a->cluster;
    double usd = 0, joules = 0, energy_usd = 0, rent = 0, node_s = 0;
    double transfer = a->books->told.transfer_usd, scale;

    for (uint32_t g = 0; g < cluster->group_count; g++) {
        struct nodes_sum rented = nodes_group(a->books->nodes, g);
        double core_s = group_core_s(a, g), j = group_joules(a, g, core_s, &rented);

        a->core_s += core_s;
        usd += group_usd(a, g, &rented);
        joules += j;
        rent += rented.unused_usd;
        if (cluster->group[g].rent != NULL)
            node_s += rented.node_s;
        if (!cluster->group[g].energy_included)
            energy_usd += j / 3.6e6 * cluster->electricity_usd_per_kwh;
    }
    scale = joules / 3.6e6 + money_core_scale(a) / 3.6e6 * cluster->pue * 1e3;
    judge_energy(a, joules, energy_usd, scale);
    judge_causes(a, usd, rent, transfer);
    judge_metric(a->judge, METRIC_COST, usd + energy_usd + transfer +
                 cluster->storage_usd_per_h * a->span_s / 3600,
                 usd + scale * cluster->electricity_usd_per_kwh);
    judge_metric(a->judge, METRIC_NODES_RENTED, a->span_s > 0 ? node_s / a->span_s : 0, 1);
}

/* Returns whether everything is paid for all of the time, and no electricity by
 * the kWh. */
static bool is_simple(const struct cluster_spec *cluster)
{
    bool simple = true;

    for (uint32_t g = 0; g < cluster->group_count; g++)
        simple = simple && cluster->group[g].rent == NULL && !cluster->group[g].billed_held &&
                 (cluster->group[g].energy_included ||
                  cluster->electricity_usd_per_kwh == 0);
    return simple;
}

/* Compares what was paid until the last job was done.  It can be computed only
 * where a clock alone decides what is paid; elsewhere it must lie between 0 and
 * cost_usd. */
static void judge_last_end(const struct asked *a)
{
    int64_t from = a->books->held->from_ns, last = rows_last_ns(a->books->rows);
    double usd = a->value[METRIC_COST_TRANSFER] > 0 ? a->value[METRIC_COST_TRANSFER] : 0;

    if (a->value[METRIC_JOBS_DONE] == 0 || a->parts->spec->until_ns == CLOCK_NEVER_NS) {
        judge_metric(a->judge, METRIC_COST_LAST_END, a->value[METRIC_JOBS_DONE] == 0
                         ? NAN : a->value[METRIC_COST], 0);
        return;
    }
    judge_holds(a->judge, "cost_to_last_end_usd",
                a->value[METRIC_COST_LAST_END] <= a->value[METRIC_COST] * (1 + 1e-9) &&
                    a->value[METRIC_COST_LAST_END] >= 0, "it is above cost_usd, or below 0");
    if (!is_simple(a->cluster) || a->cluster->rents || last < from)
        return;
    for (uint32_t g = 0; g < a->cluster->group_count; g++)
        usd += a->cluster->group[g].node_count *
               cluster_node_usd(&a->cluster->group[g], from, last);
    usd += a->cluster->storage_usd_per_h * ((double)(last - from) / 3.6e12);
    judge_metric(a->judge, METRIC_COST_LAST_END, usd, a->value[METRIC_COST]);
}

void money_judge(struct asked *a)
{
    judge_cost(a);
    judge_last_end(a);
}

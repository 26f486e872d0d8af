/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * costs.c - the price of the hardware, split by what it was paid for.
 *
 * Invariant: compute, wait, switch, free, rent, energy, storage and transfer
 * add up to the whole cost, where nothing was left out as warm-up.  Where
 * carbon changes over time, energy is counted at each change, at the mean
 * intensity since the last.
 */
#include "experiments/measure/costs.h"

#include <assert.h>
#include <math.h>

#include "experiments/columns/metric.h"
#include "experiments/measure/energy.h"
#include "experiments/measure/metrics.h"
#include "experiments/measure/rent.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/power.h"
#include "models/cluster/time_series.h"
#include "policies/host/host.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/event/loop.h"

#define ROUNDING 1e-12          /* of a sum: what may be left of it by rounding alone */

/* Dollars by cause, added when a job ends. */
struct costs {
    const struct trial_spec *spec;  /* prices, electricity and carbon */
    struct loop *loop;
    const struct cs_host *host;
    struct energy *energy;      /* what nodes draw */
    struct rent *rent;          /* or NULL */
    int64_t from_ns;            /* what happened before does not count */
    double held_usd, compute_usd, switch_usd, wait_usd, transfer_usd;
    struct {                    /* where carbon changes over time */
        int64_t at_ns;          /* up to when it counts */
        double joules, kg;      /* up to then */
        bool armed;
    } carbon;
};

/* Energy and rent are books of their own, and costs puts a price on what they
 * hold. */
struct costs *costs_new(const struct metrics_parts *parts)
{
    struct costs *costs = arena_alloc(parts->arena, 1, sizeof *costs);

    costs->spec = parts->spec;
    costs->loop = parts->loop;
    costs->energy = energy_new(parts);
    costs->rent = rent_new(parts);
    return costs;
}

void costs_watch(struct costs *costs, const struct cs_host *host)
{
    costs->host = host;
    energy_watch(costs->energy, host);
    rent_watch(costs->rent, host);
}

/* Costs so far are forgotten.  A job that holds GPUs now is charged at its end for
 * all that it held, so what it owes by now is subtracted. */
void costs_begin(struct costs *costs, int64_t now_ns)
{
    energy_begin(costs->energy, now_ns);
    rent_begin(costs->rent, now_ns);
    costs->from_ns = costs->carbon.at_ns = now_ns;
    costs->carbon.joules = costs->carbon.kg = 0;
    costs->transfer_usd = 0;        /* of jobs that have ended */
    /* A job that holds something now is charged for all of it when it ends. */
    costs->held_usd = costs->host != NULL ? 0 - host_held_usd(costs->host)
                                          : 0;
}

void costs_count(struct costs *costs, int64_t now_ns, uint32_t gpus,
                 bool start)
{
    energy_count(costs->energy, now_ns, gpus, start);
}

/* A job has ended: what it was charged goes to its causes. */
void costs_charge(struct costs *costs, const struct host_job *job)
{
    costs->held_usd += job->usd;
    costs->compute_usd += job->usd_compute;
    costs->switch_usd += job->usd_switch;
    costs->wait_usd += job->usd_wait;
    costs->transfer_usd += job->usd_transfer;
}

/* Returns what a node draws that has nothing to do: itself, and its idle GPUs. */
static double standby_w(const struct node_group *group)
{
    return group->idle_w +
           (group->gpu ? group->gpus * power_gpu_w(group->gpu, 0) : 0);
}

/* Returns what the hardware of a group costs from the warm-up to a time.
 * `unused` gets the part of it for rented nodes that could not be used. */
static double group_usd(const struct costs *costs, uint32_t g, int64_t end_ns,
                        double *unused)
{
    const struct node_group *group = &costs->spec->cluster->group[g];
    double span_s = clock_s_from_ns(end_ns - costs->from_ns);

    *unused = 0;
    if (group->billed_held || group->rent != NULL)
        return rent_usd(costs->rent, g, end_ns, unused);
    if (group->price != NULL)
        return group->node_count *
               cluster_node_usd(group, costs->from_ns, end_ns);
    return group->node_count * group->usd_per_h * span_s / 3600;
}

/* Returns the energy of a group up to now, with PUE.  A rented node draws
 * nothing while it is not there. */
static double group_joules(const struct costs *costs, uint32_t g, int64_t now,
                           double *core_s)
{
    const struct cluster_spec *spec = costs->spec->cluster;
    const struct node_group *group = &spec->group[g];
    double joules = energy_group_j(costs->energy, g, now, core_s);

    if (group->rent != NULL)
        joules -= standby_w(group) *
                  (group->node_count * clock_s_from_ns(now - costs->from_ns) -
                   rent_node_s(costs->rent, g, now));
    return spec->pue * joules;
}

/* Rent or write-off of every group, the electricity that a price does not
 * contain, storage and transfers; joules with PUE. */
static void money(struct costs *costs, int64_t end_ns, double *value,
                  double *core_s)
{
    const struct cluster_spec *spec = costs->spec->cluster;
    double span_s = clock_s_from_ns(end_ns - costs->from_ns);
    double usd = 0, joules = 0, energy_usd = 0, rent = 0, nodes = 0;

    *core_s = 0;
    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        double unused, work_s, j = group_joules(costs, g, end_ns, &work_s);
        usd += group_usd(costs, g, end_ns, &unused);
        rent += unused;
        if (!group->energy_included) {
            usd += j / 3.6e6 * spec->electricity_usd_per_kwh;
            energy_usd += j / 3.6e6 * spec->electricity_usd_per_kwh;
        }
        if (group->rent != NULL)
            nodes += rent_node_s(costs->rent, g, end_ns);
        joules += j;
        *core_s += work_s;
    }
    value[METRIC_COST_STORAGE] = spec->storage_usd_per_h * span_s / 3600;
    value[METRIC_COST_TRANSFER] = costs->transfer_usd;
    value[METRIC_COST] = usd + value[METRIC_COST_STORAGE] + costs->transfer_usd;
    value[METRIC_COST_ENERGY] = energy_usd;
    value[METRIC_COST_RENT] = rent;
    value[METRIC_NODES_RENTED] = span_s > 0 ? nodes / span_s : 0;
    value[METRIC_ENERGY] = joules / 3.6e6;
}

/* Returns what the cluster costs up to now: nodes, storage, electricity where it is
 * not in the price, and transfers of jobs that have ended. */
double costs_until(struct costs *costs, int64_t now_ns)
{
    const struct cluster_spec *spec = costs->spec->cluster;
    double usd = spec->storage_usd_per_h *
                 clock_s_from_ns(now_ns - costs->from_ns) / 3600;
    double per_joule = spec->electricity_usd_per_kwh / 3.6e6, unused;

    for (uint32_t g = 0; g < spec->group_count; g++) {
        usd += group_usd(costs, g, now_ns, &unused);
        if (!spec->group[g].energy_included && per_joule > 0)
            usd += group_joules(costs, g, now_ns, NULL) * per_joule;
    }
    return usd + costs->transfer_usd;
}

/* Splits the cost by cause.  Work and loading are added up from time 0, so
 * after a warm-up nothing can be said of them. */
static void causes(const struct costs *costs, double *value)
{
    double paid = value[METRIC_COST] - value[METRIC_COST_ENERGY] -
                  value[METRIC_COST_STORAGE] - value[METRIC_COST_TRANSFER];

    value[METRIC_COST_COMPUTE] = costs->compute_usd;
    value[METRIC_COST_SWITCH] = costs->switch_usd;
    value[METRIC_COST_WAIT] = costs->wait_usd;
    value[METRIC_COST_FREE] = paid - costs->held_usd - value[METRIC_COST_RENT];
    if (value[METRIC_COST_FREE] < ROUNDING * paid)
        value[METRIC_COST_FREE] = 0;
    if (costs->spec->warmup_ns > 0)
        for (int c = METRIC_COST_COMPUTE; c <= METRIC_COST_TRANSFER; c++)
            value[c] = NAN;
}

/* Adds the carbon of the energy since the last look, at the mean intensity of
 * that time.  Example: 2 kWh in an hour with 300 g/kWh in one half and 500
 * g/kWh in the other are 0.8 kg. */
static void carbon_until(struct costs *costs, int64_t now)
{
    const struct cluster_spec *spec = costs->spec->cluster;
    double joules = 0, s = clock_s_from_ns(now - costs->carbon.at_ns);

    if (spec->carbon == NULL || !(s > 0))
        return;
    for (uint32_t g = 0; g < spec->group_count; g++)
        joules += group_joules(costs, g, now, NULL);
    costs->carbon.kg += (joules - costs->carbon.joules) / 3.6e6 / 1000 *
                        time_series_area(spec->carbon, costs->carbon.at_ns, now) /
                        s;
    costs->carbon.at_ns = now;
    costs->carbon.joules = joules;
}

static void carbon_arm(struct costs *costs);

/* The carbon intensity changes: energy so far is counted at the old one.  While no
 * job is in the system it stops, since what follows may not be of the run. */
static void carbon_changes(struct loop *loop, void *self, uint64_t arg)
{
    struct costs *costs = self;

    (void)arg;
    costs->carbon.armed = false;
    if (host_jobs_left(costs->host) == 0)
        return;                 /* what follows may not be of the run */
    carbon_until(costs, loop_now_ns(loop));
    carbon_arm(costs);
}

/* Schedules the next change of the carbon intensity, if there is a series and none
 * is scheduled. */
static void carbon_arm(struct costs *costs)
{
    const struct time_series *carbon = costs->spec->cluster->carbon;

    if (carbon == NULL || costs->carbon.armed)
        return;
    int64_t next = time_series_next_ns(carbon, loop_now_ns(costs->loop));
    if (next == CLOCK_NEVER_NS)
        return;
    costs->carbon.armed = true;
    loop_at(costs->loop, next, LOOP_RANK_SAMPLE, carbon_changes, costs, 0);
}

/* With the first job in the system, the carbon of the time without one is counted. */
void costs_job_came(struct costs *costs, int64_t now_ns)
{
    if (host_jobs_left(costs->host) == 1)
        carbon_until(costs, now_ns);
    carbon_arm(costs);
}

/* With the last job gone, carbon is counted up to here.  What follows waits for
 * the next job, or for the end. */
void costs_job_ended(struct costs *costs, int64_t now_ns)
{
    if (host_jobs_left(costs->host) == 0)
        carbon_until(costs, now_ns);
}

/* The causes of the cost need the cost itself, so it is first. */
void costs_result(struct costs *costs, int64_t end_ns,
                  struct trial_result *result, double *core_s)
{
    const struct cluster_spec *spec = costs->spec->cluster;
    double *value = result->value;

    assert(end_ns >= costs->from_ns);
    money(costs, end_ns, value, core_s);
    causes(costs, value);
    value[METRIC_HELD_COST] = fmax(0, costs->held_usd);
    carbon_until(costs, end_ns);
    value[METRIC_CARBON] = spec->carbon != NULL ? costs->carbon.kg
        : value[METRIC_ENERGY] * spec->carbon_g_per_kwh / 1000;
}

/* Are the parts of the cost all of it, up to 1e-9?  True where a part is not known
 * (NAN). */
bool costs_add_up(const struct trial_result *result)
{
    double sum = 0, cost = result->value[METRIC_COST];

    for (int c = METRIC_COST_COMPUTE; c <= METRIC_COST_TRANSFER; c++)
        sum += result->value[c];
    return isnan(sum) || fabs(sum - cost) <= 1e-9 * fmax(1, cost);
}

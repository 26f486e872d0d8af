/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * demand.c - nodes that are rented ahead of the jobs.
 *
 * Time is cut into slots.  What jobs ask for in each slot, in nodes, is a series
 * with a season (a day, usually), and sim/stats/seasonal.h forecasts it.  A group
 * is to have as many nodes as jobs will ask for until new nodes could be there, at
 * the quantile `ready`: demand is taken as Poisson in units of a mean job.
 */
#include "policies/nodes/demand.h"

#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/cluster/rented.h"
#include "policies/nodes/rental.h"
#include "policies/state/nodes.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/stats/seasonal.h"

/* How often the forecast is looked at in a slot. */
#define LOOKS_PER_SLOT 60

/* A slot that is over and was forecast: |forecast - nodes|, and the nodes. */
struct slot_error {
    uint64_t slot;              /* its number from the beginning of the trial */
    double off, asked;          /* both in nodes */
};

struct host_demand {
    struct seasonal series;     /* nodes asked for in each slot that is over */
    double now;                 /* nodes asked for in the slot that is not over */
    double sum, squares;        /* of nodes a job, of all jobs */
    struct slot_error *error;
    uint32_t errors, room;      /* of `error` */
};

/* Returns the keys of the forecast of a rented group. */
static const struct rent_forecast *forecast_of(const struct cs_host *host,
                                               uint32_t g)
{
    assert(g < host->spec->group_count && host->spec->group[g].rent != NULL);
    return &host->spec->group[g].rent->forecast;
}

/* Returns the demand of a group; NULL: its nodes are not rented by forecast. */
static struct host_demand *demand_of(const struct cs_host *host, uint32_t g)
{
    assert(host->rent != NULL);
    return host->rent->group[g].demand;
}

struct host_demand *host_demand_new(struct cs_host *host, uint32_t group)
{
    struct arena *arena = host->parts.arena;
    const struct rent_forecast *forecast = forecast_of(host, group);

    if (host->spec->group[group].rent->scale != RENT_FORECAST)
        return NULL;
    struct host_demand *demand = arena_alloc(arena, 1, sizeof *demand);
    assert(forecast->slot_ns > 0);
    demand->series = (struct seasonal) {
        .level_weight = forecast->level_weight,
        .season_weight = forecast->season_weight, .slots = forecast->slots,
        .season = arena_alloc(arena, forecast->slots + 1, sizeof(double)),
    };
    return demand;
}

/* Notes how far off the forecast of the slot was that has just ended.  A first
 * season has no forecast to compare. */
static void note_error(struct arena *arena, struct host_demand *demand)
{
    const struct seasonal *series = &demand->series;
    double off = fabs(fmax(0, seasonal_at(series, 1)) - demand->now);
    struct slot_error error = { series->seen, off, demand->now };

    assert(series->slots > 0 || series->season != NULL);
    if (series->seen > 0 && series->seen >= series->slots)
        ARENA_ADD(arena, demand->error, demand->errors, demand->room, error);
}

/* Adds all slots that are over to the series; slots in which nobody asked count 0.  O(slots
 * that are over), each of them once in a trial. */
static void end_slots(struct cs_host *host, uint32_t g)
{
    struct host_demand *demand = demand_of(host, g);
    uint64_t over = (uint64_t)(host_now(host) / forecast_of(host, g)->slot_ns);

    assert(demand->series.seen <= over);
    while (demand->series.seen < over) {
        note_error(host->parts.arena, demand);
        seasonal_add(&demand->series, demand->now);
        demand->now = 0;
    }
}

void host_demand_follow(struct cs_host *host)
{
    assert(host->rent != NULL);
    for (uint32_t g = 0; g < host->spec->group_count; g++)
        if (demand_of(host, g) != NULL)
            end_slots(host, g);
}

void host_demand_add(struct cs_host *host, uint32_t group, double nodes)
{
    struct host_demand *demand = demand_of(host, group);

    assert(nodes >= 0);
    if (demand == NULL)
        return;
    end_slots(host, group);
    demand->now += nodes;
    demand->sum += nodes;
    demand->squares += nodes * nodes;
}

/* Returns the mean number of nodes that jobs are expected to ask for from now until
 * end_ns: the forecast of each slot, by the part of the slot that lies between.  For example,
 * a quarter of a slot that is forecast as 8 nodes counts 2. */
static double mean_until(const struct cs_host *host, uint32_t g, int64_t end_ns)
{
    const struct host_demand *demand = demand_of(host, g);
    int64_t slot_ns = forecast_of(host, g)->slot_ns, from = host_now(host);
    uint64_t seen = demand->series.seen;
    double nodes = 0;

    assert((int64_t)seen <= from / slot_ns);
    while (from < end_ns) {
        int64_t slot = from / slot_ns;
        int64_t to = clock_after(slot * slot_ns, slot_ns);
        to = to < end_ns ? to : end_ns;
        nodes += fmax(0, seasonal_at(&demand->series,
                                     (uint64_t)slot - seen + 1)) *
                 clock_s_from_ns(to - from) / clock_s_from_ns(slot_ns);
        from = to;
    }
    return nodes;
}

/* squares / sum is the mean size of a job as a node asks for it: larger jobs count
 * more, since they need their nodes together.  At most the whole group.  For example, jobs of
 * 1 node and of 3 nodes, one each: the unit is (1 + 9) / 4 = 2.5 nodes. */
uint32_t host_demand_ahead(const struct cs_host *host, uint32_t group)
{
    const struct rent_spec *spec = host->spec->group[group].rent;
    const struct host_demand *demand = demand_of(host, group);

    assert(spec != NULL);
    if (demand == NULL)
        return spec->spare;
    if (!(demand->sum > 0) || demand->series.seen == 0)
        return 0;
    double unit = demand->squares / demand->sum;
    int64_t look = spec->forecast.slot_ns / LOOKS_PER_SLOT;
    int64_t end = clock_after(clock_after(host_now(host), spec->start_ns), look);
    double most = host_rental_whole(unit * seasonal_poisson_most(
        mean_until(host, group, end) / unit, spec->forecast.ready));
    uint32_t count = host->spec->group[group].node_count;
    return most < count ? (uint32_t)most : count;
}

/* At multiples of the interval, so that looks do not depend on when jobs come. */
int64_t host_demand_look_ns(const struct cs_host *host)
{
    int64_t next = CLOCK_NEVER_NS;

    assert(host->rent != NULL);
    for (uint32_t g = 0; g < host->spec->group_count; g++) {
        if (demand_of(host, g) == NULL)
            continue;
        int64_t look = forecast_of(host, g)->slot_ns / LOOKS_PER_SLOT;
        int64_t at = clock_after(host_now(host) / look * look, look);
        next = at < next ? at : next;
    }
    return next;
}

/* Slots that began before from_ns are left out, as is the warm-up elsewhere. */
double host_demand_error(const struct cs_host *host, int64_t from_ns)
{
    double off = 0, asked = 0;

    for (uint32_t g = 0; host->rent != NULL &&
                         g < host->spec->group_count; g++) {
        const struct host_demand *demand = demand_of(host, g);
        if (demand == NULL)
            continue;
        int64_t slot_ns = forecast_of(host, g)->slot_ns;
        for (uint32_t i = 0; i < demand->errors; i++) {
            if ((int64_t)demand->error[i].slot * slot_ns < from_ns)
                continue;
            off += demand->error[i].off;
            asked += demand->error[i].asked;
        }
    }
    assert(off >= 0 && asked >= 0);
    return asked > 0 ? off / asked : NAN;
}

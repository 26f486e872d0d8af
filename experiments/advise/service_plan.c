/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * service_plan.c - the first row of the advice on a service as an
 * experiment: text, as a user would write it.
 */
#include <math.h>
#include <string.h>

#include "experiments/advise/advise.h"
#include "experiments/advise/fewest.h"
#include "experiments/advise/service.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

/* More would take minutes to simulate. */
#define PLAN_REQUESTS_MAX 5e6
#define START_S 300.0           /* replicas are up by then */

/* Returns "key: value, " of the entry's keys that the row does not decide. */
static const char *format_kept(const struct advise_service *service)
{
    static const char *const own[] = { "gpu", "cpu", "replicas",
                                       "cpu_replicas", "requests", "switch",
                                       "scaling" };
    const struct conf_node *conf = service->conf;
    struct arena *arena = service->world->arena;
    const char *text = "";

    for (size_t i = 0; i < conf_count(conf); i++) {
        bool mine = false;

        for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
            mine = mine || strcmp(conf_key(conf, i), own[k]) == 0;
        if (!mine)
            text = text_format(arena, "%s%s: %s, ", text, conf_key(conf, i),
                               advise_conf_text(arena, conf_value(conf, i)));
    }
    return text;
}

/* Returns the requests: Poisson at the peak rate, with which the row was
 * simulated, from the time on when replicas are up.  A queue that came while
 * they start would hardly be worked off where they are busy. */
static const char *format_requests(const struct advise_service *service,
                                   double for_s)
{
    struct arena *arena = service->world->arena;
    const struct conf_node *conf = conf_get(service->conf, "requests");
    static const char *const kept[] = { "prompt", "output", "prefix" };
    const char *text = text_format(
        arena, "{arrival: {process: series, rates: {unit: /s,\n"
        "         points: [[0s, 0], [%gs, %.9g]], after: hold}}, for: %.9gs", START_S,
        service->peak_per_s, START_S + for_s);

    for (size_t k = 0; k < sizeof kept / sizeof kept[0]; k++)
        if (conf_get(conf, kept[k]) != NULL)
            text = text_format(arena, "%s, %s: %s", text, kept[k],
                               advise_conf_text(arena, conf_get(conf,
                                                                kept[k])));
    return text_format(arena, "%s}", text);
}

/* Returns the given cluster as it stands, else the nodes of the row alone. */
static const char *format_cluster(const struct advise_service *service,
                                  const struct advise_service_row *row)
{
    const struct advise_world *world = service->world;

    if (world->cluster != NULL)
        return text_format(world->arena, "cluster: %s\n",
                           advise_conf_text(world->arena, world->cluster));
    if (row->tp > 0)
        return text_format(world->arena, "cluster:\n  nodes:\n%s",
                           advise_nodes_text(world, row->place, "nodes",
                                             row->tp * row->replicas, 16));
    return text_format(world->arena, "cluster: {nodes: [{name: nodes, count: "
                       "%u, cpu: {type: %s}, cores: %u, memory: 256GB, price: "
                       "%s}]}\n", row->replicas, row->name, row->cores,
                       world->tier == TIER_LIST
                           ? "on-demand" : price_tier_choices[world->tier]);
}

/* Replicas load within START_S, before requests come: five times as many as a simulation
 * has at least, and a tenth of them before, which is of the warm-up, as there. */
char *advise_service_plan(const struct advise_service *service)
{
    struct arena *arena = service->world->arena;
    const struct advise_service_row *row = service->row;
    double window_s = ADVISE_REQUESTS_LEAST * 5.0 / service->peak_per_s;
    const char *replica;

    if (service->row_count == 0 || row->replicas == 0 ||
        !(service->peak_per_s > 0.0) ||
        60.0 * service->peak_per_s > PLAN_REQUESTS_MAX)
        return NULL;
    window_s = fmax(window_s, 60.0);
    replica = row->tp > 0
        ? text_format(arena, "gpu: {tp: %u, types: [%s]}", row->tp,
                      row->place->group->gpu->name)
        : text_format(arena, "cpu: {cores: %u}", row->cores);
    return text_format(
        arena, "# Made by `clustersim advise`: one row of its advice.\n"
        "experiment: advice\nseeds: 1\n%sworkload:\n  services:\n"
        "    - {%s%s,\n       replicas: {min: %u, max: %u},\n"
        "       requests: %s}\nwarmup: %gs\nuntil: drained\npolicies: [fcfs]\n"
        "output: {tables: [summary, jobs], plots: []}\n"
        "expect:   # 2%% around what was advised\n"
        "  - {metric: slo_attained_fraction, policy: fcfs, at_least: %.6g}\n",
        format_cluster(service, row), format_kept(service), replica,
        row->replicas, row->replicas,
        format_requests(service, 1.1 * window_s), START_S + 0.1 * window_s,
        0.98 * row->attained);
}

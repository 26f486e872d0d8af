/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster_read.c - a cluster from YAML: its groups in file order, then what
 * they share.
 *
 * Every fault is located.  `generic` is a GPU without speed, price or power,
 * for traces that know only how many there are; beside it a CPU may be left
 * out, and cores and memory never limit.
 */
#include "models/cluster/cluster_form.h"

#include <assert.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/faults.h"
#include "models/cluster/power.h"
#include "models/cluster/rented.h"
#include "models/cluster/time_series.h"
#include "models/laws/outage.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

/* A scalar that is a number and one of the units (ends with NULL).  *out is the number as it
 * stands: units do not scale it.  Blanks may stand before the unit. */
static bool read_quantity(const struct conf_node *node,
                          const char *const *units, double *out)
{
    assert(node != NULL);
    assert(units != NULL && out != NULL);
    if (conf_kind(node) != CONF_SCALAR)
        return false;
    const char *text = conf_text(node);
    size_t bytes = cluster_number(text, out);
    if (bytes == 0)
        return false;
    for (text += bytes; *text == ' '; text++)
        ;
    for (; *units != NULL; units++)
        if (strcmp(text, *units) == 0)
            return true;
    return false;
}

/* Reads all groups of nodes in the order of the file. */
static bool read_groups(const struct cluster_reader *reader,
                        const struct conf_node *nodes)
{
    assert(nodes != NULL);
    /* Nodes are numbered as they are read, so the order of the file counts. */
    for (size_t i = 0; i < conf_count(nodes); i++)
        if (!cluster_read_group(reader, conf_item(nodes, i)))
            return false;
    return true;
}

/* Without `network:` there are no leaf switches. */
static bool read_network(struct cluster_spec *spec,
                         const struct conf_node *network, struct err *err)
{
    assert(spec != NULL && err != NULL);
    static const char *const units[] = { "", "node", "nodes", NULL };
    spec->oversubscription = 1.0;
    if (network == NULL)
        return true;
    struct network_conf conf = { 0 };
    if (!conf_fill(network, &cluster_network_schema, &conf, err))
        return false;
    double leaf = 0.0;
    /* A whole number of nodes; the unit may be left out. */
    if (!read_quantity(conf.leaf, units, &leaf) || leaf < 1.0 ||
        leaf > CLUSTER_NODES_MAX || leaf != (double)(uint32_t)leaf)
        return err_set(err, ERR_SCHEMA, conf_pos(conf.leaf),
                       "leaf must be a number of nodes, as 16 or 16 nodes, "
                       "found '%s'", cluster_shown(conf.leaf));
    spec->leaf_nodes = (uint32_t)leaf;
    spec->oversubscription = conf.oversubscription;
    return true;
}

/* Default: industrial customers in the USA paid 8.0 cents in 2023 (EIA,
 * Electric Power Annual, table 2.4; as known, not re-checked). */
static bool read_electricity(struct cluster_spec *spec,
                             const struct conf_node *conf, struct err *err)
{
    assert(spec != NULL && err != NULL);
    static const char *const units[] = { "USD/kWh", NULL };
    double *price = &spec->electricity_usd_per_kwh;
    /* Stands where the key is absent; a quantity that is wrong is refused, not replaced. */
    *price = 0.08;
    if (conf == NULL ||
        (read_quantity(conf, units, price) && *price >= 0.0 && *price <= 10.0))
        return true;
    return err_set(err, ERR_SCHEMA, conf_pos(conf),
                   "electricity must be 0 to 10USD/kWh, found '%s'",
                   cluster_shown(conf));
}

/* USD per GB (10^9 bytes) moved between the storage and rented nodes. */
static bool read_transfer(struct cluster_spec *spec,
                          const struct conf_node *conf, struct err *err)
{
    assert(spec != NULL && err != NULL);
    static const char *const units[] = { "USD/GB", NULL };
    double usd_per_gb = 0.0;
    if (conf == NULL)
        return true;
    if (!read_quantity(conf, units, &usd_per_gb) || usd_per_gb < 0.0 ||
        usd_per_gb > 100.0)
        return err_set(err, ERR_SCHEMA, conf_pos(conf),
                       "transfer must be 0 to 100USD/GB, found '%s'",
                       cluster_shown(conf));
    spec->transfer_usd_per_byte = usd_per_gb / 1e9;
    return true;
}

/* What a line leads to must be there. */
static bool check_wans(const struct cluster_spec *spec,
                       const struct cluster_conf *conf, struct err *err)
{
    assert(spec != NULL && conf != NULL);
    /* A storage without a rate never limits, so a line to it has no other end. */
    for (uint32_t g = 0; g < spec->group_count && spec->storage_bps == 0; g++)
        if (spec->group[g].wan_bps > 0)
            return err_set(err, ERR_SCHEMA,
                           conf_pos(conf_get(conf_item(conf->nodes, g),
                                             "wan")),
                           "wan leads to the shared storage, and this cluster "
                           "has none");
    return true;
}

/* Failures of switches need leaf switches to happen to; recorded ones are read
 * here. */
static bool read_failures(struct arena *arena, struct cluster_spec *spec,
                          const struct conf_node *conf, struct err *err)
{
    assert(spec != NULL && err != NULL);
    struct outage_spec *failures;

    if (conf == NULL)
        return true;
    failures = arena_alloc(arena, 1, sizeof *failures);
    spec->failures = failures;
    if (!outage_read(conf, failures, err))
        return false;
    if (failures->trace != NULL) {
        failures->recorded = faults_read(arena, failures->trace,
                                         spec->node_count, err);
        if (failures->recorded == NULL)
            return false;
    }
    /* `network` was read before, so that leaf_nodes is known here. */
    if (failures->switch_mtbf_ns == 0 || spec->leaf_nodes > 0)
        return true;
    err_set(err, ERR_SCHEMA, conf_pos(conf_get(conf, "switch_mtbf")),
            "switch_mtbf needs leaf switches, and this cluster has none");
    return err_hint(err, "Give `network: {leaf: 16 nodes}`.");
}

/* Reads the shared storage; without the key there is none that limits anything. */
static bool read_storage(struct cluster_spec *spec,
                         const struct conf_node *conf, struct err *err)
{
    assert(spec != NULL && err != NULL);
    if (conf == NULL)
        return true;
    struct storage_conf storage = { 0 };
    if (!conf_fill(conf, &cluster_storage_schema, &storage, err))
        return false;
    spec->storage_bps = storage.bps;
    spec->storage_usd_per_h = storage.usd_per_h;
    return read_transfer(spec, storage.transfer, err);
}

/* A figure, or a series; of a series the value at time 0 stands for it. */
static bool read_carbon(struct arena *arena, struct cluster_spec *spec,
                        const struct conf_node *conf, struct err *err)
{
    assert(spec != NULL && err != NULL);
    static const char *const units[] = { "gCO2/kWh", "g/kWh", NULL };
    if (conf == NULL)
        return true;
    if (conf_kind(conf) == CONF_MAP) {
        /* The series is in the arena; where one figure is asked for, its first one stands. */
        spec->carbon = time_series_read(arena, conf, "gCO2/kWh", err);
        if (spec->carbon != NULL)
            spec->carbon_g_per_kwh = time_series_at(spec->carbon, 0);
        return spec->carbon != NULL;
    }
    double *carbon = &spec->carbon_g_per_kwh;
    if (read_quantity(conf, units, carbon) && *carbon >= 0.0 &&
        *carbon <= 5000.0)
        return true;
    return err_set(err, ERR_SCHEMA, conf_pos(conf),
                   "carbon must be 0 to 5000gCO2/kWh, found '%s'",
                   cluster_shown(conf));
}

/* May a provider take nodes of any group away? */
static bool is_reclaimed(const struct cluster_spec *spec)
{
    assert(spec->node_count > 0);
    for (uint32_t g = 0; g < spec->group_count; g++)
        if (spec->group[g].rent != NULL &&
            (spec->group[g].rent->reclaim_mtbf_ns > 0 ||
             spec->group[g].rent->available != NULL))
            return true;
    return false;
}

/* Does a failure that is drawn take out a node that comes back?  A rented one is replaced. */
static bool is_repaired(const struct cluster_spec *spec)
{
    const struct outage_spec *f = spec->failures;

    assert(f != NULL && spec->node_count > 0);
    for (uint32_t g = 0; g < spec->group_count; g++)
        if (spec->group[g].rent == NULL &&
            (f->node_mtbf_ns > 0 || f->switch_mtbf_ns > 0 ||
             (f->gpu_mtbf_ns > 0 && spec->group[g].gpus > 0)))
            return true;
    return false;
}

/* Keys of failures where nothing fails, or nothing that they are about.  A key without effect
 * is refused, since its writer expects one. */
static bool check_failures(const struct cluster_spec *spec,
                           const struct conf_node *conf, struct err *err)
{
    assert(spec->node_count > 0);
    const struct outage_spec *f = spec->failures;
    bool breaks, stops;

    if (conf == NULL)
        return true;
    breaks = f->gpu_mtbf_ns > 0 || f->node_mtbf_ns > 0 ||
             f->switch_mtbf_ns > 0;
    stops = breaks || f->job_mtbf_ns > 0 || f->trace != NULL ||
            is_reclaimed(spec);
    return conf_acts(conf, "repair", !breaks,
                     "needs gpu_mtbf, node_mtbf or switch_mtbf", err) &&
           conf_acts(conf, "gpu_mtbf", spec->gpu_count == 0,
                     "needs nodes with GPUs", err) &&
           conf_acts(conf, "repair", !is_repaired(spec),
                     "needs nodes that fail and are not rented: a rented one that "
                     "fails is replaced", err) &&
           conf_acts(conf, "restart", !stops,
                     "needs something that fails, as node_mtbf, or nodes that "
                     "are taken away", err) &&
           conf_acts(conf, "checkpoint", !stops,
                     "needs something that fails, as node_mtbf, or nodes that "
                     "are taken away", err);
}

/* What needs watts, links or rented nodes, and a cluster without them.  Each of these keys is
 * refused where it changes nothing. */
static bool check_shared(const struct cluster_spec *spec,
                         const struct cluster_conf *conf, struct err *err)
{
    assert(spec->node_count > 0);
    static const char *const energy[] = { "pue", "carbon", "power_cap",
                                          "electricity" };
    bool watts = false, nics = false, paid = false;

    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        /* Watts of a CPU or of a GPU; what only counts has neither. */
        bool known = group->max_w > 0 || (group->gpu != NULL && group->gpu->tdp_w > 0);

        watts |= known;
        /* Electricity is paid apart by nodes whose price leaves it out. */
        paid |= known && !group->energy_included;
        nics |= group->nic_bps > 0;
    }
    for (size_t i = 0; i < sizeof energy / sizeof energy[0]; i++)
        if (!conf_acts(conf->at, energy[i], !watts,
                       "needs nodes whose power is known: a generic GPU has "
                       "none", err))
            return false;
    return conf_acts(conf->at, "electricity", !paid,
                     "needs nodes of known power whose price includes no energy, as `price: "
                     "owned`", err) &&
           conf_acts(conf->network, "oversubscription", !nics,
                     "needs nodes with nics: without them the network never "
                     "limits", err) &&
           conf_acts(conf->storage, "transfer", !spec->rents,
                     "needs nodes with rent", err) &&
           check_failures(spec, conf->failures, err);
}

/* What the groups share, and what concerns all of them. */
static bool read_shared(struct arena *arena, struct cluster_spec *spec,
                        const struct cluster_conf *conf, struct err *err)
{
    assert(spec->node_count > 0);
    spec->pue = conf->pue;
    spec->power_cap_w = conf->power_cap_w;
    /* In this order: lines need the storage, failures of switches the network, the checks all. */
    return read_network(spec, conf->network, err) &&
           read_storage(spec, conf->storage, err) &&
           check_wans(spec, conf, err) &&
           read_electricity(spec, conf->electricity, err) &&
           read_failures(arena, spec, conf->failures, err) &&
           read_carbon(arena, spec, conf->carbon, err) &&
           check_shared(spec, conf, err);
}

/* Its index follows those of the catalogue; all its rates are 0. */
static const struct gpu_type *generic_gpu(struct arena *arena,
                                          const struct catalogue *catalogue)
{
    assert(catalogue != NULL);
    struct gpu_type *gpu = arena_alloc(arena, 1, sizeof *gpu);
    gpu->name = CLUSTER_GENERIC;
    gpu->label = "a GPU that only counts";
    gpu->arch = gpu->nvlink = gpu->pcie = gpu->notes = "";
    gpu->source = "no device: speed, price and power are not modelled";
    /* Tables by index have room for it, and generic_model() counts on from here. */
    gpu->index = (uint32_t)catalogue_gpu_count(catalogue);
    return gpu;
}

const struct cluster_spec *cluster_read(struct arena *arena,
                                        const struct conf_node *conf,
                                        const struct catalogue *catalogue,
                                        struct err *err)
{
    assert(arena != NULL && conf != NULL && catalogue != NULL && err != NULL);
    /* conf_fill() leaves a key alone that is absent and has no default: pue stays as set here. */
    struct cluster_conf top = { .at = conf, .pue = power_pue_default() };
    if (!conf_fill(conf, &cluster_schema, &top, err))
        return NULL;
    if (conf_kind(top.nodes) != CONF_LIST || conf_count(top.nodes) == 0) {
        err_set(err, ERR_SCHEMA, conf_pos(top.nodes),
                "nodes must be a list of at least one group, found %s",
                conf_kind(top.nodes) == CONF_LIST ? "none"
                                                  : cluster_shown(top.nodes));
        return NULL;
    }
    struct cluster_spec *spec = arena_alloc(arena, 1, sizeof *spec);
    struct cluster_reader reader = {
        .arena = arena, .catalogue = catalogue, .err = err, .spec = spec,
        .generic = generic_gpu(arena, catalogue),
        .group = arena_alloc(arena, conf_count(top.nodes),
                             sizeof *reader.group),
        .pool_name = arena_alloc(arena, CLUSTER_POOLS_MAX,
                                 sizeof *reader.pool_name),
    };
    spec->name = top.name;
    spec->group = reader.group;
    spec->pool_name = reader.pool_name;
    if (!read_groups(&reader, top.nodes) ||
        !read_shared(arena, spec, &top, err))
        return NULL;
    /* A cluster with one price has costs; groups without one are then free of charge. */
    spec->unpriced = true;
    for (uint32_t g = 0; g < spec->group_count; g++)
        spec->unpriced &= spec->group[g].usd_per_h == 0.0 &&
                          spec->group[g].price == NULL;
    return spec;
}

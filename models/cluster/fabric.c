/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fabric.c - links laid out class by class, nodes in order within a class.
 *
 * That numbering makes every path come out sorted by link without sorting:
 * all CPU links of a placement, then all its PCIe links, and so on.  A link's
 * capacity is that of one direction; what a phase takes is therefore counted
 * in its busier direction.
 *
 * Of a node with PCIe switches, each uplink is a link.  GPUs of a lease load
 * the switches they stand behind; what comes over NICs or from drives on its
 * way to host memory loads all switches evenly, as NICs and drives are.  The
 * two run in opposite directions: the larger counts.  Traffic between GPUs,
 * or from GPU to NIC, turns round below the uplink where both stand behind
 * one switch, and a ring crosses each uplink once a direction: neither is
 * slower than a slot, neither is charged to uplinks.
 */
#include "models/cluster/fabric.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/laws/compute.h"
#include "models/types/rates.h"
#include "sim/base/arena.h"

struct fabric {
    const struct cluster_spec *spec;
    uint32_t *link[FABRIC_CLASS_COUNT]; /* per node, leaf, group, or one */
    uint32_t count[FABRIC_CLASS_COUNT];
    uint32_t switches_max;              /* PCIe links of a node, at least 1 */
    uint32_t end[FABRIC_CLASS_COUNT];   /* first link of the next class */
    uint32_t first;
};

#define LINK_NONE UINT32_MAX

static const char *const class_names[FABRIC_CLASS_COUNT] = {
    [FABRIC_CPU] = "cpu", [FABRIC_PCIE] = "pcie", [FABRIC_NIC] = "network",
    [FABRIC_NVME] = "nvme", [FABRIC_UPLINK] = "uplink",
    [FABRIC_STORAGE] = "storage", [FABRIC_WAN] = "wan",
};

const char *link_class_name(enum link_class kind)
{
    assert(kind < FABRIC_CLASS_COUNT);
    return class_names[kind];
}

static double node_capacity(const struct node_group *group,
                            enum link_class kind)
{
    switch (kind) {
    case FABRIC_CPU:
        return group->cores == CLUSTER_CORES_UNLIMITED ? 0.0 : group->cores;
    case FABRIC_PCIE:
        return group->pcie_switches > 0 ? group->pcie_uplink_bps
                                        : group->gpus * group->pcie_bps;
    case FABRIC_NIC:
        return group->nic_bps;
    case FABRIC_NVME:
        return group->nvme_bps;
    default:
        assert(kind >= FABRIC_UPLINK && kind < FABRIC_CLASS_COUNT);
        return 0.0;
    }
}

/* Links of a class that each node of a group has, if it has any. */
static uint32_t links_of(const struct node_group *group, enum link_class kind)
{
    assert(kind < FABRIC_CLASS_COUNT);
    return kind == FABRIC_PCIE && group->pcie_switches > 0
               ? group->pcie_switches : 1;
}

static uint32_t link_add(struct flow_net *net, double capacity)
{
    assert(capacity >= 0.0 && isfinite(capacity));
    return capacity > 0.0 ? flow_link_add(net, capacity) : LINK_NONE;
}

static void add_node_links(struct fabric *fabric, struct flow_net *net,
                           enum link_class kind)
{
    assert(kind < FABRIC_CLASS_COUNT);
    assert(net != NULL);
    const struct cluster_spec *spec = fabric->spec;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct node_group *group = &spec->group[i];
        double capacity = node_capacity(group, kind);
        uint32_t links = links_of(group, kind);
        for (uint32_t n = 0; n < group->node_count; n++) {
            fabric->link[kind][group->first_node + n] =
                link_add(net, capacity);
            for (uint32_t more = 1; more < links; more++)
                link_add(net, capacity);
        }
        if (links > fabric->switches_max)
            fabric->switches_max = links;
    }
}

static void add_uplinks(struct fabric *fabric, struct flow_net *net)
{
    assert(net != NULL);
    const struct cluster_spec *spec = fabric->spec;
    uint32_t leaf_nodes = spec->leaf_nodes;
    for (uint32_t leaf = 0; leaf < fabric->count[FABRIC_UPLINK]; leaf++) {
        uint32_t node = leaf * leaf_nodes, end = node + leaf_nodes;
        double bps = 0.0;
        for (; node < end && node < spec->node_count; node++)
            bps += cluster_group_of(spec, node)->nic_bps;
        fabric->link[FABRIC_UPLINK][leaf] =
            link_add(net, bps / spec->oversubscription);
    }
}

/* Of all nodes of a group together. */
static void add_wans(struct fabric *fabric, struct flow_net *net)
{
    assert(net != NULL);
    for (uint32_t g = 0; g < fabric->spec->group_count; g++)
        fabric->link[FABRIC_WAN][g] =
            link_add(net, fabric->spec->group[g].wan_bps);
}

struct fabric *fabric_new(struct arena *arena, const struct cluster_spec *spec,
                          struct flow_net *net)
{
    assert(arena != NULL && spec != NULL && net != NULL);
    assert(spec->node_count > 0 && spec->oversubscription >= 1.0);
    struct fabric *fabric = arena_alloc(arena, 1, sizeof *fabric);
    fabric->spec = spec;
    fabric->first = flow_link_count(net);
    fabric->switches_max = 1;
    for (int kind = 0; kind < FABRIC_CLASS_COUNT; kind++)
        fabric->count[kind] = spec->node_count;
    fabric->count[FABRIC_UPLINK] =
        spec->leaf_nodes == 0
            ? 0 : (spec->node_count - 1) / spec->leaf_nodes + 1;
    fabric->count[FABRIC_STORAGE] = 1;
    fabric->count[FABRIC_WAN] = spec->group_count;
    for (int kind = 0; kind < FABRIC_CLASS_COUNT; kind++) {
        uint32_t count = fabric->count[kind];
        fabric->link[kind] = arena_alloc(arena, count > 0 ? count : 1,
                                         sizeof *fabric->link[kind]);
        if (kind == FABRIC_UPLINK)
            add_uplinks(fabric, net);
        else if (kind == FABRIC_STORAGE)
            fabric->link[kind][0] = link_add(net, spec->storage_bps);
        else if (kind == FABRIC_WAN)
            add_wans(fabric, net);
        else
            add_node_links(fabric, net, (enum link_class)kind);
        fabric->end[kind] = flow_link_count(net);
    }
    return fabric;
}

uint32_t fabric_link(const struct fabric *fabric, enum link_class kind,
                     uint32_t node)
{
    assert(fabric != NULL && kind < FABRIC_CLASS_COUNT);
    assert(node < fabric->spec->node_count);
    if (kind == FABRIC_STORAGE)
        return fabric->link[kind][0];
    if (kind == FABRIC_WAN)
        return fabric->link[kind][cluster_group_of(fabric->spec, node) -
                                  fabric->spec->group];
    if (kind != FABRIC_UPLINK)
        return fabric->link[kind][node];
    if (fabric->count[FABRIC_UPLINK] == 0)
        return LINK_NONE;
    return fabric->link[kind][node / fabric->spec->leaf_nodes];
}

uint32_t fabric_link_count(const struct fabric *fabric, enum link_class kind,
                           uint32_t node)
{
    assert(kind < FABRIC_CLASS_COUNT);
    if (fabric_link(fabric, kind, node) == LINK_NONE)
        return 0;
    return links_of(cluster_group_of(fabric->spec, node), kind);
}

enum link_class fabric_class(const struct fabric *fabric, uint32_t link)
{
    assert(fabric != NULL && link >= fabric->first);
    int kind = 0;
    while (kind < FABRIC_CLASS_COUNT - 1 && link >= fabric->end[kind])
        kind++;
    assert(link < fabric->end[kind]);
    return (enum link_class)kind;
}

uint32_t fabric_use_max(const struct fabric *fabric, uint32_t node_count)
{
    assert(fabric != NULL);
    /* CPU, PCIe, NIC, NVMe and at worst an uplink and a WAN each, and the
     * storage. */
    return (5 + fabric->switches_max) * node_count + 1;
}

static bool spans_leaves(const struct cluster_spec *spec,
                         const struct placement *placement)
{
    if (spec->leaf_nodes == 0 || placement->share_count < 2)
        return false;
    /* Shares stand in node order: the ends tell. */
    uint32_t last = placement->share[placement->share_count - 1].node;
    return placement->share[0].node / spec->leaf_nodes !=
           last / spec->leaf_nodes;
}

/* A path under construction: links arrive in ascending order. */
struct path {
    struct flow_use *use;
    uint32_t count;
};

static void path_add(struct path *path, uint32_t link, double per_unit)
{
    assert(per_unit >= 0.0);
    if (link == LINK_NONE || per_unit <= 0.0)
        return;
    if (path->count > 0 && path->use[path->count - 1].link == link) {
        path->use[path->count - 1].per_unit += per_unit;
        return;
    }
    assert(path->count == 0 || path->use[path->count - 1].link < link);
    path->use[path->count++] =
        (struct flow_use){ .link = link, .per_unit = per_unit };
}

/* Of `mask`, the part that stands behind a switch; GPUs alone count, and host
 * memory (no GPUs) is spread over all switches. */
static double switch_part(const struct node_group *group, uint32_t i,
                          uint64_t mask)
{
    assert(i < group->pcie_switches);
    if (mask == 0)
        return 1.0 / group->pcie_switches;
    return (double)mask_count(mask & cluster_switch_gpus(group, i)) /
           mask_count(mask);
}

/* PCIe of one node: `gpus` to or from the GPUs of `mask`, `host` between NICs
 * or drives and host memory. */
static void add_pcie(const struct fabric *fabric, struct path *path,
                     const struct share *share, double gpus, double host)
{
    assert(gpus >= 0.0 && host >= 0.0);
    uint32_t link = fabric_link(fabric, FABRIC_PCIE, share->node);
    const struct node_group *group =
        cluster_group_of(fabric->spec, share->node);
    if (link == LINK_NONE || group->pcie_switches == 0) {
        path_add(path, link, gpus);
        return;
    }
    for (uint32_t i = 0; i < group->pcie_switches; i++)
        path_add(path, link + i,
                 fmax(gpus * switch_part(group, i, share->gpu_mask),
                      host / group->pcie_switches));
}

double fabric_pcie_bps(const struct node_group *group, uint64_t gpu_mask)
{
    assert(group != NULL);
    uint32_t gpus = mask_count(gpu_mask), most = 0;
    double bps = gpus * group->pcie_bps;
    for (uint32_t i = 0; i < group->pcie_switches; i++) {
        uint32_t here = mask_count(gpu_mask & cluster_switch_gpus(group, i));
        most = here > most ? here : most;
    }
    return most > 0 ? fmin(bps, gpus * group->pcie_uplink_bps / most) : bps;
}

/* What comes from outside or from drives into the memory of a node. */
static double host_bytes(const struct fabric *fabric, uint32_t node,
                         double storage, double nvme)
{
    assert(storage >= 0.0 && nvme >= 0.0);
    bool nics = fabric_link(fabric, FABRIC_NIC, node) != LINK_NONE;
    return nvme + (nics ? storage : 0.0);
}

/* Drives that seek lose what they could have read meanwhile. */
static double drive_bytes(const struct fabric *fabric, uint32_t node,
                          const struct demand_rates *rates)
{
    assert(rates->nvme_bytes >= 0.0 && rates->nvme_reads >= 0.0);
    const struct node_group *group = cluster_group_of(fabric->spec, node);

    return rates->nvme_bytes + rates->nvme_reads * group->nvme_access_bytes;
}

uint32_t fabric_uses(const struct fabric *fabric,
                     const struct placement *placement,
                     const struct demand_rates *rates, struct flow_use *use)
{
    assert(fabric != NULL && placement != NULL && rates != NULL);
    uint32_t nodes = placement->share_count;
    assert(nodes > 0);
    double storage = fabric->link[FABRIC_STORAGE][0] == LINK_NONE
                         ? 0.0 : rates->storage_bytes / nodes;
    double between = nodes > 1 ? rates->network_bytes : 0.0;
    bool leaves = spans_leaves(fabric->spec, placement);
    double amount[FABRIC_CLASS_COUNT] = {
        [FABRIC_CPU] = rates->core_s / nodes,
        [FABRIC_PCIE] = rates->pcie_bytes / nodes,
        [FABRIC_NIC] = storage + between,
        [FABRIC_NVME] = (rates->nvme_bytes + rates->nvme_reads) / nodes,
        [FABRIC_UPLINK] = storage + (leaves ? between : 0.0),
        [FABRIC_STORAGE] = storage,
        [FABRIC_WAN] = storage,
    };
    struct path path = { .use = use };
    for (int kind = 0; kind < FABRIC_CLASS_COUNT; kind++) {
        double host = kind == FABRIC_PCIE
                          ? storage + rates->nvme_bytes / nodes : 0.0;
        if (amount[kind] + host <= 0.0)
            continue;
        for (uint32_t i = 0; i < nodes; i++) {
            const struct share *share = &placement->share[i];
            if (kind == FABRIC_PCIE)
                add_pcie(fabric, &path, share, amount[FABRIC_PCIE],
                         host_bytes(fabric, share->node, storage,
                                    rates->nvme_bytes / nodes));
            else if (kind == FABRIC_NVME)
                path_add(&path, fabric_link(fabric, FABRIC_NVME, share->node),
                         drive_bytes(fabric, share->node, rates) / nodes);
            else
                path_add(&path, fabric_link(fabric, (enum link_class)kind,
                                            share->node), amount[kind]);
        }
    }
    return path.count;
}

/* Walks two placements together, in node order. */
struct both {
    const struct placement *from, *to;
    uint32_t f, t;
    uint32_t node;
    bool in_from, in_to;
    struct share share;         /* of `to`, or of `from` if it only sends */
};

static bool both_next(struct both *both)
{
    uint32_t from = both->f < both->from->share_count
                        ? both->from->share[both->f].node : UINT32_MAX;
    uint32_t to = both->t < both->to->share_count
                      ? both->to->share[both->t].node : UINT32_MAX;
    both->node = from < to ? from : to;
    both->in_from = from == both->node;
    both->in_to = to == both->node;
    if (both->node == UINT32_MAX)
        return false;
    both->share = both->in_to ? both->to->share[both->t]
                              : both->from->share[both->f];
    both->f += both->in_from;
    both->t += both->in_to;
    return true;
}

/* What passes through PCIe and NIC of a node, by its side of the transfer. */
struct transit {
    double taken;               /* by each node of `to` */
    double sent;                /* by each sending node */
    bool all_send;              /* nodes in both send too */
};

static double transit_bytes(const struct transit *transit,
                            const struct both *at, enum link_class kind)
{
    if (at->in_from && at->in_to)
        return kind == FABRIC_PCIE ? transit->taken
               : transit->all_send ? transit->sent : 0.0;
    return at->in_to ? transit->taken : transit->sent;
}

static uint32_t uses_between(const struct fabric *fabric,
                             const struct placement *from,
                             const struct placement *to, double bytes,
                             bool copies, struct flow_use *use)
{
    assert(fabric != NULL && from != NULL && to != NULL && bytes >= 0.0);
    assert(from->share_count > 0 && to->share_count > 0);
    uint32_t only_from = 0, only_to = 0, first = UINT32_MAX, last = 0;
    for (struct both at = { .from = from, .to = to }; both_next(&at);) {
        only_from += !at.in_to;
        only_to += !at.in_from;
        first = first == UINT32_MAX ? at.node : first;
        last = at.node;
    }
    /* Nodes that only send carry the load; if there are none, all of `from`
     * do; if nobody else receives, nothing leaves a node. */
    uint32_t senders = only_from > 0 ? only_from : from->share_count;
    double taken = copies ? bytes : bytes / to->share_count;
    double leaving = copies && only_to > 0 ? bytes : taken * only_to;
    struct transit transit = { .taken = taken, .sent = leaving / senders,
                               .all_send = only_from == 0 };
    uint32_t leaf_nodes = fabric->spec->leaf_nodes;
    bool leaves = leaf_nodes > 0 && first / leaf_nodes != last / leaf_nodes;
    static const enum link_class order[] = { FABRIC_PCIE, FABRIC_NIC,
                                             FABRIC_UPLINK };
    struct path path = { .use = use };
    for (int k = 0; k < (leaves ? 3 : 2); k++)
        for (struct both at = { .from = from, .to = to }; both_next(&at);) {
            double amount = transit_bytes(&transit, &at, order[k]);
            if (order[k] == FABRIC_PCIE)
                add_pcie(fabric, &path, &at.share, amount, 0.0);
            else
                path_add(&path, fabric_link(fabric, order[k], at.node),
                         amount);
        }
    return path.count;
}

uint32_t fabric_uses_between(const struct fabric *fabric,
                             const struct placement *from,
                             const struct placement *to, double bytes,
                             struct flow_use *use)
{
    assert(bytes >= 0.0);
    return uses_between(fabric, from, to, bytes, false, use);
}

uint32_t fabric_uses_copies(const struct fabric *fabric,
                            const struct placement *from,
                            const struct placement *to, double bytes,
                            struct flow_use *use)
{
    assert(bytes >= 0.0);
    return uses_between(fabric, from, to, bytes, true, use);
}

/* Adds a use to a sorted list. */
static uint32_t use_add(struct flow_use *use, uint32_t count, uint32_t link,
                        double per_unit)
{
    assert(per_unit >= 0.0);
    uint32_t at = count;

    if (link == LINK_NONE || per_unit <= 0.0)
        return count;
    while (at > 0 && use[at - 1].link > link)
        at--;
    if (at > 0 && use[at - 1].link == link) {
        use[at - 1].per_unit += per_unit;
        return count;
    }
    for (uint32_t i = count; i > at; i--)
        use[i] = use[i - 1];
    use[at] = (struct flow_use){ .link = link, .per_unit = per_unit };
    return count + 1;
}

uint32_t fabric_uses_send(const struct fabric *fabric,
                          const struct placement *from,
                          const struct placement *to, double bytes,
                          bool zero_copy, struct flow_use *use,
                          uint32_t count)
{
    assert(fabric != NULL && from != NULL && from->share_count > 0);
    assert(bytes >= 0.0);
    static const struct placement nowhere;
    const struct placement *there = to != NULL ? to : &nowhere;
    uint32_t senders = from->share_count, takers = there->share_count;
    double pair = bytes / senders / (takers > 0 ? takers : 1);
    uint32_t leaf_nodes = fabric->spec->leaf_nodes;
    uint32_t leaf = leaf_nodes > 0 ? from->share[0].node / leaf_nodes : 0;
    bool leaves = false;

    for (struct both at = { .from = from, .to = there }; both_next(&at);)
        leaves = leaves || (leaf_nodes > 0 && at.node / leaf_nodes != leaf);
    for (struct both at = { .from = from, .to = there }; both_next(&at);) {
        double sent = at.in_from
            ? pair * (takers > 0 ? takers - at.in_to : 1.0) : 0.0;
        double taken = at.in_to ? pair * (senders - at.in_from) : 0.0;
        double amount = fmax(sent, taken);
        struct path switches = { .use = (struct flow_use[NODE_GPUS_MAX]){
                                     { 0 } } };

        if (!zero_copy)
            add_pcie(fabric, &switches, &at.share, 0.0, amount);
        for (uint32_t i = 0; i < switches.count; i++)
            count = use_add(use, count, switches.use[i].link,
                            switches.use[i].per_unit);
        count = use_add(use, count, fabric_link(fabric, FABRIC_NIC, at.node),
                        amount);
        if (leaves)
            count = use_add(use, count,
                            fabric_link(fabric, FABRIC_UPLINK, at.node),
                            amount);
    }
    return count;
}

/* Slower first: by what laws compute with, ties to the earlier share. */
static bool slower(const struct gpu_type *a, const struct gpu_type *b)
{
    if (a == NULL || b == NULL)
        return a != NULL;
    return compute_sustained_flops(a, PRECISION_BF16) <
           compute_sustained_flops(b, PRECISION_BF16);
}

static double given(double bps)
{
    return bps > 0.0 ? bps : FABRIC_UNLIMITED_BPS;
}

/* Do the GPUs of a node reach each other over NVLink alone? */
static bool one_domain(const struct node_group *group, uint64_t mask)
{
    if (group->nvlink_domain == 0 || mask == 0)
        return true;
    uint32_t first = 0;
    while ((mask >> first & 1) == 0)
        first++;
    return (mask & ~cluster_domain_gpus(group,
                                        first / group->nvlink_domain)) == 0;
}

static void gang_add(struct gang *gang, const struct node_group *group,
                     uint64_t mask)
{
    if (group->cpu != NULL && (gang->cpu == NULL ||
                               group->cpu->core_speed < gang->cpu->core_speed))
        gang->cpu = group->cpu;
    gang->inter_bps = fmin(gang->inter_bps, given(group->nic_bps));
    gang->inter_latency_s = fmax(gang->inter_latency_s, group->nic_latency_s);
    if (group->gpu == NULL)
        return;
    bool nvlink = group->nvlink_bps > 0.0 && one_domain(group, mask);
    gang->intra_bps = fmin(gang->intra_bps, nvlink ? group->nvlink_bps
                                                   : given(group->pcie_bps));
    gang->intra_latency_s =
        fmax(gang->intra_latency_s, nvlink ? group->gpu->nvlink_latency_s
                                           : group->gpu->pcie_latency_s);
    if (group->gpu != gang->gpu && slower(group->gpu, gang->gpu))
        gang->gpu = group->gpu;
}

struct gang fabric_gang(const struct cluster_spec *spec,
                        const struct placement *placement)
{
    assert(spec != NULL && placement != NULL && placement->share_count > 0);
    struct gang gang = {
        .nodes = placement->share_count,
        .intra_bps = FABRIC_UNLIMITED_BPS,
        .inter_bps = FABRIC_UNLIMITED_BPS,
    };
    const struct node_group *last = NULL;
    for (uint32_t i = 0; i < placement->share_count; i++) {
        const struct share *share = &placement->share[i];
        const struct node_group *group = cluster_group_of(spec, share->node);
        gang.gpus += mask_count(share->gpu_mask);
        gang.cores += share->cores;
        if (group != last || group->nvlink_domain > 0)
            gang_add(&gang, group, share->gpu_mask);
        last = group;
    }
    if (gang.gpus == 0)
        gang.gpu = NULL;    /* cores of GPU nodes alone */
    assert(gang.gpus > 0 || gang.gpu == NULL);
    if (spans_leaves(spec, placement))
        gang.inter_bps /= spec->oversubscription;
    return gang;
}

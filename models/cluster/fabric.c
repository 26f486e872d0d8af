/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fabric.c - links laid out class by class, nodes in order within a class.
 *
 * That numbering makes every path come out sorted by link without sorting:
 * all CPU links of a placement, then all its PCIe links, and so on.  A link's
 * capacity is that of one direction.  Of a node with PCIe switches, each uplink
 * is a link.  fabric_uses.c finds the paths.
 */
#include "models/cluster/fabric.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric_parts.h"
#include "models/laws/compute.h"
#include "models/types/rates.h"
#include "sim/base/arena.h"

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

/* Capacity of one link of a node: cores, or bytes per second; 0: no such
 * link. */
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
static uint32_t count_links(const struct node_group *group, enum link_class kind)
{
    assert(kind < FABRIC_CLASS_COUNT);
    return kind == FABRIC_PCIE && group->pcie_switches > 0
               ? group->pcie_switches : 1;
}

/* Adds a link of that capacity, bytes/s (of cores: core-seconds per second). 0, which no file
 * stated, is no link: it never limits. */
static uint32_t add_link(struct flow_net *net, double capacity)
{
    assert(capacity >= 0.0 && isfinite(capacity));
    return capacity > 0.0 ? flow_link_add(net, capacity) : FABRIC_LINK_NONE;
}

/* One link, or one per PCIe switch, of each node; a node's links are
 * neighbours. */
static void add_node_links(struct fabric *fabric, struct flow_net *net,
                           enum link_class kind)
{
    assert(kind < FABRIC_CLASS_COUNT);
    assert(net != NULL);
    const struct cluster_spec *spec = fabric->spec;
    for (uint32_t i = 0; i < spec->group_count; i++) {
        const struct node_group *group = &spec->group[i];
        double capacity = node_capacity(group, kind);
        uint32_t links = count_links(group, kind);
        for (uint32_t n = 0; n < group->node_count; n++) {
            fabric->link[kind][group->first_node + n] =
                add_link(net, capacity);
            /* The others of a node follow its first: fabric_link_count() says how many. */
            for (uint32_t more = 1; more < links; more++)
                add_link(net, capacity);
        }
        if (links > fabric->switches_max)
            fabric->switches_max = links;
    }
}

/* Returns what a leaf's uplink carries: what its NICs do, over the oversubscription.  For
 * example, 16 nodes with 50 GB/s each and an oversubscription of 2: 400 GB/s.  The last leaf
 * may have fewer nodes. */
static double uplink_bps(const struct cluster_spec *spec, uint32_t leaf)
{
    assert(spec->leaf_nodes > 0 && leaf <= (spec->node_count - 1) / spec->leaf_nodes);
    uint32_t node = leaf * spec->leaf_nodes, end = node + spec->leaf_nodes;
    double bps = 0.0;

    end = end < spec->node_count ? end : spec->node_count;
    while (node < end) {
        const struct node_group *group = cluster_group_of(spec, node);
        /* A leaf may hold nodes of several groups, one after another. */
        uint32_t next = group->first_node + group->node_count;
        next = next < end ? next : end;
        bps += (next - node) * group->nic_bps;
        node = next;
    }
    return bps / spec->oversubscription;
}

/* Adds the uplink of each leaf switch, which the NICs of its nodes share. */
static void add_uplinks(struct fabric *fabric, struct flow_net *net)
{
    assert(net != NULL);
    for (uint32_t leaf = 0; leaf < fabric->count[FABRIC_UPLINK]; leaf++)
        fabric->link[FABRIC_UPLINK][leaf] = add_link(net, uplink_bps(fabric->spec, leaf));
}

/* Adds the line between the storage and each group, which all nodes of the group share. */
static void add_wans(struct fabric *fabric, struct flow_net *net)
{
    assert(net != NULL);
    for (uint32_t g = 0; g < fabric->spec->group_count; g++)
        fabric->link[FABRIC_WAN][g] =
            add_link(net, fabric->spec->group[g].wan_bps);
}

/* Links of one class are numbered one after another, so that a link's class
 * follows from its number. */
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
        /* Room for one, so that a class without links has an address, too. */
        fabric->link[kind] = arena_alloc(arena, count > 0 ? count : 1,
                                         sizeof *fabric->link[kind]);
        if (kind == FABRIC_UPLINK)
            add_uplinks(fabric, net);
        else if (kind == FABRIC_STORAGE)
            fabric->link[kind][0] = add_link(net, spec->storage_bps);
        else if (kind == FABRIC_WAN)
            add_wans(fabric, net);
        else
            add_node_links(fabric, net, (enum link_class)kind);
        fabric->end[kind] = flow_link_count(net);
    }
    return fabric;
}

/* The link of a class that serves a node; FABRIC_LINK_NONE without a leaf
 * layer. */
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
        return FABRIC_LINK_NONE;
    return fabric->link[kind][node / fabric->spec->leaf_nodes];
}

uint32_t fabric_link_count(const struct fabric *fabric, enum link_class kind,
                           uint32_t node)
{
    assert(kind < FABRIC_CLASS_COUNT);
    if (fabric_link(fabric, kind, node) == FABRIC_LINK_NONE)
        return 0;
    return count_links(cluster_group_of(fabric->spec, node), kind);
}

/* At most FABRIC_CLASS_COUNT comparisons. */
enum link_class fabric_class(const struct fabric *fabric, uint32_t link)
{
    assert(fabric != NULL && link >= fabric->first);
    int kind = 0;
    /* A class without links ends where the one before it does, and is passed over. */
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

bool fabric_spans_leaves(const struct cluster_spec *spec,
                         const struct placement *placement)
{
    if (spec->leaf_nodes == 0 || placement->share_count < 2)
        return false;
    /* Shares stand in node order: the ends tell. */
    uint32_t last = placement->share[placement->share_count - 1].node;
    return placement->share[0].node / spec->leaf_nodes !=
           last / spec->leaf_nodes;
}

/* GPUs behind one switch share its uplink, and all go at the pace of the most
 * crowded switch, as they wait for each other.  For example, 4 GPUs, 3 of them behind one
 * switch whose uplink is as fast as a slot: each of the 3 has a third of it, so that all 4
 * together have 4/3 of a slot. */
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

/* Slower first: by what laws compute with, ties to the earlier share. */
static bool is_slower(const struct gpu_type *a, const struct gpu_type *b)
{
    if (a == NULL || b == NULL)
        return a != NULL;
    return compute_sustained_flops(a, PRECISION_BF16) <
           compute_sustained_flops(b, PRECISION_BF16);
}

/* A rate that no file states is 0, and never limits: laws get FABRIC_UNLIMITED_BPS for it. */
static double known_bps(double bps)
{
    return bps > 0.0 ? bps : FABRIC_UNLIMITED_BPS;
}

/* Do the GPUs of a node reach each other over NVLink alone? */
static bool is_one_domain(const struct node_group *group, uint64_t mask)
{
    if (group->nvlink_domain == 0 || mask == 0)
        return true;
    uint32_t first = 0;
    while ((mask >> first & 1) == 0)
        first++;
    return (mask & ~cluster_domain_gpus(group,
                                        first / group->nvlink_domain)) == 0;
}

/* fmin and fmax of numbers, in line: every lease comes here. */
static inline double least(double a, double b)
{
    return a < b ? a : b;
}

/* The larger of two numbers. */
static inline double most(double a, double b)
{
    return a > b ? a : b;
}

/* Lowers the gang's rates to what this node's allow: the slowest part
 * counts.  The CPU is the slowest as well: phases on cores wait for it. */
static void gang_add(struct gang *gang, const struct node_group *group,
                     uint64_t mask)
{
    if (group->cpu != NULL && (gang->cpu == NULL ||
                               group->cpu->core_speed < gang->cpu->core_speed))
        gang->cpu = group->cpu;
    gang->inter_bps = least(gang->inter_bps, known_bps(group->nic_bps));
    gang->inter_latency_s = most(gang->inter_latency_s, group->nic_latency_s);
    if (group->gpu == NULL)
        return;
    bool nvlink = group->nvlink_bps > 0.0 && is_one_domain(group, mask);
    gang->pcie_bps = gang->pcie_bps > 0.0 ? least(gang->pcie_bps, group->pcie_bps)
                                          : group->pcie_bps;
    gang->intra_bps = least(gang->intra_bps, nvlink ? group->nvlink_bps
                                                    : known_bps(group->pcie_bps));
    gang->intra_latency_s =
        most(gang->intra_latency_s, nvlink ? group->gpu->nvlink_latency_s
                                           : group->gpu->pcie_latency_s);
    if (group->gpu != gang->gpu && is_slower(group->gpu, gang->gpu))
        gang->gpu = group->gpu;
}

/* Returns what a node of a gang has of the uplink of its leaf where nobody else uses it: the
 * least of all leaves.  Nodes of one leaf stand together. */
static double least_uplink_bps(const struct cluster_spec *spec, const struct placement *placement)
{
    assert(spec->leaf_nodes > 0 && placement->share_count > 0);
    double bps = FABRIC_UNLIMITED_BPS;

    for (uint32_t i = 0, end; i < placement->share_count; i = end) {
        uint32_t leaf = placement->share[i].node / spec->leaf_nodes;
        for (end = i; end < placement->share_count &&
                      placement->share[end].node / spec->leaf_nodes == leaf; end++) {
        }
        bps = least(bps, known_bps(uplink_bps(spec, leaf)) / (end - i));
    }
    return bps;
}

/* Neighbouring shares of one group say the same, unless NVLink domains
 * differ.  Rates are of one direction, for each GPU (intra) or each node (inter). */
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
    if (fabric_spans_leaves(spec, placement))
        gang.inter_bps = least(gang.inter_bps, least_uplink_bps(spec, placement));
    return gang;
}

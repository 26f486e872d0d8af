/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fabric_uses.c - which links a phase or a transfer uses, and how much of each.
 *
 * What a phase takes is counted in the busier direction of a link, as a link's
 * capacity is that of one direction.
 *
 * GPUs of a lease load the PCIe switches they stand behind; what comes over NICs
 * or from drives on its way to host memory loads all switches evenly, as NICs and
 * drives are.  The two run in opposite directions: the larger counts.  Traffic
 * between GPUs, or from GPU to NIC, turns round below the uplink where both stand
 * behind one switch, and a ring crosses each uplink once a direction: neither is
 * slower than a slot, neither is charged to uplinks.
 */
#include "models/cluster/fabric.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>

#include "models/cluster/cluster.h"
#include "models/cluster/fabric_parts.h"
#include "models/types/placement.h"
#include "models/types/rates.h"

/* A path under construction: links arrive in ascending order. */
struct path {
    struct flow_use *use;       /* of the caller, with room for all links */
    uint32_t count;
};

/* Adds a use of a link; the last link's use grows if it is that one. */
static void path_add(struct path *path, uint32_t link, double per_unit)
{
    assert(per_unit >= 0.0);
    if (link == FABRIC_LINK_NONE || per_unit <= 0.0)
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
 * memory (no GPUs) is spread over all switches.  For example, with 2 of 8 GPUs, both behind
 * switch 0, it is 1 for that switch, and 0 for the others. */
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
    if (link == FABRIC_LINK_NONE || group->pcie_switches == 0) {
        path_add(path, link, gpus);
        return;
    }
    for (uint32_t i = 0; i < group->pcie_switches; i++)
        path_add(path, link + i,
                 fmax(gpus * switch_part(group, i, share->gpu_mask),
                      host / group->pcie_switches));
}

/* What comes from outside or from drives into the memory of a node.  Without a NIC nothing
 * comes from outside. */
static double count_host_bytes(const struct fabric *fabric, uint32_t node,
                               double storage, double nvme)
{
    assert(storage >= 0.0 && nvme >= 0.0);
    bool nics = fabric_link(fabric, FABRIC_NIC, node) != FABRIC_LINK_NONE;
    return nvme + (nics ? storage : 0.0);
}

/* Drives that seek lose what they could have read meanwhile.  A read costs the bytes that the
 * drive could have read in the time of one seek. */
static double count_drive_bytes(const struct fabric *fabric, uint32_t node,
                                const struct demand_rates *rates)
{
    assert(rates->nvme_bytes >= 0.0 && rates->nvme_reads >= 0.0);
    const struct node_group *group = cluster_group_of(fabric->spec, node);

    return rates->nvme_bytes + rates->nvme_reads * group->nvme_access_bytes;
}

/* What one unit of work moves over each link of the placement.  Nodes share
 * the work evenly; data from storage goes through a node's NIC and PCIe, and
 * through the uplink of its leaf. */
uint32_t fabric_uses(const struct fabric *fabric,
                     const struct placement *placement,
                     const struct demand_rates *rates, struct flow_use *use)
{
    assert(fabric != NULL && placement != NULL && rates != NULL);
    uint32_t nodes = placement->share_count;
    assert(nodes > 0);
    double storage = fabric->link[FABRIC_STORAGE][0] == FABRIC_LINK_NONE
                         ? 0.0 : rates->storage_bytes / nodes;
    double between = nodes > 1 ? rates->network_bytes : 0.0;
    bool leaves = fabric_spans_leaves(fabric->spec, placement);
    /* Per node.  FABRIC_NVME only says whether anything is read: count_drive_bytes() has its
     * bytes. */
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
                         count_host_bytes(fabric, share->node, storage,
                                          rates->nvme_bytes / nodes));
            else if (kind == FABRIC_NVME)
                path_add(&path, fabric_link(fabric, FABRIC_NVME, share->node),
                         count_drive_bytes(fabric, share->node, rates) / nodes);
            else
                path_add(&path, fabric_link(fabric, (enum link_class)kind,
                                            share->node), amount[kind]);
        }
    }
    return path.count;
}

/* Walks two placements together, in node order. */
struct both {
    const struct placement *from, *to;  /* shares by rising node */
    uint32_t f, t;              /* the next share of each */
    uint32_t node;              /* the present one; in_from, in_to: whether each has it */
    bool in_from, in_to;
    struct share share;         /* of `to`, or of `from` if it only sends */
};

/* Moves to the next node of either placement; false: past the last.  Both placements are in
 * the order of their nodes, so that one walk over both finds nodes that are in both. */
static bool next_node(struct both *both)
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

/* Bytes over a link of one node.  A node of both placements moves by PCIe only
 * what it takes, and sends over its NIC only if nobody else can. */
static double count_transit(const struct transit *transit,
                            const struct both *at, enum link_class kind)
{
    if (at->in_from && at->in_to)
        return kind == FABRIC_PCIE ? transit->taken
               : transit->all_send ? transit->sent : 0.0;
    return at->in_to ? transit->taken : transit->sent;
}

/* Uses of moving state or weights; copies: every receiving node gets all
 * bytes, and passes them on.  For example, 8 GB from nodes 0 and 1 to nodes 1 and 2: each
 * receiver takes 4 GB; node 1 has its part, so that node 0 alone sends 4 GB to node 2. */
static uint32_t find_uses(const struct fabric *fabric,
                          const struct placement *from,
                          const struct placement *to, double bytes,
                          bool copies, struct flow_use *use)
{
    assert(fabric != NULL && from != NULL && to != NULL && bytes >= 0.0);
    assert(from->share_count > 0 && to->share_count > 0);
    uint32_t only_from = 0, only_to = 0, first = UINT32_MAX, last = 0;
    for (struct both at = { .from = from, .to = to }; next_node(&at);) {
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
        for (struct both at = { .from = from, .to = to }; next_node(&at);) {
            double amount = count_transit(&transit, &at, order[k]);
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
    return find_uses(fabric, from, to, bytes, false, use);
}

uint32_t fabric_uses_copies(const struct fabric *fabric,
                            const struct placement *from,
                            const struct placement *to, double bytes,
                            struct flow_use *use)
{
    assert(bytes >= 0.0);
    return find_uses(fabric, from, to, bytes, true, use);
}

/* Adds a use to a sorted list.  O(count), from the back.  Returns how many uses there are
 * then. */
static uint32_t use_add(struct flow_use *use, uint32_t count, uint32_t link,
                        double per_unit)
{
    assert(per_unit >= 0.0);
    uint32_t at = count;

    if (link == FABRIC_LINK_NONE || per_unit <= 0.0)
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

uint32_t fabric_uses_join(struct flow_use *use, uint32_t count,
                          const struct flow_use *more, uint32_t more_count)
{
    for (uint32_t i = 0; i < more_count; i++)
        count = use_add(use, count, more[i].link, more[i].per_unit);
    return count;
}

/* Every sender sends to every receiver alike.  What stays on a node uses no
 * NIC.  Of both directions of a NIC the busier one counts. */
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

    for (struct both at = { .from = from, .to = there }; next_node(&at);)
        leaves = leaves || (leaf_nodes > 0 && at.node / leaf_nodes != leaf);
    for (struct both at = { .from = from, .to = there }; next_node(&at);) {
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

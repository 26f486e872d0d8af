/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster.c - the cluster's file: each GPU type in nodes of its instance.
 *
 * A node with fewer GPUs than the instance has its share of the rest.  Jobs that
 * generate and train get a pool for each, by the roles' names, so that policies
 * with a home for each role can be compared with those that lend.
 */
#include <assert.h>
#include <string.h>

#include "experiments/start/parts.h"
#include "models/catalogue/catalogue.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

#define ROLE_GPUS 8u

/* Rounded down to a power of two: so batches can be divided by it. */
uint32_t start_role_gpus(const struct start *start)
{
    uint32_t least = ROLE_GPUS, role = 1;

    for (uint32_t i = 0; i < start->pool_count; i++)
        if (start->pool[i].gpus < least)
            least = start->pool[i].gpus;
    while (role * 2 <= least)
        role *= 2;
    return role;
}

/* Two pools of one: by nodes, or by GPUs where there is one node. */
static void split_pool(struct start *start)
{
    struct start_pool *first = &start->pool[0], *second = &start->pool[1];
    uint32_t nodes = first->gpus / first->each;

    *second = *first;
    if (nodes == 1) {
        second->each = second->gpus = first->gpus / 2;
        first->each = first->gpus -= second->gpus;
    } else {
        second->gpus = nodes / 2 * second->each;
        first->gpus -= second->gpus;
    }
    start->pool_count = 2;
}

/* Returns the peak of a GPU in bf16, or in fp16 if it lacks that; generic: 0. */
static double train_flops(const struct start_pool *pool)
{
    const double *peak = pool->gpu != NULL ? pool->gpu->flops_peak : NULL;

    if (peak == NULL)
        return 0;
    return peak[PRECISION_BF16] > 0 ? peak[PRECISION_BF16] : peak[PRECISION_FP16];
}

/* Returns the bytes per second of a GPU's memory; generic: 0. */
static double read_rate(const struct start_pool *pool)
{
    return pool->gpu != NULL ? pool->gpu->memory_bps : 0;
}

/* Does a train rather than b, whatever their order in the list?  Training takes FLOPS; a token
 * that is generated takes bytes of memory, so that of equals the slower memory trains. */
static bool trains_rather(const struct start_pool *a, const struct start_pool *b)
{
    double more = train_flops(a) - train_flops(b);

    return more > 0 || (more == 0 && read_rate(a) < read_rate(b));
}

/* Names the pool that trains and, of the others, the one of the fastest memory, which
 * generates. */
static void name_roles(struct start *start)
{
    uint32_t train = 1, rollout;

    assert(start->pool_count > 1);
    for (uint32_t i = 0; i < start->pool_count; i++)
        if (trains_rather(&start->pool[i], &start->pool[train]))
            train = i;
    rollout = train == 0 ? 1 : 0;
    for (uint32_t i = rollout + 1; i < start->pool_count; i++)
        if (i != train && read_rate(&start->pool[i]) > read_rate(&start->pool[rollout]))
            rollout = i;
    start->pool[train].name = "train";
    start->pool[rollout].name = "rollout";
}

bool start_name_pools(struct start *start, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    bool rollouts = start_has_rollouts(start);

    if (rollouts && start->pool_count == 1 && start->pool[0].gpus == 1) {
        err_set(err, ERR_USAGE, nowhere, "these jobs need two GPUs or more, found 1: one "
                "generates, one trains");
        return err_hint(err, "Write for example --gpus %s:8.", start->pool[0].type);
    }
    if (rollouts && start->pool_count == 1)
        split_pool(start);
    for (uint32_t i = 0; i < start->pool_count; i++)
        start->pool[i].name = start->pool[i].type;
    if (rollouts)
        name_roles(start);
    return true;
}

/* Returns the entry of `nodes:` for a pool: what its instance has, in proportion to the
 * GPUs of a node, but at least one NIC. */
static const char *format_nodes(const struct start *start, const struct start_pool *pool)
{
    struct arena *arena = start->arena;
    const char *head = text_format(
        arena, "  - name: %s\n    count: %-22u# nodes\n"
        "    gpus: {type: %s, count: %u}\n", pool->name, pool->gpus / pool->each, pool->type,
        pool->each);

    if (pool->gpu == NULL)
        return head;
    struct instance node = catalogue_instance_of(start->catalogue, pool->gpu);
    const struct cpu_type *cpu = catalogue_cpu(start->catalogue, node.cpu);
    uint32_t nics = node.nics * pool->each / node.gpus;
    const char *cores = pool->each == node.gpus ? "" : text_format(
        arena, "    cores: %u\n", cpu->cores * node.sockets * pool->each / node.gpus);
    const char *price = catalogue_price_in(start->catalogue, pool->type, TIER_LIST) != NULL
        ? "" : "    price: 0USD/h               # the catalogue has no list price of it\n";

    return text_format(
        arena, "%s    cpu: {type: %s, sockets: %u}\n%s    memory: %.0fGB\n    nvme: %ux%gTB\n"
        "    nvme_type: %s\n    nics: {type: %s, count: %u}\n%s", head, node.cpu, node.sockets,
        cores, node.memory_bytes / 1e9 * pool->each / node.gpus,
        (node.drives * pool->each + node.gpus - 1) / node.gpus, node.drive_bytes / 1e12,
        node.drive, node.nic, nics > 0 ? nics : 1, price);
}

/* Was a type of GPUs chosen for the jobs' training? */
static bool is_chosen(const struct start *start)
{
    return start_has_rollouts(start) && start->pool[0].gpu != start->pool[1].gpu;
}

const char *start_cluster_text(const struct start *start)
{
    struct arena *arena = start->arena;
    bool real = false;
    const char *text = "";

    for (uint32_t i = 0; i < start->pool_count; i++) {
        text = text_format(arena, "%s%s", text, format_nodes(start, &start->pool[i]));
        real = real || start->pool[i].gpu != NULL;
    }
    return text_format(
        arena, "# The cluster of %s.yaml, made by `clustersim new`.\n%s"
        "# `clustersim explain cluster.nodes` names the other keys.\n"
        "%snodes:\n%s%s", start->name,
        real ? "# Nodes are as they are rented or sold: `clustersim list instances`.\n"
             : "# The GPUs only count: their jobs have known lengths.\n",
        is_chosen(start) ? "# Jobs train where a GPU has most FLOPS, and generate where it has the "
                           "fastest memory\n# of the others; change the names to turn that.\n"
                         : "", text,
        real ? "storage: {bandwidth: 20GB/s}     # shared by all nodes; an assumption\n" : "");
}

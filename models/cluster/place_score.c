/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_score.c - the table of placements, and the scores of those that look
 * at every node.  Pure functions of a node and a job.
 *
 * best_fit, dot_product, gpu_packing and gpu_clustering of pods are as in the
 * simulator of FGD (Weng et al., ATC 2023), whole numbers of 0 to 100 in which
 * ties are common.  That simulator divides by the largest node of its
 * clusters, 128 cores and 8 GPUs; here it is the largest node of the cluster.
 */
#include "models/cluster/place.h"

#include <assert.h>

#include "models/cluster/place_parts.h"

#define SCORE_MAX 100

/* Free thousandths of all GPUs of a node. */
static uint32_t left_sum(const struct place_node *node)
{
    uint32_t milli = 0;

    for (uint32_t g = 0; g < node->gpus; g++)
        milli += node->left[g];
    return milli;
}

/* Does the task ask for a part of one GPU? */
static bool is_part(const struct place_task *task)
{
    return task->gpus == 1 && task->gpu_milli < GPU_MILLI;
}

/* The GPU with the least (or the most) left that holds the part; the lowest
 * of equals. */
static uint32_t part_gpu(const struct place_node *node,
                         const struct place_task *task, bool most)
{
    uint32_t found = 0, best = 0;
    bool any = false;

    for (uint32_t g = 0; is_part(task) && g < node->gpus; g++) {
        uint32_t left = node->left[g];
        if (left < task->gpu_milli ||
            (any && (most ? left <= best : left >= best)))
            continue;
        found = g;
        best = left;
        any = true;
    }
    return found;
}

/* What would stay free, of cores and of GPUs, as parts of the largest node:
 * the mean of both, or of the one that limits. */
static double left_over(const struct place_world *world,
                        const struct place_node *node,
                        const struct place_task *task)
{
    assert(node != NULL && task != NULL);
    double cores = (double)(node->core_milli - task->core_milli);
    double gpus = (double)left_sum(node) -
                  (double)task->gpus * task->gpu_milli;

    if (world->core_milli_max <= 0.0)
        return world->gpu_milli_max > 0.0 ? gpus / world->gpu_milli_max : 0.0;
    if (world->gpu_milli_max <= 0.0)
        return cores / world->core_milli_max;
    return cores / world->core_milli_max * 0.5 +
           gpus / world->gpu_milli_max * 0.5;
}

/* Best fit: the less a node has left behind it, over all resources, the higher its
 * score. */
static int32_t best_fit(const struct place_world *world,
                        const struct place_node *node,
                        const struct place_task *task, uint32_t *gpu)
{
    *gpu = part_gpu(node, task, false);
    return (int32_t)((1.0 - left_over(world, node, task)) * SCORE_MAX);
}

/* In millionths: the emptiest is to be found, not one of many alike. */
static int32_t worst_fit(const struct place_world *world,
                         const struct place_node *node,
                         const struct place_task *task, uint32_t *gpu)
{
    *gpu = part_gpu(node, task, true);
    return (int32_t)(left_over(world, node, task) * 1e6);
}

/* All nodes alike: the first one is taken. */
static int32_t in_order(const struct place_world *world,
                        const struct place_node *node,
                        const struct place_task *task, uint32_t *gpu)
{
    (void)world;
    *gpu = part_gpu(node, task, false);
    return 0;
}

/* The product of what is free and what is asked, each over the largest node. */
static int32_t dot_product(const struct place_world *world,
                           const struct place_node *node,
                           const struct place_task *task, uint32_t *gpu)
{
    assert(node != NULL && task != NULL);
    double sum = 0.0;

    *gpu = part_gpu(node, task, false);
    if (world->core_milli_max > 0.0)
        sum += (double)node->core_milli / world->core_milli_max *
               ((double)task->core_milli / world->core_milli_max);
    if (world->gpu_milli_max > 0.0)
        sum += left_sum(node) / world->gpu_milli_max *
               ((double)task->gpus * task->gpu_milli / world->gpu_milli_max);
    return (int32_t)(SCORE_MAX * (1.0 - sum / 2.0));
}

/* Returns how many GPUs of a node are wholly free. */
static uint32_t idle_gpus(const struct place_node *node)
{
    uint32_t idle = 0;

    for (uint32_t g = 0; g < node->gpus; g++)
        idle += node->left[g] == GPU_MILLI;
    return idle;
}

/* The GPUs a job would take, fullest first: how many of them are idle, and
 * what is left of all of them, in percent. */
static void count_packed(const struct place_node *node, const struct place_task *task,
                         uint32_t *idle, uint32_t *percent)
{
    uint32_t order[NODE_GPUS_MAX], need = task->gpus;

    for (uint32_t g = 0; g < node->gpus; g++) {
        uint32_t i = g;
        for (; i > 0 && node->left[order[i - 1]] > node->left[g]; i--)
            order[i] = order[i - 1];
        order[i] = g;
    }
    *idle = *percent = 0;
    for (uint32_t i = 0; i < node->gpus && need > 0; i++) {
        uint32_t left = node->left[order[i]];
        if (left < task->gpu_milli)
            continue;
        need--;
        *idle += left == GPU_MILLI;
        *percent += left * 100 / GPU_MILLI;
    }
    assert(need == 0);
}

/* Parts of GPUs in use before idle GPUs of nodes in use, before idle nodes. */
static int32_t gpu_packing(const struct place_world *world,
                           const struct place_node *node,
                           const struct place_task *task, uint32_t *gpu)
{
    assert(node != NULL && task != NULL);
    int32_t idle = (int32_t)idle_gpus(node), score;
    uint32_t taken, percent;

    (void)world;
    *gpu = part_gpu(node, task, false);
    if (task->gpus == 0)
        return 0;
    if ((uint32_t)idle == node->gpus) {
        score = SCORE_MAX / 3 - idle;
        return score > idle ? score : idle;
    }
    count_packed(node, task, &taken, &percent);
    if (taken > 0) {
        score = SCORE_MAX / 2 - (int32_t)taken;
        return score > SCORE_MAX / 3 ? score : SCORE_MAX / 3;
    }
    score = SCORE_MAX - (int32_t)(percent / 10);
    return score > SCORE_MAX / 2 ? score : SCORE_MAX / 2;
}

/* Jobs of one size together: nodes that hold only such, nodes that hold some,
 * idle nodes, the others; among them the fullest. */
static int32_t gpu_clustering(const struct place_world *world,
                              const struct place_node *node,
                              const struct place_task *task, uint32_t *gpu)
{
    assert(node->kinds != NULL);
    uint32_t kinds = 0, mine = is_part(task) ? 0 : task->gpus;
    int32_t quarter = SCORE_MAX / 4, full;
    int64_t most = (int64_t)world->gpu_milli_max;

    *gpu = part_gpu(node, task, false);
    if (task->gpus == 0 || most <= 0)
        return 0;
    full = (int32_t)(quarter * (most - left_sum(node)) / most);
    for (uint32_t k = 0; k < node->kind_count; k++)
        kinds += node->kinds[k] > 0;
    if (mine < node->kind_count && node->kinds[mine] > 0)
        return full + (kinds == 1 ? 3 : 2) * quarter;
    return kinds == 0 ? full + quarter : full;
}

#define FGD_SIMULATOR "the simulator of Weng et al., ATC 2023"

/* A new placement: its score above, a row here, its name below and in the
 * enum. */
static const struct place_info table[PLACE_RULE_COUNT] = {
    [PLACE_COUNT] = { "count",
        "any free GPUs, in node order: GPUs are a number", "as in Tiresias's "
        "and PAI's simulators", "gangs lie over many nodes", in_order },
    [PLACE_FIRST_FIT] = { "first_fit",
        "the first node with room; more than a node: whole empty nodes",
        "Starburst's simulator (Luo et al., ATC 2024)",
        "gangs wait though GPUs are free", in_order },
    [PLACE_BEST_FIT] = { "best_fit",
        "the same, on the node with the fewest free GPUs that has room; pods "
        "where cores and GPUs left over are least, in percent",
        "Starburst's simulator (Luo et al., ATC 2024); pods: " FGD_SIMULATOR,
        "leaves parts that fit nobody", best_fit },
    [PLACE_PACK] = { "pack",
        "the fewest nodes, gangs may be split: the roomiest whole, the rest "
        "on the fullest that holds it", "NVLink domains first, see fit.h",
        "splits gangs over nodes rather than wait", best_fit },
    [PLACE_SPREAD] = { "spread",
        "one GPU at a time over all nodes, the emptiest first",
        "load balancing", "no node stays free for large gangs", worst_fit },
    [PLACE_WORST_FIT] = { "worst_fit",
        "the node where cores and GPUs left over are most",
        "the opposite of best_fit", "no node stays free for large gangs",
        worst_fit },
    [PLACE_RANDOM] = { "random",
        "any of the nodes that have room, and any of their GPUs, uniformly",
        "the floor that others must beat; " FGD_SIMULATOR,
        "everything", in_order },
    [PLACE_DOT_PRODUCT] = { "dot_product",
        "the node whose free cores and GPUs have the least product with what "
        "is asked", FGD_SIMULATOR ", after Panigrahy et al. 2011 and Tetris "
        "(Grandl et al., SIGCOMM 2014), which take the largest",
        "blind to fragments of GPUs", dot_product },
    [PLACE_GPU_PACKING] = { "gpu_packing",
        "parts of GPUs in use, then idle GPUs of nodes in use, then idle "
        "nodes", "MLaaS in the Wild (Weng et al., NSDI 2022), as in "
        FGD_SIMULATOR, "blind to cores", gpu_packing },
    [PLACE_GPU_CLUSTERING] = { "gpu_clustering",
        "nodes that hold jobs of the same number of GPUs, the fullest first",
        "after Gandiva (Xiao et al., OSDI 2018), as in " FGD_SIMULATOR,
        "blind to cores", gpu_clustering },
    [PLACE_FGD] = { "fgd",
        "the node and the GPU where fragments grow least: GPUs that the "
        "typical jobs of the workload could not use",
        "fragmentation gradient descent, Weng et al., ATC 2023",
        "needs to know the workload's kinds of jobs", place_fgd },
    [PLACE_CONSOLIDATE] = { "consolidate",
        "best_fit; a gang that has waited for `relax_after` goes as in pack",
        "as Tiresias relaxes consolidation (Gu et al., NSDI 2019), here by "
        "time", "the bound must suit the workload", best_fit },
    [PLACE_TOPOLOGY] = { "topology",
        "one NVLink domain, else one node, else the nodes of one rack, else "
        "any, always the fullest that holds the gang",
        "locality levels as in Philly (Jeon et al., ATC 2019)",
        "never waits for a better place", best_fit },
    [PLACE_HELIOS] = { "helios",
        "best_fit; of a gang that takes more than whole nodes the remainder "
        "goes to the node with the most free GPUs",
        "Helios's simulator (Hu et al., SC 2021)",
        "breaks an empty node for a remainder", best_fit },
};

const char *const place_names[PLACE_RULE_COUNT + 1] = {
    "count", "first_fit", "best_fit", "pack", "spread", "worst_fit", "random",
    "dot_product", "gpu_packing", "gpu_clustering", "fgd", "consolidate",
    "topology", "helios", NULL
};

const struct place_info *place_info(enum place_rule rule)
{
    assert((unsigned)rule < PLACE_RULE_COUNT);
    return &table[rule];
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_fgd.c - fragmentation gradient descent (Weng et al., ATC 2023).
 *
 * A node's fragment for a kind of job is what is free of its GPUs and that
 * kind cannot use: all of it if the kind takes cores only or other types of
 * GPU, or if cores or GPUs do not suffice for it; else the GPUs with less left
 * than the kind asks of one.  The mean over the typical kinds is the node's
 * fragmentation; a job goes where it grows least.  As in the authors'
 * simulator the growth becomes a whole number of percent by a sigmoid, so that
 * many nodes tie.
 */
#include "models/cluster/place_parts.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

double place_fragment(const struct place_world *world,
                      const struct place_node *node)
{
    assert(world->kind != NULL || world->kind_count == 0);
    assert(node != NULL);
    double all = 0.0, fragment = 0.0;

    for (uint32_t g = 0; g < node->gpus; g++)
        all += node->left[g];
    if (all == 0.0)
        return 0.0;
    for (uint32_t k = 0; k < world->kind_count; k++) {
        const struct place_kind *kind = &world->kind[k];
        uint32_t holds = 0, lost = 0;
        if (kind->task.gpus == 0 || node->core_milli < kind->task.core_milli ||
            !(kind->type_mask >> node->gpu_type & 1)) {
            fragment += kind->weight * all;
            continue;
        }
        for (uint32_t g = 0; g < node->gpus; g++)
            if (node->left[g] >= kind->task.gpu_milli)
                holds++;
            else
                lost += node->left[g];
        fragment += kind->weight * (holds >= kind->task.gpus ? lost : all);
    }
    return fragment;
}

/* A sigmoid of the fragment that a placement saves, in GPUs: 50 if it changes
 * nothing. */
static int32_t score_of(double fewer_milli)
{
    return (int32_t)(100.0 / (1.0 + exp(-fewer_milli / GPU_MILLI)));
}

/* For a part of a GPU every GPU is tried; whole GPUs are those of the lowest
 * numbers that are idle. */
int32_t place_fgd(const struct place_world *world,
                  const struct place_node *node, const struct place_task *task,
                  uint32_t *gpu)
{
    uint16_t left[NODE_GPUS_MAX];
    struct place_node after = *node;
    double before = place_fragment(world, node);
    int32_t best = -1;

    memcpy(left, node->left, node->gpus * sizeof *left);
    after.left = left;
    after.core_milli -= task->core_milli;
    *gpu = 0;
    if (task->gpus == 1 && task->gpu_milli < GPU_MILLI) {
        for (uint32_t g = 0; g < node->gpus; g++) {
            if (node->left[g] < task->gpu_milli)
                continue;
            left[g] = (uint16_t)(node->left[g] - task->gpu_milli);
            int32_t score = score_of(before - place_fragment(world, &after));
            left[g] = node->left[g];
            if (score > best) {
                best = score;
                *gpu = g;
            }
        }
        assert(best >= 0);
        return best;
    }
    for (uint32_t g = 0, need = task->gpus; g < node->gpus && need > 0; g++)
        if (left[g] == GPU_MILLI) {
            left[g] = 0;
            need--;
        }
    return score_of(before - place_fragment(world, &after));
}

/* Commonest first; of equals the one that asks for more. */
static int compare_weights(const void *left, const void *right)
{
    const struct place_kind *a = left, *b = right;

    if (a->weight != b->weight)
        return a->weight > b->weight ? -1 : 1;
    if (a->task.core_milli != b->task.core_milli)
        return a->task.core_milli > b->task.core_milli ? -1 : 1;
    if (a->task.gpu_milli != b->task.gpu_milli)
        return a->task.gpu_milli > b->task.gpu_milli ? -1 : 1;
    if (a->task.gpus != b->task.gpus)
        return a->task.gpus > b->task.gpus ? -1 : 1;
    if (a->type_mask != b->type_mask)
        return a->type_mask > b->type_mask ? -1 : 1;
    return 0;
}

/* Keeps the most frequent kinds until they make up the share of all, and
 * scales their weights to 1. */
uint32_t place_typical(struct place_kind *kind, uint32_t count, double share)
{
    double all = 0.0, sum = 0.0;
    uint32_t kept = 0;

    assert(kind != NULL || count == 0);
    for (uint32_t k = 0; k < count; k++)
        all += kind[k].weight;
    qsort(kind, count, sizeof *kind, compare_weights);
    while (kept < count && sum < share * all)
        sum += kind[kept++].weight;
    for (uint32_t k = 0; k < kept; k++)
        kind[k].weight /= sum;
    return kept;
}

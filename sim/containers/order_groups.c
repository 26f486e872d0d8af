/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order_groups.c - the fewest GPUs of a subtree by group of items, for an order and for
 * other trees whose searches pass over whole groups.
 */
#include <assert.h>
#include <string.h>

#include "sim/containers/order.h"

/* The least GPUs of each group in a subtree: of both children and the item
 * itself.  UINT16_MAX stands for none, so larger sizes count as just below
 * it. */
void order_groups_sum(struct order_groups *sum, uint32_t group, uint32_t gpus,
                      const struct order_groups *left,
                      const struct order_groups *right)
{
    const struct order_groups *one = left != NULL ? left : right;
    uint16_t own = gpus < UINT16_MAX - 1 ? (uint16_t)gpus : UINT16_MAX - 1;

    assert(group < ORDER_GROUP_COUNT);
    if (one != NULL)
        *sum = *one;
    else
        memset(sum, 0xff, sizeof *sum);
    for (uint32_t g = 0; left != NULL && right != NULL && g < ORDER_GROUP_COUNT; g++)
        sum->gpus_min[g] = right->gpus_min[g] < sum->gpus_min[g] ? right->gpus_min[g]
                                                                 : sum->gpus_min[g];
    if (own < sum->gpus_min[group])
        sum->gpus_min[group] = own;
}

/* ORDER_GROUP_COUNT comparisons, whatever the size of the subtree. */
bool order_groups_pass(const struct order_groups *sum, const uint32_t *group_max)
{
    for (uint32_t g = 0; g < ORDER_GROUP_COUNT; g++)
        if (sum->gpus_min[g] != UINT16_MAX && sum->gpus_min[g] <= group_max[g])
            return true;
    return false;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * naive_order.c - a plain list, in order.
 */
#include "naive_order.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

void naive_init(struct naive_order *order, const struct order_rules *rules,
                void *owner)
{
    *order = (struct naive_order) { .rules = rules, .owner = owner };
}

void naive_free(struct naive_order *order)
{
    free(order->item);
    free(order->known);
}

static void *grown(void *old, size_t items, size_t item_bytes)
{
    void *more = realloc(old, items * item_bytes);

    assert(more != NULL);
    return more;
}

void naive_insert(struct naive_order *order, uint32_t item,
                  struct order_item known, rank_tree_before_fn *before)
{
    uint32_t at = order->count;

    if (order->count == order->room) {
        order->room = 2 * order->room + 16;
        order->item = grown(order->item, order->room, sizeof *order->item);
    }
    if (item >= order->known_room) {
        order->known_room = 2 * item + 16;
        order->known = grown(order->known, order->known_room,
                             sizeof *order->known);
    }
    order->known[item] = known;
    while (before != NULL && at > 0 &&
           before(order->owner, item, order->item[at - 1]))
        at--;
    memmove(&order->item[at + 1], &order->item[at],
            (order->count++ - at) * sizeof *order->item);
    order->item[at] = item;
}

static uint32_t place_of(const struct naive_order *order, uint32_t item)
{
    uint32_t at = 0;

    while (order->item[at] != item)
        at++;
    return at;
}

void naive_remove(struct naive_order *order, uint32_t item)
{
    uint32_t at = place_of(order, item);

    memmove(&order->item[at], &order->item[at + 1],
            (--order->count - at) * sizeof *order->item);
}

void naive_touch(struct naive_order *order, uint32_t item,
                 struct order_item known)
{
    order->known[item] = known;
}

void naive_sort(struct naive_order *order)
{
    for (uint32_t i = 1; i < order->count; i++) {
        uint32_t item = order->item[i], j = i;
        for (; j > 0 && order->rules->before(order->owner, item,
                                             order->item[j - 1]); j--)
            order->item[j] = order->item[j - 1];
        order->item[j] = item;
    }
}

uint32_t naive_find(const struct naive_order *order, uint32_t from,
                    const struct order_filter *filter)
{
    for (uint32_t i = from; i < order->count; i++) {
        const struct order_item *known = &order->known[order->item[i]];
        bool passes = known->gpus <= filter->gpus_any_span ||
                      known->span_ns <= filter->span_max_ns ||
                      (order->rules->sums & ORDER_TAKES) != 0;
        if (passes && known->gpus <= filter->gpus_max &&
            (filter->passes == NULL ||
             filter->passes(order->owner, order->item[i])))
            return i;
    }
    return order->count;
}

uint32_t naive_first_stamped(const struct naive_order *order, uint64_t below)
{
    for (uint32_t i = 0; i < order->count; i++)
        if (order->known[order->item[i]].stamp < below)
            return order->item[i];
    return ORDER_NONE;
}

void naive_take(const struct naive_order *order, uint64_t budget,
                struct order_dealt *out)
{
    for (uint32_t i = 0; i < order->count; i++) {
        const struct order_item *known = &order->known[order->item[i]];
        bool fits = known->gpus <= budget;
        budget -= fits ? known->gpus : 0;
        if (fits && !known->taken)
            out->take[out->takes++] = order->item[i];
        if (!fits && known->taken)
            out->stop[out->stops++] = order->item[i];
    }
}

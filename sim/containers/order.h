/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * order.h - items in an order that may move with time: the first that passes
 * a filter, and a budget of GPUs dealt from the front.
 *
 * A rank tree (rank_tree.h) knows places, and leaves sums and keys to its
 * owner.  This container keeps the sums that every queue needs: the fewest
 * GPUs and the shortest span of a subtree, so that a subtree in which nothing
 * passes is skipped whole; how many GPUs a subtree asks for, so that a budget
 * is dealt in the logarithm of the length; and until when neighbours stay in
 * order, so that order_refresh() looks only at pairs whose time has come: a
 * kinetic sorted list (Basch, Guibas and Hershberger, 1999).
 *
 * Items are small numbers of the owner (slots).  Orders of one store share
 * what is known of items: an item is in at most one of them at a time.
 * Times are nanoseconds.  Memory is the arena's; nothing here fails.
 */
#ifndef SIM_CONTAINERS_ORDER_H
#define SIM_CONTAINERS_ORDER_H

#include <assert.h>
#include <stdbool.h>
#include <stdint.h>

#include "sim/containers/rank_tree.h"

struct arena;

#define ORDER_NONE RANK_TREE_NONE
#define ORDER_GPU_CLASSES 12u
#define ORDER_GROUP_COUNT 16u

/* What is known of an item while it is in an order. */
struct order_item {
    int64_t span_ns;            /* not below 0 */
    uint64_t stamp;             /* for order_first_stamped() */
    uint32_t gpus;              /* that it asks for */
    bool taken;                 /* the last order_take() gave it GPUs */
    uint8_t group;              /* < ORDER_GROUP_COUNT, for filters by group */
};

/* Returns the time until which a stays before b, its next neighbour.  A time at
 * or before now: the two must be compared again. */
typedef int64_t order_stands_fn(void *owner, uint32_t a, uint32_t b);
/* Does an item pass the conditions of the owner, which a filter does not know? */
typedef bool order_passes_fn(void *owner, uint32_t item);

/* An item passes if it has at most gpus_max GPUs, its span is at most
 * span_max_ns (or its GPUs at most gpus_any_span), and `passes` agrees.  `passes`
 * must not change the order. */
struct order_filter {
    uint32_t gpus_max;          /* of the items that may pass */
    uint32_t gpus_any_span;     /* an item of at most these passes with any span */
    int64_t span_max_ns;        /* of the items that may pass; below 0: none by its span */
    order_passes_fn *passes;    /* NULL: all do */
    bool by_group;              /* of a group with more GPUs nothing passes: */
    uint32_t group_max[ORDER_GROUP_COUNT];  /* `passes` says so of each, too */
    bool any_by_group;          /* gpus_any_span is that of each group: */
    uint32_t group_any[ORDER_GROUP_COUNT];
};

enum order_sums {               /* that an order keeps */
    ORDER_CLASSES = 1u << 0,    /* the shortest span by power of two of GPUs:
                                   for filters of both; and stamps */
    ORDER_SPANS = 1u << 1,      /* the fewest GPUs and the shortest span */
    ORDER_MOVES = 1u << 2,      /* as ORDER_SPANS, and order_refresh() */
    ORDER_TAKES = 1u << 3,      /* order_take(); filters pass any span */
    ORDER_GROUPS = 1u << 4      /* the fewest GPUs by group: for filters by group */
};

struct order_rules {
    rank_tree_before_fn *before;        /* at present; equal items keep their
                                           order */
    order_stands_fn *stands;            /* with ORDER_MOVES */
    uint32_t sums;              /* of enum order_sums: those that are kept */
};

struct order_sum {              /* over a subtree */
    int64_t stands_ns;          /* with ORDER_MOVES: until then all its pairs are in order */
    union {
        int64_t span_min_ns;
        uint64_t gpus;          /* with ORDER_TAKES */
    };
    uint32_t gpus_min, taken, first, last; /* the fewest GPUs of an item; items with GPUs; the
                                            * first and the last item */
};

struct order_slot {             /* of an item: in one line of the cache */
    struct order_item item;     /* what the owner said of it */
    struct order_sum sum;       /* of the subtree that it is the root of */
};

struct order_bound {            /* likewise, with ORDER_CLASSES */
    uint32_t span[ORDER_GPU_CLASSES];   /* in units of 2^30 ns, rounded down */
    uint64_t stamp_min;         /* the least stamp of the subtree */
};

struct order_groups {           /* over a subtree; the largest number: or more */
    uint16_t gpus_min[ORDER_GROUP_COUNT];
};

/* What the order keeps of each item, by its number: arrays, each
 * with its own room, that grow with the largest number. */
struct order_store {
    struct arena *arena;
    struct order_slot *slot;    /* by item; `room` of them */
    struct order_bound *bound;  /* by item; bound_room of them; NULL: no order needed it */
    struct order_groups *groups; /* by item; groups_room of them; NULL: no order needed it */
    uint32_t room, bound_room, groups_room;
};

struct order {
    struct rank_tree tree;      /* places: rank_tree_at(), rank_tree_rank() */
    struct order_store *store;  /* not owned; may be that of several orders */
    const struct order_rules *rules; /* not owned; order_rule() sets others */
    void *owner;                /* handed to the functions of the rules */
    bool back;                  /* of two that change places the earlier one is
                                   moved back, else the later one ahead: for
                                   speed alone */
    int64_t now_ns;             /* of the last refresh */
    uint64_t seen;              /* items that searches looked at */
    uint32_t *look, looks, look_room;   /* what a refresh has to move */
};

struct order_dealt {            /* items, in order; room for all of them */
    uint32_t *take, takes;      /* that get GPUs and had none */
    uint32_t *stop, stops;      /* that had some and get none */
};

/* Sets the sums by group of an item's subtree, from its own group and GPUs and from the
 * sums of its children; NULL: there is none. */
void order_groups_sum(struct order_groups *sum, uint32_t group, uint32_t gpus,
                      const struct order_groups *left,
                      const struct order_groups *right);
/* Has a subtree an item of at most group_max[its group] GPUs?  Never false if so. */
bool order_groups_pass(const struct order_groups *sum, const uint32_t *group_max);

/* Returns storage for what is known of items, empty, in the arena. */
struct order_store *order_store_new(struct arena *arena);

/* Makes `order` empty. `rules` and `owner` stay the caller's and must outlive
 * it; `owner` is handed to the rules' functions. */
void order_init(struct order *order, struct order_store *store,
                const struct order_rules *rules, void *owner);
/* Changes which sums the order keeps; the order of its items stays.  Scratch has
 * room for all items, and may be NULL if there are none. */
void order_rule(struct order *order, const struct order_rules *rules,
                uint32_t *scratch);
/* Returns how many items are in the order.  O(1). */
static inline uint32_t order_count(const struct order *order)
{
    return rank_tree_count(&order->tree);
}

/* Is the item in this order? O(1). */
bool order_holds(const struct order *order, uint32_t item);
/* Inserts an item at the place that `before` gives it; NULL: at the end. */
void order_insert(struct order *order, uint32_t item, struct order_item known,
                  rank_tree_before_fn *before);
/* Inserts an item directly before `other`; ORDER_NONE: at the end. */
void order_insert_at(struct order *order, uint32_t item, struct order_item known,
                     uint32_t other);

/* Removes an item, which must be in it; O(log n). order_clear() removes all. */
void order_remove(struct order *order, uint32_t item);
void order_clear(struct order *order);
/* Replaces what is known of an item, or tells that its key moves in another way.
 * The item keeps its place. */
void order_touch(struct order *order, uint32_t item, struct order_item known);
/* Restores the order, stably, at now_ns.  Since the last call only time may have
 * changed keys. */
void order_refresh(struct order *order, int64_t now_ns);
/* As order_touch(), before an order_arrange(), which makes all sums anew. */
static inline void order_know(struct order *order, uint32_t item,
                              struct order_item known)
{
    assert(item < order->store->room && known.span_ns >= 0);
    order->store->slot[item].item = known;
}
/* Puts all its items in the order of a list, when all keys may have changed. */
void order_arrange(struct order *order, const uint32_t *item);
/* Returns the first place from `from` on whose item passes; the count if none
 * does. */
uint32_t order_find(struct order *order, uint32_t from,
                    const struct order_filter *filter);
/* Returns the first item in order whose stamp is below; ORDER_NONE: none. */
uint32_t order_first_stamped(const struct order *order, uint64_t below);
/* Returns how many items stand before `something`; they must all be in front of
 * those that do not.  *last is the last of them, or ORDER_NONE; it may be NULL. */
uint32_t order_front(const struct order *order, rank_tree_before_fn *before,
                     uint32_t something, uint32_t *last);
/* Gives GPUs in order: each item that fits into what is left of the budget takes
 * its GPUs.  Fills `out` with the items that must start and stop for that. */
void order_take(const struct order *order, uint64_t budget,
                struct order_dealt *out);

#endif

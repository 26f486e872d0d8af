/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.c - jobs whose keys move as said, and lists of them in order.
 *
 * The key of a job that waits stays; that of one that runs moves along a line
 * that the policy tells.  So of two neighbours in a list it is known until when
 * they stay in order: a kinetic sorted list (Basch, Guibas and Hershberger,
 * 1999).  The tree over the list keeps the first of these times, and GPUs.
 * left.c has all jobs in one such list, lanes.c in many.
 *
 * The lines only tell when to look; what is compared then are the keys, as
 * deal.c compares them.  Neighbours whose keys are as good as equal, and
 * those of a job whose line is unknown (NAN), are looked at in every deal.
 * After host_keys_overtake() a list is in order, stably: who overtook nobody
 * stands where he stood.
 */
#include "policies/host/keys.h"

#include <math.h>

#include "policies/state/deals.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/containers/rank_tree.h"

/* Keys this near, of their size, may differ by rounding alone. */
#define NEAR 1e-12
/* Whole numbers below are doubles. */
#define EXACT 0x1p53

static double line_at(const struct host_left *entry, int64_t now)
{
    return entry->key + entry->per_ns * (double)(now - entry->at_ns);
}

/* An instant before which b, right after a, has no smaller key than a; 0: look
 * every time. */
static int64_t cross_of(const struct cs_host *host, uint32_t a, uint32_t b)
{
    const struct host_left *x = &host->deals->left[a], *y = &host->deals->left[b];

    if (x->per_ns == 0 && y->per_ns == 0)
        return y->key < x->key ? 0 : CLOCK_NEVER_NS;
    int64_t now = host_now(host);
    double of_x = line_at(x, now), of_y = line_at(y, now);
    /* Alike from the beginning: the same sums for ever. */
    if (x->line.at_ns == y->line.at_ns && x->gpus == y->gpus &&
        !(x->line.key < y->line.key) && !(y->line.key < x->line.key) &&
        x->per_ns <= y->per_ns && x->per_ns >= y->per_ns)
        return CLOCK_NEVER_NS;
    if (host->deals->motion->exact && fabs(of_x) + fabs(of_y) < EXACT &&
        x->per_ns <= y->per_ns && x->per_ns >= y->per_ns)
        return of_y < of_x ? 0 : CLOCK_NEVER_NS;
    double apart = of_y - of_x - NEAR * (fabs(of_x) + fabs(of_y) +
                                         fabs(x->key) + fabs(y->key));
    double closing = x->per_ns - y->per_ns;
    if (!(apart > 0))
        return 0;
    if (closing <= 0 || apart / closing > 4e18)
        return CLOCK_NEVER_NS;
    return clock_after(now, (int64_t)(apart / closing));
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

void host_keys_sum(void *owner, uint32_t item, uint32_t left, uint32_t right)
{
    struct cs_host *host = owner;
    const struct host_left *entry = &host->deals->left[item];
    struct host_left_sum out = {
        .gpus = entry->gpus, .cross_ns = CLOCK_NEVER_NS,
        .gpus_min = entry->gpus, .running = entry->runs,
        .first = item, .last = item,
    };

    if (left != RANK_TREE_NONE) {
        const struct host_left_sum *l = &host->deals->left_sum[left];
        out.gpus += l->gpus;
        out.running += l->running;
        out.gpus_min = l->gpus_min < out.gpus_min ? l->gpus_min
                                                  : out.gpus_min;
        out.cross_ns = least(l->cross_ns, cross_of(host, l->last, item));
        out.first = l->first;
    }
    if (right != RANK_TREE_NONE) {
        const struct host_left_sum *r = &host->deals->left_sum[right];
        out.gpus += r->gpus;
        out.running += r->running;
        out.gpus_min = r->gpus_min < out.gpus_min ? r->gpus_min
                                                  : out.gpus_min;
        out.cross_ns = least(out.cross_ns,
                             least(r->cross_ns,
                                   cross_of(host, item, r->first)));
        out.last = r->last;
    }
    host->deals->left_sum[item] = out;
}

double host_keys_now(struct cs_host *host, uint32_t i)
{
    struct host_left *entry = &host->deals->left[i];
    struct job_id job = { entry->job };

    if (entry->runs && entry->at_ns != host_now(host)) {
        entry->key = host->deals->motion->key(host->self, host, job);
        entry->at_ns = host_now(host);
    }
    return entry->key;
}

/* ---- entries ---- */

static void grow(struct cs_host *host)
{
    struct arena *arena = host->parts.arena;
    uint32_t old = host->deals->left_room, room = old > 0 ? 2 * old : 256;

    host->deals->left = arena_grow(arena, host->deals->left, old, room,
                            sizeof *host->deals->left);
    host->deals->left_sum = arena_grow(arena, host->deals->left_sum, old, room,
                                sizeof *host->deals->left_sum);
    host->deals->left_spare = arena_grow(arena, host->deals->left_spare, old, room,
                                  sizeof *host->deals->left_spare);
    host->deals->left_look = arena_grow(arena, host->deals->left_look, old, room,
                                 sizeof *host->deals->left_look);
    host->deals->left_stop = arena_grow(arena, host->deals->left_stop, old, room,
                                 sizeof *host->deals->left_stop);
    host->deals->left_start = arena_grow(arena, host->deals->left_start, old, room,
                                  sizeof *host->deals->left_start);
    host->deals->left_room = room;
}

void host_keys_note(struct cs_host *host, uint32_t i)
{
    struct host_left *entry = &host->deals->left[i];
    struct job_id job = { entry->job };

    entry->runs = host_job_slot(host, job.i)->task == ID_NONE;
    entry->changed = false;
    entry->key = host->deals->motion->key(host->self, host, job);
    entry->at_ns = host_now(host);
    entry->per_ns = entry->runs
        ? host->deals->motion->per_ns(host->self, host, job) : 0;
    entry->before = entry->line;
    entry->line = (struct host_line) {
        entry->key, entry->per_ns, entry->at_ns,
    };
    entry->changed_ns = entry->at_ns;
    if (!entry->runs)
        return;
    if (!host->deals->left_sloped)
        host->deals->left_per_ns = entry->per_ns;
    host->deals->left_sloped = true;
    host->deals->left_crossing |= !(entry->per_ns >= host->deals->left_per_ns &&
                             entry->per_ns <= host->deals->left_per_ns);
}

uint32_t host_keys_make(struct cs_host *host, struct job_id job)
{
    uint32_t i;

    if (host->deals->left_spares > 0) {
        i = host->deals->left_spare[--host->deals->left_spares];
    } else {
        if (host->deals->left_count == host->deals->left_room)
            grow(host);
        i = host->deals->left_count++;
    }
    host->deals->left[i] = (struct host_left) {
        .job = job.i, .gpus = cs_job_gpus(host, job),
        .came_ns = host_now(host),
    };
    host_keys_note(host, i);
    host->deals->left[i].before = host->deals->left[i].line;
    host_job_slot(host, job.i)->left = i;
    return i;
}

/* ---- who overtakes whom ---- */

/* Notes, in order, who may have been overtaken: neighbours whose time has come.
 * Where keys rise it is the first of the two that moves, else the second. */
static void collect(struct cs_host *host, struct rank_tree *tree, uint32_t item)
{
    bool rises = host->deals->motion->rises;

    if (host->deals->left_sum[item].cross_ns > host_now(host))
        return;
    uint32_t l = tree->node[item].left;
    uint32_t r = tree->node[item].right;
    if (l != RANK_TREE_NONE) {
        uint32_t last = host->deals->left_sum[l].last;
        collect(host, tree, l);
        if (cross_of(host, last, item) <= host_now(host))
            host->deals->left_look[host->deals->left_looks++] = rises ? last : item;
    }
    if (r != RANK_TREE_NONE) {
        uint32_t first = host->deals->left_sum[r].first;
        if (cross_of(host, item, first) <= host_now(host))
            host->deals->left_look[host->deals->left_looks++] = rises ? item : first;
        collect(host, tree, r);
    }
}

static uint32_t beside(struct rank_tree *tree, uint32_t place, int step)
{
    if (step < 0 && place == 0)
        return RANK_TREE_NONE;
    return rank_tree_at(tree, place + (uint32_t)step);
}

/* To where it belongs among those before it, which are in order and of which
 * the last has a larger key.  It may pass many at once: looks ever further. */
static void go_ahead(struct cs_host *host, struct rank_tree *tree, uint32_t item,
                     uint32_t place)
{
    double key = host_keys_now(host, item);
    uint32_t high = place - 1, step = 1;    /* high: is overtaken */

    while (high >= step &&
           host_keys_now(host, rank_tree_at(tree, high - step)) > key) {
        high -= step;
        step *= 2;
    }
    uint32_t low = high >= step ? high - step + 1 : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (host_keys_now(host, rank_tree_at(tree, middle)) > key)
            high = middle;
        else
            low = middle + 1;
    }
    uint32_t before = rank_tree_at(tree, high);
    rank_tree_remove(tree, item);
    rank_tree_insert_at(tree, item, before);
}

/* The same among those after it, of which the first has a smaller key. */
static void go_back(struct cs_host *host, struct rank_tree *tree, uint32_t item,
                    uint32_t place)
{
    double key = host_keys_now(host, item);
    uint32_t count = rank_tree_count(tree), low = place + 1, step = 1;

    while (count - low > step &&
           host_keys_now(host, rank_tree_at(tree, low + step)) < key) {
        low += step;
        step *= 2;
    }
    uint32_t high = count - low > step ? low + step : count;
    low++;                      /* low: may be the first not overtaken */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (host_keys_now(host, rank_tree_at(tree, middle)) < key)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t before = rank_tree_at(tree, low);
    rank_tree_remove(tree, item);
    if (before == RANK_TREE_NONE)
        rank_tree_insert(tree, item, NULL);
    else
        rank_tree_insert_at(tree, item, before);
}

/* All before `item` are in order (rises: all after it).  Puts it, and those
 * that follow on it and are out of order as well, in their places. */
static bool settle(struct cs_host *host, struct rank_tree *tree, uint32_t item)
{
    bool rises = host->deals->motion->rises;
    uint32_t place = rank_tree_rank(tree, item);
    uint32_t other = beside(tree, place, rises ? 1 : -1);
    bool moved = false;

    while (item != RANK_TREE_NONE && other != RANK_TREE_NONE &&
           (rises ? host_keys_now(host, other) < host_keys_now(host, item)
                  : host_keys_now(host, item) < host_keys_now(host, other))) {
        uint32_t next = beside(tree, place, rises ? -1 : 1);
        if (rises)
            go_back(host, tree, item, place);
        else
            go_ahead(host, tree, item, place);
        moved = true;
        item = next;
        place += rises ? -1 : 1;
    }
    return moved;
}

/* They are in order still: until when? */
static void look_later(struct cs_host *host, struct rank_tree *tree, uint32_t item)
{
    bool rises = host->deals->motion->rises;
    uint32_t place = rank_tree_rank(tree, item);
    uint32_t other = beside(tree, place, rises ? 1 : -1);

    if (other == RANK_TREE_NONE)
        return;
    uint32_t a = rises ? item : other, b = rises ? other : item;
    if (cross_of(host, a, b) > host_now(host))
        rank_tree_touch(tree, tree->node[a].right == RANK_TREE_NONE ? a : b);
}

void host_keys_overtake(struct cs_host *host, struct rank_tree *tree)
{
    bool rises = host->deals->motion->rises;

    if (rank_tree_count(tree) == 0)
        return;
    host->deals->left_looks = 0;
    collect(host, tree, tree->root);
    for (uint32_t k = 0; k < host->deals->left_looks; k++) {
        uint32_t at = rises ? host->deals->left_looks - 1 - k : k;
        if (!settle(host, tree, host->deals->left_look[at]))
            look_later(host, tree, host->deals->left_look[at]);
    }
}

/* ---- to deal.c, and to the cluster ---- */

void host_keys_hand_over(struct cs_host *host, const uint32_t *list,
                         uint32_t count)
{
    if (count > host->deals->deal_room) {
        host->deals->deal = arena_alloc(host->parts.arena, 2 * (size_t)count,
                                 sizeof *host->deals->deal);
        host->deals->deal_room = 2 * count;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct host_left *entry = &host->deals->left[list[i]];
        host_job_slot(host, entry->job)->left = ID_NONE;
        host->deals->deal[i] = (struct host_deal) {
            .job = entry->job, .gpus = entry->gpus,
        };
    }
    host->deals->deals = count;
}

void host_keys_carry_out(struct cs_host *host)
{
    for (uint32_t k = 0; k < host->deals->left_stops; k++) {
        struct job_id job = { host->deals->left[host->deals->left_stop[k]].job };
        cs_stop(host, job);
    }
    for (uint32_t k = 0; k < host->deals->left_starts; k++) {
        struct job_id job = { host->deals->left[host->deals->left_start[k]].job };
        struct task_id task = cs_job_task(host, job, CS_ALL_ROLES);
        if (task.i != ID_NONE)
            cs_start(host, task);
    }
}

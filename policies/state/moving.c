/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * moving.c - what waits in the order of submission, as turns.c has
 * it, where the policy's order moves with time.
 *
 * What was submitted at one instant and seen when the last choice was made
 * stands in the policy's order of now.  A policy tells how the claims of tasks
 * for as many GPUs move: one sequence holds all tasks, by GPUs and then by turn,
 * and of neighbours that could overtake each other it is known until when they
 * do not (as in tops.c, from which these times are: a kinetic sorted
 * list, Basch, Guibas and Hershberger, 1999).  A search goes on in the part of
 * each number of GPUs, and who is first of those that it finds is told by
 * before().
 *
 * Kept from the first backfill on.
 */
#include <assert.h>

#include "policies/state/slots.h"
#include "policies/state/tops.h"
#include "policies/state/waiting.h"
#include "policies/state/turn.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/containers/rank_tree.h"

#define NONE RANK_TREE_NONE

struct moving_sum {             /* over a subtree */
    int64_t estimate_min_ns;
    int64_t stands_ns;          /* until then it is in order */
    uint32_t first, last;
};

struct moving_part {            /* asks for so many GPUs, in one backfill */
    uint32_t gpus;
    uint32_t passed;            /* so many of them need not be tried */
    uint32_t task;               /* the next to try, or NONE */
};

struct host_moving {
    struct rank_tree all, unseen;
    struct moving_sum *sum;     /* of `all` */
    uint32_t room;
    struct moving_part *part;   /* scratch, as are the next two */
    uint32_t parts, part_room;
    uint32_t *list, lists, list_room;
};

static bool is_in(const struct rank_tree *ranks, uint32_t task)
{
    return task < ranks->room && ranks->node[task].count > 0;
}

static bool is_seen(const struct cs_host *host, uint32_t task)
{
    return host->slots->task[task].seq < host->turn->committed_seq;
}

static int64_t submitted_ns(const struct cs_host *host, uint32_t task)
{
    uint32_t job = host->slots->task[task].pub.job.i;

    return host_job_slot(host, job)->pub.request.submit_ns;
}

/* ---- who stands before whom ---- */

static bool turn_before(const struct cs_host *host, uint32_t a, uint32_t b)
{
    int64_t first = submitted_ns(host, a), other = submitted_ns(host, b);
    bool a_seen = is_seen(host, a), b_seen = is_seen(host, b);

    if (first != other)
        return first < other;
    if (a_seen != b_seen)
        return a_seen;
    return a_seen ? host_task_before(host, a, b)
                  : host->slots->task[a].seq < host->slots->task[b].seq;
}

static bool stands_before(void *owner, uint32_t a, uint32_t b)
{
    const struct cs_host *host = owner;
    uint32_t gpus = host->slots->task[a].pub.gpus, other = host->slots->task[b].pub.gpus;

    return gpus != other ? gpus < other : turn_before(host, a, b);
}

static bool came_before(void *owner, uint32_t a, uint32_t b)
{
    const struct cs_host *host = owner;

    return host->slots->task[a].seq < host->slots->task[b].seq;
}

/* Until when `a`, right before `b`, stays there; now: no longer. */
static int64_t pair_stands_ns(const struct cs_host *host, uint32_t a,
                              uint32_t b)
{
    if (host->slots->task[a].pub.gpus != host->slots->task[b].pub.gpus ||
        submitted_ns(host, a) != submitted_ns(host, b) ||
        !is_seen(host, a) || !is_seen(host, b))
        return CLOCK_NEVER_NS;
    if (host_task_before(host, b, a))
        return host_now(host);
    return host_claim_stands_ns(host, a, b);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void sum_up(void *owner, uint32_t item, uint32_t left, uint32_t right)
{
    struct cs_host *host = owner;
    struct moving_sum *all = host->waiting->moving->sum, *sum = &all[item];

    *sum = (struct moving_sum) {
        .estimate_min_ns = host->slots->task[item].pub.estimate_ns,
        .stands_ns = CLOCK_NEVER_NS, .first = item, .last = item,
    };
    if (left != NONE) {
        sum->estimate_min_ns = least(sum->estimate_min_ns,
                                     all[left].estimate_min_ns);
        sum->stands_ns = least(all[left].stands_ns,
                               pair_stands_ns(host, all[left].last, item));
        sum->first = all[left].first;
    }
    if (right != NONE) {
        sum->estimate_min_ns = least(sum->estimate_min_ns,
                                     all[right].estimate_min_ns);
        sum->stands_ns = least(sum->stands_ns, all[right].stands_ns);
        sum->stands_ns = least(sum->stands_ns,
                               pair_stands_ns(host, item, all[right].first));
        sum->last = all[right].last;
    }
}

/* ---- in order, now ---- */

static void note(struct cs_host *host, uint32_t task)
{
    struct host_moving *moving = host->waiting->moving;

    if (moving->lists == moving->list_room) {
        uint32_t room = moving->lists > 0 ? 2 * moving->lists : 64;
        moving->list = arena_grow(host->parts.arena, moving->list,
                                  moving->lists, room, sizeof *moving->list);
        moving->list_room = room;
    }
    moving->list[moving->lists++] = task;
}

/* Looks at all pairs of which that is not known to stand, and notes, in order,
 * who has overtaken the one before. */
static void collect(struct cs_host *host, uint32_t item)
{
    const struct rank_tree_node *node = host->waiting->moving->all.node;
    const struct moving_sum *sum = host->waiting->moving->sum;
    uint32_t l = node[item].left, r = node[item].right;

    if (sum[item].stands_ns > host_now(host))
        return;
    if (l != NONE) {
        collect(host, l);
        if (stands_before(host, item, sum[l].last))
            note(host, item);
    }
    if (r != NONE) {
        if (stands_before(host, sum[r].first, item))
            note(host, sum[r].first);
        collect(host, r);
    }
    sum_up(host, item, l, r);
}

/* To its place among those before it, which are in order. */
static void go_ahead(struct cs_host *host, uint32_t task, uint32_t place)
{
    struct rank_tree *all = &host->waiting->moving->all;
    uint32_t low = 0, high = place - 1;     /* high: is overtaken */

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (stands_before(host, task, rank_tree_at(all, middle)))
            high = middle;
        else
            low = middle + 1;
    }
    uint32_t before = rank_tree_at(all, high);
    rank_tree_remove(all, task);
    rank_tree_insert_at(all, task, before);
}

/* Puts it, and those that follow on it and are out of order as well, in their
 * places; all before it are in theirs. */
static void settle(struct cs_host *host, uint32_t task)
{
    struct rank_tree *all = &host->waiting->moving->all;
    uint32_t place = rank_tree_rank(all, task);

    while (place > 0 && task != NONE &&
           stands_before(host, task, rank_tree_at(all, place - 1))) {
        uint32_t next = rank_tree_at(all, place + 1);
        go_ahead(host, task, place);
        task = next;
        place++;
    }
}

static void refresh(struct cs_host *host)
{
    struct host_moving *moving = host->waiting->moving;

    if (moving->all.root == NONE)
        return;
    moving->lists = 0;
    collect(host, moving->all.root);
    for (uint32_t i = 0; i < moving->lists; i++)
        settle(host, moving->list[i]);
}

/* ---- what comes and goes ---- */

static void insert(struct cs_host *host, uint32_t task)
{
    struct host_moving *moving = host->waiting->moving;

    if (moving->room < host->slots->task_room) {
        moving->sum = arena_grow(host->parts.arena, moving->sum, moving->room,
                                 host->slots->task_room, sizeof *moving->sum);
        moving->room = host->slots->task_room;
    }
    rank_tree_insert(&moving->all, task, stands_before);
}

void host_moving_insert(struct cs_host *host, uint32_t task)
{
    refresh(host);
    insert(host, task);
    if (!is_seen(host, task))
        rank_tree_insert(&host->waiting->moving->unseen, task, came_before);
}

void host_moving_remove(struct cs_host *host, uint32_t task)
{
    if (is_in(&host->waiting->moving->all, task))
        rank_tree_remove(&host->waiting->moving->all, task);
    if (is_in(&host->waiting->moving->unseen, task))
        rank_tree_remove(&host->waiting->moving->unseen, task);
}

void host_moving_begin(struct cs_host *host)
{
    struct host_moving *moving = arena_alloc(host->parts.arena, 1,
                                             sizeof *moving);

    assert(host->waiting->moving == NULL && host->waiting->tops != NULL);
    host->waiting->moving = moving;
    rank_tree_init(&moving->all, host->parts.arena, sum_up, host);
    rank_tree_init(&moving->unseen, host->parts.arena, NULL, host);
    for (uint32_t i = 0; i < host_order_count(host); i++)
        host_moving_insert(host, rank_tree_at(host->waiting->order, i));
}

/* First all that take other places leave: the others are in order before and
 * after. */
void host_moving_commit(struct cs_host *host, uint64_t seq)
{
    struct host_moving *moving = host->waiting->moving;
    uint32_t task;

    assert(seq >= host->turn->committed_seq);
    refresh(host);
    moving->lists = 0;
    while ((task = rank_tree_at(&moving->unseen, 0)) != NONE &&
           host->slots->task[task].seq < seq) {
        host_moving_remove(host, task);
        note(host, task);
    }
    host->turn->committed_seq = seq;
    for (uint32_t i = 0; i < moving->lists; i++)
        insert(host, moving->list[i]);
}

/* ---- searches ---- */

/* How many want at most so many GPUs. */
static uint32_t count_up_to(const struct cs_host *host, uint32_t gpus)
{
    const struct rank_tree *all = &host->waiting->moving->all;
    uint32_t at = all->root, count = 0;

    while (at != NONE) {
        uint32_t left = all->node[at].left;
        if (host->slots->task[at].pub.gpus > gpus) {
            at = left;
        } else {
            count += 1 + (left == NONE ? 0 : all->node[left].count);
            at = all->node[at].right;
        }
    }
    return count;
}

/* The place of the first below `item`, whose subtree begins at `first`, from
 * place `from` on, that is estimated to take no longer; NONE. */
static uint32_t find_below(struct cs_host *host, uint32_t item,
                           uint32_t first, uint32_t from, int64_t most_ns)
{
    const struct rank_tree_node *node = host->waiting->moving->all.node;

    if (item == NONE || first + node[item].count <= from ||
        host->waiting->moving->sum[item].estimate_min_ns > most_ns)
        return NONE;
    host->counts.tasks_seen++;
    uint32_t left = node[item].left;
    uint32_t place = first + (left == NONE ? 0 : node[left].count);
    uint32_t found = find_below(host, left, first, from, most_ns);
    if (found != NONE)
        return found;
    if (place >= from && host->slots->task[item].pub.estimate_ns <= most_ns)
        return place;
    return find_below(host, node[item].right, place + 1, from, most_ns);
}

/* Who is next of a part. */
static void look(struct cs_host *host, struct moving_part *part,
                 int64_t most_ns)
{
    struct host_moving *moving = host->waiting->moving;
    uint32_t begin = part->gpus > 0 ? count_up_to(host, part->gpus - 1) : 0;
    uint32_t place = find_below(host, moving->all.root, 0,
                                begin + part->passed, most_ns);
    uint32_t task = place == NONE ? NONE : rank_tree_at(&moving->all, place);

    part->task = NONE;
    if (task == NONE || host->slots->task[task].pub.gpus != part->gpus)
        return;
    part->task = task;
    part->passed = place - begin;
}

void host_moving_first(struct cs_host *host, int64_t most_ns)
{
    struct host_moving *moving = host->waiting->moving;
    uint32_t place = 0, task;

    refresh(host);
    moving->parts = 0;
    while ((task = rank_tree_at(&moving->all, place)) != NONE) {
        struct moving_part part = { .gpus = host->slots->task[task].pub.gpus };
        if (moving->parts == moving->part_room) {
            uint32_t room = moving->parts > 0 ? 2 * moving->parts : 16;
            moving->part = arena_grow(host->parts.arena, moving->part,
                                      moving->parts, room,
                                      sizeof *moving->part);
            moving->part_room = room;
        }
        look(host, &part, most_ns);
        moving->part[moving->parts++] = part;
        place = count_up_to(host, part.gpus);
    }
}

static struct moving_part *best(struct cs_host *host, uint32_t gpus_max)
{
    struct host_moving *moving = host->waiting->moving;
    struct moving_part *found = NULL;

    for (uint32_t i = 0; i < moving->parts; i++) {
        struct moving_part *part = &moving->part[i];
        if (part->gpus > gpus_max)
            break;              /* they stand by GPUs */
        if (part->task != NONE &&
            (found == NULL || turn_before(host, part->task, found->task)))
            found = part;
    }
    return found;
}

uint32_t host_moving_next(struct cs_host *host, uint32_t gpus_max)
{
    const struct moving_part *part = best(host, gpus_max);

    return part == NULL ? ID_NONE : part->task;
}

void host_moving_tried(struct cs_host *host, uint32_t task, int64_t most_ns)
{
    struct host_moving *moving = host->waiting->moving;

    for (uint32_t i = 0; i < moving->parts; i++)
        if (moving->part[i].task == task) {
            moving->part[i].passed += is_in(&moving->all, task);
            look(host, &moving->part[i], most_ns);
            return;
        }
    assert(false);
}

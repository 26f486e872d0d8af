/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deal.c - GPUs step by step, to the shorter job unless the longer gains enough more
 * that both are better off: the rule of AFS-L (policies/elastic/afs.c).
 *
 * Who wins against all others is found by a contest in the order of submission, as the
 * rule is not transitive.  Most of it is spared.  Which classes of steps stand above
 * which says step_class.h.
 *
 * Levels: deal_levels.c takes the steps of whole classes at once, while it can.
 *
 * Heaps: else the first of each class is found by a heap, and a GPU goes to the one
 * of them that wins against all others.
 *
 * Contest: where none does, or there are too many classes, each GPU goes to the winner
 * of a contest in the order of submission, which is what the rule is.
 */
#include <assert.h>
#include <string.h>

#include "policies/policy.h"
#include "policies/solve/deal.h"
#include "policies/solve/step_class.h"

/* ---- the rule ---- */

/* Time to the end at the speed now; jobs that have none go by what is left.
 * Of equals the one that was submitted first. */
static bool ends_first(const struct deal_job *x, const struct deal_job *y)
{
    bool both = x->now.gpus > 0 && y->now.gpus > 0;
    double a = both ? x->end_s : x->left_s, b = both ? y->end_s : y->left_s;

    return a != b ? a < b : x < y;
}

/* Does x get the next GPU rather than y?  Of two without GPUs the one that would end
 * first. */
static bool wins(const struct deal_job *x, const struct deal_job *y)
{
    bool first = ends_first(x, y);

    if (!(x->now.speedup > 0) && !(y->now.speedup > 0))
        return first;
    const struct deal_job *a = first ? x : y, *b = first ? y : x;
    bool to_b = is_above(b->now.speedup, b->next.speedup, a->now.speedup,
                         a->next.speedup);

    return to_b != first;
}

/* ---- heaps ---- */

/* Joins two pairing heaps of a class: the root that ends later becomes a child of the other. */
static uint32_t join(struct cs_deal *deal, uint32_t a, uint32_t b)
{
    if (a == NONE || b == NONE)
        return a == NONE ? b : a;
    if (ends_first(&deal->job[b], &deal->job[a])) {
        uint32_t was = a;
        a = b;
        b = was;
    }
    deal->next[b] = deal->child[a];
    deal->child[a] = b;
    return a;
}

/* Puts a job into the heap of the class of its next step. */
static void push_job(struct cs_deal *deal, uint32_t i)
{
    struct step_class *class = &deal->classes.class[deal->job[i].next.class];

    deal->child[i] = deal->next[i] = NONE;
    class->root = join(deal, class->root, i);
    set_put(&deal->classes.live, deal->job[i].next.class);
}

/* Takes the first job out of a class: its children are joined in pairs, then all. */
static void pop_job(struct cs_deal *deal, uint32_t k)
{
    uint32_t child = deal->child[deal->classes.class[k].root], pairs = NONE, all = NONE;

    while (child != NONE) {
        uint32_t a = child, b = deal->next[a];
        child = b == NONE ? NONE : deal->next[b];
        a = join(deal, a, b);
        deal->next[a] = pairs;
        pairs = a;
    }
    while (pairs != NONE) {
        uint32_t pair = pairs;
        pairs = deal->next[pair];
        all = join(deal, all, pair);
    }
    deal->classes.class[k].root = all;
    if (all == NONE)
        set_drop(&deal->classes.live, k);
}

/* Jobs whose steps are larger than the room have no more steps. */
static void drop_unfit(struct cs_deal *deal, uint64_t room)
{
    for (EACH_CLASS(k, &deal->classes.live))
        while (set_has(&deal->classes.live, k) &&
               step_of(&deal->job[deal->classes.class[k].root]) > room)
            pop_job(deal, k);
}

/* Does the first of a class win against the first ones of all others, and so against
 * all their jobs? */
static bool wins_all(const struct cs_deal *deal, uint32_t k)
{
    const struct step_class *class = &deal->classes.class[k];
    const struct deal_job *job = &deal->job[class->root];

    if (set_meet(&class->above, &deal->classes.live))
        return false;
    for (EACH_CLASS(l, &deal->classes.live))
        if (l != k && !set_has(&class->below, l) &&
            !ends_first(job, &deal->job[deal->classes.class[l].root]))
            return false;
    return true;
}

/* Deals by heaps as long as somebody wins against all; returns what is left of the
 * room. */
static uint64_t deal_heaps(struct cs_deal *deal, uint64_t room)
{
    memset(&deal->classes.live, 0, sizeof deal->classes.live);
    for (uint32_t i = 0; room > 0 && i < deal->count; i++)
        if (deal->job[i].next.gpus > 0)
            push_job(deal, i);
    while (room > 0) {
        uint32_t k;
        drop_unfit(deal, room);
        k = set_find_from(&deal->classes.live, 0);
        while (k < CLASSES && !wins_all(deal, k))
            k = set_find_from(&deal->classes.live, k + 1);
        if (k == CLASSES)
            return room;
        uint32_t i = deal->classes.class[k].root;
        struct deal_job *job = &deal->job[i];
        struct step_size then = deal_look_ahead(deal, job);
        pop_job(deal, k);
        assert(step_of(job) <= room);
        room -= step_of(job);
        deal_take_step(job, then);
        if (deal->classes.full)
            return room;
        if (then.gpus > 0)
            push_job(deal, i);
    }
    return room;
}

/* ---- the contest ---- */

/* The larger of a step in GPUs and the widest one so far. */
static uint32_t find_widest(const struct deal_job *job, uint32_t widest)
{
    uint32_t step = job->next.gpus ? step_of(job) : 0;

    return step > widest ? step : widest;
}

/* Goes on with the contest from job `from`: each job that wins against the last winner becomes
 * the next one.  Jobs without a step, or whose step is larger than the room, do not take part. */
static void hold_contest(struct cs_deal *deal, uint32_t from, uint64_t room,
                         uint32_t *winners)
{
    const struct deal_job *best = NULL;

    if (*winners > 0)
        best = &deal->job[deal->won[*winners - 1]];
    for (uint32_t i = from; i < deal->count; i++) {
        const struct deal_job *job = &deal->job[i];
        if (job->next.gpus == 0 || step_of(job) > room)
            continue;
        if (best != NULL && !wins(job, best))
            continue;
        deal->won[(*winners)++] = i;
        best = job;
    }
}

/* Gives GPUs one by one.  The winner among the jobs before one still wins after
 * that one got a GPU, unless one of them could have taken more than is left; so
 * the contest goes on from there, and not from the first job. */
static void deal_contest(struct cs_deal *deal, uint64_t room)
{
    uint32_t winners = 0, from = 0, widest = 0;

    for (uint32_t i = 0; i < deal->count; i++)
        widest = find_widest(&deal->job[i], widest);
    while (room > 0) {
        hold_contest(deal, from, room, &winners);
        if (winners == 0)
            return;
        from = deal->won[--winners];
        struct deal_job *job = &deal->job[from];
        room -= step_of(job);
        deal_take_step(job, deal_look_ahead(deal, job));
        widest = find_widest(job, widest);
        if (widest > room)
            winners = from = 0;
    }
}

/* ---- a deal ---- */

/* Lists are one longer than the jobs that there may be. */
static void make_room(struct cs_deal *deal, uint32_t count)
{
    if (count <= deal->room && deal->room > 0)
        return;
    deal->job = cs_grow(deal->host, deal->job, &deal->room, count, sizeof *deal->job);
    deal->next = cs_alloc(deal->host, deal->room, sizeof *deal->next);
    deal->child = cs_alloc(deal->host, deal->room, sizeof *deal->child);
    deal->key = cs_alloc(deal->host, deal->room, sizeof *deal->key);
    deal->won = cs_alloc(deal->host, deal->room, sizeof *deal->won);
}

struct cs_deal *cs_make_deal(struct cs_host *host, cs_next_size *next_size, void *self)
{
    struct cs_deal *deal = cs_alloc(host, 1, sizeof *deal);

    deal->host = host;
    deal->next_size = next_size;
    deal->self = self;
    deal->classes.epoch = 1;
    return deal;
}

void cs_deal_gpus(struct cs_deal *deal, struct cs_deal_job *job, uint32_t count,
                  uint64_t room)
{

    make_room(deal, count);
    clear_classes(&deal->classes);
    deal->count = count;
    for (uint32_t i = 0; i < count; i++)
        deal_begin_job(deal, &deal->job[i], &job[i]);
    if (!deal->classes.full)
        room = deal_levels(deal, room);
    if (!deal->classes.full)
        room = deal_heaps(deal, room);
    if (room > 0)
        deal_contest(deal, room);
    for (uint32_t i = 0; i < count; i++)
        job[i].gpus = deal->job[i].now.gpus;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host_left.c - cs_deal() by what is left, without a look at every job.
 *
 * The list is the one of host_deal.c: stably sorted by what is left, from deal
 * to deal.  What is left of a job that waits stays; of all that run it falls by
 * one nanosecond in a nanosecond.  So two jobs change places only where one
 * that runs overtakes one that waits, right before it in the list, at a time
 * known beforehand: a kinetic sorted list (Basch, Guibas and Hershberger,
 * 1999).  The tree over the list keeps the first of these times, and GPUs, so
 * that a deal costs the logarithm of the list for every job that overtakes
 * others, starts or stops.
 *
 * It holds for jobs of one phase of known length that start at once and are
 * not interrupted by failures.  Any other turns the deals over to host_deal.c
 * for good.
 */
#include <assert.h>

#include "policies/host_state.h"
#include "sim/arena.h"

/* The keys of cs_deal() are doubles: above, two may be equal that are not. */
#define EXACT_MAX_NS (INT64_C(1) << 53)

static double left_key(const void *self, const struct cs_host *host,
                       struct job_id job)
{
    (void)self;
    return (double)cs_left_ns(host, job);
}

static int64_t left_of(const struct cs_host *host, uint32_t i)
{
    const struct host_left *entry = &host->left[i];

    if (!entry->runs)
        return entry->left_ns;
    int64_t left = entry->end_ns - host_now(host);
    return left > 0 ? left : 0;
}

/* The first instant at which b, right after a, has less left than a. */
static int64_t cross_of(const struct cs_host *host, uint32_t a, uint32_t b)
{
    const struct host_left *x = &host->left[a], *y = &host->left[b];

    if (x->runs || !y->runs || x->left_ns == 0)
        return CLOCK_NEVER_NS;
    return y->end_ns - x->left_ns + 1;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static void sum(void *owner, uint32_t item, uint32_t left, uint32_t right)
{
    struct cs_host *host = owner;
    const struct host_left *entry = &host->left[item];
    struct host_left_sum out = {
        .gpus = entry->gpus, .cross_ns = CLOCK_NEVER_NS,
        .gpus_min = entry->gpus, .running = entry->runs,
        .first = item, .last = item,
    };

    if (left != RANKS_NONE) {
        const struct host_left_sum *l = &host->left_sum[left];
        out.gpus += l->gpus;
        out.running += l->running;
        out.gpus_min = l->gpus_min < out.gpus_min ? l->gpus_min
                                                  : out.gpus_min;
        out.cross_ns = least(l->cross_ns, cross_of(host, l->last, item));
        out.first = l->first;
    }
    if (right != RANKS_NONE) {
        const struct host_left_sum *r = &host->left_sum[right];
        out.gpus += r->gpus;
        out.running += r->running;
        out.gpus_min = r->gpus_min < out.gpus_min ? r->gpus_min
                                                  : out.gpus_min;
        out.cross_ns = least(out.cross_ns,
                             least(r->cross_ns,
                                   cross_of(host, item, r->first)));
        out.last = r->last;
    }
    host->left_sum[item] = out;
}

static bool goes_before(void *owner, uint32_t a, uint32_t b)
{
    return left_of(owner, a) < left_of(owner, b);
}

static bool goes_not_after(void *owner, uint32_t a, uint32_t b)
{
    return left_of(owner, a) <= left_of(owner, b);
}

/* ---- can it be done so? ---- */

static bool steady(const struct host_form *form)
{
    const struct role_spec *role = &form->form->role[0];

    return form->fixed && !form->form->paced &&
           form->form->packing == NULL &&
           form->form->role_count == 1 &&
           !(role->load_bytes > 0) && !(role->start_s > 0) &&
           !(role->wake_s > 0);
}

static void choose(struct cs_host *host)
{
    if (host->spec->failures != NULL)
        host->left_plain = true;
    for (; host->left_forms < host->form_count; host->left_forms++)
        if (!steady(&host->form[host->left_forms]))
            host->left_plain = true;
}

/* ---- the list, up to date ---- */

static void grow(struct cs_host *host)
{
    struct arena *arena = host->parts.arena;
    uint32_t old = host->left_room, room = old > 0 ? 2 * old : 256;

    host->left = arena_grow(arena, host->left, old, room,
                            sizeof *host->left);
    host->left_sum = arena_grow(arena, host->left_sum, old, room,
                                sizeof *host->left_sum);
    host->left_spare = arena_grow(arena, host->left_spare, old, room,
                                  sizeof *host->left_spare);
    host->left_moved = arena_grow(arena, host->left_moved, old, room,
                                  sizeof *host->left_moved);
    host->left_stop = arena_grow(arena, host->left_stop, old, room,
                                 sizeof *host->left_stop);
    host->left_start = arena_grow(arena, host->left_start, old, room,
                                  sizeof *host->left_start);
    host->left_room = room;
}

static void add(struct cs_host *host, struct job_id job)
{
    uint32_t i;

    if (host->left_spares > 0) {
        i = host->left_spare[--host->left_spares];
    } else {
        if (host->left_count == host->left_room)
            grow(host);
        i = host->left_count++;
    }
    host->left[i] = (struct host_left) {
        .job = job.i, .gpus = cs_job_gpus(host, job),
        .left_ns = cs_left_ns(host, job),
    };
    host->left_plain |= host->left[i].left_ns >= EXACT_MAX_NS;
    host_job_slot(host, job.i)->left = i;
    ranks_insert(host->lefts, i, goes_before);
}

static void drop_ended(struct cs_host *host)
{
    for (uint32_t k = 0; k < host->left_endeds; k++) {
        ranks_remove(host->lefts, host->left_ended[k]);
        host->left_spare[host->left_spares++] = host->left_ended[k];
    }
    host->left_endeds = 0;
}

/* The first job, in order, that has come to have less left than the one before
 * it; there is one. */
static uint32_t overtaker(const struct cs_host *host)
{
    const struct ranks_node *node = host->lefts->node;
    uint32_t at = host->lefts->root;
    int64_t now = host_now(host);

    for (;;) {
        uint32_t l = node[at].left, r = node[at].right;
        assert(host->left_sum[at].cross_ns <= now);
        if (l != RANKS_NONE && host->left_sum[l].cross_ns <= now)
            at = l;
        else if (l != RANKS_NONE &&
                 cross_of(host, host->left_sum[l].last, at) <= now)
            return at;
        else if (cross_of(host, at, host->left_sum[r].first) <= now)
            return host->left_sum[r].first;
        else
            at = r;
    }
}

/* The job at that place goes before all that have more left than it; those
 * before it are in order.  It may pass many at once: looks ever further. */
static void go_ahead(struct cs_host *host, uint32_t item, uint32_t place)
{
    struct ranks *lefts = host->lefts;
    int64_t left = left_of(host, item);
    uint32_t high = place - 1, step = 1;    /* high: is overtaken */

    assert(left_of(host, ranks_at(lefts, high)) > left);
    while (high >= step && left_of(host, ranks_at(lefts, high - step)) > left) {
        high -= step;
        step *= 2;
    }
    uint32_t low = high >= step ? high - step + 1 : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (left_of(host, ranks_at(lefts, middle)) > left)
            high = middle;
        else
            low = middle + 1;
    }
    uint32_t before = ranks_at(lefts, high);
    ranks_remove(lefts, item);
    ranks_insert_at(lefts, item, before);
}

static void overtake(struct cs_host *host)
{
    struct ranks *lefts = host->lefts;

    while (ranks_count(lefts) > 0 &&
           host->left_sum[lefts->root].cross_ns <= host_now(host)) {
        uint32_t item = overtaker(host);
        go_ahead(host, item, ranks_rank(lefts, item));
    }
}

/* Jobs that were stopped at a cost have more left than they had: they move
 * back, and stay before those with as much, which stood behind them. */
static void move_back(struct cs_host *host)
{
    for (uint32_t k = host->left_moveds; k-- > 0;)
        ranks_insert(host->lefts, host->left_moved[k], goes_not_after);
    host->left_moveds = 0;
}

/* Hands the list over. */
static void turn_over(struct cs_host *host)
{
    drop_ended(host);
    overtake(host);
    move_back(host);
    uint32_t count = ranks_count(host->lefts);

    host->deal = arena_alloc(host->parts.arena, count + 1,
                             sizeof *host->deal);
    host->deal_room = count + 1;
    for (uint32_t i = 0; i < count; i++) {
        const struct host_left *entry =
            &host->left[ranks_at(host->lefts, i)];
        host->deal[host->deals++] = (struct host_deal) {
            .job = entry->job, .gpus = entry->gpus,
        };
    }
    host->lefts = NULL;
}

static void refresh(struct cs_host *host)
{
    drop_ended(host);
    overtake(host);
    move_back(host);
    for (; host->deal_seen < host->job_count; host->deal_seen++) {
        struct job_id job = { host->deal_seen };
        if (!host_job_over(host, job.i))
            add(host, job);
    }
}

/* ---- the deal ---- */

/* Jobs of a subtree that wait, or that run, in order. */
static void pick(struct cs_host *host, uint32_t item, bool runs)
{
    if (item == RANKS_NONE)
        return;
    const struct ranks_node *node = &host->lefts->node[item];
    uint32_t running = host->left_sum[item].running;
    if ((runs ? running : node->count - running) == 0)
        return;
    pick(host, node->left, runs);
    if (host->left[item].runs == runs && runs)
        host->left_stop[host->left_stops++] = item;
    else if (host->left[item].runs == runs)
        host->left_start[host->left_starts++] = item;
    pick(host, node->right, runs);
}

/* In order, who fits into the room takes his; returns what is left of it. */
static uint64_t deal(struct cs_host *host, uint32_t item, uint64_t room)
{
    if (item == RANKS_NONE)
        return room;
    const struct host_left_sum *all = &host->left_sum[item];
    const struct host_left *entry = &host->left[item];
    if (all->gpus <= room) {
        pick(host, item, false);
        return room - all->gpus;
    }
    if (all->gpus_min > room) {
        pick(host, item, true);
        return room;
    }
    room = deal(host, host->lefts->node[item].left, room);
    bool fits = entry->gpus <= room;
    if (fits)
        room -= entry->gpus;
    if (fits && !entry->runs)
        host->left_start[host->left_starts++] = item;
    if (!fits && entry->runs)
        host->left_stop[host->left_stops++] = item;
    return deal(host, host->lefts->node[item].right, room);
}

static void stop(struct cs_host *host, uint32_t i)
{
    struct host_left *entry = &host->left[i];
    struct job_id job = { entry->job };
    int64_t before = left_of(host, i);

    if (cs_stop(host, job) != CS_DONE)
        return;
    entry->runs = false;
    entry->left_ns = cs_left_ns(host, job);
    assert(entry->left_ns >= before);
    host->left_plain |= entry->left_ns >= EXACT_MAX_NS;
    if (entry->left_ns == before) {
        ranks_touch(host->lefts, i);
        return;
    }
    ranks_remove(host->lefts, i);
    host->left_moved[host->left_moveds++] = i;
}

static void start(struct cs_host *host, uint32_t i)
{
    struct host_left *entry = &host->left[i];
    struct job_id job = { entry->job };

    if (cs_start(host, cs_job_ask(host, job, CS_ALL_ROLES)) != CS_DONE)
        return;
    assert(cs_left_ns(host, job) == entry->left_ns);
    entry->runs = true;
    entry->end_ns = host_now(host) + entry->left_ns;
    ranks_touch(host->lefts, i);
}

void cs_deal_left(struct cs_host *host)
{
    assert(!host_per_phase(host));
    choose(host);
    if (host->lefts == NULL && !host->left_plain) {
        host->lefts = arena_alloc(host->parts.arena, 1, sizeof *host->lefts);
        ranks_init(host->lefts, host->parts.arena, sum, host);
    }
    if (host->left_plain) {
        if (host->lefts != NULL)
            turn_over(host);
        cs_deal(host, left_key);
        return;
    }
    refresh(host);
    host->left_stops = host->left_starts = 0;
    deal(host, host->lefts->root, cs_total_gpus(host, 0));
    for (uint32_t k = 0; k < host->left_stops; k++)
        stop(host, host->left_stop[k]);
    for (uint32_t k = 0; k < host->left_starts; k++)
        start(host, host->left_start[k]);
}

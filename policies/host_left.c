/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host_left.c - cs_deal() without a look at every job, where keys move as said.
 *
 * The list is the one of host_deal.c: stably sorted by key, from deal to deal.
 * The key of a job that waits stays; that of one that runs moves along a line
 * that the policy tells.  So of two neighbours in the list it is known until
 * when they stay in order: a kinetic sorted list (Basch, Guibas and Hershberger,
 * 1999).  The tree over the list keeps the first of these times, and GPUs, so
 * that a deal costs the logarithm of the list for every job that overtakes
 * others, starts or stops.
 *
 * The lines only tell when to look; what is compared then are the keys, as
 * host_deal.c compares them.  Neighbours whose keys are as good as equal, and
 * those of a job whose line is unknown (NAN), are looked at in every deal.
 * Failures turn the deals over to host_deal.c: with them what is left of a job
 * may change while it waits.
 */
#include <assert.h>
#include <math.h>

#include "policies/host_state.h"
#include "sim/arena.h"

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
    const struct host_left *x = &host->left[a], *y = &host->left[b];

    if (x->per_ns == 0 && y->per_ns == 0)
        return y->key < x->key ? 0 : CLOCK_NEVER_NS;
    int64_t now = host_now(host);
    double of_x = line_at(x, now), of_y = line_at(y, now);
    if (host->motion->exact && fabs(of_x) + fabs(of_y) < EXACT &&
        x->per_ns <= y->per_ns && x->per_ns >= y->per_ns)
        return of_y < of_x ? 0 : CLOCK_NEVER_NS;
    double apart = of_y - of_x - NEAR * (fabs(of_x) + fabs(of_y) +
                                         fabs(x->key) + fabs(y->key));
    double closing = x->per_ns - y->per_ns;
    if (!(apart > 0))
        return 0;
    if (closing <= 0 || apart / closing > 4e18)
        return CLOCK_NEVER_NS;
    return host_after(now, (int64_t)(apart / closing));
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

/* The key that the policy gives now. */
static double key_of(struct cs_host *host, uint32_t i)
{
    struct host_left *entry = &host->left[i];
    struct job_id job = { entry->job };

    if (entry->runs && entry->at_ns != host_now(host)) {
        entry->key = host->motion->key(host->self, host, job);
        entry->at_ns = host_now(host);
    }
    return entry->key;
}

static bool goes_before(void *owner, uint32_t a, uint32_t b)
{
    return key_of(owner, a) < key_of(owner, b);
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
    host->left_look = arena_grow(arena, host->left_look, old, room,
                                 sizeof *host->left_look);
    host->left_stop = arena_grow(arena, host->left_stop, old, room,
                                 sizeof *host->left_stop);
    host->left_start = arena_grow(arena, host->left_start, old, room,
                                  sizeof *host->left_start);
    host->left_room = room;
}

/* The job waits now, or runs. */
static void note_state(struct cs_host *host, uint32_t i)
{
    struct host_left *entry = &host->left[i];
    struct job_id job = { entry->job };

    entry->runs = host_job_slot(host, job.i)->ask == ID_NONE;
    entry->changed = false;
    entry->key = host->motion->key(host->self, host, job);
    entry->at_ns = host_now(host);
    entry->per_ns = 0;
    if (!entry->runs)
        return;
    entry->per_ns = host->motion->per_ns(host->self, host, job);
    if (!host->left_sloped)
        host->left_per_ns = entry->per_ns;
    host->left_sloped = true;
    host->left_crossing |= !(entry->per_ns >= host->left_per_ns &&
                             entry->per_ns <= host->left_per_ns);
}

static void add(struct cs_host *host, struct job_id job,
                ranks_before_fn *before)
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
    };
    note_state(host, i);
    host_job_slot(host, job.i)->left = i;
    ranks_insert(host->lefts, i, before);
}

/* Jobs that ended leave; of those that were started or stopped, by the last
 * deal or by others, the line is another. */
static void take_news(struct cs_host *host)
{
    for (uint32_t k = 0; k < host->left_changeds; k++) {
        uint32_t i = host->left_changed[k];
        if (host->left[i].over)
            continue;
        if (host->motion->still)
            ranks_remove(host->lefts, i);
        note_state(host, i);
        if (!host->motion->still)
            ranks_touch(host->lefts, i);
    }
    for (uint32_t k = 0; k < host->left_changeds; k++)
        if (host->motion->still && !host->left[host->left_changed[k]].over)
            ranks_insert(host->lefts, host->left_changed[k], goes_before);
    host->left_changeds = 0;
    for (uint32_t k = 0; k < host->left_endeds; k++) {
        ranks_remove(host->lefts, host->left_ended[k]);
        host->left_spare[host->left_spares++] = host->left_ended[k];
    }
    host->left_endeds = 0;
}

/* ---- who overtakes whom ---- */

/* Notes, in order, who may have been overtaken: neighbours whose time has come.
 * Where keys rise it is the first of the two that moves, else the second. */
static void collect(struct cs_host *host, uint32_t item, bool rises)
{
    if (host->left_sum[item].cross_ns > host_now(host))
        return;
    uint32_t l = host->lefts->node[item].left;
    uint32_t r = host->lefts->node[item].right;
    if (l != RANKS_NONE) {
        uint32_t last = host->left_sum[l].last;
        collect(host, l, rises);
        if (cross_of(host, last, item) <= host_now(host))
            host->left_look[host->left_looks++] = rises ? last : item;
    }
    if (r != RANKS_NONE) {
        uint32_t first = host->left_sum[r].first;
        if (cross_of(host, item, first) <= host_now(host))
            host->left_look[host->left_looks++] = rises ? item : first;
        collect(host, r, rises);
    }
}

static uint32_t beside(struct cs_host *host, uint32_t place, int step)
{
    if (step < 0 && place == 0)
        return RANKS_NONE;
    return ranks_at(host->lefts, place + (uint32_t)step);
}

/* To where it belongs among those before it, which are in order and of which
 * the last has a larger key.  It may pass many at once: looks ever further. */
static void go_ahead(struct cs_host *host, uint32_t item, uint32_t place)
{
    struct ranks *lefts = host->lefts;
    double key = key_of(host, item);
    uint32_t high = place - 1, step = 1;    /* high: is overtaken */

    while (high >= step && key_of(host, ranks_at(lefts, high - step)) > key) {
        high -= step;
        step *= 2;
    }
    uint32_t low = high >= step ? high - step + 1 : 0;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (key_of(host, ranks_at(lefts, middle)) > key)
            high = middle;
        else
            low = middle + 1;
    }
    uint32_t before = ranks_at(lefts, high);
    ranks_remove(lefts, item);
    ranks_insert_at(lefts, item, before);
}

/* The same among those after it, of which the first has a smaller key. */
static void go_back(struct cs_host *host, uint32_t item, uint32_t place)
{
    struct ranks *lefts = host->lefts;
    double key = key_of(host, item);
    uint32_t count = ranks_count(lefts), low = place + 1, step = 1;

    while (count - low > step &&
           key_of(host, ranks_at(lefts, low + step)) < key) {
        low += step;
        step *= 2;
    }
    uint32_t high = count - low > step ? low + step : count;
    low++;                      /* low: may be the first not overtaken */
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (key_of(host, ranks_at(lefts, middle)) < key)
            low = middle + 1;
        else
            high = middle;
    }
    uint32_t before = ranks_at(lefts, low);
    ranks_remove(lefts, item);
    if (before == RANKS_NONE)
        ranks_insert(lefts, item, NULL);
    else
        ranks_insert_at(lefts, item, before);
}

/* All before `item` are in order (rises: all after it).  Puts it, and those
 * that follow on it and are out of order as well, in their places. */
static bool settle(struct cs_host *host, uint32_t item, bool rises)
{
    uint32_t place = ranks_rank(host->lefts, item);
    uint32_t other = beside(host, place, rises ? 1 : -1);
    bool moved = false;

    while (item != RANKS_NONE && other != RANKS_NONE &&
           (rises ? key_of(host, other) < key_of(host, item)
                  : key_of(host, item) < key_of(host, other))) {
        uint32_t next = beside(host, place, rises ? -1 : 1);
        if (rises)
            go_back(host, item, place);
        else
            go_ahead(host, item, place);
        moved = true;
        item = next;
        place += rises ? -1 : 1;
    }
    return moved;
}

/* They are in order still: until when? */
static void look_later(struct cs_host *host, uint32_t item, bool rises)
{
    uint32_t place = ranks_rank(host->lefts, item);
    uint32_t other = beside(host, place, rises ? 1 : -1);

    if (other == RANKS_NONE)
        return;
    uint32_t a = rises ? item : other, b = rises ? other : item;
    if (cross_of(host, a, b) > host_now(host))
        ranks_touch(host->lefts,
                    host->lefts->node[a].right == RANKS_NONE ? a : b);
}

static void overtake(struct cs_host *host)
{
    bool rises = host->motion->rises;

    if (ranks_count(host->lefts) == 0)
        return;
    host->left_looks = 0;
    collect(host, host->lefts->root, rises);
    for (uint32_t k = 0; k < host->left_looks; k++) {
        uint32_t at = rises ? host->left_looks - 1 - k : k;
        if (!settle(host, host->left_look[at], rises))
            look_later(host, host->left_look[at], rises);
    }
}

/* ---- from one list to the other ---- */

/* Where jobs that run have lines of different slope they cross each other
 * without end, though it matters only who crosses one that waits: while few
 * wait, a look at all costs less. */
#define FEW_WAIT 2u             /* times those that run */
#define MANY_WAIT 6u

static bool worth_it(const struct cs_host *host)
{
    uint32_t running = cs_running_count(host);
    uint32_t waiting = host_order_count(host);

    if (!host->left_crossing)
        return true;
    return waiting > (host->lefts != NULL ? FEW_WAIT : MANY_WAIT) * running;
}

static void take_over(struct cs_host *host)
{
    if (host->left_tree == NULL) {
        host->left_tree = arena_alloc(host->parts.arena, 1,
                                      sizeof *host->left_tree);
        ranks_init(host->left_tree, host->parts.arena, sum, host);
    }
    host->lefts = host->left_tree;
    host->left_count = host->left_spares = 0;
    for (uint32_t k = 0; k < host->deals; k++) {
        struct job_id job = { host->deal[k].job };
        if (!host_job_over(host, job.i))
            add(host, job, NULL);
    }
    host->deals = 0;
}

static void turn_over(struct cs_host *host)
{
    take_news(host);
    uint32_t count = ranks_count(host->lefts);

    if (count > host->deal_room) {
        host->deal = arena_alloc(host->parts.arena, 2 * (size_t)count,
                                 sizeof *host->deal);
        host->deal_room = 2 * count;
    }
    uint32_t *list = host_list_room(host, count);
    ranks_list(host->lefts, list);
    ranks_clear(host->lefts);
    for (uint32_t i = 0; i < count; i++) {
        const struct host_left *entry = &host->left[list[i]];
        host_job_slot(host, entry->job)->left = ID_NONE;
        host->deal[i] = (struct host_deal) {
            .job = entry->job, .gpus = entry->gpus,
        };
    }
    host->deals = count;
    host->lefts = NULL;
}

/* All keys are others: merge sort, stable. */
static void sort_anew(struct cs_host *host)
{
    uint32_t count = ranks_count(host->lefts);
    uint32_t *from, *to;

    if (count == 0)
        return;
    from = host_list_room(host, 2 * count);
    to = from + count;
    ranks_list(host->lefts, from);
    for (uint32_t i = 0; i < count; i++)
        note_state(host, from[i]);
    for (uint64_t width = 1; width < count; width *= 2) {
        uint32_t out = 0;
        for (uint64_t low = 0; low < count; low += 2 * width) {
            uint64_t middle = low + width < count ? low + width : count;
            uint64_t high = middle + width < count ? middle + width : count;
            uint64_t i = low, j = middle;
            while (i < middle || j < high) {
                bool second = i == middle ||
                    (j < high && host->left[from[j]].key <
                                     host->left[from[i]].key);
                to[out++] = second ? from[j++] : from[i++];
            }
        }
        uint32_t *swap = from;
        from = to;
        to = swap;
    }
    ranks_reorder(host->lefts, from);
}

static void refresh(struct cs_host *host)
{
    take_news(host);
    if (host->motion->anew)
        sort_anew(host);
    else
        overtake(host);
    for (; host->deal_seen < host->job_count; host->deal_seen++) {
        struct job_id job = { host->deal_seen };
        if (!host_job_over(host, job.i))
            add(host, job, goes_before);
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

void cs_deal_note(struct cs_host *host, struct job_id job)
{
    host_left_change(host, host_job_slot(host, job.i));
}

void cs_deal_moving(struct cs_host *host, const struct cs_motion *motion)
{
    assert(!host_per_phase(host) && motion->key != NULL);
    bool worth = host->spec->failures == NULL &&
                 host->rules->tick_ns == 0 && worth_it(host);
    host->motion = motion;
    if (host->lefts == NULL && worth)
        take_over(host);
    else if (host->lefts != NULL && !worth)
        turn_over(host);
    if (!worth) {
        cs_deal(host, motion->key);
        return;
    }
    refresh(host);
    host->left_stops = host->left_starts = 0;
    deal(host, host->lefts->root, cs_total_gpus(host, 0));
    for (uint32_t k = 0; k < host->left_stops; k++) {
        struct job_id job = { host->left[host->left_stop[k]].job };
        cs_stop(host, job);
    }
    for (uint32_t k = 0; k < host->left_starts; k++) {
        struct job_id job = { host->left[host->left_start[k]].job };
        struct ask_id ask = cs_job_ask(host, job, CS_ALL_ROLES);
        if (ask.i != ID_NONE)
            cs_start(host, ask);
    }
}

/* ---- by what is left ---- */

static double left_key(const void *self, const struct cs_host *host,
                       struct job_id job)
{
    (void)self;
    return (double)cs_left_ns(host, job);
}

/* A job of one phase of known length that starts at once and is as fast as was
 * said has a nanosecond less left in each. */
double cs_left_per_ns(const struct cs_host *host, struct job_id job)
{
    const struct host_form *form =
        &host->form[host_job_slot(host, job.i)->form];
    const struct role_spec *role = &form->form->role[0];

    return form->fixed && !form->form->paced &&
                   form->form->packing == NULL &&
                   form->form->role_count == 1 && !(role->load_bytes > 0) &&
                   !(role->start_s > 0) && !(role->wake_s > 0)
               ? -1 : (double)NAN;
}

static double left_per_ns(const void *self, const struct cs_host *host,
                          struct job_id job)
{
    (void)self;
    return cs_left_per_ns(host, job);
}

void cs_deal_left(struct cs_host *host)
{
    static const struct cs_motion motion = {
        .key = left_key, .per_ns = left_per_ns, .exact = true
    };

    cs_deal_moving(host, &motion);
}

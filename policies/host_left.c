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
 * Where lines have different slopes the list falls apart into lanes, below.
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
    /* Alike from the beginning: the same sums for ever. */
    if (x->line.at_ns == y->line.at_ns && x->gpus == y->gpus &&
        !(x->line.key < y->line.key) && !(y->line.key < x->line.key) &&
        x->per_ns <= y->per_ns && x->per_ns >= y->per_ns)
        return CLOCK_NEVER_NS;
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
    entry->per_ns = entry->runs
        ? host->motion->per_ns(host->self, host, job) : 0;
    entry->before = entry->line;
    entry->line = (struct host_line) {
        entry->key, entry->per_ns, entry->at_ns,
    };
    entry->changed_ns = entry->at_ns;
    if (!entry->runs)
        return;
    if (!host->left_sloped)
        host->left_per_ns = entry->per_ns;
    host->left_sloped = true;
    host->left_crossing |= !(entry->per_ns >= host->left_per_ns &&
                             entry->per_ns <= host->left_per_ns);
}

static uint32_t make(struct cs_host *host, struct job_id job)
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
        .came_ns = host_now(host),
    };
    note_state(host, i);
    host->left[i].before = host->left[i].line;
    host_job_slot(host, job.i)->left = i;
    return i;
}

static void add(struct cs_host *host, struct job_id job,
                ranks_before_fn *before)
{
    uint32_t i = make(host, job);

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
 * wait, and there are no lanes, a look at all costs less. */
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

/* All in order, as host_deal.c has them. */
static void make_list(struct cs_host *host, const uint32_t *list,
                      uint32_t count)
{
    if (count > host->deal_room) {
        host->deal = arena_alloc(host->parts.arena, 2 * (size_t)count,
                                 sizeof *host->deal);
        host->deal_room = 2 * count;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct host_left *entry = &host->left[list[i]];
        host_job_slot(host, entry->job)->left = ID_NONE;
        host->deal[i] = (struct host_deal) {
            .job = entry->job, .gpus = entry->gpus,
        };
    }
    host->deals = count;
}

static void turn_over(struct cs_host *host)
{
    take_news(host);
    uint32_t count = ranks_count(host->lefts);
    uint32_t *list = host_list_room(host, count);

    ranks_list(host->lefts, list);
    ranks_clear(host->lefts);
    make_list(host, list, count);
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

/* ---- lanes ---- */

/* Where jobs that run have lines of different slope they cross each other all
 * the time, which means nothing while none of them must stop.  So those of as
 * many GPUs, whose lines have one slope, are a list of their own, a lane, and
 * those that wait another; in each of them nothing moves.  Who goes before
 * whom in another is asked for only where GPUs run out: what a deal costs
 * grows with the number of sizes and with the jobs that it starts and stops, at
 * most as many besides as the largest has GPUs, not with those that run.
 *
 * Of equal keys the sort of host_deal.c leaves in front who was in front in the
 * last deal.  Lines of different slope that meet now were apart then: whose
 * rises more was below. */
#define LANES_MAX 32u

struct lane {                   /* all of them run */
    struct ranks tree;
    uint32_t gpus;
    uint32_t done, upto;        /* so many are dealt with, so many will be; */
    uint32_t last, look;        /* the last of these, so many to look at */
};

struct host_lanes {
    struct ranks waiting;
    struct lane lane[LANES_MAX];
    uint32_t count;
    bool on, never;             /* never: jobs are not of that kind */
    uint32_t wait;              /* deals until it is tried again */
    int64_t dealt_ns;
    uint32_t *tail, room;       /* scratch */
};

static double then(const struct host_line *line, int64_t at_ns)
{
    return line->key + line->per_ns * (double)(at_ns - line->at_ns);
}

/* Of equal keys: did it stand before the other in the last deal? */
static bool stood_before(const struct cs_host *host, const struct host_left *x,
                         const struct host_left *y)
{
    int64_t now = host_now(host), at = host->lanes->dealt_ns;
    const struct host_line *p = &x->line, *q = &y->line;

    if ((x->came_ns == now) != (y->came_ns == now))
        return y->came_ns == now;
    if (x->came_ns == now)
        return x->job < y->job;
    if (!host->motion->exact)           /* nor does it ever jump */
        return p->per_ns > q->per_ns;
    if (x->changed_ns >= at)            /* by that deal, hence after it */
        p = &x->before;
    if (y->changed_ns >= at)
        q = &y->before;
    double of_x = then(p, at), of_y = then(q, at);
    if (of_x < of_y || of_y < of_x)
        return of_x < of_y;
    if ((x->came_ns == at) != (y->came_ns == at))
        return y->came_ns == at;
    return p->per_ns > q->per_ns;
}

static bool stands_before(void *owner, uint32_t a, uint32_t b)
{
    struct cs_host *host = owner;
    double of_a = key_of(host, a), of_b = key_of(host, b);

    return of_a < of_b ||
           (!(of_b < of_a) &&
            stood_before(host, &host->left[a], &host->left[b]));
}

static double next_key(struct cs_host *host, uint32_t i)
{
    return host->left[i].changed ? host->left[i].next_key : key_of(host, i);
}

/* After the deal: a job that was stopped may owe for its restart. */
static bool will_stand_before(void *owner, uint32_t a, uint32_t b)
{
    struct cs_host *host = owner;
    double of_a = next_key(host, a), of_b = next_key(host, b);

    return of_a < of_b || (!(of_b < of_a) && stands_before(host, a, b));
}

/* Of so many GPUs; NULL: there are too many. */
static struct lane *lane_of(struct cs_host *host, uint32_t gpus)
{
    struct host_lanes *lanes = host->lanes;

    for (uint32_t k = 0; k < lanes->count; k++)
        if (lanes->lane[k].gpus == gpus)
            return &lanes->lane[k];
    if (lanes->count == LANES_MAX)
        return NULL;
    struct lane *lane = &lanes->lane[lanes->count++];
    lane->gpus = gpus;
    ranks_init(&lane->tree, host->parts.arena, sum, host);
    return lane;
}

/* Has it a line, and one of the slope that all of as many GPUs have? */
static bool suits(struct cs_host *host, struct job_id job)
{
    uint32_t gpus = cs_job_gpus(host, job);

    if (gpus == 0 || host->has_parts || isnan(cs_left_per_ns(host, job)) ||
        lane_of(host, gpus) == NULL)
        return false;
    if (host_job_slot(host, job.i)->ask != ID_NONE)
        return true;
    double per_ns = host->motion->per_ns(host->self, host, job);
    return per_ns < 0 || per_ns > 0;
}

/* What falls stops at zero, and is no line there. */
static bool is_above_zero(struct cs_host *host, struct job_id job)
{
    return host->motion->rises ||
           host->motion->key(host->self, host, job) > 0;
}

static void put(struct cs_host *host, uint32_t i, bool runs,
                ranks_before_fn *before)
{
    struct host_left *entry = &host->left[i];

    entry->tree = runs ? &lane_of(host, entry->gpus)->tree
                       : &host->lanes->waiting;
    ranks_insert(entry->tree, i, before);
}

static bool open_lanes(struct cs_host *host)
{
    struct host_lanes *lanes = host->lanes;

    if (lanes == NULL) {
        lanes = arena_alloc(host->parts.arena, 1, sizeof *lanes);
        host->lanes = lanes;
        ranks_init(&lanes->waiting, host->parts.arena, sum, host);
    }
    lanes->wait = 16;           /* deals, if it must not be */
    for (uint32_t k = 0; k < host->deals; k++) {
        struct job_id job = { host->deal[k].job };
        if (host_job_over(host, job.i))
            continue;
        if (!suits(host, job))
            lanes->never = true;
        if (lanes->never || !is_above_zero(host, job))
            return false;
    }
    host->left_count = host->left_spares = host->left_changeds = 0;
    for (uint32_t k = 0; k < host->deals; k++) {
        struct job_id job = { host->deal[k].job };
        if (host_job_over(host, job.i))
            continue;
        uint32_t i = make(host, job);
        host->left[i].came_ns = host->left[i].changed_ns = -1;  /* before */
        put(host, i, host->left[i].runs, NULL);
    }
    host->deals = 0;
    lanes->dealt_ns = host_now(host) - 1;
    lanes->on = true;
    return true;
}

/* ---- from lane to lane ---- */

static uint32_t end_of(const struct ranks *tree, bool last)
{
    uint32_t at = tree->root;

    while (at != RANKS_NONE) {
        const struct ranks_node *node = &tree->node[at];
        uint32_t next = last ? node->right : node->left;
        if (next == RANKS_NONE)
            break;
        at = next;
    }
    return at;
}

static uint32_t one_before(const struct ranks *tree, uint32_t item)
{
    const struct ranks_node *node = tree->node;
    uint32_t up = node[item].up, at = node[item].left;

    if (at != RANKS_NONE) {
        while (node[at].right != RANKS_NONE)
            at = node[at].right;
        return at;
    }
    while (up != RANKS_NONE && node[up].left == item) {
        item = up;
        up = node[up].up;
    }
    return up;
}

/* How many of a lane go before a job that waits, NONE: all; up to there it is
 * looked at now. */
static void look_up_to(struct cs_host *host, struct lane *lane, uint32_t job)
{
    uint32_t at = lane->tree.root;

    lane->upto = 0;
    lane->last = RANKS_NONE;
    if (job == RANKS_NONE) {
        lane->upto = ranks_count(&lane->tree);
        lane->last = end_of(&lane->tree, true);
        at = RANKS_NONE;
    }
    while (at != RANKS_NONE) {
        const struct ranks_node *node = &lane->tree.node[at];
        bool before = stands_before(host, at, job);
        if (before) {
            lane->upto += 1 + (node->left == RANKS_NONE
                                   ? 0 : lane->tree.node[node->left].count);
            lane->last = at;
        }
        at = before ? node->right : node->left;
    }
    lane->look = lane->upto > lane->done ? lane->upto - lane->done : 0;
}

/* Takes the last off all that are looked at. */
static uint32_t take_last(struct cs_host *host)
{
    struct host_lanes *lanes = host->lanes;
    struct lane *from = NULL;

    for (uint32_t k = 0; k < lanes->count; k++) {
        struct lane *lane = &lanes->lane[k];
        if (lane->look > 0 &&
            (from == NULL || stands_before(host, from->last, lane->last)))
            from = lane;
    }
    assert(from != NULL);
    uint32_t item = from->last;
    from->look--;
    from->last = one_before(&from->tree, item);
    return item;
}

static void note_tail(struct cs_host *host, uint32_t count, uint32_t item)
{
    struct host_lanes *lanes = host->lanes;

    if (count == lanes->room) {
        uint32_t room = count > 0 ? 2 * count : 64;
        lanes->tail = arena_grow(host->parts.arena, lanes->tail, count, room,
                                 sizeof *lanes->tail);
        lanes->room = room;
    }
    lanes->tail[count] = item;
}

/* Deals with those that run and go before a job that waits; returns what is
 * left of the room.  All up to the first that does not fit keep theirs. */
static uint64_t deal_running(struct cs_host *host, uint32_t job, uint64_t room)
{
    struct host_lanes *lanes = host->lanes;
    uint64_t gpus = 0;
    uint32_t count = 0;

    for (uint32_t k = 0; k < lanes->count; k++) {
        struct lane *lane = &lanes->lane[k];
        look_up_to(host, lane, job);
        gpus += (uint64_t)lane->look * lane->gpus;
        lane->done += lane->look;
    }
    while (gpus > room) {
        uint32_t item = take_last(host);
        gpus -= host->left[item].gpus;
        note_tail(host, count++, item);
    }
    room -= gpus;
    while (count-- > 0) {
        uint32_t item = lanes->tail[count];
        if (host->left[item].gpus <= room)
            room -= host->left[item].gpus;
        else
            host->left_stop[host->left_stops++] = item;
    }
    return room;
}

/* The first that waits, from a place on, for so many GPUs at most. */
static uint32_t next_waiting(const struct cs_host *host, uint32_t item,
                             uint32_t first, uint32_t from, uint64_t room,
                             uint32_t *place)
{
    const struct ranks_node *node = host->lanes->waiting.node;

    if (item == RANKS_NONE || first + node[item].count <= from ||
        host->left_sum[item].gpus_min > room)
        return RANKS_NONE;
    uint32_t left = node[item].left;
    uint32_t own = first + (left == RANKS_NONE ? 0 : node[left].count);
    uint32_t found = next_waiting(host, left, first, from, room, place);
    if (found != RANKS_NONE)
        return found;
    if (own >= from && host->left[item].gpus <= room) {
        *place = own;
        return item;
    }
    return next_waiting(host, node[item].right, own + 1, from, room, place);
}

static void deal_in_lanes(struct cs_host *host)
{
    struct host_lanes *lanes = host->lanes;
    uint64_t room = cs_total_gpus(host, 0);
    uint32_t from = 0, job;

    for (uint32_t k = 0; k < lanes->count; k++)
        lanes->lane[k].done = 0;
    do {
        uint32_t place = 0;
        job = next_waiting(host, lanes->waiting.root, 0, from, room, &place);
        room = deal_running(host, job, room);
        if (job != RANKS_NONE && host->left[job].gpus <= room) {
            room -= host->left[job].gpus;
            host->left_start[host->left_starts++] = job;
        }
        from = place + 1;
    } while (job != RANKS_NONE);
}

/* ---- lanes up to date ---- */

/* Those that started or stopped, in the order of the deal: of equal keys who
 * comes later goes behind. */
static void change_lanes(struct cs_host *host)
{
    uint32_t kept = 0;

    for (uint32_t k = 0; k < host->left_changeds; k++) {
        uint32_t i = host->left_changed[k];
        struct job_id job = { host->left[i].job };
        if (host->left[i].over)
            continue;
        host->left_changed[kept++] = i;
        host->left[i].next_key = host->motion->key(host->self, host, job);
        ranks_remove(host->left[i].tree, i);
    }
    for (uint32_t k = 0; k < kept; k++) {
        uint32_t i = host->left_changed[k];
        bool waits = host_job_slot(host, host->left[i].job)->ask != ID_NONE;
        put(host, i, !waits, will_stand_before);
    }
    for (uint32_t k = 0; k < kept; k++) {
        note_state(host, host->left_changed[k]);
        ranks_touch(host->left[host->left_changed[k]].tree,
                    host->left_changed[k]);
    }
    host->left_changeds = 0;
}

static void drop_ended(struct cs_host *host)
{
    for (uint32_t k = 0; k < host->left_endeds; k++) {
        uint32_t i = host->left_ended[k];
        ranks_remove(host->left[i].tree, i);
        host->left_spare[host->left_spares++] = i;
    }
    host->left_endeds = 0;
}

/* Keys that are as good as equal: rounding may turn them about. */
static void overtake_in_lanes(struct cs_host *host)
{
    struct host_lanes *lanes = host->lanes;

    for (uint32_t k = 0; k < lanes->count; k++) {
        host->lefts = &lanes->lane[k].tree;
        overtake(host);
    }
    host->lefts = NULL;
}

/* Is every line one still, and that of each job that came? */
static bool lanes_hold(struct cs_host *host)
{
    struct host_lanes *lanes = host->lanes;

    for (uint32_t k = 0; k <= lanes->count && !host->motion->rises; k++) {
        const struct ranks *tree = k < lanes->count ? &lanes->lane[k].tree
                                                    : &lanes->waiting;
        uint32_t first = end_of(tree, false);
        if (first != RANKS_NONE && !(key_of(host, first) > 0))
            return false;
    }
    for (uint32_t i = host->deal_seen; i < host->job_count; i++) {
        struct job_id job = { i };
        if (host_job_over(host, i))
            continue;
        if (!suits(host, job))
            lanes->never = true;
        if (lanes->never || !is_above_zero(host, job))
            return false;
    }
    return true;
}

/* All in order, from the back. */
static void close_lanes(struct cs_host *host)
{
    struct host_lanes *lanes = host->lanes;
    uint32_t count = ranks_count(&lanes->waiting), running = 0;

    for (uint32_t k = 0; k < lanes->count; k++)
        running += ranks_count(&lanes->lane[k].tree);
    uint32_t *list = host_list_room(host, count + running);
    uint32_t waits = end_of(&lanes->waiting, true);
    for (uint32_t k = 0; k < lanes->count; k++) {
        lanes->lane[k].done = 0;
        look_up_to(host, &lanes->lane[k], RANKS_NONE);
    }
    count += running;
    for (uint32_t at = count, next = RANKS_NONE; at-- > 0;) {
        if (next == RANKS_NONE && running > 0) {
            next = take_last(host);
            running--;
        }
        bool runs = next != RANKS_NONE &&
                    (waits == RANKS_NONE || stands_before(host, waits, next));
        list[at] = runs ? next : waits;
        if (runs)
            next = RANKS_NONE;
        else
            waits = one_before(&lanes->waiting, waits);
    }
    for (uint32_t k = 0; k < lanes->count; k++)
        ranks_clear(&lanes->lane[k].tree);
    ranks_clear(&lanes->waiting);
    make_list(host, list, count);
    lanes->on = false;
}

static void refresh_lanes(struct cs_host *host)
{
    overtake_in_lanes(host);
    for (; host->deal_seen < host->job_count; host->deal_seen++) {
        struct job_id job = { host->deal_seen };
        if (!host_job_over(host, job.i))
            put(host, make(host, job), false, stands_before);
    }
}

/* True: they are in use, and up to date but for jobs that came. */
static bool in_lanes(struct cs_host *host, bool worth)
{
    struct host_lanes *lanes = host->lanes;
    bool may = worth && host->left_crossing && !host->motion->still &&
               !host->motion->anew && host->rent == NULL;

    if (lanes != NULL && lanes->on) {
        drop_ended(host);
        change_lanes(host);
        if (may && lanes_hold(host))
            return true;
        close_lanes(host);
        return false;
    }
    if (!may || (lanes != NULL && (lanes->never || lanes->wait > 0))) {
        if (lanes != NULL && lanes->wait > 0)
            lanes->wait--;
        return false;
    }
    if (host->lefts != NULL)
        turn_over(host);
    return open_lanes(host);
}

static void carry_out(struct cs_host *host)
{
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

static void deal_with_lanes(struct cs_host *host)
{
    refresh_lanes(host);
    host->left_stops = host->left_starts = 0;
    deal_in_lanes(host);
    for (uint32_t k = 0; k < host->left_stops; k++)
        key_of(host, host->left_stop[k]);       /* as long as it runs */
    carry_out(host);
    change_lanes(host);
    host->lanes->dealt_ns = host_now(host);
}

void cs_deal_moving(struct cs_host *host, const struct cs_motion *motion)
{
    assert(!host_per_phase(host) && motion->key != NULL);
    bool plain = host->spec->failures == NULL && host->rules->tick_ns == 0;
    host->motion = motion;
    if (in_lanes(host, plain)) {
        deal_with_lanes(host);
        return;
    }
    bool worth = plain && worth_it(host);
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
    carry_out(host);
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

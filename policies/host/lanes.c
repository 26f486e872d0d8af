/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lanes.c - deals by keys that move: jobs of as many GPUs are a lane.
 *
 * Where jobs that run have lines of different slope they cross each other all
 * the time, which means nothing while none of them must stop.  So those of as
 * many GPUs, whose lines have one slope, are a list of their own, a lane, and
 * those that wait another; in each of them nothing moves.  The order of two jobs
 * of different lanes is asked for only where GPUs run out: what a deal costs
 * grows with the number of sizes and with the jobs that it starts and stops, at
 * most as many besides as the largest has GPUs, not with those that run.
 *
 * All lists merged by stands_before() are the one list that deal.c would
 * have.  Of equal keys its sort leaves in front the job that was in front in the last
 * deal.  Lines of different slope that meet now were apart then: the steeper
 * one was below.
 *
 * An example with 10 GPUs.  Jobs of 1 GPU that run have the keys 1 and 5, jobs of 4 GPUs
 * that run the keys 2 and 3, and a job of 2 GPUs that waits has the key 0.  That one takes 2
 * GPUs, and 8 are left.  Those that run hold 1 + 1 + 4 + 4 = 10.  From the end of the order
 * key 5 and then key 3 are taken off, until the rest, 5 GPUs, fits.  3 GPUs are left for the
 * two: key 3 wants 4 and stops, and key 5 keeps its GPU.  The jobs before them were not
 * looked at one by one.
 */
#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "policies/host/keys.h"
#include "policies/policy.h"
#include "policies/rank.h"
#include "policies/state/deals.h"
#include "policies/state/gpus.h"
#include "policies/state/jobs.h"
#include "policies/state/queue.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/containers/order.h"
#include "sim/containers/rank_tree.h"

/* Jobs of more sizes than this are dealt without lanes, since each deal looks at every
 * lane. */
#define LANES_MAX 32u

/* The jobs that run and hold one number of GPUs.  Their lines have one slope, so that
 * their order does not change. */
struct lane {
    struct order order;         /* the smallest key first */
    uint32_t gpus;              /* of each of them */
    uint32_t done;              /* in this deal: how many of the first were dealt with */
    uint32_t upto;              /* how many stand before the job that waits */
    uint32_t last, look;        /* the last of these; how many are to be looked at */
};

/* All lanes of a trial, and the jobs that wait. */
struct host_lanes {
    struct order waiting;       /* jobs that run on none, whatever they ask for */
    struct lane lane[LANES_MAX];    /* the first `count` are in use, as they were met */
    uint32_t count;             /* lanes */
    bool on, never;             /* on: they hold the jobs; never: some job does not suit */
    uint32_t wait;              /* deals until it is tried again */
    int64_t dealt_ns;           /* the last deal */
    uint32_t *tail, room;       /* scratch: entries taken off, from the last one on */
};

/* Returns the key on a line at a time, which may lie before its start. */
static double then(const struct host_line *line, int64_t at_ns)
{
    assert(line->at_ns >= 0);
    return line->key + line->per_ns * (double)(at_ns - line->at_ns);
}

/* Of two equal keys: did x stand before y in the last deal?  Jobs that came
 * since go last, by number.  For jobs that were there, the lines of that time
 * are compared at that time; if these meet there too, the steeper line was
 * below before. */
static bool stood_before(const struct cs_host *host, const struct host_left *x,
                         const struct host_left *y)
{
    int64_t now = host_now(host), at = host->deals->lanes->dealt_ns;
    const struct host_line *p = &x->line, *q = &y->line;

    assert(at < now || host->deals->lanes->dealt_ns == now);
    if ((x->came_ns == now) != (y->came_ns == now))
        return y->came_ns == now;
    if (x->came_ns == now)
        return x->job < y->job;
    if (!host->deals->motion->exact)           /* nor does it ever jump */
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

/* Does entry a stand before entry b now?  By the moving key; of equal keys, as
 * they stood before, so that jobs of equal keys do not change places in every
 * deal. */
static bool stands_before(void *owner, uint32_t a, uint32_t b)
{
    struct cs_host *host = owner;
    double of_a = host_keys_now(host, a), of_b = host_keys_now(host, b);

    return of_a < of_b ||
           (!(of_b < of_a) &&
            stood_before(host, &host->deals->left[a], &host->deals->left[b]));
}

/* Returns the key that an entry has after the deal. */
static double next_key(struct cs_host *host, uint32_t i)
{
    assert(i < host->deals->left_count);
    return host->deals->left[i].changed ? host->deals->left[i].next_key
                                 : host_keys_now(host, i);
}

/* As stands_before(), by the keys after the deal: a job that was stopped may
 * owe for its restart. */
static bool will_stand_before(void *owner, uint32_t a, uint32_t b)
{
    struct cs_host *host = owner;
    double of_a = next_key(host, a), of_b = next_key(host, b);

    return of_a < of_b || (!(of_b < of_a) && stands_before(host, a, b));
}

/* Returns the lane of jobs for that number of GPUs, which is made if there is
 * none; NULL: there are LANES_MAX lanes already. */
static struct lane *lane_of(struct cs_host *host, uint32_t gpus)
{
    assert(gpus > 0);
    struct host_lanes *lanes = host->deals->lanes;

    for (uint32_t k = 0; k < lanes->count; k++)
        if (lanes->lane[k].gpus == gpus)
            return &lanes->lane[k];
    if (lanes->count == LANES_MAX)
        return NULL;
    struct lane *lane = &lanes->lane[lanes->count++];
    lane->gpus = gpus;
    order_init(&lane->order, host->deals->store, &host_keys_rules, host);
    assert(host->deals->lanes->count <= LANES_MAX);
    return lane;
}

/* Can the job be in a lane?  Its key must move along a line; one that waits has
 * a key that stands still, and one that runs a line that is not flat. */
static bool suits(struct cs_host *host, struct job_id job)
{
    assert(!host_job_ended(host, job.i));
    uint32_t gpus = cs_job_gpus(host, job);

    if (gpus == 0 || host_has_parts(host) || isnan(cs_left_per_ns(host, job)) ||
        lane_of(host, gpus) == NULL)
        return false;
    if (cs_job_task(host, job, CS_ALL_ROLES).i != ID_NONE)
        return true;
    double per_ns = host->deals->motion->per_ns(host->self, host, job);
    return per_ns < 0 || per_ns > 0;
}

/* Is the job's key above zero, or does it rise?  A key that falls stops at
 * zero, so that its line ends there. */
static bool is_above_zero(struct cs_host *host, struct job_id job)
{
    assert(host->deals->motion->key != NULL);
    return host->deals->motion->rises ||
           host->deals->motion->key(host->self, host, job) > 0;
}

/* Puts an entry into its lane, or among those that wait. */
static void put(struct cs_host *host, uint32_t i, bool runs,
                rank_tree_before_fn *before)
{
    struct host_left *entry = &host->deals->left[i];

    assert(i < host->deals->left_count && !entry->over);
    entry->order = runs ? &lane_of(host, entry->gpus)->order
                        : &host->deals->lanes->waiting;
    order_insert(entry->order, i, host_keys_item(host, i), before);
    assert(order_holds(entry->order, i));
}

/* Brings a lane, or the order of the jobs that wait, up to date. */
static void overtake(struct cs_host *host, struct order *order)
{
    order->back = host->deals->motion->rises;
    order_refresh(order, host_now(host));
    assert(order->now_ns == host_now(host));
}

/* Can each job that came since the last deal be in a lane? */
static bool new_jobs_suit(struct cs_host *host)
{
    struct host_lanes *lanes = host->deals->lanes;

    for (uint32_t i = host->deals->deal_seen; i < host_jobs_submitted(host); i++) {
        struct job_id job = { i };
        if (host_job_ended(host, i))
            continue;
        if (!suits(host, job))
            lanes->never = true;
        if (lanes->never || !is_above_zero(host, job))
            return false;
    }
    assert(!lanes->never);
    return true;
}

bool host_lanes_begin(struct cs_host *host)
{
    struct host_lanes *lanes = host->deals->lanes;

    if (lanes == NULL) {
        lanes = arena_alloc(host->parts.arena, 1, sizeof *lanes);
        host->deals->lanes = lanes;
        if (host->deals->store == NULL)
            host->deals->store = order_store_new(host->parts.arena);
        order_init(&lanes->waiting, host->deals->store, &host_keys_rules, host);
    }
    lanes->wait = 16;           /* deals, if it must not be */
    for (uint32_t k = 0; k < host->deals->deals; k++) {
        struct job_id job = { host->deals->deal[k].job };
        if (host_job_ended(host, job.i))
            continue;
        if (!suits(host, job))
            lanes->never = true;
        if (lanes->never || !is_above_zero(host, job))
            return false;
    }
    if (!new_jobs_suit(host))
        return false;
    host->deals->left_count = host->deals->left_spares = host->deals->left_changeds = 0;
    for (uint32_t k = 0; k < host->deals->deals; k++) {
        struct job_id job = { host->deals->deal[k].job };
        if (host_job_ended(host, job.i))
            continue;
        uint32_t i = host_keys_make(host, job);
        host->deals->left[i].came_ns = host->deals->left[i].changed_ns = -1;  /* before */
        put(host, i, host->deals->left[i].runs, NULL);
    }
    overtake(host, &lanes->waiting);    /* a job that owes goes back */
    host->deals->deals = 0;
    lanes->dealt_ns = host_now(host) - 1;
    lanes->on = true;
    assert(order_count(&lanes->waiting) <= host->deals->left_count);
    return true;
}

/* ---- from lane to lane ---- */

/* Sets how many jobs of a lane stand before a job that waits (`upto`), and how
 * many of these are not dealt with yet (`look`).  job: ORDER_NONE for all jobs
 * of the lane. */
static void look_up_to(struct lane *lane, uint32_t job)
{
    if (job == ORDER_NONE) {
        lane->upto = order_count(&lane->order);
        lane->last = rank_tree_last(&lane->order.tree);
    } else {
        lane->upto = order_front(&lane->order, stands_before, job,
                                 &lane->last);
    }
    lane->look = lane->upto > lane->done ? lane->upto - lane->done : 0;
    assert(lane->done + lane->look >= lane->upto);
}

/* Takes the last job, by stands_before(), off those of all lanes that are
 * looked at; returns its entry.  O(lanes). */
static uint32_t take_last(struct cs_host *host)
{
    struct host_lanes *lanes = host->deals->lanes;
    struct lane *from = NULL;

    for (uint32_t k = 0; k < lanes->count; k++) {
        struct lane *lane = &lanes->lane[k];
        if (lane->look > 0 &&
            (from == NULL || stands_before(host, from->last, lane->last)))
            from = lane;
    }
    assert(from != NULL);
    uint32_t item = from->last;
    assert(item != ORDER_NONE);
    from->look--;
    from->last = rank_tree_previous(&from->order.tree, item);
    return item;
}

/* Keeps an item as the count-th of the tail. */
static void note_tail(struct cs_host *host, uint32_t count, uint32_t item)
{
    struct host_lanes *lanes = host->deals->lanes;

    assert(count <= lanes->room);
    if (count == lanes->room) {
        uint32_t room = count > 0 ? 2 * count : 64;
        lanes->tail = arena_grow(host->parts.arena, lanes->tail, count, room,
                                 sizeof *lanes->tail);
        lanes->room = room;
    }
    lanes->tail[count] = item;
}

/* Deals with the jobs that run and stand before a job that waits; returns the
 * GPUs that are left of `room`.  They are counted first, a lane at a time.  If
 * they want more than there is, the last ones are taken off until the others
 * fit: these keep their GPUs.  Those that were taken off are then tried in
 * their order, and those that do not fit stop. */
static uint64_t deal_running(struct cs_host *host, uint32_t job, uint64_t room)
{
    struct host_lanes *lanes = host->deals->lanes;
    uint64_t gpus = 0;
    uint32_t count = 0;

    for (uint32_t k = 0; k < lanes->count; k++) {
        struct lane *lane = &lanes->lane[k];
        look_up_to(lane, job);
        gpus += (uint64_t)lane->look * lane->gpus;
        lane->done += lane->look;
    }
    while (gpus > room) {
        uint32_t item = take_last(host);
        gpus -= host->deals->left[item].gpus;
        note_tail(host, count++, item);
    }
    room -= gpus;
    assert(room <= cs_total_gpus(host, 0));
    while (count-- > 0) {
        uint32_t item = lanes->tail[count];
        if (host->deals->left[item].gpus <= room)
            room -= host->deals->left[item].gpus;
        else
            host->deals->dealt.stop[host->deals->dealt.stops++] = item;
    }
    assert(lanes->count <= LANES_MAX);
    return room;
}

/* Deals all GPUs, to jobs that run and to jobs that wait, in one order.  Each
 * turn of the loop goes up to the next job that waits and could fit.  Its GPUs
 * are asked for again after those that run before it were dealt with, since
 * these may have left less. */
static void deal_in_lanes(struct cs_host *host)
{
    struct host_lanes *lanes = host->deals->lanes;
    uint64_t room = cs_total_gpus(host, 0);
    uint32_t from = 0, job;

    for (uint32_t k = 0; k < lanes->count; k++)
        lanes->lane[k].done = 0;
    do {
        struct order_filter filter = {
            .gpus_max = room < UINT32_MAX ? (uint32_t)room : UINT32_MAX,
        };
        uint32_t place = order_find(&lanes->waiting, from, &filter);
        job = rank_tree_at(&lanes->waiting.tree, place);
        room = deal_running(host, job, room);
        if (job != ORDER_NONE && host->deals->left[job].gpus <= room) {
            assert(!host->deals->left[job].runs);
            room -= host->deals->left[job].gpus;
            host->deals->dealt.take[host->deals->dealt.takes++] = job;
        }
        from = place + 1;
    } while (job != ORDER_NONE);
}

/* ---- lanes up to date ---- */

/* Jobs that started or stopped go to the other list.  All of them are taken out
 * before the first is put back, so that none is compared with an entry whose
 * key is old.  They are put back in the order of the deal: of equal keys the
 * job that comes later goes behind. */
static void change_lanes(struct cs_host *host)
{
    uint32_t kept = 0;

    for (uint32_t k = 0; k < host->deals->left_changeds; k++) {
        uint32_t i = host->deals->left_changed[k];
        struct job_id job = { host->deals->left[i].job };
        if (host->deals->left[i].over)
            continue;
        host->deals->left_changed[kept++] = i;
        host->deals->left[i].next_key = host->deals->motion->key(host->self, host, job);
        order_remove(host->deals->left[i].order, i);
    }
    for (uint32_t k = 0; k < kept; k++) {
        uint32_t i = host->deals->left_changed[k];
        struct job_id job = { host->deals->left[i].job };
        bool waits = cs_job_task(host, job, CS_ALL_ROLES).i != ID_NONE;
        put(host, i, !waits, will_stand_before);
    }
    for (uint32_t k = 0; k < kept; k++) {
        uint32_t i = host->deals->left_changed[k];
        order_touch(host->deals->left[i].order, i, host_keys_note(host, i));
    }
    host->deals->left_changeds = 0;
    assert(kept <= host->deals->left_changed_room);
}

/* Takes entries of jobs that ended since the last deal out of their orders (host_left_end()
 * listed them); other jobs may use them now. */
static void drop_ended(struct cs_host *host)
{
    for (uint32_t k = 0; k < host->deals->left_endeds; k++) {
        uint32_t i = host->deals->left_ended[k];
        order_remove(host->deals->left[i].order, i);
        host->deals->left_spare[host->deals->left_spares++] = i;
    }
    host->deals->left_endeds = 0;
    assert(host->deals->left_spares <= host->deals->left_count);
}

/* Brings the order within each lane up to date: keys that are as good as equal
 * may have changed places by rounding. */
static void overtake_in_lanes(struct cs_host *host)
{
    struct host_lanes *lanes = host->deals->lanes;

    assert(lanes->count <= LANES_MAX);
    for (uint32_t k = 0; k < lanes->count; k++)
        overtake(host, &lanes->lane[k].order);
}

/* Can the jobs stay in lanes?  No key has fallen to zero, and each job that
 * came suits. */
static bool lanes_hold(struct cs_host *host)
{
    struct host_lanes *lanes = host->deals->lanes;

    assert(lanes->on);
    for (uint32_t k = 0; k <= lanes->count && !host->deals->motion->rises; k++) {
        const struct order *order = k < lanes->count ? &lanes->lane[k].order
                                                     : &lanes->waiting;
        uint32_t first = rank_tree_first(&order->tree);
        if (first != ORDER_NONE && !(host_keys_now(host, first) > 0))
            return false;
    }
    return new_jobs_suit(host);
}

/* Hands all entries over to deal.c, in order.  The list is filled from its end.
 * Two jobs are compared each time, the last of all lanes and the last that
 * waits, and the later of the two is taken. */
static void close_lanes(struct cs_host *host)
{
    struct host_lanes *lanes = host->deals->lanes;
    uint32_t count = order_count(&lanes->waiting), running = 0;

    for (uint32_t k = 0; k < lanes->count; k++)
        running += order_count(&lanes->lane[k].order);
    uint32_t *list = host_list_scratch(host, count + running);
    uint32_t waits = rank_tree_last(&lanes->waiting.tree);
    for (uint32_t k = 0; k < lanes->count; k++) {
        lanes->lane[k].done = 0;
        look_up_to(&lanes->lane[k], ORDER_NONE);
    }
    count += running;
    for (uint32_t at = count, next = ORDER_NONE; at-- > 0;) {
        if (next == ORDER_NONE && running > 0) {
            next = take_last(host);
            running--;
        }
        bool runs = next != ORDER_NONE &&
                    (waits == ORDER_NONE || stands_before(host, waits, next));
        list[at] = runs ? next : waits;
        if (runs)
            next = ORDER_NONE;
        else
            waits = rank_tree_previous(&lanes->waiting.tree, waits);
    }
    for (uint32_t k = 0; k < lanes->count; k++)
        order_clear(&lanes->lane[k].order);
    order_clear(&lanes->waiting);
    host_keys_hand_over(host, list, count);
    lanes->on = false;
    assert(!host_lanes_open(host));
    assert(order_count(&lanes->waiting) == 0);
}

/* Puts the jobs that came since the last deal among those that wait.  Some may have ended
 * already. */
static void take_in(struct cs_host *host)
{
    for (; host->deals->deal_seen < host_jobs_submitted(host); host->deals->deal_seen++) {
        struct job_id job = { host->deals->deal_seen };
        if (!host_job_ended(host, job.i))
            put(host, host_keys_make(host, job), false, stands_before);
    }
    assert(host->deals->deal_seen == host_jobs_submitted(host));
}

bool host_lanes_open(const struct cs_host *host)
{
    return host->deals->lanes != NULL && host->deals->lanes->on;
}

/* `wait` counts down once a deal, so that a try that failed is not repeated at
 * once. */
bool host_lanes_due(struct cs_host *host, bool may)
{
    struct host_lanes *lanes = host->deals->lanes;
    bool waits = lanes != NULL && lanes->wait > 0;

    if (waits)
        lanes->wait--;
    assert(!host_lanes_open(host));
    return may && !waits && (lanes == NULL || !lanes->never);
}

bool host_lanes_refresh(struct cs_host *host, bool may)
{
    assert(host_lanes_open(host));
    drop_ended(host);
    change_lanes(host);
    if (may && lanes_hold(host))
        return true;
    close_lanes(host);
    return false;
}

/* The keys of jobs that stop are asked for before they stop, as they run until
 * then. */
void host_lanes_deal(struct cs_host *host)
{
    assert(host_lanes_open(host));
    overtake_in_lanes(host);
    take_in(host);
    host->deals->dealt.stops = host->deals->dealt.takes = 0;
    deal_in_lanes(host);
    for (uint32_t k = 0; k < host->deals->dealt.stops; k++)
        host_keys_now(host, host->deals->dealt.stop[k]);  /* while it runs */
    host_keys_carry_out(host);
    change_lanes(host);
    host->deals->lanes->dealt_ns = host_now(host);
    assert(host->deals->left_changeds == 0);
}

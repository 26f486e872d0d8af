/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.c - jobs whose keys move as said, in orders (sim/containers/order.h).
 *
 * The key of a job that waits stays; that of one that runs moves along a line
 * that the policy tells.  So of two neighbours it is known until when they stay
 * in order.  left.c has all jobs in one order, lanes.c in many.
 *
 * The lines only tell when to look; what is compared then are the keys, as
 * deal.c compares them.  Neighbours whose keys are as good as equal, and
 * those of a job whose line is unknown (NAN), are looked at in every deal.
 */
#include "policies/host/keys.h"

#include <assert.h>
#include <math.h>

#include "policies/policy.h"
#include "policies/state/deals.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/containers/order.h"

/* Two keys that differ by less than this part of their size may differ by
 * rounding alone: a thousand times the precision of a double, about 2e-16, and
 * some more for sums. */
#define NEAR 1e-12
/* Every whole number below this one, 2^53, is exact as a double. */
#define EXACT 0x1p53

/* Returns the key of an entry at a time, by its line. */
static double line_at(const struct host_left *entry, int64_t now)
{
    assert(now >= entry->at_ns);
    return entry->key + entry->per_ns * (double)(now - entry->at_ns);
}

/* Returns an instant up to which entry b, right behind a, stays there: before
 * it b's key is not smaller than a's.  0: not known, look at every deal.
 * CLOCK_NEVER_NS: they never cross.
 *
 * Two lines that were `apart` by a distance and close in on each other by
 * `closing` a nanosecond meet after apart / closing.  Example: a at 10 rises by
 * 3 a nanosecond, b at 40 rises by 1; they meet after 30 / 2 = 15 ns.  The
 * distance is taken a little smaller (NEAR), so that the look comes too soon
 * rather than too late.  Parallel lines never meet, if their keys are exact or
 * the jobs have been alike from the beginning. */
static int64_t cross_ns(void *owner, uint32_t a, uint32_t b)
{
    const struct cs_host *host = owner;
    const struct host_left *x = &host->deals->left[a], *y = &host->deals->left[b];

    assert(a != b && host->deals->motion != NULL);
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

/* The key is asked for once an instant, of jobs that run alone: that of a job
 * that waits stays. */
double host_keys_now(struct cs_host *host, uint32_t i)
{
    struct host_left *entry = &host->deals->left[i];
    struct job_id job = { entry->job };

    assert(i < host->deals->left_count && entry->at_ns <= host_now(host));
    if (entry->runs && entry->at_ns != host_now(host)) {
        entry->key = host->deals->motion->key(host->self, host, job);
        entry->at_ns = host_now(host);
    }
    return entry->key;
}

bool host_keys_before(void *owner, uint32_t a, uint32_t b)
{
    return host_keys_now(owner, a) < host_keys_now(owner, b);
}

const struct order_rules host_keys_rules = {
    host_keys_before, cross_ns, ORDER_MOVES | ORDER_TAKES,
};

/* ---- entries ---- */

/* Doubles the room for entries. */
static void grow(struct cs_host *host)
{
    struct arena *arena = host->parts.arena;
    uint32_t old = host->deals->left_room, room = old > 0 ? 2 * old : 256;

    host->deals->left = arena_grow(arena, host->deals->left, old, room,
                            sizeof *host->deals->left);
    host->deals->left_spare = arena_grow(arena, host->deals->left_spare, old, room,
                                  sizeof *host->deals->left_spare);
    host->deals->dealt.stop = arena_grow(arena, host->deals->dealt.stop, old,
                                         room, sizeof(uint32_t));
    host->deals->dealt.take = arena_grow(arena, host->deals->dealt.take, old,
                                         room, sizeof(uint32_t));
    host->deals->left_room = room;
    assert(room > old);
}

struct order_item host_keys_item(const struct cs_host *host, uint32_t i)
{
    assert(i < host->deals->left_count);
    return (struct order_item) {
        .gpus = host->deals->left[i].gpus, .taken = host->deals->left[i].runs,
    };
}

/* Also notes whether jobs that run have different slopes (left_crossing): the
 * single list of left.c is then worth less, and lanes may take over. */
struct order_item host_keys_note(struct cs_host *host, uint32_t i)
{
    struct host_left *entry = &host->deals->left[i];
    struct job_id job = { entry->job };

    assert(i < host->deals->left_count && !entry->over);
    entry->runs = cs_job_task(host, job, CS_ALL_ROLES).i == ID_NONE;
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
        return host_keys_item(host, i);
    if (!host->deals->left_sloped)
        host->deals->left_per_ns = entry->per_ns;
    host->deals->left_sloped = true;
    host->deals->left_crossing |= !(entry->per_ns >= host->deals->left_per_ns &&
                             entry->per_ns <= host->deals->left_per_ns);
    return host_keys_item(host, i);
}

/* Entries of jobs that ended are used again, so that the array grows with the
 * jobs that are there at once. */
uint32_t host_keys_make(struct cs_host *host, struct job_id job)
{
    uint32_t i;

    if (host->deals->left_spares > 0) {
        i = host->deals->left_spare[--host->deals->left_spares];
        assert(i < host->deals->left_count);
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
    host_left_place(host, job.i, i);
    assert(i < host->deals->left_count && host->deals->left_count <= host->deals->left_room);
    return i;
}

/* ---- to deal.c, and to the cluster ---- */

void host_keys_hand_over(struct cs_host *host, const uint32_t *list,
                         uint32_t count)
{
    assert(host->deals->deals == 0);
    if (count > host->deals->deal_room) {
        host->deals->deal = arena_alloc(host->parts.arena, 2 * (size_t)count,
                                 sizeof *host->deals->deal);
        host->deals->deal_room = 2 * count;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct host_left *entry = &host->deals->left[list[i]];
        host_left_place(host, entry->job, ID_NONE);
        host->deals->deal[i] = (struct host_deal) {
            .job = entry->job, .gpus = entry->gpus,
        };
    }
    host->deals->deals = count;
    assert(count <= host->deals->deal_room);
}

/* Stops come first: the starts need the GPUs of the jobs that were stopped. */
void host_keys_carry_out(struct cs_host *host)
{
    const struct order_dealt *dealt = &host->deals->dealt;

    assert(dealt->stops <= host->deals->left_room && dealt->takes <= host->deals->left_room);
    for (uint32_t k = 0; k < dealt->stops; k++) {
        struct job_id job = { host->deals->left[dealt->stop[k]].job };
        cs_stop(host, job);
    }
    for (uint32_t k = 0; k < dealt->takes; k++) {
        struct job_id job = { host->deals->left[dealt->take[k]].job };
        struct task_id task = cs_job_task(host, job, CS_ALL_ROLES);
        if (task.i != ID_NONE)
            cs_start(host, task);
    }
    assert(dealt->stops + dealt->takes <= 2 * host->deals->left_room);
}

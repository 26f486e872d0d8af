/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * watchdog.c - what moved between two looks.
 *
 * A job that failures set back counts as moving only when it gets beyond all
 * that it ever reached, so each job has its record.  Records are of the jobs
 * that are left once no more come.
 */
#include "experiments/run/watchdog.h"

#include <string.h>

#include "experiments/run/trial_serve.h"
#include "policies/host/host.h"
#include "policies/host/stall.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

#define LOOKS 8                 /* in the time that is allowed */

/* The furthest that a job ever got, in the unit of host_next_unfinished(). */
struct record {
    uint32_t job;               /* its number */
    double done;
};

/* Times are simulated: `stalled_ns` is the time that is allowed, `moved_ns` the last look that
 * saw something move, `looked_ns` the last look.  `requests` is the count of the services'
 * requests at that look. */
struct watchdog {
    struct arena *arena;        /* of the trial */
    const struct cs_host *host; /* asked how far jobs got */
    const struct trial_serve *serve;    /* NULL: no services */
    int64_t stalled_ns, moved_ns, looked_ns;
    uint64_t requests;
    struct record *record;      /* by job, ascending */
    uint32_t records, room;
};

struct watchdog *watchdog_new(struct arena *arena, const struct cs_host *host,
                              const struct trial_serve *serve,
                              int64_t stalled_ns)
{
    struct watchdog *dog = arena_alloc(arena, 1, sizeof *dog);

    dog->arena = arena;
    dog->host = host;
    dog->serve = serve;
    dog->stalled_ns = stalled_ns;
    return dog;
}

/* One nanosecond more, so that it moves on even if the time that is allowed is less than LOOKS
 * nanoseconds. */
int64_t watchdog_next_ns(const struct watchdog *dog, int64_t now_ns)
{
    return clock_after(now_ns, dog->stalled_ns / LOOKS + 1);
}

/* Notes how far each job that is left has got, when no more jobs come. */
static void take_records(struct watchdog *dog)
{
    double done;

    dog->records = 0;
    for (uint32_t j = host_next_unfinished(dog->host, 0, &done);
         j != UINT32_MAX; j = host_next_unfinished(dog->host, j + 1, &done)) {
        ARENA_ADD(dog->arena, dog->record, dog->records, dog->room,
                  (struct record) { j, done });
    }
}

/* Did a job end, or get beyond its record?  Records are kept up to date.  Both lists are in
 * the order of jobs, so they are walked together.  A job that is missing has ended; then all
 * records are taken anew, since a job that ends is movement enough. */
static bool jobs_moved(struct watchdog *dog)
{
    uint32_t k = 0, j;
    bool moved = false;
    double done;

    for (j = host_next_unfinished(dog->host, 0, &done);
         j != UINT32_MAX && k < dog->records;
         j = host_next_unfinished(dog->host, j + 1, &done), k++) {
        struct record *record = &dog->record[k];

        if (record->job != j) {
            take_records(dog);
            return true;
        }
        if (done > record->done) {
            record->done = done;
            moved = true;
        }
    }
    if (j == UINT32_MAX && k == dog->records)
        return moved;
    take_records(dog);
    return true;
}

bool watchdog_look(struct watchdog *dog, int64_t now_ns, bool jobs_to_come)
{
    uint64_t requests = dog->serve != NULL
                            ? trial_serve_requests(dog->serve) : 0;
    bool moved = requests != dog->requests || jobs_to_come ||
                 host_works_since(dog->host, dog->looked_ns);

    if (!jobs_to_come)
        moved = jobs_moved(dog) || moved;
    dog->requests = requests;
    dog->looked_ns = now_ns;
    if (moved)
        dog->moved_ns = now_ns;
    return now_ns - dog->moved_ns < dog->stalled_ns;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * events.c - every row from the whole list: slow, and with nothing to get wrong.
 */
#include "experiments/recount/events.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/recount/cells.h"
#include "experiments/recount/judge.h"
#include "experiments/recount/recount.h"
#include "experiments/spec/trial_spec.h"
#include "models/cluster/cluster.h"
#include "sim/base/arena.h"
#include "sim/text/table.h"

#define DIGITS 1e3              /* x JUDGE_NEAR: what nine digits leave of a number */

/* The list, in the order of time. */
struct events {
    struct arena *arena;
    struct event *event;        /* [count] */
    size_t count, room;
};

struct events *events_new(struct arena *arena)
{
    struct events *events = arena_alloc(arena, 1, sizeof *events);

    assert(arena != NULL);
    events->arena = arena;
    return events;
}

void events_add(struct events *events, struct event event)
{
    assert(events->count == 0 || event.at_ns >= events->event[events->count - 1].at_ns);
    ARENA_ADD(events->arena, events->event, events->count, events->room, event);
}

/* Sums over an interval: x s while it is added up, and divided by its length
 * when it is compared. */
struct means {
    double allocated, busy, pending, running;
};

/* Where in the list the walk is, and the levels there: intervals are asked for
 * in their order.  `tasks` holds tasks that wait as `allocated` and jobs that
 * run as `busy`. */
struct walk {
    size_t next;                /* of the events: those before it are in `level` */
    struct event level, tasks;
};

/* Adds what held in [from, to) to the sum, in GPUs x s and tasks x s, and moves the
 * walk to `to`.  Changes at `to` belong to the next interval. */
static void step_to(const struct events *events, uint32_t pool, struct walk *walk,
                    int64_t from, int64_t to, struct means *sum)
{
    int64_t at = from;

    for (; at < to;) {
        const struct event *e = walk->next < events->count ? &events->event[walk->next]
                                                           : NULL;
        int64_t until = e != NULL && e->at_ns < to ? e->at_ns : to;
        double s = until > at ? (double)(until - at) / 1e9 : 0;

        sum->allocated += walk->level.allocated * s;
        sum->busy += walk->level.busy * s;
        sum->pending += walk->tasks.allocated * s;
        sum->running += walk->tasks.busy * s;
        at = until > at ? until : at;
        if (e == NULL || e->at_ns >= to)
            return;
        if (e->pool == UINT32_MAX)
            walk->tasks = *e;
        else if (e->pool == pool) {
            walk->level.allocated += e->allocated;
            walk->level.busy += e->busy;
        }
        walk->next++;
    }
}

/* Columns of timeline.csv by place, behind the point, the policy and the seed. */
enum { LINE_T = 3, LINE_POOL, LINE_GPUS, LINE_ALLOCATED, LINE_BUSY, LINE_CORES,
       LINE_PENDING, LINE_RUNNING, LINE_USD, LINE_CELLS };

/* Compares a row with the sums of its interval of s seconds. */
static void judge_line(const struct cells *cells, const struct means *sum, double s,
                       struct judge *judge)
{
    double gpus = cells_number(cells, LINE_GPUS);

    judge_figure(judge, "gpus_allocated of timeline.csv",
                 cells_number(cells, LINE_ALLOCATED), sum->allocated / s, DIGITS * gpus);
    judge_figure(judge, "gpus_busy of timeline.csv", cells_number(cells, LINE_BUSY),
                 sum->busy / s, DIGITS * gpus);
    judge_figure(judge, "jobs_pending of timeline.csv", cells_number(cells, LINE_PENDING),
                 sum->pending / s, DIGITS * (1 + sum->pending / s));
    judge_figure(judge, "jobs_running of timeline.csv", cells_number(cells, LINE_RUNNING),
                 sum->running / s, DIGITS * (1 + sum->running / s));
}

/* A row of a pool holds until the next one of it, the last until end_ns.  What is
 * before the first row only moves the walk. */
static void judge_pool(const struct events *events, const struct table *table,
                       uint32_t pool, const char *name, int64_t end_ns, struct judge *judge)
{
    size_t bytes;
    const char *at = table_bytes(table, &bytes), *end = at + bytes;
    struct cells cells[2];
    struct walk walk = { .next = 0 };
    bool any = false, more = true;
    int64_t from = 0, to;

    while (more) {
        do
            more = cells_read(&at, end, &cells[1]) && cells[1].count == LINE_CELLS;
        while (more && strncmp(cells[1].text[LINE_POOL], name, CELL_BYTES - 1) != 0);
        to = more ? llround(cells_number(&cells[1], LINE_T) * 1e9) : end_ns;
        struct means sum = { 0 };
        step_to(events, pool, &walk, from, to, &sum);
        if (any && to > from)
            judge_line(&cells[0], &sum, (double)(to - from) / 1e9, judge);
        cells[0] = cells[1];
        from = to;
        any = true;
    }
}

/* A table whose beginning was written out and forgotten cannot be gone through
 * again. */
void events_judge_lines(const struct events *events, const struct recount_parts *parts,
                        int64_t end_ns, struct judge *judge)
{
    const struct cluster_spec *cluster = parts->spec->cluster;

    for (uint32_t p = 0; table_is_whole(parts->timeline) && p < cluster->pool_count; p++)
        judge_pool(events, parts->timeline, p, cluster->pool_name[p], end_ns, judge);
}

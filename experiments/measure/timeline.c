/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * timeline.c - means over intervals, of a run whose length nobody knows yet.
 *
 * Without a step from the user, intervals begin short; when there are twice
 * as many as a chart can show, neighbours are merged and the step doubles.
 */
#include "experiments/measure/timeline.h"

#include <assert.h>
#include <string.h>

#include "experiments/measure/rent.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "policies/host/host.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/event/journal.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "sim/stats/tally.h"
#include "sim/text/table.h"
#include "workloads/source.h"

#define INTERVALS_MAX 400u      /* an even number */
#define FIXED_INTERVALS_MAX 1000000u    /* with a step from the user */
#define FIRST_STEP_NS (10 * CLOCK_NS_PER_S)

struct cell {
    double allocated, busy, cores, pending, running;    /* x seconds */
    double usd;                 /* of groups whose cost changes: changing_usd() */
};

struct timeline {
    struct metrics_parts parts;
    struct cs_host *host;       /* NULL: count */
    const struct metrics_count *count;  /* without a host; else NULL */
    int64_t step_ns, start_ns;          /* of the interval under way */
    bool fixed_step, open;              /* open: the first interval has begun */
    int64_t *interval_ns;               /* starts */
    struct cell *cell;                  /* interval x pool */
    uint32_t intervals, room, pools;
    size_t cell_room;
    struct gauge *allocated, *busy, pending, running;
    struct cell *then;                  /* areas at start_ns, per pool */
    double *first_usd;                  /* of that, when the first began, per pool */
    struct rent *rent;                  /* or NULL */
};

/* Without a host there is one group, and GPUs work from the instant they are taken. */
static void take_count(struct timeline *t, int64_t now)
{
    uint32_t pool = t->parts.spec->cluster->group[0].pool;

    gauge_set(&t->allocated[pool], now, t->count->working_gpus);
    gauge_set(&t->busy[pool], now, t->count->working_gpus);
    gauge_set(&t->pending, now, t->count->pending);
    gauge_set(&t->running, now, t->count->running);
}

/* Reads the levels of all pools and of the queue as they are now. */
static void take(struct timeline *t)
{
    int64_t now = loop_now_ns(t->parts.loop);

    if (t->count != NULL) {
        take_count(t, now);
        return;
    }
    for (uint32_t p = 0; p < t->pools; p++) {
        const struct host_pool_now *pool = host_pool_now(t->host, p);
        gauge_set(&t->allocated[p], now,
                  (double)pool->allocated_milli / 1000.0);
        gauge_set(&t->busy[p], now, pool->utilized);
    }
    gauge_set(&t->pending, now, host_pending(t->host));
    gauge_set(&t->running, now, host_running(t->host));
}

/* Facts are told in the midst of what they change: what a decision leaves is seen when
 * its instant is over. */
static void instant_over(void *self)
{
    struct timeline *t = self;

    if (t->host != NULL || t->count != NULL)
        take(t);
}

struct timeline *timeline_new(const struct metrics_parts *parts)
{
    struct timeline *t = arena_alloc(parts->arena, 1, sizeof *t);

    t->parts = *parts;
    t->pools = parts->spec->cluster->pool_count;
    t->rent = rent_new(parts);
    t->fixed_step = parts->tables->timeline_step_ns > 0;
    t->step_ns = t->fixed_step ? parts->tables->timeline_step_ns
                               : FIRST_STEP_NS;
    t->allocated = arena_alloc(parts->arena, t->pools, sizeof(struct gauge));
    t->busy = arena_alloc(parts->arena, t->pools, sizeof(struct gauge));
    t->then = arena_alloc(parts->arena, t->pools, sizeof *t->then);
    t->first_usd = arena_alloc(parts->arena, t->pools, sizeof *t->first_usd);
    loop_when_over(parts->loop, instant_over, t);
    return t;
}

/* Returns core-seconds that the cores of a pool have worked since time 0.  Cores without a
 * number have no link. */
static double cores_area(struct timeline *t, uint32_t pool)
{
    const struct cluster_spec *spec = t->parts.spec->cluster;
    double area = 0;

    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];

        if (group->pool != pool || group->cores == CLUSTER_CORES_UNLIMITED)
            continue;
        for (uint32_t n = 0; n < group->node_count; n++) {
            uint32_t link = fabric_link(t->parts.fabric, FABRIC_CPU, group->first_node + n);
            if (link != UINT32_MAX)
                area += flow_link_area(t->parts.net, link);
        }
    }
    return area;
}

/* Is a group paid for all the time, at one price? */
static bool is_constant(const struct node_group *group)
{
    return !group->billed_held && group->rent == NULL && group->price == NULL;
}

/* Since time 0, of the groups of a pool whose cost changes: nodes that are paid for while
 * held or rented, and prices over time. */
static double changing_usd(struct timeline *t, uint32_t pool, int64_t now)
{
    const struct cluster_spec *spec = t->parts.spec->cluster;
    double usd = 0;

    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];

        if (group->pool != pool || is_constant(group))
            continue;
        if (group->billed_held && group->price == NULL)
            usd += rent_node_s(t->rent, g, now) / 3600 * group->usd_per_h;
        else if (group->billed_held || group->rent != NULL)
            usd += rent_used_usd(t->rent, g, now);
        else
            usd += group->node_count * cluster_node_usd(group, 0, now);
    }
    return usd;
}

/* Areas since the beginning, of one pool. */
static struct cell areas(struct timeline *t, uint32_t pool, int64_t now)
{
    return (struct cell) {
        .allocated = gauge_area(&t->allocated[pool], now),
        .busy = gauge_area(&t->busy[pool], now),
        .cores = cores_area(t, pool),
        .pending = gauge_area(&t->pending, now),
        .running = gauge_area(&t->running, now),
        .usd = changing_usd(t, pool, now),
    };
}

/* Makes room for one more interval of all pools. */
static void room_for_one(struct timeline *t)
{
    size_t cells = (size_t)t->intervals * t->pools;

    ARENA_REACH(t->parts.arena, t->interval_ns, t->room, t->intervals);
    ARENA_REACH(t->parts.arena, t->cell, t->cell_room, cells + t->pools - 1);
}

/* Ends the interval under way now: its means are differences of areas. */
static void close_interval(struct timeline *t, int64_t now)
{
    take(t);
    room_for_one(t);
    for (uint32_t p = 0; p < t->pools; p++) {
        struct cell all = areas(t, p, now), *then = &t->then[p];
        t->cell[t->intervals * t->pools + p] = (struct cell) {
            all.allocated - then->allocated, all.busy - then->busy,
            all.cores - then->cores, all.pending - then->pending,
            all.running - then->running, all.usd - then->usd,
        };
        *then = all;
    }
    t->interval_ns[t->intervals++] = t->start_ns;
    t->start_ns = now;
}

/* Halves the intervals and doubles their step.  Their number is even. */
static void merge_neighbours(struct timeline *t)
{
    for (uint32_t i = 0; i < t->intervals / 2; i++) {
        t->interval_ns[i] = t->interval_ns[2 * i];
        for (uint32_t p = 0; p < t->pools; p++) {
            const struct cell *a = &t->cell[2 * i * t->pools + p];
            const struct cell *b = &t->cell[(2 * i + 1) * t->pools + p];
            t->cell[i * t->pools + p] = (struct cell) {
                a->allocated + b->allocated, a->busy + b->busy,
                a->cores + b->cores, a->pending + b->pending,
                a->running + b->running, a->usd + b->usd,
            };
        }
    }
    t->intervals /= 2;
    t->step_ns *= 2;
}

/* The end of an interval.  A step of the user is never merged: at the limit the run
 * stops, and timeline_fits() says why. */
static void sample(struct loop *loop, void *self, uint64_t arg)
{
    struct timeline *t = self;

    (void)arg;
    close_interval(t, loop_now_ns(loop));
    if (!t->fixed_step && t->intervals == INTERVALS_MAX)
        merge_neighbours(t);
    if (t->intervals == FIXED_INTERVALS_MAX) {
        loop_stop(loop);
        return;
    }
    /* Nothing else will happen: a sample must not keep the run alive. */
    if (loop_pending_count(loop) > 0)
        loop_at(loop, clock_after(t->start_ns, t->step_ns), LOOP_RANK_SAMPLE,
                sample, t, 0);
}

/* The first interval begins now.  Areas of before are kept as what is taken off. */
static void open_first(struct timeline *t)
{
    struct loop *loop = t->parts.loop;

    assert(t->intervals == 0);
    t->open = true;
    t->start_ns = loop_now_ns(loop);
    for (uint32_t p = 0; p < t->pools; p++) {
        t->then[p] = areas(t, p, t->start_ns);
        t->first_usd[p] = t->then[p].usd;
    }
    loop_at(loop, clock_after(t->start_ns, t->step_ns), LOOP_RANK_SAMPLE, sample, t, 0);
}

/* Before the first job of a trace there are no intervals.  A trace whose blocks are drawn has
 * another first job in each trial. */
void timeline_job_came(struct timeline *t)
{
    if (!t->open)
        open_first(t);
}

static void hear_submit(void *self, const struct fact *fact)
{
    (void)fact;
    timeline_job_came(self);
}

/* Without a trace, or with services beside it, time counts from 0. */
static void begin(struct timeline *t)
{
    if (!workload_is_trace_alone(t->parts.spec->workload))
        open_first(t);
}

void timeline_watch(struct timeline *t, struct cs_host *host)
{
    t->host = host;
    rent_watch(t->rent, host);
    journal_listen(t->parts.journal, UINT64_C(1) << FACT_JOB_SUBMIT, hear_submit, t);
    begin(t);
}

void timeline_watch_count(struct timeline *t, const struct metrics_count *count)
{
    t->count = count;
    begin(t);
}

/* Returns the price of the groups of a pool whose cost never changes; changing_usd()
 * has the others. */
static double pool_usd_per_h(const struct cluster_spec *spec, uint32_t pool)
{
    double usd = 0;

    for (uint32_t g = 0; g < spec->group_count; g++)
        if (spec->group[g].pool == pool && is_constant(&spec->group[g]))
            usd += spec->group[g].node_count * spec->group[g].usd_per_h;
    return usd;
}

/* Writes the row of interval i and pool p, which ends at end_ns, after its begin:
 * integrals over its seconds are its means. */
static void row(struct timeline *t, uint32_t i, uint32_t p, int64_t end_ns)
{
    const struct trial_spec *spec = t->parts.spec;
    struct table *table = t->parts.tables->timeline;
    const struct cell *cell = &t->cell[i * t->pools + p];
    double s = clock_s_from_ns(end_ns - t->interval_ns[i]);

    table_text(table, spec->point);
    table_text(table, spec->policy->name);
    table_count(table, spec->replica);
    table_time(table, t->interval_ns[i]);
    table_text(table, spec->cluster->pool_name[p]);
    table_count(table, t->count != NULL ? spec->cluster->gpu_count
                                        : host_pool_now(t->host, p)->gpus);
    table_real(table, cell->allocated / s);
    table_real(table, cell->busy / s);
    table_real(table, cell->cores / s);
    table_real(table, cell->pending / s);
    table_real(table, cell->running / s);
    table_real(table, pool_usd_per_h(spec->cluster, p) +
                          cell->usd / s * 3600);
    table_end_row(table);
}

bool timeline_fits(const struct timeline *t, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    if (t->intervals < FIXED_INTERVALS_MAX)
        return true;
    err_set(err, ERR_LIMIT, nowhere, "timeline.csv has more than %u "
            "intervals per trial (key output.timeline_step)",
            FIXED_INTERVALS_MAX);
    return err_hint(err, "Make output.timeline_step longer, or leave it "
                         "out.");
}

/* Rented nodes stay beyond the end of the run: the last interval has what they cost up to
 * there. */
static void end_usd(struct timeline *t, uint32_t last, int64_t end_ns)
{
    for (uint32_t p = 0; p < t->pools; p++) {
        double usd = changing_usd(t, p, end_ns) - t->first_usd[p];

        for (uint32_t i = 0; i < last; i++)
            usd -= t->cell[i * t->pools + p].usd;
        t->cell[last * t->pools + p].usd = usd > 0 ? usd : 0;
    }
}

void timeline_close(struct timeline *t, int64_t end_ns)
{
    int64_t now = loop_now_ns(t->parts.loop);

    if (now > t->start_ns)
        close_interval(t, now);
    for (uint32_t i = 0; i < t->intervals; i++) {
        int64_t end = i + 1 < t->intervals ? t->interval_ns[i + 1] : now;
        if (end > end_ns) {     /* nothing else happened in the rest of it */
            end = end_ns;
            if (end > t->interval_ns[i])
                end_usd(t, i, end_ns);
        }
        for (uint32_t p = 0; p < t->pools && end > t->interval_ns[i]; p++)
            row(t, i, p, end);
    }
}

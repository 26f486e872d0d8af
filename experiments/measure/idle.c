/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idle.c - a level of GPUs per cause, in thousandths, and its integral over
 * nanoseconds.
 *
 * Levels change with facts only, so between two facts each GPU does one
 * thing.  What nodes do while no job is in the system (a repair ends, a rental
 * ends) is entered when the next job comes: if none does, the run ended
 * before it.
 *
 * Example: of 8 GPUs, a lease of 6 works, and a task that wants 4 waits.  The
 * level of GPU_WORKS is 6,000 and that of GPU_GANG 2,000.  If this lasts for
 * 100 s, 600 GPU-seconds worked and 200 were free because what waits is too
 * large.
 */
#include "experiments/measure/idle.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "models/cluster/cluster.h"
#include "models/types/facts.h"
#include "models/types/placement.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/event/journal.h"
#include "sim/event/loop.h"

#define BIT(FACT) (UINT64_C(1) << (FACT))
#define FACTS \
    (BIT(FACT_JOB_SUBMIT) | BIT(FACT_LEASE_TAKE) | BIT(FACT_LEASE_READY) | \
     BIT(FACT_LEASE_LEAVE) | BIT(FACT_LEASE_DROP) | BIT(FACT_PHASE_START) | \
     BIT(FACT_PHASE_END) | BIT(FACT_DECIDE) | BIT(FACT_NODE_DOWN) | \
     BIT(FACT_JOB_END) | \
     BIT(FACT_NODE_UP) | BIT(FACT_RENT_ORDER) | BIT(FACT_RENT_UP) | \
     BIT(FACT_RENT_NOTICE) | BIT(FACT_RENT_END) | BIT(FACT_RENT_TAKEN))

__extension__ typedef __int128 wide_ns;

/* What the GPUs of a lease do. */
struct idle_lease {
    enum gpu_does does;         /* one thing at a time */
    int64_t milli;              /* thousandths of GPUs that it holds */
    bool held;                  /* the slot serves a lease */
};

/* The levels now, and their integrals.  lease: by number. */
struct idle {
    struct arena *arena;
    const struct cluster_spec *spec;
    struct cs_host *host;
    const struct loop *loop;    /* the clock */
    struct idle_lease *lease;
    uint32_t lease_room;
    int64_t level[GPU_DOES_COUNT];      /* thousandths of GPUs; they add up to all */
    int64_t known_milli;        /* sum of the levels of GPUs that are not free */
    int64_t *free_milli;        /* by pool, now */
    wide_ns sum[GPU_DOES_COUNT];        /* level x ns */
    int64_t from_ns, last_ns;   /* the end of the warm-up; up to when `sum` counts */
    struct fact *later;         /* that wait for the next job */
    uint32_t laters, later_room;
    uint32_t waits;             /* tasks, when the last instant was over */
    bool stale;                 /* what is free was not counted again yet */
};

/* Returns the entry of a lease; the array grows with the largest number. */
static struct idle_lease *lease_of(struct idle *idle, uint32_t lease)
{
    ARENA_REACH(idle->arena, idle->lease, idle->lease_room, lease);
    return &idle->lease[lease];
}

/* Changes the level of a cause by `milli` thousandths of GPUs, of GPUs that are not
 * free to be leased. */
static void raise_level(struct idle *idle, enum gpu_does does, int64_t milli)
{
    idle->level[does] += milli;
    idle->known_milli += milli;
}

/* Moves the GPUs of a lease to another cause.  `held` false: the lease has ended,
 * and its GPUs are free. */
static void now_does(struct idle *idle, uint32_t i, bool held,
                     enum gpu_does does)
{
    struct idle_lease *lease = lease_of(idle, i);

    if (lease->held)
        raise_level(idle, lease->does, -lease->milli);
    if (held)
        raise_level(idle, does, lease->milli);
    lease->held = held;
    lease->does = does;
}

/* GPUs leave service or come back; fact->amount is their number.  A rented node is
 * away until it is ordered, rented while it starts or is under notice, and free in
 * between. */
static void node_fact(struct idle *idle, const struct fact *fact)
{
    int64_t gpus = llround(fact->amount * GPU_MILLI), all;

    switch ((enum fact_kind)fact->kind) {
    case FACT_NODE_DOWN: raise_level(idle, GPU_DOWN, gpus); break;
    case FACT_NODE_UP: raise_level(idle, GPU_DOWN, -gpus); break;
    case FACT_RENT_ORDER:
        raise_level(idle, GPU_AWAY, -gpus);
        raise_level(idle, GPU_RENTED, gpus);
        break;
    case FACT_RENT_UP: raise_level(idle, GPU_RENTED, -gpus); break;
    case FACT_RENT_NOTICE:
    case FACT_RENT_TAKEN: raise_level(idle, GPU_RENTED, gpus); break;
    case FACT_RENT_END:
        all = (int64_t)cluster_group_of(idle->spec, fact->subject)->gpus *
              GPU_MILLI;
        raise_level(idle, GPU_RENTED, gpus - all);
        raise_level(idle, GPU_AWAY, all);
        break;
    default: break;
    }
}

/* Is it a fact of nodes, and not of jobs and leases? */
static bool is_node_fact(const struct fact *fact)
{
    return fact->kind == FACT_NODE_DOWN || fact->kind == FACT_NODE_UP ||
           (fact->kind >= FACT_RENT_ORDER && fact->kind <= FACT_RENT_TAKEN);
}

/* A lease is taken: counts its GPUs from now on. */
static void take(struct idle *idle, struct lease_id id)
{
    const struct cs_lease *lease = cs_lease(idle->host, id);

    *lease_of(idle, id.i) = (struct idle_lease) {
        .milli = (int64_t)lease->gpus * lease->gpu_milli
    };
    now_does(idle, id.i, true, GPU_LOADS);
}

/* The GPUs of a lease do something else now. */
static void lease_fact(struct idle *idle, const struct fact *fact)
{
    struct lease_id id = { fact->subject };

    switch ((enum fact_kind)fact->kind) {
    case FACT_LEASE_TAKE: take(idle, id); break;
    case FACT_LEASE_READY: now_does(idle, id.i, true, GPU_WAITS); break;
    case FACT_LEASE_LEAVE: now_does(idle, id.i, true, GPU_LOADS); break;
    case FACT_PHASE_START: now_does(idle, id.i, true, GPU_WORKS); break;
    case FACT_PHASE_END: now_does(idle, id.i, true, GPU_WAITS); break;
    case FACT_LEASE_DROP: now_does(idle, id.i, false, GPU_LOADS); break;
    default: break;
    }
}

/* Returns why the free GPUs of a pool are free; milli[]: free GPUs by pool, in
 * thousandths.  Nobody wants them; tasks want other pools; the smallest task is too
 * large; a task behind the first would fit; or a task would fit and does not,
 * because of nodes, cores or the policy. */
static enum gpu_does free_for(const struct idle *idle, uint32_t pool,
                              const int64_t *milli)
{
    uint32_t wanted = host_pool_waits(idle->host, pool), behind;

    if (wanted == 0)
        return host_pending(idle->host) > 0 ? GPU_UNSUITED : GPU_UNWANTED;
    if ((int64_t)wanted * GPU_MILLI > milli[pool])
        return GPU_GANG;
    behind = host_pool_behind(idle->host, pool, milli);
    return behind > 0 && (int64_t)behind * GPU_MILLI <= milli[pool]
        ? GPU_BEHIND : GPU_FRAGMENT;
}

/* Adds the free GPUs of each pool to their cause, and returns how many there are in
 * all, in thousandths. */
static int64_t count_pools(struct idle *idle)
{
    int64_t *milli = idle->free_milli, sum = 0;

    for (uint32_t p = 0; p < idle->spec->pool_count; p++)
        milli[p] = host_pool_free_milli(idle->host, p);
    for (uint32_t p = 0; p < idle->spec->pool_count; p++) {
        if (milli[p] != 0)
            idle->level[free_for(idle, p, milli)] += milli[p];
        sum += milli[p];
    }
    return sum;
}

/* Counts anew what is free, and why; without jobs, all of it is unwanted. */
static void count_free(struct idle *idle)
{
    int64_t left = (int64_t)idle->spec->gpu_count * GPU_MILLI -
                   idle->known_milli;

    for (int d = GPU_UNWANTED; d <= GPU_BEHIND; d++)
        idle->level[d] = 0;
    if (left > 0 && idle->host != NULL && host_jobs_left(idle->host) > 0)
        left -= count_pools(idle);
    idle->level[GPU_UNWANTED] += left;
    idle->stale = false;
}

/* Integrates all levels up to now.  The loop has told before that the last instant
 * was over, so that no level is stale. */
static void advance(struct idle *idle, int64_t now)
{
    int64_t ns = now - idle->last_ns;

    if (ns <= 0)
        return;
    assert(!idle->stale);       /* the loop told that the instant was over */
    for (int d = 0; d < GPU_DOES_COUNT; d++)
        if (idle->level[d] != 0)
            idle->sum[d] += (wide_ns)idle->level[d] * ns;
    idle->last_ns = now;
}

/* Returns how many tasks wait; 0 in a trial without a host. */
static uint32_t count_waiting(const struct idle *idle)
{
    return idle->host == NULL ? 0 : host_pending(idle->host);
}

/* All that happens at an instant has happened: nothing before it lasted.  A service takes
 * back what it asked for without a fact, and in rounds no decision follows: then the levels
 * until now are those from before, also if no job is left now. */
static void settle(void *self)
{
    struct idle *idle = self;
    bool changed = count_waiting(idle) != idle->waits;

    if (changed && !idle->stale)
        advance(idle, loop_now_ns(idle->loop));
    if (idle->stale || changed)
        count_free(idle);
    idle->waits = count_waiting(idle);
}

/* Enters what nodes did while no job was in the system. */
static void enter_later(struct idle *idle)
{
    for (uint32_t i = 0; i < idle->laters; i++) {
        advance(idle, idle->later[i].time_ns);
        node_fact(idle, &idle->later[i]);
        count_free(idle);
    }
    idle->laters = 0;
}

/* A fact of nodes or rentals: without a job it waits for the next one. */
static void hear_node(struct idle *idle, const struct fact *fact)
{
    if (idle->host == NULL || host_jobs_left(idle->host) > 0) {
        advance(idle, fact->time_ns);
        node_fact(idle, fact);
        idle->stale = true;
        return;
    }
    ARENA_ADD(idle->arena, idle->later, idle->laters, idle->later_room, *fact);
}

/* Returns whether a decision is an alarm that a policy set for jobs that have
 * ended since: no time counts for it. */
static bool is_late_alarm(const struct idle *idle, const struct fact *fact)
{
    return idle->host != NULL && host_jobs_left(idle->host) == 0 &&
           (idle->laters > 0 || fact->time_ns > idle->last_ns);
}

/* Takes in a fact.  What is free is not counted again here but at the end of the
 * instant (settle): a decision starts many tasks at once. */
static void hear(void *self, const struct fact *fact)
{
    struct idle *idle = self;

    if (is_node_fact(fact)) {
        hear_node(idle, fact);
        return;
    }
    if (fact->kind == FACT_JOB_SUBMIT && idle->laters > 0)
        enter_later(idle);
    if ((fact->kind == FACT_DECIDE && is_late_alarm(idle, fact)) ||
        (fact->kind == FACT_JOB_END && fact->object != JOB_DROPPED))
        return;                 /* leases of what ends have gone before */
    advance(idle, fact->time_ns);
    lease_fact(idle, fact);
    /* Behind a phase the next one may wait: in rounds long before a decision. */
    if (fact->kind != FACT_LEASE_READY && fact->kind != FACT_LEASE_LEAVE)
        idle->stale = true;
}

/* Rented nodes begin as away.  The levels of a cluster without a job are all
 * unwanted or away. */
struct idle *idle_new(const struct metrics_parts *parts)
{
    struct idle *idle = arena_alloc(parts->arena, 1, sizeof *idle);
    const struct cluster_spec *spec = parts->spec->cluster;

    idle->arena = parts->arena;
    idle->loop = parts->loop;
    idle->spec = spec;
    idle->free_milli = arena_alloc(parts->arena, spec->pool_count + 1,
                                   sizeof *idle->free_milli);
    for (uint32_t g = 0; g < spec->group_count; g++)
        if (spec->group[g].rent != NULL)
            raise_level(idle, GPU_AWAY, (int64_t)spec->group[g].gpus *
                                            spec->group[g].node_count *
                                            GPU_MILLI);
    count_free(idle);
    journal_listen(parts->journal, FACTS, hear, idle);
    loop_when_over(parts->loop, settle, idle);
    return idle;
}

void idle_watch(struct idle *idle, struct cs_host *host)
{
    idle->host = host;
}

/* For a run in which GPUs are a count: what `working` leaves is free for one cause. */
void idle_count(struct idle *idle, int64_t now_ns, uint32_t working_gpus,
                uint32_t wanted_gpus, uint32_t behind_gpus)
{
    uint32_t free = idle->spec->gpu_count - working_gpus;
    enum gpu_does does = wanted_gpus == 0 ? GPU_UNWANTED
                         : wanted_gpus > free ? GPU_GANG
                         : behind_gpus > 0 && behind_gpus <= free ? GPU_BEHIND
                         : GPU_FRAGMENT;

    advance(idle, now_ns);
    memset(idle->level, 0, sizeof idle->level);
    idle->level[GPU_WORKS] = (int64_t)working_gpus * GPU_MILLI;
    idle->level[does] += (int64_t)free * GPU_MILLI;
}

/* Forgets the integrals; levels stay, as leases go on. */
void idle_begin(struct idle *idle, int64_t now_ns)
{
    settle(idle);
    advance(idle, now_ns);
    memset(idle->sum, 0, sizeof idle->sum);
    idle->from_ns = now_ns;
}

/* Enters what nodes did up to the end and forgets what they did later, which is
 * not of the run. */
void idle_until(struct idle *idle, int64_t end_ns)
{
    uint32_t kept = 0;

    settle(idle);
    while (kept < idle->laters && idle->later[kept].time_ns <= end_ns)
        kept++;
    idle->laters = kept;
    enter_later(idle);
    advance(idle, end_ns);
}

/* Whole seconds and the rest are turned into doubles apart, so that no digit is
 * lost. */
double idle_gpu_s(const struct idle *idle, enum gpu_does does)
{
    assert((unsigned)does < GPU_DOES_COUNT);
    wide_ns sum = idle->sum[does];

    return ((double)(sum / CLOCK_NS_PER_S) +
            (double)(sum % CLOCK_NS_PER_S) / 1e9) / GPU_MILLI;
}

/* All GPUs of the cluster over the time, without rented ones while they were away. */
double idle_all_gpu_s(const struct idle *idle)
{
    return (double)idle->spec->gpu_count *
               clock_s_from_ns(idle->last_ns - idle->from_ns) -
           idle_gpu_s(idle, GPU_AWAY);
}

/* A cluster without GPUs has none of these metrics. */
void idle_result(const struct idle *idle, double *value)
{
    double all = idle_all_gpu_s(idle);

    if (!(all > 0))
        return;
    value[METRIC_GPU_FRAGMENT] = idle_gpu_s(idle, GPU_FRAGMENT) / all;
    value[METRIC_GPU_GANG] = idle_gpu_s(idle, GPU_GANG) / all;
    value[METRIC_GPU_UNSUITED] = idle_gpu_s(idle, GPU_UNSUITED) / all;
    value[METRIC_GPU_BEHIND] = idle_gpu_s(idle, GPU_BEHIND) / all;
    value[METRIC_GPU_IDLE_QUEUED] = value[METRIC_GPU_FRAGMENT] +
        value[METRIC_GPU_BEHIND] + value[METRIC_GPU_GANG] +
        value[METRIC_GPU_UNSUITED];
    value[METRIC_GPU_IDLE_EMPTY] = idle_gpu_s(idle, GPU_UNWANTED) / all;
    value[METRIC_GPU_DOWN] = idle_gpu_s(idle, GPU_DOWN) / all;
    value[METRIC_GPU_RENT] = idle_gpu_s(idle, GPU_RENTED) / all;
}

/* Integers add up exactly, so that this may be asked without a tolerance. */
bool idle_adds_up(const struct idle *idle)
{
    wide_ns all = 0;

    for (int d = 0; d < GPU_DOES_COUNT; d++) {
        if (idle->sum[d] < 0)
            return false;
        all += idle->sum[d];
    }
    return all == (wide_ns)idle->spec->gpu_count * GPU_MILLI *
                      (idle->last_ns - idle->from_ns);
}

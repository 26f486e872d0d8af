/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/oracles/plain_lucid.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#define NOBODY UINT32_MAX
#define SAME_S 1e-6             /* what is less apart is one instant */

enum where { TO_COME, WAITS, RUNS, GONE };

struct state {
    enum where where;
    enum plain_place place;
    double left_s, since_s;
    double owes_s;              /* until it goes on: a restart */
    uint32_t with;              /* on the same GPUs; NOBODY: alone */
    uint32_t turn;              /* which one it was to hold GPUs first */
    bool tried;                 /* has run on the profiler */
};

struct run {
    struct plain_lucid *lucid;
    const struct plain_kind *kind[LUCID_JOBS];  /* of each job */
    struct state job[LUCID_JOBS];
    uint32_t free[PLAIN_PLACES], turns;
    double now_s;
};

static double speed_of(const struct run *run, uint32_t j)
{
    const struct state *job = &run->job[j];
    double alone = run->kind[j]->rate[job->place];

    if (job->with == NOBODY)
        return alone;
    return alone * run->kind[j]->beside[run->lucid->job[job->with].kind];
}

/* 0, 1, 2: tiny, medium, jumbo, by the mean of the paces that are stated; 3: none is. */
static uint32_t score_of(const struct plain_kind *kind)
{
    double sum = 0, count = 0;

    for (uint32_t k = 0; k < LUCID_KINDS; k++) {
        sum += kind->beside[k];
        count += kind->beside[k] > 0;
    }
    if (count == 0)
        return 3;
    return (sum / count < 0.95) + (sum / count < 0.85);
}

/* Is a place large enough for a job that may run there? */
static bool suits(const struct run *run, uint32_t j, enum plain_place place)
{
    return run->kind[j]->rate[place] > 0 && run->kind[j]->gpus <= run->lucid->gpus[place];
}

static bool wants_profiler(const struct run *run, uint32_t j)
{
    return run->lucid->profile_s > 0 && suits(run, j, PLAIN_TRY) &&
           (!run->job[j].tried || !suits(run, j, PLAIN_MAIN));
}

static double gpu_time(const struct run *run, uint32_t j)
{
    return (run->job[j].left_s + run->job[j].owes_s) * run->kind[j]->gpus;
}

/* Least GPU-time first, then the order of submission. */
static bool goes_before(const struct run *run, uint32_t a, uint32_t b)
{
    double more = gpu_time(run, a) - gpu_time(run, b);

    return fabs(more) > SAME_S ? more < 0 : a < b;
}

static uint32_t list_waiting(const struct run *run, uint32_t list[LUCID_JOBS])
{
    uint32_t count = 0;

    for (uint32_t j = 0; j < run->lucid->jobs; j++) {
        uint32_t at = count;
        if (run->job[j].where != WAITS)
            continue;
        for (; at > 0 && goes_before(run, j, list[at - 1]); at--)
            list[at] = list[at - 1];
        list[at] = j;
        count++;
    }
    return count;
}

static void start(struct run *run, uint32_t j, enum plain_place place, uint32_t with)
{
    struct state *job = &run->job[j];

    assert(job->where == WAITS && run->kind[j]->rate[place] > 0);
    if (with == NOBODY) {
        assert(run->free[place] >= run->kind[j]->gpus);
        run->free[place] -= run->kind[j]->gpus;
    } else {
        run->job[with].with = j;
    }
    if (isnan(run->lucid->job[j].start_s))
        run->lucid->job[j].start_s = run->now_s;
    job->where = RUNS;
    job->place = place;
    job->since_s = run->now_s;
    job->with = with;
    job->turn = run->turns++;
}

/* Frees the GPUs of a job, or leaves them to the one beside it. */
static void stop(struct run *run, uint32_t j, enum where where)
{
    struct state *job = &run->job[j];

    if (job->with == NOBODY)
        run->free[job->place] += run->kind[j]->gpus;
    else
        run->job[job->with].with = NOBODY;
    job->with = NOBODY;
    job->where = where;
}

static void leave_profiler(struct run *run)
{
    for (uint32_t j = 0; j < run->lucid->jobs; j++)
        if (run->job[j].where == RUNS && run->job[j].place == PLAIN_TRY &&
            suits(run, j, PLAIN_MAIN) &&
            run->now_s >= run->job[j].since_s + run->lucid->profile_s - SAME_S) {
            stop(run, j, WAITS);
            run->job[j].owes_s = run->lucid->restart_s;
        }
}

/* The fewest GPUs first, of as many the one with the least GPU-time. */
static void fill_profiler(struct run *run)
{
    uint32_t list[LUCID_JOBS];

    for (;;) {
        uint32_t count = list_waiting(run, list), least = NOBODY;
        for (uint32_t i = 0; i < count; i++)
            if (wants_profiler(run, list[i]) &&
                (least == NOBODY || run->kind[list[i]]->gpus < run->kind[least]->gpus))
                least = list[i];
        if (least == NOBODY || run->free[PLAIN_TRY] < run->kind[least]->gpus)
            return;
        run->job[least].tried = true;
        start(run, least, PLAIN_TRY, NOBODY);
    }
}

static bool may_pair(const struct run *run, uint32_t j, uint32_t other)
{
    const struct plain_kind *mine = run->kind[j], *its = run->kind[other];
    const struct state *runs = &run->job[other];

    return runs->where == RUNS && runs->place == PLAIN_MAIN && runs->with == NOBODY &&
           mine->gpus == its->gpus && mine->gpus <= run->lucid->gpus_max &&
           mine->rate[PLAIN_MAIN] > 0 &&
           score_of(mine) + score_of(its) <= run->lucid->score_max &&
           mine->run_s * mine->gpus <= 2 * its->run_s * its->gpus &&
           mine->beside[run->lucid->job[other].kind] > 0 &&
           its->beside[run->lucid->job[j].kind] > 0;
}

static bool start_beside(struct run *run, uint32_t j)
{
    uint32_t first = NOBODY;

    for (uint32_t other = 0; other < run->lucid->jobs; other++)
        if (may_pair(run, j, other) &&
            (first == NOBODY || run->job[other].turn < run->job[first].turn))
            first = other;
    if (first == NOBODY)
        return false;
    start(run, j, PLAIN_MAIN, first);
    return true;
}

static void decide(struct run *run)
{
    uint32_t list[LUCID_JOBS], count, wanted = 0;
    bool packs = run->lucid->packs == PLAIN_ALWAYS;

    leave_profiler(run);
    fill_profiler(run);
    count = list_waiting(run, list);
    for (uint32_t i = 0; i < count; i++)
        wanted += run->kind[list[i]]->gpus;
    if (run->lucid->packs == PLAIN_LOADED)
        packs = wanted > run->free[PLAIN_MAIN];
    for (uint32_t i = 0; i < count; i++) {
        uint32_t j = list[i];
        if (wants_profiler(run, j) || (packs && start_beside(run, j)))
            continue;
        if (run->kind[j]->rate[PLAIN_MAIN] > 0 && run->free[PLAIN_MAIN] >= run->kind[j]->gpus)
            start(run, j, PLAIN_MAIN, NOBODY);
        else if (!packs)
            return;
    }
}

/* When something happens next: a job comes, ends, or its time on the profiler is up. */
static double next_s(const struct run *run)
{
    double next = INFINITY;

    for (uint32_t j = 0; j < run->lucid->jobs; j++) {
        const struct state *job = &run->job[j];
        if (job->where == TO_COME)
            next = fmin(next, run->lucid->job[j].submit_s);
        if (job->where != RUNS)
            continue;
        next = fmin(next, run->now_s + job->owes_s + job->left_s / speed_of(run, j));
        if (job->place == PLAIN_TRY && suits(run, j, PLAIN_MAIN))
            next = fmin(next, job->since_s + run->lucid->profile_s);
    }
    return next;
}

/* Ends come first, then arrivals. */
static void go_to(struct run *run, double time_s)
{
    uint32_t jobs = run->lucid->jobs;

    for (uint32_t j = 0; j < jobs; j++) {
        struct state *job = &run->job[j];
        double restarts_s = fmin(job->owes_s, time_s - run->now_s);
        if (job->where != RUNS)
            continue;
        job->owes_s -= restarts_s;
        job->left_s -= speed_of(run, j) * (time_s - run->now_s - restarts_s);
    }
    run->now_s = time_s;
    for (uint32_t j = 0; j < jobs; j++) {
        if (run->job[j].where == RUNS && run->job[j].left_s < SAME_S) {
            run->lucid->job[j].end_s = time_s;
            stop(run, j, GONE);
        }
        if (run->job[j].where == TO_COME && run->lucid->job[j].submit_s <= time_s)
            run->job[j].where = WAITS;
    }
}

void plain_lucid_run(struct plain_lucid *lucid)
{
    struct run run = { .lucid = lucid };

    for (uint32_t p = 0; p < PLAIN_PLACES; p++)
        run.free[p] = lucid->gpus[p];
    for (uint32_t j = 0; j < lucid->jobs; j++) {
        run.kind[j] = &lucid->kind[lucid->job[j].kind];
        run.job[j] = (struct state) { .left_s = run.kind[j]->run_s, .with = NOBODY };
        lucid->job[j].start_s = lucid->job[j].end_s = NAN;
    }
    for (double next; isfinite(next = next_s(&run));) {
        go_to(&run, next);
        decide(&run);
    }
}

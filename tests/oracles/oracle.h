/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * oracle.h - a cluster simulator as dull as can be: one second at a time,
 * GPUs as a count.  Completions, then arrivals, then one pass.  It shares no
 * line with the product and is the judge of it on small traces.
 */
#ifndef TESTS_ORACLE_H
#define TESTS_ORACLE_H

#include <stdint.h>
#include <stdlib.h>

#include "tests/aid/world.h"

enum oracle_rule { ORACLE_FIFO, ORACLE_SKIP, ORACLE_SJF, ORACLE_EASY,
                   ORACLE_SRTF, ORACLE_SRSF, ORACLE_FEWEST, ORACLE_LAS };
#define ORACLE_QUANTUM_S 20             /* of ORACLE_LAS */

struct oracle_job {
    int64_t left, start, end;           /* -1: not yet */
    int running;
};

struct oracle {
    const struct world_job *job;
    struct oracle_job *state;
    uint32_t jobs, gpus, free;
    uint32_t *list;                     /* of SRTF to LAS; it persists */
    uint32_t listed;
};

static inline int oracle_waits(const struct oracle *o, uint32_t i, int64_t t)
{
    return o->job[i].submit_s <= t && o->state[i].end < 0 &&
           !o->state[i].running;
}

static inline void oracle_start(struct oracle *o, uint32_t i, int64_t t)
{
    o->state[i].running = 1;
    o->free -= o->job[i].gpus;
    if (o->state[i].start < 0)
        o->state[i].start = t;
}

/* The waiting job to look at after `last` in the order of the rule. */
static inline uint32_t oracle_next(const struct oracle *o, int64_t t,
                                   enum oracle_rule rule, const char *seen)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < o->jobs; i++) {
        if (seen[i] || !oracle_waits(o, i, t))
            continue;
        if (best == UINT32_MAX ||
            (rule == ORACLE_SJF &&
             o->job[i].duration_s < o->job[best].duration_s))
            best = i;
    }
    return best;
}

static inline void oracle_easy(struct oracle *o, int64_t t, uint32_t head,
                               char *seen)
{
    int64_t shadow = t;
    uint32_t spare = 0;
    for (;; shadow++) {         /* when will there be room for the head? */
        uint32_t room = o->free;
        for (uint32_t i = 0; i < o->jobs; i++)
            if (o->state[i].running && t + o->state[i].left <= shadow)
                room += o->job[i].gpus;
        if (room >= o->job[head].gpus) {
            spare = room - o->job[head].gpus;
            break;
        }
    }
    for (uint32_t i;
         (i = oracle_next(o, t, ORACLE_FIFO, seen)) != UINT32_MAX;) {
        seen[i] = 1;
        int ends = t + o->job[i].duration_s <= shadow;
        if (o->job[i].gpus > o->free || !(ends || o->job[i].gpus <= spare))
            continue;
        oracle_start(o, i, t);
        if (!ends)
            spare -= o->job[i].gpus;
    }
}

static inline void oracle_pass(struct oracle *o, int64_t t,
                               enum oracle_rule rule)
{
    char *seen = calloc(o->jobs, 1);
    for (uint32_t i;
         (i = oracle_next(o, t, rule, seen)) != UINT32_MAX;) {
        seen[i] = 1;
        if (o->job[i].gpus <= o->free) {
            oracle_start(o, i, t);
        } else if (rule == ORACLE_EASY) {
            oracle_easy(o, t, i, seen);
            break;
        } else if (rule != ORACLE_SKIP) {
            break;
        }
    }
    free(seen);
}

static inline int64_t oracle_key(const struct oracle *o, uint32_t i,
                                 enum oracle_rule rule)
{
    int64_t left = o->state[i].left, gpus = o->job[i].gpus;
    switch (rule) {
    case ORACLE_SRSF: return left * gpus;
    case ORACLE_FEWEST: return gpus;
    case ORACLE_LAS: return (o->job[i].duration_s - left) * gpus;
    default: return left;
    }
}

/* True if somebody is left waiting. */
static inline int oracle_deal(struct oracle *o, int64_t t,
                              enum oracle_rule rule)
{
    int waits = 0;
    for (uint32_t a = 1; a < o->listed; a++)    /* stable */
        for (uint32_t b = a;
             b > 0 && oracle_key(o, o->list[b], rule) <
                          oracle_key(o, o->list[b - 1], rule); b--) {
            uint32_t keep = o->list[b];
            o->list[b] = o->list[b - 1];
            o->list[b - 1] = keep;
        }
    o->free = o->gpus;
    for (uint32_t k = 0; k < o->listed; k++) {
        uint32_t i = o->list[k];
        o->state[i].running = 0;
        if (o->job[i].gpus <= o->free)
            oracle_start(o, i, t);
        else
            waits = 1;
    }
    return waits;
}

/* Conservative backfill with exact estimates needs no events: in order of
 * submission each job is put into the first hole that is large enough. */
static inline void oracle_conservative(uint32_t gpus,
                                       const struct world_job *job,
                                       uint32_t jobs,
                                       struct oracle_job *state)
{
    int64_t end = 1;
    for (uint32_t i = 0; i < jobs; i++)
        end += job[i].duration_s;
    end += job[jobs - 1].submit_s;
    uint32_t *used = calloc((size_t)end, sizeof *used);
    for (uint32_t i = 0; i < jobs; i++) {
        int64_t start = job[i].submit_s;
        for (int64_t t = start; t < start + job[i].duration_s; t++)
            if (used[t] + job[i].gpus > gpus)
                start = t + 1;
        for (int64_t t = start; t < start + job[i].duration_s; t++)
            used[t] += job[i].gpus;
        state[i] = (struct oracle_job) { 0, start,
                                         start + job[i].duration_s, 0 };
    }
    free(used);
}

/* Fills start and end of every job. */
static inline void oracle_run(enum oracle_rule rule, uint32_t gpus,
                              const struct world_job *job, uint32_t jobs,
                              struct oracle_job *state)
{
    struct oracle o = { job, state, jobs, gpus, gpus,
                        calloc(jobs, sizeof(uint32_t)), 0 };
    uint32_t done = 0;
    int waits = 0;
    for (uint32_t i = 0; i < jobs; i++)
        state[i] = (struct oracle_job) { job[i].duration_s, -1, -1, 0 };
    for (int64_t t = 0; done < jobs; t++) {
        int news = 0;
        for (uint32_t i = 0; i < jobs; i++)
            if (state[i].running && --state[i].left == 0) {
                state[i].running = 0;
                state[i].end = t;
                o.free += job[i].gpus;
                done++;
                news = 1;
                for (uint32_t k = 0; k < o.listed; k++)
                    if (o.list[k] == i) {
                        for (uint32_t l = k + 1; l < o.listed; l++)
                            o.list[l - 1] = o.list[l];
                        o.listed--;
                    }
            }
        for (uint32_t i = 0; i < jobs; i++)
            if (job[i].submit_s == t) {
                o.list[o.listed++] = i;
                news = 1;
            }
        if (rule == ORACLE_LAS && waits && t % ORACLE_QUANTUM_S == 0) {
            waits = oracle_deal(&o, t, rule);
        } else if (news && rule >= ORACLE_SRTF)
            waits |= oracle_deal(&o, t, rule);
        else if (news)
            oracle_pass(&o, t, rule);
    }
    free(o.list);
}

#endif

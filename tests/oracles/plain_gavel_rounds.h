/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_gavel_rounds.h - an oracle: when jobs start and end under Gavel, by its linear programs
 * (Narayanan et al., OSDI 2020, sections 3 and 4), solved by the simplex method as textbooks have
 * it, and its rounds (their algorithm 1), dealt job by job.
 *
 * A pool is one node, so that GPUs are never in pieces.  Jobs are submitted within rounds, in
 * order.  Of a test program that includes it once.
 */
#ifndef TESTS_PLAIN_GAVEL_ROUNDS_H
#define TESTS_PLAIN_GAVEL_ROUNDS_H

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define JOBS 7u
#define POOLS 3u
#define COMBOS (JOBS + JOBS * (JOBS - 1) / 2)
#define COLUMNS (COMBOS * POOLS + 1)            /* shares of time, and z */
#define ROWS (2 * JOBS + POOLS + 1)             /* the last: z does not fall */
#define RHS (COLUMNS + ROWS)
#define ROUND_S 60
#define TIGHT 1e-7              /* of z that the second program may give up */
#define NOBODY UINT32_MAX

enum objective { MAX_MIN, MAKESPAN, FINISH_TIME, COST };

struct job {
    double submit_s, left_s, gpus, speed[POOLS];
    double beside[JOBS][POOLS];         /* its speed beside another on the same GPUs */
    double start_s, end_s;
    double alone, alone_s, solved_left_s;       /* the rate on 1/n of the cluster; see refresh() */
    uint32_t pool, mate;
};

/* One job, or two on the same GPUs; numbers of jobs. */
struct combo {
    uint32_t a, b;
    double share[POOLS], got_s[POOLS];
};

struct gavel {
    enum objective objective;
    bool packing, tied;         /* tied: see is_tie() */
    double every_s;             /* the least time between two programs */
    uint32_t jobs, pools, combos;
    double cap[POOLS], usd[POOLS];
    struct job job[JOBS];
    struct combo combo[COMBOS];
    bool listed[JOBS];          /* submitted before this round, and not ended before it */
    double need[JOBS], unit;    /* unit: the largest need; z counts in its inverse */
};

/* ---- the simplex method ---------------------------------------------------------- */

/* Rows: sums <= limits, which are not negative; slack variables stand behind the columns; the
 * last row is the objective, negated. */
struct tableau {
    double at[ROWS + 1][RHS + 1];
    uint32_t basis[ROWS];
};

static void pivot(struct tableau *t, uint32_t row, uint32_t column)
{
    double by = t->at[row][column];

    t->basis[row] = column;
    for (uint32_t c = 0; c <= RHS; c++)
        t->at[row][c] /= by;
    for (uint32_t r = 0; r <= ROWS; r++) {
        double times = t->at[r][column];
        for (uint32_t c = 0; r != row && times != 0 && c <= RHS; c++)
            t->at[r][c] -= times * t->at[row][c];
    }
}

/* By Bland's rule, which goes in no circle. */
static void climb(struct tableau *t)
{
    for (;;) {
        uint32_t column = 0, row = ROWS;
        while (column < RHS && t->at[ROWS][column] > -1e-9)
            column++;
        if (column == RHS)
            return;
        for (uint32_t r = 0; r < ROWS; r++) {
            if (t->at[r][column] < 1e-9)
                continue;
            double here = t->at[r][RHS] / t->at[r][column];
            double best = row == ROWS ? INFINITY : t->at[row][RHS] / t->at[row][column];
            if (here < best - 1e-12 || (here <= best && t->basis[r] < t->basis[row]))
                row = r;
        }
        assert(row < ROWS);
        pivot(t, row, column);
    }
}

static double value_of(const struct tableau *t, uint32_t column)
{
    for (uint32_t r = 0; r < ROWS; r++)
        if (t->basis[r] == column)
            return t->at[r][RHS];
    return 0;
}

/* ---- the programs ---------------------------------------------------------------- */

static double speed_in(const struct gavel *g, uint32_t j, uint32_t p)
{
    return g->job[j].gpus > g->cap[p] ? 0 : g->job[j].speed[p];
}

static double equal_rate(const struct gavel *g, uint32_t j)
{
    double rate = 0, all = 0;

    for (uint32_t p = 0; p < g->pools; p++) {
        rate += g->cap[p] * speed_in(g, j, p);
        all += g->cap[p];
    }
    return rate / all;
}

/* What one of the jobs of a combination does in a pool. */
static double rate_in(const struct gavel *g, const struct combo *k, uint32_t j, uint32_t p)
{
    uint32_t other = k->a == j ? k->b : k->a;
    double one, two;

    if (speed_in(g, j, p) <= 0 || (k->a != j && k->b != j))
        return 0;
    if (other == NOBODY)
        return speed_in(g, j, p);
    one = g->job[j].beside[other][p];
    two = g->job[other].beside[j][p];
    return one / g->job[j].speed[p] + two / g->job[other].speed[p] > 1 ? one : 0;
}

static void list_combos(struct gavel *g)
{
    g->combos = 0;
    for (uint32_t a = 0; a < g->jobs; a++)
        if (g->listed[a])
            g->combo[g->combos++] = (struct combo) { .a = a, .b = NOBODY };
    for (uint32_t a = 0; g->packing && a < g->jobs; a++)
        for (uint32_t b = a + 1; b < g->jobs; b++)
            if (g->listed[a] && g->listed[b] && g->job[a].gpus == g->job[b].gpus)
                g->combo[g->combos++] = (struct combo) { .a = a, .b = b };
}

/* A job's time, what it needs, and a pool's GPUs.  Rows that are not needed stay 0 <= 0. */
static void write_rows(struct gavel *g, struct tableau *t)
{
    memset(t, 0, sizeof *t);
    g->unit = 0;
    for (uint32_t j = 0; j < g->jobs; j++)
        g->unit = fmax(g->unit, g->need[j]);
    for (uint32_t r = 0; r < ROWS; r++) {
        t->at[r][COLUMNS + r] = 1;
        t->basis[r] = COLUMNS + r;
    }
    for (uint32_t j = 0; j < g->jobs; j++) {
        t->at[j][RHS] = 1;
        t->at[JOBS + j][COLUMNS - 1] = g->need[j] > 0;
    }
    for (uint32_t p = 0; p < g->pools; p++)
        t->at[2 * JOBS + p][RHS] = g->cap[p];
    for (uint32_t c = 0; c < g->combos * g->pools; c++) {
        const struct combo *k = &g->combo[c / g->pools];
        uint32_t p = c % g->pools;
        for (uint32_t j = 0; j < g->jobs; j++) {
            t->at[j][c] = k->a == j || k->b == j;
            if (g->need[j] > 0)
                t->at[JOBS + j][c] = -rate_in(g, k, j, p) * g->unit / g->need[j];
        }
        t->at[2 * JOBS + p][c] = g->job[k->a].gpus;
    }
}

/* The largest z such that all have z times their needs, which are not all zero. */
static double best_z(struct gavel *g, struct tableau *t)
{
    write_rows(g, t);
    t->at[ROWS][COLUMNS - 1] = -1;
    climb(t);
    return value_of(t, COLUMNS - 1);
}

/* From the best z on: it is at least `least` from now on, and the sum of rates over those of equal
 * shares, and over prices, is the most. */
static void best_sum(struct gavel *g, struct tableau *t, double least)
{
    uint32_t z = 0;

    while (z < ROWS && t->basis[z] != COLUMNS - 1)
        z++;
    if (z < ROWS) {
        double *row = t->at[ROWS - 1];
        memcpy(row, t->at[z], sizeof t->at[z]);
        row[COLUMNS - 1] = 0;
        row[COLUMNS + ROWS - 1] = 1;
        row[RHS] -= least;
        t->basis[ROWS - 1] = COLUMNS + ROWS - 1;
    }
    memset(t->at[ROWS], 0, sizeof t->at[ROWS]);
    for (uint32_t c = 0; c < g->combos * g->pools; c++) {
        const struct combo *k = &g->combo[c / g->pools];
        uint32_t p = c % g->pools;
        double usd = g->objective == COST ? g->usd[p] : 1;
        t->at[ROWS][c] -= rate_in(g, k, k->a, p) / equal_rate(g, k->a) / usd;
        if (k->b != NOBODY)
            t->at[ROWS][c] -= rate_in(g, k, k->b, p) / equal_rate(g, k->b) / usd;
    }
    for (uint32_t r = 0; r < ROWS; r++) {       /* what is in the basis gains nothing more */
        double times = t->at[ROWS][t->basis[r]];
        for (uint32_t c = 0; times != 0 && c <= RHS; c++)
            t->at[ROWS][c] -= times * t->at[r][c];
    }
    climb(t);
}

/* Could another share be given, and the sum stay?  Then there are several best solutions.  A share
 * of about TIGHT is there or not by the last digits of z. */
static bool has_choice(const struct gavel *g, const struct tableau *t)
{
    for (uint32_t c = 0; c < g->combos * g->pools; c++) {
        const struct combo *k = &g->combo[c / g->pools];
        double share = value_of(t, c);
        bool basic = false;
        for (uint32_t r = 0; r < ROWS; r++)
            basic |= t->basis[r] == c;
        if (!basic && rate_in(g, k, k->a, c % g->pools) > 0 && t->at[ROWS][c] < 1e-7)
            return true;
        if (share > 0.1 * TIGHT && share < 100 * TIGHT)
            return true;
    }
    return false;
}

/* ---- objectives ------------------------------------------------------------------ */

/* The time that a job would have needed so far on its n-th part of the cluster grows by its work
 * at the rate of that part since the last program. */
static void refresh(struct gavel *g)
{
    uint32_t n = 0;

    for (uint32_t j = 0; j < g->jobs; j++)
        n += g->listed[j];
    for (uint32_t j = 0; j < g->jobs; j++) {
        struct job *job = &g->job[j];
        double rate = 0, time = 0;
        if (!g->listed[j])
            continue;
        for (uint32_t p = 0; p < g->pools; p++) {
            double part = g->cap[p] / n / job->gpus;
            time += part;
            rate += part * speed_in(g, j, p);
        }
        if (job->alone > 0)
            job->alone_s += (job->solved_left_s - job->left_s) / job->alone;
        job->alone = time > 1 ? rate / time : rate;
        job->solved_left_s = job->left_s;
    }
}

static bool rho_can_be_had(struct gavel *g, double now_s, double rho)
{
    struct tableau t;

    for (uint32_t j = 0; j < g->jobs; j++) {
        const struct job *job = &g->job[j];
        g->need[j] = 0;
        double time_s = rho * (job->alone_s + job->left_s / job->alone) -
                        (now_s - job->submit_s);
        if (!g->listed[j])
            continue;
        if (time_s <= 0)
            return false;
        g->need[j] = job->left_s / time_s;
    }
    return best_z(g, &t) >= g->unit;
}

/* By bisection, to a 65,536th of the first bound that can be had. */
static void find_rho(struct gavel *g, double now_s)
{
    double low = 0, high = 1;

    while (!rho_can_be_had(g, now_s, high))
        high *= 2;
    for (int i = 0; i < 16; i++) {
        double middle = (low + high) / 2;
        if (rho_can_be_had(g, now_s, middle))
            high = middle;
        else
            low = middle;
    }
    rho_can_be_had(g, now_s, high);
}

static void plan_shares(struct gavel *g, double now_s)
{
    struct tableau t;

    refresh(g);
    list_combos(g);
    for (uint32_t j = 0; j < g->jobs; j++) {
        g->need[j] = 0;
        if (g->listed[j] && g->objective == MAX_MIN)
            g->need[j] = equal_rate(g, j) / g->job[j].gpus;
        if (g->listed[j] && g->objective == MAKESPAN)
            g->need[j] = g->job[j].left_s;
    }
    if (g->objective == FINISH_TIME)
        find_rho(g, now_s);
    if (g->objective == COST)
        write_rows(g, &t);
    double z = g->objective == COST ? 0 : best_z(g, &t);
    best_sum(g, &t, z * (1 - TIGHT));
    g->tied |= has_choice(g, &t);
    for (uint32_t c = 0; c < g->combos * g->pools; c++) {
        g->combo[c / g->pools].share[c % g->pools] = value_of(&t, c);
        g->combo[c / g->pools].got_s[c % g->pools] = 0.5 * ROUND_S;
    }
}

/* ---- rounds ---------------------------------------------------------------------- */

struct pick { const struct combo *k; uint32_t pool; };

static double priority_of(const struct pick *pick)
{
    return pick->k->share[pick->pool] / pick->k->got_s[pick->pool];
}

static bool is_open(const struct gavel *g, uint32_t j)
{
    return j == NOBODY || (g->listed[j] && g->job[j].pool == NOBODY);
}

static bool may_run(const struct gavel *g, const struct pick *pick, const double *room)
{
    return pick->k->share[pick->pool] > TIGHT && g->job[pick->k->a].gpus <= room[pick->pool] &&
           is_open(g, pick->k->a) && is_open(g, pick->k->b);
}

static bool share_a_job(const struct combo *x, const struct combo *y)
{
    return x->a == y->a || x->a == y->b || (x->b != NOBODY && (x->b == y->a || x->b == y->b));
}

/* Of equal priorities that cannot both be served, the last digit of a share decides. */
static bool is_tie(const struct gavel *g, const struct pick *x, const struct pick *y,
                   const double *room)
{
    bool both = !share_a_job(x->k, y->k) &&
                (x->pool != y->pool ||
                 g->job[x->k->a].gpus + g->job[y->k->a].gpus <= room[x->pool]);

    return !both && fabs(priority_of(x) / priority_of(y) - 1) < 1e-4;
}

static void take_pick(struct gavel *g, const struct pick *pick, double *room)
{
    uint32_t a = pick->k->a, b = pick->k->b;

    room[pick->pool] -= g->job[a].gpus;
    g->combo[pick->k - g->combo].got_s[pick->pool] += ROUND_S;
    g->job[a].pool = pick->pool;
    g->job[a].mate = b;
    if (b == NOBODY)
        return;
    g->job[b].pool = pick->pool;
    g->job[b].mate = a;
}

/* Algorithm 1: again and again the combination of the highest priority of those whose jobs have
 * no place yet and that find room. */
static void deal_round(struct gavel *g)
{
    double room[POOLS];

    memcpy(room, g->cap, sizeof room);
    for (;;) {
        struct pick best = { NULL, 0 };
        for (uint32_t turn = 0; turn < 2; turn++)       /* the best, then what is as good */
            for (uint32_t c = 0; c < g->combos * g->pools; c++) {
                struct pick pick = { &g->combo[c / g->pools], c % g->pools };
                if (!may_run(g, &pick, room) || (pick.k == best.k && pick.pool == best.pool))
                    continue;
                if (turn == 1)
                    g->tied |= is_tie(g, &best, &pick, room);
                else if (best.k == NULL || priority_of(&pick) > priority_of(&best))
                    best = pick;
            }
        if (best.k == NULL)
            return;
        take_pick(g, &best, room);
    }
}

/* Who is left alone within a round goes on as fast as alone. */
static void run_round(struct gavel *g, double now_s)
{
    double rate[JOBS], until_s[JOBS];

    for (uint32_t j = 0; j < g->jobs; j++) {
        const struct job *job = &g->job[j];
        if (job->pool == NOBODY)
            continue;
        rate[j] = job->mate == NOBODY ? job->speed[job->pool] : job->beside[job->mate][job->pool];
        until_s[j] = job->left_s / rate[j];
    }
    for (uint32_t j = 0; j < g->jobs; j++) {
        struct job *job = &g->job[j];
        uint32_t mate = job->mate;
        if (job->pool == NOBODY)
            continue;
        if (job->start_s < 0)
            job->start_s = now_s;
        double left_s = job->left_s - rate[j] * ROUND_S, ends_s = until_s[j];
        if (mate != NOBODY && until_s[mate] < fmin(until_s[j], ROUND_S)) {
            double rest_s = job->left_s - rate[j] * until_s[mate];
            ends_s = until_s[mate] + rest_s / job->speed[job->pool];
            left_s = rest_s - job->speed[job->pool] * (ROUND_S - until_s[mate]);
        }
        job->left_s = left_s;
        if (ends_s <= ROUND_S) {
            job->end_s = now_s + ends_s;
            job->left_s = 0;
        }
    }
}

static void run_plain(struct gavel *g)
{
    double solved_s = -INFINITY;
    bool news = false;

    for (double now_s = 0;; now_s += ROUND_S) {
        uint32_t ended = 0, here_now = 0;
        for (uint32_t j = 0; j < g->jobs; j++) {
            bool here = g->job[j].submit_s <= now_s && g->job[j].end_s < 0;
            news |= here != g->listed[j];
            g->listed[j] = here;
            g->job[j].pool = g->job[j].mate = NOBODY;
            ended += g->job[j].end_s >= 0;
            here_now += here;
        }
        if (ended == g->jobs)
            return;
        if (here_now > 0 && news && now_s - solved_s >= g->every_s) {
            plan_shares(g, now_s);
            news = false;
            solved_s = now_s;
        }
        deal_round(g);
        run_round(g, now_s);
    }
}

#endif

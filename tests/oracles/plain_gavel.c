/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/oracles/plain_gavel.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define COLUMNS (GAVEL_JOBS * GAVEL_POOLS + 1)  /* shares of time, and the least quotient */
#define ROWS (2 * GAVEL_JOBS + GAVEL_POOLS)
#define FIRST 1e6               /* the least quotient counts before all sums */

/* Rows: sums <= limits, which are not negative; the last row is the objective, negated.  The
 * last column of each row is its limit; slack variables stand behind the columns. */
struct tableau {
    double at[ROWS + 1][COLUMNS + ROWS + 1];
    uint32_t basis[ROWS];
};

double plain_gavel_equal(const struct plain_gavel *g, uint32_t job)
{
    double rate = 0, all = 0;

    for (uint32_t p = 0; p < g->pools; p++) {
        rate += g->cap[p] * g->speed[job][p];
        all += g->cap[p];
    }
    return rate / all;
}

/* max-min: the rate of equal shares, by GPU; makespan: the work; finish-time: the rate on the
 * job's n-th part of each pool, which is no more than all of its time. */
double plain_gavel_need(const struct plain_gavel *g, uint32_t job)
{
    double rate = 0, time = 0;

    if (g->objective == PLAIN_MAX_MIN)
        return plain_gavel_equal(g, job) / g->gpus[job];
    if (g->objective == PLAIN_MAKESPAN)
        return g->left_s[job];
    for (uint32_t p = 0; p < g->pools; p++) {
        double part = g->cap[p] / g->jobs / g->gpus[job];
        time += part;
        rate += part * g->speed[job][p];
    }
    return time > 1 ? rate / time : rate;
}

static void pivot(struct tableau *t, uint32_t row, uint32_t column)
{
    double by = t->at[row][column];

    t->basis[row] = column;
    for (uint32_t c = 0; c <= COLUMNS + ROWS; c++)
        t->at[row][c] /= by;
    for (uint32_t r = 0; r <= ROWS; r++) {
        double times = t->at[r][column];
        for (uint32_t c = 0; r != row && c <= COLUMNS + ROWS; c++)
            t->at[r][c] -= times * t->at[row][c];
    }
}

/* By Bland's rule, which goes in no circle: the first column that gains, and of the rows that
 * bound it most the one with the first variable. */
static void climb(struct tableau *t)
{
    for (;;) {
        uint32_t column = 0, row = ROWS;
        while (column < COLUMNS + ROWS && t->at[ROWS][column] > -1e-9)
            column++;
        if (column == COLUMNS + ROWS)
            return;
        for (uint32_t r = 0; r < ROWS; r++) {
            if (t->at[r][column] < 1e-9)
                continue;
            double here = t->at[r][COLUMNS + ROWS] / t->at[r][column];
            double best = row == ROWS ? INFINITY
                                      : t->at[row][COLUMNS + ROWS] / t->at[row][column];
            if (here < best - 1e-12 || (here <= best && t->basis[r] < t->basis[row]))
                row = r;
        }
        assert(row < ROWS);
        pivot(t, row, column);
    }
}

/* Rows that are not needed stay 0 <= 0.  Needs are counted in `unit`. */
static void write_rows(const struct plain_gavel *g, double unit, struct tableau *t)
{
    for (uint32_t r = 0; r < ROWS; r++) {
        t->at[r][COLUMNS + r] = 1;
        t->basis[r] = COLUMNS + r;
    }
    for (uint32_t j = 0; j < g->jobs; j++) {
        double *time = t->at[j], *least = t->at[GAVEL_JOBS + j];
        time[COLUMNS + ROWS] = 1;
        least[COLUMNS - 1] = 1;
        for (uint32_t p = 0; p < g->pools; p++) {
            uint32_t c = j * GAVEL_POOLS + p;
            time[c] = 1;
            least[c] = -g->speed[j][p] * unit / plain_gavel_need(g, j);
            t->at[2 * GAVEL_JOBS + p][c] = g->gpus[j];
            t->at[2 * GAVEL_JOBS + p][COLUMNS + ROWS] = g->cap[p];
            t->at[ROWS][c] = -g->speed[j][p] / plain_gavel_equal(g, j);
        }
    }
    t->at[ROWS][COLUMNS - 1] = -FIRST;
}

void plain_gavel_solve(const struct plain_gavel *g, double *least, double *sum)
{
    double unit = plain_gavel_need(g, 0);
    struct tableau t;

    assert(g->jobs <= GAVEL_JOBS && g->pools <= GAVEL_POOLS);
    memset(&t, 0, sizeof t);
    write_rows(g, unit, &t);
    climb(&t);
    *least = *sum = 0;
    for (uint32_t r = 0; r < ROWS; r++) {
        uint32_t c = t.basis[r];
        if (c == COLUMNS - 1)
            *least = t.at[r][COLUMNS + ROWS] / unit;
        else if (c < COLUMNS)
            *sum += t.at[r][COLUMNS + ROWS] * g->speed[c / GAVEL_POOLS][c % GAVEL_POOLS] /
                    plain_gavel_equal(g, c / GAVEL_POOLS);
    }
}

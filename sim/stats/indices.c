/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * indices.c - Sobol's indices.
 *
 * One quasi-random sequence of 2 x inputs dimensions gives A and B, row by row.
 * The bootstrap draws rows, with all their outputs, since those of one row are
 * not independent.
 */
#include "sim/stats/indices.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/stats/sample.h"
#include "sim/stats/stats.h"

/* Points are laid out as A, B, then for each input A with that column of B
 * (Saltelli et al. 2010). */
struct indices_design indices_draw(struct arena *arena, size_t inputs, size_t rows)
{
    struct indices_design design = { .inputs = inputs, .rows = rows,
                                     .points = rows * (inputs + 2) };
    double *ab = arena_alloc(arena, rows * 2 * inputs, sizeof *ab);

    assert(inputs > 0 && inputs <= INDICES_INPUTS_MAX && rows > 0);
    design.u = arena_alloc(arena, design.points * inputs, sizeof *design.u);
    sample_sobol(ab, rows, 2 * inputs);
    for (size_t r = 0; r < rows; r++) {
        const double *a = ab + r * 2 * inputs, *b = a + inputs;

        memcpy(design.u + r * inputs, a, inputs * sizeof *a);
        memcpy(design.u + (rows + r) * inputs, b, inputs * sizeof *b);
        for (size_t i = 0; i < inputs; i++) {
            double *row = design.u + ((2 + i) * rows + r) * inputs;

            memcpy(row, a, inputs * sizeof *a);
            row[i] = b[i];
        }
    }
    return design;
}

struct pair {
    double first, total;        /* indices of one input, see indices.h */
};

/* The indices of one input over the chosen rows. */
static struct pair estimate_pair(const struct indices_design *design, const double *y,
                                 size_t input, const size_t *row)
{
    const double *a = y, *b = y + design->rows, *ab = b + (1 + input) * design->rows;
    double n = (double)design->rows, mean = 0, variance = 0, first = 0, total = 0;

    assert(input < design->inputs);
    for (size_t i = 0; i < design->rows; i++)
        mean += (a[row[i]] + b[row[i]]) / (2 * n);
    for (size_t i = 0; i < design->rows; i++) {
        size_t r = row[i];

        variance += ((a[r] - mean) * (a[r] - mean) +
                     (b[r] - mean) * (b[r] - mean)) / (2 * n - 1);
        first += (b[r] - mean) * (ab[r] - a[r]) / n;
        total += (a[r] - ab[r]) * (a[r] - ab[r]) / (2 * n);
    }
    if (!(variance > 0))
        return (struct pair){ NAN, NAN };
    return (struct pair){ first / variance, total / variance };
}

/* The ends of the middle 95% of the draws that have a value. */
static void find_percentiles(double *draw, size_t count, double *low, double *high)
{
    size_t tail = count / 40;

    assert(count <= INDICES_RESAMPLES && tail < count - tail + (count == 0));
    *low = *high = NAN;
    if (count == 0)
        return;
    qsort(draw, count, sizeof *draw, stats_order);
    *low = draw[tail];
    *high = draw[count - 1 - tail];
    assert(*low <= *high);
}

void indices_of(struct arena *arena, struct rng *rng,
                const struct indices_design *design, const double *y,
                struct indices *index)
{
    size_t *row = arena_alloc(arena, design->rows, sizeof *row);
    double *first = arena_alloc(arena, INDICES_RESAMPLES, sizeof *first);
    double *total = arena_alloc(arena, INDICES_RESAMPLES, sizeof *total);

    assert(design->points == design->rows * (design->inputs + 2));
    assert(design->inputs > 0 && design->rows > 0 && y != NULL);
    for (size_t i = 0; i < design->inputs; i++) {
        struct pair at;
        size_t count = 0;

        for (size_t r = 0; r < design->rows; r++)
            row[r] = r;
        at = estimate_pair(design, y, i, row);
        index[i] = (struct indices){ .first = at.first, .total = at.total };
        for (unsigned k = 0; k < INDICES_RESAMPLES; k++) {
            for (size_t r = 0; r < design->rows; r++)
                row[r] = (size_t)rng_below(rng, design->rows);
            at = estimate_pair(design, y, i, row);
            if (!isfinite(at.first))
                continue;
            first[count] = at.first;
            total[count++] = at.total;
        }
        find_percentiles(first, count, &index[i].first_low, &index[i].first_high);
        find_percentiles(total, count, &index[i].total_low, &index[i].total_high);
    }
}

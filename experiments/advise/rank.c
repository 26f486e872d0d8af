/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rank.c - which rows are worth timing exactly, and in what order they
 * stand.
 *
 * Timing a row reads an experiment and places it, some milliseconds; a search yields
 * thousands of rows.  So only rows are timed that can be shown: the best by guess, the
 * guessed Pareto front, and the points of the chart.  Guesses lack the time to start,
 * which is nearly the same for all, so their order is nearly that of the times.
 */
#include "experiments/advise/rank.h"

#include <math.h>
#include <stdlib.h>

#include "experiments/advise/advise.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

/* Returns INFINITY for an unknown price (NAN): it is sorted last. */
static double price_or_infinity(double usd)
{
    return isnan(usd) ? INFINITY : usd;
}

/* A row in an order: what counts first and next, time in s and cost in USD. */
struct key {
    double first, second;
    size_t row;                 /* of advice->row */
};

/* For qsort(): by what counts first, then next, then by the row's number, so
 * that the order is defined. */
static int compare_keys(const void *a, const void *b)
{
    const struct key *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    if (x->second != y->second)
        return x->second < y->second ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Returns the seconds of a row: guessed before rows are timed, found after
 * that. */
static double row_time(const struct advise_row *row, bool guessed)
{
    return guessed ? row->guess_s : row->time_s;
}

/* Returns the USD of a row, guessed or found; INFINITY without a price, so that
 * the row comes last. */
static double row_cost(const struct advise_row *row, bool guessed)
{
    return price_or_infinity(guessed ? row->guess_usd : row->usd);
}

/* Returns the rows in order: all rows by their guesses (guessed), or the timed
 * rows. */
static struct key *sort_rows(const struct advice *advice, bool by_time,
                             bool guessed, size_t *count)
{
    struct key *key = arena_alloc(advice->world->arena,
                                  advice->row_count + 1, sizeof *key);

    *count = 0;
    for (size_t i = 0; i < advice->row_count; i++) {
        const struct advise_row *row = &advice->row[i];
        double s = row_time(row, guessed), usd = row_cost(row, guessed);

        if (guessed || row->timed)
            key[(*count)++] = (struct key){ by_time ? s : usd,
                                            by_time ? usd : s, i };
    }
    qsort(key, *count, sizeof *key, compare_keys);
    return key;
}

/* Marks a row of the front: of the guessed one it is to be timed, of the final one
 * it is shown as such. */
static void mark_row(struct advise_row *row, bool guessed)
{
    if (guessed)
        row->wanted = true;
    else
        row->pareto = true;
}

/* Marks the Pareto front: from the fastest row on, each row that is cheaper than
 * all before it (guessed: as wanted).  Rows without a price are left out; if no
 * row has a price, the fastest is the front. */
static void mark_front(struct advice *advice, bool guessed)
{
    size_t count;
    const struct key *key = sort_rows(advice, true, guessed, &count);
    double least = INFINITY;

    for (size_t i = 0; i < count; i++) {
        struct advise_row *row = &advice->row[key[i].row];
        double usd = row_cost(row, guessed);

        if (usd >= least)
            continue;
        least = usd;
        mark_row(row, guessed);
    }
    if (count > 0 && isinf(least))
        mark_row(&advice->row[key[0].row], guessed);
}

/* Is n a power of two? */
static bool is_power(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

/* Wants the points of the chart: of jobs of one role, each type at powers of two. */
static void want_curves(struct advice *advice)
{
    for (size_t i = 0; i < advice->row_count; i++) {
        struct advise_row *row = &advice->row[i];
        const struct advise_choice *main =
            row->train.place != NULL ? &row->train : &row->engine;

        if ((row->train.place == NULL || row->engine.place == NULL) &&
            is_power(main->gpus))
            row->wanted = true;
    }
}

/* Marks the first `top` rows by their guesses as wanted: only wanted rows are timed, which is
 * slow. */
static void want_best(struct advice *advice, bool by_time, size_t top)
{
    size_t count;
    const struct key *key = sort_rows(advice, by_time, true, &count);

    for (size_t i = 0; i < count && i < top; i++)
        advice->row[key[i].row].wanted = true;
}

/* A row that the reader of experiments refuses is counted, and never shown. */
void advise_rank(struct advice *advice, size_t top)
{
    mark_front(advice, true);
    want_curves(advice);
    want_best(advice, true, top);
    want_best(advice, false, top);
    for (size_t i = 0; i < advice->row_count; i++) {
        struct err err = { 0 };

        if (advice->row[i].wanted &&
            !advise_plan_time(advice, &advice->row[i], &err)) {
            advice->refused = err;
            advice->refused_count++;
        }
    }
    mark_front(advice, false);
}

size_t advise_order(const struct advice *advice, bool by_time,
                    const struct advise_row ***rows)
{
    size_t count;
    const struct key *key = sort_rows(advice, by_time, false, &count);

    *rows = arena_alloc(advice->world->arena, count + 1, sizeof **rows);
    for (size_t i = 0; i < count; i++)
        (*rows)[i] = &advice->row[key[i].row];
    return count;
}

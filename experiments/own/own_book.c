/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_book.c - expressions over what one trial measured.
 *
 * A metric of `metrics:` is an expression (sim/expr) over two tables:
 * the scalars of the trial, which are its metrics, and its jobs.  Jobs are read
 * by aggregates alone (sum, mean, quantile ...), whose memory does not grow
 * with the number of jobs.
 *
 * Order of use: own_book_new(), own_book_job() once for each job that counts,
 * own_book_result() once at the end.  What a metric may read was checked when
 * the experiment was read; nothing here can fail.
 */
#include "experiments/own/own_book.h"

#include <assert.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "sim/expr/expr.h"
#include "experiments/own/own_metrics.h"
#include "sim/base/arena.h"

struct own_book {
    const struct own_metrics *own;  /* never NULL; outlives the book */
    struct expr_sums **sums;    /* by metric; NULL: it has no aggregates */
};

/* No metrics: no book.  The caller then skips the work for each job, so an
 * experiment without `metrics:` pays nothing. */
struct own_book *own_book_new(struct arena *arena, const struct own_metrics *own)
{
    struct own_book *book;

    if (own == NULL || own->set.own_count == 0)
        return NULL;
    book = arena_alloc(arena, 1, sizeof *book);
    book->own = own;
    book->sums = arena_alloc(arena, own->set.own_count, sizeof *book->sums);
    for (uint32_t m = 0; m < own->set.own_count; m++)
        if (expr_aggregate_count(own->metric[m].expr) > 0)
            book->sums[m] = expr_sums_new(arena, own->metric[m].expr);
    return book;
}

bool own_book_reads_jobs(const struct own_book *book)
{
    return book != NULL && book->own->of_rows;
}

/* Adds the row to each aggregate that may see it.  An aggregate of done jobs alone
 * (own_metric.of_done) skips jobs that were dropped, failed or not finished: they
 * have no completion time. */
void own_book_job(struct own_book *book, const struct expr_cells *row, bool done)
{
    if (!own_book_reads_jobs(book))
        return;
    for (uint32_t m = 0; m < book->own->set.own_count; m++) {
        const struct own_metric *metric = &book->own->metric[m];
        uint32_t count = book->sums[m] == NULL ? 0
                                               : expr_aggregate_count(metric->expr);

        for (uint32_t i = 0; i < count; i++)
            if (!metric->of_done[i] || done)
                expr_sums_add(book->sums[m], i, row);
    }
}

/* The scalars of an expression: column m is metric m.  Scalars are numbers, never
 * texts. */
static struct expr_cell metric_cell(const void *self, uint32_t column)
{
    const double *value = self;

    return (struct expr_cell){ .number = value[column] };
}

/* Goes through the metrics in the order of the file, since an expression may read
 * the metrics before it.  `known` is a copy in which times of jobs are NAN where
 * no job was done (metric_blank_unknown): a quotient by such a time is then empty
 * and not a division by 0. */
void own_book_result(struct own_book *book, double *value, uint8_t *why)
{
    double known[METRIC_ROOM];
    struct expr_cells scalars = { metric_cell, known };

    if (book == NULL)
        return;
    assert(book->own->set.own_count <= METRIC_OWN_MAX);
    memcpy(known, value, METRIC_COUNT * sizeof *known);
    metric_blank_unknown(known);
    for (uint32_t m = 0; m < book->own->set.own_count; m++) {
        enum expr_gap gap;

        known[METRIC_COUNT + m] = expr_value(book->own->metric[m].expr, book->sums[m],
                                             &scalars, &gap);
        value[METRIC_COUNT + m] = known[METRIC_COUNT + m];
        why[m] = (uint8_t)gap;
    }
}

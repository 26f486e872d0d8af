/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_book.c - expressions over what one trial measured.
 */
#include "experiments/run/own_book.h"

#include <assert.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/expr/expr.h"
#include "experiments/run/job_rows.h"
#include "experiments/run/trial.h"
#include "experiments/spec/own_metrics.h"
#include "sim/base/arena.h"

struct own_book {
    const struct own_metrics *own;
    struct expr_sums **sums;    /* by metric; NULL: it has no aggregates */
};

struct own_book *own_book_new(struct arena *arena, const struct trial_spec *spec)
{
    const struct own_metrics *own = spec->own;
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

void own_book_job(struct own_book *book, const struct host_job *job,
                  enum job_status status)
{
    struct job_view view;
    struct expr_cells row = { job_rows_cell, &view };

    if (book == NULL || !book->own->of_rows)
        return;
    job_rows_view(&view, job, status);
    for (uint32_t m = 0; m < book->own->set.own_count; m++) {
        const struct own_metric *metric = &book->own->metric[m];
        uint32_t count = book->sums[m] == NULL ? 0
                                               : expr_aggregate_count(metric->expr);

        for (uint32_t i = 0; i < count; i++)
            if (!metric->of_done[i] || status == JOB_DONE)
                expr_sums_add(book->sums[m], i, &row);
    }
}

static struct expr_cell metric_cell(const void *self, uint32_t column)
{
    const double *value = self;

    return (struct expr_cell){ .number = value[column] };
}

/* In order: an expression may read the metrics before it. */
void own_book_result(struct own_book *book, struct trial_result *result)
{
    double value[METRIC_ROOM];
    struct expr_cells scalars = { metric_cell, value };

    if (book == NULL)
        return;
    assert(book->own->set.own_count <= METRIC_OWN_MAX);
    memcpy(value, result->value, sizeof value);
    trial_blank_unknown(value);
    for (uint32_t m = 0; m < book->own->set.own_count; m++) {
        enum expr_gap gap;

        value[METRIC_COUNT + m] = expr_value(book->own->metric[m].expr, book->sums[m],
                                             &scalars, &gap);
        result->value[METRIC_COUNT + m] = value[METRIC_COUNT + m];
        result->own_gap[m] = (uint8_t)gap;
    }
}

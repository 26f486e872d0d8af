/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_expr.c - any bytes as an expression: parsed or refused at a place within it,
 * and evaluated; a value is finite or empty, and an empty one has a reason.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/expr/expr.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool good)
{
    if (!good)
        abort();
}

static const struct expr_column scalar[] = {
    { "cost_usd", EXPR_NUMBER }, { "jobs_done", EXPR_NUMBER }, { "a", EXPR_NUMBER },
    { "b", EXPR_NUMBER },
};
static const struct expr_column column[] = {
    { "jct_s", EXPR_NUMBER }, { "gpus", EXPR_NUMBER }, { "tenant", EXPR_TEXT },
};

static struct expr_cell cell(const void *self, uint32_t i)
{
    const double *value = self;

    return (struct expr_cell){ value[i % 3], i == 2 ? "a" : "" };
}

static void evaluate(struct arena *arena, const struct expr *expr)
{
    static const double row[][3] = { { 1, 2, NAN }, { NAN, 0, 1e308 }, { 0, -8, 3 } };
    struct expr_sums *sums = expr_sums_new(arena, expr);
    const struct expr_cells scalars = { cell, row[0] };
    enum expr_gap gap;

    for (size_t r = 0; r < 3; r++)
        for (uint32_t i = 0; i < expr_aggregate_count(expr); i++) {
            const struct expr_cells cells = { cell, row[r] };

            expr_sums_add(sums, i, &cells);
        }
    double value = expr_value(expr, sums, &scalars, &gap);
    require(isnan(value) || isfinite(value));
    require(!isnan(value) || (gap != EXPR_WHOLE && gap != EXPR_ROWS_BY_ZERO));
    require(expr_gap_text(gap) != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const struct expr_table scalars = { "summary.csv", scalar, 4 };
    static const struct expr_table rows = { "jobs.csv", column, 3 };
    struct arena *arena = arena_new(0);
    struct err err = { .kind = ERR_NONE };
    char *text = arena_alloc(arena, bytes + 1, 1);
    size_t at = SIZE_MAX;

    if (bytes > 0)
        memcpy(text, data, bytes);
    const struct expr *expr = expr_parse(arena, text, &scalars, &rows, &at, &err);
    require((expr == NULL) == (err.kind != ERR_NONE));
    if (expr != NULL)
        evaluate(arena, expr);
    else
        require(at <= strlen(text) && err.text[0] != '\0');
    arena_free(arena);
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * where.c - types of columns from their first cells, and the condition on a row.
 */
#include "workloads/replay/where.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/expr/expr.h"
#include "sim/text/csv.h"
#include "sim/text/scan.h"

/* A condition, and the columns of the file. */
struct where {
    const struct expr *expr;
    struct expr_column *column; /* those of the file */
    bool *met;                  /* by column: a cell that is not empty was seen */
    uint32_t count;
};

struct where *where_new(struct arena *arena, const struct csv *csv)
{
    struct where *where = arena_alloc(arena, 1, sizeof *where);

    where->count = (uint32_t)csv_columns(csv);
    where->column = arena_alloc(arena, where->count, sizeof *where->column);
    where->met = arena_alloc(arena, where->count, sizeof *where->met);
    for (uint32_t i = 0; i < where->count; i++)
        where->column[i] = (struct expr_column){
            arena_text(arena, csv_names(csv)[i]), EXPR_NUMBER};
    return where;
}

void where_look(struct where *where, const struct csv *csv)
{
    for (uint32_t i = 0; i < where->count; i++) {
        struct csv_field field = *csv_field(csv, i);
        double value;

        if (field.bytes == 0)
            continue;
        where->met[i] = true;
        if (!scan_f64(field.text, field.bytes, &value))
            where->column[i].type = EXPR_TEXT;
    }
}

/* A column that was empty in all rows that were looked at counts as text, so
 * that `state == ""` can be asked. */
bool where_read(struct where *where, struct arena *arena,
                const struct conf_node *text, struct err *err)
{
    const struct expr_table rows = {"the trace", where->column, where->count};
    const struct expr_table none = {"the trace", where->column, 0};
    size_t at = 0;

    for (uint32_t i = 0; i < where->count; i++)
        if (!where->met[i])
            where->column[i].type = EXPR_TEXT;  /* as state == "" */
    where->expr = expr_parse(arena, conf_text(text), &rows, &none, &at, err);
    if (where->expr == NULL) {
        err->pos = conf_text_pos(text, at);
        return false;
    }
    if (expr_aggregate_count(where->expr) > 0)
        return err_set(err, ERR_SCHEMA, conf_pos(text),
                       "where is of one row, and takes no aggregate");
    if (expr_type(where->expr) == EXPR_CONDITION)
        return true;
    err_set(err, ERR_SCHEMA, conf_pos(text),
            "where must be a condition, and is a number");
    return err_hint(err, "A condition compares: gpus <= 8, vc == 'a'.");
}

/* The row for which a condition is evaluated. */
struct cells {
    const struct where *where;
    const struct csv *csv;
};

/* Gives a cell to the evaluator.  A number that is missing, or that is none, is
 * NAN. */
static struct expr_cell cell_of(const void *self, uint32_t column)
{
    const struct cells *cells = self;
    struct csv_field field = *csv_field(cells->csv, column);
    struct expr_cell cell = {NAN, field.text};

    if (field.bytes > 0 && cells->where->column[column].type == EXPR_NUMBER &&
        !scan_f64(field.text, field.bytes, &cell.number))
        cell.number = NAN;      /* where_judge() has told it */
    return cell;
}

/* Are all cells that the condition reads numbers, where their columns hold
 * numbers?  Empty ones may be. */
static bool check_cells(const struct where *where, const struct csv *csv,
                        struct err *err)
{
    uint32_t count;
    const struct expr_read *read = expr_reads(where->expr, &count);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t column = read[i].column;
        struct csv_field field = *csv_field(csv, column);
        double value;

        if (where->column[column].type != EXPR_NUMBER || field.bytes == 0 ||
            scan_f64(field.text, field.bytes, &value))
            continue;
        return err_set(err, ERR_SYNTAX, csv_pos(csv, column),
                       "column %.40s, of which where speaks, held numbers so "
                       "far, and is '%.40s'", where->column[column].name,
                       field.text);
    }
    return true;
}

bool where_judge(const struct where *where, const struct csv *csv,
                 enum where_verdict *verdict, struct err *err)
{
    const struct cells cells = {where, csv};
    const struct expr_cells row = {cell_of, &cells};
    enum expr_gap gap;

    assert(where->expr != NULL);
    if (!check_cells(where, csv, err))
        return false;
    if (expr_value(where->expr, NULL, &row, &gap) == 1.0)
        *verdict = WHERE_TAKEN;
    else
        *verdict = gap == EXPR_BY_ZERO || gap == EXPR_NOT_FINITE
                       ? WHERE_NO_VALUE : WHERE_NOT_TAKEN;
    return true;
}

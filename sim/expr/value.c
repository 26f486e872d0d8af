/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * value.c - what an expression is worth.
 *
 * A walk over the tree, node by node, for the scalars once and for each row of
 * an aggregate.  Empty cells are NAN and spread through arithmetic; every other
 * way to lose a value (x / 0, log 0, an overflow) becomes NAN here too, and
 * struct valuing keeps the first reason.
 *
 * Recursion is bounded: a tree is at most as deep as its text is long
 * (EXPR_TEXT_BYTES).  Sums are compensated (Neumaier 1974), so that adding rows
 * in another order does not change a printed digit.
 */
#include "sim/expr/expr.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "sim/expr/node.h"
#include "sim/base/arena.h"
#include "sim/stats/tally.h"

/* What one aggregate has met.  Neumaier's sum is sum + lost. */
struct total {
    /* taken by `where`; with a value; left out for x / 0 */
    uint64_t rows, values, by_zero;
    double sum, lost, min, max; /* of the values; min and max hold once there is a value */
    struct quantile *quantile;  /* NULL: not asked for */
};

struct expr_sums {
    const struct expr *expr;
    struct total *total;        /* by number of the aggregate */
};

/* One evaluation. */
struct valuing {
    const struct expr *expr;
    const struct expr_cells *cells; /* the scalars, or one row */
    struct expr_sums *sums;     /* NULL within an aggregate */
    enum expr_gap gap;          /* the first */
};

static double evaluate(struct valuing *v, uint32_t node);

/* Returns NAN, and notes why if nothing was noted before. */
static double make_empty(struct valuing *v, enum expr_gap gap)
{
    assert(gap != EXPR_WHOLE && gap != EXPR_ROWS_BY_ZERO);
    if (v->gap == EXPR_WHOLE)
        v->gap = gap;
    return NAN;
}

/* An overflow is empty: "inf" in a CSV would be no number to most readers. */
static double finite_or_empty(struct valuing *v, double x)
{
    return isfinite(x) || isnan(x) ? x : make_empty(v, EXPR_NOT_FINITE);
}

/* Returns x if `good` says that it has a real value, and x is finite; else empty. */
static double keep_finite(struct valuing *v, bool good, double x)
{
    return good ? finite_or_empty(v, x) : make_empty(v, EXPR_NOT_FINITE);
}

/* ---- aggregates ---- */

struct expr_sums *expr_sums_new(struct arena *arena, const struct expr *expr)
{
    struct expr_sums *sums = arena_alloc(arena, 1, sizeof *sums);

    assert(expr->fold_count == 0 || expr->fold != NULL);
    sums->expr = expr;
    sums->total = arena_alloc(arena, expr->fold_count + 1, sizeof *sums->total);
    for (uint32_t i = 0; i < expr->fold_count; i++)
        if (expr->fold[i].kind == AGGREGATE_QUANTILE)
            sums->total[i].quantile = quantile_new(arena);
    return sums;
}

/* `lost` gathers what each addition rounds away; the larger operand keeps its
 * bits, so the loss is (larger - sum) + smaller.  For example 1e100 + 1 - 1e100: sum becomes
 * 0, but lost has kept the 1. */
static void total_add(struct total *total, double x)
{
    double sum = total->sum + x;

    assert(isfinite(x) && total->values < total->rows);
    total->lost += fabs(total->sum) >= fabs(x) ? (total->sum - sum) + x
                                               : (x - sum) + total->sum;
    total->sum = sum;
    if (total->values == 0 || x < total->min)
        total->min = x;
    if (total->values == 0 || x > total->max)
        total->max = x;
    total->values++;
    if (total->quantile != NULL)
        quantile_add(total->quantile, x);
}

/* A row counts if the condition is true; an empty condition (NAN) is not.  A row
 * that is lost to a division by 0, in the condition or in the value, is counted,
 * so that the result can say that it is not of all rows. */
void expr_sums_add(struct expr_sums *sums, uint32_t aggregate,
                   const struct expr_cells *row)
{
    const struct expr_fold *fold = &sums->expr->fold[aggregate];
    struct total *total = &sums->total[aggregate];
    struct valuing v = { .expr = sums->expr, .cells = row };
    double x = 1, taken = 1;

    assert(aggregate < sums->expr->fold_count);
    if (fold->where != NO_NODE)
        taken = evaluate(&v, fold->where);
    if (taken == 1 && fold->value != NO_NODE)
        x = evaluate(&v, fold->value);
    if (v.gap == EXPR_BY_ZERO || v.gap == EXPR_NOT_FINITE)
        total->by_zero += isnan(taken) || isnan(x);
    if (taken != 1)
        return;
    total->rows++;
    if (!isnan(x))
        total_add(total, x);
}

/* Returns the value of an aggregate.  A sum over no rows is 0, as in mathematics;
 * over rows without a value it is empty, as are all others.  The mean of overflowed sums is
 * empty, although the true mean may be finite. */
static double total_value(struct valuing *v, const struct expr_fold *fold,
                          const struct total *total)
{
    double sum = total->sum + total->lost;      /* NAN or infinite: it overflowed */

    assert(total->values <= total->rows);
    assert(total->values == 0 || total->min <= total->max);
    if (fold->kind == AGGREGATE_COUNT)
        return (double)total->values;
    if (total->values == 0)
        return fold->kind == AGGREGATE_SUM && total->rows == 0
            ? 0 : make_empty(v, total->by_zero > 0 ? EXPR_BY_ZERO : EXPR_NO_ROW);
    switch (fold->kind) {
    case AGGREGATE_SUM: return keep_finite(v, isfinite(sum), sum);
    case AGGREGATE_MEAN:
        return keep_finite(v, isfinite(sum), sum / (double)total->values);
    case AGGREGATE_MIN: return total->min;
    case AGGREGATE_MAX: return total->max;
    default: return quantile_at(total->quantile, fold->share);
    }
}

/* ---- scalars ---- */

/* 0 / 0 is empty by zero too, not NAN of unknown origin. */
static double divide(struct valuing *v, double a, double b)
{
    if (isnan(a) || isnan(b))
        return NAN;
    return b == 0 ? make_empty(v, EXPR_BY_ZERO) : finite_or_empty(v, a / b);
}

/* NAN in, NAN out, with the reason noted where it came from. min and max are
 * written out: fmin() would prefer the number to the empty cell. */
static double compute(struct valuing *v, enum expr_op op, double a, double b)
{
    switch (op) {
    case OP_NEGATE: return -a;
    case OP_ADD: return finite_or_empty(v, a + b);
    case OP_SUBTRACT: return finite_or_empty(v, a - b);
    case OP_MULTIPLY: return finite_or_empty(v, a * b);
    case OP_DIVIDE: return divide(v, a, b);
    case OP_MIN: return isnan(a) || isnan(b) ? NAN : a < b ? a : b;
    case OP_MAX: return isnan(a) || isnan(b) ? NAN : a > b ? a : b;
    case OP_ABS: return fabs(a);
    case OP_SQRT: return isnan(a) ? a : keep_finite(v, a >= 0, a >= 0 ? sqrt(a) : NAN);
    case OP_LOG: return isnan(a) ? a : keep_finite(v, a > 0, a > 0 ? log(a) : NAN);
    case OP_EXP: return isnan(a) ? a : keep_finite(v, true, exp(a));
    default: assert(false); return NAN;
    }
}

/* Returns the text of a constant or of a cell. */
static const char *node_text(const struct valuing *v, uint32_t node)
{
    const struct expr_node *n = &v->expr->node[node];

    assert(n->type == EXPR_TEXT);
    return n->op == OP_TEXT ? n->text
                            : v->cells->cell(v->cells->self, n->column).text;
}

/* 1, 0, or NAN if a side is empty.  Texts are never empty. */
static double compare_children(struct valuing *v, const struct expr_node *n)
{
    double a, b;

    assert((v->expr->node[n->child[0]].type == EXPR_TEXT) ==
           (v->expr->node[n->child[1]].type == EXPR_TEXT));
    if (v->expr->node[n->child[0]].type == EXPR_TEXT)
        return (strcmp(node_text(v, n->child[0]), node_text(v, n->child[1])) == 0) ==
               (n->op == OP_EQUAL);
    a = evaluate(v, n->child[0]);
    b = evaluate(v, n->child[1]);
    if (isnan(a) || isnan(b))
        return NAN;
    switch (n->op) {
    case OP_LESS: return a < b;
    case OP_LESS_EQUAL: return a <= b;
    case OP_MORE: return a > b;
    case OP_MORE_EQUAL: return a >= b;
    case OP_EQUAL: return a == b;
    default: return a != b;
    }
}

/* Three-valued logic (Kleene): what is empty may be true or false, so one side may
 * decide all the same.  For example "empty and 0" is 0, "empty and 1" is empty, "empty or 1"
 * is 1. */
static double combine(struct valuing *v, const struct expr_node *n)
{
    double decides = n->op == OP_OR, a = evaluate(v, n->child[0]), b;

    assert(a == 0 || a == 1 || isnan(a));
    if (a == decides)
        return a;
    b = evaluate(v, n->child[1]);
    return b == decides || !isnan(a) ? b : a;
}

/* A cell that is not finite counts as empty. */
static double cell_number(struct valuing *v, uint32_t column)
{
    double x = v->cells->cell(v->cells->self, column).number;

    return isfinite(x) ? x : make_empty(v, EXPR_EMPTY_CELL);
}

/* Only the branch of if() that is taken is evaluated, so a division by 0 in the
 * other one does not matter. */
static double evaluate(struct valuing *v, uint32_t node)
{
    const struct expr_node *n = &v->expr->node[node];
    double a;

    assert(node < v->expr->node_count);
    switch (n->op) {
    case OP_NUMBER: return n->number;
    case OP_COLUMN: return cell_number(v, n->column);
    case OP_AGGREGATE:
        return total_value(v, &v->expr->fold[n->column], &v->sums->total[n->column]);
    case OP_LESS: case OP_LESS_EQUAL: case OP_MORE: case OP_MORE_EQUAL:
    case OP_EQUAL: case OP_NOT_EQUAL:
        return compare_children(v, n);
    case OP_AND: case OP_OR:
        return combine(v, n);
    case OP_NOT:
        return 1 - evaluate(v, n->child[0]);
    case OP_IF:
        a = evaluate(v, n->child[0]);
        return isnan(a) ? a : evaluate(v, n->child[a == 1 ? 1 : 2]);
    case OP_COALESCE:
        a = evaluate(v, n->child[0]);
        return isnan(a) ? evaluate(v, n->child[1]) : a;
    default:
        a = evaluate(v, n->child[0]);
        return compute(v, n->op, a,
                       n->child[1] == NO_NODE ? 0 : evaluate(v, n->child[1]));
    }
}

double expr_value(const struct expr *expr, struct expr_sums *sums,
                  const struct expr_cells *scalars, enum expr_gap *gap)
{
    struct valuing v = { .expr = expr, .cells = scalars, .sums = sums };
    double x;

    assert(expr->fold_count == 0 || (sums != NULL && sums->expr == expr));
    x = evaluate(&v, expr->root);
    *gap = isnan(x) ? v.gap : EXPR_WHOLE;
    assert(isnan(x) == (*gap != EXPR_WHOLE));   /* none is empty without a reason */
    for (uint32_t i = 0; i < expr->fold_count && *gap == EXPR_WHOLE; i++)
        if (sums->total[i].by_zero > 0)
            *gap = EXPR_ROWS_BY_ZERO;
    return x == 0 ? 0 : x;      /* no minus before a 0 */
}

const char *expr_gap_text(enum expr_gap gap)
{
    static const char *const text_of[EXPR_GAP_COUNT] = {
        [EXPR_WHOLE] = "", [EXPR_EMPTY_CELL] = "it reads an empty cell",
        [EXPR_BY_ZERO] = "it divides by zero",
        [EXPR_NOT_FINITE] = "it has no finite value",
        [EXPR_NO_ROW] = "no row has a value for an aggregate",
        [EXPR_ROWS_BY_ZERO] = "rows without a finite value are left out",
    };

    assert((unsigned)gap < EXPR_GAP_COUNT);
    return text_of[gap];
}

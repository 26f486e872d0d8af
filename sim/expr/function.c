/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * function.c - the functions and aggregates that there are.
 *
 * min and max stand twice: with one argument they fold rows, with several they
 * compare scalars.  The parser counts commas before it asks, since the two read
 * names from different tables.
 */
#include "sim/expr/function.h"

#include <assert.h>
#include <string.h>

/* Enough arguments for any formula; a bound, because the manual must name one. */
#define MANY 20u

/* Name, operation, fold of an aggregate, and the fewest and the most arguments. */
static const struct expr_function table[] = {
    { "count", OP_AGGREGATE, AGGREGATE_COUNT, 0, 1 },
    { "sum", OP_AGGREGATE, AGGREGATE_SUM, 1, 1 },
    { "mean", OP_AGGREGATE, AGGREGATE_MEAN, 1, 1 },
    { "min", OP_AGGREGATE, AGGREGATE_MIN, 1, 1 },
    { "max", OP_AGGREGATE, AGGREGATE_MAX, 1, 1 },
    { "quantile", OP_AGGREGATE, AGGREGATE_QUANTILE, 2, 2 },
    { "min", OP_MIN, 0, 2, MANY },
    { "max", OP_MAX, 0, 2, MANY },
    { "coalesce", OP_COALESCE, 0, 2, MANY },
    { "abs", OP_ABS, 0, 1, 1 },
    { "sqrt", OP_SQRT, 0, 1, 1 },
    { "log", OP_LOG, 0, 1, 1 },
    { "exp", OP_EXP, 0, 1, 1 },
    { "if", OP_IF, 0, 3, 3 },
};
#define FUNCTIONS (sizeof table / sizeof table[0])

/* p50, p95 ...: what quantile(x, 0.50) is. */
static const struct expr_function percentile = {
    "p95", OP_AGGREGATE, AGGREGATE_QUANTILE, 1, 1
};

/* "p95" stands for all percentiles, behind the names of the table. */
const char *expr_function_name(unsigned i)
{
    return i < FUNCTIONS ? table[i].name
         : i == FUNCTIONS ? percentile.name : NULL;
}

/* "p5" is 0.05 and "p99" 0.99; "p0" is none, and p100 is max. */
double expr_percentile(const char *name, size_t bytes)
{
    unsigned percent = 0;

    if (bytes < 2 || bytes > 3 || name[0] != 'p')
        return 0;
    for (size_t i = 1; i < bytes; i++) {
        if (name[i] < '0' || name[i] > '9')
            return 0;
        percent = percent * 10 + (unsigned)(name[i] - '0');
    }
    assert(percent <= 99);
    return percent / 100.0;
}

/* Of two with one name, the aggregate is met first; the other is taken if there
 * are several arguments. */
const struct expr_function *expr_function_find(const char *name, size_t bytes,
                                               bool several)
{
    const struct expr_function *found = NULL;

    assert(bytes > 0);
    if (expr_percentile(name, bytes) > 0)
        return &percentile;
    for (size_t i = 0; i < FUNCTIONS; i++) {
        const struct expr_function *f = &table[i];

        if (strlen(f->name) != bytes || memcmp(f->name, name, bytes) != 0)
            continue;
        if (found == NULL || (several && f->op != OP_AGGREGATE))
            found = f;
    }
    return found;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * function.h - what is written NAME(...) in an expression, for this room alone.
 */
#ifndef SIM_EXPR_FUNCTION_H
#define SIM_EXPR_FUNCTION_H

#include "sim/expr/node.h"

/* One row of the table. */
struct expr_function {
    const char *name;           /* as it is written */
    enum expr_op op;            /* OP_AGGREGATE: `fold` says which */
    enum expr_aggregate fold;   /* of OP_AGGREGATE; else 0 */
    unsigned least, most;       /* arguments, without `where` */
};

/* Returns the function of a name of `bytes` bytes; `several`: it has two arguments
 * or more. min(x) is an aggregate, and min(x, y) is not.  NULL: there is none of
 * the name.  The number of arguments is checked by the caller. */
const struct expr_function *expr_function_find(const char *name, size_t bytes,
                                               bool several);
/* Returns the share that "p50", "p95" ... "p99" stand for (0.50 ...); 0: the name
 * is no such. */
double expr_percentile(const char *name, size_t bytes);

#endif

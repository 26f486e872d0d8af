/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refuse.h - whether the parts of an expression fit, for this room alone.
 *
 * All of them set p->err, with its hint, where they refuse; `at` is the byte of the
 * text that the error is about.
 */
#ifndef SIM_EXPR_REFUSE_H
#define SIM_EXPR_REFUSE_H

#include "sim/expr/function.h"
#include "sim/expr/parser.h"

/* False: the node is a text.  A condition is a number too: 1 or 0.  `of`: the operator
 * or function that needs a number. */
bool check_number(struct parser *p, const char *of, uint32_t node, size_t at);
/* False: the node is no condition.  A number is not true or false by itself, so that
 * `where gpus` is found to be a slip. */
bool check_condition(struct parser *p, const char *of, uint32_t node, size_t at);
/* False: `op`, written as `mark`, cannot compare the two.  Two texts are equal or not;
 * all other comparisons are of numbers. */
bool check_comparison(struct parser *p, const char *mark, enum expr_op op, uint32_t left,
                      uint32_t right, size_t at);

/* The next token is no column of the table: says so, with the nearest name.  Returns
 * NO_NODE. */
uint32_t refuse_column(struct parser *p, const struct expr_table *table,
                       const char *name);
/* The next token is no function: says so, with the nearest name.  Returns NO_NODE. */
uint32_t refuse_function(struct parser *p);
/* The function takes another number of arguments: says so.  Returns false. */
bool refuse_count(struct parser *p, const struct expr_function *f, size_t at);

#endif

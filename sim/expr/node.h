/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * node.h - the tree of an expression, for the files of this room alone.
 *
 * Nodes lie in one array; a child is an index into it.  A child lies before its
 * parent, but for the third child of OP_IF.  OP_COLUMN, OP_NUMBER, OP_TEXT and
 * OP_AGGREGATE have no children: all three are NO_NODE.  Functions of many
 * arguments (min, max, coalesce) are chains of nodes with two children, from the
 * left.
 */
#ifndef SIM_EXPR_NODE_H
#define SIM_EXPR_NODE_H

#include "sim/expr/expr.h"

/* What a node computes from its children. */
enum expr_op {
    OP_NUMBER, OP_TEXT, OP_COLUMN, OP_AGGREGATE,
    OP_NEGATE, OP_ADD, OP_SUBTRACT, OP_MULTIPLY, OP_DIVIDE,
    OP_LESS, OP_LESS_EQUAL, OP_MORE, OP_MORE_EQUAL, OP_EQUAL, OP_NOT_EQUAL,
    OP_NOT, OP_AND, OP_OR, OP_IF,
    OP_MIN, OP_MAX, OP_ABS, OP_SQRT, OP_LOG, OP_EXP, OP_COALESCE
};

/* How an aggregate makes one number of its rows. */
enum expr_aggregate {
    AGGREGATE_COUNT, AGGREGATE_SUM, AGGREGATE_MEAN, AGGREGATE_MIN, AGGREGATE_MAX,
    AGGREGATE_QUANTILE
};

#define NO_NODE UINT32_MAX

struct expr_node {
    enum expr_op op;            /* which of the members below count */
    enum expr_type type;        /* of its value */
    uint32_t child[3];          /* NO_NODE: none */
    double number;              /* OP_NUMBER */
    const char *text;           /* OP_TEXT: without its quotation marks */
    uint32_t column;            /* OP_COLUMN; OP_AGGREGATE: its number */
};

struct expr_fold {              /* an aggregate */
    enum expr_aggregate kind;
    uint32_t value, where;      /* nodes: what is folded, and the condition; NO_NODE: none */
    double share;               /* of AGGREGATE_QUANTILE, from 0 to 1 */
};

/* An expression that was parsed.  Nothing changes it afterwards; all arrays are the arena's. */
struct expr {
    struct expr_node *node;
    uint32_t node_count, root;  /* root: index of the node that is the value */
    struct expr_fold *fold;     /* by number of the aggregate */
    uint32_t fold_count;
    struct expr_read *read;     /* mentions of columns, in the order of the text */
    uint32_t read_count;
};

#endif

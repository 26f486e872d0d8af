/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parser.h - the state of the parser, its tokens and its nodes, for this room alone.
 *
 * A function that can fail returns false or NO_NODE; then p->err says why, and *p->at is
 * the byte of the text that is wrong.  Nothing is read after an error.
 */
#ifndef SIM_EXPR_PARSER_H
#define SIM_EXPR_PARSER_H

#include "sim/base/err.h"
#include "sim/expr/expr.h"
#include "sim/expr/node.h"
#include "sim/expr/token.h"

/* Bytes of the text that a message quotes at most. */
#define WORD_BYTES 60

/* One parse, from its text to the tree.  It lives on the stack of expr_parse(). */
struct parser {
    struct arena *arena;
    const char *text;
    size_t bytes;               /* of the text, without its NUL */
    const struct expr_table *scalars, *rows; /* what names outside and inside of aggregates
                                              * mean */
    struct expr *expr;          /* the tree so far */
    struct expr_token token;    /* the next one: it is seen, and not yet taken */
    uint32_t aggregate;         /* that is being read; or EXPR_NO_AGGREGATE */
    bool divisor;               /* what is read is part of a divisor */
    unsigned depth;             /* levels that are open; at most EXPR_DEPTH */
    size_t *at;                 /* of the error */
    struct err *err;            /* the first error; the caller's */
};

/* Errors of an expression have no file: the caller knows where its text stands. */
static const struct err_pos parser_nowhere = { NULL, 0, 0 };

/* Takes the token, so that the one behind it is the next.  False: what comes is no
 * token. */
bool parser_next(struct parser *p);
/* Is the next token that mark or word? */
bool parser_sees(const struct parser *p, const char *word);
/* Takes the mark.  False: something else is there. */
bool parser_take(struct parser *p, const char *mark);
/* Returns the next token for a message: copied to `out` and cut to WORD_BYTES; "its
 * end" at the end of the text. */
const char *parser_word(struct parser *p, char out[WORD_BYTES + 1]);

/* Returns how many nodes, aggregates and mentions of columns the arrays must hold:
 * each comes from a byte of the text that no other of its kind comes from. */
size_t parser_room(const struct parser *p);
/* Append a node, and return its index.  The children of the node are there already,
 * or NO_NODE; a leaf has none. */
uint32_t parser_add_leaf(struct parser *p, struct expr_node node);
uint32_t parser_add_operation(struct parser *p, enum expr_op op, enum expr_type type,
                              uint32_t left, uint32_t right);
/* Returns what a node that was added is. */
enum expr_type parser_type(const struct parser *p, uint32_t node);

/* Returns the index of the column of that name, or UINT32_MAX. */
uint32_t parser_find_column(const struct expr_table *table, const char *name);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parser.c - the next token, the nodes of the tree, and questions about a tree.
 */
#include "sim/expr/parser.h"

#include <assert.h>
#include <string.h>

#include "sim/base/err.h"
#include "sim/expr/expr.h"

/* After an error *at is where the token that cannot be read begins. */
bool parser_next(struct parser *p)
{
    *p->at = p->token.at + p->token.bytes;
    assert(*p->at <= p->bytes);
    if (expr_token_read(p->text, *p->at, &p->token, p->err))
        return true;
    *p->at = p->token.at;
    return false;
}

bool parser_sees(const struct parser *p, const char *word)
{
    return expr_token_is(p->text, &p->token, word);
}

const char *parser_word(struct parser *p, char out[WORD_BYTES + 1])
{
    size_t bytes = p->token.bytes < WORD_BYTES ? p->token.bytes : WORD_BYTES;

    assert(p->token.at + bytes <= p->bytes);
    memcpy(out, p->text + p->token.at, bytes);
    out[bytes] = '\0';
    return p->token.kind == TOKEN_END ? "its end" : out;
}

bool parser_take(struct parser *p, const char *mark)
{
    char found[WORD_BYTES + 1];

    assert(mark[0] != '\0');
    if (parser_sees(p, mark))
        return parser_next(p);
    *p->at = p->token.at;
    return err_set(p->err, ERR_SCHEMA, parser_nowhere, "the expression must go on with "
                   "'%s', found %s", mark, parser_word(p, found));
}

/* ---- nodes ---- */

/* Two more, so that an empty text has arrays too. */
size_t parser_room(const struct parser *p)
{
    return p->bytes + 2;
}

/* Appends a node, whose children are there already, and returns its index. */
static uint32_t add_node(struct parser *p, struct expr_node node)
{
    uint32_t index = p->expr->node_count++;

    assert(index < parser_room(p));
    for (unsigned i = 0; i < 3; i++)
        assert(node.child[i] == NO_NODE || node.child[i] < index);
    p->expr->node[index] = node;
    return index;
}

uint32_t parser_add_leaf(struct parser *p, struct expr_node node)
{
    for (unsigned i = 0; i < 3; i++)
        node.child[i] = NO_NODE;
    return add_node(p, node);
}

uint32_t parser_add_operation(struct parser *p, enum expr_op op, enum expr_type type,
                              uint32_t left, uint32_t right)
{
    assert(type != EXPR_TEXT && left < right);      /* NO_NODE is the largest */
    return add_node(p, (struct expr_node){
        .op = op, .type = type, .child = { left, right, NO_NODE } });
}

enum expr_type parser_type(const struct parser *p, uint32_t node)
{
    assert(node < p->expr->node_count);
    return p->expr->node[node].type;
}

/* Column by column: tables have some hundred, and a name is looked up once for each mention. */
uint32_t parser_find_column(const struct expr_table *table, const char *name)
{
    assert(name != NULL);
    for (uint32_t i = 0; i < table->count; i++)
        if (strcmp(table->column[i].name, name) == 0)
            return i;
    return UINT32_MAX;
}

/* ---- what callers may ask of a tree ---- */

const struct expr_read *expr_reads(const struct expr *expr, uint32_t *count)
{
    assert(count != NULL && (expr->read != NULL || expr->read_count == 0));
    *count = expr->read_count;
    return expr->read;
}

enum expr_type expr_type(const struct expr *expr)
{
    assert(expr->root < expr->node_count);
    assert(expr->node[expr->root].type != EXPR_TEXT);
    return expr->node[expr->root].type;
}

uint32_t expr_aggregate_count(const struct expr *expr)
{
    return expr->fold_count;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parse.c - an expression as a tree whose types fit.
 *
 * One function reads one rule, from the weakest operator to the strongest:
 *
 *   either  := both ("or" both)*
 *   both    := denial ("and" denial)*
 *   denial  := "not" denial | sum (("<" | "<=" | ">" | ">=" | "==" | "!=") sum)?
 *   sum     := product (("+" | "-") product)*
 *   product := sign (("*" | "/") sign)*
 *   sign    := "-" sign | NUMBER | TEXT | COLUMN | "(" either ")" | call
 *   call    := NAME "(" (either ("," either)*)? ("where" either)? ")"
 *
 * A function returns the index of its node, and NO_NODE after an error, which is then in
 * parser->err with its place in *parser->at.  The parser stops at the first error: what
 * follows one is rarely an error of its own.
 *
 * Each function checks the types of its operands as it joins them, so that evaluation
 * need not.  Recursive descent with one token of look-ahead; depth is counted in parse_sign()
 * and parse_denial(), through which every cycle of the grammar goes.
 */
#include "sim/expr/expr.h"

#include <assert.h>
#include <string.h>

#include "sim/expr/function.h"
#include "sim/expr/node.h"
#include "sim/expr/parser.h"
#include "sim/expr/refuse.h"
#include "sim/expr/token.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

static uint32_t parse_either(struct parser *p);
static uint32_t parse_sign(struct parser *p);

/* A name that is no call.  Notes the mention, for own_metrics.c to derive of what
 * the metric is.  Within an aggregate it is a column of the rows, else one of the scalars. */
static uint32_t parse_column(struct parser *p)
{
    const struct expr_table *table = p->aggregate == EXPR_NO_AGGREGATE ? p->scalars
                                                                       : p->rows;
    char *name = arena_alloc(p->arena, p->token.bytes + 1, 1);
    uint32_t i;

    assert(p->token.kind == TOKEN_NAME && p->expr->read_count < parser_room(p));
    memcpy(name, p->text + p->token.at, p->token.bytes);
    i = parser_find_column(table, name);
    if (i == UINT32_MAX)
        return refuse_column(p, table, name);
    p->expr->read[p->expr->read_count++] = (struct expr_read){
        .column = i, .aggregate = p->aggregate, .divisor = p->divisor };
    if (!parser_next(p))
        return NO_NODE;
    return parser_add_leaf(p, (struct expr_node){
        .op = OP_COLUMN, .type = table->column[i].type, .column = i });
}

/* ---- calls ---- */

/* Is there a comma before the parenthesis closes?  The text is read ahead from byte `from`,
 * behind the parenthesis; the parser's own token stays.  A text that cannot be read counts as
 * one argument: the error is told when it is met. */
static bool has_several(const struct parser *p, size_t from)
{
    struct expr_token token;
    struct err ignored = { 0 };
    unsigned open = 1;

    assert(from > 0 && p->text[from - 1] == '(');
    while (open > 0 && expr_token_read(p->text, from, &token, &ignored) &&
           token.kind != TOKEN_END) {
        open += expr_token_is(p->text, &token, "(");
        open -= expr_token_is(p->text, &token, ")");
        if (open == 1 && expr_token_is(p->text, &token, ","))
            return true;
        from = token.at + token.bytes;
    }
    return false;
}

/* Reads the share of a quantile: a number as it stands, not an expression, since
 * the sums must know it before rows come. */
static bool read_share(struct parser *p, double *share)
{
    assert(p->aggregate != EXPR_NO_AGGREGATE);
    *p->at = p->token.at;
    if (p->token.kind != TOKEN_NUMBER)
        return err_set(p->err, ERR_SCHEMA, parser_nowhere,
                       "the second of quantile must be a number such as 0.9");
    *share = p->token.number;
    if (!(*share >= 0 && *share <= 1))
        return err_set(p->err, ERR_RANGE, parser_nowhere,
                       "the second of quantile must be from 0 to 1, found %.6g", *share);
    return parser_next(p);
}

/* Reads what is aggregated, up to `where` or the parenthesis. count() takes
 * nothing or a value whose empty cells are not counted; count(a < b) would count
 * false ones too, so it is refused. */
static bool read_folded(struct parser *p, const struct expr_function *f,
                        struct expr_fold *fold)
{
    size_t at = p->token.at;

    assert(f->op == OP_AGGREGATE && fold->value == NO_NODE);
    if (parser_sees(p, ")") || parser_sees(p, "where"))
        return f->least == 0 || refuse_count(p, f, at);
    fold->value = parse_either(p);
    if (fold->value == NO_NODE || !check_number(p, f->name, fold->value, at))
        return false;
    if (fold->kind == AGGREGATE_COUNT && parser_type(p, fold->value) == EXPR_CONDITION) {
        *p->at = at;
        err_set(p->err, ERR_SCHEMA, parser_nowhere, "count of a condition counts all rows");
        return err_hint(p->err, "Write count(where CONDITION).");
    }
    if (f->most == 2)
        return parser_sees(p, ",") ? parser_next(p) && read_share(p, &fold->share)
                          : refuse_count(p, f, p->token.at);
    return !parser_sees(p, ",") || refuse_count(p, f, p->token.at);
}

/* Reads the condition behind `where`, if there is one. */
static bool read_where(struct parser *p, struct expr_fold *fold)
{
    size_t at;

    assert(p->aggregate != EXPR_NO_AGGREGATE && fold->where == NO_NODE);
    if (!parser_sees(p, "where"))
        return true;
    if (!parser_next(p))
        return false;
    at = p->token.at;
    fold->where = parse_either(p);
    return fold->where != NO_NODE && check_condition(p, "where", fold->where, at);
}

/* Reads an aggregate behind its parenthesis.  Its number is taken before its parts
 * are read: aggregates are numbered in the order of the text. */
static uint32_t parse_aggregate(struct parser *p, const struct expr_function *f,
                                size_t name_at, double share)
{
    struct expr_fold fold = { f->fold, NO_NODE, NO_NODE, share };
    uint32_t number = p->expr->fold_count;

    assert(number < parser_room(p));
    assert(share == 0 || f->fold == AGGREGATE_QUANTILE);
    if (p->aggregate != EXPR_NO_AGGREGATE) {
        *p->at = name_at;
        err_set(p->err, ERR_SCHEMA, parser_nowhere, "%.*s stands within another aggregate",
                (int)strcspn(p->text + name_at, " ("), p->text + name_at);
        err_hint(p->err, "An aggregate is over rows of %s, and an aggregate is one "
                         "number.", p->rows->name);
        return NO_NODE;
    }
    p->aggregate = p->expr->fold_count++;
    if (!read_folded(p, f, &fold) || !read_where(p, &fold) || !parser_take(p, ")"))
        return NO_NODE;
    assert(p->aggregate == number);     /* aggregates do not nest */
    p->aggregate = EXPR_NO_AGGREGATE;
    p->expr->fold[number] = fold;
    return parser_add_leaf(p, (struct expr_node){
        .op = OP_AGGREGATE, .type = EXPR_NUMBER, .column = number });
}

/* Checks argument `i` of a function, and joins it to those before: min(a, b, c) is
 * min(min(a, b), c). if() has three children, of which the third is set later. */
static uint32_t add_argument(struct parser *p, const struct expr_function *f,
                             unsigned i, uint32_t so_far, uint32_t next, size_t at)
{
    assert(i < f->most && (i == 0) == (so_far == NO_NODE));
    if (f->op == OP_IF && i == 0 ? !check_condition(p, f->name, next, at)
                                 : !check_number(p, f->name, next, at))
        return NO_NODE;
    if (f->most == 1)
        return parser_add_operation(p, f->op, EXPR_NUMBER, next, NO_NODE);
    if (i == 0)
        return next;
    if (f->op != OP_IF || i == 1)
        return parser_add_operation(p, f->op, EXPR_NUMBER, so_far, next);
    assert(p->expr->node[so_far].op == OP_IF && so_far < next);
    p->expr->node[so_far].child[2] = next;      /* the node comes before this child */
    return so_far;
}

/* Reads the arguments of a function that is no aggregate.  min(a, b, c) and its like become a
 * chain of nodes with two children each.  Returns the last node. */
static uint32_t parse_function(struct parser *p, const struct expr_function *f)
{
    uint32_t node = NO_NODE;
    unsigned count = 0;

    assert(f->op != OP_AGGREGATE && f->least > 0);
    while (!parser_sees(p, ")")) {
        size_t at = p->token.at;
        uint32_t next;

        if (count == f->most)
            return refuse_count(p, f, at), NO_NODE;
        next = parse_either(p);
        if (next == NO_NODE)
            return NO_NODE;
        node = add_argument(p, f, count++, node, next, at);
        if (node == NO_NODE || (!parser_sees(p, ")") && !parser_take(p, ",")))
            return NO_NODE;
    }
    if (count < f->least)
        return refuse_count(p, f, p->token.at), NO_NODE;
    return parser_next(p) ? node : NO_NODE;
}

/* Reads NAME(...); the token is the parenthesis. */
static uint32_t parse_call(struct parser *p, const struct expr_token *name)
{
    const char *word = p->text + name->at;
    const struct expr_function *f = expr_function_find(
        word, name->bytes, has_several(p, p->token.at + p->token.bytes));

    assert(name->kind == TOKEN_NAME && parser_sees(p, "("));
    if (f == NULL) {
        p->token = *name;
        return refuse_function(p);
    }
    if (!parser_next(p))               /* the parenthesis */
        return NO_NODE;
    return f->op == OP_AGGREGATE
        ? parse_aggregate(p, f, name->at, expr_percentile(word, name->bytes))
        : parse_function(p, f);
}

/* ---- operators ---- */

/* Reads what binds strongest.  Whether a name is a call is seen one token ahead;
 * if that token is wrong, the error is told when it is met, and not here. */
static uint32_t parse_primary(struct parser *p)
{
    struct expr_token token = p->token, after;
    char found[WORD_BYTES + 1];
    uint32_t node;

    switch (token.kind) {
    case TOKEN_NUMBER:
        return !parser_next(p) ? NO_NODE : parser_add_leaf(p, (struct expr_node){
            .op = OP_NUMBER, .type = EXPR_NUMBER, .number = token.number });
    case TOKEN_TEXT: {
        char *text = arena_alloc(p->arena, token.bytes, 1);

        assert(token.bytes >= 2);       /* both quotation marks */
        memcpy(text, p->text + token.at + 1, token.bytes - 2);
        return !parser_next(p) ? NO_NODE : parser_add_leaf(p, (struct expr_node){
            .op = OP_TEXT, .type = EXPR_TEXT, .text = text });
    }
    case TOKEN_NAME:
        if (parser_sees(p, "where") || parser_sees(p, "and") || parser_sees(p, "or"))
            break;
        if (expr_token_read(p->text, token.at + token.bytes, &after, p->err) &&
            expr_token_is(p->text, &after, "("))
            return parser_next(p) ? parse_call(p, &token) : NO_NODE;
        *p->err = (struct err){ 0 };        /* what follows is told when it is met */
        return parse_column(p);
    default:
        if (!parser_sees(p, "("))
            break;
        node = parser_next(p) ? parse_either(p) : NO_NODE;
        return node == NO_NODE || !parser_take(p, ")") ? NO_NODE : node;
    }
    *p->at = token.at;
    err_set(p->err, ERR_SCHEMA, parser_nowhere, "the expression needs a number, a column or "
            "a function, found %s", parser_word(p, found));
    return NO_NODE;
}

/* Counts a level.  The caller takes it off again, but for errors, after which
 * nothing is read. */
static bool too_deep(struct parser *p)
{
    assert(p->depth <= EXPR_DEPTH);
    if (p->depth++ < EXPR_DEPTH)
        return false;
    *p->at = p->token.at;
    return !err_set(p->err, ERR_RANGE, parser_nowhere,
                    "the expression is nested more than %u deep", EXPR_DEPTH);
}

/* A minus binds one operand, which may begin with a minus again.  Returns NO_NODE after an
 * error. */
static uint32_t parse_sign(struct parser *p)
{
    size_t at;
    uint32_t node;

    if (too_deep(p))
        return NO_NODE;
    if (parser_sees(p, "-")) {
        if (!parser_next(p))
            return NO_NODE;
        at = p->token.at;
        node = parse_sign(p);
        if (node != NO_NODE)
            node = check_number(p, "-", node, at)
                 ? parser_add_operation(p, OP_NEGATE, EXPR_NUMBER, node, NO_NODE) : NO_NODE;
    } else {
        node = parse_primary(p);
    }
    assert(p->depth > 0);
    p->depth--;
    return node;
}

/* An operator as it is written.  A list of them ends with a NULL mark. */
struct operator {
    const char *mark;           /* as users write it: "<=" */
    enum expr_op op;            /* what it becomes */
};

/* Returns the operator of the list that the token is, or NULL. */
static const struct operator *find_operator(const struct parser *p,
                                            const struct operator *list)
{
    for (; list->mark != NULL; list++)
        if (parser_sees(p, list->mark))
            return list;
    return NULL;
}

/* Reads one or more of `part`, joined by operators of the list, from the left.  While a
 * divisor is read, mentions of columns are marked (struct expr_read); a divisor of a
 * divisor is marked too, as it still can be 0.  For example a - b - c is (a - b) - c. */
static uint32_t parse_joined(struct parser *p, const struct operator *list,
                             uint32_t (*part)(struct parser *p))
{
    size_t at = p->token.at;
    uint32_t left = part(p), right;
    const struct operator *o;

    while (left != NO_NODE && (o = find_operator(p, list)) != NULL) {
        bool divisor = p->divisor;

        assert(at < p->token.at);
        if (!check_number(p, o->mark, left, at) || !parser_next(p))
            return NO_NODE;
        at = p->token.at;
        p->divisor = divisor || o->op == OP_DIVIDE;
        right = part(p);
        p->divisor = divisor;
        if (right == NO_NODE || !check_number(p, o->mark, right, at))
            return NO_NODE;
        left = parser_add_operation(p, o->op, EXPR_NUMBER, left, right);
    }
    return left;
}

/* product: signs joined by * and /. */
static uint32_t parse_product(struct parser *p)
{
    static const struct operator list[] = {
        { "*", OP_MULTIPLY }, { "/", OP_DIVIDE }, { NULL, 0 } };

    return parse_joined(p, list, parse_sign);
}

/* sum: products joined by + and -. */
static uint32_t parse_sum(struct parser *p)
{
    static const struct operator list[] = {
        { "+", OP_ADD }, { "-", OP_SUBTRACT }, { NULL, 0 } };

    return parse_joined(p, list, parse_product);
}

/* `at` is the place of the operator: a comparison of a text with a number is wrong
 * as a whole. */
static uint32_t parse_comparison(struct parser *p)
{
    static const struct operator list[] = {
        { "<", OP_LESS }, { "<=", OP_LESS_EQUAL }, { ">", OP_MORE },
        { ">=", OP_MORE_EQUAL }, { "==", OP_EQUAL }, { "!=", OP_NOT_EQUAL },
        { NULL, 0 } };
    uint32_t left = parse_sum(p), right;
    const struct operator *o = left == NO_NODE ? NULL : find_operator(p, list);
    size_t at = p->token.at;

    if (o == NULL || !parser_next(p))
        return o == NULL ? left : NO_NODE;
    assert(left != NO_NODE);
    right = parse_sum(p);
    if (right == NO_NODE || !check_comparison(p, o->mark, o->op, left, right, at))
        return NO_NODE;
    if (find_operator(p, list) != NULL) {
        *p->at = p->token.at;
        err_set(p->err, ERR_SCHEMA, parser_nowhere, "a comparison cannot be compared again");
        err_hint(p->err, "Write a < b and b < c.");
        return NO_NODE;
    }
    return parser_add_operation(p, o->op, EXPR_CONDITION, left, right);
}

/* `not` binds looser than a comparison and tighter than `and`. */
static uint32_t parse_denial(struct parser *p)
{
    size_t at;
    uint32_t node;

    if (!parser_sees(p, "not"))
        return parse_comparison(p);
    assert(p->token.kind == TOKEN_NAME);
    if (too_deep(p) || !parser_next(p))
        return NO_NODE;
    at = p->token.at;
    node = parse_denial(p);
    p->depth--;
    return node == NO_NODE || !check_condition(p, "not", node, at)
        ? NO_NODE : parser_add_operation(p, OP_NOT, EXPR_CONDITION, node, NO_NODE);
}

/* Reads one or more of `part`, joined by the word, from the left. */
static uint32_t parse_chain(struct parser *p, const char *word, enum expr_op op,
                            uint32_t (*part)(struct parser *p))
{
    size_t at = p->token.at;
    uint32_t left = part(p), right;

    assert(op == OP_AND || op == OP_OR);
    while (left != NO_NODE && parser_sees(p, word)) {
        if (!check_condition(p, word, left, at) || !parser_next(p))
            return NO_NODE;
        at = p->token.at;
        right = part(p);
        if (right == NO_NODE || !check_condition(p, word, right, at))
            return NO_NODE;
        left = parser_add_operation(p, op, EXPR_CONDITION, left, right);
    }
    return left;
}

/* both: denials joined by "and". */
static uint32_t parse_both(struct parser *p)
{
    return parse_chain(p, "and", OP_AND, parse_denial);
}

/* either: what is joined by "or", the weakest operator, and so all of an expression. */
static uint32_t parse_either(struct parser *p)
{
    return parse_chain(p, "or", OP_OR, parse_both);
}

/* ---- all of it ---- */

/* Reads the text to its end.  False, with err: it does not begin as a number or condition, is
 * a text, or goes on behind its end. */
static bool parse_whole(struct parser *p)
{
    char found[WORD_BYTES + 1];

    if (!expr_token_read(p->text, 0, &p->token, p->err)) {
        *p->at = p->token.at;
        return false;
    }
    p->expr->root = parse_either(p);
    if (p->expr->root == NO_NODE)
        return false;
    assert(p->depth == 0 && !p->divisor && p->aggregate == EXPR_NO_AGGREGATE);
    if (p->token.kind == TOKEN_END && parser_type(p, p->expr->root) != EXPR_TEXT)
        return true;
    if (p->token.kind == TOKEN_END) {
        *p->at = 0;
        err_set(p->err, ERR_SCHEMA, parser_nowhere, "the expression must be a number or a "
                "condition, and is a text");
        return err_hint(p->err, "Texts can only be compared, by == and !=.");
    }
    *p->at = p->token.at;
    err_set(p->err, ERR_SCHEMA, parser_nowhere, "the expression must end here or go on with an "
            "operator, found %s", parser_word(p, found));
    return !parser_sees(p, "where") ? false
        : err_hint(p->err, "A where stands within an aggregate: mean(jct_s where "
                           "gpus <= 8).");
}

/* Arrays are as long as the text, since no node and no mention comes without a
 * byte of it; so nothing grows, and indices stay small. */
const struct expr *expr_parse(struct arena *arena, const char *text,
                              const struct expr_table *scalars,
                              const struct expr_table *rows, size_t *at,
                              struct err *err)
{
    struct expr *expr = arena_alloc(arena, 1, sizeof *expr);
    struct parser p = {
        .arena = arena, .text = text, .bytes = strlen(text), .scalars = scalars,
        .rows = rows, .expr = expr, .aggregate = EXPR_NO_AGGREGATE, .at = at,
        .err = err
    };

    assert(scalars != NULL && rows != NULL && at != NULL && err != NULL);
    *at = 0;
    if (p.bytes > EXPR_TEXT_BYTES) {
        err_set(err, ERR_RANGE, parser_nowhere, "the expression must have at most %u bytes, "
                "and has %zu", EXPR_TEXT_BYTES, p.bytes);
        return NULL;
    }
    expr->node = arena_alloc(arena, parser_room(&p), sizeof *expr->node);
    expr->fold = arena_alloc(arena, parser_room(&p), sizeof *expr->fold);
    expr->read = arena_alloc(arena, parser_room(&p), sizeof *expr->read);
    return parse_whole(&p) ? expr : NULL;
}

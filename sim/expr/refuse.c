/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refuse.c - whether the parts of an expression fit, and what is said if they do not.
 */
#include "sim/expr/refuse.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/expr/expr.h"

/* ---- types ---- */

/* Returns the words of a message for a type: static text. */
static const char *type_name(enum expr_type type)
{
    static const char *const name[] = {
        [EXPR_NUMBER] = "a number", [EXPR_CONDITION] = "a condition",
        [EXPR_TEXT] = "a text",
    };

    assert((unsigned)type < sizeof name / sizeof name[0]);
    return name[type];
}

bool check_number(struct parser *p, const char *of, uint32_t node, size_t at)
{
    assert(at < p->bytes);
    if (parser_type(p, node) != EXPR_TEXT)
        return true;
    *p->at = at;
    err_set(p->err, ERR_SCHEMA, parser_nowhere, "'%s' needs a number, found a text", of);
    return err_hint(p->err, "Texts can only be compared, by == and !=.");
}

bool check_condition(struct parser *p, const char *of, uint32_t node, size_t at)
{
    assert(at < p->bytes);
    if (parser_type(p, node) == EXPR_CONDITION)
        return true;
    *p->at = at;
    err_set(p->err, ERR_SCHEMA, parser_nowhere, "'%s' needs a condition, found %s", of,
            type_name(parser_type(p, node)));
    return err_hint(p->err, "A condition compares: gpus <= 8, tenant == 'a'.");
}

bool check_comparison(struct parser *p, const char *mark, enum expr_op op, uint32_t left,
                      uint32_t right, size_t at)
{
    bool texts = parser_type(p, left) == EXPR_TEXT && parser_type(p, right) == EXPR_TEXT;

    assert(left < right && at < p->bytes);
    if (texts ? op == OP_EQUAL || op == OP_NOT_EQUAL
              : parser_type(p, left) != EXPR_TEXT && parser_type(p, right) != EXPR_TEXT)
        return true;
    *p->at = at;
    err_set(p->err, ERR_SCHEMA, parser_nowhere, "'%s' cannot compare %s with %s", mark,
            type_name(parser_type(p, left)), type_name(parser_type(p, right)));
    return err_hint(p->err, "Texts are compared with texts, by == and !=; numbers "
                            "stand without quotation marks.");
}

/* ---- names ---- */

/* Returns the column whose spelling is nearest; NULL: none is near. */
static const char *nearest_column(struct parser *p, const struct expr_table *table,
                                  const char *name)
{
    const char **names = arena_alloc(p->arena, table->count + 1, sizeof *names);

    assert(parser_find_column(table, name) == UINT32_MAX);
    for (uint32_t i = 0; i < table->count; i++)
        names[i] = table->column[i].name;
    return conf_nearest(name, names);
}

/* The most common slip is a column of the other table: jct_s, which is of each job,
 * outside of an aggregate; it has a message of its own. */
uint32_t refuse_column(struct parser *p, const struct expr_table *table,
                       const char *name)
{
    bool inside = p->aggregate != EXPR_NO_AGGREGATE;
    const struct expr_table *other = inside ? p->scalars : p->rows;
    const char *near = nearest_column(p, table, name);

    assert(parser_find_column(table, name) == UINT32_MAX);
    *p->at = p->token.at;
    if (parser_find_column(other, name) != UINT32_MAX) {
        err_set(p->err, ERR_REFERENCE, parser_nowhere, "'%.*s' is a column of %s, which %s "
                "within an aggregate", WORD_BYTES, name, other->name,
                inside ? "cannot stand" : "stands only");
        if (inside)
            err_hint(p->err, "Within an aggregate stand columns of %s.", table->name);
        else
            err_hint(p->err, "Write mean(%.60s), sum(%.60s), p95(%.60s) ...", name,
                     name, name);
        return NO_NODE;
    }
    err_set(p->err, ERR_REFERENCE, parser_nowhere, "there is no column '%.*s' of %s",
            WORD_BYTES, name, table->name);
    if (near != NULL)
        err_hint(p->err, "Did you mean %s?", near);
    else if (inside)
        err_hint(p->err, "A text stands in quotation marks; `clustersim explain %s` "
                 "lists the columns.", table->name);
    return NO_NODE;
}

uint32_t refuse_function(struct parser *p)
{
    const char *names[32] = { NULL }, *near;
    char word[WORD_BYTES + 1];

    assert(p->token.kind == TOKEN_NAME);
    for (unsigned i = 0; i < 31; i++)
        if ((names[i] = expr_function_name(i)) == NULL)
            break;
    assert(names[30] == NULL);      /* none is left out of the comparison */
    parser_word(p, word);
    near = conf_nearest(word, names);
    *p->at = p->token.at;
    err_set(p->err, ERR_REFERENCE, parser_nowhere, "there is no function '%s'", word);
    if (near != NULL)
        err_hint(p->err, "Did you mean %s?", near);
    else
        err_hint(p->err, "Aggregates are count, sum, mean, min, max, quantile and p50 "
                         "to p99; functions are min, max, abs, sqrt, log, exp, if, "
                         "coalesce.");
    return NO_NODE;
}

/* quantile has a hint of its own, because its second argument is no expression. */
bool refuse_count(struct parser *p, const struct expr_function *f, size_t at)
{
    assert(at <= p->bytes && f->least <= f->most);
    *p->at = at;
    err_set(p->err, ERR_SCHEMA, parser_nowhere, "%s takes another number of arguments", f->name);
    if (f->fold == AGGREGATE_QUANTILE && f->most == 2)
        return err_hint(p->err, "Write quantile(jct_s, 0.9) or p90(jct_s).");
    if (f->op == OP_IF)
        return err_hint(p->err, "Write if(CONDITION, VALUE, OTHERWISE).");
    return f->least == f->most
        ? err_hint(p->err, "It takes %u.", f->least)
        : err_hint(p->err, "It takes %u to %u.", f->least, f->most);
}

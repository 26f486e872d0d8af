/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * token.h - an expression as words, numbers, texts and marks.
 */
#ifndef SIM_EXPR_TOKEN_H
#define SIM_EXPR_TOKEN_H

#include <stdbool.h>
#include <stddef.h>

struct err;

/* TOKEN_END: the text is over.  TOKEN_NUMBER: with its unit.  TOKEN_NAME: a column, a function
 * or a word such as `and`.  TOKEN_TEXT: in quotation marks.  TOKEN_MARK: an operator, a
 * parenthesis or a comma. */
enum expr_token_kind {
    TOKEN_END, TOKEN_NUMBER, TOKEN_NAME, TOKEN_TEXT, TOKEN_MARK
};

/* A piece of the text; it holds no copy of it. */
struct expr_token {
    enum expr_token_kind kind;
    size_t at, bytes;           /* in the expression, with quotation marks */
    double number;              /* of TOKEN_NUMBER, with its unit: 1h is 3600 */
};

/* Reads the token from byte `from` of the text on, blanks before it skipped; at
 * the end of the text a TOKEN_END of no bytes, again and again.  A number takes
 * its unit with it.  False: err says what is wrong at token->at. */
bool expr_token_read(const char *text, size_t from, struct expr_token *token,
                     struct err *err);
/* Is the token that mark or word?  A text in quotation marks never is. */
bool expr_token_is(const char *text, const struct expr_token *token,
                   const char *word);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * token.c - splits an expression.
 *
 * Four kinds of tokens, each told by its first byte: a digit or a point before
 * a digit begins a number, a quotation mark a text, a letter or _ a name, all
 * else a mark.  There is no state between tokens, so the parser may look ahead
 * by reading twice.
 *
 * Numbers are read by scan_f64(), which does not know locales.
 */
#include "sim/expr/token.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/scan.h"

/* Longer than any unit of time. */
#define UNIT_BYTES 8u

/* Not isdigit(), for the same reason as is_letter(). */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Not isalpha(): names are ASCII in every locale. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* Returns how many digits the text begins with. */
static size_t count_digits(const char *text)
{
    size_t n = 0;

    while (is_digit(text[n]))
        n++;
    return n;
}

/* Returns the bytes of "12", "0.5", ".5" or "1e-3", without a unit.  An 'e'
 * without digits behind it belongs to the unit, not to the number. */
static size_t number_bytes(const char *text)
{
    size_t n = count_digits(text), power;

    if (text[n] == '.')
        n += 1 + count_digits(text + n + 1);
    power = n + 1;
    if (text[n] != 'e' && text[n] != 'E')
        return n;
    power += text[power] == '+' || text[power] == '-';
    assert(n > 0);
    return is_digit(text[power]) ? power + count_digits(text + power) : n;
}

/* Multiplies the number by the unit behind it, and takes the unit's bytes too: a
 * time is in seconds, 5% is 0.05.  No unit: all stays.  False, with err: it is no
 * unit that is known. */
static bool read_unit(const char *text, struct expr_token *token, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    const char *unit = text + token->at + token->bytes;
    char name[UNIT_BYTES + 1] = { 0 };
    size_t bytes = 0;
    double size = 0.01;

    if (*unit == '%') {
        bytes = 1;
    } else {
        while (is_letter(unit[bytes]) || is_digit(unit[bytes]))
            bytes++;
        if (bytes == 0)
            return true;
        memcpy(name, unit, bytes < UNIT_BYTES ? bytes : UNIT_BYTES);
        if (bytes > UNIT_BYTES || !conf_unit_size(CONF_TIME, name, &size)) {
            token->at += token->bytes;
            err_set(err, ERR_SCHEMA, nowhere, "'%.*s' behind a number is no unit of "
                    "time", (int)(bytes < 40 ? bytes : 40), unit);
            return err_hint(err, "Write 10min, 1h or 90s for seconds, 5%% for 0.05, "
                                 "or the number alone.");
        }
    }
    if (!isfinite(token->number * size))
        return err_set(err, ERR_RANGE, nowhere, "'%.*s' is too large",
                       (int)(token->bytes + bytes < 40 ? token->bytes + bytes : 40),
                       text + token->at);
    assert(size > 0 && bytes > 0);
    token->number *= size;
    token->bytes += bytes;
    return true;
}

/* A number and, if one follows, its unit.  False: err says what is wrong with it. */
static bool read_number(const char *text, struct expr_token *token, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    token->kind = TOKEN_NUMBER;
    token->bytes = number_bytes(text + token->at);
    assert(token->bytes > 0);
    if (!scan_f64(text + token->at, token->bytes, &token->number))
        return err_set(err, ERR_SCHEMA, nowhere, "'%.*s' is no number",
                       (int)(token->bytes < 40 ? token->bytes : 40),
                       text + token->at);
    return read_unit(text, token, err);
}

/* A text ends at the next mark of the kind that began it; there are no escapes,
 * since the other kind of mark serves. */
static bool read_text(const char *text, struct expr_token *token, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    const char *start = text + token->at;
    const char *end;

    assert(*start == '"' || *start == '\'');
    end = strchr(start + 1, *start);
    token->kind = TOKEN_TEXT;
    if (end == NULL) {
        err_set(err, ERR_SCHEMA, nowhere, "a text has no end");
        return err_hint(err, "Close it with %c.", *start);
    }
    token->bytes = (size_t)(end - start) + 1;
    return true;
}

/* Longer marks first, so that "<=" is not "<" and "=". */
static bool read_mark(const char *text, struct expr_token *token, struct err *err)
{
    static const char two[][3] = { "<=", ">=", "==", "!=" };
    struct err_pos nowhere = { NULL, 0, 0 };
    const char *at = text + token->at;

    assert(*at != '\0');
    token->kind = TOKEN_MARK;
    token->bytes = 2;
    for (size_t i = 0; i < sizeof two / sizeof two[0]; i++)
        if (strncmp(at, two[i], 2) == 0)
            return true;
    token->bytes = 1;
    if (strchr("+-*/(),<>", *at) != NULL)
        return true;
    if (*at == '=') {
        err_set(err, ERR_SCHEMA, nowhere, "'=' compares nothing");
        return err_hint(err, "Write == for equal.");
    }
    if ((unsigned char)*at < ' ' || (unsigned char)*at > '~')
        return err_set(err, ERR_SCHEMA, nowhere,
                       "byte 0x%02x has no meaning in an expression",
                       (unsigned char)*at);
    err_set(err, ERR_SCHEMA, nowhere, "'%c' has no meaning in an expression", *at);
    return err_hint(err, "Known are + - * / ( ) , < <= > >= == !=, and the words and, "
                         "or, not, where.");
}

bool expr_token_read(const char *text, size_t from, struct expr_token *token,
                     struct err *err)
{
    const char *at = text + from;

    assert(text != NULL && token != NULL);
    at += strspn(at, " \t\r\n");
    *token = (struct expr_token){ .kind = TOKEN_END, .at = (size_t)(at - text) };
    if (*at == '\0')
        return true;
    if (is_digit(*at) || (*at == '.' && is_digit(at[1])))
        return read_number(text, token, err);
    if (*at == '"' || *at == '\'')
        return read_text(text, token, err);
    if (!is_letter(*at))
        return read_mark(text, token, err);
    token->kind = TOKEN_NAME;
    while (is_letter(at[token->bytes]) || is_digit(at[token->bytes]))
        token->bytes++;
    return true;
}

/* TOKEN_END has no bytes, and would be equal to a word of none. */
bool expr_token_is(const char *text, const struct expr_token *token,
                   const char *word)
{
    return token->kind != TOKEN_TEXT && token->kind != TOKEN_END &&
           strlen(word) == token->bytes &&
           memcmp(text + token->at, word, token->bytes) == 0;
}

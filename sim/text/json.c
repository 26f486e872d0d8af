/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json.c - a JSON file, token by token.
 *
 * A token never crosses the end of a line, so lines are cut up where they
 * lie; texts are unescaped in place.  Invariant: `state` says what may come
 * next in the innermost bracket, `array` whether that bracket is an array.
 */
#include "sim/text/json.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/text/scan.h"

#define DEPTH_MAX 64u

/* What may come next: a value; the first item or key of a bracket, or its end;
 * a key; a comma or the end. */
enum state { WANT_VALUE, FIRST_ITEM, FIRST_KEY, WANT_KEY, WANT_COMMA };

struct json {
    struct scan *scan;          /* NULL: of a line in memory */
    const char *path;           /* as messages name it */
    char *line, *at;            /* NULL before the first line */
    uint32_t more_bytes;        /* before `at`, than characters */
    uint32_t number;            /* of a line in memory */
    struct err_pos pos;         /* of the token read last */
    const char *text;
    size_t bytes;
    bool array[DEPTH_MAX];      /* by level: an array, else an object */
    unsigned depth;             /* levels that are open */
    enum state state;           /* what may come next */
};

struct json *json_open(struct arena *arena, const char *path,
                       struct err *err)
{
    struct json *json = arena_alloc(arena, 1, sizeof *json);

    assert(path != NULL && err != NULL);
    json->path = path;
    json->state = WANT_VALUE;
    json->text = "";
    json->scan = scan_open(path, err);
    return json->scan == NULL ? NULL : json;
}

struct json *json_new(struct arena *arena)
{
    struct json *json = arena_alloc(arena, 1, sizeof *json);

    json->text = "";
    return json;
}

void json_line(struct json *json, char *line, uint32_t number)
{
    assert(json->scan == NULL && line != NULL);
    json->line = json->at = line;
    json->more_bytes = 0;
    json->number = number;
    json->pos = (struct err_pos){ NULL, number, 1 };
    json->depth = 0;
    json->state = WANT_VALUE;
}

void json_close(struct json *json)
{
    if (json == NULL)
        return;
    assert(json->depth <= DEPTH_MAX);
    scan_close(json->scan);
    json->scan = NULL;
}

const char *json_text(const struct json *json, size_t *bytes)
{
    assert(json->text != NULL);
    *bytes = json->bytes;
    return json->text;
}

struct err_pos json_pos(const struct json *json)
{
    assert(json->pos.line == 0 || json->pos.col > 0);
    return json->pos;
}

/* Reports a fault at the token read last; returns JSON_ERROR. */
static enum json_token report_fault(struct json *json, const char *what,
                                    struct err *err)
{
    assert(what[0] != '\0');
    err_set(err, ERR_SYNTAX, json->pos, "%s", what);
    return JSON_ERROR;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

/* Moves to the next character that is not blank, in this line or below. */
static enum scan_step find_token(struct json *json, struct err *err)
{
    for (;;) {
        size_t bytes;
        enum scan_step step;

        while (json->at != NULL && is_blank(*json->at))
            json->at++;
        if (json->at != NULL && *json->at != '\0')
            break;
        if (json->scan == NULL)
            return SCAN_END;
        step = scan_line(json->scan, &json->line, &bytes, err);
        /* A whole file in one line is what `jq -c` and many services write. */
        if (step == SCAN_ERROR && strstr(err->text, SCAN_LONG_LINE) != NULL)
            err_hint(err, "Write it on many lines, as `jq . FILE > NEW` does.");
        if (step != SCAN_LINE)
            return step;
        json->at = json->line;
        json->more_bytes = 0;
    }
    assert(json->at >= json->line && *json->at != '\0');
    /* Columns count characters: bytes within a character of UTF-8 are taken off. */
    uint32_t col = (uint32_t)(json->at - json->line) + 1 - json->more_bytes;

    json->pos = json->scan != NULL ? scan_pos(json->scan, col)
                                   : (struct err_pos){ NULL, json->number, col };
    return SCAN_LINE;
}

/* Four hexadecimal digits, or -1. */
static long read_hex4(const char *at)
{
    long value = 0;

    for (int i = 0; i < 4; i++) {
        /* Two alphabets in a row, so that the place modulo 16 is the digit in either case. */
        const char *digits = "0123456789abcdef0123456789ABCDEF";
        const char *digit = at[i] == '\0' ? NULL : strchr(digits, at[i]);

        if (digit == NULL)
            return -1;
        value = 16 * value + (digit - digits) % 16;
    }
    assert(value >= 0 && value <= 0xFFFF);
    return value;
}

/* One UTF-16 unit as UTF-8: surrogates, which no trace has, become '?'. */
static char *put_unit(char *to, long unit)
{
    assert(unit >= 0 && unit <= 0xFFFF);
    if (unit == 0 || (unit >= 0xD800 && unit <= 0xDFFF)) {
        *to++ = '?';
    } else if (unit < 0x80) {
        *to++ = (char)unit;
    } else if (unit < 0x800) {
        *to++ = (char)(0xC0 | unit >> 6);
        *to++ = (char)(0x80 | (unit & 0x3F));
    } else {
        *to++ = (char)(0xE0 | unit >> 12);
        *to++ = (char)(0x80 | (unit >> 6 & 0x3F));
        *to++ = (char)(0x80 | (unit & 0x3F));
    }
    return to;
}

/* Reads a text from json->at on, which is at its quotation mark.  Escapes are replaced in
 * place: a decoded text is never longer. */
static bool cut_text(struct json *json)
{
    assert(*json->at == '"');
    static const char escapes[] = "\"\\/bfnrt", means[] = "\"\\/\b\f\n\r\t";
    char *from = json->at + 1, *to = from;
    uint32_t more_bytes = 0;

    json->text = from;
    while (*from != '"') {
        const char *escape;

        if (*from == '\0')
            return false;
        /* Copied down in place: an escape is longer than what it means, so no text grows. */
        if (*from != '\\') {
            more_bytes += ((unsigned char)*from & 0xC0) == 0x80;
            *to++ = *from++;
            continue;
        }
        if (from[1] == 'u') {
            long unit = read_hex4(from + 2);

            if (unit < 0)
                return false;
            to = put_unit(to, unit);
            from += 6;
            continue;
        }
        escape = from[1] == '\0' ? NULL : strchr(escapes, from[1]);
        if (escape == NULL)
            return false;
        *to++ = means[escape - escapes];
        from += 2;
    }
    /* Behind the closing quotation mark.  `to` never passes `from`, so the rest is untouched. */
    json->at = from + 1;
    json->more_bytes += more_bytes;
    *to = '\0';
    json->bytes = (size_t)(to - json->text);
    assert(to <= from);
    return true;
}

/* Enters an array or an object. */
static enum json_token open_bracket(struct json *json, bool array,
                                    struct err *err)
{
    assert(*json->at == (array ? '[' : '{'));
    if (json->depth == DEPTH_MAX)
        return report_fault(json, "brackets lie deeper than 64", err);
    json->array[json->depth++] = array;
    json->state = array ? FIRST_ITEM : FIRST_KEY;
    json->at++;
    return array ? JSON_ARRAY : JSON_OBJECT;
}

/* A number, true, false or null: up to the next mark. */
static enum json_token cut_word(struct json *json, struct err *err)
{
    assert(json->at != NULL);
    static const char *const words[] = { "true", "false", "null" };
    /* Whatever ends a value; what stands there is looked at as the next token. */
    size_t bytes = strcspn(json->at, ",:]}[{\" \t\r");
    double ignored;

    json->text = json->at;
    json->bytes = bytes;
    json->at += bytes;
    json->state = WANT_COMMA;
    for (int i = 0; i < 3; i++)
        if (strlen(words[i]) == bytes &&
            memcmp(words[i], json->text, bytes) == 0)
            return (enum json_token)(JSON_TRUE + i);
    /* Wider than RFC 8259 (it takes 007 and .5): json_is_number() is strict, where that counts. */
    if (scan_f64(json->text, bytes, &ignored))
        return JSON_NUMBER;
    return report_fault(json, "a JSON value is expected", err);
}

/* Reads a value, or the bracket that opens one. */
static enum json_token read_value(struct json *json, struct err *err)
{
    assert(*json->at != '\0');
    switch (*json->at) {
    case '{':
        return open_bracket(json, false, err);
    case '[':
        return open_bracket(json, true, err);
    case '"':
        if (!cut_text(json))
            return report_fault(json, "text does not end in its line, or has an "
                                "escape that JSON does not know", err);
        json->state = WANT_COMMA;
        return JSON_TEXT;
    default:
        return cut_word(json, err);
    }
}

/* Reads a key and its colon. */
static enum json_token read_key(struct json *json, struct err *err)
{
    assert(json->depth > 0 && !json->array[json->depth - 1]);
    const char *text;
    size_t bytes;
    struct err_pos pos;

    if (*json->at != '"' || !cut_text(json))
        return report_fault(json, "a key in quotation marks is expected", err);
    /* The colon may only stand in the same line, since the key does. */
    text = json->text;
    bytes = json->bytes;
    pos = json->pos;
    while (is_blank(*json->at))
        json->at++;
    if (*json->at != ':')
        return report_fault(json, "a colon is expected after the key", err);
    json->at++;
    /* The token is the key: looking for the colon must not change what json_text() tells. */
    json->text = text;
    json->bytes = bytes;
    json->pos = pos;
    json->state = WANT_VALUE;
    return JSON_KEY;
}

/* Leaves the innermost bracket. */
static enum json_token close_bracket(struct json *json)
{
    assert(json->depth > 0);
    bool array = json->array[--json->depth];

    json->at++;
    json->state = json->depth == 0 ? WANT_VALUE : WANT_COMMA;
    return array ? JSON_ARRAY_END : JSON_OBJECT_END;
}

/* A machine of five states; the kinds of open brackets are kept in an array, so
 * that it needs no recursion and no tree. */
enum json_token json_next(struct json *json, struct err *err)
{
    for (;;) {
        enum scan_step step = find_token(json, err);
        bool array = json->depth > 0 && json->array[json->depth - 1];
        assert(json->depth <= DEPTH_MAX);

        if (step == SCAN_ERROR)
            return JSON_ERROR;
        if (step == SCAN_END)
            return json->depth == 0 ? JSON_END
                                    : report_fault(json, json->scan != NULL
                                                         ? "file ends within a bracket"
                                                         : "line ends within a bracket",
                                                   err);
        /* Values may follow each other without a comma, as in files of one object a line. */
        if (json->depth == 0)
            json->state = WANT_VALUE;
        if ((json->state == FIRST_ITEM || json->state == WANT_COMMA ||
             json->state == FIRST_KEY) && *json->at == (array ? ']' : '}'))
            return close_bracket(json);
        if (json->state == WANT_COMMA) {
            if (*json->at != ',')
                return report_fault(json, "a comma or the end of the bracket is "
                                    "expected", err);
            json->at++;
            json->state = array ? WANT_VALUE : WANT_KEY;
            continue;
        }
        return json->state == FIRST_KEY || json->state == WANT_KEY
                   ? read_key(json, err) : read_value(json, err);
    }
}

/* Skips the value that began with this token, with all that it holds. */
bool json_skip(struct json *json, enum json_token token, struct err *err)
{
    unsigned depth = json->depth;

    if (token != JSON_OBJECT && token != JSON_ARRAY)
        return token != JSON_ERROR;
    /* The token has opened its bracket already: passed over is all until that one is closed. */
    while (json->depth >= depth)
        if (json_next(json, err) == JSON_ERROR)
            return false;
    assert(json->depth + 1 == depth);
    return true;
}

bool json_expect(struct json *json, enum json_token token, const char *what,
                 struct err *err)
{
    assert(what[0] != '\0');
    enum json_token found = json_next(json, err);

    if (found == token || found == JSON_ERROR)
        return found == token;
    if (json->pos.file == NULL)             /* there is nothing in it */
        json->pos.file = json->path;
    return err_set(err, ERR_SYNTAX, json->pos, "%s is expected here", what);
}

/* Returns how many digits the text begins with. */
static size_t count_digits(const char *text)
{
    return strspn(text, "0123456789");
}

bool json_is_number(const char *text)
{
    assert(text != NULL);
    /* -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)? */
    text += *text == '-';
    size_t count = count_digits(text);
    if (count == 0 || (count > 1 && text[0] == '0'))
        return false;
    text += count;
    if (*text == '.') {
        count = count_digits(text + 1);
        if (count == 0)
            return false;
        text += 1 + count;
    }
    if (*text == 'e' || *text == 'E') {
        text += text[1] == '+' || text[1] == '-' ? 2 : 1;
        count = count_digits(text);
        if (count == 0)
            return false;
        text += count;
    }
    return *text == '\0';
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reader.c - maps with known keys, read token by token.
 *
 * Nothing a program sends is trusted: every number has a range, every text a length,
 * every key must be known and stands once, and the first fault ends the trial with its
 * column.  Of two values under one key, readers of JSON take either: so it is no answer.
 */
#include "experiments/exec/reader.h"

#include <assert.h>
#include <string.h>

#include "sim/config/conf.h"
#include "sim/text/scan.h"

bool reader_fault(struct reader *r, const char *what)
{
    return err_set(r->err, ERR_SYNTAX, json_pos(r->json), "%s", what);
}

bool reader_word_fault(struct reader *r, const char *what, const char *word,
                           const char *const *names)
{
    const char *near = conf_nearest(word, names);

    err_set(r->err, ERR_SYNTAX, json_pos(r->json), "%s '%.40s'%s%s%s", what, word,
            near ? " (did you mean '" : "", near ? near : "", near ? "'?)" : "");
    return false;
}

int reader_find(const char *const *names, const char *word)
{
    for (int i = 0; names[i] != NULL; i++)
        if (strcmp(names[i], word) == 0)
            return i;
    return -1;
}

bool reader_next(struct reader *r, enum json_token *token)
{
    *token = json_next(r->json, r->err);
    return *token != JSON_ERROR;
}

bool reader_int(struct reader *r, int64_t low, int64_t high, int64_t *out)
{
    size_t bytes;
    enum json_token token;
    const char *text;

    if (!reader_next(r, &token))
        return false;
    text = json_text(r->json, &bytes);
    if (token != JSON_NUMBER || !scan_i64(text, bytes, out))
        return reader_fault(r, "a whole number is expected here");
    if (*out < low || *out > high)
        return err_set(r->err, ERR_RANGE, json_pos(r->json), "%lld is not from %lld to "
                       "%lld", (long long)*out, (long long)low, (long long)high);
    return true;
}

bool reader_u32(struct reader *r, uint32_t *out)
{
    int64_t value;
    bool ok = reader_int(r, 0, UINT32_MAX, &value);

    *out = ok ? (uint32_t)value : 0;
    return ok;
}

bool reader_bool(struct reader *r, bool *out)
{
    enum json_token token;

    if (!reader_next(r, &token))
        return false;
    *out = token == JSON_TRUE;
    return token == JSON_TRUE || token == JSON_FALSE ||
           reader_fault(r, "true or false is expected here");
}

bool reader_text(struct reader *r, const char **out)
{
    enum json_token token;
    size_t bytes;

    if (!reader_next(r, &token))
        return false;
    *out = json_text(r->json, &bytes);
    return token == JSON_TEXT || reader_fault(r, "a text is expected here");
}

bool reader_real(struct reader *r, double *out)
{
    enum json_token token;
    size_t bytes;

    if (!reader_next(r, &token))
        return false;
    const char *text = json_text(r->json, &bytes);
    return (token == JSON_NUMBER && scan_f64(text, bytes, out)) ||
           reader_fault(r, "a number is expected here");
}

bool reader_word(struct reader *r, char *out, size_t out_bytes)
{
    const char *text;

    if (!reader_text(r, &text))
        return false;
    if (strlen(text) >= out_bytes)
        return err_set(r->err, ERR_SYNTAX, json_pos(r->json), "this text has %zu bytes, and "
                       "may have %zu", strlen(text), out_bytes - 1);
    strcpy(out, text);
    return true;
}

/* Returns the place of the key that was read last among those of the map, or -1 with
 * err.  Keys are cut to 40 bytes, more than any known key has.  O(keys of the map). */
static int find_key(struct reader *r, const struct reader_map *map)
{
    char key[41];
    size_t bytes;
    const char *text = json_text(r->json, &bytes);

    bytes = bytes < sizeof key - 1 ? bytes : sizeof key - 1;
    memcpy(key, text, bytes);
    key[bytes] = '\0';
    int at = reader_find(map->key, key);
    assert(at < (int)READER_KEYS_MAX);
    if (at < 0)
        (void)reader_word_fault(r, "there is no key", key, map->key);
    return at;
}

bool reader_map(struct reader *r, bool open, const struct reader_map *map)
{
    enum json_token token;
    uint64_t seen = 0;

    if (!open && !json_expect(r->json, JSON_OBJECT, "a map", r->err))
        return false;
    while (reader_next(r, &token)) {
        if (token == JSON_OBJECT_END)
            return true;
        int key = find_key(r, map);
        if (key < 0)
            return false;
        if (seen >> key & 1)
            return err_set(r->err, ERR_SCHEMA, json_pos(r->json), "key '%s' is given twice",
                           map->key[key]);
        seen |= UINT64_C(1) << key;
        if (!map->read(r, (uint32_t)key))
            return false;
    }
    return false;
}

bool reader_list(struct reader *r,
                      reader_item *item)
{
    enum json_token token;

    if (!json_expect(r->json, JSON_ARRAY, "a list", r->err))
        return false;
    while (reader_next(r, &token)) {
        if (token == JSON_ARRAY_END)
            return true;
        if (!item(r, token))
            return false;
    }
    return false;
}

/* A byte 0 within the line would hide what follows it. */
bool reader_line(struct reader *r, char *line, size_t bytes, const struct reader_map *map)
{
    enum json_token token;

    json_line(r->json, line, 1);
    if (strlen(line) < bytes)
        return reader_fault(r, "the line holds a byte 0");
    token = json_next(r->json, r->err);
    if (token == JSON_ERROR)
        return false;
    if (token != JSON_OBJECT)
        return reader_fault(r, "a map {...} is expected here, and nothing else on stdout");
    if (!reader_map(r, true, map) || !reader_next(r, &token))
        return false;
    if (token != JSON_END)
        return reader_fault(r, "the answer has ended, and the line goes on");
    return r->number >= 0 || reader_fault(r, "the key n is missing, the number of the message "
                                       "that is answered");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flow.c - a tree as one line of YAML.
 *
 * Texts get quotation marks where a flow would read them otherwise.  Each level
 * is put together anew in the arena: such lines are short (a swept value).
 */
#include "sim/config/conf.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/text/paths.h"

/* May the text stand without quotation marks in a flow?  A minus before a digit begins a
 * number, and needs no marks; any other minus could begin an item. */
static bool is_plain(const char *text)
{
    const char *first = text + (text[0] == '-' && text[1] >= '0' && text[1] <= '9');
    size_t bytes = strlen(text);

    assert(first == text || first == text + 1);
    return bytes > 0 && strchr("-?:&*!|>%@` ", first[0]) == NULL &&
           strpbrk(text, ",[]{}#\"'\\\n\t") == NULL && strstr(text, ": ") == NULL &&
           text[bytes - 1] != ':' && text[bytes - 1] != ' ';
}

/* Returns the text in double quotation marks, with the escapes that YAML
 * knows. */
static const char *quote_text(struct arena *arena, const char *text)
{
    char *out = arena_alloc(arena, 2 * strlen(text) + 3, 1), *end = out;
    const char *start = text;

    *end++ = '"';
    for (; *text != '\0'; text++) {
        if (strchr("\"\\\n\t", *text) != NULL)
            *end++ = '\\';
        *end++ = *text == '\n' ? 'n' : *text == '\t' ? 't' : *text;
    }
    *end = '"';
    assert((size_t)(end - out) < 2 * (size_t)(text - start) + 3);
    return out;
}

/* Returns the text as it stands in a flow, in quotation marks where it needs them. */
static const char *write_text(struct arena *arena, const char *text)
{
    assert(text != NULL);
    return is_plain(text) ? text : quote_text(arena, text);
}

/* For example, a map of a: 1 and b: [x, "y, z"] becomes {a: 1, b: [x, "y, z"]}. */
const char *conf_flow(struct arena *arena, const struct conf_node *node)
{
    bool map = conf_kind(node) == CONF_MAP;
    const char *out = map ? "{" : "[";

    assert(arena != NULL && node != NULL);
    if (conf_kind(node) == CONF_SCALAR)
        return write_text(arena, conf_text(node));
    for (size_t i = 0; i < conf_count(node); i++) {
        const struct conf_node *value = map ? conf_value(node, i) : conf_item(node, i);

        out = text_format(arena, "%s%s%s%s%s", out, i > 0 ? ", " : "",
                          map ? write_text(arena, conf_key(node, i)) : "",
                          map ? ": " : "", conf_flow(arena, value));
    }
    return text_format(arena, "%s%s", out, map ? "}" : "]");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conf_doc.c - key tables as text, JSON Schema and Markdown.
 *
 * JSON Schema knows no units, so a quantity is a string with a pattern made
 * of the units that the reader knows.
 */
#include "sim/conf_doc.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/arena.h"
#include "sim/conf_node.h"
#include "sim/conf_unit.h"
#include "sim/decimal.h"
#include "sim/table.h"

#define NUMBER_PATTERN \
    "[-+]?([0-9]+\\\\.?[0-9]*|\\\\.[0-9]+)([eE][-+]?[0-9]+)?"
#define RANGE_BYTES (2 * CONF_QUANTITY_BYTES + 16)

/* A growing text that always ends with NUL. */
struct page {
    struct arena *arena;
    char *text;
    size_t used_bytes, room_bytes;
};

static void put_bytes(struct page *page, const char *text, size_t bytes)
{
    assert(text != NULL);
    if (page->room_bytes - page->used_bytes <= bytes) {
        size_t room_bytes = 2 * page->room_bytes + bytes + 256;
        page->text = arena_grow(page->arena, page->text, page->used_bytes,
                                room_bytes, 1);
        page->room_bytes = room_bytes;
    }
    memcpy(page->text + page->used_bytes, text, bytes);
    page->used_bytes += bytes;
    page->text[page->used_bytes] = '\0';
}

static void put(struct page *page, const char *text)
{
    put_bytes(page, text, strlen(text));
}

static bool has_range(const struct conf_field *field)
{
    char range[RANGE_BYTES];

    conf_range_format(field, NULL, range);
    return range[0] != '\0';
}

/* "required", "default 1h" or "optional". */
static void put_default(struct page *page, const struct conf_field *field)
{
    if (field->fallback == NULL) {
        put(page, "required");
    } else if (field->fallback[0] == '\0') {
        put(page, "optional");
    } else {
        put(page, "default ");
        put(page, field->fallback);
    }
}

static void put_choices(struct page *page, const struct conf_field *field,
                        const char *between)
{
    assert(field->type == CONF_CHOICE);
    for (size_t i = 0; field->choices[i] != NULL; i++) {
        put(page, i > 0 ? between : "");
        put(page, field->choices[i]);
    }
}

static void explain_units(struct page *page, enum conf_type type)
{
    size_t count;
    const struct conf_unit *units = conf_units(type, &count);

    if (count < 2)
        return;
    put(page, "\n  units    ");
    for (size_t i = 0; i < count; i++) {
        put(page, " ");
        put(page, units[i].name[0] == '\0' ? "none" : units[i].name);
    }
}

char *conf_explain(struct arena *arena, const struct conf_schema *schema,
                   const char *key)
{
    assert(arena != NULL && schema != NULL && key != NULL);
    const struct conf_field *field = NULL;
    struct page page = {.arena = arena};
    char range[RANGE_BYTES];

    for (size_t i = 0; i < schema->count; i++) {
        if (strcmp(schema->fields[i].key, key) == 0)
            field = &schema->fields[i];
    }
    if (field == NULL)
        return NULL;
    put(&page, schema->name);
    put(&page, ".");
    put(&page, key);
    put(&page, "\n  ");
    put(&page, field->help);
    put(&page, "\n  type      ");
    put(&page, conf_type_name(field->type));
    if (field->type == CONF_CHOICE) {
        put(&page, ": ");
        put_choices(&page, field, ", ");
    } else if (field->type != CONF_NODE && field->type != CONF_BOOL &&
               field->type != CONF_TEXT) {
        put(&page, ", such as ");
        put(&page, conf_type_example(field->type));
    }
    explain_units(&page, field->type);
    conf_range_format(field, NULL, range);
    if (range[0] != '\0') {
        put(&page, "\n  range     ");
        put(&page, range);
    }
    put(&page, "\n  needed    ");
    put_default(&page, field);
    put(&page, "\n");
    return page.text;
}

/* Text in a cell: a bar would end it. */
static void put_cell(struct page *page, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            put(page, "\\");
        put_bytes(page, text, 1);
    }
}

char *conf_markdown(struct arena *arena, const struct conf_schema *schema)
{
    assert(arena != NULL && schema != NULL);
    struct page page = {.arena = arena};
    char range[RANGE_BYTES];

    put(&page, "| key | type | needed | range | meaning |\n"
               "|---|---|---|---|---|\n");
    for (size_t i = 0; i < schema->count; i++) {
        const struct conf_field *field = &schema->fields[i];
        assert(field->help != NULL);
        put(&page, "| `");
        put_cell(&page, field->key);
        put(&page, "` | ");
        put(&page, conf_type_name(field->type));
        put(&page, " | ");
        put_default(&page, field);
        put(&page, " | ");
        conf_range_format(field, NULL, range);
        if (field->type == CONF_CHOICE)
            put_choices(&page, field, ", ");
        else
            put_cell(&page, range);
        put(&page, " | ");
        put_cell(&page, field->help);
        put(&page, " |\n");
    }
    return page.text;
}

/* A JSON string; control characters are escaped, UTF-8 stands as it is. */
static void put_json(struct page *page, const char *text)
{
    char escape[8];

    put(page, "\"");
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            snprintf(escape, sizeof escape, "\\%c", c);
            put(page, escape);
        } else if (c < 0x20) {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)c);
            put(page, escape);
        } else {
            put_bytes(page, text, 1);
        }
    }
    put(page, "\"");
}

static void put_bound(struct page *page, const char *name, double value)
{
    char number[32];

    if (!isfinite(value))
        return;
    table_format_real(value, number);
    put(page, ", \"");
    put(page, name);
    put(page, "\": ");
    put(page, number);
}

/* "type": a plain number within the field's range. */
static void put_number(struct page *page, const struct conf_field *field,
                       const char *type)
{
    put(page, "\"type\": \"");
    put(page, type);
    put(page, "\"");
    if (!has_range(field))
        return;
    put_bound(page, "minimum", field->min);
    put_bound(page, "maximum", field->max);
}

/* "type": a string of a number and one of the units. */
static void put_pattern(struct page *page, enum conf_type type)
{
    size_t count;
    const struct conf_unit *units = conf_units(type, &count);
    bool first = true;

    assert(count > 1);
    put(page, "\"type\": \"string\", \"pattern\": \"^");
    if (type == CONF_BYTES)
        put(page, "([0-9]+x)?");
    put(page, NUMBER_PATTERN " ?(");
    for (size_t i = 0; i < count; i++) {
        if (units[i].name[0] == '\0')
            continue;
        put(page, first ? "" : "|");
        put(page, units[i].name);
        first = false;
    }
    put(page, ")$\"");
}

static const struct conf_schema *find_schema(
    const struct conf_schema *const *schemas, size_t count, const char *name)
{
    assert(name != NULL);
    for (size_t i = 0; i < count; i++) {
        if (strcmp(schemas[i]->name, name) == 0)
            return schemas[i];
    }
    return NULL;
}

/* All definitions, and the one that is being written. */
struct writing {
    struct page *page;
    const struct conf_schema *const *schemas;
    size_t count;
    const struct conf_schema *schema;
};

/* The definition of a CONF_NODE key; *is_list when it is that of an item. */
static const struct conf_schema *find_target(const struct writing *writing,
                                             const char *key, bool *is_list)
{
    char name[160];

    for (int form = 0; form < 4; form++) {
        const char *tail = form % 2 == 1 ? "[]" : "";
        *is_list = form % 2 == 1;
        if (form < 2)
            snprintf(name, sizeof name, "%s.%s%s", writing->schema->name, key,
                     tail);
        else
            snprintf(name, sizeof name, "%s%s", key, tail);
        const struct conf_schema *target =
            find_schema(writing->schemas, writing->count, name);
        if (target != NULL)
            return target;
    }
    return NULL;
}

/* A reference is a URI: brackets are written %5B and %5D (RFC 3986). */
static void put_reference(struct page *page, const char *name)
{
    put(page, "{\"$ref\": \"#/$defs/");
    for (; *name != '\0'; name++) {
        if (*name == '[')
            put(page, "%5B");
        else if (*name == ']')
            put(page, "%5D");
        else
            put_bytes(page, name, 1);
    }
    put(page, "\"}");
}

/* A map may also be given as a path or a name, and an item likewise. */
static void put_node(const struct writing *writing, const char *key)
{
    struct page *page = writing->page;
    bool is_list;
    const struct conf_schema *target = find_target(writing, key, &is_list);

    assert(key != NULL);
    if (target == NULL) {
        put(page, "\"type\": [\"object\", \"array\", \"string\", "
                  "\"number\", \"boolean\"]");
        return;
    }
    put(page, "\"anyOf\": [");
    if (is_list)
        put(page, "{\"type\": \"array\", \"items\": {\"anyOf\": [");
    put_reference(page, target->name);
    if (is_list)
        put(page, ", {\"type\": \"string\"}]}}");
    put(page, ", {\"type\": \"string\"}]");
}

static void put_type(const struct writing *writing,
                     const struct conf_field *field)
{
    struct page *page = writing->page;

    switch (field->type) {
    case CONF_BOOL: put(page, "\"type\": \"boolean\""); return;
    case CONF_INT: put_number(page, field, "integer"); return;
    case CONF_REAL: put_number(page, field, "number"); return;
    case CONF_TEXT:     /* editors take a plain 12 for a number */
        put(page, "\"type\": [\"string\", \"number\", \"boolean\"]");
        return;
    case CONF_NODE: put_node(writing, field->key); return;
    case CONF_FRACTION:
        put(page, "\"anyOf\": [{");
        put_number(page, field, "number");
        put(page, "}, {");
        put_pattern(page, field->type);
        put(page, "}]");
        return;
    case CONF_CHOICE:
        put(page, "\"enum\": [");
        for (size_t i = 0; field->choices[i] != NULL; i++) {
            put(page, i > 0 ? ", " : "");
            put_json(page, field->choices[i]);
        }
        put(page, "]");
        return;
    case CONF_TIME:
    case CONF_BYTES:
    case CONF_RATE:
    case CONF_FLOPS:
    case CONF_POWER:
    case CONF_PRICE:
    case CONF_FREQUENCY: put_pattern(page, field->type); return;
    }
    assert(false);
}

/* A fallback as JSON: bare where JSON knows the type, else a string. */
static void put_fallback(struct page *page, const struct conf_field *field)
{
    const char *text = field->fallback;
    struct decimal decimal;
    char number[32];
    double value;

    assert(text != NULL);
    put(page, ", \"default\": ");
    bool numeric = field->type == CONF_INT || field->type == CONF_REAL ||
                   field->type == CONF_FRACTION;
    if (field->type == CONF_BOOL) {
        put(page, text);
    } else if (numeric &&
               decimal_read(text, strlen(text), &decimal) == strlen(text) &&
               decimal_to_f64(&decimal, &value)) {
        table_format_real(value, number);       /* JSON knows no .5 or +1 */
        put(page, number);
    } else {
        put_json(page, text);
    }
}

static void put_field(const struct writing *writing,
                      const struct conf_field *field)
{
    struct page *page = writing->page;
    char range[RANGE_BYTES];
    struct page words = {.arena = page->arena};

    conf_range_format(field, NULL, range);
    put(&words, field->help);
    if (range[0] != '\0') {
        put(&words, " (");
        put(&words, range);
        put(&words, ")");
    }
    put(page, "        ");
    put_json(page, field->key);
    put(page, ": {");
    put_type(writing, field);
    put(page, ", \"description\": ");
    put_json(page, words.text);
    if (field->fallback != NULL && field->fallback[0] != '\0')
        put_fallback(page, field);
    put(page, "}");
}

static void put_required(struct page *page, const struct conf_schema *schema)
{
    bool first = true;

    put(page, "      \"required\": [");
    for (size_t i = 0; i < schema->count; i++) {
        if (schema->fields[i].fallback != NULL)
            continue;
        put(page, first ? "" : ", ");
        put_json(page, schema->fields[i].key);
        first = false;
    }
    put(page, "],\n");
}

static void put_definition(const struct writing *writing)
{
    struct page *page = writing->page;
    const struct conf_schema *schema = writing->schema;

    assert(schema->help != NULL);
    put(page, "    ");
    put_json(page, schema->name);
    put(page, ": {\n      \"type\": \"object\",\n      \"description\": ");
    put_json(page, schema->help);
    put(page, ",\n      \"additionalProperties\": false,\n");
    put_required(page, schema);
    put(page, "      \"properties\": {\n");
    for (size_t i = 0; i < schema->count; i++) {
        put_field(writing, &schema->fields[i]);
        put(page, i + 1 < schema->count ? ",\n" : "\n");
    }
    put(page, "      }\n    }");
}

char *conf_json_schema(struct arena *arena,
                       const struct conf_schema *const *schemas,
                       size_t count)
{
    assert(arena != NULL);
    assert(schemas != NULL && count > 0);
    struct page page = {.arena = arena};
    struct writing writing = {&page, schemas, count, NULL};
    bool first = true;

    put(&page, "{\n  \"$schema\": "
               "\"https://json-schema.org/draft/2020-12/schema\",\n"
               "  \"title\": \"clustersim files\",\n  \"anyOf\": [");
    for (size_t i = 0; i < count; i++) {
        if (strpbrk(schemas[i]->name, ".[") != NULL)
            continue;                   /* a part of a file, not a file */
        put(&page, first ? "" : ", ");
        put_reference(&page, schemas[i]->name);
        first = false;
    }
    put(&page, first ? "true],\n  \"$defs\": {\n" : "],\n  \"$defs\": {\n");
    for (size_t i = 0; i < count; i++) {
        writing.schema = schemas[i];
        put_definition(&writing);
        put(&page, i + 1 < count ? ",\n" : "\n");
    }
    put(&page, "  }\n}\n");
    return page.text;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json_schema.c - key tables as JSON Schema.
 *
 * JSON Schema knows no units, so a quantity is a string with a pattern made
 * of the units that the reader knows.
 *
 * One page of text is grown for each document.  Definitions are written in the
 * order of the tables, and refer to each other by name, so that no order is
 * needed.  With open names, every definition is written a second time under the
 * name "open NAME", and references within it are made to those.
 */
#include "sim/config/doc.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/decimal.h"
#include "sim/config/node.h"
#include "sim/config/page.h"
#include "sim/config/unit.h"
#include "sim/text/table.h"

#define NUMBER_PATTERN \
    "([0-9]+\\\\.?[0-9]*|\\\\.[0-9]+)([eE][-+]?[0-9]+)?"

/* Returns both texts joined, in the arena. */
static const char *text_of(struct arena *arena, const char *before,
                           const char *behind)
{
    struct page page = {.arena = arena};

    page_put(&page, before);
    page_put(&page, behind);
    return page.text;
}

/* Has the field limits that can be told? */
static bool has_range(const struct conf_field *field)
{
    assert(field->min <= field->max);
    char range[CONF_RANGE_BYTES];

    conf_range_format(field, NULL, range);
    return range[0] != '\0';
}

/* Appends a text in quotation marks, escaped for JSON. */
static void put_json(struct page *page, const char *text)
{
    assert(text != NULL);
    char escape[8];

    page_put(page, "\"");
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c == '"' || c == '\\') {
            snprintf(escape, sizeof escape, "\\%c", c);
            page_put(page, escape);
        } else if (c < 0x20) {
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)c);
            page_put(page, escape);
        } else {
            page_put_bytes(page, text, 1);
        }
    }
    page_put(page, "\"");
}

/* Appends a bound of a number, if it is finite. */
static void put_bound(struct page *page, const char *name, double value)
{
    char number[32];

    assert(name[0] != '\0' && !isnan(value));
    if (!isfinite(value))
        return;
    table_format_real(value, number);
    page_put(page, ", \"");
    page_put(page, name);
    page_put(page, "\": ");
    page_put(page, number);
}

/* "type": a plain number within the field's range. */
static void put_number(struct page *page, const struct conf_field *field,
                       const char *type)
{
    assert(type[0] != '\0');
    page_put(page, "\"type\": \"");
    page_put(page, type);
    page_put(page, "\"");
    if (!has_range(field))
        return;
    put_bound(page, "minimum", field->min);
    put_bound(page, "maximum", field->max);
}

/* One and the same for each type of quantity: a number, and a unit.  The pattern for "above 0"
 * asks for a digit other than 0 before the exponent.  Bytes may begin with a number of parts,
 * as 4x3.84TB does. */
static void put_quantity(struct page *page, enum conf_type type, bool above_0)
{
    size_t count;
    const struct conf_unit *units = conf_units(type, &count);
    bool first = true;

    assert(count > 1);
    page_put(page, "{\"type\": \"string\", \"pattern\": \"^");
    if (above_0)
        page_put(page, "(?=[^eE]*[1-9])");
    if (type == CONF_BYTES)
        page_put(page, "([0-9]+x)?");
    page_put(page, type == CONF_FRACTION ? "[-+]?" NUMBER_PATTERN " ?("
                                         : "[+]?" NUMBER_PATTERN " ?(");
    for (size_t i = 0; i < count; i++) {
        if (units[i].name[0] == '\0')
            continue;
        page_put(page, first ? "" : "|");
        page_put(page, units[i].name);
        first = false;
    }
    page_put(page, ")$\"}");
}

/* What is written, and what is being written. */
struct writing {
    struct page *page;          /* the text so far */
    const struct conf_json *json; /* what the caller asked for */
    bool open;                  /* names of hardware and models are */
    const struct conf_schema *table; /* the table that is being written */
};

/* A reference is a URI: what may not stand in one is written %XX. */
static void put_reference(const struct writing *writing, const char *name,
                          size_t bytes)
{
    assert(bytes > 0);
    struct page *page = writing->page;
    char code[4];

    page_put(page, "{\"$ref\": \"#/definitions/");
    page_put(page, writing->open ? "open%20" : "");
    for (size_t i = 0; i < bytes; i++) {
        if (strchr("[] ", name[i]) == NULL) {
            page_put_bytes(page, &name[i], 1);
            continue;
        }
        snprintf(code, sizeof code, "%%%02X", (unsigned)name[i]);
        page_put(page, code);
    }
    page_put(page, "\"}");
}

/* Appends a shape's JSON: ' becomes ", and @NAME@ a reference. */
static void put_shape(const struct writing *writing, const char *json)
{
    assert(json != NULL);
    for (const char *c = json; *c != '\0'; c++) {
        if (*c == '\'') {
            page_put(writing->page, "\"");
        } else if (*c == '@') {
            const char *end = strchr(c + 1, '@');
            assert(end != NULL);
            put_reference(writing, c + 1, (size_t)(end - c - 1));
            c = end;
        } else {
            page_put_bytes(writing->page, c, 1);
        }
    }
}

/* NULL: nothing is said. */
static const char *find_shape(const struct writing *writing, const char *key)
{
    assert(writing->table != NULL);
    const struct conf_shape *shape = conf_find_shape(writing->json->shapes,
                                                     writing->json->shape_count,
                                                     writing->table->name, key);

    if (shape == NULL)
        return NULL;
    return writing->open && shape->open ? shape->open : shape->json;
}

/* Is it the name of one of the tables, and not of a shape? */
static bool is_table(const struct writing *writing, const char *name)
{
    assert(name[0] != '\0');
    for (size_t i = 0; i < writing->json->table_count; i++) {
        if (strcmp(writing->json->tables[i]->name, name) == 0)
            return true;
    }
    return false;
}

/* Appends what a CONF_NODE key may hold, where no shape says it: the table of
 * that name, a list of such tables, or anything. */
static void put_node(const struct writing *writing, const char *key)
{
    assert(key[0] != '\0');
    struct page *page = writing->page;
    char name[164];

    snprintf(name, sizeof name, "%s.%s", writing->table->name, key);
    if (is_table(writing, name)) {
        page_put(page, "\"allOf\": [");
        put_reference(writing, name, strlen(name));
        page_put(page, "]");
        return;
    }
    snprintf(name, sizeof name, "%s.%s[]", writing->table->name, key);
    if (!is_table(writing, name)) {
        page_put(page, "\"type\": [\"object\", \"array\", \"string\", "
                       "\"number\", \"boolean\"]");
        return;
    }
    page_put(page, "\"type\": \"array\", \"items\": ");
    put_reference(writing, name, strlen(name));
}

/* The names of the definitions of quantities, by type; NULL: the type is no quantity. */
static const char *const quantity_name[] = {
    [CONF_FRACTION] = "percentage", [CONF_TIME] = "time",
    [CONF_BYTES] = "bytes", [CONF_RATE] = "rate", [CONF_FLOPS] = "flops",
    [CONF_POWER] = "power", [CONF_PRICE] = "price",
    [CONF_FREQUENCY] = "frequency",
};
#define QUANTITY_COUNT (sizeof quantity_name / sizeof quantity_name[0])

/* Appends a reference to a quantity's definition: the one "above 0" where the
 * range excludes 0. */
static void put_quantity_reference(const struct writing *writing,
                                   const struct conf_field *field)
{
    assert((size_t)field->type < QUANTITY_COUNT && quantity_name[field->type] != NULL);
    char name[40];

    snprintf(name, sizeof name, "%s%s", quantity_name[field->type],
             field->type != CONF_FRACTION && field->min > 0.0 ? " above 0"
                                                              : "");
    put_reference(writing, name, strlen(name));
}

/* Appends the type of a key's value. */
static void put_type(const struct writing *writing,
                     const struct conf_field *field)
{
    struct page *page = writing->page;

    switch (field->type) {
    case CONF_BOOL: page_put(page, "\"type\": \"boolean\""); return;
    case CONF_INT: put_number(page, field, "integer"); return;
    case CONF_REAL: put_number(page, field, "number"); return;
    case CONF_TEXT:     /* editors take a plain 12 for a number */
        page_put(page, "\"type\": [\"string\", \"number\", \"boolean\"]");
        return;
    case CONF_NODE: put_node(writing, field->key); return;
    case CONF_FRACTION:
        page_put(page, "\"anyOf\": [{");
        put_number(page, field, "number");
        page_put(page, "}, ");
        put_quantity_reference(writing, field);
        page_put(page, "]");
        return;
    case CONF_CHOICE:
        page_put(page, "\"enum\": [");
        for (size_t i = 0; field->choices[i] != NULL; i++) {
            page_put(page, i > 0 ? ", " : "");
            put_json(page, field->choices[i]);
        }
        page_put(page, "]");
        return;
    case CONF_TIME:
    case CONF_BYTES:
    case CONF_RATE:
    case CONF_FLOPS:
    case CONF_POWER:
    case CONF_PRICE:
    case CONF_FREQUENCY:
        page_put(page, "\"allOf\": [");
        put_quantity_reference(writing, field);
        page_put(page, "]");
        return;
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
    page_put(page, ", \"default\": ");
    bool numeric = field->type == CONF_INT || field->type == CONF_REAL ||
                   field->type == CONF_FRACTION;
    if (field->type == CONF_BOOL) {
        page_put(page, text);
    } else if (numeric &&
               decimal_read(text, strlen(text), &decimal) == strlen(text) &&
               decimal_to_f64(&decimal, &value)) {
        table_format_real(value, number);       /* JSON knows no .5 or +1 */
        page_put(page, number);
    } else {
        put_json(page, text);
    }
}

/* Writes the schema of one key: its type or shape, and what an editor shows of it. */
static void put_own_field(const struct writing *writing,
                          const struct conf_field *field)
{
    struct page *page = writing->page;
    char range[CONF_RANGE_BYTES];
    struct page words = {.arena = page->arena};
    bool is_open = field->type == CONF_NODE || field->type == CONF_TEXT;
    const char *shape = is_open ? find_shape(writing, field->key) : NULL;

    assert(field->help != NULL);
    conf_range_format(field, NULL, range);
    page_put(&words, field->help);
    if (range[0] != '\0') {
        page_put(&words, " (");
        page_put(&words, range);
        page_put(&words, ")");
    }
    page_put(page, "{");
    if (shape != NULL) {
        page_put(page, "\"allOf\": [");
        put_shape(writing, shape);
        page_put(page, "]");
    } else {
        put_type(writing, field);
    }
    page_put(page, ", \"description\": ");
    put_json(page, words.text);
    if (field->fallback != NULL && field->fallback[0] != '\0')
        put_fallback(page, field);
    page_put(page, "}");
}

/* Are both NULL, or both the same words? */
static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

/* Are both fields described by the same words?  The lists of choices are compared by address:
 * tables that mean the same list share it. */
static bool same_field(const struct conf_field *a, const struct conf_field *b)
{
    return strcmp(a->key, b->key) == 0 && a->type == b->type &&
           a->min == b->min && a->max == b->max && a->choices == b->choices &&
           same_text(a->fallback, b->fallback) && same_text(a->help, b->help);
}

/* The table above that has the very same key, which need not be said again;
 * NULL: none.  What a key may hold may depend on its table.  O(all keys above), which is
 * nothing for some hundred keys. */
static const struct conf_schema *find_above(const struct writing *writing,
                                            const struct conf_field *field)
{
    struct writing above = *writing;
    const char *shape = find_shape(writing, field->key);

    assert(writing->table != NULL);
    if (field->type == CONF_NODE && shape == NULL)
        return NULL;
    for (size_t t = 0; writing->json->tables[t] != writing->table; t++) {
        above.table = writing->json->tables[t];
        for (size_t i = 0; i < above.table->count; i++) {
            if (same_field(&above.table->fields[i], field) &&
                same_text(find_shape(&above, field->key), shape))
                return above.table;
        }
    }
    return NULL;
}

/* Appends a key: a reference to the table above that describes it in the same
 * words, else its own description. */
static void put_field(const struct writing *writing,
                      const struct conf_field *field)
{
    struct page *page = writing->page;
    const struct conf_schema *above = find_above(writing, field);
    char name[200];

    assert(above != writing->table);
    page_put(page, "        ");
    put_json(page, field->key);
    page_put(page, ": ");
    if (above == NULL) {
        put_own_field(writing, field);
        return;
    }
    int bytes = snprintf(name, sizeof name, "%s/properties/%s", above->name,
                         field->key);
    assert(bytes > 0 && (size_t)bytes < sizeof name);
    put_reference(writing, name, (size_t)bytes);
}
/* Appends the list of keys that have no default. */
static void put_required(struct page *page, const struct conf_schema *schema)
{
    bool first = true;

    page_put(page, "      \"required\": [");
    for (size_t i = 0; i < schema->count; i++) {
        if (schema->fields[i].fallback != NULL)
            continue;
        page_put(page, first ? "" : ", ");
        put_json(page, schema->fields[i].key);
        first = false;
    }
    page_put(page, "],\n");
}

/* Begins a definition, under the name that references use. */
static void put_name(const struct writing *writing, const char *name)
{
    assert(name[0] != '\0');
    struct page *page = writing->page;

    page_put(page, "    ");
    put_json(page, writing->open ? text_of(page->arena, "open ", name) : name);
    page_put(page, ": ");
}

/* Appends the definition of the present table.  Unknown keys are refused, as
 * by the reader. */
static void put_table(const struct writing *writing)
{
    struct page *page = writing->page;
    const struct conf_schema *table = writing->table;
    const char *more = find_shape(writing, ":");

    assert(table->help != NULL);
    put_name(writing, table->name);
    page_put(page, "{\n      \"type\": \"object\",\n      \"description\": ");
    put_json(page, table->help);
    page_put(page, ",\n      \"additionalProperties\": false,\n");
    if (more != NULL) {
        page_put(page, "      ");
        put_shape(writing, more);
        page_put(page, ",\n");
    }
    put_required(page, table);
    page_put(page, "      \"properties\": {\n");
    for (size_t i = 0; i < table->count; i++) {
        put_field(writing, &table->fields[i]);
        page_put(page, i + 1 < table->count ? ",\n" : "\n");
    }
    page_put(page, "      }\n    },\n");
}

/* Appends the definitions of all quantities, each with and without 0. */
static void put_quantities(const struct writing *writing)
{
    for (size_t type = 0; type < QUANTITY_COUNT; type++) {
        const char *name = quantity_name[type];
        if (name == NULL)
            continue;
        put_name(writing, name);
        put_quantity(writing->page, (enum conf_type)type, false);
        page_put(writing->page, ",\n");
        put_name(writing, text_of(writing->page->arena, name, " above 0"));
        put_quantity(writing->page, (enum conf_type)type, true);
        page_put(writing->page, ",\n");
    }
}

/* All tables, quantities and shapes as definitions that others refer to; with
 * `open` in the form in which any key may stand. */
static void put_definitions(struct writing *writing)
{
    assert(writing->json->table_count > 0);
    const struct conf_json *json = writing->json;

    for (size_t i = 0; i < json->table_count; i++) {
        writing->table = json->tables[i];
        put_table(writing);
    }
    put_quantities(writing);
    for (size_t i = 0; i < json->definition_count; i++) {
        const struct conf_shape *shape = &json->definitions[i];
        put_name(writing, shape->name);
        put_shape(writing, writing->open && shape->open ? shape->open
                                                        : shape->json);
        page_put(writing->page, ",\n");
    }
}

char *conf_json_schema(struct arena *arena, const struct conf_json *json)
{
    assert(arena != NULL && json != NULL);
    assert(json->title != NULL && json->root != NULL);
    struct page page = {.arena = arena};
    struct writing writing = {.page = &page, .json = json};

    page_put(&page, "{\n  \"$schema\": "
                    "\"http://json-schema.org/draft-07/schema#\",\n"
                    "  \"title\": ");
    put_json(&page, json->title);
    page_put(&page, ",\n  \"allOf\": [");
    put_shape(&writing, json->root);
    page_put(&page, "],\n  \"definitions\": {\n");
    put_definitions(&writing);
    writing.open = true;
    if (json->with_open)
        put_definitions(&writing);
    page_put(&page, "    \"nothing\": false\n  }\n}\n");
    return page.text;
}

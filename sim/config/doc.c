/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * doc.c - a key of a table explained in words.
 */
#include "sim/config/doc.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/config/node.h"
#include "sim/config/page.h"
#include "sim/config/unit.h"

/* "required", "default 1h" or "optional". */
static void put_default(struct page *page, const struct conf_field *field)
{
    if (field->fallback == NULL) {
        page_put(page, "required");
    } else if (field->fallback[0] == '\0') {
        page_put(page, "optional");
    } else {
        page_put(page, "default ");
        page_put(page, field->fallback);
    }
}

/* Appends the words of a choice. */
static void put_choices(struct page *page, const struct conf_field *field,
                        const char *between)
{
    assert(field->type == CONF_CHOICE);
    for (size_t i = 0; field->choices[i] != NULL; i++) {
        page_put(page, i > 0 ? between : "");
        page_put(page, field->choices[i]);
    }
}

/* Appends the line of units, for a type that has more than one. */
static void explain_units(struct page *page, enum conf_type type)
{
    size_t count;
    const struct conf_unit *units = conf_units(type, &count);

    if (count < 2)
        return;
    page_put(page, "\n  units    ");
    for (size_t i = 0; i < count; i++) {
        page_put(page, " ");
        page_put(page, units[i].name[0] == '\0' ? "none" : units[i].name);
    }
}

/* NULL: the table has no such key. */
char *conf_explain(struct arena *arena, const struct conf_schema *schema,
                   const char *key)
{
    assert(arena != NULL && schema != NULL && key != NULL);
    const struct conf_field *field = NULL;
    struct page page = {.arena = arena};
    char range[CONF_RANGE_BYTES];

    for (size_t i = 0; i < schema->count; i++) {
        if (strcmp(schema->fields[i].key, key) == 0)
            field = &schema->fields[i];
    }
    if (field == NULL)
        return NULL;
    page_put(&page, schema->name);
    page_put(&page, ".");
    page_put(&page, key);
    page_put(&page, "\n  ");
    page_put(&page, field->help);
    page_put(&page, "\n  type      ");
    page_put(&page, conf_type_name(field->type));
    if (field->type == CONF_CHOICE) {
        page_put(&page, ": ");
        put_choices(&page, field, ", ");
    } else if (field->type != CONF_NODE && field->type != CONF_BOOL &&
               field->type != CONF_TEXT) {
        page_put(&page, ", such as ");
        page_put(&page, conf_type_example(field->type));
    }
    explain_units(&page, field->type);
    conf_range_format(field, NULL, range);
    if (range[0] != '\0') {
        page_put(&page, "\n  range     ");
        page_put(&page, range);
    }
    page_put(&page, "\n  needed    ");
    put_default(&page, field);
    page_put(&page, "\n");
    return page.text;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advice_inputs.c - reads `sensitivity:` of a question to advise.
 */
#include "experiments/advise/advice_inputs.h"

#include <stddef.h>
#include <string.h>

#include "experiments/spec/inputs.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

static const struct conf_field inputs_field[] = {
    CONF_KEY("claim", CONF_TEXT, advice_inputs, claim, CONF_REQUIRED,
             "name of a claim of `expect:`; each expectation of that name is judged"),
    CONF_KEY("inputs", CONF_NODE, advice_inputs, node, CONF_REQUIRED,
             "map from a dotted key to a list of values, or to a range, {from, to}, of "
             "which five values are judged"),
};
const struct conf_schema advice_inputs_schema =
    CONF_SCHEMA("advice.sensitivity", "which inputs turn an expectation of advice",
                inputs_field);

/* Has an item of `expect:` that claim?  If not, *near is the nearest one, or NULL. */
static bool has_claim(struct arena *arena, const struct conf_node *expect,
                      const char *claim, const char **near)
{
    size_t count = conf_kind(expect) == CONF_LIST ? conf_count(expect) : 0, names = 0;
    const char **name = arena_alloc(arena, count + 1, sizeof *name);

    for (size_t i = 0; i < count; i++) {
        const struct conf_node *item = conf_item(expect, i);
        const struct conf_node *said =
            conf_kind(item) == CONF_MAP ? conf_get(item, "claim") : NULL;

        if (said == NULL || conf_kind(said) != CONF_SCALAR)
            continue;
        if (strcmp(conf_text(said), claim) == 0)
            return true;
        name[names++] = conf_text(said);
    }
    *near = conf_nearest(claim, name);
    return false;
}

bool advice_inputs_read(struct arena *arena, const struct conf_node *map,
                        const struct conf_node *expect, struct advice_inputs *inputs,
                        struct err *err)
{
    const char *near = NULL;

    *inputs = (struct advice_inputs){ 0 };
    if (map == NULL)
        return true;
    if (!conf_fill(map, &advice_inputs_schema, inputs, err))
        return false;
    inputs->input = inputs_read(arena, inputs->node, &inputs->count, err);
    if (inputs->input == NULL)
        return false;
    if (has_claim(arena, expect, inputs->claim, &near))
        return true;
    err_set(err, ERR_REFERENCE, conf_pos(conf_get(map, "claim")),
            "claim names '%.60s', which no expectation has", inputs->claim);
    return near == NULL ? false : err_hint(err, "Did you mean %s?", near);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_conf.c - any bytes as YAML: read, filled, overlaid; never a crash.
 *
 * Either the tree and the err agree that it went well, or there is an err
 * with a text; whatever is said can be shown.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "tests/aid/conf_thing.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool good)
{
    if (!good)
        abort();
}

static void overlay(struct arena *arena, const struct conf_node *root)
{
    static const char *const paths[] = {"name", "part.size", "0.name", "a.b",
                                        "part"};
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        struct err err = {.kind = ERR_NONE};
        const struct conf_node *other =
            conf_set_text(arena, root, paths[i], "[1, {a: b}]", &err);
        require((other == NULL) == (err.kind != ERR_NONE));
        require(other != root);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct arena *arena = arena_new(0);
    struct err err = {.kind = ERR_NONE};
    struct thing thing;
    struct thing_part part;
    char out[2048];

    memset(&thing, 0, sizeof thing);
    const struct conf_node *root =
        conf_parse(arena, "fuzz.yaml", (const char *)data, bytes, &err);
    require((root == NULL) == (err.kind != ERR_NONE));
    if (root != NULL) {
        overlay(arena, root);
        bool filled = thing_fill(root, &thing, &part, &err);
        require(filled == (err.kind == ERR_NONE));
        require(!filled || (thing.count >= 1 && thing.count <= 100));
    }
    if (err.kind != ERR_NONE) {
        require(err.text[0] != '\0');
        require(err_format(&err, out, sizeof out) > 0);
    }
    arena_free(arena);
    return 0;
}

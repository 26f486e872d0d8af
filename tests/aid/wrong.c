/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wrong.c - values of a tree, replaced by some of another kind.
 */
#include "tests/aid/wrong.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

#define PLACES 16384             /* of the hash table of places */

struct wrong_count wrong_count;

static uint64_t place_seen[PLACES];

/* Is it the first time that this place of a tree is seen? */
static bool is_new(const char *place)
{
    uint64_t sum = 1469598103934665603u;

    for (; *place != '\0'; place++)
        sum = (sum ^ (unsigned char)*place) * 1099511628211u;
    for (uint64_t i = sum % PLACES;; i = (i + 1) % PLACES) {
        if (place_seen[i] == sum)
            return false;
        if (place_seen[i] != 0)
            continue;
        place_seen[i] = sum;
        assert_true(++wrong_count.places < PLACES / 2);
        return true;
    }
}

/* What a replaced value must lead to. */
enum must {
    ANYTHING,           /* some take it; who refuses it says so with a place */
    REFUSED,            /* at its place, or at the map that needs it */
    REFUSED_THERE
};

/* Reads the part with the value at a path replaced. */
static void try(const struct wrong_part *part, const char *path, const char *value, enum must must)
{
    struct arena *arena = arena_new(1 << 16);
    struct err err = { 0 };
    const struct conf_node *node = conf_parse(arena, "wrong", value, strlen(value), &err);
    char said[2000];

    assert_non_null(node);
    node = *path == '\0' ? node : conf_set(arena, part->root, path, node, conf_pos(node), &err);
    assert_non_null(node);
    bool refused = part->read(part, arena, node, &err) == NULL;
    bool placed = err.kind == ERR_IO || (err.pos.file != NULL && err.pos.line > 0);
    bool there = err.pos.file != NULL && strcmp(err.pos.file, "wrong") == 0;
    bool good = refused == (err.kind != ERR_NONE) && (!refused || (placed && *err.text != '\0')) &&
                (must == ANYTHING || (refused && (must == REFUSED || there)));
    wrong_count.tried++;
    wrong_count.refusals += refused;
    if (!good) {
        err_format(&err, said, sizeof said);
        print_message("%s: %s: %s is %s%s: %s\n", part->name, path, value,
                      refused ? "refused" : "read", there ? "" : " elsewhere", said);
        wrong_count.wrong++;
    }
    arena_free(arena);
}

/* Values of another kind than those of a node. */
static void try_node(const struct wrong_part *part, const struct conf_node *node, const char *path,
                     const char *key)
{
    static const char *const others[] = { "zzz", "-7", "0", "1e30", "\"\"", "true" };
    enum conf_kind kind = conf_kind(node);
    bool chooses = strcmp(key, "recipe") == 0 || strcmp(key, "policy") == 0;
    char unknown[310];

    if (kind == CONF_SCALAR) {
        try(part, path, "{zzz: 1}", chooses ? REFUSED : REFUSED_THERE);
        if (!part->slow)
            try(part, path, "[]", chooses ? REFUSED : REFUSED_THERE);
        for (size_t i = 0; i < (part->slow ? 2 : sizeof others / sizeof others[0]); i++)
            try(part, path, others[i], ANYTHING);
        return;
    }
    try(part, path, "zzz", REFUSED_THERE);
    try(part, path, kind == CONF_MAP ? "[]" : "{zzz: 1}", REFUSED_THERE);
    try(part, path, kind == CONF_MAP ? "{}" : "[]", ANYTHING);
    try(part, path, kind == CONF_MAP ? "{name: 1}" : "[1]", ANYTHING);
    if (kind == CONF_MAP) {
        snprintf(unknown, sizeof unknown, "%s%szzz", path, *path != '\0' ? "." : "");
        try(part, unknown, "1", strcmp(key, "scaling") == 0 ? REFUSED : REFUSED_THERE);
    }
}

void wrong_walk(const struct wrong_part *part, const struct conf_node *node, const char *path,
                const char *place, const char *key)
{
    enum conf_kind kind = conf_kind(node);
    const struct conf_node *recipe = kind == CONF_MAP ? conf_get(node, "recipe") : NULL;
    const char *dot = *path != '\0' ? "." : "";
    char below[300], there[300];

    if (is_new(place))
        try_node(part, node, path, key);
    for (size_t i = 0; kind == CONF_LIST && i < conf_count(node); i++) {
        snprintf(below, sizeof below, "%s%s%zu", path, dot, i);
        snprintf(there, sizeof there, "%s[]", place);
        wrong_walk(part, conf_item(node, i), below, there, "");
    }
    for (size_t i = 0; kind == CONF_MAP && i < conf_count(node); i++) {
        key = conf_key(node, i);
        /* A policy's `with` is read elsewhere. */
        if (strpbrk(key, ".*") != NULL || strcmp(key, "with") == 0)
            continue;
        snprintf(below, sizeof below, "%s%s%s", path, dot, key);
        snprintf(there, sizeof there, "%s.%s%s%s", place, recipe != NULL ? conf_text(recipe) : "",
                 recipe != NULL ? ":" : "", key);
        wrong_walk(part, conf_value(node, i), below, there, key);
    }
}

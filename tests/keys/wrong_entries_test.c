/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wrong_entries_test.c - each value that entries of the catalogue have, replaced by one of
 * another kind: the catalogue refuses it, at its place (tests/aid/wrong.h).
 */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "tests/aid/wrong.h"

static struct arena *kept;

static const void *read_catalogue(const struct wrong_part *part, struct arena *arena,
                                  const struct conf_node *root, struct err *err)
{
    (void)part;
    return catalogue_read(arena, &root, 1, err);
}

/* A file that has one entry alone, by a name that nobody has. */
static void try_entry(const char *file, const char *kind, const struct conf_node *entry)
{
    struct wrong_part part = { .name = file, .read = read_catalogue, .slow = true };
    struct err err = { 0 };
    char text[100], path[100];

    snprintf(text, sizeof text, "{%s: {own: 1}}", kind);
    snprintf(path, sizeof path, "%s.own", kind);
    part.root = conf_parse(kept, "entry", text, strlen(text), &err);
    part.root = conf_set(kept, part.root, path, entry, conf_pos(entry), &err);
    strcat(path, ".aliases");
    if (conf_get(entry, "aliases") != NULL)
        part.root = conf_set_text(kept, part.root, path, "[own-too]", &err);
    assert_non_null(part.root);
    wrong_walk(&part, part.root, "", "root", "");
}

static void a_value_of_another_kind_is_refused_at_its_place(void **state)
{
    glob_t found;

    (void)state;
    kept = arena_new(1 << 16);
    assert_int_equal(glob("models/catalogue/*.yaml", 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct err err = { 0 };
        const struct conf_node *root = conf_load(kept, found.gl_pathv[i], &err);
        assert_non_null(root);
        for (size_t k = 0; k < conf_count(root); k++) {
            const struct conf_node *entries = conf_value(root, k);
            for (size_t e = 0; e < conf_count(entries); e++)
                try_entry(found.gl_pathv[i], conf_key(root, k), conf_value(entries, e));
        }
    }
    globfree(&found);
    arena_free(kept);
    print_message("%u places, %u values tried, %u refused\n", wrong_count.places,
                  wrong_count.tried, wrong_count.refusals);
    assert_int_equal(wrong_count.wrong, 0);
    assert_true(wrong_count.places > 100 && wrong_count.refusals > 350);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_of_another_kind_is_refused_at_its_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

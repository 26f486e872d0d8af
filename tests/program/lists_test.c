/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lists_test.c - what the lists (*.def) name is what the program has, and what
 * the manual's tables name.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "workloads/formats/import.h"
#include "workloads/formats/row.h"
#include "workloads/recipes/recipe.h"

/* Has the file a row of a table ("| ...") with `name` in backquotes? */
static bool has_row(const char *path, const char *name)
{
    static char line[8192];
    char quoted[64];
    FILE *file = fopen(path, "r");
    bool found = false;

    assert_non_null(file);
    snprintf(quoted, sizeof quoted, "`%s`", name);
    while (!found && fgets(line, sizeof line, file) != NULL)
        found = line[0] == '|' && strstr(line, quoted) != NULL;
    fclose(file);
    return found;
}

static void assert_row(const char *path, const char *name)
{
    if (!has_row(path, name))
        fail_msg("%s: no table has a row for `%s`", path, name);
}

static void a_format_bears_the_name_of_its_line(void **state)
{
    size_t n = 0;

    (void)state;
#define FORMAT(ID, NAME) \
    assert_ptr_equal(import_format_at(n++), &import_##ID); \
    assert_string_equal(import_##ID.name, NAME); \
    assert_ptr_equal(import_format_find(NAME), &import_##ID);
#include "workloads/formats/formats.def"
#undef FORMAT
    assert_null(import_format_at(n));
}

static void the_manual_has_a_row_for_each_format(void **state)
{
    (void)state;
    for (size_t i = 0; import_format_at(i) != NULL; i++)
        assert_row("workloads/formats/README.md", import_format_at(i)->name);
}

static void the_manual_has_a_row_for_each_recipe(void **state)
{
    (void)state;
    assert_true(recipe_count >= 10);
    for (size_t i = 0; i < recipe_count; i++)
        assert_row("workloads/README.md", recipe_table[i]->name);
}

static void the_manual_has_a_row_for_each_policy(void **state)
{
    size_t i;

    (void)state;
    for (i = 0; registry_at(i) != NULL; i++)
        assert_row("policies/README.md", registry_at(i)->name);
    assert_true(i >= 42);
}

static void a_policy_is_found_by_a_name_that_is_near(void **state)
{
    (void)state;
    assert_string_equal(registry_nearest("fair-shar"), "fair-share");
    assert_null(registry_nearest("nothing like that"));
}

static void a_table_without_the_row_is_seen(void **state)
{
    (void)state;
    assert_false(has_row("workloads/formats/README.md", "no-such-format"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_format_bears_the_name_of_its_line),
        cmocka_unit_test(the_manual_has_a_row_for_each_format),
        cmocka_unit_test(the_manual_has_a_row_for_each_recipe),
        cmocka_unit_test(the_manual_has_a_row_for_each_policy),
        cmocka_unit_test(a_policy_is_found_by_a_name_that_is_near),
        cmocka_unit_test(a_table_without_the_row_is_seen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * key_bounds_test.c - what numbers the keys of all files take, and what holds without a key.
 *
 * A bound or a default that moves changes files which users have: either they are refused
 * then, or they give other results.  So key_bounds.txt has all of them a second time, one
 * line for each key: its name, kind, least, most and default.  Parameters of policies stand
 * in param_range_test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/schema/schemas.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"

#define LINE 200
#define KEYS 1000

static const char *const kinds[] = {
    [CONF_INT] = "whole", [CONF_REAL] = "number", [CONF_FRACTION] = "share", [CONF_TIME] = "time",
    [CONF_BYTES] = "bytes", [CONF_RATE] = "rate", [CONF_FLOPS] = "flops", [CONF_POWER] = "power",
    [CONF_PRICE] = "price", [CONF_FREQUENCY] = "frequency", [CONF_NODE] = NULL,
};

static void print_key(char line[LINE], const struct conf_schema *schema,
                      const struct conf_field *field)
{
    const char *without = field->fallback;

    if (without == NULL)
        without = "required";
    else if (without[0] == '\0')
        without = "absent";
    snprintf(line, LINE, "%s: %s: %s %.16g %.16g %s", schema->name, field->key,
             kinds[field->type], field->min, field->max, without);
}

/* The lines of the file without its comments; returns their number. */
static size_t read_lines(char lines[KEYS][LINE])
{
    FILE *file = fopen("tests/keys/key_bounds.txt", "r");
    size_t count = 0;

    assert_non_null(file);
    while (count < KEYS && fgets(lines[count], LINE, file)) {
        lines[count][strcspn(lines[count], "\n")] = '\0';
        count += lines[count][0] != '#' && lines[count][0] != '\0';
    }
    fclose(file);
    return count;
}

static bool is_among(char lines[KEYS][LINE], size_t count, const char *line)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(lines[i], line) == 0)
            return true;
    return false;
}

static void every_number_has_the_bounds_and_the_default_of_its_line(void **state)
{
    static char lines[KEYS][LINE];
    struct arena *arena = arena_new(1 << 14);
    size_t schemas, count = read_lines(lines), keys = 0, wrong = 0;
    const struct conf_schema *const *all = schemas_all(arena, &schemas);
    char line[LINE];

    (void)state;
    for (size_t i = 0; i < schemas; i++)
        for (size_t k = 0; k < all[i]->count; k++) {
            if (kinds[all[i]->fields[k].type] == NULL)
                continue;
            print_key(line, all[i], &all[i]->fields[k]);
            keys++;
            if (is_among(lines, count, line))
                continue;
            print_error("not in key_bounds.txt: %s\n", line);
            wrong++;
        }
    arena_free(arena);
    assert_int_equal(wrong, 0);
    assert_int_equal(keys, count);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_has_the_bounds_and_the_default_of_its_line),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

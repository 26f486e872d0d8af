/* SPDX-License-Identifier: GPL-3.0-or-later */
/* floor_test.c - no policy is left out of the comparison with random order. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "policies/policy.h"
#include "policies/registry/registry.h"

static const char *const files[] = {
    "experiments/floor/order.yaml", "experiments/floor/elastic.yaml",
    "experiments/floor/mixed_gpus.yaml", "experiments/floor/phases.yaml",
};

/* Is there a line with `text` before the second bar, or anywhere if not `cell`? */
static bool has_line(const char *path, const char *text, bool cell)
{
    static char line[8192];
    FILE *file = fopen(path, "r");
    bool found = false;

    assert_non_null(file);
    while (!found && fgets(line, sizeof line, file) != NULL) {
        char *end = cell && line[0] == '|' ? strchr(line + 1, '|') : NULL;

        if (cell)
            *(end != NULL ? end : line) = '\0';
        found = strstr(line, text) != NULL;
    }
    fclose(file);
    return found;
}

/* In how many files is it expected to beat random order? */
static int count_claims(const char *policy)
{
    char claim[96];
    int count = 0;

    snprintf(claim, sizeof claim, "{claim: %s, metric: ", policy);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
        count += has_line(files[i], claim, false);
    return count;
}

static void each_policy_is_asked_or_a_reason_stands_in_the_manual(void **state)
{
    char quoted[64];

    (void)state;
    for (size_t i = 0; registry_at(i) != NULL; i++) {
        const char *name = registry_at(i)->name;
        bool excused;

        snprintf(quoted, sizeof quoted, "`%s`", name);
        excused = has_line("experiments/floor/README.md", quoted, true);
        if ((count_claims(name) > 0) == excused)
            fail_msg("%s: it must be asked in experiments/floor, or have a row "
                     "in its README.md with the reason, and not both", name);
    }
}

static void each_claim_is_against_random_order(void **state)
{
    static char line[512];

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        FILE *file = fopen(files[i], "r");
        int claims = 0, versus = 0, limits = 0;

        assert_non_null(file);
        while (fgets(line, sizeof line, file) != NULL) {
            claims += strstr(line, "{claim: ") != NULL;
            versus += strstr(line, "vs: random,") != NULL;
            limits += strstr(line, "at_most: 0%}") != NULL ||
                      strstr(line, "at_least: 0%}") != NULL;
        }
        fclose(file);
        assert_true(claims > 0);
        assert_int_equal(claims, versus);
        assert_int_equal(claims, limits);
    }
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_policy_is_asked_or_a_reason_stands_in_the_manual),
        cmocka_unit_test(each_claim_is_against_random_order),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

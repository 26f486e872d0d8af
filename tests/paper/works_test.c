/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * works_test.c - every key that a policy or a format cites is in the list, and every
 * entry is whole.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/paper/cite.h"
#include "experiments/works/works.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "sim/base/arena.h"
#include "workloads/formats/import.h"

/* Counts the works of `cites` that name the key; fails on a key that is no work's. */
static unsigned count_cites(const char *cites, const char *key)
{
    char text[200], *next = NULL;
    unsigned count = 0;

    if (cites == NULL)
        return 0;
    snprintf(text, sizeof text, "%s", cites);
    for (char *c = strtok_r(text, " ", &next); c != NULL; c = strtok_r(NULL, " ", &next)) {
        if (work_find(c) == NULL)
            fail_msg("'%s' is no work of works.def", c);
        count += strcmp(c, key) == 0;
    }
    return count;
}

static void every_work_is_cited_and_every_cite_is_a_work(void **state)
{
    const struct work *work;

    (void)state;
    for (unsigned i = 0; (work = work_at(i)) != NULL; i++) {
        unsigned count = work->when[0] != '\0';

        for (size_t p = 0; registry_at(p) != NULL; p++)
            count += count_cites(registry_at(p)->cites, work->key);
        for (size_t f = 0; import_format_at(f) != NULL; f++)
            count += count_cites(import_format_at(f)->cites, work->key);
        if (count == 0)
            fail_msg("nothing cites %s", work->key);
    }
}

/* A name between two "and" has no comma, so that BibTeX takes it as written. */
static void every_entry_is_whole(void **state)
{
    const struct work *work;

    (void)state;
    for (unsigned i = 0; (work = work_at(i)) != NULL; i++) {
        const char *texts[] = { work->authors, work->title, work->venue, work->more };

        assert_ptr_equal(work_find(work->key), work);
        assert_in_range(work->year, 1950, 2026);
        assert_null(strchr(work->authors, ','));
        assert_true(work->venue[0] != '\0' || strcmp(work->type, "misc") == 0);
        for (size_t t = 0; t < 4; t++) {
            int depth = 0;

            for (const char *c = texts[t]; *c != '\0'; c++) {
                depth += (*c == '{') - (*c == '}');
                assert_true(depth >= 0);
            }
            assert_int_equal(depth, 0);
        }
    }
}

static void clustersim_is_cited_in_this_version(void **state)
{
    struct arena *arena = arena_new(4096);
    char *text = NULL;
    size_t bytes;
    FILE *file = open_memstream(&text, &bytes);

    (void)state;
    cite_print_own(arena, file);
    fclose(file);
    assert_non_null(strstr(text, "@misc{clustersim,\n"));
    assert_non_null(strstr(text, "  howpublished = {Computer program, version "
                           CLUSTERSIM_VERSION "},\n"));
    free(text);
    arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_work_is_cited_and_every_cite_is_a_work),
        cmocka_unit_test(every_entry_is_whole),
        cmocka_unit_test(clustersim_is_cited_in_this_version),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

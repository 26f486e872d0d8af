/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * glossary_test.c - `clustersim explain` knows every term, every name of the
 * tables that read files, and every word that a manual sets as code.
 */
#include <dirent.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <cmocka.h>

#include "experiments/cli/cli.h"
#include "experiments/words/glossary.h"
#include "experiments/schema/schemas.h"
#include "models/catalogue/catalogue.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/registry/semantics.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

/* Does `clustersim explain WORD` know it, and does it say `part`? */
static bool explains(const char *word, const char *part)
{
    char *argv[] = { (char *)"clustersim", (char *)"explain", (char *)word };
    char *text = NULL;
    size_t bytes;
    FILE *out = open_memstream(&text, &bytes), *err = tmpfile();
    bool known;

    assert_true(out != NULL && err != NULL);
    known = cli_main(3, argv, out, err) == 0;
    fclose(out);
    fclose(err);
    known = known && strstr(text, part) != NULL;
    free(text);
    return known;
}

/* The words that were asked for before. */
struct asked {
    char word[3000][64];
    unsigned count;
};

static bool is_new(struct asked *asked, const char *word)
{
    for (unsigned i = 0; i < asked->count; i++)
        if (strcmp(asked->word[i], word) == 0)
            return false;
    assert_true(asked->count < sizeof asked->word / sizeof asked->word[0]);
    strcpy(asked->word[asked->count++], word);
    return true;
}

static char *read_file(const char *path)
{
    FILE *file = fopen(path, "r");
    char *text = calloc(1, 1 << 20);

    assert_true(file != NULL && text != NULL);
    assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
    fclose(file);
    return text;
}

static void an_empty_text_is_no_word(void **state)
{
    (void)state;
    assert_true(explains("seeds", ""));
    assert_false(explains("", ""));
}

static void every_term_is_explained(void **state)
{
    const struct glossary_term *term;
    char first[200];

    (void)state;
    for (size_t i = 0; (term = glossary_at(i)) != NULL; i++) {
        snprintf(first, sizeof first, "%s: term\n", term->word);
        if (!explains(term->word, first))
            fail_msg("explain does not know the term %s", term->word);
        if (term->meaning[strlen(term->meaning) - 1] != '.')
            fail_msg("the meaning of %s is no sentence", term->word);
    }
}

static void terms_stand_in_order_and_once(void **state)
{
    const struct glossary_term *term, *before = glossary_at(0);

    (void)state;
    for (size_t i = 1; (term = glossary_at(i)) != NULL; before = term, i++)
        if (strcasecmp(before->word, term->word) >= 0)
            fail_msg("%s stands before %s", before->word, term->word);
}

static void a_term_is_found_as_people_write_it(void **state)
{
    static const char *const written[][2] = {
        { "jct", "JCT" }, { "Jct", "JCT" }, { "leases", "lease" },
        { "home-pool", "home pool" }, { "home_pool", "home pool" },
        { "warm up", "warm-up" }, { "no room", "no_room" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        const struct glossary_term *term = glossary_find(written[i][0]);

        assert_non_null(term);
        assert_string_equal(term->word, written[i][1]);
    }
    assert_null(glossary_find("leasess"));
    assert_null(glossary_find("leas"));
    assert_null(glossary_find(""));
}

/* The rows "| WORD | MEANING |" below the heading are the terms. */
static void the_manual_holds_the_same_glossary(void **state)
{
    char *text = read_file("experiments/cli/README.md"), row[1000];
    char *at = strstr(text, "| word | meaning |\n|---|---|\n");
    const struct glossary_term *term;

    (void)state;
    assert_non_null(at);
    at = strstr(at, "|---|---|\n") + strlen("|---|---|\n");
    for (size_t i = 0; (term = glossary_at(i)) != NULL; i++) {
        int bytes = snprintf(row, sizeof row, "| %s | %s |\n", term->word,
                             term->meaning);

        assert_in_range(bytes, 1, (int)sizeof row - 1);
        if (strncmp(at, row, (size_t)bytes) != 0)
            fail_msg("not the row of %s: %.80s", term->word, at);
        at += bytes;
    }
    assert_int_not_equal(*at, '|');
    free(text);
}

static void every_key_and_choice_of_a_file_is_explained(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    size_t count;
    const struct conf_schema *const *schema = schemas_all(arena, &count);
    struct asked *asked = calloc(1, sizeof *asked);

    (void)state;
    assert_non_null(asked);
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < schema[i]->count; k++) {
            const struct conf_field *field = &schema[i]->fields[k];
            char path[300];

            snprintf(path, sizeof path, "%s.%s", schema[i]->name, field->key);
            if (!explains(path, "type"))
                fail_msg("explain does not know the key %s", path);
            for (size_t c = 0; field->type == CONF_CHOICE &&
                               field->choices[c] != NULL; c++)
                if (is_new(asked, field->choices[c]) &&
                    !explains(field->choices[c], field->choices[c]))
                    fail_msg("explain does not know %s of %s",
                             field->choices[c], path);
        }
    free(asked);
    arena_free(arena);
}

static void every_policy_parameter_and_word_is_explained(void **state)
{
    const struct semantics_row *row;
    const struct cs_policy *policy;
    char words[400], *word;

    (void)state;
    for (size_t i = 0; (policy = registry_at(i)) != NULL; i++) {
        assert_true(explains(policy->name, "policy"));
        for (uint32_t k = 0; k < policy->param_count; k++)
            assert_true(explains(policy->param[k].key, policy->name));
        for (uint32_t k = 0; k < policy->words_count; k++) {
            snprintf(words, sizeof words, "%s", policy->words[k].words);
            for (word = strtok(words, " "); word; word = strtok(NULL, " "))
                if (word[0] != '(' && !explains(word, word))
                    fail_msg("explain does not know %s of %s", word,
                             policy->name);
        }
    }
    for (size_t i = 0; (row = semantics_at(i)) != NULL; i++)
        assert_true(explains(row->preset, "preset"));
}

static void every_name_of_the_catalogue_is_explained(void **state)
{
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };
    const struct catalogue *catalogue = catalogue_load(arena, NULL, 0, &err);

    (void)state;
    assert_non_null(catalogue);
    for (int s = 0; s < CATALOGUE_SECTION_COUNT; s++) {
        const char *const *names =
            catalogue_names(catalogue, (enum catalogue_section)s);

        for (size_t i = 0; names[i] != NULL; i++)
            if (!explains(names[i], names[i]))
                fail_msg("explain does not know %s", names[i]);
    }
    arena_free(arena);
}

/* Names of files and columns of others, and words of C and of the shell. */
static bool is_foreign(const char *word)
{
    static const char *const foreign[] = {
        "abreast", "advise-70b", "availability", "before", "body", "booktabs",
        "cairolatex", "calc", "cites", "cluster_job_log", "clustersim", "cp2",
        "cs_", "deadline_s", "decide", "dlas-gpu-2", "epslatex", "expand", "extern",
        "false", "gap_seconds", "gcp_spin_up", "graphicx", "heading", "height",
        "job_ended", "job_submitted", "lease_idle", "limit_s", "linear", "list",
        "lost", "make", "most_shown", "note", "nvidia-smi", "peer-", "plan-",
        "run_s", "self", "stacked", "start_time", "tar", "tikz", "true", "value", "vp2",
        "widest_policy", "xcolor",
    };

    for (size_t i = 0; i < sizeof foreign / sizeof foreign[0]; i++)
        if (strcmp(foreign[i], word) == 0)
            return true;
    return false;
}

/* Is there a file or a folder of this name, two or three folders deep? */
static bool is_path(const char *word)
{
    static const char *const where[] = { "%s", "*/%s", "*/%s.*", "*/*/%s.*" };
    bool found = false;
    char pattern[300];
    glob_t paths;

    for (size_t i = 0; i < 4 && !found; i++) {
        snprintf(pattern, sizeof pattern, where[i], word);
        found = glob(pattern, 0, NULL, &paths) == 0;
        globfree(&paths);
    }
    return found;
}

/* Does a header have a function of this name? */
static bool is_function(const char *word)
{
    static const char *const where[] = { "*/*.h", "*/*/*.h" };
    char call[80];
    bool found = false;
    glob_t paths;

    snprintf(call, sizeof call, "%s(", word);
    assert_int_equal(glob(where[0], 0, NULL, &paths), 0);
    assert_int_equal(glob(where[1], GLOB_APPEND, NULL, &paths), 0);
    for (size_t i = 0; i < paths.gl_pathc && !found; i++) {
        char *text = read_file(paths.gl_pathv[i]);

        found = strstr(text, call) != NULL;
        free(text);
    }
    globfree(&paths);
    return found;
}

/* A word that could be a key, a value or a name: small letters and no dot. */
static bool is_plain(const char *word)
{
    size_t bytes = strspn(word, "abcdefghijklmnopqrstuvwxyz0123456789_-");

    return word[0] >= 'a' && word[0] <= 'z' && word[bytes] == '\0' &&
           strlen(word) > 1;
}

static void check_manual(const char *path, struct asked *asked)
{
    char *text = read_file(path), *at = text, word[64];

    while ((at = strchr(at, '`')) != NULL) {
        size_t bytes = strcspn(++at, "`\n");

        if (at[bytes] != '`' || bytes >= sizeof word) {
            at += bytes;
            continue;
        }
        memcpy(word, at, bytes);
        word[bytes] = '\0';
        at += bytes + 1;
        if (bytes > 0 && word[bytes - 1] == ':')
            word[bytes - 1] = '\0';
        if (is_plain(word) && !is_foreign(word) && is_new(asked, word) &&
            !explains(word, "") && !is_path(word) && !is_function(word))
            fail_msg("%s: explain does not know `%s`", path, word);
    }
    free(text);
}

static void every_word_of_a_manual_is_explained(void **state)
{
    struct asked *asked = calloc(1, sizeof *asked);
    glob_t paths;

    (void)state;
    assert_non_null(asked);
    assert_int_equal(glob("*/README.md", 0, NULL, &paths), 0);
    assert_int_equal(glob("experiments/*/README.md", GLOB_APPEND, NULL, &paths),
                     0);
    for (size_t i = 0; i < paths.gl_pathc; i++)
        if (strncmp(paths.gl_pathv[i], "sim/", 4) != 0 &&
            strncmp(paths.gl_pathv[i], "tests/", 6) != 0)
            check_manual(paths.gl_pathv[i], asked);
    globfree(&paths);
    assert_true(asked->count > 300);
    free(asked);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_term_is_explained),
        cmocka_unit_test(an_empty_text_is_no_word),
        cmocka_unit_test(terms_stand_in_order_and_once),
        cmocka_unit_test(a_term_is_found_as_people_write_it),
        cmocka_unit_test(the_manual_holds_the_same_glossary),
        cmocka_unit_test(every_key_and_choice_of_a_file_is_explained),
        cmocka_unit_test(every_policy_parameter_and_word_is_explained),
        cmocka_unit_test(every_name_of_the_catalogue_is_explained),
        cmocka_unit_test(every_word_of_a_manual_is_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

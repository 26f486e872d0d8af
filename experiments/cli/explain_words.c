/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_words.c - what words mean that stand as values.
 *
 * The texts are those of the tables that read the words, or of `list`: a row of
 * a list is found by its first word in what the list prints, so that a new list
 * needs nothing here.
 */
#include "experiments/cli/explain_words.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/lists/lists.h"
#include "experiments/words/glossary.h"
#include "models/catalogue/catalogue.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/registry/semantics.h"
#include "sim/config/conf.h"
#include "workloads/formats/import.h"
#include "workloads/recipes/recipe.h"
#include "workloads/requests/request_trace.h"
#include "workloads/series/series.h"

/* An empty line, but before the first meaning. */
static void print_separator(const struct explain_words *e, unsigned *found)
{
    if ((*found)++ > 0)
        fputc('\n', e->out);
}

/* ---- choices of keys ---- */

/* Explains the word as a value of a key that is a choice, with the other
 * values. */
static void explain_choice(const struct explain_words *e, const char *word,
                           const struct conf_schema *schema,
                           const struct conf_field *field, unsigned *found)
{
    if (field->type != CONF_CHOICE)
        return;
    for (size_t c = 0; field->choices[c] != NULL; c++) {
        if (strcmp(field->choices[c], word) != 0)
            continue;
        print_separator(e, found);
        fprintf(e->out, "%s: value of %s.%s%s\n  %s\n  values    ", word,
                schema->name, field->key, field->fallback != NULL &&
                strcmp(field->fallback, word) == 0 ? ", its default" : "",
                field->help);
        for (size_t k = 0; field->choices[k] != NULL; k++)
            fprintf(e->out, "%s%s", k == 0 ? "" : ", ", field->choices[k]);
        fputc('\n', e->out);
    }
}

/* May a name hold the character?  By ASCII, whatever the locale. */
static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
           c == '_';
}

/* Does a text name the word as a whole word? */
static bool has_word(const char *text, const char *word)
{
    size_t bytes = strlen(word);

    for (const char *at = text; (at = strstr(at, word)) != NULL; at++)
        if ((at == text || !is_letter(at[-1])) && !is_letter(at[bytes]))
            return true;
    return false;
}

/* Explains the word as a value of a policy's parameter.  Such values stand in
 * its help, or are its default. */
static void explain_params(const struct explain_words *e, const char *word,
                           unsigned *found)
{
    const struct cs_policy *policy;

    for (size_t i = 0; (policy = registry_at(i)) != NULL; i++)
        for (uint32_t k = 0; k < policy->param_count; k++) {
            const struct cs_param *p = &policy->param[k];

            if ((p->type != CS_PARAM_TEXT && p->type != CS_PARAM_CHOICE) ||
                (!has_word(p->help, word) && strcmp(p->fallback, word) != 0) ||
                registry_find(word) != NULL)
                continue;
            print_separator(e, found);
            fprintf(e->out, "%s: in %s of the policy %s\n  %s\n", word, p->key,
                    policy->name, p->help);
        }
}

/* Explains the word as a preset of semantics, with the keys that it sets for
 * each policy. */
static void explain_preset(const struct explain_words *e, const char *word,
                           unsigned *found)
{
    const struct semantics_row *row;
    bool begun = false;

    for (size_t i = 0; (row = semantics_at(i)) != NULL; i++) {
        if (strcmp(row->preset, word) != 0)
            continue;
        if (!begun) {
            print_separator(e, found);
            fprintf(e->out, "%s: preset, as in {policy: %s, semantics: %s}; it "
                    "holds for these policies:\n", word, row->policy, word);
        }
        begun = true;
        fprintf(e->out, "  %-12s %s\n  %-12s %s\n", row->policy, row->keys, "",
                row->meaning);
    }
}

/* If the word is another name of the entry, or of its family, says so and
 * prints the entry as its list has it. */
static void explain_entry(const struct explain_words *e, const char *word, const char *entry,
                          bool family, unsigned *found)
{
    if (strcmp(word, entry) == 0)
        return;
    print_separator(e, found);
    fprintf(e->out, "%s: %s %s\n", word, family ? "may be" : "another name of", entry);
    *found = lists_find(e->out, e->catalogue, entry, *found);
}

/* Explains the word as another name of an entry of the catalogue. */
static void explain_aliases(const struct explain_words *e, const char *word, unsigned *found)
{
    const struct gpu_type *gpu = catalogue_gpu(e->catalogue, word);
    const struct cpu_type *cpu = catalogue_cpu(e->catalogue, word);
    const struct link_type *link = catalogue_link(e->catalogue, word);
    const struct llm *llm = catalogue_llm(e->catalogue, word);
    const struct net *net = catalogue_net(e->catalogue, word);

    if (gpu != NULL)
        explain_entry(e, word, gpu->name, false, found);
    for (size_t i = 0; gpu == NULL && i < catalogue_gpu_count(e->catalogue); i++) {
        const char *name = catalogue_gpu_at(e->catalogue, i)->name;

        if (catalogue_gpu_named(e->catalogue, name, word))
            explain_entry(e, word, name, true, found);
    }
    if (cpu != NULL)
        explain_entry(e, word, cpu->name, false, found);
    if (link != NULL)
        explain_entry(e, word, link->name, false, found);
    if (llm != NULL)
        explain_entry(e, word, llm->name, false, found);
    if (net != NULL)
        explain_entry(e, word, net->name, false, found);
}

unsigned explain_words(const struct explain_words *e, const char *word,
                       unsigned found)
{
    explain_preset(e, word, &found);
    for (size_t i = 0; i < e->schema_count; i++)
        for (size_t k = 0; k < e->schema[i]->count; k++)
            if (strcmp(e->schema[i]->fields[k].key, "placement") != 0)
                explain_choice(e, word, e->schema[i],
                               &e->schema[i]->fields[k], &found);
    explain_params(e, word, &found);
    explain_aliases(e, word, &found);
    return lists_find(e->out, e->catalogue, word, found);
}

/* ---- names ---- */

/* Adds a name; counts it alone if names is NULL. */
static void add_name(const char **names, size_t *n, const char *name)
{
    if (names != NULL)
        names[*n] = name;
    (*n)++;
}

/* Adds the names of all formats of traces, series and requests. */
static void add_formats(const char **names, size_t *n)
{
    const char *name, *meaning;

    for (size_t i = 0; import_format_at(i) != NULL; i++)
        add_name(names, n, import_format_at(i)->name);
    for (size_t i = 0; series_format_at(i) != NULL; i++)
        add_name(names, n, series_format_at(i)->name);
    for (size_t i = 0; (name = request_format_at(i, &meaning)) != NULL; i++)
        add_name(names, n, name);
}

size_t explain_words_names(const struct explain_words *e, const char **names)
{
    size_t n = 0;

    for (size_t i = 0; semantics_at(i) != NULL; i++)
        add_name(names, &n, semantics_at(i)->preset);
    for (size_t i = 0; i < e->schema_count; i++)
        for (size_t k = 0; k < e->schema[i]->count; k++) {
            const struct conf_field *field = &e->schema[i]->fields[k];

            for (size_t c = 0; field->type == CONF_CHOICE &&
                               field->choices[c] != NULL; c++)
                add_name(names, &n, field->choices[c]);
        }
    for (int s = 0; s < CATALOGUE_SECTION_COUNT; s++) {
        const char *const *all =
            catalogue_names(e->catalogue, (enum catalogue_section)s);

        for (size_t i = 0; all[i] != NULL; i++)
            add_name(names, &n, all[i]);
    }
    for (size_t i = 0; i < recipe_count; i++)
        add_name(names, &n, recipe_table[i]->name);
    add_formats(names, &n);
    for (size_t i = 0; glossary_at(i) != NULL; i++)
        add_name(names, &n, glossary_at(i)->word);
    return n;
}

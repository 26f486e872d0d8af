/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file_schema.c - the JSON Schema of a kind of file: key tables, shapes (key_shapes.c),
 * and the names that files may use, from the catalogue and the registries.
 *
 * Here ' stands for " and @NAME@ for a reference (sim/config/doc.h).
 */
#include "experiments/schema/file_schema.h"

#include <stdio.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/measure/metrics.h"
#include "experiments/schema/key_shapes.h"
#include "experiments/schema/schemas.h"
#include "experiments/spec/experiment.h"
#include "models/catalogue/catalogue.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "policies/registry/heeds.h"
#include "policies/registry/registry.h"
#include "policies/registry/rules.h"
#include "policies/registry/semantics.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "sim/config/doc.h"
#include "sim/text/paths.h"
#include "workloads/recipes/recipe.h"

#define MADE_MAX 16u            /* calls of add_definition() for names */

const char *const file_schema_kinds[] = {
    "experiment", "advise", "cluster", "workload", "catalogue", "weights",
    NULL
};

/* As above; `any` tells them apart as `clustersim validate` does. */
static const char *const roots[] = {
    "{'if': {" OBJECT ", 'required': ['catalogue']}, 'then': "
        "@open experiment@, 'else': @experiment@}",
    "@advice@", "@cluster file@", "@workload file@", "@catalogue@",
    "@weights file@",
};
static const char any[] =
    "{'type': 'object'}, {'if': {'anyOf': [{'required': ['policies']}, "
    "{'required': ['experiment']}]}, 'then': {'if': {'required': "
    "['catalogue']}, 'then': @open experiment@, 'else': @experiment@}, 'else':"
    " {'if': {'required': ['advise']}, 'then': @advice@, 'else': "
    "{'if': {'anyOf': [{'required': ['nodes']}, {'required': ['cluster']}]}, "
    "'then': @cluster file@, 'else': {'if': {'anyOf': [{'required': ['gpus']},"
    " {'required': ['cpus']}, {'required': ['links']}, {'required': "
    "['prices']}, {'required': ['llms']}, {'required': ['nets']}, "
    "{'required': ['applications']}, {'required': ['instances']}]}, "
    "'then': @catalogue@, 'else': "
    "{'if': {'required': ['weights']}, 'then': @weights file@, "
    "'else': @workload file@}}}}}";

/* ---- names -------------------------------------------------------------- */

/* What is gathered before the JSON is printed: definitions by name, and tables. */
struct making {
    struct arena *arena;
    const struct catalogue *catalogue;  /* whose names values may have */
    struct conf_shape *definition;      /* key_definitions, and MADE_MAX more */
    size_t definition_count;
    const struct conf_schema **table;   /* of keys, each once */
    size_t table_count;
};

/* Adds a definition, to which @NAME@ refers.  `open` is its form in files that
 * bring a catalogue of their own, where names are not known here; NULL: as `json`. */
static void add_definition(struct making *m, const char *name, const char *json,
                           const char *open)
{
    m->definition[m->definition_count++] =
        (struct conf_shape){ name, json, open };
}

/* Returns the list "'a', 'b'" with one more name.  Quadratic in the length, of
 * lists of some hundred names. */
static const char *add_name(struct making *m, const char *list,
                            const char *name)
{
    return text_format(m->arena, "%s%s'%s'", list, list[0] == '\0' ? "" : ", ",
                       name);
}

/* Adds an enumeration; `is_open`: files with a catalogue may have other names too. */
static void define_names(struct making *m, const char *name, const char *list,
                         bool is_open)
{
    add_definition(m, name, text_format(m->arena, "{'enum': [%s]}", list),
                   is_open ? "{" STRING ", 'minLength': 1}" : NULL);
}

/* Adds the other names of entry `i`, which files may use as well. */
static const char *add_aliases(struct making *m, const char *list,
                               enum catalogue_section section, size_t i)
{
    const struct conf_node *other = catalogue_aliases(m->catalogue, section,
                                                      i);

    for (size_t k = 0; other != NULL && k < conf_count(other); k++)
        list = add_name(m, list, conf_text(conf_item(other, k)));
    return list;
}

/* Returns the list of all names of a section of the catalogue, with aliases. */
static const char *section_names(struct making *m,
                                 enum catalogue_section section)
{
    const char *const *name = catalogue_names(m->catalogue, section);
    const char *list = "";

    for (size_t i = 0; name[i] != NULL; i++)
        list = add_aliases(m, add_name(m, list, name[i]), section, i);
    return list;
}

/* Returns the names of disks, or of network cards: the section of links has both,
 * and links within a node, which no file names. */
static const char *link_names(struct making *m, bool disks)
{
    const char *list = "";

    for (size_t i = 0; i < catalogue_link_count(m->catalogue); i++) {
        const struct link_type *link = catalogue_link_at(m->catalogue, i);
        bool is_nic = link->kind == LINK_IB || link->kind == LINK_ROCE ||
                      link->kind == LINK_ETHERNET;

        if (disks ? link->kind == LINK_DISK : is_nic)
            list = add_aliases(m, add_name(m, list, link->name),
                               CATALOGUE_LINKS, i);
    }
    return list;
}

/* Names of the catalogue that an editor offers; other names stay allowed. */
static void define_hardware(struct making *m)
{
    const char *gpus = section_names(m, CATALOGUE_GPUS);

    define_names(m, "gpu or generic", add_name(m, gpus, "generic"), true);
    define_names(m, "cpu", section_names(m, CATALOGUE_CPUS), true);
    define_names(m, "nic", link_names(m, false), true);
    define_names(m, "disk", link_names(m, true), true);
    define_names(m, "llm", section_names(m, CATALOGUE_LLMS), true);
    define_names(m, "net", section_names(m, CATALOGUE_NETS), true);
}

/* Names of metrics and charts.  A metric may also be one of the experiment's own. */
static void define_metrics(struct making *m)
{
    const char *metrics = "", *plots = "";

    for (unsigned i = 0; i < METRIC_COUNT; i++)
        metrics = add_name(m, metrics, metric_info(NULL, (enum metric)i)->name);
    for (size_t i = 0; experiment_plot_names[i] != NULL; i++)
        plots = add_name(m, plots, experiment_plot_names[i]);
    define_names(m, "built-in metric", metrics, false);
    add_definition(m, "metric", "{'anyOf': [@built-in metric@, " OWN_NAME "]}", NULL);
    define_names(m, "plot", plots, false);
}

/* ---- by recipe, by policy ----------------------------------------------- */

/* ", {if the key has that value, then the map is of that table}": a link of a
 * chain.  The condition requires the key, or a map without it would meet every
 * `then`. */
static const char *format_case(struct making *m, const char *key,
                               const char *value, const char *table)
{
    return text_format(m->arena, ", {'if': {'required': ['%s'], 'properties': "
                       "{'%s': {'const': '%s'}}}, 'then': @%s@}", key, key,
                       value, table);
}

/* An entry of `mix:` is of the table of its recipe. */
static void define_mix(struct making *m)
{
    const char *recipes = "", *cases = "";

    for (size_t i = 0; i < recipe_count; i++) {
        const char *name = recipe_table[i]->name;

        recipes = add_name(m, recipes, name);
        cases = text_format(m->arena, "%s%s", cases,
                            format_case(m, "recipe", name,
                                        recipe_table[i]->schema->name));
    }
    define_names(m, "recipe", recipes, false);
    add_definition(m, "mix", text_format(m->arena, "{'allOf': [{" OBJECT ", "
           "'required': ['recipe'], 'properties': {'recipe': @recipe@}}%s]}",
           cases), NULL);
}

/* Returns the words of a key that act on the policy; NULL: any value may stand.  The reader
 * refuses a word without effect, so that the schema does so too. */
static const char *const *acting_words(struct making *m,
                                       const struct cs_policy *policy,
                                       const struct conf_field *field)
{
    const char **word;
    size_t all = 0, count = 0;

    if (field->choices == NULL)
        return NULL;
    while (field->choices[all] != NULL)
        all++;
    word = arena_alloc(m->arena, all + 1, sizeof *word);
    for (size_t i = 0; i < all; i++)
        if (policy_accepts_value(policy, field->key, field->choices[i]))
            word[count++] = field->choices[i];
    return word;
}

/* Adds a table for the policy: its own keys, and those keys of the host that act
 * on it. */
static void add_policy_table(struct making *m, const struct cs_policy *policy)
{
    struct conf_schema *table = arena_alloc(m->arena, 1, sizeof *table);
    const struct conf_schema all = host_policy_keys(m->arena, policy);
    struct conf_field *field = arena_alloc(m->arena, all.count, sizeof *field);
    size_t count = 0;

    for (size_t i = 0; i < all.count; i++) {
        if (!policy_accepts_key(policy, all.fields[i].key))
            continue;
        field[count] = all.fields[i];
        field[count].choices = acting_words(m, policy, &all.fields[i]);
        count++;
    }
    *table = (struct conf_schema) { NULL, all.help, field, count };
    table->name = text_format(m->arena, "%s.%s", host_rules_schema.name,
                              policy->name);
    m->table[m->table_count++] = table;
}

/* An entry of `policies:` is a name, a file, a map with `policy`, or a map with
 * `exec`.  Keys of policies in files are not known before they are loaded, so a
 * map with a file may have any. */
static void define_policies(struct making *m)
{
    const char *names = "", *cases = "";
    const struct cs_policy *policy;

    for (size_t i = 0; (policy = registry_at(i)) != NULL; i++) {
        names = add_name(m, names, policy->name);
        cases = text_format(m->arena, "%s%s", cases,
                            format_case(m, "policy", policy->name,
                                        text_format(m->arena, "%s.%s",
                                                    host_rules_schema.name,
                                                    policy->name)));
        add_policy_table(m, policy);
    }
    define_names(m, "policy name", names, false);
    add_definition(m, "policy file", "{'type': 'string', 'pattern': '/|[.]c$|[.]so$'}", NULL);
    add_definition(m, "policy", text_format(m->arena, "{'anyOf': [@policy name@, @policy file@, "
           "{'allOf': [{" OBJECT ", 'required': ['policy'], 'properties': "
           "{'policy': {'anyOf': [@policy name@, @policy file@]}}}%s]}, "
           "{" OBJECT ", 'required': ['exec'], 'properties': {'policy': false, 'exec': "
           "{'anyOf': [{'type': 'string'}, {'type': 'array', 'minItems': 1, 'items': "
           "{'type': ['string', 'number']}}]}}}]}", cases), NULL);
}

/* Presets, each once: a preset has a row for each key that it sets. */
static void define_semantics(struct making *m)
{
    const struct semantics_row *row;
    const char *presets = "";

    for (size_t i = 0; (row = semantics_at(i)) != NULL; i++) {
        char quoted[80];

        snprintf(quoted, sizeof quoted, "'%s'", row->preset);
        if (strstr(presets, quoted) == NULL)
            presets = add_name(m, presets, row->preset);
    }
    define_names(m, "semantics", presets, false);
}

/* Returns the root for a kind, or the one that tells kinds apart. */
static const char *find_root(const char *kind)
{
    for (size_t i = 0; kind != NULL && file_schema_kinds[i] != NULL; i++)
        if (strcmp(kind, file_schema_kinds[i]) == 0)
            return roots[i];
    return any;
}

const char *file_schema(struct arena *arena, const struct catalogue *catalogue,
                        const char *kind)
{
    struct making m = { .arena = arena, .catalogue = catalogue };
    size_t policies = 0, tables;
    const struct conf_schema *const *all = schemas_all(arena, &tables);

    while (registry_at(policies) != NULL)
        policies++;
    m.table = arena_alloc(arena, tables + policies, sizeof *m.table);
    for (size_t i = 0; i < tables; i++)
        m.table[m.table_count++] = all[i];
    m.definition = arena_alloc(arena, key_definition_count + MADE_MAX, sizeof *m.definition);
    for (size_t i = 0; i < key_definition_count; i++)
        m.definition[m.definition_count++] = key_definitions[i];
    define_hardware(&m);
    define_metrics(&m);
    define_mix(&m);
    define_policies(&m);
    define_semantics(&m);
    const struct conf_json json = {
        .title = text_format(arena, "clustersim: %s",
                             kind == NULL ? "any file" : kind),
        .root = find_root(kind),
        .tables = m.table, .table_count = m.table_count,
        .shapes = key_shapes, .shape_count = key_shape_count,
        .definitions = m.definition,
        .definition_count = m.definition_count,
        .with_open = find_root(kind) == any || find_root(kind) == roots[0],
    };
    return conf_json_schema(arena, &json);
}

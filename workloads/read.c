/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read.c - a workload file: its mix of recipes, or its trace, and its services.
 *
 * The order of `mix:` and of `services:` does not matter: entries are sorted by
 * name before anything is drawn.
 */
#include "workloads/source.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/string_set.h"
#include "workloads/jobs/packing.h"
#include "workloads/random/arrival.h"
#include "workloads/random/arrival_read.h"
#include "workloads/recipes/recipe.h"
#include "workloads/replay/trace.h"
#include "workloads/requests/services.h"
#include "workloads/workload_spec.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

/* The keys of `workload:` as they are written. */
struct workload_keys {
    const char *name;           /* of the workload, for results */
    const struct conf_node *arrival, *mix, *trace, *services;
    int64_t jobs, for_ns;       /* 0: not given */
};

static const struct conf_field workload_fields[] = {
    CONF_KEY("name", CONF_TEXT, workload_keys, name, CONF_ABSENT,
             "what the workload is called"),
    CONF_KEY("arrival", CONF_NODE, workload_keys, arrival, CONF_ABSENT,
             "when jobs arrive"),
    CONF_KEY("jobs", CONF_INT, workload_keys, jobs, CONF_ABSENT, "number of jobs",
             .min = 1, .max = 4e9),
    CONF_KEY("for", CONF_TIME, workload_keys, for_ns, CONF_ABSENT,
             "jobs that arrive before this time", .min = 1e-9, .max = 9e9),
    CONF_KEY("mix", CONF_NODE, workload_keys, mix, CONF_ABSENT,
             "list of kinds of jobs; its order says nothing, which job is of "
             "which kind follows from their names"),
    CONF_KEY("trace", CONF_NODE, workload_keys, trace, CONF_ABSENT,
             "jobs of a file; instead of arrival, mix, jobs and for"),
    CONF_KEY("services", CONF_NODE, workload_keys, services, CONF_ABSENT,
             "list of services and their requests, beside jobs or alone; its "
             "order says nothing, results have them by name"),
};
const struct conf_schema workload_schema =
    CONF_SCHEMA("workload", "where jobs come from", workload_fields);

/* Returns the names of all recipes, "pretrain, sft, ...". */
static const char *list_recipes(struct arena *arena)
{
    size_t bytes = 1;
    char *list, *end;

    for (size_t i = 0; i < recipe_count; i++)
        bytes += strlen(recipe_table[i]->name) + 2;
    end = list = arena_alloc(arena, bytes, 1);
    for (size_t i = 0; i < recipe_count; i++)
        end += sprintf(end, "%s%s", i > 0 ? ", " : "", recipe_table[i]->name);
    return list;
}

/* The recipe of that name, which stands at `pos`; NULL and an err: none is. */
static const struct recipe *find_recipe(const struct world *world,
                                        const char *name, struct err_pos pos)
{
    const char **names, *near;

    for (size_t i = 0; i < recipe_count; i++)
        if (strcmp(recipe_table[i]->name, name) == 0)
            return recipe_table[i];
    names = arena_alloc(world->arena, recipe_count + 1, sizeof *names);
    for (size_t i = 0; i < recipe_count; i++)
        names[i] = recipe_table[i]->name;
    err_set(world->err, ERR_REFERENCE, pos, "%s is no recipe; allowed are %s",
            name, list_recipes(world->arena));
    near = conf_nearest(name, names);
    if (near != NULL)
        err_hint(world->err, "Did you mean %s?", near);
    return NULL;
}

/* Reads one kind of job of a mix: its recipe expands the keys into a form. */
static bool read_entry(const struct world *world,
                       const struct conf_node *conf, struct entry *out)
{
    const struct recipe *recipe;
    const struct conf_node *name;

    if (conf_kind(conf) != CONF_MAP)
        return err_set(world->err, ERR_SCHEMA, conf_pos(conf),
                       "an entry of mix must be a mapping such as {recipe: "
                       "sft, ...}");
    name = conf_get(conf, "recipe");
    if (name == NULL || conf_kind(name) != CONF_SCALAR)
        return err_set(world->err, ERR_SCHEMA, conf_pos(conf),
                       "recipe is missing: what kind of job this is");
    recipe = find_recipe(world, conf_text(name), conf_pos(name));
    if (recipe == NULL || !recipe->expand(recipe, world, conf, out))
        return false;
    out->recipe = recipe;
    out->conf = conf;
    return true;
}

/* Entries must have different names, since results and `packing` go by them.
 * Compares entry i with those before. */
static bool check_names(const struct workload_spec *spec, size_t i,
                        struct err_pos pos, struct err *err)
{
    for (size_t j = 0; j < i; j++)
        if (strcmp(spec->entry[i].form->name, spec->entry[j].form->name) == 0)
            return err_set(err, ERR_SCHEMA, pos,
                           "two entries of mix are called %s; give each a "
                           "name", spec->entry[i].form->name);
    return true;
}

/* Every name in a `packing` must be the name of an entry of this mix. */
static bool check_packing(const struct workload_spec *spec,
                          const struct world *world,
                          const struct conf_node *list)
{
    size_t count = spec->entry_count;
    const struct job_form **form = arena_alloc(world->arena, count,
                                               sizeof *form);

    for (size_t i = 0; i < count; i++)
        form[i] = spec->entry[i].form;
    for (size_t i = 0; i < count; i++)
        if (form[i]->packing != NULL &&
            !packing_names_ok(world,
                              conf_get(conf_item(list, i), "packing"), form,
                              count))
            return false;
    return true;
}

/* Sorts by name, so that the entry of a job does not depend on the order of the
 * list.  The shares follow. */
static void sort_entries(struct workload_spec *spec)
{
    for (size_t i = 1; i < spec->entry_count; i++) {
        struct entry entry = spec->entry[i];
        size_t j = i;

        for (; j > 0 && string_set_order(entry.form->name,
                                         spec->entry[j - 1].form->name) < 0; j--)
            spec->entry[j] = spec->entry[j - 1];
        spec->entry[j] = entry;
    }
    for (size_t i = 0; i < spec->entry_count; i++)
        spec->share[i] = spec->entry[i].share;
}

/* Reads the entries.  At least one share must be above 0. `packing` is checked
 * before sorting, while entries still stand as in the file. */
static bool read_mix(struct workload_spec *spec, const struct world *world,
                     const struct conf_node *list)
{
    double sum = 0.0;
    size_t count = conf_kind(list) == CONF_LIST ? conf_count(list) : 0;

    if (count == 0)
        return err_set(world->err, ERR_SCHEMA, conf_pos(list),
                       "mix must be a list of entries such as {recipe: sft, "
                       "...}");
    spec->entry = arena_alloc(world->arena, count, sizeof *spec->entry);
    spec->share = arena_alloc(world->arena, count, sizeof *spec->share);
    spec->entry_count = count;
    for (size_t i = 0; i < count; i++) {
        const struct conf_node *item = conf_item(list, i);

        if (!read_entry(world, item, &spec->entry[i]) ||
            !check_names(spec, i, conf_pos(item), world->err))
            return false;
        sum += spec->entry[i].share;
    }
    if (sum > 0.0) {
        if (!check_packing(spec, world, list))
            return false;
        sort_entries(spec);
        return true;
    }
    return err_set(world->err, ERR_RANGE, conf_pos(list),
                   "at least one share of mix must be greater than 0");
}

/* Reads a mix.  It needs arrivals, and an end of them: by number, by time, or
 * by a list of times or rates that ends. */
static bool read_synthetic(struct workload_spec *spec,
                           const struct world *world,
                           const struct conf_node *conf,
                           const struct workload_keys *keys)
{
    if (keys->arrival == NULL || keys->mix == NULL)
        return err_set(world->err, ERR_SCHEMA, conf_pos(conf),
                       "%s is missing: a workload has arrival and mix, or "
                       "trace", keys->arrival == NULL ? "arrival" : "mix");
    if (!arrival_read(world->arena, keys->arrival, &spec->arrival,
                      world->err))
        return false;
    spec->jobs_max = keys->jobs > 0 ? (uint64_t)keys->jobs : UINT64_MAX;
    spec->for_ns = keys->for_ns > 0 ? keys->for_ns : CLOCK_NEVER_NS;
    if (spec->arrival.time_count > 0 && keys->jobs > 0 &&
        spec->jobs_max > spec->arrival.time_count)
        return err_set(world->err, ERR_RANGE, conf_pos(conf_get(conf, "jobs")),
                       "jobs must be at most %zu, as many as arrival has times, "
                       "and is %" PRIu64, spec->arrival.time_count,
                       spec->jobs_max);
    if (keys->jobs == 0 &&
        (spec->arrival.process == ARRIVAL_ALL_AT_ONCE ||
         (keys->for_ns == 0 &&
          arrival_end_ns(&spec->arrival) == CLOCK_NEVER_NS)))
        return err_set(world->err, ERR_SCHEMA, conf_pos(conf),
                       "jobs%s is missing: when do arrivals end",
                       spec->arrival.process == ARRIVAL_ALL_AT_ONCE
                           ? "" : " or for");
    return read_mix(spec, world, keys->mix);
}

/* Reads a trace.  Keys of a mix beside it would do nothing, and are refused. */
static bool read_trace(struct workload_spec *spec, const struct world *world,
                       const struct conf_node *conf,
                       const struct workload_keys *keys)
{
    static const char *const apart[] = {"arrival", "mix", "jobs", "for"};

    for (size_t i = 0; i < COUNT(apart); i++)
        if (conf_get(conf, apart[i]) != NULL)
            return err_set(world->err, ERR_SCHEMA,
                           conf_pos(conf_get(conf, apart[i])),
                           "%s has no meaning beside trace%s", apart[i],
                           i < 2 ? "" : "; use its slice");
    spec->trace = trace_read(world, keys->trace);
    return spec->trace != NULL &&
           (keys->services == NULL ||
            trace_fits_services(spec->trace, world->err));
}

/* A workload has jobs, from a trace or drawn, or services, or both. */
const struct workload_spec *workload_read(struct arena *arena,
                                          const struct conf_node *conf,
                                          const struct catalogue *catalogue,
                                          const struct cluster_spec *cluster,
                                          struct err *err)
{
    struct world world = {arena, catalogue, cluster, err};
    struct workload_spec *spec = arena_alloc(arena, 1, sizeof *spec);
    struct workload_keys keys = {0};
    bool good;

    assert(conf != NULL && catalogue != NULL && cluster != NULL);
    if (!conf_fill(conf, &workload_schema, &keys, err))
        return NULL;
    if (keys.services != NULL) {
        spec->service = services_read(&world, keys.services,
                                      &spec->service_count);
        if (spec->service == NULL)
            return NULL;
    }
    if (keys.services != NULL && keys.trace == NULL && keys.mix == NULL &&
        keys.arrival == NULL)
        return spec;                    /* services alone */
    good = keys.trace != NULL ? read_trace(spec, &world, conf, &keys)
                              : read_synthetic(spec, &world, conf, &keys);
    return good ? spec : NULL;
}

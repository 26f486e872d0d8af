/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * defaults.c - collects what decides, each with where it comes from.
 *
 * A row is (of, key, value, from).  Points of a sweep mostly share their
 * values, so a row is added once, however many points have it; rows of a policy
 * with a `with:` of its own are told " under POLICY" where they differ.  Rows
 * are compared one by one: there are some dozens.
 */
#include "experiments/preflight/defaults.h"

#include <assert.h>
#include <string.h>

#include "experiments/preflight/default_rows.h"
#include "experiments/spec/experiment.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "policies/host/host.h"
#include "policies/registry/registry.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"
#include "workloads/jobs/birth.h"
#include "workloads/source.h"

/* Subjects that a line names. */
#define NAMED_MAX 8u

/* ---- policies ----------------------------------------------------------- */

/* "train of dpo-7b 8 to 16": a role that may be larger than asked. */
static const char *growing_role(struct arena *arena,
                                const struct workload_spec *workload)
{
    const char *first = NULL;
    uint32_t more = 0;

    for (size_t i = 0; i < workload_form_count(workload); i++) {
        const struct job_form *form = workload_form(workload, i);
        for (uint32_t r = 0; r < form->role_count; r++) {
            const struct role_spec *role = &form->role[r];
            if (role->gpus == 0 || role->gpus_max <= role->gpus)
                continue;
            if (first == NULL)
                first = text_format(arena, "%s of %s %u to %u", role->name,
                                    form->name, role->gpus, role->gpus_max);
            else
                more++;
        }
    }
    return more == 0 ? first : text_format(arena, "%s, %u more", first, more);
}

/* May some role run on one of several types of GPU? */
static bool has_choice(const struct workload_spec *workload)
{
    for (size_t i = 0; i < workload_form_count(workload); i++) {
        const struct job_form *form = workload_form(workload, i);
        for (uint32_t r = 0; r < form->role_count; r++)
            if (form->role[r].gpu_type_count > 1)
                return true;
    }
    return false;
}

/* Which rule gave a role its home, in words. */
static const char *home_rule(enum host_home rule)
{
    switch (rule) {
    case HOST_HOME_SAID: return "home of the role";
    case HOST_HOME_POOL: return "pool of the role";
    case HOST_HOME_NAME: return "it bears the role's name";
    case HOST_HOME_NONE: break;
    }
    return "none is said, and no pool bears the role's name";
}

/* Returns whether the home of a role, when it is empty, has room for what its owner asks for.
 * Elsewhere than at a policy that confines roles, a home without is none. */
static bool is_home_kept(const struct experiment_point *point, const struct host_policy *policy,
                         const struct role_spec *role, uint32_t pool)
{
    const struct cluster_spec *spec = point->cluster;

    if (role->gpus == 0 || host_confines(policy))
        return true;
    struct arena *scratch = arena_new(0);
    struct share *share = arena_alloc(scratch, spec->node_count, sizeof *share);
    struct placement place;
    bool kept = host_role_fits(cluster_new(scratch, spec), policy->rules.placement, role,
                               1u << pool, share, &place);
    arena_free(scratch);
    return kept;
}

/* "gen (pool of the role)"; where that pool could not hold the role, why there is no home. */
static const char *tell_home(struct arena *arena, const struct experiment_point *point,
                             const struct host_policy *policy, const struct role_spec *role,
                             uint32_t pool, const char *rule)
{
    const char *name = point->cluster->pool_name[pool];

    if (is_home_kept(point, policy, role, pool))
        return text_format(arena, "%s (%s)", name, rule);
    return text_format(arena, "any pool (%s, %s, has no room for it)", name, rule);
}

/* Adds the home of each role.  Roles of one name have one home in most workloads,
 * so a row is by name. */
static void add_homes(struct rows *all, const struct experiment_point *point,
                      const struct host_policy *policy, const char *of)
{
    for (size_t i = 0; i < workload_form_count(point->workload); i++) {
        const struct job_form *form = workload_form(point->workload, i);
        for (uint32_t r = 0; r < form->role_count; r++) {
            const struct role_spec *role = &form->role[r];
            enum host_home rule;
            uint32_t pool = host_home_pool(point->cluster, role, &rule);
            if (point->cluster->pool_count == 1 && rule == HOST_HOME_NONE)
                continue;           /* there is no other place */
            const char *told = pool == UINT32_MAX
                ? text_format(all->arena, "any pool (%s)", home_rule(rule))
                : tell_home(all->arena, point, policy, role, pool, home_rule(rule));
            default_rows_add(all, of, text_format(all->arena, "home of %s", role->name), told,
                             rule == HOST_HOME_SAID || rule == HOST_HOME_POOL ? "file"
                                                                              : "default");
        }
    }
}

/* What a policy does with a role that may run on cores or on GPUs. */
static const char *describe_hardware(const struct host_policy *policy)
{
    switch (host_hardware(policy->policy, &policy->rules)) {
    case HOST_GPUS_ALONE:
        return "GPUs alone, though a role may run on cores too";
    case HOST_CORES_ALONE: return "cores alone, though a role may run on GPUs too";
    case HOST_ANY_HARDWARE: break;
    }
    return policy->policy->flags & CS_FORECASTS
               ? "GPUs or cores, where a phase is soonest over, by forecast"
               : "GPUs or cores, the first of `types:` that has room";
}

/* What a policy decides by itself on the jobs of a point. */
static void add_policy(struct rows *all, const struct experiment_point *point,
                       uint32_t p)
{
    const struct cs_policy *policy = point->policy[p]->policy;
    const char *of = text_format(all->arena, "policy %s",
                                 all->experiment->policy_name[p]);
    const char *grows = growing_role(all->arena, point->workload);

    if (grows != NULL)
        default_rows_add(all, of, "GPUs",
                         policy->flags & (CS_GROWS | CS_RESIZES) &&
                                 !point->policy[p]->rules.no_growth
                             ? text_format(all->arena, "up to max of a role (%s)", grows)
                             : text_format(all->arena, "as asked, though a role could have "
                                           "more (%s)", grows), "rule");
    if (has_choice(point->workload))
        default_rows_add(all, of, "types", policy->flags & CS_FORECASTS
                             ? "where a phase is soonest over, by forecast"
                             : "the first of `types:` (else of `nodes:`) that has room",
                         "rule");
    if (workload_has_choices(point->workload))
        default_rows_add(all, of, "hardware", describe_hardware(point->policy[p]), "rule");
    if (workload_states_priority(point->workload) &&
        (policy->flags & CS_ASKS_PRIORITY || registry_find(policy->name) == policy))
        default_rows_add(all, of, "priority", policy->flags & CS_ASKS_PRIORITY
                             ? "jobs of larger priority go first"
                             : "it does not look at the priority of jobs", "rule");
    if (policy->flags & CS_HOMES)
        add_homes(all, point, point->policy[p], of);
}

/* ---- what a policy has to itself ---------------------------------------- */

/* "tuned" for values of a tuned experiment that do not stand in a file: the search
 * set them. */
static const char *find_source(const struct rows *all, const struct conf_node *value)
{
    return all->experiment->tuned &&
           strncmp(conf_pos(value).file, "--set", strlen("--set")) == 0 ? "tuned" : "file";
}

/* Adds what one entry of `policies:` sets for itself: tuned keys and `with:`. */
static void add_entry(struct rows *all, const struct conf_node *entry, const char *of)
{
    const struct conf_node *with = conf_get(entry, "with");

    for (size_t i = 0; i < conf_count(entry); i++) {
        const struct conf_node *value = conf_value(entry, i);

        if (value != with && strcmp(find_source(all, value), "tuned") == 0)
            default_rows_add(all, of, conf_key(entry, i), conf_flow(all->arena, value), "tuned");
    }
    for (size_t i = 0; with != NULL && i < conf_count(with); i++)
        default_rows_add(all, of, text_format(all->arena, "with %s", conf_key(with, i)),
                         conf_flow(all->arena, conf_value(with, i)),
                         find_source(all, conf_value(with, i)));
}

/* Adds what each entry of `policies:` sets for itself; an entry without a `name` is
 * known by its policy. */
static void add_entries(struct rows *all)
{
    const struct experiment *experiment = all->experiment;
    const struct conf_node *list = conf_get(experiment->tree, "policies");

    for (size_t i = 0; i < conf_count(list); i++) {
        const struct conf_node *entry = conf_item(list, i), *name;

        if (conf_kind(entry) != CONF_MAP)
            continue;
        name = conf_get(entry, conf_get(entry, "name") != NULL ? "name" : "policy");
        for (uint32_t p = 0; p < experiment->policy_count; p++)
            if (strcmp(experiment->policy_name[p], conf_text(name)) == 0)
                add_entry(all, entry,
                          text_format(all->arena, "policy %s", conf_text(name)));
    }
}

/* Policies first, then the worlds they meet, then what an entry has to itself: the
 * order of the report. */
struct default_row *defaults_of(struct arena *arena,
                                const struct experiment *experiment, uint32_t *count)
{
    struct rows all = { .arena = arena, .experiment = experiment };

    for (uint32_t p = 0; p < experiment->policy_count; p++)
        for (uint32_t i = 0; i < experiment->point_count; i++)
            add_policy(&all, experiment->point[i].met[p], p);
    for (uint32_t i = 0; i < experiment->point_count; i++) {
        const struct experiment_point *point = &experiment->point[i];
        default_rows_add_world(&all, point, "");
        for (uint32_t p = 0; p < experiment->policy_count; p++) {
            const char *under = text_format(arena, " under %s", experiment->policy_name[p]);
            if (point->met[p] == point)
                continue;
            default_rows_add_layouts(&all, point, point->met[p], under);
            default_rows_add_world(&all, point->met[p], under);
        }
    }
    add_entries(&all);
    *count = all.count;
    return all.row;
}

/* ---- told --------------------------------------------------------------- */

/* Has an earlier row the same key and value?  Such rows share one line. */
static bool is_repeated(const struct default_row *row, uint32_t i)
{
    for (uint32_t k = 0; k < i; k++)
        if (strcmp(row[k].key, row[i].key) == 0 &&
            strcmp(row[k].value, row[i].value) == 0 &&
            strcmp(row[k].from, row[i].from) == 0)
            return true;
    return false;
}

/* Joins the subjects of all rows that share key, value and source: "policy a, b, c".
 * Beyond NAMED_MAX it tells how many more there are. */
static const char *list_subjects(struct arena *arena,
                                 const struct default_row *row, uint32_t count,
                                 uint32_t i)
{
    const char *text = row[i].of;
    uint32_t named = 1;

    for (uint32_t k = i + 1; k < count; k++) {
        if (strcmp(row[k].key, row[i].key) != 0 ||
            strcmp(row[k].value, row[i].value) != 0 ||
            strcmp(row[k].from, row[i].from) != 0 || named++ >= NAMED_MAX)
            continue;
        const char *name = strchr(row[k].of, ' ');
        text = text_format(arena, "%s,%s", text, name != NULL ? name : "");
    }
    return named > NAMED_MAX
               ? text_format(arena, "%s and %u more", text, named - NAMED_MAX) : text;
}

void defaults_print(struct arena *arena, const struct experiment *experiment, FILE *to)
{
    uint32_t count;
    const struct default_row *row = defaults_of(arena, experiment, &count);
    bool begun = false;

    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(row[i].from, "file") == 0 || is_repeated(row, i))
            continue;
        if (!begun)
            fputs("\nwhat decides, and the experiment does not say\n", to);
        begun = true;
        fprintf(to, "  %s: %s: %s\n", list_subjects(arena, row, count, i),
                row[i].key, row[i].value);
    }
}

void defaults_write(struct arena *arena, const struct experiment *experiment,
                    struct out *out)
{
    uint32_t count;
    const struct default_row *row = defaults_of(arena, experiment, &count);
    struct sheet *sheet = sheet_new("of:0\tkey:0\tvalue:0\tfrom:0");

    for (uint32_t i = 0; i < count; i++) {
        sheet_cell(sheet, "%s", row[i].of);
        sheet_cell(sheet, "%s", row[i].key);
        sheet_cell(sheet, "%s", row[i].value);
        sheet_cell(sheet, "%s", row[i].from);
    }
    sheet_json(sheet, out);
    sheet_free(sheet);
}

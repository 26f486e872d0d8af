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

#include "experiments/spec/experiment.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/laws/outage.h"
#include "models/serving/serve.h"
#include "models/serving/service.h"
#include "models/types/gang.h"
#include "policies/host/host.h"
#include "policies/registry/registry.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"
#include "workloads/jobs/birth.h"
#include "workloads/requests/services.h"
#include "workloads/source.h"

/* More notes than a recipe makes on one kind of job. */
#define NOTES_MAX 32u
/* Subjects that a line names. */
#define NAMED_MAX 8u

/* The rows so far. */
struct rows {
    struct arena *arena;
    const struct experiment *experiment;
    struct default_row *row;
    uint32_t count, room;
};

/* Adds a row, unless an earlier point added an equal one. */
static void add_row(struct rows *all, const char *of, const char *key,
                    const char *value, const char *from)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (strcmp(all->row[i].of, of) == 0 &&
            strcmp(all->row[i].key, key) == 0 &&
            strcmp(all->row[i].value, value) == 0)
            return;
    ARENA_ADD(all->arena, all->row, all->count, all->room,
              (struct default_row) { of, key, value, from });
}

/* Adds a default of the cluster or the workload that one policy meets by its
 * `with:`, unless it is the default of all policies.  `under` is " under POLICY",
 * or "" for all. */
static void add_under(struct rows *all, const char *of, const char *under,
                      const char *key, const char *value, const char *from)
{
    for (uint32_t i = 0; under[0] != '\0' && i < all->count; i++)
        if (strcmp(all->row[i].of, of) == 0 && strcmp(all->row[i].key, key) == 0 &&
            strcmp(all->row[i].value, value) == 0)
            return;
    add_row(all, text_format(all->arena, "%s%s", of, under), key, value, from);
}

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
            const char *name = pool == UINT32_MAX ? "" : point->cluster->pool_name[pool];
            add_row(all, of, text_format(all->arena, "home of %s", role->name),
                    pool == UINT32_MAX
                        ? text_format(all->arena, "any pool (%s)", home_rule(rule))
                    : is_home_kept(point, policy, role, pool)
                        ? text_format(all->arena, "%s (%s)", name, home_rule(rule))
                        : text_format(all->arena, "any pool (%s, %s, has no room for it)", name,
                                      home_rule(rule)),
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
        add_row(all, of, "GPUs",
                policy->flags & (CS_GROWS | CS_RESIZES) && !point->policy[p]->rules.no_growth
                    ? text_format(all->arena, "up to max of a role (%s)", grows)
                    : text_format(all->arena, "as asked, though a role could have "
                                  "more (%s)", grows), "rule");
    if (has_choice(point->workload))
        add_row(all, of, "types", policy->flags & CS_FORECASTS
                    ? "where a phase is soonest over, by forecast"
                    : "the first of `types:` (else of `nodes:`) that has room",
                "rule");
    if (workload_has_choices(point->workload))
        add_row(all, of, "hardware", describe_hardware(point->policy[p]), "rule");
    if (workload_states_priority(point->workload) &&
        (policy->flags & CS_ASKS_PRIORITY || registry_find(policy->name) == policy))
        add_row(all, of, "priority", policy->flags & CS_ASKS_PRIORITY
                    ? "jobs of larger priority go first"
                    : "it does not look at the priority of jobs", "rule");
    if (policy->flags & CS_HOMES)
        add_homes(all, point, point->policy[p], of);
}

/* ---- jobs, prices ------------------------------------------------------- */

/* What recipes assumed of each kind of job (workload_notes). */
static void add_jobs(struct rows *all, const struct experiment_point *point,
                     const char *under)
{
    for (size_t i = 0; i < workload_form_count(point->workload); i++) {
        struct workload_note note[NOTES_MAX];
        size_t count = workload_notes(all->arena, point->workload, i, note,
                                      NOTES_MAX);
        const char *of = text_format(all->arena, "job %s",
                                     workload_form(point->workload, i)->name);
        for (size_t k = 0; k < count; k++)
            add_under(all, of, under, note[k].key, note[k].value,
                      note[k].said ? "file" : "default");
    }
}

/* A price that nobody wrote may come from the catalogue; its tier and date say how
 * far to trust it. */
static void add_price(struct rows *all, const struct node_group *group,
                      const char *under)
{
    const struct price *tariff = group->tariff;
    const char *of = text_format(all->arena, "nodes %s", group->name);
    const char *value;

    if (group->price != NULL)
        value = "changes over time";
    else if (tariff != NULL)
        value = text_format(all->arena, "%.6g USD/h a node: %s of the "
                            "catalogue (%s), tier %s, as of %s%s",
                            group->usd_per_h, price_kind_choices[tariff->kind],
                            tariff->name, price_tier_choices[tariff->tier],
                            tariff->as_of[0] == '\0' ? "no date" : tariff->as_of,
                            price_is_assumption(tariff) ? ": an assumption"
                                                        : "");
    else
        value = text_format(all->arena, "%.6g USD/h a node",
                            group->usd_per_h);
    if (group->price_said)
        add_under(all, of, under, "price", value, "file");
    else if (tariff != NULL)
        add_under(all, of, under, "price", value, "default");
    else
        add_under(all, of, under, "price", "none: it costs nothing", "default");
}

/* A CPU of an older PCIe than its GPUs slows each slot (cluster_group.c). */
static void add_slots(struct rows *all, const struct node_group *group, const char *under)
{
    const struct gpu_type *gpu = group->gpu;

    if (gpu == NULL || group->cpu == NULL || group->pcie_bps >= gpu->pcie_bps)
        return;
    assert(group->cpu->pcie != NULL);
    add_under(all, text_format(all->arena, "nodes %s", group->name), under, "pcie",
              text_format(all->arena, "%.4g GB/s a slot, as the CPU decides: %s has %s, and "
                          "%s has %s", group->pcie_bps / 1e9, group->cpu->name,
                          group->cpu->pcie, gpu->name, gpu->pcie), "default");
}

/* Whole jobs know no checkpoint of their own, so without `checkpoint` of failures
 * they begin anew. */
static void add_failures(struct rows *all, const struct experiment_point *point)
{
    const struct outage_spec *failures = point->cluster->failures;

    if (failures == NULL || failures->checkpoint_ns > 0)
        return;
    for (uint32_t f = 0; f < workload_form_count(point->workload); f++)
        if (strcmp(workload_form(point->workload, f)->recipe, "trace") == 0) {
            add_row(all, "failures", "checkpoint", "none: an interrupted job of "
                    "known length begins anew", "default");
            return;
        }
}

/* A stated length says nothing about types of GPU; `rates` would. */
static void add_lengths(struct rows *all, const struct experiment_point *point,
                        const char *under)
{
    for (size_t i = 0; i < workload_form_count(point->workload); i++) {
        const struct job_form *form = workload_form(point->workload, i);

        if (strcmp(form->recipe, "trace") == 0 && !form->paced &&
            form->role[0].gpu_type_count > 1)
            add_under(all, text_format(all->arena, "job %s", form->name), under, "length",
                      "the same on every type of GPU: `rates:` is not given", "default");
    }
}

/* Appends the tokens that a replica's KV cache holds on one type of GPU, unless an earlier
 * group of nodes has that type. */
static const char *add_room_on(struct arena *arena, const struct cluster_spec *cluster, uint32_t g,
                               const struct serve_law *law, const char *text)
{
    const struct gang gang = { .gpu = cluster->group[g].gpu, .gpus = law->tp, .nodes = 1 };

    for (uint32_t i = 0; i < g; i++)
        if (cluster->group[i].gpu == gang.gpu)
            return text;
    return text_format(arena, "%s%s%.0f on %s", text, text[0] != '\0' ? ", " : "",
                       serve_blocks_max(law, &gang, 0) * SERVE_BLOCK_TOKENS, gang.gpu->name);
}

/* For how many tokens the KV cache of a replica on GPUs has room, where the file leaves
 * `kv_tokens` out: it bounds how many requests are at work. */
static void add_cache_room(struct rows *all, const struct experiment_point *point,
                           const struct service_spec *spec, const char *under)
{
    const struct serve_side_spec *side = &spec->side[SERVE_GPU];
    const struct cluster_spec *cluster = point->cluster;
    const char *rooms = "";

    if (side->form == NULL || side->law.kind != SERVE_GENERATE || side->law.kv_tokens > 0)
        return;
    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct gpu_type *gpu = cluster->group[g].gpu;

        if (gpu != NULL && gpu->memory_bytes > 0 &&
            job_role_takes_type(&side->form->role[0], gpu->index))
            rooms = add_room_on(all->arena, cluster, g, &side->law, rooms);
    }
    if (rooms[0] != '\0')
        add_under(all, text_format(all->arena, "service %s", spec->name), under, "kv_tokens",
                  text_format(all->arena, "%s: what 0.9 of the memory leaves beside weights and "
                              "3.5 GB", rooms), "default");
}

/* How long a new replica of a service takes before it answers, where the file leaves
 * `process_start` out. */
static void add_services(struct rows *all, const struct experiment_point *point,
                         const char *under)
{
    static const char *const key[SERVE_SIDES] = {
        [SERVE_CPU] = "cpu.process_start", [SERVE_GPU] = "gpu.process_start",
    };

    for (size_t i = 0; i < workload_service_count(point->workload); i++) {
        const struct service_entry *entry = workload_service(point->workload, i);
        const struct service_spec *spec = &entry->spec;
        const char *of = text_format(all->arena, "service %s", spec->name);

        for (int side = 0; side < SERVE_SIDES; side++) {
            const struct job_form *form = spec->side[side].form;
            double s = form != NULL ? form->role[0].start_s : 0;
            if (form != NULL && !entry->start_said[side])
                add_under(all, of, under, key[side],
                          text_format(all->arena, "%g s, and the bytes of its weights", s),
                          "default");
        }
        add_cache_room(all, point, spec, under);
    }
}

/* What a cluster and a workload assume. */
static void add_world(struct rows *all, const struct experiment_point *point,
                      const char *under)
{
    add_jobs(all, point, under);
    add_services(all, point, under);
    add_lengths(all, point, under);
    add_failures(all, point);
    for (uint32_t g = 0; g < point->cluster->group_count; g++) {
        add_price(all, &point->cluster->group[g], under);
        add_slots(all, &point->cluster->group[g], under);
    }
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
            add_row(all, of, conf_key(entry, i), conf_flow(all->arena, value), "tuned");
    }
    for (size_t i = 0; with != NULL && i < conf_count(with); i++)
        add_row(all, of, text_format(all->arena, "with %s", conf_key(with, i)),
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
        add_world(&all, point, "");
        for (uint32_t p = 0; p < experiment->policy_count; p++)
            if (point->met[p] != point)
                add_world(&all, point->met[p],
                          text_format(arena, " under %s", experiment->policy_name[p]));
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * default_world.c - what a cluster and a workload take for granted, as rows of defaults.
 */
#include "experiments/preflight/default_rows.h"

#include <assert.h>
#include <string.h>

#include "experiments/spec/experiment.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/laws/decode.h"
#include "models/laws/outage.h"
#include "models/serving/serve.h"
#include "models/serving/service.h"
#include "models/types/gang.h"
#include "sim/base/arena.h"
#include "sim/text/paths.h"
#include "workloads/requests/services.h"
#include "workloads/source.h"

/* More notes than a recipe makes on one kind of job. */
#define NOTES_MAX 32u

/* An earlier point of a sweep may have added an equal row. */
void default_rows_add(struct rows *all, const char *of, const char *key, const char *value,
                      const char *from)
{
    for (uint32_t i = 0; i < all->count; i++)
        if (strcmp(all->row[i].of, of) == 0 &&
            strcmp(all->row[i].key, key) == 0 &&
            strcmp(all->row[i].value, value) == 0)
            return;
    ARENA_ADD(all->arena, all->row, all->count, all->room,
              (struct default_row) { of, key, value, from });
}

void default_rows_add_under(struct rows *all, const char *of, const char *under, const char *key,
                            const char *value, const char *from)
{
    for (uint32_t i = 0; under[0] != '\0' && i < all->count; i++)
        if (strcmp(all->row[i].of, of) == 0 && strcmp(all->row[i].key, key) == 0 &&
            strcmp(all->row[i].value, value) == 0)
            return;
    default_rows_add(all, text_format(all->arena, "%s%s", of, under), key, value, from);
}

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
            default_rows_add_under(all, of, under, note[k].key, note[k].value,
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
        default_rows_add_under(all, of, under, "price", value, "file");
    else if (tariff != NULL)
        default_rows_add_under(all, of, under, "price", value, "default");
    else
        default_rows_add_under(all, of, under, "price", "none: it costs nothing", "default");
}

/* A CPU of an older PCIe than its GPUs slows each slot (cluster_group.c). */
static void add_slots(struct rows *all, const struct node_group *group, const char *under)
{
    const struct gpu_type *gpu = group->gpu;

    if (gpu == NULL || group->cpu == NULL || group->pcie_bps >= gpu->pcie_bps)
        return;
    assert(group->cpu->pcie != NULL);
    const char *of = text_format(all->arena, "nodes %s", group->name);
    const char *slot = text_format(all->arena, "%.4g GB/s a slot, as the CPU decides: %s has %s, "
                                   "and %s has %s", group->pcie_bps / 1e9, group->cpu->name,
                                   group->cpu->pcie, gpu->name, gpu->pcie);
    default_rows_add_under(all, of, under, "pcie", slot, "default");
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
            default_rows_add(all, "failures", "checkpoint", "none: an interrupted job of "
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
            default_rows_add_under(all, text_format(all->arena, "job %s", form->name), under,
                                   "length", "the same on every type of GPU: `rates:` is not given",
                                   "default");
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
    if (rooms[0] == '\0')
        return;
    rooms = text_format(all->arena, "%s: what 0.9 of the memory leaves beside weights and 3.5 GB",
                        rooms);
    default_rows_add_under(all, text_format(all->arena, "service %s", spec->name), under,
                           "kv_tokens", rooms, "default");
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

            if (form == NULL || entry->start_said[side])
                continue;
            const char *start = text_format(all->arena, "%g s, and the bytes of its weights",
                                            form->role[0].start_s);
            default_rows_add_under(all, of, under, key[side], start, "default");
        }
        add_cache_room(all, point, spec, under);
        if (spec->side[SERVE_GPU].form != NULL && entry->generates && !entry->ahead_said)
            default_rows_add_under(all, of, under, "gpu.async_scheduling", DECODE_HOST_WAITS,
                                   "default");
    }
}

/* What a cluster and a workload assume. */
void default_rows_add_world(struct rows *all, const struct experiment_point *point,
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

/* Adds up the GPUs of a job's roles, and stores how many roles have any. */
static uint32_t count_gpus(const struct job_form *form, uint32_t *roles)
{
    uint32_t gpus = 0;

    *roles = 0;
    for (uint32_t i = 0; i < form->role_count; i++) {
        gpus += form->role[i].gpus;
        *roles += form->role[i].gpus > 0;
    }
    return gpus;
}

void default_rows_add_layouts(struct rows *all, const struct experiment_point *point,
                              const struct experiment_point *own, const char *under)
{
    assert(under[0] != '\0');
    for (size_t i = 0; i < workload_form_count(point->workload) &&
                       i < workload_form_count(own->workload); i++) {
        const struct job_form *form = workload_form(point->workload, i);
        uint32_t roles, own_roles;
        uint32_t gpus = count_gpus(form, &roles);
        uint32_t own_gpus = count_gpus(workload_form(own->workload, i), &own_roles);

        if (roles != own_roles && gpus != own_gpus)
            default_rows_add_under(all, text_format(all->arena, "job %s", form->name), under,
                                   "GPUs", text_format(all->arena, "%u in all, %u elsewhere",
                                                       own_gpus, gpus), "rule");
    }
}

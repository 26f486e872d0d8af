/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * provenance.c - writes provenance.json.
 */
#include "experiments/results/provenance.h"

#include <gsl/gsl_version.h>
#include <inttypes.h>
#include <stdio.h>
#include <yaml.h>

#include "experiments/preflight/defaults.h"
#include "experiments/preflight/fingerprints.h"
#include "experiments/preflight/load_print.h"
#include "experiments/preflight/plans.h"
#include "experiments/results/grid.h"
#include "experiments/spec/experiment.h"
#include "experiments/works/works.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/sheet.h"

#ifndef CLUSTERSIM_FLAGS
#define CLUSTERSIM_FLAGS ""
#endif

const char *provenance_compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__;
#elif defined(__GNUC__)
    return "gcc " __VERSION__;
#else
    return "unknown";
#endif
}

/* Writes a key and its text, with a comma behind it: another key must follow. */
static void put_text(struct out *out, const char *key, const char *text)
{
    out_printf(out, "  \"%s\": ", key);
    out_json_text(out, text);
    out_text(out, ",\n");
}

/* Writes a time in seconds; null for a time that never comes. */
static void put_time(struct out *out, const char *key, int64_t ns)
{
    char text[40] = "null";

    if (ns != CLOCK_NEVER_NS)
        clock_format_s(ns, text, sizeof text);
    out_printf(out, "  \"%s\": %s,\n", key, text);
}

/* The words of the command line as a list, so that it can be given again as it was. */
static void put_command(struct out *out,
                        const struct provenance_command *command)
{
    out_text(out, "  \"command\": [");
    for (int i = 0; i < command->count; i++) {
        out_text(out, i == 0 ? "" : ", ");
        out_json_text(out, command->word[i]);
    }
    out_text(out, "],\n");
}

/* The swept keys, as files write them and as labels of points call them. */
static void put_sweep(struct out *out, const struct experiment *experiment)
{
    out_text(out, "  \"sweep\": [");
    for (uint32_t i = 0; i < experiment->swept_count; i++) {
        out_text(out, i == 0 ? "{\"key\": " : ", {\"key\": ");
        out_json_text(out, experiment->swept[i].key);
        out_text(out, ", \"label\": ");
        out_json_text(out, experiment->swept[i].label);
        out_text(out, "}");
    }
    out_text(out, "],\n");
}

/* Writes what each entry of `policies` was at the first point: its policy,
 * semantics, limits of its process, if it knows true run times, and what its
 * plan leaves out. */
static void put_policies(struct out *out, const struct experiment *experiment)
{
    out_text(out, "  \"policies\": [\n");
    for (uint32_t i = 0; i < experiment->policy_count; i++) {
        const struct host_policy *p = experiment->point[0].policy[i];
        struct err plan = { 0 };

        out_text(out, "    {\"name\": ");
        out_json_text(out, experiment->policy_name[i]);
        out_text(out, ", \"policy\": ");
        out_json_text(out, p->policy->name);
        if (p->limits != NULL) {
            out_text(out, ", \"limits\": ");
            out_json_text(out, p->limits);
        }
        if (plans_warn(experiment, i, &plan)) {
            out_text(out, ", \"warning\": ");
            out_json_text(out, plan.text);
        }
        out_text(out, ", \"semantics\": ");
        out_json_text(out, p->semantics == NULL ? "" : p->semantics);
        out_printf(out, ", \"clairvoyant\": %s}%s\n",
                   host_policy_flags(p) & CS_CLAIRVOYANT ? "true" : "false",
                   i + 1 < experiment->policy_count ? "," : "");
    }
    out_text(out, "  ],\n");
}

/* Writes a table as a list of objects, and frees it. */
static void put_sheet(struct out *out, struct sheet *sheet)
{
    sheet_json(sheet, out);
    sheet_free(sheet);
}

/* Has an earlier policy a group of that name at that price?  Then it is not
 * told again. */
static bool is_told(const struct experiment_point *point, uint32_t policy,
                    const struct node_group *group)
{
    for (uint32_t p = 0; p < policy; p++) {
        const struct cluster_spec *spec = point->met[p]->cluster;

        for (uint32_t g = 0; g < spec->group_count; g++)
            if (spec->group[g].tariff != NULL &&
                strcmp(spec->group[g].name, group->name) == 0 &&
                strcmp(spec->group[g].tariff->name, group->tariff->name) == 0)
                return true;
    }
    return false;
}

/* Adds a row for each group whose price is the catalogue's, and was not told yet. */
static void add_prices(struct sheet *sheet, const struct experiment_point *point,
                       uint32_t policy)
{
    const struct cluster_spec *spec = point->met[policy]->cluster;

    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct price *tariff = spec->group[g].tariff;

        if (tariff == NULL || is_told(point, policy, &spec->group[g]))
            continue;
        sheet_cell(sheet, "%s", spec->group[g].name);
        sheet_cell(sheet, "%s", tariff->name);
        sheet_cell(sheet, "%s", price_tier_choices[tariff->tier]);
        sheet_cell(sheet, "%s", tariff->as_of);
        sheet_cell(sheet, price_is_assumption(tariff) ? "true" : "false");
    }
}

/* Writes which of the catalogue's prices each group of nodes pays, at the first
 * point and in each cluster that a policy meets there.  A price that the file
 * itself states is not in the list. */
static void put_prices(struct out *out, const struct experiment *experiment)
{
    const struct experiment_point *point = &experiment->point[0];
    struct sheet *sheet = sheet_new("nodes:0\tprice:0\ttier:0\tas_of:0\t"
                                    "assumption:1");

    for (uint32_t p = 0; p < experiment->policy_count; p++)
        add_prices(sheet, point, p);
    out_text(out, "  \"prices\": ");
    put_sheet(out, sheet);
    out_text(out, ",\n");
}

/* Writes the names of the policies that meet another cluster, if there are any. */
static void put_others(struct out *out, const struct experiment *experiment,
                       const struct experiment_point *point,
                       const struct cluster_spec *spec)
{
    bool begun = false;

    for (uint32_t p = 0; p < experiment->policy_count; p++) {
        if (point->met[p]->cluster == spec)
            continue;
        out_text(out, begun ? ", " : ", \"not_of\": [");
        out_json_text(out, experiment->policy_name[p]);
        begun = true;
    }
    out_text(out, begun ? "]" : "");
}

/* Writes the cluster node by node, of the middle point and as the baseline
 * meets it: charts of single trials show that one. */
static void put_cluster(struct out *out, const struct experiment *experiment)
{
    const struct experiment_point *point =
        &experiment->point[experiment->point_count / 2];
    uint32_t first = experiment->baseline == UINT32_MAX ? 0 : experiment->baseline;
    const struct cluster_spec *spec = point->met[first]->cluster;
    struct sheet *sheet = sheet_new("name:0\tpool:0\tfirst:1\tcount:1\tgpus:1\t"
                                    "gpu:0");

    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];

        sheet_cell(sheet, "%s", group->name == NULL ? "" : group->name);
        sheet_cell(sheet, "%s", spec->pool_name[group->pool]);
        sheet_cells(sheet, "%u\t%u\t%u", group->first_node,
                    group->node_count, group->gpus);
        sheet_cell(sheet, "%s", group->gpu == NULL ? "" : group->gpu->name);
    }
    out_text(out, "  \"cluster\": {\"point\": ");
    out_json_text(out, point->label);
    put_others(out, experiment, point, spec);
    out_text(out, ", \"nodes\": ");
    put_sheet(out, sheet);
    out_text(out, "},\n");
}

/* Writes the keys of the works that the experiment rests on. */
static void put_cites(struct out *out, const struct experiment *experiment)
{
    const struct work *work;
    bool begun = false;

    out_text(out, "  \"cites\": [");
    for (unsigned i = 0; (work = work_at(i)) != NULL; i++)
        if (work_is_used(work, experiment)) {
            out_text(out, begun ? ", " : "");
            out_json_text(out, work->key);
            begun = true;
        }
    out_text(out, "],\n");
}

/* Files that were read, with the XXH64 of their bytes; the experiment's own is the
 * first. */
static void put_inputs(struct out *out, const struct experiment *experiment)
{
    struct sheet *sheet = sheet_new("file:0\txxh64:0");

    for (size_t i = 0; i < experiment->input_count; i++) {
        sheet_cell(sheet, "%s", experiment->input[i].path);
        sheet_cell(sheet, "%016" PRIx64, experiment->input[i].hash);
    }
    out_text(out, "  \"inputs\": ");
    put_sheet(out, sheet);
    out_text(out, "\n");
}

/* The order of members is that in which people read: the program, the experiment, its time, what
 * was swept and run, and what the results follow from. */
bool provenance_write(struct arena *arena, const struct folder *dir,
                      const struct experiment *experiment, const struct grid *grid,
                      const struct provenance_command *command,
                      struct err *err)
{
    struct out *out = out_in(arena, dir, "provenance.json", err);

    if (out == NULL)
        return false;
    out_text(out, "{\n");
    put_text(out, "program", "clustersim");
    put_text(out, "version", CLUSTERSIM_VERSION);
    put_text(out, "compiler", provenance_compiler());
    put_text(out, "flags", CLUSTERSIM_FLAGS);
    out_printf(out, "  \"program_xxh64\": \"%016" PRIx64 "\",\n",
               experiment->program_hash);
    put_text(out, "gsl", GSL_VERSION);
    put_text(out, "libyaml", yaml_get_version_string());
    put_command(out, command);
    put_text(out, "experiment", experiment->name);
    put_text(out, "description",
             experiment->description == NULL ? "" : experiment->description);
    put_text(out, "file", experiment->path);
    out_printf(out, "  \"seed\": %" PRIu64 ",\n  \"seeds\": %u,\n"
               "  \"points\": %u,\n  \"trials\": %u,\n"
               "  \"detail_seeds\": %u,\n", experiment->seed,
               experiment->seeds, experiment->point_count, experiment_run_count(experiment),
               experiment->detail_seeds);
    if (experiment->stop.rule != LOOKS_NONE) {
        put_text(out, "seeds_until", experiment->stop.text);
        out_printf(out, "  \"seeds_at_most\": %u,\n", experiment->stop.at_most);
        put_text(out, "seeds_why", experiment->stop.why);
    }
    put_time(out, "until_s", experiment->until_ns);
    put_time(out, "warmup_s", experiment->warmup_ns);
    put_text(out, "baseline", experiment->baseline == UINT32_MAX ? ""
             : experiment->policy_name[experiment->baseline]);
    put_sweep(out, experiment);
    put_policies(out, experiment);
    put_prices(out, experiment);
    put_cluster(out, experiment);
    out_text(out, "  \"defaults\": ");
    defaults_write(arena, experiment, out);
    out_text(out, ",\n  \"load\": ");
    load_write(arena, experiment, out);
    out_text(out, ",\n  \"jobs\": ");
    fingerprints_put(out, grid->jobs);
    out_text(out, ",\n");
    put_cites(out, experiment);
    put_inputs(out, experiment);
    out_text(out, "}\n");
    return out_close(out, err);
}

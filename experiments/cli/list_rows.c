/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list_rows.c - lists as tables, for programs: people get them as text (list.c).
 */
#include "experiments/cli/list_rows.h"

#include "experiments/import/requests.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/place.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/registry/semantics.h"
#include "sim/text/sheet.h"
#include "workloads/formats/import.h"
#include "workloads/recipes/recipe.h"
#include "workloads/requests/request_trace.h"
#include "workloads/series/series.h"

struct sheet *list_policy_rows(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:0\tsummary:0\tclairvoyant:1");
    const struct cs_policy *p;

    (void)catalogue;
    for (size_t i = 0; (p = registry_at(i)) != NULL; i++)
        sheet_cells(sheet, "%s\t%s\t%d", p->name, p->summary == NULL ? "" : p->summary,
                    (p->flags & CS_CLAIRVOYANT) != 0);
    return sheet;
}

struct sheet *list_instance_rows(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new(
        "name:0\tof:0\tGPUs:1\tmemory GB:1\tCPU:0\tNICs:1\tNIC:0\tdrives:1\t"
        "drive TB:1\tlabel:0");

    for (size_t i = 0; i < catalogue_instance_count(catalogue); i++) {
        const struct instance *n = catalogue_instance_at(catalogue, i);

        sheet_cells(sheet, "%s\t%s\t%u", n->name, n->of, n->gpus);
        if (n->memory_bytes > 0)
            sheet_cell(sheet, "%.9g", n->memory_bytes / 1e9);
        else                                    /* it follows from the GPU */
            sheet_cell(sheet, "%s", "");
        sheet_cells(sheet, "%s\t%u\t%s\t%u\t%g\t%s", n->cpu, n->nics, n->nic, n->drives,
                    n->drive_bytes / 1e12, n->label);
    }
    return sheet;
}

struct sheet *list_format_rows(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:0\tuse:0\tsummary:0");
    const struct import_format *f;
    const struct series_format *s;
    const char *name, *meaning;

    (void)catalogue;
    for (size_t i = 0; (f = import_format_at(i)) != NULL; i++)
        sheet_cells(sheet, "%s\tjobs\t%s", f->name, f->summary);
    for (size_t i = 0; (s = series_format_at(i)) != NULL; i++)
        sheet_cells(sheet, "%s\tseries\t%s", s->name, s->summary);
    for (size_t i = 0; (name = request_format_at(i, &meaning)) != NULL; i++)
        sheet_cells(sheet, "%s\trequests\t%s", name, meaning);
    return sheet;
}

struct sheet *list_recipe_rows(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:0\tsummary:0");

    (void)catalogue;
    for (size_t i = 0; i < recipe_count; i++)
        sheet_cells(sheet, "%s\t%s", recipe_table[i]->name, recipe_table[i]->summary);
    return sheet;
}

struct sheet *list_placement_rows(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:0\tsummary:0\tbad:0\tsource:0");

    (void)catalogue;
    for (int rule = 0; rule < PLACE_RULE_COUNT; rule++) {
        const struct place_info *info = place_info((enum place_rule)rule);

        sheet_cells(sheet, "%s\t%s\t%s\t%s", info->name, info->summary, info->bad,
                    info->source);
    }
    return sheet;
}

/* The presets; `clustersim schema` has the keys that they set. */
struct sheet *list_semantics_rows(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:0\tpolicy:0\tjct_mean_s:1\tkeys:0\tsummary:0");
    const struct semantics_row *row;

    (void)catalogue;
    for (size_t i = 0; (row = semantics_at(i)) != NULL; i++)
        sheet_cells(sheet, "%s\t%s\t%s\t%s\t%s", row->preset, row->policy, row->effect,
                    row->keys, row->meaning);
    return sheet;
}

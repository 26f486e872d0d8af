/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * names.c - lists of what registries and tables of this program hold.
 */
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/import/machines.h"
#include "experiments/import/requests.h"
#include "experiments/lists/lists.h"
#include "experiments/lists/parts.h"
#include "experiments/own/own_metrics.h"
#include "models/cluster/place.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/registry/rules.h"
#include "policies/registry/semantics.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"
#include "sim/text/table.h"
#include "workloads/formats/import.h"
#include "workloads/recipes/recipe.h"
#include "workloads/requests/request_trace.h"
#include "workloads/series/series.h"

static void print_policies(FILE *out, const struct catalogue *catalogue)
{
    const struct cs_policy *p;

    (void)catalogue;
    for (size_t i = 0; (p = registry_at(i)) != NULL; i++)
        fprintf(out, "%-10s %s%s\n", p->name,
                p->summary == NULL ? "" : p->summary,
                p->flags & CS_CLAIRVOYANT ? " (knows true run times)" : "");
}

/* In the order of policies.def, as `list policies` prints them. */
static struct sheet *policy_rows(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:0\tsummary:0\tclairvoyant:1");
    const struct cs_policy *p;

    (void)catalogue;
    for (size_t i = 0; (p = registry_at(i)) != NULL; i++)
        sheet_cells(sheet, "%s\t%s\t%d", p->name, p->summary == NULL ? "" : p->summary,
                    (p->flags & CS_CLAIRVOYANT) != 0);
    return sheet;
}

#define CSV_MEANING "comma-separated, columns named under `columns:`; plain, gzip or zstd"
#define SWF_MEANING \
    "Standard Workload Format of the Parallel Workloads Archive; plain, gzip or zstd"

/* Prints formats in groups, by what they may be used for. */
static void print_formats(FILE *out, const struct catalogue *catalogue)
{
    const struct series_format *s;
    const struct import_format *f;
    const struct machines_format *m;
    const char *name, *meaning;

    (void)catalogue;
    fputs("in a workload (trace.format)\n"
          "csv        " CSV_MEANING "\n"
          "swf        " SWF_MEANING "\n\n"
          "of `clustersim import FORMAT FILE`, and in a workload; plain or "
          "gzip\n", out);
    for (size_t i = 0; (f = import_format_at(i)) != NULL; i++)
        fprintf(out, "%-11s %s\n", f->name, f->summary);
    fputs("\nof `clustersim import FORMAT FILE`, series of values over time\n",
          out);
    for (size_t i = 0; (s = series_format_at(i)) != NULL; i++)
        fprintf(out, "%-11s %s\n", s->name, s->summary);
    fputs("\nof `clustersim import FORMAT FILE`, and of a service "
          "(requests.trace.format)\n", out);
    for (size_t i = 0; (name = request_format_at(i, &meaning)) != NULL; i++)
        fprintf(out, "%-11s %s\n", name, meaning);
    fputs("\nof `clustersim import FORMAT FILE`, nodes that become a cluster\n",
          out);
    for (size_t i = 0; (m = machines_format_at(i)) != NULL; i++)
        fprintf(out, "%-11s %s\n", m->name, m->summary);
    fputs("\nof `clustersim import --skip REASON`\n", out);
    for (int r = 0; r < IMPORT_REASONS; r++) {
        name = import_reason_name((enum import_reason)r, &meaning);
        fprintf(out, "%-21s %s\n", name, meaning);
    }
    fprintf(out, "%-21s %s\n", IMPORT_NO_OUTPUT, "of requests: nothing is "
            "generated");
}

/* All formats of files by others, and what each is read for: jobs, series, requests or
 * nodes. */
static struct sheet *format_rows(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:0\tuse:0\tsummary:0");
    const struct import_format *f;
    const struct series_format *s;
    const struct machines_format *m;
    const char *name, *meaning;

    (void)catalogue;
    sheet_cells(sheet, "csv\tjobs\t" CSV_MEANING);
    sheet_cells(sheet, "swf\tjobs\t" SWF_MEANING);
    for (size_t i = 0; (f = import_format_at(i)) != NULL; i++)
        sheet_cells(sheet, "%s\tjobs\t%s", f->name, f->summary);
    for (size_t i = 0; (s = series_format_at(i)) != NULL; i++)
        sheet_cells(sheet, "%s\tseries\t%s", s->name, s->summary);
    for (size_t i = 0; (name = request_format_at(i, &meaning)) != NULL; i++)
        sheet_cells(sheet, "%s\trequests\t%s", name, meaning);
    for (size_t i = 0; (m = machines_format_at(i)) != NULL; i++)
        sheet_cells(sheet, "%s\tnodes\t%s", m->name, m->summary);
    return sheet;
}

/* Returns what a metric means; of an experiment's own, its expression and what
 * that is over. */
static const char *format_meaning(struct arena *arena, const struct metric_info *info)
{
    return info->expression == NULL ? info->help
         : text_format(arena, "%s%s%s, over %s", info->help,
                       info->help[0] == '\0' ? "" : ": ", info->expression,
                       own_metric_over(info->of));
}

struct sheet *lists_metrics(const struct metric_set *set)
{
    struct sheet *sheet = sheet_new("name:-26\tunit:-9\tbetter:-7\tmeaning:0");
    struct arena *arena = arena_new(1 << 12);

    for (unsigned m = 0; m < metric_count(set); m++) {
        const struct metric_info *i = metric_info(set, (enum metric)m);

        sheet_cells(sheet, "%s\t%s\t%s\t%s", i->name, i->unit,
                    i->better > 0 ? "more" : i->better < 0 ? "less" : "-",
                    format_meaning(arena, i));
    }
    arena_free(arena);
    return sheet;
}

static struct sheet *metric_rows(const struct catalogue *catalogue)
{
    (void)catalogue;
    return lists_metrics(NULL);
}

/* Every column of every table of a results folder, with its unit. */
static struct sheet *column_rows(const struct catalogue *catalogue)
{
    static const char *const type[] = {
        [TABLE_TEXT] = "text", [TABLE_COUNT] = "count", [TABLE_TIME] = "time",
        [TABLE_REAL] = "real"
    };
    struct sheet *sheet = sheet_new("table:-15\tcolumn:-26\ttype:-5\tunit:-11\tmeaning:0");
    const struct csv_kind *kind;

    (void)catalogue;
    for (size_t k = 0; (kind = csv_kind_at(k)) != NULL; k++)
        for (size_t c = 0; c < kind->count; c++)
            sheet_cells(sheet, "%s\t%s\t%s\t%s\t%s", kind->file, kind->columns[c].name,
                        type[kind->columns[c].type], csv_column_unit(kind, c),
                        kind->columns[c].help);
    return sheet;
}

static void print_recipes(FILE *out, const struct catalogue *catalogue)
{
    (void)catalogue;
    for (size_t i = 0; i < recipe_count; i++)
        fprintf(out, "%-12s %s\n", recipe_table[i]->name,
                recipe_table[i]->summary);
}

static struct sheet *recipe_rows(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:0\tsummary:0");

    (void)catalogue;
    for (size_t i = 0; i < recipe_count; i++)
        sheet_cells(sheet, "%s\t%s", recipe_table[i]->name, recipe_table[i]->summary);
    return sheet;
}

/* Presets with what they mean, and what they change on one trace. */
static void print_presets(FILE *out)
{
    const struct semantics_row *row;

    fputs("\npresets, as in {policy: srtf, semantics: helios}; JCT: the mean of "
          "the 480 jobs of\nworkloads/trace_c480.yaml on 8 nodes of 8 GPUs\n\n", out);
    for (size_t i = 0; (row = semantics_at(i)) != NULL; i++)
        fprintf(out, "%-16s %-11s %10s s  %s\n%-16s %s\n", row->preset,
                row->policy, row->effect, row->keys, "", row->meaning);
}

/* The keys of a policy's rules with their words; `policy`, `name` and `weights` are no
 * rules of the host. */
static void print_semantics(FILE *out, const struct catalogue *catalogue)
{
    (void)catalogue;
    for (size_t i = 0; i < host_rules_schema.count; i++) {
        const struct conf_field *f = &host_rules_schema.fields[i];

        if (strcmp(f->key, "policy") == 0 || strcmp(f->key, "name") == 0 ||
            strcmp(f->key, "weights") == 0)
            continue;
        fprintf(out, "%-12s %s\n", f->key, f->help);
        for (size_t c = 0; f->type == CONF_CHOICE && f->choices[c] != NULL;
             c++)
            fprintf(out, "%-12s   %s%s\n", "", f->choices[c],
                    f->fallback != NULL &&
                    strcmp(f->fallback, f->choices[c]) == 0 ? " (default)"
                                                            : "");
    }
    print_presets(out);
}

/* The presets; `clustersim schema` has the keys that they set. */
static struct sheet *semantics_rows(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:0\tpolicy:0\tjct_mean_s:1\tkeys:0\tsummary:0");
    const struct semantics_row *row;

    (void)catalogue;
    for (size_t i = 0; (row = semantics_at(i)) != NULL; i++)
        sheet_cells(sheet, "%s\t%s\t%s\t%s\t%s", row->preset, row->policy, row->effect,
                    row->keys, row->meaning);
    return sheet;
}

static void print_placements(FILE *out, const struct catalogue *catalogue)
{
    (void)catalogue;
    for (int rule = 0; rule < PLACE_RULE_COUNT; rule++) {
        const struct place_info *info = place_info((enum place_rule)rule);

        fprintf(out, "%-14s  %s\n%-14s  where it is bad: %s\n%-14s  source: "
                "%s\n", info->name, info->summary, "", info->bad, "",
                info->source);
    }
}

/* In the order of enum place_rule, which the table of rules has too. */
static struct sheet *placement_rows(const struct catalogue *catalogue)
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

const struct list lists_of_names[] = {
    { "policies", print_policies, policy_rows, NULL, false, NULL },
    { "formats", print_formats, format_rows, NULL, true, NULL },
    { "metrics", NULL, metric_rows, NULL, false, NULL },
    { "columns", NULL, column_rows, NULL, false, NULL },
    { "recipes", print_recipes, recipe_rows, NULL, true,
      "name         what the job does" },
    { "semantics", print_semantics, semantics_rows, NULL, false, NULL },
    { "placements", print_placements, placement_rows, NULL, false, NULL },
    { 0 },
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * list.c - `clustersim list`: the names that files may use.
 *
 * One function a list, in a table by its word; each prints what a registry or
 * the catalogue holds.  --json prints the rows for programs.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/cli/list_rows.h"
#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/import/machines.h"
#include "experiments/import/requests.h"
#include "experiments/own/own_metrics.h"
#include "experiments/run/trial.h"
#include "experiments/spec/experiment.h"
#include "models/catalogue/catalogue.h"
#include "models/catalogue/goodput.h"
#include "models/cluster/place.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "policies/registry/rules.h"
#include "policies/registry/semantics.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"
#include "sim/text/out.h"
#include "sim/text/sheet.h"
#include "sim/text/table.h"
#include "workloads/formats/import.h"
#include "workloads/recipes/recipe.h"
#include "workloads/requests/request_trace.h"
#include "workloads/series/series.h"

static void list_policies(FILE *out, const struct catalogue *catalogue)
{
    const struct cs_policy *p;

    (void)catalogue;
    for (size_t i = 0; (p = registry_at(i)) != NULL; i++)
        fprintf(out, "%-10s %s%s\n", p->name,
                p->summary == NULL ? "" : p->summary,
                p->flags & CS_CLAIRVOYANT ? " (knows true run times)" : "");
}

static struct sheet *gpus_sheet(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:-12\tmemory GB:10\tGB/s:10\t"
                                    "BF16 TFLOPS:12\tTDP W:8\tlabel:0");

    for (size_t i = 0; i < catalogue_gpu_count(catalogue); i++) {
        const struct gpu_type *g = catalogue_gpu_at(catalogue, i);

        sheet_cells(sheet, "%s\t%.4g\t%.4g\t%.4g\t%.4g\t%s", g->name,
                  g->memory_bytes / 1e9, g->memory_bps / 1e9,
                  g->flops_peak[PRECISION_BF16] / 1e12, g->tdp_w, g->label);
    }
    return sheet;
}

static struct sheet *cpus_sheet(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:-22\tcores:6\tGHz:8\tGB/s:10\t"
                                    "TDP W:8\tlabel:0");

    for (size_t i = 0; i < catalogue_cpu_count(catalogue); i++) {
        const struct cpu_type *c = catalogue_cpu_at(catalogue, i);

        sheet_cells(sheet, "%s\t%u\t%.4g\t%.4g\t%.4g\t%s", c->name, c->cores,
                  c->clock_hz / 1e9, c->memory_bps / 1e9, c->tdp_w, c->label);
    }
    return sheet;
}

static struct sheet *links_sheet(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:-14\tkind:-9\tGB/s:10\t"
                                    "sustained GB/s:14\tlatency us:12\t"
                                    "label:0");

    for (size_t i = 0; i < catalogue_link_count(catalogue); i++) {
        const struct link_type *l = catalogue_link_at(catalogue, i);

        sheet_cells(sheet, "%s\t%s\t%.4g\t%.4g\t%.4g\t%s", l->name,
                  link_kind_choices[l->kind], l->bps / 1e9,
                  l->bps_sustained / 1e9, l->latency_s * 1e6, l->label);
    }
    return sheet;
}

static struct sheet *prices_sheet(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:-26\tof:-12\tkind:-10\ttier:-11\t"
                                    "USD/h:8\tas of:-11\tsource:0");

    for (size_t i = 0; i < catalogue_price_count(catalogue); i++) {
        const struct price *p = catalogue_price_at(catalogue, i);

        sheet_cells(sheet, "%s\t%s\t%s\t%s\t%.4g\t%s\t%s", p->name, p->of,
                  price_kind_choices[p->kind], price_tier_choices[p->tier],
                  p->usd_per_h, p->as_of, p->source);
    }
    return sheet;
}

static void list_instances(FILE *out, const struct catalogue *catalogue)
{
    fprintf(out, "%-16s %-12s %5s %10s %-12s %-14s %-14s  %s\n", "name", "of",
            "GPUs", "memory GB", "CPU", "NICs", "drives", "label");
    for (size_t i = 0; i < catalogue_instance_count(catalogue); i++) {
        const struct instance *n = catalogue_instance_at(catalogue, i);
        char memory[32] = "by GPU", nics[80], drives[80];

        if (n->memory_bytes > 0)
            snprintf(memory, sizeof memory, "%.4g", n->memory_bytes / 1e9);
        snprintf(nics, sizeof nics, "%ux%s", n->nics, n->nic);
        snprintf(drives, sizeof drives, "%ux%gTB", n->drives,
                 n->drive_bytes / 1e12);
        fprintf(out, "%-16s %-12s %5u %10s %-12s %-14s %-14s  %s\n", n->name,
                n->of, n->gpus, memory, n->cpu, nics, drives, n->label);
    }
}

/* Transformers. */
static struct sheet *llms_sheet(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:-20\tparams:10\tactive:10\tlayers:7"
                                    "\thidden:7\tcontext:9\tlabel:0");

    for (size_t i = 0; i < catalogue_llm_count(catalogue); i++) {
        const struct llm *m = catalogue_llm_at(catalogue, i);

        sheet_cells(sheet, "%s\t%.4gB\t%.4gB\t%u\t%u\t%u\t%s", m->name,
                  m->params / 1e9, m->params_active / 1e9, m->layers,
                  m->hidden, m->context_tokens, m->label);
    }
    return sheet;
}

/* Networks of other kinds, whose work is per sample. */
static struct sheet *nets_sheet(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:-20\tparams:10\tGFLOP:10\tlayers:7\t"
                      "label, and what a sample is:0");

    for (size_t i = 0; i < catalogue_net_count(catalogue); i++) {
        const struct net *n = catalogue_net_at(catalogue, i);
        double tables = n->table_rows * n->row_width;

        sheet_cells(sheet, "%s\t%.4gB\t%.4g\t%u\t%s: %s", n->name,
                  (n->params + tables) / 1e9, n->flops / 1e9, n->layers,
                  n->label, n->sample);
    }
    return sheet;
}

static void list_models(FILE *out, const struct catalogue *catalogue)
{
    sheet_close(llms_sheet(catalogue), out);
    fputc('\n', out);
    sheet_close(nets_sheet(catalogue), out);
}

static struct sheet *applications_sheet(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:-14\tMsamples:10\tbatch:6\t"
                                    "batch max:9\trestart:8\t"
                                    "label, and GPUs it is known on:0");

    for (size_t i = 0; i < catalogue_application_count(catalogue); i++) {
        const struct application *a = catalogue_application_at(catalogue, i);
        char gpus[512] = "";
        size_t used = 0;

        for (uint32_t s = 0; s < a->speed_count && used < sizeof gpus; s++)
            used += (size_t)snprintf(gpus + used, sizeof gpus - used, "%s %s",
                                     s > 0 ? "," : "", a->speed[s].gpu);
        sheet_cells(sheet, "%s\t%.4g\t%u\t%u\t%.0fs\t%s:%s", a->name,
                  a->work / 1e6, a->batch_first, a->batch_max,
                  (double)a->restart_ns / 1e9, a->label, gpus);
    }
    return sheet;
}

/* By what they may be used for. */
static void list_formats(FILE *out, const struct catalogue *catalogue)
{
    const struct series_format *s;
    const struct import_format *f;
    const struct machines_format *m;
    const char *name, *meaning;

    (void)catalogue;
    fputs("in a workload (trace.format)\n"
          "csv        comma-separated, columns named under `columns:`; plain "
          "or gzip\n"
          "swf        Standard Workload Format of the Parallel Workloads "
          "Archive; plain, gzip or zstd\n\n"
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

/* Returns what a metric means; of an experiment's own, its expression and what
 * that is over. */
static const char *format_meaning(struct arena *arena, const struct metric_info *info)
{
    return info->expression == NULL ? info->help
         : text_format(arena, "%s%s%s, over %s", info->help,
                       info->help[0] == '\0' ? "" : ": ", info->expression,
                       own_metric_over(info->of));
}

static struct sheet *set_sheet(const struct metric_set *set)
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

static struct sheet *metrics_sheet(const struct catalogue *catalogue)
{
    (void)catalogue;
    return set_sheet(NULL);
}

static struct sheet *columns_sheet(const struct catalogue *catalogue)
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

/* Prints the rows, those of models in two lists as their columns differ, and frees them. */
static int print_json(struct cli *cli, struct sheet *sheet, struct sheet *more)
{
    struct out *out = out_stream(cli->arena, "the answer", cli->out);
    struct err err = { 0 };

    if (more == NULL) {
        sheet_json(sheet, out);
    } else {
        out_text(out, "{\"transformers\": ");
        sheet_json(sheet, out);
        out_text(out, ",\n  \"networks\": ");
        sheet_json(more, out);
        out_text(out, "}");
    }
    out_text(out, "\n");
    sheet_free(sheet);
    sheet_free(more);
    return out_close(out, &err) ? 0 : command_fail(cli, &err);
}

/* The metrics of an experiment: the built-in ones and its own. */
static int list_own_metrics(struct cli *cli, const struct args *args)
{
    const struct experiment_options options = { .set_count = 0 };
    struct err_pos nowhere = { NULL, 0, 0 };
    const struct experiment *experiment;
    struct err err = { 0 };
    struct sheet *sheet;

    if (strcmp(args->word[0], "metrics") != 0) {
        err_set(&err, ERR_USAGE, nowhere, "list of '%.60s' takes no file, found '%.120s'",
                args->word[0], args->word[1]);
        return command_fail(cli, &err);
    }
    experiment = experiment_read(cli->arena, args->word[1], &options, &err);
    if (experiment == NULL)
        return command_fail(cli, &err);
    sheet = set_sheet(experiment_metrics(experiment));
    if (args->given[ARG_JSON])
        return print_json(cli, sheet, NULL);
    sheet_close(sheet, cli->out);
    return 0;
}

static void list_recipes(FILE *out, const struct catalogue *catalogue)
{
    (void)catalogue;
    for (size_t i = 0; i < recipe_count; i++)
        fprintf(out, "%-12s %s\n", recipe_table[i]->name,
                recipe_table[i]->summary);
}

/* Presets with what they mean, and what they change on one trace. */
static void list_presets(FILE *out)
{
    const struct semantics_row *row;

    fputs("\npresets, as in {policy: srtf, semantics: helios}; JCT: the mean of "
          "the 480 jobs of\nworkloads/trace_c480.yaml on 8 nodes of 8 GPUs\n\n", out);
    for (size_t i = 0; (row = semantics_at(i)) != NULL; i++)
        fprintf(out, "%-16s %-11s %10s s  %s\n%-16s %s\n", row->preset,
                row->policy, row->effect, row->keys, "", row->meaning);
}

static void list_placements(FILE *out, const struct catalogue *catalogue)
{
    (void)catalogue;
    for (int rule = 0; rule < PLACE_RULE_COUNT; rule++) {
        const struct place_info *info = place_info((enum place_rule)rule);

        fprintf(out, "%-14s  %s\n%-14s  where it is bad: %s\n%-14s  source: "
                "%s\n", info->name, info->summary, "", info->bad, "",
                info->source);
    }
}

static void list_semantics(FILE *out, const struct catalogue *catalogue)
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
    list_presets(out);
}

/* ---- those that people get as text, as tables for programs ---- */

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

static struct sheet *instance_rows(const struct catalogue *catalogue)
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

static struct sheet *format_rows(const struct catalogue *catalogue)
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

static struct sheet *recipe_rows(const struct catalogue *catalogue)
{
    struct sheet *sheet = sheet_new("name:0\tsummary:0");

    (void)catalogue;
    for (size_t i = 0; i < recipe_count; i++)
        sheet_cells(sheet, "%s\t%s", recipe_table[i]->name, recipe_table[i]->summary);
    return sheet;
}

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

/* A list: its word, what prints it for people, and its rows.  print NULL: the rows are
 * printed. */
struct lister {
    const char *name;
    void (*print)(FILE *out, const struct catalogue *catalogue);
    struct sheet *(*rows)(const struct catalogue *catalogue);
    struct sheet *(*more)(const struct catalogue *catalogue);   /* or NULL */
};

static const struct lister lister[] = {
    { "policies", list_policies, policy_rows, NULL },
    { "gpus", NULL, gpus_sheet, NULL },
    { "cpus", NULL, cpus_sheet, NULL },
    { "links", NULL, links_sheet, NULL },
    { "models", list_models, llms_sheet, nets_sheet },
    { "prices", NULL, prices_sheet, NULL },
    { "formats", list_formats, format_rows, NULL },
    { "metrics", NULL, metrics_sheet, NULL },
    { "recipes", list_recipes, recipe_rows, NULL },
    { "semantics", list_semantics, semantics_rows, NULL },
    { "placements", list_placements, placement_rows, NULL },
    { "applications", NULL, applications_sheet, NULL },
    { "instances", list_instances, instance_rows, NULL },
    { "columns", NULL, columns_sheet, NULL },
};
#define LISTERS (sizeof lister / sizeof lister[0])

/* Is the word the first one of the line? */
static bool begins_with(const char *line, const char *word)
{
    size_t bytes = strlen(word);

    return strncmp(line, word, bytes) == 0 && line[bytes] == ' ';
}

/* Prints the rows of a list's text that begin with the word, each below its
 * heading: the first line of a part. */
static unsigned print_rows(FILE *out, const struct lister *from, char *text,
                           const char *word, unsigned found)
{
    const char *heading = NULL;
    char *rest = text, *line;

    while ((line = rest) != NULL && *line != '\0') {
        char *end = strchr(line, '\n');

        rest = end == NULL ? NULL : end + 1;
        if (end != NULL)
            *end = '\0';
        if (*line == '\0') {
            heading = NULL;
        } else if (heading == NULL) {
            heading = line;
        } else if (begins_with(line, word)) {
            fprintf(out, "%s%s: in `clustersim list %s`\n  %s\n  %s\n",
                    found > 0 ? "\n" : "", word, from->name, heading, line);
            found++;
        }
    }
    return found;
}

static void print_list(FILE *out, const struct lister *from,
                       const struct catalogue *catalogue)
{
    if (from->print != NULL)
        from->print(out, catalogue);
    else
        sheet_close(from->rows(catalogue), out);
}

/* Lists are printed into memory and searched, so their columns are written once. */
unsigned list_rows(FILE *out, const struct catalogue *catalogue,
                   const char *word, unsigned found)
{
    static const char *const whose[] = { "gpus", "cpus", "links", "models",
        "prices", "instances", "formats", "recipes", "applications" };

    for (size_t i = 0; i < LISTERS; i++)
        for (size_t k = 0; k < sizeof whose / sizeof whose[0]; k++) {
            char *text = NULL;
            size_t bytes;
            FILE *page;

            if (strcmp(lister[i].name, whose[k]) != 0)
                continue;
            page = open_memstream(&text, &bytes);
            if (page == NULL)
                return found;
            if (lister[i].print == list_recipes)
                fputs("name         what the job does\n", page);
            print_list(page, &lister[i], catalogue);
            fclose(page);
            found = print_rows(out, &lister[i], text, word, found);
            free(text);
        }
    return found;
}

static int run_list(struct cli *cli, const struct args *args)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    const char *names[LISTERS + 1], *near;
    struct err err = { 0 };
    const struct catalogue *catalogue;

    if (args->word_count > 1)
        return list_own_metrics(cli, args);
    for (size_t i = 0; i < LISTERS; i++) {
        names[i] = lister[i].name;
        if (strcmp(args->word[0], names[i]) != 0)
            continue;
        catalogue = catalogue_load(cli->arena, NULL, 0, &err);
        if (catalogue == NULL)
            return command_fail(cli, &err);
        if (args->given[ARG_JSON])
            return print_json(cli, lister[i].rows(catalogue),
                              lister[i].more == NULL ? NULL : lister[i].more(catalogue));
        print_list(cli->out, &lister[i], catalogue);
        return 0;
    }
    names[LISTERS] = NULL;
    near = conf_nearest(args->word[0], names);
    err_set(&err, ERR_USAGE, nowhere, "there is no list of '%.60s'",
            args->word[0]);
    err_hint(&err, "%s%s%s", near == NULL ?
             "There are policies, gpus, cpus, links, models, prices, formats, "
             "metrics, columns, recipes, semantics, placements, applications, "
             "instances." : "Did you mean ",
             near == NULL ? "" : near, near == NULL ? "" : "?");
    return command_fail(cli, &err);
}

const struct command command_list = {
    "list",
    "policies|gpus|cpus|links|models|prices|formats|metrics|recipes|semantics\n"
    "       |placements|applications|instances|columns [--json]\n"
    "       metrics EXPERIMENT.yaml [--json]",
    "the names that files may use",
    "What is built in; a file under `catalogue:` of an experiment can add\n"
    "GPUs, CPUs, links, prices, models, applications and instances.  Metrics of\n"
    "an experiment are the built-in ones and its own, with what those are over.\n"
    "Columns are those of the tables of a results folder.\n",
    ARG_BIT(ARG_JSON), 1, 2, run_list
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue.c - lists of what the catalogue holds.
 */
#include "experiments/lists/parts.h"
#include "models/catalogue/catalogue.h"
#include "models/catalogue/goodput.h"
#include "sim/text/sheet.h"

/* The functions below make the rows of a list; the caller frees the sheet.  Units are those of the
 * titles, which people compare with datasheets: GB/s, GB, W. */
static struct sheet *gpu_rows(const struct catalogue *catalogue)
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

static struct sheet *cpu_rows(const struct catalogue *catalogue)
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

/* One direction: `GB/s` by the standard, `sustained` as measured. */
static struct sheet *link_rows(const struct catalogue *catalogue)
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

static struct sheet *price_rows(const struct catalogue *catalogue)
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

/* For people: number and type of NICs and of drives stand in one column; rows for
 * programs keep them apart. */
static void print_instances(FILE *out, const struct catalogue *catalogue)
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

/* Transformers. */
static struct sheet *llm_rows(const struct catalogue *catalogue)
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
static struct sheet *net_rows(const struct catalogue *catalogue)
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

/* Two tables; the empty line between them tells lists_find() that a heading follows. */
static void print_models(FILE *out, const struct catalogue *catalogue)
{
    sheet_close(llm_rows(catalogue), out);
    fputc('\n', out);
    sheet_close(net_rows(catalogue), out);
}

/* Millions of samples of a whole job, at the batch that it begins with. */
static struct sheet *application_rows(const struct catalogue *catalogue)
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

const struct list lists_of_catalogue[] = {
    { "gpus", NULL, gpu_rows, NULL, true, NULL },
    { "cpus", NULL, cpu_rows, NULL, true, NULL },
    { "links", NULL, link_rows, NULL, true, NULL },
    { "models", print_models, llm_rows, net_rows, true, NULL },
    { "prices", NULL, price_rows, NULL, true, NULL },
    { "applications", NULL, application_rows, NULL, true, NULL },
    { "instances", print_instances, instance_rows, NULL, true, NULL },
    { 0 },
};

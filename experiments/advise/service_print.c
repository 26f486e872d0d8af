/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * service_print.c - the advice for a service as a table and as CSV.
 */
#include <math.h>
#include <stdio.h>

#include "experiments/advise/print.h"
#include "experiments/advise/service.h"
#include "sim/text/sheet.h"
#include "workloads/requests/services.h"

/* Where replicas are busy for so large a share of the time, a queue is worked off at a
 * twentieth of their speed (assumption).  Of engines that generate it says nothing: they
 * are busy while one answer is under way. */
#define BUSY_FULL 0.95

/* Adds a time in s or ms, with about three digits. */
static void add_time(struct sheet *sheet, double seconds)
{
    if (seconds >= 100.0)
        sheet_cell(sheet, "%.0fs", seconds);
    else if (seconds >= 1.0)
        sheet_cell(sheet, "%.2fs", seconds);
    else
        sheet_cell(sheet, "%.2fms", seconds * 1e3);
}

/* Adds a candidate that keeps the promise. */
static void add_row(struct sheet *sheet, const struct advise_service_row *row,
                    bool generates)
{
    sheet_cell(sheet, "%c %s", row->pareto ? '*' : ' ', row->name);
    sheet_cell(sheet, "%u", row->tp);
    sheet_cell(sheet, row->cores > 0 ? "%u" : "-", row->cores);
    sheet_cells(sheet, "%u\t%u\t%.0f%%", row->replicas,
                row->tp * row->replicas, 100 * row->busy_fraction);
    if (generates) {
        add_time(sheet, row->ttft_p99_s);
        add_time(sheet, row->tpot_p99_s);
    }
    add_time(sheet, row->latency_p99_s);
    sheet_cell(sheet, "%.2f%%", 100 * row->attained);
    if (isnan(row->usd_per_h))
        sheet_cells(sheet, "no price\t\t");
    else
        sheet_cells(sheet, "%.2f\t%.2f\t%.4g", row->usd_per_h,
                    24 * row->usd_per_h, row->usd_per_million);
}

/* Prints the candidates that lack memory, and those that are too slow even for
 * a request alone. */
static void print_misses(FILE *file, const struct advise_service *service)
{
    for (size_t i = 0; i < service->row_count; i++) {
        const struct advise_service_row *row = &service->row[i];

        if (row->replicas > 0)
            continue;
        fprintf(file, "%s", row->name);
        if (row->tp > 1)
            fprintf(file, " tp %u", row->tp);
        if (row->missing_bytes > 0.0)
            fprintf(file, ": %.2f GB of memory are missing\n",
                    row->missing_bytes / 1e9);
        else if (service->entry->generates)
            fprintf(file, ": up to %u replicas do not keep the promise; "
                    "alone, TTFT is %.3g ms and TPOT %.3g ms (p99)\n",
                    row->most, row->ttft_p99_s * 1e3,
                    row->tpot_p99_s * 1e3);
        else
            fprintf(file, ": up to %u replicas do not keep the promise; alone "
                    "a request takes %.3g ms\n", row->most,
                    row->alone_s * 1e3);
    }
}

void advise_service_print(FILE *file, const struct advise_service *service,
                          uint32_t top)
{
    const struct service_entry *entry = service->entry;
    bool full = false;
    uint32_t shown = 0;
    struct sheet *sheet;

    fprintf(file, "service %s: ", entry->spec.name);
    if (service->peak_per_s > 0.0)
        fprintf(file, "%.6g requests a second at most", service->peak_per_s);
    else
        fputs("requests of a file", file);
    fprintf(file, ", %g%% as promised\n", 100 * ADVISE_ATTAINED);
    advise_print_tier(file, service->world);
    fputc('\n', file);
    sheet = sheet_new(
        entry->generates
            ? "  on:-16\ttp:4\tcores:5\treplicas:8\tGPUs:5\tbusy:5\tTTFT p99:9\t"
              "TPOT p99:9\tp99:9\tkept:8\tUSD/h:9\tUSD/day:9\tUSD/million:11"
            : "  on:-16\ttp:4\tcores:5\treplicas:8\tGPUs:5\tbusy:5\t"
              "p99:9\tkept:8\tUSD/h:9\tUSD/day:9\tUSD/million:11");
    for (size_t i = 0; i < service->row_count && shown < top; i++)
        if (service->row[i].replicas > 0) {
            add_row(sheet, &service->row[i], entry->generates);
            full = full || service->row[i].busy_fraction >= BUSY_FULL;
            shown++;
        }
    sheet_close(sheet, file);
    if (shown == 0)
        fputs("  nothing keeps the promise\n", file);
    fputs("\n*: nothing shown is both cheaper and faster\n", file);
    if (full && !entry->generates)
        fputs("replicas that are busy 95% or more have nothing left over: a queue that came "
              "while\nthey started, or in a burst, hardly goes; take more of them\n", file);
    print_misses(file, service);
}

struct sheet *advise_service_csv_new(void)
{
    return sheet_new("service:0\ton:0\ttp:1\tcores:1\treplicas:1\t"
                     "busy_fraction:1\tttft_p99_s:1\ttpot_p99_s:1\t"
                     "latency_p99_s:1\tattained_fraction:1\tusd_per_h:1\t"
                     "usd_per_million:1\tpareto:1");
}

void advise_service_csv(struct sheet *sheet,
                        const struct advise_service *service)
{
    for (size_t i = 0; i < service->row_count; i++) {
        const struct advise_service_row *row = &service->row[i];

        if (row->replicas == 0)
            continue;
        sheet_cell(sheet, "%s", service->entry->spec.name);
        sheet_cell(sheet, "%s", row->name);
        sheet_cells(sheet, "%u\t%u\t%u", row->tp, row->cores, row->replicas);
        sheet_real(sheet, row->busy_fraction);
        sheet_real(sheet, row->ttft_p99_s);
        sheet_real(sheet, row->tpot_p99_s);
        sheet_real(sheet, row->latency_p99_s);
        sheet_real(sheet, row->attained);
        sheet_real(sheet, row->usd_per_h);
        sheet_real(sheet, row->usd_per_million);
        sheet_cell(sheet, "%d", row->pareto);
    }
}

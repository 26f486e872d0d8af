/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * service_print.c - the advice for a service as a table and as CSV.
 */
#include <math.h>
#include <stdio.h>

#include "experiments/advise/print.h"
#include "experiments/advise/service.h"
#include "sim/text/out.h"
#include "workloads/requests/services.h"

static void print_time(FILE *file, double seconds)
{
    if (seconds >= 100.0)
        fprintf(file, " %8.0fs", seconds);
    else if (seconds >= 1.0)
        fprintf(file, " %8.2fs", seconds);
    else
        fprintf(file, " %7.2fms", seconds * 1e3);
}

static void print_row(FILE *file, const struct advise_service_row *row,
                      bool generates)
{
    fprintf(file, "%c %-14s %4u ", row->pareto ? '*' : ' ', row->name,
            row->tp);
    if (row->cores > 0)
        fprintf(file, "%5u", row->cores);
    else
        fputs("    -", file);
    fprintf(file, " %8u %5u %4.0f%%", row->replicas, row->tp * row->replicas,
            100 * row->busy_fraction);
    if (generates) {
        print_time(file, row->ttft_p99_s);
        print_time(file, row->tpot_p99_s);
    }
    print_time(file, row->latency_p99_s);
    fprintf(file, " %7.2f%%", 100 * row->attained);
    if (isnan(row->usd_per_h))
        fputs("  no price\n", file);
    else
        fprintf(file, " %9.2f %9.2f %11.4g\n", row->usd_per_h,
                24 * row->usd_per_h, row->usd_per_million);
}

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
    uint32_t shown = 0;

    fprintf(file, "service %s: ", entry->spec.name);
    if (service->peak_per_s > 0.0)
        fprintf(file, "%.6g requests a second at most", service->peak_per_s);
    else
        fputs("requests of a file", file);
    fprintf(file, ", %g%% as promised\n", 100 * ADVISE_ATTAINED);
    advise_print_tier(file, service->world);
    fputc('\n', file);
    fprintf(file, "  %-14s %4s %5s %8s %5s %5s", "on", "tp", "cores",
            "replicas", "GPUs", "busy");
    if (entry->generates)
        fprintf(file, " %9s %9s", "TTFT p99", "TPOT p99");
    fprintf(file, " %9s %8s %9s %9s %11s\n", "p99", "kept", "USD/h",
            "USD/day", "USD/million");
    for (size_t i = 0; i < service->row_count && shown < top; i++)
        if (service->row[i].replicas > 0) {
            print_row(file, &service->row[i], entry->generates);
            shown++;
        }
    if (shown == 0)
        fputs("  nothing keeps the promise\n", file);
    fputs("\n*: nothing shown is both cheaper and faster\n", file);
    print_misses(file, service);
}

void advise_service_csv_head(struct out *out)
{
    out_text(out, "service,on,tp,cores,replicas,busy_fraction,ttft_p99_s,"
                  "tpot_p99_s,latency_p99_s,attained_fraction,usd_per_h,"
                  "usd_per_million,pareto\n");
}

static void put(struct out *out, double value)
{
    if (isfinite(value))
        out_printf(out, "%.9g", value);
    out_text(out, ",");
}

void advise_service_csv(struct out *out, const struct advise_service *service)
{
    for (size_t i = 0; i < service->row_count; i++) {
        const struct advise_service_row *row = &service->row[i];

        if (row->replicas == 0)
            continue;
        out_printf(out, "%s,%s,%u,%u,%u,", service->entry->spec.name,
                   row->name, row->tp, row->cores, row->replicas);
        put(out, row->busy_fraction);
        put(out, row->ttft_p99_s);
        put(out, row->tpot_p99_s);
        put(out, row->latency_p99_s);
        put(out, row->attained);
        put(out, row->usd_per_h);
        put(out, row->usd_per_million);
        out_text(out, row->pareto ? "1\n" : "0\n");
    }
}

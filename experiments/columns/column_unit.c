/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * column_unit.c - the unit of each column: of metrics as metrics.def says, of
 * the other columns by the end of their names.
 *
 * Column names of a CSV end in their unit (jct_s, cost_usd) as far as CONTRACT
 * asks for it, so the name is the one place where it stands; this file turns
 * that rule into words for lists and for the Python package.
 */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "sim/text/table.h"

/* The end of a column's name, and the unit that it tells. */
struct ending {
    const char *text, *unit;
};

/* The first that fits counts, so longer endings stand before shorter ones
 * ("_usd_per_h" before "_s").  A real number with none of them has no unit of its
 * own: it has that of a metric (`mean`, `value`), or of an input (`effect`). */
static const struct ending ending[] = {
    { "per_million_usd", "USD/million" }, { "_usd_per_h", "USD/h" }, { "_usd", "USD" },
    { "tokens_per_s", "tokens/s" }, { "_per_s", "1/s" }, { "rate", "1/s" },
    { "gpu_seconds", "GPU-s" }, { "core_seconds", "core-s" },
    { "_s", "s" }, { "gpu_hours", "GPU-h" }, { "core_hours", "core-h" },
    { "replica_hours", "replica-h" }, { "_kwh", "kWh" }, { "_percent", "%" },
    { "_fraction", "fraction" }, { "_utilization", "fraction" }, { "gpu_share", "fraction" },
    { "mfu", "fraction" }, { "hfu", "fraction" }, { "confidence", "fraction" },
    { "sobol_first", "fraction" }, { "sobol_first_low", "fraction" },
    { "sobol_first_high", "fraction" }, { "sobol_total", "fraction" },
    { "sobol_total_low", "fraction" }, { "sobol_total_high", "fraction" },
    { "risk_ci95_low", "fraction" }, { "risk_ci95_high", "fraction" },
    { "quantile", "fraction" }, { "p_value", "1" }, { "p_holm", "1" }, { "slowdown_mean", "1" },
    { "ftf_rho_mean", "1" }, { "envy", "1" }, { "priority", "1" },
    { "gpus_allocated", "count" }, { "gpus_busy", "count" }, { "cores_busy", "count" },
    { "jobs_pending", "count" }, { "jobs_running", "count" },
};

/* Does the name end so? */
static bool ends_with(const char *name, const char *end)
{
    size_t bytes = strlen(name), tail = strlen(end);

    return bytes >= tail && strcmp(name + bytes - tail, end) == 0;
}

/* A metric of summary.csv has the unit that it declares, whatever its name. */
const char *csv_column_unit(const struct csv_kind *kind, size_t column)
{
    const struct table_column *of = &kind->columns[column];
    enum metric metric = kind == &csv_summary ? metric_find(NULL, of->name) : METRIC_COUNT;

    assert(column < kind->count);
    if (metric != METRIC_COUNT)
        return metric_info(NULL, metric)->unit;
    if (of->type == TABLE_TEXT)
        return "";
    if (of->type == TABLE_TIME)
        return "s";
    for (size_t i = 0; i < sizeof ending / sizeof ending[0]; i++)
        if (ends_with(of->name, ending[i].text))
            return ending[i].unit;
    return of->type == TABLE_COUNT ? "count" : "";
}

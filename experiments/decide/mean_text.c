/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mean_text.c - digits and units are those of results/summary_table.h.
 */
#include "experiments/decide/mean_text.h"

#include <math.h>
#include <stdio.h>

/* A mean without an interval is written as a value alone, and "?" marks an
 * interval that cannot be trusted. */
void mean_text(char *out, struct stats_mean m, struct summary_unit unit, bool trusted)
{
    char mean[SUMMARY_NUMBER_BYTES], half[SUMMARY_NUMBER_BYTES];

    if (m.count == 0 || isnan(m.low)) {
        value_text(out, m.count == 0 ? NAN : m.mean, unit);
        return;
    }
    summary_number(mean, m.mean / unit.size, 4);
    summary_number(half, summary_half(m) / unit.size, 3);
    snprintf(out, MEAN_TEXT_BYTES, "%s \u00b1 %s%s%s", mean, half,
             trusted || !(m.high > m.low) ? "" : "?", unit.name);
}

/* What is not known is "-". */
void value_text(char *out, double value, struct summary_unit unit)
{
    char number[SUMMARY_NUMBER_BYTES];

    if (isnan(value)) {
        snprintf(out, MEAN_TEXT_BYTES, "-");
        return;
    }
    summary_number(number, value / unit.size, 4);
    snprintf(out, MEAN_TEXT_BYTES, "%s%s", number, unit.name);
}

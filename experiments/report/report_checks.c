/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_checks.c - tables of checks.csv and failures.csv: what was expected
 * and what was found, and the trials that failed.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "experiments/report/plot_data.h"
#include "experiments/report/report_html.h"
#include "experiments/report/report_parts.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

#define FAILURES_SHOWN 20

enum check_column {
    K_VERDICT, K_CLAIM, K_METRIC, K_POLICY, K_VERSUS, K_POINT, K_REASON, K_PERCENT,
    K_LEAST, K_MOST, K_VALUE, K_LOW, K_HIGH, K_COUNT
};
static const char *const check_name[K_COUNT] = {
    "verdict", "claim", "metric", "policy", "vs", "point", "reason", "percent",
    "at_least", "at_most", "value", "ci_low", "ci_high"
};

/* ", 12.3%", or "" for NAN. */
static const char *number_text(struct arena *arena, const char *before,
                               double value, const char *unit)
{
    char text[HTML_NUMBER_BYTES];

    if (isnan(value))
        return "";
    /* Of fractions near 1, three digits would all look alike. */
    html_number(text, value,
                html_decimals(value, fabs(value) <= 1 && !*unit ? 5 : 3));
    return text_format(arena, "%s%s%s", before, text, unit);
}

/* What was not compared has a value, but of other jobs on either side; the
 * reason goes on with advice. */
static void add_found(struct arena *arena, struct sheet *sheet,
                      const char *reason, const double *value,
                      const char *unit)
{
    if (strncmp(reason, "not compared", 12) == 0)
        sheet_cell(sheet, "%.*s", (int)strcspn(reason, ";"), reason);
    else
        sheet_cell(sheet, "%s%s%s%s",
                   number_text(arena, "", value[K_VALUE], unit),
                   number_text(arena, " [", value[K_LOW], unit),
                   number_text(arena, ", ", value[K_HIGH], unit),
                   isnan(value[K_HIGH]) ? "" : "]");
}

static void add_limits(struct arena *arena, struct sheet *sheet, double least,
                       double most, const char *unit)
{
    sheet_cell(sheet, "%s%s%s",
               isnan(least) ? ""
                            : text_format(arena, "at least %.6g%s", least, unit),
               isnan(least) || isnan(most) ? "" : ", ",
               isnan(most) ? ""
                           : text_format(arena, "at most %.6g%s", most, unit));
}

static bool check_row(struct arena *arena, struct sheet *sheet,
                      const struct csv *in, const size_t *c, struct err *err)
{
    const char *verdict = csv_text(in, c[K_VERDICT]), *unit;
    double value[K_COUNT];

    for (int i = K_PERCENT; i < K_COUNT; i++)
        if (!csv_number(in, c[i], &value[i], err))
            return false;
    unit = value[K_PERCENT] == 1 ? "%" : "";
    sheet_cell(sheet, "%s", verdict);
    sheet_class(sheet, strcmp(verdict, "holds") == 0 ? "verdict holds"
                : strcmp(verdict, "does not hold") == 0 ||
                  strcmp(verdict, "failed trial") == 0 ? "verdict fails"
                : "verdict open");
    for (int i = K_CLAIM; i <= K_POINT; i++)
        sheet_cell(sheet, "%s", csv_text(in, c[i]));
    add_limits(arena, sheet, value[K_LEAST], value[K_MOST], unit);
    add_found(arena, sheet, csv_text(in, c[K_REASON]), value, unit);
    return true;
}

struct sheet *report_verdicts(const struct report *r, struct err *err)
{
    struct plot_sink sink = { NULL, NULL, NULL };
    size_t column[K_COUNT];
    struct csv *in = plot_open(&r->source, "checks.csv", check_name, column,
                               K_COUNT, &sink, err);
    enum csv_step step;
    struct sheet *sheet;

    if (in == NULL)
        return NULL;
    sheet = sheet_new("verdict:0\tclaim:0\tmetric:0\tpolicy:0\tagainst:0\t"
                      "point:0\texpected:0\tfound, with its interval:0");
    while ((step = csv_next(in, err)) == CSV_ROW)
        if (!check_row(r->arena, sheet, in, column, err))
            break;
    csv_close(in);
    return sheet;
}

struct sheet *report_failures(const struct report *r, struct err *err)
{
    static const char *const name[] = {
        "point", "policy", "seed", "place", "message"
    };
    struct plot_sink sink = { NULL, NULL, NULL };
    size_t column[COUNT_OF(name)], rows = 0;
    struct csv *in = plot_open(&r->source, "failures.csv", name, column,
                               COUNT_OF(name), &sink, err);
    struct sheet *sheet;

    if (in == NULL)
        return NULL;
    sheet = sheet_new("point:0\tpolicy:0\tseed:0\tplace:0\tmessage:0");
    for (; csv_next(in, err) == CSV_ROW; rows++)
        for (size_t c = 0; rows < FAILURES_SHOWN && c < COUNT_OF(name); c++)
            sheet_cell(sheet, "%s", csv_text(in, column[c]));
    csv_close(in);
    if (rows > FAILURES_SHOWN)
        sheet_cells(sheet, "%zu more in failures.csv\t\t\t\t",
                    rows - FAILURES_SHOWN);
    return sheet;
}

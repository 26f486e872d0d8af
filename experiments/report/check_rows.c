/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_rows.c - checks.csv as rows, and their numbers as text.
 *
 * The report is made from the files alone, so verdicts are read back and not
 * judged again: the page says what `check` said.
 */
#include "experiments/report/check_rows.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "experiments/report/plot_data.h"
#include "experiments/report/report_html.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/paths.h"

/* The columns that are read: texts up to K_REASON, then numbers. */
enum check_column {
    K_VERDICT, K_CLAIM, K_METRIC, K_POLICY, K_VERSUS, K_POINT, K_REASON,
    K_PERCENT, K_LEAST, K_MOST, K_VALUE, K_LOW, K_HIGH, K_COUNT
};
static const char *const check_name[K_COUNT] = {
    "verdict", "claim", "metric", "policy", "vs", "point", "reason", "percent",
    "at_least", "at_most", "value", "ci_low", "ci_high"
};

/* Reads one row; texts are copied, since a CSV's fields last until the next row. */
static bool read_row(const struct plot_source *source, const struct csv *in,
                     const size_t *column, struct check_row *row,
                     struct err *err)
{
    size_t other = csv_find(in, "vs_point");    /* older folders lack it */
    const char *text[K_REASON + 1];
    double value[K_COUNT];

    for (int i = 0; i <= K_REASON; i++)
        text[i] = text_format(source->arena, "%s", csv_text(in, column[i]));
    for (int i = K_PERCENT; i < K_COUNT; i++)
        if (!csv_number(in, column[i], &value[i], err))
            return false;
    *row = (struct check_row){
        .verdict = text[K_VERDICT], .claim = text[K_CLAIM],
        .point = text[K_POINT], .metric = text[K_METRIC],
        .policy = text[K_POLICY], .versus = text[K_VERSUS],
        .versus_point = other == SIZE_MAX ? "" : text_format(
            source->arena, "%s", csv_text(in, other)),
        .reason = text[K_REASON], .percent = value[K_PERCENT] == 1,
        .least = value[K_LEAST], .most = value[K_MOST],
        .value = value[K_VALUE], .low = value[K_LOW], .high = value[K_HIGH],
    };
    return true;
}

/* The folder may lack the table: then there are no rows, and no error. */
bool check_rows_read(const struct plot_source *source, struct check_rows *rows,
                     struct err *err)
{
    struct plot_sink sink = { NULL, NULL, NULL };
    enum csv_step step = CSV_END;
    struct check_row *row = NULL;
    size_t column[K_COUNT];
    struct csv *in = plot_open(source, "checks.csv", check_name, column,
                               K_COUNT, &sink, err);

    *rows = (struct check_rows){ NULL, 0 };
    if (in == NULL)
        return sink.skip != NULL;
    while ((step = csv_next(in, err)) == CSV_ROW) {
        row = arena_grow(source->arena, row, rows->count, rows->count + 1,
                         sizeof *row);
        if (!read_row(source, in, column, &row[rows->count++], err)) {
            step = CSV_ERROR;
            break;
        }
    }
    rows->row = row;
    csv_close(in);
    return step == CSV_END;
}

/* The reason tells: rows that were not compared have no column of their own. */
bool check_row_is_lost(const struct check_row *row)
{
    return strncmp(row->reason, "not compared", 12) == 0;
}

bool check_row_has_interval(const struct check_row *row)
{
    return !check_row_is_lost(row) && !(isnan(row->low) && isnan(row->high));
}

/* Three digits tell most values apart; of fractions near 1 they would all look
 * alike, so these have five. */
const char *check_row_number(const struct plot_source *source,
                             const struct check_row *row, double value)
{
    const char *unit = row->percent ? "%" : "";
    char text[HTML_NUMBER_BYTES];

    if (isnan(value))
        return "";
    /* Three digits of fractions near 1 would all look alike. */
    html_number(text, value,
                html_decimals(value, fabs(value) <= 1 && !*unit ? 5 : 3));
    return text_format(source->arena, "%s%s", text, unit);
}

const char *check_row_limits(const struct plot_source *source,
                             const struct check_row *row)
{
    const char *unit = row->percent ? "%" : "", *least = "", *most = "";

    if (!isnan(row->least))
        least = text_format(source->arena, "at least %.6g%s", row->least, unit);
    if (!isnan(row->most))
        most = text_format(source->arena, "at most %.6g%s", row->most, unit);
    return text_format(source->arena, "%s%s%s", least,
                       *least && *most ? ", " : "", most);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_checks.c - tables of checks.csv and failures.csv: what was expected
 * and what was found, and the trials that failed.
 */
#include <math.h>
#include <string.h>

#include "experiments/report/check_rows.h"
#include "experiments/report/plot_data.h"
#include "experiments/report/report_parts.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

#define FAILURES_SHOWN 20

/* Returns what was found, with its interval.  A row that was not compared has a
 * value, but of other jobs on either side: its reason stands there instead,
 * without the advice behind the semicolon. */
static const char *found_text(const struct report *r,
                              const struct check_row *row)
{
    const struct plot_source *source = &r->source;

    if (check_row_is_lost(row))
        return text_format(r->arena, "%.*s", (int)strcspn(row->reason, ";"),
                           row->reason);
    if (!check_row_has_interval(row))
        return check_row_number(source, row, row->value);
    return text_format(r->arena, "%s [%s, %s]",
                       check_row_number(source, row, row->value),
                       isnan(row->low) ? "no end" : check_row_number(source, row, row->low),
                       isnan(row->high) ? "no end" : check_row_number(source, row, row->high));
}

/* Returns the class that colours a verdict. */
static const char *verdict_class(const char *verdict)
{
    if (strcmp(verdict, "holds") == 0)
        return "verdict holds";
    return strcmp(verdict, "does not hold") == 0 ||
           strcmp(verdict, "failed trial") == 0 ? "verdict fails"
                                                : "verdict open";
}

struct sheet *report_verdicts(const struct report *r, struct err *err)
{
    struct sheet *sheet;

    (void)err;
    if (r->checks.count == 0)
        return NULL;
    sheet = sheet_new("verdict:0\tclaim:0\tmetric:0\tpolicy:0\tagainst:0\t"
                      "point:0\texpected:0\tfound, with its interval:0");
    for (size_t i = 0; i < r->checks.count; i++) {
        const struct check_row *row = &r->checks.row[i];

        sheet_cell(sheet, "%s", row->verdict);
        sheet_class(sheet, verdict_class(row->verdict));
        sheet_cell(sheet, "%s", row->claim);
        sheet_cell(sheet, "%s", row->metric);
        sheet_cell(sheet, "%s", row->policy);
        sheet_cell(sheet, "%s", *row->versus ? row->versus : row->versus_point);
        sheet_cell(sheet, "%s", row->point);
        sheet_cell(sheet, "%s", check_row_limits(&r->source, row));
        sheet_cell(sheet, "%s", found_text(r, row));
    }
    return sheet;
}

/* The first FAILURES_SHOWN trials that failed, with the place in the file that is to
 * blame; the others are counted. */
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

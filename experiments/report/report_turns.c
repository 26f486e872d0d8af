/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_turns.c - what would turn the verdicts: the sentences of border.csv and
 * sensitivity.csv, and the inputs by rank.  They are there if `clustersim border` or
 * `clustersim sensitivity` was run into the folder.
 */
#include <math.h>
#include <string.h>

#include "experiments/report/plot_data.h"
#include "experiments/report/report_parts.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

/* ---- the sentences ---- */

/* Adds the sentences of a table, each once where they follow each other; returns how
 * many. */
static size_t add_sentences(const struct report *r, struct sheet *sheet,
                            const char *table, struct err *err)
{
    static const char *const name[] = { "sentence" };
    struct plot_sink sink = { NULL, NULL, NULL };
    size_t column, count = 0;
    struct csv *in = plot_open(&r->source, table, name, &column, 1, &sink, err);
    const char *last = "";

    while (in != NULL && csv_next(in, err) == CSV_ROW) {
        const char *text = csv_text(in, column);

        if (*text == '\0' || strcmp(text, last) == 0)
            continue;
        last = text_format(r->arena, "%s", text);
        sheet_cell(sheet, "%s", last);
        count++;
    }
    csv_close(in);
    return count;
}

/* One sentence a border or an input at which a verdict turns, from border.csv and
 * sensitivity.csv; those files may be of a later run of the same folder. */
struct sheet *report_turns(const struct report *r, struct err *err)
{
    struct sheet *sheet = sheet_new("sentence:0");
    size_t count = add_sentences(r, sheet, "border.csv", err);

    if (err->kind == ERR_NONE)
        count += add_sentences(r, sheet, "sensitivity.csv", err);
    if (count > 0 || err->kind != ERR_NONE)
        return sheet;
    sheet_free(sheet);
    return NULL;
}

/* ---- the inputs ---- */

enum {
    I_CLAIM, I_METRIC, I_POLICY, I_VERSUS, I_POINT, I_INPUT, I_FROM, I_TO, I_BASE,
    I_EFFECT, I_SPREAD, I_FIRST, I_FIRST_LOW, I_FIRST_HIGH, I_TOTAL, I_TOTAL_LOW,
    I_TOTAL_HIGH, I_TURNS, I_TURNS_AT, I_WHY, I_COLUMNS
};
static const char *const input_name[I_COLUMNS] = {
    "claim", "metric", "policy", "versus", "point", "input", "from", "to", "base",
    "effect", "spread", "sobol_first", "sobol_first_low", "sobol_first_high",
    "sobol_total", "sobol_total_low", "sobol_total_high", "turns", "turns_at", "why"
};

/* Writes a Sobol index with its interval, "0.78 [0.56, 1.05]", or an empty
 * cell. */
static bool put_index(struct sheet *sheet, const struct csv *in, const size_t *column,
                      struct err *err)
{
    double value[3];

    for (int i = 0; i < 3; i++)
        if (!csv_number(in, column[i], &value[i], err))
            return false;
    if (isfinite(value[0]))
        sheet_cell(sheet, "%.2f [%.2f, %.2f]", value[0], value[1], value[2]);
    else
        sheet_cell(sheet, "%s", "");
    return true;
}

/* Writes an effect or a spread in three digits, or an empty cell. */
static bool put_effect(struct sheet *sheet, const struct csv *in, size_t column,
                       struct err *err)
{
    double value;

    if (!csv_number(in, column, &value, err))
        return false;
    if (isfinite(value))
        sheet_cell(sheet, "%.3g", value);
    else
        sheet_cell(sheet, "%s", "");
    return true;
}

/* Adds a row: an input, how much it moves the metric, and where the verdict turns. */
static bool put_input(struct sheet *sheet, const struct csv *in, const size_t *column,
                      struct err *err)
{
    const char *text[I_COLUMNS];

    for (int i = 0; i < I_COLUMNS; i++)
        text[i] = csv_text(in, column[i]);
    sheet_cell(sheet, "%s", *text[I_CLAIM] != '\0' ? text[I_CLAIM] : text[I_METRIC]);
    sheet_small(sheet, "", "%s of %s%s%s%s%s", text[I_METRIC], text[I_POLICY],
                *text[I_VERSUS] != '\0' ? " vs " : "", text[I_VERSUS],
                *text[I_POINT] != '\0' ? ", " : "", text[I_POINT]);
    sheet_cell(sheet, "%s", text[I_INPUT]);
    if (*text[I_WHY] != '\0')
        sheet_small(sheet, "", "%s", text[I_WHY]);
    sheet_cell(sheet, "%s to %s", text[I_FROM], text[I_TO]);
    sheet_cell(sheet, "%s", *text[I_BASE] != '\0' ? text[I_BASE] : "its default");
    if (!put_effect(sheet, in, column[I_EFFECT], err) ||
        !put_effect(sheet, in, column[I_SPREAD], err) ||
        !put_index(sheet, in, &column[I_FIRST], err) ||
        !put_index(sheet, in, &column[I_TOTAL], err))
        return false;
    sheet_cell(sheet, "%s", *text[I_TURNS_AT] != '\0' ? text[I_TURNS_AT]
                                                      : text[I_TURNS]);
    return true;
}

/* The inputs that were varied, in the order of sensitivity.csv: by their effect. */
struct sheet *report_inputs(const struct report *r, struct err *err)
{
    struct plot_sink sink = { NULL, NULL, NULL };
    size_t column[I_COLUMNS];
    struct csv *in = plot_open(&r->source, "sensitivity.csv", input_name, column,
                               I_COLUMNS, &sink, err);
    struct sheet *sheet;

    if (in == NULL)
        return NULL;
    sheet = sheet_new("claim:0\tinput:0\trange:0\tbase:0\teffect:9\tspread:9\t"
                      "index alone:0\tindex in all:0\tturns at:0");
    while (csv_next(in, err) == CSV_ROW)
        if (!put_input(sheet, in, column, err))
            break;
    csv_close(in);
    return sheet;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * check_file.c - verdicts on the terminal, as CSV, JUnit XML and Markdown.
 */
#include <math.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/results/check.h"
#include "experiments/results/csv_out.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"
#include "sim/text/table.h"

#define VS_POINT 15             /* column of the second point, in checks.csv */
/* Writes a verdict as a row of checks.csv, in the order of its columns. */
static void check_row(struct table *table, const struct check_item *item)
{
    const struct experiment_expect *e = item->expect;

    table_text(table, e->claim == NULL ? "" : e->claim);
    table_text(table, item->point);
    table_text(table, item->metric);
    table_text(table, e->policy);
    table_text(table, e->versus == NULL ? "" : e->versus);
    table_count(table, e->percent);
    table_real_or_empty(table, e->low);
    table_real_or_empty(table, e->high);
    table_real_or_empty(table, e->confidence);
    table_count(table, item->seeds);
    table_real_or_empty(table, item->value);
    table_real_or_empty(table, item->low);
    table_real_or_empty(table, item->high);
    table_text(table, check_verdict_name(item->verdict));
    table_text(table, item->reason);
    table_text(table, e->versus_point == NULL ? "" : e->versus_point);
    table_end_row(table);
}

bool check_write(struct arena *arena, const struct folder *dir,
                 const struct check_list *list, struct err *err)
{
    struct table *table;
    struct out *out;

    if (list->count == 0)
        return true;
    out = csv_out_open(arena, dir, &csv_checks, err);
    if (out == NULL)
        return false;
    table = table_new(csv_checks.columns, csv_checks.count);
    for (uint32_t i = 0; i < list->count; i++)
        check_row(table, &list->item[i]);
    return csv_out_close(out, table, err);
}

/* Returns a copy of a text; NULL for an empty one. */
static const char *text_or_null(struct arena *arena, const char *text)
{
    return text[0] == '\0' ? NULL : arena_text(arena, text);
}

/* Reads an expectation back from a row of checks.csv.  c[] has the columns, in
 * the order of read_rows(). An expectation that was not judged then cannot be
 * judged now: it asks for one seed more than there are. */
static bool read_row(struct arena *arena, const struct csv *in,
                     const struct metric_set *metrics, const size_t *c,
                     struct experiment_expect *e, struct err *err)
{
    double percent, seeds;

    e->claim = text_or_null(arena, csv_text(in, c[0]));
    e->point = arena_text(arena, csv_text(in, c[1]));
    e->metric = metric_find(metrics, csv_text(in, c[2]));
    e->policy = arena_text(arena, csv_text(in, c[3]));
    e->versus = text_or_null(arena, csv_text(in, c[4]));
    if (c[9] != SIZE_MAX)
        e->versus_point = text_or_null(arena, csv_text(in, c[9]));
    if (e->metric == metric_count(metrics))
        return err_set(err, ERR_REFERENCE, csv_pos(in, c[2]),
                       "there is no metric '%.60s'", csv_text(in, c[2]));
    if (!csv_number(in, c[5], &percent, err) ||
        !csv_number(in, c[6], &e->low, err) ||
        !csv_number(in, c[7], &e->high, err) ||
        !csv_number(in, c[8], &e->confidence, err) ||
        !csv_number(in, c[11], &seeds, err))
        return false;
    if (!(e->confidence > 0 && e->confidence < 1))
        return err_set(err, ERR_RANGE, csv_pos(in, c[8]),
                       "confidence must lie between 0 and 1");
    e->percent = percent == 1;
    e->trials_min = seeds > 0 ? (uint32_t)seeds : 0;
    /* What was kept from being judged stays so. */
    if (strcmp(csv_text(in, c[10]),
               check_verdict_name(CHECK_NOT_JUDGED)) == 0)
        e->seeds_min = e->trials_min + 1;
    e->low = isnan(e->low) ? -INFINITY : e->low;
    e->high = isnan(e->high) ? INFINITY : e->high;
    return true;
}

/* Reads all expectations of a folder.  c[9], `vs_point`, is SIZE_MAX in folders
 * of an older version, which do not have that column. */
static bool read_rows(struct arena *arena, struct csv *in,
                      const struct metric_set *metrics,
                      const struct experiment_expect **expect, uint32_t *count,
                      struct err *err)
{
    struct experiment_expect *item = NULL;
    uint32_t room = 0;
    enum csv_step step;
    size_t c[12];

    for (size_t i = 0; i < 9; i++)
        if (!csv_need_column(in, csv_checks.columns[i].name, &c[i], err))
            return false;
    if (!csv_need_column(in, "verdict", &c[10], err) ||
        !csv_need_column(in, "seeds", &c[11], err))
        return false;
    /* SIZE_MAX: written by an older version. */
    c[9] = csv_find(in, csv_checks.columns[VS_POINT].name);
    *count = 0;
    while ((step = csv_next(in, err)) == CSV_ROW) {
        if (*count == room) {
            item = arena_grow(arena, item, room, room * 2 + 16, sizeof *item);
            room = room * 2 + 16;
        }
        memset(&item[*count], 0, sizeof *item);
        if (!read_row(arena, in, metrics, c, &item[*count], err))
            return false;
        ++*count;
    }
    *expect = item;
    return step == CSV_END;
}

bool check_read(struct arena *arena, const char *dir, const struct metric_set *metrics,
                const struct experiment_expect **expect, uint32_t *count,
                struct err *err)
{
    const char *path = path_join(arena, dir, csv_checks.file);
    struct csv *in;
    bool ok;

    *expect = NULL;
    *count = 0;
    if (!path_is_file(path))
        return true;
    in = csv_open(arena, path, CSV_TABLE, err);
    if (in == NULL)
        return false;
    ok = read_rows(arena, in, metrics, expect, count, err);
    csv_close(in);
    return ok;
}

/* Prints a reason in two lines if it says why an interval is not trusted, so
 * that a terminal holds it. */
static void print_reason(struct sheet *sheet, const char *reason)
{
    const char *doubt = strstr(reason, "; not trusted: ");

    sheet_cell(sheet, "%s", "");
    if (doubt == NULL) {
        sheet_cell(sheet, "%s", reason);
        return;
    }
    sheet_cell(sheet, "%.*s", (int)(doubt - reason), reason);
    sheet_cell(sheet, "%s", "");
    sheet_cell(sheet, "%s", doubt + 2);
}

void check_print(FILE *file, const struct check_list *list)
{
    struct sheet *sheet = sheet_new(":-13\t:0");

    sheet_gap(sheet, 2);
    for (uint32_t i = 0; i < list->count; i++) {
        sheet_cell(sheet, "%s", check_verdict_name(list->item[i].verdict));
        sheet_cell(sheet, "%s", list->item[i].name);
        print_reason(sheet, list->item[i].reason);
    }
    sheet_close(sheet, file);
}

void check_print_sum(FILE *file, const struct check_list *list, size_t lists)
{
    uint32_t count = 0, held = 0, not_judged = 0, trial_failed = 0;

    for (size_t i = 0; i < lists; i++) {
        count += list[i].count;
        held += list[i].held;
        not_judged += list[i].not_judged;
        trial_failed += list[i].trial_failed;
    }
    fprintf(file, "%u of %u checks hold", held, count);
    if (not_judged > 0)
        fprintf(file, ", %u not judged", not_judged);
    if (trial_failed > 0)
        fprintf(file, ", %u with a failed trial", trial_failed);
    fputc('\n', file);
}

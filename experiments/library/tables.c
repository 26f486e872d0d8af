/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tables.c - a table of the results folder, column by column.
 */
#include "experiments/library/run.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/text/csv.h"
#include "sim/text/paths.h"

/* Returns the kind of table whose file has that name, or NULL. */
static const struct csv_kind *find_kind(const char *file)
{
    const struct csv_kind *kind = NULL;

    for (size_t k = 0; (kind = csv_kind_at(k)) != NULL; k++)
        if (strcmp(kind->file, file) == 0)
            return kind;
    return NULL;
}

/* Returns the place of a column in its kind; kind->count, or 0 without a kind: it is not
 * declared. */
static size_t find_column(const struct csv_kind *kind, const char *column)
{
    size_t i = 0;

    while (kind != NULL && i < kind->count && strcmp(kind->columns[i].name, column) != 0)
        i++;
    return i;
}

/* Returns the unit of a column as the lists of the program have it; of a metric of the
 * experiment's own, which summary.csv alone has, as its map says. */
static const char *unit_of(const struct clustersim *run, const struct csv_kind *kind,
                           const char *name)
{
    const struct metric_set *set = experiment_metrics(run->experiment);
    enum metric metric = kind == &csv_summary ? metric_find(set, name) : metric_count(set);
    size_t i = find_column(kind, name);

    if (metric < metric_count(set))
        return metric_info(set, metric)->unit;
    return kind != NULL && i < kind->count ? csv_column_unit(kind, i) : "";
}

/* Is it a column of texts?  As it is declared, though texts may look like numbers; of
 * columns that are not declared, all are but those of summary.csv (metrics of the
 * experiment's own). */
static bool is_text(const struct csv_kind *kind, const char *column)
{
    size_t i = find_column(kind, column);

    if (kind != NULL && i < kind->count)
        return kind->columns[i].type == TABLE_TEXT;
    return kind != &csv_summary;
}

/* The cells as they are read, row by row: arrays that grow and move, so not in the run's
 * arena, which lasts as long as it. */
struct cells {
    struct arena *scratch;      /* freed once the table is made */
    const char **text;
    double *number;
    size_t count, text_room, number_room;   /* cells so far */
};

/* Adds the cells of the row that was read last; in a column of texts the number is NAN.
 * False: err has the place of what is no number. */
static bool read_row(struct arena *arena, const struct csv *csv, const bool *texts,
                     struct cells *cells, struct err *err)
{
    for (size_t c = 0; c < csv_columns(csv); c++) {
        double number = NAN;

        if (!texts[c] && !csv_number(csv, c, &number, err))
            return false;
        ARENA_REACH(cells->scratch, cells->text, cells->text_room, cells->count);
        ARENA_REACH(cells->scratch, cells->number, cells->number_room, cells->count);
        cells->text[cells->count] = arena_text(arena, csv_text(csv, c));
        cells->number[cells->count++] = number;
    }
    return true;
}

/* Turns rows into columns. */
static void lay_out(struct clustersim *run, const struct csv_kind *kind,
                    const struct csv *csv, const bool *texts, const struct cells *cells,
                    struct clustersim_table *table)
{
    size_t columns = csv_columns(csv), rows = cells->count / columns;
    struct clustersim_column *column = arena_alloc(run->arena, columns, sizeof *column);

    for (size_t c = 0; c < columns; c++) {
        const char **text = arena_alloc(run->arena, rows + 1, sizeof *text);
        double *number = texts[c] ? NULL : arena_alloc(run->arena, rows + 1, sizeof *number);

        for (size_t r = 0; r < rows; r++) {
            text[r] = cells->text[r * columns + c];
            if (number != NULL)
                number[r] = cells->number[r * columns + c];
        }
        column[c].name = arena_text(run->arena, csv_names(csv)[c]);
        column[c].unit = unit_of(run, kind, column[c].name);
        column[c].text = text;
        column[c].number = number;
    }
    table->row_count = rows;
    table->column_count = columns;
    table->column = column;
}

/* Reads a whole file into *table.  False: err says why, and *table is as it was. */
static bool read_table(struct clustersim *run, const char *file, const char *path,
                       struct clustersim_table *table, struct err *err)
{
    const struct csv_kind *kind = find_kind(file);
    struct arena *scratch = arena_new(1 << 16);
    struct csv *csv = csv_open(scratch, path, CSV_TABLE, err);
    struct cells cells = { .scratch = scratch };
    enum csv_step step = csv == NULL ? CSV_ERROR : CSV_ROW;
    bool *texts = csv == NULL ? NULL
        : arena_alloc(scratch, csv_columns(csv), sizeof *texts);

    for (size_t c = 0; csv != NULL && c < csv_columns(csv); c++)
        texts[c] = is_text(kind, csv_names(csv)[c]);
    while (step == CSV_ROW && (step = csv_next(csv, err)) == CSV_ROW)
        if (!read_row(run->arena, csv, texts, &cells, err))
            step = CSV_ERROR;
    if (step == CSV_END)
        lay_out(run, kind, csv, texts, &cells, table);
    csv_close(csv);
    arena_free(scratch);
    return step == CSV_END;
}

/* A table that is there and cannot be read is not as none: the warning says why. */
const struct clustersim_table *clustersim_table(struct clustersim *run, const char *name)
{
    const char *file, *path;
    struct table_list *list;
    struct err err = { 0 };

    for (list = run->table; list != NULL; list = list->next)
        if (strcmp(list->table.name, name) == 0)
            return &list->table;
    if (run->error != NULL || run->dir == NULL || run->options.check_only ||
        strchr(name, '/') != NULL)
        return NULL;
    file = text_format(run->arena, "%s.csv", name);
    path = path_join(run->arena, run->dir, file);
    list = arena_alloc(run->arena, 1, sizeof *list);
    list->table.name = arena_text(run->arena, name);
    if (!path_is_file(path))
        return NULL;
    if (!read_table(run, file, path, &list->table, &err)) {
        told_warn(run, &err);
        return NULL;
    }
    list->next = run->table;
    run->table = list;
    return &list->table;
}

const struct clustersim_column *clustersim_column(const struct clustersim_table *table,
                                                  const char *name)
{
    assert(name != NULL);
    for (size_t c = 0; table != NULL && c < table->column_count; c++)
        if (strcmp(table->column[c].name, name) == 0)
            return &table->column[c];
    return NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain_results.c - what names mean that stand in results: metrics, tables,
 * columns and charts.
 */
#include "experiments/words/explain_results.h"

#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/figures.h"
#include "experiments/columns/metric.h"

struct explaining {
    FILE *out;
    const char *word;           /* what was asked for */
    unsigned found;             /* meanings that were printed */
};

/* An empty line, but before the first meaning. */
static void print_separator(struct explaining *e)
{
    if (e->found++ > 0)
        fputc('\n', e->out);
}

/* Built-in metrics alone: those of an experiment are told by `list metrics FILE`. */
static void explain_metric(struct explaining *e)
{
    enum metric metric = metric_find(NULL, e->word);
    const struct metric_info *info;

    if (metric == METRIC_COUNT)
        return;
    info = metric_info(NULL, metric);
    print_separator(e);
    fprintf(e->out, "%s: metric, column of summary.csv\n  unit %s; %s\n"
            "%s  %s\n", info->name, info->unit,
            info->better > 0 ? "more is better"
            : info->better < 0 ? "less is better" : "neither way is better",
            info->of == METRIC_OF_ALL ? ""
            : info->of == METRIC_OF_JOBS_DONE
                ? "  over the jobs that were done: not compared where some were "
                  "not\n"
                : "  over the requests that were answered: not compared where "
                  "some were not\n",
            info->help);
}

/* Prints the columns in lines of at most 78. */
static void print_columns(FILE *out, const struct csv_kind *kind)
{
    size_t column = 0;

    for (size_t c = 0; c < kind->count; c++) {
        size_t bytes = strlen(kind->columns[c].name);

        if (c == 0 || column + 2 + bytes > 77) {
            fprintf(out, "%s%s", c == 0 ? "" : ",\n",
                    c == 0 ? "  columns   " : "            ");
            column = 12;
        } else {
            fputs(", ", out);
            column += 2;
        }
        fputs(kind->columns[c].name, out);
        column += bytes;
    }
    fputc('\n', out);
}

/* A table is named by its file, with or without its ending. */
static void explain_table(struct explaining *e, const struct csv_kind *kind)
{
    size_t bytes = strcspn(kind->file, ".");

    if (strcmp(kind->file, e->word) != 0 &&
        (strlen(e->word) != bytes || memcmp(kind->file, e->word, bytes) != 0))
        return;
    print_separator(e);
    fprintf(e->out, "%s: table of results\n  %s\n", kind->file, kind->help);
    print_columns(e->out, kind);
}

/* A column of summary.csv that is a metric was told as such. */
static void explain_columns(struct explaining *e)
{
    const struct csv_kind *kind;

    for (size_t k = 0; (kind = csv_kind_at(k)) != NULL; k++) {
        explain_table(e, kind);
        for (size_t c = 0; c < kind->count; c++) {
            const char *unit = csv_column_unit(kind, c);

            if (strcmp(kind->columns[c].name, e->word) != 0 ||
                (kind == &csv_summary && metric_find(NULL, e->word) != METRIC_COUNT))
                continue;
            print_separator(e);
            fprintf(e->out, "%s: column of %s\n%s%s%s  %s\n", e->word, kind->file,
                    unit[0] == '\0' ? "" : "  unit ", unit, unit[0] == '\0' ? "" : "\n",
                    kind->columns[c].help);
        }
    }
}

/* A chart of the report. */
static void explain_figures(struct explaining *e)
{
    for (unsigned i = 0; figure_name(i) != NULL; i++)
        if (strcmp(figure_name(i), e->word) == 0) {
            print_separator(e);
            fprintf(e->out, "%s: chart, plots/%s.png of the results\n"
                    "  %s\n", e->word, e->word, figure_question(i));
        }
}

/* A style of `plot --paper`. */
static void explain_paper(struct explaining *e)
{
    const struct paper *paper = paper_find(e->word);

    if (paper == NULL)
        return;
    print_separator(e);
    fprintf(e->out, "%s: style of `clustersim plot DIR --paper %s`\n"
            "  figures for print, %g pt wide and at most %g pt high (TeX points), with\n"
            "  letters of %g pt\n", e->word, e->word, paper->width_pt, paper->height_pt,
            paper->letter_pt);
}

unsigned explain_results(FILE *out, const char *word, unsigned found)
{
    struct explaining e = { out, word, found };

    explain_metric(&e);
    explain_columns(&e);
    explain_figures(&e);
    explain_paper(&e);
    return e.found;
}

/* Counts alone if names is NULL. */
static size_t add_name(const char **names, size_t n, const char *name)
{
    if (names != NULL)
        names[n] = name;
    return n + 1;
}

size_t explain_results_names(const char **names, size_t n)
{
    const struct csv_kind *kind;

    for (unsigned m = 0; m < METRIC_COUNT; m++)
        n = add_name(names, n, metric_info(NULL, (enum metric)m)->name);
    for (size_t k = 0; (kind = csv_kind_at(k)) != NULL; k++) {
        n = add_name(names, n, kind->file);
        for (size_t c = 0; c < kind->count; c++)
            n = add_name(names, n, kind->columns[c].name);
    }
    for (unsigned i = 0; figure_name(i) != NULL; i++)
        n = add_name(names, n, figure_name(i));
    for (unsigned i = 0; paper_at(i) != NULL; i++)
        n = add_name(names, n, paper_at(i)->name);
    return n;
}

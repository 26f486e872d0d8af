/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sheet.h - a table of texts, written as aligned text, HTML, Markdown, LaTeX,
 * CSV or JSON.
 *
 * A sheet holds all its cells in memory.  The tables of a run, whose columns
 * have types and whose rows may be millions, are table.h's.
 */
#ifndef SIM_TEXT_SHEET_H
#define SIM_TEXT_SHEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct out;
struct sheet;

/* Columns: "name:-12\tGB:8\tlabel:0", the titles with tabs between them, each
 * with its width in characters: > 0 is a number, aligned to the right; < 0 a
 * text, aligned to the left, as printf does it; 0 a text of any width.  A
 * column grows with its cells.  NULL: none yet.  sheet_free returns it. */
struct sheet *sheet_new(const char *columns);
void sheet_free(struct sheet *sheet);                   /* accepts NULL */
/* One more column, before the first cell; the title is copied. */
void sheet_column(struct sheet *sheet, const char *title, int width);
/* Blanks between columns; 1 if not set, and always 2 between a number and a
 * text. */
void sheet_gap(struct sheet *sheet, int blanks);

/* The next cell; the last of a row ends it. */
void sheet_cell(struct sheet *sheet, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* The next cells, with tabs between them: for texts that hold no tab. */
void sheet_cells(struct sheet *sheet, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* "%.9g", or an empty cell if it is not finite. */
void sheet_real(struct sheet *sheet, double value);
/* Of the cell that was set last: a class of HTML; "best" is bold on a terminal.
 * The text must live as long as the sheet. */
void sheet_class(struct sheet *sheet, const char *name);
/* Below that cell, in HTML alone; class: "" for none. */
void sheet_small(struct sheet *sheet, const char *class, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The titles, if any is not empty, and the rows that were not printed yet.  No
 * line ends with blanks.  bold: escapes of a terminal may be written. */
void sheet_print(struct sheet *sheet, FILE *file, bool bold);
/* sheet_print without escapes, then sheet_free. */
void sheet_close(struct sheet *sheet, FILE *file);
/* <table>, in a box that scrolls if it has titles; the first `heads` cells of
 * a row say what it is of. */
void sheet_html(const struct sheet *sheet, size_t heads, struct out *out);
/* A tabular of the package booktabs: cells of class "best" are bold; what stands in
 * brackets at the end of a title stands below it.  If first cells are empty, those that
 * are not become headings of the rows from there on.  Small texts are left out. */
void sheet_latex(const struct sheet *sheet, struct out *out);
/* A table as GitHub reads it: cells of class "best" are bold; small texts are left out. */
void sheet_markdown(const struct sheet *sheet, struct out *out);
/* RFC 4180, with a header line; only texts that must be are quoted. */
void sheet_csv(const struct sheet *sheet, struct out *out);
/* A list of one object a row.  In a column of numbers a number, true and false stand as they
 * are, an empty cell is null, and any other text is quoted, as texts are. */
void sheet_json(const struct sheet *sheet, struct out *out);

#endif

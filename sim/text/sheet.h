/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sheet.h - rows and columns laid out for readers: aligned text, HTML,
 * Markdown, JSON.
 *
 * A sheet holds its cells as texts, all of them in memory: it is for tables
 * that somebody looks at.  Rows for programs, typed and streamed as CSV, are
 * table.h's.
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

/* The next cell of the row; a row that has its last cell is ended. */
void sheet_cell(struct sheet *sheet, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
/* All cells of a row, with tabs between them: so no text in it has one.
 * Cells behind the last tab are empty. */
void sheet_row(struct sheet *sheet, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
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
void sheet_markdown(const struct sheet *sheet, struct out *out);
/* A list of one object a row: numbers as they stand, texts quoted. */
void sheet_json(const struct sheet *sheet, struct out *out);

#endif

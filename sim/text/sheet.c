/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sheet.c - cells in an arena, and six ways to write them.
 *
 * Cells stand in one array, row by row; a row is over when it has as many cells
 * as there are columns.  A sheet has an arena of its own, which sheet_free()
 * returns.  Widths count characters of UTF-8, not their columns on a terminal.
 * sheet_print() may be called again as rows come: it prints the new ones, with
 * widths of their own.
 */
#include "sim/text/sheet.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/text/json.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/table.h"

/* A small text below a cell in HTML; a cell has a list of them. */
struct small {
    const char *class, *text;
    struct small *next;         /* the one below; NULL: no more */
};

struct cell {
    const char *text, *class;           /* class: "" for none */
    struct small *small;
};

struct column {
    const char *title;          /* "": without one */
    int width;                          /* at least; > 0: a number */
};

struct sheet {
    struct arena *arena;        /* of the caller */
    struct column *column;      /* [columns] */
    size_t columns, columns_room;
    int gap;                    /* blanks between columns */
    struct cell *cell;                  /* row by row */
    size_t count, room;
    size_t printed;                     /* cells */
    bool titles;                        /* are there any? */
    bool begun;                         /* were they printed? */
};

struct sheet *sheet_new(const char *columns)
{
    struct arena *arena = arena_new((size_t)1 << 12);
    struct sheet *sheet = arena_alloc(arena, 1, sizeof *sheet);
    char *title = arena_text(arena, columns == NULL ? "" : columns);

    *sheet = (struct sheet){.arena = arena, .gap = 1};
    while (*title != '\0') {
        char *end = title + strcspn(title, "\t"), *next = end + (*end != '\0');

        *end = '\0';
        end = strrchr(title, ':');
        assert(end != NULL);
        *end = '\0';
        sheet_column(sheet, title, (int)strtol(end + 1, NULL, 10));
        title = next;
    }
    assert(sheet->gap == 1 && sheet->count == 0);
    return sheet;
}

void sheet_free(struct sheet *sheet)
{
    if (sheet != NULL)
        arena_free(sheet->arena);
}

void sheet_column(struct sheet *sheet, const char *title, int width)
{
    assert(sheet->count == 0);
    if (sheet->columns == sheet->columns_room) {
        size_t more = 2 * sheet->columns_room + 8;

        sheet->column = arena_grow(sheet->arena, sheet->column,
                                   sheet->columns_room, more,
                                   sizeof *sheet->column);
        sheet->columns_room = more;
    }
    sheet->column[sheet->columns++] = (struct column){
        arena_text(sheet->arena, title), width};
    sheet->titles = sheet->titles || title[0] != '\0';
    assert(sheet->columns <= sheet->columns_room);
}

void sheet_gap(struct sheet *sheet, int blanks)
{
    assert(blanks > 0);
    sheet->gap = blanks;
}

/* Appends a cell without a class. */
static void add_cell(struct sheet *sheet, const char *text)
{
    assert(text != NULL && sheet->columns > 0);
    if (sheet->count == sheet->room) {
        size_t more = 2 * sheet->room + 8 * sheet->columns;

        sheet->cell = arena_grow(sheet->arena, sheet->cell, sheet->room, more,
                                 sizeof *sheet->cell);
        sheet->room = more;
    }
    sheet->cell[sheet->count++] = (struct cell){text, "", NULL};
    assert(sheet->count <= sheet->room);
}

void sheet_cell(struct sheet *sheet, const char *fmt, ...)
{
    assert(sheet->columns > 0);
    va_list args;

    va_start(args, fmt);
    add_cell(sheet, text_vformat(sheet->arena, fmt, args));
    va_end(args);
}

void sheet_cells(struct sheet *sheet, const char *fmt, ...)
{
    assert(sheet->columns > 0);
    va_list args;
    char *text, *end;

    va_start(args, fmt);
    text = text_vformat(sheet->arena, fmt, args);
    va_end(args);
    while ((end = strchr(text, '\t')) != NULL) {
        *end = '\0';
        add_cell(sheet, text);
        text = end + 1;
    }
    add_cell(sheet, text);
}

void sheet_real(struct sheet *sheet, double value)
{
    assert(sheet->columns > 0);
    char text[32] = "";

    if (isfinite(value))
        (void)table_format_real(value + 0.0, text);
    sheet_cell(sheet, "%s", text);
}

/* Returns the cell that was set last, which classes and small texts are for. */
static struct cell *last_cell(struct sheet *sheet)
{
    assert(sheet->count > 0);
    return &sheet->cell[sheet->count - 1];
}

void sheet_class(struct sheet *sheet, const char *name)
{
    assert(name != NULL);
    last_cell(sheet)->class = name;
}

void sheet_small(struct sheet *sheet, const char *class, const char *fmt, ...)
{
    struct small *small = arena_alloc(sheet->arena, 1, sizeof *small);
    struct small **end = &last_cell(sheet)->small;
    va_list args;

    assert(class != NULL);
    va_start(args, fmt);
    *small = (struct small){class, text_vformat(sheet->arena, fmt, args), NULL};
    va_end(args);
    while (*end != NULL)
        end = &(*end)->next;
    *end = small;
}

/* Returns the number of characters of a text, not of bytes. */
static int text_width(const char *text)
{
    int count = 0;

    for (; *text != '\0'; text++)
        count += ((unsigned char)*text & 0xc0) != 0x80;
    assert(count >= 0);
    return count;
}

static int larger_of(int a, int b)
{
    return a > b ? a : b;
}

/* Returns the characters that a column needs: for its title, and for the cells that were not
 * printed yet.  At least the width that it was given. */
static int column_width(const struct sheet *sheet, size_t c)
{
    assert(c < sheet->columns);
    const struct column *column = &sheet->column[c];
    int width = larger_of(abs(column->width), text_width(column->title));

    for (size_t i = sheet->printed + c; i < sheet->count; i += sheet->columns)
        width = larger_of(width, text_width(sheet->cell[i].text));
    return width;
}

/* Returns the blanks before a column; two if a number stands before a text. */
static int gap_before(const struct sheet *sheet, size_t c)
{
    assert(c < sheet->columns);
    if (c == 0)
        return 0;
    return larger_of(sheet->gap, 1 + (sheet->column[c - 1].width > 0 &&
                                      sheet->column[c].width <= 0));
}

/* Blanks are owed until a text stands behind them. */
static void print_text(FILE *file, int *owed, const char *text,
                       const char *before, const char *behind)
{
    assert(*owed >= 0);
    if (text[0] == '\0')
        return;
    fprintf(file, "%*s%s%s%s", *owed, "", before, text, behind);
    *owed = 0;
}

/* Prints a row; cell: its first cell, or NULL for the titles. */
static void print_line(const struct sheet *sheet, FILE *file,
                       const struct cell *cell, const int *width, bool bold)
{
    int owed = 0;

    for (size_t c = 0; c < sheet->columns; c++) {
        const struct column *column = &sheet->column[c];
        const char *text = cell == NULL ? column->title : cell[c].text;
        bool best = bold && cell != NULL && strcmp(cell[c].class, "best") == 0;
        int pad = width[c] - text_width(text);

        owed += gap_before(sheet, c) + (column->width > 0 ? pad : 0);
        print_text(file, &owed, text, best ? "\033[1m" : "",
                   best ? "\033[0m" : "");
        owed += column->width > 0 ? 0 : pad;
    }
    fputc('\n', file);
    assert(owed >= 0);
}

/* Prints the rows that are new since the last call; columns are as wide as these
 * rows need. */
void sheet_print(struct sheet *sheet, FILE *file, bool bold)
{
    int *width = arena_alloc(sheet->arena, sheet->columns, sizeof *width);

    assert(sheet->count % sheet->columns == 0);
    for (size_t c = 0; c < sheet->columns; c++)
        width[c] = column_width(sheet, c);
    if (sheet->titles && !sheet->begun)
        print_line(sheet, file, NULL, width, false);
    sheet->begun = true;
    for (; sheet->printed < sheet->count; sheet->printed += sheet->columns)
        print_line(sheet, file, &sheet->cell[sheet->printed], width, bold);
    assert(sheet->printed == sheet->count);
}

void sheet_close(struct sheet *sheet, FILE *file)
{
    sheet_print(sheet, file, false);
    sheet_free(sheet);
}

/* Numbers get the class "n", which aligns them to the right. */
static void write_html_cell(struct out *out, const char *tag, bool number,
                            const struct cell *cell)
{
    assert(tag[0] != '\0' && cell->text != NULL);
    const char *class = cell->class;

    out_printf(out, "<%s", tag);
    if (number || class[0] != '\0')
        out_printf(out, " class=\"%s%s%s\"", number ? "n" : "",
                   number && class[0] != '\0' ? " " : "", class);
    out_text(out, ">");
    out_html_text(out, cell->text);
    for (const struct small *s = cell->small; s != NULL; s = s->next) {
        out_text(out, "<small");
        if (s->class[0] != '\0')
            out_printf(out, " class=\"%s\"", s->class);
        out_text(out, ">");
        out_html_text(out, s->text);
        out_text(out, "</small>");
    }
    out_printf(out, "</%s>", tag);
}

/* Writes a row; cell: its first cell, or NULL for the titles. */
static void write_html_row(const struct sheet *sheet, size_t heads, struct out *out,
                           const struct cell *cell)
{
    assert(heads <= sheet->columns);
    out_text(out, "<tr>");
    for (size_t c = 0; c < sheet->columns; c++) {
        const struct cell title = {sheet->column[c].title, "", NULL};

        write_html_cell(out, cell == NULL || c < heads ? "th" : "td",
                        sheet->column[c].width > 0, cell == NULL ? &title : &cell[c]);
    }
    out_text(out, "</tr>");
}

void sheet_html(const struct sheet *sheet, size_t heads, struct out *out)
{
    assert(heads <= sheet->columns);
    assert(sheet->count % sheet->columns == 0);
    out_text(out, sheet->titles ? "<div class=\"wide\"><table>\n<thead>"
                                : "<table>");
    if (sheet->titles) {
        write_html_row(sheet, heads, out, NULL);
        out_text(out, "</thead>\n");
    }
    out_text(out, "<tbody>\n");
    for (size_t i = 0; i < sheet->count; i += sheet->columns) {
        write_html_row(sheet, heads, out, &sheet->cell[i]);
        out_text(out, "\n");
    }
    out_text(out, sheet->titles ? "</tbody></table></div>\n"
                                : "</tbody></table>\n");
}

/* A bar within a cell would end it, and "<b>" would be taken for a tag, so both are escaped, and
 * so is what escapes. */
static void write_markdown_text(struct out *out, const char *text)
{
    assert(text != NULL);
    for (; *text != '\0'; text++) {
        if (*text == '|' || *text == '<' || *text == '\\')
            out_text(out, "\\");
        out_bytes(out, text, 1);
    }
}

void sheet_markdown(const struct sheet *sheet, struct out *out)
{
    assert(sheet->count % sheet->columns == 0);
    for (size_t c = 0; c < sheet->columns; c++)
        out_printf(out, "| %s ", sheet->column[c].title);
    out_text(out, "|\n");
    for (size_t c = 0; c < sheet->columns; c++)
        out_text(out, "|---");
    out_text(out, "|\n");
    for (size_t i = 0; i < sheet->count; i++) {
        bool best = strcmp(sheet->cell[i].class, "best") == 0;

        out_text(out, best ? "| **" : "| ");
        write_markdown_text(out, sheet->cell[i].text);
        out_text(out, best ? "**" : "");
        out_text(out, (i + 1) % sheet->columns == 0 ? " |\n" : " ");
    }
}

/* A title, with what stands in brackets at its end below it. */
static void write_latex_title(struct out *out, const char *title)
{
    const char *unit = strstr(title, " (");
    char name[128];

    if (unit == NULL || (size_t)(unit - title) >= sizeof name) {
        out_latex_text(out, title);
        return;
    }
    assert(unit >= title);
    snprintf(name, sizeof name, "%.*s", (int)(unit - title), title);
    out_text(out, "\\shortstack[r]{");
    out_latex_text(out, name);
    out_text(out, "\\\\");
    out_latex_text(out, unit + 1);
    out_text(out, "}");
}

/* Writes cells with & between them from column `first` on, and the end of the row; cell:
 * the row's first one, or NULL for the titles. */
static void write_latex_row(const struct sheet *sheet, const struct cell *cell,
                            size_t first, struct out *out)
{
    assert(first < sheet->columns);     /* else it would be an empty row */
    for (size_t c = first; c < sheet->columns; c++) {
        bool best = cell != NULL && strcmp(cell[c].class, "best") == 0;

        out_text(out, c > first ? " & " : "");
        if (cell == NULL) {
            write_latex_title(out, sheet->column[c].title);
            continue;
        }
        out_text(out, best ? "\\textbf{" : "");
        out_latex_text(out, cell[c].text);
        out_text(out, best ? "}" : "");
    }
    out_text(out, " \\\\\n");
}

/* The first cell of a group of rows, as a row of its own. */
static void write_latex_group(const struct sheet *sheet, const char *text, bool later,
                              struct out *out)
{
    assert(sheet->columns > 1 && text[0] != '\0');
    out_printf(out, "%s\\multicolumn{%zu}{@{}l}{\\textit{", later ? "\\addlinespace\n" : "",
               sheet->columns - 1);
    out_latex_text(out, text);
    out_text(out, "}} \\\\\n");
}

void sheet_latex(const struct sheet *sheet, struct out *out)
{
    size_t first = 0;

    assert(sheet->count % sheet->columns == 0);
    for (size_t i = 0; i < sheet->count; i += sheet->columns)
        if (sheet->cell[i].text[0] == '\0')
            first = 1;
    out_text(out, "\\begin{tabular}{@{}");
    for (size_t c = first; c < sheet->columns; c++)
        out_text(out, sheet->column[c].width > 0 ? "r" : "l");
    out_text(out, "@{}}\n\\toprule\n");
    if (sheet->titles) {
        write_latex_row(sheet, NULL, first, out);
        out_text(out, "\\midrule\n");
    }
    for (size_t i = 0; i < sheet->count; i += sheet->columns) {
        if (first > 0 && sheet->cell[i].text[0] != '\0')
            write_latex_group(sheet, sheet->cell[i].text, i > 0, out);
        write_latex_row(sheet, &sheet->cell[i], first, out);
    }
    out_text(out, "\\bottomrule\n\\end{tabular}\n");
}

/* Writes a field of a CSV file, in quotation marks if it needs them. */
static void write_csv_text(struct out *out, const char *text)
{
    assert(text != NULL);
    bool plain = text[strcspn(text, ",\"\r\n")] == '\0';

    out_text(out, plain ? "" : "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"')
            out_text(out, "\"");
        out_bytes(out, text, 1);
    }
    out_text(out, plain ? "" : "\"");
}

void sheet_csv(const struct sheet *sheet, struct out *out)
{
    assert(sheet->count % sheet->columns == 0);
    for (size_t i = 0; i < sheet->columns + sheet->count; i++) {
        write_csv_text(out, i < sheet->columns
                                ? sheet->column[i].title
                                : sheet->cell[i - sheet->columns].text);
        out_text(out, (i + 1) % sheet->columns == 0 ? "\n" : ",");
    }
}

/* A cell of a column of numbers and truth values, or of texts. */
static void put_json_cell(struct out *out, const char *text, bool number)
{
    if (number && *text == '\0')
        out_text(out, "null");
    else if (number && (json_is_number(text) || strcmp(text, "true") == 0 ||
                        strcmp(text, "false") == 0))
        out_text(out, text);
    else
        out_json_text(out, text);
}

/* Columns that are aligned to the right are of numbers. */
void sheet_json(const struct sheet *sheet, struct out *out)
{
    assert(sheet->columns > 0 || sheet->count == 0);
    out_text(out, "[");
    for (size_t i = 0; i < sheet->count; i++) {
        size_t c = i % sheet->columns;
        const char *text = sheet->cell[i].text;

        out_text(out, c > 0 ? ", " : i > 0 ? "},\n    {" : "\n    {");
        out_json_text(out, sheet->column[c].title);
        out_text(out, ": ");
        put_json_cell(out, text, sheet->column[c].width > 0);
    }
    out_text(out, sheet->count > 0 ? "}\n  ]" : "]");
}

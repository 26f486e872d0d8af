/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cells.c - RFC 4180, one character at a time.
 */
#include "experiments/recount/cells.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/recount/judge.h"
#include "sim/text/table.h"

/* Ends the text of a cell, and takes off the apostrophe by which
 * sim/text/table.h keeps a spreadsheet from reading the text as a formula. */
static void end_text(char *text, unsigned bytes)
{
    text[bytes] = '\0';
    if (text[0] == '\'' && table_guards(text + 1))
        memmove(text, text + 1, bytes);
}

/* A doubled quote within quotes stands for one.  Of a text that is too long,
 * the end is dropped. */
bool cells_read(const char **at, const char *end, struct cells *cells)
{
    const char *c = *at;
    bool quoted = false;
    unsigned bytes = 0;

    cells->count = 0;
    for (; c < end && cells->count < CELLS_MAX; c++) {
        char *text = cells->text[cells->count];
        bool ends = !quoted && (*c == ',' || *c == '\n');

        if (ends) {
            end_text(text, bytes);
            bytes = 0;
            cells->count++;
            if (*c == '\n') {
                *at = c + 1;
                return true;
            }
        } else if (*c == '"' && quoted && c + 1 < end && c[1] == '"') {
            if (bytes + 1 < CELL_BYTES)
                text[bytes++] = *c;
            c++;
        } else if (*c == '"')
            quoted = !quoted;
        else if (bytes + 1 < CELL_BYTES)
            text[bytes++] = *c;
    }
    return false;
}

double cells_number(const struct cells *cells, unsigned column)
{
    const char *text = cells->text[column];
    char *end;
    double number;

    assert(column < cells->count);
    number = strtod(text, &end);
    return end == text || *end != '\0' ? NAN : number;
}

void cells_judge(const struct cells *cells, unsigned column, const char *name,
                 double again, struct judge *judge)
{
    double have = cells_number(cells, column);

    judge_figure(judge, name, have, again, DIGITS * fmax(fabs(have), fabs(again)));
}

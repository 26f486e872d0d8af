/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ask.c - the questions on a terminal.
 *
 * An empty line is the default.  What is not allowed is said, and asked again.
 */
#include <stdio.h>
#include <string.h>

#include "experiments/start/start.h"
#include "sim/base/err.h"

#define LINE_BYTES 1024
#define COLUMNS 78u

/* Prints the answers that there are, folded at blanks, below the question. */
static void print_allowed(FILE *out, const char *text)
{
    size_t at = COLUMNS;

    while (*text != '\0') {
        size_t bytes = strcspn(text, " ");

        if (at + 1 + bytes > COLUMNS) {
            fputs("\n   ", out);
            at = 3;
        }
        fprintf(out, " %.*s", (int)bytes, text);
        at += 1 + bytes;
        text += bytes;
        text += strspn(text, " ");
    }
    fputc('\n', out);
}

/* Reads a line without its end; false: there is none.  *whole: it is not longer than
 * that; if it is, the rest is passed over. */
static bool read_line(FILE *in, char *line, size_t bytes, bool *whole)
{
    int c;

    if (fgets(line, (int)bytes, in) == NULL)
        return false;
    *whole = strchr(line, '\n') != NULL || strlen(line) + 1 < bytes;
    for (c = *whole ? '\n' : getc(in); c != '\n' && c != EOF; c = getc(in))
        *whole = false;
    line[strcspn(line, "\r\n")] = '\0';
    return true;
}

/* Asks until an answer is allowed.  False: the input has ended. */
static bool ask_one(struct start *start, enum start_question question, FILE *in, FILE *out)
{
    struct start_info info = start_info(start, question);
    char line[LINE_BYTES];
    bool whole;

    fprintf(out, "\n%d. %s", (int)question + 1, info.ask);
    print_allowed(out, info.allowed);
    for (;;) {
        struct err err = { 0 };

        fprintf(out, "    [%s] ", info.usual);
        fflush(out);
        if (!read_line(in, line, sizeof line, &whole))
            return false;
        if (!whole) {
            fprintf(out, "    an answer must have at most %d characters\n", LINE_BYTES - 2);
            continue;
        }
        if (start_set(start, question, line[0] == '\0' ? info.usual : line, &err))
            return true;
        fprintf(out, "    %s%s%s\n", err.text, err.hint[0] == '\0' ? "" : "; ", err.hint);
    }
}

bool start_ask(struct start *start, FILE *in, FILE *out)
{
    fputs("Five questions; Enter takes what stands in brackets.\n", out);
    for (int q = 0; q < START_COUNT; q++)
        if (start_asks(start, (enum start_question)q) &&
            !ask_one(start, (enum start_question)q, in, out))
            return false;
    fputc('\n', out);
    return true;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lists.c - all lists in their order, printed and searched.
 */
#include "experiments/lists/lists.h"

#include <stdlib.h>
#include <string.h>

#include "experiments/lists/parts.h"
#include "sim/text/sheet.h"

const struct list *lists_at(size_t i)
{
    static const struct list *const part[] = { lists_of_names, lists_of_catalogue };

    for (size_t p = 0; p < sizeof part / sizeof part[0]; p++)
        for (const struct list *list = part[p]; list->name != NULL; list++)
            if (i-- == 0)
                return list;
    return NULL;
}

void lists_print(FILE *out, const struct list *list, const struct catalogue *catalogue)
{
    if (list->print != NULL)
        list->print(out, catalogue);
    else
        sheet_close(list->rows(catalogue), out);
}

/* Is the word the first one of the line? */
static bool begins_with(const char *line, const char *word)
{
    size_t bytes = strlen(word);

    return strncmp(line, word, bytes) == 0 && line[bytes] == ' ';
}

/* Prints the rows of a list's text that begin with the word, each below its
 * heading: the first line of a part. */
static unsigned print_rows(FILE *out, const struct list *from, char *text,
                           const char *word, unsigned found)
{
    const char *heading = from->heading;
    char *rest = text, *line;

    while ((line = rest) != NULL && *line != '\0') {
        char *end = strchr(line, '\n');

        rest = end == NULL ? NULL : end + 1;
        if (end != NULL)
            *end = '\0';
        if (*line == '\0') {
            heading = from->heading;
        } else if (heading == NULL) {
            heading = line;
        } else if (begins_with(line, word)) {
            fprintf(out, "%s%s: in `clustersim list %s`\n  %s\n  %s\n",
                    found > 0 ? "\n" : "", word, from->name, heading, line);
            found++;
        }
    }
    return found;
}

/* Lists are printed into memory and searched, so their columns are written once. */
unsigned lists_find(FILE *out, const struct catalogue *catalogue, const char *word,
                    unsigned found)
{
    const struct list *list;

    for (size_t i = 0; (list = lists_at(i)) != NULL; i++) {
        char *text = NULL;
        size_t bytes;
        FILE *page;

        if (!list->values)
            continue;
        page = open_memstream(&text, &bytes);
        if (page == NULL)
            return found;
        lists_print(page, list, catalogue);
        fclose(page);
        found = print_rows(out, list, text, word, found);
        free(text);
    }
    return found;
}

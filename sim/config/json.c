/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * json.c - a tree as JSON.
 *
 * The tree keeps texts, not types.  So a scalar becomes a number, true, false or
 * null where it was written without quotation marks and reads so in JSON.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "sim/config/conf.h"
#include "sim/config/node.h"
#include "sim/text/json.h"

/* A JSON string; UTF-8 is passed through. */
static void print_text(const char *text, FILE *file)
{
    assert(text != NULL);
    fputc('"', file);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            fprintf(file, "\\%c", c);
        else if (c < ' ')
            fprintf(file, "\\u%04x", c);
        else
            fputc(c, file);
    }
    fputc('"', file);
}

/* Only plain scalars can be numbers, true or false in YAML; quoted ones are
 * texts. */
static void print_scalar(const struct conf_node *node, FILE *file)
{
    const char *text = node->text;

    if (conf_is_null(node))
        fputs("null", file);
    else if (node->plain && (strcmp(text, "true") == 0 || strcmp(text, "false") == 0 ||
                             json_is_number(text)))
        fputs(text, file);
    else
        print_text(text, file);
}

/* Prints a node, indented by two blanks a level. */
static void print_node(const struct conf_node *node, int depth, FILE *file)
{
    bool map = node->kind == CONF_MAP;

    assert(depth >= 0);
    assert(node->kind == CONF_SCALAR || map || node->kind == CONF_LIST);
    if (node->kind == CONF_SCALAR) {
        print_scalar(node, file);
        return;
    }
    fputs(map ? "{" : "[", file);
    for (size_t i = 0; i < node->count; i++) {
        fprintf(file, "%s\n%*s", i > 0 ? "," : "", 2 * depth + 2, "");
        if (map) {
            print_text(node->pairs[i].key, file);
            fputs(": ", file);
        }
        print_node(map ? node->pairs[i].value : node->items[i], depth + 1, file);
    }
    if (node->count > 0)
        fprintf(file, "\n%*s", 2 * depth, "");
    fputs(map ? "}" : "]", file);
}

void conf_print_json(const struct conf_node *node, FILE *file)
{
    assert(node != NULL && file != NULL);
    print_node(node, 0, file);
    fputc('\n', file);
}

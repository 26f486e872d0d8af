/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_html.h - texts, numbers and pictures for an HTML page.
 *
 * Whatever a user may have named goes through out_html_text.
 */
#ifndef EXPERIMENTS_REPORT_REPORT_HTML_H
#define EXPERIMENTS_REPORT_REPORT_HTML_H

#include <stdbool.h>

struct out;

#define HTML_NUMBER_BYTES 48

#define HTML_NAME_BYTES 32

/* What a template names. */
struct html_filler {
    void *self;
    bool (*is_there)(void *self, const char *name);
    void (*put)(void *self, const char *name);
};

/* Writes a page as Mustache does: {{name}} stands for what put() writes,
 * {{#name}} ... {{/name}} is left out where is_there() is false, and {{^name}}
 * ... {{/name}} where it is true. */
void html_fill(struct out *out, const char *page,
               const struct html_filler *filler);
/* <TAG>text</TAG>; tag may have attributes: "td class=\"n\"". */
void html_element(struct out *out, const char *tag, const char *text);
/* Digits after the point that show `digits` significant ones. */
int html_decimals(double value, int digits);
/* "-" for NAN. */
void html_number(char text[HTML_NUMBER_BYTES], double value, int decimals);
/* The picture's bytes inside the page; false: it cannot be read, and nothing
 * was written. */
bool html_image(struct out *out, const char *path, const char *type,
                const char *alternative);

#endif

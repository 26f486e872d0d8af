/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_html.c - a template filled in; elements, numbers, pictures.
 */
#include "experiments/report/report_html.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/text/out.h"
#include "sim/text/paths.h"

/* Goes from tag to tag.  `hidden` counts the blocks around the place that are
 * left out: within them only the ends of blocks matter.  A block's tag takes
 * the end of its line with it. */
void html_fill(struct out *out, const char *page,
               const struct html_filler *filler)
{
    unsigned hidden = 0;        /* blocks around it that are left out */
    const char *tag;

    for (; (tag = strstr(page, "{{")) != NULL;) {
        const char *end = strstr(tag, "}}");
        bool block = strchr("#^/", tag[2]) != NULL;
        char name[HTML_NAME_BYTES];

        if (hidden == 0)
            out_bytes(out, page, (size_t)(tag - page));
        assert(end != NULL && end - tag - 2 < HTML_NAME_BYTES);
        tag += 2;
        snprintf(name, sizeof name, "%.*s", (int)(end - tag - block),
                 tag + block);
        page = end + 2;
        if (block && *page == '\n')
            page++;
        if (*tag == '/')
            hidden -= hidden > 0;
        else if (block)
            hidden += hidden > 0 ||
                      filler->is_there(filler->self, name) != (*tag == '#');
        else if (hidden == 0)
            filler->put(filler->self, name);
    }
    out_text(out, page);
}

void html_element(struct out *out, const char *tag, const char *text)
{
    out_printf(out, "<%s>", tag);
    out_html_text(out, text);
    out_printf(out, "</%.*s>", (int)strcspn(tag, " "), tag);
}

/* Example: 3 digits of 12.345 need one decimal (12.3), of 0.012 two (0.01). */
int html_decimals(double value, int digits)
{
    double size = fabs(value);
    int before = size >= 1 && size < 1e15 ? (int)floor(log10(size)) + 1 : 1;

    return before < digits ? digits - before : 0;
}

void html_number(char text[HTML_NUMBER_BYTES], double value, int decimals)
{
    if (!isfinite(value))
        snprintf(text, HTML_NUMBER_BYTES, "-");
    else if (fabs(value) >= 1e15)
        snprintf(text, HTML_NUMBER_BYTES, "%.4g", value);
    else
        snprintf(text, HTML_NUMBER_BYTES, "%.*f", decimals, value);
}

/* Writes a file as base64 (RFC 4648), as pictures stand in a page. */
static void base64(struct out *out, FILE *file)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                "abcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char in[3];
    size_t count;

    while ((count = fread(in, 1, sizeof in, file)) > 0) {
        unsigned b1 = count > 1 ? in[1] : 0, b2 = count > 2 ? in[2] : 0;
        char four[4];

        four[0] = digit[in[0] >> 2];
        four[1] = digit[(in[0] & 3u) << 4 | b1 >> 4];
        four[2] = count > 1 ? digit[(b1 & 15u) << 2 | b2 >> 6] : '=';
        four[3] = count > 2 ? digit[b2 & 63u] : '=';
        out_bytes(out, four, sizeof four);
    }
}

/* The file is read in threes of bytes, which are four letters of base64. */
bool html_image(struct out *out, const char *path, const char *type,
                const char *alternative)
{
    FILE *file = path_is_file(path) ? fopen(path, "rb") : NULL;

    if (file == NULL)
        return false;
    out_text(out, "<img alt=\"");
    out_html_text(out, alternative);
    out_printf(out, "\" src=\"data:%s;base64,", type);
    base64(out, file);
    out_text(out, "\">");
    fclose(file);
    return true;
}

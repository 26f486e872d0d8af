/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_html.c - one page without scripts or other files; it prints well.
 */
#include "experiments/report/report_html.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "sim/text/out.h"
#include "sim/text/paths.h"

static const char style[] =
    "body{margin:0;background:#fff;color:#222;font:16px/1.5 system-ui,"
    "\"DejaVu Sans\",sans-serif}\n"
    "main{max-width:1120px;margin:0 auto;padding:24px}\n"
    "h1{font-size:28px;margin:0 0 4px}\n"
    "h2{font-size:21px;margin:40px 0 8px;border-bottom:2px solid #0072b2}\n"
    "h3{font-size:17px;margin:28px 0 6px}\nh4{margin:18px 0 4px}\n"
    "p{margin:6px 0;max-width:75em}\n"
    ".pale,figcaption,.none{color:#5a5a5a}\n"
    "table{border-collapse:collapse;margin:10px 0;font-size:14px;"
    "font-variant-numeric:tabular-nums}\n"
    "th,td{padding:4px 10px;text-align:left;vertical-align:top;"
    "border-bottom:1px solid #ddd}\n"
    "thead th{border-bottom:2px solid #888}\n"
    "th.n,td.n{text-align:right;white-space:nowrap}\n"
    "td.best{font-weight:700;background:#e5f1f8}\n"
    "td.n small{display:block;color:#444}\n"
    "small.better{background:#e3f4ee}\nsmall.worse{background:#fbe9df}\n"
    ".verdict{font-weight:700;white-space:nowrap}\n"
    ".holds{color:#00664b}\n.fails{color:#a34700}\n.open{color:#5a5a5a}\n"
    ".wide,figure{overflow-x:auto}\n"
    "main>table td{overflow-wrap:anywhere}\n"
    "figure{margin:18px 0}\n"
    "figure img{width:100%;min-width:700px;max-width:1200px;height:auto;"
    "box-sizing:border-box;border:1px solid #ddd}\n"
    "code{font-size:14px;overflow-wrap:anywhere}\n"
    "@media print{figure img{min-width:0}body{font-size:11pt}main{max-width:none;padding:0}"
    "table{font-size:9pt}th,td{padding:2px 5px}h2,h3,h4{break-after:avoid}"
    "figure,table{break-inside:avoid}a{color:inherit;text-decoration:none}}\n";

void html_begin(struct out *out, const char *title)
{
    out_text(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
                  "<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
                  "content=\"width=device-width, initial-scale=1\">\n");
    html_element(out, "title", title);
    out_text(out, "\n<style>\n");
    out_text(out, style);
    out_text(out, "</style>\n</head>\n<body>\n<main>\n");
}

void html_end(struct out *out)
{
    out_text(out, "</main>\n</body>\n</html>\n");
}

void html_element(struct out *out, const char *tag, const char *text)
{
    out_printf(out, "<%s>", tag);
    out_html_text(out, text);
    out_printf(out, "</%.*s>", (int)strcspn(tag, " "), tag);
}

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

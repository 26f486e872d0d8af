/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chart.c - the shapes of gnuplot's SVG, panel by panel.
 *
 * gnuplot names its plots gnuplot_plot_1a, 2a, 1b, ...: the letter counts the panels, if there
 * are several.  What
 * stands before the first plot of a panel are its axes: a tick is a short line that a text
 * follows at once.
 */
#include "tests/aid/chart.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PANELS_MAX 16
#define TICKS_MAX 64
#define PATTERNS_MAX 200
#define FONT_DROP 0.325         /* of its size, from the middle of a letter to its foot */
#define CAP_MAX 16.0            /* pixels of the cap of a whisker */
#define TICK_MAX 15.0

struct tick {
    double pixel, value;
};

struct axis {
    struct tick tick[TICKS_MAX];
    size_t ticks;
    double from, step;          /* pixel = from + step * value */
    bool scaled, logarithmic;
};

struct chart {
    struct chart_shape *shape;
    size_t count, room;
    struct axis axis[PANELS_MAX][2];
    char pattern[PATTERNS_MAX][8];
    double slack[2];
    double page[2];
    /* While it is read: */
    unsigned panel, plot, depth, seen;
    double text[2], size;       /* place and size of the next text */
    bool twice;                 /* it is drawn a second time, as the ground of a text */
    char anchor;                /* s, m or e */
    double (*last)[2];          /* the line just before, if it may be a tick */
};

/* "rgb(  0, 114, 178)" or "#0072B2" as 0072B2; an empty text of anything else. */
static void read_colour(const char *text, char colour[8])
{
    unsigned r, g, b;

    colour[0] = '\0';
    if (text != NULL && sscanf(text, "rgb( %u, %u, %u)", &r, &g, &b) == 3 && (r | g | b) < 256)
        snprintf(colour, 8, "%02X%02X%02X", r & 255, g & 255, b & 255);
    else if (text != NULL && *text == '#')
        snprintf(colour, 8, "%.6s", text + 1);
}

/* Returns what an attribute holds within a tag, past its quotation mark; NULL: it has none. */
static const char *attribute(const char *tag, const char *name)
{
    const char *end = strchr(tag, '>'), *at = tag;
    size_t bytes = strlen(name);

    assert_non_null(end);
    while ((at = strstr(at, name)) != NULL && at < end) {
        const char *value = at + bytes + strspn(at + bytes, " =");

        if (at[-1] == ' ' && value > at + bytes && (*value == '\'' || *value == '"'))
            return value + 1;
        at += bytes;
    }
    return NULL;
}

static struct chart_shape *add_shape(struct chart *chart, enum chart_kind kind, size_t corners)
{
    if (chart->count == chart->room) {
        chart->room = 2 * chart->room + 256;
        chart->shape = realloc(chart->shape, chart->room * sizeof *chart->shape);
        assert_non_null(chart->shape);
    }
    struct chart_shape *shape = &chart->shape[chart->count++];
    *shape = (struct chart_shape){ .kind = kind, .panel = chart->panel, .plot = chart->plot };
    shape->at = calloc(corners, sizeof *shape->at);
    shape->corners = corners;
    assert_non_null(shape->at);
    return shape;
}

/* Of a path "M1,2 L3,4 M5,6 ... " each stretch is a line; a closed one is the border of an
 * area, which has a shape of its own. */
static void read_path(struct chart *chart, const char *tag)
{
    const char *at = attribute(tag, "d");
    struct chart_shape *line = NULL;
    char colour[8];
    double x, y;
    int used;

    chart->last = NULL;
    read_colour(attribute(tag, "stroke"), colour);
    if (at == NULL || memchr(at, 'Z', strcspn(at, "'>")) != NULL)
        return;
    for (; sscanf(at, " %*1[ML]%lf,%lf%n", &x, &y, &used) == 2; at += used) {
        if (at[strspn(at, " \n\t")] == 'M') {
            line = add_shape(chart, CHART_LINE, strcspn(at, "'") / 8 + 1);
            strcpy(line->colour, colour);
            line->corners = 0;
        }
        assert_non_null(line);
        line->at[line->corners][0] = x;
        line->at[line->corners++][1] = y;
    }
    if (line != NULL && line->corners == 2)
        chart->last = line->at;
}

/* Four corners along the axes are a box, any other area the head of an arrow. */
static void read_polygon(struct chart *chart, const char *tag)
{
    const char *fill = attribute(tag, "fill"), *at = attribute(tag, "points");
    double p[6][2], low[2] = { 1e9, 1e9 }, high[2] = { -1e9, -1e9 };
    size_t corners = 0;
    unsigned pattern;
    int used;

    assert_non_null(at);
    for (; corners < 6 && sscanf(at, "%lf,%lf%n", &p[corners][0], &p[corners][1], &used) == 2;
         at += used, corners++)
        for (int i = 0; i < 2; i++) {
            low[i] = fmin(low[i], p[corners][i]);
            high[i] = fmax(high[i], p[corners][i]);
        }
    struct chart_shape *box = add_shape(chart, corners == 4 ? CHART_BOX : CHART_ARROW, 2);
    memcpy(box->at[0], low, sizeof low);
    memcpy(box->at[1], high, sizeof high);
    read_colour(fill, box->colour);
    if (fill != NULL && sscanf(fill, "url(#gpPat%u", &pattern) == 1 && pattern < PATTERNS_MAX)
        strcpy(box->colour, chart->pattern[pattern]);
}

static void read_pattern(struct chart *chart, const char *tag)
{
    const char *id = attribute(tag, "id"), *colour = strstr(tag, "rgb(");
    unsigned number;

    if (id != NULL && sscanf(id, "gpPat%u", &number) == 1) {
        assert_true(number < PATTERNS_MAX);
        read_colour(colour, chart->pattern[number]);
    }
}

/* White marks lie below others, so that lines end there. */
static void read_mark(struct chart *chart, const char *tag)
{
    const char *at = attribute(tag, "transform");
    double x, y;
    char colour[8];
    int sign;

    read_colour(attribute(tag, "color"), colour);
    if (at == NULL || sscanf(at, "translate(%lf,%lf)", &x, &y) != 2 ||
        sscanf(attribute(tag, "xlink:href"), "#gpPt%d", &sign) != 1 ||
        strcmp(colour, "FFFFFF") == 0)
        return;
    struct chart_shape *mark = add_shape(chart, CHART_MARK, 1);
    mark->at[0][0] = x;
    mark->at[0][1] = y;
    mark->sign = sign + 1;
    strcpy(mark->colour, colour);
}

/* A text right behind a short line is the number of a tick. */
static void read_text(struct chart *chart, const char *tag)
{
    const char *text = strchr(tag, '>') + 1;
    size_t bytes = strcspn(text, "<");

    if (chart->twice)
        return;
    struct chart_shape *said = add_shape(chart, CHART_TEXT, 1);
    snprintf(said->text, sizeof said->text, "%.*s", (int)bytes, text);
    said->at[0][0] = chart->text[0];
    said->at[0][1] = chart->text[1];
    said->sign = chart->anchor;
    if (chart->plot > 0 || chart->last == NULL)
        return;
    double wide = fabs(chart->last[1][0] - chart->last[0][0]);
    double tall = fabs(chart->last[1][1] - chart->last[0][1]), value;
    enum chart_axis of = wide > tall ? CHART_Y : CHART_X;
    struct axis *axis = &chart->axis[chart->panel][of];
    char *end;

    value = strtod(said->text, &end);
    if (fmax(wide, tall) > TICK_MAX || end == said->text || axis->ticks == TICKS_MAX)
        return;
    axis->tick[axis->ticks++] = (struct tick){ chart->last[0][of], value };
}

/* Groups are plots, places of texts, or neither. */
static void read_group(struct chart *chart, const char *tag)
{
    const char *id = attribute(tag, "id"), *at = attribute(tag, "transform");
    const char *anchor = attribute(tag, "text-anchor"), *size = attribute(tag, "font-size");
    char letter;

    if (id != NULL && sscanf(id, "gnuplot_plot_%u%c", &chart->plot, &letter) == 2) {
        chart->panel = letter >= 'a' ? (unsigned)(letter - 'a') : 0;
        assert_true(chart->panel < PANELS_MAX);
        chart->seen = chart->panel + 1;
        chart->depth = 0;
    }
    chart->depth++;
    if (at == NULL || anchor == NULL || size == NULL)
        return;
    assert_int_equal(sscanf(at, "translate(%lf,%lf)", &chart->text[0], &chart->text[1]), 2);
    if (strstr(at, "rotate") == NULL || strstr(at, "rotate") > strchr(tag, '>'))
        chart->text[1] -= FONT_DROP * strtod(size, NULL);
    chart->anchor = *anchor;
    chart->twice = attribute(tag, "style") != NULL;
}

static void end_group(struct chart *chart)
{
    if (chart->depth > 0 && --chart->depth == 0 && chart->plot > 0) {
        chart->plot = 0;
        chart->panel = chart->seen < PANELS_MAX ? chart->seen : PANELS_MAX - 1;
    }
}

static bool is_tag(const char *at, const char *name)
{
    size_t bytes = strlen(name);

    return strncmp(at + 1, name, bytes) == 0 && strchr(" >\n", at[1 + bytes]) != NULL;
}

/* Shapes before the canvas are those that marks are made of. */
struct chart *chart_read(const char *svg)
{
    struct chart *chart = calloc(1, sizeof *chart);
    const char *at = strstr(svg, "</defs>");

    assert_non_null(chart);
    assert_non_null(at);
    chart->slack[0] = chart->slack[1] = 1;
    assert_int_equal(sscanf(strstr(svg, " width="), " width=\"%lf\" height=\"%lf\"",
                            &chart->page[0], &chart->page[1]), 2);
    while ((at = strchr(at + 1, '<')) != NULL) {
        if (is_tag(at, "g"))
            read_group(chart, at);
        else if (is_tag(at, "/g"))
            end_group(chart);
        else if (is_tag(at, "pattern")) {
            read_pattern(chart, at);
            at = strstr(at, "</pattern>");
        } else if (is_tag(at, "path"))
            read_path(chart, at);
        else if (is_tag(at, "polygon"))
            read_polygon(chart, at);
        else if (is_tag(at, "use"))
            read_mark(chart, at);
        else if (is_tag(at, "text")) {
            read_text(chart, at);
            chart->last = NULL;
        }
    }
    return chart;
}

void chart_free(struct chart *chart)
{
    for (size_t i = 0; i < chart->count; i++)
        free(chart->shape[i].at);
    free(chart->shape);
    free(chart);
}

static double scaled(const struct axis *axis, double value)
{
    return axis->from + axis->step * (axis->logarithmic ? log10(value) : value);
}

/* Through the first and the last; all must lie there. */
static void scale_axis(struct axis *axis, bool logarithmic)
{
    struct tick low = axis->tick[0], high = low;

    for (size_t i = 0; i < axis->ticks; i++) {
        low = axis->tick[i].value < low.value ? axis->tick[i] : low;
        high = axis->tick[i].value > high.value ? axis->tick[i] : high;
    }
    if (!(high.value > low.value))
        fail_msg("the axis has %zu ticks that differ not", axis->ticks);
    axis->logarithmic = logarithmic;
    axis->step = (high.pixel - low.pixel) / (logarithmic ? log10(high.value / low.value)
                                                         : high.value - low.value);
    axis->from = low.pixel - axis->step * (logarithmic ? log10(low.value) : low.value);
    axis->scaled = true;
    for (size_t i = 0; i < axis->ticks; i++)
        if (fabs(axis->tick[i].pixel - scaled(axis, axis->tick[i].value)) > 0.7)
            fail_msg("tick %g stands at pixel %g, and at %g if the axis is %s",
                     axis->tick[i].value, axis->tick[i].pixel,
                     scaled(axis, axis->tick[i].value), logarithmic ? "logarithmic" : "linear");
}

void chart_ticks(struct chart *chart, unsigned panel, enum chart_axis axis, bool logarithmic)
{
    assert_true(panel < PANELS_MAX);
    scale_axis(&chart->axis[panel][axis], logarithmic);
}

void chart_names(struct chart *chart, unsigned panel, enum chart_axis axis,
                 const char *const *names, size_t count)
{
    struct axis *of = &chart->axis[panel][axis];

    assert_true(count > 1 && count < TICKS_MAX);
    of->ticks = 0;
    for (size_t i = 0; i < chart->count; i++)
        for (size_t n = 0; n < count; n++)
            if (chart->shape[i].panel == panel && chart->shape[i].plot == 0 &&
                strcmp(chart->shape[i].text, names[n]) == 0 && of->ticks < TICKS_MAX)
                of->tick[of->ticks++] = (struct tick){ chart->shape[i].at[0][axis],
                                                       (double)n + 1 };
    assert_int_equal(of->ticks, count);
    scale_axis(of, false);
}

void chart_like(struct chart *chart, unsigned panel, enum chart_axis axis, unsigned other)
{
    assert_true(chart->axis[other][axis].scaled);
    chart->axis[panel][axis] = chart->axis[other][axis];
}

void chart_slack(struct chart *chart, enum chart_axis axis, double pixels)
{
    chart->slack[axis] = pixels;
}

const char *chart_colour(const struct chart *chart, unsigned panel, const char *name)
{
    const struct chart_shape *named = NULL;

    for (size_t i = 0; i < chart->count; i++)
        if (chart->shape[i].panel == panel && chart->shape[i].plot > 0 &&
            strcmp(chart->shape[i].text, name) == 0) {
            assert_null(named);
            named = &chart->shape[i];
        }
    if (named == NULL)
        fail_msg("the legend does not have %s", name);
    for (size_t i = 0; i < chart->count; i++)
        if (chart->shape[i].panel == panel && chart->shape[i].plot == named->plot &&
            chart->shape[i].colour[0] != '\0')
            return chart->shape[i].colour;
    fail_msg("the legend shows nothing beside %s", name);
    return NULL;
}

bool chart_says(const struct chart *chart, unsigned panel, const char *text)
{
    for (size_t i = 0; i < chart->count; i++)
        if (chart->shape[i].panel == panel && chart->shape[i].plot == 0 &&
            strcmp(chart->shape[i].text, text) == 0)
            return true;
    return false;
}

/* gnuplot draws titles last: the next panel, if there is one, has begun by then. */
bool chart_titled(const struct chart *chart, unsigned panel, const char *text, double left,
                  double right)
{
    const struct axis *axis = &chart->axis[panel][CHART_X];
    double middle = (scaled(axis, left) + scaled(axis, right)) / 2;

    for (size_t i = 0; i < chart->count; i++) {
        const struct chart_shape *s = &chart->shape[i];

        if (s->panel == panel + 1 && s->plot == 0 && strcmp(s->text, text) == 0 &&
            fabs(s->at[0][CHART_X] - middle) < 1.5)
            return true;
    }
    return false;
}

double chart_value(const struct chart *chart, const struct chart_shape *shape, size_t corner,
                   enum chart_axis axis)
{
    const struct axis *of = &chart->axis[shape->panel][axis];

    assert_true(of->scaled && corner < shape->corners);
    double value = (shape->at[corner][axis] - of->from) / of->step;
    return of->logarithmic ? pow(10, value) : value;
}

/* Does a corner stand at a place of the axes? */
static bool is_at(const struct chart *chart, unsigned panel, const double pixel[2],
                  const double at[2])
{
    for (int i = 0; i < 2; i++) {
        const struct axis *axis = &chart->axis[panel][i];

        if (!isnan(at[i]) && (!axis->scaled ||
                              !(fabs(pixel[i] - scaled(axis, at[i])) <= chart->slack[i])))
            return false;
    }
    return true;
}

/* Drops corners where a line stands still or goes on along an axis; returns how many are left. */
static size_t straighten(double (*at)[2], size_t corners)
{
    size_t n = 0;

    for (size_t i = 0; i < corners; i++) {
        for (int axis = 0; n >= 2 && axis < 2; axis++)
            if (fabs(at[n - 2][axis] - at[n - 1][axis]) < 0.03 &&
                fabs(at[n - 1][axis] - at[i][axis]) < 0.03)
                n--;
        memmove(at[n++], at[i], sizeof at[0]);
    }
    return n;
}

static bool is_line(const struct chart *chart, struct chart_shape *shape, double (*at)[2],
                    size_t corners)
{
    shape->corners = straighten(shape->at, shape->corners);
    if (shape->corners != corners)
        return false;
    for (size_t i = 0; i < corners; i++)
        if (!is_at(chart, shape->panel, shape->at[i], at[i]))
            return false;
    return true;
}

static void say_left(const struct chart *chart, unsigned panel, enum chart_kind kind)
{
    for (size_t i = 0; i < chart->count; i++) {
        const struct chart_shape *s = &chart->shape[i];

        if (s->panel != panel || s->kind != kind || s->plot == 0 || s->taken)
            continue;
        print_message("panel %u plot %u: %s %s", panel, s->plot, s->colour, s->text);
        for (size_t c = 0; c < s->corners && c < 8; c++)
            print_message(" (%g, %g)",
                          chart->axis[panel][0].scaled ? chart_value(chart, s, c, CHART_X)
                                                       : s->at[c][0],
                          chart->axis[panel][1].scaled ? chart_value(chart, s, c, CHART_Y)
                                                       : s->at[c][1]);
        print_message("\n");
    }
}

/* Takes the first shape of a kind that stands so. */
static const struct chart_shape *take(struct chart *chart, enum chart_kind kind, unsigned panel,
                                      const char *colour, double (*at)[2], size_t corners)
{
    for (size_t i = 0; i < chart->count; i++) {
        struct chart_shape *s = &chart->shape[i];

        if (s->kind != kind || s->panel != panel || s->plot == 0 || s->taken ||
            (colour != NULL && strcmp(s->colour, colour) != 0) || !is_line(chart, s, at, corners))
            continue;
        s->taken = true;
        return s;
    }
    say_left(chart, panel, kind);
    print_message("wanted: panel %u, %s", panel, colour != NULL ? colour : "any");
    for (size_t i = 0; i < corners; i++)
        print_message(" (%g, %g)", at[i][0], at[i][1]);
    fail_msg("no such %s is drawn", kind == CHART_BOX ? "box" : kind == CHART_MARK ? "mark"
             : kind == CHART_LINE ? "line" : "arrow");
    return NULL;
}

/* Pixels count from the top, and most axes do not. */
const struct chart_shape *chart_take_box(struct chart *chart, unsigned panel, const char *colour,
                                         double left, double right, double low, double high)
{
    bool down = chart->axis[panel][CHART_Y].step < 0;
    double at[2][2] = { { left, down ? high : low }, { right, down ? low : high } };

    return take(chart, CHART_BOX, panel, colour, at, 2);
}

const struct chart_shape *chart_take_mark(struct chart *chart, unsigned panel,
                                          const char *colour, double x, double y)
{
    double at[1][2] = { { x, y } };

    return take(chart, CHART_MARK, panel, colour, at, 1);
}

const struct chart_shape *chart_take_arrow(struct chart *chart, unsigned panel,
                                           const char *colour, double tip, double y, bool left)
{
    double at[2][2] = { { left ? tip : NAN, NAN }, { left ? NAN : tip, NAN } };
    const struct chart_shape *head = take(chart, CHART_ARROW, panel, colour, at, 2);
    double middle = (head->at[0][CHART_Y] + head->at[1][CHART_Y]) / 2;

    if (fabs(middle - scaled(&chart->axis[panel][CHART_Y], y)) > chart->slack[CHART_Y])
        fail_msg("an arrow of panel %u does not stand at %g", panel, y);
    return head;
}

const struct chart_shape *chart_take_line(struct chart *chart, unsigned panel,
                                          const char *colour, double (*at)[2],
                                          size_t corners)
{
    return take(chart, CHART_LINE, panel, colour, at, corners);
}

void chart_take_ratio(struct chart *chart, unsigned panel, const char *colour, double factor)
{
    for (size_t i = 0; i < chart->count; i++) {
        struct chart_shape *s = &chart->shape[i];
        bool lies = s->kind == CHART_LINE && s->panel == panel && s->plot > 0 && !s->taken &&
                    strcmp(s->colour, colour) == 0 && s->corners > 2;

        for (size_t c = 0; lies && c < s->corners; c++) {
            double at[2] = { chart_value(chart, s, c, CHART_X), NAN };

            at[1] = factor * at[0];
            lies = is_at(chart, panel, s->at[c], at);
        }
        if (lies) {
            s->taken = true;
            return;
        }
    }
    fail_msg("panel %u has no line of y = %g x", panel, factor);
}

/* A cap is a short line across an end, which is in its middle. */
static void take_cap(struct chart *chart, const struct chart_shape *of, const double end[2],
                     enum chart_axis axis)
{
    for (size_t i = 0; i < chart->count; i++) {
        struct chart_shape *s = &chart->shape[i];
        enum chart_axis other = axis == CHART_X ? CHART_Y : CHART_X;

        if (s->kind == CHART_LINE && s->panel == of->panel && !s->taken && s->corners == 2 &&
            strcmp(s->colour, of->colour) == 0 &&
            fabs(s->at[0][axis] - end[axis]) < 0.1 && fabs(s->at[1][axis] - end[axis]) < 0.1 &&
            fabs(s->at[0][other] + s->at[1][other] - 2 * end[other]) < 0.2 &&
            fabs(s->at[0][other] - s->at[1][other]) < CAP_MAX)
            s->taken = true;
    }
}

const struct chart_shape *chart_take_whisker(struct chart *chart, unsigned panel,
                                             const char *colour, enum chart_axis axis,
                                             double across, double low, double high)
{
    double at[2][2] = { { across, across }, { across, across } };

    at[0][axis] = low;
    at[1][axis] = high;
    const struct chart_shape *line = take(chart, CHART_LINE, panel, colour, at, 2);
    double end[2][2];
    memcpy(end, line->at, sizeof end);
    take_cap(chart, line, end[0], axis);
    take_cap(chart, line, end[1], axis);
    return line;
}

void chart_take_text(struct chart *chart, unsigned panel, const char *text, double x, double y,
                     double pixels)
{
    const double was[2] = { chart->slack[0], chart->slack[1] };
    const double at[2] = { x, y };

    chart->slack[0] = chart->slack[1] = pixels;
    for (size_t i = 0; i < chart->count; i++) {
        struct chart_shape *s = &chart->shape[i];

        if (s->kind == CHART_TEXT && s->panel == panel && s->plot > 0 && !s->taken &&
            strcmp(s->text, text) == 0 && is_at(chart, panel, s->at[0], at)) {
            s->taken = true;
            memcpy(chart->slack, was, sizeof was);
            return;
        }
    }
    say_left(chart, panel, CHART_TEXT);
    fail_msg("panel %u has no text %s at %g, %g", panel, text, x, y);
}

size_t chart_take_all(struct chart *chart, unsigned panel, enum chart_kind kind,
                      const char *colour)
{
    size_t count = 0;

    for (size_t i = 0; i < chart->count; i++) {
        struct chart_shape *s = &chart->shape[i];

        if (s->kind == kind && s->panel == panel && s->plot > 0 && !s->taken &&
            strcmp(s->colour, colour) == 0) {
            s->taken = true;
            count++;
        }
    }
    return count;
}

/* Where shapes of a panel's plots are, from the least place to the largest. */
static bool find_extent(const struct chart *chart, unsigned panel, double low[2], double high[2])
{
    bool any = false;

    for (size_t i = 0; i < chart->count; i++) {
        const struct chart_shape *s = &chart->shape[i];

        if (s->panel != panel || s->plot == 0 || s->kind == CHART_TEXT)
            continue;
        for (size_t c = 0; c < s->corners; c++)
            for (int axis = 0; axis < 2; axis++) {
                low[axis] = any ? fmin(low[axis], s->at[c][axis]) : s->at[c][axis];
                high[axis] = any ? fmax(high[axis], s->at[c][axis]) : s->at[c][axis];
                any = any || axis == 1;
            }
    }
    return any;
}

static void check_page(const struct chart *chart)
{
    double low[PANELS_MAX][2], high[PANELS_MAX][2];
    bool any[PANELS_MAX];

    for (size_t i = 0; i < chart->count; i++)
        for (size_t c = 0; c < chart->shape[i].corners; c++)
            for (int axis = 0; axis < 2; axis++)
                if (!(chart->shape[i].at[c][axis] >= 0 &&
                      chart->shape[i].at[c][axis] <= chart->page[axis]))
                    fail_msg("panel %u goes over the page: %s at %g", chart->shape[i].panel,
                             chart->shape[i].text, chart->shape[i].at[c][axis]);
    for (unsigned p = 0; p < PANELS_MAX; p++) {
        any[p] = find_extent(chart, p, low[p], high[p]);
        for (unsigned q = 0; q < p && any[p]; q++)
            if (any[q] && low[p][0] < high[q][0] && low[q][0] < high[p][0] &&
                low[p][1] < high[q][1] && low[q][1] < high[p][1])
                fail_msg("panel %u lies over panel %u", p, q);
    }
}

void chart_is_empty(const struct chart *chart, unsigned first)
{
    check_page(chart);
    for (unsigned panel = first; panel < PANELS_MAX; panel++)
        for (size_t i = 0; i < chart->count; i++)
            if (chart->shape[i].panel == panel && chart->shape[i].plot > 0 &&
                !chart->shape[i].taken) {
                say_left(chart, panel, chart->shape[i].kind);
                fail_msg("panel %u shows what it should not", panel);
            }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * chart.h - what gnuplot drew, read back from its SVG in the units of the axes.
 *
 * A test says what a chart must show, figure by figure: each chart_take_ function finds a shape
 * that stands there, within a pixel, and takes it away.  What is left at the end was drawn and
 * should not have been.  Pixels become figures by the ticks of the axes, or by names that stand
 * beside them, so that a wrong axis is found as well as a wrong bar.
 *
 * NAN as a coordinate: any place; NULL as a colour: any.  All functions fail the test that calls
 * them.
 */
#ifndef TESTS_CHART_H
#define TESTS_CHART_H

#include <stdbool.h>
#include <stddef.h>

enum chart_axis { CHART_X, CHART_Y };
enum chart_kind { CHART_BOX, CHART_MARK, CHART_LINE, CHART_TEXT, CHART_ARROW };

/* In pixels.  A line has its corners; a box and a head of an arrow the least and the largest of
 * both coordinates; a mark and a text one place. */
struct chart_shape {
    enum chart_kind kind;
    unsigned panel;             /* in the order of drawing; 0 is the legend, if all have one */
    unsigned plot;              /* within the panel; 0: beside the panel's plots */
    int sign;                   /* of a mark: gnuplot's pointtype */
    char colour[8];             /* RRGGBB */
    char text[64];
    double (*at)[2];
    size_t corners;
    bool taken;
};

struct chart;

struct chart *chart_read(const char *svg);
void chart_free(struct chart *chart);

/* Scales an axis of a panel by its ticks, which must all stand where such an axis has them. */
void chart_ticks(struct chart *chart, unsigned panel, enum chart_axis axis, bool logarithmic);
/* Scales an axis by the names beside it, two or more, which stand at 1, 2 and so on. */
void chart_names(struct chart *chart, unsigned panel, enum chart_axis axis,
                 const char *const *names, size_t count);
/* Gives a panel the scale of another one, which stands beside it. */
void chart_like(struct chart *chart, unsigned panel, enum chart_axis axis, unsigned other);
/* How many pixels a shape may be away from its place, along an axis; 1 at first. */
void chart_slack(struct chart *chart, enum chart_axis axis, double pixels);
/* Returns the colour that the legend of a panel gives to a name, which it has once. */
const char *chart_colour(const struct chart *chart, unsigned panel, const char *name);
/* Is such a text beside the plots of a panel? */
bool chart_says(const struct chart *chart, unsigned panel, const char *text);
/* Is such a title above a panel, in the middle of its axis from left to right? */
bool chart_titled(const struct chart *chart, unsigned panel, const char *text, double left,
                  double right);

/* Returns where a coordinate of a shape stands on the axis of its panel. */
double chart_value(const struct chart *chart, const struct chart_shape *shape, size_t corner,
                   enum chart_axis axis);
const struct chart_shape *chart_take_box(struct chart *chart, unsigned panel, const char *colour,
                                         double left, double right, double low, double high);
const struct chart_shape *chart_take_mark(struct chart *chart, unsigned panel,
                                          const char *colour, double x, double y);
/* The head of an arrow along the x axis, whose tip is there. */
const struct chart_shape *chart_take_arrow(struct chart *chart, unsigned panel,
                                           const char *colour, double tip, double y, bool left);
/* Corners that lie on a straight way along an axis need not be named. */
const struct chart_shape *chart_take_line(struct chart *chart, unsigned panel,
                                          const char *colour, double (*at)[2],
                                          size_t corners);
/* A line of which each corner has y = factor * x; it has three or more. */
void chart_take_ratio(struct chart *chart, unsigned panel, const char *colour, double factor);
/* A line from low to high along an axis; x or y of the other axis is `across`.  Caps, where it
 * has some, go with it. */
const struct chart_shape *chart_take_whisker(struct chart *chart, unsigned panel,
                                             const char *colour, enum chart_axis axis,
                                             double across, double low, double high);
/* A text within the plots, its middle at most that many pixels away from there. */
void chart_take_text(struct chart *chart, unsigned panel, const char *text, double x, double y,
                     double pixels);
/* Takes away all shapes of a kind and colour in a panel; returns how many. */
size_t chart_take_all(struct chart *chart, unsigned panel, enum chart_kind kind,
                      const char *colour);
/* From that panel on, no plot has a shape that was not taken; all of the chart lies on its page,
 * and no panel over another. */
void chart_is_empty(const struct chart *chart, unsigned first);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calibrate.c - rows read, predicted, and their errors summed up.
 *
 * A relative error is predicted / measured - 1, so that rows of microseconds
 * and of hours count alike.  Only solid rows (their configuration is known in
 * full) count; rows that helped to choose constants are told apart, since a
 * law's error on them says less.
 */
#include "experiments/calibrate/calibrate.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/calibrate/row.h"
#include "sim/base/arena.h"
#include "sim/text/csv.h"
#include "sim/text/paths.h"

const char calibrate_not_mine[] = "of another suite";

/* Did the row help to choose a constant of the law? */
static bool is_chosen(const struct calibrate_suite *suite,
                      const struct calibrate_row *row)
{
    if (suite->chosen_by == NULL)
        return false;
    for (size_t i = 0; suite->chosen[i] != NULL; i++)
        if (row_is(row, suite->chosen_by, suite->chosen[i]))
            return true;
    return false;
}

/* Returns the field of column `a`, or of `b` if it is empty: CSVs name things by
 * different columns. */
static const char *first_text(const struct calibrate_row *row, const char *a,
                              const char *b)
{
    const char *text = row_text(row, a);

    return text[0] != '\0' ? text : row_text(row, b);
}

/* Predicts a row and adds it, unless it is of another suite.  A value that is not
 * positive has no relative error, and counts as refused. */
static void add_sample(struct arena *arena, struct calibrate_samples *samples,
                       const struct calibrate_suite *suite,
                       const struct calibrate_row *row)
{
    struct calibrate_sample s = { 0 };

    s.refused = suite->law(row, &s.measured, &s.predicted);
    if (s.refused == calibrate_not_mine)
        return;
    if (s.refused == NULL && !(s.measured > 0.0 && s.predicted > 0.0))
        s.refused = "no measured value in the row";
    s.id = arena_text(arena, first_text(row, "id", "item"));
    s.model = arena_text(arena, first_text(row, "model", "op"));
    s.device = arena_text(arena, first_text(row, "gpu", "system"));
    s.solid = row_is(row, "solid",
                     suite->solid != NULL ? suite->solid : "yes");
    s.chosen = is_chosen(suite, row);
    ARENA_ADD(arena, samples->item, samples->count, samples->room, s);
}

/* A suite without its file is skipped: not all data sets may be distributed. */
bool calibrate_read(struct arena *arena, const struct catalogue *catalogue,
                    const struct calibrate_suite *suite, const char *dir,
                    struct calibrate_samples *samples, struct err *err)
{
    const char *path = path_join(arena, dir, suite->file);
    struct calibrate_row row = { catalogue, dir, NULL };
    struct csv *in;
    enum csv_step step;

    *samples = (struct calibrate_samples){ NULL, 0, 0 };
    if (!path_is_file(path))
        return true;
    in = csv_open(arena, path, CSV_TABLE, err);
    if (in == NULL)
        return false;
    row.in = in;
    while ((step = csv_next(in, err)) == CSV_ROW)
        if (suite->of == NULL || row_is(&row, "suite", suite->of))
            add_sample(arena, samples, suite, &row);
    csv_close(in);
    return step == CSV_END;
}

/* For qsort(): ascending.  A difference may not fit an int, so both ways are compared. */
static int compare_values(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);       /* equal values are alike */
}

/* Returns the quantile by linear interpolation between order statistics (type 7 of
 * Hyndman and Fan, 1996), as numpy does, since papers compare with that.  Example: the
 * quantile 0.9 of 1, 2, 3, 4 and 5 is at 0.9 x 4 = 3.6, between the fourth and the fifth
 * value: 4.6. */
static double find_quantile(const double *sorted, size_t count, double q)
{
    double at = q * (double)(count - 1);
    size_t low = (size_t)at;
    double part = at - (double)low;

    if (low + 1 >= count)
        return sorted[count - 1];
    return sorted[low] + part * (sorted[low + 1] - sorted[low]);
}

/* The mean is of absolute errors; the bias keeps signs, and shows a law that is
 * always too fast. */
struct calibrate_error calibrate_error(struct arena *arena,
                                       const struct calibrate_samples *samples,
                                       enum calibrate_part part)
{
    struct calibrate_error e = { 0 };
    double *value = arena_alloc(arena, samples->count + 1, sizeof *value);

    for (size_t i = 0; i < samples->count; i++) {
        const struct calibrate_sample *s = &samples->item[i];
        double error = s->predicted / s->measured - 1.0;

        if (s->refused != NULL || !s->solid ||
            (part == CALIBRATE_CHOSEN && !s->chosen) ||
            (part == CALIBRATE_HELD_OUT && s->chosen))
            continue;
        value[e.rows++] = fabs(error);
        e.mean += fabs(error);
        e.bias += error;
    }
    if (e.rows == 0)
        return e;
    qsort(value, e.rows, sizeof *value, compare_values);
    e.mean /= (double)e.rows;
    e.bias /= (double)e.rows;
    e.median = find_quantile(value, e.rows, 0.5);
    e.p90 = find_quantile(value, e.rows, 0.9);
    e.max = value[e.rows - 1];
    return e;
}

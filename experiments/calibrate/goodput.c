/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * goodput.c - rows of jobs whose goodput is known: the time of a step
 * on a number of GPUs and nodes.  Rows of use `fit` chose the catalogue's
 * constants, the others did not.
 */
#include "experiments/calibrate/suites.h"

#include <math.h>

#include "experiments/calibrate/row.h"
#include "models/catalogue/catalogue.h"
#include "models/catalogue/goodput.h"

/* Compares seconds of a step that accumulates no batches. */
const char *calibrate_goodput(const struct calibrate_row *row,
                              double *measured, double *predicted)
{
    const struct application *app =
        catalogue_application(row->catalogue, row_text(row, "model"));
    struct goodput_shape shape = { row_count(row, "gpus", 1),
                                   row_count(row, "nodes", 1) };

    if (app == NULL)
        return "the application is not in the catalogue";
    const struct goodput_speed *speed = goodput_speed_of(app,
                                                         row_text(row, "gpu"));

    *measured = row_number(row, "step_s", NAN);
    if (speed == NULL)
        return "the application is not known on that GPU";
    if (shape.nodes < 1 || shape.nodes > shape.gpus)
        return "there are more nodes than GPUs";
    *predicted = goodput_step_s(speed, shape,
                                row_number(row, "local_batch", 1), 0);
    return NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.c - one comparison, one sentence.
 */
#include "experiments/recount/judge.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>

/* Only the first pair that differs is kept: what follows often differs because
 * of it. */
void judge_figure(struct judge *judge, const char *name, double have, double again,
                  double scale)
{
    double near = fmax(JUDGE_NEAR, (double)judge->terms * DBL_EPSILON);
    double room = near * fmax(fabs(scale), fmax(fabs(have), fabs(again)));

    assert(name != NULL);
    judge->compared++;
    if (judge->broken[0] != '\0' || (isnan(have) && isnan(again)) ||
        fabs(have - again) <= room)
        return;
    snprintf(judge->broken, sizeof judge->broken, "%s is %.12g, and %.12g when "
             "counted again", name, have, again);
}

void judge_metric(struct judge *judge, enum metric metric, double again, double scale)
{
    assert((unsigned)metric < METRIC_COUNT);
    judge_figure(judge, metric_info(NULL, metric)->name, judge->value[metric], again,
                 scale);
}

void judge_holds(struct judge *judge, const char *name, bool holds, const char *what)
{
    assert(name != NULL && what != NULL);
    judge->compared++;
    if (!holds && judge->broken[0] == '\0')
        snprintf(judge->broken, sizeof judge->broken, "%s: %s", name, what);
}

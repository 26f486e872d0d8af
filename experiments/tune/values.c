/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * values.c - what candidates are worth in trials, beside the untuned entry.
 *
 * A value is compared at its own point with that of the untuned entry on the same
 * seeds.  At each point, the candidate's mean is divided by the size of that of the
 * untuned entry, so that values below 0 keep their order; the score is the mean of these
 * quotients, with the sign changed where more is better.  A candidate that fails a trial,
 * has no value in one, or completes fewer jobs or answers fewer requests there than the
 * untuned entry is out: a mean over those that are left would say nothing.
 */
#include "experiments/tune/tuning.h"

#include <assert.h>
#include <math.h>

#include "experiments/columns/metric.h"
#include "experiments/probe/probe.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

/* Notes the first reason why the candidate is out, if there is one: no valid
 * experiment, or a failed trial. */
static void find_failure(struct values *values, uint32_t points)
{
    for (uint32_t p = 0; p < points && values->why == NULL; p++) {
        const struct probe_answer *answer = &values->answer[p];

        values->why = answer->unread;
        values->refused = answer->unread != NULL;
        for (uint32_t s = 0; values->why == NULL && s < values->seeds; s++)
            values->why = answer->trial[s]->failure;
    }
}

/* All trials of a round are asked for at once, so that the probe can run them
 * side by side. */
struct values *values_run(struct tuning *t, const uint32_t *which,
                                     uint32_t count, uint32_t from, uint32_t seeds,
                                     struct err *err)
{
    uint32_t points = t->point_count;
    struct values *values = arena_alloc(t->arena, count, sizeof *values);
    struct probe_ask *ask = arena_alloc(t->arena, (size_t)count * points, sizeof *ask);
    struct probe_answer *answer =
        arena_alloc(t->arena, (size_t)count * points, sizeof *answer);

    for (uint32_t i = 0; i < count * points; i++) {
        const struct candidate *candidate = &t->candidate[which[i / points]];

        ask[i] = (struct probe_ask){
            .setting = candidate->set.set, .setting_count = candidate->set.count,
            .point = t->point[i % points], .policy = t->policy,
            .first_seed = from, .seed_count = seeds
        };
    }
    if (!probe_run(t->probe, ask, (size_t)count * points, answer, err))
        return NULL;
    for (uint32_t i = 0; i < count; i++) {
        values[i] = (struct values){ &answer[i * points], seeds, NULL, false };
        find_failure(&values[i], points);
    }
    return values;
}

/* Returns the tuned metric in one trial; only if there is no `why`. */
static double value_at(const struct tuning *t, const struct values *values, uint32_t point,
                       uint32_t seed)
{
    return values->answer[point].trial[seed]->value[t->space->metric];
}

/* Returns whether a trial does fewer jobs, or leaves more requests unanswered,
 * than the same one of another candidate. */
static bool leaves_more(const struct tuning *t, const struct values *values,
                        const struct values *untuned, uint32_t point, uint32_t seed)
{
    const double *value = values->answer[point].trial[seed]->value;
    const double *than = untuned->answer[point].trial[seed]->value;

    bool cut = probe_experiment(t->probe)->until_ns != CLOCK_NEVER_NS;

    return value[METRIC_JOBS_DONE] < than[METRIC_JOBS_DONE] ||
           metric_unanswered(value) - metric_unanswered(than) >
               metric_unanswered_excused(than, cut);
}

/* Returns the mean over the seeds at a point. */
static double mean_at(const struct tuning *t, const struct values *values, uint32_t point)
{
    double sum = 0;

    for (uint32_t s = 0; s < values->seeds; s++)
        sum += value_at(t, values, point, s);
    return sum / values->seeds;
}

/* Example: at two points the untuned entry has means of 100 and 10, and the
 * candidate has 90 and 11.  It is worth (0.9 + 1.1) / 2 = 1. */
double values_relative(const struct tuning *t, const struct values *values,
                             const double *mean, uint32_t seed)
{
    double sum = 0;

    for (uint32_t p = 0; p < t->point_count; p++)
        sum += value_at(t, values, p, seed) / fabs(mean[p]);
    return sum / t->point_count;
}

/* A value that is not finite takes the candidate out, too. */
bool values_are_whole(const struct tuning *t, const struct values *values,
                     const struct values *untuned)
{
    if (values->why != NULL)
        return false;
    for (uint32_t p = 0; p < t->point_count; p++)
        for (uint32_t s = 0; s < values->seeds; s++)
            if (!isfinite(value_at(t, values, p, s)) ||
                leaves_more(t, values, untuned, p, s))
                return false;
    return true;
}

/* A mean of 0 divides nothing, so it is an error, as is one that is not known. */
double *values_means(const struct tuning *t, const struct values *untuned,
                             struct err *err)
{
    double *mean = arena_alloc(t->arena, t->point_count, sizeof *mean);

    if (untuned->why != NULL) {
        *err = *untuned->why;
        if (err->pos.line == 0)
            err->pos = conf_pos(t->entry);
        err_hint(err, "A trial of policy %.60s failed as the entry is, so that nothing can be "
                 "compared with it.  Begin with keys with which it runs.", t->policy);
        return NULL;
    }
    for (uint32_t p = 0; p < t->point_count; p++) {
        mean[p] = mean_at(t, untuned, p);
        if (isfinite(mean[p]) && mean[p] != 0)
            continue;
        err_set(err, ERR_RANGE, conf_pos(t->entry), "%s of policy %.60s is %s at %.80s: "
                "nothing can be compared with it", t->space->info->name,
                t->policy, mean[p] == 0 ? "0" : "not known", t->point[p]);
        return NULL;
    }
    return mean;
}

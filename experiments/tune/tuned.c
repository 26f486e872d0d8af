/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tuned.c - what was found, in words and as a file.
 *
 * tuned.yaml has the entries as they may stand in `policies:`, and under
 * `found:` how they were found, so that a reader can judge them and a later run
 * can tell what was tuned.  Numbers have six digits: enough to read, and equal
 * bytes everywhere.
 */
#include "experiments/tune/tune.h"

#include <math.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/probe/probe.h"
#include "experiments/tune/space.h"
#include "sim/base/arena.h"
#include "sim/stats/interval.h"
#include "sim/text/out.h"

/* Prints the difference that the judging seeds say, as "jct_mean_s -20.2%
 * [-29.6%, -10.2%]". */
static void print_difference(const struct stats_delta *d, const char *metric, FILE *to)
{
    char interval[INTERVAL_BYTES];

    if (d->count == 1) {
        fprintf(to, "%s %+.1f%%, chosen and judged on the same jobs: all seeds are alike",
                metric, d->percent);
        return;
    }
    fprintf(to, "%s %+.1f%% %s", metric, d->percent,
            interval_text(interval, (struct interval_form){ 1, false, "%" }, d->percent_low,
                          d->percent_high));
}

/* One line for each policy says what was found, whether the entry stays, and
 * what it took. */
void tune_print(const struct experiment *experiment, const struct tune_found *found,
                uint32_t count, FILE *to)
{
    struct arena *arena = arena_new(0);
    struct space space;
    struct err err = { 0 };
    bool known = space_read(arena, experiment, &space, &err);

    for (uint32_t i = 0; known && i < count; i++) {
        const struct tune_found *f = &found[i];
        const char *metric = space.info->name;

        fprintf(to, "%s: ", f->policy);
        if (f->out)
            fprintf(to, "stays: judged, %s is out for failed trials, fewer jobs done or fewer "
                    "requests answered", f->best);
        else if (f->judged.count == 0)
            fprintf(to, "stays: %s of %u candidates beats it on the training seeds",
                    f->candidates > 1 ? "none" : "nothing varies, so none", f->candidates);
        else if (f->kept)
            fprintf(to, "stays: judged, %s is not surely better: ", f->best);
        else
            fprintf(to, "%s: ", f->best);
        if (f->judged.count > 0)
            print_difference(&f->judged, metric, to);
        fprintf(to, " (%u trials, %u candidates", f->trials, f->candidates);
        if (f->refused > 0)
            fprintf(to, ", %u no valid experiment, the first %s", f->refused, f->refusal);
        if (f->failed > 0)
            fprintf(to, ", %u out for failed trials, fewer jobs done or fewer requests "
                    "answered", f->failed);
        fputs(")\n", to);
    }
    arena_free(arena);
}

/* Writes what the judging seeds say.  An end that an interval does not have is
 * left out. */
static void put_judged(struct out *out, const struct stats_delta *d)
{
    out_printf(out, "    judged: {percent: %.6g, ", d->percent);
    if (isfinite(d->percent_low))
        out_printf(out, "low: %.6g, ", d->percent_low);
    if (isfinite(d->percent_high))
        out_printf(out, "high: %.6g, ", d->percent_high);
    out_printf(out, "p_value: %.6g, seeds: %zu}\n", d->p_value, d->count);
}

/* Writes the record of one search. */
static void put_found(struct out *out, const struct space *space,
                      const struct tune_found *f)
{
    out_printf(out, "  - policy: %s\n    metric: %s\n    point: ", f->policy,
               space->info->name);
    if (space->point == NULL)
        out_text(out, "all");
    else
        out_json_text(out, space->point);
    out_printf(out, "\n    entry: %s\n    best: ",
               f->kept ? "stays as it is" : "tuned");
    out_json_text(out, f->best);
    out_printf(out, "\n    budget: %u\n    trials: %u\n    candidates: %u\n"
               "    refused: %u\n    failed: %u\n    training_seeds: {from: %u, count: %u}\n"
               "    judging_seeds: {from: %u, count: %u}\n", space->budget, f->trials,
               f->candidates, f->refused, f->failed, TUNE_TRAINING_FROM, space->seeds,
               TUNE_JUDGING_FROM, space->judge);
    if (f->out)
        out_text(out, "    judged: {out: true}  # failed trials, fewer jobs done or fewer "
                 "requests answered\n");
    else if (f->judged.count == 1)
        out_printf(out, "    judged: {percent: %.6g, seeds: 1}  # all seeds are alike: the "
                   "jobs that it was chosen on\n", f->judged.percent);
    else if (f->judged.count > 1)
        put_judged(out, &f->judged);
}

/* Entries come first, so that the file can be used as it is. */
bool tune_write(struct arena *arena, const struct probe *probe,
                const struct tune_found *found, uint32_t count,
                const struct folder *dir, struct err *err)
{
    const struct experiment *experiment = probe_experiment(probe);
    struct space space;
    struct out *out;

    if (!space_read(arena, experiment, &space, err))
        return false;
    out = out_in(arena, dir, "tuned.yaml", err);
    if (out == NULL)
        return false;
    out_printf(out, "# Tuned by clustersim " CLUSTERSIM_VERSION " of the experiment %s.\n"
               "# Files are named as in it: relative to its folder.\npolicies:\n",
               experiment->name);
    for (uint32_t i = 0; i < count; i++)
        out_printf(out, "  - %s\n", found[i].entry);
    out_text(out, "found:\n");
    for (uint32_t i = 0; i < count; i++)
        put_found(out, &space, &found[i]);
    return out_close(out, err);
}

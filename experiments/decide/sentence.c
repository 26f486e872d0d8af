/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sentence.c - "Take lend: total cost -14.2% [-16.0%, -12.5%] against today ..."
 *
 * First what to do, then the figures, then what is level with it, then what was dropped
 * and by which condition.
 */
#include "experiments/decide/sentence.h"

#include <math.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/decide/decide.h"
#include "experiments/decide/mean_text.h"
#include "experiments/results/grid.h"
#include "experiments/results/summary_table.h"
#include "experiments/results/survivors.h"
#include "experiments/results/trust.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/stats/stats.h"
#include "sim/text/paths.h"

/* What a sentence is made of. */
struct words {
    struct arena *arena;
    const struct decision *decision;
    const struct decide_point *at;
    const struct metric_info *info; /* of the metric that decides */
    const char *text;           /* the sentence so far */
};

const char *decide_title(const struct metric_info *info)
{
    return info->title != NULL && *info->title != '\0' ? info->title : info->name;
}

/* Returns the unit as it stands behind a number, with a blank before it; "" of units
 * that need no word there. */
static const char *unit_words(const struct metric_info *info)
{
    return strcmp(info->unit, "s") == 0 ? " s" : strcmp(info->unit, "USD") == 0 ? " USD" : "";
}

const char *decide_interval_text(struct arena *arena, const struct metric_info *info,
                                 double value, double low, double high)
{
    const char *unit = unit_words(info);

    return text_format(arena, "%.5g%s [%.5g%s, %.5g%s]", value, unit, low, unit, high, unit);
}

const char *decide_delta_text(struct arena *arena, const struct metric_info *info,
                              const struct stats_delta *d)
{
    const char *unit = unit_words(info);

    if (d->count == 0 || isnan(d->mean))
        return "-";
    if (isfinite(d->percent_low) && isfinite(d->percent_high))
        return text_format(arena, "%+.1f%% [%+.1f%%, %+.1f%%]", d->percent,
                           d->percent_low, d->percent_high);
    if (isfinite(d->low) && isfinite(d->high))
        return text_format(arena, "%+.4g%s [%+.4g, %+.4g]", d->mean, unit, d->low, d->high);
    if (isfinite(d->percent))
        return text_format(arena, "%+.1f%%", d->percent);
    return text_format(arena, "%+.4g%s", d->mean, unit);
}

const char *decide_keep_text(struct arena *arena, const struct metric_set *metrics,
                             const struct experiment_decide *spec, uint32_t keep)
{
    const struct experiment_keep *k = &spec->keep[keep];
    const struct metric_info *info = metric_info(metrics, k->metric);
    const char *unit = unit_words(info);

    if (isinf(k->low))
        return text_format(arena, "%s at most %.10g%s", info->name, k->high, unit);
    if (isinf(k->high))
        return text_format(arena, "%s at least %.10g%s", info->name, k->low, unit);
    return text_format(arena, "%s between %.10g%s and %.10g%s", info->name, k->low, unit,
                       k->high, unit);
}

/* Returns the name of an option. */
static const char *name_of(const struct words *w, uint32_t i)
{
    return w->decision->spec->choice[i].name;
}

/* Appends to the text, which is copied each time: it has some hundred bytes. */
static void add(struct words *w, const char *more)
{
    w->text = text_format(w->arena, "%s%s", w->text, more);
}

/* Returns the mean with its title and unit, as "total cost 5695 USD". */
static const char *mean_words(const struct words *w, uint32_t i)
{
    double mean = w->at->option[i].mean.mean;
    char text[MEAN_TEXT_BYTES];

    value_text(text, mean, summary_unit(w->info, mean));
    return text_format(w->arena, "%s %s%s", decide_title(w->info), text,
                       strcmp(w->info->unit, "USD") == 0 ? " USD" : "");
}

/* Returns why the interval of a difference cannot be trusted, as ", not
 * trusted: 5 pairs", or "". */
static const char *doubt_words(const struct words *w, const struct stats_delta *d,
                               uint32_t i)
{
    const struct grid *grid = w->decision->grid;
    uint32_t point = (uint32_t)(w->at - w->decision->point);
    double jobs = fmax(trust_jobs(grid, point, w->at->option[i].policy),
                       trust_jobs(grid, point, w->at->option[0].policy));
    const char *doubt = trust_pairs_text(w->arena, jobs, d);

    return *doubt == '\0' ? "" : text_format(w->arena, ", not trusted: %s", doubt);
}

/* Adds the difference to the first option, as ", -14.2% [-16.0%, -12.5%]
 * against today (20 seeds, corrected p 2e-10)". */
static void add_against_first(struct words *w, uint32_t i)
{
    const struct decide_option *o = &w->at->option[i];

    if (i == 0 || o->delta.count == 0)
        return;
    add(w, text_format(w->arena, ", %s against %s",
                       decide_delta_text(w->arena, w->info, &o->delta), name_of(w, 0)));
    if (isfinite(o->delta.low))
        add(w, text_format(w->arena, " (%zu seeds, corrected p %.2g%s)", o->delta.count,
                           o->p_holm, doubt_words(w, &o->delta, i)));
    else if (!grid_fixed(w->decision->grid, (uint32_t)(w->at - w->decision->point),
                         o->policy) && w->decision->grid->seed_count == 1)
        add(w, " (one seed: no interval)");
}

/* Adds what is level with the best, as " Level with it: spot (+0.4% [-0.9%,
 * +1.7%], corrected p 0.5): the difference may be chance." */
static void add_level(struct words *w)
{
    const char *before = " Level with it: ";
    bool any = false;

    for (uint32_t i = 0; i < w->decision->spec->choice_count; i++) {
        const struct decide_option *o = &w->at->option[i];

        if (o->verdict != DECIDE_LEVEL)
            continue;
        add(w, text_format(w->arena, "%s%s (%s%s)", before, name_of(w, i),
                           decide_delta_text(w->arena, w->info, &o->above),
                           isfinite(o->above_p_holm)
                               ? text_format(w->arena, ", corrected p %.2g",
                                             o->above_p_holm) : ""));
        before = ", ";
        any = true;
    }
    add(w, any ? ": the difference may be chance." : "");
}

/* Is a low value of the metric what an option gets that does fewer jobs, as a cost is?
 * Metrics of jobs that were done are judged as such, and a condition on jobs_done says how
 * many are enough. */
static bool gains_by_less(const struct experiment_decide *spec,
                          const struct metric_info *info)
{
    for (uint32_t k = 0; k < spec->keep_count; k++)
        if (spec->keep[k].metric == METRIC_JOBS_DONE)
            return false;
    return info->better < 0 && info->of == METRIC_OF_ALL &&
           spec->metric != METRIC_JCT_RESTRICTED;
}

bool decide_work_differs(const struct decision *decision, uint32_t point, uint32_t i,
                         struct survivors *own, struct survivors *first)
{
    const struct grid *grid = decision->grid;
    const struct decide_option *o = decision->point[point].option;

    if (o[i].policy == UINT32_MAX || o[0].policy == UINT32_MAX ||
        !gains_by_less(decision->spec, metric_info(grid->metrics, decision->spec->metric)))
        return false;
    *own = survivors_of(grid, point, o[i].policy, METRIC_JCT_MEAN);
    *first = survivors_of(grid, point, o[0].policy, METRIC_JCT_MEAN);
    return own->done != first->done && (survivors_lost(*own) || survivors_lost(*first));
}

/* " Jobs done: lend 1990 of 2000, spot 1992 of 2000; today 1991 of 2000.": of options that
 * are compared though they did not do the same work. */
static void add_work(struct words *w)
{
    const char *before = " Jobs done: ";
    uint32_t point = (uint32_t)(w->at - w->decision->point);
    struct survivors own, first = { 0, 0 };
    bool any = false;

    for (uint32_t i = 1; i < w->decision->spec->choice_count; i++) {
        enum decide_verdict verdict = w->at->option[i].verdict;

        if (verdict == DECIDE_DROPPED || verdict == DECIDE_UNDECIDED ||
            !decide_work_differs(w->decision, point, i, &own, &first))
            continue;
        add(w, text_format(w->arena, "%s%s %.0f of %.0f", before, name_of(w, i), own.done,
                           own.all));
        before = ", ";
        any = true;
    }
    if (any)
        add(w, text_format(w->arena, "; %s %.0f of %.0f.", name_of(w, 0), first.done,
                           first.all));
}

/* Adds the options of one verdict, each with why, as " Dropped: buy (jct_p95_s
 * at most 10800 s: 12000 s [11500 s, 12500 s])." */
static void add_those(struct words *w, enum decide_verdict verdict, const char *head)
{
    bool any = false;

    for (uint32_t i = 0; i < w->decision->spec->choice_count; i++) {
        const struct decide_option *o = &w->at->option[i];

        if (o->verdict != verdict || o->policy == UINT32_MAX)
            continue;
        add(w, text_format(w->arena, "%s%s (%s)", any ? "; " : head, name_of(w, i), o->why));
        any = true;
    }
    add(w, any ? "." : "");
}

/* Adds the options that were not run, as " Not run: buy." */
static void add_not_run(struct words *w)
{
    const char *before = " Not run: ";
    bool any = false;

    for (uint32_t i = 0; i < w->decision->spec->choice_count; i++)
        if (w->at->option[i].policy == UINT32_MAX) {
            add(w, text_format(w->arena, "%s%s", before, name_of(w, i)));
            before = ", ";
            any = true;
        }
    add(w, any ? "." : "");
}

/* Returns the conditions, as "jct_p95_s at most 10800 s and jobs_done at least
 * 1990"; "" of none. */
static const char *conditions(const struct words *w)
{
    const struct experiment_decide *spec = w->decision->spec;
    const char *text = "";

    for (uint32_t k = 0; k < spec->keep_count; k++)
        text = text_format(w->arena, "%s%s%s", text, k == 0 ? "" : " and ",
                           decide_keep_text(w->arena, w->decision->grid->metrics, spec, k));
    return text;
}

/* Adds the best of the other options: among those that are worse than the first, the
 * nearest to it. */
static void add_nearest(struct words *w)
{
    double better = w->info->better, least = INFINITY;
    uint32_t nearest = UINT32_MAX;

    for (uint32_t i = 1; i < w->decision->spec->choice_count; i++) {
        const struct decide_option *o = &w->at->option[i];

        if (o->verdict == DECIDE_WORSE && -better * o->delta.mean < least) {
            least = -better * o->delta.mean;
            nearest = i;
        }
    }
    if (nearest == UINT32_MAX) {
        add(w, ", and no other option keeps the conditions.");
        return;
    }
    add(w, text_format(w->arena, "; the nearest other option, %s", name_of(w, nearest)));
    add_against_first(w, nearest);
    add(w, ".");
}

/* Which option to take, with the difference to the first; or that the first is kept, and
 * how far the nearest other option is behind it. */
static void say_best(struct words *w)
{
    uint32_t best = w->at->best;
    bool kept = w->at->outcome == DECIDE_IS_KEPT;

    add(w, text_format(w->arena, "%s %s: %s", kept ? "Keep" : "Take", name_of(w, best),
                       mean_words(w, best)));
    if (kept)
        add_nearest(w);
    else {
        add_against_first(w, best);
        add(w, ".");
    }
}

/* Says what keeps the decision open: no option surely keeps the conditions, the
 * first was not run, or the best and the first are too near each other. */
static void say_open(struct words *w)
{
    uint32_t best = w->at->best;
    const struct decide_option *first = &w->at->option[0];

    if (best == UINT32_MAX) {
        add(w, "Undecided: no option surely keeps the conditions.");
        return;
    }
    if (first->policy == UINT32_MAX) {
        add(w, text_format(w->arena, "Undecided: %s, with which the options are compared, "
                           "was not run. The best is %s: %s.", name_of(w, 0),
                           name_of(w, best), mean_words(w, best)));
        return;
    }
    if (first->verdict == DECIDE_LEVEL || best == 0)
        add(w, text_format(w->arena, "Undecided: %s has the best mean, %s", name_of(w, best),
                           mean_words(w, best)));
    else
        add(w, text_format(w->arena, "Undecided: of the options that surely keep the "
                           "conditions %s is the best, %s", name_of(w, best),
                           mean_words(w, best)));
    add_against_first(w, best);
    add(w, first->verdict == DECIDE_LEVEL
               ? text_format(w->arena, ", and %s may be as good. More seeds may decide.",
                             name_of(w, 0)) : ".");
}

const char *decide_sentence(struct arena *arena, const struct decision *decision,
                            uint32_t point, size_t *headline)
{
    struct words w = {
        arena, decision, &decision->point[point],
        metric_info(decision->grid->metrics, decision->spec->metric), ""
    };

    if (w.at->outcome == DECIDE_IS_NONE)
        add(&w, "Take none: no option keeps the conditions.");
    else if (w.at->outcome == DECIDE_IS_OPEN)
        say_open(&w);
    else
        say_best(&w);
    *headline = strlen(w.text);
    if ((w.at->outcome == DECIDE_IS_TAKEN || w.at->outcome == DECIDE_IS_KEPT) &&
        decision->spec->keep_count > 0)
        add(&w, text_format(arena, " It keeps %s.", conditions(&w)));
    add_level(&w);
    add_work(&w);
    add_those(&w, DECIDE_DROPPED, " Dropped: ");
    add_those(&w, DECIDE_UNDECIDED, w.at->outcome == DECIDE_IS_OPEN
              ? " Not decided: " : " Not decided, and worse anyway: ");
    add_not_run(&w);
    return w.text;
}

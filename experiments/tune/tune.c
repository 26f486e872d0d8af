/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tune.c - policy by policy: candidates, the race on training seeds, the judgement
 * on others.
 *
 * Three sets of seeds that never meet (tune.h): the race chooses on training seeds, so
 * its winner looks better there than it is; the judging seeds tell without that bias;
 * the experiment's own seeds are left for its results.
 */
#include "experiments/tune/tune.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/probe/probe.h"
#include "experiments/results/trust.h"
#include "experiments/spec/experiment.h"
#include "experiments/spec/only.h"
#include "experiments/tune/entry.h"
#include "experiments/runner/race.h"
#include "experiments/tune/space.h"
#include "experiments/tune/tuning.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

/* ---- the race ----------------------------------------------------------- */

/* Returns the choice in words, for the log and the result. */
static const char *say_choice(const struct tuning *t, uint32_t c)
{
    const struct space_choice *choice = &t->candidate[c].choice;
    const char *text = "";

    for (size_t i = 0; i < choice->count; i++)
        text = text_format(t->arena, "%s%s%s=%s", text, i > 0 ? " " : "",
                           choice->set[i].key, choice->set[i].text);
    return c == 0 ? "as it is" : text;
}

/* Prints a line on the round, if the caller wants it.  The best may be the entry
 * as it is, candidate 0, which is always there; percents are of its size. */
static void log_round(struct tuning *t, const uint32_t *candidate, uint32_t count,
                      uint32_t seeds, const double *score)
{
    uint32_t best = 0, origin = 0;

    t->round++;
    for (uint32_t i = 1; i < count; i++) {
        if (score[i] < score[best])
            best = i;
        if (candidate[i] == 0)
            origin = i;
    }
    if (t->options->log == NULL)
        return;
    fprintf(t->options->log, "%s: round %u: %u candidates, %u seeds each; best: %s "
            "(%+.2f%%)\n", t->policy, t->round, t->round > 1 ? count : count - t->twins,
            seeds, say_choice(t, candidate[best]),
            100 * t->space->info->better * (score[origin] - score[best]) + 0.0);
}

/* Returns whether two candidates ran the same trials: the probe has one of
 * each. */
static bool is_same(const struct tuning *t, const struct values *a, const struct values *b)
{
    for (uint32_t p = 0; p < t->point_count; p++) {
        if (a->answer[p].trial == NULL || b->answer[p].trial == NULL)
            return false;
        for (uint32_t s = 0; s < a->seeds; s++)
            if (a->answer[p].trial[s] != b->answer[p].trial[s])
                return false;
    }
    return true;
}

/* Takes out of the first round what says the same as an earlier candidate: a split that
 * the cluster has, numbers of a range that are rounded to one.  Left in, it would keep
 * another out of the better half. */
static void find_twins(struct tuning *t, const uint32_t *candidate, uint32_t count,
                       const struct values *values)
{
    assert(candidate[0] == 0 && t->twins == 0);
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t j = 0; j < i && t->candidate[candidate[i]].state == FINE; j++)
            if (is_same(t, &values[i], &values[j])) {
                t->candidate[candidate[i]].state = TWIN;
                t->twins++;
            }
}

/* Notes of a candidate that some point has no valid experiment of it, and at how many. */
static void note_refusal(struct tuning *t, uint32_t candidate, const struct values *values)
{
    if (t->refusal == NULL)
        t->refusal = text_format(t->arena, "%s: %s", say_choice(t, candidate),
                                 values->why->text);
    for (uint32_t p = 0; p < t->point_count; p++)
        t->unread += values->answer[p].unread != NULL ? values->seeds : 0;
}

/* The callback of the race.  Candidate 0 is always among the candidates, and its
 * means are the scale. */
static bool score_candidates(void *self, const uint32_t *candidate, uint32_t count,
                             uint32_t seeds, double *score, struct err *err)
{
    struct tuning *t = self;
    struct values *values = values_run(t, candidate, count, TUNE_TRAINING_FROM, seeds,
                                           err);
    int better = t->space->info->better;
    uint32_t origin = 0;
    double *mean;

    while (values != NULL && candidate[origin] != 0)
        origin++;
    mean = values == NULL ? NULL : values_means(t, &values[origin], err);
    if (mean == NULL)
        return false;
    if (t->round == 0)
        find_twins(t, candidate, count, values);
    for (uint32_t i = 0; i < count; i++) {
        bool twin = t->candidate[candidate[i]].state == TWIN;
        bool whole = !twin && values_are_whole(t, &values[i], &values[origin]);
        double sum = 0;

        for (uint32_t s = 0; whole && s < seeds; s++)
            sum += values_relative(t, &values[i], mean, s);
        score[i] = whole ? -better * sum / seeds : INFINITY;
        if (!whole && !twin)
            t->candidate[candidate[i]].state = values[i].refused ? REFUSED : FAILED;
        if (values[i].refused)
            note_refusal(t, candidate[i], &values[i]);
    }
    log_round(t, candidate, count, seeds, score);
    return true;
}

/* Returns whether a key of the workload or the cluster has that value anyway.
 * The reader refuses a `with` without effect (EXPERIMENT_IDLE_WITH), and only
 * reading all points tells. */
static bool is_idle(const struct tuning *t, const struct experiment_setting *setting)
{
    const struct experiment *experiment = probe_experiment(t->probe);
    const struct space_choice one = { setting, 1 };
    struct space_choice set = entry_settings(t->arena, t->entry, t->policy, &one);
    const char *word = text_format(t->arena, "%s=%s", set.set[0].key, set.set[0].text);
    struct experiment_options options = {
        .set = &word, .set_count = 1, .program_hash = experiment->program_hash
    };
    struct err err = { 0 };

    if (strncmp(setting->key, "policies.", strlen("policies.")) == 0)
        return false;
    struct arena *scratch = arena_new(0);
    bool idle = experiment_read(scratch, experiment->path, &options, &err) == NULL &&
                strstr(err.text, EXPERIMENT_IDLE_WITH) != NULL;
    arena_free(scratch);
    return idle;
}

/* Returns whether a choice leaves all as it is; true also of a map without
 * keys. */
static bool is_as_it_is(const struct tuning *t, const struct space_choice *choice)
{
    for (size_t i = 0; i < choice->count; i++)
        if (!is_idle(t, &choice->set[i]))
            return false;
    return true;
}

/* Candidate 0 is the entry as it is; a candidate that changes nothing would be the
 * entry again, and is left out. */
static void make_candidates(struct tuning *t, uint32_t count)
{
    struct space_choice *choice = space_draw(t->arena, t->space, t->policy, count);

    t->candidate = arena_alloc(t->arena, count + 1, sizeof *t->candidate);
    t->candidate_count = 1;             /* the entry as it is */
    for (uint32_t c = 0; c < count; c++)
        if (!is_as_it_is(t, &choice[c]))
            t->candidate[t->candidate_count++] = (struct candidate){
                choice[c], entry_settings(t->arena, t->entry, t->policy, &choice[c]), FINE
            };
}

/* ---- the judgement ------------------------------------------------------ */

/* Returns whether all seeds have one value. */
static bool is_alike(const double *x, uint32_t seeds)
{
    for (uint32_t s = 1; s < seeds; s++)
        if (x[s] != x[0])
            return false;
    return true;
}

/* Judges the winner against the entry on seeds that neither has met: paired by
 * seed, 95% interval (stats_delta).  Unless the whole interval is on the better
 * side, the entry is kept; so it is where the winner is out there.  Where all seeds are
 * alike, they are that of the search again: one sample, without an interval. */
static bool judge_best(struct tuning *t, uint32_t best, struct tune_found *found,
                       struct err *err)
{
    const uint32_t both[2] = { 0, best };
    uint32_t seeds = t->space->judge;
    struct values *values = values_run(t, both, 2, TUNE_JUDGING_FROM, seeds, err);
    double *mean = values == NULL ? NULL : values_means(t, &values[0], err);
    int better = t->space->info->better;
    double *x[2];

    if (mean == NULL)
        return false;
    found->kept = true;
    found->out = !values_are_whole(t, &values[1], &values[0]);
    if (found->out)
        return true;
    for (int side = 0; side < 2; side++) {
        x[side] = arena_alloc(t->arena, seeds, sizeof **x);
        for (uint32_t s = 0; s < seeds; s++)
            x[side][s] = values_relative(t, &values[side], mean, s);
    }
    if (is_alike(x[0], seeds) && is_alike(x[1], seeds))
        seeds = 1;
    found->judged = stats_delta(x[1], x[0], seeds, 0.95);
    trust_cut_percent(t->space->info, t->space->metric, &found->judged);
    found->kept = seeds == 1 ? !(better * found->judged.mean > 0)
                : !(better < 0 ? found->judged.high < 0 : found->judged.low > 0);
    return true;
}

/* Takes out keys of `with` that have their value anyway. */
static void drop_idle(struct tuning *t, struct space_choice *choice)
{
    struct experiment_setting *kept =
        arena_alloc(t->arena, choice->count + 1, sizeof *kept);
    size_t count = 0;

    for (size_t i = 0; i < choice->count; i++)
        if (!is_idle(t, &choice->set[i]))
            kept[count++] = choice->set[i];
    *choice = (struct space_choice){ kept, count };
}

/* ---- one policy, and all ------------------------------------------------ */

/* Counts the candidates that differ, and of them those that were refused or failed. */
static void count_states(const struct tuning *t, struct tune_found *found)
{
    found->candidates = t->candidate_count - t->twins;
    for (uint32_t c = 0; c < t->candidate_count; c++) {
        found->refused += t->candidate[c].state == REFUSED;
        found->failed += t->candidate[c].state == FAILED;
    }
}

/* Judges the winner, unless it is the entry itself, and writes the entry that
 * follows. */
static bool finish_policy(struct tuning *t, uint32_t best, struct tune_found *found,
                          struct err *err)
{
    struct space_choice choice = t->candidate[best].choice, set;
    const struct space_choice none = { NULL, 0 };

    found->best = say_choice(t, best);
    found->kept = best == 0;
    if (best != 0 && !judge_best(t, best, found, err))
        return false;
    if (!found->kept)
        drop_idle(t, &choice);
    set = entry_settings(t->arena, t->entry, t->policy, found->kept ? &none : &choice);
    found->setting = set.set;
    found->setting_count = (uint32_t)set.count;
    found->entry = entry_text(t->arena, t->entry, t->policy,
                              found->kept ? &none : &choice, err);
    return found->entry != NULL;
}

/* Does a key of the policy itself vary? */
static bool has_own_key(const struct tuning *t)
{
    for (uint32_t c = 1; c < t->candidate_count; c++)
        for (size_t i = 0; i < t->candidate[c].choice.count; i++)
            if (strncmp(t->candidate[c].choice.set[i].key, "policies.",
                        strlen("policies.")) == 0)
                return true;
    return false;
}

/* Returns whether nothing but the entry as it is could be tried. */
static bool is_refused(const struct tune_found *found)
{
    return found->refused > 0 && found->refused + 1 == found->candidates;
}

/* Sets err: nothing that `over` says for the policy is a valid experiment.  That is a slip,
 * and must not look like an entry that nothing beats.  Returns false. */
static bool refuse_all(const struct tuning *t, const struct tune_found *found,
                       struct err *err)
{
    const struct conf_node *tune = probe_experiment(t->probe)->tune;

    return err_set(err, ERR_SCHEMA, conf_pos(conf_get(tune, "over")), "nothing that is "
                   "tuned for policy %.60s gives a valid experiment; the first: %s",
                   found->policy, found->refusal);
}

/* False, with err, if nothing could be tried for any policy.  Keys of the workload and the
 * cluster may suit some policies alone, so that one without candidates is no slip. */
static bool check_tried(const struct tuning *t, const struct tune_found *found,
                        uint32_t count, struct err *err)
{
    const struct tune_found *first = NULL;

    for (uint32_t i = count; i-- > 0;) {
        if (is_refused(&found[i]))
            first = &found[i];
        else if (found[i].candidates > 1)
            return true;
    }
    return first == NULL || refuse_all(t, first, err);
}

/* Searches for one policy.  A pull is one seed at all points, so that
 * candidates are always compared over all points.  Example: a budget of 200
 * trials at 4 points is 50 pulls. */
static bool tune_policy(struct tuning *t, struct tune_found *found, struct err *err)
{
    uint32_t pulls = t->space->budget / t->point_count, best = 0, spent = 0;
    uint32_t most = race_most(pulls, t->space->seeds);
    uint32_t all = space_count(t->space, t->policy);
    struct race race = { .seeds = t->space->seeds, .score = score_candidates, .self = t };

    if (most < 2)
        return err_set(err, ERR_RANGE, conf_pos(probe_experiment(t->probe)->tune),
                       "budget is %u trials, too few for %u points and two candidates",
                       t->space->budget, t->point_count);
    make_candidates(t, all < most - 1 ? all : most - 1);
    race.candidates = t->candidate_count;
    *found = (struct tune_found){ .policy = t->policy };
    if (!race_run(&race, &best, &spent, err))
        return false;
    if (t->twins > 0)
        spent -= t->twins * (race.seeds < RACE_FIRST_SEEDS ? race.seeds : RACE_FIRST_SEEDS);
    found->trials = spent * t->point_count - t->unread;
    found->refusal = t->refusal;
    count_states(t, found);
    if (is_refused(found) && has_own_key(t))
        return refuse_all(t, found, err);
    return finish_policy(t, best, found, err);
}

/* Returns whether each name of `--only` is a policy of the file. */
static bool check_only(struct arena *arena, const struct experiment *experiment,
                       const char *only, struct err *err)
{
    const char **all = arena_alloc(arena, experiment->file_policy_count + 1, sizeof *all);

    for (uint32_t p = 0; p < experiment->file_policy_count; p++)
        all[p] = experiment->policy_name[p];
    return only_check(arena, only, all, experiment->path, err);
}

/* Returns the labels of the points that are tuned for. */
static const char *const *point_labels(struct arena *arena,
                                       const struct experiment *experiment,
                                       const struct space *space, uint32_t *count)
{
    const char **label = arena_alloc(arena, experiment->point_count, sizeof *label);

    *count = 0;
    for (uint32_t p = 0; p < experiment->point_count; p++)
        if (space->point == NULL ||
            strcmp(space->point, experiment->point[p].label) == 0)
            label[(*count)++] = experiment->point[p].label;
    return label;
}

/* Tunes policies one by one, each with a budget of its own, so that results for
 * a policy do not depend on which others there are. */
const struct tune_found *tune_run(struct arena *arena, struct probe *probe,
                                  const struct tune_options *options,
                                  uint32_t *count, struct err *err)
{
    const struct experiment *experiment = probe_experiment(probe);
    struct tune_found *found =
        arena_alloc(arena, experiment->policy_count, sizeof *found);
    struct space *space = arena_alloc(arena, 1, sizeof *space);
    struct tuning base = { .arena = arena, .probe = probe, .space = space,
                           .options = options };

    *count = 0;
    if (!check_only(arena, experiment, options->only, err) ||
        !space_read(arena, experiment, space, err))
        return NULL;
    base.point = point_labels(arena, experiment, space, &base.point_count);
    for (uint32_t p = 0; p < experiment->file_policy_count; p++) {
        struct tuning t = base;

        t.policy = experiment->policy_name[p];
        t.entry = entry_find(experiment, t.policy);
        if (only_names(options->only, t.policy) &&
            !tune_policy(&t, &found[(*count)++], err))
            return NULL;
    }
    return check_tried(&base, found, *count, err) ? found : NULL;
}

/* Reading the space finds all slips in `tune:` before any trial runs. */
bool tune_check(struct arena *arena, const struct experiment *experiment, struct err *err)
{
    struct space space;

    if (experiment->tuned && experiment->tune == NULL)
        return err_set(err, ERR_SCHEMA, conf_pos(conf_get(experiment->tree, "tuned")),
                       "tuned is without effect: there is no key tune");
    return experiment->tune == NULL || space_read(arena, experiment, &space, err);
}

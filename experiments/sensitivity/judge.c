/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * judge.c - trials of a query to a grid, and the grid to check_expects(): a
 * verdict here is what `check` would say.
 *
 * A query is one expectation, at one point, with some keys set.  It needs one
 * cell (a policy at a point, all seeds) or two, if it compares.  All cells of
 * all queries are asked of the probe at once, so that its threads are busy;
 * then each query gets a small grid of its own cells, and the code of `check`
 * judges it.  There is no second implementation of a verdict.
 */
#include "experiments/sensitivity/judge.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/probe/probe.h"
#include "experiments/results/grid.h"
#include "experiments/spec/experiment.h"
#include "experiments/spec/point_label.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

/* The cells that a query needs at most: its own, and the one that it is compared
 * with. */
#define SIDES 2u

struct sides {
    struct probe_ask ask[SIDES];
    uint32_t count;
};

/* Returns what to ask of the probe for a query.  The other side may be another
 * policy, another point, or both. */
static struct sides make_sides(struct arena *arena, const struct judge_query *query,
                               uint32_t seeds)
{
    const struct experiment_expect *e = query->expect;
    struct sides sides = { .count = 1 };

    sides.ask[0] = (struct probe_ask){
        .setting = query->setting, .setting_count = query->setting_count,
        .point = query->point, .policy = e->policy, .seed_count = seeds
    };
    if (e->versus == NULL && e->versus_point == NULL)
        return sides;
    sides.count = 2;
    sides.ask[1] = sides.ask[0];
    if (e->versus != NULL)
        sides.ask[1].policy = e->versus;
    if (e->versus_point != NULL)
        sides.ask[1].point = point_label_with(arena, query->point, e->versus_point);
    return sides;
}

/* Returns a grid with the cells of a query, and no others.  Both sides may share
 * their point or their policy; the grid then has one. */
static struct grid *make_grid(struct arena *arena, const struct metric_set *metrics,
                              const struct sides *sides,
                              const struct probe_answer *answer, uint32_t seeds)
{
    const char **point = arena_alloc(arena, SIDES, sizeof *point);
    const char **policy = arena_alloc(arena, SIDES, sizeof *policy);
    uint32_t points = 0, policies = 0;

    for (uint32_t i = 0; i < sides->count; i++) {
        if (points == 0 || strcmp(point[0], sides->ask[i].point) != 0)
            point[points++] = sides->ask[i].point;
        if (policies == 0 || strcmp(policy[0], sides->ask[i].policy) != 0)
            policy[policies++] = sides->ask[i].policy;
    }
    struct grid *grid = grid_new(arena, metrics, point, points, policy, policies,
                                 seeds);
    for (uint32_t i = 0; i < sides->count; i++) {
        uint32_t at = points > 1 ? i : 0, of = policies > 1 ? i : 0;

        for (uint32_t s = 0; s < seeds; s++)
            grid_put(grid, at, of, s, answer[i].trial[s]->value);
        grid_end(grid, at, of, answer[i].fixed);
    }
    return grid;
}

/* Returns why the first failed trial failed, in the order of sides and seeds;
 * NULL: none did. */
static const char *first_failure(struct arena *arena, const struct sides *sides,
                                 const struct probe_answer *answer, uint32_t seeds)
{
    for (uint32_t i = 0; i < sides->count; i++)
        for (uint32_t s = 0; s < seeds; s++)
            if (answer[i].trial[s]->failure != NULL)
                return text_format(arena, "seed %u of %s failed: %s", s,
                                   sides->ask[i].policy,
                                   answer[i].trial[s]->failure->text);
    return NULL;
}

/* Judges one query on its answers.  A mean over the jobs that only one side has
 * done (item.lost) is not a value that may be compared. */
static void judge_one(struct arena *arena, const struct judge_query *query,
                      const struct sides *sides, const struct probe_answer *got,
                      const struct experiment *experiment, struct judge_answer *answer)
{
    uint32_t seeds = experiment->seeds;
    struct check_list list;

    *answer = (struct judge_answer){ .value = NAN };
    answer->item.verdict = CHECK_NOT_JUDGED;
    for (uint32_t i = 0; i < sides->count; i++) {
        if (got[i].unread != NULL) {
            answer->unread = true;
            answer->why = text_format(arena, "%s", got[i].unread->text);
            return;
        }
        answer->trials += got[i].fixed ? 1 : seeds;
    }
    list = check_expects(arena, make_grid(arena, experiment_metrics(experiment), sides,
                                          got, seeds), query->expect, 1);
    answer->item = list.item[0];
    answer->why = first_failure(arena, sides, got, seeds);
    if (answer->why != NULL)
        return;
    if (answer->item.lost != NULL && !answer->item.compared)
        answer->why = answer->item.reason;
    else if (!isfinite(answer->item.value))
        answer->why = "no trial has the value";
    else
        answer->value = answer->item.value;
}

/* The answers of a query stand together in `got`, in the order of its sides. */
bool judge_run(struct arena *arena, struct probe *probe,
               const struct judge_query *query, size_t count,
               struct judge_answer *answer, struct err *err)
{
    const struct experiment *experiment = probe_experiment(probe);
    struct sides *sides = arena_alloc(arena, count + 1, sizeof *sides);
    struct probe_ask *ask = arena_alloc(arena, SIDES * count + 1, sizeof *ask);
    struct probe_answer *got = arena_alloc(arena, SIDES * count + 1, sizeof *got);
    size_t asks = 0;

    for (size_t i = 0; i < count; i++) {
        sides[i] = make_sides(arena, &query[i], experiment->seeds);
        for (uint32_t k = 0; k < sides[i].count; k++)
            ask[asks++] = sides[i].ask[k];
    }
    if (!probe_run(probe, ask, asks, got, err))
        return false;
    asks = 0;
    for (size_t i = 0; i < count; i++) {
        judge_one(arena, &query[i], &sides[i], got + asks, experiment, &answer[i]);
        asks += sides[i].count;
    }
    return true;
}

/* ---- where a claim is judged ---- */

/* Returns a label without the word of the key, which the label may have whole or
 * without its first step. key NULL: the label, with single blanks. */
static const char *drop_key(struct arena *arena, const char *label, const char *key)
{
    const char *end = key == NULL ? NULL : strchr(key, '.');
    char *rest = arena_text(arena, ""), *word;

    while (*label != '\0') {
        size_t bytes = strcspn(label, " "), name = strcspn(label, "= ");

        word = text_format(arena, "%.*s", (int)name, label);
        if (key == NULL || (strcmp(word, key) != 0 &&
                            (end == NULL || strcmp(word, end + 1) != 0)))
            rest = text_format(arena, "%s%s%.*s", rest, *rest == '\0' ? "" : " ",
                               (int)bytes, label);
        label += bytes;
        label += strspn(label, " ");
    }
    return rest;
}

/* Is there a row already for this expectation at a point that differs only in the
 * varied key? */
static bool has_rest(const struct judge_row *row, size_t count,
                     const struct experiment_expect *e, const char *rest)
{
    for (size_t i = 0; i < count; i++)
        if (row[i].expect == e && strcmp(row[i].rest, rest) == 0)
            return true;
    return false;
}

/* Is the other side of the comparison a point of the experiment, and another one? */
static bool can_compare(struct arena *arena, const struct experiment *experiment,
                        const struct experiment_expect *e, const char *label)
{
    const char *other = e->versus_point == NULL
        ? label : point_label_with(arena, label, e->versus_point);

    if (other == NULL ||
        (e->versus_point != NULL && e->versus == NULL && strcmp(other, label) == 0))
        return false;
    for (uint32_t p = 0; p < experiment->point_count; p++)
        if (strcmp(experiment->point[p].label, other) == 0)
            return true;
    return false;
}

/* Does the expectation compare with another value of the key itself?  There is no
 * point in varying it then. */
static bool compares_key(struct arena *arena, const struct experiment_expect *e,
                         const char *key)
{
    return e->versus_point != NULL &&
           strcmp(drop_key(arena, e->versus_point, key), e->versus_point) != 0;
}

/* Expectations are copied without their point, as the point is part of the row;
 * O(expectations x points^2) on short labels. */
struct judge_row *judge_rows(struct arena *arena, const struct experiment *experiment,
                             const char *claim, const char *key, size_t *count)
{
    struct judge_row *row = arena_alloc(
        arena, (size_t)experiment->expect_count * experiment->point_count + 1,
        sizeof *row);

    *count = 0;
    for (uint32_t i = 0; i < experiment->expect_count; i++) {
        struct experiment_expect *e;
        const char *point;

        if (experiment->expect[i].claim == NULL ||
            strcmp(experiment->expect[i].claim, claim) != 0 ||
            compares_key(arena, &experiment->expect[i], key))
            continue;
        e = arena_alloc(arena, 1, sizeof *e);
        *e = experiment->expect[i];
        point = e->point == NULL ? NULL : drop_key(arena, e->point, key);
        e->point = NULL;
        for (uint32_t p = 0; p < experiment->point_count; p++) {
            const char *label = experiment->point[p].label;
            const char *rest = drop_key(arena, label, key);

            if (experiment->point_count == 1)
                rest = "";
            if ((point == NULL || point_label_has(rest, point)) &&
                can_compare(arena, experiment, e, label) &&
                !has_rest(row, *count, e, rest))
                row[(*count)++] = (struct judge_row){
                    e, label, metric_info(experiment_metrics(experiment),
                                          e->metric)->name, rest };
        }
    }
    return row;
}

const char *judge_name(struct arena *arena, const struct judge_row *row, bool alone)
{
    const struct experiment_expect *e = row->expect;

    if (alone && e->claim != NULL)
        return e->claim;
    return text_format(arena, "%s%s%s of %s%s%s%s%s%s%s%s",
                       e->claim == NULL ? "" : e->claim, e->claim == NULL ? "" : " (",
                       row->metric, e->policy,
                       e->versus == NULL ? "" : " vs ",
                       e->versus == NULL ? "" : e->versus,
                       e->versus_point == NULL ? "" : " vs ",
                       e->versus_point == NULL ? "" : e->versus_point,
                       *row->rest == '\0' ? "" : ", ", row->rest,
                       e->claim == NULL ? "" : ")");
}

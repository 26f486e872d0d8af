/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * tries.c - values of `tune: over:` that no candidate can have.
 *
 * A value that is refused in some candidates alone is no slip: 8 GPUs at most do not suit 16 at
 * least, and a key of the workload may not suit each policy.  So a value counts as refused if
 * the entry with it alone is no valid experiment, and neither is any of the candidates drawn
 * that has it.  Values are tried at the first point.  Splits of nodes are made, not written, and
 * are not tried.
 */
#include <string.h>

#include "experiments/probe/probe.h"
#include "experiments/spec/experiment.h"
#include "experiments/tune/entry.h"
#include "experiments/tune/space.h"
#include "experiments/tune/tune.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

/* Candidates with which a value is tried that the entry alone refuses. */
#define TRIES_MAX 63u

/* One value of a dimension. */
struct written {
    const struct space_dimension *of;
    const struct conf_node *node;
    struct space_choice choice; /* what it sets */
};

/* What is asked of the probe. */
struct trying {
    struct arena *arena;
    struct probe *probe;
    const struct space *space;
    const char *point;          /* its label */
};

/* Returns the settings of a candidate of the policy in which the value stands: its own come
 * last, and count. */
static struct space_choice add_value(const struct trying *t, const char *policy,
                                     const struct space_choice *candidate,
                                     const struct written *value)
{
    struct experiment_setting *set =
        arena_alloc(t->arena, candidate->count + value->choice.count + 1, sizeof *set);
    struct space_choice all = { set, 0 };

    for (size_t i = 0; i < candidate->count; i++)
        set[i] = candidate->set[i];
    all.count = candidate->count;
    for (size_t i = 0; i < value->choice.count; i++)
        if (!space_is_of_another(value->choice.set[i].key, policy))
            set[all.count++] = value->choice.set[i];
    return entry_settings(t->arena, entry_find(probe_experiment(t->probe), policy), policy,
                          &all);
}

/* Is the experiment valid, but for a value that it has anyway? */
static bool is_valid(const struct probe_answer *answer)
{
    return answer->unread == NULL || strstr(answer->unread->text, EXPERIMENT_IDLE_WITH) != NULL;
}

/* Stores in *why what refuses the value in each of the candidates of the policy; NULL: one of
 * them is valid.  False: err says what else failed. */
static bool try_candidates(const struct trying *t, const char *policy,
                           const struct space_choice *candidate, uint32_t count,
                           const struct written *value, const struct err **why,
                           struct err *err)
{
    struct probe_ask *ask = arena_alloc(t->arena, count, sizeof *ask);
    struct probe_answer *answer = arena_alloc(t->arena, count, sizeof *answer);

    for (uint32_t i = 0; i < count; i++) {
        struct space_choice set = add_value(t, policy, &candidate[i], value);

        ask[i] = (struct probe_ask){ .setting = set.set, .setting_count = set.count,
                                     .point = t->point, .policy = policy };
    }
    if (!probe_run(t->probe, ask, count, answer, err))
        return false;
    *why = answer[0].unread;
    for (uint32_t i = 0; i < count; i++)
        if (is_valid(&answer[i]))
            *why = NULL;
    return true;
}

/* Tries the value with one policy, first in the entry as it is, then in candidates. */
static bool try_policy(const struct trying *t, const char *policy, const struct written *value,
                       const struct err **why, struct err *err)
{
    const struct space_choice none = { NULL, 0 };
    uint32_t all = space_count(t->space, policy), count = all < TRIES_MAX ? all : TRIES_MAX;
    const struct err *beside;

    if (!try_candidates(t, policy, &none, 1, value, why, err))
        return false;
    if (*why == NULL || t->space->dimension_count == 1)
        return true;
    if (!try_candidates(t, policy, space_draw(t->arena, t->space, policy, count), count, value,
                        &beside, err))
        return false;
    if (beside == NULL)
        *why = NULL;
    return true;
}

/* False, with err, if all policies that the value concerns refuse it. */
static bool try_value(const struct trying *t, const struct written *value, struct err *err)
{
    const struct experiment *experiment = probe_experiment(t->probe);
    const struct err *first = NULL, *why;
    const struct space_dimension alone = { .name = value->of->name, .choice = &value->choice,
                                           .choice_count = 1 };

    for (uint32_t p = 0; p < experiment->file_policy_count; p++) {
        if (!space_concerns(&alone, experiment->policy_name[p]))
            continue;
        if (!try_policy(t, experiment->policy_name[p], value, &why, err))
            return false;
        if (why == NULL)
            return true;
        if (first == NULL)
            first = why;
    }
    if (first == NULL)
        return true;
    bool of_key = first->fault == FAULT_KEY && conf_kind(value->node) == CONF_SCALAR;
    err_set(err, first->kind, of_key ? value->of->pos : conf_pos(value->node),
            "%.80s cannot be %.60s: %s", value->of->name, conf_flow(t->arena, value->node),
            first->text);
    return first->hint[0] == '\0' ? false : err_hint(err, "%s", first->hint);
}

/* Tries the values of a list, or both ends of a range. */
static bool try_dimension(const struct trying *t, const struct space_dimension *dimension,
                          struct err *err)
{
    bool list = conf_kind(dimension->node) == CONF_LIST;

    if (!list && dimension->choice != NULL)
        return true;
    for (size_t i = 0; i < (list ? dimension->choice_count : 2); i++) {
        struct written value = { .of = dimension };
        struct experiment_setting set = {
            dimension->name, i == 0 ? dimension->range.from_text : dimension->range.to_text
        };

        value.node = list ? conf_item(dimension->node, i)
                          : conf_get(dimension->node, i == 0 ? "from" : "to");
        value.choice = list ? dimension->choice[i] : (struct space_choice){ &set, 1 };
        if (!try_value(t, &value, err))
            return false;
    }
    return true;
}

bool tune_try(struct arena *arena, struct probe *probe, struct err *err)
{
    const struct experiment *experiment = probe_experiment(probe);
    struct space space;
    struct trying t = { .arena = arena, .probe = probe, .space = &space };

    if (experiment->tune == NULL)
        return true;
    if (!space_read(arena, experiment, &space, err))
        return false;
    t.point = space.point != NULL ? space.point : experiment->point[0].label;
    for (size_t i = 0; i < space.dimension_count; i++)
        if (!try_dimension(&t, &space.dimension[i], err))
            return false;
    return true;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * claim.c - claims and keys: checked, and in words.
 *
 * A point of a sweep is known by its label, "arrival.rate=5/h jobs=20": values
 * of swept keys, without the first step of each key.  What value a key has at a
 * point is read from there, and else from the file.
 */
#include "experiments/sensitivity/claim.h"

#include <assert.h>
#include <string.h>

#include "experiments/probe/probe.h"
#include "experiments/sensitivity/judge.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

/* The hint is the nearest name, or how to give an expectation a name. */
bool claim_check(struct arena *arena, const struct experiment *experiment,
                 const char *claim, const struct conf_node *node, struct err *err)
{
    const char **name = arena_alloc(arena, experiment->expect_count + 1, sizeof *name);
    const char *near;
    size_t count = 0;

    for (uint32_t i = 0; i < experiment->expect_count; i++) {
        if (experiment->expect[i].claim == NULL)
            continue;
        if (strcmp(experiment->expect[i].claim, claim) == 0)
            return true;
        name[count++] = experiment->expect[i].claim;
    }
    near = conf_nearest(claim, name);
    err_set(err, ERR_REFERENCE, conf_pos(node), "claim names '%.60s', which no "
            "expectation has", claim);
    if (near != NULL)
        return err_hint(err, "Did you mean %s?", near);
    if (count > 0)
        return err_hint(err, "The first claim of `expect:` is %s.", name[0]);
    return err_hint(err, "Give an item of `expect:` the key `claim: %.60s`.", claim);
}

/* A key is of no use if each point is compared with another value of the same key:
 * no row is left then. */
bool claim_key_check(struct arena *arena, const struct experiment *experiment,
                     const char *claim, const char *key, struct err_pos pos,
                     struct err *err)
{
    size_t rows;

    if (!experiment_key_check(key, "a varied key", pos, err))
        return false;
    (void)judge_rows(arena, experiment, claim, key, &rows);
    return rows > 0 ||
           err_set(err, ERR_REFERENCE, pos, "no point is left for claim %.60s if "
                   "'%.80s' is varied", claim, key);
}

/* Asks the probe for 0 seeds, so that it reads the experiment and runs nothing. */
bool claim_try(struct probe *probe, const char *point, const char *key,
               const char *value, struct err_pos key_pos, struct err_pos pos,
               struct err *err)
{
    const struct experiment_setting setting = { key, value };
    const struct probe_ask ask = {
        .setting = &setting, .setting_count = 1, .point = point,
        .policy = probe_experiment(probe)->policy_name[0]
    };
    struct probe_answer answer;

    if (!probe_run(probe, &ask, 1, &answer, err))
        return false;
    if (answer.unread == NULL)
        return true;
    if (answer.unread->fault == FAULT_KEY)
        pos = key_pos;
    err_set(err, answer.unread->kind, pos, "%.80s cannot be %.40s: %s", key, value,
            answer.unread->text);
    if (answer.unread->hint[0] != '\0')
        return err_hint(err, "%s", answer.unread->hint);
    return false;
}

/* Returns the value of a key in a label; NULL: the key is not swept. */
static const char *value_in_label(struct arena *arena, const char *label,
                                  const char *key)
{
    size_t bytes = strlen(key);

    while (*label != '\0') {
        if (strncmp(label, key, bytes) == 0 && label[bytes] == '=')
            return text_format(arena, "%.*s", (int)strcspn(label + bytes + 1, " "),
                               label + bytes + 1);
        label += strcspn(label, " ");
        label += strspn(label, " ");
    }
    return NULL;
}

/* Is something swept that the key is a part of?  What the file says of the key may
 * then not be what the point has. */
static bool sweeps_above(const struct experiment *experiment, const char *key)
{
    const struct conf_node *sweep = conf_get(experiment->tree, "sweep");

    for (size_t i = 0; sweep != NULL && i < conf_count(sweep); i++) {
        size_t bytes = strlen(conf_key(sweep, i));

        if (strncmp(conf_key(sweep, i), key, bytes) == 0 && key[bytes] == '.')
            return true;
    }
    return false;
}

const char *claim_base(struct arena *arena, const struct experiment *experiment,
                       const char *point, const char *key)
{
    const char *value = value_in_label(arena, point, claim_short_key(key));
    const struct conf_node *node;

    if (value == NULL)
        value = value_in_label(arena, point, key);
    if (value != NULL)
        return value;
    node = sweeps_above(experiment, key) ? NULL : conf_find(experiment->tree, key);
    return node != NULL && conf_kind(node) == CONF_SCALAR ? conf_text(node) : "";
}

const char *claim_short_key(const char *key)
{
    const char *dot = strchr(key, '.');

    return dot == NULL ? key : dot + 1;
}

const char *claim_versus(struct arena *arena, const struct experiment_expect *expect)
{
    if (expect->versus != NULL && expect->versus_point != NULL)
        return text_format(arena, "%s %s", expect->versus, expect->versus_point);
    return expect->versus != NULL ? expect->versus
         : expect->versus_point != NULL ? expect->versus_point : "";
}

uint32_t claim_sides(const struct experiment_expect *expect)
{
    return expect->versus != NULL || expect->versus_point != NULL ? 2 : 1;
}

const char *claim_turn_name(enum turn_kind kind)
{
    static const char *const name[] = {
        [TURN_NOT] = "no", [TURN_ONCE] = "yes", [TURN_MIXED] = "forth and back",
        [TURN_UNKNOWN] = "not known"
    };

    assert((unsigned)kind < sizeof name / sizeof name[0]);
    return name[kind];
}

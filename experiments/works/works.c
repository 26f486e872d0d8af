/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * works.c - the list of works, and which of them an experiment uses.
 *
 * Policies and formats name their works; what a law needs is told by a key of the
 * experiment's tree.
 */
#include "experiments/works/works.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

#include "experiments/spec/experiment.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "sim/config/conf.h"
#include "workloads/formats/import.h"

/* The recipe whose jobs have a length, and need no law. */
#define LAWLESS "trace"

static const struct work works[] = {
#define WORK(KEY, WHEN, TYPE, AUTHORS, TITLE, VENUE, YEAR, MORE) \
    { #KEY, WHEN, #TYPE, AUTHORS, TITLE, VENUE, YEAR, MORE },
#include "experiments/works/works.def"
#undef WORK
};

const struct work *work_at(unsigned i)
{
    return i < sizeof works / sizeof works[0] ? &works[i] : NULL;
}

const struct work *work_find(const char *key)
{
    const struct work *work;

    for (unsigned i = 0; (work = work_at(i)) != NULL; i++)
        if (strcmp(work->key, key) == 0)
            return work;
    return NULL;
}

/* Is the key one of those in `cites`, with blanks between?  NULL: none. */
static bool is_among(const char *key, const char *cites)
{
    size_t bytes = strlen(key);

    while (cites != NULL && *cites != '\0') {
        size_t n = strcspn(cites, " ");

        if (n == bytes && memcmp(cites, key, n) == 0)
            return true;
        cites += n + strspn(cites + n, " ");
    }
    return false;
}

/* A key of a map: is it what tells of the work, or names a format that cites it? */
static bool pair_uses(const struct work *work, const char *key,
                      const struct conf_node *value)
{
    const struct import_format *format;

    bool text = conf_kind(value) == CONF_SCALAR;

    if (work->when[0] != '\0' && strcmp(key, work->when) == 0)
        return !(text && strcmp(conf_text(value), LAWLESS) == 0);
    if (strcmp(key, "format") != 0 || !text)
        return false;
    format = import_format_find(conf_text(value));
    return format != NULL && is_among(work->key, format->cites);
}

/* Recursion ends: a tree has a depth of 64 at most. */
static bool tree_uses(const struct work *work, const struct conf_node *node)
{
    bool uses = false;

    assert(node != NULL);
    if (conf_kind(node) == CONF_LIST)
        for (size_t i = 0; !uses && i < conf_count(node); i++)
            uses = tree_uses(work, conf_item(node, i));
    if (conf_kind(node) == CONF_MAP)
        for (size_t i = 0; !uses && i < conf_count(node); i++)
            uses = pair_uses(work, conf_key(node, i), conf_value(node, i)) ||
                   tree_uses(work, conf_value(node, i));
    return uses;
}

bool work_is_used(const struct work *work, const struct experiment *experiment)
{
    if (strcmp(work->when, "baseline") == 0)
        return experiment->baseline != UINT32_MAX && experiment->policy_count > 1;
    for (uint32_t p = 0; p < experiment->policy_count; p++)
        if (is_among(work->key, experiment->point[0].policy[p]->policy->cites))
            return true;
    return tree_uses(work, experiment->tree);
}

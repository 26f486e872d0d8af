/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rules_text.c - the semantics and limits of an entry in words, as results print them.
 */
#include "policies/registry/rules_text.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "models/cluster/place.h"
#include "policies/policy.h"
#include "policies/registry/heeds.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

#define SEMANTICS_BYTES 512u    /* more than all keys with their longest values take */

/* In the order of enum host_blocking, and so on: terms.h has the numbers. */
const char *const host_blocking_names[] = { "strict", "skip", "commit",
                                              "drop", NULL };
const char *const host_hardware_names[] = { "any", "gpus", "cores", NULL };
const char *const host_estimate_names[] = {
    "exact", "requested", "noisy", NULL
};

/* The semantics of an entry in words: "key=value", with blanks between.  Keys that do not act on
 * the policy are left out, so that equal texts mean equal rules. */
struct told {
    char *text;                 /* [SEMANTICS_BYTES] */
    size_t used;
};

/* Adds one "key=value" to the text. */
static void tell_key(struct told *told, const char *key, const char *value)
{
    int n = snprintf(told->text + told->used, SEMANTICS_BYTES - told->used,
                     "%s%s=%s", told->used == 0 ? "" : " ", key, value);

    assert(n > 0 && told->used + (size_t)n < SEMANTICS_BYTES);
    told->used += (size_t)n;
}

/* Adds a time in seconds; nothing if it is 0, which means that the key does not
 * act. */
static void tell_time(struct told *told, const char *key, int64_t ns)
{
    char time[32], text[40];

    clock_format_s(ns, time, sizeof time);
    snprintf(text, sizeof text, "%ss", time);
    if (ns > 0)
        tell_key(told, key, text);
}

/* Adds the rule of estimates, with the coefficient of variation of a noisy one. */
static void tell_estimate(struct told *told, const struct host_rules *rules)
{
    char text[64];

    snprintf(text, sizeof text, "noisy(cv %g)", rules->noise_cv);
    tell_key(told, "estimate", rules->estimate == HOST_NOISY
                                   ? text : host_estimate_names[rules->estimate]);
}

/* Adds one item for each step of a cost by GPUs. */
static void tell_cost(struct told *told, const struct host_rules *rules)
{
    char key[48], time[32], text[40];

    for (uint32_t i = 0; i < rules->cost_count; i++) {
        const struct host_cost_step *step = &rules->cost[i];

        snprintf(key, sizeof key, step->gpus_max == UINT32_MAX
                 ? "preemption.cost" : "preemption.cost(%u)", step->gpus_max);
        clock_format_s(step->cost_ns, time, sizeof time);
        snprintf(text, sizeof text, "%ss", time);
        tell_key(told, key, text);
    }
}

/* Keys stand in one order for all policies, so that results can be compared as
 * texts. */
const char *rules_semantics(struct arena *arena, const struct heeds *heeds,
                            const struct host_rules *rules)
{
    struct told told = { arena_alloc(arena, SEMANTICS_BYTES, 1), 0 };

    if (heeds_acts(heeds, "blocking"))
        tell_key(&told, "blocking", host_blocking_names[rules->blocking]);
    tell_key(&told, "placement", place_names[rules->placement]);
    if (heeds_acts(heeds, "estimate"))
        tell_estimate(&told, rules);
    if (heeds_acts(heeds, "preemption"))
        tell_cost(&told, rules);
    if (rules->tick_ns > 0)
        tell_time(&told, "tick", rules->tick_ns);
    else
        tell_time(&told, "rounds.length", rules->round_ns);
    tell_time(&told, "rounds.resolve_at_most_every", rules->resolve_ns);
    if (rules->round_ends_early)
        tell_key(&told, "rounds.end_early", "yes");
    if (heeds_acts(heeds, "relax_after"))
        tell_time(&told, "relax_after", rules->relax_ns);
    if (heeds_acts(heeds, "grow") && rules->no_growth)
        tell_key(&told, "grow", "no");
    if (heeds_acts(heeds, "hardware") &&
        rules->hardware != HOST_ANY_HARDWARE)
        tell_key(&told, "hardware", host_hardware_names[rules->hardware]);
    if (heeds_acts(heeds, "backfill") && rules->backfill)
        tell_key(&told, "backfill", "yes");
    if (heeds_acts(heeds, "ties") && rules->ties_shuffled)
        tell_key(&told, "ties", "shuffled");
    return told.text;
}

/* The policy names the keys of its limits; their values come from the entry, or
 * are defaults. */
const char *rules_limits(struct arena *arena, const struct heeds *heeds)
{
    const char *at = heeds->policy->limits;
    char *text, key[32];
    size_t n = 0;

    if (at == NULL)
        return NULL;
    text = arena_alloc(arena, SEMANTICS_BYTES, 1);
    while (*at != '\0' && n < SEMANTICS_BYTES) {
        size_t bytes = strcspn(at, " ");

        snprintf(key, sizeof key, "%.*s", (int)bytes, at);
        n += (size_t)snprintf(text + n, SEMANTICS_BYTES - n, "%s%s: %s",
                              n == 0 ? "" : ", ", key, heeds_said(heeds, key));
        at += bytes + (at[bytes] == ' ');
    }
    return text;
}

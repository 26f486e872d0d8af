/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * then.c - an entry of `policies:` with what it is from some time on: `then: {at: 14h,
 * lend: false}`.
 *
 * The keys of the entry go on, except those that `then` says, and those of the policy's
 * own if it names another one.  What jobs were told at their submission, or models were
 * built upon, cannot change: estimates, ticks, placement, hardware.
 */
#include "policies/registry/rules.h"

#include <assert.h>
#include <string.h>

#include "policies/policy.h"
#include "policies/registry/heeds.h"
#include "policies/registry/registry.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

/* Keys of the host that `then` may change. */
static const char *const can_change[] = {
    "policy", "blocking", "backfill", "grow", "preemption", "rounds", "weights", NULL
};

/* Is the key in a list that ends with NULL? */
static bool is_among(const char *key, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcmp(*list, key) == 0)
            return true;
    return false;
}

/* Is it a key that all policies have? */
static bool is_of_host(const char *key)
{
    for (size_t i = 0; i < host_rules_schema.count; i++)
        if (strcmp(host_rules_schema.fields[i].key, key) == 0)
            return true;
    return false;
}

/* Says which keys can change: of all policies, and of this one. */
static bool hint_keys(struct arena *arena, const struct cs_policy *policy, struct err *err)
{
    struct conf_schema all = host_policy_keys(arena, policy);
    const char *text = "";

    for (size_t i = 0; i < all.count; i++)
        if (policy_accepts_key(policy, all.fields[i].key) &&
            (!is_of_host(all.fields[i].key) || is_among(all.fields[i].key, can_change)))
            text = text_format(arena, "%s%s%s", text, text[0] == '\0' ? "" : ", ",
                               all.fields[i].key);
    return err_hint(err, "Keys that can: %.300s.", text);
}

/* Is `then` a map with a time and something else, and can all of it change? */
static bool check_keys(struct arena *arena, const struct conf_node *then,
                       const struct cs_policy *policy, struct err *err)
{
    if (conf_kind(then) != CONF_MAP || conf_get(then, "at") == NULL || conf_count(then) < 2) {
        err_set(err, ERR_SCHEMA, conf_pos(then), "then must be a map with the key at, a time, "
                "and what holds from that time on");
        return err_hint(err, "Write then: {at: 14h, policy: easy}, for example.");
    }
    for (size_t i = 0; i < conf_count(then); i++) {
        const char *key = conf_key(then, i);

        if (!is_of_host(key) || is_among(key, can_change))
            continue;
        err_set(err, ERR_SCHEMA, conf_key_pos(then, i),
                "key '%.60s' cannot change while a trial runs", key);
        return hint_keys(arena, policy, err);
    }
    return true;
}

/* Returns the entry that holds from then on: keys of the first entry go on,
 * unless another policy begins, and those of `then` replace them.  NULL: err
 * says why. */
static const struct conf_node *merge(struct arena *arena, const struct conf_node *entry,
                                     const struct conf_node *then, bool other)
{
    static const char *const not_on[] = { "name", "with", "then", NULL };
    const struct conf_node *all = NULL;

    for (size_t i = 0; !other && i < conf_count(entry); i++)
        if (!is_among(conf_key(entry, i), not_on) && !conf_get(then, conf_key(entry, i)))
            all = conf_take(arena, all, entry, i);
    for (size_t i = 0; i < conf_count(then); i++)
        if (strcmp(conf_key(then, i), "at") != 0)
            all = conf_take(arena, all, then, i);
    return all;
}

/* Lets the rules of the entry go on in *to, except those that `then` says. */
static void carry_rules(const struct host_rules *from, const struct conf_node *then,
                        struct host_policy *to)
{
    const struct host_rules own = to->rules;

    to->rules = *from;
    if (conf_get(then, "blocking") != NULL)
        to->rules.blocking = own.blocking;
    else if (to->policy->decide != NULL && from->blocking == HOST_COMMIT)
        to->rules.blocking = HOST_STRICT;       /* it is the host's to decide so */
    if (conf_get(then, "backfill") != NULL)
        to->rules.backfill = own.backfill;
    if (conf_get(then, "grow") != NULL)
        to->rules.no_growth = own.no_growth;
    if (conf_get(then, "preemption") != NULL) {
        memcpy(to->rules.cost, own.cost, sizeof own.cost);
        to->rules.cost_count = own.cost_count;
    }
    if (conf_get(then, "rounds") != NULL) {
        to->rules.round_ns = own.round_ns;
        to->rules.resolve_ns = own.resolve_ns;
        to->rules.round_ends_early = own.round_ends_early;
    }
}

/* Names the policies that may begin while jobs run. */
static bool hint_takers(struct arena *arena, struct err *err)
{
    const struct cs_policy *policy;
    const char *text = "";

    for (size_t i = 0; (policy = registry_at(i)) != NULL; i++)
        if (policy->flags & CS_TAKES_OVER)
            text = text_format(arena, "%s%s%s", text, text[0] == '\0' ? "" : ", ",
                               policy->name);
    return err_hint(err, "Those that can: %.400s.", text);
}

/* May policy `to` take over from `from` while jobs run?  Both must be built in;
 * the new one must say so (CS_TAKES_OVER); leases for phases cannot become
 * leases for a life; and nothing may change of which models or jobs were told
 * before. */
static bool check_policies(struct arena *arena, const struct host_policy *from,
                           const struct host_policy *to, struct err_pos pos, struct err *err)
{
    const uint32_t limits = CS_ONE_ROLE | CS_NEEDS_GPUS | CS_WHOLE_GPUS | CS_ONE_POOL;

    if (from->guest || to->guest)
        return err_set(err, ERR_SCHEMA, pos, "policy %.60s is not built in, and only those that "
                       "are can change while a trial runs",
                       (from->guest ? from : to)->policy->name);
    if (!(to->policy->flags & CS_TAKES_OVER)) {
        err_set(err, ERR_SCHEMA, pos, "policy %.60s cannot begin while jobs run: it knows them "
                "from their submission on", to->policy->name);
        return hint_takers(arena, err);
    }
    if ((from->policy->flags & CS_PER_PHASE) && !(to->policy->flags & CS_PER_PHASE)) {
        err_set(err, ERR_SCHEMA, pos, "policy %.60s leases for a job's life, and cannot take "
                "over jobs of which %.60s has leased some roles", to->policy->name,
                from->policy->name);
        return err_hint(err, "The other way is possible: a policy that leases for phases may "
                        "follow.");
    }
    if ((to->policy->flags & ~from->policy->flags & limits) ||
        ((from->policy->flags ^ to->policy->flags) & CS_TUNES_BATCHES))
        return err_set(err, ERR_SCHEMA, pos, "policy %.60s cannot take over from %.60s, which "
                       "runs other jobs or at other batch sizes", to->policy->name,
                       from->policy->name);
    if ((from->rules.blocking == HOST_DROP) != (to->rules.blocking == HOST_DROP))
        return err_set(err, ERR_SCHEMA, pos, "blocking: drop cannot change while a trial runs");
    if (from->rules.tick_ns > 0 && from->rules.round_ns != to->rules.round_ns)
        return err_set(err, ERR_SCHEMA, pos, "keys rounds and tick exclude each other");
    return true;
}

/* Is it a file, or a program?  No name of a policy that is built in has such a character.  One that
 * the experiment does not list is not loaded, and nobody knows its name. */
static bool is_from_file(const struct conf_node *named)
{
    return named != NULL && conf_kind(named) == CONF_SCALAR &&
           strpbrk(conf_text(named), "./ ") != NULL;
}

/* Does the entry mean the same after `then` as before? */
static bool changes_nothing(const struct host_policy *from, const struct host_policy *to)
{
    return from->policy == to->policy && to->weight == from->weight &&
           memcmp(&from->rules, &to->rules, sizeof to->rules) == 0 &&
           memcmp(from->params, to->params, to->policy->self_bytes) == 0;
}

/* Reads `then` and stores the second policy in *out.  With `at: 0s` the second
 * policy is the entry from the beginning. */
static bool read_then(struct arena *arena, const struct conf_node *entry, const char *estimate,
                      const struct registry_guests *guests, struct host_policy *out,
                      struct err *err)
{
    const struct conf_node *then = conf_get(entry, "then");
    const struct conf_field at = { .key = "at", .type = CONF_TIME, .max = 1e9 };
    const struct conf_node *named;
    struct host_policy *to;

    if (!check_keys(arena, then, out->policy, err) ||
        !conf_read(conf_get(then, "at"), &at, &out->then_ns, err))
        return false;
    named = conf_get(then, "policy");
    if (is_from_file(named))
        return err_set(err, ERR_SCHEMA, conf_pos(named), "policy %.60s is not built in, and only "
                       "those that are can change while a trial runs", conf_text(named));
    bool other = named != NULL && (conf_kind(named) != CONF_SCALAR ||
                                   strcmp(conf_text(named), out->policy->name) != 0);
    /* Keys of the entry act until then, whether or not they do so afterwards. */
    to = rules_read_entry(arena, merge(arena, entry, then, other),
                          merge(arena, entry, then, true), estimate, guests, err);
    if (to == NULL)
        return false;
    carry_rules(&out->rules, then, to);
    if (!check_policies(arena, out, to, conf_pos(named != NULL ? named : then), err))
        return false;
    if (changes_nothing(out, to))
        return err_set(err, ERR_SCHEMA, conf_pos(then), "then changes nothing: policy %.60s has "
                       "these values anyway", out->policy->name);
    to->name = out->name;
    out->then = to;
    if (out->then_ns == 0)
        *out = *to;
    else
        out->semantics = text_format(arena, "%s then=%.400s", out->semantics,
                                     conf_flow(arena, then));
    return true;
}

const struct host_policy *host_policy_read_as(struct arena *arena,
                                              const struct conf_node *conf,
                                              const char *estimate,
                                              const struct registry_guests *guests,
                                              struct err *err)
{
    struct host_policy *out = rules_read_entry(arena, conf, NULL, estimate, guests, err);

    if (out == NULL || conf_kind(conf) != CONF_MAP || conf_get(conf, "then") == NULL)
        return out;
    return read_then(arena, conf, estimate, guests, out, err) ? out : NULL;
}

const struct host_policy *host_policy_read(struct arena *arena,
                                           const struct conf_node *conf,
                                           struct err *err)
{
    return host_policy_read_as(arena, conf, "exact", NULL, err);
}

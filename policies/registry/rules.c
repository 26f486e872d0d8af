/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rules.c - reads one entry of `policies:`: the policy, its parameters, and the
 * semantics that it runs under.
 *
 * The host's keys, which all policies have, and the policy's parameters form
 * one table, so that a misspelt key of either kind is found.
 */
#include "policies/registry/rules.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "policies/params.h"
#include "policies/registry/heeds.h"
#include "policies/registry/registry.h"
#include "policies/registry/rules_text.h"
#include "policies/registry/semantics.h"
#include "policies/registry/table.h"
#include "policies/registry/weights.h"
#include "policies/registry/words.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

/* The host's keys of an entry, as they are written; rules_field[] says what each means.  Maps are
 * kept as nodes, and are read once the policy is known. */
struct keys {
    const char *policy, *name;  /* `policy` of the built-in one or file; `name` in results */
    int blocking, placement, estimate;  /* numbers in the lists of their choices */
    double noise;               /* coefficient of variation of the factor */
    /* Maps; NULL: not given. */
    const struct conf_node *preemption, *rounds, *weights, *with, *then;
    const char *semantics;      /* name of a preset; NULL: none */
    int64_t tick_ns, relax_ns;
    int ties, hardware;                 /* likewise numbers in lists */
    bool backfill, grow;
};

static const char *const ties_names[] = { "lowest", "shuffled", NULL };

static const struct conf_field rules_field[] = {
    CONF_KEY("policy", CONF_TEXT, keys, policy, CONF_REQUIRED,
             "which policy; see `clustersim list policies`"),
    CONF_KEY("name", CONF_TEXT, keys, name, CONF_ABSENT,
             "what results call it; default: the policy's name"),
    CONF_KEY("blocking", CONF_CHOICE, keys, blocking, "strict",
             "what becomes of a task that does not fit: it blocks all others, "
             "is passed over, blocks and stays first even if a better one "
             "comes, or is dropped", .choices = host_blocking_names),
    CONF_KEY("placement", CONF_CHOICE, keys, placement, "pack",
             "which of the free GPUs a job is given; see `clustersim list "
             "placements`", .choices = place_names),
    CONF_KEY("backfill", CONF_BOOL, keys, backfill, "false",
             "blocking: commit: while the chosen task waits, jobs start that "
             "should end before it could start"),
    CONF_KEY("relax_after", CONF_TIME, keys, relax_ns, "0s",
             "placement: consolidate: how long a gang waits for nodes of its "
             "own; 0s: for ever", .max = 1e9),
    CONF_KEY("ties", CONF_CHOICE, keys, ties, "lowest",
             "placements by score: of nodes with the same score the "
             "lowest, or the first in an order that each seed draws once",
             .choices = ties_names),
    CONF_KEY("estimate", CONF_CHOICE, keys, estimate, "exact",
             "which estimate of a job's run time the policy gets",
             .choices = host_estimate_names),
    CONF_KEY("noise", CONF_REAL, keys, noise, "0.5",
             "coefficient of variation of a noisy estimate's lognormal factor",
             .max = 10),
    CONF_KEY("preemption", CONF_NODE, keys, preemption, CONF_ABSENT,
             "{cost: 7s}, or by GPUs {cost: {1gpu: 7s, 8gpu: 30s, more: 60s}}"),
    CONF_KEY("rounds", CONF_NODE, keys, rounds, CONF_ABSENT,
             "when decisions are made: {length: 360s}, and maybe "
             "resolve_at_most_every and end_early"),
    CONF_KEY("tick", CONF_TIME, keys, tick_ns, "0s",
             "decisions only at its multiples, and a job of known length takes "
             "one more: a simulator that counts ticks sees an end at the next "
             "one", .max = 3600),
    CONF_KEY("semantics", CONF_TEXT, keys, semantics, CONF_ABSENT,
             "set these keys as a published simulator behaves; see `clustersim "
             "list semantics`"),
    CONF_KEY("grow", CONF_BOOL, keys, grow, "true",
             "may a role start on more GPUs than it asks for, up to its `max`"),
    CONF_KEY("hardware", CONF_CHOICE, keys, hardware, "any",
             "what a role uses that may run on GPUs or on cores (`cpu` of the "
             "role): either, as the policy finds room or forecasts, or one of "
             "them alone", .choices = host_hardware_names),
    CONF_KEY("weights", CONF_NODE, keys, weights, CONF_ABSENT,
             "of a learned policy: a file, or a map of numbers"),
    CONF_KEY("with", CONF_NODE, keys, with, CONF_ABSENT,
             "map from a dotted key (workload. cluster.) to a value that holds "
             "for this policy alone: layout, sizes of roles, nodes; the jobs "
             "stay the same"),
    CONF_KEY("then", CONF_NODE, keys, then, CONF_ABSENT,
             "{at: 14h, KEY: VALUE}: from that time on the policy has these keys, or it is "
             "another policy; `clustersim fork` writes such entries"),
};
#define RULES_COUNT (sizeof rules_field / sizeof rules_field[0])

const struct conf_schema host_rules_schema =
    CONF_SCHEMA("experiment.policies[]",
                "a policy and the semantics it runs under", rules_field);

/* The map `rounds:`. */
struct rounds {
    int64_t length_ns, resolve_ns;
    bool end_early;             /* a round ends with the last job that runs */
};

static const struct conf_field rounds_field[] = {
    CONF_KEY("length", CONF_TIME, rounds, length_ns, CONF_REQUIRED,
             "decisions only at its multiples", .max = 1e9),
    CONF_KEY("resolve_at_most_every", CONF_TIME, rounds, resolve_ns, "0s",
             "the least time between two solutions of the allocation: gavel "
             "fills the rounds between them by the shares of the last one; "
             "other policies decide nothing there", .max = 1e9),
    CONF_KEY("end_early", CONF_BOOL, rounds, end_early, "false",
             "a round ends when all running jobs have ended"),
};

static const struct conf_field preemption_field[] = {
    { .key = "cost", .type = CONF_NODE,
      .help = "lost at the restart of a job that was stopped: a time, or by its "
              "GPUs {1gpu: 7s, 8gpu: 30s, more: 60s}, which must end with more" },
};

const struct conf_schema host_rounds_schema =
    CONF_SCHEMA("experiment.policies[].rounds", "when decisions are made",
                rounds_field);
const struct conf_schema host_preemption_schema =
    CONF_SCHEMA("experiment.policies[].preemption",
                "what stopping a job costs it", preemption_field);

/* Returns how a parameter is written in YAML. */
static enum conf_type conf_type_of(enum cs_param_type type)
{
    switch (type) {
    case CS_PARAM_INT: return CONF_INT;
    case CS_PARAM_REAL: return CONF_REAL;
    case CS_PARAM_FRACTION: return CONF_FRACTION;
    case CS_PARAM_TIME: return CONF_TIME;
    case CS_PARAM_BOOL: return CONF_BOOL;
    case CS_PARAM_TEXT: return CONF_TEXT;
    case CS_PARAM_CHOICE: return CONF_CHOICE;
    }
    assert(!"every parameter type has a type in YAML");
    return CONF_TEXT;
}

/* Returns a table of the host's keys and then the policy's parameters.  Its
 * offsets are within one buffer: struct keys, and behind it the policy's
 * `self`.  So one conf_fill() reads both. */
struct conf_schema host_policy_keys(struct arena *arena,
                                    const struct cs_policy *policy)
{
    size_t count = RULES_COUNT + policy->param_count;
    struct conf_field *field = arena_alloc(arena, count, sizeof *field);

    memcpy(field, rules_field, sizeof rules_field);
    for (uint32_t i = 0; i < policy->param_count; i++) {
        const struct cs_param *param = &policy->param[i];
        field[RULES_COUNT + i] = (struct conf_field) {
            .key = param->key, .type = conf_type_of(param->type),
            .offset = sizeof(struct keys) + param->offset,
            .min = param->min, .max = param->max,
            .fallback = param->fallback, .help = param->help,
            .choices = param->type == CS_PARAM_CHOICE
                ? host_words(arena, policy, param->key) : NULL,
        };
    }
    return (struct conf_schema) { host_rules_schema.name, policy->summary,
                                  field, count };
}

/* Reads a time of at most 1e9 s, of a key that has no schema of its own. */
static bool read_time(const struct conf_node *node, const char *key,
                      int64_t *ns, struct err *err)
{
    struct conf_field field = { .key = key, .type = CONF_TIME, .max = 1e9 };

    return conf_read(node, &field, ns, err);
}

/* Reads a step of a cost: 8 from "8gpu", UINT32_MAX from "more".  False: it is
 * neither. */
static bool parse_cost_key(const char *key, uint32_t *gpus)
{
    char *end;
    if (strcmp(key, "more") == 0) {
        *gpus = UINT32_MAX;
        return true;
    }
    if (key[0] < '0' || key[0] > '9')   /* strtoul() takes signs and blanks */
        return false;
    unsigned long n = strtoul(key, &end, 10);
    *gpus = (uint32_t)n;
    return n > 0 && n < UINT32_MAX && strcmp(end, "gpu") == 0;
}

/* Reads the steps of `cost: {1gpu: 7s, 8gpu: 30s, more: 60s}`.  The numbers
 * must rise, and the last step must be `more`, so that every job has a cost. */
static bool read_cost_map(const struct conf_node *map,
                          struct host_rules *rules, struct err *err)
{
    if (conf_count(map) > HOST_COST_STEPS_MAX)
        return err_set(err, ERR_RANGE, conf_pos(map),
                       "key cost has %zu steps, at most %u are allowed",
                       conf_count(map), HOST_COST_STEPS_MAX);
    for (size_t i = 0; i < conf_count(map); i++) {
        struct host_cost_step *step = &rules->cost[i];
        const char *key = conf_key(map, i);
        if (!parse_cost_key(key, &step->gpus_max) ||
            (i > 0 && step->gpus_max <= rules->cost[i - 1].gpus_max)) {
            err_set(err, ERR_SCHEMA, conf_key_pos(map, i),
                    "key cost: found %s, expected rising steps such as 1gpu, "
                    "8gpu, more", key);
            return false;
        }
        if (!read_time(conf_value(map, i), key, &step->cost_ns, err))
            return false;
        rules->cost_count = (uint32_t)i + 1;
    }
    if (rules->cost_count == 0)
        return err_set(err, ERR_SCHEMA, conf_pos(map),
                       "key cost has no step, it needs one or more such as "
                       "8gpu, more");
    if (rules->cost[rules->cost_count - 1].gpus_max == UINT32_MAX)
        return true;
    err_set(err, ERR_SCHEMA, conf_pos(map),
            "key cost says nothing of jobs of more than %u GPUs",
            rules->cost[rules->cost_count - 1].gpus_max);
    return err_hint(err, "End it with what they pay, as in `more: 60s`.");
}

/* Reads `preemption:`.  One cost for all jobs becomes the one step `more`. */
static bool read_preemption(const struct conf_node *map,
                            struct host_rules *rules, struct err *err)
{
    const struct conf_node *cost;

    if (!conf_fill(map, &host_preemption_schema, &cost, err))
        return false;
    if (conf_kind(cost) == CONF_MAP)
        return read_cost_map(cost, rules, err);
    rules->cost[0].gpus_max = UINT32_MAX;
    rules->cost_count = 1;
    return read_time(cost, "cost", &rules->cost[0].cost_ns, err);
}

/* Reads `rounds:` into the rules; times are ns. */
static bool read_rounds(const struct conf_node *map, struct host_rules *rules,
                        struct err *err)
{
    struct rounds rounds = { 0 };

    if (!conf_fill(map, &host_rounds_schema, &rounds, err))
        return false;
    rules->round_ns = rounds.length_ns;
    rules->resolve_ns = rounds.resolve_ns;
    rules->round_ends_early = rounds.end_early;
    return true;
}

/* Turns keys as they were written into rules.  A tick is also a length of
 * rounds, so a policy has one of the two. */
static bool read_rules(const struct keys *keys, struct host_rules *rules,
                       struct err *err)
{
    rules->blocking = (enum host_blocking)keys->blocking;
    rules->placement = (enum place_rule)keys->placement;
    rules->ties_shuffled = keys->ties == 1;
    rules->relax_ns = keys->relax_ns;
    rules->backfill = keys->backfill;
    rules->no_growth = !keys->grow;
    rules->hardware = (enum host_hardware)keys->hardware;
    rules->estimate = (enum host_estimate)keys->estimate;
    rules->noise_cv = keys->noise;
    rules->tick_ns = keys->tick_ns;
    if (keys->preemption && !read_preemption(keys->preemption, rules, err))
        return false;
    if (keys->rounds && keys->tick_ns > 0)
        return err_set(err, ERR_SCHEMA, conf_pos(keys->rounds),
                       "keys rounds and tick exclude each other");
    rules->round_ns = keys->tick_ns;
    return !keys->rounds || read_rounds(keys->rounds, rules, err);
}

/* Finds the policy that an entry names, a guest's table before a built-in one;
 * NULL: err says why, with the nearest name as a hint. */
static const struct cs_policy *find_policy(const struct conf_node *conf,
                                           const struct registry_guests *guests,
                                           bool *is_guest, struct err *err)
{
    const struct conf_node *key = conf;

    if (conf_kind(conf) == CONF_MAP)
        key = conf_get(conf, "policy");
    if (!key || conf_kind(key) != CONF_SCALAR) {
        err_set(err, ERR_SCHEMA, conf_pos(conf),
                "expected a policy's name or a map with the key policy");
        return NULL;
    }
    const struct registry_guest *guest = registry_guest(guests, conf_text(key));
    const struct cs_policy *policy =
        guest != NULL ? guest->policy : registry_find(conf_text(key));
    *is_guest = guest != NULL;
    if (policy)
        return policy;
    err_set(err, ERR_REFERENCE, conf_pos(key),
            "there is no policy named %s", conf_text(key));
    const char *near = registry_meant(conf_text(key));
    if (near == NULL)
        near = registry_nearest(conf_text(key));
    if (near && near[0] == '{')
        err_hint(err, "Here it is %s.", near);
    else if (near)
        err_hint(err, "Did you mean %s?", near);
    else
        err_hint(err, "See `clustersim list policies`.");
    return NULL;
}

/* A guest's keys are known only once its table was checked: they are not looked at here. */
bool rules_known(struct arena *arena, const struct conf_node *entry,
                 const struct registry_guests *guests, struct err *err)
{
    bool is_guest;
    const struct cs_policy *policy = find_policy(entry, guests, &is_guest, err);

    if (policy == NULL || is_guest || conf_kind(entry) != CONF_MAP)
        return policy != NULL;
    struct conf_schema schema = host_policy_keys(arena, policy);
    return conf_known(entry, &schema, err);
}

/* Returns the entry with the key `estimate`, if it lacks it: what the
 * experiment says for all policies.  NULL: err says why. */
static const struct conf_node *add_estimate(struct arena *arena,
                                            const struct conf_node *conf,
                                            const char *estimate,
                                            struct err *err)
{
    const struct conf_node *value;

    if (conf_get(conf, "estimate") != NULL)
        return conf;
    value = conf_parse(arena, conf_pos(conf).file, estimate, strlen(estimate),
                       err);
    return value ? conf_set(arena, conf, "estimate", value, conf_pos(conf),
                            err) : NULL;
}

/* Checks the parameters of a guest: no key of the host has their names, and
 * each default is a value of its type.  For built-in policies tests do so. */
static bool check_params(const struct cs_policy *policy, const struct conf_schema *schema,
                         struct arena *arena, struct err *err)
{
    struct err_pos nowhere = { 0 };
    char *self = arena_alloc(arena, 1, policy->self_bytes + 1);

    for (size_t i = RULES_COUNT; i < schema->count; i++) {
        const struct conf_field *field = &schema->fields[i];
        struct err why = { 0 };

        for (size_t k = 0; k < RULES_COUNT; k++)
            if (strcmp(rules_field[k].key, field->key) == 0)
                return err_set(err, ERR_POLICY, nowhere, "policy %s: param %.60s has the "
                               "name of a key that all policies have", policy->name,
                               field->key);
        if (field->fallback == NULL || strcmp(field->fallback, CONF_ABSENT) == 0)
            continue;
        if (!conf_read_fallback(field, nowhere, self + (field->offset - sizeof(struct keys)),
                                &why))
            return err_set(err, ERR_POLICY, nowhere, "policy %s: default of param %.60s: "
                           "%.120s", policy->name, field->key, why.text);
    }
    return true;
}

bool host_guest_check(struct arena *arena, const struct cs_policy *policy, struct err *err)
{
    struct conf_schema schema = host_policy_keys(arena, policy);

    return check_params(policy, &schema, arena, err);
}

/* The order matters.  The table is checked before anything is read by it.  A
 * scalar becomes a map.  The preset and the experiment's estimate add defaults;
 * then the keys are read, and those that the user wrote must act. */
struct host_policy *rules_read_entry(struct arena *arena, const struct conf_node *conf,
                                     const struct conf_node *written, const char *estimate,
                                     const struct registry_guests *guests, struct err *err)
{
    bool guest = false;
    const struct cs_policy *policy = find_policy(conf, guests, &guest, err);

    if (!policy || !table_check(policy, err))
        return NULL;
    if (guest && !host_guest_check(arena, policy, err)) {
        err->pos = conf_pos(conf);
        return NULL;
    }
    struct conf_schema schema = host_policy_keys(arena, policy);
    struct host_policy *out = arena_alloc(arena, 1, sizeof *out);
    char *filled = arena_alloc(
        arena, 1, sizeof(struct keys) + policy->self_bytes + 16);
    if (conf_kind(conf) != CONF_MAP)
        conf = conf_map_of(arena, "policy", conf_scalar_at(arena, conf, policy->name));
    if (written == NULL)
        written = conf;
    conf = semantics_apply(arena, conf, policy->name, err);
    conf = conf ? add_estimate(arena, conf, estimate, err) : NULL;
    struct heeds heeds = { policy, &schema, conf };
    if (!conf || !conf_fill(conf, &schema, filled, err) ||
        !heeds_check(&heeds, written, err))
        return NULL;
    const struct keys *keys = (const struct keys *)(void *)filled;
    out->policy = policy;
    out->guest = guest;
    out->name = keys->name ? keys->name : policy->name;
    out->params = filled + sizeof(struct keys);
    if (!read_rules(keys, &out->rules, err) ||
        (keys->weights && !weights_read(arena, keys->weights, out, err)))
        return NULL;
    out->semantics = rules_semantics(arena, &heeds, &out->rules);
    out->limits = rules_limits(arena, &heeds);
    return out;
}

/* Three rules of the host draw: a random placement, ties that are shuffled, and
 * noisy estimates. */
bool host_policy_draws(const struct host_policy *policy)
{
    const struct host_rules *rules = &policy->rules;

    return (host_policy_flags(policy) & CS_DRAWS) != 0 ||
           rules->placement == PLACE_RANDOM || rules->ties_shuffled ||
           rules->estimate == HOST_NOISY;
}

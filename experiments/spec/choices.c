/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * choices.c - options become policies of their own; how one of them is chosen.
 *
 * Works on the tree before anything else is read, as controls do.  The keys of `set`
 * that are the cluster's or the workload's become `with:` of the new entry, those of
 * its policy are set in the entry.
 *
 * An example.  policies: [dynamic] with options: [today, {name: keep, set:
 * {policies.dynamic.lend: false}}] becomes policies: [{policy: dynamic, name: today},
 * {policy: dynamic, name: keep, lend: false}].
 */
#include "experiments/spec/choices.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/spec/experiment.h"
#include "experiments/spec/expects.h"
#include "experiments/spec/keys.h"
#include "policies/registry/rules.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

/* The keys of one option.  policy: NULL if it names none. */
struct option_keys {
    const char *name, *policy;
    const struct conf_node *set;    /* a map of the policy's keys; NULL: none */
};

static const struct conf_field option_field[] = {
    CONF_KEY("name", CONF_TEXT, option_keys, name, CONF_REQUIRED,
             "what results call the option, in the column policy"),
    CONF_KEY("policy", CONF_TEXT, option_keys, policy, CONF_ABSENT,
             "entry of `policies` that it runs; that of the first option if not given. The "
             "first option needs it if `policies` has more than one entry"),
    CONF_KEY("set", CONF_NODE, option_keys, set, CONF_ABSENT,
             "map from a dotted key (workload. cluster. policies.NAME.) to its value in "
             "this option; the jobs stay the same"),
};
const struct conf_schema experiment_option_schema =
    CONF_SCHEMA("experiment.options[]", "what may be done", option_field);

/* The keys of `decide:`. */
struct decide_keys {
    const char *metric;         /* name of the metric by which options are compared */
    const struct conf_node *keep;   /* a list of conditions; NULL: none */
    double quantile;            /* 0 to 1 */
};

static const struct conf_field decide_field[] = {
    CONF_KEY("metric", CONF_TEXT, decide_keys, metric, "cost_usd",
             "a column of summary.csv: of the options that keep the conditions, the one "
             "with the best mean is taken"),
    CONF_KEY("keep", CONF_NODE, decide_keys, keep, CONF_ABSENT,
             "list of conditions that an option must keep"),
    CONF_KEY("quantile", CONF_FRACTION, decide_keys, quantile, "95%",
             "share of the seeds; the table has the value that this share reaches or betters",
             .min = 0.5, .max = 0.9999),
};
const struct conf_schema experiment_decide_schema =
    CONF_SCHEMA("experiment.decide", "how one of the options is chosen", decide_field);

/* ---- options as policies ------------------------------------------------ */

/* The experiment that is made of the options, one after the other. */
struct opening {
    struct arena *arena;        /* of the experiment */
    const struct conf_node *policies;   /* the file's list */
    bool *used;                         /* by entry of it */
    const struct conf_node *list;       /* the new entries, */
    const struct conf_node *options;    /* and the options with their policies */
    const char **name, **said;          /* of each: its name, and its keys as one line */
    const char *policy;                 /* of the first option */
};

/* Reads one option: a name, or a map. */
static bool read_option(const struct conf_node *item, struct option_keys *keys,
                        struct err *err)
{
    *keys = (struct option_keys){ NULL, NULL, NULL };
    if (conf_kind(item) == CONF_SCALAR)
        keys->name = conf_text(item);
    else if (!conf_fill(item, &experiment_option_schema, keys, err))
        return false;
    if (keys->name[0] == '\0' || strpbrk(keys->name, ",\"\n\t /") != NULL)
        return err_set(err, ERR_SCHEMA, conf_pos(item), "an option must be a name or a map "
                       "with the key name; names hold no blanks, commas or slashes");
    if (keys->set != NULL && (conf_kind(keys->set) != CONF_MAP ||
                              conf_count(keys->set) == 0))
        return err_set(err, ERR_SCHEMA, conf_pos(keys->set),
                       "set must be a map from a key to a value");
    return true;
}

/* Sets the policy of an option that names none: that of the first option, or
 * the only policy of the file.  False, with err: there are several, and their
 * order must not decide. */
static bool complete_policy(const struct opening *o, const struct conf_node *item,
                            struct option_keys *keys, struct err *err)
{
    size_t count = conf_count(o->policies);
    const char *example;

    if (keys->policy == NULL)
        keys->policy = o->policy;
    if (keys->policy != NULL || count < 2)
        return true;
    example = experiment_entry_name(conf_item(o->policies, 0));
    err_set(err, ERR_SCHEMA, conf_pos(item), "the first option, '%.60s', must name its "
            "policy, since `policies` has %zu entries", keys->name, count);
    return err_hint(err, "Write {name: %.60s, policy: %.60s}, for example. Options without "
                    "`policy` run that of the first.", keys->name,
                    example == NULL ? "NAME" : example);
}

/* Returns the entry of `policies:` that the option runs; NULL: err says why. */
static const struct conf_node *find_entry(struct opening *o, const struct conf_node *item,
                                          struct option_keys *keys, struct err *err)
{
    size_t count = conf_count(o->policies);
    const char **all = arena_alloc(o->arena, count + 1, sizeof *all), *near;
    size_t known = 0;

    if (!complete_policy(o, item, keys, err))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const char *name = experiment_entry_name(conf_item(o->policies, i));

        if (name == NULL)
            continue;
        all[known++] = name;
        if (keys->policy != NULL && strcmp(name, keys->policy) != 0)
            continue;
        keys->policy = name;
        o->used[i] = true;
        return conf_item(o->policies, i);
    }
    if (keys->policy == NULL) {
        err_set(err, ERR_SCHEMA, conf_pos(o->policies),
                "policies must be a list of at least one policy");
        return NULL;
    }
    near = conf_nearest(keys->policy, all);
    err_set(err, ERR_REFERENCE, conf_pos(conf_get(item, "policy")), "option '%.60s' runs the "
            "policy '%.60s', which is not among the policies of the experiment", keys->name,
            keys->policy);
    if (near != NULL)
        err_hint(err, "Did you mean %s?", near);
    else
        err_hint(err, "Add it to `policies`.");
    return NULL;
}

/* Returns the entry as a map that names its policy. */
static const struct conf_node *open_entry(struct arena *arena, const struct conf_node *entry)
{
    if (conf_kind(entry) == CONF_MAP)
        return entry;
    return conf_map_of(arena, "policy", entry);
}

/* Is the key `root`, or a dotted key below it? */
static bool begins(const char *key, const char *root)
{
    size_t bytes = strlen(root);

    return strncmp(key, root, bytes) == 0 && (key[bytes] == '\0' || key[bytes] == '.');
}

/* Sets `policies.NAME.key` of the option's own policy in its entry. */
static const struct conf_node *set_own(struct arena *arena, const struct conf_node *entry,
                                       const struct option_keys *keys, size_t i,
                                       struct err *err)
{
    const char *key = conf_key(keys->set, i), *step = key + strlen("policies.");
    const struct err_pos pos = conf_key_pos(keys->set, i);
    const char *said = conf_flow(arena, entry);
    size_t bytes = strlen(keys->policy);

    if (strncmp(step, keys->policy, bytes) != 0 || step[bytes] != '.') {
        err_set(err, ERR_SCHEMA, pos, "'%.80s' of set changes nothing: option '%.60s' runs "
                "the policy %.60s", key, keys->name, keys->policy);
        err_hint(err, "Write policies.%.60s.KEY, or name another `policy`.", keys->policy);
        return NULL;
    }
    step += bytes + 1;
    if (strcmp(step, "name") == 0 || strcmp(step, "policy") == 0 || begins(step, "with")) {
        err_set(err, ERR_SCHEMA, pos, "'%.80s' of set names the policy or its `with`, which "
                "are said by `policy` and by keys of set", key);
        return NULL;
    }
    entry = conf_set(arena, entry, step, conf_value(keys->set, i), pos, err);
    if (entry != NULL && strcmp(conf_flow(arena, entry), said) == 0) {
        err_set(err, ERR_SCHEMA, pos, "'%.80s' of set " EXPERIMENT_IDLE_WITH, key);
        err_hint(err, "Leave it out.");
        return NULL;
    }
    return entry;
}

/* Returns the entry with the keys of `set`; NULL: err says why. */
static const struct conf_node *set_keys(struct arena *arena, const struct conf_node *entry,
                                        const struct option_keys *keys, struct err *err)
{
    const struct conf_node *with = NULL;

    for (size_t i = 0; keys->set != NULL && i < conf_count(keys->set); i++) {
        const char *key = conf_key(keys->set, i);

        if (begins(key, "policies") && strchr(key, '.') != NULL) {
            entry = set_own(arena, entry, keys, i, err);
            if (entry == NULL)
                return NULL;
        } else if (begins(key, "workload") || begins(key, "cluster")) {
            with = conf_take(arena, with, keys->set, i);
        } else {
            err_set(err, ERR_SCHEMA, conf_key_pos(keys->set, i), "a key of set must begin "
                    "with workload. cluster. or policies.%.60s., and is '%.80s'",
                    keys->policy, key);
            return NULL;
        }
    }
    if (with == NULL)
        return entry;
    if (conf_get(entry, "with") == NULL)
        return conf_set(arena, entry, "with", with, conf_pos(keys->set), err);
    err_set(err, ERR_SCHEMA, conf_pos(keys->set), "option '%.60s' sets keys of the cluster or "
            "the workload, and so does `with` of its policy %.60s", keys->name, keys->policy);
    err_hint(err, "Say all of them in one of the two places.");
    return NULL;
}

/* False, with err: an earlier option has that name, or does the same. */
static bool check_new(const struct opening *o, size_t i, const struct conf_node *item,
                      struct err *err)
{
    for (size_t k = 0; k < i; k++) {
        if (strcmp(o->name[k], o->name[i]) == 0) {
            err_set(err, ERR_SCHEMA, conf_pos(item), "two options are called '%.60s'",
                    o->name[i]);
            return err_hint(err, "Give one of them another name.");
        }
        if (strcmp(o->said[k], o->said[i]) == 0) {
            err_set(err, ERR_SCHEMA, conf_pos(item), "option '%.60s' changes nothing: it is "
                    "the same as '%.60s'", o->name[i], o->name[k]);
            return err_hint(err, "Give it another `policy` or keys in `set`.");
        }
    }
    return true;
}

/* Notes the option with its policy, said or not, for choices_read(). */
static bool note_option(struct opening *o, const struct conf_node *item,
                        const struct option_keys *keys, struct err *err)
{
    const char *text = "{name: x}";

    if (conf_kind(item) == CONF_SCALAR) {
        const struct conf_node *map =
            conf_parse(o->arena, conf_pos(item).file, text, strlen(text), err);

        item = map == NULL ? NULL
                           : conf_set(o->arena, map, "name", item, conf_pos(item), err);
    }
    if (item != NULL)
        item = conf_set(o->arena, item, "policy",
                        conf_scalar_at(o->arena, item, keys->policy), conf_pos(item), err);
    if (item == NULL)
        return false;
    o->options = conf_append(o->arena, o->options, item);
    return true;
}

/* Adds option `i` to the new entries.  It is compared with earlier options
 * before it gets its own name, so that two options that do the same are found. */
static bool open_option(struct opening *o, size_t i, const struct conf_node *item,
                        struct err *err)
{
    struct option_keys keys;
    const struct conf_node *entry;

    if (!read_option(item, &keys, err))
        return false;
    entry = find_entry(o, item, &keys, err);
    if (entry != NULL)
        entry = open_entry(o->arena, entry);
    if (entry != NULL)
        entry = conf_set_text(o->arena, entry, "name", "x", err);
    if (entry != NULL)
        entry = set_keys(o->arena, entry, &keys, err);
    if (entry == NULL)
        return false;
    if (i == 0)
        o->policy = keys.policy;
    o->name[i] = keys.name;
    o->said[i] = conf_flow(o->arena, entry);
    if (!check_new(o, i, item, err))
        return false;
    entry = conf_set(o->arena, entry, "name", conf_scalar_at(o->arena, item, keys.name),
                     conf_pos(item), err);
    if (entry == NULL)
        return false;
    o->list = conf_append(o->arena, o->list, entry);
    return note_option(o, item, &keys, err);
}

/* False, with err: a policy that no option runs would be left out without a word. */
static bool check_used(const struct opening *o, struct err *err)
{
    for (size_t i = 0; i < conf_count(o->policies); i++) {
        const char *name = experiment_entry_name(conf_item(o->policies, i));

        if (o->used[i] || name == NULL)
            continue;
        err_set(err, ERR_SCHEMA, conf_pos(conf_item(o->policies, i)),
                "no option runs the policy '%.60s', so it would not be run", name);
        return err_hint(err, "Add {name: %.60s, policy: %.60s} to `options`, or leave it "
                        "out of `policies`.", name, name);
    }
    return true;
}

/* False, with err: an entry of `policies:` names no policy, or has a key that is not known.
 * An option that means it would be told to run none of them. */
static bool check_entries(struct arena *arena, const struct conf_node *policies,
                          const struct registry_guests *guests, struct err *err)
{
    for (size_t i = 0; i < conf_count(policies); i++)
        if (!experiment_entry_key(conf_item(policies, i), err) ||
            (experiment_entry_name(conf_item(policies, i)) != NULL &&
             !rules_known(arena, conf_item(policies, i), guests, err)))
            return false;
    return true;
}

/* False, with err, if a key stands beside `options` that would speak of other
 * policies, or a key without them that needs them. */
static bool check_beside(const struct conf_node *root, bool options, struct err *err)
{
    return conf_acts(root, "decide", !options && !conf_is_hurt(root), "needs `options`", err) &&
           conf_acts(root, "baseline", options, "needs an experiment without `options`, of "
                     "which the first is what the others are compared with", err) &&
           conf_acts(root, "tuned", options, "needs an experiment without `options`, which "
                     "are run as they are written", err);
}

/* False, with err: an option has a key that is not known, or another fault of its own.
 * Without `policies`, what they lack is told of the options first: a typo may be why. */
static bool check_options(const struct conf_node *options, struct err *err)
{
    struct option_keys keys;

    if (conf_kind(options) != CONF_LIST)
        return true;
    for (size_t i = 0; i < conf_count(options); i++)
        if (!read_option(conf_item(options, i), &keys, err))
            return false;
    return true;
}

const struct conf_node *choices_open(struct arena *arena, const struct conf_node *root,
                                     const struct registry_guests *guests, struct err *err)
{
    const struct conf_node *options, *policies;
    struct opening o = { .arena = arena };
    size_t count;

    if (conf_kind(root) != CONF_MAP)
        return root;
    options = conf_get(root, "options");
    policies = conf_get(root, "policies");
    if (!check_beside(root, options != NULL, err))
        return NULL;
    if (options != NULL && policies == NULL && !check_options(options, err))
        return NULL;
    /* A list of policies that is wrong is reported later, where its place is known. */
    if (options == NULL || policies == NULL || conf_kind(policies) != CONF_LIST)
        return root;
    if (conf_kind(options) != CONF_LIST || conf_count(options) < 2) {
        err_set(err, ERR_SCHEMA, conf_pos(options),
                "options must be a list of at least two options");
        err_hint(err, "The first is what the others are compared with: [today, {name: lend, "
                 "policy: dynamic}]");
        return NULL;
    }
    if (!check_entries(arena, policies, guests, err))
        return NULL;
    count = conf_count(options);
    o.policies = policies;
    o.used = arena_alloc(arena, conf_count(policies) + 1, sizeof *o.used);
    o.name = arena_alloc(arena, count, sizeof *o.name);
    o.said = arena_alloc(arena, count, sizeof *o.said);
    /* Both lists begin empty, and get one entry for each option. */
    o.list = o.options = conf_parse(arena, conf_pos(options).file, "[]", 2, err);
    for (size_t i = 0; i < count; i++)
        if (o.list == NULL || !open_option(&o, i, conf_item(options, i), err))
            return NULL;
    if (!check_used(&o, err))
        return NULL;
    root = conf_set(arena, root, "policies", o.list, conf_pos(policies), err);
    return root == NULL ? NULL : conf_set(arena, root, "options", o.options,
                                          conf_pos(options), err);
}

/* ---- how one is chosen -------------------------------------------------- */

/* Reads the names and keys of the options once more, which choices_open() has
 * checked. */
static void read_choices(struct arena *arena, const struct conf_node *options,
                         struct experiment_decide *decide)
{
    size_t count = conf_count(options);
    struct experiment_choice *choice = arena_alloc(arena, count, sizeof *choice);

    for (size_t i = 0; i < count; i++) {
        struct option_keys keys;
        struct err ignored = { 0 };

        (void)read_option(conf_item(options, i), &keys, &ignored);
        choice[i] = (struct experiment_choice){
            .name = keys.name, .policy = keys.policy,
            .set = keys.set == NULL ? "" : conf_flow(arena, keys.set)
        };
    }
    decide->choice = choice;
    decide->choice_count = (uint32_t)count;
}

/* Reads the conditions of `keep:`; without it there are none. */
static bool read_keeps(struct arena *arena, const struct conf_node *list,
                       const struct experiment *experiment,
                       struct experiment_decide *decide, struct err *err)
{
    size_t count = list == NULL ? 0 : conf_kind(list) == CONF_LIST ? conf_count(list) : 0;
    struct experiment_keep *keep = arena_alloc(arena, count + 1, sizeof *keep);

    if (list != NULL && count == 0) {
        err_set(err, ERR_SCHEMA, conf_pos(list),
                "keep must be a list of at least one condition");
        return err_hint(err, "Write keep: [{metric: slo_attained_fraction, at_least: 99%%}]");
    }
    for (size_t i = 0; i < count; i++)
        if (!experiment_keep_read(experiment, conf_item(list, i), &keep[i], err))
            return false;
    decide->keep = keep;
    decide->keep_count = (uint32_t)count;
    return true;
}

bool choices_read(struct arena *arena, const struct conf_node *options,
                  const struct conf_node *decide, struct experiment *experiment,
                  struct err *err)
{
    struct decide_keys keys = { .metric = "cost_usd", .quantile = 0.95 };
    struct experiment_decide *out = &experiment->decide;
    const struct metric_set *metrics = experiment_metrics(experiment);

    if (options == NULL)
        return true;
    read_choices(arena, options, out);
    out->metric = METRIC_COST;
    if (decide != NULL &&
        (!conf_fill(decide, &experiment_decide_schema, &keys, err) ||
         (conf_get(decide, "metric") != NULL &&
          !experiment_metric(experiment, conf_get(decide, "metric"), &out->metric, err))))
        return false;
    out->quantile = keys.quantile;
    if (metric_info(metrics, out->metric)->better == 0) {
        err_set(err, ERR_RANGE, conf_pos(conf_get(decide, "metric")), "%s cannot decide: "
                "neither more nor less of it is better", keys.metric);
        return err_hint(err, "`clustersim list metrics` shows which way is better.");
    }
    return read_keeps(arena, keys.keep, experiment, out, err);
}

const char *choices_word(const struct experiment *experiment, const char *policy)
{
    const struct experiment_decide *decide = &experiment->decide;

    for (uint32_t i = 0; i < decide->choice_count; i++)
        if (strcmp(decide->choice[i].name, policy) == 0 && decide->choice[i].set[0] != '\0')
            return "set";
    return "with";
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read.c - an experiment file: the order in which it is read, and its top.  names.c has the
 * names of its policies, and read_points.c its points.
 *
 * Order: load the file and the files it names into one tree; load policies from
 * files; apply --set; add controls; then read the top, the catalogue, names of
 * policies, and each point of the sweep, which is the whole tree with some
 * values replaced.
 *
 * Errors: conf_mend_read() reads again with a stock part in place of the one
 * that is wrong, so that several errors are found in one go. read_root() is
 * therefore called several times and starts from `empty` each time; what --set
 * and controls did to the tree is kept (r->set).
 */
#include "experiments/columns/metric.h"
#include "experiments/spec/experiment.h"
#include "experiments/spec/expects.h"

#include <assert.h>
#include <string.h>

#include "experiments/own/own_metrics.h"
#include "experiments/process/self.h"
#include "experiments/spec/branches.h"
#include "experiments/spec/choices.h"
#include "experiments/spec/controls.h"
#include "experiments/spec/guests.h"
#include "experiments/spec/keys.h"
#include "experiments/spec/reader.h"
#include "experiments/spec/sweep.h"
#include "experiments/spec/tree.h"
#include "models/catalogue/catalogue.h"
#include "policies/host/host.h"
#include "policies/registry/registry.h"
#include "policies/registry/rules.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/config/mend.h"
#include "sim/text/hash.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"
#include "workloads/source.h"

/* Reads the catalogue.  The files that it names are part of each trial's hash. */
static bool read_catalogue(struct reader *r, struct err *err)
{
    const struct conf_node *node = r->top.catalogue;

    r->experiment->catalogue = tree_catalogue(r->arena, node, err);
    if (r->experiment->catalogue == NULL)
        return false;
    r->experiment->catalogue_hash = node == NULL ? 0 : tree_hash(&r->inputs, node);
    return true;
}

/* Returns the seeds that the file asks for, before --set changes them; what is
 * wrong with them is told later. */
static int64_t read_file_seeds(const struct conf_node *root)
{
    const struct conf_node *node =
        conf_kind(root) == CONF_MAP ? conf_get(root, "seeds") : NULL;
    if (node != NULL && conf_kind(node) == CONF_MAP)
        node = conf_get(node, "at_most");
    const char *text = node != NULL && conf_kind(node) == CONF_SCALAR
                           ? conf_text(node) : "1";
    int64_t seeds;

    return scan_i64(text, strlen(text), &seeds) ? seeds : 1;
}

/* An interpreter that is told of forks must run apart: it cannot run in several
 * threads of this process. */
static bool read_guests(struct reader *r, struct err *err)
{
    struct trial_guest *guest = &r->experiment->process.guest;

    if (!guests_read(r->top.plugins, &r->guests, guest, err) ||
        !guests_read_limits(r->top.trial_limits, &r->experiment->process, err))
        return false;
    guest->fork = r->options->fork;
    return guest->fork == NULL || guest->apart || r->options->guest_count == 0 ||
           err_set(err, ERR_SCHEMA, conf_pos(conf_get(r->top.plugins, "isolate")),
                   "isolate must be true, since policies of an interpreter are among "
                   "the experiment's");
}

/* Reads when there are enough seeds.  A point by itself, and a fork, have no
 * expectations: there `seeds: {until: decided}` has nothing to decide, and the
 * number that was asked for counts. */
static bool read_stop(struct reader *r, struct err *err)
{
    struct experiment *experiment = r->experiment;
    bool part = r->options->point != NULL || r->options->branches != NULL;

    if (part && experiment->stop.rule == LOOKS_DECIDED && experiment->expect_count == 0)
        experiment->stop = (struct experiment_stop){ .rule = LOOKS_NONE };
    return experiment_stop_read(r->arena, r->top.seeds, r->options->seeds != 0, experiment,
                                err);
}

/* Reads all but the points.  The order matters: seeds before output
 * (detail_seeds), own metrics before expect. */
static bool read_top(struct reader *r, struct err *err)
{
    struct experiment *experiment = r->experiment;

    if (!experiment_top_read(r->root, &r->top, err))
        return false;
    if (r->options->point != NULL)
        r->top.sweep = r->top.expect = NULL;
    if (r->top.name[0] == '\0' || strpbrk(r->top.name, "/\n\t\"") != NULL ||
        r->top.name[0] == '.')
        return err_set(err, ERR_RANGE,
                       conf_pos(conf_get(r->root, "experiment")),
                       "experiment must be a name that can be a folder's: no "
                       "slash, no quotation mark, no dot in front");
    experiment->name = r->top.name;
    experiment->description = r->top.description;
    experiment->seed = (uint64_t)r->top.seed;
    experiment->own = own_metrics_read(r->arena, r->top.metrics, err);
    if (experiment->own == NULL || !experiment_seeds(r->top.seeds, experiment, err))
        return false;
    if (r->options->seeds != 0)
        experiment->seeds = r->options->seeds;
    experiment->option.fewer_seeds = experiment->seeds < r->file_seeds;
    experiment->warmup_ns = r->top.warmup_ns;
    experiment->stalled_ns = r->top.stalled_ns;
    experiment->event_count_max = (uint64_t)r->top.event_count_max;
    experiment->train = r->top.train;
    experiment->border = r->top.border;
    experiment->sensitivity = r->top.sensitivity;
    experiment->tune = r->top.tune;
    experiment->tuned = r->top.tuned;
    experiment->tree = r->root;
    if (!experiment_until(r->top.until, &experiment->until_ns, err))
        return false;
    if (!conf_acts(r->root, "stalled_after", experiment->until_ns != CLOCK_NEVER_NS,
                   "needs `until: drained`", err))
        return false;
    if (experiment->warmup_ns >= experiment->until_ns)
        return err_set(err, ERR_RANGE, conf_pos(conf_get(r->root, "warmup")),
                       "warmup must end before until does");
    if (!read_guests(r, err) ||
        !experiment_output(r->arena, r->top.output, experiment, err) ||
        !experiment_expects(r->arena, r->top.expect, experiment, err) ||
        !read_stop(r, err) ||
        !choices_read(r->arena, r->top.options, r->top.decide, experiment, err))
        return false;
    if (r->options->dir != NULL)
        experiment->dir = r->options->dir;
    return true;
}

/* Reads the top, the names and the points.  The number of trials must be a
 * 32-bit number with a bit left for marks. */
static bool read_checked(struct reader *r, struct err *err)
{
    struct experiment *experiment = r->experiment;
    const struct experiment_options *options = r->options;

    if (!read_top(r, err) || !read_catalogue(r, err) ||
        !reader_names(r, err) || !reader_baseline(r, err) ||
        !reader_points(r, err) || !reader_expects(r, err))
        return false;
    if ((uint64_t)experiment->point_count * experiment->policy_count * experiment->seeds >
        UINT32_MAX / 2)
        return err_set(err, ERR_RANGE, conf_pos(r->root),
                       "the experiment must have at most %u trials, and has "
                       "%llu", UINT32_MAX / 2,
                       (unsigned long long)experiment->point_count *
                       experiment->policy_count * experiment->seeds);
    return options->check == NULL || options->check(r->arena, experiment, err);
}

/* Asks for tables that only some workloads and policies fill. */
static void add_tables(struct experiment *experiment)
{
    for (uint32_t i = 0; i < experiment->point_count; i++)
        if (workload_service_count(experiment->point[i].workload) > 0)
            experiment->tables |= EXPERIMENT_SERVICES;
    for (uint32_t i = 0; i < experiment->point_count; i++)
        for (uint32_t p = 0; p < experiment->policy_count; p++)
            if (experiment->point[i].policy[p]->rules.blocking == HOST_DROP)
                experiment->tables |= EXPERIMENT_ARRIVED;
}

/* Returns the `seed` of a tree that was read before; what is wrong with it is told
 * elsewhere. */
static uint64_t read_seed(const struct conf_node *root)
{
    const struct conf_node *node = conf_get(root, "seed");
    const char *text = node != NULL ? conf_text(node) : "1";
    int64_t seed;

    return scan_i64(text, strlen(text), &seed) ? (uint64_t)seed : 1;
}

/* Returns the tree of the point that the options name, with their settings. */
static const struct conf_node *make_one_point(struct reader *r,
                                              const struct conf_node *root,
                                              struct err *err)
{
    const struct experiment_options *options = r->options;
    const struct conf_node *tree = NULL;
    const char *label = "";
    struct sweep sweep;

    if (!sweep_open(r->arena, root, conf_get(root, "sweep"), read_seed(root), &sweep, err))
        return NULL;
    for (uint32_t i = 0; i < sweep.count && strcmp(label, options->point) != 0;
         i++) {
        tree = sweep_tree(&r->inputs, &sweep, i, &label, err);
        if (tree == NULL)
            return NULL;
    }
    assert(strcmp(label, options->point) == 0);
    for (size_t i = 0; tree != NULL && i < options->setting_count; i++)
        tree = tree_set(&r->inputs, tree, options->setting[i].key, NULL,
                        options->setting[i].text, err);
    return tree == NULL ? NULL : tree_graft(&r->inputs, tree, err);
}

/* Returns how many entries `policies:` has; 0 if it is no list. */
static size_t count_policies(const struct conf_node *root)
{
    const struct conf_node *list =
        conf_kind(root) == CONF_MAP ? conf_get(root, "policies") : NULL;

    return list != NULL && conf_kind(list) == CONF_LIST ? conf_count(list) : 0;
}

/* Is the word a policy of the program, and the file's entry of that name another one? */
static bool names_two(const struct reader *r, const char *word, const struct conf_node *entry)
{
    const struct conf_node *policy =
        conf_kind(entry) == CONF_MAP ? conf_get(entry, "policy") : entry;
    bool of_program = false;

    for (size_t i = 0; i < r->options->guest_count; i++)
        if (strcmp(r->options->guest[i].written, word) == 0)
            of_program = true;
    return of_program && (policy == NULL || conf_kind(policy) != CONF_SCALAR ||
                          strcmp(conf_text(policy), word) != 0);
}

/* Stores the file's entry at place i of the list, where `word` names it.  NULL: err says that it
 * names two policies. */
static const struct conf_node *take_entry(struct reader *r, const struct conf_node *root,
                                          size_t i, const struct conf_node *word,
                                          const struct conf_node *entry, struct err *err)
{
    if (names_two(r, conf_text(word), entry)) {
        err_set(err, ERR_REFERENCE, conf_pos(word), "policy %.60s of the program has the name of "
                "another one of the experiment", conf_text(word));
        err_hint(err, "Give one of them another `name`.");
        return NULL;
    }
    return conf_set(r->arena, root, text_format(r->arena, "policies.%zu", i), entry,
                    conf_pos(word), err);
}

/* Returns the experiment with the policies that the options name: a word that is
 * the name of one of the file's entries stands for that entry. */
static const struct conf_node *choose_policies(struct reader *r,
                                               const struct conf_node *root,
                                               struct err *err)
{
    const struct conf_node *given =
        conf_kind(root) == CONF_MAP ? conf_get(root, "policies") : NULL;
    const struct conf_node *list;

    if (r->options->policies == NULL)
        return root;
    root = conf_set_text(r->arena, root, "policies", r->options->policies, err);
    list = root == NULL ? NULL : conf_get(root, "policies");
    for (size_t i = 0; given != NULL && list != NULL && conf_kind(given) == CONF_LIST &&
                       conf_kind(list) == CONF_LIST && i < conf_count(list); i++) {
        const struct conf_node *word = conf_item(list, i);

        for (size_t k = 0; root != NULL && conf_kind(word) == CONF_SCALAR &&
                           k < conf_count(given); k++) {
            const char *name = experiment_entry_name(conf_item(given, k));

            if (name != NULL && strcmp(name, conf_text(word)) == 0)
                root = take_entry(r, root, i, word, conf_item(given, k), err);
        }
    }
    return root;
}

/* Reads a tree; called by conf_mend_read(), with parts replaced, until no new
 * error is found. */
static bool read_root(void *self, const struct conf_node *root,
                      struct err *err)
{
    struct reader *r = self;
    bool chosen = r->options->policies != NULL;

    *r->experiment = r->empty;
    r->top = (struct experiment_top){ 0 };
    r->root = root;
    if (!r->set) {
        if (conf_kind(root) == CONF_MAP && !conf_known(root, &experiment_schema, err))
            return false;
        r->file_seeds = read_file_seeds(root);
        r->written = conf_kind(root) == CONF_MAP ? conf_get(root, "policies") : NULL;
        if (chosen || !tree_replaced(r->options->set, r->options->set_count, "policies"))
            r->root = guests_load(r->arena, root, &r->guests, err);
        if (r->root != NULL && chosen)  /* among options, where there are any */
            r->root = choices_open(r->arena, r->root, &r->guests, err);
        if (r->root != NULL)
            r->root = choose_policies(r, r->root, err);
        if (r->root != NULL)
            r->root = tree_sets(&r->inputs, r->root, r->options->set,
                                r->options->set_count, err);
        if (r->root != NULL)            /* those that --set brings */
            r->root = guests_load(r->arena, r->root, &r->guests, err);
        if (r->root != NULL && !chosen)
            r->root = choices_open(r->arena, r->root, &r->guests, err);
        if (r->root != NULL && r->options->branches != NULL)
            r->root = branches_open(r->arena, r->root, r->options->branches, err);
        r->file_policies = r->root != NULL ? count_policies(r->root) : 0;
        if (r->root != NULL)
            r->root = controls_add(r->arena, r->root, &r->guests, err);
        if (r->root != NULL && r->options->point != NULL)
            r->root = make_one_point(r, r->root, err);
        if (r->root == NULL)
            return false;
        r->set = true;
        r->mend.root = r->root;
    }
    return read_checked(r, err);
}

/* False, with err, for what `clustersim FILE` is given by mistake: a part of an
 * experiment. */
static bool check_experiment(const struct conf_node *root, const char *path,
                             struct err *err)
{
    static const char *const of_workload[] = { "trace", "mix", "services" };
    const char *part = conf_get(root, "nodes") != NULL ? "cluster" : NULL;

    for (size_t i = 0; i < sizeof of_workload / sizeof of_workload[0]; i++)
        if (part == NULL && conf_get(root, of_workload[i]) != NULL)
            part = "workload";
    if (part == NULL || conf_get(root, "experiment") != NULL ||
        conf_get(root, "policies") != NULL)
        return true;
    err_set(err, ERR_SCHEMA, conf_pos(root), "the file is a %s, not an "
            "experiment", part);
    return err_hint(err, "An experiment names it, `%s: %.120s`, beside its "
                    "policies; `clustersim validate` reads it alone.", part,
                    path);
}

const struct experiment *experiment_read(struct arena *arena, const char *path,
                                         const struct experiment_options *options,
                                         struct err *err)
{
    struct reader r = {
        .arena = arena, .options = options,
        .mend = { .arena = arena, .ground = "cluster",
                  .ground_words = tree_ground_words },
    };
    struct experiment *experiment = arena_alloc(arena, 1, sizeof *experiment);

    r.experiment = experiment;
    r.inputs.arena = arena;
    r.empty.path = arena_text(arena, path);
    r.empty.program_hash = options->program_hash;
    if (r.empty.program_hash == 0 &&
        (self_open_name() == NULL || !hash_file(self_open_name(), &r.empty.program_hash)))
        r.empty.program_hash = 0;
    for (size_t i = 0; i < options->guest_count; i++)
        ARENA_ADD(arena, r.guests.item, r.guests.count, r.guests.room, options->guest[i]);
    r.mend.root = options->text == NULL
        ? tree_load(&r.inputs, r.empty.path, err)
        : tree_parse(&r.inputs, r.empty.path, options->text, err);
    if (r.mend.root == NULL ||
        !check_experiment(r.mend.root, r.empty.path, err))
        return NULL;
    r.mend.stock = tree_stock(arena);
    if (!conf_mend_read(&r.mend, read_root, &r, err))
        return NULL;
    add_tables(experiment);
    if (r.written != NULL)      /* files of policies that are read, if others alone are run */
        tree_hash(&r.inputs, r.written);
    experiment->input = r.inputs.item;
    experiment->input_count = r.inputs.count;
    return experiment;
}

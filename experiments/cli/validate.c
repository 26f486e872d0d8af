/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * validate.c - `clustersim validate`: read and check, run nothing.
 *
 * The kind of a file follows from its keys.  A workload is checked against a
 * cluster, for a role that fits nowhere is an error: against --cluster, or
 * against many nodes of each GPU of the catalogue, in each pool it names.
 */
#include <string.h>

#include "experiments/advise/advice_check.h"
#include "experiments/cli/command.h"
#include "experiments/cli/experiment.h"
#include "experiments/cli/search.h"
#include "experiments/preflight/abilities.h"
#include "experiments/preflight/arrivals.h"
#include "experiments/preflight/contexts.h"
#include "experiments/preflight/defaults.h"
#include "experiments/preflight/idle_keys.h"
#include "experiments/preflight/load_print.h"
#include "experiments/preflight/places.h"
#include "experiments/preflight/scaling.h"
#include "experiments/preflight/table_sizes.h"
#include "experiments/preflight/turns.h"
#include "experiments/spec/experiment.h"
#include "experiments/spec/pool_names.h"
#include "experiments/spec/tree.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "policies/host/host.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/config/mend.h"
#include "sim/text/paths.h"
#include "workloads/source.h"

enum file_kind {
    KIND_NONE, KIND_CLUSTER, KIND_CATALOGUE, KIND_WEIGHTS, KIND_WORKLOAD
};

/* One run of the command; the fields are those of the file that is read now. */
struct validating {
    struct cli *cli;
    const struct args *args;
    const struct catalogue *catalogue;      /* NULL until a file needs it */
    const char *path;           /* as the user wrote it */
    const struct conf_node *root;           /* its tree */
    enum file_kind kind;        /* by its keys */
    const char *said;           /* what it is, printed if it holds no error */
    bool told;                  /* what is wrong was printed already */
};

/* Reads the file as a tree. */
static bool load_root(struct validating *v, struct err *err)
{
    struct experiment_inputs inputs = { .arena = v->cli->arena };

    v->root = tree_load(&inputs, v->path, err);
    return v->root != NULL;
}

/* Loads the catalogue, when it is first needed. */
static bool load_catalogue(struct validating *v, struct err *err)
{
    if (v->catalogue == NULL)
        v->catalogue = catalogue_load(v->cli->arena, NULL, 0, err);
    return v->catalogue != NULL;
}

/* Returns "s", but for one. */
static const char *plural_ending(uint32_t count)
{
    return count == 1 ? "" : "s";
}

/* A job that cannot start is an error of the file. */
static void tell_homeless(void *self, const struct err *err)
{
    (void)command_fail(self, err);
}

/* Prints what will be run, how large tables will be, what decides, and the load;
 * then warnings. */
static bool validate_experiment(struct validating *v, struct err *err)
{
    struct experiment_options options = { .set = v->args->set,
                                          .set_count = v->args->set_count,
                                          .check = cmd_experiment_check };
    const struct experiment *experiment = experiment_read(v->cli->arena, v->path, &options,
                                                          err);

    if (experiment == NULL || !search_try(v->cli, v->args, v->path, experiment, err))
        return false;
    v->told = places_check(v->cli->arena, experiment, tell_homeless, v->cli) > 0;
    if (v->told)
        return false;
    if (v->args->given[ARG_JSON])
        return true;
    bool sequential = experiment->stop.rule != LOOKS_NONE;
    fprintf(v->cli->out, "%s: ok: experiment %s: %u point%s x %u polic%s x "
            "%s%u seed%s%s %u trials%s, %u expectation%s\n", v->path, experiment->name,
            experiment->point_count, plural_ending(experiment->point_count),
            experiment->policy_count, experiment->policy_count == 1 ? "y" : "ies",
            sequential ? "at most " : "", experiment->seeds,
            plural_ending(experiment->seeds),
            experiment_run_count(experiment) == experiment_trial_count(experiment) ? " ="
            : ", of which deterministic ones run once:",
            experiment_run_count(experiment), sequential ? " at most" : "",
            experiment->expect_count, plural_ending(experiment->expect_count));
    struct table_sizes sizes = table_sizes_of(v->cli->arena, experiment);
    table_sizes_print(v->cli->out, experiment, &sizes);
    defaults_print(v->cli->arena, experiment, v->cli->out);
    fputc('\n', v->cli->out);
    load_print(v->cli->arena, experiment, v->cli->out);
    places_warn(experiment, command_warn, v->cli);
    abilities_warn(experiment, command_warn, v->cli);
    idle_keys_warn(experiment, command_warn, v->cli);
    arrivals_warn(experiment, command_warn, v->cli);
    contexts_warn(experiment, command_warn, v->cli);
    scaling_warn(experiment, command_warn, v->cli);
    turns_warn(experiment, command_warn, v->cli);
    load_warn(v->cli->arena, experiment, command_warn, v->cli);
    return true;
}

/* Reads a question to advise, and answers nothing. */
static bool validate_advice(struct validating *v, struct err *err)
{
    struct advice_check_options options = { .set = v->args->set,
                                            .set_count = v->args->set_count,
                                            .read_only = true };
    struct advice_check advice = { 0 };

    if (!advice_check_run(v->cli->arena, v->path, &options, &advice, err))
        return false;
    if (v->args->given[ARG_JSON])
        return true;
    fprintf(v->cli->out, "%s: ok: advice %s: %u expectation%s\n", v->path,
            advice.name, advice.checks.count, plural_ending(advice.checks.count));
    return true;
}

/* Reads a cluster, and says what it has. */
static bool validate_cluster(struct validating *v, struct err *err)
{
    const struct cluster_spec *spec;

    if (!load_catalogue(v, err))
        return false;
    spec = cluster_read(v->cli->arena, tree_unwrap(v->root, "cluster"),
                        v->catalogue, err);
    if (spec == NULL)
        return false;
    v->said = text_format(v->cli->arena, "%s: ok: cluster: %u node%s, %u GPU%s, %u core%s, "
            "%u pool%s\n", v->path, spec->node_count,
            plural_ending(spec->node_count), spec->gpu_count,
            plural_ending(spec->gpu_count), spec->core_count,
            plural_ending(spec->core_count), spec->pool_count,
            plural_ending(spec->pool_count));
    return true;
}

/* Returns a cluster with, in each pool that the workload names, 64 nodes of 8 GPUs
 * of each type, with more memory and cores than jobs ask for: so that only the
 * GPUs decide.  Nothing runs on it. */
static const struct cluster_spec *make_any_cluster(struct validating *v,
                                                   struct err *err)
{
    struct arena *arena = v->cli->arena;
    const char *cpu = catalogue_cpu_at(v->catalogue, 0)->name;
    const char *text = "nodes:\n";
    struct pool_names pools = { { "any" }, 1 };
    const struct conf_node *root;

    pool_names_find(v->root, &pools);
    for (size_t p = 0; p < pools.count; p++)
        for (size_t i = 0; i < catalogue_gpu_count(v->catalogue); i++)
            text = text_format(
                arena, "%s  - {name: n%zu-%zu, count: 64, gpus: {type: %s, "
                "count: 8}, cpu: {type: %s, sockets: 8}, memory: 8TB, "
                "nvme: 8x8TB, pool: %s, price: 1USD/h}\n", text, p, i,
                catalogue_gpu_at(v->catalogue, i)->name, cpu, pools.name[p]);
    root = conf_parse(arena, "a cluster of every GPU", text, strlen(text),
                      err);
    return root == NULL ? NULL
                        : cluster_read(arena, root, v->catalogue, err);
}

/* Reads the cluster that --cluster names; NULL: err says what is wrong. */
static const struct cluster_spec *read_cluster(struct validating *v,
                                               struct err *err)
{
    struct experiment_inputs inputs = { .arena = v->cli->arena };
    const struct conf_node *root;

    root = tree_load(&inputs, v->args->value[ARG_CLUSTER], err);
    if (root == NULL)
        return NULL;
    return cluster_read(v->cli->arena, tree_unwrap(root, "cluster"),
                        v->catalogue, err);
}

/* A role that fits nowhere is an error, so a cluster is needed. */
static bool validate_workload(struct validating *v, struct err *err)
{
    const struct workload_spec *spec;
    const struct cluster_spec *cluster;
    size_t forms;

    if (!load_catalogue(v, err))
        return false;
    cluster = v->args->given[ARG_CLUSTER] ? read_cluster(v, err)
                                          : make_any_cluster(v, err);
    if (cluster == NULL)
        return false;
    spec = workload_read(v->cli->arena, tree_unwrap(v->root, "workload"),
                         v->catalogue, cluster, err);
    if (spec == NULL)
        return false;
    forms = workload_form_count(spec);
    v->said = text_format(v->cli->arena, "%s: ok: workload: %zu kind%s of job, checked "
            "against %s\n", v->path, forms, forms == 1 ? "" : "s",
            v->args->given[ARG_CLUSTER] ? v->args->value[ARG_CLUSTER]
                : "512 of each GPU of the catalogue in each pool");
    return true;
}

/* Reads entries for the catalogue, and says what it has with them. */
static bool validate_catalogue(struct validating *v, struct err *err)
{
    const struct catalogue *all =
        catalogue_read(v->cli->arena, &v->root, 1, err);

    if (all == NULL)
        return false;
    v->said = text_format(v->cli->arena, "%s: ok: catalogue, which then has %zu GPUs, %zu "
            "CPUs, %zu links, %zu prices, %zu models\n", v->path,
            catalogue_gpu_count(all), catalogue_cpu_count(all),
            catalogue_link_count(all), catalogue_price_count(all),
            catalogue_llm_count(all));
    return true;
}

/* Any name of a feature is taken here: which there are depends on the policy. */
static bool validate_weights(struct validating *v, struct err *err)
{
    const struct conf_node *map = conf_get(v->root, "weights");

    /* It was taken out for an error that is told already. */
    if (map == NULL)
        return true;
    if (conf_kind(map) != CONF_MAP)
        return err_set(err, ERR_SCHEMA, conf_pos(map),
                       "weights must be a map from feature to number");
    for (size_t i = 0; i < conf_count(map); i++) {
        const struct conf_field field = { .key = conf_key(map, i),
                                          .type = CONF_REAL };
        double number;

        if (!conf_read(conf_value(map, i), &field, &number, err))
            return false;
    }
    v->said = text_format(v->cli->arena, "%s: ok: %zu weights\n", v->path, conf_count(map));
    return true;
}

/* Has the map that key? */
static bool has_key(const struct conf_node *root, const char *key)
{
    return conf_get(root, key) != NULL;
}

/* Has the map a key of the table?  `name` does not count: many tables have it. */
static bool has_key_of(const struct conf_node *root,
                       const struct conf_schema *schema)
{
    for (size_t i = 0; i < schema->count; i++)
        if (strcmp(schema->fields[i].key, "name") != 0 &&
            has_key(root, schema->fields[i].key))
            return true;
    return false;
}

/* Checks a file that is no experiment and no question to advise, since those mend
 * what they read themselves. */
static bool validate_part(void *self, const struct conf_node *root,
                          struct err *err)
{
    struct validating *v = self;

    v->root = root;
    switch (v->kind) {
    case KIND_CLUSTER: return validate_cluster(v, err);
    case KIND_CATALOGUE: return validate_catalogue(v, err);
    case KIND_WEIGHTS: return validate_weights(v, err);
    case KIND_WORKLOAD: return validate_workload(v, err);
    case KIND_NONE: break;
    }
    err_set(err, ERR_SCHEMA, conf_pos(root),
            "the file is no experiment, cluster, workload, catalogue or "
            "weights: it has none of their keys");
    return err_hint(err, "An experiment has policies, a cluster has nodes, a "
                    "workload has arrival and mix, or trace.");
}

/* By the keys of its top level; a file may have all of it under one key. */
static enum file_kind find_kind(const struct conf_node *root)
{
    size_t count;
    bool single = conf_count(root) == 1;

    if (has_key(root, "nodes") || (single && has_key(root, "cluster")))
        return KIND_CLUSTER;
    if (has_key(root, "gpus") || has_key(root, "cpus") || has_key(root, "links") ||
        has_key(root, "prices") || has_key(root, "llms") || has_key(root, "nets") ||
        has_key(root, "applications") || has_key(root, "instances"))
        return KIND_CATALOGUE;
    if (has_key(root, "weights"))
        return KIND_WEIGHTS;
    if (has_key_of(root, workload_schemas(&count)[0]) ||
        has_key(root, "trace") || has_key(root, "recipe") ||
        (single && has_key(root, "workload")))
        return KIND_WORKLOAD;
    return KIND_NONE;
}

/* Is the file a workload alone? */
static bool is_workload(const struct validating *v)
{
    return v->kind == KIND_WORKLOAD && !has_key(v->root, "policies") &&
           !has_key(v->root, "experiment") && !has_key(v->root, "advise");
}

/* A stock part (tree_stock) lets the reader go on behind a first error. */
static bool validate_one(struct validating *v, struct err *err)
{
    struct conf_mend mend = { .arena = v->cli->arena };

    if (!load_root(v, err))
        return false;
    v->kind = find_kind(v->root);
    if (v->args->given[ARG_CLUSTER] && !is_workload(v))
        return err_set(err, ERR_USAGE, (struct err_pos) { v->path, 0, 0 },
                       "--cluster is what a workload is checked against, and the file is none");
    if (has_key(v->root, "policies") || has_key(v->root, "experiment"))
        return validate_experiment(v, err);
    if (has_key(v->root, "advise"))
        return validate_advice(v, err);
    if (v->args->set_count > 0)
        return err_set(err, ERR_USAGE, (struct err_pos) { v->path, 0, 0 },
                       "--set replaces keys of an experiment, and the file is none");
    mend.root = v->root;
    if (v->kind == KIND_CLUSTER && !has_key(v->root, "cluster"))
        mend.stock = conf_get(tree_stock(v->cli->arena), "cluster");
    else if (v->kind == KIND_WORKLOAD && !has_key(v->root, "workload"))
        mend.stock = conf_get(tree_stock(v->cli->arena), "workload");
    if (!conf_mend_read(&mend, validate_part, v, err))
        return false;
    if (!v->args->given[ARG_JSON])
        fputs(v->said, v->cli->out);
    return true;
}

/* False, with err: --json is for one file, as it is written. */
static bool check_json(const struct args *args, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    if (args->given[ARG_JSON] && args->set_count > 0)
        return err_set(err, ERR_USAGE, nowhere,
                       "--json prints the file as it is written, without --set");
    return !args->given[ARG_JSON] || args->word_count == 1 ||
           err_set(err, ERR_USAGE, nowhere, "--json takes one file, found %zu",
                   args->word_count);
}

/* The status is that of the first file that is wrong. */
static int run_validate(struct cli *cli, const struct args *args)
{
    struct validating v = { .cli = cli, .args = args };
    struct err usage = { 0 };
    int status = 0;

    if (!check_json(args, &usage))
        return command_fail(cli, &usage);
    for (size_t i = 0; i < args->word_count; i++) {
        struct err err = { 0 };

        v.path = args->word[i];
        v.told = false;
        if (validate_one(&v, &err)) {
            if (args->given[ARG_JSON])
                conf_print_json(v.root, cli->out);
            continue;
        }
        int bad = v.told ? err_exit_status(ERR_RANGE)
                         : command_fail(cli, &err);
        status = status == 0 ? bad : status;
    }
    return status;
}

const struct command command_validate = {
    "validate", "FILE.yaml... [--cluster FILE] [--set KEY=VALUE]...\n       --json FILE.yaml",
    "read and check everything, run nothing",
    "Experiments (with the cluster and the workload that they name),\n"
    "clusters, workloads, catalogue and weights files are told apart by\n"
    "their keys.  Each file is reported; the status is that of the first\n"
    "that is wrong.\n\n"
    "--json prints one file that is right as JSON, and nothing else: keys and\n"
    "values as they are written, without defaults or the files that it names.\n",
    ARG_BIT(ARG_CLUSTER) | ARG_BIT(ARG_SET) | ARG_BIT(ARG_JSON), 1, 100000, run_validate
};

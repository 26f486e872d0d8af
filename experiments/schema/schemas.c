/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schemas.c - gathers the key tables of all floors.
 *
 * Tables of the experiment's own are listed here, in the order of the manual;
 * those of cluster, workload and catalogue come from these floors.  A table
 * that is missing here has no definition in the JSON Schema, so a reference to
 * it dangles: tests/schema.sh would refuse the tree's files.
 */
#include "experiments/schema/schemas.h"

#include <string.h>

#include "experiments/advise/advice_check.h"
#include "experiments/sensitivity/border.h"
#include "experiments/sensitivity/sensitivity.h"
#include "experiments/spec/experiment.h"
#include "experiments/spec/inputs.h"
#include "experiments/spec/sweep.h"
#include "experiments/own/own_metrics.h"
#include "experiments/train/train.h"
#include "experiments/tune/tune.h"
#include "models/catalogue/application.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "policies/host/host.h"
#include "policies/registry/rules.h"
#include "sim/base/arena.h"
#include "workloads/source.h"

const struct conf_schema *const *schemas_all(struct arena *arena,
                                             size_t *count)
{
    const struct conf_schema *const own[] = {
        &experiment_schema, &experiment_plugins_schema, &experiment_trial_limits_schema,
        &experiment_output_schema, &experiment_expect_schema, &experiment_option_schema,
        &experiment_decide_schema, &experiment_keep_schema, &experiment_seeds_schema,
        &own_metrics_schema, &train_schema, &train_seeds_schema, &train_validation_schema,
        &border_schema, &tune_schema, &tune_split_schema, &tune_range_schema,
        &sensitivity_schema, &input_schema, &sobol_schema, &sweep_schema, &host_rules_schema,
        &host_rounds_schema, &host_preemption_schema, &advice_schema, &advice_expect_schema,
        &advice_inputs_schema, &application_speed_schema
    };
    const size_t own_count = sizeof own / sizeof own[0];
    const struct conf_schema *const *cluster, *const *workload, **all;
    size_t clusters, workloads, n = 0;

    cluster = cluster_schemas(&clusters);
    workload = workload_schemas(&workloads);
    all = arena_alloc(arena, own_count + clusters + workloads +
                      CATALOGUE_SECTION_COUNT, sizeof *all);
    for (size_t i = 0; i < own_count; i++)
        all[n++] = own[i];
    for (size_t i = 0; i < clusters; i++)
        all[n++] = cluster[i];
    for (size_t i = 0; i < workloads; i++)
        all[n++] = workload[i];
    for (size_t i = 0; i < CATALOGUE_SECTION_COUNT; i++)
        all[n++] = &catalogue_schema[i];
    *count = n;
    return all;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * schemas.c - all key tables of a workload, for explain, schema and manual.
 *
 * The tables of recipes come from recipes.def, so that a new recipe is in the
 * list by its line there.  Order is that of the manual.
 */
#include "workloads/formats/columns.h"
#include "workloads/source.h"

#include "sim/config/conf.h"
#include "workloads/jobs/speedup_keys.h"
#include "workloads/random/arrival.h"
#include "workloads/random/arrival_read.h"
#include "workloads/random/distribution.h"
#include "workloads/random/distribution_read.h"
#include "workloads/recipes/recipe.h"
#include "workloads/replay/resample.h"
#include "workloads/replay/trace.h"
#include "workloads/requests/request_trace.h"
#include "workloads/requests/services.h"
#include "workloads/series/series.h"

extern const struct conf_schema workload_schema;        /* read.c */

static const struct conf_schema *const all[] = {
    &workload_schema, &arrival_schema, &arrival_burst_schema,
#define RECIPE(ID) &recipe_##ID##_schema,
#include "workloads/recipes/recipes.def"
#undef RECIPE
    &role_train_schema,
    &role_engine_schema, &role_data_schema, &role_cores_schema,
    &role_whole_schema,
    &response_schema, &reward_schema, &loader_schema, &trace_schema,
    &trace_columns_schema, &trace_slice_schema, &trace_skip_schema,
    &series_schema, &speedup_elastic_schema, &resample_schema,
    &role_trace_schema, &distribution_constant_schema,
    &distribution_uniform_schema, &distribution_exponential_schema,
    &distribution_lognormal_schema, &distribution_weibull_schema,
    &distribution_gamma_schema, &distribution_pareto_schema,
    &distribution_hyperexponential_schema, &distribution_choice_schema,
    &distribution_empirical_schema,
    &service_schema, &service_requests_schema, &service_slo_schema,
    &service_scaling_schema, &service_replicas_schema,
    &service_switch_schema, &service_times_schema, &service_prefix_schema,
    &request_trace_schema,
    &request_trace_columns_schema
};

const struct conf_schema *const *workload_schemas(size_t *count)
{
    *count = sizeof all / sizeof all[0];
    return all;
}

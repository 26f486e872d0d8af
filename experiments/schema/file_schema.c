/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * file_schema.c - what key tables hand on unread, as JSON Schema.
 *
 * Here ' stands for " and @NAME@ for a reference (sim/config/doc.h).  Each shape
 * says what its reader takes; tests/schema.sh asks a stock validator about all
 * files of the tree, and of wrong ones both it and the reader.
 */
#include "experiments/schema/file_schema.h"

#include <stdio.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/run/metrics.h"
#include "experiments/schema/schemas.h"
#include "experiments/spec/experiment.h"
#include "models/catalogue/catalogue.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "policies/registry/heeds.h"
#include "policies/registry/registry.h"
#include "policies/registry/rules.h"
#include "policies/registry/semantics.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "sim/config/doc.h"
#include "sim/text/paths.h"
#include "workloads/recipes/recipe.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* A key that can be swept. */
#define VARIED_KEY "{'pattern': " \
    "'^((workload|cluster)([.][^.]+)*|policies([.][^.]+)+|fidelity)$'}"
/* A number that has its unit behind it: one end of a range. */
#define ONE_END "{'type': ['string', 'number'], " \
    "'pattern': '^[-+]?([0-9]+[.]?[0-9]*|[.][0-9]+)'}"
/* A map from keys to the values that each may have: a range, or a list of at least
 * two. */
#define INPUTS "{" OBJECT ", 'minProperties': 1, 'propertyNames': " VARIED_KEY \
    ", 'additionalProperties': " ANY_OF("@experiment.input@, {" ARRAY \
    ", 'minItems': 2, 'items': {'type': ['string', 'number', 'boolean', 'null']}}") "}"
#define OBJECT "'type': 'object'"
#define ARRAY "'type': 'array'"
#define STRING "'type': 'string'"
#define ANY_OF(...) "{'anyOf': [" __VA_ARGS__ "]}"
#define LIST_OF(of) "{" ARRAY ", 'minItems': 1, 'items': " of "}"
#define NAMES_OR_ONE(of) ANY_OF(of ", " LIST_OF(of))
/* A role on cores: types and cpu say the same, and without GPUs no key is theirs. */
#define ON_CORES_TOO "'allOf': [{'if': {'required': ['types']}, 'then': {'if': " \
    "{'properties': {'types': {'anyOf': [{'const': 'cpu'}, {'type': 'array', " \
    "'contains': {'const': 'cpu'}}]}}}, 'then': {'required': ['cpu']}, 'else': " \
    "{'properties': {'cpu': false}}}}, {'if': {'required': ['types'], " \
    "'properties': {'types': {'enum': ['cpu', ['cpu']]}}}, 'then': " \
    "{'properties': {'gpus': false, 'min': false, 'max': false, 'tp': false, " \
    "'cores': false, 'memory': false}}}]"
#define ABOVE_0 "{'type': 'number', 'exclusiveMinimum': 0}"
#define FROM_0 "{'type': 'number', 'minimum': 0}"
/* Metrics: without `metrics:` a name can only be a built-in one. */
#define OWN_NAME "{" STRING ", 'pattern': '^[a-z][a-z0-9_]{0,59}$'}"
#define BUILT_IN(key) "{'properties': {'" key "': @built-in metric@}}"
#define NO_OWN_METRICS \
    "'allOf': [{'if': {'not': {'required': ['metrics']}}, 'then': {'properties': {" \
    "'expect': {'items': " BUILT_IN("metric") "}, 'decide': " \
    BUILT_IN("metric") ", 'tune': " BUILT_IN("metric") ", " \
    "'sensitivity': " BUILT_IN("metric") ", 'train': " BUILT_IN("objective") ", " \
    "'seeds': {'properties': {'of': {'items': @built-in metric@}}}}}}]"
#define ONE_LIMIT \
    "'oneOf': [{'required': ['at_most']}, {'required': ['at_least']}, " \
    "{'required': ['between']}]"

/* A distribution of values of one kind, or one value; `above` are those that
 * must be greater than 0. */
#define PARTS(properties, required) \
    "{" OBJECT ", 'additionalProperties': false, 'required': [" required \
    "], 'properties': {" properties "}}"
#define DRAWN(value, above) ANY_OF(value ", {" OBJECT \
    ", 'additionalProperties': false, 'properties': {" \
    "'constant': " value ", " \
    "'uniform': {" ARRAY ", 'minItems': 2, 'maxItems': 2, 'items': " value \
    "}, " \
    "'exponential': " PARTS("'mean': " above, "'mean'") ", " \
    "'lognormal': " ANY_OF( \
        PARTS("'mean': " above ", 'cv': " FROM_0, "'mean', 'cv'") ", " \
        PARTS("'log_mean': {'type': 'number'}, 'log_sd': " ABOVE_0, \
              "'log_mean', 'log_sd'")) ", " \
    "'weibull': " PARTS("'scale': " above ", 'shape': " ABOVE_0, \
                        "'scale', 'shape'") ", " \
    "'gamma': " PARTS("'mean': " above ", 'cv': " ABOVE_0, \
                      "'mean', 'cv'") ", " \
    "'pareto': " PARTS("'scale': " above ", 'shape': " ABOVE_0, \
                       "'scale', 'shape'") ", " \
    "'hyperexponential': @weights of values@, 'choice': @weights of values@, " \
    "'empirical': " ANY_OF("@path@, @distribution.empirical@") ", " \
    "'min': " value ", 'max': " value "}, 'oneOf': [" \
    "{'required': ['constant']}, {'required': ['uniform']}, " \
    "{'required': ['exponential']}, {'required': ['lognormal']}, " \
    "{'required': ['weibull']}, {'required': ['gamma']}, " \
    "{'required': ['pareto']}, {'required': ['hyperexponential']}, " \
    "{'required': ['choice']}, {'required': ['empirical']}]}")

/* A key that says which others there are: arrival. */
#define ONLY(process, keys, required) \
    "{'if': {'properties': {'process': {'const': '" process "'}}}, 'then': {" \
    "'propertyNames': {'enum': ['process'" keys "]}, 'required': [" required \
    "]}}"

static const struct conf_shape shapes[] = {
    /* Members of whole tables. */
    { "experiment:", "'dependencies': {'decide': ['options'], 'options': {'properties': "
      "{'baseline': false, 'tuned': {'const': false}}}}, "
      "'if': {'not': {'required': ['sweep']}}, 'then': "
      "{'properties': {'workload': " ANY_OF("@path@, @whole workload@") "}}, "
      NO_OWN_METRICS, NULL },
    { "workload:", "'dependencies': {'trace': {'properties': {'arrival': false, 'mix': "
      "false, 'jobs': false, 'for': false}}}", NULL },
    { "workload.arrival:", "'allOf': ["
      ONLY("poisson", ", 'rate'", "'rate'") ", "
      ONLY("bursty", ", 'rate', 'burst'", "'rate', 'burst'") ", "
      ONLY("gamma", ", 'rate', 'cv'", "'rate', 'cv'") ", "
      ONLY("diurnal", ", 'rate', 'amplitude', 'peak', 'period'",
           "'rate', 'amplitude'") ", "
      ONLY("fixed", ", 'times', 'every'", "") ", "
      ONLY("series", ", 'rates'", "'rates'") ", "
      ONLY("all_at_once", "", "") "]", NULL },
    { "workload.trace:", "'if': {'properties': {'format': {'const': 'csv'}}}, "
      "'then': {'required': ['columns']}, "
      "'else': {'properties': {'columns': false}}, 'allOf': [{'if': "
      "{'required': ['lengths'], 'properties': {'lengths': {'const': "
      "'applications'}}}, 'then': {'properties': {'elastic': false, 'rates': "
      "false}}}]", NULL },
    { "workload.services[]:", "'allOf': [{'anyOf': [{'required': ['gpu']}, "
      "{'required': ['cpu']}]}, {'required': ['requests']}]", NULL },
    { "workload.services[].requests:", "'anyOf': [{'required': ['trace']}, "
      "{'required': ['arrival', 'for']}]", NULL },
    { "time_series:", "'oneOf': [{'required': ['file']}, {'required': "
      "['points']}]", NULL },
    { "cluster.nodes[]:", "'dependencies': {'nvme_type': ['nvme'], 'cpu': "
      "['memory'], 'rent': {'properties': {'billing': {'not': {'const': "
      "'held'}}}}, 'gpus': {'if': {'properties': {'gpus': {'properties': "
      "{'type': {'const': 'generic'}}}}}, 'else': {'required': ['cpu']}}}",
      NULL },
    { "experiment.expect[]:", ONE_LIMIT, NULL },
    { "experiment.decide.keep[]:", ONE_LIMIT, NULL },
    { "advice.expect[]:", ONE_LIMIT, NULL },
    { "experiment.sensitivity:", "'oneOf': [{'required': ['claim'], 'properties': "
      "{'metric': false, 'policy': false, 'vs': false}}, {'required': ['metric', "
      "'policy'], 'properties': {'claim': false}}]", NULL },

    { "workload.mix[].reward:", "'if': {'required': ['on'], 'properties': "
      "{'on': {'const': 'gpu'}}}, 'then': {'required': ['model']}, 'else': "
      "{'required': ['core_time']}", NULL },
    { "workload.mix[].train:", ON_CORES_TOO, NULL },
    { "workload.mix[].rollout:", ON_CORES_TOO, NULL },
    { "workload.mix[].net:", "'dependencies': {'data': ['loader']}", NULL },

    { "experiment.experiment", "{'type': ['string', 'number', 'boolean'], "
      "'pattern': '^[^./][^/]*$'}", NULL },
    { "experiment.output.dir", "@path@", NULL },
    { "experiment.policies[].*name", "{'type': ['string', 'number', "
      "'boolean'], 'pattern': '^[^,/ ]+$'}", NULL },
    { "experiment.cluster", ANY_OF("@path@, @cluster@"), NULL },
    { "experiment.workload", ANY_OF("@path@, @workload@"), NULL },
    { "advice.cluster", ANY_OF("@path@, @cluster@"), NULL },
    { "advice.workload", ANY_OF("@path@, @whole workload@"), NULL },
    { "advice.sensitivity", "@advice.sensitivity@", NULL },
    { "advice.sensitivity.inputs", INPUTS, NULL },
    { "experiment.seeds", ANY_OF("{'type': 'integer', 'minimum': 1, 'maximum': "
      "1000000}, @experiment.seeds@"), NULL },
    { "experiment.seeds:", "'if': {'properties': {'until': {'const': 'decided'"
      "}}}, 'then': {'properties': {'of': false}}", NULL },
    { "experiment.seeds.until", "{" STRING ", 'pattern': '^(decided|(±|[+]-)?"
      "0*([1-9][0-9]?([.][0-9]*)?|[.]0*[1-9][0-9]*)%)$'}", NULL },
    { "experiment.seeds.of", LIST_OF("@metric@"), NULL },
    { "experiment.metrics", "{" OBJECT ", 'minProperties': 1, 'maxProperties': 32, "
      "'propertyNames': {'allOf': [" OWN_NAME ", {'not': {'anyOf': [@built-in metric@, "
      "{'enum': ['and', 'or', 'not', 'where', 'point', 'policy', 'seed', "
      "'deterministic']}]}}]}, 'additionalProperties': @experiment.metrics[]@}", NULL },
    { "experiment.until", ANY_OF("{'const': 'drained'}, @time above 0@"),
      NULL },
    { "experiment.policies", LIST_OF("@policy@"), NULL },
    { "experiment.sweep", ANY_OF("{" OBJECT ", 'propertyNames': " VARIED_KEY ", "
      "'additionalProperties': {" ARRAY ", 'minItems': 1}}, @experiment.sweep@"),
      NULL },
    { "experiment.options", "{" ARRAY ", 'minItems': 2, 'items': "
      ANY_OF("@option name@, @experiment.options[]@") "}", NULL },
    { "experiment.options[].name", "@option name@", NULL },
    { "experiment.options[].set", "{" OBJECT ", 'minProperties': 1, 'propertyNames': "
      "{'pattern': '^((workload|cluster)([.][^.]+)*|policies([.][^.]+)+)$'}}", NULL },
    { "experiment.decide", "@experiment.decide@", NULL },
    { "experiment.decide.metric", "@metric@", NULL },
    { "experiment.decide.keep", LIST_OF("@experiment.decide.keep[]@"), NULL },
    { "experiment.decide.keep[].metric", "@metric@", NULL },
    { "*.keep[].at_*", "@limit@", NULL },
    { "*.keep[].between", "{" ARRAY ", 'minItems': 2, 'maxItems': 2, "
      "'items': @limit@}", NULL },
    { "experiment.output.tables", "{" ARRAY ", 'items': {'enum': ['summary', "
      "'compare', 'jobs', 'phases', 'timeline', 'decisions']}}", NULL },
    { "experiment.output.plots", "{" ARRAY ", 'items': @plot@}", NULL },
    { "experiment.expect[].metric", "@metric@", NULL },
    { "*.expect[].at_*", "@limit@", NULL },
    { "*.expect[].between", "{" ARRAY ", 'minItems': 2, 'maxItems': 2, "
      "'items': @limit@}", NULL },
    { "experiment.tune.metric", "@metric@", NULL },
    { "experiment.tune.over", "{" OBJECT ", 'minProperties': 1, 'maxProperties': 40, "
      "'propertyNames': {'pattern': '^((workload|cluster)([.][^.]+)*|policies([.][^.]+)+|"
      "[^.]+)$'}, 'additionalProperties': "
      ANY_OF("{" ARRAY ", 'minItems': 1}, @experiment.tune.over.split@, "
             "@experiment.tune.over.range@") "}", NULL },
    { "experiment.tune.over.split.nodes", "{" ARRAY ", 'minItems': 2, 'maxItems': 8}",
      NULL },
    { "experiment.tune.over.range.from", ONE_END, NULL },
    { "experiment.tune.over.range.to", ONE_END, NULL },
    { "experiment.border", LIST_OF("@experiment.border[]@"), NULL },
    { "experiment.border[].key", VARIED_KEY, NULL },
    { "experiment.border[].from", ONE_END, NULL },
    { "experiment.border[].to", ONE_END, NULL },
    { "experiment.sensitivity", "@experiment.sensitivity@", NULL },
    { "experiment.sensitivity.metric", "@metric@", NULL },
    { "experiment.sensitivity.sobol", "@experiment.sensitivity.sobol@", NULL },
    { "experiment.sensitivity.inputs", INPUTS, NULL },
    { "experiment.sweep.keys", INPUTS, NULL },
    { "experiment.input.from", ONE_END, NULL },
    { "experiment.input.to", ONE_END, NULL },
    { "experiment.train.objective", "@metric@", NULL },
    { "experiment.train.seeds", "@experiment.train.seeds@", NULL },
    { "experiment.train.held_out", "@experiment.train.seeds@", NULL },
    { "experiment.train.validation.seeds", "@experiment.train.seeds@", NULL },
    { "experiment.train.weights", "@weights@", NULL },
    { "experiment.train.features", "{" ARRAY ", 'items': {" STRING "}}",
      NULL },
    { "experiment.catalogue", NAMES_OR_ONE("@path@"), NULL },
    { "advice.catalogue", NAMES_OR_ONE("@path@"), NULL },
    { "experiment.policies[].*policy", "@policy name@", NULL },
    { "experiment.policies[].semantics", "@semantics@", NULL },
    { "experiment.policies[].*.semantics", "@semantics@", NULL },
    { "experiment.policies[].*preemption", "{" OBJECT ", 'required': ['cost']"
      ", 'additionalProperties': false, 'properties': {'cost': "
      ANY_OF("@time@, {" OBJECT ", 'minProperties': 1, 'maxProperties': 8, "
             "'propertyNames': {'pattern': '^([1-9][0-9]*gpu|more)$'}, "
             "'additionalProperties': @time@}") "}}", NULL },
    { "experiment.policies[].*rounds", "{" OBJECT ", 'required': ['length'], "
      "'additionalProperties': false, 'properties': {'length': @time@, "
      "'resolve_at_most_every': @time@, 'end_early': {'type': 'boolean'}}}",
      NULL },
    { "experiment.policies[].*with", "{" OBJECT ", 'propertyNames': {'pattern': "
      "'^(workload|cluster)([.][^.]+)*$'}}", NULL },
    { "experiment.policies[].*then", "{" OBJECT ", 'required': ['at'], 'minProperties': 2, "
      "'properties': {'at': @time@}}", NULL },
    { "experiment.policies[].*weights", ANY_OF("@path@, @weights@"), NULL },

    { "cluster.nodes[].nvme", "@bytes above 0@", NULL },
    { "cluster.nodes[].nvme_type", "@disk@", NULL },
    { "cluster.nodes[].gpus.type", "@gpu or generic@", NULL },
    { "cluster.nodes[].cpu.type", "@cpu@", NULL },
    { "cluster.nodes[].nics.type", "@nic@", NULL },
    { "cluster.nodes[].price", ANY_OF("{'enum': ['on-demand', 'reserved', "
      "'owned', 'spot']}, @price@, @time_series@"), NULL },
    { "cluster.nodes[].rent.available", "@time_series@", NULL },
    { "cluster.network.leaf", ANY_OF("{'type': 'integer', 'minimum': 1}, {"
      STRING ", 'pattern': '^0*[1-9][0-9]* *(nodes?)?$'}"), NULL },
    { "workload.arrival.rates", "@time_series@", NULL },
    { "cluster.carbon", ANY_OF("@carbon@, @time_series@"), NULL },
    { "cluster.electricity", "{" STRING ", 'pattern': "
      "'^([0-9]+[.]?[0-9]*|[.][0-9]+) *USD/kWh$'}", NULL },
    { "cluster.storage.transfer", "{" STRING ", 'pattern': "
      "'^([0-9]+[.]?[0-9]*|[.][0-9]+) *USD/GB$'}", NULL },
    { "cluster.failures.trace.file", "@path@", NULL },
    { "time_series.file", "@path@", NULL },
    { "time_series.points", LIST_OF("{" ARRAY ", 'minItems': 2, "
      "'maxItems': 2, 'items': [@time@, " FROM_0 "]}"), NULL },
    { "time_series.unit", "{'enum': ['USD/h', 'nodes', 'gCO2/kWh', '/s']}",
      NULL },

    { "workload.mix", LIST_OF("@mix@"), NULL },
    { "workload.arrival.times", LIST_OF("@time@"), NULL },
    { "workload.services", LIST_OF("@workload.services[]@"), NULL },
    { "workload.mix[].*.recipe", "@recipe@", NULL },
    { "workload.mix[].trace.gpus", "@drawn number@", NULL },
    { "workload.mix[].trace.duration", "@drawn time@", NULL },
    { "workload.mix[].trace.limit", "@drawn number@", NULL },
    { "workload.mix[].*.deadline", "@drawn time@", NULL },
    { "workload.mix[].*.limit", "@drawn time@", NULL },
    { "workload.mix[].*.steps", "@drawn number@", NULL },
    { "workload.mix[].net.model", "@net@", NULL },
    { "workload.mix[].*.model", "@llm@", NULL },
    { "workload.mix[].reward.model", "@llm@", NULL },
    { "workload.mix[].*.critic", ANY_OF("{'const': 'policy'}, @llm@"), NULL },
    { "workload.mix[].*.train", "@workload.mix[].train@", NULL },
    { "workload.mix[].*.rollout", "@workload.mix[].rollout@", NULL },
    { "workload.mix[].*.infer", "@workload.mix[].rollout@", NULL },
    { "workload.mix[].*.data", "@workload.mix[].data@", NULL },
    { "workload.mix[].train.cpu", "@workload.mix[].cpu@", NULL },
    { "workload.mix[].rollout.cpu", "@workload.mix[].cpu@", NULL },
    { "workload.mix[].*.loader", "@workload.mix[].loader@", NULL },
    { "workload.mix[].*.response", "@workload.mix[].response@", NULL },
    { "workload.mix[].*.reward", "@workload.mix[].reward@", NULL },
    { "workload.mix[].trace.role", "@workload.mix[].role@", NULL },
    { "workload.*.elastic", "@workload.trace.elastic@", NULL },
    { "workload.mix[].trace.rates", "@paces@", NULL },
    { "workload.trace.rates", ANY_OF("{'const': 'lengths'}, @paces@"), NULL },
    { "workload.*.packing", "@paces@", NULL },
    { "workload.mix[].train.types", NAMES_OR_ONE("@gpu or cpu@"), NULL },
    { "workload.mix[].rollout.types", NAMES_OR_ONE("@gpu or cpu@"), NULL },
    { "workload.*.types", NAMES_OR_ONE("@gpu or generic@"), NULL },
    { "workload.trace.elastic.scaling", ANY_OF("{'enum': ['linear', 'rates']}"
      ", {" OBJECT ", 'minProperties': 1, 'maxProperties': 1, "
      "'additionalProperties': false, 'properties': {'amdahl': "
      ANY_OF("{'type': 'number', 'minimum': 0, 'maximum': 1}, @percentage@")
      ", 'table': {" OBJECT ", 'minProperties': 1, 'propertyNames': "
      "{'pattern': '^[+]?[0-9]+$'}, 'additionalProperties': " ABOVE_0 "}}}"),
      NULL },
    { "workload.trace.resample", "@workload.trace.resample@", NULL },
    { "workload.trace.file", "@path@", NULL },
    { "workload.trace.where", "{'type': 'string'}", NULL },
    { "workload.trace.run_times", "{'type': 'object', 'minProperties': 1, "
      "'additionalProperties': {'type': 'string'}}", NULL },
    { "workload.trace.lengths", "@path@", NULL },

    { "workload.services[].model", ANY_OF("@llm@, @net@"), NULL },
    { "workload.services[].gpu", "@workload.mix[].rollout@", NULL },
    { "workload.services[].cpu", "@workload.mix[].data@", NULL },
    { "workload.services[].cpu_replicas", "@workload.services[].replicas@",
      NULL },
    { "workload.services[].requests.arrival", "@workload.arrival@", NULL },
    { "workload.services[].requests.prompt", "@drawn number@", NULL },
    { "workload.services[].requests.output", "@drawn number@", NULL },
    { "workload.services[].requests.trace.file", "@path@", NULL },

    { "catalogue.*.sources", "{" OBJECT ", 'additionalProperties': {" STRING
      "}}", NULL },
    { "catalogue.*.aliases", "@names@", NULL },
    { "catalogue.*.families", "@names@", NULL },
    { "catalogue.applications.speeds", "{" OBJECT ", 'minProperties': 1, "
      "'additionalProperties': @catalogue.applications.speeds@}", NULL },
    { "catalogue.applications.noise", "{" OBJECT ", 'required': ['until'], "
      "'minProperties': 2, 'propertyNames': {'pattern': '^(until|[0-9.]+)$'}, "
      "'additionalProperties': " LIST_OF("{'type': 'number'}") "}", NULL },
};

static const struct conf_shape fixed[] = {
    { "gpu or cpu", ANY_OF("{'const': 'cpu'}, @gpu or generic@"), NULL },
    { "path", "{" STRING ", 'minLength': 1}", NULL },
    { "names", "{" ARRAY ", 'items': {" STRING ", 'minLength': 1}}", NULL },
    { "weights", "{" OBJECT ", 'additionalProperties': "
      ANY_OF("{'type': 'number'}, " LIST_OF("{'type': 'number'}")) "}", NULL },
    { "paces", "{" OBJECT ", 'minProperties': 1, 'additionalProperties': "
      ABOVE_0 "}", NULL },
    { "weights of values", "{" OBJECT ", 'minProperties': 1, "
      "'additionalProperties': " FROM_0 "}", NULL },
    { "option name", "{'type': ['string', 'number', 'boolean'], 'pattern': "
      "'^[^,/ ]+$'}", NULL },
    { "limit", ANY_OF("{'type': 'number'}, @percentage@, @time@"), NULL },
    { "carbon", "{" STRING ", 'pattern': '^([0-9]+[.]?[0-9]*|[.][0-9]+) *"
      "(gCO2|g)/kWh$'}", NULL },
    { "drawn number", DRAWN("{'type': 'number'}", ABOVE_0), NULL },
    { "drawn time", DRAWN("@time@", "@time above 0@"), NULL },
    /* A sweep may bring what is not there, so only without one. */
    { "whole workload", "{'allOf': [@workload@, {'anyOf': [{'required': "
      "['trace']}, {'required': ['services']}, {'required': ['arrival', "
      "'mix'], 'anyOf': [{'required': ['jobs']}, {'required': ['for']}, "
      "{'properties': {'arrival': {'required': ['times']}}}]}]}]}", NULL },
    { "catalogue", "{" OBJECT ", 'minProperties': 1, 'additionalProperties': "
      "false, 'properties': {"
      "'gpus': {" OBJECT ", 'additionalProperties': @catalogue.gpus@}, "
      "'cpus': {" OBJECT ", 'additionalProperties': @catalogue.cpus@}, "
      "'links': {" OBJECT ", 'additionalProperties': @catalogue.links@}, "
      "'prices': {" OBJECT ", 'additionalProperties': @catalogue.prices@}, "
      "'llms': {" OBJECT ", 'additionalProperties': @catalogue.llms@}, "
      "'nets': {" OBJECT ", 'additionalProperties': @catalogue.nets@}, "
      "'applications': {" OBJECT ", 'additionalProperties': "
      "@catalogue.applications@}, "
      "'instances': {" OBJECT ", 'additionalProperties': "
      "@catalogue.instances@}}}", NULL },
    { "weights file", "{" OBJECT ", 'required': ['weights'], 'properties': "
      "{'weights': @weights@}}", NULL },
    { "cluster file", "{'if': {'required': ['cluster']}, 'then': {'properties'"
      ": {'cluster': @cluster@}, 'additionalProperties': false}, 'else': "
      "@cluster@}", NULL },
    { "workload file", "{'if': {'required': ['workload']}, 'then': "
      "{'properties': {'workload': @whole workload@}, 'additionalProperties': "
      "false}, 'else': @whole workload@}", NULL },
};

const char *const file_schema_kinds[] = {
    "experiment", "advise", "cluster", "workload", "catalogue", "weights",
    NULL
};

/* As above; `any` tells them apart as `clustersim validate` does. */
static const char *const roots[] = {
    "{'if': {" OBJECT ", 'required': ['catalogue']}, 'then': "
        "@open experiment@, 'else': @experiment@}",
    "@advice@", "@cluster file@", "@workload file@", "@catalogue@",
    "@weights file@",
};
static const char any[] =
    "{'type': 'object'}, {'if': {'anyOf': [{'required': ['policies']}, "
    "{'required': ['experiment']}]}, 'then': {'if': {'required': "
    "['catalogue']}, 'then': @open experiment@, 'else': @experiment@}, 'else':"
    " {'if': {'required': ['advise']}, 'then': @advice@, 'else': "
    "{'if': {'anyOf': [{'required': ['nodes']}, {'required': ['cluster']}]}, "
    "'then': @cluster file@, 'else': {'if': {'anyOf': [{'required': ['gpus']},"
    " {'required': ['cpus']}, {'required': ['links']}, {'required': "
    "['prices']}, {'required': ['llms']}, {'required': ['nets']}, "
    "{'required': ['applications']}, {'required': ['instances']}]}, "
    "'then': @catalogue@, 'else': "
    "{'if': {'required': ['weights']}, 'then': @weights file@, "
    "'else': @workload file@}}}}}";

/* ---- names -------------------------------------------------------------- */

/* What is gathered before the JSON is printed: definitions by name, and tables. */
struct making {
    struct arena *arena;
    const struct catalogue *catalogue;
    /* `fixed`, and one for each add_definition() */
    struct conf_shape definition[COUNT_OF(fixed) + 16];
    size_t definition_count;
    const struct conf_schema **table;
    size_t table_count;
};

/* Adds a definition, to which @NAME@ refers.  `open` is its form in files that
 * bring a catalogue of their own, where names are not known here; NULL: as `json`. */
static void add_definition(struct making *m, const char *name, const char *json,
                           const char *open)
{
    m->definition[m->definition_count++] =
        (struct conf_shape){ name, json, open };
}

/* Returns the list "'a', 'b'" with one more name.  Quadratic in the length, of
 * lists of some hundred names. */
static const char *add_name(struct making *m, const char *list,
                            const char *name)
{
    return text_format(m->arena, "%s%s'%s'", list, list[0] == '\0' ? "" : ", ",
                       name);
}

/* Adds an enumeration; `is_open`: files with a catalogue may have other names too. */
static void define_names(struct making *m, const char *name, const char *list,
                         bool is_open)
{
    add_definition(m, name, text_format(m->arena, "{'enum': [%s]}", list),
                   is_open ? "{" STRING ", 'minLength': 1}" : NULL);
}

/* Adds the other names of entry `i`, which files may use as well. */
static const char *add_aliases(struct making *m, const char *list,
                               enum catalogue_section section, size_t i)
{
    const struct conf_node *other = catalogue_aliases(m->catalogue, section,
                                                      i);

    for (size_t k = 0; other != NULL && k < conf_count(other); k++)
        list = add_name(m, list, conf_text(conf_item(other, k)));
    return list;
}

/* Returns the list of all names of a section of the catalogue, with aliases. */
static const char *section_names(struct making *m,
                                 enum catalogue_section section)
{
    const char *const *name = catalogue_names(m->catalogue, section);
    const char *list = "";

    for (size_t i = 0; name[i] != NULL; i++)
        list = add_aliases(m, add_name(m, list, name[i]), section, i);
    return list;
}

/* Returns the names of disks, or of network cards: the section of links has both,
 * and links within a node, which no file names. */
static const char *link_names(struct making *m, bool disks)
{
    const char *list = "";

    for (size_t i = 0; i < catalogue_link_count(m->catalogue); i++) {
        const struct link_type *link = catalogue_link_at(m->catalogue, i);
        bool is_nic = link->kind == LINK_IB || link->kind == LINK_ROCE ||
                      link->kind == LINK_ETHERNET;

        if (disks ? link->kind == LINK_DISK : is_nic)
            list = add_aliases(m, add_name(m, list, link->name),
                               CATALOGUE_LINKS, i);
    }
    return list;
}

static void define_hardware(struct making *m)
{
    const char *gpus = section_names(m, CATALOGUE_GPUS);

    define_names(m, "gpu or generic", add_name(m, gpus, "generic"), true);
    define_names(m, "cpu", section_names(m, CATALOGUE_CPUS), true);
    define_names(m, "nic", link_names(m, false), true);
    define_names(m, "disk", link_names(m, true), true);
    define_names(m, "llm", section_names(m, CATALOGUE_LLMS), true);
    define_names(m, "net", section_names(m, CATALOGUE_NETS), true);
}

static void define_metrics(struct making *m)
{
    const char *metrics = "", *plots = "";

    for (unsigned i = 0; i < METRIC_COUNT; i++)
        metrics = add_name(m, metrics, metric_info(NULL, (enum metric)i)->name);
    for (size_t i = 0; experiment_plot_names[i] != NULL; i++)
        plots = add_name(m, plots, experiment_plot_names[i]);
    define_names(m, "built-in metric", metrics, false);
    add_definition(m, "metric", "{'anyOf': [@built-in metric@, " OWN_NAME "]}", NULL);
    define_names(m, "plot", plots, false);
}

/* ---- by recipe, by policy ----------------------------------------------- */

/* ", {if the key has that value, then the map is of that table}": a link of a
 * chain.  The condition requires the key, or a map without it would meet every
 * `then`. */
static const char *format_case(struct making *m, const char *key,
                               const char *value, const char *table)
{
    return text_format(m->arena, ", {'if': {'required': ['%s'], 'properties': "
                       "{'%s': {'const': '%s'}}}, 'then': @%s@}", key, key,
                       value, table);
}

/* An entry of `mix:` is of the table of its recipe. */
static void define_mix(struct making *m)
{
    const char *recipes = "", *cases = "";

    for (size_t i = 0; i < recipe_count; i++) {
        const char *name = recipe_table[i]->name;

        recipes = add_name(m, recipes, name);
        cases = text_format(m->arena, "%s%s", cases,
                            format_case(m, "recipe", name,
                                        recipe_table[i]->schema->name));
    }
    define_names(m, "recipe", recipes, false);
    add_definition(m, "mix", text_format(m->arena, "{'allOf': [{" OBJECT ", "
           "'required': ['recipe'], 'properties': {'recipe': @recipe@}}%s]}",
           cases), NULL);
}

/* Of the words that a key may have, those that act on the policy; NULL: any value
 * may stand.  A word without effect is refused by the reader, so here too. */
static const char *const *acting_words(struct making *m,
                                       const struct cs_policy *policy,
                                       const struct conf_field *field)
{
    const char **word;
    size_t all = 0, count = 0;

    if (field->choices == NULL)
        return NULL;
    while (field->choices[all] != NULL)
        all++;
    word = arena_alloc(m->arena, all + 1, sizeof *word);
    for (size_t i = 0; i < all; i++)
        if (policy_accepts_value(policy, field->key, field->choices[i]))
            word[count++] = field->choices[i];
    return word;
}

/* Adds a table for the policy: its own keys, and those keys of the host that act
 * on it. */
static void add_policy_table(struct making *m, const struct cs_policy *policy)
{
    struct conf_schema *table = arena_alloc(m->arena, 1, sizeof *table);
    const struct conf_schema all = host_policy_keys(m->arena, policy);
    struct conf_field *field = arena_alloc(m->arena, all.count, sizeof *field);
    size_t count = 0;

    for (size_t i = 0; i < all.count; i++) {
        if (!policy_accepts_key(policy, all.fields[i].key))
            continue;
        field[count] = all.fields[i];
        field[count].choices = acting_words(m, policy, &all.fields[i]);
        count++;
    }
    *table = (struct conf_schema) { NULL, all.help, field, count };
    table->name = text_format(m->arena, "%s.%s", host_rules_schema.name,
                              policy->name);
    m->table[m->table_count++] = table;
}

/* An entry of `policies:` is a name, a file, a map with `policy`, or a map with
 * `exec`.  Keys of policies in files are not known before they are loaded, so a
 * map with a file may have any. */
static void define_policies(struct making *m)
{
    const char *names = "", *cases = "";
    const struct cs_policy *policy;

    for (size_t i = 0; (policy = registry_at(i)) != NULL; i++) {
        names = add_name(m, names, policy->name);
        cases = text_format(m->arena, "%s%s", cases,
                            format_case(m, "policy", policy->name,
                                        text_format(m->arena, "%s.%s",
                                                    host_rules_schema.name,
                                                    policy->name)));
        add_policy_table(m, policy);
    }
    define_names(m, "policy name", names, false);
    add_definition(m, "policy file", "{'type': 'string', 'pattern': '/|[.]c$|[.]so$'}", NULL);
    add_definition(m, "policy", text_format(m->arena, "{'anyOf': [@policy name@, @policy file@, "
           "{'allOf': [{" OBJECT ", 'required': ['policy'], 'properties': "
           "{'policy': {'anyOf': [@policy name@, @policy file@]}}}%s]}, "
           "{" OBJECT ", 'required': ['exec'], 'properties': {'policy': false, 'exec': "
           "{'anyOf': [{'type': 'string'}, {'type': 'array', 'minItems': 1, 'items': "
           "{'type': ['string', 'number']}}]}}}]}", cases), NULL);
}

/* Presets, each once: a preset has a row for each key that it sets. */
static void define_semantics(struct making *m)
{
    const struct semantics_row *row;
    const char *presets = "";

    for (size_t i = 0; (row = semantics_at(i)) != NULL; i++) {
        char quoted[80];

        snprintf(quoted, sizeof quoted, "'%s'", row->preset);
        if (strstr(presets, quoted) == NULL)
            presets = add_name(m, presets, row->preset);
    }
    define_names(m, "semantics", presets, false);
}

/* Returns the root for a kind, or the one that tells kinds apart. */
static const char *find_root(const char *kind)
{
    for (size_t i = 0; kind != NULL && file_schema_kinds[i] != NULL; i++)
        if (strcmp(kind, file_schema_kinds[i]) == 0)
            return roots[i];
    return any;
}

const char *file_schema(struct arena *arena, const struct catalogue *catalogue,
                        const char *kind)
{
    struct making m = { .arena = arena, .catalogue = catalogue };
    size_t policies = 0, tables;
    const struct conf_schema *const *all = schemas_all(arena, &tables);

    while (registry_at(policies) != NULL)
        policies++;
    m.table = arena_alloc(arena, tables + policies, sizeof *m.table);
    for (size_t i = 0; i < tables; i++)
        m.table[m.table_count++] = all[i];
    for (size_t i = 0; i < COUNT_OF(fixed); i++)
        add_definition(&m, fixed[i].name, fixed[i].json, fixed[i].open);
    define_hardware(&m);
    define_metrics(&m);
    define_mix(&m);
    define_policies(&m);
    define_semantics(&m);
    const struct conf_json json = {
        .title = text_format(arena, "clustersim: %s",
                             kind == NULL ? "any file" : kind),
        .root = find_root(kind),
        .tables = m.table, .table_count = m.table_count,
        .shapes = shapes, .shape_count = COUNT_OF(shapes),
        .definitions = m.definition,
        .definition_count = m.definition_count,
        .with_open = find_root(kind) == any || find_root(kind) == roots[0],
    };
    return conf_json_schema(arena, &json);
}

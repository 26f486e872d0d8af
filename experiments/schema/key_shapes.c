/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * key_shapes.c - what the readers of lists, names and whole tables take, as JSON
 * Schema.
 *
 * Each shape says what its reader takes; tests/schema.sh asks a stock validator about
 * all files of the tree, and of wrong ones both it and the reader.
 */
#include "experiments/schema/key_shapes.h"

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
#define ARRAY "'type': 'array'"
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

const struct conf_shape key_shapes[] = {
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

const size_t key_shape_count = COUNT_OF(key_shapes);

const struct conf_shape key_definitions[] = {
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

const size_t key_definition_count = COUNT_OF(key_definitions);

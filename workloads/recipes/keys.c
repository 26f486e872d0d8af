/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.c - the keys that recipes share: of roles, responses, rewards and
 * loaders.  Their meaning is in parts.c and roles.c.
 */
#include "workloads/recipes/recipe.h"

#include <stddef.h>

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

static const char *const numa_choices[] = {"local", "remote", NULL};
static const char *const send_choices[] = {"copy", "zero-copy", NULL};
static const char *const start_choices[] = {"process", "wake", NULL};
static const char *const reward_choices[] = {"cpu", "gpu", NULL};

#define ROLE(NAME, TYPE, MEMBER, MIN, MAX, CHOICES, HELP) \
    {NAME, TYPE, offsetof(struct role_keys, MEMBER), MIN, MAX, CONF_ABSENT, \
     CHOICES, HELP}
#define ROLE_GPUS \
    ROLE("gpus", CONF_INT, gpus, 1, ROLE_GPUS_MAX, NULL, \
         "GPUs the owner would like"), \
    ROLE("min", CONF_INT, min, 1, ROLE_GPUS_MAX, NULL, \
         "fewest GPUs it runs on; default: gpus"), \
    ROLE("max", CONF_INT, max, 1, ROLE_GPUS_MAX, NULL, \
         "most GPUs it can use; default: gpus")
#define ROLE_POOLS \
    ROLE("pool", CONF_TEXT, pool, 0, 0, NULL, \
         "the only pool of the cluster that it may use; default: any"), \
    ROLE("home", CONF_TEXT, home, 0, 0, NULL, \
         "its own pool, for policies that give each role one (`explain " \
         "POLICY` says it); default: `pool`, else the pool that bears the " \
         "role's name, else none: any pool")
#define ROLE_PLACE \
    ROLE("types", CONF_NODE, types, 0, 0, NULL, \
         "GPU types that it may use; default: all that fit.  Policies that " \
         "forecast (`explain POLICY` says it) try each, and the order says " \
         "nothing; the others take the first of the list that has room"), \
    ROLE_POOLS, \
    ROLE("cores", CONF_INT, cores, 0, 1e6, NULL, \
         "cores per GPU; of a role without GPUs: in all"), \
    ROLE("memory", CONF_BYTES, memory_bytes, 0, 1e18, NULL, \
         "host memory per GPU; of a role without GPUs: in all")
#define ROLE_START \
    ROLE("start", CONF_CHOICE, start, 0, 0, start_choices, \
         "what a lease after the first costs beside its bytes: a new " \
         "process, or one that sleeps is woken")

static const struct conf_field train_fields[] = {
    ROLE_GPUS, ROLE_PLACE, ROLE_START};
static const struct conf_field engine_fields[] = {
    ROLE_GPUS, ROLE_PLACE, ROLE_START,
    ROLE("tp", CONF_INT, tp, 1, 64, NULL, "GPUs of one replica; default 1"),
    ROLE("precision", CONF_CHOICE, precision, 0, 0, precision_choices,
         "of the weights served; default: the entry's"),
    ROLE("concurrency", CONF_REAL, concurrency, 0, 1e6, NULL,
         "responses in flight per replica; default: what memory holds"),
};
static const struct conf_field data_fields[] = {
    ROLE_POOLS,
    ROLE("cores", CONF_INT, cores, 1, 1e6, NULL, "cores in all"),
    ROLE("memory", CONF_BYTES, memory_bytes, 0, 1e18, NULL,
         "host memory in all; default: 2 GB a core"),
};
static const struct conf_field trace_fields[] = {ROLE_PLACE};

const struct conf_schema role_train_schema = {
    "workload.mix[].train", "GPUs that train", train_fields,
    COUNT(train_fields)};
const struct conf_schema role_engine_schema = {
    "workload.mix[].rollout", "GPUs that generate (infer: of batch-infer)",
    engine_fields, COUNT(engine_fields)};
const struct conf_schema role_data_schema = {
    "workload.mix[].data", "cores that prepare data and score", data_fields,
    COUNT(data_fields)};
const struct conf_schema role_trace_schema = {
    "workload.trace.role", "what a GPU of a trace job brings with it",
    trace_fields, COUNT(trace_fields)};
const struct conf_schema role_whole_schema = {
    "workload.mix[].role", "what a GPU of a job of recipe trace brings with "
    "it", trace_fields, COUNT(trace_fields)};

#define RESPONSE(NAME, MIN, MAX, FALLBACK, HELP) \
    {#NAME, CONF_REAL, offsetof(struct response_keys, NAME), MIN, MAX, \
     FALLBACK, NULL, HELP}
static const struct conf_field response_fields[] = {
    RESPONSE(mean, 1, 1e7, NULL, "mean tokens, before the cut at max"),
    RESPONSE(cv, 0, 100, NULL, "standard deviation over mean (lognormal)"),
    RESPONSE(max, 1, 1e7, NULL, "tokens at which generation stops"),
    RESPONSE(partial, 1, 1e7, CONF_ABSENT, "tokens of one response in one "
             "rollout at most, the rest in the next; default: all of it"),
};
const struct conf_schema response_schema = {
    "workload.mix[].response", "lengths of responses", response_fields,
    COUNT(response_fields)};

static const struct conf_field reward_fields[] = {
    {"on", CONF_CHOICE, offsetof(struct reward_keys, on), 0, 0, "cpu",
     reward_choices, "where responses are scored"},
    {"core_time", CONF_TIME, offsetof(struct reward_keys, core_time_ns), 0,
     1e6, CONF_ABSENT, NULL, "cpu: time of one core per response"},
    {"model", CONF_TEXT, offsetof(struct reward_keys, model), 0, 0,
     CONF_ABSENT, NULL, "gpu: reward model, on the rollout role"},
};
const struct conf_schema reward_schema = {
    "workload.mix[].reward", "how responses are scored", reward_fields,
    COUNT(reward_fields)};

static const struct conf_field loader_fields[] = {
    {"kind", CONF_CHOICE, offsetof(struct loader_keys, kind), 0, 0,
     CONF_ABSENT, loader_kind_choices,
     "what is read and prepared; default: what the recipe usually reads"},
    {"from", CONF_CHOICE, offsetof(struct loader_keys, from), 0, 0,
     "storage", loader_from_choices,
     "where the data set lies: shared storage, drives of the nodes that "
     "read, or their memory"},
    {"size", CONF_REAL, offsetof(struct loader_keys, size), 0, 1e12,
     CONF_ABSENT, NULL, "tokens of a text, pixels of an image, seconds of a "
     "video; default for tokens and text: sequence"},
    {"per_sequence", CONF_REAL, offsetof(struct loader_keys, per_sequence),
     0, 1e6, "1", NULL, "items in one training sequence"},
    {"workers", CONF_INT, offsetof(struct loader_keys, workers), 0, 1e5, "0",
     NULL, "loader processes per GPU; 0: one per core"},
    {"files", CONF_CHOICE, offsetof(struct loader_keys, files), 0, 0,
     CONF_ABSENT, loader_files_choices,
     "a file for each item, read at random, or long files; default: items for "
     "image and video, else shards"},
    {"dataset", CONF_BYTES, offsetof(struct loader_keys, dataset_bytes), 1,
     1e18, CONF_ABSENT, NULL, "size of the data set: from the second epoch on "
     "a part is found in the page cache; default: never read again"},
    {"numa", CONF_CHOICE, offsetof(struct loader_keys, numa), 0, 0, "local",
     numa_choices, "host buffers at the socket of the GPU, or at the other"},
    {"send", CONF_CHOICE, offsetof(struct loader_keys, send), 0, 0, "copy",
     send_choices, "with data nodes: how tensors reach the GPUs, through host "
     "memory and a core, or past both"},
};
const struct conf_schema loader_schema = {
    "workload.mix[].loader", "storage and CPU work behind a sequence",
    loader_fields, COUNT(loader_fields)};

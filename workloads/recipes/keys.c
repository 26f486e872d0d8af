/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * keys.c - the keys that recipes share: of roles, responses, rewards and
 * loaders.  Their meaning is in parts.c and roles.c.
 */
#include "workloads/recipes/recipe.h"

#include <stddef.h>

static const char *const numa_choices[] = {"local", "remote", NULL};
static const char *const send_choices[] = {"copy", "zero-copy", NULL};
static const char *const start_choices[] = {"process", "wake", NULL};
static const char *const reward_choices[] = {"cpu", "gpu", NULL};

/* Groups of keys, of which the tables below are made.  Each names a member of
 * struct role_keys. */
#define ROLE_GPUS \
    CONF_KEY("gpus", CONF_INT, role_keys, gpus, CONF_ABSENT, \
             "GPUs the owner would like", .min = 1, .max = ROLE_GPUS_MAX), \
    CONF_KEY("min", CONF_INT, role_keys, min, CONF_ABSENT, \
             "fewest GPUs it runs on; default: gpus", \
             .min = 1, .max = ROLE_GPUS_MAX), \
    CONF_KEY("max", CONF_INT, role_keys, max, CONF_ABSENT, \
             "most GPUs it can use; default: gpus", \
             .min = 1, .max = ROLE_GPUS_MAX)
#define ROLE_POOLS \
    CONF_KEY("pool", CONF_TEXT, role_keys, pool, CONF_ABSENT, \
             "the only pool of the cluster that it may use; default: any"), \
    CONF_KEY("home", CONF_TEXT, role_keys, home, CONF_ABSENT, \
             "its own pool, for policies that give each role one (`explain " \
             "POLICY` says it); default: `pool`, else the pool that bears " \
             "the role's name, else none: any pool")
#define ROLE_PLACE \
    CONF_KEY("types", CONF_NODE, role_keys, types, CONF_ABSENT, \
             "GPU types that it may use, and `cpu`, for cores in the place " \
             "of GPUs (first or last); default: all that fit, then `cpu` if " \
             "that key is there.  Policies " \
             "that forecast (`explain POLICY` says it) try each, and the " \
             "order says nothing; the others take the first of the list that " \
             "has room"), \
    ROLE_POOLS, \
    CONF_KEY("cores", CONF_INT, role_keys, cores, CONF_ABSENT, \
             "cores per GPU; of a role without GPUs: in all", .max = 1e6), \
    CONF_KEY("memory", CONF_BYTES, role_keys, memory_bytes, CONF_ABSENT, \
             "host memory per GPU; of a role without GPUs: in all", \
             .max = 1e18)
#define ROLE_CORES \
    CONF_KEY("cpu", CONF_NODE, role_keys, cpu, CONF_ABSENT, \
             "what it takes in the place of GPUs: cores, memory, process_start; " \
             "absent: it needs GPUs")
#define ROLE_PROCESS_START \
    CONF_KEY("process_start", CONF_TIME, role_keys, process_start_ns, CONF_ABSENT, \
             "what a new process takes until it works, its bytes apart; default: as measured " \
             "on GPUs, with `cpu` also on cores, and none for cores that prepare data", \
             .max = 86400)
#define ROLE_START \
    CONF_KEY("start", CONF_CHOICE, role_keys, start, CONF_ABSENT, \
             "what a lease after the first costs beside its bytes: a new " \
             "process, or one that sleeps is woken", .choices = start_choices), \
    ROLE_PROCESS_START

static const struct conf_field train_fields[] = {
    ROLE_GPUS,
    ROLE_PLACE,
    ROLE_CORES,
    ROLE_START,
};
static const struct conf_field engine_fields[] = {
    ROLE_GPUS,
    ROLE_PLACE,
    ROLE_CORES,
    ROLE_START,
    CONF_KEY("tp", CONF_INT, role_keys, tp, CONF_ABSENT,
             "GPUs of one replica; default 1", .min = 1, .max = 64),
    CONF_KEY("precision", CONF_CHOICE, role_keys, precision, CONF_ABSENT,
             "of the weights served; default: the entry's",
             .choices = precision_choices),
    CONF_KEY("concurrency", CONF_REAL, role_keys, concurrency, CONF_ABSENT,
             "responses in flight per replica; default: what memory holds",
             .max = 1e6),
    CONF_KEY("async_scheduling", CONF_BOOL, role_keys, async_scheduling, "false",
             "the engine's host prepares a step while the GPU does the one before (vLLM from 0.14, "
             "SGLang from 0.5.9); false: each step waits for it"),
};
static const struct conf_field data_fields[] = {
    ROLE_POOLS,
    CONF_KEY("cores", CONF_INT, role_keys, cores, CONF_ABSENT, "cores in all",
             .min = 1, .max = 1e6),
    CONF_KEY("memory", CONF_BYTES, role_keys, memory_bytes, CONF_ABSENT,
             "host memory in all; default: 2 GB a core", .max = 1e18),
    ROLE_PROCESS_START,
};
static const struct conf_field cores_fields[] = {
    CONF_KEY("cores", CONF_INT, cores_keys, cores, CONF_REQUIRED,
             "cores in all, of one node", .min = 1, .max = 1e5),
    CONF_KEY("memory", CONF_BYTES, cores_keys, memory_bytes, CONF_ABSENT,
             "host memory in all; default: 16 GB and what the law needs, with "
             "the cache of 32 responses", .max = 1e18),
    CONF_KEY("process_start", CONF_TIME, cores_keys, process_start_ns, CONF_ABSENT,
             "what a new process takes on cores until it works, its bytes apart; default: "
             "that of the role if it is said, else as a server's that is measured",
             .max = 86400),
};
static const struct conf_field trace_fields[] = {
    ROLE_PLACE,
};

const struct conf_schema role_train_schema =
    CONF_SCHEMA("workload.mix[].train", "GPUs that train", train_fields);
const struct conf_schema role_engine_schema =
    CONF_SCHEMA("workload.mix[].rollout",
                "GPUs that generate (infer: of batch-infer)", engine_fields);
const struct conf_schema role_data_schema =
    CONF_SCHEMA("workload.mix[].data",
                "cores that prepare data and score", data_fields);
const struct conf_schema role_cores_schema =
    CONF_SCHEMA("workload.mix[].cpu",
                "cores that compute in the place of GPUs", cores_fields);
const struct conf_schema role_trace_schema =
    CONF_SCHEMA("workload.trace.role",
                "what a GPU of a trace job brings with it", trace_fields);
const struct conf_schema role_whole_schema =
    CONF_SCHEMA("workload.mix[].role",
                "what a GPU of a job of recipe trace brings with "
                "it",
                trace_fields);

static const struct conf_field response_fields[] = {
    CONF_KEY("mean", CONF_REAL, response_keys, mean, CONF_REQUIRED,
             "mean tokens, before the cut at max", .min = 1, .max = 1e7),
    CONF_KEY("cv", CONF_REAL, response_keys, cv, CONF_REQUIRED,
             "standard deviation over mean (lognormal)", .max = 100),
    CONF_KEY("max", CONF_REAL, response_keys, max, CONF_REQUIRED,
             "tokens at which generation stops", .min = 1, .max = 1e7),
    CONF_KEY("partial", CONF_REAL, response_keys, partial, CONF_ABSENT,
             "tokens of one response in one rollout at most, the rest in the "
             "next; default: all of it", .min = 1, .max = 1e7),
};
const struct conf_schema response_schema =
    CONF_SCHEMA("workload.mix[].response",
                "lengths of responses", response_fields);

static const struct conf_field reward_fields[] = {
    CONF_KEY("on", CONF_CHOICE, reward_keys, on, "cpu",
             "where responses are scored", .choices = reward_choices),
    CONF_KEY("core_time", CONF_TIME, reward_keys, core_time_ns, CONF_ABSENT,
             "cpu: time of one core, of core_speed 1, per response", .max = 1e6),
    CONF_KEY("model", CONF_TEXT, reward_keys, model, CONF_ABSENT,
             "gpu: reward model, on the rollout role"),
};
const struct conf_schema reward_schema =
    CONF_SCHEMA("workload.mix[].reward",
                "how responses are scored", reward_fields);

static const char *const epoch_choices[] = { "stay", "fork", "spawn", NULL };

static const struct conf_field loader_fields[] = {
    CONF_KEY("kind", CONF_CHOICE, loader_keys, kind, CONF_ABSENT,
             "what is read and prepared; default: what the recipe usually "
             "reads", .choices = loader_kind_choices),
    CONF_KEY("from", CONF_CHOICE, loader_keys, from, "storage",
             "where the data set lies: shared storage, drives of the nodes "
             "that read, or their memory", .choices = loader_from_choices),
    CONF_KEY("size", CONF_REAL, loader_keys, size, CONF_ABSENT,
             "tokens of a text, pixels of an image, seconds of a video; "
             "default for tokens and text: sequence", .max = 1e12),
    CONF_KEY("per_sequence", CONF_REAL, loader_keys, per_sequence, "1",
             "items in one training sequence", .max = 1e6),
    CONF_KEY("workers", CONF_INT, loader_keys, workers, "0",
             "loader processes per GPU; 0: one per core", .max = 1e5),
    CONF_KEY("collect_per_s", CONF_REAL, loader_keys, collect_per_s, CONF_ABSENT,
             "items a second that the process of one GPU collects from its "
             "workers; default: 1602 for image and video, else no limit",
             .min = 1, .max = 1e9),
    CONF_KEY("files", CONF_CHOICE, loader_keys, files, CONF_ABSENT,
             "a file for each item, read at random, or long files; default: "
             "items for image and video, else shards",
             .choices = loader_files_choices),
    CONF_KEY("dataset", CONF_BYTES, loader_keys, dataset_bytes, CONF_ABSENT,
             "size of the data set: from the second epoch on a part is found "
             "in the page cache; default: never read again",
             .min = 1, .max = 1e18),
    CONF_KEY("cache", CONF_CHOICE, loader_keys, cache, "page",
             "what of `dataset` host memory keeps: what Linux' page cache leaves, "
             "or what was read first, for good",
             .choices = loader_cache_choices),
    CONF_KEY("numa", CONF_CHOICE, loader_keys, numa, "local",
             "host buffers at the socket of the GPU, or at the other",
             .choices = numa_choices),
    CONF_KEY("pinned", CONF_BOOL, loader_keys, pinned, "true",
             "host buffers are pinned; if not, GPUs wait for copies at 48% of the "
             "rate of PCIe"),
    CONF_KEY("epoch", CONF_CHOICE, loader_keys, epoch, "stay",
             "workers at the end of an epoch of `dataset`: they stay, or GPUs wait "
             "until new ones have started, by fork or spawn, and prepared a batch",
             .choices = epoch_choices),
    CONF_KEY("worker_start", CONF_TIME, loader_keys, start_ns, "3.3s",
             "of `epoch: spawn`: start of a worker, one after the other; 1s to 30s "
             "are measured, by the data set's index", .max = 3600),
    CONF_KEY("send", CONF_CHOICE, loader_keys, send, "copy",
             "with data nodes: how tensors reach the GPUs, through host memory "
             "and a core, or past both", .choices = send_choices),
};
const struct conf_schema loader_schema =
    CONF_SCHEMA("workload.mix[].loader",
                "storage and CPU work behind a sequence", loader_fields);

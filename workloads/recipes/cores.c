/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cores.c - roles that may compute on cores in the place of GPUs.
 *
 * A role computes either on GPUs or on cores, never on both: no published
 * measurement says how a pass of a language model divides between them.
 */
#include "models/laws/cores.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/laws/compute.h"
#include "models/laws/memory.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "workloads/recipes/recipe.h"

/* assumption: responses whose cache the memory of a role holds by default. */
#define RESPONSES 32.0

#define GB 1e9

/* Returns the place of `cpu` in `types`, from 0 on; -1: it is not there.
 * `types` may be one word or a list; *count is its length. */
static int find_cpu(const struct conf_node *types, size_t *count)
{
    bool is_list = types != NULL && conf_kind(types) == CONF_LIST;

    *count = types == NULL ? 0 : is_list ? conf_count(types) : 1;
    for (size_t i = 0; i < *count; i++) {
        const struct conf_node *item = is_list ? conf_item(types, i) : types;

        if (conf_kind(item) == CONF_SCALAR &&
            strcmp(conf_text(item), "cpu") == 0)
            return (int)i;
    }
    return -1;
}

/* A role on cores alone has no keys of GPUs, and states its cores and memory in
 * `cpu`, and its start there or beside it, not twice. False: one is written. */
static bool check_no_gpu_keys(const struct draft *draft,
                              const struct conf_node *conf)
{
    static const char *const keys[] = {"gpus", "min", "max", "tp", "async_scheduling"};
    static const char *const sums[] = {"cores", "memory"};

    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (!conf_acts(conf, keys[i], true, "needs a GPU in `types`",
                       draft->world->err))
            return false;
    for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
        if (!conf_acts(conf, sums[i], true, "needs a GPU in `types`: those of "
                       "cores stand in `cpu`", draft->world->err))
            return false;
    return conf_acts(conf, "process_start",
                     conf_get(conf_get(conf, "cpu"), "process_start") != NULL,
                     "needs a GPU in `types` beside that of `cpu`", draft->world->err);
}

/* Do `types` and `cpu` agree?  A recipe without a law of cores takes no `cpu`;
 * `types`, if written, must name cpu, first or last: a role tries cores before
 * all GPUs or after them. */
static bool check_types(const struct draft *draft,
                        const struct conf_node *conf,
                        const struct role_spec *role, int at, size_t count)
{
    struct err *err = draft->world->err;
    struct err_pos pos = conf_pos(conf_get(conf, "cpu"));

    if (!draft->on_cores) {
        err_set(err, ERR_RANGE, pos,
                "cpu of role %s of %s cannot be had, because laws of cores "
                "exist for batch-infer, pretrain, sft, lora and multimodal "
                "alone", role->name, draft->form->name);
        return err_hint(err, "Leave cpu out.");
    }
    if (count > 0 && at < 0) {
        err_set(err, ERR_SCHEMA, pos,
                "cpu of role %s of %s has no effect: types does not name cpu",
                role->name, draft->form->name);
        return err_hint(err, "Add cpu to types, or leave types out.");
    }
    if (at <= 0 || (size_t)at + 1 == count)
        return true;
    err_set(err, ERR_RANGE, conf_pos(conf_get(conf, "types")),
            "cpu must be the first or the last of types of role %s of %s",
            role->name, draft->form->name);
    return err_hint(err, "The order of the GPUs is free.");
}

/* Does the memory that `cpu` states hold what the law needs?  False, with err,
 * if not. */
static bool check_memory(const struct draft *draft,
                         const struct conf_node *conf,
                         const struct role_spec *role, double need_bytes)
{
    double bytes = (double)role->on_cores.memory_bytes;

    if (bytes >= need_bytes)
        return true;
    err_set(draft->world->err, ERR_RANGE,
            conf_pos(conf_get(conf_get(conf, "cpu"), "memory")),
            "role %s of %s needs %.1f GB of host memory on cores, found %.1f "
            "GB", role->name, draft->form->name, need_bytes / GB, bytes / GB);
    return err_hint(draft->world->err, "It takes a smaller model, fewer bits, "
                                       "or more memory.");
}

/* `types: [cpu]` alone makes a role without GPUs.  `cpu` beside GPU types makes
 * a role that runs on either, on cores first if cpu stands first. */
bool draft_role_cores(struct draft *draft, const struct conf_node *conf,
                      struct role_keys *keys,
                      const struct cores_need *need, struct role_spec *role)
{
    struct cores_keys own = {.memory_bytes = -1.0, .process_start_ns = -1};
    size_t count;
    int at = find_cpu(keys->types, &count);

    if (keys->cpu == NULL)
        return true;            /* demand.c refuses a type cpu */
    if (!check_types(draft, conf, role, at, count) ||
        !conf_fill(keys->cpu, &role_cores_schema, &own, draft->world->err))
        return false;
    role->on_cores = (struct role_cores){
        .cores = (uint32_t)own.cores,
        .memory_bytes = (int64_t)ceil(own.memory_bytes >= 0.0
                                          ? own.memory_bytes
                                          : need->usual_bytes),
        .load_bytes = need->load_bytes,
        .first = at == 0,
    };
    keys->cores_start_ns = own.process_start_ns;
    if (!check_memory(draft, conf, role, need->least_bytes))
        return false;
    if (at != 0 || count > 1)
        return true;
    role->gpus = role->gpus_min = role->gpus_max = 0;
    role->cores = role->on_cores.cores;
    role->memory_bytes = role->on_cores.memory_bytes;
    role->gpu_memory_bytes = role->save_bytes = 0.0;
    role->load_bytes = need->load_bytes;
    return check_no_gpu_keys(draft, conf);
}

/* Host memory holds the process, the weights and the KV cache: of one response
 * at least, of RESPONSES by default. */
struct cores_need cores_need_engine(const struct rollout_shape *shape,
                                    double context_tokens)
{
    double weights = memory_weight_bytes(shape->llm, shape->precision);
    double cache = compute_attended_tokens(shape->llm, context_tokens) *
                   memory_kv_bytes_per_token(shape->llm);

    assert(context_tokens > 0.0);
    return (struct cores_need){
        .least_bytes = HOST_BYTES_PER_GPU + weights + cache,
        .usual_bytes = HOST_BYTES_PER_GPU + weights + RESPONSES * cache,
        .load_bytes = weights,
    };
}

/* All state of training lies in host memory, and is what a lease loads. */
struct cores_need cores_need_train(const struct train_shape *shape)
{
    struct memory_need need = cores_train_memory(shape);
    double bytes = HOST_BYTES_PER_GPU + need.total;

    assert(need.total > 0.0);
    return (struct cores_need){bytes, bytes, need.weights + need.optimizer};
}

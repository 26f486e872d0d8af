/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * infer.c - batch-infer: a pile of prompts, no latency to keep.
 *
 * A run of the graph serves one batch of prompts: by continuous batching if
 * `response` is given, by a forward pass (classification, embedding, scoring)
 * if not.
 */
#include "sim/config/conf.h"
#include "workloads/recipes/recipe.h"

static const struct conf_field infer_fields[] = {
    KEYS_OF_ENTRY,
    KEYS_OF_MODEL,
    CONF_KEY("steps", CONF_NODE, recipe_keys, steps, CONF_REQUIRED,
             "batches of a job, a number or a distribution"),
    CONF_KEY("prompts", CONF_REAL, recipe_keys, prompts, CONF_REQUIRED,
             "prompts of a batch", .min = 1, .max = 1e9),
    CONF_KEY("prompt_tokens", CONF_REAL, recipe_keys, prompt_tokens,
             CONF_REQUIRED, "mean tokens of a prompt", .min = 1, .max = 1e7),
    CONF_KEY("response", CONF_NODE, recipe_keys, response, CONF_ABSENT,
             "lengths of responses: mean, cv, max; absent: a forward pass"),
    CONF_KEY("infer", CONF_NODE, recipe_keys, infer, CONF_REQUIRED,
             "GPUs: gpus, min, max, types, pool, cores, memory, cpu, start, "
             "tp, precision, concurrency, async_scheduling"),
};
const struct conf_schema recipe_batch_infer_schema =
    CONF_SCHEMA("workload.mix[].batch-infer",
                "batches of prompts", infer_fields);

#define DECODES_NOTHING "needs `response`: a forward pass decodes nothing"

/* Expands an entry: one role `infer` and one phase.  A forward pass, without
 * `response`, holds its replicas as an engine does: tp, and memory for one
 * response whose context is the prompt. */
static bool expand_entry(const struct recipe *recipe, const struct world *world,
                         const struct conf_node *conf, struct entry *out)
{
    struct draft draft;
    struct response_keys response = {0};
    struct phase_law law = {.kind = LAW_FORWARD, .repeats = 1};
    struct rollout_shape *shape = &law.rollout;
    uint32_t role;

    if (!draft_begin(&draft, world, conf, recipe))
        return false;
    draft.on_cores = true;
    if (draft.keys.response != NULL) {
        law.kind = LAW_ROLLOUT;
        if (!draft_response(&draft, &response) ||
            !conf_acts(draft.keys.response, "partial", true,
                       "needs a rollout, of dpo, grpo or ppo", world->err))
            return false;
    } else if (!conf_acts(draft.keys.infer, "concurrency", true, DECODES_NOTHING, world->err) ||
               !conf_acts(draft.keys.infer, "async_scheduling", true, DECODES_NOTHING,
                          world->err)) {
        return false;
    }
    shape->llm = draft.llm;
    shape->responses = draft.keys.prompts;
    shape->responses_per_prompt = 1.0;
    shape->prompt_tokens = draft.keys.prompt_tokens;
    shape->response_mean_tokens = response.mean;
    shape->response_cv = response.cv;
    shape->response_max_tokens = response.max;
    if (!draft_engine_role(&draft, "infer", draft.keys.infer,
                           draft.keys.prompt_tokens + response.max,
                           START_PROCESS, shape, &role))
        return false;
    law.sequences = draft.keys.prompts;
    /* LAW_FORWARD reads its model here; LAW_ROLLOUT reads only `rollout`. */
    law.train.llm = draft.llm;
    law.train.precision = shape->precision;
    law.train.sequence_tokens = draft.keys.prompt_tokens;
    law.train.micro_batch = 1.0;
    law.train.tp = shape->tp;
    law.train.pp = 1;
    draft_phase(&draft, PHASE_INFER, "infer", role, 0, &law);
    *out = draft.entry;
    return true;
}

const struct recipe recipe_batch_infer = {
    "batch-infer", "batches of prompts, generated or classified",
    &recipe_batch_infer_schema, expand_entry, 0};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_align.c - dpo and grpo: generate, score, train, hand weights over.
 *
 * One step of the online form (Rafailov et al. 2023, arXiv 2305.18290; Shao et
 * al. 2024, 2402.03300, for GRPO):
 *
 *   data -> rollout -> reward ----> train -> sync
 *               \---> reference --/     \--> checkpoint, every so often
 *
 * `rollout` generates `responses` for each of `prompts`; `reward` scores them
 * on cores of `data` or with a model on the rollout GPUs; `reference` is the
 * forward pass of the frozen model on the train GPUs.  DPO trains on `pairs`
 * of a chosen and a rejected response per prompt, GRPO on all responses.
 * Offline DPO has its pairs already: data, reference, train.
 */
#include "workloads/recipe.h"

#include <assert.h>

#include "models/loader.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))
#define DATA_CORES 8u           /* assumption; claim A3 names 48 for a node */

static const char *const generation_choices[] = {"online", "offline", NULL};
enum generation { GENERATION_ONLINE, GENERATION_OFFLINE };

#define KEYS_OF_ALIGNMENT(PROMPTS, RESPONSES, REFERENCE) \
    KEYS_OF_ENTRY, KEYS_OF_MODEL, KEYS_OF_TRAINING("lora"), \
    KEY("prompts", CONF_REAL, prompts, 1, 1e7, PROMPTS, NULL, \
        "prompts per step"), \
    KEY("responses", CONF_REAL, responses, 2, 1024, RESPONSES, NULL, \
        "responses per prompt"), \
    KEY("prompt_tokens", CONF_REAL, prompt_tokens, 1, 1e7, NULL, NULL, \
        "mean tokens of a prompt"), \
    KEY("response", CONF_NODE, response, 0, 0, NULL, NULL, \
        "lengths of responses: mean, cv, max, in tokens"), \
    KEY("reward", CONF_NODE, reward, 0, 0, CONF_ABSENT, NULL, \
        "scoring: on, core_time or model; default: none"), \
    KEY("reference", CONF_BOOL, reference, 0, 0, REFERENCE, NULL, \
        "a forward pass of the frozen model on every sequence"), \
    KEY("epochs", CONF_INT, epochs, 1, 100, "1", NULL, \
        "passes over the sequences of a step"), \
    KEY("checkpoint_every", CONF_INT, checkpoint_every, 0, 1e9, "10", NULL, \
        "steps between checkpoints; 0: none"), \
    KEY("rollout", CONF_NODE, rollout, 0, 0, CONF_ABSENT, NULL, \
        "GPUs that generate: gpus, min, max, types, pool, cores, memory, " \
        "start, tp, precision, concurrency"), \
    KEY("loader", CONF_NODE, loader, 0, 0, CONF_ABSENT, NULL, \
        "from: where the prompts (offline: the pairs) lie"), \
    KEY("data", CONF_NODE, data, 0, 0, CONF_ABSENT, NULL, \
        "cores that sample, tokenize, score: cores, memory, pool")

static const struct conf_field dpo_fields[] = {
    KEYS_OF_ALIGNMENT(NULL, "2", "true"),
    KEY("generation", CONF_CHOICE, generation, 0, 0, "online",
        generation_choices, "responses made in each step, or read"),
    KEY("pairs", CONF_REAL, pairs, 1, 1024, "1", NULL,
        "pairs trained on per prompt"),
};
static const struct conf_field grpo_fields[] = {
    KEYS_OF_ALIGNMENT(NULL, "8", "true")};

const struct conf_schema recipe_dpo_schema = {
    "workload.mix[].dpo", "direct preference optimization", dpo_fields,
    COUNT(dpo_fields)};
const struct conf_schema recipe_grpo_schema = {
    "workload.mix[].grpo", "group relative policy optimization", grpo_fields,
    COUNT(grpo_fields)};

/* What both forms are made of. */
struct align {
    struct draft draft;
    struct response_keys response;
    double mean_tokens;         /* of a sequence, after the cut */
    double max_tokens;
    double train_sequences;     /* per step */
    struct train_shape mean, longest;
    uint32_t rollout, train, data;          /* roles */
    int from;                   /* enum loader_from */
    struct rollout_shape engine;
};

static bool begin(struct align *align, const struct world *world,
                  const struct conf_node *conf, const struct recipe *recipe)
{
    struct draft *draft = &align->draft;
    const struct recipe_keys *keys = &draft->keys;

    if (!draft_begin(draft, world, conf, recipe) ||
        !draft_response(draft, &align->response))
        return false;
    align->mean_tokens = keys->prompt_tokens +
                         response_mean_cut(&align->response);
    align->max_tokens = keys->prompt_tokens + align->response.max;
    align->mean = draft_train_shape(draft, align->mean_tokens);
    align->longest = draft_train_shape(draft, align->max_tokens);
    align->train_sequences = keys->prompts * (keys->pairs > 0.0
                                                  ? 2.0 * keys->pairs
                                                  : keys->responses);
    return true;
}

/* A frozen copy beside the trained weights; adapters are switched off and
 * need none.  ZeRO-3 divides it too. */
static double reference_bytes(const struct align *align)
{
    const struct train_shape *shape = &align->mean;
    double bytes = memory_weight_bytes(shape->llm, shape->precision);

    if (!align->draft.keys.reference || shape->method != TRAIN_FULL)
        return 0.0;
    return bytes / (shape->tp * shape->pp);
}

static bool add_train_role(struct align *align)
{
    return draft_train_role(&align->draft, &align->longest,
                            reference_bytes(align), START_WAKE,
                            &align->train);
}

/* The role `data`, and where it reads: all else of a loader is given. */
static bool add_data_role(struct align *align)
{
    static const char *const given[] = {"kind", "size", "per_sequence",
                                        "workers", "files", "dataset", "numa",
                                        "send"};
    struct draft *draft = &align->draft;
    const struct conf_node *conf = draft->keys.loader;
    struct loader_keys keys = {0};

    if (!draft_data_role(draft, draft->keys.data, DATA_CORES, &align->data))
        return false;
    if (conf == NULL)
        return true;
    if (!conf_fill(conf, &loader_schema, &keys, draft->world->err))
        return false;
    for (size_t i = 0; i < COUNT(given); i++)
        if (conf_get(conf, given[i]) != NULL)
            return err_set(draft->world->err, ERR_SCHEMA,
                           conf_pos(conf_get(conf, given[i])),
                           "%s has no meaning for recipe %s: it reads texts "
                           "of prompt_tokens and response", given[i],
                           draft->form->recipe);
    align->from = keys.from;
    return draft_from(draft, conf, keys.from, align->data);
}

static bool add_engine_role(struct align *align)
{
    const struct recipe_keys *keys = &align->draft.keys;

    align->engine = (struct rollout_shape){
        .llm = align->draft.llm,
        .responses = keys->prompts * keys->responses,
        .responses_per_prompt = keys->responses,
        .prompt_tokens = keys->prompt_tokens,
        .response_mean_tokens = align->response.mean,
        .response_cv = align->response.cv,
        .response_max_tokens = align->response.max,
    };
    return draft_engine_role(&align->draft, "rollout", keys->rollout,
                             align->max_tokens, START_WAKE, &align->engine,
                             &align->rollout);
}

/* Prompts (or pairs) are read, tokenized and shuffled. */
static uint32_t add_data(struct align *align, double texts, double tokens,
                         uint32_t repeats)
{
    struct loader_item item = loader_item(LOADER_TEXT, tokens);
    struct phase_law law = {
        .kind = LAW_CPU,
        .core_s = item.core_s * texts * repeats,
        .storage_bytes = item.storage_bytes * texts * repeats,
        .from = (enum loader_from)align->from,
    };

    return draft_phase(&align->draft, PHASE_PREPROCESS, "data", align->data,
                       0, &law);
}

static uint32_t add_rollout(struct align *align, uint32_t after)
{
    struct phase_law law = {.kind = LAW_ROLLOUT, .repeats = 1};

    law.rollout = align->engine;
    return draft_phase(&align->draft, PHASE_ROLLOUT, "rollout",
                       align->rollout, 1u << after, &law);
}

static struct phase_law forward_law(const struct align *align,
                                    const struct llm *llm, double sequences,
                                    uint32_t repeats)
{
    struct phase_law law = {.kind = LAW_FORWARD, .repeats = repeats};

    law.train = align->mean;
    law.train.llm = llm;
    law.sequences = sequences;
    return law;
}

/* A reward model shares the rollout GPUs with a sleeping engine: types that
 * do not hold it, split as the engine is, are struck off. */
static bool reward_fits(struct align *align, const struct llm *llm)
{
    const struct world *world = align->draft.world;
    const struct conf_node *conf = align->draft.keys.reward;
    struct role_spec *role = &align->draft.form->role[align->rollout];
    struct demand demand = {align->draft.form->name, conf_pos(conf), NULL};
    double need = memory_forward(llm, align->engine.precision,
                                 align->engine.tp, align->max_tokens).total;

    if (need <= role->gpu_memory_bytes)
        return true;
    role->gpu_memory_bytes = need;
    return demand_narrow(world, &demand, role) &&
           demand_place(world, &demand, role);
}

/* Adds the scoring; `mask` gains its phase. */
static bool add_reward(struct align *align, uint32_t after, uint32_t *mask)
{
    struct draft *draft = &align->draft;
    struct reward_keys keys = {0};
    struct phase_law law = {.kind = LAW_CPU};
    const struct llm *llm;
    uint32_t role = align->data;

    if (draft->keys.reward == NULL)
        return true;
    if (!conf_fill(draft->keys.reward, &reward_schema, &keys,
                   draft->world->err))
        return false;
    if (keys.on == REWARD_GPU && keys.model == NULL)
        return err_set(draft->world->err, ERR_SCHEMA,
                       conf_pos(draft->keys.reward),
                       "model is missing: reward on gpu needs it");
    if (keys.on == REWARD_CPU && keys.core_time_ns == 0)
        return err_set(draft->world->err, ERR_SCHEMA,
                       conf_pos(draft->keys.reward),
                       "core_time is missing: reward on cpu needs it");
    law.core_s = (double)keys.core_time_ns / 1e9 * align->engine.responses;
    if (keys.on == REWARD_GPU) {
        if (!draft_model(draft, "reward", keys.model, &llm) ||
            !reward_fits(align, llm))
            return false;
        law = forward_law(align, llm, align->engine.responses, 1);
        law.train.method = TRAIN_FULL;
        law.train.precision = align->engine.precision;
        law.train.tp = align->engine.tp;
        law.train.pp = 1;
        role = align->rollout;
    }
    *mask |= 1u << draft_phase(draft, PHASE_REWARD, "reward", role,
                               1u << after, &law);
    return true;
}

static uint32_t add_reference(struct align *align, uint32_t after,
                              uint32_t repeats)
{
    struct phase_law law = forward_law(align, align->draft.llm,
                                       align->train_sequences, repeats);

    return draft_phase(&align->draft, PHASE_INFER, "reference", align->train,
                       1u << after, &law);
}

static uint32_t add_train(struct align *align, uint32_t after_mask,
                          uint32_t repeats)
{
    struct phase_law law = {.kind = LAW_TRAIN};

    law.train = align->mean;
    law.sequences = align->train_sequences;
    law.repeats = repeats * (uint32_t)align->draft.keys.epochs;
    /* Sequences come from memory as token ids, not from storage. */
    law.item = loader_item(LOADER_TOKENS, align->mean_tokens);
    law.item.storage_bytes = 0.0;
    return draft_phase(&align->draft, PHASE_TRAIN, "train", align->train,
                       after_mask, &law);
}

/* Adapters alone where only they are trained, else all weights, in the
 * precision that the engine serves. */
static void add_sync(struct align *align, uint32_t after)
{
    struct draft *draft = &align->draft;
    struct phase_law law = {.kind = LAW_SYNC};
    uint32_t number;

    law.bytes = memory_weight_bytes(draft->llm, align->engine.precision);
    if (align->mean.method != TRAIN_FULL)
        law.bytes = align->mean.lora_params *
                    precision_weight_bytes(PRECISION_BF16);
    number = draft_phase(draft, PHASE_SYNC, "sync", align->train,
                         1u << after, &law);
    draft->form->phase[number].sync_to = align->rollout;
}

static bool expand_online(struct align *align)
{
    struct draft *draft = &align->draft;
    const struct recipe_keys *keys = &draft->keys;
    uint32_t data, rollout, train, before;

    if (keys->rollout == NULL)
        return err_set(draft->world->err, ERR_SCHEMA, conf_pos(draft->conf),
                       "rollout is missing: the GPUs that generate");
    if (!add_engine_role(align) || !add_train_role(align) ||
        !add_data_role(align))
        return false;
    data = add_data(align, keys->prompts, keys->prompt_tokens, 1);
    rollout = add_rollout(align, data);
    before = 1u << rollout;
    if (!add_reward(align, rollout, &before))
        return false;
    if (keys->reference)
        before |= 1u << add_reference(align, rollout, 1);
    train = add_train(align, before, 1);
    add_sync(align, train);
    draft_checkpoint(draft, &align->longest, align->train, train);
    return true;
}

static bool expand_offline(struct align *align)
{
    struct draft *draft = &align->draft;
    const char *const online_only[] = {"rollout", "reward", "responses"};
    uint32_t repeats, data, before, train;

    for (size_t i = 0; i < COUNT(online_only); i++)
        if (conf_get(draft->conf, online_only[i]) != NULL)
            return err_set(draft->world->err, ERR_SCHEMA,
                           conf_pos(conf_get(draft->conf, online_only[i])),
                           "%s has no meaning for generation offline",
                           online_only[i]);
    if (!add_train_role(align) || !add_data_role(align))
        return false;
    repeats = draft_steps_per_run(draft);
    data = add_data(align, align->train_sequences, align->mean_tokens,
                    repeats);
    before = 1u << data;
    if (draft->keys.reference)
        before |= 1u << add_reference(align, data, repeats);
    train = add_train(align, before, repeats);
    draft_checkpoint(draft, &align->longest, align->train, train);
    return true;
}

static bool expand(const struct recipe *recipe, const struct world *world,
                   const struct conf_node *conf, struct entry *out)
{
    struct align align = {0};
    bool good;

    if (!begin(&align, world, conf, recipe))
        return false;
    good = align.draft.keys.generation == GENERATION_OFFLINE
               ? expand_offline(&align)
               : expand_online(&align);
    if (good)
        *out = align.draft.entry;
    return good;
}

/* ---- the recipes ------------------------------------------------------ */

const struct recipe recipe_dpo = {
    "dpo", "preference pairs, generated in each step or read",
    &recipe_dpo_schema, expand, 0};
const struct recipe recipe_grpo = {
    "grpo", "groups of responses, scored against their own mean",
    &recipe_grpo_schema, expand, 0};

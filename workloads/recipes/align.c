/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * align.c - the roles and phases that dpo, grpo and ppo are made of.
 *
 * Colocated, one lease generates and trains in turn (HybridFlow, Sheng et al.
 * 2024, arXiv 2409.19256): before training its state comes back from host
 * memory, and before generating it leaves again and the engine gathers the new
 * weights from the shards of the trainer.
 */
#include "workloads/recipes/align.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/laws/loader.h"
#include "models/laws/experts.h"
#include "models/laws/memory.h"
#include "models/laws/transfer.h"
#include "models/types/precision.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "workloads/jobs/demand.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))
#define DATA_CORES 8u           /* assumption; claim A3 names 48 for a node */

/* Sets the shape of the critic: the policy's own, with its own model.  `critic:
 * policy` names the same model.  A recipe without the key `critic` has none,
 * and align->critic.llm stays NULL. */
static bool begin_critic(struct align *align)
{
    const char *model = align->draft.keys.critic;
    const struct llm *llm = align->draft.llm;

    if (model == NULL)
        return true;
    if (strcmp(model, "policy") != 0 &&
        !draft_model(&align->draft, "critic", model, &llm))
        return false;
    align->critic = align->mean;
    align->critic.llm = llm;
    if (align->critic.method != TRAIN_FULL)
        align->critic.lora_params = memory_lora_params(
            llm, (double)align->draft.keys.lora_rank);
    align->draft.critic = &align->critic;
    return true;
}

/* Reads what all layouts share: the model, the response, and the shapes of
 * training at the mean and at the longest length.  Memory must hold the longest
 * sequence, while time follows the mean length.  DPO trains on two responses of
 * each pair. */
bool align_begin(struct align *align, const struct world *world,
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
    return begin_critic(align);
}

/* Returns the bytes of a GPU that the frozen copy takes beside the trained
 * weights; it is divided over GPUs as they are.  With adapters there is no
 * copy: the reference is the model with adapters switched off. */
static double count_reference_bytes(const struct align *align, uint32_t gpus)
{
    if (!align->draft.keys.reference || align->mean.method != TRAIN_FULL)
        return 0.0;
    return memory_frozen(&align->mean, gpus);
}

/* What the critic takes of each GPU, in bytes; all 0 where there is none. */
struct critic_bytes {
    double weights;             /* all that there is before it was trained */
    double state;               /* and its optimizer: what is loaded later */
    double held;                /* while the policy trains: all but activations */
};

/* Counts the critic's bytes of each of `gpus` GPUs, which must hold one replica
 * of it. */
static struct critic_bytes count_critic(const struct align *align, uint32_t gpus)
{
    if (align->critic.llm == NULL || gpus < align->critic.tp *
                                                align->critic.pp)
        return (struct critic_bytes){0};
    struct memory_need need = memory_train(&align->critic, gpus);
    double state = need.weights + need.optimizer;
    return (struct critic_bytes){need.weights, state, state + need.gradients};
}

/* Returns the bytes of a GPU by which training the critic, beside the policy's state,
 * takes more than training the policy beside the critic's. */
static double count_critic_more(const struct align *align, struct critic_bytes critic,
                                uint32_t gpus)
{
    struct train_shape longest = align->longest;
    struct memory_need mine = memory_train(&longest, gpus), its;

    if (!(critic.held > 0.0))
        return 0.0;
    longest.llm = align->critic.llm;
    longest.lora_params = align->critic.lora_params;
    its = memory_train(&longest, gpus);
    return fmax(its.total + (mine.weights + mine.optimizer + mine.gradients) -
                    (mine.total + critic.held), 0.0);
}

/* Beside the trained weights each GPU holds the frozen reference, and what
 * remains of the critic; policy and critic are trained in turn.  Memory is
 * counted for the fewest GPUs, which hold the most each; what is loaded for the
 * GPUs that are asked for and, for copies, for the fewest that hold the model. */
bool align_train_role(struct align *align)
{
    uint32_t gpus, fewest, gang = experts_gang(&align->longest);
    double frozen, frozen_copy;
    struct critic_bytes critic, critic_copy, critic_held;

    if (!draft_train_gpus(&align->draft, &align->mean, &gpus, &fewest))
        return false;
    frozen = count_reference_bytes(align, gpus);
    frozen_copy = count_reference_bytes(align, gang);
    critic = count_critic(align, gpus);
    critic_copy = count_critic(align, gang);
    critic_held = count_critic(align, fewest);
    return draft_train_role(&align->draft, &align->longest, (struct beside){
        .held_bytes = count_reference_bytes(align, fewest) + critic_held.held +
                      count_critic_more(align, critic_held, fewest),
        .load_bytes = frozen + critic.state,
        .first_bytes = frozen + critic.weights,
        .copy_bytes = frozen_copy + critic_copy.state,
        .first_copy_bytes = frozen_copy + critic_copy.weights,
    }, START_WAKE, &align->train);
}

/* Adds the role `data` and reads where its data set lies.  Of the keys of a
 * loader only `from` is taken: prompts and responses say the rest. */
bool align_data_role(struct align *align)
{
    static const char *const given[] = {"kind", "size", "per_sequence",
                                        "workers", "collect_per_s", "files",
                                        "dataset", "cache", "numa", "send", "pinned",
                                        "epoch", "worker_start"};
    struct draft *draft = &align->draft;
    const struct conf_node *conf = draft->keys.loader;
    struct loader_keys keys = {0};

    if (!draft_data_role(draft, draft->keys.data, DATA_CORES, 0, &align->data))
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

/* Sets what the engine generates in a step, and how long responses are. */
static void begin_engine(struct align *align)
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
        .part_tokens = align->response.partial,
    };
}

bool align_engine_role(struct align *align)
{
    begin_engine(align);
    return draft_engine_role(&align->draft, "rollout",
                             align->draft.keys.rollout, align->max_tokens,
                             START_WAKE, &align->engine, &align->rollout);
}

/* Lets the engine generate on the GPUs that train.  Without `offload` the
 * trainer's state stays there and takes memory from the KV cache. */
bool align_engine_beside(struct align *align)
{
    const struct role_spec *role = &align->draft.form->role[align->train];

    begin_engine(align);
    align->rollout = align->train;
    if (!align->draft.keys.offload)
        align->engine.reserved_bytes = role->load_bytes / role->gpus;
    return draft_engine_beside(&align->draft, align->draft.keys.rollout,
                               align->max_tokens, align->train,
                               &align->engine);
}

/* Adds the phase that reads and tokenizes `texts` texts of `tokens` tokens,
 * `repeats` times, on cores. */
uint32_t align_data(struct align *align, double texts, double tokens,
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

uint32_t align_rollout(struct align *align, uint32_t after_mask)
{
    struct phase_law law = {.kind = LAW_ROLLOUT, .repeats = 1};

    law.rollout = align->engine;
    return draft_phase(&align->draft, PHASE_ROLLOUT, "rollout",
                       align->rollout, after_mask, &law);
}

/* A forward pass of a model over the sequences of a step.  It runs on the GPUs
 * of the trainer, and is divided as its training is. */
static struct phase_law make_forward_law(const struct align *align,
                                         const struct llm *llm, double sequences,
                                         uint32_t repeats)
{
    struct phase_law law = {.kind = LAW_FORWARD, .repeats = repeats};

    law.train = align->mean;
    law.train.llm = llm;
    law.sequences = sequences;
    return law;
}

/* A reward model scores on the rollout GPUs, where the engine sleeps meanwhile.
 * GPU types whose memory does not hold the model, divided as the engine is,
 * beside what a trainer leaves there, are removed from the role.  False: no
 * type is left, and err says what is missing. */
static bool check_reward(struct align *align, const struct llm *llm)
{
    const struct world *world = align->draft.world;
    const struct conf_node *conf = align->draft.keys.reward;
    struct role_spec *role = &align->draft.form->role[align->rollout];
    struct demand demand = {align->draft.form->name, conf_pos(conf), NULL,
                            {NULL, 0, 0}};
    double need = memory_forward(llm, align->engine.precision,
                                 align->engine.tp, align->max_tokens).total +
                  align->engine.reserved_bytes;

    if (need <= role->gpu_memory_bytes)
        return true;
    role->gpu_memory_bytes = need;
    return demand_narrow(world, &demand, role) &&
           demand_place(world, &demand, role);
}

/* Returns false, with err: a reward on cores must say how long a core scores
 * one response. */
static bool refuse_core_time(const struct draft *draft)
{
    const struct conf_node *given = conf_get(draft->keys.reward, "core_time");

    if (given == NULL)
        return err_set(draft->world->err, ERR_SCHEMA, conf_pos(draft->keys.reward),
                       "core_time is missing: reward on cpu needs it");
    err_set(draft->world->err, ERR_RANGE, conf_pos(given),
            "core_time must be greater than 0, found 0");
    return err_hint(draft->world->err, "Leave out `reward` where scores take no time.");
}

/* Adds the phase that scores responses, after phase `after`, if the entry has a
 * reward.  *mask gains the phase, so that training waits for it.  False: keys
 * of the reward disagree. */
bool align_reward(struct align *align, uint32_t after, uint32_t *mask)
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
        return refuse_core_time(draft);
    if (!conf_acts(draft->keys.reward, "model", keys.on == REWARD_CPU,
                   "needs `on: gpu`", draft->world->err) ||
        !conf_acts(draft->keys.reward, "core_time", keys.on == REWARD_GPU,
                   "needs `on: cpu`", draft->world->err))
        return false;
    law.core_s = (double)keys.core_time_ns / 1e9 * align->engine.responses;
    if (keys.on == REWARD_GPU) {
        if (!draft_model(draft, "reward", keys.model, &llm) ||
            !check_reward(align, llm))
            return false;
        law = make_forward_law(align, llm, align->engine.responses, 1);
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

uint32_t align_reference(struct align *align, uint32_t after_mask,
                              uint32_t repeats)
{
    struct phase_law law = make_forward_law(align, align->draft.llm,
                                            align->train_sequences, repeats);

    return draft_phase(&align->draft, PHASE_INFER, "reference", align->train,
                       after_mask, &law);
}

/* The law of training on the sequences of a step: `updates` optimizer steps in
 * each of `epochs` passes, `repeats` times. */
static struct phase_law make_train_law(const struct align *align,
                                       const struct train_shape *shape,
                                       uint32_t repeats)
{
    uint32_t updates = align->draft.keys.updates > 0
                           ? (uint32_t)align->draft.keys.updates : 1;
    struct phase_law law = {.kind = LAW_TRAIN};

    law.train = *shape;
    law.sequences = align->train_sequences / updates;
    law.repeats = repeats * (uint32_t)align->draft.keys.epochs * updates;
    assert(law.repeats / updates / (uint32_t)align->draft.keys.epochs == repeats);
    /* Sequences come from memory as token ids, not from storage. */
    law.item = loader_item(LOADER_TOKENS, align->mean_tokens);
    law.item.storage_bytes = 0.0;
    return law;
}

uint32_t align_train(struct align *align, uint32_t after_mask,
                     uint32_t repeats)
{
    struct phase_law law = make_train_law(align, &align->mean, repeats);

    return draft_phase(&align->draft, PHASE_TRAIN, "train", align->train,
                       after_mask, &law);
}

bool align_interval(struct align *align)
{
    struct phase_law law = make_train_law(align, &align->mean, 1);

    return draft_interval(&align->draft, &align->longest, align->train,
                          draft_law_s(&align->draft, align->train, &law));
}

uint32_t align_values(struct align *align, uint32_t after_mask)
{
    struct phase_law law = make_forward_law(align, align->critic.llm,
                                            align->train_sequences, 1);

    return draft_phase(&align->draft, PHASE_INFER, "values", align->train,
                       after_mask, &law);
}

uint32_t align_critic(struct align *align, uint32_t after_mask)
{
    struct phase_law law = make_train_law(align, &align->critic, 1);

    return draft_phase(&align->draft, PHASE_TRAIN, "critic", align->train,
                       after_mask, &law);
}

/* Adds the phase that sends new weights to the engine's GPUs: the adapters
 * alone, where only they are trained, else all weights in the precision that
 * the engine serves. */
uint32_t align_sync(struct align *align, uint32_t after_mask)
{
    struct draft *draft = &align->draft;
    struct phase_law law = {.kind = LAW_SYNC};
    uint32_t number;

    law.bytes = memory_weight_bytes(draft->llm, align->engine.precision);
    if (align->mean.method != TRAIN_FULL)
        law.bytes = align->mean.lora_params *
                    precision_weight_bytes(PRECISION_BF16);
    number = draft_phase(draft, PHASE_SYNC, "sync", align->train,
                         after_mask, &law);
    draft->form->phase[number].sync_to = align->rollout;
    return number;
}

/* Adds the phase in which the trainer gets its GPUs back after generation: its
 * state comes from host memory, if it was offloaded. */
uint32_t align_wake_trainer(struct align *align, uint32_t after_mask)
{
    const struct role_spec *role = &align->draft.form->role[align->train];
    struct phase_law law = {
        .kind = LAW_RELOAD,
        .seconds = transfer_start_s(TRANSFER_START_TRAIN_WAKE),
        .engine_tp = align->engine.tp,
    };

    if (align->draft.keys.offload)
        law.bytes = role->load_bytes / role->gpus;
    return draft_phase(&align->draft, PHASE_LOAD, "reload", align->train,
                       after_mask, &law);
}

/* Adds the phase in which the engine gets the GPUs back after training.  The
 * trainer's state leaves first, since the engine needs its memory; then the
 * engine gathers the new weights. */
uint32_t align_wake_engine(struct align *align, uint32_t after_mask)
{
    const struct role_spec *role = &align->draft.form->role[align->train];
    struct phase_law law = {
        .kind = LAW_RELOAD,
        .seconds = transfer_start_s(TRANSFER_START_SERVE_WAKE),
        .gather_bytes = memory_weight_bytes(align->engine.llm,
                                            align->engine.precision),
        .engine_tp = align->engine.tp,
    };

    if (align->draft.keys.offload)
        law.bytes = role->load_bytes / role->gpus;
    return draft_phase(&align->draft, PHASE_SYNC, "reshard", align->train,
                       after_mask, &law);
}

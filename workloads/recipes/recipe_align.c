/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_align.c - dpo, grpo, ppo: generate, score, train, hand weights over.
 *
 * One step of the online form (Rafailov et al. 2023, arXiv 2305.18290; Shao et
 * al. 2024, 2402.03300, for GRPO; Ouyang et al. 2022, 2203.02155, for PPO):
 *
 *   data -> rollout -> reward ----> train -> sync
 *               \---> reference --/     \--> checkpoint, now and then
 *
 * `rollout` generates `responses` for each of `prompts`; `reward` scores them
 * on cores of `data` or with a model on the rollout GPUs; `reference` is the
 * forward pass of the frozen model on the train GPUs.  DPO trains on `pairs`
 * of a chosen and a rejected response per prompt, GRPO on all responses.
 * Offline DPO has its pairs already: data, reference, train.  PPO has a critic,
 * whose values follow the reference and whose training precedes the policy's.
 *
 * Colocated, all of it runs on the train GPUs in turn, with `reload` before the
 * reference and `reshard` in the place of `sync`.  One step off, the rollout of
 * a step runs beside the training on what the step before has generated, with
 * weights that are one step old; a job of n steps takes n + 1 rounds.
 *
 * `layout: auto` makes the form with GPUs apart, and asks what giving them back
 * between phases would lose: the switches of all roles by a step.  Above a tenth
 * nobody gives them back (RollMux's jobs, which take turns, are 5 to 9% slower,
 * arXiv 2512.11306; `release_max` of `dynamic`), and GPUs apart idle: then the
 * form is the colocated one.
 */
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "workloads/recipes/align.h"
#include "workloads/recipes/alone.h"
#include "workloads/recipes/recipe.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

static const char *const generation_choices[] = {"online", "offline", NULL};
static const char *const layout_choices[] = {"disaggregated", "colocated", "auto",
                                             NULL};
static const char *const schedule_choices[] = {"sync", "one-step-off", NULL};
/* In the order of generation_choices. */
enum generation { GENERATION_ONLINE, GENERATION_OFFLINE };
/* In the order of schedule_choices. */
enum schedule { SCHEDULE_SYNC, SCHEDULE_ONE_STEP_OFF };

#define KEYS_OF_ALIGNMENT(PROMPTS, RESPONSES, FEWEST, REFERENCE) \
    KEYS_OF_ENTRY, \
    KEYS_OF_MODEL, \
    KEYS_OF_TRAINING("lora"), \
    CONF_KEY("prompts", CONF_REAL, recipe_keys, prompts, PROMPTS, \
             "prompts per step", .min = 1, .max = 1e7), \
    CONF_KEY("responses", CONF_REAL, recipe_keys, responses, RESPONSES, \
             "responses per prompt", .min = FEWEST, .max = 1024), \
    CONF_KEY("prompt_tokens", CONF_REAL, recipe_keys, prompt_tokens, \
             CONF_REQUIRED, "mean tokens of a prompt", .min = 1, .max = 1e7), \
    CONF_KEY("response", CONF_NODE, recipe_keys, response, CONF_REQUIRED, \
             "lengths of responses: mean, cv, max, partial, in tokens"), \
    CONF_KEY("reward", CONF_NODE, recipe_keys, reward, CONF_ABSENT, \
             "scoring: on, core_time or model; default: none"), \
    CONF_KEY("reference", CONF_BOOL, recipe_keys, reference, REFERENCE, \
             "a forward pass of the frozen model on every sequence"), \
    CONF_KEY("epochs", CONF_INT, recipe_keys, epochs, "1", \
             "passes over the sequences of a step", .min = 1, .max = 100), \
    CONF_KEY("updates", CONF_INT, recipe_keys, updates, "1", \
             "optimizer steps of one pass (mini-batches)", \
             .min = 1, .max = 1000), \
    CONF_KEY("layout", CONF_CHOICE, recipe_keys, layout, "disaggregated", \
             "GPUs for generating and for training apart, or the same in " \
             "turn; auto: apart where switches are cheap", .choices = layout_choices), \
    CONF_KEY("schedule", CONF_CHOICE, recipe_keys, schedule, "sync", \
             "train on what this step generated, or on that of the one " \
             "before", .choices = schedule_choices), \
    CONF_KEY("offload", CONF_BOOL, recipe_keys, offload, "true", \
             "colocated: the trainer's state lies in host memory meanwhile"), \
    CONF_KEY("checkpoint_every", CONF_INT, recipe_keys, checkpoint_every, \
             "10", "steps between checkpoints; 0: none", .max = 1e9), \
    KEY_CHECKPOINT, \
    CONF_KEY("rollout", CONF_NODE, recipe_keys, rollout, CONF_ABSENT, \
             "GPUs that generate: gpus, min, max, types, pool, cores, " \
             "memory, start, tp, precision, concurrency, async_scheduling"), \
    CONF_KEY("loader", CONF_NODE, recipe_keys, loader, CONF_ABSENT, \
             "from: where the prompts (offline: the pairs) lie"), \
    CONF_KEY("data", CONF_NODE, recipe_keys, data, CONF_ABSENT, \
             "cores that sample, tokenize, score: cores, memory, pool")

static const struct conf_field dpo_fields[] = {
    KEYS_OF_ALIGNMENT(NULL, "2", 2, "true"),
    CONF_KEY("generation", CONF_CHOICE, recipe_keys, generation, "online",
             "responses made in each step, or read",
             .choices = generation_choices),
    CONF_KEY("pairs", CONF_REAL, recipe_keys, pairs, "1",
             "pairs trained on per prompt", .min = 1, .max = 1024),
};
static const struct conf_field grpo_fields[] = {
    KEYS_OF_ALIGNMENT(NULL, "8", 2, "true"),
};
static const struct conf_field ppo_fields[] = {
    KEYS_OF_ALIGNMENT(NULL, "1", 1, "true"),
    CONF_KEY("critic", CONF_TEXT, recipe_keys, critic, "policy",
             "LLM that estimates values, trained too; policy: the same model"),
};

const struct conf_schema recipe_dpo_schema =
    CONF_SCHEMA("workload.mix[].dpo",
                "direct preference optimization", dpo_fields);
const struct conf_schema recipe_grpo_schema =
    CONF_SCHEMA("workload.mix[].grpo",
                "group relative policy optimization", grpo_fields);
const struct conf_schema recipe_ppo_schema =
    CONF_SCHEMA("workload.mix[].ppo",
                "proximal policy optimization", ppo_fields);

/* Refuses keys that the layout or the schedule has no use for, and a missing
 * `rollout` where that has GPUs of its own.  `layout: auto` needs what both
 * layouts need. */
static bool check_layout(const struct align *align)
{
    const struct recipe_keys *keys = &align->draft.keys;
    const struct conf_node *conf = align->draft.conf;
    struct err *err = align->draft.world->err;

    if ((keys->layout == LAYOUT_COLOCATED || align->draft.either) &&
        keys->schedule == SCHEDULE_ONE_STEP_OFF)
        return err_set(err, ERR_SCHEMA, conf_pos(conf_get(conf, "schedule")),
                       "schedule one-step-off needs layout disaggregated: "
                       "colocated GPUs generate and train in turn");
    if (keys->layout == LAYOUT_DISAGGREGATED && !align->draft.either &&
        conf_get(conf, "offload"))
        return err_set(err, ERR_SCHEMA, conf_pos(conf_get(conf, "offload")),
                       "offload has no meaning for layout disaggregated");
    if ((keys->layout == LAYOUT_DISAGGREGATED || align->draft.either) &&
        keys->rollout == NULL)
        return err_set(err, ERR_SCHEMA, conf_pos(conf),
                       "rollout is missing: the GPUs that generate");
    return true;
}

/* Of n responses there are n * (n - 1) / 2 pairs, so a prompt cannot give more. */
static bool check_pairs(const struct align *align)
{
    const struct recipe_keys *keys = &align->draft.keys;
    double most = keys->responses * (keys->responses - 1) / 2;

    return !(keys->pairs > most) ||
           err_set(align->draft.world->err, ERR_RANGE,
                   conf_pos(conf_get(align->draft.conf, "pairs")),
                   "pairs must be at most %g, the pairs of %g responses, found %g", most,
                   keys->responses, keys->pairs);
}

/* Adds the roles of the layout: with GPUs of their own, or one that does both
 * in turn. */
static bool add_roles(struct align *align)
{
    if (align->draft.keys.layout == LAYOUT_COLOCATED)
        return align_train_role(align) && align_engine_beside(align) &&
               align_data_role(align);
    return align_engine_role(align) && align_train_role(align) &&
           align_data_role(align);
}

/* Adds the phases from responses to trained weights, and returns the last one.
 * Forward passes wait for `generated_mask`; training also waits for
 * `scored_mask`, since only it needs the scores.  The critic trains before the
 * policy. */
static uint32_t add_training(struct align *align, uint32_t generated_mask,
                             uint32_t scored_mask)
{
    uint32_t ready_mask = scored_mask;

    if (align->draft.keys.reference)
        ready_mask |= 1u << align_reference(align, generated_mask, 1);
    if (align->critic.llm != NULL) {
        ready_mask |= 1u << align_values(align, generated_mask);
        ready_mask |= 1u << align_critic(align, ready_mask);
    }
    return align_train(align, ready_mask, 1);
}

/* Makes the graph that of one step off.  A job of n steps has rounds 0 to n.
 * Phases of `made_mask` generate for the next round, so they rest in the last
 * round; the others train on what the round before generated, so they rest in
 * the first.  `sync` hands weights over at the end of a round that trained, if
 * the next one generates: it also rests in round n - 1. */
static void shift_one_step(struct job_form *form, uint32_t made_mask,
                           uint32_t sync)
{
    form->lag = 1;
    for (uint32_t p = 0; p < form->phase_count; p++) {
        struct phase_spec *phase = &form->phase[p];

        phase->skip_last = p == sync ? 2 : made_mask >> p & 1u;
        phase->skip_first = !(made_mask >> p & 1u);
    }
}

/* Builds the graph of the comment on top, phase by phase, in the order of its
 * edges.  With one step off (`off`) training waits for nothing of its own
 * round, and the hand-over waits for both. */
static bool expand_online(struct align *align)
{
    struct draft *draft = &align->draft;
    const struct recipe_keys *keys = &draft->keys;
    bool apart = keys->layout == LAYOUT_DISAGGREGATED;
    bool off = keys->schedule == SCHEDULE_ONE_STEP_OFF;
    uint32_t data, rollout, train, sync, made;

    if (!check_layout(align) || !check_pairs(align) || !add_roles(align))
        return false;
    data = align_data(align, keys->prompts, keys->prompt_tokens, 1);
    rollout = align_rollout(align, 1u << data);
    made = 1u << rollout;
    if (!align_reward(align, rollout, &made))
        return false;
    if (apart) {
        train = add_training(align, off ? 0 : 1u << rollout,
                             off ? 0 : made);
        sync = align_sync(align, 1u << train | (off ? made : 0));
    } else {
        made = 1u << align_wake_trainer(align, made);
        train = add_training(align, made, made);
        sync = align_wake_engine(align, 1u << train);
        draft->form->phase[sync].skip_last = 1;
    }
    if (!draft_interval(draft, &align->longest, align->train,
                        draft_run_s(draft)))
        return false;
    draft_checkpoint(draft, &align->longest, align->train, train);
    if (off)
        shift_one_step(draft->form, made | 1u << data, sync);
    return true;
}

/* Pairs are read, so there is no rollout, no reward and no sync; keys of these
 * are refused. */
static bool expand_offline(struct align *align)
{
    struct draft *draft = &align->draft;
    const char *const online_only[] = {"rollout", "reward", "responses",
                                       "layout", "schedule", "offload"};
    uint32_t repeats, data, before, train;

    for (size_t i = 0; i < COUNT(online_only); i++)
        if (conf_get(draft->conf, online_only[i]) != NULL)
            return err_set(draft->world->err, ERR_SCHEMA,
                           conf_pos(conf_get(draft->conf, online_only[i])),
                           "%s has no meaning for generation offline",
                           online_only[i]);
    if (!conf_acts(draft->keys.response, "partial", true,
                   "needs `generation: online`", draft->world->err) ||
        !align_train_role(align) || !align_data_role(align))
        return false;
    if (!align_interval(align))
        return false;
    repeats = draft_steps_per_run(draft);
    data = align_data(align, align->train_sequences, align->mean_tokens,
                      repeats);
    before = 1u << data;
    if (draft->keys.reference)
        before |= 1u << align_reference(align, 1u << data, repeats);
    train = align_train(align, before, repeats);
    draft_checkpoint(draft, &align->longest, align->train, train);
    return true;
}

/* Switches by a step up to which GPUs apart are given back between phases. */
#define LAYOUT_LOSS_MAX 0.1

/* Returns what to say of keys of `rollout` that are for GPUs of its own, and
 * that a colocated form does not use; NULL: there are none. */
static const char *find_ignored_keys(const struct draft *draft)
{
    static const char *const own[] = {"gpus", "min", "max", "types", "pool", "home"};

    for (size_t i = 0; i < COUNT(own); i++)
        if (conf_get(draft->keys.rollout, own[i]) != NULL)
            return "; what rollout says of GPUs of its own (gpus, types, pool, home) "
                   "has no use there";
    return NULL;
}

/* Makes the form with GPUs apart.  If giving GPUs back between phases would
 * lose more than LAYOUT_LOSS_MAX, the colocated form is made from the same
 * keys; if that does not fit on one group of GPUs (an error of range), the
 * first form is kept. */
static bool expand_either(struct align *align, const struct world *world,
                          const struct conf_node *conf,
                          const struct recipe *recipe)
{
    align->draft.either = true;
    align->draft.keys.layout = LAYOUT_DISAGGREGATED;
    if (!expand_online(align))
        return false;
    if (alone_switch_loss(&align->draft) <= LAYOUT_LOSS_MAX)
        return true;

    struct align apart = *align;
    struct err before = *world->err;

    *align = (struct align){0};
    if (!align_begin(align, world, conf, recipe))
        return false;
    align->draft.either = true;
    align->draft.keys.layout = LAYOUT_COLOCATED;
    if (expand_online(align)) {
        align->draft.entry.layout_why = find_ignored_keys(&align->draft);
        return true;
    }
    if (world->err->kind != ERR_RANGE)
        return false;
    *world->err = before;       /* it does not fit; the other form does */
    *align = apart;
    align->draft.entry.layout_why = "; its switches are dear, but one group has no "
                                    "room for both";
    return true;
}

/* Chooses the form: offline; online with the layout that is asked for; or, with
 * `layout: auto`, the layout that expand_either() finds. */
static bool expand_entry(const struct recipe *recipe, const struct world *world,
                         const struct conf_node *conf, struct entry *out)
{
    struct align align = {0};
    bool good;

    if (!align_begin(&align, world, conf, recipe))
        return false;
    if (align.draft.keys.generation == GENERATION_OFFLINE)
        good = expand_offline(&align);
    else if (align.draft.keys.layout == LAYOUT_AUTO)
        good = expand_either(&align, world, conf, recipe);
    else
        good = expand_online(&align);
    if (good)
        *out = align.draft.entry;
    return good;
}

/* ---- the recipes ------------------------------------------------------ */

const struct recipe recipe_dpo = {
    "dpo", "preference pairs, generated in each step or read",
    &recipe_dpo_schema, expand_entry, 0};
const struct recipe recipe_grpo = {
    "grpo", "groups of responses, scored against their own mean",
    &recipe_grpo_schema, expand_entry, 0};
const struct recipe recipe_ppo = {
    "ppo", "one response a prompt, scored by a reward model and a critic",
    &recipe_ppo_schema, expand_entry, 0};

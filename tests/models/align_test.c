/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * align_test.c - PPO, GPUs that generate and train in turn, steps that overlap,
 * and rollouts that take responses up in the middle.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/memory.h"
#include "models/laws/phase.h"
#include "models/laws/transfer.h"
#include "tests/aid/program.h"
#include "tests/aid/workload_aid.h"

#define HEAD "arrival: {process: all_at_once}\njobs: 1\nmix:\n"
#define ENTRY(RECIPE, REST) \
    "  - {recipe: " RECIPE ", model: qwen2.5-1.5b, method: full, zero: 3,\n" \
    "     prompts: 32, prompt_tokens: 300, checkpoint_every: 0,\n" \
    "     response: {mean: 400, cv: 1, max: 2048},\n" \
    "     reward: {core_time: 50ms}, steps: 5, data: {cores: 16, process_start: 3s},\n" \
    "     " REST "}\n"
#define APART "rollout: {gpus: 8}, train: {gpus: 8}"

static const char *program_name;

static const struct job_form *form_of(struct aid *aid, const char *entry)
{
    char text[4096];

    snprintf(text, sizeof text, "%s%s", HEAD, entry);
    const struct workload_spec *spec = aid_workload(aid, "w.yaml", text);

    return spec != NULL ? workload_form(spec, 0) : NULL;
}

static const struct job_form *good(struct aid *aid, const char *entry)
{
    const struct job_form *form = form_of(aid, entry);

    if (form == NULL)
        fail_msg("%s", aid_message(aid));
    return form;
}

static uint32_t named(const struct job_form *form, const char *name)
{
    for (uint32_t p = 0; p < form->phase_count; p++)
        if (strcmp(form->phase[p].name, name) == 0)
            return p;
    fail_msg("no phase %s", name);
    return 0;
}

/* Offline, a tenth of all steps makes one run of a phase, or fewer of them, of which checkpoints
 * take whole runs: 40 of 400 steps, and 30 with checkpoints each 30.  A run reads and prepares the
 * texts of all of its steps. */
static void the_data_of_a_run_are_those_of_its_steps(void **state)
{
    static const struct { unsigned steps, every, prompts, repeats; } row[] = {
        { 5, 0, 32, 1 }, { 100, 0, 32, 10 }, { 400, 0, 32, 40 }, { 400, 30, 32, 30 },
        { 400, 50, 32, 25 }, { 400, 7, 32, 7 }, { 400, 0, 64, 40 }, { 5, 0, 64, 1 },
    };
    struct aid aid;
    double core_s = 0, bytes = 0;       /* of a text */

    (void)state;
    aid_open(&aid);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char entry[400];
        snprintf(entry, sizeof entry, "  - {recipe: dpo, generation: offline, model: qwen2.5-1.5b, "
                 "prompts: %u, prompt_tokens: 300, response: {mean: 500, cv: 1, max: 2048},\n"
                 "     steps: %u, checkpoint_every: %u, train: {gpus: 8}}\n", row[i].prompts,
                 row[i].steps, row[i].every);
        const struct job_form *form = good(&aid, entry);
        const struct phase_law *data = form->phase[named(form, "data")].law;
        const struct phase_law *train = form->phase[named(form, "train")].law;
        double texts = row[i].prompts * row[i].repeats;
        assert_int_equal(train->repeats, row[i].repeats);
        assert_true(data->kind == LAW_CPU && data->core_s > 0 && data->storage_bytes > 0);
        if (i == 0) {
            core_s = data->core_s / texts;
            bytes = data->storage_bytes / texts;
        }
        assert_near(data->core_s / texts, core_s, 1e-9 * core_s);
        assert_near(data->storage_bytes / texts, bytes, 1e-9 * bytes);
    }
    aid_close(&aid);
}

/* Counted one by one, for all ways to skip and repeat. */
static void runs_of_a_phase_are_the_steps_in_which_it_is_due(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 3 * 3 * 4 * 12; k++) {
        struct phase_spec phase = {.every = 1 + k / 9 % 4,
                                   .skip_first = k % 3,
                                   .skip_last = k / 3 % 3};
        uint32_t steps = 1 + k / 36, due = 0;

        for (uint32_t step = 0; step < steps; step++)
            due += phase_due(&phase, step, steps);
        assert_int_equal(phase_runs(&phase, steps), due);
    }
}

static void ppo_trains_a_critic_before_the_policy(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct job_form *form = good(&aid, ENTRY("ppo", APART
                                                   ", updates: 4, epochs: 2"));
    uint32_t rollout = named(form, "rollout"), reward = named(form, "reward");
    uint32_t reference = named(form, "reference");
    uint32_t values = named(form, "values"), critic = named(form, "critic");
    uint32_t train = named(form, "train");
    assert_int_equal(form->phase[values].after_mask, 1u << rollout);
    assert_int_equal(form->phase[critic].after_mask,
                     1u << rollout | 1u << reward | 1u << reference |
                         1u << values);
    assert_int_equal(form->phase[train].after_mask,
                     form->phase[critic].after_mask | 1u << critic);
    const struct phase_law *law = form->phase[train].law;
    assert_near(law->sequences, 32 / 4, 0);
    assert_int_equal(law->repeats, 8);
    assert_ptr_equal(form->phase[critic].law->train.llm, law->train.llm);
    /* Two sets of states, a frozen copy in shards; activations once. */
    const struct job_form *grpo =
        good(&aid, ENTRY("grpo", "responses: 2, " APART));
    struct memory_need need = memory_train(&law->train, 8);
    double more = form->role[1].gpu_memory_bytes -
                  grpo->role[1].gpu_memory_bytes;
    assert_near(more, need.weights + need.gradients + need.optimizer, 1.0);
    /* What is saved is both sets of states, of one model each. */
    assert_true(grpo->role[1].save_bytes > 1e9);
    assert_near(form->role[1].save_bytes, 2 * grpo->role[1].save_bytes, 1.0);
    aid_close(&aid);
}

static void a_critic_may_be_another_model(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct job_form *form =
        good(&aid, ENTRY("ppo", "critic: qwen2.5-0.5b, " APART));
    const struct llm *small = catalogue_llm(aid.catalogue, "qwen2.5-0.5b");
    assert_ptr_equal(form->phase[named(form, "critic")].law->train.llm,
                     small);
    assert_ptr_equal(form->phase[named(form, "values")].law->train.llm,
                     small);
    aid_close(&aid);
}

#define LONG "  - {recipe: ppo, model: qwen2.5-0.5b, method: full, zero: 3, prompts: 64,\n" \
    "     prompt_tokens: 100, response: {mean: 1000, cv: 0, max: 1000}, steps: 3,\n" \
    "     checkpoint_every: 0, rollout: {gpus: 8}, train: {gpus: 8}, critic: "

/* All sequences have 1100 tokens.  While the critic of 7B trains, with its activations, the
 * policy of 0.5B and its frozen copy are there; the policy's own training takes less.  A
 * critic of 72B has 72.7e9 * 16 / 8 = 145 GB of state a GPU, as a policy of 72B has. */
static void a_critic_that_is_larger_than_the_policy_must_fit(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct job_form *form = good(&aid, LONG "qwen2.5-7b}\n");
    const struct train_shape *policy = &form->phase[named(form, "train")].law->train;
    struct memory_need mine = memory_train(policy, 8);
    struct memory_need its = memory_train(&form->phase[named(form, "critic")].law->train, 8);
    double frozen = memory_frozen(policy, 8);
    assert_true(its.activations > mine.activations * 1.5);
    assert_near(form->role[1].gpu_memory_bytes,
                frozen + its.total + mine.weights + mine.gradients + mine.optimizer, 1.0);
    assert_null(form_of(&aid, LONG "qwen2.5-72b}\n"));
    aid_close(&aid);
}

/* With adapters there is no frozen copy, and the critic has adapters of its own, which are larger
 * as its model is. */
static void a_larger_critic_has_larger_adapters(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct job_form *form = good(&aid, "  - {recipe: ppo, model: qwen2.5-0.5b, method: lora, "
        "lora_rank: 256, zero: 0, prompts: 64,\n"
        "     prompt_tokens: 100, response: {mean: 1000, cv: 0, max: 1000}, steps: 3,\n"
        "     checkpoint_every: 0, rollout: {gpus: 8}, train: {gpus: 8}, critic: qwen2.5-7b}\n");
    const struct train_shape *policy = &form->phase[named(form, "train")].law->train;
    const struct train_shape *critic = &form->phase[named(form, "critic")].law->train;
    struct memory_need mine = memory_train(policy, 8), its = memory_train(critic, 8);
    assert_true(critic->lora_params > 2 * policy->lora_params);
    assert_true(its.activations > mine.activations * 1.5);
    assert_near(form->role[1].gpu_memory_bytes,
                its.total + mine.weights + mine.gradients + mine.optimizer, 1.0);
    aid_close(&aid);
}

/* The trainer of 1.5B stays on the GPUs, so that the model of 14B scores beside it. */
static void a_reward_model_has_room_beside_a_trainer_that_stays(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct job_form *form =
        good(&aid, "  - {recipe: grpo, model: qwen2.5-1.5b, method: full, zero: 3,\n"
                   "     prompts: 32, prompt_tokens: 300, checkpoint_every: 0, steps: 5,\n"
                   "     response: {mean: 400, cv: 1, max: 2048}, layout: colocated,\n"
                   "     offload: false, reward: {on: gpu, model: qwen2.5-14b},\n"
                   "     train: {gpus: 8}}\n");
    const struct role_spec *role = &form->role[0];
    double need = memory_forward(catalogue_llm(aid.catalogue, "qwen2.5-14b"),
                                 PRECISION_BF16, 1, 300 + 2048).total;
    assert_true(role->load_bytes / 8 > 1e9);
    assert_near(role->gpu_memory_bytes, need + role->load_bytes / 8, 1.0);
    aid_close(&aid);
}

static void colocated_phases_share_one_lease_and_reload_in_between(
    void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct job_form *form =
        good(&aid, ENTRY("grpo", "layout: colocated, train: {gpus: 8}, "
                                 "rollout: {tp: 2}"));
    uint32_t rollout = named(form, "rollout"), train = named(form, "train");
    const struct phase_spec *reload = &form->phase[named(form, "reload")];
    const struct phase_spec *reshard = &form->phase[named(form, "reshard")];
    assert_int_equal(form->role_count, 2);
    assert_int_equal(form->phase[rollout].role, form->phase[train].role);
    assert_int_equal(form->phase[rollout].law->rollout.tp, 2);
    assert_int_equal(reshard->after_mask, 1u << train);
    assert_int_equal(reshard->skip_last, 1);
    /* Weights and optimizer of a GPU over its slot, and a fixed part. */
    struct gang gang = {.gpu = catalogue_gpu(aid.catalogue, "a100-80"),
                        .gpus = 8, .nodes = 1, .intra_bps = 2.5e11};
    struct memory_need need =
        memory_train(&form->phase[train].law->train, 8);
    const struct llm *llm = form->phase[train].law->train.llm;
    double frozen = memory_weight_bytes(llm, PRECISION_BF16) / 8;
    double bytes = need.weights + need.optimizer + frozen;
    assert_near(phase_seconds(reload->law, &gang, 0.5),
                transfer_start_s(TRANSFER_START_TRAIN_WAKE) +
                    bytes / gang.gpu->pcie_bps, 1e-6);
    assert_true(phase_seconds(reshard->law, &gang, 0.5) >
                bytes / gang.gpu->pcie_bps);
    aid_close(&aid);
}

/* A new process takes what the file says, or 34 s to train and 64 s to generate; a
 * later lease as long again, unless the process only slept (0.4 s). */
static void a_process_takes_what_the_file_says(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct job_form *form =
        good(&aid, ENTRY("grpo", "rollout: {gpus: 8, tp: 2, process_start: 20s}, train: {gpus: "
                                 "8, start: process, process_start: 12s}"));
    const struct { const char *phase; double start_s, wake_s; } said[] = {
        { "rollout", 20, 0.4 }, { "train", 12, 12 }, { "data", 3, 3 },
    };
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        const struct role_spec *role = &form->role[form->phase[named(form, said[i].phase)].role];
        assert_near(role->start_s, said[i].start_s, 1e-9);
        assert_near(role->wake_s, said[i].wake_s, 1e-9);
    }
    form = good(&aid, ENTRY("grpo", "rollout: {gpus: 8, tp: 2, process_start: 0.1s}, train: "
                                    "{gpus: 8}"));
    assert_near(form->role[form->phase[named(form, "rollout")].role].wake_s, 0.1, 1e-9);
    form = good(&aid, ENTRY("grpo", "rollout: {gpus: 8, tp: 2}, train: {gpus: 8}"));
    assert_near(form->role[form->phase[named(form, "rollout")].role].start_s, 64, 1e-9);
    assert_near(form->role[form->phase[named(form, "train")].role].start_s, 34, 1e-9);
    aid_close(&aid);
}

/* One group of GPUs starts the trainer and the engine: 34 + 64 s, or what the file says of
 * each, 12 + 20 s.  A later lease wakes one of them, or starts anew what `start` says: of train,
 * which holds for both, or of rollout where `layout: auto` takes that key. */
static void one_group_starts_both_processes(void **state)
{
    static const struct { const char *keys; double start_s, wake_s; } said[] = {
        { "layout: colocated, rollout: {tp: 2}, train: {gpus: 8}", 34 + 64, 0.4 },
        { "layout: colocated, rollout: {tp: 2, process_start: 20s}, "
          "train: {gpus: 8, process_start: 12s}", 12 + 20, 0.4 },
        { "layout: colocated, rollout: {tp: 2, process_start: 0s}, "
          "train: {gpus: 8, start: process}", 34, 34 },
        { "layout: colocated, rollout: {tp: 2, process_start: 20s}, "
          "train: {gpus: 8, start: process}", 34 + 20, 34 + 20 },
        { "layout: colocated, rollout: {tp: 2}, train: {gpus: 8, start: process}", 34 + 64,
          34 + 64 },
        { "layout: auto, responses: 2, rollout: {gpus: 8, tp: 2, process_start: 20s}, "
          "train: {gpus: 8, process_start: 12s}", 12 + 20, 0.4 },
        { "layout: auto, responses: 2, rollout: {gpus: 8, tp: 2, process_start: 20s, start: "
          "process}, train: {gpus: 8, process_start: 12s}", 12 + 20, 0.4 + 20 },
        { "layout: auto, responses: 2, rollout: {gpus: 8, tp: 2, process_start: 20s, start: "
          "wake}, train: {gpus: 8, process_start: 12s, start: process}", 12 + 20, 12 },
    };
    struct aid aid;

    (void)state;
    aid_open(&aid);
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        char entry[1024];
        snprintf(entry, sizeof entry, ENTRY("grpo", "%s"), said[i].keys);
        const struct job_form *form = good(&aid, entry);
        const struct role_spec *role = &form->role[form->phase[named(form, "rollout")].role];
        assert_int_equal(form->role_count, 2);
        assert_near(role->start_s, said[i].start_s, 1e-9);
        assert_near(role->wake_s, said[i].wake_s, 1e-9);
    }
    aid_close(&aid);
}

/* The same job, whose processes sleep between phases or start anew; its steps are
 * made long by many responses. */
static void auto_colocates_where_switches_are_dear(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct job_form *cheap =
        good(&aid, ENTRY("grpo", "layout: auto, offload: false, responses: 256, "
                         "rollout: {gpus: 8, tp: 2}, train: {gpus: 8}"));
    assert_int_equal(cheap->role_count, 3);
    assert_int_equal(cheap->phase[named(cheap, "rollout")].law->rollout.tp, 2);
    const struct job_form *dear =
        good(&aid, ENTRY("grpo", "layout: auto, responses: 256, "
                         "rollout: {gpus: 8, tp: 2, start: process}, "
                         "train: {gpus: 8, start: process}"));
    assert_int_equal(dear->role_count, 2);
    const struct phase_spec *rollout = &dear->phase[named(dear, "rollout")];
    assert_int_equal(rollout->role, dear->phase[named(dear, "train")].role);
    assert_int_equal(rollout->law->rollout.tp, 2);
    /* Where a step is short, waking is dear too. */
    const struct job_form *shorter =
        good(&aid, ENTRY("grpo", "layout: auto, responses: 2, " APART));
    assert_int_equal(shorter->role_count, 2);
    aid_close(&aid);
}

/* Switches are dear, but no number of GPUs suits both; or the trainer's pool has no GPU
 * with room for the engine beside it. */
static void auto_stays_apart_where_one_group_has_no_room(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct job_form *form =
        good(&aid, ENTRY("grpo", "layout: auto, responses: 2, rollout: {gpus: 8, tp: 4}, "
                         "train: {gpus: 6}"));
    assert_int_equal(form->role_count, 3);
    assert_int_equal(form->phase[named(form, "rollout")].law->rollout.tp, 4);
    assert_int_equal(aid.err.kind, ERR_NONE);
    aid_close(&aid);
}

/* What is chosen is the form that its word alone would make. */
static void auto_makes_the_form_of_the_layout_that_it_takes(void **state)
{
    static const char *const row[][2] = {
        {ENTRY("grpo", "layout: auto, responses: 256, " APART),
         ENTRY("grpo", "responses: 256, " APART)},
        {ENTRY("grpo", "layout: auto, responses: 2, " APART),
         ENTRY("grpo", "layout: colocated, responses: 2, train: {gpus: 8}")},
    };
    struct aid aid;

    (void)state;
    aid_open(&aid);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct job_form *a = good(&aid, row[i][0]);
        const struct job_form *b = good(&aid, row[i][1]);

        assert_int_equal(a->role_count, b->role_count);
        for (uint32_t r = 0; r < a->role_count; r++) {
            assert_string_equal(a->role[r].name, b->role[r].name);
            assert_int_equal(a->role[r].gpus, b->role[r].gpus);
            assert_near(a->role[r].load_bytes, b->role[r].load_bytes, 0);
            assert_near(a->role[r].wake_s, b->role[r].wake_s, 0);
        }
        assert_int_equal(a->phase_count, b->phase_count);
        for (uint32_t p = 0; p < a->phase_count; p++) {
            assert_string_equal(a->phase[p].name, b->phase[p].name);
            assert_int_equal(a->phase[p].role, b->phase[p].role);
            assert_int_equal(a->phase[p].after_mask, b->phase[p].after_mask);
        }
    }
    aid_close(&aid);
}

/* Without offload the engine has what the trainer leaves. */
static void what_stays_on_the_gpu_is_not_there_for_the_cache(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct job_form *away =
        good(&aid, ENTRY("grpo", "layout: colocated, train: {gpus: 8}"));
    const struct job_form *stays =
        good(&aid, ENTRY("grpo", "layout: colocated, offload: false, "
                                 "train: {gpus: 8}"));
    const struct rollout_shape *shape =
        &stays->phase[named(stays, "rollout")].law->rollout;
    assert_near(shape->reserved_bytes, stays->role[0].load_bytes / 8, 1);
    assert_near(away->phase[named(away, "rollout")].law->rollout
                    .reserved_bytes, 0, 0);
    assert_true(stays->phase[named(stays, "reload")].law->bytes == 0);
    /* Fewer slots on a GPU that is nearly full. */
    struct gpu_type tight = *catalogue_gpu(aid.catalogue, "a100-80");
    struct gang gang = {.gpu = &tight, .gpus = 1, .nodes = 1};
    struct rollout_shape all = *shape;
    struct rollout_plan with, without;
    tight.memory_bytes = 2.0e10;
    all.responses = 4096;
    rollout_plan_init(&with, &all, &gang);
    all.reserved_bytes = 0;
    rollout_plan_init(&without, &all, &gang);
    assert_true(with.slots < without.slots);
    aid_close(&aid);
}

static void a_rollout_in_parts_makes_as_many_tokens_and_ends_sooner(
    void **state)
{
    struct aid aid;
    struct rollout_plan whole, parts;

    (void)state;
    aid_open(&aid);
    struct gang gang = {.gpu = catalogue_gpu(aid.catalogue, "h100"),
                        .gpus = 8, .nodes = 1, .intra_bps = 4e11};
    struct rollout_shape shape = {
        .llm = catalogue_llm(aid.catalogue, "qwen2.5-7b"),
        .precision = PRECISION_BF16, .tp = 1, .responses = 1024,
        .responses_per_prompt = 8, .prompt_tokens = 300,
        .response_mean_tokens = 2000, .response_cv = 1,
        .response_max_tokens = 16384};
    rollout_plan_init(&whole, &shape, &gang);
    shape.part_tokens = 4096;
    rollout_plan_init(&parts, &shape, &gang);
    assert_near(parts.tokens / whole.tokens, 1, 1e-9);
    assert_true(parts.responses > whole.responses);
    assert_true(parts.prefill_s > whole.prefill_s);
    assert_true(rollout_draw(&parts, 0.5).total_s <
                rollout_draw(&whole, 0.5).total_s);
    assert_true(rollout_draw(&parts, 0.5).longest_tokens <= 4096);
    /* A part that no response exceeds is the whole. */
    shape.part_tokens = 16384;
    rollout_plan_init(&parts, &shape, &gang);
    assert_memory_equal(&parts, &whole, sizeof parts);
    aid_close(&aid);
}

static void keys_that_fit_no_layout_are_refused_with_a_place(void **state)
{
    static const struct { const char *entry, *says; } row[] = {
        {ENTRY("grpo", "layout: colocated, schedule: one-step-off, train: "
                       "{gpus: 8}"), "w.yaml:8:35: schedule one-step-off "
                                     "needs layout disaggregated"},
        {ENTRY("grpo", "layout: colocated, train: {gpus: 8}, rollout: "
                       "{gpus: 8}"), "gpus of rollout has no meaning"},
        {ENTRY("grpo", "layout: colocated, train: {gpus: 8}, rollout: "
                       "{home: a}"), "`controls: [colocated]` compares"},
        {ENTRY("grpo", "layout: colocated, train: {gpus: 6}, rollout: "
                       "{tp: 4}"), "multiples of 4"},
        {ENTRY("grpo", "offload: false, " APART), "offload has no meaning"},
        {ENTRY("grpo", "train: {gpus: 8}"), "rollout is missing"},
        {ENTRY("grpo", "layout: auto, train: {gpus: 8}"), "rollout is missing"},
        {ENTRY("grpo", "layout: auto, schedule: one-step-off, " APART),
         "needs layout disaggregated"},
        {ENTRY("dpo", "generation: offline, layout: auto, train: {gpus: 8}"),
         "no meaning for generation offline"},
        {ENTRY("dpo", "generation: offline, layout: colocated, train: "
                      "{gpus: 8}"), "no meaning for generation offline"},
        {ENTRY("ppo", "critic: gpt-9, " APART), "critic names gpt-9"},
        {ENTRY("grpo", "layout: shared, " APART), "colocated"},
        /* The least, 4, is a multiple of 4, and what is asked is not. */
        {ENTRY("grpo", "layout: colocated, train: {gpus: 6, min: 4}, rollout: "
                       "{tp: 4}"), "layout make, found 6"},
        /* 4 * 3 / 2 */
        {ENTRY("dpo", "responses: 4, pairs: 7, " APART),
         "w.yaml:8:27: pairs must be at most 6, the pairs of 4 responses, found 7"},
        {"  - {recipe: grpo, model: qwen2.5-1.5b, prompts: 32, prompt_tokens: 300,\n"
         "     response: {mean: 400, cv: 1, max: 2048}, reward: {core_time: 0s},\n"
         "     steps: 5, " APART "}\n",
         "w.yaml:5:67: core_time must be greater than 0, found 0"},
    };
    struct aid aid;

    (void)state;
    aid_open(&aid);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        if (form_of(&aid, row[i].entry) != NULL)
            fail_msg("accepted: %s", row[i].entry);
        if (strstr(aid_message(&aid), row[i].says) == NULL)
            fail_msg("%s lacks \"%s\"", aid_message(&aid), row[i].says);
    }
    aid_close(&aid);
}

/* ---- a whole run: rounds of a job ------------------------------------- */


#define EXPERIMENT \
    "experiment: rounds\nseed: 1\nseeds: 1\n" \
    "cluster:\n  nodes:\n" \
    "    - {name: a, count: 2, gpus: {type: h100, count: 8},\n" \
    "       cpu: {type: epyc-9654, sockets: 2}, memory: 2TB,\n" \
    "       nics: {type: ib-ndr, count: 8}, price: reserved}\n" \
    "workload:\n  arrival: {process: all_at_once}\n  jobs: 1\n  mix:\n" \
    "  - {recipe: grpo, model: qwen2.5-1.5b, prompts: 32, responses: 4,\n" \
    "     prompt_tokens: 300, response: {mean: 400, cv: 1, max: 2048},\n" \
    "     steps: 5, schedule: one-step-off, checkpoint_every: 2,\n" \
    "     rollout: {gpus: 8}, train: {gpus: 8}}\n" \
    "policies: [fcfs]\nuntil: drained\n"

/* Start and end of the k-th row of a phase and role; false: there is none. */
static bool nth(const char *csv, const char *phase, int k, double *start,
                double *end)
{
    char key[64];

    snprintf(key, sizeof key, ",%s,", phase);
    for (const char *at = csv; (at = strstr(at, key)) != NULL; at++) {
        if (k-- > 0)
            continue;
        at += strlen(key);
        return sscanf(at, "%lf,%lf", start, end) == 2;
    }
    return false;
}

/* Five steps are rounds 0 to 5: rollouts in 0 to 4, trainings in 1 to 5, and new weights
 * for the rollouts of rounds 2, 3 and 4, handed over in rounds 1, 2 and 3.  Every second
 * training is saved: the second and the fourth. */
static void one_step_off_generates_the_next_while_it_trains_on_the_last(
    void **state)
{
    struct program program;
    double generate[2], train[2], sync[2], save[2];

    (void)state;
    program_open(&program, program_name);
    assert_int_equal(program_experiment(
        &program, program_write(&program, "rounds.yaml", EXPERIMENT), "out",
        NULL), 0);
    char *csv = program_result(&program, "out", "phases.csv");
    assert_non_null(csv);
    for (int k = 0; k < 5; k++) {
        assert_true(nth(csv, "rollout,rollout", k, &generate[0], &generate[1]));
        assert_true(nth(csv, "train,train", k, &train[0], &train[1]));
        assert_true(train[0] >= generate[1]);
        if (k == 4)
            break;
        assert_true(nth(csv, "rollout,rollout", k + 1, &generate[0],
                        &generate[1]));
        /* The reference pass, first on the train GPUs, begins with it. */
        assert_true(generate[0] <= train[0]);
        if (k == 3)
            continue;
        assert_true(nth(csv, "sync,train", k, &sync[0], &sync[1]));
        assert_true(sync[0] >= train[1] && sync[0] >= generate[1]);
    }
    assert_false(nth(csv, "rollout,rollout", 5, &generate[0], &generate[1]));
    assert_false(nth(csv, "train,train", 5, &train[0], &train[1]));
    assert_false(nth(csv, "sync,train", 3, &sync[0], &sync[1]));
    for (int k = 0; k < 2; k++) {
        assert_true(nth(csv, "checkpoint,train", k, &save[0], &save[1]));
        assert_true(nth(csv, "train,train", 2 * k + 1, &train[0], &train[1]));
        assert_true(save[0] >= train[1]);
        assert_true(nth(csv, "train,train", 2 * k + 2, &train[0], &train[1]));
        assert_true(save[1] <= train[0]);
    }
    assert_false(nth(csv, "checkpoint,train", 2, &save[0], &save[1]));
    free(csv);
    csv = program_result(&program, "out", "compare.csv");
    assert_non_null(csv);
    assert_non_null(strstr(csv, ",steps_done,1,5,"));
    free(csv);
    program_close(&program);
}

/* DeepSeek-V3 with a reference, all weights trained: 32 nodes of eight H100,
 * tp 1, pp 16, ep 16, as NeMo-RL runs it.  The reference's experts are divided
 * as the policy's: 84 GB a GPU otherwise, and no place. */
static void a_published_mixture_keeps_its_reference_on_80_gb(void **state)
{
    struct program program;
    char *said;
    const char *text =
        "experiment: ds\nseed: 1\nseeds: 1\n"
        "cluster:\n"
        "  nodes:\n"
        "    - {name: h, count: 32, gpus: {type: h100, count: 8},\n"
        "       cpu: {type: epyc-9654, sockets: 2}, memory: 2TB,\n"
        "       nics: {type: ib-ndr, count: 8}}\n"
        "workload:\n"
        "  arrival: {process: all_at_once}\n  jobs: 1\n  mix:\n"
        "    - {recipe: grpo, model: deepseek-v3, method: full, pp: 16,\n"
        "       ep: 16, zero: 1, recompute: full, stack: engine,\n"
        "       layout: colocated, prompts: 32, responses: 16,\n"
        "       prompt_tokens: 256, response: {mean: 1000, cv: 1, max: 1280},\n"
        "       reward: {core_time: 10ms}, steps: 2, data: {cores: 16},\n"
        "       train: {gpus: 256}, rollout: {tp: 32}}\n"
        "policies: [fcfs]\n";

    (void)state;
    program_open(&program, program_name);
    const char *words[] = {"validate",
                           program_write(&program, "ds.yaml", text), NULL};
    if (program_say(&program, words, &said) != 0)
        fail_msg("%s", said);
    free(said);
    program_close(&program);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_data_of_a_run_are_those_of_its_steps),
        cmocka_unit_test(runs_of_a_phase_are_the_steps_in_which_it_is_due),
        cmocka_unit_test(ppo_trains_a_critic_before_the_policy),
        cmocka_unit_test(a_critic_may_be_another_model),
        cmocka_unit_test(a_critic_that_is_larger_than_the_policy_must_fit),
        cmocka_unit_test(a_larger_critic_has_larger_adapters),
        cmocka_unit_test(a_reward_model_has_room_beside_a_trainer_that_stays),
        cmocka_unit_test(a_process_takes_what_the_file_says),
        cmocka_unit_test(one_group_starts_both_processes),
        cmocka_unit_test(
            colocated_phases_share_one_lease_and_reload_in_between),
        cmocka_unit_test(auto_colocates_where_switches_are_dear),
        cmocka_unit_test(auto_makes_the_form_of_the_layout_that_it_takes),
        cmocka_unit_test(auto_stays_apart_where_one_group_has_no_room),
        cmocka_unit_test(what_stays_on_the_gpu_is_not_there_for_the_cache),
        cmocka_unit_test(
            a_rollout_in_parts_makes_as_many_tokens_and_ends_sooner),
        cmocka_unit_test(keys_that_fit_no_layout_are_refused_with_a_place),
        cmocka_unit_test(
            one_step_off_generates_the_next_while_it_trains_on_the_last),
        cmocka_unit_test(a_published_mixture_keeps_its_reference_on_80_gb),
    };
    (void)argc;
    program_name = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_test.c - recipes: phase graphs, roles, and demands that no cluster
 * can meet.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/laws/memory.h"
#include "models/laws/phase.h"
#include "models/laws/transfer.h"
#include "sim/config/conf.h"
#include "tests/aid/workload_aid.h"
#include "workloads/recipes/recipe.h"

#define HEAD "arrival: {process: all_at_once}\njobs: 3\nmix:\n"

static const char *const good_entries[] = {
    "  - {recipe: pretrain, model: llama-3.2-1b, zero: 1, batch: 64,\n"
    "     sequence: 2048, steps: 1000, train: {gpus: 8}}\n",
    "  - {recipe: sft, model: qwen2.5-7b, zero: 3, batch: 64, sequence: 2048,\n"
    "     recompute: full, steps: {lognormal: {mean: 2000, cv: 0.5}},\n"
    "     train: {gpus: 16}, data: {cores: 16, pool: cpu}}\n",
    "  - {recipe: lora, model: qwen2.5-7b, batch: 16, sequence: 1024,\n"
    "     steps: 300, train: {gpus: 4}}\n",
    "  - {recipe: dpo, model: qwen2.5-7b, prompts: 64, responses: 4,\n"
    "     prompt_tokens: 300, response: {mean: 500, cv: 1, max: 2048},\n"
    "     reward: {core_time: 50ms}, steps: 40,\n"
    "     rollout: {gpus: 8, min: 4, max: 16}, train: {gpus: 8},\n"
    "     data: {cores: 48, pool: cpu}}\n",
    "  - {recipe: dpo, generation: offline, model: qwen2.5-7b, prompts: 32,\n"
    "     prompt_tokens: 300, response: {mean: 500, cv: 1, max: 2048},\n"
    "     steps: 400, train: {gpus: 8}}\n",
    "  - {recipe: grpo, model: qwen2.5-7b, prompts: 64, responses: 8,\n"
    "     prompt_tokens: 300, response: {mean: 800, cv: 1, max: 4096},\n"
    "     reward: {on: gpu, model: qwen2.5-1.5b}, steps: 60,\n"
    "     rollout: {gpus: 8, tp: 2}, train: {gpus: 8}}\n",
    "  - {recipe: batch-infer, model: qwen2.5-7b, prompts: 1000,\n"
    "     prompt_tokens: 400, response: {mean: 200, cv: 0.8, max: 1024},\n"
    "     steps: 5, infer: {gpus: 4, max: 8}}\n",
    "  - {recipe: multimodal, model: qwen2.5-7b, method: lora, batch: 32,\n"
    "     sequence: 2048, steps: 500, train: {gpus: 8},\n"
    "     loader: {kind: image, size: 1000000, per_sequence: 2}}\n",
    "  - {recipe: ppo, model: qwen2.5-7b, prompts: 256, updates: 4,\n"
    "     prompt_tokens: 300, response: {mean: 500, cv: 1, max: 2048},\n"
    "     reward: {on: gpu, model: qwen2.5-7b}, steps: 40,\n"
    "     schedule: one-step-off, rollout: {gpus: 8}, train: {gpus: 8}}\n",
    "  - {recipe: grpo, model: qwen2.5-7b, prompts: 64, layout: colocated,\n"
    "     prompt_tokens: 300, response: {mean: 800, cv: 1, max: 4096,\n"
    "     partial: 1024}, steps: 60, rollout: {tp: 2}, train: {gpus: 8}}\n",
    "  - {recipe: sft, model: qwen2.5-1.5b, batch: 8, sequence: 2048, recompute: full,\n"
    "     steps: 10, optimizer_on: cpu, train: {gpus: 1, cores: 4, memory: 40GB}}\n",
};
#define GOOD_COUNT (sizeof good_entries / sizeof good_entries[0])

static const struct job_form *form_of(struct aid *aid, const char *entry)
{
    char text[4096];
    const struct workload_spec *spec;

    snprintf(text, sizeof text, "%s%s", HEAD, entry);
    spec = aid_workload(aid, "w.yaml", text);
    if (spec == NULL)
        fail_msg("%s", aid_message(aid));
    return workload_form(spec, 0);
}

/* Phases by their end: those before it in the mask have ended. */
static void check_form(const struct job_form *form)
{
    assert_in_range(form->role_count, 1, FORM_ROLES_MAX);
    assert_in_range(form->phase_count, 1, FORM_PHASES_MAX);
    for (uint32_t p = 0; p < form->phase_count; p++) {
        const struct phase_spec *phase = &form->phase[p];

        assert_true(phase->role < form->role_count);
        assert_int_equal(phase->after_mask >> p, 0);    /* no circle */
        assert_true(phase->every >= 1);
        assert_non_null(phase->law);
        assert_non_null(phase->name);
        if (phase->kind == PHASE_SYNC && phase->law->kind == LAW_SYNC)
            assert_int_not_equal(phase->role, phase->sync_to);
    }
    for (uint32_t r = 0; r < form->role_count; r++) {
        const struct role_spec *role = &form->role[r];
        bool used = false;

        for (uint32_t p = 0; p < form->phase_count; p++)
            used = used || form->phase[p].role == r;
        assert_true(used);
        if (role->gpus == 0)
            continue;
        assert_true(role->gpus_min <= role->gpus);
        assert_true(role->gpus <= role->gpus_max);
        assert_int_equal(role->gpus % role->gpus_multiple, 0);
        assert_true(role->gpu_type_count > 0);
        assert_true(role->gpu_memory_bytes > 0.0);
        assert_true(role->load_bytes > 0.0);
    }
}

static void every_recipe_makes_an_acyclic_graph_with_used_roles(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    for (size_t i = 0; i < GOOD_COUNT; i++)
        check_form(form_of(&aid, good_entries[i]));
    aid_close(&aid);
}

/* Every phase of a form runs on a gang of each type its role may use. */
static void check_runs(const struct aid *aid, const struct job_form *form)
{
    for (uint32_t p = 0; p < form->phase_count; p++) {
        const struct role_spec *role = &form->role[form->phase[p].role];

        for (uint32_t t = 0; t < role->gpu_type_count; t++) {
            const struct gpu_type *gpu =
                catalogue_gpu_at(aid->catalogue, role->gpu_types[t]);
            struct gang gang = {
                .gpu = gpu, .gpus = role->gpus, .nodes = 1,
                .intra_bps = 1e11, .intra_latency_s = 1e-5,
                .inter_bps = 1e10, .inter_latency_s = 1e-5, .cores = 32,
                .cpu = catalogue_cpu_at(aid->catalogue, 0)};

            if (!phase_can_run(form->phase[p].law, &gang))
                fail_msg("%s of %s cannot run on %s", form->phase[p].name,
                         form->name, gpu->name);
        }
    }
}

static void every_phase_can_run_on_every_type_of_its_role(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    for (size_t i = 0; i < GOOD_COUNT; i++)
        check_runs(&aid, form_of(&aid, good_entries[i]));
    aid_close(&aid);
}

static uint32_t phase_named(const struct job_form *form, const char *name)
{
    for (uint32_t p = 0; p < form->phase_count; p++)
        if (strcmp(form->phase[p].name, name) == 0)
            return p;
    fail_msg("no phase %s", name);
    return 0;
}

static void online_dpo_trains_after_reward_and_reference(void **state)
{
    struct aid aid;
    const struct job_form *form;
    uint32_t data, rollout, reward, reference, train, sync, checkpoint;

    (void)state;
    aid_open(&aid);
    form = form_of(&aid, good_entries[3]);
    data = phase_named(form, "data");
    rollout = phase_named(form, "rollout");
    reward = phase_named(form, "reward");
    reference = phase_named(form, "reference");
    train = phase_named(form, "train");
    sync = phase_named(form, "sync");
    checkpoint = phase_named(form, "checkpoint");
    assert_int_equal(form->phase[data].after_mask, 0);
    assert_int_equal(form->phase[rollout].after_mask, 1u << data);
    assert_int_equal(form->phase[reward].after_mask, 1u << rollout);
    assert_int_equal(form->phase[reference].after_mask, 1u << rollout);
    assert_true(form->phase[train].after_mask & 1u << reward);
    assert_true(form->phase[train].after_mask & 1u << reference);
    assert_int_equal(form->phase[sync].after_mask, 1u << train);
    assert_int_equal(form->phase[checkpoint].after_mask, 1u << train);
    assert_int_equal(form->phase[checkpoint].every, 10);
    assert_string_equal(form->role[form->phase[reward].role].name, "data");
    assert_string_equal(form->role[form->phase[sync].sync_to].name,
                        "rollout");
    assert_string_equal(form->role[form->phase[reference].role].name,
                        "train");
    /* 64 prompts x 4 responses, scored in 50 ms of one core each. */
    assert_near(form->phase[reward].law->core_s, 12.8, 1e-9);
    assert_near(form->phase[rollout].law->rollout.responses, 256, 0);
    /* One pair of chosen and rejected per prompt. */
    assert_near(form->phase[train].law->sequences, 128, 0);
    aid_close(&aid);
}

static void offline_dpo_has_no_rollout(void **state)
{
    struct aid aid;
    const struct job_form *form;

    (void)state;
    aid_open(&aid);
    form = form_of(&aid, good_entries[4]);
    assert_int_equal(form->role_count, 2);
    for (uint32_t p = 0; p < form->phase_count; p++) {
        assert_int_not_equal(form->phase[p].kind, PHASE_ROLLOUT);
        assert_int_not_equal(form->phase[p].kind, PHASE_SYNC);
    }
    aid_close(&aid);
}

static void grpo_trains_on_every_response(void **state)
{
    struct aid aid;
    const struct job_form *form;
    const struct phase_spec *reward, *train;

    (void)state;
    aid_open(&aid);
    form = form_of(&aid, good_entries[5]);
    reward = &form->phase[phase_named(form, "reward")];
    train = &form->phase[phase_named(form, "train")];
    assert_string_equal(form->role[reward->role].name, "rollout");
    assert_int_equal(reward->law->kind, LAW_FORWARD);
    assert_near(train->law->sequences, 64 * 8, 0);
    assert_int_equal(form->role[0].gpus_multiple, 2);
    aid_close(&aid);
}

static void cpu_nodes_take_the_decoding_from_the_train_role(void **state)
{
    struct aid aid;
    const struct job_form *form;
    const struct phase_spec *train, *preprocess;

    (void)state;
    aid_open(&aid);
    form = form_of(&aid, good_entries[1]);
    preprocess = &form->phase[phase_named(form, "preprocess")];
    train = &form->phase[phase_named(form, "train")];
    assert_true(preprocess->law->core_s > 0.0);
    /* It still receives what they send, and reads nothing. */
    assert_true(train->law->item.core_s <
                preprocess->law->core_s / train->law->sequences / 10);
    assert_near(train->law->item.storage_bytes, 0.0, 0.0);
    assert_true(preprocess->law->bytes > 0.0);
    assert_int_equal(train->after_mask, 0);     /* they run side by side */
    assert_int_equal(preprocess->after_mask, 0);
    aid_close(&aid);
}

static void runs_are_whole_and_checkpoints_fall_between_them(void **state)
{
    struct aid aid;
    const struct job_form *form;
    struct job_birth birth[3];
    char text[1024];
    const struct workload_spec *spec;
    uint32_t repeats;

    (void)state;
    aid_open(&aid);
    snprintf(text, sizeof text, "%s%s", HEAD, good_entries[0]);
    spec = aid_workload(&aid, "w.yaml", text);
    assert_non_null(spec);
    form = workload_form(spec, 0);
    repeats = form->phase[phase_named(form, "train")].law->repeats;
    assert_int_equal(repeats, 100);     /* a tenth of 1000 steps */
    assert_int_equal(aid_jobs(&aid, spec, 1, 0, birth, 3), 3);
    assert_int_equal(birth[0].request.steps * repeats, 1000);
    assert_int_equal(form->phase[phase_named(form, "checkpoint")].every *
                         repeats, 100);
    aid_close(&aid);
}

/* A tenth of 1,000,000 steps, of 43 * 1000 updates each, are 4.3e9 updates; 32 bits
 * hold 4,294,967,295, which are 99,882 whole steps: 99,882 * 43,000 = 4,294,926,000. */
static void updates_of_a_run_are_no_more_than_can_be_counted(void **state)
{
    struct aid aid;
    const struct job_form *form;

    (void)state;
    aid_open(&aid);
    form = form_of(&aid, "  - {recipe: dpo, generation: offline, model: qwen2.5-1.5b,\n"
                         "     prompts: 4000, prompt_tokens: 300, checkpoint_every: 0,\n"
                         "     response: {mean: 500, cv: 1, max: 2048}, epochs: 43,\n"
                         "     updates: 1000, steps: 1000000, train: {gpus: 8}}\n");
    assert_int_equal(form->phase[phase_named(form, "train")].law->repeats, 4294926000u);
    assert_int_equal(form->phase[phase_named(form, "reference")].law->repeats, 99882);
    aid_close(&aid);
}

/* ResNet-50 has 25.557e6 parameters: FP32 weights and momentum are 8 bytes each, saved once and
 * loaded to each of 4 GPUs; a new job loads weights alone.  Autocast's copy of 2 bytes is cast from
 * them, in memory only. */
static void nets_load_what_they_save(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct role_spec *role =
        form_of(&aid, "  - {recipe: net, model: resnet-50, precision: fp16, batch: 256,\n"
                      "     micro_batch: 64, steps: 10, train: {gpus: 4}}\n")->role;
    assert_near(role->save_bytes, 8 * 25.557e6, 1);
    assert_near(role->load_bytes, 4 * 8 * 25.557e6, 1);
    assert_near(role->first_bytes, 4 * 4 * 25.557e6, 1);
    assert_near(role->copy_bytes, 8 * 25.557e6, 1);
    aid_close(&aid);
}

static void loads_and_saves_are_those_of_the_laws(void **state)
{
    struct aid aid;
    const struct job_form *form;
    const struct llm *llm;

    (void)state;
    aid_open(&aid);
    form = form_of(&aid, good_entries[3]);
    llm = catalogue_llm(aid.catalogue, "qwen2.5-7b");
    /* Eight replicas of 16-bit weights. */
    assert_near(form->role[0].load_bytes,
                       8.0 * memory_weight_bytes(llm, PRECISION_BF16), 1.0);
    assert_near(form->role[0].save_bytes, 0.0, 0.0);
    assert_near(form->role[1].save_bytes,
                       transfer_checkpoint_bytes(
                           &form->phase[phase_named(form, "train")]
                                .law->train), 1.0);
    /* Only adapters move from trainer to rollout: rank 16, two bytes each. */
    assert_near(form->phase[phase_named(form, "sync")].law->bytes,
                       2.0 * memory_lora_params(llm, 16.0), 1.0);
    aid_close(&aid);
}

static void a_type_without_enough_memory_is_left_out(void **state)
{
    struct aid aid;
    const struct job_form *form;
    uint32_t big;

    (void)state;
    aid_open(&aid);
    big = catalogue_gpu(aid.catalogue, "a100-80")->index;
    form = form_of(&aid,
                   "  - {recipe: lora, model: llama-2-13b, batch: 8,\n"
                   "     sequence: 2048, steps: 10, train: {gpus: 8}}\n");
    assert_int_equal(form->role[0].gpu_type_count, 1);
    assert_int_equal(form->role[0].gpu_types[0], big);
    form = form_of(&aid,
                   "  - {recipe: batch-infer, model: qwen2.5-1.5b, steps: 1,\n"
                   "     prompts: 10, prompt_tokens: 9, infer: {gpus: 4,\n"
                   "     types: [a10, a100-80]}}\n");
    assert_int_equal(form->role[0].gpu_type_count, 2);
    assert_int_equal(form->role[0].gpu_types[1], big);
    aid_close(&aid);
}

static void the_mean_of_a_cut_length_agrees_with_its_integral(void **state)
{
    (void)state;
    /* Through the form: the reference pass has the mean length. */
    struct aid aid;
    const struct job_form *form;
    double s = sqrt(log(2.0)), mu = log(500.0) - s * s / 2.0, sum = 0.0;

    aid_open(&aid);
    form = form_of(&aid, good_entries[3]);
    for (int i = 0; i < 200000; i++) {  /* P(X > x) summed over x */
        double x = (i + 0.5) * 2048.0 / 200000.0;

        sum += 0.5 * erfc((log(x) - mu) / s / sqrt(2.0)) * 2048.0 / 200000.0;
    }
    assert_near(form->phase[phase_named(form, "reference")]
                           .law->train.sequence_tokens, 300.0 + sum, 0.01);
    aid_close(&aid);
}

/* ---- demands that nothing can meet ------------------------------------ */

struct refusal {
    const char *entry;
    const char *text;           /* part of the message, hint included */
};

static const struct refusal refusals[] = {
    {"  - {recipe: sft, model: llama-2-13b, batch: 8, sequence: 2048,\n"
     "     steps: 10, train: {gpus: 8}}\n",
     "w.yaml:5:24: role train of sft needs "},
    {"  - {recipe: sft, model: llama-2-13b, batch: 8, sequence: 2048,\n"
     "     steps: 10, train: {gpus: 8}}\n", " bytes ("},
    {"  - {recipe: sft, model: llama-2-13b, batch: 8, sequence: 2048,\n"
     "     steps: 10, train: {gpus: 8}}\n", "a100-80, has 8"},
    {"  - {recipe: sft, model: llama-2-13b, batch: 8, sequence: 2048,\n"
     "     steps: 10, train: {gpus: 8}}\n",
     "It would fit with zero: 2; or with tp: 4."},
    {"  - {recipe: batch-infer, model: llama-2-70b, prompts: 8,\n"
     "     prompt_tokens: 100, steps: 1, infer: {gpus: 4}}\n",
     "It would fit with tp: 2."},
    {"  - {recipe: lora, model: qwen2.5-7b, batch: 8, sequence: 512,\n"
     "     steps: 1, train: {gpus: 64}}\n",
     "it needs at least 64 GPUs of one type, the cluster has 32"},
    {"  - {recipe: lora, model: qwen2.5-7b, batch: 8, sequence: 512,\n"
     "     steps: 1, train: {gpus: 8, cores: 81}}\n",
     "with 81 cores and "},
    {"  - {recipe: lora, model: qwen2.5-7b, batch: 8, sequence: 512,\n"
     "     steps: 1, train: {gpus: 8, memory: 2TB}}\n",
     "only 0 of the 32 GPUs"},
    {"  - {recipe: lora, model: qwen2.5-7b, batch: 8, sequence: 512,\n"
     "     steps: 1, train: {gpus: 8, pool: trian}}\n",
     "The cluster has pool train."},
    {"  - {recipe: lora, model: qwen2.5-7b, batch: 8, sequence: 512,\n"
     "     steps: 1, train: {gpus: 8, types: [h100]}}\n",
     "the cluster has no GPU of the types it names"},
    {"  - {recipe: lora, model: qwen2.5-7b, batch: 8, sequence: 512,\n"
     "     steps: 1, train: {gpus: 8, types: [h100]}}\n", "It has "},
    {"  - {recipe: lora, model: qwen2.5-7b, batch: 8, sequence: 512,\n"
     "     steps: 1, train: {gpus: 8, types: [a100-8]}}\n",
     "Did you mean 'a100-80'?"},
    {"  - {recipe: lora, model: qwen2.5-7c, batch: 8, sequence: 512,\n"
     "     steps: 1, train: {gpus: 8}}\n",
     "w.yaml:4:27: model names qwen2.5-7c"},
    {"  - {recipe: lora, model: qwen2.5-7b, batch: 8, sequence: 512,\n"
     "     steps: 1, train: {gpus: 8}, data: {cores: 4000, pool: cpu}}\n",
     "it needs 4000 cores"},
    {"  - {recipe: lora, model: qwen2.5-7b, batch: 8, sequence: 512,\n"
     "     steps: 1, tp: 4, train: {gpus: 6}}\n", "must be multiples of 4"},
    {"  - {recipe: lora, model: qwen2.5-7b, batch: 8, sequence: 512,\n"
     "     steps: 1, train: {gpus: 6, min: 8}}\n",
     "must have min <= gpus <= max, found 8, 6 and 6"},
    {"  - {recipe: grpo, model: qwen2.5-1.5b, prompts: 8, steps: 3,\n"
     "     prompt_tokens: 9, response: {mean: 9, cv: 1, max: 99},\n"
     "     reward: {on: gpu, model: llama-2-70b}, rollout: {gpus: 8},\n"
     "     train: {gpus: 8}}\n", "w.yaml:6:14: role rollout of grpo needs"},
    {"  - {recipe: lora, model: qwen2.5-7b, batch: 8, sequence: 512,\n"
     "     steps: 0, train: {gpus: 8}}\n", "w.yaml:5:13: steps must be at"},
    {"  - {recipe: lora, model: qwen2.5-7b, batch: 8, sequence: 512,\n"
     "     steps: 1, limit: {uniform: [-5s, 5s]}, train: {gpus: 8}}\n",
     "5"},
    {"  - {recipe: sft, model: qwen2.5-1.5b, batch: 8, sequence: 2048, recompute: full,\n"
     "     steps: 10, optimizer_on: cpu, train: {gpus: 1, cores: 4, memory: 20GB}}\n",
     "w.yaml:5:71: memory of role train of sft must be at least 27.8 GB"},
    {"  - {recipe: sft, model: qwen2.5-1.5b, batch: 8, sequence: 2048, recompute: full,\n"
     "     steps: 10, optimizer_on: cpu, train: {gpus: 1, cores: 0, memory: 40GB}}\n",
     "w.yaml:5:60: cores of role train of sft must be at least 1"},
    {"  - {recipe: batch-infer, model: qwen2.5-1.5b, prompts: 8, prompt_tokens: 9, steps: 1,\n"
     "     response: {mean: 9, cv: 1, max: 5}, infer: {gpus: 8}}\n",
     "w.yaml:5:16: max of response must be at least its mean, found 5 and 9"},
    {"  - {recipe: batch-infer, model: qwen2.5-1.5b, prompts: 8, prompt_tokens: 9, steps: 1,\n"
     "     response: {mean: 9, cv: 1, max: 50, partial: 5}, infer: {gpus: 8}}\n",
     "needs a rollout, of dpo, grpo or ppo"},
    {"  - {recipe: lorra}\n", "Did you mean lora?"},
    {"  - {recipe: trace}\n", "gpus"},
    {"  - {recipe: sft, modle: x}\n", "model"},
};

static void impossible_demands_are_refused_with_a_reason(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        char text[4096];

        snprintf(text, sizeof text, "%s%s", HEAD, refusals[i].entry);
        if (aid_workload(&aid, "w.yaml", text) != NULL)
            fail_msg("accepted: %s", refusals[i].entry);
        if (strstr(aid_message(&aid), refusals[i].text) == NULL)
            fail_msg("%s lacks \"%s\"", aid_message(&aid), refusals[i].text);
    }
    aid_close(&aid);
}

static void the_missing_bytes_are_need_minus_memory(void **state)
{
    struct aid aid;
    char want[64];
    struct train_shape shape = {.method = TRAIN_FULL,
                                .precision = PRECISION_BF16, .zero = 0,
                                .recompute = RECOMPUTE_SELECTIVE,
                                .sequence_tokens = 2048, .micro_batch = 1,
                                .tp = 1, .pp = 1};
    double missing;

    (void)state;
    aid_open(&aid);
    shape.llm = catalogue_llm(aid.catalogue, "llama-2-13b");
    missing = memory_train(&shape, 8).total -
              catalogue_gpu(aid.catalogue, "a100-80")->memory_bytes;
    snprintf(want, sizeof want, ": %.0f bytes (", missing);
    assert_null(aid_workload(&aid, "w.yaml",
                             HEAD "  - {recipe: sft, model: llama-2-13b, "
                             "batch: 8, sequence: 2048, steps: 10, train: "
                             "{gpus: 8}}\n"));
    if (strstr(aid.err.text, want) == NULL)
        fail_msg("%s lacks \"%s\"", aid.err.text, want);
    aid_close(&aid);
}

static void a_hinted_remedy_is_true(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    assert_non_null(aid_workload(&aid, "w.yaml",
                                 HEAD "  - {recipe: batch-infer, model: "
                                 "llama-2-70b, prompts: 8, prompt_tokens: "
                                 "100, steps: 1, infer: {gpus: 4, tp: 2}}\n"));
    assert_non_null(aid_workload(&aid, "w.yaml",
                                 HEAD "  - {recipe: sft, model: "
                                 "llama-2-13b, batch: 8, sequence: 2048, "
                                 "steps: 10, zero: 2, train: {gpus: 8}}\n"));
    assert_null(aid_workload(&aid, "w.yaml",
                             HEAD "  - {recipe: batch-infer, model: "
                             "llama-2-70b, prompts: 8, prompt_tokens: "
                             "100, steps: 1, infer: {gpus: 4, tp: 1}}\n"));
    aid_close(&aid);
}

/* What `explain loader` shows. */
/* A lora job of a model with 12 heads and 28 layers, and what else an entry says. */
#define SMALL "  - {recipe: lora, model: qwen2.5-1.5b, sequence: 512, steps: 4, "

/* GPUs without a number are those of one replica; `min` and `max` without one are `gpus`.  A GPU
 * has 6 cores, and 16 GB of memory beside its state, unless the file says otherwise, if only 0;
 * a core that prepares data has 2 GB. */
static void a_role_has_what_its_keys_say(void **state)
{
    static const struct {
        const char *keys;
        uint32_t gpus, min, max, multiple, cores;
        int64_t memory;                 /* -1: 16 GB and a state */
    } row[] = {
        { "batch: 8, train: {}", 1, 1, 1, 1, 6, -1 },
        { "batch: 8, train: {gpus: 2}", 2, 2, 2, 1, 6, -1 },
        { "batch: 8, train: {gpus: 4, min: 2, max: 8, cores: 3}", 4, 2, 8, 1, 3, -1 },
        { "batch: 8, train: {gpus: 4, min: 4, max: 4, cores: 0, memory: 0GB}", 4, 4, 4, 1, 0, 0 },
        { "batch: 8, train: {memory: 7GB}", 1, 1, 1, 1, 6, 7000000000 },
        { "batch: 8, tp: 2, train: {}", 2, 2, 2, 2, 6, -1 },
        { "batch: 8, tp: 2, pp: 2, train: {gpus: 8, min: 4}", 8, 4, 8, 4, 6, -1 },
        { "batch: 8, tp: 12, train: {}", 12, 12, 12, 12, 6, -1 },
        { "batch: 8, pp: 28, train: {}", 28, 28, 28, 28, 6, -1 },
        { "batch: 8, pp: 4, vp: 7, train: {}", 4, 4, 4, 4, 6, -1 },
        { "batch: 8, micro_batch: 2, train: {gpus: 4}", 4, 4, 4, 1, 6, -1 },
    };
    struct aid aid;

    (void)state;
    aid_open(&aid);
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char entry[300];

        snprintf(entry, sizeof entry, SMALL "%s}\n", row[i].keys);
        const struct role_spec *role = &form_of(&aid, entry)->role[0];
        if (role->gpus != row[i].gpus || role->gpus_min != row[i].min ||
            role->gpus_max != row[i].max || role->gpus_multiple != row[i].multiple ||
            role->cores != row[i].cores)
            fail_msg("%s: %u, %u to %u, by %u, %u cores", row[i].keys, role->gpus,
                     role->gpus_min, role->gpus_max, role->gpus_multiple, role->cores);
        if (row[i].memory >= 0)
            assert_true(role->memory_bytes == row[i].memory);
        else
            assert_true(fabs((double)role->memory_bytes - 16e9 -
                             role->load_bytes / role->gpus) <= 1);
    }
    static const struct { const char *keys; uint32_t cores; int64_t memory; } data[] = {
        { "{cores: 8}", 8, 16000000000 }, { "{cores: 8, memory: 0GB}", 8, 0 },
        { "{cores: 8, memory: 5GB}", 8, 5000000000 },
    };
    for (size_t i = 0; i < sizeof data / sizeof data[0]; i++) {
        char entry[300];

        snprintf(entry, sizeof entry, SMALL "batch: 8, train: {}, data: %s}\n", data[i].keys);
        const struct job_form *form = form_of(&aid, entry);
        const struct role_spec *role = &form->role[strcmp(form->role[0].name, "data") == 0 ? 0 : 1];
        assert_string_equal(role->name, "data");
        assert_int_equal(role->gpus, 0);
        assert_int_equal(role->cores, data[i].cores);
        assert_true(role->memory_bytes == data[i].memory);
    }
    aid_close(&aid);
}

/* One beyond what the rows above have. */
static void a_role_beyond_its_bounds_is_refused(void **state)
{
    static const struct { const char *keys, *says; } row[] = {
        { "batch: 8, train: {gpus: 4, min: 5}", "must have min <= gpus <= max, found 5, 4 and 4" },
        { "batch: 8, train: {gpus: 4, max: 3}", "must have min <= gpus <= max, found 4, 4 and 3" },
        { "batch: 8, tp: 2, train: {gpus: 3}", "multiples of 2" },
        { "batch: 8, tp: 2, train: {gpus: 4, min: 3}", "multiples of 2" },
        { "batch: 8, tp: 2, train: {gpus: 4, max: 5}", "multiples of 2" },
        { "batch: 8, tp: 8, train: {}", "must divide the 12 heads" },
        { "batch: 8, pp: 29, train: {}", "at most the 28 layers" },
        { "batch: 8, pp: 4, vp: 8, train: {}", "at most the 28 layers" },
        { "batch: 7, micro_batch: 2, train: {gpus: 4}", "at least micro_batch times the" },
        { "batch: 8, ep: 2, train: {gpus: 2}", "has no experts" },
        { "batch: 8, precision: int8, train: {}", "Adapters on 4-bit weights are method: qlora" },
        { "batch: 8, precision: fp8, train: {types: [a100-80]}",
          "must be one that a100-80 has (fp32, tf32, fp16, bf16), found fp8" },
    };
    struct aid aid;

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[400];

        aid_open(&aid);
        snprintf(text, sizeof text, HEAD SMALL "%s}\n", row[i].keys);
        if (aid_workload(&aid, "w.yaml", text) != NULL)
            fail_msg("%s: accepted", row[i].keys);
        if (strstr(aid_message(&aid), row[i].says) == NULL)
            fail_msg("%s: %s", row[i].keys, aid_message(&aid));
        aid_close(&aid);
    }
}

static void the_help_of_a_loader_names_all_its_keys(void **state)
{
    (void)state;
    for (size_t i = 0; i < recipe_pretrain_schema.count; i++) {
        const struct conf_field *field = &recipe_pretrain_schema.fields[i];

        for (size_t k = 0; strcmp(field->key, "loader") == 0 &&
                           k < loader_schema.count; k++)
            if (strstr(field->help, loader_schema.fields[k].key) == NULL)
                fail_msg("%s is not in: %s", loader_schema.fields[k].key, field->help);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_recipe_makes_an_acyclic_graph_with_used_roles),
        cmocka_unit_test(every_phase_can_run_on_every_type_of_its_role),
        cmocka_unit_test(online_dpo_trains_after_reward_and_reference),
        cmocka_unit_test(offline_dpo_has_no_rollout),
        cmocka_unit_test(grpo_trains_on_every_response),
        cmocka_unit_test(cpu_nodes_take_the_decoding_from_the_train_role),
        cmocka_unit_test(runs_are_whole_and_checkpoints_fall_between_them),
        cmocka_unit_test(updates_of_a_run_are_no_more_than_can_be_counted),
        cmocka_unit_test(nets_load_what_they_save),
        cmocka_unit_test(loads_and_saves_are_those_of_the_laws),
        cmocka_unit_test(a_type_without_enough_memory_is_left_out),
        cmocka_unit_test(the_mean_of_a_cut_length_agrees_with_its_integral),
        cmocka_unit_test(impossible_demands_are_refused_with_a_reason),
        cmocka_unit_test(the_missing_bytes_are_need_minus_memory),
        cmocka_unit_test(a_hinted_remedy_is_true),
        cmocka_unit_test(a_role_has_what_its_keys_say),
        cmocka_unit_test(a_role_beyond_its_bounds_is_refused),
        cmocka_unit_test(the_help_of_a_loader_names_all_its_keys),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

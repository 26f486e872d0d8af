/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_roles_test.c - every role of every recipe with every demand that the cluster cannot
 * meet: refused where the role stands, with its name.
 *
 * The cluster has 4 nodes of 8 A100 (pool train), 8 of 4 A10 (pool rollout), and 2 without GPUs
 * (pool cpu); each has 80 cores, and at most 1 TB.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/jobs/job.h"
#include "models/laws/loader.h"
#include "models/laws/phase.h"
#include "tests/aid/workload_aid.h"

#define MODEL "model: qwen2.5-1.5b, "
#define GENERATES "prompts: 32, prompt_tokens: 128, response: {mean: 200, cv: 1, max: 1024}, " \
    "steps: 4, "
#define LEARNS "method: lora, recompute: full, reward: {on: cpu, core_time: 10ms}, " GENERATES
#define TRAINS "batch: 64, sequence: 512, steps: 10, "
#define ROLES_MAX 3

enum kind { NONE, GPUS, CORES };
static const struct entry {
    const char *text;
    struct { const char *name; enum kind kind; } role[ROLES_MAX];
} entries[] = {
    { "recipe: pretrain, zero: 3, recompute: full, " MODEL TRAINS, { { "train", GPUS } } },
    { "recipe: sft, zero: 3, recompute: full, " MODEL TRAINS,
      { { "train", GPUS }, { "data", CORES } } },
    { "recipe: lora, recompute: full, " MODEL TRAINS, { { "train", GPUS }, { "data", CORES } } },
    { "recipe: multimodal, method: lora, recompute: full, loader: {kind: image, size: 100000, "
      "per_sequence: 2}, " MODEL TRAINS, { { "train", GPUS }, { "data", CORES } } },
    { "recipe: net, model: resnet-50, precision: fp16, batch: 256, micro_batch: 16, steps: 9, "
      "loader: {kind: image, size: 150528}, ", { { "train", GPUS }, { "data", CORES } } },
    { "recipe: dpo, responses: 4, pairs: 2, " MODEL LEARNS,
      { { "rollout", GPUS }, { "train", GPUS }, { "data", CORES } } },
    { "recipe: grpo, responses: 8, " MODEL LEARNS,
      { { "rollout", GPUS }, { "train", GPUS }, { "data", CORES } } },
    { "recipe: ppo, " MODEL LEARNS,
      { { "rollout", GPUS }, { "train", GPUS }, { "data", CORES } } },
    { "recipe: batch-infer, " MODEL GENERATES, { { "infer", GPUS } } },
};

static const struct fault {
    enum kind kind;
    const char *keys, *says;    /* what must be in the message or the hint */
} faults[] = {
    { GPUS, "{gpus: 64}", "64 GPUs" },
    { GPUS, "{gpus: 8, pool: nowhere}", "nowhere" },
    { GPUS, "{gpus: 8, pool: cpu}", "" },
    { GPUS, "{gpus: 8, types: [h100]}", "the cluster has no GPU of the types it names" },
    { GPUS, "{gpus: 8, types: [a100-8]}", "a100-80" },
    { GPUS, "{gpus: 8, types: [a10], pool: train}", "" },
    { GPUS, "{gpus: 8, cores: 81}", "81 cores" },
    { GPUS, "{gpus: 8, memory: 2TB}", "only 0 of the" },
    { GPUS, "{gpus: 8, min: 9}", "must have min <= gpus <= max, found 9, 8 and 8" },
    { GPUS, "{gpus: 8, max: 7}", "must have min <= gpus <= max, found 8, 8 and 7" },
    { GPUS, "{gpus: 0}", "gpus" },
    { CORES, "{cores: 4000}", "4000 cores" },
    { CORES, "{cores: 8, pool: nowhere}", "nowhere" },
    { CORES, "{cores: 8, memory: 9000TB}", "" },
    { CORES, "{cores: 0}", "cores" },
};

/* The entry with one role to a line, from line 5 on; the one at `at` has these keys. */
static void write_entry(char *text, const struct entry *entry, int at, const char *keys)
{
    int n = sprintf(text, "arrival: {process: all_at_once}\njobs: 1\nmix:\n - {%s", entry->text);

    for (int r = 0; r < ROLES_MAX && entry->role[r].kind != NONE; r++)
        n += sprintf(text + n, "\n    %s: %s,", entry->role[r].name,
                     r == at ? keys : entry->role[r].kind == GPUS ? "{gpus: 8}" : "{cores: 8}");
    sprintf(text + n, "}\n");
}

/* Is an entry read?  With the fault in a role, it is refused in the role's line. */
static void try_fault(const struct entry *entry, int at, const struct fault *fault)
{
    const char *role = entry->role[at].name;
    char text[2000], place[40];
    struct aid aid;

    aid_open(&aid);
    write_entry(text, entry, at, fault->keys);
    if (aid_workload(&aid, "w.yaml", text) != NULL)
        fail_msg("%.30s: %s %s is accepted", entry->text, role, fault->keys);
    sprintf(place, "w.yaml:%d:", 5 + at);
    const char *said = aid_message(&aid);
    if (strncmp(said, place, strlen(place)) != 0 || strstr(said, fault->says) == NULL)
        fail_msg("%.30s: %s %s, said: %s", entry->text, role, fault->keys, said);
    aid_close(&aid);
}

static void every_role_that_finds_no_room_is_refused_at_its_place(void **state)
{
    (void)state;
    for (size_t e = 0; e < sizeof entries / sizeof entries[0]; e++)
        for (int r = 0; r < ROLES_MAX && entries[e].role[r].kind != NONE; r++)
            for (size_t f = 0; f < sizeof faults / sizeof faults[0]; f++)
                if (faults[f].kind == entries[e].role[r].kind)
                    try_fault(&entries[e], r, &faults[f]);
}

/* Without a fault they are read, and each role has what it asks for. */
static void every_entry_without_a_fault_is_read(void **state)
{
    (void)state;
    for (size_t e = 0; e < sizeof entries / sizeof entries[0]; e++) {
        char text[2000];
        struct aid aid;
        int count = 0;

        aid_open(&aid);
        write_entry(text, &entries[e], -1, "");
        const struct workload_spec *spec = aid_workload(&aid, "w.yaml", text);
        if (spec == NULL)
            fail_msg("%.30s: %s", entries[e].text, aid_message(&aid));
        const struct job_form *form = workload_form(spec, 0);
        for (int r = 0; r < ROLES_MAX && entries[e].role[r].kind != NONE; r++) {
            const struct role_spec *role = NULL;
            for (uint32_t i = 0; i < form->role_count; i++)
                if (strcmp(form->role[i].name, entries[e].role[r].name) == 0)
                    role = &form->role[i];
            assert_non_null(role);
            bool gpus = entries[e].role[r].kind == GPUS;
            assert_int_equal(role->gpus, gpus ? 8 : 0);
            assert_true(gpus || role->cores == 8);
            assert_true(role->gpus_min == role->gpus && role->gpus_max == role->gpus);
            count++;
        }
        assert_int_equal(form->role_count, count);
        aid_close(&aid);
    }
}

/* ---- laws ---- */

static const struct phase_law *law_of(const struct job_form *form, const char *phase)
{
    for (uint32_t p = 0; p < form->phase_count; p++)
        if (strcmp(form->phase[p].name, phase) == 0)
            return form->phase[p].law;
    fail_msg("%s has no phase %s", form->recipe, phase);
    return NULL;
}

/* Of 32 prompts: pairs are two sequences each, groups all of their responses; they are divided
 * over the updates, and seen in each epoch.  The engine generates all responses. */
static void sequences_are_those_of_the_recipe(void **state)
{
    static const struct {
        const char *recipe, *more;
        double trained, responses, of_prompt;
        uint32_t repeats;
        enum precision engine;
    } row[] = {
        { "dpo", "responses: 4, pairs: 1, ", 64, 128, 4, 1, PRECISION_BF16 },
        { "dpo", "responses: 4, pairs: 2, ", 128, 128, 4, 1, PRECISION_BF16 },
        { "dpo", "responses: 4, pairs: 6, updates: 3, ", 128, 128, 4, 3, PRECISION_BF16 },
        { "grpo", "responses: 8, ", 256, 256, 8, 1, PRECISION_BF16 },
        { "grpo", "responses: 8, updates: 4, ", 64, 256, 8, 4, PRECISION_BF16 },
        { "grpo", "responses: 8, updates: 4, epochs: 2, ", 64, 256, 8, 8, PRECISION_BF16 },
        { "ppo", "epochs: 3, ", 32, 32, 1, 3, PRECISION_BF16 },
        { "grpo", "responses: 8, precision: fp16, ", 256, 256, 8, 1, PRECISION_FP16 },
        { "grpo", "responses: 8, rollout: {gpus: 8, precision: fp32}, ", 256, 256, 8, 1,
          PRECISION_FP32 },
        { "grpo", "responses: 8, rollout: {gpus: 8, precision: int8}, ", 256, 256, 8, 1,
          PRECISION_INT8 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[1000];
        struct aid aid;

        aid_open(&aid);
        snprintf(text, sizeof text, "arrival: {process: all_at_once}\njobs: 1\nmix:\n - {recipe: "
                 "%s, %s" MODEL LEARNS "layout: disaggregated, %strain: {gpus: 8}}\n",
                 row[i].recipe, row[i].more,
                 strstr(row[i].more, "rollout") != NULL ? "" : "rollout: {gpus: 8}, ");
        const struct workload_spec *spec = aid_workload(&aid, "w.yaml", text);
        if (spec == NULL)
            fail_msg("%s: %s", text, aid_message(&aid));
        const struct phase_law *train = law_of(workload_form(spec, 0), "train");
        const struct phase_law *rollout = law_of(workload_form(spec, 0), "rollout");
        if (train->sequences != row[i].trained || train->repeats != row[i].repeats ||
            rollout->rollout.responses != row[i].responses ||
            rollout->rollout.responses_per_prompt != row[i].of_prompt ||
            rollout->rollout.precision != row[i].engine)
            fail_msg("%s%s: %g x %u trained, %g of %g generated, precision %d", row[i].recipe,
                     row[i].more, train->sequences, train->repeats, rollout->rollout.responses,
                     rollout->rollout.responses_per_prompt, (int)rollout->rollout.precision);
        aid_close(&aid);
    }
}

/* 64 sequences of two images are prepared on cores for each of ten steps: bytes, accesses and core
 * time are those of the images, whose parts are the law's of one image. */
static void data_prepared_on_cores_is_that_of_all_sequences(void **state)
{
    struct loader_item image = loader_item(LOADER_IMAGE, 100000);
    char text[1000];
    struct aid aid;

    (void)state;
    for (int batch = 64; batch <= 256; batch *= 4) {
        aid_open(&aid);
        snprintf(text, sizeof text, "arrival: {process: all_at_once}\njobs: 1\nmix:\n - {recipe: "
                 "multimodal, method: lora, loader: {kind: image, size: 100000, per_sequence: 2}, "
                 MODEL "batch: %d, sequence: 512, steps: 10, train: {gpus: 8}, data: {cores: 8}}\n",
                 batch);
        const struct workload_spec *spec = aid_workload(&aid, "w.yaml", text);
        if (spec == NULL)
            fail_msg("%s", aid_message(&aid));
        const struct phase_law *law = law_of(workload_form(spec, 0), "preprocess");
        double images = 2.0 * batch * law_of(workload_form(spec, 0), "train")->repeats;
        assert_true(image.reads > 0 && image.storage_bytes > 0);
        assert_near(law->reads, images * image.reads, 1e-6 * law->reads);
        assert_near(law->storage_bytes, images * image.storage_bytes, 1e-6 * law->storage_bytes);
        assert_true(law->bytes >= images * image.gpu_bytes * (1 - 1e-9));
        assert_true(law->core_s >= images * image.core_s * (1 - 1e-9));
        aid_close(&aid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_role_that_finds_no_room_is_refused_at_its_place),
        cmocka_unit_test(every_entry_without_a_fault_is_read),
        cmocka_unit_test(sequences_are_those_of_the_recipe),
        cmocka_unit_test(data_prepared_on_cores_is_that_of_all_sequences),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_roles_test.c - every role of every recipe with every demand that the cluster cannot
 * meet: refused where the role stands, with its name.
 *
 * The cluster has 4 nodes of 8 A100 (pool train), 8 of 4 A10 (pool rollout), and 2 without GPUs
 * (pool cpu); each has 80 cores, and at most 1 TB.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_role_that_finds_no_room_is_refused_at_its_place),
        cmocka_unit_test(every_entry_without_a_fault_is_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

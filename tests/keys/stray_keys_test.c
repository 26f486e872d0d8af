/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stray_keys_test.c - a key that stands one map too high or too low is told where it
 * belongs; one that belongs nowhere, or is near another, is told as before.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/program.h"

#define SERVICE(more, requests) \
    "services:\n  - name: chat\n    model: llama-3.1-8b\n    gpu: {gpus: 2}\n" more \
    "    requests: {arrival: {process: poisson, rate: 1/s}, prompt: {mean: 100, cv: 1}, " \
    "output: {mean: 10, cv: 1}" requests "}\n    replicas: 1\n"
#define MIX(entry) "arrival: {process: poisson, rate: 1/h}\njobs: 3\nmix:\n  - {" entry "}\n"
#define NODES(more) "nodes:\n  - {name: a, count: 1, gpus: {type: h100, count: 8}, " \
    "cpu: {type: epyc-9654}, memory: 1TB" more "}\n"

static const struct { const char *file, *text, *hint; } row[] = {
    { "w.yaml", SERVICE("    tp: 2\n", ""), "Below this map there is 'gpu.tp'. Keys are name, " },
    { "w.yaml", SERVICE("", ", peak: 3"), "Below this map there is 'arrival.peak'. Keys are " },
    { "w.yaml", "arrival: {process: poisson, rate: 1/h, mix: 3}\njobs: 3\n"
      "mix: [{recipe: trace, name: a, gpus: 1, duration: 1h}]\n",
      "It is a key of the map around this one. Keys are process, " },
    { "w.yaml", MIX("recipe: grpo, name: g, model: qwen3-4b, prompts: 8, prompt_tokens: 9, "
                    "response: {mean: 9, cv: 1, max: 99}, steps: 3, train: {gpus: 8}, "
                    "rollout: {gpus: 8}, concurrency: 9"),
      "Below this map there is 'rollout.concurrency'. Keys are " },
    { "w.yaml", MIX("recipe: sft, name: s, model: qwen3-4b, batch: 8, sequence: 512, steps: 3, "
                    "train: {gpus: 8, micro_batch: 2}"),
      "It is a key of the map around this one. Keys are gpus, " },
    { "c.yaml", NODES(", scale: always"), "Below this map there is 'rent.scale'. Keys are name, " },
    { "c.yaml", NODES("") "nvlink: 4\n",
      "Below this map there is 'nodes.nvlink'. Keys are name, " },
    { "w.yaml", SERVICE("    colour: 2\n", ""), "hint: Keys are name, model, " },
    { "w.yaml", SERVICE("    modle: 2\n", ""), "hint: Did you mean 'model'?" },
};

/* Writes the text to the file, which has a fault, and returns what `validate` says of it. */
static char *say_of(const struct program *program, const char *name, const char *text)
{
    char path[160], *said;
    const char *words[] = { "validate", path, NULL };
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", program->folder, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    assert_int_equal(program_say(program, words, &said), 3);
    return said;
}

static void a_stray_key_is_told_its_place(void **state)
{
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char *said = say_of(*state, row[i].file, row[i].text);

        if (strstr(said, row[i].hint) == NULL || strstr(said, " is not known in ") == NULL)
            fail_msg("row %zu lacks '%s':\n%s\n%s", i, row[i].hint, said, row[i].text);
        free(said);
    }
}

/* Up to three places are told, in the order of the keys that lead there. */
static void several_places_are_told_together(void **state)
{
    char *said = say_of(*state, "w.yaml",
        MIX("recipe: grpo, name: g, model: qwen3-4b, prompts: 8, prompt_tokens: 9, "
            "response: {mean: 9, cv: 1, max: 99}, steps: 3, train: {gpus: 8}, "
            "rollout: {gpus: 8}, pool: a"));

    assert_non_null(strstr(said, "Below this map there is 'train.pool', 'rollout.pool' and "
                           "'data.pool'. Keys are recipe, "));
    free(said);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_stray_key_is_told_its_place, program_setup,
                                        program_teardown),
        cmocka_unit_test_setup_teardown(several_places_are_told_together, program_setup,
                                        program_teardown),
    };

    assert(argc > 0);
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * words_test.c - text that a policy takes is one of its words, or a name that
 * the experiment has; nothing else passes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "policies/params.h"
#include "tests/aid/world.h"

#define HEAD "experiment: t\nuntil: drained\n" \
    "cluster: {nodes: [{name: alpha, gpus: {type: generic, count: 4}}, " \
    "{name: beta, gpus: {type: generic, count: 4}}]}\n" \
    "workload: {arrival: {process: all_at_once}, jobs: 3, mix: [{recipe: " \
    "trace, gpus: 2, duration: 1h}]}\n"

/* Empty: it is read; else what is told. */
static const char *told(const char *policy, const char *key, const char *word)
{
    static char text[1600];
    struct world world = { .folder = "" };
    char yaml[900];

    snprintf(yaml, sizeof yaml, HEAD "policies: [{policy: %s, %s: %s}]\n",
             policy, key, word);
    text[0] = '\0';
    if (!world_open(&world, yaml))
        snprintf(text, sizeof text, "%d:%d %s|%s", (int)world.err.pos.line,
                 (int)world.err.pos.col, world.err.text, world.err.hint);
    world_close(&world);
    return text;
}

struct row {
    const char *policy, *key, *word, *says;
};

static void text_that_is_no_word_is_refused_where_it_stands(void **state)
{
    static const struct row rows[] = {
        { "easy", "reservation", "sometimes", "one of head, none, found "
          "'sometimes'" },
        { "easy", "reservation", "haed", "Did you mean 'head'?" },
        { "dlas", "demotion", "corected", "Did you mean 'corrected'?" },
        { "dlas", "service", "gpus", "one of gpu-time, time" },
        { "gavel", "objective", "makespam", "Did you mean 'makespan'?" },
        { "lucid", "packs", "often", "one of loaded, always, never" },
        { "lucid", "profiler", "gamma", "one of none, alpha, beta" },
        { "starburst", "wait", "runtimes", "Did you mean 'runtime'?" },
        { "starburst", "cloud", "bata", "Did you mean 'beta'?" },
        { "unicef", "wait", "later", "one of now, offset, unset" },
        { "wfp3", "wait", "offset", "one of now, unset" },
        { "harvest", "from", "serve", "one of alpha, beta" },
        { "harvest", "role", "rolout", "one of gpus, found 'rolout'" },
        { "spot-rollout", "spot", "alhpa", "Did you mean 'alpha'?" },
        { "spot-rollout", "role", "gpu", "Did you mean 'gpus'?" },
        { "spot-rollout", "reserved", "train", "one of alpha, beta" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *said = told(rows[i].policy, rows[i].key, rows[i].word);

        if (strstr(said, rows[i].says) == NULL || strncmp(said, "5:", 2) != 0)
            fail_msg("%s %s: %s: %s", rows[i].policy, rows[i].key,
                     rows[i].word, said);
    }
}

static void words_and_names_that_are_there_are_read(void **state)
{
    static const struct row rows[] = {
        { "easy", "reservation", "none", "" },
        { "dlas", "demotion", "tiresias", "" },
        { "gavel", "objective", "finish-time", "" },
        { "lucid", "profiler", "beta", "" },
        { "lucid", "profiler", "none", "" },
        { "starburst", "cloud", "beta", "" },
        { "wfp3", "wait", "unset", "" },
        { "harvest", "from", "alpha", "" },
        { "harvest", "role", "gpus, from: beta", "" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        assert_string_equal(told(rows[i].policy, rows[i].key, rows[i].word),
                            "");
}

static void no_text_of_a_policy_is_left_unchecked(void **state)
{
    const struct cs_policy *policy;
    unsigned seen = 0;

    (void)state;
    for (size_t i = 0; (policy = registry_at(i)) != NULL; i++)
        for (uint32_t k = 0; k < policy->param_count; k++) {
            const struct cs_param *param = &policy->param[k];

            if (param->type != CS_PARAM_TEXT && param->type != CS_PARAM_CHOICE)
                continue;
            seen++;
            if (told(policy->name, param->key, "such-there-is-none")[0] == '\0')
                fail_msg("%s of %s takes any text", param->key, policy->name);
        }
    assert_true(seen >= 13);
}

/* A value that changes nothing may stand where its key cannot act, alone of all its values. */
static void a_value_that_changes_nothing_may_stand(void **state)
{
    static const struct row idle[] = {
        { "fcfs", "backfill", "false", "" },
        { "fcfs", "relax_after", "0s", "" },
        { "fcfs, placement: random", "ties", "lowest", "" },
    }, acts[] = {
        { "fcfs", "backfill", "true", "blocking: commit" },
        { "fcfs", "relax_after", "1s", "placement: consolidate" },
        { "fcfs, placement: random", "ties", "shuffled", "placement: not random" },
        { "fcfs", "noise", "0", "backfill: true" },
        { "sjf", "noise", "1", "estimate: noisy" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof idle / sizeof idle[0]; i++)
        assert_string_equal(told(idle[i].policy, idle[i].key, idle[i].word), "");
    for (size_t i = 0; i < sizeof acts / sizeof acts[0]; i++) {
        const char *said = told(acts[i].policy, acts[i].key, acts[i].word);

        if (strstr(said, acts[i].says) == NULL)
            fail_msg("%s %s: %s", acts[i].policy, acts[i].key, said);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_value_that_changes_nothing_may_stand),
        cmocka_unit_test(text_that_is_no_word_is_refused_where_it_stands),
        cmocka_unit_test(words_and_names_that_are_there_are_read),
        cmocka_unit_test(no_text_of_a_policy_is_left_unchecked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fingerprint_test.c - the fingerprint of a workload differs where jobs or requests do,
 * and nowhere else.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/aid/workload_aid.h"

static const char mix[] =
    "arrival: {process: poisson, rate: 4/h}\n"
    "jobs: 40\n"
    "mix:\n"
    "  - {recipe: lora, name: a, share: 3, model: qwen2.5-1.5b, batch: 8,\n"
    "     sequence: 512, steps: {gamma: {mean: 400, cv: 2}}, priority: 1,\n"
    "     limit: {constant: 2h}, deadline: 1d, tenant: t, train: {gpus: 4}}\n"
    "  - {recipe: trace, name: w, gpus: {choice: {1: 1, 2: 1}}, "
    "duration: {exponential: {mean: 1h}}}\n";

static const char services[] =
    "services:\n"
    "  - {name: s, model: qwen2.5-1.5b, gpu: {tp: 1, types: [a10]}, replicas: {min: 1, max: 2},\n"
    "     prefix_cache: 0.3,\n"
    "     requests: {arrival: {process: poisson, rate: 5/s}, for: 1h,\n"
    "       prompt: {lognormal: {mean: 300, cv: 1}, max: 2000},\n"
    "       output: {lognormal: {mean: 90, cv: 1}, max: 500},\n"
    "       prefix: {tokens: 128, count: 20, skew: 1}}}\n";

/* Returns the fingerprint of a text in which `from` became `to`. */
static uint64_t find_changed(struct aid *aid, const char *text, const char *from,
                             const char *to)
{
    char changed[2048];
    const char *at = strstr(text, from);
    const struct workload_spec *spec;

    assert_non_null(at);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - text), text, to,
             at + strlen(from));
    spec = aid_workload(aid, "w.yaml", changed);
    if (spec == NULL)
        fail_msg("%s: %s", to, aid_message(aid));
    return workload_fingerprint(spec, 1, 0);
}

static void other_jobs_have_another_fingerprint(void **state)
{
    static const char *const change[][2] = {
        { "rate: 4/h", "rate: 5/h" }, { "jobs: 40", "jobs: 39" },
        { "name: a", "name: b" }, { "recipe: lora", "recipe: sft" },
        { "share: 3", "share: 4" }, { "mean: 400", "mean: 401" },
        { "priority: 1", "priority: 2" }, { "constant: 2h", "constant: 3h" },
        { "deadline: 1d", "deadline: 2d" }, { "tenant: t", "tenant: u" },
        { "gpus: 4", "gpus: 8" }, { "2: 1}", "4: 1}" }, { "mean: 1h", "mean: 2h" },
        { "name: w", "name: v" },
    };
    size_t count = sizeof change / sizeof change[0];
    uint64_t seen[32];
    struct aid aid;

    (void)state;
    aid_open(&aid);
    seen[count] = find_changed(&aid, mix, "a", "a");
    for (size_t i = 0; i < count; i++) {
        seen[i] = find_changed(&aid, mix, change[i][0], change[i][1]);
        if (seen[i] == seen[count])
            fail_msg("%s is not told from %s", change[i][1], change[i][0]);
        for (size_t j = 0; j < i; j++)
            assert_true(seen[i] != seen[j]);
    }
    aid_close(&aid);
}

/* The law of a phase says how long a job takes, and not what it is. */
static void the_same_jobs_have_the_same_fingerprint(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    uint64_t first = find_changed(&aid, mix, "a", "a");

    assert_true(find_changed(&aid, mix, "a", "a") == first);
    assert_true(find_changed(&aid, mix, "batch: 8", "batch: 16") == first);
    assert_true(find_changed(&aid, mix, "jobs: 40", "jobs: 40\nfor: 365d") == first);
    aid_close(&aid);
}

/* Of known length, only arrivals, sizes and lengths count: the seed that draws lengths of
 * responses does not act.  Otherwise it does. */
static void seeds_and_replicas_have_fingerprints_of_their_own(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct workload_spec *drawn = aid_workload(&aid, "w.yaml", mix);
    const struct workload_spec *fixed = aid_workload(
        &aid, "w.yaml", "arrival: {process: fixed, every: 1h}\njobs: 9\nmix:\n  - {recipe: "
        "trace, gpus: 1, duration: 1h}\n");
    const struct workload_spec *lengths = aid_workload(
        &aid, "w.yaml", "arrival: {process: fixed, every: 1h}\njobs: 9\nmix:\n  - {recipe: "
        "batch-infer, model: qwen2.5-1.5b, prompts: 10, prompt_tokens: 9, steps: 4, "
        "response: {mean: 90, cv: 1, max: 400}, infer: {gpus: 2}}\n");

    assert_true(drawn != NULL && fixed != NULL && lengths != NULL);
    uint64_t first = workload_fingerprint(drawn, 1, 0);

    assert_true(workload_fingerprint(drawn, 1, 0) == first);
    assert_true(workload_fingerprint(drawn, 2, 0) != first);
    assert_true(workload_fingerprint(drawn, 1, 1) != first);
    assert_true(workload_fingerprint(fixed, 1, 0) == workload_fingerprint(fixed, 2, 3));
    assert_true(workload_fingerprint(lengths, 1, 0) != workload_fingerprint(lengths, 2, 0));
    aid_close(&aid);
}

static void other_requests_have_another_fingerprint(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    uint64_t first = find_changed(&aid, services, "s", "s");

    assert_true(find_changed(&aid, services, "rate: 5/s", "rate: 6/s") != first);
    assert_true(find_changed(&aid, services, "mean: 300", "mean: 301") != first);
    assert_true(find_changed(&aid, services, "mean: 90", "mean: 91") != first);
    assert_true(find_changed(&aid, services, "skew: 1", "skew: 2") != first);
    assert_true(find_changed(&aid, services, "max: 2}", "max: 3}") == first);
    aid_close(&aid);
}

/* Row 1,001 of a trace is not looked at, and row 1,000 is; its file is an input, which has
 * a hash of its own. */
static void the_first_jobs_of_a_trace_count(void **state)
{
    static const char text[] = "trace: {file: fingerprint_%s.csv, format: csv, columns: "
                               "{submit: s, duration: d, gpus: g}}\n";
    static const char *const name[] = { "a", "b", "c" };
    static const unsigned other[] = { 0, FINGERPRINT_DRAWN, FINGERPRINT_DRAWN + 1 };
    uint64_t seen[3];
    struct aid aid;

    (void)state;
    aid_open_generic(&aid, 8);
    for (size_t f = 0; f < 3; f++) {
        char path[64], spec[256];

        snprintf(path, sizeof path, "build/fingerprint_%s.csv", name[f]);
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs("s,d,g\n", file);
        for (unsigned i = 1; i <= FINGERPRINT_DRAWN + 5; i++)
            fprintf(file, "%u,%u,1\n", i, other[f] == i ? 61 : 60);
        assert_int_equal(fclose(file), 0);
        snprintf(spec, sizeof spec, text, name[f]);
        const struct workload_spec *trace = aid_workload(&aid, "build/w.yaml", spec);
        if (trace == NULL)
            fail_msg("%s", aid_message(&aid));
        seen[f] = workload_fingerprint(trace, 1, 0);
        assert_int_equal(remove(path), 0);
    }
    assert_true(seen[0] != seen[1]);
    assert_true(seen[0] == seen[2]);
    aid_close(&aid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(other_jobs_have_another_fingerprint),
        cmocka_unit_test(the_same_jobs_have_the_same_fingerprint),
        cmocka_unit_test(seeds_and_replicas_have_fingerprints_of_their_own),
        cmocka_unit_test(other_requests_have_another_fingerprint),
        cmocka_unit_test(the_first_jobs_of_a_trace_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

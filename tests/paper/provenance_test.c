/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * provenance_test.c - provenance.json of a run whose every line is known: what was run, by which
 * words, on which nodes at which prices and loads, and from which bytes.
 */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <gsl/gsl_version.h>
#include <xxhash.h>
#include <yaml.h>

#include "tests/aid/program.h"

static struct program program;

static const char experiment[] =
    "experiment: p\n"
    "description: 'two \"kinds\" of nodes'\n"
    "seeds: 2\n"
    "seed: 5\n"
    "until: 10h\n"
    "warmup: 30min\n"
    "cluster:\n"
    "  nodes:\n"
    "    - {name: a, count: 2, gpus: {type: a100-80, count: 4}, cpu: {type: epyc-7742},\n"
    "       memory: 512GB, price: spot}\n"
    "    - {name: c, count: 1, cpu: {type: epyc-7763}, memory: 512GB, price: 2USD/h}\n"
    "workload: {arrival: {process: poisson, rate: 4/h}, for: 8h, mix: [{recipe: trace,\n"
    "  gpus: 2, duration: {exponential: {mean: 1h}}}]}\n"
    "policies: [fcfs, {policy: sjf, name: short, with: {cluster.nodes.a.count: 3}}, fair-share]\n"
    "baseline: short\n"
    "sweep: {workload.arrival.rate: [2/h, 4/h, 6/h]}\n"
    "output: {plots: []}\n";

static const char *compiler(void)
{
#if defined(__clang__)
    return "clang " __clang_version__;
#else
    return "gcc " __VERSION__;
#endif
}

/* Holds the next lines of the file to the text; returns what is behind them. */
static const char *next_lines(const char *at, const char *lines)
{
    size_t same = 0;

    while (lines[same] != '\0' && lines[same] == at[same])
        same++;
    if (lines[same] != '\0')
        fail_msg("found '%.60s', wanted '%.60s'", at + same, lines + same);
    return at + same;
}

/* The lines before the list of what was taken by default; what the build names is skipped. */
static const char *check_head(const char *at, const char *yaml)
{
    char text[2000];

    at = next_lines(at, "{\n  \"program\": \"clustersim\",\n  \"version\": \"");
    snprintf(text, sizeof text, "\",\n  \"compiler\": \"%s\",\n  \"flags\": \"", compiler());
    at = next_lines(strchr(at, '"'), text);
    at = next_lines(strchr(at, '"'), "\",\n  \"program_xxh64\": \"");
    assert_int_equal(strspn(at, "0123456789abcdef"), 16);
    snprintf(text, sizeof text, "\",\n  \"gsl\": \"%s\",\n  \"libyaml\": \"%s\",\n"
             "  \"command\": [\"%s\", \"run\", \"%s\", \"-q\", \"-o\", \"%s/out\"],\n"
             "  \"experiment\": \"p\",\n  \"description\": \"two \\\"kinds\\\" of nodes\",\n"
             "  \"file\": \"%s\",\n  \"seed\": 5,\n  \"seeds\": 2,\n  \"points\": 3,\n"
             "  \"trials\": 18,\n  \"detail_seeds\": 1,\n  \"until_s\": 36000,\n"
             "  \"warmup_s\": 1800,\n  \"baseline\": \"short\",\n", GSL_VERSION,
             yaml_get_version_string(), program.path, yaml, program.folder, yaml);
    return next_lines(at + 16, text);
}

/* Three nodes of a are four GPUs each to `short` alone, which is the baseline; others have two.
 * Arrivals of 2, 4 and 6 jobs an hour with two GPUs for an hour are 4, 8 and 12 GPUs of work: of
 * 8 GPUs or of 12. */
static void each_line_is_what_was_run(void **state)
{
    static const char policies[] =
        "  \"sweep\": [{\"key\": \"workload.arrival.rate\", \"label\": \"arrival.rate\"}],\n"
        "  \"policies\": [\n"
        "    {\"name\": \"fcfs\", \"policy\": \"fcfs\", \"semantics\": \"blocking=strict "
        "placement=pack\", \"clairvoyant\": false},\n"
        "    {\"name\": \"short\", \"policy\": \"sjf\", \"semantics\": \"blocking=strict "
        "placement=pack estimate=exact\", \"clairvoyant\": false},\n";
    static const char cluster[] =
        "  \"prices\": [\n"
        "    {\"nodes\": \"a\", \"price\": \"a100-80-spot\", \"tier\": \"spot\", \"as_of\": "
        "\"2026-03\", \"assumption\": false}\n  ],\n"
        "  \"cluster\": {\"point\": \"arrival.rate=4/h\", \"not_of\": [\"fcfs\", \"fair-share\"], "
        "\"nodes\": [\n"
        "    {\"name\": \"a\", \"pool\": \"a\", \"first\": 0, \"count\": 3, \"gpus\": 4, "
        "\"gpu\": \"a100-80\"},\n"
        "    {\"name\": \"c\", \"pool\": \"c\", \"first\": 3, \"count\": 1, \"gpus\": 0, "
        "\"gpu\": \"\"}\n  ]},\n  \"defaults\": [\n";
    static const char *const rho[] = { "0.5", "0.333333", "1", "0.666667", "1.5", "1" };
    const char *yaml = program_write(&program, "e.yaml", experiment), *at;
    char *text, line[300];

    (void)state;
    yaml = strdup(yaml);
    assert_int_equal(program_experiment(&program, yaml, "out", NULL), 0);
    text = program_result(&program, "out", "provenance.json");
    at = next_lines(check_head(text, yaml), policies);
    at = next_lines(strstr(at, "  \"prices\""), cluster);
    at = next_lines(strstr(at, "  \"load\""), "  \"load\": [\n");
    for (int i = 0; i < 6; i++) {
        snprintf(line, sizeof line, "    {\"point\": \"arrival.rate=%d/h\", \"policies\": \"%s\", "
                 "\"pool\": \"a\", \"of\": \"GPUs\", \"capacity\": %d, \"rho\": %s}%s\n",
                 2 + i / 2 * 2, i % 2 == 0 ? "fcfs, fair-share" : "short", i % 2 == 0 ? 8 : 12,
                 rho[i], i < 5 ? "," : "");
        at = next_lines(at, line);
    }
    at = next_lines(at, "  ],\n  \"jobs\": [\n    {\"point\": \"arrival.rate=2/h\", \"fing");
    snprintf(line, sizeof line, "  \"inputs\": [\n    {\"file\": \"%s\", \"xxh64\": \"%016" PRIx64
             "\"}\n  ]\n}\n", yaml, (uint64_t)XXH64(experiment, strlen(experiment), 0));
    at = next_lines(strstr(at, "  \"inputs\""), line);
    assert_true(*at == '\0');
    free(text);
    free((char *)(uintptr_t)yaml);
}

/* A run that ends when it is drained has no time of an end, and one without a baseline names
 * none. */
static void what_is_not_said_is_null_or_empty(void **state)
{
    const char *yaml = program_write(&program, "d.yaml",
        "experiment: d\nseeds: 1\ncluster: {nodes: [{name: a, count: 1, gpus: {type: generic, "
        "count: 8}}]}\nworkload: {arrival: {process: fixed, times: [0s]}, mix: [{recipe: trace, "
        "gpus: 1, duration: 1h}]}\npolicies: [fcfs]\noutput: {plots: []}\n");
    static const char *const has[] = {
        "  \"description\": \"\",\n", "  \"until_s\": null,\n  \"warmup_s\": 0,\n  \"baseline\": ",
        "  \"sweep\": [],\n", "  \"prices\": [],\n", "  \"points\": 1,\n  \"trials\": 1,\n"
    };

    (void)state;
    assert_int_equal(program_experiment(&program, yaml, "d", NULL), 0);
    char *text = program_result(&program, "d", "provenance.json");
    for (size_t i = 0; i < sizeof has / sizeof has[0]; i++)
        if (strstr(text, has[i]) == NULL)
            fail_msg("'%s' is not in %s", has[i], text);
    assert_null(strstr(text, "not_of"));
    free(text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_is_what_was_run),
        cmocka_unit_test(what_is_not_said_is_null_or_empty),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}

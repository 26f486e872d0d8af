/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * columns_test.c - what other programs are told of results: columns with types and units,
 * swept keys, and files as JSON.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/columns/columns.h"
#include "models/types/placement.h"
#include "policies/host/host.h"
#include "sim/base/rng.h"
#include "tests/aid/program.h"

const char *program_argv0;

#define EXPERIMENT(sweep) \
    "experiment: tiny\n" \
    "cluster: {nodes: [{name: n, count: 2, gpus: {type: generic, count: 8}}]}\n" \
    "workload:\n  arrival: {process: poisson, rate: 4/h}\n  jobs: 5\n" \
    "  mix: [{recipe: trace, gpus: 4, duration: 1h}]\n" \
    "policies: [fcfs]\n" sweep "output: {plots: []}\n"

/* What has the unit of a metric, a limit or an input that another column names. */
static bool has_unit_of_another(const struct csv_kind *kind, const char *name)
{
    static const char *const of[] = {
        "compare.csv mean", "compare.csv ci95_low", "compare.csv ci95_high",
        "checks.csv at_least", "checks.csv at_most", "checks.csv value", "checks.csv ci_low",
        "checks.csv ci_high", "sensitivity.csv effect", "sensitivity.csv spread",
        "sensitivity.csv value_from", "sensitivity.csv value_to", "options.csv at_least",
        "options.csv at_most", "options.csv mean", "options.csv ci95_low",
        "options.csv ci95_high", "options.csv quantile_value", "options.csv worst"
    };
    char text[80];

    snprintf(text, sizeof text, "%s %s", kind->file, name);
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++)
        if (strcmp(of[i], text) == 0)
            return true;
    return false;
}

static void every_number_has_a_unit(void **state)
{
    const struct csv_kind *kind;
    size_t kinds = 0, numbers = 0;

    (void)state;
    for (; (kind = csv_kind_at(kinds)) != NULL; kinds++)
        for (size_t c = 0; c < kind->count; c++) {
            const char *name = kind->columns[c].name, *unit = csv_column_unit(kind, c);

            if (kind->columns[c].type == TABLE_TEXT) {
                assert_string_equal(unit, "");
                continue;
            }
            numbers++;
            if ((unit[0] == '\0') != has_unit_of_another(kind, name))
                fail_msg("%s of %s has the unit '%s'", name, kind->file, unit);
        }
    assert_int_equal(kinds, 16);
    assert_true(numbers > 150);
}

static void units_are_those_of_the_field(void **state)
{
    static const struct { const char *file, *column, *unit; } want[] = {
        { "summary.csv", "jct_mean_s", "s" }, { "summary.csv", "cost_usd", "USD" },
        { "summary.csv", "seed", "count" }, { "summary.csv", "useful_gpu_s", "GPU-s" },
        { "jobs.csv", "gpu_seconds", "GPU-s" }, { "jobs.csv", "gpus", "count" },
        { "jobs.csv", "cost_usd", "USD" }, { "jobs.csv", "submit_s", "s" },
        { "compare.csv", "delta_percent", "%" }, { "timeline.csv", "cost_usd_per_h", "USD/h" },
        { "services.csv", "ttft_p99_s", "s" }, { "services.csv", "tokens_per_s", "tokens/s" },
        { "tenants.csv", "gpu_share", "fraction" }, { "phases.csv", "rate", "1/s" },
    };
    size_t found = 0;

    (void)state;
    for (size_t k = 0; csv_kind_at(k) != NULL; k++)
        for (size_t c = 0; c < csv_kind_at(k)->count; c++)
            for (size_t w = 0; w < sizeof want / sizeof want[0]; w++) {
                if (strcmp(want[w].file, csv_kind_at(k)->file) != 0 ||
                    strcmp(want[w].column, csv_kind_at(k)->columns[c].name) != 0)
                    continue;
                assert_string_equal(csv_column_unit(csv_kind_at(k), c), want[w].unit);
                found++;
            }
    assert_int_equal(found, sizeof want / sizeof want[0]);
}

/* What the column can hold is what its help lists, no more and no less. */
static void the_help_of_action_lists_all_actions(void **state)
{
    const struct table_column *column = csv_decisions.columns;
    char list[200] = "";

    (void)state;
    while (strcmp(column->name, "action") != 0)
        column++;
    for (unsigned i = 0; i < HOST_ACTION_COUNT; i++) {
        strcat(list, i == 0 ? "" : ", ");
        strcat(list, host_action_name((enum host_action)i));
    }
    assert_string_equal(column->help, list);
}

static void say(const struct program *program, const char *const *words, int status,
                const char *part)
{
    char *said;

    assert_int_equal(program_say(program, words, &said), status);
    if (strstr(said, part) == NULL)
        fail_msg("no '%s' in: %s", part, said);
    free(said);
}

static void list_columns_prints_all_tables(void **state)
{
    static const char *const plain[] = { "list", "columns", NULL };
    static const char *const json[] = { "list", "columns", "--json", NULL };
    static const char *const other[] = { "list", "gpus", "--json", NULL };

    say(*state, plain, 0, "\njobs.csv        job                            text  "
        "            its name, or its ");
    say(*state, json, 0, "{\"table\": \"jobs.csv\", \"column\": \"wait_s\", \"type\": \"time\", "
        "\"unit\": \"s\", \"meaning\": \"submission to first start\"}");
    say(*state, other, 0, "{\"name\": \"t4\", \"memory GB\": 16.11, ");
}

static void validate_prints_a_right_file_as_json(void **state)
{
    const char *good = program_write(*state, "good.yaml", EXPERIMENT("seeds: 2\n"));
    const char *bad = program_write(*state, "bad.yaml", EXPERIMENT("seeds: two\n"));
    const char *const one[] = { "validate", "--json", good, NULL };
    const char *const wrong[] = { "validate", "--json", bad, NULL };
    const char *const two[] = { "validate", "--json", good, bad, NULL };

    char *said;

    assert_int_equal(program_say(*state, one, &said), 0);
    assert_int_equal(said[0], '{');
    assert_non_null(strstr(said, "\n  \"seeds\": 2,\n"));
    assert_non_null(strstr(said, "\n    \"plots\": []\n  }\n}\n"));
    free(said);
    assert_int_equal(program_say(*state, wrong, &said), 3);
    assert_non_null(strstr(said, "'seeds' must be a whole number"));
    assert_int_not_equal(said[0], '{');
    free(said);
    say(*state, two, 2, "--json takes one file, found 2");
}

static void provenance_names_swept_keys(void **state)
{
    const struct program *program = *state;
    const char *plain = program_write(program, "plain.yaml", EXPERIMENT(""));
    const char *swept = program_write(program, "swept.yaml", EXPERIMENT(
        "sweep: {workload.jobs: [2, 4], cluster.nodes.n.count: [1, 2]}\n"));
    char *text;

    assert_int_equal(program_experiment(program, plain, "plain", NULL), 0);
    text = program_result(program, "plain", "provenance.json");
    assert_non_null(strstr(text, "\n  \"sweep\": [],\n"));
    free(text);
    assert_int_equal(program_experiment(program, swept, "swept", NULL), 0);
    text = program_result(program, "swept", "provenance.json");
    assert_non_null(strstr(text, "\n  \"sweep\": [{\"key\": \"workload.jobs\", "
                           "\"label\": \"jobs\"},"
                           " {\"key\": \"cluster.nodes.n.count\", "
                           "\"label\": \"nodes.n.count\"}],\n"));
    free(text);
}

/* Eight GPUs, of which each job takes all: a of 100 s, b of 20 s from 10 s on, and c of 50 s from
 * 12 s on.  What a request is for is not among those that wait; GPUs of a stop are free. */
static void decisions_count_who_waits_beside(void **state)
{
    static const char *const want[] = {
        "0,1,start,a,all,0:0-7,done,0,8", "10,2,stop,a,all,,done,1,8",
        "10,3,start,b,all,0:0-7,done,1,8", "30,4,start,c,all,0:0-7,done,1,8",
        "80,5,start,a,all,0:0-7,done,0,8",
    };
    const struct program *program = *state;

    program_write(program, "t.csv", "job,submit,run,gpus\na,0,100,8\nb,10,20,8\nc,12,50,8\n");
    const char *file = program_write(program, "rows.yaml", "experiment: x\n"
        "cluster: {nodes: [{name: n, count: 1, gpus: {type: generic, count: 8}}]}\n"
        "workload: {trace: {file: t.csv, format: csv, columns: {job: job, submit: submit, "
        "duration: run, gpus: gpus}}}\npolicies: [srtf]\noutput: {plots: [], tables: "
        "[decisions]}\n");
    assert_int_equal(program_experiment(program, file, "rows", NULL), 0);
    char *text = program_result(program, "rows", "decisions.csv"), *line = text;
    for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
        line = strchr(line, '\n') + 1;
        size_t bytes = strcspn(line, "\n");

        assert_memory_equal(line, "base,srtf,0,", strlen("base,srtf,0,"));
        assert_int_equal(bytes - strlen("base,srtf,0,"), strlen(want[i]));
        assert_memory_equal(line + strlen("base,srtf,0,"), want[i], strlen(want[i]));
    }
    free(text);
}

#define NODES 40u

/* GPU by GPU: "3:0-1+4", or "3:0*0.250". */
static size_t share_text(char *out, const struct share *share)
{
    size_t n = (size_t)sprintf(out, "%u", share->node);
    char before = ':';

    for (unsigned g = 0; g < 64; g++) {
        unsigned last = g;

        if ((share->gpu_mask >> g & 1) == 0)
            continue;
        while (last < 63 && (share->gpu_mask >> (last + 1) & 1) != 0)
            last++;
        n += (size_t)sprintf(out + n, last > g ? "%c%u-%u" : "%c%u", before, g, last);
        before = '+';
        g = last;
    }
    if (share->gpu_milli > 0)
        n += (size_t)sprintf(out + n, "*0.%03u", share->gpu_milli);
    return n;
}

/* As many shares as leave five bytes: for a blank, three dots and the end. */
static void check_place(const struct placement *place, size_t room)
{
    char wanted[NODES * 256] = "", *out = malloc(room);
    size_t n = 0;

    for (uint32_t i = 0; i < place->share_count; i++) {
        char text[256];
        size_t bytes = share_text(text, &place->share[i]) + (i > 0);

        if (n + bytes + 5 > room) {
            n += (size_t)sprintf(wanted + n, " ...");
            break;
        }
        n += (size_t)sprintf(wanted + n, "%s%s", i > 0 ? " " : "", text);
    }
    assert_non_null(out);
    /* It touches nothing behind the room. */
    assert_int_equal(trial_placement_text(place, out, room), strlen(wanted));
    assert_string_equal(out, wanted);
    free(out);
}

static void a_placement_is_told_up_to_the_last_node_that_fits(void **state)
{
    struct share share[NODES];
    struct rng rng;

    (void)state;
    rng_init(&rng, 5, "placement", 0);
    for (unsigned round = 0; round < 20000; round++) {
        struct placement place = { share, 1 + (uint32_t)rng_below(&rng, NODES) };
        uint64_t mask = round % 3 == 0 ? UINT64_MAX : round % 3 == 1 ? 0xff : 1;

        for (uint32_t i = 0; i < place.share_count; i++) {
            share[i] = (struct share){ .node = (uint32_t)(rng_u64(&rng) >> rng_below(&rng, 64)),
                                       .gpu_mask = rng_u64(&rng) & mask };
            if (share[i].gpu_mask == 1 && rng_below(&rng, 2) == 0)
                share[i].gpu_milli = 1 + (uint16_t)rng_below(&rng, 999);
            if (rng_below(&rng, 50) == 0)
                share[i].gpu_mask = UINT64_MAX << rng_below(&rng, 64);
        }
        check_place(&place, round % 2 == 0 ? 256 : 6 + rng_below(&rng, 300));
    }
}

int main(int argc, char **argv)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, program_setup, \
                                                   program_teardown)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_number_has_a_unit),
        cmocka_unit_test(units_are_those_of_the_field),
        cmocka_unit_test(the_help_of_action_lists_all_actions),
        cmocka_unit_test(a_placement_is_told_up_to_the_last_node_that_fits),
        TEST(list_columns_prints_all_tables),
        TEST(validate_prints_a_right_file_as_json),
        TEST(provenance_names_swept_keys),
        TEST(decisions_count_who_waits_beside),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

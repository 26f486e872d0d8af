/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_requests_test.c - published requests become a service that answers
 * them; here and elsewhere what is odd is counted, what is wrong is refused with
 * its place, and leaves nothing behind.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/import_aid.h"

#define AZURE "TIMESTAMP,ContextTokens,GeneratedTokens\r\n"
#define MOONCAKE_1 "{\"timestamp\": 5, \"input_length\": 1024, " \
    "\"output_length\": 9, \"hash_ids\": [0, 1]}\n"
#define MOONCAKE_2 "{\"timestamp\": 5, \"input_length\": 1025, " \
    "\"output_length\": 9, \"hash_ids\": [0, 2]}\n"

/* The service's row for one node of an A100; to be freed. */
static char *answer(const struct program *program)
{
    char yaml[160];

    write_file(in_folder(program, "e.yaml", yaml),
               "experiment: e\nseeds: 1\nuntil: drained\ncluster: {nodes: "
               "[{name: n, count: 1, gpus: {type: a100-80, count: 1}, cpu: "
               "{type: epyc-7763, sockets: 1}, memory: 256GB}]}\nworkload: "
               "w.yaml\npolicies: [fcfs]\noutput: {tables: [], plots: []}\n");
    assert_int_equal(program_experiment(program, yaml, "e", NULL), 0);
    return program_result(program, "e", "services.csv");
}

static void azure_becomes_a_service_that_answers_it(void **state)
{
    const struct program *program = the_program(state);
    const char *none[] = { NULL };
    char in[160], cell[64], *said, *services;

    write_file(in_folder(program, "in", in),
               AZURE "2023-11-16 23:59:59.5,100,10\r\n"
                     "2023-11-17 00:00:00.5,300,30\r\n"
                     "2023-11-17 00:00:00.5,200,20");
    assert_int_equal(import(program, "azure", in, none, &said), 0);
    has(said, "rows         3\nrequests     3\n"
              "  1 requests at the instant of the one above\n"
              "span         1 s, ");
    has(said, "rate         2 a second; cv of the gaps 1\n"
              "prompt       min 100  p25 100  p50 200  p75 300  p90 300  "
              "p99 300  max 300\n             mean 200, sum 600\n");
    free(said);
    services = answer(program);
    assert_true(csv_cell(services, "fcfs", NULL, "done", cell, sizeof cell));
    assert_string_equal(cell, "3");
    free(services);
}

/* What is refused leaves no file behind. */
static void a_list_of_nodes_that_is_wrong_leaves_nothing(void **state)
{
    const struct program *program = the_program(state);
    const char *none[] = { NULL };
    char in[160], yaml[160], *said;

    unlink(in_folder(program, "w.yaml", yaml));
    write_file(in_folder(program, "in", in), "sn,cpu_milli,memory_mib,gpu,model"
               "\nn1,64000,262144,2,P100\n");
    assert_int_equal(import(program, "openb-nodes", in, none, &said), 0);
    free(said);
    assert_int_equal(unlink(yaml), 0);
    write_file(in, "sn,cpu_milli,memory_mib,gpu,model\n"
               "n1,64000,262144,2,P100\nn2,x,262144,2,P100\n");
    assert_int_equal(import(program, "openb-nodes", in, none, &said), 3);
    free(said);
    assert_int_equal(access(yaml, F_OK), -1);
    write_file(in, "sn,cpu_milli,memory_mib,gpu,model\n"
               "n1,64000,262144,2,P100\nn2,64000,262144,2,P100\n"
               "n1,64000,262144,2,P100\n");
    assert_int_equal(import(program, "openb-nodes", in, none, &said), 3);
    has(said, "in:4:1: range error: node n1 stands above already");
    free(said);
    assert_int_equal(access(yaml, F_OK), -1);
}

/* A list of nodes may be YAML, as the cluster is that it becomes.  A CSV is only in the
 * way where one is written. */
static void a_list_of_nodes_is_not_overwritten(void **state)
{
    static const char nodes[] = "{kind: Node, metadata: {name: n}, status: {capacity: "
                                "{cpu: 4, memory: 1Gi, nvidia.com/gpu: 2}}}\n";
    const struct program *program = the_program(state);
    char in[160], yaml[160], *said, *text;

    write_file(in_folder(program, "n.yaml", yaml), nodes);
    const char *same[] = { "import", "kube-nodes", yaml, "-o", yaml, NULL };
    assert_int_equal(run(program, same, &said), 2);
    has(said, "n.yaml would be overwritten: give -o another name");
    free(said);
    text = program_read(yaml);
    assert_string_equal(text, nodes);
    free(text);
    write_file(in_folder(program, "l.csv", in), "sn,cpu_milli,memory_mib,gpu,model\n"
               "n1,64000,262144,2,P100\n");
    const char *beside[] = { "import", "openb-nodes", in, "-o",
                             in_folder(program, "l.yaml", yaml), NULL };
    assert_int_equal(run(program, beside, &said), 0);
    free(said);
}

/* A row that contradicts itself is kept, and told. */
static void pods_that_began_before_they_came_are_told(void **state)
{
    const struct program *program = the_program(state);
    const char *none[] = { NULL };
    char in[160], *said;

    write_file(in_folder(program, "in", in),
               OPENB "p0,1,1,2,1000,,LS,Running,10,30,9\n");
    assert_int_equal(import(program, "openb", in, none, &said), 0);
    has(said, "  1 jobs: began before they were submitted; submission is ");
    free(said);
}

static void a_negative_intensity_is_refused(void **state)
{
    const struct program *program = the_program(state);
    const char *none[] = { NULL };
    char in[160], *said;

    write_file(in_folder(program, "in", in), "Time,Carbon Intensity\n"
               "2020-01-01 00:00:00,4\n2020-01-01 01:00:00,-4\n");
    assert_int_equal(import(program, "carbon", in, none, &said), 3);
    has(said, "in:3:1: range error: a value of carbon must not be negative");
    free(said);
}

static void hash_ids_are_counted(void **state)
{
    const struct program *program = the_program(state);
    const char *none[] = { NULL };
    char in[160], *said;

    write_file(in_folder(program, "in", in), MOONCAKE_1 MOONCAKE_2);
    assert_int_equal(import(program, "mooncake", in, none, &said), 0);
    has(said, "requests     2\n  1 requests at the instant of the one above\n"
              "  1 requests whose hash ids are not one for each 512 tokens");
    has(said, "prefixes     4 hash ids, 3 distinct\n");
    free(said);
}

static void requests_without_output_are_left_out_if_asked(void **state)
{
    const struct program *program = the_program(state);
    const char *more[] = { "--skip", "no_output", NULL };
    const char *none[] = { NULL };
    char in[160], yaml[160], *said, *text;

    write_file(in_folder(program, "in", in),
               "Timestamp,Request tokens,Response tokens\n5,10,0\n7,10,1\n");
    assert_int_equal(import(program, "burstgpt", in, none, &said), 3);
    has(said, "in:2:1: range error: a request without output");
    has(said, "--skip no_output");
    free(said);
    assert_int_equal(import(program, "burstgpt", in, more, &said), 0);
    has(said, "rows         2\nrequests     1\n"
              "  1 rows left out: no output\n");
    free(said);
    text = program_read(in_folder(program, "w.yaml", yaml));
    has(text, "        empty: skip\n");
    free(text);
}

static void what_is_said_of_jobs_is_refused(void **state)
{
    static const char *const more[][3] = {
        { "--sort", NULL }, { "--gpus", "8", NULL },
        { "--lengths", "x", NULL }, { "--skip", "never_ran", NULL },
    };
    const struct program *program = the_program(state);
    char in[160], *said;

    write_file(in_folder(program, "in", in), MOONCAKE_1);
    for (size_t i = 0; i < sizeof more / sizeof more[0]; i++) {
        assert_int_equal(import(program, "mooncake", in, more[i], &said), 2);
        has(said, more[i][0]);
        free(said);
    }
}

/* The second of two waits for 400,000 tokens of the first: more microseconds
 * than 32 bits hold. */
static void a_first_token_may_take_longer_than_71_minutes(void **state)
{
    const struct program *program = the_program(state);
    const char *none[] = { NULL };
    const char *argv[] = { "sed", "-i", "s/gpu: {tp/batch: 1\\n    gpu: {tp/",
                           NULL, NULL };
    char in[160], yaml[160], ttft[64], latency[64], *said, *services;

    write_file(in_folder(program, "in", in),
               AZURE "2023-11-16 00:00:00,100,400000\n"
                     "2023-11-16 00:00:01,100,2\n");
    assert_int_equal(import(program, "azure", in, none, &said), 0);
    free(said);
    argv[3] = in_folder(program, "w.yaml", yaml);
    assert_int_equal(program_spawn(argv, NULL), 0);
    services = answer(program);
    assert_true(csv_cell(services, "fcfs", NULL, "ttft_p99_s", ttft,
                         sizeof ttft) &&
                csv_cell(services, "fcfs", NULL, "latency_p99_s", latency,
                         sizeof latency));
    assert_true(strtod(ttft, NULL) > 4300);
    assert_true(strtod(latency, NULL) - strtod(ttft, NULL) < 2);
    free(services);
}

int main(int argc, char **argv)
{
    struct program program;
#define WITH(TEST) cmocka_unit_test_prestate(TEST, &program)
    const struct CMUnitTest tests[] = {
        WITH(azure_becomes_a_service_that_answers_it),
        WITH(a_list_of_nodes_that_is_wrong_leaves_nothing),
        WITH(a_list_of_nodes_is_not_overwritten),
        WITH(pods_that_began_before_they_came_are_told),
        WITH(a_negative_intensity_is_refused),
        WITH(hash_ids_are_counted),
        WITH(requests_without_output_are_left_out_if_asked),
        WITH(what_is_said_of_jobs_is_refused),
        WITH(a_first_token_may_take_longer_than_71_minutes),
    };
    int failed;

    (void)argc;
    program_open(&program, argv[0]);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request_trace_test.c - requests of files: each format, every fault with its
 * place, and a service that answers a trace.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <math.h>

#include "sim/config/conf.h"
#include "tests/aid/world.h"
#include "workloads/requests/request_trace.h"

struct aid {
    struct world world;         /* its folder and its arena */
    struct err err;
};

static int setup(void **state)
{
    static struct aid aid;

    memset(&aid, 0, sizeof aid);
    strcpy(aid.world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(aid.world.folder));
    aid.world.arena = arena_new(1 << 16);
    *state = &aid;
    return 0;
}

static int teardown(void **state)
{
    struct aid *aid = *state;

    world_close(&aid->world);   /* jobs.csv is what the file is called */
    return 0;
}

static const struct request_trace_spec *read_text(struct aid *aid,
                                                  const char *text,
                                                  const char *keys)
{
    char yaml[300], path[128];
    int n;

    world_write(&aid->world, "jobs.csv", text);
    snprintf(path, sizeof path, "%s/experiment.yaml", aid->world.folder);
    n = snprintf(yaml, sizeof yaml, "{file: jobs.csv%s}", keys);
    memset(&aid->err, 0, sizeof aid->err);
    const struct conf_node *conf = conf_parse(aid->world.arena, path, yaml,
                                              (size_t)n, &aid->err);
    assert_non_null(conf);
    return request_trace_read(aid->world.arena, conf, &aid->err);
}

static void three(struct aid *aid, const struct request_trace_spec *spec,
                  int64_t second_ns)
{
    struct request request;

    if (spec == NULL)
        fail_msg("%s", aid->err.text);
    struct request_trace_facts facts = request_trace_facts(spec);
    assert_int_equal(facts.requests, 3);
    assert_true(facts.prompt_mean == 200 && facts.output_mean == 20);
    struct request_trace *t = request_trace_open(aid->world.arena, spec);
    assert_true(request_trace_next(t, &request));
    assert_int_equal(request.arrive_ns, 0);
    assert_int_equal(request.prompt_tokens, 100);
    assert_int_equal(request.output_tokens, 10);
    assert_true(request_trace_next(t, &request));
    assert_int_equal(request.arrive_ns, second_ns);
    assert_true(request_trace_next(t, &request));
    assert_int_equal(request.output_tokens, 30);
    assert_false(request_trace_next(t, &request));
    assert_true(request_trace_verdict(t, &aid->err));
    request_trace_close(t);
}

static void csv_reads_the_columns_it_is_told(void **state)
{
    three(*state, read_text(*state, "in,out,t\n100,10,5\n200,20,5.25\n"
                            "300,30,9\n", ", columns: {arrive: t, prompt: "
                            "in, output: out}"), 250000000);
}

static void azure_reads_dates_and_windows_line_ends(void **state)
{
    three(*state, read_text(*state, "TIMESTAMP,ContextTokens,GeneratedTokens"
                            "\r\n2023-11-16 18:17:03.9799600,100,10\r\n"
                            "2023-11-16 18:17:04.0319600,200,20\r\n"
                            "2023-11-16 18:17:04.0319600,300,30",
                            ", format: azure"), 52000000);
}

static void burstgpt_leaves_out_failures_where_it_is_told(void **state)
{
    static const char *const text =
        "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type"
        "\n5,ChatGPT,100,10,110,Conversation log\n6,GPT-4,50,0,50,API log\n"
        "45,GPT-4,200,20,220,API log\n46,GPT-4,300,30,330,API log\n";
    struct aid *aid = *state;

    assert_null(read_text(aid, text, ", format: burstgpt"));
    assert_string_equal(aid->err.text, "a request without output");
    assert_int_equal(aid->err.pos.line, 3);
    const struct request_trace_spec *spec =
        read_text(aid, text, ", format: burstgpt, empty: skip");
    three(aid, spec, INT64_C(40000000000));
    assert_int_equal(request_trace_facts(spec).skipped, 1);
}

static void mooncake_reads_objects_and_passes_over_the_rest(void **state)
{
    three(*state, read_text(*state,
        "{\"timestamp\": 1000, \"input_length\": 100, \"output_length\": 10, "
        "\"hash_ids\": [1, 2]}\n{\"hash_ids\": [], \"output_length\": 20, "
        "\"timestamp\": 1500, \"input_length\": 200}\n{\"timestamp\": 1500, "
        "\"input_length\": 300, \"output_length\": 30, \"x\": {\"y\": null}}"
        "\n", ", format: mooncake"), 500000000);
}

static void faults_are_told_with_their_place(void **state)
{
    static const struct { const char *text, *keys, *says; unsigned line; }
    wrong[] = {
        { "arrive_s,prompt_tokens,output_tokens\n2,9,9\n1,9,9\n", "",
          "in order of time", 3 },
        { "arrive_s,prompt_tokens,output_tokens\n1,0,9\n", "",
          "a prompt must be", 2 },
        { "arrive_s,prompt_tokens,output_tokens\n1,9,-1\n", "",
          "an output must be", 2 },
        { "arrive_s,prompt_tokens,output_tokens\n1,9.5,1\n", "",
          "a prompt must be", 2 },
        { "arrive_s,prompt_tokens,output_tokens\n-1,9,1\n", "",
          "seconds expected", 2 },
        { "arrive_s,prompt_tokens,output_tokens\n1,9\n", "", "", 2 },
        { "arrive,prompt_tokens,output_tokens\n1,9,1\n", "",
          "no column 'arrive_s'", 1 },
        { "arrive_s,prompt_tokens,output_tokens\n", "", "no requests", 1 },
        { "TIMESTAMP,ContextTokens,GeneratedTokens\nyesterday,9,1\n",
          ", format: azure", "a date such as", 2 },
        { "{\"timestamp\": 1, \"input_length\": 3}\n", ", format: mooncake",
          "must have timestamp", 1 },
        { "[1]\n", ", format: mooncake", "an object", 1 },
        { "{\"timestamp\": 1, \"input_length\": 0, \"output_length\": 3}\n", ", format: mooncake",
          "input_length must be", 1 },
        { "{\"timestamp\": 1, \"input_length\": 3, \"output_length\": -1}\n", ", format: mooncake",
          "output_length must be", 1 },
        { "{\"timestamp\": \"1\"}\n", ", format: mooncake",
          "timestamp must be a number", 1 },
        { "{\"timestamp\": 1\n", ", format: mooncake", "", 1 },
        { "a\n", ", format: mooncak", "format", 1 },
        { "a\n", ", format: azure, columns: {arrive: t}", "no meaning", 1 },
    };
    struct aid *aid = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (read_text(aid, wrong[i].text, wrong[i].keys))
            fail_msg("accepted: %s", wrong[i].text);
        if (!strstr(aid->err.text, wrong[i].says) ||
            aid->err.pos.line < wrong[i].line)
            fail_msg("%s: line %u: %s", wrong[i].text, aid->err.pos.line,
                     aid->err.text);
    }
}

static void a_file_that_changed_in_use_is_told(void **state)
{
    struct aid *aid = *state;
    struct request request;
    const struct request_trace_spec *spec =
        read_text(aid, "arrive_s,prompt_tokens,output_tokens\n1,9,9\n2,9,9\n",
                  "");

    assert_non_null(spec);
    world_write(&aid->world, "jobs.csv",
                "arrive_s,prompt_tokens,output_tokens\n1,9,9\n");
    struct request_trace *t = request_trace_open(aid->world.arena, spec);
    while (request_trace_next(t, &request))
        continue;
    assert_false(request_trace_verdict(t, &aid->err));
    assert_non_null(strstr(aid->err.text, "changed while it was in use"));
    request_trace_close(t);
}

/* The published files, where they are. */
static void shared_traces_are_read_whole(void **state)
{
    static const struct { const char *file, *format; unsigned requests; }
    of[] = {
        { "azure_llm_2023/AzureLLMInferenceTrace_code.csv", "azure", 8819 },
        { "mooncake/synthetic_trace.jsonl.gz", "mooncake", 3993 },
        { "servegen/deepseek-r1/chunk-0-trace.csv", "servegen", 4926 },
        { "servegen/mm-image/chunk-1-trace.csv", "servegen", 50028 },
    };
    const char *shared = getenv("SHARED");
    struct aid *aid = *state;
    char path[600], yaml[800], here[300];

    assert_non_null(getcwd(here, sizeof here));
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        snprintf(path, sizeof path, "%s%s%s/traces/%s",
                 shared && shared[0] == '/' ? "" : here,
                 shared && shared[0] == '/' ? "" : "/",
                 shared ? shared : "../shared", of[i].file);
        if (access(path, R_OK) != 0) {
            print_message("skip: %s is not there\n", path);
            skip();
        }
        int n = snprintf(yaml, sizeof yaml, "{file: \"%s\", format: %s}",
                         path, of[i].format);
        const struct conf_node *conf =
            conf_parse(aid->world.arena, "t.yaml", yaml, (size_t)n,
                       &aid->err);
        const struct request_trace_spec *spec =
            request_trace_read(aid->world.arena, conf, &aid->err);
        if (spec == NULL)
            fail_msg("%s:%u: %s", path, aid->err.pos.line, aid->err.text);
        /* Those of ServeGen are drawn at the rates of its windows. */
        unsigned within = i < 2 ? 0 : of[i].requests / 10;
        assert_in_range(request_trace_facts(spec).requests,
                        of[i].requests - within, of[i].requests + within);
    }
}

#define DATASET "{\"0\": {\"input_tokens\": \"{}\", \"output_tokens\": \"{}\"}," \
    "\n\"600\": {\"input_tokens\": \"{100: 0.5, 300: 0.5}\", " \
    "\"reason_ratio\": \"{0.5: 1.0}\", \"output_tokens\": \"{7: 1.0}\"}}"

static const struct request_trace_spec *read_client(struct aid *aid,
                                                    const char *trace,
                                                    const char *dataset)
{
    char path[128], keys[] = "{file: chunk-1-trace.csv, format: servegen}";

    world_write(&aid->world, "chunk-1-trace.csv", trace);
    world_write(&aid->world, "chunk-1-dataset.json", dataset);
    snprintf(path, sizeof path, "%s/experiment.yaml", aid->world.folder);
    memset(&aid->err, 0, sizeof aid->err);
    const struct conf_node *conf = conf_parse(
        aid->world.arena, path, keys, strlen(keys), &aid->err);
    return request_trace_read(aid->world.arena, conf, &aid->err);
}

/* 2 a second for ten minutes and 4 for ten more, between them none. */
static void servegen_draws_at_the_rate_of_each_window(void **state)
{
    struct aid *aid = *state;
    const struct request_trace_spec *spec = read_client(
        aid, "0,2,1,Gamma,1,0.5\n600,0,0,,0,0\n1200,4,2,Weibull,0.6,1\n",
        DATASET);
    uint64_t early = 0, late = 0;
    struct request request;

    if (spec == NULL)
        fail_msg("%s", aid->err.text);
    struct request_trace *t = request_trace_open(aid->world.arena, spec);
    while (request_trace_next(t, &request)) {
        double s = (double)request.arrive_ns / 1e9;
        early += s < 600;
        late += s > 1100;
        assert_true(request.prompt_tokens == 100 ||
                    request.prompt_tokens == 300);
        assert_int_equal(request.output_tokens, 7);
    }
    assert_true(request_trace_verdict(t, &aid->err));
    assert_in_range(early, 1100, 1300);
    assert_in_range(late, 2200, 2600);
    assert_int_equal(early + late, request_trace_facts(spec).requests);
    assert_true(fabs(request_trace_facts(spec).prompt_mean - 200) < 10);
    request_trace_close(t);
}

static void faults_of_servegen_are_told_with_their_place(void **state)
{
    static const struct {
        const char *trace, *dataset, *file, *says;
        uint32_t line, col;     /* col 0: of the dataset, which is one text */
    } wrong[] = {
        { "0,2,1,Gamma,1\n", DATASET, "trace.csv", "must have 6 fields", 1, 1 },
        { "0,1,1,Gamma,1,1\n600,-2,1,Gamma,1,1\n", DATASET, "trace.csv",
          "a rate must be", 2, 5 },
        { "0,1,1,Gamma,1,1\n60,2,1,Gamma,1,1\n", DATASET, "trace.csv",
          "600 apart", 2, 1 },
        { "0,2,1,Pareto,1,1\n", DATASET, "trace.csv", "Gamma or Weibull", 1, 7 },
        { "0,2,1,Gamma,nan,1\n", DATASET, "trace.csv", "a shape", 1, 13 },
        { "0,2,1,Gamma,1,1\n", "{\"0\": {\"input_tokens\": \"[]\"}}",
          "dataset.json", "a dict of tokens", 1, 0 },
        { "0,2,1,Gamma,1,1\n", "{\"0\": {\"input_tokens\": \"{1: 1}\"}}",
          "dataset.json", "no part has both", 0, 0 },
    };
    struct aid *aid = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_null(read_client(aid, wrong[i].trace, wrong[i].dataset));
        if (!strstr(aid->err.text, wrong[i].says) ||
            !strstr(aid->err.pos.file, wrong[i].file))
            fail_msg("%s: %s", aid->err.pos.file, aid->err.text);
        assert_int_equal(aid->err.pos.line, wrong[i].line);
        assert_true(wrong[i].col == 0 || aid->err.pos.col == wrong[i].col);
    }
}

/* Each value of a data set of lengths, in whose place something else stands. */
static void lengths_of_servegen_are_texts_in_objects(void **state)
{
    static const char trace[] = "0,2,1,Gamma,1,1\n";
    static const struct { const char *before, *value, *after; } place[] = {
        { "", "{\"0\": {\"input_tokens\": \"{5: 1}\", \"output_tokens\": \"{7: 1}\"}}", "" },
        { "{\"0\": ", "{\"input_tokens\": \"{5: 1}\", \"output_tokens\": \"{7: 1}\"}", "}" },
        { "{\"0\": {\"input_tokens\": ", "\"{5: 1}\"", ", \"output_tokens\": \"{7: 1}\"}}" },
        { "{\"0\": {\"input_tokens\": \"{5: 1}\", \"output_tokens\": ", "\"{7: 1}\"", "}}" },
        { "{\"0\": {\"input_tokens\": \"{5: 1}\", \"other\": ", "\"x\"",
          ", \"output_tokens\": \"{7: 1}\"}}" },
        { "{\"0\": {\"input_tokens\": \"{5: 1}\", \"output_tokens\": \"{7: 1}\", \"other\": ",
          "\"x\"", "}}" },
    };
    static const char *const other[] = {
        "5", "null", "true", "[]", "[5]", "[{}]", "tru", "", "{\"a\": 5}", "{\"0\": 5}",
        "{\"0\": {\"input_tokens\": 5}}",
    };
    struct aid *aid = *state;

    for (size_t p = 0; p < sizeof place / sizeof place[0]; p++) {
        char text[400];
        snprintf(text, sizeof text, "%s%s%s", place[p].before, place[p].value, place[p].after);
        if (read_client(aid, trace, text) == NULL || aid->err.kind != ERR_NONE)
            fail_msg("%s: %s", text, aid->err.text);
        for (size_t o = 0; o < sizeof other / sizeof other[0]; o++) {
            snprintf(text, sizeof text, "%s%s%s", place[p].before, other[o], place[p].after);
            if (read_client(aid, trace, text) != NULL || aid->err.kind == ERR_NONE)
                fail_msg("accepted: %s", text);
            if (strstr(aid->err.pos.file, "dataset.json") == NULL)
                fail_msg("%s: %s: %s", text, aid->err.pos.file, aid->err.text);
        }
    }
}

static void a_service_answers_a_trace(void **state)
{
    struct aid *aid = *state;
    struct trial_result result;
    struct world *world = &aid->world;

    arena_free(world->arena);
    world->arena = NULL;
    world_write(world, "jobs.csv", "arrive_s,prompt_tokens,output_tokens\n"
                "0,100,10\n1,100,10\n100,900,50\n");
    if (!world_open(world, "experiment: t\nseeds: 1\nuntil: drained\ncluster: "
                    "{nodes: [{name: n, count: 1, gpus: {type: l40s, count: "
                    "1}, cpu: {type: epyc-7763, sockets: 1}, memory: 256GB}]}"
                    "\nworkload: {services: [{name: s, model: llama-3-8b, "
                    "gpu: {tp: 1}, requests: {trace: {file: jobs.csv}}, slo: "
                    "{latency: 10min}}]}\npolicies: [fcfs]\n"))
        fail_msg("%s", world_error(world));
    if (!world_run(world, 0, NULL, NULL, &result))
        fail_msg("%s", world_error(world));
    assert_true(result.value[METRIC_SLO] == 1);
    assert_true(result.end_ns > INT64_C(100000000000));
}

/* A service whose requests cannot be read is no service: each is refused, also where it is the
 * only fault of the file. */
static void a_service_whose_requests_are_at_fault_is_refused(void **state)
{
    static const struct { const char *requests, *says; } row[] = {
        { "{trace: {file: nothing.csv}}", "nothing.csv', which is not there" },
        { "{trace: {file: jobs.csv}, prompt: 5}", "trace takes the place of" },
        { "{trace: {file: jobs.csv}, output: 5}", "trace takes the place of" },
        { "{trace: {file: jobs.csv}, arrival: {process: poisson, rate: 1/s}}",
          "trace takes the place of" },
        { "{arrival: {process: poisson, rate: 1/s}, for: 10s, prompt: {uniform: [-9, -3]}}",
          "must not draw numbers of tokens below 0" },
        { "{arrival: {process: poisson, rate: 1/s}, for: 10s, prompt: 9, output: {uniform: "
          "[-9, 3]}}", "must not draw numbers of tokens below 0" },
    };
    struct aid *aid = *state;
    struct world *world = &aid->world;

    arena_free(world->arena);
    world->arena = NULL;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[900];

        world_write(world, "jobs.csv", "arrive_s,prompt_tokens,output_tokens\n0,100,10\n");
        snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: drained\ncluster: "
                 "{nodes: [{name: n, count: 1, gpus: {type: l40s, count: 1}, cpu: {type: "
                 "epyc-7763, sockets: 1}, memory: 256GB}]}\nworkload: {services: [{name: s, "
                 "model: llama-3-8b, gpu: {tp: 1}, requests: %s, slo: {latency: 10min}}]}\n"
                 "policies: [fcfs]\n", row[i].requests);
        if (world_open(world, text))
            fail_msg("accepted: %s", row[i].requests);
        if (strstr(world_error(world), row[i].says) == NULL)
            fail_msg("%s: %s", row[i].requests, world_error(world));
        memset(&world->err, 0, sizeof world->err);
        arena_free(world->arena);
        world->arena = NULL;
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(csv_reads_the_columns_it_is_told),
        TEST(azure_reads_dates_and_windows_line_ends),
        TEST(burstgpt_leaves_out_failures_where_it_is_told),
        TEST(mooncake_reads_objects_and_passes_over_the_rest),
        TEST(faults_are_told_with_their_place),
        TEST(a_file_that_changed_in_use_is_told),
        TEST(shared_traces_are_read_whole),
        TEST(servegen_draws_at_the_rate_of_each_window),
        TEST(faults_of_servegen_are_told_with_their_place),
        TEST(lengths_of_servegen_are_texts_in_objects),
        TEST(a_service_answers_a_trace),
        TEST(a_service_whose_requests_are_at_fault_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

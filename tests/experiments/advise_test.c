/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advise_test.c - advice against the simulation of what it recommends, and
 * the search against every layout one by one.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "models/advise/advise.h"
#include "models/catalogue/catalogue.h"
#include "models/jobs/job.h"
#include "models/laws/phase.h"
#include "models/types/gang.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "tests/aid/program.h"

static struct program program;

/* Runs `clustersim advise` with these words, into folder/log. */
static int advise(const char *log, const char *const *words)
{
    const char *argv[PROGRAM_ARGS_MAX] = { program.path, "advise" };
    char path[128];
    size_t n = 2;

    while (*words != NULL) {
        assert_true(n + 1 < PROGRAM_ARGS_MAX);
        argv[n++] = *words++;
    }
    snprintf(path, sizeof path, "%s/%s", program.folder, log);
    return program_spawn(argv, path);
}

static char *said(const char *log)
{
    char path[128];
    char *text;

    snprintf(path, sizeof path, "%s/%s", program.folder, log);
    text = program_read(path);
    assert_non_null(text);
    return text;
}

static void assert_says(const char *log, const char *part)
{
    char *text = said(log);

    if (strstr(text, part) == NULL)
        fail_msg("'%s' is not in:\n%s", part, text);
    free(text);
}

/* ---- against the simulation ------------------------------------------- */

static const struct {
    const char *workload, *job, *cluster;       /* cluster NULL: catalogue */
    const char *sort;
} advised[] = {
    { "experiments/advise/train_70b.yaml", "train-70b", NULL, "cost" },
    { "experiments/advise/train_70b.yaml", "train-70b", NULL, "time" },
    { "experiments/advise/c1_tumour_15b.yaml", "tumour-15b",
      "models/clusters/dgx_a100_8.yaml", "cost" },
    { "experiments/advise/d8_7b.yaml", "qlora-7b",
      "experiments/advise/one_rtx_3090.yaml", "cost" },
    { "experiments/advise/c6_train_infer.yaml", "infer-1b", NULL, "time" },
    { "workloads/multimodal_mix.yaml", "image-own-cores", NULL, "cost" },
    { "workloads/multimodal_mix.yaml", "video-cpu-nodes", NULL, "cost" },
    { "workloads/burst_mix.yaml", "lora-8b", NULL, "cost" },
    { "workloads/dpo_mix.yaml", "dpo-7b", NULL, "cost" },
    { "workloads/dpo_mix.yaml", "dpo-13b",
      "models/clusters/mixed_64.yaml", "time" },
    { "workloads/dpo_mix.yaml", "grpo-7b", NULL, "time" },
    { "workloads/dpo_mix.yaml", "grpo-13b", NULL, "cost" },
    { "experiments/advise/rlhf_7b.yaml", "ppo-7b", NULL, "cost" },
    { "experiments/advise/rlhf_7b.yaml", "ppo-7b", NULL, "time" },
    { "experiments/advise/rlhf_7b.yaml", "grpo-7b", NULL, "cost" },
    { "experiments/advise/rlhf_7b.yaml", "grpo-7b", NULL, "time" },
};

/* The plan expects its own time within 2%, and its own cost where the
 * catalogue's prices are asked: `check` is the judge. */
static void simulation_of_the_best_row_takes_the_time_advised(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof advised / sizeof advised[0]; i++) {
        char plan[128], out[128], log[128];
        const char *words[] = {
            advised[i].workload, "--job", advised[i].job, "--gpus", "256",
            "--sort", advised[i].sort, "-o", plan,
            advised[i].cluster != NULL ? "--cluster" : NULL,
            advised[i].cluster, NULL };
        const char *check[] = { program.path, "check", plan, "-q", "-o", out,
                                NULL };

        snprintf(plan, sizeof plan, "%s/plan%zu.yaml", program.folder, i);
        snprintf(out, sizeof out, "%s/out%zu", program.folder, i);
        snprintf(log, sizeof log, "%s/check%zu", program.folder, i);
        if (advise("advise.log", words) != 0)
            fail_msg("%s", said("advise.log"));
        if (program_spawn(check, log) != 0) {
            char *text = program_read(log);

            print_error("%s: %s\n", advised[i].job, text);
            free(text);
            fail();
        }
    }
}

static bool has_line(const char *text, const char *head, const char *part)
{
    const char *at = strstr(text, head), *found;

    if (at == NULL)
        return false;
    found = strstr(at, part);
    return found != NULL && found < strstr(at, "\n\n");
}

/* A price that a paper assumed is in no row that list prices rank, of all the
 * examples; it ranks where it is asked for, marked. */
static void prices_of_one_market_rank(void **state)
{
    static const char *const example[][2] = {
        { "experiments/advise/train_70b.yaml", "train-70b" },
        { "experiments/advise/rlhf_7b.yaml", "ppo-7b" },
        { "experiments/advise/rlhf_7b.yaml", "grpo-7b" },
        { "experiments/advise/c6_train_infer.yaml", "train-7b" },
        { "experiments/advise/c6_train_infer.yaml", "infer-1b" },
        { "experiments/advise/c1_tumour_15b.yaml", "tumour-15b" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof example / sizeof example[0]; i++) {
        const char *words[] = { example[i][0], "--job", example[i][1],
                                "--gpus", "64", NULL };

        assert_int_equal(advise("tier.log", words), 0);
        assert_says("tier.log", "prices: list, of ");
        assert_says("tier.log", "priced as assumption: h800\n");
        char *text = said("tier.log");
        assert_true(has_line(text, "by cost (*", "USD"));
        assert_false(has_line(text, "by cost (*", "h800"));
        free(text);
    }
    const char *paper[] = { example[0][0], "--tier", "assumption", "--gpus",
                            "64", NULL };
    assert_int_equal(advise("paper.log", paper), 0);
    assert_says("paper.log", "prices: assumption, of 2024-12\n");
    assert_says("paper.log", "   1 * 64 x h800 ");
    assert_says("paper.log", " ~526.88\n");
}

/* The plan of a tier pays that tier's price when it is simulated. */
static void a_plan_keeps_the_tier_that_was_asked_for(void **state)
{
    char plan[128], out[128];
    const char *words[] = { "experiments/advise/train_70b.yaml", "--tier",
                            "marketplace", "--gpus", "64", "-o", plan, NULL };
    const char *check[] = { program.path, "check", plan, "-q", "-o", out,
                            NULL };
    const char *owned[] = { "experiments/advise/train_70b.yaml", "--tier",
                            "owned", NULL };
    const char *given[] = { "experiments/advise/d8_7b.yaml", "--tier", "spot",
                            "--cluster",
                            "experiments/advise/one_a100_40.yaml", NULL };

    (void)state;
    snprintf(plan, sizeof plan, "%s/tier.yaml", program.folder);
    snprintf(out, sizeof out, "%s/tier", program.folder);
    assert_int_equal(advise("plan.log", words), 0);
    assert_says("tier.yaml", "price: marketplace");
    assert_int_equal(program_spawn(check, NULL), 0);
    snprintf(plan, sizeof plan, "tier/provenance.json");
    assert_says(plan, "\"tier\": \"marketplace\"");
    assert_int_equal(advise("owned.log", owned), 2);
    assert_says("owned.log", "--cluster FILE, with price: owned");
    assert_int_equal(advise("given.log", given), 2);
    assert_says("given.log", "have prices of their own");
    const char *dgx[] = { "experiments/advise/d8_7b.yaml", "--job", "lora-7b",
                          "--cluster", "models/clusters/dgx_a100_8.yaml",
                          NULL };
    assert_int_equal(advise("dgx.log", dgx), 0);
    assert_says("dgx.log", "\nprices of its nodes: dgx: owned, of 2026 (an "
                           "assumption)\n");
}

/* How long it takes is a row of `clustersim bench`. */
static void search_of_the_catalogue_for_a_70b_says_what_is_best_and_missing(
    void **state)
{
    const char *words[] = { "experiments/advise/train_70b.yaml", NULL };

    (void)state;
    assert_int_equal(advise("70b.log", words), 0);
    assert_says("70b.log", "by cost");
    assert_says("70b.log", "bytes");
}

/* ---- what it says ----------------------------------------------------- */

/* Without a cluster `types:` does not narrow the search, and that is said. */
static void types_that_are_left_aside_are_told(void **state)
{
    static const char head[] =
        "arrival: {process: all_at_once}\njobs: 1\nmix:\n"
        "  - {recipe: lora, name: own, model: llama-3.1-8b, batch: 64, "
        "sequence: 2048, steps: 10, train: {gpus: 1";
    const char *const types[] = { "", ", types: [l40s]" };
    char path[128];

    (void)state;
    for (int narrow = 0; narrow < 2; narrow++) {
        const char *words[] = { path, "--gpus", "2", NULL };
        FILE *file;
        char *text;

        snprintf(path, sizeof path, "%s/own.yaml", program.folder);
        file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "%s%s}}\n", head, types[narrow]);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(advise("types.log", words), 0);
        text = said("types.log");
        assert_true((strstr(text, "types of role train are left aside: every "
                            "GPU of the catalogue is tried") != NULL) ==
                    (narrow == 1));
        free(text);
    }
}

/* A role that may run on cores is asked about with its GPUs, which is said.  On cores alone it
 * has none to ask about: status 3, or, of several jobs, a warning. */
static void roles_on_cores_have_no_gpus_to_ask_about(void **state)
{
#define INFER(NAME, TYPES) \
    "  - {recipe: batch-infer, name: " NAME ", model: bert-base, prompts: 500, prompt_tokens: " \
    "128, steps: 2,\n     infer: {types: [" TYPES "], cpu: {cores: 28}}}\n"
    static const struct { const char *mix, *says, *says_not; int status; } of[] = {
        { INFER("a", "cpu"), "own.yaml:5:13: range error: role infer of a runs on cores alone",
          "layouts tried", 3 },
        { INFER("b", "t4, cpu"), "cores of role infer are left aside: GPUs alone are tried\n",
          "left out", 0 },
        { INFER("a", "cpu") INFER("b", "t4, cpu"),
          "warning: ", "job a: ", 0 },
    };
#undef INFER
    char path[128];

    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        const char *words[] = { path, "--gpus", "2", NULL };
        FILE *file;

        snprintf(path, sizeof path, "%s/own.yaml", program.folder);
        file = fopen(path, "w");
        assert_non_null(file);
        fprintf(file, "arrival: {process: all_at_once}\njobs: 1\nmix:\n%s", of[i].mix);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(advise("cores.log", words), of[i].status);
        char *text = said("cores.log");
        if (strstr(text, of[i].says) == NULL || strstr(text, of[i].says_not) != NULL)
            fail_msg("%s", text);
        assert_true(of[i].status != 0 || strstr(text, "\nPareto front") != NULL);
        free(text);
    }
}

/* What trains and what generates have layouts of their own, with a bar between them; a job
 * that does one of both has one. */
static void layouts_name_what_the_job_does(void **state)
{
    static const struct {
        const char *start, *layout;
        bool both;
    } of[] = {
        { "lora", "x l40s           tp1 pp1 dp1 zero0 selective mb2  ", false },
        { "batch_infer", "x h200           tp1 x1  ", false },
        { "dpo", "tp1 pp1 dp1 zero0 selective mb4 | tp1 x1  ", true },
    };

    (void)state;
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        char path[64];
        const char *words[] = { path, "--gpus", "2", "--top", "1", NULL };
        char *text, *first;

        snprintf(path, sizeof path, "workloads/start/%s.yaml", of[i].start);
        assert_int_equal(advise("layout.log", words), 0);
        text = said("layout.log");
        first = strstr(text, "\n   1 * ");
        assert_non_null(first);
        first[1 + strcspn(first + 1, "\n")] = '\0';
        if (strstr(first, of[i].layout) == NULL || (strchr(first, '|') != NULL) != of[i].both)
            fail_msg("%s: %s", of[i].start, first);
        free(text);
    }
}

static void full_7b_on_one_a100_40_misses_bytes_and_lora_is_offered(
    void **state)
{
    const char *words[] = { "experiments/advise/d8_7b.yaml", "--job",
                            "full-7b", "--cluster",
                            "experiments/advise/one_a100_40.yaml", NULL };

    (void)state;
    assert_int_equal(advise("full.log", words), 0);
    assert_says("full.log", "nothing fits");
    assert_says("full.log", "are missing");
    assert_says("full.log", "fits with method: lora");
}

static void memory_names_every_part_and_the_largest_micro_batch(void **state)
{
    const char *words[] = { "experiments/advise/d8_7b.yaml", "--cluster",
                            "experiments/advise/one_a100_40.yaml",
                            "--memory", NULL };

    (void)state;
    assert_int_equal(advise("memory.log", words), 0);
    assert_says("memory.log", "gradients optimizer activations");
    assert_says("memory.log", "= largest micro_batch");
}

static void csv_and_chart_are_written_beside_the_tables(void **state)
{
    char csv[128], png[128];
    const char *words[] = { "experiments/advise/d8_13b.yaml", "--job",
                            "lora-13b", "--gpus", "64", "--csv", csv,
                            "--plot", png, NULL };
    char *text;

    (void)state;
    snprintf(csv, sizeof csv, "%s/rows.csv", program.folder);
    snprintf(png, sizeof png, "%s/chart.png", program.folder);
    assert_int_equal(advise("files.log", words), 0);
    text = said("rows.csv");
    assert_int_equal(strncmp(text, "job,rank,pareto,place,gpus,", 27), 0);
    assert_non_null(strstr(text, "\nlora-13b,1,1,"));
    free(text);
    free(said("chart.png"));
    free(said("chart.dat"));
}

/* The front shows two rows for each row of --top, and tells how many the CSV has besides. */
static void a_front_that_is_cut_says_so(void **state)
{
    char csv[128], left[64], *text;
    const char *words[] = { "experiments/advise/d8_13b.yaml", "--job", "lora-13b", "--gpus",
                            "64", "--csv", csv, "--top", "1", NULL };
    unsigned front = 0, rank;

    (void)state;
    snprintf(csv, sizeof csv, "%s/front.csv", program.folder);
    assert_int_equal(advise("front.log", words), 0);
    text = said("front.csv");
    for (const char *row = strchr(text, '\n'); row != NULL && row[1] != '\0';
         row = strchr(row + 1, '\n')) {
        int pareto;

        assert_int_equal(sscanf(row, "\nlora-13b,%u,%d,", &rank, &pareto), 2);
        front += pareto == 1;
    }
    free(text);
    assert_true(front > 2);
    snprintf(left, sizeof left, "\nand %u more, cheaper and slower: see --top", front - 2);
    assert_says("front.log", left);
    words[8] = "100";
    assert_int_equal(advise("front.log", words), 0);
    text = said("front.log");
    assert_null(strstr(text, "cheaper and slower"));
    free(text);
}

/* Of a lognormal of mean 300 and cv 1, cut at 300, with s^2 = ln 2: E[min(x, 300)] =
 * 300 P(z < -s / 2) + 300 P(z < -s / 2) = 600 x 0.338604 = 203.162. */
static void tokens_are_those_of_responses_that_are_cut(void **state)
{
    char workload[128], csv[128], sequences[40], tokens[40], *text;
    const char *words[] = { workload, "--gpus", "1", "--csv", csv, NULL };

    (void)state;
    snprintf(workload, sizeof workload, "%s/cut.yaml", program.folder);
    snprintf(csv, sizeof csv, "%s/cut.csv", program.folder);
    program_write(&program, "cut.yaml",
                  "arrival: {process: all_at_once}\njobs: 1\nmix:\n"
                  "  - {recipe: batch-infer, name: x, model: llama-3.1-8b, prompts: 512,\n"
                  "     prompt_tokens: 500, response: {mean: 300, cv: 1, max: 300}, steps: 10,\n"
                  "     infer: {gpus: 1, types: [l40s]}}\n");
    assert_int_equal(advise("cut.log", words), 0);
    text = said("cut.csv");
    assert_true(csv_cell(text, "1", NULL, "sequences_per_s", sequences, sizeof sequences));
    assert_true(csv_cell(text, "1", NULL, "tokens_per_s", tokens, sizeof tokens));
    assert_true(fabs(atof(tokens) / atof(sequences) - 203.162) < 0.001);
    free(text);
}

static void wrong_inputs_are_refused_with_their_status(void **state)
{
    const char *nothing[] = { "tests/none.yaml", NULL };
    const char *job[] = { "experiments/advise/d8_13b.yaml", "--job",
                          "lora-14b", NULL };
    const char *two[] = { "experiments/advise/d8_13b.yaml", "-o", "x.yaml",
                          NULL };
    const char *trace[] = { "workloads/trace_sample.yaml", NULL };

    (void)state;
    assert_int_equal(advise("nothing.log", nothing), 4);
    assert_int_equal(advise("job.log", job), 3);
    assert_says("job.log", "lora-13b");
    assert_int_equal(advise("two.log", two), 2);
    assert_int_equal(advise("trace.log", trace), 3);
    assert_says("trace.log", "needs a mix");
}

/* ---- the search ------------------------------------------------------- */

struct brute {
    const struct advise_task *task;
    const struct gang *gang;
    double run_s;
};

static void brute_split(struct brute *b, struct train_shape shape)
{
    uint32_t dp = b->gang->gpus / (shape.tp * shape.pp * shape.cp);

    for (shape.zero = dp > 1 ? 1 : 0;
         shape.zero <= (dp == 1 ? 0 : shape.pp > 1 ? 1 : 3); shape.zero++)
        for (int r = 0; r <= RECOMPUTE_FULL; r++)
            for (shape.micro_batch = 1;
                 shape.micro_batch * dp <= b->task->law->sequences &&
                 shape.micro_batch <= 64;
                 shape.micro_batch *= 2) {
                double each = floor(b->task->law->sequences / dp);

                shape.recompute = (enum recompute)r;
                if (shape.vp > 1 &&
                    fmod(floor(each / shape.micro_batch), shape.pp) != 0)
                    continue;
                if (advise_need(b->task, &shape, b->gang->gpus).total <=
                    b->gang->gpu->memory_bytes)
                    b->run_s = fmin(b->run_s, advise_train_s(b->task, &shape,
                                                             b->gang));
            }
}

static void brute_stages(struct brute *b, struct train_shape shape)
{
    for (shape.cp = 1; shape.cp <= 4; shape.cp *= 2)
        for (shape.vp = 1; shape.vp <= (shape.pp > 1 ? 4 : 1); shape.vp *= 2)
            for (int parallel = 0; parallel < 2; parallel++) {
                shape.sequence_parallel = parallel;
                if (b->gang->gpus % (shape.tp * shape.pp * shape.cp) == 0 &&
                    shape.llm->layers % (shape.pp * shape.vp) == 0 &&
                    (shape.cp == 1 ||
                     shape.sequence_tokens / shape.cp >= 4096))
                    brute_split(b, shape);
            }
}

static void search_finds_the_fastest_of_all_layouts(void **state)
{
    static const char *const models[] = { "llama-2-7b", "llama-2-13b",
                                          "qwen2.5-32b" };
    struct arena *arena = arena_new((size_t)1 << 16);
    struct err err = { 0 };
    const struct catalogue *catalogue = catalogue_load(arena, NULL, 0, &err);
    size_t found = 0;

    (void)state;
    assert_non_null(catalogue);
    for (int m = 0; m < 3; m++)
        for (uint32_t gpus = 1; gpus <= 64; gpus *= 2) {
            struct phase_law law = {
                .kind = LAW_TRAIN, .sequences = 64, .repeats = 1,
                .train = { .llm = catalogue_llm(catalogue, models[m]),
                           .precision = PRECISION_BF16, .tp = 1, .pp = 1,
                           .sequence_tokens = m == 0 ? 16384 : 2048,
                           .micro_batch = 1 } };
            struct advise_task task = { &law, law.train.sequence_tokens, 0,
                                        NULL };
            struct gang gang = {
                .gpu = catalogue_gpu(catalogue, "a100-80"), .gpus = gpus,
                .nodes = (gpus + 7) / 8, .intra_bps = 226e9,
                .intra_latency_s = 3e-6, .inter_bps = 40e9,
                .inter_latency_s = 5e-6, .cores = gpus };
            struct brute brute = { &task, &gang, INFINITY };
            struct advise_layout best = advise_train(&task, &gang, 8);

            for (uint32_t tp = 1; tp <= 8; tp *= 2)
                for (uint32_t pp = 1; pp <= 64; pp++) {
                    struct train_shape shape = law.train;

                    shape.tp = tp;
                    shape.pp = pp;
                    if (gpus % (tp * pp) == 0 && shape.llm->heads % tp == 0 &&
                        shape.llm->layers % pp == 0)
                        brute_stages(&brute, shape);
                }
            assert_true(best.run_s <= brute.run_s);
            assert_true(best.run_s >= brute.run_s);
            found += isfinite(best.run_s);
        }
    assert_true(found > 6);
    arena_free(arena);
}

static void phases_that_run_now_and_then_count_as_often_as_they_run(
    void **state)
{
    struct job_form form = { .phase_count = 3 };
    double seconds[3] = { 10, 2, 5 };

    (void)state;
    for (int p = 0; p < 3; p++)
        form.phase[p].every = 1;
    form.phase[1].after_mask = 1;       /* after the first */
    form.phase[1].every = 4;            /* in 2 of 10 runs */
    form.phase[2].role = 1;             /* beside the first */
    assert_true(fabs(advise_form_s(&form, seconds, 10) - 104.0) < 1e-9);
    seconds[2] = 11;
    assert_true(fabs(advise_form_s(&form, seconds, 10) - 112.0) < 1e-9);
    form.phase[2].role = 0;             /* on the same GPUs, in turn */
    assert_true(fabs(advise_form_s(&form, seconds, 10) - 214.0) < 1e-9);
}


static int tear_down(void **state)
{
    (void)state;
    program_close(&program);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(simulation_of_the_best_row_takes_the_time_advised),
        cmocka_unit_test(prices_of_one_market_rank),
        cmocka_unit_test(a_plan_keeps_the_tier_that_was_asked_for),
        cmocka_unit_test(
            search_of_the_catalogue_for_a_70b_says_what_is_best_and_missing),
        cmocka_unit_test(
            full_7b_on_one_a100_40_misses_bytes_and_lora_is_offered),
        cmocka_unit_test(types_that_are_left_aside_are_told),
        cmocka_unit_test(roles_on_cores_have_no_gpus_to_ask_about),
        cmocka_unit_test(layouts_name_what_the_job_does),
        cmocka_unit_test(memory_names_every_part_and_the_largest_micro_batch),
        cmocka_unit_test(csv_and_chart_are_written_beside_the_tables),
        cmocka_unit_test(a_front_that_is_cut_says_so),
        cmocka_unit_test(tokens_are_those_of_responses_that_are_cut),
        cmocka_unit_test(wrong_inputs_are_refused_with_their_status),
        cmocka_unit_test(search_finds_the_fastest_of_all_layouts),
        cmocka_unit_test(
            phases_that_run_now_and_then_count_as_often_as_they_run),
    };

    (void)argc;
    program_open(&program, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, tear_down);
    return failed;
}

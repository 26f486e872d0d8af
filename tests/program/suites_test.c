/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * suites_test.c - rows of measurements as the suites `nets`, `GRPO-steps` and `PPO-steps`
 * read them: which law a row asks for, with which gang, and why a row is refused.
 *
 * Rows are made here.  What a step is made of is added up here, by the laws.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/calibrate/calibrate.h"
#include "models/laws/net.h"
#include "models/laws/rollout.h"
#include "models/laws/train.h"
#include "tests/aid/law_aids.h"
#include "tests/aid/rows.h"

#define NET_COLUMNS "id,suite,model,pass,gpu,gpus,gpus_per_node,mbs,gbs,precision,samples_s,solid\n"
#define RLHF_COLUMNS "id,suite,framework,model,gpu,gpus,prompts_per_step,mbs,prompt_len_mean," \
    "resp_len_mean,resp_len_max,gen_parallel,train_parallel,t_step_s,solid\n"
/* Of a node: 8 NICs of 200 Gb/s at 185, and of 400 Gb/s at 370. */
#define DGX_A100_BPS 185e9
#define DGX_H100_BPS 370e9

/* Writes the rows as the suite's file, and reads them as the suite does. */
static void read_rows(struct rows *f, const char *name, const char *columns, const char *rows)
{
    char text[4000];

    snprintf(text, sizeof text, "%s%s", columns, rows);
    rows_read(f, name, text);
}

/* Sample i is predicted, and by these seconds. */
static void assert_sample(const struct rows *f, size_t i, double measured, double predicted)
{
    const struct calibrate_sample *s = &f->samples.item[i];

    assert_true(i < f->samples.count);
    if (s->refused != NULL)
        fail_msg("row %zu: %s", i, s->refused);
    if (law_error(s->measured, measured) > 1e-12 || law_error(s->predicted, predicted) > 1e-12)
        fail_msg("row %zu: %.17g of %.17g s, wanted %.17g of %.17g", i, s->predicted,
                 s->measured, predicted, measured);
}

/* All rows are refused, for these reasons in turn. */
static void assert_refused(const struct rows *f, const char *const *why, size_t count)
{
    assert_int_equal(f->samples.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_non_null(f->samples.item[i].refused);
        assert_string_equal(f->samples.item[i].refused, why[i]);
    }
}

/* ---- nets ---------------------------------------------------------------- */

static void a_row_of_a_net_is_predicted_by_the_law_of_its_pass(void **state)
{
    struct rows *f = *state;
    const struct catalogue *all = f->aids.catalogue;
    const struct net *resnet = catalogue_net(all, "resnet-50");
    const struct net *dlrm = catalogue_net(all, "dlrm-mlperf");
    const struct gpu_type *a100 = catalogue_gpu(all, "a100-80");
    const struct cpu_type *cpu = catalogue_cpu(all, "epyc-7763");
    struct gang two_nodes = law_gang(&f->aids, "a100-80", 16, 2, DGX_A100_BPS);
    struct gang one_node = law_gang(&f->aids, "a100-80", 8, 1, DGX_A100_BPS);
    struct train_shape shape = { .net = resnet, .tp = 1, .pp = 1, .precision = PRECISION_FP16,
                                 .micro_batch = 64, .stack = STACK_EAGER };

    read_rows(f, "nets", NET_COLUMNS,
              "a,nets,ResNet50 v1.5,train,A100-SXM4-80GB,16,8,64,2048,fp16 AMP,4096,yes\n"
              "b,nets,resnet-50,forward,A100-SXM4-80GB,1,8,,256,half,2560,yes\n"
              "c,nets,resnet-50,engine,A100-SXM4-80GB,1,8,,128,fp16,1000,yes\n"
              "d,nets,resnet-50,cores,epyc-7763,,,,32,fp32,64,yes\n"
              "e,nets,DLRM large,train,A100-SXM4-80GB,8,,,65536,AMP,65536,no\n"
              "f,other,resnet-50,engine,A100-SXM4-80GB,1,8,,128,fp16,1000,yes\n"
              "g,nets,llama-3.1-8b,engine,A100-SXM4-80GB,1,8,,128,fp16,1000,yes\n");
    assert_int_equal(f->samples.count, 5);      /* f is of another suite, g no net */
    assert_sample(f, 0, 0.5, net_train_step(&shape, &two_nodes, 2048).step_s);
    assert_sample(f, 1, 0.1, net_eager_pass_s(resnet, PRECISION_FP16, a100, 256));
    assert_sample(f, 2, 0.128, net_pass_s(resnet, PRECISION_FP16, a100, 128));
    assert_sample(f, 3, 0.5, net_cpu_pass_s(resnet, PRECISION_FP32, cpu, cpu->cores, 32));
    /* A recommender's framework has no floor of its own; no micro batch: the batch. */
    shape.net = dlrm;
    shape.micro_batch = 65536;
    shape.stack = STACK_ENGINE;
    assert_sample(f, 4, 1.0, net_train_step(&shape, &one_node, 65536).step_s);
    assert_true(f->samples.item[3].solid && !f->samples.item[4].solid);
}

static void a_row_of_a_net_that_lacks_something_is_refused(void **state)
{
    static const char *const why[] = {
        "the precision is unknown", "the GPU is not in the catalogue",
        "the CPU is not in the catalogue", "no measured value in the row",
        "the batch is not in the row", "the batch is not in the row",
    };
    struct rows *f = *state;

    read_rows(f, "nets", NET_COLUMNS,
              "a,nets,resnet-50,train,a100-80,1,8,64,64,int7,100,yes\n"
              "b,nets,resnet-50,train,abacus,1,8,64,64,fp16,100,yes\n"
              "c,nets,resnet-50,cores,a100-80,1,8,64,64,fp32,100,yes\n"
              "d,nets,resnet-50,train,a100-80,1,8,64,64,fp16,,yes\n"
              "e,nets,resnet-50,train,a100-80,1,8,64,,fp16,100,yes\n"
              "f,nets,resnet-50,train,a100-80,1,8,0,64,fp16,100,yes\n");
    assert_refused(f, why, sizeof why / sizeof why[0]);
}

/* Of the rows that ship, those that chose no constant. */
static void the_nets_that_ship_are_off_by_less_than_three_tenths(void **state)
{
    struct rows *f = *state;
    struct err err = { 0 };
    struct calibrate_error e;

    for (size_t i = 0; i < calibrate_suite_count; i++)
        if (strcmp(calibrate_suites[i].name, "nets") == 0)
            assert_true(calibrate_read(f->aids.arena, f->aids.catalogue, &calibrate_suites[i],
                                       "models/validation", &f->samples, &err));
    e = calibrate_error(f->aids.arena, &f->samples, CALIBRATE_HELD_OUT);
    if (e.rows != 46 || e.median > 0.30 || e.mean > 0.30)
        fail_msg("%zu rows, median %.3f, mean %.3f", e.rows, e.median, e.mean);
}

/* ---- steps of RLHF --------------------------------------------------------- */

/* Of a GPU, in parts: the engine of the law has 9 tenths, beside a trainer it has 6 in NeMo-RL's
 * recipes (gpu_memory_utilization: 0.6) and alone 8 (0.8). */
enum share { BESIDE_TENTHS = 6, ALONE_TENTHS = 8, LAW_TENTHS = 9 };

/* Seconds of a rollout to its longest response, by lengths of a cv of 1 before the cut, of which
 * `mean` tokens are left after it. */
static double generate_s(const struct llm *llm, const struct gang *gang, uint32_t tp,
                         double responses, double prompt, double mean, double most,
                         enum share tenths)
{
    struct rollout_shape shape = {
        .llm = llm, .precision = PRECISION_BF16, .tp = tp, .responses = responses,
        .responses_per_prompt = 1, .prompt_tokens = prompt,
        .response_mean_tokens = rows_uncut_mean(mean, most), .response_cv = 1.0,
        .response_max_tokens = most,
        .reserved_bytes = gang->gpu->memory_bytes * (LAW_TENTHS - tenths) / LAW_TENTHS,
    };

    return rollout_time(&shape, gang, 0.5).total_s;
}

/* A pass without gradients by the layout of `train`, so many packed tokens at a time. */
static double pass_s(const struct train_shape *train, const struct gang *gang, double sequences,
                     double packed_tokens)
{
    struct train_shape shape = *train;

    shape.micro_batch = packed_tokens / shape.sequence_tokens;
    return forward_divided_step(&shape, gang, sequences).step_s;
}

/* 512 prompts in 4 updates of 128, 1000 tokens each of which 200 are the prompt; policy and
 * reference make a pass each; weights of 16 bits come in 3.5 s and 20 GB a second.  One step off,
 * 32 GPUs are 16 that train beside 16 that generate.  NeMo-RL's recipe for 16 H100
 * (grpo-llama3.1-8b-instruct-2n8g): sequences packed to 4,096 tokens, in passes to twice that;
 * activation_checkpointing; no sequence_parallel. */
static void a_step_of_grpo_is_its_phases_or_one_step_off_the_longer_one(void **state)
{
    struct rows *f = *state;
    const struct llm *llm = catalogue_llm(f->aids.catalogue, "llama-3.1-8b");
    struct gang gang = law_gang(&f->aids, "h100-sxm", 16, 2, DGX_H100_BPS);
    struct train_shape shape = {
        .llm = llm, .method = TRAIN_FULL, .precision = PRECISION_BF16,
        .recompute = RECOMPUTE_FULL, .micro_batch = 4096 / 1000.0, .tp = 2, .cp = 1, .pp = 2,
        .vp = 1, .ep = 1, .sequence_tokens = 1000, .zero = 1, .stack = STACK_EAGER,
    };
    double beside = generate_s(llm, &gang, 4, 512, 200, 800, 4096, BESIDE_TENTHS);
    double alone = generate_s(llm, &gang, 4, 512, 200, 800, 4096, ALONE_TENTHS);
    double train = 2 * pass_s(&shape, &gang, 512, 8192) +
                   4 * train_step(&shape, &gang, 128).step_s;

    read_rows(f, "GRPO-steps", RLHF_COLUMNS,
              "a,NeMo-RL-0.4,on-policy,llama-3.1-8b,h100-sxm,16,G-GBS 512,T-GBS 128,200,1000,4096,"
              "\"[4,1]\",\"[2,1,1,2]\",100,medium\n"
              "b,NeMo-RL-0.4,1-step-off,llama-3.1-8b,h100-sxm,32,G-GBS 512,T-GBS 128,200,1000,4096,"
              "\"[4,1]\",\"[2,1,1,2]\",50,medium\n"
              "c,verl-data,on-policy,llama-3.1-8b,h100-sxm,16,G-GBS 512,T-GBS 128,200,1000,4096,"
              "\"[4,1]\",\"[2,1,1,2]\",100,medium\n");
    assert_int_equal(f->samples.count, 2);      /* c is of the other suite */
    assert_sample(f, 0, 100, train + beside + 3.5 + 2 * llm->params / 20e9);
    assert_sample(f, 1, 50, train > alone ? train : alone);
}

/* Release 0.6 names its layouts by words and its batches in the notes, and no longest sequence:
 * that of the model's rows of 0.4 is meant.  The recipe (grpo-qwen3-30ba3b-4n8g) packs 4,096
 * tokens, in passes 4 times as many (logprob_batch_size: 4), computes nothing again, and where it
 * divides layers by 2 it divides norms, too (sequence_parallel). */
static void a_step_of_release_0_6_says_its_layout_in_words(void **state)
{
    struct rows *f = *state;
    const struct llm *llm = catalogue_llm(f->aids.catalogue, "qwen3-30b-a3b");
    struct gang gang = law_gang(&f->aids, "h100-sxm", 32, 4, DGX_H100_BPS);
    struct train_shape shape = {
        .llm = llm, .method = TRAIN_FULL, .precision = PRECISION_BF16,
        .recompute = RECOMPUTE_NONE, .micro_batch = 4096 / 3000.0, .tp = 2, .cp = 1, .pp = 2,
        .vp = 1, .ep = 8, .sequence_tokens = 3000, .sequence_parallel = true, .zero = 1,
        .stack = STACK_EAGER,
    };
    double pass = pass_s(&shape, &gang, 2048, 16384);

    read_rows(f, "GRPO-steps-0.6",
              "id,suite,framework,model,gpu,gpus,resp_len_mean,gen_parallel,train_parallel,"
              "t_step_s,notes,solid\n",
              "a,nemo-rl-0.6,on-policy,Qwen3-30B-A3B,h100-sxm,32,3000,vLLM TP4,"
              "Megatron TP2 CP1 EP8 PP2,192,G-GBS/T-GBS 2048/512; more,medium\n"
              "b,nemo-rl-0.6,on-policy,llama-3.1-8b,h100-sxm,32,3000,vLLM TP4,"
              "Megatron TP2 CP1 EP8 PP2,192,G-GBS/T-GBS 2048/512; more,medium\n");
    assert_int_equal(f->samples.count, 2);
    assert_sample(f, 0, 192, 2 * pass + 4 * train_step(&shape, &gang, 512).step_s +
                                 generate_s(llm, &gang, 4, 2048, 100, 2900, 4096, BESIDE_TENTHS) +
                                 3.5 + 2 * llm->params / 20e9);
    assert_string_equal(f->samples.item[1].refused, "GPUs or lengths are not in the row");
}

/* The phases of one step: 128 prompts of 32 responses in updates of 512.  A GPU has 512 responses,
 * more than its cache holds beside the trainer (118 MB each of 0.6 x 80 GB).  The recipe
 * (grpo_math_8B_megatron) has two stages, sequences packed to 4,096 tokens, in passes to 4 times as
 * many, and computes nothing again. */
static void the_phases_of_a_step_are_each_a_suite(void **state)
{
    static const char *const name[] = { "RL-generate", "RL-logprob", "RL-train", "RL-refit" };
    static const char *const why[] = { "the layout does not divide the GPUs" };
    struct rows *f = *state;
    const struct llm *llm = catalogue_llm(f->aids.catalogue, "llama-3.1-8b");
    struct gang gang = law_gang(&f->aids, "h100-sxm", 8, 1, DGX_H100_BPS);
    struct train_shape shape = {
        .llm = llm, .method = TRAIN_FULL, .precision = PRECISION_BF16,
        .recompute = RECOMPUTE_NONE, .micro_batch = 4096 / 900.0, .tp = 1, .cp = 1, .pp = 2,
        .vp = 1, .ep = 1, .sequence_tokens = 900, .zero = 1, .stack = STACK_EAGER,
    };
    double predicted[] = {
        generate_s(llm, &gang, 1, 4096, 100, 800, 4096, BESIDE_TENTHS),
        2 * pass_s(&shape, &gang, 4096, 16384),
        8 * train_step(&shape, &gang, 512).step_s, 3.5 + 2 * llm->params / 20e9,
    };

    for (size_t i = 0; i < 4; i++) {
        static const double measured[] = { 58, 18, 28, 5 };
        static const char columns[] =
            "id,suite,model,gpu,gpus,prompts_per_step,responses_per_prompt,resp_len_mean,"
            "resp_len_max,gen_parallel,train_parallel,t_gen_s,t_ref_s,t_actor_s,notes,solid\n";

        read_rows(f, name[i], columns,
                  "a,nemo-rl-phases,llama-3.1-8b,h100-sxm,8,128,32,800,4096,vLLM,Megatron,58,18,28,"
                  "\"refit 5 s; T-GBS 512\",medium\n");
        assert_int_equal(f->samples.count, 1);
        assert_sample(f, 0, measured[i], predicted[i]);
        read_rows(f, name[i], columns,
                  "a,nemo-rl-phases,llama-3.1-8b,h100-sxm,8,128,32,800,4096,vLLM TP16,Megatron,58,"
                  "18,28,\"refit 5 s; T-GBS 512\",medium\n");
        assert_refused(f, why, 1);
    }
}

static void a_row_of_grpo_that_lacks_something_is_refused(void **state)
{
#define GRPO(MODEL, GPUS, BATCHES, LENGTHS, ENGINE, LAYOUT, STEP) \
    "a,NeMo-RL-0.4,x," MODEL ",h100-sxm," GPUS "," BATCHES ",200," LENGTHS ",\"" ENGINE \
    "\",\"" LAYOUT "\"," STEP ",medium\n"
#define B "G-GBS 512,T-GBS 128"
    static const char *const why[] = {
        "the model is not in the catalogue", "GPUs or lengths are not in the row",
        "GPUs or lengths are not in the row", "GPUs or lengths are not in the row",
        "the layout is not in the row", "the layout is not in the row",
        "the engine's layout is not in the row", "the step time is not in the row",
        "the batch is not in the row", "the batch is not in the row",
        "the layout does not divide the GPUs", "the layout does not divide the GPUs",
    };
    struct rows *f = *state;

    read_rows(f, "GRPO-steps", RLHF_COLUMNS,
              GRPO("abacus", "16", B, "1000,4096", "[4,1]", "[2,1,1,2]", "100")
              GRPO("llama-3.1-8b", "", B, "1000,4096", "[4,1]", "[2,1,1,2]", "100")
              GRPO("llama-3.1-8b", "16", B, ",4096", "[4,1]", "[2,1,1,2]", "100")
              GRPO("llama-3.1-8b", "16", B, "1000,999", "[4,1]", "[2,1,1,2]", "100")
              GRPO("llama-3.1-8b", "16", B, "1000,4096", "[4,1]", "[2,1,1]", "100")
              GRPO("llama-3.1-8b", "16", B, "1000,4096", "[4,1]", "[2,1,1,0]", "100")
              GRPO("llama-3.1-8b", "16", B, "1000,4096", "vLLM", "[2,1,1,2]", "100")
              GRPO("llama-3.1-8b", "16", B, "1000,4096", "[4,1]", "[2,1,1,2]", "")
              GRPO("llama-3.1-8b", "16", "512,T-GBS 128", "1000,4096", "[4,1]", "[2,1,1,2]", "1")
              GRPO("llama-3.1-8b", "16", "G-GBS 512,128", "1000,4096", "[4,1]", "[2,1,1,2]", "1")
              GRPO("llama-3.1-8b", "16", B, "1000,4096", "[32,1]", "[2,1,1,2]", "100")
              GRPO("llama-3.1-8b", "18", B, "1000,4096", "[4,1]", "[2,1,1,2]", "100"));
    assert_refused(f, why, sizeof why / sizeof why[0]);
}

/* 256 prompts in 4 updates of 64, by a policy and a critic of its size; passes of reference and
 * critic.  A GPU that the log names by its memory alone counts as an A100.  verl's row has no
 * recipe: the engine has what the law gives it, and a pass is that of as few GPUs as hold the
 * model. */
static void a_step_of_ppo_trains_a_policy_and_a_critic(void **state)
{
    struct rows *f = *state;
    const struct llm *llm = catalogue_llm(f->aids.catalogue, "qwen2.5-7b");
    struct gang gang = law_gang(&f->aids, "a100-80", 4, 1, DGX_H100_BPS);
    struct train_shape shape = {
        .llm = llm, .method = TRAIN_FULL, .precision = PRECISION_BF16,
        .recompute = RECOMPUTE_FULL, .micro_batch = 2, .tp = 1, .cp = 1, .pp = 1, .vp = 1,
        .sequence_tokens = 400, .zero = 3,
    };
    double generate = generate_s(llm, &gang, 4, 256, 100, 300, 512, LAW_TENTHS);
    double pass = forward_step(llm, PRECISION_BF16, &gang, 256, 400).step_s;
    double train = 4 * train_step(&shape, &gang, 64).step_s;

    /* No length of the prompt: 100 tokens. */
    read_rows(f, "PPO-steps", RLHF_COLUMNS,
              "a,verl-data,x,qwen2.5-7b,80GB-class,4,256,mini 64 micro 2,,300,512,,,30,medium\n");
    assert_int_equal(f->samples.count, 1);
    assert_sample(f, 0, 30, generate + 2 * pass + 2 * train);
}

static void a_row_of_ppo_that_lacks_something_is_refused(void **state)
{
    static const char *const why[] = {
        "the model is not in the catalogue", "the batch is not in the row",
        "the batch is not in the row", "the batch is not in the row",
        "the batch is not in the row",
    };
    struct rows *f = *state;

    read_rows(f, "PPO-steps", RLHF_COLUMNS,
              "a,verl-data,x,abacus,x,4,256,mini 64 micro 2,,300,512,,,30,medium\n"
              "a,verl-data,x,qwen2.5-7b,x,4,,mini 64 micro 2,,300,512,,,30,medium\n"
              "a,verl-data,x,qwen2.5-7b,x,4,256,mini 64 micro 2,,300,512,,,,medium\n"
              "a,verl-data,x,qwen2.5-7b,x,4,256,mini 0 micro 2,,300,512,,,30,medium\n"
              "a,verl-data,x,qwen2.5-7b,x,4,256,mini 64,,300,512,,,30,medium\n");
    assert_refused(f, why, sizeof why / sizeof why[0]);
}

/* ---- what no gang can have ------------------------------------------------ */

/* Rows are a user's own (--data), so they may say anything. */
static void a_layout_that_cannot_be_is_refused(void **state)
{
    static const char *const nodes[] = { "there are more nodes than GPUs" };
    static const char *const layout[] = {
        "the layout is not in the row", "the layout is not in the row",
    };
    static const char *const train[] = {
        "the layout needs more GPUs than there are",
        "the length of sequences is not in the row",
    };
    struct rows *f = *state;

    read_rows(f, "links", "link,metric,kind,gpus,nodes,size_bytes,value,unit,solid\n",
              "H100,all-reduce,nccl,1,2,1e9,300,GB/s,yes\n");
    assert_refused(f, nodes, 1);
    read_rows(f, "memory-fig1", "item,model,quantity,zero_or_parallel,seq,mbs,gpus,value,unit\n",
              "Korthikanti,GPT 22B,states,tp0 pp1,2048,4,8,50,GiB\n"
              "Korthikanti,GPT 22B,states,tp1 pp0,2048,4,8,50,GiB\n");
    assert_refused(f, layout, 2);
    read_rows(f, "vTrain-multi", "suite,model,gpu,gpus,hidden,layers,heads,vocab,seq,mbs,gbs,tp,"
              "pp,precision,iter_s\n",
              "vTrain-multi,x,A100-SXM4-80GB,8,1024,24,16,50000,2048,1,8,65536,65536,bf16,1\n"
              "vTrain-multi,x,A100-SXM4-80GB,8,1024,24,16,50000,,1,8,1,1,bf16,1\n");
    assert_refused(f, train, 2);
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, rows_set_up, rows_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_row_of_a_net_is_predicted_by_the_law_of_its_pass),
        TEST(a_row_of_a_net_that_lacks_something_is_refused),
        TEST(the_nets_that_ship_are_off_by_less_than_three_tenths),
        TEST(a_step_of_grpo_is_its_phases_or_one_step_off_the_longer_one),
        TEST(a_step_of_release_0_6_says_its_layout_in_words),
        TEST(the_phases_of_a_step_are_each_a_suite),
        TEST(a_row_of_grpo_that_lacks_something_is_refused),
        TEST(a_step_of_ppo_trains_a_policy_and_a_critic),
        TEST(a_row_of_ppo_that_lacks_something_is_refused),
        TEST(a_layout_that_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * calibrate_rows_test.c - rows of measurements that no file of the tree has: links, collectives,
 * kernels, cores, interruptions, bytes, engines, training and PPO; and errors over drawn samples.
 *
 * What was measured is worked out by hand from the row's units.  What is predicted is asked of the
 * law with a gang that is put together here.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/calibrate/calibrate.h"
#include "models/laws/comm.h"
#include "models/laws/compute.h"
#include "models/laws/decode.h"
#include "models/laws/gemm.h"
#include "models/laws/memory.h"
#include "models/laws/rollout.h"
#include "models/laws/train.h"
#include "sim/base/rng.h"
#include "tests/aid/law_aids.h"
#include "tests/aid/rows.h"

#define GIB 1073741824.0
#define NONE (-1.0)             /* of a prediction: the row is refused */

/* Sample i: measured and predicted, or refused with this reason. */
static void has_sample(const struct rows *f, size_t i, double measured, double predicted,
                       const char *refused)
{
    const struct calibrate_sample *s = &f->samples.item[i];

    assert_true(i < f->samples.count);
    if ((s->refused == NULL) != (refused == NULL) ||
        (refused != NULL && strcmp(s->refused, refused) != 0))
        fail_msg("row %zu: '%s', expected '%s'", i, s->refused, refused);
    if (refused == NULL && (law_error(s->measured, measured) > 1e-12 ||
                            law_error(s->predicted, predicted) > 1e-12))
        fail_msg("row %zu: %.17g of %.17g, expected %.17g of %.17g", i, s->predicted, s->measured,
                 predicted, measured);
}

static struct gang gang_of(const struct rows *f, const char *name, uint32_t gpus,
                           uint32_t nodes, double inter_bps)
{
    const struct gpu_type *gpu = catalogue_gpu(f->aids.catalogue, name);
    bool nvlink = gpu->nvlink_bps > 0;

    return (struct gang){ .gpu = gpu, .gpus = gpus, .nodes = nodes,
        .intra_bps = nvlink ? gpu->nvlink_bps : gpu->pcie_bps,
        .intra_latency_s = nvlink ? gpu->nvlink_latency_s : gpu->pcie_latency_s,
        .inter_bps = inter_bps, .inter_latency_s = 9.7e-6 };
}

/* Bus bandwidth in GB/s: of n GPUs, 2 (n - 1) / n of the bytes for an all-reduce go over the bus,
 * half of that for its halves.  1e9 bytes of 8 GPUs at 175 GB/s: 1.75e9 / 175e9 s. */
static void a_bus_bandwidth_is_a_time(void **state)
{
    static const char rows[] = "id,kind,link,metric,gpus,nodes,size_bytes,value,unit,solid\n"
        "a,nccl,8x H100 NVLink,all_reduce busbw,8,1,1e9,175,GB/s,yes\n"
        "b,nccl,8x H100 NVLink,all-gather busbw,8,1,1e9,175,GB/s,yes\n"
        "c,nccl,4x A100,reduce_scatter busbw,4,1,1e8,150,GB/s,yes\n"
        "d,nccl,16x H100 EFA,nccl-tests,16,2,2e9,300,GB/s,yes\n"
        "e,nccl,8x GB200,all_reduce latency,8,1,1e6,50,us,yes\n"
        "f,spec,8x H100,all_reduce busbw,8,1,1e9,175,GB/s,yes\n"
        "g,nccl,8x H100,all_reduce floor,8,1,1e9,175,GB/s,yes\n"
        "h,nccl,8x H100,all_reduce NVLS disabled,8,1,1e9,175,GB/s,yes\n"
        "i,nccl,8x MI300,all_reduce,8,1,1e9,175,GB/s,yes\n"
        "j,nccl,8x H100,all_reduce,2,4,1e9,175,GB/s,yes\n"
        "k,nccl,8x H100,all_reduce,8,1,,175,GB/s,yes\n"
        "l,nccl,8x H100,all_reduce,8,8,1e9,175,GB/s,yes\n";
    struct rows *f = *state;

    rows_read(f, "links", rows);
    assert_int_equal(f->samples.count, 9);
    struct gang h8 = gang_of(f, "h100", 8, 1, 400e9), a4 = gang_of(f, "a100-80", 4, 1, 400e9);
    struct gang h16 = gang_of(f, "h100", 16, 2, 400e9), g8 = gang_of(f, "gb200", 8, 1, 400e9);
    struct gang apart = gang_of(f, "h100", 8, 8, 400e9);
    has_sample(f, 0, 0.01, comm_gang_s(COMM_ALL_REDUCE, &h8, 1e9), NULL);
    has_sample(f, 1, 0.005, comm_gang_s(COMM_ALL_GATHER, &h8, 1e9), NULL);
    has_sample(f, 2, 0.75e8 / 150e9, comm_gang_s(COMM_REDUCE_SCATTER, &a4, 1e8), NULL);
    has_sample(f, 3, 2e9 * 1.875 / 300e9, comm_gang_s(COMM_ALL_REDUCE, &h16, 2e9), NULL);
    has_sample(f, 4, 50e-6, comm_gang_s(COMM_ALL_REDUCE, &g8, 1e6), NULL);
    has_sample(f, 5, 0, NONE, "the GPU is not in the catalogue");
    has_sample(f, 6, 0, NONE, "there are more nodes than GPUs");
    has_sample(f, 7, 0, NONE, "the size is not in the row");
    has_sample(f, 8, 0.01, comm_gang_s(COMM_ALL_REDUCE, &apart, 1e9), NULL);
}

/* From 64 MiB on a row is of the second suite, too. */
static void a_collective_has_its_time_and_its_law(void **state)
{
    static const char rows[] = "op,system,gpus,bytes,latency_us,solid\n"
        "all_reduce,h100_sxm,8,67108864,300,yes\n" "all_gather,h100_sxm,4,67108863,200,yes\n"
        "reduce_scatter,a100_sxm,2,1024,9,no\n" "alltoall,h100_sxm,8,134217728,400,yes\n"
        "broadcast,h100_sxm,8,134217728,400,yes\n" "all_reduce,tpu,8,134217728,400,yes\n"
        "all_reduce,h100_sxm,8,134217728,,yes\n";
    struct rows *f = *state;
    struct gang h8 = gang_of(f, "h100", 8, 1, 0), h4 = gang_of(f, "h100", 4, 1, 0);
    struct gang a2 = gang_of(f, "a100-80", 2, 1, 0);

    rows_read(f, "collectives", rows);
    assert_int_equal(f->samples.count, 7);
    has_sample(f, 0, 300e-6, comm_gang_s(COMM_ALL_REDUCE, &h8, 67108864), NULL);
    has_sample(f, 1, 200e-6, comm_gang_s(COMM_ALL_GATHER, &h4, 67108863), NULL);
    has_sample(f, 2, 9e-6, comm_gang_s(COMM_REDUCE_SCATTER, &a2, 1024), NULL);
    has_sample(f, 3, 400e-6, comm_gang_s(COMM_ALL_TO_ALL, &h8, 134217728), NULL);
    has_sample(f, 4, 0, NONE, "no such collective in the simulator");
    has_sample(f, 5, 0, NONE, "the GPU is not in the catalogue");
    has_sample(f, 6, 0, NONE, "no measured value in the row");
    assert_true(f->samples.item[0].solid && !f->samples.item[2].solid);
    assert_true(f->samples.item[0].chosen && f->samples.item[2].chosen);
    assert_false(f->samples.item[5].chosen);
    assert_string_equal(f->samples.item[3].model, "alltoall");
    assert_string_equal(f->samples.item[3].device, "h100_sxm");
    rows_read(f, "collectives-64M", rows);
    assert_int_equal(f->samples.count, 5);
    has_sample(f, 0, 300e-6, comm_gang_s(COMM_ALL_REDUCE, &h8, 67108864), NULL);
    has_sample(f, 1, 400e-6, comm_gang_s(COMM_ALL_TO_ALL, &h8, 134217728), NULL);
}

/* Mixtures of experts: which releases prepare a step ahead, a replica whose tp is the product of
 * both degrees, and rows that do not say how a token came to be. */
static void a_served_mixture_has_its_host_and_its_layout(void **state)
{
    static const char rows[] = "suite,model,gpu,tp,dp,ep,precision,framework,"
        "batch_or_concurrency,isl,osl,tpot_ms,solid\n"
#define ROW(MODEL, TP, DP, EP, FRAMEWORK) "aic-silicon-agg," MODEL ",h200_sxm," TP "," DP "," EP \
        ",fp8," FRAMEWORK ",16,1024,512,20,medium\n"
        ROW("kimi-k2", "8", "1", "1", "vllm 0.14.0") ROW("kimi-k2", "8", "1", "1", "vllm 0.13.9")
        ROW("kimi-k2", "8", "", "", "vllm nightly-5b8c")
        ROW("kimi-k2", "8", "1", "1", "sglang 0.5.9")
        ROW("kimi-k2", "8", "1", "1", "sglang 0.5.8") ROW("kimi-k2", "8", "1", "1", "sglang 0.6.0")
        ROW("kimi-k2", "8", "1", "1", "sglang ") ROW("kimi-k2", "64", "1", "8", "vllm 0.19.0")
        ROW("kimi-k2", "8", "1", "8", "trtllm 1.2.0rc6.post3")
        ROW("deepseek-ai/DeepSeek-R1", "8", "1", "8", "trtllm 1.2.0rc6.post3")
        ROW("deepseek-ai/DeepSeek-R1", "8", "1", "8", "trtllm 1.2.0rc6.post2")
        ROW("kimi-k2", "16", "1", "1", "vllm 0.19.0") ROW("kimi-k2", "4", "4", "16", "vllm 0.19.0")
        ROW("Llama-3.1-70B", "8", "1", "1", "vllm 0.19.0");
    static const struct { const char *llm; enum decode_engine engine; bool ahead; } wanted[] = {
        { "kimi-k2", DECODE_GRAPHS, true }, { "kimi-k2", DECODE_GRAPHS, false },
        { "kimi-k2", DECODE_GRAPHS, true }, { "kimi-k2", DECODE_WAVES, true },
        { "kimi-k2", DECODE_WAVES, false }, { "kimi-k2", DECODE_WAVES, true },
        { "kimi-k2", DECODE_WAVES, true }, { "kimi-k2", DECODE_GRAPHS, true },
        { "kimi-k2", DECODE_KV8, false }, { NULL, DECODE_KV8, false },
        { "deepseek-v3", DECODE_KV8, false },
    };
    struct rows *f = *state;
    struct gang gang = gang_of(f, "h200", 8, 1, 0);

    rows_read(f, "aic-silicon-agg-MoE", rows);
    assert_int_equal(f->samples.count, 13);         /* the dense one is of the other suite */
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct decode_replica r = { catalogue_llm(f->aids.catalogue, wanted[i].llm != NULL
                                                  ? wanted[i].llm : "kimi-k2"),
                                    PRECISION_FP8, &gang, 8, wanted[i].engine, wanted[i].ahead };

        has_sample(f, i, 0.020, decode_served_step_s(&r, 16, 1024, 512), wanted[i].llm != NULL
                   ? NULL : "a step gives several tokens (multi-token prediction), how many is not "
                            "said");
    }
    has_sample(f, 11, 0, NONE, "more GPUs than a node has: how attention is divided is not in the "
               "row");
    has_sample(f, 12, 0, NONE, "the law has no data parallel attention");
    assert_true(f->samples.item[10].chosen && !f->samples.item[0].chosen);
}

static void a_kernel_has_its_shape_and_format(void **state)
{
    static const struct { const char *dtype; enum gemm_format format; } format[] = {
        { "bfloat16", GEMM_16 }, { "fp8", GEMM_FP8 }, { "fp8_block", GEMM_FP8_BLOCK },
        { "nvfp4", GEMM_FP4 }, { "sq", GEMM_INT8 }, { "int8_wo", GEMM_WEIGHTS8 },
        { "int4_wo", GEMM_WEIGHTS4 },
    };
    struct rows *f = *state;
    const struct gpu_type *gpu = catalogue_gpu(f->aids.catalogue, "b200");
    char rows[2000], *at = rows + sprintf(rows, "system,dtype,m,n,k,latency_us,solid\n");

    for (size_t i = 0; i < 7; i++)
        at += sprintf(at, "b200_sxm,%s,64,4096,%zu,%zu,yes\n", format[i].dtype, 512 * (i + 1),
                      10 + i);
    sprintf(at, "b200_sxm,int3,64,4096,512,10,yes\nb200_sxm,fp8,0,4096,512,10,yes\n"
            "b200_sxm,fp8,64,0,512,10,yes\nb200_sxm,fp8,64,4096,0,10,yes\n"
            "tpu,fp8,64,4096,512,10,yes\n");
    rows_read(f, "kernels", rows);
    assert_int_equal(f->samples.count, 12);
    for (size_t i = 0; i < 7; i++) {
        struct gemm gemm = { 64, 4096, 512 * (double)(i + 1), format[i].format };
        has_sample(f, i, 1e-6 * (10 + (double)i), gemm_s(&gemm, gpu), NULL);
    }
    has_sample(f, 7, 0, NONE, "the format is unknown");
    for (size_t i = 8; i < 11; i++)
        has_sample(f, i, 0, NONE, "the shape is not in the row");
    has_sample(f, 11, 0, NONE, "the GPU is not in the catalogue");
}

/* Failures of hardware come at n / (16,384 GPUs x 54 d / 324) or n / 8 x 6.5 / 1000 a node-day;
 * those of a job's own, at what is left of 7.9 h of 1,024 GPUs. */
static void interruptions_add_up_their_rates(void **state)
{
    static const char rows[] = "dataset,category,metric,scale_gpus,value,solid\n"
        "Meta RSC-1,job MTTF,measured,1024,7.9,yes\nMeta RSC-1,job MTTF,measured,2048,4.5,yes\n"
        "Llama 3,derived,MTTI,16384,2.7,yes\nx,job MTTF,projected,1024,7.9,yes\n"
        "x,derived,count,1024,7.9,yes\n";
    struct rows *f = *state;
    double node = 6.5e-3 / 24, job = 1 / 7.9 - 128 * node, gpu = 324 / (16384.0 * 54 * 24);

    rows_read(f, "interruptions", rows);
    assert_int_equal(f->samples.count, 3);
    for (size_t i = 0; i < 3; i++) {
        const double hours[] = { 7.9, 4.5, 2.7 };
        const double rate[] = { 128 * node + job, 256 * node + job, 16384 * gpu + job };
        const struct calibrate_sample *s = &f->samples.item[i];
        assert_null(s->refused);
        assert_true(law_error(s->measured, 3600 * hours[i]) < 1e-12);
        assert_true(law_error(s->predicted, 3600 / rate[i]) < 1e-6);
    }
    assert_true(f->samples.item[0].chosen && !f->samples.item[2].chosen);
}

/* Bytes in four units; a file of blocks has its bits for each parameter. */
static void bytes_have_their_units(void **state)
{
    static const char rows[] = "item,model,precision,gpu,params_b,method,gpus,value,unit,solid\n"
        "llama.cpp,llama-2-7b,Q6_K,,,,,5.5,GB,yes\nllama.cpp,llama-2-7b,F16,,,,,12,GiB,yes\n"
        "llama.cpp,none,F16,,,,,12,GiB,yes\nllama.cpp,llama-2-7b,Q9,,,,,12,GiB,yes\n"
        "checkpoint,,,,7,,,0.1,TB,yes\nvLLM peak,,,a100-80,,,,70,GiB,yes\n"
        "vLLM peak,,,none,,,,70,GiB,yes\nother,,,,,,,70,GiB,yes\n"
        "llama.cpp,llama-2-7b,Q6_K,,,,,5.5,MB,yes\n"
        "DeepSpeed,,,,1,param+opt offload,1,70,GiB,yes\n";
    struct rows *f = *state;
    const struct llm *llm = catalogue_llm(f->aids.catalogue, "llama-2-7b");
    double memory = catalogue_gpu(f->aids.catalogue, "a100-80")->memory_bytes;

    rows_read(f, "memory", rows);
    assert_int_equal(f->samples.count, 10);
    has_sample(f, 0, 5.5e9, llm->params * 6.5625 / 8, NULL);
    has_sample(f, 1, 12 * GIB, memory_weight_bytes(llm, PRECISION_FP16), NULL);
    has_sample(f, 2, 0, NONE, "the model is not in the catalogue");
    has_sample(f, 3, 0, NONE, "no such weight format in the simulator");
    assert_true(f->samples.item[4].refused == NULL && f->samples.item[4].measured == 1e11);
    has_sample(f, 5, 70 * GIB, memory_serve_bytes(memory), NULL);
    has_sample(f, 6, 0, NONE, "the GPU is not in the catalogue");
    has_sample(f, 7, 0, NONE, "no law for this quantity");
    has_sample(f, 8, 0, NONE, "no measured value in the row");
    has_sample(f, 9, 0, NONE, "offloaded parameters are not modelled");
}

/* ---- engines, training and RLHF ---- */

#define ENGINE "suite,model,gpu,precision,framework,tp,dp,batch_or_concurrency,isl,osl,tpot_ms," \
    "tpot_p50_ms,ttft_ms,out_tok_s,solid\n"

/* A replica of llama-2-70b on a gang; of kv caches and overheads the engine decides. */
static struct decode_replica replica_on(const struct rows *f, const char *model,
                                        enum precision precision, const struct gang *gang,
                                        enum decode_engine engine)
{
    return (struct decode_replica){ catalogue_llm(f->aids.catalogue, model), precision, gang,
                                    gang->gpus, engine, false };
}

/* The framework of a row says which engine: eager ones have the host of Splitwise's machines.
 * Lengths that are not said are 280 and 256 tokens; the cache holds the prompt and half of the
 * answer. */
static void an_engine_is_that_of_the_framework(void **state)
{
    static const char rows[] = ENGINE
        "llama.cpp-bs1,llama-2-70b,h100,,vLLM 2023,8,1,16,1000,200,30,,,,yes\n"
        "llama.cpp-bs1,llama-2-70b,a100-80,fp16,vLLM 2023,8,1,16,1000,200,,31,,,yes\n"
        "llama.cpp-bs1,llama-2-70b,h100,fp8,TensorRT-LLM 0.6.1,4,1,2,,,12,,,,yes\n"
        "llama.cpp-bs1,llama-2-70b,h100,,sglang 0.4,8,1,1,10,20,9,,,,yes\n"
        "llama.cpp-bs1,llama-2-70b,h100,fp8,trtllm 1.0,8,1,1,10,20,9,,,,yes\n"
        "llama.cpp-bs1,llama-2-70b,h100,bf16,trtllm 1.0,8,1,1,10,20,9,,,,yes\n"
        "llama.cpp-bs1,llama-2-70b,h100,bf16,vLLM 0.6,8,1,1,10,20,9,,,,yes\n"
        "llama.cpp-bs1,none,h100,bf16,vLLM 0.6,8,1,1,10,20,9,,,,yes\n"
        "llama.cpp-bs1,llama-2-70b,none,bf16,vLLM 0.6,8,1,1,10,20,9,,,,yes\n"
        "llama.cpp-bs1,llama-2-70b,h100,fp7,vLLM 0.6,8,1,1,10,20,9,,,,yes\n"
        "llama.cpp-bs1,llama-2-70b,h100,bf16,vLLM 0.6,8,1,,10,20,9,,,,yes\n";
    static const enum decode_engine engine[] = { DECODE_EAGER, DECODE_EAGER, DECODE_UNGROUPED,
        DECODE_WAVES, DECODE_KV8, DECODE_COMPILED, DECODE_GRAPHS };
    static const enum precision precision[] = { PRECISION_BF16, PRECISION_FP16, PRECISION_FP8,
        PRECISION_BF16, PRECISION_FP8, PRECISION_BF16, PRECISION_BF16 };
    static const double batch[] = { 16, 16, 2, 1, 1, 1, 1 };
    static const double context[] = { 1100, 1100, 408, 20, 20, 20, 20 };
    static const double ms[] = { 30, 31, 12, 9, 9, 9, 9 };
    struct rows *f = *state;

    rows_read(f, "llama.cpp", rows);
    assert_int_equal(f->samples.count, 11);
    for (size_t i = 0; i < 7; i++) {
        struct gang gang = gang_of(f, i == 1 ? "a100-80" : "h100", i == 2 ? 4 : 8, 1, 0);
        if (i < 2)
            gang.cpu = catalogue_cpu(f->aids.catalogue, i == 0 ? "xeon-platinum-8480+"
                                                               : "epyc-7742");
        struct decode_replica r = replica_on(f, "llama-2-70b", precision[i], &gang, engine[i]);
        has_sample(f, i, ms[i] * 1e-3, decode_step_s(&r, batch[i], context[i]), NULL);
    }
    has_sample(f, 7, 0, NONE, "the model is not in the catalogue");
    has_sample(f, 8, 0, NONE, "the GPU is not in the catalogue");
    has_sample(f, 9, 0, NONE, "the precision is unknown");
    has_sample(f, 10, 0, NONE, "the batch is not in the row");
}

/* A whole batch that starts together: its answers over the first tokens and all steps. */
static void a_static_batch_starts_together(void **state)
{
    static const char rows[] = ENGINE
        "TRTLLM-0.6.1-static,llama-2-70b,h100,fp8,TensorRT-LLM 0.6.1,4,1,32,128,512,,,,1500,yes\n";
    static const char first[] = ENGINE
        "TRTLLM-0.6.1-first-token,llama-2-70b,h100,fp8,TensorRT-LLM 0.6.1,4,1,8,2048,1,,,700,,"
        "yes\n";
    struct rows *f = *state;
    struct gang gang = gang_of(f, "h100", 4, 1, 0);
    struct decode_replica r = replica_on(f, "llama-2-70b", PRECISION_FP8, &gang, DECODE_UNGROUPED);

    rows_read(f, "TRTLLM-static", rows);
    has_sample(f, 0, 1500, 32 * 512 / (decode_first_token_s(&r, 32, 128) +
                                       512 * decode_step_s(&r, 32, 128 + 256)), NULL);
    rows_read(f, "TRTLLM-first-token", first);
    has_sample(f, 0, 0.7, decode_first_token_s(&r, 8, 2048), NULL);
}

#define TRAINED "suite,model,gpu,gpus,gpus_per_node,fabric,framework,precision,hidden,layers," \
    "heads,kv_heads,ffn,vocab,seq,mbs,gbs,tp,pp,cp,vp,act_ckpt,zero,iter_s,samples_s," \
    "tflops_per_gpu,solid\n"

/* GPT's: two matrices of four times the width, tied embeddings; Llama's: three, of another width,
 * and fewer keys. */
static struct llm llm_of(uint32_t h, uint32_t l, uint32_t heads, uint32_t kv_heads, uint32_t ffn,
                         uint32_t vocab)
{
    bool gpt = ffn == 4 * h;
    double matrices = gpt ? 2 : 3, kv = 2.0 * kv_heads * (h / heads);
    double params = (double)l * h * (2.0 * h + kv + matrices * ffn) +
                    (double)vocab * h * (gpt ? 1 : 2);

    return (struct llm){ .name = "row", .hidden = h, .layers = l, .vocab = vocab, .heads = heads,
        .kv_heads = kv_heads, .ffn = ffn, .head_dim = h / heads, .ffn_matrices = gpt ? 2 : 3,
        .kv_width = (uint32_t)kv, .tied = gpt, .params = params, .params_active = params };
}

/* Bytes of a node's NICs: 185 of 200 of what the name of the fabric says, or of 8 x 200 Gb/s. */
static void a_step_has_its_layout_and_fabric(void **state)
{
    static const char rows[] = TRAINED
        "Narayanan-T1,GPT,a100-80,16,8,HDR,Megatron-LM,fp16,1024,24,16,,,51200,2048,2,32,2,2,1,1,"
        "full,,3.5,,,yes\n"
        "Narayanan-T1,L,h100,16,8,H100,Megatron-Bridge,BF16,1024,24,16,4,3072,51200,2048,1,32,2,1,"
        "1,1,selective,,,4,,yes\n"
        "Narayanan-T1,GPT,a100-80,16,8,x,torch,bf16,1024,24,16,,,51200,2048,2,32,1,1,1,1,,"
        "SHARD_GRAD_OP,,,140,yes\n"
        "Narayanan-T1,GPT,a100-80,4,4,x,torch,bf16,1024,24,16,,,51200,2048,2,32,1,1,1,1,,"
        "FULL_SHARD,2,,,yes\n"
        "Narayanan-T1,GPT,a100-80,16,8,HDR,Megatron-LM,fp16,1024,24,16,,,,2048,2,32,2,2,1,1,,,3,,,"
        "yes\n"
        "Narayanan-T1,GPT,none,16,8,HDR,x,fp16,1024,24,16,,,51200,2048,2,32,2,2,1,1,,,3,,,yes\n"
        "Narayanan-T1,GPT,h100,16,8,HDR,x,fp9,1024,24,16,,,51200,2048,2,32,2,2,1,1,,,3,,,yes\n"
        "Narayanan-T1,GPT,h100,16,8,HDR,x,fp16,1024,24,16,,,51200,2048,,32,2,2,1,1,,,3,,,yes\n"
        "Narayanan-T1,GPT,h100,16,8,HDR,x,fp16,1024,24,16,,,51200,2048,2,,2,2,1,1,,,3,,,yes\n"
        "Narayanan-T1,GPT,h100,16,8,HDR,x,fp16,1024,24,16,,,51200,,2,32,2,2,1,1,,,3,,,yes\n"
        "Narayanan-T1,GPT,h100,3,8,HDR,x,fp16,1024,24,16,,,51200,2048,2,32,2,2,1,1,,,3,,,yes\n";
    static const char *const why[] = { "the architecture is not in the row",
        "the GPU is not in the catalogue", "the precision is unknown",
        "the micro batch is not published", "the micro batch is not published",
        "the length of sequences is not in the row",
        "the layout needs more GPUs than there are" };
    struct rows *f = *state;
    struct llm gpt = llm_of(1024, 24, 16, 16, 4096, 51200);
    struct llm llama = llm_of(1024, 24, 16, 4, 3072, 51200);
    struct train_shape shape[] = {
        { .llm = &gpt, .precision = PRECISION_FP16, .micro_batch = 2, .tp = 2, .pp = 2,
          .stack = STACK_MEGATRON, .recompute = RECOMPUTE_FULL },
        { .llm = &llama, .precision = PRECISION_BF16, .micro_batch = 1, .tp = 2, .pp = 1,
          .stack = STACK_ENGINE, .recompute = RECOMPUTE_SELECTIVE, .sequence_parallel = true,
          .zero = 1 },
        { .llm = &gpt, .precision = PRECISION_BF16, .micro_batch = 2, .tp = 1, .pp = 1,
          .stack = STACK_EAGER, .zero = 2 },
        { .llm = &gpt, .precision = PRECISION_BF16, .micro_batch = 2, .tp = 1, .pp = 1,
          .stack = STACK_EAGER, .zero = 3 },
    };
    /* Narayanan's count: 96 B s l h^2 (1 + s / 6 h + V / 16 l h), at 140e12 on 16 GPUs. */
    double counted = 96.0 * 32 * 2048 * 24 * 1024 * 1024 *
                     (1 + 2048 / 6144.0 + 51200 / (16.0 * 24 * 1024)) / (140e12 * 16);
    double measured[] = { 3.5, 8, counted, 2 };

    rows_read(f, "weak-scaling", rows);
    assert_int_equal(f->samples.count, 11);
    for (size_t i = 0; i < 4; i++) {
        struct gang gang = gang_of(f, i == 1 ? "h100" : "a100-80", i == 3 ? 4 : 16,
                                   i == 3 ? 1 : 2, (i == 1 ? 400e9 : 200e9) * 0.925);
        shape[i].method = TRAIN_FULL;
        shape[i].sequence_tokens = 2048;
        shape[i].cp = shape[i].vp = shape[i].ep = 1;
        has_sample(f, i, measured[i], train_step(&shape[i], &gang, 32).step_s, NULL);
    }
    for (size_t i = 0; i < 7; i++)
        has_sample(f, 4 + i, 0, NONE, why[i]);
}

/* 200 tokens of 30 ms each are 6 s. */
static void who_waits_longer_than_it_is_decoded_is_left_out(void **state)
{
    static const char rows[] = ENGINE
        "aic-silicon-agg,llama-2-70b,h100,bf16,vLLM 0.6,8,1,16,1000,200,30,,5999,,yes\n"
        "aic-silicon-agg,llama-2-70b,h100,bf16,vLLM 0.6,8,1,16,1000,200,30,,6001,,yes\n"
        "aic-silicon-agg,llama-2-70b,h100,bf16,vLLM 0.6,8,1,16,1000,200,30,,,,yes\n";
    struct rows *f = *state;
    struct gang gang = gang_of(f, "h100", 8, 1, 0);
    struct decode_replica r = replica_on(f, "llama-2-70b", PRECISION_BF16, &gang, DECODE_GRAPHS);

    rows_read(f, "aic-silicon-agg", rows);
    assert_int_equal(f->samples.count, 3);
    for (size_t i = 0; i < 3; i++)
        has_sample(f, i, 0.030, decode_served_step_s(&r, 16, 1000, 200), i != 1 ? NULL :
                   "requests wait longer than they are decoded: how many are at once is not in the "
                   "row");
}

/* PPO of 8 GPUs: a rollout, two passes of the reference and of values, and two updates of each of
 * 64 sequences by 16. */
static void a_step_of_ppo_is_the_sum_of_its_phases(void **state)
{
#define PPO(GPUS, MEAN, MOST, STEP, COUNT, MBS) "verl-data,llama-2-7b,a100-80," GPUS ",200," \
    MEAN "," MOST "," STEP "," COUNT "," MBS ",medium\n"
    static const char rows[] = "suite,model,gpu,gpus,prompt_len_mean,resp_len_mean,resp_len_max,"
        "t_step_s,prompts_per_step,mbs,solid\n"
        PPO("8", "300", "1000", "50", "64", "mini 16 micro 2")
        PPO("8", "300", "300", "50", "64", "mini 64 micro 2")
        PPO("8", "300", "299", "50", "64", "mini 16 micro 2")
        PPO("", "300", "1000", "50", "64", "mini 16 micro 2")
        PPO("8", "1", "1000", "50", "64", "mini 16 micro 2")
        PPO("8", "300", "1000", "", "64", "mini 16 micro 2")
        PPO("8", "300", "1000", "50", "0", "mini 16 micro 2")
        PPO("8", "300", "1000", "50", "64", "mini 0 micro 2")
        PPO("8", "300", "1000", "50", "64", "16");
    struct rows *f = *state;
    struct gang gang = gang_of(f, "a100-80", 8, 1, 370e9);
    const struct llm *llm = catalogue_llm(f->aids.catalogue, "llama-2-7b");
    struct train_shape train = { .llm = llm, .method = TRAIN_FULL, .precision = PRECISION_BF16,
        .recompute = RECOMPUTE_FULL, .micro_batch = 2, .tp = 1, .pp = 1, .vp = 1, .cp = 1,
        .sequence_tokens = 500, .zero = 3 };

    rows_read(f, "PPO-steps", rows);
    assert_int_equal(f->samples.count, 9);
    for (size_t i = 0; i < 2; i++) {
        struct rollout_shape shape = { .llm = llm, .precision = PRECISION_BF16, .tp = 8,
            .responses = 64, .responses_per_prompt = 1, .prompt_tokens = 200,
            .response_mean_tokens = rows_uncut_mean(300, i == 0 ? 1000 : 300), .response_cv = 1.0,
            .response_max_tokens = i == 0 ? 1000 : 300 };
        double updates = i == 0 ? 4 : 1;
        has_sample(f, i, 50, rollout_time(&shape, &gang, 0.5).total_s +
                   2 * forward_step(llm, PRECISION_BF16, &gang, 64, 500).step_s +
                   2 * updates * train_step(&train, &gang, 64 / updates).step_s, NULL);
    }
    for (size_t i = 2; i < 5; i++)
        has_sample(f, i, 0, NONE, "GPUs or lengths are not in the row");
    for (size_t i = 5; i < 9; i++)
        has_sample(f, i, 0, NONE, "the batch is not in the row");
}

/* Eight GPUs: two replicas of tensor and context parallelism by 2.  The others need more GPUs, do
 * not divide them, or have no prompt. */
static void a_phase_needs_gpus_for_its_layout(void **state)
{
#define RL(PROMPT, TRAINER) "nemo-rl-phases,llama-3-8b,h100,8," PROMPT ",800,4096,64,32," \
    "\"" TRAINER "\",vLLM TP1,28,T-GBS 512,medium\n"
    static const char rows[] = "suite,model,gpu,gpus,prompt_len_mean,resp_len_mean,resp_len_max,"
        "prompts_per_step,responses_per_prompt,train_parallel,gen_parallel,t_actor_s,notes,solid\n"
        RL("200", "[2,2,1,1]") RL("200", "Megatron TP2 CP8") RL("200", "[3,1,1,1]")
        RL("200", "[65536,1,1,65536]") RL("0", "[2,2,1,1]");
    struct rows *f = *state;
    struct gang gang = gang_of(f, "h100", 8, 1, 370e9);
    struct train_shape train = { .llm = catalogue_llm(f->aids.catalogue, "llama-3-8b"),
        .method = TRAIN_FULL, .precision = PRECISION_BF16, .recompute = RECOMPUTE_FULL,
        .micro_batch = 1, .tp = 2, .cp = 2, .pp = 1, .vp = 1, .ep = 1, .sequence_tokens = 1000,
        .sequence_parallel = true, .zero = 1, .stack = STACK_ENGINE };

    rows_read(f, "RL-train", rows);
    assert_int_equal(f->samples.count, 5);
    has_sample(f, 0, 28, 4 * train_step(&train, &gang, 512).step_s, NULL);
    for (size_t i = 1; i < 4; i++)
        has_sample(f, i, 28, NONE, "the layout does not divide the GPUs");
    has_sample(f, 4, 28, NONE, "GPUs or lengths are not in the row");
}

/* Recipes pack sequences: 895 tokens each of Llama-3.1-8B, 4,096 to a micro batch of training and
 * 16,384 to one of a pass, in two stages, nothing computed again.  Qwen3-235B's compute all again,
 * 8,192 tokens at a time; its engine has 0.6 of the memory, where the law's has 0.9.  One step off
 * the engine has half of the GPUs, and 0.8 of their memory. */
static void recipes_say_what_rows_leave_out(void **state)
{
#define HEAD "suite,framework,model,gpu,gpus,resp_len_mean,resp_len_max,prompts_per_step," \
    "responses_per_prompt,train_parallel,gen_parallel,t_actor_s,t_ref_s,t_gen_s,t_step_s,notes," \
    "solid\n"
#define ONE(SUITE, KIND) SUITE ",NeMo-RL" KIND ",qwen3-235b-a22b,h100,128,5600,8192,,," \
    "Megatron TP2 CP2 EP16 PP8,vLLM TP16,,,,395,G-GBS/T-GBS 512/512,medium\n"
    static const char phases[] = HEAD "nemo-rl-phases,x,llama-3.1-8b,h100,8,795,4096,64,32,"
        "Megatron,vLLM,28,18,58,,T-GBS 512,medium\n";
    static const char steps[] = HEAD ONE("nemo-rl-0.6", "") ONE("nemo-rl-0.6", " 1-step-off");
    struct rows *f = *state;
    struct gang eight = gang_of(f, "h100", 8, 1, 370e9), many = gang_of(f, "h100", 128, 16, 370e9);
    struct gang half = gang_of(f, "h100", 64, 8, 370e9);
    struct train_shape small = { .llm = catalogue_llm(f->aids.catalogue, "llama-3.1-8b"),
        .method = TRAIN_FULL, .precision = PRECISION_BF16, .recompute = RECOMPUTE_NONE,
        .micro_batch = 4096.0 / 895, .tp = 1, .cp = 1, .pp = 2, .vp = 1, .ep = 1,
        .sequence_tokens = 895, .zero = 1, .stack = STACK_EAGER };
    struct train_shape large = small, pass;

    rows_read(f, "RL-train", phases);
    has_sample(f, 0, 28, 4 * train_step(&small, &eight, 512).step_s, NULL);
    pass = small;
    pass.micro_batch = 16384.0 / 895;
    rows_read(f, "RL-logprob", phases);
    has_sample(f, 0, 18, 2 * forward_divided_step(&pass, &eight, 2048).step_s, NULL);

    large.llm = catalogue_llm(f->aids.catalogue, "qwen3-235b-a22b");
    large.sequence_tokens = 5600;
    large.micro_batch = 8192.0 / 5600;
    large.recompute = RECOMPUTE_FULL;
    large.tp = large.cp = 2;
    large.ep = 16;
    large.pp = 8;
    large.sequence_parallel = true;
    double memory = eight.gpu->memory_bytes;
    struct rollout_shape shape = { .llm = large.llm, .precision = PRECISION_BF16, .tp = 16,
        .responses = 512, .responses_per_prompt = 1, .prompt_tokens = 100,
        .response_mean_tokens = rows_uncut_mean(5500, 8192), .response_cv = 1,
        .response_max_tokens = 8192, .reserved_bytes = memory / 3 };
    rows_read(f, "GRPO-steps-0.6", steps);
    has_sample(f, 0, 395, rollout_time(&shape, &many, 0.5).total_s +
               2 * forward_divided_step(&large, &many, 512).step_s +
               train_step(&large, &many, 512).step_s + 3.5 + 2 * large.llm->params / 20e9, NULL);
    shape.reserved_bytes = memory / 9;
    double generate_s = rollout_time(&shape, &half, 0.5).total_s;
    double train_s = 2 * forward_divided_step(&large, &half, 512).step_s +
                     train_step(&large, &half, 512).step_s;
    has_sample(f, 1, 395, generate_s > train_s ? generate_s : train_s, NULL);
}

/* ---- errors ---- */

/* The value at q (n - 1) of the sorted ones, between two of them by parts (type 7). */
static double quantile(const double *value, size_t count, double q)
{
    double at = q * (double)(count - 1), low = 0, high = 0;

    for (size_t i = 0; i < count; i++) {
        size_t less = 0, equal = 0;
        for (size_t j = 0; j < count; j++) {
            less += value[j] < value[i];
            equal += value[j] == value[i];
        }
        if ((double)less <= floor(at) && floor(at) < (double)(less + equal))
            low = value[i];
        if ((double)less <= ceil(at) && ceil(at) < (double)(less + equal))
            high = value[i];
    }
    return low + (at - floor(at)) * (high - low);
}

static void errors_are_those_of_rows_that_count(void **state)
{
    struct rows *f = *state;

    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct calibrate_sample item[40];
        struct calibrate_samples samples = { item, seed % 40, 40 };
        struct rng rng;
        rng_init(&rng, seed, "errors", 0);
        for (size_t i = 0; i < samples.count; i++)
            item[i] = (struct calibrate_sample){ .solid = rng_below(&rng, 6) > 0,
                .chosen = rng_below(&rng, 3) == 0, .measured = 1 + (double)rng_below(&rng, 9),
                .predicted = 1 + (double)rng_below(&rng, 9),
                .refused = rng_below(&rng, 6) == 0 ? "why" : NULL };
        for (int part = 0; part < 3; part++) {
            double value[40], mean = 0, bias = 0, most = 0;
            size_t n = 0;
            for (size_t i = 0; i < samples.count; i++) {
                double error = (item[i].predicted - item[i].measured) / item[i].measured;
                if (item[i].refused != NULL || !item[i].solid ||
                    (part != CALIBRATE_ALL && item[i].chosen != (part == CALIBRATE_CHOSEN)))
                    continue;
                value[n++] = fabs(error);
                mean += fabs(error);
                bias += error;
                most = fmax(most, fabs(error));
            }
            struct calibrate_error e = calibrate_error(f->aids.arena, &samples,
                                                       (enum calibrate_part)part);
            assert_int_equal(e.rows, n);
            if (n == 0)
                continue;
            if (fabs(e.mean - mean / (double)n) > 1e-12 ||
                fabs(e.bias - bias / (double)n) > 1e-12 ||
                fabs(e.max - most) > 1e-12 || fabs(e.median - quantile(value, n, 0.5)) > 1e-12 ||
                fabs(e.p90 - quantile(value, n, 0.9)) > 1e-12)
                fail_msg("seed %llu, part %d", (unsigned long long)seed, part);
        }
    }
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, rows_set_up, rows_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_bus_bandwidth_is_a_time), TEST(a_collective_has_its_time_and_its_law),
        TEST(a_served_mixture_has_its_host_and_its_layout), TEST(interruptions_add_up_their_rates),
        TEST(a_kernel_has_its_shape_and_format), TEST(interruptions_add_up_their_rates),
        TEST(an_engine_is_that_of_the_framework), TEST(a_static_batch_starts_together),
        TEST(a_step_has_its_layout_and_fabric), TEST(a_step_of_ppo_is_the_sum_of_its_phases),
        TEST(a_phase_needs_gpus_for_its_layout),
        TEST(who_waits_longer_than_it_is_decoded_is_left_out),
        TEST(recipes_say_what_rows_leave_out),
        TEST(bytes_have_their_units), TEST(errors_are_those_of_rows_that_count),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * suites.c - the suites, their targets, and the rows whose errors
 * helped to choose constants.
 *
 * Targets are what the best published tools, or a plain closed form, reach.  A suite
 * without a target (all 0) is reported and cannot fail.  `chosen` lists name rows by
 * the column before them.
 */
#include "experiments/calibrate/suites.h"

static const char *const vtrain_single_chosen[] = {
    "GPT h1024 L12", "GPT h1024 L24", "GPT h2048 L12", "GPT h2048 L24", NULL
};
static const char *const foundry_chosen[] = {
    "MPT 125m", "MPT 760m", "MPT 3b", "MPT 13b", "MPT 70b", NULL
};
static const char *const net_chosen[] = { "R5", "U5", NULL };
static const char *const goodput_chosen[] = { "fit", NULL };
static const char *const bridge_chosen[] = { "LLAMA3_70B", NULL };
static const char *const served_chosen[] = {
    "meta-llama/Llama-3.1-70B", NULL
};
static const char *const experts_chosen[] = {
    "deepseek-ai/DeepSeek-V3", "deepseek-ai/DeepSeek-R1", "nvidia/DeepSeek-R1-NVFP4",
    "nvidia/DeepSeek-V3.1-NVFP4", NULL
};
static const char *const splitwise_chosen[] = { "llama2-70b", NULL };
/* Three chose the constants of decode; of the others the catalogue's sustained bandwidth was
 * taken from their row of this suite (`sources` of models/catalogue/gpus.yaml). */
static const char *const accelmark_chosen[] = {
    "A100-SXM4-80GB", "H100-SXM-80GB", "RTX 4090",
    "A100-SXM4-40GB", "V100S-PCIe-32GB", "RTX 3090", "L4", "Ascend 910B2", NULL
};
static const char *const collective_chosen[] = {
    "a100_sxm", "h100_sxm", "b200_sxm", "rtx_pro_6000_server", NULL
};
static const char *const encoder_chosen[] = { "BERT-Base", NULL };
static const char *const kernel_chosen[] = {
    "a100_sxm", "h100_sxm", "b200_sxm", "rtx_pro_6000_server", NULL
};
static const char *const loader_chosen[] = { "AMD-EPYC-9B14", NULL };
static const char *const interruption_chosen[] = { "Meta RSC-1", NULL };
static const char *const refit_chosen[] = { "nemo-rl-phases", NULL };
static const char *const trtllm_chosen[] = { "LLaMA 7B", NULL };

#define TRAINING "training_throughput.csv"
#define SERVING "inference_throughput.csv"
#define RLHF "rlhf_throughput.csv"

const struct calibrate_suite calibrate_suites[] = {
    { "vTrain-multi", "B1", TRAINING, "vTrain-multi", "step time",
      "vTrain 14.7%", calibrate_train, NULL, NULL,
      0.10, 0.06, 0.0, NULL },
    { "vTrain-single", "B2", TRAINING, "vTrain-single", "step time",
      "vTrain 8.4%", calibrate_train, "model", vtrain_single_chosen,
      0.084, 0.0, 0.0, NULL },
    { "Korthikanti-T5", "B3", TRAINING, "Korthikanti-T5", "step time",
      "Calculon 3.65%", calibrate_train, NULL, NULL, 0.04, 0.0, 0.10, NULL },
    { "weak-scaling", "B4", TRAINING, "Narayanan-T1", "step time",
      "none", calibrate_train, NULL, NULL, 0.05, 0.0, 0.14, NULL },
    { "llm-foundry", "B5", TRAINING, "llm-foundry", "step time", "none",
      calibrate_train, "model", foundry_chosen, 0.12, 0.0, 0.0, NULL },
    { "Megatron-Bridge", "B6", TRAINING, "Megatron-Bridge", "step time",
      "none", calibrate_train, "model", bridge_chosen, 0.15, 0.0, 0.0, NULL },
    { "Megatron-Bridge-MoE", "", TRAINING, "Megatron-Bridge", "step time",
      "none", calibrate_train_experts, NULL, NULL, 0.0, 0.0, 0.0,
      "medium" },
    { "Megatron-2020", "", TRAINING, "Megatron-2020", "step time", "none",
      calibrate_train, NULL, NULL, 0.0, 0.0, 0.0, NULL },
    { "BERT-training", "", TRAINING, "DeepLearningExamples", "step time",
      "none", calibrate_train, NULL, NULL, 0.0, 0.0, 0.0, NULL },
    { "nets", "", "nets_throughput.csv", "nets", "time of a batch", "none",
      calibrate_net, "id", net_chosen, 0.0, 0.0, 0.0, NULL },
    { "goodput-steps", "", "goodput_steps.csv", "goodput", "step time", "none",
      calibrate_goodput, "use", goodput_chosen, 0.0, 0.0, 0.0, NULL },
    { "memory-fig1", "B7", "memory.csv", NULL, "bytes per GPU",
      "Calculon 2.1%, 8.5%", calibrate_memory_fig1, NULL, NULL, 0.0, 0.0,
      0.05, NULL },
    { "memory", "", "memory.csv", NULL, "bytes", "none",
      calibrate_memory_other, NULL, NULL, 0.0, 0.0, 0.0, NULL },
    { "TensorRT-BERT", "B8", SERVING, "TensorRT-BERT", "latency", "none",
      calibrate_encoder, "model", encoder_chosen, 0.08, 0.0, 0.0, NULL },
    { "AccelMark-A", "B9", SERVING, "AccelMark-A", "time per token",
      "none", calibrate_tpot, "gpu", accelmark_chosen, 0.10, 0.05, 0.0, NULL },
    { "AccelMark-F", "", SERVING, "AccelMark-F", "time per token", "none",
      calibrate_tpot, NULL, NULL, 0.0, 0.0, 0.0, NULL },
    { "llama.cpp", "", SERVING, "llama.cpp-bs1", "time per token", "none",
      calibrate_tpot, NULL, NULL, 0.0, 0.0, 0.0, NULL },
    { "splitwise-TTFT", "B10", SERVING, "splitwise", "first token",
      "none", calibrate_ttft, "model", splitwise_chosen, 0.12, 0.0, 0.0, NULL },
    { "splitwise-TPOT", "B10", SERVING, "splitwise", "time per token",
      "none", calibrate_tpot, "model", splitwise_chosen, 0.12, 0.0, 0.0, NULL },
    { "aic-silicon-agg", "B11", SERVING, "aic-silicon-agg",
      "time per token", "AIConfigurator 18-21%", calibrate_tpot_served,
      "model", served_chosen, 0.10, 0.08, 0.0, NULL },
    { "aic-silicon-agg-MoE", "B18", SERVING, "aic-silicon-agg",
      "time per token", "none", calibrate_tpot_experts, "model",
      experts_chosen, 0.20, 0.12, 0.0, "medium" },
    { "TRTLLM-static", "B13", SERVING, "TRTLLM-0.6.1-static", "tokens/s",
      "none", calibrate_static_batch, "model", trtllm_chosen, 0.20, 0.0,
      0.0, NULL },
    { "TRTLLM-first-token", "", SERVING, "TRTLLM-0.6.1-first-token",
      "first token", "none", calibrate_ttft, NULL, NULL, 0.0, 0.0, 0.0,
      NULL },
    { "replay-latency", "B12", SERVING, "LLMServingSim-bench",
      "mean latency, simulated", "LLMServingSim 0.2-14% (own), 38%",
      calibrate_replay_latency, NULL, NULL, 0.15, 0.0, 0.0, NULL },
    { "replay-TPOT", "B12", SERVING, "LLMServingSim-bench",
      "time per token, simulated", "LLMServingSim 0.2-14% (own), 32%",
      calibrate_replay_tpot, NULL, NULL, 0.10, 0.0, 0.0, NULL },
    { "GRPO-steps", "", RLHF, "NeMo-RL-0.4", "step time", "none", calibrate_grpo, NULL,
      NULL, 0.0, 0.0, 0.0, "medium" },
    { "GRPO-steps-0.6", "B17", RLHF, "nemo-rl-0.6", "step time", "none", calibrate_grpo, NULL,
      NULL, 0.20, 0.0, 0.0, "medium" },
    { "RL-generate", "B17", RLHF, "nemo-rl-phases", "time of a phase", "none",
      calibrate_rl_generate, NULL, NULL, 0.0, 0.0, 0.25, "medium" },
    { "RL-logprob", "B17", RLHF, "nemo-rl-phases", "time of a phase", "none",
      calibrate_rl_logprob, NULL, NULL, 0.0, 0.0, 0.25, "medium" },
    { "RL-train", "B17", RLHF, "nemo-rl-phases", "time of a phase", "none",
      calibrate_rl_train, NULL, NULL, 0.0, 0.0, 0.25, "medium" },
    { "RL-refit", "", RLHF, "nemo-rl-phases", "time of a phase", "none",
      calibrate_rl_refit, "suite", refit_chosen, 0.0, 0.0, 0.0, "medium" },
    { "PPO-steps", "", RLHF, "verl-data", "step time", "none", calibrate_ppo, NULL, NULL,
      0.0, 0.0, 0.0, "medium" },
    { "collectives", "B14", "collectives.csv", NULL, "time", "none",
      calibrate_collective, "system", collective_chosen, 0.10, 0.0, 0.0, NULL },
    { "collectives-64M", "B14", "collectives.csv", NULL,
      "time from 64 MiB", "none", calibrate_collective_large, "system",
      collective_chosen, 0.05, 0.0, 0.0, NULL },
    { "links", "", "links.csv", NULL, "time of a collective", "none",
      calibrate_links, NULL, NULL, 0.0, 0.0, 0.0, NULL },
    { "kernels", "", "gemm.csv", NULL, "time", "none", calibrate_kernel,
      "system", kernel_chosen, 0.0, 0.0, 0.0, NULL },
    { "loader", "", "cpu_throughput.csv", NULL, "images/s", "none",
      calibrate_loader, "cpu", loader_chosen, 0.0, 0.0, 0.0, NULL },
    { "cores", "", "cpu_throughput.csv", NULL, "requests/s", "none",
      calibrate_core_forward, NULL, NULL, 0.0, 0.0, 0.0, NULL },
    { "cores-decode", "", "cores_throughput.csv", "cores", "time per token",
      "none", calibrate_core_decode, "use", goodput_chosen, 0.0, 0.0, 0.0,
      "medium" },
    { "interruptions", "B16", "failures.csv", NULL, "time between two",
      "none", calibrate_interruption, "dataset", interruption_chosen, 0.10,
      0.0, 0.0, NULL },
};
const size_t calibrate_suite_count =
    sizeof calibrate_suites / sizeof calibrate_suites[0];

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * serve.c - rows of inference engines, and the laws of decode.h.
 */
#include "experiments/calibrate/suites.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/calibrate/row.h"
#include "models/catalogue/catalogue.h"
#include "models/laws/compute.h"
#include "models/laws/decode.h"

/* What a row of an engine says.  Lengths are in tokens, the batch in requests. */
struct serving {
    const struct llm *llm;
    enum precision precision;   /* of weights */
    struct gang gang;           /* of one replica */
    uint32_t tp;                /* its GPUs, over which weights are divided */
    double batch, prompt, output;
    enum decode_engine engine;  /* whose overheads a step has */
    bool ahead;                 /* its host prepares the next step meanwhile */
};

/* Prompts of unknown length: the suite's median, and half of its limit. */
#define PROMPT_TOKENS 280.0
#define OUTPUT_TOKENS 256.0
#define NODE_GPUS 8u

/* FP8 models of TensorRT-LLM's own tool say in their files that the cache is
 * in 8 bits too; Qwen's do not. */
static enum decode_engine row_engine(const struct calibrate_row *row)
{
    const char *framework = row_text(row, "framework");

    if (strcmp(framework, "vLLM 2023") == 0)
        return DECODE_EAGER;
    if (strncmp(framework, "TensorRT-LLM 0.", 15) == 0)
        return DECODE_UNGROUPED;
    if (strncmp(framework, "sglang", 6) == 0)
        return DECODE_WAVES;
    if (strncmp(framework, "trtllm", 6) != 0)
        return DECODE_GRAPHS;
    return row_is(row, "precision", "fp8") &&
                   strstr(row_text(row, "model"), "Qwen") == NULL
               ? DECODE_KV8 : DECODE_COMPILED;
}

/* GPUs of a replica.  Where experts are divided over all of them, some rows have the product of
 * both degrees: a configuration tp8_ep8 of one node as tp 64 and ep 8. */
static uint32_t row_tp(const struct calibrate_row *row)
{
    uint32_t tp = row_count(row, "tp", 1), ep = row_count(row, "ep", 1);

    return ep > 1 && tp == ep * ep ? ep : tp;
}

/* The virtual machines of Splitwise (Patel et al. 2023, arXiv 2311.18677,
 * section 5.1) have these hosts. */
static const char *eager_host(const struct gpu_type *gpu)
{
    return strcmp(gpu->name, "h100") == 0 ? "xeon-platinum-8480+"
                                          : "epyc-7742";
}

/* Reads a row; returns why it cannot be predicted, or NULL. */
static const char *read_serving(const struct calibrate_row *row,
                                struct serving *s)
{
    const struct gpu_type *gpu = row_gpu(row, "gpu");
    const char *precision = row_text(row, "precision");

    s->llm = row_llm(row);
    if (s->llm == NULL)
        return "the model is not in the catalogue";
    if (gpu == NULL)
        return "the GPU is not in the catalogue";
    if (precision[0] == '\0' && strstr(row_text(row, "model"), "FP8") != NULL)
        precision = "fp8";
    if (precision[0] == '\0' && strstr(row_text(row, "model"), "FP4") != NULL)
        precision = "fp4";
    if (!row_precision(precision, &s->precision))
        return "the precision is unknown";
    s->engine = row_engine(row);
    s->ahead = row_ahead(row, s->llm);
    s->tp = row_tp(row);
    s->gang = row_gang(gpu, s->tp, s->tp, 0.0);
    if (s->engine == DECODE_EAGER)
        s->gang.cpu = catalogue_cpu(row->catalogue, eager_host(gpu));
    s->batch = row_number(row, "batch_or_concurrency", 0.0);
    s->prompt = row_number(row, "isl", PROMPT_TOKENS);
    s->output = row_number(row, "osl", OUTPUT_TOKENS);
    return s->batch > 0.0 ? NULL : "the batch is not in the row";
}

/* One replica of the engine; points to the gang of `s`. */
static struct decode_replica replica_of(const struct serving *s)
{
    return (struct decode_replica){ s->llm, s->precision, &s->gang, s->tp, s->engine,
                                    s->ahead };
}

/* Time of a decode step in the middle of the answers: the cache holds the prompt
 * and half of the output. */
static double decode_s(const struct serving *s)
{
    struct decode_replica replica = replica_of(s);

    return decode_step_s(&replica, s->batch, s->prompt + s->output / 2.0);
}

/* Time of the first token of that many prompts. */
static double prefill_s(const struct serving *s, double prompts)
{
    struct decode_replica replica = replica_of(s);

    return decode_first_token_s(&replica, prompts, s->prompt);
}

/* The median where the row has no mean. */
const char *calibrate_tpot(const struct calibrate_row *row, double *measured,
                           double *predicted)
{
    struct serving s;
    const char *refused = read_serving(row, &s);

    if (refused != NULL)
        return refused;
    *measured = row_number(row, "tpot_ms",
                           row_number(row, "tpot_p50_ms", 0.0)) * 1e-3;
    *predicted = decode_s(&s);
    return NULL;
}

/* Do requests wait longer for their first token than they are decoded?  By Little's law fewer than
 * half of those in the system are decoded at once then.  The engine has a limit that the row does
 * not state: five rows of gpt-oss-120b with 512 requests decode 100 to 106 at once, on 2, 4 and 8
 * GPUs alike. */
static bool is_queue(const struct calibrate_row *row, const struct serving *s)
{
    double decoded_ms = s->output * row_number(row, "tpot_ms", 0.0);

    return row_number(row, "ttft_ms", 0.0) > decoded_ms && decoded_ms > 0.0;
}

/* Under steady load: decode steps with prefills of other requests between them. */
const char *calibrate_tpot_served(const struct calibrate_row *row,
                                  double *measured, double *predicted)
{
    struct serving s;
    const char *refused = read_serving(row, &s);

    if (refused != NULL)
        return refused;
    *measured = row_number(row, "tpot_ms", 0.0) * 1e-3;
    if (is_queue(row, &s))
        return "requests wait longer than they are decoded: how many are at once is not in the row";
    struct decode_replica replica = replica_of(&s);
    *predicted = decode_served_step_s(&replica, s.batch, s.prompt, s.output);
    return NULL;
}

/* Does a step give more than one token?  DeepSeek's rows of this release are those that
 * SemiAnalysis InferenceX runs as dsr1-*-b200-trt-mtp (multi-token prediction): on the same layout
 * and load the release before it takes twice as long a token. */
static bool predicts_several(const struct calibrate_row *row)
{
    return strstr(row_text(row, "model"), "DeepSeek") != NULL &&
           row_is(row, "framework", "trtllm 1.2.0rc6.post3");
}

/* Rows of mixtures of experts, and of models that the catalogue does not have.
 * The law divides attention by tensor parallelism, whatever experts do. */
const char *calibrate_tpot_experts(const struct calibrate_row *row,
                                   double *measured, double *predicted)
{
    const struct llm *llm = row_llm(row);

    if (llm != NULL && llm->experts == 0)
        return calibrate_not_mine;
    if (row_count(row, "dp", 1) > 1)
        return "the law has no data parallel attention";
    if (row_tp(row) > NODE_GPUS)
        return "more GPUs than a node has: how attention is divided is not in the row";
    if (predicts_several(row))
        return "a step gives several tokens (multi-token prediction), how many is not said";
    return calibrate_tpot_served(row, measured, predicted);
}

/* Compares the time to the first token: prompts of the whole batch are computed at once. */
const char *calibrate_ttft(const struct calibrate_row *row, double *measured,
                           double *predicted)
{
    struct serving s;
    const char *refused = read_serving(row, &s);

    if (refused != NULL)
        return refused;
    *measured = row_number(row, "ttft_ms", 0.0) * 1e-3;
    *predicted = prefill_s(&s, s.batch);
    return NULL;
}

/* The whole batch starts together and runs to its end. */
const char *calibrate_static_batch(const struct calibrate_row *row,
                                   double *measured, double *predicted)
{
    struct serving s;
    const char *refused = read_serving(row, &s);

    if (refused != NULL)
        return refused;
    *measured = row_number(row, "out_tok_s", 0.0);
    *predicted = s.batch * s.output /
                 (prefill_s(&s, s.batch) + s.output * decode_s(&s));
    return NULL;
}

/* A batch through an encoder, once; no tokens are generated. */
const char *calibrate_encoder(const struct calibrate_row *row,
                              double *measured, double *predicted)
{
    struct serving s;
    const char *refused = read_serving(row, &s);

    if (refused != NULL)
        return refused;
    *measured = row_number(row, "latency_ms", 0.0) * 1e-3;
    *predicted = compute_encoder_s(s.llm, s.precision, s.gang.gpu, s.batch,
                                   s.prompt);
    return NULL;
}

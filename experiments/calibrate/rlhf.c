/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rlhf.c - rows of RLHF steps, and the phases that make them.
 *
 * No such row has an exact configuration, so the suites report and have no
 * target to keep.  Assumed where rows are silent: prompts of 100 tokens,
 * lognormal lengths with a cv of 0.7, a policy and a reference pass over all
 * sequences; one step off, half of the GPUs generate; a log that names its GPU
 * by its 80 GB only is taken as an A100.
 */
#include "experiments/calibrate/suites.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/calibrate/row.h"
#include "models/catalogue/catalogue.h"
#include "models/laws/memory.h"
#include "models/laws/rollout.h"
#include "models/laws/train.h"

#define PROMPT_TOKENS 100.0
#define LENGTH_CV 0.7
/* Eight ConnectX-7 of 400 Gb/s, as measured (see train.c). */
#define NODE_BPS (3200e9 / 8.0 * 185.0 / 200.0)

/* One step of RLHF, as far as the row says it.  Lengths are in tokens. */
struct step {
    const struct llm *llm;
    const struct gpu_type *gpu;
    uint32_t gpus, engine_tp;   /* of the step; of one replica of the engine */
    double sequences, updates;      /* per step */
    double prompt, response, response_max;  /* means, and the cut */
    struct train_shape train;   /* how the trainer divides its model */
};

/* Nodes of 8 GPUs. */
static struct gang make_gang(const struct step *s, uint32_t gpus)
{
    return row_gang(s->gpu, gpus, gpus < 8 ? gpus : 8, NODE_BPS);
}

/* Time of the rollout, to its longest response. */
static double predict_generate_s(const struct step *s, uint32_t gpus)
{
    struct gang gang = make_gang(s, gpus);
    struct rollout_shape shape = {
        .llm = s->llm, .precision = PRECISION_BF16, .tp = s->engine_tp,
        .responses = s->sequences, .responses_per_prompt = 1,
        .prompt_tokens = s->prompt, .response_mean_tokens = s->response,
        .response_cv = LENGTH_CV, .response_max_tokens = s->response_max,
    };

    return rollout_time(&shape, &gang, 0.5).total_s;
}

/* Time of one pass over all sequences. */
static double predict_forward_s(const struct step *s, uint32_t gpus)
{
    struct gang gang = make_gang(s, gpus);

    return forward_step(s->llm, PRECISION_BF16, &gang, s->sequences,
                        s->prompt + s->response).step_s;
}

/* Time of all updates of a step. */
static double predict_train_s(const struct step *s, uint32_t gpus)
{
    struct gang gang = make_gang(s, gpus);

    return s->updates * train_step(&s->train, &gang,
                                   s->sequences / s->updates).step_s;
}

/* Reads what both kinds of rows have; returns why it cannot. */
static const char *read_step(const struct calibrate_row *row, struct step *s)
{
    s->llm = row_llm(row);
    s->gpu = row_gpu(row, "gpu");
    s->gpus = row_count(row, "gpus", 0);
    s->engine_tp = 1;
    s->prompt = row_number(row, "prompt_len_mean", PROMPT_TOKENS);
    s->response = row_number(row, "resp_len_mean", 0.0);
    s->response_max = row_number(row, "resp_len_max", 0.0);
    if (s->llm == NULL)
        return "the model is not in the catalogue";
    if (s->gpu == NULL)
        s->gpu = catalogue_gpu(row->catalogue, "a100-80");
    if (s->gpus == 0 || !(s->response > 1.0) ||
        !(s->response_max >= s->response))
        return "GPUs or lengths are not in the row";
    s->train = (struct train_shape){
        .llm = s->llm, .method = TRAIN_FULL, .precision = PRECISION_BF16,
        .recompute = RECOMPUTE_FULL, .micro_batch = 1, .tp = 1, .pp = 1,
        .vp = 1, .cp = 1, .sequence_tokens = s->prompt + s->response,
    };
    return NULL;
}

/* Reads "[4,1,8,2]" (tensor, context, expert, pipeline parallel) and the layout of
 * the engine; returns why it cannot. */
static const char *read_layout(const struct calibrate_row *row,
                               struct step *s)
{
    unsigned tp, cp, ep, pp;
    const char *engine = row_text(row, "gen_parallel");

    if (sscanf(row_text(row, "train_parallel"), "[%u,%u,%u,%u", &tp, &cp, &ep,
               &pp) != 4 || tp == 0 || cp == 0 || pp == 0)
        return "the layout is not in the row";
    engine += strcspn(engine, "0123456789");
    if (sscanf(engine, "%u", &s->engine_tp) != 1 || s->engine_tp == 0)
        return "the engine's layout is not in the row";
    s->train.tp = tp;
    s->train.cp = cp;
    s->train.pp = pp;
    s->train.ep = s->llm->experts > 0 && ep > 0 ? ep : 1;
    s->train.sequence_parallel = tp > 1;
    s->train.zero = 1;
    s->train.stack = STACK_ENGINE;
    return NULL;
}

/* One step off (1-step-off), training and generation overlap, each on half of the
 * GPUs: the slower one decides. */
const char *calibrate_grpo(const struct calibrate_row *row, double *measured,
                           double *predicted)
{
    struct step s;
    double batch = 0.0, update = 0.0;
    const char *why = read_step(row, &s);
    bool off = strstr(row_text(row, "framework"), "1-step-off") != NULL;

    if (why == NULL)
        why = read_layout(row, &s);
    *measured = row_number(row, "t_step_s", 0.0);
    if (why != NULL || !(*measured > 0.0))
        return why != NULL ? why : "the step time is not in the row";
    if (sscanf(row_text(row, "prompts_per_step"), "G-GBS %lf", &batch) != 1 ||
        sscanf(row_text(row, "mbs"), "T-GBS %lf", &update) != 1)
        return "the batch is not in the row";
    /* The row's mean counts the prompt too. */
    s.response = fmax(1.0, s.response - s.prompt);
    s.train.sequence_tokens = s.prompt + s.response;
    s.sequences = batch;
    s.updates = fmax(1.0, batch / update);
    uint32_t gpus = off ? s.gpus / 2 : s.gpus;
    if (gpus < s.engine_tp || gpus % (s.train.tp * s.train.pp) != 0)
        return "the layout does not divide the GPUs";
    double train = 2.0 * predict_forward_s(&s, gpus) + predict_train_s(&s, gpus);
    double generate = predict_generate_s(&s, gpus);
    *predicted = off ? fmax(train, generate) : train + generate;
    return NULL;
}

/* One response a prompt.  Passes: reference and values; updates: policy and a
 * critic of the same size, hence 2 of each. */
const char *calibrate_ppo(const struct calibrate_row *row, double *measured,
                          double *predicted)
{
    struct step s;
    const char *why = read_step(row, &s);
    unsigned mini, micro;

    *measured = row_number(row, "t_step_s", 0.0);
    s.sequences = row_number(row, "prompts_per_step", 0.0);
    if (why != NULL)
        return why;
    if (!(s.sequences >= 1.0) || !(*measured > 0.0) ||
        sscanf(row_text(row, "mbs"), "mini %u micro %u", &mini, &micro) != 2 ||
        mini == 0 || micro == 0)
        return "the batch is not in the row";
    s.updates = s.sequences / mini;
    s.train.micro_batch = micro;
    s.train.zero = 3;
    s.engine_tp = s.gpus;
    *predicted = predict_generate_s(&s, s.gpus) + 2.0 * predict_forward_s(&s, s.gpus) +
                 2.0 * predict_train_s(&s, s.gpus);
    return NULL;
}

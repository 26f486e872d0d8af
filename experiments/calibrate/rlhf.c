/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rlhf.c - rows of RLHF steps, and the phases that make them.
 *
 * No such row has an exact configuration.  What NeMo-RL's rows leave out is in its published
 * recipes (NVIDIA-NeMo/RL, examples/configs, read at 0b88cccc, 1b37cb89, 36b0a7b0, d8f9995b,
 * 519ac905 and 06f63430): sequences are packed into micro batches, passes for log-probabilities
 * are divided as training is, an engine on the trainer's GPUs has 0.6 of their memory, one of its
 * own 0.8.  No recipe captures graphs of the trainer or hides exchanges of tensor parallelism:
 * STACK_EAGER.
 * That was decided with these rows in view; nothing was fitted.
 *
 * Assumed where rows and recipes are silent: prompts of 100 tokens, lognormal lengths with a cv of
 * 1 before the cut, whose mean after it is the row's, a policy and a reference pass over all
 * sequences; one step off, half of the GPUs generate; a log that names its GPU by its 80 GB only is
 * taken as an A100.  Where the engine generates on the trainer's GPUs, a step ends with its refit.
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
#define LENGTH_CV 1.0
/* New weights into the engine on the same GPUs: seconds, and bytes of weights a second.  Chosen on
 * the four refits of NeMo-RL's issue 959. */
#define REFIT_S 3.5
#define REFIT_BPS 20e9
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
    double pass_batch;          /* sequences of a micro batch of a pass; 0: forward_step() */
    double engine_share;        /* of a GPU's memory, for the engine */
};

/* A recipe of NeMo-RL, of the rows that do not say it.  Tokens are those of a packed micro batch:
 * max_total_sequence_length x train_micro_batch_size, or x logprob_batch_size. */
struct recipe {
    const char *suite;          /* NULL: of the performance recipes */
    const char *llm;
    double train_tokens, pass_tokens;
    uint32_t pp;                /* 0: the row says it */
    bool sequence_parallel;     /* where tp is above 1 */
    bool recompute;
};
static const struct recipe recipes[] = {
    { "nemo-rl-phases", "llama-3.1-8b", 4096, 16384, 2, false, false },
    { "nemo-rl-phases", "llama-3-70b", 4096, 16384, 4, false, false },
    { NULL, "llama-3.1-8b", 4096, 8192, 2, false, true },
    { NULL, "deepseek-v3", 1536, 1536, 0, false, true },
    { NULL, "qwen3-235b-a22b", 8192, 8192, 0, true, true },
    { NULL, "qwen3-30b-a3b", 4096, 16384, 0, true, false },
    { NULL, "qwen3-32b", 4096, 16384, 0, true, false },
};
/* What an engine takes of a GPU's memory, as the law of memory has it, and what recipes give it:
 * beside a trainer, and alone (vLLM, gpu_memory_utilization). */
#define LAW_SHARE 0.9
#define SHARED_SHARE 0.6
#define ALONE_SHARE 0.8

/* Nodes of 8 GPUs. */
static struct gang make_gang(const struct step *s, uint32_t gpus)
{
    return row_gang(s->gpu, gpus, gpus < 8 ? gpus : 8, NODE_BPS);
}

/* Sets the mean before the cut, so that the mean after it is `mean`: rows count what was
 * generated.  Nothing above 0.99 of the cut is looked for. */
static void set_cut_mean(struct rollout_shape *shape, double mean)
{
    double low = mean, high = 100.0 * shape->response_max_tokens;

    mean = fmin(mean, 0.99 * shape->response_max_tokens);
    for (int i = 0; i < 60; i++) {
        shape->response_mean_tokens = sqrt(low * high);
        if (rollout_response_tokens(shape) < mean)
            low = shape->response_mean_tokens;
        else
            high = shape->response_mean_tokens;
    }
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
        .reserved_bytes = (1.0 - s->engine_share / LAW_SHARE) * s->gpu->memory_bytes,
    };

    set_cut_mean(&shape, s->response);
    return rollout_time(&shape, &gang, 0.5).total_s;
}

/* Time of one pass over all sequences. */
static double predict_forward_s(const struct step *s, uint32_t gpus)
{
    struct gang gang = make_gang(s, gpus);
    struct train_shape shape = s->train;

    shape.micro_batch = s->pass_batch;
    if (s->pass_batch > 0.0)
        return forward_divided_step(&shape, &gang, s->sequences).step_s;
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

/* Time to bring new weights, 16 bits each, into an engine on the trainer's GPUs. */
static double predict_refit_s(const struct step *s)
{
    return REFIT_S + 2.0 * s->llm->params / REFIT_BPS;
}

/* The longest sequences of models whose rows of release 0.6 do not say it, as those of 0.4 do. */
static double find_limit(const struct llm *llm)
{
    static const struct { const char *llm; double tokens; } known[] = {
        { "deepseek-v3", 1536.0 }, { "qwen3-235b-a22b", 8192.0 }, { "qwen3-30b-a3b", 4096.0 },
    };

    for (size_t i = 0; llm != NULL && i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].llm, llm->name) == 0)
            return known[i].tokens;
    return 0.0;
}

/* Reads what all kinds of rows have; returns why it cannot. */
static const char *read_step(const struct calibrate_row *row, struct step *s)
{
    s->llm = row_llm(row);
    s->gpu = row_gpu(row, "gpu");
    s->gpus = row_count(row, "gpus", 0);
    s->engine_tp = 1;
    s->pass_batch = 0.0;
    s->engine_share = LAW_SHARE;
    s->prompt = row_number(row, "prompt_len_mean", PROMPT_TOKENS);
    s->response = row_number(row, "resp_len_mean", 0.0);
    s->response_max = row_number(row, "resp_len_max", find_limit(s->llm));
    if (s->llm == NULL)
        return "the model is not in the catalogue";
    if (s->gpu == NULL)
        s->gpu = catalogue_gpu(row->catalogue, "a100-80");
    if (s->gpus == 0 || !(s->prompt >= 1.0) || !(s->response > 1.0) ||
        !(s->response_max >= s->response))
        return "GPUs or lengths are not in the row";
    s->train = (struct train_shape){
        .llm = s->llm, .method = TRAIN_FULL, .precision = PRECISION_BF16,
        .recompute = RECOMPUTE_FULL, .micro_batch = 1, .tp = 1, .pp = 1,
        .vp = 1, .cp = 1, .sequence_tokens = s->prompt + s->response,
    };
    return NULL;
}

/* Returns the number behind "TP" in a text such as "Megatron TP4 PP4"; 1: it is not there. */
static unsigned find_degree(const char *text, const char *word)
{
    const char *at = strstr(text, word);
    unsigned degree;

    return at != NULL && sscanf(at + strlen(word), "%u", &degree) == 1 ? degree : 1;
}

/* Reads "[4,1,8,2]" (tensor, context, expert, pipeline parallel) or "Megatron TP4 EP8", and the
 * layout of the engine; returns why it cannot. */
static const char *read_layout(const struct calibrate_row *row,
                               struct step *s)
{
    unsigned tp, cp, ep, pp;
    const char *engine = row_text(row, "gen_parallel");
    const char *trainer = row_text(row, "train_parallel");

    if (strncmp(trainer, "Megatron", 8) == 0) {
        tp = find_degree(trainer, " TP");
        cp = find_degree(trainer, " CP");
        ep = find_degree(trainer, " EP");
        pp = find_degree(trainer, " PP");
        engine = strstr(engine, "TP") != NULL ? engine : "1";
    } else if (sscanf(trainer, "[%u,%u,%u,%u", &tp, &cp, &ep, &pp) != 4) {
        return "the layout is not in the row";
    }
    if (tp == 0 || cp == 0 || pp == 0)
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

/* Sets what the recipe of the row's model says, once lengths and the layout are known. */
static void apply_recipe(const struct calibrate_row *row, struct step *s)
{
    const struct recipe *found = NULL;

    for (size_t i = 0; found == NULL && i < sizeof recipes / sizeof *recipes; i++)
        if (strcmp(recipes[i].llm, s->llm->name) == 0 &&
            (recipes[i].suite == NULL || row_is(row, "suite", recipes[i].suite)))
            found = &recipes[i];
    if (found == NULL)
        return;
    s->train.pp = found->pp > 0 ? found->pp : s->train.pp;
    s->train.stack = STACK_EAGER;
    s->train.recompute = found->recompute ? RECOMPUTE_FULL : RECOMPUTE_NONE;
    s->train.sequence_parallel = found->sequence_parallel && s->train.tp > 1;
    s->train.micro_batch = fmax(1.0, found->train_tokens / s->train.sequence_tokens);
    s->pass_batch = fmax(1.0, found->pass_tokens / s->train.sequence_tokens);
    s->engine_share = strstr(row_text(row, "framework"), "1-step-off") != NULL ? ALONE_SHARE
                                                                               : SHARED_SHARE;
}

/* Do trainer and engine divide so many GPUs? */
static bool is_divided(const struct step *s, uint32_t gpus)
{
    uint64_t stages = (uint64_t)s->train.tp * s->train.pp;

    return gpus >= s->engine_tp && gpus % stages == 0 && gpus / stages >= s->train.cp;
}

/* Reads the sequences of a step and of an update: "G-GBS 512" and "T-GBS 512", "G-GBS/T-GBS
 * 512/512", or prompts, responses to each, and "T-GBS 512" in the notes; returns why it cannot. */
static const char *read_batch(const struct calibrate_row *row, struct step *s)
{
    const char *both = strstr(row_text(row, "notes"), "G-GBS/T-GBS ");
    double update = row_noted(row, "T-GBS", 0);

    s->sequences = row_number(row, "prompts_per_step", 0.0) *
                   row_number(row, "responses_per_prompt", 0.0);
    if (both != NULL)
        (void)sscanf(both, "G-GBS/T-GBS %lf/%lf", &s->sequences, &update);
    (void)sscanf(row_text(row, "prompts_per_step"), "G-GBS %lf", &s->sequences);
    (void)sscanf(row_text(row, "mbs"), "T-GBS %lf", &update);
    if (!(s->sequences >= 1.0 && isfinite(s->sequences)) || !(update >= 1.0))
        return "the batch is not in the row";
    s->updates = fmax(1.0, s->sequences / update);
    return NULL;
}

/* One step off (1-step-off), training and generation overlap, each on half of the
 * GPUs: the slower one decides. */
const char *calibrate_grpo(const struct calibrate_row *row, double *measured,
                           double *predicted)
{
    struct step s;
    const char *why = read_step(row, &s);
    bool off = strstr(row_text(row, "framework"), "1-step-off") != NULL;

    if (why == NULL)
        why = read_layout(row, &s);
    *measured = row_number(row, "t_step_s", 0.0);
    if (why != NULL || !(*measured > 0.0))
        return why != NULL ? why : "the step time is not in the row";
    why = read_batch(row, &s);
    if (why != NULL)
        return why;
    /* The row's mean counts the prompt too. */
    s.response = fmax(1.0, s.response - s.prompt);
    s.train.sequence_tokens = s.prompt + s.response;
    apply_recipe(row, &s);
    uint32_t gpus = off ? s.gpus / 2 : s.gpus;
    if (!is_divided(&s, gpus))
        return "the layout does not divide the GPUs";
    double train = 2.0 * predict_forward_s(&s, gpus) + predict_train_s(&s, gpus);
    double generate = predict_generate_s(&s, gpus);
    *predicted = off ? fmax(train, generate) : train + generate + predict_refit_s(&s);
    return NULL;
}

/* Reads a row that has the phases of a step on GPUs that trainer and engine share; returns why it
 * cannot. */
static const char *read_phases(const struct calibrate_row *row, struct step *s)
{
    const char *why = read_step(row, s);

    if (why == NULL)
        why = read_layout(row, s);
    if (why == NULL)
        why = read_batch(row, s);
    if (why == NULL)
        apply_recipe(row, s);
    return why == NULL && !is_divided(s, s->gpus) ? "the layout does not divide the GPUs" : why;
}

const char *calibrate_rl_generate(const struct calibrate_row *row, double *measured,
                                  double *predicted)
{
    struct step s;
    const char *why = read_phases(row, &s);

    if (why == NULL)
        *predicted = predict_generate_s(&s, s.gpus);
    *measured = row_number(row, "t_gen_s", 0.0);
    return why;
}

/* Log-probabilities under the policy and under the reference. */
const char *calibrate_rl_logprob(const struct calibrate_row *row, double *measured,
                                 double *predicted)
{
    struct step s;
    const char *why = read_phases(row, &s);

    if (why == NULL)
        *predicted = 2.0 * predict_forward_s(&s, s.gpus);
    *measured = row_number(row, "t_ref_s", 0.0);
    return why;
}

const char *calibrate_rl_train(const struct calibrate_row *row, double *measured,
                               double *predicted)
{
    struct step s;
    const char *why = read_phases(row, &s);

    if (why == NULL)
        *predicted = predict_train_s(&s, s.gpus);
    *measured = row_number(row, "t_actor_s", 0.0);
    return why;
}

const char *calibrate_rl_refit(const struct calibrate_row *row, double *measured,
                               double *predicted)
{
    struct step s;
    const char *why = read_phases(row, &s);

    if (why == NULL)
        *predicted = predict_refit_s(&s);
    *measured = row_noted(row, "refit", 0);
    return why;
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

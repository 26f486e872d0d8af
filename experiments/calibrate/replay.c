/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.c - rows of engines under load: the requests are simulated,
 * one by one, in the service of models/serving/service.h.
 *
 * A row says how many requests came at what rate and how long they were on
 * average; the instants are drawn, Poisson, and the lengths lognormal with the
 * cv that the suite's requests have.  Means are over several such draws.
 */
#include <assert.h>
#include <math.h>

#include "experiments/calibrate/row.h"
#include "experiments/calibrate/suites.h"
#include "models/serving/service.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"

#define DRAWS 16u
#define LENGTH_CV 0.15          /* of the 300 requests of LLMServingSim */
#define CHUNK 2048u             /* max_num_batched_tokens of the suite */
#define BATCH_MAX 256u          /* max_num_seqs of the suite */

/* One draw of a row's requests: the service and what comes. */
struct replay {
    struct service *service;    /* one replica, as the engine of the row */
    struct gang gang;           /* its GPUs */
    struct rng rng;             /* of this draw */
    double per_s, prompt, output, now_s;    /* requests a second; mean tokens; the last arrival */
    uint32_t left;              /* requests that have not come yet */
};

/* Draws a number of tokens, at least 1, from a lognormal of that mean. */
static uint32_t draw_tokens(struct replay *r, double mean)
{
    double var = log1p(LENGTH_CV * LENGTH_CV);
    double tokens = mean * exp(sqrt(var) * rng_normal(&r->rng, 0, 1) - var / 2);

    return tokens > 1 ? (uint32_t)(tokens + 0.5) : 1;
}

/* Draws the next request of the service; false: all of the row's have come. */
static bool next_request(void *self, struct request *out)
{
    struct replay *r = self;

    if (r->left-- == 0)
        return false;
    r->now_s += rng_exponential(&r->rng, 1 / r->per_s);
    out->arrive_ns = (int64_t)(r->now_s * 1e9);
    out->prompt_tokens = draw_tokens(r, r->prompt);
    out->output_tokens = draw_tokens(r, r->output);
    return true;
}

/* Replicas are ready at once: the rows are of engines that run. */
static void start_replica(void *self, uint32_t replica, enum serve_side side)
{
    struct replay *r = self;

    (void)side;
    service_ready(r->service, replica, &r->gang, 0);
}

/* Seconds of a whole answer, and of each token after the first. */
struct means { double latency_s, tpot_s; };

/* Runs one draw on one replica to its end, with its own loop. */
static struct means simulate_requests(struct replay *replay,
                                      struct serve_law law, uint64_t seed)
{
    static const char form;     /* there is one: not looked at */
    struct arena *arena = arena_new(1 << 18);
    struct loop *loop = loop_new((struct loop_limits){ INT64_MAX, UINT64_MAX,
                                                       NULL });
    struct service_spec spec = {
        .name = "replay", .batch_max = BATCH_MAX, .chunk_tokens = CHUNK,
        .side[SERVE_GPU] = {
            .form = (const struct job_form *)(const void *)&form, .law = law,
            .min = 1, .max = 1 },
        .scaling = { SERVE_RATE, 1e9, INT64_C(3600000000000), 0 },
    };
    struct service_ops ops = { .start = start_replica, .self = replay };
    struct service_parts parts = { arena, loop, &spec, &ops, next_request, replay,
                                   seed, 0, NULL };
    const struct service_result *result;
    struct means means;

    rng_init(&replay->rng, seed, "replay", 0);
    replay->service = service_new(&parts);
    service_begin(replay->service);
    loop_run(loop);
    result = service_close(replay->service);
    means = (struct means){ result->latency.mean, result->tpot.mean };
    service_free(replay->service);
    loop_free(loop);
    arena_free(arena);
    return means;
}

/* Returns why the row cannot be predicted, or NULL with the means over DRAWS
 * draws.  Seeds 1 to DRAWS are the same for each row. */
static const char *replay_row(const struct calibrate_row *row,
                              struct means *means)
{
    const struct gpu_type *gpu = row_gpu(row, "gpu");
    struct serve_law law = {
        .kind = SERVE_GENERATE, .llm = row_llm(row),
        .tp = row_count(row, "tp", 1),
    };
    double rate = row_number(row, "qps", 0), sum = 0, tokens = 0;
    uint32_t requests = row_count(row, "batch_or_concurrency", 0);

    if (law.llm == NULL)
        return "the model is not in the catalogue";
    if (gpu == NULL)
        return "the GPU is not in the catalogue";
    if (!row_precision(row_text(row, "precision"), &law.precision))
        return "the precision is unknown";
    if (!(rate > 0) || requests == 0)
        return "the rate or the number of requests is not in the row";
    for (uint64_t seed = 1; seed <= DRAWS; seed++) {
        struct replay one = {
            .gang = row_gang(gpu, law.tp, law.tp, 0.0), .per_s = rate,
            .prompt = row_number(row, "isl", 1),
            .output = row_number(row, "osl", 1), .left = requests,
        };
        struct means of = simulate_requests(&one, law, seed);

        sum += of.latency_s;
        tokens += of.tpot_s;
    }
    *means = (struct means){ sum / DRAWS, tokens / DRAWS };
    return NULL;
}

/* The row states first token and time per token; the whole answer is their sum. */
const char *calibrate_replay_latency(const struct calibrate_row *row,
                                     double *measured, double *predicted)
{
    struct means means;
    const char *refused = replay_row(row, &means);

    if (refused != NULL)
        return refused;
    *measured = (row_number(row, "ttft_ms", 0) +
                 row_number(row, "tpot_ms", 0) *
                     (row_number(row, "osl", 1) - 1)) * 1e-3;
    *predicted = means.latency_s;
    return NULL;
}

const char *calibrate_replay_tpot(const struct calibrate_row *row,
                                  double *measured, double *predicted)
{
    struct means means;
    const char *refused = replay_row(row, &means);

    if (refused != NULL)
        return refused;
    *measured = row_number(row, "tpot_ms", 0) * 1e-3;
    *predicted = means.tpot_s;
    return NULL;
}

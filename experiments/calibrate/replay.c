/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * replay.c - rows of engines under load: the requests are simulated, one by one, in the
 * service of models/serving/service.h.
 *
 * Where the requests of a run were recorded (requests/ID.csv beside the table), these come:
 * one simulation.  Else a row says how many came at what rate and how long they were on
 * average; the instants are drawn, Poisson, and the lengths lognormal with the spread that
 * the recorded ones have.  Means are over several such draws.
 */
#include <assert.h>
#include <math.h>

#include "experiments/calibrate/row.h"
#include "experiments/calibrate/suites.h"
#include "models/serving/service.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/event/loop.h"
#include "sim/text/csv.h"
#include "sim/text/paths.h"

#define DRAWS 16u
/* Of the 1,200 recorded requests of LLMServingSim (5daddb2, bench/examples). */
#define PROMPT_CV 0.62
#define OUTPUT_CV 0.16
#define CHUNK 2048u             /* max_num_batched_tokens of the suite */
#define BATCH_MAX 256u          /* max_num_seqs of vLLM, where notes do not state it */

/* The requests of a row, and the service that answers them. */
struct replay {
    struct service *service;
    struct gang gang;           /* the GPUs of one replica */
    struct csv *recorded;       /* NULL: they are drawn */
    size_t arrival, prompt_column, output_column;       /* of `recorded` */
    struct rng rng;             /* of this draw */
    double per_s, prompt, output, now_s;    /* requests a second; mean tokens; the last arrival */
    uint32_t left;              /* drawn requests that have not come yet */
    uint32_t batch_max, replicas;   /* requests in a batch; copies of the engine */
    bool bad;                   /* a recorded request cannot be read */
};

/* Draws a number of tokens, at least 1, from a lognormal of that mean. */
static uint32_t draw_tokens(struct replay *r, double mean, double cv)
{
    double var = log1p(cv * cv);
    double tokens = mean * exp(sqrt(var) * rng_normal(&r->rng, 0, 1) - var / 2);

    return tokens > 1 ? (uint32_t)(tokens + 0.5) : 1;
}

/* Draws the next request; false: all of the row's have come. */
static bool draw_request(struct replay *r, struct request *out)
{
    if (r->left-- == 0)
        return false;
    r->now_s += rng_exponential(&r->rng, 1 / r->per_s);
    out->arrive_ns = (int64_t)(r->now_s * 1e9);
    out->prompt_tokens = draw_tokens(r, r->prompt, PROMPT_CV);
    out->output_tokens = draw_tokens(r, r->output, OUTPUT_CV);
    return true;
}

/* Reads the next recorded request; false: there are no more, or r->bad says that one is
 * not readable. */
static bool read_request(struct replay *r, struct request *out)
{
    struct err err = { 0 };
    double arrival_s, prompt, output;
    enum csv_step step = csv_next(r->recorded, &err);

    if (step == CSV_END)
        return false;
    r->bad = step != CSV_ROW || !csv_number(r->recorded, r->arrival, &arrival_s, &err) ||
             !csv_number(r->recorded, r->prompt_column, &prompt, &err) ||
             !csv_number(r->recorded, r->output_column, &output, &err) ||
             !(arrival_s >= 0 && arrival_s < 1e9 && prompt >= 1 && prompt < 1e9 &&
               output >= 1 && output < 1e9);
    if (r->bad)
        return false;
    out->arrive_ns = (int64_t)(arrival_s * 1e9);
    out->prompt_tokens = (uint32_t)prompt;
    out->output_tokens = (uint32_t)output;
    return true;
}

/* Sets the next request of the service; false: all of the row's have come. */
static bool next_request(void *self, struct request *out)
{
    struct replay *r = self;

    return r->recorded != NULL ? read_request(r, out) : draw_request(r, out);
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

/* Runs the requests on the replicas of the row to their end, with a loop of its own. */
static struct means simulate_requests(struct replay *replay,
                                      struct serve_law law, uint64_t seed)
{
    static const char form;     /* there is one: not looked at */
    struct arena *arena = arena_new(1 << 18);
    struct loop *loop = loop_new((struct loop_limits){ INT64_MAX, UINT64_MAX,
                                                       NULL });
    struct service_spec spec = {
        .name = "replay", .route = SERVE_SHORTEST_QUEUE, .batch_max = replay->batch_max,
        .chunk_tokens = CHUNK,
        .side[SERVE_GPU] = {
            .form = (const struct job_form *)(const void *)&form, .law = law,
            .min = replay->replicas, .max = replay->replicas },
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

/* Opens the recorded requests of a row, if there are any; false: they cannot be read. */
static bool open_requests(const struct calibrate_row *row, struct arena *arena,
                          struct replay *replay)
{
    const char *name = text_format(arena, "requests/%s.csv", row_text(row, "id"));
    const char *path = path_join(arena, row->dir, name);
    struct err err = { 0 };

    replay->recorded = NULL;
    if (!path_is_file(path))
        return true;
    replay->recorded = csv_open(arena, path, CSV_TABLE, &err);
    return replay->recorded != NULL &&
           csv_need_column(replay->recorded, "arrival_s", &replay->arrival, &err) &&
           csv_need_column(replay->recorded, "prompt_tokens", &replay->prompt_column, &err) &&
           csv_need_column(replay->recorded, "output_tokens", &replay->output_column, &err);
}

/* Sets the means of a row: of its recorded requests, or over DRAWS draws, of which seeds 1
 * to DRAWS are the same for each row.  Returns why it cannot, or NULL. */
static const char *replay_requests(const struct calibrate_row *row, const struct replay *first,
                                   struct serve_law law, struct means *means)
{
    struct arena *arena = arena_new(1 << 14);
    const char *why = NULL;
    uint64_t runs = DRAWS;

    *means = (struct means){ 0, 0 };
    for (uint64_t seed = 1; why == NULL && seed <= runs; seed++) {
        struct replay one = *first;

        if (open_requests(row, arena, &one)) {
            struct means of = simulate_requests(&one, law, seed);

            runs = one.recorded != NULL ? 1 : DRAWS;
            means->latency_s += of.latency_s / (double)runs;
            means->tpot_s += of.tpot_s / (double)runs;
        } else {
            one.bad = true;
        }
        csv_close(one.recorded);
        why = one.bad ? "its recorded requests cannot be read" : NULL;
    }
    arena_free(arena);
    return why;
}

/* Returns why the row cannot be predicted, or NULL with the means. */
static const char *replay_row(const struct calibrate_row *row,
                              struct means *means)
{
    const struct gpu_type *gpu = row_gpu(row, "gpu");
    struct serve_law law = {
        .kind = SERVE_GENERATE, .llm = row_llm(row),
        .tp = row_count(row, "tp", 1),
        .kv_tokens = row_noted(row, "KV room reported by the engine:", 0),
    };
    struct replay first = {
        .per_s = row_number(row, "qps", 0), .prompt = row_number(row, "isl", 1),
        .output = row_number(row, "osl", 1), .left = row_count(row, "batch_or_concurrency", 0),
        .batch_max = row_noted(row, "max_num_seqs", BATCH_MAX),
        .replicas = row_count(row, "dp", 1),
    };

    if (law.llm == NULL)
        return "the model is not in the catalogue";
    if (gpu == NULL)
        return "the GPU is not in the catalogue";
    if (!row_precision(row_text(row, "precision"), &law.precision))
        return "the precision is unknown";
    if (!(first.per_s > 0) || first.left == 0)
        return "the rate or the number of requests is not in the row";
    law.ahead = row_ahead(row, law.llm);
    first.gang = row_gang(gpu, law.tp, law.tp, 0.0);
    return replay_requests(row, &first, law, means);
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

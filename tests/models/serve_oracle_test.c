/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * serve_oracle_test.c - decoding, nets, encoders and cores, added up a second time from what
 * models/laws/README.md says of them.  Models, nets and devices come by lot.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>

#include "models/laws/compute.h"
#include "models/laws/comm.h"
#include "models/laws/cores.h"
#include "models/laws/decode.h"
#include "models/laws/net.h"
#include "models/laws/train.h"
#include "models/types/precision.h"
#include "tests/aid/law_world.h"

#define WORLDS 4000
#define CONTEXT (1.1 * 1073741824)

static double both(double a, double b) { return sqrt(a * a + b * b); }

static void draw_cpu(struct rng *rng, struct cpu_type *cpu)
{
    cpu->flops_fp32 = 1e12 * LAW_ONE(rng, 1, 3, 9);
    cpu->flops_int8 = 1e12 * LAW_ONE(rng, 4, 20);
    cpu->flops_bf16 = 1e12 * LAW_ONE(rng, 0, 8);
    cpu->core_speed = LAW_ONE(rng, 0, 1, 2) / 2.0;
}

/* ---- decoding ---- */

static double reduce_s(const struct law_world *w, double tokens)
{
    if (w->shape.tp == 1)
        return 0;
    return 2 * w->llm.layers * comm_group_s(COMM_ALL_REDUCE, &w->gang, w->shape.tp,
                                            2 * tokens * w->llm.hidden);
}

static double host_slow(const struct law_world *w)
{
    return w->gang.cpu && w->gang.cpu->core_speed > 0 ? 1 / w->gang.cpu->core_speed : 1;
}

/* Weights that a step reads: no input table, and of experts only those that some response
 * chose; the output layer has 16 bits. */
static double read_bytes(const struct law_world *w, double batch)
{
    const struct llm *llm = &w->llm;
    double each = precision_weight_bytes(w->shape.precision);
    double table = (double)llm->vocab * llm->hidden, unread = llm->tied ? 0 : table;

    if (llm->experts > llm->experts_active) {
        double chosen = (double)llm->experts_active / llm->experts;
        unread += (llm->params - llm->params_active) / (1 - chosen) * pow(1 - chosen, batch);
    }
    return (llm->params - unread) * each + table * law_most(0, 2 - each);
}

/* A layer of experts costs 36 us more, 8 behind a compiled host, and 35 where GPUs share it. */
static double routing_s(const struct law_world *w, enum decode_engine engine)
{
    bool python = engine == DECODE_GRAPHS || engine == DECODE_WAVES;

    return w->expert_layers * ((python ? 36e-6 : 8e-6) + (w->shape.tp > 1) * 35e-6);
}

static double step_s(const struct law_world *w, enum decode_engine engine, bool ahead,
                     double batch, double context)
{
    const struct llm *llm = &w->llm;
    const struct gpu_type *gpu = &w->gpu;
    bool fp8 = w->shape.precision == PRECISION_FP8;
    double tp = w->shape.tp, layers = llm->layers;
    bool latent = llm->kv_width < 2 * llm->kv_heads * llm->head_dim;
    double cache = batch * law_attended(llm, context) * 2 * layers * llm->kv_width /
                   (latent ? 1 : law_least(tp, llm->kv_heads));

    if (engine == DECODE_KV8)
        cache /= 2;
    if (engine == DECODE_UNGROUPED)
        cache *= (double)llm->heads / llm->kv_heads * (fp8 ? 0.5 : 1);
    double work = read_bytes(w, batch) / tp / (0.975 * gpu->memory_bps_sustained) +
                  cache / (0.95 * gpu->memory_bps) +
                  2 * batch * llm->params_active / tp /
                      (2 * gpu->flops_sustained[w->shape.precision]) +
                  0.65 * reduce_s(w, batch);
    if (engine == DECODE_EAGER)
        return both(work, 0.345e-3 * layers * host_slow(w)) + 2.2e-3 + 0.3e-3 * batch;
    work += layers * (fp8 ? 18e-6 : 12e-6) + routing_s(w, engine);
    if (engine == DECODE_GRAPHS || engine == DECODE_WAVES)
        return work + (ahead ? 0 : 2.2e-3 + 20e-6 * batch);
    return work + 0.75e-3 + 11.5e-6 * batch;
}

/* What matrices of that width reach on so many rows, in FLOP a second. */
static double prompt_rate(const struct law_world *w, double width, double rows)
{
    double size = width * sqrt(law_most(1, rows) / 2048);

    return 0.8 * w->gpu.flops_sustained[w->shape.precision] * size / (size + 130);
}

/* Each expert multiplies the tokens that chose it; a token is copied to its experts and back, each
 * copy of 16 bits written and read.  Slower than the other matrices, never faster. */
static double expert_prompt_s(const struct law_world *w, double tokens, double other)
{
    double tp = w->shape.tp, h = w->llm.hidden;

    if (w->routed == 0)
        return 0;
    double own = prompt_rate(w, sqrt(h * w->llm.ffn / 4 / tp),
                             tokens * w->routed_active / w->routed);
    double flops = 2 * tokens * w->expert_params * w->routed_active / w->routed;

    return (flops / law_least(own, other) - flops / other +
            tokens * w->routed_active * h * w->expert_layers * 2 * 4 /
                w->gpu.memory_bps_sustained) / tp;
}

static double prefill_s(const struct law_world *w, enum decode_engine engine, double prompts,
                        double length)
{
    const struct llm *llm = &w->llm;
    double tokens = prompts * length, tp = w->shape.tp;
    double work = tokens * (2 * llm->params_active +
                            4.0 * llm->layers * llm->heads * llm->head_dim *
                                law_causal(llm, length));
    double rate = prompt_rate(w, llm->hidden / sqrt(tp), tokens);
    double s = work / tp / rate + expert_prompt_s(w, tokens, rate) + reduce_s(w, tokens);

    if (engine != DECODE_EAGER)
        return s;
    return both(s, 0.6e-3 * llm->layers * host_slow(w)) + 1.2e-8 * tokens * law_least(tokens, 4608);
}

static void decoding_reads_computes_and_waits_for_its_host(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, "decode", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        law_world_draw(&rng, &w);
        draw_cpu(&rng, &w.cpu);
        w.gang.cpu = LAW_ONE(&rng, 0, 1) ? &w.cpu : NULL;
        enum decode_engine e = (enum decode_engine)LAW_ONE(&rng, 0, 1, 2, 3, 4, 5);
        struct decode_replica r = { &w.llm, w.shape.precision, &w.gang, w.shape.tp, e,
                                    LAW_ONE(&rng, 0, 1) == 1 };
        bool ahead = r.ahead;
        double batch = LAW_ONE(&rng, 1, 7, 200), out = LAW_ONE(&rng, 1, 90, 2000);
        double length = LAW_ONE(&rng, 1, 500, 20000);
        double first = prefill_s(&w, e, batch, length);
        law_same("step", i, decode_step_s(&r, batch, length),
                 step_s(&w, e, ahead, batch, length));
        law_same("prefill", i, decode_prefill_s(&r, batch, length), first);
        if (e != DECODE_EAGER)
            first = both(first, step_s(&w, e, ahead, batch, 0));
        law_same("first token", i, decode_first_token_s(&r, batch, length), first);
        /* The cache holds `held` requests; each step has a part of the prompts of the others. */
        double held = memory_decode_batch_max(&w.llm, w.shape.precision, w.shape.tp,
                                              length + out / 2, w.gpu.memory_bytes);
        held = law_least(batch, law_most(1, e == DECODE_KV8 ? 2 * held : held));
        law_same("served", i, decode_served_step_s(&r, batch, length, out),
             step_s(&w, e, ahead, held, length + out / 2) + (e == DECODE_WAVES ? 0.5 : 0.78) *
                 (held - 1) * prefill_s(&w, e, 1, length) / out);
    }
}

/* ---- cores ---- */

/* A world whose gang has cores alone. */
static void draw_on_cores(struct rng *rng, struct law_world *w)
{
    law_world_draw(rng, w);
    draw_cpu(rng, &w->cpu);
    w->gang.gpus = 0;
    w->gang.gpu = NULL;
}

struct cores { double flops, bps; };

static struct cores cores_of(const struct law_world *w)
{
    double part = w->gang.cores / 64.0;
    enum precision p = w->shape.precision;
    double rate = p == PRECISION_INT8 || p == PRECISION_INT4 ? w->cpu.flops_int8
                  : p == PRECISION_BF16 && w->cpu.flops_bf16 > 0 ? w->cpu.flops_bf16
                                                                 : w->cpu.flops_fp32;

    return (struct cores){ part * rate, w->cpu.memory_bps_sustained *
                                            (part >= 1 ? part : law_least(1, 2 * part)) };
}

static void cores_compute_or_read_whichever_is_longer(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 2, "cores", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        draw_on_cores(&rng, &w);
        w.shape.precision = LAW_ONE(&rng, PRECISION_FP32, PRECISION_BF16, PRECISION_INT8);
        struct cores c = cores_of(&w);
        const struct llm *llm = &w.llm;
        double each = precision_weight_bytes(w.shape.precision);
        double n = w.batch, tokens = LAW_ONE(&rng, 1, 600), read = 0.62 * c.bps;
        double pairs = 4.0 * llm->layers * llm->heads * llm->head_dim;
        double seen = law_attended(llm, tokens), half = law_causal(llm, tokens);
        double flops = n * tokens * (2 * llm->params_active + pairs * half);
        double table = (double)llm->vocab * llm->hidden;
        double passed = n * tokens * (2 * (llm->params_active - table) + pairs * seen);
        law_same("forward", i, forward_step(llm, w.shape.precision, &w.gang, n, tokens).step_s,
             law_most(passed / c.flops, (llm->params - table) * each / read));
        law_same("alone", i, compute_cpu_forward_s(llm, w.shape.precision, &w.cpu, w.gang.cores,
                                               n * tokens, half),
             law_most(flops / c.flops, llm->params_active * each / c.bps));
        struct decode_replica r = { llm, w.shape.precision, &w.gang, 1, DECODE_GRAPHS,
                                    false };
        law_same("step", i, decode_step_s(&r, n, tokens),
             law_most(n * (2 * llm->params_active + pairs * seen) / c.flops,
                  (read_bytes(&w, n) + n * seen * 2 * llm->layers * llm->kv_width) / read));
        law_same("prefill", i, decode_prefill_s(&r, n, tokens), flops / c.flops);
        double room = 3e11 - llm->params * each;
        assert_true(cores_batch_max(llm, w.shape.precision, tokens, 3e11) ==
                    floor(law_most(0, room) / (seen * 2 * llm->layers * llm->kv_width)));
    }
}

/* A step: model, gradients and what is computed again, or the reading of weights by each pass of
 * each micro batch; then the optimizer reads and writes states and gradients. */
static void training_on_cores_is_one_process(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 3, "cores", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        draw_on_cores(&rng, &w);
        struct cores c = cores_of(&w);
        const struct train_shape *shape = &w.shape;
        struct train_shape whole = *shape;
        whole.tp = whole.pp = whole.vp = whole.cp = whole.ep = 1;
        whole.zero = 0;
        whole.on_host = false;
        struct memory_need need = memory_train(&whole, 1);
        bool full = shape->method == TRAIN_FULL, again = shape->recompute == RECOMPUTE_FULL;
        double tokens = w.batch * shape->sequence_tokens;
        double weights = 2 * tokens * w.llm.params_active;
        double scores = 4.0 * w.llm.layers * w.llm.heads * w.llm.head_dim * tokens *
                        law_causal(&w.llm, shape->sequence_tokens);
        double lora = shape->lora_params > 0 ? shape->lora_params
                                             : memory_lora_params(&w.llm, 16);
        double model = full ? 3 * (weights + scores)
                            : 2 * weights + 3 * scores + 6 * tokens * lora;
        double more = again ? weights + scores
                            : shape->recompute == RECOMPUTE_SELECTIVE ? scores : 0;
        double micro = ceil(w.batch / law_least(shape->micro_batch, w.batch));
        struct step_time t = train_step(shape, &w.gang, w.batch);
        double work = law_most((model + more) / c.flops,
                           micro * (again ? 3 : 2) * need.weights / (0.62 * c.bps));
        double update = 2 * (need.optimizer + need.gradients) / (0.62 * c.bps);
        law_same("compute", i, t.compute_s, work);
        law_same("optimizer", i, t.optimizer_s, update);
        law_same("step", i, t.step_s, work + update);
        law_same("flops", i, t.flops, model);
        assert_true(t.busy_fraction == 1);
    }
}

/* ---- nets ---- */

static struct net draw_net(struct rng *rng)
{
    return (struct net){
        .name = "drawn", .params = 1e6 * LAW_ONE(rng, 1, 25, 300),
        .flops = 1e9 * LAW_ONE(rng, 1, 8, 900), .activations = 1e6 * LAW_ONE(rng, 1, 11, 400),
        .width = LAW_ONE(rng, 40, 110, 1000), .layers = LAW_ONE(rng, 3, 54),
        .tables = LAW_ONE(rng, 0, 26), .row_width = LAW_ONE(rng, 64, 128),
        .table_rows = 1e6 * LAW_ONE(rng, 0, 187),
    };
}

/* `passes` over `samples`, whose elements pass memory `touched` times and rows of tables
 * `rows` times, and not under the launches of all layers. */
static double pass_s(const struct net *net, enum precision p, const struct gpu_type *gpu,
                     double samples, const double t[4], double bytes, double *work)
{
    double rate = gpu->flops_sustained[p] *
                  (p == PRECISION_FP32 ? 1 : net->width / (net->width + 110));

    *work = samples * (t[0] * net->flops / rate +
                       bytes * (t[1] * net->activations + t[2] * net->tables * net->row_width) /
                           gpu->memory_bps_sustained);
    return pow(pow(*work, 4) + pow(t[0] * t[3] * net->layers, 4), 0.25);
}

#define BY_LAYERS (13e-3 / 54)
#define BY_ENGINE (2.2e-3 / 54)

static void nets_pass_memory_and_launch(void **state)
{
    const double layers[4] = { 1, 5, 3, BY_LAYERS }, engine[4] = { 1, 2, 3, BY_ENGINE };
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 4, "nets", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        law_world_draw(&rng, &w);
        draw_cpu(&rng, &w.cpu);
        struct net net = draw_net(&rng);
        enum precision p = LAW_ONE(&rng, PRECISION_FP32, PRECISION_FP16, PRECISION_INT8);
        double n = LAW_ONE(&rng, 1, 30, 512), wide = p == PRECISION_FP32 ? 4 : 2, work;
        double rows = (double)net.tables * net.row_width, table = net.table_rows * net.row_width;
        law_same("engine", i, net_pass_s(&net, p, &w.gpu, n),
             pass_s(&net, p, &w.gpu, n, engine, p == PRECISION_INT8 ? 1 : wide, &work));
        law_same("layers", i, net_eager_pass_s(&net, p, &w.gpu, n),
             pass_s(&net, p, &w.gpu, n, layers, wide, &work));
        double part = w.gang.cores / 64.0;
        bool small = p == PRECISION_INT8;
        law_same("cores", i, net_cpu_pass_s(&net, p, &w.cpu, w.gang.cores, n),
             law_most(n * net.flops / part / (small ? w.cpu.flops_int8 : w.cpu.flops_fp32),
                  n * (small ? 1 : 4) * (2 * net.activations + 3 * rows) /
                      (w.cpu.memory_bps_sustained * (part >= 1 ? part : law_least(1, 2 * part)))));
        double weights = net.params * precision_weight_bytes(p) + table * wide;
        law_same("weights", i, net_weight_bytes(&net, p), weights);
        law_same("serving", i, net_serve_bytes(&net, p, n),
             weights + CONTEXT + n * wide * (net.activations / 2 + rows));
        law_same("checkpoint", i, net_checkpoint_bytes(&net), 8 * net.params + 4 * table);
    }
}

static void nets_train_in_three_passes_and_an_all_reduce(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 5, "nets", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        law_world_draw(&rng, &w);
        struct net net = draw_net(&rng);
        w.shape.net = &net;
        w.gang.gpus = LAW_ONE(&rng, 1, 1, 8, 16);
        w.gang.nodes = w.gang.gpus < 8 ? 1 : w.gang.gpus / 8;
        bool engine = w.shape.stack == STACK_ENGINE, fp32 = w.shape.precision == PRECISION_FP32;
        const double t[4] = { 3, 14, 7, engine ? BY_ENGINE : BY_LAYERS };
        double each = ceil(w.batch / w.gang.gpus), size = law_least(w.shape.micro_batch, each);
        double n = ceil(each / size), work, bytes = fp32 ? 4 : 2;
        double one = pass_s(&net, w.shape.precision, &w.gpu, size, t, bytes, &work);
        double rows = n * size * net.tables * net.row_width * bytes, comm = 0;
        if (w.gang.gpus > 1)
            comm = law_most(0, comm_gang_s(COMM_ALL_REDUCE, &w.gang, 4 * net.params) -
                               0.8 * one * 2 / 3) +
                   (rows > 0 ? 2 * comm_gang_s(COMM_ALL_TO_ALL, &w.gang, rows) : 0);
        struct step_time s = train_step(&w.shape, &w.gang, w.batch);
        law_same("compute", i, s.compute_s, n * work);
        law_same("launch", i, s.launch_s + s.compute_s, n * one);
        law_same("optimizer", i, s.optimizer_s, 20 * net.params / w.gpu.memory_bps_sustained);
        law_same("comm", i, s.comm_exposed_s, comm);
        law_same("bytes", i, s.inter_bytes_per_node,
             comm_inter_bytes(COMM_ALL_REDUCE, &w.gang, 4 * net.params) +
                 2 * comm_inter_bytes(COMM_ALL_TO_ALL, &w.gang, rows));
        struct memory_need m = memory_train(&w.shape, w.gang.gpus);
        law_same("weights", i, m.weights, net.params * (fp32 ? 4 : 6) +
                                          4 * net.table_rows * net.row_width / w.gang.gpus);
        law_same("states", i, m.gradients + m.optimizer, 8 * net.params);
        law_same("activations", i, m.activations, 2 * bytes * w.shape.micro_batch *
             (net.activations + (double)net.tables * net.row_width));
        law_same("total", i, m.total, m.weights + m.gradients + m.optimizer + m.activations +
                                      CONTEXT + (w.gang.gpus > 1 ? 0.365e9 : 0));
    }
}

/* ---- encoders ---- */

static void encoders_overlap_arithmetic_and_traffic_in_part(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 6, "encoders", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        law_world_draw(&rng, &w);
        bool small = LAW_ONE(&rng, 0, 1) == 1, units = LAW_ONE(&rng, 0, 1) == 1;
        if (!units)
            w.gpu.flops_sustained[PRECISION_INT8] = 0;
        double rows = w.batch * 128, seen = law_attended(&w.llm, 128);
        double h = w.llm.hidden, layers = w.llm.layers;
        double half = units ? w.gpu.flops_sustained[PRECISION_INT8] / 2
                            : w.gpu.flops_sustained[PRECISION_FP16];
        double rate = small && units ? 2.34 * half : 1.07 * half;
        double weights = (w.llm.params - h * w.llm.vocab) / layers;
        double work = 2 * rows * weights / rate + 4 * rows * seen * h / (0.48 * half);
        double traffic = (small ? 1 : 2) * (weights + 8 * h * rows) / w.gpu.memory_bps_sustained;
        law_same("encoder", i,
             compute_encoder_s(&w.llm, small ? PRECISION_INT8 : PRECISION_FP16, &w.gpu, w.batch,
                               128),
             0.125e-3 + layers * (29e-6 + pow(pow(work, 1.46) + pow(traffic, 1.46), 1 / 1.46)));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decoding_reads_computes_and_waits_for_its_host),
        cmocka_unit_test(cores_compute_or_read_whichever_is_longer),
        cmocka_unit_test(training_on_cores_is_one_process),
        cmocka_unit_test(nets_pass_memory_and_launch),
        cmocka_unit_test(nets_train_in_three_passes_and_an_all_reduce),
        cmocka_unit_test(encoders_overlap_arithmetic_and_traffic_in_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

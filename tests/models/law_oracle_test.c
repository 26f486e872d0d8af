/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * law_oracle_test.c - the law of a training step, added up a second time.
 *
 * Each term is written down from models/laws/README.md and the sources that it names, as the sum
 * over one micro batch, without the functions of the product; models, gangs and shapes come by
 * lot, so that every degree is 1 and more, and every link the slowest of all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <math.h>

#include "models/laws/train.h"
#include "models/types/precision.h"
#include "tests/aid/law_world.h"

#define WORLDS 4000
#define CLOSE 1e-9


/* ---- links ---- */

enum kind { SUM, GATHER, SCATTER, EVERY, PAIR };

static double ring(enum kind kind, double n, double bytes, double bps, double latency)
{
    double once = (n - 1) * latency + (n - 1) / n * bytes / bps;

    if (n == 1)
        return 0;
    return kind == PAIR ? latency + bytes / bps : kind == SUM ? 2 * once : once;
}

static double inside(const struct gang *gang, enum kind kind, double n, double bytes)
{
    /* What PCIe leaves of a copy's rate at 1, 2, 4 and 8 GPUs. */
    const double left[4] = { 1, 0.77, 0.35, 0.20 };
    double rate = gang->intra_bps;

    if (gang->gpu->nvlink_bps == 0) {
        double at = law_least(3, log(n) / log(2)), whole = law_least(2, floor(at + 1e-12));
        rate *= left[(int)whole] * (1 - (at - whole)) + left[(int)whole + 1] * (at - whole);
    }
    return ring(kind, n, bytes, rate, gang->intra_latency_s);
}

static double move(const struct gang *gang, enum kind kind, double n, double stride,
                   double bytes)
{
    double on_node = gang->gpus / gang->nodes, near = law_most(1, floor(on_node / stride));
    double rate = gang->inter_bps / on_node, latency = gang->inter_latency_s;

    if (gang->nodes == 1 || near >= n)
        return inside(gang, kind, n, bytes);
    if (kind == PAIR)
        return latency + bytes / rate;
    if (kind == EVERY)
        return law_most(inside(gang, EVERY, near, bytes * near / n),
                    (n - near) * latency + bytes * (1 - near / n) / rate);
    double nodes = ceil(n / near), away = ring(kind, nodes, bytes / near, rate, latency);
    return away + (kind == SUM ? inside(gang, SCATTER, near, bytes) +
                                     inside(gang, GATHER, near, bytes)
                               : inside(gang, kind, near, bytes));
}

/* Bytes that leave a node. */
static double leave(const struct gang *gang, enum kind kind, double n, double stride,
                    double bytes)
{
    double on_node = gang->gpus / gang->nodes, near = law_most(1, floor(on_node / stride));
    double nodes = ceil(n / near);

    if (gang->nodes == 1 || near >= n)
        return 0;
    if (kind == EVERY)
        return on_node * bytes * (1 - near / n);
    return on_node / near * bytes * (1 - 1 / nodes) * (kind == SUM ? 2 : 1);
}

/* ---- one micro batch ---- */

struct sums {
    double tp, pp, cp, vp, ep, expert_tp, expert_copies, dp;
    double tokens, mine;                    /* of a micro batch, of one GPU */
    double matrix, attention, layer, exchange;      /* passes */
    double elements, floor, floor_tp, overlap, hidden;  /* of the software */
    double memory;                          /* bytes/s */
};

static void count(const struct law_world *w, struct sums *s)
{
    static const double software[STACK_COUNT][5] = {
        [STACK_EAGER] = { 115, 0.8e-3, 0.08e-3, 0.8, 0 },
        [STACK_MEGATRON] = { 40, 0.81e-3, 0.08e-3, 0, 0 },
        [STACK_ENGINE] = { 75, 0.1e-3, 0, 0.9, 0.9 },
    };
    const struct train_shape *shape = &w->shape;
    const double *row = software[shape->stack];
    double gpus = w->gang.gpus;

    *s = (struct sums){ .tp = shape->tp, .pp = shape->pp, .cp = law_most(1, shape->cp),
                        .vp = law_most(1, shape->vp), .ep = law_most(1, shape->ep),
                        .memory = w->gpu.memory_bps_sustained, .elements = row[0],
                        .floor = row[1], .floor_tp = row[2], .overlap = row[3],
                        .hidden = row[4] };
    s->dp = gpus / (s->tp * s->pp);
    /* Tensor parallelism within experts where ep divides the data parallel ranks. */
    s->expert_tp = fmod(s->dp, s->ep) == 0 ? s->tp : 1;
    s->expert_copies = law_most(1, floor(gpus / s->pp / (s->ep * s->expert_tp)));
    s->matrix = shape->method == TRAIN_FULL ? 3 : 2;
    s->attention = shape->recompute == RECOMPUTE_NONE ? 3 : 4;
    s->layer = 3;
    s->exchange = 4;
    if (shape->recompute == RECOMPUTE_FULL) {
        s->matrix++;
        s->layer++;
        s->exchange += 2;
    }
}

static double rate(const struct law_world *w, enum precision precision, double width,
                   double rows)
{
    double size = width * sqrt(rows / 2048);

    return 0.89 * w->gpu.flops_sustained[precision] * size / (size + 130);
}

static double attention_s(const struct law_world *w, const struct sums *s)
{
    const struct llm *llm = &w->llm;
    double layers = llm->layers / (s->tp * s->pp), length = w->shape.sequence_tokens;
    double pairs = w->shape.stack == STACK_MEGATRON ? length / 2 : law_causal(llm, length);
    double work = 4 * s->mine * pairs * llm->heads * llm->head_dim * layers;
    double fast = rate(w, PRECISION_BF16, llm->hidden / sqrt(s->tp), s->mine);

    switch (w->shape.stack) {
    case STACK_ENGINE:
        return work / (0.75 * fast);
    case STACK_EAGER:
        return work / law_least(0.4 * fast, 1.45e14);
    default:
        return 2 * work / fast + 12 * s->mine * length * llm->heads * layers / s->memory;
    }
}

static double layers_s(const struct law_world *w, const struct sums *s)
{
    const struct llm *llm = &w->llm;
    double h = llm->hidden, part = 1 / (s->tp * s->pp);
    double active = w->routed ? w->expert_params * w->routed_active / w->routed : 0;
    double dense = llm->params_active - active - llm->vocab * h * (llm->tied ? 1 : 2);
    double s4 = w->shape.method == TRAIN_QLORA ? 3083.0 / 2413.0 : 1;
    double sum = 2 * s->mine * dense * part * s->matrix /
                 rate(w, w->shape.precision, h / sqrt(s->tp), s->mine);

    if (w->routed) {
        double rows = s->mine * s->ep * s->expert_tp / s->tp * w->routed_active / w->routed;
        sum += 2 * s->mine * active * part * s->matrix /
               rate(w, w->shape.precision, sqrt(h * llm->ffn / 4 / s->expert_tp),
                    law_most(1, rows));
        sum += 8 * s->mine * w->routed_active * h * w->expert_layers * part * s->layer /
               s->memory;
    }
    sum += s->attention * attention_s(w, s);
    double norms = w->shape.sequence_parallel ? 1 / s->tp : (10 + 24 / s->tp) / 34;
    return s4 * sum +
           s->elements * s->mine * h * llm->layers / s->pp * norms * s->layer / s->memory;
}

static double logits_s(const struct law_world *w, const struct sums *s)
{
    double entries = s->mine * w->llm.vocab / s->tp;

    return 2 * entries * w->llm.hidden * law_least(3, s->matrix) /
               rate(w, PRECISION_BF16, w->llm.hidden / sqrt(s->tp), s->mine) +
           16 * entries / s->memory;
}

static double element_bytes(const struct law_world *w)
{
    return w->shape.precision == PRECISION_FP32 ? 4 : 2;
}

/* A token goes to each of its experts; a fused dispatcher sends one copy to each node. */
static double copies(const struct law_world *w, const struct sums *s)
{
    double near = floor(w->gang.gpus / w->gang.nodes / s->expert_tp), k = w->routed_active;

    if (w->shape.stack != STACK_ENGINE || w->gang.nodes == 1 || near == 0 || near >= s->ep)
        return k;
    double nodes = ceil(s->ep / near);
    return nodes * (1 - pow(1 - 1 / nodes, k));
}

static double exchanges_s(const struct law_world *w, const struct sums *s)
{
    double bytes = element_bytes(w) * s->mine * w->llm.hidden;
    double reduce = move(&w->gang, SUM, s->tp, 1, bytes) * (1 - s->hidden);
    double sum = s->tp > 1 ? w->llm.layers * reduce : 0;

    if (w->routed && s->ep > 1) {
        double one = move(&w->gang, EVERY, s->ep, s->expert_tp, bytes / s->tp * copies(w, s));
        if (s->tp > 1)
            one -= reduce / 2;          /* the one behind the MLP */
        if (s->tp > 1 && s->expert_tp > 1)
            one += move(&w->gang, SUM, s->tp, 1, bytes * w->routed_active) *
                   (1 - s->hidden) / 2;
        sum += w->expert_layers * one;
    }
    return sum * s->exchange / s->pp;
}

static double kv_bytes(const struct law_world *w, const struct sums *s)
{
    bool latent = w->llm.kv_width < 2 * w->llm.kv_heads * w->llm.head_dim;
    double heads = latent ? w->llm.heads : w->llm.kv_heads;

    return 4 * law_most(1, heads / s->tp) * w->llm.head_dim;
}

static double context_s(const struct law_world *w, const struct sums *s)
{
    const struct gang *gang = &w->gang;
    double bytes = s->mine * kv_bytes(w, s), forward = s->attention - 2, hops = s->cp - 1;

    if (s->cp == 1)
        return 0;
    if (w->shape.stack != STACK_ENGINE)
        return w->llm.layers / s->pp *
               ((forward + 1) * move(gang, GATHER, s->cp, s->tp, s->cp * bytes) +
                move(gang, SCATTER, s->cp, s->tp, s->cp * bytes));
    double block = attention_s(w, s) / (w->llm.layers / s->pp) / s->cp;
    double one = move(gang, PAIR, s->cp, s->tp, bytes);
    double two = move(gang, PAIR, s->cp, s->tp, 2 * bytes);
    double sums = 2 * s->mine * w->llm.heads * w->llm.head_dim / s->tp;
    return w->llm.layers / s->pp *
           (hops * forward * law_most(0, one - block) + hops * law_most(0, two - 2 * block) + one +
            3 * hops * ((forward + 1) * sums + bytes) / s->memory);
}

/* ---- a step ---- */

static double adapters(const struct law_world *w, double experts)
{
    const struct llm *llm = &w->llm;
    double h = llm->hidden, q = (double)llm->heads * llm->head_dim;
    double kv = (double)llm->kv_heads * llm->head_dim;

    return 16.0 * llm->layers *
           (2 * (h + q) + 2 * (h + kv) + llm->ffn_matrices * experts * (h + llm->ffn));
}

/* Trained parameters: of all, and of routed experts among them. */
static double trained(const struct law_world *w, double *of_experts)
{
    double all = adapters(w, law_most(1, w->llm.experts));
    double own = w->llm.ffn_matrices * 16.0 * w->llm.layers * w->routed *
                 ((double)w->llm.hidden + w->llm.ffn);

    *of_experts = w->expert_params;
    if (w->shape.method == TRAIN_FULL)
        return w->llm.params;
    double stated = w->shape.lora_params > 0 ? w->shape.lora_params : all;
    *of_experts = stated * own / all;
    return stated;
}

struct exchange { double s, bytes; };

static struct exchange alike(const struct law_world *w, double n, double stride, double base,
                             double tuned, double micro_batches)
{
    bool wide = w->shape.stack == STACK_MEGATRON && w->shape.tp * w->shape.pp > 1;
    double weight = w->shape.method == TRAIN_QLORA ? 4.89 / 8 : 2;
    enum kind kind = w->shape.zero == 3 ? SCATTER : SUM;
    double gathers = w->shape.zero == 3 ? 2 * micro_batches : 0;

    tuned *= wide ? 4 : 2;
    base *= weight;
    if (n <= 1)
        return (struct exchange){ 0, 0 };
    return (struct exchange){
        move(&w->gang, kind, n, stride, tuned) +
            gathers * move(&w->gang, GATHER, n, stride, base),
        leave(&w->gang, kind, n, stride, tuned) +
            gathers * leave(&w->gang, GATHER, n, stride, base),
    };
}

static struct exchange gradients(const struct law_world *w, const struct sums *s,
                                 double micro_batches)
{
    double part = s->tp * s->pp, held = s->ep * s->expert_tp * s->pp, own;
    double all = trained(w, &own), base = w->llm.params;

    if (s->ep == 1)
        return alike(w, s->dp, s->tp, base / part, all / part, micro_batches);
    struct exchange a = alike(w, s->dp, s->tp, (base - w->expert_params) / part,
                              (all - own) / part, micro_batches);
    struct exchange b = alike(w, s->expert_copies, s->ep * s->expert_tp,
                              w->expert_params / held, own / held, micro_batches);
    return (struct exchange){ a.s + b.s, a.bytes + b.bytes };
}

static double optimizer(const struct law_world *w, const struct sums *s, double micro_batches,
                        double backward)
{
    double own, all = trained(w, &own), mine = all / (s->tp * s->pp);

    if (w->shape.zero == 0 && s->ep > 1)
        mine = (all - own) / (s->tp * s->pp) + own / (s->pp * s->ep * s->expert_tp);
    if (w->shape.zero > 0)
        mine /= law_most(1, s->dp);
    if (!w->shape.on_host)
        return 40 * mine / s->memory;
    double sockets = w->gang.cores / 64.0;
    double host = 0.86 * w->cpu.memory_bps_sustained * law_most(sockets, law_least(1, 2 * sockets));
    double link = 2 * mine / w->gpu.pcie_bps;
    double add = law_most(link, 12 * mine * w->gang.gpus / host);
    double update = law_most(link, 40 * mine * w->gang.gpus / host);
    return (micro_batches - 1) * law_most(0, add - backward) + law_most(0, update - backward);
}

/* What one GPU sends to the stage behind and to the stage before, `times` as many of its
 * own parts, if that is on another node. */
static double hop(const struct law_world *w, uint32_t from, uint32_t to, double times)
{
    uint32_t on_node = w->gang.gpus / w->gang.nodes;

    return from / on_node == to / on_node ? 0 : times;
}

/* The most that any node sends over the edges of stages, in parts of one GPU: each GPU is
 * asked.  With chunks, the first stage follows on the last, once less than the others. */
static double edges(const struct law_world *w, const struct sums *s)
{
    uint32_t gpus = w->gang.gpus, on_node = gpus / w->gang.nodes;
    uint32_t stage = gpus / w->shape.pp;
    double most = 0;

    for (uint32_t node = 0; node < w->gang.nodes && s->pp > 1; node++) {
        double parts = 0;
        for (uint32_t i = node * on_node; i < (node + 1) * on_node; i++) {
            bool last = i + stage >= gpus, first = i < stage;
            parts += hop(w, i, (i + stage) % gpus, s->vp - last);
            parts += hop(w, i, (i + gpus - stage) % gpus, s->vp - first);
        }
        most = law_most(most, parts);
    }
    return most * element_bytes(w) * s->mine * w->llm.hidden / s->tp;
}

/* Sums among the GPUs of tensor parallelism, and what experts put in their place. */
static double exchanged(const struct law_world *w, const struct sums *s)
{
    double bytes = element_bytes(w) * s->mine * w->llm.hidden, experts = 0;
    double sum = s->tp > 1 ? leave(&w->gang, SUM, s->tp, 1, bytes) : 0;

    if (w->routed && s->ep > 1) {
        experts = leave(&w->gang, EVERY, s->ep, s->expert_tp, bytes / s->tp * copies(w, s)) -
                  sum / 2;
        if (s->tp > 1 && s->expert_tp > 1)
            experts += leave(&w->gang, SUM, s->tp, 1, bytes * w->routed_active) / 2;
    }
    return s->exchange / s->pp * (w->llm.layers * sum + w->expert_layers * experts);
}

static double sent(const struct law_world *w, const struct sums *s)
{
    double context = s->cp == 1 ? 0 :
        w->llm.layers / s->pp * s->attention *
        leave(&w->gang, GATHER, s->cp, s->tp, s->tokens * kv_bytes(w, s));

    return edges(w, s) + exchanged(w, s) + context;
}

static struct step_time add_up(const struct law_world *w)
{
    struct sums s;
    struct step_time t = { 0 };

    count(w, &s);
    double replicas = s.dp / s.cp, each = ceil(w->batch / replicas);
    double size = law_least(w->shape.micro_batch, each), n = ceil(each / size);
    s.tokens = size * w->shape.sequence_tokens;
    s.mine = s.tokens / s.cp;
    double logits = logits_s(w, &s), compute = layers_s(w, &s) + logits / s.pp;
    double comm = exchanges_s(w, &s) + context_s(w, &s);
    double launches = (s.floor + (s.tp > 1 ? s.floor_tp : 0)) * s.layer * w->llm.layers / s.pp;
    double total = pow(pow(compute + comm, 4) + pow(launches, 4), 0.25);
    double waits = total - compute - comm;
    double hop = s.pp == 1 ? 0 :
        2 * s.vp * move(&w->gang, PAIR, 2, w->gang.gpus / s.pp, 2 * s.mine * w->llm.hidden / s.tp);

    total += hop;
    struct exchange g = gradients(w, &s, n);
    double cover = s.overlap * (w->shape.zero == 3 ? n * total : total * 2 / 3);
    t.compute_s = n * compute;
    t.launch_s = n * waits + 7.5e-3;
    t.bubble_s = (s.pp - 1) / s.vp * total + n * logits * (1 - 1 / s.pp);
    t.optimizer_s = optimizer(w, &s, n, total * 2 / 3);
    t.comm_exposed_s = n * (comm + hop) + law_most(0, g.s - cover);
    t.inter_bytes_per_node = g.bytes + n * sent(w, &s);
    return t;
}

/* Parts may be small differences of large sums: they are held against the whole. */
static void same(const char *what, uint32_t at, double found, double expected, double whole)
{
    if (fabs(found - expected) > CLOSE * whole)
        fail_msg("world %u: %s: %.12g, expected %.12g", at, what, found, expected);
}

static void a_step_is_the_sum_of_what_its_sources_say(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, "laws", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        law_world_draw(&rng, &w);
        if (w.gang.gpus % train_replica_gpus(&w.shape) != 0)
            continue;
        struct step_time t = train_step(&w.shape, &w.gang, w.batch), e = add_up(&w);
        double whole = e.compute_s + e.launch_s + e.bubble_s + e.optimizer_s + e.comm_exposed_s;
        same("compute_s", i, t.compute_s, e.compute_s, e.compute_s);
        same("launch_s", i, t.launch_s, e.launch_s, whole);
        same("bubble_s", i, t.bubble_s, e.bubble_s, whole);
        same("optimizer_s", i, t.optimizer_s, e.optimizer_s, e.optimizer_s + e.compute_s);
        same("comm_exposed_s", i, t.comm_exposed_s, e.comm_exposed_s, whole);
        same("inter_bytes_per_node", i, t.inter_bytes_per_node, e.inter_bytes_per_node,
             e.inter_bytes_per_node);
        same("step_s", i, t.step_s, whole, whole);
        same("busy_fraction", i, t.busy_fraction, e.compute_s / whole, 1);
    }
}

/* ---- a pass without gradients ---- */

/* Weights, the widest tensors of a layer, FP32 logits, context and buffers. */
static double forward_bytes(const struct law_world *w, double tp, double tokens)
{
    const struct llm *llm = &w->llm;

    return llm->params * precision_weight_bytes(w->shape.precision) / tp +
           tokens * (4.0 * llm->hidden + 2.0 * llm->ffn_matrices * llm->ffn / tp) +
           4 * tokens * llm->vocab / tp + 1.1 * 1073741824 + (tp > 1 ? 0.365e9 : 0);
}

static double forward_s(struct law_world w, double sequences, double tokens, double *bytes)
{
    struct sums s;
    double tp = 1;

    while (2 * tp <= w.gang.gpus && forward_bytes(&w, tp, tokens) > w.gpu.memory_bytes)
        tp *= 2;
    w.shape = (struct train_shape){ .precision = w.shape.precision, .tp = (uint32_t)tp, .pp = 1,
                                    .sequence_tokens = tokens };
    count(&w, &s);
    s.matrix = s.attention = s.layer = 1;
    s.exchange = 2;
    double each = ceil(sequences / law_most(1, floor(w.gang.gpus / tp)));
    double packed = law_least(each, law_most(1, floor(16384 / tokens)));
    s.mine = packed * tokens;
    double work = layers_s(&w, &s) + logits_s(&w, &s) + exchanges_s(&w, &s);
    *bytes = ceil(each / packed) * exchanged(&w, &s);
    return ceil(each / packed) * pow(pow(work, 4) + pow(0.8e-3 * w.llm.layers, 4), 0.25);
}

static void a_forward_pass_is_one_pass_of_each_part(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 2, "laws", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        law_world_draw(&rng, &w);
        double tokens = LAW_ONE(&rng, 1, 700, 20000), peak = 0, bytes;
        struct step_time t = forward_step(&w.llm, w.shape.precision, &w.gang, w.batch, tokens);
        double expected = forward_s(w, w.batch, tokens, &bytes);
        same("inter_bytes_per_node", i, t.inter_bytes_per_node, bytes, bytes);
        same("step_s", i, t.step_s, expected, expected);
        same("parts", i, t.compute_s + t.comm_exposed_s + t.launch_s, expected, expected);
        same("busy", i, t.busy_fraction * t.step_s, t.compute_s, expected);
        peak = w.gang.gpus * w.gpu.flops_peak[w.shape.precision];
        double work = w.batch * tokens * (2 * w.llm.params_active +
                      4.0 * w.llm.layers * w.llm.heads * w.llm.head_dim *
                          law_attended(&w.llm, tokens));
        same("flops", i, t.flops, work, work);
        same("mfu", i, t.mfu, work / peak / expected, t.mfu);
        assert_true(t.hfu == t.mfu);
    }
}

/* ---- the same, divided as in training ---- */

/* What any node sends to the next stages, in parts of one GPU: each GPU is asked. */
static double forward_edges(const struct law_world *w, const struct sums *s)
{
    uint32_t gpus = w->gang.gpus, on_node = gpus / w->gang.nodes;
    uint32_t stage = gpus / w->shape.pp;
    double most = 0;

    for (uint32_t node = 0; node < w->gang.nodes && s->pp > 1; node++) {
        double parts = 0;
        for (uint32_t i = node * on_node; i < (node + 1) * on_node; i++)
            parts += hop(w, i, (i + stage) % gpus, s->vp - (i + stage >= gpus));
        most = law_most(most, parts);
    }
    return most * element_bytes(w) * s->mine * w->llm.hidden / s->tp;
}

/* Keys and values, gathered once before attention or sent round a ring. */
static double forward_context_s(const struct law_world *w, const struct sums *s)
{
    double bytes = s->mine * kv_bytes(w, s), hops = s->cp - 1, layers = w->llm.layers / s->pp;

    if (s->cp == 1)
        return 0;
    if (w->shape.stack != STACK_ENGINE)
        return layers * move(&w->gang, GATHER, s->cp, s->tp, s->cp * bytes);
    double block = attention_s(w, s) / layers / s->cp;
    double one = move(&w->gang, PAIR, s->cp, s->tp, bytes);
    double sums = 2 * s->mine * w->llm.heads * w->llm.head_dim / s->tp;
    return layers * hops * (law_most(0, one - block) + 3 * sums / s->memory);
}

static void a_divided_pass_goes_through_the_stages_once(void **state)
{
    struct law_world w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 3, "laws", 0);
    for (uint32_t i = 0; i < WORLDS; i++) {
        struct sums s;
        law_world_draw(&rng, &w);
        if (w.gang.gpus % train_replica_gpus(&w.shape) != 0)
            continue;
        count(&w, &s);
        s.matrix = s.attention = s.layer = 1;
        s.exchange = 2;
        double each = ceil(w.batch / (s.dp / s.cp)), size = law_least(w.shape.micro_batch, each);
        double n = ceil(each / size), logits, compute, comm, launches, total;
        s.tokens = size * w.shape.sequence_tokens;
        s.mine = s.tokens / s.cp;
        logits = logits_s(&w, &s);
        compute = layers_s(&w, &s) + logits / s.pp;
        comm = exchanges_s(&w, &s) + forward_context_s(&w, &s);
        launches = (s.floor + (s.tp > 1 ? s.floor_tp : 0)) * w.llm.layers / s.pp;
        total = pow(pow(compute + comm, 4) + pow(launches, 4), 0.25);
        if (s.pp > 1)
            total += s.vp * move(&w.gang, PAIR, 2, w.gang.gpus / s.pp,
                                 2 * s.mine * w.llm.hidden / s.tp);
        double whole = (n + (s.pp - 1) / s.vp) * total + n * logits * (1 - 1 / s.pp);
        double bytes = n * (forward_edges(&w, &s) + exchanged(&w, &s) +
                            (s.cp == 1 ? 0 : w.llm.layers / s.pp *
                             leave(&w.gang, GATHER, s.cp, s.tp, s.tokens * kv_bytes(&w, &s))));
        struct step_time t = forward_divided_step(&w.shape, &w.gang, w.batch);
        same("step_s", i, t.step_s, whole, whole);
        same("parts", i, t.compute_s + t.comm_exposed_s + t.launch_s + t.bubble_s, whole, whole);
        same("compute", i, t.compute_s, n * compute, whole);
        same("bytes", i, t.inter_bytes_per_node, bytes, bytes);
        assert_true(t.hfu == t.mfu && t.mfu > 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_divided_pass_goes_through_the_stages_once),
        cmocka_unit_test(a_step_is_the_sum_of_what_its_sources_say),
        cmocka_unit_test(a_forward_pass_is_one_pass_of_each_part),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * memory.c - bytes per GPU of training, decoding and forward-only roles.
 *
 * Parameters come in two kinds: those that every data parallel rank holds, and
 * routed experts, which only the ranks of one expert group hold.  Each kind is
 * divided by tensor, pipeline and ZeRO parallelism on its own, and summed.
 */
#include "models/laws/memory.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/compute.h"
#include "models/laws/experts.h"
#include "models/laws/net.h"
#include "models/laws/offload.h"

#define GIB (1024.0 * 1024.0 * 1024.0)

/* CUDA context: 0.47 to 1.78 GiB on various GPUs (stas00/ml-engineering
 * 744d01e, debug/pytorch memory notes); the middle. */
#define CONTEXT_BYTES (1.1 * GIB)
/* NCCL buffers: 0.34 to 0.39 GB (aiconfigurator 095f58a51, systems/). */
#define NCCL_BYTES 0.365e9
/* Serving: context, graphs and work buffers beside weights and KV cache
 * (aiconfigurator 095f58a51: other_mem 3.5 GB), and the share of the device
 * that an engine takes (vLLM's default gpu_memory_utilization). */
#define SERVE_OTHER_BYTES 3.5e9
#define SERVE_SHARE 0.9

/* Adam in mixed precision keeps an FP32 copy and two FP32 moments: 12 bytes
 * (ZeRO, section 3.1); pure FP32 needs the moments alone. */
#define ADAM_MIXED_BYTES 12.0
#define ADAM_FP32_BYTES 8.0

#define LORA_RANK 16.0

/* Gradients that wait for the host: of a layer that is sent and of one that is
 * computed, of bounded buffers (prime-rl PR 3234). */
#define HOST_LAYERS 2.0

const char *const train_method_choices[] = { "full", "lora", "qlora", NULL };
const char *const train_stack_choices[] = {
    "eager", "megatron", "engine", NULL
};
const char *const recompute_choices[] = { "none", "selective", "full", NULL };

double memory_weight_bytes(const struct llm *llm, enum precision precision)
{
    assert(llm && llm->params > 0.0);
    return llm->params * precision_weight_bytes(precision);
}

double memory_kv_bytes_per_token(const struct llm *llm)
{
    assert(llm && llm->kv_width > 0);
    return 2.0 * llm->layers * (double)llm->kv_width;
}

double memory_lora_params(const struct llm *llm, double rank)
{
    assert(llm && rank > 0.0);
    double h = llm->hidden;
    double q = (double)llm->heads * llm->head_dim;
    double kv = (double)llm->kv_heads * llm->head_dim;
    double experts = llm->experts > 0 ? llm->experts : 1.0;
    /* A pair of rank-r matrices beside each in x out matrix: r (in + out). */
    double attention = (h + q) + 2.0 * (h + kv) + (q + h);
    double mlp = llm->ffn_matrices * experts * (h + llm->ffn);

    return rank * llm->layers * (attention + mlp);
}

double memory_lora_expert_share(const struct llm *llm)
{
    assert(llm);
    double routed = (double)llm->ffn_matrices * experts_of(llm).routed *
                    ((double)llm->hidden + llm->ffn);

    return routed * llm->layers / memory_lora_params(llm, 1.0);
}

/* Parameters of the adapters: as stated, else of rank 16. */
static double lora_params(const struct train_shape *shape)
{
    assert(shape->llm != NULL);
    return shape->lora_params > 0.0
               ? shape->lora_params
               : memory_lora_params(shape->llm, LORA_RANK);
}

static bool is_fp32(enum precision precision)
{
    assert(precision < PRECISION_COUNT);
    return precision == PRECISION_FP32 || precision == PRECISION_TF32;
}

/* Returns the bytes of a weight, frozen or trained, without what the optimizer keeps of it.  FP8
 * training keeps its weights in 16 bits (Transformer Engine). */
static double state_weight_bytes(const struct train_shape *shape)
{
    assert(shape != NULL);
    if (shape->method == TRAIN_QLORA) {
        return precision_weight_bytes(PRECISION_INT4);
    }
    return is_fp32(shape->precision) ? 4.0 : 2.0;
}

/* How many parameters a GPU holds.  Some GPUs divide a copy of them; `replicas` GPUs hold the same
 * part. */
struct held {
    double base, trained;       /* per GPU, before ZeRO divides them */
    double replicas;
};

/* What every data parallel rank has, or what only its experts' group has. */
static struct held held_by(const struct train_shape *shape, uint32_t gpus,
                           bool of_experts)
{
    assert(shape->tp > 0 && shape->pp > 0);
    assert(gpus > 0);
    double stage = (double)shape->tp * shape->pp;
    struct experts experts = experts_of(shape->llm);
    struct experts_place place = experts_place(shape, gpus);
    bool full = shape->method == TRAIN_FULL;
    double lora = full ? 0.0 : lora_params(shape);
    double share = full ? 0.0 : memory_lora_expert_share(shape->llm);

    if (of_experts) {
        double split = (double)place.ep * place.tp * shape->pp;
        double base = experts.params / split;
        return (struct held){ base, full ? base : lora * share / split,
                              place.replicas };
    }
    double base = (shape->llm->params - experts.params) / stage;

    return (struct held){ base, full ? base : lora * (1.0 - share) / stage,
                          fmax(1.0, floor(gpus / stage)) };
}

/* Adds weights, gradients and optimizer states of one kind of parameters, per
 * GPU. */
static void add_states(const struct train_shape *shape,
                       const struct held *held, struct memory_need *sum)
{
    assert(shape->zero >= 0 && shape->zero <= 3);
    assert(held->replicas >= 1.0);
    double split = (double)shape->tp * shape->pp;
    double trained = held->trained;
    double dp = held->replicas;
    bool fp32 = is_fp32(shape->precision);
    struct memory_need part = { 0 };
    struct memory_need *need = &part;
    /* Megatron accumulates in FP32 (18 bytes in all: Korthikanti et al. Fig.
     * 1 to every digit); plain data parallelism keeps 16-bit gradients. */
    double gradient = fp32 || split > 1.0 ? 4.0 : 2.0;
    double adam = fp32 ? ADAM_FP32_BYTES : ADAM_MIXED_BYTES;

    need->weights = held->base * state_weight_bytes(shape);
    if (shape->method != TRAIN_FULL) {
        need->weights += trained * 2.0;
    }
    need->gradients = trained * gradient;
    need->optimizer = trained * adam;
    if (shape->zero >= 1) {
        need->optimizer /= dp;
    }
    if (shape->zero >= 2) {
        need->gradients /= dp;
    }
    if (shape->zero >= 3) {
        need->weights /= dp;
    }
    if (shape->on_host) {
        need->optimizer = 0.0;
        need->gradients *= fmin(1.0, HOST_LAYERS / shape->llm->layers);
    }
    sum->weights += need->weights;
    sum->gradients += need->gradients;
    sum->optimizer += need->optimizer;
}

/* Bytes kept of one layer and micro batch, in units of 16 bits.  The MLP
 * keeps 4 bytes per unit of its width, 6 where it is gated. */
static double layer_bytes(const struct train_shape *shape)
{
    const struct llm *llm = shape->llm;
    double h = llm->hidden;
    double sbh = shape->sequence_tokens * shape->micro_batch * h;
    double active = llm->experts_active > 0 ? llm->experts_active : 1.0;
    /* Experts keep a copy of a token each, where an MLP keeps one. */
    double mlp = (llm->ffn_matrices == 3 ? 6.0 : 4.0) * active *
                 llm->ffn / h + 2.0 * (active - 1.0);
    double t = shape->tp;
    double scores = 5.0 * llm->heads * shape->sequence_tokens / h;

    switch (shape->recompute) {
    case RECOMPUTE_NONE:
        return sbh * (10.0 + (8.0 + mlp + scores) / t);
    case RECOMPUTE_SELECTIVE:
        return sbh * (18.0 + mlp) / t;
    case RECOMPUTE_FULL:
        return sbh * 2.0;
    }
    assert(false && "a recompute mode");
    return 0.0;
}

/* The first stage holds pp micro batches of layers / pp layers each, which is
 * one micro batch of all layers. */
static double activation_bytes(const struct train_shape *shape)
{
    assert(shape->sequence_tokens > 0.0);
    assert(shape->micro_batch > 0.0);
    assert(shape->tp > 0 && shape->pp > 0);
    double unit = precision_activation_bytes(shape->precision) / 2.0;
    double kept = layer_bytes(shape) * shape->llm->layers;

    if (shape->vp > 1) { /* Korthikanti et al., section 4.2.3 */
        kept *= 1.0 + (shape->pp - 1.0) / ((double)shape->pp * shape->vp);
    }
    if (shape->cp > 1) {
        kept /= shape->cp;
    }
    if (shape->cp > 1) {
        /* Keys and values of the layer at work and their gradients: whole,
         * or, round a ring, a block at work and the next. */
        double parts = shape->stack == STACK_ENGINE ? shape->cp / 2.0 : 1.0;
        kept += 2.0 * shape->sequence_tokens * shape->micro_batch / parts *
                memory_kv_attended(shape->llm, shape->tp);
    }
    if (shape->recompute == RECOMPUTE_FULL) {
        /* One layer is alive while it is computed again. */
        struct train_shape one = *shape;
        one.recompute = RECOMPUTE_SELECTIVE;
        kept += layer_bytes(&one);
    }
    return kept * unit;
}

/* ZeRO-3 has two layers whole at a time: one computed, one fetched. */
static double gathered_bytes(const struct train_shape *shape, uint32_t gpus)
{
    assert(shape->llm->layers > 0);
    assert(gpus > 0);
    struct experts experts = experts_of(shape->llm);
    struct experts_place place = experts_place(shape, gpus);
    double layers = shape->llm->layers;

    if (shape->zero < 3) {
        return 0.0;
    }
    return 2.0 * state_weight_bytes(shape) / layers *
           ((shape->llm->params - experts.params) / shape->tp +
            experts.params / ((double)place.ep * place.tp));
}

/* Logits and their gradient in FP32 where the stage ends the model. */
static double train_workspace(const struct train_shape *shape, uint32_t gpus)
{
    assert(shape->llm != NULL);
    assert(gpus > 0);
    const struct llm *llm = shape->llm;
    double bytes = CONTEXT_BYTES + (gpus > 1 ? NCCL_BYTES : 0.0);

    if (shape->pp == 1) {
        bytes += 4.0 * shape->sequence_tokens * shape->micro_batch *
                 llm->vocab / shape->tp;
    }
    return bytes;
}

static double total_of(const struct memory_need *need)
{
    assert(need != NULL);
    return need->weights + need->gradients + need->optimizer +
           need->activations + need->gathered + need->kv + need->workspace;
}

/* Experts and the rest are divided over different GPUs, so both are added up
 * apart. */
struct memory_need memory_train(const struct train_shape *shape,
                                uint32_t gpus)
{
    assert(shape && (shape->llm || shape->net) && gpus > 0);
    struct memory_need need = { 0 };

    if (shape->net != NULL) {
        return net_memory(shape, gpus);
    }
    assert(shape->tp > 0 && shape->pp > 0);
    assert(shape->zero >= 0 && shape->zero <= 3);
    assert(shape->sequence_tokens > 0.0 && shape->micro_batch > 0.0);
    struct held rest = held_by(shape, gpus, false);
    struct held experts = held_by(shape, gpus, true);

    add_states(shape, &rest, &need);
    add_states(shape, &experts, &need);
    need.activations = activation_bytes(shape);
    need.gathered = gathered_bytes(shape, gpus);
    need.workspace = train_workspace(shape, gpus);
    need.total = total_of(&need);
    return need;
}

/* With the optimizer on the host each process keeps its part of the states
 * there, of which ZeRO says how large it is. */
double memory_host(const struct train_shape *shape, uint32_t gpus)
{
    assert(shape && gpus > 0);
    if (!shape->on_host) {
        return 0.0;
    }
    struct held rest = held_by(shape, gpus, false);
    struct held experts = held_by(shape, gpus, true);
    bool divided = shape->zero >= 1;

    return offload_host_bytes(
        rest.trained / (divided ? rest.replicas : 1.0) +
        experts.trained / (divided ? experts.replicas : 1.0));
}

/* Frozen weights are copied like trained ones, without gradients or states. */
double memory_frozen(const struct train_shape *shape, uint32_t gpus)
{
    assert(shape && shape->llm && gpus > 0);
    struct held rest = held_by(shape, gpus, false);
    struct held experts = held_by(shape, gpus, true);
    double bytes = precision_weight_bytes(shape->precision);
    bool divided = shape->zero >= 3;

    return bytes * (rest.base / (divided ? rest.replicas : 1.0) +
                    experts.base / (divided ? experts.replicas : 1.0));
}

bool memory_kv_is_latent(const struct llm *llm)
{
    assert(llm && llm->kv_width > 0);
    return llm->kv_width < 2 * llm->kv_heads * llm->head_dim;
}

double memory_kv_parts(const struct llm *llm, uint32_t tp)
{
    assert(llm && tp > 0);
    return memory_kv_is_latent(llm)
               ? 1.0 : fmin((double)tp, (double)llm->kv_heads);
}

double memory_kv_attended(const struct llm *llm, uint32_t tp)
{
    assert(llm != NULL);
    assert(tp > 0);
    double heads = memory_kv_is_latent(llm) ? llm->heads : llm->kv_heads;

    return 2.0 * 2.0 * fmax(1.0, heads / tp) * llm->head_dim;
}

struct memory_need memory_decode(const struct llm *llm,
                                 enum precision precision, uint32_t tp,
                                 double batch, double context_tokens)
{
    assert(llm && tp > 0 && batch >= 0.0 && context_tokens >= 0.0);
    struct memory_need need = { 0 };

    need.weights = memory_weight_bytes(llm, precision) / tp;
    need.kv = batch * compute_attended_tokens(llm, context_tokens) *
              memory_kv_bytes_per_token(llm) /
              memory_kv_parts(llm, tp);
    need.workspace = SERVE_OTHER_BYTES;
    need.total = total_of(&need);
    return need;
}

struct memory_need memory_forward(const struct llm *llm,
                                  enum precision precision, uint32_t tp,
                                  double tokens)
{
    assert(llm && tp > 0 && tokens >= 0.0);
    struct memory_need need = { 0 };

    need.weights = memory_weight_bytes(llm, precision) / tp;
    /* Input, output and the widest inner tensor of the layer at work. */
    need.activations = 2.0 * tokens *
                       (2.0 * llm->hidden +
                        (double)llm->ffn_matrices * llm->ffn / tp);
    need.workspace = CONTEXT_BYTES + 4.0 * tokens * llm->vocab / tp +
                     (tp > 1 ? NCCL_BYTES : 0.0);
    need.total = total_of(&need);
    return need;
}

double memory_decode_batch_max(const struct llm *llm,
                               enum precision precision, uint32_t tp,
                               double context_tokens, double gpu_bytes)
{
    assert(llm && context_tokens > 0.0 && gpu_bytes > 0.0);
    struct memory_need none = memory_decode(llm, precision, tp, 0.0, 0.0);
    struct memory_need one = memory_decode(llm, precision, tp, 1.0,
                                           context_tokens);
    double room = SERVE_SHARE * gpu_bytes - none.total;

    return room <= 0.0 ? 0.0 : floor(room / one.kv);
}

double memory_serve_bytes(double gpu_bytes)
{
    assert(gpu_bytes > 0.0);
    return SERVE_SHARE * gpu_bytes;
}

/* A remedy: what a message says, and the keys as it sets them. */
struct step {
    const char *text;
    int zero;                   /* ZeRO stage */
    int recompute;
    bool one_sequence;          /* micro_batch becomes 1 */
    int method;
};

/* Each line keeps what the lines above it changed. */
static const struct step ladder[] = {
    { "zero: 1", 1, RECOMPUTE_NONE, false, TRAIN_FULL },
    { "zero: 2", 2, RECOMPUTE_NONE, false, TRAIN_FULL },
    { "zero: 3", 3, RECOMPUTE_NONE, false, TRAIN_FULL },
    { "zero: 3, recompute: selective", 3, RECOMPUTE_SELECTIVE, false,
      TRAIN_FULL },
    { "zero: 3, recompute: full", 3, RECOMPUTE_FULL, false, TRAIN_FULL },
    { "zero: 3, recompute: full, micro_batch: 1", 3, RECOMPUTE_FULL, true,
      TRAIN_FULL },
    { "method: lora, zero: 3, recompute: full, micro_batch: 1", 3,
      RECOMPUTE_FULL, true, TRAIN_LORA },
    { "method: qlora, zero: 3, recompute: full, micro_batch: 1", 3,
      RECOMPUTE_FULL, true, TRAIN_QLORA },
};

/* A remedy never undoes what a user chose: only milder settings are raised. */
static struct train_shape apply_step(const struct train_shape *shape,
                                     const struct step *step)
{
    assert(shape != NULL && step != NULL);
    struct train_shape out = *shape;

    if (step->zero > out.zero) {
        out.zero = step->zero;
    }
    if (step->recompute > (int)out.recompute) {
        out.recompute = (enum recompute)step->recompute;
    }
    if (step->method > (int)out.method) {
        out.method = (enum train_method)step->method;
    }
    if (step->one_sequence && out.micro_batch > 1.0) {
        out.micro_batch = 1.0;
    }
    return out;
}

/* The first line of the ladder that fits; text NULL: none does. */
struct memory_remedy memory_remedy(const struct train_shape *shape,
                                   uint32_t gpus, double gpu_bytes)
{
    assert(shape && gpu_bytes > 0.0);
    struct memory_remedy remedy = { 0 };
    size_t count = sizeof ladder / sizeof *ladder;

    for (size_t i = 0; i < count; i++) {
        struct train_shape next = apply_step(shape, &ladder[i]);
        if (memory_train(&next, gpus).total <= gpu_bytes) {
            remedy.text = ladder[i].text;
            remedy.shape = next;
            return remedy;
        }
    }
    return remedy;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advise.c - nested loops over layouts, memory first: it is the cheaper law
 * and leaves out most.
 *
 * The laws are those of the simulator, so that advice and simulation cannot
 * disagree; nothing is sampled but the draws of a rollout.  A search costs a
 * few thousand evaluations of two laws, each of them arithmetic alone.  Nothing
 * is kept between calls.
 */
#include "models/advise/advise.h"

#include <assert.h>
#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/jobs/job.h"
#include "models/laws/experts.h"
#include "models/laws/phase.h"
#include "models/laws/rollout.h"
#include "models/laws/train.h"
#include "models/types/gang.h"

/* Tensor parallelism stays inside a node (Narayanan et al. 2021, takeaway
 * 1). */
#define TP_MAX 16u
#define MICRO_BATCH_MAX 64.0
/* Chunks of a stage: 2 or 4 (Narayanan et al. 2021, section 5.3.2). */
#define VP_MAX 4u

/* Memory for the longest sequence, since a single one that does not fit ends
 * the run; and for what shares the GPUs: a frozen copy, and a critic that is
 * trained in the same layout. */
struct memory_need advise_need(const struct advise_task *task,
                               const struct train_shape *shape, uint32_t gpus)
{
    assert(task != NULL && shape != NULL && gpus > 0);
    struct train_shape longest = *shape;
    longest.sequence_tokens *=
        task->longest_tokens / task->law->train.sequence_tokens;
    struct memory_need need = memory_train(&longest, gpus);
    double frozen = task->frozen ? memory_frozen(shape, gpus) : 0.0;
    need.weights += frozen;
    need.total += frozen;
    if (task->beside != NULL) {
        longest.llm = task->beside->llm;
        longest.lora_params = task->beside->lora_params;
        struct memory_need other = memory_train(&longest, gpus);
        need.weights += other.weights;
        need.gradients += other.gradients;
        need.optimizer += other.optimizer;
        need.total += other.weights + other.gradients + other.optimizer;
    }
    return need;
}

double advise_train_s(const struct advise_task *task,
                      const struct train_shape *shape,
                      const struct gang *gang)
{
    assert(task != NULL && shape != NULL && gang != NULL);
    struct phase_law law = *task->law;
    law.train = *shape;
    return phase_seconds(&law, gang, 0.5);
}

/* A layout fits: it is the best so far if it is faster. */
static void try_shape(const struct advise_task *task, const struct gang *gang,
                      const struct train_shape *shape, double bytes,
                      struct advise_layout *best)
{
    assert(bytes > 0.0);
    assert(best != NULL);
    double run_s = advise_train_s(task, shape, gang);
    best->fit_count++;
    if (run_s < best->run_s) {
        best->run_s = run_s;
        best->shape = *shape;
        best->gpu_bytes = bytes;
    }
}

/* Does it fit?  The least need of all is kept, to say what is missing. */
static bool check_memory(const struct advise_task *task, const struct gang *gang,
                         const struct train_shape *shape, struct advise_layout *best,
                         double *bytes)
{
    assert(gang->gpu != NULL);
    assert(bytes != NULL);
    *bytes = advise_need(task, shape, gang->gpus).total;
    best->tried_count++;
    if (*bytes < best->least_bytes) {
        best->least_bytes = *bytes;
        best->least = *shape;
    }
    return *bytes <= gang->gpu->memory_bytes;
}

/* Full recomputing only where nothing milder fits.  True: all milder fit. */
static bool try_recompute(const struct advise_task *task,
                          const struct gang *gang, struct train_shape shape,
                          struct advise_layout *best)
{
    assert(best != NULL);
    static const enum recompute order[] = { RECOMPUTE_NONE,
                                            RECOMPUTE_SELECTIVE,
                                            RECOMPUTE_FULL };
    int fit = 0;
    for (int i = 0; i < 3; i++) {
        double bytes;
        shape.recompute = order[i];
        if (i == 2 && fit > 0)
            break;
        if (!check_memory(task, gang, &shape, best, &bytes))
            continue;
        try_shape(task, gang, &shape, bytes, best);
        fit++;
    }
    return fit == 2;
}

/* Stage 1 costs no time over 0, and 2 none over 1, so that 2 is tried only
 * where 1 leaves something out; stage 3 gathers weights, and is tried besides.
 * With a pipeline stages 2 and 3 do not go (DeepSpeed refuses them). */
static void try_zero(const struct advise_task *task, const struct gang *gang,
                     struct train_shape shape, uint32_t dp,
                     struct advise_layout *best)
{
    assert(dp > 0);
    int most = dp == 1 ? 0 : shape.pp > 1 ? 1 : 3;
    bool all = false;
    for (int zero = dp == 1 ? 0 : 1; zero <= most; zero++) {
        if (zero == 2 && all)
            continue;
        shape.zero = zero;
        all = try_recompute(task, gang, shape, best);
    }
}

/* Micro batches of powers of two, up to the sequences of a rank.  The least
 * memory is needed by 1, so the loop ends at the first that does not fit. */
static void try_micro_batches(const struct advise_task *task,
                              const struct gang *gang,
                              struct train_shape shape,
                              struct advise_layout *best)
{
    assert(shape.tp > 0 && shape.pp > 0);
    assert(best != NULL);
    uint32_t dp = gang->gpus / train_replica_gpus(&shape);
    double most = floor(task->law->sequences / dp + 1e-9);
    for (double mb = 1.0; mb <= most && mb <= MICRO_BATCH_MAX; mb *= 2.0) {
        uint64_t before = best->fit_count;
        /* Interleaving takes micro batches by the depth of the pipeline. */
        if (shape.vp > 1 && fmod(floor(most / mb), shape.pp) != 0.0)
            continue;
        shape.micro_batch = mb;
        try_zero(task, gang, shape, dp, best);
        if (best->fit_count == before)
            break;              /* more sequences only need more memory */
    }
}

/* Experts are divided over powers of two of GPUs that divide both them and
 * the data and context parallel ranks. */
static void try_split(const struct advise_task *task, const struct gang *gang,
                      struct train_shape shape, struct advise_layout *best)
{
    assert(shape.tp > 0);
    assert(gang->gpus > 0);
    uint32_t routed = experts_of(shape.llm).routed;
    uint32_t ranks = gang->gpus / (shape.tp * shape.pp);
    shape.ep = 1;
    try_micro_batches(task, gang, shape, best);
    for (shape.ep = 2; routed > 0 && shape.ep <= ranks; shape.ep *= 2) {
        if (routed % shape.ep == 0 && ranks % shape.ep == 0)
            try_micro_batches(task, gang, shape, best);
    }
}

/* Sequence parallelism moves as many bytes as tensor parallelism without it,
 * and keeps less (Korthikanti et al. 2022, section 4.2.2): it always goes with
 * it.  Chunks of a stage must hold whole layers. */
static void try_stages(const struct advise_task *task, const struct gang *gang,
                       struct train_shape shape, struct advise_layout *best)
{
    assert(shape.tp > 0);
    assert(gang->gpus > 0);
    shape.sequence_parallel = shape.tp > 1;
    for (shape.cp = 1;
         shape.cp == 1 ||
         task->longest_tokens / shape.cp >= ADVISE_CP_TOKENS_MIN;
         shape.cp *= 2)
        for (shape.vp = 1; shape.vp <= (shape.pp > 1 ? VP_MAX : 1);
             shape.vp *= 2)
            if (shape.llm->layers % (shape.pp * shape.vp) == 0 &&
                gang->gpus % train_replica_gpus(&shape) == 0)
                try_split(task, gang, shape, best);
}

/* A model that is no transformer is data parallel: only the micro batch is
 * free, and more than the samples of one GPU are not needed. */
static void try_net(const struct advise_task *task, const struct gang *gang,
                    struct train_shape shape, struct advise_layout *best)
{
    assert(shape.net != NULL);
    double most = ceil(task->law->sequences / gang->gpus - 1e-9);
    for (shape.micro_batch = most;; shape.micro_batch =
                                        ceil(shape.micro_batch / 2.0)) {
        double bytes;
        if (check_memory(task, gang, &shape, best, &bytes))
            try_shape(task, gang, &shape, bytes, best);
        if (shape.micro_batch <= 1.0)
            break;
    }
}

/* tp and pp must divide heads and layers: Megatron refuses others. */
struct advise_layout advise_train(const struct advise_task *task,
                                  const struct gang *gang,
                                  uint32_t gpus_per_node)
{
    assert(task != NULL && task->law->kind == LAW_TRAIN && gang != NULL);
    assert(gang->gpu != NULL && gpus_per_node > 0);
    const struct llm *llm = task->law->train.llm;
    struct advise_layout best = { .run_s = INFINITY,
                                  .least_bytes = INFINITY };
    if (task->law->train.net != NULL) {
        try_net(task, gang, task->law->train, &best);
        return best;
    }
    for (uint32_t tp = 1; tp <= gpus_per_node && tp <= TP_MAX; tp *= 2)
        for (uint32_t pp = 1; pp <= ADVISE_PP_MAX && tp * pp <= gang->gpus;
             pp++) {
            struct train_shape shape = task->law->train;
            shape.tp = tp;
            shape.pp = pp;
            if (llm->heads % tp == 0 && llm->layers % pp == 0)
                try_stages(task, gang, shape, &best);
        }
    return best;
}

/* Bisection: memory rises with the micro batch.  2^20 sequences are beyond any
 * GPU. */
double advise_micro_batch_max(const struct advise_task *task,
                              const struct train_shape *shape, uint32_t gpus,
                              double gpu_bytes)
{
    assert(task != NULL && shape != NULL && gpu_bytes > 0.0);
    double low = 0.0, high = 1048576.0;
    while (high - low > 1.0) {
        struct train_shape next = *shape;
        next.micro_batch = floor((low + high) / 2.0);
        if (advise_need(task, &next, gpus).total <= gpu_bytes)
            low = next.micro_batch;
        else
            high = next.micro_batch;
    }
    return low;
}

/* ---- generation ------------------------------------------------------- */

/* Midpoints of equal parts of [0, 1): the mean over a job's draws. */
#define DRAWS 16

/* A rollout's time depends on its longest response, so the mean over evenly
 * spaced quantiles is taken. */
double advise_phase_s(const struct phase_law *law, const struct gang *gang)
{
    assert(law != NULL && gang != NULL);
    if (law->kind != LAW_ROLLOUT || !phase_can_run(law, gang))
        return phase_seconds(law, gang, 0.5);
    struct rollout_plan plan;
    double sum_s = 0.0;
    rollout_plan_init(&plan, &law->rollout, gang);
    for (int i = 0; i < DRAWS; i++) {
        double u = (i + 0.5) / DRAWS;
        sum_s += 1.0 / phase_rollout_drawn(law, gang, &plan, u).rate_max;
    }
    return sum_s / DRAWS;
}

/* tp must divide the gang and the heads, and leave memory for one response at
 * least. */
struct advise_engine advise_engine(const struct phase_law *law,
                                   double context_tokens,
                                   const struct gang *gang,
                                   uint32_t gpus_per_node)
{
    assert(law != NULL && gang != NULL && gang->gpu != NULL);
    struct advise_engine best = { .run_s = INFINITY };
    struct phase_law next = *law;
    uint32_t *tp = &next.rollout.tp;
    for (*tp = 1; *tp <= gpus_per_node && *tp <= TP_MAX; *tp *= 2) {
        const struct rollout_shape *shape = &next.rollout;
        if (gang->gpus % *tp != 0 || shape->llm->heads % *tp != 0 ||
            memory_decode_batch_max(shape->llm, shape->precision, *tp,
                                    context_tokens,
                                    gang->gpu->memory_bytes) < 1.0)
            continue;
        next.train.tp = *tp;
        double run_s = advise_phase_s(&next, gang);
        if (run_s < best.run_s)
            best = (struct advise_engine){
                .tp = *tp, .run_s = run_s,
                .gpu_bytes = memory_decode(shape->llm, shape->precision, *tp,
                                           1.0, context_tokens).total };
    }
    return best;
}

/* ---- a job of phases -------------------------------------------------- */

/* The longest way through one run; phases that do not run now take none, and
 * those of one role take turns, in their order. */
static double path_s(const struct job_form *form, const double *seconds,
                     uint32_t runs_mask)
{
    assert(form->phase_count <= FORM_PHASES_MAX);
    assert(seconds != NULL);
    double end[FORM_PHASES_MAX], free_s[FORM_ROLES_MAX] = { 0 }, last = 0.0;
    for (uint32_t p = 0; p < form->phase_count; p++) {
        bool runs = runs_mask >> p & 1u;
        double begin = runs ? free_s[form->phase[p].role] : 0.0;
        for (uint32_t q = 0; q < p; q++)
            if (form->phase[p].after_mask >> q & 1u)
                begin = fmax(begin, end[q]);
        end[p] = begin + (runs ? seconds[p] : 0.0);
        if (runs)
            free_s[form->phase[p].role] = end[p];
        last = fmax(last, end[p]);
    }
    return last;
}

/* A phase that runs in every n-th step adds what it lengthens such a step
 * by. */
double advise_form_s(const struct job_form *form, const double *seconds,
                     double runs)
{
    assert(form != NULL && seconds != NULL && runs >= 1.0);
    uint32_t always = 0;
    for (uint32_t p = 0; p < form->phase_count; p++)
        if (form->phase[p].every <= 1)
            always |= 1u << p;
    double each_s = path_s(form, seconds, always), sum_s = runs * each_s;
    for (uint32_t p = 0; p < form->phase_count; p++)
        if (form->phase[p].every > 1)
            sum_s += floor(runs / form->phase[p].every) *
                     (path_s(form, seconds, always | 1u << p) - each_s);
    return sum_s;
}

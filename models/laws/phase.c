/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * phase.c - each law's answer, brought to one form: rate, load, demands.
 *
 * Links are free here: storage and NICs are shared, so what they hold back is
 * the flow network's to say.  Inside rate_max are only what the lease itself
 * owns: its GPUs, its cores, its PCIe slots, and its links when alone.
 */
#include "models/laws/phase.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/comm.h"
#include "models/laws/compute.h"
#include "models/laws/cores.h"
#include "models/laws/experts.h"
#include "models/laws/offload.h"
#include "models/laws/train.h"
#include "models/types/rates.h"

/* Speed of one core over the reference of the loader's constants (EPYC 9B14);
 * 1 where no CPU is known. */
static double core_speed(const struct gang *gang)
{
    assert(gang != NULL);
    return gang->cpu != NULL ? gang->cpu->core_speed : 1.0;
}

/* A lease that asked for no cores has still the ones its processes run on,
 * one for each GPU. */
static double leased_cores(const struct gang *gang)
{
    assert(gang != NULL);
    if (gang->cores > 0)
        return gang->cores;
    return gang->gpus > 0 ? gang->gpus : 1.0;
}

/* Steps in one run of the phase, at least 1. */
static uint32_t repeats_of(const struct phase_law *law)
{
    assert(law != NULL);
    return law->repeats > 0 ? law->repeats : 1;
}

/* Returns runs per second.  A time below a nanosecond, the step of the clock, is none:
 * INFINITY. */
static double rate_of(double seconds)
{
    assert(seconds >= 0.0);
    return seconds < 1e-9 ? INFINITY : 1.0 / seconds;
}

/* GPUs of a trace are a number: nothing can be computed on them. */
static bool can_compute(const struct gang *gang, enum precision precision)
{
    assert(precision < PRECISION_COUNT);
    return gang->gpu != NULL && gang->gpus > 0 &&
           compute_sustained_flops(gang->gpu, precision) > 0.0 &&
           gang->gpu->memory_bps_sustained > 0.0;
}

bool phase_can_run(const struct phase_law *law, const struct gang *gang)
{
    assert(law != NULL && gang != NULL && gang->nodes > 0);
    switch (law->kind) {
    case LAW_TRAIN:
        if (gang->gpus == 0)
            return law->train.net == NULL &&
                   cores_can(gang, law->train.precision);
        return can_compute(gang, law->train.precision) &&
               gang->gpus >= experts_gang(&law->train) &&
               (!law->train.on_host || offload_can(gang));
    case LAW_FORWARD:
        if (gang->gpus == 0)
            return cores_can(gang, law->train.precision);
        return can_compute(gang, law->train.precision);
    case LAW_ROLLOUT:
        if (gang->gpus == 0)
            return cores_can(gang, law->rollout.precision);
        return can_compute(gang, law->rollout.precision) &&
               gang->gpus >= law->rollout.tp;
    default:
        return true;
    }
}

/* What keeps GPUs from computing when they are what sets the pace. */
static const char *find_gpu_bottleneck(const struct step_time *step,
                                       const struct gang *gang, bool on_host)
{
    assert(step->step_s >= 0.0);
    assert(gang != NULL);
    if (on_host && step->optimizer_s > step->compute_s &&
        step->optimizer_s > step->comm_exposed_s)
        return "cpu";
    if (step->comm_exposed_s <= step->compute_s)
        return "gpu";
    if (gang->nodes > 1)
        return "network";
    /* Over PCIe: no NVLink, or GPUs of several NVLink domains. */
    return gang->gpu->nvlink_bps > 0.0 &&
                   gang->intra_bps > comm_pcie_bps(gang) ? "gpu" : "pcie";
}

/* What the lease offers the loader.  Storage is free here: the flow network
 * says what it holds back. */
static struct loader_supply supply_of(const struct phase_law *law,
                                      const struct gang *gang)
{
    assert(law->kind == LAW_TRAIN);
    assert(gang->gpu != NULL && gang->gpus > 0);
    double cores = leased_cores(gang);
    struct loader_supply supply = {
        .storage_bps = FABRIC_UNLIMITED_BPS,
        .cores = cores,
        .core_speed = core_speed(gang),
        .pcie_bps = comm_pcie_bps(gang) > 0.0 ? comm_pcie_bps(gang) : FABRIC_UNLIMITED_BPS,
        .processes = gang->gpus,
        .workers = law->loader_workers,
    };
    if (law->remote)
        supply.pcie_bps *= LOADER_REMOTE_FRACTION;
    if (supply.workers == 0)
        supply.workers = (uint32_t)(cores / gang->gpus);
    return supply;
}

/* Share of what is read that is not in host memory. */
static double missed_share(const struct phase_law *law, const struct gang *gang,
                           double reads)
{
    assert(gang->nodes > 0);
    assert(law->dataset_bytes >= 0.0 && law->cache_bytes >= 0.0);
    if (!(law->dataset_bytes > 0.0))
        return 1.0;
    double cache = law->cache_bytes * (gang->gpus > 0 ? gang->gpus : 1.0) /
                   gang->nodes;

    return loader_miss_fraction(law->cache,
                                reads > 0.0 ? LOADER_ITEMS : LOADER_SHARDS,
                                cache / law->dataset_bytes, gang->nodes);
}

/* Bytes read are those of storage or of local drives; from memory, none. */
static void read_bytes(struct demand_rates *rates,
                       const struct phase_law *law, const struct gang *gang,
                       double bytes, double reads)
{
    assert(bytes >= 0.0 && reads >= 0.0);
    assert(gang->nodes > 0);
    double miss = missed_share(law, gang, reads);

    if (law->from == LOADER_FROM_STORAGE)
        rates->storage_bytes = bytes * miss;
    if (law->from != LOADER_FROM_NVME)
        return;
    rates->nvme_bytes = bytes * miss;
    rates->nvme_reads = reads * miss;
}

/* Returns the seconds of a run that copies from pageable memory add to the GPU's: no
 * stream hides them (PyTorch: non_blocking needs pinned memory). */
static double time_copy(const struct phase_law *law, const struct gang *gang,
                        double items)
{
    assert(items > 0.0);
    if (!law->pageable)
        return 0.0;
    struct loader_supply supply = supply_of(law, gang);
    return items * law->item.gpu_bytes / supply.processes /
           (supply.pcie_bps * LOADER_PAGEABLE_FRACTION);
}

/* Nothing is prepared and nothing computed until the first batch of an epoch by new
 * workers: that is added to whatever sets the pace. */
static void add_restarts(struct phase_plan *plan, const struct phase_law *law,
                         const struct gang *gang, double items)
{
    double before = plan->rate_max;

    if (!(law->epoch_items > 0.0))
        return;
    struct loader_supply supply = supply_of(law, gang);
    double s = items / law->epoch_items *
        loader_restart_s(&law->item, supply.workers, law->worker_start_s,
                         law->sequences / supply.processes, supply.core_speed);
    assert(s >= 0.0 && before > 0.0);
    plan->rate_max = rate_of(1.0 / before + s);
    plan->gpu_rate = rate_of(1.0 / plan->gpu_rate + s);
    plan->feed_rate = rate_of(1.0 / plan->feed_rate + s);
    plan->gpu_busy_fraction *= plan->rate_max / before;
    plan->mfu *= plan->rate_max / before;
    plan->hfu *= plan->rate_max / before;
}

/* A step on GPUs, repeated, fed by the loader of the same lease. */
static struct phase_plan plan_fed(const struct phase_law *law,
                                  const struct gang *gang,
                                  const struct step_time *step)
{
    const struct loader_item *item = &law->item;
    double gpu_s = step->step_s * repeats_of(law);
    double items = law->sequences * repeats_of(law), work_s = gpu_s;
    assert(gpu_s > 0.0 && items > 0.0);
    /* Copies from pageable memory block the GPU: they take its time, and are no work of it. */
    gpu_s += time_copy(law, gang, items);
    struct phase_plan plan = {
        .rate_max = rate_of(gpu_s),
        .gpu_rate = rate_of(gpu_s),
        .feed_rate = INFINITY,
        .gpu_busy_fraction = step->busy_fraction * (work_s / gpu_s),
        .flops = step->flops * repeats_of(law),
        .mfu = step->mfu * (work_s / gpu_s),
        .hfu = step->hfu * (work_s / gpu_s),
        .bottleneck = find_gpu_bottleneck(step, gang, law->train.on_host),
        .rates.network_bytes = step->inter_bytes_per_node * repeats_of(law),
    };
    /* Without a cost of items there is no loader: the GPU alone decides. */
    bool fed = item->core_s > 0.0 || item->storage_bytes > 0.0 ||
               item->gpu_bytes > 0.0;
    if (!fed)
        return plan;
    struct loader_supply supply = supply_of(law, gang);
    struct loader_rate rate = loader_rate(item, &supply, items / gpu_s);
    plan.rates.core_s = items * item->core_s / supply.core_speed;
    read_bytes(&plan.rates, law, gang, items * item->storage_bytes,
               items * item->reads);
    plan.rates.pcie_bytes = items * item->gpu_bytes;
    /* Cores and slots alone: storage is shared with other leases, and its flows say what it
     * gives. */
    enum loader_stage slow = rate.stage_per_s[LOADER_CPU] <
                                     rate.stage_per_s[LOADER_PCIE]
                                 ? LOADER_CPU : LOADER_PCIE;
    plan.feed_rate = rate.stage_per_s[slow] / items;
    plan.feed_bottleneck = loader_stage_name(slow);
    /* The GPU waits for data: its busy fraction and MFU fall by the same factor. */
    if (rate.bottleneck != LOADER_GPU) {
        plan.rate_max = rate.items_per_s / items;
        plan.bottleneck = loader_stage_name(rate.bottleneck);
        plan.gpu_busy_fraction *= rate.busy_fraction[LOADER_GPU];
        plan.mfu *= plan.rate_max * gpu_s;
        plan.hfu *= plan.rate_max * gpu_s;
    }
    add_restarts(&plan, law, gang, items);
    return plan;
}

/* Plans a phase on cores.  They prepare a batch and then compute on it: nothing
 * overlaps, and all cores of the lease are at work. */
static struct phase_plan plan_cores(const struct phase_law *law,
                                    const struct gang *gang, double s,
                                    double flops)
{
    double items = law->kind == LAW_TRAIN ? law->sequences * repeats_of(law) : 0.0;
    double feed_core_s = items * law->item.core_s / core_speed(gang);
    assert(gang->gpus == 0 && gang->cores > 0);
    double all_s = s + feed_core_s / gang->cores;
    struct phase_plan plan = {
        .rate_max = rate_of(all_s),
        .gpu_rate = rate_of(all_s),
        .feed_rate = INFINITY,
        .flops = flops,
        .bottleneck = "cpu",
        .rates.core_s = all_s * gang->cores,
    };

    if (items > 0.0)
        read_bytes(&plan.rates, law, gang, items * law->item.storage_bytes,
                   items * law->item.reads);
    return plan;
}

/* Training, forward passes: one step, repeated, on GPUs or on cores. */
static struct phase_plan plan_train(const struct phase_law *law,
                                    const struct gang *gang)
{
    assert(law->kind == LAW_TRAIN);
    assert(gang != NULL);
    struct step_time step = train_step(&law->train, gang, law->sequences);
    if (gang->gpus == 0)
        return plan_cores(law, gang, step.step_s * repeats_of(law),
                          step.flops * repeats_of(law));
    return plan_fed(law, gang, &step);
}

/* A pass without gradients: where the model is divided, tensor parallel or in stages, as the law
 * says, and else on as few GPUs as hold it. */
static struct step_time time_forward(const struct phase_law *law, const struct gang *gang)
{
    struct train_shape shape = law->train;
    uint32_t parts = shape.net == NULL && shape.tp > 0 && shape.pp > 0
                         ? train_replica_gpus(&shape) : 1;

    assert(shape.llm != NULL);
    if (parts == 1 || gang->gpus == 0 || gang->gpus % parts != 0)
        return forward_step(shape.llm, shape.precision, gang, law->sequences,
                            shape.sequence_tokens);
    shape.micro_batch = fmax(1.0, floor(FORWARD_TOKENS / shape.sequence_tokens));
    return forward_divided_step(&shape, gang, law->sequences);
}

/* A forward pass over the sequences, on GPUs or on cores; data are fed to GPUs by a
 * loader. */
static struct phase_plan plan_forward(const struct phase_law *law,
                                      const struct gang *gang)
{
    assert(law->kind == LAW_FORWARD);
    assert(gang != NULL);
    struct step_time step = time_forward(law, gang);
    if (gang->gpus == 0)
        return plan_cores(law, gang, step.step_s * repeats_of(law),
                          step.flops * repeats_of(law));
    return plan_fed(law, gang, &step);
}

/* MFU counts prefill and decoding, each over its mean context. */
struct phase_plan phase_rollout_drawn(const struct phase_law *law,
                                      const struct gang *gang,
                                      const struct rollout_plan *rollout,
                                      double u)
{
    assert(law != NULL && law->kind == LAW_ROLLOUT && rollout != NULL);
    assert(gang != NULL && u >= 0.0 && u < 1.0);
    const struct rollout_shape *shape = &law->rollout;
    struct rollout_time time = rollout_draw(rollout, u);
    double prompts = shape->responses / fmax(shape->responses_per_prompt, 1.0);
    double response = time.tokens / shape->responses;
    double flops = compute_forward_flops(shape->llm,
                                         prompts * shape->prompt_tokens,
                                         compute_causal_tokens(shape->llm,
                                                               shape->prompt_tokens)) +
                   compute_forward_flops(shape->llm, time.tokens,
                                         compute_attended_tokens(shape->llm,
                                                                 shape->prompt_tokens +
                                                                     response / 2.0));
    if (gang->gpus == 0) {
        struct phase_plan plan = plan_cores(law, gang, time.total_s, flops);
        plan.tail_fraction = time.tail_idle_fraction;
        return plan;
    }
    double peak = gang->gpus * compute_peak_flops(gang->gpu,
                                                  shape->precision);
    double mfu = peak > 0.0 ? flops / (time.total_s * peak) : 0.0;
    return (struct phase_plan){
        .rate_max = rate_of(time.total_s),
        .gpu_busy_fraction = time.busy_fraction,
        .tail_fraction = time.tail_idle_fraction,
        .flops = flops,
        .mfu = mfu,
        .hfu = mfu,
        .bottleneck = "gpu",
    };
}

/* A rollout whose longest response has the quantile u. */
static struct phase_plan plan_rollout(const struct phase_law *law,
                                      const struct gang *gang, double u)
{
    assert(law->kind == LAW_ROLLOUT);
    assert(u >= 0.0 && u < 1.0);
    struct rollout_plan rollout;
    rollout_plan_init(&rollout, &law->rollout, gang);
    return phase_rollout_drawn(law, gang, &rollout, u);
}

/* Preprocessing: all cores of the lease work, and read what memory does not
 * hold. */
static struct phase_plan plan_cpu(const struct phase_law *law,
                                  const struct gang *gang)
{
    assert(law->kind == LAW_CPU);
    assert(law->core_s >= 0.0 && law->storage_bytes >= 0.0);
    double core_s = law->core_s / core_speed(gang);
    struct phase_plan plan = {
        .rate_max = rate_of(core_s / leased_cores(gang)),
        .bottleneck = core_s > 0.0 ? "cpu" : "storage",
        .rates.core_s = core_s,
    };
    read_bytes(&plan.rates, law, gang, law->storage_bytes, law->reads);
    return plan;
}

/* All slots of the lease's fullest node; a CPU lease copies nothing. */
static double node_pcie_bps(const struct gang *gang)
{
    assert(gang->nodes > 0);
    if (gang->gpu == NULL || comm_pcie_bps(gang) <= 0.0)
        return FABRIC_UNLIMITED_BPS;
    return comm_gpus_per_node(gang) * comm_pcie_bps(gang);
}

/* Weights are held in shards: of several nodes each sends its own, and all of
 * them pass a NIC.  The uses are those between two leases, see fabric.h. */
static struct phase_plan plan_sync(const struct phase_law *law,
                                   const struct gang *gang)
{
    double bps = node_pcie_bps(gang);
    bool across = gang->nodes > 1 && gang->inter_bps < bps;
    if (across)
        bps = gang->inter_bps;
    assert(bps > 0.0);
    return (struct phase_plan){
        .rate_max = rate_of(law->bytes / bps),
        .bottleneck = across ? "network" : "pcie",
    };
}

/* Out of the GPUs over their slots; the way to storage is the flow
 * network's. */
static struct phase_plan plan_checkpoint(const struct phase_law *law,
                                         const struct gang *gang)
{
    assert(law->kind == LAW_CHECKPOINT);
    assert(law->storage_bytes >= 0.0);
    double bps = node_pcie_bps(gang) * gang->nodes;
    return (struct phase_plan){
        .rate_max = rate_of(law->storage_bytes / bps),
        .bottleneck = "pcie",
        .rates = { .storage_bytes = law->storage_bytes,
                   .pcie_bytes = gang->gpu != NULL ? law->storage_bytes
                                                   : 0.0 },
    };
}

/* Out of host memory or into it over the slots, and shards of the trainer
 * gathered into those of the engine: each GPU needs its part of a replica. */
static struct phase_plan plan_reload(const struct phase_law *law,
                                     const struct gang *gang)
{
    assert(law->kind == LAW_RELOAD);
    assert(law->bytes >= 0.0 && law->gather_bytes >= 0.0);
    double bps = node_pcie_bps(gang) / comm_gpus_per_node(gang);
    double gather_s = 0.0, across = 0.0;
    if (law->gather_bytes > 0.0 && gang->gpus > law->engine_tp) {
        double part = law->gather_bytes / law->engine_tp;
        gather_s = comm_gang_s(COMM_ALL_GATHER, gang, part);
        across = comm_inter_bytes(COMM_ALL_GATHER, gang, part);
    }
    return (struct phase_plan){
        .rate_max = rate_of(law->seconds + law->bytes / bps + gather_s),
        .bottleneck = across > 0.0 ? "network" : "pcie",
        .rates = { .pcie_bytes = law->bytes * gang->gpus,
                   .network_bytes = across },
    };
}

/* A stated time, on whatever the lease holds. */
static struct phase_plan plan_fixed(const struct phase_law *law,
                                    const struct gang *gang)
{
    assert(gang != NULL);
    bool gpus = gang->gpus > 0;
    return (struct phase_plan){
        .rate_max = rate_of(law->seconds),
        .gpu_busy_fraction = gpus ? 1.0 : 0.0,
        .bottleneck = gpus ? "gpu" : "cpu",
    };
}

struct phase_plan phase_plan(const struct phase_law *law,
                             const struct gang *gang, double u)
{
    assert(law != NULL && gang != NULL && u >= 0.0 && u < 1.0);
    if (!phase_can_run(law, gang))
        return (struct phase_plan){ .bottleneck = "gpu" };
    switch (law->kind) {
    case LAW_TRAIN:
        return plan_train(law, gang);
    case LAW_FORWARD:
        return plan_forward(law, gang);
    case LAW_ROLLOUT:
        return plan_rollout(law, gang, u);
    case LAW_CPU:
        return plan_cpu(law, gang);
    case LAW_SYNC:
        return plan_sync(law, gang);
    case LAW_CHECKPOINT:
        return plan_checkpoint(law, gang);
    case LAW_RELOAD:
        return plan_reload(law, gang);
    case LAW_FIXED:
    case LAW_SERVE:             /* forecast: as long as the service is meant
                                   to be there */
        break;
    }
    return plan_fixed(law, gang);
}

double phase_seconds(const struct phase_law *law, const struct gang *gang,
                     double u)
{
    assert(law != NULL && gang != NULL);
    assert(u >= 0.0 && u < 1.0);
    double rate = phase_plan(law, gang, u).rate_max;
    return rate > 0.0 ? 1.0 / rate : INFINITY;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * service.c - what a service may run on, each with the fewest replicas that
 * keep its promise, in order of cost.
 *
 * Candidates are each GPU type with each division of the model (tp 1, 2, 4, 8),
 * and each processor of the catalogue if the service may run on cores.  Those
 * that cannot hold the model are rows with what is missing; the others are
 * simulated (fewest.h).
 */
#include "experiments/advise/service.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/advise/fewest.h"
#include "experiments/spec/tree.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/laws/compute.h"
#include "models/laws/memory.h"
#include "models/serving/service.h"
#include "models/types/precision.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "workloads/random/arrival.h"
#include "workloads/random/distribution.h"
#include "workloads/requests/services.h"
#include "workloads/source.h"

#define TP_MAX 8u

/* ---- what may be tried -------------------------------------------------- */

/* Returns the tokens of a mean request, prompt and answer. */
static double context_tokens(const struct service_entry *entry)
{
    double tokens = distribution_clamped_mean(&entry->prompt);

    return tokens + (entry->generates ? distribution_clamped_mean(&entry->output) : 0.0);
}

/* Returns the bytes that a GPU lacks to hold its part of one request; 0: it fits. */
static double find_missing(const struct advise_service *service,
                           const struct serve_law *law, double gpu_bytes)
{
    const struct service_entry *entry = service->entry;
    const struct job_form *form = entry->spec.side[SERVE_GPU].form;
    double need = form->role[0].gpu_memory_bytes;

    if (law->llm != NULL && law->kind == SERVE_GENERATE)
        need = memory_decode(law->llm, law->precision, law->tp, 1.0,
                             context_tokens(entry)).total /
               memory_serve_bytes(1.0);
    else if (law->llm != NULL)
        need = memory_forward(law->llm, law->precision, law->tp,
                              context_tokens(entry)).total;
    return fmax(0.0, need - gpu_bytes);
}

/* Do the role's `types:` allow the GPU?  Without types, any. */
static bool is_wanted(const struct role_spec *role,
                      const struct gpu_type *gpu)
{
    for (uint32_t i = 0; i < role->gpu_type_count; i++)
        if (role->gpu_types[i] == gpu->index)
            return true;
    return role->gpu_type_count == 0;
}

/* Sets the cost of a row: USD an hour of all replicas, and for a million
 * answers at the peak rate. */
static void price_row(struct advise_service_row *row, double each_usd_per_h,
                      double per_s)
{
    row->usd_per_h = each_usd_per_h * row->replicas;
    row->usd_per_million = per_s > 0.0 ? row->usd_per_h / per_s / 3600.0 * 1e6
                                       : NAN;
}

/* Adds the row of a GPU type and a division of the model.  What a GPU of it cannot
 * hold is the row's missing_bytes, and nothing is simulated.  Its cost is that of
 * all GPUs of the replicas, by hour. */
static void try_gpus(struct advise_service *service,
                     const struct advise_place *place, uint32_t tp)
{
    const struct serve_side_spec *side = &service->entry->spec.side[SERVE_GPU];
    const struct gpu_type *gpu = place->group->gpu;
    struct advise_replica c = { .service = service, .law = side->law,
                           .side = SERVE_GPU, .gang = advise_gang(place, tp) };
    struct advise_service_row *row = &service->row[service->row_count++];

    c.law.tp = tp;
    *row = (struct advise_service_row){ .name = place->name, .place = place,
                                        .tp = tp };
    row->missing_bytes = find_missing(service, &c.law, gpu->memory_bytes);
    if (row->missing_bytes > 0.0)
        return;
    advise_fewest(&c, place->gpus_max / tp, row);
    price_row(row, place->gpu_usd_per_h * tp, service->peak_per_s);
}

/* Adds the rows of a GPU type, one for each division of the model.  A type that
 * cannot compute in the law's precision is no candidate, and heads must divide
 * by tp. */
static void try_place(struct advise_service *service,
                      const struct advise_place *place)
{
    const struct serve_side_spec *side = &service->entry->spec.side[SERVE_GPU];
    const struct gpu_type *gpu = place->group->gpu;
    bool divides = side->law.kind == SERVE_GENERATE;

    if (!is_wanted(&side->form->role[0], gpu) ||
        !(compute_sustained_flops(gpu, side->law.precision) > 0.0))
        return;
    for (uint32_t tp = 1; tp <= (divides ? TP_MAX : 1); tp *= 2)
        if (tp <= place->node_gpus && tp <= place->gpus_max &&
            (tp == 1 || side->law.llm->heads % tp == 0))
            try_gpus(service, place, tp);
}

/* Adds the row of a processor, with the cores that the service's own form asks for. */
static void try_cores(struct advise_service *service,
                      const struct cpu_type *cpu)
{
    const struct serve_side_spec *side = &service->entry->spec.side[SERVE_CPU];
    const struct role_spec *role = &side->form->role[0];
    const struct price *core = advise_core_price(service->world);
    struct advise_replica c = {
        .service = service, .law = side->law, .side = SERVE_CPU,
        .gang = { .cpu = cpu, .cores = role->cores, .nodes = 1 },
        .host_bytes = (double)role->memory_bytes,
    };
    struct advise_service_row *row = &service->row[service->row_count++];

    *row = (struct advise_service_row){ .name = cpu->name,
                                        .cores = role->cores };
    advise_fewest(&c, service->world->gpus_max, row);
    price_row(row, core != NULL ? core->usd_per_h * role->cores : NAN,
              service->peak_per_s);
}

/* ---- order -------------------------------------------------------------- */

/* Returns INFINITY for a missing value (NAN), so that it comes last in an
 * order. */
static double value_or_infinity(double value)
{
    return isnan(value) ? INFINITY : value;
}

/* For qsort(): rows without replicas last, then by cost, then by name, so that
 * the order is defined. */
static int compare_costs(const void *a, const void *b)
{
    const struct advise_service_row *x = a, *y = b;
    double u = x->replicas ? value_or_infinity(x->usd_per_h) : INFINITY;
    double v = y->replicas ? value_or_infinity(y->usd_per_h) : INFINITY;
    int name = strcmp(x->name, y->name);

    if ((x->replicas == 0) != (y->replicas == 0))
        return x->replicas == 0 ? 1 : -1;
    if (u != v)
        return u < v ? -1 : 1;
    return name != 0 ? name : (int)x->tp - (int)y->tp;
}

/* Orders by p99 of latency.  Rows that answer in no number of replicas have none;
 * these come by cost, as those that are equal. */
static int compare_latencies(const void *a, const void *b)
{
    const struct advise_service_row *x = a, *y = b;

    if (x->replicas != 0 && y->replicas != 0 &&
        x->latency_p99_s < y->latency_p99_s)
        return -1;
    if (x->replicas != 0 && y->replicas != 0 &&
        x->latency_p99_s > y->latency_p99_s)
        return 1;
    return compare_costs(a, b);
}

/* Marks the rows that no other row beats in cost or latency without losing in
 * the other.  Quadratic, for some dozen rows. */
static void mark_front(struct advise_service *service)
{
    for (size_t i = 0; i < service->row_count; i++) {
        struct advise_service_row *row = &service->row[i];

        row->pareto = row->replicas > 0 && isfinite(row->usd_per_h);
        for (size_t k = 0; k < service->row_count && row->pareto; k++) {
            const struct advise_service_row *other = &service->row[k];
            bool better = other->usd_per_h < row->usd_per_h ||
                          other->latency_p99_s < row->latency_p99_s;

            row->pareto = !(other->replicas > 0 && better &&
                            other->usd_per_h <= row->usd_per_h &&
                            other->latency_p99_s <= row->latency_p99_s);
        }
    }
}

/* Without a promise no number of replicas is too few, so that such a service is
 * refused. */
bool advise_service_search(struct advise_service *service, bool by_time,
                           struct err *err)
{
    const struct advise_world *world = service->world;
    const struct service_spec *spec = &service->entry->spec;
    size_t cpus = catalogue_cpu_count(world->catalogue);

    if ((spec->ttft_ns | spec->tpot_ns | spec->latency_ns) == 0)
        return err_set(err, ERR_SCHEMA, conf_pos(service->conf),
                       "slo is missing: without a promise one replica would "
                       "do for service %s", spec->name);
    service->row = arena_alloc(world->arena, 4 * world->place_count + cpus,
                               sizeof *service->row);
    service->row_count = 0;
    for (size_t i = 0; spec->side[SERVE_GPU].form != NULL &&
                       i < world->place_count; i++)
        if (world->place[i].group->gpu != NULL)
            try_place(service, &world->place[i]);
    for (size_t i = 0; spec->side[SERVE_CPU].form != NULL && i < cpus; i++)
        try_cores(service, catalogue_cpu_at(world->catalogue, i));
    mark_front(service);
    qsort(service->row, service->row_count, sizeof *service->row,
          by_time ? compare_latencies : compare_costs);
    return true;
}

/* ---- reading ------------------------------------------------------------ */

/* Returns the highest rate that lasts, in requests/s; 0: requests of a file, which
 * keep their times. */
static double find_peak(const struct service_entry *entry)
{
    const struct arrival *arrival = &entry->arrival;

    if (entry->trace != NULL)
        return 0.0;
    switch (arrival->process) {
    case ARRIVAL_DIURNAL:
        return arrival->rate_per_s * (1.0 + arrival->amplitude);
    case ARRIVAL_BURSTY:
        return fmax(arrival_state_rate(arrival, true),
                    arrival_state_rate(arrival, false));
    case ARRIVAL_SERIES:
        return arrival->peak_per_s;
    case ARRIVAL_FIXED:
        return arrival->every_ns > 0 ? 1e9 / (double)arrival->every_ns : 0.0;
    default:
        return arrival->rate_per_s;
    }
}

size_t advise_services_read(const struct advise_world *world,
                            const char *path, struct advise_service **out,
                            struct err *err)
{
    const struct conf_node *root;
    const struct workload_spec *workload =
        advise_workload_read(world, path, &root, err);
    size_t count;

    if (workload == NULL)
        return 0;
    count = workload_service_count(workload);
    *out = arena_alloc(world->arena, count > 0 ? count : 1, sizeof **out);
    for (size_t i = 0; i < count; i++) {
        const struct service_entry *entry = workload_service(workload,
                                                             (uint32_t)i);
        (*out)[i] = (struct advise_service){
            .world = world, .entry = entry,
            .conf = conf_item(conf_get(root, "services"), i),
            .peak_per_s = find_peak(entry) };
    }
    return count;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advise_service.c - the search: candidates, the fewest replicas of each.
 *
 * More replicas never answer later, so the fewest are found by doubling and
 * halving.  A rate so high that a window of it is millions of requests is
 * divided among as many equal slices, of which one is simulated: dear by what
 * a larger pool of replicas would save.
 */
#include "experiments/advise_service.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/paths.h"
#include "experiments/study_tree.h"
#include "models/catalogue.h"
#include "models/cluster.h"
#include "models/compute.h"
#include "models/memory.h"
#include "models/precision.h"
#include "models/service.h"
#include "sim/arena.h"
#include "sim/clock.h"
#include "sim/conf.h"
#include "sim/loop.h"
#include "workloads/services.h"
#include "workloads/source.h"

#define REQUESTS_LEAST 4000.0   /* of a simulation, so that p99 means much */
#define REQUESTS_MOST 150000.0
#define WINDOW_LATENCIES 100.0  /* as many promised latencies as it lasts: a
                                   queue that grows by 1% of the time of an
                                   answer in each is seen */
#define TP_MAX 8u

/* ---- one candidate ------------------------------------------------------ */

struct candidate {
    const struct advise_service *service;
    struct serve_law law;
    enum serve_side side;
    struct gang gang;           /* of one replica */
    double host_bytes;
    struct service *running;
};

static void start(void *self, uint32_t replica, enum serve_side side)
{
    struct candidate *c = self;

    (void)side;
    service_ready(c->running, replica, &c->gang, c->host_bytes);
}

/* Requests that come, Poisson, at so many a second; of a file, as they do. */
static struct service_entry asked(const struct advise_service *service,
                                  double per_s, double requests)
{
    struct service_entry entry = *service->entry;

    if (entry.trace != NULL || service->peak_per_s <= 0.0)
        return entry;
    entry.arrival = (struct arrival){ .process = ARRIVAL_POISSON,
                                      .rate_per_s = per_s };
    entry.for_ns = clock_ns_for_work(requests / per_s, 1.0);
    return entry;
}

static struct service_spec spec_of(const struct candidate *c,
                                   uint32_t replicas)
{
    static const char form;     /* there must be one; nobody looks at it */
    struct service_spec spec = c->service->entry->spec;

    memset(spec.side, 0, sizeof spec.side);
    spec.side[c->side] = (struct serve_side_spec){
        .form = (const struct job_form *)(const void *)&form, .law = c->law,
        .min = replicas, .max = replicas };
    spec.scaling = (struct serve_scaling){ SERVE_RATE, 1e12,
                                           INT64_C(3600000000000), 0 };
    return spec;
}

static void note(const struct service_result *r, uint32_t replicas,
                 double for_s, struct advise_service_row *row)
{
    double worked = 0.0;

    for (int side = 0; side < SERVE_SIDES; side++)
        worked += r->side[side].busy_s;
    row->replicas = replicas;
    row->attained = r->measured > 0
                        ? (double)r->in_slo / (double)r->measured : 0.0;
    row->ttft_p99_s = quantile_at(r->ttft_q, 0.99);
    row->tpot_p99_s = quantile_at(r->tpot_q, 0.99);
    row->latency_p99_s = quantile_at(r->latency_q, 0.99);
    row->alone_s = r->latency.mean;
    row->busy_fraction = fmin(1.0, worked / replicas / for_s);
}

static void simulate(struct candidate *c, double per_s, double requests,
                     uint32_t replicas, struct advise_service_row *row)
{
    struct arena *arena = arena_new((size_t)1 << 18);
    struct loop *loop =
        loop_new((struct loop_limits){ INT64_MAX, UINT64_MAX, NULL });
    struct service_entry entry = asked(c->service, per_s, requests);
    struct request_source *source = request_source_open(arena, &entry, 1, 0);
    struct service_spec spec = spec_of(c, replicas);
    struct service_ops ops = { .start = start, .self = c };
    struct service_parts parts = { arena, loop, &spec, &ops,
                                   request_source_next, source, 1,
                                   entry.for_ns / 10, NULL };

    c->running = service_new(&parts);
    service_begin(c->running);
    loop_run(loop);
    note(service_close(c->running), replicas,
         clock_s_from_ns(entry.for_ns), row);
    service_free(c->running);
    request_source_close(source);
    loop_free(loop);
    arena_free(arena);
}

/* How long one answer may take, as promised. */
static double promised_s(const struct service_entry *entry)
{
    const struct service_spec *spec = &entry->spec;
    double output = entry->generates ? distribution_mean(&entry->output) : 1;

    if (spec->latency_ns > 0)
        return clock_s_from_ns(spec->latency_ns);
    return clock_s_from_ns(spec->ttft_ns) +
           fmax(1.0, output) * clock_s_from_ns(spec->tpot_ns);
}

struct window { double per_s, requests; uint32_t slices; };

static struct window window_of(const struct advise_service *service)
{
    struct window w = { service->peak_per_s, REQUESTS_LEAST, 1 };
    double lasting = WINDOW_LATENCIES * promised_s(service->entry) *
                     service->peak_per_s;

    w.requests = fmax(w.requests, lasting);
    if (w.requests > REQUESTS_MOST) {
        w.slices = (uint32_t)ceil(w.requests / REQUESTS_MOST);
        w.per_s /= w.slices;
        w.requests = REQUESTS_MOST;
    }
    return w;
}

static bool keeps(const struct advise_service_row *row)
{
    return row->attained >= ADVISE_ATTAINED;
}

/* So many replicas are too few, whatever is promised: full batches of passes
 * would not keep up. */
static uint32_t too_few(const struct candidate *c, double per_s)
{
    uint32_t batch = c->service->entry->spec.batch_max;

    if (c->law.kind == SERVE_GENERATE || !(per_s > 0.0))
        return 0;
    return (uint32_t)fmin(1e6, per_s * serve_batch_s(&c->law, &c->gang,
                                                     batch) / batch);
}

/* The fewest replicas up to `most`, or none: then a request alone. */
static void fewest(struct candidate *c, uint32_t most,
                   struct advise_service_row *row)
{
    struct window w = window_of(c->service);
    struct advise_service_row tried = *row;
    uint32_t low = too_few(c, w.per_s), high;

    row->most = tried.most = most;
    most = most / w.slices > 0 ? most / w.slices : 1;
    high = low + 1 < most ? low + 1 : most;
    for (;; high = 2 * high < most ? 2 * high : most) {
        simulate(c, w.per_s, w.requests, high, &tried);
        if (keeps(&tried) || high == most)
            break;
        low = high;
    }
    if (!keeps(&tried)) {
        simulate(c, 1e-6, 50, 1, &tried);
        tried.replicas = 0;
        *row = tried;
        return;
    }
    *row = tried;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;

        simulate(c, w.per_s, w.requests, middle, &tried);
        if (keeps(&tried)) {
            high = middle;
            *row = tried;
        } else {
            low = middle;
        }
    }
    row->replicas = high * w.slices;
}

/* ---- what may be tried -------------------------------------------------- */

static double context_tokens(const struct service_entry *entry)
{
    double tokens = fmin(distribution_mean(&entry->prompt),
                         entry->prompt.max);

    return tokens + (entry->generates ? fmin(distribution_mean(&entry->output),
                                             entry->output.max) : 0.0);
}

/* Bytes that a GPU lacks to hold its part; 0: it fits. */
static double lacking(const struct advise_service *service,
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

static bool wanted_type(const struct role_spec *role,
                        const struct gpu_type *gpu)
{
    for (uint32_t i = 0; i < role->gpu_type_count; i++)
        if (role->gpu_types[i] == gpu->index)
            return true;
    return role->gpu_type_count == 0;
}

static void price(struct advise_service_row *row, double each_usd_per_h,
                  double per_s)
{
    row->usd_per_h = each_usd_per_h * row->replicas;
    row->usd_per_million = per_s > 0.0 ? row->usd_per_h / per_s / 3600.0 * 1e6
                                       : NAN;
}

static void try_gpus(struct advise_service *service,
                     const struct advise_place *place, uint32_t tp)
{
    const struct serve_side_spec *side = &service->entry->spec.side[SERVE_GPU];
    const struct gpu_type *gpu = place->group->gpu;
    struct candidate c = { .service = service, .law = side->law,
                           .side = SERVE_GPU, .gang = advise_gang(place, tp) };
    struct advise_service_row *row = &service->row[service->row_count++];

    c.law.tp = tp;
    *row = (struct advise_service_row){ .name = place->name, .place = place,
                                        .tp = tp };
    row->missing_bytes = lacking(service, &c.law, gpu->memory_bytes);
    if (row->missing_bytes > 0.0)
        return;
    fewest(&c, place->gpus_max / tp, row);
    price(row, place->gpu_usd_per_h * tp, service->peak_per_s);
}

static void try_place(struct advise_service *service,
                      const struct advise_place *place)
{
    const struct serve_side_spec *side = &service->entry->spec.side[SERVE_GPU];
    const struct gpu_type *gpu = place->group->gpu;
    bool divides = side->law.kind == SERVE_GENERATE;

    if (!wanted_type(&side->form->role[0], gpu) ||
        !(compute_sustained_flops(gpu, side->law.precision) > 0.0))
        return;
    for (uint32_t tp = 1; tp <= (divides ? TP_MAX : 1); tp *= 2)
        if (tp <= place->node_gpus &&
            (tp == 1 || side->law.llm->heads % tp == 0))
            try_gpus(service, place, tp);
}

static void try_cores(struct advise_service *service,
                      const struct cpu_type *cpu)
{
    const struct serve_side_spec *side = &service->entry->spec.side[SERVE_CPU];
    const struct role_spec *role = &side->form->role[0];
    const struct price *core = catalogue_price_of(service->world->catalogue,
                                                  "core", PRICE_ON_DEMAND);
    struct candidate c = {
        .service = service, .law = side->law, .side = SERVE_CPU,
        .gang = { .cpu = cpu, .cores = role->cores, .nodes = 1 },
        .host_bytes = (double)role->memory_bytes,
    };
    struct advise_service_row *row = &service->row[service->row_count++];

    *row = (struct advise_service_row){ .name = cpu->name,
                                        .cores = role->cores };
    fewest(&c, service->world->gpus_max, row);
    price(row, core != NULL ? core->usd_per_h * role->cores : NAN,
          service->peak_per_s);
}

/* ---- order -------------------------------------------------------------- */

static double known(double value)
{
    return isnan(value) ? INFINITY : value;
}

static int by_cost(const void *a, const void *b)
{
    const struct advise_service_row *x = a, *y = b;
    double u = x->replicas ? known(x->usd_per_h) : INFINITY;
    double v = y->replicas ? known(y->usd_per_h) : INFINITY;
    int name = strcmp(x->name, y->name);

    if ((x->replicas == 0) != (y->replicas == 0))
        return x->replicas == 0 ? 1 : -1;
    if (u != v)
        return u < v ? -1 : 1;
    return name != 0 ? name : (int)x->tp - (int)y->tp;
}

static int by_latency(const void *a, const void *b)
{
    const struct advise_service_row *x = a, *y = b;

    if (x->replicas != 0 && y->replicas != 0 &&
        x->latency_p99_s < y->latency_p99_s)
        return -1;
    if (x->replicas != 0 && y->replicas != 0 &&
        x->latency_p99_s > y->latency_p99_s)
        return 1;
    return by_cost(a, b);
}

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

bool advise_service_search(struct advise_service *service, bool by_time,
                           struct err *err)
{
    const struct advise_world *world = service->world;
    const struct service_spec *spec = &service->entry->spec;
    size_t cpus = catalogue_cpu_count(world->catalogue);

    if (spec->ttft_ns + spec->tpot_ns + spec->latency_ns == 0)
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
          by_time ? by_latency : by_cost);
    return true;
}

/* ---- reading ------------------------------------------------------------ */

/* The highest rate that lasts. */
static double peak_of(const struct service_entry *entry)
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
            .peak_per_s = peak_of(entry) };
    }
    return count;
}

/* ---- the first row as an experiment ------------------------------------- */

#define PLAN_REQUESTS_MAX 5e6
#define START_S 300.0           /* replicas are up by then */

static const char *kept_keys(const struct advise_service *service)
{
    static const char *const own[] = { "gpu", "cpu", "replicas",
                                       "cpu_replicas", "requests", "switch",
                                       "scaling" };
    const struct conf_node *conf = service->conf;
    struct arena *arena = service->world->arena;
    const char *text = "";

    for (size_t i = 0; i < conf_count(conf); i++) {
        bool mine = false;

        for (size_t k = 0; k < sizeof own / sizeof own[0]; k++)
            mine = mine || strcmp(conf_key(conf, i), own[k]) == 0;
        if (!mine)
            text = text_format(arena, "%s%s: %s, ", text, conf_key(conf, i),
                               advise_conf_text(arena, conf_value(conf, i)));
    }
    return text;
}

static const char *requests_text(const struct advise_service *service,
                                 double for_s)
{
    struct arena *arena = service->world->arena;
    const struct conf_node *conf = conf_get(service->conf, "requests");
    static const char *const kept[] = { "prompt", "output", "prefix" };
    const char *text = text_format(
        arena, "{arrival: {process: poisson, rate: %.9g/s}, for: %.9gs",
        service->peak_per_s, for_s);

    for (size_t k = 0; k < sizeof kept / sizeof kept[0]; k++)
        if (conf_get(conf, kept[k]) != NULL)
            text = text_format(arena, "%s, %s: %s", text, kept[k],
                               advise_conf_text(arena, conf_get(conf,
                                                                kept[k])));
    return text_format(arena, "%s}", text);
}

static const char *plan_cluster(const struct advise_service *service,
                                const struct advise_service_row *row)
{
    const struct advise_world *world = service->world;

    if (world->cluster != NULL)
        return text_format(world->arena, "cluster: %s\n",
                           advise_conf_text(world->arena, world->cluster));
    if (row->tp > 0)
        return text_format(world->arena, "cluster:\n  nodes:\n%s",
                           advise_nodes_text(world, row->place, "nodes",
                                             row->tp * row->replicas, 16));
    return text_format(world->arena, "cluster: {nodes: [{name: nodes, count: "
                       "%u, cpu: {type: %s}, cores: %u, memory: 256GB, price: "
                       "on-demand}]}\n", row->replicas, row->name,
                       row->cores);
}

char *advise_service_plan(const struct advise_service *service)
{
    struct arena *arena = service->world->arena;
    const struct advise_service_row *row = service->row;
    double window_s = REQUESTS_LEAST * 5.0 / service->peak_per_s;
    const char *replica;

    if (service->row_count == 0 || row->replicas == 0 ||
        !(service->peak_per_s > 0.0) ||
        START_S * service->peak_per_s > PLAN_REQUESTS_MAX)
        return NULL;
    window_s = fmax(window_s, 60.0);
    replica = row->tp > 0
        ? text_format(arena, "gpu: {tp: %u, types: [%s]}", row->tp,
                      row->place->group->gpu->name)
        : text_format(arena, "cpu: {cores: %u}", row->cores);
    return text_format(
        arena, "# Made by `clustersim advise`: one row of its advice.\n"
        "experiment: advice\nseeds: 1\n%sworkload:\n  services:\n"
        "    - {%s%s,\n       replicas: {min: %u, max: %u},\n"
        "       requests: %s}\nwarmup: %gs\nuntil: drained\npolicies: [fcfs]\n"
        "output: {tables: [summary, jobs], plots: []}\n"
        "expect:   # 2%% around what was advised\n"
        "  - {metric: slo_attained_fraction, policy: fcfs, at_least: %.6g}\n",
        plan_cluster(service, row), kept_keys(service), replica,
        row->replicas, row->replicas,
        requests_text(service, START_S + window_s), START_S,
        0.98 * row->attained);
}

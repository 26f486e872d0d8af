/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * services.c - reads `services:`.
 *
 * A side of a service is a form of one role and one phase, made by the same
 * functions as the roles of recipes: so its memory, its place in the cluster
 * and what it loads are checked and known in the same way.
 *
 * Keys without an effect on this kind of service are refused (check_kind() and
 * its like).
 */
#include "workloads/requests/services.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/memory.h"
#include "models/laws/net.h"
#include "models/laws/phase.h"
#include "models/laws/transfer.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/string_set.h"
#include "workloads/random/arrival_read.h"
#include "workloads/random/distribution.h"
#include "workloads/random/distribution_read.h"
#include "workloads/recipes/recipe.h"
#include "workloads/requests/request_trace.h"

/* The keys of a service as they are written; times in ns. */
struct service_keys {
    const char *name, *model, *tenant;
    /* batch: requests; chunk: tokens; queue: requests, 0 without limit */
    int64_t priority, batch, chunk, queue, batch_delay_ns, timeout_ns;
    int64_t kv_tokens;          /* 0: by the memory law */
    int precision, route;       /* enum precision, enum serve_route */
    double cache_share;         /* of the KV cache; 0: no prefixes are kept */
    int64_t aggregate_ns;       /* 0: requests are simulated one by one */
    const struct conf_node *gpu, *cpu, *replicas, *cpu_replicas, *requests,
        *slo, *scaling, *sides, *times;
};
/* The keys of `requests:`; a node that is not written is NULL. for_ns is 0 if
 * it is not given. */
struct requests_keys {
    const struct conf_node *arrival, *prompt, *output, *trace, *prefix;
    int64_t for_ns;
};
/* The keys of `prefix:`. Beginning k of `count` is drawn in proportion to
 * k^-skew. */
struct prefix_keys { int64_t tokens, count; double skew; };
/* The keys of `slo:`; 0: this is not promised. */
struct slo_keys { int64_t ttft_ns, tpot_ns, latency_ns; };

/* The keys of `scaling:` as they are written. */
struct scaling_keys {
    int signal;                 /* enum serve_signal */
    double target;              /* in the unit of the signal */
    int64_t interval_ns, down_ns; /* between two looks; how long replicas stay that
                                     are not needed */
};
/* The keys of `replicas:` and `cpu_replicas:`, numbers of replicas. */
struct replicas_keys { int64_t min, max; };
/* The keys of `switch:`, requests a second. */
struct switch_keys { double cpu_below, gpu_above; };
/* The keys of `times:`: a batch of n requests takes batch + n x request. */
struct times_keys { int64_t batch_ns, request_ns; };

static const char *const route_names[] = {
    "round_robin", "random", "shortest_queue", "least_loaded", "prefix",
    NULL
};
static const char *const signal_names[] = {
    "concurrency", "rate", "utilization", NULL
};

static const struct conf_field service_fields[] = {
    CONF_KEY("name", CONF_TEXT, service_keys, name, CONF_REQUIRED,
             "how results call the service"),
    CONF_KEY("model", CONF_TEXT, service_keys, model, CONF_REQUIRED,
             "LLM, encoder or net of the catalogue"),
    CONF_KEY("precision", CONF_CHOICE, service_keys, precision, "bf16",
             "of weights and activations at work", .choices = precision_choices),
    CONF_KEY("tenant", CONF_TEXT, service_keys, tenant, CONF_ABSENT,
             "whose service this is"),
    CONF_KEY("priority", CONF_INT, service_keys, priority, "0",
             "of its replicas as jobs; larger goes first, under a policy that looks at it "
             "(`explain POLICY`)",
             .min = -1e6, .max = 1e6),
    CONF_KEY("gpu", CONF_NODE, service_keys, gpu, CONF_ABSENT,
             "replicas on GPUs: tp, gpus, types, pool, cores, memory, "
             "precision, async_scheduling"),
    CONF_KEY("cpu", CONF_NODE, service_keys, cpu, CONF_ABSENT,
             "replicas on cores: cores, memory, pool"),
    CONF_KEY("replicas", CONF_NODE, service_keys, replicas, CONF_ABSENT,
             "{min: 1, max: 8} of those on GPUs, or of the only side"),
    CONF_KEY("cpu_replicas", CONF_NODE, service_keys, cpu_replicas,
             CONF_ABSENT, "{min, max} of those on cores, beside gpu"),
    CONF_KEY("requests", CONF_NODE, service_keys, requests, CONF_ABSENT,
             "arrival, prompt, output, for"),
    CONF_KEY("batch", CONF_INT, service_keys, batch, "64",
             "requests at work in a replica at most", .min = 1, .max = 65536),
    CONF_KEY("batch_delay", CONF_TIME, service_keys, batch_delay_ns, "0s",
             "how long a batch of passes waits to fill up", .max = 60),
    CONF_KEY("chunk", CONF_INT, service_keys, chunk, "2048",
             "tokens of prompts computed beside decoding in an iteration "
             "(vLLM: max_num_batched_tokens, 2048); 0: prompts whole, before "
             "decoding", .max = 1e6),
    CONF_KEY("kv_tokens", CONF_INT, service_keys, kv_tokens, CONF_ABSENT,
             "tokens that the KV cache of a replica on GPUs holds, as its engine reports (vLLM: "
             "GPU KV cache size); default: what 0.9 of the memory leaves beside weights and 3.5 GB",
             .min = 16, .max = 1e9),
    CONF_KEY("queue", CONF_INT, service_keys, queue, "0",
             "requests that wait in a replica at most, others are dropped; 0: "
             "no limit", .max = 1e9),
    CONF_KEY("timeout", CONF_TIME, service_keys, timeout_ns, "0s",
             "a request that has waited longer is dropped; 0: never",
             .max = 1e6),
    CONF_KEY("route", CONF_CHOICE, service_keys, route, "shortest_queue",
             "which replica a request goes to", .choices = route_names),
    CONF_KEY("prefix_cache", CONF_FRACTION, service_keys, cache_share, "0",
             "share of the KV cache that keeps beginnings of prompts",
             .max = 0.9),
    CONF_KEY("aggregate", CONF_TIME, service_keys, aggregate_ns, CONF_ABSENT,
             "length of the ticks in which requests are a mass, for volumes that cannot be "
             "simulated one by one; default: one by one",
             .min = 1e-3, .max = 3600),
    CONF_KEY("slo", CONF_NODE, service_keys, slo, CONF_ABSENT,
             "{ttft: 1s, tpot: 50ms, latency: 10s}: what is promised"),
    CONF_KEY("scaling", CONF_NODE, service_keys, scaling, CONF_ABSENT,
             "{signal: concurrency, target: 16, interval: 15s, down: 5min}"),
    CONF_KEY("switch", CONF_NODE, service_keys, sides, CONF_ABSENT,
             "{cpu_below: 100/s, gpu_above: 500/s}: which side serves, at what "
             "rate"),
    CONF_KEY("times", CONF_NODE, service_keys, times, CONF_ABSENT,
             "{batch: 2ms, request: 1ms}: measured, in the place of the law"),
};
const struct conf_schema service_schema =
    CONF_SCHEMA("workload.services[]",
                "a service and its requests", service_fields);

static const struct conf_field requests_fields[] = {
    CONF_KEY("arrival", CONF_NODE, requests_keys, arrival, CONF_ABSENT,
             "when requests arrive, as of jobs"),
    CONF_KEY("trace", CONF_NODE, requests_keys, trace, CONF_ABSENT,
             "requests of a file, in the place of arrival, prompt and output"),
    CONF_KEY("prompt", CONF_NODE, requests_keys, prompt, CONF_ABSENT,
             "tokens of a prompt, a number or a distribution; default: 512"),
    CONF_KEY("output", CONF_NODE, requests_keys, output, CONF_ABSENT,
             "tokens generated, likewise; without it one pass is an answer"),
    CONF_KEY("for", CONF_TIME, requests_keys, for_ns, CONF_ABSENT,
             "requests that arrive before this time; of a trace, all if not "
             "given", .min = 1e-3, .max = 9e9),
    CONF_KEY("prefix", CONF_NODE, requests_keys, prefix, CONF_ABSENT,
             "{tokens: 1000, count: 20, skew: 1}: how prompts begin alike"),
};
const struct conf_schema service_requests_schema =
    CONF_SCHEMA("workload.services[].requests",
                "what is asked", requests_fields);

static const struct conf_field prefix_fields[] = {
    CONF_KEY("tokens", CONF_INT, prefix_keys, tokens, CONF_REQUIRED,
             "of a prompt, the first, that others share", .min = 1, .max = 1e6),
    CONF_KEY("count", CONF_INT, prefix_keys, count, CONF_REQUIRED,
             "different beginnings", .min = 1, .max = 1e6),
    CONF_KEY("skew", CONF_REAL, prefix_keys, skew, "0",
             "the k-th is drawn in proportion to k^-skew (Zipf); 0: all alike",
             .max = 10),
};
const struct conf_schema service_prefix_schema =
    CONF_SCHEMA("workload.services[].requests.prefix",
                "beginnings of prompts", prefix_fields);

static const struct conf_field slo_fields[] = {
    CONF_KEY("ttft", CONF_TIME, slo_keys, ttft_ns, CONF_ABSENT,
             "time to the first token", .min = 1e-6, .max = 1e6),
    CONF_KEY("tpot", CONF_TIME, slo_keys, tpot_ns, CONF_ABSENT,
             "time per token after the first", .min = 1e-6, .max = 1e6),
    CONF_KEY("latency", CONF_TIME, slo_keys, latency_ns, CONF_ABSENT,
             "time to the whole answer", .min = 1e-6, .max = 1e6),
};
const struct conf_schema service_slo_schema =
    CONF_SCHEMA("workload.services[].slo",
                "what is promised; all of it counts", slo_fields);

static const struct conf_field scaling_fields[] = {
    CONF_KEY("signal", CONF_CHOICE, scaling_keys, signal, "concurrency",
             "requests in the service, or a second, or time at work, each per "
             "replica", .choices = signal_names),
    CONF_KEY("target", CONF_REAL, scaling_keys, target, "16",
             "the signal at which replicas are just enough",
             .min = 1e-6, .max = 1e9),
    CONF_KEY("interval", CONF_TIME, scaling_keys, interval_ns, "15s",
             "between two looks (Kubernetes: 15s)", .min = 0.1, .max = 86400),
    CONF_KEY("down", CONF_TIME, scaling_keys, down_ns, "5min",
             "time for which fewer replicas were enough before some go (Kubernetes: "
             "5min)", .max = 864000),
};
const struct conf_schema service_scaling_schema =
    CONF_SCHEMA("workload.services[].scaling",
                "when replicas come and go", scaling_fields);

static const struct conf_field replicas_fields[] = {
    CONF_KEY("min", CONF_INT, replicas_keys, min, "1", "replicas at least",
             .max = 100000),
    CONF_KEY("max", CONF_INT, replicas_keys, max, "1", "replicas at most",
             .min = 1, .max = 100000),
};
const struct conf_schema service_replicas_schema =
    CONF_SCHEMA("workload.services[].replicas",
                "how many replicas", replicas_fields);

static const struct conf_field switch_fields[] = {
    CONF_KEY("cpu_below", CONF_FREQUENCY, switch_keys, cpu_below, "100/s",
             "the replicas on cores serve below this rate"),
    CONF_KEY("gpu_above", CONF_FREQUENCY, switch_keys, gpu_above, "500/s",
             "those on GPUs above this one; between the two nothing changes"),
};
const struct conf_schema service_switch_schema =
    CONF_SCHEMA("workload.services[].switch",
                "which side serves", switch_fields);

static const struct conf_field times_fields[] = {
    CONF_KEY("batch", CONF_TIME, times_keys, batch_ns, "0s",
             "of a batch, whatever its size", .max = 3600),
    CONF_KEY("request", CONF_TIME, times_keys, request_ns, "0s",
             "more for each request in it", .max = 3600),
};
const struct conf_schema service_times_schema =
    CONF_SCHEMA("workload.services[].times",
                "measured times of a batch", times_fields);

/* ---- reading ----------------------------------------------------------- */

/* A service that is being read. */
struct service_draft {
    const struct world *world;  /* where it must be able to run */
    const struct conf_node *conf; /* its mapping, for places of errors */
    struct service_keys keys;   /* as written */
    const struct llm *llm;      /* or: */
    const struct net *net;
    struct service_entry *out;  /* what is read, piece by piece */
};

/* Reads a distribution of numbers of tokens.  One that can draw a value below 0
 * is refused, unless its `min` prevents that.  `key` names it in errors. */
static bool read_tokens(const struct world *world,
                        const struct conf_node *node, const char *key,
                        struct distribution *out)
{
    if (!distribution_read_as(world->arena, node, key, CONF_REAL, out,
                              world->err))
        return false;
    if (distribution_least(out) >= 0.0 || out->min >= 0.0)
        return true;
    return err_set(world->err, ERR_RANGE, conf_pos(node),
                   "%s must not draw numbers of tokens below 0", key);
}

/* A distribution that always gives this value. */
static struct distribution make_constant(double value)
{
    return (struct distribution){.kind = DISTRIBUTION_CONSTANT, .a = value,
                                 .min = -INFINITY, .max = INFINITY};
}

/* Reads `trace:`, which has arrivals and lengths itself: keys of drawn requests
 * beside it are an error.  The means of its lengths stand for distributions
 * where the memory of a replica is computed.  Without `for`, the service ends 1
 * ns after its last request. */
static bool read_request_trace(struct service_draft *d,
                               const struct requests_keys *keys)
{
    const struct world *world = d->world;
    struct service_entry *e = d->out;

    if (keys->arrival != NULL || keys->prompt != NULL || keys->output != NULL ||
        keys->prefix != NULL)
        return err_set(world->err, ERR_SCHEMA, conf_pos(keys->trace),
                       "trace takes the place of arrival, prompt, output and "
                       "prefix");
    e->trace = request_trace_read(world->arena, keys->trace, world->err);
    if (e->trace == NULL)
        return false;
    struct request_trace_facts facts = request_trace_facts(e->trace);
    e->for_ns = keys->for_ns > 0 ? keys->for_ns : clock_after(facts.span_ns, 1);
    e->prompt = make_constant(fmax(1.0, facts.prompt_mean));
    e->output = make_constant(fmax(1.0, facts.output_mean));
    e->generates = true;
    return true;
}

/* Reads `prefix:`. prefix_below[k] is the sum of the weights 0 to k, in which a
 * draw is found by bisection.  Weights are those of Zipf's law: (k + 1)^-skew. */
static bool read_prefix(const struct world *world,
                        const struct conf_node *conf,
                        struct service_entry *e)
{
    struct prefix_keys keys = {0};
    double sum = 0.0;

    if (!conf_fill(conf, &service_prefix_schema, &keys, world->err))
        return false;
    e->prefix_tokens = (uint32_t)keys.tokens;
    e->prefix_count = (uint32_t)keys.count;
    e->prefix_below = arena_alloc(world->arena, e->prefix_count,
                                  sizeof *e->prefix_below);
    for (uint32_t k = 0; k < e->prefix_count; k++)
        e->prefix_below[k] = sum += pow(k + 1.0, -keys.skew);
    return true;
}

/* A prefix is a part of its prompt, so it may not be longer than the longest
 * prompt.  Prompts of a distribution without a bound may have any length. */
static bool check_prefix(const struct world *world, const struct conf_node *prefix,
                         const struct service_entry *e)
{
    double most = fmax(1.0, distribution_most(&e->prompt));     /* no prompt is empty */

    assert(e->prefix_count > 0 || prefix == NULL);
    if (prefix == NULL || e->prefix_tokens <= most)
        return true;
    err_set(world->err, ERR_RANGE, conf_pos(conf_get(prefix, "tokens")),
            "tokens of prefix must be at most those of the longest prompt, found %u and %.10g",
            e->prefix_tokens, most);
    return err_hint(world->err, "Lengthen `prompt`, or shorten the prefix.");
}

/* Reads `requests:`. Drawn requests need arrivals and an end; a trace has both
 * itself.  Prompts have 512 tokens if nothing is said.  A service without
 * `output` answers in one pass. */
static bool read_requests(struct service_draft *d)
{
    const struct world *world = d->world;
    struct requests_keys keys = {0};
    struct service_entry *e = d->out;

    if (d->keys.requests == NULL)
        return err_set(world->err, ERR_SCHEMA, conf_pos(d->conf),
                       "requests is missing: {arrival: ..., for: ...}");
    if (!conf_fill(d->keys.requests, &service_requests_schema, &keys,
                   world->err))
        return false;
    if (keys.trace != NULL)
        return read_request_trace(d, &keys);
    if (keys.arrival == NULL || keys.for_ns == 0)
        return err_set(world->err, ERR_SCHEMA, conf_pos(d->keys.requests),
                       "requests must have arrival and for, or trace; %s is "
                       "missing", keys.arrival == NULL ? "arrival" : "for");
    if (!arrival_read(world->arena, keys.arrival, &e->arrival, world->err))
        return false;
    e->for_ns = keys.for_ns;
    if (keys.prefix != NULL && !read_prefix(world, keys.prefix, e))
        return false;
    e->prompt = make_constant(512);
    if (keys.prompt != NULL &&
        !read_tokens(world, keys.prompt, "prompt", &e->prompt))
        return false;
    if (!check_prefix(world, keys.prefix, e))
        return false;
    e->generates = keys.output != NULL;
    return keys.output == NULL ||
           read_tokens(world, keys.output, "output", &e->output);
}

/* Mean of what is drawn, at least 1 token.  A distribution without a finite
 * mean (Pareto with shape 1 or less) counts as 1. */
static double mean_tokens(const struct distribution *d)
{
    double mean = distribution_clamped_mean(d);

    return isfinite(mean) && mean >= 1.0 ? mean : 1.0;
}

/* Fills the law by which a replica computes.  `tp` is the number of GPUs of a
 * replica.  Measured `times:` replace the laws of the roofline. */
static void fill_law(const struct service_draft *d, enum precision precision,
                     uint32_t tp, struct serve_law *law,
                     const struct times_keys *times)
{
    *law = (struct serve_law){
        .kind = d->out->generates ? SERVE_GENERATE : SERVE_ENCODE,
        .llm = d->llm, .net = d->net, .precision = precision, .tp = tp,
        .prompt_tokens = mean_tokens(&d->out->prompt),
        .kv_tokens = (double)d->keys.kv_tokens,
    };
    if (d->keys.times == NULL)
        return;
    law->kind = SERVE_FIXED;
    law->batch_s = clock_s_from_ns(times->batch_ns);
    law->request_s = clock_s_from_ns(times->request_ns);
}

/* Begins the form of a side: a draft as recipes use it, which draft_*() then
 * fill.  The form lies in the arena of the world. */
static struct draft make_form_draft(const struct service_draft *d)
{
    struct draft draft = {
        .world = d->world, .conf = d->conf, .llm = d->llm,
        .net = d->net,
        .keys = {.name = d->keys.name, .precision = d->keys.precision},
    };

    draft.form = arena_alloc(d->world->arena, 1, sizeof *draft.form);
    draft.form->name = d->keys.name;
    draft.form->recipe = "serve";
    return draft;
}

/* One phase: to serve, forecast as long as the service is there.  The forecast
 * is what policies see of it. */
static void add_phase(const struct service_draft *d, struct draft *draft,
                      uint32_t role)
{
    struct phase_law law = {
        .kind = LAW_SERVE, .seconds = clock_s_from_ns(d->out->for_ns),
    };

    draft_phase(draft, PHASE_SERVE, "serve", role, 0, &law);
}

/* Notes whether the side's map says what a new replica takes to start. */
static void note_start(struct service_draft *d, enum serve_side side,
                       const struct conf_node *map)
{
    d->out->start_said[side] = conf_kind(map) == CONF_MAP &&
                               conf_get(map, "process_start") != NULL;
}

/* Reads the side on GPUs; without `gpu:` the side stays empty.  A replica is
 * one copy of the model on tp GPUs, so a role with more GPUs is an error: more
 * GPUs are more replicas.  Memory is checked for a request of mean length. */
static bool read_gpu(struct service_draft *d, const struct times_keys *times)
{
    struct serve_side_spec *side = &d->out->spec.side[SERVE_GPU];
    double context = mean_tokens(&d->out->prompt) +
                     (d->out->generates ? mean_tokens(&d->out->output) : 0);
    struct rollout_shape shape = {.llm = d->llm};
    struct draft draft = make_form_draft(d);
    uint32_t role;

    if (d->keys.gpu == NULL)
        return true;
    if (d->net != NULL
            ? !draft_net_role(&draft, d->keys.gpu, (double)d->keys.batch,
                              &shape, &role)
            : !draft_engine_role(&draft, "gpu", d->keys.gpu, context,
                                 START_PROCESS, &shape, &role))
        return false;
    const struct role_spec *spec = &draft.form->role[role];
    if (spec->gpus_min != shape.tp || spec->gpus_max != shape.tp)
        return err_set(d->world->err, ERR_RANGE, conf_pos(d->keys.gpu),
                       "a replica of %s has tp GPUs, %u; found %u to %u. More "
                       "are more replicas", d->keys.name, shape.tp,
                       spec->gpus_min, spec->gpus_max);
    note_start(d, SERVE_GPU, d->keys.gpu);
    add_phase(d, &draft, role);
    fill_law(d, shape.precision, shape.tp, &side->law, times);
    side->law.ahead = shape.ahead;
    d->out->ahead_said = conf_get(d->keys.gpu, "async_scheduling") != NULL;
    side->form = draft.form;
    return true;
}

/* Reads the side on cores; without `cpu:` the side stays empty.  16 cores if
 * nothing is said, of one node.  Its host memory must hold the weights, which are loaded
 * as on GPUs. */
static bool read_cpu(struct service_draft *d, const struct times_keys *times)
{
    struct serve_side_spec *side = &d->out->spec.side[SERVE_CPU];
    struct draft draft = make_form_draft(d);
    double weights;
    uint32_t role;

    if (d->keys.cpu == NULL)
        return true;
    if (!draft_data_role(&draft, d->keys.cpu, 16, transfer_start_s(TRANSFER_START_CORES),
                         &role))
        return false;
    struct role_spec *spec = &draft.form->role[role];
    spec->name = "cpu";
    weights = d->net != NULL
                  ? net_weight_bytes(d->net,
                                     (enum precision)d->keys.precision)
                  : memory_weight_bytes(d->llm,
                                        (enum precision)d->keys.precision);
    if ((double)spec->memory_bytes < weights)
        return err_set(d->world->err, ERR_RANGE, conf_pos(d->keys.cpu),
                       "a replica of %s on cores needs %.3gGB of memory for "
                       "its weights, and has %.3gGB", d->keys.name,
                       weights / 1e9, (double)spec->memory_bytes / 1e9);
    spec->on_cores = (struct role_cores){
        .cores = spec->cores, .memory_bytes = spec->memory_bytes, .load_bytes = weights,
        .start_s = spec->start_s, .wake_s = spec->wake_s,
    };
    spec->load_bytes = weights;
    note_start(d, SERVE_CPU, d->keys.cpu);
    add_phase(d, &draft, role);
    fill_law(d, (enum precision)d->keys.precision, 1, &side->law, times);
    side->form = draft.form;
    return true;
}

/* Reads the bounds of one side, 1 to 1 if nothing is said.  A side without a
 * form is not there, and keeps 0 to 0. */
static bool read_replicas(const struct service_draft *d,
                          const struct conf_node *conf,
                          struct serve_side_spec *side)
{
    struct replicas_keys keys = {1, 1};

    if (side->form == NULL)
        return true;
    if (conf != NULL && !conf_fill(conf, &service_replicas_schema, &keys,
                                   d->world->err))
        return false;
    side->min = (uint32_t)keys.min;
    side->max = (uint32_t)keys.max;
    if (keys.min <= keys.max)
        return true;
    return err_set(d->world->err, ERR_RANGE, conf_pos(conf),
                   "replicas must have min <= max, found %lld and %lld",
                   (long long)keys.min, (long long)keys.max);
}

/* Reads both sides, of which one at least must be there.  `replicas` is of the
 * side on GPUs if both are there, else of the only one; `cpu_replicas` needs
 * both.  `times` are of answers in one pass: they do not say how long a token
 * takes. */
static bool read_sides(struct service_draft *d)
{
    struct service_spec *spec = &d->out->spec;
    struct times_keys times = {0};
    bool both = d->keys.gpu != NULL && d->keys.cpu != NULL;

    if (d->keys.gpu == NULL && d->keys.cpu == NULL)
        return err_set(d->world->err, ERR_SCHEMA, conf_pos(d->conf),
                       "gpu or cpu is missing: what a replica of %s runs on",
                       d->keys.name);
    if (!both && d->keys.cpu_replicas != NULL)
        return err_set(d->world->err, ERR_SCHEMA,
                       conf_pos(d->keys.cpu_replicas),
                       "cpu_replicas has no meaning without both gpu and cpu; "
                       "use replicas");
    if (d->keys.times != NULL &&
        !conf_fill(d->keys.times, &service_times_schema, &times,
                   d->world->err))
        return false;
    if (d->keys.times != NULL && (d->out->generates ||
                                  (times.batch_ns | times.request_ns) == 0))
        return err_set(d->world->err, ERR_SCHEMA, conf_pos(d->keys.times),
                       d->out->generates
                           ? "times have no meaning beside output"
                           : "times must not both be 0");
    return read_gpu(d, &times) && read_cpu(d, &times) &&
           read_replicas(d, d->keys.replicas, &spec->side[SERVE_GPU]) &&
           read_replicas(d, both ? d->keys.cpu_replicas : d->keys.replicas,
                         &spec->side[SERVE_CPU]);
}

/* Returns where the file says how many replicas are wanted: the first of the
 * keys that scaling goes by.  file NULL: it says nothing. */
static struct err_pos find_sizing(const struct conf_node *scaling)
{
    static const char *const keys[] = { "signal", "target", "down" };

    for (size_t i = 0; scaling != NULL && i < sizeof keys / sizeof keys[0]; i++)
        if (conf_get(scaling, keys[i]) != NULL)
            return conf_pos(conf_get(scaling, keys[i]));
    return (struct err_pos){ NULL, 0, 0 };
}

/* Reads promises, scaling, and the rates at which sides switch.  Scaling and
 * switching have defaults, which an empty mapping gives.  The side changes to
 * GPUs above one rate and back to cores below another; the second must not be
 * larger, or it would never rest. */
static bool read_rules(struct service_draft *d)
{
    struct service_spec *spec = &d->out->spec;
    struct slo_keys slo = {0};
    struct scaling_keys scaling = {0};
    struct switch_keys sides = {0};
    struct err *err = d->world->err;
    const struct conf_node *empty = conf_parse(d->world->arena,
        conf_pos(d->conf).file, "{}", 2, err);

    if (empty == NULL ||
        (d->keys.slo != NULL &&
         !conf_fill(d->keys.slo, &service_slo_schema, &slo, err)) ||
        !conf_fill(d->keys.scaling ? d->keys.scaling : empty,
                   &service_scaling_schema, &scaling, err) ||
        !conf_fill(d->keys.sides ? d->keys.sides : empty,
                   &service_switch_schema, &sides, err))
        return false;
    spec->ttft_ns = slo.ttft_ns;
    spec->tpot_ns = slo.tpot_ns;
    spec->latency_ns = slo.latency_ns;
    spec->scaling = (struct serve_scaling){
        (enum serve_signal)scaling.signal, scaling.target,
        scaling.interval_ns, scaling.down_ns
    };
    d->out->sized_at = find_sizing(d->keys.scaling);
    spec->cpu_below_per_s = sides.cpu_below;
    spec->gpu_above_per_s = sides.gpu_above;
    if (sides.cpu_below <= sides.gpu_above)
        return true;
    return err_set(err, ERR_RANGE, conf_pos(d->keys.sides),
                   "switch must have cpu_below <= gpu_above");
}

/* Finds the model: a net of the catalogue, else an LLM or encoder.  The pass of
 * a net takes no tokens, so `output` and `trace` are refused for it. */
static bool read_model(const struct draft *named, struct service_draft *d)
{
    const struct conf_node *requests = d->keys.requests;

    d->net = catalogue_net(d->world->catalogue, d->keys.model);
    if (d->net == NULL)
        return draft_model(named, "model", d->keys.model, &d->llm);
    if (requests == NULL || conf_kind(requests) != CONF_MAP ||
        (conf_get(requests, "output") == NULL &&
         conf_get(requests, "trace") == NULL))
        return true;
    return err_set(d->world->err, ERR_SCHEMA, conf_pos(requests),
                   "requests of %s have neither output nor trace: %s answers "
                   "in one pass", d->keys.name, d->keys.model);
}

/* With `aggregate` requests are counted, not simulated one by one.  What needs
 * single requests is refused with it: traces, fixed times, prefixes, measured
 * generation. */
static bool check_aggregate(const struct service_draft *d)
{
    const struct service_entry *e = d->out;
    const char *what = NULL;

    if (d->keys.aggregate_ns == 0)
        return true;
    if (e->trace != NULL)
        what = "requests of a trace, which are single ones";
    else if (e->arrival.process == ARRIVAL_FIXED ||
             e->arrival.process == ARRIVAL_ALL_AT_ONCE)
        what = "arrivals at fixed times";
    else if (e->prefix_count > 0 || d->keys.cache_share > 0.0)
        what = "prefixes";
    else if (d->keys.times != NULL && e->generates)
        what = "measured times of generation";
    if (what == NULL)
        return true;
    return err_set(d->world->err, ERR_SCHEMA,
                   conf_pos(conf_get(d->conf, "aggregate")),
                   "aggregate has no meaning with %s", what);
}

#define ONE_PASS "needs `output` or a trace in requests: here one pass answers"

/* Refuses keys that would have no effect on a service of this kind: one that
 * generates or answers in one pass, of single requests or of a mass of them. */
static bool check_kind(const struct service_draft *d)
{
    const struct service_entry *e = d->out;
    const struct conf_node *requests = d->keys.requests;
    struct err *err = d->world->err;
    bool mass = d->keys.aggregate_ns > 0, passes = !e->generates;
    bool cache = d->keys.cache_share > 0.0;
    bool cache_said = conf_get(d->conf, "prefix_cache") != NULL;

    return conf_acts(d->conf, "chunk", passes, ONE_PASS, err) &&
           conf_acts(d->conf, "chunk", mass, "needs single requests, without "
                     "`aggregate`", err) &&
           conf_acts(d->conf, "kv_tokens", passes, ONE_PASS, err) &&
           conf_acts(d->conf, "kv_tokens", d->keys.gpu == NULL, "needs replicas on GPUs, `gpu`",
                     err) &&
           conf_acts(d->conf, "route", mass, "needs single requests, without "
                     "`aggregate`", err) &&
           conf_acts(d->conf, "route", d->keys.route == SERVE_PREFIX && !cache_said,
                     "needs `prefix_cache` where it is prefix", err) &&
           conf_acts(d->conf, "prefix_cache", cache && passes, ONE_PASS, err) &&
           conf_acts(d->conf, "prefix_cache", cache && e->trace == NULL &&
                     e->prefix_count == 0, "needs `prefix` or a trace in "
                     "requests", err) &&
           conf_acts(requests, "prefix", passes, ONE_PASS, err) &&
           conf_acts(requests, "prefix", !cache_said, "needs `prefix_cache`, the "
                     "share of memory that keeps them", err) &&
           conf_acts(requests, "prompt", d->net != NULL, "needs an LLM or "
                     "encoder: passes of a net take no tokens", err) &&
           conf_acts(d->keys.slo, "tpot", passes, ONE_PASS, err) &&
           conf_acts(d->keys.gpu, "async_scheduling", passes, ONE_PASS, err) &&
           conf_acts(d->conf, "batch_delay", d->keys.batch_delay_ns > 0 &&
                     e->generates, "needs requests without `output`, which are "
                     "answered in one pass", err);
}

/* Refuses keys that need both sides, or replicas that can come and go, or a
 * role that other recipes have. */
static bool check_sides(const struct service_draft *d)
{
    struct err *err = d->world->err;
    const struct conf_node *tp =
        d->keys.gpu != NULL ? conf_get(d->keys.gpu, "tp") : NULL;
    bool split = tp != NULL && strcmp(conf_text(tp), "1") != 0;

    return conf_acts(d->conf, "switch", d->keys.gpu == NULL ||
                     d->keys.cpu == NULL, "needs both gpu and cpu", err) &&
           conf_acts(d->conf, "scaling", d->keys.replicas == NULL &&
                     d->keys.cpu_replicas == NULL, "needs `replicas`: there is "
                     "one, always", err) &&
           conf_acts(d->keys.gpu, "start", true, "needs a role that comes back "
                     "to its lease: each replica is a new process", err) &&
           conf_acts(d->keys.gpu, "concurrency", true, "is of rollouts: here "
                     "`batch` says how many requests are at work", err) &&
           conf_acts(d->keys.gpu, "tp", split && d->net != NULL, "needs an LLM or "
                     "encoder: a net is not split", err);
}

/* With `aggregate` the autoscaler sees arrivals and busy time by whole ticks,
 * so a tick must divide its interval.  Services whose replicas never change
 * need not heed it. */
static bool check_ticks(const struct service_draft *d)
{
    const struct service_spec *spec = &d->out->spec;
    const struct serve_side_spec *gpu = &spec->side[SERVE_GPU], *cpu = &spec->side[SERVE_CPU];
    bool moves = gpu->min < gpu->max || cpu->min < cpu->max ||
                 (gpu->form != NULL && cpu->form != NULL);

    assert(spec->scaling.interval_ns > 0);
    if (spec->aggregate_ns == 0 || !moves ||
        spec->scaling.interval_ns % spec->aggregate_ns == 0)
        return true;
    err_set(d->world->err, ERR_RANGE, conf_pos(conf_get(d->conf, "aggregate")),
            "aggregate must divide the interval of scaling, %.10gs, into whole ticks; found %.10gs",
            clock_s_from_ns(spec->scaling.interval_ns), clock_s_from_ns(spec->aggregate_ns));
    return err_hint(d->world->err, "Take ticks of 1s, or an interval that is a multiple.");
}

/* Reads one service.  Order: the model and the requests first, since the memory
 * of a replica depends on both; checks last, when all is known. */
static bool read_service(const struct world *world,
                         const struct conf_node *conf,
                         struct service_entry *out)
{
    struct service_draft d = {.world = world, .conf = conf, .out = out};
    struct service_spec *spec = &out->spec;
    struct draft named = {.world = world, .conf = conf};

    if (!conf_fill(conf, &service_schema, &d.keys, world->err) ||
        !read_model(&named, &d))
        return false;
    spec->name = d.keys.name;
    spec->route = (enum serve_route)d.keys.route;
    spec->batch_max = (uint32_t)d.keys.batch;
    spec->chunk_tokens = (uint32_t)d.keys.chunk;
    spec->cache_share = d.keys.cache_share;
    spec->aggregate_ns = d.keys.aggregate_ns;
    spec->batch_delay_ns = d.keys.batch_delay_ns;
    spec->queue_max = (uint32_t)d.keys.queue;
    spec->timeout_ns = d.keys.timeout_ns;
    spec->tenant = d.keys.tenant;
    spec->priority = (int32_t)d.keys.priority;
    return read_requests(&d) && check_aggregate(&d) && read_sides(&d) &&
           read_rules(&d) && check_kind(&d) && check_sides(&d) && check_ticks(&d);
}

/* Sorts by name, so that the order of the file does not matter.  Insertion
 * sort: services are few. */
static void sort_services(struct service_entry *entry, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct service_entry moved = entry[i];
        size_t j = i;

        for (; j > 0 && string_set_order(moved.spec.name,
                                         entry[j - 1].spec.name) < 0; j--)
            entry[j] = entry[j - 1];
        entry[j] = moved;
    }
}

/* Reads the services; names must differ, as streams of random numbers are
 * named by them.  The list is sorted by name. */
struct service_entry *services_read(const struct world *world,
                                    const struct conf_node *list,
                                    size_t *count)
{
    struct service_entry *entry;

    *count = conf_kind(list) == CONF_LIST ? conf_count(list) : 0;
    if (*count == 0) {
        err_set(world->err, ERR_SCHEMA, conf_pos(list),
                "services must be a list such as [{name: chat, ...}]");
        return NULL;
    }
    entry = arena_alloc(world->arena, *count, sizeof *entry);
    for (size_t i = 0; i < *count; i++) {
        if (!read_service(world, conf_item(list, i), &entry[i]))
            return NULL;
        for (size_t j = 0; j < i; j++)
            if (strcmp(entry[i].spec.name, entry[j].spec.name) == 0) {
                err_set(world->err, ERR_SCHEMA, conf_pos(conf_item(list, i)),
                        "two services are called %s", entry[i].spec.name);
                return NULL;
            }
    }
    sort_services(entry, *count);
    return entry;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe_parts.c - what recipes share: keys of roles, roles, phases.
 *
 * Assumptions, each a key that a workload may set: a GPU role takes
 * CORES_PER_GPU cores per GPU (claim D3 asks for 4 below 7B parameters, 8
 * from 13B; 6 lies between) and host memory for its process and its parked
 * state; sequences are packed, so that time follows the mean length, while
 * memory must hold the longest.
 */
#include "workloads/recipe.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/catalogue.h"
#include "models/experts.h"
#include "models/net.h"
#include "models/cluster.h"
#include "models/transfer.h"
#include "sim/arena.h"

#define PARTS_MAX 100.0         /* of a response: what a plan sums over */
#define STEPS_MAX 1e9          /* of a job; what source.c makes at most */
#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

#define CORES_PER_GPU       6       /* assumption, see above */
#define HOST_BYTES_PER_GPU  16e9    /* assumption: process, pinned buffers */
#define HOST_BYTES_PER_CORE 2e9     /* assumption: one worker, its batches */

static const char *const numa_choices[] = {"local", "remote", NULL};
static const char *const send_choices[] = {"copy", "zero-copy", NULL};
static const char *const start_choices[] = {"process", "wake", NULL};
static const char *const reward_choices[] = {"cpu", "gpu", NULL};

#define ROLE(NAME, TYPE, MEMBER, MIN, MAX, CHOICES, HELP) \
    {NAME, TYPE, offsetof(struct role_keys, MEMBER), MIN, MAX, CONF_ABSENT, \
     CHOICES, HELP}
#define ROLE_GPUS \
    ROLE("gpus", CONF_INT, gpus, 1, ROLE_GPUS_MAX, NULL, \
         "GPUs the owner would like"), \
    ROLE("min", CONF_INT, min, 1, ROLE_GPUS_MAX, NULL, \
         "fewest GPUs it runs on; default: gpus"), \
    ROLE("max", CONF_INT, max, 1, ROLE_GPUS_MAX, NULL, \
         "most GPUs it can use; default: gpus")
#define ROLE_PLACE \
    ROLE("types", CONF_NODE, types, 0, 0, NULL, \
         "GPU types, most wanted first; default: all that fit"), \
    ROLE("pool", CONF_TEXT, pool, 0, 0, NULL, \
         "pool of the cluster; default: any"), \
    ROLE("cores", CONF_INT, cores, 0, 1e6, NULL, \
         "cores per GPU; of a role without GPUs: in all"), \
    ROLE("memory", CONF_BYTES, memory_bytes, 0, 1e18, NULL, \
         "host memory per GPU; of a role without GPUs: in all")
#define ROLE_START \
    ROLE("start", CONF_CHOICE, start, 0, 0, start_choices, \
         "what a lease after the first costs beside its bytes: a new " \
         "process, or one that sleeps is woken")

static const struct conf_field train_fields[] = {
    ROLE_GPUS, ROLE_PLACE, ROLE_START};
static const struct conf_field engine_fields[] = {
    ROLE_GPUS, ROLE_PLACE, ROLE_START,
    ROLE("tp", CONF_INT, tp, 1, 64, NULL, "GPUs of one replica; default 1"),
    ROLE("precision", CONF_CHOICE, precision, 0, 0, precision_choices,
         "of the weights served; default: the entry's"),
    ROLE("concurrency", CONF_REAL, concurrency, 0, 1e6, NULL,
         "responses in flight per replica; default: what memory holds"),
};
static const struct conf_field data_fields[] = {
    ROLE("pool", CONF_TEXT, pool, 0, 0, NULL, "pool; default: any"),
    ROLE("cores", CONF_INT, cores, 1, 1e6, NULL, "cores in all"),
    ROLE("memory", CONF_BYTES, memory_bytes, 0, 1e18, NULL,
         "host memory in all; default: 2 GB a core"),
};
static const struct conf_field trace_fields[] = {ROLE_PLACE};

const struct conf_schema role_train_schema = {
    "workload.mix[].train", "GPUs that train", train_fields,
    COUNT(train_fields)};
const struct conf_schema role_engine_schema = {
    "workload.mix[].rollout", "GPUs that generate (infer: of batch-infer)",
    engine_fields, COUNT(engine_fields)};
const struct conf_schema role_data_schema = {
    "workload.mix[].data", "cores that prepare data and score", data_fields,
    COUNT(data_fields)};
const struct conf_schema role_trace_schema = {
    "workload.trace.role", "what a GPU of a trace job brings with it",
    trace_fields, COUNT(trace_fields)};
const struct conf_schema role_whole_schema = {
    "workload.mix[].role", "what a GPU of a job of recipe trace brings with "
    "it", trace_fields, COUNT(trace_fields)};

#define RESPONSE(NAME, MIN, MAX, FALLBACK, HELP) \
    {#NAME, CONF_REAL, offsetof(struct response_keys, NAME), MIN, MAX, \
     FALLBACK, NULL, HELP}
static const struct conf_field response_fields[] = {
    RESPONSE(mean, 1, 1e7, NULL, "mean tokens, before the cut at max"),
    RESPONSE(cv, 0, 100, NULL, "standard deviation over mean (lognormal)"),
    RESPONSE(max, 1, 1e7, NULL, "tokens at which generation stops"),
    RESPONSE(partial, 1, 1e7, CONF_ABSENT, "tokens of one response in one "
             "rollout at most, the rest in the next; default: all of it"),
};
const struct conf_schema response_schema = {
    "workload.mix[].response", "lengths of responses", response_fields,
    COUNT(response_fields)};

static const struct conf_field reward_fields[] = {
    {"on", CONF_CHOICE, offsetof(struct reward_keys, on), 0, 0, "cpu",
     reward_choices, "where responses are scored"},
    {"core_time", CONF_TIME, offsetof(struct reward_keys, core_time_ns), 0,
     1e6, CONF_ABSENT, NULL, "cpu: time of one core per response"},
    {"model", CONF_TEXT, offsetof(struct reward_keys, model), 0, 0,
     CONF_ABSENT, NULL, "gpu: reward model, on the rollout role"},
};
const struct conf_schema reward_schema = {
    "workload.mix[].reward", "how responses are scored", reward_fields,
    COUNT(reward_fields)};

static const struct conf_field loader_fields[] = {
    {"kind", CONF_CHOICE, offsetof(struct loader_keys, kind), 0, 0,
     CONF_ABSENT, loader_kind_choices,
     "what is read and prepared; default: what the recipe usually reads"},
    {"from", CONF_CHOICE, offsetof(struct loader_keys, from), 0, 0,
     "storage", loader_from_choices,
     "where the data set lies: shared storage, drives of the nodes that "
     "read, or their memory"},
    {"size", CONF_REAL, offsetof(struct loader_keys, size), 0, 1e12,
     CONF_ABSENT, NULL, "tokens of a text, pixels of an image, seconds of a "
     "video; default for tokens and text: sequence"},
    {"per_sequence", CONF_REAL, offsetof(struct loader_keys, per_sequence),
     0, 1e6, "1", NULL, "items in one training sequence"},
    {"workers", CONF_INT, offsetof(struct loader_keys, workers), 0, 1e5, "0",
     NULL, "loader processes per GPU; 0: one per core"},
    {"files", CONF_CHOICE, offsetof(struct loader_keys, files), 0, 0,
     CONF_ABSENT, loader_files_choices,
     "a file for each item, read at random, or long files; default: items for "
     "image and video, else shards"},
    {"dataset", CONF_BYTES, offsetof(struct loader_keys, dataset_bytes), 1,
     1e18, CONF_ABSENT, NULL, "size of the data set: from the second epoch on "
     "a part is found in the page cache; default: never read again"},
    {"numa", CONF_CHOICE, offsetof(struct loader_keys, numa), 0, 0, "local",
     numa_choices, "host buffers at the socket of the GPU, or at the other"},
    {"send", CONF_CHOICE, offsetof(struct loader_keys, send), 0, 0, "copy",
     send_choices, "with data nodes: how tensors reach the GPUs, through host "
     "memory and a core, or past both"},
};
const struct conf_schema loader_schema = {
    "workload.mix[].loader", "storage and CPU work behind a sequence",
    loader_fields, COUNT(loader_fields)};

bool draft_model(const struct draft *draft, const char *key,
                 const char *name, const struct llm **out)
{
    const struct catalogue *catalogue = draft->world->catalogue;
    const struct conf_node *node = conf_get(draft->conf, key);
    const char *near;

    *out = catalogue_llm(catalogue, name);
    if (*out != NULL)
        return true;
    if (node == NULL || conf_kind(node) != CONF_SCALAR)
        node = draft->conf;
    err_set(draft->world->err, ERR_REFERENCE, conf_pos(node),
            "%s names %s, which is no LLM of the catalogue",
            strcmp(key, "critic") == 0 ? key : "model", name);
    near = conf_nearest(name, catalogue_names(catalogue, CATALOGUE_LLMS));
    if (near != NULL)
        err_hint(draft->world->err, "The nearest name is %s.", near);
    return false;
}

bool draft_net(const struct draft *draft, const char *name,
               const struct net **out)
{
    const struct catalogue *catalogue = draft->world->catalogue;
    const char *near = conf_nearest(name, catalogue_names(catalogue,
                                                          CATALOGUE_NETS));

    *out = catalogue_net(catalogue, name);
    if (*out != NULL)
        return true;
    err_set(draft->world->err, ERR_REFERENCE,
            conf_pos(conf_get(draft->conf, "model")),
            "model names %s, which is no net of the catalogue", name);
    if (near != NULL)
        return err_hint(draft->world->err, "The nearest name is %s.", near);
    return false;
}

/* A distribution of times that an entry may have. */
static bool read_times(const struct draft *draft,
                       const struct conf_node *node, bool *has,
                       struct distribution *out)
{
    struct err *err = draft->world->err;

    *has = node != NULL;
    if (node == NULL)
        return true;
    if (!distribution_read(draft->world->arena, node, CONF_TIME, out, err))
        return false;
    return distribution_least(out) >= 0.0 ||
           err_set(err, ERR_RANGE, conf_pos(node),
                   "limit and deadline must be at least 0s, found draws "
                   "down to %gs", distribution_least(out));
}

/* At least one step, in the mean at least; smaller draws are rounded up. */
static bool read_steps(const struct draft *draft, struct distribution *out)
{
    const struct conf_node *node = draft->keys.steps;
    struct err *err = draft->world->err;

    if (!distribution_read(draft->world->arena, node, CONF_REAL, out, err))
        return false;
    if (fmin(distribution_mean(out), out->max) > STEPS_MAX)
        return err_set(err, ERR_RANGE, conf_pos(node),
                       "steps must be at most %g, found a mean of %g",
                       STEPS_MAX, fmin(distribution_mean(out), out->max));
    return (distribution_least(out) >= 0.0 && out->max >= 1.0 &&
            distribution_mean(out) >= 1.0) ||
           err_set(err, ERR_RANGE, conf_pos(node),
                   "steps must be at least 1, found a mean of %g and draws "
                   "down to %g", distribution_mean(out),
                   distribution_least(out));
}

bool draft_open(struct draft *draft, const struct world *world,
                const struct conf_node *conf, const struct recipe *recipe)
{
    struct recipe_keys *keys = &draft->keys;
    struct entry *entry = &draft->entry;

    memset(draft, 0, sizeof *draft);
    draft->world = world;
    draft->conf = conf;
    if (!conf_fill(conf, recipe->schema, keys, world->err))
        return false;
    if (keys->name == NULL)
        keys->name = recipe->name;
    entry->share = keys->share;
    entry->tenant = keys->tenant;
    entry->priority = (int32_t)keys->priority;
    entry->steps_per_run = 1;
    draft->form = arena_alloc(world->arena, 1, sizeof *draft->form);
    draft->form->name = keys->name;
    draft->form->recipe = recipe->name;
    entry->form = draft->form;
    return read_times(draft, keys->deadline, &entry->has_deadline,
                      &entry->deadline);
}

bool draft_begin(struct draft *draft, const struct world *world,
                 const struct conf_node *conf, const struct recipe *recipe)
{
    struct entry *entry = &draft->entry;

    return draft_open(draft, world, conf, recipe) &&
           draft_model(draft, "model", draft->keys.model, &draft->llm) &&
           read_times(draft, draft->keys.limit, &entry->has_limit,
                      &entry->limit) &&
           read_steps(draft, &entry->steps);
}

bool draft_begin_net(struct draft *draft, const struct world *world,
                     const struct conf_node *conf,
                     const struct recipe *recipe)
{
    struct entry *entry = &draft->entry;

    return draft_open(draft, world, conf, recipe) &&
           draft_net(draft, draft->keys.model, &draft->net) &&
           read_times(draft, draft->keys.limit, &entry->has_limit,
                      &entry->limit) &&
           read_steps(draft, &entry->steps);
}

/* Runs of about a tenth of the mean job, so that rounding a job to whole runs
 * moves its length by little, and a whole number of runs per checkpoint. */
uint32_t draft_steps_per_run(struct draft *draft)
{
    double mean = fmin(distribution_mean(&draft->entry.steps),
                       draft->entry.steps.max);
    uint32_t every = (uint32_t)draft->keys.checkpoint_every;
    uint32_t most = 1, run;

    if (mean >= 10.0)
        most = (uint32_t)fmin(mean / 10.0, 1e6);
    run = every > 0 && every < most ? every : most;
    while (every > 0 && every % run != 0)
        run--;
    draft->entry.steps_per_run = run;
    return run;
}

struct train_shape draft_train_shape(const struct draft *draft,
                                     double sequence_tokens)
{
    const struct recipe_keys *keys = &draft->keys;
    struct train_shape shape = {
        .llm = draft->llm,
        .method = (enum train_method)keys->method,
        .precision = (enum precision)keys->precision,
        .zero = (int)keys->zero,
        .recompute = (enum recompute)keys->recompute,
        .sequence_tokens = sequence_tokens,
        .micro_batch = keys->micro_batch,
        .tp = (uint32_t)keys->tp,
        .pp = (uint32_t)keys->pp,
        .vp = (uint32_t)keys->vp,
        .cp = (uint32_t)keys->cp,
        .ep = (uint32_t)keys->ep,
        .sequence_parallel = keys->sequence_parallel,
        .stack = (enum train_stack)keys->stack,
    };

    if (draft->net != NULL)     /* its recipe has no key of a layout */
        return (struct train_shape){
            .net = draft->net, .precision = shape.precision,
            .stack = shape.stack, .micro_batch = shape.micro_batch,
            .sequence_tokens = 1.0, .tp = 1, .pp = 1, .vp = 1, .cp = 1,
            .ep = 1};
    if (shape.method != TRAIN_FULL)
        shape.lora_params = memory_lora_params(draft->llm,
                                               (double)keys->lora_rank);
    return shape;
}

double draft_checkpoint_bytes(const struct train_shape *shape)
{
    return shape->net != NULL ? net_checkpoint_bytes(shape->net)
                              : transfer_checkpoint_bytes(shape);
}

/* Keys of a role, with the recipe's defaults where it says nothing. */
static bool role_fill(const struct draft *draft, const struct conf_node *conf,
                      const struct conf_schema *schema, int start,
                      struct role_keys *keys)
{
    memset(keys, 0, sizeof *keys);
    keys->memory_bytes = -1.0;
    keys->precision = -1;
    keys->cores = -1;
    keys->tp = 1;
    keys->start = start;
    return conf == NULL ||
           conf_fill(conf, schema, keys, draft->world->err);
}

static struct role_spec *new_role(struct draft *draft, const char *name,
                                  uint32_t *number)
{
    struct job_form *form = draft->form;

    assert(form->role_count < FORM_ROLES_MAX);
    *number = form->role_count++;
    form->role[*number].name = name;
    return &form->role[*number];
}

/* GPU counts of a role: min <= gpus <= max, all multiples. */
static bool role_counts(const struct draft *draft,
                        const struct conf_node *conf,
                        const struct role_keys *keys, uint32_t multiple,
                        struct role_spec *role)
{
    struct err_pos pos = conf_pos(conf != NULL ? conf : draft->conf);

    role->gpus_multiple = multiple;
    role->gpus = keys->gpus > 0 ? (uint32_t)keys->gpus : multiple;
    role->gpus_min = keys->min > 0 ? (uint32_t)keys->min : role->gpus;
    role->gpus_max = keys->max > 0 ? (uint32_t)keys->max : role->gpus;
    if (role->gpus_min > role->gpus || role->gpus > role->gpus_max)
        return err_set(draft->world->err, ERR_RANGE, pos,
                       "role %s of %s must have min <= gpus <= max, found "
                       "%u, %u and %u", role->name, draft->form->name,
                       role->gpus_min, role->gpus, role->gpus_max);
    if (role->gpus % multiple == 0 && role->gpus_min % multiple == 0 &&
        role->gpus_max % multiple == 0)
        return true;
    return err_set(draft->world->err, ERR_RANGE, pos,
                   "gpus, min and max of role %s of %s must be multiples of "
                   "%u (tp times pp times cp, and ep must divide dp times "
                   "cp), found %u, %u and %u", role->name, draft->form->name,
                   multiple, role->gpus, role->gpus_min, role->gpus_max);
}

/* Of a key of the role, or else of the entry, or else of what there is. */
static struct err_pos key_pos(const struct draft *draft,
                              const struct conf_node *conf, const char *key)
{
    const struct conf_node *node = conf != NULL ? conf_get(conf, key) : NULL;

    if (node == NULL)
        node = conf_get(draft->conf, key);
    if (node == NULL)
        node = conf != NULL ? conf : draft->conf;
    return conf_pos(node);
}

/* Tensor parallelism divides a layer by its heads, pipelining by layers. */
static bool layout_adds_up(const struct draft *draft,
                           const struct conf_node *conf, uint32_t tp,
                           uint32_t pp, const struct role_spec *role)
{
    const struct llm *llm = draft->llm;

    if (llm->heads % tp != 0)
        return err_set(draft->world->err, ERR_RANGE,
                       key_pos(draft, conf, "tp"),
                       "tp of role %s of %s must divide the %u heads of %s, "
                       "found %u", role->name, draft->form->name, llm->heads,
                       llm->name, tp);
    if (pp > llm->layers)
        return err_set(draft->world->err, ERR_RANGE,
                       key_pos(draft, conf, "pp"),
                       "pp (times vp) of role %s of %s must be at most the %u "
                       "layers of %s, found %u", role->name, draft->form->name,
                       llm->layers, llm->name, pp);
    return true;
}

/* A group of ep GPUs holds every expert once, all as many. */
static bool experts_add_up(const struct draft *draft, uint32_t ep)
{
    const struct conf_node *node = conf_get(draft->conf, "ep");
    struct experts experts = experts_of(draft->llm);

    if (ep <= 1 || (experts.routed > 0 && experts.routed % ep == 0))
        return true;
    if (experts.routed == 0)
        return err_set(draft->world->err, ERR_RANGE, conf_pos(node),
                       "ep of %s must be 1, as %s has no experts, found %u",
                       draft->form->name, draft->llm->name, ep);
    return err_set(draft->world->err, ERR_RANGE, conf_pos(node),
                   "ep of %s must divide the %u experts of %s (and dp times "
                   "cp), found %u", draft->form->name, experts.routed,
                   draft->llm->name, ep);
}

/* Every replica must have a micro batch of its own. */
static bool batch_adds_up(const struct draft *draft,
                          const struct train_shape *shape,
                          const struct role_spec *role)
{
    double replicas = (double)role->gpus /
                      (shape->tp * shape->pp * shape->cp);
    const struct recipe_keys *keys = &draft->keys;
    bool given = keys->batch > 0.0;
    /* Of alignment: what an update trains on. */
    double batch = given ? keys->batch
                         : keys->prompts *
                               (keys->pairs > 0.0 ? 2.0 * keys->pairs
                                                  : keys->responses) /
                               (keys->updates > 0 ? (double)keys->updates
                                                  : 1.0);

    if (shape->micro_batch * replicas <= batch)
        return true;
    return err_set(draft->world->err, ERR_RANGE,
                   key_pos(draft, NULL, given ? "batch" : "prompts"),
                   "%s of %s must be at least micro_batch times the "
                   "replicas of role %s, %g x %g, found %g",
                   given ? "batch" : "sequences of an update",
                   draft->form->name, role->name, shape->micro_batch,
                   replicas, batch);
}

/* Nothing is trained in integers; qlora is a method.  Some formats need units
 * that older GPUs lack.  TF32 is none of them: it is how FP32 is computed where
 * it can be.  Engines expand weights of 8 bits and fewer before they compute,
 * so that of them only 16 bits count. */
static bool has_units(const struct gpu_type *gpu, enum precision precision,
                      bool trains)
{
    const double *peak = gpu->flops_peak;

    switch (precision) {
    case PRECISION_INT8:
    case PRECISION_INT4:
        return !trains;
    case PRECISION_BF16:
        return peak[PRECISION_BF16] > 0.0;
    case PRECISION_FP8:
    case PRECISION_FP4:
        return !trains || peak[precision] > 0.0;
    default:
        return true;
    }
}

/* "fp32, fp16" */
static void list_units(const struct gpu_type *gpu, bool trains, char *out,
                       size_t room)
{
    size_t used = 0;

    out[0] = '\0';
    for (int p = 0; p < PRECISION_COUNT && used < room; p++)
        if (gpu->flops_peak[p] > 0.0 &&
            has_units(gpu, (enum precision)p, trains))
            used += (size_t)snprintf(out + used, room - used, "%s%s",
                                     used > 0 ? ", " : "",
                                     precision_choices[p]);
}

/* A precision that is written must be one of every GPU type that is named,
 * and of one at least where none is.  The default falls back silently. */
static bool precision_exists(const struct draft *draft,
                             const struct conf_node *conf, bool trains,
                             enum precision precision,
                             const struct role_spec *role)
{
    const struct catalogue *catalogue = draft->world->catalogue;
    const struct conf_node *own = conf != NULL ? conf_get(conf, "precision")
                                               : NULL;
    const struct conf_node *node =
        own != NULL ? own : conf_get(draft->conf, "precision");
    bool named = conf != NULL && conf_get(conf, "types") != NULL;
    const struct gpu_type *without = NULL;
    uint32_t have = 0;
    char units[96];

    for (uint32_t i = 0; i < role->gpu_type_count; i++) {
        const struct gpu_type *gpu = catalogue_gpu_at(catalogue,
                                                      role->gpu_types[i]);
        bool has = has_units(gpu, precision, trains);

        have += has;
        if (!has && without == NULL)
            without = gpu;
    }
    if (node == NULL || without == NULL || (have > 0 && !named))
        return true;
    list_units(without, trains, units, sizeof units);
    err_set(draft->world->err, ERR_RANGE, conf_pos(node),
            "precision of role %s of %s must be one that %s has (%s), found "
            "%s", role->name, draft->form->name, without->name, units,
            precision_name(precision));
    if (precision == PRECISION_INT8 || precision == PRECISION_INT4)
        return err_hint(draft->world->err,
                        "Adapters on 4-bit weights are method: qlora; weights "
                        "that are only served have a precision of their own, "
                        "in rollout or infer.");
    return false;
}

static struct demand role_demand(const struct draft *draft,
                                 const struct conf_node *conf,
                                 const struct role_keys *keys)
{
    struct demand demand = {
        draft->form->name, conf_pos(conf != NULL ? conf : draft->conf),
        keys->types};

    return demand;
}

/* Cores and memory per GPU, and pool. */
static void role_host(const struct role_keys *keys, double state_bytes,
                      struct role_spec *role)
{
    double memory = HOST_BYTES_PER_GPU + state_bytes;

    if (keys->memory_bytes >= 0.0)
        memory = keys->memory_bytes;
    role->pool = keys->pool;
    role->cores = keys->cores >= 0 ? (uint32_t)keys->cores : CORES_PER_GPU;
    role->memory_bytes = (int64_t)memory;
}

bool draft_train_role(struct draft *draft, const struct train_shape *longest,
                      double other_bytes, int start, uint32_t *number)
{
    const struct conf_node *conf = draft->keys.train;
    struct role_spec *role = new_role(draft, "train", number);
    struct role_keys keys;
    struct memory_need need, wished;
    struct demand demand;
    const struct gpu_type *best;

    if (!role_fill(draft, conf, &role_train_schema, start, &keys) ||
        (longest->net == NULL &&
         (!layout_adds_up(draft, conf, longest->tp,
                          longest->pp * longest->vp, role) ||
          !experts_add_up(draft, longest->ep))) ||
        !role_counts(draft, conf, &keys, experts_gang(longest), role))
        return false;
    need = memory_train(longest, role->gpus_min);
    wished = memory_train(longest, role->gpus);
    role->gpu_memory_bytes = need.total + other_bytes;
    role->load_bytes = (wished.weights + wished.optimizer + other_bytes) *
                       role->gpus;
    role->save_bytes = draft_checkpoint_bytes(longest);
    role->start_s = transfer_start_s(TRANSFER_START_PROCESS);
    role->wake_s = transfer_start_s(keys.start == START_WAKE
                                        ? TRANSFER_START_TRAIN_WAKE
                                        : TRANSFER_START_PROCESS);
    role_host(&keys, role->load_bytes / role->gpus, role);
    demand = role_demand(draft, conf, &keys);
    if (demand_types(draft->world, &demand, role, &best))
        return precision_exists(draft, conf, true, longest->precision,
                                role) &&
               demand_place(draft->world, &demand, role) &&
               batch_adds_up(draft, longest, role);
    if (best != NULL)
        demand_hint_train(draft->world, longest, other_bytes,
                          role->gpus_min, best);
    return false;
}

/* Least GPU memory in which one response of that context can be decoded. */
static double engine_need(const struct rollout_shape *shape,
                          double context_tokens)
{
    double low = 0.0;
    double high = 2.0 * memory_decode(shape->llm, shape->precision, shape->tp,
                                      1.0, context_tokens).total;

    while (high - low > 1.0) {
        double middle = (low + high) / 2.0;

        if (memory_decode_batch_max(shape->llm, shape->precision, shape->tp,
                                    context_tokens, middle) >= 1.0)
            high = middle;
        else
            low = middle;
    }
    return ceil(high);
}

/* What would make an engine fit: more GPUs per replica, or fewer bits. */
static void engine_hint(const struct draft *draft,
                        const struct rollout_shape *shape,
                        double context_tokens, const struct gpu_type *gpu)
{
    struct rollout_shape next = *shape;

    for (next.tp *= 2; next.tp <= 64; next.tp *= 2)
        if (engine_need(&next, context_tokens) <= gpu->memory_bytes)
            break;
    if (next.tp <= 64) {
        err_hint(draft->world->err, "It would fit with tp: %u.", next.tp);
        return;
    }
    next.tp = shape->tp;
    next.precision = PRECISION_INT4;
    if (engine_need(&next, context_tokens) <= gpu->memory_bytes)
        err_hint(draft->world->err, "It would fit with precision: int4.");
    else
        err_hint(draft->world->err, "Neither tp up to 64 nor precision: int4 "
                                    "makes it fit; it takes a smaller model, "
                                    "shorter responses or larger GPUs.");
}

bool draft_engine_role(struct draft *draft, const char *name,
                       const struct conf_node *conf, double context_tokens,
                       int start, struct rollout_shape *shape,
                       uint32_t *number)
{
    struct role_spec *role = new_role(draft, name, number);
    struct role_keys keys;
    struct demand demand;
    const struct gpu_type *best;
    double weights;

    if (!role_fill(draft, conf, &role_engine_schema, start, &keys) ||
        !layout_adds_up(draft, conf, (uint32_t)keys.tp, 1, role) ||
        !role_counts(draft, conf, &keys, (uint32_t)keys.tp, role))
        return false;
    shape->tp = (uint32_t)keys.tp;
    shape->precision = (enum precision)(keys.precision >= 0
                                            ? keys.precision
                                            : draft->keys.precision);
    shape->concurrency_max = keys.concurrency;
    weights = memory_weight_bytes(shape->llm, shape->precision);
    role->gpu_memory_bytes = engine_need(shape, context_tokens);
    role->load_bytes = weights * (role->gpus / shape->tp);
    role->start_s = transfer_start_s(TRANSFER_START_SERVE);
    role->wake_s = transfer_start_s(keys.start == START_WAKE
                                        ? TRANSFER_START_SERVE_WAKE
                                        : TRANSFER_START_SERVE);
    role_host(&keys, weights / shape->tp, role);
    demand = role_demand(draft, conf, &keys);
    if (demand_types(draft->world, &demand, role, &best))
        return precision_exists(draft, conf, false, shape->precision, role) &&
               demand_place(draft->world, &demand, role);
    if (best != NULL)
        engine_hint(draft, shape, context_tokens, best);
    return false;
}

/* The engine's own GPUs are those of the trainer: of its keys remain those of
 * a replica. */
static bool replica_keys_only(const struct draft *draft,
                              const struct conf_node *conf)
{
    static const char *const others[] = {"gpus", "min", "max", "types", "pool",
                                         "cores", "memory", "start"};

    for (size_t i = 0; conf != NULL && i < COUNT(others); i++)
        if (conf_get(conf, others[i]) != NULL)
            return err_set(draft->world->err, ERR_SCHEMA,
                           conf_pos(conf_get(conf, others[i])),
                           "%s of rollout has no meaning for layout "
                           "colocated: it has the GPUs of train", others[i]);
    return true;
}

/* Both must fit, and a number of GPUs must suit both. */
static bool grow_role(struct draft *draft, const struct conf_node *conf,
                      double need_bytes, uint32_t tp, struct role_spec *role)
{
    struct demand demand = {draft->form->name,
                            conf_pos(conf != NULL ? conf : draft->conf), NULL};
    uint32_t multiple = role->gpus_multiple;

    while (multiple % tp != 0)
        multiple += role->gpus_multiple;
    if (role->gpus % multiple != 0 || role->gpus_min % multiple != 0)
        return err_set(draft->world->err, ERR_RANGE, demand.pos,
                       "GPUs of train must come in multiples of %u, which "
                       "rollout's tp %u and the trainer's layout make, found "
                       "%u", multiple, tp, role->gpus_min);
    role->gpus_multiple = multiple;
    if (need_bytes <= role->gpu_memory_bytes)
        return true;
    role->gpu_memory_bytes = need_bytes;
    return demand_narrow(draft->world, &demand, role) &&
           demand_place(draft->world, &demand, role);
}

bool draft_engine_beside(struct draft *draft, const struct conf_node *conf,
                         double context_tokens, uint32_t number,
                         struct rollout_shape *shape)
{
    struct role_spec *role = &draft->form->role[number];
    struct role_keys keys;

    if (!replica_keys_only(draft, conf) ||
        !role_fill(draft, conf, &role_engine_schema, START_WAKE, &keys) ||
        !layout_adds_up(draft, conf, (uint32_t)keys.tp, 1, role))
        return false;
    shape->tp = (uint32_t)keys.tp;
    shape->precision = (enum precision)(keys.precision >= 0
                                            ? keys.precision
                                            : draft->keys.precision);
    shape->concurrency_max = keys.concurrency;
    role->start_s += transfer_start_s(TRANSFER_START_SERVE);
    return grow_role(draft, conf, shape->reserved_bytes +
                                      engine_need(shape, context_tokens),
                     shape->tp, role);
}

bool draft_train_gpus(const struct draft *draft,
                      const struct train_shape *shape, uint32_t *gpus)
{
    struct role_keys keys;

    if (!role_fill(draft, draft->keys.train, &role_train_schema,
                   START_PROCESS, &keys))
        return false;
    *gpus = shape->tp * shape->pp * shape->cp;
    if (keys.gpus > 0)
        *gpus = (uint32_t)keys.gpus;
    if (keys.min > 0)
        *gpus = (uint32_t)keys.min;
    return true;
}

bool draft_net_role(struct draft *draft, const struct conf_node *conf,
                    double samples, struct rollout_shape *shape,
                    uint32_t *number)
{
    struct role_spec *role = new_role(draft, "gpu", number);
    struct role_keys keys;
    struct demand demand;
    const struct gpu_type *best;

    if (!role_fill(draft, conf, &role_engine_schema, START_PROCESS, &keys) ||
        !role_counts(draft, conf, &keys, 1, role))
        return false;
    shape->tp = 1;
    shape->precision = (enum precision)(keys.precision >= 0
                                            ? keys.precision
                                            : draft->keys.precision);
    role->gpu_memory_bytes = net_serve_bytes(draft->net, shape->precision,
                                             samples);
    role->load_bytes = net_weight_bytes(draft->net, shape->precision);
    role->start_s = transfer_start_s(TRANSFER_START_PROCESS);
    role->wake_s = role->start_s;
    role_host(&keys, role->load_bytes, role);
    demand = role_demand(draft, conf, &keys);
    if (demand_types(draft->world, &demand, role, &best))
        return precision_exists(draft, conf, false, shape->precision, role) &&
               demand_place(draft->world, &demand, role);
    if (best != NULL)
        err_hint(draft->world->err, "It takes a smaller batch or larger "
                                    "GPUs.");
    return false;
}

bool draft_data_role(struct draft *draft, const struct conf_node *conf,
                     uint32_t cores, uint32_t *number)
{
    struct role_spec *role = new_role(draft, "data", number);
    struct role_keys keys;
    struct demand demand;

    if (!role_fill(draft, conf, &role_data_schema, START_PROCESS, &keys))
        return false;
    role->cores = keys.cores > 0 ? (uint32_t)keys.cores : cores;
    role->pool = keys.pool;
    role->memory_bytes = (int64_t)(keys.memory_bytes >= 0.0
                                       ? keys.memory_bytes
                                       : HOST_BYTES_PER_CORE * role->cores);
    demand = role_demand(draft, conf, &keys);
    return demand_place(draft->world, &demand, role);
}

uint32_t draft_phase(struct draft *draft, enum phase_kind kind,
                     const char *name, uint32_t role, uint32_t after_mask,
                     const struct phase_law *law)
{
    struct job_form *form = draft->form;
    struct phase_law *kept = arena_alloc(draft->world->arena, 1,
                                         sizeof *kept);
    uint32_t number = form->phase_count++;
    struct phase_spec *phase = &form->phase[number];

    assert(number < FORM_PHASES_MAX && role < form->role_count);
    assert(after_mask >> number == 0);  /* only earlier ones: no circle */
    *kept = *law;
    phase->kind = kind;
    phase->name = name;
    phase->role = role;
    phase->after_mask = after_mask;
    phase->every = 1;
    phase->law = kept;
    return number;
}

bool draft_from(const struct draft *draft, const struct conf_node *loader,
                int from, uint32_t role)
{
    struct demand demand = {draft->form->name, {NULL, 0, 0}, NULL};

    assert(role < draft->form->role_count);
    if (loader == NULL || from != LOADER_FROM_NVME)
        return true;
    demand.pos = conf_pos(conf_get(loader, "from"));
    return demand_nvme(draft->world, &demand, &draft->form->role[role]);
}

/* Memory of a role beyond that of its processes and its parked state. */
static double cache_bytes(const struct role_spec *role)
{
    double used = role->gpus > 0
        ? HOST_BYTES_PER_GPU + role->load_bytes / role->gpus
        : HOST_BYTES_PER_CORE * role->cores;

    return fmax(0.0, (double)role->memory_bytes - used);
}

/* Does the data set lie where it is said to? */
static bool dataset_fits(const struct draft *draft,
                         const struct loader_keys *loader,
                         const struct role_spec *role)
{
    const struct cluster_spec *cluster = draft->world->cluster;
    double room = 0.0;

    if (loader->from == LOADER_FROM_STORAGE)
        return true;
    for (uint32_t g = 0; g < cluster->group_count; g++)
        room = fmax(room, loader->from == LOADER_FROM_NVME
                              ? cluster->group[g].nvme_bytes
                              : (double)cluster->group[g].memory_bytes);
    if (loader->dataset_bytes <= room)
        return true;
    err_set(draft->world->err, ERR_RANGE,
            conf_pos(conf_get(draft->keys.loader, "dataset")),
            "dataset of %.4g GB does not fit where role %s reads it: no node "
            "has more than %.4g GB of %s", loader->dataset_bytes / 1e9,
            role->name, room / 1e9,
            loader->from == LOADER_FROM_NVME ? "nvme" : "memory");
    return err_hint(draft->world->err, "Read it from: storage, or give the "
                                       "nodes more.");
}

bool draft_dataset(const struct draft *draft,
                   const struct loader_keys *loader, uint32_t phase,
                   double run_bytes)
{
    struct phase_spec *spec = &draft->form->phase[phase];
    const struct role_spec *role = &draft->form->role[spec->role];
    struct phase_law *later;
    double runs;

    if (!(loader->dataset_bytes > 0.0) || !(run_bytes > 0.0))
        return true;
    if (!dataset_fits(draft, loader, role))
        return false;
    runs = ceil(loader->dataset_bytes / run_bytes);
    if (loader->from == LOADER_FROM_MEMORY || runs >= STEPS_MAX)
        return true;
    later = arena_alloc(draft->world->arena, 1, sizeof *later);
    *later = *spec->law;
    later->dataset_bytes = loader->dataset_bytes;
    later->cache_bytes = cache_bytes(role);
    spec->later = later;
    spec->later_from = (uint32_t)runs;
    return true;
}

bool draft_response(const struct draft *draft, struct response_keys *out)
{
    const struct conf_node *conf = draft->keys.response;

    if (!conf_fill(conf, &response_schema, out, draft->world->err))
        return false;
    if (out->partial > 0.0 && out->max > PARTS_MAX * out->partial)
        return err_set(draft->world->err, ERR_RANGE,
                       conf_pos(conf_get(conf, "partial")),
                       "partial must be at least max / %g, found %g and %g",
                       PARTS_MAX, out->partial, out->max);
    if (out->max >= out->mean)
        return true;
    return err_set(draft->world->err, ERR_RANGE, conf_pos(conf),
                   "max of response must be at least its mean, found %g and "
                   "%g", out->max, out->mean);
}

/* E[min(X, M)] of a lognormal X: m P(Z < d - s) + M P(Z > d), with
 * d = (ln M - mu) / s (Klugman et al., Loss Models, limited expected value). */
double response_mean_cut(const struct response_keys *response)
{
    double s = sqrt(log1p(response->cv * response->cv));
    double mu = log(response->mean) - s * s / 2.0;
    double d;

    if (s <= 0.0)
        return fmin(response->mean, response->max);
    d = (log(response->max) - mu) / s;
    return response->mean * 0.5 * erfc(-(d - s) / sqrt(2.0)) +
           response->max * 0.5 * erfc(d / sqrt(2.0));
}

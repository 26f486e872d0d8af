/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * roles.c - roles of recipes: how many GPUs, of which types, with how
 * much memory; what cannot run there is refused.
 *
 * Assumptions, each a key that a workload may set: a GPU role takes
 * CORES_PER_GPU cores per GPU (claim D3 asks for 4 below 7B parameters, 8
 * from 13B; 6 lies between) and host memory for its process and its parked
 * state.
 */
#include "models/laws/memory.h"
#include "models/types/precision.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "workloads/jobs/demand.h"
#include "workloads/jobs/memory_hint.h"
#include "workloads/recipes/recipe.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/laws/experts.h"
#include "models/laws/net.h"
#include "models/laws/transfer.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))
#define CORES_PER_GPU       6       /* assumption, see above */

/* Reads the keys of a role.  What it does not say is -1 or 0, which later
 * functions replace by defaults; `start` is the recipe's own.  conf NULL:
 * nothing is said. */
static bool fill_role(const struct draft *draft, const struct conf_node *conf,
                      const struct conf_schema *schema, int start,
                      struct role_keys *keys)
{
    memset(keys, 0, sizeof *keys);
    keys->memory_bytes = -1.0;
    keys->precision = -1;
    keys->cores = -1;
    keys->tp = 1;
    keys->start = start;
    keys->process_start_ns = keys->cores_start_ns = -1;
    return conf == NULL ||
           conf_fill(conf, schema, keys, draft->world->err);
}

/* Returns the seconds that a new process takes: as the key says, or else as it is measured. */
static double find_start_s(int64_t said_ns, enum transfer_start measured)
{
    return said_ns >= 0 ? clock_s_from_ns(said_ns) : transfer_start_s(measured);
}

/* Says what a lease costs beside its bytes: a new process at first, on GPUs as `process` is
 * measured, and later as well, or to wake one that sleeps, which takes no longer than a new
 * one.  What is said of the role holds on cores too, unless `cpu` says its own.  Comes after
 * draft_role_cores(). */
static void fill_start(const struct role_keys *keys, enum transfer_start process,
                       enum transfer_start wake, struct role_spec *role)
{
    struct role_cores *cores = &role->on_cores;
    double wake_s = keys->start == START_WAKE ? transfer_start_s(wake) : INFINITY;

    role->start_s = find_start_s(keys->process_start_ns, process);
    role->wake_s = fmin(wake_s, role->start_s);
    if (cores->cores == 0)
        return;
    cores->start_s = find_start_s(keys->cores_start_ns >= 0 ? keys->cores_start_ns
                                                            : keys->process_start_ns,
                                  TRANSFER_START_CORES);
    cores->wake_s = fmin(wake_s, cores->start_s);
    if (role->gpus > 0)
        return;
    role->start_s = cores->start_s;
    role->wake_s = cores->wake_s;
}

/* Adds a role to the form; the roles before it stay where they are. */
static struct role_spec *new_role(struct draft *draft, const char *name,
                                  uint32_t *number)
{
    struct job_form *form = draft->form;

    assert(form->role_count < FORM_ROLES_MAX);
    *number = form->role_count++;
    form->role[*number].name = name;
    return &form->role[*number];
}

/* Sets the GPU counts of a role.  They must satisfy min <= gpus <= max, and all
 * be multiples of `multiple`, the GPUs of one replica. */
static bool fill_counts(const struct draft *draft,
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

/* Returns the place of a key for messages: in the role, else in the entry, else
 * that of the role or the entry itself. */
static struct err_pos find_key_pos(const struct draft *draft,
                                   const struct conf_node *conf, const char *key)
{
    const struct conf_node *node = conf != NULL ? conf_get(conf, key) : NULL;

    if (node == NULL)
        node = conf_get(draft->conf, key);
    if (node == NULL)
        node = conf != NULL ? conf : draft->conf;
    return conf_pos(node);
}

/* Tensor parallelism divides a layer by its attention heads, so tp must divide
 * their number.  A pipeline divides the model by layers, so it has at most as
 * many stages. */
static bool check_layout(const struct draft *draft,
                         const struct conf_node *conf, uint32_t tp,
                         uint32_t pp, const struct role_spec *role)
{
    const struct llm *llm = draft->llm;

    if (llm->heads % tp != 0)
        return err_set(draft->world->err, ERR_RANGE,
                       find_key_pos(draft, conf, "tp"),
                       "tp of role %s of %s must divide the %u heads of %s, "
                       "found %u", role->name, draft->form->name, llm->heads,
                       llm->name, tp);
    if (pp > llm->layers)
        return err_set(draft->world->err, ERR_RANGE,
                       find_key_pos(draft, conf, "pp"),
                       "pp (times vp) of role %s of %s must be at most the %u "
                       "layers of %s, found %u", role->name, draft->form->name,
                       llm->layers, llm->name, pp);
    return true;
}

/* A group of ep GPUs holds every expert once, all GPUs the same number: ep must
 * divide the number of experts. */
static bool check_experts(const struct draft *draft, uint32_t ep)
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

/* Every replica must have at least one micro batch in an optimizer step.
 * Alignment has no `batch`: its sequences are what one update trains on. */
static bool check_batch(const struct draft *draft,
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
                   find_key_pos(draft, NULL, given ? "batch" : "prompts"),
                   "%s of %s must be at least micro_batch times the "
                   "replicas of role %s, %g x %g, found %g",
                   given ? "batch" : "sequences of an update",
                   draft->form->name, role->name, shape->micro_batch,
                   replicas, batch);
}

/* Can a GPU compute in that precision?  Nothing is trained in integers (qlora
 * is a method). BF16, FP8 and FP4 need units that older GPUs lack.  TF32 does
 * not count: it is how FP32 is computed where the GPU can.  Engines expand
 * weights of 8 bits and fewer before they compute, so for them only BF16 needs
 * units. */
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

/* Writes the precisions that a GPU has, such as "fp32, fp16", for messages. */
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

/* A precision that is written must be one of every GPU type that `types` names;
 * without `types`, of at least one type of the cluster.  The default precision
 * is never refused. */
static bool check_precision(const struct draft *draft,
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

/* Says where the role is written, for messages of demand.h, and notes it in the
 * role. */
static struct demand make_demand(const struct draft *draft,
                                 const struct conf_node *conf,
                                 const struct role_keys *keys,
                                 struct role_spec *role)
{
    struct demand demand = {
        draft->form->name, conf_pos(conf != NULL ? conf : draft->conf),
        keys->types, {NULL, 0, 0}};

    if (keys->home != NULL)
        demand.home = find_key_pos(draft, conf, "home");
    role->pos = demand.pos;
    return demand;
}

/* Sets pools, and cores and host memory per GPU. By default a GPU has
 * HOST_BYTES_PER_GPU and the state that parks there. */
static void fill_host(const struct role_keys *keys, double state_bytes,
                      struct role_spec *role)
{
    double memory = HOST_BYTES_PER_GPU + state_bytes;

    if (keys->memory_bytes >= 0.0)
        memory = keys->memory_bytes;
    role->pool = keys->pool;
    role->home = keys->home;
    role->cores = keys->cores >= 0 ? (uint32_t)keys->cores : CORES_PER_GPU;
    role->memory_bytes = (int64_t)memory;
}

/* An optimizer on the host needs cores, and host memory for its states: `host`
 * bytes per GPU. */
static bool check_host(const struct draft *draft, const struct conf_node *conf,
                       double host,
                       const struct role_spec *role)
{
    struct err *err = draft->world->err;

    if ((double)role->memory_bytes < host)
        return err_set(err, ERR_RANGE, find_key_pos(draft, conf, "memory"),
                       "memory of role train of %s must be at least %.1f GB a GPU: "
                       "that much its optimizer_on: cpu keeps there, found %.1f GB",
                       draft->form->name, host / 1e9,
                       (double)role->memory_bytes / 1e9);
    if (role->cores == 0)
        return err_set(err, ERR_RANGE, find_key_pos(draft, conf, "cores"),
                       "cores of role train of %s must be at least 1: its "
                       "optimizer_on: cpu works on them, found 0",
                       draft->form->name);
    return true;
}

/* Returns what a lease loads for a GPU: its needs without what casting makes
 * from what was saved. */
static struct memory_need find_loaded(const struct train_shape *longest, uint32_t gpus)
{
    struct memory_need need = memory_train(longest, gpus);

    if (longest->net != NULL)
        need.weights -= net_cast_bytes(longest->net, longest->precision);
    return need;
}

/* Sets what a lease of a training role loads, in bytes of all its GPUs: weights
 * and optimizer, of a new job the weights alone.  A copy is the same on the
 * fewest GPUs that hold the model. */
static void fill_train_load(const struct train_shape *longest, const struct beside *beside,
                            struct role_spec *role)
{
    uint32_t gang = experts_gang(longest);
    struct memory_need all = find_loaded(longest, role->gpus);
    struct memory_need one = find_loaded(longest, gang);

    assert(gang > 0 && role->gpus % gang == 0);
    role->load_bytes = (all.weights + all.optimizer + beside->load_bytes) * role->gpus;
    role->first_bytes = (all.weights + beside->first_bytes) * role->gpus;
    role->copy_bytes = (one.weights + one.optimizer + beside->copy_bytes) * gang;
    role->first_copy_bytes = (one.weights + beside->first_copy_bytes) * gang;
}

/* Order: counts, memory, host, GPU types, and only then what depends on the
 * types.  Memory is checked for the fewest GPUs, which hold most each, and for
 * the longest sequence.  What a lease loads is for the GPUs that the owner
 * requests.  If no type has the memory, the hint says what would make it fit on
 * the best. */
bool draft_train_role(struct draft *draft, const struct train_shape *longest,
                      struct beside beside, int start, uint32_t *number)
{
    const struct conf_node *conf = draft->keys.train;
    struct role_spec *role = new_role(draft, "train", number);
    struct role_keys keys;
    struct memory_need need;
    double host;
    struct cores_need cores = {0};
    struct demand demand;
    const struct gpu_type *best;

    if (!fill_role(draft, conf, &role_train_schema, start, &keys) ||
        (longest->net == NULL &&
         (!check_layout(draft, conf, longest->tp,
                        longest->pp * longest->vp, role) ||
          !check_experts(draft, longest->ep))) ||
        !fill_counts(draft, conf, &keys, experts_gang(longest), role))
        return false;
    /* On the fewest GPUs, which hold the most each. */
    need = memory_train(longest, role->gpus_min);
    role->gpu_memory_bytes = need.total + beside.held_bytes;
    fill_train_load(longest, &beside, role);
    host = memory_host(longest, role->gpus_min);
    role->save_bytes = draft_checkpoint_bytes(draft, longest);
    fill_host(&keys, fmax(role->load_bytes / role->gpus, host), role);
    demand = make_demand(draft, conf, &keys, role);
    if (draft->on_cores)
        cores = cores_need_train(longest);
    if (!draft_role_cores(draft, conf, &keys, &cores, role))
        return false;
    fill_start(&keys, TRANSFER_START_PROCESS, TRANSFER_START_TRAIN_WAKE, role);
    if (role->gpus == 0)
        return demand_place(draft->world, &demand, role);
    if (demand_types(draft->world, &demand, role, &best))
        return check_precision(draft, conf, true, longest->precision,
                               role) &&
               (!longest->on_host || check_host(draft, conf, host, role)) &&
               demand_place(draft->world, &demand, role) &&
               check_batch(draft, longest, role);
    if (best != NULL)
        memory_hint_train(draft->world, longest, beside.held_bytes,
                          role->gpus_min, best);
    return false;
}

/* Returns the least GPU memory in which one response of that context can be
 * decoded, to the byte.  Bisection, since the law says how many responses fit
 * in a memory, and not the reverse. */
static double find_engine_need(const struct rollout_shape *shape,
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

/* Hints at what would make an engine fit on that GPU: more GPUs per replica,
 * which divide its heads, else fewer bits. */
static void hint_engine(const struct draft *draft,
                        const struct rollout_shape *shape,
                        double context_tokens, const struct gpu_type *gpu)
{
    struct rollout_shape next = *shape;

    for (next.tp *= 2; next.tp <= 64; next.tp *= 2)
        if (next.llm->heads % next.tp == 0 &&
            find_engine_need(&next, context_tokens) <= gpu->memory_bytes)
            break;
    if (next.tp <= 64) {
        err_hint(draft->world->err, "It would fit with tp: %u.", next.tp);
        return;
    }
    next.tp = shape->tp;
    next.precision = PRECISION_INT4;
    if (find_engine_need(&next, context_tokens) <= gpu->memory_bytes)
        err_hint(draft->world->err, "It would fit with precision: int4.");
    else
        err_hint(draft->world->err, "Neither tp up to 64 nor precision: int4 "
                                    "makes it fit; it takes a smaller model, "
                                    "shorter responses or larger GPUs.");
}

/* A replica must hold its weights and one response of the longest context.  The
 * steps are those of draft_train_role(). */
bool draft_engine_role(struct draft *draft, const char *name,
                       const struct conf_node *conf, double context_tokens,
                       int start, struct rollout_shape *shape,
                       uint32_t *number)
{
    struct role_spec *role = new_role(draft, name, number);
    struct role_keys keys;
    struct demand demand;
    const struct gpu_type *best;
    struct cores_need cores;
    double weights;

    if (!fill_role(draft, conf, &role_engine_schema, start, &keys) ||
        !check_layout(draft, conf, (uint32_t)keys.tp, 1, role) ||
        !fill_counts(draft, conf, &keys, (uint32_t)keys.tp, role))
        return false;
    shape->tp = (uint32_t)keys.tp;
    shape->precision = (enum precision)(keys.precision >= 0
                                            ? keys.precision
                                            : draft->keys.precision);
    shape->concurrency_max = keys.concurrency;
    shape->ahead = keys.async_scheduling;
    weights = memory_weight_bytes(shape->llm, shape->precision);
    role->gpu_memory_bytes = find_engine_need(shape, context_tokens);
    role->load_bytes = weights * (role->gpus / shape->tp);
    role->copy_bytes = weights;
    fill_host(&keys, weights / shape->tp, role);
    demand = make_demand(draft, conf, &keys, role);
    cores = cores_need_engine(shape, context_tokens);
    if (!draft_role_cores(draft, conf, &keys, &cores, role))
        return false;
    fill_start(&keys, TRANSFER_START_SERVE, TRANSFER_START_SERVE_WAKE, role);
    shape->host_bytes = (double)role->on_cores.memory_bytes -
                        HOST_BYTES_PER_GPU;
    if (role->gpus == 0)
        return demand_place(draft->world, &demand, role);
    if (demand_types(draft->world, &demand, role, &best))
        return check_precision(draft, conf, false, shape->precision, role) &&
               demand_place(draft->world, &demand, role);
    if (best != NULL)
        hint_engine(draft, shape, context_tokens, best);
    return false;
}

/* Colocated, the engine has the GPUs of the trainer, so `rollout` has keys of a
 * replica alone: tp, precision, concurrency, async_scheduling, process_start. */
static bool check_replica_keys(const struct draft *draft,
                               const struct conf_node *conf)
{
    static const char *const others[] = {"gpus", "min", "max", "types", "pool",
                                         "home", "cores", "memory", "cpu",
                                         "start"};

    for (size_t i = 0; conf != NULL && i < COUNT(others); i++)
        if (conf_get(conf, others[i]) != NULL) {
            err_set(draft->world->err, ERR_SCHEMA, conf_pos(conf_get(conf, others[i])),
                    "%s of rollout has no meaning for layout colocated: it has the GPUs of "
                    "train", others[i]);
            return err_hint(draft->world->err, "`controls: [colocated]` compares the policies "
                            "with this layout, and leaves such keys out.");
        }
    return true;
}

/* Makes the role hold the engine as well: its memory grows if the engine needs
 * more, and its GPUs must come in multiples that suit both.  GPU types that are
 * too small now are removed. */
static bool grow_role(struct draft *draft, const struct conf_node *conf,
                      double need_bytes, uint32_t tp, struct role_spec *role)
{
    struct demand demand = {draft->form->name,
                            conf_pos(conf != NULL ? conf : draft->conf), NULL,
                            {NULL, 0, 0}};
    uint32_t multiple = role->gpus_multiple;

    while (multiple % tp != 0)
        multiple += role->gpus_multiple;
    if (role->gpus % multiple != 0 || role->gpus_min % multiple != 0)
        return err_set(draft->world->err, ERR_RANGE, demand.pos,
                       "GPUs of train must come in multiples of %u, which "
                       "rollout's tp %u and the trainer's layout make, found "
                       "%u", multiple, tp,
                       role->gpus % multiple != 0 ? role->gpus : role->gpus_min);
    role->gpus_multiple = multiple;
    if (need_bytes <= role->gpu_memory_bytes)
        return true;
    role->gpu_memory_bytes = need_bytes;
    return demand_narrow(draft->world, &demand, role) &&
           demand_place(draft->world, &demand, role);
}

/* Adds what the engine costs to the start of the role that trains.  The first lease starts
 * both, one after the other.  A later one starts the engine anew as well where `start:
 * process` says so, of rollout (with `layout: auto`) or else of train.  An engine that sleeps
 * is woken by the phase that gives it the GPUs. */
static void add_engine_start(const struct role_keys *keys, struct role_spec *role)
{
    struct role_spec engine = {0};

    fill_start(keys, TRANSFER_START_SERVE, TRANSFER_START_SERVE_WAKE, &engine);
    role->start_s += engine.start_s;
    if (keys->start == START_PROCESS)
        role->wake_s += engine.wake_s;
}

/* Adds an engine to the role that trains: its GPUs must hold either in turn. */
bool draft_engine_beside(struct draft *draft, const struct conf_node *conf,
                         double context_tokens, uint32_t number,
                         struct rollout_shape *shape)
{
    struct role_spec *role = &draft->form->role[number];
    struct role_keys keys, train;

    if ((!draft->either && !check_replica_keys(draft, conf)) ||
        !fill_role(draft, draft->keys.train, &role_train_schema, START_WAKE, &train) ||
        !fill_role(draft, conf, &role_engine_schema, train.start, &keys) ||
        !check_layout(draft, conf, (uint32_t)keys.tp, 1, role))
        return false;
    shape->tp = (uint32_t)keys.tp;
    shape->precision = (enum precision)(keys.precision >= 0
                                            ? keys.precision
                                            : draft->keys.precision);
    shape->concurrency_max = keys.concurrency;
    shape->ahead = keys.async_scheduling;
    add_engine_start(&keys, role);
    return grow_role(draft, conf, shape->reserved_bytes +
                                      find_engine_need(shape, context_tokens),
                     shape->tp, role);
}

/* Stores how many GPUs the entry asks for, before its role is made, `gpus` or else one replica;
 * and the fewest on which it trains, `min` or else as many. */
bool draft_train_gpus(const struct draft *draft, const struct train_shape *shape,
                      uint32_t *gpus, uint32_t *fewest)
{
    struct role_keys keys;

    if (!fill_role(draft, draft->keys.train, &role_train_schema,
                   START_PROCESS, &keys))
        return false;
    *gpus = shape->tp * shape->pp * shape->cp;
    if (keys.gpus > 0)
        *gpus = (uint32_t)keys.gpus;
    *fewest = keys.min > 0 ? (uint32_t)keys.min : *gpus;
    return true;
}

/* Makes the role of an engine that serves a net: it needs memory for a batch
 * of samples. */
bool draft_net_role(struct draft *draft, const struct conf_node *conf,
                    double samples, struct rollout_shape *shape,
                    uint32_t *number)
{
    struct role_spec *role = new_role(draft, "gpu", number);
    struct role_keys keys;
    struct demand demand;
    const struct gpu_type *best;

    if (!fill_role(draft, conf, &role_engine_schema, START_PROCESS, &keys) ||
        !fill_counts(draft, conf, &keys, 1, role) ||
        !draft_role_cores(draft, conf, &keys, &(struct cores_need){0}, role))
        return false;
    shape->tp = 1;
    shape->precision = (enum precision)(keys.precision >= 0
                                            ? keys.precision
                                            : draft->keys.precision);
    role->gpu_memory_bytes = net_serve_bytes(draft->net, shape->precision,
                                             samples);
    role->load_bytes = net_weight_bytes(draft->net, shape->precision);
    fill_start(&keys, TRANSFER_START_PROCESS, TRANSFER_START_SERVE_WAKE, role);
    fill_host(&keys, role->load_bytes, role);
    demand = make_demand(draft, conf, &keys, role);
    if (demand_types(draft->world, &demand, role, &best))
        return check_precision(draft, conf, false, shape->precision, role) &&
               demand_place(draft->world, &demand, role);
    if (best != NULL)
        err_hint(draft->world->err, "It takes a smaller batch or larger "
                                    "GPUs.");
    return false;
}

/* Cores in all, over any number of nodes of the pool. */
bool draft_data_role(struct draft *draft, const struct conf_node *conf,
                     uint32_t cores, double start_s, uint32_t *number)
{
    struct role_spec *role = new_role(draft, "data", number);
    struct role_keys keys;
    struct demand demand;

    if (!fill_role(draft, conf, &role_data_schema, START_PROCESS, &keys))
        return false;
    role->cores = keys.cores > 0 ? (uint32_t)keys.cores : cores;
    role->pool = keys.pool;
    role->home = keys.home;
    role->memory_bytes = (int64_t)(keys.memory_bytes >= 0.0
                                       ? keys.memory_bytes
                                       : HOST_BYTES_PER_CORE * role->cores);
    role->start_s = role->wake_s = keys.process_start_ns >= 0
                                       ? clock_s_from_ns(keys.process_start_ns) : start_s;
    demand = make_demand(draft, conf, &keys, role);
    return demand_place(draft->world, &demand, role);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * parts.c - what recipes share: an entry of the mix as it is begun, its
 * phases, data sets and responses.  Roles are in roles.c, keys in
 * keys.c.
 *
 * Sequences are packed (an assumption), so that time follows the mean length,
 * while memory must hold the longest.
 */
#include "models/laws/memory.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "workloads/jobs/demand.h"
#include "workloads/random/distribution.h"
#include "workloads/random/distribution_read.h"
#include "workloads/recipes/recipe.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/laws/net.h"
#include "models/laws/transfer.h"
#include "sim/base/arena.h"

#define PARTS_MAX 100.0         /* of a response: what a plan sums over */
#define STEPS_MAX 1e9          /* of a job; what source.c makes at most */

bool draft_model(const struct draft *draft, const char *key,
                 const char *name, const struct llm **out)
{
    const struct catalogue *catalogue = draft->world->catalogue;
    const struct conf_node *node = conf_get(draft->conf, key);

    *out = catalogue_llm(catalogue, name);
    if (*out != NULL)
        return true;
    if (node == NULL || conf_kind(node) != CONF_SCALAR)
        node = draft->conf;
    err_set(draft->world->err, ERR_REFERENCE, conf_pos(node),
            "%s names %s, which is no LLM of the catalogue",
            strcmp(key, "critic") == 0 ? key : "model", name);
    return catalogue_hint(catalogue, CATALOGUE_LLMS, name, draft->world->err);
}

bool draft_net(const struct draft *draft, const char *name,
               const struct net **out)
{
    const struct catalogue *catalogue = draft->world->catalogue;

    *out = catalogue_net(catalogue, name);
    if (*out != NULL)
        return true;
    err_set(draft->world->err, ERR_REFERENCE,
            conf_pos(conf_get(draft->conf, "model")),
            "model names %s, which is no net of the catalogue", name);
    return catalogue_hint(catalogue, CATALOGUE_NETS, name, draft->world->err);
}

/* Reads a limit or a deadline that may be absent: *has says if it is there.  No
 * draw may be below 0. */
static bool read_times(const struct draft *draft,
                       const struct conf_node *node, const char *key,
                       bool *has, struct distribution *out)
{
    struct err *err = draft->world->err;

    *has = node != NULL;
    if (node == NULL)
        return true;
    if (!distribution_read_as(draft->world->arena, node, key, CONF_TIME, out,
                              err))
        return false;
    return distribution_least(out) >= 0.0 ||
           err_set(err, ERR_RANGE, conf_pos(node),
                   "limit and deadline must be at least 0s, found draws "
                   "down to %gs", distribution_least(out));
}

/* Reads `steps`. The mean must be at least one step, with or without the bounds
 * min and max.  Draws below one step are allowed, and become one. */
static bool read_steps(const struct draft *draft, struct distribution *out)
{
    const struct conf_node *node = draft->keys.steps;
    struct err *err = draft->world->err;

    if (!distribution_read_as(draft->world->arena, node, "steps", CONF_REAL,
                              out, err))
        return false;
    double mean = distribution_clamped_mean(out);
    if (mean > STEPS_MAX)
        return err_set(err, ERR_RANGE, conf_pos(node),
                       "steps must be at most %g, found a mean of %g", STEPS_MAX, mean);
    return (distribution_least(out) >= 0.0 && out->max >= 1.0 &&
            fmax(mean, distribution_mean(out)) >= 1.0) ||
           err_set(err, ERR_RANGE, conf_pos(node),
                   "steps must be at least 1, found a mean of %g and draws "
                   "down to %g", mean, distribution_least(out));
}

/* Begins an entry: keys, name, share and deadline, and an empty form.  The name
 * is the recipe's where none is written. */
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
    draft->form = arena_alloc(world->arena, 1, sizeof *draft->form);
    draft->form->name = keys->name;
    draft->form->recipe = recipe->name;
    draft->form->round_steps = 1;
    entry->form = draft->form;
    return read_times(draft, keys->deadline, "deadline",
                      &entry->has_deadline, &entry->deadline);
}

/* Refuses keys of training that another key leaves without effect. */
static bool check_training(const struct draft *draft)
{
    const struct recipe_keys *keys = &draft->keys;
    const struct conf_node *conf = draft->conf;
    struct err *err = draft->world->err;

    return conf_acts(conf, "lora_rank", keys->method == TRAIN_FULL,
                     "needs `method: lora` or qlora", err) &&
           conf_acts(conf, "vp", keys->parallel.vp > 1 && keys->parallel.pp <= 1,
                     "needs pp above 1", err);
}

bool draft_begin(struct draft *draft, const struct world *world,
                 const struct conf_node *conf, const struct recipe *recipe)
{
    struct entry *entry = &draft->entry;

    return draft_open(draft, world, conf, recipe) &&
           draft_model(draft, "model", draft->keys.model, &draft->llm) &&
           check_training(draft) &&
           read_times(draft, draft->keys.limit, "limit", &entry->has_limit,
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
           read_times(draft, draft->keys.limit, "limit", &entry->has_limit,
                      &entry->limit) &&
           read_steps(draft, &entry->steps);
}

/* Returns how often weights are updated in a step. */
static double count_updates(const struct recipe_keys *keys)
{
    return fmax((double)keys->epochs, 1.0) * fmax((double)keys->updates, 1.0);
}

/* Returns the steps of a run: about a tenth of the mean job, so that rounding a
 * job to whole runs changes its length by little.  A whole number of runs lies
 * between two checkpoints.  The updates of a run must fit in 32 bits, which
 * bounds it too. */
uint32_t draft_steps_per_run(struct draft *draft)
{
    double mean = fmin(distribution_mean(&draft->entry.steps),
                       draft->entry.steps.max);
    uint32_t every = (uint32_t)draft->keys.checkpoint_every;
    uint32_t most = 1, run;

    if (mean >= 10.0)
        most = (uint32_t)fmin(mean / 10.0, fmin(1e6, UINT32_MAX / count_updates(&draft->keys)));
    run = every > 0 && every < most ? every : most;
    while (every > 0 && every % run != 0)
        run--;
    draft->form->round_steps = run;
    return run;
}

/* Returns the shape that the laws of training take.  A net has no keys of a
 * layout: it is data parallel. */
struct train_shape draft_train_shape(const struct draft *draft,
                                     double sequence_tokens)
{
    const struct recipe_keys *keys = &draft->keys;
    struct train_shape shape = {
        .llm = draft->llm,
        .method = (enum train_method)keys->method,
        .precision = (enum precision)keys->precision,
        .zero = (int)keys->parallel.zero,
        .recompute = (enum recompute)keys->parallel.recompute,
        .sequence_tokens = sequence_tokens,
        .micro_batch = keys->micro_batch,
        .tp = (uint32_t)keys->parallel.tp,
        .pp = (uint32_t)keys->parallel.pp,
        .vp = (uint32_t)keys->parallel.vp,
        .cp = (uint32_t)keys->parallel.cp,
        .ep = (uint32_t)keys->parallel.ep,
        .sequence_parallel = keys->parallel.sequence_parallel,
        .stack = (enum train_stack)keys->stack,
        .on_host = keys->optimizer_on == OPTIMIZER_ON_CPU,
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

/* Returns the bytes of a checkpoint.  A critic is trained too, so its state is
 * saved beside the policy's. */
double draft_checkpoint_bytes(const struct draft *draft, const struct train_shape *shape)
{
    double critic = draft->critic == NULL ? 0.0 : transfer_checkpoint_bytes(draft->critic);

    return critic + (shape->net != NULL ? net_checkpoint_bytes(shape->net)
                                        : transfer_checkpoint_bytes(shape));
}

/* Adds a phase.  `after_mask` has a bit for each phase that must end before;
 * only earlier ones, so there is no circle.  The law is copied, since forms
 * outlive the draft. */
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

/* Can the role read from there?  Drives must be on all nodes that the role may
 * run on. */
bool draft_from(const struct draft *draft, const struct conf_node *loader,
                int from, uint32_t role)
{
    struct demand demand = {draft->form->name, {NULL, 0, 0}, NULL,
                            {NULL, 0, 0}};

    assert(role < draft->form->role_count);
    if (loader == NULL || from != LOADER_FROM_NVME)
        return true;
    demand.pos = conf_pos(conf_get(loader, "from"));
    return demand_nvme(draft->world, &demand, &draft->form->role[role]);
}

/* Returns the host memory of a role that can cache files: what its processes
 * and its parked state leave.  On cores nothing is left: the law of cores
 * counts all of it. */
static double count_cache(const struct role_spec *role)
{
    if (role->gpus == 0 && role->on_cores.cores > 0)
        return 0.0;             /* what computes needs all of it */
    double used = role->gpus > 0
        ? HOST_BYTES_PER_GPU + role->load_bytes / role->gpus
        : HOST_BYTES_PER_CORE * role->cores;

    return fmax(0.0, (double)role->memory_bytes - used);
}

/* Does the data set fit where it is said to lie?  Shared storage has no bound;
 * drives and memory have those of the largest node. */
static bool check_dataset(const struct draft *draft,
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

/* The first epoch reads everything.  From the run after it on, another law
 * (`later`) counts only what the page cache misses.  In memory there is nothing
 * to miss.  A first epoch of STEPS_MAX runs or more never ends. */
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
    if (!check_dataset(draft, loader, role))
        return false;
    runs = ceil(loader->dataset_bytes / run_bytes);
    if (loader->from == LOADER_FROM_MEMORY || runs >= STEPS_MAX)
        return true;
    later = arena_alloc(draft->world->arena, 1, sizeof *later);
    *later = *spec->law;
    later->dataset_bytes = loader->dataset_bytes;
    later->cache_bytes = count_cache(role);
    later->cache = (enum loader_cache)loader->cache;
    spec->later = later;
    spec->later_from = (uint32_t)runs;
    return true;
}

/* Reads `response:`. A response in parts has at most PARTS_MAX of them, and its
 * maximum is not below its mean. */
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

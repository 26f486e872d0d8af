/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * train.c - pretrain, sft, lora, multimodal: one role that trains.
 *
 * A run of the graph is a pipeline of many optimizer steps, fed by a loader,
 * then a checkpoint where one is due.  The loader works on the cores of the
 * train role, or, if `data` is given, on CPU nodes of its own: then a phase
 * `preprocess` runs beside `train`, and the slower of the two sets the pace
 * (claim A5).  What CPU nodes send crosses the network, and a core receives it
 * unless it is sent past host memory.
 */
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "workloads/recipes/recipe.h"

#include <string.h>

#include "models/laws/loader.h"

static const char *const optimizer_on_choices[] = {"gpu", "cpu", NULL};

#define KEYS_OF_TRAIN_JOB(METHOD) \
    KEYS_OF_ENTRY, \
    KEYS_OF_MODEL, \
    KEYS_OF_TRAINING(METHOD), \
    CONF_KEY("batch", CONF_REAL, recipe_keys, batch, CONF_REQUIRED, \
             "sequences per optimizer step, all replicas", \
             .min = 1, .max = 1e7), \
    CONF_KEY("sequence", CONF_REAL, recipe_keys, sequence, CONF_REQUIRED, \
             "tokens of a sequence", .min = 1, .max = 1e8), \
    CONF_KEY("checkpoint_every", CONF_INT, recipe_keys, checkpoint_every, \
             "100", "optimizer steps between checkpoints; 0: none", \
             .max = 1e9), \
    KEY_CHECKPOINT, \
    CONF_KEY("optimizer_on", CONF_CHOICE, recipe_keys, optimizer_on, "gpu", \
             "where optimizer states lie and are updated: on the GPUs, or in host " \
             "memory by the cores of the role (ZeRO-Offload)", \
             .choices = optimizer_on_choices), \
    CONF_KEY("data", CONF_NODE, recipe_keys, data, CONF_ABSENT, \
             "CPU nodes that prepare data: cores, memory, pool, process_start")
#define KEY_LOADER(FALLBACK) \
    CONF_KEY("loader", CONF_NODE, recipe_keys, loader, FALLBACK, \
             "what is read for a sequence: kind, from, size, per_sequence, " \
             "workers, collect_per_s, files, dataset, cache, numa, pinned, " \
             "epoch, worker_start, send")

static const struct conf_field full_fields[] = {
    KEYS_OF_TRAIN_JOB("full"),
    KEY_LOADER(CONF_ABSENT),
};
static const struct conf_field lora_fields[] = {
    KEYS_OF_TRAIN_JOB("lora"),
    KEY_LOADER(CONF_ABSENT),
};
static const struct conf_field multimodal_fields[] = {
    KEYS_OF_TRAIN_JOB("full"),
    KEY_LOADER(NULL),
};

static const struct conf_field net_fields[] = {
    KEYS_OF_ENTRY,
    CONF_KEY("model", CONF_TEXT, recipe_keys, model, CONF_REQUIRED,
             "net of the catalogue: resnet-50, unet-3d, dlrm-mlperf"),
    CONF_KEY("precision", CONF_CHOICE, recipe_keys, precision, "fp16",
             "of matrices and activations at work",
             .choices = precision_choices),
    CONF_KEY("stack", CONF_CHOICE, recipe_keys, stack, "eager",
             "software of the steps: layer by layer, or (engine) as graphs",
             .choices = train_stack_choices),
    CONF_KEY("micro_batch", CONF_REAL, recipe_keys, micro_batch, CONF_REQUIRED,
             "samples per GPU at a time", .min = 1, .max = 1e6),
    CONF_KEY("batch", CONF_REAL, recipe_keys, batch, CONF_REQUIRED,
             "samples per optimizer step, all GPUs", .min = 1, .max = 1e7),
    CONF_KEY("steps", CONF_NODE, recipe_keys, steps, CONF_REQUIRED,
             "optimizer steps of a job, a number or a distribution"),
    CONF_KEY("checkpoint_every", CONF_INT, recipe_keys, checkpoint_every,
             "1000", "optimizer steps between checkpoints; 0: none", .max = 1e9),
    CONF_KEY("train", CONF_NODE, recipe_keys, train, CONF_REQUIRED,
             "GPUs that train: gpus, min, max, types, pool, cores, memory, "
             "start, process_start"),
    CONF_KEY("data", CONF_NODE, recipe_keys, data, CONF_ABSENT,
             "CPU nodes that prepare data: cores, memory, pool, process_start"),
    CONF_KEY("loader", CONF_NODE, recipe_keys, loader, CONF_ABSENT,
             "what is read for a sample; absent: samples are in GPU memory"),
};

/* Refuses keys of a loader that have no effect: of an epoch where no data set
 * ends, and of workers and their buffers where the data nodes have them. */
static bool check_loader(const struct draft *draft,
                         const struct loader_keys *loader)
{
    const struct conf_node *conf = draft->keys.loader;
    struct err *err = draft->world->err;
    bool elsewhere = draft->keys.data != NULL;

    return conf_acts(conf, "cache", !(loader->dataset_bytes > 0.0),
                     "needs `dataset`, which is read again", err) &&
           conf_acts(conf, "cache", loader->from == LOADER_FROM_MEMORY,
                     "needs `from: storage` or nvme: all is in memory", err) &&
           conf_acts(conf, "epoch", !(loader->dataset_bytes > 0.0),
                     "needs `dataset`, whose end is that of an epoch", err) &&
           conf_acts(conf, "epoch", elsewhere,
                     "needs workers where the job trains, without `data`", err) &&
           conf_acts(conf, "pinned", elsewhere,
                     "needs workers where the job trains, without `data`", err) &&
           conf_acts(conf, "worker_start",
                     conf != NULL && conf_get(conf, "epoch") == NULL,
                     "needs `epoch`: it is that of `spawn`", err);
}

/* Reads `loader:`. Without it, the recipe's usual kind of input is read.  Items
 * of tokens and text are as long as a sequence; the size of images and videos
 * must be stated. */
static bool read_loader(const struct draft *draft, int kind,
                        struct loader_keys *out)
{
    const struct conf_node *conf = draft->keys.loader;

    *out = (struct loader_keys){.kind = kind, .per_sequence = 1.0,
                                .files = -1, .pinned = true};
    if (conf != NULL &&
        !conf_fill(conf, &loader_schema, out, draft->world->err))
        return false;
    if (out->size == 0.0 && out->kind != LOADER_IMAGE &&
        out->kind != LOADER_VIDEO)
        out->size = draft->keys.sequence;
    if (draft->keys.data == NULL && conf != NULL &&
        conf_get(conf, "send") != NULL)
        return err_set(draft->world->err, ERR_SCHEMA,
                       conf_pos(conf_get(conf, "send")),
                       "send has no meaning without data: it says how CPU "
                       "nodes hand tensors over");
    if (!conf_acts(conf, "files", out->from == LOADER_FROM_MEMORY,
                   "needs `from: storage` or nvme: memory has no files",
                   draft->world->err))
        return false;
    if (!check_loader(draft, out))
        return false;
    if (out->size > 0.0)
        return true;
    return err_set(draft->world->err, ERR_SCHEMA, conf_pos(conf),
                   "size is missing: pixels of an image, seconds of a "
                   "video");
}

/* Returns what a whole training sequence costs to read and prepare: all of its
 * items. */
static struct loader_item make_item(const struct loader_keys *keys)
{
    struct loader_item item = loader_item((enum loader_kind)keys->kind,
                                          keys->size);

    if (keys->collect_per_s > 0.0)
        item.collect_s = 1.0 / keys->collect_per_s;
    item.core_s *= keys->per_sequence;
    item.storage_bytes *= keys->per_sequence;
    item.gpu_bytes *= keys->per_sequence;
    item.handover_s *= keys->per_sequence;
    item.collect_s *= keys->per_sequence;
    item.reads *= keys->per_sequence;
    if (keys->files >= 0)
        item.reads = keys->files == LOADER_ITEMS ? keys->per_sequence : 0.0;
    return item;
}

/* Returns the part of an item that stays with the train role where data nodes
 * prepare it: to receive it, which costs a core unless it is sent past host
 * memory, and to collect it. */
static struct loader_item received_item(const struct loader_keys *keys,
                                        struct loader_item item)
{
    item.core_s = keys->send == SEND_ZERO_COPY ? 0.0
                                               : loader_receive_core_s(item.gpu_bytes);
    item.storage_bytes = item.reads = item.handover_s = 0.0;
    return item;
}

/* Adds the phase on CPU nodes that prepares data beside the training.  *role
 * becomes its role.  The law of training keeps only what received_item() says. */
static bool add_preprocess(struct draft *draft,
                           const struct loader_keys *loader,
                           struct phase_law *train, uint32_t *role)
{
    double sequences = train->sequences * train->repeats;
    struct phase_law law = {
        .kind = LAW_CPU,
        .core_s = (train->item.core_s + train->item.handover_s) * sequences,
        .storage_bytes = train->item.storage_bytes * sequences,
        .reads = train->item.reads * sequences,
        .from = train->from,
        .bytes = train->item.gpu_bytes * sequences,
        .zero_copy = loader->send == SEND_ZERO_COPY,
    };
    uint32_t number;

    if (!draft_data_role(draft, draft->keys.data, 8, 0, role))
        return false;
    train->item = received_item(loader, train->item);
    number = draft_phase(draft, PHASE_PREPROCESS, "preprocess", *role, 0,
                         &law);
    draft->form->phase[number].sync_to = 0;
    return draft_dataset(draft, loader, number, law.storage_bytes);
}

/* Sets what the loader does in the law of a step. */
static void fill_loader(const struct loader_keys *loader, struct phase_law *law)
{
    law->item = make_item(loader);
    law->pageable = !loader->pinned;
    law->loader_workers = (uint32_t)loader->workers;
    law->from = (enum loader_from)loader->from;
    law->remote = loader->numa == 1;
    if (loader->epoch == EPOCH_SPAWN)
        law->worker_start_s = clock_s_from_ns(loader->start_ns);
    if (loader->epoch != EPOCH_STAY)
        law->epoch_items = loader->dataset_bytes / law->item.storage_bytes;
}

/* Returns the seconds of one step on an empty cluster, as its loader lets it
 * run; draft_interval() needs them. */
static double time_step(const struct draft *draft, const struct loader_keys *loader,
                        uint32_t role, const struct phase_law *law)
{
    struct phase_law step = *law;

    if (draft->keys.data != NULL)
        step.item = received_item(loader, step.item);
    return draft_law_s(draft, role, &step);
}

/* Expands an entry.  The order matters: the role first, since the checkpoint
 * interval depends on its gang and on what a step reads; then the steps of a
 * run; then the phases. */
static bool expand_entry(const struct recipe *recipe, const struct world *world,
                         const struct conf_node *conf, struct entry *out)
{
    struct draft draft;
    struct loader_keys loader;
    struct train_shape shape;
    struct phase_law law = {.kind = LAW_TRAIN};
    uint32_t role, reader, train;

    bool nets = recipe->schema == &recipe_net_schema;

    if (nets ? !draft_begin_net(&draft, world, conf, recipe)
             : !draft_begin(&draft, world, conf, recipe))
        return false;
    draft.on_cores = !nets;
    /* Samples of a net that name no loader cost nothing to bring. */
    bool loads = !nets || draft.keys.loader != NULL;
    if (loads && !read_loader(&draft, recipe->loader_kind, &loader))
        return false;
    if (!loads && draft.keys.data != NULL)
        return err_set(world->err, ERR_SCHEMA, conf_pos(draft.keys.data),
                       "data of %s has no meaning without loader",
                       draft.form->name);
    if (!loads)
        memset(&loader, 0, sizeof loader);
    shape = draft_train_shape(&draft, draft.keys.sequence);
    if (!draft_train_role(&draft, &shape, (struct beside){0}, START_PROCESS, &role))
        return false;
    law.train = shape;
    law.sequences = draft.keys.batch;
    law.repeats = 1;
    if (loads)
        fill_loader(&loader, &law);
    if (!draft_interval(&draft, &shape, role, time_step(&draft, &loader, role, &law)))
        return false;
    law.repeats = draft_steps_per_run(&draft);
    reader = role;
    if (draft.keys.data != NULL &&
        !add_preprocess(&draft, &loader, &law, &reader))
        return false;
    if (!draft_from(&draft, draft.keys.loader, loader.from, reader))
        return false;
    train = draft_phase(&draft, PHASE_TRAIN, "train", role, 0, &law);
    if (loads &&
        !draft_dataset(&draft, &loader, train,
                       law.item.storage_bytes * law.sequences * law.repeats))
        return false;
    draft_checkpoint(&draft, &shape, role, train);
    *out = draft.entry;
    return true;
}

/* ---- the recipes ------------------------------------------------------ */

const struct conf_schema recipe_pretrain_schema =
    CONF_SCHEMA("workload.mix[].pretrain",
                "training from scratch on token streams", full_fields);
const struct conf_schema recipe_sft_schema =
    CONF_SCHEMA("workload.mix[].sft",
                "supervised fine-tuning on texts", full_fields);
const struct conf_schema recipe_lora_schema =
    CONF_SCHEMA("workload.mix[].lora",
                "fine-tuning of adapters on texts", lora_fields);
const struct conf_schema recipe_multimodal_schema =
    CONF_SCHEMA("workload.mix[].multimodal",
                "training on images or video and text", multimodal_fields);

const struct recipe recipe_pretrain = {
    "pretrain", "train all weights on streams of tokens",
    &recipe_pretrain_schema, expand_entry, LOADER_TOKENS};
const struct recipe recipe_sft = {
    "sft", "supervised fine-tuning on texts that the loader tokenizes",
    &recipe_sft_schema, expand_entry, LOADER_TEXT};
const struct recipe recipe_lora = {
    "lora", "fine-tuning of low-rank adapters", &recipe_lora_schema, expand_entry,
    LOADER_TEXT};
const struct recipe recipe_multimodal = {
    "multimodal", "training on images or video, decoded by CPUs",
    &recipe_multimodal_schema, expand_entry, LOADER_IMAGE};

const struct conf_schema recipe_net_schema =
    CONF_SCHEMA("workload.mix[].net",
                "training of a model that is no transformer", net_fields);
const struct recipe recipe_net = {
    "net", "training a convolutional network or a recommender",
    &recipe_net_schema, expand_entry, LOADER_IMAGE};

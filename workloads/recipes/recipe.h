/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recipe.h - from an entry of `mix` to a form: roles, phases, demands.
 *
 * A recipe is a name, a table of keys and a function that expands an entry.
 * To add one: write a file with its table and its function, and name it in
 * recipes.def.  All recipes fill the same struct of keys; a recipe's table says
 * which of them it takes.
 */
#ifndef WORKLOADS_RECIPES_RECIPE_H
#define WORKLOADS_RECIPES_RECIPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/jobs/job.h"
#include "models/laws/memory.h"
#include "models/laws/phase.h"
#include "sim/config/conf.h"
#include "workloads/jobs/demand.h"
#include "workloads/random/distribution.h"

struct llm;
struct net;
struct recipe;

/* `rollout`, `train`, `infer`, `data` of an entry, and `role` of a trace. */
struct role_keys {
    int64_t gpus, min, max;     /* 0: as the recipe says */
    int64_t cores;              /* per GPU, or in all for a CPU role */
    double memory_bytes;        /* likewise; below 0: as the recipe says */
    const struct conf_node *types, *cpu;        /* NULL: not said, as all below */
    const char *pool, *home;    /* names of pools */
    int start;                  /* enum role_start */
    int64_t process_start_ns;   /* below 0: as the recipe says */
    int64_t cores_start_ns;     /* the same on cores, said in `cpu`; below 0: as above */
    int64_t tp;                 /* GPUs that an engine divides its model among */
    int precision;              /* -1: as the entry's */
    double concurrency;         /* responses at a time of an engine; 0: not said */
    bool async_scheduling;      /* the host of an engine works ahead of its GPU */
};

/* `cpu` of a role. */
struct cores_keys {
    int64_t cores;              /* in all, of one node */
    double memory_bytes;        /* below 0: as the recipe says */
    int64_t process_start_ns;   /* below 0: as the role says */
};

/* What a lease after the first costs beside its bytes: a new process, or one
 * that sleeps is woken. */
enum role_start { START_PROCESS, START_WAKE };

/* Lengths of responses in tokens: mean and coefficient of variation before the cut
 * at max, and the most of one rollout (0: all). */
struct response_keys { double mean, cv, max, partial; };
/* How responses are scored: core_time_ns of one core for each, or a model (its name) on
 * GPUs.  on: enum reward_on. */
struct reward_keys { int on; int64_t core_time_ns; const char *model; };
/* Where responses are scored. */
enum reward_on { REWARD_CPU, REWARD_GPU };
/* The keys of `loader:`, what is read and prepared for a sequence. */
struct loader_keys {
    int kind, from;             /* enum loader_kind, enum loader_from */
    double size, per_sequence;  /* of an item, in the unit of its kind; items */
    int64_t workers;            /* per GPU; 0: one for each core */
    int files;                  /* enum loader_files; -1: as usual */
    double dataset_bytes;       /* 0: not said */
    int cache;                  /* enum loader_cache */
    double collect_per_s;       /* items a GPU's process collects; 0: not said */
    int numa;                   /* 1: buffers at the other socket */
    bool pinned;
    int epoch;                  /* enum loader_epoch */
    int64_t start_ns;           /* of a spawned worker */
    int send;                   /* enum loader_send */
};
/* How data nodes hand tensors over: through host memory, which costs a core of
 * the receiver, or past it. */
enum loader_send { SEND_COPY, SEND_ZERO_COPY };
/* Where optimizer states lie and are updated. */
enum optimizer_on { OPTIMIZER_ON_GPU, OPTIMIZER_ON_CPU };
/* What workers do at the end of an epoch: stay, or new ones start. */
enum loader_epoch { EPOCH_STAY, EPOCH_FORK, EPOCH_SPAWN };

/* How training is divided among GPUs: chunks of a pipeline stage, GPUs that divide a
 * sequence, experts, states (ZeRO stage 0 to 3), layers, and stages. */
struct parallel_keys {
    int64_t vp, cp, ep, zero, tp, pp;
    int recompute;              /* place in recompute_choices */
    bool sequence_parallel;
};

/* The keys of all recipes; each recipe's table says which of them it takes. */
struct recipe_keys {
    const char *recipe, *name, *tenant, *model;
    double share;               /* weight among the entries */
    int64_t priority;           /* larger goes first */
    const struct conf_node *limit, *deadline, *steps;
    int method, precision, stack;       /* places in their lists of words */
    struct parallel_keys parallel;
    int64_t lora_rank;          /* of the adapters */
    /* Sequences or samples of a replica at a time, and of an optimizer step; tokens of a
     * sequence. */
    double micro_batch, batch, sequence;
    /* Optimizer steps between checkpoints, 0: none; of alignment, passes over what a step
     * generated, and optimizer steps of a pass. */
    int64_t checkpoint_every, epochs, updates;
    int generation, layout, schedule, checkpoint;       /* places, likewise */
    bool reference, offload;    /* of alignment: a frozen model runs too; colocated: the
                                   trainer's state waits in host memory */
    int optimizer_on;           /* enum optimizer_on */
    const char *critic;         /* its model; NULL: none */
    /* Prompts of a step or a batch, responses and pairs of a prompt, and mean tokens of a
     * prompt. */
    double prompts, responses, pairs, prompt_tokens;
    const struct conf_node *response, *reward, *loader;
    const struct conf_node *rollout, *train, *infer, *data;
    const struct conf_node *gpus, *duration, *role, *elastic, *rates;
    const struct conf_node *packing;
};

/* What an entry becomes. */
struct entry {
    const struct recipe *recipe;    /* by the key `recipe` */
    const struct conf_node *conf;   /* the entry as written, for places of errors */
    const struct job_form *form;    /* of all its jobs; lives in the arena of the world */
    double share;               /* weight among the entries, as written */
    const char *tenant;         /* NULL: none */
    int32_t priority;           /* of all its jobs */
    bool has_limit, has_deadline;
    bool limit_is_factor;       /* of the run time, not seconds */
    struct distribution limit, deadline;    /* seconds */
    bool whole;                 /* a job of known size and length: */
    struct distribution gpus, duration;     /* duration in seconds */
    const struct job_rates *rates;          /* NULL: the same everywhere */
    struct distribution steps;  /* if not */
    const char *layout_why;     /* `layout: auto`: what a reader should know of the
                                   choice; NULL: nothing */
};

/* A recipe makes an entry of a mix into a form: its name, its keys, and the
 * function that expands it.  expand() returns false with world->err set. */
struct recipe {
    const char *name, *summary;
    const struct conf_schema *schema;   /* the keys that it takes */
    bool (*expand)(const struct recipe *recipe, const struct world *world,
                   const struct conf_node *conf, struct entry *out);
    int loader_kind;            /* of those that train: the usual input */
};

#define RECIPE(ID) \
    extern const struct conf_schema recipe_##ID##_schema; \
    extern const struct recipe recipe_##ID;
#include "workloads/recipes/recipes.def"
#undef RECIPE

/* recipes.c: the table; ends at recipe_count. */
extern const struct recipe *const recipe_table[];
extern const size_t recipe_count;

/* Keys of every entry. */
#define KEYS_OF_ENTRY_BUT_LIMIT \
    CONF_KEY("recipe", CONF_TEXT, recipe_keys, recipe, CONF_REQUIRED, \
             "what kind of job this is"), \
    CONF_KEY("name", CONF_TEXT, recipe_keys, name, CONF_ABSENT, \
             "how results call it; default: the recipe.  Which job is of which kind " \
             "follows from the names, so another name draws other jobs"), \
    CONF_KEY("share", CONF_REAL, recipe_keys, share, "1", \
             "weight of this entry among the jobs that arrive", .max = 1e9), \
    CONF_KEY("priority", CONF_INT, recipe_keys, priority, "0", \
             "larger goes first, under a policy that looks at it " \
             "(`explain POLICY`)", .min = -1e6, .max = 1e6), \
    CONF_KEY("tenant", CONF_TEXT, recipe_keys, tenant, CONF_ABSENT, \
             "whose jobs these are"), \
    CONF_KEY("deadline", CONF_NODE, recipe_keys, deadline, CONF_ABSENT, \
             "time after submission, or a distribution of times")
#define KEYS_OF_ENTRY \
    KEYS_OF_ENTRY_BUT_LIMIT, \
    CONF_KEY("limit", CONF_NODE, recipe_keys, limit, CONF_ABSENT, \
             "requested time, a time or a distribution of times")

#define KEYS_OF_MODEL \
    CONF_KEY("model", CONF_TEXT, recipe_keys, model, CONF_REQUIRED, \
             "LLM of the catalogue"), \
    CONF_KEY("precision", CONF_CHOICE, recipe_keys, precision, "bf16", \
             "of weights and activations at work", \
             .choices = precision_choices)

/* Keys of what is trained; KEYS_OF_MODEL beside them. */
#define KEYS_OF_TRAINING(METHOD) \
    CONF_KEY("method", CONF_CHOICE, recipe_keys, method, METHOD, \
             "all weights, adapters, or adapters on 4-bit weights", \
             .choices = train_method_choices), \
    CONF_KEY("lora_rank", CONF_INT, recipe_keys, lora_rank, "16", \
             "rank of the adapters, on every linear layer", \
             .min = 1, .max = 1024), \
    CONF_KEY("zero", CONF_INT, recipe_keys, parallel.zero, "0", \
             "ZeRO stage: what is divided among data-parallel GPUs", .max = 3), \
    CONF_KEY("recompute", CONF_CHOICE, recipe_keys, parallel.recompute, "selective", \
             "activations computed again, not kept", \
             .choices = recompute_choices), \
    CONF_KEY("tp", CONF_INT, recipe_keys, parallel.tp, "1", "tensor-parallel GPUs", \
             .min = 1, .max = 64), \
    CONF_KEY("pp", CONF_INT, recipe_keys, parallel.pp, "1", "pipeline stages", \
             .min = 1, .max = 512), \
    CONF_KEY("vp", CONF_INT, recipe_keys, parallel.vp, "1", \
             "interleaved chunks of layers of one pipeline stage", \
             .min = 1, .max = 64), \
    CONF_KEY("cp", CONF_INT, recipe_keys, parallel.cp, "1", \
             "context-parallel GPUs, which divide a sequence", \
             .min = 1, .max = 64), \
    CONF_KEY("ep", CONF_INT, recipe_keys, parallel.ep, "1", \
             "expert-parallel GPUs, which divide the experts of a mixture; " \
             "divides the data times context parallel GPUs", \
             .min = 1, .max = 4096), \
    CONF_KEY("sequence_parallel", CONF_BOOL, recipe_keys, parallel.sequence_parallel, \
             "false", "norms and residuals divided by tp too"), \
    CONF_KEY("stack", CONF_CHOICE, recipe_keys, stack, "eager", \
             "software of the steps: PyTorch layer by layer, Megatron-LM to " \
             "2022, or fused kernels (Transformer Engine)", \
             .choices = train_stack_choices), \
    CONF_KEY("micro_batch", CONF_REAL, recipe_keys, micro_batch, "1", \
             "sequences per replica at a time", .min = 1, .max = 4096), \
    CONF_KEY("steps", CONF_NODE, recipe_keys, steps, CONF_REQUIRED, \
             "optimizer steps (alignment: rollout steps) of a job, a number " \
             "or a distribution"), \
    CONF_KEY("train", CONF_NODE, recipe_keys, train, CONF_REQUIRED, \
             "GPUs that train: gpus, min, max, types, pool, cores, memory, " \
             "cpu, start, process_start")

/* parts.c, roles.c, keys.c: what the recipes share. - */

#define ROLE_GPUS_MAX 100000.0
/* Host memory of a role, where its key is not given. */
#define HOST_BYTES_PER_GPU  16e9    /* assumption: process, pinned buffers */
#define HOST_BYTES_PER_CORE 2e9     /* assumption: one worker, its batches */

extern const struct conf_schema role_train_schema, role_engine_schema,
    role_data_schema, role_cores_schema, role_trace_schema, role_whole_schema, response_schema,
    reward_schema, loader_schema;

/* A form in the making. */
struct draft {
    const struct world *world;
    const struct conf_node *conf;       /* the entry */
    struct recipe_keys keys;    /* of the entry, filled by the recipe's table */
    const struct llm *llm;      /* or: */
    const struct net *net;
    const struct train_shape *critic;   /* trained and saved beside; or NULL */
    struct job_form *form;      /* in the arena of the world; entry.form once it is done */
    struct entry entry;         /* what draft_open() and the recipe fill */
    bool on_cores;              /* its role may compute on cores alone */
    bool either;                /* `layout: auto`: keys of both layouts stand */
};

/* Fills keys, name, share, deadline, and an empty form. */
bool draft_open(struct draft *draft, const struct world *world,
                const struct conf_node *conf, const struct recipe *recipe);
/* As draft_open(), and reads model, limit and steps. */
bool draft_begin(struct draft *draft, const struct world *world,
                 const struct conf_node *conf, const struct recipe *recipe);
/* Find a model, or a net, of the catalogue; `key` is that of the entry which names
 * it.  False: err says that there is none, with a hint. */
bool draft_model(const struct draft *draft, const char *key,
                 const char *name, const struct llm **out);
bool draft_net(const struct draft *draft, const char *name,
               const struct net **out);
/* As draft_begin, of a recipe whose model is a net and no LLM. */
bool draft_begin_net(struct draft *draft, const struct world *world,
                     const struct conf_node *conf,
                     const struct recipe *recipe);
/* Returns how many steps make a run.  All runs are whole, and a whole number of them lies between
 * checkpoints (0: there are none). */
uint32_t draft_steps_per_run(struct draft *draft);

/* Returns the shape of training on sequences of that length. */
struct train_shape draft_train_shape(const struct draft *draft,
                                     double sequence_tokens);
/* What a training role has beside its own state, in bytes of each GPU: what its GPUs hold,
 * what a lease loads once the role has run, and before.  copy: the same, where as few GPUs
 * as can hold the model have it. */
struct beside {
    double held_bytes, load_bytes, first_bytes, copy_bytes, first_copy_bytes;
};
/* Each adds a role; false and a located err when it cannot run anywhere. */
bool draft_train_role(struct draft *draft, const struct train_shape *longest,
                      struct beside beside, int start, uint32_t *role);
bool draft_engine_role(struct draft *draft, const char *name,
                       const struct conf_node *conf, double context_tokens,
                       int start, struct rollout_shape *shape,
                       uint32_t *role);
/* cores.c: bytes of host memory that a role needs on cores, at least and by
 * default, and what is loaded into it.  Of shapes with an llm. */
struct cores_need { double least_bytes, usual_bytes, load_bytes; };
struct cores_need cores_need_engine(const struct rollout_shape *shape,
                                    double context_tokens);
struct cores_need cores_need_train(const struct train_shape *shape);
/* Fills role->on_cores by `cpu` and `types`, after the counts of its GPUs, and
 * keys->cores_start_ns; where `types` names cpu alone, the role has no GPUs then. */
bool draft_role_cores(struct draft *draft, const struct conf_node *conf,
                      struct role_keys *keys,
                      const struct cores_need *need, struct role_spec *role);
/* An engine on the GPUs of a role that trains, which grows to hold both. */
bool draft_engine_beside(struct draft *draft, const struct conf_node *conf,
                         double context_tokens, uint32_t role,
                         struct rollout_shape *shape);
/* Before the train role is made: the GPUs that it asks for, and the fewest that it may get. */
bool draft_train_gpus(const struct draft *draft,
                      const struct train_shape *shape, uint32_t *gpus, uint32_t *fewest);
/* GPUs that each answer batches of `samples` of draft->net. */
bool draft_net_role(struct draft *draft, const struct conf_node *conf,
                    double samples, struct rollout_shape *shape,
                    uint32_t *role);
/* A role without GPUs; conf NULL: the recipe's default, `cores` anywhere, whose process
 * works start_s after a lease has begun. */
bool draft_data_role(struct draft *draft, const struct conf_node *conf,
                     uint32_t cores, double start_s, uint32_t *role);

/* Adds a phase and returns its number. */
uint32_t draft_phase(struct draft *draft, enum phase_kind kind,
                     const char *name, uint32_t role, uint32_t after_mask,
                     const struct phase_law *law);
/* Sets checkpoint_every where `checkpoint: young` or `daly` asks for it, from
 * the seconds of a step; before draft_steps_per_run(). */
bool draft_interval(struct draft *draft, const struct train_shape *shape,
                    uint32_t role, double step_s);
/* For draft_interval(), on an empty cluster: a law on its role, and one run of
 * the phases so far; 0 where steps are counted. */
double draft_law_s(const struct draft *draft, uint32_t role,
                   const struct phase_law *law);
double draft_run_s(const struct draft *draft);
/* The checkpoint after phase `after`, where the entry wants any. */
void draft_checkpoint(struct draft *draft, const struct train_shape *shape,
                      uint32_t role, uint32_t after);
double draft_checkpoint_bytes(const struct draft *draft, const struct train_shape *shape);
extern const char *const checkpoint_choices[];
#define KEY_CHECKPOINT \
    CONF_KEY("checkpoint", CONF_CHOICE, recipe_keys, checkpoint, "steps", \
             "as often as checkpoint_every says, or as Young or Daly have it " \
             "from what fails in the cluster", .choices = checkpoint_choices)

/* Can that role read from there?  `loader` NULL: it can. */
bool draft_from(const struct draft *draft, const struct conf_node *loader,
                int from, uint32_t role);

/* trace.c: the form of a job of known length, on the role that `conf`
 * describes (NULL: any GPU), and the largest gang that could ever run.  The
 * entry stands at `pos`. */
#define WHOLE_JOB_MAX_S 1e9
bool whole_job_form(const struct world *world, const char *name,
                    const struct conf_schema *schema,
                    const struct conf_node *conf, struct err_pos pos,
                    struct job_form *form, uint32_t *gpus_max);

/* The largest gang of one type among the types that the role may use. */
uint32_t whole_job_gpus_max(const struct world *world,
                            const struct role_spec *role);

/* Reading again finds a part of the data set in the memory of the role that
 * reads: adds the law of all but the first epoch to a phase, of which one run
 * reads run_bytes. */
bool draft_dataset(const struct draft *draft,
                   const struct loader_keys *loader, uint32_t phase,
                   double run_bytes);
/* Reads the lengths of responses.  False: err says which two keys disagree. */
bool draft_response(const struct draft *draft, struct response_keys *out);
/* Mean of a lognormal length that is cut at the maximum. */
double response_mean_cut(const struct response_keys *response);

#endif

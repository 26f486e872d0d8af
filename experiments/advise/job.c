/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job.c - the jobs of a workload, free in their layout.
 *
 * The file is read as any workload, but against GPUs of the catalogue's names
 * whose memory has no end: a job that fits nowhere as written is what advice
 * is for.  Everything else that is wrong with it is an error here, too.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/advise/advise.h"
#include "experiments/spec/pool_names.h"
#include "experiments/spec/tree.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/config/mend.h"
#include "sim/text/paths.h"
#include "workloads/random/distribution.h"
#include "workloads/source.h"

/* Memory of a GPU on which any job fits. */
#define ENDLESS_BYTES 1e18

/* Returns a copy of the spec whose GPUs hold anything. */
static const struct cluster_spec *copy_endless(struct arena *arena,
                                               const struct cluster_spec *spec)
{
    struct cluster_spec *copy = arena_alloc(arena, 1, sizeof *copy);
    struct node_group *group = arena_alloc(arena, spec->group_count,
                                           sizeof *group);

    *copy = *spec;
    copy->group = group;
    for (uint32_t g = 0; g < spec->group_count; g++) {
        struct gpu_type *gpu = arena_alloc(arena, 1, sizeof *gpu);

        group[g] = spec->group[g];
        *gpu = *group[g].gpu;
        gpu->memory_bytes = ENDLESS_BYTES;
        group[g].gpu = gpu;
    }
    return copy;
}

/* Returns a cluster that has every GPU of the catalogue in every pool that the
 * workload names, so that each name in the workload is known.  NULL: err says
 * why. */
static const struct cluster_spec *make_endless(const struct advise_world *world,
                                               const struct conf_node *workload,
                                               struct err *err)
{
    struct arena *arena = world->arena;
    struct pool_names pools = { { "any" }, 1 };
    const char *text = "nodes:\n";
    const struct conf_node *root;
    const struct cluster_spec *spec;

    pool_names_find(workload, &pools);
    for (size_t p = 0; p < pools.count; p++)
        for (size_t i = 0; i < catalogue_gpu_count(world->catalogue); i++)
            text = text_format(
                arena, "%s  - {name: n%zu-%zu, count: 8192, gpus: {type: %s, "
                "count: 8}, cpu: {type: epyc-9654, sockets: 8}, memory: "
                "900TB, nvme: 8x3.84TB, pool: %s, price: 1USD/h}\n", text, p, i,
                catalogue_gpu_at(world->catalogue, i)->name, pools.name[p]);
    root = conf_parse(arena, "GPUs without end", text, strlen(text), err);
    if (root == NULL)
        return NULL;
    spec = cluster_read(arena, root, world->catalogue, err);
    return spec == NULL ? NULL : copy_endless(arena, spec);
}

/* Returns the recipe of a name, which was checked when the workload was read. */
static const struct recipe *find_recipe(const char *name)
{
    for (size_t i = 0; i < recipe_count; i++)
        if (strcmp(recipe_table[i]->name, name) == 0)
            return recipe_table[i];
    assert(!"workload_read refuses any other");
    return NULL;
}

/* Returns the number of the role, or ADVISE_NONE. */
static uint32_t find_role(const struct job_form *form, const char *name)
{
    for (uint32_t r = 0; r < form->role_count; r++)
        if (strcmp(form->role[r].name, name) == 0)
            return r;
    return ADVISE_NONE;
}

/* Finds what the laws ask of each role, and which phase sets the pace: the last
 * training phase (a critic's comes before the policy's), else the engine's. */
static void find_laws(struct advise_job *job)
{
    const struct job_form *form = job->form;
    bool aligned = job->keys.prompts > 0.0 && job->keys.infer == NULL;

    job->train = find_role(form, "train");
    job->engine = find_role(form, "rollout");
    if (job->engine == ADVISE_NONE)
        job->engine = find_role(form, "infer");
    job->trains = job->train != ADVISE_NONE;
    for (uint32_t p = 0; p < form->phase_count; p++) {
        const struct phase_spec *phase = &form->phase[p];

        if (phase_law_usual(phase)->kind == LAW_TRAIN) {
            /* A critic's training comes before the policy's. */
            if (job->task.law != NULL)
                job->task.beside = &job->task.law->train;
            job->task.law = phase_law_usual(phase);
            job->main_phase = p;
        } else if (job->trains && phase->role == job->train &&
                   phase->kind == PHASE_ROLLOUT) {
            job->generate = phase_law_usual(phase);
            job->shares = true;
        } else if (phase->role == job->engine &&
                   (phase->kind == PHASE_ROLLOUT || !job->trains)) {
            job->generate = phase_law_usual(phase);
            if (!job->trains)
                job->main_phase = p;
        }
    }
    if (!job->trains)
        return;
    job->task.longest_tokens = job->task.law->train.sequence_tokens;
    if (aligned && job->context_tokens > job->task.longest_tokens)
        job->task.longest_tokens = job->context_tokens;
    job->task.frozen = aligned && job->keys.reference &&
                       job->task.law->train.method == TRAIN_FULL;
}

/* Expands the entry as the reader of workloads does, and keeps its keys: the
 * search must know which of them may vary. */
static bool read_job(const struct advise_world *world,
                     const struct conf_node *conf,
                     const struct cluster_spec *cluster,
                     struct advise_job *job, struct err *err)
{
    struct world reading = { world->arena, world->catalogue, cluster, err };
    const struct recipe *recipe =
        find_recipe(conf_text(conf_get(conf, "recipe")));
    struct response_keys response = { 0 };
    struct entry entry = { 0 };

    job->conf = conf;
    if (!conf_fill(conf, recipe->schema, &job->keys, err) ||
        !recipe->expand(recipe, &reading, conf, &entry))
        return false;
    if (job->keys.response != NULL &&
        !conf_fill(job->keys.response, &response_schema, &response, err))
        return false;
    job->form = entry.form;
    job->steps = distribution_clamped_mean(&entry.steps);
    job->steps = fmax(1.0, round(job->steps));
    job->runs = fmax(1.0, round(job->steps / entry.form->round_steps));
    job->context_tokens = job->keys.prompt_tokens + response.max;
    find_laws(job);
    return true;
}

/* Reads the workload against GPUs without end; *cluster is that cluster.  NULL:
 * err says why. */
static const struct workload_spec *read_against_all(
    const struct advise_world *world, const struct conf_node *root,
    const struct cluster_spec **cluster, struct err *err)
{
    if (conf_kind(root) == CONF_MAP && conf_get(root, "trace") != NULL) {
        err_set(err, ERR_SCHEMA, conf_pos(conf_get(root, "trace")),
                "advise needs a mix of recipes: the jobs of a trace have run "
                "times and no laws");
        return NULL;
    }
    *cluster = make_endless(world, root, err);
    return *cluster == NULL ? NULL
                            : workload_read(world->arena, root,
                                            world->catalogue, *cluster, err);
}

/* Returns the part of a file that says what is to run; NULL: err. */
static const struct conf_node *workload_part(const struct advise_world *world,
                                             const char *path,
                                             struct err *err)
{
    struct experiment_inputs inputs = { .arena = world->arena };
    struct err_pos pos = { path, 0, 0 };
    const struct conf_node *part = tree_part(&inputs, path, "workload", err);

    if (part == NULL && err->kind == ERR_NONE)
        err_set(err, ERR_SCHEMA, pos, "key 'workload' is missing");
    return part;
}

/* One reading of a workload and, if asked for, of its jobs. */
struct reading {
    const struct advise_world *world;
    const struct workload_spec *spec;   /* as read for a cluster without limits */
    const struct conf_node *root;
    struct advise_job **jobs;           /* NULL: not asked for */
    size_t count;
};

/* Called again by conf_mend_read() for a mended tree. */
static bool read_workload(void *self, const struct conf_node *root,
                          struct err *err)
{
    struct reading *reading = self;
    const struct cluster_spec *cluster;

    reading->root = root;
    if (reading->jobs != NULL)
        reading->count = advise_jobs_from(reading->world, root, reading->jobs,
                                          err);
    else
        reading->spec = read_against_all(reading->world, root, &cluster, err);
    return err->kind == ERR_NONE;
}

/* Reads a workload's file.  After an error the tree is mended and read on, so that
 * err->next has the others. */
static bool read_file(struct reading *reading, const char *path,
                      struct err *err)
{
    struct conf_mend mend = { .arena = reading->world->arena };

    mend.root = workload_part(reading->world, path, err);
    return mend.root != NULL &&
           conf_mend_read(&mend, read_workload, reading, err);
}

const struct workload_spec *advise_workload_read(
    const struct advise_world *world, const char *path,
    const struct conf_node **root, struct err *err)
{
    struct reading reading = { .world = world };
    bool good = read_file(&reading, path, err);

    *root = reading.root;
    return good ? reading.spec : NULL;
}

size_t advise_jobs_read(const struct advise_world *world, const char *path,
                        struct advise_job **jobs, struct err *err)
{
    struct reading reading = { .world = world, .jobs = jobs };

    return read_file(&reading, path, err) ? reading.count : 0;
}

/* The whole workload is read first, so that all its errors are found, and then
 * each entry of its mix again by itself. */
size_t advise_jobs_from(const struct advise_world *world,
                        const struct conf_node *root,
                        struct advise_job **jobs, struct err *err)
{
    const struct cluster_spec *cluster;
    const struct conf_node *mix;
    size_t count;

    if (read_against_all(world, root, &cluster, err) == NULL)
        return 0;
    mix = conf_get(root, "mix");
    if (mix == NULL)            /* services alone */
        return 0;
    count = conf_count(mix);
    *jobs = arena_alloc(world->arena, count, sizeof **jobs);
    for (size_t i = 0; i < count; i++)
        if (!read_job(world, conf_item(mix, i), cluster, &(*jobs)[i], err))
            return 0;
    return count;
}

bool advise_job_check(const struct advise_job *job, struct err *err)
{
    const struct job_form *form = job->form;

    for (uint32_t r = 0; r < form->role_count; r++) {
        const struct conf_node *map = conf_get(job->conf, form->role[r].name);

        if ((r != job->train && r != job->engine) || form->role[r].gpus > 0)
            continue;
        err_set(err, ERR_RANGE, conf_pos(map != NULL ? map : job->conf), "role %.60s of %.60s "
                "runs on cores alone, and advise ranks GPUs", form->role[r].name, form->name);
        return err_hint(err, "Name a type of GPU beside `cpu` in its `types:`, or leave `types:` "
                        "out.");
    }
    return true;
}

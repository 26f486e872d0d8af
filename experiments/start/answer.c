/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * answer.c - the five questions, and what their answers may be.
 *
 * Names are those of the catalogue, of workloads/start and of the registry; the
 * message about another one has the nearest of them.
 */
#include <string.h>

#include "experiments/start/parts.h"
#include "experiments/start/start.h"
#include "models/catalogue/catalogue.h"
#include "policies/policy.h"
#include "policies/registry/registry.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"
#include "workloads/start/start_file.h"

#define GPUS_MAX 100000

static const struct err_pos nowhere = { NULL, 0, 0 };

static const char *const compare_words[] = { "policies", "load", "size", NULL };

static const char *const questions[START_COUNT] = {
    [START_COMPARE] = "What do you want to compare?",
    [START_GPUS] = "Which GPUs, and how many?",
    [START_JOBS] = "Which jobs?",
    [START_LOAD] = "How busy is the cluster?",
    [START_POLICIES] = "Which scheduling policies?",
};

struct start *start_open(struct arena *arena, const char *path, const char *columns,
                         struct err *err)
{
    struct start *start = arena_alloc(arena, 1, sizeof *start);
    size_t bytes = strlen(path);

    *start = (struct start){ .arena = arena, .path = path, .columns = columns };
    if (bytes < 6 || strcmp(path + bytes - 5, ".yaml") != 0) {
        err_set(err, ERR_USAGE, nowhere, "the file of an experiment must end in .yaml, "
                "and is '%.80s'", path);
        return NULL;
    }
    start->name = path_stem(arena, path);
    if (!start_check_free(start, err))
        return NULL;
    start->catalogue = catalogue_load(arena, NULL, 0, err);
    return start->catalogue == NULL ? NULL : start;
}

bool start_asks(const struct start *start, enum start_question question)
{
    return question != START_LOAD || start->job_count > 0 || !start->set[START_JOBS];
}

bool start_has_rollouts(const struct start *start)
{
    for (uint32_t i = 0; i < start->job_count; i++)
        if (strstr(start->job[i]->text, " rollout: {gpus: 8}") != NULL)
            return true;
    return false;
}

/* ---- lists of names ---------------------------------------------------- */

/* Returns the names with ", " between them, and the array that ends with NULL. */
static const char *join_names(struct arena *arena, const char *const *name)
{
    const char *text = "";

    for (size_t i = 0; name[i] != NULL; i++)
        text = text_format(arena, "%s%s%s", text, i == 0 ? "" : ", ", name[i]);
    return text;
}

/* GPU types of the catalogue, and "generic", which has no catalogue entry. */
static const char *const *list_gpus(const struct start *start)
{
    size_t count = catalogue_gpu_count(start->catalogue);
    const char **name = arena_alloc(start->arena, count + 2, sizeof *name);

    for (size_t i = 0; i < count; i++)
        name[i] = catalogue_gpu_at(start->catalogue, i)->name;
    if (catalogue_gpu(start->catalogue, "generic") == NULL)
        name[count++] = "generic";
    name[count] = NULL;
    return name;
}

/* Recipes for which there is a file in workloads/start. */
static const char *const *list_jobs(const struct start *start)
{
    const char **name = arena_alloc(start->arena, start_file_count + 1, sizeof *name);

    for (unsigned i = 0; i < start_file_count; i++)
        name[i] = start_recipe(start, &start_file[i]);
    name[start_file_count] = NULL;
    return name;
}

/* All policies of the registry, in its order. */
static const char *const *list_policies(const struct start *start)
{
    size_t count = 0;

    while (registry_at(count) != NULL)
        count++;
    const char **name = arena_alloc(start->arena, count + 1, sizeof *name);
    for (size_t i = 0; i < count; i++)
        name[i] = registry_at(i)->name;
    name[count] = NULL;
    return name;
}

struct start_info start_info(const struct start *start, enum start_question question)
{
    struct start_info info = { .ask = questions[question] };

    switch (question) {
    case START_COMPARE:
        info.allowed = "policies, load (also at lower loads), "
                       "size (also on more nodes)";
        info.usual = "policies";
        break;
    case START_GPUS:
        info.allowed = text_format(start->arena, "TYPE:COUNT, or several with commas; "
                                   "types: %s", join_names(start->arena, list_gpus(start)));
        info.usual = "a100-80:32";
        break;
    case START_JOBS:
        info.allowed = text_format(start->arena, "one or several of %s; or a file: a trace "
                                   "(.csv, .swf) or a workload (.yaml)",
                                   join_names(start->arena, list_jobs(start)));
        info.usual = "lora";
        break;
    case START_LOAD:
        info.allowed = "1% to 500% of what the fullest pool can do; above 100% the "
                       "queue grows as long as jobs come";
        info.usual = "80%";
        break;
    default:
        info.allowed = join_names(start->arena, list_policies(start));
        info.usual = start_has_rollouts(start) ? "static,dynamic" : "fcfs,sjf,easy";
        break;
    }
    return info;
}

/* ---- answers ----------------------------------------------------------- */

/* Takes the next name of a list "a, b" without the blanks around it; NULL at the
 * end.  An empty one is a name, too, which nothing has. */
static const char *take_name(struct arena *arena, const char **list)
{
    const char *from = *list;
    size_t bytes;

    if (from == NULL)
        return NULL;
    from += strspn(from, " ");
    bytes = strcspn(from, ",");
    *list = from[bytes] == ',' ? from + bytes + 1 : NULL;
    while (bytes > 0 && from[bytes - 1] == ' ')
        bytes--;
    return text_format(arena, "%.*s", (int)bytes, from);
}

/* False, with the nearest of the names. */
static bool refuse_name(const struct start *start, const char *kind, const char *found,
                        const char *const *name, struct err *err)
{
    const char *near = conf_nearest(found, name);

    err_set(err, ERR_USAGE, nowhere, "there is no %s '%.60s'", kind, found);
    return near != NULL ? err_hint(err, "Did you mean %s?", near)
                        : err_hint(err, "Allowed: %s.", join_names(start->arena, name));
}

/* Words are in the order of enum start_compare. */
static bool set_compare(struct start *start, const char *text, struct err *err)
{
    for (int i = 0; compare_words[i] != NULL; i++)
        if (strcmp(text, compare_words[i]) == 0) {
            start->compare = (enum start_compare)i;
            return true;
        }
    return refuse_name(start, "comparison", text, compare_words, err);
}

/* As nodes of 8 if that divides the number, else of 4, 2 or 1; few GPUs are one
 * node. */
static uint32_t choose_each(uint32_t gpus)
{
    uint32_t each = 8;

    if (gpus <= 8)
        return gpus;
    while (gpus % each != 0)
        each /= 2;
    return each;
}

/* False, with what the catalogue has: the family of the name, or the nearest. */
static bool refuse_gpu(const struct start *start, const char *type, struct err *err)
{
    static const char *const generic[] = { "generic", NULL };

    if (conf_nearest(type, generic) != NULL)
        return refuse_name(start, "GPU type", type, generic, err);
    err_set(err, ERR_USAGE, nowhere, "there is no GPU type '%.60s'", type);
    return catalogue_hint(start->catalogue, CATALOGUE_GPUS, type, err);
}

/* Reads "TYPE:COUNT" into a pool, and chooses its nodes. */
static bool read_pool(const struct start *start, const char *text,
                      struct start_pool *pool, struct err *err)
{
    const char *colon = strchr(text, ':');
    size_t bytes = colon == NULL ? strlen(text) : (size_t)(colon - text);
    const char *type = text_format(start->arena, "%.*s", (int)bytes, text);
    int64_t gpus;

    pool->gpu = catalogue_gpu(start->catalogue, type);
    pool->type = pool->gpu == NULL ? "generic" : pool->gpu->name;
    if (pool->gpu == NULL && strcmp(type, "generic") != 0)
        return refuse_gpu(start, type, err);
    if (colon == NULL || !scan_i64(colon + 1, strlen(colon + 1), &gpus) || gpus < 1 ||
        gpus > GPUS_MAX) {
        err_set(err, ERR_USAGE, nowhere, "the number of GPUs must be from 1 to %d, and "
                "is '%.40s'", GPUS_MAX, colon == NULL ? "" : colon + 1);
        return err_hint(err, "Write for example %s:64.", type);
    }
    pool->gpus = (uint32_t)gpus;
    pool->each = choose_each(pool->gpus);
    return true;
}

/* The pools are taken over only if all of them can be read. */
static bool set_gpus(struct start *start, const char *text, struct err *err)
{
    struct start_pool pool[START_POOLS] = { { 0 } };
    uint32_t count = 0;
    const char *word;

    while ((word = take_name(start->arena, &text)) != NULL) {
        if (count == START_POOLS)
            return err_set(err, ERR_USAGE, nowhere, "at most %u types of GPU, found more",
                           START_POOLS);
        if (!read_pool(start, word, &pool[count], err))
            return false;
        for (uint32_t i = 0; i < count; i++)
            if (strcmp(pool[i].type, pool[count].type) == 0)
                return err_set(err, ERR_USAGE, nowhere, "the type %s is there twice",
                               pool[i].type);
        count++;
    }
    memcpy(start->pool, pool, sizeof pool);
    start->pool_count = count;
    return true;
}

/* Returns the file of a recipe; NULL: there is none of that name. */
static const struct start_file *find_job(const struct start *start, const char *name)
{
    for (unsigned i = 0; i < start_file_count; i++)
        if (strcmp(start_recipe(start, &start_file[i]), name) == 0)
            return &start_file[i];
    return NULL;
}

/* A word with a dot or a slash is a file. */
static bool set_file(struct start *start, const char *path, struct err *err)
{
    const char *end = strrchr(path, '.');

    if (!path_is_file(path))
        return err_set(err, ERR_IO, (struct err_pos){ path, 0, 0 }, "there is no such file");
    start->trace = start->workload = NULL;
    start->job_count = 0;
    if (end != NULL && strcmp(end, ".yaml") == 0) {
        start->workload = path;
        return true;
    }
    return start_read_trace(start, path, err);
}

/* Recipes take the place of a trace or workload that was answered before, and the other
 * way round. */
static bool set_jobs(struct start *start, const char *text, struct err *err)
{
    const struct start_file *job[START_NAMES];
    uint32_t count = 0;
    const char *word;

    if (strpbrk(text, "./") != NULL)
        return set_file(start, arena_text(start->arena, text), err);
    while ((word = take_name(start->arena, &text)) != NULL) {
        const struct start_file *file = find_job(start, word);

        if (file == NULL)
            return refuse_name(start, "recipe", word, list_jobs(start), err);
        for (uint32_t i = 0; i < count; i++)
            if (job[i] == file)
                return err_set(err, ERR_USAGE, nowhere, "the recipe %s is there twice", word);
        if (count < START_NAMES)
            job[count++] = file;
    }
    memcpy(start->job, job, count * sizeof *job);
    start->job_count = count;
    start->trace = start->workload = NULL;
    return true;
}

/* The sign % is needed: without it, 0.8 and 80 could mean the same. */
static bool set_load(struct start *start, const char *text, struct err *err)
{
    size_t bytes = strlen(text);
    double percent;

    if (bytes == 0 || text[bytes - 1] != '%' || !scan_f64(text, bytes - 1, &percent) ||
        !(percent >= 1 && percent <= 500))
        return err_set(err, ERR_USAGE, nowhere, "the load must be from 1%% to 500%%, such as "
                       "80%%, and is '%.40s'", text);
    start->load = percent / 100;
    return true;
}

/* Built-in policies alone: files and programs are named in the experiment itself. */
static bool set_policies(struct start *start, const char *text, struct err *err)
{
    uint32_t count = 0;
    const char *word, *policy[START_NAMES];

    while ((word = take_name(start->arena, &text)) != NULL) {
        const struct cs_policy *found = registry_find(word);
        const char *near = registry_nearest(word);

        if (found == NULL && near != NULL) {
            err_set(err, ERR_USAGE, nowhere, "there is no policy '%.60s'", word);
            return err_hint(err, "Did you mean %s?", near);
        }
        if (found == NULL)
            return refuse_name(start, "policy", word, list_policies(start), err);
        for (uint32_t i = 0; i < count; i++)
            if (strcmp(policy[i], found->name) == 0)
                return err_set(err, ERR_USAGE, nowhere, "the policy %s is there twice", word);
        if (count < START_NAMES)
            policy[count++] = found->name;
    }
    memcpy(start->policy, policy, count * sizeof *policy);
    start->policy_count = count;
    return true;
}

bool start_set(struct start *start, enum start_question question, const char *text,
               struct err *err)
{
    static bool (*const set[START_COUNT])(struct start *start, const char *text,
                                          struct err *err) = {
        set_compare, set_gpus, set_jobs, set_load, set_policies
    };

    if (!start_asks(start, question)) {
        err_set(err, ERR_USAGE, nowhere, "a file of jobs has a load of its own, found '%.40s'",
                text);
        return err_hint(err, "Leave --load away.");
    }
    if (!set[question](start, text, err))
        return false;
    start->set[question] = true;
    return true;
}

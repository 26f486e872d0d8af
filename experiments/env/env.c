/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * env.c - the face: opens an environment, and steps its trials one after the
 * other.
 *
 * An environment that could not be opened is still returned, so that its error
 * has a place to live; every later call on it does nothing and returns false.
 * Arrays of the caller are written trial by trial: make_view() finds the parts of
 * a trial. Trials of one environment run in the caller's thread: for
 * several threads, open several environments.
 */
#include "experiments/env/env.h"

#include <assert.h>
#include <gsl/gsl_errno.h>
#include <locale.h>
#include <math.h>
#include <string.h>

#include "experiments/columns/metric.h"
#include "experiments/env/episode.h"
#include "experiments/env/plan.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/sized.h"

static const struct err_pos nowhere = { NULL, 0, 0 };

struct clustersim_env {
    struct arena *arena;
    /* Of the experiment: its path, or name, and its text or NULL; copies, for errors of
     * later calls. */
    const char *path, *source;
    struct clustersim_env_options options;  /* copies of the caller's */
    struct plan plan;           /* valid if `open` */
    bool open, failed;          /* is there a plan; did the last call fail */
    struct episode *episode;    /* [plan.shape.count] */
    struct err err;             /* of the last call */
    struct clustersim_env_error error;  /* the same, as callers see it */
    char *text;                 /* of the error, in the arena; used again */
    size_t text_room;
};

/* ---- errors ---- */

/* Always false: formats the error of this call, for clustersim_env_error(). */
static bool keep_error(struct clustersim_env *env)
{
    const struct err *err = &env->err;
    size_t bytes = err_format_text(err, env->path, env->source, NULL, 0) + 1;

    assert(err->kind != ERR_NONE);
    ARENA_REACH(env->arena, env->text, env->text_room, bytes - 1);
    (void)err_format_text(err, env->path, env->source, env->text, bytes);
    env->failed = true;
    env->error = (struct clustersim_env_error){
        err_exit_status(err->kind), env->text, err->text, err->hint[0] == '\0' ? NULL : err->hint,
        err->pos.file, err->pos.line, err->pos.col
    };
    return false;
}

const struct clustersim_env_error *clustersim_env_error(const struct clustersim_env *env)
{
    return env->failed ? &env->error : NULL;
}

/* Begins a call, forgetting the last error; false: the environment was not opened. */
static bool enter_call(struct clustersim_env *env)
{
    if (!env->open)
        return false;
    env->failed = false;
    memset(&env->err, 0, sizeof env->err);
    return true;
}

/* ---- begin and end ---- */

/* Numbers of YAML and CSV are read and written with the C library's help; a
 * program may have set a locale whose point is a comma. */
static bool check_locale(struct err *err)
{
    const char *point = localeconv()->decimal_point;

    return strcmp(point, ".") == 0 ||
           err_set(err, ERR_USAGE, nowhere, "the locale must write numbers with a point, and "
                   "writes '%.8s'", point);
}

/* Options of another version are shorter or longer (sim/base/sized.h).  GSL's handler is
 * off since it would end the caller's program. */
struct clustersim_env *clustersim_env_open(const char *path,
                                           const struct clustersim_env_options *options)
{
    struct arena *arena = arena_new(1 << 16);
    struct clustersim_env *env = arena_alloc(arena, 1, sizeof *env);

    env->arena = arena;
    gsl_set_error_handler_off();
    if (!sized_copy(&env->options, sizeof env->options, options, &env->err)) {
        (void)keep_error(env);
        return env;
    }
    env->path = path == NULL ? NULL : arena_text(arena, path);
    env->source = env->options.text == NULL ? NULL : arena_text(arena, env->options.text);
    if (!check_locale(&env->err) ||
        !plan_read(&env->plan, arena, path, &env->options, &env->err)) {
        (void)keep_error(env);
        return env;
    }
    env->open = true;
    env->episode = arena_alloc(arena, env->plan.shape.count, sizeof *env->episode);
    return env;
}

void clustersim_env_close(struct clustersim_env *env)
{
    if (env == NULL)
        return;
    for (uint32_t i = 0; env->open && i < env->plan.shape.count; i++)
        episode_drop(&env->episode[i]);
    arena_free(env->arena);
}

/* ---- what it is ---- */

const struct clustersim_env_shape *clustersim_env_shape(const struct clustersim_env *env)
{
    return &env->plan.shape;
}

/* A feature or a reward, under the kind by which it is asked for. */
struct named {
    const char *kind, *name, *help;
};

static const struct named feature[] = {
#define TASK_FEATURE(ID, NAME, HELP) { "task", NAME, HELP },
#define PLACE_FEATURE(ID, NAME, HELP) { "place", NAME, HELP },
#define CLOCK_FEATURE(ID, NAME, HELP) { "clock", NAME, HELP },
#define RUNNING_FEATURE(ID, NAME, HELP) { "running", NAME, HELP },
#include "experiments/env/features.def"
#undef TASK_FEATURE
#undef PLACE_FEATURE
#undef CLOCK_FEATURE
#undef RUNNING_FEATURE
#define REWARD(ID, NAME, METRIC, HELP) { "reward", NAME, HELP },
#include "experiments/env/rewards.def"
#undef REWARD
};

/* Returns the name of metric `i`, those of the experiment's own behind the others; NULL past
 * the last, or where nothing is open. */
static const char *metric_name(const struct clustersim_env *env, uint32_t i,
                               const char **help)
{
    const struct metric_set *set = env->open ? experiment_metrics(env->plan.experiment) : NULL;

    if (!env->open || i >= metric_count(set))
        return NULL;
    if (help != NULL)
        *help = metric_info(set, (enum metric)i)->help;
    return metric_info(set, (enum metric)i)->name;
}

/* The kinds stand one after the other in the table; i counts down within the kind. */
const char *clustersim_env_name(const struct clustersim_env *env, const char *kind,
                                uint32_t i, const char **help)
{
    if (strcmp(kind, "places") == 0)
        return i < env->plan.shape.places ? env->plan.place[i].name : NULL;
    if (strcmp(kind, "metric") == 0)
        return metric_name(env, i, help);
    for (size_t f = 0; f < sizeof feature / sizeof *feature; f++)
        if (strcmp(feature[f].kind, kind) == 0 && i-- == 0) {
            if (help != NULL)
                *help = feature[f].help;
            return feature[f].name;
        }
    return NULL;
}

/* ---- episodes ---- */

/* False, with err: there is no trial `i`. */
static bool check_trial(struct clustersim_env *env, uint32_t i)
{
    return i < env->plan.shape.count ||
           err_set(&env->err, ERR_USAGE, nowhere, "trial must be from 0 to %u, found %u",
                   env->plan.shape.count - 1, i);
}

/* Returns where trial `i` writes what it sees. */
static struct episode_view make_view(const struct clustersim_env *env, uint32_t i,
                                     const struct clustersim_env_out *out)
{
    const struct clustersim_env_shape *shape = &env->plan.shape;

    return (struct episode_view){ out->observation + (size_t)i * shape->floats,
                                  out->mask + (size_t)i * shape->actions };
}

/* Writes what a trial gives beside what it sees: the reward since the last step,
 * and its states. */
static void write_out(struct clustersim_env *env, uint32_t i, enum cs_verdict verdict,
                      const struct clustersim_env_out *out)
{
    struct episode *episode = &env->episode[i];

    out->reward[i] = episode_pay(episode);
    out->terminated[i] = episode->over;
    out->truncated[i] = episode->truncated;
    out->verdict[i] = (uint8_t)verdict;
}

/* Begins an episode.  What happened before the first choice is due to no action:
 * it is paid with the first one, so the reward here is 0.  An episode without a choice ends
 * with its first step, too, whose action is to wait. */
static bool begin_trial(struct clustersim_env *env, uint32_t i, uint64_t seed,
                        const struct clustersim_env_out *out)
{
    struct episode_view view = make_view(env, i, out);

    if (!episode_begin(&env->episode[i], &env->plan, seed, &view, &env->err))
        return false;
    out->reward[i] = 0;
    out->terminated[i] = 0;
    out->truncated[i] = 0;
    out->verdict[i] = CS_DONE;
    return true;
}

bool clustersim_env_reset(struct clustersim_env *env, uint32_t i, uint64_t seed,
                          const struct clustersim_env_out *out)
{
    return enter_call(env) &&
           ((check_trial(env, i) && begin_trial(env, i, seed, out)) || keep_error(env));
}

/* False, with err, if the trial cannot be stepped or the action is no number of
 * one.  An action that the mask forbids is fine: the host judges it. */
static bool check_action(struct clustersim_env *env, uint32_t i, int64_t action)
{
    const struct episode *episode = &env->episode[i];

    if (!episode->begun)
        return err_set(&env->err, ERR_USAGE, nowhere, "trial %u must be reset before its "
                       "first step", i);
    if (!episode_waits(episode) &&
        (episode->over || episode->truncated || episode->trial == NULL))
        return err_set(&env->err, ERR_USAGE, nowhere, "the episode of trial %u is over: it "
                       "must be reset", i);
    if (action < 0 || action >= env->plan.shape.actions)
        return err_set(&env->err, ERR_USAGE, nowhere, "the action of trial %u must be from 0 "
                       "to %u, found %lld", i, env->plan.shape.actions - 1,
                       (long long)action);
    return true;
}

/* One step of one trial. With go_on, a trial that is over begins its next episode
 * instead, whose seed no other trial of the environment has. */
static bool step_trial(struct clustersim_env *env, uint32_t i, int64_t action,
                       const struct clustersim_env_out *out)
{
    struct episode *episode = &env->episode[i];
    struct episode_view view = make_view(env, i, out);
    enum cs_verdict verdict = CS_DONE;

    if (env->options.go_on && !episode_waits(episode) &&
        (episode->over || episode->truncated))
        return begin_trial(env, i, episode->seed + env->plan.shape.count, out);
    if (!check_action(env, i, action) ||
        !episode_act(episode, (uint32_t)action, &view, &verdict, &env->err))
        return false;
    write_out(env, i, verdict, out);
    return true;
}

bool clustersim_env_step(struct clustersim_env *env, const int64_t *action,
                         const struct clustersim_env_out *out)
{
    if (!enter_call(env))
        return false;
    for (uint32_t i = 0; i < env->plan.shape.count; i++)
        if (!step_trial(env, i, action[i], out))
            return keep_error(env);
    return true;
}

/* ---- what came of it ---- */

double clustersim_env_score(const struct clustersim_env *env, uint32_t i)
{
    assert(!env->open || i < env->plan.shape.count);
    return env->open ? env->episode[i].earned : 0;
}

/* A metric without a value (NAN) counts as not there. */
bool clustersim_env_metric(const struct clustersim_env *env, uint32_t i, const char *name,
                           double *value)
{
    const struct episode *episode;
    enum metric metric;
    const struct metric_set *set;

    if (!env->open || i >= env->plan.shape.count || !env->episode[i].done)
        return false;
    episode = &env->episode[i];
    set = experiment_metrics(env->plan.experiment);
    metric = metric_find(set, name);
    if (metric >= metric_count(set) || isnan(episode->result.value[metric]))
        return false;
    *value = episode->result.value[metric];
    return true;
}

uint64_t clustersim_env_seed(const struct clustersim_env *env, uint32_t i)
{
    assert(!env->open || i < env->plan.shape.count);
    return env->open ? env->episode[i].seed : 0;
}

uint64_t clustersim_env_steps(const struct clustersim_env *env, uint32_t i)
{
    assert(!env->open || i < env->plan.shape.count);
    return env->open ? env->episode[i].steps : 0;
}

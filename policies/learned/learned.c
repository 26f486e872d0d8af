/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * learned.c - gives each pair of a waiting phase and a possible place a linear
 * score.  Starts the pair with the best score, again and again, until the best
 * score is below 0.
 *
 * The features are known to a system that profiles its jobs.  The weights come
 * from `clustersim train`: it runs the simulator on training seeds
 * (evolution strategies, Salimans et al. 2017, or the cross-entropy method,
 * Rubinstein 1999), and never on the seeds of the evaluation.  Without weights all
 * scores are 0: first come, first served, at the first place that fits.  The policy is
 * good only for mixes like those of its training.
 */
#include <math.h>

#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy learned_policy;

/* What a pair is scored by; the first five say which kind of place it is. */
enum learned_feature {
    ON_HELD, AT_HOME, TAKES_IDLE, GROWS, ON_CORES, RUN, SWITCH, EVICT, AGE,
    JOB_LEFT, GPUS, SLOWER, USD, START, FEATURE_COUNT
};

/* The keys of the weights, in the order of the features. */
static const struct cs_weights learned_weights[FEATURE_COUNT] = {
    { .key = "on_held" }, { .key = "at_home" }, { .key = "takes_idle" },
    { .key = "grows" }, { .key = "on_cores" }, { .key = "run" },
    { .key = "switch" }, { .key = "evict" }, { .key = "age" },
    { .key = "job_left" }, { .key = "gpus" }, { .key = "slower" },
    { .key = "usd" }, { .key = "start" }
};

struct learned {
    int64_t depth_max;          /* parameter: tasks that are scored at a decision */
    double weight[FEATURE_COUNT]; /* 0: it was not given */
};

static const struct cs_param learned_param[] = {
    { .key = "depth_max", .type = CS_PARAM_INT,
      .offset = offsetof(struct learned, depth_max),
      .min = 1, .max = 1e6, .fallback = "12",
      .help = "tasks, from the oldest on, that are scored at a decision" },
};

/* The best action so far; held: it goes on with the lease that it has. */
struct learned_choice {
    struct task_id task;        /* a task that waits */
    struct cs_want want;        /* the place that is asked of the host */
    double score;               /* the higher the better; of `found` */
    bool found, held;
};

/* Reads the weights. */
static bool learned_init(void *self, struct cs_host *host)
{
    struct learned *learned = self;

    for (int i = 0; i < FEATURE_COUNT; i++)
        learned->weight[i] = cs_weight(host, learned_weights[i].key);
    return true;
}

/* Maps seconds to about 0..2: a minute is 0.6, an hour 1.2, a day 1.6. */
static double squeeze_seconds(double s)
{
    return log1p(s > 0 ? s : 0) / 7;
}

/* The score of a task at a place; `place`: one of ON_HELD to ON_CORES.  Most features lie
 * between 0 and 2, so that weights can be compared; SLOWER and USD are logarithms. */
static double learned_score(const struct learned *learned,
                            const struct cs_host *host,
                            const struct cs_task *task,
                            const struct cs_forecast *f, int place)
{
    double asked_s = (double)task->estimate_ns / 1e9;
    double age_s = (double)(cs_now_ns(host) - task->submit_ns) / 1e9;
    uint32_t all = cs_total_gpus(host, 0);      /* 0: cores alone, or none is rented */
    double x[FEATURE_COUNT] = {
        [ON_HELD] = place == ON_HELD, [AT_HOME] = place == AT_HOME,
        [TAKES_IDLE] = place == TAKES_IDLE, [GROWS] = place == GROWS,
        [ON_CORES] = place == ON_CORES,
        [RUN] = squeeze_seconds(f->run_s),
        [SWITCH] = squeeze_seconds(f->switch_s), [EVICT] = squeeze_seconds(f->evict_s),
        [AGE] = squeeze_seconds(age_s),
        [JOB_LEFT] = squeeze_seconds((double)cs_left_ns(host, task->job) / 1e9),
        [GPUS] = all > 0 ? (double)f->gpus / all : 0,
        [SLOWER] = asked_s > 0 ? log(f->run_s / asked_s + 1e-9) : 0,
        [USD] = log(f->usd + 1e-3), [START] = 1,
    };
    double score = 0;

    for (int i = 0; i < FEATURE_COUNT; i++)
        score += learned->weight[i] * x[i];
    return score;
}

/* Scores an option, if it fits, and keeps it in *best if it is better. */
static void learned_try_option(const struct learned *learned,
                               struct cs_host *host,
                               struct learned_choice option, int place,
                               struct learned_choice *best)
{
    const struct cs_task *task = cs_task(host, option.task);
    struct cs_forecast f = { 0 };

    option.held = place == ON_HELD;
    if (option.held         ? !cs_forecast_held(host, option.task, &f)
        : place == ON_CORES ? !cs_forecast(host, option.task, &option.want, &f)
                            : !cs_forecast_best(host, option.task,
                                                &option.want, &f))
        return;
    option.score = learned_score(learned, host, task, &f, place);
    option.found = true;
    if (!best->found || option.score > best->score)
        *best = option;
}

/* May its role run on cores in the place of GPUs? */
static bool learned_chooses(const struct cs_host *host,
                            const struct cs_task *task)
{
    const struct job_form *form = cs_request(host, task->job)->form;

    return task->role < form->role_count &&
           job_role_chooses(&form->role[task->role]);
}

/* Tries each of the oldest depth_max tasks at five kinds of places: on the
 * lease that it holds, at home, elsewhere, with more GPUs, on cores.  O(depth_max) forecasts
 * for each task that is started. */
static struct learned_choice learned_find_best(const struct learned *learned,
                                               struct cs_host *host)
{
    struct learned_choice best = { .found = false };
    uint32_t depth = cs_pending_count(host);

    if (depth > learned->depth_max) {
        cs_limit_reached(host);
        depth = (uint32_t)learned->depth_max;
    }
    for (uint32_t i = 0; i < depth; i++) {
        struct learned_choice option = { .task = cs_pending(host, i) };
        const struct cs_task *task = cs_task(host, option.task);

        learned_try_option(learned, host, option, ON_HELD, &best);
        option.want.pool_mask = cs_home_pools(host, option.task, task->role);
        learned_try_option(learned, host, option, AT_HOME, &best);
        option.want.pool_mask = 0;
        option.want.take_idle = true;
        learned_try_option(learned, host, option, TAKES_IDLE, &best);
        option.want.gpus = cs_most_gpus(host, option.task);
        if (option.want.gpus > task->gpus)
            learned_try_option(learned, host, option, GROWS, &best);
        option.want = (struct cs_want) { .gpu_type = CS_ON_CORES };
        if (learned_chooses(host, task))
            learned_try_option(learned, host, option, ON_CORES, &best);
    }
    return best;
}

/* Does any lease load, run or save? */
static bool learned_any_works(const struct cs_host *host)
{
    for (uint32_t i = 0; i < cs_lease_count(host); i++)
        if (cs_lease(host, cs_lease_at(host, i))->state != CS_LEASE_IDLE)
            return true;
    return false;
}

/* Ends when nothing fits or waiting is better; each start changes the features
 * of the others, so that the best is sought again. */
static void learned_decide(void *self, struct cs_host *host)
{
    for (;;) {
        struct learned_choice best = learned_find_best(self, host);
        enum cs_verdict verdict;

        /* Below 0 it is better to wait, unless no lease works. */
        if (!best.found || (best.score < 0 && learned_any_works(host)))
            return;
        verdict = best.held ? cs_continue(host, best.task)
                            : cs_start_want(host, best.task, &best.want);
        if (verdict != CS_DONE)
            return;
    }
}

const struct cs_policy learned_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "learned",
    .cites = "salimans2017evolution rubinstein1999cross",
    .summary = "linear scores of phases and places, trained in the simulator",
    .flags = CS_PER_PHASE | CS_HOMES | CS_FORECASTS | CS_GROWS |
             CS_ASKS_WEIGHTS | CS_TAKES_OVER,
    .self_bytes = sizeof(struct learned),
    .param = learned_param,
    .param_count = sizeof learned_param / sizeof learned_param[0],
    .weights_count = FEATURE_COUNT,
    .weights = learned_weights,
    .init = learned_init,
    .decide = learned_decide,
    .limits = "depth_max",
};

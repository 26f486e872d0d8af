/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plain_learned.c - an oracle: the best of all pairs of a phase and a place by a linear
 * score, as README.md of the policy says, written as one list of what there is.
 */
#include <math.h>
#include <string.h>

#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy plain_learned_policy;

struct plain_learned {
    int64_t depth_max;          /* the parameter */
};

enum place { HELD, HOME, ANYWHERE, LARGER, CORES };

static double about(double s)
{
    return log1p(fmax(s, 0)) / 7;
}

static double score_of(const struct cs_host *host, const struct cs_task *task,
                       const struct cs_forecast *f, enum place place)
{
    static const char *const of_place[] = {
        "on_held", "at_home", "takes_idle", "grows", "on_cores" };
    double all = cs_total_gpus(host, 0), asked_s = (double)task->estimate_ns / 1e9;
    const struct { const char *key; double x; } feature[] = {
        { of_place[place], 1 },
        { "run", about(f->run_s) },
        { "switch", about(f->switch_s) },
        { "evict", about(f->evict_s) },
        { "age", about((double)(cs_now_ns(host) - task->submit_ns) / 1e9) },
        { "job_left", about((double)cs_left_ns(host, task->job) / 1e9) },
        { "gpus", all > 0 ? f->gpus / all : 0 },
        { "slower", asked_s > 0 ? log(f->run_s / asked_s + 1e-9) : 0 },
        { "usd", log(f->usd + 1e-3) },
        { "start", 1 },
    };
    double sum = 0;

    for (size_t i = 0; i < sizeof feature / sizeof *feature; i++)
        sum += cs_weight(host, feature[i].key) * feature[i].x;
    return sum;
}

/* What a place means for a task; false: it is none for it. */
static bool want_of(const struct cs_host *host, struct task_id id, enum place place,
                    struct cs_want *want)
{
    const struct cs_task *task = cs_task(host, id);
    const struct role_spec *role = task->role == CS_ALL_ROLES
        ? NULL : &cs_request(host, task->job)->form->role[task->role];

    memset(want, 0, sizeof *want);
    switch (place) {
    case HELD:
        return task->held.i != ID_NONE;
    case HOME:
        want->pool_mask = cs_home_pools(host, id, task->role);
        return true;
    case LARGER:
        want->gpus = cs_most_gpus(host, id);
        want->take_idle = true;
        return want->gpus > task->gpus;
    case CORES:
        want->gpu_type = CS_ON_CORES;
        return role != NULL && job_role_chooses(role);
    default:
        want->take_idle = true;
        return true;
    }
}

/* Starts the best; false: nothing is better than to wait. */
static bool start_best(const struct plain_learned *self, struct cs_host *host, bool works)
{
    struct cs_want want, best = { 0 };
    struct task_id which = { ID_NONE };
    enum place where = HELD;
    double most = 0;

    for (uint32_t i = 0; i < cs_pending_count(host) && i < self->depth_max; i++)
        for (enum place place = HELD; place <= CORES; place++) {
            struct task_id id = cs_pending(host, i);
            struct cs_forecast f;
            if (!want_of(host, id, place, &want))
                continue;
            bool fits = place == HELD    ? cs_forecast_held(host, id, &f)
                        : place == CORES ? cs_forecast(host, id, &want, &f)
                                         : cs_forecast_best(host, id, &want, &f);
            double score = fits ? score_of(host, cs_task(host, id), &f, place) : 0;
            if (!fits || (which.i != ID_NONE && score <= most))
                continue;
            which = id;
            where = place;
            best = want;
            most = score;
        }
    if (which.i == ID_NONE || (works && most < 0))
        return false;
    return (where == HELD ? cs_continue(host, which)
                          : cs_start_want(host, which, &best)) == CS_DONE;
}

static void decide(void *self, struct cs_host *host)
{
    bool works;

    do {
        works = false;
        for (uint32_t i = 0; i < cs_lease_count(host); i++)
            works = works || cs_lease(host, cs_lease_at(host, i))->state != CS_LEASE_IDLE;
    } while (start_best(self, host, works));
}

const struct cs_policy plain_learned_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "learned",
    .summary = "the best of all pairs of a phase and a place, by a list",
    .flags = CS_PER_PHASE | CS_HOMES | CS_FORECASTS | CS_GROWS | CS_ASKS_WEIGHTS,
    .self_bytes = sizeof(struct plain_learned),
    .decide = decide,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * episode.c - a trial stops where there is a choice, and goes on when all of an
 * instant is decided.
 *
 * The loop of the trial is left and entered again: what decides is no callback,
 * so no thread or second stack is needed.  Within a decision a step is a call
 * of the host.  A decision without a choice (nothing that waits could start, nothing
 * that runs could be changed) is passed by.
 *
 * Rewards are differences of a potential (score.h) between two stops, so they
 * sum up to the episode's score, however many steps there are.
 */
#include "experiments/env/episode.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/env/plan.h"
#include "experiments/env/running.h"
#include "policies/host/host.h"
#include "policies/phases.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

/* An episode of some hundred jobs fits into one block. */
#define ARENA_BYTES ((size_t)1 << 14)

void episode_drop(struct episode *episode)
{
    trial_drop(episode->trial);
    arena_free(episode->look.arena);
    episode->trial = NULL;
    episode->look.arena = NULL;
}

/* The trial is over: shows its last state, takes its score, and closes it, which
 * audits it.  False: the audit, or a limit, failed it; err says why. */
static bool end_episode(struct episode *episode, const struct episode_view *view, struct err *err)
{
    struct trial *trial = episode->trial;

    episode->over = true;
    look_end(&episode->look);
    look_write(&episode->look, view->observation, view->mask);
    episode->earned = score_now(&episode->score, episode->plan->reward, true);
    episode->trial = NULL;
    episode->done = trial_close(trial, &episode->result, err);
    return episode->done;
}

/* Runs until there is a choice, or to the end; `now`: there may be another choice
 * at this instant. */
static bool run_to_choice(struct episode *episode, bool now, const struct episode_view *view,
                          struct err *err)
{
    bool asks = now && look_anew(&episode->look);

    while (!asks && trial_go(episode->trial) == TRIAL_ASKS)
        asks = look_anew(&episode->look);
    if (!asks)
        return end_episode(episode, view, err);
    look_write(&episode->look, view->observation, view->mask);
    episode->earned = score_now(&episode->score, episode->plan->reward, false);
    return true;
}

bool episode_begin(struct episode *episode, const struct plan *plan, uint64_t seed,
                   const struct episode_view *view, struct err *err)
{
    episode_drop(episode);
    *episode = (struct episode){ .plan = plan, .seed = seed, .result = episode->result,
                                 .done = episode->done };
    episode->spec = plan_trial(plan, seed);
    episode->trial = trial_open(&episode->spec, &episode->tables, err);
    if (episode->trial == NULL)
        return false;
    episode->begun = true;
    look_begin(&episode->look, plan, arena_new(ARENA_BYTES), episode->trial, &episode->spec);
    score_begin(&episode->score, episode->trial);
    return run_to_choice(episode, false, view, err);
}

/* Starts a task by a choice; the host judges what the mask forbids, too. */
static enum cs_verdict start_task(struct episode *episode, uint32_t row, uint32_t choice)
{
    struct look *look = &episode->look;
    struct cs_want want;

    if (row >= look->rows)
        return CS_NOT_PENDING;
    const struct cs_want *there = look_want(look, row, choice, &want);
    enum cs_verdict verdict = there == NULL
        ? cs_start(look->host, look->row.task[row])
        : cs_start_want(look->host, look->row.task[row], there);
    if (verdict == CS_DONE)
        look_started(look, row);
    return verdict;
}

bool episode_waits(const struct episode *episode)
{
    return episode->over && episode->done && episode->steps == 0;
}

/* An action that changed nothing leaves time as it is and shows the same choice
 * again; steps_max bounds an agent that repeats it. */
bool episode_act(struct episode *episode, uint32_t action, const struct episode_view *view,
                 enum cs_verdict *verdict, struct err *err)
{
    const struct clustersim_env_shape *shape = &episode->plan->shape;
    bool wait = action == shape->actions - 1;

    bool told = !episode_waits(episode);

    assert((episode->trial != NULL) == told && action < shape->actions);
    episode->steps++;
    if (!told) {
        *verdict = wait ? CS_DONE : CS_NOT_PENDING;
        look_write(&episode->look, view->observation, view->mask);
        return true;
    }
    if (wait)
        *verdict = episode->look.may_wait ? CS_DONE : CS_NOT_ALLOWED;
    else if (action < shape->rows * shape->choices)
        *verdict = start_task(episode, action / shape->choices, action % shape->choices);
    else
        *verdict = running_act(&episode->look.running,
                               (action - shape->rows * shape->choices) / shape->ends,
                               (action - shape->rows * shape->choices) % shape->ends);
    bool fine = true;
    if (*verdict == CS_DONE)
        fine = run_to_choice(episode, !wait, view, err);
    else
        look_write(&episode->look, view->observation, view->mask);
    episode->truncated = !episode->over && episode->plan->steps_max > 0 &&
                         episode->steps >= episode->plan->steps_max;
    return fine;
}

double episode_pay(struct episode *episode)
{
    double pay = episode->earned - episode->paid;

    episode->paid = episode->earned;
    return pay;
}

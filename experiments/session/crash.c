/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * crash.c - which trials crash, from run to run.
 *
 * A trial is known here by its hash and the limits it ran under: with other limits it may
 * come to an end.  The hash has the program in it, so a mended program tries again.
 */
#include "experiments/session/crash.h"

#include <string.h>

#include "experiments/process/rescue.h"
#include "experiments/results/results.h"
#include "experiments/runner/runner.h"
#include "experiments/session/session.h"
#include "experiments/spec/experiment.h"
#include "experiments/trials/crashed.h"
#include "policies/host/host.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/hash.h"

struct crash {
    const struct folder *trials;
    struct crashed known;       /* by earlier runs; empty without --resume */
    struct rescue *rescue;      /* NULL: a program that is not ours takes its signals */
    bool *crashes;              /* by policy: a trial of it has */
};

/* Returns the command that goes on with the run: as it came, with --resume, which stands
 * before a `--`.  NULL: the program does not begin anew. */
static char *const *resume_command(struct arena *arena, const struct session_options *options)
{
    const struct provenance_command *command = &options->command;
    char **argv = arena_alloc(arena, (size_t)command->count + 2, sizeof *argv);
    int count = 0, i = 0;

    if (!options->begin_anew)
        return NULL;
    while (i < command->count && strcmp(command->word[i], "--") != 0)
        argv[count++] = command->word[i++];
    if (!options->resume)
        argv[count++] = arena_text(arena, "--resume");
    while (i < command->count)
        argv[count++] = command->word[i++];
    argv[count] = NULL;
    return argv;
}

struct crash *crash_open(struct arena *arena, const struct experiment *experiment,
                         const struct results *results,
                         const struct session_options *options)
{
    struct crash *crash = arena_alloc(arena, 1, sizeof *crash);

    *crash = (struct crash){
        .trials = results->trials,
        .crashes = arena_alloc(arena, experiment->policy_count, sizeof *crash->crashes)
    };
    if (options->resume)
        crash->known = crashed_read(arena, results->trials);
    else
        crash_forget(arena, crash);
    if (options->ear == NULL)
        crash->rescue = rescue_new(arena, options->threads, folder_handle(results->trials),
                                   CRASHED_FILE, resume_command(arena, options));
    return crash;
}

void crash_arm(struct crash *crash)
{
    if (crash->rescue != NULL)
        rescue_arm(crash->rescue);
}

void crash_disarm(struct crash *crash)
{
    if (crash->rescue != NULL)
        rescue_disarm(crash->rescue);
}

void crash_enter(struct crash *crash, uint32_t thread)
{
    if (crash->rescue != NULL)
        rescue_enter(crash->rescue, thread);
}

void crash_leave(struct crash *crash, uint32_t thread)
{
    if (crash->rescue != NULL)
        rescue_leave(crash->rescue, thread);
}

/* Returns how notes of crashes know a trial: by its hash and, where it has a process of
 * its own, the limits of that. */
static uint64_t key_of(const struct experiment *experiment, uint32_t index)
{
    const struct trial_guest *limits = &experiment->process.built_in;
    uint64_t hash = experiment_trial_hash(experiment, index);

    if (!limits->apart)
        return hash;
    hash = hash_u64(hash, (uint64_t)limits->event_limit_ns);
    hash = hash_u64(hash, (uint64_t)limits->time_limit_ns);
    return hash_u64(hash, (uint64_t)limits->memory_bytes);
}

void crash_mark(struct crash *crash, uint32_t thread, const struct experiment *experiment,
                uint32_t index)
{
    if (crash->rescue != NULL)
        rescue_mark(crash->rescue, thread, key_of(experiment, index));
}

void crash_pass_over(struct crash *crash, const struct experiment *experiment,
                     struct runner_trial *trial, uint32_t *passed)
{
    uint32_t count = crash->known.count > 0 ? experiment_trial_count(experiment) : 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct crashed_trial *known =
            crashed_find(&crash->known, key_of(experiment, i));

        if (known == NULL)
            continue;
        crash->crashes[experiment_trial(experiment, i).policy] = true;
        if (trial[i].state != RUNNER_WAITING || known->err == NULL)
            continue;
        trial[i].state = RUNNER_FAILED;
        trial[i].err = known->err;
        ++*passed;
    }
}

bool crash_is_alone(const struct crash *crash, const struct experiment *experiment,
                    uint32_t index)
{
    return crash->crashes[experiment_trial(experiment, index).policy];
}

/* A policy that is not built in is tried again: its own file may have been mended. */
bool crash_note(struct arena *arena, const struct crash *crash,
                const struct experiment *experiment, const struct runner_trial *trial,
                struct err *err)
{
    for (uint32_t i = 0; i < experiment_trial_count(experiment); i++) {
        struct experiment_trial t = experiment_trial(experiment, i);

        if (trial[i].state == RUNNER_FAILED && trial[i].lost &&
            !experiment->point[t.point].policy[t.policy]->guest &&
            !crashed_add(arena, crash->trials, key_of(experiment, i), trial[i].err, err))
            return false;
    }
    return true;
}

void crash_forget(struct arena *arena, const struct crash *crash)
{
    struct err ignored = { 0 };

    (void)folder_remove(arena, crash->trials, CRASHED_FILE, &ignored);
}

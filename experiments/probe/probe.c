/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * probe.c - reads the experiment once for each set of settings, and runs the
 * trials that no earlier question had.
 *
 * A trial is known by experiment_trial_hash(), a hash of all that decides its
 * result.  Invariant: each hash has one struct known, and its trial is run at
 * most once.  Experiments live as long as one part of a question, trials as
 * long as the probe.
 *
 * A question (probe_run) is cut into parts of at most OPEN_MAX experiments, so
 * that memory is bounded however many candidates a search has.  In a part, all
 * trials of all its experiments are jobs of one run, so that threads are busy
 * to its end.
 *
 * Several processes may search in one folder.  Each trial is then run by the process that holds
 * its claim (claim.h); the others run something else, and then wait for its file.
 */
#include "experiments/probe/probe.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "experiments/columns/metric.h"
#include "experiments/probe/claim.h"
#include "experiments/results/grid.h"
#include "experiments/runner/runner.h"
#include "experiments/trials/store.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

/* Experiments in memory at once: an experiment of a long trace may hold a million
 * jobs. */
#define OPEN_MAX 64u            /* experiments in memory at once */
#define WAIT_NS 50000000L       /* between two looks at what others run */

/* A trial that was asked for. */
struct known {
    uint64_t hash;              /* experiment_trial_hash() */
    bool settled;               /* it was run, or found in the folder */
    bool queued;                /* a job of this part runs it */
    struct probe_trial trial;   /* valid if `settled` */
};

/* Answers questions about variants of one experiment; what was run once is known. */
struct probe {
    struct arena *arena;
    struct probe_options options;
    const char *path;           /* of the experiment */
    const struct experiment *base;          /* as it stands in its file */
    struct store *trials;       /* NULL: in memory alone */
    struct known **slot;        /* open addressing; room is a power of two */
    uint32_t known_count, room;
    struct probe_counts counts; /* trials that were run or recalled */
};

/* An experiment as read with the settings of one or more asks of a part. */
struct reading {
    const struct probe_ask *of; /* the first of them */
    struct arena *arena;
    const struct experiment *experiment;    /* NULL: unread */
    const struct err *unread;
};

/* A trial that is to be run in this part. */
struct job {
    const struct experiment *experiment;
    uint32_t index;             /* of the trial in its experiment */
    struct known *known;
    int claim;                  /* while it runs here */
    struct part *part;
    struct store_trial *begun;
};

/* A part of a question: the asks of at most OPEN_MAX readings. */
struct part {
    struct probe *probe;
    struct arena *arena;        /* of the part: given back when it is answered */
    struct reading reading[OPEN_MAX];       /* experiments that are open at a time */
    uint32_t reading_count;
    struct job *job;            /* trials that nobody has run yet */
    uint32_t job_count, job_room;
};

/* ---- trials that are known ---- */

/* Doubles the table, so that it is at most half full.  The old table stays in the
 * arena: tables sum up to twice the last one. */
static void grow_slots(struct probe *probe)
{
    struct known **old = probe->slot;
    uint32_t room = probe->room;

    probe->room = room == 0 ? 256 : 2 * room;
    probe->slot = arena_alloc(probe->arena, probe->room, sizeof *probe->slot);
    for (uint32_t i = 0; i < room; i++) {
        uint32_t at;

        if (old[i] == NULL)
            continue;
        at = (uint32_t)old[i]->hash & (probe->room - 1);
        while (probe->slot[at] != NULL)
            at = (at + 1) & (probe->room - 1);
        probe->slot[at] = old[i];
    }
}

/* Returns the entry of a hash, made if there is none.  The hash is good enough to
 * be its own slot number; O(1) on average. */
static struct known *find_known(struct probe *probe, uint64_t hash)
{
    uint32_t at;

    if (2 * (probe->known_count + 1) > probe->room)
        grow_slots(probe);
    at = (uint32_t)hash & (probe->room - 1);
    while (probe->slot[at] != NULL && probe->slot[at]->hash != hash)
        at = (at + 1) & (probe->room - 1);
    if (probe->slot[at] == NULL) {
        probe->slot[at] = arena_alloc(probe->arena, 1, sizeof **probe->slot);
        probe->slot[at]->hash = hash;
        probe->known_count++;
    }
    return probe->slot[at];
}

/* An error that outlives the experiment that it came from. */
static const struct err *copy_err(struct probe *probe, const struct err *err)
{
    struct err *copy = arena_alloc(probe->arena, 1, sizeof *copy);

    *copy = *err;
    copy->next = NULL;
    copy->key = NULL;
    if (err->pos.file != NULL)
        copy->pos.file = arena_text(probe->arena, err->pos.file);
    return copy;
}

/* Copies the values out of the arena of the part.  Times of jobs where none was
 * done become NAN (metric_blank_unknown), as in summary.csv. */
static void settle_trial(struct probe *probe, struct known *known,
                         const struct trial_result *result)
{
    double *value = arena_alloc(probe->arena, METRIC_ROOM, sizeof *value);

    memcpy(value, result->value, METRIC_ROOM * sizeof *value);
    metric_blank_unknown(value);
    known->trial.value = value;
    known->settled = true;
}

/* ---- experiments with settings ---- */

/* Would both asks read one and the same experiment?  Policy and seeds do not
 * matter: an experiment has all policies. */
static bool same_settings(const struct probe_ask *a, const struct probe_ask *b)
{
    if (a->setting_count != b->setting_count)
        return false;
    if (a->point != b->point && (a->point == NULL || b->point == NULL ||
                                 strcmp(a->point, b->point) != 0))
        return false;
    for (size_t i = 0; i < a->setting_count; i++)
        if (strcmp(a->setting[i].key, b->setting[i].key) != 0 ||
            strcmp(a->setting[i].text, b->setting[i].text) != 0)
            return false;
    return true;
}

/* Trials write no tables: only then a trial is the same for any `output:`. */
static const struct experiment *without_tables(struct arena *arena,
                                               const struct experiment *read)
{
    struct experiment *experiment = arena_alloc(arena, 1, sizeof *experiment);

    *experiment = *read;
    experiment->tables = 0;
    experiment->perfetto = false;
    experiment->timeline_step_ns = 0;
    experiment->detail_seeds = 0;
    return experiment;
}

/* Reads the experiment with the settings of an ask, for `seeds` seeds, in an arena
 * of its own.  The program's hash is that of the first reading: a program replaced
 * during a search does not split it. */
static void read_reading(struct part *part, struct reading *reading, uint32_t seeds)
{
    struct probe *probe = part->probe;
    struct experiment_options options = probe->options.experiment;
    const struct experiment *read;
    struct err err = { 0 };

    reading->arena = arena_new((size_t)1 << 16);
    options.point = reading->of->point != NULL ? reading->of->point
                                               : probe->base->point[0].label;
    options.setting = reading->of->setting;
    options.setting_count = reading->of->setting_count;
    options.seeds = seeds;
    options.program_hash = probe->base->program_hash;
    options.check = NULL;
    read = experiment_read(reading->arena, probe->path, &options, &err);
    probe->counts.read++;
    if (read == NULL)
        reading->unread = copy_err(probe, &err);
    else
        reading->experiment = without_tables(reading->arena, read);
}

/* Returns the reading with the settings of an ask, or NULL.  Linear: OPEN_MAX is
 * small. */
static struct reading *find_reading(struct part *part, const struct probe_ask *ask)
{
    for (uint32_t i = 0; i < part->reading_count; i++)
        if (same_settings(part->reading[i].of, ask))
            return &part->reading[i];
    return NULL;
}

/* Returns how many asks, from the first on, have at most OPEN_MAX different
 * settings, and reads those. */
static size_t open_readings(struct part *part, const struct probe_ask *ask,
                            size_t count)
{
    uint32_t seeds = 1;
    size_t n = 0;

    for (; n < count; n++) {
        if (find_reading(part, &ask[n]) == NULL) {
            if (part->reading_count == OPEN_MAX)
                break;
            part->reading[part->reading_count++] =
                (struct reading){ .of = &ask[n] };
        }
        if (ask[n].first_seed + ask[n].seed_count > seeds)
            seeds = ask[n].first_seed + ask[n].seed_count;
    }
    for (uint32_t i = 0; i < part->reading_count; i++)
        read_reading(part, &part->reading[i], seeds);
    return n;
}

/* ---- trials ---- */

/* Returns the number of the policy; the caller took the name from this experiment. */
static uint32_t find_policy(const struct experiment *experiment, const char *name)
{
    uint32_t policy = 0;

    while (policy < experiment->policy_count &&
           strcmp(experiment->policy_name[policy], name) != 0)
        policy++;
    assert(policy < experiment->policy_count && "the policy is one of the file");
    return policy;
}

/* Returns what is known of a trial. Three cases: settled earlier; found in the
 * folder; else it becomes a job of this part, once, however many asks want it. */
static struct known *find_trial(struct part *part, const struct experiment *experiment,
                                uint32_t index)
{
    struct probe *probe = part->probe;
    uint64_t hash = experiment_trial_hash(experiment, index);
    struct known *known = find_known(probe, hash);
    struct trial_result result;

    if (known->settled || known->queued)
        return known;
    if (probe->trials != NULL &&
        store_read(probe->trials, hash, &result, NULL)) {
        settle_trial(probe, known, &result);
        probe->counts.recalled++;
        return known;
    }
    ARENA_ADD(part->arena, part->job, part->job_count, part->job_room,
              (struct job){ experiment, index, known, CLAIM_NONE, part, NULL });
    known->queued = true;
    return known;
}

/* Fills one answer, whose trials may be settled only after run_jobs().  Where
 * nothing is drawn, all seeds point to one trial. */
static void answer_one(struct part *part, const struct probe_ask *ask,
                       struct probe_answer *answer)
{
    const struct reading *reading = find_reading(part, ask);
    const struct experiment *experiment = reading->experiment;
    const struct probe_trial **trial;
    uint32_t first;

    *answer = (struct probe_answer){ .unread = reading->unread };
    if (experiment == NULL)
        return;
    first = find_policy(experiment, ask->policy) * experiment->seeds;
    answer->fixed = experiment_is_copy(experiment, first + experiment->seeds - 1);
    trial = arena_alloc(part->probe->arena, ask->seed_count + 1, sizeof(void *));
    for (uint32_t s = 0; s < ask->seed_count; s++)
        trial[s] = &find_trial(part, experiment, answer->fixed ? first
                               : first + ask->first_seed + s)->trial;
    answer->trial = trial;
}

/* Trials of a search write no tables. */
static struct trial_spec job_spec(void *self, uint32_t index, uint32_t *tables)
{
    const struct part *part = self;

    *tables = 0;
    return experiment_trial_spec(part->job[index].experiment,
                                 part->job[index].index);
}

/* Takes a job, if no other process has it.  Between our look at the folder and our
 * claim another process may have stored the result: it is then read, and not run
 * again. */
static bool take_job(void *self, uint32_t index, struct runner_trial *trial)
{
    const struct part *part = self;
    struct store *trials = part->probe->trials;
    struct job *job = &part->job[index];

    if (!claim_take(store_folder(trials), job->known->hash, &job->claim))
        return false;
    store_look(trials);
    if (!store_read(trials, job->known->hash, trial->result, NULL))
        return true;
    claim_drop(store_folder(trials), job->known->hash, job->claim);
    trial->state = RUNNER_DONE;
    trial->known = true;
    return false;
}

/* runner_plan.begin: a trial's rows go to the store under the hash by which it is asked for. */
static void *begin_job(void *self, uint32_t thread, uint32_t index,
                       const struct trial_tables *tables, volatile int *stop)
{
    const struct part *part = self;
    struct job *job = &part->job[index];

    job->begun = store_begin(part->probe->trials, thread, job->known->hash, tables, stop);
    return job;
}

/* Stores the result, then lets go of the claim: in this order, see claim.h. */
static bool keep_job(void *begun, const struct trial_result *result,
                     struct err *err)
{
    struct job *job = begun;
    bool ok = store_end(job->begun, result, err);

    claim_drop(store_folder(job->part->probe->trials), job->known->hash, job->claim);
    return ok;
}

/* Is a trial left that another process runs?  If so, sleeps WAIT_NS and returns
 * true.  There is no notice between processes, above all over network file
 * systems, so it polls. */
static bool wait_for_others(const struct part *part, const struct runner_trial *trial)
{
    const struct timespec wait = { 0, WAIT_NS };
    uint32_t i = 0;

    while (i < part->job_count && trial[i].state != RUNNER_WAITING)
        i++;
    if (i == part->job_count)
        return false;
    (void)nanosleep(&wait, NULL);
    return true;
}

/* Runs all jobs of the part and settles them, whether they were run here, recalled
 * or failed.  False: err says why (Ctrl-C, or the folder cannot be written). */
static bool run_jobs(struct part *part, struct err *err)
{
    struct probe *probe = part->probe;
    struct runner_trial *trial = runner_trials(part->arena, part->job_count, true);
    const struct runner_plan plan = {
        .count = part->job_count, .arena = part->arena, .threads = probe->options.threads,
        .progress = probe->options.progress, .spec = job_spec,
        .take = probe->trials == NULL ? NULL : take_job,
        .begin = probe->trials == NULL ? NULL : begin_job,
        .keep = probe->trials == NULL ? NULL : keep_job, .self = part
    };
    bool ok = probe->trials == NULL ||
              store_threads(probe->trials, probe->options.threads, err);

    do
        ok = ok && runner_run(&plan, trial, err);
    while (ok && wait_for_others(part, trial));

    for (uint32_t i = 0; i < part->job_count; i++) {
        struct known *known = part->job[i].known;

        known->queued = false;
        if (trial[i].state == RUNNER_DONE)
            settle_trial(probe, known, trial[i].result);
        if (trial[i].state == RUNNER_FAILED) {
            known->trial.failure = copy_err(probe, trial[i].err);
            known->settled = true;
        }
        probe->counts.run += known->settled && !trial[i].known;
        probe->counts.recalled += trial[i].known;
    }
    return ok;
}

/* After run_jobs(): how many seeds of an answer failed. */
static void count_failed(const struct probe_ask *ask, struct probe_answer *answer)
{
    for (uint32_t s = 0; answer->trial != NULL && s < ask->seed_count; s++)
        answer->failed += answer->trial[s]->failure != NULL;
}

/* Answers the first asks, as many as share at most OPEN_MAX settings, and stores
 * their number in *done.  All that a part needs is freed at its end. */
static bool run_part(struct probe *probe, const struct probe_ask *ask, size_t count,
                     struct probe_answer *answer, size_t *done, struct err *err)
{
    struct arena *arena = arena_new((size_t)1 << 16);
    struct part *part = arena_alloc(arena, 1, sizeof *part);
    bool ok;

    part->probe = probe;
    part->arena = arena;
    if (probe->trials != NULL)
        store_settle(probe->trials);
    *done = open_readings(part, ask, count);
    for (size_t i = 0; i < *done; i++)
        answer_one(part, &ask[i], &answer[i]);
    ok = run_jobs(part, err);
    for (size_t i = 0; i < *done; i++)
        count_failed(&ask[i], &answer[i]);
    for (uint32_t i = 0; i < part->reading_count; i++)
        arena_free(part->reading[i].arena);
    arena_free(arena);
    return ok;
}

bool probe_run(struct probe *probe, const struct probe_ask *ask, size_t count,
               struct probe_answer *answer, struct err *err)
{
    size_t done = 0, more;

    while (done < count) {
        if (!run_part(probe, ask + done, count - done, answer + done, &more, err))
            return false;
        done += more;
    }
    return true;
}

/* ---- the probe ---- */

/* The probe reads the experiment without a point, for its whole list of points;
 * each ask then reads one point. */
struct probe *probe_open(struct arena *arena, const char *path,
                         const struct probe_options *options, struct err *err)
{
    struct probe *probe = arena_alloc(arena, 1, sizeof *probe);

    assert(options->threads > 0 && options->experiment.point == NULL);
    *probe = (struct probe){ .arena = arena, .options = *options,
                             .path = arena_text(arena, path),
                             .trials = options->trials };
    probe->base = experiment_read(arena, path, &options->experiment, err);
    return probe->base == NULL ? NULL : probe;
}

void probe_keep(struct probe *probe, struct store *trials)
{
    probe->trials = trials;
}

const struct experiment *probe_experiment(const struct probe *probe)
{
    return probe->base;
}

struct probe_counts probe_counts(const struct probe *probe)
{
    return probe->counts;
}

uint64_t *probe_hashes(const struct probe *probe, struct arena *arena,
                       uint32_t *count)
{
    uint64_t *hash = arena_alloc(arena, probe->known_count + 1, sizeof *hash);

    *count = 0;
    for (uint32_t i = 0; i < probe->room; i++)
        if (probe->slot[i] != NULL)
            hash[(*count)++] = probe->slot[i]->hash;
    return hash;
}

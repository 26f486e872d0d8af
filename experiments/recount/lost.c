/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * lost.c - what each job has held, and how much of that when it had done what it went
 * back to.
 *
 * A job of known length: its progress is noted where a phase is cut short, and between two
 * notes it grows evenly.  Any other: a step in which a checkpoint was taken is over with
 * the last phase that ended in it.
 *
 * Example: a job of known length holds 4 GPUs and takes a checkpoint every 60
 * s.  A node fails when 100 s are done, and the job goes back to 60 s.  It held
 * 4 x 100 GPU-seconds by then, and 4 x 60 when it had done 60 s.  The 160
 * between them are lost.
 */
#include "experiments/recount/lost.h"

#include <assert.h>
#include <float.h>
#include <math.h>

#include "experiments/spec/trial_spec.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/laws/outage.h"
#include "models/laws/phase.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"

#define SAME_S 1e-6             /* of progress: rounding */

/* A phase of known length that was cut short: progress went from from_s to to_s
 * while time went from start_ns to end_ns. */
struct stretch {
    double from_s, to_s;        /* progress */
    int64_t start_ns, end_ns, milli;
    __int128_t held;            /* at its end */
};

/* What is kept of one job.  It has held closed + milli x now - since.  `closed` is the sum over
 * the leases that have ended.  `since` is the sum over the leases that go on: of each, milli x
 * the time at which it was taken. */
struct lost_job {
    __int128_t closed, since;   /* of leases that ended; milli x from when, of others */
    int64_t milli;
    __int128_t base;            /* held at the last save or interruption that counts */
    double done_s, back_s;      /* progress; where it went back to last */
    struct stretch *stretch;
    uint32_t count, room;
    uint32_t step;              /* of the phase that ended last, */
    __int128_t ended;           /* ... held then; */
    bool saving;                /* ... a checkpoint was taken in that step */
};

/* The book of a trial: jobs by number, and the sum of what was lost. */
struct lost {
    struct arena *arena;        /* of the trial */
    const struct trial_spec *spec;
    int64_t from_ns;            /* the end of the warm-up: what was held before counts as 0 */
    struct lost_job *job;       /* by the job's number */
    uint32_t room;
    __int128_t sum;             /* thousandths of a GPU x ns, of all jobs */
    double rounding_s;          /* GPU-seconds by which steps that end at whole ns may be off */
    bool unknown;               /* a job of a goodput came back: what it kept is not known here */
};

struct lost *lost_new(struct arena *arena, const struct trial_spec *spec)
{
    if (spec->cluster->failures == NULL && !spec->cluster->rents)
        return NULL;
    struct lost *lost = arena_alloc(arena, 1, sizeof *lost);

    lost->arena = arena;
    lost->spec = spec;
    return lost;
}

/* Returns the later of two times. */
static int64_t later(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Returns the entry of a job, which is all zero at first. */
static struct lost_job *job_of(struct lost *lost, uint32_t job)
{
    ARENA_REACH(lost->arena, lost->job, lost->room, job);
    return &lost->job[job];
}

/* A lease that was taken before the end of the warm-up counts from there. */
void lost_lease(struct lost *lost, uint32_t job, int64_t milli, int64_t take_ns,
                int64_t now_ns, int64_t from_ns, int change)
{
    if (lost == NULL)
        return;
    struct lost_job *of = job_of(lost, job);
    __int128_t since = (__int128_t)milli * later(take_ns, from_ns);

    lost->from_ns = from_ns;
    of->milli += change * milli;
    of->since += change * since;
    if (change < 0)
        of->closed += (__int128_t)milli * later(now_ns, from_ns) - since;
    assert(of->milli >= 0);
}

/* Returns what a job has held up to now, in thousandths of GPUs x ns. */
static __int128_t held(const struct lost *lost, const struct lost_job *of, int64_t now_ns)
{
    return of->closed + (__int128_t)of->milli * later(now_ns, lost->from_ns) - of->since;
}

/* Returns whether a job is one phase of a length that was measured, as jobs of
 * traces are. */
static bool of_known_length(const struct host_job *job)
{
    return job->request.form->phase_count == 1 &&
           job->request.form->phase[0].law->kind == LAW_FIXED;
}

/* Returns how much of its length a job has done, in seconds. */
static double progress(const struct host_job *job)
{
    double gpus = job_role_amount(&job->request, 0);

    return gpus > 0 ? (job->work_done_s - job->work_lost_s) / gpus : 0;
}

/* Notes a stretch, and forgets those that lie before the last checkpoint: the
 * job cannot go back behind it. */
static void add_stretch(struct lost *lost, struct lost_job *of, struct stretch stretch)
{
    const struct outage_spec *failures = lost->spec->cluster->failures;
    double every_s = failures ? (double)failures->checkpoint_ns / 1e9 : 0;
    uint32_t kept = 0;

    for (uint32_t i = 0; i < of->count; i++)
        if (every_s > 0 && of->stretch[i].to_s > stretch.to_s - every_s - 1)
            of->stretch[kept++] = of->stretch[i];
    of->count = kept;
    ARENA_ADD(lost->arena, of->stretch, of->count, of->room, stretch);
}

/* A job of known length is looked at only where a phase was cut short.  For any other job, a
 * checkpoint counts once the step in which it was taken is over. */
void lost_phase(struct lost *lost, const struct host_job *job,
                const struct host_phase_run *run, int64_t milli, int64_t now_ns, bool done)
{
    if (lost == NULL)
        return;
    struct lost_job *of = job_of(lost, job->request.id.i);

    if (of_known_length(job) && !done) {
        double to_s = progress(job);

        if (to_s > of->done_s)
            add_stretch(lost, of, (struct stretch){ of->done_s, to_s, run->start_ns, now_ns,
                                                    milli, held(lost, of, now_ns) });
        of->done_s = to_s;
        return;
    }
    if (run->step != of->step) {
        if (of->saving)
            of->base = of->ended;
        of->saving = false;
    }
    of->step = run->step;
    of->ended = held(lost, of, now_ns);
    of->saving |= done && run->phase->kind == PHASE_CHECKPOINT;
}

/* Returns what a job had held when its progress reached back_s: it looks for
 * the stretch in which that was, and takes off what was held from there to its
 * end.  Also adds by how much rounding to ns may have moved that. */
static __int128_t held_at(struct lost *lost, const struct lost_job *of, double back_s)
{
    for (uint32_t i = 0; back_s > of->back_s + SAME_S && i < of->count; i++) {
        const struct stretch *s = &of->stretch[i];
        double ns_per_s = (double)(s->end_ns - s->start_ns) / (s->to_s - s->from_s);
        double ns = fmax(0, s->to_s - back_s) * ns_per_s;
        int64_t end = later(s->end_ns, lost->from_ns);

        if (s->to_s < back_s - SAME_S)
            continue;
        lost->rounding_s += (double)s->milli / 1000 *
            (4e-9 + 8 * (1e-9 + DBL_EPSILON * s->to_s) * ns_per_s / 1e9);
        return s->held - (__int128_t)s->milli *
               (end - later(s->end_ns - llrint(ns), lost->from_ns));
    }
    return of->base;
}

/* All that was held since the job had done what it went back to is lost.  From
 * now on, this interruption is where losses begin. */
void lost_back(struct lost *lost, const struct host_job *job, int64_t now_ns)
{
    if (lost == NULL)
        return;
    struct lost_job *of = job_of(lost, job->request.id.i);
    __int128_t all = held(lost, of, now_ns), then;

    if (of_known_length(job)) {
        double back_s = progress(job);

        lost->unknown |= job->request.goodput != NULL;
        then = held_at(lost, of, back_s);
        of->done_s = of->back_s = back_s;
    } else {
        then = of->saving && job->step > of->step ? of->ended : of->base;
    }
    lost->sum += all - then;
    of->base = all;
    of->count = 0;
    of->saving = false;
    of->step = UINT32_MAX;
}

/* `base` moves up by what was cut, so that a later lost_back() does not count
 * it again. */
void lost_cut(struct lost *lost, const struct host_job *job, int64_t now_ns, double gpu_s)
{
    if (lost == NULL)
        return;
    struct lost_job *of = job_of(lost, job->request.id.i);
    __int128_t all = held(lost, of, now_ns), cut = (__int128_t)(gpu_s * 1e12);

    if (of->saving && job->step > of->step) {
        of->base = of->ended;
        of->saving = false;
    }
    cut = cut > all ? all : cut;
    lost->sum += cut;
    of->base += cut;
}

double lost_s(const struct lost *lost, double *rounding_s)
{
    *rounding_s = lost == NULL ? 0 : lost->rounding_s;
    if (lost == NULL)
        return 0;
    return lost->unknown ? NAN : (double)((long double)lost->sum / 1e12L);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bounds_book.c - keeps what bounds need to know of each job.
 *
 * Only jobs that are done count, since only they have a completion time: what
 * is left out makes a bound smaller, never wrong.  Jobs of phases count with
 * the least that any leases would take (bounds_form.h); simulated step by step
 * they may be faster than the law's mean, and no bound is known.  Bounds are
 * over the jobs after the warm-up, as what they bound is.
 */
#include "experiments/bounds/bounds_book.h"

#include <math.h>
#include <stdint.h>

#include "experiments/columns/metric.h"
#include "experiments/bounds/bounds.h"
#include "experiments/bounds/bounds_form.h"
#include "experiments/spec/trial_spec.h"
#include "models/catalogue/goodput.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "models/laws/phase.h"
#include "policies/host/host.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

#define NO_GAP 1e-8             /* what the rounding of bounds may leave */

/* A form of jobs, and the least that its jobs take. */
struct known_form {
    const struct job_form *form;    /* by which it is found */
    struct bounds_form *bounds; /* NULL: none is known */
};

/* The least that jobs of an application take: with tuned batches, or with the batch of `job`.
 * There is a list of each kind, which is searched from the front. */
struct known_goodput {
    const struct goodput_job *job;
    struct goodput_least least; /* what it takes at least */
    struct known_goodput *next;
};

/* What a trial keeps for its bounds: a line for each job, and what was computed of each kind
 * of job. */
struct bounds_book {
    struct arena *arena;        /* of the trial */
    const struct trial_spec *spec;  /* its cluster, on which bounds are those of an empty one */
    struct known_form *form;    /* of phases; a few */
    size_t form_count, form_room;
    struct known_goodput *tuned, *own;  /* by application, and by job */
    double usd;                 /* the least for all that was done of jobs
                                   that came after the warm-up */
    struct bounds_job *job;     /* by number; length_s < 0: not done */
    size_t count, room;
    bool unknown;               /* a job was done that has no known least */
};

struct bounds_book *bounds_book_new(struct arena *arena,
                                    const struct trial_spec *spec)
{
    struct bounds_book *book = arena_alloc(arena, 1, sizeof *book);

    book->arena = arena;
    book->spec = spec;
    return book;
}

/* One more than BOUNDS_JOBS_MAX jobs are kept, which tells bounds_book_result() that there
 * were too many. */
void bounds_book_submit(struct bounds_book *book, const struct host_job *job)
{
    if (book->count > BOUNDS_JOBS_MAX)
        return;
    ARENA_ADD(book->arena, book->job, book->count, book->room,
              (struct bounds_job) {
                  clock_s_from_ns(job->request.submit_ns), -1, 0
              });
}

/* Is it a job of one phase whose length is known?  With any other law the length follows from
 * the GPUs that the job gets, or from draws. */
static bool of_known_length(const struct job_request *request)
{
    const struct job_form *form = request->form;

    return form->phase_count == 1 && request->steps == 1 &&
           form->phase[0].law->kind == LAW_FIXED;
}

/* USD of a GPU-second where it is cheapest.  The price of a node's GPU is the node's price
 * over the number of its GPUs.  Example: 7.2 USD an hour for a node of 8 makes 0.00025 USD a
 * GPU-second. */
static double least_usd(const struct cluster_spec *cluster)
{
    double least = INFINITY;

    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (cluster->group[g].gpus > 0)
            least = fmin(least, cluster_node_least_usd_per_h(
                                    &cluster->group[g]) / 3600 /
                                cluster->group[g].gpus);
    return isfinite(least) ? least : 0;
}

/* Beside another it holds half of its GPUs (policies/host/pack.c), and is as fast as
 * beside the best other that its rates know of. */
static void relax_beside(const struct job_request *request, uint32_t pool,
                         uint32_t gpus, double *best, double *least)
{
    double speedup = speedup_beside_best(request, pool, gpus);

    *best = fmax(*best, speedup);
    if (speedup > 0)
        *least = fmin(*least, gpus / 2.0 / speedup);
}

/* A job that other GPUs or more of them speed up: no policy gives it a pace
 * above the best, nor its work for fewer GPU-seconds than the least.  The fastest and the
 * cheapest number of GPUs need not be the same one: the bound takes both, and no real size
 * need reach it.  Example: a job of 100 s runs at pace 1 on 1 GPU and at pace 1.5 on 2.  The
 * best is 1.5, the least 1 GPU-second for a second of its length; it becomes one of 66.7 s
 * on 1.5 GPUs. */
static void relax(const struct bounds_book *book,
                  const struct job_request *request, struct bounds_job *out)
{
    const struct job_scaling *scaling = request->form->scaling;
    uint32_t asked = job_role_gpus(request, 0), from = asked, to = asked;
    double part = job_role_amount(request, 0) / asked;
    uint32_t most = book->spec->cluster->gpu_count;
    double best = 0, least = INFINITY;

    if (scaling && part == 1) {         /* a part of a GPU is not resized */
        from = scaling->gpus_min < asked ? scaling->gpus_min : asked;
        to = scaling->gpus_max > asked ? scaling->gpus_max : asked;
    }
    to = to < most ? to : most;
    for (uint32_t g = from; g <= to; g++)
        for (uint32_t p = 0; p < book->spec->cluster->pool_count; p++) {
            double speedup = speedup_size_ok(request, g) ? speedup_of(request, p, g)
                                                   : 0;
            best = fmax(best, speedup);
            if (speedup > 0)
                least = fmin(least, g * part / speedup);
            if (part == 1)
                relax_beside(request, p, g, &best, &least);
        }
    if (!(best > 0))
        return;
    out->gpus = least * best;           /* GPU-seconds over the length */
    out->length_s /= best;
}

/* Adds an entry for a kind of job to a list, with nothing measured yet (INFINITY). */
static struct known_goodput *goodput_add(struct bounds_book *book,
                                         struct known_goodput **list,
                                         const struct goodput_job *job)
{
    struct known_goodput *known = arena_alloc(book->arena, 1, sizeof *known);

    for (uint32_t s = 0; s < GOODPUT_SPANS_MAX; s++)
        known->least.sample_s[s] = known->least.sample_gpu_s[s] = INFINITY;
    known->job = job;
    known->next = *list;
    *list = known;
    return known;
}

/* Returns the least that an application takes with the best batch size, measured at
 * its first job. */
static const struct goodput_least *goodput_tuned(struct bounds_book *book,
                                                 const struct goodput_job *job)
{
    struct known_goodput *known = book->tuned;

    while (known != NULL && known->job->app != job->app)
        known = known->next;
    if (known == NULL) {
        known = goodput_add(book, &book->tuned, job);
        goodput_least_with(job, book->spec->cluster->gpu_count, true,
                           &known->least);
    }
    return &known->least;
}

/* As relax(): any batch, on any GPUs, at every moment. */
static void relax_goodput(struct bounds_book *book,
                          const struct goodput_job *job,
                          struct bounds_job *out)
{
    struct known_goodput *known = book->own;
    double gpu_s;

    while (known != NULL && known->job != job)
        known = known->next;
    if (known == NULL) {
        known = goodput_add(book, &book->own, job);
        known->least = *goodput_tuned(book, job);
        goodput_least_with(job, book->spec->cluster->gpu_count, false,
                           &known->least);
    }
    out->length_s = goodput_least_s(job, &known->least, &gpu_s);
    out->gpus = gpu_s / out->length_s;
}

/* Returns the bounds of a form, computed at its first job; NULL: none are known. */
static const struct bounds_form *form_bounds(struct bounds_book *book,
                                             const struct job_form *form)
{
    for (size_t i = 0; i < book->form_count; i++)
        if (book->form[i].form == form)
            return book->form[i].bounds;
    struct known_form known = {
        form, bounds_form_new(book->arena, book->spec->cluster, form)
    };
    ARENA_ADD(book->arena, book->form, book->form_count, book->form_room,
              known);
    return known.bounds;
}

/* Adds the least cost of a job, if it came after the warm-up. */
static void add_usd(struct bounds_book *book, uint32_t job, double usd)
{
    if (book->job[job].submit_s >= clock_s_from_ns(book->spec->warmup_ns))
        book->usd += usd;
}

/* Sets the least length of a job of phases, and how many GPUs it then has on
 * average.  With steps simulated one by one, nothing is known. */
static void phases_done(struct bounds_book *book, const struct host_job *job,
                        uint64_t seed, struct bounds_job *out)
{
    const struct bounds_form *bounds = NULL;
    struct bounds_least least;

    if (!book->spec->by_step)
        bounds = form_bounds(book, job->request.form);
    book->unknown = bounds == NULL;
    if (book->unknown)
        return;
    least = bounds_form_least(bounds, job->request.steps, seed);
    out->length_s = least.length_s;
    out->gpus = least.length_s > 0 ? least.gpu_s / least.length_s : 0;
    add_usd(book, job->request.id.i, least.usd);
}

void bounds_book_done(struct bounds_book *book, const struct host_job *job,
                      uint64_t seed)
{
    const struct host_rules *rules = &book->spec->policy->rules;
    uint32_t i = job->request.id.i;
    struct bounds_job *out;

    if (i >= book->count || book->unknown)
        return;
    out = &book->job[i];
    if (!of_known_length(&job->request)) {
        phases_done(book, job, seed, out);
        return;
    }
    out->length_s = fmax(0, job->ideal_s - clock_s_from_ns(rules->tick_ns));
    out->gpus = job_role_amount(&job->request, 0);
    if (job->request.goodput)
        relax_goodput(book, job->request.goodput, out);
    else if (job->request.form->paced || job->request.form->packing != NULL)
        relax(book, &job->request, out);
    add_usd(book, i, out->length_s * out->gpus *
                     least_usd(book->spec->cluster));
}

/* Moves those that are done to the front; from which submission on.  The order of submission
 * is kept, which bounds_of() asks for.  Returns how many there are. */
static size_t keep_done(struct bounds_book *book, double from_s)
{
    size_t kept = 0;

    for (size_t i = 0; i < book->count; i++)
        if (book->job[i].length_s >= 0 && book->job[i].submit_s >= from_s)
            book->job[kept++] = book->job[i];
    return kept;
}

/* 0 is a bound that says nothing. */
static double known(double bound)
{
    return bound > 0 ? bound : NAN;
}

/* Returns how far a value lies above its bound, as a part of the bound; NAN where
 * one is not known.  What rounding makes of 0 is 0. */
static double gap(double value, double bound)
{
    double over = value > 0 ? value / known(bound) - 1 : NAN;

    return over < NO_GAP ? 0 : over;
}

/* Leaves all cells of bounds empty. */
static void no_bounds(double *value)
{
    value[METRIC_MAKESPAN_BOUND] = value[METRIC_COST_BOUND] = NAN;
    value[METRIC_JCT_BOUND] = value[METRIC_GAP] = NAN;
    value[METRIC_MAKESPAN_GAP] = NAN;
}

void bounds_book_result(struct bounds_book *book, double *value)
{
    const struct cluster_spec *cluster = book->spec->cluster;
    double gpus = cluster->gpu_count;
    double from_s = clock_s_from_ns(book->spec->warmup_ns);
    struct bounds bounds;

    no_bounds(value);
    if (!(gpus > 0) || book->count > BOUNDS_JOBS_MAX || book->unknown)
        return;
    value[METRIC_COST_BOUND] = known(book->usd * (1 - NO_GAP));
    book->count = keep_done(book, from_s);
    bounds = bounds_of(book->job, book->count, gpus);
    value[METRIC_MAKESPAN_BOUND] = known(bounds.makespan_s);
    value[METRIC_MAKESPAN_GAP] =
        gap(value[METRIC_MAKESPAN], bounds.makespan_s);
    value[METRIC_JCT_BOUND] = known(bounds.jct_mean_s);
    value[METRIC_GAP] = gap(value[METRIC_JCT_MEAN], bounds.jct_mean_s);
}

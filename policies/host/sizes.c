/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sizes.c - the numbers of GPUs that a job may have, and its best speedup on each.
 *
 * Policies that deal GPUs one by one ask for these many times in a decision.  Unless
 * a job's goodput is known, which changes with its progress, they never change, and
 * jobs that are alike have the same: a form keeps a curve for each request and rates.
 */
#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "policies/known.h"
#include "policies/leases/goodput.h"
#include "policies/leases/time.h"
#include "policies/policy.h"
#include "policies/resize.h"
#include "policies/state/form.h"
#include "policies/state/job_slot.h"
#include "policies/state/state.h"
#include "sim/base/arena.h"

#define CURVE_SIZES 1024u       /* of a curve that is kept, at most */
#define CURVES_MAX 256u         /* of a form */
#define NO_SIZE (-1.0)

/* Sets the fewest and the most GPUs of a job of one role: the range of its role
 * or of its scaling curve, widened to the size that it asked for. */
static void find_size_range(const struct cs_host *host,
                            const struct host_job_slot *job,
                            uint32_t *least, uint32_t *most)
{
    const struct job_form *form = host_form_of(job);
    uint32_t asked = job_role_gpus(&job->pub.request, 0);

    assert(form->role_count == 1);
    if (job->pub.request.goodput) {
        *least = 1;
        *most = host_goodput_gpus_max(host, job->pub.request.goodput);
        return;
    }
    *least = form->role[0].gpus_min;
    *most = form->role[0].gpus_max;
    if (host->forms->form[job->form].fixed) {
        *least = form->scaling ? form->scaling->gpus_min : asked;
        *most = form->scaling ? form->scaling->gpus_max : asked;
    }
    *least = asked < *least ? asked : *least;
    *most = asked > *most ? asked : *most;
    assert(*least <= *most && *most < UINT32_MAX);
}

/* ---- curves ---- */

/* Adds a curve to those of a form; returns its index.  Sizes that the role
 * cannot have are marked by NO_SIZE, all others by NAN: they are computed when
 * they are first asked for. */
static uint32_t add_curve(const struct cs_host *host, const struct host_job_slot *job,
                          uint32_t least, uint32_t most)
{
    struct host_form *form = &host->forms->form[job->form];
    const struct job_request *request = &job->pub.request;
    double *speedup = arena_alloc(host->parts.arena, most - least + 1, sizeof *speedup);

    assert(least > 0 && least <= most && form->curves <= form->curve_room);
    for (uint32_t g = least; g <= most; g++)
        speedup[g - least] = host_shape_ok(host, job, 0, g) ? (double)NAN : NO_SIZE;
    if (form->curves == form->curve_room) {
        uint32_t room = form->curve_room > 0 ? 2 * form->curve_room : 4;
        form->curve = arena_grow(host->parts.arena, form->curve, form->curve_room, room,
                                 sizeof *form->curve);
        form->curve_room = room;
    }
    form->curve[form->curves] = (struct host_curve) {
        .rates = request->rates, .rate_known = request->rate_known,
        .asked = job_role_gpus(request, 0), .milli = job_role_milli(request, 0),
        .least = least, .most = most, .speedup = speedup,
        .number = host->forms->curve_count++,
    };
    return form->curves++;
}

/* Returns the index, among those of its form, of the curve that a job follows:
 * one of the same request and rates; the number of curves if there is none. */
static uint32_t find_curve(const struct host_form *form, const struct job_request *request)
{
    uint32_t asked = job_role_gpus(request, 0), milli = job_role_milli(request, 0), i = 0;

    assert(form->curves == 0 || form->curve != NULL);
    while (i < form->curves &&
           (form->curve[i].asked != asked || form->curve[i].rates != request->rates ||
            form->curve[i].rate_known != request->rate_known ||
            form->curve[i].milli != milli))
        i++;
    return i;
}

/* Returns the curve of a job, which stays with it; NULL: it has none, as it has
 * several roles, or a goodput, or too many sizes.  Good until a curve is added. */
static const struct host_curve *curve_of(const struct cs_host *host,
                                         struct host_job_slot *job)
{
    const struct host_form *form = &host->forms->form[job->form];
    const struct job_request *request = &job->pub.request;
    uint32_t least, most;

    assert(job->curve <= form->curves);
    if (job->curve > 0)
        return &form->curve[job->curve - 1];
    if (host_form_of(job)->role_count != 1 || request->goodput != NULL)
        return NULL;
    uint32_t i = find_curve(form, request);
    if (i == form->curves) {
        find_size_range(host, job, &least, &most);
        if (least == 0 || most - least >= CURVE_SIZES || i == CURVES_MAX)
            return NULL;
        i = add_curve(host, job, least, most);
    }
    job->curve = (uint16_t)(i + 1);
    return &form->curve[i];
}

/* ---- what policies ask ---- */

uint32_t cs_curve(const struct cs_host *host, struct job_id id)
{
    const struct host_curve *curve = curve_of(host, host_job_slot(host, id.i));

    assert(curve == NULL || curve->number < host->forms->curve_count);
    return curve == NULL ? ID_NONE : curve->number;
}

/* Returns the speedup of a job of one role on that number of GPUs, by the laws,
 * in the pool where it is fastest, or in several pools if none has as many GPUs; 0 for a job
 * of several roles, or without GPUs. */
static double find_best_speedup(struct cs_host *host, struct job_id id, uint32_t gpus)
{
    const struct host_job_slot *job = host_job_slot(host, id.i);
    double best = 0;

    if (host_form_of(job)->role_count != 1 || gpus == 0)
        return 0;
    for (uint32_t p = 0; p < host->spec->pool_count; p++)
        best = fmax(best, host_speedup(host, job, p, gpus, 0));
    if (best == 0 && job->pub.request.goodput == NULL && !host->forms->form[job->form].fixed)
        best = host_speedup(host, job, HOST_ANY_POOL, gpus, 0);
    assert(isfinite(best));
    return best;
}

/* A job of several roles runs at 1 on what it asked for, and at nothing else. */
double cs_best_speedup(struct cs_host *host, struct job_id id, uint32_t gpus)
{
    struct host_job_slot *job = host_job_slot(host, id.i);
    const struct host_curve *curve = curve_of(host, job);

    if (curve == NULL && host_form_of(job)->role_count != 1)
        return gpus > 0 && gpus == cs_job_gpus(host, id) ? 1 : 0;
    if (curve == NULL || gpus < curve->least || gpus > curve->most)
        return find_best_speedup(host, id, gpus);
    double *speedup = &curve->speedup[gpus - curve->least];
    if (*speedup == NO_SIZE)
        return 0;
    assert(isnan(*speedup) || *speedup >= 0);
    if (isnan(*speedup))
        *speedup = find_best_speedup(host, id, gpus);
    return *speedup;
}

/* May the job have that size, which is in its range? */
static bool is_size(const struct cs_host *host, const struct host_job_slot *job,
                    const struct host_curve *curve, uint32_t gpus)
{
    assert(curve == NULL || (gpus >= curve->least && gpus <= curve->most));
    return curve != NULL ? curve->speedup[gpus - curve->least] != NO_SIZE
                         : host_shape_ok(host, job, 0, gpus);
}

/* What the sizes of a job are searched by. */
struct sizes {
    struct host_job_slot *job;  /* of one role */
    const struct host_curve *curve;     /* NULL: none is kept */
    uint32_t least, most;
};

/* Sets the range in which the sizes of a job are searched.  False: the job has
 * several roles, and so one size. */
static bool find_sizes(const struct cs_host *host, struct job_id id, struct sizes *sizes)
{
    sizes->job = host_job_slot(host, id.i);
    sizes->curve = curve_of(host, sizes->job);
    if (sizes->curve == NULL && host_form_of(sizes->job)->role_count != 1)
        return false;
    if (sizes->curve == NULL) {
        find_size_range(host, sizes->job, &sizes->least, &sizes->most);
        return true;
    }
    sizes->least = sizes->curve->least;
    sizes->most = sizes->curve->most;
    assert(sizes->least > 0 && sizes->least <= sizes->most);
    return true;
}

/* Sizes are searched one by one, since a role may accept multiples only and a
 * goodput any number that its batch allows. */
uint32_t cs_size_below(const struct cs_host *host, struct job_id id,
                       uint32_t gpus)
{
    struct sizes sizes;

    if (!find_sizes(host, id, &sizes)) {
        uint32_t whole = cs_job_gpus(host, id);
        return whole <= gpus ? whole : 0;
    }
    for (uint32_t g = gpus < sizes.most ? gpus : sizes.most; g >= sizes.least && g > 0; g--)
        if (is_size(host, sizes.job, sizes.curve, g))
            return g;
    return 0;               /* no size is so small */
}

uint32_t cs_size_above(const struct cs_host *host, struct job_id id,
                       uint32_t gpus)
{
    struct sizes sizes;

    if (!find_sizes(host, id, &sizes)) {
        uint32_t whole = cs_job_gpus(host, id);
        return whole > gpus ? whole : 0;
    }
    for (uint32_t g = gpus + 1 > sizes.least ? gpus + 1 : sizes.least; g <= sizes.most; g++)
        if (is_size(host, sizes.job, sizes.curve, g))
            return g;
    return 0;
}

uint32_t cs_size_least(const struct cs_host *host, struct job_id job)
{
    return cs_size_above(host, job, 0);
}

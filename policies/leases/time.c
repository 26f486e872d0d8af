/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * time.c - how long things take: estimates of jobs, what is left of them, and how fast
 * they run on other hardware than they asked for; with it, what hardware a want may mean.
 *
 * A job of phases is estimated at the pace that its roles would have on as many
 * GPUs as their owner asked for, at home, or without one where each phase is
 * soonest over, on an empty cluster, with free links.
 */
#include "policies/leases/time.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/catalogue/goodput.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/cluster/fit.h"
#include "models/cluster/place.h"
#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "models/laws/phase_cache.h"
#include "models/types/placement.h"
#include "policies/leases/goodput.h"
#include "policies/leases/sites.h"
#include "policies/state/form.h"
#include "policies/state/job_slot.h"
#include "policies/state/lease_slot.h"
#include "policies/state/life.h"
#include "policies/state/nodes.h"
#include "policies/state/slots.h"
#include "policies/state/state.h"
#include "policies/state/task_slot.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"

#define PI 3.14159265358979323846

/* What was asked for is always allowed.  Other sizes are by the goodput of the
 * application, by `elastic:` of a job of known length, or by the range and multiple
 * of a role.  Parts of a GPU and pods cannot change. */
bool host_shape_ok(const struct cs_host *host,
                   const struct host_job_slot *job, uint32_t role,
                   uint32_t gpus)
{
    assert(role < host_form_of(job)->role_count);
    const struct role_spec *spec = &host_form_of(job)->role[role];
    uint32_t asked = job_role_gpus(&job->pub.request, role);

    if (gpus == asked)
        return true;
    if (spec->pod || job_role_milli(&job->pub.request, role) < GPU_MILLI)
        return false;
    if (job->pub.request.goodput)
        return host_goodput_ok(host, job->pub.request.goodput, gpus);
    if (host->forms->form[job->form].fixed)
        return speedup_size_ok(&job->pub.request, gpus);
    return asked > 0 && gpus >= spec->gpus_min && gpus <= spec->gpus_max &&
           gpus % (spec->gpus_multiple ? spec->gpus_multiple : 1) == 0;
}

uint32_t host_shape_least(const struct cs_host *host, const struct host_job_slot *job,
                          uint32_t role)
{
    uint32_t asked = job_role_gpus(&job->pub.request, role), gpus = 1;

    assert(role < host_form_of(job)->role_count);
    while (gpus < asked && !host_shape_ok(host, job, role, gpus))
        gpus++;
    assert(gpus >= 1);
    return gpus < asked ? gpus : asked;
}

/* Has the job waited for relax_ns, so that its GPUs may lie anywhere?  Never with
 * relax_ns 0. */
static bool host_relaxed(const struct cs_host *host,
                         const struct host_job_slot *job)
{
    int64_t bound = host->rules->relax_ns;

    assert(bound >= 0);
    return bound > 0 && job->task != ID_NONE &&
           host_now(host) - host->tasks->slot[job->task].pub.ready_ns >= bound;
}

/* Restricts a mask of pools, in which 0 means any pool, to those of another;
 * false: no pool is left. */
static bool narrow(uint32_t *mask, uint32_t to)
{
    if (to == 0)
        return true;
    *mask = *mask ? *mask & to : to;
    return *mask != 0;
}

/* Returns the pools, as a mask, in which a job with rates makes progress on `gpus`
 * GPUs; 0: none. */
static uint32_t pools_with_speedup(const struct cs_host *host,
                                   const struct job_request *request,
                                   uint32_t gpus)
{
    assert(gpus > 0);
    uint32_t mask = 0;

    for (uint32_t p = 0; p < host->spec->pool_count; p++)
        if (speedup_of(request, p, gpus) > 0)
            mask |= 1u << p;
    return mask;
}

/* Narrows the types of GPU in *out to one: `type` is its index + 1, and 0 allows
 * any.  False: the role may not use that type, or the cluster has none of it. */
static bool one_type(const struct cluster_spec *spec, uint32_t type,
                     struct fit_want *out)
{
    if (type == 0 || out->gpus == 0)
        return true;
    for (uint32_t t = 0; t < out->gpu_type_count; t++)
        if (out->gpu_types[t] + 1 == type) {
            out->gpu_types += t;
            out->gpu_type_count = 1;
            return true;
        }
    for (uint32_t g = 0; out->gpu_type_count == 0 && g < spec->group_count; g++)
        if (spec->group[g].gpu && spec->group[g].gpu->index + 1 == type) {
            out->gpu_types = &spec->group[g].gpu->index;
            out->gpu_type_count = 1;
            return true;
        }
    assert(type > 0);
    return false;
}

/* May the role run on GPUs or on cores? */
static bool has_choice(const struct host_job_slot *job, uint32_t role)
{
    assert(role < host_form_of(job)->role_count);
    return job_role_chooses(&host_form_of(job)->role[role]);
}

bool host_hardware_ok(const struct cs_host *host,
                      const struct role_spec *role, bool cores)
{
    enum host_hardware hardware = host_hardware(host->policy, host->rules);

    return hardware == HOST_ANY_HARDWARE || !job_role_chooses(role) ||
           (hardware == HOST_CORES_ALONE) == cores;
}

bool host_may_use_cores(const struct cs_host *host,
                        const struct host_job_slot *job, uint32_t role)
{
    return has_choice(job, role) &&
           host_hardware_ok(host, &host_form_of(job)->role[role], true);
}

/* A want that names a number, a type or a place is tried as it is: one option.
 * Else a role that may run on GPUs or on cores has two, in the order of its
 * `types:`, unless the rules of the policy's entry allow one kind alone. */
uint32_t host_want_options(const struct cs_host *host,
                           const struct host_job_slot *job, uint32_t role,
                           const struct cs_want *want,
                           struct cs_want option[HOST_OPTIONS])
{
    bool named = want->gpus > 0 || want->gpu_type > 0 || want->node_count > 0 ||
                 want->spot_count > 0;
    uint32_t first = host_form_of(job)->role[role].on_cores.first ? 0 : 1;

    option[0] = *want;
    if (named || !host_may_use_cores(host, job, role))
        return 1;
    assert(first < HOST_OPTIONS);
    option[1] = *want;
    option[first].gpu_type = CS_ON_CORES;
    if (host_hardware_ok(host, &host_form_of(job)->role[role], false))
        return 2;
    option[0] = option[first];
    return 1;
}

/* Returns the GPUs that a want asks for: of nodes that it names, their sum. */
static uint32_t asked_gpus(const struct host_job_slot *job, uint32_t role,
                           const struct cs_want *want)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < want->spot_count; i++)
        sum += want->spot[i].gpus;
    assert(role < FORM_ROLES_MAX);
    if (want->spot_count > 0)
        return sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
    return want->gpus ? want->gpus : job_role_gpus(&job->pub.request, role);
}

bool host_want_ok(const struct cs_host *host, const struct host_job_slot *job,
                  uint32_t role, const struct cs_want *want)
{
    uint32_t gpus = asked_gpus(job, role, want);

    for (uint32_t i = 0; i < want->spot_count; i++)
        if (want->spot[i].gpus == 0)
            return false;
    if (want->spot_count > 0 && want->gpus > 0 && want->gpus != gpus)
        return false;
    return host_shape_ok(host, job, role, gpus);
}

/* A search needs no free GPU if one of the options is on cores. */
uint32_t host_want_gpus(const struct cs_host *host,
                        const struct host_job_slot *job, uint32_t role,
                        const struct cs_want *want)
{
    struct cs_want option[HOST_OPTIONS];
    uint32_t options = 0;

    if (host_form_of(job)->role[role].on_cores.cores > 0)
        options = host_want_options(host, job, role, want, option);
    for (uint32_t i = 0; i < options; i++)
        if (option[i].gpu_type == CS_ON_CORES)
            return 0;
    return asked_gpus(job, role, want);
}

/* Turns what a role needs of GPUs into what it needs of cores; false: it cannot run
 * on cores. */
static bool on_cores(const struct role_spec *spec, struct fit_want *out)
{
    assert(out != NULL);
    out->gpus = 0;
    out->cores = spec->on_cores.cores;
    out->memory_bytes = spec->on_cores.memory_bytes;
    out->gpu_types = NULL;
    out->gpu_type_count = 0;
    out->computes = true;
    return out->cores > 0;
}

/* The pools are narrowed three times: by what the file says of the role, by the
 * pools in which the job makes progress, and by the want. */
bool host_fit_want(const struct cs_host *host,
                   const struct host_job_slot *job, uint32_t role,
                   const struct cs_want *want, struct fit_want *out)
{
    assert(role < host_form_of(job)->role_count);
    const struct job_request *request = &job->pub.request;
    const struct role_spec *spec = &host_form_of(job)->role[role];
    uint32_t rated = 0;

    if (spec->on_cores.cores > 0 &&
        !host_hardware_ok(host, spec, want->gpu_type == CS_ON_CORES))
        return false;
    *out = (struct fit_want) {
        .gpus = want->gpus ? want->gpus : job_role_gpus(request, role),
        .cores = want->cores ? want->cores : spec->cores,
        .memory_bytes = spec->memory_bytes,
        .gpu_types = spec->gpu_types,
        .gpu_type_count = spec->gpu_type_count,
        .pool_mask = host->forms->form[job->form].pool_mask[role],
        .pod = spec->pod, .core_milli = spec->core_milli,
        .gpu_milli = job_role_milli(request, role),
        .gpu_mib = role == 0 ? request->gpu_mib : 0,
        .relaxed = host_relaxed(host, job),
    };
    if (request->rates || request->goodput) {
        rated = request->goodput
                    ? host_goodput_pools(host, request->goodput, out->gpus)
                    : pools_with_speedup(host, request, out->gpus);
        if (rated == 0)
            return false;
    }
    if (!narrow(&out->pool_mask, rated) ||
        !narrow(&out->pool_mask, want->pool_mask))
        return false;
    if (want->gpu_type == CS_ON_CORES ||
        (out->gpus == 0 && spec->on_cores.cores > 0))
        return on_cores(spec, out);
    return one_type(host->spec, want->gpu_type, out);
}

/* What the phases of a form are measured on: the empty cluster, made when it is
 * first needed. */
struct bench {
    struct cluster *empty;
    const struct host_speedup *at; /* other GPUs and cores of role 0; NULL: none */
    bool home;                  /* only in the role's home */
};

/* Returns the empty cluster. */
static struct cluster *bench_cluster(struct cs_host *host, struct bench *bench)
{
    if (bench->empty == NULL)
        bench->empty = cluster_new(host->parts.arena, host->spec);
    assert(bench->empty != NULL);
    return bench->empty;
}

/* Returns the seconds of a phase on one site of the empty cluster, or (site NULL)
 * wherever its role may lie; INFINITY: it has no room there.  The placement is the
 * first choice of the experiment's rule, and links are free. */
static double site_phase_s(struct cs_host *host, struct bench *bench,
                           const struct host_form *form, uint32_t p,
                           const struct host_site *site)
{
    const struct phase_spec *phase = &form->form->phase[p];
    const struct role_spec *role = &form->form->role[phase->role];
    const struct host_speedup *at = phase->role == 0 ? bench->at : NULL;
    struct fit_want want = {
        .gpus = at ? at->gpus : role->gpus,
        .cores = at && at->cores ? at->cores : role->cores,
        .memory_bytes = role->memory_bytes,
        .gpu_types = site && site->gpu ? &site->gpu->index : NULL,
        .gpu_type_count = site != NULL && site->gpu != NULL,
        .pool_mask = site ? site->pool_mask : form->pool_mask[phase->role],
    };
    struct placement place;

    assert(p < form->form->phase_count);

    if (role->on_cores.cores > 0 && (site ? site->gpu == NULL
                                          : role->gpus == 0))
        on_cores(role, &want);
    if (at && site && (at->gpus == 0) != (site->gpu == NULL))
        return INFINITY;
    if (at && at->pool != HOST_ANY_POOL &&
        (site ? site->pool_mask != 1u << at->pool : !narrow(&want.pool_mask, 1u << at->pool)))
        return INFINITY;
    if (bench->home && !narrow(&want.pool_mask, form->home_mask[phase->role]))
        return INFINITY;
    if (site && want.pool_mask != site->pool_mask)
        return INFINITY;
    if (!fit_find(bench_cluster(host, bench), place_fit_rule(host->rules->placement), &want,
                  host->life->scratch, host->spec->node_count, &place))
        return INFINITY;
    struct gang gang = fabric_gang(host->spec, &place);
    return phase_cache_seconds(host->life->plans, phase_law_usual(phase), &gang,
                               0.5);
}

/* Returns the seconds of a phase where it ends soonest; INFINITY: it fits nowhere. */
static double least_phase_s(struct cs_host *host, struct bench *bench,
                            const struct host_form *form, uint32_t p)
{
    const struct host_sites *sites = &form->sites[form->form->phase[p].role];
    double least_s = INFINITY;

    if (sites->count == 0)
        least_s = site_phase_s(host, bench, form, p, NULL);
    for (uint32_t i = 0; i < sites->count; i++)
        least_s = fmin(least_s, site_phase_s(host, bench, form, p,
                                             &sites->site[i]));
    assert(least_s >= 0);
    return least_s;
}

/* Returns the seconds of a phase per step: at home, or else where it is over
 * soonest; INFINITY: it can run nowhere.  A phase that comes every n steps counts
 * with its n-th part. */
static double form_phase_s(struct cs_host *host, struct bench *bench,
                           const struct host_form *form, uint32_t p)
{
    const struct phase_spec *phase = &form->form->phase[p];
    double s = INFINITY;

    if (phase->law->kind == LAW_FIXED)
        return phase->law->seconds;
    bench->home = bench->at == NULL && form->home_mask[phase->role] != 0;
    if (bench->home)
        s = least_phase_s(host, bench, form, p);
    bench->home = false;
    if (!isfinite(s))
        s = least_phase_s(host, bench, form, p);
    assert(phase->every > 0 && s >= 0);
    return s / phase->every;
}

/* Returns the seconds of a step of a form: the longest path through the graph of
 * its phases, if each starts as soon as those before it have ended.  Phases are in
 * topological order, so one pass is enough. phase_s[] gets the seconds of each
 * phase; what fits nowhere counts 0, unless other hardware is measured: then the
 * step is INFINITY. */
static double form_step_s(struct cs_host *host, struct bench *bench,
                          const struct host_form *form, double *phase_s)
{
    double end[FORM_PHASES_MAX] = { 0 }, step_s = 0;

    for (uint32_t p = 0; p < form->form->phase_count; p++) {
        double start = 0, s = form_phase_s(host, bench, form, p);
        for (uint32_t q = 0; q < p; q++)
            if (form->form->phase[p].after_mask >> q & 1)
                start = fmax(start, end[q]);
        phase_s[p] = isfinite(s) || bench->at ? s : 0;
        end[p] = start + phase_s[p];
        step_s = fmax(step_s, end[p]);
    }
    assert(step_s >= 0);
    return step_s;
}

/* Returns the seconds of a step of a form of one role that asks for more GPUs than there are, on
 * the most that it may have: speeds are ratios to what it asks for, and would all be 0.
 * 0: it has room on no number of GPUs that it may have. */
static double step_on_fewer_s(struct cs_host *host, struct bench *bench, struct host_form *form)
{
    const struct role_spec *role = &form->form->role[0];
    uint32_t multiple = role->gpus_multiple ? role->gpus_multiple : 1;
    double phase_s[FORM_PHASES_MAX], least_s = INFINITY;

    assert(form->form->role_count == 1 && bench->at == NULL);
    for (uint32_t g = role->gpus; role->gpus_min > 0 && g-- > role->gpus_min;)
        for (uint32_t p = 0; g % multiple == 0 && p < host->spec->pool_count; p++) {
            struct host_speedup at = { g, p, 0, 0 };
            bench->at = &at;
            double s = form_step_s(host, bench, form, phase_s);
            bench->at = NULL;
            if (s < least_s)
                memcpy(form->phase_s, phase_s, sizeof phase_s);
            least_s = fmin(least_s, s);
            if (p + 1 == host->spec->pool_count && isfinite(least_s))
                return least_s;
        }
    return 0;
}

/* Returns the pools, as a mask, that have GPUs which the role can use; `mask`
 * restricts them, 0 does not. */
static uint32_t gpu_pools(const struct cluster_spec *spec,
                          const struct role_spec *role, uint32_t mask)
{
    uint32_t pools = 0;

    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        uint32_t type = group->gpu != NULL ? group->gpu->index : ID_NONE;

        if (group->gpus > 0 && job_role_takes_type(role, type) &&
            (mask == 0 || mask >> group->pool & 1))
            pools |= 1u << group->pool;
    }
    assert(spec->pool_count <= 32);
    return pools;
}

/* Asks of each role with GPUs whether its home, when it is empty, has room for it, and of
 * all of them whether there is room at once.  The second question fills the bench's
 * cluster, so nothing is measured there afterwards. */
static void form_try_homes(struct cs_host *host, struct bench *bench, struct host_form *form)
{
    enum place_rule rule = host->rules->placement;
    struct share *share = host->life->scratch;
    struct placement place;

    form->settles = true;
    for (uint32_t r = 0; r < form->form->role_count; r++) {
        uint32_t mask = form->pool_mask[r];
        if (form->form->role[r].gpus > 0 && form->home_mask[r] != 0 &&
            narrow(&mask, form->home_mask[r]) &&
            host_role_fits(bench_cluster(host, bench), rule, &form->form->role[r], mask, share,
                           &place))
            form->home_holds |= 1u << r;
    }
    for (uint32_t r = 0; r < form->form->role_count && form->form->role_count > 1; r++) {
        uint32_t mask = form->pool_mask[r];
        if (form->form->role[r].gpus == 0)
            continue;
        if (form->home_holds >> r & 1)
            narrow(&mask, form->home_mask[r]);
        if (!host_role_fits(bench_cluster(host, bench), rule, &form->form->role[r], mask, share,
                            &place)) {
            form->settles = false;
            return;
        }
        cluster_take(bench->empty, &place);
    }
    assert(form->settles);
}

/* Finds pools, homes, sites and times of a form.  Done once: forms are few, and
 * jobs of one form share them. */
static void form_measure(struct cs_host *host, struct host_form *form)
{
    struct bench bench = { .empty = NULL };
    enum host_home rule;

    for (uint32_t r = 0; r < form->form->role_count; r++) {
        const struct role_spec *role = &form->form->role[r];
        uint32_t i = role->pool ? cluster_pool(host->spec, role->pool)
                                : UINT32_MAX;
        uint32_t home = host_home_pool(host->spec, role, &rule);
        form->pool_mask[r] = i == UINT32_MAX ? 0 : 1u << i;
        form->home_mask[r] = home == UINT32_MAX ? 0 : 1u << home;
        form->gpu_pools[r] = gpu_pools(host->spec, role, form->pool_mask[r]);
        form->sites[r] = host_sites_of(host->parts.arena, host->spec, role, form->pool_mask[r]);
    }
    form->step_s = form_step_s(host, &bench, form, form->phase_s);
    form->fixed = form->form->phase_count == 1 &&
                  form->form->phase[0].law->kind == LAW_FIXED;
    if (!(form->step_s > 0) && !form->fixed && form->form->role_count == 1)
        form->step_s = step_on_fewer_s(host, &bench, form);
    form_try_homes(host, &bench, form);
    assert(form->step_s >= 0);
}

/* Forms are few, so they are searched one by one.  A pointer to
 * host->forms->form[i] does not survive a new form: the array grows. */
uint32_t host_form_index(struct cs_host *host, const struct job_form *form)
{
    for (uint32_t i = 0; i < host->forms->count; i++)
        if (host->forms->form[i].form == form)
            return i;
    if (host->forms->count == host->forms->capacity) {
        uint32_t room = host->forms->capacity ? 2 * host->forms->capacity : 8;
        host->forms->form = arena_grow(host->parts.arena, host->forms->form,
                                host->forms->capacity, room, sizeof *host->forms->form);
        host->forms->capacity = room;
    }
    struct host_form *made = &host->forms->form[host->forms->count];
    memset(made, 0, sizeof *made);
    made->form = form;
    form_measure(host, made);
    assert(host->forms->count < host->forms->capacity);
    return host->forms->count++;
}

/* Rounds seconds to ns; 0 for a negative number. */
static int64_t ns_from_s(double s)
{
    assert(!isnan(s));
    return s > 0 ? clock_ns_for_work(s, 1.0) : 0;
}

/* Returns how long the job really takes on what it asked for, alone: policies do
 * not see it unless they are clairvoyant. */
static int64_t truth_ns(const struct cs_host *host,
                        const struct host_job_slot *job)
{
    const struct host_form *form = &host->forms->form[job->form];

    if (form->fixed)
        return job->truth.duration_ns;
    return ns_from_s(form->step_s * job->pub.request.steps);
}

/* Lognormal factor of mean 1, fixed by the job alone (Box & Muller 1958). */
static double noise(const struct cs_host *host,
                    const struct host_job_slot *job)
{
    assert(host->rules->noise_cv >= 0);
    uint64_t seed = host->parts.seed, id = job->pub.request.id.i;
    double u = 1 - rng_at(seed, id, host->parts.replica, 101);
    double v = rng_at(seed, id, host->parts.replica, 102);
    double cv = host->rules->noise_cv, var = log1p(cv * cv);

    return exp(sqrt(var) * sqrt(-2 * log(u)) * cos(2 * PI * v) - var / 2);
}

/* Three rules.  `exact`: the true length.  `requested`: the limit of the owner,
 * or the true length if there is none.  `noisy`: the true length times a factor
 * that is fixed by the job, so that all policies are told the same. */
void host_estimate(struct cs_host *host, struct host_job_slot *job)
{
    int64_t exact = truth_ns(host, job);

    job->pub.ideal_s = clock_s_from_ns(exact);
    job->estimate_ns = exact;
    if (host->rules->estimate == HOST_REQUESTED &&
        job->pub.request.limit_ns > 0)
        job->estimate_ns = job->pub.request.limit_ns;
    if (host->rules->estimate == HOST_NOISY)
        job->estimate_ns = ns_from_s(clock_s_from_ns(exact) *
                                     noise(host, job));
    assert(job->estimate_ns >= 0);
}

/* A job with phases counts its whole steps.  One of known length adds what the
 * phase that runs has passed, by its speedup. */
int64_t host_done_ns(const struct cs_host *host,
                     const struct host_job_slot *job)
{
    const struct host_form *form = &host->forms->form[job->form];
    int64_t done = job->done_ns;

    assert(done >= 0);
    if (!form->fixed)
        return ns_from_s(form->step_s * job->pub.step);
    /* Without a look at its lease, which is elsewhere in memory. */
    if (job->even_from_ns != CLOCK_NEVER_NS)
        return clock_after(done, host_now(host) - job->even_from_ns);
    if (job->phases_running && job->lease[0] != ID_NONE) {
        const struct host_lease_slot *lease = &host->leases->slot[job->lease[0]];
        done = clock_after(done, host_known_ns(host, job, lease,
                                               host_now(host) -
                                                   lease->phase_start_ns));
    }
    return done;
}

double host_progress(const struct cs_host *host, uint32_t j)
{
    const struct host_job_slot *job = host_job_slot(host, j);

    if (host->forms->form[job->form].fixed)
        return clock_s_from_ns(host_done_ns(host, job));
    assert(job->stopped_part >= 0 && job->kept >= 0);
    return job->pub.work_done_s - job->pub.work_lost_s + job->stopped_part +
           job->kept;
}

/* Adds what a lease holds at this instant, and has held since its grant. */
static void add_held(const struct cs_host *host, uint32_t i, double *gpus, double *gpu_s)
{
    const struct cs_lease *lease = &host->leases->slot[i].pub;
    double amount = host_lease_amount(lease);

    assert(host->leases->slot[i].live);
    *gpus += amount;
    *gpu_s += clock_s_from_ns(host_now(host) - lease->since_ns) * amount;
}

/* As add_held(), for the `count` leases of a job that save their state: they belong to no
 * role any more. */
static void add_leaving(const struct cs_host *host, const struct host_job_slot *job,
                        uint32_t count, double *gpus, double *gpu_s)
{
    const struct host_list *held = host_held(host);

    for (uint32_t k = held->count; k-- > 0 && count > 0;) {
        const struct host_lease_slot *lease = &host->leases->slot[held->item[k]];

        if (lease->owner != job || job->lease[lease->pub.role] == held->item[k])
            continue;
        add_held(host, held->item[k], gpus, gpu_s);
        count--;
    }
    assert(count == 0);
}

/* Adds up all leases of a job. */
static void add_leases(const struct cs_host *host, const struct host_job_slot *job,
                       double *gpus, double *gpu_s)
{
    uint32_t leaving = job->leases;

    for (uint32_t r = 0; r < FORM_ROLES_MAX && leaving > 0; r++)
        if (job->lease[r] != ID_NONE) {
            add_held(host, job->lease[r], gpus, gpu_s);
            leaving--;
        }
    if (leaving > 0)
        add_leaving(host, job, leaving, gpus, gpu_s);
    assert(*gpus >= 0 && *gpu_s >= 0);
}

/* Leases that have ended are counted in pub.gpu_seconds already. */
double host_attained_gpu_s(const struct cs_host *host,
                           const struct host_job_slot *job)
{
    double gpus = 0, gpu_s = job->pub.gpu_seconds;

    add_leases(host, job, &gpus, &gpu_s);
    return gpu_s;
}

/* The sum of GPUs is what the GPU-seconds gain in a second. */
double host_attained_per_s(const struct cs_host *host, const struct host_job_slot *job)
{
    double gpus = 0, gpu_s = 0;

    add_leases(host, job, &gpus, &gpu_s);
    return gpus;
}

int64_t host_restart_ns(const struct host_job_slot *job, int64_t now_ns)
{
    int64_t left = job->restart_until_ns - now_ns;

    assert(now_ns >= 0);
    return clock_after(job->penalty_ns, left > 0 ? left : 0);
}

/* What is left of a job that ran longer than its estimate is 0, and not less. */
int64_t host_left_ns(const struct cs_host *host,
                     const struct host_job_slot *job, bool truth)
{
    int64_t whole = truth ? truth_ns(host, job) : job->estimate_ns;
    int64_t done = host_done_ns(host, job);

    return clock_after(whole > done ? whole - done : 0,
                       host_restart_ns(job, host_now(host)));
}

/* ---- other GPUs than were asked for ------------------------------------ */

/* Rounded down, while host_ran_ns() rounds up: a phase is never over before its
 * length has passed.  Example: at speedup 3, a length of 10 ns takes ceil(10 /
 * 3) = 4 ns, in which 12 ns pass. */
int64_t host_known_ns(const struct cs_host *host,
                      const struct host_job_slot *job,
                      const struct host_lease_slot *lease, int64_t ran_ns)
{
    double speedup = lease->speedup;

    assert(ran_ns >= 0 && speedup > 0);
    if (job->pub.request.goodput)
        return host_goodput_known_ns(host, job->pub.request.goodput,
                                     &lease->pub.placement, job->done_ns,
                                     ran_ns);
    assert(job->done_ns >= 0);
    return speedup == 1 ? ran_ns : (int64_t)floor((double)ran_ns * speedup);
}

int64_t host_ran_ns(const struct cs_host *host,
                    const struct host_job_slot *job,
                    const struct host_lease_slot *lease, int64_t from_ns,
                    int64_t known_ns)
{
    double speedup = lease->speedup;

    assert(known_ns >= 0 && speedup > 0);
    if (job->pub.request.goodput)
        return host_goodput_ran_ns(host, job->pub.request.goodput,
                                   &lease->pub.placement, from_ns,
                                   clock_after(from_ns, known_ns));
    if (speedup == 1)
        return known_ns;
    return (int64_t)fmin(ceil((double)known_ns / speedup), 4e18);
}

/* Measures how fast a form is on other hardware, on an empty cluster made for it:
 * its usual step over its step there.  0: it cannot run there. */
static double measure_speedup(struct cs_host *host, const struct host_form *form,
                              const struct host_speedup *at)
{
    assert(at->speedup == 0);
    double phase_s[FORM_PHASES_MAX];
    struct arena *arena = arena_new(0);
    struct bench bench = { .empty = cluster_new(arena, host->spec), .at = at };
    double s = form_step_s(host, &bench, form, phase_s);

    arena_free(arena);
    return s > 0 && form->step_s > 0 ? form->step_s / s : 0;
}

/* Returns what was measured on such hardware before, else measures it. */
static double known_speedup(struct cs_host *host,
                            const struct host_job_slot *job,
                            const struct host_speedup *at)
{
    struct host_form *form = &host->forms->form[job->form];
    struct host_speedup *made;

    for (uint32_t i = 0; i < form->speedups; i++)
        if (form->speedup[i].gpus == at->gpus &&
            form->speedup[i].pool == at->pool &&
            form->speedup[i].cores == at->cores)
            return form->speedup[i].speedup;
    if (form->speedups == form->speedup_capacity) {
        uint32_t room = form->speedup_capacity ? 2 * form->speedup_capacity : 8;
        form->speedup = arena_grow(host->parts.arena, form->speedup,
                                   form->speedup_capacity, room, sizeof *form->speedup);
        form->speedup_capacity = room;
    }
    made = &form->speedup[form->speedups];
    *made = *at;
    made->speedup = measure_speedup(host, form, at);
    form->speedups++;
    assert(made->speedup >= 0);
    return made->speedup;
}

bool host_may_use(const struct cs_host *host, const struct host_job_slot *job,
                  uint32_t pool, uint32_t gpus)
{
    const struct host_form *form = &host->forms->form[job->form];
    uint32_t mask = form->pool_mask[0];

    assert(pool < host->spec->pool_count);
    return gpus > 0 ? form->gpu_pools[0] >> pool & 1 : mask == 0 || mask >> pool & 1;
}

/* Three kinds of jobs: applications with a goodput, jobs of known length with
 * rates, and jobs with phases, whose laws are asked once for each hardware. */
double host_speedup(struct cs_host *host, const struct host_job_slot *job,
                    uint32_t pool, uint32_t gpus, uint32_t cores)
{
    struct host_form *form = &host->forms->form[job->form];
    struct host_speedup at = { gpus, pool, cores, 0 };

    if (!host_shape_ok(host, job, 0, gpus) ||
        (pool != HOST_ANY_POOL && !host_may_use(host, job, pool, gpus)))
        return 0;
    assert(pool != HOST_ANY_POOL || (!form->fixed && job->pub.request.goodput == NULL));
    if (job->pub.request.goodput)
        return host_goodput_speedup(
            host, job->pub.request.goodput, host_done_ns(host, job), pool,
            goodput_packed(job->pub.request.goodput, pool, gpus));
    if (form->fixed)
        return speedup_of(&job->pub.request, pool, gpus);
    return known_speedup(host, job, &at);
}

/* Returns the speed of a role on cores, which may be on GPUs too, over its
 * speed on the GPUs that it asks for. */
static double speedup_on_cores(struct cs_host *host,
                               const struct host_job_slot *job,
                               const struct placement *placement)
{
    uint32_t node = placement->share[0].node;
    double speedup = known_speedup(host, job, &(struct host_speedup){
        0, cluster_group_of(host->spec, node)->pool, 0, 0 });

    assert(placement->share_count == 1);
    return speedup > 0 ? speedup : 1;
}

/* GPUs that work together go as fast as the slowest of them.  1 where no answer is
 * needed: the laws of phases look at the hardware themselves.  Of a job of phases the
 * answer only says when its lease should end. */
double host_speedup_on(struct cs_host *host, const struct host_job_slot *job,
                       const struct placement *placement)
{
    const struct job_form *form = host_form_of(job);
    bool fixed = host->forms->form[job->form].fixed;
    double speedup = INFINITY;

    if (fixed && !form->paced)
        return 1;
    uint32_t gpus = placement_gpus(placement);
    if (gpus == 0 && !fixed && !host_per_phase(host) && has_choice(job, 0) &&
        form->role_count == 1)
        return speedup_on_cores(host, job, placement);
    if (gpus == 0 ||
        (!fixed && (form->role_count > 1 || host_per_phase(host) ||
                    gpus == job_role_gpus(&job->pub.request, 0))))
        return 1;
    if (job->pub.request.goodput)
        return host_goodput_on(host, job->pub.request.goodput,
                               host_done_ns(host, job), placement);
    for (uint32_t i = 0; i < placement->share_count; i++) {
        uint32_t pool = cluster_group_of(host->spec,
                                         placement->share[i].node)->pool;
        speedup = fmin(speedup, host_speedup(host, job, pool, gpus, 0));
    }
    assert(speedup > 0 || !fixed);
    return speedup > 0 ? speedup : 1;
}

/* A restart takes the same time at any speed: only the rest is divided by the
 * speedup. */
int64_t host_lease_left_ns(const struct cs_host *host,
                           const struct host_job_slot *job,
                           const struct host_lease_slot *lease)
{
    int64_t left = host_left_ns(host, job, false);
    int64_t restart = host_restart_ns(job, host_now(host));

    assert(left >= restart);
    if (lease->speedup == 1 && !job->pub.request.goodput)
        return left;
    return clock_after(restart,
                       host_ran_ns(host, job, lease, host_done_ns(host, job),
                                   left == CLOCK_NEVER_NS ? left
                                                          : left - restart));
}

/* Weight of the newest switch in the average: the last ten make nine tenths of
 * it (assumption). */
#define SWITCH_WEIGHT 0.2

void host_note_switch(struct cs_host *host, const struct host_lease_slot *lease, double s)
{
    double *mean_s =
        &host->forms->form[lease->owner->form].switch_s[lease->pub.role];

    assert(s >= 0);
    *mean_s = *mean_s > 0 ? *mean_s + SWITCH_WEIGHT * (s - *mean_s) : s;
}

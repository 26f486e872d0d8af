/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * places.c - each role of each kind of job, tried on the empty cluster.
 *
 * A job that can never start would wait until the run is drained or stalls,
 * after hours; so each kind is placed here by the policy's own placement rule
 * before any trial. What does not fit on an empty cluster never fits.  The
 * reverse does not hold: a job may fit here and still wait for ever behind
 * others.
 *
 * Roles that start together are placed together (the cluster is taken and given
 * back); a policy per phase starts them one by one.  Jobs that a policy itself
 * refuses are found by never.c.
 */
#include "experiments/preflight/places.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "experiments/preflight/allowed.h"
#include "experiments/preflight/kinds.h"
#include "experiments/preflight/never.h"
#include "experiments/spec/experiment.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fit.h"
#include "models/cluster/place.h"
#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "policies/leases/sets.h"
#include "policies/params.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "workloads/jobs/draw.h"
#include "workloads/source.h"

/* ---- one policy --------------------------------------------------------- */

/* A policy at a point, tried on a cluster on which nothing runs. */
struct trying {
    const struct experiment_point *point;
    const struct host_policy *policy;
    struct sets *sets;          /* places by the policy's rule */
};

/* Adds the ways to have a role on GPUs; of `powered`, under a power cap also on fewer. */
static void add_on_gpus(struct sets_role *out, const struct trying *t,
                        const struct job_request *request, uint32_t r, uint32_t turn, bool powered)
{
    const struct role_spec *role = &request->form->role[r];
    uint32_t least = allowed_powered_gpus(t->policy, request, r);
    struct allowed_way way[ALLOWED_WAYS];
    uint32_t ways = allowed_ways(t->point->cluster, t->policy, request, r, turn, way);

    for (uint32_t i = 0; i < ways; i++) {
        out->way[out->ways++] = (struct fit_want) {
            .gpus = powered && least < way[i].gpus ? least : way[i].gpus,
            .cores = role->cores, .memory_bytes = role->memory_bytes,
            .gpu_types = role->gpu_types, .gpu_type_count = role->gpu_type_count,
            .pod = role->pod, .pool_mask = way[i].pools, .core_milli = role->core_milli,
            .relaxed = true, .gpu_milli = job_role_milli(request, r),
            .gpu_mib = r == 0 ? request->gpu_mib : 0,
        };
    }
}

/* Adds the ways to have a role on cores, in the place of GPUs. */
static void add_on_cores(struct sets_role *out, const struct trying *t,
                         const struct job_request *request, uint32_t r, uint32_t turn)
{
    const struct role_spec *role = &request->form->role[r];
    struct allowed_way way[ALLOWED_WAYS];
    uint32_t ways = allowed_ways(t->point->cluster, t->policy, request, r, turn, way);

    for (uint32_t i = 0; i < ways; i++)
        out->way[out->ways++] = (struct fit_want) {
            .cores = role->on_cores.cores, .computes = true,
            .memory_bytes = role->on_cores.memory_bytes, .pool_mask = way[i].pools,
        };
}

/* Does a role need neither GPUs nor cores? */
static bool needs_nothing(const struct role_spec *role)
{
    return role->gpus == 0 && role->cores == 0 && !role->pod;
}

/* Sets how a role is looked for: on GPUs, then on cores if it may compute on them.  False: in no
 * way. */
static bool set_role(struct sets_role *out, const struct trying *t,
                     const struct job_request *request, uint32_t r, uint32_t turn, bool powered)
{
    const struct role_spec *role = &request->form->role[r];
    bool chooses = job_role_chooses(role);
    enum host_hardware hardware = host_hardware(t->policy->policy, &t->policy->rules);

    out->ways = 0;
    if (needs_nothing(role))
        return true;
    if (allowed_least_gpus(t->policy, request, r) == 0 && role->cores == 0 && !role->pod)
        return false;
    if (!(chooses && hardware == HOST_CORES_ALONE) &&
        !(role->gpus == 0 && role->on_cores.cores > 0))
        add_on_gpus(out, t, request, r, turn, powered);
    if (role->on_cores.cores > 0 && !(chooses && hardware == HOST_GPUS_ALONE))
        add_on_cores(out, t, request, r, turn);
    return out->ways > 0;
}

/* Finds places in a turn for roles from `from` to before `to` together.  Returns the first one
 * without a place or, under the cap, without power; `to`: all have one. */
static uint32_t find_lacking(const struct trying *t, const struct job_request *request,
                             uint32_t from, uint32_t to, uint32_t turn, bool capped)
{
    struct sets *sets = t->sets;

    sets->roles = 0;
    for (uint32_t r = from; r < to; r++)
        if (!set_role(&sets->role[sets->roles++], t, request, r, turn, capped))
            return r;
    if (sets_find(sets, capped))
        return to;
    return capped ? from : from + sets->lacks;
}

/* Returns the first role without a place, or power, in a turn; FORM_ROLES_MAX: all have one. */
static uint32_t find_homeless_in(const struct trying *t, const struct job_request *request,
                                 uint32_t turn, bool capped)
{
    uint32_t roles = request->form->role_count;
    uint32_t step = t->policy->policy->flags & CS_PER_PHASE ? 1 : roles;

    for (uint32_t r = 0; r < roles; r += step) {
        uint32_t lacks = find_lacking(t, request, r, r + step, turn, capped);
        if (lacks < r + step)
            return lacks;
    }
    return FORM_ROLES_MAX;
}

/* Looks in each turn for a role without a place.  Returns that of the first turn if every turn
 * has one; *draws_mw: what the cluster would draw there, at least. */
static uint32_t find_homeless(const struct trying *t, const struct job_request *request,
                              bool capped, double *draws_mw)
{
    uint32_t first = find_homeless_in(t, request, 0, capped);

    *draws_mw = t->sets->draws_mw;
    if (first == FORM_ROLES_MAX)
        return first;
    for (uint32_t turn = 1; turn < allowed_turns(t->point->cluster, t->policy); turn++) {
        if (find_homeless_in(t, request, turn, capped) == FORM_ROLES_MAX)
            return FORM_ROLES_MAX;
        *draws_mw = fmin(*draws_mw, t->sets->draws_mw);
    }
    return first;
}

/* Returns whether one role of a job, or its roles, which start together, draw
 * more than the power cap; then err says so. */
static bool is_over_cap(const struct trying *t, const char *name,
                        const struct job_request *request, struct err *err)
{
    const struct job_form *form = request->form;
    double draws_mw, cap_w = t->point->cluster->power_cap_w;
    uint32_t r = cap_w > 0 ? find_homeless(t, request, true, &draws_mw) : FORM_ROLES_MAX;

    if (r == FORM_ROLES_MAX || isinf(draws_mw))
        return false;
    if (form->role_count == 1 || t->policy->policy->flags & CS_PER_PHASE)
        err_set(err, ERR_RANGE, form->role[r].pos,
                "role %.60s of %.60s can never start under policy %.60s, which starts it on %u "
                "GPUs: the cluster then draws at least %.0f W, and power_cap is %.0f W",
                form->role[r].name, form->name, name, allowed_powered_gpus(t->policy, request, r),
                ceil(draws_mw / 1000), cap_w);
    else
        err_set(err, ERR_RANGE, form->role[0].pos,
                "%.60s can never start under policy %.60s: its roles start together, the cluster "
                "then draws at least %.0f W, and power_cap is %.0f W", form->name, name,
                ceil(draws_mw / 1000), cap_w);
    err_hint(err, "Raise the cap, ask for fewer GPUs, or take a policy that starts jobs on "
                  "fewer, or leases for a phase.");
    return true;
}

/* Returns the number of GPUs of those pools and of the role's types. */
static uint32_t gpus_there(const struct cluster_spec *spec,
                           const struct role_spec *role, uint32_t mask)
{
    uint32_t gpus = 0;

    for (uint32_t g = 0; g < spec->group_count; g++) {
        const struct node_group *group = &spec->group[g];
        if (group->gpu && job_role_takes_type(role, group->gpu->index) &&
            (mask == 0 || mask >> group->pool & 1))
            gpus += group->gpus * group->node_count;
    }
    return gpus;
}

/* Writes where a confined role must be and why, as " in pool train (home of the
 * role)"; nothing for others. */
static void describe_home(const struct trying *t, const struct job_request *request,
                          uint32_t r, char *out, size_t room)
{
    static const char *const why[] = {
        [HOST_HOME_NONE] = "", [HOST_HOME_SAID] = "home of the role",
        [HOST_HOME_POOL] = "pool of the role",
        [HOST_HOME_NAME] = "it bears the role's name",
    };
    const struct cluster_spec *spec = t->point->cluster;
    enum host_home rule;
    uint32_t home = host_home_pool(spec, &request->form->role[r], &rule);

    out[0] = '\0';
    if (home != UINT32_MAX && host_confines_role(t->policy, spec, request->form, r))
        snprintf(out, room, " in pool %s (%s)", spec->pool_name[home],
                 why[rule]);
}

/* Finds the way of all turns that lacks the fewest GPUs; sets *there to what it has.  Pools that
 * are no way have none. */
static uint32_t find_nearest_way(const struct trying *t, const struct job_request *request,
                                 uint32_t r, uint32_t *there)
{
    const struct cluster_spec *spec = t->point->cluster;
    uint32_t gpus = allowed_least_gpus(t->policy, request, r);
    struct allowed_way way[ALLOWED_WAYS];

    *there = 0;
    for (uint32_t turn = 0; turn < allowed_turns(spec, t->policy); turn++) {
        uint32_t ways = allowed_ways(spec, t->policy, request, r, turn, way);
        for (uint32_t i = 0; i < ways; i++) {
            uint32_t here = gpus_there(spec, &request->form->role[r], way[i].pools);
            if ((int64_t)way[i].gpus - here >= (int64_t)gpus - *there)
                continue;
            gpus = way[i].gpus;
            *there = here;
        }
    }
    return gpus;
}

/* Three reasons, from the plainest: no node has the cores; there are too few GPUs
 * at all; GPUs with their cores and memory are not free together. */
static void describe_place(const struct trying *t, const char *name,
                           const struct job_request *request, uint32_t r,
                           struct err *err)
{
    const struct role_spec *role = &request->form->role[r];
    uint32_t there, gpus = find_nearest_way(t, request, r, &there);
    char home[96], key[96];

    describe_home(t, request, r, home, sizeof home);
    allowed_tell_key(t->point->cluster, t->policy, request, r, key, sizeof key);
    if (role->on_cores.cores > 0 &&
        (role->gpus == 0 || host_hardware(t->policy->policy, &t->policy->rules) ==
             HOST_CORES_ALONE))
        err_set(err, ERR_RANGE, role->pos,
                "role %s of %s has no place under policy %s%s%s: no node has %u "
                "cores and their memory free", role->name, request->form->name,
                name, home, key, role->on_cores.cores);
    else if (gpus > 0 && there < gpus)
        err_set(err, ERR_RANGE, role->pos,
                "role %s of %s has no place under policy %s%s%s: it asks for %u "
                "GPUs, and there are %u that it may use", role->name,
                request->form->name, name, home, key, gpus, there);
    else
        err_set(err, ERR_RANGE, role->pos,
                "role %s of %s has no place under policy %s%s%s: placement "
                "%s does not find %u GPUs with their cores and memory together%s",
                role->name, request->form->name, name, home, key,
                place_names[t->policy->rules.placement], gpus,
                t->policy->policy->flags & CS_ONE_POOL ? " in one pool" : "");
    if (home[0] != '\0')
        err_hint(err, "Write `home: POOL` in the role, with a pool that can run it.");
    else
        err_hint(err, "Ask for less, or add nodes. This was tried on an empty cluster.");
}

/* Returns how many roles with GPUs have a home. */
static uint32_t count_homes(const struct experiment_point *point)
{
    uint32_t count = 0;

    for (size_t i = 0; i < workload_form_count(point->workload); i++) {
        const struct job_form *form = workload_form(point->workload, i);
        for (uint32_t r = 0; r < form->role_count; r++) {
            enum host_home rule;
            count += form->role[r].gpus > 0 &&
                     host_home_pool(point->cluster, &form->role[r], &rule) !=
                         UINT32_MAX;
        }
    }
    return count;
}

/* Asked at all points: a sweep may bring the roles. */
void places_warn(const struct experiment *experiment, places_tell_fn *tell, void *self)
{
    for (uint32_t p = 0; p < experiment->policy_count; p++) {
        struct err_pos pos = { experiment->path, 0, 0 };
        struct err err = { 0 };
        uint32_t i = 0;

        while (i < experiment->point_count && count_homes(experiment->point[i].met[p]) > 0)
            i++;
        if (i == experiment->point_count ||
            !host_confines(experiment->point[i].policy[p]))
            continue;
        err_set(&err, ERR_RANGE, pos, "policy %s gives each role its own pool, "
                "but no role has a home (%.80s): roles start wherever there is "
                "room", experiment->policy_name[p], experiment->point[i].label);
        err_hint(&err, "Write `home: POOL` in the roles of the workload.");
        tell(self, &err);
    }
}

/* ---- all ---------------------------------------------------------------- */

struct told {
    places_tell_fn *tell;       /* hears of each kind that fits nowhere */
    void *self;
    struct err *err;            /* told so far */
    uint32_t count, room;
};

/* Points and policies often share a reason, so each text is told once. */
static void tell_once(struct arena *arena, struct told *told,
                      const struct err *err)
{
    for (uint32_t i = 0; i < told->count; i++)
        if (strcmp(told->err[i].text, err->text) == 0)
            return;
    ARENA_ADD(arena, told->err, told->count, told->room, *err);
    told->tell(told->self, err);
}

/* Jobs of known goodput choose their GPUs themselves, so they are not placed. */
static void check_policy(struct arena *arena, const struct experiment *experiment,
                         const struct experiment_point *point, uint32_t p,
                         const struct job_request *request, uint32_t count,
                         struct told *told)
{
    struct arena *scratch = arena_new(0);
    struct trying t = { .point = point, .policy = point->policy[p] };
    double draws_mw;

    struct placer_parts parts = { .rule = t.policy->rules.placement, .seed = experiment->seed };
    t.sets = sets_new(scratch, point->cluster, &parts);
    t.sets->one_pool = (t.policy->policy->flags & CS_ONE_POOL) != 0;
    for (uint32_t g = 0; g < point->cluster->group_count; g++)
        if (point->cluster->group[g].rent != NULL)
            sets_keep(t.sets, g, draw_standing_nodes(point->cluster, g));
    struct never_asked asked = { .policy = t.policy, .name = experiment->policy_name[p],
                                 .gpu_count = point->cluster->gpu_count };
    struct err broken = { 0 };
    asked.silent = !never_answers(&asked, request, count, &broken);
    if (asked.silent)
        tell_once(arena, told, &broken);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t r = request[i].goodput != NULL ? FORM_ROLES_MAX
                                                : find_homeless(&t, &request[i], false, &draws_mw);
        struct err err = { 0 };
        if (r == FORM_ROLES_MAX &&
            !is_over_cap(&t, experiment->policy_name[p], &request[i], &err) &&
            !never_starts(&asked, &request[i], &err))
            continue;
        if (r != FORM_ROLES_MAX)
            describe_place(&t, experiment->policy_name[p], &request[i], r, &err);
        tell_once(arena, told, &err);
    }
    request = kinds_of_services(scratch, point->workload, &count);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t r = find_homeless(&t, &request[i], false, &draws_mw);
        struct err err = { 0 };
        if (r == FORM_ROLES_MAX)
            continue;
        describe_place(&t, experiment->policy_name[p], &request[i], r, &err);
        tell_once(arena, told, &err);
    }
    arena_free(scratch);
}

/* The question of one cluster and one workload. */
struct asked {
    const struct experiment_point *of;  /* the point that was asked last */
    struct job_request *request;    /* [count], one for each kind of job */
    uint32_t count;
};

static bool same_world(const struct experiment_point *a,
                       const struct experiment_point *b)
{
    return a != NULL && a->workload_hash == b->workload_hash &&
           a->cluster_hash == b->cluster_hash;
}

/* Finds the requests of a world unless they are those of the last one: a trace is
 * read through for it, and not twice in turn. */
static void ask_requests(struct arena *scratch, const struct experiment *experiment,
                         const struct experiment_point *point, struct asked *asked)
{
    if (!same_world(asked->of, point))
        asked->request = kinds_of_point(scratch, experiment, point, &asked->count);
    asked->of = point;
}

/* A policy that meets the same world as at the point before, with the same keys,
 * is not asked again. */
uint32_t places_check(struct arena *arena, const struct experiment *experiment,
                      places_tell_fn *tell, void *self)
{
    struct told told = { .tell = tell, .self = self };
    struct arena *scratch = arena_new(0);
    struct asked all = { NULL, NULL, 0 }, own = { NULL, NULL, 0 };

    for (uint32_t i = 0; i < experiment->point_count; i++) {
        const struct experiment_point *point = &experiment->point[i];
        const struct experiment_point *last = i > 0 ? point - 1 : NULL;

        ask_requests(scratch, experiment, point, &all);
        for (uint32_t p = 0; p < experiment->policy_count; p++) {
            const struct experiment_point *met = point->met[p];
            struct asked *asked = met == point ? &all : &own;

            if (last != NULL && same_world(last->met[p], met) &&
                last->policy_hash[p] == point->policy_hash[p])
                continue;
            ask_requests(scratch, experiment, met, asked);
            check_policy(arena, experiment, met, p, asked->request, asked->count,
                         &told);
        }
    }
    arena_free(scratch);
    return told.count;
}

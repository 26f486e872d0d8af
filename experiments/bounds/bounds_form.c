/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bounds_form.c - every gang that a role could have, tried once per phase.
 *
 * A gang has GPUs of one type.  Where groups of that type differ, the gang of
 * the bound has the best link, the fastest core and the lowest price of any.
 */
#include "experiments/bounds/bounds_form.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/jobs/job.h"
#include "models/laws/phase.h"
#include "models/laws/rollout.h"
#include "models/types/rates.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"

#define DRAWS 64u
/* Gangs that are tried of a phase and type of GPU; above, no bound.  So many cover
 * jobs of up to about 1,088 GPUs on nodes of 8. */
#define GANGS_MAX 65536u

/* By the draw: of a rollout DRAWS of them, else one. */
struct least {
    double s[DRAWS], gpu_s[DRAWS], usd[DRAWS];  /* of one run: seconds, GPU-seconds, dollars */
    uint32_t draws;             /* entries that are set */
};

/* What each phase takes at least, in its first rounds and from `later_from` on. */
struct bounds_form {
    const struct job_form *form;
    struct least first[FORM_PHASES_MAX];
    struct least later[FORM_PHASES_MAX];
};

/* The groups of one GPU type, or of cores, as one.  A gang of it has the best of everything,
 * and is better than any real gang. */
struct kind {
    struct gang gang;           /* of all its GPUs */
    double pcie_bps, pcie_latency_s;    /* in the place of NVLink */
    bool by_pcie;               /* some gangs have no NVLink */
    double usd_per_gpu_s;       /* of the cheapest GPU */
    uint32_t gpus, nodes, per_node, cores_per_node; /* per_node: the most GPUs of a node */
};

/* May a role use the nodes of a group, by pool and type of GPU?  A role without
 * GPUs needs nodes with cores. */
static bool may_use(const struct cluster_spec *cluster,
                    const struct node_group *group,
                    const struct role_spec *role)
{
    if (role->pool != NULL && cluster_pool(cluster, role->pool) != group->pool)
        return false;
    if (role->gpus == 0)
        return group->cores > 0;
    return group->gpus > 0 &&
           job_role_takes_type(role, group->gpu != NULL ? group->gpu->index : ID_NONE);
}

/* Returns a bandwidth, and a very large one where the file gives none. */
static double given(double bps)
{
    return bps > 0 ? bps : FABRIC_UNLIMITED_BPS;
}

/* Improves a kind of gang by a group of nodes: the best of each link, core and
 * price.  No real gang is better, so that the bound holds. */
static void add_group(struct kind *kind, const struct node_group *group)
{
    struct gang *gang = &kind->gang;

    if (group->cpu != NULL && (gang->cpu == NULL || group->cpu->core_speed >
                                                        gang->cpu->core_speed))
        gang->cpu = group->cpu;
    gang->inter_bps = fmax(gang->inter_bps, given(group->nic_bps));
    gang->inter_latency_s = fmin(gang->inter_latency_s, group->nic_latency_s);
    if (group->gpus == 0)
        return;
    kind->by_pcie |= group->nvlink_domain > 0 || !(group->nvlink_bps > 0);
    kind->pcie_bps = fmax(kind->pcie_bps, given(group->pcie_bps));
    kind->pcie_latency_s = fmin(kind->pcie_latency_s,
                                group->gpu->pcie_latency_s);
    gang->pcie_bps = kind->pcie_bps;
    gang->intra_bps = fmax(gang->intra_bps, group->nvlink_bps);
    gang->intra_latency_s = fmin(gang->intra_latency_s,
                                 group->gpu->nvlink_latency_s);
    kind->usd_per_gpu_s =
        fmin(kind->usd_per_gpu_s,
             cluster_node_least_usd_per_h(group) / 3600 / group->gpus);
    kind->gpus += group->gpus * group->node_count;
    kind->nodes += group->node_count;
    if (group->cores > kind->cores_per_node)
        kind->cores_per_node = group->cores;
    if (group->gpus > kind->per_node)
        kind->per_node = group->gpus;
}

/* All groups that the role may use with GPUs as those of `like`. */
static struct kind kind_of(const struct cluster_spec *cluster,
                           const struct role_spec *role,
                           const struct node_group *like)
{
    struct kind kind = {
        .gang = { .gpu = role->gpus > 0 ? like->gpu : NULL, .nodes = 1,
                  .inter_latency_s = INFINITY, .intra_latency_s = INFINITY },
        .pcie_latency_s = INFINITY, .usd_per_gpu_s = INFINITY,
    };

    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (may_use(cluster, &cluster->group[g], role) &&
            (role->gpus == 0 || cluster->group[g].gpu == like->gpu))
            add_group(&kind, &cluster->group[g]);
    return kind;
}

/* Returns the seconds of a phase by its plan; INFINITY: it cannot run. */
static double seconds_of(const struct phase_plan *plan)
{
    if (!(plan->rate_max > 0))
        return INFINITY;
    return isfinite(plan->rate_max) ? 1 / plan->rate_max : 0;
}

/* More engines are hardly ever slower, and hardly ever take fewer GPU-seconds:
 * of a rollout the fewest and the most are tried, and what lies between is less by
 * this at most (tests/experiments/bounds_form_test.c).  Where lengths hardly differ
 * slots are filled in waves, and every number is tried. */
#define BETWEEN 0.03
#define BETWEEN_CV 0.5

/* Tries a phase on a gang, and keeps the least time, GPU-seconds and cost.  A
 * rollout is tried at DRAWS lengths of its longest response, since what is best
 * depends on it; a bound between two of them is lowered by BETWEEN. */
static void try_gang(struct least *least, const struct phase_law *law,
                     const struct gang *gang, double usd_per_gpu_s)
{
    struct rollout_plan rollout;
    struct phase_plan plan = { 0 };

    if (!phase_can_run(law, gang))
        return;
    if (least->draws > 1)
        rollout_plan_init(&rollout, &law->rollout, gang);
    else
        plan = phase_plan(law, gang, 0);
    for (uint32_t k = 0; k < least->draws; k++) {
        if (least->draws > 1)
            plan = phase_rollout_drawn(law, gang, &rollout,
                                       (double)k / DRAWS);
        double s = seconds_of(&plan) * (least->draws > 1 ? 1 - BETWEEN : 1);
        double gpu_s = s * gang->gpus;


        least->s[k] = fmin(least->s[k], s);
        least->gpu_s[k] = fmin(least->gpu_s[k], gpu_s);
        if (gang->gpus > 0)
            least->usd[k] = fmin(least->usd[k], gpu_s * usd_per_gpu_s);
    }
}

/* One node or several, by NVLink or PCIe. */
static void try_spread(struct least *least, const struct phase_law *law,
                       const struct kind *kind, uint32_t gpus, uint32_t nodes)
{
    struct gang gang = kind->gang;

    gang.gpus = gpus;
    gang.nodes = nodes;
    if (kind->gang.intra_bps > 0 || gpus == 1)
        try_gang(least, law, &gang, kind->usd_per_gpu_s);
    if (!kind->by_pcie || gpus == 1)
        return;
    gang.intra_bps = kind->pcie_bps;
    gang.intra_latency_s = kind->pcie_latency_s;
    try_gang(least, law, &gang, kind->usd_per_gpu_s);
}

/* Engines care for how many GPUs of a node they have, and for no more; those
 * of one GPU each not even for that. */
static bool is_alike(const struct phase_law *law, uint32_t gpus,
                     uint32_t nodes, uint32_t fewest)
{
    if (law->kind != LAW_ROLLOUT || nodes == fewest)
        return false;
    return law->rollout.tp == 1 ||
           (gpus - 1) / nodes == (gpus - 1) / (nodes - 1);
}

/* Lies this number of GPUs between two that are tried?  Rollouts of long tails
 * change little from one size to the next, so that sizes between need not be tried. */
static bool lies_between(const struct phase_law *law, uint32_t gpus,
                         uint32_t from, uint32_t step, uint32_t most)
{
    return law->kind == LAW_ROLLOUT && gpus > from && gpus + step <= most &&
           law->rollout.response_cv >= BETWEEN_CV &&
           !(law->rollout.part_tokens > 0);
}

/* Some policies give a job more cores than it asked for: all of its nodes at most. */
static uint32_t most_cores(const struct kind *kind, const struct role_spec *role,
                           uint32_t gpus, uint32_t nodes)
{
    uint32_t asked = role->cores * gpus, most = kind->cores_per_node * nodes;

    return asked > most ? asked : most;
}

/* False: too many gangs to try. */
static bool try_kind(struct least *least, const struct phase_law *law,
                     const struct role_spec *role, struct kind kind)
{
    uint32_t step = role->gpus_multiple > 0 ? role->gpus_multiple : 1;
    uint32_t most = role->gpus_max > role->gpus ? role->gpus_max : role->gpus;
    uint32_t from = role->gpus_min > 0 && role->gpus_min < role->gpus
                        ? role->gpus_min : role->gpus;
    uint32_t tried = 0;

    if (role->gpus == 0) {
        kind.gang.cores = role->cores;
        if (role->on_cores.cores == 0)
            try_gang(least, law, &kind.gang, 0);
        return true;            /* cores that compute: try_cores() */
    }
    most = most < kind.gpus ? most : kind.gpus;
    for (uint32_t gpus = from; gpus <= most; gpus += step) {
        uint32_t fewest = (gpus - 1) / kind.per_node + 1;
        uint32_t widest = gpus < kind.nodes ? gpus : kind.nodes;

        if (lies_between(law, gpus, from, step, most))
            continue;
        for (uint32_t nodes = fewest; nodes <= widest; nodes++) {
            if (is_alike(law, gpus, nodes, fewest))
                continue;
            if (++tried > GANGS_MAX)
                return false;
            kind.gang.cores = most_cores(&kind, role, gpus, nodes);
            try_spread(least, law, &kind, gpus, nodes);
        }
    }
    return true;
}

/* Cores that compute, in the place of GPUs or without a choice: those of each
 * group.  On nodes with GPUs they cost nothing more, as GPUs pay for the node. */
static void try_cores(struct least *least, const struct phase_law *law,
                      const struct role_spec *role,
                      const struct node_group *group)
{
    struct gang gang = { .nodes = 1, .cores = role->on_cores.cores,
                         .cpu = group->cpu,
                         .inter_bps = given(group->nic_bps) };
    double usd_per_s = group->gpus > 0 ? 0
                           : cluster_node_least_usd_per_h(group) / 3600 *
                                 gang.cores / group->cores;
    struct least here = { .draws = least->draws };

    for (uint32_t k = 0; k < DRAWS; k++)
        here.s[k] = here.gpu_s[k] = INFINITY;
    try_gang(&here, law, &gang, 0);
    for (uint32_t k = 0; k < least->draws && isfinite(here.s[k]); k++) {
        least->s[k] = fmin(least->s[k], here.s[k]);
        least->gpu_s[k] = 0;
        least->usd[k] = fmin(least->usd[k], here.s[k] * usd_per_s);
    }
}

/* May a role that can run on cores use the nodes of a group? */
static bool may_compute(const struct cluster_spec *cluster,
                        const struct node_group *group,
                        const struct role_spec *role)
{
    return role->on_cores.cores > 0 && cluster_computes(group) &&
           group->cores >= role->on_cores.cores &&
           (role->pool == NULL ||
            cluster_pool(cluster, role->pool) == group->pool);
}

/* The first group of each GPU type stands for it; cores are all of a kind. */
static bool is_first(const struct cluster_spec *cluster,
                     const struct role_spec *role, uint32_t group)
{
    for (uint32_t g = 0; g < group; g++)
        if (may_use(cluster, &cluster->group[g], role) &&
            (role->gpus == 0 ||
             cluster->group[g].gpu == cluster->group[group].gpu))
            return false;
    return true;
}

/* Returns a law by which more cores are never slower.  Without `workers` there are as many
 * workers as cores, and at each epoch they start one after the other.  The bound must hold for
 * any number of cores, so in it they start at once. */
static struct phase_law start_at_once(const struct phase_law *law)
{
    struct phase_law at_once = *law;

    if (at_once.loader_workers == 0)
        at_once.worker_start_s = 0;
    return at_once;
}

/* Finds the least that any gang takes for a phase: each kind of GPU once, and
 * cores.  False: nothing is known, or no gang can run it. */
static bool least_of(const struct cluster_spec *cluster,
                     const struct role_spec *role,
                     const struct phase_law *law, struct least *least)
{
    struct phase_law at_once = start_at_once(law);

    least->draws = law->kind == LAW_ROLLOUT ? DRAWS : 1;
    for (uint32_t k = 0; k < DRAWS; k++) {
        least->s[k] = least->gpu_s[k] = INFINITY;
        least->usd[k] = role->gpus > 0 || role->on_cores.cores > 0 ? INFINITY
                                                                   : 0;
    }
    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (may_use(cluster, &cluster->group[g], role) &&
            is_first(cluster, role, g) &&
            !try_kind(least, &at_once, role, kind_of(cluster, role,
                                                     &cluster->group[g])))
            return false;
    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (may_compute(cluster, &cluster->group[g], role))
            try_cores(least, law, role, &cluster->group[g]);
    return isfinite(least->s[0]) && isfinite(least->usd[0]);
}

/* Phases with a second law for later rounds are computed twice. */
struct bounds_form *bounds_form_new(struct arena *arena,
                                    const struct cluster_spec *cluster,
                                    const struct job_form *form)
{
    assert(arena != NULL && cluster != NULL && form != NULL);
    struct bounds_form *bounds = arena_alloc(arena, 1, sizeof *bounds);

    bounds->form = form;
    for (uint32_t p = 0; p < form->phase_count; p++) {
        const struct phase_spec *phase = &form->phase[p];
        const struct role_spec *role = &form->role[phase->role];

        if (phase->law->kind == LAW_SERVE ||
            !least_of(cluster, role, phase->law, &bounds->first[p]))
            return NULL;
        bounds->later[p] = bounds->first[p];
        if (phase->later != NULL &&
            !least_of(cluster, role, phase->later, &bounds->later[p]))
            return NULL;
    }
    return bounds;
}

/* What the phases of a round take at least, one by one.  The draw of a rollout follows from
 * the seed, the round and the phase, as in the trial itself. */
static void round_least(const struct bounds_form *bounds, uint32_t round,
                        uint32_t rounds, uint64_t seed, double *s,
                        struct bounds_least *sum)
{
    const struct job_form *form = bounds->form;

    for (uint32_t p = 0; p < form->phase_count; p++) {
        const struct phase_spec *phase = &form->phase[p];
        bool late = phase->later != NULL && round >= phase->later_from;
        const struct least *least = late ? &bounds->later[p]
                                         : &bounds->first[p];
        uint32_t k = 0;

        s[p] = 0;
        if (!phase_due(phase, round, rounds))
            continue;
        if (least->draws > 1)
            k = (uint32_t)(rng_at(seed, round, p, 0) * DRAWS);
        s[p] = least->s[k];
        sum->gpu_s += least->gpu_s[k];
        sum->usd += least->usd[k];
    }
}

/* The longest way through a round; the phases of a role take turns.  Example: phases of 10 s,
 * 20 s and 5 s, of three roles, where the third waits for the first alone: the longest way is
 * 20 s.  If the second and third are of one role, it is 25 s, as a role does one phase at a
 * time. */
static double round_s(const struct job_form *form, const double *s)
{
    double end[FORM_PHASES_MAX], role_s[FORM_ROLES_MAX] = { 0 }, most = 0;

    for (uint32_t p = 0; p < form->phase_count; p++) {
        double begin = 0;

        for (uint32_t q = 0; q < p; q++)
            if (form->phase[p].after_mask >> q & 1)
                begin = fmax(begin, end[q]);
        end[p] = begin + s[p];
        role_s[form->phase[p].role] += s[p];
        most = fmax(most, fmax(end[p], role_s[form->phase[p].role]));
    }
    return most;
}

/* Rounds follow one another here, so their lengths are added. */
struct bounds_least bounds_form_least(const struct bounds_form *bounds,
                                      uint32_t rounds, uint64_t seed)
{
    assert(bounds != NULL);
    struct bounds_least least = { 0 };
    double s[FORM_PHASES_MAX];

    for (uint32_t round = 0; round < rounds; round++) {
        round_least(bounds, round, rounds, seed, s, &least);
        least.length_s += round_s(bounds->form, s);
    }
    return least;
}

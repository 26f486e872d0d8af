/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * alone.c - a role in an empty cluster: the gang that it would have there, and
 * how long its phases and its switches take.
 *
 * Placement is by `pack`, as close together as can be: the best case, which the
 * forecast is for.  A cluster is made anew for each question, which is why it
 * is slow.
 */
#include "workloads/recipes/alone.h"

#include <assert.h>
#include <math.h>

#include "models/advise/advise.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/cluster/fit.h"
#include "models/jobs/job.h"
#include "models/laws/comm.h"
#include "models/laws/phase.h"
#include "sim/base/arena.h"
#include "workloads/recipes/recipe.h"

/* `switches` counts the leaves of the network that the nodes hang on:
 * neighbours of the placement that share a leaf count once. */
struct alone alone_gang(const struct draft *draft, uint32_t role)
{
    const struct cluster_spec *spec = draft->world->cluster;
    const struct role_spec *r = &draft->form->role[role];
    struct arena *arena = draft->world->arena;
    struct share *share = arena_alloc(arena, spec->node_count, sizeof *share);
    struct fit_want want = {
        .gpus = r->gpus, .cores = r->cores, .memory_bytes = r->memory_bytes,
        .gpu_types = r->gpu_types, .gpu_type_count = r->gpu_type_count,
        .pool_mask = r->pool != NULL ? 1u << cluster_pool(spec, r->pool) : 0,
    };
    struct placement place;
    struct alone alone = { .found = false };

    if (!fit_find(cluster_new(arena, spec), FIT_PACK, &want, share,
                  spec->node_count, &place))
        return alone;
    alone.gang = fabric_gang(spec, &place);
    alone.found = true;
    for (uint32_t i = 0, last = UINT32_MAX; spec->leaf_nodes > 0 &&
                                            i < place.share_count; i++) {
        uint32_t leaf = place.share[i].node / spec->leaf_nodes;

        alone.switches += leaf != last;
        last = leaf;
    }
    return alone;
}

/* The law is asked in the middle of the job (0.5 of its progress). A law
 * without a finite time counts as 0. */
double alone_law_s(const struct draft *draft, uint32_t role,
                   const struct phase_law *law)
{
    struct alone alone = alone_gang(draft, role);
    double s = alone.found ? phase_seconds(law, &alone.gang, 0.5) : 0;

    return isfinite(s) ? s : 0;
}

/* Each phase takes what its usual law says; the graph of the form adds up what
 * runs one after the other and takes the longest of what runs at once. */
double alone_run_s(const struct draft *draft)
{
    const struct job_form *form = draft->form;
    double seconds[FORM_PHASES_MAX] = { 0 };

    for (uint32_t p = 0; p < form->phase_count; p++)
        seconds[p] = alone_law_s(draft, form->phase[p].role,
                                 phase_law_usual(&form->phase[p]));
    return advise_form_s(form, seconds, 1);
}

/* A switch wakes the role, and copies its state over the PCIe slots of its own
 * GPUs, out and in.  Roles without GPUs switch for nothing. */
double alone_switch_loss(const struct draft *draft)
{
    double run_s = alone_run_s(draft), switch_s = 0;

    for (uint32_t r = 0; r < draft->form->role_count; r++) {
        const struct role_spec *role = &draft->form->role[r];
        struct alone alone;

        if (role->gpus == 0)
            continue;
        alone = alone_gang(draft, r);
        if (!alone.found)
            return 0;           /* the reader says what is missing */
        assert(alone.gang.gpu != NULL && comm_pcie_bps(&alone.gang) > 0);
        switch_s += role->wake_s + (role->load_bytes + role->save_bytes) /
                                       (comm_pcie_bps(&alone.gang) * role->gpus);
    }
    return run_s > 0 ? switch_s / run_s : 0;
}

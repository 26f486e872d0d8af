/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * checkpoint.c - when a job saves: after a number of steps, or as often as
 * wastes least where it is interrupted now and then.
 *
 * Young (1974) and Daly (2006) need the time of a save and the mean time to
 * interruption.  Both follow from what the role asks for: the gang that an
 * empty cluster would give it, the storage, and what fails there.
 */
#include "models/jobs/job.h"
#include "models/types/rates.h"
#include "sim/base/err.h"
#include "workloads/recipes/alone.h"
#include "workloads/recipes/recipe.h"

#include <assert.h>
#include <math.h>

#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/cluster/faults.h"
#include "models/laws/outage.h"
#include "models/laws/transfer.h"
#include "sim/config/conf.h"

const char *const checkpoint_choices[] = { "steps", "young", "daly", NULL };
enum { CHECKPOINT_STEPS, CHECKPOINT_YOUNG, CHECKPOINT_DALY };

double draft_law_s(const struct draft *draft, uint32_t role,
                   const struct phase_law *law)
{
    if (draft->keys.checkpoint == CHECKPOINT_STEPS)
        return 0;       /* nobody asks, and a large cluster is slow to lay */
    return alone_law_s(draft, role, law);
}

double draft_run_s(const struct draft *draft)
{
    return draft->keys.checkpoint == CHECKPOINT_STEPS ? 0 : alone_run_s(draft);
}

/* Young's and Daly's intervals need the mean time between failures.  False,
 * with err: the cluster says of none. */
static bool has_failures(const struct draft *draft)
{
    const struct conf_node *node = conf_get(draft->conf, "checkpoint");
    struct err *err = draft->world->err;

    if (draft->world->cluster->failures != NULL)
        return true;
    err_set(err, ERR_SCHEMA, conf_pos(node),
            "checkpoint %s of %s needs a cluster that says what fails: it has "
            "no failures", checkpoint_choices[draft->keys.checkpoint],
            draft->form->name);
    return err_hint(err, "Give `failures:` in the cluster, or say how many "
                         "steps with checkpoint_every.");
}

/* Returns the failures per second of `nodes` nodes that a recorded trace of
 * failures adds; 0 without one. */
static double find_recorded_per_s(const struct outage_spec *failures,
                                  double nodes)
{
    return failures->recorded != NULL
               ? nodes * failures->recorded->per_node_s : 0;
}

#define STEPS_MAX 1e9           /* as the key checkpoint_every allows */

/* Order: the gang in an empty cluster, the time of a save, the mean time to
 * interruption, and then the interval in whole steps, at least one.  Failures
 * of nodes, switches and of a recorded trace add up as rates.  Where nothing
 * fails, nothing is saved. */
bool draft_interval(struct draft *draft, const struct train_shape *shape,
                    uint32_t role, double step_s)
{
    const struct cluster_spec *spec = draft->world->cluster;
    struct alone alone;
    double save_s, mtti_s, every_s;

    if (draft->keys.checkpoint == CHECKPOINT_STEPS)
        return true;
    if (!conf_acts(draft->conf, "checkpoint_every", true,
                   "needs `checkpoint: steps`: Young and Daly say when",
                   draft->world->err) || !has_failures(draft))
        return false;
    alone = alone_gang(draft, role);
    if (!alone.found || !(step_s > 0))
        return true;            /* the reader says what is missing */
    save_s = transfer_checkpoint_write(draft_checkpoint_bytes(draft, shape), &alone.gang,
                                       spec->storage_bps > 0
                                           ? spec->storage_bps
                                           : FABRIC_UNLIMITED_BPS).time_s;
    mtti_s = 1 / (1 / outage_mtti_s(spec->failures, alone.gang.gpus,
                                    alone.gang.nodes, alone.switches) +
                  find_recorded_per_s(spec->failures, alone.gang.nodes));
    draft->keys.checkpoint_every = 0;
    if (isinf(mtti_s))
        return true;            /* nothing fails: nothing need be saved */
    every_s = draft->keys.checkpoint == CHECKPOINT_YOUNG
                  ? outage_young_s(save_s, mtti_s)
                  : outage_daly_s(save_s, mtti_s);
    draft->keys.checkpoint_every =
        (int64_t)fmin(fmax(1, round(every_s / step_s)), STEPS_MAX);
    return true;
}

/* Checkpoints fall between whole runs of the graph: a run has round_steps
 * steps, so the phase is due in every (checkpoint_every / round_steps)-th run. */
void draft_checkpoint(struct draft *draft, const struct train_shape *shape,
                      uint32_t role, uint32_t after)
{
    uint32_t every = (uint32_t)draft->keys.checkpoint_every;
    struct phase_law law = { .kind = LAW_CHECKPOINT };
    uint32_t number;

    if (every == 0)
        return;
    law.storage_bytes = draft_checkpoint_bytes(draft, shape);
    number = draft_phase(draft, PHASE_CHECKPOINT, "checkpoint", role,
                         1u << after, &law);
    every /= draft->form->round_steps;
    draft->form->phase[number].every = every > 0 ? every : 1;
}

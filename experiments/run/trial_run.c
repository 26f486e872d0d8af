/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trial_run.c - runs a whole trial on the shorter of two paths.
 *
 * Where GPUs are no more than a count, trial_count.c gives the same results as the
 * host, in less time.  All other trials are opened, run and closed by trial.c.
 */
#include "experiments/run/trial.h"

#include <assert.h>
#include <string.h>

#include "experiments/run/trial_count.h"
#include "sim/base/err.h"

/* An audit that never looked has found nothing. */
static bool was_audited(bool ran, const struct trial_result *result, struct err *err)
{
    struct err_pos nowhere = { 0 };

    if (!ran || result->audit_count[AUDIT_FIGURES] > 0)
        return ran;
    return err_set(err, ERR_BUG, nowhere, "the audit failed: no figure was counted again");
}

bool trial_run(const struct trial_spec *spec,
               const struct trial_tables *tables, struct trial_result *result,
               struct err *err)
{
    struct trial *trial;

    assert(spec->cluster && spec->workload && spec->policy && err);
    if (!spec->by_host && trial_count_applies(spec, tables))
        return was_audited(trial_count_run(spec, tables, result, err), result, err);
    memset(result, 0, sizeof *result);
    trial = trial_open(spec, tables, err);
    if (trial == NULL)
        return false;
    while (trial_go(trial) == TRIAL_ASKS)
        continue;
    return was_audited(trial_close(trial, result, err), result, err);
}

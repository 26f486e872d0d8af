/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stall.h - does a trial make progress, and if not, why?  For the code that
 * runs trials.
 */
#ifndef POLICIES_HOST_STALL_H
#define POLICIES_HOST_STALL_H

#include "policies/host/host.h"

/* Returns the first job, from number `from` on, that has not ended and is no
 * replica of a service; UINT32_MAX: there is none.  *done is its progress:
 * seconds of a job of known length, else runs of phases, with the parts that a
 * stop keeps.  A failure can lower it. */
uint32_t host_next_unfinished(const struct cs_host *host, uint32_t from,
                              double *done);
/* Did the run end because its last decisions changed nothing? */
bool host_in_vain(const struct cs_host *host);
/* Has one phase of a job, no service, been running from that time until now? */
bool host_works_since(const struct cs_host *host, int64_t since_ns);

struct host_stall {
    char what[120];             /* "job 7 waits since 0 s for 32 GPUs ..." */
    char why[400];              /* sentences, or empty */
};

/* Says which job of a run that is over waits, and for what.  The host may let
 * the policy decide once more; the journal is not told what it does then. */
void host_stall_explain(struct cs_host *host, struct host_stall *stall);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stall.h - does anything move, and if not, why?  For who runs trials.
 */
#ifndef POLICIES_HOST_STALL_H
#define POLICIES_HOST_STALL_H

#include "policies/host/host.h"

/* The first job from `from` on that has not ended and is no replica, and how
 * far it got: seconds of a job of known length, else runs of phases, with the
 * parts that a stop keeps.  It falls when a failure sets the job back.
 * UINT32_MAX: there is none. */
uint32_t host_next_unfinished(const struct cs_host *host, uint32_t from,
                              double *done);
/* Has the run ended since nothing came of its decisions? */
bool host_in_vain(const struct cs_host *host);
/* Has a phase of a job been running at that instant, and ever since? */
bool host_works_since(const struct cs_host *host, int64_t since_ns);

struct host_stall {
    char what[120];             /* "job 7 waits since 0 s for 32 GPUs ..." */
    char why[400];              /* sentences, or empty */
};

/* Of a run that is over: which job waits, and for what.  The policy may be
 * asked once more, and what it then does is not told. */
void host_stall_explain(struct cs_host *host, struct host_stall *stall);

#endif

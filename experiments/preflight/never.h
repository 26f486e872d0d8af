/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * never.h - jobs that a policy itself says it never starts, and jobs that its flags
 * rule out.
 */
#ifndef EXPERIMENTS_PREFLIGHT_NEVER_H
#define EXPERIMENTS_PREFLIGHT_NEVER_H

#include <stdbool.h>
#include <stdint.h>

struct err;
struct host_policy;
struct job_request;

/* Who is asked, and for which cluster. */
struct never_asked {
    const struct host_policy *policy;   /* with its parameters */
    const char *name;           /* of the policy in the experiment, for messages */
    uint32_t gpu_count;         /* of the cluster */
    bool silent;                /* never() of the policy is not called: it may crash */
};

/* Does the policy never start that job?  Then err says why. */
bool never_starts(const struct never_asked *asked, const struct job_request *request,
                  struct err *err);
/* Calls never() of a policy from a file for `count` jobs in a process of its own, since
 * its code may crash or loop.  False: that process did not end well, and err says how; the
 * policy must not be asked here.  True for policies that are part of the program. */
bool never_answers(const struct never_asked *asked, const struct job_request *request,
                   uint32_t count, struct err *err);

#endif

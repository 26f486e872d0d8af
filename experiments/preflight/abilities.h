/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * abilities.h - jobs that a policy is not able to run, or not everywhere that they
 * may run, by the flags of its table.
 */
#ifndef EXPERIMENTS_PREFLIGHT_ABILITIES_H
#define EXPERIMENTS_PREFLIGHT_ABILITIES_H

#include <stdbool.h>

struct err;
struct experiment;
struct host_policy;
struct job_request;

/* Does the table of the policy say that it never starts such a job?  If so,
 * returns true, and err says why and names policies that start it.  `name`: of the
 * policy in results. */
bool abilities_bar(const struct host_policy *policy, const char *name,
                   const struct job_request *request, struct err *err);
/* Tells a warning for each policy that stops, resizes or packs jobs if a role may
 * compute on cores or on GPUs: it uses the GPUs alone. */
void abilities_warn(const struct experiment *experiment,
                    void (*tell)(void *self, const struct err *err), void *self);

#endif

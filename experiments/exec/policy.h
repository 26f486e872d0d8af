/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * policy.h - the functions of the table of a policy that is a program
 * (policies/policy.h says when each is called; `self` is a struct exec).
 * Private to experiments/exec.
 */
#ifndef EXPERIMENTS_EXEC_POLICY_H
#define EXPERIMENTS_EXEC_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "policies/policy.h"

struct exec_guest;
struct exec_self;
struct talk;

bool exec_init(void *self, struct cs_host *host);
bool exec_before(const void *self, const struct cs_host *host, struct task_id a,
                 struct task_id b);
void exec_decide(void *self, struct cs_host *host);
void exec_job_submitted(void *self, struct cs_host *host, struct job_id job);
void exec_job_ended(void *self, struct cs_host *host, struct job_id job);
void exec_lease_idle(void *self, struct cs_host *host, struct lease_id lease);
void exec_fini(void *self);

/* Starts the program and hears what it says of itself.  Returns the talk, for the
 * caller to close.  NULL: `why` says what is wrong, and `more` what it wrote last. */
struct talk *exec_greet(const struct exec_guest *guest, struct exec_self *self, char *why,
                        size_t why_bytes, char *more, size_t more_bytes);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * view.h - what requests look at, too.
 */
#ifndef POLICIES_HOST_VIEW_H
#define POLICIES_HOST_VIEW_H

#include "policies/phases.h"
#include "policies/state/state.h"

struct gang;

/* what request.c looks at, too.  The role of an ask for one,
 * or the one that is wanted of a whole job. */
bool host_task_live(const struct cs_host *host, struct task_id task);
uint32_t host_want_role(const struct cs_task *task, const struct cs_want *want);
/* Seconds of a task's phase on a gang; of a whole job, by its estimate. */
double host_run_s(struct cs_host *host, const struct cs_task *task,
                  const struct gang *gang);
/* A look at the counters saves most searches in a full cluster. */
bool host_room_at_all(const struct cs_host *host, const struct cs_want *want,
                      uint32_t gpus);

#endif

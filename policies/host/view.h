/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * view.h - what requests look at, too.
 */
#ifndef POLICIES_HOST_VIEW_H
#define POLICIES_HOST_VIEW_H

#include "policies/phases.h"
#include "policies/state/state.h"

struct gang;

/* Does the task wait?  Any number is allowed here. */
bool host_task_live(const struct cs_host *host, struct task_id task);
/* Returns the role of a task for one role, else the one that the want names. */
uint32_t host_want_role(const struct cs_task *task, const struct cs_want *want);
/* Returns the seconds of a task's phase on a gang; of a whole job, its estimate. */
double host_run_s(struct cs_host *host, const struct cs_task *task,
                  const struct gang *gang);
/* Returns false if counters alone say that `gpus` GPUs are not free (or idle, if the
 * want takes these) in the pools of a want: a search would fail. */
bool host_room_at_all(const struct cs_host *host, const struct cs_want *want,
                      uint32_t gpus);

#endif

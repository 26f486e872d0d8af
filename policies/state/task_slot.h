/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * task_slot.h - the tasks that wait, each in a slot with a number.  The slot of
 * a task that is gone serves another one.
 */
#ifndef POLICIES_STATE_TASK_SLOT_H
#define POLICIES_STATE_TASK_SLOT_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/policy.h"

/* One task.  It lives from the time when it begins to wait until it starts or
 * is dropped. */
struct host_task_slot {
    struct cs_task pub;         /* what cs_task() shows */
    uint64_t seq;               /* order of submission */
    uint32_t form;              /* of its job, index into host->forms->form */
    bool live;                  /* it waits */
};

/* All slots; count: slots that were ever used. */
struct host_tasks {
    struct host_task_slot *slot;    /* [capacity]; it moves when it grows */
    uint32_t count, capacity;
    uint32_t *free, free_count; /* numbers of slots that are not live */
};

#endif

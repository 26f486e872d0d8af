/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * stand.h - a standstill: nothing is at work, and tasks wait.
 */
#ifndef POLICIES_STATE_STAND_H
#define POLICIES_STATE_STAND_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/event/loop.h"

/* How far the host is in ending it (policies/host/standstill.h). */
struct host_stand {
    struct loop_handle look;    /* the end of the time in which nothing may be at work; all zero:
                                   none is planned */
    uint32_t attempts;          /* that came to nothing */
    uint32_t next;              /* place in the order of the task that is tried next */
    bool one_pool;              /* and in one pool alone, as some policies have it */
    bool acts;                  /* an attempt goes on */
};

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * facts.h - the kinds of facts that a trial writes to its journal, and the
 * meaning of their numbers.  Jobs, leases, tasks and nodes are named by index.
 *
 *  kind               subject  object    amount
 */
#ifndef MODELS_TYPES_FACTS_H
#define MODELS_TYPES_FACTS_H

#include "sim/event/journal.h"

enum fact_kind {
    FACT_JOB_SUBMIT,    /* job      -         GPUs requested, all roles      */
    FACT_JOB_START,     /* job      -         first lease with GPUs granted  */
    FACT_JOB_STOP,      /* job      -         preempted                      */
    FACT_JOB_END,       /* job      status    -                              */
    FACT_LEASE_TAKE,    /* lease    job       GPUs; placement by host_lease  */
    FACT_LEASE_READY,   /* lease    job       loaded: phases can run         */
    FACT_LEASE_LEAVE,   /* lease    job       saving before it is dropped    */
    FACT_LEASE_DROP,    /* lease    job       GPUs; before they are freed    */
    FACT_PHASE_START,   /* lease    phase     -                              */
    FACT_PHASE_END,     /* lease    phase     1 done, 0 cut short            */
    FACT_DECIDE,        /* -        -         tasks pending                   */
    FACT_DECISION,      /* task/lease action  verdict                        */
    FACT_LEASE_BUSY,    /* lease    -         busy fraction of its GPUs now  */
    FACT_JOB_INTERRUPT, /* job      1 set back to its last save, 0 not; GPU-seconds
                                              held for nothing               */
    FACT_NODE_DOWN,     /* node     -         its GPUs                       */
    FACT_NODE_UP,       /* node     -         its GPUs                       */
    FACT_RENT_ORDER,    /* node     -         its GPUs; billing starts       */
    FACT_RENT_UP,       /* node     -         its GPUs; usable from now on   */
    FACT_RENT_NOTICE,   /* node     -         its free GPUs, withdrawn now   */
    FACT_RENT_END,      /* node     -         its GPUs not withdrawn before  */
    FACT_RENT_TAKEN,    /* node     -         GPUs withdrawn when a lease
                                              leaves a node under notice     */
    FACT_KIND_COUNT
};

#endif

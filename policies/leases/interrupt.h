/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * interrupt.h - jobs that lose their leases: to a failure, or to a node that goes.
 *
 * `job`, `lease`, `node`: numbers in the host's tables.  Nothing here fails.
 */
#ifndef POLICIES_LEASES_INTERRUPT_H
#define POLICIES_LEASES_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/policy.h"

/* Takes all leases of a job away.  It goes on later from what it saved, and
 * waits again at its old place in the order. */
void host_interrupt(struct cs_host *host, uint32_t job);
/* Takes all leases of a job away.  Its progress is kept.  restarts: its next lease takes
 * `restart` longer; else, what is left of a restart that it owed. */
void host_suspend(struct cs_host *host, uint32_t job, bool restarts);
/* A job took its first lease (runs), or gave back its last (!runs): its own
 * interruptions are counted only while it runs. */
void host_interrupt_ran(struct cs_host *host, uint32_t job, bool runs);

/* Counts an interruption of a job. */
void host_note_interruption(struct cs_host *host, uint32_t job);
/* Tells that a job was interrupted and not set back; lost: GPU-seconds that it held for
 * nothing, as a phase was cut. */
void host_tell_cut(struct cs_host *host, uint32_t job, double lost);
/* The next lease of an interrupted job takes `restart` longer. */
void host_owe_restart(struct cs_host *host, uint32_t job);
/* Has the lease resources of that node? */
bool host_stands_on(const struct cs_lease *lease, uint32_t node);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * full.h - forms of jobs for which no room was found since the last release, so that
 * the next job of the form need not be tried.
 */
#ifndef POLICIES_STATE_FULL_H
#define POLICIES_STATE_FULL_H

#include <stdbool.h>
#include <stdint.h>

#include "policies/state/state.h"

/* Sets the most GPUs, by group of forms (sim/containers/order.h), for which a whole job
 * is not known to fit nowhere.  False: nothing is known of any form. */
bool host_full_by_form(const struct cs_host *host, uint32_t *gpus_max);
/* Is it known that a job of that form and `gpus` GPUs (each: `milli` thousandths), as
 * asked for and with all its roles at once, fits nowhere since the last release? */
bool host_known_full(const struct cs_host *host, uint32_t form, uint32_t gpus,
                     uint32_t milli);
/* A search for such a job has failed just now.  Nothing is noted where searches for jobs
 * of the form may differ. */
void host_note_full(struct cs_host *host, uint32_t form, uint32_t gpus, uint32_t milli);
/* The power cap has refused each place for such a job of whole GPUs just now. */
void host_note_capped(struct cs_host *host, uint32_t form, uint32_t gpus);
/* Returns the most GPUs, at most gpus_max, for which a whole job of that form is not known
 * to fit nowhere. */
uint32_t host_full_most(const struct cs_host *host, uint32_t form, uint32_t gpus_max);
/* Forgets what is known of all forms. */
void host_full_forget(struct cs_host *host);

#endif

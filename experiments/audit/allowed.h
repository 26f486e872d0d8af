/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * allowed.h - the part of an audit that asks whether a lease lies where its role may
 * run.  For leases.c only.
 */
#ifndef EXPERIMENTS_AUDIT_ALLOWED_H
#define EXPERIMENTS_AUDIT_ALLOWED_H

#include <stdint.h>

struct cluster_spec;
struct job_request;
struct placement;

/* Returns why a role of a job may not hold that placement: another pool, GPU type or kind
 * of hardware than it asks for, a pool without a rate, or GPUs with too little memory.
 * NULL: it may.  The text is static.  The host narrows what it searches; here the request
 * alone is looked at. */
const char *audit_forbidden(const struct cluster_spec *cluster,
                            const struct job_request *request, uint32_t role,
                            const struct placement *placement);

#endif

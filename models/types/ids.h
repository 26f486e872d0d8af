/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ids.h - small indexes that the compiler keeps apart.
 *
 * An id is an index into the array of its kind.  Jobs are numbered from 0 in
 * the order they are submitted; tasks and leases in the order they are made.
 * Wrapped in structs, a lease cannot be passed for a job.
 */
#ifndef MODELS_TYPES_IDS_H
#define MODELS_TYPES_IDS_H

#include <stdint.h>

struct job_id { uint32_t i; };
struct task_id { uint32_t i; };
struct lease_id { uint32_t i; };

#define ID_NONE UINT32_MAX

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * ids.h - identifiers of jobs, tasks and leases.
 *
 * An id is an index into the array of its kind.  Jobs are numbered from 0 in
 * the order of submission; tasks and leases in the order of creation.  Each
 * kind is a struct of its own, so that the compiler rejects a lease id where a
 * job id is expected.
 */
#ifndef MODELS_TYPES_IDS_H
#define MODELS_TYPES_IDS_H

#include <stdint.h>

struct job_id { uint32_t i; };
struct task_id { uint32_t i; };
struct lease_id { uint32_t i; };

#define ID_NONE UINT32_MAX

#endif

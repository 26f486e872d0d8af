/* SPDX-License-Identifier: GPL-3.0-or-later */
/* fcfs.c - first come, first served: every op is the default. */
#include "policies/policy.h"

extern const struct cs_policy fcfs_policy;

const struct cs_policy fcfs_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "fcfs",
    .flags = CS_TAKES_OVER,
    .summary = "first come, first served",
};

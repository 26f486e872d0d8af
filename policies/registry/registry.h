/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * registry.h - the built-in policies, by name.  All texts are constant.
 */
#ifndef POLICIES_REGISTRY_REGISTRY_H
#define POLICIES_REGISTRY_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>

struct cs_policy;
struct err;

const struct cs_policy *registry_find(const char *name);    /* or NULL */
const struct cs_policy *registry_at(size_t i);      /* NULL past the end */
/* The name nearest to one that is not known; NULL: none is near. */
const char *registry_nearest(const char *name);
/* Translates a name from the literature or from another simulator: "FIFO" into
 * "fcfs", "Tiresias" into "{policy: dlas, semantics: tiresias}".  NULL: it is
 * not known. */
const char *registry_meant(const char *name);
/* Checks the table of a policy.  False: err names the member that is wrong. */
bool registry_check(const struct cs_policy *policy, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * registry.h - the built-in policies, by name.
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
/* How what others call so is written here, such as "fcfs" of "FIFO" or
 * "{policy: dlas, semantics: tiresias}"; NULL: it is not known. */
const char *registry_meant(const char *name);
/* Says what a table lacks, by the name of the member. */
bool registry_check(const struct cs_policy *policy, struct err *err);

#endif

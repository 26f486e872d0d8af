/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * table.h - is the table of a policy, built in or from a file, sound?
 */
#ifndef POLICIES_REGISTRY_TABLE_H
#define POLICIES_REGISTRY_TABLE_H

#include <stdbool.h>

struct cs_policy;
struct err;

/* Checks the members of a table, and those that depend on each other.  False: err
 * names the one that is wrong.  Defaults of parameters are host_policy_read_as()'s. */
bool table_check(const struct cs_policy *policy, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sort.h - scratch that is sorted by numbers, for the host.
 */
#ifndef POLICIES_STATE_SORT_H
#define POLICIES_STATE_SORT_H

#include <stdint.h>

struct cs_host;

/* What host_sort() sorts: an item and its key. */
struct host_sorted {
    double key;                 /* the smaller goes first */
    uint32_t item;
};

/* Returns scratch for `count` items to be filled in; host_sort() returns the same
 * items sorted stably by key, smallest first.  Both stay until the next call. */
struct host_sorted *host_sort_scratch(struct cs_host *host, uint32_t count);
const struct host_sorted *host_sort(struct cs_host *host, uint32_t count);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sort.c - a tool for policies: jobs by key, stably, by merging.
 */
#include <assert.h>

#include "policies/rank.h"
#include "policies/state/state.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"

struct host_sorted {
    double key;
    struct job_id job;
};

/* Merges neighbouring sorted runs of `width` items, from one array to the other. */
static void merge(const struct host_sorted *from, struct host_sorted *to,
                  uint64_t count, uint64_t width)
{
    assert(width > 0 && from != to);
    uint64_t out = 0;

    for (uint64_t low = 0; low < count; low += 2 * width) {
        uint64_t middle = low + width < count ? low + width : count;
        uint64_t high = middle + width < count ? middle + width : count;
        uint64_t i = low, j = middle;
        while (i < middle || j < high)
            to[out++] = i == middle || (j < high && from[j].key < from[i].key)
                            ? from[j++] : from[i++];
    }
    assert(out == count);
}

void cs_sort(struct cs_host *host, struct job_id *job, uint32_t count,
             cs_key_fn *key)
{
    if (count < 2)
        return;
    if (count > host->waiting->sort_capacity) {
        host->waiting->sort_capacity = 2 * count;
        host->waiting->sort = arena_alloc(host->parts.arena,
                                 2 * (size_t)host->waiting->sort_capacity,
                                 sizeof *host->waiting->sort);
    }
    struct host_sorted *from = host->waiting->sort, *to = host->waiting->sort + count;

    assert(count <= host->waiting->sort_capacity);

    for (uint32_t i = 0; i < count; i++)
        from[i] = (struct host_sorted) {
            key(host->self, host, job[i]), job[i]
        };
    for (uint64_t width = 1; width < count; width *= 2) {
        merge(from, to, count, width);
        struct host_sorted *swap = from;
        from = to;
        to = swap;
    }
    for (uint32_t i = 0; i < count; i++)
        job[i] = from[i].job;
}

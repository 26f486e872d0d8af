/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sort.c - a tool for policies and deals: jobs by key, stably, by merging.
 */
#include <assert.h>
#include <string.h>

#include "policies/rank.h"
#include "policies/state/sort.h"
#include "policies/state/state.h"
#include "policies/state/waiting.h"
#include "sim/base/arena.h"

/* Merges neighbouring sorted runs of `width` items, from one array to the
 * other.  Where the second run begins with no smaller key than the first one
 * ends with, both are copied without a comparison: many lists are in order
 * already. */
static void merge(const struct host_sorted *from, struct host_sorted *to,
                  uint64_t count, uint64_t width)
{
    assert(width > 0 && from != to);
    for (uint64_t low = 0; low < count; low += 2 * width) {
        uint64_t middle = low + width < count ? low + width : count;
        uint64_t high = middle + width < count ? middle + width : count;
        uint64_t i = low, j = middle, out = low;
        while (i < middle && j < high && (out > low ||
                                          from[j].key < from[middle - 1].key))
            to[out++] = from[j].key < from[i].key ? from[j++] : from[i++];
        memcpy(&to[out], &from[i], (middle - i) * sizeof *to);
        memcpy(&to[out + middle - i], &from[j], (high - j) * sizeof *to);
        assert(out + (middle - i) + (high - j) == high);
    }
}

struct host_sorted *host_sort_scratch(struct cs_host *host, uint32_t count)
{
    struct host_waiting *waiting = host->waiting;

    if (count > waiting->sort_capacity) {
        waiting->sort_capacity = 2 * count;
        waiting->sort = arena_alloc(host->parts.arena,
                                    2 * (size_t)waiting->sort_capacity,
                                    sizeof *waiting->sort);
    }
    assert(count <= waiting->sort_capacity);
    return waiting->sort;
}

/* From width 1 on, each pass doubles the width of sorted runs: O(n log n).  The
 * arrays change places after each pass, so that the result lies in one or the
 * other. */
const struct host_sorted *host_sort(struct cs_host *host, uint32_t count)
{
    struct host_sorted *from = host->waiting->sort;

    assert(count <= host->waiting->sort_capacity);
    if (count < 2)
        return from;            /* NULL, if there never was anything to sort */
    struct host_sorted *to = from + count;
    for (uint64_t width = 1; width < count; width *= 2) {
        merge(from, to, count, width);
        struct host_sorted *swap = from;
        from = to;
        to = swap;
    }
    return from;
}

/* Asks for each key once, before the sort: keys may be costly, and must not change while it
 * runs. */
void cs_sort(struct cs_host *host, struct job_id *job, uint32_t count,
             cs_key_fn *key)
{
    assert(key != NULL && (count == 0 || job != NULL));
    if (count < 2)
        return;
    struct host_sorted *list = host_sort_scratch(host, count);
    for (uint32_t i = 0; i < count; i++)
        list[i] = (struct host_sorted) { key(host->self, host, job[i]),
                                         job[i].i };
    const struct host_sorted *sorted = host_sort(host, count);
    for (uint32_t i = 0; i < count; i++)
        job[i].i = sorted[i].item;
}

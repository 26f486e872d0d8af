/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * metric_info.c - what metrics.def says of each metric; and the text of a
 * placement.
 *
 * The table is made from metrics.def by the preprocessor, so a metric that is
 * added there is known everywhere.  A set adds an experiment's own metrics
 * behind it: numbers below METRIC_COUNT mean the same in every set, larger ones
 * depend on the set.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/columns/metric.h"
#include "models/types/placement.h"
#include "sim/base/decimal.h"

enum { LESS = -1, NEITHER, MORE };
enum { REAL, TIME, COUNT };

static const struct metric_info info[METRIC_COUNT] = {
#define METRIC(ID, COLUMN, TYPE, UNIT, BETTER, OF, TITLE, HELP) \
    { #COLUMN, UNIT, HELP, TITLE, METRIC_OF_##OF, NULL, TYPE == COUNT, \
      BETTER },
#include "experiments/columns/metrics.def"
#undef METRIC
};

unsigned metric_count(const struct metric_set *set)
{
    return METRIC_COUNT + (set == NULL ? 0 : set->own_count);
}

const struct metric_info *metric_info(const struct metric_set *set,
                                      enum metric metric)
{
    assert((unsigned)metric < metric_count(set));
    return metric < METRIC_COUNT ? &info[metric] : &set->own[metric - METRIC_COUNT];
}

enum metric metric_find(const struct metric_set *set, const char *name)
{
    unsigned m = 0, count = metric_count(set);

    while (m < count && strcmp(metric_info(set, (enum metric)m)->name, name) != 0)
        m++;
    return (enum metric)m;
}

/* Numbers of own metrics differ between experiments, so results of two runs are
 * matched by name; a name whose expression changed is another metric. */
enum metric metric_same(const struct metric_set *set, enum metric metric,
                        const struct metric_set *other)
{
    const struct metric_info *mine = metric_info(set, metric);
    enum metric found = metric_find(other, mine->name);
    const char *a = mine->expression, *b;

    if (found == metric_count(other))
        return found;
    b = metric_info(other, found)->expression;
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0)
        ? found : (enum metric)metric_count(other);
}

/* The metrics listed are those whose sums were divided by the number of done jobs.
 * Where no job was done, trials have 0 there. */
void metric_blank_unknown(double *value)
{
    static const enum metric of_jobs[] = {
        METRIC_JCT_MEAN, METRIC_JCT_P50, METRIC_JCT_P95, METRIC_JCT_P99,
        METRIC_WAIT_MEAN, METRIC_WAIT_P99, METRIC_MAKESPAN,
        METRIC_SLOWDOWN, METRIC_BOUNDED_SLOWDOWN, METRIC_COST_PER_JOB
    };

    if (value[METRIC_JOBS_DONE] > 0)
        return;
    for (size_t i = 0; i < sizeof of_jobs / sizeof of_jobs[0]; i++)
        value[of_jobs[i]] = NAN;
}

double metric_unanswered(const double *value)
{
    double left = value[METRIC_REQUESTS] - value[METRIC_REQUESTS_DONE];

    return isnan(left) ? 0 : left;
}

double metric_unanswered_excused(const double *value, bool cut)
{
    return cut && value[METRIC_REQUESTS] > 0 ? 0.001 * value[METRIC_REQUESTS] : 0;
}

/* "0-3+7" of a mask; it has at most 32 runs of at most six characters. */
static char *put_mask(char *out, uint64_t mask)
{
    const char *start = out;

    while (mask != 0) {
        unsigned first = (unsigned)__builtin_ctzll(mask);
        uint64_t rest = ~(mask >> first);       /* 0: all 64 are set */
        unsigned last = rest == 0 ? 63 : first + (unsigned)__builtin_ctzll(rest) - 1;

        if (out > start)
            *out++ = '+';
        out = decimal_put(out, first);
        if (last > first) {
            *out++ = '-';
            out = decimal_put(out, last);
        }
        mask = last == 63 ? 0 : mask >> (last + 1) << (last + 1);
    }
    return out;
}

/* " 3:0-7", or of a part of a GPU " 3:0*0.250". */
static char *put_share(char *out, const struct share *share)
{
    *out++ = ' ';
    out = decimal_put(out, share->node);
    if (share->gpu_mask) {
        *out++ = ':';
        out = put_mask(out, share->gpu_mask);
    }
    if (share->gpu_milli > 0 && share->gpu_milli < GPU_MILLI) {
        memcpy(out, "*0.", 3);
        out[3] = (char)('0' + share->gpu_milli / 100);
        out[4] = (char)('0' + share->gpu_milli / 10 % 10);
        out[5] = (char)('0' + share->gpu_milli % 10);
        out += 6;
    }
    return out;
}

/* Returns the most bytes that put_share() may touch: a node and a part beside the runs, and
 * the eight that decimal_put() writes at once. */
static size_t share_bytes_max(const struct share *share)
{
    uint64_t mask = share->gpu_mask;

    return sizeof " 4294967295:*0.250" + 6 * mask_count(mask & ~(mask << 1)) + 8;
}

/* A share that may not have room is written into a buffer of its own first (256 bytes hold
 * the longest: 64 GPUs that alternate), so that none is cut in its middle.  So is the first
 * one, whose blank is left out. */
size_t trial_placement_text(const struct placement *placement, char *out,
                            size_t out_bytes)
{
    size_t n = 0;

    assert(out_bytes > 5);
    for (uint32_t i = 0; i < placement->share_count; i++) {
        char text[256];
        const char *from = text + (n == 0);     /* no blank before the first */

        if (n > 0 && n + share_bytes_max(&placement->share[i]) + 5 <= out_bytes) {
            n = (size_t)(put_share(out + n, &placement->share[i]) - out);
            continue;
        }
        size_t bytes = (size_t)(put_share(text, &placement->share[i]) - from);

        if (n + bytes + 5 > out_bytes) {
            memcpy(out + n, " ...", 4);
            n += 4;
            break;
        }
        memcpy(out + n, from, bytes);
        n += bytes;
    }
    out[n] = '\0';
    return n;
}

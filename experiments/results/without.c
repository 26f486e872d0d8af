/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * without.c - the words, what an experiment lacks, and which metrics count it.
 */
#include "experiments/results/without.h"

#include <assert.h>
#include <string.h>

#include "experiments/spec/experiment.h"
#include "models/cluster/cluster.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "workloads/source.h"

/* What may not be able to happen, a bit each. */
enum {
    FAILURES = 1u << 0, RENT = 1u << 1, DEADLINES = 1u << 2, PHASES = 1u << 3,
    PREEMPTION = 1u << 4, RESIZING = 1u << 5, DROPS = 1u << 6, LOSSES = 1u << 7,
    ROLLOUTS = 1u << 8          /* named where there are phases of another kind */
};

static const struct {
    uint32_t bit;
    const char *text;
} word[] = {
    { FAILURES, "failures" }, { RENT, "rent" }, { DEADLINES, "deadlines" },
    { PHASES, "phases" }, { PREEMPTION, "preemption" }, { RESIZING, "resizing" },
    { DROPS, "drops" }, { LOSSES, "failed_jobs" }, { ROLLOUTS, "rollouts" }
};
#define WORDS (sizeof word / sizeof word[0])

uint32_t without_of(const struct experiment *experiment, uint32_t point, uint32_t policy)
{
    const struct experiment_point *at = experiment->point[point].met[policy];
    const struct host_policy *host = at->policy[policy];
    uint32_t flags = host_policy_flags(host);
    bool services = workload_service_count(at->workload) > 0;
    bool judged = services || workload_has_deadlines(at->workload);
    bool phases = services || workload_has_steps(at->workload) ||
                  workload_has_applications(at->workload);

    return (cluster_fails(at->cluster) ? 0 : FAILURES) | (at->cluster->rents ? 0 : RENT) |
           (judged ? 0 : DEADLINES) | (phases ? 0 : PHASES) |
           (flags & CS_PREEMPTS ? 0 : PREEMPTION) | (flags & CS_RESIZES ? 0 : RESIZING) |
           (host->rules.blocking == HOST_DROP ? 0 : DROPS) |
           (phases && !workload_generates(at->workload) ? ROLLOUTS : 0) |
           LOSSES;              /* a failure sets a job back, and never ends it */
}

void without_text(uint32_t without, char out[WITHOUT_BYTES])
{
    out[0] = '\0';
    for (size_t i = 0; i < WORDS; i++) {
        if ((without & word[i].bit) == 0)
            continue;
        assert(strlen(out) + strlen(word[i].text) + 2 <= WITHOUT_BYTES);
        strcat(out, out[0] == '\0' ? "" : " ");
        strcat(out, word[i].text);
    }
}

uint32_t without_read(const char *text)
{
    uint32_t without = 0;

    while (*text != '\0') {
        size_t bytes = strcspn(text, " ");

        for (size_t i = 0; i < WORDS; i++)
            if (strlen(word[i].text) == bytes && memcmp(text, word[i].text, bytes) == 0)
                without |= word[i].bit;
        text += bytes;
        text += strspn(text, " ");
    }
    return without;
}

/* Returns what must happen for the metric to differ from its value without it;
 * 0: it depends on nothing of the kind. */
static uint32_t causes_of(enum metric metric)
{
    switch ((unsigned)metric) {
    case METRIC_GPU_DOWN: return FAILURES;
    case METRIC_INTERRUPTIONS:
    case METRIC_GPU_LOST: return FAILURES | RENT;
    case METRIC_GPU_SWITCH:         /* a job of known length takes no time to start */
        return FAILURES | RENT | PHASES | PREEMPTION | RESIZING;
    case METRIC_GPU_RENT: return RENT;
    case METRIC_SLO:
    case METRIC_SLO_COUNT: return DEADLINES;
    case METRIC_GPU_TAIL: return ROLLOUTS;
    case METRIC_GPU_BUBBLE:         /* a job of known length waits for no phase and no link */
    case METRIC_CPU_UTILIZATION:
    case METRIC_GPU_BURSTS:
    case METRIC_FLOPS_KNOWN: return PHASES;
    case METRIC_PREEMPTIONS: return PREEMPTION;
    case METRIC_RESIZES: return RESIZING;
    case METRIC_DROPPED: return DROPS;
    case METRIC_JOBS_FAILED: return LOSSES;
    default: return 0;
    }
}

/* Without phases there are no rollouts either, but only the former word is
 * written. */
bool without_all(uint32_t without, enum metric metric)
{
    uint32_t causes = causes_of(metric);

    without |= (without & PHASES) != 0 ? ROLLOUTS : 0;
    return causes != 0 && (causes & ~without) == 0;
}

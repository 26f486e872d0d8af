/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * contexts.c - looks for requests that a real engine would refuse, or answer badly:
 * the laws know no limit of the context, so such a run looks like any other.
 */
#include "experiments/preflight/contexts.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/spec/experiment.h"
#include "models/catalogue/catalogue.h"
#include "models/serving/request.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "workloads/requests/request_trace.h"
#include "workloads/requests/request_source.h"
#include "workloads/requests/services.h"
#include "workloads/source.h"

#define DRAWS_MAX 10000u

/* Returns the tokens of the longest request, prompt and answer. */
static uint64_t find_longest(const struct service_entry *service, uint64_t seed)
{
    struct request_source *source;
    struct request request = { 0 };
    struct arena *scratch;
    uint64_t most = 0;

    if (service->trace != NULL)
        return request_trace_facts(service->trace).tokens_max;
    scratch = arena_new(0);
    source = request_source_open(scratch, service, seed, 0);
    for (uint32_t i = 0; i < DRAWS_MAX && request_source_next(source, &request); i++) {
        uint64_t tokens = (uint64_t)request.prompt_tokens + request.output_tokens;

        most = tokens > most ? tokens : most;
    }
    request_source_close(source);
    arena_free(scratch);
    return most;
}

/* Returns the model that answers, on GPUs or else on cores; NULL: none, as of a service
 * whose work is not by tokens. */
static const struct llm *find_llm(const struct service_entry *service)
{
    const struct llm *llm = service->spec.side[SERVE_GPU].law.llm;

    return llm != NULL ? llm : service->spec.side[SERVE_CPU].law.llm;
}

/* Returns whether the service was warned of. */
static bool warn_service(const struct experiment *experiment,
                         const struct experiment_point *point,
                         const struct service_entry *service, contexts_fn *warn,
                         void *self)
{
    const struct llm *llm = find_llm(service);
    struct err err = { 0 };
    uint64_t most;

    if (llm == NULL || llm->context_tokens == 0)
        return false;
    most = find_longest(service, experiment->seed);
    if (most <= llm->context_tokens)
        return false;
    err_set(&err, ERR_LIMIT, (struct err_pos){ experiment->path, 0, 0 },
            "service %.60s has requests of up to %" PRIu64 " tokens, prompt and answer; "
            "%.60s was trained for %" PRIu32 " (%.60s)", service->spec.name, most, llm->name,
            llm->context_tokens, point->label);
    err_hint(&err, "They are answered as if its context were longer; `max` of prompt and "
             "output shortens what is drawn.");
    warn(self, &err);
    return true;
}

/* Services have the same numbers at all points, or other names. */
void contexts_warn(const struct experiment *experiment, contexts_fn *warn, void *self)
{
    size_t most = 0;

    for (uint32_t i = 0; i < experiment->point_count; i++) {
        size_t count = workload_service_count(experiment->point[i].workload);

        most = count > most ? count : most;
    }
    for (size_t s = 0; s < most; s++)
        for (uint32_t i = 0; i < experiment->point_count; i++) {
            const struct experiment_point *point = &experiment->point[i];

            if (s < workload_service_count(point->workload) &&
                warn_service(experiment, point, workload_service(point->workload, s), warn,
                             self))
                break;
        }
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * kinds.c - the kinds of job of a point: forms of a mix or of a trace.
 */
#include "experiments/preflight/kinds.h"

#include <assert.h>
#include <stddef.h>

#include "experiments/spec/experiment.h"
#include "models/jobs/job.h"
#include "models/serving/serve.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "workloads/jobs/birth.h"
#include "workloads/replay/trace.h"
#include "workloads/requests/services.h"
#include "workloads/source.h"

#define FORMS_MAX 4096u         /* of a trace; what comes later is not asked */

/* Keeps the largest request of each form and rates: if it has a place, smaller
 * ones have.  Returns the new number. */
static uint32_t keep_request(struct job_request *request, uint32_t count,
                             const struct job_request *one)
{
    uint32_t i = 0;

    while (i < count && (request[i].form != one->form ||
                         request[i].rates != one->rates))
        i++;
    if (i == count && count == FORMS_MAX)
        return count;
    if (i == count || one->gpus > request[i].gpus)
        request[i] = *one;
    return i == count ? count + 1 : count;
}

/* Reads the trace through, as the file has it: drawn shifts or samples change no
 * kind of job. */
static uint32_t trace_requests(struct arena *arena, const struct experiment *experiment,
                               const struct workload_spec *workload,
                               struct job_request *request)
{
    struct source *source = source_open(arena, workload, experiment->seed,
                                        TRACE_AS_FILED);
    struct job_birth birth;
    struct err ignored = { 0 };
    uint32_t count = 0;

    while (source_next(source, &birth, &ignored) == SOURCE_JOB)
        count = keep_request(request, count, &birth.request);
    return count;
}

/* Of a mix, one request for each form; of a trace, the largest of each form and
 * rates. */
struct job_request *kinds_of_point(struct arena *arena, const struct experiment *experiment,
                                   const struct experiment_point *point, uint32_t *count)
{
    const struct workload_spec *workload = point->workload;
    size_t forms = workload_form_count(workload);
    bool trace = workload_is_trace(workload);
    struct job_request *request =
        arena_alloc(arena, trace ? FORMS_MAX : forms + 1, sizeof *request);

    *count = 0;
    if (trace)
        *count = trace_requests(arena, experiment, workload, request);
    for (size_t i = 0; !trace && i < forms; i++)
        request[(*count)++] = workload_request(workload, i);
    return request;
}

struct job_request *kinds_of_services(struct arena *arena, const struct workload_spec *workload,
                                      uint32_t *count)
{
    size_t services = workload_service_count(workload);
    struct job_request *request = arena_alloc(arena, services + 1, sizeof *request);

    *count = 0;
    for (size_t i = 0; i < services; i++) {
        const struct serve_side_spec *side = workload_service(workload, i)->spec.side;
        const struct job_form *gpu = side[SERVE_GPU].form, *cpu = side[SERVE_CPU].form;
        assert(gpu != NULL || cpu != NULL);
        if (gpu == NULL || cpu == NULL)
            request[(*count)++] = (struct job_request) { .form = gpu != NULL ? gpu : cpu,
                                                         .steps = 1, .rate_known = 1.0 };
    }
    return request;
}

/* workload_has_parts() is true, too, of a trace with pods or types of GPU, so
 * of a trace the jobs are looked at. */
bool kinds_have_parts(const struct experiment *experiment, const struct experiment_point *point)
{
    const struct workload_spec *workload = point->workload;
    bool found = workload_has_parts(workload);
    struct job_birth birth;
    struct err ignored = { 0 };

    assert(workload != NULL);
    if (!found || !workload_is_trace(workload))
        return found;
    struct arena *arena = arena_new(0);
    struct source *source = source_open(arena, workload, experiment->seed, TRACE_AS_FILED);
    found = false;
    while (!found && source_next(source, &birth, &ignored) == SOURCE_JOB)
        found = birth.request.gpu_milli > 0;
    arena_free(arena);
    return found;
}

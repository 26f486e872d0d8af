/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scaling.c - looks for services that are told how many replicas to want, and have a fixed
 * number of them.  A sweep may go through such a point, so all points are asked.
 */
#include "experiments/preflight/scaling.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/spec/experiment.h"
#include "models/serving/serve.h"
#include "sim/base/err.h"
#include "workloads/requests/services.h"
#include "workloads/source.h"

/* Is the number of replicas of a service the same at any load, on each side that it has? */
static bool is_fixed(const struct service_spec *spec)
{
    for (int side = 0; side < SERVE_SIDES; side++)
        if (spec->side[side].form != NULL && spec->side[side].min != spec->side[side].max)
            return false;
    return true;
}

/* Returns service s of the first point that has it, if it is told how many replicas to want
 * and no point lets it; NULL: not so. */
static const struct service_entry *find_idle(const struct experiment *experiment, size_t s)
{
    const struct service_entry *first = NULL;

    for (uint32_t i = 0; i < experiment->point_count; i++) {
        const struct workload_spec *workload = experiment->point[i].workload;
        const struct service_entry *service;

        if (s >= workload_service_count(workload))
            continue;
        service = workload_service(workload, (uint32_t)s);
        if (service->sized_at.file == NULL || !is_fixed(&service->spec))
            return NULL;
        first = first != NULL ? first : service;
    }
    return first;
}

/* A service is told once, at the place of its keys, if they are idle at every point. */
void scaling_warn(const struct experiment *experiment, scaling_fn *warn, void *self)
{
    size_t most = 0;

    assert(experiment != NULL && warn != NULL);
    for (uint32_t i = 0; i < experiment->point_count; i++) {
        size_t count = workload_service_count(experiment->point[i].workload);

        most = count > most ? count : most;
    }
    for (size_t s = 0; s < most; s++) {
        const struct service_entry *idle = find_idle(experiment, s);
        struct err err = { 0 };

        if (idle == NULL)
            continue;
        err_set(&err, ERR_SCHEMA, idle->sized_at, "service %.60s has a fixed number of "
                "replicas, so signal, target and down of scaling change nothing",
                idle->spec.name);
        err_hint(&err, "Give `replicas` a `max` above its `min`, or leave them out.");
        warn(self, &err);
    }
}

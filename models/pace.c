/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pace.c - rates and rules of scaling, as pace.h says.
 */
#include "models/pace.h"

#include <assert.h>
#include <stddef.h>

#include "models/goodput.h"
#include "models/job.h"

static double table_speedup(const struct job_scaling *scaling, uint32_t gpus)
{
    const uint32_t *size = scaling->gpus;
    uint32_t i = 0;

    if (gpus < size[0] || gpus > size[scaling->count - 1])
        return 0.0;
    while (size[i] < gpus)
        i++;
    if (size[i] == gpus)
        return scaling->speedup[i];
    double part = (double)(gpus - size[i - 1]) / (size[i] - size[i - 1]);

    return scaling->speedup[i - 1] +
           part * (scaling->speedup[i] - scaling->speedup[i - 1]);
}

double scaling_speedup(const struct job_scaling *scaling, uint32_t gpus)
{
    assert(scaling != NULL && gpus > 0);
    switch (scaling->kind) {
    case SCALING_LINEAR:
        return gpus;
    case SCALING_AMDAHL:
        return 1.0 / (scaling->serial_fraction +
                      (1.0 - scaling->serial_fraction) / gpus);
    case SCALING_TABLE:
        return table_speedup(scaling, gpus);
    case SCALING_RATES:
        break;
    }
    return 0.0;
}

/* The row of a size, or UINT32_MAX. */
static uint32_t row_of(const struct job_rates *rates, uint32_t gpus)
{
    if (rates->size_count == 0)
        return false;
    for (uint32_t i = 0; i < rates->size_count; i++)
        if (rates->gpus[i] == gpus)
            return i;
    return UINT32_MAX;
}

static double rate_at(const struct job_rates *rates, uint32_t gpus,
                      uint32_t pool)
{
    uint32_t row = row_of(rates, gpus);

    assert(pool < rates->pool_count);
    return row == UINT32_MAX ? 0.0
                             : rates->rate[row * rates->pool_count + pool];
}

double pace_of(const struct job_request *request, uint32_t pool,
               uint32_t gpus)
{
    const struct job_rates *rates = request->rates;
    const struct job_scaling *scaling = request->form->scaling;
    uint32_t asked = job_role_gpus(request, 0);
    double pace = 1.0;

    assert(gpus > 0 && asked > 0);
    if (request->goodput != NULL)       /* at its own batch, at its start */
        return goodput_pace(request->goodput, pool,
                            goodput_packed(request->goodput, pool, gpus), 0,
                            false);
    if (rates != NULL && scaling != NULL && scaling->kind == SCALING_RATES)
        return rate_at(rates, gpus, pool) / request->rate_known;
    if (rates != NULL)
        pace = rate_at(rates, asked, pool) / request->rate_known;
    if (gpus == asked)
        return pace;
    if (scaling == NULL)
        return 0.0;
    double at_asked = scaling_speedup(scaling, asked);

    return at_asked > 0.0 ? pace * scaling_speedup(scaling, gpus) / at_asked
                          : 0.0;
}

bool pace_size_ok(const struct job_request *request, uint32_t gpus)
{
    const struct job_scaling *scaling = request->form->scaling;
    uint32_t asked = job_role_gpus(request, 0);

    if (gpus == asked)
        return true;
    if (request->goodput != NULL)
        return goodput_size_ok(request->goodput, gpus, false);
    if (gpus == 0 || scaling == NULL || gpus < scaling->gpus_min ||
        gpus > scaling->gpus_max)
        return false;
    if (scaling->kind == SCALING_RATES)
        return request->rates != NULL && request->rates->size_count > 0 &&
               row_of(request->rates, gpus) != UINT32_MAX;
    return scaling_speedup(scaling, gpus) > 0.0 &&
           scaling_speedup(scaling, asked) > 0.0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * speedup.c - rates and rules of scaling, as speedup.h says.
 *
 * A speedup is the product of up to two parts: the pool's rate over the one at
 * which the length was measured, and the size's over the size that the owner
 * requests.  Only SCALING_RATES measures both at once.  0 wherever nothing is
 * stated.
 */
#include "models/jobs/speedup.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "models/catalogue/goodput.h"
#include "models/jobs/job.h"

/* Returns the speedup by linear interpolation between sizes; 0 outside of the
 * table. */
static double table_speedup(const struct job_scaling *scaling, uint32_t gpus)
{
    assert(scaling->count > 0);
    assert(gpus > 0);
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
    assert(rates != NULL);
    if (rates->size_count == 0)
        return false;
    for (uint32_t i = 0; i < rates->size_count; i++)
        if (rates->gpus[i] == gpus)
            return i;
    return UINT32_MAX;
}

/* Returns the measured rate; 0: that size has no row, or it cannot run
 * there. */
static double rate_at(const struct job_rates *rates, uint32_t gpus,
                      uint32_t pool)
{
    uint32_t row = row_of(rates, gpus);

    assert(pool < rates->pool_count);
    return row == UINT32_MAX ? 0.0
                             : rates->rate[row * rates->pool_count + pool];
}

/* Returns a speed, 1 being the one at which the job's length is known.  Measured
 * rates by size decide; else the rates of pools and the law of scaling are
 * multiplied, as if they were independent. */
double speedup_of(const struct job_request *request, uint32_t pool,
                  uint32_t gpus)
{
    const struct job_rates *rates = request->rates;
    const struct job_scaling *scaling = request->form->scaling;
    uint32_t asked = job_role_gpus(request, 0);
    double speedup = 1.0;

    assert(gpus > 0 && asked > 0);
    if (request->goodput != NULL)       /* at its own batch, at its start */
        return goodput_speedup(request->goodput, pool,
                               goodput_packed(request->goodput, pool, gpus), 0,
                               false);
    if (rates != NULL && scaling != NULL && scaling->kind == SCALING_RATES)
        return rate_at(rates, gpus, pool) / request->rate_known;
    if (rates != NULL)
        speedup = rate_at(rates, asked, pool) / request->rate_known;
    if (gpus == asked)
        return speedup;
    if (scaling == NULL)
        return 0.0;
    double at_asked = scaling_speedup(scaling, asked);

    return at_asked > 0.0 ? speedup * scaling_speedup(scaling, gpus) / at_asked
                          : 0.0;
}

/* ---- two jobs on the same GPUs ----------------------------------------- */

/* Returns the speed that a user stated beside a form of that name; 0: none. */
static double find_stated(const struct job_packing *packing, const char *name)
{
    for (uint32_t i = 0; packing != NULL && i < packing->count; i++)
        if (strcmp(packing->name[i], name) == 0)
            return packing->speedup[i];
    return 0.0;
}

/* What a table of kinds says; NULL: it has no such pair. */
static const struct job_beside *find_measured(const struct job_rates *rates,
                                              const struct job_rates *other,
                                              uint32_t gpus)
{
    assert(rates != NULL && other != NULL);
    for (uint32_t i = 0; rates != NULL && i < rates->beside_count; i++)
        if (rates->beside[i].other == other && rates->beside[i].gpus == gpus)
            return &rates->beside[i];
    return NULL;
}

/* Measured pairs decide; else the part of the speed that the form states for
 * its kind of neighbour.  0: they cannot be together. */
double speedup_beside(const struct job_request *request,
                      const struct job_request *other, uint32_t pool,
                      uint32_t gpus)
{
    const struct job_rates *rates = request->rates;

    assert(request != NULL && other != NULL && gpus > 0);
    if (rates != NULL && rates->beside_count > 0) {
        const struct job_beside *pair = find_measured(rates, other->rates, gpus);

        return pair == NULL ? 0.0 : pair->rate[pool] / request->rate_known;
    }
    double part = find_stated(request->form->packing, other->form->name);

    return part > 0.0 ? part * speedup_of(request, pool, gpus) : 0.0;
}

/* An upper bound for policies that ask whether sharing can pay at all. */
double speedup_beside_best(const struct job_request *request, uint32_t pool,
                           uint32_t gpus)
{
    const struct job_rates *rates = request->rates;
    const struct job_packing *packing = request->form->packing;
    double best = 0.0;

    assert(gpus > 0);
    if (rates != NULL && rates->beside_count > 0) {
        for (uint32_t i = 0; i < rates->beside_count; i++)
            if (rates->beside[i].gpus == gpus)
                best = fmax(best, rates->beside[i].rate[pool]);
        return best / request->rate_known;
    }
    for (uint32_t i = 0; packing != NULL && i < packing->count; i++)
        best = fmax(best, packing->speedup[i]);
    return best > 0.0 ? best * speedup_of(request, pool, gpus) : 0.0;
}

/* The mean over all pairs that run, of pace over the pace alone. */
static double mean_beside(const struct job_request *request)
{
    assert(request->form != NULL);
    const struct job_rates *rates = request->rates;
    const struct job_packing *packing = request->form->packing;
    uint32_t gpus = job_role_gpus(request, 0), count = 0;
    double sum = 0.0;

    if (rates == NULL || rates->beside_count == 0) {
        for (uint32_t i = 0; packing != NULL && i < packing->count; i++)
            sum += packing->speedup[i];
        return packing != NULL ? sum / packing->count : 0.0;
    }
    for (uint32_t i = 0; i < rates->beside_count; i++) {
        const struct job_beside *pair = &rates->beside[i];
        for (uint32_t p = 0; p < rates->pool_count; p++) {
            double alone = rate_at(rates, gpus, p);
            if (pair->gpus != gpus || !(pair->rate[p] > 0.0) ||
                !(alone > 0.0))
                continue;
            sum += pair->rate[p] / alone;
            count++;
        }
    }
    return count > 0 ? sum / count : 0.0;
}

enum share_class speedup_share_class(const struct job_request *request)
{
    double mean = mean_beside(request);

    assert(mean >= 0.0);
    if (!(mean > 0.0))
        return SHARE_NEVER;
    if (mean < SHARE_MEDIUM_MIN)
        return SHARE_JUMBO;
    return mean < SHARE_TINY_MIN ? SHARE_MEDIUM : SHARE_TINY;
}

/* The requested size is always good; others need a rule, and both sizes a
 * speed. */
bool speedup_size_ok(const struct job_request *request, uint32_t gpus)
{
    assert(request->form != NULL);
    assert(gpus > 0);
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

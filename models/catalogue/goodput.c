/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * goodput.c - Pollux' law of goodput, as goodput.h says.
 *
 * Plain arithmetic on the entry of an application; nothing is allocated or
 * kept.  The search over batches is the published one, so that decisions can be
 * compared with those of Pollux' own simulator.
 */
#include "models/catalogue/goodput.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#define SIZES 50u               /* that are tried: goodput.h */
#define ROUND 1e-8              /* of a quotient that should be whole */

const struct goodput_speed *goodput_speed_of(const struct application *app,
                                             const char *gpu)
{
    assert(app != NULL && gpu != NULL);
    for (uint32_t i = 0; i < app->speed_count; i++)
        if (strcmp(app->speed[i].gpu, gpu) == 0)
            return &app->speed[i];
    return NULL;
}

/* Equation 9: linear in the samples of a GPU. */
double goodput_grad_s(const struct goodput_speed *speed, double local)
{
    assert(local > 0);
    return speed->alpha_c + speed->beta_c * local;
}

/* Equation 10: no time on one GPU, the constant for two, then linear in the
 * others. */
double goodput_sync_s(const struct goodput_speed *speed,
                      struct goodput_shape shape)
{
    double more = shape.gpus > 2 ? shape.gpus - 2 : 0;

    assert(shape.nodes >= 1 && shape.nodes <= shape.gpus);
    if (shape.gpus == 1)
        return 0;
    return shape.nodes > 1 ? speed->alpha_n + speed->beta_n * more
                           : speed->alpha_r + speed->beta_r * more;
}

/* One step: accumulation steps without an exchange, and a last one whose
 * exchange overlaps with its backward pass.  gamma says how well: 1 is a sum,
 * infinity the larger of both (Pollux, section 3.2). */
double goodput_step_s(const struct goodput_speed *speed,
                      struct goodput_shape shape, double local,
                      uint32_t accumulated)
{
    double grad = goodput_grad_s(speed, local);
    double sync = goodput_sync_s(speed, shape), most = fmax(grad, sync);
    double last = grad;

    assert(speed->gamma >= 1 && most > 0);
    if (sync > 0)               /* divided first, so that no power overflows */
        last = most * pow(pow(grad / most, speed->gamma) +
                              pow(sync / most, speed->gamma),
                          1 / speed->gamma);
    return accumulated * grad + last;
}

/* Spans are few (GOODPUT_SPANS_MAX), so they are searched one by one. */
uint32_t goodput_span(const struct application *app, double progress)
{
    const struct goodput_noise *noise = &app->noise;
    uint32_t s = 0;

    assert(noise->spans > 0);
    while (s + 1 < noise->spans && progress >= noise->until[s])
        s++;
    return s;
}

/* Between two measured batches the scale is interpolated as a power law, which
 * is a line on logarithmic axes. */
double goodput_noise_scale(const struct application *app, uint32_t span,
                           double batch)
{
    const struct goodput_noise *noise = &app->noise;
    const double *scale = noise->scale + (size_t)span * noise->batches;
    uint32_t last = noise->batches - 1, b = 0;

    assert(span < noise->spans && batch > 0);
    if (batch <= noise->batch[0])
        return scale[0];
    if (batch >= noise->batch[last])
        return scale[last];
    while (batch > noise->batch[b + 1])
        b++;
    double part = log(batch / noise->batch[b]) /
                  log(noise->batch[b + 1] / noise->batch[b]);

    return scale[b] * pow(scale[b + 1] / scale[b], part);
}

double goodput_efficiency(const struct application *app, uint32_t span,
                          double batch)
{
    assert(span < app->noise.spans);
    assert(batch > 0.0);
    double phi = goodput_noise_scale(app, span, batch);

    return (phi + app->batch_first) / (phi + batch);
}

/* Quotients are rounded up; ROUND keeps a product that floating point left a
 * little above a whole number from becoming the next one. */
struct goodput_batch goodput_of(const struct application *app,
                                const struct goodput_speed *speed,
                                struct goodput_shape shape, uint32_t span,
                                double samples)
{
    assert(span < app->noise.spans);
    assert(shape.nodes <= shape.gpus);
    struct goodput_batch out = { 0 };
    double local = ceil(samples / shape.gpus - ROUND), at_once, most;

    if (!(local >= 1) || shape.gpus == 0)
        return out;
    /* As many parts as memory requires; the last one is followed by the exchange. */
    out.accumulated = (uint32_t)ceil(local / speed->local_max - ROUND) - 1;
    if (shape.gpus == 1 && samples > app->batch_first &&
        out.accumulated == 0 && local >= 2.0 * app->local_min)
        out.accumulated = 1;
    at_once = ceil(local / (out.accumulated + 1) - ROUND);
    most = floor((double)app->batch_max /
                 ((double)shape.gpus * (out.accumulated + 1)));
    /* Rounding up must not carry the batch above batch_max. */
    if (at_once > most)
        at_once = most;
    if (at_once < app->local_min || at_once > speed->local_max)
        return out;
    out.local = (uint32_t)at_once;
    out.samples = at_once * shape.gpus * (out.accumulated + 1);
    if (out.samples < app->batch_first)
        return out;
    out.goodput = out.samples /
                  goodput_step_s(speed, shape, at_once, out.accumulated) *
                  goodput_efficiency(app, span, out.samples);
    return out;
}

/* Tries SIZES batches, evenly on a logarithmic axis, as the goodput is flat
 * near its best. */
struct goodput_batch goodput_best(const struct application *app,
                                  const struct goodput_speed *speed,
                                  struct goodput_shape shape, uint32_t span)
{
    assert(shape.gpus > 0 && shape.nodes <= shape.gpus);
    assert(span < app->noise.spans);
    /* No smaller batch can be divided over these GPUs. */
    double first = fmax(app->batch_first, (double)app->local_min * shape.gpus);
    double ratio = app->batch_max / first;
    struct goodput_batch best = { 0 };

    if (!(ratio >= 1))
        return best;
    for (uint32_t i = 0; i < SIZES; i++) {
        double samples = first * pow(ratio, (double)i / (SIZES - 1));
        struct goodput_batch at = goodput_of(app, speed, shape, span, samples);
        if (at.goodput > best.goodput)
            best = at;
    }
    return best;
}

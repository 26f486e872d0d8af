/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rng_gsl.h - a named stream as a gsl_rng, for GSL's distributions.
 *
 * The wrapper draws from the stream it was given and owns nothing: it is good
 * as long as the stream, and must not be given to gsl_rng_free or _clone.
 */
#ifndef SIM_BASE_RNG_GSL_H
#define SIM_BASE_RNG_GSL_H

#include <gsl/gsl_rng.h>

#include "sim/base/rng.h"

/* Makes `out` draw from `rng`, which moves on with each draw. Nothing is
 * allocated. */
void rng_gsl_wrap(struct rng *rng, gsl_rng *out);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * guess.c - the entry that a log means by the name of a family, where one must
 * be taken.
 */
#include <assert.h>
#include <stdio.h>

#include "models/catalogue/catalogue.h"

const struct gpu_type *catalogue_gpu_guess(const struct catalogue *catalogue,
                                           const char *name, char *others,
                                           size_t room)
{
    assert(name != NULL && others != NULL && room > 0);
    const struct gpu_type *guess = catalogue_gpu(catalogue, name);
    size_t used = 0;

    others[0] = '\0';
    if (guess != NULL)
        return guess;
    for (size_t i = 0; i < catalogue_gpu_count(catalogue); i++) {
        const struct gpu_type *gpu = catalogue_gpu_at(catalogue, i);

        if (!catalogue_gpu_named(catalogue, gpu->name, name))
            continue;
        if (used < room)
            used += (size_t)snprintf(others + used, room - used, "%s%s",
                                     used > 0 ? " or " : "", gpu->name);
        if (guess == NULL || gpu->memory_bytes > guess->memory_bytes)
            guess = gpu;
    }
    return guess;
}

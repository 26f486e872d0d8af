/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_experiment.c - any bytes as a whole experiment: policies, sweep,
 * expectations, and the cluster and workload inside; read, never run.
 *
 * What is refused has a message that can be shown, and what is accepted has
 * trials that can all be described.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/run/trial.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool good)
{
    if (!good)
        abort();
}

static void describe(const struct experiment *experiment)
{
    uint32_t count = experiment_trial_count(experiment);

    require(count > 0 && experiment->point_count > 0 && experiment->policy_count > 0);
    for (uint32_t i = 0; i < count && i < 8; i++) {
        struct trial_spec spec = experiment_trial_spec(experiment, i);

        require(spec.cluster != NULL && spec.workload != NULL);
        require(spec.policy != NULL && spec.point != NULL);
        require(experiment_trial_hash(experiment, i) == experiment_trial_hash(experiment, i));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct experiment_options options = { .program_hash = 1 };
    struct err err = { .kind = ERR_NONE };
    char path[64], out[2048];
    const struct experiment *experiment;
    struct arena *arena = arena_new(0);
    FILE *file;

    snprintf(path, sizeof path, "/tmp/fuzz_experiment.%ld", (long)getpid());
    file = fopen(path, "wb");
    require(file != NULL);
    require(bytes == 0 || fwrite(data, 1, bytes, file) == bytes);
    require(fclose(file) == 0);
    experiment = experiment_read(arena, path, &options, &err);
    require((experiment == NULL) == (err.kind != ERR_NONE));
    if (experiment != NULL)
        describe(experiment);
    else
        require(err.text[0] != '\0' && err_format(&err, out, sizeof out) > 0);
    unlink(path);
    arena_free(arena);
    return 0;
}

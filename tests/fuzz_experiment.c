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

#include "experiments/spec/study.h"
#include "experiments/run/trial.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool good)
{
    if (!good)
        abort();
}

static void describe(const struct study *study)
{
    uint32_t count = study_trial_count(study);

    require(count > 0 && study->point_count > 0 && study->policy_count > 0);
    for (uint32_t i = 0; i < count && i < 8; i++) {
        struct trial_spec spec = study_trial_spec(study, i);

        require(spec.cluster != NULL && spec.workload != NULL);
        require(spec.policy != NULL && spec.point != NULL);
        require(study_trial_hash(study, i) == study_trial_hash(study, i));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    const struct study_options options = { .program_hash = 1 };
    struct err err = { .kind = ERR_NONE };
    char path[64], out[2048];
    const struct study *study;
    struct arena *arena = arena_new(0);
    FILE *file;

    snprintf(path, sizeof path, "/tmp/fuzz_experiment.%ld", (long)getpid());
    file = fopen(path, "wb");
    require(file != NULL);
    require(bytes == 0 || fwrite(data, 1, bytes, file) == bytes);
    require(fclose(file) == 0);
    study = study_read(arena, path, &options, &err);
    require((study == NULL) == (err.kind != ERR_NONE));
    if (study != NULL)
        describe(study);
    else
        require(err.text[0] != '\0' && err_format(&err, out, sizeof out) > 0);
    unlink(path);
    arena_free(arena);
    return 0;
}

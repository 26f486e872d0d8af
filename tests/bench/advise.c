/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advise.c - the search for a training job of a 70B over every GPU type
 * of the catalogue, up to 1,024 of each: milliseconds.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/advise/advise.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "tests/bench/probe.h"

static const char job_text[] =
    "arrival: {process: fixed, times: [0s]}\njobs: 1\nmix:\n"
    "  - {recipe: pretrain, model: llama-2-70b, batch: 1024, sequence: 4096, "
    "steps: 250, train: {gpus: 8}}\n";

struct asked {
    uint64_t fit_count;
};

static void *make(uint64_t size, bool quick)
{
    struct asked *asked = calloc(1, sizeof *asked);

    (void)size;
    (void)quick;
    assert(asked);
    return asked;
}

static double search(void *self)
{
    struct asked *asked = self;
    struct arena *arena = arena_new(1 << 20);
    struct err err = { 0 };
    struct advise_world world = { .arena = arena, .gpus_max = 1024 };
    struct advise_job *job;
    struct advice advice;
    double from = bench_cpu_ns();
    const struct conf_node *root = conf_parse(arena, "bench", job_text,
                                              strlen(job_text), &err);

    if (root == NULL || !advise_world_from(&world, NULL, &err) ||
        advise_jobs_from(&world, root, &job, &err) != 1)
        assert(!"a job of the catalogue's");
    advise_search(&world, job, &advice);
    asked->fit_count += advice.fit_count;
    double ms = (bench_cpu_ns() - from) / 1e6;

    arena_free(arena);
    return ms;
}

static void drop(void *self)
{
    struct asked *asked = self;

    assert(asked->fit_count > 0);
    free(asked);
}

const struct bench_probe_type bench_advise = { make, search, drop };

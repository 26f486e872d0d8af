/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * env.c - a step of an environment, `size` trials in one call: microseconds.
 *
 * An agent that starts the oldest task that fits; 256 jobs on 32 nodes of 8 GPUs at a load
 * at which few wait.  128 rows, the mask, and the begin and the end of episodes count.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/env/env.h"
#include "tests/bench/probe.h"

static const char text[] =
    "experiment: env\n"
    "cluster: {nodes: [{name: a, count: 32, gpus: {type: generic, count: 8}}]}\n"
    "workload:\n"
    "  arrival: {process: poisson, rate: 110/h}\n"
    "  jobs: 256\n"
    "  mix:\n"
    "    - {recipe: trace, name: one, share: 2, gpus: 1,\n"
    "       duration: {lognormal: {mean: 1h, cv: 2}, min: 10s, max: 2d}}\n"
    "    - {recipe: trace, name: part, share: 2, gpus: 3,\n"
    "       duration: {lognormal: {mean: 1h, cv: 2}, min: 10s, max: 2d}}\n"
    "    - {recipe: trace, name: node, share: 1, gpus: 8,\n"
    "       duration: {lognormal: {mean: 1h, cv: 2}, min: 10s, max: 2d}}\n"
    "policies: [fcfs]\n";

struct played {
    struct clustersim_env *env;
    const struct clustersim_env_shape *shape;
    struct clustersim_env_out out;
    int64_t *action;
    uint64_t calls;             /* of a stretch */
};

static void *make(uint64_t size, bool quick)
{
    struct clustersim_env_options options = { .size_bytes = sizeof options };
    struct played *played = calloc(1, sizeof *played);

    assert(played);
    options.text = text;
    options.count = (uint32_t)size;
    options.go_on = true;
    played->env = clustersim_env_open("env.yaml", &options);
    played->shape = clustersim_env_shape(played->env);
    played->calls = (quick ? 4096 : 32768) / size;
    assert(clustersim_env_error(played->env) == NULL);
    played->out = (struct clustersim_env_out){
        calloc((size_t)size * played->shape->floats, sizeof(float)),
        calloc((size_t)size * played->shape->actions, 1), calloc(size, sizeof(double)),
        calloc(size, 1), calloc(size, 1), calloc(size, 1)
    };
    played->action = calloc(size, sizeof *played->action);
    for (uint32_t i = 0; i < size; i++)
        if (!clustersim_env_reset(played->env, i, i, &played->out))
            assert(!"an episode of the bench's");
    return played;
}

static double stretch(void *self)
{
    struct played *played = self;
    uint32_t count = played->shape->count, actions = played->shape->actions;
    double from = bench_cpu_ns();

    for (uint64_t c = 0; c < played->calls; c++) {
        for (uint32_t i = 0; i < count; i++) {
            const uint8_t *mask = played->out.mask + (size_t)i * actions;
            const uint8_t *first = memchr(mask, 1, actions);

            assert(first != NULL);
            played->action[i] = first - mask;
        }
        if (!clustersim_env_step(played->env, played->action, &played->out))
            assert(!"a step of the bench's");
    }
    return (bench_cpu_ns() - from) / 1e3 / (double)(played->calls * count);
}

static void drop(void *self)
{
    struct played *played = self;

    free(played->out.observation);
    free(played->out.mask);
    free(played->out.reward);
    free(played->out.terminated);
    free(played->out.truncated);
    free(played->out.verdict);
    free(played->action);
    clustersim_env_close(played->env);
    free(played);
}

const struct bench_probe_type bench_env = { make, stretch, drop };

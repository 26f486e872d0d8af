/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * training.c - small trainings, run and interrupted.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "tests/aid/training.h"

static const char training[] =
    "experiment: t\nseed: 3\nseeds: 2\nuntil: drained\n"
    "cluster: {nodes: [{name: rollout, count: 2, gpus: {type: l40s, count: 8}, "
    "cpu: {type: epyc-7763}, memory: 1TB, nics: {type: ethernet-100}}, "
    "{name: train, count: 2, gpus: {type: a100-80, count: 8}, "
    "cpu: {type: epyc-7763}, memory: 1TB, nics: {type: ib-hdr}}], "
    "storage: {bandwidth: 20GB/s}}\n"
    "workload: {arrival: {process: poisson, rate: 60/h}, jobs: 4, mix: ["
    "{recipe: dpo, name: dpo, model: qwen2.5-0.5b, prompts: 32, prompt_tokens: 128, "
    "response: {mean: 100, cv: 1, max: 512}, steps: {uniform: [2, 5]}, "
    "rollout: {gpus: 8, min: 4, max: 16, types: [l40s, a100-80], start: wake}, "
    "train: {gpus: 8, min: 4, max: 16, types: [l40s, a100-80], start: wake}}]}\n"
    "policies: [advised, dynamic, hybrid]\n"
    "sweep: {workload.arrival.rate: [20/h, 60/h, 90/h]}\n"
    "train:\n  policy: advised\n  method: evolution\n  objective: held_cost_usd\n"
    "  population: 4\n  cells: 3\n  spread: 0.3\n  generations: %d\n"
    "  seeds: {from: 100, count: 50}\n  held_out: {from: 0, count: 2}\n"
    "  validation: {points: [arrival.rate=60/h], seeds: {from: 50, count: 1}, "
    "every: 2, patience: %d}\n  against: [dynamic, hybrid]\n";

void write_training(const struct program *program, int generations,
                           int patience)
{
    char text[3000];

    snprintf(text, sizeof text, training, generations, patience);
    program_write(program, "t.yaml", text);
}

char *train(const struct program *program, const char *name,
                   const char *threads, const char *more)
{
    char out[192], file[192], *said;
    const char *words[] = { "train", file, "-o", out, "-j", threads, more, NULL };

    snprintf(file, sizeof file, "%s/t.yaml", program->folder);
    snprintf(out, sizeof out, "%s/%s", program->folder, name);
    int status = program_say(program, words, &said);
    if (status != 0)
        fail_msg("%s", said);
    free(said);
    char *text = program_read(out);
    assert_non_null(text);
    return text;
}

void interrupt_training(const struct program *program)
{
    char out[192], file[192], done[192];
    const struct timespec pause = { 0, 1000000 };
    const char *argv[] = { program->path, "train", file, "-o", out, "-j", "1", "-q",
                           NULL };

    snprintf(file, sizeof file, "%s/t.yaml", program->folder);
    snprintf(out, sizeof out, "%s/part", program->folder);
    snprintf(done, sizeof done, "%s/part.state", program->folder);
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        if (freopen(program_path(program, "part.log"), "w", stderr) == NULL)
            _exit(126);
        execv(argv[0], (char *const *)(const void *)argv);
        _exit(127);
    }
    int status = 0;
    while (access(done, F_OK) != 0 && waitpid(pid, &status, WNOHANG) == 0)
        nanosleep(&pause, NULL);
    kill(pid, SIGINT);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    assert_int_equal(access(out, F_OK), -1);
    assert_int_equal(access(done, F_OK), 0);
    char *said = program_read(program_path(program, "part.log"));
    assert_non_null(said);
    if (strcmp(said, "interrupted\n") != 0)     /* the signal came while no trial ran */
        assert_part(said, "part.state; the same command with --resume goes on\n");
    free(said);
}

/* Three points and two seeds: six cells, so 2, 4 and 6 of them in the three rounds. */
void write_race(const struct program *program, const char *race, int seed,
                       int generations)
{
    char text[2000];

    snprintf(text, sizeof text, "experiment: t\nseed: %d\nseeds: 2\n"
             "cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}}]}\n"
             "workload: {arrival: {process: poisson, rate: 60/h}, jobs: 30, mix: ["
             "{recipe: trace, name: s, share: 2, gpus: 2, duration: 5min}, "
             "{recipe: trace, name: l, share: 1, gpus: 8, duration: 40min}]}\n"
             "policies: [learned]\nsweep: {workload.arrival.rate: [40/h, 60/h, 90/h]}\n"
             "train: {policy: learned, objective: jct_mean_s, population: 24, elite: 6, "
             "features: [age, gpus, job_left, start], generations: %d, %s"
             "seeds: {from: 10, count: 2}, held_out: {from: 0, count: 2}}\n", seed,
             generations, race);
    program_write(program, "t.yaml", text);
}

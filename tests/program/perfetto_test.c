/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * perfetto_test.c - trace.json against phases.csv: each phase that began and ended is one event,
 * of its trial's process and its role's thread, and both have their names once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "tests/aid/program.h"

#define NAMES_MAX 200

const char *program_argv0;

/* Two policies, two seeds; `until` cuts a phase off. */
static const char experiment[] =
    "experiment: trace\nseeds: 2\nuntil: 10h\n"
    "cluster:\n  nodes:\n"
    "    - {name: a, count: 2, gpus: {type: a100-80, count: 8}, cpu: {type: epyc-7763, "
    "sockets: 2}, memory: 2TB, nics: {type: ib-hdr, count: 4}}\n"
    "  storage: {bandwidth: 20GB/s}\n"
    "workload:\n  arrival: {process: poisson, rate: 4/h}\n  jobs: 16\n"
    "  mix:\n    - recipe: grpo\n      name: grpo\n      share: 1\n"
    "      model: qwen2.5-7b\n      method: lora\n      prompts: 32\n      responses: 4\n"
    "      prompt_tokens: 512\n      response: {mean: 1000, cv: 1, max: 8192}\n"
    "      reward: {on: cpu, core_time: 20ms}\n"
    "      data: {cores: 8}\n      steps: {uniform: [2, 4]}\n"
    "      rollout: {gpus: 8}\n      train: {gpus: 8}\n"
    "policies: [fcfs, static]\n"
    "output: {plots: [], tables: [summary, phases], detail_seeds: all, trace: perfetto}\n";

struct names {
    char item[NAMES_MAX][128];
    unsigned count;
};

/* The number of a name, from 1; *is_new: it was not there. */
static unsigned number_of(struct names *names, const char *name, bool *is_new)
{
    for (unsigned i = 0; i < names->count; i++)
        if (strcmp(names->item[i], name) == 0) {
            *is_new = false;
            return i + 1;
        }
    assert_true(names->count < NAMES_MAX && strlen(name) < 128);
    strcpy(names->item[names->count++], name);
    *is_new = true;
    return names->count;
}

/* The next line of the trace must be this, but for the comma at its end. */
static void take_line(const char **at, const char *line)
{
    size_t n = strcspn(*at, "\n"), bare = n - (n > 0 && (*at)[n - 1] == ',');

    if (strlen(line) != bare || strncmp(*at, line, bare) != 0)
        fail_msg("the trace says\n%.*s\nnot\n%s", (int)n, *at, line);
    *at += n + 1;
}

static void take_name(const char **at, const char *what, unsigned pid, unsigned tid,
                      const char *name)
{
    char line[512];

    snprintf(line, sizeof line, "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%u,\"tid\":%u,"
             "\"args\":{\"name\":\"%s\"}}", what, pid, tid, name);
    take_line(at, line);
}

static void cell(const char *head, const char *row, const char *column, char *out)
{
    csv_field(row, csv_column(head, column), out, 64);
}

/* Returns whether the row has an event. */
static bool take_row(const char **at, const char *head, const char *row, struct names *process,
                     struct names *thread)
{
    char f[11][64], name[200], line[512];
    static const char *const column[] = { "point", "policy", "seed", "job", "role", "phase",
                                          "start_s", "end_s", "gpus", "nodes", "bottleneck" };
    bool is_new;

    for (int i = 0; i < 11; i++)
        cell(head, row, column[i], f[i]);
    if (*f[6] == '\0' || *f[7] == '\0')
        return false;
    snprintf(name, sizeof name, "%s %s seed %s", f[0], f[1], f[2]);
    unsigned pid = number_of(process, name, &is_new);
    if (is_new) {
        thread->count = 0;
        take_name(at, "process_name", pid, 0, name);
    }
    snprintf(name, sizeof name, "job %s %s", f[3], f[4]);
    unsigned tid = number_of(thread, name, &is_new);
    if (is_new)
        take_name(at, "thread_name", pid, tid, name);
    double start = atof(f[6]), end = atof(f[7]);
    snprintf(line, sizeof line, "{\"ph\":\"X\",\"pid\":%u,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,"
             "\"name\":\"%s\",\"args\":{\"gpus\":\"%s\",\"nodes\":\"%s\",\"bottleneck\":\"%s\"}}",
             pid, tid, start * 1e6, (end - start) * 1e6, f[5], f[8], f[9], f[10]);
    take_line(at, line);
    return true;
}

static void every_phase_is_an_event_of_its_role(void **state)
{
    static struct names process, thread;
    const struct program *program = *state;
    const char *file = program_write(program, "e.yaml", experiment);
    unsigned events = 0;

    assert_int_equal(program_experiment(program, file, "out", NULL), 0);
    char *rows = program_result(program, "out", "phases.csv");
    char *trace = program_result(program, "out", "trace.json");
    assert_non_null(rows);
    assert_non_null(trace);
    const char *at = trace;
    take_line(&at, "{\"displayTimeUnit\":\"ms\",\"traceEvents\":[");
    for (const char *row = strchr(rows, '\n') + 1; *row; row = strchr(row, '\n') + 1)
        events += take_row(&at, rows, row, &process, &thread);
    assert_string_equal(at, "]}\n");
    assert_int_equal(process.count, 4);
    assert_true(events > 40);
    assert_true(thread.count > 32);     /* more than the writer makes room for at first */
    free(rows);
    free(trace);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_phase_is_an_event_of_its_role, program_setup,
                                        program_teardown),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_aid.h - for tests of `clustersim import` and `export`: the program run
 * on a text, and what it wrote.
 */
#ifndef TESTS_IMPORT_AID_H
#define TESTS_IMPORT_AID_H

#include "tests/aid/program.h"

#define MORE_MAX 6

static inline const struct program *the_program(void **state)
{
    return *state;
}

static inline const char *in_folder(const struct program *program,
                                    const char *name, char out[160])
{
    snprintf(out, 160, "%s/%s", program->folder, name);
    return out;
}

static inline void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* Runs it with these words; `said` is to be freed. */
static inline int run(const struct program *program,
                      const char *const *words, char **said)
{
    return program_say(program, words, said);
}

/* import FORMAT FILE -o w.yaml MORE... */
static inline int import(const struct program *program, const char *format,
                         const char *file, const char *const *more,
                         char **said)
{
    char yaml[160];
    const char *words[PROGRAM_ARGS_MAX] = {
        "import", format, file, "-o", in_folder(program, "w.yaml", yaml) };

    for (size_t i = 0; i < MORE_MAX && more[i]; i++)
        words[5 + i] = more[i];
    return run(program, words, said);
}

static inline void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

#define ITP "job_id,submission_time,duration,num_gpu\n"
#define SWF_1 "1 0 -1 10 2 -1 -1 4 60 -1 1 7 -1 -1 -1 -1 -1 -1\n"
#define POLLUX "name,time,application,num_replicas,batch_size\n"
#define OPENB "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos," \
    "pod_phase,creation_time,deletion_time,scheduled_time\n"

#define SKIP_ALL "{run_time_not_positive: true, gpus_not_positive: true, " \
    "duplicate_job: true, fractional_gpus: true, type_constraint: true, " \
    "never_ran: true, no_length: true, no_submit_time: true, " \
    "still_running: true}"

#define GAVEL_JSON "{\n    \"v100\": {\n        \"('LM (batch size 10)', 1)\":" \
    " {\n            \"null\": 4.0,\n            \"('A', 1)\": [\n" \
    "                1.0,\n                2.0\n            ]\n        },\n" \
    "        \"('A', 2)\": {\n            \"null\": 0.5\n        }\n    }\n}\n"

/* Two jobs, one of them in several attempts, and three that are none. */
#define PHILLY_JOB(ID, STATUS, SUBMIT, ATTEMPTS) \
    "{\"status\": \"" STATUS "\", \"vc\": \"vc\", \"jobid\": \"" ID "\"," \
    "\n\"attempts\": [" ATTEMPTS "],\n\"submitted_time\": " SUBMIT ", " \
    "\"user\": \"u\"}"
#define PHILLY_RUN(START, END, GPUS) "{\"start_time\": " START ", " \
    "\"end_time\": " END ",\n\"detail\": [{\"ip\": \"m4\", \"gpus\": [" \
    GPUS "]}]}"
#define PHILLY_LOG "[" PHILLY_JOB("a1", "Pass", "\"2017-10-07 01:11:39\"", \
    PHILLY_RUN("\"2017-10-07 01:12:09\"", "\"2017-10-07 01:13:23\"", \
               "\"gpu0\"")) ",\n" \
    PHILLY_JOB("a2", "Killed", "\"2017-10-07 01:11:40\"", \
    PHILLY_RUN("\"2017-10-07 01:12:00\"", "\"2017-10-07 01:13:00\"", \
               "\"gpu0\"") ", " PHILLY_RUN("null", "null", "") ", " \
    PHILLY_RUN("\"2017-10-07 02:00:00\"", "\"2017-10-07 02:01:50\"", \
               "\"gpu0\", \"gpu\\u0031\"")) ",\n" \
    PHILLY_JOB("a3", "Killed", "\"2017-10-07 01:11:41\"", "") ",\n" \
    PHILLY_JOB("a4", "Pass", "\"None\"", "") ",\n" \
    PHILLY_JOB("a5", "Pass", "\"2017-10-07 01:11:41\"", \
    PHILLY_RUN("\"2017-10-07 01:12:00\"", "null", "\"gpu0\"")) "]\n"

struct sample {
    const char *format, *text, *side;   /* side: what --lengths names */
    const char *more[MORE_MAX];
    const char *csv, *report;
};

/* The sample's own words, and --lengths where it has a file beside it. */
static inline int import_sample(const struct program *program,
                                const struct sample *sample, char **said)
{
    char in[160], side[160];
    const char *more[MORE_MAX + 3] = { NULL };
    size_t n = 0;

    write_file(in_folder(program, "in", in), sample->text);
    for (; n < MORE_MAX && sample->more[n]; n++)
        more[n] = sample->more[n];
    if (sample->side) {
        write_file(in_folder(program, "side", side), sample->side);
        more[n++] = "--lengths";
        more[n++] = side;
    }
    return import(program, sample->format, in, more, said);
}

/* The summary of strict FIFO on so many nodes of eight; to be freed. */
static inline char *fifo(const struct program *program, const char *workload,
                         unsigned nodes)
{
    char yaml[160], text[2048];

    snprintf(text, sizeof text,
             "experiment: fifo\ncluster: {nodes: [{name: gpu, count: %u, "
             "gpus: {type: generic, count: 8}}]}\nworkload: %s\npolicies:\n"
             "  - {policy: fcfs, placement: count, blocking: strict}\n"
             "output: {tables: [summary], plots: []}\n", nodes, workload);
    write_file(in_folder(program, "fifo.yaml", yaml), text);
    assert_int_equal(program_experiment(program, yaml, "fifo", NULL), 0);
    return program_result(program, "fifo", "summary.csv");
}

#endif

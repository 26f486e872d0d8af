/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_test.c - `clustersim import` and `export`: each format with a sample
 * made up here, its faults at their place, public traces with their counts,
 * and the way there and back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <zlib.h>

#include "tests/program.h"

#define MORE_MAX 6

static const struct program *the_program(void **state)
{
    return *state;
}

static const char *in_folder(const struct program *program, const char *name,
                             char out[160])
{
    snprintf(out, 160, "%s/%s", program->folder, name);
    return out;
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* Runs it with these words; `said` is to be freed. */
static int run(const struct program *program, const char *const *words,
               char **said)
{
    const char *argv[PROGRAM_ARGS_MAX + 2] = { program->path };
    char log[160];
    size_t n = 1;

    while (*words) {
        assert_true(n < PROGRAM_ARGS_MAX);
        argv[n++] = *words++;
    }
    int status = program_spawn(argv, in_folder(program, "log", log));
    *said = program_read(log);
    assert_non_null(*said);
    return status;
}

/* import FORMAT FILE -o w.yaml MORE... */
static int import(const struct program *program, const char *format,
                  const char *file, const char *const *more, char **said)
{
    char yaml[160];
    const char *words[PROGRAM_ARGS_MAX] = {
        "import", format, file, "-o", in_folder(program, "w.yaml", yaml) };

    for (size_t i = 0; i < MORE_MAX && more[i]; i++)
        words[5 + i] = more[i];
    return run(program, words, said);
}

static void has(const char *text, const char *part)
{
    if (!strstr(text, part))
        fail_msg("\"%s\" is not in:\n%s", part, text);
}

#define ITP "job_id,submission_time,duration,num_gpu\n"
#define SWF_1 "1 0 -1 10 2 -1 -1 4 60 -1 1 7 -1 -1 -1 -1 -1 -1\n"
#define POLLUX "name,time,application,num_replicas,batch_size\n"
#define OPENB "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos," \
    "pod_phase,creation_time,deletion_time,scheduled_time\n"

/* ---- each format ------------------------------------------------------- */

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

static const struct sample {
    const char *format, *text, *side;   /* side: what --lengths names */
    const char *more[MORE_MAX];
    const char *csv, *report;
} samples[] = {
    { "csv", "job,submit_s,run_s,gpus,limit_s,tenant,priority,deadline_s\n"
      "a,1.5,2.000000001,1,0,\"x, y\",0,\nb,2,3,4,9,,-2,20\n", NULL, { NULL },
      "job,submit_s,run_s,gpus,limit_s,tenant,priority,deadline_s\n"
      "a,1.5,2.000000001,1,0,\"x, y\",0,\nb,2,3,4,9,,-2,20\n",
      "jobs         2\n" },
    { "swf", "; Version: 2.2\n1 0 -1 10 2 -1 -1 4 60 -1 1 7 -1 -1 -1 -1 -1 "
      "-1\n2 5 -1 20 -1 -1 -1 4 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n", NULL,
      { NULL }, "job,submit_s,run_s,gpus,limit_s,tenant\n1,0,10,2,60,7\n"
      "2,5,20,4,0,\n", "1 jobs: GPUs are those requested" },
    { "swf", "  ; a comment\n1 0 -1 10 2 -1 -1 4 60 -1 1 7 -1 -1 -1 -1 -1 "
      "-1 x {y}\n", NULL, { NULL },
      "job,submit_s,run_s,gpus,limit_s,tenant\n1,0,10,2,60,7\n",
      "1 rows of more than 18 fields: the others are not read" },
    { "philly", "timestamp,duration,num_gpus,gpu_time,cluster\n"
      "2017-10-09 00:01:00,60.0,2,120.0,vc1\n"
      "2017-10-09 00:00:00,30.0,1,30.0,vc2\n\n", NULL, { "--sort", NULL },
      "job,submit_s,run_s,gpus,tenant\n2,1507507200,30,1,vc2\n"
      "1,1507507260,60,2,vc1\n", "1 rows submitted before the job above" },
    { "itp", "job_id,submission_time,duration,num_gpu\nu-1,5,700,8\n", NULL,
      { NULL }, "job,submit_s,run_s,gpus\nu-1,5,700,8\n", "GPU-hours    1.55" },
    { "itp", "job_id,submission_time,num_iteration,model_name,deadline,"
      "batch_size,num_gpu,duration\nu-1,5,1,bert,600,1,8,700\n", NULL,
      { NULL }, "job,submit_s,run_s,gpus,deadline_s\nu-1,5,700,8,600\n",
      "1 jobs: deadline is before submission + run time" },
    { "tiresias", "job_id,num_gpu,submit_time,iterations,model_name,duration,"
      "interval\n0,4,0,9,vgg19,100,30\n1,1,30,9,vgg19,15,0\n", NULL,
      { "--gpus", "8", NULL },
      "job,submit_s,run_s,gpus\n0,0,100,4\n1,30,15,1\n",
      "load         1.729 of 8 GPUs over the span; the largest job takes 4" },
    { "helios", "job_id,user,vc,gpu_num,cpu_num,state,submit_time,duration\n"
      "1,u,vcA,0,4,COMPLETED,2020-04-01 00:00:00,9\n"
      "2,u,vcA,8,4,FAILED,2020-04-01 00:00:01,9\n", NULL,
      { "--skip", "gpus_not_positive", NULL },
      "job,submit_s,run_s,gpus,tenant\n2,1585699201,9,8,vcA\n",
      "1 jobs: failed or were cancelled" },
    { "gavel", "LM (batch size 10)\tcmd  x\t-n\t1\t100\t0.5\t1\n"
      "B\tcmd\t-n\t1\t100\t1.0\t1\n", GAVEL_JSON,
      { "--gpu-type", "v100", "--skip", "no_length", NULL },
      "job,submit_s,run_s,gpus\n1,0.5,25,1\n",
      "1 rows left out: no_length" },
    { "gavel", "A\tcmd\tdir\t-n\t1\t100\t2\t1\t-1.000000\t3\n", GAVEL_JSON,
      { "--gpu-type", "v100", NULL },
      "job,submit_s,run_s,gpus\n1,3,200,2\n", "jobs         1\n" },
    { "shockwave", "A\tc\td\t-n\t1\t9\t2\tgns\t1\t-1.0\t720\t4\n", NULL,
      { NULL }, "job,submit_s,run_s,gpus\n1,4,720,2\n",
      "1 jobs: change their batch size" },
    { "pollux", "name,time,application,num_replicas,batch_size\n"
      "c-0,1,cifar10,4,128\n", "application,run_s\ncifar10,600\n", { NULL },
      "job,submit_s,run_s,gpus\nc-0,1,600,4\n", "jobs         1\n" },
    { "sia", "name,time,application,num_replicas,batch_size\n"
      "c-0,1,cifar10,4,128\nb-1,2,bert,4,1\n",
      "application,run_s\ncifar10,600\n", { "--skip", "no_length", NULL },
      "job,submit_s,run_s,gpus\nc-0,1,600,4\n", "1 rows left out: no_length" },
    { "openb", "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,"
      "pod_phase,creation_time,deletion_time,scheduled_time\n"
      "p0,1,1,2,1000,,LS,Running,1,30,10\np1,1,1,1,460,,LS,Running,2,30,10\n"
      "p2,1,1,0,0,,BE,Failed,3,30,10\np3,1,1,1,1000,,BE,Pending,4,9,\n"
      "p4,1,1,1,1000,V100M16|V100M32,LS,Running,5,30,10\n", NULL,
      { "--skip", "never_ran", NULL },
      "job,submit_s,run_s,gpus,tenant,cores,memory_mib,gpu_types\n"
      "p0,1,20,2,LS,0.001,1,\np1,2,20,0.46,LS,0.001,1,\n"
      "p2,3,20,0,BE,0.001,1,\np4,5,20,1,LS,0.001,1,V100M16|V100M32\n",
      "1 rows left out: never_ran\n" },
    { "alea", "; MetaCentrum\n1 1356994800 -1 10 2 -1 -1 4 60 -1 1 7 -1 -1 -1 "
      "-1 -1 -1 {3,4} q_2h 1:ppn=2: mem=4\n", NULL, { NULL },
      "job,submit_s,run_s,gpus,limit_s,tenant\n1,1356994800,10,2,60,7\n",
      "jobs         1\n" },
    { "philly-log", PHILLY_LOG, NULL,
      { "--skip", "never_ran,still_running,no_submit_time", NULL },
      "job,submit_s,run_s,gpus,tenant\na1,1507338699,74,1,vc\n"
      "a2,1507338700,170,2,vc\n",
      "1 rows left out: never_ran\n  1 rows left out: no_submit_time\n"
      "  1 rows left out: still_running\n"
      "  1 jobs: failed or were cancelled; replayed as they ran\n"
      "  1 jobs: ran in several attempts; run time is their sum\n"
      "  1 jobs: have attempts without start or end" },
    { "pai", "j1,ps,1.0,Terminated,5.0,15.0,600.0,29.3,,\n"
      "j1,worker,2.0,Terminated,5.0,15.0,600.0,29.3,100.0,V100\n"
      "j2,tf,1.0,Failed,6.0,16.0,600.0,29.3,50.0,T4\n"
      "j3,tf,4.0,Failed,7.0,16.5,600.0,29.3,200.0,T4\n"
      "j4,tf,4.0,Running,8.0,,600.0,29.3,200.0,T4\n"
      "j5,tf,2.0,Terminated,9.0,12.0,600.0,29.3,25.0,T4\n", NULL,
      { "--skip", "fractional_gpus,gpus_not_positive,still_running", NULL },
      "job,submit_s,run_s,gpus,gpu_types\nj1/worker,5,10,2,V100\n"
      "j2/tf,6,10,0.5,T4\nj3/tf,7,9.5,8,T4\n",
      "1 rows left out: fractional_gpus" },
    { "pai", "job_name,task_name,inst_num,status,start_time,end_time,"
      "plan_cpu,plan_mem,plan_gpu,gpu_type\n"
      "j1,tf,1,Terminated,5.0,15.0,600.0,29.3,100,P100\n", NULL, { NULL },
      "job,submit_s,run_s,gpus,gpu_types\nj1/tf,5,10,1,P100\n",
      "rows         1\n" },
    { "spot2026", "job_name,organization,gpu_model,cpu_request,gpu_request,"
      "worker_num,submit_time,duration,job_type\n"
      "1,13,A10,20,1,1,0,2764799,HP\n2,57,H800,15,2,16,9,41060,Spot\n", NULL,
      { NULL }, "job,submit_s,run_s,gpus,tenant,priority\n"
      "1,0,2764799,1,13,1\n2,9,41060,32,57,0\n",
      "2 jobs: ask for a type of GPU" },
    { "dlrm2025", "instance_sn,role,app_name,gpu_request,creation_time,"
      "scheduled_time,deletion_time\ni0,HN,a0,1,5,8,20\ni1,CN,a0,0,5,8,20\n"
      "i2,HN,a0,1,,,20\ni3,HN,a0,1,6,8,\n", NULL,
      { "--skip", "gpus_not_positive,no_submit_time,still_running", NULL },
      "job,submit_s,run_s,gpus,tenant\ni0,5,12,1,a0\n",
      "1 rows left out: no_submit_time\n  1 rows left out: still_running" },
    { "acme", "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,"
      "start_time,end_time,duration,queue,gpu_time\n"
      "1,u5,1,8,128,Other,FAILED,2023-03-01 00:18:22+08:00,2023-03-01 "
      "00:18:54+08:00,2023-03-01 00:20:51+08:00,117,32,936.0\n"
      "2,u5,1,8,128,Other,COMPLETED,2023-05-17 11:00:58+00:00,2023-05-17 "
      "11:01:08+00:00,2023-05-17 11:01:16+00:00,18,10.0,144.0\n", NULL,
      { NULL }, "job,submit_s,run_s,gpus,tenant\n1,1677601102,117,8,u5\n"
      "2,1684321258,8,8,u5\n", "1 jobs: state another duration" },
    { "elasticflow", "time,job_id,num_gpu,submit_time,start_time,end_time,ddl,"
      "executed_time,JCT,pending_time,preempt,promote,best_effort_job\n"
      "90,7,2,5,9223372036854775807,90,95,80,85,5,0,0,0\n", NULL, { NULL },
      "job,submit_s,run_s,gpus,deadline_s\n7,5,80,2,95\n",
      "jobs         1\n" },
};

/* The sample's own words, and --lengths where it has a file beside it. */
static int import_sample(const struct program *program,
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

static void each_format_turns_its_rows_into_the_same_jobs(void **state)
{
    const struct program *program = the_program(state);
    char path[160], *said, *csv;

    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        if (import_sample(program, &samples[i], &said) != 0)
            fail_msg("%s: %s", samples[i].format, said);
        has(said, samples[i].report);
        csv = program_read(in_folder(program, "w.csv", path));
        if (!csv || strcmp(csv, samples[i].csv) != 0)
            fail_msg("%s: %s", samples[i].format, csv ? csv : "no w.csv");
        free(csv);
        free(said);
    }
}

#define SKIP_ALL "{run_time_not_positive: true, gpus_not_positive: true, " \
    "duplicate_job: true, fractional_gpus: true, type_constraint: true, " \
    "never_ran: true, no_length: true, no_submit_time: true, " \
    "still_running: true}"

/* The workload that names the sample's file itself, exported as x.csv. */
static int inline_sample(const struct program *program,
                         const struct sample *sample, char **said)
{
    char in[160], side[160], yaml[160], out[160], gpus[160], text[1200];
    const char *words[] = { "export", in_folder(program, "i.yaml", yaml),
                            "-o", in_folder(program, "x.csv", out),
                            "--cluster", in_folder(program, "c.yaml", gpus),
                            NULL };
    static const char *const model[] = { "V100", "V100M16", "V100M32", "T4",
                                         "P100" };
    size_t n = (size_t)snprintf(text, sizeof text, "nodes:\n");

    for (size_t i = 0; i < sizeof model / sizeof model[0]; i++)
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "  - {name: %s, count: 1000, gpus: {type: "
                              "generic, model: %s, count: 8}}\n", model[i],
                              model[i]);
    write_file(gpus, text);
    write_file(in_folder(program, "in", in), sample->text);
    snprintf(text, sizeof text,
             "trace:\n  file: in\n  format: %s\n  unsorted: sort\n"
             "  origin: file\n  skip: " SKIP_ALL "\n%s%s", sample->format,
             sample->side ? "  lengths: side\n" : "",
             sample->side && strcmp(sample->format, "gavel") == 0
                 ? "  gpu_type: v100\n" : "");
    write_file(in_folder(program, "side", side),
               sample->side ? sample->side : "");
    write_file(yaml, text);
    return run(program, words, said);
}

/* Without its first column: import numbers by row, export by job. */
static void drop_names(char *csv)
{
    char *to = csv, *from = csv;

    while (*from) {
        size_t line = strcspn(from, "\n"), name = strcspn(from, ",");

        memmove(to, from + name, line - name + 1);
        to += line - name + 1;
        from += line + 1;
    }
    *to = '\0';
}

static void each_format_is_read_inline_as_it_is_imported(void **state)
{
    const struct program *program = the_program(state);
    char path[160], *said, *inline_csv, *csv;

    for (size_t i = 1; i < sizeof samples / sizeof samples[0]; i++) {
        if (inline_sample(program, &samples[i], &said) != 0)
            fail_msg("%s: %s", samples[i].format, said);
        free(said);
        inline_csv = program_read(in_folder(program, "x.csv", path));
        csv = strdup(samples[i].csv);
        assert_non_null(inline_csv);
        drop_names(inline_csv);
        drop_names(csv);
        /* SWF is read here by trace.c, which knows no users. */
        if (strcmp(samples[i].format, "swf") != 0)
            assert_string_equal(inline_csv, csv);
        free(inline_csv);
        free(csv);
    }
}

static void inline_faults_are_refused_at_their_place(void **state)
{
    static const struct fault {
        const char *format, *text, *keys, *place, *message;
    } wrong[] = {
        { "openb", OPENB "p1,1,1,2,460,,LS,Running,2,30,10\n", "",
          "in:2:10:", "skip: {fractional_gpus: true}" },
        { "openb", OPENB "p1,1,1,1,460,T4|P4,LS,Running,2,30,10\n", "",
          "in:2:14:", "skip: {type_constraint: true}" },
        { "openb", OPENB "p1,1,1,9,1000,,LS,Running,2,30,10\n", "",
          "in:2:8:", "skip: {larger_than_cluster: true}" },
        { "itp", ITP "a,5,7,1\na,6,7,1\n", "", "in:3:1:",
          "skip: {duplicate_job: true}" },
        { "itp", ITP "44,5,7,1\n45,6,7,1\n44,6,7,1\n", "", "in:4:1:",
          "skip: {duplicate_job: true}" },
        { "itp", ITP "a,5,7,1\nb,4,7,1\n", "", "in:3:3:",
          "unsorted: sort" },
        { "itp", ITP "a,5,-7,1\n", "", "in:2:5:",
          "skip: {run_time_not_positive: true}" },
        { "itp", ITP "a,5,7,1\n", "  lengths: x\n", "i.yaml:4:",
          "takes neither lengths nor gpu_type" },
        { "itp", ITP "a,5,7,1\n", "  columns: {submit: a, duration: b, "
          "gpus: c}\n", "i.yaml:4:", "columns has no meaning" },
        { "gavel", "A\tc\t-n\t1\t9\t0\t1\n", "", "i.yaml:",
          "lengths is missing" },
        { "gavel", "A\tc\t-n\t1\t9\t0\t1\n", "  lengths: x\n", "i.yaml:",
          "gpu_type is missing" },
        { "philly-log", "[{\"jobid\": \"a\", \"attempts\": [}]}]\n", "",
          "in:1:30:", "a JSON value is expected" },
    };
    const struct program *program = the_program(state);
    char in[160], yaml[160], out[160], text[400], *said;
    const char *words[] = { "export", in_folder(program, "i.yaml", yaml),
                            "-o", in_folder(program, "x.csv", out), NULL };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_file(in_folder(program, "in", in), wrong[i].text);
        snprintf(text, sizeof text, "trace:\n  file: in\n  format: %s\n%s",
                 wrong[i].format, wrong[i].keys);
        write_file(yaml, text);
        assert_int_equal(run(program, words, &said), 3);
        has(said, wrong[i].place);
        has(said, wrong[i].message);
        free(said);
    }
}

/* As far as the jobs of the workload that import wrote. */
static void deadlines_reach_the_workload(void **state)
{
    static const struct sample sample = {
        "itp", "job_id,submission_time,num_iteration,model_name,deadline,"
        "batch_size,num_gpu,duration\nu-1,5,1,bert,600,1,8,700\n", NULL,
        { NULL }, NULL, NULL };
    const struct program *program = the_program(state);
    char yaml[160], path[160], *said, *csv;
    const char *words[] = { "export", in_folder(program, "w.yaml", yaml),
                            "-o", in_folder(program, "x.csv", path), NULL };

    assert_int_equal(import_sample(program, &sample, &said), 0);
    free(said);
    assert_int_equal(run(program, words, &said), 0);
    free(said);
    csv = program_read(path);
    assert_string_equal(csv, "job,submit_s,run_s,gpus,deadline_s\n"
                        "u-1,0,700,8,595\n");
    free(csv);
}

static void windows_line_ends_and_a_byte_order_mark_change_nothing(
    void **state)
{
    static const struct sample sample = {
        "itp", "\xEF\xBB\xBFjob_id,submission_time,duration,num_gpu\r\n"
        "u-1,5,700,8\r\n", NULL, { NULL }, NULL, NULL };
    const struct program *program = the_program(state);
    char path[160], *said, *csv;

    assert_int_equal(import_sample(program, &sample, &said), 0);
    csv = program_read(in_folder(program, "w.csv", path));
    assert_string_equal(csv, "job,submit_s,run_s,gpus\nu-1,5,700,8\n");
    free(csv);
    free(said);
}

/* ---- faults ------------------------------------------------------------ */

static const struct fault {
    struct sample sample;
    const char *place, *message;
} faults[] = {
    { { "csv", "job,submit_s,run_s\na,1,1\n", NULL, { NULL }, 0, 0 },
      "in:1:1:", "no column gpus" },
    { { "csv", "submit_s,run_s,gpus,deadline_s\n1,1,1,soon\n", NULL,
        { NULL }, 0, 0 }, "in:2:7:", "column deadline_s must be" },
    { { "itp", ITP "a,5,9,1\nb,4,9,1\n", NULL, { NULL }, 0, 0 },
      "in:3:3:", "with --sort" },
    { { "itp", ITP "a,5,9,1\na,6,9,1\n", NULL, { NULL }, 0, 0 },
      "in:3:1:", "--skip duplicate_job" },
    { { "itp", ITP "a,5,0,1\n", NULL, { NULL }, 0, 0 },
      "in:2:5:", "--skip run_time_not_positive" },
    { { "itp", ITP "a,-5,7,1\n", NULL, { NULL }, 0, 0 },
      "in:2:3:", "at least 0" },
    { { "itp", ITP "a,5,7,0\n", NULL, { NULL }, 0, 0 },
      "in:2:7:", "--skip gpus_not_positive" },
    { { "itp", ITP "a,5,7,9\n", NULL, { "--gpus", "8" }, 0, 0 },
      "in:2:7:", "--skip larger_than_cluster" },
    { { "itp", ITP "a,5,7\n", NULL, { NULL }, 0, 0 },
      "in:2:1:", "row has 3 fields, the header line has 4" },
    { { "itp", ITP, NULL, { NULL }, 0, 0 }, "in:", "none of its 0 rows" },
    { { "itp", "", NULL, { NULL }, 0, 0 }, "in:", "file is empty" },
    { { "itp", ITP "a,5,7,1\n", NULL, { "--lengths", "x" }, 0, 0 },
      "in:", "takes no --lengths" },
    { { "swf", SWF_1 "2 1 -1 10 2\n", NULL, { NULL }, 0, 0 },
      "in:2:1:", "row has 5 fields" },
    { { "swf", "1 0 -1 10 2 -1 -1 4 60 -1 1 {7} -1 -1 -1 -1 -1 -1\n", NULL,
        { NULL }, 0, 0 }, "in:1:29:", "column user must be a whole number" },
    { { "philly", "timestamp,duration,num_gpus,gpu_time,cluster\n"
        "2017-10-09 00:01:00,60.0,2,60.0,vc1\n", NULL, { NULL }, 0, 0 },
      "in:2:28:", "must be duration x num_gpus" },
    { { "philly", "timestamp,duration,num_gpus,gpu_time,cluster\n"
        "2017-13-09 00:01:00,60.0,1,60.0,vc1\n", NULL, { NULL }, 0, 0 },
      "in:2:1:", "a date such as" },
    { { "tiresias", "job_id,num_gpu,submit_time\n1,1,1\n", NULL, { NULL }, 0,
        0 }, "in:1:1:", "no column iterations" },
    { { "helios", "time,total_job_num\n2020-05-01 00:00:00,7\n", NULL,
        { NULL }, 0, 0 }, "in:1:1:", "hold no jobs" },
    { { "gavel", "A\tb\tc\td\te\tf\tg\n", NULL, { NULL }, 0, 0 },
      "in:", "hold no run times" },
    { { "gavel", "A\tb\tc\n", GAVEL_JSON, { "--gpu-type", "v100" }, 0, 0 },
      "in:1:1:", "7 or 10" },
    { { "gavel", "A\tc\t-n\t1\tmany\t0\t1\n", GAVEL_JSON,
        { "--gpu-type", "v100" }, 0, 0 }, "in:1:10:", "a whole number" },
    { { "gavel", "A\tc\t-n\t1\t9\t0\t1\nA\tc\t-n\t1\t9\t0\n", GAVEL_JSON,
        { "--gpu-type", "v100", "--skip", "no_length" }, 0, 0 },
      "in:2:1:", "row has 6 fields, the first row has 7" },
    { { "gavel", "A\tc\t-n\t1\t9\t0\t1\n", GAVEL_JSON,
        { "--gpu-type", "v100" }, 0, 0 }, "in:1:1:", "--skip no_length" },
    { { "gavel", "A\tc\t-n\t1\t9\t0\t1\n", GAVEL_JSON,
        { "--gpu-type", "h100" }, 0, 0 }, "side:", "no rates of GPU type" },
    { { "gavel", "A\tc\t-n\t1\t9\t0\t1\n", "{\n  \"v100\": {\n",
        { "--gpu-type", "v100" }, 0, 0 }, "side:2:", "within a bracket" },
    { { "shockwave", "A\tb\n", NULL, { NULL }, 0, 0 }, "in:1:1:", "have 12" },
    { { "shockwave", "A\tc\td\t-n\t1\t9\t2\tgsn\t1\t-1.0\t720\t4\n", NULL,
        { NULL }, 0, 0 }, "in:1:16:", "static, accordion or gns" },
    { { "pollux", POLLUX "c,1,cifar10,4,1\n", NULL, { NULL }, 0, 0 },
      "in:", "Give --lengths FILE" },
    { { "pollux", POLLUX "c,1,cifar10,4,1\n", "application,run_s\na,-1\n",
        { NULL }, 0, 0 }, "side:2:3:", "above 0" },
    { { "sia", POLLUX "c,1,cifar10,4,1\n", "application,run_s\na,1\n",
        { NULL }, 0, 0 }, "in:2:5:", "--skip no_length" },
    { { "philly-log", "{\"a\": 1}\n", NULL, { NULL }, 0, 0 },
      "in:1:1:", "an array of jobs" },
    { { "philly-log", "[{\"jobid\": \"a\", \"attempts\": [}]}]\n", NULL,
        { NULL }, 0, 0 }, "in:1:30:", "a JSON value is expected" },
    { { "philly-log", PHILLY_LOG, NULL, { NULL }, 0, 0 },
      "in:12:1:", "--skip never_ran" },
    { { "philly-log", "[\n{\"jobid\": \"a\"},", NULL,
        { "--skip", "no_submit_time" }, 0, 0 }, "in:2:",
      "within a bracket" },
    { { "alea", SWF_1, NULL, { NULL }, 0, 0 }, "in:1:1:",
      "row has 18 fields, Alea's dialect of SWF has 21" },
    { { "swf", "1 0 -1 10 2 -1 -1 4 60 -1 1 7 -1 -1 -1 -1 -1 -1 {1} q r\n",
        NULL, { NULL }, 0, 0 }, "in:1:1:", "format alea" },
    { { "philly", "Timestamp,DURATION,num_gpus,gpu_time,cluster\n", NULL,
        { NULL }, 0, 0 }, "in:1:1:", "It has a column Timestamp" },
    { { "philly-log", "[] [{}]", NULL, { NULL }, 0, 0 }, "in:1:4: ",
      "the end of the file is expected" },
    { { "philly-log", "", NULL, { NULL }, 0, 0 }, "in: ",
      "an array of jobs" },
    { { "swf", "1 0 -1 99999999999 2 -1 -1 4 60 -1 1 7 -1 -1 -1 -1 -1 -1\n",
        NULL, { NULL }, 0, 0 }, "in:1:8:", "up to 9.2e9" },
    { { "pai", "a,b,1,Failed,5,6,1,1,100\n", NULL, { NULL }, 0, 0 },
      "in:1:1:", "row has 9 fields" },
    { { "pai", "a,b,1.5,Failed,5,6,1,1,100,T4\n", NULL, { NULL }, 0, 0 },
      "in:1:5:", "a whole number" },
    { { "pai", "a,b,Failed,1,5,6,1,1,100,T4\n", NULL, { NULL }, 0, 0 },
      "in:1:12:", "Terminated, Failed, Running or Waiting" },
    { { "spot2026", "gpu_model,gpu_capacity_num,cpu_num,node_name\n"
        "A10,1,128,2\n", NULL, { NULL }, 0, 0 }, "in:1:1:",
      "list of nodes" },
    { { "dlrm2025", "instance_sn,role,app_name,gpu_request,creation_time,"
        "scheduled_time,deletion_time\ni0,HN,a0,1,,8,20\n", NULL, { NULL },
        0, 0 }, "in:2:12:", "--skip no_submit_time" },
    { { "acme", "id,job_num\nSeren,1\n", NULL, { NULL }, 0, 0 },
      "in:1:1:", "summary of clusters" },
    { { "itp", ITP "a,1e400,7,1\n", NULL, { NULL }, 0, 0 },
      "in:2:3:", "a number of seconds" },
    { { "itp", ITP "a,5,7,1e1\n", NULL, { NULL }, 0, 0 },
      "in:2:7:", "must be a whole number, found \"1e1\"" },
    { { "itp", ITP "a,5,2h,1\n", NULL, { NULL }, 0, 0 },
      "in:2:5:", "a number of seconds" },
    { { "openb", "name,cpu_milli,memory_mib,num_gpu,gpu_milli\np,1,1,1,1000\n",
        NULL, { NULL }, 0, 0 },
      "in:1:1:", "multigpu lists hold no times" },
    { { "openb", OPENB "p1,1,1,2,460,,LS,Running,2,30,10\n", NULL,
        { NULL }, 0, 0 }, "in:2:10:", "--skip fractional_gpus" },
    { { "openb", OPENB "p1,1,1,1,1000,,LS,Pending,2,30,\n", NULL,
        { NULL }, 0, 0 }, "in:2:", "--skip never_ran" },
    { { "openb", OPENB "p1,-1,1,1,1000,V100,LS,Running,2,30,9\n", NULL,
        { NULL }, 0, 0 }, "in:2:4:", "at least 0" },
};

static void faulty_rows_are_refused_at_their_place(void **state)
{
    const struct program *program = the_program(state);
    char yaml[160], *said;

    unlink(in_folder(program, "w.yaml", yaml));
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        int status = import_sample(program, &faults[i].sample, &said);

        if (status != 2 && status != 3)
            fail_msg("%s, %s: status %d: %s", faults[i].sample.format,
                     faults[i].message, status, said);
        has(said, faults[i].place);
        has(said, faults[i].message);
        if (access(yaml, F_OK) == 0)
            fail_msg("%s: a workload was written", faults[i].message);
        free(said);
    }
}

static void a_truncated_gzip_is_refused(void **state)
{
    const struct program *program = the_program(state);
    static const char *const none[MORE_MAX] = { NULL };
    char path[160], bytes[65536], *said;
    gzFile packed = gzopen(in_folder(program, "in.gz", path), "wb");
    FILE *file;
    size_t count;

    gzputs(packed, ITP);
    for (int i = 0; i < 500; i++)
        gzprintf(packed, "j%d,%d,%d,1\n", i, i, i * i + 1);
    gzclose(packed);
    assert_int_equal(import(program, "itp", path, none, &said), 0);
    has(said, "jobs         500\n");
    free(said);
    file = fopen(path, "rb");
    count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    file = fopen(path, "wb");
    fwrite(bytes, 1, count / 2, file);
    fclose(file);
    assert_int_not_equal(import(program, "itp", path, none, &said), 0);
    has(said, "in.gz");
    free(said);
}

/* One field of a million digits and more, in front of a good row. */
static void a_field_without_end_is_refused(void **state)
{
    static const char *const none[MORE_MAX] = { NULL };
    const struct program *program = the_program(state);
    char path[160], *said;
    FILE *file = fopen(in_folder(program, "in", path), "wb");

    fputs(ITP "a,", file);
    for (int i = 0; i < 1100000; i++)
        putc('7', file);
    fputs(",7,1\nb,8,7,1\n", file);
    fclose(file);
    assert_int_not_equal(import(program, "itp", path, none, &said), 0);
    has(said, "in:2:1:");
    has(said, "longer than 1 MiB");
    free(said);
    /* A shorter one, which no integer holds, is no number of seconds. */
    file = fopen(path, "wb");
    fputs(ITP "a,", file);
    for (int i = 0; i < 1000; i++)
        putc('7', file);
    fputs(",7,1\n", file);
    fclose(file);
    assert_int_not_equal(import(program, "itp", path, none, &said), 0);
    has(said, "in:2:3:");
    free(said);
}

static void numbers_in_exponent_form_are_the_same_numbers(void **state)
{
    static const struct sample sample = {
        "itp", ITP "u-1,5e1,7E+2,8\n", NULL, { NULL }, NULL, NULL };
    const struct program *program = the_program(state);
    char path[160], *said, *csv;

    assert_int_equal(import_sample(program, &sample, &said), 0);
    csv = program_read(in_folder(program, "w.csv", path));
    assert_string_equal(csv, "job,submit_s,run_s,gpus\nu-1,50,700,8\n");
    free(csv);
    free(said);
}

static void usage_errors_name_what_is_there(void **state)
{
    const struct program *program = the_program(state);
    char *said;
    static const struct {
        const char *words[8], *message;
    } wrong[] = {
        { { "import", "itq", "x", "-o", "w.yaml" }, "Did you mean itp?" },
        { { "import", "itp", "x" }, "import needs -o WORKLOAD.yaml" },
        { { "import", "itp", "x", "-o", "w.csv" }, "ends in .yaml" },
        { { "import", "itp", "x", "-o", "w.yaml", "--skip", "late" },
          "no reason 'late'" },
        { { "import", "itp", "workloads/traces/c480.csv", "-o",
            "workloads/traces/c480.yaml" }, "would be overwritten" },
        { { "import", "itp", "/nonexistent", "-o", "w.yaml" },
          "/nonexistent" },
        { { "export", "workloads/trace_c480.yaml" }, "export needs -o" },
        { { "export", "workloads/trace_c480.yaml", "-o",
            "workloads/traces/c480.csv" }, "would be overwritten" },
        { { "export", "workloads/trace_c480.yaml", "-o", "x", "--format",
            "pdf" }, "must be swf or csv" },
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (run(program, wrong[i].words, &said) == 0)
            fail_msg("accepted: %s", wrong[i].message);
        has(said, wrong[i].message);
        free(said);
    }
}

static void formats_and_reasons_are_listed(void **state)
{
    const char *words[] = { "list", "formats", NULL };
    char *said;

    assert_int_equal(run(the_program(state), words, &said), 0);
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++)
        has(said, samples[i].format);
    has(said, "\nfractional_gpus");
    free(said);
}

/* ---- there and back ---------------------------------------------------- */

/* clustersim export WORKLOAD -o NAME --format FORMAT --seed 3 */
static void export_to(const struct program *program, const char *workload,
                      const char *name, const char *format)
{
    char path[160], *said;
    const char *words[] = { "export", workload, "-o",
                            in_folder(program, name, path), "--format",
                            format, "--seed", "3", NULL };

    if (run(program, words, &said) != 0)
        fail_msg("%s", said);
    free(said);
}

static void same_files(const struct program *program, const char *a,
                       const char *b)
{
    char path[160];
    char *left = program_read(in_folder(program, a, path));
    char *right = program_read(in_folder(program, b, path));

    assert_non_null(left);
    assert_non_null(right);
    if (strcmp(left, right) != 0)
        fail_msg("%s and %s differ", a, b);
    free(left);
    free(right);
}

static void what_was_exported_is_imported_unchanged(void **state)
{
    static const char *const workloads[] = {
        "workloads/whole_jobs.yaml", "workloads/trace_c480.yaml",
        "workloads/trace_sample.yaml" };
    static const char *const none[MORE_MAX] = { NULL };
    const struct program *program = the_program(state);
    char path[160], *said;

    for (size_t i = 0; i < sizeof workloads / sizeof workloads[0]; i++) {
        export_to(program, workloads[i], "x.csv", "csv");
        import(program, "csv", in_folder(program, "x.csv", path), none,
               &said);
        free(said);
        same_files(program, "x.csv", "w.csv");
    }
    /* SWF numbers jobs from 1, as a CSV does those without a name. */
    export_to(program, workloads[0], "x.csv", "csv");
    export_to(program, workloads[0], "x.swf", "swf");
    import(program, "swf", in_folder(program, "x.swf", path), none, &said);
    free(said);
    same_files(program, "x.csv", "w.csv");
    /* And once more from the workload that was imported. */
    in_folder(program, "w.yaml", path);
    export_to(program, path, "y.swf", "swf");
    export_to(program, path, "y.csv", "csv");
    import(program, "swf", in_folder(program, "y.swf", path), none, &said);
    free(said);
    same_files(program, "y.csv", "w.csv");
}

static void jobs_with_phases_are_not_exported(void **state)
{
    const struct program *program = the_program(state);
    char path[160], *said;
    const char *words[] = { "export", "workloads/dpo_mix.yaml", "--cluster",
                            "models/clusters/mixed_64.yaml", "-o",
                            in_folder(program, "no.csv", path), NULL };

    assert_int_equal(run(program, words, &said), 3);
    has(said, "it has phases");
    assert_int_not_equal(access(path, F_OK), 0);
    free(said);
}

/* The summary of strict FIFO on so many nodes of eight; to be freed. */
static char *fifo(const struct program *program, const char *workload,
                  unsigned nodes)
{
    char yaml[160], text[2048];

    snprintf(text, sizeof text,
             "experiment: fifo\ncluster: {nodes: [{name: gpu, count: %u, "
             "gpus: {type: generic, count: 8}}]}\nworkload: %s\npolicies:\n"
             "  - {policy: fcfs, placement: count, blocking: strict}\n"
             "output: {tables: [summary], plots: []}\n", nodes, workload);
    write_file(in_folder(program, "fifo.yaml", yaml), text);
    assert_int_equal(program_study(program, yaml, "fifo", NULL), 0);
    return program_result(program, "fifo", "summary.csv");
}

/* What a trace left out is said by whoever runs it. */
static void a_run_says_what_its_trace_left_out(void **state)
{
    const struct program *program = the_program(state);
    char yaml[160], out[160], text[1000], *said;
    const char *words[] = { "run", in_folder(program, "left.yaml", yaml),
                            "-o", in_folder(program, "left", out), NULL };

    snprintf(text, sizeof text,
             "experiment: left\ncluster: {nodes: [{name: gpu, count: 1, "
             "gpus: {type: generic, count: 8}}]}\nworkload: {trace: {file: "
             "in, format: openb, skip: " SKIP_ALL "}}\npolicies: [fcfs]\n"
             "output: {tables: [summary], plots: []}\n");
    write_file(yaml, text);
    write_file(in_folder(program, "in", text),
               OPENB "p0,1,1,2,1000,,LS,Running,1,30,10\n"
               "p1,1,1,2,460,,LS,Running,2,30,10\n"
               "p2,0,1,0,0,,BE,Failed,3,30,10\n\n");
    if (run(program, words, &said) != 0)
        fail_msg("%s", said);
    has(said, "traces\n  base: 3 rows, 1 jobs; left out: 0 without run time, "
        "1 without GPUs, 0 too large, 1 by other reasons, 0 outside the "
        "slice; 1 blank lines\n");
    free(said);
}

static void an_imported_trace_runs_as_the_trace_itself(void **state)
{
    static const char *const none[MORE_MAX] = { NULL };
    const struct program *program = the_program(state);
    char here[600], direct[800], *said, *imported, *read;

    assert_int_equal(import(program, "tiresias", "workloads/traces/c480.csv",
                            none, &said), 0);
    free(said);
    assert_non_null(getcwd(here, sizeof here));
    snprintf(direct, sizeof direct, "{trace: {file: %s/workloads/traces/"
             "c480.csv, columns: {job: job_id, submit: submit_time, "
             "duration: duration, gpus: num_gpu}}}", here);
    imported = fifo(program, "w.yaml", 8);
    read = fifo(program, direct, 8);
    assert_string_equal(imported, read);
    has(read, "10539.57");
    free(imported);
    free(read);
}

/* ---- public traces ----------------------------------------------------- */

static const char *shared_file(const char *file, char out[900])
{
    const char *shared = getenv("SHARED");

    snprintf(out, 900, "%s/traces/%s", shared ? shared : "../shared", file);
    if (access(out, R_OK) == 0)
        return out;
    print_message("skip: %s is not there\n", out);
    return NULL;
}

#define GAVEL_RATES "gavel/simulation_throughputs.json.gz"

static const struct {
    const char *format, *file, *side;
    const char *more[MORE_MAX - 2];
    const char *report[4];
} traces[] = {
    { "itp", "msitp/raw/cluster10.csv", NULL, { "--gpus", "16" },
      { "jobs         260\n", "GPU-hours    4023.491389\n" } },
    { "itp", "msitp/elasticflow/cluster06.csv", NULL, { NULL },
      { "jobs         2396\n" } },
    { "itp", "msitp/elasticflow/195job.csv", NULL, { NULL },
      { "jobs         195\n" } },
    { "philly", "philly/philly_2017-10.csv.gz", NULL, { "--sort" },
      { "jobs         47192\n", "24905 rows submitted before",
        "GPU-hours    438317.8228\n" } },
    { "tiresias", "tiresias/60_job.csv", NULL, { NULL },
      { "jobs         60\n" } },
    { "tiresias", "../conformance/c480.csv", NULL, { NULL },
      { "jobs         480\n" } },
    { "swf", "swf/LCG-2005-1.swf.gz", NULL,
      { "--skip", "run_time_not_positive" },
      { "rows         188041\n", "jobs         187520\n",
        "521 rows left out", "11 days" } },
    { "swf", "swf/hpc2n_alea_slice.swf", NULL,
      { "--skip", "run_time_not_positive" },
      { "rows         3170\n", "25 rows left out", "jobs         3145\n" } },
    { "swf", "swf/lublin_256.swf", NULL, { "--gpus", "256" },
      { "jobs         10000\n", "10000 jobs: no requested time" } },
    { "gavel", "gavel/msr_seed0/2869ce.trace", GAVEL_RATES,
      { "--gpu-type", "v100", "--skip", "no_length" },
      { "rows         533\n" } },
    { "gavel", "gavel/msr_seed0/ed69ec.trace", GAVEL_RATES,
      { "--gpu-type", "v100" }, { "jobs         951\n" } },
    { "gavel", "gavel/physical_cluster/max_min_fairness.trace", GAVEL_RATES,
      { "--gpu-type", "v100" }, { "jobs         96\n" } },
    { "shockwave", "shockwave/120_0.2_5_100_40_25_0,0.5,0.5_0.6,0.3,0.09,"
      "0.01_multigpu_dynamic.trace", NULL, { NULL },
      { "jobs         120\n", "run time s   min 720 ", "max 18000\n" } },
    { "openb", "openb/openb_pod_list_default.csv", NULL,
      { "--skip", "never_ran" },
      { "rows         8152\n", "897 rows left out: never_ran",
        "jobs         7255\n" } },
};

static void public_traces_hold_what_their_publishers_say(void **state)
{
    const struct program *program = the_program(state);
    size_t found = 0;

    for (size_t i = 0; i < sizeof traces / sizeof traces[0]; i++) {
        char path[900], side[900], *said;
        const char *more[MORE_MAX] = { NULL };
        size_t n = 0;

        if (!shared_file(traces[i].file, path) ||
            (traces[i].side && !shared_file(traces[i].side, side)))
            continue;
        for (; n < MORE_MAX - 2 && traces[i].more[n]; n++)
            more[n] = traces[i].more[n];
        if (traces[i].side) {
            more[n++] = "--lengths";
            more[n++] = side;
        }
        if (import(program, traces[i].format, path, more, &said) != 0)
            fail_msg("%s", said);
        for (size_t r = 0; r < 4 && traces[i].report[r]; r++)
            has(said, traces[i].report[r]);
        free(said);
        found++;
    }
    if (found == 0)
        skip();
}

static void all_workloads_of_pollux_and_sia_have_160_jobs(void **state)
{
    static const char *const file[] = {
        "sia/philly/workload-%d.csv",
        "pollux/simulator/workloads/workload-%d.csv" };
    const struct program *program = the_program(state);
    char name[128], path[900], side[160], *said;
    const char *more[MORE_MAX] = { "--lengths", side };

    write_file(in_folder(program, "side", side),
               "application,run_s\ncifar10,600\ndeepspeech2,3600\nncf,400\n"
               "bert,9000\nyolov3,7200\nimagenet,40000\n");
    for (int i = 0; i < 16; i++) {
        snprintf(name, sizeof name, file[i / 8], i % 8 + 1);
        if (!shared_file(name, path))
            skip();
        if (import(program, i < 8 ? "sia" : "pollux", path, more, &said) != 0)
            fail_msg("%s", said);
        has(said, "jobs         160\n");
        free(said);
    }
}

static void an_imported_cluster10_waits_as_published(void **state)
{
    static const char *const none[MORE_MAX] = { NULL };
    const struct program *program = the_program(state);
    char path[900], cell[64], *said, *summary;

    if (!shared_file("msitp/raw/cluster10.csv", path))
        skip();
    assert_int_equal(import(program, "itp", path, none, &said), 0);
    free(said);
    summary = fifo(program, "w.yaml", 2);
    assert_true(csv_cell(summary, "fcfs", NULL, "wait_mean_s", cell,
                         sizeof cell));
    snprintf(path, sizeof path, "%.3f", strtod(cell, NULL));
    assert_string_equal(path, "38365.788");
    free(summary);
}

int main(int argc, char **argv)
{
    struct program program;
#define WITH(TEST) cmocka_unit_test_prestate(TEST, &program)
    const struct CMUnitTest tests[] = {
        WITH(each_format_turns_its_rows_into_the_same_jobs),
        WITH(each_format_is_read_inline_as_it_is_imported),
        WITH(inline_faults_are_refused_at_their_place),
        WITH(deadlines_reach_the_workload),
        WITH(windows_line_ends_and_a_byte_order_mark_change_nothing),
        WITH(faulty_rows_are_refused_at_their_place),
        WITH(a_truncated_gzip_is_refused),
        WITH(a_field_without_end_is_refused),
        WITH(numbers_in_exponent_form_are_the_same_numbers),
        WITH(usage_errors_name_what_is_there),
        WITH(formats_and_reasons_are_listed),
        WITH(what_was_exported_is_imported_unchanged),
        WITH(jobs_with_phases_are_not_exported),
        WITH(a_run_says_what_its_trace_left_out),
        WITH(an_imported_trace_runs_as_the_trace_itself),
        WITH(public_traces_hold_what_their_publishers_say),
        WITH(all_workloads_of_pollux_and_sia_have_160_jobs),
        WITH(an_imported_cluster10_waits_as_published),
    };
    int failed;

    (void)argc;
    program_open(&program, argv[0]);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}

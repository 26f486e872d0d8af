/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_test.c - `clustersim import`: each format with a sample made up here,
 * imported and read inline.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/import_aid.h"

static const struct sample samples[] = {
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
    { "swf", SWF_1 "2 5 -1 9 2 -1 -1 2 60 -1 0 7 -1 -1 -1 -1 -1 -1\n"
      "3 6 -1 8 2 -1 -1 2 60 -1 5 7 -1 -1 -1 -1 -1 -1\n"
      "4 7 -1 7 2 -1 -1 2 60 -1 -1 7 -1 -1 -1 -1 -1 -1\n", NULL, { NULL },
      "job,submit_s,run_s,gpus,limit_s,tenant\n1,0,10,2,60,7\n2,5,9,2,60,7\n3,6,8,2,60,7\n"
      "4,7,7,2,60,7\n", "\n  2 jobs: failed or were cancelled; replayed as they ran\n" },
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
      /* 400 and 15 GPU-seconds, of which each has 30 s of 8 GPUs. */
      "load         0.8646 of 8 GPUs over the span; the largest job takes 4" },
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
      "-1 -1 -1 {3,4} q_2h 1:ppn=2: mem=4\n2 1356994900 -1 20 1 -1 -1 1 60 -1 1 7 -1 -1 -1 "
      "-1 -1 -1 -1 q_2h 1:ppn=1: mem=4\n", NULL, { NULL },
      "job,submit_s,run_s,gpus,limit_s,tenant\n1,1356994800,10,2,60,7\n"
      "2,1356994900,20,1,60,7\n",
      "jobs         2\n" },
    { "philly-log", PHILLY_LOG, NULL,
      { "--skip", "never_ran,still_running,no_submit_time", NULL },
      "job,submit_s,run_s,gpus,tenant\na1,1507338699,74,1,vc\n"
      "a2,1507338700,170,2,vc\n",
      "1 rows left out: never_ran\n  1 rows left out: no_submit_time\n"
      "  1 rows left out: still_running\n"
      "  1 jobs: failed or were cancelled; replayed as they ran\n"
      "  1 jobs: ran in several attempts; run time is their sum\n"
      "  1 jobs: have attempts without start or end" },
    { "philly-log", "[" PHILLY_JOB("a1", "Pass", "\"2017-10-07 01:11:39\"",
      PHILLY_RUN("\"2017-10-07 01:12:00\"", "\"2017-10-07 01:13:00\"", "\"gpu0\"") ", "
      PHILLY_RUN("\"2017-10-07 01:14:00\"", "\"2017-10-07 01:13:59\"", "\"gpu0\"")) ",\n"
      PHILLY_JOB("a2", "Pass", "\"2017-10-07 01:11:40\"",
      PHILLY_RUN("\"2017-10-07 01:12:00\"", "\"2017-10-07 01:13:00\"", "\"gpu0\"")) "]\n", NULL,
      { "--skip", "run_time_not_positive", NULL },
      "job,submit_s,run_s,gpus,tenant\na2,1507338700,60,1,vc\n",
      "1 rows left out: run_time_not_positive" },
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

/* As Windows' editors save it; to be freed. */
static char *as_windows(const char *text)
{
    char *out = malloc(2 * strlen(text) + 4), *to = out;

    assert_non_null(out);
    to += sprintf(to, "\xEF\xBB\xBF");
    for (; *text; *to++ = *text++)
        if (*text == '\n')
            *to++ = '\r';
    *to = '\0';
    return out;
}

static void line_ends_and_marks_of_windows_are_told(void **state)
{
    const struct program *program = the_program(state);
    char path[160], line[80], *said, *csv;

    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        struct sample sample = samples[i];
        char *text = as_windows(sample.text);
        unsigned lines = 0;

        for (const char *c = text; *c; c++)
            lines += *c == '\n';
        sample.text = text;
        if (import_sample(program, &sample, &said) != 0)
            fail_msg("%s: %s", sample.format, said);
        has(said, "  a byte order mark before the first line: passed over\n");
        snprintf(line, sizeof line, "  %u of %u lines end with CR LF\n", lines,
                 lines);
        has(said, line);
        assert_null(strstr(said, "has no end"));
        csv = program_read(in_folder(program, "w.csv", path));
        assert_string_equal(csv, sample.csv);
        free(csv);
        free(said);
        free(text);
    }
}

static void a_last_line_without_an_end_is_told(void **state)
{
    const struct program *program = the_program(state);
    const char *none[] = { NULL };
    char in[160], *said;

    write_file(in_folder(program, "in", in), ITP "u-1,5,700,8");
    assert_int_equal(import(program, "itp", in, none, &said), 0);
    has(said, "  the last line has no end: if the file was cut there");
    free(said);
}

/* A remark is of the rows that it is true of, and of no others. */
/* More jobs of one kind than of the other, so that none is taken for the other. */
static void jobs_that_failed_are_counted(void **state)
{
    const struct program *program = the_program(state);
    static const char alea[] = " 10 2 -1 -1 4 60 -1 ", q[] = " 7 -1 -1 -1 -1 -1 -1 -1 q 1 mem=4\n";
    char *said, text[1000], wanted[80];
    const struct { struct sample of; int failed; } made[] = {
        { { "alea", text, NULL, { NULL }, NULL, NULL }, 2 },
        { { "openb", OPENB "p0,1,1,2,1000,,LS,Running,1,30,10\np1,1,1,1,1000,,LS,Failed,2,30,10\n"
            "p2,1,1,1,1000,,BE,Running,3,30,10\np3,1,1,1,1000,,BE,Succeeded,3,30,10\n", NULL,
            { NULL }, NULL, NULL }, 1 },
        { { "pai", "j1,tf,1.0,Terminated,5.0,15.0,600.0,29.3,100.0,V100\n"
            "j2,tf,1.0,Failed,6.0,16.0,600.0,29.3,100.0,T4\n"
            "j3,tf,1.0,Failed,7.0,16.0,600.0,29.3,100.0,T4\n", NULL, { NULL }, NULL, NULL }, 2 },
        { { "acme", "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,"
            "end_time,duration,queue,gpu_time\n"
            "1,u5,1,8,128,Other,COMPLETED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,"
            "2023-05-17 11:01:16+00:00,18,10.0,144.0\n"
            "2,u5,1,8,128,Other,COMPLETED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,"
            "2023-05-17 11:01:16+00:00,18,10.0,144.0\n"
            "3,u5,1,8,128,Other,CANCELLED,2023-05-17 11:00:58+00:00,2023-05-17 11:01:08+00:00,"
            "2023-05-17 11:01:16+00:00,18,10.0,144.0\n", NULL, { NULL }, NULL, NULL }, 1 },
        { { "philly-log", "[" PHILLY_JOB("a1", "Pass", "\"2017-10-07 01:11:39\"",
            PHILLY_RUN("\"2017-10-07 01:12:09\"", "\"2017-10-07 01:13:23\"", "\"gpu0\"")) ",\n"
            PHILLY_JOB("a2", "Killed", "\"2017-10-07 01:11:40\"",
            PHILLY_RUN("\"2017-10-07 01:12:00\"", "\"2017-10-07 01:13:00\"", "\"gpu0\"")) ",\n"
            PHILLY_JOB("a3", "Failed", "\"2017-10-07 01:11:41\"",
            PHILLY_RUN("\"2017-10-07 01:12:00\"", "\"2017-10-07 01:13:00\"", "\"gpu0\""))
            "]\n", NULL, { NULL }, NULL, NULL }, 2 },
    };

    snprintf(text, sizeof text, "1 0 -1%s1%s2 1 -1%s0%s3 2 -1%s5%s4 3 -1%s1%s5 4 -1%s1%s", alea, q,
             alea, q, alea, q, alea, q, alea, q);
    for (size_t i = 0; i < sizeof made / sizeof made[0]; i++) {
        if (import_sample(program, &made[i].of, &said) != 0)
            fail_msg("%s: %s", made[i].of.format, said);
        snprintf(wanted, sizeof wanted, "\n  %d jobs: failed", made[i].failed);
        has(said, wanted);
        free(said);
    }
}

static void remarks_count_their_rows(void **state)
{
    static const struct { const char *format, *text, *said, *unsaid; } rows[] = {
        { "shockwave", "A\tc\td\t-n\t1\t9\t2\tgns\t1\t-1.0\t720\t4\n"
          "A\tc\td\t-n\t1\t9\t2\tstatic\t1\t-1.0\t720\t5\n",
          "  1 jobs: change their batch size", "other than" },
        { "shockwave", "A\tc\td\t-n\t1\t9\t2\tstatic\t1\t-1.0\t720\t4\n",
          "jobs         1\n", "change their batch size" },
        { "swf", "1 0 -1 10 2 -1 -1 4 60 -1 1 7 -1 -1 -1 -1 -1 -1\n"
          "2 5 -1 20 4 -1 -1 4 -1 -1 1 -1 -1 -1 -1 -1 -1 -1\n",
          "jobs         2\n", "GPUs are those requested" },
        { "philly", "timestamp,duration,num_gpus,gpu_time,cluster\n"
          "2017-10-09 00:00:00,60.0,2,120.0,vc1\n2017-10-09 00:00:00,30.0,1,30.0,vc2\n",
          "jobs         2\n", "submitted before the job above" },
        { "itp", "job_id,submission_time,num_iteration,model_name,deadline,batch_size,"
          "num_gpu,duration\nu-1,5,1,bert,705,1,8,700\n",
          "jobs         1\n", "deadline is before" },
        { "helios", "job_id,user,vc,gpu_num,cpu_num,state,submit_time,duration\n"
          "2,u,vcA,8,4,COMPLETED,2020-04-01 00:00:01,9\n",
          "jobs         1\n", "failed or were cancelled" },
    };
    const struct program *program = the_program(state);
    const char *none[] = { NULL };
    char in[160], *said;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        write_file(in_folder(program, "in", in), rows[i].text);
        if (import(program, rows[i].format, in, none, &said) != 0)
            fail_msg("%s: %s", rows[i].format, said);
        has(said, rows[i].said);
        if (strstr(said, rows[i].unsaid))
            fail_msg("%s: %s", rows[i].format, said);
        free(said);
    }
}

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
        { "itp", "submission_time,job_id,duration,num_gpu\n5,a,7,1\n6,a,7,1\n", "", "in:3:3:",
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

static void a_csv_that_lacks_a_column_is_refused_at_its_header(void **state)
{
    const struct program *program = the_program(state);
    char in[160], out[160], *said;
    const char *words[] = { "import", "csv", in_folder(program, "in", in),
                            "-o", in_folder(program, "w.yaml", out), NULL };

    write_file(in, "submit_s,run_s\n0,5\n");
    assert_int_equal(run(program, words, &said), 3);
    has(said, "in:1:1:");
    has(said, "no column gpus");
    free(said);
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

int main(int argc, char **argv)
{
    struct program program;
#define WITH(TEST) cmocka_unit_test_prestate(TEST, &program)
    const struct CMUnitTest tests[] = {
        WITH(each_format_turns_its_rows_into_the_same_jobs),
        WITH(line_ends_and_marks_of_windows_are_told),
        WITH(a_last_line_without_an_end_is_told),
        WITH(jobs_that_failed_are_counted),
        WITH(remarks_count_their_rows),
        WITH(each_format_is_read_inline_as_it_is_imported),
        WITH(inline_faults_are_refused_at_their_place),
        WITH(a_csv_that_lacks_a_column_is_refused_at_its_header),
        WITH(deadlines_reach_the_workload),
        WITH(windows_line_ends_and_a_byte_order_mark_change_nothing),
        WITH(numbers_in_exponent_form_are_the_same_numbers),
        WITH(formats_and_reasons_are_listed),
    };
    int failed;

    (void)argc;
    program_open(&program, argv[0]);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}

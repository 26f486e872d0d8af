/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * wrong_fields_test.c - each field of each row of a job trace, replaced by what may stand
 * there by mistake: the row is refused at its line, or it is a job, and in either case the
 * other rows are what they were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "tests/aid/scratch.h"
#include "workloads/formats/import.h"

#define ROWS 3

/* One GPU of an LM takes four steps a second. */
#define LENGTHS "{\"v100\": {\"('LM (batch size 10)', 1)\": {\"null\": 4.0}}}"

static const struct trace {
    const char *format;
    char separator;
    const char *head;           /* lines before the rows; "": none */
    const char *row[ROWS];
    const char *lengths;        /* the file of lengths; NULL: it needs none */
    bool typed;                 /* lengths are those of type v100 */
} traces[] = {
    { "csv", ',', "job,submit_s,run_s,gpus,limit_s,deadline_s,tenant,priority,cores,memory_mib\n",
      { "a,0,10,1,20,40,u,1,2,3", "b,5,11,2,22,41,v,2,0,0", "c,9,12,4,23,42,w,3,4,5" },
      NULL, false },
    { "swf", ' ', "; Version: 2.2\n",
      { "1 0 -1 10 2 -1 -1 4 60 -1 1 7 -1 -1 -1 -1 -1 -1",
        "2 5 -1 20 3 -1 -1 4 61 -1 1 8 -1 -1 -1 -1 -1 -1",
        "3 6 -1 30 -1 -1 -1 4 62 -1 0 9 -1 -1 -1 -1 -1 -1" }, NULL, false },
    { "philly", ',', "timestamp,duration,num_gpus,gpu_time,cluster\n",
      { "2017-10-09 00:00:00,60.0,2,120.0,vc1", "2017-10-09 00:01:00,30.0,1,30.0,vc2",
        "2017-10-09 00:02:00,20.5,4,82.0,vc1" }, NULL, false },
    { "itp", ',', "job_id,submission_time,duration,num_gpu,deadline\n",
      { "u-1,5,700,8,900", "u-2,6,710,4,901", "u-3,7,720,2,902" }, NULL, false },
    { "tiresias", ',', "job_id,num_gpu,submit_time,iterations,model_name,duration,interval\n",
      { "0,4,0,9,vgg19,100,30", "1,1,30,9,vgg19,15,0", "2,2,40,9,vgg19,16,0" }, NULL, false },
    { "helios", ',', "job_id,user,vc,gpu_num,cpu_num,state,submit_time,duration\n",
      { "1,u,vcA,1,4,COMPLETED,2020-04-01 00:00:00,9", "2,u,vcA,8,4,FAILED,2020-04-01 00:00:01,8",
        "3,u,vcB,2,4,COMPLETED,2020-04-01 00:00:02,7" }, NULL, false },
    { "shockwave", '\t', "",
      { "A\tc\td\t-n\t1\t9\t2\tstatic\t1\t-1.0\t720\t4",
        "A\tc\td\t-n\t1\t9\t4\tstatic\t1\t-1.0\t721\t5",
        "A\tc\td\t-n\t1\t9\t1\tstatic\t1\t-1.0\t722\t6" }, NULL, false },
    { "openb", ',', "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,"
      "creation_time,deletion_time,scheduled_time\n",
      { "p0,1,1,2,1000,,LS,Running,1,30,10", "p1,1,1,1,460,V100M16,LS,Running,2,30,10",
        "p2,1,1,0,0,,BE,Failed,3,30,10" }, NULL, false },
    { "alea", ' ', "; MetaCentrum\n",
      { "1 1356994800 -1 10 2 -1 -1 4 60 -1 1 7 -1 -1 -1 -1 -1 -1 {3,4} q_2h 1:ppn=2: mem=4",
        "2 1356994801 -1 11 2 -1 -1 4 61 -1 1 7 -1 -1 -1 -1 -1 -1 {3,4} q_2h 1:ppn=2: mem=4",
        "3 1356994802 -1 12 2 -1 -1 4 62 -1 1 8 -1 -1 -1 -1 -1 -1 {3,4} q_2h 1:ppn=2: mem=4" },
      NULL, false },
    { "pai", ',', "job_name,task_name,inst_num,status,start_time,end_time,plan_cpu,plan_mem,"
      "plan_gpu,gpu_type\n",
      { "j1,tf,1,Terminated,5.0,15.0,600.0,29.3,100,P100",
        "j2,tf,2,Terminated,6.0,16.5,600.0,29.3,100,T4",
        "j3,tf,1,Failed,7.0,17.5,600.0,29.3,50,T4" }, NULL, false },
    { "spot2026", ',', "job_name,organization,gpu_model,cpu_request,gpu_request,worker_num,"
      "submit_time,duration,job_type\n",
      { "1,13,A10,20,1,1,0,2764799,HP", "2,57,H800,15,2,16,9,41060,Spot",
        "3,5,A10,1,4,1,10,60,HP" }, NULL, false },
    { "dlrm2025", ',', "instance_sn,role,app_name,gpu_request,creation_time,scheduled_time,"
      "deletion_time\n",
      { "i0,HN,a0,1,5,8,20", "i1,HN,a1,1,6,8,21", "i2,HN,a0,1,7,9,22" }, NULL, false },
    { "elasticflow", ',', "time,job_id,num_gpu,submit_time,start_time,end_time,ddl,executed_time,"
      "JCT,pending_time,preempt,promote,best_effort_job\n",
      { "90,7,2,5,9223372036854775807,90,95,80,85,5,0,0,0",
        "91,8,4,6,9223372036854775807,91,96,81,85,5,0,0,0",
        "92,9,1,7,9223372036854775807,92,97,82,85,5,0,0,0" }, NULL, false },
    { "acme", ',', "job_id,user,node_num,gpu_num,cpu_num,type,state,submit_time,start_time,"
      "end_time,duration,queue,gpu_time\n",
      { "1,u5,1,8,128,Other,COMPLETED,5,6,16,10,1,80", "2,u6,1,4,64,Other,FAILED,7,8,19,11,1,44",
        "3,u5,2,16,128,Other,COMPLETED,9,9,29,20,0,320" }, NULL, false },
    { "shockwave", '\t', "",
      { "LM (batch size 10)\tc\td\t-n\t1\t9\t1\tstatic\t1\t-1.0\t720\t4",
        "LM (batch size 10)\tc\td\t-n\t1\t8\t1\tstatic\t1\t-1.0\t721\t5",
        "LM (batch size 10)\tc\td\t-n\t1\t7\t1\tstatic\t1\t-1.0\t722\t6" }, LENGTHS, true },
    { "gavel", '\t', "",
      { "LM (batch size 10)\tcmd\tdir\t-n\t1\t100\t1\t1\t-1.0\t3",
        "LM (batch size 10)\tcmd\tdir\t-n\t1\t101\t1\t1\t-1.0\t4",
        "LM (batch size 10)\tcmd\tdir\t-n\t1\t102\t1\t1\t-1.0\t5" }, LENGTHS, true },
    { "pollux", ',', "name,time,application,num_replicas,batch_size\n",
      { "c-0,1,cifar10,4,128", "c-1,2,bert,2,8", "c-2,3,cifar10,1,64" },
      "application,run_s\ncifar10,600\nbert,70\n", false },
    { "sia", ',', "name,time,application,num_replicas,batch_size\n",
      { "c-0,1,cifar10,4,128", "c-1,2,bert,2,8", "c-2,3,cifar10,1,64" },
      "application,run_s\ncifar10,600\nbert,70\n", false },
};
#undef LENGTHS

static struct scratch scratch;

/* Of row r: the job of the result; NULL: none. */
static const struct import_job *job_of(const struct import_result *result, uint64_t r)
{
    for (size_t i = 0; i < result->count; i++)
        if (result->job[i].row == r)
            return &result->job[i];
    return NULL;
}

static bool same_text(const char *a, const char *b)
{
    return (a == NULL || *a == '\0') ? b == NULL || *b == '\0' : b != NULL && strcmp(a, b) == 0;
}

static bool same_numbers(const struct import_job *a, const struct import_job *b)
{
    return a->submit_ns == b->submit_ns && a->run_ns == b->run_ns && a->gpus == b->gpus &&
           a->gpu_milli == b->gpu_milli && a->limit_ns == b->limit_ns &&
           a->deadline_ns == b->deadline_ns && a->core_milli == b->core_milli &&
           a->memory_bytes == b->memory_bytes && a->priority == b->priority;
}

static bool same_job(const struct import_job *a, const struct import_job *b)
{
    return same_numbers(a, b) && same_text(a->name, b->name) && same_text(a->tenant, b->tenant) &&
           same_text(a->types, b->types);
}

/* Reads the rows, of which those that are no jobs are left out if `skips`; false: err says what is
 * wrong. */
static bool read_or_skip(struct arena *arena, const struct trace *trace,
                         const char *const row[ROWS], bool skips, struct import_result *result,
                         struct err *err)
{
    struct import_request request = { .sort = true, .gpu_type = trace->typed ? "v100" : NULL };
    char text[2000], lengths[256];

    if (trace->lengths != NULL) {
        scratch_write(&scratch, "lengths", trace->lengths);
        snprintf(lengths, sizeof lengths, "%s", scratch_path(&scratch, "lengths"));
        request.lengths = lengths;
    }

    snprintf(text, sizeof text, "%s%s\n%s\n%s\n", trace->head, row[0], row[1], row[2]);
    memset(request.skip, skips, sizeof request.skip);
    scratch_write(&scratch, "trace", text);
    request.file = scratch_path(&scratch, "trace");
    memset(err, 0, sizeof *err);
    bool good = import_read(arena, import_format_find(trace->format), &request, result, err);
    if (good != (err->kind == ERR_NONE))
        fail_msg("%s: %s, and the error is: %s\n%s", trace->format, good ? "read" : "refused",
                 err->text, text);
    return good;
}

static bool read_rows(struct arena *arena, const struct trace *trace, const char *const row[ROWS],
                      struct import_result *result, struct err *err)
{
    return read_or_skip(arena, trace, row, false, result, err);
}

/* The row with field f replaced; false: it has not so many. */
static bool replace(const struct trace *trace, const char *row, unsigned f, const char *by,
                    char *out, size_t room)
{
    const char *from = row, *to;

    for (; f > 0 && from != NULL; f--) {
        from = strchr(from, trace->separator);
        from = from == NULL ? NULL : from + 1;
    }
    if (from == NULL)
        return false;
    to = from + strcspn(from, (char[]){ trace->separator, '\0' });
    snprintf(out, room, "%.*s%s%s", (int)(from - row), row, by, to);
    return true;
}

static void other_rows_stay_what_they_are(const struct trace *trace, unsigned k, unsigned f,
                                          const char *by, const struct import_result *before)
{
    struct arena *arena = arena_new(1 << 16);
    struct import_result result;
    const char *row[ROWS] = { trace->row[0], trace->row[1], trace->row[2] };
    uint32_t line = k + 1 + (*trace->head != '\0');
    char replaced[400];
    struct err err;

    if (replace(trace, row[k], f, by, replaced, sizeof replaced)) {
        row[k] = replaced;
        /* What is wrong is wrong where rows are left out, too. */
        if (read_or_skip(arena, trace, row, true, &result, &err))
            for (unsigned r = 0; r < ROWS; r++)
                assert_true(r == k || same_job(job_of(&result, r), job_of(before, r)));
        if (!read_rows(arena, trace, row, &result, &err)) {
            if (err.pos.line != line)
                fail_msg("%s: field %u of row %u is '%s': line %u: %s", trace->format, f, k, by,
                         err.pos.line, err.text);
        } else {
            const struct import_job *own = job_of(&result, k);
            for (unsigned r = 0; r < ROWS; r++)
                if (r != k && !same_job(job_of(&result, r), job_of(before, r)))
                    fail_msg("%s: field %u of row %u is '%s': row %u is another", trace->format, f,
                             k, by, r);
            assert_non_null(own);
            if (strcmp(by, "x") == 0 && !same_numbers(own, job_of(before, k)))
                fail_msg("%s: field %u of row %u is no number, and its job is another",
                         trace->format, f, k);
            if (own->gpus < 0 || own->run_ns <= 0 || own->submit_ns < 0 || own->limit_ns < 0)
                fail_msg("%s: field %u of row %u is '%s': %lld GPUs for %lld ns", trace->format, f,
                         k, by, (long long)own->gpus, (long long)own->run_ns);
        }
    }
    arena_free(arena);
}

static void a_wrong_field_is_refused_or_a_job_and_others_stay(void **state)
{
    static const char *const by[] = { "x", "", "-1", "-7", "0", "1.5", "1e400", "nan",
                                      "99999999999999999999" };

    (void)state;
    scratch_open(&scratch);
    for (size_t t = 0; t < sizeof traces / sizeof traces[0]; t++) {
        struct arena *arena = arena_new(1 << 16);
        struct import_result before;
        struct err err;
        if (!read_rows(arena, &traces[t], traces[t].row, &before, &err))
            fail_msg("%s: %u: %s", traces[t].format, err.pos.line, err.text);
        assert_int_equal(before.count, ROWS);
        for (unsigned k = 0; k < ROWS; k++)
            for (unsigned f = 0; f < 24; f++)
                for (size_t b = 0; b < sizeof by / sizeof by[0]; b++)
                    other_rows_stay_what_they_are(&traces[t], k, f, by[b], &before);
        arena_free(arena);
    }
    scratch_close(&scratch);
}

/* Of each pair of rows that are exchanged the jobs are the same, and their places too. */
static void the_order_of_rows_is_that_of_jobs_alone(void **state)
{
    (void)state;
    scratch_open(&scratch);
    for (size_t t = 0; t < sizeof traces / sizeof traces[0]; t++) {
        struct arena *arena = arena_new(1 << 16);
        struct import_result before, after;
        struct err err;
        const char *row[ROWS] = { traces[t].row[2], traces[t].row[0], traces[t].row[1] };
        assert_true(read_rows(arena, &traces[t], traces[t].row, &before, &err));
        if (!read_rows(arena, &traces[t], row, &after, &err))
            fail_msg("%s: %s", traces[t].format, err.text);
        assert_int_equal(after.count, ROWS);
        assert_int_equal(before.unsorted, 0);
        assert_int_equal(after.unsorted, 1);
        for (uint32_t r = 0; r < ROWS; r++) {
            const struct import_job *a = job_of(&before, r), *b = job_of(&after, (r + 1) % ROWS);
            if (!same_numbers(a, b) || !same_text(a->tenant, b->tenant))
                fail_msg("%s: row %u", traces[t].format, r);
            assert_true(r == 0 || after.job[r].submit_ns >= after.job[r - 1].submit_ns);
        }
        arena_free(arena);
    }
    scratch_close(&scratch);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_field_is_refused_or_a_job_and_others_stay),
        cmocka_unit_test(the_order_of_rows_is_that_of_jobs_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

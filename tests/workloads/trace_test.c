/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_test.c - trace files: CSV and SWF, plain and gzip; counts of what was
 * left out; every fault at its line; memory that does not grow with the file.
 *
 * Streams of the public traces are checked by a strict FIFO queue of a dozen
 * lines, whose mean wait is known for them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "sim/base/clock.h"
#include "tests/aid/workload_aid.h"

#define CSV_KEYS "columns: {job: id, submit: at, duration: run, gpus: n"

static const char *make_file(struct aid *aid, const char *name,
                             const char *text)
{
    char *path = arena_alloc(aid->arena, 128, 1);
    char folder[] = "/tmp/trace_test.XXXXXX";
    FILE *file;

    assert_non_null(mkdtemp(folder));
    snprintf(path, 128, "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
    return path;
}

static void remove_file(const char *path)
{
    char folder[128];

    remove(path);
    strcpy(folder, path);
    *strrchr(folder, '/') = '\0';
    rmdir(folder);
}

static const struct workload_spec *read_trace(struct aid *aid,
                                              const char *file,
                                              const char *keys)
{
    char text[1024];

    snprintf(text, sizeof text, "trace: {file: \"%s\", %s}\n", file, keys);
    return aid_workload(aid, "w.yaml", text);
}

static const struct workload_spec *good(struct aid *aid, const char *file,
                                        const char *keys)
{
    const struct workload_spec *spec = read_trace(aid, file, keys);

    if (spec == NULL)
        fail_msg("%s", aid_message(aid));
    return spec;
}

/* Long traces have millions of pods of a few kinds. */
static void pods_that_ask_alike_share_one_form(void **state)
{
    struct aid aid;
    struct job_birth job[6];

    (void)state;
    aid_open(&aid);
    const char *path = make_file(&aid, "pods.csv",
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
        "deletion_time,scheduled_time\n"
        "p0,1000,64,1,1000,,LS,Running,1,30,10\np1,1000,64,2,1000,,LS,Running,2,30,10\n"
        "p2,1000,64,1,1000,,LS,Running,3,30,10\np3,1000,64,0,0,,LS,Running,4,30,10\n"
        "p4,1000,65,1,1000,,LS,Running,5,30,10\np5,1000,64,0,0,,LS,Running,6,30,10\n");
    assert_int_equal(aid_jobs(&aid, good(&aid, path, "format: openb"), 1, 0, job, 6), 6);
    for (int i = 0; i < 6; i++)
        assert_non_null(job[i].request.form);
    assert_ptr_equal(job[0].request.form, job[2].request.form);
    assert_ptr_equal(job[3].request.form, job[5].request.form);
    assert_ptr_not_equal(job[0].request.form, job[3].request.form);
    assert_ptr_not_equal(job[0].request.form, job[4].request.form);
    remove_file(path);
    aid_close(&aid);
}

/* A job is known by the number of its row, whatever was left out or sorted before it. */
static void jobs_keep_the_numbers_of_their_rows(void **state)
{
    static const uint64_t sorted[] = { 4, 2, 3, 0 }, as_they_stand[] = { 0, 1, 3, 4 };
    struct aid aid;
    struct job_birth job[6];

    (void)state;
    aid_open_generic(&aid, 8);
    const char *path = make_file(&aid, "t.csv", "id,at,run,n\na,50,5,1\nb,10,5,99\nc,10,5,1\n"
                                 "d,10,5,2\ne,0,5,1\n");
    assert_int_equal(aid_jobs(&aid, good(&aid, path, CSV_KEYS "}, unsorted: sort, skip: "
                                         "{larger_than_cluster: true}"), 1, 0, job, 6), 4);
    for (int i = 0; i < 4; i++)
        assert_true(job[i].truth.seed == sorted[i]);
    remove_file(path);
    path = make_file(&aid, "pods.csv",
        "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"
        "deletion_time,scheduled_time\n"
        "p0,1000,64,1,1000,,LS,Running,1,30,10\np1,1000,64,1,1000,,LS,Running,2,30,10\n"
        "p2,1000,64,1,1000,,LS,Pending,3,30,\np3,1000,64,1,1000,,LS,Running,4,30,10\n"
        "p4,1000,64,1,1000,,LS,Running,5,30,10\n");
    assert_int_equal(aid_jobs(&aid, good(&aid, path, "format: openb, skip: {never_ran: true}"), 1,
                              0, job, 6), 4);
    for (int i = 0; i < 4; i++)
        assert_true(job[i].truth.seed == as_they_stand[i]);
    remove_file(path);
    aid_close(&aid);
}

static void csv_rows_become_jobs_with_exact_times(void **state)
{
    struct aid aid;
    const char *path;
    const struct workload_spec *spec;
    struct job_birth job[4];

    (void)state;
    aid_open_generic(&aid, 8);
    path = make_file(&aid, "t.csv",
                     "id,at,run,n,max,who,prio\n"
                     "a,100,552.21,2,600,alice,1\n"
                     "\"b, c\",100,0.000000001,8,-1,bob,-2\r\n"
                     "d, 100.5 ,7,1,0,alice,0\n\n");
    spec = good(&aid, path, "origin: first, " CSV_KEYS
                            ", limit: max, tenant: who, priority: prio}");
    assert_int_equal(aid_jobs(&aid, spec, 1, 0, job, 4), 3);
    assert_int_equal(job[0].truth.duration_ns, INT64_C(552210000000));
    assert_int_equal(job[1].truth.duration_ns, 1);
    assert_string_equal(job[1].request.name, "b, c");
    assert_int_equal(job[0].request.submit_ns, 0);
    assert_int_equal(job[1].request.submit_ns, 0);
    assert_int_equal(job[2].request.submit_ns, 500000000);
    assert_int_equal(job[0].request.limit_ns, 600 * CLOCK_NS_PER_S);
    assert_int_equal(job[1].request.limit_ns, 0);
    assert_int_equal(job[1].request.priority, -2);
    assert_ptr_equal(job[0].request.tenant, job[2].request.tenant);
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(job[i].request.id.i, i);
    assert_int_equal(job_role_gpus(&job[1].request, 0), 8);
    assert_int_equal(workload_counts(spec).rows, 3);
    assert_int_equal(workload_counts(spec).blank_lines, 1);
    spec = good(&aid, path, "origin: file, " CSV_KEYS "}");
    assert_int_equal(aid_jobs(&aid, spec, 1, 0, job, 1), 1);
    assert_int_equal(job[0].request.submit_ns, 100 * CLOCK_NS_PER_S);
    spec = good(&aid, path, CSV_KEYS "}");
    assert_int_equal(aid_jobs(&aid, spec, 1, 0, job, 1), 1);
    assert_int_equal(job[0].request.submit_ns, 0);
    remove_file(path);
    aid_close(&aid);
}

static void dates_are_read_as_utc(void **state)
{
    struct aid aid;
    const char *path;
    struct job_birth job[3];

    (void)state;
    aid_open_generic(&aid, 8);
    path = make_file(&aid, "t.csv",
                     "id,at,run,n\n"
                     "a,1970-01-01 00:00:01,5,1\n"
                     "b,2017-10-09 07:01:55,66.0,1\n"
                     "c,2020-03-01T00:00:00,66.0,1\n");
    assert_int_equal(aid_jobs(&aid, good(&aid, path, "origin: file, "
                                         CSV_KEYS "}"), 1, 0, job, 3), 3);
    assert_int_equal(job[0].request.submit_ns, CLOCK_NS_PER_S);
    /* date -u -d '2017-10-09 07:01:55' +%s */
    assert_int_equal(job[1].request.submit_ns,
                     1507532515 * CLOCK_NS_PER_S);
    assert_int_equal(job[2].request.submit_ns,
                     1583020800 * CLOCK_NS_PER_S);
    /* Without the key, time 0 is the first job. */
    assert_int_equal(aid_jobs(&aid, good(&aid, path, CSV_KEYS "}"), 1, 0,
                              job, 3), 3);
    assert_int_equal(job[1].request.submit_ns,
                     1507532514 * CLOCK_NS_PER_S);
    remove_file(path);
    aid_close(&aid);
}

static const char swf[] =
    "; Version: 2.2\n"
    ";\n"
    "  1  10 5 100  4 -1 -1  8  200 -1 1 1 1 -1 -1 1 -1 -1\n"
    "  2  10 5 100 -1 -1 -1  8   -1 -1 1 1 1 -1 -1 1 -1 -1\n"
    "  3  20 5  -1  4 -1 -1  8  200 -1 1 1 1 -1 -1 1 -1 -1\n"
    "  4  30 5   7  1 -1 -1 -1  200 -1 1 1 1 -1 -1 1 -1 -1\n \n";

static void swf_takes_allocated_then_requested_processors(void **state)
{
    struct aid aid;
    const char *path;
    const struct workload_spec *spec;
    struct job_birth job[4];
    struct source_counts counts;

    (void)state;
    aid_open_generic(&aid, 8);
    path = make_file(&aid, "t.swf", swf);
    spec = good(&aid, path, "format: swf, origin: first, estimate: "
                            "requested, skip: {run_time_not_positive: true}");
    assert_int_equal(aid_jobs(&aid, spec, 1, 0, job, 4), 3);
    assert_int_equal(job[0].request.gpus, 4);
    assert_int_equal(job[0].request.limit_ns, 200 * CLOCK_NS_PER_S);
    assert_int_equal(job[1].request.gpus, 8);
    assert_int_equal(job[1].request.limit_ns, 0);
    assert_int_equal(job[2].request.submit_ns, 20 * CLOCK_NS_PER_S);
    counts = workload_counts(spec);
    assert_int_equal(counts.rows, 4);
    assert_int_equal(counts.jobs, 3);
    assert_int_equal(counts.skipped_run_time, 1);
    assert_int_equal(workload_estimate(spec), ESTIMATE_REQUESTED);
    remove_file(path);
    aid_close(&aid);
}

/* As RLScheduler's simulator takes them. */
static void unknown_run_times_are_those_that_are_said(void **state)
{
    struct aid aid;
    const char *path;
    const struct workload_spec *spec;
    struct job_birth job[4];
    struct source_counts counts;

    (void)state;
    aid_open_generic(&aid, 8);
    path = make_file(&aid, "t.swf", swf);
    spec = good(&aid, path, "format: swf, unknown_run_time: 10s");
    assert_int_equal(aid_jobs(&aid, spec, 1, 0, job, 4), 4);
    uint32_t tens = 0;
    for (uint32_t i = 0; i < 4; i++)
        tens += job[i].truth.duration_ns == 10 * CLOCK_NS_PER_S;
    assert_int_equal(tens, 1);
    counts = workload_counts(spec);
    assert_int_equal(counts.jobs, 4);
    assert_int_equal(counts.assumed_run_time, 1);
    assert_int_equal(counts.skipped_run_time, 0);
    assert_null(read_trace(&aid, path, "format: swf"));
    assert_non_null(strstr(aid_message(&aid), "unknown_run_time: 10s"));
    remove_file(path);
    aid_close(&aid);
}

static void gzip_gives_the_same_jobs_as_plain(void **state)
{
    struct aid aid;
    const char *plain;
    char packed[160];
    gzFile file;
    struct job_birth a[8], b[8];
    size_t count;
    static const char keys[] =
        "format: swf, skip: {run_time_not_positive: true}";

    (void)state;
    aid_open_generic(&aid, 8);
    plain = make_file(&aid, "t.swf", swf);
    snprintf(packed, sizeof packed, "%s.gz", plain);
    file = gzopen(packed, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, swf, sizeof swf - 1), sizeof swf - 1);
    gzclose(file);
    count = aid_jobs(&aid, good(&aid, plain, keys), 1, 0, a, 8);
    assert_int_equal(aid_jobs(&aid, good(&aid, packed, keys), 1, 0, b, 8),
                     count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(a[i].request.submit_ns, b[i].request.submit_ns);
        assert_int_equal(a[i].truth.duration_ns, b[i].truth.duration_ns);
        assert_int_equal(a[i].request.gpus, b[i].request.gpus);
        assert_string_equal(a[i].request.name, b[i].request.name);
    }
    remove(packed);
    remove_file(plain);
    aid_close(&aid);
}

static void slices_count_what_they_leave_out(void **state)
{
    struct aid aid;
    const char *path;
    const struct workload_spec *spec;
    struct job_birth job[9];

    (void)state;
    aid_open_generic(&aid, 8);
    path = make_file(&aid, "t.csv", "id,at,run,n\na,100,1,1\nb,110,1,1\n"
                                    "c,120,1,1\nd,130,1,1\ne,140,1,1\n");
    spec = good(&aid, path, "origin: first, slice: {from: 10s, for: 30s}, "
                            CSV_KEYS "}");
    assert_int_equal(aid_jobs(&aid, spec, 1, 0, job, 9), 3);
    assert_string_equal(job[0].request.name, "b");
    assert_int_equal(job[0].request.submit_ns, 0);
    assert_int_equal(workload_counts(spec).outside_slice, 2);
    spec = good(&aid, path, "slice: {from: 10s, jobs: 2}, " CSV_KEYS "}");
    assert_int_equal(aid_jobs(&aid, spec, 1, 0, job, 9), 2);
    assert_string_equal(job[1].request.name, "c");
    /* `where` leaves out a, so that the slice begins 10 s after b. */
    spec = good(&aid, path, "where: 'id != \"a\"', slice: {from: 10s, for: 20s}, " CSV_KEYS "}");
    assert_int_equal(aid_jobs(&aid, spec, 1, 0, job, 9), 2);
    assert_string_equal(job[0].request.name, "c");
    assert_string_equal(job[1].request.name, "d");
    assert_null(read_trace(&aid, path,
                           "slice: {from: 10d}, " CSV_KEYS "}"));
    assert_non_null(strstr(aid.err.text, "none of the 5 rows"));
    remove_file(path);
    aid_close(&aid);
}

/* Rows of 100 to 140 s; a is no job, as its run time is 0, and c has two GPUs.  First come the
 * rows that `where` takes, the first of which is zero of the slice, whether it is a job or not,
 * whatever `origin` says, and where in the file it stands; then the times of the slice; then
 * what `skip` leaves out; `jobs` counts what is left.  Of a file that is not sorted the rows
 * behind the last job are counted, too. */
static void where_comes_before_slice_and_slice_before_skip(void **state)
{
    static const struct { const char *keys, *jobs; int64_t first_s; uint64_t outside; } row[] = {
        { "slice: {from: 10s, for: 20s}", "bc", 0, 3 },
        { "where: 'n < 2', slice: {from: 10s, jobs: 2}", "bd", 0, 1 },
        { "where: 'id != \"a\"', slice: {from: 10s, for: 20s}", "cd", 0, 2 },
        { "where: 'id != \"a\"', slice: {from: 10s, for: 20s}, origin: file", "cd", 120, 2 },
        { "where: 'id != \"a\" and n < 2', slice: {from: 10s, for: 20s}", "d", 0, 2 },
        { "where: 'at >= 120', slice: {for: 20s}", "cd", 0, 1 },
    };
    static const char *const files[] = {
        "id,at,run,n\na,100,0,1\nb,110,1,1\nc,120,1,2\nd,130,1,1\ne,140,1,1\n",
        "id,at,run,n\ne,140,1,1\nb,110,1,1\nd,130,1,1\na,100,0,1\nc,120,1,2\n",
    };

    (void)state;
    for (int f = 0; f < 2; f++)
        for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
            struct aid aid;
            struct job_birth job[9];
            char keys[300], names[10] = "";

            aid_open_generic(&aid, 8);
            const char *path = make_file(&aid, "t.csv", files[f]);
            snprintf(keys, sizeof keys, "%s, skip: {run_time_not_positive: true}%s, " CSV_KEYS "}",
                     row[i].keys, f == 1 ? ", unsorted: sort" : "");
            const struct workload_spec *spec = good(&aid, path, keys);
            size_t jobs = aid_jobs(&aid, spec, 1, 0, job, 9);

            for (size_t k = 0; k < jobs; k++)
                strcat(names, job[k].request.name);
            if (strcmp(names, row[i].jobs) != 0 ||
                job[0].request.submit_ns != row[i].first_s * CLOCK_NS_PER_S ||
                workload_counts(spec).outside_slice != row[i].outside + (f == 1 && i == 1))
                fail_msg("%s: %s, %llu outside", keys, names,
                         (unsigned long long)workload_counts(spec).outside_slice);
            remove_file(path);
            aid_close(&aid);
        }
}

static void sorting_is_done_only_when_asked_for_and_is_stable(void **state)
{
    struct aid aid;
    const char *path;
    struct job_birth job[9];

    (void)state;
    aid_open_generic(&aid, 8);
    path = make_file(&aid, "t.csv", "id,at,run,n\na,30,1,1\nb,10,1,1\n"
                                    "c,30,1,1\nd,10,1,1\n");
    assert_null(read_trace(&aid, path, CSV_KEYS "}"));
    assert_int_equal(aid.err.pos.line, 3);
    assert_int_equal(aid_jobs(&aid, good(&aid, path, "origin: first, "
                                         "unsorted: sort, " CSV_KEYS "}"),
                              1, 0, job, 9), 4);
    assert_string_equal(job[0].request.name, "b");
    assert_string_equal(job[1].request.name, "d");
    assert_string_equal(job[2].request.name, "a");
    assert_string_equal(job[3].request.name, "c");
    assert_int_equal(job[2].request.submit_ns, 20 * CLOCK_NS_PER_S);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(job[i].request.id.i, i);
    remove_file(path);
    aid_close(&aid);
}

/* Good rows before it do not help a bad one. */
static void a_bad_row_is_refused_though_rows_are_sorted(void **state)
{
    struct aid aid;
    const char *path;

    (void)state;
    aid_open_generic(&aid, 8);
    path = make_file(&aid, "t.csv", "id,at,run,n\na,30,1,1\nb,10,1,1\nc,20,x,1\n");
    assert_null(read_trace(&aid, path, "unsorted: sort, " CSV_KEYS "}"));
    assert_int_equal(aid.err.pos.line, 4);
    remove_file(path);
    aid_close(&aid);
}

/* ---- faults ----------------------------------------------------------- */

static const struct {
    const char *text, *keys;
    unsigned line, col;
    const char *message;
} faults[] = {
    {"", CSV_KEYS "}", 0, 0, "file is empty"},
    {"id,at,run,n\n", CSV_KEYS "}", 0, 0, "file has no rows"},
    {"id,at,run,n\na,1,1,1\nb,2,x,1\n", CSV_KEYS "}", 3, 5,
     "column run must be a number of seconds, found \"x\""},
    {"id,at,run,n\na,1,1,1\nb,2,1\n", CSV_KEYS "}", 3, 1,
     "row has 3 fields, the header line has 4"},
    {"id,at,run,n\na,-1,1,1\n", CSV_KEYS "}", 2, 3,
     "column at must be at least 0, found \"-1\""},
    {"id,at,run,n\na,5,1,1\nb,4,1,1\n", CSV_KEYS "}", 3, 3,
     "submit time 4 s is before that of the row above, 5 s"},
    {"id,at,run,n\na,1,-7,1\n", CSV_KEYS "}", 2, 5,
     "column run must be greater than 0, found \"-7\""},
    {"id,at,run,n\na,1,1,0\n", CSV_KEYS "}", 2, 7,
     "column n must be greater than 0, found \"0\""},
    {"id,at,run,n\na,1,1,1.5\n", CSV_KEYS "}", 2, 7,
     "column n must be a whole number, or a part of one GPU"},
    {"id,at,run,n\na,1,1,9\n", CSV_KEYS "}", 2, 7,
     "job asks for 9 GPUs and can never run: the cluster has 8"},
    {"id,at,run,n\na,1,,1\n", CSV_KEYS "}", 2, 5, "found \"\""},
    {"id,at,run,n\n\"a,1,1,1\n", CSV_KEYS "}", 2, 1,
     "quoted field does not end"},
    {"id,at,at,n\na,1,1,1\n", CSV_KEYS "}", 1, 1,
     "column at stands twice"},
    {"1 2 3\n", "format: swf", 1, 1, "row has 3 fields, the Standard "
     "Workload Format has 18"},
    {"1 0 -1 10 2 -1 -1 4 60 -1  1 7\t-1 -1 -1 -1 -1\n", "format: swf", 1, 1,
     "row has 17 fields"},
    {"1 0 -1 10 2 -1 -1 4 60 -1 1 7 -1 -1 -1 -1 -1 -1 3 4 5\n"
     "2 5 -1 10 2 -1 -1 4 60 -1 1 7 -1 -1 -1 -1 -1 -1\t {1} q gpu\n",
     "format: swf", 2, 1, "row has 21 fields"},
    {"; only a comment\n", "format: swf", 0, 0, "file has no rows"},
    {"  3 20 5 -1 4 -1 -1 8 200 -1 1 1 1 -1 -1 1 -1 -1\n", "format: swf", 1,
     10, "column run_time must be greater than 0, found \"-1\""},
};

static void faulty_files_are_refused_at_their_line(void **state)
{
    struct aid aid;

    (void)state;
    aid_open_generic(&aid, 8);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        const char *path = make_file(&aid, "t.csv", faults[i].text);

        if (read_trace(&aid, path, faults[i].keys) != NULL)
            fail_msg("accepted: %s", faults[i].text);
        if (strstr(aid.err.text, faults[i].message) == NULL ||
            aid.err.pos.line != faults[i].line ||
            aid.err.pos.col != faults[i].col)
            fail_msg("%s\nlacks \"%s\" at %u:%u", aid_message(&aid),
                     faults[i].message, faults[i].line, faults[i].col);
        assert_string_equal(aid.err.pos.file, path);
        remove_file(path);
    }
    aid_close(&aid);
}

static const struct {
    const char *keys, *message;
} key_faults[] = {
    {"format: csv", "columns is missing"},
    {"columns: {submit: att, duration: run, gpus: n}",
     "submit names column att"},
    {"columns: {submit: att, duration: run, gpus: n}",
     "The nearest column is at."},
    {"columns: {submit: at, duration: run}", "gpus"},
    {"format: swf, columns: {submit: at, duration: run, gpus: n}",
     "columns has no meaning for format swf"},
    {"estimate: requested, " CSV_KEYS "}", "needs the column limit"},
    {"skip: {run_time_negative: true}, " CSV_KEYS "}", "run_time_negative"},
    {"format: parquet, " CSV_KEYS "}", "parquet"},
    {"role: {cores: 1e9}, " CSV_KEYS "}", "cores"},
};

static void faulty_keys_are_refused_in_the_workload_file(void **state)
{
    struct aid aid;
    const char *path;

    (void)state;
    aid_open_generic(&aid, 8);
    path = make_file(&aid, "t.csv", "id,at,run,n\na,1,1,1\n");
    for (size_t i = 0; i < sizeof key_faults / sizeof key_faults[0]; i++) {
        if (read_trace(&aid, path, key_faults[i].keys) != NULL)
            fail_msg("accepted: %s", key_faults[i].keys);
        if (strstr(aid_message(&aid), key_faults[i].message) == NULL)
            fail_msg("%s lacks \"%s\"", aid_message(&aid),
                     key_faults[i].message);
        assert_string_equal(aid.err.pos.file, "w.yaml");
        assert_int_equal(aid.err.pos.line, 1);
    }
    /* What is missing is shown as it would be written. */
    assert_null(read_trace(&aid, path, "format: csv"));
    assert_non_null(strstr(aid.err.hint, "Write columns: {submit: A, duration: B, gpus: C}"));
    remove_file(path);
    aid_close(&aid);
}

static void a_file_that_is_not_there_is_an_io_error(void **state)
{
    struct aid aid;

    (void)state;
    aid_open_generic(&aid, 8);
    assert_null(read_trace(&aid, "/nonexistent/t.csv", CSV_KEYS "}"));
    assert_int_equal(aid.err.kind, ERR_IO);
    assert_string_equal(aid.err.pos.file, "w.yaml");
    assert_non_null(strstr(aid.err.text, "'/nonexistent/t.csv', which is not there"));
    aid_close(&aid);
}

static void a_truncated_gzip_is_refused(void **state)
{
    struct aid aid;
    const char *path;
    gzFile packed;
    FILE *file;
    char bytes[4096];
    size_t count;

    (void)state;
    aid_open_generic(&aid, 8);
    path = make_file(&aid, "t.gz", "");
    packed = gzopen(path, "wb");
    gzwrite(packed, swf, sizeof swf - 1);
    gzclose(packed);
    file = fopen(path, "rb");
    count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    file = fopen(path, "wb");
    fwrite(bytes, 1, count / 2, file);
    fclose(file);
    assert_null(read_trace(&aid, path, "format: swf"));
    assert_string_equal(aid.err.pos.file, path);
    remove_file(path);
    aid_close(&aid);
}

/* Names of types are whole words between `|`, and one that the cluster has is enough.  Of the
 * rows b, d and e no type is there. */
static void types_of_a_row_are_whole_names(void **state)
{
    struct aid aid;
    const struct workload_spec *spec;

    (void)state;
    aid_open(&aid);
    const char *path = make_file(&aid, "t.csv", "id,at,run,n,of\na,1,1,1,a10\nb,1,1,1,xa10\n"
                                 "c,1,1,1,v100|a10\nd,1,1,1,v100|xa10\ne,1,1,1,a10x|100-80\n"
                                 "f,1,1,1,|a100-80|\ng,1,1,1,\n");
    spec = good(&aid, path, "skip: {type_constraint: true}, " CSV_KEYS ", gpu_types: of}");
    assert_int_equal(workload_counts(spec).jobs, 4);
    remove_file(path);
    aid_close(&aid);
}

/* 81,920 MiB are those of the largest GPU. */
static void jobs_that_need_more_memory_than_a_gpu_has_are_counted(void **state)
{
    struct aid aid;
    const struct workload_spec *spec;

    (void)state;
    aid_open(&aid);
    const char *path = make_file(&aid, "t.csv", "id,at,run,n,mib\na,1,1,1,81920\n"
                                 "b,2,1,1,81921\nc,2,1,1,90000\n");
    assert_null(read_trace(&aid, path, CSV_KEYS ", gpu_memory_mib: mib}"));
    spec = good(&aid, path, "skip: {larger_than_cluster: true}, " CSV_KEYS
                            ", gpu_memory_mib: mib}");
    assert_int_equal(workload_counts(spec).jobs, 1);
    assert_int_equal(workload_counts(spec).skipped_too_large, 2);
    remove_file(path);
    aid_close(&aid);
}

static void larger_jobs_are_left_out_only_when_asked_for(void **state)
{
    struct aid aid;
    const char *path;
    const struct workload_spec *spec;

    (void)state;
    aid_open_generic(&aid, 8);
    path = make_file(&aid, "t.csv",
                     "id,at,run,n\na,1,1,9\nb,2,1,8\nc,2,1,0\n");
    assert_null(read_trace(&aid, path, CSV_KEYS "}"));
    spec = good(&aid, path, "skip: {larger_than_cluster: true, "
                            "gpus_not_positive: true}, " CSV_KEYS "}");
    assert_int_equal(workload_counts(spec).jobs, 1);
    assert_int_equal(workload_counts(spec).skipped_too_large, 1);
    assert_int_equal(workload_counts(spec).skipped_gpus, 1);
    remove_file(path);
    aid_close(&aid);
}

/* ---- streams ---------------------------------------------------------- */

static void memory_does_not_grow_with_the_file(void **state)
{
    struct aid aid;
    const char *path;
    const struct workload_spec *spec;
    struct arena *trial;
    struct source *source;
    struct job_birth birth;
    size_t early = 0, jobs = 0;
    FILE *file;

    (void)state;
    aid_open_generic(&aid, 8);
    path = make_file(&aid, "t.csv", "");
    file = fopen(path, "w");
    fputs("id,at,run,n,who\n", file);
    for (int i = 0; i < 50000; i++)
        fprintf(file, "%d,%d,10,1,user%d\n", i, i, i % 7);
    fclose(file);
    spec = good(&aid, path, "columns: {submit: at, duration: run, gpus: n, "
                            "tenant: who}");
    trial = arena_new(0);
    source = source_open(trial, spec, 1, 0);
    while (source_next(source, &birth, &aid.err) == SOURCE_JOB)
        if (++jobs == 100)
            early = arena_used_bytes(trial);
    assert_int_equal(jobs, 50000);
    assert_int_equal(arena_used_bytes(trial), early);
    arena_free(trial);
    remove_file(path);
    aid_close(&aid);
}

struct end { int64_t at_ns; uint32_t gpus; };

/* Strict FIFO with GPUs as a count: mean wait in s and makespan. */
static void fifo(struct aid *aid, const struct workload_spec *spec,
                 uint32_t gpus, double *wait_s, double *jct_s,
                 int64_t *makespan_ns)
{
    struct source *source = source_open(aid->arena, spec, 1, 0);
    struct end *run = arena_alloc(aid->arena, gpus + 1, sizeof *run);
    struct job_birth job;
    uint32_t running = 0, free_gpus = gpus;
    int64_t now = 0, last = 0, count = 0, first = -1;

    *wait_s = *jct_s = 0.0;
    while (source_next(source, &job, &aid->err) == SOURCE_JOB) {
        uint32_t want = job_role_gpus(&job.request, 0);

        if (job.request.submit_ns > now)
            now = job.request.submit_ns;
        if (first < 0)
            first = now;
        for (;;) {              /* ends that are due, then the next ones */
            uint32_t next = 0;

            for (uint32_t i = 1; i < running; i++)
                if (run[i].at_ns < run[next].at_ns)
                    next = i;
            if (running == 0 ||
                (run[next].at_ns > now && free_gpus >= want))
                break;
            if (run[next].at_ns > now)
                now = run[next].at_ns;
            free_gpus += run[next].gpus;
            run[next] = run[--running];
        }
        free_gpus -= want;
        run[running++] = (struct end){now + job.truth.duration_ns, want};
        if (now + job.truth.duration_ns > last)
            last = now + job.truth.duration_ns;
        *wait_s += (double)(now - job.request.submit_ns) / 1e9;
        *jct_s += (double)(now - job.request.submit_ns +
                           job.truth.duration_ns) / 1e9;
        count++;
    }
    *wait_s /= (double)count;
    *jct_s /= (double)count;
    *makespan_ns = last - first;
}

static const struct {
    const char *file, *keys;
    uint32_t gpus;
    uint64_t jobs;
    double wait_s;
    int64_t makespan_s;
} public_traces[] = {
    {"traces/msitp/raw/cluster10.csv",
     "columns: {job: job_id, submit: submission_time, duration: duration, "
     "gpus: num_gpu}", 16, 260, 38365.788, 2969377},
    {"traces/msitp/raw/cluster01.csv",
     "columns: {job: job_id, submit: submission_time, duration: duration, "
     "gpus: num_gpu}", 128, 1595, 7497.330, 2952852},
    {"traces/msitp/raw/cluster06.csv",
     "columns: {job: job_id, submit: submission_time, duration: duration, "
     "gpus: num_gpu}", 128, 2396, 56777.051, 5171996},
    {"traces/swf/lublin_256.swf", "format: swf", 256, 10000, 2388443.760,
     12482549},
    {"traces/swf/hpc2n_alea_slice.swf",
     "format: swf, skip: {run_time_not_positive: true}", 240, 3145, 5627.883,
     5309576},
};

static void public_traces_stream_to_their_known_fifo_waits(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof public_traces / sizeof public_traces[0];
         i++) {
        struct aid aid;
        const char *path;
        const struct workload_spec *spec;
        double wait_s, jct_s;
        int64_t makespan_ns;

        aid_open_generic(&aid, public_traces[i].gpus);
        path = aid_shared(&aid, public_traces[i].file);
        if (path == NULL) {
            aid_close(&aid);
            skip();
        }
        spec = good(&aid, path, public_traces[i].keys);
        assert_int_equal(workload_counts(spec).jobs, public_traces[i].jobs);
        fifo(&aid, spec, public_traces[i].gpus, &wait_s, &jct_s,
             &makespan_ns);
        if (fabs(wait_s - public_traces[i].wait_s) > 0.00051)
            fail_msg("%s: mean wait %.4f", path, wait_s);
        assert_int_equal(makespan_ns / CLOCK_NS_PER_S,
                         public_traces[i].makespan_s);
        aid_close(&aid);
    }
}

static void c480_streams_to_its_known_fifo_times(void **state)
{
    struct aid aid;
    const struct workload_spec *spec;
    double wait_s, jct_s;
    int64_t makespan_ns;

    (void)state;
    aid_open_generic(&aid, 64);
    spec = aid_workload_file(&aid, "workloads/trace_c480.yaml");
    if (spec == NULL)
        fail_msg("%s", aid_message(&aid));
    assert_int_equal(workload_counts(spec).jobs, 480);
    fifo(&aid, spec, 64, &wait_s, &jct_s, &makespan_ns);
    assert_near(jct_s, 10539.5729, 0.00005);
    assert_int_equal(makespan_ns, 165443 * CLOCK_NS_PER_S);
    aid_close(&aid);
}

static void tiresias_and_philly_files_are_read_unchanged(void **state)
{
    struct aid aid;
    const char *path;
    const struct workload_spec *spec;

    (void)state;
    aid_open_generic(&aid, 128);
    path = aid_shared(&aid, "traces/tiresias/60_job.csv");
    if (path == NULL) {
        aid_close(&aid);
        skip();
    }
    spec = good(&aid, path, "columns: {job: job_id, submit: submit_time, "
                            "duration: duration, gpus: num_gpu}");
    assert_int_equal(workload_counts(spec).jobs, 60);
    path = aid_shared(&aid, "traces/philly/philly_2017-10.csv.gz");
    if (path == NULL) {
        aid_close(&aid);
        skip();
    }
    spec = good(&aid, path,
                "columns: {submit: timestamp, duration: duration, gpus: "
                "num_gpus, tenant: cluster}, unsorted: sort, skip: "
                "{run_time_not_positive: true, gpus_not_positive: true}");
    assert_int_equal(workload_counts(spec).rows, 47192);
    aid_close(&aid);
}

/* A file that was checked, and is written to before a trial reads it. */
static void trials_have_the_jobs_that_were_checked(void **state)
{
    static const char *const later[] = {
        "id,at,run,n\na,1,5,1\nb,2,5,1\nc,3,5,1\n", "no, trace", "",
    };

    (void)state;
    for (size_t i = 0; i < sizeof later / sizeof *later; i++) {
        struct aid aid;
        struct job_birth job[3];
        const struct workload_spec *spec;
        const char *path;
        FILE *file;

        aid_open_generic(&aid, 8);
        path = make_file(&aid, "t.csv", "id,at,run,n\na,1,5,1\nb,2,6,1\n");
        spec = good(&aid, path, CSV_KEYS "}");
        file = fopen(path, "wb");
        fputs(later[i], file);
        fclose(file);
        assert_int_equal(aid_jobs(&aid, spec, 1, 0, job, 3), 2);
        assert_int_equal(job[0].truth.duration_ns, INT64_C(5000000000));
        assert_int_equal(job[1].truth.duration_ns, INT64_C(6000000000));
        remove_file(path);
        aid_close(&aid);
    }
}

static void deadlines_move_with_the_origin(void **state)
{
    struct aid aid;
    const char *path;
    struct job_birth job[3];

    (void)state;
    aid_open_generic(&aid, 8);
    path = make_file(&aid, "t.csv", "id,at,run,n,due\na,100,5,1,130.5\n"
                     "b,101,5,1,\nc,102,5,1,50\n");
    assert_int_equal(aid_jobs(&aid, good(&aid, path, CSV_KEYS
                                         ", deadline: due}"), 1, 0, job, 3),
                     3);
    assert_int_equal(job[0].request.deadline_ns, INT64_C(30500000000));
    assert_int_equal(job[1].request.deadline_ns, CLOCK_NEVER_NS);
    assert_int_equal(job[2].request.deadline_ns, 1);    /* missed; 0 would be none */
    remove_file(path);
    aid_close(&aid);
}

static void names_that_stand_twice_are_refused_or_counted(void **state)
{
    static const char *const names[][3] = {
        { "7", "8", "7" }, { "a", "b", "a" }, { "007", "7", "007" },
        { "99999999999", "1", "99999999999" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct aid aid;
        const char *path;
        const struct workload_spec *spec;
        char text[200];

        aid_open_generic(&aid, 8);
        snprintf(text, sizeof text, "id,at,run,n\n%s,1,5,1\n%s,2,5,1\n"
                 "%s,3,5,1\n", names[i][0], names[i][1], names[i][2]);
        path = make_file(&aid, "t.csv", text);
        assert_null(read_trace(&aid, path, CSV_KEYS "}"));
        assert_int_equal(aid.err.pos.line, 4);
        assert_non_null(strstr(aid.err.hint, "duplicate_job"));
        aid.err.kind = ERR_NONE;
        spec = good(&aid, path, "skip: {duplicate_job: true}, " CSV_KEYS
                                "}");
        assert_int_equal(workload_counts(spec).jobs, 2);
        assert_int_equal(workload_counts(spec).skipped_other, 1);
        remove_file(path);
        aid_close(&aid);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trials_have_the_jobs_that_were_checked),
        cmocka_unit_test(deadlines_move_with_the_origin),
        cmocka_unit_test(names_that_stand_twice_are_refused_or_counted),
        cmocka_unit_test(pods_that_ask_alike_share_one_form),
        cmocka_unit_test(jobs_keep_the_numbers_of_their_rows),
        cmocka_unit_test(csv_rows_become_jobs_with_exact_times),
        cmocka_unit_test(dates_are_read_as_utc),
        cmocka_unit_test(swf_takes_allocated_then_requested_processors),
        cmocka_unit_test(unknown_run_times_are_those_that_are_said),
        cmocka_unit_test(gzip_gives_the_same_jobs_as_plain),
        cmocka_unit_test(slices_count_what_they_leave_out),
        cmocka_unit_test(where_comes_before_slice_and_slice_before_skip),
        cmocka_unit_test(sorting_is_done_only_when_asked_for_and_is_stable),
        cmocka_unit_test(a_bad_row_is_refused_though_rows_are_sorted),
        cmocka_unit_test(faulty_files_are_refused_at_their_line),
        cmocka_unit_test(faulty_keys_are_refused_in_the_workload_file),
        cmocka_unit_test(a_file_that_is_not_there_is_an_io_error),
        cmocka_unit_test(a_truncated_gzip_is_refused),
        cmocka_unit_test(larger_jobs_are_left_out_only_when_asked_for),
        cmocka_unit_test(types_of_a_row_are_whole_names),
        cmocka_unit_test(jobs_that_need_more_memory_than_a_gpu_has_are_counted),
        cmocka_unit_test(memory_does_not_grow_with_the_file),
        cmocka_unit_test(public_traces_stream_to_their_known_fifo_waits),
        cmocka_unit_test(c480_streams_to_its_known_fifo_times),
        cmocka_unit_test(tiresias_and_philly_files_are_read_unchanged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

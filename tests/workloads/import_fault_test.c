/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_fault_test.c - faults of job traces are refused at their place, and
 * nothing is written.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>

#include <cmocka.h>
#include <zlib.h>

#include "tests/aid/import_aid.h"

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
    { { "itp", ITP, NULL, { NULL }, 0, 0 }, "in:", "the file has no rows" },
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
    { { "gavel", "A\tc\t-n\t1\t9\t0\t1\n", "{\"v100\": 5}\n",
        { "--gpu-type", "v100" }, 0, 0 }, "side:1:10:", "an object of jobs is expected here" },
    { { "gavel", "A\tc\t-n\t1\t9\t0\t1\n", "[5]\n",
        { "--gpu-type", "v100" }, 0, 0 }, "side:1:1:", "a JSON of Gavel's throughputs" },
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
    { { "philly-log", "[{\"jobid\": \"a\", \"user\": tru}]\n", NULL, { NULL }, 0, 0 },
      "in:1:25: ", "a JSON value is expected" },
    { { "philly-log", "[{\"jobid\": \"a\", \"user\": {}}]\n", NULL, { NULL }, 0, 0 },
      "in:1:25: ", "a text is expected here" },
    { { "philly-log", "[{\"jobid\": \"a\", \"attempts\": [{\"detail\": 5}]}]\n", NULL,
        { NULL }, 0, 0 }, "in:1:41: ", "an array of nodes is expected here" },
    { { "philly-log", "[{\"jobid\": \"a\", \"attempts\": [{\"detail\": [5]}]}]\n", NULL,
        { NULL }, 0, 0 }, "in:1:42: ", "a node is expected" },
    { { "philly-log", "[{\"jobid\": \"a\", \"attempts\": [{\"detail\": [{\"gpus\": 5}]}]}]\n",
        NULL, { NULL }, 0, 0 }, "in:1:51: ", "an array of GPUs is expected here" },
    { { "philly-log", "[{\"jobid\": \"a\", \"attempts\": [{\"detail\": [{\"gpus\": [5]}]}]}]\n",
        NULL, { NULL }, 0, 0 }, "in:1:52: ", "a GPU's name is expected" },
    { { "philly-log", PHILLY_LOG, NULL, { NULL }, 0, 0 },
      "in:12:1:", "--skip never_ran" },
    { { "philly-log", "[" PHILLY_JOB("a", "Pass", "\"2017-10-07 01:11:39\"",
            PHILLY_RUN("\"2017-10-07 01:12:09\"", "\"2017-10-07 01:12:08\"", "\"gpu0\"")) "]\n",
        NULL, { NULL }, 0, 0 }, "in:3:",
      "run time is not above 0 (column run_s is \"-1\")" },
    { { "philly-log", "[\n{\"jobid\": \"a\"},", NULL,
        { "--skip", "no_submit_time" }, 0, 0 }, "in:2:",
      "within a bracket" },
    { { "philly-log", "[\n  {\"jobid\": \"a\"}]", NULL, { NULL }, 0, 0 },
      "in:2:3:", "--skip no_submit_time" },
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
    { { "itp", ITP "a,5,7,99999999999999999999\n", NULL, { NULL }, 0, 0 },
      "in:2:7:", "must be a whole number below 2^63, found \"99999999999999999999\"" },
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

/* A folder, a gzip file that is none, a zstd file that breaks off, and nothing at all. */
static void no_format_reads_what_cannot_be_read(void **state)
{
    static const char *const format[] = {
#define FORMAT(ID, NAME) NAME,
#include "workloads/formats/formats.def"
#undef FORMAT
        /* of series, requests and nodes */
        "carbon", "aws-price", "azure-price", "spot-ticks", "spot-log", "faults", "prometheus",
        "series", "azure", "burstgpt", "mooncake", "servegen", "openb-nodes", "slurm-nodes",
        "kube-nodes",
    };
    static const char *const file[] = { "dir", "bad.gz", "bad.zst", "empty", "absent" };
    static const char *const none[MORE_MAX] = { NULL };
    const struct program *program = the_program(state);
    char path[160], *said;

    unlink(in_folder(program, "w.yaml", path));     /* of the test before */
    assert_int_equal(mkdir(in_folder(program, "dir", path), 0700), 0);
    write_file(in_folder(program, "bad.gz", path), "\x1f\x8b\x08\x01garbage of no kind");
    write_file(in_folder(program, "bad.zst", path), "\x28\xb5\x2f\xfd\x04");
    write_file(in_folder(program, "empty", path), "");
    for (size_t i = 0; i < sizeof format / sizeof format[0]; i++)
        for (size_t k = 0; k < sizeof file / sizeof file[0]; k++) {
            int status = import(program, format[i], in_folder(program, file[k], path), none,
                                &said);

            if (status < 1 || status > 100 || strstr(said, " error: ") == NULL)
                fail_msg("%s %s: status %d: %s", format[i], file[k], status, said);
            free(said);
            assert_int_not_equal(access(in_folder(program, "w.yaml", path), F_OK), 0);
        }
}

static void usage_errors_name_what_is_there(void **state)
{
    const struct program *program = the_program(state);
    char *said;
    static const struct {
        const char *words[8], *message;
    } wrong[] = {
        { { "import", "itq", "x", "-o", "w.yaml" }, "Did you mean itp?" },
        { { "import", "azuer", "x", "-o", "w.yaml" }, "Did you mean azure?" },
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
            "pdf" }, "must be csv, swf, batsim or opendc" },
    };

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        if (run(program, wrong[i].words, &said) == 0)
            fail_msg("accepted: %s", wrong[i].message);
        has(said, wrong[i].message);
        free(said);
    }
}

int main(int argc, char **argv)
{
    struct program program;
#define WITH(TEST) cmocka_unit_test_prestate(TEST, &program)
    const struct CMUnitTest tests[] = {
        WITH(faulty_rows_are_refused_at_their_place),
        WITH(a_truncated_gzip_is_refused),
        WITH(a_field_without_end_is_refused),
        WITH(no_format_reads_what_cannot_be_read),
        WITH(usage_errors_name_what_is_there),
    };
    int failed;

    (void)argc;
    program_open(&program, argv[0]);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}

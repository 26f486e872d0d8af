/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fault_test.c - the program when the world is against it: files that are no
 * files, traces that are cut off, folders that cannot be written, a full
 * disk, Ctrl-C and kill -9.
 *
 * Whatever happens, the message names the file, the status is that of the
 * manual, nothing half-written looks whole, and --resume ends with the bytes
 * of a run that nobody disturbed.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <zlib.h>

#include <cmocka.h>

#include "tests/aid/logs.h"
#include "tests/aid/program.h"
#include "tests/aid/scratch.h"

static const char *argv0;

struct fixture {
    struct program program;     /* its own folder is not used */
    struct scratch scratch;
};

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    assert_non_null(f);
    program_open(&f->program, argv0);
    scratch_open(&f->scratch);
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    program_close(&f->program);
    scratch_close(&f->scratch);
    free(f);
    return 0;
}

/* A path in the scratch folder, copied. */
static const char *at(struct fixture *f, const char *name, char out[300])
{
    snprintf(out, 300, "%s", scratch_path(&f->scratch, name));
    return out;
}

/* Runs clustersim on words (ends with NULL); @NAME is a file of the scratch
 * folder.  What it says goes to `log` there. */
static int run(struct fixture *f, const char *const *words)
{
    const char *argv[PROGRAM_ARGS_MAX] = { f->program.path };
    char path[PROGRAM_ARGS_MAX][300], log[300];

    for (size_t i = 1; *words != NULL; i++, words++) {
        assert_true(i + 1 < PROGRAM_ARGS_MAX);
        argv[i] = **words == '@' ? at(f, *words + 1, path[i]) : *words;
    }
    return program_spawn(argv, at(f, "log", log));
}

#define RUN(F, ...) run(F, (const char *const[]){ __VA_ARGS__, NULL })

static void expect_log(struct fixture *f, const char *part)
{
    char *said = scratch_read(&f->scratch, "log");

    assert_non_null(said);
    if (strstr(said, part) == NULL)
        fail_msg("no '%s' in: %s", part, said);
    free(said);
}

static bool is_there(struct fixture *f, const char *name)
{
    char path[300];

    return access(at(f, name, path), F_OK) == 0;
}

/* cut/NAME and whole/NAME hold the same bytes. */
static void assert_same(struct fixture *f, const char *name)
{
    char left[64], right[64], *a, *b;

    snprintf(left, sizeof left, "cut/%s", name);
    snprintf(right, sizeof right, "whole/%s", name);
    a = scratch_read(&f->scratch, left);
    b = scratch_read(&f->scratch, right);
    assert_non_null(a);
    assert_non_null(b);
    if (strcmp(a, b) != 0)
        fail_msg("%s differs", name);
    free(a);
    free(b);
}

/* ---- files that are no experiment ------------------------------------ */

static void what_cannot_be_read_is_named_with_the_reason(void **state)
{
    struct fixture *f = *state;
    char path[300];

    assert_int_equal(RUN(f, "run", "@nowhere.yaml"), 4);
    expect_log(f, "nowhere.yaml: file error: cannot read the file: No such");
    assert_int_equal(mkdir(at(f, "folder.yaml", path), 0700), 0);
    assert_int_equal(RUN(f, "run", "@folder.yaml"), 4);
    expect_log(f, "folder.yaml: file error: cannot read the file: it is a "
                  "directory");
    assert_int_equal(mkfifo(at(f, "fifo.yaml", path), 0600), 0);
    assert_int_equal(RUN(f, "run", "@fifo.yaml"), 4);
    expect_log(f, "it is not a regular file");
    scratch_write(&f->scratch, "secret.yaml", "experiment: x\n");
    assert_int_equal(chmod(at(f, "secret.yaml", path), 0), 0);
    if (access(path, R_OK) != 0) {          /* root reads everything */
        assert_int_equal(RUN(f, "run", "@secret.yaml"), 4);
        expect_log(f, "Permission denied");
    }
}

static void what_is_no_yaml_is_refused_where_it_stops_being_so(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "", "bad.yaml: syntax error: the file is empty" },
        { "experiment: x\npolicies: [fcfs, sjf", "bad.yaml:3:1:" },
        { "experiment: \"x", "bad.yaml:1:" },
        { "experiment: caf\xe9\n", "bad.yaml:1:" },
        { "\xff\xfe" "e\n", "bad.yaml:1:" },
        { "\x7f" "ELF\x02\x01\x01", "bad.yaml:1:" },
        { "experiment: *nobody\n", "bad.yaml:1:" },
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        scratch_write(&f->scratch, "bad.yaml", bad[i].text);
        assert_int_equal(RUN(f, "run", "@bad.yaml"), 3);
        expect_log(f, bad[i].says);
    }
}

static void huge_and_deep_files_are_refused_soon(void **state)
{
    struct fixture *f = *state;
    size_t bytes = 400000;
    char *text = malloc(bytes + 1), path[300];

    assert_non_null(text);
    memset(text, '[', bytes);
    text[bytes] = '\0';
    scratch_write(&f->scratch, "deep.yaml", text);
    assert_int_equal(RUN(f, "run", "@deep.yaml"), 3);
    expect_log(f, "deep.yaml:1:");
    for (size_t i = 0; i < bytes; i++)
        text[i] = "{a: "[i % 4];
    scratch_write(&f->scratch, "deep.yaml", text);
    assert_int_equal(RUN(f, "run", "@deep.yaml"), 3);
    expect_log(f, "deep.yaml:1:");
    free(text);
    scratch_write(&f->scratch, "large.yaml", "");
    assert_int_equal(truncate(at(f, "large.yaml", path), 100000000), 0);
    assert_int_equal(RUN(f, "run", "@large.yaml"), 3);
    expect_log(f, "the file has 100000000 bytes, at most 67108864");
}

/* ---- traces ----------------------------------------------------------- */

static const char replay[] =
    "experiment: replay\n"
    "cluster: cluster.yaml\n"
    "workload:\n"
    "  trace: {file: t.csv, format: csv, columns: {job: job, submit: submit, "
    "duration: duration, gpus: gpus}}\n"
    "policies: [{policy: sjf, placement: count, estimate: noisy}]\n"
    "output: {plots: []}\n";

static void open_replay(struct fixture *f)
{
    scratch_experiment(&f->scratch, "");    /* for its cluster */
    scratch_write(&f->scratch, "r.yaml", replay);
}

static void wrong_traces_are_refused_at_their_line(void **state)
{
    struct fixture *f = *state;
    static const struct {
        const char *text, *says;
    } bad[] = {
        { "", "t.csv: syntax error: file is empty" },
        { "job,submit,duration,gpus\n", "t.csv" },
        { "job,submit,gpus\n1,0,1\n", "duration" },
        { "job,submit,duration,gpus\n1,0,10\n", "t.csv:2:" },
        { "job,submit,duration,gpus\n1,0,10,1\n2,zero,10,1\n", "t.csv:3:3: " },
        { "job,submit,duration,gpus\n1,-5,10,1\n", "t.csv:2:3: " },
        { "job,submit,duration,gpus\n1,0,-10,1\n", "t.csv:2:5: " },
        { "job,submit,duration,gpus\n1,0,nan,1\n", "t.csv:2:5: " },
        { "job,submit,duration,gpus\n1,0,1e308,1\n", "t.csv:2:5: " },
        { "job,submit,duration,gpus\n1,0,10,-1\n", "t.csv:2:8: " },
        { "job,submit,duration,gpus\n1,0,10,1.5\n", "t.csv:2:8: " },
        { "job,submit,duration,gpus\n1,0,10,99999999999999999999\n",
          "t.csv:2:8: " },
        { "job,submit,duration,gpus\n1,0,10,33\n", "t.csv:2:8: " },
        { "job,submit,duration,gpus\n1,0,10,\n", "t.csv:2:8: " },
        { "job,submit,duration,gpus\n1,\"0,10,1\n", "t.csv:2:" },
        { "job|submit|duration|gpus\n1|0|10|1\n",
          "its columns are job|submit|duration|gpus" },
        { "job|submit|duration|gpus\n1|0|10|1\n",
          "Fields stand between commas, semicolons or tabs." },
    };

    open_replay(f);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        scratch_write(&f->scratch, "t.csv", bad[i].text);
        int status = RUN(f, "run", "-q", "@r.yaml", "-o", "@out");
        if (status != 3)
            fail_msg("status %d: %s", status, bad[i].text);
        expect_log(f, bad[i].says);
        assert_false(is_there(f, "out/summary.csv"));
    }
}

static void unsorted_traces_run_only_when_told_to_sort(void **state)
{
    struct fixture *f = *state;

    open_replay(f);
    scratch_write(&f->scratch, "t.csv", "job,submit,duration,gpus\n"
                                        "3,9,5,32\n1,0,10,32\n2,5,20,16\n");
    assert_int_equal(RUN(f, "run", "-q", "@r.yaml", "-o", "@cut"), 3);
    expect_log(f, "t.csv:3:3: ");
    expect_log(f, "unsorted: sort");
    assert_int_equal(RUN(f, "run", "-q", "@r.yaml", "-o", "@cut", "--set",
                         "workload.trace.unsorted=sort"), 0);
    scratch_write(&f->scratch, "t.csv", "job,submit,duration,gpus\n"
                                        "1,0,10,32\n2,5,20,16\n3,9,5,32\n");
    assert_int_equal(RUN(f, "run", "-q", "@r.yaml", "-o", "@whole"), 0);
    assert_same(f, "summary.csv");
}

static void a_pipe_for_a_trace_does_not_hang(void **state)
{
    struct fixture *f = *state;
    char path[300];

    open_replay(f);
    assert_int_equal(mkfifo(at(f, "t.csv", path), 0600), 0);
    assert_int_equal(RUN(f, "run", "-q", "@r.yaml", "-o", "@out"), 4);
    expect_log(f, "it is not a regular file");
}

static void gzip_that_is_cut_off_is_refused(void **state)
{
    struct fixture *f = *state;
    char path[300], row[64];
    struct stat st;
    gzFile file;

    open_replay(f);
    file = gzopen(at(f, "t.csv", path), "wb");
    assert_non_null(file);
    gzputs(file, "job,submit,duration,gpus\n");
    for (int i = 0; i < 20000; i++) {
        snprintf(row, sizeof row, "%d,%d,%d,1\n", i, i, 7 + i * 37 % 1001);
        gzputs(file, row);
    }
    assert_int_equal(gzclose(file), Z_OK);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(truncate(path, st.st_size / 2), 0);
    int status = RUN(f, "run", "-q", "@r.yaml", "-o", "@out");
    assert_in_range(status, 3, 4);
    expect_log(f, "t.csv");
    assert_false(is_there(f, "out/summary.csv"));
}

/* ---- where results go ------------------------------------------------- */

/* Noise is drawn: seeds that are copies would not be run. */
static const char small[] =
    "experiment: small\n"
    "seeds: 2\n"
    "policies: [{policy: sjf, placement: count, estimate: noisy}]\n"
    "output: {plots: []}\n";

static void a_file_in_the_way_of_results_is_left_alone(void **state)
{
    struct fixture *f = *state;
    char *text;

    scratch_experiment(&f->scratch, small);
    scratch_write(&f->scratch, "file", "mine");
    assert_int_equal(RUN(f, "run", "@e.yaml", "-o", "@file"), 4);
    expect_log(f, "Not a directory");
    assert_int_equal(RUN(f, "run", "@e.yaml", "-o", "@file/below"), 4);
    expect_log(f, "Not a directory");
    text = scratch_read(&f->scratch, "file");
    assert_string_equal(text, "mine");
    free(text);
}

/* jobs.csv is the trace of e.yaml, and also the name of a table. */
static void inputs_and_strange_files_are_never_overwritten(void **state)
{
    struct fixture *f = *state;
    char path[300], *before, *after;

    scratch_experiment(&f->scratch, small);
    before = scratch_read(&f->scratch, "jobs.csv");
    snprintf(path, sizeof path, "%s", f->scratch.dir);
    assert_int_equal(RUN(f, "run", "@e.yaml", "-o", path), 4);
    expect_log(f, "jobs.csv: file error: would be overwritten");
    after = scratch_read(&f->scratch, "jobs.csv");
    assert_string_equal(before, after);
    free(before);
    free(after);
    assert_int_equal(mkdir(at(f, "mine", path), 0700), 0);
    scratch_write(&f->scratch, "mine/summary.csv", "mine");
    assert_int_equal(RUN(f, "run", "@e.yaml", "-o", "@mine"), 4);
    expect_log(f, "not from a run");
    after = scratch_read(&f->scratch, "mine/summary.csv");
    assert_string_equal(after, "mine");
    free(after);
    assert_int_equal(RUN(f, "run", "-q", "@e.yaml", "-o", "@own"), 0);
    assert_int_equal(RUN(f, "run", "-q", "@e.yaml", "-o", "@own"), 0);
}

/* A step of 1 ns would be a hundred thousand million rows. */
static void a_timeline_without_end_fails_its_trials(void **state)
{
    struct fixture *f = *state;

    scratch_experiment(&f->scratch, small);
    assert_int_equal(RUN(f, "run", "-q", "@e.yaml", "-o", "@out", "--seeds",
                         "1", "--set", "output.timeline_step=1ns"), 5);
    expect_log(f, "(key output.timeline_step)");
}

/* A child that may write no file of more than `bytes`. */
static int run_limited(struct fixture *f, rlim_t bytes)
{
    const struct rlimit limit = { bytes, bytes };
    char e[300], out[300];
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        at(f, "e.yaml", e);
        at(f, "out", out);
        if (!freopen("/dev/null", "w", stderr) ||
            setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(126);
        execl(f->program.path, f->program.path, "run", "-q", e, "-o", out,
              (char *)NULL);
        _exit(127);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void a_disk_that_is_full_leaves_nothing_that_looks_whole(void **state)
{
    struct fixture *f = *state;
    static const rlim_t room[] = { 0, 300, 1500, 3000, 6000 };
    unsigned failed = 0;

    scratch_experiment(&f->scratch, small);
    for (size_t i = 0; i < sizeof room / sizeof room[0]; i++) {
        int status = run_limited(f, room[i]);

        if (status == 0)
            continue;
        failed++;
        assert_int_equal(status, 4);
        assert_false(is_there(f, "out/provenance.json"));
        assert_false(is_there(f, "out/summary.csv.tmp"));
        assert_false(is_there(f, "out/jobs.csv.tmp"));
    }
    assert_in_range(failed, 2, 5);
    assert_int_equal(RUN(f, "run", "-q", "@e.yaml", "-o", "@out", "--resume"),
                     0);
    assert_int_equal(RUN(f, "run", "-q", "@e.yaml", "-o", "@whole"), 0);
}

/* 9000 jobs: more rows than a table keeps until its trial ends. */
static void write_long(struct fixture *f)
{
    size_t room = 400000;
    char *text = malloc(room), *end = text;

    assert_non_null(text);
    end += sprintf(end, "job,submit,duration,gpus\n");
    for (int i = 0; i < 9000; i++)
        end += sprintf(end, "%d,%d,%d,%d\n", i, 60 * i, 100 + 7 * (i % 11),
                       1 << i % 4);
    assert_true((size_t)(end - text) < room);
    scratch_experiment(&f->scratch, small);
    scratch_write(&f->scratch, "jobs.csv", text);
    free(text);
}

/* The disk fills while the trial runs, at its end, in the tables. */
static void a_disk_that_fills_while_a_trial_runs_leaves_no_rows(void **state)
{
    struct fixture *f = *state;
    static const rlim_t room[] = { 200000, 300000, 1000000, 1580000 };

    write_long(f);
    for (size_t i = 0; i < sizeof room / sizeof room[0]; i++) {
        assert_int_equal(run_limited(f, room[i]), 4);
        assert_false(is_there(f, "out/provenance.json"));
        assert_false(is_there(f, "out/jobs.csv"));
        assert_false(is_there(f, "out/jobs.csv.tmp"));
    }
    /* In time for some, for some not. */
    assert_in_range(logs_count(f->scratch.dir, "out/.trials"), 1, 4);
    assert_int_equal(RUN(f, "run", "-q", "@e.yaml", "-o", "@cut", "-j", "2"),
                     0);
    assert_int_equal(RUN(f, "run", "-q", "@e.yaml", "-o", "@whole"), 0);
    assert_same(f, "jobs.csv");
    assert_same(f, "phases.csv");
}

/* ---- runs that are cut off -------------------------------------------- */

static const char many[] =
    "experiment: many\n"
    "seeds: 600\n"
    "policies: [{policy: ljf, placement: count, estimate: noisy}, {policy: "
    "sjf, placement: count, estimate: noisy}]\n"
    "output: {plots: [], tables: [compare, jobs]}\n";

static unsigned trials_kept(struct fixture *f)
{
    return logs_count(f->scratch.dir, "cut/.trials");
}

/* Starts the long run by that command, and sends the signal after some trials. */
static int cut_off(struct fixture *f, const char *command, int number)
{
    const struct timespec wait = { 0, 2000000 };
    char e[300], out[300];
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    at(f, "e.yaml", e);
    at(f, "cut", out);
    if (pid == 0) {
        if (!freopen(scratch_path(&f->scratch, "log"), "w", stderr))
            _exit(126);
        execl(f->program.path, f->program.path, command, "-q", "-j", "2", e,
              "-o", out, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 10000 && trials_kept(f) < 20; i++)
        nanosleep(&wait, NULL);
    assert_int_equal(kill(pid, number), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void assert_resumed_as_another(struct fixture *f)
{
    static const char *const file[] = { "summary.csv", "compare.csv",
                                        "jobs.csv", "audit.json" };

    assert_int_equal(RUN(f, "run", "-q", "@e.yaml", "-o", "@cut", "--resume"),
                     0);
    assert_int_equal(RUN(f, "run", "-q", "@e.yaml", "-o", "@whole"), 0);
    for (size_t i = 0; i < sizeof file / sizeof file[0]; i++)
        assert_same(f, file[i]);
}

static void assert_resumed_as_whole(struct fixture *f)
{
    assert_resumed_as_another(f);
    assert_false(is_there(f, "cut/.trials"));
}

static void interrupted_runs_end_with_130_and_resume_to_the_same(void **state)
{
    struct fixture *f = *state;

    scratch_experiment(&f->scratch, many);
    assert_int_equal(cut_off(f, "run", SIGINT), 130);
    expect_log(f, "of 1200 trials are finished and kept in");
    expect_log(f, "`clustersim run ");
    assert_false(is_there(f, "cut/summary.csv"));
    assert_false(is_there(f, "cut/provenance.json"));
    assert_in_range(trials_kept(f), 20, 1199);
    assert_resumed_as_whole(f);
}

/* What goes on with a check is a check: `run` does not take its options. */
static void an_interrupted_check_names_itself_as_what_goes_on(void **state)
{
    struct fixture *f = *state;
    char text[1000];

    snprintf(text, sizeof text, "%sexpect: [{metric: jobs_done, policy: sjf, at_least: 1}]\n",
             many);
    scratch_experiment(&f->scratch, text);
    assert_int_equal(cut_off(f, "check", SIGINT), 130);
    expect_log(f, "`clustersim check ");
}

/* Logs are then torn and damaged, too: what is lost is run again. */
static void killed_runs_resume_to_the_same(void **state)
{
    struct fixture *f = *state;
    char path[8][300];
    struct stat st;
    unsigned logs;

    scratch_experiment(&f->scratch, many);
    assert_int_equal(cut_off(f, "run", SIGKILL), 128 + SIGKILL);
    assert_false(is_there(f, "cut/summary.csv"));
    logs = logs_list(f->scratch.dir, "cut/.trials", path, 8);
    assert_in_range(logs, 1, 2);
    for (unsigned i = 0; i < logs; i++) {
        FILE *file = fopen(path[i], "r+b");

        assert_non_null(file);
        assert_int_equal(fstat(fileno(file), &st), 0);
        fseek(file, (long)st.st_size / 3, SEEK_SET);
        fputs("damaged", file);
        fclose(file);
        if (st.st_size > 1000)          /* else its thread had hardly begun */
            assert_int_equal(truncate(path[i], st.st_size - 100 - 7 * (off_t)i), 0);
    }
    assert_resumed_as_whole(f);
}

/* Runs it with --resume for so long, then kills it; its status. */
static int run_for(struct fixture *f, long ns)
{
    const struct timespec wait = { ns / 1000000000, ns % 1000000000 };
    char e[300], out[300];
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    at(f, "e.yaml", e);
    at(f, "cut", out);
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stderr))
            _exit(126);
        execl(f->program.path, f->program.path, "run", "-q", "-j", "2", e, "-o", out,
              "--resume", (char *)NULL);
        _exit(127);
    }
    nanosleep(&wait, NULL);
    (void)kill(pid, SIGKILL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* Killed again and again, at any moment: each run goes on from where the last one was,
 * and what is there never becomes less. */
static void a_run_that_is_killed_again_and_again_ends_the_same(void **state)
{
    struct fixture *f = *state;
    unsigned kept = 0, kills = 0;
    long ns = 20000000;
    int status;

    scratch_experiment(&f->scratch, many);
    while ((status = run_for(f, ns)) == 128 + SIGKILL) {
        assert_true(trials_kept(f) >= kept || is_there(f, "cut/summary.csv"));
        kept = trials_kept(f);
        ns = ns * 9 / 7;
        kills++;
    }
    assert_int_equal(status, 0);
    assert_true(kills > 0);
    assert_resumed_as_whole(f);
}

static void resume_does_not_mix_in_trials_of_another_experiment(void **state)
{
    struct fixture *f = *state;

    scratch_experiment(&f->scratch, many);
    assert_int_equal(cut_off(f, "run", SIGINT), 130);
    scratch_experiment(&f->scratch,
        "experiment: many\n"
        "seeds: 20\n"
        "seed: 2\n"
        "warmup: 100s\n"
        "policies: [{policy: fcfs, placement: count, blocking: skip}, "
        "{policy: sjf, placement: pack}]\n"
        "output: {plots: [], tables: [compare, jobs]}\n");
    unsigned kept = trials_kept(f);

    assert_in_range(kept, 20, 1199);
    assert_resumed_as_another(f);
    assert_int_equal(trials_kept(f), kept);     /* not its own: they stay, */
    scratch_experiment(&f->scratch, many);      /* and can be gone on from */
    assert_resumed_as_whole(f);
}

/* ---- the world around ------------------------------------------------- */

static void output_that_does_not_arrive_is_status_4(void **state)
{
    struct fixture *f = *state;
    char command[700];
    const char *argv[] = { "sh", "-c", command, NULL };

    snprintf(command, sizeof command, "%s list gpus >/dev/full",
             f->program.path);
    if (access("/dev/full", W_OK) == 0)
        assert_int_equal(program_spawn(argv, NULL), 4);
    snprintf(command, sizeof command, "%s list gpus >&-", f->program.path);
    assert_int_equal(program_spawn(argv, NULL), 4);
    snprintf(command, sizeof command, "%s list nonsense 2>&-",
             f->program.path);
    assert_int_equal(program_spawn(argv, NULL), 2);
    snprintf(command, sizeof command,
             "{ %s schema; echo $? >%s/status; } | head -c 10",
             f->program.path, f->scratch.dir);
    assert_int_equal(program_spawn(argv, NULL), 0);
    char *text = scratch_read(&f->scratch, "status");
    assert_string_equal(text, "0\n");
    free(text);
}

static void locale_and_home_change_no_byte(void **state)
{
    struct fixture *f = *state;
    char e[300], out[300];
    const char *argv[] = {
        "env", "-i", "LC_ALL=de_DE.UTF-8", "LC_NUMERIC=de_DE.UTF-8",
        "TZ=Asia/Kathmandu", f->program.path, "run", "-q", at(f, "e.yaml", e),
        "-o", at(f, "cut", out), NULL
    };

    scratch_experiment(&f->scratch, small);
    assert_int_equal(program_spawn(argv, NULL), 0);
    assert_int_equal(RUN(f, "run", "-q", "@e.yaml", "-o", "@whole"), 0);
    assert_same(f, "summary.csv");
    assert_same(f, "jobs.csv");
    assert_same(f, "timeline.csv");
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, setup, teardown)

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        TEST(what_cannot_be_read_is_named_with_the_reason),
        TEST(what_is_no_yaml_is_refused_where_it_stops_being_so),
        TEST(huge_and_deep_files_are_refused_soon),
        TEST(wrong_traces_are_refused_at_their_line),
        TEST(unsorted_traces_run_only_when_told_to_sort),
        TEST(a_pipe_for_a_trace_does_not_hang),
        TEST(gzip_that_is_cut_off_is_refused),
        TEST(a_file_in_the_way_of_results_is_left_alone),
        TEST(inputs_and_strange_files_are_never_overwritten),
        TEST(a_timeline_without_end_fails_its_trials),
        TEST(a_disk_that_is_full_leaves_nothing_that_looks_whole),
        TEST(a_disk_that_fills_while_a_trial_runs_leaves_no_rows),
        TEST(interrupted_runs_end_with_130_and_resume_to_the_same),
        TEST(an_interrupted_check_names_itself_as_what_goes_on),
        TEST(killed_runs_resume_to_the_same),
        TEST(a_run_that_is_killed_again_and_again_ends_the_same),
        TEST(resume_does_not_mix_in_trials_of_another_experiment),
        TEST(output_that_does_not_arrive_is_status_4),
        TEST(locale_and_home_change_no_byte),
    };

    assert(argc > 0);
    argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * given_back_test.c - memory and files that are taken are given back: by readers, by containers,
 * and by whole trials.
 *
 * The blocks of malloc are counted on their way through this program, with glibc; what the second
 * round of the same work leaves behind is a leak.  The sanitizer of addresses counts for itself.
 */
#include <fcntl.h>
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
#include <zstd.h>

#include "models/cluster/place.h"
#include "models/serving/flight_queue.h"
#include "sim/config/conf.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "sim/text/csv.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/scan.h"
#include "sim/text/scan_look.h"
#include "models/laws/rollout.h"
#include "models/serving/rollout_steps.h"
#include "tests/aid/law_aids.h"
#include "tests/aid/scratch.h"
#include "tests/aid/workload_aid.h"
#include "tests/aid/world.h"
#include "workloads/jobs/gavel_rates.h"
#include "workloads/logs/log.h"
#include "workloads/logs/philly.h"
#include "workloads/series/series.h"

static _Atomic long blocks;     /* of malloc that are not freed */

#if defined(__SANITIZE_ADDRESS__)
#define WATCHED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define WATCHED 1
#endif
#endif

#if defined(__GLIBC__) && !defined(WATCHED)
void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void *__libc_memalign(size_t align, size_t bytes);
void __libc_free(void *block);

static void *counted(void *block)
{
    blocks += block != NULL;
    return block;
}

void *malloc(size_t bytes) { return counted(__libc_malloc(bytes)); }

void *calloc(size_t count, size_t bytes) { return counted(__libc_calloc(count, bytes)); }

void *realloc(void *block, size_t bytes)
{
    void *moved = __libc_realloc(block, bytes);

    blocks += (moved != NULL) - (block != NULL && (moved != NULL || bytes == 0));
    return moved;
}

void *aligned_alloc(size_t align, size_t bytes)
{
    return counted(__libc_memalign(align, bytes));
}

void free(void *block)
{
    blocks -= block != NULL;
    __libc_free(block);
}
#endif

typedef void work_fn(const void *self);

/* The lowest descriptor that is free rises where a file is left open. */
static int free_descriptor(void)
{
    int fd = dup(0);

    close(fd);
    return fd;
}

/* The first round may fill stores of libraries. */
static void leaves_nothing(const char *what, work_fn *work, const void *self)
{
    work(self);
    long blocks_before = blocks;
    int fd_before = free_descriptor();
    for (int i = 0; i < 3; i++)
        work(self);
    if (blocks != blocks_before)
        fail_msg("%s: %ld blocks are left by 3 rounds", what, blocks - blocks_before);
    if (free_descriptor() != fd_before)
        fail_msg("%s: a file is left open", what);
}

/* The count sees what is kept: one block. */
static void *kept[8];
static void keep_one(const void *self)
{
    for (int i = 0; i < 8; i++)
        if (kept[i] == NULL) {
            kept[i] = malloc(*(const size_t *)self);
            return;
        }
}

static void blocks_that_are_kept_are_seen(void **state)
{
    const size_t bytes = 100;

    (void)state;
    long before = blocks;
    keep_one(&bytes);
    kept[0] = realloc(kept[0], 100 * bytes);
    if (blocks == before) {
        print_message("skip: blocks are counted with glibc alone\n");
        free(kept[0]);
        skip();
    }
    assert_true(blocks == before + 1);
    free(kept[0]);
    assert_true(blocks == before);
}

/* ---- files ---- */

static void write_packed(const char *path, int how)
{
    static const char text[] = "job,gpus\na,1\n\nb,2\r\n{\"a\": [1, 2]}\n";
    char packed[256];
    size_t bytes = sizeof text - 1;

    if (how == 3) {             /* two members, of which the last says the length of its own */
        gzFile file = gzopen(path, "wb");
        assert_int_equal(gzwrite(file, text, 9), 9);
        assert_int_equal(gzclose(file), Z_OK);
        file = gzopen(path, "ab");
        assert_int_equal(gzwrite(file, text + 9, (unsigned)bytes - 9), (int)bytes - 9);
        assert_int_equal(gzclose(file), Z_OK);
        return;
    }
    if (how == 1) {
        gzFile file = gzopen(path, "wb");
        assert_true(gzwrite(file, text, (unsigned)bytes) == (int)bytes);
        assert_int_equal(gzclose(file), Z_OK);
        return;
    }
    memcpy(packed, text, bytes);
    if (how == 2)
        bytes = ZSTD_compress(packed, sizeof packed, text, sizeof text - 1, 3);
    FILE *file = fopen(path, "wb");
    assert_true(fwrite(packed, 1, bytes, file) == bytes);
    assert_int_equal(fclose(file), 0);
}

static void read_lines(const void *path)
{
    struct err err = { 0 };
    struct scan *scan = scan_open(path, &err);
    char *line;
    size_t bytes;
    int lines = 0;

    assert_non_null(scan);
    while (scan_line(scan, &line, &bytes, &err) == SCAN_LINE)
        lines++;
    assert_int_equal(lines, 5);
    scan_close(scan);
    scan_close(scan_open(path, &err));          /* of which nothing is read */
}

static void look_at_file(const void *path)
{
    struct err err = { 0 };
    struct scan_look look;

    assert_true(scan_look(path, &look, &err));
    assert_true(look.lines == 5 && look.returns == 1 && look.blank == 1 && !look.open_end);
}

/* A table between tabs has no header: its first line is read twice. */
static void read_tabs(const void *path)
{
    struct arena *arena = arena_new(1 << 12);
    struct err err = { 0 };
    struct csv *csv = csv_open(arena, path, CSV_TAB, &err);

    while (csv != NULL && csv_next(csv, &err) == CSV_ROW)
        continue;
    csv_close(csv);
    arena_free(arena);
}

static bool is_formed(const void *self, const char *name)
{
    return strcmp(self, name) == 0;
}

/* A folder that is made, looked through, cleared and left. */
static void use_folder(const void *path)
{
    struct arena *arena = arena_new(1 << 12);
    struct err err = { 0 };
    struct folder *folder = folder_make(arena, path, &err);
    struct folder *within = folder_within(arena, folder, "d", &err);
    struct out *out = out_in(arena, within, "x", &err);

    out_text(out, "x");
    assert_true(out_close_fast(out, &err));
    assert_true(folder_holds(within, "x") && !folder_is_empty(within, NULL) &&
                folder_is_empty(within, "x"));
    FILE *file = folder_read(within, "x");
    assert_non_null(file);
    fclose(file);
    assert_null(folder_read(within, "y"));
    folder_clear_parts(within, "x");
    folder_sweep(within, is_formed, "x");
    assert_true(!folder_holds(within, "x") && folder_is_empty(within, NULL));
    folder_close(within);
    folder_drop(folder, "d");
    assert_true(folder_is_empty(folder, NULL));
    folder_close(folder);
    arena_free(arena);
}

static void open_nothing(const void *path)
{
    struct err err = { 0 };
    struct scan_look look;

    assert_null(scan_open(path, &err));
    assert_false(scan_look(path, &look, &err));
}

static void readers_close_what_they_open(void **state)
{
    struct scratch *scratch = *state;
    static const char *const names[] = { "plain", "gzip", "zstd", "members" };

    for (int how = 0; how < 4; how++) {
        const char *path = scratch_path(scratch, names[how]);
        write_packed(path, how);
        leaves_nothing(names[how], read_lines, path);
        leaves_nothing(names[how], look_at_file, path);
    }
    leaves_nothing("a file that is not there", open_nothing, scratch_path(scratch, "none"));
    scratch_write(scratch, "tabs", "1\t2\n3\t4\n");
    leaves_nothing("tabs", read_tabs, scratch_path(scratch, "tabs"));
    leaves_nothing("folder", use_folder, scratch_path(scratch, "folder"));
}

/* A log of jobs, and what opens it. */
struct log_of {
    bool (*open)(struct arena *arena, const char *path, struct csv_source *source,
                 struct err *err);
    const char *path;
};

static void read_rows(const void *self)
{
    const struct log_of *log = self;
    struct arena *arena = arena_new(1 << 12);
    struct csv_field field[CSV_FIELDS_MAX];
    struct csv_source source;
    struct err err = { 0 };

    if (log->open(arena, log->path, &source, &err)) {
        while (source.next(source.self, field, &err) == CSV_ROW)
            continue;
        source.close(source.self);
    }
    arena_free(arena);
}

/* Whole logs, logs that are cut, and files that are not there. */
static void readers_of_logs_close_what_they_open(void **state)
{
    struct scratch *scratch = *state;
    static const struct { const char *name, *text; struct log_of log; } row[] = {
        { "philly", "[{\"jobid\": \"a\", \"attempts\": []}]", { philly_open, NULL } },
        { "pbs", "01/12/2026 08:00:00;E;12;user=u\n", { pbs_open, NULL } },
        { "sge", "q:n:g:u:j:7:sge:0:1:2:3:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:p:d:NONE:1:0:0:0:"
          "0::0:NONE:0\n", { sge_open, NULL } },
        { "sacct", "JobID|Submit|Start|End|State\n1|2026-01-12T08:00:00|2026-01-12T08:00:05|"
          "2026-01-12T09:00:00|COMPLETED\n", { sacct_open, NULL } },
        { "kube", "kind: List\nitems: []\n", { kube_open, NULL } },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        for (int cut = 0; cut < 3; cut++) {
            char text[400];
            struct log_of log = row[i].log;

            snprintf(text, sizeof text, "%.*s", (int)strlen(row[i].text) - 9 * cut, row[i].text);
            scratch_write(scratch, "log", text);
            log.path = scratch_path(scratch, cut == 2 ? "none" : "log");
            leaves_nothing(row[i].name, read_rows, &log);
        }
}

/* A file and the format that it is taken for. */
struct series_of {
    const struct series_format *format;
    const char *path;
};

static void read_series(const void *self)
{
    const struct series_of *of = self;
    const struct series_request request = { .file = of->path, .sort = true };
    struct arena *arena = arena_new(1 << 12);
    struct series_counts counts = { 0 };
    struct series_set set = { 0 };
    struct err err = { 0 };

    (void)series_import(arena, of->format, &request, &set, &counts, &err);
    arena_free(arena);
}

static bool wants_all(void *self, const char *type)
{
    (void)self;
    return type[0] != 'x';
}

static bool takes_rate(void *self, struct json *json, const char *type, const char *key,
                       double rate)
{
    (void)self;
    (void)json;
    return type != NULL && key != NULL && rate > 0;
}

static void read_rates(const void *path)
{
    const struct gavel_visit visit = { wants_all, takes_rate, NULL };
    struct arena *arena = arena_new(1 << 12);
    struct err err = { 0 };

    (void)gavel_rates_read(arena, path, &visit, NULL, &err);
    arena_free(arena);
}

/* Each text is read as each format of series, and as rates: whole, and cut in the middle. */
static void readers_of_series_close_what_they_open(void **state)
{
    static const char *const texts[] = {
        "{\"status\": \"success\", \"data\": {\"resultType\": \"matrix\", \"result\": "
        "[{\"metric\": {\"a\": \"b\"}, \"values\": [[1, \"2\"], [2, \"3\"]]}]}}",
        "series,time_s,value\na,1,2\na,2,3\nb,1,4\n",
        "{\"v100\": {\"('A', 1)\": {\"null\": 2.5, \"('B', 1)\": [1.0, 2.0]}}, "
        "\"x\": {\"a\": 1}}",
        "[{\"Timestamp\": \"2026-01-12T08:00:00+00:00\", \"SpotPrice\": \"1.5\"}]",
    };
    struct scratch *scratch = *state;
    char text[400];

    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++)
        for (size_t bytes = strlen(texts[t]); bytes > 8; bytes /= 2) {
            snprintf(text, sizeof text, "%.*s", (int)bytes, texts[t]);
            scratch_write(scratch, "s", text);
            const char *path = scratch_path(scratch, "s");
            leaves_nothing("rates", read_rates, path);
            for (size_t f = 0; series_format_at(f) != NULL; f++) {
                const struct series_of of = { series_format_at(f), path };
                leaves_nothing(of.format->name, read_series, &of);
            }
        }
}

/* A workload of a trace: its file is opened for `where`, for the first row and for all of them. */
static void read_trace(const void *text)
{
    struct aid aid;

    aid_open_generic(&aid, 8);
    (void)aid_workload(&aid, "/w.yaml", text);
    aid_close(&aid);
}

/* By column, `where`, order and sample; good files and bad ones. */
static void traces_close_what_they_open(void **state)
{
    static const char *const csv[] = {
        "job,t,run,n\na,0,5,1\nb,3,5,2\nc,90000,5,2\n", "job,t,run,n\na,0,5,1\nb,3,5,x\n",
        "job,t,run,n\nx,7,5,1\na,3,5,1\na,3,5,1\n", "job,t,run,n\n", "job,t\na,0\n",
    };
    static const char *const keys[] = {
        "", ", where: \"n < 2\"", ", where: \"n <\"", ", unsorted: sort",
        ", resample: {block: 1d}", ", skip: {duplicate_job: true}, unsorted: sort",
    };
    struct scratch *scratch = *state;

    for (size_t c = 0; c < sizeof csv / sizeof csv[0]; c++)
        for (size_t k = 0; k < sizeof keys / sizeof keys[0]; k++) {
            char text[500];

            scratch_write(scratch, "trace", csv[c]);
            snprintf(text, sizeof text, "trace: {file: %s, columns: {job: job, submit: t, "
                     "duration: run, gpus: n}%s}\n", scratch_path(scratch, "trace"), keys[k]);
            leaves_nothing(text, read_trace, text);
        }
}

static void read_conf(const void *text)
{
    struct arena *arena = arena_new(1 << 12);
    struct err err = { 0 };

    (void)conf_parse(arena, "e.yaml", text, strlen(text), &err);
    arena_free(arena);
}

static void configurations_leave_nothing(void **state)
{
    static const char *const texts[] = {
        "a: 1\nb: [1, 2, {c: d}]\n", "a: &x {b: 1}\nc: *x\n", "a: [1, 2\nb: 3\n", "a: 1\na: 2\n",
        "a: \"open\n", "\ta: 1\n", "a: {b: {c: {d: [e, f, [g]]}}}\n", ""
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        leaves_nothing(texts[i], read_conf, texts[i]);
}

/* ---- containers ---- */

static void count_down(struct loop *loop, void *self, uint64_t arg)
{
    if (arg > 0)
        loop_at(loop, loop_now_ns(loop) + (int64_t)arg, LOOP_RANK_FINISH, count_down, self,
                arg - 1);
}

static void run_loop(const void *self)
{
    struct loop *loop = loop_new((struct loop_limits){ INT64_MAX, UINT64_MAX, NULL });
    struct loop_handle handle = { 0 };

    for (uint64_t i = 0; i < *(const uint64_t *)self; i++)
        handle = loop_at(loop, (int64_t)(i * i), LOOP_RANK_ARRIVAL, count_down, NULL, 3);
    loop_cancel(loop, handle);
    loop_run(loop);
    loop_free(loop);
}

static void queue_flights(const void *self)
{
    struct flight_queue queue = { 0 };
    struct flight flight = { 0 };

    for (uint32_t i = 0; i < *(const uint64_t *)self; i++) {
        flight.arrive_ns = i;
        flight_insert(&queue, 0, &flight);
        if (i % 3 == 0)
            flight_pop(&queue);
    }
    flight_free(&queue);
}

static void fill_table(const void *self)
{
    static const struct table_column column[] = { { "a", TABLE_TEXT, "" },
                                                  { "b", TABLE_COUNT, "" } };
    struct table *table = table_new(column, 2);

    for (uint64_t i = 0; i < *(const uint64_t *)self; i++) {
        table_text(table, "a text, quoted");
        table_count(table, i);
        table_end_row(table);
    }
    table_free(table);
}

static void note_end(void *self, uint64_t arg)
{
    (void)self;
    (void)arg;
}

/* Flows over a link of their own and one of all, which come together and go one by one. */
static void run_flows(const void *self)
{
    enum { MOST = 400 };
    uint64_t flows = *(const uint64_t *)self < MOST ? *(const uint64_t *)self : MOST;
    struct loop *loop = loop_new((struct loop_limits){ INT64_MAX, UINT64_MAX, NULL });
    struct flow_net *net = flow_new(loop);
    struct flow_handle handle[MOST];
    uint32_t all = flow_link_add(net, 10.0);

    for (int round = 0; round < 2; round++) {
        for (uint64_t i = 0; i < flows; i++) {
            struct flow_use use[2] = { { all, 1.0 + (double)(i % 3) },
                                       { flow_link_add(net, 0.01 * (double)(i + 1)), 1.0 } };
            handle[i] = flow_start(net, &(struct flow_spec){ .work = 1e6, .weight = 1.0,
                .rate_max = INFINITY, .use = use, .use_count = 2, .done = note_end });
        }
        for (uint64_t i = 0; i < flows; i++) {
            assert_true(flow_rate(net, handle[i]) > 0.0);
            flow_stop(net, handle[i]);
        }
    }
    flow_free(net);
    loop_free(loop);
}

static void containers_of_any_size_leave_nothing(void **state)
{
    static const uint64_t sizes[] = { 1, 40, 3000, 60000 };

    (void)state;
    for (int i = 0; i < 4; i++) {
        leaves_nothing("loop", run_loop, &sizes[i]);
        leaves_nothing("flights", queue_flights, &sizes[i]);
        leaves_nothing("table", fill_table, &sizes[i]);
        leaves_nothing("net", run_flows, &sizes[i]);
    }
}

/* A rollout that is played step by step, and a net of links that nobody uses. */
static void play_rollout(const void *self)
{
    const struct law_aids *aids = self;
    struct gang gang = law_gang(aids, "a100-80", 2, 1, 0.0);
    struct rollout_shape shape = {
        .llm = catalogue_llm(aids->catalogue, "qwen2.5-7b"), .precision = PRECISION_BF16,
        .tp = 1, .responses = 20, .responses_per_prompt = 2, .prompt_tokens = 100,
        .response_mean_tokens = 50, .response_cv = 0.5, .response_max_tokens = 200,
        .concurrency_max = 4,
    };

    assert_true(rollout_steps_s(&shape, &gang, 1) > 0.0);
}

static void rollouts_leave_nothing(void **state)
{
    struct law_aids aids = law_aids_new();

    (void)state;
    leaves_nothing("rollout", play_rollout, &aids);
    law_aids_free(&aids);
}

/* ---- workloads ---- */

static const char draws[] =
    "arrival: {process: poisson, rate: 4/h}\njobs: 40\nmix: [{recipe: trace, gpus: {choice: "
    "{1: 1, 2: 1}}, duration: {exponential: {mean: 1h}}}]\nservices: [{name: s, model: "
    "qwen2.5-1.5b, gpu: {tp: 1, types: [a10]}, replicas: {min: 1, max: 2}, requests: {arrival: "
    "{process: poisson, rate: 5/s}, for: 1h, prompt: 90, output: 30}}]\n";

static void take_fingerprint(const void *spec)
{
    assert_true(workload_fingerprint(spec, 1, 0) != 0);
}

static void count_kinds(const void *spec)
{
    struct arena *arena = arena_new(0);
    const struct place_demand *demand;
    struct err err = { 0 };
    size_t count;

    assert_true(workload_demand(arena, spec, 1, &demand, &count, &err));
    assert_int_equal(count, 2);
    arena_free(arena);
}

static void what_draws_a_workload_is_given_back(void **state)
{
    struct aid aid;

    (void)state;
    aid_open(&aid);
    const struct workload_spec *spec = aid_workload(&aid, "w.yaml", draws);
    if (spec == NULL)
        fail_msg("%s", aid_message(&aid));
    leaves_nothing("fingerprint", take_fingerprint, spec);
    leaves_nothing("kinds of jobs", count_kinds, spec);
    aid_close(&aid);
}

/* ---- trials ---- */

#define NODES "cluster: {nodes: [{name: n, count: 4, gpus: {type: l40s, count: 4}, cpu: " \
    "{type: epyc-7763, sockets: 2}, memory: 512GB}], storage: {bandwidth: 10GB/s}}\n"
#define PASSES "model: bert-base, precision: int8, gpu: {tp: 1}, replicas: {min: 1, max: 4}, " \
    "scaling: {signal: concurrency, target: 2}, batch: 8, slo: {latency: 50ms}, " \
    "requests: {arrival: {process: gamma, cv: 3, rate: 400/s}, prompt: 128, for: 200s}"
#define ANSWERS "model: llama-3-8b, gpu: {tp: 1}, replicas: {min: 2, max: 2}, batch: 8, " \
    "slo: {ttft: 1s}, requests: {arrival: {process: poisson, rate: 4/s}, prompt: 600, " \
    "output: 150, for: 300s}"
#define SERVICE(MORE, KEYS) NODES "workload: {services: [{name: s, " MORE KEYS "}]}\n" \
    "policies: [fcfs]\n"

/* Trial i of an experiment that was read already. */
struct trial_of {
    struct world *world;
    uint32_t i;
    uint32_t *ran;              /* rounds that came to their end */
};

static void run_trial(const void *self)
{
    const struct trial_of *trial = self;
    struct trial_result result;

    *trial->ran += world_run(trial->world, trial->i, NULL, NULL, &result);
}

/* A trial that a policy refuses leaves nothing, either: jobs of several roles are not resized. */
static void trials_leave_nothing(void **state)
{
    static const char *const texts[] = {
        SERVICE("", PASSES), SERVICE("queue: 20, ", PASSES), SERVICE("timeout: 2s, ", ANSWERS),
        SERVICE("aggregate: 1s, ", PASSES), SERVICE("aggregate: 1s, ", ANSWERS),
        NODES "workload: {arrival: {process: poisson, rate: 20/h}, jobs: 12, mix: [{recipe: grpo, "
        "model: qwen2.5-7b, method: lora, recompute: full, zero: 2, micro_batch: 2, prompts: 32, "
        "responses: 8, prompt_tokens: 256, response: {mean: 400, cv: 1, max: 2048}, reward: {on: "
        "cpu, core_time: 100ms}, steps: 3, rollout: {gpus: 4, min: 2, max: 8}, train: {gpus: 4, "
        "min: 2, max: 8}, data: {cores: 16}}]}\npolicies: [static, dynamic, hybrid, learned, fcfs, "
        "sjf, easy, themis, afs, pollux, optimus, drf, gavel]\n",
    };

    (void)state;
    for (size_t t = 0; t < sizeof texts / sizeof texts[0]; t++) {
        struct world world = { 0 };
        char text[2048];

        snprintf(text, sizeof text, "experiment: t\nseeds: 1\nuntil: drained\n%s", texts[t]);
        if (!world_open(&world, text))
            fail_msg("%zu: %s", t, world_error(&world));
        for (uint32_t i = 0; i < experiment_trial_count(world.experiment); i++) {
            uint32_t ran = 0;
            struct trial_of trial = { &world, i, &ran };
            leaves_nothing(experiment_trial_spec(world.experiment, i).policy->name, run_trial,
                           &trial);
            assert_true(ran == 4 || (t + 1 == sizeof texts / sizeof texts[0] && i >= 7));
        }
        world_close(&world);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_that_are_kept_are_seen),
        cmocka_unit_test_setup_teardown(readers_close_what_they_open, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(readers_of_logs_close_what_they_open, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(readers_of_series_close_what_they_open, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(traces_close_what_they_open, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test(configurations_leave_nothing),
        cmocka_unit_test(containers_of_any_size_leave_nothing),
        cmocka_unit_test(rollouts_leave_nothing),
        cmocka_unit_test(what_draws_a_workload_is_given_back),
        cmocka_unit_test(trials_leave_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_report_test.c - the figures of an import's report, called alone: drawn jobs and requests
 * beside figures that are counted value by value.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/import/report.h"
#include "experiments/import/requests.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "tests/aid/scratch.h"
#include "workloads/formats/import.h"

#define JOBS_MAX 120
#define NS INT64_C(1000000000)

/* What was printed, to be freed. */
struct paper {
    FILE *file;
    char *text;
    size_t bytes;
};

static void paper_begin(struct paper *paper)
{
    *paper = (struct paper){ 0 };
    paper->file = open_memstream(&paper->text, &paper->bytes);
    assert_non_null(paper->file);
}

static char *paper_end(struct paper *paper)
{
    assert_int_equal(fclose(paper->file), 0);
    return paper->text;
}

/* The least of the values that at least p% of all do not exceed. */
static int64_t quantile(const int64_t *value, size_t count, unsigned percent)
{
    int64_t best = INT64_MAX;

    for (size_t i = 0; i < count; i++) {
        size_t below = 0;
        for (size_t j = 0; j < count; j++)
            below += value[j] <= value[i];
        if (100 * below >= percent * count && value[i] < best)
            best = value[i];
    }
    return best;
}

static void put_quantiles(FILE *file, const char *label, const int64_t *value, size_t count,
                          double unit)
{
    int64_t least = INT64_MAX, most = INT64_MIN;
    static const unsigned percent[] = { 25, 50, 75, 90, 99 };

    for (size_t i = 0; i < count; i++) {
        least = value[i] < least ? value[i] : least;
        most = value[i] > most ? value[i] : most;
    }
    fprintf(file, "%-12s min %.10g", label, (double)least / unit);
    for (size_t i = 0; i < 5; i++)
        fprintf(file, "  p%u %.10g", percent[i],
                (double)quantile(value, count, percent[i]) / unit);
    fprintf(file, "  max %.10g\n", (double)most / unit);
}

/* ---- jobs ---- */

struct drawn {
    struct import_job job[JOBS_MAX];
    struct import_result result;
    struct import_request request;
    struct imported imported;
};

static void draw_jobs(uint64_t seed, struct drawn *d)
{
    struct rng rng;
    int64_t at_ns = (int64_t)seed * NS;

    rng_init(&rng, seed, "report", 0);
    memset(d, 0, sizeof *d);
    d->request.file = "jobs";
    d->result.job = d->job;
    d->result.count = 1 + rng_below(&rng, seed % 3 == 0 ? 4 : JOBS_MAX);
    d->result.rows = d->result.count + rng_below(&rng, 9);
    bool at_once = rng_below(&rng, 5) == 0;
    for (size_t i = 0; i < d->result.count; i++) {
        bool part = rng_below(&rng, 4) == 0;
        d->job[i] = (struct import_job){ .submit_ns = at_ns, .gpus = part ? 1
                : (int64_t)rng_below(&rng, 9), .gpu_milli = part ? 125 : 0,
            .run_ns = 1 + (int64_t)rng_below(&rng, (uint64_t)NS * 100 * (1 + seed % 7)) };
        at_ns += at_once ? 0 : (int64_t)rng_below(&rng, 500) * NS / 4;
    }
    d->result.skipped[IMPORT_GPUS] = rng_below(&rng, 2);
    d->result.remark[REMARK_EARLY] = rng_below(&rng, 3);
    d->result.unsorted = rng_below(&rng, 2);
    d->result.longer_rows = rng_below(&rng, 2);
    d->result.blank_lines = rng_below(&rng, 2);
    d->imported = (struct imported){ .format = import_format_find("itp"),
        .request = &d->request, .result = &d->result,
        .cluster_gpus = (uint32_t)rng_below(&rng, 3) * 64 };
}

static void put_counted(FILE *file, uint64_t count, const char *text)
{
    if (count > 0)
        fprintf(file, "  %llu %s\n", (unsigned long long)count, text);
}

/* The load is the work over the GPUs for as long as jobs come: n jobs have n - 1 gaps, and the last
 * one has one behind it, too. */
static void put_load(FILE *file, const struct drawn *d, double gpu_s, double span_s)
{
    double n = (double)d->result.count;
    long long largest = 0;

    if (d->imported.cluster_gpus == 0) {
        fputs("load         not known: give --cluster FILE or --gpus N\n", file);
        return;
    }
    for (size_t i = 0; i < d->result.count; i++)
        largest = d->job[i].gpus > largest ? d->job[i].gpus : largest;
    if (span_s > 0)
        fprintf(file, "load         %.4g of %u GPUs over the span",
                gpu_s / (span_s * n / (n - 1)) / d->imported.cluster_gpus,
                d->imported.cluster_gpus);
    else
        fprintf(file, "load         all jobs at once, on %u GPUs", d->imported.cluster_gpus);
    fprintf(file, "; the largest job takes %lld\n", largest);
}

static void put_expected(FILE *file, const struct drawn *d)
{
    size_t n = d->result.count;
    int64_t milli[JOBS_MAX], run_ns[JOBS_MAX];
    double gpu_s = 0, span_s = (double)(d->job[n - 1].submit_ns - d->job[0].submit_ns) / 1e9;

    for (size_t i = 0; i < n; i++) {
        milli[i] = d->job[i].gpu_milli > 0 ? 125 : 1000 * d->job[i].gpus;
        run_ns[i] = d->job[i].run_ns;
        gpu_s += (double)milli[i] / 1000 * ((double)run_ns[i] / 1e9);
    }
    fprintf(file, "jobs: format itp\nrows         %llu\njobs         %zu\n",
            (unsigned long long)d->result.rows, n);
    put_counted(file, d->result.skipped[IMPORT_GPUS], "rows left out: gpus_not_positive");
    put_counted(file, d->result.remark[REMARK_EARLY],
                "jobs: began before they were submitted; submission is taken");
    put_counted(file, d->result.unsorted, "rows submitted before the job above: sorted");
    put_counted(file, d->result.longer_rows,
                "rows of more than 18 fields: the others are not read");
    put_counted(file, d->result.blank_lines, "blank lines");
    fprintf(file, "span         %.10g s, %.4g days, from the first submission to the last\n",
            span_s, span_s / 86400);
    fprintf(file, "GPU-hours    %.10g\n", gpu_s / 3600);
    put_quantiles(file, "GPUs", milli, n, 1000);
    put_quantiles(file, "run time s", run_ns, n, 1e9);
    if (n >= 20 && !(span_s > 0))
        fputs("note         all jobs are submitted at the same time: is it the right column, "
              "and has it all digits (1.76E+09 has not)?\n", file);
    if (n >= 20 && quantile(run_ns, n, 50) < 10 * NS)
        fputs("note         half of the jobs run for less than 10 s: run times are seconds, "
              "neither minutes nor hours\n", file);
    put_load(file, d, gpu_s, span_s);
}

static void figures_of_jobs_are_those_of_a_count(void **state)
{
    static struct drawn d;

    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        struct paper paper, expected;
        draw_jobs(seed, &d);
        d.imported.arena = arena_new(1 << 12);
        paper_begin(&expected);
        put_expected(expected.file, &d);
        paper_begin(&paper);
        import_report(paper.file, &d.imported);
        char *text = paper_end(&paper), *want = paper_end(&expected);
        assert_string_equal(text, want);
        free(text);
        free(want);
        arena_free(d.imported.arena);
    }
}

/* Of 20 jobs, 10 run for `s` seconds, and the others for longer. */
static void doubts_have_bounds(void **state)
{
    static const struct { size_t jobs; int64_t s; const char *says; } row[] = {
        { 19, 5, NULL }, { 20, 5, "less than 10 s" }, { 20, 9, "less than 10 s" },
        { 20, 10, NULL }, { 20, 604799, NULL }, { 20, 604800, "more than 7 days" },
        { 19, 604800, NULL }, { 21, 604800, "more than 7 days" },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        static struct drawn d;
        struct paper paper;
        draw_jobs(2, &d);
        d.result.count = row[i].jobs;
        for (size_t j = 0; j < row[i].jobs; j++)
            d.job[j] = (struct import_job){ .gpus = 1, .submit_ns = (int64_t)j,
                .run_ns = (2 * j < row[i].jobs ? row[i].s : row[i].s + 9999999) * NS };
        d.imported.arena = arena_new(1 << 12);
        paper_begin(&paper);
        import_report(paper.file, &d.imported);
        char *text = paper_end(&paper);
        if ((strstr(text, "note  ") != NULL) != (row[i].says != NULL) ||
            (row[i].says != NULL && strstr(text, row[i].says) == NULL))
            fail_msg("row %zu: %s", i, text);
        free(text);
        arena_free(d.imported.arena);
    }
    (void)state;
}

/* ---- requests ---- */

struct requests {
    int64_t ms[JOBS_MAX], prompt[JOBS_MAX], output[JOBS_MAX];
    int blocks[JOBS_MAX], id[JOBS_MAX][8];
    size_t count;
};

/* Prompts end before, at and behind the end of a block of 512 tokens. */
static void draw_requests(uint64_t seed, struct requests *r, char *text)
{
    struct rng rng;
    int64_t at_ms = 5;

    rng_init(&rng, seed, "requests", 0);
    r->count = 1 + rng_below(&rng, JOBS_MAX);
    for (size_t i = 0; i < r->count; i++) {
        r->ms[i] = at_ms;
        r->prompt[i] = 512 * (1 + (int64_t)rng_below(&rng, 4)) - 1 + (int64_t)rng_below(&rng, 3);
        r->output[i] = 1 + (int64_t)rng_below(&rng, 900);
        r->blocks[i] = seed % 4 == 0 ? 0 : (int)rng_below(&rng, 7);
        text += sprintf(text, "{\"timestamp\": %lld, \"input_length\": %lld, \"output_length\": "
                        "%lld, \"hash_ids\": [", (long long)at_ms, (long long)r->prompt[i],
                        (long long)r->output[i]);
        for (int b = 0; b < r->blocks[i]; b++) {
            r->id[i][b] = b == 0 ? 0 : 10 * b + (int)rng_below(&rng, 3);
            text += sprintf(text, "%s%d", b > 0 ? ", " : "", r->id[i][b]);
        }
        text += sprintf(text, "]}\n");
        at_ms += (int64_t)rng_below(&rng, 3) * (int64_t)rng_below(&rng, 700);
    }
}

/* Has an earlier block of the same or an earlier request that id? */
static bool is_new(const struct requests *r, size_t request, int block)
{
    for (size_t i = 0; i <= request; i++)
        for (int b = 0; b < (i < request ? r->blocks[i] : block); b++)
            if (r->id[i][b] == r->id[request][block])
                return false;
    return true;
}

static void put_tokens(FILE *file, const char *label, const int64_t *value, size_t count)
{
    long long sum = 0;

    for (size_t i = 0; i < count; i++)
        sum += value[i];
    put_quantiles(file, label, value, count, 1);
    fprintf(file, "             mean %.6g, sum %lld\n", (double)sum / (double)count, sum);
}

/* The gaps' standard deviation over their mean, in two passes. */
static void put_gaps(FILE *file, const struct requests *r)
{
    double n = (double)r->count - 1, span_s = (double)(r->ms[r->count - 1] - r->ms[0]) / 1000;
    double mean = span_s / n, squares = 0;

    fprintf(file, "span         %.10g s, %.4g days, from the first request to the last\n", span_s,
            span_s / 86400);
    for (size_t i = 1; i < r->count; i++)
        squares += pow((double)(r->ms[i] - r->ms[i - 1]) / 1000 - mean, 2);
    if (span_s > 0)
        fprintf(file, "rate         %.6g a second; cv of the gaps %.4g\n", n / span_s,
                sqrt(squares / n) / mean);
}

static void put_expected_requests(FILE *file, const char *path, const struct requests *r)
{
    unsigned long long together = 0, odd = 0, blocks = 0, distinct = 0;

    for (size_t i = 0; i < r->count; i++) {
        together += i > 0 && r->ms[i] == r->ms[i - 1];
        odd += r->blocks[i] > 0 && r->blocks[i] != (r->prompt[i] + 511) / 512;
        blocks += (unsigned)r->blocks[i];
        for (int b = 0; b < r->blocks[i]; b++)
            distinct += is_new(r, i, b);
    }
    fprintf(file, "%s: format mooncake\nrows         %zu\nrequests     %zu\n", path, r->count,
            r->count);
    put_counted(file, together, "requests at the instant of the one above");
    put_counted(file, odd, "requests whose hash ids are not one for each 512 tokens of the prompt");
    put_gaps(file, r);
    put_tokens(file, "prompt", r->prompt, r->count);
    put_tokens(file, "output", r->output, r->count);
    if (blocks > 0)
        fprintf(file, "prefixes     %llu hash ids, %llu distinct\n", blocks, distinct);
}

static void figures_of_requests_are_those_of_a_count(void **state)
{
    static struct requests drawn;
    static char lines[JOBS_MAX * 200];
    struct scratch *scratch = *state;

    for (uint64_t seed = 1; seed <= 80; seed++) {
        struct paper paper, expected;
        struct err err = { 0 };
        draw_requests(seed, &drawn, lines);
        scratch_write(scratch, "r", lines);
        struct requests_import import = { .arena = arena_new(1 << 12), .format = "mooncake",
                                          .file = scratch_path(scratch, "r") };
        if (!import_requests_read(&import, &err))
            fail_msg("seed %llu: %s", (unsigned long long)seed, err.text);
        paper_begin(&expected);
        put_expected_requests(expected.file, import.file, &drawn);
        paper_begin(&paper);
        import_requests_report(paper.file, &import);
        char *text = paper_end(&paper), *want = paper_end(&expected);
        assert_string_equal(text, want);
        free(text);
        free(want);
        arena_free(import.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_of_jobs_are_those_of_a_count),
        cmocka_unit_test(doubts_have_bounds),
        cmocka_unit_test_setup_teardown(figures_of_requests_are_those_of_a_count, scratch_setup,
                                        scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_fit_test.c - sizes, gaps and hours of a trace, beside a count of its jobs; traces by lot,
 * with ties, jobs without GPUs and parts of GPUs.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/base/rng.h"
#include "sim/stats/stats.h"
#include "workloads/formats/import.h"
#include "workloads/formats/trace_fit.h"

#define JOBS_MAX 3000
#define NS INT64_C(1000000000)
#define ALONE 50u               /* jobs of a size that has an entry of its own */

struct trace {
    struct arena *arena;
    struct import_job job[JOBS_MAX];
    struct import_result result;
    struct trace_fit fit;
    struct err err;
};

static void begin(struct trace *t)
{
    memset(t, 0, sizeof *t);
    t->arena = arena_new(1 << 16);
    t->result.job = t->job;
}

static void add(struct trace *t, int64_t submit_s, int64_t gpus, int64_t milli, double run_s)
{
    t->job[t->result.count++] = (struct import_job){ .submit_ns = submit_s * NS, .gpus = gpus,
        .gpu_milli = milli, .run_ns = (int64_t)(run_s * 1e9) };
}

static void fit(struct trace *t)
{
    if (!trace_fit_make(t->arena, &t->result, "f", &t->fit, &t->err))
        fail_msg("%s", t->err.text);
}

static int64_t milli_of(const struct import_job *job)
{
    return job->gpu_milli > 0 ? job->gpu_milli : 1000 * job->gpus;
}

static uint64_t jobs_of(const struct trace *t, int64_t milli)
{
    uint64_t jobs = 0;

    for (size_t i = 0; i < t->result.count; i++)
        jobs += milli_of(&t->job[i]) == milli;
    return jobs;
}

/* Run times of the sizes of an entry: as many, ascending, and with their sum. */
static void check_times(const struct trace *t, const struct trace_fit_entry *entry)
{
    double sum = 0, found = 0;
    size_t jobs = 0;

    for (size_t i = 0; i < t->result.count; i++)
        for (size_t s = 0; s < entry->size_count; s++)
            if (milli_of(&t->job[i]) == entry->size[s].gpu_milli) {
                sum += (double)t->job[i].run_ns / 1e9;
                jobs++;
            }
    assert_int_equal(entry->jobs, jobs);
    for (size_t i = 0; i < jobs; i++) {
        found += entry->run_s[i];
        assert_true(i == 0 || entry->run_s[i - 1] <= entry->run_s[i]);
    }
    assert_true(fabs(found - sum) <= 1e-9 * sum);
    bool spread = entry->run_s[0] < entry->run_s[jobs - 1];
    double near = entry->run.fit[entry->run.best].ks;
    bool good = entry->run.good[entry->run.best];
    if (!spread)
        assert_false(entry->empirical || good);
    else
        assert_true(entry->empirical == (jobs < 10 || !good ||
                                         near > fmax(0.05, 1.36 / sqrt((double)jobs))));
}

/* Sizes of 50 jobs or more have entries of their own, the most frequent first to get one; all
 * others share the last entry.  Entries, and sizes of the last one, ascend. */
static void check_entries(const struct trace *t)
{
    uint64_t seen = 0, least_alone = UINT64_MAX;
    size_t alone = 0;

    for (size_t e = 0; e < t->fit.entries; e++) {
        const struct trace_fit_entry *entry = &t->fit.entry[e];
        bool last = e + 1 == t->fit.entries;

        for (size_t s = 0; s < entry->size_count; s++) {
            assert_int_equal(entry->size[s].jobs, jobs_of(t, entry->size[s].gpu_milli));
            seen += entry->size[s].jobs;
            assert_true(s == 0 || entry->size[s - 1].gpu_milli < entry->size[s].gpu_milli);
        }
        if (!last || (entry->size_count == 1 && entry->size[0].jobs >= ALONE)) {
            assert_true(entry->size_count == 1 && entry->size[0].jobs >= ALONE);
            least_alone = entry->size[0].jobs < least_alone ? entry->size[0].jobs : least_alone;
            alone++;
        }
        assert_true(e == 0 || last ||
                    entry->size[0].gpu_milli > t->fit.entry[e - 1].size[0].gpu_milli);
        check_times(t, entry);
    }
    assert_int_equal(seen + jobs_of(t, 0), t->result.count);
    assert_int_equal(t->fit.without_gpus, jobs_of(t, 0));
    assert_true(alone < TRACE_FIT_ENTRIES_MAX);
    const struct trace_fit_entry *rest = &t->fit.entry[t->fit.entries - 1];
    for (size_t s = 0; rest->size_count > 1 && s < rest->size_count; s++)
        assert_true(rest->size[s].jobs < ALONE || (alone + 1 == TRACE_FIT_ENTRIES_MAX &&
                                                   rest->size[s].jobs <= least_alone));
}

static void check_gaps(const struct trace *t)
{
    int64_t first = -1, last = -1;
    uint64_t zero = 0, jobs = 0;
    double x = 0, y = 0, turn = 2 * acos(-1);

    for (size_t i = 0; i < t->result.count; i++) {
        int64_t at = t->job[i].submit_ns;
        if (milli_of(&t->job[i]) == 0)
            continue;
        zero += at == last;
        first = first < 0 ? at : first;
        last = at;
        jobs++;
        x += cos(turn * (double)(at % (86400 * NS)) / (86400e9));
        y += sin(turn * (double)(at % (86400 * NS)) / (86400e9));
    }
    assert_int_equal(t->fit.zero_gaps, zero);
    double rate = (double)(jobs - 1) / ((double)(last - first) / 1e9);
    assert_true(fabs(t->fit.rate_per_s - rate) <= 1e-9 * rate);
    double wide = fmin(1, 2 * hypot(x, y) / (double)jobs), angle = atan2(y, x) / turn;
    assert_true(fabs(t->fit.day_amplitude - wide) < 1e-6);
    if (wide > 0.01)
        assert_true(fabs(t->fit.day_peak_s - 86400 * (angle < 0 ? angle + 1 : angle)) < 1);
}

static void traces_are_counted_job_by_job(void **state)
{
    static struct trace t;

    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct rng rng;
        int64_t at = (int64_t)(seed * 10007 % 86400), kinds = (int64_t)(seed % 19) + 1;

        rng_init(&rng, seed, "fit", 0);
        begin(&t);
        for (uint32_t i = 0; i < 60 + seed * 45; i++) {
            int64_t gpus = (int64_t)(rng_below(&rng, (uint64_t)kinds) *
                                     rng_below(&rng, 3)), milli = 0;
            if (rng_below(&rng, 8) == 0) {
                gpus = 1;
                milli = 250 * (1 + (int64_t)rng_below(&rng, 3));
            }
            add(&t, at, gpus, milli, gpus == 2 ? 100 : 1 + 500 * rng_uniform(&rng));
            at += (int64_t)(rng_below(&rng, 4) * rng_below(&rng, 60));
        }
        fit(&t);
        check_entries(&t);
        check_gaps(&t);
        arena_free(t.arena);
    }
}

/* 49 jobs of one size share an entry with 3 of another; the 50th has them one of their own. */
static void fifty_jobs_of_a_size_stand_alone(void **state)
{
    static struct trace t;

    (void)state;
    for (int jobs = 49; jobs <= 50; jobs++) {
        begin(&t);
        for (int i = 0; i < jobs; i++)
            add(&t, 10 * i, 4, 0, 5 + i % 7);
        for (int i = 0; i < 3; i++)
            add(&t, 1000 + i, 1, 0, 50 + i);
        fit(&t);
        assert_int_equal(t.fit.entries, jobs == 50 ? 2 : 1);
        assert_int_equal(t.fit.entry[0].jobs, jobs == 50 ? 50 : 52);
        check_entries(&t);
        arena_free(t.arena);
    }
}

/* Exponential gaps have the gamma's shape 1; by Kolmogorov's law run times of one family are near
 * enough to it, and two far heaps are not. */
static void gaps_and_times_are_fitted(void **state)
{
    static struct trace t;
    struct rng rng;
    double at_s = 0;

    (void)state;
    rng_init(&rng, 3, "gaps", 0);
    begin(&t);
    for (int i = 0; i < 2000; i++) {
        bool heaps = i % 2 == 0;
        at_s += rng_exponential(&rng, 100);
        add(&t, 0, heaps ? 2 : 1, 0,
            heaps ? (rng_below(&rng, 2) ? 10 : 1000) * (1 + 0.01 * rng_uniform(&rng))
                  : rng_exponential(&rng, 300) + 0.01);
        t.job[i].submit_ns = (int64_t)(at_s * 1e9);
    }
    fit(&t);
    assert_true(fabs(t.fit.rate_per_s * 100 - 1) < 0.1);
    assert_true(fabs(t.fit.gap_cv - 1) < 0.1);
    assert_true(t.fit.entries == 2 && !t.fit.entry[0].empirical && t.fit.entry[1].empirical);
    arena_free(t.arena);
}

static void what_cannot_be_fitted_says_why(void **state)
{
    static struct trace t;

    (void)state;
    for (int jobs = 9; jobs <= 10; jobs++) {
        begin(&t);
        for (int i = 0; i < 40; i++)
            add(&t, i, i < jobs ? 1 : 0, 0, 5);
        bool made = trace_fit_make(t.arena, &t.result, "f", &t.fit, &t.err);
        assert_true(made == (jobs == 10));
        assert_int_equal(t.fit.without_gpus, 40 - jobs);
        if (!made)
            assert_string_equal(t.err.text,
                                "9 jobs are too few for a fit: at least 10 are needed");
        arena_free(t.arena);
    }
    begin(&t);
    for (int i = 0; i < 20; i++)
        add(&t, 7, 1, 0, 5);
    assert_false(trace_fit_make(t.arena, &t.result, "f", &t.fit, &t.err));
    assert_true(t.err.kind == ERR_RANGE && t.err.pos.line == 0);
    arena_free(t.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(traces_are_counted_job_by_job),
        cmocka_unit_test(fifty_jobs_of_a_size_stand_alone),
        cmocka_unit_test(gaps_and_times_are_fitted),
        cmocka_unit_test(what_cannot_be_fitted_says_why),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

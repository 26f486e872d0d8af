/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_import.c - any bytes as a published trace or series, plain or gzip.
 *
 * The first byte chooses the format, the second how it is read.  What is refused
 * has a message that can be shown; of what is accepted, rows are jobs plus what
 * was left out, in order, and every point of a series is counted.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/arena.h"
#include "workloads/formats/import.h"
#include "workloads/formats/trace_fit.h"
#include "workloads/series/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool good)
{
    if (!good)
        abort();
}

static void write_file(const char *path, const void *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");

    require(file != NULL);
    require(bytes == 0 || fwrite(data, 1, bytes, file) == bytes);
    require(fclose(file) == 0);
}

static void check_refused(const struct err *err)
{
    char out[2048];

    require(err->kind != ERR_NONE && err->text[0] != '\0');
    require(err_format(err, out, sizeof out) > 0);
}

static void check_jobs(struct arena *arena, const struct import_result *result)
{
    uint64_t left_out = 0;
    struct trace_fit like;
    struct err err = {.kind = ERR_NONE};

    for (int r = 0; r < IMPORT_REASONS; r++)
        left_out += result->skipped[r];
    require(result->count > 0 && result->rows == result->count + left_out);
    for (size_t i = 0; i < result->count; i++) {
        const struct import_job *job = &result->job[i];

        require(job->run_ns > 0);
        require(job->gpus > 0 || (job->pod && job->core_milli > 0));
        require(i == 0 || job->submit_ns >= job[-1].submit_ns);
    }
    if (!trace_fit_make(arena, result, "fuzz", &like, &err))
        check_refused(&err);
}

/* The same lengths for all formats that need any: of applications, or rates. */
static const char *lengths_of(const struct import_format *format,
                              char path[80])
{
    static const char csv[] = "application,run_s\na,60\nb,7.5\n";
    static const char json[] = "{\n\"v100\": {\n\"('a', 1)\": {\n"
                               "\"null\": 2.0\n}\n}\n}\n";

    if (format->lengths == NULL)
        return NULL;
    snprintf(path, 80, "/tmp/fuzz_lengths.%ld", (long)getpid());
    if (format->typed)
        write_file(path, json, sizeof json - 1);
    else
        write_file(path, csv, sizeof csv - 1);
    return path;
}

static void try_jobs(struct arena *arena, const struct import_format *format,
                     const char *path, unsigned how)
{
    char side[80];
    struct import_request request = {
        .file = path, .lengths = lengths_of(format, side),
        .gpu_type = format->typed ? "v100" : NULL, .sort = how & 1,
        .gpus_max = how & 2 ? 64 : 0};
    struct import_result result;
    struct err err = {.kind = ERR_NONE};

    for (int r = 0; r < IMPORT_REASONS; r++)
        request.skip[r] = how & 4;
    if (import_read(arena, format, &request, &result, &err))
        check_jobs(arena, &result);
    else
        check_refused(&err);
    if (request.lengths != NULL)
        unlink(side);
}

static void try_series(struct arena *arena, const struct series_format *format,
                       const char *path, unsigned how)
{
    struct series_request request = {path, how & 1};
    struct series_set set;
    struct series_counts counts;
    struct err err = {.kind = ERR_NONE};
    uint64_t points = 0;

    if (!series_import(arena, format, &request, &set, &counts, &err)) {
        check_refused(&err);
        return;
    }
    for (size_t i = 0; i < set.count; i++) {
        points += set.series[i].count;
        for (size_t p = 1; p < set.series[i].count; p++)
            require(set.series[i].point[p].time_ns >=
                    set.series[i].point[p - 1].time_ns);
    }
    require(points == counts.points && points > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char path[64];
    size_t jobs = 0, series = 0, which;
    struct arena *arena;

    if (bytes < 2)
        return 0;
    while (import_format_at(jobs) != NULL)
        jobs++;
    while (series_format_at(series) != NULL)
        series++;
    snprintf(path, sizeof path, "/tmp/fuzz_import.%ld", (long)getpid());
    write_file(path, data + 2, bytes - 2);
    arena = arena_new(0);
    which = data[0] % (jobs + series);
    if (which < jobs)
        try_jobs(arena, import_format_at(which), path, data[1]);
    else
        try_series(arena, series_format_at(which - jobs), path, data[1]);
    arena_free(arena);
    unlink(path);
    return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_trace.c - any bytes as a trace, CSV or SWF, plain or gzip.
 *
 * The first byte chooses how it is read.  What is refused has a message that
 * can be shown; what is accepted gives, when it is streamed, the number of
 * jobs that was counted, in order, each with GPUs that the cluster has.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/types/truth.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "workloads/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

#define GPUS 64u

static void require(bool good)
{
    if (!good)
        abort();
}

static void write_file(const char *path, const uint8_t *data, size_t bytes)
{
    FILE *file = fopen(path, "wb");

    require(file != NULL);
    require(bytes == 0 || fwrite(data, 1, bytes, file) == bytes);
    require(fclose(file) == 0);
}

static const struct conf_node *workload(struct arena *arena, const char *path,
                                        unsigned how, struct err *err)
{
    char text[600];
    int n = snprintf(
        text, sizeof text,
        "trace:\n  file: %s\n  format: %s\n  unsorted: %s\n  origin: %s\n"
        "  estimate: %s\n%s%s%s", path, how & 1 ? "swf" : "csv",
        how & 2 ? "sort" : "error", how & 4 ? "file" : "first",
        how & 8 ? "requested" : "exact",
        how & 16 ? "  skip: {run_time_not_positive: true, "
                   "gpus_not_positive: true, larger_than_cluster: true}\n" : "",
        how & 32 ? "  slice: {from: 1s, for: 1000s, jobs: 5}\n" : "",
        how & 1 ? "  gpus_are: processors\n"
                : how & 8 ? "  columns: {job: j, submit: s, duration: d, "
                            "gpus: g, limit: l, tenant: t, priority: p}\n"
                          : "  columns: {submit: s, duration: d, gpus: g}\n");
    require(n > 0 && (size_t)n < sizeof text);
    return conf_parse(arena, "fuzz.yaml", text, (size_t)n, err);
}

static void stream(struct arena *arena, const struct workload_spec *spec,
                   struct err *err)
{
    struct source *source = source_open(arena, spec, 1, 0);
    struct job_birth birth;
    enum source_step step;
    int64_t last_ns = 0;
    uint64_t jobs = 0;

    while ((step = source_next(source, &birth, err)) == SOURCE_JOB) {
        require(birth.request.submit_ns >= last_ns);
        require(birth.truth.duration_ns >= 0);
        last_ns = birth.request.submit_ns;
        jobs++;
    }
    require(step == SOURCE_END);
    require(jobs == workload_counts(spec).jobs);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const char cluster_text[] =
        "nodes: [{name: a, count: 8, gpus: {type: generic, count: 8}}]\n";
    static struct arena *forever;       /* catalogue and cluster, made once */
    static const struct catalogue *catalogue;
    static const struct cluster_spec *cluster;
    struct err err = {.kind = ERR_NONE};
    char path[64], out[2048];

    if (bytes == 0)
        return 0;
    if (forever == NULL) {
        forever = arena_new(0);
        catalogue = catalogue_load(forever, NULL, 0, &err);
        cluster = cluster_read(forever,
                               conf_parse(forever, "c.yaml", cluster_text,
                                          sizeof cluster_text - 1, &err),
                               catalogue, &err);
        require(cluster != NULL && cluster->gpu_count == GPUS);
    }
    snprintf(path, sizeof path, "/tmp/fuzz_trace.%ld", (long)getpid());
    write_file(path, data + 1, bytes - 1);
    struct arena *arena = arena_new(0);
    const struct conf_node *conf = workload(arena, path, data[0], &err);
    require(conf != NULL);      /* the text above is right */
    const struct workload_spec *spec =
        workload_read(arena, conf, catalogue, cluster, &err);
    require((spec == NULL) == (err.kind != ERR_NONE));
    if (spec != NULL)
        stream(arena, spec, &err);
    else
        require(err.text[0] != '\0' && err_format(&err, out, sizeof out) > 0);
    unlink(path);
    arena_free(arena);
    return 0;
}

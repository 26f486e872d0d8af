/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulators_out.c - jobs for BatSim and OpenDC, by their documentation:
 *
 * - BatSim, "Workload" (batsim.readthedocs.io): an object with nb_res, jobs (id,
 *   subtime, res, profile, walltime) and profiles; a profile of type delay lasts
 *   a number of seconds, on any platform.
 * - OpenDC, "Workload" and "Topology" (opendc.org): a table of tasks and a table
 *   of fragments, in milliseconds, MHz and MB; and clusters of hosts.
 *
 * What they cannot hold is counted for the user to read.
 */
#include "experiments/import/simulators_out.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "models/cluster/cluster.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/text/out.h"
#include "workloads/formats/import.h"

#define NS_PER_MS 1000000

/* A text between quotation marks, as JSON and CSV (RFC 4180) write it. */
static void out_quoted(struct out *out, const char *text, const char *mark)
{
    out_text(out, "\"");
    for (; *text != '\0'; text++) {
        if (*text == '"')
            out_printf(out, "%s\"", mark);
        else if (*text == '\\' && mark[0] == '\\')
            out_text(out, "\\\\");
        else if ((unsigned char)*text < ' ')
            out_printf(out, mark[0] == '\\' ? "\\u%04x" : " ", *text);
        else
            out_printf(out, "%c", *text);
    }
    out_text(out, "\"");
}

/* Writes the job's name, or its row from 1 where it has none, in quotation marks; `mark`
 * goes before those within the name (\ in JSON, " in CSV). */
static void out_name(struct out *out, const struct import_job *job,
                     const char *mark)
{
    char number[24];

    snprintf(number, sizeof number, "%" PRIu64, job->row + 1);
    out_quoted(out, job->name == NULL ? number : job->name, mark);
}

/* Exact decimal seconds. */
static void out_seconds(struct out *out, int64_t ns)
{
    char text[32];

    clock_format_s(ns, text, sizeof text);
    out_text(out, text);
}

static bool is_whole_ms(int64_t ns)
{
    return ns % NS_PER_MS == 0;
}

/* Counts what neither simulator has a field for. */
static void count_lost(const struct import_job *job,
                       struct simulators_lost *lost)
{
    lost->cores += job->core_milli > 0 || job->memory_bytes > 0;
    lost->types += job->types != NULL && job->types[0] != '\0';
    lost->tenants += job->tenant != NULL;
    lost->priorities += job->priority != 0;
    lost->deadlines += job->deadline_ns != CLOCK_NEVER_NS;
}

/* ---- BatSim ---------------------------------------------------------------- */

/* Writes a job whose profile is named by its run time: jobs of one run time share it. */
static void batsim_job(struct out *out, const struct import_job *job)
{
    out_text(out, "    {\"id\": ");
    out_name(out, job, "\\");
    out_text(out, ", \"subtime\": ");
    out_seconds(out, job->submit_ns);
    out_printf(out, ", \"res\": %" PRId64 ", \"profile\": \"delay_", job->gpus);
    out_seconds(out, job->run_ns);
    out_text(out, "\"");
    if (job->limit_ns > 0) {
        out_text(out, ", \"walltime\": ");
        out_seconds(out, job->limit_ns);
    }
    out_text(out, "}");
}

/* Writes the profile of a run time: a delay of that many seconds. */
static void batsim_profile(struct out *out, int64_t run_ns)
{
    out_text(out, "    \"delay_");
    out_seconds(out, run_ns);
    out_text(out, "\": {\"type\": \"delay\", \"delay\": ");
    out_seconds(out, run_ns);
    out_text(out, "}");
}

static int compare_times(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

/* Each run time once, in ascending order: keys of an object must differ. */
static void batsim_profiles(struct arena *arena, struct out *out,
                            const struct jobs *jobs)
{
    int64_t *run_ns = arena_alloc(arena, jobs->count + 1, sizeof *run_ns);
    const char *before = "";
    size_t count = 0;

    for (size_t i = 0; i < jobs->count; i++)
        if (jobs->job[i].gpus > 0)
            run_ns[count++] = jobs->job[i].run_ns;
    if (count > 0)
        qsort(run_ns, count, sizeof *run_ns, compare_times);
    for (size_t i = 0; i < count; i++) {
        if (i > 0 && run_ns[i] == run_ns[i - 1])
            continue;
        out_text(out, before);
        batsim_profile(out, run_ns[i]);
        before = ",\n";
    }
}

struct simulators_lost batsim_out(struct arena *arena, struct out *out,
                                  const struct jobs *jobs, uint64_t nb_res)
{
    struct simulators_lost lost = { 0 };
    const char *before = "";

    out_printf(out, "{\n  \"description\": \"GPUs, by clustersim export\",\n"
               "  \"nb_res\": %" PRIu64 ",\n  \"jobs\": [\n", nb_res);
    for (size_t i = 0; i < jobs->count; i++) {
        const struct import_job *job = &jobs->job[i];

        if (job->gpus <= 0) {
            lost.no_gpus++;
            continue;
        }
        count_lost(job, &lost);
        lost.parts += job->gpu_milli > 0;
        out_text(out, before);
        batsim_job(out, job);
        before = ",\n";
    }
    out_text(out, "\n  ],\n  \"profiles\": {\n");
    batsim_profiles(arena, out, jobs);
    out_text(out, "\n  }\n}\n");
    return lost;
}

/* ---- OpenDC ---------------------------------------------------------------- */

/* Milliseconds, rounded up: OpenDC computes the time from the work, and a job must not be
 * shorter. */
static int64_t to_ms(int64_t ns)
{
    return (ns + NS_PER_MS - 1) / NS_PER_MS;
}

/* MHz of a job: of its GPUs, or of its part of one. */
static int64_t opendc_mhz(const struct import_job *job)
{
    return job->gpu_milli > 0 ? job->gpu_milli * OPENDC_MHZ / 1000
                              : job->gpus * OPENDC_MHZ;
}

/* A task is a job: OpenDC knows no GPUs, so a GPU is a core of OPENDC_MHZ, and a part of
 * one is a slower core.  Times are ms, memory MB. */
struct simulators_lost opendc_tasks_out(struct out *out,
                                        const struct jobs *jobs)
{
    struct simulators_lost lost = { 0 };

    out_text(out, "id,submission_time,duration,cpu_count,cpu_capacity,"
             "mem_capacity\n");
    for (size_t i = 0; i < jobs->count; i++) {
        const struct import_job *job = &jobs->job[i];

        if (job->gpus <= 0) {
            lost.no_gpus++;
            continue;
        }
        count_lost(job, &lost);
        if (job->limit_ns > 0)
            lost.limits++;
        lost.rounded += !is_whole_ms(job->submit_ns) ||
                        !is_whole_ms(job->run_ns);
        out_name(out, job, "\"");
        out_printf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ",%" PRId64 ".0,%"
                   PRId64 "\n", to_ms(job->submit_ns), to_ms(job->run_ns),
                   job->gpus, opendc_mhz(job), job->memory_bytes / 1000000);
    }
    return lost;
}

/* One fragment a task: it computes at full speed for as long as it runs. */
void opendc_fragments_out(struct out *out, const struct jobs *jobs)
{
    out_text(out, "id,duration,cpu_count,cpu_usage\n");
    for (size_t i = 0; i < jobs->count; i++) {
        const struct import_job *job = &jobs->job[i];

        if (job->gpus <= 0)
            continue;
        out_name(out, job, "\"");
        out_printf(out, ",%" PRId64 ",%" PRId64 ",%" PRId64 ".0\n",
                   to_ms(job->run_ns), job->gpus, opendc_mhz(job));
    }
}

/* Hosts with GPUs; nodes of cores alone have no place in it, as no task asks for them.
 * memorySize is in bytes. */
void opendc_topology_out(struct out *out, const struct cluster_spec *cluster)
{
    const char *before = "";

    out_text(out, "{\"clusters\": [{\"name\": \"clustersim\", \"hosts\": [\n");
    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];

        if (group->gpus == 0)
            continue;
        out_printf(out, "%s  {\"name\": ", before);
        out_json_text(out, group->name);
        out_printf(out, ", \"count\": %u, \"cpu\": "
                   "{\"coreCount\": %u, \"coreSpeed\": %d}, \"memory\": "
                   "{\"memorySize\": %" PRId64 "}}",
                   group->node_count, group->gpus, OPENDC_MHZ,
                   group->memory_bytes);
        before = ",\n";
    }
    out_text(out, "\n]}]}\n");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * jobs_out.c - whole jobs as CSV, and in the Standard Workload Format.
 *
 * SWF (Chapin et al., Benchmarks and standards for the evaluation of parallel
 * job schedulers, JSSPP 1999; version 2.2) has 18 numbers a line, so names and
 * tenants become numbers, and what it cannot hold is counted (struct jobs_lost)
 * for the user to read.  A processor is a GPU.
 *
 * Optional columns are written only if some job has a value, so that a plain
 * trace gives a plain file.
 */
#include "experiments/import/jobs_out.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/rng.h"
#include "sim/text/out.h"
#include "sim/text/scan.h"
#include "workloads/formats/import.h"

/* Exact: a whole number of ns as decimal seconds, without trailing zeros. */
static void out_seconds(struct out *out, int64_t ns)
{
    char text[32];

    clock_format_s(ns, text, sizeof text);
    out_text(out, text);
}

/* One pass over the jobs. */
struct jobs_columns jobs_columns(const struct jobs *jobs)
{
    struct jobs_columns any = { 0 };

    for (size_t i = 0; i < jobs->count; i++) {
        const struct import_job *job = &jobs->job[i];

        any.limit = any.limit || job->limit_ns > 0;
        any.tenant = any.tenant || job->tenant != NULL;
        any.priority = any.priority || job->priority != 0;
        any.deadline = any.deadline || job->deadline_ns != CLOCK_NEVER_NS;
        any.pods = any.pods || job->core_milli > 0 || job->memory_bytes > 0;
        any.gpu_memory = any.gpu_memory || job->gpu_mib > 0;
        any.types = any.types || (job->types != NULL && job->types[0]);
    }
    return any;
}

/* RFC 4180: in quotation marks where the text would break the row. */
static void out_field(struct out *out, const char *text)
{
    size_t bytes = strlen(text);

    if (bytes == 0 || (strpbrk(text, ",\"") == NULL && text[0] != ' ' &&
                       text[bytes - 1] != ' ')) {
        out_text(out, text);
        return;
    }
    out_text(out, "\"");
    for (; *text != '\0'; text++)
        out_printf(out, *text == '"' ? "\"\"" : "%c", *text);
    out_text(out, "\"");
}

/* Thousandths as an exact decimal. */
static void out_milli(struct out *out, int64_t milli)
{
    out_seconds(out, milli * 1000000);
}

/* What jobs ask for beside GPUs. */
static void out_demand(struct out *out, const struct import_job *job,
                       struct jobs_columns any)
{
    if (any.pods && job->pod) {
        out_text(out, ",");
        out_milli(out, job->core_milli);
        out_printf(out, ",%" PRId64, job->memory_bytes >> 20);
    } else if (any.pods) {
        out_text(out, ",,");
    }
    if (any.gpu_memory)
        out_printf(out, ",%" PRId64, job->gpu_mib);
    if (any.types) {
        out_text(out, ",");
        out_field(out, job->types == NULL ? "" : job->types);
    }
}

/* One job; `any` says which optional columns there are. */
static void out_row(struct out *out, const struct import_job *job,
                    struct jobs_columns any)
{
    if (job->name != NULL)
        out_field(out, job->name);
    else
        out_printf(out, "%" PRIu64, job->row + 1);
    out_text(out, ",");
    out_seconds(out, job->submit_ns);
    out_text(out, ",");
    out_seconds(out, job->run_ns);
    out_text(out, ",");
    out_milli(out, job->gpu_milli > 0 ? job->gpu_milli : job->gpus * 1000);
    if (any.limit) {
        out_text(out, ",");
        out_seconds(out, job->limit_ns);
    }
    if (any.tenant) {
        out_text(out, ",");
        out_field(out, job->tenant == NULL ? "" : job->tenant);
    }
    if (any.priority)
        out_printf(out, ",%" PRId32, job->priority);
    if (any.deadline) {
        out_text(out, ",");
        if (job->deadline_ns != CLOCK_NEVER_NS)
            out_seconds(out, job->deadline_ns);
    }
    out_demand(out, job, any);
    out_text(out, "\n");
}

void jobs_out_csv(struct out *out, const struct jobs *jobs)
{
    struct jobs_columns any = jobs_columns(jobs);

    out_printf(out, "job,submit_s,run_s,gpus%s%s%s%s%s%s%s\n",
               any.limit ? ",limit_s" : "", any.tenant ? ",tenant" : "",
               any.priority ? ",priority" : "",
               any.deadline ? ",deadline_s" : "",
               any.pods ? ",cores,memory_mib" : "",
               any.gpu_memory ? ",gpu_memory_mib" : "",
               any.types ? ",gpu_types" : "");
    for (size_t i = 0; i < jobs->count; i++)
        out_row(out, &jobs->job[i], any);
}

/* ---- Standard Workload Format ----------------------------------------- */

/* Tenants by number, from 1 in order of appearance: open addressing, a power
 * of two of slots. */
struct numbers {
    const char **name;          /* [slots]; NULL: empty */
    uint64_t *number;           /* [slots] */
    size_t slots, count;
};

/* Is it what SWF has as a name or a user: a whole number above 0, written plainly? */
static bool is_number(const char *text)
{
    int64_t value;

    return text != NULL && scan_i64(text, strlen(text), &value) &&
           value > 0 && text[0] != '+' && text[0] != '0';
}

/* Returns the slot where the name is, or would be. */
static size_t find_slot(const struct numbers *numbers, const char *name)
{
    size_t i = rng_hash_text(name) & (numbers->slots - 1);

    while (numbers->name[i] != NULL && strcmp(numbers->name[i], name) != 0)
        i = (i + 1) & (numbers->slots - 1);
    return i;
}

/* Returns the number of a tenant.  At its first mention it gets the next one,
 * which a comment of the file tells. */
static uint64_t find_number(struct numbers *numbers, struct out *out,
                            const char *name)
{
    size_t i = find_slot(numbers, name);

    if (numbers->name[i] == NULL) {
        numbers->name[i] = name;
        numbers->number[i] = ++numbers->count;
        out_printf(out, "; Note: user %zu is %s\n", numbers->count, name);
    }
    return numbers->number[i];
}

/* Returns a table with at least twice as many slots as there can be names. */
static struct numbers make_numbers(struct arena *arena, size_t count)
{
    struct numbers numbers = { .slots = 64 };

    while (numbers.slots < 2 * count)
        numbers.slots *= 2;
    numbers.name = arena_alloc(arena, numbers.slots, sizeof *numbers.name);
    numbers.number = arena_alloc(arena, numbers.slots,
                                 sizeof *numbers.number);
    return numbers;
}

/* Is some time of the job no whole number of seconds?  SWF's times are; most
 * readers take decimals. */
static bool has_fraction(const struct import_job *job)
{
    return job->submit_ns % CLOCK_NS_PER_S != 0 ||
           job->run_ns % CLOCK_NS_PER_S != 0 ||
           job->limit_ns % CLOCK_NS_PER_S != 0;
}

/* What must be known before the first line: if one name is no number, all jobs are
 * numbered. */
static struct jobs_lost count_lost(const struct jobs *jobs)
{
    struct jobs_lost lost = { 0 };

    for (size_t i = 0; i < jobs->count; i++) {
        const struct import_job *job = &jobs->job[i];

        lost.fractions += has_fraction(job);
        lost.deadlines += job->deadline_ns != CLOCK_NEVER_NS;
        lost.priorities += job->priority != 0;
        lost.names += !is_number(job->name);
        lost.parts += job->gpu_milli > 0;
        lost.no_gpus += job->gpus == 0;
        lost.demands += job->core_milli > 0 || job->memory_bytes > 0 ||
                        (job->types != NULL && job->types[0]);
        lost.tenants += job->tenant != NULL && !is_number(job->tenant);
    }
    return lost;
}

/* The 18 fields: number, submit, wait, run, processors, CPU time, memory,
 * processors and time asked for, memory asked for, status (1: done), user, and six
 * that are not known (-1). */
static void swf_row(struct out *out, const struct import_job *job,
                    const char *name, const char *user)
{
    out_printf(out, "%s ", name);
    out_seconds(out, job->submit_ns);
    out_text(out, " -1 ");
    out_seconds(out, job->run_ns);
    out_printf(out, " %" PRId64 " -1 -1 %" PRId64 " ", job->gpus, job->gpus);
    if (job->limit_ns > 0)
        out_seconds(out, job->limit_ns);
    else
        out_text(out, "-1");
    out_printf(out, " -1 1 %s -1 -1 -1 -1 -1 -1\n", user);
}

/* Tenants are numbered first, since comments must stand before the jobs.  If one is no
 * number, all are numbered, also those that are. */
struct jobs_lost jobs_out_swf(struct arena *arena, struct out *out,
                              const struct jobs *jobs, const char *from)
{
    struct jobs_lost lost = count_lost(jobs);
    struct numbers users = make_numbers(arena, lost.tenants > 0 ? jobs->count : 0);

    out_printf(out, "; Version: 2.2\n; Computer: GPUs, of %s\n"
               "; Conversion: clustersim export\n; MaxJobs: %zu\n"
               "; MaxRecords: %zu\n; Note: a processor is a GPU\n",
               from, jobs->count, jobs->count);
    for (size_t i = 0; lost.tenants > 0 && i < jobs->count; i++)
        if (jobs->job[i].tenant != NULL)
            (void)find_number(&users, out, jobs->job[i].tenant);
    for (size_t i = 0; i < jobs->count; i++) {
        const struct import_job *job = &jobs->job[i];
        char name[24], user[24] = "-1";

        snprintf(name, sizeof name, "%zu", i + 1);
        if (job->tenant != NULL && lost.tenants > 0)
            snprintf(user, sizeof user, "%" PRIu64,
                     find_number(&users, out, job->tenant));
        swf_row(out, job, lost.names > 0 ? name : job->name,
                job->tenant != NULL && lost.tenants == 0 ? job->tenant
                                                         : user);
    }
    return lost;
}

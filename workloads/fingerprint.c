/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fingerprint.c - tells whether two runs had the same jobs.
 *
 * Draws and requests go in: when a job comes, its kind, size and
 * length.  What the laws of models/ make of it does not: a law that changes is a change
 * of the program, which a comparison is to show.
 */
#include "workloads/source.h"

#include <assert.h>

#include "models/serving/request.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/hash.h"
#include "workloads/jobs/birth.h"
#include "workloads/requests/request_source.h"

/* Adds the names and sizes of the roles of a form. */
static uint64_t add_form(uint64_t hash, const struct job_form *form)
{
    hash = hash_text(hash_text(hash, form->name), form->recipe);
    for (uint32_t r = 0; r < form->role_count; r++) {
        const struct role_spec *role = &form->role[r];

        hash = hash_u64(hash_text(hash, role->name), role->gpus);
        hash = hash_u64(hash_u64(hash, role->gpus_min), role->gpus_max);
        hash = hash_u64(hash, role->cores);
    }
    return hash;
}

/* Adds a job.  Its seed draws the lengths of its responses.  A job of known
 * length has none, so its seed does not count. */
static uint64_t add_job(uint64_t hash, const struct job_birth *birth)
{
    const struct job_request *request = &birth->request;
    const uint64_t part[] = {
        (uint64_t)request->submit_ns, (uint64_t)request->limit_ns,
        (uint64_t)request->deadline_ns, (uint64_t)(int64_t)request->priority, request->gpus,
        request->gpu_milli, request->gpu_mib, request->steps,
        (uint64_t)birth->truth.duration_ns,
        birth->truth.duration_ns > 0 ? 0 : birth->truth.seed
    };

    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        hash = hash_u64(hash, part[i]);
    hash = hash_text(hash, request->tenant == NULL ? "" : request->tenant);
    return add_form(hash, request->form);
}

/* Adds a request, with the blocks of its prefix. */
static uint64_t add_request(uint64_t hash, const struct request *request)
{
    const struct prefix *prefix = &request->prefix;

    hash = hash_u64(hash, (uint64_t)request->arrive_ns);
    hash = hash_u64(hash_u64(hash, request->prompt_tokens), request->output_tokens);
    for (uint32_t i = 0; i < prefix->count; i++)
        hash = hash_u64(hash, prefix->block[i]);
    return hash;
}

/* The first FINGERPRINT_DRAWN jobs, and as many requests of each service: streams that
 * differ at all differ there, since each is drawn from one seed.  An error of a stream
 * ends it; the run will meet it again and say so. */
uint64_t workload_fingerprint(const struct workload_spec *spec, uint64_t seed,
                              uint32_t replica)
{
    struct arena *arena = arena_new(0);
    struct source *jobs = source_open(arena, spec, seed, replica);
    uint64_t hash = HASH_START;
    struct job_birth birth;
    struct request request;
    struct err ignored = { 0 };

    for (unsigned i = 0; i < FINGERPRINT_DRAWN &&
                         source_next(jobs, &birth, &ignored) == SOURCE_JOB; i++)
        hash = add_job(hash, &birth);
    for (size_t s = 0; s < workload_service_count(spec); s++) {
        const struct service_entry *entry = workload_service(spec, s);
        struct request_source *source = request_source_open(arena, entry, seed, replica);

        for (unsigned i = 0; i < FINGERPRINT_DRAWN &&
                             request_source_next(source, &request); i++)
            hash = add_request(hash, &request);
        request_source_close(source);
    }
    arena_free(arena);
    return hash;
}

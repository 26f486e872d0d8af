/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request_source.h - the requests to one service, one after another.  For trials with
 * services, and for what looks at requests before a run.  Times are in ns from the start
 * of the run.
 */
#ifndef WORKLOADS_REQUESTS_REQUEST_SOURCE_H
#define WORKLOADS_REQUESTS_REQUEST_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct err;
struct request;
struct service_entry;

/* The requests to a service in one trial; they depend on (seed, replica)
 * only.  The source lies in the arena; *entry stays the caller's and must outlive it. */
struct request_source;
struct request_source *request_source_open(struct arena *arena,
                                           const struct service_entry *entry,
                                           uint64_t seed, uint32_t replica);
void request_source_close(struct request_source *source);   /* accepts NULL */
/* To be called after the last request.  False, with *err set: requests were
 * lost. */
bool request_source_verdict(const struct request_source *source,
                            struct err *err);
/* What a service of a mass of requests asks (service_mass_source): requests
 * expected in the whole run; coefficient of variation of their gaps; requests
 * from the last call up to an instant; and the lengths of one. */
double request_source_expected(const struct request_source *source);
double request_source_gap_cv(const struct request_source *source);
uint64_t request_source_count(void *source, int64_t until_ns);
void request_source_draw(void *source, struct request *out);
/* The request_next_fn of a source. */
bool request_source_next(void *source, struct request *out);

#endif

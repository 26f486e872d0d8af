/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request_trace.h - a stream of requests from a file, plain or gzip.
 *
 *  csv       columns named under `columns:`, times in seconds
 *  azure     Azure LLM inference traces: TIMESTAMP (a date), ContextTokens,
 *            GeneratedTokens
 *  burstgpt  BurstGPT: Timestamp (seconds), Request tokens, Response tokens
 *  mooncake  one JSON object a line: timestamp (ms), input_length,
 *            output_length, hash_ids (blocks of 512 tokens, for prefix
 *            caches)
 *  servegen  a client of ServeGen, drawn (request_servegen.h)
 *
 * Times are counted from the first request.  A file is read and checked to its
 * end before anything runs.  A time that is not in ascending order, or a field
 * that is not a number of tokens, is an error with its place.  So is a request
 * without output; `empty: skip` leaves such requests out and counts them.
 */
#ifndef WORKLOADS_REQUESTS_REQUEST_TRACE_H
#define WORKLOADS_REQUESTS_REQUEST_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "models/serving/request.h"

struct arena;
struct conf_node;
struct conf_schema;
struct err;
struct request_trace;
struct request_trace_spec;

/* What a file has, for the report: counts, and means in tokens. */
struct request_trace_facts {
    uint64_t requests, skipped; /* given to a trial; left out, without output */
    int64_t span_ns;            /* from the first to the last */
    double prompt_mean, output_mean; /* tokens, of those that are given */
    uint64_t tokens_max;        /* of one request, prompt and output */
};

extern const struct conf_schema request_trace_schema,
    request_trace_columns_schema;

/* Returns the name of the i-th published format, and a line about it in
 * *summary; NULL past the last. */
const char *request_format_at(size_t i, const char **summary);

/* Reads `trace:` and checks its file; NULL: *err is set.  File names are
 * relative to the folder of the file that names them. */
const struct request_trace_spec *request_trace_read(
    struct arena *arena, const struct conf_node *conf, struct err *err);
/* Returns what the check found: numbers, span, mean lengths. */
struct request_trace_facts request_trace_facts(
    const struct request_trace_spec *spec);
/* Opens the stream of a trial; never NULL.  If the file is gone, the stream is
 * empty and request_trace_verdict() fails. */
struct request_trace *request_trace_open(
    struct arena *arena, const struct request_trace_spec *spec);
void request_trace_close(struct request_trace *trace);  /* accepts NULL */
/* Stores the next request; its prefix is valid until the next call.  False: there
 * are no more, or the file changed. */
bool request_trace_next(struct request_trace *trace, struct request *out);
/* To be called after the last request.  False, with *err set: the file has
 * changed since it was checked. */
bool request_trace_verdict(const struct request_trace *trace,
                           struct err *err);

#endif

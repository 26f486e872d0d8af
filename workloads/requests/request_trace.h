/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * request_trace.h - requests of a file, streamed; plain or gzip.
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
 * Times are counted from the first request.  A file is read through and
 * checked before anything runs: what is not in ascending order, or is no
 * number of tokens, is an error with its place.  A request without output is
 * one too, unless `empty: skip`, which counts them.
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

struct request_trace_facts {
    uint64_t requests, skipped;
    int64_t span_ns;            /* from the first to the last */
    double prompt_mean, output_mean;
};

extern const struct conf_schema request_trace_schema,
    request_trace_columns_schema;

/* Names of published formats, as an import calls them, with a line about each;
 * NULL past the last. */
const char *request_format_at(size_t i, const char **summary);

/* Relative file names are taken from the folder of the file that has them. */
const struct request_trace_spec *request_trace_read(
    struct arena *arena, const struct conf_node *conf, struct err *err);
struct request_trace_facts request_trace_facts(
    const struct request_trace_spec *spec);
/* Never NULL: a file that is gone is told by the verdict. */
struct request_trace *request_trace_open(
    struct arena *arena, const struct request_trace_spec *spec);
void request_trace_close(struct request_trace *trace);  /* accepts NULL */
bool request_trace_next(struct request_trace *trace, struct request *out);
/* After the last: false and an err if the file was changed since it was
 * checked. */
bool request_trace_verdict(const struct request_trace *trace,
                           struct err *err);

#endif

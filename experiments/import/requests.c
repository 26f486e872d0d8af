/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * requests.c - published requests become the workload of a service.
 *
 * Nothing is copied: the workload names the file and its format, and a run
 * streams it (workloads/requests/request_trace.h), so that hash ids are not
 * lost.  The traces do not say which model answered; the one that is written is
 * an assumption, and is called so in the file.
 */
#include "experiments/import/requests.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/import/report.h"
#include "experiments/options/args.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "workloads/requests/request_trace.h"

#define PATH_BYTES 4096u

static const struct err_pos nowhere = { NULL, 0, 0 };

/* The formats are those of workloads/requests. */
bool import_requests_find(const char *format)
{
    const char *name, *summary;

    for (size_t i = 0; (name = request_format_at(i, &summary)) != NULL; i++)
        if (strcmp(name, format) == 0)
            return true;
    return false;
}

bool import_requests_skip(const struct args *args,
                          struct requests_import *import, struct err *err)
{
    for (size_t i = 0; i < args->set_count; i++) {
        if (strcmp(args->set[i], IMPORT_NO_OUTPUT) != 0)
            return err_set(err, ERR_USAGE, nowhere,
                           "--skip of requests knows " IMPORT_NO_OUTPUT
                           " alone, and is '%.60s'", args->set[i]);
        import->skip_empty = true;
    }
    return true;
}

/* Returns the keys of a service's `trace`, read from YAML text as a file would
 * have them, so that the reader checks them. */
static const struct request_trace_spec *read_spec(
    const struct requests_import *import, struct err *err)
{
    const char *slash = strrchr(import->file, '/');
    const char *name = slash == NULL ? import->file : slash + 1;
    const struct conf_node *conf;
    char *quoted = arena_alloc(import->arena, 2 * strlen(name) + 1, 1);
    const char *text;
    char *to = quoted;

    for (; *name != '\0'; *to++ = *name++)
        if (*name == '\'')
            *to++ = '\'';
    text = text_format(import->arena, "{file: '%s', format: %s, empty: %s}",
                       quoted, import->format,
                       import->skip_empty ? "skip" : "refuse");
    conf = conf_parse(import->arena, import->file, text, strlen(text), err);
    return conf == NULL ? NULL
                        : request_trace_read(import->arena, conf, err);
}

static int compare_ids(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Sorts the ids and counts runs: the share of repeated blocks bounds what a prefix
 * cache can save. */
static void count_distinct(struct requests_import *import, uint64_t *id)
{
    if (import->blocks > 0)
        qsort(id, import->blocks, sizeof *id, compare_ids);
    for (uint64_t i = 0; i < import->blocks; i++)
        import->distinct += i == 0 || id[i] != id[i - 1];
}

/* Appends the ids of the request's blocks; returns the array, which may have moved. */
static uint64_t *add_blocks(struct requests_import *import, uint64_t *id,
                            size_t *room, const struct request *request)
{
    const struct prefix *prefix = &request->prefix;

    ARENA_REACH(import->arena, id, *room, import->blocks + prefix->count);
    if (prefix->count > 0)
        memcpy(id + import->blocks, prefix->block,
               prefix->count * sizeof *id);
    import->blocks += prefix->count;
    import->odd_blocks += prefix->count > 0 &&
                          prefix->count != (request->prompt_tokens +
                                            prefix->block_tokens - 1) /
                                               prefix->block_tokens;
    return id;
}

/* The trace was counted when its keys were read, so arrays have their size.  The
 * cv of gaps is by sums of squares: sqrt(E[g^2] / E[g]^2 - 1), of count - 1 gaps. */
bool import_requests_read(struct requests_import *import, struct err *err)
{
    const struct request_trace_spec *spec = read_spec(import, err);
    struct request_trace_facts facts;
    struct request_trace *trace;
    struct request request;
    uint64_t *id = NULL;
    size_t room = 0;
    double squares = 0.0, mean;
    int64_t last_ns = 0;

    if (spec == NULL)
        return false;
    facts = request_trace_facts(spec);
    import->skipped = facts.skipped;
    import->prompt = arena_alloc(import->arena, facts.requests, 8);
    import->output = arena_alloc(import->arena, facts.requests, 8);
    trace = request_trace_open(import->arena, spec);
    for (; request_trace_next(trace, &request); import->count++) {
        double gap_s = clock_s_from_ns(request.arrive_ns - last_ns);

        assert(import->count < facts.requests);
        import->prompt[import->count] = request.prompt_tokens;
        import->output[import->count] = request.output_tokens;
        if (import->count == 0)
            import->span_ns = -request.arrive_ns;
        else
            squares += gap_s * gap_s;
        import->together += import->count > 0 && request.arrive_ns == last_ns;
        last_ns = request.arrive_ns;
        id = add_blocks(import, id, &room, &request);
    }
    request_trace_close(trace);
    import->span_ns = clock_after(import->span_ns, last_ns);
    mean = clock_s_from_ns(import->span_ns) / ((double)import->count - 1.0);
    if (import->count > 1 && mean > 0.0)
        import->gap_cv = sqrt(fmax(0.0, squares / ((double)import->count -
                                                   1.0) / mean / mean - 1.0));
    count_distinct(import, id);
    return request_trace_verdict(trace, err);
}

/* Prints each count that is not 0, on a line. */
static void print_counts(FILE *file, struct out *out,
                         const struct requests_import *import)
{
    const struct {
        uint64_t count;
        const char *text;
    } line[] = {
        { import->skipped, "rows left out: no output" },
        { import->together, "requests at the instant of the one above" },
        { import->odd_blocks, "requests whose hash ids are not one for each "
                              "512 tokens of the prompt" },
    };

    for (size_t i = 0; i < sizeof line / sizeof line[0]; i++)
        import_line(file, out, line[i].count, line[i].text);
}

/* Returns the path of the trace as it is found from any folder; NULL: err. */
static const char *whole_path(const struct requests_import *import,
                              struct err *err)
{
    char folder[PATH_BYTES];

    if (import->file[0] == '/')
        return import->file;
    if (getcwd(folder, sizeof folder) == NULL) {
        err_set(err, ERR_IO, nowhere, "the folder of %.80s has no name",
                import->file);
        return NULL;
    }
    return path_join(import->arena, folder, import->file);
}

bool import_requests_write(const struct requests_import *import,
                           const char *yaml, struct err *err)
{
    const char *path = whole_path(import, err);
    struct out *out = path == NULL ? NULL
                                   : out_open(import->arena, yaml, err);

    if (out == NULL)
        return false;
    out_printf(out, "# By clustersim import %s.\n# %" PRIu64 " rows, %zu "
               "requests:\n", import->format,
               import->count + import->skipped, import->count);
    print_counts(NULL, out, import);
    if (import->blocks > 0)
        out_text(out, "# Hash ids serve `prefix_cache:`, a share of the "
                      "memory for keys and values.\n");
    out_text(out, "# The trace does not say which model answers: the model "
                  "and its GPUs are\n# assumptions, to be replaced.\nname: ");
    import_quoted(out, path_stem(import->arena, yaml));
    out_printf(out, "\nservices:\n  - name: %s\n    model: llama-3.1-8b\n"
               "    gpu: {tp: 1}\n    requests:\n      trace:\n"
               "        file: ", import->format);
    import_quoted(out, path);
    out_printf(out, "\n        format: %s\n%s", import->format,
               import->skip_empty ? "        empty: skip\n" : "");
    return out_close(out, err);
}

/* Sorts the values. */
static void print_tokens(FILE *file, const char *label, int64_t *value,
                         size_t count)
{
    double sum = 0.0;

    for (size_t i = 0; i < count; i++)
        sum += (double)value[i];
    import_quantiles(file, label, value, count, 1.0);
    fprintf(file, "             mean %.6g, sum %.15g\n", sum / (double)count,
            sum);
}

void import_requests_report(FILE *file, struct requests_import *import)
{
    double span_s = clock_s_from_ns(import->span_ns);

    fprintf(file, "%s: format %s\n", import_one_line(import->arena,
                                                     import->file),
            import->format);
    fprintf(file, "rows         %" PRIu64 "\nrequests     %zu\n",
            import->count + import->skipped, import->count);
    print_counts(file, NULL, import);
    fprintf(file, "span         %.10g s, %.4g days, from the first request to "
            "the last\n", span_s, span_s / 86400.0);
    if (import->span_ns > 0)
        fprintf(file, "rate         %.6g a second; cv of the gaps %.4g\n",
                ((double)import->count - 1.0) / span_s, import->gap_cv);
    print_tokens(file, "prompt", import->prompt, import->count);
    print_tokens(file, "output", import->output, import->count);
    if (import->blocks > 0)
        fprintf(file, "prefixes     %" PRIu64 " hash ids, %" PRIu64
                " distinct\n", import->blocks, import->distinct);
    if (strcmp(import->format, "servegen") == 0)
        fputs("             drawn: rates, shapes and lengths are what is "
              "published, not requests\n", file);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.c - what an import found: printed, and as a workload's file.
 *
 * Quantiles are of the nearest rank (the smallest value that at least that
 * share of the jobs does not exceed): each is a value that stands in the
 * file.
 */
#include "experiments/import/report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/import/jobs_out.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/notes.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/scan_look.h"
#include "workloads/formats/columns.h"
#include "workloads/formats/import.h"
#include "workloads/replay/trace.h"

/* Orders values for qsort(), ascending. */
static int compare_values(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;

    return a < b ? -1 : a > b;
}

/* Example: of 10 values, p25 is the third, as 2.5 is rounded up. */
void import_quantiles(FILE *file, const char *label, int64_t *value,
                      size_t count, double unit)
{
    static const unsigned percent[] = { 25, 50, 75, 90, 99 };

    qsort(value, count, sizeof *value, compare_values);
    fprintf(file, "%-12s min %.10g", label, (double)value[0] / unit);
    for (size_t i = 0; i < sizeof percent / sizeof percent[0]; i++) {
        size_t rank = (count * percent[i] + 99) / 100;

        fprintf(file, "  p%u %.10g", percent[i],
                (double)value[rank > 0 ? rank - 1 : 0] / unit);
    }
    fprintf(file, "  max %.10g\n", (double)value[count - 1] / unit);
}

/* Returns the GPUs of a job in thousandths: a part of one, or whole ones. */
static int64_t job_milli(const struct import_job *job)
{
    return job->gpu_milli > 0 ? job->gpu_milli : job->gpus * 1000;
}

/* Returns GPUs x run time over all jobs, in hours: what the trace asks of a cluster. */
static double gpu_hours(const struct import_result *result)
{
    double hours = 0.0;

    for (size_t i = 0; i < result->count; i++)
        hours += clock_s_from_ns(result->job[i].run_ns) *
                 (double)job_milli(&result->job[i]) / 1000.0 / 3600.0;
    return hours;
}

void import_line(FILE *report, struct out *out, uint64_t count,
                 const char *text)
{
    if (count > 0 && out != NULL)
        out_printf(out, "#   %" PRIu64 " %s\n", count, text);
    else if (count > 0 && report != NULL)
        fprintf(report, "  %" PRIu64 " %s\n", count, text);
}

/* Prints what was left out, noted or changed, each with its count, in the words of
 * the report and of the workload's file. */
static void put_counts(FILE *file, struct out *out,
                       const struct imported *imported)
{
    const struct import_result *result = imported->result;
    char text[160];

    for (int r = 0; r < IMPORT_REASONS + REMARKS + 3; r++) {
        int remark = r - IMPORT_REASONS;
        uint64_t count = r < IMPORT_REASONS ? result->skipped[r]
                         : remark < REMARKS ? result->remark[remark]
                         : remark == REMARKS ? result->unsorted
                         : remark == REMARKS + 1 ? result->longer_rows
                                                 : result->blank_lines;

        snprintf(text, sizeof text, "%s%s",
                 r < IMPORT_REASONS ? "rows left out: "
                 : remark < REMARKS ? "jobs: " : "",
                 r < IMPORT_REASONS
                     ? import_reason_name((enum import_reason)r, NULL)
                 : remark < REMARKS
                     ? import_remark_text((enum import_remark)remark)
                 : remark == REMARKS
                     ? "rows submitted before the job above: sorted"
                 : remark == REMARKS + 1
                     ? "rows of more than 18 fields: the others are not read"
                     : "blank lines");
        import_line(file, out, count, text);
    }
}

/* Writes what the reader took for granted, of the file or of a number of its
 * rows. */
static void put_notes(FILE *file, struct out *out, const struct notes *notes)
{
    for (size_t i = 0; notes != NULL && i < notes->count; i++) {
        const struct note *note = &notes->note[i];

        if (note->count > 0)
            import_line(file, out, note->count, note->text);
        else if (out != NULL)
            out_printf(out, "#   %s\n", note->text);
        else if (file != NULL)
            fprintf(file, "  %s\n", note->text);
    }
}

void import_counts(FILE *file, const struct imported *imported)
{
    put_counts(file, NULL, imported);
    put_notes(file, NULL, imported->result->notes);
}

/* Prints the share of the GPUs that the jobs would keep busy while they come, as
 * `validate` does; above 1 they cannot be served. */
static void print_load(FILE *file, const struct imported *imported, double hours)
{
    const struct import_result *result = imported->result;
    double span_s = trace_work_span_s(result->job[0].submit_ns,
                                      result->job[result->count - 1].submit_ns, result->count);
    uint32_t gpus = imported->cluster_gpus;
    int64_t most = 0;

    if (gpus == 0) {
        fputs("load         not known: give --cluster FILE or --gpus N\n",
              file);
        return;
    }
    for (size_t i = 0; i < imported->result->count; i++)
        if (imported->result->job[i].gpus > most)
            most = imported->result->job[i].gpus;
    if (span_s > 0.0)
        fprintf(file, "load         %.4g of %u GPUs over the span",
                hours * 3600.0 / span_s / gpus, gpus);
    else
        fprintf(file, "load         all jobs at once, on %u GPUs", gpus);
    fprintf(file, "; the largest job takes %" PRId64 "\n", most);
}

/* Signs of a column in another unit, or of another column, as found in traces of users;
 * fewer jobs than DOUBT_JOBS say nothing.  Bounds are on the median. */
#define DOUBT_JOBS 20u
#define DOUBT_LONG_S (7 * 86400)
#define DOUBT_SHORT_S 10

/* Prints doubts about units and columns: run times that are very long or short
 * for half of the jobs, or one time of submission for all.  run_ns: ascending,
 * one for each job. */
static void print_notes(FILE *file, const struct import_result *result,
                        const int64_t *run_ns)
{
    size_t count = result->count;
    int64_t median_s;

    if (count < DOUBT_JOBS)
        return;
    median_s = run_ns[(count - 1) / 2] / CLOCK_NS_PER_S;
    if (result->job[count - 1].submit_ns == result->job[0].submit_ns)
        fputs("note         all jobs are submitted at the same time: is it the right column, "
              "and has it all digits (1.76E+09 has not)?\n", file);
    if (median_s >= DOUBT_LONG_S)
        fputs("note         half of the jobs run for more than 7 days: run times are "
              "seconds, neither milliseconds nor the time of the end\n", file);
    if (median_s < DOUBT_SHORT_S)
        fputs("note         half of the jobs run for less than 10 s: run times are "
              "seconds, neither minutes nor hours\n", file);
}

/* `value` is used twice: import_quantiles() leaves it sorted. */
void import_report(FILE *file, const struct imported *imported)
{
    const struct import_result *result = imported->result;
    int64_t *value = arena_alloc(imported->arena, result->count,
                                 sizeof *value);
    double hours = gpu_hours(result);
    double span_s = clock_s_from_ns(
        result->job[result->count - 1].submit_ns - result->job[0].submit_ns);

    fprintf(file, "%s: format %s\n", imported->request->file,
            imported->format->name);
    fprintf(file, "rows         %" PRIu64 "\njobs         %zu\n",
            result->rows, result->count);
    import_counts(file, imported);
    fprintf(file, "span         %.10g s, %.4g days, from the first "
            "submission to the last\n", span_s, span_s / 86400.0);
    fprintf(file, "GPU-hours    %.10g\n", hours);
    for (size_t i = 0; i < result->count; i++)
        value[i] = job_milli(&result->job[i]);
    import_quantiles(file, "GPUs", value, result->count, 1000.0);
    for (size_t i = 0; i < result->count; i++)
        value[i] = result->job[i].run_ns;
    import_quantiles(file, "run time s", value, result->count, 1e9);
    print_notes(file, result, value);
    print_load(file, imported, hours);
}

/* YAML doubles a quote within single quotes. */
void import_quoted(struct out *out, const char *text)
{
    out_text(out, "'");
    for (; *text != '\0'; text++)
        out_printf(out, *text == '\'' ? "''" : "%c", *text);
    out_text(out, "'");
}

/* A line feed in a name would end the comment that it stands in. */
const char *import_one_line(struct arena *arena, const char *text)
{
    char *copy = arena_text(arena, text);

    for (char *c = copy; *c != '\0'; c++)
        if ((unsigned char)*c < ' ')
            *c = '?';
    return copy;
}

/* Writes the faults that depend on a cluster and were asked to be left out: a run
 * on another cluster has others of them, so the workload says it too. */
static void out_skips(struct out *out, const struct import_request *request)
{
    static const enum import_reason reason[] = { IMPORT_TOO_LARGE,
                                                 IMPORT_TYPES };
    const char *before = "  skip: {", *meaning;

    for (size_t i = 0; i < sizeof reason / sizeof reason[0]; i++)
        if (request->skip[reason[i]]) {
            out_printf(out, "%s%s: true", before,
                       import_reason_name(reason[i], &meaning));
            before = ", ";
        }
    if (before[0] == ',')
        out_text(out, "}\n");
}

/* Writes what was asked for as --columns, as a comment. */
static void out_columns(struct out *out, struct arena *arena,
                        const struct trace_columns *columns)
{
    const struct conf_schema *schema = &trace_columns_schema;
    const char *before = "# Columns:";

    for (size_t i = 0; i < schema->count; i++) {
        const char *const *name = (const void *)((const char *)columns +
                                                 schema->fields[i].offset);

        if (*name == NULL)
            continue;
        out_printf(out, "%s %s=%s", before, schema->fields[i].key,
                   import_one_line(arena, *name));
        before = ",";
    }
    out_text(out, ".\n");
}

/* The workload names the columns of jobs_out_csv(); estimate: exact, since a trace
 * says how long jobs ran. */
void import_yaml(struct out *out, const struct imported *imported,
                 const char *name, const char *csv)
{
    const struct import_result *result = imported->result;
    const struct import_request *request = imported->request;
    struct jobs jobs = { result->job, result->count };
    struct jobs_columns any = jobs_columns(&jobs);

    out_printf(out, "# From %s by clustersim import %s.\n",
               import_one_line(imported->arena, request->file),
               imported->format->name);
    if (request->columns != NULL)
        out_columns(out, imported->arena, request->columns);
    else
        out_text(out, imported->format->about);
    if (request->lengths != NULL)
        out_printf(out, "# Run times from %s%s%s.\n",
                   import_one_line(imported->arena, request->lengths),
                   request->gpu_type == NULL ? "" : ", GPU type ",
                   request->gpu_type == NULL
                       ? "" : import_one_line(imported->arena,
                                            request->gpu_type));
    out_printf(out, "# %" PRIu64 " rows, %zu jobs:\n", result->rows,
               result->count);
    put_counts(NULL, out, imported);
    put_notes(NULL, out, result->notes);
    out_text(out, "name: ");
    import_quoted(out, name);
    out_text(out, "\ntrace:\n  file: ");
    import_quoted(out, csv);
    out_printf(out, "\n  format: csv\n  columns: {job: job, submit: "
               "submit_s, duration: run_s, gpus: gpus%s%s%s%s%s%s%s}\n"
               "  estimate: exact\n",
               any.limit ? ", limit: limit_s" : "",
               any.tenant ? ", tenant: tenant" : "",
               any.priority ? ", priority: priority" : "",
               any.deadline ? ", deadline: deadline_s" : "",
               any.pods ? ",\n            cores: cores, memory_mib: memory_mib"
                        : "",
               any.gpu_memory ? ", gpu_memory_mib: gpu_memory_mib" : "",
               any.types ? ", gpu_types: gpu_types" : "");
    out_skips(out, request);
}

/* Prints what the file is like that no reader of it sees: marks, ends of lines,
 * blank lines. */
bool import_layout(FILE *out, const char *file, bool blank, struct err *err)
{
    struct scan_look look;

    if (!scan_look(file, &look, err))
        return false;
    if (look.mark)
        fputs("  a byte order mark before the first line: passed over\n", out);
    if (look.returns > 0)
        fprintf(out, "  %" PRIu64 " of %" PRIu64 " lines end with CR LF\n",
                look.returns, look.lines);
    if (blank && look.blank > 0)
        fprintf(out, "  %" PRIu64 " blank lines\n", look.blank);
    if (look.open_end)
        fputs("  the last line has no end: if the file was cut there, what "
              "it says is wrong\n", out);
    return true;
}

bool import_paper_begin(struct import_paper *paper, struct err *err)
{
    paper->file = open_memstream(&paper->text, &paper->bytes);
    return paper->file != NULL ||
           err_set(err, ERR_IO, (struct err_pos){ NULL, 0, 0 },
                   "no memory for the report");
}

/* What was printed is kept as a file beside the CSV, too. */
bool import_paper_end(struct import_paper *paper, struct arena *arena,
                      FILE *out, const char *csv, struct err *err)
{
    size_t stem = strlen(csv) - strlen(".csv");
    const char *path = text_format(arena, "%.*s.report.txt", (int)stem, csv);
    struct out *copy = NULL;
    bool good = fclose(paper->file) == 0;

    paper->file = NULL;
    if (!good)
        err_set(err, ERR_IO, (struct err_pos){ path, 0, 0 },
                "no memory for the report");
    else
        copy = out_open(arena, path, err);
    if (copy != NULL) {
        out_text(copy, paper->text);
        good = out_close(copy, err);
        fputs(paper->text, out);
        fprintf(out, "report       %s\n", path);
    }
    import_paper_drop(paper);
    return good && copy != NULL;
}

void import_paper_drop(struct import_paper *paper)
{
    if (paper->file != NULL)
        (void)fclose(paper->file);
    free(paper->text);
    *paper = (struct import_paper){ 0 };
}

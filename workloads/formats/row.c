/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * row.c - what the formats share: columns, and rows that hold what a
 * job needs in plain fields.
 *
 * Two kinds of logs: those with a run time (import_plain), and those with the
 * times of submission, start and end (import_timed). A row that is no job is
 * marked with the first reason found; the walk in import.c decides what becomes
 * of it.
 */
#include "workloads/formats/row.h"

#include <assert.h>
#include <string.h>

#include "sim/base/clock.h"
#include "sim/text/csv.h"
#include "sim/text/scan.h"
#include "sim/text/trace_date.h"

/* Writes "a, b, c", as many names as fit whole. */
static void join_names(const char *const *names, char *out, size_t out_bytes)
{
    size_t used = 0;

    out[0] = '\0';
    for (; *names != NULL && used + strlen(*names) + 3 < out_bytes; names++) {
        if (used > 0) {
            memcpy(out + used, ", ", 2);
            used += 2;
        }
        memcpy(out + used, *names, strlen(*names) + 1);
        used += strlen(*names);
    }
}

/* Returns what a file is that is published beside traces, told by its first
 * columns.  NULL: it is not known. */
static const char *recognize_file(const struct csv *csv)
{
    static const struct {
        const char *first, *second, *what;
    } known[] = {
        {"num_switch", "num_node_p_switch",
         "It is a cluster of Tiresias' simulator: it holds no jobs."},
        {"sn", "cpu_milli", "It is a list of nodes: it holds no jobs."},
        {"gpu_model", "gpu_capacity_num",
         "It is a list of nodes: it holds no jobs."},
        {"vc", "node num", "It is a list of nodes: it holds no jobs."},
        {"date", NULL, "It has GPUs by day: it holds no jobs."},
        {"time", "total_job_num",
         "Series of counts that were derived from jobs hold no jobs."},
        {"time", "active", "It is a series of nodes: it holds no jobs."},
        {"id", "job_num", "It is a summary of clusters: it holds no jobs."},
        {"id", "gpu_num", "It is a summary of clusters: it holds no jobs."},
        {"duration", NULL, "Run times alone are no jobs, but a distribution: "
                           "{empirical: {file:, column: duration}}."},
        {"Time", "Carbon Intensity",
         "It is a series: clustersim import carbon."},
        {"Date", NULL, "It is a series: clustersim import azure-price."},
        {"Instance", "GPU type", "It names machines: it holds no jobs."},
        {"TIMESTAMP", NULL, "It holds requests of a service, not jobs."},
        {"num_prefill_tokens", NULL, "It holds lengths of requests."},
        {"model", "hardware", "It holds measured times, not jobs."},
    };

    /* "; Version: 2.2", which a semicolon divides */
    if (csv_columns(csv) == 2 && strcmp(csv_names(csv)[0], "Unnamed: 0") == 0 &&
        strstr(csv_names(csv)[1], ": ") != NULL)
        return "A line that begins with ; is a comment of the Standard "
               "Workload Format: clustersim import swf.";
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(csv_names(csv)[0], known[i].first) == 0 &&
            (known[i].second == NULL ||
             (csv_columns(csv) > 1 &&
              strcmp(csv_names(csv)[1], known[i].second) == 0)))
            return known[i].what;
    return NULL;
}

/* Lower case of ASCII, whatever the locale. */
static int lower_letter(char c)
{
    return c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c;
}

/* Do two names differ in upper and lower case alone? */
static bool same_but_case(const char *a, const char *b)
{
    while (*a != '\0' && lower_letter(*a) == lower_letter(*b)) {
        a++;
        b++;
    }
    return *a == *b;
}

/* Returns a column that has that name but for upper and lower case; NULL: there
 * is none. */
static const char *find_other_case(const struct csv *csv, const char *name)
{
    for (size_t i = 0; i < csv_columns(csv); i++)
        if (same_but_case(csv_names(csv)[i], name))
            return csv_names(csv)[i];
    return NULL;
}

/* Finds the columns that a format needs.  If one is missing the hint says the
 * likeliest reason: another format, another case of letters. */
bool import_columns(struct importer *importer, struct err *err)
{
    const struct import_format *format = importer->format;
    char names[140], has[120];

    for (size_t i = 0; format->columns[i] != NULL; i++) {
        assert(i < IMPORT_COLUMNS_MAX);
        importer->at[i] = csv_find(importer->csv, format->columns[i]);
        if (importer->at[i] != ROW_NO_COLUMN)
            continue;
        csv_list(importer->csv, has, sizeof has);
        err_set(err, ERR_SYNTAX,
                (struct err_pos){importer->request->file, 1, 1},
                "file has no column %s, and format %s needs it: its columns "
                "are %s", format->columns[i], format->name, has);
        if (recognize_file(importer->csv) != NULL)
            return err_hint(err, "%s", recognize_file(importer->csv));
        if (find_other_case(importer->csv, format->columns[i]) != NULL)
            return err_hint(err, "It has a column %s: names are told apart by "
                                 "upper and lower case.",
                            find_other_case(importer->csv, format->columns[i]));
        if (format->missing != NULL)
            return err_hint(err, "%s", format->missing);
        join_names(format->columns, names, sizeof names);
        return err_hint(err, "It needs %s.", names);
    }
    return true;
}

bool import_plain(struct importer *importer, const struct row_columns *at,
                  struct import_row *row, struct err *err)
{
    struct row plain;

    if (!row_read(importer->csv, at, &plain, err))
        return false;
    row->job = (struct import_job){
        .name = plain.name, .tenant = plain.tenant,
        .submit_ns = plain.submit_ns, .run_ns = plain.duration_ns,
        .limit_ns = plain.limit_ns, .deadline_ns = plain.deadline_ns,
        .gpus = plain.gpus, .gpu_milli = plain.gpu_milli,
        .gpu_mib = plain.gpu_mib, .types = plain.types, .pod = plain.pod,
        .core_milli = plain.core_milli, .memory_bytes = plain.memory_bytes,
        .priority = plain.priority};
    row->run_column = at->duration;
    row->gpus_column = at->gpus;
    row->submit_column = at->submit;
    row->name_column = at->job;
    row->types_column = at->types;
    return true;
}

bool import_is_late(const struct import_job *job)
{
    return job->deadline_ns != CLOCK_NEVER_NS &&
           job->deadline_ns - job->submit_ns < job->run_ns;
}

bool import_says(const struct csv *csv, size_t column, double wanted)
{
    struct csv_field field = *csv_field(csv, column);
    double value;

    return scan_f64(field.text, field.bytes, &value) && value == wanted;
}

bool import_amount(const struct csv *csv, size_t column, double *out,
                   struct err *err)
{
    struct csv_field field = *csv_field(csv, column);

    *out = 0.0;
    return field.bytes == 0 ||
           (scan_f64(field.text, field.bytes, out) && *out >= 0.0 &&
            *out <= 1e9) ||
           row_fault(csv, column, ERR_RANGE, "a number from 0 to 1e9", err);
}

void import_gpus(struct import_row *row, double gpus, size_t column)
{
    row->gpus_column = column;
    row->job.gpus = (int64_t)gpus;
    if (gpus != (double)row->job.gpus)
        import_drop(row, IMPORT_FRACTION, column);
    else if (gpus <= 0.0)
        import_drop(row, IMPORT_GPUS, column);
}

/* Reads a date or seconds.  An empty field is not known. */
static bool read_moment(const struct csv *csv, size_t column, int64_t *ns,
                        bool *known, struct err *err)
{
    struct csv_field field = *csv_field(csv, column);

    *known = field.bytes > 0;
    if (!*known || date_read(field.text, field.bytes, ns))
        return true;
    if (!row_seconds(csv, column, ns, err))
        return false;
    return *ns >= 0 || row_fault(csv, column, ERR_RANGE, "at least 0", err);
}

/* A time that is missing drops the row, with a reason of its own, so that
 * counts add up.  The first reason stays. */
bool import_timed(struct importer *importer, const struct timed_columns *at,
                  struct import_row *row, struct err *err)
{
    const struct csv *csv = importer->csv;
    int64_t submit_ns = 0, start_ns = 0, end_ns = 0;
    bool submitted, started, ended;
    double gpus;

    row->job = (struct import_job){.deadline_ns = CLOCK_NEVER_NS};
    row->run_column = at->end;
    row->submit_column = at->submit;
    row->name_column = at->job;
    if (at->job != ROW_NO_COLUMN)
        row->job.name = csv_field(csv, at->job)->text;
    if (at->tenant != ROW_NO_COLUMN && csv_field(csv, at->tenant)->bytes > 0)
        row->job.tenant = csv_field(csv, at->tenant)->text;
    if (!import_amount(csv, at->gpus, &gpus, err) ||
        !read_moment(csv, at->submit, &submit_ns, &submitted, err) ||
        !read_moment(csv, at->start, &start_ns, &started, err) ||
        !read_moment(csv, at->end, &end_ns, &ended, err))
        return false;
    import_gpus(row, gpus, at->gpus);
    if (!submitted)
        import_drop(row, IMPORT_NO_SUBMIT, at->submit);
    if (!started)
        import_drop(row, IMPORT_NEVER_RAN, at->start);
    if (!ended)
        import_drop(row, IMPORT_STILL_RUNNING, at->end);
    row->job.submit_ns = submit_ns;
    row->job.run_ns = end_ns - start_ns;
    row->remark[REMARK_EARLY] = submitted && started && start_ns < submit_ns;
    return true;
}

void import_drop(struct import_row *row, enum import_reason reason,
                 size_t column)
{
    if (row->drop)
        return;
    row->drop = true;
    row->reason = reason;
    row->column = column;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * gavel.c - traces of Gavel (Narayanan et al., OSDI 2020), of 7 or of 10
 * fields between tabs.
 *
 * 7: job type, command, argument, needs data, steps, arrival, GPUs.  10: job
 * type, command, folder, argument, needs data, steps, GPUs, priority weight, SLO
 * (-1: none), arrival.  The run time is steps / rate, and the rate is that of
 * the job alone on one type of GPU, from Gavel's *_throughputs.json; some (type,
 * GPUs) pairs have none.
 */
#include <assert.h>
#include <stdio.h>

#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "workloads/formats/row.h"
#include "workloads/formats/trace_row.h"

/* Places of fields in one of the two layouts. */
struct fields { size_t type, steps, gpus, arrival, weight, slo; };
static const struct fields fields_7 = {
    0, 4, 6, 5, ROW_NO_COLUMN, ROW_NO_COLUMN};
static const struct fields fields_10 = {0, 5, 6, 9, 7, 8};

/* The two layouts are told apart by the number of fields. */
static const struct fields *find_fields(const struct importer *importer)
{
    return csv_columns(importer->csv) == 7 ? &fields_7 : &fields_10;
}

/* The files have no header, so the number of fields says whether it is a trace
 * of Gavel; lengths come from a table of throughputs. */
static bool open_gavel(struct importer *importer, struct err *err)
{
    size_t count = csv_columns(importer->csv);

    if (count != 7 && count != 10)
        return err_set(err, ERR_SYNTAX,
                       (struct err_pos){importer->request->file, 1, 1},
                       "row has %zu fields between tabs, traces of Gavel "
                       "have 7 or 10", count);
    return import_lengths_gavel(importer, err);
}

/* Sets the run time, steps over rate.  The key of a rate is "('job type',
 * GPUs)". Without a rate the row is dropped (IMPORT_NO_LENGTH). */
static void find_length(struct importer *importer, const struct fields *at,
                        int64_t steps, struct import_row *row)
{
    char key[256];
    double rate;

    snprintf(key, sizeof key, "('%.200s', %lld)",
             csv_field(importer->csv, at->type)->text,
             (long long)row->job.gpus);
    rate = import_length(importer->lengths, key);
    if (rate > 0.0 &&
        clock_ns_from_s((double)steps / rate, &row->job.run_ns))
        return;
    row->job.run_ns = 0;
    if (row->job.gpus > 0)
        import_drop(row, IMPORT_NO_LENGTH, at->type);
}

/* An SLO of -1 means none, and a weight of 1 the usual one; other values are
 * not used, and are remarked. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    const struct fields *field = find_fields(importer);
    /* Steps stand in for a duration until the rate is known. */
    const struct row_columns at = {
        .job = ROW_NO_COLUMN, .submit = field->arrival,
        .duration = field->steps, .gpus = field->gpus,
        .gpus_else = ROW_NO_COLUMN, .limit = ROW_NO_COLUMN,
        .tenant = ROW_NO_COLUMN, .priority = ROW_NO_COLUMN,
        .deadline = ROW_NO_COLUMN, ROW_NO_MORE};
    int64_t steps;

    assert(importer->lengths != NULL);
    if (!row_whole(importer->csv, field->steps, &steps, err) ||
        !import_plain(importer, &at, row, err))
        return false;
    row->job.kind = csv_field(importer->csv, field->type)->text;
    if (steps > 0)
        find_length(importer, field, steps, row);
    if (field->weight == ROW_NO_COLUMN)
        return true;
    row->remark[REMARK_WEIGHT] =
        !import_says(importer->csv, field->weight, 1.0);
    row->remark[REMARK_SLO] =
        !import_says(importer->csv, field->slo, -1.0);
    return true;
}

const struct import_format import_gavel = {
    .name = "gavel",
    .cites = "narayanan2020gavel",
    .summary = "Gavel's traces of 7 or 10 fields, with --lengths "
               "THROUGHPUTS.json --gpu-type TYPE",
    .about = "# A trace of Gavel (OSDI 2020).  Run time is steps / rate of "
             "the job alone on one type\n"
             "# of GPU; arrivals and sizes are of Philly, job types "
             "synthetic.\n",
    .layout = CSV_TAB,
    .lengths = "a *_throughputs.json of Gavel, plain, gzip or zstd", .typed = true,
    .open = open_gavel, .row = read_row,
};

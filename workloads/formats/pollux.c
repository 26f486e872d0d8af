/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pollux.c - workloads of Pollux (Qiao et al., OSDI 2021) and of Sia
 * (Subramanya et al., SOSP 2023): name, time, application, num_replicas, batch
 * size.
 *
 * They hold no run times: there, jobs are elastic, and how long one takes follows
 * from profiles of its application.  So either the run times of the applications
 * are given, or the catalogue knows their goodput; the size is num_replicas.
 */
#include "sim/base/clock.h"
#include "sim/text/csv.h"
#include "workloads/formats/row.h"
#include "workloads/formats/trace_row.h"

static const char *const columns[] = {
    "name", "time", "application", "num_replicas", "batch_size", NULL};
#define BATCH_MAX 1000000000
enum { NAME, TIME, APPLICATION, REPLICAS, BATCH };

/* Reads a job.  Applications and batches stand in the place of run times: these
 * follow from the catalogue, or from a table of lengths.  The batch is read as
 * if it were seconds, and turned into samples again. */
static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    const size_t *column = importer->at;
    /* The batch stands in for a duration, which the file has not. */
    const struct row_columns at = {
        .job = column[NAME], .submit = column[TIME],
        .duration = column[BATCH], .gpus = column[REPLICAS],
        .gpus_else = ROW_NO_COLUMN, .limit = ROW_NO_COLUMN,
        .tenant = ROW_NO_COLUMN, .priority = ROW_NO_COLUMN,
        .deadline = ROW_NO_COLUMN, ROW_NO_MORE};
    const char *application;
    double run_s;

    if (!import_plain(importer, &at, row, err))
        return false;
    row->job.batch = row->job.run_ns / 1000000000;
    row->run_column = column[APPLICATION];
    application = csv_field(importer->csv, column[APPLICATION])->text;
    if (importer->request->applications) {
        row->job.kind = application;
        row->job.run_ns = 1;    /* the reader takes it from the catalogue */
        if (row->job.batch < 1 || row->job.batch > BATCH_MAX)
            return row_fault(importer->csv, column[BATCH], ERR_RANGE,
                             "a whole number of samples, 1 to 1e9", err);
        return true;
    }
    run_s = import_length(importer->lengths, application);
    if (!(run_s > 0.0) || !clock_ns_from_s(run_s, &row->job.run_ns))
        import_drop(row, IMPORT_NO_LENGTH, column[APPLICATION]);
    return true;
}

/* Run times come from the catalogue, or else from the table that the request names. */
static bool open_lengths(struct importer *importer, struct err *err)
{
    return importer->request->applications ||
           import_lengths_csv(importer, err);
}

#define ABOUT \
    "# name, time, application, num_replicas, batch_size: jobs are elastic " \
    "there, and their\n" \
    "# length follows from profiles that are not in the file.  Here each " \
    "holds num_replicas GPUs\n" \
    "# for the run time that was given for its application.\n"
#define LENGTHS "a CSV of application,run_s"

const struct import_format import_pollux = {
    .name = "pollux",
    .cites = "qiao2021pollux",
    .summary = "Pollux' workloads, with --lengths FILE.csv of "
               "application,run_s",
    .about = "# A workload of Pollux (OSDI 2021).\n" ABOUT,
    .layout = CSV_COMMA, .columns = columns, .lengths = LENGTHS,
    .applications = true,
    .open = open_lengths, .row = read_row,
};

const struct import_format import_sia = {
    .name = "sia",
    .cites = "subramanya2023sia",
    .summary = "Sia's workloads, the same columns as pollux",
    .about = "# A workload of Sia (SOSP 2023); num_replicas is the most GPUs "
             "a job takes.\n" ABOUT,
    .layout = CSV_COMMA, .columns = columns, .lengths = LENGTHS,
    .applications = true,
    .open = open_lengths, .row = read_row,
};

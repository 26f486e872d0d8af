/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv.c - the columns that clustersim itself writes: job, submit_s, run_s,
 * gpus; and limit_s, tenant, priority, deadline_s where there are any; or those that
 * the request names.
 */
#include "sim/text/csv.h"
#include "workloads/formats/columns.h"
#include "workloads/formats/row.h"

static const char *const columns[] = {"submit_s", "run_s", "gpus", NULL};

/* Takes the columns that export writes, or those that the request names. */
static bool find_columns(struct importer *importer, struct err *err)
{
    struct csv *csv = importer->csv;
    const struct import_request *request = importer->request;
    const struct err_pos pos = {request->file, 1, 1};

    importer->plain = (struct row_columns){
        .job = csv_find(csv, "job"), .submit = importer->at[0],
        .duration = importer->at[1], .gpus = importer->at[2],
        .gpus_else = ROW_NO_COLUMN, .limit = csv_find(csv, "limit_s"),
        .tenant = csv_find(csv, "tenant"),
        .priority = csv_find(csv, "priority"),
        .deadline = csv_find(csv, "deadline_s"),
        .cores = csv_find(csv, "cores"),
        .memory_mib = csv_find(csv, "memory_mib"),
        .gpu_memory_mib = csv_find(csv, "gpu_memory_mib"),
        .types = csv_find(csv, "gpu_types")};
    return request->columns == NULL ||
           trace_columns_find(csv, importer->arena, request->columns,
                              request->file, pos, &importer->plain, err);
}

static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    return import_plain(importer, &importer->plain, row, err);
}

const struct import_format import_csv = {
    .name = "csv",
    .summary = "columns job, submit_s, run_s, gpus, and maybe limit_s, "
               "tenant, priority, deadline_s, cores, memory_mib, "
               "gpu_memory_mib, gpu_types: what export writes; or any, named by "
               "--columns",
    .about = "# Columns as clustersim export writes them.\n",
    .missing = "Say which of its columns is what: --columns "
               "job=NAME,submit=NAME,duration=NAME,gpus=NAME; a number "
               "stands for every row.",
    .layout = CSV_COMMA, .columns = columns, .open = find_columns,
    .row = read_row,
};

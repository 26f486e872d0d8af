/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * import_shockwave.c - traces of Shockwave (Zheng et al., NSDI 2023), 12 fields
 * between tabs.
 *
 * Job type, command, folder, argument, needs data, steps, GPUs, mode (static,
 * accordion, gns), priority weight, SLO (-1: none), duration, arrival.  Jobs
 * that are not static change their batch size while they run.
 */
#include <string.h>

#include "sim/scan.h"
#include "workloads/import_row.h"

enum { GPUS = 6, MODE, WEIGHT, SLO, RUN, ARRIVAL, FIELDS };

static bool open_shockwave(struct importer *importer, struct err *err)
{
    size_t count = csv_columns(importer->csv);

    return count == FIELDS ||
           err_set(err, ERR_SYNTAX,
                   (struct err_pos){importer->request->file, 1, 1},
                   "row has %zu fields between tabs, traces of Shockwave "
                   "have %d", count, FIELDS);
}

static bool is_number(const struct csv *csv, size_t column, double wanted)
{
    struct csv_field field = csv_field(csv, column);
    double value;

    return scan_f64(field.text, field.bytes, &value) && value == wanted;
}

static bool read_row(struct importer *importer, struct import_row *row,
                     struct err *err)
{
    static const struct row_columns at = {
        .job = ROW_NO_COLUMN, .submit = ARRIVAL, .duration = RUN,
        .gpus = GPUS, .gpus_else = ROW_NO_COLUMN, .limit = ROW_NO_COLUMN,
        .tenant = ROW_NO_COLUMN, .priority = ROW_NO_COLUMN,
        .deadline = ROW_NO_COLUMN, ROW_NO_MORE};
    const char *mode = csv_field(importer->csv, MODE).text;
    bool fixed = strcmp(mode, "static") == 0;

    if (!fixed && strcmp(mode, "accordion") != 0 && strcmp(mode, "gns") != 0)
        return row_fault(importer->csv, MODE, ERR_RANGE,
                         "static, accordion or gns", err);
    row->remark[REMARK_DYNAMIC] = !fixed;
    row->remark[REMARK_WEIGHT] = !is_number(importer->csv, WEIGHT, 1.0);
    row->remark[REMARK_SLO] = !is_number(importer->csv, SLO, -1.0);
    return import_plain(importer, &at, row, err);
}

const struct import_format import_shockwave = {
    .name = "shockwave",
    .summary = "Shockwave's traces of 12 fields",
    .about = "# A synthetic trace of Shockwave (NSDI 2023).  Jobs of mode "
             "accordion and gns change\n"
             "# their batch size as they run; the run time is what the file "
             "states.\n",
    .layout = CSV_TAB, .open = open_shockwave, .row = read_row,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv.c - series in CSV files: the common form, and tables with a column
 * of times and a column for each series.
 *
 * Carbon intensity of Let's Wait Awhile (Wiesner et al., Middleware 2021) and
 * Azure's spot prices of 2020 (Narayanan et al., DISPA 2020) are such tables.
 */
#include <string.h>

#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/scan.h"
#include "sim/text/trace_date.h"
#include "workloads/formats/trace_row.h"
#include "workloads/series/reader.h"

/* Reads a field as a time, tried in this order: a date alone (its midnight), a
 * date with a time of day, the same with the month first, seconds.  A date
 * alone gets a time of day put behind it, since date_read() wants both.  False:
 * err is at the field. */
static bool read_time(const struct csv *csv, size_t column, int64_t *ns,
                      struct err *err)
{
    struct csv_field field = *csv_field(csv, column);
    char midnight[] = "2020-01-01 00:00:00";

    if (field.bytes == 10 && field.text[4] == '-') {
        memcpy(midnight, field.text, 10);
        if (date_read(midnight, sizeof midnight - 1, ns))
            return true;
    }
    return date_read(field.text, field.bytes, ns) ||
           date_read_us(field.text, field.bytes, ns) ||
           scan_time(field.text, field.bytes, ns) ||
           row_fault(csv, column, ERR_SYNTAX, "a date or seconds", err);
}

/* Reads a number.  A dollar sign may stand before it, as in tables of prices. */
static bool read_value(const struct csv *csv, size_t column, double *out,
                       struct err *err)
{
    struct csv_field field = *csv_field(csv, column);
    size_t sign = field.bytes > 0 && field.text[0] == '$';

    return scan_f64(field.text + sign, field.bytes - sign, out) ||
           row_fault(csv, column, ERR_SYNTAX, "a number", err);
}

/* Reads one row of a table: a time, and a value for each series.  number[i] is
 * the number of the series in column i, from 1 on.  An empty field adds no
 * point, and is counted. */
static bool read_table_row(struct series_reader *reader, const struct csv *csv,
                           const size_t *number, struct err *err)
{
    int64_t time_ns;
    double value;

    if (!read_time(csv, 0, &time_ns, err))
        return false;
    for (size_t i = 1; i < csv_columns(csv); i++) {
        if (csv_field(csv, i)->bytes == 0) {
            reader->counts->empty++;
            continue;
        }
        if (!read_value(csv, i, &value, err) ||
            !series_add(reader, number[i], time_ns, value, csv_pos(csv, 0),
                        err))
            return false;
    }
    return true;
}

/* Reads a table whose first column has times and each other one a series, named
 * by the header.  `first` and `second` are names that the first two columns
 * must have; NULL: any name will do. */
static bool read_table(struct series_reader *reader, const char *first,
                       const char *second, struct err *err)
{
    struct csv *csv = csv_open(reader->arena, reader->request->file,
                               CSV_COMMA, err);
    size_t number[CSV_FIELDS_MAX];
    enum csv_step step = CSV_ERROR;
    bool good = csv != NULL && csv_columns(csv) > 1 &&
                (first == NULL || strcmp(csv_names(csv)[0], first) == 0) &&
                (second == NULL || strcmp(csv_names(csv)[1], second) == 0);

    if (csv != NULL && !good)
        err_set(err, ERR_SYNTAX,
                (struct err_pos){reader->request->file, 1, 1},
                "format %s has a column %s and then %s",
                reader->format->name, first == NULL ? "of times" : first,
                second == NULL ? "one for each series" : second);
    for (size_t i = 1; good && i < csv_columns(csv); i++)
        number[i] = series_number(reader, csv_names(csv)[i]);
    while (good && (step = csv_next(csv, err)) == CSV_ROW)
        good = read_table_row(reader, csv, number, err);
    csv_close(csv);
    return good && step == CSV_END;
}

/* A table whose first column has times and each other one a series. */
static bool read_any(struct series_reader *reader, struct err *err)
{
    return read_table(reader, NULL, NULL, err);
}

/* Let's Wait Awhile: the two columns are called Time and Carbon Intensity. */
static bool read_carbon(struct series_reader *reader, struct err *err)
{
    return read_table(reader, "Time", "Carbon Intensity", err);
}

/* Spot prices of Azure: dates, then a column for each type of instance. */
static bool read_azure(struct series_reader *reader, struct err *err)
{
    return read_table(reader, "Date", NULL, err);
}

/* Adds the point of one row.  `at` has the columns of its series, time and
 * value. */
static bool read_common_row(struct series_reader *reader, const struct csv *csv,
                            const size_t *at, struct err *err)
{
    int64_t time_ns;
    double value;

    return read_time(csv, at[1], &time_ns, err) &&
           read_value(csv, at[2], &value, err) &&
           series_add(reader, series_number(reader,
                                            csv_field(csv, at[0])->text),
                      time_ns, value, csv_pos(csv, at[1]), err);
}

/* Reads the common form.  Its three columns are found by name, may stand in any
 * order, and other columns are passed over. */
static bool read_common(struct series_reader *reader, struct err *err)
{
    static const char *const names[] = {"series", "time_s", "value"};
    struct csv *csv = csv_open(reader->arena, reader->request->file,
                               CSV_COMMA, err);
    enum csv_step step = CSV_ERROR;
    size_t at[3];
    bool good = csv != NULL;

    for (int i = 0; good && i < 3; i++) {
        at[i] = csv_find(csv, names[i]);
        good = at[i] != ROW_NO_COLUMN ||
               err_set(err, ERR_SYNTAX,
                       (struct err_pos){reader->request->file, 1, 1},
                       "file has no column %s: a series has series, time_s "
                       "and value", names[i]);
    }
    while (good && (step = csv_next(csv, err)) == CSV_ROW)
        good = read_common_row(reader, csv, at, err);
    csv_close(csv);
    return good && step == CSV_END;
}

const struct series_format series_csv = {
    .name = "series", .summary = "columns series, time_s, value: the common "
                                 "form",
    .about = "# Series in the common form.\n",
    .kind = "table", .unit = "as published", .read = read_common,
};

const struct series_format series_table = {
    .name = "table",
    .summary = "a column of times and a column for each series, such as "
               "Helios' minute series",
    .about = "# A table of times and values.  Dates have no zone and are "
             "taken for UTC.\n",
    .kind = "table", .unit = "as published", .regular = true,
    .read = read_any,
};

const struct series_format series_carbon = {
    .name = "carbon",
    .summary = "carbon intensity of a grid: Time, Carbon Intensity",
    .about = "# Carbon intensity (Let's Wait Awhile, Middleware 2021, from "
             "ENTSO-E).  Whether its times\n"
             "# are local is not stated: they are taken for UTC.  Steps may "
             "change within a file.\n",
    .kind = "carbon", .unit = "gCO2/kWh", .regular = true, .positive = true,
    .read = read_carbon,
};

const struct series_format series_azure_price = {
    .name = "azure-price",
    .summary = "Azure's spot prices by day: Date, and a column for each "
               "machine",
    .about = "# Azure's spot prices 2020 (DISPA 2020), one value a day; an "
             "empty field is no offer.\n",
    .kind = "price", .unit = "USD/h", .regular = true, .positive = true,
    .read = read_azure,
};

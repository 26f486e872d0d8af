/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * services_table.c - one row per point, policy and service, in file order.
 */
#include "experiments/report/services_table.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/report/report_html.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

#define KEYS 3
#define COUNT_OF(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

/* A figure is shown times `factor`, with `digits` significant digits; 0: whole
 * numbers. */
static const struct {
    const char *column, *title;
    double factor;
    int digits;
} shown[] = {
    { "requests", "requests", 1, 0 },
    { "done", "answered", 1, 0 },
    { "dropped", "dropped", 1, 0 },
    { "ttft_p99_s", "TTFT p99, ms", 1e3, 3 },
    { "tpot_p99_s", "TPOT p99, ms", 1e3, 3 },
    { "latency_p50_s", "latency p50, ms", 1e3, 3 },
    { "latency_p99_s", "latency p99, ms", 1e3, 3 },
    { "slo_attained_fraction", "as promised, %", 100, 4 },
    { "gpu_replica_hours", "GPU replica h", 1, 3 },
    { "cpu_replica_hours", "CPU replica h", 1, 3 },
    { "cost_usd", "cost, USD", 1, 4 },
    { "cost_per_million_usd", "USD per million", 1, 3 },
};
#define SHOWN COUNT_OF(shown)

static const char *const key_name[KEYS] = { "point", "policy", "service" };

/* One service under one policy at one point, summed over seeds. */
struct services_row {
    const char *key[KEYS];
    double sum[SHOWN];
    uint32_t count[SHOWN];      /* of seeds that have the figure */
};

struct services_table {
    struct services_row *row;
    size_t count, room;
};

/* Returns the row of a point, policy and service, which is added if it is new. */
static struct services_row *row_of(struct arena *arena,
                                   struct services_table *t,
                                   const char *const key[KEYS])
{
    struct services_row *row;

    for (size_t i = 0; i < t->count; i++) {
        row = &t->row[i];
        if (strcmp(row->key[0], key[0]) == 0 &&
            strcmp(row->key[1], key[1]) == 0 &&
            strcmp(row->key[2], key[2]) == 0)
            return row;
    }
    if (t->count == t->room) {
        size_t more = t->room ? 2 * t->room : 32;
        t->row = arena_grow(arena, t->row, t->room, more, sizeof *t->row);
        t->room = more;
    }
    row = &t->row[t->count++];
    for (int k = 0; k < KEYS; k++)
        row->key[k] = arena_text(arena, key[k]);
    return row;
}

/* Adds a row of services.csv to the sums of its service. */
static bool add_row(struct arena *arena, struct services_table *t,
                    const struct csv *in, const size_t *at,
                    struct err *err)
{
    const char *key[KEYS];
    struct services_row *row;
    double value;

    for (int k = 0; k < KEYS; k++)
        key[k] = csv_text(in, at[k]);
    row = row_of(arena, t, key);
    for (size_t c = 0; c < SHOWN; c++) {
        if (!csv_number(in, at[KEYS + c], &value, err))
            return false;
        if (isfinite(value)) {
            row->sum[c] += value;
            row->count[c]++;
        }
    }
    return true;
}

/* Reads services.csv; false, with err. */
static bool read_rows(struct arena *arena, struct services_table *t,
                      struct csv *in, struct err *err)
{
    size_t at[KEYS + SHOWN];
    enum csv_step step;

    for (size_t c = 0; c < KEYS + SHOWN; c++)
        if (!csv_need_column(in, c < KEYS ? key_name[c]
                                        : shown[c - KEYS].column,
                           &at[c], err))
            return false;
    while ((step = csv_next(in, err)) == CSV_ROW)
        if (!add_row(arena, t, in, at, err))
            return false;
    return step == CSV_END;
}

struct services_table *services_table_read(struct arena *arena,
                                           const char *dir, struct err *err)
{
    const char *path = path_join(arena, dir, "services.csv");
    struct services_table *t = arena_alloc(arena, 1, sizeof *t);
    struct csv *in;
    bool good;

    if (!path_is_file(path))
        return NULL;
    in = csv_open(arena, path, CSV_TABLE, err);
    if (in == NULL)
        return NULL;
    good = read_rows(arena, t, in, err);
    csv_close(in);
    return good ? t : NULL;
}

/* Has no row a value in column c, or only zeros?  Then the column is left out. */
static bool says_nothing(const struct services_table *t, size_t c)
{
    for (size_t i = 0; i < t->count; i++)
        if (t->row[i].count[c] > 0 && fabs(t->row[i].sum[c]) > 0)
            return false;
    return true;
}

/* Is key k the same in all rows?  Then its column is left out. */
static bool same_keys(const struct services_table *t, int k)
{
    for (size_t i = 1; i < t->count; i++)
        if (strcmp(t->row[i].key[k], t->row[0].key[k]) != 0)
            return false;
    return true;
}

/* Writes the mean over the seeds of column c. */
static void figure(char text[HTML_NUMBER_BYTES], const struct services_row *r,
                   size_t c)
{
    double mean = r->count[c] > 0 ? r->sum[c] / r->count[c] * shown[c].factor
                                  : NAN;

    html_number(text, mean, shown[c].digits > 0
                            ? html_decimals(mean, shown[c].digits) : 0);
}

struct sheet *services_table_sheet(const struct services_table *t, bool keys)
{
    struct sheet *sheet = sheet_new(NULL);
    char text[HTML_NUMBER_BYTES];

    for (int k = 0; k < KEYS; k++)
        if (keys || k == 2 || !same_keys(t, k))
            sheet_column(sheet, key_name[k], 0);
    for (size_t c = 0; c < SHOWN; c++)
        if (!says_nothing(t, c))
            sheet_column(sheet, shown[c].title, 15);
    for (size_t i = 0; i < t->count; i++) {
        for (int k = 0; k < KEYS; k++)
            if (keys || k == 2 || !same_keys(t, k))
                sheet_cell(sheet, "%s", t->row[i].key[k]);
        for (size_t c = 0; c < SHOWN; c++) {
            if (says_nothing(t, c))
                continue;
            figure(text, &t->row[i], c);
            sheet_cell(sheet, "%s", text);
        }
    }
    return sheet;
}

void services_table_print(const struct services_table *t, FILE *file)
{
    struct sheet *sheet = services_table_sheet(t, false);

    fputs("services, means over seeds\n", file);
    sheet_gap(sheet, 2);
    sheet_close(sheet, file);
}

/* Adds a name that is not among them. */
static void add_name(struct arena *arena, struct service_names *names, const char *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->item[i], name) == 0)
            return;
    ARENA_ADD(arena, names->item, names->count, names->room, arena_text(arena, name));
}

bool service_names_read(struct arena *arena, const char *dir, struct service_names *names,
                        struct err *err)
{
    const char *path = path_join(arena, dir, csv_services.file);
    enum csv_step step = CSV_ERROR;
    struct csv *in;
    size_t column;

    *names = (struct service_names){ .count = 0 };
    if (!path_is_file(path))
        return true;
    in = csv_open(arena, path, CSV_TABLE, err);
    if (in != NULL && csv_need_column(in, "service", &column, err))
        while ((step = csv_next(in, err)) == CSV_ROW)
            add_name(arena, names, csv_text(in, column));
    csv_close(in);
    return step == CSV_END;
}

bool service_names_replica(const struct service_names *names, const char *job,
                           const char *kind)
{
    size_t length = strlen(kind);

    if (strncmp(job, kind, length) != 0 || job[length] != '-' ||
        strspn(job + length + 1, "0123456789") != strlen(job + length + 1))
        return false;
    for (size_t i = 0; i < names->count; i++)
        if (strcmp(names->item[i], kind) == 0)
            return true;
    return false;
}

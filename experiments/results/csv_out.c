/* SPDX-License-Identifier: GPL-3.0-or-later */
/* csv_out.c - header line and rows of a table. */
#include "experiments/results/csv_out.h"

#include <assert.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/table.h"

bool csv_out_is_there(const struct folder *dir, const struct csv_kind *kind)
{
    FILE *file = folder_read(dir, kind->file);
    char want[8192], got[8192];
    size_t bytes = table_header(kind->columns, kind->count, want, sizeof want);
    bool same;

    if (file == NULL)
        return false;
    same = fread(got, 1, bytes, file) == bytes && memcmp(got, want, bytes) == 0;
    fclose(file);
    return same;
}

struct out *csv_out_open(struct arena *arena, const struct folder *dir,
                         const struct csv_kind *kind, struct err *err)
{
    struct out *out = out_in(arena, dir, kind->file, err);
    char header[8192];
    size_t bytes;

    if (out == NULL)
        return NULL;
    bytes = table_header(kind->columns, kind->count, header, sizeof header);
    assert(bytes < sizeof header);
    out_bytes(out, header, bytes);
    return out;
}

bool csv_out_close(struct out *out, struct table *table, struct err *err)
{
    size_t bytes;
    const char *rows = table_bytes(table, &bytes);

    out_bytes(out, rows, bytes);
    table_free(table);
    return out_close(out, err);
}

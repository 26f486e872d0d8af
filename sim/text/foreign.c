/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * foreign.c - what a file is that is no text, and what makes text of it.
 */
#include "sim/text/foreign.h"

#include <assert.h>
#include <string.h>

#include "sim/base/err.h"

/* Does it stand within quotation marks of a shell and of SQL as it is? */
static bool is_plain(const char *path)
{
    return strpbrk(path, "'\"\\$`!") == NULL && strlen(path) < 400;
}

/* Says how to turn the file into a CSV, with its name in the command where a shell takes
 * it as it is. */
static void hint_parquet(const char *path, struct err *err)
{
    static const char end[] = ".parquet";
    const char *name = is_plain(path) ? path : "FILE.parquet";
    size_t bytes = strlen(name), cut = sizeof end - 1;

    assert(is_plain(name));
    if (bytes > cut && strcmp(name + bytes - cut, end) == 0)
        bytes -= cut;
    err_hint(err, "Make a CSV of it: duckdb -c \"COPY (FROM '%s') TO '%.*s.csv'\".  "
             "In Python: duckdb.sql() with the same words, or pandas.", name, (int)bytes, name);
}

bool foreign_find(const char *path, const char *bytes, size_t count, bool unpacked,
                  struct err *err)
{
    static const struct {
        const char *name, *magic;
        bool packing;           /* of one file, which some readers unpack */
    } known[] = {
        { "Parquet", "PAR1", false },
        { "a zip archive, or a workbook of Excel", "PK\003\004", false },
        { "bzip2 data", "BZh91AY&SY", false },
        { "xz data", "\xFD" "7zXZ", false },
        { "zstd data", "\x28\xB5\x2F\xFD", true },
        { "a 7z archive", "7z\xBC\xAF", false },
        { "gzip data", "\x1F\x8B", true },
    };
    struct err_pos pos = { path, 1, 1 };

    assert(path != NULL && (bytes != NULL || count == 0));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (count < strlen(known[i].magic) ||
            memcmp(bytes, known[i].magic, strlen(known[i].magic)) != 0)
            continue;
        err_set(err, ERR_SYNTAX, pos, "the file is %s%s", known[i].name,
                known[i].packing && unpacked ? " within packed data" : "");
        if (i == 0)
            hint_parquet(path, err);
        else if (unpacked)
            err_hint(err, "Unpack it: text is read, plain, gzip or zstd.");
        else
            err_hint(err, "Unpack it: a file of YAML or JSON is read as it is.");
        return true;
    }
    return false;
}

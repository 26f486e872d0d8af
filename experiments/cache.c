/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cache.c - one finished trial in one file.
 *
 * Form: magic, hash, result, per table its size and bytes, FNV-1a of it all.
 */
#include "experiments/cache.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "experiments/hash.h"
#include "experiments/out.h"
#include "experiments/paths.h"
#include "experiments/trial.h"
#include "sim/arena.h"
#include "sim/table.h"

static const char magic[16] = "clustersim-run1";

struct head {
    char magic[16];
    uint64_t hash;
    uint64_t bytes[CACHE_TABLE_COUNT];
    struct trial_result result;
};

static const char *cache_path(struct arena *arena, const char *dir,
                              uint64_t hash)
{
    return text_format(arena, "%s/%016" PRIx64 ".trial", dir, hash);
}

static void table_rows(const struct table *table, struct cache_rows *rows)
{
    rows->count = 0;
    rows->bytes = table == NULL ? NULL : table_bytes(table, &rows->count);
}

static bool write_file(struct arena *arena, const char *path,
                       const struct head *head,
                       const struct cache_rows *rows, struct err *err)
{
    struct out *out = out_open(arena, path, err);
    uint64_t sum = hash_bytes(HASH_START, head, sizeof *head);

    if (out == NULL)
        return false;
    out_bytes(out, head, sizeof *head);
    for (int t = 0; t < CACHE_TABLE_COUNT; t++) {
        sum = hash_bytes(sum, rows[t].bytes, rows[t].count);
        out_bytes(out, rows[t].bytes, rows[t].count);
    }
    out_bytes(out, &sum, sizeof sum);
    return out_close_fast(out, err);
}

bool cache_write(const char *dir, uint64_t hash,
                 const struct trial_result *result,
                 const struct trial_tables *tables, struct err *err)
{
    struct arena *arena = arena_new(4096);
    struct cache_rows rows[CACHE_TABLE_COUNT];
    struct head head;
    struct err why = { 0 };
    bool ok;

    memset(&head, 0, sizeof head);
    memcpy(head.magic, magic, sizeof magic);
    head.hash = hash;
    head.result = *result;
    table_rows(tables->jobs, &rows[CACHE_JOBS]);
    table_rows(tables->phases, &rows[CACHE_PHASES]);
    table_rows(tables->timeline, &rows[CACHE_TIMELINE]);
    table_rows(tables->decisions, &rows[CACHE_DECISIONS]);
    table_rows(tables->services, &rows[CACHE_SERVICES]);
    table_rows(tables->arrived, &rows[CACHE_ARRIVED]);
    for (int t = 0; t < CACHE_TABLE_COUNT; t++)
        head.bytes[t] = rows[t].count;
    ok = write_file(arena, cache_path(arena, dir, hash), &head, rows, &why);
    arena_free(arena);
    if (!ok) {      /* the path in `why` went with the arena */
        struct err_pos nowhere = { NULL, 0, 0 };

        err_set(err, why.kind, nowhere, "%.100s: a finished trial %.100s",
                dir, why.text);
    }
    return ok;
}

/* All of a file, in the arena; NULL if it cannot be read. */
static char *slurp(struct arena *arena, const char *path, size_t *count)
{
    FILE *file = fopen(path, "rb");
    char *bytes = NULL;
    long end;

    if (file == NULL)
        return NULL;
    if (fseek(file, 0, SEEK_END) == 0 && (end = ftell(file)) >= 0 &&
        fseek(file, 0, SEEK_SET) == 0) {
        bytes = arena_alloc(arena, (size_t)end + 1, 1);
        *count = (size_t)end;
        if (fread(bytes, 1, *count, file) != *count)
            bytes = NULL;
    }
    fclose(file);
    return bytes;
}

bool cache_read(struct arena *arena, const char *dir, uint64_t hash,
                struct trial_result *result,
                struct cache_rows rows[CACHE_TABLE_COUNT])
{
    size_t count, at = sizeof(struct head);
    char *bytes = slurp(arena, cache_path(arena, dir, hash), &count);
    struct head head;
    uint64_t sum;

    if (bytes == NULL || count < sizeof head + sizeof sum)
        return false;
    memcpy(&head, bytes, sizeof head);
    count -= sizeof sum;
    memcpy(&sum, bytes + count, sizeof sum);
    if (memcmp(head.magic, magic, sizeof magic) != 0 || head.hash != hash ||
        hash_bytes(HASH_START, bytes, count) != sum)
        return false;
    for (int t = 0; t < CACHE_TABLE_COUNT; t++) {
        if (head.bytes[t] > count - at)
            return false;
        if (rows != NULL) {
            rows[t].bytes = bytes + at;
            rows[t].count = (size_t)head.bytes[t];
        }
        at += (size_t)head.bytes[t];
    }
    *result = head.result;
    return at == count;
}

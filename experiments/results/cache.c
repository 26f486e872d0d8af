/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cache.c - one trial in one file, and in one more per table that is long.
 *
 * Form: the head, per table those rows that are not in the file beside, and
 * the checksum of it all; the head has size and checksum of each file beside.
 * It is zlib's CRC-32: rows are many, and it is five times as fast as FNV-1a.
 */
#include "experiments/results/cache.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "experiments/run/trial.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/table.h"

#define COPY_BYTES 65536u

static const char magic[16] = "clustersim-run4";
static const char *const suffix[CACHE_TABLE_COUNT] = {
    "jobs", "phases", "timeline", "decisions", "services", "arrived",
    "tenants"
};

struct head {
    char magic[16];
    uint64_t hash;
    uint64_t bytes[CACHE_TABLE_COUNT];      /* in this file */
    uint64_t beside[CACHE_TABLE_COUNT];     /* before them */
    uint64_t beside_sum[CACHE_TABLE_COUNT];
    struct trial_result result;
};

struct rows {
    struct cache *cache;
    struct table *table;        /* NULL: not wanted */
    const char *name;           /* of the file beside */
    struct out *beside;         /* NULL: there is none so far */
    uint64_t bytes, sum;        /* of it */
};

struct cache {
    struct arena *arena;
    const struct folder *dir;
    const char *name;
    uint64_t hash;
    struct rows rows[CACHE_TABLE_COUNT];
    volatile int *stop;
    struct err err;             /* of the first rows not written */
};

static const char *name_of(struct arena *arena, uint64_t hash,
                           const char *what)
{
    return text_format(arena, "%016" PRIx64 ".%s", hash, what);
}

static uint64_t checksum(uint64_t sum, const void *bytes, size_t count)
{
    return crc32_z((uLong)sum, bytes, count);
}

/* ---- a trial that runs ---- */

static void take_rows(void *self, const char *bytes, size_t count)
{
    struct rows *rows = self;
    struct cache *cache = rows->cache;

    if (cache->err.kind != ERR_NONE)
        return;
    if (rows->beside == NULL)
        rows->beside = out_in(cache->arena, cache->dir, rows->name,
                              &cache->err);
    if (rows->beside != NULL) {
        rows->sum = checksum(rows->sum, bytes, count);
        rows->bytes += count;
        out_bytes(rows->beside, bytes, count);
        if (out_good(rows->beside, &cache->err))
            return;
    }
    if (cache->stop != NULL)
        __atomic_store_n(cache->stop, 1, __ATOMIC_RELAXED);
}

struct cache *cache_begin(const struct folder *dir, uint64_t hash,
                          const struct trial_tables *tables,
                          volatile int *stop)
{
    struct table *const table[CACHE_TABLE_COUNT] = {
        tables->jobs, tables->phases, tables->timeline, tables->decisions,
        tables->services, tables->arrived, tables->tenants
    };
    struct arena *arena = arena_new(4096);
    struct cache *cache = arena_alloc(arena, 1, sizeof *cache);

    cache->arena = arena;
    cache->dir = dir;
    cache->name = name_of(arena, hash, "trial");
    cache->hash = hash;
    cache->stop = stop;
    for (int t = 0; t < CACHE_TABLE_COUNT; t++) {
        struct rows *rows = &cache->rows[t];

        rows->cache = cache;
        rows->table = table[t];
        rows->name = name_of(arena, hash, suffix[t]);
        if (rows->table != NULL)
            table_sink(rows->table, take_rows, rows);
    }
    return cache;
}

/* ---- its end ---- */

static bool close_beside(struct cache *cache, struct head *head)
{
    for (int t = 0; t < CACHE_TABLE_COUNT; t++) {
        struct rows *rows = &cache->rows[t];

        head->beside[t] = rows->bytes;
        head->beside_sum[t] = rows->sum;
        if (rows->beside != NULL &&
            !out_close_fast(rows->beside, &cache->err))
            return false;
    }
    return true;
}

static bool write_trial(struct cache *cache, const struct trial_result *result)
{
    const char *text[CACHE_TABLE_COUNT];
    size_t count[CACHE_TABLE_COUNT] = { 0 };
    struct head head;

    memset(&head, 0, sizeof head);
    memcpy(head.magic, magic, sizeof magic);
    head.hash = cache->hash;
    head.result = *result;
    if (!close_beside(cache, &head))
        return false;
    for (int t = 0; t < CACHE_TABLE_COUNT; t++) {
        if (cache->rows[t].table != NULL)
            text[t] = table_bytes(cache->rows[t].table, &count[t]);
        head.bytes[t] = count[t];
    }
    struct out *out = out_in(cache->arena, cache->dir, cache->name,
                             &cache->err);
    if (out == NULL)
        return false;
    uint64_t sum = checksum(0, &head, sizeof head);
    out_bytes(out, &head, sizeof head);
    for (int t = 0; t < CACHE_TABLE_COUNT; t++)
        if (count[t] > 0) {
            sum = checksum(sum, text[t], count[t]);
            out_bytes(out, text[t], count[t]);
        }
    out_bytes(out, &sum, sizeof sum);
    return out_close_fast(out, &cache->err);
}

/* Files of an earlier run, which did finish the trial, hold the same. */
static void throw_away(struct cache *cache)
{
    bool earlier = folder_holds(cache->dir, cache->name);
    struct err ignored = { 0 };

    for (int t = 0; t < CACHE_TABLE_COUNT; t++)
        if (cache->rows[t].bytes > 0) {
            out_abandon(cache->rows[t].beside);
            if (!earlier)
                (void)folder_remove(cache->arena, cache->dir,
                                    cache->rows[t].name, &ignored);
        }
}

bool cache_end(struct cache *cache, const struct trial_result *result,
               struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    bool ok = cache->err.kind == ERR_NONE;
    bool kept = ok && result != NULL && write_trial(cache, result);

    if (!kept)
        throw_away(cache);
    if (!ok || (result != NULL && !kept)) {
        ok = false;             /* the path in the error is in the arena */
        err_set(err, cache->err.kind, nowhere, "%.100s: a trial %.100s",
                folder_path(cache->dir), cache->err.text);
    }
    arena_free(cache->arena);
    return ok;
}

/* ---- read again ---- */

/* Reads `count` bytes of a file, hashes them into *sum, and copies them to `out` if there
 * is one.  False: the file is shorter, or cannot be read. */
static bool copy(FILE *file, uint64_t count, uint64_t *sum, struct out *out)
{
    char block[COPY_BYTES];

    while (count > 0) {
        size_t want = count < sizeof block ? (size_t)count : sizeof block;

        if (fread(block, 1, want, file) != want)
            return false;
        *sum = checksum(*sum, block, want);
        if (out != NULL)
            out_bytes(out, block, want);
        count -= want;
    }
    return true;
}

static bool copy_beside(const struct folder *dir, const char *name,
                        uint64_t count, uint64_t sum, struct out *out)
{
    FILE *file = count == 0 ? NULL : folder_read(dir, name);
    uint64_t found = 0;
    bool ok = count == 0 ||
              (file != NULL && copy(file, count, &found, out) &&
               found == sum && fgetc(file) == EOF);

    if (file != NULL)
        fclose(file);
    return ok;
}

static bool read_trial(struct arena *arena, FILE *file,
                       const struct folder *dir, uint64_t hash,
                       struct trial_result *result,
                       struct out *const out[CACHE_TABLE_COUNT])
{
    struct head head;
    uint64_t sum, found;

    if (fread(&head, 1, sizeof head, file) != sizeof head ||
        memcmp(head.magic, magic, sizeof magic) != 0 || head.hash != hash)
        return false;
    found = checksum(0, &head, sizeof head);
    for (int t = 0; t < CACHE_TABLE_COUNT; t++) {
        struct out *to = out == NULL ? NULL : out[t];

        if (!copy_beside(dir, name_of(arena, hash, suffix[t]),
                         head.beside[t], head.beside_sum[t], to) ||
            !copy(file, head.bytes[t], &found, to))
            return false;
    }
    if (fread(&sum, 1, sizeof sum, file) != sizeof sum || sum != found ||
        fgetc(file) != EOF)
        return false;
    *result = head.result;
    return true;
}

bool cache_read(const struct folder *dir, uint64_t hash,
                struct trial_result *result,
                struct out *const out[CACHE_TABLE_COUNT])
{
    struct arena *arena = arena_new(4096);
    FILE *file = folder_read(dir, name_of(arena, hash, "trial"));
    bool ok = file != NULL &&
              read_trial(arena, file, dir, hash, result, out);

    if (file != NULL)
        fclose(file);
    arena_free(arena);
    return ok;
}

/* HASH.WHAT, or, while it is written, HASH.WHAT.tmp or HASH.WHAT.N.tmp; of a trial
 * that a killed process ran, HASH.claim (experiments/probe/claim.h). */
bool cache_formed(const char *name, uint64_t *hash)
{
    size_t digits = strspn(name, "0123456789abcdef");
    const char *rest = name + digits + 1;
    size_t bytes;

    if (digits != 16 || name[digits] != '.')
        return false;
    *hash = strtoull(name, NULL, 16);
    if (strcmp(rest, "claim") == 0)
        return true;
    bytes = strcspn(rest, ".");
    for (int t = 0; t <= CACHE_TABLE_COUNT; t++) {
        const char *what = t == CACHE_TABLE_COUNT ? "trial" : suffix[t];

        if (strlen(what) != bytes || memcmp(rest, what, bytes) != 0)
            continue;
        rest += bytes;
        if (*rest == '\0')
            return true;
        if (*rest == '.' && rest[1] >= '0' && rest[1] <= '9')
            rest += 1 + strspn(rest + 1, "0123456789");
        return strcmp(rest, ".tmp") == 0;
    }
    return false;
}

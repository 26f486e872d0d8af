/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spool.h - records that are written once and read again in order, as often as one likes.
 *
 * A few stay in memory; of many, all but the last go to the arena's temporary file, so that
 * memory does not grow with them.  If the file cannot be written (a full disk, too many open
 * files), the rest stays in memory.
 */
#ifndef SIM_BASE_SPOOL_H
#define SIM_BASE_SPOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct spool;

/* Returns an empty spool in the arena, which also owns its file.  memory_bytes: most bytes
 * that stay in memory. */
struct spool *spool_new(struct arena *arena, size_t memory_bytes);
/* Returns room for a record of at most `bytes` bytes. */
char *spool_reserve(struct spool *spool, size_t bytes);
/* The record takes `bytes` bytes of that room; `most`: as reserved. */
void spool_put(struct spool *spool, size_t bytes, size_t most);
/* Returns the bytes of records in memory. */
size_t spool_memory_bytes(const struct spool *spool);

/* Its fields are spool_take's. */
struct spool_reader {
    const char *at, *end;       /* read and not yet taken */
    const struct spool *spool;  /* stays the caller's */
    size_t part, part_at;       /* read up to there: the number of a part, and bytes of it */
    char *block;                /* NULL: the file is read */
    size_t block_bytes;         /* of block; it holds the longest record */
};

/* Returns a reader at the first record.  Several threads may read at once, each with a
 * reader of its own; no record may be added after the first call. */
struct spool_reader *spool_read(const struct spool *spool, struct arena *arena);
/* Is there another record? */
bool spool_has_more(const struct spool_reader *reader);
/* Reads on until `bytes` bytes are there, all of one record.  False: the disk failed, and
 * errno says how. */
bool spool_refill(struct spool_reader *reader, size_t bytes);

/* Returns the next bytes of a record, good until the next call; NULL: as spool_refill.
 * They stand at a multiple of 8 if the bytes of each put and take are, too. */
static inline const char *spool_take(struct spool_reader *reader, size_t bytes)
{
    const char *taken;

    if ((size_t)(reader->end - reader->at) < bytes && !spool_refill(reader, bytes))
        return NULL;
    taken = reader->at;
    reader->at += bytes;
    return taken;
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * spool.c - records behind each other.
 *
 * Invariant: first come the parts that stand in the arena's file, in order, then what is in
 * memory; no record is cut between two of them.  Spools of one arena share its file, so a
 * spool's bytes in it may lie apart.
 */
#include "sim/base/spool.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/arena.h"

#define BLOCK_BYTES ((size_t)1 << 16)   /* that a reader takes at once */

/* A piece of the arena's file that holds records of this spool. */
struct part {
    uint64_t at;                /* offset of its first byte */
    size_t bytes;
};

struct spool {
    struct arena *arena;        /* of the caller, whose file is shared */
    FILE *file;                 /* the arena's; NULL: not asked for yet */
    bool refused;               /* no file, or no more room in it */
    struct part *part;          /* in the order of the records */
    size_t parts, part_room;
    char *memory;               /* records behind those of the file; NULL: none yet */
    size_t used_bytes, room_bytes, memory_bytes; /* of memory: taken, got so far, and most that
                                                  * it may take */
    size_t longest_bytes;       /* of the records */
};

struct spool *spool_new(struct arena *arena, size_t memory_bytes)
{
    struct spool *spool = arena_alloc(arena, 1, sizeof *spool);

    assert(arena != NULL);
    spool->arena = arena;
    spool->memory_bytes = memory_bytes;
    return spool;
}

size_t spool_memory_bytes(const struct spool *spool)
{
    assert(spool->used_bytes <= spool->room_bytes);
    return spool->used_bytes;
}

/* What the file has got from memory is a part, or the last one's end. */
static void note_part(struct spool *spool, uint64_t at, size_t bytes)
{
    struct part *last = spool->parts > 0 ? &spool->part[spool->parts - 1] : NULL;

    assert(bytes > 0 && (last == NULL || last->at + last->bytes <= at));
    if (last != NULL && last->at + last->bytes == at) {
        last->bytes += bytes;
        return;
    }
    ARENA_ADD(spool->arena, spool->part, spool->parts, spool->part_room,
              (struct part){at, bytes});
}

/* Writes the records in memory to the file; if that fails, they stay in memory.  pwrite() may
 * write less than it was given, or be interrupted by a signal, so it is called until all is
 * there.  Offsets count from the end of what others have in the file. */
static void write_out(struct spool *spool)
{
    struct arena_file *into = arena_file(spool->arena);

    assert(spool->used_bytes > 0 && !spool->refused);
    spool->file = into->file;
    spool->refused = into->file == NULL;
    for (size_t done = 0; !spool->refused && done < spool->used_bytes;) {
        ssize_t put = pwrite(fileno(into->file), spool->memory + done,
                             spool->used_bytes - done, (off_t)(into->used_bytes + done));
        spool->refused = put == 0 || (put < 0 && errno != EINTR);
        done += put > 0 ? (size_t)put : 0;
    }
    if (spool->refused)
        return;
    note_part(spool, into->used_bytes, spool->used_bytes);
    into->used_bytes += spool->used_bytes;
    spool->used_bytes = 0;
}

/* If memory is full, what it has is written out first.  A record that alone is larger than
 * memory_bytes gets its room all the same. */
char *spool_reserve(struct spool *spool, size_t bytes)
{
    if (spool->used_bytes + bytes > spool->memory_bytes && spool->used_bytes > 0 &&
        !spool->refused)
        write_out(spool);
    ARENA_REACH(spool->arena, spool->memory, spool->room_bytes, spool->used_bytes + bytes);
    assert(spool->used_bytes + bytes <= spool->room_bytes);
    return spool->memory + spool->used_bytes;
}

void spool_put(struct spool *spool, size_t bytes, size_t most)
{
    assert(bytes <= most && spool->used_bytes + bytes <= spool->room_bytes);
    spool->used_bytes += bytes;
    if (spool->longest_bytes < most)
        spool->longest_bytes = most;
}

/* The block has BLOCK_BYTES more than the longest record, so that each record can be handed out
 * in one piece.  Where no file was needed the records are read in place. */
struct spool_reader *spool_read(const struct spool *spool, struct arena *arena)
{
    struct spool_reader *reader = arena_alloc(arena, 1, sizeof *reader);

    reader->spool = spool;
    if (spool->parts > 0) {
        reader->block_bytes = BLOCK_BYTES + spool->longest_bytes;
        reader->block = arena_alloc(arena, reader->block_bytes, 1);
        reader->at = reader->end = reader->block;
    } else {
        reader->at = reader->end = spool->memory;
        if (spool->used_bytes > 0)
            reader->end += spool->used_bytes;
    }
    assert(reader->at <= reader->end);
    return reader;
}

bool spool_has_more(const struct spool_reader *reader)
{
    const struct spool *spool = reader->spool;

    assert(reader->at <= reader->end && (reader->block == NULL || spool->parts > 0));
    if (reader->at != reader->end)
        return true;
    return reader->block != NULL &&
           (spool->used_bytes > 0 || reader->part + 1 < spool->parts ||
            reader->part_at < spool->part[reader->part].bytes);
}

/* More of the part behind what is left of the block; with none left, the next
 * part; and after the last, what is in memory. */
static bool refill_block(struct spool_reader *reader)
{
    const struct spool *spool = reader->spool;
    const struct part *part = spool->part + reader->part;
    size_t left = (size_t)(reader->end - reader->at);
    ssize_t got;

    assert(reader->block != NULL);
    if (reader->part_at == part->bytes) {
        assert(left == 0);
        reader->part_at = 0;
        part++;
        reader->part++;
    }
    if (reader->part == spool->parts) {
        reader->at = reader->end = spool->memory;
        reader->end += spool->used_bytes;
        reader->block = NULL;
        return true;
    }
    size_t more = part->bytes - reader->part_at;
    if (more > reader->block_bytes - left)
        more = reader->block_bytes - left;
    memmove(reader->block, reader->at, left);
    do
        got = pread(fileno(spool->file), reader->block + left, more,
                    (off_t)(part->at + reader->part_at));
    while (got < 0 && errno == EINTR);
    if (got == 0)
        errno = EIO;            /* it is shorter than what was written */
    if (got <= 0)
        return false;
    reader->part_at += (size_t)got;
    reader->at = reader->block;
    reader->end = reader->block + left + got;
    return true;
}

bool spool_refill(struct spool_reader *reader, size_t bytes)
{
    while ((size_t)(reader->end - reader->at) < bytes)
        if (!refill_block(reader))
            return false;
    return true;
}

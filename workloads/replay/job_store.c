/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job_store.c - rows behind each other: a head, the name, and, where the row has
 * more than nearly all have, the whole of it.
 *
 * Invariant: first come the parts that stand in the arena's file, in order, then
 * what is in memory; no row is cut between two of them.
 */
#include "workloads/replay/job_store.h"

#include <assert.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"

#define BLOCK_BYTES ((size_t)1 << 16)   /* that a reader takes at once */

/* Times in seconds; a submit time since the row before. */
struct head {
    uint32_t submit_s, duration_s, limit_s, gpus;
    uint32_t name_bytes;        /* with its end; 0: no name */
    bool whole;                 /* the name follows a struct row */
};
#define HEAD_BYTES 21u          /* of a head, without its padding */

/* What nearly all rows share, padding included: where that differs alone, the
 * row is put whole, and nothing is lost. */
#define SAME_FROM offsetof(struct row, deadline_ns)

/* Of the file. */
struct part {
    uint64_t at;
    size_t bytes;
};

struct job_store {
    struct arena *arena;
    FILE *file;                 /* the arena's; NULL: not asked for yet */
    bool refused;               /* no file, or no more room in it */
    struct part *part;
    size_t parts, part_room;
    char *memory;
    size_t used_bytes, room_bytes, memory_bytes;
    size_t longest_bytes;       /* of the rows */
    uint64_t count;
    struct row last;            /* as put last, in what heads do not tell of
                                   a row itself, but since it */
};

struct job_store_reader {
    const struct job_store *job_store;
    size_t part, part_at;       /* read up to there */
    uint64_t left;              /* rows */
    const char *at, *end;       /* read and not yet given */
    struct row last;
    char *block;                /* NULL: the parts are read */
    size_t block_bytes;
};

struct job_store *job_store_new(struct arena *arena, size_t memory_bytes)
{
    struct job_store *job_store = arena_alloc(arena, 1, sizeof *job_store);

    job_store->arena = arena;
    job_store->memory_bytes = memory_bytes;
    return job_store;
}

uint64_t job_store_count(const struct job_store *job_store)
{
    return job_store->count;
}

size_t job_store_memory_bytes(const struct job_store *job_store)
{
    return job_store->used_bytes;
}

/* What the file has got from memory is a part, or the last one's end. */
static void note_part(struct job_store *job_store, uint64_t at, size_t bytes)
{
    struct part *last = job_store->parts > 0 ? &job_store->part[job_store->parts - 1]
                                         : NULL;

    if (last != NULL && last->at + last->bytes == at) {
        last->bytes += bytes;
        return;
    }
    ARENA_ADD(job_store->arena, job_store->part, job_store->parts,
              job_store->part_room, (struct part){at, bytes});
}

/* What is in memory goes to the file; if it cannot, it stays. */
static void write_out(struct job_store *job_store)
{
    struct arena_file *into = arena_file(job_store->arena);

    job_store->file = into->file;
    job_store->refused = into->file == NULL;
    for (size_t done = 0; !job_store->refused && done < job_store->used_bytes;) {
        ssize_t put = pwrite(fileno(into->file), job_store->memory + done,
                             job_store->used_bytes - done,
                             (off_t)(into->used_bytes + done));
        job_store->refused = put == 0 || (put < 0 && errno != EINTR);
        done += put > 0 ? (size_t)put : 0;
    }
    if (job_store->refused)
        return;
    note_part(job_store, into->used_bytes, job_store->used_bytes);
    into->used_bytes += job_store->used_bytes;
    job_store->used_bytes = 0;
}

/* Makes room for a row; if memory is full, what it has is written out first. */
static char *reserve_bytes(struct job_store *job_store, size_t bytes)
{
    if (job_store->used_bytes + bytes > job_store->memory_bytes &&
        job_store->used_bytes > 0 && !job_store->refused)
        write_out(job_store);
    ARENA_REACH(job_store->arena, job_store->memory, job_store->room_bytes,
                job_store->used_bytes + bytes);
    return job_store->memory + job_store->used_bytes;
}

/* Whole seconds that fit. */
static bool read_seconds(int64_t ns, uint32_t *s)
{
    *s = (uint32_t)((uint64_t)ns / (uint64_t)CLOCK_NS_PER_S);
    return ns >= 0 && ns / CLOCK_NS_PER_S <= UINT32_MAX &&
           *s * CLOCK_NS_PER_S == ns;
}

/* Does the row differ from the last in no more than a head can say? */
static bool is_plain(const struct row *row, const struct row *last,
                     struct head *head)
{
    bool fits = read_seconds(row->submit_ns - last->submit_ns, &head->submit_s) &&
                read_seconds(row->duration_ns, &head->duration_s) &&
                read_seconds(row->limit_ns, &head->limit_s) && row->gpus >= 0 &&
                row->gpus <= UINT32_MAX;

    head->gpus = (uint32_t)row->gpus;
    return fits && row->number == last->number + 1 &&
           memcmp((const char *)row + SAME_FROM, (const char *)last + SAME_FROM,
                  sizeof *row - SAME_FROM) == 0;
}

/* Copies bytes; returns where the next go. */
static char *put_bytes(char *out, const void *bytes, size_t count)
{
    memcpy(out, bytes, count);
    return out + count;
}

/* Types are dropped: the row's kind stands for them, and their text ends with
 * the file. */
void job_store_put(struct job_store *job_store, const struct row *row)
{
    size_t name_bytes = row->name == NULL ? 0 : strlen(row->name) + 1;
    size_t most = HEAD_BYTES + sizeof *row + name_bytes;
    char *out = reserve_bytes(job_store, most), *start = out;
    struct head head = {.name_bytes = (uint32_t)name_bytes};

    assert(name_bytes < UINT32_MAX);
    head.whole = job_store->count == 0 || !is_plain(row, &job_store->last, &head);
    out = put_bytes(out, &head, HEAD_BYTES);
    if (head.whole) {
        job_store->last = *row;
        job_store->last.types = NULL;
        out = put_bytes(out, &job_store->last, sizeof job_store->last);
    }
    job_store->last.submit_ns = row->submit_ns;
    job_store->last.number = row->number;
    if (name_bytes > 0)
        out = put_bytes(out, row->name, name_bytes);
    job_store->used_bytes += (size_t)(out - start);
    if (job_store->longest_bytes < most)
        job_store->longest_bytes = most;
    job_store->count++;
}

/* ---- reading ---- */

struct job_store_reader *job_store_read(const struct job_store *job_store,
                                        struct arena *arena)
{
    struct job_store_reader *reader = arena_alloc(arena, 1, sizeof *reader);

    reader->job_store = job_store;
    reader->left = job_store->count;
    if (job_store->parts > 0) {
        reader->block_bytes = BLOCK_BYTES + job_store->longest_bytes;
        reader->block = arena_alloc(arena, reader->block_bytes, 1);
        reader->at = reader->end = reader->block;
    } else {
        reader->at = reader->end = job_store->memory;
        if (job_store->used_bytes > 0)
            reader->end += job_store->used_bytes;
    }
    return reader;
}

/* More of the part behind what is left of the block; with none left, the next
 * part; and after the last, what is in memory. */
static bool refill_block(struct job_store_reader *reader)
{
    const struct job_store *job_store = reader->job_store;
    const struct part *part = job_store->part + reader->part;
    size_t left = (size_t)(reader->end - reader->at);
    ssize_t got;

    assert(reader->block != NULL);
    if (reader->part_at == part->bytes) {
        assert(left == 0);
        reader->part_at = 0;
        part++;
        reader->part++;
    }
    if (reader->part == job_store->parts) {
        reader->at = reader->end = job_store->memory;
        reader->end += job_store->used_bytes;
        reader->block = NULL;
        return true;
    }
    size_t more = part->bytes - reader->part_at;
    if (more > reader->block_bytes - left)
        more = reader->block_bytes - left;
    memmove(reader->block, reader->at, left);
    do
        got = pread(fileno(job_store->file), reader->block + left, more,
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

/* So many bytes, or NULL: the disk fails. */
static const char *take_bytes(struct job_store_reader *reader, size_t bytes)
{
    const char *taken;

    while ((size_t)(reader->end - reader->at) < bytes)
        if (!refill_block(reader))
            return NULL;
    taken = reader->at;
    reader->at += bytes;
    return taken;
}

/* The row is the last one again, but for what a head says. */
static void unpack_head(const struct head *head, struct row *row)
{
    row->submit_ns = clock_after(head->submit_s * CLOCK_NS_PER_S,
                                 row->submit_ns);
    row->duration_ns = head->duration_s * CLOCK_NS_PER_S;
    row->limit_ns = head->limit_s * CLOCK_NS_PER_S;
    row->gpus = head->gpus;
    row->number++;
}

/* The name stays in the block, or in memory, until the next call. */
enum job_store_step job_store_next(struct job_store_reader *reader,
                                   const struct row **row)
{
    struct head head;
    const char *from;

    if (reader->left == 0)
        return JOB_STORE_END;
    if ((from = take_bytes(reader, HEAD_BYTES)) == NULL)
        return JOB_STORE_ERROR;
    memcpy(&head, from, HEAD_BYTES);
    if (!head.whole) {
        unpack_head(&head, &reader->last);
    } else {
        if ((from = take_bytes(reader, sizeof **row)) == NULL)
            return JOB_STORE_ERROR;
        memcpy(&reader->last, from, sizeof **row);
    }
    reader->last.name = NULL;
    if (head.name_bytes > 0 &&
        (reader->last.name = take_bytes(reader, head.name_bytes)) == NULL)
        return JOB_STORE_ERROR;
    reader->left--;
    *row = &reader->last;
    return JOB_STORE_ROW;
}

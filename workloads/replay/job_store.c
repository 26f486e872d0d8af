/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * job_store.c - rows in a spool: a head, the name, and, where the row has more than
 * nearly all have, the whole of it.
 */
#include "workloads/replay/job_store.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/spool.h"

/* What a row differs in from the row before, as nearly all do: whole seconds, a
 * number of GPUs and a name.  The submission is the time since the row before.
 * Example: 60 s after the last, 3600 s long, without a limit, on 8 GPUs, called
 * "17": 21 bytes and 3 of the name, where a struct row has hundreds. */
struct head {
    uint32_t submit_s, duration_s, limit_s, gpus;   /* submit_s: after the row before */
    uint32_t name_bytes;        /* with its end; 0: no name */
    bool whole;                 /* the name follows a struct row */
};
#define HEAD_BYTES 21u          /* of a head, without its padding */

/* The members of struct row from here on are equal in nearly all rows of a
 * trace.  They are compared as bytes, padding included.  A row that differs
 * only in padding is put whole, so nothing is lost. */
#define SAME_FROM offsetof(struct row, deadline_ns)

struct job_store {
    struct spool *spool;        /* the rows, packed; in memory or a file */
    uint64_t count;
    struct row last;            /* the last whole row, with the submission and
                                   number of the row that was put last */
};

/* One walk through the store. */
struct job_store_reader {
    struct spool_reader *from;  /* its place in the spool */
    uint64_t left;              /* rows */
    struct row last;            /* the row that was read last: heads say what differs from it */
};

struct job_store *job_store_new(struct arena *arena, size_t memory_bytes)
{
    struct job_store *job_store = arena_alloc(arena, 1, sizeof *job_store);

    job_store->spool = spool_new(arena, memory_bytes);
    return job_store;
}

uint64_t job_store_count(const struct job_store *job_store)
{
    return job_store->count;
}

size_t job_store_memory_bytes(const struct job_store *job_store)
{
    return spool_memory_bytes(job_store->spool);
}

/* Converts to whole seconds.  False: the time has a fraction, or does not fit
 * in 32 bits. */
static bool read_seconds(int64_t ns, uint32_t *s)
{
    *s = (uint32_t)((uint64_t)ns / (uint64_t)CLOCK_NS_PER_S);
    return ns >= 0 && ns / CLOCK_NS_PER_S <= UINT32_MAX &&
           *s * CLOCK_NS_PER_S == ns;
}

/* Can a head alone say how the row differs from the last?  If so, *head is
 * filled. */
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

/* Types are not stored: the row's kind stands for them, and their text ends
 * with the file.  The first row is always put whole. */
void job_store_put(struct job_store *job_store, const struct row *row)
{
    size_t name_bytes = row->name == NULL ? 0 : strlen(row->name) + 1;
    size_t most = HEAD_BYTES + sizeof *row + name_bytes;
    char *out = spool_reserve(job_store->spool, most), *start = out;
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
    spool_put(job_store->spool, (size_t)(out - start), most);
    job_store->count++;
}

/* ---- reading ---- */

struct job_store_reader *job_store_read(const struct job_store *job_store,
                                        struct arena *arena)
{
    struct job_store_reader *reader = arena_alloc(arena, 1, sizeof *reader);

    reader->from = spool_read(job_store->spool, arena);
    reader->left = job_store->count;
    return reader;
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

/* The name stays in the spool's block, or in memory, until the next call. */
enum job_store_step job_store_next(struct job_store_reader *reader,
                                   const struct row **row)
{
    struct head head;
    const char *from;

    if (reader->left == 0)
        return JOB_STORE_END;
    if ((from = spool_take(reader->from, HEAD_BYTES)) == NULL)
        return JOB_STORE_ERROR;
    memcpy(&head, from, HEAD_BYTES);
    if (!head.whole) {
        unpack_head(&head, &reader->last);
    } else {
        if ((from = spool_take(reader->from, sizeof **row)) == NULL)
            return JOB_STORE_ERROR;
        memcpy(&reader->last, from, sizeof **row);
    }
    reader->last.name = NULL;
    if (head.name_bytes > 0 &&
        (reader->last.name = spool_take(reader->from, head.name_bytes)) == NULL)
        return JOB_STORE_ERROR;
    reader->left--;
    *row = &reader->last;
    return JOB_STORE_ROW;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log.c - records: a head, what it speaks of, and blanks up to a multiple of 8 bytes.
 *
 * A record that is not whole is passed over to the next place where one begins.  The
 * record of a result says where its trial begins and how many records of rows it has, so
 * that a trial of which one is damaged is not taken for whole.  Files are read by the
 * program that wrote them only: numbers stand as they do in memory.
 */
#include "experiments/trials/log.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <xxhash.h>

#include "experiments/run/trial.h"
#include "sim/base/arena.h"
#include "sim/text/out.h"

#define STEP 8u                 /* records begin at multiples of it */
#define RESULT STORE_TABLE_COUNT

static const char magic[8] = "cs-log5";

struct head {
    char magic[8];
    uint64_t hash;              /* of the trial */
    uint64_t what;              /* enum store_table, or RESULT */
    uint64_t bytes;             /* behind the head, blanks not counted */
    uint64_t sum;               /* XXH64 of those, begun with the fields above */
};

/* What a record of a result holds before its rows. */
struct tail {
    struct trial_result result;
    uint64_t first;             /* where the trial begins */
    uint64_t rows;              /* its records of rows */
    uint64_t bytes[STORE_TABLE_COUNT];  /* of each table in this record */
};

static uint64_t sum_of(const struct head *head, const char *bytes)
{
    return XXH64(bytes, head->bytes, XXH64(head, offsetof(struct head, sum), 0));
}

static uint64_t padded(uint64_t bytes)
{
    return (bytes + STEP - 1) / STEP * STEP;
}

static char *reserve(struct log_buffer *buffer, size_t bytes)
{
    if (bytes > buffer->room) {
        buffer->room = bytes + bytes / 2;
        buffer->bytes = arena_resize_own(buffer->bytes, buffer->room, 1);
    }
    return buffer->bytes;
}

/* ---- writing ---- */

/* Writes what the buffer has behind room for a head. */
static int put(struct log *log, uint64_t hash, uint64_t what, size_t bytes)
{
    struct head head = { .hash = hash, .what = what, .bytes = bytes };
    char *from = log->buffer.bytes;
    size_t count = sizeof head + padded(bytes), done = 0;

    memcpy(head.magic, magic, sizeof magic);
    head.sum = sum_of(&head, from + sizeof head);
    memcpy(from, &head, sizeof head);
    memset(from + sizeof head + bytes, 0, padded(bytes) - bytes);
    while (done < count) {
        ssize_t got = pwrite(log->fd, from + done, count - done, (off_t)log->at);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0 ? EIO : errno;
        done += (size_t)got;
        log->at += (uint64_t)got;
    }
    return 0;
}

int log_rows(struct log *log, uint64_t hash, enum store_table table, const char *bytes,
             size_t count)
{
    char *to = reserve(&log->buffer, sizeof(struct head) + padded(count));

    assert(table < STORE_TABLE_COUNT && log->at >= *log->end);
    memcpy(to + sizeof(struct head), bytes, count);
    log->rows++;
    return put(log, hash, table, count);
}

int log_result(struct log *log, uint64_t hash, const struct trial_result *result,
               const char *const text[STORE_TABLE_COUNT],
               const size_t count[STORE_TABLE_COUNT])
{
    struct tail tail;
    size_t bytes = sizeof tail;
    char *to;
    int why;

    memset(&tail, 0, sizeof tail);
    tail.result = *result;
    tail.first = *log->end;
    tail.rows = log->rows;
    for (unsigned t = 0; t < STORE_TABLE_COUNT; t++) {
        tail.bytes[t] = count[t];
        bytes += count[t];
    }
    to = reserve(&log->buffer, sizeof(struct head) + padded(bytes)) + sizeof(struct head);
    memcpy(to, &tail, sizeof tail);
    to += sizeof tail;
    for (unsigned t = 0; t < STORE_TABLE_COUNT; t++) {
        if (count[t] > 0)
            memcpy(to, text[t], count[t]);
        to += count[t];
    }
    why = put(log, hash, RESULT, bytes);
    if (why == 0)
        *log->end = log->at;
    return why;
}

void log_begin(struct log *log)
{
    log->at = *log->end;
    log->rows = 0;
}

void log_forget(struct log *log)
{
    /* That it cannot be cut does no harm: it is written over, or not whole. */
    if (log->at > *log->end && ftruncate(log->fd, (off_t)*log->end) != 0)
        errno = 0;
    log_begin(log);
}

/* ---- reading ---- */

static bool read_at(int fd, uint64_t place, void *to, size_t count)
{
    size_t done = 0;

    while (done < count) {
        ssize_t got = pread(fd, (char *)to + done, count - done, (off_t)(place + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* The record at that place, with what it holds in the buffer.  False: none is whole
 * there. */
static bool get(int fd, uint64_t place, uint64_t file_bytes, struct head *head,
                struct log_buffer *buffer)
{
    return place + sizeof *head <= file_bytes && read_at(fd, place, head, sizeof *head) &&
           memcmp(head->magic, magic, sizeof magic) == 0 && head->what <= RESULT &&
           head->bytes <= file_bytes - place - sizeof *head &&
           read_at(fd, place + sizeof *head, reserve(buffer, head->bytes), head->bytes) &&
           sum_of(head, buffer->bytes) == head->sum;
}

static uint64_t bytes_of_file(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

static bool get_tail(const struct head *head, const struct log_buffer *buffer,
                     struct tail *tail)
{
    uint64_t bytes = sizeof *tail;

    if (head->what != RESULT || head->bytes < sizeof *tail)
        return false;
    memcpy(tail, buffer->bytes, sizeof *tail);
    for (unsigned t = 0; t < STORE_TABLE_COUNT; t++)
        bytes += tail->bytes[t];
    return bytes == head->bytes;
}

/* The records of rows before the result. */
static bool read_rows(int fd, const struct tail *tail, uint64_t place, uint64_t hash,
                      struct log_buffer *buffer, struct out *const out[STORE_TABLE_COUNT])
{
    uint64_t at = tail->first, rows = 0;
    struct head head;

    for (; at < place; at += sizeof head + padded(head.bytes), rows++) {
        if (!get(fd, at, place, &head, buffer) || head.what == RESULT || head.hash != hash)
            return false;
        if (out != NULL && out[head.what] != NULL)
            out_bytes(out[head.what], buffer->bytes, head.bytes);
    }
    return at == place && rows == tail->rows;
}

uint64_t log_scan(int fd, uint64_t from, struct log_buffer *buffer, log_found_fn *found,
                  void *self)
{
    uint64_t end = bytes_of_file(fd), at = from, place;
    struct head head;
    struct tail tail;

    while (at + sizeof head <= end) {
        if (!get(fd, at, end, &head, buffer)) {
            at += STEP;
            continue;
        }
        place = at;
        at += sizeof head + padded(head.bytes);
        if (!get_tail(&head, buffer, &tail))
            continue;
        if (read_rows(fd, &tail, place, head.hash, buffer, NULL))
            found(self, head.hash, place);
        from = at;
    }
    return from;
}

bool log_read(int fd, uint64_t place, uint64_t hash, struct log_buffer *buffer,
              struct trial_result *result, struct out *const out[STORE_TABLE_COUNT])
{
    uint64_t end = bytes_of_file(fd);
    struct head head;
    struct tail tail;
    const char *rows;

    if (!get(fd, place, end, &head, buffer) || head.hash != hash ||
        !get_tail(&head, buffer, &tail))
        return false;
    *result = tail.result;
    if (!read_rows(fd, &tail, place, hash, buffer, out) ||
        (tail.rows > 0 && !get(fd, place, end, &head, buffer)))
        return false;
    rows = buffer->bytes + sizeof tail;
    for (unsigned t = 0; t < STORE_TABLE_COUNT; t++) {
        if (out != NULL && out[t] != NULL)
            out_bytes(out[t], rows, tail.bytes[t]);
        rows += tail.bytes[t];
    }
    return true;
}

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
#define PIECE_BYTES ((size_t)16384)     /* a dozen trials without tables */

static const char magic[8] = "cs-log5";

struct head {
    char magic[8];              /* tells a record from what a process that was killed left */
    uint64_t hash;              /* of the trial */
    uint64_t what;              /* enum store_table, or RESULT */
    uint64_t bytes;             /* behind the head, blanks not counted */
    uint64_t sum;               /* XXH64 of those, begun with the fields above */
};

/* What a record of a result holds before its rows. */
struct tail {
    struct trial_result result; /* as the program that wrote it lays it out */
    uint64_t first;             /* where the trial begins */
    uint64_t rows;              /* its records of rows */
    uint64_t bytes[STORE_TABLE_COUNT];  /* of each table in this record */
};

/* Returns the sum of a record.  It begins with the head's own fields, so that a
 * head whose numbers were damaged does not go with its bytes either. */
static uint64_t sum_of(const struct head *head, const char *bytes)
{
    return XXH64(bytes, head->bytes, XXH64(head, offsetof(struct head, sum), 0));
}

/* Rounds up to where the next record may begin. */
static uint64_t padded(uint64_t bytes)
{
    return (bytes + STEP - 1) / STEP * STEP;
}

/* Returns storage of at least that many bytes.  What it held may move, and pointers
 * into it are lost.  It grows by half more than is asked, so that many small calls
 * cost little. */
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

/* The record that ends a trial: its figures, where its first row stands, and tables
 * that were not put row by row.  *log->end moves only when all of it is written, so a
 * process that dies before leaves rows that the next one overwrites.  Returns 0, or the
 * errno of what failed. */
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

/* Returns how many bytes were read: fewer where the file ends, or on a fault. */
static size_t read_file(int fd, uint64_t place, char *to, size_t count)
{
    size_t done = 0;

    while (done < count) {
        ssize_t got = pread(fd, to + done, count - done, (off_t)(place + done));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}

/* Are these bytes of the file in memory, all of them? */
static bool has_piece(const struct log_reader *reader, uint64_t place, size_t count)
{
    return place >= reader->piece_at &&
           place + count <= reader->piece_at + reader->piece_bytes;
}

/* Copies bytes of the file before `end` by way of a piece, which they or another piece
 * then hold. */
static bool read_at(struct log_reader *reader, uint64_t place, uint64_t end, void *to,
                    size_t count)
{
    if (count > PIECE_BYTES)
        return read_file(reader->fd, place, to, count) == count;
    if (!has_piece(reader, place, count)) {
        size_t most = end - place < PIECE_BYTES ? (size_t)(end - place) : PIECE_BYTES;

        reader->piece_at = place;
        reader->piece_bytes = read_file(reader->fd, place, reserve(&reader->piece, most), most);
    }
    if (!has_piece(reader, place, count))
        return false;
    memcpy(to, reader->piece.bytes + (place - reader->piece_at), count);
    return true;
}

/* The record at that place, with what it holds in reader->record.  False: none is whole
 * there. */
static bool get(struct log_reader *reader, uint64_t place, uint64_t end, struct head *head)
{
    return place + sizeof *head <= end && read_at(reader, place, end, head, sizeof *head) &&
           memcmp(head->magic, magic, sizeof magic) == 0 && head->what <= RESULT &&
           head->bytes <= end - place - sizeof *head &&
           read_at(reader, place + sizeof *head, end, reserve(&reader->record, head->bytes),
                   head->bytes) &&
           sum_of(head, reader->record.bytes) == head->sum;
}

/* Returns the length of a file; 0 where it cannot be asked, as of one that is
 * empty. */
static uint64_t bytes_of_file(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_size > 0 ? (uint64_t)st.st_size : 0;
}

/* Takes the tail out of a record that was read.  False: it is no result, or the
 * lengths inside it do not add up to its own; it then counts as damaged. */
static bool get_tail(const struct head *head, const struct log_reader *reader,
                     struct tail *tail)
{
    uint64_t bytes = sizeof *tail;

    if (head->what != RESULT || head->bytes < sizeof *tail)
        return false;
    memcpy(tail, reader->record.bytes, sizeof *tail);
    for (unsigned t = 0; t < STORE_TABLE_COUNT; t++)
        bytes += tail->bytes[t];
    return bytes == head->bytes;
}

/* Reads the records of rows that a trial wrote before its result, and writes them out.  False:
 * one of them is not there, or is damaged. */
static bool read_rows(struct log_reader *reader, const struct tail *tail, uint64_t place,
                      uint64_t hash, struct out *const out[STORE_TABLE_COUNT])
{
    uint64_t at = tail->first, rows = 0;
    struct head head;

    for (; at < place; at += sizeof head + padded(head.bytes), rows++) {
        if (!get(reader, at, place, &head) || head.what == RESULT || head.hash != hash)
            return false;
        if (out != NULL && out[head.what] != NULL)
            out_bytes(out[head.what], reader->record.bytes, head.bytes);
    }
    return at == place && rows == tail->rows;
}

/* Finds results from where the last scan stopped.  A place that holds no record is
 * passed over in STEPs: another process may have died while it wrote there.  A result
 * counts only if all of its rows can be read. */
void log_scan(struct log_reader *reader, log_found_fn *found, void *self)
{
    uint64_t end = bytes_of_file(reader->fd), at = reader->seen, place;
    struct head head;
    struct tail tail;

    while (at + sizeof head <= end) {
        if (!get(reader, at, end, &head)) {
            at += STEP;
            continue;
        }
        place = at;
        at += sizeof head + padded(head.bytes);
        if (!get_tail(&head, reader, &tail))
            continue;
        if (read_rows(reader, &tail, place, head.hash, NULL))
            found(self, head.hash, place);
        reader->seen = at;
    }
    reader->piece_bytes = 0;    /* it may go beyond */
}

/* Reads the trial that log_scan() found at `place`; false: the file has changed since.
 * Tables whose `out` is NULL are checked and not copied. */
bool log_read(struct log_reader *reader, uint64_t place, uint64_t hash,
              struct trial_result *result, struct out *const out[STORE_TABLE_COUNT])
{
    struct head head;
    struct tail tail;
    const char *rows;

    if (!get(reader, place, reader->seen, &head) || head.hash != hash ||
        !get_tail(&head, reader, &tail))
        return false;
    *result = tail.result;
    if (!read_rows(reader, &tail, place, hash, out) ||
        (tail.rows > 0 && !get(reader, place, reader->seen, &head)))
        return false;
    rows = reader->record.bytes + sizeof tail;
    for (unsigned t = 0; t < STORE_TABLE_COUNT; t++) {
        if (out != NULL && out[t] != NULL)
            out_bytes(out[t], rows, tail.bytes[t]);
        rows += tail.bytes[t];
    }
    return true;
}

void log_reader_close(struct log_reader *reader)
{
    if (reader->fd >= 0)
        (void)close(reader->fd);
    free(reader->record.bytes);
    free(reader->piece.bytes);
    *reader = (struct log_reader){ .fd = -1, .seen = reader->seen };
}

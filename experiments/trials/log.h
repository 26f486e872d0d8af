/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log.h - one file of finished trials, to which is only appended.  Private to
 * experiments/trials.
 *
 * A trial is some records of rows, where its tables are long, and one record with its
 * result and the rows that are left.  Each record has a checksum.  Only the last record
 * makes the trial: whatever a killed process left behind it is as good as absent.
 */
#ifndef EXPERIMENTS_TRIALS_LOG_H
#define EXPERIMENTS_TRIALS_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "experiments/trials/store.h"

/* Bytes on their way to a file or from it; the storage is used again. */
struct log_buffer {
    char *bytes;                /* the owner returns it with free() */
    size_t room;
};

/* Where the next trial goes, in a file that one thread at a time writes. */
struct log {
    int fd;                     /* of the file, which is written at `at` */
    uint64_t *end;              /* of the last whole trial; the owner's */
    uint64_t at;                /* where the next record goes */
    uint64_t rows;              /* its records of rows so far */
    struct log_buffer buffer;   /* of the record that is written now */
};

/* Both return 0, or errno: then nothing of this trial counts. */
int log_rows(struct log *log, uint64_t hash, enum store_table table, const char *bytes,
             size_t count);
int log_result(struct log *log, uint64_t hash, const struct trial_result *result,
               const char *const text[STORE_TABLE_COUNT],
               const size_t count[STORE_TABLE_COUNT]);
/* Begins the next trial.  Forgets the one that was begun. */
void log_begin(struct log *log);
void log_forget(struct log *log);

/*
 * A log that is read.  Trials are mostly asked for in the order in which they stand, so it
 * is read by pieces that hold several of them.
 *
 * Invariant: a piece that is kept ends before `seen`, where no byte changes any more.
 */
struct log_reader {
    int fd;                     /* the owner's; -1: it is not open */
    uint64_t seen;              /* so far its trials are known */
    struct log_buffer record;   /* the record read last */
    struct log_buffer piece;    /* a part of the file, read at once */
    uint64_t piece_at, piece_bytes;     /* of the file */
};

/* Calls `found` for each whole trial from `seen` on, with the place of its result, and sets
 * `seen` to where to go on when the file has grown.  What is damaged is passed over. */
typedef void log_found_fn(void *self, uint64_t hash, uint64_t place);
void log_scan(struct log_reader *reader, log_found_fn *found, void *self);

/* Reads the trial whose result stands there, before `seen`: rows, in order, go to those of
 * `out` that are not NULL; `out` may be NULL.  False: it is not there, or damaged. */
bool log_read(struct log_reader *reader, uint64_t place, uint64_t hash,
              struct trial_result *result, struct out *const out[STORE_TABLE_COUNT]);
/* Closes the file and frees what was read of it; `seen` stays. */
void log_reader_close(struct log_reader *reader);

#endif

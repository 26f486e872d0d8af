/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * store.c - trials that are written to the logs of a folder, and an index of those in
 * them.
 *
 * Invariant: a log that a thread of this process writes is read only as far as the thread
 * did not index it itself.  The ends of logs lie in memory that is
 * shared with processes that are forked: a trial that runs in one of its own appends to
 * the log of the thread that waits for it.
 */
#define _DEFAULT_SOURCE         /* MAP_ANONYMOUS */
#include "experiments/trials/store.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "experiments/run/trial.h"
#include "experiments/trials/log.h"
#include "experiments/trials/log_files.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/folder.h"
#include "sim/text/table.h"

#define THREADS_MAX 1024u

struct place {
    uint64_t hash, at;          /* of the record of its result */
    uint32_t file, used;
};

struct store_trial {
    struct store *store;
    struct writer *writer;      /* whose it is */
    uint64_t hash;
    struct table *table[STORE_TABLE_COUNT];     /* NULL: not wanted */
    volatile int *stop;         /* set to 1 where rows cannot be written */
    int why;                    /* errno of the first rows not written */
    struct rows {
        struct store_trial *trial;
        enum store_table table; /* whose rows these are */
    } rows[STORE_TABLE_COUNT];
};

/* A thread that runs trials. */
struct writer {
    struct log log;             /* of this thread alone */
    uint32_t file;
    uint64_t seen;              /* so far it is in `made`, or in the index */
    struct place *made;         /* trials, for the index */
    uint32_t made_count, made_room;
    struct store_trial trial;   /* the one that it runs now */
};

struct store {
    const struct folder *dir;   /* DIR/.trials */
    struct writer *writer;      /* [writer_count] */
    uint32_t writer_count, writer_room;
    uint64_t *end;              /* of their logs: THREADS_MAX, shared with forks */
    pthread_mutex_t lock;       /* of what follows */
    struct log_files files;     /* logs that other processes and earlier runs wrote */
    struct place *slot;         /* open addressing; room is a power of two */
    uint32_t place_count, room;
};

/* ---- the index ---- */

/* Returns the slot of a trial, or the free one where it goes.  The index is at most
 * half full, so there is always a free one and the search ends. */
static struct place *find(const struct store *store, uint64_t hash)
{
    uint32_t at = (uint32_t)(hash >> 32 ^ hash) & (store->room - 1);

    while (store->slot[at].used != 0 && store->slot[at].hash != hash)
        at = (at + 1) & (store->room - 1);
    return &store->slot[at];
}

/* Makes the index twice as large, and moves each trial to its new slot. */
static void grow_index(struct store *store)
{
    struct place *old = store->slot;
    uint32_t room = store->room;

    store->room = room == 0 ? 1024 : 2 * room;
    store->slot = arena_resize_own(NULL, store->room, sizeof *store->slot);
    memset(store->slot, 0, store->room * sizeof *store->slot);
    for (uint32_t i = 0; i < room; i++)
        if (old[i].used != 0)
            *find(store, old[i].hash) = old[i];
    free(old);
}

/* Adds a trial to the index.  Of one that stands in two logs (two programs ran it
 * at the same time) the first found is kept: their results are the same. */
static void add_place(struct store *store, struct place place)
{
    struct place *slot;

    if (2 * (store->place_count + 1) > store->room)
        grow_index(store);
    slot = find(store, place.hash);
    if (slot->used != 0)
        return;                 /* the same trial, from another log */
    *slot = place;
    slot->used = 1;
    store->place_count++;
}

/* ---- looking ---- */

struct looking {
    struct store *store;
    uint32_t file;
};

/* Is called by log_scan() for each whole trial of a log. */
static void found(void *self, uint64_t hash, uint64_t at)
{
    const struct looking *looking = self;

    add_place(looking->store, (struct place){ hash, at, looking->file, 1 });
}

/* Reads on in one log, from where it was left. */
static void look_at(struct store *store, uint32_t index)
{
    struct looking looking = { store, index };
    struct log_reader *reader = log_files_reach(&store->files, index);

    if (reader != NULL)
        log_scan(reader, found, &looking);
}

/* Reads on in all logs but our own, whose trials are added by the threads that
 * write them (the invariant at the head of this file). */
static void look_at_others(struct store *store)
{
    log_files_find(&store->files);
    for (uint32_t i = 0; i < store->files.file_count; i++)
        if (!store->files.file[i].own)
            look_at(store, i);
}

void store_look(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    look_at_others(store);
    pthread_mutex_unlock(&store->lock);
}

/* What a thread indexed itself need not be read; what processes wrote that it waited for
 * is behind that. */
static void settle(struct store *store, struct writer *writer)
{
    struct log_reader *reader = &store->files.file[writer->file].reader;

    for (uint32_t i = 0; i < writer->made_count; i++)
        add_place(store, writer->made[i]);
    writer->made_count = 0;
    if (reader->seen < writer->seen)
        reader->seen = writer->seen;
    if (reader->seen < *writer->log.end)
        look_at(store, writer->file);
    writer->seen = reader->seen;
}

void store_settle(struct store *store)
{
    pthread_mutex_lock(&store->lock);
    look_at_others(store);
    for (uint32_t w = 0; w < store->writer_count; w++)
        settle(store, &store->writer[w]);
    pthread_mutex_unlock(&store->lock);
}

bool store_read(struct store *store, uint64_t hash, struct trial_result *result,
                struct out *const out[STORE_TABLE_COUNT])
{
    const struct place *place;
    struct log_reader *reader;
    bool ok = false;

    pthread_mutex_lock(&store->lock);
    place = store->room == 0 ? NULL : find(store, hash);
    if (place != NULL && place->used != 0) {
        reader = log_files_reach(&store->files, place->file);
        ok = reader != NULL && log_read(reader, place->at, hash, result, out);
    }
    pthread_mutex_unlock(&store->lock);
    return ok;
}

/* ---- trials that run ---- */

/* A file of this process that is not open any more was closed by a policy, which fails its
 * trial alone: each has a process of its own. */
static bool failed(const struct store *store, int why, struct err *err)
{
    struct err_pos nowhere = { NULL, 0, 0 };

    if (why == EBADF)
        return err_set(err, ERR_POLICY, nowhere, "the policy closed files that it did not open, "
                       "the log of its trial among them");
    return err_set(err, ERR_IO, nowhere, "%.100s: a log of trials cannot be written: %s",
                   folder_path(store->dir), strerror(why));
}

/* Makes the log of one more thread. */
static bool open_writer(struct store *store, uint32_t index, struct err *err)
{
    struct writer writer = { .log = { .fd = -1, .end = &store->end[index] } };
    char name[32];

    writer.log.fd = log_files_make(store->dir, name);
    if (writer.log.fd < 0)
        return failed(store, errno, err);
    pthread_mutex_lock(&store->lock);
    writer.file = log_files_add_own(&store->files, name);
    pthread_mutex_unlock(&store->lock);
    ARENA_ADD(NULL, store->writer, store->writer_count, store->writer_room, writer);
    return true;
}

bool store_threads(struct store *store, uint32_t count, struct err *err)
{
    assert(count <= THREADS_MAX);
    while (store->writer_count < count)
        if (!open_writer(store, store->writer_count, err))
            return false;
    return true;
}

/* Writes rows of a trial as they come, so that a long trial needs no memory for
 * them.  The first error is kept for the end of the trial, and the trial is told to
 * stop. */
static void take_rows(void *self, const char *bytes, size_t count)
{
    struct rows *rows = self;
    struct store_trial *trial = rows->trial;
    struct writer *writer = trial->writer;

    if (trial->why == 0)
        trial->why = log_rows(&writer->log, trial->hash, rows->table, bytes, count);
    if (trial->why != 0 && trial->stop != NULL)
        __atomic_store_n(trial->stop, 1, __ATOMIC_RELAXED);
}

struct store_trial *store_begin(struct store *store, uint32_t thread, uint64_t hash,
                                const struct trial_tables *tables, volatile int *stop)
{
    struct store_trial *trial;

    assert(thread < store->writer_count && "store_threads() was called");
    trial = &store->writer[thread].trial;
    *trial = (struct store_trial){
        .store = store, .writer = &store->writer[thread], .hash = hash, .stop = stop,
        .table = { tables->jobs, tables->phases, tables->timeline, tables->decisions,
                   tables->services, tables->arrived, tables->tenants }
    };
    log_begin(&store->writer[thread].log);
    for (unsigned t = 0; t < STORE_TABLE_COUNT; t++) {
        trial->rows[t] = (struct rows){ trial, (enum store_table)t };
        if (trial->table[t] != NULL)
            table_sink(trial->table[t], take_rows, &trial->rows[t]);
    }
    return trial;
}

/* Writes the result with the rows that are left, which makes the trial whole.
 * Returns errno.  It is noted for the index only where nothing else was appended
 * since the last note: else the part between is read from the file (look_at), where
 * forks wrote it. */
static int write_result(struct writer *writer, const struct trial_result *result)
{
    struct store_trial *trial = &writer->trial;
    const char *text[STORE_TABLE_COUNT] = { NULL };
    size_t count[STORE_TABLE_COUNT] = { 0 };
    uint64_t before = *writer->log.end, place;
    int why;

    for (unsigned t = 0; t < STORE_TABLE_COUNT; t++)
        if (trial->table[t] != NULL)
            text[t] = table_bytes(trial->table[t], &count[t]);
    place = writer->log.at;
    why = log_result(&writer->log, trial->hash, result, text, count);
    if (why != 0 || writer->seen != before)
        return why;
    writer->seen = *writer->log.end;
    ARENA_ADD(NULL, writer->made, writer->made_count, writer->made_room,
              (struct place){ trial->hash, place, writer->file, 1 });
    return 0;
}

bool store_end(struct store_trial *trial, const struct trial_result *result,
               struct err *err)
{
    struct writer *writer = trial->writer;

    if (trial->why == 0 && result != NULL)
        trial->why = write_result(writer, result);
    if (trial->why != 0 || result == NULL)
        log_forget(&writer->log);
    return trial->why == 0 || failed(trial->store, trial->why, err);
}

bool store_take(struct store *store, const struct folder *from, struct err *err)
{
    return log_files_take(store->dir, from) || failed(store, errno, err);
}

/* ---- the end ---- */

static int order_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static bool is_among(const uint64_t *all, uint32_t count, uint64_t hash)
{
    return count > 0 && bsearch(&hash, all, count, sizeof hash, order_hashes) != NULL;
}

/* HASH.claim of a trial that a killed process ran (experiments/probe/claim.h). */
struct claims {
    const uint64_t *hash;       /* [count] */
    uint32_t count;
};

/* Is this the claim of a trial that is in the list? */
static bool is_claim(const void *self, const char *name)
{
    const struct claims *claims = self;

    return strspn(name, "0123456789abcdef") == 16 && strcmp(name + 16, ".claim") == 0 &&
           is_among(claims->hash, claims->count, strtoull(name, NULL, 16));
}

void store_drop(struct store *store, const uint64_t *hash, uint32_t count)
{
    const struct claims claims = { hash, count };
    bool *keep;

    store_settle(store);
    pthread_mutex_lock(&store->lock);
    keep = arena_resize_own(NULL, store->files.file_count + 1, sizeof *keep);
    memset(keep, 0, (store->files.file_count + 1) * sizeof *keep);
    for (uint32_t i = 0; i < store->room; i++)
        if (store->slot[i].used != 0 && !is_among(hash, count, store->slot[i].hash))
            keep[store->slot[i].file] = true;
    for (uint32_t i = 0; i < store->files.file_count; i++)
        if (!keep[i])
            (void)unlinkat(folder_handle(store->dir), store->files.file[i].name, 0);
    free(keep);
    pthread_mutex_unlock(&store->lock);
    folder_sweep(store->dir, is_claim, &claims);
}

/* ---- the store ---- */

struct store *store_open(const struct folder *dir)
{
    struct store *store = arena_resize_own(NULL, 1, sizeof *store);

    *store = (struct store){ .dir = dir, .files = { .dir = dir } };
    store->end = mmap(NULL, THREADS_MAX * sizeof *store->end, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (store->end == MAP_FAILED)
        arena_run_out();
    pthread_mutex_init(&store->lock, NULL);
    return store;
}

const struct folder *store_folder(const struct store *store)
{
    return store->dir;
}

/* Closes the logs of all threads.  A log to which no whole trial was written is removed. */
static void close_writers(struct store *store)
{
    for (uint32_t w = 0; w < store->writer_count; w++) {
        struct writer *writer = &store->writer[w];

        (void)close(writer->log.fd);
        if (*writer->log.end == 0)
            (void)unlinkat(folder_handle(store->dir), store->files.file[writer->file].name, 0);
        free(writer->log.buffer.bytes);
        free(writer->made);
    }
}

void store_close(struct store *store)
{
    if (store == NULL)
        return;
    close_writers(store);
    log_files_close(&store->files);
    (void)munmap(store->end, THREADS_MAX * sizeof *store->end);
    pthread_mutex_destroy(&store->lock);
    free(store->writer);
    free(store->slot);
    free(store);
}

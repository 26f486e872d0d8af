/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * log_files.c - the logs of a folder as files.
 *
 * Others write into the folder, too: shards, ranks, other programs.  So names are
 * drawn, links are not followed, and a pipe does not block.
 */
#include "experiments/trials/log_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "sim/base/arena.h"
#include "sim/text/folder.h"
#include "sim/text/hash.h"

#define OPEN_MAX_FILES 256u     /* logs that are kept open to be read */
#define NAMES_MAX 10000u

static const char suffix[] = ".log";

/* Is this the name of a log: 16 hexadecimal digits and the suffix? */
static bool is_log(const char *name)
{
    return strspn(name, "0123456789abcdef") == 16 && strcmp(name + 16, suffix) == 0;
}

/* Opens a file of the folder by its handle, so that a folder that is moved stays
 * the same.  Links are not followed, and a pipe does not block: others may write
 * into the folder. */
static int open_file(const struct folder *dir, const char *name, int flags)
{
    return openat(folder_handle(dir), name, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK,
                  0666);
}

/* Adds a log to those that are known, and returns its number.  It is not opened
 * yet. */
static uint32_t add_file(struct log_files *files, const char *name, bool own)
{
    struct log_file file = { .own = own, .reader.fd = -1 };

    snprintf(file.name, sizeof file.name, "%.31s", name);
    ARENA_ADD(NULL, files->file, files->file_count, files->file_room, file);
    return files->file_count - 1;
}

/* Returns the number of a log; file_count: it is not known. */
static uint32_t find_file(const struct log_files *files, const char *name)
{
    uint32_t i = 0;

    while (i < files->file_count && strcmp(files->file[i].name, name) != 0)
        i++;
    return i;
}

struct log_reader *log_files_reach(struct log_files *files, uint32_t index)
{
    struct log_reader *reader = &files->file[index].reader;

    if (reader->fd >= 0)
        return reader;
    for (uint32_t i = 0; files->open_count >= OPEN_MAX_FILES && i < files->file_count; i++)
        if (files->file[i].reader.fd >= 0) {
            log_reader_close(&files->file[i].reader);
            files->open_count--;
        }
    reader->fd = open_file(files->dir, files->file[index].name, O_RDONLY);
    files->open_count += reader->fd >= 0;
    return reader->fd < 0 ? NULL : reader;
}

/* Opens the list of the folder anew, through a handle of its own: that of the
 * folder has one place where it reads, which others use as well.  NULL: it cannot
 * be read. */
static DIR *list_of(const struct folder *dir)
{
    int fd = openat(folder_handle(dir), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);

    if (list == NULL && fd >= 0)
        (void)close(fd);
    return list;
}

void log_files_find(struct log_files *files)
{
    DIR *list = list_of(files->dir);
    const struct dirent *entry;

    while (list != NULL && (entry = readdir(list)) != NULL)
        if (is_log(entry->d_name) && find_file(files, entry->d_name) == files->file_count)
            (void)add_file(files, entry->d_name, false);
    if (list != NULL)
        closedir(list);
}

uint32_t log_files_add_own(struct log_files *files, const char *name)
{
    return add_file(files, name, true);
}

/* A name that no log has, of any shard or rank. */
static void name_log(char name[32], uint32_t attempt)
{
    struct timespec now;
    char host[256] = "";
    uint64_t hash;

    (void)gethostname(host, sizeof host - 1);
    clock_gettime(CLOCK_REALTIME, &now);
    hash = hash_text(HASH_START, host);
    hash = hash_u64(hash, (uint64_t)getpid());
    hash = hash_u64(hash, (uint64_t)now.tv_sec);
    hash = hash_u64(hash, (uint64_t)now.tv_nsec);
    hash = hash_u64(hash, attempt);
    snprintf(name, 32, "%016" PRIx64 "%s", hash, suffix);
}

/* O_EXCL decides between two programs that try the same name. */
int log_files_make(const struct folder *dir, char name[32])
{
    int fd = -1;

    for (uint32_t i = 0; fd < 0 && i < NAMES_MAX; i++) {
        name_log(name, i);
        fd = open_file(dir, name, O_RDWR | O_CREAT | O_EXCL);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    return fd;
}

/* Copies the rest of one file to another.  A short write goes on where it stopped. */
static bool copy_all(int from, int to)
{
    char block[65536];
    ssize_t got;

    while ((got = read(from, block, sizeof block)) > 0)
        for (ssize_t done = 0, put; done < got; done += put) {
            put = write(to, block + done, (size_t)(got - done));
            if (put <= 0)
                return false;
        }
    return got == 0;
}

/* A link, or a copy; one that is there already is the same log. */
static bool take_log(const struct folder *to, const struct folder *from, const char *name)
{
    int dir = folder_handle(to), in, out;
    bool ok;

    if (linkat(folder_handle(from), name, dir, name, 0) == 0 || errno == EEXIST)
        return true;
    in = openat(folder_handle(from), name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    out = in < 0 ? -1 : open_file(to, name, O_WRONLY | O_CREAT | O_EXCL);
    ok = out >= 0 && copy_all(in, out);
    ok = (out < 0 || close(out) == 0) && ok;
    if (in >= 0)
        (void)close(in);
    return ok;
}

bool log_files_take(const struct folder *dir, const struct folder *from)
{
    DIR *list = list_of(from);
    const struct dirent *entry;
    bool ok = list != NULL;
    int why;

    while (ok && (entry = readdir(list)) != NULL)
        ok = !is_log(entry->d_name) || take_log(dir, from, entry->d_name);
    why = errno;
    if (list != NULL)
        closedir(list);
    errno = why;
    return ok;
}

void log_files_close(struct log_files *files)
{
    for (uint32_t i = 0; i < files->file_count; i++)
        log_reader_close(&files->file[i].reader);
    free(files->file);
}

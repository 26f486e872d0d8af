/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pack.c - entries to and from libarchive.
 *
 * Writing: the entries are sorted, and have one mode and no date, so that one
 * folder gives one archive.  Reading: each entry is checked before a byte of it is
 * written (name, kind, size), the bytes are counted as they come, and files are
 * only made anew, so that an archive can neither leave its folder nor fill a disk.
 */
#include "experiments/paper/pack.h"

#include <archive.h>
#include <archive_entry.h>
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/process/stop.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

/* BLOCK_BYTES: copied at once.  NAME_BYTES_MAX: of the name of an entry. */
#define BLOCK_BYTES 65536
#define NAME_BYTES_MAX 1000

/* Far above any results folder, and below what would fill a disk. */
const struct pack_limits pack_limits = {
    .files = 100000, .file_bytes = UINT64_C(8) << 30, .bytes = UINT64_C(32) << 30
};

/* ---- names ---- */

/* Names of files are UTF-8, and libarchive converts them from the locale of the thread, which
 * without setlocale() knows ASCII alone.  Each call of enter_utf8() is ended by leave_utf8();
 * where a system has no such locale, other names are refused. */
struct utf8 {
    locale_t its, before;       /* the locale that was made, 0: none; the thread's own */
};

/* Makes UTF-8 the encoding of this thread. */
static struct utf8 enter_utf8(void)
{
    struct utf8 utf8 = { newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0), (locale_t)0 };

    if (utf8.its != (locale_t)0)
        utf8.before = uselocale(utf8.its);
    return utf8;
}

/* Gives the thread the locale that it had before. */
static void leave_utf8(const struct utf8 *utf8)
{
    if (utf8->its == (locale_t)0)
        return;
    (void)uselocale(utf8->before);
    freelocale(utf8->its);
}

/* ---- writing ---- */

/* Orders by the name in the archive, so that the order of a folder's list is not in
 * it. */
static int compare_items(const void *a, const void *b)
{
    return strcmp(((const struct pack_item *)a)->name,
                  ((const struct pack_item *)b)->name);
}

/* Takes bytes from libarchive.  A fault is kept in `out`, which tells it as it is
 * closed. */
static la_ssize_t write_block(struct archive *archive, void *out, const void *bytes,
                              size_t count)
{
    (void)archive;
    out_bytes(out, bytes, count);
    return (la_ssize_t)count;
}

/* False: err has what libarchive says. */
static bool write_failed(struct archive *archive, const char *path, struct err *err)
{
    struct err_pos pos = { path, 0, 0 };

    return err_set(err, ERR_IO, pos, "cannot be written: %s", archive_error_string(archive));
}

/* Begins an entry: its size in bytes must be what follows.  Mode and date are the
 * same for all (see the head of this file). */
static bool write_header(struct archive *archive, const char *name, int64_t bytes)
{
    struct archive_entry *entry = archive_entry_new();
    bool ok;

    assert(entry != NULL);
    archive_entry_set_pathname(entry, name);
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_entry_set_perm(entry, 0644);
    archive_entry_set_size(entry, bytes);
    archive_entry_set_mtime(entry, 0, 0);
    ok = archive_write_header(archive, entry) == ARCHIVE_OK;
    archive_entry_free(entry);
    return ok;
}

/* Copies an open file of that many bytes.  False: it is shorter, or err of libarchive. */
static bool copy_file(struct archive *archive, FILE *file, int64_t bytes)
{
    char block[BLOCK_BYTES];

    while (bytes > 0) {
        size_t want = bytes < BLOCK_BYTES ? (size_t)bytes : BLOCK_BYTES;
        size_t got = fread(block, 1, want, file);

        if (got == 0 || archive_write_data(archive, block, got) != (la_ssize_t)got)
            return false;
        bytes -= (int64_t)got;
    }
    return true;
}

/* Writes a file as an entry, with the length that it had when it was opened; one
 * that changes meanwhile is an error and never a wrong archive. */
static bool write_file(struct archive *archive, const struct pack_item *item,
                       const char *path, struct err *err)
{
    struct err_pos pos = { item->path, 0, 0 };
    FILE *file = fopen(item->path, "rb");
    struct stat stat;
    bool ok;

    if (file == NULL || fstat(fileno(file), &stat) != 0) {
        err_set(err, ERR_IO, pos, "cannot be read: %s", strerror(errno));
        if (file != NULL)
            fclose(file);
        return false;
    }
    ok = (write_header(archive, item->name, stat.st_size) &&
          copy_file(archive, file, stat.st_size)) || write_failed(archive, path, err);
    fclose(file);
    return ok;
}

/* Writes one entry, from a text in memory or else from a file. */
static bool write_item(struct archive *archive, const struct pack_item *item,
                       const char *path, struct err *err)
{
    size_t bytes;

    if (item->text == NULL)
        return write_file(archive, item, path, err);
    bytes = strlen(item->text);
    return (write_header(archive, item->name, (int64_t)bytes) &&
            archive_write_data(archive, item->text, bytes) == (la_ssize_t)bytes) ||
           write_failed(archive, path, err);
}

/* If anything fails, what was written is thrown away, and an older file stays. */
bool pack_write(struct arena *arena, const char *path, struct pack_item *item,
                size_t count, struct err *err)
{
    struct out *out = out_open(arena, path, err);
    struct archive *archive;
    bool ok;

    if (out == NULL)
        return false;
    qsort(item, count, sizeof *item, compare_items);
    archive = archive_write_new();
    assert(archive != NULL);
    ok = (archive_write_set_format_pax_restricted(archive) == ARCHIVE_OK &&
          archive_write_add_filter_zstd(archive) == ARCHIVE_OK &&
          archive_write_set_filter_option(archive, "zstd", "compression-level", "10") ==
              ARCHIVE_OK &&
          archive_write_set_bytes_in_last_block(archive, 1) == ARCHIVE_OK &&
          archive_write_open(archive, out, NULL, write_block, NULL) == ARCHIVE_OK) ||
         write_failed(archive, path, err);
    struct utf8 utf8 = enter_utf8();
    for (size_t i = 0; ok && i < count; i++)
        ok = write_item(archive, &item[i], path, err);
    if (ok && archive_write_close(archive) != ARCHIVE_OK)
        ok = write_failed(archive, path, err);
    archive_write_free(archive);
    leave_utf8(&utf8);
    if (ok)
        return out_close(out, err);
    out_abandon(out);
    return false;
}

/* ---- reading ---- */

/* An archive as it is unpacked into the open folder `dir`; entries and bytes so far. */
struct reading {
    const char *path;           /* of the archive, for messages */
    const struct pack_limits *limits;
    int dir;                    /* the open folder that it is unpacked into */
    uint64_t files, bytes;      /* so far: entries, and bytes written */
};

/* Sets the error "entry 'NAME' why".  Returns false, so that a check can end with
 * it. */
static bool refuse(const struct reading *r, const char *name, const char *why,
                   struct err *err)
{
    struct err_pos pos = { r->path, 0, 0 };

    return err_set(err, ERR_SCHEMA, pos, "entry '%.100s' %s", name, why);
}

/* A name within the folder: relative, and without an empty part, "." or "..". */
static bool check_name(const struct reading *r, const char *name, struct err *err)
{
    if (name[0] == '/')
        return refuse(r, name, "must have a relative name, and has an absolute one", err);
    if (strlen(name) > NAME_BYTES_MAX)
        return refuse(r, name, "must have a name of at most 1000 bytes", err);
    for (const char *part = name; *part != '\0';) {
        size_t n = strcspn(part, "/");

        if (n == 2 && memcmp(part, "..", 2) == 0)
            return refuse(r, name, "must lie in the archive's folder, and has '..'", err);
        if (n == 0 || (n == 1 && part[0] == '.'))
            return refuse(r, name, "must have a name without '.' and empty parts", err);
        part += n + (part[n] == '/');
    }
    return name[0] != '\0' || refuse(r, name, "must have a name", err);
}

/* Everything that is known before the bytes. */
static bool check_entry(struct reading *r, struct archive_entry *entry, struct err *err)
{
    const char *name = archive_entry_pathname(entry);
    mode_t type = archive_entry_filetype(entry);

    if (name == NULL)
        return refuse(r, "?", "must have a name in UTF-8", err);
    if (!check_name(r, name, err))
        return false;
    if (archive_entry_hardlink(entry) != NULL || archive_entry_symlink(entry) != NULL ||
        (type != AE_IFREG && type != AE_IFDIR))
        return refuse(r, name, "must be a file or a folder, and is a link or a device", err);
    if (++r->files > r->limits->files)
        return refuse(r, name, "is one more than an archive may have", err);
    if (archive_entry_size_is_set(entry) && archive_entry_size(entry) >= 0 &&
        (uint64_t)archive_entry_size(entry) > r->limits->file_bytes)
        return refuse(r, name, "is larger than a file of an archive may be", err);
    return true;
}

/* Opens the file anew, and makes the folders that it lies in; nothing in `dir` is a link.
 * Returns the handle, or -1 and errno.  Folders are made one after the other, from the
 * outermost one on. */
static int make_file(const struct reading *r, const char *name)
{
    char part[NAME_BYTES_MAX + 1];

    snprintf(part, sizeof part, "%s", name);
    for (char *slash = strchr(part, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdirat(r->dir, part, 0755) != 0 && errno != EEXIST)
            return -1;
        *slash = '/';
    }
    return openat(r->dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
}

/* Sets the error of a file that libarchive cannot read on.  Returns false. */
static bool read_failed(const struct reading *r, struct archive *archive, struct err *err)
{
    struct err_pos pos = { r->path, 0, 0 };
    const char *why = archive_error_string(archive);

    return err_set(err, ERR_SCHEMA, pos, "must be a .tar.zst as `clustersim archive` writes "
                   "it: %.100s", why == NULL ? "it is cut off" : why);
}

/* Writes all bytes, also where the system takes them in parts.  False: errno says
 * why. */
static bool write_all(int fd, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t done = write(fd, bytes, count);

        if (done < 0)
            return false;
        bytes += done;
        count -= (size_t)done;
    }
    return true;
}

/* Copies the entry's bytes, and counts them: what a header says may be wrong. */
static bool copy_entry(struct reading *r, struct archive *archive, const char *name,
                       int fd, struct err *err)
{
    struct err_pos pos = { r->path, 0, 0 };
    char block[BLOCK_BYTES];
    uint64_t bytes = 0;
    la_ssize_t got;

    while ((got = archive_read_data(archive, block, sizeof block)) > 0) {
        bytes += (uint64_t)got;
        r->bytes += (uint64_t)got;
        if (stop_waits())
            return err_set(err, ERR_IO, pos, "was not unpacked: interrupted");
        if (bytes > r->limits->file_bytes || r->bytes > r->limits->bytes)
            return refuse(r, name, "is larger than an archive may be", err);
        if (!write_all(fd, block, (size_t)got))
            return err_set(err, ERR_IO, pos, "cannot be unpacked: %s", strerror(errno));
    }
    return got == 0 || read_failed(r, archive, err);
}

/* Unpacks one entry, after it was checked.  A folder is not made for its own sake,
 * only for a file in it.  A name that stands there twice is refused: the second
 * would replace the first, which was checked. */
static bool read_entry(struct reading *r, struct archive *archive,
                       struct archive_entry *entry, struct err *err)
{
    struct err_pos pos = { r->path, 0, 0 };
    const char *name = archive_entry_pathname(entry);
    bool ok;
    int fd;

    if (!check_entry(r, entry, err))
        return false;
    if (archive_entry_filetype(entry) == AE_IFDIR)
        return true;
    fd = make_file(r, name);
    if (fd < 0)
        return errno == EEXIST ? refuse(r, name, "must be there once", err)
             : err_set(err, ERR_IO, pos, "cannot be unpacked: %s", strerror(errno));
    ok = copy_entry(r, archive, name, fd, err);
    (void)close(fd);
    return ok;
}

/* Unpacks all entries, up to the first that is refused.  What was unpacked before
 * stays; the caller removes its folder. */
static bool read_entries(struct reading *r, struct archive *archive, struct err *err)
{
    struct archive_entry *entry;
    struct utf8 utf8 = enter_utf8();
    bool ok = true;
    int step;

    while (ok && (step = archive_read_next_header(archive, &entry)) == ARCHIVE_OK)
        ok = read_entry(r, archive, entry, err);
    leave_utf8(&utf8);
    return ok && (step == ARCHIVE_EOF || read_failed(r, archive, err));
}

bool pack_read(const char *path, const char *dir, const struct pack_limits *limits,
               struct err *err)
{
    struct err_pos pos = { path, 0, 0 };
    struct reading r = { .path = path, .limits = limits };
    struct archive *archive = archive_read_new();
    int file = open(path, O_RDONLY | O_CLOEXEC);
    bool ok;

    assert(archive != NULL);
    r.dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (path_is_folder(path)) {
        ok = err_set(err, ERR_IO, pos, "cannot be read: it is a folder");
    } else if (file < 0 || r.dir < 0) {
        ok = err_set(err, ERR_IO, pos, "cannot be read: %s", strerror(errno));
    } else {
        archive_read_support_filter_zstd(archive);
        archive_read_support_format_tar(archive);
        ok = archive_read_open_fd(archive, file, BLOCK_BYTES) == ARCHIVE_OK
            ? read_entries(&r, archive, err) : read_failed(&r, archive, err);
    }
    archive_read_free(archive);
    if (file >= 0)
        (void)close(file);
    if (r.dir >= 0)
        (void)close(r.dir);
    return ok;
}

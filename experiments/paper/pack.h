/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pack.h - a folder as one file (.tar.zst), and back.
 *
 * The bytes depend on names and contents alone: entries are sorted, and have no times,
 * owners or modes of their own.  What is read is not trusted: an entry with an absolute
 * name or "..", a link, anything but a file or a folder, or more bytes than the limits
 * allow is refused before it is written.
 *
 * libarchive does both: it shows the name and size of an entry before its bytes, and
 * counts these while it expands them, which a spawned tar would not.
 */
#ifndef EXPERIMENTS_PAPER_PACK_H
#define EXPERIMENTS_PAPER_PACK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct err;

struct pack_item {
    const char *name;           /* in the archive: "results/summary.csv" */
    const char *path;           /* of the file whose bytes it has; or NULL: */
    const char *text;           /* whose bytes it has, if path is NULL; ends with a zero byte */
};

/* Writes the items, which it sorts, into the file `path`, whole or not at all.  False: err
 * says why. */
bool pack_write(struct arena *arena, const char *path, struct pack_item *item,
                size_t count, struct err *err);

struct pack_limits {
    uint64_t files, file_bytes, bytes; /* entries; bytes of one file; bytes of all */
};
extern const struct pack_limits pack_limits;

/* Unpacks the file `path` into the empty folder `dir`.  False: err says why; what was
 * unpacked until then is left there. */
bool pack_read(const char *path, const char *dir, const struct pack_limits *limits,
               struct err *err);

#endif

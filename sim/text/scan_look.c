/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_look.c - how the lines of a text file are laid out.
 *
 * A second reading, a block at a time, so that readers of lines need not count.
 */
#include "sim/text/scan_look.h"

#include <assert.h>
#include <limits.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "sim/text/scan_zstd.h"

#define BLOCK_BYTES 65536

struct looker {
    struct scan_look *look;
    bool text;                  /* this line has more than blanks */
    bool any;                   /* it has anything */
    bool after_return;          /* the last byte was a CR */
    char first, last;           /* bytes of the file that are not blank; 0: none */
};

/* Counts the lines that end in these bytes; the state of a line that goes on
 * is kept in the looker. */
static void look_at(struct looker *l, const char *bytes, size_t count)
{
    assert(count <= BLOCK_BYTES);
    for (size_t i = 0; i < count; i++) {
        char c = bytes[i];

        if (c == '\n') {
            l->look->lines++;
            l->look->returns += l->after_return;
            l->look->blank += !l->text;
            l->text = l->any = l->after_return = false;
            continue;
        }
        l->any = true;
        l->after_return = c == '\r';
        if (c == ' ' || c == '\t' || c == '\r')
            continue;
        l->text = true;
        l->first = l->first == 0 ? c : l->first;
        l->last = c;
    }
}

/* Is it a JSON to its end?  A part of one lacks the last bracket. */
static bool is_closed(const struct looker *l)
{
    return (l->first == '{' && l->last == '}') ||
           (l->first == '[' && l->last == ']');
}

/* The file, whatever it is packed by. */
struct packed {
    gzFile file;
    struct scan_zstd *zstd;     /* NULL: plain or gzip */
};

/* Opens a file, packed or plain.  `file` NULL: that failed; else the caller closes
 * both. */
static struct packed open_packed(const char *path)
{
    struct packed packed = { NULL, NULL };
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && scan_zstd_is(fd))
        packed.zstd = scan_zstd_open(fd);
    if (fd >= 0)
        packed.file = gzdopen(fd, "rb");
    return packed;
}

/* As gzread(): less than 0 for a fault. */
static int read_packed(const struct packed *packed, char *block, unsigned bytes)
{
    enum scan_zstd_fault fault;
    size_t got;

    if (packed->zstd == NULL)
        return gzread(packed->file, block, bytes);
    got = scan_zstd_read(packed->zstd, block, bytes, &fault);
    assert(got <= bytes && bytes <= INT_MAX);
    return fault == SCAN_ZSTD_NONE ? (int)got : -1;
}

bool scan_look(const char *path, struct scan_look *look, struct err *err)
{
    struct err_pos pos = { path, 0, 0 };
    struct looker looker = { .look = look };
    char block[BLOCK_BYTES];
    struct packed file = open_packed(path);
    bool first = true;
    int got;

    assert(path != NULL && look != NULL);
    *look = (struct scan_look){ 0 };
    if (file.file == NULL)
        return err_set(err, ERR_IO, pos, "cannot read the file again");
    while ((got = read_packed(&file, block, sizeof block)) > 0) {
        size_t from = 0;

        if (first && got >= 3 && memcmp(block, "\xEF\xBB\xBF", 3) == 0) {
            look->mark = true;
            from = 3;
        }
        first = false;
        look_at(&looker, block + from, (size_t)got - from);
    }
    scan_zstd_close(file.zstd);
    gzclose_r(file.file);
    assert(look->returns <= look->lines && look->blank <= look->lines);
    look->open_end = looker.any && !is_closed(&looker);
    look->lines += looker.any;
    look->blank += looker.any && !looker.text;
    return got == 0 || err_set(err, ERR_IO, pos, "cannot read the file again");
}

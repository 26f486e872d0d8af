/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_zstd.c - frames of zstd, one behind the other.
 *
 * Between frames the library wants the begin of another one, so bytes behind the last frame
 * are damage; a file that ends within a frame is known by what the library still waits for.
 */
#include "sim/text/scan_zstd.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "sim/base/arena.h"

#define CHUNK_BYTES 65536u

struct scan_zstd {
    int fd;
    off_t at;                   /* of the file */
    ZSTD_DStream *stream;
    ZSTD_inBuffer in;
    bool within;                /* a frame */
    char chunk[CHUNK_BYTES];
};

bool scan_zstd_is(int fd)
{
    static const unsigned char magic[4] = { 0x28, 0xB5, 0x2F, 0xFD };
    unsigned char begin[sizeof magic];

    assert(fd >= 0);
    return pread(fd, begin, sizeof begin, 0) == (ssize_t)sizeof begin &&
           memcmp(begin, magic, sizeof magic) == 0;
}

struct scan_zstd *scan_zstd_open(int fd)
{
    struct scan_zstd *zstd = arena_resize_own(NULL, 1, sizeof *zstd);

    assert(fd >= 0);
    memset(zstd, 0, sizeof *zstd);
    zstd->fd = fd;
    zstd->stream = ZSTD_createDStream();
    zstd->in.src = zstd->chunk;
    if (zstd->stream == NULL)
        arena_run_out();
    return zstd;
}

void scan_zstd_close(struct scan_zstd *zstd)
{
    if (zstd == NULL)
        return;
    ZSTD_freeDStream(zstd->stream);
    free(zstd);
}

/* Reads more of the file into `in`.  False at its end, or with *fault set: it ends within a
 * frame, or cannot be read. */
static bool read_more(struct scan_zstd *zstd, enum scan_zstd_fault *fault)
{
    ssize_t got;

    assert(zstd->in.pos == zstd->in.size);      /* nothing read would be lost */
    do
        got = pread(zstd->fd, zstd->chunk, sizeof zstd->chunk, zstd->at);
    while (got < 0 && errno == EINTR);
    if (got < 0)
        *fault = SCAN_ZSTD_FILE;
    else if (got == 0 && zstd->within)
        *fault = SCAN_ZSTD_SHORT;
    if (got <= 0)
        return false;
    zstd->at += got;
    zstd->in.size = (size_t)got;
    zstd->in.pos = 0;
    return true;
}

size_t scan_zstd_read(struct scan_zstd *zstd, void *to, size_t bytes,
                      enum scan_zstd_fault *fault)
{
    ZSTD_outBuffer out = { to, bytes, 0 };

    assert(bytes > 0 && zstd->in.pos <= zstd->in.size);
    *fault = SCAN_ZSTD_NONE;
    while (out.pos < out.size) {
        size_t before = out.pos, code;

        if (zstd->in.pos == zstd->in.size && !zstd->within && !read_more(zstd, fault))
            break;
        code = ZSTD_decompressStream(zstd->stream, &out, &zstd->in);
        if (ZSTD_isError(code)) {
            *fault = SCAN_ZSTD_DAMAGED;
            break;
        }
        zstd->within = code != 0;
        /* What the library still holds comes without more of the file. */
        if (zstd->within && out.pos == before && zstd->in.pos == zstd->in.size &&
            !read_more(zstd, fault))
            break;
    }
    assert(out.pos <= bytes);
    return out.pos;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_gzip.c - does a gzip file hold anything behind its data?
 *
 * zlib's gzread() ends silently at the first byte behind a member that does not
 * begin another one.  The last four bytes of a file of one member are its
 * length; where they are not, the file is unpacked once more, member by member.
 * Zeros behind the last one are padding, as tapes have it.
 */
#include "sim/text/scan_gzip.h"

#include <assert.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#define CHUNK_BYTES 16384u
#define GZIP_WINDOW (16 + 15)       /* zlib: a gzip header, any window */
#define TAIL_BYTES 8u               /* checksum and length */

/* A second reading of the file by its own offset: pread() leaves alone the
 * position of the descriptor, which gzread() uses. */
struct walk {
    int fd;
    off_t at;
    unsigned char in[CHUNK_BYTES], out[CHUNK_BYTES];
    z_stream stream;
};

/* More of the file, unless there is some left; false at its end. */
static bool read_more(struct walk *walk)
{
    ssize_t got;

    assert(walk->fd >= 0 && walk->stream.avail_in <= CHUNK_BYTES);
    if (walk->stream.avail_in > 0)
        return true;
    got = pread(walk->fd, walk->in, sizeof walk->in, walk->at);
    if (got <= 0)
        return false;
    assert((size_t)got <= sizeof walk->in);
    walk->at += got;
    walk->stream.next_in = walk->in;
    walk->stream.avail_in = (uInt)got;
    return true;
}

/* Reads to the end of a member of the file, and throws the bytes away; false: the file ends
 * before, or is damaged. */
static bool skip_member(struct walk *walk)
{
    int code = Z_OK;

    while (code == Z_OK && read_more(walk)) {
        walk->stream.next_out = walk->out;
        walk->stream.avail_out = sizeof walk->out;
        code = inflate(&walk->stream, Z_NO_FLUSH);
    }
    assert(code != Z_STREAM_ERROR);     /* the stream was set up */
    return code == Z_STREAM_END;
}

/* Is the rest of the file padding? */
static bool has_only_zeros(struct walk *walk)
{
    for (; read_more(walk); walk->stream.avail_in = 0)
        for (uInt i = 0; i < walk->stream.avail_in; i++)
            if (walk->stream.next_in[i] != 0)
                return false;
    return true;
}

/* Unpacks the file member by member and throws the data away.  False:
 * something other than padding follows the last member, or a member is
 * damaged. */
static bool walk_members(struct walk *walk)
{
    bool good = true;

    assert(walk->fd >= 0 && walk->at == 0 && walk->stream.avail_in == 0);
    if (inflateInit2(&walk->stream, GZIP_WINDOW) != Z_OK)
        return true;                /* no memory: nothing is known */
    while (good && read_more(walk) && walk->stream.next_in[0] == 0x1F)
        good = skip_member(walk) && inflateReset(&walk->stream) == Z_OK;
    good = good && has_only_zeros(walk);
    inflateEnd(&walk->stream);
    return good;
}

/* The last four bytes of a gzip file are its length modulo 2^32 (RFC 1952).
 * Where they differ the file may still be whole, of several members: only then
 * it is walked through. */
bool scan_gzip_ends(int fd, off_t file_bytes, uint64_t data_bytes)
{
    unsigned char tail[TAIL_BYTES];
    uint32_t length = 0;
    struct walk walk;

    assert(fd >= 0 && file_bytes >= 0);
    if (file_bytes < (off_t)sizeof tail ||
        pread(fd, tail, sizeof tail, file_bytes - (off_t)sizeof tail) !=
            (ssize_t)sizeof tail)
        return true;
    for (size_t i = 0; i < 4; i++)
        length |= (uint32_t)tail[4 + i] << (8 * i);
    if (length == (uint32_t)data_bytes)
        return true;
    memset(&walk, 0, sizeof walk);
    walk.fd = fd;
    return walk_members(&walk);
}

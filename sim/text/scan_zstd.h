/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_zstd.h - the data of a zstd file, from its begin to its end.
 */
#ifndef SIM_TEXT_SCAN_ZSTD_H
#define SIM_TEXT_SCAN_ZSTD_H

#include <stdbool.h>
#include <stddef.h>

struct scan_zstd;

enum scan_zstd_fault {
    SCAN_ZSTD_NONE,
    SCAN_ZSTD_SHORT,            /* the file ends within a frame */
    SCAN_ZSTD_DAMAGED,          /* or other bytes follow a frame, or it needs a window of
                                   more than 128 MiB */
    SCAN_ZSTD_FILE              /* the file cannot be read: errno */
};

/* Does the open file begin as zstd files do?  Its position is left alone. */
bool scan_zstd_is(int fd);
/* Reads the open file by an offset of its own; the descriptor stays the caller's. */
struct scan_zstd *scan_zstd_open(int fd);
void scan_zstd_close(struct scan_zstd *zstd);       /* accepts NULL */
/* Unpacks up to `bytes` bytes.  Returns fewer at the end, and where there is a fault, which
 * is stored. */
size_t scan_zstd_read(struct scan_zstd *zstd, void *to, size_t bytes,
                      enum scan_zstd_fault *fault);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_gzip.h - checks for bytes after the data of a gzip file.
 */
#ifndef SIM_TEXT_SCAN_GZIP_H
#define SIM_TEXT_SCAN_GZIP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* For a gzip file that was read to its end without an error and has data_bytes
 * of data.  False: bytes other than zeros follow. */
bool scan_gzip_ends(int fd, off_t file_bytes, uint64_t data_bytes);

#endif

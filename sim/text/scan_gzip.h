/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scan_gzip.h - does a gzip file hold anything behind its data?
 */
#ifndef SIM_TEXT_SCAN_GZIP_H
#define SIM_TEXT_SCAN_GZIP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Of a gzip file that was read to its end without an error and held so many
 * bytes of data: false if other bytes than zeros follow. */
bool scan_gzip_ends(int fd, off_t file_bytes, uint64_t data_bytes);

#endif

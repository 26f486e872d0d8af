/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hash.h - names what a result was made from: FNV-1a, 64 bits, of what is in
 * memory, XXH64 of files.
 *
 * They distinguish inputs; they do not protect against forged ones.  Sources:
 * Fowler, Noll, Vo; RFC draft-eastlake-fnv (offset basis and
 * prime).  Y. Collet, xxHash, by libxxhash: `xxhsum FILE` prints the same.
 */
#ifndef SIM_TEXT_HASH_H
#define SIM_TEXT_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_START UINT64_C(0xcbf29ce484222325)

/* Each takes a hash so far (HASH_START at first) and returns it with one more
 * piece. */
uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count);
/* Includes the end of the text, so that "ab","c" and "a","bc" differ. */
uint64_t hash_text(uint64_t hash, const char *text);
uint64_t hash_u64(uint64_t hash, uint64_t value);
/* Adds many numbers at once.  It is faster than one after the other, and gives another hash:
 * XXH64 of the array as it lies in memory. */
uint64_t hash_numbers(uint64_t hash, const uint64_t *value, size_t count);
/* XXH64 with seed 0; false when the file cannot be read. */
bool hash_file(const char *path, uint64_t *hash);

#endif

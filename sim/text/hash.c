/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * hash.c - FNV-1a over bytes, texts and numbers; XXH64 of files.
 *
 * Numbers are hashed low byte first, so that the hash is the same on every
 * machine.  Traces are long: XXH64 takes a tenth of what FNV-1a does.
 */
#include "sim/text/hash.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#define FNV_PRIME UINT64_C(0x100000001b3)

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const unsigned char *p = bytes;

    assert(bytes != NULL || count == 0);
    for (size_t i = 0; i < count; i++)
        hash = (hash ^ p[i]) * FNV_PRIME;
    return hash;
}

uint64_t hash_text(uint64_t hash, const char *text)
{
    assert(text != NULL);
    return hash_bytes(hash, text, strlen(text) + 1);
}

uint64_t hash_u64(uint64_t hash, uint64_t value)
{
    unsigned char bytes[8];

    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
    return hash_bytes(hash, bytes, sizeof bytes);
}

uint64_t hash_numbers(uint64_t hash, const uint64_t *value, size_t count)
{
    assert(value != NULL && count > 0);
    return XXH64(value, count * sizeof *value, hash);
}

bool hash_file(const char *path, uint64_t *hash)
{
    FILE *file = fopen(path, "rb");
    XXH64_state_t *state;
    char block[65536];
    size_t got;
    bool ok;

    assert(hash != NULL);
    if (file == NULL)
        return false;
    setvbuf(file, NULL, _IONBF, 0);     /* blocks are as large as is good */
    state = XXH64_createState();
    ok = state != NULL && XXH64_reset(state, 0) == XXH_OK;
    while (ok && (got = fread(block, 1, sizeof block, file)) > 0)
        ok = XXH64_update(state, block, got) == XXH_OK;
    ok = ok && ferror(file) == 0;
    if (ok)
        *hash = XXH64_digest(state);
    XXH64_freeState(state);
    fclose(file);
    return ok;
}

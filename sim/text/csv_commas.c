/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv_commas.c - a line cut into fields at its commas, 64 characters at a time, as
 * csv_blanks.c does at blanks: no processor foresees how long fields are.
 */
#include "sim/text/csv_commas.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "sim/text/csv.h"
#include "sim/text/csv_blanks.h"
#include "sim/text/scan.h"

#define BLOCK 64u

_Static_assert(SCAN_SLACK >= BLOCK, "a block may begin at the line's end");

/* Of 64 characters: one bit for each, the first lowest. */
struct block_bits {
    uint64_t comma;
    bool mark;                  /* one of them is '"' or '\'' */
};

#ifdef __SSE2__
/* Sixteen bytes at a time; `at` need not be aligned, and BLOCK bytes must be readable. */
static struct block_bits classify_block(const char *at)
{
    const __m128i comma = _mm_set1_epi8(','), quote = _mm_set1_epi8('"');
    const __m128i apostrophe = _mm_set1_epi8('\'');
    __m128i mark = _mm_setzero_si128();
    struct block_bits bits = {0, false};

    for (unsigned i = 0; i < BLOCK; i += 16) {
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(at + i));

        bits.comma |= (uint64_t)(uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(c, comma)) << i;
        mark = _mm_or_si128(mark, _mm_or_si128(_mm_cmpeq_epi8(c, quote),
                                               _mm_cmpeq_epi8(c, apostrophe)));
    }
    bits.mark = _mm_movemask_epi8(mark) != 0;
    return bits;
}
#else
/* As above, one by one: without a branch, so that a compiler can make vector code of it. */
static struct block_bits classify_block(const char *at)
{
    struct block_bits bits = {0, false};

    for (unsigned i = 0; i < BLOCK; i++) {
        bits.comma |= (uint64_t)(at[i] == ',') << i;
        bits.mark |= at[i] == '"' || at[i] == '\'';
    }
    return bits;
}
#endif

/* Is one of these characters a mark?  Behind the line others may stand. */
static bool has_mark(const char *at, size_t bytes)
{
    assert(bytes > 0 && bytes <= BLOCK);
    return memchr(at, '"', bytes) != NULL || memchr(at, '\'', bytes) != NULL;
}

/* The field between two places of the line. */
static inline struct csv_field field_of(const char *line, const char *from, const char *to)
{
    return (struct csv_field){from, (size_t)(to - from), (uint32_t)(from - line) + 1, 0};
}

size_t commas_split(char *line, size_t bytes, struct csv_field *field, size_t max, char **rest)
{
    char *from = line, *end = line + bytes;     /* from: of the field at hand */
    size_t count = 0;

    assert((field != NULL || max == 0) && *end == '\0');
    *rest = NULL;
    for (char *base = line; base < end; base += BLOCK) {
        struct block_bits bits = classify_block(base);
        size_t left = (size_t)(end - base);
        uint64_t comma = bits.comma;

        if (bits.mark && has_mark(base, left < BLOCK ? left : BLOCK)) {
            *rest = from;
            return count;
        }
        if (left < BLOCK)
            comma &= (UINT64_C(1) << left) - 1;
        for (; comma != 0 && count < max; comma &= comma - 1) {
            char *to = base + __builtin_ctzll(comma);

            *to = '\0';
            field[count++] = field_of(line, from, to);
            from = to + 1;
        }
        if (comma != 0) {               /* what nobody reads is counted */
            count += blanks_count(comma);
            from = base + BLOCK - __builtin_clzll(comma);
        }
    }
    assert(from <= end);
    if (count < max)
        field[count] = field_of(line, from, end);
    return count + 1;
}

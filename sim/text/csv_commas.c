/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv_commas.c - a line cut into fields at its commas, 64 characters at a time, as
 * csv_blanks.c does at blanks: no processor foresees how long fields are.
 */
#include "sim/text/csv_commas.h"

#include <assert.h>
#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "sim/text/csv.h"
#include "sim/text/scan.h"

#define BLOCK 64u

_Static_assert(SCAN_SLACK >= BLOCK, "a block may begin at the line's end");

/* One bit a character, the first lowest. */
struct block_bits {
    uint64_t comma, mark, end;          /* ','; '"' or '\''; NUL */
};

#ifdef __SSE2__
/* Returns the bits of 16 characters that equal those of `other`. */
static uint64_t equal_bits(__m128i c, char other)
{
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(c, _mm_set1_epi8(other)));
}

static struct block_bits classify_block(const char *at)
{
    struct block_bits bits = {0, 0, 0};

    for (unsigned i = 0; i < BLOCK; i += 16) {
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(at + i));

        bits.comma |= equal_bits(c, ',') << i;
        bits.mark |= (equal_bits(c, '"') | equal_bits(c, '\'')) << i;
        bits.end |= equal_bits(c, '\0') << i;
    }
    return bits;
}
#else
/* As above, one by one: without a branch, so that a compiler can make vector code of it. */
static struct block_bits classify_block(const char *at)
{
    struct block_bits bits = {0, 0, 0};

    for (unsigned i = 0; i < BLOCK; i++) {
        bits.comma |= (uint64_t)(at[i] == ',') << i;
        bits.mark |= (uint64_t)(at[i] == '"' || at[i] == '\'') << i;
        bits.end |= (uint64_t)(at[i] == '\0') << i;
    }
    return bits;
}
#endif

size_t commas_split(char *line, struct csv_field *field, size_t max, char **rest)
{
    char *from = line;          /* of the field at hand */
    size_t count = 0;

    assert(line != NULL && (field != NULL || max == 0));
    *rest = NULL;
    for (char *base = line;; base += BLOCK) {
        struct block_bits bits = classify_block(base);
        uint64_t inside = (bits.end & (0 - bits.end)) - 1;      /* before the end */
        uint64_t comma = bits.comma & inside;

        if ((bits.mark & inside) != 0) {
            *rest = from;
            return count;
        }
        for (; comma != 0 && count < max; comma &= comma - 1) {
            char *to = base + __builtin_ctzll(comma);

            *to = '\0';
            field[count++] = (struct csv_field){
                from, (size_t)(to - from), (uint32_t)(from - line) + 1, 0};
            from = to + 1;
        }
        if (comma != 0) {               /* what nobody reads is counted */
            count += (size_t)__builtin_popcountll(comma);
            from = base + BLOCK - __builtin_clzll(comma);
        }
        if (bits.end == 0)
            continue;
        char *to = base + __builtin_ctzll(bits.end);
        if (count < max)
            field[count] = (struct csv_field){
                from, (size_t)(to - from), (uint32_t)(from - line) + 1, 0};
        return count + 1;
    }
}

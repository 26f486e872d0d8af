/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * csv_blanks.c - a line cut into fields at its blanks.
 *
 * Most files part their fields with spaces alone.  Their lines are taken 64
 * characters at a time: a bit for each says whether it belongs to a field, and
 * where a bit differs from the one before it a field begins or ends.  No
 * processor foresees how long fields are, so a branch for each character would
 * cost more than all else.  A line with another character below '!' is cut
 * character by character.
 */
#include "sim/text/csv_blanks.h"

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
    uint64_t low;               /* below '!' */
    uint64_t other;             /* of those, all but spaces */
};

#ifdef __SSE2__
/* Classifies 64 characters from `at` on.  With SSE2, sixteen at a time: min(c,
 * ' ') equals c exactly for the characters up to the space. */
static struct block_bits classify_block(const char *at)
{
    const __m128i space = _mm_set1_epi8(' ');
    struct block_bits bits = {0, 0};

    for (unsigned i = 0; i < BLOCK; i += 16) {
        __m128i c = _mm_loadu_si128((const __m128i *)(const void *)(at + i));
        __m128i low = _mm_cmpeq_epi8(_mm_min_epu8(c, space), c);
        __m128i other = _mm_andnot_si128(_mm_cmpeq_epi8(c, space), low);

        bits.low |= (uint64_t)(uint32_t)_mm_movemask_epi8(low) << i;
        bits.other |= (uint64_t)(uint32_t)_mm_movemask_epi8(other) << i;
    }
    assert((bits.other & ~bits.low) == 0);
    return bits;
}
#else
/* As above, one by one: without a branch, so that a compiler can make vector
 * code of it. */
static struct block_bits classify_block(const char *at)
{
    struct block_bits bits = {0, 0};

    for (unsigned i = 0; i < BLOCK; i++) {
        uint64_t low = (unsigned char)at[i] <= ' ';

        bits.low |= low << i;
        bits.other |= (uint64_t)(low && at[i] != ' ') << i;
    }
    assert((bits.other & ~bits.low) == 0);
    return bits;
}
#endif

/* The field between two characters of the line, ended with NUL. */
static void cut_field(struct csv_field *field, const char *line, char *from, char *to)
{
    assert(line <= from && from < to);
    *to = '\0';
    *field = (struct csv_field){
        from, (size_t)(to - from), (uint32_t)(from - line) + 1, 0};
}

/* Cuts the rest of a line character by character, from the field that begins at `at`, or
 * behind it; count: fields before it.  Returns how many fields the line has. */
static size_t split_slowly(char *line, char *at, struct csv_field *field,
                           size_t max, size_t count)
{
    assert(at >= line);
    for (;;) {
        while (blanks_is(*at))
            at++;
        if (*at == '\0')
            return count;
        char *from = at;
        while (*at != '\0' && !blanks_is(*at))
            at++;
        bool more = *at != '\0';
        if (count < max)
            cut_field(&field[count], line, from, at);
        count++;
        at += more;
    }
}

/* Edges between blanks and fields are found 64 characters at a time.  A
 * control character is left to split_slowly(), for it may be a tab. */
size_t blanks_split(char *line, struct csv_field *field, size_t max)
{
    struct csv_field *next = field, *end = field + max;
    size_t more = 0;            /* fields that ended behind the last cut */
    char *from = NULL;          /* of the one to cut that is not yet over */
    uint64_t before = 0;        /* 1: the character before is of a field */

    assert(line != NULL && (field != NULL || max == 0));
    for (char *base = line;; base += BLOCK) {
        struct block_bits bits = classify_block(base);
        uint64_t first = bits.other & (0 - bits.other);

        if (first != 0 && base[__builtin_ctzll(first)] != '\0')
            return split_slowly(line, from ? from : base - before, field, max,
                                (size_t)(next - field) + more);
        uint64_t text = ~bits.low & (first - 1);    /* all, if no end is here */
        uint64_t edges = text ^ (text << 1 | before);

        while (edges != 0 && next < end) {
            if (from == NULL) {
                from = base + __builtin_ctzll(edges);
                edges &= edges - 1;
                if (edges == 0)
                    break;      /* it goes on in the next block */
            }
            cut_field(next++, line, from, base + __builtin_ctzll(edges));
            edges &= edges - 1;
            from = NULL;
        }
        more += blanks_count(edges & ~text);
        before = text >> (BLOCK - 1);
        if (first != 0)
            return (size_t)(next - field) + more;
    }
}

/* As blanks_split(), but the last field is the whole rest of the line, with
 * its blanks. */
size_t blanks_split_rest(char *line, struct csv_field *field, size_t max)
{
    char *at = line;
    size_t count = 0;

    assert(max > 0);
    for (;;) {
        while (blanks_is(*at))
            at++;
        if (*at == '\0')
            return count;
        char *from = at;
        for (; *at != '\0' && (count + 1 == max || !blanks_is(*at)); at++)
            ;
        bool more = *at != '\0';
        char *to = at;
        while (blanks_is(to[-1]))
            to--;
        cut_field(&field[count++], line, from, to);
        at += more;
    }
}

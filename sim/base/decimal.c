/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * decimal.c - exact ways between decimal text and doubles.
 *
 * The slow path starts from an approximation that is a few units off at most
 * and walks to the double whose rounding interval holds the decimal; every
 * step is an exact comparison of whole numbers.  A decimal point between two
 * neighbouring doubles has at most 767 significant digits, so digits beyond
 * 800 can only break a tie: one digit 1 stands for all of them.
 *
 * Data: struct whole, an unsigned whole number of at most 5,120 bits on the
 * stack. The largest one that occurs is 801 digits times 5^345 shifted by the
 * exponent of a double: decimal_compare() asserts the bounds that keep it below
 * that.
 */
#include "sim/base/decimal.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

/* EXPONENT_CLAMP is far beyond every double and far below INT32_MAX, so that
 * sums of exponents cannot overflow. */
#define LEAD_DIGITS     19          /* 10^19 - 1 fits in 64 bits */
#define DIGITS_MAX      800
#define EXPONENT_CLAMP  100000
#define WORD_COUNT      160         /* 5120 bits; see whole_compare's callers */
#define EXACT_INT_MAX   (UINT64_C(1) << 53)

static const double exact_powers[] = {  /* all that a double holds exactly */
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};
#define EXACT_POWER_MAX 22

/* A whole number, least significant word first. */
struct whole {
    uint32_t word[WORD_COUNT];
    uint32_t count;                 /* the words above are not set */
};

/* Sets a whole number of many words, lowest first; 0 has none. */
static void whole_set(struct whole *whole, uint64_t value)
{
    whole->count = 0;
    for (; value > 0; value >>= 32)
        whole->word[whole->count++] = (uint32_t)value;
    assert(whole->count <= 2);
}

/* whole = whole x factor + term */
static void whole_step(struct whole *whole, uint32_t factor, uint32_t term)
{
    uint64_t carry = term;

    for (uint32_t i = 0; i < whole->count; i++) {
        carry += (uint64_t)whole->word[i] * factor;
        whole->word[i] = (uint32_t)carry;
        carry >>= 32;
    }
    if (carry > 0) {
        assert(whole->count < WORD_COUNT);
        whole->word[whole->count++] = (uint32_t)carry;
    }
}

/* Multiplies by 5^exponent, thirteen powers at a time. */
static void whole_times_power_of_5(struct whole *whole, int exponent)
{
    const uint32_t five_to_13 = 1220703125;     /* the largest in 32 bits */

    assert(exponent >= 0);
    for (; exponent >= 13; exponent -= 13)
        whole_step(whole, five_to_13, 0);
    for (; exponent > 0; exponent--)
        whole_step(whole, 5, 0);
}

/* Multiplies by 2^bits: whole words are moved, and the rest is one multiplication. */
static void whole_shift_left(struct whole *whole, int bits)
{
    assert(bits >= 0);
    uint32_t words = (uint32_t)bits / 32;

    whole_step(whole, UINT32_C(1) << (bits % 32), 0);
    if (whole->count == 0 || words == 0)
        return;
    assert(whole->count + words <= WORD_COUNT);
    memmove(whole->word + words, whole->word,
            whole->count * sizeof whole->word[0]);
    memset(whole->word, 0, words * sizeof whole->word[0]);
    whole->count += words;
}

/* Returns -1, 0 or 1. Relies on the highest word not being 0. */
static int whole_compare(const struct whole *a, const struct whole *b)
{
    assert(a->count <= WORD_COUNT && b->count <= WORD_COUNT);
    if (a->count != b->count)
        return a->count < b->count ? -1 : 1;
    for (uint32_t i = a->count; i > 0; i--) {
        if (a->word[i - 1] != b->word[i - 1])
            return a->word[i - 1] < b->word[i - 1] ? -1 : 1;
    }
    return 0;
}

/* The digits of ASCII only; isdigit() would ask the locale. */
static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* All digits as one whole number; returns the power of ten that goes with
 * it.  Digits that were cut from `lead` are read again from the text.  For example "0.00123"
 * has the lead 123 and the exponent -5: the number is 123 and -5 is returned. */
static int whole_from_decimal(struct whole *whole, const struct decimal *from)
{
    if (!from->cut) {
        whole_set(whole, from->lead);
        return from->exp10;
    }
    int digits = 0;
    bool more = false;

    whole_set(whole, 0);
    for (size_t i = 0; i < from->bytes; i++) {
        char c = from->text[i];
        if (c == 'e' || c == 'E')
            break;
        if (!is_digit(c) || (digits == 0 && c == '0'))
            continue;
        if (digits < DIGITS_MAX)
            whole_step(whole, 10, (uint32_t)(c - '0'));
        else
            more = more || c != '0';
        digits += digits < DIGITS_MAX;
    }
    assert(digits > LEAD_DIGITS);
    if (more) {
        whole_step(whole, 10, 1);
        digits++;
    }
    return from->exp10 - (digits - LEAD_DIGITS);
}

/* Compares without rounding: both sides are multiplied until they are whole
 * numbers.  A decimal d x 10^e is d x 5^e x 2^e, so only powers of 5 need long
 * arithmetic, and powers of 2 are shifts. */
int decimal_compare(const struct decimal *decimal, uint64_t mantissa, int exp2)
{
    struct whole a, b;
    int exp10 = whole_from_decimal(&a, decimal);

    assert(exp10 > -2000 && exp10 < 2000);
    assert(exp2 > -1200 && exp2 < 1200);
    whole_set(&b, mantissa);
    if (exp10 >= 0)
        whole_times_power_of_5(&a, exp10);
    else
        whole_times_power_of_5(&b, -exp10);
    int shift = exp10 - exp2;
    if (shift >= 0)
        whole_shift_left(&a, shift);
    else
        whole_shift_left(&b, -shift);
    return whole_compare(&a, &b);
}

/* The digits and the point; returns their length, 0 without a digit.  The first 19 significant
 * digits go to `lead`.  A digit behind the point lowers the exponent by one while it goes to
 * lead; a digit before the point that lead has no room for raises it. */
static size_t read_digits(const char *text, size_t bytes, struct decimal *out)
{
    size_t i = 0;
    int digits = 0;             /* significant ones in lead */
    bool point = false;
    bool any = false;

    assert(out->lead == 0 && !out->cut);
    for (; i < bytes; i++) {
        char c = text[i];
        if (c == '.' && !point) {
            point = true;
            continue;
        }
        if (!is_digit(c))
            break;
        any = true;
        uint8_t digit = (uint8_t)(c - '0');
        if (digits < LEAD_DIGITS) {
            out->lead = out->lead * 10 + digit;
            digits += out->lead > 0;
            out->exp10 -= point;
            continue;
        }
        if (digits == LEAD_DIGITS)
            out->next = digit;
        digits += digits == LEAD_DIGITS;
        out->cut = out->cut || digit != 0;
        out->exp10 += !point;
    }
    return any ? i : 0;
}

/* "e-3" at text, or nothing; returns its length. */
static size_t read_exponent(const char *text, size_t bytes, int32_t *exponent)
{
    size_t i = 1;
    bool negative = false;
    int32_t value = 0;

    *exponent = 0;
    if (bytes < 2 || (text[0] != 'e' && text[0] != 'E'))
        return 0;
    if (text[i] == '+' || text[i] == '-')
        negative = text[i++] == '-';
    if (i == bytes || !is_digit(text[i]))
        return 0;
    for (; i < bytes && is_digit(text[i]); i++) {
        if (value < EXPONENT_CLAMP)
            value = value * 10 + (text[i] - '0');
    }
    *exponent = negative ? -value : value;
    assert(i <= bytes);
    return i;
}

size_t decimal_read(const char *text, size_t bytes, struct decimal *out)
{
    assert(text != NULL && out != NULL);
    assert(bytes < INT32_MAX / 4);
    memset(out, 0, sizeof *out);
    size_t start = 0;
    int32_t exponent;

    if (bytes > 0 && (text[0] == '-' || text[0] == '+')) {
        out->negative = text[0] == '-';
        start = 1;
    }
    size_t digits = read_digits(text + start, bytes - start, out);
    if (digits == 0)
        return 0;
    out->text = text + start;
    out->bytes = digits;
    size_t end = start + digits;
    end += read_exponent(text + end, bytes - end, &exponent);
    out->exp10 += exponent;
    return end;
}

double decimal_scale(double value, int exp10)
{
    assert(isfinite(value));
    for (; exp10 > EXACT_POWER_MAX; exp10 -= EXACT_POWER_MAX)
        value *= 1e22;
    for (; exp10 < -EXACT_POWER_MAX; exp10 += EXACT_POWER_MAX)
        value /= 1e22;
    return exp10 >= 0 ? value * exact_powers[exp10]
                      : value / exact_powers[-exp10];
}

/* A subnormal number has no hidden bit, and the exponent of the smallest
 * normal one. */
uint64_t decimal_split(double value, int *exp2)
{
    uint64_t bits;

    assert(isfinite(value));
    _Static_assert(sizeof bits == sizeof value, "a double has 64 bits");
    memcpy(&bits, &value, sizeof bits);
    int biased = (int)(bits >> 52 & 0x7FF);
    uint64_t mantissa = bits & ((UINT64_C(1) << 52) - 1);
    if (biased == 0) {                          /* zero or subnormal */
        *exp2 = -1074;
        return mantissa;
    }
    *exp2 = biased - 1075;
    return mantissa | UINT64_C(1) << 52;
}

/* The double nearest to the decimal, from one that is close.  The middle between two
 * neighbouring doubles m x 2^e and (m + 1) x 2^e is (2m + 1) x 2^(e-1), which needs one bit
 * more than a mantissa.  The decimal is compared with the middle above and the middle below.
 * A decimal in the middle itself goes to the even mantissa, as IEEE 754 has it. */
static double walk_to_nearest(const struct decimal *decimal, double near)
{
    for (int steps = 0;; steps++) {
        int exp2;
        uint64_t mantissa = decimal_split(near, &exp2);
        bool odd = mantissa % 2 == 1;
        assert(steps < 1000);
        int above = decimal_compare(decimal, 2 * mantissa + 1, exp2 - 1);
        if (above > 0 || (above == 0 && odd)) {
            near = nextafter(near, (double)INFINITY);
            if (isinf(near))
                return near;
            continue;
        }
        if (mantissa == 0)
            return near;
        /* Below a power of two the step down is half as wide. */
        bool narrow = mantissa == UINT64_C(1) << 52 && exp2 > -1074;
        int below = narrow
            ? decimal_compare(decimal, 4 * mantissa - 1, exp2 - 2)
            : decimal_compare(decimal, 2 * mantissa - 1, exp2 - 1);
        if (below > 0 || (below == 0 && !odd))
            return near;
        near = nextafter(near, 0.0);
    }
}

/* Returns the nearest double to the decimal without its sign; infinity where
 * it is beyond DBL_MAX. Clinger's fast path, one exact operand and one
 * operation that rounds once, serves nearly all numbers that people write. */
static double magnitude_to_f64(const struct decimal *decimal)
{
    struct decimal d = *decimal;

    assert(d.lead != 0 || !d.cut);  /* no digit is lost before a first one */
    if (d.lead == 0)
        return 0.0;
    while (d.lead > EXACT_INT_MAX && d.lead % 10 == 0 && !d.cut) {
        d.lead /= 10;
        d.exp10++;
    }
    if (!d.cut && d.lead <= EXACT_INT_MAX && d.exp10 >= -EXACT_POWER_MAX &&
        d.exp10 <= EXACT_POWER_MAX)
        return decimal_scale((double)d.lead, d.exp10);  /* rounds once */
    if (d.exp10 > 310)
        return (double)INFINITY;
    if (d.exp10 < -345)                 /* below half of 4.9e-324 */
        return 0.0;
    double near = decimal_scale((double)d.lead, d.exp10);
    if (isinf(near))
        near = DBL_MAX;
    return walk_to_nearest(&d, near);
}

bool decimal_to_f64(const struct decimal *decimal, double *out)
{
    assert(decimal != NULL && out != NULL);
    double size = magnitude_to_f64(decimal);

    if (isinf(size))
        return false;
    *out = decimal->negative ? -size : size;
    return true;
}

/* Whole numbers only: no double between the text and the nanosecond. The digit
 * that decides the rounding is in lead, or is `next` where lead is full.  Below -9 the
 * exponent says how many digits are less than a nanosecond: they are rounded off.  Above -9 it
 * says how many zeros are missing. */
bool decimal_to_ns(const struct decimal *seconds, int64_t *ns)
{
    const uint64_t ns_limit = UINT64_C(9223372036000000000);
    uint64_t size = seconds->lead;
    int32_t exp10 = seconds->exp10;

    assert(ns != NULL);
    if (size == 0 || exp10 < -9 - LEAD_DIGITS) {
        *ns = 0;
        return true;
    }
    if (exp10 < -9) {
        uint64_t unit = 1;
        for (int32_t i = exp10; i < -9; i++)
            unit *= 10;
        size = size / unit + (size % unit >= unit / 2);
    }
    for (int32_t i = -9; i < exp10; i++) {
        if (size >= ns_limit / 10 + 1)
            return false;
        size *= 10;
    }
    if (exp10 == -9 && seconds->next >= 5)
        size++;
    if (size >= ns_limit)
        return false;
    *ns = seconds->negative ? -(int64_t)size : (int64_t)size;
    return true;
}

/* The decimal digits of 0 to 99, two for each number. */
static const char two_digits[] =
    "00010203040506070809101112131415161718192021222324"
    "25262728293031323334353637383940414243444546474849"
    "50515253545556575859606162636465666768697071727374"
    "75767778798081828384858687888990919293949596979899";

/* The digit pairs of two_digits halve the divisions. */
static void put_two(char *out, uint32_t value)
{
    assert(value < 100);
    memcpy(out, two_digits + 2 * value, 2);
}

void decimal_put_nine(char out[9], uint32_t value)
{
    assert(value < 1000000000);
    uint32_t rest = value % 100000000;
    uint32_t high = rest / 10000;
    uint32_t low = rest % 10000;

    out[0] = (char)('0' + value / 100000000);
    put_two(out + 1, high / 100);
    put_two(out + 3, high % 100);
    put_two(out + 5, low / 100);
    put_two(out + 7, low % 100);
}

/* The digits of a value below 1e8, one a byte, first digit lowest: 1e4s, then
 * 100s, then 10s are parted by products that are exact for few digits (x
 * 10486 / 2^20 below 1e4, x 103 / 2^10 below 100). */
static uint64_t eight_digits(uint32_t value)
{
    assert(value < 100000000);
    uint64_t fours = value / 10000 | (uint64_t)(value % 10000) << 32;
    uint64_t high = (fours * 10486 >> 20) & UINT64_C(0x7f0000007f);
    uint64_t twos = high | (fours - 100 * high) << 16;
    uint64_t tens = (twos * 103 >> 10) & UINT64_C(0x000f000f000f000f);

    return tens | (twos - 10 * tens) << 8;
}

/* Bytes of a word, lowest first. */
static void put_bytes(char *out, uint64_t bytes)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    bytes = __builtin_bswap64(bytes);
#endif
    memcpy(out, &bytes, sizeof bytes);
}

/* Eight digits are made at once in a word; the zeros in front are shifted out,
 * which needs no branch for each digit.  For example 42 is "00000042" in the word; six zeros
 * are shifted out and two bytes count.  The other six bytes that are written lie behind the
 * end that is returned, so the caller has room for 20. */
char *decimal_put(char *out, uint64_t value)
{
    const uint64_t billion = 1000000000;

    if (value < 10) {
        *out = (char)('0' + value);
        return out + 1;
    }
    if (value < 100000000) {            /* the zeros before it shifted out */
        uint64_t digits = eight_digits((uint32_t)value);
        unsigned zeros = (unsigned)__builtin_ctzll(digits) / 8;
        put_bytes(out, (digits | UINT64_C(0x3030303030303030)) >> 8 * zeros);
        return out + 8 - zeros;
    }
    if (value >= billion) {             /* nine digits at a time */
        out = decimal_put(out, value / billion);
        value %= billion;
    }
    assert(value < billion);
    decimal_put_nine(out, (uint32_t)value);
    return out + 9;
}

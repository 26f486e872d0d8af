# SPDX-License-Identifier: GPL-3.0-or-later
#
# rng_table.awk - prints the ziggurats of rng.h as C: layers of equal area.
#
# With x[255] = r where the tail begins, v = r f(r) + the tail's area, and
# f(x[i]) = f(x[i + 1]) + v / x[i + 1] downwards, layer i has the width x[i]
# and stands for sure up to x[i - 1]; layer 0 has the width v / f(r) and stands
# up to r (Marsaglia & Tsang 2000).  A width is stored times 2^-53, a limit as
# a share of the width times 2^53, rounded down.
#
# A number is a list of whole numbers below 10^7: one before the point, LIMBS
# behind it.  Their products are exact in awk, no function of libm has a say,
# and 35 digits are printed, which the compiler rounds: the same bits anywhere.

function copy(to, a,    i) { for (i = 0; i <= LIMBS; i++) to[i] = a[i] }
function whole(to, n,    i) { for (i = 1; i <= LIMBS; i++) to[i] = 0; to[0] = n }

function add(to, a, b,    i, carry) {
    for (i = LIMBS; i >= 0; i--) {
        carry += a[i] + b[i]
        to[i] = i > 0 && carry >= BASE ? carry - BASE : carry
        carry = i > 0 && carry >= BASE
    }
}

# Only a - b >= 0.
function take(to, a, b,    i, borrow) {
    for (i = LIMBS; i >= 0; i--) {
        borrow = a[i] - b[i] - borrow
        to[i] = borrow < 0 ? borrow + BASE : borrow
        borrow = borrow < 0
    }
}

function less(a, b,    i) {
    for (i = 0; i <= LIMBS; i++)
        if (a[i] != b[i])
            return a[i] < b[i]
    return 0
}

function carry_up(s, to,    i, carry) {
    for (i = LIMBS + 2; i >= 0; i--) {
        carry += s[i]
        if (i > 0) {
            to[i] = carry % BASE
            carry = (carry - to[i]) / BASE
        } else
            to[0] = carry
    }
}

function times(to, a, b,    i, j, s) {
    for (i = 0; i <= LIMBS + 2; i++)
        s[i] = 0
    for (i = 0; i <= LIMBS; i++)
        for (j = 0; j <= LIMBS && i + j <= LIMBS + 2; j++)
            s[i + j] += a[i] * b[j]
    carry_up(s, to)
}

function over_whole(to, a, n,    i, rest, part) {
    for (i = 0; i <= LIMBS; i++) {
        part = rest * BASE + a[i]
        rest = part % n
        to[i] = (part - rest) / n
    }
}

# 1 / b by Newton from a quotient of doubles: r + r (1 - b r).
function invert(to, b,    k, r, e, one, q) {
    whole(one, 1)
    q = 1 / (b[0] + (b[1] + (b[2] + b[3] / BASE) / BASE) / BASE)
    for (k = 0; k <= LIMBS; k++) {
        r[k] = k < 3 ? int(q) : 0
        q = (q - r[k]) * BASE
    }
    for (k = 0; k < 5; k++) {
        times(e, b, r)
        if (less(e, one)) {
            take(e, one, e)
            times(e, e, r)
            add(r, r, e)
        } else {
            take(e, e, one)
            times(e, e, r)
            take(r, r, e)
        }
    }
    copy(to, r)
}

function over(to, a, b,    r) { invert(r, b); times(to, a, r) }

# e^a: Taylor's series of e^(a/16), squared four times.
function power(to, a,    k, x, term, sum) {
    over_whole(x, a, 16)
    whole(sum, 1)
    whole(term, 1)
    for (k = 1; k < 45; k++) {
        times(term, term, x)
        over_whole(term, term, k)
        add(sum, sum, term)
    }
    for (k = 0; k < 4; k++)
        times(sum, sum, sum)
    copy(to, sum)
}

# -log y by Newton from `near`: z + 1 - y e^z.
function minus_log(to, y, near,    k, z, e, one) {
    whole(one, 1)
    copy(z, near)
    for (k = 0; k < 9; k++) {
        power(e, z)
        times(e, e, y)
        if (less(e, one)) {
            take(e, one, e)
            add(z, z, e)
        } else {
            take(e, e, one)
            take(z, z, e)
        }
    }
    copy(to, z)
}

function root(to, a, near,    k, z, q) {
    copy(z, near)
    for (k = 0; k < 9; k++) {
        over(q, a, z)
        add(q, q, z)
        over_whole(z, q, 2)
    }
    copy(to, z)
}

function read(to, text,    i) {
    to[0] = int(text)
    text = substr(text, 3) "00000000000000000000000000000000000000000000000000"
    for (i = 1; i <= LIMBS; i++)
        to[i] = substr(text, 7 * i - 6, 7) + 0
}

function digits(a,    i, text) {
    text = a[0] "."
    for (i = 1; i <= 5; i++)
        text = text sprintf("%07d", a[i])
    return text
}

# a 2^53, rounded down, as a hexadecimal text, for a < 1.
function share(a,    i, k, x, text) {
    copy(x, a)
    for (k = 0; k < 14; k++) {      # four bits each, but for the first
        for (i = 0; i < (k == 0 ? 1 : 4); i++)
            add(x, x, x)
        text = text sprintf("%x", x[0])
        x[0] = 0
    }
    return text
}

# log of 1 / density at x: x, or x^2 / 2.
function depth(to, x) {
    if (normal) {
        times(to, x, x)
        over_whole(to, to, 2)
    } else
        copy(to, x)
}

function layers(name, tail, area,    i, k, v, x, y, z, f, f_text, line, q, w) {
    read(x, tail)
    depth(z, x)
    power(f, z)
    invert(f, f)
    if (area == "") {               # (r + 1) e^-r
        whole(y, 1)
        add(v, x, y)
        times(v, v, f)
    } else
        read(v, area)
    over(w, v, f)
    over(q, x, w)
    line[0] = "    {UINT64_C(0x" share(q) "), " digits(w) " * 0x1p-53},"
    f_text[0] = "1"
    for (i = 255; i > 0; i--) {
        f_text[i] = digits(f)
        copy(w, x)
        if (i > 1) {
            over(y, v, x)
            add(f, f, y)
            minus_log(z, f, z)
            copy(x, z)
            if (normal) {
                add(x, z, z)
                root(x, x, w)
            }
            over(q, x, w)
        } else
            whole(q, 0)
        line[i] = "    {UINT64_C(0x" share(q) "), " digits(w) " * 0x1p-53},"
    }
    print "\nconst struct rng_layer rng_" name "_layer[RNG_LAYER_COUNT] = {"
    for (i = 0; i < 256; i++)
        print line[i]
    print "};\n\nconst double rng_" name "_density[RNG_LAYER_COUNT] = {"
    for (i = 0; i < 256; i++)
        print "    " f_text[i] ","
    print "};"
}

BEGIN {
    BASE = 10000000
    LIMBS = 8
    print "/* Made by sim/base/rng_table.awk; do not edit. */"
    print "#include \"sim/base/rng.h\""
    layers("exponential", "7.69711747013104972", "")
    normal = 1
    layers("normal", "3.6541528853610088",
           "0.00492867323397465487020006651442050487022090487271")
}

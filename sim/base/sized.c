/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sized.c - a copy of as much as both sides know.
 */
#include "sim/base/sized.h"

#include <assert.h>
#include <string.h>

#include "sim/base/err.h"

/* The first member is the size; no more bytes of `given` than that are read.  Bytes beyond
 * what this version knows must be 0, that is, members that the caller left at their default. */
bool sized_copy(void *own, size_t own_bytes, const void *given, struct err *err)
{
    const struct err_pos nowhere = { NULL, 0, 0 };
    const unsigned char *byte = given;
    size_t bytes = 0;

    assert(own != NULL && own_bytes >= sizeof bytes);
    if (given == NULL)
        return true;
    memcpy(&bytes, given, sizeof bytes);
    if (bytes < sizeof bytes) {
        err_set(err, ERR_USAGE, nowhere, "size_bytes of the options is %zu", bytes);
        return err_hint(err, "Set it to the sizeof of the struct: of options without a size, "
                        "nothing is known.");
    }
    for (size_t i = own_bytes; i < bytes; i++)
        if (byte[i] != 0)
            return err_set(err, ERR_USAGE, nowhere, "the options have a member that this "
                           "version does not know: byte %zu of %zu is not 0", i, bytes);
    assert(bytes >= sizeof bytes);
    memcpy(own, given, bytes < own_bytes ? bytes : own_bytes);
    return true;
}

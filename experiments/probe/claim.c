/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * claim.c - see the header.
 *
 * A claim is a file that is created, then locked by flock().  Two steps can be
 * interleaved by another process: it may remove the file between our open and
 * our lock.  Our lock is then on a file without a name, which nobody else can
 * meet, so claim_take() looks at the link count under the lock and begins anew.
 *
 * flock() and not fcntl(): an fcntl lock is lost when any descriptor of the
 * file is closed, also by another thread.  Where a file system has no locks
 * between machines, a trial may run twice; both store equal bytes.
 */
#include "experiments/probe/claim.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/text/folder.h"

/* 16 hexadecimal digits, ".claim" and the 0. */
#define NAME_BYTES 32u

/* "00c0ffee00c0ffee.claim", into NAME_BYTES bytes. */
static void name_claim(uint64_t hash, char *out)
{
    (void)snprintf(out, NAME_BYTES, "%016" PRIx64 ".claim", hash);
}

bool claim_take(const struct folder *dir, uint64_t hash, int *claim)
{
    char name[NAME_BYTES];
    struct stat st;

    name_claim(hash, name);
    for (;;) {
        *claim = openat(folder_handle(dir), name,
                        O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
        if (*claim < 0) {
            *claim = CLAIM_NONE;
            return true;
        }
        if (flock(*claim, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            (void)close(*claim);
            *claim = CLAIM_NONE;
            return false;
        }
        /* The process that had it before may have removed the file meanwhile. */
        if (fstat(*claim, &st) != 0 || st.st_nlink > 0)
            return true;
        (void)close(*claim);
    }
}

void claim_drop(const struct folder *dir, uint64_t hash, int claim)
{
    char name[NAME_BYTES];

    if (claim == CLAIM_NONE)
        return;
    name_claim(hash, name);
    (void)unlinkat(folder_handle(dir), name, 0);
    (void)close(claim);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * mend.h - reading goes on after an error, so that all errors are reported at
 * once.
 *
 * Readers stop at their first error.  The tree is then repaired at the place of
 * the error, and read again from its beginning: an unknown key becomes its
 * nearest spelling or is removed, a wrong value becomes one that its key
 * allows, what cannot be repaired is removed.  Readers need no code for this.
 *
 * Errors that only follow from an earlier one are not reported: an error at or
 * around a repaired place, one that names what was removed, and, in a map with
 * a replaced value, all but the errors of its key tables.  So every error that
 * is reported is the user's; some may be reported only at the next reading.
 */
#ifndef SIM_CONFIG_MEND_H
#define SIM_CONFIG_MEND_H

#include <stdbool.h>
#include <stddef.h>

#include "sim/config/conf.h"

#define CONF_MEND_TOLD_MAX      20      /* errors that are reported at once */
#define CONF_MEND_ROUNDS_MAX    100     /* repairs: a bound on the time */

struct conf_mend {
    struct arena *arena;        /* of the caller: repaired trees live there */
    const struct conf_node *root;       /* what to read next */
    /* A map of working values, for keys of the root and of the maps below it
     * which cannot be read and must be there; NULL: none.  Nobody sees it. */
    const struct conf_node *stock;
    /* A key of the root against which other keys are checked, as jobs are
     * against the cluster; NULL: none.  Once it is repaired, it is not what the
     * user meant, so that what does not fit it is no error of the others: the
     * stock's value stands for it.  `ground_words`, ending with NULL, are words
     * of the messages that something does not fit. */
    const char *ground;
    const char *const *ground_words;
    struct err *found;                  /* room for all rounds */
    size_t found_count;         /* errors of all rounds, each once */
    size_t round_count;                 /* repairs so far */
    const char **gone;                  /* words that were taken out */
    size_t gone_count, gone_room;
};

/* Keeps the error, or forgets it as a consequence, and repairs the root.
 * True: read the root anew, err is empty.  False: nothing can be repaired;
 * end. */
bool conf_mend_next(struct conf_mend *mend, struct err *err);

/* The first error in the file's order goes to err, with the others behind it
 * (err.next), 20 of them at most.  True: there was none. */
bool conf_mend_end(struct conf_mend *mend, struct err *err);

/* All of it: `read` is called with `self` and mend->root until it succeeds or
 * nothing can be repaired.  True: there was no error, and what was read may
 * be used. */
bool conf_mend_read(struct conf_mend *mend,
                    bool (*read)(void *self, const struct conf_node *root,
                                 struct err *err),
                    void *self, struct err *err);

#endif

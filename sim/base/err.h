/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * err.h - what went wrong, and where in the user's own file.
 *
 * A function that can fail for the user's reasons returns bool and takes a
 * struct err last.  It fills the err at most once (the first failure wins),
 * prints nothing, and leaves its other outputs untouched.  Programmer errors
 * are assertions, never errs.
 */
#ifndef SIM_BASE_ERR_H
#define SIM_BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum err_kind {
    ERR_NONE,
    ERR_USAGE,      /* a command-line argument */
    ERR_IO,         /* a file could not be read or written */
    ERR_SYNTAX,     /* the file is not YAML, SWF or CSV */
    ERR_SCHEMA,     /* a key is missing, unrecognized, twice, or mistyped */
    ERR_RANGE,      /* a value is outside what its key allows */
    ERR_REFERENCE,  /* a name refers to nothing */
    ERR_POLICY,     /* a policy broke its contract */
    ERR_LIMIT,      /* a run hit a stated limit: events, time, memory */
    ERR_INTERRUPTED,    /* the user stopped it; what was finished is kept */
    ERR_BUG         /* our fault: an audit found the books do not balance */
};

/* A place in a file the user wrote.  Lines and columns count from 1; line 0
 * means "no place", as for an error about the file as a whole. */
struct err_pos {
    const char *file;   /* lives as long as the experiment's arena */
    uint32_t line;
    uint32_t col;
};

/* Which part of a file is wrong, if a key table knows it.  A reader that goes
 * on after the error repairs just that part (sim/config/mend.h). */
enum err_fault {
    FAULT_OTHER,
    FAULT_KEY,          /* the key at pos is not known */
    FAULT_VALUE,        /* the value at pos, or around it, is not of its type or
                           range */
    FAULT_MISSING       /* the map at pos lacks `key` */
};

struct err {
    enum err_kind kind;         /* decides the exit status */
    struct err_pos pos;         /* where the user can mend it */
    char text[240];     /* telegram style: no capital, no full stop */
    char hint[1200];    /* whole sentences, or empty */
    enum err_fault fault;       /* for readers that go on after an error: mend.h */
    const char *key;    /* of FAULT_MISSING: the table's own text */
    /* Further errors of the same file, in its order; NULL: no more.  They
     * live as long as the experiment's arena. */
    const struct err *next;
    uint32_t more;      /* in the last one: number of errors not kept */
};

/* Fill the text, and the hint that goes with it, by a format.  The first call
 * wins; later ones change nothing.  err_hint() needs an err that is set.  Both
 * always return false, so that a caller may write `return err_set(...)`. */
bool err_set(struct err *err, enum err_kind kind, struct err_pos pos,
             const char *fmt, ...) __attribute__((format(printf, 4, 5)));
bool err_hint(struct err *err, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds a hint why a file is not there: its path has backslashes, from another
 * system; `otherwise` is the hint for a path without them.  Returns false. */
bool err_hint_path(struct err *err, const char *path, const char *otherwise);

/* Writes "file:line:col: kind: text", the source line with a caret, and the
 * hint, each on a line of its own, into out.  Returns the bytes that all of it
 * needs, as snprintf does.  The column counts characters, not bytes. */
size_t err_format(const struct err *err, char *out, size_t out_bytes);
/* As err_format(), for an experiment that was read from memory: if the error is in `file`, its
 * line is taken from `text`, also where a file of that name exists.  Both may be NULL. */
size_t err_format_text(const struct err *err, const char *file, const char *text, char *out,
                       size_t out_bytes);

/* Returns the kind's words as they are printed ("range error"): static text. */
const char *err_kind_name(enum err_kind kind);

/* Returns the exit status of the program for this kind (sim/README.md,
 * Errors). */
int err_exit_status(enum err_kind kind);

#endif

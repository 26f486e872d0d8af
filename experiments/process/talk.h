/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * talk.h - another program that is asked line by line, over its stdin and stdout.
 *
 * Nothing here waits for ever: a program that does not read or answer in time is given up.  The
 * program ends with this process, and has stderr to itself: the last of it is kept.
 *
 * A program may stay for several children of this process (fork), one after another:
 * talk_stand() starts it, each child takes it with talk_take() and leaves it with
 * talk_close(), and this process ends it with talk_close() once no child has it.
 */
#ifndef EXPERIMENTS_PROCESS_TALK_H
#define EXPERIMENTS_PROCESS_TALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TALK_LINE_MAX ((size_t)64 << 20)        /* bytes of an answer */
#define TALK_LAST 4u                            /* messages that are kept, cut */
#define TALK_CUT 200u                           /* bytes that are kept of one */

struct talk;

struct talk_plan {
    char *const *word;          /* the program and its arguments, then NULL; looked up
                                   in PATH as seen from the folder */
    const char *folder;         /* to run in */
    int64_t limit_ns;           /* of wall time, for an answer */
    uint64_t memory_bytes;      /* that it may have; 0: as this process */
};

/* Starts the program, with three pipes to it; the caller ends it with
 * talk_close().  NULL: it cannot be started, and `why` (at most why_bytes bytes
 * with its 0) says so, as words that go on behind its name. */
struct talk *talk_open(const struct talk_plan *plan, char *why, size_t why_bytes);
/* As talk_open(), for children of this process to talk to; this process neither sends nor
 * receives.  Returns NULL, too, where the system cannot do that. */
struct talk *talk_stand(const struct talk_plan *plan, char *why, size_t why_bytes);
/* In a child: the program is its own until talk_close(). */
void talk_take(struct talk *talk);
/* In a child: closes its ends of a program that is not for it. */
void talk_drop(struct talk *talk);
/* In the process that started it: has it ended? */
bool talk_has_left(const struct talk *talk);
/* Closes the stdin of the program, before talk_close(). */
void talk_hang_up(struct talk *talk);
/* Ends the program; `leaves`: it may leave by itself for a moment first.  In a child that
 * took it, `leaves` lets it stay.  Accepts NULL. */
void talk_close(struct talk *talk, bool leaves);

/* Keeps the program and this process on one processor, as long as others leave it to
 * them (system.h). */
void talk_keep_together(struct talk *talk);

/* Sets the wall time for answers from now on, in ns; above 0. */
void talk_set_limit(struct talk *talk, int64_t limit_ns);

/* Begins an exchange of several messages, such as one decision, which together may
 * take as long as one answer. */
void talk_begin(struct talk *talk);
/* Has the exchange taken longer than that?  Then `why` says so, of the program. */
bool talk_is_over(const struct talk *talk, char *why, size_t why_bytes);

/* Sends a line of `bytes` bytes, which ends with '\n' and has no other.  Waits
 * until the program has taken it, at most limit_ns.  False: talk_why() says why. */
bool talk_send(struct talk *talk, const char *line, size_t bytes);
/* Returns the next line without its '\n', ended by NUL, good until the next call;
 * stores its length.  The time for it began with talk_send().  NULL: talk_why()
 * says why, and the talk can only be closed. */
char *talk_receive(struct talk *talk, size_t *bytes);
/* True: something was sent beyond the line that was received last. */
bool talk_has_more(const struct talk *talk);

/* Returns what went wrong, as "gave no answer within 60 s": words that go on
 * behind the program's name.  Only after a failure. */
const char *talk_why(const struct talk *talk);
/* Returns the last lines that the program wrote to stderr, " | " between them,
 * cut; good until the next call. */
const char *talk_stderr(struct talk *talk);
/* Returns one of the last messages of both sides, oldest first, cut to TALK_CUT
 * bytes: i below TALK_LAST; NULL: there is none.  It begins with "> " if it went
 * to the program, else with "< ". */
const char *talk_last(const struct talk *talk, uint32_t i);

#endif

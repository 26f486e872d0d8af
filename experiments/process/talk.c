/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * talk.c - three pipes to a program, and poll.
 *
 * Pipes, since the cost of a message is that of waking its reader: on one processor
 * 6 us there and back, on two that sleep 40 to 60, whatever carries the bytes.
 *
 * All three pipes are non-blocking on our side, and every wait is a poll() with a limit
 * that also empties stderr: a program that writes much there would else wait for us
 * while we wait for it.  spawn.c starts the program.
 *
 * Invariant of the buffer: bytes [from, used) were received and not returned yet; a line
 * that was returned is overwritten only by the next talk_receive().
 */
#include "experiments/process/talk.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "experiments/process/spawn.h"
#include "experiments/process/system.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

#define SAID_BYTES 4096u        /* of stderr that are kept */
#define SAID_TOLD 300u          /* ... and told */
#define SAID_BLOCKS 1024u       /* of 1 KiB, at once: a pipe holds 64, or 1 MiB */
#define LEAVE_MS 1000           /* to leave by itself */
#define SLACK 64u               /* bytes behind a line that may be read */

struct talk {
    pid_t pid;                  /* of the program */
    int in, out, said_fd;       /* to its stdin (-1: closed), from its stdout and stderr */
    bool taken;                 /* the parent of this process started it */
    bool stands;                /* for children; no signal is handled here */
    int64_t limit_ns;           /* of wall time, for an answer; */
    int64_t due_ns, over_ns;    /* ... when this one, and this exchange, is late */
    char *buffer;               /* of what it sends: [from, used) is unread */
    size_t from, used, room;
    char said[SAID_BYTES];
    size_t said_bytes;
    char told[SAID_TOLD];       /* what talk_stderr() returned */
    char last[TALK_LAST][TALK_CUT + 3]; /* a ring: message n is in n % TALK_LAST */
    uint64_t messages;          /* of both sides, so far */
    char why[160];              /* what went wrong; empty: nothing yet */
    struct sigaction pipe_before;       /* SIGPIPE, as it was */
    struct system_pair *pair;   /* NULL: both run where they like */
};

/* Wall time, for limits alone: it never reaches results. */
static int64_t wall_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* Keeps the beginning of a message in a ring, for the report on a program that
 * went wrong. */
static void keep_last(struct talk *talk, char mark, const char *line, size_t bytes)
{
    char *last = talk->last[talk->messages++ % TALK_LAST];

    if (bytes > TALK_CUT)
        bytes = TALK_CUT;
    last[0] = mark;
    last[1] = ' ';
    memcpy(last + 2, line, bytes);
    last[2 + bytes] = '\0';
}

/* ---- begin and end ---- */

/* Returns a talk with a program that was started, or NULL, with `why`. */
static struct talk *make_talk(const struct talk_plan *plan, char *why, size_t why_bytes)
{
    struct spawned child;
    struct talk *talk;

    if (!spawn_start(plan, &child, why, why_bytes))
        return NULL;
    talk = arena_resize_own(NULL, 1, sizeof *talk);
    *talk = (struct talk){
        .pid = child.pid, .in = child.in, .out = child.out, .said_fd = child.said,
        .limit_ns = plan->limit_ns, .due_ns = clock_after(wall_ns(), plan->limit_ns),
        .room = 1 << 16,
    };
    talk->buffer = arena_resize_own(NULL, talk->room, 1);
    (void)fcntl(talk->in, F_SETFL, O_NONBLOCK);
    (void)fcntl(talk->out, F_SETFL, O_NONBLOCK);
    (void)fcntl(talk->said_fd, F_SETFL, O_NONBLOCK);
    return talk;
}

/* SIGPIPE is ignored while a talk is open: a program that left is seen by write()
 * returning EPIPE. */
static void ignore_pipe(struct talk *talk)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN };

    sigaction(SIGPIPE, &ignore, &talk->pipe_before);
}

struct talk *talk_open(const struct talk_plan *plan, char *why, size_t why_bytes)
{
    struct talk *talk = make_talk(plan, why, why_bytes);

    if (talk != NULL)
        ignore_pipe(talk);
    return talk;
}

struct talk *talk_stand(const struct talk_plan *plan, char *why, size_t why_bytes)
{
    struct talk *talk = NULL;

    if (system_sees_others())
        talk = make_talk(plan, why, why_bytes);
    else
        snprintf(why, why_bytes, "cannot stay for several processes on this system");
    if (talk != NULL)
        talk->stands = true;
    return talk;
}

static void read_said(struct talk *talk);

void talk_take(struct talk *talk)
{
    assert(talk->stands && !talk->taken && talk->used == 0);
    talk->taken = true;
    talk->stands = false;
    read_said(talk);            /* what it wrote for others */
    talk->said_bytes = 0;
    ignore_pipe(talk);
}

/* *status: as of waitpid(). */
static bool has_ended(const struct talk *talk, int *status)
{
    siginfo_t info = { 0 };

    if (talk->taken)
        return system_has_ended(talk->pid, status);
    if (waitid(P_PID, (id_t)talk->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 ||
        info.si_pid != talk->pid)
        return false;
    *status = info.si_code == CLD_EXITED ? info.si_status << 8 : info.si_status;
    return true;
}

static bool has_left(const struct talk *talk)
{
    int status;

    return has_ended(talk, &status);
}

bool talk_has_left(const struct talk *talk)
{
    return has_left(talk);
}

void talk_hang_up(struct talk *talk)
{
    if (talk->in >= 0)
        close(talk->in);
    talk->in = -1;
}

/* Kills the program and its group; `leaves`: after it had LEAVE_MS to leave by itself. */
static void end_program(struct talk *talk, bool leaves)
{
    for (int ms = 0; leaves && ms < LEAVE_MS && !has_left(talk); ms++)
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    (void)kill(-talk->pid, SIGKILL);
    (void)kill(talk->pid, SIGKILL);
    if (!talk->taken)
        spawn_collect(talk->pid);
}

void talk_drop(struct talk *talk)
{
    talk_hang_up(talk);
    close(talk->out);
    close(talk->said_fd);
    system_pair_free(talk->pair);
    if (!talk->stands)
        sigaction(SIGPIPE, &talk->pipe_before, NULL);
    free(talk->buffer);
    free(talk);
}

/* Closing its stdin tells it to leave.  Then the group is killed, and the program
 * by itself too, in case it never reached setpgid(). */
void talk_close(struct talk *talk, bool leaves)
{
    if (talk == NULL)
        return;
    assert(talk->pid > 0);
    talk_hang_up(talk);
    if (!talk->taken || !leaves)
        end_program(talk, leaves);
    talk_drop(talk);
}

void talk_keep_together(struct talk *talk)
{
    assert(talk->pair == NULL);
    talk->pair = system_pair_new(talk->pid);
}

void talk_set_limit(struct talk *talk, int64_t limit_ns)
{
    assert(limit_ns > 0);
    talk->limit_ns = limit_ns;
}

void talk_begin(struct talk *talk)
{
    talk->over_ns = clock_after(wall_ns(), talk->limit_ns);
}

bool talk_is_over(const struct talk *talk, char *why, size_t why_bytes)
{
    if (wall_ns() <= talk->over_ns)
        return false;
    snprintf(why, why_bytes, "goes on with one decision for %g s of wall time",
             1e-9 * (double)talk->limit_ns);
    return true;
}

/* ---- what it says on stderr ---- */

/* Reads what stderr has now, and keeps the last SAID_BYTES of it.  At most what a pipe
 * holds, for a program may write faster than this reads. */
static void read_said(struct talk *talk)
{
    char block[1024];
    ssize_t got;

    for (unsigned i = 0; i < SAID_BLOCKS; i++) {
        got = read(talk->said_fd, block, sizeof block);
        if (got <= 0)
            return;
        size_t bytes = (size_t)got, over = talk->said_bytes + bytes;

        over = over > SAID_BYTES ? over - SAID_BYTES : 0;
        memmove(talk->said, talk->said + over, talk->said_bytes - over);
        talk->said_bytes -= over;
        memcpy(talk->said + talk->said_bytes, block, bytes);
        talk->said_bytes += bytes;
    }
}

/* Whole lines from the end, about half of the room, so that separators fit. */
const char *talk_stderr(struct talk *talk)
{
    size_t n = 0, bytes, from;

    read_said(talk);
    bytes = talk->said_bytes;
    while (bytes > 0 && talk->said[bytes - 1] == '\n')
        bytes--;
    from = bytes > SAID_TOLD / 2 ? bytes - SAID_TOLD / 2 : 0;
    while (from > 0 && from < bytes && talk->said[from - 1] != '\n')
        from++;                 /* whole lines */
    if (from == bytes && bytes > SAID_TOLD / 2)
        from = bytes - SAID_TOLD / 2;
    for (size_t i = from; i < bytes && n + 4 < sizeof talk->told; i++) {
        if (talk->said[i] != '\n')
            talk->told[n++] = talk->said[i];
        else
            n += (size_t)snprintf(talk->told + n, 4, " | ");
    }
    talk->told[n] = '\0';
    return talk->told;
}

const char *talk_last(const struct talk *talk, uint32_t i)
{
    uint64_t first = talk->messages < TALK_LAST ? 0 : talk->messages - TALK_LAST;

    return first + i < talk->messages ? talk->last[(first + i) % TALK_LAST] : NULL;
}

const char *talk_why(const struct talk *talk)
{
    assert(talk->why[0] != '\0');
    return talk->why;
}

/* ---- lines ---- */

/* False, with `why`: the time for an answer is over. */
static bool fail_late(struct talk *talk, const char *what)
{
    snprintf(talk->why, sizeof talk->why, "%s within %g s of wall time", what,
             1e-9 * (double)talk->limit_ns);
    return false;
}

/* False, with `why`: the program closed its stdin or stdout; says how it ended, if
 * it does within 0.2 s. */
static bool fail_ended(struct talk *talk)
{
    int status;

    for (int ms = 0; ms < 200 && !has_left(talk); ms++)
        nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
    read_said(talk);
    if (!has_ended(talk, &status))
        snprintf(talk->why, sizeof talk->why, "closed its stdin or stdout and goes on");
    else if (WIFEXITED(status))
        snprintf(talk->why, sizeof talk->why, "ended with status %d before `end`",
                 WEXITSTATUS(status));
    else
        snprintf(talk->why, sizeof talk->why, "was ended by a signal (%s)",
                 strsignal(WTERMSIG(status)));
    return false;
}

/* Waits until the descriptor is ready, and reads stderr meanwhile.  False: it is
 * not ready in time, or the program has left, and only what it started holds the
 * other end.  Polls at least every 0.2 s, to see that. */
static bool wait_until_ready(struct talk *talk, int fd, short event)
{
    for (;;) {
        struct pollfd look[2] = { { fd, event, 0 }, { talk->said_fd, POLLIN, 0 } };
        int64_t left_ns = talk->due_ns - wall_ns();
        int got = left_ns <= 0 ? 0 : poll(look, 2, (int)(left_ns / 1000000 < 200
                                                        ? left_ns / 1000000 + 1 : 200));

        if (got > 0 && (look[1].revents & POLLIN) != 0)
            read_said(talk);
        else if (got > 0 && look[1].revents != 0 && look[0].revents == 0)
            nanosleep(&(struct timespec){ 0, 1000000 }, NULL);  /* stderr is closed */
        if (got > 0 && look[0].revents != 0)
            return true;
        if (got == 0 && (left_ns <= 0 || has_left(talk)))
            return false;
    }
}

/* The time for the answer begins here.  A pipe takes 64 KiB at once; a longer line
 * waits for its reader. */
bool talk_send(struct talk *talk, const char *line, size_t bytes)
{
    int64_t now_ns;

    assert(bytes > 0 && line[bytes - 1] == '\n');
    keep_last(talk, '>', line, bytes - 1);
    now_ns = wall_ns();
    talk->due_ns = clock_after(now_ns, talk->limit_ns);
    if (talk->pair != NULL)
        system_pair_look(talk->pair, now_ns);
    while (bytes > 0) {
        ssize_t put = write(talk->in, line, bytes);

        if (put > 0) {
            line += put;
            bytes -= (size_t)put;
        } else if (errno == EAGAIN) {
            if (!wait_until_ready(talk, talk->in, POLLOUT))
                return has_left(talk) ? fail_ended(talk)
                     : fail_late(talk, "did not read what it was sent");
        } else if (errno != EINTR) {
            return fail_ended(talk);
        }
    }
    return true;
}

/* Moves the unread bytes to the front, and doubles the buffer if less than 4 KiB
 * are left behind them.  Only from talk_receive(), which has no line out. */
static void make_room(struct talk *talk)
{
    if (talk->from > 0) {
        memmove(talk->buffer, talk->buffer + talk->from, talk->used - talk->from);
        talk->used -= talk->from;
        talk->from = 0;
    }
    if (talk->used + 4096 < talk->room)
        return;
    talk->room *= 2;
    talk->buffer = arena_resize_own(talk->buffer, talk->room, 1);
}

/* `seen` remembers how far no line's end was found, so that a long line is
 * searched once. */
char *talk_receive(struct talk *talk, size_t *bytes)
{
    size_t seen = 0;            /* of the unread bytes: no '\n' among them */

    for (;;) {
        char *line = talk->buffer + talk->from;
        char *end = memchr(line + seen, '\n', talk->used - talk->from - seen);
        ssize_t got;

        if (end != NULL) {
            *end = '\0';
            *bytes = (size_t)(end - line);
            talk->from += *bytes + 1;
            keep_last(talk, '<', line, *bytes);
            return line;
        }
        seen = talk->used - talk->from;
        if (seen > TALK_LINE_MAX) {
            keep_last(talk, '<', line, seen);
            snprintf(talk->why, sizeof talk->why, "sends a line of more than %zu MB",
                     TALK_LINE_MAX >> 20);
            return NULL;
        }
        if (!wait_until_ready(talk, talk->out, POLLIN)) {
            if (has_left(talk))
                (void)fail_ended(talk);
            else
                (void)fail_late(talk, seen > 0 ? "did not end its line" : "gave no answer");
            return NULL;
        }
        make_room(talk);
        got = read(talk->out, talk->buffer + talk->used, talk->room - talk->used - SLACK);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR)) {
            (void)fail_ended(talk);
            return NULL;
        }
        talk->used += got > 0 ? (size_t)got : 0;
    }
}

bool talk_has_more(const struct talk *talk)
{
    return talk->from < talk->used;
}

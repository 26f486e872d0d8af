/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * isolate.c - fork, a shared page, and the process's end.
 *
 * The child is a fork, so the function sees all data of the parent as it was;
 * it writes its result into an anonymous page that both share.  Its stderr goes
 * through a pipe, so that an assertion that ended it can be told in the
 * message.
 *
 * The child leads a process group of its own: what it starts ends with it, by
 * one kill of the group.  A group is set by parent and child both, as nobody
 * knows which runs first.
 *
 * isolate_kill() comes from another thread.  Invariant, under the lock: pid is
 * a process that was not waited for yet, so its number cannot be another
 * process's; wait_for_child() therefore waits in two steps (WNOWAIT, then forget the
 * number, then collect).
 */
#define _DEFAULT_SOURCE         /* MAP_ANONYMOUS */
#include "experiments/process/isolate.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "experiments/process/system.h"
#include "sim/base/arena.h"
#include "sim/text/paths.h"

#define SAID_BLOCKS 256u        /* of 4 KiB: a pipe holds 64 KiB, or 1 MiB */

struct isolate {
    void *page;                 /* shared with the child */
    size_t page_bytes;          /* with `returned` */
    volatile int *returned;     /* in the page, behind what its users have: 1 once the
                                   function has returned */
    uint64_t memory_bytes;      /* 0: no limit */
    const struct isolate_fork *fork;    /* NULL: nobody is told */
    double limit_s;             /* what the child is told: isolate_tell() */
    pthread_mutex_t *gate;      /* NULL: none */
    pthread_mutex_t lock;       /* of what follows */
    pid_t pid;                  /* 0: nothing runs */
    bool killed;                /* by isolate_kill(), since it runs */
};

struct isolate *isolate_new(size_t page_bytes, uint64_t memory_bytes)
{
    struct isolate *isolate = arena_resize_own(NULL, 1, sizeof *isolate);

    size_t at = (page_bytes + sizeof(max_align_t) - 1) / sizeof(max_align_t) *
                sizeof(max_align_t);

    assert(page_bytes > 0);
    *isolate = (struct isolate){ .page_bytes = at + sizeof *isolate->returned,
                                 .memory_bytes = memory_bytes };
    isolate->page = mmap(NULL, isolate->page_bytes, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (isolate->page == MAP_FAILED)
        arena_run_out();
    isolate->returned = (volatile int *)(void *)((char *)isolate->page + at);
    pthread_mutex_init(&isolate->lock, NULL);
    return isolate;
}

void isolate_tell(struct isolate *isolate, const struct isolate_fork *fork, double limit_s)
{
    isolate->fork = fork;
    isolate->limit_s = limit_s;
}

void isolate_set_gate(struct isolate *isolate, pthread_mutex_t *gate)
{
    isolate->gate = gate;
}

void *isolate_page(const struct isolate *isolate)
{
    return isolate->page;
}

void isolate_free(struct isolate *isolate)
{
    if (isolate == NULL)
        return;
    assert(isolate->pid == 0);
    pthread_mutex_destroy(&isolate->lock);
    (void)munmap(isolate->page, isolate->page_bytes);
    free(isolate);
}

/* Lowers the soft limit; never raises one that the user has set. */
static void set_limit(int resource, rlim_t most)
{
    struct rlimit limit;

    if (getrlimit(resource, &limit) == 0 && limit.rlim_cur > most) {
        limit.rlim_cur = most;
        (void)setrlimit(resource, &limit);
    }
}

void isolate_limit_cpu(unsigned seconds)
{
    set_limit(RLIMIT_CPU, seconds);
}

/* A sanitizer reserves more addresses than any machine has memory. */
void isolate_limit_memory(uint64_t bytes)
{
    set_limit(RLIMIT_CORE, 0);
    if (bytes > 0 && !system_is_sanitized())
        set_limit(RLIMIT_AS, (rlim_t)bytes);
}

/* The child.  Signals go back to their defaults, stderr into the pipe
 * (non-blocking: what is too long is lost), no core files; then the function, then
 * the end. _exit(), since buffers and exit handlers are the parent's. */
static _Noreturn void run_child(const struct isolate *isolate, pid_t parent, int said_fd,
                                void (*function)(void *self), void *self)
{
    /* The parent may handle these signals.  Here a fault must end the process. */
    static const int faults[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
    struct sigaction usual = { .sa_handler = SIG_DFL };

    system_end_with_parent();
    if (getppid() != parent)
        _exit(1);
    (void)setpgid(0, 0);        /* what it starts ends with it */
    if (said_fd >= 0) {
        (void)fcntl(said_fd, F_SETFL, O_NONBLOCK);      /* what is too long is lost */
        (void)dup2(said_fd, 2);
    }
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        sigaction(faults[i], &usual, NULL);
    isolate_limit_memory(isolate->memory_bytes);
    function(self);
    *isolate->returned = 1;
    _exit(0);
}

/* Waits for the end and stores the status of waitpid().  The number of the process is
 * forgotten before the system may give it to another one.  False: the status is lost, as
 * SIGCHLD is ignored, or another thread waits for any process. */
static bool wait_for_child(struct isolate *isolate, pid_t pid, int *status)
{
    siginfo_t info;
    pid_t got;

    while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        continue;
    (void)kill(-pid, SIGKILL);  /* processes of its own that it left */
    pthread_mutex_lock(&isolate->lock);
    isolate->pid = 0;
    pthread_mutex_unlock(&isolate->lock);
    while ((got = waitpid(pid, status, 0)) < 0 && errno == EINTR)
        continue;
    return got == pid;
}

/* What became of the process.  That the function has returned, it says by itself: a
 * process that ended well may have left in its midst, and `known` may be false. */
static void judge_end(const struct isolate *isolate, bool known, int status,
                      struct isolate_end *end)
{
    end->killed = isolate->killed;
    end->lost = !known;
    end->signal = known && WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    end->status = known && WIFEXITED(status) ? WEXITSTATUS(status) : 0;
    end->done = *isolate->returned != 0 && end->signal == 0 && end->status == 0;
}

/* fork() while no other thread holds the gate; the child unlocks its copy, too. */
static pid_t fork_at_gate(const struct isolate *isolate)
{
    pid_t pid;

    if (isolate->gate != NULL)
        pthread_mutex_lock(isolate->gate);
    pid = fork();
    if (isolate->gate != NULL)
        pthread_mutex_unlock(isolate->gate);
    return pid;
}

/* fork() between what must be told of it. */
static pid_t fork_told(const struct isolate *isolate)
{
    const struct isolate_fork *told = isolate->fork;
    pid_t pid;

    if (told == NULL)
        return fork_at_gate(isolate);
    told->before(told->self);
    pid = fork_at_gate(isolate);
    if (pid == 0)
        told->in_child(told->self, isolate->limit_s);
    else
        told->in_parent(told->self);
    return pid;
}

/* Passes on what the process wrote to stderr.  Of a process that ended itself (SIGABRT),
 * or may have, the last line is kept, cut to the room that there is. */
static void read_said(int fd, struct isolate_end *end)
{
    char block[4096];
    ssize_t got;
    size_t used = 0;

    (void)fcntl(fd, F_SETFL, O_NONBLOCK);
    /* What it started may live on, and write faster than this reads. */
    for (unsigned n = 0; n < SAID_BLOCKS; n++) {
        got = read(fd, block, sizeof block);
        if (got <= 0)
            break;
        (void)!write(2, block, (size_t)got);
        for (ssize_t i = 0; i < got; i++) {
            if (used > 0 && end->said[used - 1] == '\n')
                used = 0;
            if (used + 1 < sizeof end->said || block[i] == '\n')
                end->said[used < sizeof end->said - 1 ? used++ : used - 1] = block[i];
        }
    }
    while (used > 0 && end->said[used - 1] == '\n')
        used--;
    end->said[end->signal == SIGABRT || end->lost ? used : 0] = '\0';
}

/* The lock is held over fork(), so that a kill before the number is known is not
 * lost; all pipes are closed on every way out. */
struct isolate_end isolate_run(struct isolate *isolate, void (*function)(void *self),
                               void *self)
{
    struct isolate_end end = { .status = -1 };
    pid_t parent = getpid(), pid;
    int status = 0, said[2];
    bool known = false;

    if (!system_pipe(said))
        said[0] = said[1] = -1;
    pthread_mutex_lock(&isolate->lock);
    assert(isolate->pid == 0);
    isolate->killed = false;
    *isolate->returned = 0;
    pid = fork_told(isolate);
    if (pid == 0)
        run_child(isolate, parent, said[1], function, self);
    if (pid > 0)
        (void)setpgid(pid, pid);        /* also here: either may run first */
    isolate->pid = pid > 0 ? pid : 0;
    pthread_mutex_unlock(&isolate->lock);
    if (pid >= 0)
        known = wait_for_child(isolate, pid, &status);
    if (said[1] >= 0)
        close(said[1]);
    if (pid < 0) {
        if (said[0] >= 0)
            close(said[0]);
        return end;
    }
    judge_end(isolate, known, status, &end);
    if (said[0] >= 0) {
        read_said(said[0], &end);
        close(said[0]);
    }
    return end;
}

void isolate_kill(struct isolate *isolate)
{
    pthread_mutex_lock(&isolate->lock);
    if (isolate->pid != 0) {
        isolate->killed = true;
        (void)kill(-isolate->pid, SIGKILL);
    }
    pthread_mutex_unlock(&isolate->lock);
}

/* Words that go on behind the name of a policy.  SIGXCPU is what
 * isolate_limit_cpu() leads to. */
const char *isolate_why(struct arena *arena, const struct isolate_end *end)
{
    if (end->status == -1)
        return "got no process of its own";
    if (end->killed)
        return "was ended";
    if (end->lost && strstr(end->said, "Assertion") == NULL)
        return "ended its process, and how is not known (SIGCHLD is ignored, or another thread "
               "waits for all processes)";
    if ((end->signal == SIGABRT || end->lost) && strstr(end->said, "Assertion") != NULL)
        return text_format(arena, "ended itself: %.150s", end->said);
    if (end->signal == SIGABRT)
        return "ended itself (an assertion, or no memory)";
    if (end->signal == SIGXCPU)
        return "does not come to an end";
    if (end->signal != 0)
        return text_format(arena, "crashed (%s)", strsignal(end->signal));
    return text_format(arena, "left its process with status %d", end->status);
}

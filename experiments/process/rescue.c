/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * rescue.c - a handler of signals that knows its thread by the stack on which it runs.
 *
 * There is no variable of the program: a handler is told nothing but the signal, and the
 * stack on which it runs begins with what it needs.  It calls only functions that POSIX
 * allows in a handler, and sigaltstack(), which is a system call like them.
 */
#define _XOPEN_SOURCE 700       /* sigaltstack */

#include "experiments/process/rescue.h"

#include <assert.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "experiments/process/self.h"
#include "experiments/process/system.h"
#include "sim/base/arena.h"
#include "sim/text/paths.h"

#define STACK_BYTES ((size_t)1 << 16)
#define MAGIC UINT64_C(0x72657363756520a1)
#define MARK_BYTES 17u          /* 16 digits and the end of the line */

static const int faults[] = { SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL };
#define FAULTS (sizeof faults / sizeof faults[0])

/* At the lowest address of the stack, which grows towards it. */
struct rescue_thread {
    uint64_t magic;             /* tells a stack of ours from any other */
    const struct rescue *rescue;
    bool marked;                /* a trial runs, whose `mark` is noted if it crashes */
    char mark[MARK_BYTES];
    stack_t before;             /* of this thread */
};

struct rescue {
    pid_t process;              /* the one that is armed, not a child of it */
    int folder;                 /* handle of that of the notes, */
    const char *name;           /* ... and their file in it */
    const char *program;        /* NULL: it cannot begin anew */
    char *const *argv;
    char *stack;                /* [threads][STACK_BYTES] */
    uint32_t threads;
    struct sigaction before[FAULTS];
};

_Static_assert(sizeof(struct rescue_thread) < STACK_BYTES / 8, "the rest is the stack");

/* Writes to stderr by write() alone, as a handler may. */
static void say(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

/* Returns the thread that runs on this stack; NULL: none of a rescue. */
static const struct rescue_thread *this_thread(void)
{
    stack_t stack;
    const struct rescue_thread *thread;

    if (sigaltstack(NULL, &stack) != 0 || (stack.ss_flags & SS_DISABLE) != 0 ||
        stack.ss_size != STACK_BYTES)
        return NULL;
    thread = stack.ss_sp;
    return thread->magic == MAGIC ? thread : NULL;
}

/* Appends the mark to the notes.  False: it is not there, or not whole, so the program
 * must not begin anew: the same trial would crash it again. */
static bool write_mark(const struct rescue_thread *thread)
{
    const struct rescue *rescue = thread->rescue;
    int file = openat(rescue->folder, rescue->name,
                      O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    bool written = file >= 0 && write(file, thread->mark, MARK_BYTES) == MARK_BYTES;

    if (file >= 0)
        close(file);
    return written;
}

/* The signal ends a process again, and none waits. */
static void set_usual(int number)
{
    struct sigaction usual;
    sigset_t none;

    memset(&usual, 0, sizeof usual);
    usual.sa_handler = SIG_DFL;
    (void)sigaction(number, &usual, NULL);
    sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
}

/* A child is what a trial runs in, and ends as a process does by that signal. */
static void end_child(int number)
{
    set_usual(number);
    (void)raise(number);
    _exit(70);
}

/* Where the mark was written the trial will not run among others again, so it is
 * for ever that this comes to an end. */
static void on_fault(int number)
{
    const struct rescue_thread *thread = this_thread();

    if (thread != NULL && thread->rescue->process != getpid())
        end_child(number);
    if (thread == NULL || !thread->marked || !write_mark(thread) ||
        thread->rescue->program == NULL) {
        say("clustersim: a bug in the program, or no memory; results that were not "
            "finished are not there\n");
        _exit(70);
    }
    say("\nclustersim: a trial has crashed the program, which begins anew: what has ended is "
        "kept,\nand that trial gets a process of its own\n");
    set_usual(number);
    (void)execv(thread->rescue->program, thread->rescue->argv);
    say("clustersim: it could not begin anew; --resume goes on\n");
    _exit(70);
}

static struct rescue_thread *thread_of(const struct rescue *rescue, uint32_t thread)
{
    assert(thread < rescue->threads);
    return (struct rescue_thread *)(void *)(rescue->stack + thread * STACK_BYTES);
}

struct rescue *rescue_new(struct arena *arena, uint32_t threads, int folder,
                          const char *name, char *const *argv)
{
    struct rescue *rescue = arena_alloc(arena, 1, sizeof *rescue);
    const char *program = self_open_name();

    assert(threads > 0);
    *rescue = (struct rescue){
        .folder = folder, .name = name, .argv = argv, .threads = threads,
        .program = argv == NULL || program == NULL ? NULL : arena_text(arena, program),
        .stack = arena_alloc(arena, threads, STACK_BYTES)
    };
    return rescue;
}

void rescue_arm(struct rescue *rescue)
{
    struct sigaction action;

    rescue->process = getpid();
    memset(&action, 0, sizeof action);
    action.sa_handler = on_fault;
    action.sa_flags = SA_ONSTACK;
    for (size_t i = 0; i < (system_is_sanitized() ? 1 : FAULTS); i++)
        (void)sigaction(faults[i], &action, &rescue->before[i]);
}

void rescue_disarm(struct rescue *rescue)
{
    for (size_t i = 0; i < (system_is_sanitized() ? 1 : FAULTS); i++)
        (void)sigaction(faults[i], &rescue->before[i], NULL);
}

void rescue_enter(struct rescue *rescue, uint32_t thread)
{
    struct rescue_thread *mine = thread_of(rescue, thread);
    stack_t stack = { .ss_sp = mine, .ss_size = STACK_BYTES };

    *mine = (struct rescue_thread){ .magic = MAGIC, .rescue = rescue };
    (void)sigaltstack(&stack, &mine->before);
}

void rescue_leave(struct rescue *rescue, uint32_t thread)
{
    struct rescue_thread *mine = thread_of(rescue, thread);
    stack_t before = mine->before;

    (void)sigaltstack(&before, NULL);
    mine->magic = 0;
}

void rescue_mark(struct rescue *rescue, uint32_t thread, uint64_t number)
{
    static const char digit[] = "0123456789abcdef";
    struct rescue_thread *mine = thread_of(rescue, thread);

    for (unsigned i = 0; i < MARK_BYTES - 1; i++)
        mine->mark[i] = digit[number >> (60 - 4 * i) & 15];
    mine->mark[MARK_BYTES - 1] = '\n';
    mine->marked = true;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * system.c - calls that only Linux has.  Compiled with SYSTEM_PLAIN, or
 * elsewhere, it keeps to POSIX: results are the same, and pairs of processes
 * are slower.
 *
 * A pair is this process and a program that answers it: only one of the two
 * works at any time.  On one processor, a message costs a switch of tasks; on
 * two, the sleeping one must be woken from idle, which takes some ten times as
 * long (measured: talk.c).  So both are confined to one processor, and from
 * time to time system_pair_look() checks in /proc/stat whether others use that
 * processor while another one is idle.
 */
#if defined __linux__ && !defined SYSTEM_PLAIN
#define SYSTEM_LINUX
#define _GNU_SOURCE             /* sched_setaffinity, close_range, pipe2 */
#endif
#include "experiments/process/system.h"

#include <assert.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef SYSTEM_LINUX
#include <dirent.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#endif

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define SANITIZED 1
#elif defined __has_feature
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

bool system_is_sanitized(void)
{
    return SANITIZED;
}

/* Returns the processors that are on, at least 1, whether or not this process may use
 * them. */
static unsigned count_online(void)
{
    long processors = sysconf(_SC_NPROCESSORS_ONLN);

    return processors > 1 ? (unsigned)processors : 1;
}

#ifdef SYSTEM_LINUX
#define LOOK_NS INT64_C(60000000)       /* between looks: six ticks of a usual clock of 100 Hz,
                                           and some more by process */
#define CPUS_MAX 1024u
#define TREE_MAX 64u            /* processes and threads of a program that are moved */

void system_end_with_parent(void)
{
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
}

void system_hide_files(int from)
{
    (void)close_range((unsigned)from, ~0U, CLOSE_RANGE_CLOEXEC);
}

bool system_pipe(int fd[2])
{
    return pipe2(fd, O_CLOEXEC) == 0;
}

unsigned system_processors(void)
{
    cpu_set_t ours;
    int count = sched_getaffinity(0, sizeof ours, &ours) == 0 ? CPU_COUNT(&ours) : 0;

    return count > 0 ? (unsigned)count : count_online();
}

bool system_sees_others(void)
{
    return true;
}

/* The line has a name in brackets, which may hold any character, then 50 fields: the
 * state first, the status last. */
bool system_has_ended(pid_t pid, int *status)
{
    char path[32], line[1024] = "";
    const char *name_end, *last;
    FILE *file;

    assert(pid > 0);
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    *status = 0;
    file = fopen(path, "r");
    if (file == NULL)
        return true;
    name_end = fgets(line, sizeof line, file) == NULL ? NULL : strrchr(line, ')');
    last = strrchr(line, ' ');
    fclose(file);
    if (name_end == NULL || last < name_end + 2 || strchr("ZX", name_end[2]) == NULL)
        return false;
    *status = atoi(last + 1);
    return true;
}

/* ---- pairs ---- */

/* Of a processor, since the system began, in ticks. */
struct ticks {
    int64_t busy, idle;
};

struct system_pair {
    pid_t other;                /* of the program that answers this process */
    cpu_set_t all;              /* where this process might run before */
    int cpu;                    /* that both share now; -1: both run anywhere */
    int64_t look_ns;            /* when to look next; the last look was at since_ns */
    int64_t since_ns, own_ns;   /* own: processor time that both had used by then */
    uint32_t coin;              /* its lowest bit decides whether to move */
    struct ticks before[CPUS_MAX];      /* at since_ns */
};

/* Appends the threads of a process, as far as there is room and /proc has them. */
static void add_threads(pid_t pid, pid_t *tree, uint32_t *count)
{
    char path[64];
    struct dirent *entry;
    DIR *folder;

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    folder = opendir(path);
    while (folder != NULL && (entry = readdir(folder)) != NULL)
        if (entry->d_name[0] != '.' && *count < TREE_MAX)
            tree[(*count)++] = (pid_t)atoi(entry->d_name);
    if (folder != NULL)
        closedir(folder);
}

/* Appends the children of one thread of a process. */
static void add_children(pid_t pid, pid_t thread, pid_t *tree, uint32_t *count)
{
    char path[64];
    FILE *file;
    int child;

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)thread);
    file = fopen(path, "r");
    while (file != NULL && fscanf(file, "%d", &child) == 1)
        if (*count < TREE_MAX)
            tree[(*count)++] = (pid_t)child;
    if (file != NULL)
        fclose(file);
}

/* Restricts all threads of the program, and all processes that it started, to
 * these processors: an interpreter is often the child of a shell.  Breadth first;
 * processes that end meanwhile are skipped by the system. */
static void confine_pair(const struct system_pair *pair, const cpu_set_t *set)
{
    pid_t process[TREE_MAX] = { pair->other };

    (void)sched_setaffinity(0, sizeof *set, set);
    for (uint32_t i = 0, count = 1; i < count; i++) {
        pid_t thread[TREE_MAX] = { process[i] };
        uint32_t threads = 0;

        add_threads(process[i], thread, &threads);
        for (uint32_t t = 0; t < threads; t++) {
            (void)sched_setaffinity(thread[t], sizeof *set, set);
            add_children(process[i], thread[t], process, &count);
        }
    }
}

/* Puts both on one processor; -1, or one that the user did not allow: both stay as
 * they are, and count as free. */
static void move_pair(struct system_pair *pair, int cpu)
{
    cpu_set_t one;

    pair->cpu = -1;
    if (cpu < 0 || cpu >= CPU_SETSIZE || !CPU_ISSET(cpu, &pair->all))
        return;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    confine_pair(pair, &one);
    pair->cpu = cpu;
}

/* Lets the system choose again, for one window. */
static void release_pair(struct system_pair *pair)
{
    if (pair->cpu >= 0)
        confine_pair(pair, &pair->all);
    pair->cpu = -1;
}

/* Returns 0 where the clock cannot be read, as that of a process that has gone. */
static int64_t read_clock_ns(clockid_t clock)
{
    struct timespec time;

    return clock_gettime(clock, &time) == 0
        ? (int64_t)time.tv_sec * 1000000000 + time.tv_nsec : 0;
}

/* Processor time that both have used, with what the other started: it may answer by a
 * copy of itself. */
static int64_t read_own_ns(const struct system_pair *pair)
{
    pid_t process[TREE_MAX] = { pair->other };
    int64_t sum = read_clock_ns(CLOCK_PROCESS_CPUTIME_ID);

    for (uint32_t i = 0, count = 1; i < count; i++) {
        clockid_t clock;

        if (clock_getcpuclockid(process[i], &clock) == 0)
            sum = clock_after(sum, read_clock_ns(clock));
        add_children(process[i], process[i], process, &count);
    }
    return sum;
}

/* Reads what each processor has done since the system began; what is not known
 * stays as it was. */
static void read_ticks(struct ticks *ticks)
{
    FILE *file = fopen("/proc/stat", "r");
    char line[512];

    while (file != NULL && fgets(line, sizeof line, file) != NULL) {
        long long user, nice, kernel, idle, wait, irq, soft, steal;
        unsigned cpu;

        if (strncmp(line, "cpu", 3) != 0)
            break;
        if (sscanf(line, "cpu%u %lld %lld %lld %lld %lld %lld %lld %lld", &cpu, &user, &nice,
                   &kernel, &idle, &wait, &irq, &soft, &steal) == 9 && cpu < CPUS_MAX)
            ticks[cpu] = (struct ticks){ user + nice + kernel + irq + soft + steal,
                                         idle + wait };
    }
    if (file != NULL)
        fclose(file);
}

/* Starts a window of observation.  The coin is a linear congruential step
 * (Numerical Recipes' ranqd1); it decides only which one moves, and no result. */
static void begin_window(struct system_pair *pair, int64_t now_ns)
{
    pair->since_ns = now_ns;
    pair->own_ns = read_own_ns(pair);
    read_ticks(pair->before);
    /* Pairs do not look in step. */
    pair->look_ns = clock_after(now_ns, LOOK_NS + (int64_t)(getpid() % 32) * 1000000);
    pair->coin = pair->coin * 1664525u + 1013904223u;
}

struct system_pair *system_pair_new(pid_t other)
{
    struct system_pair *pair = arena_resize_own(NULL, 1, sizeof *pair);
    struct timespec now;

    memset(pair, 0, sizeof *pair);
    pair->other = other;
    pair->cpu = -1;
    pair->coin = (uint32_t)getpid();
    if (sched_getaffinity(0, sizeof pair->all, &pair->all) == 0)
        move_pair(pair, sched_getcpu());
    clock_gettime(CLOCK_MONOTONIC, &now);
    begin_window(pair, (int64_t)now.tv_sec * 1000000000 + now.tv_nsec);
    return pair;
}

/* Returns the processor that was idle for longest in the window, and for half of
 * it at least; -1: none was. */
static int find_idle(const struct system_pair *pair, const struct ticks *now,
                     int64_t window_ns, int64_t tick_ns)
{
    int64_t most_ns = window_ns / 2;
    int best = -1;

    for (int cpu = 0; cpu < (int)CPUS_MAX && cpu < CPU_SETSIZE; cpu++) {
        int64_t idle_ns = (now[cpu].idle - pair->before[cpu].idle) * tick_ns;

        if (cpu != pair->cpu && CPU_ISSET(cpu, &pair->all) && idle_ns > most_ns) {
            most_ns = idle_ns;
            best = cpu;
        }
    }
    return best;
}

void system_pair_look(struct system_pair *pair, int64_t now_ns)
{
    int64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK), others_ns;
    int64_t window_ns = now_ns - pair->since_ns;
    struct ticks *now;
    int idle;

    if (now_ns < pair->look_ns)
        return;
    if (pair->cpu < 0) {        /* the system has chosen anew */
        move_pair(pair, sched_getcpu());
        begin_window(pair, now_ns);
        return;
    }
    now = arena_resize_own(NULL, CPUS_MAX, sizeof *now);
    memcpy(now, pair->before, sizeof pair->before);
    read_ticks(now);
    others_ns = (now[pair->cpu].busy - pair->before[pair->cpu].busy) * tick_ns -
                (read_own_ns(pair) - pair->own_ns);
    idle = find_idle(pair, now, window_ns, tick_ns);
    free(now);
    /* Others take a fourth of it.  Where another one is idle, the coin lets one of two
     * pairs go there; where none is, the system decides for a while. */
    if (others_ns > window_ns / 4 && idle < 0)
        release_pair(pair);
    else if (others_ns > window_ns / 4 && (pair->coin >> 16 & 1) != 0)
        move_pair(pair, idle);
    begin_window(pair, now_ns);
}

void system_pair_free(struct system_pair *pair)
{
    if (pair == NULL)
        return;
    (void)sched_setaffinity(0, sizeof pair->all, &pair->all);
    free(pair);
}

#else

void system_end_with_parent(void)
{
}

void system_hide_files(int from)
{
    long most = sysconf(_SC_OPEN_MAX);

    for (int fd = from; fd < (most > 0 && most < 4096 ? most : 4096); fd++) {
        int flags = fcntl(fd, F_GETFD);

        if (flags >= 0)
            (void)fcntl(fd, F_SETFD, flags | FD_CLOEXEC);
    }
}

unsigned system_processors(void)
{
    return count_online();
}

bool system_sees_others(void)
{
    return false;
}

bool system_has_ended(pid_t pid, int *status)
{
    (void)pid;
    *status = 0;
    return false;
}

bool system_pipe(int fd[2])
{
    return pipe(fd) == 0 && fcntl(fd[0], F_SETFD, FD_CLOEXEC) == 0 &&
           fcntl(fd[1], F_SETFD, FD_CLOEXEC) == 0;
}

struct system_pair *system_pair_new(pid_t other)
{
    (void)other;
    return NULL;
}

void system_pair_look(struct system_pair *pair, int64_t now_ns)
{
    (void)pair;
    (void)now_ns;
}

void system_pair_free(struct system_pair *pair)
{
    (void)pair;
}

#endif

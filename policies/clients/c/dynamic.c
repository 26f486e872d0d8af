/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * dynamic.c - leases per phase, idle GPUs lent where switching pays: as the built-in
 * dynamic, to the byte.  policies/phases/dynamic.c says why it does what it does.
 *
 *   cc -O2 -ffp-contract=off -o dynamic dynamic.c -lm
 *   policies: [{exec: ./dynamic}]
 *
 * A decision is a conversation: ask_host() sends requests and questions, and reads the
 * message that has their verdicts.
 */
#include <math.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

#define ROLES_MAX 6
#define SITES_MAX 64
#define WANTS_MAX (3 * SITES_MAX)
#define FULL_MAX 16
#define ON_CORES UINT32_MAX     /* the GPU type of a site that is cores */

/* Which other tasks need not be tried after one that was refused: none, those like it until
 * something changes, or all that are like it.  The numbers are those of the protocol. */
enum alike { ALIKE_NONE, ALIKE_AS_LONG, ALIKE_ALL };

/* The kind of a job, by its number: GPUs of each role, 0 of one on cores. */
struct form {
    int64_t gpus[ROLES_MAX];    /* that each role asks for */
    bool on_cores[ROLES_MAX];   /* may the role run on cores in the place of GPUs? */
    int gpu_roles;              /* roles with GPUs */
};

/* A role that waits. */
struct task {
    int64_t job, role, gpus, estimate_ns; /* numbers; GPUs that it asks for; run time by the
                                           * estimate */
    bool held, started;         /* it has an idle lease; its job had a lease before */
};

/* What the host says about a task: its home pools, what its switches cost, and the
 * sites where it could run.  Masks of pools; seconds; a part of a step. */
struct about {
    int64_t home, most_gpus;    /* mask, 0: no home; the most GPUs that it may start on */
    double switch_s, switch_loss; /* seconds to have its GPUs back; switches of a step over the
                                   * step */
    bool settled;               /* the job holds all its leases for its life */
    int64_t pools[SITES_MAX], gpu_type[SITES_MAX];
    int sites;                  /* of pools and gpu_type */
};

/* What a start would bring, in seconds; not found: there is no room. */
struct forecast {
    bool found;
    double run_s, switch_s, evict_s;
};

/* A way to start a task, as the keys of a request, and its forecasts: on free GPUs, on
 * idle leases too, and on those that have been idle for idle_ns. */
struct want {
    char text[100];             /* ,"pools":3,"gpu_type":0 and so on */
    bool away;                  /* outside of its home */
    struct forecast free, taken, later;
    int64_t idle_ns;            /* how long leases must have been idle to be taken */
};

/* The best want so far, and when it would be over. */
struct choice {
    char want[160];             /* the keys of the request */
    double over_s;              /* from now */
    bool found, held, holds, away, spares, room;
};

/* Tasks of one kind, which are refused alike. */
struct kind {
    int64_t form, role, gpus;   /* what a task is alike by */
};

/* All state of the program, which plays one trial.  Tables grow and are never freed. */
static struct {
    bool lend;
    double gain_min, lend_max, release_max;
    char *line;                 /* the message */
    size_t line_room;
    int64_t n;
    struct form *form;
    size_t form_room;
    int64_t *form_of;           /* by job */
    size_t job_room;
    struct task *wait;          /* what waits, in no order */
    size_t waits, wait_room;
    int64_t free;               /* GPUs, those of idle leases included */
    char out[1 << 16];          /* the answer, as far as it is written */
    size_t used;
    struct task asked[1024];    /* what the items of `do` would start: job -1 none */
    int asked_count;
    const char *verdicts;       /* of the message: its list, or NULL */
    char wakes[4096];           /* requests that follow a choice */
    int wake_count;
    struct kind full[FULL_MAX];
    int full_count;
} c;

/* Grows a table until it has the item, and fills what is new with zeros. */
static void *reach_item(void *items, size_t at, size_t *room, size_t bytes)
{
    size_t before = *room;

    if (at < before)
        return items;
    *room = 2 * at + 64;
    items = realloc(items, *room * bytes);
    if (items == NULL)
        abort();
    memset((char *)items + before * bytes, 0, (*room - before) * bytes);
    return items;
}

/* Reads a number; the cursor must stand on it. */
static double read_real(const char **at)
{
    char *end;
    double value = strtod(*at, &end);

    *at = end;
    return value;
}

/* Reads true or false. */
static bool read_bool(const char **at)
{
    bool value = **at == 't';

    *at = skip_value(*at);
    return value;
}

/* ---- what waits ---- */

/* Returns a task that waits; NULL: it does not.  O(waits). */
static struct task *find_task(int64_t job, int64_t role)
{
    for (size_t i = 0; i < c.waits; i++)
        if (c.wait[i].job == job && c.wait[i].role == role)
            return &c.wait[i];
    return NULL;
}

/* The last task takes its place, as they stand in no order. */
static void drop_task(int64_t job, int64_t role)
{
    struct task *task = find_task(job, role);

    if (task != NULL)
        *task = c.wait[--c.waits];
}

/* Reads a form: the host sends each one once, before the first job that has
 * it. */
static void read_form(const char **at)
{
    struct form form = { .gpu_roles = 0 };
    const char *key;
    size_t bytes;
    int64_t number = 0;

    while (next_key(at, &key, &bytes)) {
        if (is(key, bytes, "form")) {
            number = read_int(at);
        } else if (is(key, bytes, "roles")) {
            for (int r = 0; next_item(at); r++) {
                while (next_key(at, &key, &bytes))
                    if (is(key, bytes, "gpus")) {
                        form.gpus[r] = read_int(at);
                        form.gpu_roles += form.gpus[r] > 0;
                    } else {
                        form.on_cores[r] |= is(key, bytes, "on_cores");
                        *at = skip_value(*at);
                    }
                ++*at;
            }
        } else {
            *at = skip_value(*at);
        }
    }
    ++*at;
    c.form = reach_item(c.form, (size_t)number, &c.form_room, sizeof *c.form);
    c.form[number] = form;
}

/* A map of a job, a role or what waits, as far as it is of interest. */
static struct task read_task(const char **at, int64_t *form)
{
    struct task task = { .gpus = 0 };
    const char *key;
    size_t bytes;

    while (next_key(at, &key, &bytes))
        if (is(key, bytes, "job"))
            task.job = read_int(at);
        else if (is(key, bytes, "role"))
            task.role = read_int(at);
        else if (is(key, bytes, "gpus"))
            task.gpus = read_int(at);
        else if (is(key, bytes, "estimate_ns"))
            task.estimate_ns = read_int(at);
        else if (is(key, bytes, "held"))
            task.held = read_bool(at);
        else if (is(key, bytes, "started"))
            task.started = read_bool(at);
        else if (is(key, bytes, "form"))
            *form = read_int(at);
        else
            *at = skip_value(*at);
    ++*at;
    return task;
}

/* Jobs that have ended: none of their roles waits any more. */
static void read_ended(const char **at)
{
    while (next_item(at)) {
        int64_t job = read_int(at);

        for (int64_t role = 0; role < ROLES_MAX; role++)
            drop_task(job, role);
    }
}

/* Reads one of the lists of news, by its key. */
static void read_list(const char *key, size_t bytes, const char **at)
{
    while (next_item(at)) {
        int64_t form = 0;

        if (is(key, bytes, "forms")) {
            read_form(at);
            continue;
        }
        struct task task = read_task(at, &form);

        if (is(key, bytes, "jobs")) {
            c.form_of = reach_item(c.form_of, (size_t)task.job, &c.job_room, sizeof *c.form_of);
            c.form_of[task.job] = form;
        } else if (is(key, bytes, "gone")) {
            drop_task(task.job, task.role);
        } else {
            c.wait = reach_item(c.wait, c.waits, &c.wait_room, sizeof *c.wait);
            c.wait[c.waits++] = task;
        }
    }
}

/* What was started waits no more; before the news, since it may wait again. */
static void settle_verdicts(void)
{
    const char *at = strstr(c.line, "\"verdicts\":");

    c.verdicts = at == NULL ? NULL : at + strlen("\"verdicts\":");
    at = c.verdicts;
    for (int i = 0; at != NULL && i < c.asked_count && next_item(&at); i++) {
        if (c.asked[i].job >= 0 && strncmp(at, "\"done\"", 6) == 0)
            drop_task(c.asked[i].job, c.asked[i].role);
        at = skip_value(at);
    }
}

/* Reads what changed since the last message.  Verdicts are first: they speak
 * of the tasks as they were. */
static void read_news(void)
{
    const char *at = c.line, *key;
    size_t bytes;

    settle_verdicts();
    c.free = 0;
    while (next_key(&at, &key, &bytes))
        if (is(key, bytes, "free") || is(key, bytes, "idle_gpus"))
            while (next_item(&at))
                c.free += read_int(&at);
        else if (is(key, bytes, "ended"))
            read_ended(&at);
        else if (is(key, bytes, "forms") || is(key, bytes, "jobs") ||
                 is(key, bytes, "gone") || is(key, bytes, "waits"))
            read_list(key, bytes, &at);
        else
            at = skip_value(at);
}

/* ---- answers ---- */

/* Adds an item of `do`; `starts`: the task that it would start, or NULL. */
static void add_item(const struct task *starts, const char *format, ...)
{
    va_list args;

    if (c.asked_count == (int)(sizeof c.asked / sizeof c.asked[0]) ||
        c.used + 400 > sizeof c.out)
        abort();
    if (c.asked_count > 0)
        c.out[c.used++] = ',';
    c.asked[c.asked_count].job = -1;
    if (starts != NULL)
        c.asked[c.asked_count] = *starts;
    c.asked_count++;
    va_start(args, format);
    c.used += (size_t)vsnprintf(c.out + c.used, 400, format, args);
    va_end(args);
}

/* Adds an item about a task; `more` are further keys, each with a comma before
 * it. */
static void add_of(const char *verb, const struct task *task, const char *more)
{
    bool starts = strcmp(verb, "start") == 0 || strcmp(verb, "continue") == 0 ||
                  strcmp(verb, "settle") == 0;

    add_item(starts ? task : NULL, "{\"%s\":%lld,\"role\":%lld%s}", verb, (long long)task->job,
             (long long)task->role, more);
}

/* Tells the host that the task was tried, so that next_candidate() goes on. */
static void add_tried(const struct task *task, enum alike alike)
{
    char more[24];

    snprintf(more, sizeof more, ",\"alike\":%d", alike);
    add_of("tried", task, more);
}

/* Sends the answer; with `again` the host must send another message at the
 * same time, even if all requests were carried out. */
static void send_answer(bool again)
{
    printf("{\"n\":%lld,\"do\":[%.*s],\"skip\":true%s}\n", (long long)c.n, (int)c.used, c.out,
           again ? ",\"again\":\"always\"" : "");
    fflush(stdout);
}

/* Reads the next line.  False: the host has closed the pipe. */
static bool receive_message(void)
{
    if (getline(&c.line, &c.line_room, stdin) <= 0)
        return false;
    c.n = atoll(c.line + strlen("{\"n\":"));
    return true;
}

/* Sends what was added, and returns the verdicts from `skip` on; NULL: there are none.
 * Ends the program when the host has ended.  Each call is one message more of the same
 * decision. */
static const char *ask_host(int skip)
{
    const char *at;

    send_answer(true);
    if (!receive_message())
        exit(0);
    read_news();
    c.used = 0;
    c.asked_count = 0;
    at = c.verdicts;
    while (at != NULL && next_item(&at) && skip-- > 0)
        at = skip_value(at);
    return at;
}

/* ---- what the host says ---- */

/* Keys that are not known are skipped.  More than SITES_MAX - 1 sites are not looked at. */
static struct about read_about(const char *at)
{
    struct about about = { .sites = 0 };
    const char *key;
    size_t bytes;

    while (next_key(&at, &key, &bytes))
        if (is(key, bytes, "home"))
            about.home = read_int(&at);
        else if (is(key, bytes, "switch_s"))
            about.switch_s = read_real(&at);
        else if (is(key, bytes, "switch_loss"))
            about.switch_loss = read_real(&at);
        else if (is(key, bytes, "settled"))
            about.settled = read_bool(&at);
        else if (is(key, bytes, "most_gpus"))
            about.most_gpus = read_int(&at);
        else if (is(key, bytes, "sites"))
            for (; next_item(&at); about.sites += about.sites < SITES_MAX - 1) {
                while (next_key(&at, &key, &bytes))
                    if (is(key, bytes, "pools"))
                        about.pools[about.sites] = read_int(&at);
                    else
                        about.gpu_type[about.sites] = read_int(&at);
                ++at;
            }
        else
            at = skip_value(at);
    return about;
}

/* Reads a verdict, and goes on to the next. */
static struct forecast read_forecast(const char **at)
{
    struct forecast f = { .found = **at == '{' };
    const char *key;
    size_t bytes;

    if (!f.found) {
        *at = skip_value(*at);
    } else {
        while (next_key(at, &key, &bytes))
            if (is(key, bytes, "run_s"))
                f.run_s = read_real(at);
            else if (is(key, bytes, "switch_s"))
                f.switch_s = read_real(at);
            else if (is(key, bytes, "evict_s"))
                f.evict_s = read_real(at);
            else
                *at = skip_value(*at);
        ++*at;
    }
    *at += **at == ',';
    return f;
}

/* ---- a choice ---- */

/* Adds the wants of all sites within those pools.  `pools`: a mask, 0 for all; `gpus`: 0 for
 * what it asks for; `cores`: sites on cores too.  Returns how many wants were added from
 * `want` on. */
static int add_wants(struct want *want, const struct about *about, int64_t pools,
                     int64_t gpus, bool cores, bool away)
{
    char size[40] = "";
    int count = 0;

    if (gpus > 0)
        snprintf(size, sizeof size, ",\"gpus\":%lld", (long long)gpus);
    if (about->sites == 0) {
        snprintf(want->text, sizeof want->text, ",\"pools\":%lld%s", (long long)pools, size);
        want->away = away;
        return 1;
    }
    for (int i = 0; i < about->sites; i++) {
        if ((pools != 0 && (about->pools[i] & ~pools) != 0) ||
            (!cores && about->gpu_type[i] == ON_CORES))
            continue;
        snprintf(want[count].text, sizeof want->text, ",\"pools\":%lld,\"gpu_type\":%lld%s",
                 (long long)about->pools[i], (long long)about->gpu_type[i], size);
        want[count++].away = away;
    }
    return count;
}

/* Takes the want if its phase is over earlier than that of the best so far.  Switching
 * counts once; gain_min times if the task could go on where it is; and gain_min times more if
 * it would be away from its home.  Eviction counts gain_min times. */
static void consider_want(const struct task *task, const struct about *about,
                          const char *want, const char *more, const struct forecast *f,
                          struct choice *best)
{
    double switch_s = f->switch_s, over;

    if (!f->found)
        return;
    if (task->started && task->gpus > 0)
        switch_s = fmax(switch_s, about->switch_s);
    over = f->run_s + switch_s + c.gain_min * f->evict_s;
    if (best->holds)
        over += (c.gain_min - 1) * switch_s;
    if (best->away)
        over += c.gain_min * switch_s;
    if (best->found && over >= best->over_s)
        return;
    snprintf(best->want, sizeof best->want, "%.99s%.60s", want, more);
    best->over_s = over;
    best->found = true;
    best->held = false;
}

/* Asks for all forecasts at once; those of leases that must have been idle for some
 * time, in a second message. */
static struct forecast ask_forecasts(const struct task *task, struct want *want, int count)
{
    struct forecast held;
    char more[200];
    const char *at;
    int asked = 0;

    add_of("forecast_held", task, "");
    for (int k = 0; k < 2 * count; k++) {
        snprintf(more, sizeof more, "%.99s%s", want[k % count].text,
                 k < count ? "" : ",\"take_idle\":true");
        add_of("forecast", task, more);
    }
    at = ask_host(0);
    held = read_forecast(&at);
    for (int i = 0; i < count; i++)
        want[i].free = read_forecast(&at);
    for (int i = 0; i < count; i++) {
        struct forecast f = want[i].later = want[i].taken = read_forecast(&at);
        double rest_s = c.gain_min * (f.switch_s + f.evict_s) - f.run_s;

        want[i].idle_ns = f.found && rest_s > 0 ? (int64_t)(fmin(rest_s, 1e6) * 1e9) : 0;
    }
    for (int i = 0; i < count; i++)
        if (want[i].idle_ns > 0) {
            snprintf(more, sizeof more, "%.99s,\"take_idle\":true,\"idle_ns\":%lld",
                     want[i].text, (long long)want[i].idle_ns);
            add_of("forecast", task, more);
            asked++;
        }
    at = asked > 0 ? ask_host(0) : NULL;
    for (int i = 0; i < count; i++)
        if (want[i].idle_ns > 0)
            want[i].later = read_forecast(&at);
    return held;
}

/* Considers a want that takes idle leases.  If nothing is found, the host is
 * to wake the policy when a lease has been idle for long enough. */
static void consider_taken(const struct task *task, const struct about *about,
                           const struct want *want, struct choice *best)
{
    char more[80] = ",\"take_idle\":true";

    best->room = true;
    if (want->idle_ns > 0)
        snprintf(more, sizeof more, ",\"take_idle\":true,\"idle_ns\":%lld",
                 (long long)want->idle_ns);
    consider_want(task, about, want->text, more, &want->later, best);
    if (!best->found && strlen(c.wakes) + 60 < sizeof c.wakes)
        snprintf(c.wakes + strlen(c.wakes), 60, "%s{\"wake_when_idle\":%lld}",
                 c.wake_count++ > 0 ? "," : "", (long long)want->idle_ns);
}

/* Finds the best way to start a task: at home, or elsewhere if GPUs are lent,
 * or on more GPUs if nothing else waits. */
static struct choice choose_want(const struct task *task, const struct about *about)
{
    static struct want want[WANTS_MAX];
    const struct form *form = &c.form[c.form_of[task->job]];
    int count = add_wants(want, about, about->home, 0, true, false);
    struct choice best = { .found = false };
    struct forecast held;

    if (task->gpus > 0 && c.lend) {
        if (about->home != 0)
            count += add_wants(want + count, about, 0, 0, true, true);
        if (c.waits == 1 && about->most_gpus > task->gpus)
            count += add_wants(want + count, about, 0, about->most_gpus, false, true);
    }
    held = ask_forecasts(task, want, count);
    if (held.found) {
        best.over_s = held.run_s;
        best.found = best.held = best.holds = true;
    }
    for (int i = 0; i < count; i++) {
        best.away = want[i].away && about->home != 0 && form->gpu_roles > 1 &&
                    about->switch_loss > c.release_max;
        best.spares = best.away;
        consider_want(task, about, want[i].text, "", &want[i].free, &best);
        if (!best.spares && want[i].taken.found)
            consider_taken(task, about, &want[i], &best);
    }
    return best;
}

/* Would the phase be over earlier if it waited for its own pool?  The host says in how many
 * seconds the home has room; null: it has some now. */
static bool is_worth_waiting(const struct task *task, const struct about *about,
                             const struct choice *best)
{
    const char *at;
    double wait;

    if (about->home == 0 || task->gpus == 0)
        return false;
    add_item(NULL, "{\"room_in\":%lld,\"pools\":%lld}", (long long)task->gpus,
             (long long)about->home);
    at = ask_host(0);
    wait = *at == 'n' ? 0 : read_real(&at);
    return wait > 0 && wait + (double)task->estimate_ns / 1e9 < best->over_s;
}

/* ---- a decision ---- */

/* Adds the requests that a task comes to.  What is said about a task is asked first; then all
 * its forecasts at once. */
static void try_task(struct task task)
{
    struct about about;
    struct choice best;
    enum alike alike;

    add_of("about", &task, "");
    about = read_about(ask_host(0));
    if (task.gpus > 0 && !about.settled && about.switch_loss > c.lend_max) {
        add_of("settle", &task, "");
        add_tried(&task, ALIKE_NONE);
        return;
    }
    c.wakes[0] = '\0';
    c.wake_count = 0;
    best = choose_want(&task, &about);
    bool starts = best.found && (best.held || !is_worth_waiting(&task, &about, &best));
    alike = starts ? ALIKE_NONE : best.found || best.room ? ALIKE_AS_LONG : ALIKE_ALL;
    if (starts && best.held) {
        add_of("continue", &task, "");
        add_tried(&task, alike);
        return;
    }
    for (char *wake = c.wakes; wake[0] != '\0'; wake += strcspn(wake, "}") + 1) {
        wake += *wake == ',';
        add_item(NULL, "%.*s}", (int)strcspn(wake, "}"), wake);
    }
    if (starts)
        add_of("start", &task, best.want);
    else if (alike == ALIKE_ALL && c.full_count < FULL_MAX)
        c.full[c.full_count++] = (struct kind){ c.form_of[task.job], task.role, task.gpus };
    add_tried(&task, alike);
}

/* GPUs that are had back almost for nothing are not held between phases.  `idle` is
 * the list of the message, which the first question replaces. */
static void release_idle(void)
{
    const char *at = strstr(c.line, ",\"idle\":["), *copy;
    char *list;
    int64_t form;

    if (at == NULL)
        return;
    copy = list = strdup(at + strlen(",\"idle\":"));
    if (list == NULL)
        abort();
    while (next_item(&copy)) {
        struct task idle = read_task(&copy, &form);

        if (find_task(idle.job, idle.role) != NULL)
            continue;
        add_of("about", &idle, "");
        at = ask_host(c.asked_count - 1);
        if (*at != '{')
            continue;
        struct about about = read_about(at);

        if (idle.gpus > 0 ? about.switch_loss <= c.release_max : !about.settled)
            add_of("release", &idle, "");
    }
    free(list);
}

/* Need the task not be tried?  It is larger than all that is free, or one of
 * its kind was refused in this decision.  Never so of one that holds an idle lease. */
static bool is_passed(const struct task *task)
{
    const struct form *form = &c.form[c.form_of[task->job]];

    if (task->held)             /* it can go on there, on fewer GPUs than it asks for */
        return false;
    if (!form->on_cores[task->role] && task->gpus > (c.free > 0 ? c.free : 1))
        return true;
    for (int i = 0; i < c.full_count; i++)
        if (c.full[i].form == c.form_of[task->job] && c.full[i].role == task->role &&
            c.full[i].gpus == task->gpus)
            return true;
    return false;
}

/* One decision: asks for the next candidate until there is none, and adds what
 * each one comes to.  anew: all tasks are candidates again. */
static void decide_all(void)
{
    c.used = 0;
    c.asked_count = 0;
    c.full_count = 0;
    release_idle();
    if (c.waits > 0)
        add_item(NULL, "{\"anew\":0}");
    while (c.waits > 0) {
        int64_t form;

        add_item(NULL, "{\"next\":0}");
        const char *at = ask_host(c.asked_count - 1);

        if (*at != '{')
            break;
        struct task next = read_task(&at, &form);

        next = *find_task(next.job, next.role);
        if (is_passed(&next))
            add_tried(&next, ALIKE_ALL);
        else
            try_task(next);
    }
    send_answer(false);
}

/* ---- begin ---- */

/* The value of a parameter in the start message; all that hello declared are
 * there. */
static double param_of(const char *key)
{
    const char *at = strstr(c.line, key);

    if (at == NULL)
        abort();
    return strtod(at + strlen(key), NULL);
}

/* Reads the parameters of the start message, and answers it. */
static void begin_trial(void)
{
    c.lend = strstr(c.line, "\"lend\":true") != NULL;
    c.gain_min = param_of("\"gain_min\":");
    c.lend_max = param_of("\"lend_max\":");
    c.release_max = param_of("\"release_max\":");
    printf("{\"n\":%lld}\n", (long long)c.n);
    fflush(stdout);
}

static const char hello[] =
    "{\"n\":0,\"protocol\":1,\"name\":\"dynamic\",\"reuse\":true,"
    "\"flags\":[\"per_phase\",\"homes\",\"forecasts\",\"grows\"],"
    "\"order\":[\"-priority\",\"job\"],\"params\":["
    "{\"key\":\"lend\",\"kind\":\"bool\",\"default\":true,"
    "\"help\":\"may a phase use GPUs outside the pool of its role\"},"
    "{\"key\":\"gain_min\",\"kind\":\"real\",\"default\":1.0,\"min\":0,\"max\":100,"
    "\"help\":\"seconds gained per second of switching, at least\"},"
    "{\"key\":\"lend_max\",\"kind\":\"fraction\",\"default\":\"50%\",\"min\":0,\"max\":100,"
    "\"help\":\"a job whose switches take more of a step keeps its GPUs\"},"
    "{\"key\":\"release_max\",\"kind\":\"fraction\",\"default\":\"10%\",\"min\":0,"
    "\"max\":100,\"help\":\"a job whose switches take no more gives its GPUs back\"}]}";

/* A trial begins: all of the last one is forgotten, but the message and its memory. */
static void forget(void)
{
    char *line = c.line;
    size_t line_room = c.line_room;
    int64_t n = c.n;

    free(c.form);
    free(c.form_of);
    free(c.wait);
    memset(&c, 0, sizeof c);
    c.line = line;
    c.line_room = line_room;
    c.n = n;
}

int main(void)
{
    while (receive_message()) {
        if (strstr(c.line, "\"hello\":") != NULL) {
            forget();
            puts(hello);
            fflush(stdout);
        } else if (strstr(c.line, "\"start\":{") != NULL) {
            begin_trial();
        } else if (strstr(c.line, "\"end\":{") != NULL) {
            printf("{\"n\":%lld}\n", (long long)c.n);
            fflush(stdout);
        } else {
            read_news();
            decide_all();
        }
    }
    return 0;
}

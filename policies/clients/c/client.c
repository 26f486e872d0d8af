/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * client.c - policies for clustersim in plain C, as a program: see
 * policies/PROTOCOL.md.
 *
 *   cc -O2 -o client client.c
 *   policies: [{exec: ./client easy}]
 *
 * No library: a small reader of JSON (json.h), what waits, and three policies: fcfs, sjf
 * and easy, each as the built-in one, to the byte.  dynamic.c is one per phase.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "json.h"

/* A task that waits: the whole of a job, since these policies lease to jobs. */
struct task {
    int64_t job, gpus, estimate_ns; /* number of the job; GPUs that it asks for; run time by
                                     * the estimate */
    bool passed;                /* in this decision: refused, or looked at */
};

/* All state of the program, which plays one trial at a time. */
struct client {
    const char *policy;         /* the word of the command line */
    bool sjf, easy, skip;       /* which policy it is; skip: `blocking: skip` */
    struct task *wait;          /* in order */
    size_t waits, room;         /* tasks; entries that there is room for */
    int64_t now, free;          /* time in ns; GPUs in all pools */
    int64_t *asked;             /* jobs that the last answer asked to start */
    size_t asked_count, asked_room; /* of `asked` */
    enum { BEGIN, PROMISE, BACKFILL } step;     /* of easy */
    int64_t in_time_ns, spare;  /* from now to the head's promised start; GPUs that are free
                                 * beside it then */
    bool again;                 /* the message goes on with a decision */
};

/* ---- what waits ---- */

/* The order of the queue, as the hello message asked for it: shortest
 * estimate, or first come. */
static bool goes_before(const struct client *c, const struct task *a, const struct task *b)
{
    if (c->sjf && a->estimate_ns != b->estimate_ns)
        return a->estimate_ns < b->estimate_ns;
    return a->job < b->job;
}

/* Makes room for one more item; ends the program when there is no memory. */
static void *grow_array(void *items, size_t count, size_t *room, size_t bytes)
{
    if (count < *room)
        return items;
    *room = *room == 0 ? 64 : 2 * *room;
    items = realloc(items, *room * bytes);
    if (items == NULL)
        abort();
    return items;
}

/* Inserts a task in order.  What waits is kept here: a message has
 * only what is new.  O(waits), from the back, where new tasks mostly belong. */
static void add_task(struct client *c, struct task task)
{
    size_t i = c->waits;

    c->wait = grow_array(c->wait, c->waits, &c->room, sizeof *c->wait);
    for (; i > 0 && goes_before(c, &task, &c->wait[i - 1]); i--)
        c->wait[i] = c->wait[i - 1];
    c->wait[i] = task;
    c->waits++;
}

/* Nothing happens if no task of the job waits.  O(waits). */
static void drop_job(struct client *c, int64_t job)
{
    for (size_t i = 0; i < c->waits; i++)
        if (c->wait[i].job == job) {
            memmove(&c->wait[i], &c->wait[i + 1], (c->waits - i - 1) * sizeof *c->wait);
            c->waits--;
            return;
        }
}

/* Returns the task of a job that waits; NULL: none does.  It is good until a task comes or
 * goes. */
static struct task *find_job(struct client *c, int64_t job)
{
    for (size_t i = 0; i < c->waits; i++)
        if (c->wait[i].job == job)
            return &c->wait[i];
    return NULL;
}

/* ---- messages ---- */

/* Tasks that wait from now on; keys that no policy here uses are skipped. */
static void read_waits(struct client *c, const char **at)
{
    const char *key;
    size_t bytes;

    while (next_item(at)) {
        struct task task = { 0, 0, 0, false };

        while (next_key(at, &key, &bytes))
            if (is(key, bytes, "job"))
                task.job = read_int(at);
            else if (is(key, bytes, "gpus"))
                task.gpus = read_int(at);
            else if (is(key, bytes, "estimate_ns"))
                task.estimate_ns = read_int(at);
            else
                *at = skip_value(*at);
        ++*at;
        add_task(c, task);
    }
}

/* The answer to easy's question for the earliest start of the head. */
static void read_earliest(struct client *c, const char **at)
{
    const char *key;
    size_t bytes;

    while (next_key(at, &key, &bytes))
        if (is(key, bytes, "at_ns"))
            c->in_time_ns = read_int(at) - c->now;
        else
            c->spare = read_int(at);
    ++*at;
}

/* Verdicts of the last answer: what was started waits no more.  The host tells them in the
 * order of the requests; a map is the answer to a question. */
static void read_verdicts(struct client *c, const char **at)
{
    size_t i = 0;

    while (next_item(at)) {
        if (**at == '{') {
            read_earliest(c, at);
            continue;
        }
        bool done = strncmp(*at, "\"done\"", 6) == 0;
        struct task *task = find_job(c, c->asked[i]);

        if (task != NULL && c->step == BACKFILL && done &&
            task->estimate_ns > c->in_time_ns)
            c->spare -= task->gpus;
        if (done)
            drop_job(c, c->asked[i]);
        else if (task != NULL)          /* it and all before it were looked at */
            for (task->passed = true; c->easy && task > c->wait; task--)
                task[-1].passed = true;
        i++;
        *at = skip_value(*at);
    }
}

/* Returns the verdicts of a message, which come last and count first. */
static void read_decision(struct client *c, const char *at)
{
    const char *verdicts = strstr(at, "\"verdicts\":"), *key;
    size_t bytes;

    c->again = strstr(at, "\"again\":true") != NULL;
    c->now = atoll(strstr(at, "\"now\":") + 6);
    if (!c->again)
        for (size_t i = 0; i < c->waits; i++)
            c->wait[i].passed = false;
    if (verdicts != NULL) {
        verdicts += strlen("\"verdicts\":");
        read_verdicts(c, &verdicts);
    }
    while (next_key(&at, &key, &bytes))
        if (is(key, bytes, "free")) {
            for (c->free = 0; next_item(&at);)
                c->free += read_int(&at);
        } else if (is(key, bytes, "ended")) {
            while (next_item(&at))
                drop_job(c, read_int(&at));
        } else if (is(key, bytes, "waits")) {
            read_waits(c, &at);
        } else {
            at = skip_value(at);
        }
}

/* ---- answers ---- */

/* Notes a job to start.  The host answers in the next message, in this
 * order. */
static void ask_start(struct client *c, int64_t job)
{
    c->asked = grow_array(c->asked, c->asked_count, &c->asked_room, sizeof *c->asked);
    c->asked[c->asked_count++] = job;
}

/* Tasks in order while the free GPUs suffice; with skip, all that fit.  Without skip the first
 * task that does not fit ends it. */
static void decide_in_order(struct client *c)
{
    int64_t left = c->free;

    for (size_t i = 0; i < c->waits && left > 0; i++) {
        if (c->wait[i].gpus <= left && !c->wait[i].passed) {
            left -= c->wait[i].gpus;
            ask_start(c, c->wait[i].job);
        } else if (!c->skip) {
            return;
        }
    }
}

/* What ends in time, and what fits beside the head.  `left`: GPUs that are free now; `spare`:
 * those that tasks may hold when the head is to start. */
static void backfill(struct client *c)
{
    int64_t left = c->free, spare = c->spare;

    for (size_t i = 1; i < c->waits && left > 0; i++) {
        struct task *task = &c->wait[i];
        bool late = task->estimate_ns > c->in_time_ns;

        if (task->passed || task->gpus > left || (late && task->gpus > spare))
            continue;
        left -= task->gpus;
        spare -= late ? task->gpus : 0;
        ask_start(c, task->job);
    }
}

/* Returns what ends the line: a question for the head, or a wish to go on.  Step by step: the
 * queue from its head as far as it fits; then, in a further message of the same decision, the
 * head's promise; then what may go before it. */
static const char *decide_easy(struct client *c, char *out, size_t bytes)
{
    if (!c->again) {
        c->step = BEGIN;
        decide_in_order(c);
        if (c->asked_count > 0) {
            snprintf(out, bytes, "],\"again\":\"always\"}\n");
            return out;
        }
    }
    if (c->step == BEGIN) {
        if (c->waits < 2 || c->free == 0)
            return "]}\n";
        c->step = PROMISE;
        c->wait[0].passed = true;
        snprintf(out, bytes, "{\"earliest\":%lld}],\"again\":\"always\"}\n",
                 (long long)c->wait[0].gpus);
        return out;
    }
    c->step = BACKFILL;
    backfill(c);
    return c->asked_count > 0 ? "],\"again\":\"refused\"}\n" : "]}\n";
}

/* Writes the answer to one message, as one line, and flushes it: the host
 * waits for it.  With skip the policy wishes to go on if a start is refused,
 * since another job may fit. */
static void write_answer(struct client *c, int64_t n)
{
    char text[100];
    const char *end = c->skip ? "],\"skip\":true,\"again\":\"refused\"}\n" : "]}\n";

    c->asked_count = 0;
    if (c->easy)
        end = decide_easy(c, text, sizeof text);
    else
        decide_in_order(c);
    if (c->asked_count == 0 && !c->easy)
        end = "]}\n";
    printf("{\"n\":%lld,\"do\":[", (long long)n);
    for (size_t i = 0; i < c->asked_count; i++)
        printf("%s{\"start\":%lld}", i == 0 ? "" : ",", (long long)c->asked[i]);
    fputs(end, stdout);
    fflush(stdout);
}

/* The first answer: what the policy is called, what it asks of the host, and the
 * order of its queue. */
static void say_hello(const struct client *c)
{
    printf("{\"n\":0,\"protocol\":1,\"name\":\"%s\",\"flags\":[\"%s\",\"estimates\"],"
           "\"reuse\":true,\"order\":[%s]}\n", c->policy, c->easy ? "reserves" : "blocking",
           c->sjf ? "\"estimate\"" : "");
    fflush(stdout);
}

/* A trial begins: all of the last one is forgotten. */
static struct client new_client(struct client *last)
{
    free(last->wait);
    free(last->asked);
    return (struct client){
        .policy = last->policy, .sjf = strcmp(last->policy, "sjf") == 0,
        .easy = strcmp(last->policy, "easy") == 0,
    };
}

/* One line is one message, and is answered by one line. hello, start and end come once a
 * trial. */
int main(int argc, char **argv)
{
    struct client c = { .policy = argc > 1 ? argv[1] : "fcfs" };
    char *line = NULL;
    size_t room = 0;

    while (getline(&line, &room, stdin) > 0) {
        int64_t n = atoll(line + strlen("{\"n\":"));

        if (strstr(line, "\"hello\":") != NULL) {
            c = new_client(&c);
            say_hello(&c);
        } else if (strstr(line, "\"start\":") != NULL || strstr(line, "\"end\":") != NULL) {
            c.skip = strstr(line, "\"blocking\":\"skip\"") != NULL;
            printf("{\"n\":%lld}\n", (long long)n);
            fflush(stdout);
        } else {
            read_decision(&c, line);
            write_answer(&c, n);
        }
    }
    return 0;
}

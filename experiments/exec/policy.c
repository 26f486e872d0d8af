/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * policy.c - a policy that asks a program.
 *
 * Simulated time does not pass while it answers.  Wall time decides one thing:
 * that a program which does not answer is given up, and its trial with it.  So
 * results do not depend on the machine, as long as a program's answers do not.
 *
 * A decision is an exchange: a message with the news, an answer with requests,
 * and again, for as long as the answer asks for it (`again`).  All of an
 * exchange must be over within the time for one answer, or a program could loop
 * for ever by asking again.
 */
#include "experiments/exec/policy.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/exec/answer.h"
#include "experiments/exec/carry.h"
#include "experiments/exec/guest.h"
#include "experiments/exec/line.h"
#include "experiments/exec/news.h"
#include "experiments/process/talk.h"
#include "policies/params.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/json.h"

/* ---- what is said of a program that failed ---- */

/* Writes what the program said on stderr, and the last messages, for the hint of
 * the error. */
static void tell_more(struct talk *talk, char *more, size_t bytes)
{
    const char *said = talk_stderr(talk);
    size_t n = 0;

    n += (size_t)snprintf(more, bytes, "%s%s%s Last messages: ",
                          said[0] == '\0' ? "It wrote nothing to stderr." : "It wrote: ",
                          said, said[0] == '\0' ? "" : ".");
    for (uint32_t i = 0; i < TALK_LAST && n < bytes; i++)
        if (talk_last(talk, i) != NULL)
            n += (size_t)snprintf(more + n, bytes - n, "%s%s", i == 0 ? "" : "   ",
                                  talk_last(talk, i));
    if (n < bytes)
        snprintf(more + n, bytes - n, ".");
}

/* Fails the trial; nothing is sent to the program any more. */
static void fail_trial(struct exec *exec, struct cs_host *host, const char *why)
{
    char more[1000], text[220];

    tell_more(exec->talk, more, sizeof more);
    snprintf(text, sizeof text, "its program %s", why);
    exec->failed = true;
    cs_note(host, more);
    cs_fail(host, text);
}

/* Fails the trial for an answer that cannot be read; the column is that of the line.
 * err->text is cut, for the host keeps a short reason. */
static void fail_answer(struct exec *exec, struct cs_host *host, const struct err *err)
{
    char why[190];

    snprintf(why, sizeof why, "sent a bad answer to message %lld, column %u: %.110s",
             (long long)exec->number, err->pos.col, err->text);
    fail_trial(exec, host, why);
}

/* ---- begin and end ---- */

/* The wall time for the answer to hello: an interpreter may have to start. */
static int64_t greet_limit_ns(const struct exec_guest *guest)
{
    return guest->limit_ns > EXEC_GREET_NS ? guest->limit_ns : EXEC_GREET_NS;
}

/* Says hello; talk may be NULL, and then `why` says why.  NULL: it is closed.  `self` gets
 * what the program says of itself.  `more` gets what it wrote last, if it failed; both are cut
 * to their room. */
static struct talk *greet(const struct exec_guest *guest, struct talk *talk,
                          struct exec_self *self, char *why, size_t why_bytes, char *more,
                          size_t more_bytes)
{
    struct arena *arena = arena_new(4096);
    struct line hello = { 0 };
    struct err err = { 0 };
    char *line = NULL;
    size_t bytes;
    bool ok = false;

    more[0] = '\0';
    news_write_hello(&hello);
    if (talk != NULL && talk_send(talk, hello.text, hello.used))
        line = talk_receive(talk, &bytes);
    if (line != NULL)
        ok = answer_read_self(json_new(arena), line, bytes, self, &err);
    if (line != NULL && !ok)
        snprintf(why, why_bytes, "sent a bad answer to hello, column %u: %.110s",
                 err.pos.col, err.text);
    else if (talk != NULL && !ok)
        snprintf(why, why_bytes, "%s", talk_why(talk));
    if (talk != NULL && !ok)
        tell_more(talk, more, more_bytes);
    if (!ok) {
        talk_close(talk, false);
        talk = NULL;
    }
    else
        talk_set_limit(talk, guest->limit_ns);
    line_free(&hello);
    arena_free(arena);
    return talk;
}

struct talk *exec_greet(const struct exec_guest *guest, struct exec_self *self, char *why,
                        size_t why_bytes, char *more, size_t more_bytes)
{
    struct talk_plan plan = { guest->word, guest->folder, greet_limit_ns(guest), 0 };

    return greet(guest, talk_open(&plan, why, why_bytes), self, why, why_bytes, more,
                 more_bytes);
}

/* All but the help counts: nothing depends on that. */
static bool is_same_param(const struct exec_param *a, const struct exec_param *b)
{
    return strcmp(a->key, b->key) == 0 && strcmp(a->fallback, b->fallback) == 0 &&
           strcmp(a->words, b->words) == 0 && a->kind == b->kind && a->min == b->min &&
           a->max == b->max;
}

/* Does the program say of itself what it said when the experiment was read?  Its
 * summary may change, since nothing depends on it. */
static bool is_same(const struct exec_self *a, const struct exec_self *b)
{
    for (uint32_t i = 0; i < a->param_count && i < b->param_count; i++)
        if (!is_same_param(&a->param[i], &b->param[i]))
            return false;
    return a->param_count == b->param_count && strcmp(a->name, b->name) == 0 &&
           a->flags == b->flags && a->key_count == b->key_count &&
           memcmp(a->key, b->key, a->key_count * sizeof a->key[0]) == 0 && a->reuse == b->reuse &&
           memcmp(a->falls, b->falls, a->key_count * sizeof a->falls[0]) == 0;
}

/* Greets the program that is lent to this trial, or starts one.  What went wrong in an
 * earlier trial is no fault of this one: a program that has served and does not greet as
 * it did is ended, and a new one started. */
static struct talk *begin_talk(struct exec_guest *guest, struct exec_self *self, char *why,
                               size_t why_bytes, char *more, size_t more_bytes)
{
    struct talk *talk = guest->stand;

    guest->stand = NULL;
    if (talk == NULL)
        return exec_greet(guest, self, why, why_bytes, more, more_bytes);
    talk_take(talk);
    /* One that has served has started. */
    talk_set_limit(talk, guest->served ? guest->limit_ns : greet_limit_ns(guest));
    talk = greet(guest, talk, self, why, why_bytes, more, more_bytes);
    if (!guest->served || (talk != NULL && is_same(self, &guest->self)))
        return talk;
    talk_close(talk, false);
    return exec_greet(guest, self, why, why_bytes, more, more_bytes);
}

/* Sends exec->out, and reads the answer into exec->answer.  False: the trial has failed,
 * and the host knows why.  A second line that comes at once is a fault, since it would be
 * taken for the answer to the next message. */
static bool ask(struct exec *exec, struct cs_host *host)
{
    struct err err = { 0 };
    size_t bytes;
    char *line = NULL;

    if (talk_send(exec->talk, exec->out.text, exec->out.used))
        line = talk_receive(exec->talk, &bytes);
    if (line == NULL) {
        fail_trial(exec, host, talk_why(exec->talk));
        return false;
    }
    if (!answer_read(exec->json, line, bytes, exec->number, &exec->answer, &err)) {
        fail_answer(exec, host, &err);
        return false;
    }
    if (talk_has_more(exec->talk)) {
        fail_trial(exec, host, "answers twice: a line follows its answer before it is asked");
        return false;
    }
    return true;
}

/* The trial's own process of the program.  Jobs do not exist yet, so requests in
 * the answer to `start` have nothing to be about. */
bool exec_init(void *self, struct cs_host *host)
{
    struct exec *exec = self;
    struct exec_self said;
    char why[170], more[1000], text[220];

    exec->guest = (const struct exec_guest *)(const void *)cs_table(host);
    exec->talk = begin_talk((struct exec_guest *)(uintptr_t)exec->guest, &said, why, sizeof why,
                            more, sizeof more);
    if (exec->talk == NULL) {
        snprintf(text, sizeof text, "its program %s", why);
        cs_note(host, more);
        cs_fail(host, text);
        return false;
    }
    exec->arena = arena_new(4096);
    exec->json = json_new(exec->arena);
    if (!is_same(&said, &exec->guest->self)) {
        fail_trial(exec, host, "answers hello otherwise than when the experiment was read");
    } else {
        if (!said.threads)
            talk_keep_together(exec->talk);
        news_write_start(exec, host);
        (void)ask(exec, host);
        if (!exec->failed && exec->answer.count > 0)
            fail_trial(exec, host, "asks for something before anything was submitted");
    }
    if (exec->failed)
        exec_fini(exec);
    return !exec->failed;
}

/* Says that the trial is over.  False: the program must not serve another one.  The trial
 * has its results, whatever is answered. */
static bool say_end(struct exec *exec)
{
    struct err err = { 0 };
    size_t bytes;
    char *line;

    news_write_end(exec, NULL);
    if (!talk_send(exec->talk, exec->out.text, exec->out.used))
        return false;
    if (!exec->guest->self.reuse)
        return true;
    line = talk_receive(exec->talk, &bytes);
    return line != NULL && !talk_has_more(exec->talk) &&
           answer_read(exec->json, line, bytes, exec->number, &exec->answer, &err);
}

/* Frees all of the trial.  The program may serve another trial only if this one did not
 * fail and its answer to `end` can be read. */
void exec_fini(void *self)
{
    struct exec *exec = self;

    if (exec->talk == NULL)
        return;
    talk_close(exec->talk, !exec->failed && say_end(exec));
    exec->talk = NULL;
    line_free(&exec->out);
    line_free(&exec->verdicts);
    free(exec->answer.request);
    free(exec->job);
    free(exec->task);
    free(exec->seen);
    free(exec->form);
    free(exec->submitted.item);
    free(exec->ended.item);
    free(exec->fresh.item);
    free(exec->idle);
    arena_free(exec->arena);
}

/* ---- news ---- */

/* News are collected and told with the next decision. */
void exec_job_submitted(void *self, struct cs_host *host, struct job_id job)
{
    struct exec *exec = self;

    (void)host;
    ARENA_REACH(NULL, exec->job, exec->job_room, job.i);
    if (job.i >= exec->job_count)
        exec->job_count = job.i + 1;
    exec->job[job.i] = EXEC_LIVES;
    ARENA_ADD(NULL, exec->submitted.item, exec->submitted.count, exec->submitted.room, job.i);
}

/* Notes the end for the next message.  The bits of the job stay until then (news_put_ended). */
void exec_job_ended(void *self, struct cs_host *host, struct job_id job)
{
    struct exec *exec = self;

    (void)host;
    ARENA_ADD(NULL, exec->ended.item, exec->ended.count, exec->ended.room, job.i);
}

/* The lease may be busy again, or gone, when the message is written. */
void exec_lease_idle(void *self, struct cs_host *host, struct lease_id lease)
{
    struct exec *exec = self;
    const struct cs_lease *idle = cs_lease(host, lease);

    if (idle->state == CS_LEASE_IDLE)
        ARENA_ADD(NULL, exec->idle, exec->idle_count, exec->idle_room,
                  (struct exec_task){ idle->job.i, idle->role });
}

/* ---- decisions ---- */

/* Returns what one key of the order compares, in ns, GPUs or as a number: all of them
 * fit an int64_t. */
static int64_t find_key(const struct cs_host *host, const struct cs_task *task,
                        enum exec_key key)
{
    (void)host;
    switch (key) {
    case EXEC_BY_JOB: return task->job.i;
    case EXEC_BY_SUBMIT: return task->submit_ns;
    case EXEC_BY_READY: return task->ready_ns;
    case EXEC_BY_ESTIMATE: return task->estimate_ns;
    case EXEC_BY_GPUS: return task->gpus;
    default: return task->priority;
    }
}

/* Keys in turn, as the program has declared them; equal in all: the host's order. */
bool exec_before(const void *self, const struct cs_host *host, struct task_id a,
                 struct task_id b)
{
    const struct exec_guest *guest = ((const struct exec *)self)->guest;
    const struct cs_task *x = cs_task(host, a), *y = cs_task(host, b);

    for (uint32_t i = 0; i < guest->self.key_count; i++) {
        int64_t left = find_key(host, x, guest->self.key[i]);
        int64_t right = find_key(host, y, guest->self.key[i]);

        if (left != right)
            return guest->self.falls[i] ? left > right : left < right;
    }
    return false;
}

/* Verdicts of requests are told in the next message, of this decision or of the next one. */
void exec_decide(void *self, struct cs_host *host)
{
    struct exec *exec = self;
    bool refused = true, more = true;
    char why[150];

    exec->candidate.i = ID_NONE;
    talk_begin(exec->talk);
    while (more && !exec->failed) {
        news_write_decide(exec, host);
        if (!ask(exec, host))
            return;
        if (!carry_out(exec, host, &refused, why, sizeof why)) {
            fail_trial(exec, host, why);
            return;
        }
        more = exec->answer.again == EXEC_ALWAYS ||
               (exec->answer.again == EXEC_REFUSED && refused);
        exec->again = more;
        if (more && talk_is_over(exec->talk, why, sizeof why))
            fail_trial(exec, host, why);
    }
}

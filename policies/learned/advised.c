/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * advised.c - the rule of `dynamic`, advised by a small network that was trained
 * in the simulator (`clustersim train`).
 *
 * The network reads the set of what waits.  Each task has a row of features,
 * which one layer embeds; the mean and the maximum of the embeddings, with the
 * state of the cluster, are the context (as deep sets, Zaheer et al. 2017, and
 * the graph embedding of Decima, Mao et al., SIGCOMM 2019, on one level).  Two
 * heads read a task's embedding and the context:
 *
 *   order  by how many days a task is served as if its job had come earlier;
 *   place  a factor by which a comparison of the rule is bent: for each place
 *          (held, home, other pool, more or fewer GPUs, on free GPUs or in place
 *          of idle leases), for waiting, for giving idle GPUs back and for
 *          lending at all.
 *
 * Of a role that can have one number of GPUs alone, the place head says no more than
 * whether its idle GPUs are given back: training knew no such role, and what it says of
 * their places makes them worse (experiments/learned/README.md).
 *
 * A head is one hidden layer beside a linear part.  Outputs of 0 are the rule, whose
 * `owners_first` is a key of this policy; without weights it is off, and the policy is
 * `dynamic`, to the byte.  Arithmetic is +, *, / and comparisons alone, so that all
 * processors agree on the last bit.
 *
 * A task is scored once, when it comes; the context is that of the decision
 * before.  So a decision scores the tasks that are new, and pools embeddings that
 * are kept, of `depth` tasks at most.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "policies/advice.h"
#include "policies/params.h"
#include "policies/phases.h"
#include "policies/policy.h"

extern const struct cs_policy advised_policy;

enum {
    WIDTH = 8,                  /* of each layer */
    /* Inputs; each layer has a constant 1 beside them. */
    TASK_INPUTS = 8, STATE_INPUTS = 6, QUESTION_INPUTS = 12,
    ASKED_INPUTS = CS_ADVICE_KINDS + QUESTION_INPUTS,
    CONTEXT_INPUTS = 2 * WIDTH + STATE_INPUTS,
    ORDER_INPUTS = 2 * WIDTH, PLACE_INPUTS = 2 * WIDTH + ASKED_INPUTS,
};

/* Key, number of weights, and the deviation with which training begins; 0: the head says 0 at
 * first. */
static const struct cs_weights advised_weights[] = {
    { "task", WIDTH * (TASK_INPUTS + 1), 0.35 },
    { "context", WIDTH * (CONTEXT_INPUTS + 1), 0.2 },
    { "order_hidden", WIDTH * (ORDER_INPUTS + 1), 0.25 },
    { "order", WIDTH + TASK_INPUTS, 0 },
    { "place_hidden", WIDTH * (PLACE_INPUTS + 1), 0.2 },
    { "place", WIDTH + ASKED_INPUTS, 0 },
};
/* Indices of the layers, in the order of advised_weights. */
enum { TASK, CONTEXT, ORDER_HIDDEN, ORDER, PLACE_HIDDEN, PLACE, LAYERS };

/* Parameter `encoder`, in the order of its words. */
enum advised_encoder { ENCODER_SET, ENCODER_NONE };

/* A task that waits, as it was when it came.  Comparisons look at nothing else. */
struct advised_row {
    uint32_t job, role, phase;  /* of the task, and */
    bool known;
    int64_t ready_ns;           /* by these four it is known again, as numbers of tasks are
                                 * used again */
    int64_t turn_ns;            /* when its job came, by the order head */
};

/* The task that was scored last, in this context: of jobs that come at once many are equal. */
struct advised_last {
    bool known;
    double x[TASK_INPUTS], embedding[WIDTH], days;
};

/* The task of the last question, in this context: the place head's sums of the inputs that all
 * questions about one task share. */
struct advised_about {
    bool known;
    double embedding[WIDTH], sum[WIDTH];
};

struct advised {
    int encoder;                /* parameter: enum advised_encoder */
    int64_t depth;              /* parameter: tasks that the context pools */
    bool owners_first;          /* once there are weights */
    const double *layer[LAYERS];        /* NULL: untrained */
    struct cs_host *host;       /* of the trial, for the rule's questions */
    const struct cs_rule *rule; /* that of `dynamic` */
    void *of_rule;              /* its state */
    struct cs_advice advice;    /* how the rule asks this policy */
    struct advised_row *row;    /* by task */
    double (*embedding)[WIDTH]; /* likewise */
    uint32_t rows;              /* entries of row and embedding */
    double context[WIDTH];      /* of this decision */
    struct advised_last last;
    struct advised_about about;
};

static const struct cs_param advised_param[] = {
    { .key = "encoder", .type = CS_PARAM_CHOICE,
      .offset = offsetof(struct advised, encoder), .fallback = "set",
      .help = "what the network knows of other tasks: the set of what waits, "
              "or none, the state of the cluster alone" },
    { .key = "depth", .type = CS_PARAM_INT,
      .offset = offsetof(struct advised, depth), .min = 1, .max = 1e6,
      .fallback = "32", .help = "waiting tasks that the context pools" },
    { .key = "owners_first", .type = CS_PARAM_BOOL,
      .offset = offsetof(struct advised, owners_first), .fallback = "true",
      .help = "with weights: does a phase that would leave its home start after "
              "those that stay in theirs, and wait for GPUs there that should be free "
              "by now" },
};
static const struct cs_words advised_words[] = { { "encoder", "set none" } };

/* ---- arithmetic ---------------------------------------------------------- */

/* sum += W x, row by row of W: an input's weights stand together.  Each sum is named, so
 * that it stays in a register, and takes the inputs in their order. */
static void layer_add(double *restrict sum, const double *weight, const double *x,
                      uint32_t inputs)
{
    double a = sum[0], b = sum[1], c = sum[2], d = sum[3];
    double e = sum[4], f = sum[5], g = sum[6], h = sum[7];

    _Static_assert(WIDTH == 8, "a sum for each output");
    for (uint32_t i = 0; i < inputs; i++, weight += WIDTH) {
        a += weight[0] * x[i];
        b += weight[1] * x[i];
        c += weight[2] * x[i];
        d += weight[3] * x[i];
        e += weight[4] * x[i];
        f += weight[5] * x[i];
        g += weight[6] * x[i];
        h += weight[7] * x[i];
    }
    memcpy(sum, (double[WIDTH]) { a, b, c, d, e, f, g, h }, WIDTH * sizeof *sum);
}

/* What a layer makes of its sums. */
static void layer_end(const double *sum, double *out)
{
    for (uint32_t h = 0; h < WIDTH; h++)
        out[h] = sum[h] > 0 ? sum[h] : 0;
}

/* out = max(0, W x); the last row of W is of a constant 1, and comes first in the sums. */
static void layer_run(const double *weight, const double *x, uint32_t inputs,
                      double *out)
{
    double sum[WIDTH];

    memcpy(sum, weight + (size_t)inputs * WIDTH, sizeof sum);
    layer_add(sum, weight, x, inputs);
    layer_end(sum, out);
}

/* The sum, and the products of two rows of numbers, one after the other. */
static double dot_add(double sum, const double *weight, const double *x, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        sum += weight[i] * x[i];
    return sum;
}

/* The logarithm to the base 2 of 1 + x, linear between powers: 0 to about 1 for
 * up to nine hours of seconds.  For example 0 gives 0, 1 gives 1/16, 3600 about 0.74. log2()
 * is left out as it may differ between machines. */
static double squeeze(double x)
{
    uint64_t bits;

    assert(!(x < 0));
    x = x < 1e15 ? x + 1 : 1e15;
    memcpy(&bits, &x, sizeof bits);
    double power = (double)((int)(bits >> 52) - 1023);  /* of IEEE 754, as x is 1 or more */
    bits = (bits & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1023) << 52;
    memcpy(&x, &bits, sizeof x);
    return (power + x - 1) * 0.0625;
}

/* From any number to one above 0: 0 is 1, -1 is a half, 1 is 2.  Smooth at 0, and
 * as_factor(-x) = 1 / as_factor(x). */
static double as_factor(double out)
{
    out = out > 1e6 ? 1e6 : out < -1e6 ? -1e6 : out;
    return out >= 0 ? 1 + out : 1 / (1 - out);
}

/* Returns part / whole; 0 of nothing. */
static double share_of(double part, double whole)
{
    return whole > 0 ? part / whole : 0;
}

/* ---- what the network reads ---------------------------------------------- */

/* A role's home, 0 if it has none, and GPUs there and in all: those in all are those there if
 * there is no home. */
struct advised_gpus {
    uint32_t homes;             /* pools, a mask */
    double total, free, home_total, home_free; /* GPUs */
};

/* Counts GPUs for a role of a job. */
static struct advised_gpus count_gpus(const struct cs_host *host, struct job_id job,
                                      uint32_t role)
{
    uint32_t homes = cs_role_homes(host, job, role);
    double total = cs_total_gpus(host, 0), free = cs_free_gpus(host, 0);

    return (struct advised_gpus) {
        homes, total, free, homes != 0 ? cs_total_gpus(host, homes) : total,
        homes != 0 ? cs_free_gpus(host, homes) : free
    };
}

/* Inputs of a job, each about 0 to 1: time left, what switching loses, how free its
 * home is, its size.  Returns all GPUs. */
static double read_job(const struct cs_host *host, struct job_id job, uint32_t role,
                       double *x)
{
    struct advised_gpus gpus = count_gpus(host, job, role);
    double loss = cs_switch_loss(host, job);
    int64_t left_ns = cs_left_ns(host, job);

    x[0] = squeeze(left_ns > 0 ? (double)left_ns * 1e-9 : 0);
    x[1] = share_of(loss, 1 + loss);
    x[2] = share_of(gpus.home_free + cs_idle_gpus(host, gpus.homes), gpus.home_total);
    x[3] = share_of(cs_job_gpus(host, job), gpus.total);
    return gpus.total;
}

/* Inputs of a task: those of its job, then estimate, size, whether it holds a
 * lease, whether it ever ran. */
static void read_task(const struct cs_host *host, const struct cs_task *task,
                      double *x)
{
    double total = read_job(host, task->job, task->role, x);

    x[4] = squeeze(task->estimate_ns > 0 ? (double)task->estimate_ns * 1e-9
                                         : 0);
    x[5] = share_of(task->gpus, total);
    x[6] = task->held.i != ID_NONE;
    x[7] = task->started;
}

/* Inputs of the whole: free and idle GPUs, how many wait (twice: linear for few,
 * logarithmic for many), how many run. */
static void read_state(const struct cs_host *host, double *x)
{
    double total = cs_total_gpus(host, 0), waiting = cs_pending_count(host);

    x[0] = share_of(cs_free_gpus(host, 0), total);
    x[1] = share_of(cs_idle_gpus(host, 0), total);
    x[2] = waiting / (waiting + 4);
    x[3] = squeeze(waiting);
    x[4] = squeeze(cs_running_count(host));
    x[5] = share_of(cs_running_count(host), total * 0.125);
}

/* Inputs of a question but its kind: the place that it is about, and the forecast there, if
 * there is one.  Times are squeezed, all others are shares. */
static void read_question(const struct cs_host *host,
                          const struct cs_question *question, double *x)
{
    const struct cs_forecast *f = question->forecast;
    struct advised_gpus gpus = count_gpus(host, question->job, question->role);
    double waiting = cs_pending_count(host);

    memset(x, 0, QUESTION_INPUTS * sizeof *x);
    x[0] = question->take_idle;
    x[1] = question->away;
    x[2] = question->beyond;
    x[3] = waiting / (waiting + 4);
    x[4] = share_of(gpus.free, gpus.total);
    x[5] = share_of(gpus.home_free, gpus.home_total);
    x[6] = question->task.i != ID_NONE ? squeeze(question->value)
                                       : share_of(question->value,
                                                  1 + question->value);
    if (f == NULL)
        return;
    double all_s = f->run_s + f->switch_s + f->evict_s;
    x[7] = share_of(f->switch_s, all_s);
    x[8] = share_of(f->evict_s, all_s);
    x[9] = share_of(f->gpus, gpus.total);
    x[10] = share_of(f->usd, f->usd + all_s * f->gpus / 1800);
    x[11] = squeeze(f->run_s);
}

/* ---- rows and context ---------------------------------------------------- */

/* Makes room for a row by number of task; rows double. */
static void advised_make_room(struct advised *advised, uint32_t task)
{
    if (task < advised->rows)
        return;
    uint32_t rows = task < 32 ? 64 : 2 * task;
    struct advised_row *row = cs_alloc(advised->host, rows, sizeof *row);
    double (*embedding)[WIDTH] = cs_alloc(advised->host, rows, sizeof *embedding);

    if (advised->rows > 0) {
        memcpy(row, advised->row, advised->rows * sizeof *row);
        memcpy(embedding, advised->embedding, advised->rows * sizeof *embedding);
    }
    advised->row = row;
    advised->embedding = embedding;
    advised->rows = rows;
}

/* Days are turned into time; ten are as far as it goes.  A day is as far as a weight of
 * 1 moves a task: in hours, training stayed within minutes of the order of arrival.  For
 * example, half a day for a task that came at noon: it is served as if it had come at
 * midnight. */
static int64_t turn_of(const struct cs_task *task, double days)
{
    days = days > 10 ? 10 : days < -10 ? -10 : days;
    return task->submit_ns - (int64_t)(days * 86400) * 1000000000;
}

/* Embeds a task and says by how many days it is served as if its job had come earlier.  An
 * equal task has the answers of the last one. */
static void advised_ask_order(struct advised *advised, const double *x)
{
    struct advised_last *last = &advised->last;
    double in[ORDER_INPUTS], hidden[WIDTH];
    const double *order = advised->layer[ORDER];

    if (last->known && memcmp(last->x, x, sizeof last->x) == 0)
        return;
    last->known = true;
    memcpy(last->x, x, sizeof last->x);
    layer_run(advised->layer[TASK], x, TASK_INPUTS, in);
    memcpy(last->embedding, in, sizeof last->embedding);
    memcpy(in + WIDTH, advised->context, sizeof advised->context);
    layer_run(advised->layer[ORDER_HIDDEN], in, ORDER_INPUTS, hidden);
    last->days = dot_add(dot_add(0, order, hidden, WIDTH), order + WIDTH, x, TASK_INPUTS);
}

/* Scores a task that is new. */
static const struct advised_row *advised_score(struct advised *advised, struct task_id id,
                                               const struct cs_task *task)
{
    double x[TASK_INPUTS];

    advised_make_room(advised, id.i);
    struct advised_row *row = &advised->row[id.i];
    read_task(advised->host, task, x);
    advised_ask_order(advised, x);
    memcpy(advised->embedding[id.i], advised->last.embedding, sizeof advised->last.embedding);
    *row = (struct advised_row) { .job = task->job.i, .role = task->role,
                                  .phase = task->phase, .known = true,
                                  .ready_ns = task->ready_ns,
                                  .turn_ns = turn_of(task, advised->last.days) };
    return row;
}

/* The row of a task that waits, scored if it is new.  Each comparison of two tasks asks. */
static inline const struct advised_row *advised_row(struct advised *advised,
                                                    struct task_id id,
                                                    const struct cs_task *task)
{
    const struct advised_row *row = id.i < advised->rows ? &advised->row[id.i] : NULL;

    if (row != NULL && row->known && row->job == task->job.i && row->role == task->role &&
        row->phase == task->phase && row->ready_ns == task->ready_ns)
        return row;
    return advised_score(advised, id, task);
}

/* Returns the embedding of a task that waits, WIDTH numbers; made when the task is
 * first asked about, good until the table grows. */
static const double *advised_embedding(struct advised *advised, struct task_id id)
{
    (void)advised_row(advised, id, cs_task(advised->host, id));
    return advised->embedding[id.i];
}

/* The mean and the maximum of what waits; 0 without the encoder.  A queue longer than `depth`
 * is cut there, and the host notes that a limit was reached. */
static void advised_pool(struct advised *advised, double *mean, double *most)
{
    uint32_t count = cs_pending_count(advised->host);

    if (count > advised->depth) {
        cs_limit_reached(advised->host);
        count = (uint32_t)advised->depth;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct task_id id = cs_pending(advised->host, i);
        const double *e = advised_embedding(advised, id);

        for (uint32_t h = 0; h < WIDTH; h++) {
            mean[h] += e[h];
            most[h] = e[h] > most[h] ? e[h] : most[h];
        }
    }
    for (uint32_t h = 0; h < WIDTH && count > 0; h++)
        mean[h] /= count;
}

/* Looks at the whole queue once a decision; all questions of it are asked in this
 * context. */
static void advised_look(struct advised *advised)
{
    double x[CONTEXT_INPUTS] = { 0 };

    if (advised->encoder == ENCODER_SET)
        advised_pool(advised, x, x + WIDTH);
    read_state(advised->host, x + (size_t)2 * WIDTH);
    layer_run(advised->layer[CONTEXT], x, CONTEXT_INPUTS, advised->context);
    advised->last.known = advised->about.known = false;
}

/* ---- advice -------------------------------------------------------------- */

/* What the rule would not look at must be better by more than this. */
#define BEYOND 0.25

/* Returns the place head's sums over an embedding and the context. */
static const double *advised_sums_about(struct advised *advised, const double *embedding)
{
    struct advised_about *about = &advised->about;
    const double *weight = advised->layer[PLACE_HIDDEN];

    if (about->known && memcmp(about->embedding, embedding, sizeof about->embedding) == 0)
        return about->sum;
    about->known = true;
    memcpy(about->embedding, embedding, sizeof about->embedding);
    memcpy(about->sum, weight + (size_t)PLACE_INPUTS * WIDTH, sizeof about->sum);
    layer_add(about->sum, weight, embedding, WIDTH);
    layer_add(about->sum, weight + (size_t)WIDTH * WIDTH, advised->context, WIDTH);
    return about->sum;
}

/* Returns what the place head answers.  Of the inputs by kind one is 1 and all others are 0.
 * The product with a row of one 1 and zeros is the weights of that 1. */
static double advised_ask_place(struct advised *advised, const struct cs_question *question,
                                const double *embedding)
{
    const double *weight = advised->layer[PLACE_HIDDEN] + (size_t)2 * WIDTH * WIDTH;
    const double *place = advised->layer[PLACE], one = 1;
    double x[QUESTION_INPUTS], sum[WIDTH], hidden[WIDTH];

    read_question(advised->host, question, x);
    memcpy(sum, advised_sums_about(advised, embedding), sizeof sum);
    layer_add(sum, weight + (size_t)question->kind * WIDTH, &one, 1);
    layer_add(sum, weight + (size_t)CS_ADVICE_KINDS * WIDTH, x, QUESTION_INPUTS);
    layer_end(sum, hidden);
    return dot_add(dot_add(0, place, hidden, WIDTH) + place[WIDTH + question->kind],
                   place + WIDTH + CS_ADVICE_KINDS, x, QUESTION_INPUTS);
}

/* Is the question about a role of a fixed number of GPUs, and not about giving these
 * back? */
static bool advised_is_silent(const struct cs_host *host, const struct cs_question *question)
{
    const struct job_form *form = cs_request(host, question->job)->form;

    if (question->kind == CS_ADVICE_RELEASE || question->role >= form->role_count)
        return false;
    const struct role_spec *role = &form->role[question->role];
    return role->gpus > 0 && role->gpus_min == role->gpus && role->gpus_max == role->gpus;
}

/* Answers a question of the rule: the factor by which its value is bent.  1 changes
 * nothing.  A place that only advice makes looked at is refused (INFINITY) unless
 * the answer is clearly for it. */
static double advised_factor(void *self, struct cs_host *host,
                             const struct cs_question *question)
{
    struct advised *advised = self;
    double embedding[WIDTH], job[TASK_INPUTS] = { 0 };

    if (advised_is_silent(host, question))
        return 1;
    if (question->task.i != ID_NONE) {
        memcpy(embedding, advised_embedding(advised, question->task), sizeof embedding);
    } else {
        read_job(host, question->job, question->role, job);
        layer_run(advised->layer[TASK], job, TASK_INPUTS, embedding);
    }
    double out = advised_ask_place(advised, question, embedding);

    if (question->beyond)
        return out < -BEYOND ? as_factor(out + BEYOND) : INFINITY;
    double factor = as_factor(out);
    bool is_share = question->kind == CS_ADVICE_RELEASE ||
                    question->kind == CS_ADVICE_LEND;
    /* Shares lie further apart than times. */
    return is_share ? factor * factor : factor;
}

/* ---- the policy ---------------------------------------------------------- */

/* Finds the layers among the weights.  Without weights there is no advice, and the
 * rule decides alone. */
static bool advised_init(void *self, struct cs_host *host)
{
    struct advised *advised = self;

    for (int i = 0; i < LAYERS; i++)
        advised->layer[i] = cs_weight_list(host, advised_weights[i].key);
    advised->host = host;
    advised->advice = (struct cs_advice) { advised, advised_factor };
    advised->rule = &cs_rule_dynamic;
    advised->of_rule = advised->rule->make(
        host, advised->layer[0] != NULL ? &advised->advice : NULL);
    if (advised->layer[0] != NULL && advised->owners_first)
        advised->rule->put_owners_first(advised->of_rule);
    return true;
}

/* By priority, then by the turn that the score gives a task; without weights by
 * age. */
static bool advised_before(const void *self, const struct cs_host *host,
                           struct task_id a, struct task_id b)
{
    const struct advised *advised = self;

    if (advised->layer[0] == NULL)
        return cs_by_priority(self, host, a, b);
    const struct cs_task *x = cs_task(host, a), *y = cs_task(host, b);
    if (x->priority != y->priority)
        return x->priority > y->priority;
    /* Not const: the score of a new task is stored, which changes no order. */
    struct advised *mine = advised->advice.self;
    int64_t mine_ns = advised_row(mine, a, x)->turn_ns;
    int64_t other_ns = advised_row(mine, b, y)->turn_ns;
    return mine_ns != other_ns ? mine_ns < other_ns : x->job.i < y->job.i;
}

/* The context of this decision is made before the rule asks for advice.  Without weights
 * the rule decides alone. */
static void advised_decide(void *self, struct cs_host *host)
{
    struct advised *advised = self;

    if (advised->layer[0] != NULL)
        advised_look(advised);
    advised->rule->decide(advised->of_rule, host);
}

/* The rule decides what becomes of a lease that has nothing to do. */
static void advised_lease_idle(void *self, struct cs_host *host,
                               struct lease_id lease)
{
    const struct advised *advised = self;

    advised->rule->lease_idle(advised->of_rule, host, lease);
}

const struct cs_policy advised_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "advised",
    .cites = "zaheer2017deep mao2019decima salimans2017evolution",
    .summary = "dynamic, advised by a network that was trained in the simulator",
    .flags = CS_ASKS_PRIORITY | CS_PER_PHASE | CS_HOMES | CS_FORECASTS | CS_GROWS | CS_SHRINKS |
             CS_ASKS_WEIGHTS | CS_TAKES_OVER,
    .self_bytes = sizeof(struct advised),
    .param = advised_param,
    .param_count = sizeof advised_param / sizeof advised_param[0],
    .words_count = sizeof advised_words / sizeof advised_words[0],
    .words = advised_words,
    .weights_count = LAYERS,
    .weights = advised_weights,
    .init = advised_init,
    .before = advised_before,
    .decide = advised_decide,
    .lease_idle = advised_lease_idle,
    .limits = "depth",
};

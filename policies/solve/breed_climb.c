/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * breed_climb.c - a climb from one matrix to a better one: of a search of many jobs, where
 * children of two matrices differ from both in too many rows to be better.
 *
 * A move gives a job that is drawn more GPUs of a node that is drawn: free ones, and else those
 * of one other job there, which may lose all that it has.  It is made if the mean of gains
 * becomes better, and if no rule of breed_repair.c is broken.
 * Invariant: what is kept of jobs and nodes is that of a matrix which a repair leaves as it is.
 */
#include <assert.h>
#include <math.h>

#include "policies/policy.h"
#include "policies/solve/breed.h"

/* Chosen on the first 15 cases of tests/keys/climb_test.c, looked at on the other 45.  With 30
 * moves the mean of gains is 0.34 of this there, and 0.58 in the others; with 5 rounds it is the
 * same, and with a least gain of 1e-4 2% more. */
#define ROUNDS_MAX 20u
#define MOVES_A_JOB 300u        /* that are tried in a round */
#define LEAST_GAIN 1e-3         /* of a round, so that another one follows */

/* GPUs of a node that one job has. */
struct climb_user {
    uint32_t job, gpus;
};

/* A job in a climb.  node_sum: of the numbers of its nodes, so that it is the number itself
 * where there is one. */
struct climb_job {
    uint64_t node_sum;
    uint32_t gpus, cells, pool;
    uint32_t same;              /* cells that it holds now */
    double term;
};

struct climb_node {
    uint32_t first, users;      /* in climb->user */
    uint32_t left, spans;       /* free GPUs; jobs here that span nodes */
    double host_left[CS_BREED_HOST];
};

struct breed_climb {
    struct climb_job *job;
    struct climb_node *node;
    struct climb_user *user;
    uint32_t *at;               /* by job, and behind them by cell, as it ends */
    uint32_t job_room, node_room, user_room, at_room;
    double sum;                 /* of terms, those that are better being larger */
    double gained;              /* by the moves of this round: no rounding makes it less */
};

/* A job's state after a move: its cell of a node goes from `was` to `becomes` GPUs. */
struct climb_step {
    uint32_t job, node, was, becomes;
    struct climb_job after;
};

/* ---- one job ---- */

/* Does the job hold just these GPUs of that node now? */
static bool is_held(const struct cs_breed_job *ask, uint32_t node, uint32_t gpus)
{
    for (uint32_t i = 0; i < ask->now_count; i++)
        if (ask->now[i].node == node)
            return ask->now[i].gpus == gpus;
    return false;
}

/* Sets the term of a job's new state.  False: the job cannot run so. */
static bool weigh_step(struct cs_breed *b, struct climb_step *step)
{
    struct climb_job *after = &step->after;
    const struct cs_breed_job *ask = b->job[step->job].ask;
    double sign = b->asks.p < 0 ? -1 : 1;

    after->term = sign * b->none;
    if (after->gpus == 0)
        return true;
    const struct breed_known *known =
        breed_know(b, step->job, after->pool, after->cells > 1, after->gpus);
    bool stays = ask->now_count > 0 && after->cells == ask->now_count &&
                 after->same == ask->now_count;
    after->term = sign * (stays ? known->stays : known->term);
    return known->gain > 0;
}

/* Sets what a job is after its cell of a node has changed. */
static bool plan_step(struct cs_breed *b, struct climb_step *step)
{
    const struct cs_breed_job *ask = b->job[step->job].ask;
    struct climb_job *after = &step->after;

    *after = b->climb->job[step->job];
    after->gpus += step->becomes - step->was;
    after->same -= step->was > 0 && is_held(ask, step->node, step->was);
    after->same += step->becomes > 0 && is_held(ask, step->node, step->becomes);
    if (step->was == 0) {
        after->cells++;
        after->node_sum += step->node;
        after->pool = b->node[step->node].pool;
    } else if (step->becomes == 0) {
        after->cells--;
        after->node_sum -= step->node;
    }
    return weigh_step(b, step);
}

/* Marks the nodes of a job that begins to span nodes, or ends to. */
static void count_spans(struct cs_breed *b, const struct climb_step *step)
{
    struct breed_climb *climb = b->climb;
    const struct climb_job *was = &climb->job[step->job], *is = &step->after;
    struct climb_node *node = &climb->node[step->node];

    if (is->cells > was->cells && is->cells > 1) {
        node->spans++;
        if (was->cells == 1)
            climb->node[was->node_sum].spans++;
    } else if (is->cells < was->cells && was->cells > 1) {
        node->spans--;
        if (is->cells == 1)
            climb->node[is->node_sum].spans--;
    }
}

/* NULL: the job has no GPU of the node. */
static struct climb_user *find_user(const struct breed_climb *climb, uint32_t n, uint32_t job)
{
    struct climb_user *user = climb->user + climb->node[n].first;

    for (uint32_t u = 0; u < climb->node[n].users; u++)
        if (user[u].job == job)
            return &user[u];
    return NULL;
}

/* Makes a step that was planned. */
static void take_step(struct cs_breed *b, const struct climb_step *step)
{
    struct breed_climb *climb = b->climb;
    struct climb_node *node = &climb->node[step->node];
    struct climb_user *user = find_user(climb, step->node, step->job);

    count_spans(b, step);
    assert((user != NULL) == (step->was > 0));
    if (user == NULL) {
        user = &climb->user[climb->node[step->node].first + node->users++];
        user->job = step->job;
    }
    user->gpus = step->becomes;
    if (step->becomes == 0)
        *user = climb->user[node->first + --node->users];
    node->left += step->was - step->becomes;
    for (uint32_t k = 0; k < CS_BREED_HOST; k++)
        node->host_left[k] += b->job[step->job].ask->each[k] *
                              ((double)step->was - step->becomes);
    climb->sum += step->after.term - climb->job[step->job].term;
    climb->job[step->job] = step->after;
}

/* ---- moves ---- */

/* May the job have GPUs of that node beside those that it has? */
static bool may_span(const struct breed_climb *climb, const struct climb_step *step)
{
    const struct climb_job *job = &climb->job[step->job];

    if (step->was > 0 || job->cells == 0)
        return true;
    return climb->node[step->node].spans == 0 &&
           (job->cells > 1 || climb->node[job->node_sum].spans == 0);
}

/* Plans to give a job up to `more` GPUs of a node.  False: it may not have them. */
static bool plan_gift(struct cs_breed *b, struct climb_step *step, uint32_t more)
{
    const struct climb_job *job = &b->climb->job[step->job];
    const struct climb_user *user = find_user(b->climb, step->node, step->job);
    uint32_t most = b->job[step->job].ask->most, gpus = job->gpus + more;

    if (job->cells > 0 && job->pool != b->node[step->node].pool)
        return false;
    gpus = breed_size(b, step->job, gpus < most ? gpus : most);
    step->was = user != NULL ? user->gpus : 0;
    step->becomes = step->was + gpus - job->gpus;
    return gpus > job->gpus && may_span(b->climb, step) && plan_step(b, step);
}

/* Plans that another job gives up as many GPUs of the node as the gift lacks, or the next
 * number with which it can go on.  False: it has not got them there. */
static bool plan_loss(struct cs_breed *b, const struct climb_step *gift, struct climb_step *loss)
{
    const struct breed_climb *climb = b->climb;
    const struct climb_node *node = &climb->node[gift->node];
    uint32_t lacks = gift->becomes - gift->was - node->left;
    const struct climb_user *user =
        &climb->user[node->first + breed_draw_below(b, node->users)];
    uint32_t gpus = climb->job[user->job].gpus;

    if (user->job == gift->job || user->gpus < lacks)
        return false;
    uint32_t loses = gpus - (gpus > lacks ? breed_size(b, user->job, gpus - lacks) : 0);
    if (loses > user->gpus)
        return false;
    *loss = (struct climb_step) { .job = user->job, .node = gift->node, .was = user->gpus,
                                  .becomes = user->gpus - loses };
    return plan_step(b, loss);
}

/* Have the cores and the memory of the node room for the gift? */
static bool has_host(const struct cs_breed *b, const struct climb_step *gift,
                     const struct climb_step *loss)
{
    const struct climb_node *node = &b->climb->node[gift->node];

    for (uint32_t k = 0; k < CS_BREED_HOST; k++) {
        double needs = b->job[gift->job].ask->each[k] * (gift->becomes - gift->was);
        double gets = loss == NULL ? 0 : b->job[loss->job].ask->each[k] *
                                         (loss->was - loss->becomes);
        if (needs > 0 && needs > node->host_left[k] + gets)
            return false;
    }
    return true;
}

/* Tries one move.  Draws three numbers, or four where another job has to give. */
static void try_move(struct cs_breed *b)
{
    struct breed_climb *climb = b->climb;
    uint32_t n = breed_draw_below(b, b->nodes), pick = breed_draw_below(b, 2 * b->jobs);
    const struct climb_node *node = &climb->node[n];
    struct climb_step loss, gift = { .node = n };

    if (b->node[n].gpus == 0)
        return;
    gift.job = pick < b->jobs || node->users == 0
             ? pick % b->jobs : climb->user[node->first + pick % node->users].job;
    if (!plan_gift(b, &gift, 1 + breed_draw_below(b, b->node[n].gpus)))
        return;
    double better = gift.after.term - climb->job[gift.job].term;
    bool takes = gift.becomes - gift.was > node->left;
    if (takes && (node->users == 0 || !plan_loss(b, &gift, &loss)))
        return;
    if (takes)
        better += loss.after.term - climb->job[loss.job].term;
    if (!(better > 0) || !has_host(b, &gift, takes ? &loss : NULL))
        return;
    if (takes)
        take_step(b, &loss);
    take_step(b, &gift);
    climb->gained += better;
}

/* ---- the climb ---- */

/* A node has at most as many users as GPUs, so that each gets that much room in climb->user. */
static void make_climb_room(struct cs_breed *b)
{
    struct breed_climb *climb = b->climb;
    uint32_t gpus = 0;

    climb->job = cs_grow(b->host, climb->job, &climb->job_room, b->jobs, sizeof *climb->job);
    climb->node = cs_grow(b->host, climb->node, &climb->node_room, b->nodes,
                          sizeof *climb->node);
    for (uint32_t n = 0; n < b->nodes; n++) {
        climb->node[n] = (struct climb_node) { .first = gpus, .left = b->node[n].gpus };
        for (uint32_t k = 0; k < CS_BREED_HOST; k++)
            climb->node[n].host_left[k] = b->node[n].host[k];
        gpus += b->node[n].gpus;
    }
    climb->user = cs_grow(b->host, climb->user, &climb->user_room, gpus, sizeof *climb->user);
}

/* Begins with the rows of a matrix. */
static void begin_climb(struct cs_breed *b, const struct breed_matrix *m)
{
    struct breed_climb *climb = b->climb;

    make_climb_room(b);
    climb->sum = 0;
    for (uint32_t j = 0; j < b->jobs; j++) {
        climb->job[j] = (struct climb_job) { .term = (b->asks.p < 0 ? -1 : 1) * b->none };
        climb->sum += climb->job[j].term;
    }
    for (uint32_t r = 0; r < m->count; r++)
        for (uint32_t i = breed_begin_of(m, r); i < m->end[r]; i++) {
            struct climb_step step = { .job = m->job[r], .node = m->cell[i].node,
                                       .becomes = m->cell[i].gpus };
            plan_step(b, &step);
            take_step(b, &step);
        }
}

/* Appends the row of a job: its cells in the order of nodes. */
static void append_row(struct cs_breed *b, struct breed_matrix *to, uint32_t j,
                       const uint32_t *at, const uint32_t *node)
{
    uint32_t count = b->climb->job[j].cells;

    for (uint32_t i = 0; i < count; i++)
        b->row[i] = (struct cs_cell) { node[at[j] + i],
                                       find_user(b->climb, node[at[j] + i], j)->gpus };
    breed_append(to, j, b->row, count);
}

/* Sets `to` to the rows that the climb has come to. */
static void end_climb(struct cs_breed *b, struct breed_matrix *to)
{
    const struct breed_climb *climb = b->climb;
    uint32_t cells = 0;

    for (uint32_t j = 0; j < b->jobs; j++)
        cells += climb->job[j].cells;
    breed_make_room(b, to, b->jobs, cells);
    b->climb->at = cs_grow(b->host, b->climb->at, &b->climb->at_room, b->jobs + cells,
                           sizeof *b->climb->at);
    uint32_t *at = b->climb->at, *node = at + b->jobs, sum = 0;
    for (uint32_t j = 0; j < b->jobs; j++) {
        at[j] = sum;
        sum += climb->job[j].cells;
    }
    for (uint32_t n = 0; n < b->nodes; n++)
        for (uint32_t u = 0; u < climb->node[n].users; u++)
            node[at[climb->user[climb->node[n].first + u].job]++] = n;
    to->count = 0;
    for (uint32_t j = 0; j < b->jobs; j++) {
        at[j] -= climb->job[j].cells;
        append_row(b, to, j, at, node);
    }
}

void breed_climb(struct cs_breed *b, struct breed_matrix *to, const struct breed_matrix *from)
{
    if (b->climb == NULL)
        b->climb = cs_alloc(b->host, 1, sizeof *b->climb);
    begin_climb(b, from);
    for (uint32_t round = 0; round < ROUNDS_MAX; round++) {
        b->climb->gained = 0;
        for (uint64_t i = 0; i < (uint64_t)MOVES_A_JOB * b->jobs; i++)
            try_move(b);
        if (b->climb->gained <= LEAST_GAIN * fabs(b->climb->sum))
            break;
    }
    end_climb(b, to);
}

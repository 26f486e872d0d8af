/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conservative.c - conservative backfill: every waiting job has a reservation,
 * and no later one may delay it.
 *
 * After Mu'alem and Feitelson (TPDS 2001).  The plan is the free GPUs over
 * time, less what runs (up to its estimate) and what is reserved.  A job that
 * comes is given the earliest place in it; a job that ends early makes the
 * plan looser, and then all reservations are moved forward in order of
 * arrival, none back.  So with estimates that are never too short no job starts
 * later than it was promised on submission.  A job that outlives its
 * estimate breaks promises: all are made anew.  More predictable than easy,
 * with fewer holes to fill.  The plan counts thousandths of GPUs, not their memory, and neither
 * nodes nor cores: where whole nodes are needed, a whole GPU where parts are free, or memory
 * of a GPU that others have, it may not hold.
 * Cores are kept for the first job that is due and finds too few.  A job that may go on
 * cores has a reservation of GPUs, and starts on cores as soon as there are enough; then
 * the plan has its GPUs back.
 *
 * Where jobs name pools or types of GPU, the cluster is cut into lots, sets of groups of
 * nodes that each job may use wholly or not at all.  Each lot has a plan of its own, and a
 * reservation names the lot of each role, in which it starts: the one where it is first.  A
 * gang larger than any lot that it may use is spread over several.
 *
 * What is due is found by time, and a hole in the plan by cs_plan_find(): no
 * decision looks at the whole queue or along the plan but where a job ended
 * early or broke its promise.  Where one did, all reservations are tried, and one
 * in five to three moves as a rule: with a long queue and estimates that are too
 * long that is where the time goes.  So the policy keeps the queue in rows: jobs
 * that follow each other and ask for and start alike are tried once, and as many
 * as there is room for move at once.  Only the first job of a row knows its start,
 * and is in a heap of starts; when it starts, the next one takes its place there.
 * Older entries of a job no longer hold: moves go forward, and only the first start
 * is ever asked for.
 */
#include <assert.h>

#include "policies/cores.h"
#include "policies/order.h"
#include "policies/phases.h"
#include "policies/plan.h"
#include "policies/policy.h"

extern const struct cs_policy conservative_policy;

/* NEVER: the time of what does not happen.  UNTOLD: a start that the job's row knows. */
#define NEVER INT64_MAX
#define UNTOLD (-1)
#define LOTS_MAX 64u            /* each has a bit of its own, see plan.h */

/* Groups of nodes that each job may use wholly or not at all, and how much of their GPUs is
 * free over time. */
struct con_lot {
    struct cs_plan *plan;       /* in thousandths of GPUs */
    uint64_t groups;
    uint32_t gpus;              /* that the plan is made for */
};

struct con_job {
    int64_t start_ns, end_ns;   /* planned; NEVER: no place in the plan.  The start is UNTOLD
                                 * of a job behind others of its row: the row has it */
    int64_t listed_ns;          /* the heap has its entry for this start; UNTOLD: none */
    int64_t run_ns;             /* what it asks for: its run time, */
    uint32_t milli;             /* thousandths of GPUs of each job */
    uint32_t takes;             /* of which its place in the plan takes these */
    uint64_t lots[FORM_ROLES_MAX];      /* by role: a mask; of one lot it is not set */
    uint32_t next;              /* of equal ones that wait in a row; ID_NONE: none */
    bool waits, runs;           /* it has a reservation; it has started */
};

/* Jobs that follow each other in the queue and have equal reservations. */
struct con_row {
    int64_t start_ns, run_ns;   /* of each job of it */
    uint32_t milli;
    uint32_t jobs;              /* in the chain from the first to the last */
    uint32_t first, last;       /* ids; each job's `next` is the one behind it */
};

/* A planned start; it holds while the job waits for that time. */
struct con_start {
    int64_t start_ns;           /* as planned */
    uint32_t id;                /* of the job; it may have started or moved since */
};

struct con {
    struct con_lot lot[LOTS_MAX];
    uint32_t lots;              /* of `lot`; 1 until a job names pools or types */
    bool cut;                   /* a lot was cut, so that all plans are made anew */
    struct con_job *job;        /* by id */
    uint32_t job_room;          /* entries that there are */
    struct con_row *row;        /* the queue; con_compress() drops jobs that no longer wait */
    struct con_row *old_row;    /* room for the next queue */
    uint32_t rows, row_room, old_row_room;
    bool torn;                  /* a job left its row before those ahead of it */
    uint32_t waits;             /* jobs that have a reservation */
    struct con_start *heap;     /* planned starts; some no longer hold */
    uint32_t starts, start_room; /* entries of the heap; entries that there is room for */
    struct con_start *refused;  /* due, but the host could not start them */
    uint32_t refused_room;
    struct cs_order *ends;      /* jobs that run, by the planned end */
    uint32_t fresh;             /* how many came, and have no place yet */
    bool early;                 /* something ended before its plan */
    bool may_go_on_cores;       /* a job came that may */
    uint32_t total;             /* GPUs that the plan is made for, */
    bool begun;                 /* once it is; there may be none */
};

/* Returns the earlier time, or the smaller number. */
static int64_t con_least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- the plan ---- */

/* Makes the plan, and the orders of planned starts and ends. */
static bool con_init(void *self, struct cs_host *host)
{
    struct con *con = self;

    con->lot[0] = (struct con_lot) { cs_plan_new(host), CS_ALL_GROUPS, 0 };
    con->lots = 1;
    con->ends = cs_order_new(host);
    return true;
}

/* Returns the GPUs of a lot that are in service. */
static uint32_t con_lot_gpus(const struct con *con, struct cs_host *host, uint32_t lot)
{
    return con->lots == 1 ? cs_total_gpus(host, 0)
                          : cs_groups_free_by(host, con->lot[lot].groups, NEVER);
}

/* Empty plans for the GPUs that there are now.  What runs and what waits must be taken out of
 * them again: con_replan(). */
static void con_reset(struct con *con, struct cs_host *host)
{
    con->begun = true;
    con->cut = false;
    con->total = cs_total_gpus(host, 0);
    for (uint32_t l = 0; l < con->lots; l++) {
        con->lot[l].gpus = con_lot_gpus(con, host, l);
        cs_plan_clear(con->lot[l].plan, cs_now_ns(host), GPU_MILLI * con->lot[l].gpus);
    }
}

/* Are there more or fewer GPUs than the plans are made for? */
static bool con_resized(const struct con *con, struct cs_host *host)
{
    bool resized = cs_total_gpus(host, 0) != con->total;

    for (uint32_t l = 0; con->lots > 1 && !resized && l < con->lots; l++)
        resized = con_lot_gpus(con, host, l) != con->lot[l].gpus;
    return resized;
}

/* Cuts the lots of which a job may use a part.  For example, with one lot of the groups {0, 1,
 * 2} and a job that may use {1}: the lots are {1} and {0, 2}.  At most one lot for each group
 * can come of it. */
static void con_cut(struct con *con, struct cs_host *host, uint64_t groups)
{
    for (uint32_t l = con->lots; l-- > 0;) {
        uint64_t in = con->lot[l].groups & groups, out = con->lot[l].groups & ~groups;
        if (in == 0 || out == 0)
            continue;
        con->lot[l].groups = in;
        con->lot[con->lots++] = (struct con_lot) { cs_plan_new(host), out, 0 };
        con->cut = true;
    }
}

/* Returns what other roles of a job leave of a lot, thousandths of GPUs.  amount: what they
 * take of each. */
static uint32_t con_rest(const struct con *con, uint32_t lot, const uint32_t *amount)
{
    uint32_t all = GPU_MILLI * con->lot[lot].gpus;

    return amount[lot] < all ? all - amount[lot] : 0;
}

/* Takes `milli` for a role from these lots: of the first one what other roles leave, of the
 * next one the rest.  The last lot takes the rest, even if it has less. */
static void con_spread(const struct con *con, uint64_t lots, uint32_t milli,
                       uint32_t *amount)
{
    for (; lots != 0 && milli > 0; lots &= lots - 1) {
        uint32_t l = (uint32_t)__builtin_ctzll(lots), rest = con_rest(con, l, amount);
        uint32_t part = milli < rest || (lots & (lots - 1)) == 0 ? milli : rest;
        amount[l] += part;
        milli -= part;
    }
}

/* Returns what a role asks for. */
static uint32_t con_role_milli(const struct cs_host *host, uint32_t id, uint32_t role)
{
    const struct job_request *request = cs_request(host, (struct job_id) { id });

    return job_role_gpus(request, role) * job_role_milli(request, role);
}

/* Finds what a job takes of each lot by the lots of its roles: those in one lot first, as
 * those in several have a choice. */
static void con_amounts(const struct con *con, const struct cs_host *host, uint32_t id,
                        uint32_t *amount)
{
    const struct con_job *job = &con->job[id];
    uint32_t roles = cs_request(host, (struct job_id) { id })->form->role_count;

    for (uint32_t l = 0; l < con->lots; l++)
        amount[l] = 0;
    for (int several = 0; several <= 1; several++)
        for (uint32_t r = 0; r < roles; r++)
            if (((job->lots[r] & (job->lots[r] - 1)) != 0) == several)
                con_spread(con, job->lots[r], con_role_milli(host, id, r), amount);
}

/* Takes the place of a job out of the plans for a time, or puts it back (sign -1).  While a
 * cut is pending the plans are void, and nothing is taken. */
static void con_take(struct con *con, const struct cs_host *host, uint32_t id,
                     int64_t start_ns, int64_t end_ns, int sign)
{
    uint32_t amount[LOTS_MAX];

    if (con->cut)
        return;
    if (con->lots == 1) {
        cs_plan_take(con->lot[0].plan, start_ns, end_ns,
                     sign * (int64_t)con->job[id].milli);
        return;
    }
    con_amounts(con, host, id, amount);
    for (uint32_t l = 0; l < con->lots; l++)
        cs_plan_take(con->lot[l].plan, start_ns, end_ns, sign * (int64_t)amount[l]);
}

/* The planned end; NEVER stays NEVER. */
static int64_t con_end(int64_t start_ns, int64_t run_ns)
{
    return clock_after(start_ns, run_ns);
}

/* ---- the queue, and the starts to come ---- */

/* The earlier planned start; of equal ones the job that was submitted first. */
static bool con_sooner(const struct con_start *a, const struct con_start *b)
{
    return a->start_ns != b->start_ns ? a->start_ns < b->start_ns : a->id < b->id;
}

/* Is the entry of the heap still the planned start of a job that waits?  Others are left
 * in the heap until they come to its top. */
static bool con_holds(const struct con *con, const struct con_start *start)
{
    const struct con_job *job = &con->job[start->id];

    return job->waits && job->start_ns == start->start_ns;
}

/* Puts an entry into the heap at a place that is free, or below it. */
static void con_sink(struct con *con, uint32_t hole, struct con_start start)
{
    uint32_t child;

    while ((child = 2 * hole + 1) < con->starts) {
        if (child + 1 < con->starts &&
            con_sooner(&con->heap[child + 1], &con->heap[child]))
            child++;
        if (!con_sooner(&con->heap[child], &start))
            break;
        con->heap[hole] = con->heap[child];
        hole = child;
    }
    con->heap[hole] = start;
}

/* Puts an entry into the heap at a place that is free, or above it. */
static void con_rise(struct con *con, uint32_t hole, struct con_start start)
{
    for (; hole > 0 && con_sooner(&start, &con->heap[(hole - 1) / 2]);
         hole = (hole - 1) / 2)
        con->heap[hole] = con->heap[(hole - 1) / 2];
    con->heap[hole] = start;
}

/* An entry leaves the heap. */
static void con_unlist(struct con *con, const struct con_start *start)
{
    struct con_job *job = &con->job[start->id];

    if (job->listed_ns == start->start_ns)
        job->listed_ns = UNTOLD;
}

/* Takes the first entry out of the heap. */
static struct con_start con_pop(struct con *con)
{
    struct con_start first = con->heap[0];

    assert(con->starts > 0);
    con_unlist(con, &first);
    con_sink(con, 0, con->heap[--con->starts]);
    return first;
}

/* Drops the entries that no longer hold.  O(starts), and done only when three in four entries
 * no longer hold, so that it costs O(1) an entry. */
static void con_clean(struct con *con)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < con->starts; i++)
        if (con_holds(con, &con->heap[i]))
            con->heap[kept++] = con->heap[i];
        else
            con_unlist(con, &con->heap[i]);
    con->starts = kept;
    for (uint32_t i = kept / 2; i-- > 0;)
        con_sink(con, i, con->heap[i]);
}

/* A job waits for its planned start, which is put into the heap.  A start that is in the heap
 * already is not put there again. */
static void con_wait(struct con *con, struct cs_host *host, uint32_t id)
{
    struct con_job *job = &con->job[id];

    con->waits += !job->waits;
    job->waits = true;
    if (job->listed_ns == job->start_ns)
        return;
    if (con->starts >= 64 && con->starts >= 4 * con->waits)
        con_clean(con);
    con->heap = cs_grow(host, con->heap, &con->start_room, con->starts,
                        sizeof *con->heap);
    con_rise(con, con->starts++, (struct con_start) { job->start_ns, id });
    job->listed_ns = job->start_ns;
}

/* Tells a job the planned start of its row, and puts it into the heap. */
static void con_tell(struct con *con, struct cs_host *host, uint32_t id, int64_t start_ns)
{
    con->job[id].start_ns = start_ns;
    con->job[id].end_ns = con_end(start_ns, con->job[id].run_ns);
    con_wait(con, host, id);
}

/* A job leaves the heap or the queue: the next one of its row is told its start. */
static void con_tell_next(struct con *con, struct cs_host *host, uint32_t id)
{
    int64_t start_ns = con->job[id].start_ns;
    uint32_t next = con->job[id].next;

    while (next != ID_NONE && !con->job[next].waits)
        next = con->job[next].next;
    if (start_ns != UNTOLD && next != ID_NONE && con->job[next].start_ns == UNTOLD)
        con_tell(con, host, next, start_ns);
}

/* The job waits for no planned start; its entries in the heap no longer hold. */
static void con_wait_no_more(struct con *con, struct cs_host *host, uint32_t id)
{
    if (!con->job[id].waits)
        return;
    con->waits--;
    con->job[id].waits = false;
    con_tell_next(con, host, id);
}

/* Puts jobs at the end of the queue: of its last row, if they are equal and came later.  Rows
 * are kept only where there is one lot and no job may go on cores: elsewhere jobs alike may
 * still have to be tried one by one. */
static void con_append(struct con *con, struct cs_host *host, const struct con_row *row)
{
    struct con_row *last = con->rows > 0 ? &con->row[con->rows - 1] : NULL;

    assert(row->jobs > 0);
    if (last != NULL && con->lots == 1 && !con->may_go_on_cores &&
        last->start_ns == row->start_ns && last->run_ns == row->run_ns &&
        last->milli == row->milli && last->last < row->first && con->job[last->last].waits) {
        con->job[last->last].next = row->first;
        con->job[row->first].start_ns = UNTOLD;
        last->last = row->last;
        last->jobs += row->jobs;
        return;
    }
    if (con->rows == con->row_room)
        con->row = cs_grow(host, con->row, &con->row_room, con->rows, sizeof *con->row);
    con->row[con->rows++] = *row;
}

/* Drops the jobs that no longer wait from a row: the first ones, or all if it may be torn.
 * `jobs` counts the chain, so that a row that is empty has 0. */
static void con_shrink(struct con *con, struct con_row *row)
{
    uint32_t last = ID_NONE;

    for (; row->jobs > 0 && !con->job[row->first].waits; row->jobs--)
        row->first = con->job[row->first].next;
    if (con->torn) {
        uint32_t jobs = row->jobs, id = row->first;
        for (row->jobs = 0; jobs > 0; jobs--, id = con->job[id].next) {
            if (!con->job[id].waits)
                continue;
            if (last != ID_NONE) {
                con->job[last].next = id;
                con->job[id].start_ns = UNTOLD;
            }
            last = id;
            row->jobs++;
        }
        row->last = last;
        if (last != ID_NONE)
            con->job[last].next = ID_NONE;
    }
    assert(row->jobs == 0 || con->job[row->first].start_ns == row->start_ns);
}

/* Returns the first start to come; NULL: no job has a reservation. */
static const struct con_start *con_first(struct con *con)
{
    while (con->starts > 0 && !con_holds(con, &con->heap[0]))
        con_pop(con);
    return con->starts > 0 ? &con->heap[0] : NULL;
}

/* NEVER: no job has a reservation.  Returns when the next reservation is due. */
static int64_t con_first_start_ns(struct con *con)
{
    const struct con_start *first = con_first(con);

    return first != NULL ? first->start_ns : NEVER;
}

/* ---- reservations ---- */

/* A role for which lots are chosen, and where it may lie. */
struct con_role {
    const struct cs_host *host;
    uint32_t id, role;          /* of the job; of the role in it */
    struct cs_reach reach;
};

/* Returns the lots that a role may use for an option of its reach, as a mask. */
static uint64_t con_option(const struct con *con, const struct cs_reach *reach, uint32_t i)
{
    uint64_t lots = 0;

    for (uint32_t l = 0; l < con->lots; l++)
        if ((con->lot[l].groups & reach->option[i].groups) != 0)
            lots |= UINT64_C(1) << l;
    return lots;
}

/* Could these lots together hold the role, with the cores and the memory that it needs beside
 * its GPUs?  The plans count GPUs alone. */
static bool con_could_hold(const struct con *con, const struct con_role *role, uint64_t lots)
{
    uint64_t groups = 0;

    for (; lots != 0; lots &= lots - 1)
        groups |= con->lot[__builtin_ctzll(lots)].groups;
    return cs_groups_could_hold(role->host, (struct job_id) { role->id }, role->role, groups);
}

/* Returns the lot in which a role is first, beside what other roles of its job take of each
 * lot, as a mask; of one that is larger than each lot, the lots of its first option that is
 * large enough.  *start_ns: when, of one lot.  An option is a type of GPU with the groups that
 * have it. 0: no option is large enough. */
static uint64_t con_choose(const struct con *con, const struct con_role *role,
                           const uint32_t *amount, int64_t run_ns, int64_t *start_ns)
{
    const struct cs_reach *reach = &role->reach;
    uint32_t milli = reach->gpus * reach->gpu_milli;
    uint64_t best = 0, wide = 0;

    *start_ns = NEVER;
    for (uint32_t i = 0; i < reach->count; i++) {
        uint64_t option = con_option(con, reach, i), all = 0;
        for (uint64_t lots = option; lots != 0; lots &= lots - 1) {
            uint32_t l = (uint32_t)__builtin_ctzll(lots);
            all += con_rest(con, l, amount);
            if (milli > con_rest(con, l, amount) ||
                !con_could_hold(con, role, UINT64_C(1) << l))
                continue;
            int64_t at_ns = cs_plan_find(con->lot[l].plan, amount[l] + milli, run_ns, NEVER);
            if (best == 0 || at_ns < *start_ns) {
                best = UINT64_C(1) << l;
                *start_ns = at_ns;
            }
        }
        if (wide == 0 && milli <= all && con_could_hold(con, role, option))
            wide = option;
    }
    return best != 0 ? best : wide;
}

/* Returns the first time at which all lots have for a job what it takes of them.  Each lot in
 * turn may put the time off; when all have agreed to one time in a row, it is found. */
static int64_t con_meet(const struct con *con, const uint32_t *amount, int64_t run_ns)
{
    int64_t at_ns = 0;
    uint32_t agreed = 0;

    for (uint32_t l = 0; agreed < con->lots && at_ns < NEVER; l = (l + 1) % con->lots) {
        int64_t then_ns = amount[l] == 0 ? at_ns : cs_plan_find_from(con->lot[l].plan, at_ns,
                                                                     amount[l], run_ns);
        agreed = then_ns > at_ns ? 1 : agreed + 1;
        at_ns = then_ns;
    }
    return at_ns;
}

/* Returns how many lots could hold a role, if they were empty; of one that is larger than each
 * lot, more than there are. */
static uint32_t con_count_lots(const struct con *con, const struct con_role *role)
{
    const struct cs_reach *reach = &role->reach;
    uint32_t count = 0;

    for (uint32_t i = 0; i < reach->count; i++)
        for (uint64_t lots = con_option(con, reach, i); lots != 0; lots &= lots - 1)
            count += reach->gpus * reach->gpu_milli <=
                         GPU_MILLI * con->lot[__builtin_ctzll(lots)].gpus &&
                     con_could_hold(con, role, lots & -lots);
    return count > 0 ? count : UINT32_MAX;
}

/* Chooses lots for the roles of a job, for those first that few lots could hold: a role that
 * takes room where another one has no choice would leave the job without a place.  False: a
 * role has no place.  *start_ns: when the last role can start, if it lies in one lot. */
static bool con_choose_all(const struct con *con, const struct cs_host *host, uint32_t id,
                           int64_t *start_ns)
{
    struct con_job *job = &con->job[id];
    uint32_t roles = cs_request(host, (struct job_id) { id })->form->role_count;
    uint32_t amount[LOTS_MAX] = { 0 }, choices[FORM_ROLES_MAX];
    struct con_role role[FORM_ROLES_MAX];

    for (uint32_t r = 0; r < roles; r++) {
        role[r] = (struct con_role) { .host = host, .id = id, .role = r };
        cs_role_reach(host, (struct job_id) { id }, r, &role[r].reach);
        choices[r] = con_count_lots(con, &role[r]);
        job->lots[r] = 0;
    }
    for (uint32_t k = 0; k < roles; k++) {
        uint32_t next = 0;
        for (uint32_t r = 1; r < roles; r++)
            if (choices[r] != 0 && (choices[next] == 0 || choices[r] < choices[next]))
                next = r;
        choices[next] = 0;          /* it has been chosen for */
        job->lots[next] = con_choose(con, &role[next], amount, job->run_ns, start_ns);
        if (role[next].reach.gpus > 0 && job->lots[next] == 0)
            return false;
        con_spread(con, job->lots[next], con_role_milli(host, id, next), amount);
    }
    return true;
}

/* Chooses lots for a job, and returns when it can start there; NEVER: not at all. */
static int64_t con_find(struct con *con, struct cs_host *host, uint32_t id)
{
    struct con_job *job = &con->job[id];
    uint32_t roles = cs_request(host, (struct job_id) { id })->form->role_count;
    uint32_t amount[LOTS_MAX];
    int64_t start_ns = NEVER;

    if (con->lots == 1)
        return cs_plan_find(con->lot[0].plan, job->milli, job->run_ns, NEVER);
    bool never = !con_choose_all(con, host, id, &start_ns);
    if (roles == 1 && (job->lots[0] & (job->lots[0] - 1)) == 0 && job->lots[0] != 0)
        return start_ns;
    con_amounts(con, host, id, amount);
    return never ? NEVER : con_meet(con, amount, job->run_ns);
}

/* Gives a job, the last of the queue, the earliest place that the plan has for its GPUs and its
 * run time. */
static void con_reserve(struct con *con, struct cs_host *host, uint32_t id)
{
    struct con_job *job = &con->job[id];

    job->start_ns = con_find(con, host, id);
    job->end_ns = con_end(job->start_ns, job->run_ns);
    con_take(con, host, id, job->start_ns, job->end_ns, 1);
    job->takes = job->milli;
    con_wait(con, host, id);
    con_append(con, host, &(struct con_row) { job->start_ns, job->run_ns, job->milli, 1, id, id });
}

/* May the job go on cores?  Where a plan counts GPUs, one role alone has a choice. */
static bool con_may_go_on_cores(const struct cs_host *host, struct job_id id)
{
    const struct job_form *form = cs_request(host, id)->form;

    return form->role_count == 1 && form->role[0].on_cores.cores > 0;
}

/* Cuts the lots, if the job may use a part of one.  Later decisions make all plans anew, as
 * what runs lies in other lots then. */
static void con_cut_for(struct con *con, struct cs_host *host, struct job_id job)
{
    uint32_t roles = cs_request(host, job)->form->role_count;

    for (uint32_t r = 0; r < roles; r++) {
        struct cs_reach reach;
        cs_role_reach(host, job, r, &reach);
        for (uint32_t i = 0; i < reach.count; i++)
            con_cut(con, host, reach.option[i].groups);
    }
}

/* Notes what a job asks for.  It has no place, and does not run, even if it did before. */
static void con_task(struct con *con, const struct cs_host *host, const struct cs_task *task)
{
    struct con_job *job = &con->job[task->job.i];

    job->milli = task->gpus * task->gpu_milli;
    job->run_ns = task->estimate_ns > 0 ? task->estimate_ns : 1;
    job->start_ns = job->end_ns = NEVER;
    job->listed_ns = UNTOLD;
    job->next = ID_NONE;
    job->runs = false;
    con->may_go_on_cores |= con_may_go_on_cores(host, task->job);
}

/* Notes a new job; it gets its place in the plan at the next decision. */
static void con_job_submitted(void *self, struct cs_host *host,
                              struct job_id job)
{
    struct con *con = self;

    if (!con->begun)
        con_reset(con, host);
    con->job = cs_grow(host, con->job, &con->job_room, job.i, sizeof *con->job);
    struct task_id task = cs_job_task(host, job, CS_ALL_ROLES);
    if (task.i == ID_NONE)
        return;
    con_cut_for(con, host, job);
    con_task(con, host, cs_task(host, task));
    con->fresh++;
}

/* Returns the planned start of a job that waits; in a row, the first one knows it.  O(jobs)
 * where the row must be found; only jobs that end while they wait need it. */
static int64_t con_planned_ns(const struct con *con, uint32_t id)
{
    for (uint32_t r = 0; con->job[id].start_ns == UNTOLD && r < con->rows; r++) {
        uint32_t at = con->row[r].first;
        for (uint32_t i = 0; i < con->row[r].jobs; i++, at = con->job[at].next)
            if (at == id)
                return con->row[r].start_ns;
    }
    assert(con->job[id].start_ns != UNTOLD);
    return con->job[id].start_ns;
}

/* A job that ends while it waits, as a replica that is no longer wanted, leaves its place.  Of
 * a place that has begun, what is left of it. */
static void con_give_back(struct con *con, struct cs_host *host, uint32_t id)
{
    int64_t start_ns = con_planned_ns(con, id), now_ns = cs_now_ns(host);
    int64_t end_ns = con_end(start_ns, con->job[id].run_ns);

    if (start_ns < now_ns)
        start_ns = now_ns;
    if (start_ns < end_ns)
        con_take(con, host, id, start_ns, end_ns, -1);
    con->torn = con->early = true;
}

/* A job that ended early gives back the rest of its place in the plan.  Room has come free
 * early: all reservations are tried at the next decision. */
static void con_job_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct con *con = self;
    struct con_job *job = &con->job[id.i];

    if (job->runs && job->end_ns > cs_now_ns(host)) {
        if (job->takes > 0)
            con_take(con, host, id.i, cs_now_ns(host), job->end_ns, -1);
        con->early = true;
    }
    job->runs = false;
    if (job->waits)
        con_give_back(con, host, id.i);
    con_wait_no_more(con, host, id.i);
    cs_order_drop(con->ends, id.i);
}

/* The lots of a job that runs are those where its leases lie. */
static void con_locate(struct con *con, const struct cs_host *host, uint32_t id)
{
    struct con_job *job = &con->job[id];

    for (uint32_t r = 0; con->lots > 1 && r < FORM_ROLES_MAX; r++) {
        struct lease_id lease = cs_role_lease(host, (struct job_id) { id }, r);
        job->lots[r] = 0;
        for (uint32_t l = 0; lease.i != ID_NONE && l < con->lots; l++)
            if (cs_lease_gpus_on(host, lease, con->lot[l].groups) > 0)
                job->lots[r] |= UINT64_C(1) << l;
    }
}

/* All anew: what runs, at least for an instant more, then what waits.  O(jobs x a search in
 * the plan). */
static void con_replan(struct con *con, struct cs_host *host)
{
    int64_t now_ns = cs_now_ns(host);

    con_reset(con, host);
    con->rows = con->starts = 0;
    con->torn = false;
    for (uint32_t i = 0; i < cs_running_count(host); i++) {
        uint32_t id = cs_running(host, i).i;
        struct con_job *job = &con->job[id];
        if (job->end_ns <= now_ns)
            job->end_ns = clock_after(now_ns, 1);
        con_locate(con, host, id);
        if (job->takes > 0)
            con_take(con, host, id, now_ns, job->end_ns, 1);
        cs_order_put(con->ends, id, job->end_ns);
    }
    for (uint32_t i = 0; i < cs_pending_count(host); i++) {
        const struct cs_task *task = cs_task(host, cs_pending(host, i));
        con_task(con, host, task);
        cs_order_drop(con->ends, task->job.i);  /* if it was interrupted */
        con_reserve(con, host, task->job.i);
    }
}

/* Moves a job forward where there are several lots.  It gives up its place and looks for one in
 * all lots.  If the new place is not earlier, it takes the old one again. */
static void con_move(struct con *con, struct cs_host *host, uint32_t id)
{
    struct con_job *job = &con->job[id], before = *job;

    con_take(con, host, id, job->start_ns, job->end_ns, -1);
    int64_t start_ns = con_find(con, host, id);
    if (start_ns >= before.start_ns) {
        *job = before;
        con_take(con, host, id, job->start_ns, job->end_ns, 1);
        return;
    }
    job->start_ns = start_ns;
    job->end_ns = con_end(start_ns, job->run_ns);
    con_take(con, host, id, job->start_ns, job->end_ns, 1);
    con_wait(con, host, id);
}

/* The first jobs of a row leave it for an earlier start, and are a row of their own.  The part
 * that moves is appended to the queue, before what is left of the row, which follows. */
static void con_split(struct con *con, struct cs_host *host, struct con_row *row,
                      uint32_t jobs, int64_t start_ns)
{
    struct con_row part = { start_ns, row->run_ns, row->milli, jobs, row->first, row->last };

    assert(jobs > 0 && jobs <= row->jobs);
    if (jobs < row->jobs) {
        for (uint32_t i = 0; i < jobs; i++) {
            part.last = row->first;
            row->first = con->job[part.last].next;
        }
        con->job[part.last].next = ID_NONE;
        con_tell(con, host, row->first, row->start_ns);
    }
    row->jobs -= jobs;
    con_tell(con, host, part.first, start_ns);
    con_append(con, host, &part);
}

/* The first jobs of a row move forward if there is room: their own place counts as free, so
 * that room that reaches up to it is enough.  As many move as the plan has room for where the
 * first one starts: its own place is later, so that the next one finds no earlier start.
 * The others are left in the row; false: none can move.  For example, a row of jobs of 2 GPUs
 * planned at 100 finds room for 5 GPUs at 40: two of them move to 40, the others stay at 100
 * and are tried again. */
static bool con_advance(struct con *con, struct cs_host *host, struct con_row *row)
{
    struct cs_plan *plan = con->lot[0].plan;
    int64_t was_ns = row->start_ns;
    int64_t start_ns = cs_plan_find(plan, row->milli, row->run_ns, was_ns);
    uint32_t jobs = row->jobs;

    if (start_ns == was_ns)
        return false;
    int64_t was_end_ns = con_end(was_ns, row->run_ns);
    int64_t end_ns = con_end(start_ns, row->run_ns), meet_ns = con_least(end_ns, was_ns);
    if (jobs > 1 && row->milli > 0)
        jobs = (uint32_t)con_least(jobs, cs_plan_least(plan, start_ns, meet_ns) / row->milli);
    int64_t milli = (int64_t)jobs * row->milli;
    cs_plan_take(plan, start_ns, meet_ns, milli);
    cs_plan_take(plan, end_ns > was_ns ? end_ns : was_ns, was_end_ns, -milli);
    con_split(con, host, row, jobs, start_ns);
    return true;
}

/* Moves reservations forward, in the order of the queue.  The old queue is read while the new
 * one is written; the two arrays change their roles. */
static void con_move_all(struct con *con, struct cs_host *host)
{
    struct con_row *row = con->row;
    uint32_t rows = con->rows, room = con->row_room;
    int64_t now_ns = cs_now_ns(host);

    con->row = con->old_row;
    con->row_room = con->old_row_room;
    con->old_row = row;
    con->old_row_room = room;
    con->rows = 0;
    for (uint32_t i = 0; i < rows; i++) {
        if (con->torn || row[i].start_ns <= now_ns)
            con_shrink(con, &row[i]);
        while (row[i].jobs > 0 && con->lots == 1 && con_advance(con, host, &row[i]))
            ;
        if (row[i].jobs == 0)
            continue;
        if (con->lots > 1) {
            con_move(con, host, row[i].first);
            row[i].start_ns = con->job[row[i].first].start_ns;
        }
        con_append(con, host, &row[i]);
    }
    con->torn = false;
}

/* Moves reservations forward, and makes those of new jobs.  New jobs stand at the end of the
 * host's queue, `fresh` of them. */
static void con_compress(struct con *con, struct cs_host *host)
{
    uint32_t count = cs_pending_count(host);

    if (con->early)
        con_move_all(con, host);
    for (uint32_t i = count - con->fresh; i < count; i++)
        con_reserve(con, host, cs_task(host, cs_pending(host, i))->job.i);
}

/* The end of the first that ends. */
static int64_t con_first_end_ns(const struct con *con)
{
    uint32_t id = cs_order_from(con->ends, 0);

    return id != ID_NONE ? cs_order_key(con->ends, id) : NEVER;
}

/* Was a job interrupted?  Did something outlive its plan, or miss its reservation?  Have nodes
 * come or gone?  If any of it is so, all reservations are made anew. */
static bool con_broken(struct con *con, struct cs_host *host)
{
    return cs_pending_count(host) != con->waits + con->fresh ||
           con->cut || con_resized(con, host) ||
           con_first_start_ns(con) < cs_now_ns(host) ||
           con_first_end_ns(con) <= cs_now_ns(host);
}

/* A job has started, on cores or on the GPUs of its place in the plan.  On cores the plan
 * has them back, and all reservations are tried again. */
static void con_begin(struct con *con, struct cs_host *host, uint32_t id)
{
    struct con_job *job = &con->job[id];

    con_wait_no_more(con, host, id);
    job->runs = true;
    if (job->takes > 0 && !cs_holds_gpus(host, (struct job_id) { id })) {
        con_take(con, host, id, job->start_ns, job->end_ns, -1);
        job->takes = 0;
        job->start_ns = cs_now_ns(host);
        job->end_ns = con_end(job->start_ns, job->run_ns);
        con->early = true;
    }
    cs_order_put(con->ends, id, job->end_ns);
}

/* Cores that are kept for the first job that is due and finds no room. */
struct con_held {
    int64_t until_ns;           /* when enough are expected to be free; NEVER: none are kept */
    int64_t spare_milli;        /* how many more there are then, in thousandths */
    uint64_t groups;            /* a mask of groups of nodes; lots have none in common */
};

/* A job is due and finds no room: if it needs cores, they are kept for it.  The plan counts
 * GPUs alone, so that a job with a place in it may still find too few cores. */
static void con_hold_cores(struct cs_host *host, struct task_id task,
                           struct con_held *held)
{
    int64_t milli = cs_task_core_milli(host, task);

    if (milli == 0 || cs_total_cores(host) == 0)
        return;
    held->groups = cs_job_groups(host, cs_task(host, task)->job);
    held->until_ns = cs_groups_cores_ns(host, held->groups, milli, cs_now_ns(host),
                                        &held->spare_milli);
}

/* May a job start that takes `milli` thousandths of cores, as it leaves those that are kept?
 * The plan, which counts GPUs, does not hold it back.  True if it ends before they are needed,
 * if it lies on other nodes, or if it takes no more than is spare; that is counted then. */
static bool con_keeps_cores(const struct cs_host *host, struct task_id id, int64_t milli,
                            struct con_held *held)
{
    const struct cs_task *task = cs_task(host, id);

    if (held->until_ns == NEVER ||
        task->estimate_ns <= held->until_ns - cs_now_ns(host) ||
        (cs_job_groups(host, task->job) & held->groups) == 0)
        return true;
    if (milli > held->spare_milli)
        return false;
    held->spare_milli -= milli;
    return true;
}

/* Returns the thousandths of cores that a job takes in the place of GPUs. */
static int64_t con_milli_on_cores(const struct cs_host *host, struct job_id job)
{
    return INT64_C(1000) * cs_request(host, job)->form->role[0].on_cores.cores;
}

/* Jobs that may go on cores, and are not due yet, start there if they find room.  For as long
 * as the plan holds GPUs for a job that may go on cores, it is tried there too. */
static void con_start_on_cores(struct con *con, struct cs_host *host,
                               struct con_held *held)
{
    struct cs_filter filter = { .estimate_max_ns = INT64_MAX, .startable = true };
    uint32_t i = 0;

    while (con->may_go_on_cores &&
           (i = cs_find_pending(host, i, &filter)) < cs_pending_count(host)) {
        struct task_id id = cs_pending(host, i);
        struct job_id job = cs_task(host, id)->job;
        if (con->job[job.i].takes > 0 && con_may_go_on_cores(host, job) &&
            con_keeps_cores(host, id, con_milli_on_cores(host, job), held) &&
            cs_start_on_cores(host, id) == CS_DONE) {
            con->torn = true;
            con_begin(con, host, job.i);    /* it left the order: i is the next */
        } else {
            i++;
        }
    }
}

/* Starts a job in the lots of its reservation. */
static enum cs_verdict con_start(struct con *con, struct cs_host *host, struct task_id id)
{
    struct job_id job = cs_task(host, id)->job;
    uint32_t roles = cs_request(host, job)->form->role_count;
    struct cs_want want[FORM_ROLES_MAX] = { { 0 } };

    if (con->lots == 1)
        return cs_start(host, id);
    for (uint32_t r = 0; r < roles; r++) {
        uint64_t groups = 0;
        for (uint64_t lots = con->job[job.i].lots[r]; lots != 0; lots &= lots - 1)
            groups |= con->lot[__builtin_ctzll(lots)].groups;
        want[r].role = r;
        if (groups != 0)
            cs_want_groups(host, job, groups, &want[r]);
    }
    return cs_start_wants(host, id, want, roles);
}

/* Every reservation that is due starts.  What the host refuses waits on. */
static void con_start_due(struct con *con, struct cs_host *host, struct con_held *held)
{
    const struct con_start *first;
    uint32_t refused = 0;

    while ((first = con_first(con)) != NULL && first->start_ns <= cs_now_ns(host)) {
        struct con_start due = con_pop(con);
        struct task_id task = cs_job_task(host, (struct job_id) { due.id }, CS_ALL_ROLES);
        con_tell_next(con, host, due.id);
        if (con_keeps_cores(host, task, cs_task_core_milli(host, task), held) &&
            con_start(con, host, task) == CS_DONE) {
            con_begin(con, host, due.id);
            continue;
        }
        if (held->until_ns == NEVER)
            con_hold_cores(host, task, held);
        con->refused = cs_grow(host, con->refused, &con->refused_room, refused,
                               sizeof *con->refused);
        con->refused[refused++] = due;
        con->torn = true;
    }
    while (refused > 0)
        con_wait(con, host, con->refused[--refused].id);
}

/* Nothing runs, and what is due could not start in the lots of its reservation, or nothing has a
 * reservation: what waits starts wherever it may run.  Two roles that share a lot may lack cores
 * there together, which nothing counts before.  All plans are made anew then. */
static void con_start_anywhere(struct con *con, struct cs_host *host)
{
    uint32_t k = 0;

    while (k < cs_pending_count(host)) {
        struct task_id id = cs_pending(host, k++);
        uint32_t job = cs_task(host, id)->job.i;
        if (cs_start(host, id) != CS_DONE)
            continue;
        con->cut = true;
        con_wait_no_more(con, host, job);
        con->job[job].start_ns = cs_now_ns(host);
        con->job[job].end_ns = con_end(cs_now_ns(host), con->job[job].run_ns);
        con_begin(con, host, job);
        k = 0;                  /* a start changes the order */
    }
}

/* First the plan is brought up to date, then every reservation that is due
 * starts.  If nothing ends before the next one is due, the policy must be
 * woken for it.  Starting on cores gives GPUs back to the plan, so that reservations may move
 * forward and more may be due: until nothing is given back. */
static void con_decide(void *self, struct cs_host *host)
{
    struct con *con = self;
    int64_t now_ns = cs_now_ns(host);

    if (!con->begun)
        con_reset(con, host);
    for (uint32_t l = 0; l < con->lots && !con->cut; l++)
        cs_plan_forget(con->lot[l].plan, now_ns);
    if (con_broken(con, host))
        con_replan(con, host);
    else
        con_compress(con, host);
    con->fresh = 0;
    do {
        struct con_held held = { NEVER, INT64_MAX, 0 };
        con->early = false;
        con_start_due(con, host, &held);
        con_start_on_cores(con, host, &held);
        if (con->early)
            con_compress(con, host);
    } while (con->early);
    int64_t due_ns = con_first_start_ns(con);
    if (con->lots > 1 && cs_lease_count(host) == 0 && (due_ns <= now_ns || due_ns == NEVER))
        con_start_anywhere(con, host);
    /* Nothing ends there, where what was to end has been moved forward.  A job
     * that outlives its plan ends an instant from now by it: that is no alarm. */
    int64_t start_ns = con_first_start_ns(con);
    if (start_ns > now_ns && start_ns < NEVER &&
        start_ns < con_first_end_ns(con))
        cs_wake_at(host, start_ns);
}

const struct cs_policy conservative_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR,
    .size_bytes = sizeof(struct cs_policy),
    .name = "conservative",
    .cites = "mualem2001utilization",
    .summary = "conservative backfill: every waiting job has a reservation",
    .flags = CS_RESERVES | CS_ASKS_ESTIMATES,
    .self_bytes = sizeof(struct con),
    .init = con_init,
    .decide = con_decide,
    .job_submitted = con_job_submitted,
    .job_ended = con_job_ended,
};

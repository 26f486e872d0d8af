/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * recount.c - hears what happens, and asks the books at the end.
 */
#include "experiments/recount/recount.h"

#include <assert.h>
#include <string.h>

#include "experiments/recount/arrivals.h"
#include "experiments/recount/books.h"
#include "experiments/recount/events.h"
#include "experiments/recount/held.h"
#include "experiments/recount/judge.h"
#include "experiments/recount/levels.h"
#include "experiments/recount/lost.h"
#include "experiments/recount/nodes.h"
#include "experiments/recount/published.h"
#include "experiments/recount/rows.h"
#include "experiments/recount/tables.h"
#include "experiments/spec/trial_spec.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "models/laws/phase.h"
#include "models/types/facts.h"
#include "models/types/placement.h"
#include "policies/host/host.h"
#include "policies/policy.h"
#include "policies/state/terms.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/event/journal.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "workloads/source.h"

#define FAIR_EVERY 64u          /* decisions between two looks at rates, */
#define FAIR_FLOWS 64u          /* if no more flows run; full: FAIR_FLOWS_FULL */
#define FAIR_FLOWS_FULL 1024u

/* The second opinion: the books, and what is heard between two instants. */
struct recount {
    struct recount_parts parts;
    struct recount_books books; /* one for each kind of figure */
    struct arrivals *arrivals;  /* or NULL */
    struct cs_host *host;       /* NULL: GPUs are a count */
    const uint32_t *waits, *runs;       /* without a host */
    bool full, fair_due, services;
    uint32_t rows_read;         /* of jobs.csv, */
    size_t bytes_read;          /* ... and their bytes */
    uint64_t decides;           /* decisions so far */
    struct levels levels;
    struct judge judge;
};

/* ---- what is heard ------------------------------------------------------ */

/* Returns whether what happens now counts.  What happens at the very end of the
 * warm-up is still of the warm-up. */
static bool counts(const struct recount *r, int64_t now)
{
    return r->parts.spec->warmup_ns == 0 || now > r->parts.spec->warmup_ns;
}

/* Returns the books, and notes that this fact is of the run: a drained run ends with
 * the last one. */
static struct recount_books *moves(struct recount *r, const struct fact *fact)
{
    r->books.last_ns = fact->time_ns;
    r->judge.terms++;
    return &r->books;
}

/* Begins the run at the first job.  With a trace alone nothing counts before
 * it. */
static void note_first(struct recount_books *b, int64_t now)
{
    if (b->begun)
        return;
    b->begun = true;
    b->first_ns = now;
    if (b->alone && b->held->from_ns < now)
        b->held->from_ns = now;
}

/* A job came; the first one of a trace begins what counts. */
static void hear_submit(void *self, const struct fact *fact)
{
    struct recount *r = self;
    struct recount_books *b = moves(r, fact);
    struct job_id id = { fact->subject };
    const struct job_request *request = &host_job(r->host, id)->request;

    nodes_job(b->nodes);
    rows_submit(b->rows, request, fact->time_ns);
    arrivals_job(r->arrivals, request);
    note_first(b, fact->time_ns);
}

/* Reads the row of jobs.csv that was just written, and compares it with the
 * job. */
static void read_row(struct recount *r, const struct host_job *job, enum job_status status)
{
    if (r->parts.jobs != NULL && (r->full || r->rows_read < TABLES_JOBS)) {
        tables_job(r->parts.jobs, &r->bytes_read, job, status, &r->judge);
        r->rows_read++;
    }
}

/* Adds up what the row of the job says.  All sums but transfer_usd are over all time:
 * judge_rows() compares them with leases of all time. */
static void hear_end(void *self, const struct fact *fact)
{
    struct recount *r = self;
    struct recount_books *b = moves(r, fact);
    const struct host_job *job = host_job(r->host, (struct job_id){ fact->subject });

    rows_end(b->rows, job, (enum job_status)fact->object, fact->time_ns);
    b->told.gpu_s += job->gpu_seconds;
    b->told.core_s += job->core_seconds;
    b->told.usd += job->usd;
    b->told.compute_usd += job->usd_compute;
    b->told.switch_usd += job->usd_switch;
    b->told.joules += job->joules;
    b->told.preemptions += job->preemptions;
    b->told.interruptions += job->interruptions;
    b->told.dropped += fact->object == JOB_DROPPED;
    if (job->usd_transfer > 0)
        judge_holds(&r->judge, "cost_transfer_usd of jobs.csv",
                    rows_had_rented(b->rows, fact->subject),
                    "a job pays for transfers that held no rented node");
    if (counts(r, fact->time_ns))
        b->told.transfer_usd += job->usd_transfer;
    held_row(b->held, job, (enum job_status)fact->object);
    if (r->services && job->request.form->phase[0].law->kind == LAW_SERVE) {
        b->told.service.gpu_s += job->gpu_seconds;
        b->told.service.core_s += job->core_seconds;
        b->told.service.usd += job->usd;
        b->told.service.joules += job->joules;
    }
    read_row(r, job, (enum job_status)fact->object);
}

/* Tells nodes.c of the nodes of a lease that begins (+1) or ends (-1); not needed where
 * no node is billed while held. */
static void nodes_of(struct recount *r, const struct fact *fact, int change)
{
    const struct placement *place;

    if (!r->books.pays_held)
        return;
    place = &cs_lease(r->host, (struct lease_id){ fact->subject })->placement;
    for (uint32_t s = 0; s < place->share_count; s++)
        nodes_lease(r->books.nodes, place->share[s].node, fact->time_ns, change);
}

/* Tells lost.c of a lease that begins (+1) or ends (-1). */
static void lease_of(struct recount *r, const struct fact *fact, int change)
{
    const struct held_lease *lease = &r->books.held->lease[fact->subject];

    lost_lease(r->books.lost, lease->job, lease->milli, lease->take_ns, fact->time_ns,
               r->books.held->from_ns, change);
}

/* A lease begins.  `held` must know it before the others ask. */
static void hear_take(void *self, const struct fact *fact)
{
    struct recount *r = self;

    held_take(moves(r, fact)->held, fact);
    lease_of(r, fact, +1);
    nodes_of(r, fact, +1);
}

/* A lease ends. */
static void hear_drop(void *self, const struct fact *fact)
{
    struct recount *r = self;

    held_drop(moves(r, fact)->held, fact);
    lease_of(r, fact, -1);
    nodes_of(r, fact, -1);
}

/* All that a lease loads is there: from now on it waits. */
static void hear_ready(void *self, const struct fact *fact)
{
    held_does(((struct recount *)self)->books.held, fact, HELD_WAITS);
}

/* A lease that is to end saves or unloads, which counts as loading. */
static void hear_leave(void *self, const struct fact *fact)
{
    held_does(moves(self, fact)->held, fact, HELD_LOADS);
}

/* A phase starts on a lease. */
static void hear_phase(void *self, const struct fact *fact)
{
    held_does(((struct recount *)self)->books.held, fact, HELD_WORKS);
}

/* A phase ended.  Its time is added before the lease is told that it waits again, for that
 * sets its clock anew. */
static void hear_phase_end(void *self, const struct fact *fact)
{
    struct recount_books *b = moves(self, fact);
    struct held *held = b->held;

    held_phase(held, fact);
    if (b->lost != NULL) {
        const struct host_phase_run *run =
            host_phase_run(b->host, (struct lease_id){ fact->subject });

        lost_phase(b->lost, host_job(b->host, run->job), run,
                   held->lease[fact->subject].milli, fact->time_ns, fact->amount > 0);
    }
    held_does(held, fact, HELD_WAITS);
}

/* Another part of the GPUs of a lease is busy. */
static void hear_busy(void *self, const struct fact *fact)
{
    struct recount *r = self;

    r->judge.terms++;
    held_busy(r->books.held, fact);
}

/* A node fails, comes back, or is rented or given back.  That does not move the
 * end of the run, for it happens after the last job, too. */
static void hear_node(void *self, const struct fact *fact)
{
    struct recount *r = self;

    nodes_fact(r->books.nodes, fact, rows_inside(r->books.rows));
}

/* Hears facts that change no book: up to their time the levels of before held. */
static void hear_other(void *self, const struct fact *fact)
{
    (void)moves(self, fact);
}

/* Rows of jobs count failures of the warm-up, too: all_interrupts is what they are
 * compared with.  The fact says whether a job was set back, or went on from its state. */
static void hear_interrupt(void *self, const struct fact *fact)
{
    struct recount *r = self;

    moves(r, fact)->told.all_interrupts++;
    const struct host_job *job = host_job(r->host, (struct job_id){ fact->subject });

    if (fact->object == 1 && fact->amount > 0)
        lost_back(r->books.lost, job, fact->time_ns);
    else if (fact->amount > 0)
        lost_cut(r->books.lost, job, fact->time_ns, fact->amount);
    if (!counts(r, fact->time_ns))
        return;
    r->books.told.interrupts++;
}

/* While no job is in the system, decisions are not of the run.  Rates of links are due
 * after decisions 0, 1, 2, 4, 8, ... and every FAIR_EVERY; full: after each. */
static void hear_decide(void *self, const struct fact *fact)
{
    struct recount *r = self;
    uint64_t n = r->decides++;

    if (rows_inside(r->books.rows) > 0)
        (void)moves(r, fact);
    r->fair_due |= r->full || (n & (n - 1)) == 0 || n % FAIR_EVERY == 0;
}

/* Stops and leases taken back are compared with rows of jobs, so they count from time 0
 * on. */
static void hear_decision(void *self, const struct fact *fact)
{
    struct recount *r = self;
    struct recount_told *told = &r->books.told;
    bool done = fact->amount == CS_DONE;

    told->stops += done && fact->object == HOST_STOP;
    told->take_backs += done && fact->object == HOST_TAKE_BACK;
    if (!counts(r, fact->time_ns))
        return;
    told->decisions += done;
    told->refused += !done;
    told->changes += done && (fact->object == HOST_RESIZE || fact->object == HOST_MOVE);
}

/* Adds what a flow that has ended took of each of its links, in units of the link. */
static void flow_heard(void *self, const struct flow_use *use, uint32_t count, double work,
                       uint64_t lease)
{
    struct recount *r = self;
    struct recount_books *b = &r->books;

    held_flowed(b->held, lease, work);
    for (uint32_t k = 0; k < count; k++)
        if (use[k].link < b->links) {
            b->carried[use[k].link].units += work * use[k].per_unit;
            b->carried[use[k].link].ends++;
        }
}

/* Notes what is done so far of a flow that runs when the warm-up ends, as that
 * is of the warm-up. */
static void begin_heard(void *self, const struct flow_use *use, uint32_t count, double work,
                        uint64_t lease)
{
    struct recount *r = self;

    (void)lease;
    for (uint32_t k = 0; k < count; k++)
        if (use[k].link < r->books.links)
            r->books.carried[use[k].link].before += work * use[k].per_unit;
}

/* All that happens at this instant has happened: looks at what lasts, and at
 * rates of links if they are due. */
static void instant_over(void *self)
{
    struct recount *r = self;
    int64_t now = loop_now_ns(r->parts.loop);
    uint32_t flow;

    if (r->waits != NULL) {
        levels_until(&r->levels, now);
        r->levels.waits = *r->waits;
        r->levels.runs = *r->runs;
    }
    if (r->host == NULL)
        return;
    levels_until(&r->levels, now);
    arrivals_over(r->arrivals, r->books.held->now_milli);
    levels_see(&r->levels, r->host, now);
    if (!r->fair_due)
        return;
    r->fair_due = false;
    if (flow_count(r->parts.net) <= (r->full ? FAIR_FLOWS_FULL : FAIR_FLOWS))
        judge_holds(&r->judge, "rates of links", flow_is_fair(r->parts.net, &flow),
                    "a flow has another rate than its max-min fair share");
}

/* A lease that is ready or busy, and a phase that starts, do not move the end of the
 * run: the end of the lease does. */
static void listen(struct recount *r, struct journal *journal)
{
    static const struct {
        enum fact_kind kind;
        journal_fn *hear;
    } ear[] = {
        { FACT_JOB_SUBMIT, hear_submit }, { FACT_JOB_END, hear_end },
        { FACT_JOB_STOP, hear_other }, { FACT_JOB_INTERRUPT, hear_interrupt },
        { FACT_LEASE_TAKE, hear_take }, { FACT_LEASE_DROP, hear_drop },
        { FACT_LEASE_READY, hear_ready }, { FACT_LEASE_LEAVE, hear_leave },
        { FACT_LEASE_BUSY, hear_busy }, { FACT_PHASE_START, hear_phase },
        { FACT_PHASE_END, hear_phase_end }, { FACT_DECIDE, hear_decide },
        { FACT_DECISION, hear_decision },
        { FACT_NODE_DOWN, hear_node }, { FACT_NODE_UP, hear_node },
        { FACT_RENT_ORDER, hear_node }, { FACT_RENT_UP, hear_node },
        { FACT_RENT_NOTICE, hear_node }, { FACT_RENT_END, hear_node },
        { FACT_RENT_TAKEN, hear_node },
    };

    for (size_t i = 0; i < sizeof ear / sizeof *ear; i++)
        journal_listen(journal, UINT64_C(1) << ear[i].kind, ear[i].hear, r);
}

/* Arrivals and lost time are NULL for a trial that does not need them, and
 * calls on them do nothing. */
struct recount *recount_new(const struct recount_parts *parts)
{
    const struct cluster_spec *cluster = parts->spec->cluster;
    struct recount *r = arena_alloc(parts->arena, 1, sizeof *r);
    struct recount_books *b = &r->books;

    r->parts = *parts;
    r->full = b->full = parts->spec->audit_full;
    b->rows = rows_new(parts->arena, parts->spec, r->full ? UINT32_MAX : RECOUNT_ROWS);
    b->held = held_new(parts->arena, parts->spec, b->rows);
    b->held->by_pool = parts->timeline != NULL;
    if (r->full && parts->timeline != NULL)
        b->held->events = events_new(parts->arena);
    r->arrivals = arrivals_new(parts->arena, parts->spec);
    b->lost = lost_new(parts->arena, parts->spec);
    b->nodes = nodes_new(parts->arena, cluster);
    r->services = workload_service_count(parts->spec->workload) > 0;
    b->alone = workload_is_trace_alone(parts->spec->workload);
    for (uint32_t g = 0; g < cluster->group_count; g++)
        b->pays_held |= cluster->group[g].billed_held;
    b->links = flow_link_count(parts->net);
    b->carried = arena_alloc(parts->arena, b->links, sizeof *b->carried);
    r->levels = (struct levels){ .parts = &r->parts, .books = b };
    listen(r, parts->journal);
    return r;
}

void recount_watch(struct recount *r, struct cs_host *host)
{
    r->host = host;
    r->books.held->host = host;
    r->books.host = host;
    flow_listen(r->parts.net, flow_heard, r);
    loop_when_over(r->parts.loop, instant_over, r);
}

void recount_watch_count(struct recount *r, const uint32_t *pending,
                         const uint32_t *running)
{
    r->waits = pending;
    r->runs = running;
    if (r->parts.timeline != NULL)
        loop_when_over(r->parts.loop, instant_over, r);
}

/* The warm-up is over: what links have carried up to here is noted, to be taken off at the
 * end. */
void recount_begin(struct recount *r)
{
    for (uint32_t l = 0; l < r->books.links; l++)
        r->books.carried[l].before = r->books.carried[l].units;
    flow_each(r->parts.net, begin_heard, r);
}

void recount_count_submitted(struct recount *r, const struct job_request *request,
                             int64_t now)
{
    struct recount_books *b = &r->books;

    rows_submit(b->rows, request, now);
    note_first(b, now);
}

/* A job of a run that is counted and not placed (recount_count): it held its GPUs from
 * start to end, and nothing else. */
void recount_count_ended(struct recount *r, const struct host_job *job, int64_t now)
{
    struct recount_books *b = &r->books;
    const struct role_spec *role = &job->request.form->role[0];
    uint32_t gpus = job_role_gpus(&job->request, 0);

    b->last_ns = now;
    r->judge.terms++;
    rows_end_plain(b->rows, job, gpus, now);
    if (role->memory_bytes > 0 || role->cores > 0)
        held_count(b->held, role, gpus, now - job->start_ns);
    if (r->parts.jobs == NULL)
        return;
    read_row(r, job, JOB_DONE);
    b->told.gpu_s += job->gpu_seconds;
    b->told.core_s += job->core_seconds;
    b->told.usd += job->usd;
    b->told.compute_usd += job->usd_compute;
    b->told.joules += job->joules;
}

/* Compares all that was added up with what the run published, in the order in which a
 * reader meets it: metrics, tables, lines of events.  The first that differs is told.
 * value: the trial's metrics; *compared: how many figures were compared. */
bool recount_close(struct recount *r, const double *value, int64_t end_ns,
                   uint64_t *compared, struct err *err)
{
    struct err_pos nowhere = { 0 };

    r->judge.value = value;
    levels_until(&r->levels, end_ns);
    if (r->host != NULL)
        arrivals_judge(r->arrivals, &r->judge);
    published_judge(&r->books, &r->parts, end_ns, &r->judge);
    tables_judge(&r->books, &r->parts, end_ns, &r->judge);
    if (r->books.held->events != NULL)
        events_judge_lines(r->books.held->events, &r->parts, end_ns, &r->judge);
    *compared = r->judge.compared;
    if (r->judge.broken[0] == '\0')
        return true;
    return err_set(err, ERR_BUG, nowhere, "the audit failed: figures: %s", r->judge.broken);
}

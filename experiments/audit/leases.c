/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * leases.c - what leases hold of each node, from their facts and placements,
 * and what it costs in money and in energy.
 *
 * Checks: no GPU, core or byte of memory of a node is held twice, parts of a GPU add
 * up to one GPU at most, no more is given back than was held, and a node that is out of
 * service, or not rented, holds nothing.  Where a role may run is in allowed.c, what the
 * nodes and leases could draw in power.c.
 */
#include "experiments/audit/leases.h"

#include "experiments/audit/allowed.h"
#include "experiments/audit/power.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/power.h"
#include "models/jobs/job.h"
#include "models/types/ids.h"
#include "models/types/placement.h"
#include "policies/policy.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"

/* What a placement holds of the nodes of one group.  Thousandths of GPUs and of cores are
 * kept, so that sums are whole numbers. */
struct part {
    const struct node_group *group;
    uint64_t gpu_milli;         /* a whole GPU is 1000 */
    int64_t core_milli;
};

/* What is kept of one lease.  Most leases lie in one group, so their sum is made once, when
 * the lease is taken; for the others the shares are added again each time. */
struct audit_lease {
    int64_t taken_ns, busy_ns;          /* held and busy since */
    double busy;
    struct part whole;                  /* group NULL: of several groups */
};

/* The books of all leases: what is held of each node and each GPU now, and what leases have
 * cost up to now. */
struct audit_leases {
    struct arena *arena;
    const struct cluster_spec *cluster;
    const struct cs_host *host; /* asked for placements */
    struct audit_checks *checks;
    uint64_t *held_mask;        /* per node */
    bool *down;                 /* per node: out of service, or not rented */
    uint32_t *first_gpu;        /* per group: of all GPUs, its first */
    uint16_t *part;             /* per GPU: milli held in parts, or NULL */
    int64_t *held_cores;        /* thousandths */
    int64_t *held_memory;       /* bytes, per node */
    struct audit_lease *lease;  /* per lease slot */
    uint32_t lease_room;
    double usd, joules;         /* of all leases up to now */
    uint64_t held_milli;        /* of all GPUs */
    struct audit_power power;   /* under a power cap alone */
};

/* Checks the time of a fact, and returns the books that hear it. */
static inline struct audit_leases *hears(void *self, const struct fact *fact)
{
    struct audit_leases *leases = self;

    audit_check_time(leases->checks, fact);
    return leases;
}

/* Returns a bit for each GPU of a node of the group.  A shift by 64 is not defined in C, so a
 * node of 64 GPUs has a case of its own. */
static uint64_t node_mask(const struct node_group *group)
{
    return group->gpus == 64 ? ~UINT64_C(0)
                             : (UINT64_C(1) << group->gpus) - 1;
}

/* Returns the cores of a share in thousandths. */
static int64_t core_milli(const struct share *share)
{
    return (int64_t)share->cores * 1000 + share->core_milli;
}

/* Milli held in parts, of the GPUs of a node.  The array is made when the first part of a GPU
 * is taken, since most trials share no GPU. */
static uint16_t *parts_of(struct audit_leases *leases, uint32_t node)
{
    const struct cluster_spec *spec = leases->cluster;
    const struct node_group *group = cluster_group_of(spec, node);

    if (leases->part == NULL) {
        uint32_t gpus = 0;
        leases->part = arena_alloc(leases->arena, spec->gpu_count,
                                  sizeof *leases->part);
        leases->first_gpu = arena_alloc(leases->arena, spec->group_count,
                                       sizeof *leases->first_gpu);
        for (uint32_t g = 0; g < spec->group_count; g++) {
            leases->first_gpu[g] = gpus;
            gpus += spec->group[g].gpus * spec->group[g].node_count;
        }
    }
    return &leases->part[leases->first_gpu[group - spec->group] +
                        (node - group->first_node) * group->gpus];
}

/* A GPU that is held in parts stands in held_mask as well; false: it was
 * held whole, or has no such part left.  Example: parts of 300 and 700 thousandths of one GPU
 * are allowed, and a third one of any size is not. */
static bool take_parts(struct audit_leases *leases, const struct share *share)
{
    uint64_t held = leases->held_mask[share->node];
    uint16_t *part = parts_of(leases, share->node);
    bool free = true;

    for (uint32_t g = 0; g < NODE_GPUS_MAX; g++) {
        if (!(share->gpu_mask >> g & 1))
            continue;
        free = free && (part[g] > 0 || !(held >> g & 1)) &&
               part[g] + share->gpu_milli <= (int)GPU_MILLI;
        part[g] = (uint16_t)(part[g] + share->gpu_milli);
    }
    return free;
}

/* Gives the parts of a share back; returns the mask of its GPUs of which other leases still hold
 * parts. */
static uint64_t drop_parts(struct audit_leases *leases, const struct share *share)
{
    uint16_t *part = parts_of(leases, share->node);
    uint64_t still = 0;

    for (uint32_t g = 0; g < NODE_GPUS_MAX; g++) {
        if (!(share->gpu_mask >> g & 1))
            continue;
        audit_check(leases->checks, AUDIT_CAPACITY, part[g] >= share->gpu_milli,
                    "a part of a GPU is given back that was not held",
                    share->node);
        part[g] = (uint16_t)(part[g] - share->gpu_milli);
        if (part[g] > 0)
            still |= UINT64_C(1) << g;
    }
    return still;
}

/* Is nothing of a node held, neither GPUs nor cores nor memory? */
static bool holds_nothing(const struct audit_leases *leases, uint32_t node)
{
    return leases->held_mask[node] == 0 && leases->held_cores[node] == 0 &&
           leases->held_memory[node] == 0;
}

/* Cores and memory of a node are given back: no more than was held, which is a part of
 * the check of its GPUs. */
static void drop_host(struct audit_leases *leases, const struct share *share)
{
    int64_t *cores = &leases->held_cores[share->node];
    int64_t *memory = &leases->held_memory[share->node];

    *cores -= core_milli(share);
    *memory -= share->memory_bytes;
    if (*cores < 0 || *memory < 0)
        audit_note_broken(leases->checks, AUDIT_CAPACITY,
                          "cores or memory are given back that were not held", share->node);
}

/* What it holds from share *i on, of one group; *i goes to the first share of
 * another one. */
static struct part next_part(const struct audit_leases *leases,
                             const struct placement *place, uint32_t *i)
{
    const struct node_group *group =
        cluster_group_of(leases->cluster, place->share[*i].node);
    uint32_t end = group->first_node + group->node_count;
    struct part part = { .group = group };

    for (; *i < place->share_count && place->share[*i].node < end; ++*i) {
        part.gpu_milli += share_milli(&place->share[*i]);
        part.core_milli += core_milli(&place->share[*i]);
    }
    return part;
}

/* A share more of a lease: while all are of one group, their sum is kept. */
static inline void add_share(struct part *whole,
                             const struct node_group *group,
                             const struct share *share, uint64_t milli, bool first)
{
    if (first)
        whole->group = group;
    else if (whole->group != group)
        whole->group = NULL;
    whole->gpu_milli += milli;
    whole->core_milli += core_milli(share);
}

/* Cores and memory of a node are held: no more than it has. */
static void hold_host(struct audit_leases *leases, const struct node_group *group,
                      const struct share *share)
{
    int64_t *cores = &leases->held_cores[share->node];
    int64_t *memory = &leases->held_memory[share->node];

    *cores += core_milli(share);
    *memory += share->memory_bytes;
    if (*cores > (int64_t)group->cores * 1000 || *memory > group->memory_bytes)
        audit_note_broken(leases->checks, AUDIT_CAPACITY,
                          "more cores or memory held than the node has", share->node);
}

/* Does a share hold cores or memory of its node? */
static inline bool takes_host(const struct share *share)
{
    return share->cores != 0 || share->core_milli != 0 || share->memory_bytes != 0;
}

/* Does a share hold parts of GPUs, not whole ones? */
static inline bool takes_parts(const struct share *share)
{
    return share->gpu_milli > 0 && share->gpu_milli < GPU_MILLI;
}

#define CHECKS_OF_SHARE 3u      /* its GPUs, its node, its cores and memory */

/* A share of a lease is held from now on: no GPU that another one holds, nothing of a node
 * that is away, no more cores or memory than there are.  The count of checks is of those
 * three, whether they held or not. */
static void hold_share(struct audit_leases *leases, const struct node_group *group,
                       const struct share *share)
{
    uint64_t *held = &leases->held_mask[share->node];
    bool part = takes_parts(share);
    bool free = (share->gpu_mask & ~node_mask(group)) == 0 &&
                (part ? take_parts(leases, share) : (share->gpu_mask & *held) == 0);

    if (!free)
        audit_note_broken(leases->checks, AUDIT_CAPACITY,
                          part ? "a GPU of the node is held beyond the whole of it"
                               : "a GPU of the node is held twice", share->node);
    if (leases->down[share->node])
        audit_note_broken(leases->checks, AUDIT_CAPACITY,
                          "a node that is out of service is leased", share->node);
    *held |= share->gpu_mask;
    if (takes_host(share))
        hold_host(leases, group, share);
    leases->checks->count[AUDIT_CAPACITY] += CHECKS_OF_SHARE;
}

/* Checks that a lease which was just taken lies where it may, and that the cap holds. */
static void check_limits(struct audit_leases *leases, const struct cs_lease *lease)
{
    const char *why = audit_forbidden(leases->cluster, cs_request(leases->host, lease->job),
                                      lease->role, &lease->placement);

    audit_check(leases->checks, AUDIT_CAPACITY, why == NULL, why, lease->job.i);
    if (leases->cluster->power_cap_w <= 0)
        return;
    audit_power_lease(&leases->power, &lease->placement, true);
    audit_check(leases->checks, AUDIT_CAPACITY, audit_power_holds(&leases->power),
                "leases and nodes could draw more than power_cap", lease->job.i);
}

/* A lease begins: each of its shares is held, and it must lie where its role may run. */
static void hear_take(void *self, const struct fact *fact)
{
    struct audit_leases *leases = hears(self, fact);
    struct lease_id id = { fact->subject };
    const struct cs_lease *taken = cs_lease(leases->host, id);
    const struct placement *place = &taken->placement;

    ARENA_REACH(leases->arena, leases->lease, leases->lease_room, id.i);
    struct audit_lease *lease = &leases->lease[id.i];
    *lease = (struct audit_lease) { .taken_ns = fact->time_ns,
                                    .busy_ns = fact->time_ns };
    for (uint32_t i = 0; i < place->share_count; i++) {
        const struct share *share = &place->share[i];
        const struct node_group *group =
            cluster_group_of(leases->cluster, share->node);
        uint64_t milli = share_milli(share);

        add_share(&lease->whole, group, share, milli, i == 0);
        leases->held_milli += milli;
        hold_share(leases, group, share);
    }
    check_limits(leases, taken);
}

/* Next part of a lease from share *i on. */
static inline struct part lease_part(const struct audit_leases *leases, uint32_t lease,
                                     const struct placement *place, uint32_t *i)
{
    if (leases->lease[lease].whole.group == NULL)
        return next_part(leases, place, i);
    *i = place->share_count;
    return leases->lease[lease].whole;
}

/* What a lease cost, from the file's prices.  A lease pays its part of each node, over the
 * time that it held it.  The part is that of the GPUs; on nodes without GPUs it is that of the
 * cores.  Example: 2 GPUs of a node of 8 for one hour, at 16 USD per hour, cost 16 x 2/8 = 4
 * USD. */
static double usd_of(const struct audit_leases *leases, uint32_t lease, int64_t to_ns)
{
    struct lease_id id = { lease };
    const struct placement *place = &cs_lease(leases->host, id)->placement;
    int64_t from_ns = leases->lease[lease].taken_ns;
    double usd = 0;

    if (leases->cluster->unpriced)
        return 0;
    for (uint32_t i = 0; i < place->share_count;) {
        struct part part = lease_part(leases, lease, place, &i);
        const struct node_group *group = part.group;
        double held = group->gpus ? (double)part.gpu_milli / group->gpus
                                  : (double)part.core_milli;
        double of = group->gpus ? GPU_MILLI : 1000.0 * group->cores;
        if (of > 0)
            usd += cluster_node_usd(group, from_ns, to_ns) * held / of;
    }
    return usd;
}

/* Returns the watts of all GPUs of a lease that are busy for a fraction `busy` of the time, 0 to 1.
 * A part of a GPU draws that part of its watts. */
static double watts_of(const struct audit_leases *leases, uint32_t lease, double busy)
{
    struct lease_id id = { lease };
    const struct placement *place = &cs_lease(leases->host, id)->placement;
    double watts = 0;

    for (uint32_t i = 0; i < place->share_count;) {
        struct part part = lease_part(leases, lease, place, &i);
        if (part.group->gpu != NULL)
            watts += power_gpu_w(part.group->gpu, busy) *
                     (double)part.gpu_milli / GPU_MILLI;
    }
    return watts;
}

/* Joules of a lease since its GPUs last changed what they do.  The time before now counts with
 * the fraction that held until now.  The new fraction is kept between 0 and 1. */
static void change_busy(struct audit_leases *leases, const struct fact *fact,
                        double busy)
{
    struct audit_lease *lease = &leases->lease[fact->subject];
    int64_t ns = fact->time_ns - lease->busy_ns;

    if (ns > 0)
        leases->joules += clock_s_from_ns(ns) *
                                watts_of(leases, fact->subject, lease->busy);
    lease->busy_ns = fact->time_ns;
    lease->busy = busy < 0 ? 0 : busy > 1 ? 1 : busy;
}

/* A lease ends.  Parts of GPUs are given back one by one: a GPU is free when its last part
 * is.  Money is charged here, from the prices of the whole time. */
static void hear_drop(void *self, const struct fact *fact)
{
    struct audit_leases *leases = hears(self, fact);
    struct lease_id id = { fact->subject };
    const struct placement *place = &cs_lease(leases->host, id)->placement;

    change_busy(leases, fact, 0);
    for (uint32_t i = 0; i < place->share_count; i++) {
        const struct share *share = &place->share[i];
        uint64_t *held = &leases->held_mask[share->node];
        audit_check(leases->checks, AUDIT_CAPACITY,
                    (share->gpu_mask & *held) == share->gpu_mask,
                    "a GPU is given back that was not held", share->node);
        *held &= ~share->gpu_mask;
        leases->held_milli -= share_milli(share);
        if (takes_parts(share))
            *held |= drop_parts(leases, share);
        if (takes_host(share))
            drop_host(leases, share);
    }
    if (leases->cluster->power_cap_w > 0)
        audit_power_lease(&leases->power, place, false);
    leases->usd += usd_of(leases, id.i, fact->time_ns);
}

/* A node that goes away must be empty: the host interrupts its jobs before. */
static void hear_down(void *self, const struct fact *fact)
{
    struct audit_leases *leases = hears(self, fact);
    audit_check(leases->checks, AUDIT_CAPACITY, holds_nothing(leases, fact->subject),
                "a node goes out of service, or back to its owner, with GPUs, cores or "
                "memory held", fact->subject);
    leases->down[fact->subject] = true;
}

/* A rented node stands by from its order to its end. */
static void hear_order(void *self, const struct fact *fact)
{
    struct audit_leases *leases = hears(self, fact);
    if (leases->cluster->power_cap_w <= 0)
        return;
    audit_power_node(&leases->power, fact->subject, true);
    audit_check(leases->checks, AUDIT_CAPACITY, audit_power_holds(&leases->power),
                "a node is ordered that could draw more than power_cap", fact->subject);
}

/* A rented node that is given back draws nothing any more. */
static void hear_rent_end(void *self, const struct fact *fact)
{
    struct audit_leases *leases = self;
    hear_down(self, fact);
    if (leases->cluster->power_cap_w > 0)
        audit_power_node(&leases->power, fact->subject, false);
}

/* The busy fraction of a lease's GPUs changes, and with it what they draw. */
static void hear_lease_busy(void *self, const struct fact *fact)
{
    struct audit_leases *leases = hears(self, fact);
    change_busy(leases, fact, fact->amount);
}

/* A node is there again, or a rented one has come. */
static void hear_up(void *self, const struct fact *fact)
{
    struct audit_leases *leases = hears(self, fact);
    leases->down[fact->subject] = false;
}

/* A rented node will be taken away: nothing may start on it from now on. */
static void hear_notice(void *self, const struct fact *fact)
{
    struct audit_leases *leases = hears(self, fact);
    leases->down[fact->subject] = true;
}

/* The kinds here are those of AUDIT_LEASES_HEARS, which audit.c leaves out.  A kind must be
 * heard by one of both parts alone, or its time would be checked twice. */
static void listen(struct audit_leases *leases, struct journal *journal)
{
    static const struct {
        enum fact_kind kind;
        journal_fn *hear;
    } ear[] = {
        { FACT_LEASE_TAKE, hear_take }, { FACT_LEASE_DROP, hear_drop },
        { FACT_LEASE_BUSY, hear_lease_busy }, { FACT_NODE_DOWN, hear_down },
        { FACT_NODE_UP, hear_up }, { FACT_RENT_UP, hear_up },
        { FACT_RENT_NOTICE, hear_notice }, { FACT_RENT_END, hear_rent_end },
        { FACT_RENT_ORDER, hear_order },
    };

    for (size_t i = 0; i < sizeof ear / sizeof *ear; i++)
        journal_listen(journal, UINT64_C(1) << ear[i].kind, ear[i].hear, leases);
}

struct audit_leases *audit_leases_new(const struct audit_parts *parts,
                                      struct audit_checks *checks)
{
    struct arena *arena = parts->arena;
    struct audit_leases *leases = arena_alloc(arena, 1, sizeof *leases);
    uint32_t nodes = parts->cluster->node_count;

    leases->arena = arena;
    leases->cluster = parts->cluster;
    leases->checks = checks;
    leases->held_mask = arena_alloc(arena, nodes, sizeof(uint64_t));
    leases->down = arena_alloc(arena, nodes, sizeof *leases->down);
    leases->held_cores = arena_alloc(arena, nodes, sizeof(int64_t));
    leases->held_memory = arena_alloc(arena, nodes, sizeof(int64_t));
    for (uint32_t n = 0; n < nodes; n++)
        leases->down[n] = cluster_group_of(parts->cluster, n)->rent != NULL;
    if (parts->cluster->power_cap_w > 0)
        audit_power_begin(&leases->power, parts->cluster);
    listen(leases, parts->journal);
    return leases;
}

void audit_leases_watch(struct audit_leases *leases, const struct cs_host *host)
{
    leases->host = host;
}

uint64_t audit_leases_milli(const struct audit_leases *leases)
{
    return leases->held_milli;
}

void audit_leases_close(struct audit_leases *leases, double *usd, double *joules)
{
    for (uint32_t n = 0; n < leases->cluster->node_count; n++)
        audit_check(leases->checks, AUDIT_CAPACITY, holds_nothing(leases, n),
                    "GPUs, cores or memory are held when all jobs have ended", n);
    *usd = leases->usd;
    *joules = leases->joules;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * time.c - how long the experiment of a row takes.
 *
 * The text of the row (plan.c) is read back through the readers of
 * clusters and workloads; roles are placed by the rule that policies use,
 * phases go by phase_plan and what the fabric leaves them, leases load as the
 * host loads them.  The row is then what a simulation of that experiment will
 * find, but for the draws of rollouts.
 */
#include <math.h>
#include <string.h>

#include "experiments/advise/advise.h"
#include "models/advise/advise.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "models/cluster/fit.h"
#include "models/cluster/power.h"
#include "models/jobs/job.h"
#include "models/laws/memory.h"
#include "models/laws/phase.h"
#include "models/laws/rollout.h"
#include "models/types/gang.h"
#include "models/types/rates.h"
#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "workloads/source.h"

/* The row's experiment as read, with its roles placed. */
struct plan {
    const struct cluster_spec *spec;        /* the row's nodes alone */
    const struct job_form *form;
    struct placement placement[FORM_ROLES_MAX];     /* by role, on empty nodes */
    struct gang gang[FORM_ROLES_MAX];       /* what a role has there, for the laws */
    const struct fabric *fabric;
    const struct flow_net *net; /* without flows: only capacities are asked */
    struct flow_use *use;       /* room for the links of one phase */
};

/* Writes the row as text and reads that back.  False: the reader refused it. */
static bool read_plan(const struct advice *advice,
                      const struct advise_row *row, struct plan *plan,
                      struct err *err)
{
    const struct advise_world *world = advice->world;
    char *text = advise_plan_text(advice, row);
    const struct conf_node *root = conf_parse(world->arena, "advice", text,
                                              strlen(text), err);
    const struct workload_spec *workload;

    if (root == NULL)
        return false;
    plan->spec = cluster_read(world->arena, conf_get(root, "cluster"),
                              world->catalogue, err);
    if (plan->spec == NULL)
        return false;
    workload = workload_read(world->arena, conf_get(root, "workload"),
                             world->catalogue, plan->spec, err);
    if (workload == NULL)
        return false;
    plan->form = workload_form(workload, 0);
    return true;
}

/* Places the roles in order, each where `first_fit` puts it in what is still free.
 * False: they do not fit beside each other. */
static bool place_roles(struct arena *arena, struct plan *plan)
{
    struct cluster *cluster = cluster_new(arena, plan->spec);

    for (uint32_t r = 0; r < plan->form->role_count; r++) {
        const struct role_spec *role = &plan->form->role[r];
        struct fit_want want = {
            .gpus = role->gpus, .cores = role->cores,
            .memory_bytes = role->memory_bytes,
            .gpu_types = role->gpu_types,
            .gpu_type_count = role->gpu_type_count,
        };
        struct share *share = arena_alloc(arena, plan->spec->node_count,
                                          sizeof *share);

        if (role->pool != NULL)
            want.pool_mask = 1u << cluster_pool(plan->spec, role->pool);
        if (!fit_find(cluster, FIT_FIRST, &want, share,
                      plan->spec->node_count, &plan->placement[r]))
            return false;
        cluster_take(cluster, &plan->placement[r]);
        plan->gang[r] = fabric_gang(plan->spec, &plan->placement[r]);
    }
    return true;
}

/* Returns the rate that links leave to work that has them to itself: the least of
 * capacity over demand, in units of the uses. */
static double find_links_rate(const struct plan *plan, uint32_t uses)
{
    double rate = INFINITY;

    for (uint32_t i = 0; i < uses; i++)
        rate = fmin(rate, flow_link_capacity(plan->net, plan->use[i].link) /
                              plan->use[i].per_unit);
    return rate;
}

/* Returns the runs of the phase per second: the smaller of what its law and
 * what the links allow. */
static double find_phase_rate(const struct plan *plan, uint32_t p)
{
    const struct phase_spec *phase = &plan->form->phase[p];
    const struct phase_law *law = phase_law_usual(phase);
    const struct gang *gang = &plan->gang[phase->role];
    const struct placement *from = &plan->placement[phase->role];
    const struct placement *to = &plan->placement[phase->sync_to];
    struct phase_plan alone = phase_plan(law, gang, 0.5);
    uint32_t uses;

    if (law->kind == LAW_ROLLOUT)
        return 1.0 / advise_phase_s(law, gang);
    if (law->kind == LAW_SYNC) {
        uses = fabric_uses_copies(plan->fabric, from, to, law->bytes,
                                  plan->use);
    } else {
        uses = fabric_uses(plan->fabric, from, &alone.rates, plan->use);
        if (law->kind == LAW_CPU && law->bytes > 0.0)
            uses = fabric_uses_send(plan->fabric, from, to, law->bytes,
                                    law->zero_copy, plan->use, uses);
    }
    /* A sync is of one run, like its law. */
    return fmin(alone.rate_max, find_links_rate(plan, uses));
}

/* Returns the PCIe bandwidth of the GPUs of a role, in bytes a second. */
static double find_slots_bps(const struct plan *plan, uint32_t role)
{
    const struct placement *at = &plan->placement[role];
    double bps = 0.0;

    for (uint32_t i = 0; i < at->share_count; i++)
        bps += fabric_pcie_bps(cluster_group_of(plan->spec,
                                                at->share[i].node),
                               at->share[i].gpu_mask);
    return bps;
}

/* Returns the seconds from the grant of a lease to the moment its phases can run:
 * the start, and loading through storage, links and slots. */
static double find_ready_s(const struct plan *plan, uint32_t r)
{
    const struct role_spec *role = &plan->form->role[r];
    struct role_load load = job_role_load(role, true, role->gpus > 0,
                                          plan->placement[r].share_count);
    struct demand_rates rates = { .pcie_bytes = 1.0, .storage_bytes = load.part };
    uint32_t uses;
    double bps;

    if (role->gpus == 0 || load.bytes <= 0.0)
        return role->start_s;
    uses = fabric_uses(plan->fabric, &plan->placement[r], &rates, plan->use);
    bps = fmin(find_links_rate(plan, uses), find_slots_bps(plan, r));
    return role->start_s + (bps > 0.0 ? load.bytes / bps : 0.0);
}

/* Returns how much later the first run ends because its leases have to load: the
 * critical path with loading, less that without. */
static double find_start_delay_s(const struct plan *plan, const double *seconds)
{
    const struct job_form *form = plan->form;
    double late[FORM_PHASES_MAX] = { 0 }, early[FORM_PHASES_MAX] = { 0 };
    double late_s = 0.0, early_s = 0.0;

    for (uint32_t p = 0; p < form->phase_count; p++) {
        double begin = find_ready_s(plan, form->phase[p].role), soon = 0.0;

        for (uint32_t q = 0; q < p; q++)
            if (form->phase[p].after_mask >> q & 1u) {
                begin = fmax(begin, late[q]);
                soon = fmax(soon, early[q]);
            }
        if (form->phase[p].every > 1)
            continue;
        late[p] = begin + seconds[p];
        early[p] = soon + seconds[p];
        late_s = fmax(late_s, late[p]);
        early_s = fmax(early_s, early[p]);
    }
    return late_s - early_s;
}

/* Returns the share that is used, 0 to 1; 0 of a capacity that is not there. */
static double clamp_share(double amount, double capacity)
{
    return capacity > 0.0 ? fmin(1.0, amount / capacity) : 0.0;
}

/* Sets the busy fraction of every stage while the main phase runs at its rate. */
static void measure_stages(const struct plan *plan, uint32_t p, double rate,
                           struct advise_row *row)
{
    const struct phase_spec *phase = &plan->form->phase[p];
    const struct gang *gang = &plan->gang[phase->role];
    const struct phase_law *of = phase_law_usual(phase);
    struct phase_plan law = phase_plan(of, gang, 0.5);
    const struct node_group *group =
        cluster_group_of(plan->spec,
                         plan->placement[phase->role].share[0].node);

    row->bottleneck = rate < law.rate_max * (1.0 - 1e-9) &&
                      of->kind != LAW_ROLLOUT
                          ? "links" : law.bottleneck;
    row->busy[ADVISE_GPU] = law.gpu_busy_fraction * rate / law.rate_max;
    row->busy[ADVISE_CPU] = clamp_share(law.rates.core_s * rate, gang->cores);
    row->busy[ADVISE_PCIE] = clamp_share(law.rates.pcie_bytes * rate,
                                         find_slots_bps(plan, phase->role));
    row->busy[ADVISE_NETWORK] =
        gang->nodes > 1 ? clamp_share(law.rates.network_bytes * rate,
                                      group->nic_bps) : 0.0;
    row->busy[ADVISE_STORAGE] =
        fmax(clamp_share(law.rates.storage_bytes * rate,
                         plan->spec->storage_bps),
             clamp_share(law.rates.nvme_bytes * rate,
                         gang->nodes * group->nvme_bps));
    row->storage_bps = (law.rates.storage_bytes + law.rates.nvme_bytes) *
                       rate;
    row->mfu = law.mfu * rate / law.rate_max;
    row->hfu = law.hfu * rate / law.rate_max;
}

/* Returns the items of one run of the phase (sequences or responses), and sets
 * their tokens. */
static double count_items(const struct phase_law *law, double *tokens)
{
    double items = law->kind == LAW_ROLLOUT
                       ? law->rollout.responses
                       : law->sequences *
                             (law->repeats > 0 ? law->repeats : 1);

    *tokens = items * (law->kind == LAW_ROLLOUT
                           ? rollout_response_tokens(&law->rollout)
                           : law->train.sequence_tokens);
    return items;
}

/* Returns the cost of electricity of a choice's GPUs at that load, and of their
 * part of the node at full load, where the price has none in it. */
static double find_energy_usd_per_h(const struct advise_choice *choice,
                                    double busy_fraction)
{
    const struct cluster_spec *spec = choice->place->spec;
    const struct node_group *group = choice->place->group;
    double w = choice->gpus * (power_gpu_w(group->gpu, busy_fraction) +
                               group->max_w / group->gpus);

    return group->energy_included
               ? 0.0
               : w / 1000.0 * spec->pue * spec->electricity_usd_per_kwh;
}

/* Returns the cost of a row an hour.  Of given nodes it is the GPUs' part of
 * the price, and their electricity; of rented ones whole nodes, as the plan has
 * them. */
static double find_usd_per_h(const struct advice *advice,
                             const struct advise_row *row,
                             const struct plan *plan)
{
    double usd = row->train.usd_per_h + row->engine.usd_per_h;

    if (advice->world->cluster != NULL) {
        if (row->train.place != NULL)
            usd += find_energy_usd_per_h(&row->train, row->busy[ADVISE_GPU]);
        if (row->engine.place != NULL)
            usd += find_energy_usd_per_h(&row->engine, row->busy[ADVISE_GPU]);
        return usd;
    }
    usd = 0.0;
    for (uint32_t g = 0; g < plan->spec->group_count; g++)
        usd += plan->spec->group[g].usd_per_h *
               plan->spec->group[g].node_count;
    return isnan(row->train.usd_per_h + row->engine.usd_per_h) ? NAN : usd;
}

/* Returns the cost of a choice an hour in a tier; 0 if the job has no such
 * role, NAN if there is no price. */
static double find_tier_usd_per_h(const struct advice *advice,
                                  const struct advise_choice *choice,
                                  enum price_tier tier, bool *assumed)
{
    const struct price *price;

    if (choice->place == NULL)
        return 0.0;
    price = catalogue_price_in(advice->world->catalogue, choice->place->name,
                               tier);
    if (price == NULL)
        return NAN;
    *assumed |= price_is_assumption(price);
    return choice->gpus * price->usd_per_h;
}

/* In its own tier a row pays for cores beyond those of its GPUs, too. */
double advise_tier_usd(const struct advice *advice,
                       const struct advise_row *row, enum price_tier tier,
                       bool *assumed)
{
    double usd = find_tier_usd_per_h(advice, &row->train, tier, assumed) +
                 find_tier_usd_per_h(advice, &row->engine, tier, assumed);

    return tier == advice->world->tier ? row->usd
                                       : usd * row->time_s / 3600.0;
}

/* Times the row: what a simulation of its experiment would find, except for
 * draws. */
static void time_row(const struct advice *advice, const struct plan *plan,
                     struct advise_row *row)
{
    const struct advise_job *job = advice->job;
    double seconds[FORM_PHASES_MAX] = { 0 }, tokens = 0.0, items;

    for (uint32_t p = 0; p < plan->form->phase_count; p++)
        seconds[p] = 1.0 / find_phase_rate(plan, p);
    row->start_s = find_start_delay_s(plan, seconds);
    row->time_s = row->start_s + advise_form_s(plan->form, seconds,
                                               job->runs);
    items = count_items(plan->form->phase[job->main_phase].law, &tokens);
    row->items_per_s = items * job->runs / row->time_s;
    row->tokens_per_s = tokens * job->runs / row->time_s;
    row->host_bytes = (double)plan->form->role[job->trains ? job->train
                                                           : job->engine]
                          .memory_bytes;
    measure_stages(plan, job->main_phase, 1.0 / seconds[job->main_phase], row);
    row->usd = find_usd_per_h(advice, row, plan) * row->time_s / 3600.0;
    row->timed = true;
}

/* Chooses the fewest cores per GPU that feed the main phase as well as all would,
 * within 0.01%. */
static void choose_cores(const struct advise_job *job,
                         struct advise_row *row)
{
    const struct advise_choice *choice = job->trains ? &row->train
                                                     : &row->engine;
    struct gang gang = advise_gang(choice->place, choice->gpus);
    struct phase_law law =
        *phase_law_usual(&job->form->phase[job->main_phase]);
    double all;

    row->cores = row->workers = 1;
    if (!job->trains) {
        row->cores = advise_engine_cores(job, choice);
        return;
    }
    law.train = choice->layout.shape;
    law.loader_workers = 0;
    all = phase_plan(&law, &gang, 0.5).rate_max;
    for (uint32_t cores = 1; cores <= choice->place->cores; cores++) {
        gang.cores = cores * choice->gpus;
        row->cores = row->workers = cores;
        if (phase_plan(&law, &gang, 0.5).rate_max >= all * 0.9999)
            break;
    }
}

/* Returns what a GPU of the engine needs with as many responses in flight, at
 * their longest, as the job has for a replica, its key allows, or memory holds. */
static struct memory_need find_engine_need(const struct advise_job *job,
                                           const struct advise_choice *choice)
{
    const struct rollout_shape *shape = &job->generate->rollout;
    uint32_t tp = choice->engine.tp;
    double has = choice->place->group->gpu->memory_bytes;
    double batch = ceil(shape->responses / (choice->gpus / tp));

    batch = fmin(batch, memory_decode_batch_max(shape->llm, shape->precision,
                                                tp, job->context_tokens,
                                                has));
    if (shape->concurrency_max > 0.0)
        batch = fmin(batch, shape->concurrency_max);
    return memory_decode(shape->llm, shape->precision, tp, batch,
                         job->context_tokens);
}

/* Takes the bytes a GPU that are shown.  Where a job trains and generates, those of
 * training are the row's, and those of generation stand apart. */
static void choose_memory(const struct advise_job *job,
                          struct advise_row *row)
{
    if (job->engine != ADVISE_NONE)
        row->need = row->engine_need = find_engine_need(job, &row->engine);
    if (job->trains)
        row->need = advise_need(&job->task, &row->train.layout.shape,
                                row->train.gpus);
}

/* The network and its loop are made because the fabric is asked for capacities;
 * nothing runs in them. */
bool advise_plan_time(const struct advice *advice, struct advise_row *row,
                      struct err *err)
{
    struct loop_limits limits = { CLOCK_NEVER_NS, 1, NULL };
    struct plan plan = { 0 };
    struct flow_net *net;
    struct loop *loop;
    bool placed;

    choose_cores(advice->job, row);
    choose_memory(advice->job, row);
    if (!read_plan(advice, row, &plan, err))
        return false;
    loop = loop_new(limits);
    net = flow_new(loop);
    plan.net = net;
    plan.fabric = fabric_new(advice->world->arena, plan.spec, net);
    plan.use = arena_alloc(advice->world->arena,
                           fabric_use_max(plan.fabric,
                                          2 * plan.spec->node_count),
                           sizeof *plan.use);
    placed = place_roles(advice->world->arena, &plan);
    if (placed)
        time_row(advice, &plan, row);
    else
        err_set(err, ERR_RANGE, conf_pos(advice->job->conf),
                "its roles do not fit beside each other");
    flow_free(net);
    loop_free(loop);
    return placed;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_print.c - the offered load in words, in a warning, and as JSON.
 *
 * Policies that lease alike and meet the same world have one load, which is
 * computed and told once (first_of). load_of() builds an empty cluster each
 * time; its scratch memory goes at once.
 */
#include "experiments/preflight/load_print.h"

#include <math.h>
#include <string.h>

#include "experiments/preflight/load.h"
#include "experiments/spec/experiment.h"
#include "models/cluster/cluster.h"
#include "policies/host/host.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"
#include "workloads/source.h"

#define NAMES_BYTES 50u         /* of policies, in an error */

/* Returns whether two policies have one load at every point: they meet the same
 * clusters and jobs, and lease alike. */
static bool have_one_load(const struct experiment *experiment, uint32_t a, uint32_t b)
{
    const struct experiment_point *first = &experiment->point[0];
    const struct host_policy *const *all = first->policy;
    bool shared = first->met[a] == first && first->met[b] == first;

    for (uint32_t i = 0; !shared && i < experiment->point_count; i++) {
        const struct experiment_point *const *met = experiment->point[i].met;

        if (met[a]->cluster != met[b]->cluster || met[a]->workload != met[b]->workload)
            return false;
    }
    return load_alike(all[a], all[b]);
}

/* Returns the first of the policies that have the load of `policy`. */
static uint32_t find_first(const struct experiment *experiment, uint32_t policy)
{
    for (uint32_t p = 0; p < policy; p++)
        if (have_one_load(experiment, p, policy))
            return p;
    return policy;
}

/* Returns whether no policy before this one has its load. */
static bool is_first(const struct experiment *experiment, uint32_t policy)
{
    return find_first(experiment, policy) == policy;
}

/* Returns the names of all policies with the same load: "static, fcfs". */
static const char *list_policies(struct arena *arena,
                                 const struct experiment *experiment,
                                 uint32_t policy)
{
    const char *text = "";

    for (uint32_t p = policy; p < experiment->policy_count; p++)
        if (have_one_load(experiment, p, policy))
            text = text_format(arena, "%s%s%s", text,
                               text[0] == '\0' ? "" : ", ",
                               experiment->policy_name[p]);
    return text;
}

/* Returns the names of the policies with `in` set, cut to one line of an error:
 * "a, b and 3 more". */
static const char *few_names(struct arena *arena, const struct experiment *experiment,
                             const bool *in)
{
    const char *text = "";
    uint32_t more = 0;

    for (uint32_t p = 0; p < experiment->policy_count; p++) {
        if (!in[p])
            continue;
        if (text[0] == '\0')
            text = text_format(arena, "%.60s", experiment->policy_name[p]);
        else if (more == 0 && strlen(text) +
                 strlen(experiment->policy_name[p]) < NAMES_BYTES)
            text = text_format(arena, "%s, %s", text, experiment->policy_name[p]);
        else
            more++;
    }
    return more == 0 ? text : text_format(arena, "%s and %u more", text, more);
}

/* Prints which roles make the load of a pool; parts below 0.0005 would print as
 * 0. */
static void print_parts(const struct load *load, uint32_t pool, bool cores,
                        FILE *to)
{
    const char *before = "  ";

    for (uint32_t i = 0; i < load->part_count; i++) {
        const struct load_part *part = &load->part[i];
        double rho = cores == part->cores ? part->rho[pool]
                     : cores ? part->rho_cores[pool] : 0;
        if (!(rho >= 0.0005))
            continue;
        fprintf(to, "%s%s of %s %.3f", before, part->role, part->form, rho);
        before = ", ";
    }
    fputc('\n', to);
}

/* Prints a line for the GPUs and one for the cores of each pool. */
static void print_pools(const struct cluster_spec *spec,
                        const struct load *load, FILE *to)
{
    for (uint32_t k = 0; k < spec->pool_count; k++) {
        if (load->gpus[k] > 0) {
            fprintf(to, "    %-12s %6.0f GPUs   %.3f", spec->pool_name[k],
                    load->gpus[k], load->rho[k]);
            print_parts(load, k, false, to);
        }
        if (load->rho_cores[k] > 0) {
            fprintf(to, "    %-12s %6.0f cores  %.3f", spec->pool_name[k],
                    load->cores[k], load->rho_cores[k]);
            print_parts(load, k, true, to);
        }
    }
}

/* Points without a load, as where all jobs come at once, print nothing. */
void load_print(struct arena *arena, const struct experiment *experiment, FILE *to)
{
    bool begun = false, services = false;

    for (uint32_t i = 0; i < experiment->point_count; i++) {
        services |= workload_service_count(experiment->point[i].workload) > 0;
        for (uint32_t p = 0; p < experiment->policy_count; p++) {
            const struct experiment_point *point = experiment->point[i].met[p];
            if (!is_first(experiment, p))
                continue;
            struct arena *scratch = arena_new(0);
            struct load load = load_of(scratch, experiment, point,
                                       point->policy[p]);
            if (load.known && !begun)
                fputs("offered load (rho): work that comes over what a pool "
                      "can do\n", to);
            begun |= load.known;
            if (load.known) {
                fprintf(to, "  %s, %s (%s)\n", point->label,
                        load_manner(point->policy[p]), list_policies(arena, experiment, p));
                print_pools(point->cluster, &load, to);
            }
            arena_free(scratch);
        }
    }
    if (begun && services)
        fputs("  Replicas of services are not counted.\n", to);
}

/* Where a policy meets the most load, and at how many points more than it can
 * serve. */
struct peak {
    uint32_t above, point, pool;
    double most;
};

/* Goes through all points; `above` counts those that are overloaded. */
static struct peak find_peak(const struct experiment *experiment, uint32_t policy)
{
    struct peak peak = { 0, 0, 0, 1 };

    for (uint32_t i = 0; i < experiment->point_count; i++) {
        const struct experiment_point *point = experiment->point[i].met[policy];
        struct arena *scratch = arena_new(0);
        struct load load = load_of(scratch, experiment, point,
                                   point->policy[policy]);
        arena_free(scratch);
        peak.above += load.known && load.most > 1;
        if (!load.known || load.most <= peak.most)
            continue;
        peak.most = load.most;
        peak.point = i;
        peak.pool = load.most_pool;
    }
    return peak;
}

/* Returns whether two peaks are equal to the three digits that are printed. */
static bool peaks_alike(const struct peak *a, const struct peak *b)
{
    return a->above == b->above && a->point == b->point &&
           a->pool == b->pool && fabs(a->most - b->most) < 0.0005;
}

/* Returns the cluster that the policy meets at the point of the peak. */
static const struct cluster_spec *find_cluster(const struct experiment *experiment,
                                               const struct peak *peak, uint32_t policy)
{
    return experiment->point[peak->point].met[policy]->cluster;
}

/* Gives one warning for all policies that have this peak. */
static void warn_peak(const struct experiment *experiment, const struct peak *peak,
                      uint32_t policy, const char *policies, load_warn_fn *warn,
                      void *self)
{
    const struct experiment_point *point = &experiment->point[peak->point];
    struct err_pos pos = { experiment->path, 0, 0 };
    struct err err = { 0 };

    err_set(&err, ERR_LIMIT, pos, "overload under %.100s: the offered load "
            "is above 1 at %u of %u points, at most %.3f (pool %.30s, "
            "%.60s)", policies, peak->above, experiment->point_count, peak->most,
            find_cluster(experiment, peak, policy)->pool_name[peak->pool], point->label);
    err_hint(&err, "The queue grows as long as jobs come, and mean times "
             "say how long that was.");
    warn(self, &err);
}

/* Peaks are found once for each load; then policies with one peak share a warning. */
void load_warn(struct arena *arena, const struct experiment *experiment,
               load_warn_fn *warn, void *self)
{
    uint32_t n = experiment->policy_count;
    struct peak *peak = arena_alloc(arena, n + 1, sizeof *peak);
    bool *told = arena_alloc(arena, n + 1, sizeof *told);

    for (uint32_t p = 0; p < n; p++)
        if (is_first(experiment, p))
            peak[p] = find_peak(experiment, p);
    for (uint32_t p = 0; p < n; p++) {
        bool *in = arena_alloc(arena, n + 1, sizeof *in);

        if (!is_first(experiment, p) || told[p] || peak[p].above == 0)
            continue;
        for (uint32_t q = p; q < n; q++) {
            uint32_t first = find_first(experiment, q);

            in[q] = peaks_alike(&peak[p], &peak[first]) &&
                    find_cluster(experiment, &peak[p], p) ==
                        find_cluster(experiment, &peak[p], q);
            told[first] |= in[q];
        }
        warn_peak(experiment, &peak[p], p, few_names(arena, experiment, in), warn, self);
    }
}

/* Adds a row of JSON; a pool without load has none. */
static void add_load(struct sheet *sheet, const struct experiment_point *point,
                     const char *policies, uint32_t pool, const char *of,
                     double capacity, double rho)
{
    if (!(rho > 0))
        return;
    sheet_cell(sheet, "%s", point->label);
    sheet_cell(sheet, "%s", policies);
    sheet_cell(sheet, "%s", point->cluster->pool_name[pool]);
    sheet_cells(sheet, "%s\t%.9g\t%.6g", of, capacity, rho);
}

void load_write(struct arena *arena, const struct experiment *experiment,
                struct out *out)
{
    struct sheet *sheet = sheet_new("point:0\tpolicies:0\tpool:0\tof:0\t"
                                    "capacity:1\trho:1");

    for (uint32_t i = 0; i < experiment->point_count; i++)
        for (uint32_t p = 0; p < experiment->policy_count; p++) {
            const struct experiment_point *point = experiment->point[i].met[p];
            if (!is_first(experiment, p))
                continue;
            struct arena *scratch = arena_new(0);
            struct load load = load_of(scratch, experiment, point,
                                       point->policy[p]);
            arena_free(scratch);
            const char *policies = list_policies(arena, experiment, p);
            for (uint32_t k = 0; load.known && k < point->cluster->pool_count;
                 k++) {
                add_load(sheet, point, policies, k, "GPUs", load.gpus[k],
                         load.rho[k]);
                add_load(sheet, point, policies, k, "cores", load.cores[k],
                         load.rho_cores[k]);
            }
        }
    sheet_json(sheet, out);
    sheet_free(sheet);
}

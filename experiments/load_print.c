/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * load_print.c - see the header.
 */
#include "experiments/load_print.h"

#include <string.h>

#include "experiments/load.h"
#include "experiments/out.h"
#include "experiments/paths.h"
#include "experiments/study.h"
#include "models/cluster.h"
#include "policies/host.h"
#include "sim/arena.h"
#include "sim/err.h"
#include "workloads/source.h"

#define NAMES_BYTES 50u         /* of policies, in an error */

/* Is it the first of the policies that have its load? */
static bool is_first(const struct study *study, uint32_t policy)
{
    const struct host_policy *const *all = study->point[0].policy;

    for (uint32_t p = 0; p < policy; p++)
        if (load_alike(all[p], all[policy]))
            return false;
    return true;
}

/* "static, fcfs": those that have its load. */
static const char *names(struct arena *arena, const struct study *study,
                         uint32_t policy)
{
    const struct host_policy *const *all = study->point[0].policy;
    const char *text = "";

    for (uint32_t p = policy; p < study->policy_count; p++)
        if (load_alike(all[p], all[policy]))
            text = text_format(arena, "%s%s%s", text,
                               text[0] == '\0' ? "" : ", ",
                               study->policy_name[p]);
    return text;
}

/* The same, short enough for one line of an error. */
static const char *few_names(struct arena *arena, const struct study *study,
                             uint32_t policy)
{
    const struct host_policy *const *all = study->point[0].policy;
    const char *text = "";
    uint32_t more = 0;

    for (uint32_t p = policy; p < study->policy_count; p++) {
        if (!load_alike(all[p], all[policy]))
            continue;
        if (text[0] == '\0')
            text = text_format(arena, "%.60s", study->policy_name[p]);
        else if (more == 0 && strlen(text) +
                 strlen(study->policy_name[p]) < NAMES_BYTES)
            text = text_format(arena, "%s, %s", text, study->policy_name[p]);
        else
            more++;
    }
    return more == 0 ? text : text_format(arena, "%s and %u more", text, more);
}

static void print_parts(const struct load *load, uint32_t pool, bool cores,
                        FILE *to)
{
    const char *before = "  ";

    for (uint32_t i = 0; i < load->part_count; i++) {
        const struct load_part *part = &load->part[i];
        if (part->cores != cores || !(part->rho[pool] > 0))
            continue;
        fprintf(to, "%s%s of %s %.3f", before, part->role, part->form,
                part->rho[pool]);
        before = ", ";
    }
    fputc('\n', to);
}

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

void load_print(struct arena *arena, const struct study *study, FILE *to)
{
    bool begun = false, services = false;

    for (uint32_t i = 0; i < study->point_count; i++) {
        const struct study_point *point = &study->point[i];
        services |= workload_service_count(point->workload) > 0;
        for (uint32_t p = 0; p < study->policy_count; p++) {
            if (!is_first(study, p))
                continue;
            struct arena *scratch = arena_new(0);
            struct load load = load_of(scratch, study, point,
                                       point->policy[p]);
            if (load.known && !begun)
                fputs("offered load (rho): work that comes over what a pool "
                      "can do\n", to);
            begun |= load.known;
            if (load.known) {
                fprintf(to, "  %s, %s (%s)\n", point->label,
                        load_manner(point->policy[p]), names(arena, study, p));
                print_pools(point->cluster, &load, to);
            }
            arena_free(scratch);
        }
    }
    if (begun && services)
        fputs("  Replicas of services are not counted.\n", to);
}

void load_warn(struct arena *arena, const struct study *study,
               load_warn_fn *warn, void *self)
{
    for (uint32_t p = 0; p < study->policy_count; p++) {
        const char *where = NULL, *pool = "";
        struct err err = { 0 };
        uint32_t above = 0;
        double most = 1;
        for (uint32_t i = 0; is_first(study, p) && i < study->point_count;
             i++) {
            const struct study_point *point = &study->point[i];
            struct arena *scratch = arena_new(0);
            struct load load = load_of(scratch, study, point,
                                       point->policy[p]);
            arena_free(scratch);
            above += load.known && load.most > 1;
            if (!load.known || load.most <= most)
                continue;
            most = load.most;
            where = point->label;
            pool = point->cluster->pool_name[load.most_pool];
        }
        if (where == NULL)
            continue;
        struct err_pos pos = { study->path, 0, 0 };
        err_set(&err, ERR_LIMIT, pos, "overload under %.80s: the offered load "
                "is above 1 at %u of %u points, at most %.3f (pool %.30s, "
                "%.60s)", few_names(arena, study, p), above, study->point_count,
                most, pool, where);
        err_hint(&err, "The queue grows as long as jobs come, and mean times "
                 "say how long that was.");
        warn(self, &err);
    }
}

static void write_row(const struct study_point *point, const char *policies,
                      const char *of, uint32_t pool, double capacity,
                      double rho, bool first, struct out *out)
{
    out_text(out, first ? "\n    {\"point\": " : ",\n    {\"point\": ");
    out_json_text(out, point->label);
    out_text(out, ", \"policies\": ");
    out_json_text(out, policies);
    out_text(out, ", \"pool\": ");
    out_json_text(out, point->cluster->pool_name[pool]);
    out_printf(out, ", \"of\": \"%s\", \"capacity\": %.9g, \"rho\": %.6g}", of,
               capacity, rho);
}

void load_write(struct arena *arena, const struct study *study,
                struct out *out)
{
    bool first = true;

    out_text(out, "[");
    for (uint32_t i = 0; i < study->point_count; i++)
        for (uint32_t p = 0; p < study->policy_count; p++) {
            const struct study_point *point = &study->point[i];
            if (!is_first(study, p))
                continue;
            struct arena *scratch = arena_new(0);
            struct load load = load_of(scratch, study, point,
                                       point->policy[p]);
            arena_free(scratch);
            const char *policies = names(arena, study, p);
            for (uint32_t k = 0; load.known && k < point->cluster->pool_count;
                 k++) {
                if (load.rho[k] > 0)
                    write_row(point, policies, "GPUs", k, load.gpus[k],
                              load.rho[k], first, out);
                first &= !(load.rho[k] > 0);
                if (load.rho_cores[k] > 0)
                    write_row(point, policies, "cores", k, load.cores[k],
                              load.rho_cores[k], first, out);
                first &= !(load.rho_cores[k] > 0);
            }
        }
    out_text(out, "]");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * draw_test.c - the least that a cluster draws while a role runs, beside a list of all its units,
 * GPUs or cores, from which the thriftiest are taken one by one.  Clusters and roles by lot.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/rented.h"
#include "models/jobs/job.h"
#include "sim/base/rng.h"
#include "tests/aid/cluster_aid.h"
#include "workloads/jobs/draw.h"

#define GROUPS 4
#define TYPES 3
#define GB ((int64_t)1000000000)
#define UNITS_MAX 2000

struct grid {
    struct gpu_type gpu[TYPES];
    struct cpu_type cpu;
    struct rent_spec rent[GROUPS];
    struct node_group group[GROUPS];
    struct cluster_spec cluster;
    uint32_t types[TYPES];
    struct role_spec role;
};

static uint32_t below(struct rng *rng, uint32_t most)
{
    return (uint32_t)rng_below(rng, most);
}

static void draw_group(struct rng *rng, struct grid *w, struct node_group *group)
{
    *group = (struct node_group){ .name = "g", .pool = below(rng, 2),
        .node_count = 1 + below(rng, 3), .cpu = &w->cpu, .sockets = 1,
        .cores = 2 + below(rng, 30), .memory_bytes = (1 + below(rng, 40)) * GB,
        .idle_w = 50 + below(rng, 100) };
    if (below(rng, 3) == 0) {
        struct rent_spec *rent = &w->rent[group - w->group];
        group->rent = rent;
        rent->nodes_min = below(rng, 2) * below(rng, group->node_count + 1);
        rent->scale = below(rng, 5) == 0 ? RENT_ALWAYS : RENT_QUEUE;
        rent->reclaim_mtbf_ns = below(rng, 4) == 0;
    }
    group->max_w = group->idle_w + below(rng, 200);
    if (below(rng, 4) > 0) {
        group->gpu = &w->gpu[below(rng, TYPES)];
        group->gpus = 1 + below(rng, 8);
    }
}

static void draw_grid(struct rng *rng, struct grid *w)
{
    memset(w, 0, sizeof *w);
    w->cpu.flops_fp32 = w->cpu.memory_bps_sustained = 1e12;
    w->cluster = cluster_aid_new(w->group);
    w->cluster.pue = 1 + below(rng, 3) / 4.0;
    for (uint32_t t = 0; t < TYPES; t++) {
        w->gpu[t].index = t;
        w->gpu[t].idle_w = 10 + below(rng, 50);
        w->gpu[t].tdp_w = w->gpu[t].idle_w + below(rng, 400);
        w->types[t] = (t + below(rng, 2)) % TYPES;
    }
    for (uint32_t g = 0; g < GROUPS; g++) {
        draw_group(rng, w, &w->group[g]);
        cluster_aid_count(&w->cluster, &w->group[g]);
    }
    static const char *const pools[] = { NULL, "p", "q" };
    w->role = (struct role_spec){ .name = "r", .gpus = 1, .cores = below(rng, 5),
        .memory_bytes = below(rng, 3) * GB, .gpu_types = w->types,
        .gpu_type_count = 1 + below(rng, TYPES), .pool = pools[below(rng, 3)] };
}

/* ---- the plain way: a list of units ---- */

static bool is_in_pool(const struct grid *w, const struct node_group *group)
{
    return w->role.pool == NULL || strcmp(w->role.pool, group->pool == 0 ? "p" : "q") == 0;
}

static double gpu_more_w(const struct node_group *group)
{
    return group->gpu == NULL ? 0 : group->gpu->tdp_w - group->gpu->idle_w;
}

static double core_w(const struct node_group *group)
{
    return (group->max_w - group->idle_w) / group->cores;
}

static double node_mw(const struct grid *w, const struct node_group *group)
{
    double gpus_w = group->gpu != NULL ? group->gpus * group->gpu->idle_w : 0;

    return round(1000 * w->cluster.pue * (group->idle_w + gpus_w));
}

/* Nodes of a group that stand by all the time.  Under a cap one more is taken for as long as one of
 * its GPUs, or cores, could run besides; what may be reclaimed takes power, and is not counted. */
static uint32_t standing(const struct grid *w, uint32_t group)
{
    double drawn_mw = 0;
    uint32_t nodes = 0;

    for (uint32_t g = 0; g < GROUPS; g++)
        if (w->group[g].rent == NULL)
            drawn_mw += w->group[g].node_count * node_mw(w, &w->group[g]);
    if (w->group[group].rent == NULL)
        return w->group[group].node_count;
    for (uint32_t g = 0; g <= group; g++) {
        const struct node_group *here = &w->group[g];
        double unit_w = here->gpus > 0 ? gpu_more_w(here) : core_w(here);
        if (here->rent == NULL)
            continue;
        uint32_t most = here->rent->scale == RENT_ALWAYS ? here->node_count
                                                         : here->rent->nodes_min;
        for (nodes = 0; nodes < most; nodes++) {
            double with_mw = drawn_mw + node_mw(w, here) + round(1000 * w->cluster.pue * unit_w);
            if (w->cluster.power_cap_w > 0 && with_mw > 1000 * w->cluster.power_cap_w)
                break;
            drawn_mw += node_mw(w, here);
        }
    }
    return w->group[group].rent->reclaim_mtbf_ns > 0 ? 0 : nodes;
}

/* Units of one node that its cores and memory allow.  `type` TYPES: cores. */
static int node_units(const struct grid *w, const struct node_group *group, uint32_t type)
{
    const struct role_spec *role = &w->role;
    int units = 0, most = type == TYPES ? (int)group->cores : (int)group->gpus;

    if (!is_in_pool(w, group) || (type < TYPES && group->gpu != &w->gpu[type]))
        return 0;
    while (units < most) {
        int64_t next = units + 1;
        bool cores = type == TYPES || next * role->cores <= group->cores;
        int64_t share = type == TYPES ? role->memory_bytes / role->cores : role->memory_bytes;
        if (!cores || next * share > group->memory_bytes)
            break;
        units++;
    }
    return units;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double plain_spread(const struct grid *w, uint32_t type, double wanted)
{
    double unit[UNITS_MAX], part[UNITS_MAX], sum = 0, owned = 0, rented_mw = INFINITY;
    double left = wanted, parts_mw = 0;
    int units = 0, most = 1, parts = 0;

    for (uint32_t g = 0; g < GROUPS; g++) {
        const struct node_group *group = &w->group[g];
        int here = node_units(w, group, type);
        double unit_w = type == TYPES ? core_w(group)
                                      : gpu_more_w(group) + (wanted < 1 ? 0 : w->role.cores *
                                                                               core_w(group));
        for (int i = 0; i < here * (int)group->node_count; i++)
            unit[units++] = 1000 * w->cluster.pue * unit_w;
        owned += here * (double)standing(w, g);
        if (here > 0 && standing(w, g) < group->node_count) {
            most = here > most ? here : most;
            rented_mw = fmin(rented_mw, node_mw(w, group));
            for (uint32_t i = 0; i < (uint32_t)here * (group->node_count - standing(w, g)); i++)
                part[parts++] = node_mw(w, group) / here;
        }
    }
    qsort(unit, (size_t)units, sizeof *unit, compare);
    for (int i = 0; i < units && left > 0; left -= 1, i++)
        sum += fmin(1, left) * unit[i];
    if (left > 1e-9)
        return INFINITY;
    if (owned >= wanted)
        return sum;
    qsort(part, (size_t)parts, sizeof *part, compare);
    left = wanted - owned;
    for (int i = 0; i < parts && left > 0; left -= 1, i++)
        parts_mw += fmin(1, left) * part[i];
    return sum + fmax(ceil((wanted - owned) / most) * rented_mw, parts_mw);
}

static double plain_standby(const struct grid *w)
{
    double mw = 0;

    for (uint32_t g = 0; g < GROUPS; g++)
        mw += standing(w, g) * node_mw(w, &w->group[g]);
    return mw;
}

static bool takes(const struct grid *w, const struct node_group *group)
{
    for (uint32_t i = 0; i < w->role.gpu_type_count; i++)
        if (group->gpu == &w->gpu[w->types[i]])
            return true;
    return false;
}

/* On one node that has all of it; a node that has to be rented stands by for it. */
static double plain_node(const struct grid *w, double gpus, double cores, int64_t memory)
{
    double least = INFINITY;

    for (uint32_t g = 0; g < GROUPS; g++) {
        const struct node_group *group = &w->group[g];

        if (is_in_pool(w, group) && (gpus <= 0 || (takes(w, group) && gpus <= group->gpus)) &&
            cores <= group->cores && memory <= group->memory_bytes)
            least = fmin(least, 1000 * w->cluster.pue * (gpus * gpu_more_w(group) +
                                                         cores * core_w(group)) +
                                    (standing(w, g) == 0 ? node_mw(w, group) : 0));
    }
    return least;
}

static double plain_least(const struct grid *w, double gpus)
{
    const struct role_spec *role = &w->role;
    double least = INFINITY;

    if (role->pod)
        least = plain_node(w, gpus, (double)role->core_milli / 1000, role->memory_bytes);
    else if (role->on_cores.cores > 0)
        least = plain_node(w, 0, role->on_cores.cores, role->on_cores.memory_bytes);
    else if (role->gpus == 0)
        least = plain_spread(w, TYPES, role->cores);
    for (uint32_t i = 0; !role->pod && role->gpus > 0 && i < role->gpu_type_count; i++)
        least = fmin(least, plain_spread(w, w->types[i], gpus));
    double slack = 1 + fmax(gpus, fmax(role->cores, role->on_cores.cores));
    return plain_standby(w) + fmax(0, least - slack);
}

static void is_near(const char *what, uint64_t seed, double found, double expected)
{
    if (!(found >= expected - 1e-6 * expected && found <= expected + 1e-6 * expected) &&
        !(isinf(found) && isinf(expected)))
        fail_msg("%s, seed %d: %.9g, expected %.9g", what, (int)seed, found, expected);
}

static void the_thriftiest_units_are_taken_first(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct grid w;
        struct rng rng;

        rng_init(&rng, seed, "draw", 0);
        draw_grid(&rng, &w);
        is_near("standby", seed, draw_standby_mw(&w.cluster), plain_standby(&w));
        for (uint32_t milli = 300; milli < 30000; milli += milli < 1000 ? 300 : 2500)
            is_near("GPUs", seed, draw_least_mw(&w.cluster, &w.role, milli),
                    plain_least(&w, milli / 1000.0));
        w.role.gpus = 0;
        w.role.cores = 1u << below(&rng, 7);
        is_near("cores", seed, draw_least_mw(&w.cluster, &w.role, 0), plain_least(&w, 0));
    }
}

static void one_node_has_all_of_a_pod(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        struct grid w;
        struct rng rng;

        rng_init(&rng, seed, "pod", 0);
        draw_grid(&rng, &w);
        w.role.on_cores.cores = 1 + below(&rng, 20);
        w.role.on_cores.memory_bytes = (1 + below(&rng, 30)) * GB;
        is_near("cores instead", seed, draw_least_mw(&w.cluster, &w.role, 8000),
                plain_least(&w, 8));
        w.role.on_cores.cores = 0;
        w.role.pod = true;
        w.role.core_milli = 1000 * (1 + below(&rng, 20));
        w.role.memory_bytes = (1 + below(&rng, 30)) * GB;
        for (uint32_t milli = 0; milli < 6000; milli += 500)
            is_near("pod", seed, draw_least_mw(&w.cluster, &w.role, milli),
                    plain_least(&w, milli / 1000.0));
    }
}

/* By the search the most that runs is what a look at each number of GPUs finds. */
static void the_most_is_the_last_that_fits(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        struct grid w;
        struct rng rng;
        uint32_t max = 1 + (uint32_t)(seed % 12), most = 0;

        rng_init(&rng, seed, "most", 0);
        draw_grid(&rng, &w);
        assert_true(draw_most_milli(&w.cluster, &w.role, max) == 1000 * max);
        /* Some caps are below what stands by, so that nothing runs. */
        w.cluster.power_cap_w = fmax(1, ceil(plain_standby(&w) / 1000 - 400 + below(&rng, 3000)));
        for (uint32_t milli = 1; milli <= 1000 * max; milli += milli < 1000 ? 1 : 1000)
            if (draw_least_mw(&w.cluster, &w.role, milli) <= 1000 * w.cluster.power_cap_w)
                most = milli;
        /* Below one GPU cores are not counted, so that all of a part may fit and a whole not. */
        assert_int_equal(draw_most_milli(&w.cluster, &w.role, max), most);
    }
}

/* By hand: two nodes that are like but for watts; one GPU adds 100 W, a core 1 W.  A pod of half
 * a GPU and two cores adds 52 W to the standby of an owned node, and 152 W where the node has to
 * be rented; a role that may take four cores instead of a GPU adds 4 W. */
static void a_pod_stays_on_one_node(void **state)
{
    struct grid w = { .gpu = { { .index = 0, .idle_w = 20, .tdp_w = 120 } } };
    struct node_group node = { .name = "g", .node_count = 2, .gpu = &w.gpu[0], .gpus = 2,
        .cpu = &w.cpu, .sockets = 1, .cores = 8, .memory_bytes = 8 * GB, .idle_w = 60,
        .max_w = 68 };

    (void)state;
    w.cpu.flops_fp32 = w.cpu.memory_bps_sustained = 1e12;
    w.cluster = cluster_aid_new(w.group);
    w.cluster.pue = 1;
    w.group[0] = node;
    cluster_aid_count(&w.cluster, &w.group[0]);
    w.role = (struct role_spec){ .name = "r", .gpus = 1, .gpu_types = w.types, .gpu_type_count = 1,
        .pod = true, .core_milli = 2000, .memory_bytes = 8 * GB };
    is_near("owned", 0, draw_least_mw(&w.cluster, &w.role, 500), 2 * 1e5 + 52e3 - 1.5);
    is_near("all", 0, draw_least_mw(&w.cluster, &w.role, 2000), 2 * 1e5 + 202e3 - 3);
    assert_true(isinf(draw_least_mw(&w.cluster, &w.role, 3000)));
    w.role.core_milli = 8001;
    assert_true(isinf(draw_least_mw(&w.cluster, &w.role, 500)));
    w.role.core_milli = 2000;
    w.role.memory_bytes++;
    assert_true(isinf(draw_least_mw(&w.cluster, &w.role, 500)));
    w.role.memory_bytes--;
    w.group[0].rent = &w.rent[0];
    is_near("rented", 0, draw_least_mw(&w.cluster, &w.role, 500), 152e3 - 1.5);
    w.group[0].rent = NULL;
    w.role = (struct role_spec){ .name = "r", .gpus = 2, .gpu_types = w.types, .gpu_type_count = 1,
                                 .on_cores = { .cores = 4, .memory_bytes = 8 * GB } };
    is_near("cores", 0, draw_least_mw(&w.cluster, &w.role, 2000), 2 * 1e5 + 4e3 - 5);
    w.role.on_cores.cores = 9;
    is_near("GPUs", 0, draw_least_mw(&w.cluster, &w.role, 2000), 2 * 1e5 + 200e3 - 10);
}

/* A node of two GPUs draws 100 W standing by and each GPU 100 W more, a core 1 W.  Three nodes are
 * rented, one of them always: five GPUs take it and two more. */
static void nodes_that_are_always_kept_stand_by(void **state)
{
    struct grid w = { .gpu = { { .index = 0, .idle_w = 20, .tdp_w = 120 } } };

    (void)state;
    w.cpu.flops_fp32 = w.cpu.memory_bps_sustained = 1e12;
    w.cluster = cluster_aid_new(w.group);
    w.cluster.pue = 1;
    w.rent[0].nodes_min = 1;
    w.group[0] = (struct node_group){ .name = "g", .node_count = 3, .gpu = &w.gpu[0], .gpus = 2,
        .cpu = &w.cpu, .sockets = 1, .cores = 8, .memory_bytes = 8 * GB, .idle_w = 60,
        .max_w = 68, .rent = &w.rent[0] };
    cluster_aid_count(&w.cluster, &w.group[0]);
    w.role = (struct role_spec){ .name = "r", .gpus = 1, .gpu_types = w.types,
                                 .gpu_type_count = 1 };
    is_near("standby", 0, draw_standby_mw(&w.cluster), 1e5);
    assert_int_equal(draw_standing_nodes(&w.cluster, 0), 1);
    is_near("two", 0, draw_least_mw(&w.cluster, &w.role, 2000), 1e5 + 2e5 - 3);
    is_near("five", 0, draw_least_mw(&w.cluster, &w.role, 5000), 3e5 + 5e5 - 6);
    w.cluster.power_cap_w = 199;        /* a node, and not a GPU */
    is_near("capped", 0, draw_standby_mw(&w.cluster), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_thriftiest_units_are_taken_first),
        cmocka_unit_test(one_node_has_all_of_a_pod),
        cmocka_unit_test(the_most_is_the_last_that_fits),
        cmocka_unit_test(a_pod_stays_on_one_node),
        cmocka_unit_test(nodes_that_are_always_kept_stand_by),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

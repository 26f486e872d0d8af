/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * demand_room_test.c - whether a role can run on a cluster, and what is said if not: drawn roles on
 * drawn clusters, beside a count that goes from node to node and takes one GPU or core at a time.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/jobs/job.h"
#include "sim/base/rng.h"
#include "tests/aid/workload_aid.h"
#include "workloads/jobs/demand.h"

#define WORLDS 400
#define ROLES 25
#define GB 1e9

static const char *const types[] = { "a10", "l40s", "a100-80", "a100-40" };
static const char *const pools[] = { "p", "q", "r" };
static const int memories[] = { 64, 256, 1000 };

struct asked {
    struct role_spec role;
    struct demand demand;
    const char *name[3];        /* of `types:` */
    uint32_t named;
};
/* What should be said; text: empty, nothing. */
struct answer { char text[600], hint[300]; };

static uint32_t below(struct rng *rng, uint32_t n)
{
    return (uint32_t)rng_below(rng, n);
}

static struct answer *say(struct answer *answer, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(answer->text, sizeof answer->text, format, args);
    va_end(args);
    return answer;
}

static void hint(struct answer *answer, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(answer->hint, sizeof answer->hint, format, args);
    va_end(args);
}

/* ---- draws ---- */

static const struct cluster_spec *draw_cluster(struct aid *aid, struct rng *rng)
{
    char text[2000];
    int n = sprintf(text, "nodes:\n");

    for (uint32_t g = 0, groups = 1 + below(rng, 5); g < groups; g++) {
        n += sprintf(text + n, "  - {name: g%u, count: %u", g, 1 + below(rng, 3));
        uint32_t type = below(rng, 5), gpus = 1 + below(rng, 8);
        if (type < 4)
            n += sprintf(text + n, ", gpus: {type: %s, count: %u}", types[type], gpus);
        bool known = type < 4 || below(rng, 2) == 0;
        if (known)
            n += sprintf(text + n, ", cpu: {type: xeon-platinum-8380, sockets: %u}",
                         1 + below(rng, 2));
        if (!known || below(rng, 3) == 0)
            n += sprintf(text + n, ", cores: %u", 1 + below(rng, 40));
        n += sprintf(text + n, ", memory: %dGB", memories[below(rng, 3)]);
        if (below(rng, 2) == 0)
            n += sprintf(text + n, ", nvme: 2x3.84TB");
        n += sprintf(text + n, ", pool: %s}\n", pools[below(rng, 3)]);
    }
    const struct conf_node *conf = conf_parse(aid->arena, "c.yaml", text, strlen(text),
                                              &aid->err);
    assert_non_null(conf);
    const struct cluster_spec *cluster = cluster_read(aid->arena, conf, aid->catalogue,
                                                      &aid->err);
    if (cluster == NULL)
        fail_msg("%s: %s", text, aid->err.text);
    return cluster;
}

static const char *draw_pool(struct rng *rng)
{
    uint32_t k = below(rng, 20);

    return k < 12 ? NULL : k < 19 ? pools[k % 3] : "nowhere";
}

/* Names of types, now and then one that is unknown or is not a type of the cluster. */
static void draw_types(struct aid *aid, struct rng *rng, struct asked *asked)
{
    char text[200] = "types: [";

    if (below(rng, 2) == 0)
        return;
    asked->named = 1 + below(rng, 3);
    for (uint32_t i = 0; i < asked->named; i++) {
        uint32_t k = below(rng, 24);
        asked->name[i] = k < 20 ? types[k % 4] : k == 20 ? "h100" : k == 21 ? "h1000" : "cpu";
        sprintf(text + strlen(text), "%s%s", i > 0 ? ", " : "", asked->name[i]);
    }
    strcat(text, "]\n");
    if (asked->named == 1 && below(rng, 2) == 0)        /* one name needs no list */
        sprintf(text, "types: %s\n", asked->name[0]);
    const struct conf_node *conf = conf_parse(aid->arena, "t.yaml", text, strlen(text),
                                              &aid->err);
    assert_non_null(conf);
    asked->demand.types = conf_get(conf, "types");
}

static struct asked draw_asked(struct aid *aid, struct rng *rng)
{
    static const double bytes[] = { 0, 10e9, 24e9, 30e9, 45e9, 60e9, 90e9 };
    struct asked asked = {
        .role = { .name = "train", .pool = draw_pool(rng), .home = draw_pool(rng) },
        .demand = { .form = "f", .pos = { "w.yaml", 3, 1 } },
    };

    asked.role.gpus = below(rng, 5) == 0 ? 0 : 1 + below(rng, 24);
    asked.role.gpus_min = asked.role.gpus == 0 ? 0 : 1 + below(rng, asked.role.gpus);
    asked.role.cores = below(rng, asked.role.gpus == 0 ? 200 : 24);
    asked.role.cores += asked.role.gpus == 0;
    asked.role.memory_bytes = INT64_C(1000000000) * below(rng, asked.role.gpus == 0 ? 900 : 90);
    asked.role.gpu_memory_bytes = bytes[below(rng, 7)];
    if (below(rng, 3) == 0) {
        asked.role.on_cores.cores = 1 + below(rng, 100);
        asked.role.on_cores.memory_bytes = INT64_C(1000000000) * below(rng, 600);
    }
    if (asked.role.home != NULL)
        asked.demand.home = (struct err_pos) { "w.yaml", 9, 9 };
    if (asked.role.gpus > 0)
        draw_types(aid, rng, &asked);
    return asked;
}

/* ---- the slow way ---- */

static bool is_in(const struct cluster_spec *cluster, uint32_t g, const char *pool)
{
    return pool == NULL || strcmp(cluster->pool_name[cluster->group[g].pool], pool) == 0;
}

static bool has_pool(const struct cluster_spec *cluster, const char *pool)
{
    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (is_in(cluster, g, pool))
            return true;
    return false;
}

/* GPUs of a node, one by one, as long as their cores and memory are there. */
static uint64_t count_gpus(const struct node_group *node, const struct role_spec *role)
{
    uint64_t n = 0;

    while (n < node->gpus && (n + 1) * role->cores <= node->cores &&
           (int64_t)(n + 1) * role->memory_bytes <= node->memory_bytes)
        n++;
    return n;
}

/* Cores of a node, each with its part of the memory. */
static uint64_t count_cores(const struct node_group *node, const struct role_spec *role)
{
    uint64_t n = 0;

    while (n < node->cores && n < role->cores &&
           (double)(n + 1) * (double)role->memory_bytes <=
           (double)node->memory_bytes * role->cores)
        n++;
    return n;
}

static bool computes(const struct node_group *node)
{
    return node->cpu != NULL && node->cpu->flops_fp32 > 0;
}

static bool pools_answer(const struct cluster_spec *cluster, const struct role_spec *role,
                         struct answer *out)
{
    if (!has_pool(cluster, role->pool))
        say(out, "role train of f wants pool %s, which the cluster does not have", role->pool);
    else if (!has_pool(cluster, role->home))
        say(out, "role train of f has its home in pool %s, which the cluster does not have",
            role->home);
    else if (role->pool && role->home && strcmp(role->pool, role->home) != 0)
        say(out, "role train of f has its home in pool %s, but may only use pool %s", role->home,
            role->pool);
    return out->text[0] == '\0';
}

static void no_type(const struct cluster_spec *cluster, const struct asked *asked,
                    const char *pool, struct answer *out)
{
    char list[200] = "";

    say(out, "role train of f can never run: %s%s has no GPU of %s", pool ? "pool " : "",
        pool ? pool : "the cluster", asked->named > 0 ? "the types it names" : "any type");
    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (cluster->group[g].gpu != NULL && is_in(cluster, g, pool)) {
            char name[40];
            snprintf(name, sizeof name, "%s%s", list[0] ? ", " : "It has ",
                     cluster->group[g].gpu->name);
            bool told = false;
            for (uint32_t h = 0; h < g; h++)
                told = told || (cluster->group[h].gpu == cluster->group[g].gpu &&
                                is_in(cluster, h, pool));
            if (!told)
                strcat(list, name);
        }
    hint(out, "%s%s", list, list[0] ? "." : "");
}

static void add_gpu(const struct gpu_type **found, uint32_t *count, const struct gpu_type *gpu)
{
    for (uint32_t i = 0; i < *count; i++)
        if (found[i] == gpu)
            return;
    found[(*count)++] = gpu;
}

/* The types that the role may have, those that are named in their order. */
static bool types_answer(const struct aid *aid, const struct cluster_spec *cluster,
                         const struct asked *asked, const struct gpu_type **kept, uint32_t *count,
                         struct answer *out)
{
    const struct role_spec *role = &asked->role;
    const struct gpu_type *all[20], *best;
    uint32_t found = 0;

    *count = 0;
    for (uint32_t i = 0; i < asked->named || (asked->named == 0 && i == 0); i++) {
        const char *name = asked->named == 0 ? NULL : asked->name[i];
        if (name != NULL && strcmp(name, "cpu") == 0) {
            if (role->on_cores.cores > 0)
                continue;
            say(out, "types of role train of f names cpu, but the role does not say on which "
                "cores");
            return false;
        }
        if (name != NULL && catalogue_gpu(aid->catalogue, name) == NULL) {
            say(out, "types names %s, which is no GPU of the catalogue", name);
            return false;
        }
        for (uint32_t g = 0; g < cluster->group_count; g++)
            if (cluster->group[g].gpu != NULL && is_in(cluster, g, role->pool) &&
                (name == NULL || strcmp(cluster->group[g].gpu->name, name) == 0))
                add_gpu(all, &found, cluster->group[g].gpu);
    }
    if (found == 0) {
        no_type(cluster, asked, role->pool, out);
        return false;
    }
    best = all[0];
    for (uint32_t i = 0; i < found; i++) {
        best = all[i]->memory_bytes > best->memory_bytes ? all[i] : best;
        if (all[i]->memory_bytes >= role->gpu_memory_bytes)
            kept[(*count)++] = all[i];
    }
    double lacks = role->gpu_memory_bytes - best->memory_bytes;
    if (*count == 0)
        say(out, "role train of f needs %.1f GB on each GPU; the largest it may use, %s, has "
            "%.1f GB: %.0f bytes (%.1f GB) are missing", role->gpu_memory_bytes / GB, best->name,
            best->memory_bytes / GB, lacks, lacks / GB);
    return *count > 0;
}

static bool gpus_answer(const struct cluster_spec *cluster, const struct asked *asked,
                        const struct gpu_type *const *kept, uint32_t count, const char *pool,
                        struct answer *out)
{
    const struct role_spec *role = &asked->role;
    unsigned long long most = 0, usable = 0;
    const char *type = "";

    for (uint32_t i = 0; i < count; i++) {
        unsigned long long all = 0, some = 0;
        for (uint32_t node = 0; node < cluster->node_count; node++)
            for (uint32_t g = 0; g < cluster->group_count; g++) {
                const struct node_group *group = &cluster->group[g];
                if (node < group->first_node || node >= group->first_node + group->node_count ||
                    group->gpu != kept[i] || !is_in(cluster, g, pool))
                    continue;
                all += group->gpus;
                some += count_gpus(group, role);
            }
        if (some >= role->gpus_min)
            return true;
        if (all > most) {
            most = all;
            usable = some;
            type = kept[i]->name;
        }
    }
    if (most == 0) {
        no_type(cluster, asked, pool, out);
    } else if (most < role->gpus_min) {
        say(out, "role train of f can never run: it needs at least %u GPUs of one type, %s has "
            "%llu (%s)", role->gpus_min, pool ? pool : "the cluster", most, type);
        hint(out, "%u are missing.", role->gpus_min - (unsigned)most);
    } else {
        say(out, "role train of f can never run: with %u cores and %.1f GB of host memory per "
            "GPU, only %llu of the %llu GPUs of type %s can be used, it needs %u", role->cores,
            (double)role->memory_bytes / GB, usable, most, type, role->gpus_min);
        hint(out, "Ask for fewer cores or less memory.");
    }
    return false;
}

static bool cores_answer(const struct cluster_spec *cluster, const struct role_spec *role,
                         const char *pool, struct answer *out)
{
    unsigned long long cores = 0, served = 0;
    double bytes = 0;

    for (uint32_t g = 0; g < cluster->group_count; g++)
        for (uint32_t n = 0; n < cluster->group[g].node_count && is_in(cluster, g, pool); n++) {
            cores += cluster->group[g].cores;
            bytes += (double)cluster->group[g].memory_bytes;
            served += count_cores(&cluster->group[g], role);
        }
    if (served >= role->cores)
        return true;
    say(out, "role train of f can never run: it needs %u cores and %.1f GB of memory, %s has %llu "
        "cores and %.1f GB", role->cores, (double)role->memory_bytes / GB,
        pool ? pool : "the cluster", cores, bytes / GB);
    if (cores >= role->cores && bytes >= (double)role->memory_bytes)
        hint(out, "Of these cores %llu have %.1f GB each on their nodes.", served,
             (double)role->memory_bytes / role->cores / GB);
    return false;
}

static bool computing_answer(const struct cluster_spec *cluster, const struct role_spec *role,
                             const char *pool, struct answer *out)
{
    unsigned cores = 0;
    double bytes = 0;

    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *node = &cluster->group[g];
        if (!is_in(cluster, g, pool) || !computes(node))
            continue;
        if (node->cores >= role->on_cores.cores &&
            node->memory_bytes >= role->on_cores.memory_bytes)
            return true;
        cores = node->cores > cores ? node->cores : cores;
        bytes = fmax(bytes, (double)node->memory_bytes);
    }
    say(out, "role train of f can never compute on cores: it needs %u cores and %.1f GB of memory "
        "on one node; of CPUs with known rates nodes of %s have up to %u and %.1f GB",
        role->on_cores.cores, (double)role->on_cores.memory_bytes / GB,
        pool ? pool : "the cluster", cores, bytes / GB);
    hint(out, "Ask for fewer cores or less memory.");
    return false;
}

/* With GPUs and cores to choose from it needs both, at home one of them. */
static bool room_answer(const struct cluster_spec *cluster, const struct asked *asked,
                        const struct gpu_type *const *kept, uint32_t count, const char *pool,
                        bool home, struct answer *out)
{
    const struct role_spec *role = &asked->role;

    if (role->gpus == 0 && role->on_cores.cores == 0)
        return cores_answer(cluster, role, pool, out);
    if (role->gpus == 0)
        return computing_answer(cluster, role, pool, out);
    bool gpus = gpus_answer(cluster, asked, kept, count, pool, out);
    if (role->on_cores.cores == 0)
        return gpus;
    if (home && gpus)
        return true;
    if (!home && !gpus)
        return false;
    struct answer cores = { "", "" };
    bool good = computing_answer(cluster, role, pool, &cores);
    *out = cores;
    return good;
}

/* ---- beside each other ---- */

/* An unknown pool is told with one that the cluster has: with the first one where no name is
 * near. */
static void names_a_pool(const struct cluster_spec *cluster, const struct err *err)
{
    char text[80];
    bool found = false;

    for (uint32_t p = 0; p < cluster->pool_count; p++) {
        snprintf(text, sizeof text, "The cluster has pool %s.", cluster->pool_name[p]);
        found = found || ((p == 0 || strstr(err->text, "nowhere") == NULL) &&
                          strcmp(err->hint, text) == 0);
    }
    if (!found)
        fail_msg("%s: %s", err->text, err->hint);
}

static void same(const char *where, const struct err *err, bool good, bool want,
                 const struct answer *answer, uint32_t line)
{
    if (good != want || (!want && strcmp(err->text, answer->text) != 0))
        fail_msg("%s: %d for %d\n%s\n%s", where, good, want, err->text, answer->text);
    if (!want && answer->hint[0] != '\0' && strcmp(err->hint, answer->hint) != 0)
        fail_msg("%s: %s\nhint %s\nhint %s", where, err->text, err->hint, answer->hint);
    if (!want && line > 0)
        assert_int_equal(err->pos.line, line);
}

/* Each node on which the role may get a lease must have drives. */
static void check_drives(const struct world *world, const struct asked *asked,
                         const struct gpu_type *const *kept, uint32_t count)
{
    const struct cluster_spec *cluster = world->cluster;
    const struct role_spec *role = &asked->role;
    struct answer out = { "", "" };
    const char *bare = NULL;
    unsigned with = 0;

    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *node = &cluster->group[g];
        bool may = false;
        for (uint32_t i = 0; i < count; i++)
            may = may || (role->gpus > 0 && node->gpu == kept[i]);
        may = may || (role->on_cores.cores > 0 && computes(node) &&
                      node->cores >= role->on_cores.cores &&
                      node->memory_bytes >= role->on_cores.memory_bytes);
        may = may || (role->gpus == 0 && role->on_cores.cores == 0 && node->cores > 0);
        if (!may || !is_in(cluster, g, role->pool))
            continue;
        with += node->nvme_bps > 0;
        if (node->nvme_bps <= 0 && bare == NULL)
            bare = node->name;
    }
    memset(world->err, 0, sizeof *world->err);
    bool good = demand_nvme(world, &asked->demand, role);
    if (with == 0)
        say(&out, "role train of f reads from nvme, but no node that it may run on has any");
    else
        say(&out, "role train of f reads from nvme, but nodes %s, on which it may run, have none",
            bare);
    same("nvme", world->err, good, bare == NULL, &out, 3);
}

static void check_kept(const struct role_spec *role, const struct gpu_type *const *kept,
                       uint32_t count)
{
    assert_int_equal(role->gpu_type_count, count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(role->gpu_types[i], kept[i]->index);
}

/* Where a role grows, types that are too small now are left out. */
static void check_narrow(const struct world *world, const struct asked *asked,
                         const struct gpu_type *const *kept, uint32_t count)
{
    struct role_spec grown = asked->role;
    const struct gpu_type *large[20];
    uint32_t n = 0;

    grown.gpu_memory_bytes = 48e9;
    for (uint32_t i = 0; i < count; i++)
        if (kept[i]->memory_bytes >= 48e9)
            large[n++] = kept[i];
    memset(world->err, 0, sizeof *world->err);
    assert_int_equal(demand_narrow(world, &asked->demand, &grown), n > 0);
    assert_int_equal(world->err->kind != ERR_NONE, n == 0);
    check_kept(&grown, large, n);
}

/* Returns how the role ended: 0, its types are refused; 1, it has no room; 2, it has. */
static int check_asked(const struct world *world, const struct aid *aid, struct asked *asked)
{
    const struct gpu_type *kept[20], *best;
    struct role_spec *role = &asked->role;
    struct answer out = { "", "" };
    uint32_t count = 0;

    memset(world->err, 0, sizeof *world->err);
    bool want = pools_answer(world->cluster, role, &out);
    if (role->gpus > 0) {
        want = want && types_answer(aid, world->cluster, asked, kept, &count, &out);
        same("types", world->err, demand_types(world, &asked->demand, role, &best), want, &out, 0);
        if (strstr(out.text, "which the cluster does not have") != NULL)
            names_a_pool(world->cluster, world->err);
        if (!want)
            return 0;
        check_kept(role, kept, count);
        check_narrow(world, asked, kept, count);
        memset(world->err, 0, sizeof *world->err);
    }
    uint32_t line = 3;
    if (want && (want = room_answer(world->cluster, asked, kept, count, role->pool, false,
                                    &out)) && role->home != NULL) {
        memset(&out, 0, sizeof out);
        want = room_answer(world->cluster, asked, kept, count, role->home, true, &out);
        if (out.hint[0] == '\0')        /* the first one stays */
            hint(&out, "A policy with a pool for each role starts it in its home, pool %s.",
                 role->home);
        line = 9;
    }
    bool good = demand_room(world, &asked->demand, role);
    same("room", world->err, good, want, &out, strstr(out.text, "does not have") ||
         strstr(out.text, "may only use") ? 0 : line);
    if (want)
        check_drives(world, asked, kept, count);
    return want ? 2 : 1;
}

/* The most GPUs of one type, counted GPU by GPU. */
static void check_most(const struct world *world, const char *pool)
{
    const struct cluster_spec *cluster = world->cluster;
    uint32_t most = 0;

    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        uint32_t n = 0;
        for (uint32_t g = 0; g < cluster->group_count; g++)
            if (cluster->group[g].gpu != NULL && is_in(cluster, g, pool) &&
                strcmp(cluster->group[g].gpu->name, types[t]) == 0)
                for (uint32_t node = 0; node < cluster->group[g].node_count; node++)
                    n += cluster->group[g].gpus;
        most = n > most ? n : most;
    }
    assert_int_equal(demand_gpus_max(world, pool), most);
}

static void a_role_runs_where_a_count_finds_room(void **state)
{
    unsigned ended[3] = { 0 };
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, "demand", 0);
    for (int w = 0; w < WORLDS; w++) {
        struct aid aid;
        aid_open(&aid);
        struct world world = { aid.arena, aid.catalogue, draw_cluster(&aid, &rng), &aid.err };
        check_most(&world, NULL);
        for (size_t p = 0; p < sizeof pools / sizeof pools[0]; p++)
            check_most(&world, pools[p]);
        for (int r = 0; r < ROLES; r++) {
            memset(&aid.err, 0, sizeof aid.err);
            struct asked asked = draw_asked(&aid, &rng);
            ended[check_asked(&world, &aid, &asked)]++;
        }
        aid_close(&aid);
    }
    for (int i = 0; i < 3; i++)
        assert_true(ended[i] > WORLDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_role_runs_where_a_count_finds_room),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

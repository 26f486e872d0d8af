/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * demand.c - can a role run anywhere on this cluster, and if not, why not.
 *
 * A gang has one GPU type.  Room is counted group by group: a node gives as
 * many GPUs as it has, fewer where cores or host memory run out first.  A
 * policy's placement rule may be stricter than that; never more lenient.
 */
#include "workloads/jobs/demand.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fit.h"
#include "models/jobs/job.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "workloads/jobs/draw.h"
#include "workloads/jobs/room.h"

#define GB 1e9

/* Does the cluster have that pool?  `pool` is role->pool or role->home, which
 * only changes the message.  NULL: none is named, which is right. */
static bool check_pool(const struct world *world, const struct demand *demand,
                       const struct role_spec *role, const char *pool,
                       struct err_pos pos)
{
    const struct cluster_spec *cluster = world->cluster;
    const char **names;
    const char *near;

    if (pool == NULL || cluster_pool(cluster, pool) != UINT32_MAX)
        return true;
    names = arena_alloc(world->arena, cluster->pool_count + 1,
                        sizeof *names);
    for (uint32_t i = 0; i < cluster->pool_count; i++)
        names[i] = cluster->pool_name[i];
    err_set(world->err, ERR_REFERENCE, pos,
            "role %s of %s %s pool %s, which the cluster does not have",
            role->name, demand->form,
            pool == role->pool ? "wants" : "has its home in", pool);
    near = conf_nearest(pool, names);
    if (near == NULL && cluster->pool_count > 0)
        near = names[0];
    if (near != NULL)
        err_hint(world->err, "The cluster has pool %s.", near);
    return false;
}

/* Checks `pool` and `home` of a role; a home outside of its pool would never
 * be used. */
static bool check_pools(const struct world *world,
                        const struct demand *demand,
                        const struct role_spec *role)
{
    if (!check_pool(world, demand, role, role->pool, demand->pos) ||
        !check_pool(world, demand, role, role->home, demand->home))
        return false;
    if (role->pool == NULL || role->home == NULL ||
        strcmp(role->pool, role->home) == 0)
        return true;
    err_set(world->err, ERR_RANGE, demand->home,
            "role %s of %s has its home in pool %s, but may only use pool %s",
            role->name, demand->form, role->home, role->pool);
    return err_hint(world->err, "Leave out pool, or name the same in both.");
}

/* Appends a type once. */
static uint32_t add_type(uint32_t *types, uint32_t count, uint32_t type)
{
    for (uint32_t i = 0; i < count; i++)
        if (types[i] == type)
            return count;
    types[count] = type;
    return count + 1;
}

/* Returns a type of the cluster by its index.  `generic` has an index too, but
 * is not in the catalogue. */
static const struct gpu_type *find_type(const struct world *world,
                                        uint32_t type)
{
    const struct cluster_spec *cluster = world->cluster;

    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (cluster->group[g].gpu != NULL &&
            cluster->group[g].gpu->index == type)
            return cluster->group[g].gpu;
    assert(!"a type of the cluster");
    return NULL;
}

/* Returns the type of that name, of the cluster or else of the catalogue.
 * NULL: neither knows it. */
static const struct gpu_type *find_named_type(const struct world *world,
                                              const char *name)
{
    const struct cluster_spec *cluster = world->cluster;

    for (uint32_t g = 0; g < cluster->group_count; g++)
        if (cluster->group[g].gpu != NULL &&
            strcmp(cluster->group[g].gpu->name, name) == 0)
            return cluster->group[g].gpu;
    return catalogue_gpu(world->catalogue, name);
}

/* Has the pool nodes with GPUs of that type? */
static bool cluster_has(const struct cluster_spec *cluster, const char *pool,
                        uint32_t type)
{
    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];

        if (group->gpu != NULL && group->gpu->index == type &&
            room_in_pool(cluster, group, pool))
            return true;
    }
    return false;
}

/* Reads one name of `types:` as an index.  False, with err: neither the cluster
 * nor the catalogue knows it. */
static bool read_type(const struct world *world,
                      const struct conf_node *node, uint32_t *type)
{
    const char *name;
    const struct gpu_type *gpu;

    if (conf_kind(node) != CONF_SCALAR)
        return err_set(world->err, ERR_SCHEMA, conf_pos(node),
                       "types must be a GPU's name or a list of names");
    name = conf_text(node);
    gpu = find_named_type(world, name);
    if (gpu != NULL) {
        *type = gpu->index;
        return true;
    }
    err_set(world->err, ERR_REFERENCE, conf_pos(node),
            "types names %s, which is no GPU of the catalogue", name);
    return catalogue_hint(world->catalogue, CATALOGUE_GPUS, name, world->err);
}

/* Adds a hint such as "It has a100-80, l40s.", of the pool or of the whole
 * cluster (NULL). Returns false always, so that a caller may return its result. */
static bool hint_types(const struct world *world, const char *pool)
{
    const struct cluster_spec *cluster = world->cluster;
    char names[160] = "";
    size_t used = 0;

    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct gpu_type *gpu = cluster->group[g].gpu;
        bool told = gpu == NULL || !room_in_pool(cluster, &cluster->group[g], pool);

        for (uint32_t before = 0; before < g && !told; before++)
            told = cluster->group[before].gpu == gpu &&
                   room_in_pool(cluster, &cluster->group[before], pool);
        if (told || used + strlen(gpu->name) + 3 > sizeof names)
            continue;
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                                 used == 0 ? "" : ", ", gpu->name);
    }
    return used > 0 && err_hint(world->err, "It has %s.", names);
}

/* Reports a role for which the cluster has no GPU. */
static bool report_no_type(const struct world *world, const struct demand *demand,
                           const struct role_spec *role)
{
    err_set(world->err, ERR_RANGE, demand->pos,
            "role %s of %s can never run: %s%s has no GPU of %s",
            role->name, demand->form,
            role->pool == NULL ? "the cluster" : "pool ",
            role->pool == NULL ? "" : role->pool,
            demand->types == NULL ? "any type" : "the types it names");
    return hint_types(world, role->pool);
}

/* Is an item of `types:` the word cpu, which stands for cores? */
static bool names_cpu(const struct conf_node *type)
{
    return conf_kind(type) == CONF_SCALAR &&
           strcmp(conf_text(type), "cpu") == 0;
}

/* Reports `cpu` in the types of a role that has no law for cores. */
static bool report_no_cores(const struct world *world, const struct demand *demand,
                            const struct role_spec *role,
                            const struct conf_node *type)
{
    err_set(world->err, ERR_SCHEMA, conf_pos(type),
            "types of role %s of %s names cpu, but the role does not say on "
            "which cores", role->name, demand->form);
    return err_hint(world->err, "Write cpu: {cores: 32} in the role; a job of "
                    "known length, and roles of dpo, grpo, ppo and net, have "
                    "no law for cores.");
}

/* Finds the allowed types that the cluster has, in the order of `types:`, or
 * without it in the order of the cluster's nodes.  The word cpu is passed over
 * where the role has cores to run on. */
static bool find_types(const struct world *world,
                       const struct demand *demand,
                       const struct role_spec *role, uint32_t *types,
                       uint32_t *count)
{
    const struct cluster_spec *cluster = world->cluster;
    const struct conf_node *list = demand->types;
    bool is_list = list != NULL && conf_kind(list) == CONF_LIST;
    size_t named = list == NULL ? 0 : is_list ? conf_count(list) : 1;

    *count = 0;
    for (size_t i = 0; i < named; i++) {
        const struct conf_node *one = is_list ? conf_item(list, i) : list;
        uint32_t type = 0;

        if (role->on_cores.cores > 0 && names_cpu(one))
            continue;
        if (names_cpu(one))
            return report_no_cores(world, demand, role, one);
        if (!read_type(world, one, &type))
            return false;
        if (cluster_has(cluster, role->pool, type))
            *count = add_type(types, *count, type);
    }
    for (uint32_t g = 0; list == NULL && g < cluster->group_count; g++)
        if (cluster->group[g].gpu != NULL &&
            room_in_pool(cluster, &cluster->group[g], role->pool))
            *count = add_type(types, *count, cluster->group[g].gpu->index);
    if (*count > 0)
        return true;
    return report_no_type(world, demand, role);
}

/* Reports by how many bytes the largest GPU that the role may use is too
 * small. */
static bool report_memory(const struct world *world,
                          const struct demand *demand,
                          const struct role_spec *role,
                          const struct gpu_type *best)
{
    double missing = role->gpu_memory_bytes - best->memory_bytes;

    if (best->memory_bytes <= 0.0) {    /* generic: no device at all */
        err_set(world->err, ERR_RANGE, demand->pos,
                "role %s of %s cannot run on %s GPUs: they have no speed and "
                "no memory; they serve traces only", role->name,
                demand->form, best->name);
        return err_hint(world->err, "Give the cluster GPUs of the catalogue; "
                                    "`clustersim list gpus` shows them.");
    }
    return err_set(world->err, ERR_RANGE, demand->pos,
                   "role %s of %s needs %.1f GB on each GPU; the largest it "
                   "may use, %s, has %.1f GB: %.0f bytes (%.1f GB) are "
                   "missing", role->name, demand->form,
                   role->gpu_memory_bytes / GB, best->name,
                   best->memory_bytes / GB, missing, missing / GB);
}

/* Keeps of `count` types those whose memory holds the role, in their order.
 * *best becomes the type with the most memory, of all that were given.  False:
 * none is left. */
static bool keep_fitting(const struct world *world,
                         const struct demand *demand, struct role_spec *role,
                         uint32_t *types, uint32_t count,
                         const struct gpu_type **best)
{
    uint32_t fit = 0;

    for (uint32_t i = 0; i < count; i++) {
        const struct gpu_type *gpu = find_type(world, types[i]);

        if (*best == NULL || gpu->memory_bytes > (*best)->memory_bytes)
            *best = gpu;
        if (role->gpu_memory_bytes <= gpu->memory_bytes)
            types[fit++] = types[i];
    }
    role->gpu_types = types;
    role->gpu_type_count = fit;
    return fit > 0 || report_memory(world, demand, role, *best);
}

/* Keeps of a role's GPU types those whose memory holds it; false if that
 * leaves none, with a hint of what would fit. */
bool demand_narrow(const struct world *world, const struct demand *demand,
                   struct role_spec *role)
{
    const struct gpu_type *best = NULL;
    uint32_t *types = arena_alloc(world->arena, role->gpu_type_count,
                                  sizeof *types);

    assert(role->gpu_type_count > 0);
    memcpy(types, role->gpu_types, role->gpu_type_count * sizeof *types);
    return keep_fitting(world, demand, role, types, role->gpu_type_count,
                        &best);
}

bool demand_types(const struct world *world, const struct demand *demand,
                  struct role_spec *role, const struct gpu_type **best)
{
    const struct cluster_spec *cluster = world->cluster;
    uint32_t room = cluster->group_count, count;
    uint32_t *types;

    assert(role->gpus > 0);
    *best = NULL;
    if (demand->types != NULL && conf_kind(demand->types) == CONF_LIST)
        room += (uint32_t)conf_count(demand->types);
    types = arena_alloc(world->arena, room + 1, sizeof *types);
    if (!check_pools(world, demand, role) ||
        !find_types(world, demand, role, types, &count))
        return false;
    return keep_fitting(world, demand, role, types, count, best);
}

/* What all nodes of one type have for a role, in GPUs. */
struct room {
    uint64_t units;             /* of one type, in all nodes */
    uint64_t bare_units;        /* the same if only GPUs (cores) counted */
    const char *type;
};

/* Sums over all nodes of a type, in the pools that the role may use. */
static struct room room_of_type(const struct world *world,
                                const struct role_spec *role, uint32_t type)
{
    const struct cluster_spec *cluster = world->cluster;
    struct room room = {0, 0, find_type(world, type)->name};

    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];

        if (group->gpu == NULL || group->gpu->index != type ||
            !room_in_pool(cluster, group, role->pool))
            continue;
        room.units += group->node_count * room_gpus(group, role);
        room.bare_units += (uint64_t)group->node_count * group->gpus;
    }
    return room;
}

/* Is there room for the fewest GPUs of the role, all of one type?  A gang has
 * one type, so types are not added up.  The error says what is missing: GPUs,
 * or the cores and memory that go with them. */
static bool place_gpus(const struct world *world, const struct demand *demand,
                       const struct role_spec *role)
{
    struct room best = {0, 0, "none"};

    for (uint32_t i = 0; i < role->gpu_type_count; i++) {
        struct room room = room_of_type(world, role, role->gpu_types[i]);

        if (room.units >= role->gpus_min)
            return true;
        if (room.bare_units > best.bare_units)
            best = room;
    }
    if (best.bare_units == 0)           /* at home, where types were not tried */
        return report_no_type(world, demand, role);
    if (best.bare_units < role->gpus_min) {
        err_set(world->err, ERR_RANGE, demand->pos,
                "role %s of %s can never run: it needs at least %u GPUs of "
                "one type, %s has %llu (%s)", role->name, demand->form,
                role->gpus_min,
                role->pool == NULL ? "the cluster" : role->pool,
                (unsigned long long)best.bare_units, best.type);
        return err_hint(world->err, "%u are missing.",
                        role->gpus_min - (uint32_t)best.bare_units);
    }
    err_set(world->err, ERR_RANGE, demand->pos,
            "role %s of %s can never run: with %u cores and %.1f GB of host "
            "memory per GPU, only %llu of the %llu GPUs of type %s can be "
            "used, it needs %u", role->name, demand->form, role->cores,
            (double)role->memory_bytes / GB, (unsigned long long)best.units,
            (unsigned long long)best.bare_units, best.type, role->gpus_min);
    return err_hint(world->err, "Ask for fewer cores or less memory.");
}

/* Is there room for a role on cores?  Its cores may lie on any number of nodes,
 * and each core needs its part of the memory on its own node. */
static bool place_cores(const struct world *world,
                        const struct demand *demand,
                        const struct role_spec *role)
{
    const struct cluster_spec *cluster = world->cluster;
    struct fit_want want = { .cores = role->cores, .memory_bytes = role->memory_bytes };
    uint64_t cores = 0, with_memory = 0;
    double memory_bytes = 0.0;  /* a sum of unlimited ones fits no integer */

    if (!check_pools(world, demand, role))
        return false;
    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];

        if (!room_in_pool(cluster, group, role->pool))
            continue;
        cores += (uint64_t)group->node_count * group->cores;
        memory_bytes += (double)group->memory_bytes * group->node_count;
        with_memory += (uint64_t)group->node_count *
                       fit_cores_max(&want, group->cores, group->memory_bytes);
    }
    if (with_memory >= role->cores)
        return true;
    err_set(world->err, ERR_RANGE, demand->pos,
            "role %s of %s can never run: it needs %u cores and %.1f GB of memory, "
            "%s has %llu cores and %.1f GB", role->name, demand->form, role->cores,
            (double)role->memory_bytes / GB,
            role->pool == NULL ? "the cluster" : role->pool,
            (unsigned long long)cores, memory_bytes / GB);
    if (cores >= role->cores && memory_bytes >= (double)role->memory_bytes)
        err_hint(world->err, "Of these cores %llu have %.1f GB each on their nodes.",
                 (unsigned long long)with_memory,
                 (double)role->memory_bytes / role->cores / GB);
    return false;
}

/* Can the role compute on cores?  They must all be of one node, of a CPU whose
 * rates are known. */
static bool place_computing(const struct world *world,
                            const struct demand *demand,
                            const struct role_spec *role)
{
    const struct cluster_spec *cluster = world->cluster;
    const struct role_cores *need = &role->on_cores;
    uint32_t cores = 0;
    double bytes = 0.0;

    if (!check_pools(world, demand, role))
        return false;
    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];

        if (!room_in_pool(cluster, group, role->pool) || !cluster_computes(group))
            continue;
        if (room_computes(role, group))
            return true;
        cores = group->cores > cores ? group->cores : cores;
        bytes = fmax(bytes, (double)group->memory_bytes);
    }
    err_set(world->err, ERR_RANGE, demand->pos,
            "role %s of %s can never compute on cores: it needs %u cores and "
            "%.1f GB of memory on one node; of CPUs with known rates nodes of "
            "%s have up to %u and %.1f GB", role->name, demand->form,
            need->cores, (double)need->memory_bytes / GB,
            role->pool == NULL ? "the cluster" : role->pool, cores,
            bytes / GB);
    return err_hint(world->err, "Ask for fewer cores or less memory.");
}

/* Is there room for the role?  If it may run on GPUs and on cores, both must
 * have room, so that no choice of a policy is a trap; with `either`, one of the
 * two is enough. */
static bool place_any(const struct world *world, const struct demand *demand,
                      const struct role_spec *role, bool either)
{
    bool computes = role->on_cores.cores > 0;

    if (role->gpus == 0)
        return computes ? place_computing(world, demand, role)
                        : place_cores(world, demand, role);
    if (!computes)
        return place_gpus(world, demand, role);
    if (!either)
        return place_gpus(world, demand, role) &&
               place_computing(world, demand, role);
    struct err ignored = {0};
    struct world quiet = *world;

    quiet.err = &ignored;
    return place_gpus(&quiet, demand, role) ||
           place_computing(world, demand, role);
}

/* Is there room in the pool that is the role's home?  One kind of place is
 * enough there.  The error is at the key `home`. */
static bool place_home(const struct world *world, const struct demand *demand,
                       const struct role_spec *role)
{
    struct demand there = *demand;
    struct role_spec at_home = *role;

    there.pos = demand->home;
    at_home.pool = role->home;
    if (place_any(world, &there, &at_home, true))
        return true;
    return err_hint(world->err, "A policy with a pool for each role starts it "
                    "in its home, pool %s.", role->home);
}

bool demand_room(const struct world *world, const struct demand *demand,
                 const struct role_spec *role)
{
    bool found;

    assert(role->name != NULL);
    found = place_any(world, demand, role, false);
    if (!found || role->home == NULL || demand->home.file == NULL)
        return found;
    return place_home(world, demand, role);
}

/* The power cap must allow the smallest size of the role while nothing else
 * runs. */
static bool check_power(const struct world *world, const struct demand *demand,
                        const struct role_spec *role)
{
    const struct cluster_spec *cluster = world->cluster;
    double standby = draw_standby_mw(cluster);
    double least = draw_least_mw(cluster, role, (uint64_t)role->gpus_min * GPU_MILLI);

    if (least <= 1000 * cluster->power_cap_w)
        return true;
    err_set(world->err, ERR_RANGE, demand->pos,
            "role %s of %s can never run: power_cap of the cluster is %.0f W, nodes that "
            "stand by draw %.0f W, and the role draws at least %.0f W more", role->name,
            demand->form, cluster->power_cap_w, standby / 1000, (least - standby) / 1000);
    return err_hint(world->err, "It takes a power_cap of at least %.0fW, fewer GPUs, or "
                                "GPUs that draw less.", ceil(least / 1000));
}

bool demand_place(const struct world *world, const struct demand *demand,
                  const struct role_spec *role)
{
    assert(role->gpus_min <= role->gpus || role->gpus == 0);
    return demand_room(world, demand, role) &&
           (world->cluster->power_cap_w <= 0 || check_power(world, demand, role));
}

/* May the role get a lease on nodes of that group? */
static bool may_run_on(const struct world *world,
                       const struct role_spec *role,
                       const struct node_group *group)
{
    if (!room_in_pool(world->cluster, group, role->pool))
        return false;
    if (room_computes(role, group))
        return true;
    if (role->gpus == 0)
        return role->on_cores.cores == 0 && group->cores > 0;
    for (uint32_t i = 0; group->gpu != NULL && i < role->gpu_type_count; i++)
        if (role->gpu_types[i] == group->gpu->index)
            return true;
    return false;
}

bool demand_nvme(const struct world *world, const struct demand *demand,
                 const struct role_spec *role)
{
    const struct cluster_spec *cluster = world->cluster;
    const struct node_group *bare = NULL;
    uint32_t with = 0;

    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *group = &cluster->group[g];

        if (!may_run_on(world, role, group))
            continue;
        if (group->nvme_bps > 0.0)
            with++;
        else if (bare == NULL)
            bare = group;
    }
    if (bare == NULL)
        return true;
    if (with == 0) {
        err_set(world->err, ERR_RANGE, demand->pos,
                "role %s of %s reads from nvme, but no node that it may run "
                "on has any", role->name, demand->form);
        return err_hint(world->err, "Give the nodes drives, as nvme: "
                                    "4x3.84TB, or read from: storage.");
    }
    err_set(world->err, ERR_RANGE, demand->pos,
            "role %s of %s reads from nvme, but nodes %s, on which it may "
            "run, have none", role->name, demand->form, bare->name);
    return err_hint(world->err, "Narrow the role with types or pool to nodes "
                                "with nvme, or give those nodes drives.");
}

/* Quadratic in the groups of nodes, of which a cluster has few. */
uint32_t demand_gpus_max(const struct world *world, const char *pool)
{
    const struct cluster_spec *cluster = world->cluster;
    uint64_t most = 0;

    for (uint32_t g = 0; g < cluster->group_count; g++) {
        const struct node_group *one = &cluster->group[g];
        uint64_t sum = 0;

        for (uint32_t h = 0; h < cluster->group_count; h++) {
            const struct node_group *other = &cluster->group[h];

            if (one->gpu != NULL && other->gpu == one->gpu &&
                room_in_pool(cluster, other, pool))
                sum += (uint64_t)other->node_count * other->gpus;
        }
        if (sum > most)
            most = sum;
    }
    return (uint32_t)most;
}

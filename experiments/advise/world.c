/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * world.c - the kinds of node that advice may choose from.
 *
 * Without a cluster's file, each GPU type of the catalogue stands in a node of
 * its instance (models/catalogue/instances.yaml).  Its network has no leaf
 * switches that limit, and storage never limits: the advice says what it must
 * deliver.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "experiments/advise/advise.h"
#include "experiments/spec/tree.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/fabric.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

const struct price *advise_core_price(const struct advise_world *world)
{
    const struct price *core = catalogue_price_in(world->catalogue, "core",
                                                  world->tier);

    return core != NULL ? core : catalogue_price_of(world->catalogue, "core",
                                                    PRICE_ON_DEMAND);
}

/* Returns the key of nodes for a price: list prices are the default and need no
 * word, nodes without a price cost nothing. */
static const char *format_price(const struct advise_world *world,
                                const struct price *price)
{
    if (price == NULL)
        return ", price: 0USD/h";
    return price->tier == TIER_LIST
               ? "" : text_format(world->arena, ", price: %s",
                                  price_tier_choices[price->tier]);
}

/* Returns the YAML of nodes of a type: whole ones, or one with fewer GPUs, whose
 * share of memory and drives it has. */
static char *format_rented(const struct advise_world *world, const char *gpu,
                           const char *pool, uint32_t gpus, uint32_t cores)
{
    const struct instance node = catalogue_instance_of(
        world->catalogue, catalogue_gpu(world->catalogue, gpu));
    const struct price *price = catalogue_price_in(world->catalogue, gpu,
                                                   world->tier);
    uint32_t each = gpus < node.gpus ? gpus : node.gpus;
    uint32_t least = price == NULL ? 0 : (uint32_t)price->cores;
    uint32_t memory_gb = (uint32_t)(node.memory_bytes / 1e9);

    return text_format(
        world->arena, "  - {name: %s, count: %u, gpus: {type: %s, count: %u},"
        "\n     cpu: {type: %s, sockets: %u}, cores: %u, memory: %uGB,\n"
        "     nvme: %ux%gTB, nvme_type: %s, nics: {type: %s, count: %u}%s}"
        "\n", pool, (gpus - 1) / node.gpus + 1, gpu, each, node.cpu,
        node.sockets, (cores > least ? cores : least) * each,
        memory_gb * each / node.gpus,
        (node.drives * each + node.gpus - 1) / node.gpus,
        node.drive_bytes / 1e12, node.drive, node.nic, node.nics,
        format_price(world, price));
}

char *advise_nodes_text(const struct advise_world *world,
                        const struct advise_place *place, const char *pool,
                        uint32_t gpus, uint32_t cores)
{
    assert(world->cluster == NULL && gpus > 0);
    return format_rented(world, place->name, pool, gpus, cores);
}

/* Reads a cluster from text by the reader of users' files, so that rented nodes
 * obey the same checks.  NULL: the error is set. */
static const struct cluster_spec *read_spec(struct advise_world *world,
                                            const char *text,
                                            struct err *err)
{
    const struct conf_node *root = conf_parse(world->arena, "advice", text,
                                              strlen(text), err);

    return root == NULL ? NULL
                        : cluster_read(world->arena, root, world->catalogue,
                                       err);
}

/* Makes the place of a GPU type: whole nodes of its instance, for at least gpus_max
 * GPUs.  Without a price of this tier the cost is NAN, and a row says so. */
static bool make_rented_place(struct advise_world *world,
                              const struct gpu_type *gpu,
                              struct advise_place *place, struct err *err)
{
    const uint32_t cores = 16;  /* as many as two sockets of 64 give eight */
    uint32_t each = catalogue_instance_of(world->catalogue, gpu).gpus;
    uint32_t whole = (world->gpus_max + each - 1) / each;
    char *text = format_rented(world, gpu->name, "nodes", whole * each, cores);
    const struct price *price = catalogue_price_in(world->catalogue,
                                                   gpu->name, world->tier);

    place->spec = read_spec(world, text_format(world->arena,
                                               "nodes:\n%s", text), err);
    if (place->spec == NULL)
        return false;
    place->name = gpu->name;
    place->group = &place->spec->group[0];
    place->node_gpus = each;
    place->gpus_max = world->gpus_max;
    place->cores = cores;
    place->free_cores = price == NULL ? 0 : (uint32_t)price->cores;
    place->rate = price;
    place->gpu_usd_per_h = price == NULL ? NAN : price->usd_per_h;
    return true;
}

/* Makes one place for each GPU type of the catalogue. */
static bool read_catalogue(struct advise_world *world, struct err *err)
{
    size_t count = catalogue_gpu_count(world->catalogue);

    world->place = arena_alloc(world->arena, count, sizeof *world->place);
    world->place_count = count;
    for (size_t i = 0; i < count; i++)
        if (!make_rented_place(world, catalogue_gpu_at(world->catalogue, i),
                               &world->place[i], err))
            return false;
    return true;
}

/* Makes the place of a group of the user's own nodes: price and cores of a GPU
 * are its part of the node's. */
static void make_given_place(const struct advise_world *world,
                             const struct node_group *group,
                             struct advise_place *place)
{
    uint64_t all = (uint64_t)group->gpus * group->node_count;

    *place = (struct advise_place){
        .name = group->name, .spec = world->spec, .group = group,
        .node_gpus = group->gpus,
        .gpus_max = all < world->gpus_max ? (uint32_t)all : world->gpus_max,
        .cores = group->cores / group->gpus,
        .gpu_usd_per_h = group->usd_per_h / group->gpus,
    };
    if (place->cores == 0)
        place->cores = 1;
    place->free_cores = place->cores;
}

/* Makes the places of a given cluster.  Groups without GPUs, or of the generic
 * type, are no places: no law knows them. */
static bool read_given(struct advise_world *world,
                       const struct conf_node *cluster, struct err *err)
{
    world->cluster = cluster;
    world->spec = cluster_read(world->arena, world->cluster,
                               world->catalogue, err);
    if (world->spec == NULL)
        return false;
    world->place = arena_alloc(world->arena, world->spec->group_count,
                               sizeof *world->place);
    for (uint32_t g = 0; g < world->spec->group_count; g++) {
        const struct node_group *group = &world->spec->group[g];

        if (group->gpu != NULL && group->gpu->memory_bytes > 0.0)
            make_given_place(world, group, &world->place[world->place_count++]);
    }
    if (world->place_count > 0)
        return true;
    return err_set(err, ERR_RANGE, conf_pos(cluster),
                   "the cluster has no GPU of the catalogue");
}

bool advise_world_from(struct advise_world *world,
                       const struct conf_node *cluster, struct err *err)
{
    if (world->catalogue == NULL)
        world->catalogue = catalogue_load(world->arena, NULL, 0, err);
    if (world->catalogue == NULL)
        return false;
    return cluster == NULL ? read_catalogue(world, err)
                           : read_given(world, cluster, err);
}

bool advise_world_read(struct advise_world *world, const char *cluster_path,
                       struct err *err)
{
    struct experiment_inputs inputs = { .arena = world->arena };
    const struct conf_node *cluster = NULL;

    if (cluster_path != NULL)
        cluster = tree_part(&inputs, cluster_path, "cluster", err);
    return err->kind == ERR_NONE && advise_world_from(world, cluster, err);
}

/* Takes whole nodes from the first of the group on, as `first_fit` does.  Of
 * alike nodes the first and the last tell all that laws see of the fabric, so
 * that two shares stand for any number of them. */
struct gang advise_gang(const struct advise_place *place, uint32_t gpus)
{
    struct share share[2];
    struct placement placement = { .share = share };
    uint32_t nodes = (gpus - 1) / place->node_gpus + 1;
    uint32_t first = place->group->first_node;
    struct gang gang;

    assert(gpus > 0 && gpus <= place->gpus_max);
    placement.share_count = nodes > 1 ? 2 : 1;
    for (uint32_t i = 0; i < placement.share_count; i++) {
        uint32_t each = nodes > 1 ? place->node_gpus : gpus;

        share[i] = (struct share){
            .node = i == 0 ? first : first + nodes - 1,
            .cores = each * place->cores,
            .gpu_mask = each == 64 ? UINT64_MAX
                                   : (UINT64_C(1) << each) - 1,
        };
    }
    /* The ends of a run of alike nodes tell all that laws see of it. */
    gang = fabric_gang(place->spec, &placement);
    gang.gpus = gpus;
    gang.nodes = nodes;
    gang.cores = gpus * place->cores;
    return gang;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plot_gantt_rows.c - which GPUs a Gantt chart shows.
 *
 * All of the cluster if they are few enough.  If not, each pool has rows in
 * proportion to its GPUs, at least a node, and its nodes are taken evenly from
 * those that ran something in either trial: so no pool is missing, and which
 * nodes are shown follows from the tables alone.
 *
 * An example: pools of 800 and 200 GPUs on nodes of 8, and room for 128 rows.  Their shares are
 * 102 and 25 rows, which are 12 and 3 nodes: 96 and 24 rows.
 */
#include "experiments/report/plot_gantt.h"

#include <stdlib.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

#define NAME_BYTES 18           /* of a group's name beside a row */
#define ROWS_TOO_MANY (2 * GANTT_ROWS_MAX)      /* with a node for each pool */

/* Returns the number of a name, which is added if it is new.  The search is
 * linear: a chart has few names. */
uint32_t gantt_name(struct gantt *g, struct gantt_kinds *kinds,
                    const char *name)
{
    uint32_t i = 0;

    while (i < kinds->count && strcmp(kinds->name[i], name) != 0)
        i++;
    if (i < kinds->count)
        return i;
    if (kinds->count == kinds->room) {
        uint32_t room = 2 * kinds->room + 16;

        kinds->name = arena_grow(g->source->arena, kinds->name, kinds->room,
                                 room, sizeof *kinds->name);
        kinds->room = room;
    }
    kinds->name[kinds->count] = arena_text(g->source->arena, name);
    return kinds->count++;
}

/* Returns the lightness of a phase by its name.  0: light, what generates; 1:
 * full, what trains and all that is not known; 2: dark, what judges; 3: almost
 * black, what moves bytes. */
uint32_t gantt_shade(const char *phase)
{
    static const char *const known[][2] = {
        { "rollout", "0" }, { "infer", "0" }, { "serve", "0" },
        { "reference", "2" }, { "reward", "2" }, { "validate", "2" },
        { "preprocess", "3" }, { "load", "3" }, { "sync", "3" },
        { "checkpoint", "3" }
    };

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strcmp(phase, known[i][0]) == 0)
            return (uint32_t)(known[i][1][0] - '0');
    return 1;
}

/* Returns the text at a key; "" if there is none. */
static const char *find_text(const struct conf_node *map, const char *key)
{
    const struct conf_node *node = conf_get(map, key);

    return node != NULL && conf_kind(node) == CONF_SCALAR ? conf_text(node)
                                                          : "";
}

/* Returns the number at a key, at most GANTT_NODES_MAX; 0 if there is none. */
static uint32_t find_number(const struct conf_node *map, const char *key)
{
    unsigned long number = strtoul(find_text(map, key), NULL, 10);

    return number < GANTT_NODES_MAX ? (uint32_t)number : GANTT_NODES_MAX;
}

/* Reads a group of nodes of provenance.json; false: it has no GPUs, or is not one
 * of this program's. */
static bool read_group(struct gantt *g, const struct conf_node *item,
                       struct gantt_group *group)
{
    if (conf_kind(item) != CONF_MAP)
        return false;
    *group = (struct gantt_group){
        .name = find_text(item, "name"), .first = find_number(item, "first"),
        .count = find_number(item, "count"), .gpus = find_number(item, "gpus")
    };
    if (group->gpus == 0 || group->gpus > 64 || group->count == 0 ||
        group->first + group->count > GANTT_NODES_MAX)
        return false;
    group->pool = gantt_name(g, &g->cluster.pool, find_text(item, "pool"));
    return true;
}

void gantt_cluster_read(struct gantt *g)
{
    struct gantt_cluster *cluster = &g->cluster;
    const struct conf_node *map = g->source->cluster;
    const struct conf_node *list = map != NULL && conf_kind(map) == CONF_MAP
        ? conf_get(map, "nodes") : NULL;

    if (list == NULL || conf_kind(list) != CONF_LIST)
        return;
    cluster->group = arena_alloc(g->source->arena, conf_count(list) + 1,
                                 sizeof *cluster->group);
    for (size_t i = 0; i < conf_count(list); i++) {
        struct gantt_group *group = &cluster->group[cluster->count];

        if (!read_group(g, conf_item(list, i), group))
            continue;
        cluster->count++;
        cluster->all_gpus += group->count * group->gpus;
    }
}

/* Returns the group of a node, or NULL: the cluster is not known. */
static const struct gantt_group *find_group(const struct gantt *g,
                                            uint32_t node)
{
    for (uint32_t i = 0; i < g->cluster.count; i++)
        if (node - g->cluster.group[i].first < g->cluster.group[i].count)
            return &g->cluster.group[i];
    return NULL;
}

const char *gantt_node_name(const struct gantt *g, uint32_t node)
{
    const struct gantt_group *group = find_group(g, node);
    size_t bytes;
    bool cut;

    if (group == NULL || group->name[0] == '\0')
        return text_format(g->source->arena, "node %u", node);
    if (group->count == 1)
        return group->name;
    bytes = strlen(group->name);
    cut = bytes > NAME_BYTES;
    for (bytes = cut ? NAME_BYTES : bytes;
         cut && (group->name[bytes] & 0xc0) == 0x80;)
        bytes--;                /* a letter stays whole */
    return text_format(g->source->arena, "%.*s%s %u", (int)bytes, group->name,
                       cut ? "\u2026" : "", node - group->first);
}

uint32_t gantt_node_pool(const struct gantt *g, uint32_t node)
{
    const struct gantt_group *group = find_group(g, node);

    return group == NULL ? UINT32_MAX : group->pool;
}

/* Sets the number of GPUs where the cluster is not known: it is one pool of
 * what ran something. */
static void assume_cluster(struct gantt *g)
{
    struct gantt_cluster *cluster = &g->cluster;

    for (uint32_t n = 0; n < g->nodes; n++)
        cluster->all_gpus += g->gpus[n];
}

/* Returns all GPUs of a node, whatever of them ran. */
static uint32_t count_gpus(const struct gantt *g, uint32_t node)
{
    const struct gantt_group *group = find_group(g, node);

    return group == NULL || group->gpus < g->gpus[node] ? g->gpus[node]
                                                        : group->gpus;
}

/* Is a node in a pool?  Where the cluster is not known, all nodes are in the
 * one pool. */
static bool in_pool(const struct gantt *g, uint32_t node, uint32_t pool)
{
    return g->cluster.count == 0 || gantt_node_pool(g, node) == pool;
}

/* Marks nodes of a pool for about `quota` rows, at least one node, evenly among
 * the candidates; returns the rows. */
static uint32_t mark_pool(struct gantt *g, uint32_t quota,
                          const uint32_t *candidate, uint32_t candidates,
                          bool *shown)
{
    uint32_t most = candidates > 0 ? count_gpus(g, candidate[0]) : 1, rows = 0;
    uint32_t nodes = quota / most;

    nodes = nodes == 0 ? 1 : nodes > candidates ? candidates : nodes;
    for (uint32_t i = 0; i < nodes && candidates > 0; i++) {
        uint32_t at = nodes < 2 ? candidates / 2
            : (uint32_t)((uint64_t)i * (candidates - 1) / (nodes - 1));

        if (rows + count_gpus(g, candidate[at]) > quota && rows > 0)
            break;
        shown[candidate[at]] = true;
        rows += count_gpus(g, candidate[at]);
    }
    return rows;
}

/* Marks the nodes that get rows, pool by pool.  The share of a pool follows its
 * GPUs.  Candidates are nodes that ran something, or all nodes of a pool in
 * which none did. */
static void mark_share(struct gantt *g, uint32_t nodes, bool *shown)
{
    struct gantt_cluster *cluster = &g->cluster;
    uint32_t pools = cluster->count == 0 ? 1 : cluster->pool.count, rows = 0;
    uint32_t *candidate = arena_alloc(g->source->arena, nodes + 1,
                                      sizeof *candidate);

    for (uint32_t p = 0; p < pools; p++) {
        uint64_t gpus = 0;
        uint32_t count = 0, ran = 0;

        for (uint32_t n = 0; n < nodes; n++)
            if (in_pool(g, n, p)) {
                gpus += count_gpus(g, n);
                ran += g->gpus[n] > 0;
            }
        for (uint32_t n = 0; n < nodes; n++)
            if (in_pool(g, n, p) && count_gpus(g, n) > 0 &&
                (ran == 0 || g->gpus[n] > 0))
                candidate[count++] = n;
        if (rows < GANTT_ROWS_MAX || rows < ROWS_TOO_MANY - 64)
            rows += mark_pool(g, (uint32_t)(gpus * GANTT_ROWS_MAX /
                                               cluster->all_gpus),
                              candidate, count, shown);
    }
}

/* Nodes keep their order.  A node that is not shown has no rows: its g->gpus
 * becomes 0. */
void gantt_choose_rows(struct gantt *g)
{
    struct gantt_cluster *cluster = &g->cluster;
    uint32_t nodes = g->nodes;
    bool *shown;

    for (uint32_t i = 0; i < cluster->count; i++)
        if (cluster->group[i].first + cluster->group[i].count > nodes)
            nodes = cluster->group[i].first + cluster->group[i].count;
    if (cluster->count == 0)
        assume_cluster(g);
    shown = arena_alloc(g->source->arena, nodes + 1, sizeof *shown);
    cluster->shown = arena_alloc(g->source->arena, cluster->pool.count + 1,
                                 sizeof *cluster->shown);
    cluster->gpus = arena_alloc(g->source->arena, cluster->pool.count + 1,
                                sizeof *cluster->gpus);
    if (cluster->all_gpus > GANTT_ROWS_MAX)
        mark_share(g, nodes, shown);
    else
        memset(shown, true, nodes * sizeof *shown);
    g->nodes = nodes;
    for (uint32_t n = 0; n < nodes; n++) {
        uint32_t gpus = count_gpus(g, n), pool = gantt_node_pool(g, n);

        if (pool < cluster->pool.count) {
            cluster->gpus[pool] += gpus;
            cluster->shown[pool] += shown[n] ? gpus : 0;
        }
        g->rows_left_out += shown[n] ? 0 : gpus;
        g->gpus[n] = shown[n] ? gpus : 0;
        g->row[n] = g->rows;
        g->rows += g->gpus[n];
    }
}

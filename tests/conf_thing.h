/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conf_thing.h - a key table with every type, for conf_test and fuzz_conf.
 */
#ifndef TESTS_CONF_THING_H
#define TESTS_CONF_THING_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "sim/config/conf.h"

struct thing {
    const char *name;
    int64_t count, until_ns, pause_ns;
    double ratio, share, memory_bytes, rate_bps, compute_flops, power_w;
    double price_usd_per_h, arrivals_per_s;
    bool lend;
    int blocking;
    const struct conf_node *part;
};

struct thing_part {
    int64_t size;
    double weight;
};

static const char *const thing_blockings[] = {"strict", "skip", NULL};

#define THING(member) offsetof(struct thing, member)

static const struct conf_field thing_fields[] = {
    {"name", CONF_TEXT, THING(name), 0, 0, NULL, NULL, "what it is called"},
    {"count", CONF_INT, THING(count), 1, 100, "3", NULL, "how many"},
    {"until", CONF_TIME, THING(until_ns), 0.1, 86400, "1h", NULL,
     "when it ends"},
    {"pause", CONF_TIME, THING(pause_ns), 0, 0, CONF_ABSENT, NULL,
     "time between two"},
    {"ratio", CONF_REAL, THING(ratio), 0, 0, "0.5", NULL, "a | b"},
    {"share", CONF_FRACTION, THING(share), -1, 1, "20%", NULL,
     "part of the whole"},
    {"memory", CONF_BYTES, THING(memory_bytes), 1e9, 1e13, "1TB", NULL,
     "of one node"},
    {"rate", CONF_RATE, THING(rate_bps), 0, 0, CONF_ABSENT, NULL, "of a link"},
    {"compute", CONF_FLOPS, THING(compute_flops), 0, 0, CONF_ABSENT, NULL,
     "of one GPU"},
    {"power", CONF_POWER, THING(power_w), 0, 0, CONF_ABSENT, NULL,
     "of one GPU"},
    {"price", CONF_PRICE, THING(price_usd_per_h), 0, 0, CONF_ABSENT, NULL,
     "of one GPU"},
    {"arrivals", CONF_FREQUENCY, THING(arrivals_per_s), 0, INFINITY,
     CONF_ABSENT, NULL, "how often jobs come"},
    {"lend", CONF_BOOL, THING(lend), 0, 0, "false", NULL,
     "whether idle \"GPUs\" are lent"},
    {"blocking", CONF_CHOICE, THING(blocking), 0, 0, "skip", thing_blockings,
     "what a job that does not fit does to those behind it"},
    {"part", CONF_NODE, THING(part), 0, 0, CONF_ABSENT, NULL, "its part"},
};

static const struct conf_schema thing_schema = {
    "thing", "a thing with every type of key", thing_fields,
    sizeof thing_fields / sizeof thing_fields[0]
};

static const struct conf_field thing_part_fields[] = {
    {"size", CONF_INT, offsetof(struct thing_part, size), 0, 0, "1", NULL,
     "how large"},
    {"weight", CONF_REAL, offsetof(struct thing_part, weight), 0, 0, "1",
     NULL, "how heavy"},
};

static const struct conf_schema thing_part_schema = {
    "thing.part", "a part of a thing", thing_part_fields,
    sizeof thing_part_fields / sizeof thing_part_fields[0]
};

/* Fills the thing and, where it is a map, its part. */
static inline bool thing_fill(const struct conf_node *root,
                              struct thing *thing, struct thing_part *part,
                              struct err *err)
{
    thing->part = NULL;
    if (conf_kind(root) == CONF_MAP) {
        const struct conf_node *node = conf_get(root, "part");
        if (node != NULL && conf_kind(node) == CONF_MAP &&
            !conf_fill(node, &thing_part_schema, part, err))
            return false;
    }
    return conf_fill(root, &thing_schema, thing, err);
}

#endif

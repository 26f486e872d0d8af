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

static const struct conf_field thing_fields[] = {
    CONF_KEY("name", CONF_TEXT, thing, name, CONF_REQUIRED,
             "what it is called"),
    CONF_KEY("count", CONF_INT, thing, count, "3", "how many",
             .min = 1, .max = 100),
    CONF_KEY("until", CONF_TIME, thing, until_ns, "1h", "when it ends",
             .min = 0.1, .max = 86400),
    CONF_KEY("pause", CONF_TIME, thing, pause_ns, CONF_ABSENT,
             "time between two"),
    CONF_KEY("ratio", CONF_REAL, thing, ratio, "0.5", "a | b"),
    CONF_KEY("share", CONF_FRACTION, thing, share, "20%", "part of the whole",
             .min = -1, .max = 1),
    CONF_KEY("memory", CONF_BYTES, thing, memory_bytes, "1TB", "of one node",
             .min = 1e9, .max = 1e13),
    CONF_KEY("rate", CONF_RATE, thing, rate_bps, CONF_ABSENT, "of a link"),
    CONF_KEY("compute", CONF_FLOPS, thing, compute_flops, CONF_ABSENT,
             "of one GPU"),
    CONF_KEY("power", CONF_POWER, thing, power_w, CONF_ABSENT, "of one GPU"),
    CONF_KEY("price", CONF_PRICE, thing, price_usd_per_h, CONF_ABSENT,
             "of one GPU"),
    CONF_KEY("arrivals", CONF_FREQUENCY, thing, arrivals_per_s, CONF_ABSENT,
             "how often jobs come", .max = INFINITY),
    CONF_KEY("lend", CONF_BOOL, thing, lend, "false",
             "whether idle \"GPUs\" are lent"),
    CONF_KEY("blocking", CONF_CHOICE, thing, blocking, "skip",
             "what a job that does not fit does to those behind it",
             .choices = thing_blockings),
    CONF_KEY("part", CONF_NODE, thing, part, CONF_ABSENT, "its part"),
};

static const struct conf_schema thing_schema =
    CONF_SCHEMA("thing", "a thing with every type of key", thing_fields);

static const struct conf_field thing_part_fields[] = {
    CONF_KEY("size", CONF_INT, thing_part, size, "1", "how large"),
    CONF_KEY("weight", CONF_REAL, thing_part, weight, "1", "how heavy"),
};

static const struct conf_schema thing_part_schema =
    CONF_SCHEMA("thing.part", "a part of a thing", thing_part_fields);

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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cluster_price.c - what a node costs: an amount, a price of the catalogue, or
 * prices over time.
 */
#include "models/cluster/cluster_form.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/time_series.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

/* What a file asks of the catalogue: a kind, or a tier of its own. */
struct price_task {
    const char *text;           /* as written, for messages */
    enum price_kind kind;
    enum price_tier tier;       /* TIER_COUNT: the kind says enough */
};

/* Cores have a price of few tiers: on-demand stands in.  NULL: the catalogue has none. */
static const struct price *find_asked_price(const struct cluster_reader *reader,
                                            const struct price_task *task,
                                            const char *of)
{
    assert(task != NULL && of != NULL);
    const struct price *price = NULL;

    if (task->tier < TIER_COUNT)
        price = catalogue_price_in(reader->catalogue, of, task->tier);
    /* GPUs must have a price of the tier that was asked for; cores are a small part of it. */
    if (price == NULL &&
        (task->tier == TIER_COUNT || strcmp(of, "core") == 0))
        price = catalogue_price_of(reader->catalogue, of, task->kind);
    return price;
}

/* Reports that the catalogue has no such price, with the tiers that it has. */
static bool report_no_price(const struct cluster_reader *reader,
                            const struct conf_node *at, const char *of,
                            const char *asked)
{
    assert(at != NULL);
    assert(of != NULL);
    char has[128] = "";
    size_t used = 0;

    err_set(reader->err, ERR_REFERENCE, conf_pos(at),
            "no %s price of %s is known", asked, of);
    for (int t = 0; t < TIER_COUNT; t++)
        if (catalogue_price_in(reader->catalogue, of, (enum price_tier)t))
            used += (size_t)snprintf(has + used, sizeof has - used, "%s%s",
                                     used > 0 ? ", " : "",
                                     price_tier_choices[t]);
    if (used > 0)
        return err_hint(reader->err, "There is one of: %s. Or give the price "
                                     "of one node: price: 2.5USD/h", has);
    return err_hint(reader->err, "Give the price of one node: price: "
                                 "2.5USD/h");
}

/* GPUs with the cores that come with them, then the cores beyond those.  For example, 8 GPUs
 * with 24 cores each, on a node of 256 cores: 8 prices of a GPU, and 64 prices of a core. */
static bool set_catalogue_price(const struct cluster_reader *reader,
                                const struct conf_node *at,
                                const struct price_task *task,
                                struct node_group *group)
{
    assert(group->gpus <= NODE_GPUS_MAX);
    double cores = group->cores;
    group->usd_per_h = 0.0;
    /* This holds for cores alone; with GPUs, the GPU's entry says it below. */
    group->energy_included = task->kind != PRICE_OWNED;
    if (group->gpu != NULL) {
        const struct price *gpu = find_asked_price(reader, task, group->gpu->name);
        if (gpu == NULL)
            return report_no_price(reader, at, group->gpu->name, task->text);
        group->usd_per_h = group->gpus * gpu->usd_per_h;
        group->energy_included = gpu->energy_included;
        group->tariff = gpu;
        cores -= group->gpus * gpu->cores;
    }
    /* The GPUs bring all cores of the node, or more. */
    if (cores <= 0.0)
        return true;
    const struct price *core = find_asked_price(reader, task, "core");
    if (core == NULL)
        return report_no_price(reader, at, "core", task->text);
    group->usd_per_h += cores * core->usd_per_h;
    if (group->tariff == NULL)
        group->tariff = core;
    return true;
}

/* Prices over time; that at time 0 stands for the node where one figure is
 * needed.  False: err is set. */
static bool read_price_time_series(const struct cluster_reader *reader,
                                   const struct conf_node *price,
                                   struct node_group *group)
{
    assert(price != NULL && group != NULL);
    group->price = time_series_read(reader->arena, price, "USD/h", reader->err);
    if (group->price == NULL)
        return false;
    group->energy_included = true;
    group->usd_per_h = time_series_at(group->price, 0);
    reader->spec->priced = true;
    return true;
}

/* An amount per hour, which covers the energy.  A word that is nearly a kind
 * or a tier is answered with that. */
static bool read_amount(const struct conf_node *price,
                        struct node_group *group, struct err *err)
{
    assert(price != NULL && group != NULL);
    static const struct conf_field literal = {
        .key = "price", .type = CONF_PRICE, .min = 0.0, .max = 1e6,
        .help = "of one node",
    };
    const char *text = cluster_shown(price);
    const char *near = conf_nearest(text, price_kind_choices);
    if (near == NULL)
        near = conf_nearest(text, price_tier_choices);
    if (near != NULL) {
        err_set(err, ERR_SCHEMA, conf_pos(price),
                "price must be on-demand, reserved, owned, spot, list, "
                "marketplace, assumption or an amount, as 2.5USD/h, found "
                "'%s'", text);
        return err_hint(err, "Did you mean '%s'?", near);
    }
    group->energy_included = true;
    return conf_read(price, &literal, &group->usd_per_h, err);
}

/* Reads a kind or a tier of the catalogue's prices.  False: it is neither. */
static bool read_task(const char *text, struct price_task *task)
{
    assert(text != NULL && task != NULL);
    task->text = text;
    for (int kind = 0; price_kind_choices[kind] != NULL; kind++)
        if (strcmp(text, price_kind_choices[kind]) == 0) {
            task->kind = (enum price_kind)kind;
            return true;
        }
    for (int tier = 0; price_tier_choices[tier] != NULL; tier++)
        if (strcmp(text, price_tier_choices[tier]) == 0) {
            task->tier = (enum price_tier)tier;
            return true;
        }
    return false;
}

/* What only counts (generic GPUs) costs nothing unless a price is stated. */
bool cluster_read_price(const struct cluster_reader *reader,
                        const struct nodes_conf *conf,
                        struct node_group *group)
{
    assert(conf != NULL && group != NULL);
    bool of_catalogue = group->gpu != NULL ? !cluster_is_generic(reader, group->gpu)
                                           : group->cpu != NULL;
    group->price_said = conf->price != NULL;
    if (conf->price == NULL && !of_catalogue) {
        group->energy_included = true;
        return true;
    }
    struct price_task task = { "on-demand", PRICE_ON_DEMAND, TIER_COUNT };
    if (conf->price == NULL)
        return set_catalogue_price(reader, conf->at, &task, group);
    if (conf_kind(conf->price) == CONF_MAP)
        return read_price_time_series(reader, conf->price, group);
    if (read_task(cluster_shown(conf->price), &task))
        return set_catalogue_price(reader, conf->price, &task, group);
    return read_amount(conf->price, group, reader->err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * node_price_test.c - what a node costs and whether that covers its energy, of prices drawn by a
 * seed: against a walk over the rows of the catalogue.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/config/conf.h"

/* Words of `price:`: kinds before tiers, for reserved, spot and owned are both. */
static const char *const kinds[] = { "on-demand", "reserved", "owned", "spot" };
static const char *const tiers[] = { "list", "marketplace", "reserved", "spot", "owned",
                                     "assumption" };
static const char *const words[] = { "on-demand", "reserved", "owned", "spot", "list",
                                     "marketplace", "assumption" };

struct row {
    int kind, tier, cores;
    double usd;
    bool energy;
};

#define ROWS_MAX 6

/* Prices of an h20, for which the catalogue has none of its own. */
static size_t draw_rows(struct rng *rng, struct row *row, char *text, size_t room)
{
    size_t count = rng_below(rng, ROWS_MAX + 1), used = (size_t)snprintf(text, room, "prices:\n");

    for (size_t i = 0; i < count; i++) {
        static const int tier_of[] = { 0, 2, 4, 3 };
        row[i] = (struct row){ (int)rng_below(rng, 4), 0, (int)rng_below(rng, 20),
                               1 + (double)rng_below(rng, 90) / 8, rng_below(rng, 2) };
        row[i].tier = row[i].kind > 0 ? tier_of[row[i].kind]
                                      : (int[]){ 0, 1, 5 }[rng_below(rng, 3)];
        used += (size_t)snprintf(text + used, room - used, "  mine-%zu: {of: h20, kind: %s, tier: "
            "%s, price: %gUSD/h, cores: %d, energy_included: %s, as_of: \"2026\", source: me}\n", i,
            kinds[row[i].kind], tiers[row[i].tier], row[i].usd, row[i].cores,
            row[i].energy ? "true" : "false");
    }
    if (count == 0)
        snprintf(text, room, "gpus: {}\n");
    return count;
}

static int place_of(const char *const *list, int count, const char *word)
{
    int i = 0;

    while (i < count && strcmp(list[i], word) != 0)
        i++;
    return i < count ? i : -1;
}

/* The row that `word` asks for: of a kind the one of the most reliable tier, of a tier the first.
 * -1: there is none. */
static int find_row(const struct row *row, size_t count, const char *word)
{
    int kind = place_of(kinds, 4, word), tier = place_of(tiers, 6, word), best = -1;

    for (size_t i = 0; i < count; i++)
        if (kind >= 0 ? row[i].kind == kind && (best < 0 || row[i].tier < row[best].tier)
                      : row[i].tier == tier && best < 0)
            best = (int)i;
    return best;
}

/* A core's price among the rows that are shipped; on-demand where a tier has none. */
static const struct price *core_price(const struct catalogue *c, const char *word)
{
    int kind = place_of(kinds, 4, word), tier = place_of(tiers, 6, word);
    const struct price *best = NULL, *usual = NULL;

    for (size_t i = 0; i < catalogue_price_count(c); i++) {
        const struct price *p = catalogue_price_at(c, i);
        if (strcmp(p->of, "core") != 0)
            continue;
        if (kind >= 0 ? p->kind == kind && (best == NULL || p->tier < best->tier)
                      : p->tier == tier && best == NULL)
            best = p;
        if (p->kind == 0 && (usual == NULL || p->tier < usual->tier))
            usual = p;
    }
    return best != NULL || kind >= 0 ? best : usual;
}

struct read {
    struct arena *arena;
    const struct catalogue *catalogue;
    const struct cluster_spec *spec;
    struct err err;
};

static struct read read_both(const char *prices, const char *cluster)
{
    struct read r = { .arena = arena_new(1 << 20) };
    const struct conf_node *own = conf_parse(r.arena, "own.yaml", prices, strlen(prices), &r.err);

    assert_non_null(own);
    r.catalogue = catalogue_read(r.arena, &own, 1, &r.err);
    if (r.catalogue == NULL)
        fail_msg("%s: %s", r.err.text, prices);
    const struct conf_node *conf = conf_parse(r.arena, "c.yaml", cluster, strlen(cluster), &r.err);
    assert_non_null(conf);
    r.spec = cluster_read(r.arena, conf, r.catalogue, &r.err);
    return r;
}

/* Which tiers the rows have, in their order, is what a refusal says. */
static void check_refusal(const struct read *r, const struct row *row, size_t count,
                          const char *word)
{
    char has[100] = "", said[300];

    for (int t = 0; t < 6; t++)
        for (size_t i = 0; i < count; i++)
            if (row[i].tier == t && strstr(has, tiers[t]) == NULL)
                snprintf(has + strlen(has), sizeof has - strlen(has), "%s%s",
                         has[0] == '\0' ? "" : ", ", tiers[t]);
    snprintf(said, sizeof said, "no %s price of h20 is known", word);
    assert_null(r->spec);
    assert_string_equal(r->err.text, said);
    snprintf(said, sizeof said, "There is one of: %s. Or give the price of one node: price: "
             "2.5USD/h", has);
    assert_string_equal(r->err.hint, has[0] != '\0' ? said :
                        "Give the price of one node: price: 2.5USD/h");
}

static void nodes_cost_what_the_rows_of_the_catalogue_say(void **state)
{
    int found = 0, beyond = 0, paid = 0;
    struct rng rng;

    (void)state;
    rng_init(&rng, 5, "price", 0);
    for (int k = 0; k < 150; k++) {
        struct row row[ROWS_MAX];
        char prices[2000], cluster[300];
        size_t count = draw_rows(&rng, row, prices, sizeof prices);
        const char *word = words[rng_below(&rng, 7)];
        bool said = rng_below(&rng, 4) > 0;
        int gpus = 1 + (int)rng_below(&rng, 8), cores = 1 + (int)rng_below(&rng, 96);
        word = said ? word : "on-demand";
        snprintf(cluster, sizeof cluster, "nodes:\n  - {name: a, gpus: {type: h20, count: %d}, "
                 "memory: 1TB, cpu: {type: epyc-9654}, cores: %d%s%s}\n", gpus, cores,
                 said ? ", price: " : "", said ? word : "");
        struct read r = read_both(prices, cluster);
        int at = find_row(row, count, word);
        if (at < 0) {
            check_refusal(&r, row, count, word);
        } else {
            double more = cores - gpus * row[at].cores;
            const struct price *core = core_price(r.catalogue, word);
            if (r.spec == NULL && (more <= 0 || core != NULL))
                fail_msg("%s", r.err.text);
            double usd = gpus * row[at].usd + (more > 0 ? more * core->usd_per_h : 0);
            const struct node_group *group = &r.spec->group[0];
            if (group->usd_per_h != usd || group->energy_included != row[at].energy)
                fail_msg("%s%s costs %g, energy %d", prices, cluster, group->usd_per_h,
                         group->energy_included);
            assert_true(group->price_said == said);
            assert_int_equal(strncmp(group->tariff->name, "mine-", 5), 0);
            assert_int_equal(group->tariff->name[5] - '0', at);
            found++;
            beyond += more > 0;
            paid += !row[at].energy;
        }
        arena_free(r.arena);
    }
    assert_true(found > 30 && found < 120 && beyond > 10 && paid > 10);
}

/* Cores alone: their price is the tariff.  Only what is owned pays for its energy. */
static void a_node_of_cores_costs_its_cores(void **state)
{
    (void)state;
    for (int i = 0; i < 7; i++) {
        char cluster[300];
        snprintf(cluster, sizeof cluster, "nodes:\n  - {name: a, memory: 1TB, cpu: {type: "
                 "epyc-9654}, cores: 7, price: %s}\n", words[i]);
        struct read r = read_both("gpus: {}\n", cluster);
        const struct price *core = core_price(r.catalogue, words[i]);
        if (core == NULL) {
            assert_null(r.spec);
            assert_non_null(strstr(r.err.text, "price of core is known"));
        } else {
            const struct node_group *group = &r.spec->group[0];
            assert_true(group->usd_per_h == 7 * core->usd_per_h);
            assert_ptr_equal(group->tariff, core);
            assert_true(group->energy_included == (strcmp(words[i], "owned") != 0));
        }
        arena_free(r.arena);
    }
}

/* An amount and a series cover the energy, and are of no catalogue; generic GPUs are free, and a
 * series counts from its beginning. */
static void what_is_said_in_dollars_is_of_no_catalogue(void **state)
{
    static const struct { const char *gpus, *price; double usd; bool said, priced; } row[] = {
        { "{type: h20, count: 3}", ", price: 2.5USD/h", 2.5, true, false },
        { "{type: h20, count: 3}", ", price: 0USD/h", 0, true, false },
        { "{type: h20, count: 3}", ", price: {unit: USD/h, points: [[0h, 3], [1h, 4], [2h, "
          "1]]}", 3, true, true },
        { "{type: generic, count: 2}", "", 0, false, false },
        { "{type: generic, count: 2}", ", price: 6USD/h", 6, true, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char cluster[300];
        snprintf(cluster, sizeof cluster, "nodes:\n  - {name: a, gpus: %s%s%s}\n", row[i].gpus,
                 strstr(row[i].gpus, "h20") != NULL ? ", memory: 1TB, cpu: {type: epyc-9654}" : "",
                 row[i].price);
        struct read r = read_both("gpus: {}\n", cluster);
        if (r.spec == NULL)
            fail_msg("%s: %s (%s)", cluster, r.err.text, r.err.hint);
        const struct node_group *group = &r.spec->group[0];
        assert_true(group->usd_per_h == row[i].usd && group->energy_included);
        assert_null(group->tariff);
        assert_true(group->price_said == row[i].said);
        assert_true(r.spec->priced == row[i].priced && (group->price != NULL) == row[i].priced);
        arena_free(r.arena);
    }
}

/* Nearly a word is no amount: both lists are tried, and nothing else is near. */
static void words_that_are_nearly_right_are_answered(void **state)
{
    static const char *const near[][2] = {
        { "on-demnd", "on-demand" }, { "ownd", "owned" }, { "lst", "list" },
        { "marketplac", "marketplace" }, { "asumption", "assumption" }, { "spott", "spot" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof near / sizeof near[0]; i++) {
        char cluster[300], hint[100];
        snprintf(cluster, sizeof cluster, "nodes:\n  - {name: a, memory: 1TB, cpu: {type: "
                 "epyc-9654}, price: %s}\n", near[i][0]);
        struct read r = read_both("gpus: {}\n", cluster);
        snprintf(hint, sizeof hint, "Did you mean '%s'?", near[i][1]);
        assert_null(r.spec);
        assert_string_equal(r.err.hint, hint);
        assert_int_equal(r.err.pos.line, 2);
        arena_free(r.arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nodes_cost_what_the_rows_of_the_catalogue_say),
        cmocka_unit_test(a_node_of_cores_costs_its_cores),
        cmocka_unit_test(what_is_said_in_dollars_is_of_no_catalogue),
        cmocka_unit_test(words_that_are_nearly_right_are_answered),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

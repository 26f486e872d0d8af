/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report_run.c - tables of provenance.json and audit.json: what was run, what
 * decided, and what checked it.
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/report/report_parts.h"
#include "experiments/results/grid.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

const char *report_word(const struct conf_node *map, const char *key)
{
    const struct conf_node *node = map == NULL || conf_kind(map) != CONF_MAP
        ? NULL : conf_get(map, key);

    return node != NULL && conf_kind(node) == CONF_SCALAR ? conf_text(node)
                                                          : "";
}

const struct conf_node *report_list(const struct conf_node *map,
                                    const char *key)
{
    const struct conf_node *node = map == NULL ? NULL : conf_get(map, key);

    return node != NULL && conf_kind(node) == CONF_LIST ? node : NULL;
}

/* Adds a row of two cells, unless the text is empty. */
static void add_fact(struct sheet *sheet, const char *name, const char *text,
                     const char *unit)
{
    if (text[0] == '\0')
        return;
    sheet_cell(sheet, "%s", name);
    sheet_cell(sheet, "%s%s", text, unit);
}

/* Adds the cells of a row: the words at some keys. */
static void add_words(struct sheet *sheet, const struct conf_node *map,
                      const char *const *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sheet_cell(sheet, "%s", report_word(map, keys[i]));
}

/* Returns what a policy is told of run times: the truth, exact estimates,
 * estimates, or nothing. */
static const char *told(const struct conf_node *policy)
{
    if (strcmp(report_word(policy, "clairvoyant"), "true") == 0)
        return "the truth";
    if (strstr(report_word(policy, "semantics"), "estimate=") == NULL)
        return "nothing";
    return strstr(report_word(policy, "semantics"), "estimate=exact") != NULL
        ? "exact estimates" : "estimates";
}

/* What each policy is told of run times decides how its figures compare: with the
 * truth of a trace, with estimates, or with nothing. */
struct sheet *report_policies(const struct report *r, struct err *err)
{
    static const char *const keys[] = { "name", "policy", "semantics" };
    const struct conf_node *list = report_list(r->made_from, "policies");
    struct sheet *sheet;

    (void)err;
    if (list == NULL)
        return NULL;
    sheet = sheet_new("name:0\tpolicy:0\tsemantics:0\ttold of run times:0");
    for (size_t i = 0; i < conf_count(list); i++) {
        add_words(sheet, conf_item(list, i), keys, COUNT_OF(keys));
        sheet_cell(sheet, "%s", told(conf_item(list, i)));
    }
    return sheet;
}

/* Says of which seeds there are tables of single phases and instants, if not of
 * all. */
static void add_detail(struct sheet *sheet, const struct report *r)
{
    const struct grid *grid = r->source.grid;
    const char *seeds = report_word(r->made_from, "detail_seeds");
    unsigned long count = strtoul(seeds, NULL, 10);

    if (count == 0 || count >= grid->seed_count)
        return;
    add_fact(sheet, "phases, timeline, decisions",
         count == 1 ? "of seed 0 only"
                    : text_format(r->arena, "of seeds 0 to %lu only",
                                  count - 1),
         "; all other tables are of all seeds");
}

/* Returns the length of the first word: "policy static" is of the policies. */
static size_t kind_bytes(const char *of)
{
    return strcspn(of, " ");
}

/* Are two defaults the same, but for which of several jobs they are of?  Then they
 * share a row. */
static bool same_default(const struct conf_node *a, const struct conf_node *b)
{
    const char *x = report_word(a, "of"), *y = report_word(b, "of");

    return kind_bytes(x) == kind_bytes(y) &&
           strncmp(x, y, kind_bytes(x)) == 0 &&
           strcmp(report_word(a, "key"), report_word(b, "key")) == 0 &&
           strcmp(report_word(a, "value"), report_word(b, "value")) == 0 &&
           strcmp(report_word(a, "from"), report_word(b, "from")) == 0;
}

/* Returns "policy static, hybrid": all whose defaults row i holds; NULL: an
 * earlier row holds them. */
static const char *default_owners(struct arena *arena,
                                  const struct conf_node *list, size_t i)
{
    const struct conf_node *item = conf_item(list, i);
    const char *text = report_word(item, "of");

    for (size_t k = 0; k < i; k++)
        if (same_default(conf_item(list, k), item))
            return NULL;
    for (size_t k = i + 1; k < conf_count(list); k++) {
        const char *of = report_word(conf_item(list, k), "of");

        of += kind_bytes(of);
        if (same_default(conf_item(list, k), item))
            text = text_format(arena, "%s,%s", text, of);
    }
    return text;
}

size_t report_default_rows(const struct report *r)
{
    const struct conf_node *list = report_list(r->made_from, "defaults");
    size_t rows = 0;

    for (size_t i = 0; list != NULL && i < conf_count(list); i++)
        rows += strcmp(report_word(conf_item(list, i), "from"), "file") != 0 &&
                default_owners(r->arena, list, i) != NULL;
    return rows;
}

/* Rows of provenance.json: each key that the files do not say, its value, and
 * where that is from. */
struct sheet *report_defaults(const struct report *r, struct err *err)
{
    static const char *const keys[] = { "key", "value", "from" };
    const struct conf_node *list = report_list(r->made_from, "defaults");
    struct sheet *sheet;

    (void)err;
    if (list == NULL || conf_count(list) == 0)
        return NULL;
    sheet = sheet_new("of:0\tkey:0\tvalue:0\tfrom:0");
    for (size_t i = 0; i < conf_count(list); i++) {
        const char *of = default_owners(r->arena, list, i);

        if (of == NULL)
            continue;
        sheet_cell(sheet, "%s", of);
        add_words(sheet, conf_item(list, i), keys, COUNT_OF(keys));
    }
    return sheet;
}

/* The offered load of each pool, as `validate` works it out before a run: rho above
 * 1 is more work than the pool can do. */
struct sheet *report_load(const struct report *r, struct err *err)
{
    static const char *const keys[] = { "point", "policies", "pool" };
    const struct conf_node *list = report_list(r->made_from, "load");
    struct sheet *sheet;

    (void)err;
    if (list == NULL || conf_count(list) == 0)
        return NULL;
    sheet = sheet_new("point:0\tpolicies:0\tpool:0\tcapacity:0\tload:0");
    for (size_t i = 0; i < conf_count(list); i++) {
        const struct conf_node *item = conf_item(list, i);

        add_words(sheet, item, keys, COUNT_OF(keys));
        sheet_cell(sheet, "%s %s", report_word(item, "capacity"),
                   report_word(item, "of"));
        sheet_cell(sheet, "%s", report_word(item, "rho"));
    }
    return sheet;
}

/* What was run: files, points, seeds, the end and the warm-up.  All of it is of
 * provenance.json, since the experiment's files may have changed since. */
struct sheet *report_run(const struct report *r, struct err *err)
{
    const struct conf_node *from = r->made_from;
    const struct conf_node *inputs = report_list(from, "inputs");
    const struct grid *grid = r->source.grid;
    const char *until = report_word(from, "until_s");
    bool drained = strcmp(until, "null") == 0;
    struct sheet *sheet = sheet_new(":0\t:0");

    (void)err;
    add_fact(sheet, "experiment file", report_word(from, "file"), "");
    for (size_t i = 1; inputs != NULL && i < conf_count(inputs); i++)
        add_fact(sheet, i == 1 ? "other inputs" : "",
             report_word(conf_item(inputs, i), "file"), "");
    for (uint32_t t = 0; t < grid->point_count; t++)
        add_fact(sheet, t == 0 ? "points" : "", grid->point[t], "");
    add_fact(sheet, "seeds",
         text_format(r->arena, "%u", grid->seed_count),
         grid->seed_count > 1 ? ", the same for every policy" : "");
    add_fact(sheet, "trials", report_word(from, "trials"), "");
    add_detail(sheet, r);
    add_fact(sheet, "until", drained ? "all jobs have ended" : until,
         drained || until[0] == '\0' ? "" : " s");
    add_fact(sheet, "warm-up", report_word(from, "warmup_s"), " s");
    add_fact(sheet, "baseline", r->source.baseline == UINT32_MAX ? "none"
         : grid->policy[r->source.baseline], "");
    return sheet;
}

/* What is needed to repeat the run to the last bit: the program, its compiler and
 * libraries, and a hash of each input.  The digest tells if a repetition was one. */
struct sheet *report_provenance(const struct report *r, struct err *err)
{
    const struct conf_node *from = r->made_from;
    const struct conf_node *inputs = report_list(from, "inputs");
    struct sheet *sheet;

    (void)err;
    if (from == NULL)
        return NULL;
    sheet = sheet_new(":0\t:0");
    add_fact(sheet, "clustersim", report_word(from, "version"), "");
    add_fact(sheet, "compiler", report_word(from, "compiler"), "");
    add_fact(sheet, "flags", report_word(from, "flags"), "");
    add_fact(sheet, "GSL", report_word(from, "gsl"), "");
    add_fact(sheet, "libyaml", report_word(from, "libyaml"), "");
    add_fact(sheet, "seed", report_word(from, "seed"), "");
    add_fact(sheet, "digest of all events", report_word(r->audit, "digest"),
             "");
    for (size_t i = 0; inputs != NULL && i < conf_count(inputs); i++) {
        const struct conf_node *item = conf_item(inputs, i);

        add_fact(sheet, report_word(item, "file"), report_word(item, "xxh64"),
                 " (XXH64)");
    }
    return sheet;
}

/* Adds the counts of one part of audit.json. */
static void add_counts(struct sheet *sheet, const struct conf_node *map,
                       const char *what)
{
    const struct conf_node *list = conf_get(map, what);

    if (list == NULL || conf_kind(list) != CONF_MAP)
        return;
    for (size_t i = 0; i < conf_count(list); i++)
        if (conf_kind(conf_value(list, i)) == CONF_SCALAR) {
            sheet_cell(sheet, "%s: %s", what, conf_key(list, i));
            sheet_cell(sheet, "%s", conf_text(conf_value(list, i)));
        }
}

/* What the audit counted, so that a reader sees that it did look: an audit that
 * compared nothing has found nothing, too. */
struct sheet *report_audit(const struct report *r, struct err *err)
{
    struct sheet *sheet;

    (void)err;
    if (r->audit == NULL)
        return NULL;
    sheet = sheet_new(":0\t:1");
    add_counts(sheet, r->audit, "checks");
    add_counts(sheet, r->audit, "jobs");
    return sheet;
}

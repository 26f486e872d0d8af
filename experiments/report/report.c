/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.c - report.html: the verdicts, what was run, the tables, the reasons,
 * the charts, the audit, and what it was made from.
 *
 * A part whose file is absent is left out or says so; a JSON file is read as
 * the YAML that it also is.
 */
#include "experiments/report/report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/columns/figures.h"
#include "experiments/results/grid.h"
#include "sim/text/folder.h"
#include "experiments/results/limits.h"
#include "experiments/results/notes.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "experiments/report/plot_data.h"
#include "sim/text/csv.h"
#include "experiments/report/report_html.h"
#include "experiments/report/report_tables.h"
#include "experiments/report/services_table.h"
#include "sim/base/arena.h"
#include "sim/config/conf.h"
#include "sim/base/err.h"
#include "sim/text/scan.h"

#define FAILURES_SHOWN 20
#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

struct report {
    struct plot_source source;
    struct arena *arena;
    struct out *out;
    const struct conf_node *made_from;      /* provenance.json or NULL */
    const struct conf_node *audit;          /* audit.json or NULL */
};

static const char *in_folder(const struct report *r, const char *name)
{
    return path_join(r->arena, r->source.dir, name);
}

/* NULL: the file is not there, or is no map. */
static const struct conf_node *read_json(struct report *r, const char *name)
{
    const char *path = in_folder(r, name);
    const struct conf_node *tree = NULL;
    struct err ignored = { 0 };

    if (path_is_file(path))
        tree = conf_load(r->arena, path, &ignored);
    return tree != NULL && conf_kind(tree) == CONF_MAP ? tree : NULL;
}

/* A scalar of a map, or "". */
static const char *word(const struct conf_node *map, const char *key)
{
    const struct conf_node *node = map == NULL || conf_kind(map) != CONF_MAP
        ? NULL : conf_get(map, key);

    return node != NULL && conf_kind(node) == CONF_SCALAR ? conf_text(node)
                                                          : "";
}

/* A list of a map, or NULL. */
static const struct conf_node *list_of(const struct conf_node *map,
                                       const char *key)
{
    const struct conf_node *node = map == NULL ? NULL : conf_get(map, key);

    return node != NULL && conf_kind(node) == CONF_LIST ? node : NULL;
}

static void fact(struct out *out, const char *name, const char *text,
                 const char *unit)
{
    if (text[0] == '\0')
        return;
    out_text(out, "<tr>");
    html_element(out, "th", name);
    out_text(out, "<td>");
    out_html_text(out, text);
    out_html_text(out, unit);
    out_text(out, "</td></tr>\n");
}

/* Policies may ask for the truth, be told it as an exact estimate, or not ask. */
static const char *told(const struct conf_node *policy)
{
    if (strcmp(word(policy, "clairvoyant"), "true") == 0)
        return "the truth";
    if (strstr(word(policy, "semantics"), "estimate=") == NULL)
        return "nothing";
    return strstr(word(policy, "semantics"), "estimate=exact") != NULL
        ? "exact estimates" : "estimates";
}

/* Where a limit of a policy's own has a say in what is shown. */
static void limits(struct report *r, const struct conf_node *list)
{
    const struct grid *grid = r->source.grid;
    char text[600];

    for (uint32_t p = 0; p < grid->policy_count; p++)
        for (size_t i = 0; i < conf_count(list); i++) {
            const struct conf_node *item = conf_item(list, i);

            if (strcmp(word(item, "name"), grid->policy[p]) != 0 ||
                !limits_say(grid, p, conf_get(item, "limits") != NULL
                            ? word(item, "limits") : NULL, text, sizeof text))
                continue;
            out_text(r->out, "<p>");
            out_html_text(r->out, text);
            out_text(r->out, "</p>\n");
        }
}

static void policies(struct report *r)
{
    const struct conf_node *list = list_of(r->made_from, "policies");

    if (list == NULL)
        return;
    out_text(r->out, "<h3>Policies and their semantics</h3>\n<div class="
             "\"wide\"><table>\n<thead><tr><th>name</th><th>policy</th><th>"
             "semantics</th><th>told of run times</th></tr></thead>\n"
             "<tbody>\n");
    for (size_t i = 0; i < conf_count(list); i++) {
        const struct conf_node *item = conf_item(list, i);

        out_text(r->out, "<tr>");
        html_element(r->out, "th", word(item, "name"));
        html_element(r->out, "td", word(item, "policy"));
        html_element(r->out, "td", word(item, "semantics"));
        html_element(r->out, "td", told(item));
        out_text(r->out, "</tr>\n");
    }
    out_text(r->out, "</tbody></table></div>\n");
    limits(r, list);
}

/* Tables of single phases and instants may be of some seeds only. */
static void detail(struct report *r)
{
    const struct grid *grid = r->source.grid;
    const char *seeds = word(r->made_from, "detail_seeds");
    unsigned long count = strtoul(seeds, NULL, 10);

    if (count == 0 || count >= grid->seed_count)
        return;
    fact(r->out, "phases, timeline, decisions",
         count == 1 ? "of seed 0 only"
                    : text_format(r->arena, "of seeds 0 to %lu only",
                                  count - 1),
         "; all other tables are of all seeds");
}

/* "policy static" is of the policies. */
static size_t kind_bytes(const char *of)
{
    return strcspn(of, " ");
}

static bool same_default(const struct conf_node *a, const struct conf_node *b)
{
    const char *x = word(a, "of"), *y = word(b, "of");

    return kind_bytes(x) == kind_bytes(y) &&
           strncmp(x, y, kind_bytes(x)) == 0 &&
           strcmp(word(a, "key"), word(b, "key")) == 0 &&
           strcmp(word(a, "value"), word(b, "value")) == 0 &&
           strcmp(word(a, "from"), word(b, "from")) == 0;
}

/* "policy static, hybrid": all of which the i-th row holds; NULL: an earlier
 * row says it. */
static const char *default_owners(struct arena *arena,
                                  const struct conf_node *list, size_t i)
{
    const struct conf_node *item = conf_item(list, i);
    const char *text = word(item, "of");

    for (size_t k = 0; k < i; k++)
        if (same_default(conf_item(list, k), item))
            return NULL;
    for (size_t k = i + 1; k < conf_count(list); k++) {
        const char *of = word(conf_item(list, k), "of");

        of += kind_bytes(of);
        if (same_default(conf_item(list, k), item))
            text = text_format(arena, "%s,%s", text, of);
    }
    return text;
}

/* Rows of provenance.json: what decides, and where it is from. */
static void defaults(struct report *r)
{
    const struct conf_node *list = list_of(r->made_from, "defaults");

    if (list == NULL || conf_count(list) == 0)
        return;
    out_text(r->out, "<h3>What decides beside them</h3>\n<div class=\"wide\">"
             "<table>\n<thead><tr><th>of</th><th>key</th><th>value</th><th>"
             "from</th></tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < conf_count(list); i++) {
        const struct conf_node *item = conf_item(list, i);
        const char *of = default_owners(r->arena, list, i);

        if (of == NULL)
            continue;
        out_text(r->out, "<tr>");
        html_element(r->out, "th", of);
        html_element(r->out, "td", word(item, "key"));
        html_element(r->out, "td", word(item, "value"));
        html_element(r->out, "td", word(item, "from"));
        out_text(r->out, "</tr>\n");
    }
    out_text(r->out, "</tbody></table></div>\n");
}

/* Above 1 the queue of a pool grows as long as jobs come. */
static void offered_load(struct report *r)
{
    const struct conf_node *list = list_of(r->made_from, "load");

    if (list == NULL || conf_count(list) == 0)
        return;
    out_text(r->out, "<h3>Offered load</h3>\n<p>Work that comes over what a "
             "pool can do; above 1 the queue grows as long as jobs come."
             "</p>\n<div class=\"wide\"><table>\n<thead><tr><th>point</th>"
             "<th>policies</th><th>pool</th><th>capacity</th><th>load</th>"
             "</tr></thead>\n<tbody>\n");
    for (size_t i = 0; i < conf_count(list); i++) {
        const struct conf_node *item = conf_item(list, i);

        out_text(r->out, "<tr>");
        html_element(r->out, "th", word(item, "point"));
        html_element(r->out, "td", word(item, "policies"));
        html_element(r->out, "td", word(item, "pool"));
        out_text(r->out, "<td>");
        out_html_text(r->out, word(item, "capacity"));
        out_html_text(r->out, " ");
        out_html_text(r->out, word(item, "of"));
        out_text(r->out, "</td>");
        html_element(r->out, "td", word(item, "rho"));
        out_text(r->out, "</tr>\n");
    }
    out_text(r->out, "</tbody></table></div>\n");
}

static void what_was_run(struct report *r)
{
    const struct conf_node *from = r->made_from;
    const struct conf_node *inputs = list_of(from, "inputs");
    const struct grid *grid = r->source.grid;
    const char *until = word(from, "until_s");
    bool drained = strcmp(until, "null") == 0;

    out_text(r->out, "<h2>What was run</h2>\n<table><tbody>\n");
    fact(r->out, "experiment file", word(from, "file"), "");
    for (size_t i = 1; inputs != NULL && i < conf_count(inputs); i++)
        fact(r->out, i == 1 ? "other inputs" : "",
             word(conf_item(inputs, i), "file"), "");
    for (uint32_t t = 0; t < grid->point_count; t++)
        fact(r->out, t == 0 ? "points" : "", grid->point[t], "");
    fact(r->out, "seeds",
         text_format(r->arena, "%u", grid->seed_count),
         grid->seed_count > 1 ? ", the same for every policy" : "");
    fact(r->out, "trials", word(from, "trials"), "");
    detail(r);
    fact(r->out, "until", drained ? "all jobs have ended" : until,
         drained || until[0] == '\0' ? "" : " s");
    fact(r->out, "warm-up", word(from, "warmup_s"), " s");
    fact(r->out, "baseline", r->source.baseline == UINT32_MAX ? "none"
         : grid->policy[r->source.baseline], "");
    out_text(r->out, "</tbody></table>\n");
    policies(r);
    defaults(r);
    offered_load(r);
}

/* checks.csv: what was expected, what was found. */

enum check_column {
    K_VERDICT, K_CLAIM, K_METRIC, K_POLICY, K_VERSUS, K_POINT, K_REASON, K_PERCENT,
    K_LEAST, K_MOST, K_VALUE, K_LOW, K_HIGH, K_COUNT
};
static const char *const check_name[K_COUNT] = {
    "verdict", "claim", "metric", "policy", "vs", "point", "reason", "percent",
    "at_least", "at_most", "value", "ci_low", "ci_high"
};

static void number_text(struct out *out, const char *before, double value,
                        const char *unit)
{
    char text[HTML_NUMBER_BYTES];

    if (isnan(value))
        return;
    /* Of fractions near 1, three digits would all look alike. */
    html_number(text, value,
                html_decimals(value, fabs(value) <= 1 && !*unit ? 5 : 3));
    out_printf(out, "%s%s%s", before, text, unit);
}

/* What was not compared has a value, but of other jobs on either side; the
 * reason goes on with advice. */
static void put_found(struct out *out, const char *reason, const double *value,
                      const char *unit)
{
    if (strncmp(reason, "not compared", 12) == 0) {
        char text[128];

        snprintf(text, sizeof text, "%.*s", (int)strcspn(reason, ";"), reason);
        out_html_text(out, text);
        return;
    }
    number_text(out, "", value[K_VALUE], unit);
    number_text(out, " [", value[K_LOW], unit);
    number_text(out, ", ", value[K_HIGH], unit);
    out_text(out, isnan(value[K_HIGH]) ? "" : "]");
}

static bool check_row(struct out *out, const struct csv *in,
                      const size_t *c, struct err *err)
{
    const char *verdict = csv_text(in, c[K_VERDICT]), *unit;
    double value[K_COUNT];

    for (int i = K_PERCENT; i < K_COUNT; i++)
        if (!csv_number(in, c[i], &value[i], err))
            return false;
    unit = value[K_PERCENT] == 1 ? "%" : "";
    out_printf(out, "<tr><td class=\"verdict %s\">",
               strcmp(verdict, "holds") == 0 ? "holds"
               : strcmp(verdict, "does not hold") == 0 ||
                 strcmp(verdict, "failed trial") == 0 ? "fails" : "open");
    out_html_text(out, verdict);
    out_text(out, "</td>");
    for (int i = K_CLAIM; i <= K_POINT; i++)
        html_element(out, "td", csv_text(in, c[i]));
    out_text(out, "<td>");
    if (!isnan(value[K_LEAST]))
        out_printf(out, "at least %.6g%s", value[K_LEAST], unit);
    if (!isnan(value[K_MOST]))
        out_printf(out, "%sat most %.6g%s", isnan(value[K_LEAST]) ? "" : ", ",
                   value[K_MOST], unit);
    out_text(out, "</td><td>");
    put_found(out, csv_text(in, c[K_REASON]), value, unit);
    out_text(out, "</td></tr>\n");
    return true;
}

static bool verdicts(struct report *r, struct err *err)
{
    struct plot_sink sink = { NULL, NULL, NULL };
    size_t column[K_COUNT];
    struct csv *in = plot_open(&r->source, "checks.csv", check_name,
                                  column, K_COUNT, &sink, err);
    enum csv_step step;

    out_text(r->out, "<h2>Expectations</h2>\n");
    if (in == NULL) {
        out_text(r->out, "<p class=\"none\">The experiment states none (key "
                         "<code>expect</code>).</p>\n");
        return sink.skip != NULL;
    }
    out_text(r->out, "<div class=\"wide\"><table>\n<thead><tr><th>verdict"
             "</th><th>claim</th><th>metric</th><th>policy</th><th>against"
             "</th><th>point</th><th>expected</th><th>found, with its interval"
             "</th></tr></thead>\n<tbody>\n");
    while ((step = csv_next(in, err)) == CSV_ROW)
        if (!check_row(r->out, in, column, err)) {
            step = CSV_ERROR;
            break;
        }
    csv_close(in);
    out_text(r->out, "</tbody></table></div>\n<p class=\"pale\">Holds: the "
             "whole interval lies inside the limit. Undecided: it straddles "
             "the limit, or some jobs were not done, so that means are of "
             "other jobs. Not judged: what it speaks of was left out of the "
             "run.</p>\n");
    return step == CSV_END;
}

static bool failures(struct report *r, struct err *err)
{
    static const char *const name[] = {
        "point", "policy", "seed", "place", "message"
    };
    struct plot_sink sink = { NULL, NULL, NULL };
    size_t column[COUNT_OF(name)], rows = 0;
    struct csv *in = plot_open(&r->source, "failures.csv", name, column,
                                  COUNT_OF(name), &sink, err);
    enum csv_step step;

    if (in == NULL)
        return sink.skip != NULL;
    out_text(r->out, "<h2>Failed trials</h2>\n<p>They are missing in all "
             "that follows.</p>\n<table><tbody>\n");
    while ((step = csv_next(in, err)) == CSV_ROW) {
        if (rows++ >= FAILURES_SHOWN)
            continue;
        out_text(r->out, "<tr>");
        for (size_t c = 0; c < COUNT_OF(name); c++)
            html_element(r->out, "td", csv_text(in, column[c]));
        out_text(r->out, "</tr>\n");
    }
    csv_close(in);
    out_text(r->out, "</tbody></table>\n");
    if (rows > FAILURES_SHOWN)
        out_printf(r->out, "<p class=\"pale\">%zu more in failures.csv."
                   "</p>\n", rows - FAILURES_SHOWN);
    return step == CSV_END;
}

static void results(struct report *r)
{
    const struct grid *grid = r->source.grid;
    struct notes notes = notes_of(r->arena, grid);

    out_text(r->out, "<h2>Results</h2>\n<p class=\"pale\">");
    if (grid->seed_count > 1)
        out_printf(r->out, "Means of %u seeds \u00b1 half of the 95%% "
                   "interval (Student's t). Below: the difference to the "
                   "baseline, paired by seed, in percent of its mean, with "
                   "the 95%% interval and the p-value of a two-sided paired "
                   "t-test; green is better, red is worse, where the "
                   "interval leaves out 0. ", grid->seed_count);
    else
        out_text(r->out, "One seed: there are no intervals. ");
    out_text(r->out, "\u2713 best mean.</p>\n");
    for (size_t i = 0; i < notes.count; i++)
        html_element(r->out, "p", notes.line[i]);
    for (uint32_t t = 0; t < grid->point_count; t++)
        report_point(r->out, &r->source, t);
}

static void one_chart(struct report *r, const char *name,
                      const char *question)
{
    const char *png = text_format(r->arena, "plots/%s.png", name);
    const char *svg = text_format(r->arena, "plots/%s.svg", name);
    bool raster = path_is_file(in_folder(r, png));

    if (!raster && !path_is_file(in_folder(r, svg)))
        return;
    out_text(r->out, "<figure>");
    html_image(r->out, in_folder(r, raster ? png : svg),
               raster ? "image/png" : "image/svg+xml", question);
    out_printf(r->out, "<figcaption>%s Drawn from <a href=\"plots/%s.dat\">"
               "%s.dat</a> by <a href=\"plots/%s.gp\">%s.gp</a>."
               "</figcaption></figure>\n", question, name, name, name, name);
}

static void charts(struct report *r)
{
    const char *skipped = in_folder(r, "plots/skipped.txt");
    struct err ignored = { 0 };
    struct scan *scan;
    size_t bytes;
    char *line;

    out_text(r->out, "<h2>Charts</h2>\n");
    for (unsigned i = 0; figure_name(i) != NULL; i++)
        one_chart(r, figure_name(i), figure_question(i));
    scan = path_is_file(skipped) ? scan_open(skipped, &ignored) : NULL;
    while (scan != NULL &&
           scan_line(scan, &line, &bytes, &ignored) == SCAN_LINE) {
        out_text(r->out, "<p class=\"none\">Not drawn: ");
        out_html_text(r->out, line);
        out_text(r->out, ".</p>\n");
    }
    scan_close(scan);
}

static void counts(struct out *out, const struct conf_node *map,
                   const char *what)
{
    const struct conf_node *list = conf_get(map, what);

    if (list == NULL || conf_kind(list) != CONF_MAP)
        return;
    for (size_t i = 0; i < conf_count(list); i++)
        if (conf_kind(conf_value(list, i)) == CONF_SCALAR) {
            out_text(out, "<tr><th>");
            out_html_text(out, what);
            out_text(out, ": ");
            out_html_text(out, conf_key(list, i));
            out_text(out, "</th><td class=\"n\">");
            out_html_text(out, conf_text(conf_value(list, i)));
            out_text(out, "</td></tr>\n");
        }
}

static void audit(struct report *r)
{
    out_text(r->out, "<h2>Audit</h2>\n");
    if (r->audit == NULL) {
        out_text(r->out, "<p class=\"none\">There is no audit.json.</p>\n");
        return;
    }
    out_text(r->out, "<p>Every trial checks itself while it runs: ");
    out_html_text(r->out, word(r->audit, "violations"));
    out_text(r->out, " violations in ");
    out_html_text(r->out, word(r->audit, "trials"));
    out_text(r->out, " trials and ");
    out_html_text(r->out, word(r->audit, "events"));
    out_text(r->out, " events.</p>\n<table><tbody>\n");
    counts(r->out, r->audit, "checks");
    counts(r->out, r->audit, "jobs");
    out_text(r->out, "</tbody></table>\n");
}

static void provenance(struct report *r)
{
    const struct conf_node *from = r->made_from;
    const struct conf_node *command = list_of(from, "command");
    const struct conf_node *inputs = list_of(from, "inputs");

    out_text(r->out, "<h2>Provenance</h2>\n");
    if (from == NULL) {
        out_text(r->out, "<p class=\"none\">There is no provenance.json."
                         "</p>\n");
        return;
    }
    out_text(r->out, "<p><code>");
    for (size_t i = 0; command != NULL && i < conf_count(command); i++) {
        out_text(r->out, i == 0 ? "" : " ");
        if (conf_kind(conf_item(command, i)) == CONF_SCALAR)
            out_html_text(r->out, conf_text(conf_item(command, i)));
    }
    out_text(r->out, "</code></p>\n<table><tbody>\n");
    fact(r->out, "clustersim", word(from, "version"), "");
    fact(r->out, "compiler", word(from, "compiler"), "");
    fact(r->out, "flags", word(from, "flags"), "");
    fact(r->out, "GSL", word(from, "gsl"), "");
    fact(r->out, "libyaml", word(from, "libyaml"), "");
    fact(r->out, "seed", word(from, "seed"), "");
    fact(r->out, "digest of all events", word(r->audit, "digest"), "");
    for (size_t i = 0; inputs != NULL && i < conf_count(inputs); i++) {
        const struct conf_node *item = conf_item(inputs, i);

        fact(r->out, word(item, "file"), word(item, "xxh64"), " (XXH64)");
    }
    out_text(r->out, "</tbody></table>\n");
}

static void files(struct report *r)
{
    static const char *const name[] = {
        "summary.csv", "compare.csv", "jobs.csv", "phases.csv",
        "timeline.csv", "decisions.csv", "services.csv", "arrived.csv",
        "checks.csv",
        "failures.csv",
        "audit.json", "provenance.json", "trace.json"
    };

    out_text(r->out, "<h2>Files</h2>\n<p>");
    for (size_t i = 0; i < COUNT_OF(name); i++)
        if (path_is_file(in_folder(r, name[i])))
            out_printf(r->out, "<a href=\"%s\">%s</a> ", name[i], name[i]);
    out_text(r->out, "</p>\n");
}

static bool services(struct report *r, struct err *err)
{
    const struct services_table *table =
        services_table_read(r->arena, r->source.dir, err);

    if (table != NULL) {
        out_text(r->out, "<h2>Services</h2>\n<p>Means over seeds; "
                         "services.csv has every seed.</p>\n");
        services_table_html(table, r->out);
    }
    return table != NULL || err->kind == ERR_NONE;
}

static bool write_page(struct report *r, struct err *err)
{
    html_begin(r->out, text_format(r->arena, "%s - clustersim report",
                                   r->source.experiment));
    html_element(r->out, "h1", r->source.experiment);
    out_text(r->out, "\n");
    html_element(r->out, "p", word(r->made_from, "description"));
    out_text(r->out, "\n");
    if (!verdicts(r, err) || !failures(r, err))
        return false;
    what_was_run(r);
    results(r);
    if (!services(r, err))
        return false;
    charts(r);
    audit(r);
    provenance(r);
    files(r);
    html_end(r->out);
    return true;
}

bool report_write(const char *dir, struct err *err)
{
    struct report r = { .arena = arena_new((size_t)1 << 16) };
    bool ok = plot_source_read(r.arena, dir, &r.source, err);

    if (ok) {
        r.made_from = read_json(&r, "provenance.json");
        r.audit = read_json(&r, "audit.json");
        struct folder *folder = folder_make(r.arena, dir, err);

        if (folder != NULL)
            r.out = out_in(r.arena, folder, "report.html", err);
        ok = r.out != NULL && write_page(&r, err) && out_close(r.out, err);
        out_abandon(r.out);
        folder_close(folder);
    }
    if (!ok)
        plot_keep_err(err, dir);
    arena_free(r.arena);
    return ok;
}

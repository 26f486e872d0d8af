/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * report.c - report.html: page.html filled in with the tables, the charts and
 * texts of a results folder.
 *
 * A part whose file is absent is left out or says so; a JSON file is read as
 * the YAML that it also is.  page.html says where each part stands: html_fill() calls
 * back for each name in it, which is a table, a part, or a word.  All texts of users are
 * escaped; pictures are embedded, so the page is one file.
 */
#include "experiments/report/report.h"

#include <string.h>

#include "experiments/columns/figures.h"
#include "experiments/report/check_rows.h"
#include "experiments/report/page_file.h"
#include "experiments/report/plot_data.h"
#include "experiments/report/report_html.h"
#include "experiments/report/report_parts.h"
#include "experiments/report/report_tables.h"
#include "experiments/report/services_table.h"
#include "experiments/results/grid.h"
#include "experiments/results/limits.h"
#include "experiments/results/notes.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"
#include "sim/text/sheet.h"

static const char *join_path(const struct report *r, const char *name)
{
    return path_join(r->arena, r->source.dir, name);
}

/* Returns the map that a file of the folder holds; NULL: the file is not there, or
 * is no map. */
static const struct conf_node *read_json(struct report *r, const char *name)
{
    const char *path = join_path(r, name);
    const struct conf_node *tree = NULL;
    struct err ignored = { 0 };

    if (path_is_file(path))
        tree = conf_load(r->arena, path, &ignored);
    return tree != NULL && conf_kind(tree) == CONF_MAP ? tree : NULL;
}

static struct sheet *report_services(const struct report *r, struct err *err)
{
    const struct services_table *table =
        services_table_read(r->arena, r->source.dir, err);

    return table == NULL ? NULL : services_table_sheet(table, true);
}

static const struct {
    const char *name;
    struct sheet *(*make)(const struct report *r, struct err *err);
    size_t heads;               /* cells of a row that say what it is of */
} tables[REPORT_TABLES] = {
    { "best", report_best, 1 },
    { "regret", report_regret, 1 },
    { "controls", report_controls, 3 },
    { "turns", report_turns, 0 },
    { "inputs", report_inputs, 2 },
    { "verdicts", report_verdicts, 0 },
    { "failures", report_failures, 0 },
    { "run", report_run, 1 },
    { "policies", report_policies, 1 },
    { "defaults", report_defaults, 1 },
    { "load", report_load, 1 },
    { "services", report_services, 3 },
    { "audit", report_audit, 1 },
    { "provenance", report_provenance, 1 },
};

/* Writes where a limit of a policy's own has a say in what is shown. */
static void write_limits(const struct report *r)
{
    const struct conf_node *list = report_list(r->made_from, "policies");
    const struct grid *grid = r->source.grid;
    char text[600];

    for (uint32_t p = 0; p < grid->policy_count; p++)
        for (size_t i = 0; i < conf_count(list); i++) {
            const struct conf_node *item = conf_item(list, i);

            if (strcmp(report_word(item, "name"), grid->policy[p]) != 0 ||
                !limits_say(grid, p, conf_get(item, "limits") != NULL
                            ? report_word(item, "limits") : NULL, text, sizeof text))
                continue;
            html_element(r->out, "p", text);
            out_text(r->out, "\n");
        }
}

static void write_notes(const struct report *r)
{
    struct notes notes = notes_of(r->arena, r->source.grid);

    for (size_t i = 0; i < notes.count; i++)
        html_element(r->out, "p", notes.line[i]);
}

static void write_points(const struct report *r)
{
    for (uint32_t t = 0; t < r->source.grid->point_count; t++) {
        report_point(r->out, &r->source, t);
        report_seeds(r, t);
    }
}

/* A PNG is embedded if there is one, else the SVG. */
static void write_chart(const struct report *r, const char *name,
                        const char *question)
{
    const char *png = text_format(r->arena, "plots/%s.png", name);
    const char *svg = text_format(r->arena, "plots/%s.svg", name);
    bool raster = path_is_file(join_path(r, png));

    if (!raster && !path_is_file(join_path(r, svg)))
        return;
    out_text(r->out, "<figure>");
    html_image(r->out, join_path(r, raster ? png : svg),
               raster ? "image/png" : "image/svg+xml", question);
    out_printf(r->out, "<figcaption>%s Drawn from <a href=\"plots/%s.dat\">"
               "%s.dat</a> by <a href=\"plots/%s.gp\">%s.gp</a>."
               "</figcaption></figure>\n", question, name, name, name, name);
}

/* Then why others were not drawn. */
static void write_charts(const struct report *r)
{
    const char *skipped = join_path(r, "plots/skipped.txt");
    struct err ignored = { 0 };
    struct scan *scan;
    size_t bytes;
    char *line;

    for (unsigned i = 0; figure_name(i) != NULL; i++)
        write_chart(r, figure_name(i), figure_question(i));
    scan = path_is_file(skipped) ? scan_open(skipped, &ignored) : NULL;
    while (scan != NULL &&
           scan_line(scan, &line, &bytes, &ignored) == SCAN_LINE) {
        out_text(r->out, "<p class=\"none\">Not drawn: ");
        out_html_text(r->out, line);
        out_text(r->out, ".</p>\n");
    }
    scan_close(scan);
}

static void write_command(const struct report *r)
{
    const struct conf_node *command = report_list(r->made_from, "command");

    for (size_t i = 0; command != NULL && i < conf_count(command); i++) {
        out_text(r->out, i == 0 ? "" : " ");
        if (conf_kind(conf_item(command, i)) == CONF_SCALAR)
            out_html_text(r->out, conf_text(conf_item(command, i)));
    }
}

/* Links to the tables that are there. */
static void write_files(const struct report *r)
{
    static const char *const name[] = {
        "summary.csv", "compare.csv", "jobs.csv", "phases.csv",
        "timeline.csv", "decisions.csv", "services.csv", "arrived.csv",
        "checks.csv", "border.csv", "sensitivity.csv", "failures.csv", "audit.json",
        "provenance.json", "trace.json"
    };

    for (size_t i = 0; i < COUNT_OF(name); i++)
        if (path_is_file(join_path(r, name[i])))
            out_printf(r->out, "<a href=\"%s\">%s</a> ", name[i], name[i]);
}

static const struct {
    const char *name;
    void (*put)(const struct report *r);
} parts[] = {
    { "answer", report_answer }, { "ground", report_ground },
    { "limits", write_limits }, { "notes", write_notes },
    { "points", write_points }, { "charts", write_charts },
    { "command", write_command }, { "files", write_files },
};

/* Returns the text of a name that is only a word; "" if there is none. */
static const char *find_word(const struct report *r, const char *name)
{
    const struct grid *grid = r->source.grid;

    if (strcmp(name, "experiment") == 0)
        return r->source.experiment;
    if (strcmp(name, "description") == 0)
        return report_word(r->made_from, name);
    if (strcmp(name, "seeds") == 0)
        return grid->seed_count == 1
                   ? "" : text_format(r->arena, "%u", grid->seed_count);
    return report_word(r->audit, name);
}

static size_t find_table(const char *name)
{
    size_t t = 0;

    while (t < REPORT_TABLES && strcmp(tables[t].name, name) != 0)
        t++;
    return t;
}

static bool part_is_there(void *self, const char *name)
{
    const struct report *r = self;
    size_t t = find_table(name);

    return t < REPORT_TABLES ? r->table[t] != NULL : find_word(r, name)[0] != '\0';
}

static void write_part(void *self, const char *name)
{
    const struct report *r = self;
    size_t t = find_table(name);

    if (t < REPORT_TABLES) {
        if (r->table[t] != NULL)
            sheet_html(r->table[t], tables[t].heads, r->out);
        return;
    }
    for (size_t i = 0; i < COUNT_OF(parts); i++)
        if (strcmp(parts[i].name, name) == 0) {
            parts[i].put(r);
            return;
        }
    out_html_text(r->out, find_word(r, name));
}

/* All tables are made before the page is opened: an error leaves the old page. */
static bool make_tables(struct report *r, struct err *err)
{
    for (size_t t = 0; t < REPORT_TABLES; t++) {
        r->table[t] = tables[t].make(r, err);
        if (err->kind != ERR_NONE)
            return false;
    }
    return true;
}

static bool write_page(struct report *r, struct err *err)
{
    const struct html_filler filler = { r, part_is_there, write_part };
    struct folder *folder = folder_make(r->arena, r->source.dir, err);
    bool ok;

    if (folder != NULL)
        r->out = out_in(r->arena, folder, "report.html", err);
    ok = r->out != NULL;
    if (ok)
        html_fill(r->out, page_file[0].text, &filler);
    ok = ok && out_close(r->out, err);
    folder_close(folder);
    return ok;
}

bool report_write(const char *dir, struct err *err)
{
    struct report r = { .arena = arena_new((size_t)1 << 16) };
    bool ok = plot_source_read(r.arena, dir, &r.source, err);

    if (ok) {
        r.made_from = read_json(&r, "provenance.json");
        r.audit = read_json(&r, "audit.json");
        ok = check_rows_read(&r.source, &r.checks, err) &&
             make_tables(&r, err) && write_page(&r, err);
    }
    for (size_t t = 0; t < REPORT_TABLES; t++)
        sheet_free(r.table[t]);
    if (!ok)
        plot_keep_err(err, dir);
    arena_free(r.arena);
    return ok;
}

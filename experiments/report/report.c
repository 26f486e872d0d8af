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
#include "experiments/decide/decide.h"
#include "experiments/report/check_rows.h"
#include "experiments/report/page_file.h"
#include "experiments/report/plot_data.h"
#include "experiments/report/report_html.h"
#include "experiments/report/report_parts.h"
#include "experiments/report/report_tables.h"
#include "experiments/report/services_table.h"
#include "experiments/results/grid.h"
#include "experiments/results/notes.h"
#include "experiments/results/survivors.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"
#include "sim/text/sheet.h"

/* Returns the path of a file of the folder. */
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

/* Returns the table of services; NULL: there are none, or err is set. */
static struct sheet *report_services(const struct report *r, struct err *err)
{
    const struct services_table *table =
        services_table_read(r->arena, r->source.dir, err);

    return table == NULL ? NULL : services_table_sheet(table, true);
}

/* The tables of the page, by their names in it. */
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
    { "partings", report_partings, 2 },
    { "services", report_services, 3 },
    { "audit", report_audit, 1 },
    { "provenance", report_provenance, 1 },
};

/* Writes what the plan of a policy does not tell apart, and where a limit of its own has a say
 * in what is shown. */
static void write_limits(const struct report *r)
{
    const struct conf_node *list = report_list(r->made_from, "policies");
    const struct grid *grid = r->source.grid;
    char text[600];

    for (uint32_t p = 0; p < grid->policy_count; p++)
        for (size_t i = 0; i < conf_count(list); i++) {
            const struct conf_node *item = conf_item(list, i);

            if (strcmp(report_word(item, "name"), grid->policy[p]) != 0)
                continue;
            if (conf_get(item, "warning") != NULL)
                html_element(r->out, "p", report_word(item, "warning"));
            if (!notes_limits(grid, p, conf_get(item, "limits") != NULL
                              ? report_word(item, "limits") : NULL, text, sizeof text))
                continue;
            html_element(r->out, "p", text);
            out_text(r->out, "\n");
        }
}

/* Writes what a reader of the figures must know, a paragraph each. */
static void write_notes(const struct report *r)
{
    struct notes notes = notes_of(r->arena, r->source.grid);

    for (size_t i = 0; i < notes.count; i++)
        html_element(r->out, "p", notes.line[i]);
}

/* Writes the tables of each point, and its seeds one by one. */
static void write_points(const struct report *r)
{
    for (uint32_t t = 0; t < r->source.grid->point_count; t++) {
        report_point(r->out, &r->source, t);
        report_seeds(r, t);
    }
}

/* Writes the command line of the run. */
static void put_command(const struct report *r)
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
        "timeline.csv", "decisions.csv", "services.csv", "tenants.csv", "arrived.csv",
        "seeds.csv", "metrics.csv", "checks.csv", "options.csv", "border.csv",
        "sensitivity.csv", "failures.csv", "audit.json", "provenance.json", "trace.json"
    };

    for (size_t i = 0; i < COUNT_OF(name); i++)
        if (path_is_file(join_path(r, name[i])))
            out_printf(r->out, "<a href=\"%s\">%s</a> ", name[i], name[i]);
}

/* Returns the text of a file of page/, which the build put into the program. */
static const char *page_text(const char *name)
{
    unsigned i = 0;

    while (strcmp(page_file[i].name, name) != 0)
        i++;
    return page_file[i].text;
}

/* Writes the style of the charts that can be zoomed. */
static void put_style(const struct report *r)
{
    out_text(r->out, page_text("uplot.min.css"));
}

/* Writes the scripts that draw them; the page needs nothing from elsewhere. */
static void put_script(const struct report *r)
{
    out_text(r->out, page_text("uplot.iife.min.js"));
    out_text(r->out, page_text("page.js"));
}

/* The parts of the page that are no tables, by their names in it. */
static const struct {
    const char *name;
    void (*put)(const struct report *r);
} parts[] = {
    { "answer", report_answer }, { "options", report_options }, { "ground", report_ground },
    { "limits", write_limits }, { "notes", write_notes },
    { "points", write_points }, { "charts", report_figures },
    { "command", put_command }, { "files", write_files },
    { "style", put_style }, { "script", put_script },
};

/* Returns "4", or "1 of 4" where trials failed, for the headline; "" of one
 * seed. */
static const char *seeds_word(const struct report *r)
{
    const struct grid *grid = r->source.grid;
    char seeds[SURVIVORS_BYTES];

    survivors_run_text(grid, 0, grid->point_count, seeds);
    return grid->seed_count == 1 ? "" : arena_text(r->arena, seeds);
}

/* Returns the text of a name that is only a word; "" if there is none. */
static const char *find_word(const struct report *r, const char *name)
{
    if (strcmp(name, "experiment") == 0)
        return r->source.experiment;
    if (strcmp(name, "description") == 0)
        return report_word(r->made_from, name);
    if (strcmp(name, "seeds") == 0)
        return seeds_word(r);
    if (strcmp(name, "options") == 0)
        return r->decision == NULL ? "" : "options";
    return report_word(r->audit, name);
}

/* Returns the place of a table by its name in the template; REPORT_TABLES: it is
 * none. */
static size_t find_table(const char *name)
{
    size_t t = 0;

    while (t < REPORT_TABLES && strcmp(tables[t].name, name) != 0)
        t++;
    return t;
}

/* Has the page that part?  Sections of parts that are not there are left out. */
static bool part_is_there(void *self, const char *name)
{
    const struct report *r = self;
    size_t t = find_table(name);

    return t < REPORT_TABLES ? r->table[t] != NULL : find_word(r, name)[0] != '\0';
}

/* Writes what stands at a name of the template: a table, a part, or a word. */
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

/* Makes all tables before the page is opened, so that an error leaves the old
 * page as it is. */
static bool make_tables(struct report *r, struct err *err)
{
    for (size_t t = 0; t < REPORT_TABLES; t++) {
        r->table[t] = tables[t].make(r, err);
        if (err->kind != ERR_NONE)
            return false;
    }
    return true;
}

/* Writes the page beside and renames it, so that it is there whole or not at all. */
static bool write_page(struct report *r, struct err *err)
{
    const struct html_filler filler = { r, part_is_there, write_part };
    struct folder *folder = folder_make(r->arena, r->source.dir, err);
    bool ok;

    if (folder != NULL)
        r->out = out_in(r->arena, folder, "report.html", err);
    ok = r->out != NULL;
    if (ok)
        html_fill(r->out, page_text("page.html"), &filler);
    ok = ok && out_close(r->out, err);
    folder_close(folder);
    return ok;
}

bool report_write(const char *dir, const struct grid *grid, struct err *err)
{
    struct report r = { .arena = arena_new((size_t)1 << 16) };
    bool ok = plot_source_read(r.arena, dir, grid, &r.source, err);

    if (ok) {
        r.made_from = read_json(&r, "provenance.json");
        r.audit = read_json(&r, "audit.json");
        ok = check_rows_read(&r.source, &r.checks, err) &&
             decide_read(r.arena, dir, r.source.grid, &r.decision, err) &&
             make_tables(&r, err) && write_page(&r, err);
    }
    for (size_t t = 0; t < REPORT_TABLES; t++)
        sheet_free(r.table[t]);
    if (!ok)
        plot_keep_err(err, dir);
    arena_free(r.arena);
    return ok;
}

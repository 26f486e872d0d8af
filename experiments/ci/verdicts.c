/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * verdicts.c - JUnit XML, Markdown, annotations of GitHub, code quality of GitLab, JSON.
 */
#include "experiments/ci/verdicts.h"

#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "experiments/decide/decide.h"
#include "sim/text/hash.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"

/* ---- what a verdict is to a CI system ---- */

/* The four states of a case of JUnit; BROKEN: its trial failed (<error>). */
enum weight { PASSED, SKIPPED, FAILED, BROKEN };

/* An undecided check is skipped, since it has found nothing worse; `check` ends with status 1
 * for it all the same.  One that was not judged is skipped only under --allow-not-judged. */
static enum weight weigh(const struct check_item *item, bool not_judged_passes)
{
    switch (item->verdict) {
    case CHECK_HOLDS: return PASSED;
    case CHECK_FAILS: return FAILED;
    case CHECK_UNDECIDED: return SKIPPED;
    case CHECK_NOT_JUDGED: return not_judged_passes ? SKIPPED : FAILED;
    default: return BROKEN;
    }
}

typedef void each_fn(void *self, const struct check_item *item, enum weight weight,
                     const struct verdict_place *place);

/* Calls fn for all items, list by list: expectations, the baseline, options. */
static void each(const struct verdicts *v, each_fn *fn, void *self)
{
    for (size_t i = 0; i < v->lists; i++)
        for (uint32_t k = 0; k < v->list[i].count; k++)
            fn(self, &v->list[i].item[k],
               weigh(&v->list[i].item[k], v->list[i].not_judged_passes), &v->place[i][k]);
}

/* Opens a file that the user named, in a folder that is made if it is not there; a job of
 * a CI system must not lose its verdicts for a folder.  NULL: err says why. */
static struct out *open_file(struct arena *arena, const char *path, struct err *err)
{
    return path_make_folder(path_beside(arena, path, "."), err) ? out_open(arena, path, err)
                                                                : NULL;
}

/* ---- JUnit ---- */

struct junit {
    struct out *out;
    const char *suite;          /* name of the experiment */
    uint32_t count, of[4];      /* by weight */
};

/* An each_fn: JUnit states the counts in its first line, so items are walked twice. */
static void count_case(void *self, const struct check_item *item, enum weight weight,
                       const struct verdict_place *place)
{
    struct junit *j = self;

    (void)item;
    (void)place;
    j->count++;
    j->of[weight]++;
}

/* The text is escaped as in HTML, which XML understands as well. */
static void put_attribute(struct out *out, const char *name, const char *text)
{
    out_printf(out, " %s=\"", name);
    out_html_text(out, text);
    out_text(out, "\"");
}

/* Writes a check as a case of JUnit: one that holds is an empty element, any other has an
 * element that says why. */
static void put_case(void *self, const struct check_item *item, enum weight weight,
                     const struct verdict_place *place)
{
    static const char *const element[] = { NULL, "skipped", "failure", "error" };
    struct junit *j = self;

    out_text(j->out, "  <testcase");
    put_attribute(j->out, "classname", j->suite);
    put_attribute(j->out, "name", item->name);
    if (place->pos.file != NULL && place->pos.line > 0) {
        put_attribute(j->out, "file", place->pos.file);
        out_printf(j->out, " line=\"%u\"", place->pos.line);
    }
    out_printf(j->out, " time=\"%.3f\"", place->wall_s);
    if (weight == PASSED) {
        out_text(j->out, "/>\n");
        return;
    }
    out_printf(j->out, ">\n    <%s", element[weight]);
    if (weight != SKIPPED)
        put_attribute(j->out, "type", check_verdict_name(item->verdict));
    put_attribute(j->out, "message", item->reason);
    out_text(j->out, "/>\n  </testcase>\n");
}

/* What was measured and is not in the baseline holds or breaks no check, so it is told as
 * properties. */
static void put_properties(struct junit *j, const struct verdicts *v)
{
    if (v->added_count == 0)
        return;
    out_text(j->out, "  <properties>\n");
    for (uint32_t i = 0; i < v->added_count; i++) {
        out_printf(j->out, "    <property name=\"not in the baseline: %s\"",
                   v->added[i].kind);
        put_attribute(j->out, "value", v->added[i].name);
        out_text(j->out, "/>\n");
    }
    out_text(j->out, "  </properties>\n");
}

bool verdicts_junit(struct arena *arena, const char *path, const struct verdicts *v,
                    struct err *err)
{
    struct junit j = { .out = open_file(arena, path, err), .suite = v->title };

    if (j.out == NULL)
        return false;
    each(v, count_case, &j);
    out_text(j.out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite");
    put_attribute(j.out, "name", v->title);
    out_printf(j.out, " tests=\"%u\" failures=\"%u\" errors=\"%u\" skipped=\"%u\" "
               "time=\"%.3f\">\n", j.count, j.of[FAILED], j.of[BROKEN], j.of[SKIPPED],
               v->wall_s);
    put_properties(&j, v);
    each(v, put_case, &j);
    out_text(j.out, "</testsuite>\n");
    return out_close(j.out, err);
}

/* ---- Markdown ---- */

/* An each_fn: a row of the Markdown table. */
static void put_line(void *self, const struct check_item *item, enum weight weight,
                     const struct verdict_place *place)
{
    struct sheet *sheet = self;

    (void)weight;
    (void)place;
    sheet_cell(sheet, "%s", check_verdict_name(item->verdict));
    sheet_cell(sheet, "%s", item->name);
    sheet_cell(sheet, "%s", item->reason);
}

bool verdicts_markdown(struct arena *arena, const char *path, const struct verdicts *v,
                       struct err *err)
{
    struct out *out = open_file(arena, path, err);
    struct sheet *sheet;

    if (out == NULL)
        return false;
    out_printf(out, "## %s\n\n", v->title);
    sheet = sheet_new("verdict:0\texpected:0\tfound:0");
    each(v, put_line, sheet);
    sheet_markdown(sheet, out);
    sheet_free(sheet);
    if (v->decision != NULL) {
        out_text(out, "\n");
        decide_markdown(out, v->decision);
    }
    for (uint32_t i = 0; i < v->added_count; i++)
        out_printf(out, "%s- not in the baseline: %s %s\n", i == 0 ? "\n" : "",
                   v->added[i].kind, v->added[i].name);
    return out_close(out, err);
}

/* ---- GitHub ---- */

/* A value of a property ends at a comma, a message at the end of the line. */
static void put_escaped(FILE *file, const char *text, bool property)
{
    for (; *text != '\0'; text++)
        if (*text == '%' || *text == '\n' || *text == '\r' ||
            (property && (*text == ',' || *text == ':')))
            fprintf(file, "%%%02X", (unsigned char)*text);
        else
            fputc(*text, file);
}

/* Writes where an annotation belongs, as GitHub reads it: file, line and column, each only
 * if it is known. */
static void put_place(FILE *file, const struct err_pos *pos)
{
    if (pos->file == NULL)
        return;
    fputs(" file=", file);
    put_escaped(file, pos->file, true);
    if (pos->line > 0)
        fprintf(file, ",line=%u", pos->line);
    if (pos->line > 0 && pos->col > 0)
        fprintf(file, ",col=%u", pos->col);
    fputc(',', file);
}

/* Writes a command of GitHub Actions for each check that does not hold: a warning for one
 * that was skipped, else an error. */
static void put_annotation(void *self, const struct check_item *item, enum weight weight,
                           const struct verdict_place *place)
{
    FILE *file = self;

    if (weight == PASSED)
        return;
    fputs(weight == SKIPPED ? "::warning" : "::error", file);
    put_place(file, &place->pos);
    fputs(place->pos.file == NULL ? " title=" : "title=", file);
    put_escaped(file, check_verdict_name(item->verdict), true);
    fputs("::", file);
    put_escaped(file, item->name, false);
    fputs(": ", file);
    put_escaped(file, item->reason, false);
    fputc('\n', file);
}

void verdicts_github(FILE *file, const struct verdicts *v)
{
    each(v, put_annotation, file);
    for (uint32_t i = 0; i < v->added_count; i++) {
        const struct verdict_new *added = &v->added[i];

        fputs("::notice", file);
        put_place(file, &added->pos);
        fprintf(file, "%stitle=not in the baseline::%s ", added->pos.file == NULL ? " " : "",
                added->kind);
        put_escaped(file, added->name, false);
        fputc('\n', file);
    }
}

void verdicts_github_err(FILE *file, const struct err *err)
{
    for (; err != NULL; err = err->next) {
        fputs("::error", file);
        put_place(file, &err->pos);
        fputs(err->pos.file == NULL ? " title=" : "title=", file);
        put_escaped(file, "clustersim check", true);
        fputs("::", file);
        put_escaped(file, err->text, false);
        if (err->hint[0] != '\0') {
            fputc(' ', file);
            put_escaped(file, err->hint, false);
        }
        fputc('\n', file);
    }
}

/* ---- GitLab ---- */

struct quality {
    struct arena *arena;
    struct out *out;
    const char *title;
    bool any;                   /* an entry was written: the next one needs a comma */
};

/* A path in the repository does not begin with "./". */
static const char *repository_path(const char *path)
{
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return path;
}

/* Writes a finding.  Its fingerprint is of the title and `name` alone, so that it stays the
 * same in the next run. */
static void put_finding(struct quality *q, const char *name, const char *description,
                        const char *check, const char *severity, const struct err_pos *pos)
{
    char print[24];

    snprintf(print, sizeof print, "%016" PRIx64,
             hash_text(hash_text(HASH_START, q->title), name));
    out_text(q->out, q->any ? ",\n  {" : "\n  {");
    q->any = true;
    out_text(q->out, "\"description\": ");
    out_json_text(q->out, description);
    out_printf(q->out, ", \"check_name\": \"clustersim: %s\", \"fingerprint\": \"%s\", "
               "\"severity\": \"%s\", \"location\": {\"path\": ", check, print, severity);
    out_json_text(q->out, pos->file == NULL ? q->title : repository_path(pos->file));
    out_printf(q->out, ", \"lines\": {\"begin\": %u}}}", pos->line > 0 ? pos->line : 1);
}

/* An each_fn: what is passed is no finding.  By severity GitLab colours the entry. */
static void put_quality(void *self, const struct check_item *item, enum weight weight,
                        const struct verdict_place *place)
{
    static const char *const severity[] = { "", "minor", "critical", "blocker" };
    struct quality *q = self;

    if (weight != PASSED)
        put_finding(q, item->name, text_format(q->arena, "%s: %s", item->name, item->reason),
                    check_verdict_name(item->verdict), severity[weight], &place->pos);
}

/* Findings of what the baseline lacks. */
static void put_added(struct quality *q, const struct verdicts *v)
{
    for (uint32_t i = 0; i < v->added_count; i++) {
        const struct verdict_new *added = &v->added[i];
        const char *what = text_format(q->arena, "not in the baseline: %s %s", added->kind,
                                       added->name);

        put_finding(q, what, what, "not in the baseline", "info", &added->pos);
    }
}

bool verdicts_code_quality(struct arena *arena, const char *path, const struct verdicts *v,
                           struct err *err)
{
    struct quality q = { arena, open_file(arena, path, err), v->title, false };

    if (q.out == NULL)
        return false;
    out_text(q.out, "[");
    each(v, put_quality, &q);
    put_added(&q, v);
    out_text(q.out, q.any ? "\n]\n" : "]\n");
    return out_close(q.out, err);
}

/* ---- JSON ---- */

/* A member behind others: it begins with a comma.  `text` NULL: null. */
static void put_member(struct out *out, const char *key, const char *text)
{
    out_printf(out, ", \"%s\": ", key);
    if (text == NULL)
        out_text(out, "null");
    else
        out_json_text(out, text);
}

/* JSON has no NAN and no infinity: null. */
static void put_number(struct out *out, const char *key, double value)
{
    if (isfinite(value))
        out_printf(out, ", \"%s\": %.9g", key, value);
    else
        out_printf(out, ", \"%s\": null", key);
}

/* Writes what an expectation says and what was measured: its limits, value and interval. */
static void put_expected(struct out *out, const struct check_item *item)
{
    const struct experiment_expect *e = item->expect;

    put_member(out, "claim", e->claim);
    put_member(out, "metric", item->metric);
    put_member(out, "vs", e->versus != NULL ? e->versus : e->versus_point);
    put_number(out, "at_least", e->low);
    put_number(out, "at_most", e->high);
    out_printf(out, ", \"percent\": %s", e->percent ? "true" : "false");
    out_printf(out, ", \"seeds\": %u", item->seeds);
    put_number(out, "value", item->value);
    put_number(out, "ci_low", item->low);
    put_number(out, "ci_high", item->high);
}

/* Writes a check as an object of JSON; what is not known is left out. */
static void put_item(struct out *out, const char *kind, const struct check_item *item,
                     const struct verdict_place *place)
{
    out_printf(out, "{\"kind\": \"%s\"", kind);
    put_member(out, "verdict", check_verdict_name(item->verdict));
    put_member(out, "name", item->name);
    put_member(out, "reason", item->reason);
    put_member(out, "point", item->point);
    put_member(out, "policy", item->policy);
    put_member(out, "file", place->pos.file);
    if (place->pos.line > 0)
        out_printf(out, ", \"line\": %u", place->pos.line);
    if (item->expect != NULL)
        put_expected(out, item);
    out_text(out, "}");
}

void verdicts_json(struct out *out, const struct verdicts *v, int status)
{
    static const char *const kind[] = { "expectation", "regression", "option" };
    uint32_t count = 0, held = 0;

    assert(v->lists <= sizeof kind / sizeof kind[0]);
    for (size_t i = 0; i < v->lists; i++) {
        count += v->list[i].count;
        held += v->list[i].held;
    }
    out_text(out, "{\"experiment\": ");
    out_json_text(out, v->title);
    out_printf(out, ", \"status\": %d, \"checks\": %u, \"held\": %u, \"verdicts\": [",
               status, count, held);
    count = 0;
    for (size_t i = 0; i < v->lists; i++)
        for (uint32_t k = 0; k < v->list[i].count; k++) {
            out_text(out, count++ > 0 ? ",\n  " : "\n  ");
            put_item(out, kind[i], &v->list[i].item[k], &v->place[i][k]);
        }
    out_text(out, count > 0 ? "\n], \"not_in_baseline\": [" : "], \"not_in_baseline\": [");
    for (uint32_t i = 0; i < v->added_count; i++) {
        out_printf(out, "%s{\"kind\": \"%s\"", i > 0 ? ", " : "", v->added[i].kind);
        put_member(out, "name", v->added[i].name);
        out_text(out, "}");
    }
    out_text(out, "]}\n");
}

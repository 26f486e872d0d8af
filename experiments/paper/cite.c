/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cite.c - entries of BibTeX.
 */
#include "experiments/paper/cite.h"

#include <assert.h>
#include <string.h>

#include "experiments/paper/cite_file.h"
#include "experiments/works/works.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

/* What BibTeX calls the place of a work of that type; NULL: it has none.  NULL as well for a
 * type that BibTeX has no such field for, such as a report. */
static const char *venue_field(const char *type)
{
    return strcmp(type, "article") == 0 ? "journal"
         : strcmp(type, "inproceedings") == 0 ? "booktitle"
         : strcmp(type, "book") == 0 ? "publisher" : NULL;
}

/* Prints a work as an entry; work->more holds whole fields of BibTeX. */
static void print_work(FILE *file, const struct work *work)
{
    const char *venue = venue_field(work->type);

    fprintf(file, "@%s{%s,\n  author = {%s},\n  title = {%s},\n", work->type, work->key,
            work->authors, work->title);
    if (venue != NULL)
        fprintf(file, "  %s = {%s},\n", venue, work->venue);
    if (work->more[0] != '\0')
        fprintf(file, "  %s,\n", work->more);
    fprintf(file, "  year = {%d}\n}\n", work->year);
}

/* A text of the embedded file, which a test holds to be there. */
static const char *own_text(const struct conf_node *tree, const char *path)
{
    const struct conf_node *node = conf_find(tree, path);

    assert(node != NULL && conf_kind(node) == CONF_SCALAR);
    return conf_text(node);
}

void cite_print_own(struct arena *arena, FILE *file)
{
    struct err err = { 0 };
    const struct conf_node *tree = conf_parse(arena, cite_file[0].name, cite_file[0].text,
                                              cite_file[0].bytes, &err);

    assert(tree != NULL);
    fprintf(file, "@misc{clustersim,\n  author = {{%s}},\n  title = {%s},\n"
            "  howpublished = {Computer program, version %s},\n  year = {%.4s}\n}\n",
            own_text(tree, "authors.0.name"), own_text(tree, "title"),
            own_text(tree, "version"), own_text(tree, "date-released"));
}

void cite_print_experiment(FILE *file, const struct experiment *experiment)
{
    const struct work *work;

    for (unsigned i = 0; (work = work_at(i)) != NULL; i++)
        if (work_is_used(work, experiment)) {
            fputc('\n', file);
            print_work(file, work);
        }
}

/* All works are looked up before anything is printed. */
bool cite_print_folder(struct arena *arena, FILE *file, const char *dir, struct err *err)
{
    const struct conf_node *tree = conf_load(arena, path_join(arena, dir,
                                                              "provenance.json"), err);
    const struct conf_node *list;
    const struct work **work;
    size_t count;

    if (tree == NULL)
        return false;
    list = conf_kind(tree) == CONF_MAP ? conf_get(tree, "cites") : NULL;
    if (list == NULL || conf_kind(list) != CONF_LIST) {
        err_set(err, ERR_SCHEMA, conf_pos(tree), "key 'cites' is not there");
        return err_hint(err, "An earlier version wrote it; name the experiment file, or run "
                        "it again.");
    }
    count = conf_count(list);
    work = arena_alloc(arena, count + 1, sizeof(*work));
    for (size_t i = 0; i < count; i++) {
        const struct conf_node *item = conf_item(list, i);

        work[i] = conf_kind(item) != CONF_SCALAR ? NULL : work_find(conf_text(item));
        if (work[i] == NULL)
            return err_set(err, ERR_REFERENCE, conf_pos(item), "there is no such work");
    }
    cite_print_own(arena, file);
    for (size_t i = 0; i < count; i++) {
        fputc('\n', file);
        print_work(file, work[i]);
    }
    return true;
}

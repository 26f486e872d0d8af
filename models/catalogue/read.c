/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * read.c - the catalogue's files into forms: those that travel inside
 * the program, then the user's.
 *
 * Every key of a form may be absent from one file, so that a user's file can
 * override single keys.
 */
#include "models/catalogue/form.h"

#include <assert.h>
#include <string.h>

#include "models/catalogue/catalogue_file.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"

static const char *const section_name[CATALOGUE_SECTION_COUNT + 1] = {
    "gpus", "cpus", "links", "prices", "llms", "nets",
    "applications", "instances", NULL
};

/* Adds a zeroed entry of that name to a section; entries may move. */
static struct form *add_form(struct catalogue *catalogue, int which,
                             const char *name)
{
    assert(which >= 0 && which < CATALOGUE_SECTION_COUNT);
    assert(name != NULL);
    struct section *s = &catalogue->section[which];
    size_t bytes = catalogue_form_bytes[which];

    if (s->count == s->room)
        s->forms = arena_reach_size(catalogue->arena, s->forms, &s->room,
                                    s->count, bytes);
    s->count++;
    struct form *form = catalogue_form_at(catalogue, which, s->count - 1);
    form->name = arena_text(catalogue->arena, name);
    return form;
}

/* Reads the entries of one section; an entry that an earlier file has keeps
 * what this one leaves out. */
static bool read_section(struct catalogue *catalogue, int which,
                         const struct conf_node *map, struct err *err)
{
    assert(which >= 0 && which < CATALOGUE_SECTION_COUNT);
    assert(err != NULL);
    if (conf_kind(map) != CONF_MAP) {
        return err_set(err, ERR_SCHEMA, conf_pos(map),
                       "'%s' must be a mapping of names to entries",
                       section_name[which]);
    }
    for (size_t i = 0; i < conf_count(map); i++) {
        const char *name = conf_key(map, i);
        struct form *form = catalogue_form_find(catalogue, which, name);
        if (!form) {
            form = add_form(catalogue, which, name);
        }
        form->pos = conf_key_pos(map, i);
        form->conf = conf_value(map, i);
        if (!conf_fill(conf_value(map, i), &catalogue_schema[which], form,
                       err)) {
            return false;
        }
    }
    return true;
}

/* -1: no section has that name, which is a misspelt key of the file. */
static int find_section_of(const char *name)
{
    assert(name != NULL);
    for (int i = 0; i < CATALOGUE_SECTION_COUNT; i++) {
        if (strcmp(name, section_name[i]) == 0) {
            return i;
        }
    }
    return -1;
}

/* Reads one file: a map of sections. */
static bool read_root(struct catalogue *catalogue,
                      const struct conf_node *root, struct err *err)
{
    assert(root != NULL && err != NULL);
    if (conf_kind(root) != CONF_MAP) {
        return err_set(err, ERR_SCHEMA, conf_pos(root),
                       "a catalogue is a mapping with any of gpus, cpus, "
                       "links, prices, llms, nets, applications, instances");
    }
    for (size_t i = 0; i < conf_count(root); i++) {
        const char *key = conf_key(root, i);
        int which = find_section_of(key);
        if (which < 0) {
            const char *near = conf_nearest(key, section_name);
            err_set(err, ERR_SCHEMA, conf_key_pos(root, i),
                    "unrecognized key '%s' in a catalogue; allowed: gpus, "
                    "cpus, links, prices, llms, nets, applications, "
                    "instances", key);
            return near ? err_hint(err, "Did you mean '%s'?", near) : false;
        }
        if (!read_section(catalogue, which, conf_value(root, i), err)) {
            return false;
        }
    }
    return true;
}

/* Lists the names of each section once no more can come. */
static void list_names(struct catalogue *catalogue)
{
    for (int which = 0; which < CATALOGUE_SECTION_COUNT; which++) {
        struct section *s = &catalogue->section[which];
        s->names = arena_alloc(catalogue->arena, s->count + 1,
                               sizeof *s->names);
        for (size_t i = 0; i < s->count; i++) {
            s->names[i] = catalogue_form_at(catalogue, which, i)->name;
        }
    }
}

/* The built-in files first, then the caller's, whose entries may extend or
 * replace them; then all are closed together, so that a later file may
 * complete an earlier one. */
const struct catalogue *catalogue_read(struct arena *arena,
                                       const struct conf_node *const *roots,
                                       size_t count, struct err *err)
{
    assert(arena && err && (roots || count == 0));
    struct catalogue *catalogue = arena_alloc(arena, 1, sizeof *catalogue);

    catalogue->arena = arena;
    for (unsigned i = 0; i < catalogue_file_count; i++) {
        const struct catalogue_file *f = &catalogue_file[i];
        const struct conf_node *root = conf_parse(arena, f->name, f->text,
                                                  f->bytes, err);
        if (!root || !read_root(catalogue, root, err)) {
            return NULL;
        }
    }
    for (size_t i = 0; i < count; i++) {
        if (!read_root(catalogue, roots[i], err)) {
            return NULL;
        }
    }
    list_names(catalogue);
    return catalogue_close(catalogue, err) ? catalogue : NULL;
}

const struct catalogue *catalogue_load(struct arena *arena,
                                       const char *const *extra_paths,
                                       size_t extra_count, struct err *err)
{
    assert(arena && err && (extra_paths || extra_count == 0));
    const struct conf_node **root = arena_alloc(arena, extra_count + 1,
                                                sizeof *root);

    for (size_t i = 0; i < extra_count; i++) {
        root[i] = conf_load(arena, extra_paths[i], err);
        if (!root[i]) {
            return NULL;
        }
    }
    return catalogue_read(arena, root, extra_count, err);
}

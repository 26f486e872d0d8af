/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * told.c - errors as values.
 */
#include "experiments/library/run.h"

#include <assert.h>
#include <string.h>

#include "experiments/schema/key_tables.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

static bool is_at(struct err_pos a, struct err_pos b)
{
    return a.line == b.line && a.col == b.col;
}

/* Returns the dotted path of what stands there, or NULL. */
static const char *key_within(struct arena *arena, const struct conf_node *node,
                              struct err_pos pos, const char *path)
{
    const char *found = NULL;
    bool map = conf_kind(node) == CONF_MAP;

    if (conf_kind(node) == CONF_SCALAR)
        return is_at(conf_pos(node), pos) ? path : NULL;
    for (size_t i = 0; i < conf_count(node) && found == NULL; i++) {
        const char *dot = path[0] == '\0' ? "" : ".";
        const char *inner = map ? text_format(arena, "%s%s%s", path, dot, conf_key(node, i))
                                : text_format(arena, "%s%s%zu", path, dot, i);

        found = map && is_at(conf_key_pos(node, i), pos) ? inner
            : key_within(arena, map ? conf_value(node, i) : conf_item(node, i), pos, inner);
    }
    return found == NULL && is_at(conf_pos(node), pos) && path[0] != '\0' ? path : found;
}

#define SET "--set "            /* how conf_set_text() names what a setting says */

/* Returns the key that an error is about, by the place where it stands; NULL: none. */
static const char *key_of(const struct clustersim *run, const struct err *err)
{
    struct arena *arena = run->arena;
    const char *text = run->options.text, *path = NULL, *file = err->pos.file;
    const struct conf_node *root = NULL;
    struct err ignored = { 0 };

    if (err->pos.line == 0 || file == NULL)
        return err->fault == FAULT_MISSING ? err->key : NULL;
    if (strncmp(file, SET, strlen(SET)) == 0)   /* what a setting says, and its key */
        path = arena_text(arena, file + strlen(SET));
    else if (text != NULL && run->path != NULL && strcmp(file, run->path) == 0)
        root = conf_parse(arena, file, text, strlen(text), &ignored);
    else if (path_is_file(file))
        root = conf_load(arena, file, &ignored);
    if (root != NULL)
        path = key_within(arena, root, err->pos, "");
    if (err->fault != FAULT_MISSING)
        return path;
    return path == NULL ? err->key : text_format(arena, "%s.%s", path, err->key);
}

/* Can an error of that kind stand at a key of the experiment? */
static bool is_of_experiment(const struct err *err)
{
    return err->kind == ERR_SCHEMA || err->kind == ERR_RANGE || err->kind == ERR_REFERENCE ||
           err->kind == ERR_POLICY || err->kind == ERR_IO;
}

struct told *told_new(struct clustersim *run, const struct err *err)
{
    struct told *told = arena_alloc(run->arena, 1, sizeof *told);

    assert(err->kind != ERR_NONE);
    told->err = *key_tables_hint(run->arena, err);
    told->error = (struct clustersim_error){
        .status = err_exit_status(err->kind), .kind = err_kind_name(err->kind),
        .message = told->err.text,
        .hint = told->err.hint[0] == '\0' ? NULL : told->err.hint,
        .file = err->pos.file, .line = err->pos.line, .column = err->pos.col,
        .key = is_of_experiment(err) ? key_of(run, err) : NULL,
        .next = err->next == NULL ? NULL : &told_new(run, err->next)->error
    };
    return told;
}

void told_warn(void *self, const struct err *err)
{
    struct clustersim *run = self;
    struct told *told = told_new(run, err);

    if (run->last_warning == NULL)
        run->warning = told;
    else
        run->last_warning->error.next = &told->error;
    run->last_warning = told;
}

const char *clustersim_error_text(struct clustersim *run,
                                  const struct clustersim_error *error)
{
    const struct err *err = &((const struct told *)(const void *)error)->err;
    const char *source = run->options.text;
    size_t bytes = err_format_text(err, run->path, source, NULL, 0) + 1;
    char *text = arena_alloc(run->arena, bytes, 1);

    (void)err_format_text(err, run->path, source, text, bytes);
    return text;
}

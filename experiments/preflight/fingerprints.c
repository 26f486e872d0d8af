/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fingerprints.c - one list of JSON objects, in two files.
 */
#include "experiments/preflight/fingerprints.h"

#include <inttypes.h>
#include <string.h>

#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/folder.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"
#include "sim/text/sheet.h"
#include "workloads/source.h"

/* Returns an empty set with room for `count`. */
static struct fingerprints *make_set(struct arena *arena, uint32_t count, const char ***point,
                                     const char ***text)
{
    struct fingerprints *out = arena_alloc(arena, 1, sizeof *out);

    *point = arena_alloc(arena, count + 1, sizeof **point);
    *text = arena_alloc(arena, count + 1, sizeof **text);
    out->point = *point;
    out->text = *text;
    return out;
}

/* A sweep over the cluster has one workload, which is drawn once. */
const struct fingerprints *fingerprints_draw(struct arena *arena,
                                             const struct experiment *experiment)
{
    const char **point, **text;
    struct fingerprints *out = make_set(arena, experiment->point_count, &point, &text);

    for (uint32_t t = 0; t < experiment->point_count; t++) {
        const struct workload_spec *workload = experiment->point[t].workload;

        point[t] = experiment->point[t].label;
        text[t] = t > 0 && workload == experiment->point[t - 1].workload
            ? text[t - 1]
            : text_format(arena, "%016" PRIx64,
                          workload_fingerprint(workload, experiment->seed, 0));
    }
    out->count = experiment->point_count;
    return out;
}

void fingerprints_put(struct out *out, const struct fingerprints *fingerprints)
{
    struct sheet *sheet = sheet_new("point:0\tfingerprint:0");

    for (uint32_t t = 0; fingerprints != NULL && t < fingerprints->count; t++) {
        sheet_cell(sheet, "%s", fingerprints->point[t]);
        sheet_cell(sheet, "%s", fingerprints->text[t]);
    }
    sheet_json(sheet, out);
    sheet_free(sheet);
}

bool fingerprints_write(struct arena *arena, const struct folder *dir,
                        const struct fingerprints *fingerprints, struct err *err)
{
    struct out *out;

    if (fingerprints == NULL)
        return folder_remove(arena, dir, FINGERPRINTS_FILE, err);
    out = out_in(arena, dir, FINGERPRINTS_FILE, err);
    if (out == NULL)
        return false;
    out_text(out, "{\n  \"jobs\": ");
    fingerprints_put(out, fingerprints);
    out_text(out, "\n}\n");
    return out_close(out, err);
}

/* Sets *list to that of the file, or to NULL: there is none.  False: err says what is
 * wrong. */
static bool read_list(struct arena *arena, const char *path, const struct conf_node **list,
                      struct err *err)
{
    const struct conf_node *tree = path_is_file(path) ? conf_load(arena, path, err) : NULL;

    *list = NULL;
    if (tree == NULL)
        return !path_is_file(path);
    *list = conf_kind(tree) == CONF_MAP ? conf_get(tree, "jobs") : NULL;
    if (*list == NULL || conf_kind(*list) == CONF_LIST)
        return true;
    return err_set(err, ERR_SCHEMA, conf_pos(*list), "jobs must be a list of fingerprints");
}

/* Returns the text under a key of an item; NULL: there is none. */
static const char *item_text(const struct conf_node *item, const char *key)
{
    const struct conf_node *node = conf_kind(item) == CONF_MAP ? conf_get(item, key) : NULL;

    return node != NULL && conf_kind(node) == CONF_SCALAR ? conf_text(node) : NULL;
}

bool fingerprints_read(struct arena *arena, const char *dir, const struct fingerprints **out,
                       struct err *err)
{
    const char *own = path_join(arena, dir, FINGERPRINTS_FILE), **point, **text;
    const char *path = path_is_file(own) ? own : path_join(arena, dir, "provenance.json");
    const struct conf_node *list;
    struct fingerprints *set;

    *out = NULL;
    if (!read_list(arena, path, &list, err))
        return false;
    if (list == NULL)
        return true;
    *out = set = make_set(arena, (uint32_t)conf_count(list), &point, &text);
    for (; set->count < conf_count(list); set->count++) {
        const struct conf_node *item = conf_item(list, set->count);

        point[set->count] = item_text(item, "point");
        text[set->count] = item_text(item, "fingerprint");
        if (point[set->count] == NULL || text[set->count] == NULL)
            return err_set(err, ERR_SCHEMA, conf_pos(item),
                           "a fingerprint must have a point and a fingerprint");
    }
    return true;
}

/* Returns the digits of a point, which is looked for at `near` first; NULL: they are not
 * known. */
static const char *find_text(const struct fingerprints *fingerprints, const char *point,
                             uint32_t near)
{
    if (fingerprints != NULL && near < fingerprints->count &&
        strcmp(fingerprints->point[near], point) == 0)
        return fingerprints->text[near];
    for (uint32_t t = 0; fingerprints != NULL && t < fingerprints->count; t++)
        if (strcmp(fingerprints->point[t], point) == 0)
            return fingerprints->text[t];
    return NULL;
}

bool fingerprints_know(const struct fingerprints *fingerprints, const char *point,
                       uint32_t near)
{
    const char *text = find_text(fingerprints, point, near);

    return text != NULL && *text != '\0';
}

bool fingerprints_differ(const struct fingerprints *a, const struct fingerprints *b,
                         const char *point, uint32_t near)
{
    return fingerprints_know(a, point, near) && fingerprints_know(b, point, near) &&
           strcmp(find_text(a, point, near), find_text(b, point, near)) != 0;
}

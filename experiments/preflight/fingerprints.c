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

/* Returns an empty set with room for so many. */
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

/* Returns the list of the file, or NULL. */
static const struct conf_node *read_list(struct arena *arena, const char *path)
{
    struct err ignored = { 0 };
    const struct conf_node *tree =
        path_is_file(path) ? conf_load(arena, path, &ignored) : NULL;
    const struct conf_node *list =
        tree != NULL && conf_kind(tree) == CONF_MAP ? conf_get(tree, "jobs") : NULL;

    return list != NULL && conf_kind(list) == CONF_LIST ? list : NULL;
}

/* Returns the text under a key of an item; NULL: there is none. */
static const char *item_text(const struct conf_node *item, const char *key)
{
    const struct conf_node *node = conf_kind(item) == CONF_MAP ? conf_get(item, key) : NULL;

    return node != NULL && conf_kind(node) == CONF_SCALAR ? conf_text(node) : NULL;
}

const struct fingerprints *fingerprints_read(struct arena *arena, const char *dir)
{
    const char *own = path_join(arena, dir, FINGERPRINTS_FILE);
    const struct conf_node *list = read_list(
        arena, path_is_file(own) ? own : path_join(arena, dir, "provenance.json"));
    const char **point, **text;
    struct fingerprints *out;

    if (list == NULL)
        return NULL;
    out = make_set(arena, (uint32_t)conf_count(list), &point, &text);
    for (size_t i = 0; i < conf_count(list); i++) {
        point[out->count] = item_text(conf_item(list, i), "point");
        text[out->count] = item_text(conf_item(list, i), "fingerprint");
        out->count += point[out->count] != NULL && text[out->count] != NULL;
    }
    return out;
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

bool fingerprints_differ(const struct fingerprints *a, const struct fingerprints *b,
                         const char *point, uint32_t near)
{
    const char *left = find_text(a, point, near), *right = find_text(b, point, near);

    return left != NULL && right != NULL && strcmp(left, right) != 0;
}

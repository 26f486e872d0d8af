/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * catalogue_files.c - see the header.
 */
#include "experiments/spec/catalogue_files.h"

#include "models/catalogue/catalogue.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"

const struct catalogue *catalogue_files_load(struct arena *arena,
                                             const struct conf_node *node,
                                             struct err *err)
{
    size_t count = node == NULL ? 0
                 : conf_kind(node) == CONF_LIST ? conf_count(node) : 1;
    const char **path = arena_alloc(arena, count + 1, sizeof *path);

    for (size_t i = 0; i < count; i++) {
        const struct conf_node *item =
            conf_kind(node) == CONF_LIST ? conf_item(node, i) : node;

        if (conf_kind(item) != CONF_SCALAR) {
            err_set(err, ERR_SCHEMA, conf_pos(item),
                    "catalogue must be a file or a list of files");
            return NULL;
        }
        path[i] = path_beside(arena, conf_pos(item).file, conf_text(item));
        if (!path_is_file(path[i])) {
            err_set(err, ERR_IO, conf_pos(item), "catalogue names the file "
                    "'%.150s', which is not there", path[i]);
            err_hint_path(err, path[i], "Paths are relative to the file that "
                          "names them.");
            return NULL;
        }
    }
    return catalogue_load(arena, path, count, err);
}

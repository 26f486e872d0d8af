/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scratch.c - mkdtemp, and its end.
 */
#include "experiments/process/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

const char *scratch_make(struct arena *arena, struct err *err)
{
    const char *base = getenv("TMPDIR");
    char *dir = text_format(arena, "%s/clustersim-XXXXXX",
                            base == NULL || base[0] != '/' ? "/tmp" : base);
    struct err_pos pos = { dir, 0, 0 };

    if (mkdtemp(dir) != NULL)
        return dir;
    err_set(err, ERR_IO, pos, "the folder cannot be made: %s", strerror(errno));
    return NULL;
}

/* Removes a folder and all in it; links are removed, not followed.  What cannot be
 * removed stays, without a word. */
static void remove_tree(int parent, const char *name)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *item;

    if (list == NULL && fd >= 0)
        (void)close(fd);
    while (list != NULL && (item = readdir(list)) != NULL)
        if (strcmp(item->d_name, ".") != 0 && strcmp(item->d_name, "..") != 0 &&
            unlinkat(fd, item->d_name, 0) != 0)
            remove_tree(fd, item->d_name);
    if (list != NULL)
        (void)closedir(list);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

void scratch_remove(const char *dir)
{
    remove_tree(AT_FDCWD, dir);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scratch.c - a folder for results that goes with the run.
 */
#include "experiments/library/run.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/paths.h"

bool scratch_make(struct clustersim *run, struct err *err)
{
    const char *base = getenv("TMPDIR");
    char *dir = text_format(run->arena, "%s/clustersim-XXXXXX",
                            base == NULL || base[0] == '\0' ? "/tmp" : base);
    struct err_pos pos = { dir, 0, 0 };

    if (mkdtemp(dir) == NULL)
        return err_set(err, ERR_IO, pos, "the folder cannot be made: %s", strerror(errno));
    run->dir = dir;
    run->temporary = true;
    return true;
}

/* Removes what is in a folder; no link is followed.  `depth` folders may lie in it. */
static void remove_within(int parent, const char *name, unsigned depth)
{
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);
    const struct dirent *item;

    if (list == NULL && fd >= 0)
        (void)close(fd);
    while (list != NULL && (item = readdir(list)) != NULL) {
        if (strcmp(item->d_name, ".") == 0 || strcmp(item->d_name, "..") == 0)
            continue;
        if (unlinkat(fd, item->d_name, 0) != 0 && depth > 0)
            remove_within(fd, item->d_name, depth - 1);
    }
    if (list != NULL)
        (void)closedir(list);
    (void)unlinkat(parent, name, AT_REMOVEDIR);
}

void scratch_remove(const char *dir)
{
    remove_within(AT_FDCWD, dir, 2);
}

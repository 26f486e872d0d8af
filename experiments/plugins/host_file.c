/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * host_file.c - asks the dynamic linker.
 */
#define _GNU_SOURCE             /* dladdr, realpath */
#include "experiments/plugins/host_file.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/process/self.h"
#include "sim/base/arena.h"

/* The name by which the linker knows the file; "": it is the program. */
static const char *linked_name(void)
{
    const char *(*own)(struct arena *) = host_file_path;
    Dl_info info;
    void *entry;

    memcpy(&entry, &own, sizeof entry);
    if (dladdr(entry, &info) == 0 || info.dli_fname == NULL)
        return "";
    /* A library has its path; the program, what it was called by. */
    return strchr(info.dli_fname, '/') == NULL ? "" : info.dli_fname;
}

const char *host_file_path(struct arena *arena)
{
    const char *name = linked_name();
    void *handle = name[0] == '\0' ? NULL : dlopen(name, RTLD_NOW | RTLD_NOLOAD);

    if (handle == NULL)
        return self_open_name() != NULL ? self_open_name() : "";
    (void)dlclose(handle);
    return arena_text(arena, name);
}

const char *host_file_target(struct arena *arena)
{
    const char *path = host_file_path(arena);
    char target[PATH_MAX];

    if (realpath(path, target) != NULL)
        return arena_text(arena, target);
    /* No link names it, or it was replaced since. */
    return linked_name()[0] == '\0' && self_path(target, sizeof target)
        ? arena_text(arena, target) : path;
}

void host_file_share(void)
{
    const char *name = linked_name();

    /* It stays open: it is in use as long as this code runs. */
    if (name[0] != '\0')
        (void)dlopen(name, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

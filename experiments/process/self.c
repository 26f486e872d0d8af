/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * self.c - asks the system which file runs.
 */
#include "experiments/process/self.h"

#include <stdint.h>
#include <unistd.h>

#if defined __APPLE__
#include <mach-o/dyld.h>

const char *self_open_name(void)
{
    return NULL;
}

bool self_path(char *path, size_t room)
{
    uint32_t bytes = (uint32_t)room;

    return _NSGetExecutablePath(path, &bytes) == 0;
}

#elif defined __linux__ && !defined SYSTEM_PLAIN
static const char link_name[] = "/proc/self/exe";

const char *self_open_name(void)
{
    return access(link_name, R_OK) == 0 ? link_name : NULL;
}

bool self_path(char *path, size_t room)
{
    ssize_t bytes = readlink(link_name, path, room);

    if (bytes <= 0 || (size_t)bytes >= room)
        return false;
    path[bytes] = '\0';
    return true;
}

#else
const char *self_open_name(void)
{
    return NULL;
}

bool self_path(char *path, size_t room)
{
    (void)path;
    (void)room;
    return false;
}
#endif

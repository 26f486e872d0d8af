/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paths.c - file names and folders.
 *
 * Names are taken as they are: no link is resolved, and "a/../b" stays what it
 * is.  Only path_same() asks the system which file a name means.
 */
#include "sim/text/paths.h"

#include <assert.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "sim/base/arena.h"

/* Formats twice: for the length, then into the arena. */
char *text_vformat(struct arena *arena, const char *fmt, va_list list)
{
    va_list again;
    char *text;
    int bytes;

    va_copy(again, list);
    bytes = vsnprintf(NULL, 0, fmt, list);
    assert(bytes >= 0);
    text = arena_alloc(arena, (size_t)bytes + 1, 1);
    vsnprintf(text, (size_t)bytes + 1, fmt, again);
    va_end(again);
    return text;
}

char *text_format(struct arena *arena, const char *fmt, ...)
{
    va_list list;
    char *text;

    assert(arena != NULL && fmt != NULL);
    va_start(list, fmt);
    text = text_vformat(arena, fmt, list);
    va_end(list);
    return text;
}

const char *path_beside(struct arena *arena, const char *file,
                        const char *name)
{
    const char *slash = file == NULL ? NULL : strrchr(file, '/');

    assert(name != NULL);
    if (name[0] == '/' || slash == NULL)
        return name;
    return text_format(arena, "%.*s%s", (int)(slash - file) + 1, file, name);
}

const char *path_join(struct arena *arena, const char *dir, const char *name)
{
    assert(name[0] != '\0');
    size_t bytes = strlen(dir);
    const char *slash = bytes > 0 && dir[bytes - 1] == '/' ? "" : "/";

    return text_format(arena, "%s%s%s", dir, slash, name);
}

const char *path_stem(struct arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;
    const char *dot = strrchr(base, '.');
    size_t bytes = dot == NULL || dot == base ? strlen(base)
                                              : (size_t)(dot - base);

    assert(bytes > 0 || base[0] == '\0');
    return text_format(arena, "%.*s", (int)bytes, base);
}

bool path_is_folder(const char *path)
{
    assert(path != NULL);
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool path_is_file(const char *path)
{
    assert(path != NULL);
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

bool path_check_named(const char *path, const char *key, struct err_pos pos,
                      struct err *err)
{
    assert(path != NULL && key != NULL);
    struct stat st;
    bool there = stat(path, &st) == 0;

    if (there ? !S_ISDIR(st.st_mode) : errno != ENOENT && errno != ENOTDIR)
        return true;
    err_set(err, ERR_IO, pos, "%s names the file '%.150s', which %s", key, path,
            there ? "is a folder" : "is not there");
    return err_hint_path(err, path, "Paths are relative to the file that names them.");
}

bool path_same(const char *a, const char *b)
{
    assert(a != NULL && b != NULL);
    struct stat left, right;

    return stat(a, &left) == 0 && stat(b, &right) == 0 &&
           left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

/* Makes one folder of a path; true also if it is there. */
static bool make_one(const char *path, const char *whole, mode_t mode, struct err *err)
{
    assert(path[0] != '\0');
    struct err_pos pos = { NULL, 0, 0 };
    int why;

    if (mkdir(path, mode) == 0)
        return true;
    why = errno == EEXIST ? ENOTDIR : errno;    /* before a look changes it */
    if (path_is_folder(path))
        return true;
    return err_set(err, ERR_IO, pos, "cannot make the folder '%.150s': %s",
                   whole, strerror(why));
}

/* Makes all folders on the way, as mkdir -p does. */
static bool make_all(const char *path, mode_t mode, struct err *err)
{
    struct err_pos pos = { NULL, 0, 0 };
    char part[4096];
    size_t bytes = strlen(path);

    assert(err != NULL);
    if (bytes == 0 || bytes >= sizeof part)
        return err_set(err, ERR_IO, pos,
                       "name of the folder is empty or too long");
    memcpy(part, path, bytes + 1);
    for (size_t i = 1; i < bytes; i++) {
        if (part[i] != '/')
            continue;
        part[i] = '\0';
        if (!make_one(part, path, mode, err))
            return false;
        part[i] = '/';
    }
    assert(part[bytes] == '\0');
    return make_one(part, path, mode, err);
}

bool path_make_folder(const char *path, struct err *err)
{
    return make_all(path, 0777, err);
}

bool path_make_own_folder(const char *path, struct err *err)
{
    return make_all(path, 0700, err);
}

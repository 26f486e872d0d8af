/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * folder.c - handles of folders: openat, O_NOFOLLOW, unlinkat.
 *
 * Why handles: between a check of a path and its use, another program may put a
 * symbolic link in its place.  A handle names the folder itself, and O_NOFOLLOW
 * refuses a link at the last step.
 */
#include "sim/text/folder.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/arena.h"
#include "sim/text/paths.h"

#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

struct folder {
    int fd;
    const char *path;           /* as messages name it */
};

/* Is a name that of an entry of a folder itself? */
static bool is_plain(const char *name)
{
    return name[0] != '\0' && strchr(name, '/') == NULL &&
           strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

/* Returns a folder in the arena, which owns the handle. */
static struct folder *folder_new(struct arena *arena, int fd, const char *path)
{
    assert(fd >= 0 && path != NULL);
    struct folder *folder = arena_alloc(arena, 1, sizeof *folder);

    folder->fd = fd;
    folder->path = path;
    return folder;
}

struct folder *folder_make(struct arena *arena, const char *path,
                           struct err *err)
{
    struct err_pos pos = { arena_text(arena, path), 0, 0 };
    int fd;

    assert(err != NULL);
    if (!path_make_folder(path, err))
        return NULL;
    fd = open(path, OPEN_FLAGS);
    if (fd >= 0)
        return folder_new(arena, fd, pos.file);
    err_set(err, ERR_IO, pos, "the folder cannot be opened: %s",
            strerror(errno));
    return NULL;
}

/* Opens by the parent's descriptor and follows no link, so that a folder that
 * is swapped for a link cannot lead the results elsewhere. */
struct folder *folder_within(struct arena *arena, const struct folder *parent,
                             const char *name, struct err *err)
{
    struct err_pos pos = { folder_join(arena, parent, name), 0, 0 };
    struct stat st;
    int fd;

    assert(is_plain(name));
    if (mkdirat(parent->fd, name, 0777) != 0 && errno != EEXIST) {
        err_set(err, ERR_IO, pos, "the folder cannot be made: %s",
                strerror(errno));
        return NULL;
    }
    fd = openat(parent->fd, name, OPEN_FLAGS | O_NOFOLLOW);
    if (fd >= 0)
        return folder_new(arena, fd, pos.file);
    if (fstatat(parent->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISLNK(st.st_mode)) {
        err_set(err, ERR_IO, pos, "is a symbolic link, and results are "
                "written into no folder but their own");
        err_hint(err, "Remove the link, or choose another folder with -o.");
    } else {
        err_set(err, ERR_IO, pos, "the folder cannot be opened: %s",
                strerror(errno));
    }
    return NULL;
}

void folder_close(struct folder *folder)
{
    if (folder == NULL || folder->fd < 0)
        return;
    (void)close(folder->fd);
    folder->fd = -1;
}

int folder_handle(const struct folder *folder)
{
    assert(folder->fd >= 0);
    return folder->fd;
}

const char *folder_path(const struct folder *folder)
{
    assert(folder->path != NULL);
    return folder->path;
}

const char *folder_join(struct arena *arena, const struct folder *folder,
                        const char *name)
{
    assert(name[0] != '\0');
    return path_join(arena, folder->path, name);
}

/* Looks up an entry of the folder itself, without following a link. */
static bool find_entry(const struct folder *folder, const char *name,
                       struct stat *st)
{
    assert(is_plain(name));
    return fstatat(folder_handle(folder), name, st, AT_SYMLINK_NOFOLLOW) == 0;
}

bool folder_holds(const struct folder *folder, const char *name)
{
    assert(is_plain(name));
    struct stat st;

    return find_entry(folder, name, &st);
}

bool folder_holds_file(const struct folder *folder, const char *name)
{
    assert(is_plain(name));
    struct stat st;

    return find_entry(folder, name, &st) && S_ISREG(st.st_mode);
}

/* Opens a list of the folder's entries by a second handle, since reading a
 * list moves the position of its handle.  NULL: it cannot be read, and is
 * taken for one that holds nothing to remove.  The caller closes it. */
static DIR *open_list(const struct folder *folder)
{
    int fd = openat(folder_handle(folder), ".", OPEN_FLAGS);
    DIR *list = fd < 0 ? NULL : fdopendir(fd);

    if (list == NULL && fd >= 0)
        (void)close(fd);
    assert(list != NULL || fd < 0);
    return list;
}

/* Is it the file `but`, or what out.h writes before it is renamed to that? */
static bool is_file_of(const char *name, const char *but)
{
    size_t bytes = strlen(but), end = strlen(".tmp"), length = strlen(name);

    assert(is_plain(but));
    return strncmp(name, but, bytes) == 0 &&
           (name[bytes] == '\0' ||
            (name[bytes] == '.' && length >= bytes + end &&
             strcmp(name + length - end, ".tmp") == 0));
}

bool folder_is_empty(const struct folder *folder, const char *but)
{
    assert(but == NULL || is_plain(but));
    DIR *list = open_list(folder);
    const struct dirent *entry;
    bool empty = list != NULL;

    while (empty && (entry = readdir(list)) != NULL)
        empty = !is_plain(entry->d_name) ||
                (but != NULL && is_file_of(entry->d_name, but));
    if (list != NULL)
        closedir(list);
    return empty;
}

void folder_clear_parts(const struct folder *folder, const char *name)
{
    DIR *list = open_list(folder);
    const struct dirent *entry;

    assert(is_plain(name));     /* nothing outside of the folder is removed */
    while (list != NULL && (entry = readdir(list)) != NULL)
        if (is_file_of(entry->d_name, name) && strcmp(entry->d_name, name) != 0)
            (void)unlinkat(folder_handle(folder), entry->d_name, 0);
    if (list != NULL)
        closedir(list);
}

/* Removes the files whose names the caller recognizes as its own; all others
 * stay. */
void folder_sweep(const struct folder *folder,
                  bool (*formed)(const void *self, const char *name),
                  const void *self)
{
    DIR *list = open_list(folder);
    const struct dirent *entry;

    assert(formed != NULL);
    while (list != NULL && (entry = readdir(list)) != NULL)
        if (is_plain(entry->d_name) && formed(self, entry->d_name))
            (void)unlinkat(folder_handle(folder), entry->d_name, 0);
    if (list != NULL)
        closedir(list);
}

/* Only plain files are read, and a FIFO is not waited for. */
FILE *folder_read(const struct folder *folder, const char *name)
{
    int fd = openat(folder_handle(folder), name,
                    O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    struct stat st;

    assert(is_plain(name));
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        return fdopen(fd, "rb");
    (void)close(fd);
    return NULL;
}

bool folder_remove(struct arena *arena, const struct folder *folder,
                   const char *name, struct err *err)
{
    struct err_pos pos = { folder_join(arena, folder, name), 0, 0 };

    assert(is_plain(name));
    if (unlinkat(folder_handle(folder), name, 0) == 0 || errno == ENOENT)
        return true;
    return err_set(err, ERR_IO, pos, "cannot be replaced: %s",
                   strerror(errno));
}

void folder_drop(const struct folder *parent, const char *name)
{
    assert(is_plain(name));
    (void)unlinkat(folder_handle(parent), name, AT_REMOVEDIR);
}

/* File systems that know no locks protect nothing: the manual says so. */
static bool lock_as(struct folder *folder, int kind, struct err *err)
{
    assert(folder->fd >= 0);
    struct err_pos pos = { folder->path, 0, 0 };

    if (flock(folder_handle(folder), kind | LOCK_NB) == 0 ||
        errno != EWOULDBLOCK)
        return true;
    err_set(err, ERR_IO, pos, "another run is writing here");
    return err_hint(err, "Wait for its end, or choose another folder with "
                    "-o.");
}

bool folder_lock(struct folder *folder, struct err *err)
{
    return lock_as(folder, LOCK_EX, err);
}

bool folder_share(struct folder *folder, struct err *err)
{
    return lock_as(folder, LOCK_SH, err);
}

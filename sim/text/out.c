/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * out.c - write beside, check, rename.
 *
 * Three kinds: a part beside the file that it will replace (`temporary` is
 * set), a file written in place, such as a pipe, and a stream of the caller
 * (`shared`).  The first failure is kept in `why`; later writes still run, and
 * closing reports it.  So callers need not check each write.
 */
#include "sim/text/out.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "sim/base/arena.h"
#include "sim/text/folder.h"
#include "sim/text/paths.h"

#define PARTS_MAX 10000u   /* of one name, left behind by killed runs */

struct out {
    FILE *file;                 /* open for writing, buffered */
    const char *path;       /* at the end, as messages say it */
    int folder;             /* handle that names are seen from */
    const char *name;       /* at the end */
    const char *temporary;  /* NULL: written in place */
    bool shared;            /* the file stays open */
    int why;                /* errno of the first failure */
};

/* Reports that a file cannot be written; returns false. */
static bool out_failed(const char *path, int why, struct err *err)
{
    assert(why != 0);
    struct err_pos pos = { path, 0, 0 };

    return err_set(err, ERR_IO, pos, "cannot be written: %s", strerror(why));
}

/* A file is written under another name and renamed at its end, so that a
 * reader never finds half of it.  Names that exist are passed over: another
 * process may write the same file. */
int out_part(struct arena *arena, int folder, const char *name,
             const char **part)
{
    assert(name[0] != '\0');
    for (unsigned i = 0;; i++) {
        *part = i == 0 ? text_format(arena, "%s.tmp", name)
                       : text_format(arena, "%s.%u.tmp", name, i);
        int fd = openat(folder, *part, O_WRONLY | O_CREAT | O_EXCL |
                        O_NOFOLLOW | O_CLOEXEC, 0666);
        /* Another name only where this one is taken; a folder without rights stays without. */
        if (fd >= 0 || errno != EEXIST || i == PARTS_MAX)
            return fd;
    }
}

/* Opens a file beside the one that it will replace. */
static struct out *open_part(struct arena *arena, struct out *out,
                             struct err *err)
{
    assert(out->file == NULL && out->name != NULL);
    int fd = out_part(arena, out->folder, out->name, &out->temporary);

    if (fd >= 0)
        out->file = fdopen(fd, "wb");
    if (out->file != NULL)
        return out;
    out_failed(out->path, errno, err);
    return NULL;
}

struct out *out_in(struct arena *arena, const struct folder *folder,
                   const char *name, struct err *err)
{
    struct out *out = arena_alloc(arena, 1, sizeof *out);

    assert(strchr(name, '/') == NULL);
    out->path = folder_join(arena, folder, name);
    out->folder = folder_handle(folder);
    out->name = arena_text(arena, name);
    return open_part(arena, out, err);
}

/* Does the name stand for an open file?  Behind it may be a regular file, to which output
 * was redirected; the name itself must never be replaced. */
static bool is_open_file(const char *path)
{
    static const char *const name[] = { "/dev/stdout", "/dev/stderr", "/dev/fd/",
                                        "/proc/self/fd/" };
    size_t i = 0;

    while (i < 4 && strncmp(path, name[i], strlen(name[i])) != 0)
        i++;
    return i < 4;
}

struct out *out_stream(struct arena *arena, const char *name, FILE *file)
{
    struct out *out = arena_alloc(arena, 1, sizeof *out);

    assert(file != NULL);
    out->path = out->name = arena_text(arena, name);
    out->folder = AT_FDCWD;
    out->file = file;
    out->shared = true;
    return out;
}

/* A terminal, a pipe or a device is written to directly: it cannot be
 * renamed. */
struct out *out_open(struct arena *arena, const char *path, struct err *err)
{
    assert(path[0] != '\0');
    struct out *out = arena_alloc(arena, 1, sizeof *out);
    struct stat st;

    out->path = out->name = arena_text(arena, path);
    out->folder = AT_FDCWD;
    if (!is_open_file(path) && (stat(path, &st) != 0 || S_ISREG(st.st_mode)))
        return open_part(arena, out, err);
    out->file = fopen(path, "wb");
    if (out->file != NULL)
        return out;
    out_failed(out->path, errno, err);
    return NULL;
}

/* Keeps the reason of the first failure. */
static void out_check(struct out *out, bool ok)
{
    if (!ok && out->why == 0)
        out->why = errno != 0 ? errno : EIO;
}

void out_bytes(struct out *out, const void *bytes, size_t count)
{
    assert(out->file != NULL);
    assert(bytes != NULL || count == 0);
    if (count > 0)
        out_check(out, fwrite(bytes, 1, count, out->file) == count);
}

void out_text(struct out *out, const char *text)
{
    assert(text != NULL);
    out_bytes(out, text, strlen(text));
}

void out_printf(struct out *out, const char *fmt, ...)
{
    assert(out->file != NULL);
    va_list list;

    va_start(list, fmt);
    out_check(out, vfprintf(out->file, fmt, list) >= 0);
    va_end(list);
}

void out_json_text(struct out *out, const char *text)
{
    assert(out->file != NULL);
    out_text(out, "\"");
    for (const char *p = text; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;

        if (c == '"' || c == '\\')
            out_printf(out, "\\%c", c);
        else if (c < 0x20)
            out_printf(out, "\\u%04x", c);
        else
            out_bytes(out, p, 1);
    }
    out_text(out, "\"");
}

void out_html_text(struct out *out, const char *text)
{
    assert(out->file != NULL);
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;

        switch (c) {
        case '&': out_text(out, "&amp;"); break;
        case '<': out_text(out, "&lt;"); break;
        case '>': out_text(out, "&gt;"); break;
        case '"': out_text(out, "&quot;"); break;
        case '\'': out_text(out, "&#39;"); break;
        default:
            if (c < 0x20 || c == 0x7f)
                out_text(out, " ");
            else
                out_bytes(out, text, 1);
        }
    }
}

/* What LaTeX writes for a character that has a meaning, or is none of its fonts'. */
static const struct { const char *text, *latex; } latex_of[] = {
    { "_", "\\_" }, { "%", "\\%" }, { "&", "\\&" }, { "#", "\\#" }, { "$", "\\$" },
    { "{", "\\{" }, { "}", "\\}" }, { "~", "\\textasciitilde{}" },
    { "^", "\\textasciicircum{}" }, { "\\", "\\textbackslash{}" },
    { "<", "\\textless{}" }, { ">", "\\textgreater{}" }, { "|", "\\textbar{}" },
    { "\"", "''" }, { "\u00b1", "$\\pm$" }, { "\u2020", "\\textdagger{}" },
    { "\u2021", "\\textdaggerdbl{}" },
};

void out_latex_text(struct out *out, const char *text)
{
    while (*text != '\0') {
        unsigned char c = (unsigned char)*text;
        size_t i = 0, n = sizeof latex_of / sizeof latex_of[0], bytes = 1;

        while (i < n && strncmp(text, latex_of[i].text, strlen(latex_of[i].text)) != 0)
            i++;
        if (i < n) {
            out_text(out, latex_of[i].latex);
            bytes = strlen(latex_of[i].text);
        } else if (c < 0x20 || c == 0x7f) {
            out_text(out, " ");
        } else {
            out_bytes(out, text, 1);
        }
        assert(bytes > 0 && bytes <= strlen(text));
        text += bytes;
    }
}

bool out_good(const struct out *out, struct err *err)
{
    assert(out->path != NULL);
    return out->why == 0 || out_failed(out->path, out->why, err);
}

/* Closes a file and puts it in its place; wait: only once it is on the disk
 * (fsync), so that a crash leaves the old file or the new one. */
static bool close_out(struct out *out, bool wait, struct err *err)
{
    assert(out->file != NULL);
    out_check(out, fflush(out->file) == 0);
    /* A pipe or a device has no disk to wait for. */
    if (wait && out->temporary != NULL)
        out_check(out, fsync(fileno(out->file)) == 0);
    if (!out->shared)
        out_check(out, fclose(out->file) == 0);
    out->file = NULL;
    if (out->why == 0 && out->temporary != NULL)
        out_check(out, renameat(out->folder, out->temporary, out->folder,
                                out->name) == 0);
    if (out->why == 0)
        return true;
    if (out->temporary != NULL)
        (void)unlinkat(out->folder, out->temporary, 0);
    return out_failed(out->path, out->why, err);
}

bool out_close(struct out *out, struct err *err)
{
    assert(out->file != NULL);
    return close_out(out, true, err);
}

bool out_close_fast(struct out *out, struct err *err)
{
    assert(out->file != NULL);
    return close_out(out, false, err);
}

void out_abandon(struct out *out)
{
    if (out == NULL || out->file == NULL)
        return;
    assert(!out->shared || out->temporary == NULL);
    if (!out->shared)
        (void)fclose(out->file);
    out->file = NULL;
    if (out->temporary != NULL)
        (void)unlinkat(out->folder, out->temporary, 0);
}

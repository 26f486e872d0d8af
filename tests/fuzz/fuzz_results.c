/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * fuzz_results.c - any bytes as a folder of results, which people send each other.
 *
 * An input is files one after another: a line `== NAME`, then its bytes.  The folder
 * becomes a grid, a comparison with itself, and the page.  What is refused has a message
 * that can be shown.
 */
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/report/report.h"
#include "experiments/results/compare.h"
#include "experiments/results/grid.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

#define MARK "== "

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void require(bool good)
{
    if (!good)
        abort();
}

/* Writes a part of the input as a file, if its name is one of a folder of results. */
static void write_part(const char *dir, const char *part, size_t bytes)
{
    static const char *const known[] = {
        "summary.csv", "compare.csv", "jobs.csv", "phases.csv", "timeline.csv", "checks.csv",
        "failures.csv", "services.csv", "tenants.csv", "options.csv", "seeds.csv",
        "metrics.csv", "audit.json", "provenance.json"
    };
    const char *end = memchr(part, '\n', bytes);
    size_t name = end == NULL ? 0 : (size_t)(end - part);
    char path[128];
    FILE *file;

    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        if (name != strlen(known[i]) || memcmp(part, known[i], name) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", dir, known[i]);
        file = fopen(path, "wb");
        require(file != NULL);
        (void)!fwrite(part + name + 1, 1, bytes - name - 1, file);
        require(fclose(file) == 0);
    }
}

static void write_folder(const char *dir, const char *text, size_t bytes)
{
    size_t from = bytes;

    for (size_t i = 0; i + 3 <= bytes; i++) {
        if (memcmp(text + i, MARK, 3) != 0 || (i > 0 && text[i - 1] != '\n'))
            continue;
        if (from < i)
            write_part(dir, text + from, i - from);
        from = i + 3;
    }
    if (from < bytes)
        write_part(dir, text + from, bytes - from);
}

static void remove_folder(const char *dir)
{
    struct dirent *entry;
    DIR *list = opendir(dir);

    require(list != NULL);
    while ((entry = readdir(list)) != NULL)
        if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0 &&
            unlinkat(dirfd(list), entry->d_name, 0) != 0)
            (void)unlinkat(dirfd(list), entry->d_name, AT_REMOVEDIR);
    closedir(list);
    require(rmdir(dir) == 0);
}

static void require_refused(const struct err *err)
{
    char out[4096];

    require(err->kind != ERR_NONE && err->text[0] != '\0');
    require(err_format(err, out, sizeof out) > 0);
}

static void read_folder(struct arena *arena, const char *dir)
{
    struct err err = { .kind = ERR_NONE };
    struct grid *grid = grid_from_folder(arena, dir, &err);
    FILE *nowhere;

    require((grid == NULL) == (err.kind != ERR_NONE));
    if (grid == NULL) {
        require_refused(&err);
    } else {
        nowhere = fopen("/dev/null", "wb");
        require(nowhere != NULL);
        (void)compare_print(nowhere, grid, grid);
        fclose(nowhere);
    }
    err = (struct err){ .kind = ERR_NONE };
    if (!report_write(dir, NULL, &err))
        require_refused(&err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct arena *arena = arena_new(0);
    char dir[64];

    snprintf(dir, sizeof dir, "/tmp/fuzz_results.%ld", (long)getpid());
    require(mkdir(dir, 0700) == 0);
    write_folder(dir, (const char *)data, bytes);
    read_folder(arena, dir);
    remove_folder(dir);
    arena_free(arena);
    return 0;
}

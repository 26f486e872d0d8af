/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * scratch.c - files of a test under /tmp.
 */
#include "tests/aid/scratch.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/arena.h"

static const char scratch_cluster[] =
    "nodes:\n"
    "  - {name: gpu, count: 4, gpus: {type: generic, count: 8}}\n";

void scratch_open(struct scratch *scratch)
{
    const char *made;

    scratch->arena = arena_new(1 << 16);
    strcpy(scratch->dir, "/tmp/clustersim-test-XXXXXX");
    made = mkdtemp(scratch->dir);
    assert(made != NULL);
}

void scratch_close(struct scratch *scratch)
{
    int status;
    pid_t pid = fork();

    assert(strncmp(scratch->dir, "/tmp/clustersim-test-", 21) == 0);
    if (pid == 0) {
        execlp("rm", "rm", "-rf", scratch->dir, (char *)NULL);
        _exit(127);
    }
    assert(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0);
    arena_free(scratch->arena);
}

int scratch_state(void **state, size_t bytes)
{
    *state = calloc(1, bytes);
    assert(*state != NULL);
    scratch_open(*state);
    return 0;
}

int scratch_setup(void **state)
{
    return scratch_state(state, sizeof(struct scratch));
}

int scratch_teardown(void **state)
{
    scratch_close(*state);
    free(*state);
    return 0;
}

const char *scratch_path(struct scratch *scratch, const char *name)
{
    snprintf(scratch->path, sizeof scratch->path, "%s/%s", scratch->dir, name);
    return scratch->path;
}

void scratch_write(struct scratch *scratch, const char *name, const char *text)
{
    FILE *file = fopen(scratch_path(scratch, name), "wb");
    size_t bytes = strlen(text), wrote;

    assert(file != NULL);
    wrote = fwrite(text, 1, bytes, file);
    assert(wrote == bytes && fclose(file) == 0);
}

char *scratch_read(struct scratch *scratch, const char *name)
{
    FILE *file = fopen(scratch_path(scratch, name), "rb");
    size_t used = 0, room = 4096, got;
    char *text = malloc(room);

    if (file == NULL) {
        free(text);
        return NULL;
    }
    assert(text != NULL);
    while ((got = fread(text + used, 1, room - used - 1, file)) > 0) {
        used += got;
        if (used + 1 == room) {
            text = realloc(text, room *= 2);
            assert(text != NULL);
        }
    }
    fclose(file);
    text[used] = '\0';
    return text;
}

static void write_jobs(struct scratch *scratch)
{
    static const int gpus[] = { 1, 8, 2, 16, 4 };
    char text[4096] = "job,submit,duration,gpus\n", *end = text + strlen(text);

    for (int i = 0; i < 40; i++)
        end += sprintf(end, "%d,%d,%d,%d\n", i, 40 * i, 100 + 37 * (i % 11),
                       gpus[i % 5]);
    scratch_write(scratch, "jobs.csv", text);
}

void scratch_experiment(struct scratch *scratch, const char *text)
{
    char all[4096];

    scratch_write(scratch, "cluster.yaml", scratch_cluster);
    write_jobs(scratch);
    snprintf(all, sizeof all, "cluster: cluster.yaml\n"
             "workload:\n"
             "  trace: {file: jobs.csv, format: csv, columns: {job: job, "
             "submit: submit, duration: duration, gpus: gpus}}\n%s", text);
    scratch_write(scratch, "e.yaml", all);
}

void scratch_program(char *path, size_t room, const char *argv0)
{
    char here[2000] = "";
    const char *slash = strrchr(argv0, '/');

    assert(slash != NULL);
    if (argv0[0] != '/' && getcwd(here, sizeof here) == NULL)
        assert(!"the current folder has a name");
    snprintf(path, room, "%s%s%.*s../clustersim", here, argv0[0] == '/' ? "" : "/",
             (int)(slash + 1 - argv0), argv0);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * workload_aid.c - what tests of workloads share.
 */
#include "tests/aid/workload_aid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"

static const char mixed[] =
    "nodes:\n"
    "  - {name: big, count: 4, gpus: {type: a100-80, count: 8},\n"
    "     cpu: {type: xeon-platinum-8380, sockets: 2}, memory: 1TB,\n"
    "     pool: train}\n"
    "  - {name: small, count: 8, gpus: {type: a10, count: 4},\n"
    "     cpu: {type: xeon-platinum-8380, sockets: 2}, memory: 512GB,\n"
    "     pool: rollout}\n"
    "  - {name: plain, count: 2, cpu: {type: xeon-platinum-8380, sockets: 2},\n"
    "     memory: 512GB, pool: cpu}\n";

static void open_text(struct aid *aid, const char *text)
{
    const struct conf_node *conf;

    memset(aid, 0, sizeof *aid);
    aid->arena = arena_new(0);
    aid->catalogue = catalogue_load(aid->arena, NULL, 0, &aid->err);
    assert_non_null(aid->catalogue);
    conf = conf_parse(aid->arena, "cluster.yaml", text, strlen(text),
                      &aid->err);
    assert_non_null(conf);
    aid->cluster = cluster_read(aid->arena, conf, aid->catalogue, &aid->err);
    if (aid->cluster == NULL)
        fail_msg("%s", aid_message(aid));
}

void aid_open(struct aid *aid)
{
    open_text(aid, mixed);
}

void aid_open_generic(struct aid *aid, unsigned gpus)
{
    char text[256];

    snprintf(text, sizeof text,
             "nodes: [{name: n, count: %u, gpus: {type: generic, count: "
             "1}}]\n", gpus);
    open_text(aid, text);
}

void aid_close(struct aid *aid)
{
    arena_free(aid->arena);
}

static const struct workload_spec *read_conf(struct aid *aid,
                                             const struct conf_node *conf)
{
    if (conf == NULL)
        return NULL;
    return workload_read(aid->arena, conf, aid->catalogue, aid->cluster,
                         &aid->err);
}

const struct workload_spec *aid_workload(struct aid *aid, const char *path,
                                         const char *text)
{
    memset(&aid->err, 0, sizeof aid->err);
    return read_conf(aid, conf_parse(aid->arena, path, text, strlen(text),
                                     &aid->err));
}

const struct workload_spec *aid_workload_file(struct aid *aid,
                                              const char *path)
{
    memset(&aid->err, 0, sizeof aid->err);
    return read_conf(aid, conf_load(aid->arena, path, &aid->err));
}

size_t aid_jobs(struct aid *aid, const struct workload_spec *spec,
                uint64_t seed, uint32_t replica, struct job_birth *birth,
                size_t max)
{
    struct source *source = source_open(aid->arena, spec, seed, replica);
    enum source_step step = SOURCE_JOB;
    size_t count = 0;

    while (count < max) {
        step = source_next(source, &birth[count], &aid->err);
        if (step != SOURCE_JOB)
            break;
        if (birth[count].request.name != NULL)  /* good until the next call */
            birth[count].request.name =
                arena_text(aid->arena, birth[count].request.name);
        count++;
    }
    if (step == SOURCE_ERROR)
        fail_msg("%s", aid_message(aid));
    return count;
}

const char *aid_message(struct aid *aid)
{
    char *out = arena_alloc(aid->arena, 1024, 1);

    snprintf(out, 1024, "%s:%u:%u: %s%s%.400s", aid->err.pos.file,
             aid->err.pos.line, aid->err.pos.col, aid->err.text,
             aid->err.hint[0] != '\0' ? " | " : "", aid->err.hint);
    return out;
}

const char *aid_shared(struct aid *aid, const char *path)
{
    const char *shared = getenv("SHARED");
    char *out;

    if (shared == NULL)
        shared = "../shared";
    out = arena_alloc(aid->arena, strlen(shared) + strlen(path) + 2, 1);
    sprintf(out, "%s/%s", shared, path);
    if (access(out, R_OK) == 0)
        return out;
    print_message("skip: there is no %s\n", out);
    return NULL;
}

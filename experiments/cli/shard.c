/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shard.c - lines of a word, a number of bytes and these bytes: a value may hold
 * anything.
 */
#include "experiments/cli/shard.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/options/args.h"
#include "experiments/results/results.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/hash.h"
#include "sim/text/paths.h"

uint64_t shard_hash(const struct experiment *experiment)
{
    uint64_t hash = hash_text(HASH_START, experiment->name);

    for (uint32_t i = 0; i < experiment_trial_count(experiment); i++)
        hash = hash_u64(hash, experiment_trial_hash(experiment, i));
    return hash;
}

/* Appends a line "WORD BYTES VALUE"; NULL appends nothing. */
static const char *add(struct arena *arena, const char *text, const char *word,
                       const char *value)
{
    return value == NULL ? text
                         : text_format(arena, "%s%s %zu %s\n", text, word, strlen(value),
                                       value);
}

/* Returns the path from the root, so that a shard can be merged from another
 * folder. */
static const char *from_root(struct arena *arena, const char *path)
{
    char here[PATH_MAX];

    return path[0] == '/' || getcwd(here, sizeof here) == NULL
        ? path : path_join(arena, here, path);
}

const char *shard_text(struct arena *arena, const struct args *args,
                       const struct experiment *experiment)
{
    const char *text = add(arena, "", "file", from_root(arena, args->word[0]));

    text = add(arena, text, "shard", args->value[ARG_SHARD]);
    text = add(arena, text, "only", args->value[ARG_ONLY]);
    text = add(arena, text, "seeds", args->value[ARG_SEEDS]);
    for (size_t i = 0; i < args->set_count; i++)
        text = add(arena, text, "set", args->set[i]);
    return add(arena, text, "trials",
               text_format(arena, "%016" PRIx64, shard_hash(experiment)));
}

/* Takes in one line.  Words of later versions are passed over. */
static void take(struct arena *arena, struct shard *shard, const char *word,
                 const char *value)
{
    unsigned index, count;

    if (strcmp(word, "file") == 0)
        shard->file = value;
    else if (strcmp(word, "only") == 0)
        shard->only = value;
    else if (strcmp(word, "seeds") == 0)
        shard->seeds = value;
    else if (strcmp(word, "trials") == 0)
        shard->hash = strtoull(value, NULL, 16);
    else if (strcmp(word, "shard") == 0 && sscanf(value, "%u/%u", &index, &count) == 2) {
        shard->index = index - 1;
        shard->count = count;
    } else if (strcmp(word, "set") == 0) {
        shard->set = arena_grow(arena, shard->set, shard->set_count, shard->set_count + 1,
                                sizeof *shard->set);
        shard->set[shard->set_count++] = value;
    }
}

bool shard_read(struct arena *arena, const char *dir, struct shard *shard,
                struct err *err)
{
    struct err_pos pos = { dir, 0, 0 };
    const char *text = results_shard(arena, dir), *at = text;
    char word[16];
    size_t bytes;
    int begin;

    *shard = (struct shard){ .dir = dir };
    while (at != NULL && sscanf(at, "%15s %zu %n", word, &bytes, &begin) == 2 &&
           bytes <= strlen(at + begin)) {
        take(arena, shard, word, text_format(arena, "%.*s", (int)bytes, at + begin));
        at += (size_t)begin + bytes;
    }
    if (at != NULL && at[strspn(at, "\n")] != '\0') {
        err_set(err, ERR_IO, pos, "is a shard whose .trials/clustersim-trials.txt is not whole");
        return err_hint(err, "Run the shard again: what is done of it is kept.");
    }
    if (shard->file != NULL && shard->count > 0 && shard->index < shard->count)
        return true;
    err_set(err, ERR_IO, pos, "is no shard: no run with --shard wrote it");
    return err_hint(err, "`clustersim run EXPERIMENT.yaml --shard I/N` makes one.");
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exec.c - the table of a policy that is a program.
 *
 * The program is started once when the experiment is read, to hear its name,
 * flags and parameters; from these a table of a policy is made, as a compiled
 * one has, so that nothing behind it knows the difference.  The table is the
 * first member of struct exec_guest: exec_init() finds its guest by that.
 *
 * Its hash is of the command and of the files named in it, so that results of
 * an earlier version of a script are not taken for those of the new one.  What
 * a script imports is not seen.
 */
#include "experiments/exec/exec.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "experiments/exec/guest.h"
#include "experiments/exec/policy.h"
#include "experiments/process/talk.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/registry/table.h"
#include "sim/base/arena.h"
#include "sim/text/hash.h"
#include "sim/text/paths.h"

/* Words of a command; a longer one belongs into a script. */
#define WORDS_MAX 64u

/* The key of an entry that names the program. */
static const struct cs_param exec_param[] = {
    { "exec", CS_PARAM_TEXT, sizeof(struct exec), 0, 0, "",
      "the program that decides, with its arguments, as seen from the folder of the "
      "experiment" },
};

/* Cuts the command at blanks; quotation marks of both kinds hold words together,
 * without escapes: it is no shell.  NULL: there is no word, too many, or a mark is
 * open.  For example, python3 "my policy.py" 'a b' are three words. */
static char *const *cut_words(struct arena *arena, const char *command)
{
    char **word = arena_alloc(arena, WORDS_MAX + 1, sizeof *word);
    char *to = arena_alloc(arena, strlen(command) + WORDS_MAX + 1, 1);
    uint32_t count = 0;
    char quote = '\0';
    bool open = false;

    for (const char *at = command; *at != '\0'; at++) {
        if (quote == '\0' && (*at == ' ' || *at == '\n')) {
            if (open)
                *to++ = '\0';
            open = false;
            continue;
        }
        if (!open && count == WORDS_MAX)
            return NULL;
        if (!open)
            word[count++] = to;
        open = true;
        if (*at == quote)
            quote = '\0';
        else if (quote == '\0' && (*at == '"' || *at == '\''))
            quote = *at;
        else
            *to++ = *at;
    }
    return count == 0 || quote != '\0' ? NULL : word;
}

/* Hashes the command, and each of its words that is a file.  Paths are seen from the folder in
 * which the program runs. */
static uint64_t hash_program(struct arena *arena, const struct exec_guest *guest)
{
    uint64_t hash = HASH_START, of_file;

    for (char *const *word = guest->word; *word != NULL; word++) {
        const char *path = (*word)[0] == '/' ? *word
                                             : path_join(arena, guest->folder, *word);

        hash = hash_text(hash, *word);
        if (path_is_file(path) && hash_file(path, &of_file))
            hash = hash_u64(hash, of_file);
    }
    return hash;
}

/* Names stand in CSVs and in command lines, so they are plain words. */
static bool is_name(const char *name)
{
    return name[0] >= 'a' && name[0] <= 'z' &&
           name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-")] == '\0';
}

/* Returns the parameters of the table: `exec:` itself, then those that the program
 * declares. */
static const struct cs_param *make_params(struct arena *arena, const struct exec_self *self,
                                          struct cs_words *words, uint32_t *words_count)
{
    struct cs_param *out = arena_alloc(arena, 1 + self->param_count, sizeof *out);

    out[0] = exec_param[0];
    for (uint32_t i = 0; i < self->param_count; i++) {
        const struct exec_param *said = &self->param[i];

        out[1 + i] = (struct cs_param){
            said->key, (enum cs_param_type)said->kind, exec_param_at(i), said->min, said->max,
            said->fallback, said->help
        };
        if (said->kind == CS_PARAM_CHOICE)
            words[(*words_count)++] = (struct cs_words){ said->key, said->words };
    }
    return out;
}

/* Only what the program declared is set: lease_idle costs messages, and is for
 * policies per phase.  `self` of a trial is struct exec and the parameters behind it. */
static void fill_table(struct arena *arena, struct exec_guest *guest)
{
    struct cs_words *words = arena_alloc(arena, EXEC_PARAMS_MAX, sizeof *words);
    uint32_t words_count = 0;
    const struct cs_param *param = make_params(arena, &guest->self, words, &words_count);

    guest->table = (struct cs_policy){
        .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
        .name = guest->self.name,
        .summary = guest->self.summary[0] != '\0' ? guest->self.summary
                                                  : "decided by a program",
        .flags = guest->self.flags,
        .param = param, .param_count = 1 + guest->self.param_count,
        .words = words_count > 0 ? words : NULL, .words_count = words_count,
        .self_bytes = exec_param_at(guest->self.param_count),
        .init = exec_init, .before = guest->self.key_count > 0 ? exec_before : NULL,
        .decide = exec_decide, .job_submitted = exec_job_submitted,
        .job_ended = exec_job_ended,
        .lease_idle = guest->self.flags & CS_PER_PHASE ? exec_lease_idle : NULL,
        .fini = exec_fini,
    };
}

/* Starts the program, asks what it is, and ends it.  Whatever fails, no process is left. */
const struct cs_policy *exec_load(struct arena *arena, const char *command,
                                  const char *folder, struct err_pos pos,
                                  uint64_t *hash, struct err *err)
{
    struct exec_guest *guest = arena_alloc(arena, 1, sizeof *guest);
    char why[170], more[1000];
    struct talk *talk;

    assert(command != NULL && folder != NULL);
    guest->word = cut_words(arena, command);
    guest->folder = arena_text(arena, folder);
    guest->limit_ns = EXEC_GREET_NS;
    if (guest->word == NULL) {
        err_set(err, ERR_SCHEMA, pos, "exec must be a program and its arguments, and is "
                "'%.100s'", command);
        return NULL;
    }
    talk = exec_greet(guest, &guest->self, why, sizeof why, more, sizeof more);
    if (talk == NULL) {
        err_set(err, ERR_POLICY, pos, "program %.40s %s", guest->word[0], why);
        err_hint(err, "%s", more[0] != '\0' ? more
                 : "Its path is relative to the folder of the experiment.");
        return NULL;
    }
    talk_close(talk, true);
    if (!is_name(guest->self.name)) {
        err_set(err, ERR_POLICY, pos, "program %.40s calls itself '%.40s', and a name must "
                "match [a-z][a-z0-9-]*", guest->word[0], guest->self.name);
        return NULL;
    }
    fill_table(arena, guest);
    if (!table_check(&guest->table, err)) {
        err->pos = pos;
        return NULL;
    }
    *hash = hash_program(arena, guest);
    return &guest->table;
}

/* A table is that of a program if its init is exec_init(), which no other table has. */
bool exec_is(const struct cs_policy *policy)
{
    return policy->init == exec_init;
}

/* The table is const to all others, but was made here, in an arena. */
void exec_set_limit(const struct cs_policy *policy, int64_t limit_ns)
{
    assert(exec_is(policy) && limit_ns > 0);
    ((struct exec_guest *)(void *)(uintptr_t)policy)->limit_ns = limit_ns;
}

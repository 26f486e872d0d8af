/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * build.c - the cache of compiled policies, and the compiler.
 *
 * KEY.so is made from a source, KEY.deps lists the hashes of the files that it
 * includes.  Both are written beside and renamed, so that two programs may build
 * the same policy at the same time.
 */
#define _XOPEN_SOURCE 700       /* realpath */
#include "experiments/plugins/build.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/plugins/header_file.h"
#include "experiments/process/program.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/hash.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

#define SAID_BYTES 16384u
#define ERRORS_MAX 8u
#define CC_WORDS_MAX 20u        /* of CC="ccache gcc -m64" */

/* -ffp-contract=off: the same sums on every processor, as in the program. */
static const char *const flag[] = {
    "-std=c11", "-O2", "-g", "-w", "-fPIC", "-shared", "-ffp-contract=off",
    "-U_FORTIFY_SOURCE", "-fdiagnostics-color=never",
};
#define FLAGS (sizeof flag / sizeof flag[0])

struct build {
    struct arena *arena;        /* of the experiment */
    const char *source;         /* path of the C file */
    const char *compiler;               /* with its first options, as CC has them */
    const char *cache, *headers;        /* folders */
    const char *library, *deps;         /* files, whole if they are there */
    struct err_pos pos;         /* where the experiment names it */
    struct err *err;
};

/* ---- folders ---- */

/* Returns the folder of compiled policies: that of XDG_CACHE_HOME, or of HOME, or
 * one of /tmp by the user's number.  A relative name is passed over, as the XDG
 * rules say, since it would mean another folder in each working directory. */
static const char *cache_folder(struct arena *arena)
{
    const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");

    if (cache != NULL && cache[0] == '/')
        return path_join(arena, cache, "clustersim");
    if (home != NULL && home[0] == '/')
        return path_join(arena, home, ".cache/clustersim");
    return text_format(arena, "/tmp/clustersim-%lu", (unsigned long)getuid());
}

/* What lies in it is run: nobody else may write there. */
static bool is_own(const char *folder)
{
    struct stat found;

    return stat(folder, &found) == 0 && found.st_uid == getuid() &&
           (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Makes the folder for its owner alone, and refuses one that others may write: a
 * file that they put there would be loaded by this program. */
static bool make_cache(struct build *b)
{
    if (!path_make_own_folder(b->cache, b->err))
        return err_hint(b->err, "Compiled policies lie there; XDG_CACHE_HOME names "
                        "another folder.");
    if (is_own(b->cache))
        return true;
    err_set(b->err, ERR_IO, b->pos, "%.150s may be written by others, and is no place "
            "for compiled policies", b->cache);
    return err_hint(b->err, "XDG_CACHE_HOME names another folder.");
}

/* Hashes the headers of policies, names and text: a library compiled against others
 * is not the one that is wanted. */
static uint64_t hash_headers(void)
{
    uint64_t hash = HASH_START;

    for (unsigned i = 0; i < header_file_count; i++)
        hash = hash_text(hash_text(hash, header_file[i].name), header_file[i].text);
    return hash;
}

/* Writes the headers of this program, once. */
static bool write_headers(struct build *b)
{
    const char *whole = path_join(b->arena, b->headers, "whole");

    for (unsigned i = 0; i <= header_file_count && !path_is_file(whole); i++) {
        bool last = i == header_file_count;
        const char *path = last ? whole
                                : path_join(b->arena, b->headers, header_file[i].name);
        const char *folder = text_format(b->arena, "%.*s",
                                         (int)(strrchr(path, '/') - path), path);
        struct out *out = path_make_folder(folder, b->err)
                              ? out_open(b->arena, path, b->err) : NULL;

        if (out == NULL)
            return false;
        if (!last)
            out_bytes(out, header_file[i].text, header_file[i].bytes);
        if (!out_close_fast(out, b->err))
            return false;
    }
    return true;
}

/* ---- what a library is made from ---- */

/* Adds what distinguishes one compiler from another: the file, as PATH finds it. */
static uint64_t hash_compiler(struct build *b, uint64_t hash)
{
    const char *path = getenv("PATH");
    int name = (int)strcspn(b->compiler, " ");
    struct stat found;

    hash = hash_text(hash, b->compiler);
    if (memchr(b->compiler, '/', (size_t)name) != NULL &&
        stat(text_format(b->arena, "%.*s", name, b->compiler), &found) == 0)
        return hash_u64(hash_u64(hash, (uint64_t)found.st_mtime),
                        (uint64_t)found.st_size);
    for (; path != NULL && *path != '\0'; path += *path == ':') {
        size_t bytes = strcspn(path, ":");
        const char *file = text_format(b->arena, "%.*s/%.*s", (int)bytes, path,
                                       name, b->compiler);

        path += bytes;
        if (stat(file, &found) == 0)
            return hash_u64(hash_u64(hash, (uint64_t)found.st_mtime),
                            (uint64_t)found.st_size);
    }
    return hash;
}

/* Names what belongs to this source.  The library's name holds all that its bytes
 * depend on but the files that the source includes, which only the compiler knows
 * (KEY.deps): the path, the text, the headers, the flags and the compiler. */
static bool name_files(struct build *b)
{
    uint64_t headers = hash_headers(), text, key;

    if (!hash_file(b->source, &text))
        return err_set(b->err, ERR_IO, b->pos, "%.150s cannot be read", b->source);
    key = hash_u64(hash_u64(hash_text(HASH_START, b->source), text), headers);
    for (size_t i = 0; i < FLAGS; i++)
        key = hash_text(key, flag[i]);
    key = hash_compiler(b, key);
    b->headers = text_format(b->arena, "%s/include-%016" PRIx64, b->cache, headers);
    b->library = text_format(b->arena, "%s/%016" PRIx64 ".so", b->cache, key);
    b->deps = text_format(b->arena, "%s/%016" PRIx64 ".deps", b->cache, key);
    return true;
}

/* Are the files that the source includes as they were? */
static bool is_current(const struct build *b)
{
    FILE *file = path_is_file(b->library) ? fopen(b->deps, "r") : NULL;
    bool current = file != NULL;
    char line[4200], *path;

    while (current && fgets(line, sizeof line, file) != NULL) {
        uint64_t then = strtoull(line, &path, 16), now;

        path[strcspn(path, "\n")] = '\0';
        current = *path == ' ' && hash_file(path + 1, &now) && now == then;
    }
    if (file != NULL)
        fclose(file);
    return current;
}

/* Reads the next word of a rule of make, where "\\ " is a blank within a name, "\\#" a
 * '#', and "$$" a '$'.  False: there is none. */
static bool read_word(FILE *file, char *word, size_t room)
{
    size_t used = 0;
    int c;

    while ((c = getc(file)) != EOF) {
        bool blank = c == ' ' || c == '\t' || c == '\n';

        if (blank && used > 0)
            break;
        if (blank)
            continue;
        if (c == '\\' || c == '$') {
            int next = getc(file);

            if (c == '\\' && next == '\n')
                continue;
            if (next == ' ' || next == '#' || next == '$')
                c = next;
            else if (next != EOF)
                (void)ungetc(next, file);
        }
        if (used + 1 < room)
            word[used++] = (char)c;
    }
    word[used] = '\0';
    return used > 0;
}

/* Writes the list from the compiler's rule "LIBRARY: FILE FILE \": all that is not
 * this program's. */
static bool write_deps(struct build *b, const char *rule)
{
    FILE *file = fopen(rule, "r");
    struct out *out = file == NULL ? NULL : out_open(b->arena, b->deps, b->err);
    char word[4096];
    uint64_t hash;

    if (file == NULL)
        return err_set(b->err, ERR_POLICY, b->pos, "%.100s does not compile: %.40s ended well, "
                       "and wrote no list of files (-MMD -MF)", b->source, b->compiler);
    while (out != NULL && read_word(file, word, sizeof word))
        if (strncmp(word, b->headers, strlen(b->headers)) != 0 &&
            strcmp(word, b->source) != 0 && hash_file(word, &hash))
            out_printf(out, "%016" PRIx64 " %s\n", hash, word);
    fclose(file);
    return out != NULL && out_close_fast(out, b->err);
}

/* ---- the compiler ---- */

/* Reads one line "FILE:LINE:COL: error: TEXT"; false: it is another one. */
static bool read_error(struct build *b, const char *line, size_t bytes, struct err *err)
{
    const char *text = text_format(b->arena, "%.*s", (int)bytes, line);
    const char *mark = strstr(text, " error: "), *colon = strchr(text, ':');
    unsigned row, col = 0;

    if (mark == NULL || colon == NULL || sscanf(colon, ":%u:%u", &row, &col) < 1)
        return false;
    struct err_pos pos = {
        text_format(b->arena, "%.*s", (int)(colon - text), text), row, col
    };
    err_set(err, ERR_SYNTAX, pos, "%.200s", mark + strlen(" error: "));
    return true;
}

/* Sets err to the compiler's errors, in their order. */
static void tell_errors(struct build *b, int status, const char *said)
{
    struct err *last = NULL;
    uint32_t count = 0;

    if (status == PROGRAM_NOT_THERE) {
        err_set(b->err, ERR_IO, b->pos, "there is no compiler named %.*s",
                (int)strcspn(b->compiler, " "), b->compiler);
        err_hint(b->err, "Install one (Debian: gcc), or name it: CC=clang.");
        return;
    }
    for (const char *line = said; *line != '\0'; line += *line == '\n') {
        size_t bytes = strcspn(line, "\n");
        struct err found = { 0 };

        if (read_error(b, line, bytes, &found) && count++ < ERRORS_MAX) {
            struct err *at = last == NULL ? b->err : arena_alloc(b->arena, 1, sizeof *at);

            *at = found;
            if (last != NULL)
                last->next = at;
            last = at;
        }
        line += bytes;
    }
    if (last == NULL)
        err_set(b->err, ERR_POLICY, b->pos, "%.100s does not compile: %.*s", b->source,
                said[0] == '\0' ? 60 : (int)strcspn(said, "\n"),
                said[0] == '\0' ? text_format(b->arena, "%.40s cannot be run",
                                              b->compiler) : said);
    else if (count > ERRORS_MAX)
        last->more = count - ERRORS_MAX;
}

/* Runs the compiler with its output caught, so that its errors become one message.
 * It writes beside the library and the result is renamed, so another program sees
 * all of it or nothing.  Of a compiler that fails, nothing stays. */
static bool compile(struct build *b)
{
    char *said = arena_alloc(b->arena, SAID_BYTES, 1);
    const char *part = text_format(b->arena, "%s.%ld", b->library, (long)getpid());
    char *rule = text_format(b->arena, "%s.d", part);
    char *word[CC_WORDS_MAX + FLAGS + 10], *save = NULL;
    size_t n = 0;
    bool ok;

    for (char *at = strtok_r(arena_text(b->arena, b->compiler), " ", &save);
         at != NULL; at = strtok_r(NULL, " ", &save)) {
        if (n == CC_WORDS_MAX)
            return err_set(b->err, ERR_POLICY, b->pos, "CC must have at most %u words, and is "
                           "'%.60s ...'", CC_WORDS_MAX, b->compiler);
        word[n++] = at;
    }
    for (size_t i = 0; i < FLAGS; i++)
        word[n++] = arena_text(b->arena, flag[i]);
    word[n++] = text_format(b->arena, "-I%s", b->headers);
    /* The compiler lists the headers that it read: a change of one builds anew. */
    word[n++] = arena_text(b->arena, "-MMD");
    word[n++] = arena_text(b->arena, "-MF");
    word[n++] = rule;
    word[n++] = arena_text(b->arena, "-o");
    word[n++] = arena_text(b->arena, part);
    word[n++] = arena_text(b->arena, b->source);
    word[n] = NULL;
    const struct program cc = { .word = word, .folder = -1, .said = said,
                                .said_bytes = SAID_BYTES };
    int status = program_run(&cc);

    if (status != 0)
        tell_errors(b, status, said);
    ok = status == 0 && write_deps(b, rule);
    if (ok && rename(part, b->library) != 0)
        ok = err_set(b->err, ERR_IO, b->pos, "%.200s cannot be written", b->library);
    (void)unlink(rule);
    if (!ok)
        (void)unlink(part);
    return ok;
}

const char *build_library(struct arena *arena, const char *source, struct err_pos pos,
                          struct err *err)
{
    const char *named = getenv("CC");
    char *whole = realpath(source, NULL);
    struct build b = {
        .arena = arena, .pos = pos, .err = err,
        .source = arena_text(arena, whole != NULL ? whole : source),
        .compiler = named != NULL && named[strspn(named, " ")] != '\0' ? named + strspn(named, " ")
                                                              : "cc",
        .cache = cache_folder(arena),
    };

    free(whole);
    if (!make_cache(&b) || !name_files(&b))
        return NULL;
    if (!is_current(&b) && (!write_headers(&b) || !compile(&b)))
        return NULL;
    return b.library;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * archive.c - collects what provenance.json names.
 *
 * Inputs are stored below the folder that holds them all and the one in which the
 * experiment was run, so that paths from file to file stay as they are.
 */
#define _XOPEN_SOURCE 700       /* realpath */

#include "experiments/paper/archive.h"

#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "experiments/paper/pack.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/folder.h"
#include "sim/text/hash.h"
#include "sim/text/out.h"
#include "sim/text/paths.h"

#define FROM_THERE "Run `clustersim archive` in the folder in which the experiment was run."

/* An archive, or a copy, that is being made. */
struct making {
    struct arena *arena;
    const char *dir, *provenance; /* the results folder, and its provenance.json */
    const struct conf_node *tree;       /* of provenance.json */
    const char *root;           /* the folder that holds all inputs and the one of the run:
                                 * "/a/b", or "" */
    struct pack_item *item;     /* the entries so far */
    size_t count, room;         /* of `item` */
};

/* Adds a file of the archive.  Its texts are borrowed and must live as long as
 * m->arena. */
static void add_item(struct making *m, struct pack_item item)
{
    ARENA_REACH(m->arena, m->item, m->room, m->count);
    m->item[m->count++] = item;
}

/* Returns the path without links and dots, so that two names of one file are one
 * entry.  NULL: it is not there. */
static const char *real_path(const struct making *m, const char *path)
{
    char *whole = realpath(path, NULL);
    const char *text = whole == NULL ? NULL : arena_text(m->arena, whole);

    free(whole);
    return text;
}

/* A text of provenance.json, or NULL and err. */
static const char *text_at(const struct making *m, const char *path, struct err *err)
{
    const struct conf_node *node = conf_find(m->tree, path);
    struct err_pos pos = { m->provenance, 0, 0 };

    if (node != NULL && conf_kind(node) == CONF_SCALAR)
        return conf_text(node);
    err_set(err, ERR_SCHEMA, pos, "key '%s' is not there", path);
    return NULL;
}

/* Has each input a file and a hash?  Both are then texts. */
static bool check_inputs(const struct making *m, const struct conf_node *list,
                         struct err *err)
{
    struct err_pos pos = { m->provenance, 0, 0 };

    for (size_t i = 0; i < conf_count(list); i++) {
        const struct conf_node *input = conf_item(list, i);
        bool map = conf_kind(input) == CONF_MAP;
        const struct conf_node *file = map ? conf_get(input, "file") : NULL;
        const struct conf_node *was = map ? conf_get(input, "xxh64") : NULL;

        if (file == NULL || was == NULL || conf_kind(file) != CONF_SCALAR ||
            conf_kind(was) != CONF_SCALAR)
            return err_set(err, ERR_SCHEMA, pos, "an input must have 'file' and 'xxh64'");
    }
    return true;
}

/* Reads provenance.json, which the results name their inputs in.  It is written
 * last, so a folder without it holds a run that did not end. */
static bool read_provenance(struct making *m, struct err *err)
{
    struct err_pos pos = { m->provenance, 0, 0 };
    const struct conf_node *list;

    if (!path_is_file(m->provenance)) {
        err_set(err, ERR_IO, pos, "is not there: the folder holds no finished results");
        return err_hint(err, "`clustersim run EXPERIMENT.yaml -o DIR` makes a folder of "
                        "results.");
    }
    m->tree = conf_load(m->arena, m->provenance, err);
    if (m->tree == NULL)
        return false;
    list = conf_kind(m->tree) == CONF_MAP ? conf_get(m->tree, "inputs") : NULL;
    if (list != NULL && conf_kind(list) == CONF_LIST && conf_count(list) > 0)
        return check_inputs(m, list, err);
    return err_set(err, ERR_SCHEMA, pos, "key 'inputs' must be a list of files");
}

/* Returns the whole path of the file that was run, which need not be among the inputs;
 * NULL: err. */
static const char *find_run(const struct making *m, struct err *err)
{
    const char *file = text_at(m, "file", err), *path = NULL;

    if (file != NULL)
        path = real_path(m, file);
    if (file == NULL || path != NULL)
        return path;
    err_set(err, ERR_IO, (struct err_pos){ file, 0, 0 }, "is not there, and %s was made from "
            "it", m->dir);
    err_hint(err, FROM_THERE);
    return NULL;
}

/* Cuts m->root to what it has in common with a whole path.  For example, "/home/a/run" and
 * "/home/a/data/x.csv" have "/home/a" in common.  A folder counts whole, so that "/home/ab"
 * and "/home/ac" have "/home". */
static void narrow_root(struct making *m, const char *path)
{
    size_t i = 0, slash = 0;

    for (; m->root[i] == path[i] && path[i] != '\0'; i++)
        if (path[i] == '/')
            slash = i;
    if ((m->root[i] == '\0' && path[i] == '/') || (m->root[i] == '\0' && path[i] == '\0'))
        slash = i;
    m->root = text_format(m->arena, "%.*s", (int)slash, m->root);
}

/* Returns an input that the YAML file at `path` names by its whole path, where it would be
 * looked for on another machine, too; NULL: none.  The text is searched as it is, comments
 * too: better refuse one too many than pack a file that runs nowhere else. */
static const char *find_absolute(const struct making *m, const char *path)
{
    const struct conf_node *list = conf_get(m->tree, "inputs");
    size_t n = strlen(path), room = 1 << 16, used = 0, got;
    char *text;
    FILE *file;

    if (n < 5 || (strcmp(path + n - 5, ".yaml") != 0 && strcmp(path + n - 4, ".yml") != 0))
        return NULL;
    file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    text = arena_alloc(m->arena, room + 1, 1);
    while ((got = fread(text + used, 1, room - used, file)) > 0) {
        used += got;
        if (used == room) {
            text = arena_grow(m->arena, text, room + 1, 2 * room + 1, 1);
            room *= 2;
        }
    }
    fclose(file);
    text[used] = '\0';
    for (size_t i = 0; i < conf_count(list); i++) {
        const char *input = real_path(m, conf_text(conf_get(conf_item(list, i), "file")));

        if (input != NULL && strstr(text, input) != NULL)
            return input;
    }
    return NULL;
}

/* One input: it is there, as it was, and names no other one by its whole path. */
static bool check_input(struct making *m, const struct conf_node *input, struct err *err)
{
    struct err_pos pos = { conf_text(conf_get(input, "file")), 0, 0 };
    const char *was = conf_text(conf_get(input, "xxh64")), *absolute;
    uint64_t hash;

    if (!hash_file(pos.file, &hash)) {
        err_set(err, ERR_IO, pos, "cannot be read, and %s was made from it", m->dir);
        return err_hint(err, FROM_THERE);
    }
    if (hash != strtoull(was, NULL, 16)) {
        err_set(err, ERR_IO, pos, "has changed since %s was made from it", m->dir);
        return err_hint(err, "Run the experiment again, or put the file back.");
    }
    absolute = find_absolute(m, pos.file);
    if (absolute == NULL)
        return true;
    err_set(err, ERR_SCHEMA, pos, "must name files by relative paths, and names '%.120s'",
            absolute);
    return err_hint(err, "Another machine has no such folder.  Relative paths are those from "
                    "the file that names them.");
}

/* Adds the inputs, each below the folder that holds them all.  The first pass
 * checks that no input has changed and finds this folder; only then are the names
 * in the archive known.  O(inputs x their bytes), as each one is hashed. */
static bool add_inputs(struct making *m, const char *here, struct err *err)
{
    const struct conf_node *list = conf_get(m->tree, "inputs");

    m->root = here;
    for (size_t i = 0; i < conf_count(list); i++) {
        if (!check_input(m, conf_item(list, i), err))
            return false;
        narrow_root(m, real_path(m, conf_text(conf_get(conf_item(list, i), "file"))));
    }
    for (size_t i = 0; i < conf_count(list); i++) {
        const char *path = real_path(m, conf_text(conf_get(conf_item(list, i), "file")));

        add_item(m, (struct pack_item){
            text_format(m->arena, "inputs/%s", path + strlen(m->root) + 1), path, NULL });
    }
    return true;
}

/* The files of a folder and of those in it; names with a leading dot, and links, are
 * no results.  Depth: of `plots/ieee`. */
static bool add_folder(struct making *m, const char *path, const char *name, int depth,
                       struct err *err)
{
    struct err_pos pos = { path, 0, 0 };
    DIR *dir = opendir(path);
    struct dirent *entry;
    bool ok = true;

    if (dir == NULL)
        return err_set(err, ERR_IO, pos, "cannot be read: %s", strerror(errno));
    while (ok && (entry = readdir(dir)) != NULL) {
        const char *file = path_join(m->arena, path, entry->d_name);
        const char *as = text_format(m->arena, "%s/%s", name, entry->d_name);
        struct stat stat;

        if (entry->d_name[0] == '.' || lstat(file, &stat) != 0)
            continue;
        if (S_ISREG(stat.st_mode))
            add_item(m, (struct pack_item){ as, file, NULL });
        else if (S_ISDIR(stat.st_mode) && depth > 0)
            ok = add_folder(m, file, as, depth - 1, err);
    }
    closedir(dir);
    return ok;
}

/* "../" for each folder of `from` that `to` does not lie in, then the rest of `to`.  For
 * example, from "/a/b/c" to "/a/d.yaml" it is "../../d.yaml". */
static const char *relative_path(const struct making *m, const char *from, const char *to)
{
    const char *up = "";
    size_t common = 0;

    for (size_t i = 0;; i++) {
        bool from_end = from[i] == '\0' || from[i] == '/';
        bool to_end = to[i] == '\0' || to[i] == '/';

        if (from_end && to_end)
            common = i;
        if (from[i] != to[i] || from[i] == '\0')
            break;
    }
    for (const char *rest = from + common; *rest != '\0'; rest++)
        if (*rest == '/' && rest[1] != '\0')
            up = text_format(m->arena, "%s../", up);
    return text_format(m->arena, "%s%s", up, to + common + (to[common] == '/'));
}

/* Returns word `i` of the command; "" where it is no text. */
static const char *word_at(const struct conf_node *list, size_t i)
{
    const struct conf_node *word = conf_item(list, i);

    return conf_kind(word) == CONF_SCALAR ? conf_text(word) : "";
}

/* Options that say what is run, as "--set=a=b"; where results go and how many threads run
 * does not.  Returns them, in the arena, and their number; NULL: err. */
static const char **list_options(const struct making *m, size_t *kept_count, struct err *err)
{
    static const char *const kept[] = { "--set", "--seeds", "--only", "--audit", "--at" };
    const struct conf_node *list = conf_get(m->tree, "command");
    struct err_pos pos = { m->provenance, 0, 0 };
    size_t count = list == NULL || conf_kind(list) != CONF_LIST ? 0 : conf_count(list);
    const char **option = arena_alloc(m->arena, count + 1, sizeof *option);

    *kept_count = 0;
    for (size_t i = 0; i < count; i++) {
        const char *word = word_at(list, i);

        if (strncmp(word, "--shard", 7) == 0) {
            err_set(err, ERR_USAGE, pos, "%s is a shard of a run", m->dir);
            err_hint(err, "`clustersim merge` puts shards together.");
            return NULL;
        }
        for (size_t k = 0; k < sizeof kept / sizeof kept[0]; k++) {
            size_t n = strlen(kept[k]);
            bool joined = strncmp(word, kept[k], n) == 0 && word[n] == '=';

            if (!joined && (strcmp(word, kept[k]) != 0 || i + 1 == count))
                continue;
            option[(*kept_count)++] =
                text_format(m->arena, "%s=%s", kept[k],
                            joined ? word + n + 1 : word_at(list, ++i));
            break;
        }
    }
    return option;
}

/* Writes the options as items of a list in JSON.  False: err is that of
 * list_options(). */
static bool write_options(const struct making *m, struct out *out, struct err *err)
{
    size_t count;
    const char **option = list_options(m, &count, err);

    for (size_t i = 0; option != NULL && i < count; i++) {
        out_text(out, i > 0 ? ", " : "");
        out_json_text(out, option[i]);
    }
    return option != NULL;
}

/* Appends a key with a text as its value, and a comma. */
static void write_key(struct out *out, const char *key, const char *text)
{
    out_printf(out, "  \"%s\": ", key);
    out_json_text(out, text);
    out_text(out, ",\n");
}

/* Writes archive.json into memory, and adds it. */
static bool add_json(struct making *m, const char *here, struct err *err)
{
    const char *file = find_run(m, err), *version = text_at(m, "version", err);
    const char *program = text_at(m, "program_xxh64", err);
    char *text = NULL;
    size_t bytes;
    FILE *memory;
    struct out *out;
    bool ok;

    if (file == NULL || version == NULL || program == NULL)
        return false;
    memory = open_memstream(&text, &bytes);
    assert(memory != NULL);
    out = out_stream(m->arena, "archive.json", memory);
    out_printf(out, "{\n  \"clustersim_archive\": %d,\n", ARCHIVE_FORMAT);
    write_key(out, "version", version);
    write_key(out, "program_xxh64", program);
    write_key(out, "folder", here + strlen(m->root) + (here[strlen(m->root)] == '/'));
    write_key(out, "experiment", relative_path(m, here, file));
    out_text(out, "  \"options\": [");
    ok = write_options(m, out, err);
    out_text(out, "]\n}\n");
    ok = out_close(out, err) && ok;
    fclose(memory);
    add_item(m, (struct pack_item){ "archive.json", NULL, arena_text(m->arena, text) });
    free(text);
    return ok;
}

/* The word as a shell takes it: in quotation marks.  A quotation mark within it ends the
 * marks, stands escaped, and begins them again. */
static const char *quote_word(struct arena *arena, const char *word)
{
    const char *quoted = "'";

    for (; *word != '\0'; word++)
        quoted = *word == '\'' ? text_format(arena, "%s'\\''", quoted)
                               : text_format(arena, "%s%c", quoted, *word);
    return text_format(arena, "%s'", quoted);
}

/* Copies one item below the folder `to`. */
static bool copy_item(const struct making *m, const char *to, const struct pack_item *item,
                      struct err *err)
{
    const char *whole = path_join(m->arena, to, item->name), *slash = strrchr(whole, '/');
    struct err_pos pos = { item->path, 0, 0 };
    struct folder *folder =
        folder_make(m->arena, text_format(m->arena, "%.*s", (int)(slash - whole), whole), err);
    struct out *out = folder == NULL ? NULL : out_in(m->arena, folder, slash + 1, err);
    FILE *in = out == NULL ? NULL : fopen(item->path, "rb");
    char block[1 << 14];
    bool ok = in != NULL;
    size_t got;

    if (out != NULL && in == NULL)
        (void)err_set(err, ERR_IO, pos, "cannot be read: %s", strerror(errno));
    while (ok && (got = fread(block, 1, sizeof block, in)) > 0)
        out_bytes(out, block, got);
    if (in != NULL && ferror(in)) {
        (void)err_set(err, ERR_IO, pos, "cannot be read to its end: %s", strerror(errno));
        ok = false;
    }
    if (in != NULL)
        fclose(in);
    if (ok)
        ok = out_close(out, err);
    else
        out_abandon(out);
    folder_close(folder);
    return ok;
}

bool archive_copy(struct arena *arena, const char *dir, const char *to,
                  struct archive_copy *copy, struct err *err)
{
    struct making m = { .arena = arena, .dir = dir,
                        .provenance = path_join(arena, dir, "provenance.json") };
    struct err_pos pos = { ".", 0, 0 };
    const char *here = real_path(&m, "."), *file, **option;
    struct folder *folder;
    size_t options = 0;
    bool ok = true;

    if (here == NULL)
        return err_set(err, ERR_IO, pos, "cannot be looked up: %s", strerror(errno));
    if (!read_provenance(&m, err) || !add_inputs(&m, here, err) ||
        (file = find_run(&m, err)) == NULL ||
        (option = list_options(&m, &options, err)) == NULL)
        return false;
    for (size_t i = 0; ok && i < m.count; i++)
        ok = copy_item(&m, to, &m.item[i], err);
    copy->folder = text_format(arena, "inputs%s", here + strlen(m.root));
    folder = ok ? folder_make(arena, path_join(arena, to, copy->folder), err) : NULL;
    folder_close(folder);
    ok = folder != NULL;
    copy->experiment = relative_path(&m, here, file);
    copy->options = "";
    for (size_t i = 0; i < options; i++)
        copy->options = text_format(arena, "%s %s", copy->options,
                                    quote_word(arena, option[i]));
    return ok;
}

bool archive_make(struct arena *arena, const char *dir, const char *path, struct err *err)
{
    struct making m = { .arena = arena, .dir = dir,
                        .provenance = path_join(arena, dir, "provenance.json") };
    struct err_pos pos = { ".", 0, 0 };
    const char *here = real_path(&m, ".");

    if (here == NULL)
        return err_set(err, ERR_IO, pos, "cannot be looked up: %s", strerror(errno));
    return read_provenance(&m, err) && add_inputs(&m, here, err) &&
           add_json(&m, here, err) && add_folder(&m, dir, "results", 2, err) &&
           pack_write(arena, path, m.item, m.count, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * reproduce.c - unpacks, runs again, and compares.
 *
 * An archive comes from somebody else, so that nothing of it is trusted: names stay
 * within the folder, options are one of five words, and the program that runs is
 * this one and not the archive's.  What is compared are the bytes of tables and of
 * the audit; of the first difference the line is shown.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "experiments/paper/archive.h"
#include "experiments/paper/pack.h"
#include "experiments/process/program.h"
#include "experiments/process/scratch.h"
#include "experiments/process/self.h"
#include "experiments/process/stop.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/hash.h"
#include "sim/text/paths.h"

#define OPTIONS_MAX 200
#define SHOWN_BYTES 100         /* of a line that differs, around the place */
#define TRIALS_FAILED 5         /* exit status of a run whose other trials are written */

/* A run of an archive that is made again. */
struct again {
    struct arena *arena;
    const char *path;           /* of the archive */
    const char *top;            /* the scratch folder */
    const struct conf_node *tree;       /* of archive.json */
    FILE *file;                 /* what people are told goes there */
    struct archive_told *told;  /* what came of it; the caller's */
    sigset_t held;              /* the signals' mask before stop_hold() */
    const char **name;          /* what is compared; some of them twice */
    uint32_t names, room;       /* of `name` */
};

/* Returns a text of archive.json; NULL with an error where it is missing or no
 * text. */
static const char *text_at(const struct again *a, const char *key, struct err *err)
{
    const struct conf_node *node = conf_get(a->tree, key);
    struct err_pos pos = { a->path, 0, 0 };

    if (node != NULL && conf_kind(node) == CONF_SCALAR)
        return conf_text(node);
    err_set(err, ERR_SCHEMA, pos, "archive.json: key '%s' must be a text", key);
    return NULL;
}

/* Reads archive.json and checks its format before anything else of the archive is
 * used. */
static bool read_json(struct again *a, struct err *err)
{
    const char *json = path_join(a->arena, a->top, "archive.json");
    struct err_pos pos = { a->path, 0, 0 };
    const char *format;

    if (!path_is_file(json))
        return err_set(err, ERR_SCHEMA, pos, "must hold archive.json, as `clustersim "
                       "archive` writes it");
    a->tree = conf_load(a->arena, json, err);
    if (a->tree == NULL) {
        err->pos.file = text_format(a->arena, "%s: archive.json", a->path);
        return false;
    }
    if (conf_kind(a->tree) != CONF_MAP)
        return err_set(err, ERR_SCHEMA, pos, "archive.json must hold a map");
    format = text_at(a, "clustersim_archive", err);
    if (format == NULL || atoi(format) == ARCHIVE_FORMAT)
        return format != NULL;
    return err_set(err, ERR_SCHEMA, pos, "must be of format %d, and is of format %.20s",
                   ARCHIVE_FORMAT, format);
}

/* Tells which program made the archive. */
static bool tell_program(struct again *a, struct err *err)
{
    const char *version = text_at(a, "version", err), *hash = text_at(a, "program_xxh64", err);
    uint64_t own = 0;

    if (version == NULL || hash == NULL)
        return false;
    if (self_open_name() != NULL)
        (void)hash_file(self_open_name(), &own);
    fprintf(a->file, "program  clustersim " CLUSTERSIM_VERSION ", %016" PRIx64 "; the "
            "archive's is %s", own, strtoull(hash, NULL, 16) == own ? "the same\n" : "");
    if (strtoull(hash, NULL, 16) != own)
        fprintf(a->file, "another: %s, %s\n", version, hash);
    return true;
}

/* An option that `clustersim fork` takes, and `run` does not. */
static bool is_fork_time(const char *option)
{
    return strncmp(option, "--at=", 5) == 0;
}

/* Words of an option as archive.json may have them: of these five alone.  They are given as
 * one word each, so that none can be taken for another one. */
static bool check_option(const struct again *a, const struct conf_node *node,
                         struct err *err)
{
    struct err_pos pos = { a->path, 0, 0 };
    const char *text = conf_kind(node) == CONF_SCALAR ? conf_text(node) : "";

    return strncmp(text, "--set=", 6) == 0 || strncmp(text, "--seeds=", 8) == 0 ||
           strncmp(text, "--only=", 7) == 0 || strncmp(text, "--audit=", 8) == 0 ||
           is_fork_time(text) ||
           err_set(err, ERR_SCHEMA, pos, "archive.json: an option must be --set, --seeds, "
                   "--only, --audit or --at, and is '%.60s'", text);
}

/* Does a path that is taken from a folder inputs/FOLDER stay in inputs?  For example, from
 * inputs/run the path "../data/x" stays, and "../../x" does not. */
static bool stays_within(const char *folder, const char *path)
{
    const char *text[] = { folder, path };
    int depth = 0;

    for (int i = 0; i < 2; i++)
        for (const char *part = text[i]; *part != '\0';) {
            size_t n = strcspn(part, "/");

            if (n == 0)
                return false;
            depth += n == 2 && memcmp(part, "..", 2) == 0 ? -1
                   : n == 1 && part[0] == '.' ? 0 : 1;
            if (depth < 0)
                return false;
            part += n + (part[n] == '/');
        }
    return true;
}

/* Returns a name by which this program can be run again. */
static char *own_name(struct arena *arena)
{
    char path[4096];

    if (self_open_name() != NULL)
        return arena_text(arena, self_open_name());
    return arena_text(arena, self_path(path, sizeof path) ? path : "clustersim");
}

/* Fills word, of OPTIONS_MAX + 8; it ends with NULL.  An archive of `clustersim fork` has
 * --at, and is run by fork. */
static bool make_words(const struct again *a, char **word, struct err *err)
{
    const struct conf_node *list = conf_get(a->tree, "options");
    const char *experiment = text_at(a, "experiment", err);
    struct err_pos pos = { a->path, 0, 0 };
    size_t n = 0;

    if (experiment == NULL)
        return false;
    if (list == NULL || conf_kind(list) != CONF_LIST || conf_count(list) > OPTIONS_MAX)
        return err_set(err, ERR_SCHEMA, pos, "archive.json: key 'options' must be a list of "
                       "at most %d", OPTIONS_MAX);
    word[n++] = own_name(a->arena);
    word[n++] = "run";
    word[n++] = "-q";
    word[n++] = text_format(a->arena, "--output=%s/again", a->top);
    for (size_t i = 0; i < conf_count(list); i++) {
        if (!check_option(a, conf_item(list, i), err))
            return false;
        if (is_fork_time(conf_text(conf_item(list, i))))
            word[1] = arena_text(a->arena, "fork");
        word[n++] = arena_text(a->arena, conf_text(conf_item(list, i)));
    }
    word[n++] = "--";
    word[n++] = arena_text(a->arena, experiment);
    word[n] = NULL;
    return true;
}

/* The last line of what the run said, for people. */
static bool run_failed(const struct again *a, int status, const char *said, struct err *err)
{
    struct err_pos pos = { a->path, 0, 0 };
    enum err_kind kind = status == 3 ? ERR_SCHEMA : status == 70 ? ERR_BUG : ERR_IO;

    err_set(err, kind, pos, "the run ended with status %d: %.*s", status,
            (int)strcspn(said, "\n"), said);
    return err_hint(err, "An older program may not know a key, nor a newer one take it.  What "
                    "a program of `exec:` needs besides its words is not in the archive.");
}

/* Runs in the folder that the experiment was run in, so that names are the same ones. */
static bool run_again(struct again *a, struct err *err)
{
    const char *folder = text_at(a, "folder", err);
    char *word[OPTIONS_MAX + 8], said[4096];
    struct program program = { .word = word, .folder = -1, .said = said,
                               .said_bytes = sizeof said, .held = &a->held };
    struct err_pos pos = { a->path, 0, 0 };
    int status;

    if (folder == NULL || !make_words(a, word, err))
        return false;
    if (!stays_within(folder, "") || !stays_within(folder, text_at(a, "experiment", err)))
        return err_set(err, ERR_SCHEMA, pos, "archive.json: keys 'folder' and 'experiment' "
                       "must lie in the archive");
    folder = text_format(a->arena, "%s/inputs/%s", a->top, folder);
    if (!path_make_folder(folder, err))
        return false;
    program.folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (program.folder < 0)
        return err_set(err, ERR_IO, pos, "cannot be unpacked: %s", strerror(errno));
    status = program_run(&program);
    (void)close(program.folder);
    return status == 0 || status == TRIALS_FAILED || run_failed(a, status, said, err);
}

/* Prints what of a line stands around its byte `at`; NULL: the file has no such line. */
static void tell_text(const struct again *a, const char *whose, const char *line, size_t at)
{
    size_t from = at < SHOWN_BYTES / 2 ? 0 : at - SHOWN_BYTES / 2;
    size_t bytes = line == NULL ? 0 : strcspn(line, "\n");

    if (line == NULL)
        fprintf(a->file, "  %-8s (no such line)\n", whose);
    else
        fprintf(a->file, "  %-8s %s%.*s%s\n", whose, from > 0 ? "..." : "", SHOWN_BYTES,
                line + from, bytes - from > SHOWN_BYTES ? "..." : "");
}

/* Tells where two files differ first; a line is NULL past the end of its file. */
static void tell_line(const struct again *a, const char *name, uint64_t number, char *was,
                      char *is)
{
    size_t at = 0;

    if (was != NULL)
        was[strcspn(was, "\n")] = '\0';
    if (is != NULL)
        is[strcspn(is, "\n")] = '\0';
    while (was != NULL && is != NULL && was[at] == is[at] && was[at] != '\0')
        at++;
    fprintf(a->file, "%s:%" PRIu64 ":%zu: differs\n", name, number, at + 1);
    tell_text(a, "archive", was, at);
    tell_text(a, "here", is, at);
}

/* Compares two tables line by line, and prints the first line that differs: a
 * reader sees which job or seed it is.  A file that ends earlier differs in the
 * line that it lacks. */
static bool same_files(const struct again *a, const char *name, FILE *was, FILE *is)
{
    char *line[2] = { NULL, NULL };
    size_t room[2] = { 0, 0 };
    bool same = true;

    for (uint64_t n = 1; same; n++) {
        ssize_t left = getline(&line[0], &room[0], was);
        ssize_t right = getline(&line[1], &room[1], is);

        if (left < 0 && right < 0)
            break;
        same = left == right && memcmp(line[0], line[1], (size_t)left) == 0;
        if (!same)
            tell_line(a, name, n, left < 0 ? NULL : line[0], right < 0 ? NULL : line[1]);
    }
    free(line[0]);
    free(line[1]);
    return same;
}

/* Compares one table of the archive with the one made here.  One that only one side
 * has counts as different. */
static void compare_file(struct again *a, const char *name)
{
    FILE *was = fopen(text_format(a->arena, "%s/results/%s", a->top, name), "rb");
    FILE *is = fopen(text_format(a->arena, "%s/again/%s", a->top, name), "rb");
    bool same = was != NULL && is != NULL && same_files(a, name, was, is);

    a->told->files++;
    a->told->different += !same;
    if (was == NULL || is == NULL)
        fprintf(a->file, "%s: only %s\n", name, was != NULL ? "in the archive" : "here");
    if (was != NULL)
        fclose(was);
    if (is != NULL)
        fclose(is);
}

/* Tables, and the audit: it has the digest of all events, and nothing of the machine. */
static bool is_compared(const char *name)
{
    size_t n = strlen(name);

    return (n > 4 && strcmp(name + n - 4, ".csv") == 0) || strcmp(name, "audit.json") == 0;
}

/* For qsort(). */
static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Adds what is compared of a folder to the names; returns how many there are. */
static uint32_t list_files(struct again *a, const char *folder)
{
    DIR *dir = opendir(path_join(a->arena, a->top, folder));
    struct dirent *entry;

    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (is_compared(entry->d_name))
            ARENA_ADD(a->arena, a->name, a->names, a->room,
                      arena_text(a->arena, entry->d_name));
    if (dir != NULL)
        closedir(dir);
    return a->names;
}

/* Compares all tables that either side has, by name, each once.  An archive without
 * tables is refused: nothing would differ, and that would look like success.  A name that
 * stands in both folders is listed twice, and compared once. */
static bool compare_files(struct again *a, struct err *err)
{
    struct err_pos pos = { a->path, 0, 0 };

    if (list_files(a, "results") == 0)
        return err_set(err, ERR_SCHEMA, pos, "must hold tables, results/*.csv, and has none");
    (void)list_files(a, "again");
    qsort(a->name, a->names, sizeof *a->name, compare_names);
    for (uint32_t i = 0; i < a->names && !stop_waits(); i++)
        if (i == 0 || strcmp(a->name[i], a->name[i - 1]) != 0)
            compare_file(a, a->name[i]);
    return true;
}

/* The inputs that provenance.json of that folder lists; NULL: none that can be read. */
static const struct conf_node *inputs_of(const struct again *a, const char *folder)
{
    struct err ignored = { 0 };
    const char *path = text_format(a->arena, "%s/%s/provenance.json", a->top, folder);
    const struct conf_node *tree = conf_load(a->arena, path, &ignored);
    const struct conf_node *list = tree == NULL || conf_kind(tree) != CONF_MAP
                                       ? NULL : conf_get(tree, "inputs");

    return list == NULL || conf_kind(list) != CONF_LIST ? NULL : list;
}

/* A key of input `i`; "": it has none. */
static const char *input_text(const struct conf_node *list, size_t i, const char *key)
{
    const struct conf_node *item = conf_item(list, i);
    const struct conf_node *node = conf_kind(item) == CONF_MAP ? conf_get(item, key) : NULL;

    return node == NULL || conf_kind(node) != CONF_SCALAR ? "" : conf_text(node);
}

/* Tells which inputs are not those from which the archive's results were made. */
static void tell_inputs(const struct again *a)
{
    const struct conf_node *was = inputs_of(a, "results"), *is = inputs_of(a, "again");

    for (size_t i = 0; was != NULL && is != NULL && i < conf_count(was); i++)
        for (size_t k = 0; k < conf_count(is); k++)
            if (strcmp(input_text(was, i, "file"), input_text(is, k, "file")) == 0 &&
                strcmp(input_text(was, i, "xxh64"), input_text(is, k, "xxh64")) != 0)
                fprintf(a->file, "input %s: changed after the results were made from it\n",
                        input_text(was, i, "file"));
}

bool archive_reproduce(struct arena *arena, const char *path, FILE *file,
                       struct archive_told *told, struct err *err)
{
    struct again a = { .arena = arena, .path = path, .file = file, .told = told };
    bool ok;

    *told = (struct archive_told){ 0, 0 };
    stop_hold(&a.held);
    a.top = scratch_make(arena, err);
    ok = a.top != NULL && pack_read(path, a.top, &pack_limits, err) && read_json(&a, err) &&
         tell_program(&a, err) && run_again(&a, err);
    if (ok) {
        tell_inputs(&a);
        ok = compare_files(&a, err);
    }
    if (a.top != NULL)
        scratch_remove(a.top);
    stop_release(&a.held);
    return ok;
}

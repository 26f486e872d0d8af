/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * turned.c - experiments with their lists turned round.
 *
 * Every shipped experiment is run from a copy of the tree, and from one in which each
 * list without a stated order is turned round, in the experiment, in its
 * cluster and in its workload.  The rows of the tables, sorted, must be the same
 * bytes.  From another copy, in which every list `types` is turned, the policies
 * that forecast must have the same rows.  One seed stands for all: a seed
 * changes draws, not code; so does a rate ten times as high (`shorten`).
 *
 * Lists whose order is stated (`clustersim explain KEY`): the nodes of a
 * cluster, pairs and series (between, uniform, times, points, until), options (the
 * first is what others are compared with), and `types` for policies that do not forecast.
 */
#include <glob.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiments/spec/experiment.h"
#include "policies/host/host.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "tests/aid/turned.h"

#define COUNT(ARRAY) (sizeof(ARRAY) / sizeof((ARRAY)[0]))

static struct program program;

/* ---- a file with its lists turned round -------------------------------- */

/* Copies of the tree: nothing turned, all lists but `types`, and these alone. */
enum copy { PLAIN, LISTS, TYPES };
static const char *const copy_name[] = { "plain", "lists", "types" };

static bool is_turned(const char *key, enum copy copy)
{
    static const char *const stated[] = { "nodes", "between", "uniform",
                                          "times", "points", "until",
                                          "options" };

    if (copy != LISTS || strcmp(key, "types") == 0)
        return copy == TYPES && strcmp(key, "types") == 0;
    for (size_t i = 0; i < COUNT(stated); i++)
        if (strcmp(key, stated[i]) == 0)
            return false;
    return true;
}

/* 600,000 requests a second overload 20 cards as 60,000 do, which take a tenth of the
 * time. */
static const char *shorten(const char *text)
{
    return strcmp(text, "600000/s") == 0 ? "60000/s" : text;
}

static void put_scalar(FILE *file, const char *text)
{
    text = shorten(text);
    fputc('"', file);
    for (; *text != '\0'; text++) {
        if (*text == '"' || *text == '\\')
            fputc('\\', file);
        fputc(*text, file);
    }
    fputc('"', file);
}

/* As one flow collection.  Maps keep their order: a sweep is a map, and the
 * order of its keys is that of the points' labels. */
static void put(FILE *file, const struct conf_node *node, const char *key,
                enum copy copy)
{
    size_t count = conf_kind(node) == CONF_SCALAR ? 0 : conf_count(node);

    if (conf_kind(node) == CONF_SCALAR) {
        put_scalar(file, conf_text(node));
        return;
    }
    fputc(conf_kind(node) == CONF_LIST ? '[' : '{', file);
    for (size_t i = 0; i < count; i++) {
        if (conf_kind(node) == CONF_LIST) {
            put(file, conf_item(node, is_turned(key, copy) ? count - 1 - i
                                                           : i), "", copy);
        } else {
            put_scalar(file, conf_key(node, i));
            fputs(": ", file);
            put(file, conf_value(node, i), conf_key(node, i), copy);
        }
        fputs(i + 1 < count ? ",\n" : "", file);
    }
    fputc(conf_kind(node) == CONF_LIST ? ']' : '}', file);
}

static void turn(const char *path, enum copy copy)
{
    struct arena *arena = arena_new(1 << 16);
    struct err err = { 0 };
    const struct conf_node *root = conf_load(arena, path, &err);
    FILE *file;

    if (root != NULL) {
        file = fopen(path, "w");
        assert_non_null(file);
        put(file, root, "", copy);
        fputc('\n', file);
        assert_int_equal(fclose(file), 0);
    }
    arena_free(arena);
}

static void turn_all(const char *pattern, enum copy copy)
{
    char full[256];
    glob_t found;

    snprintf(full, sizeof full, "%s/%s/%s", program.folder, copy_name[copy],
             pattern);
    assert_int_equal(glob(full, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        turn(found.gl_pathv[i], copy);
    globfree(&found);
}

/* ---- rows without their order ------------------------------------------- */

static int compare_lines(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorts the lines of a text in place of it. */
static char *sorted(char *text)
{
    size_t lines = 0, room = strlen(text) + 2, used = 0;
    char **line = calloc(room, sizeof *line), *out = calloc(room, 1);

    assert_non_null(line);
    assert_non_null(out);
    for (char *at = strtok(text, "\n"); at != NULL; at = strtok(NULL, "\n"))
        line[lines++] = at;
    qsort(line, lines, sizeof *line, compare_lines);
    for (size_t i = 0; i < lines; i++)
        used += (size_t)snprintf(out + used, room - used, "%s\n", line[i]);
    free(line);
    free(text);
    return out;
}

/* NULL: there is no such table. */
static char *rows(const char *dir, const char *table)
{
    char path[256], *text;

    snprintf(path, sizeof path, "%s/%s.csv", dir, table);
    text = program_read(path);
    return text == NULL ? NULL : sorted(text);
}

static bool same_rows(const char *a, const char *b, const char *table)
{
    char *x = rows(a, table), *y = rows(b, table);
    bool same = (x == NULL) == (y == NULL) &&
                (x == NULL || strcmp(x, y) == 0);

    free(x);
    free(y);
    return same;
}

/* ---- the experiments ------------------------------------------------------ */

/* Days of requests and of jobs add draws, not code: these files end early.  Returns a list of
 * settings, which ends with NULL where there are fewer than two; NULL: there are none. */
static const char *const *end_of(const char *experiment)
{
    static const struct {
        const char *file, *setting[2];
    } cut[] = {
        { "C2_recommender.yaml", { "until=74s" } },
        { "small_model.yaml", { "until=100s", "warmup=1min" } },
        { "A4_small_model.yaml", { "until=100s", "warmup=1min" } },
        { "A3_lending.yaml", { "until=3h" } },
        { "A3_lending_ratio.yaml", { "until=3h" } },
        { "A6_hardware.yaml", { "until=3h" } },
        { "A6_learned_mix.yaml", { "until=3h" } },
        { "B1_static_steady.yaml", { "until=3h" } },
        { "B2_dynamic_bursts.yaml", { "until=3h" } },
        { "B3_hybrid.yaml", { "until=3h" } },
        { "B4_learned.yaml", { "until=3h" } },
        { "B5_contention.yaml", { "until=3h" } },
        { "B6_phases.yaml", { "until=1h" } },
        { "B7_shifting.yaml", { "until=1h" } },
        { "C3_assistant.yaml", { "until=3min" } },
        { "E10_cards.yaml", { "until=12h" } },
        { "co_execution.yaml", { "until=1h" } },
        { "harvest.yaml", { "until=1h" } },
        { "lend_serving.yaml", { "until=6h" } },
        { "rollmux.yaml", { "until=2h" } },
        { "steady_vs_burst.yaml", { "until=3h" } },
        { "dpo_vs_static.yaml", { "until=3h" } },
        { "train_advised.yaml", { "until=30min" } },
    };
    const char *name = strrchr(experiment, '/') + 1;

    for (size_t i = 0; i < COUNT(cut); i++)
        if (strcmp(name, cut[i].file) == 0)
            return cut[i].setting;
    return NULL;
}

/* Of all policies, or (not NULL) of those named. */
static int run(const char *experiment, const char *out, const char *only)
{
    const char *argv[16] = { program.path, "run", experiment, "--seeds", "1",
                             "-q", "-o", out, "--set", "output.plots=[]" };
    const char *const *setting = end_of(experiment);
    size_t used = 10;

    for (size_t i = 0; setting != NULL && i < 2 && setting[i] != NULL; i++) {
        argv[used++] = "--set";
        argv[used++] = setting[i];
    }
    if (only != NULL) {
        argv[used++] = "--only";
        argv[used++] = only;
    }
    return program_spawn(argv, NULL);
}

/* The first policy is the baseline where none is named. */
static bool names_baseline(const char *path)
{
    struct arena *arena = arena_new(1 << 16);
    struct err err = { 0 };
    const struct conf_node *root = conf_load(arena, path, &err);
    bool named = root != NULL && conf_get(root, "baseline") != NULL;

    arena_free(arena);
    return named;
}

static void drop(const char *dir)
{
    const char *argv[] = { "rm", "-rf", dir, NULL };

    assert_int_equal(program_spawn(argv, NULL), 0);
}

static bool file_lists_types(const char *path);

/* Is there a list `types` of two or more, here or in a file that is named here? */
static bool lists_types(const struct conf_node *node, const char *key, const char *path)
{
    size_t count = conf_kind(node) == CONF_SCALAR ? 0 : conf_count(node);
    const char *text = count > 0 || conf_kind(node) != CONF_SCALAR ? "" : conf_text(node);
    size_t length = strlen(text);
    char other[512];

    if (length > 5 && strcmp(text + length - 5, ".yaml") == 0) {
        snprintf(other, sizeof other, "%.*s/%s", (int)(strrchr(path, '/') - path), path, text);
        return access(other, R_OK) == 0 && file_lists_types(other);
    }
    if (conf_kind(node) == CONF_LIST && count > 1 && strcmp(key, "types") == 0)
        return true;
    for (size_t i = 0; i < count; i++)
        if (conf_kind(node) == CONF_LIST
                ? lists_types(conf_item(node, i), "", path)
                : lists_types(conf_value(node, i), conf_key(node, i), path))
            return true;
    return false;
}

static bool file_lists_types(const char *path)
{
    struct arena *arena = arena_new(1 << 16);
    struct err err = { 0 };
    const struct conf_node *root = conf_load(arena, path, &err);
    bool lists = root != NULL && lists_types(root, "", path);

    arena_free(arena);
    return lists;
}

/* The policies that forecast, as "a,b"; empty: none, or nothing to run. */
static void forecasters(const char *path, char *names, size_t room)
{
    struct arena *arena = arena_new(1 << 16);
    struct experiment_options options = { .program_hash = 1 };
    struct err err = { 0 };
    const struct experiment *experiment = experiment_read(arena, path, &options, &err);
    size_t used = 0;

    names[0] = '\0';
    for (uint32_t i = 0; experiment != NULL && i < experiment->policy_count; i++)
        if (experiment->point[0].policy[i]->policy->flags & CS_FORECASTS)
            used += (size_t)snprintf(names + used, room - used, "%s%s",
                                     used > 0 ? "," : "",
                                     experiment->policy_name[i]);
    arena_free(arena);
}

/* Names the tables that differ from those in the folder a. */
static bool same_tables(const char *path, enum copy copy, const char *only)
{
    static const char *const table[] = { "summary", "jobs", "phases",
                                         "timeline", "services", "checks",
                                         "compare" };
    size_t tables = COUNT(table);
    char other[256], a[128], b[128];
    bool same = true;

    snprintf(other, sizeof other, "%s/%s/%s", program.folder, copy_name[copy],
             path);
    snprintf(a, sizeof a, "%s/a", program.folder);
    snprintf(b, sizeof b, "%s/b", program.folder);
    if (run(other, b, only) != 0) {
        print_error("%s: does not run with its %s turned\n", path,
                    copy_name[copy]);
        return false;
    }
    tables -= names_baseline(path) ? 0 : 1;
    for (size_t i = 0; i < tables; i++)
        if (!same_rows(a, b, table[i])) {
            print_error("%s: %s.csv differs with its %s turned\n", path,
                        table[i], copy_name[copy]);
            same = false;
        }
    drop(b);
    return same;
}

/* A question to advise has no tables; traces that are not part of the project
 * may be absent, and weights that an experiment learns. */
static bool same_turned(const char *path)
{
    char only[256], a[128], plain[256];
    int status;

    snprintf(a, sizeof a, "%s/a", program.folder);
    snprintf(plain, sizeof plain, "%s/%s/%s", program.folder, copy_name[PLAIN], path);
    status = run(plain, a, NULL);
    if (status == 2 || status == 3 || status == 4) {
        print_message("%s: not run (status %d)\n", path, status);
        return true;
    }
    bool same = status == 0 && same_tables(path, LISTS, NULL);

    forecasters(path, only, sizeof only);
    if (only[0] != '\0' && file_lists_types(path))
        same = same && run(plain, a, only) == 0 &&
               same_tables(path, TYPES, only);
    drop(a);
    return same;
}

unsigned count_unlike(const char *pattern, size_t at_least)
{
    unsigned unlike = 0;
    glob_t found;

    assert_int_equal(glob(pattern, 0, NULL, &found), 0);
    assert_true(found.gl_pathc >= at_least);
    for (size_t i = 0; i < found.gl_pathc; i++)
        unlike += !same_turned(found.gl_pathv[i]);
    globfree(&found);
    return unlike;
}

/* Traces beside the checkout lie beside the copies, too, if there are any. */
static void link_shared(void)
{
    char from[PATH_MAX], to[128];

    assert_non_null(getcwd(from, sizeof from - sizeof "/../shared"));
    strcat(from, "/../shared");
    snprintf(to, sizeof to, "%s/shared", program.folder);
    if (access(from, R_OK) == 0)
        assert_int_equal(symlink(from, to), 0);
}

static int copy_tree(void **state)
{
    static const char *const from[] = { "experiments", "workloads", "models",
                                        "policies" };
    static const char *const turned[] = {
        "experiments/*.yaml", "experiments/*/*.yaml", "workloads/*.yaml",
        "models/clusters/*.yaml" };

    (void)state;
    link_shared();
    for (int copy = PLAIN; copy <= TYPES; copy++) {
        char to[128];
        snprintf(to, sizeof to, "%s/%s", program.folder, copy_name[copy]);
        const char *mkdir_argv[] = { "mkdir", to, NULL };
        assert_int_equal(program_spawn(mkdir_argv, NULL), 0);
        for (size_t i = 0; i < COUNT(from); i++) {
            const char *argv[] = { "cp", "-r", from[i], to, NULL };
            assert_int_equal(program_spawn(argv, NULL), 0);
        }
        for (size_t i = 0; i < COUNT(turned); i++)
            turn_all(turned[i], (enum copy)copy);
    }
    return 0;
}

#ifdef __clang__
static void skip_test(void **state)
{
    (void)state;
    skip();
}
#endif

int turned_main(const char *argv0, struct CMUnitTest *tests, size_t count)
{
#ifdef __clang__
    print_message("skip: tried by the build with gcc; the others give the same "
                  "bytes (same_bytes.sh)\n");
    for (size_t i = 0; i < count; i++)
        tests[i].test_func = skip_test;
#endif
    program_open(&program, argv0);
    int failed = _cmocka_run_group_tests("order", tests, count, copy_tree, NULL);
    program_close(&program);
    return failed;
}

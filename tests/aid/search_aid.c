/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * search_aid.c - commands that search, and the tables that they write.
 */
#include "tests/aid/search_aid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/cli/cli.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"

const char search_head[] =
    "experiment: turn\n"
    "seeds: 12\n"
    "cluster: {nodes: [{name: gpu, count: 2, gpus: {type: generic, count: 8}}]}\n"
    "workload:\n"
    "  arrival: {process: poisson, rate: 20/h}\n"
    "  jobs: 100\n"
    "  mix: [{recipe: trace, gpus: 4, duration: {lognormal: {mean: 900s, cv: 2}}}]\n"
    "policies: [fcfs, sjf]\n";

int search_setup(void **state)
{
    struct search_world *w = calloc(1, sizeof *w);

    assert_non_null(w);
    w->arena = arena_new(1 << 16);
    scratch_open(&w->scratch);
    *state = w;
    return 0;
}

int search_teardown(void **state)
{
    struct search_world *w = *state;

    scratch_close(&w->scratch);
    arena_free(w->arena);
    free(w);
    return 0;
}

void search_write(struct search_world *w, const char *rest)
{
    char text[4096];

    snprintf(text, sizeof text, "%s%s", search_head, rest);
    scratch_write(&w->scratch, "e.yaml", text);
}

/* Runs the command and keeps what it says.  Returns its status. */
static int run_command(struct search_world *w, int argc, char **argv)
{
    FILE *out = tmpfile();
    int status;

    assert_non_null(out);
    status = cli_main(argc, argv, out, out);
    rewind(out);
    w->said[fread(w->said, 1, sizeof w->said - 1, out)] = '\0';
    fclose(out);
    return status;
}

int search_validate(struct search_world *w)
{
    char file[256];
    char *argv[] = { "clustersim", "validate", file };

    snprintf(file, sizeof file, "%s", scratch_path(&w->scratch, "e.yaml"));
    return run_command(w, 3, argv);
}

int search_command(struct search_world *w, const char *name, const char *folder,
                   const char *set, const char *threads)
{
    char file[256], dir[256];
    char *argv[12] = { "clustersim", (char *)(uintptr_t)name, file, "-o", dir, "-j",
                       (char *)(uintptr_t)threads, "--set",
                       (char *)(uintptr_t)set };

    snprintf(file, sizeof file, "%s", scratch_path(&w->scratch, "e.yaml"));
    snprintf(dir, sizeof dir, "%s", scratch_path(&w->scratch, folder));
    return run_command(w, set == NULL ? 7 : 9, argv);
}

void search_column(struct search_world *w, const char *name, const char *column,
                   search_cells cell)
{
    struct err err = { 0 };
    struct csv *in = csv_open(w->arena, scratch_path(&w->scratch, name), CSV_TABLE,
                              &err);
    size_t at, n = 0;

    assert_non_null(in);
    assert_true(csv_need_column(in, column, &at, &err));
    memset(cell, 0, SEARCH_ROWS * sizeof cell[0]);
    while (csv_next(in, &err) == CSV_ROW) {
        assert_in_range(n, 0, SEARCH_ROWS - 1);
        snprintf(cell[n++], SEARCH_BYTES, "%s", csv_text(in, at));
    }
    csv_close(in);
}

void search_assert_verdict(struct search_world *w, const char *claim, const char *key,
                           const char *value, const char *verdict)
{
    char set[200];
    search_cells claims, verdicts;
    unsigned seen = 0;

    snprintf(set, sizeof set, "%s=%s", key, value);
    (void)search_command(w, "check", "check", set, "2");
    search_column(w, "check/checks.csv", "claim", claims);
    search_column(w, "check/checks.csv", "verdict", verdicts);
    for (int i = 0; i < SEARCH_ROWS && claims[i][0] != '\0'; i++) {
        if (strcmp(claims[i], claim) != 0)
            continue;
        assert_string_equal(verdicts[i], verdict);
        seen++;
    }
    assert_int_equal(seen, 1);
}

void search_assert_threads(struct search_world *w, const char *name, const char *file)
{
    char path[2][64], *text[2];

    snprintf(path[0], sizeof path[0], "one/%s", file);
    snprintf(path[1], sizeof path[1], "four/%s", file);
    assert_int_equal(search_command(w, name, "one", NULL, "1"), 0);
    assert_int_equal(search_command(w, name, "four", NULL, "4"), 0);
    for (int i = 0; i < 2; i++) {
        text[i] = scratch_read(&w->scratch, path[i]);
        assert_non_null(text[i]);
    }
    assert_string_equal(text[0], text[1]);
    free(text[0]);
    free(text[1]);
}

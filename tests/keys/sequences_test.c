/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * sequences_test.c - numbers that must stand in an order: of four, no two neighbours may be
 * exchanged, wherever they stand, and equal ones are taken where two at once can mean
 * something; rows of the file of a series, each of which may be the wrong one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "policies/registry/rules.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "tests/aid/scratch.h"
#include "workloads/source.h"

#define GENERIC "{nodes: [{name: a, count: 3, price: 1USD/h, gpus: {type: generic, count: 8}}]}"

enum reader { CATALOGUE, CLUSTER, WORKLOAD, POLICY };

static const struct sequence {
    const char *what;
    enum reader reader;
    const char *text, *item[4];         /* the text has their places as @ */
    bool equal;                         /* two equal ones are taken */
    const char *said;
} sequence[] = {
    { "arrivals", WORKLOAD, "{arrival: {process: fixed, times: [@, @, @, @]}, mix: [{recipe: "
      "trace, name: x, gpus: 1, duration: 1h}]}", { "0s", "10s", "1min", "2min" }, true,
      "times must ascend, found " },
    { "sizes", WORKLOAD, "{arrival: {process: fixed, times: [0s]}, mix: [{recipe: trace, name: x, "
      "gpus: 1, duration: 1h, elastic: {min: 1, max: 8, scaling: {table: {@: 1, @: 2, @: 3, @: "
      "4}}}}]}", { "1", "2", "4", "8" }, false, "sizes of table must ascend, found " },
    { "spans of noise", CATALOGUE, "{applications: {bert: {noise: {until: [@, @, @, @], 12: [1, 1, "
      "1, 1]}}}}", { "0.1", "0.2", "0.5", "1" }, false, "until must " },
    { "batches of noise", CATALOGUE, "{applications: {bert: {noise: {until: [1], @: [1], @: [1], "
      "@: [1], @: [1]}}}}", { "12", "48", "96", "192" }, false, "ascending, found " },
    { "points of a price", CLUSTER, "{nodes: [{name: a, count: 3, price: {unit: USD/h, points: "
      "[[@, 1], [@, 2], [@, 3], [@, 4]]}, gpus: {type: generic, count: 8}}]}",
      { "0s", "10s", "1min", "2min" }, false, "points must be in order of time" },
    { "costs by size", POLICY, "{policy: srtf, preemption: {cost: {@: 1s, @: 2s, @: 3s, @: 4s}}}",
      { "1gpu", "2gpu", "8gpu", "more" }, false, "expected rising steps" },
};

static const void *read_text(struct arena *arena, enum reader reader, const char *text,
                             struct err *err)
{
    const struct catalogue *catalogue = catalogue_load(arena, NULL, 0, err);
    const struct conf_node *cluster = conf_parse(arena, "c", GENERIC, strlen(GENERIC), err);
    const struct conf_node *root = conf_parse(arena, "here", text, strlen(text), err);

    if (root == NULL)           /* the same key twice */
        return NULL;
    if (reader == CATALOGUE)
        return catalogue_read(arena, &root, 1, err);
    if (reader == CLUSTER)
        return cluster_read(arena, root, catalogue, err);
    if (reader == POLICY)
        return host_policy_read(arena, root, err);
    return workload_read(arena, root, catalogue, cluster_read(arena, cluster, catalogue, err), err);
}

/* Reads it with these items; true: it is taken. */
static bool takes(const struct sequence *s, const char *const item[4], struct err *err)
{
    struct arena *arena = arena_new(1 << 16);
    char text[600];
    size_t n = 0;

    for (const char *at = s->text; *at != '\0'; at++)
        if (*at == '@') {
            n += strlen(strcpy(text + n, *item++));
        } else {
            text[n++] = *at;
        }
    text[n] = '\0';
    memset(err, 0, sizeof *err);
    bool taken = read_text(arena, s->reader, text, err) != NULL;
    assert_int_equal(taken, err->kind == ERR_NONE);
    arena_free(arena);
    return taken;
}

static void no_two_neighbours_may_be_exchanged(void **state)
{
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof sequence / sizeof sequence[0]; i++) {
        const struct sequence *s = &sequence[i];
        if (!takes(s, s->item, &err))
            fail_msg("%s: %s", s->what, err.text);
        for (int k = 0; k < 3; k++) {
            const char *item[4] = { s->item[0], s->item[1], s->item[2], s->item[3] };
            item[k] = s->item[k + 1];
            bool equal = takes(s, item, &err);
            if (equal != s->equal)
                fail_msg("%s: %d and %d equal: %s", s->what, k, k + 1, err.text);
            item[k + 1] = s->item[k];
            if (takes(s, item, &err) || strstr(err.text, s->said) == NULL)
                fail_msg("%s: %d and %d exchanged: %s", s->what, k, k + 1, err.text);
        }
    }
}

/* ---- rows of a file ---- */

static struct scratch scratch;

static bool takes_file(const char *const row[4], bool named, struct err *err)
{
    struct arena *arena = arena_new(1 << 16);
    char text[400];

    snprintf(text, sizeof text, "series,time_s,value\n%s\n%s\n%s\n%s\n", row[0], row[1], row[2],
             row[3]);
    scratch_write(&scratch, "s.csv", text);
    snprintf(text, sizeof text, "{nodes: [{name: a, count: 3, price: {file: %s, unit: USD/h%s}, "
             "gpus: {type: generic, count: 8}}]}", scratch_path(&scratch, "s.csv"),
             named ? ", name: a" : "");
    memset(err, 0, sizeof *err);
    bool taken = read_text(arena, CLUSTER, text, err) != NULL;
    if (taken != (err->kind == ERR_NONE))
        fail_msg("%s, and %s", taken ? "taken" : "refused", err->text);
    arena_free(arena);
    return taken;
}

static void a_wrong_row_of_a_series_is_refused_at_its_line(void **state)
{
    static const char *const good[4] = { "a,0,1", "a,10,2", "a,20,0", "a,30,4.5" };
    static const struct {
        const char *row, *said;
    } bad[] = {
        { "a,10", "a row must be series,time_s,value" }, { "a", "a row must be" },
        { "a,15,-1", "with a value of 0 or more" }, { "a,x,1", "a row must be" },
        { "a,15,x", "a row must be" }, { "b,15,1", "there is another series, '" },
    };
    struct err err;

    (void)state;
    scratch_open(&scratch);
    if (!takes_file(good, false, &err) || !takes_file(good, true, &err))
        fail_msg("%s", err.text);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        for (uint32_t k = 0; k < 4; k++) {
            const char *row[4] = { good[0], good[1], good[2], good[3] };
            row[k] = bad[i].row;
            bool other = row[k][0] == 'b';
            if (takes_file(row, false, &err) || strstr(err.text, bad[i].said) == NULL ||
                err.pos.line != k + 2 + (other && k == 0))
                fail_msg("%s in row %u: %u: %s", row[k], k, err.pos.line, err.text);
            if (other && !takes_file(row, true, &err))  /* the one that is asked for is whole */
                fail_msg("%s in row %u: %s", row[k], k, err.text);
        }
    for (uint32_t k = 0; k < 3; k++) {
        const char *row[4] = { good[0], good[1], good[2], good[3] };
        row[k] = good[k + 1];
        if (!takes_file(row, false, &err))              /* of two at once the later one holds */
            fail_msg("%u: %s", k, err.text);
        row[k + 1] = good[k];
        if (takes_file(row, false, &err) || err.pos.line != k + 3)
            fail_msg("%u is later than the next: %s", k, err.text);
    }
    scratch_close(&scratch);
}

/* strtoul() would read the last of them as 1. */
static void a_cost_is_by_a_plain_number_of_gpus(void **state)
{
    static const char *const bad[] = {
        "gpu", "1", "0gpu", "00gpu", "1gpux", "4294967295gpu", "99999999999999999999gpu",
        "' 1gpu'", "+1gpu", "-1gpu", "-18446744073709551615gpu"
    };
    static const char *const good[] = { "1gpu", "4294967294gpu" };
    const struct sequence steps = { "costs", POLICY, "{policy: srtf, preemption: {cost: {@: 1s, "
                                    "more: 2s}}}", { NULL }, false, NULL };
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const char *key[4] = { good[i] };
        assert_true(takes(&steps, key, &err));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const char *key[4] = { bad[i] };
        if (takes(&steps, key, &err) || strstr(err.text, "expected rising steps") == NULL)
            fail_msg("%s: %s", bad[i], err.text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_two_neighbours_may_be_exchanged),
        cmocka_unit_test(a_cost_is_by_a_plain_number_of_gpus),
        cmocka_unit_test(a_wrong_row_of_a_series_is_refused_at_its_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * services_table_test.c - the table of services, from a services.csv that is written here:
 * means over seeds, columns and keys that say nothing, and files that cannot be read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/report/services_table.h"
#include "sim/base/err.h"
#include "sim/text/sheet.h"
#include "tests/aid/scratch.h"

#define COLUMNS "point,policy,seed,service,requests,done,dropped,ttft_p99_s,tpot_p99_s," \
    "latency_p50_s,latency_p99_s,slo_attained_fraction,gpu_replica_hours,cpu_replica_hours," \
    "cost_usd,cost_per_million_usd\n"

/* The table as it is printed; to be freed. */
static char *printed(struct scratch *scratch, const char *rows)
{
    char text[4000], *out = NULL;
    size_t bytes;
    struct err err = { 0 };
    struct services_table *table;
    FILE *file = open_memstream(&out, &bytes);

    snprintf(text, sizeof text, "%s%s", COLUMNS, rows);
    scratch_write(scratch, "services.csv", text);
    table = services_table_read(scratch->arena, scratch->dir, &err);
    if (table == NULL)
        fail_msg("%s", err.text);
    services_table_print(table, file);
    fclose(file);
    return out;
}

/* Line n of the text must have these words in this order, whatever blanks are between. */
static void assert_line(const char *text, int n, const char *wanted)
{
    char got[600] = "";
    size_t used = 0;

    for (; n > 0 && text != NULL; n--) {
        text = strchr(text, '\n');
        text = text ? text + 1 : NULL;
    }
    assert_non_null(text);
    while (*text != '\0' && *text != '\n' && used + 2 < sizeof got) {
        bool blank = *text == ' ';

        if (!blank || (used > 0 && got[used - 1] != ' '))
            got[used++] = *text;
        text++;
    }
    while (used > 0 && got[used - 1] == ' ')
        used--;
    got[used] = '\0';
    assert_string_equal(got, wanted);
}

/* Two seeds: 100 and 200 requests; times of 0.1 and 0.3 s; 90% and 95%.  What nobody has, and
 * what is 0 for all, has no column.  An empty cell counts in no mean. */
static void figures_are_means_over_the_seeds_that_have_them(void **state)
{
    char *text = printed(*state,
                         "base,fcfs,0,chat,100,90,0,0.1,,0.02,0.2,0.9,1.5,0,10,\n"
                         "base,fcfs,1,chat,200,180,0,0.3,,,0.4,0.95,2.5,0,20,\n");

    assert_line(text, 0, "services, means over seeds");
    assert_line(text, 1, "service requests answered TTFT p99, ms latency p50, ms latency p99, ms "
                "as promised, % GPU replica h cost, USD");
    assert_line(text, 2, "chat 150 135 200 20.0 300 92.50 2.00 15.00");
    free(text);
}

/* Columns that name what differs stand first; a figure that a service lacks is "-". */
static void keys_that_differ_have_columns(void **state)
{
    char *text = printed(*state,
                         "x=1,fcfs,0,chat,100,90,1,0.1,0.01,0.02,0.2,0.9,1,2,10,5\n"
                         "x=2,fcfs,0,chat,100,90,3,,0.01,0.02,0.2,0.9,1,2,10,5\n"
                         "x=2,fcfs,0,code,7,7,0,0.5,0.02,0.02,0.2,1,1,2,10,5\n");

    assert_line(text, 1, "point service requests answered dropped TTFT p99, ms TPOT p99, ms "
                "latency p50, ms latency p99, ms as promised, % GPU replica h CPU replica h "
                "cost, USD USD per million");
    assert_line(text, 2, "x=1 chat 100 90 1 100 10.0 20.0 200 90.00 1.00 2.00 10.00 5.00");
    assert_line(text, 3, "x=2 chat 100 90 3 - 10.0 20.0 200 90.00 1.00 2.00 10.00 5.00");
    assert_line(text, 4, "x=2 code 7 7 0 500 20.0 20.0 200 100.0 1.00 2.00 10.00 5.00");
    free(text);
}

/* Rows of a service need not stand together: sums are by key, in the order of the first. */
static void rows_are_by_point_policy_and_service(void **state)
{
    char rows[3000] = "", *text;

    for (int seed = 0; seed < 2; seed++)
        for (int i = 0; i < 40; i++)
            snprintf(rows + strlen(rows), sizeof rows - strlen(rows),
                     "base,fcfs,%d,s%02d,%d,1,,,,,,,,,,\n", seed, i, 10 * i + 4 * seed);
    text = printed(*state, rows);
    assert_line(text, 1, "service requests answered");
    assert_line(text, 2, "s00 2 1");
    assert_line(text, 33, "s31 312 1");
    assert_line(text, 41, "s39 392 1");
    free(text);
}

static void the_sheet_of_the_report_has_all_keys(void **state)
{
    struct scratch *scratch = *state;
    struct err err = { 0 };
    struct services_table *table;
    char *out = NULL;
    size_t bytes;
    FILE *file = open_memstream(&out, &bytes);

    free(printed(scratch, "base,fcfs,0,chat,100,90,0,0.1,,0.02,0.2,0.9,1.5,0,10,\n"));
    table = services_table_read(scratch->arena, scratch->dir, &err);
    sheet_close(services_table_sheet(table, true), file);
    fclose(file);
    assert_line(out, 0, "point policy service requests answered TTFT p99, ms latency p50, ms "
                "latency p99, ms as promised, % GPU replica h cost, USD");
    assert_line(out, 1, "base fcfs chat 100 90 100 20.0 200 90.00 1.50 10.00");
    free(out);
}

static void a_file_that_cannot_be_read_is_an_error_and_none_is_not(void **state)
{
    struct scratch *scratch = *state;
    struct err err = { 0 };

    assert_null(services_table_read(scratch->arena, scratch->dir, &err));
    assert_string_equal(err.text, "");
    scratch_write(scratch, "services.csv", "point,policy,service,requests\nbase,fcfs,chat,1\n");
    assert_null(services_table_read(scratch->arena, scratch->dir, &err));
    assert_non_null(strstr(err.text, "done"));
    memset(&err, 0, sizeof err);
    scratch_write(scratch, "services.csv", COLUMNS "base,fcfs,0,chat,many,1,,,,,,,,,,\n");
    assert_null(services_table_read(scratch->arena, scratch->dir, &err));
    assert_int_equal(err.pos.line, 2);
    assert_non_null(strstr(err.text, "many"));
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(figures_are_means_over_the_seeds_that_have_them),
        TEST(keys_that_differ_have_columns),
        TEST(rows_are_by_point_policy_and_service),
        TEST(the_sheet_of_the_report_has_all_keys),
        TEST(a_file_that_cannot_be_read_is_an_error_and_none_is_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

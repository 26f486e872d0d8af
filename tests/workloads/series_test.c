/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series_test.c - published series in the common form: each format with a
 * sample made up here, its faults at their place, and values looked up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/config/conf.h"
#include "tests/aid/program.h"
#include "workloads/series/series.h"

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, strlen(text), file), strlen(text));
    assert_int_equal(fclose(file), 0);
}

/* import FORMAT in -o s.yaml [--sort]; what it says is to be freed. */
static int import(const struct program *program, const char *format,
                  const char *text, bool sort, char **said)
{
    char in[100], yaml[100], log[100];
    const char *argv[] = { program->path, "import", format, in, "-o", yaml,
                           sort ? "--sort" : NULL, NULL };

    snprintf(in, sizeof in, "%s/in", program->folder);
    snprintf(yaml, sizeof yaml, "%s/s.yaml", program->folder);
    snprintf(log, sizeof log, "%s/log", program->folder);
    write_text(in, text);
    int status = program_spawn(argv, log);

    *said = program_read(log);
    assert_non_null(*said);
    return status;
}

#define AWS(TIME, PRICE, WHAT) "{\"AvailabilityZone\": \"us-east-1b\", " \
    "\"InstanceType\": \"p3\",\n \"ProductDescription\": \"" WHAT "\", " \
    "\"SpotPrice\": \"" PRICE "\", \"Timestamp\": \"" TIME "\"}"
#define FAULT(TIME, TYPE) "{\"node_id\": \"n\", \"event_time\": " TIME \
    ", \"event_type\": \"fault_" TYPE "\",\n \"fault_type\": {\"Class\": " \
    "[1, {\"x\": null}]}}"
#define LOG(SECOND) "[1970-01-01T00:00:" SECOND ".500Z] "

static const struct sample {
    const char *format, *text;
    bool sort;
    const char *csv, *said;
} samples[] = {
    { "carbon", "Time,Carbon Intensity\n1970-01-01 00:00:10,42.25\n"
      "1970-01-01 00:00:20,41\n", false,
      "Carbon Intensity,10,42.25\nCarbon Intensity,20,41\n",
      "of carbon, gCO2/kWh" },
    { "carbon", "Time,Carbon Intensity\n0,1\n1800,2\n3600,3\n4500,4\n",
      false, "Carbon Intensity,0,1\nCarbon Intensity,1800,2\n"
      "Carbon Intensity,3600,3\nCarbon Intensity,4500,4\n",
      "1 steps of another length than the first" },
    { "azure-price", "Date,NC12,NC6\r\n1/2/1970,$0.25,\r\n1/3/1970,$0.5,$1\n",
      false, "NC12,86400,0.25\nNC12,172800,0.5\nNC6,172800,1\n",
      "1 fields without a value" },
    { "table", "date,a\n1970-01-02,1e1\n", false, "a,86400,10\n",
      "points       1\n" },
    { "aws-price", "{\"NextToken\": \"\", \"SpotPriceHistory\": [\n"
      AWS("1970-01-01T00:00:09.000Z", "2.5", "Linux/UNIX") ",\n"
      AWS("1970-01-01T00:00:07.000Z", "1.5", "Linux/UNIX") ",\n"
      AWS("1970-01-01T00:00:08.000Z", "9", "Windows") "]}\n", true,
      "us-east-1b/p3,7,1.5\nus-east-1b/p3,9,2.5\nus-east-1b/p3/Windows,8,9\n",
      "1 points before the one above: sorted" },
    { "spot-ticks", "{\"metadata\": {\"gap_seconds\": 600}, \"data\": [1, 0,\n"
      "16]}", false, "instances,0,1\ninstances,600,0\ninstances,1200,16\n",
      "of availability, instances" },
    { "spot-log", LOG("01") "Created instance i-1 with 8 GPU(s) of type k80 in "
      "zone z\n" LOG("02") "Instance i-1 running in zone z\n"
      LOG("03") "Instance with 8 GPU(s) of type k80 creation failed\n"
      LOG("04") "Instance i-1 running in zone z\n"
      LOG("05") "Instance i-1 not running in zone z\n"
      LOG("06") "Successfully deleted instance i-1\n", false,
      "z/k80/8,2.5,1\nz/k80/8,5.5,0\n",
      "1 instances that could not be created\n  2 lines that say what was" },
    { "faults", "[" FAULT("0.5", "start") ",\n" FAULT("1", "start") ","
      FAULT("1", "end") "," FAULT("2", "end") "]", false,
      "n,43200,1\nn,86400,2\nn,86400,1\nn,172800,0\n",
      "1 faults of a node that has one already" },
    { "series", "series,time_s,value\na,1,2\nb,0,3\na,1.5,-4\n", false,
      "a,1,2\na,1.5,-4\nb,0,3\n", "series       2 of table" },
};

static void each_format_turns_into_the_same_points(void **state)
{
    const struct program *program = *state;
    char path[100], *said, *csv;

    snprintf(path, sizeof path, "%s/s.csv", program->folder);
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        const struct sample *s = &samples[i];

        if (import(program, s->format, s->text, s->sort, &said) != 0)
            fail_msg("%s: %s", s->format, said);
        if (!strstr(said, s->said))
            fail_msg("%s: \"%s\" is not in:\n%s", s->format, s->said, said);
        csv = program_read(path);
        assert_non_null(csv);
        assert_int_equal(strncmp(csv, "series,time_s,value\n", 20), 0);
        assert_string_equal(csv + 20, s->csv);
        free(csv);
        free(said);
    }
}

static const struct {
    const char *format, *text, *place, *message;
} faults[] = {
    { "carbon", "time,x\n1,2\n", "in:1:1:", "has a column Time" },
    { "carbon", "Time,Carbon Intensity\nsoon,1\n", "in:2:1:",
      "a date or seconds" },
    { "carbon", "Time,Carbon Intensity\n1,much\n", "in:2:3:", "a number" },
    { "carbon", "Time,Carbon Intensity\n2,1\n1,1\n", "in:3:1:", "--sort" },
    { "carbon", "Time,Carbon Intensity\n", "in:", "no point" },
    { "table", "date,a\n1970-02-30,1\n", "in:2:1:", "a date or seconds" },
    { "aws-price", "{\"SpotPriceHistory\": [{\"SpotPrice\": \"1\"}]}",
      "in:1:", "no \"AvailabilityZone\"" },
    { "aws-price", "[]", "in:1:1:", "a spot price history of AWS" },
    { "aws-price", "{\"SpotPriceHistory\": ["
      AWS("1970-01-01T00:00:09.000Z", "-1", "x") "]}", "in:1:",
      "price must be" },
    { "spot-ticks", "{\"data\": [1]}", "in:1:", "metadata must stand" },
    { "spot-ticks", "{\"metadata\": {\"gap_seconds\": 0}, \"data\": [1]}",
      "in:1:", "gap_seconds must be above 0" },
    { "spot-ticks", "{\"metadata\": {\"gap_seconds\": 1}, \"data\": [1, ",
      "in:1:", "within a bracket" },
    { "spot-ticks", "{\"metadata\": {\"gap_seconds\": 1}, \"data\": [-1]}",
      "in:1:", "at least 0" },
    { "spot-log", "Zone: us-west1-b\n", "in:1:1:", "have no times" },
    { "spot-log", LOG("01") "Instance i running in zone z\n", "in:1:1:",
      "was not created" },
    { "spot-log", LOG("01") "Hello\n", "in:1:1:", "no such line" },
    { "faults", "{}", "in:1:1:", "an array of faults" },
    { "faults", "[" FAULT("1", "end") "]", "in:1:", "did not start" },
    { "faults", "[" FAULT("1", "pause") "]", "in:1:", "fault_start or" },
    { "faults", "[" FAULT("\"x\"", "start") "]", "in:1:", "days" },
    { "faults", "[" FAULT("1", "start") ", {\"node_id\": \"n\", \"event_time\": 1}]",
      "in:2:", "no \"event_type\"" },
    { "faults", "[" FAULT("-1", "start") "]", "in:1:", "at least 0" },
    { "faults", "[" FAULT("2", "start") "," FAULT("1", "start") "]", "in:",
      "is before that" },
    { "faults", "[" FAULT("1", "start") "] 7", "in:", "follows the end" },
    { "series", "series,time_s\na,1\n", "in:1:1:", "no column value" },
};

static void faulty_series_are_refused_at_their_place(void **state)
{
    char *said;

    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        int status = import(*state, faults[i].format, faults[i].text, false,
                            &said);

        if (status != 3 || !strstr(said, faults[i].place) ||
            !strstr(said, faults[i].message))
            fail_msg("%s, \"%s\": status %d\n%s", faults[i].format,
                     faults[i].message, status, said);
        free(said);
    }
}

static void a_series_takes_no_options_of_jobs(void **state)
{
    const struct program *program = *state;
    char log[100], *said;
    const char *argv[] = { program->path, "import", "carbon", "x", "-o",
                           "s.yaml", "--gpus", "8", NULL };

    snprintf(log, sizeof log, "%s/log", program->folder);
    assert_int_equal(program_spawn(argv, log), 2);
    said = program_read(log);
    assert_non_null(strstr(said, "it takes no --gpus"));
    free(said);
}

/* The file that import wrote, read back. */
static const struct conf_node *read_yaml(struct arena *arena,
                                         const struct program *program,
                                         struct err *err)
{
    char path[100];
    const struct conf_node *root;

    snprintf(path, sizeof path, "%s/s.yaml", program->folder);
    root = conf_load(arena, path, err);
    return root == NULL ? NULL : conf_get(root, "series");
}

static void a_value_holds_until_the_next_point(void **state)
{
    struct arena *arena = arena_new(0);
    struct series_set set;
    struct err err = { 0 };
    const struct series *a, *b;
    char *said;

    assert_int_equal(import(*state, "series", "series,time_s,value\na,10,1\n"
                            "a,20,2\na,20,3\na,30,4\nb,15,7\n", false, &said),
                     0);
    free(said);
    assert_true(series_read(arena, read_yaml(arena, *state, &err), &set,
                            &err));
    assert_string_equal(set.kind, "table");
    a = series_find(&set, "a");
    b = series_find(&set, "b");
    assert_null(series_find(&set, "c"));
    /* Time 0 is the first point of all. */
    assert_true(series_at(a, -5) == 1.0 && series_at(a, 0) == 1.0);
    assert_true(series_at(a, 10 * CLOCK_NS_PER_S - 1) == 1.0);
    assert_true(series_at(a, 10 * CLOCK_NS_PER_S) == 3.0);
    assert_true(series_at(a, 20 * CLOCK_NS_PER_S) == 4.0);
    assert_true(series_at(a, INT64_MAX) == 4.0);
    assert_true(b->point[0].time_ns == 5 * CLOCK_NS_PER_S);
    arena_free(arena);
}

/* Kind and unit are those of the common form, whatever a format calls them; time 0 is the first
 * point of all or that of the file. */
static void the_common_form_says_kind_unit_and_origin(void **state)
{
    static const char *const kinds[] = { "carbon", "price", "anything" };
    static const char *const units[] = { "gCO2/kWh", "USD/h", "of my own" };
    static const char *const origins[] = { "", ", origin: first", ", origin: file" };
    const struct program *program = *state;
    struct arena *arena = arena_new(0);
    char path[100], text[300];

    snprintf(path, sizeof path, "%s/s.csv", program->folder);
    write_text(path, "series,time_s,value\nb,7,1\nb,9,1\na,5,1\n");
    snprintf(path, sizeof path, "%s/s.yaml", program->folder);
    for (int k = 0; k < 27; k++) {
        struct series_set set;
        struct err err = { 0 };
        int64_t shift_s = k / 9 == 2 ? 0 : 5;
        snprintf(text, sizeof text, "series: {kind: %s, unit: %s, file: s.csv%s}\n", kinds[k % 3],
                 units[k / 3 % 3], origins[k / 9]);
        write_text(path, text);
        assert_true(series_read(arena, read_yaml(arena, program, &err), &set, &err));
        assert_string_equal(set.kind, kinds[k % 3]);
        assert_string_equal(set.unit, units[k / 3 % 3]);
        assert_int_equal(set.count, 2);
        const struct series *a = series_find(&set, "a"), *b = series_find(&set, "b");
        assert_true(a->count == 1 && b->count == 2);
        assert_true(a->point[0].time_ns == (5 - shift_s) * CLOCK_NS_PER_S);
        assert_true(b->point[0].time_ns == (7 - shift_s) * CLOCK_NS_PER_S);
        assert_true(b->point[1].time_ns == (9 - shift_s) * CLOCK_NS_PER_S);
    }
    arena_free(arena);
}

static void a_bad_common_form_is_told_at_its_place(void **state)
{
    const struct program *program = *state;
    struct arena *arena = arena_new(0);
    struct series_set set;
    struct err err = { 0 };
    char path[100], text[300];

    snprintf(path, sizeof path, "%s/s.csv", program->folder);
    write_text(path, "series,time_s,value\na,2,1\na,1,1\n");
    snprintf(path, sizeof path, "%s/s.yaml", program->folder);
    snprintf(text, sizeof text, "series: {kind: x, unit: y, file: s.csv, "
             "origin: file}\n");
    write_text(path, text);
    assert_false(series_read(arena, read_yaml(arena, program, &err), &set,
                             &err));
    assert_int_equal(err.pos.line, 3);
    assert_int_equal(err.kind, ERR_RANGE);
    arena_free(arena);
}

int main(int argc, char **argv)
{
    struct program program;
#define WITH(TEST) cmocka_unit_test_prestate(TEST, &program)
    const struct CMUnitTest tests[] = {
        WITH(each_format_turns_into_the_same_points),
        WITH(faulty_series_are_refused_at_their_place),
        WITH(a_series_takes_no_options_of_jobs),
        WITH(a_value_holds_until_the_next_point),
        WITH(the_common_form_says_kind_unit_and_origin),
        WITH(a_bad_common_form_is_told_at_its_place),
    };
    int failed;

    (void)argc;
    program_open(&program, argv[0]);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * series_json_test.c - series that are published as JSON, called alone: every value in the place of
 * every other, files that are cut, drawn faults of nodes beside a count, and bounds of texts.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "tests/aid/scratch.h"
#include "workloads/series/series.h"

#define NS INT64_C(1000000000)

struct reading {
    struct arena *arena;
    struct series_set set;
    struct series_counts counts;
    struct err err;
    bool good;
};

static void read_text(struct scratch *scratch, const char *format, const char *text, bool sort,
                      struct reading *r)
{
    memset(r, 0, sizeof *r);
    r->arena = arena_new(1 << 12);
    scratch_write(scratch, "s", text);
    const struct series_request request = { .file = scratch_path(scratch, "s"), .sort = sort };
    r->good = series_import(r->arena, series_format_find(format), &request, &r->set, &r->counts,
                            &r->err);
    assert_true(r->good == (r->err.kind == ERR_NONE));
}

/* ---- places ---- */

enum kind { WORD = 1, NUMBER = 2, NONE = 4, DATE = 8, LIST = 16, OBJECT = 32, TRUTH = 64,
            FAR = 128, BELOW = 256, VOID = 512, NUMERAL = 1024 };
static const struct { const char *text; int kind; } value[] = {
    { "\"word\"", WORD }, { "5", NUMBER }, { "null", NONE }, { "\"2017-10-07 01:11:39\"", DATE },
    { "[]", LIST }, { "{}", OBJECT }, { "true", TRUTH }, { "1e7", FAR }, { "-1", BELOW },
    { "\"\"", VOID }, { "\"7\"", NUMERAL }, { "tru", 0 }, { "\"\\q\"", 0 }, { "0x", 0 },
    { "", 0 }, { "5 5", 0 }, { "[5", 0 }, { "{\"a\"}", 0 },
};
#define VALUES (sizeof value / sizeof value[0])

/* Texts are words, numbers and dates, and null as it stands there; a number may stand within
 * quotation marks. */
#define NUMBERS (NUMBER | FAR | BELOW | NUMERAL)
#define TEXTS (WORD | NUMBERS | DATE | NONE)
#define POSITIVE (NUMBER | FAR | NUMERAL)

/* A file with one value to a line. */
struct place {
    const char *before, *usual;
    int takes;
};
static const struct place aws[] = {
    { "{\"x\":\n", "null", ~0 },
    { ",\"SpotPriceHistory\": [{\"AvailabilityZone\":\n", "\"z\"", TEXTS },
    { ",\"InstanceType\":\n", "\"i\"", TEXTS },
    { ",\"ProductDescription\":\n", "\"Linux/UNIX\"", TEXTS },
    { ",\"SpotPrice\":\n", "\"0.5\"", POSITIVE },
    { ",\"Timestamp\":\n", "\"2017-10-07\"", DATE },
    { ",\"y\":\n", "null", ~0 },
    { "}], \"z\":\n", "1", ~0 },
};
static const struct place ticks[] = {
    { "{\"x\":\n", "null", ~0 },
    { ",\"metadata\": {\"gap_seconds\":\n", "600", NUMBER | NUMERAL },
    { ",\"y\":\n", "null", ~0 },
    { "}, \"data\": [1,\n", "0", NUMBER | FAR },
    { ",\n", "2", NUMBER | FAR },
    { "], \"z\":\n", "1", ~0 },
};
static const struct place faults[] = {
    { "[{\"node_id\":\n", "\"n\"", TEXTS },
    { ",\"event_time\":\n", "0.5", NUMBER | NUMERAL },
    { ",\"event_type\":\n", "\"fault_start\"", 0 },
    { ",\"x\":\n", "null", ~0 },
};
/* A label and a value are texts, a time is none. */
static const struct place prometheus[] = {
    { "{\"status\":\n", "\"success\"", ~0 },
    { ",\"data\": {\"resultType\":\n", "\"matrix\"", ~0 },
    { ",\"result\": [{\"metric\": {\"__name__\":\n", "\"up\"", WORD | DATE | VOID | NUMERAL },
    { ",\"pod\":\n", "\"p\"", WORD | DATE | VOID | NUMERAL },
    { "}, \"values\": [[\n", "5", NUMBER | FAR },
    { ",\n", "\"7\"", NUMERAL },
    { "]]}], \"x\":\n", "1", ~0 },
};
static const struct {
    const char *format, *end;
    const struct place *place;
    size_t places;
} file[] = {
    { "aws-price", "}\n", aws, sizeof aws / sizeof aws[0] },
    { "spot-ticks", "}\n", ticks, sizeof ticks / sizeof ticks[0] },
    { "faults", "}]\n", faults, sizeof faults / sizeof faults[0] },
    { "prometheus", "}}\n", prometheus, sizeof prometheus / sizeof prometheus[0] },
};
#define FILES (sizeof file / sizeof file[0])

/* The file with value `text` in place p. */
static void write_file_with(size_t f, size_t p, const char *text, char *out)
{
    for (size_t i = 0; i < file[f].places; i++)
        out += sprintf(out, "%s%s", file[f].place[i].before,
                       i == p ? text : file[f].place[i].usual);
    sprintf(out, "%s", file[f].end);
}

static void every_value_in_every_place(void **state)
{
    for (size_t f = 0; f < FILES; f++)
        for (size_t p = 0; p < file[f].places; p++)
            for (size_t v = 0; v < VALUES; v++) {
                char text[1024];
                struct reading r;
                write_file_with(f, p, value[v].text, text);
                read_text(*state, file[f].format, text, false, &r);
                bool takes = (file[f].place[p].takes & value[v].kind) != 0;
                if (takes != r.good)
                    fail_msg("%s, place %zu, %s: %d, %s", file[f].format, p, value[v].text,
                             r.good, r.err.text);
                if (!takes && (r.err.pos.line < 1 || r.err.pos.line > p + 2))
                    fail_msg("%s, place %zu, %s: refused in line %u: %s", file[f].format, p,
                             value[v].text, r.err.pos.line, r.err.text);
                arena_free(r.arena);
            }
}

static void a_file_that_is_cut_or_goes_on_is_refused(void **state)
{
    for (size_t f = 0; f < FILES; f++) {
        char text[1024], other[1100];
        struct reading r;
        write_file_with(f, SIZE_MAX, "", text);
        read_text(*state, file[f].format, text, false, &r);
        assert_true(r.good);
        arena_free(r.arena);
        for (size_t end = 0; end + 2 <= strlen(text); end++) {
            snprintf(other, sizeof other, "%.*s", (int)end, text);
            read_text(*state, file[f].format, other, false, &r);
            if (r.good)
                fail_msg("accepted: %s", other);
            arena_free(r.arena);
        }
        snprintf(other, sizeof other, "%s 7", text);
        read_text(*state, file[f].format, other, false, &r);
        assert_false(r.good);
        assert_string_equal(r.err.text, f == 3 ? "something follows the end of the answer"
                                               : "something follows the end of the series");
        arena_free(r.arena);
    }
}

/* Where the bracket at `at` closes; brackets within quotation marks do not count. */
static const char *find_close(const char *at)
{
    int depth = 0;
    bool quoted = false;

    for (; *at != '\0'; at++) {
        quoted = quoted != (*at == '"');
        depth += quoted ? 0 : (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        if (depth == 0 && !quoted)
            return at;
    }
    fail_msg("a bracket does not close");
    return NULL;
}

/* Each list and each object of each file, in whose place something else stands: it is refused in
 * its line, with its place, and never taken for a file with fewer points. */
static void a_list_or_an_object_is_nothing_else(void **state)
{
    static const struct { const char *text; char opens; } other[] = {
        { "5", 0 }, { "\"word\"", 0 }, { "null", 0 }, { "true", 0 }, { "5, 5", 0 },
        { "[]", '[' }, { "[5]", '[' }, { "[[]]", '[' }, { "[{}]", '[' }, { "{}", '{' },
        { "{\"a\": 5}", '{' },
    };

    for (size_t f = 0; f < FILES; f++) {
        char text[1024], wrong[1100];
        write_file_with(f, SIZE_MAX, "", text);
        for (const char *at = text; *at != '\0'; at++) {
            if (*at != '{' && *at != '[')
                continue;
            for (size_t o = 0; o < sizeof other / sizeof other[0]; o++) {
                struct reading r;
                unsigned line = 1;
                if (other[o].opens == *at)
                    continue;
                for (const char *c = text; c < at; c++)
                    line += *c == '\n';
                snprintf(wrong, sizeof wrong, "%.*s%s%s", (int)(at - text), text, other[o].text,
                         find_close(at) + 1);
                read_text(*state, file[f].format, wrong, false, &r);
                if (r.good || r.err.pos.file == NULL || r.err.pos.line < line ||
                    r.err.pos.line > line + 1)
                    fail_msg("%s: %s: %d, line %u and not %u: %s", file[f].format, wrong, r.good,
                             r.err.pos.line, line, r.err.text);
                arena_free(r.arena);
            }
        }
    }
}

/* Each key that a price or an event needs, left out. */
static void a_key_that_lacks_is_named(void **state)
{
    static const char *const key[] = { "AvailabilityZone", "InstanceType", "ProductDescription",
                                       "SpotPrice", "Timestamp" };

    for (size_t k = 0; k < 5; k++) {
        char text[1024], quoted[60], says[60], *at;
        struct reading r;
        write_file_with(0, SIZE_MAX, "", text);
        snprintf(quoted, sizeof quoted, "\"%s\"", key[k]);
        at = strstr(text, quoted);
        at[1] = 'x';
        read_text(*state, "aws-price", text, false, &r);
        assert_false(r.good);
        snprintf(says, sizeof says, "object has no \"%s\"", key[k]);
        assert_string_equal(r.err.text, says);
        arena_free(r.arena);
    }
    struct reading r;
    read_text(*state, "spot-ticks", "{\"data\": [1], \"metadata\": {\"gap_seconds\": 1}}", false,
              &r);
    assert_string_equal(r.err.text, "metadata must stand before data");
    arena_free(r.arena);
}

/* ---- values ---- */

/* A series for each zone, type and product; of Linux the product is not named. */
static void prices_have_a_series_each(void **state)
{
#define PRICE(ZONE, TYPE, PRODUCT, USD, AT) "{\"AvailabilityZone\": \"" ZONE "\", " \
    "\"InstanceType\": \"" TYPE "\", \"ProductDescription\": \"" PRODUCT "\", \"SpotPrice\": \"" \
    USD "\", \"Timestamp\": \"2017-10-07T00:00:" AT "Z\"}"
    static const char text[] = "{\"SpotPriceHistory\": [" PRICE("a", "p3", "Linux/UNIX", "1.5",
        "00") ", " PRICE("a", "p3", "Windows", "2.5", "00") ", " PRICE("b", "p3", "Linux/UNIX",
        "0", "10") ", " PRICE("a", "p3", "Linux/UNIX", "3", "20") "]}";
    static const char *const names[] = { "a/p3", "a/p3/Windows", "b/p3" };
    struct reading r;

    read_text(*state, "aws-price", text, false, &r);
    assert_true(r.good && r.set.count == 3 && r.counts.points == 4);
    for (size_t i = 0; i < 3; i++)
        assert_string_equal(r.set.series[i].name, names[i]);
    assert_true(r.set.series[0].count == 2 && r.set.series[2].point[0].value == 0);
    assert_true(r.set.series[0].point[1].value == 3 &&
                r.set.series[0].point[1].time_ns - r.set.series[0].point[0].time_ns == 20 * NS);
    arena_free(r.arena);
}

static void ticks_are_a_gap_apart(void **state)
{
    static const struct { const char *gap; bool good; int64_t ns; } row[] = {
        { "600", true, 600 * NS }, { "0.25", true, NS / 4 }, { "1e6", true, 1000000 * NS },
        { "1000001", false, 0 }, { "0", false, 0 }, { "-1", false, 0 },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        char text[200];
        struct reading r;
        snprintf(text, sizeof text, "{\"metadata\": {\"gap_seconds\": %s}, \"data\": [4, 0, 2]}",
                 row[i].gap);
        read_text(*state, "spot-ticks", text, false, &r);
        assert_true(r.good == row[i].good);
        for (int64_t k = 0; r.good && k < 3; k++) {
            assert_string_equal(r.set.series[0].name, "instances");
            assert_true(r.set.series[0].point[k].time_ns == k * row[i].ns);
            assert_true(r.set.series[0].point[k].value == (k == 0 ? 4 : k == 1 ? 0 : 2));
        }
        arena_free(r.arena);
    }
}

/* Nodes fail and are mended by lot: a node has as many faults as began and did not end. */
static void faults_of_a_node_add_up(void **state)
{
    for (uint64_t seed = 1; seed <= 60; seed++) {
        char text[8000], *at = text + sprintf(text, "[");
        int open[4] = { 0 }, seen[4] = { 0 }, value_of[4][60];
        uint64_t overlaps = 0, points = 0;
        struct reading r;
        struct rng rng;
        double day = 0;
        rng_init(&rng, seed, "faults", 0);
        for (uint32_t i = 0; i < 50; i++) {
            int n = (int)rng_below(&rng, 4);
            bool starts = open[n] == 0 || rng_below(&rng, 2) == 0;
            day += 0.25 * (double)(1 + rng_below(&rng, 3));
            at += sprintf(at, "%s{\"node_id\": %d, \"event_time\": %.2f, \"event_type\": "
                          "\"fault_%s\"}", i > 0 ? ", " : "", n, day, starts ? "start" : "end");
            overlaps += starts && open[n] > 0;
            open[n] += starts ? 1 : -1;
            value_of[n][seen[n]++] = open[n];
            points++;
        }
        sprintf(at, "]");
        read_text(*state, "faults", text, false, &r);
        if (!r.good)
            fail_msg("%s: %s", text, r.err.text);
        assert_true(r.counts.overlaps == overlaps && r.counts.points == points);
        for (size_t s = 0; s < r.set.count; s++) {
            int n = r.set.series[s].name[0] - '0';
            assert_int_equal(r.set.series[s].count, seen[n]);
            for (int k = 0; k < seen[n]; k++)
                assert_true(r.set.series[s].point[k].value == value_of[n][k]);
        }
        arena_free(r.arena);
    }
}

static void an_end_without_a_start_is_refused(void **state)
{
#define EVENT(NODE, DAY, TYPE) "{\"node_id\": \"" NODE "\", \"event_time\": " DAY \
    ", \"event_type\": \"fault_" TYPE "\"}"
    static const struct { const char *text, *says; } row[] = {
        { "[" EVENT("a", "1", "end") "]", "a fault of node a ends that did not start" },
        { "[" EVENT("a", "1", "start") "," EVENT("b", "2", "end") "]",
          "a fault of node b ends that did not start" },
        { "[" EVENT("a", "1", "start") "," EVENT("a", "2", "end") "," EVENT("a", "3", "end") "]",
          "a fault of node a ends that did not start" },
        { "[" EVENT("a", "-0.1", "start") "]",
          "event_time must be a number of days, at least 0, found \"-0.1\"" },
    };
    struct reading r;

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        read_text(*state, "faults", row[i].text, false, &r);
        assert_false(r.good);
        assert_string_equal(r.err.text, row[i].says);
        arena_free(r.arena);
    }
    read_text(*state, "faults", "[" EVENT("a", "1", "start") "]", true, &r);
    assert_string_equal(r.err.text, "events of faults are not sorted: they must be in order");
    arena_free(r.arena);
}

/* 99 bytes are the longest text. */
static void texts_have_a_bound(void **state)
{
    for (int bytes = 98; bytes <= 101; bytes++) {
        char text[400], name[110];
        struct reading r;
        memset(name, 'n', sizeof name);
        snprintf(text, sizeof text, "[{\"node_id\": \"%.*s\", \"event_time\": 1, \"event_type\": "
                 "\"fault_start\"}]", bytes, name);
        read_text(*state, "faults", text, false, &r);
        assert_true(r.good == (bytes <= 99));
        if (r.good)
            assert_int_equal(strlen(r.set.series[0].name), bytes);
        else
            assert_string_equal(r.err.text, "text is longer than 99 bytes");
        arena_free(r.arena);
    }
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(every_value_in_every_place), TEST(a_file_that_is_cut_or_goes_on_is_refused),
        TEST(a_list_or_an_object_is_nothing_else),
        TEST(a_key_that_lacks_is_named), TEST(prices_have_a_series_each),
        TEST(ticks_are_a_gap_apart), TEST(faults_of_a_node_add_up),
        TEST(an_end_without_a_start_is_refused), TEST(texts_have_a_bound),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

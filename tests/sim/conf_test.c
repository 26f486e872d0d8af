/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * conf_test.c - YAML read against key tables.
 *
 * Every message has its own bad file, tests/bad/conf_*.yaml, whose comments
 * say what must be said: "# kind line:col text", "# hint: text".
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "sim/config/doc.h"
#include "tests/aid/conf_thing.h"

static int make_arena(void **state)
{
    *state = arena_new(0);
    return 0;
}

static int drop_arena(void **state)
{
    arena_free(*state);
    return 0;
}

static const struct conf_node *parse(struct arena *arena, const char *text,
                                     struct err *err)
{
    *err = (struct err){.kind = ERR_NONE};
    return conf_parse(arena, "a.yaml", text, strlen(text), err);
}

static const struct conf_node *parse_good(struct arena *arena,
                                          const char *text)
{
    struct err err;
    const struct conf_node *root = parse(arena, text, &err);
    if (root == NULL)
        print_message("%s: %s\n", text, err.text);
    assert_non_null(root);
    return root;
}

/* The kind, the place and the text that a bad file's first line names. */
static bool check_bad_file(struct arena *arena, const char *path)
{
    static const char *const kinds[] = {
        [ERR_SYNTAX] = "syntax", [ERR_SCHEMA] = "schema",
        [ERR_RANGE] = "range", [ERR_REFERENCE] = "reference",
        [ERR_IO] = "io"};
    struct err err = {.kind = ERR_NONE};
    struct thing thing;
    struct thing_part part;
    char wanted[400] = "", hint[1400] = "", got[400], got_hint[1400] = "";
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    assert_non_null(fgets(wanted, sizeof wanted, file));
    if (fgets(hint, sizeof hint, file) == NULL || hint[0] != '#' ||
        strncmp(hint, "# hint", 6) != 0)
        hint[0] = '\0';
    fclose(file);
    const struct conf_node *root = conf_load(arena, path, &err);
    if (root != NULL)
        assert_false(thing_fill(root, &thing, &part, &err));
    assert_in_range(err.kind, ERR_IO, ERR_REFERENCE);
    assert_string_equal(err.pos.file, path);
    snprintf(got, sizeof got, "# %s %u:%u %s\n", kinds[err.kind],
             (unsigned)err.pos.line, (unsigned)err.pos.col, err.text);
    if (err.hint[0] != '\0')
        snprintf(got_hint, sizeof got_hint, "# hint: %s\n", err.hint);
    if (strcmp(got, wanted) == 0 && strcmp(got_hint, hint) == 0)
        return true;
    print_message("%s wants\n%s%sbut is told\n%s%s", path, wanted, hint, got,
                  got_hint);
    return false;
}

static void every_bad_file_gets_its_message(void **state)
{
    DIR *folder = opendir("tests/bad");
    size_t count = 0;
    size_t good = 0;
    char path[400];

    assert_non_null(folder);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;) {
        if (strncmp(entry->d_name, "conf_", 5) != 0)
            continue;
        snprintf(path, sizeof path, "tests/bad/%s", entry->d_name);
        good += check_bad_file(*state, path);
        count++;
    }
    closedir(folder);
    assert_int_equal(good, count);
    assert_in_range(count, 50, 1000);
}

static void what_is_no_file_to_read_says_so(void **state)
{
    struct err err = {.kind = ERR_NONE};
    char folder[] = "/tmp/conf_test.XXXXXX";
    char path[64];

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x", folder);
    assert_null(conf_load(*state, folder, &err));
    assert_string_equal(err.text, "cannot read the file: it is a directory");
    err.kind = ERR_NONE;
    assert_null(conf_load(*state, path, &err));
    assert_int_equal(err.kind, ERR_IO);
    assert_string_equal(err.text,
                        "cannot read the file: No such file or directory");
    err.kind = ERR_NONE;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_null(conf_load(*state, path, &err));
    assert_string_equal(err.text,
                        "cannot read the file: it is not a regular file");
    unlink(path);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    err.kind = ERR_NONE;
    assert_null(conf_load(*state, path, &err));
    assert_string_equal(err.text, "the file is empty");
    err.kind = ERR_NONE;
    assert_int_equal(ftruncate(fileno(file), 100000000), 0);
    assert_null(conf_load(*state, path, &err));
    assert_int_equal(err.kind, ERR_RANGE);
    assert_string_equal(err.text, "the file has 100000000 bytes, at most "
                                  "67108864 (64 MiB) are read");
    fclose(file);
    unlink(path);
    rmdir(folder);
}

static void too_many_values_are_refused(void **state)
{
    size_t bytes = 2100000;
    char *text = malloc(bytes + 1);
    struct err err;

    for (size_t i = 0; i < bytes; i += 2)
        memcpy(text + i, "1,", 2);
    memcpy(text, "[ ", 2);
    text[bytes] = '\0';
    assert_null(parse(*state, text, &err));
    assert_int_equal(err.kind, ERR_RANGE);
    assert_string_equal(err.text, "more than 1000000 values");
    free(text);
}

static void keys_twice_are_found_in_large_maps_too(void **state)
{
    size_t room = 4000000;
    char *text = malloc(room);
    size_t used = 0;
    struct err err;

    for (int i = 0; i < 200000; i++)
        used += (size_t)snprintf(text + used, 20, "k%d: 1\n", i);
    assert_int_equal(conf_count(parse_good(*state, text)), 200000);
    strcpy(text + used, "k77: 1\nk5: 2\n");
    assert_null(parse(*state, text, &err));
    assert_string_equal(err.text, "key 'k77' is given twice, first at 78:1");
    assert_int_equal(err.pos.line, 200001);
    free(text);
}

static void tree_is_walked_with_places(void **state)
{
    const struct conf_node *root = parse_good(*state,
        "\xEF\xBB\xBF# c\na: [x, 'y z', {b: 1}]\n\"c d\":\n  e: |\n    f\n");
    const struct conf_node *a = conf_get(root, "a");

    assert_int_equal(conf_kind(root), CONF_MAP);
    assert_int_equal(conf_count(root), 2);
    assert_string_equal(conf_key(root, 1), "c d");
    assert_int_equal(conf_key_pos(root, 1).line, 3);
    assert_int_equal(conf_kind(a), CONF_LIST);
    assert_int_equal(conf_count(a), 3);
    assert_string_equal(conf_text(conf_item(a, 1)), "y z");
    assert_int_equal(conf_pos(conf_item(a, 1)).col, 8);
    assert_string_equal(conf_pos(a).file, "a.yaml");
    assert_string_equal(conf_text(conf_get(conf_value(root, 1), "e")), "f\n");
    assert_null(conf_get(root, "A"));
}

static void absent_keys_take_their_fallbacks(void **state)
{
    struct thing thing = {.pause_ns = 77, .rate_bps = 7.0};
    struct err err = {.kind = ERR_NONE};

    assert_true(conf_fill(parse_good(*state, "name: x"), &thing_schema,
                          &thing, &err));
    assert_string_equal(thing.name, "x");
    assert_int_equal(thing.count, 3);
    assert_int_equal(thing.until_ns, INT64_C(3600000000000));
    assert_int_equal(thing.pause_ns, 77);
    assert_true(thing.rate_bps == 7.0);
    assert_true(thing.share == 0.2);
    assert_true(thing.memory_bytes == 1e12);
    assert_int_equal(thing.blocking, 1);
    assert_null(thing.part);
}

static void whole_file_fills_every_key(void **state)
{
    struct thing thing;
    struct thing_part part;
    struct err err = {.kind = ERR_NONE};
    const struct conf_node *root =
        conf_load(*state, "tests/corpus/fuzz_conf/whole.yaml", &err);

    assert_non_null(root);
    assert_int_equal(conf_count(root), thing_schema.count);
    memset(&thing, 0xFF, sizeof thing);
    assert_true(thing_fill(root, &thing, &part, &err));
    assert_string_equal(thing.name, "x \xC3\xA9 'y'");
    assert_int_equal(thing.count, 4);
    assert_int_equal(thing.until_ns, INT64_C(5400000000000));
    assert_int_equal(thing.pause_ns, 250000000);
    assert_true(thing.ratio == -1000.0 && thing.share == 0.333);
    assert_true(thing.memory_bytes == 6e12 && thing.rate_bps == 50e9);
    assert_true(thing.compute_flops == 312e12 && thing.power_w == 6500.0);
    assert_true(thing.price_usd_per_h == 2.1);
    assert_true(thing.arrivals_per_s == 4.0 / 3600.0);
    assert_true(thing.lend);
    assert_int_equal(thing.blocking, 0);
    assert_ptr_equal(thing.part, conf_get(root, "part"));
    assert_int_equal(part.size, 3);
    assert_true(part.weight == 0.5);
}

/* One scalar as a type, without a table. */
static bool read_as(struct arena *arena, enum conf_type type,
                    const char *text, void *out)
{
    static const char *const choices[] = {"a", "b", NULL};
    struct conf_field field = {.key = "k", .type = type, .choices = choices};
    struct err err = {.kind = ERR_NONE};

    return conf_read(parse_good(arena, text), &field, out, &err);
}

static void check_real(struct arena *arena, enum conf_type type,
                       const char *text, double wanted)
{
    double value = -1.0;

    if (!read_as(arena, type, text, &value) || value != wanted)
        print_message("%s: %.17g\n", text, value);
    assert_true(value == wanted);
}

static void quantities_have_their_exact_values(void **state)
{
    struct arena *arena = *state;

    check_real(arena, CONF_BYTES, "80GB", 80e9);
    check_real(arena, CONF_BYTES, "80 GB", 80e9);
    check_real(arena, CONF_BYTES, "80GiB", 85899345920.0);
    check_real(arena, CONF_BYTES, "3.84TB", 3840000000000.0);
    check_real(arena, CONF_BYTES, "4x3.84TB", 15360000000000.0);
    check_real(arena, CONF_BYTES, "512KiB", 524288.0);
    check_real(arena, CONF_BYTES, "0B", 0.0);
    check_real(arena, CONF_RATE, "400Gb/s", 50e9);
    check_real(arena, CONF_RATE, "400Gbps", 50e9);
    check_real(arena, CONF_RATE, "50GB/s", 50e9);
    check_real(arena, CONF_RATE, "0.1TB/s", 1e11);
    check_real(arena, CONF_FLOPS, "312TFLOPS", 312e12);
    check_real(arena, CONF_FLOPS, "1.4PFLOPS", 1.4e15);
    check_real(arena, CONF_FLOPS, "130TOPS", 130e12);
    check_real(arena, CONF_POWER, "6.5kW", 6500.0);
    check_real(arena, CONF_PRICE, "2.10USD/h", 2.1);
    check_real(arena, CONF_PRICE, "0.001USD/s", 3.6);
    check_real(arena, CONF_PRICE, "24USD/d", 1.0);
    check_real(arena, CONF_FREQUENCY, "4/h", 4.0 / 3600.0);
    check_real(arena, CONF_FREQUENCY, "0.1/s", 0.1);
    check_real(arena, CONF_FREQUENCY, "2/d", 2.0 / 86400.0);
    check_real(arena, CONF_FRACTION, "33.3%", 0.333);
    check_real(arena, CONF_FRACTION, "-10%", -0.1);
    check_real(arena, CONF_FRACTION, "1e-3", 0.001);
    check_real(arena, CONF_REAL, "-0.1", -0.1);
    check_real(arena, CONF_REAL, "\"12\"", 12.0);
}

static void check_time(struct arena *arena, const char *text, int64_t wanted)
{
    int64_t ns = -1;
    assert_true(read_as(arena, CONF_TIME, text, &ns));
    assert_int_equal(ns, wanted);
}

static void times_are_exact_nanoseconds(void **state)
{
    struct arena *arena = *state;

    check_time(arena, "0s", 0);
    check_time(arena, "90s", INT64_C(90000000000));
    check_time(arena, "1.5h", INT64_C(5400000000000));
    check_time(arena, "0.1h", INT64_C(360000000000));
    check_time(arena, "7d", INT64_C(604800000000000));
    check_time(arena, "1w", INT64_C(604800000000000));
    check_time(arena, "250ms", 250000000);
    check_time(arena, "3us", 3000);
    check_time(arena, "0.5ns", 1);
    check_time(arena, "2min", INT64_C(120000000000));
    check_time(arena, "2m", INT64_C(120000000000));
    check_time(arena, "123456789.123456789s", INT64_C(123456789123456789));
}

static void words_and_whole_numbers_are_read(void **state)
{
    struct arena *arena = *state;
    int64_t count = 0;
    bool flag = true;
    int choice = -1;
    const char *text = NULL;

    assert_true(read_as(arena, CONF_INT, "-9223372036854775808", &count));
    assert_true(count == INT64_MIN);
    assert_true(read_as(arena, CONF_INT, "\"12\"", &count));
    assert_int_equal(count, 12);
    assert_true(read_as(arena, CONF_BOOL, "false", &flag));
    assert_false(flag);
    assert_true(read_as(arena, CONF_CHOICE, "b", &choice));
    assert_int_equal(choice, 1);
    assert_true(read_as(arena, CONF_TEXT, "\"\"", &text));
    assert_string_equal(text, "");
    assert_true(read_as(arena, CONF_TEXT, "1.5 h", &text));
    assert_string_equal(text, "1.5 h");
}

static void values_of_other_forms_are_refused(void **state)
{
    static const struct {
        enum conf_type type;
        const char *text;
    } bad[] = {
        {CONF_INT, "1_000"}, {CONF_INT, "0x10"}, {CONF_INT, "-"},
        {CONF_INT, "1.0"}, {CONF_INT, "' 1'"}, {CONF_REAL, "1e400"},
        {CONF_REAL, ".nan"}, {CONF_REAL, ".inf"}, {CONF_REAL, "1,5"},
        {CONF_BOOL, "True"}, {CONF_BOOL, "0"}, {CONF_CHOICE, "A"},
        {CONF_TIME, "1h30min"}, {CONF_TIME, "-1s"}, {CONF_TIME, "s"},
        {CONF_TIME, "1  s"}, {CONF_TIME, "1S"}, {CONF_BYTES, "x4GB"},
        {CONF_BYTES, "4x4x1GB"}, {CONF_BYTES, "1GB "}, {CONF_BYTES, "80G"},
        {CONF_BYTES, "80Gb"}, {CONF_BYTES, "-4GB"}, {CONF_RATE, "50GB"},
        {CONF_RATE, "2x50GB/s"}, {CONF_PRICE, "2.1"}, {CONF_PRICE, "2EUR/h"},
        {CONF_FREQUENCY, "4"}, {CONF_FREQUENCY, "4/y"}, {CONF_FLOPS, "312T"},
        {CONF_TEXT, "~"}, {CONF_TEXT, "[a]"}, {CONF_TEXT, "null"},
        {CONF_FRACTION, "20 percent"}, {CONF_POWER, "700w"},
    };
    double out = 0.0;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[64];
        snprintf(text, sizeof text,
                 strpbrk(bad[i].text, "['~") || bad[i].text[0] == 'n'
                     ? "%s" : "\"%s\"", bad[i].text);
        if (read_as(*state, bad[i].type, text, &out))
            print_message("%s was read\n", bad[i].text);
        assert_false(read_as(*state, bad[i].type, text, &out));
        assert_true(out == 0.0);
    }
}

static void overlay_replaces_one_value_and_keeps_the_original(void **state)
{
    struct arena *arena = *state;
    struct err err = {.kind = ERR_NONE};
    const struct conf_node *root = parse_good(arena,
        "seed: 1\npolicies:\n- static\n- {policy: dynamic, lend: true}\n"
        "- {policy: hybrid, name: hybrid-20, reserve: 0.2}\n"
        "a: {b: {c: 1}, d: 2}\n");
    const struct conf_node *other =
        conf_set_text(arena, root, "a.b.c", "[7, {x: y}]", &err);

    assert_non_null(other);
    assert_string_equal(conf_text(conf_get(conf_get(conf_get(root, "a"), "b"),
                                           "c")), "1");
    const struct conf_node *a = conf_get(other, "a");
    const struct conf_node *c = conf_get(conf_get(a, "b"), "c");
    assert_string_equal(conf_text(conf_item(c, 0)), "7");
    assert_string_equal(conf_pos(c).file, "--set a.b.c");
    assert_ptr_equal(conf_get(a, "d"), conf_get(conf_get(root, "a"), "d"));
    assert_ptr_equal(conf_get(other, "policies"), conf_get(root, "policies"));

    other = conf_set_text(arena, root, "a.b.new", "3", &err);
    assert_non_null(other);
    assert_int_equal(conf_count(conf_get(conf_get(other, "a"), "b")), 2);
    assert_int_equal(conf_count(conf_get(conf_get(root, "a"), "b")), 1);

    other = conf_set_text(arena, root, "policies.hybrid-20.reserve", "0.4",
                          &err);
    const struct conf_node *item = conf_item(conf_get(other, "policies"), 2);
    assert_string_equal(conf_text(conf_get(item, "reserve")), "0.4");
    other = conf_set_text(arena, root, "policies.dynamic.lend", "false", &err);
    item = conf_item(conf_get(other, "policies"), 1);
    assert_string_equal(conf_text(conf_get(item, "lend")), "false");
    other = conf_set_text(arena, root, "policies.0", "easy", &err);
    item = conf_item(conf_get(other, "policies"), 0);
    assert_string_equal(conf_text(item), "easy");
    other = conf_set_text(arena, root, "policies.static", "{policy: x}", &err);
    item = conf_item(conf_get(other, "policies"), 0);
    assert_int_equal(conf_kind(item), CONF_MAP);
    assert_int_equal(err.kind, ERR_NONE);
}

/* A step is the longest name that the path begins with; in a list of values a number
 * is an index, though a value before it is the same number. */
static void a_path_reaches_names_with_dots_and_places_of_values(void **state)
{
    struct arena *arena = *state;
    struct err err = {.kind = ERR_NONE};
    const struct conf_node *root = parse_good(arena,
        "mix: [{name: lora-3.1, batch: 8}, {name: lora-3, batch: 4}]\n"
        "sweep: {a: [1], a.b.c: [2, 3]}\nbetween: [1, 9]\n");
    const struct conf_node *other =
        conf_set_text(arena, root, "mix.lora-3.1.batch", "32", &err);

    assert_string_equal(conf_text(conf_find(other, "mix.0.batch")), "32");
    assert_string_equal(conf_text(conf_find(other, "mix.lora-3.1.batch")), "32");
    assert_string_equal(conf_text(conf_find(other, "mix.lora-3.batch")), "4");
    other = conf_set_text(arena, root, "sweep.a.b.c", "[5]", &err);
    assert_int_equal(conf_count(conf_get(other, "sweep")), 2);
    assert_string_equal(conf_text(conf_find(other, "sweep.a.b.c.0")), "5");
    assert_string_equal(conf_text(conf_find(other, "sweep.a.0")), "1");
    other = conf_set_text(arena, root, "between.1", "5", &err);
    assert_string_equal(conf_text(conf_find(other, "between.0")), "1");
    assert_string_equal(conf_text(conf_find(other, "between.1")), "5");
    assert_int_equal(err.kind, ERR_NONE);
}

static void check_no_overlay(struct arena *arena, const char *path,
                             const char *value, enum err_kind kind,
                             const char *text)
{
    struct err err = {.kind = ERR_NONE};
    const struct conf_node *root = parse_good(arena,
        "policies: [static, {policy: dynamic}]\na: {b: 1}\n");

    assert_null(conf_set_text(arena, root, path, value, &err));
    assert_string_equal(err.text, text);
    assert_int_equal(err.kind, kind);
}

static void overlay_of_a_wrong_path_says_which_step(void **state)
{
    struct arena *arena = *state;

    check_no_overlay(arena, "x.b", "1", ERR_REFERENCE,
                     "path 'x.b': there is no key 'x'");
    check_no_overlay(arena, "policies.easy.x", "1", ERR_REFERENCE,
                     "path 'policies.easy.x': the list has no item 'easy'");
    check_no_overlay(arena, "policies.2", "1", ERR_REFERENCE,
                     "path 'policies.2': the list has no item '2'");
    check_no_overlay(arena, "a.b.c", "1", ERR_REFERENCE,
                     "path 'a.b.c': there is no key below a single value for "
                     "'c'");
    check_no_overlay(arena, "a..b", "1", ERR_USAGE,
                     "path 'a..b': an empty step before '.b'");
    check_no_overlay(arena, "", "1", ERR_USAGE,
                     "path '': an empty step before ''");
    check_no_overlay(arena, "a.b", " ", ERR_USAGE, "'a.b' has no value");
    check_no_overlay(arena, "a.b", "[1", ERR_SYNTAX,
                     "did not find expected ',' or ']' while parsing a flow "
                     "sequence that begins on line 1");
}

static void nearest_spelling_is_offered_only_when_near(void **state)
{
    (void)state;
    static const char *const names[] = {"seed", "seeds", "until", "warmup",
                                        "policies", "a", NULL};

    assert_string_equal(conf_nearest("sed", names), "seed");
    assert_string_equal(conf_nearest("SEEDS", names), "seeds");
    assert_string_equal(conf_nearest("sedes", names), "seeds");
    assert_string_equal(conf_nearest("polcies", names), "policies");
    assert_string_equal(conf_nearest("untli", names), "until");
    static const char *const gpus[] = { "l4", "l40s", "a40", NULL };
    assert_string_equal(conf_nearest("l40", gpus), "l40s");     /* all are one letter away */
    assert_null(conf_nearest("cluster", names));
    assert_null(conf_nearest("b", names));
    assert_null(conf_nearest("", names));
    assert_null(conf_nearest("xxil", names));
}

static void explain_tells_what_the_table_says(void **state)
{
    struct arena *arena = *state;

    assert_string_equal(conf_explain(arena, &thing_schema, "until"),
        "thing.until\n  when it ends\n"
        "  type      time, such as 90s, 1.5h or 7d\n"
        "  units     ns us ms s min m h d w\n"
        "  range     from 100ms to 1d\n"
        "  needed    default 1h\n");
    assert_string_equal(conf_explain(arena, &thing_schema, "name"),
        "thing.name\n  what it is called\n"
        "  type      text\n"
        "  needed    required\n");
    assert_string_equal(conf_explain(arena, &thing_schema, "blocking"),
        "thing.blocking\n"
        "  what a job that does not fit does to those behind it\n"
        "  type      choice: strict, skip\n  needed    default skip\n");
    assert_null(conf_explain(arena, &thing_schema, "nothing"));
}

/* U+2028, U+2029 and U+0085 end lines to YAML 1.1 alone: here `m` stands on line 3, as in any
 * editor, its `b` behind `m: {"x_": "y__", `, which are 17 characters, and the texts keep what
 * they have.  A text with what stands for them meanwhile is not changed. */
static void characters_that_end_a_line_in_old_yaml_do_not(void **state)
{
    static const char text[] = "# a\u2028comment \u2029 here\nz: 1\n{q: 1}\n";
    static const char other[] = "# a\u2028comment\nz: 1\n"
                                "m: {\"x\u2028\": \"y\u00e9\xC2\x85\", b: 2}\n";
    static const char private_use[] = "a: \uE028 \uE029\n";
    struct err err = {0};
    const struct conf_node *root = conf_parse(*state, "t", text, sizeof text - 1, &err);

    assert_null(root);
    assert_int_equal(err.pos.line, 3);
    err = (struct err){0};
    root = conf_parse(*state, "t", other, sizeof other - 1, &err);
    assert_non_null(root);
    assert_int_equal(conf_pos(conf_get(root, "z")).line, 2);
    const struct conf_node *map = conf_get(root, "m");
    assert_string_equal(conf_text(conf_get(map, "x\u2028")), "y\u00e9\xC2\x85");
    assert_int_equal(conf_key_pos(map, 1).line, 3);
    assert_int_equal(conf_key_pos(map, 1).col, 18);
    root = conf_parse(*state, "t", private_use, sizeof private_use - 1, &err);
    assert_string_equal(conf_text(conf_get(root, "a")), "\uE028 \uE029");
}

/* As editors of other systems save it: lines end with CR LF, and no CR is a
 * part of a value or moves a place. */
static void lines_may_end_with_crlf(void **state)
{
    static const char text[] = "a: one\r\nb:\r\n  c: two\r\n\r\nd: 3\r\n";
    struct err err = {0};
    const struct conf_node *root =
        conf_parse(*state, "crlf", text, sizeof text - 1, &err);

    assert_non_null(root);
    assert_string_equal(conf_text(conf_get(root, "a")), "one");
    assert_string_equal(conf_text(conf_get(conf_get(root, "b"), "c")), "two");
    const struct conf_node *last = conf_get(root, "d");
    assert_string_equal(conf_text(last), "3");
    assert_int_equal(conf_pos(last).line, 5);
    assert_int_equal(conf_pos(last).col, 4);
}

static void json_schema_is_yaml_that_names_every_key(void **state)
{
    struct arena *arena = *state;
    static const struct conf_schema *const tables[] = {&thing_schema,
                                                       &thing_part_schema};
    static const struct conf_shape shapes[] = {
        {"thing:", "'minProperties': 1", NULL},
        {"th*.name", "{'type': 'string', 'not': @word@}", "{}"},
    };
    static const struct conf_shape words[] = {
        {"word", "{'enum': ['a b']}", "{'type': 'string'}"}};
    struct conf_json json = {"things", "@thing@", tables, 2, shapes, 2, words,
                             1, true};
    /* JSON is YAML, so our own reader checks its form. */
    const struct conf_node *root =
        parse_good(arena, conf_json_schema(arena, &json));
    const struct conf_node *defs = conf_get(root, "definitions");
    const struct conf_node *thing = conf_get(defs, "thing");
    const struct conf_node *keys = conf_get(thing, "properties");

    assert_string_equal(conf_text(conf_get(conf_item(
        conf_get(root, "allOf"), 0), "$ref")), "#/definitions/thing");
    assert_int_equal(conf_count(keys), thing_schema.count);
    for (size_t i = 0; i < thing_schema.count; i++)
        assert_non_null(conf_get(keys, thing_fields[i].key));
    assert_string_equal(conf_text(conf_get(thing, "minProperties")), "1");
    const struct conf_node *required = conf_get(thing, "required");
    assert_int_equal(conf_count(required), 1);
    assert_string_equal(conf_text(conf_item(required, 0)), "name");
    const struct conf_node *part = conf_get(conf_get(keys, "part"), "allOf");
    assert_string_equal(conf_text(conf_get(conf_item(part, 0), "$ref")),
                        "#/definitions/thing.part");
    const struct conf_node *name = conf_item(
        conf_get(conf_get(keys, "name"), "allOf"), 0);
    assert_string_equal(conf_text(conf_get(conf_get(name, "not"), "$ref")),
                        "#/definitions/word");
    assert_non_null(conf_get(defs, "open thing.part"));
    assert_string_equal(conf_text(conf_get(conf_get(defs, "open word"),
                                           "type")), "string");
    assert_string_equal(
        conf_text(conf_get(conf_get(defs, "power"), "pattern")),
        "^[+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][-+]?[0-9]+)? ?"
        "(mW|W|kW|MW)$");
    assert_string_equal(
        conf_text(conf_get(conf_get(defs, "time above 0"), "pattern")),
        "^(?=[^eE]*[1-9])[+]?([0-9]+\\.?[0-9]*|\\.[0-9]+)"
        "([eE][-+]?[0-9]+)? ?(ns|us|ms|s|min|m|h|d|w)$");
}

/* The text of a bound that the schema has for a key; NULL: none. */
static const char *bound_of(const struct conf_node *key, const char *bound)
{
    const struct conf_node *any = conf_get(key, "anyOf");
    const struct conf_node *found = conf_get(any != NULL ? conf_item(any, 0) : key, bound);

    return found == NULL ? NULL : conf_text(found);
}

/* Plain numbers have the limits of their field, and no limit where the field has none. */
static void json_schema_has_the_limits_of_numbers(void **state)
{
    static const struct { const char *table, *key, *least, *most; } row[] = {
        { "thing", "count", "1", "100" }, { "thing", "ratio", NULL, NULL },
        { "thing", "share", "-1", "1" }, { "thing.part", "size", NULL, NULL },
        { "thing.part", "weight", NULL, NULL },
    };
    static const struct conf_schema *const tables[] = { &thing_schema, &thing_part_schema };
    struct arena *arena = *state;
    struct conf_json json = { "things", "@thing@", tables, 2, NULL, 0, NULL, 0, false };
    const struct conf_node *root = parse_good(arena, conf_json_schema(arena, &json));

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct conf_node *table = conf_get(conf_get(root, "definitions"), row[i].table);
        const struct conf_node *key = conf_get(conf_get(table, "properties"), row[i].key);
        const char *least = bound_of(key, "minimum"), *most = bound_of(key, "maximum");
        assert_true((least == NULL) == (row[i].least == NULL));
        assert_true((most == NULL) == (row[i].most == NULL));
        if (least != NULL && most != NULL) {
            assert_string_equal(least, row[i].least);
            assert_string_equal(most, row[i].most);
        }
    }
}

static bool trees_equal(const struct conf_node *a, const struct conf_node *b)
{
    if (conf_kind(a) != conf_kind(b))
        return false;
    if (conf_kind(a) == CONF_SCALAR)
        return strcmp(conf_text(a), conf_text(b)) == 0;
    if (conf_count(a) != conf_count(b))
        return false;
    for (size_t i = 0; i < conf_count(a); i++) {
        if (conf_kind(a) == CONF_LIST
                ? !trees_equal(conf_item(a, i), conf_item(b, i))
                : strcmp(conf_key(a, i), conf_key(b, i)) != 0 ||
                  !trees_equal(conf_value(a, i), conf_value(b, i)))
            return false;
    }
    return true;
}

/* A tree as one line reads as that tree. */
static void check_flow(struct arena *arena, const struct conf_node *root)
{
    struct err err = {.kind = ERR_NONE};
    const char *flow = conf_flow(arena, root);
    const struct conf_node *again =
        conf_parse(arena, "flow.yaml", flow, strlen(flow), &err);

    if (again == NULL || !trees_equal(root, again) || strchr(flow, '\n') != NULL)
        fail_msg("%s: %s", flow, err.text);
}

static void a_tree_on_one_line_reads_as_the_same_tree(void **state)
{
    static const char text[] =
        "a: [1, 20%, -3e4, 4/h]\nb: {c: 'x, y', 'd: e': \"#\", f: '', g: [], h: {}}\n"
        "i: \"\\t\\n'\\\"\\\\\"\nj: '- x'\nk: 'a: b'\nl: 'ends:'\nm: ' '\n";
    struct err err = {.kind = ERR_NONE};
    const struct conf_node *root =
        conf_parse(*state, "x.yaml", text, sizeof text - 1, &err);

    assert_non_null(root);
    assert_string_equal(conf_flow(*state, conf_get(root, "a")), "[1, 20%, -3e4, 4/h]");
    check_flow(*state, root);
}

static void a_tree_as_json_keeps_types_and_order(void **state)
{
    static const char text[] =
        "z: [1, -0.5, 3e-4, 1E+9, 007, +1, .5, 1., 0x10, 20%]\na: {}\nb: []\n"
        "c: [true, 'true', yes, null, ~, '', '12']\nd: \"q\\\"\\\\\\n\u00e9\"\n";
    static const char want[] =
        "{\n  \"z\": [\n    1,\n    -0.5,\n    3e-4,\n    1E+9,\n    \"007\",\n"
        "    \"+1\",\n    \".5\",\n    \"1.\",\n    \"0x10\",\n    \"20%\"\n  ],\n"
        "  \"a\": {},\n  \"b\": [],\n  \"c\": [\n    true,\n    \"true\",\n"
        "    \"yes\",\n    null,\n    null,\n    \"\",\n    \"12\"\n  ],\n"
        "  \"d\": \"q\\\"\\\\\\u000a\u00e9\"\n}\n";
    const struct conf_node *root = parse_good(*state, text);
    char *said = NULL;
    size_t bytes;
    FILE *file = open_memstream(&said, &bytes);

    assert_non_null(file);
    conf_print_json(root, file);
    fclose(file);
    assert_string_equal(said, want);
    free(said);
}

static void a_star_sets_the_key_of_each_item(void **state)
{
    static const char text[] = "mix: [{name: a, t: {g: 1}}, {name: b, t: {g: 2}}]\n";
    struct err err = {.kind = ERR_NONE};
    const struct conf_node *root =
        conf_parse(*state, "x.yaml", text, sizeof text - 1, &err);
    const struct conf_node *set =
        conf_set_text(*state, root, "mix.*.t.g", "7", &err);

    assert_non_null(set);
    assert_string_equal(conf_flow(*state, set),
                        "{mix: [{name: a, t: {g: 7}}, {name: b, t: {g: 7}}]}");
    assert_null(conf_set_text(*state, root, "mix.*", "7", &err));
    err = (struct err){.kind = ERR_NONE};
    assert_null(conf_set_text(*state, root, "mix.*.u.g", "7", &err));
}

/* One round of the fuzz loop: whatever it is, it ends well or with an err. */
static void check_survives(const char *text, size_t bytes)
{
    struct arena *arena = arena_new(0);
    struct err err = {.kind = ERR_NONE};
    struct thing thing;
    struct thing_part part;
    char out[2048];
    const struct conf_node *root =
        conf_parse(arena, "x.yaml", text, bytes, &err);

    assert_true((root == NULL) == (err.kind != ERR_NONE));
    if (root != NULL)
        check_flow(arena, root);
    if (root != NULL)
        assert_true(thing_fill(root, &thing, &part, &err) ==
                    (err.kind == ERR_NONE));
    if (err.kind != ERR_NONE) {
        assert_true(err.text[0] != '\0');
        assert_true(err_format(&err, out, sizeof out) > 0);
        assert_true(err.pos.line == 0 || err.pos.col > 0);
    }
    arena_free(arena);
}

static void no_bytes_crash_the_reader(void **state)
{
    (void)state;
    static const char seed_text[] =
        "name: \"x y\"\ncount: 4\nuntil: 1.5h\nshare: 20%\nratio: -1e3\n"
        "memory: 4x1.5TB\nrate: 400Gb/s\ncompute: 312TFLOPS\nlend: true\n"
        "price: 2.10USD/h\narrivals: 4/h\nblocking: strict\n"
        "part: {size: 3, weight: .5}\n# \xC3\xA9\n";
    static const char alphabet[] = "{}[]:,-?&*!|>'\"%@` \n\t#0a\xC3\xFF.~<";
    char text[sizeof seed_text + 64];
    struct rng rng;

    rng_init(&rng, 1, "conf_test", 0);
    for (int round = 0; round < 20000; round++) {
        size_t bytes = sizeof seed_text - 1;
        memcpy(text, seed_text, bytes);
        if (round % 4 == 0) {
            bytes = rng_below(&rng, 64);
            for (size_t i = 0; i < bytes; i++)
                text[i] = round % 8 == 0
                    ? (char)rng_u64(&rng)
                    : alphabet[rng_below(&rng, sizeof alphabet - 1)];
        }
        for (uint64_t i = rng_below(&rng, 4); i > 0 && bytes > 1; i--) {
            size_t at = (size_t)rng_below(&rng, bytes);
            if (i % 2 == 0)
                text[at] = alphabet[rng_below(&rng, sizeof alphabet - 1)];
            else
                memmove(text + at, text + at + 1, --bytes - at);
        }
        check_survives(text, bytes);
    }
}

struct three {
    const char *a, *b, *c;
};

static const struct conf_field three_fields[] = {
    CONF_KEY("a", CONF_TEXT, three, a, CONF_REQUIRED, "the first"),
    CONF_KEY("b", CONF_TEXT, three, b, CONF_REQUIRED, "the second"),
    CONF_KEY("c", CONF_TEXT, three, c, CONF_REQUIRED, "the third"),
};

/* The first key that a map lacks is named, as a fault of its own, at the place of the map. */
static void a_key_that_lacks_is_told_apart_from_other_faults(void **state)
{
    static const struct conf_schema schema = CONF_SCHEMA("three", "three texts", three_fields);
    static const char *const keys = "abc";
    struct err err;

    for (unsigned has = 1; has < 8; has++) {
        char text[64] = "\n";
        struct three three;
        unsigned lacks = 0;
        for (int k = 0; k < 3; k++)
            if (has >> k & 1)
                snprintf(text + strlen(text), sizeof text - strlen(text), "%c: x\n", keys[k]);
        while (has >> lacks & 1)
            lacks++;
        const struct conf_node *root = parse(*state, text, &err);
        assert_non_null(root);
        assert_true(conf_fill(root, &schema, &three, &err) == (has == 7));
        if (has == 7)
            continue;
        assert_true(err.fault == FAULT_MISSING && err.kind == ERR_SCHEMA);
        assert_true(err.key != NULL && err.key[0] == keys[lacks] && err.key[1] == '\0');
        assert_int_equal(err.pos.line, 2);
    }
    const struct conf_node *root = parse(*state, "a: x\nb: [1]\nc: x\n", &err);
    assert_false(conf_fill(root, &schema, &(struct three){ NULL, NULL, NULL }, &err));
    assert_true(err.fault != FAULT_MISSING && err.pos.line == 2);
}

#define LONG "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeeeffffffffff"

/* A table is read in many places.  Its name is told where the map stands at the end of it, with
 * one more word or without; else the path of the map is, in its file or in what is set. */
static void a_map_is_named_where_it_was_written(void **state)
{
    static const struct { const char *text, *set, *value, *map, *name, *told; } row[] = {
        { "w: {s: [{cpu: {z: 1}}]}", NULL, NULL, "w.s.0.cpu", "w.mix[].data", "w.s[].cpu" },
        { "s: [{cpu: {z: 1}}]", NULL, NULL, "s.0.cpu", "w.mix[].data", "s[].cpu" },
        { "s: [{cpu: {z: 1}}]", NULL, NULL, "s.0.cpu", "w.s[].cpu", "w.s[].cpu" },
        { "s: [{z: 1}]", NULL, NULL, "s.0", "w.s[].kind", "w.s[].kind" },
        { "s: [{z: 1}]", NULL, NULL, "s.0", "w.s[].kind.more", "s[]" },
        { "cpu: {z: 1}", NULL, NULL, "cpu", "w.subcpu", "cpu" },
        { "[[{z: 1}]]", NULL, NULL, "0.0", "w", "[][]" },
        { "{z: 1}", NULL, NULL, "", "w.mix[].data", "w.mix[].data" },
        { "w: {s: [{name: n, cpu: 1}]}", "w.s.n.cpu", "{z: 1}", "w.s.n.cpu", "w.data",
          "w.s.n.cpu" },
        { "w: {s: [{cpu: 1}]}", "w.s.0.cpu", "{a: [{z: 1}]}", "w.s.0.cpu.a.0", "w.data",
          "w.s.0.cpu.a[]" },
        { "w: {s: [{cpu: {}}]}", "w.s.0.cpu.z", "1", "w.s.0.cpu", "w.data", "w.s[].cpu" },
        { LONG ": {" LONG ": {z: 1}}", NULL, NULL, LONG "." LONG, "w.data", "..." LONG },
        { LONG ": {s: [{" LONG ": {z: 1}}]}", NULL, NULL, LONG ".s.0." LONG, "w.data",
          "...s[]." LONG },
    };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const struct conf_schema schema = CONF_SCHEMA(row[i].name, "three texts", three_fields);
        struct three three;
        struct err err;
        char want[200];
        const struct conf_node *root = parse(*state, row[i].text, &err);
        if (row[i].set != NULL)
            root = conf_set_text(*state, root, row[i].set, row[i].value, &err);
        assert_non_null(root);
        const struct conf_node *map = conf_find(root, row[i].map);
        assert_non_null(map);
        assert_false(conf_fill(map, &schema, &three, &err));
        snprintf(want, sizeof want, "key 'z' is not known in '%s'", row[i].told);
        if (strcmp(err.text, want) != 0)
            fail_msg("%zu: %s", i, err.text);
    }
}

/* So is one that lacks a key, and what is no map. */
static void what_lacks_and_what_is_no_map_is_named_likewise(void **state)
{
    static const struct conf_schema schema = CONF_SCHEMA("w.data", "three texts", three_fields);
    struct three three;
    struct err err;

    const struct conf_node *root = parse(*state, "w: {s: [{a: x, c: x}, [1], 2]}", &err);
    assert_false(conf_fill(conf_find(root, "w.s.0"), &schema, &three, &err));
    assert_string_equal(err.text, "key 'b' is missing in 'w.s[]'");
    err = (struct err) { 0 };
    assert_false(conf_fill(conf_find(root, "w.s.1"), &schema, &three, &err));
    assert_string_equal(err.text, "'w.s[]' must be a map of keys, found a list");
}

#define WITH_ARENA(test) \
    cmocka_unit_test_setup_teardown(test, make_arena, drop_arena)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_ARENA(every_bad_file_gets_its_message),
        WITH_ARENA(what_is_no_file_to_read_says_so),
        WITH_ARENA(too_many_values_are_refused),
        WITH_ARENA(keys_twice_are_found_in_large_maps_too),
        WITH_ARENA(tree_is_walked_with_places),
        WITH_ARENA(absent_keys_take_their_fallbacks),
        WITH_ARENA(a_key_that_lacks_is_told_apart_from_other_faults),
        WITH_ARENA(a_map_is_named_where_it_was_written),
        WITH_ARENA(what_lacks_and_what_is_no_map_is_named_likewise),
        WITH_ARENA(whole_file_fills_every_key),
        WITH_ARENA(quantities_have_their_exact_values),
        WITH_ARENA(times_are_exact_nanoseconds),
        WITH_ARENA(words_and_whole_numbers_are_read),
        WITH_ARENA(values_of_other_forms_are_refused),
        WITH_ARENA(overlay_replaces_one_value_and_keeps_the_original),
        WITH_ARENA(a_path_reaches_names_with_dots_and_places_of_values),
        WITH_ARENA(overlay_of_a_wrong_path_says_which_step),
        cmocka_unit_test(nearest_spelling_is_offered_only_when_near),
        WITH_ARENA(explain_tells_what_the_table_says),
        WITH_ARENA(lines_may_end_with_crlf),
        WITH_ARENA(characters_that_end_a_line_in_old_yaml_do_not),
        WITH_ARENA(json_schema_is_yaml_that_names_every_key),
        WITH_ARENA(json_schema_has_the_limits_of_numbers),
        WITH_ARENA(a_tree_on_one_line_reads_as_the_same_tree),
        WITH_ARENA(a_tree_as_json_keeps_types_and_order),
        WITH_ARENA(a_star_sets_the_key_of_each_item),
        cmocka_unit_test(no_bytes_crash_the_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* scan_test.c - lines of plain and gzip files, and exact numbers. */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include <cmocka.h>

#include "sim/text/foreign.h"
#include "sim/text/scan.h"
#include "sim/text/scan_look.h"
#include "sim/text/string_set.h"

struct place {
    char folder[64];
    char path[96];
};

static int make_folder(void **state)
{
    struct place *place = calloc(1, sizeof *place);

    snprintf(place->folder, sizeof place->folder, "/tmp/scan_test.XXXXXX");
    if (mkdtemp(place->folder) == NULL)
        return -1;
    snprintf(place->path, sizeof place->path, "%s/a.csv", place->folder);
    *state = place;
    return 0;
}

static int drop_folder(void **state)
{
    struct place *place = *state;

    unlink(place->path);
    rmdir(place->folder);
    free(place);
    return 0;
}

static void write_bytes(const char *path, const char *text, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(text, 1, bytes, file), bytes);
    fclose(file);
}

static void write_gzip(const char *path, const char *text, size_t bytes)
{
    gzFile file = gzopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, text, (unsigned)bytes), bytes);
    gzclose(file);
}

static void write_zstd(const char *path, const char *text, size_t bytes)
{
    size_t room = ZSTD_compressBound(bytes);
    char *packed = malloc(room);

    assert_non_null(packed);
    write_bytes(path, packed, ZSTD_compress(packed, room, text, bytes, 3));
    free(packed);
}

static void expect_line(struct scan *scan, const char *wanted)
{
    struct err err = {.kind = ERR_NONE};
    char *line;
    size_t bytes;

    assert_int_equal(scan_line(scan, &line, &bytes, &err), SCAN_LINE);
    assert_string_equal(line, wanted);
    assert_int_equal(bytes, strlen(wanted));
}

static void expect_end(struct scan *scan)
{
    struct err err = {.kind = ERR_NONE};
    char *line;
    size_t bytes;

    assert_int_equal(scan_line(scan, &line, &bytes, &err), SCAN_END);
    assert_int_equal(scan_line(scan, &line, &bytes, &err), SCAN_END);
}

static struct scan *open_whole(const char *path)
{
    struct err err = {.kind = ERR_NONE};
    struct scan *scan = scan_open(path, &err);
    assert_non_null(scan);
    return scan;
}

/* Reads on to the error. */
static struct err first_error(const char *path)
{
    struct err err = {.kind = ERR_NONE};
    struct scan *scan = scan_open(path, &err);
    char *line;
    size_t bytes;
    enum scan_step step = SCAN_LINE;

    while (scan != NULL && step == SCAN_LINE)
        step = scan_line(scan, &line, &bytes, &err);
    assert_int_not_equal(step, SCAN_END);
    scan_close(scan);
    return err;
}

/* Lines of a file without a fault. */
static int lines_of(const char *path)
{
    struct err err = {.kind = ERR_NONE};
    struct scan *scan = scan_open(path, &err);
    enum scan_step step;
    char *line;
    size_t bytes;
    int count = 0;

    assert_non_null(scan);
    while ((step = scan_line(scan, &line, &bytes, &err)) == SCAN_LINE)
        count++;
    assert_int_equal(step, SCAN_END);
    scan_close(scan);
    return count;
}

/* Five lines: two end with CR LF, one is blank, the last has no end.  JSON needs none where its
 * brackets are closed. */
static void a_second_look_counts_lines_however_packed(void **state)
{
    struct place *place = *state;
    static const char text[] = "\xEF\xBB\xBFone\ntwo\r\n \n\xC3\xA9\r\r\nlast";
    struct scan_look look;
    struct err err = { 0 };

    for (int packed = 0; packed < 3; packed++) {
        (packed == 0 ? write_bytes : packed == 1 ? write_gzip : write_zstd)(
            place->path, text, sizeof text - 1);
        assert_true(scan_look(place->path, &look, &err));
        assert_true(look.lines == 5 && look.returns == 2 && look.blank == 1);
        assert_true(look.mark && look.open_end);
        (packed == 0 ? write_bytes : packed == 1 ? write_gzip : write_zstd)(
            place->path, "{\n}", 3);
        assert_true(scan_look(place->path, &look, &err));
        assert_true(look.lines == 2 && look.returns == 0 && look.blank == 0);
        assert_true(!look.mark && !look.open_end);
    }
    write_zstd(place->path, text, sizeof text - 1);
    assert_int_equal(truncate(place->path, 20), 0);
    assert_false(scan_look(place->path, &look, &err));
    assert_string_equal(err.text, "cannot read the file again");
}

static void lines_end_with_lf_crlf_or_the_file(void **state)
{
    struct place *place = *state;
    static const char text[] = "\xEF\xBB\xBFone\ntwo\r\n\n\xC3\xA9\r\r\nlast";

    for (int packed = 0; packed < 3; packed++) {
        if (packed == 2)
            write_zstd(place->path, text, sizeof text - 1);
        else if (packed == 1)
            write_gzip(place->path, text, sizeof text - 1);
        else
            write_bytes(place->path, text, sizeof text - 1);
        struct scan *scan = open_whole(place->path);
        expect_line(scan, "one");
        assert_int_equal(scan_pos(scan, 3).line, 1);
        expect_line(scan, "two");
        expect_line(scan, "");
        expect_line(scan, "\xC3\xA9\r");
        expect_line(scan, "last");
        assert_int_equal(scan_pos(scan, 3).line, 5);
        assert_int_equal(scan_pos(scan, 3).col, 3);
        assert_ptr_equal(scan_pos(scan, 3).file, place->path);
        expect_end(scan);
        scan_close(scan);
    }
}

static void empty_file_has_no_line(void **state)
{
    struct place *place = *state;

    write_bytes(place->path, "", 0);
    struct scan *scan = open_whole(place->path);
    expect_end(scan);
    assert_int_equal(scan_pos(scan, 1).line, 0);
    scan_close(scan);
    scan_close(NULL);
}

/* Another program still writes it: the end may be anywhere in a number. */
static void a_file_that_grows_while_it_is_read_says_so(void **state)
{
    struct place *place = *state;
    struct err err = {.kind = ERR_NONE};
    struct scan *scan;
    FILE *file;
    char *line;
    size_t bytes;

    write_bytes(place->path, "a,1\nb,2", 7);
    scan = scan_open(place->path, &err);
    assert_non_null(scan);
    expect_line(scan, "a,1");
    file = fopen(place->path, "ab");
    assert_non_null(file);
    fputs("34\nc,5\n", file);
    fclose(file);
    while (scan_line(scan, &line, &bytes, &err) == SCAN_LINE)
        ;
    assert_int_equal(err.kind, ERR_IO);
    assert_non_null(strstr(err.text, "changed its size"));
    scan_close(scan);
}

static void lines_across_blocks_stay_whole(void **state)
{
    struct place *place = *state;
    size_t room = 4000000;
    char *text = malloc(room);
    size_t used = 0;
    int lines = 0;
    char wanted[64];

    while (used + 100 < room) {
        int got = snprintf(text + used, 100, "%d,%*s|\n", lines,
                           lines % 50, "");
        used += (size_t)got;
        lines++;
    }
    write_gzip(place->path, text, used);
    struct scan *scan = open_whole(place->path);
    for (int i = 0; i < lines; i++) {
        snprintf(wanted, sizeof wanted, "%d,%*s|", i, i % 50, "");
        expect_line(scan, wanted);
    }
    expect_end(scan);
    scan_close(scan);
    free(text);
}

static void longest_line_is_one_mebibyte(void **state)
{
    struct place *place = *state;
    size_t limit = (size_t)1 << 20;
    char *text = malloc(limit + 2);

    memset(text, 'x', limit + 1);
    text[limit] = '\0';
    for (int with_end = 0; with_end < 2; with_end++) {
        text[limit] = '\n';
        write_bytes(place->path, text, limit + (size_t)with_end);
        text[limit] = '\0';
        struct scan *scan = open_whole(place->path);
        expect_line(scan, text);
        expect_end(scan);
        scan_close(scan);
    }
    text[limit] = 'x';
    text[limit + 1] = '\n';
    write_bytes(place->path, text, limit + 2);
    struct err err = first_error(place->path);
    assert_int_equal(err.kind, ERR_SYNTAX);
    assert_int_equal(err.pos.line, 1);
    assert_string_equal(err.text, "the line is longer than 1 MiB");
    free(text);
}

static void what_cannot_be_read_says_so(void **state)
{
    struct place *place = *state;
    struct err err = first_error(place->path);

    assert_int_equal(err.kind, ERR_IO);
    assert_string_equal(err.text,
                        "cannot read the file: No such file or directory");
    err = first_error(place->folder);
    assert_int_equal(err.kind, ERR_IO);
    assert_string_equal(err.text, "cannot read the file: Is a directory");
}

static void damaged_gzip_says_so(void **state)
{
    struct place *place = *state;
    enum { BYTES = 300000 };
    char *text = malloc(BYTES);
    uint64_t word = 1;

    for (size_t i = 0; i < BYTES; i++) {
        word = word * UINT64_C(6364136223846793005) + 1442695040888963407u;
        text[i] = i % 60 == 59 ? '\n' : (char)('a' + (word >> 60));
    }
    write_gzip(place->path, text, BYTES);
    FILE *file = fopen(place->path, "rb");
    size_t packed = fread(text, 1, BYTES, file);
    fclose(file);
    assert_in_range(packed, 1000, BYTES - 1);
    write_bytes(place->path, text, packed / 2);
    struct err err = first_error(place->path);
    assert_int_equal(err.kind, ERR_IO);
    assert_string_equal(err.text, "the gzip data ends too early");
    text[packed / 2] = (char)(text[packed / 2] ^ 0x55);
    text[packed / 2 + 1] = (char)(text[packed / 2 + 1] ^ 0x55);
    write_bytes(place->path, text, packed);
    err = first_error(place->path);
    assert_int_equal(err.kind, ERR_IO);
    assert_string_equal(err.text, "the gzip data is corrupt");
    free(text);
}

/* Frames one after another are one text, and nothing else may follow. */
static void damaged_zstd_says_so(void **state)
{
    struct place *place = *state;
    enum { BYTES = 300000 };
    char *text = malloc(2 * BYTES);
    uint64_t word = 1;
    struct err err;

    for (size_t i = 0; i < BYTES; i++) {
        word = word * UINT64_C(6364136223846793005) + 1442695040888963407u;
        text[i] = i % 60 == 59 ? '\n' : (char)('a' + (word >> 60));
    }
    write_zstd(place->path, text, BYTES);
    assert_int_equal(lines_of(place->path), BYTES / 60);
    FILE *file = fopen(place->path, "rb");
    size_t packed = fread(text, 1, BYTES, file);
    fclose(file);
    assert_in_range(packed, 1000, BYTES - 1);
    memcpy(text + packed, text, packed);
    write_bytes(place->path, text, 2 * packed);
    assert_int_equal(lines_of(place->path), 2 * (BYTES / 60));
    for (size_t cut = 5; cut < packed; cut += packed / 7) {
        write_bytes(place->path, text, packed + cut);
        err = first_error(place->path);
        assert_int_equal(err.kind, ERR_IO);
        assert_string_equal(err.text, "the zstd data ends too early");
    }
    memcpy(text + packed, "more than a frame", 17);
    write_bytes(place->path, text, packed + 17);
    err = first_error(place->path);
    assert_string_equal(err.text, "the zstd data is corrupt");
    free(text);
}

/* Members one after another are one text; zeros behind them are padding. */
static void bytes_behind_gzip_data_are_refused(void **state)
{
    struct place *place = *state;
    char packed[400];
    struct err err;
    size_t bytes;

    write_gzip(place->path, "a,b\n1,2\n", 8);
    FILE *file = fopen(place->path, "rb");
    bytes = fread(packed, 1, sizeof packed / 4, file);
    fclose(file);
    memset(packed + bytes, 0, 100);
    write_bytes(place->path, packed, bytes + 100);
    assert_int_equal(lines_of(place->path), 2);
    memcpy(packed + bytes, packed, bytes);
    write_bytes(place->path, packed, 2 * bytes);
    assert_int_equal(lines_of(place->path), 4);
    memcpy(packed + 2 * bytes, "more", 4);
    for (size_t members = 1; members <= 2; members++) {
        memmove(packed + members * bytes, packed + 2 * bytes, 4);
        write_bytes(place->path, packed, members * bytes + 4);
        err = first_error(place->path);
        assert_int_equal(err.kind, ERR_IO);
        assert_string_equal(err.text, "other bytes follow the gzip data");
        memcpy(packed + bytes, packed, bytes);
        memcpy(packed + 2 * bytes, "more", 4);
    }
}

/* The last bytes of what follows may be any number, also one near the length of the data. */
static void numbers_behind_gzip_data_are_refused(void **state)
{
    struct place *place = *state;
    char packed[200];

    write_gzip(place->path, "a,b\n1,2\n", 8);
    FILE *file = fopen(place->path, "rb");
    size_t bytes = fread(packed, 1, sizeof packed / 2, file);
    fclose(file);
    for (int number = 1; number <= 20; number++) {
        memcpy(packed + bytes, "more", 4);
        memset(packed + bytes + 4, 0, 4);
        packed[bytes + 4] = (char)number;
        write_bytes(place->path, packed, bytes + 8);
        if (number != 8)            /* the length itself: it is not looked further */
            assert_string_equal(first_error(place->path).text, "other bytes follow the gzip data");
    }
}

static void archives_and_old_line_ends_are_named(void **state)
{
    static const struct {
        const char *bytes, *says;
        uint32_t col;
    } wrong[] = {
        { "PK\003\004abc", "the file is a zip archive, or a workbook of Excel", 1 },
        { "BZh91AY&SYabc", "the file is bzip2 data", 1 },
        { "PAR1\025\004", "the file is Parquet", 1 },
        { "a,b\r1,2\r", "a carriage return that ends no line", 4 },
    };
    struct place *place = *state;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_bytes(place->path, wrong[i].bytes, strlen(wrong[i].bytes));
        struct err err = first_error(place->path);
        assert_int_equal(err.kind, ERR_SYNTAX);
        assert_string_equal(err.text, wrong[i].says);
        assert_int_equal(err.pos.line, 1);
        assert_int_equal(err.pos.col, wrong[i].col);
    }
    write_bytes(place->path, "a,b\r\n1,2\r", 9);
    assert_int_equal(lines_of(place->path), 2);
}

/* The hint is a command that can be pasted, or names no file. */
static void parquet_comes_with_the_command_that_converts_it(void **state)
{
    static const struct { const char *path, *command; } is[] = {
        { "a/jobs.parquet", "duckdb -c \"COPY (FROM 'a/jobs.parquet') TO 'a/jobs.csv'\"" },
        { "summary.csv", "COPY (FROM 'summary.csv') TO 'summary.csv.csv'" },
        { ".parquet", "COPY (FROM '.parquet') TO '.parquet.csv'" },
        { "it's.parquet", "COPY (FROM 'FILE.parquet') TO 'FILE.csv'" },
        { "$x.parquet", "COPY (FROM 'FILE.parquet') TO 'FILE.csv'" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof is / sizeof is[0]; i++) {
        struct err err = { 0 };

        assert_true(foreign_find(is[i].path, "PAR1\025", 5, true, &err));
        assert_string_equal(err.text, "the file is Parquet");
        if (strstr(err.hint, is[i].command) == NULL)
            fail_msg("%s: %s", is[i].path, err.hint);
    }
    assert_false(foreign_find("x", "PAR", 3, true, &(struct err){ 0 }));
}

/* A table may be packed by gzip or zstd once; YAML and JSON are not unpacked at all. */
static void packed_files_are_told_as_what_their_reader_takes(void **state)
{
    static const struct { const char *bytes; bool unpacked; const char *says, *hint; } is[] = {
        { "\x1F\x8B\x08", true, "the file is gzip data within packed data", "plain, gzip" },
        { "\x1F\x8B\x08", false, "the file is gzip data", "YAML or JSON is read as it is" },
        { "\x28\xB5\x2F\xFD", true, "the file is zstd data within packed data", "plain, gzip" },
        { "\x28\xB5\x2F\xFD", false, "the file is zstd data", "YAML or JSON is read as it is" },
        { "BZh91AY&SY", true, "the file is bzip2 data", "plain, gzip" },
        { "BZh91AY&SY", false, "the file is bzip2 data", "YAML or JSON is read as it is" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof is / sizeof is[0]; i++) {
        struct err err = { 0 };

        assert_true(foreign_find("x", is[i].bytes, strlen(is[i].bytes), is[i].unpacked, &err));
        assert_string_equal(err.text, is[i].says);
        assert_non_null(strstr(err.hint, is[i].hint));
    }
}

static void bytes_that_are_no_text_are_located(void **state)
{
    struct place *place = *state;

    write_bytes(place->path, "a\nb\xC3\xA9\xFFz\n", 8);
    struct err err = first_error(place->path);
    assert_int_equal(err.kind, ERR_SYNTAX);
    assert_int_equal(err.pos.line, 2);
    assert_int_equal(err.pos.col, 3);
    assert_string_equal(err.text, "byte 0xFF is not UTF-8 text");
    write_bytes(place->path, "a\0b\n", 4);
    err = first_error(place->path);
    assert_int_equal(err.pos.line, 1);
    assert_int_equal(err.pos.col, 2);
    assert_string_equal(err.text, "byte 0x00 is not UTF-8 text");
    write_bytes(place->path, "\xED\xA0\x80", 3);        /* a surrogate */
    assert_int_equal(first_error(place->path).kind, ERR_SYNTAX);
    write_bytes(place->path, "ab\xE2\x82", 4);          /* cut off */
    assert_int_equal(first_error(place->path).pos.col, 3);
}

/* In UTF-8; returns its bytes. */
static size_t encode(unsigned code, char *out)
{
    static const unsigned first[] = { 0, 0, 0xC0, 0xE0, 0xF0 };
    size_t bytes = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    for (size_t i = bytes; i-- > 1; code >>= 6)
        out[i] = (char)(0x80 | (code & 0x3F));
    out[0] = (char)(first[bytes] | code);
    return bytes;
}

/* Each character is text, but for the halves of UTF-16; what has one byte more than it needs,
 * or is beyond U+10FFFF, is none. */
static void every_character_is_text(void **state)
{
    static const char *const no_text[] = {
        "\xC0\xAF", "\xC1\xBF", "\xE0\x80\xAF", "\xE0\x9F\xBF", "\xF0\x80\x80\xAF",
        "\xF0\x8F\xBF\xBF", "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\x80", "\xBF",
        "\xC3(", "\xE2\x82(", "\xE2(\x80", "\xF1\x80\x80(", "\xC3\xC0", "\xED\xBF\xBF",
    };
    struct place *place = *state;
    char *text = malloc(5000000);
    size_t bytes = 0;

    assert_non_null(text);
    for (unsigned code = 0x20; code <= 0x10FFFF; code++) {
        if (code < 0xD800 || code > 0xDFFF)
            bytes += encode(code, text + bytes);
        if (code % 64 == 0)
            text[bytes++] = '\n';
    }
    write_bytes(place->path, text, bytes);
    assert_int_equal(lines_of(place->path), 0x10FFFF / 64 + 1);
    free(text);
    for (size_t i = 0; i < sizeof no_text / sizeof no_text[0]; i++) {
        write_bytes(place->path, no_text[i], strlen(no_text[i]));
        struct err err = first_error(place->path);
        assert_int_equal(err.kind, ERR_SYNTAX);
        assert_int_equal(err.pos.col, 1);
    }
}

static void nul_far_into_the_file_is_located(void **state)
{
    struct place *place = *state;
    enum { BYTES = 200000 };
    char *text = malloc(BYTES);

    memset(text, 'x', BYTES);
    for (size_t i = 99; i < BYTES; i += 100)
        text[i] = '\n';
    memcpy(text + 150000, "\xC3\xA9", 2);     /* one column */
    text[150000 + 8] = '\0';
    write_bytes(place->path, text, BYTES);
    struct err err = first_error(place->path);
    assert_int_equal(err.pos.line, 1501);
    assert_int_equal(err.pos.col, 8);
    assert_string_equal(err.text, "a NUL byte: the file is not text");
    free(text);
}

static void integers_are_whole_fields(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", "-", "+", " 1", "1 ", "1.0", "1e3", "0x10", "--1",
        "9223372036854775808", "-9223372036854775809", "nan", "1_000",
        "99999999999999999999999",
    };
    int64_t value = 0;

    assert_true(scan_i64("9223372036854775807", 19, &value));
    assert_true(value == INT64_MAX);
    assert_true(scan_i64("-9223372036854775808", 20, &value));
    assert_true(value == INT64_MIN);
    assert_true(scan_i64("+007", 4, &value));
    assert_int_equal(value, 7);
    assert_true(scan_i64("12,34", 2, &value));
    assert_int_equal(value, 12);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(scan_i64(bad[i], strlen(bad[i]), &value));
    assert_int_equal(value, 12);
}

static void check_real(const char *text)
{
    double value = 0.0;
    double wanted = strtod(text, NULL);

    assert_true(scan_f64(text, strlen(text), &value));
    if (memcmp(&value, &wanted, sizeof value) != 0)
        print_message("%s: %a, strtod says %a\n", text, value, wanted);
    assert_memory_equal(&value, &wanted, sizeof value);
}

static void reals_equal_strtod_at_the_corners(void **state)
{
    (void)state;
    static const char *const corners[] = {
        "0", "-0", "0.1", "1.", ".5", "1e22", "1e23", "9007199254740993",
        "9007199254740992.99999999999999999999999999", "1e-1000", "0e99999",
        "9007199254740993.00000000000000000000000001",
        "2.4703282292062327e-324",
        "2.4703282292062328e-324", "4.9e-324", "2.2250738585072011e-308",
        "2.2250738585072014e-308", "1.7976931348623157e308",
        "1.7976931348623158e308", "179769313486231570000e288",
        "100000000000000000000000000000000000000000", "0.000000000000000000001",
        "123456789012345678901234567890e-20", "8.5e-1", "1E+5",
        "0.500000000000000166533453693773481063544750213623046875",
        "0.30000000000000004", "1152921504606846975.5", "3e-324",
        "0.00000000000000000000000000000000000000000000000000000000000001e70",
    };
    for (size_t i = 0; i < sizeof corners / sizeof corners[0]; i++)
        check_real(corners[i]);
}

/* Halfway between two doubles, to the last digit, and a hair beside it. */
static void exact_halves_go_to_even_and_hairs_do_not(void **state)
{
    (void)state;
    char text[1300];
    uint64_t word = 5;

    for (int i = 0; i < 300; i++) {
        word = word * UINT64_C(6364136223846793005) + 1442695040888963407u;
        double low = ldexp(1.0 + (double)(word >> 12) * 0x1p-52,
                           (int)(word % 100) - 50 - 970 * (i % 3 == 1));
        double high = nextafter(low, INFINITY);
        /* glibc prints every digit of a long double, which holds the half. */
        int bytes = snprintf(text, 1200, "%.1100Lf",
                             ((long double)low + (long double)high) / 2);
        assert_in_range(bytes, 1100, 1199);
        check_real(text);
        strcat(text, "0000001");
        check_real(text);
        text[strlen(text) - 9] = '\0';
        check_real(text);
    }
}

static void reals_equal_strtod_for_random_texts(void **state)
{
    (void)state;
    char text[64];
    uint64_t word = 9;

    for (int i = 0; i < 300000; i++) {
        word = word * UINT64_C(6364136223846793005) + 1442695040888963407u;
        uint64_t mixed = word ^ word >> 29;
        double value;
        memcpy(&value, &mixed, sizeof value);
        if (!isfinite(value))
            continue;
        snprintf(text, sizeof text, i % 2 ? "%.17g" : "%.16g", value);
        if (isfinite(strtod(text, NULL)))
            check_real(text);
        snprintf(text, sizeof text, "%.6f", (double)(mixed >> 34) / 997.0);
        check_real(text);
    }
}

static void what_is_no_finite_number_is_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {
        "", ".", "-", "-.", "e5", "1e", "1e+", "1.2.3", "1,5", " 1", "1 ",
        "inf", "nan", "0x1p3", "1e309", "-1e400", "1e99999999999", "1d5",
        "1.7976931348623159e308",
    };
    double value = 7.0;

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(scan_f64(bad[i], strlen(bad[i]), &value));
    assert_true(value == 7.0);
}

static void check_time(const char *text, int64_t wanted)
{
    int64_t ns = -7;
    assert_true(scan_time(text, strlen(text), &ns));
    assert_int_equal(ns, wanted);
}

static void times_are_exact(void **state)
{
    (void)state;
    int64_t ns = 3;

    check_time("552.21", INT64_C(552210000000));
    check_time("1e3", INT64_C(1000000000000));
    check_time("0", 0);
    check_time("-1.5", INT64_C(-1500000000));
    check_time("0.0000000005", 1);
    check_time("-0.0000000005", -1);
    check_time("0.00000000049999999999999999999999", 0);
    check_time("1506816000.123456789", INT64_C(1506816000123456789));
    check_time("1506816000.1234567894", INT64_C(1506816000123456789));
    check_time("1506816000.1234567895", INT64_C(1506816000123456790));
    check_time("00000000000000000000000000001.000000000000000000000000",
               INT64_C(1000000000));
    check_time("12345678901234567890e-11", INT64_C(123456789012345679));
    check_time("1e-30", 0);
    check_time("1e-2000", 0);
    check_time("5e-10", 1);
    check_time("9223372035.999999999", INT64_C(9223372035999999999));
    assert_false(scan_time("9223372036", 10, &ns));
    assert_false(scan_time("1e300", 5, &ns));
    assert_false(scan_time("99999999999999999999999", 23, &ns));
    assert_false(scan_time("12s", 3, &ns));
    assert_false(scan_time("", 0, &ns));
    assert_int_equal(ns, 3);
}

/* Numbers of a name as ten digits each: then it is the order of bytes. */
static void pad_numbers(const char *name, char out[200])
{
    while (*name != '\0') {
        size_t digits = strspn(name, "0123456789");

        for (size_t i = digits; digits > 0 && i < 10; i++)
            *out++ = '0';
        for (size_t i = 0; i < (digits > 0 ? digits : 1); i++)
            *out++ = *name++;
    }
    *out = '\0';
}

static int sign(int value) { return value < 0 ? -1 : value > 0; }

/* All pairs of names, in both orders: numbers count by their value, of equal ones the shorter
 * text is first, and a name is before what goes on from it. */
static void names_have_one_order(void **state)
{
    static const char *const name[] = {
        "", "a", "ab", "abc", "a1", "a01", "a001", "a2", "a10", "a9", "a10b", "a9b", "b", "1",
        "01", "10", "9", "9a", "a1b2", "a1b10", "a01b2", "a-1", "a!", "az", "a1z", "0", "00",
        "gpu9", "gpu10", "gpu", "gpu10x", "\xc3\xa9", "a\x01"
    };
    const size_t count = sizeof name / sizeof name[0];
    char x[200], y[200];

    (void)state;
    for (size_t i = 0; i < count; i++)
        for (size_t j = 0; j < count; j++) {
            pad_numbers(name[i], x);
            pad_numbers(name[j], y);
            int wanted = sign(strcmp(x, y)), found = sign(string_set_order(name[i], name[j]));
            if (wanted == 0)
                wanted = strlen(name[i]) != strlen(name[j])
                             ? (strlen(name[i]) < strlen(name[j]) ? -1 : 1)
                             : sign(strcmp(name[i], name[j]));
            if (wanted != found)
                fail_msg("%s and %s: %d", name[i], name[j], found);
        }
}

#define IN_FOLDER(test) \
    cmocka_unit_test_setup_teardown(test, make_folder, drop_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_FOLDER(lines_end_with_lf_crlf_or_the_file),
        IN_FOLDER(a_second_look_counts_lines_however_packed),
        IN_FOLDER(empty_file_has_no_line),
        IN_FOLDER(a_file_that_grows_while_it_is_read_says_so),
        IN_FOLDER(lines_across_blocks_stay_whole),
        IN_FOLDER(longest_line_is_one_mebibyte),
        IN_FOLDER(what_cannot_be_read_says_so),
        IN_FOLDER(damaged_gzip_says_so),
        IN_FOLDER(damaged_zstd_says_so),
        IN_FOLDER(bytes_that_are_no_text_are_located),
        IN_FOLDER(every_character_is_text),
        IN_FOLDER(bytes_behind_gzip_data_are_refused),
        IN_FOLDER(numbers_behind_gzip_data_are_refused),
        IN_FOLDER(archives_and_old_line_ends_are_named),
        cmocka_unit_test(parquet_comes_with_the_command_that_converts_it),
        cmocka_unit_test(packed_files_are_told_as_what_their_reader_takes),
        IN_FOLDER(nul_far_into_the_file_is_located),
        cmocka_unit_test(integers_are_whole_fields),
        cmocka_unit_test(reals_equal_strtod_at_the_corners),
        cmocka_unit_test(exact_halves_go_to_even_and_hairs_do_not),
        cmocka_unit_test(reals_equal_strtod_for_random_texts),
        cmocka_unit_test(what_is_no_finite_number_is_refused),
        cmocka_unit_test(times_are_exact),
        cmocka_unit_test(names_have_one_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

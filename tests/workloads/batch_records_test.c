/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * batch_records_test.c - logs of PBS and Grid Engine record by record, called alone: rows by
 * hand, each field on both sides of each of its bounds, quantities as batch systems write them.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sim/base/arena.h"
#include "tests/aid/scratch.h"
#include "workloads/logs/log.h"
#include "workloads/logs/record.h"

typedef bool open_fn(struct arena *arena, const char *path, struct csv_source *source,
                     struct err *err);

struct rows {
    int count;
    char text[4][LOG_COLUMNS][140];
    uint32_t line[4], col[4][LOG_COLUMNS];
    enum csv_step end;
    struct err err;
};

static void read_log(struct scratch *scratch, open_fn *open, const char *text, struct rows *rows)
{
    struct arena *arena = arena_new(1 << 14);
    struct csv_field field[LOG_COLUMNS];
    struct csv_source source;

    memset(rows, 0, sizeof *rows);
    scratch_write(scratch, "log", text);
    assert_true(open(arena, scratch_path(scratch, "log"), &source, &rows->err));
    while ((rows->end = source.next(source.self, field, &rows->err)) == CSV_ROW) {
        assert_true(rows->count < 4);
        for (int i = 0; i < LOG_COLUMNS; i++) {
            assert_int_equal(field[i].bytes, strlen(field[i].text));
            strcpy(rows->text[rows->count][i], field[i].text);
            rows->col[rows->count][i] = field[i].col;
        }
        rows->line[rows->count++] = field[0].line;
    }
    assert_true((rows->end == CSV_ERROR) == (rows->err.kind != ERR_NONE));
    source.close(source.self);
    arena_free(arena);
}

/* The row of `text` has these fields, in the order of enum log_column. */
static void has_fields(struct scratch *scratch, open_fn *open, const char *text,
                       const char *const fields[LOG_COLUMNS])
{
    struct rows rows;

    read_log(scratch, open, text, &rows);
    if (rows.end != CSV_END || rows.count != 1)
        fail_msg("%s: %d rows, %s", text, rows.count, rows.err.text);
    for (int i = 0; i < LOG_COLUMNS; i++)
        if (strcmp(rows.text[0][i], fields[i]) != 0)
            fail_msg("%s: column %d is '%s', expected '%s'", text, i, rows.text[0][i], fields[i]);
}

/* One field of that row; NULL: it is refused, at column `col` of line 1. */
static void has_field(struct scratch *scratch, open_fn *open, const char *text, int column,
                      const char *expected, uint32_t col)
{
    struct rows rows;

    read_log(scratch, open, text, &rows);
    if ((expected == NULL) != (rows.end == CSV_ERROR))
        fail_msg("%s: %d rows, %s", text, rows.count, rows.err.text);
    if (expected == NULL && (rows.err.pos.line != 1 || rows.err.pos.col != col))
        fail_msg("%s: refused at %u:%u, not at column %u: %s", text, rows.err.pos.line,
                 rows.err.pos.col, col, rows.err.text);
    if (expected != NULL && strcmp(rows.text[0][column], expected) != 0)
        fail_msg("%s: column %d is '%s', expected '%s'", text, column, rows.text[0][column],
                 expected);
}

/* ---- quantities ---- */

static void spans_are_days_hours_minutes_and_seconds(void **state)
{
    static const struct { const char *text; double s; } row[] = {
        { "0", 0 }, { "90", 90 }, { "1:30", 90 }, { "01:00:00", 3600 }, { "2-03:04:05", 183845 },
        { "00:00:01.5", 1.5 }, { "1:59.75", 119.75 }, { "100:00:00", 360000 }, { "0:60", -1 },
        { "0:59", 59 }, { "1:99:00", 9540 }, { "1:2:3:4", -1 }, { "", -1 }, { "x", -1 },
        { "-1", -1 }, { "1:-1", -1 }, { "-1:00:00", -1 }, { "1-5", -1 }, { "x-00:00:01", -1 },
        { "10000-00:00:00", 864000000 }, { "10000-00:00:01", -1 },
        { "9999-24:00:00", 864000000 }, { "864000000", 864000000 },
        { "864000001", -1 }, { "240000:00:00", 864000000 }, { "240000:00:01", -1 },
        { "1000001:00", -1 }, { ":30", -1 }, { "1:", -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        int64_t ns = 0;
        bool known = record_span(row[i].text, &ns);
        if (known != (row[i].s >= 0) || (known && fabs((double)ns - 1e9 * row[i].s) > 0.5))
            fail_msg("%s: %d, %lld ns", row[i].text, known, (long long)ns);
    }
}

static void bytes_have_the_units_of_their_letters(void **state)
{
    static const struct { const char *text; double bytes; const char *rest; } row[] = {
        { "64", 64 * 7.0, "" }, { "64b", 64 * 7.0, "" }, { "1k", 1024, "" }, { "1K", 1024, "" },
        { "65536kb", 67108864, "" }, { "3.5G", 3758096384, "" }, { "64Gi", 68719476736, "" },
        { "64GiB", 68719476736, "" }, { "2m", 2097152, "" }, { "1T", 1099511627776, "" },
        { "0.5P", 562949953421312, "" }, { "4Gn", 4294967296, "n" }, { "4Gc", 4294967296, "c" },
        { "1P", -1, "" }, { "1000000000000000", -1, "" }, { "", -1, "" }, { "G", -1, "" },
        { "1.2.3", -1, "" }, { "-1", -1, "" }, { "5x", 35, "x" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        const char *rest = "";
        double bytes = 0;
        bool known = record_bytes(row[i].text, 7, &bytes, &rest);
        if (known != (row[i].bytes >= 0) ||
            (known && (fabs(bytes - row[i].bytes) > 1e-6 || strcmp(rest, row[i].rest) != 0)))
            fail_msg("%s: %d, %.17g, '%s'", row[i].text, known, bytes, rest);
    }
}

static void moments_are_dates_or_seconds(void **state)
{
    static const struct { const char *text; int64_t s; } row[] = {   /* 0: not known; -1: none */
        { "", 0 }, { "Unknown", 0 }, { "None", 0 }, { "N/A", 0 }, { "NONE", 0 }, { "0", 0 },
        { "1", 1 }, { "1768204800", 1768204800 }, { "2026-01-12T08:00:00", 1768204800 },
        { "-1", -1 }, { "soon", -1 }, { "unknown", -1 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        int64_t ns = 0;
        bool known = true, good = record_moment(row[i].text, &ns, &known);
        if (good != (row[i].s >= 0) || (good && known != (row[i].s > 0)) ||
            (good && known && ns != row[i].s * 1000000000))
            fail_msg("%s: %d, %d, %lld ns", row[i].text, good, known, (long long)ns);
    }
}

static void lines_are_cut_at_each_separator(void **state)
{
    char line[] = "a::bc:", one[] = "word";
    struct cell cell[4];

    (void)state;
    assert_int_equal(record_cut(line, ':', cell, 3), 4);
    assert_string_equal(cell[0].text, "a");
    assert_string_equal(cell[1].text, "");
    assert_string_equal(cell[2].text, "bc");
    assert_true(cell[0].col == 1 && cell[1].col == 3 && cell[2].col == 4);
    assert_int_equal(record_cut(one, ':', cell, 4), 1);
    assert_string_equal(cell[0].text, "word");
}

/* ---- Grid Engine ---- */

/* A line of accounting: group, job, times, failed, status, project, PE, slots, task, category
 * and PE task in their places among 45 fields. */
#define SGE_LINE(GROUP, JOB, TIMES, ENDS, PROJECT, PE, SLOTS, TASK, CATEGORY, PE_TASK) \
    "q:n:" GROUP ":u:j:" JOB ":sge:0:" TIMES ":" ENDS ":0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:" \
    PROJECT ":d:" PE ":" SLOTS ":" TASK ":0:0:0:" CATEGORY ":0:" PE_TASK ":0:0:0\n"
#define TIMES "1768204800:1768204900:1768205000"
#define SGE_OF(CATEGORY) SGE_LINE("g", "7", TIMES, "0:0", "p", "NONE", "2", "0", CATEGORY, "NONE")

static void a_line_of_grid_engine_is_a_row(void **state)
{
    static const char *const whole[LOG_COLUMNS] = { "7", "p", "1768204800", "1768204900",
        "1768205000", "", "5400", "4", "8", "", "a100", "", "", "COMPLETED" };
    static const char *const task[LOG_COLUMNS] = { "7.3", "g", "1768204800", "1768204900",
        "1768205000", "", "", "0", "2", "", "", "1", "", "failed" };
    static const char *const times[LOG_COLUMNS] = { "0", "g", "", "1768204800.123", "", "", "",
        "1", "0", "", "", "", "", "failed" };
    struct rows rows;

    has_fields(*state, sge_open, "# comment\n\n" SGE_LINE("g", "7", TIMES, "0:0", "p", "smp 8",
               "8", "0", "-u u -l gpu=4,h_rt=5400,gpu_type=a100 -pe smp 8", "NONE"), whole);
    has_fields(*state, sge_open, SGE_LINE("g", "7", TIMES, "0:1", "NONE", "NONE", "2", "3",
               "-q all -l mem=5G,h_rt=INFINITY", "NONE"), task);
    /* Failed, and no project; times in milliseconds; the list of -l may stand last. */
    has_fields(*state, sge_open, SGE_LINE("g", "0", "0:1768204800123:0", "37:0", "", "mpi", "0",
               "0", "-l gpu", "NONE"), times);
    /* Lines of tasks of a parallel job are no jobs. */
    read_log(*state, sge_open, SGE_OF("") SGE_LINE("g", "7", TIMES, "0:0", "p", "mpi", "2", "0",
             "", "1.node17") SGE_OF(""), &rows);
    assert_true(rows.end == CSV_END && rows.count == 2);
    assert_true(rows.line[0] == 1 && rows.line[1] == 3);
}

#define TEXT_63 "123456789012345678901234567890123456789012345678901234567890123"

static void options_of_grid_engine_ask_for_gpus(void **state)
{
    static const struct { const char *line; int column; const char *field; } row[] = {
        { SGE_OF("-l gpu=2"), LOG_GPUS, "2" }, { SGE_OF("-l gpus=3"), LOG_GPUS, "3" },
        { SGE_OF("-l ngpus=0"), LOG_GPUS, "0" }, { SGE_OF("-l GPU"), LOG_GPUS, "1" },
        { SGE_OF("-l cuda=1 -l h_rt=60"), LOG_LIMIT, "60" },
        { SGE_OF("-l h_rt=60,nvidia_gpu=8"), LOG_GPUS, "8" }, { SGE_OF("-l gp=2"), LOG_GPUS, "0" },
        { SGE_OF("-l gpux=2"), LOG_GPUS, "0" }, { SGE_OF("-q gpu=2"), LOG_GPUS, "0" },
        { SGE_OF("-l gpu=2 -pe smp 4 -l gpu=5"), LOG_GPUS, "5" },
        { SGE_OF("-l gpu_type=v100,gpu=1"), LOG_TYPES, "v100" },
        { SGE_OF("-l gpu_type=v100-sxm2-32gb,gpu_type=a100"), LOG_TYPES, "a100" },
        { SGE_OF("-l gpu_type=" TEXT_63), LOG_TYPES, TEXT_63 },
        { SGE_OF("-l gpu_type=" TEXT_63 "x"), LOG_TYPES, "" },
        { SGE_OF("-l gpu_types=a100"), LOG_TYPES, "" }, { SGE_OF("-l gpu_type"), LOG_TYPES, "" },
        { SGE_OF("-l h_rt=60,h_rt=INFINITY"), LOG_LIMIT, "" },
        { SGE_OF("-l h_rt=INFINITY,h_rt=60"), LOG_LIMIT, "60" },
        { SGE_OF("-l h_rt"), LOG_LIMIT, "" },
        { SGE_OF("-l h_rt=0000000000000000000000000000060"), LOG_LIMIT, "60" },
        { SGE_OF("-l h_rt=00000000000000000000000000000060"), LOG_LIMIT, "" },
        { SGE_OF("-l s_rt=60"), LOG_LIMIT, "" }, { SGE_OF("-l h_rt=0"), LOG_LIMIT, "0" },
    };
    static const char *const wrong[] = { SGE_OF("-l gpu=x"), SGE_OF("-l gpu=-1"),
        SGE_OF("-l gpu="), SGE_OF("-l h_rt=soon"), SGE_OF("-l mem=1,h_rt=-5") };

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++)
        has_field(*state, sge_open, row[i].line, row[i].column, row[i].field, 0);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        has_field(*state, sge_open, wrong[i], 0, NULL,
                  (uint32_t)(strstr(wrong[i], "-l ") - wrong[i]) + 1);
}

/* Seconds end in the year 2255; from 5138 on they are milliseconds, which end there, too. */
static void numbers_of_grid_engine_have_bounds(void **state)
{
    static const struct { const char *time, *field; } row[] = {
        { "9000000000", "9000000000" }, { "9000000001", NULL }, { "100000000000", NULL },
        { "100000000001", "100000000.001" }, { "9000000000000", "9000000000" },
        { "9000000000001", NULL }, { "-1", NULL }, { "now", NULL }, { "0", "" },
    };
    char line[400];

    for (int at = 0; at < 3; at++)
        for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
            sprintf(line, "q:n:g:u:j:7:sge:0:%s:%s:%s:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:0:p:d:"
                    "NONE:1:0:0:0:0::0:NONE:0\n", at == 0 ? row[i].time : "5",
                    at == 1 ? row[i].time : "5", at == 2 ? row[i].time : "5");
            has_field(*state, sge_open, line, LOG_SUBMIT + at, row[i].field,
                      (uint32_t)(19 + 2 * at));
        }
    static const char *const wrong[] = {
        SGE_LINE("g", "-7", TIMES, "0:0", "p", "NONE", "1", "0", "", "NONE"),
        SGE_LINE("g", "7", TIMES, "0:0", "p", "NONE", "-7", "0", "", "NONE"),
        SGE_LINE("g", "7", TIMES, "0:0", "p", "NONE", "1", "-7", "", "NONE"),
        SGE_LINE("g", "7", TIMES, "0:0", "p", "NONE", "1", "0", "", "-7"),
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        has_field(*state, sge_open, wrong[i], 0, NULL,
                  (uint32_t)(strstr(wrong[i], "-7") - wrong[i]) + 1);
    has_field(*state, sge_open, "a:b:c\n", 0, NULL, 1);
    has_field(*state, sge_open, "a\n", 0, NULL, 1);
}

/* ---- PBS ---- */

#define PBS_LINE(TEXT) "01/12/2026 08:00:00;E;12.server;" TEXT "\n"

static void a_record_of_pbs_is_a_row(void **state)
{
    static const char *const whole[LOG_COLUMNS] = { "12.server", "nlp", "1768204830",
        "1768204900", "1768205000", "", "5400", "8", "16", "65536", "a100", "2", "", "COMPLETED" };
    static const char *const least[LOG_COLUMNS] = { "12.server", "", "", "", "", "", "", "0", "",
        "", "", "", "", "COMPLETED" };
    static const char *const torque[LOG_COLUMNS] = { "12.server", "grp", "1768204800", "", "", "",
        "", "5", "11", "", "", "3", "", "271" };

    has_fields(*state, pbs_open, "01/12/2026 07:00:00;Q;12.server;queue=q\n"
               PBS_LINE("user=u group=grp account=\"acc ount\" project=nlp ctime=1768204800 "
               "qtime=1768204810 etime=1768204830 start=1768204900 end=1768205000 "
               "Resource_List.walltime=01:30:00 Resource_List.mem=64gb Resource_List.ngpus=8 "
               "Resource_List.ncpus=16 Resource_List.nodect=2 "
               "Resource_List.select=9:ncpus=1:ngpus=1:gpu_type=a100 Exit_status=0"), whole);
    has_fields(*state, pbs_open, "01/12/2026 08:00:00;E;12.server\n", least);
    has_fields(*state, pbs_open, PBS_LINE("user=u group=grp project=_pbs_project_default "
               "qtime=1768204800 Resource_List.nodes=2:ppn=4:gpus=2+node7:ppn=3:gpus=1:big "
               "Exit_status=271"), torque);
}

static void fields_of_pbs_on_both_sides_of_their_bounds(void **state)
{
    static const struct { const char *text; int column; const char *field; uint32_t at; } row[] = {
        { "account=\"a b\"", LOG_TENANT, "a b", 0 }, { "account= user=u", LOG_TENANT, "u", 0 },
        { "account=\"", LOG_TENANT, "\"", 0 }, { "group=g account=a", LOG_TENANT, "a", 0 },
        { "ctime=50 etime=50", LOG_SUBMIT, "50", 0 }, { "ctime=50 etime=51", LOG_SUBMIT, "51", 0 },
        { "ctime=50 etime=9", LOG_SUBMIT, "50", 0 }, { "qtime=50 etime=51", LOG_SUBMIT, "51", 0 },
        { "etime=51", LOG_SUBMIT, "", 0 }, { "ctime=0 qtime=7", LOG_SUBMIT, "", 0 },
        { "ctime=x", 0, NULL, 6 }, { "etime=-5", 0, NULL, 6 }, { "start=x", 0, NULL, 6 },
        { "end=x", 0, NULL, 4 }, { "Resource_List.walltime=1h", 0, NULL, 23 },
        { "Resource_List.walltime=0:0:7", LOG_LIMIT, "7", 0 },
        { "Resource_List.ngpus=0 Resource_List.select=1:ngpus=4", LOG_GPUS, "0", 0 },
        { "Resource_List.select=1:ngpus=4", LOG_GPUS, "4", 0 },
        { "Resource_List.select=ngpus=4", LOG_GPUS, "4", 0 },
        { "Resource_List.select=ngpus=4+2:ngpus=3", LOG_GPUS, "10", 0 },
        { "Resource_List.select=ngpus=4+2:ngpus=3", LOG_NODES, "3", 0 },
        { "Resource_List.select=1:ncpus=4+2:ncpus=3 Resource_List.ncpus=0", LOG_CORES, "10", 0 },
        { "Resource_List.select=2:ncpus=4 Resource_List.nodect=0", LOG_NODES, "2", 0 },
        { "Resource_List.select=2:ncpus=4 Resource_List.nodes=3:ppn=1", LOG_CORES, "8", 0 },
        { "Resource_List.select=0:ncpus=4 Resource_List.nodes=3:ppn=1", LOG_CORES, "3", 0 },
        { "Resource_List.select=1000000:ngpus=1", LOG_GPUS, "1000000", 0 },
        { "Resource_List.select=1000001:ngpus=1", 0, NULL, 21 },
        { "Resource_List.select=1:ngpus=1000000", LOG_GPUS, "1000000", 0 },
        { "Resource_List.select=1:ngpus=1000001", 0, NULL, 21 },
        { "Resource_List.select=1:ncpus=1000000", LOG_CORES, "1000000", 0 },
        { "Resource_List.select=1:ncpus=1000001", 0, NULL, 21 },
        { "Resource_List.select=1:ngpus=-1", 0, NULL, 21 },
        { "Resource_List.select=1:ncpus=-1", 0, NULL, 21 },
        { "Resource_List.select=-1:ncpus=1", 0, NULL, 21 },
        { "Resource_List.nodes=1:ppn=x", 0, NULL, 20 },
        { "Resource_List.select=1:mpiprocs=x:gpu_model=t4", LOG_TYPES, "t4", 0 },
        { "Resource_List.select=1:gputype=t4+1:gpu_type=v100", LOG_TYPES, "v100", 0 },
        { "Resource_List.ngpus=x", 0, NULL, 20 }, { "Resource_List.ncpus=-1", 0, NULL, 20 },
        { "Resource_List.nodect=x", 0, NULL, 21 }, { "Resource_List.mem=x", 0, NULL, 18 },
        { "Resource_List.mem=1mbx", 0, NULL, 18 },
        { "Resource_List.mem=1048576", LOG_MEMORY, "1", 0 },
        { "Resource_List.mem=1048575", LOG_MEMORY, "0", 0 },
        { "Exit_status=-1", LOG_STATE, "-1", 0 },
        { "flag user=u", LOG_TENANT, "u", 0 }, { "  user=u  ", LOG_TENANT, "u", 0 },
    };
    char line[300];

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        int before = sprintf(line, "01/12/2026 08:00:00;E;12;");
        sprintf(line + before, "%s\n", row[i].text);
        has_field(*state, pbs_open, line, row[i].column, row[i].field,
                  (uint32_t)before + row[i].at + 1);
    }
    has_field(*state, pbs_open, "01/12/2026 08:00:00;E\n", 0, NULL, 1);
    has_field(*state, pbs_open, "01/12/2026 08:00:00;ED;12;user=u\n", 0, NULL, 1);
    has_field(*state, pbs_open, "01/12/2026 08:00:00;;12;user=u\n", 0, NULL, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_are_days_hours_minutes_and_seconds),
        cmocka_unit_test(bytes_have_the_units_of_their_letters),
        cmocka_unit_test(moments_are_dates_or_seconds),
        cmocka_unit_test(lines_are_cut_at_each_separator),
        cmocka_unit_test_setup_teardown(a_line_of_grid_engine_is_a_row, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(options_of_grid_engine_ask_for_gpus, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(numbers_of_grid_engine_have_bounds, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(a_record_of_pbs_is_a_row, scratch_setup,
                                        scratch_teardown),
        cmocka_unit_test_setup_teardown(fields_of_pbs_on_both_sides_of_their_bounds,
                                        scratch_setup, scratch_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * own_csv_test.c - a CSV of one's own, as pandas, spreadsheets and people of
 * several countries write it: read as it is meant, or refused in words that say
 * what it is.  Each file goes both ways: `import csv --columns`, and a trace of
 * an experiment.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#include "tests/aid/import_aid.h"

#define HEAD "job,submit,duration,gpus\n"
#define JOBS "job,submit_s,run_s,gpus\na,0,3600,4\nb,60,1800,1\n"
#define DATED "job,submit_s,run_s,gpus\na,1709288100,3600,4\n" \
              "b,1709288160,1800,1\n"

static bool is_there(const char *text, const char *part)
{
    return strstr(text, part) != NULL;
}

/* validate of an experiment that reads f.csv; columns as "job: a, ...". */
static int validate(const struct program *program, const char *columns,
                    char **said)
{
    char text[1024], path[160];
    const char *words[] = { "validate", in_folder(program, "e.yaml", path),
                            NULL };

    snprintf(text, sizeof text,
             "experiment: own\ncluster: {nodes: [{name: n, count: 2, gpus: "
             "{type: generic, count: 8}}]}\nworkload: {trace: {file: f.csv, "
             "format: csv, columns: {%s}}}\npolicies: [fcfs]\n", columns);
    write_file(path, text);
    return run(program, words, said);
}

static void put(const struct program *program, const char *bytes, size_t count)
{
    char path[160];
    FILE *file = fopen(in_folder(program, "f.csv", path), "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, count, file), count);
    assert_int_equal(fclose(file), 0);
}

/* Both ways: status 0 and these jobs, or status 3 and these words. */
static void try_both(const struct program *program, const char *file,
                     size_t bytes, const char *columns, const char *jobs,
                     const char *words)
{
    char path[160], inline_columns[400] = "", *said, *csv;
    const char *more[] = { "--columns", columns, NULL };
    int status = jobs != NULL ? 0 : 3;

    put(program, file, bytes);
    for (const char *at = columns; *at != '\0';) {
        size_t used = strlen(inline_columns), key = strcspn(at, "="),
               name = strcspn(at + key + 1, ",");
        const char *quote = at[key + 1] < 'A' ? "" : "'";

        snprintf(inline_columns + used, sizeof inline_columns - used,
                 "%s%.*s: %s%.*s%s", used > 0 ? ", " : "", (int)key, at,
                 quote, (int)name, at + key + 1, quote);
        at += key + 1 + name;
        at += *at == ',';
    }
    if (import(program, "csv", in_folder(program, "f.csv", path), more,
               &said) != status ||
        (words != NULL && !is_there(said, words)))
        fail_msg("import of\n%s\nsaid\n%s", file, said);
    free(said);
    if (jobs != NULL) {
        csv = program_read(in_folder(program, "w.csv", path));
        assert_string_equal(csv, jobs);
        free(csv);
    }
    if (validate(program, inline_columns, &said) != status ||
        (words != NULL && !is_there(said, words)))
        fail_msg("validate of\n%s\nsaid\n%s", file, said);
    free(said);
}

#define NAMES "job=job,submit=submit,duration=duration,gpus=gpus"

static const struct {
    const char *file, *columns, *jobs;
} good[] = {
    { HEAD "a,0,3600,4\nb,60,1800,1\n", NAMES, JOBS },
    { "job;submit;duration;gpus\na;0;3600;4\nb;60;1800;1\n", NAMES, JOBS },
    { "job\tsubmit\tduration\tgpus\na\t0\t3600\t4\nb\t60\t1800\t1\n", NAMES,
      JOBS },
    /* Quotes, and what they hide. */
    { "job;submit;duration;gpus\n\"a\";0;\"3600\";4\nb;60;1800;1\n", NAMES,
      JOBS },
    { "note,job,submit,duration,gpus\n\"x, \"\"y\"\"; z\",a,0,3600,4\n"
      ",b,60,1800,1\n", NAMES, JOBS },
    { "note\tjob\tsubmit\tduration\tgpus\n\"x\ty\"\ta\t0\t3600\t4\n"
      "\tb\t60\t1800\t1\n", NAMES, JOBS },
    /* pandas: an index, two of them, and one that was written twice. */
    { ",job,submit,duration,gpus\n0,a,0,3600,4\n1,b,60,1800,1\n", NAMES,
      JOBS },
    { ",,job,submit,duration,gpus\n0,0,a,0,3600,4\n0,1,b,60,1800,1\n", NAMES,
      JOBS },
    { ",Unnamed: 0,job,submit,duration,gpus\n0,7,a,0,3600,4\n"
      "1,8,b,60,1800,1\n", NAMES, JOBS },
    { ",submit,duration,gpus\na,0,3600,4\nb,60,1800,1\n",
      "job=Unnamed: 0,submit=submit,duration=duration,gpus=gpus", JOBS },
    /* Numbers in place of columns; a column of that name comes first. */
    { "job,submit,duration\na,0,3600\nb,60,1800\n",
      "job=job,submit=submit,duration=duration,gpus=1",
      "job,submit_s,run_s,gpus\na,0,3600,1\nb,60,1800,1\n" },
    { "job,submit,duration,1\na,0,3600,4\nb,60,1800,1\n",
      "job=job,submit=submit,duration=duration,gpus=1", JOBS },
    { "job\na\nb\n", "job=job,submit=0,duration=12.5,gpus=2",
      "job,submit_s,run_s,gpus\na,0,12.5,2\nb,0,12.5,2\n" },
    /* Dates of ISO 8601. */
    { HEAD "a,2024-03-01T10:15:00Z,3600,4\nb,2024-03-01T10:16:00Z,1800,1\n",
      NAMES, DATED },
    { HEAD "a,2024-03-01T10:15,3600,4\nb,2024-03-01 10:16:00 UTC,1800,1\n",
      NAMES, DATED },
    { HEAD "a,2024-03-01 11:15:00+0100,3600,4\n"
      "b,2024-03-01 08:16:00.000 -02,1800,1\n", NAMES, DATED },
    { HEAD "a,2024-03-01,3600,4\n", NAMES,
      "job,submit_s,run_s,gpus\na,1709251200,3600,4\n" },
    /* Windows. */
    { "\357\273\277" "job;submit;duration;gpus\r\na;0;3600;4\r\n"
      "b;60;1800;1\r\n", NAMES, JOBS },
};

static void files_are_read_as_they_are_meant(void **state)
{
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        try_both(the_program(state), good[i].file, strlen(good[i].file),
                 good[i].columns, good[i].jobs, NULL);
}

static const struct {
    const char *file, *words;
} bad[] = {
    { HEAD "a,0,\"3,600\",4\n",
      "Is the comma one of thousands, or of decimals? Write 3600, or 3.600." },
    { HEAD "a,0,\"1,234,567\",4\n",
      "Leave out what separates thousands: 1234567." },
    { HEAD "a,0,3'600,4\n", "Leave out what separates thousands: 3600." },
    { HEAD "a,0,3 600.5,4\n", "Leave out what separates thousands: 3600.5." },
    { HEAD "a,0,3\302\240600,4\n",
      "Leave out what separates thousands: 3600." },
    { HEAD "a,0,3,600,4\n", "A comma within a number, 3,600 or 0,5, separates "
                            "fields: write 3600, or 0.5." },
    { "job;submit;duration;gpus\na;0;3600,5;4\n",
      "A decimal comma is not read: write 3600.5." },
    { HEAD "a,0,1:02:03,4\n", "Write seconds: 1:02:03 is 3723." },
    { HEAD "a,0,1:30,4\n",
      "Write seconds: 1:30 is 5400 if it has hours and minutes." },
    { HEAD "a,1709287200123,3600,4\n",
      "Does it count milliseconds? In seconds it is 1709287200.123." },
    { HEAD "a,03/01/2024 10:15,3600,4\n", "a date such as 2017-10-09" },
    { HEAD "a,2024-02-30T10:15,3600,4\n", "a date such as 2017-10-09" },
    { HEAD "a,0,3600s,4\n", "Fields are numbers without a unit" },
    { HEAD "a,0,,4\n", "The field is empty. A missing value is not guessed" },
    { HEAD "a,0,NaN,4\n", "A missing value is not guessed: write a number" },
    { HEAD "a,NaT,60,4\n", "A missing value is not guessed: write a number" },
    { HEAD "a,05.01.2026 09:00,60,4\n", "Write the year first" },
    { HEAD "a,1/5/2026 9:00,60,4\n", "Write the year first" },
    { HEAD "a,2026-01-05 09:00:00 CEST,60,4\n",
      "Names of time zones are not read: write +02:00" },
    { HEAD "\"a\nx\",0,3600,4\n", "A field holds no line break" },
    { HEAD "\"a\"x,0,3600,4\n", "before the next comma" },
    { "job;submit;duration;gpus\n\"a\"x;0;3600;4\n",
      "before the next semicolon" },
    { "a,0,3600,4\nb,60,1800,1\n",
      "That looks like a row: the first line must name the columns." },
    { "1,1,3600,4\n2,60,1800,1\n",
      "It looks like a row: the first line must name the columns." },
    { "job,submit,duration,gpus,\na,0,3600,4,\n",
      "A separator at the end of the line begins one more column." },
    { "job,submit,,duration,gpus\na,0,,3600,4\n",
      "Only the first columns may have none, as an index that pandas writes." },
    { "job,submit,durations,gpus\na,0,3600,4\n",
      "does not have: its columns are job, submit, durations, gpus\n" },
    { "job,submit,durations,gpus\na,0,3600,4\n",
      "The nearest column is durations." },
    { "job_id,submit,duration,gpus\na,0,3600,4\n",
      "The nearest column is job_id." },
    { "PK\003\004zipped", "the file is a zip archive, or a workbook of Excel" },
    { HEAD "\351,0,3600,4\n", "byte 0xE9 is not UTF-8 text" },
};

static void what_a_file_is_instead_is_told(void **state)
{
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        try_both(the_program(state), bad[i].file, strlen(bad[i].file), NAMES,
                 NULL, bad[i].words);
}

/* 24 jobs, one in `gap` seconds, that run so long, or (below 0) a few seconds:
 * what import says. */
static char *imported(const struct program *program, int gap, long run_s)
{
    static const char *const more[] = { "--columns", NAMES, NULL };
    char text[2048] = HEAD, path[160], *said;

    for (int i = 0; i < 24; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "j%d,%d,%ld,1\n", i, i * gap, run_s < 0 ? 1 + i % 5 : run_s + i);
    put(program, text, strlen(text));
    if (import(program, "csv", in_folder(program, "f.csv", path), more,
               &said) != 0)
        fail_msg("%s", said);
    return said;
}

/* Other units, or another column, are read as they stand: the report says what
 * they look like. */
static void units_that_look_wrong_are_noted(void **state)
{
    static const struct {
        int gap;
        long run_s;
        const char *note;       /* NULL: none */
    } cases[] = {
        { 60, 3600, NULL }, { 60, 10, NULL }, { 60, 604700, NULL },
        { 60000, 3600000, "neither milliseconds nor the time of the end" },
        { 60, 1760000000, "neither milliseconds nor the time of the end" },
        { 60, -20, "seconds, neither minutes nor hours" },
        { 0, 3600, "all jobs are submitted at the same time" },
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *said = imported(the_program(state), cases[i].gap,
                              cases[i].run_s);

        if (cases[i].note == NULL ? is_there(said, "note  ")
                                  : !is_there(said, cases[i].note))
            fail_msg("%zu: %s", i, said);
        free(said);
    }
}

/* What import writes is a part of an experiment: run as one, it is told. */
static void a_workload_run_as_an_experiment_is_told(void **state)
{
    const struct program *program = the_program(state);
    char path[160], *said = imported(program, 60, 3600);
    const char *words[] = { in_folder(program, "w.yaml", path), NULL };
    const char *cluster[] = { "run", "models/clusters/generic_64.yaml", NULL };

    free(said);
    assert_int_equal(run(program, words, &said), 3);
    if (!is_there(said, "the file is a workload, not an experiment"))
        fail_msg("%s", said);
    free(said);
    assert_int_equal(run(program, cluster, &said), 3);
    if (!is_there(said, "the file is a cluster, not an experiment"))
        fail_msg("%s", said);
    free(said);
}

/* A header that a semicolon begins is no header. */
static void a_workload_of_the_archive_is_told(void **state)
{
    static const char swf[] = "; Version: 2.2\n"
        "1 14 -1 330 16 -1 -1 16 1380 -1 1 4 1 -1 1 -1 -1 -1\n";
    static const char *const more[] = { NULL };
    const struct program *program = the_program(state);
    char path[160], *said;

    put(program, swf, strlen(swf));
    assert_int_equal(import(program, "csv", in_folder(program, "f.csv", path),
                            more, &said), 3);
    if (!is_there(said, "Standard Workload Format: clustersim import swf."))
        fail_msg("%s", said);
    free(said);
}

/* With a mark and without, either end first. */
static void text_in_utf16_is_told(void **state)
{
    static const char text[] = HEAD "a,0,3600,4\n";
    char wide[2 * sizeof text + 2];

    for (int kind = 0; kind < 4; kind++) {
        int low = kind & 1, mark = kind & 2;
        size_t n = 0;

        if (mark) {
            wide[n + (size_t)low] = '\377';
            wide[n + (size_t)!low] = '\376';
            n += 2;
        }
        for (size_t i = 0; text[i] != '\0'; i++, n += 2) {
            wide[n + (size_t)low] = text[i];
            wide[n + (size_t)!low] = '\0';
        }
        try_both(the_program(state), wide, n, NAMES, NULL,
                 "the file is text in UTF-16");
    }
}

static const struct {
    const char *columns, *words;
} usage[] = {
    { "submit=submit,gpus=1", "--columns lacks duration" },
    { "sumbit=a", "Did you mean submit?" },
    { "submit", "must be a list of KEY=NAME" },
    { "submit=", "must be a list of KEY=NAME" },
    { "submit=a,submit=b", "--columns has submit twice" },
};

static void mistaken_columns_are_usage(void **state)
{
    const struct program *program = the_program(state);
    char path[160], *said;

    put(program, good[0].file, strlen(good[0].file));
    for (size_t i = 0; i < sizeof usage / sizeof usage[0]; i++) {
        const char *more[] = { "--columns", usage[i].columns, NULL };

        assert_int_equal(import(program, "csv",
                                in_folder(program, "f.csv", path), more,
                                &said), 2);
        if (!is_there(said, usage[i].words))
            fail_msg("%s: %s", usage[i].columns, said);
        free(said);
    }
    const char *other[] = { "--columns", NAMES, NULL };
    assert_int_equal(import(program, "itp", in_folder(program, "f.csv", path),
                            other, &said), 2);
    assert_true(is_there(said, "--columns is for csv"));
    free(said);
    /* Without: what is missing, what there is, and the way out. */
    const char *none[] = { NULL };
    assert_int_equal(import(program, "csv", in_folder(program, "f.csv", path),
                            none, &said), 3);
    assert_true(is_there(said, "its columns are job, submit, duration, gpus"));
    assert_true(is_there(said, "Say which of its columns is what: --columns"));
    free(said);
}

/* A client of ServeGen, packed and not: the same requests. */
static void servegen_is_read_packed_too(void **state)
{
    static const char trace[] = "0,2,1,Gamma,1,1\n600,1,1,Gamma,1,1\n";
    static const char lengths[] =
        "{\"0\": {\"input_tokens\": \"{10: 0.5, 20: 0.5}\", "
        "\"output_tokens\": \"{5: 1.0}\"}}";
    const struct program *program = the_program(state);
    char plain[160], packed[160], path[160], *a, *b;
    const char *more[] = { NULL };
    gzFile file;

    in_folder(program, "chunk-1-trace.csv", plain);
    write_file(plain, trace);
    write_file(in_folder(program, "chunk-1-dataset.json", path), lengths);
    file = gzopen(in_folder(program, "chunk-1-trace.csv.gz", packed), "wb");
    assert_int_equal(gzwrite(file, trace, sizeof trace - 1),
                     sizeof trace - 1);
    assert_int_equal(gzclose(file), Z_OK);
    if (import(program, "servegen", plain, more, &a) != 0)
        fail_msg("%s", a);
    if (import(program, "servegen", packed, more, &b) != 0)
        fail_msg("%s", b);
    /* All but the first line, which names the file. */
    assert_string_equal(strstr(a, "\nrows"), strstr(b, "\nrows"));
    free(a);
    free(b);
}

int main(int argc, char **argv)
{
    struct program program;
#define WITH(TEST) cmocka_unit_test_prestate(TEST, &program)
    const struct CMUnitTest tests[] = {
        WITH(files_are_read_as_they_are_meant),
        WITH(what_a_file_is_instead_is_told),
        WITH(units_that_look_wrong_are_noted),
        WITH(a_workload_run_as_an_experiment_is_told),
        WITH(a_workload_of_the_archive_is_told),
        WITH(text_in_utf16_is_told),
        WITH(mistaken_columns_are_usage),
        WITH(servegen_is_read_packed_too),
    };
    int failed;

    (void)argc;
    program_open(&program, argv[0]);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}

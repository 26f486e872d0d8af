/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * many_errors_test.c - all faults of a file are told in one reading, and
 * nothing that only follows from one of them.
 *
 * In tests/bad/many_*.yaml a line with faults ends in "# fault: WORDS", with
 * "; " between those of several; an error for that line must hold the words,
 * and no error may be told for any other line.  The files of bad_input_test
 * have one fault each: `validate` must tell one error and no more.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/program.h"

#define FAULTS_MAX 64

struct faults {
    unsigned line[FAULTS_MAX];
    char words[FAULTS_MAX][260];
    size_t count;
};

static void add_fault(struct faults *faults, unsigned line, const char *words,
                      size_t bytes)
{
    assert_true(faults->count < FAULTS_MAX);
    assert_in_range(bytes, 1, sizeof faults->words[0] - 1);
    faults->line[faults->count] = line;
    snprintf(faults->words[faults->count], sizeof faults->words[0], "%.*s",
             (int)bytes, words);
    faults->count++;
}

/* What the comments of a file say is wrong with it, in its order. */
static void read_faults(const char *path, struct faults *faults)
{
    static const char mark[] = "# fault: ";
    FILE *file = fopen(path, "rb");
    char text[400];

    assert_non_null(file);
    faults->count = 0;
    for (unsigned line = 1; fgets(text, sizeof text, file); line++) {
        char *words = strstr(text, mark);
        text[strcspn(text, "\n")] = '\0';
        words = words == NULL ? NULL : words + sizeof mark - 1;
        while (words != NULL) {
            char *more = strstr(words, "; ");
            add_fault(faults, line, words,
                      more ? (size_t)(more - words) : strlen(words));
            words = more ? more + 2 : NULL;
        }
    }
    fclose(file);
}

/* The errors that were told, as lines of the file and their texts. */
static void read_told(const char *path, char *said, struct faults *told)
{
    size_t bytes = strlen(path);

    told->count = 0;
    for (char *line = strtok(said, "\n"); line; line = strtok(NULL, "\n")) {
        if (strncmp(line, path, bytes) != 0 || line[bytes] != ':')
            continue;
        char *text = strstr(line, " error: ");
        assert_non_null(text);
        size_t length = strlen(text);
        add_fault(told, (unsigned)strtoul(line + bytes + 1, NULL, 10), text,
                  length);
    }
}

static int validate(const struct program *program, const char *path,
                    char **said)
{
    const char *words[] = { "validate", path, NULL };

    return program_say(program, words, said);
}

static void all_faults_are_told_at_once(void **state)
{
    static const char *const name[] = { "first_mix", "experiment", "cluster",
        "workload", "catalogue", "advice", "files", "names", "swept", "cut" };

    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        struct faults wanted, told;
        char path[128], *said;

        snprintf(path, sizeof path, "tests/bad/many_%s.yaml", name[i]);
        read_faults(path, &wanted);
        assert_in_range(wanted.count, 3, FAULTS_MAX);
        int status = validate(*state, path, &said);
        assert_int_equal(status, strcmp(name[i], "advice") == 0 ||
                                 strcmp(name[i], "files") == 0 ? 4 : 3);
        read_told(path, said, &told);
        for (size_t k = 0; k < wanted.count && k < told.count; k++)
            if (wanted.line[k] != told.line[k] ||
                strstr(told.words[k], wanted.words[k]) == NULL)
                fail_msg("%s:%u wants '%s', but told is %u%s", path,
                         wanted.line[k], wanted.words[k], told.line[k],
                         told.words[k]);
        assert_int_equal(told.count, wanted.count);
        free(said);
    }
}

static void what_is_cut_is_said(void **state)
{
    char *said;

    validate(*state, "tests/bad/many_cut.yaml", &said);
    assert_non_null(strstr(said, "\n24 errors; the first 20 are printed\n"));
    free(said);
    validate(*state, "tests/bad/many_cluster.yaml", &said);
    assert_non_null(strstr(said, "\n4 errors\n"));
    free(said);
}

/* The same from `run`: it reads as `validate` does. */
static void run_tells_what_validate_tells(void **state)
{
    const struct program *program = *state;
    const char *path = "tests/bad/many_first_mix.yaml";
    char log[128], out[128], *said, *ran;
    const char *argv[] = { program->path, "run", "-q", "-o", out, path,
                           NULL };

    snprintf(log, sizeof log, "%s/run.log", program->folder);
    snprintf(out, sizeof out, "%s/out", program->folder);
    validate(program, path, &said);
    assert_int_equal(program_spawn(argv, log), 3);
    ran = program_read(log);
    assert_string_equal(ran, said);
    free(ran);
    free(said);
}

static void one_fault_is_one_error(void **state)
{
    DIR *folder = opendir("tests/bad");
    struct dirent *entry;
    size_t count = 0, bad = 0;
    char path[300], *said;

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        if (strncmp(entry->d_name, "experiment_", 11) != 0)
            continue;
        /* An experiment as its own cluster: each key is a fault. */
        if (strcmp(entry->d_name, "experiment_tables_self.yaml") == 0)
            continue;
        snprintf(path, sizeof path, "tests/bad/%s", entry->d_name);
        validate(*state, path, &said);
        if (strstr(said, " errors\n") != NULL) {
            print_message("%s:\n%s\n", path, said);
            bad++;
        }
        free(said);
        count++;
    }
    closedir(folder);
    assert_in_range(count, 100, 1000);
    assert_int_equal(bad, 0);
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(all_faults_are_told_at_once, program_setup,
                                        program_teardown),
        cmocka_unit_test_setup_teardown(what_is_cut_is_said, program_setup, program_teardown),
        cmocka_unit_test_setup_teardown(run_tells_what_validate_tells, program_setup,
                                        program_teardown),
        cmocka_unit_test_setup_teardown(one_fault_is_one_error, program_setup,
                                        program_teardown),
    };

    assert(argc > 0);
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

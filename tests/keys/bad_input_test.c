/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * bad_input_test.c - the program on one wrong experiment per message.
 *
 * Each tests/bad/experiment_*.yaml says in its first lines what must be told:
 * "# exit STATUS PLACE: kind: text", where PLACE is LINE:COL of the file
 * itself or of another that is named, and "# hint: text" if there is a hint.
 * A line that ends in " ..." says only how the message begins.
 * Nothing may be left in the results folder that looks like a result.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/program.h"

/* A line of the file's head without its mark and line feed; false: no such
 * line. */
static bool head_line(FILE *file, const char *mark, char *out, size_t room)
{
    char line[600];

    if (!fgets(line, sizeof line, file) ||
        strncmp(line, mark, strlen(mark)) != 0)
        return false;
    snprintf(out, room, "%s", line + strlen(mark));
    char *more = strstr(out, " ...\n");     /* a list that may grow */
    if (more != NULL)
        *more = '\0';
    return true;
}

/* What the head of the file wants: its status, and the text in full. */
static int wanted(const char *path, char *text, size_t room, char *hint,
                  size_t hint_room)
{
    FILE *file = fopen(path, "rb");
    char line[600] = "", *rest;
    long status;

    assert_non_null(file);
    if (!head_line(file, "# exit ", line, sizeof line))
        fail_msg("%s does not say what is wanted", path);
    if (!head_line(file, "# hint: ", hint, hint_room))
        hint[0] = '\0';
    fclose(file);
    status = strtol(line, &rest, 10);
    assert_int_equal(*rest, ' ');
    rest++;
    if (*rest >= '0' && *rest <= '9')       /* a place in the file itself */
        snprintf(text, room, "%s:%s", path, rest);
    else
        snprintf(text, room, "%s", rest);
    return (int)status;
}

/* Runs it; there must be no table of a run that failed before it began. */
static int program_fails(const struct program *program, const char *path,
                         char *log, size_t log_room)
{
    char out[512], summary[560];
    const char *argv[] = { program->path, "run", "-q", "-o", out, path, NULL };
    int status;

    snprintf(out, sizeof out, "%s/%s", program->folder,
             path + strlen("tests/bad/"));
    snprintf(summary, sizeof summary, "%s/summary.csv", out);
    snprintf(log, log_room, "%s/log", program->folder);
    status = program_spawn(argv, log);
    if (status != 5)
        assert_int_not_equal(access(summary, F_OK), 0);
    return status;
}

static bool says_as_wanted(const struct program *program, const char *path)
{
    char text[800], hint[400], hint_line[420], log[128];
    int want = wanted(path, text, sizeof text, hint, sizeof hint);
    int got = program_fails(program, path, log, sizeof log);
    char *said = program_read(log);
    bool good = said != NULL && got == want && strstr(said, text) != NULL;

    snprintf(hint_line, sizeof hint_line, "hint: %s", hint);
    if (good && hint[0] != '\0')
        good = strstr(said, hint_line) != NULL;
    else if (good)
        good = strstr(said, "hint: ") == NULL;
    if (!good)
        print_message("%s wants %d\n%s%s\nbut ends with %d\n%s\n", path, want,
                      text, hint[0] ? hint_line : "", got, said ? said : "");
    free(said);
    return good;
}

static void every_bad_experiment_gets_its_message(void **state)
{
    DIR *folder = opendir("tests/bad");
    struct dirent *entry;
    size_t count = 0, good = 0;
    char path[300];

    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        if (strncmp(entry->d_name, "experiment_", 11) != 0)
            continue;
        snprintf(path, sizeof path, "tests/bad/%s", entry->d_name);
        good += says_as_wanted(*state, path);
        count++;
    }
    closedir(folder);
    assert_int_equal(good, count);
    assert_in_range(count, 100, 1000);
}

/* `validate` reads all that `run` reads, and says the same. */
static void validate_says_what_run_says(void **state)
{
    static const char *const name[] = {
        "unknown_gpu", "gang_too_large", "memory_does_not_fit",
        "sweep_bad_value", "expect_point_unknown", "trace_gang"
    };
    const struct program *program = *state;
    char path[128], text[800], hint[400], *said;

    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        const char *words[] = { "validate", path, NULL };

        snprintf(path, sizeof path, "tests/bad/experiment_%s.yaml", name[i]);
        int want = wanted(path, text, sizeof text, hint, sizeof hint);
        assert_int_equal(program_say(program, words, &said), want);
        if (strstr(said, text) == NULL)
            fail_msg("%s: no '%s' in: %s", path, text, said);
        free(said);
    }
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_bad_experiment_gets_its_message,
                                        program_setup, program_teardown),
        cmocka_unit_test_setup_teardown(validate_says_what_run_says, program_setup,
                                        program_teardown),
    };

    assert(argc > 0);
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

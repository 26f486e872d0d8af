/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * refusals_test.c - the files of bad_input_test.c in this process, without a program for
 * each: what is refused where it is read has its message, and nothing is read of it.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/schema/key_tables.h"
#include "experiments/spec/experiment.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"

/* What the first lines of a file want. */
struct wanted {
    int status;
    char text[900], hint[420];
};

/* The rest of a line behind its mark; a line that ends in " ..." is cut there. */
static bool read_line(FILE *file, const char *mark, char *out, size_t room)
{
    char line[600];

    if (fgets(line, sizeof line, file) == NULL || strncmp(line, mark, strlen(mark)) != 0)
        return false;
    snprintf(out, room, "%s", line + strlen(mark));
    char *more = strstr(out, " ...\n");
    *(more != NULL ? more : strchr(out, '\n')) = '\0';
    return true;
}

static struct wanted wanted_of(const char *path)
{
    struct wanted wanted = { 0 };
    FILE *file = fopen(path, "rb");
    char line[600], *rest;

    assert_non_null(file);
    assert_true(read_line(file, "# exit ", line, sizeof line));
    if (!read_line(file, "# hint: ", wanted.hint, sizeof wanted.hint))
        wanted.hint[0] = '\0';
    fclose(file);
    wanted.status = (int)strtol(line, &rest, 10);
    rest++;
    bool here = *rest >= '0' && *rest <= '9';   /* a place in the file itself */
    snprintf(wanted.text, sizeof wanted.text, "%s%s%s", here ? path : "", here ? ":" : "", rest);
    return wanted;
}

/* Keys of the root that other commands read, and what only happens when it runs. */
static bool is_read(const char *name, int status)
{
    static const char *const part[] = { "border_", "sensitivity_", "train_", "tune_" };

    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++)
        if (strncmp(name, part[i], strlen(part[i])) == 0)
            return true;
    return status == 5;
}

/* True: it is refused here, and by the message that it wants. */
static bool is_refused(const char *path, const char *name)
{
    struct wanted wanted = wanted_of(path);
    struct arena *arena = arena_new(1 << 16);
    struct experiment_options options = { .program_hash = 1 };
    struct err err = { 0 };
    bool read = experiment_read(arena, path, &options, &err) != NULL;
    char said[4000] = "", hint[430];

    if (read != (err.kind == ERR_NONE))
        fail_msg("%s is %s, and its error says otherwise", path, read ? "read" : "refused");
    if (read && !is_read(name, wanted.status))
        fail_msg("%s is read", path);
    if (!read) {
        err_format(key_tables_hint(arena, &err), said, sizeof said);
        snprintf(hint, sizeof hint, "hint: %s", wanted.hint);
        bool hinted = wanted.hint[0] != '\0' ? strstr(said, hint) != NULL
                                             : strstr(said, "hint: ") == NULL;
        if (strstr(said, wanted.text) == NULL || !hinted)
            fail_msg("%s wants\n%s\n%s, and gets\n%s", path, wanted.text, hint, said);
    }
    arena_free(arena);
    return !read;
}

static void what_is_refused_where_it_is_read_has_its_message(void **state)
{
    DIR *folder = opendir("tests/bad");
    struct dirent *entry;
    size_t count = 0;

    (void)state;
    assert_non_null(folder);
    while ((entry = readdir(folder)) != NULL) {
        char path[300];
        const char *name = entry->d_name + strlen("experiment_");

        if (strncmp(entry->d_name, "experiment_", strlen("experiment_")) != 0)
            continue;
        snprintf(path, sizeof path, "tests/bad/%s", entry->d_name);
        count += is_refused(path, name);
    }
    closedir(folder);
    assert_in_range(count, 280, 2000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_refused_where_it_is_read_has_its_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

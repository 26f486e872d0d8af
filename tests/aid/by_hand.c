/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/aid/by_hand.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void hand_run(struct program *program, const char *yaml, const char *jobs)
{
    char *said;

    program_write(program, "e.yaml", yaml);
    if (jobs != NULL)
        program_write(program, "jobs.csv", jobs);
    const char *words[] = { "run", program_path(program, "e.yaml"), "-q", "-o",
                            program_path(program, "out"), NULL };
    int status = program_say(program, words, &said);
    if (status != 0)
        print_error("%s\n", said);
    free(said);
    assert_int_equal(status, 0);
}

double hand_cell(struct program *program, const char *table, const char *policy,
                 const char *job, const char *column)
{
    char *text = program_result(program, "out", table), field[64];
    double value = NAN;
    bool found = false;

    assert_non_null(text);
    size_t wanted = csv_column(text, column);
    for (const char *line = strchr(text, '\n'); line && line[1] && !found;
         line = strchr(line + 1, '\n')) {
        csv_field(line + 1, 1, field, sizeof field);
        if (strcmp(field, policy) != 0)
            continue;
        csv_field(line + 1, 3, field, sizeof field);
        if (job != NULL && strcmp(field, job) != 0)
            continue;
        found = true;
        csv_field(line + 1, wanted, field, sizeof field);
        value = field[0] ? strtod(field, NULL) : NAN;
    }
    free(text);
    if (!found)
        fail_msg("%s has no row of %s, %s", table, policy, job ? job : "any job");
    return value;
}

double hand_phase(struct program *program, const char *policy, const char *name, int n,
                  const char *column)
{
    char *text = program_result(program, "out", "phases.csv"), of[64], what[64];
    double at = NAN;

    assert_non_null(text);
    size_t wanted = csv_column(text, column);
    for (const char *line = strchr(text, '\n'); line && line[1] && isnan(at);
         line = strchr(line + 1, '\n')) {
        csv_field(line + 1, 1, of, sizeof of);
        csv_field(line + 1, 4, what, sizeof what);
        if (strcmp(of, policy) != 0 || strcmp(what, name) != 0 || n-- > 0)
            continue;
        csv_field(line + 1, wanted, of, sizeof of);
        at = strtod(of, NULL);
    }
    free(text);
    assert_false(isnan(at));
    return at;
}

void hand_near(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-6 * fabs(expected)))
        fail_msg("%.9g for %.9g", value, expected);
}

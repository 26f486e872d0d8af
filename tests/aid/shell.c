/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shell.c - lines of shell, run and judged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/shell.h"

struct shell *shell_new(const char *experiment)
{
    struct shell *shell = calloc(1, sizeof *shell);

    assert_non_null(shell);
    program_open(&shell->program, program_argv0);
    scratch_open(&shell->scratch);
    scratch_experiment(&shell->scratch, experiment);
    shell->before = "";
    return shell;
}

int shell_teardown(void **state)
{
    struct shell *shell = *state;

    program_close(&shell->program);
    scratch_close(&shell->scratch);
    free(shell);
    return 0;
}

void run_line(struct shell *shell, const char *line, int status, const char *says)
{
    char command[2400], path[600];
    const char *argv[] = { "sh", "-c", command, NULL };
    const char *program = shell->program.path, *slash = program[0] == '/' ? "" : "/";
    char *said, *here = getcwd(path, sizeof path);
    int got;

    assert_non_null(here);
    snprintf(command, sizeof command, "C=%s%s%s; cd %s && { %s\n%s\n} >said 2>&1",
             slash[0] == '/' ? here : "", slash, program, shell->scratch.dir, shell->before,
             line);
    got = program_spawn(argv, NULL);
    said = scratch_read(&shell->scratch, "said");
    assert_non_null(said);
    if (got != status || (says != NULL && strstr(said, says) == NULL))
        fail_msg("%s: status %d, not %d with '%s': %s", line, got, status,
                 says == NULL ? "" : says, said);
    free(said);
}

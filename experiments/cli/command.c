/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * command.c - how commands say what is wrong.
 *
 * Errors go to stderr as "file:line:col: kind: message" with a hint; several
 * errors of one file are printed in their order, and then counted.
 */
#include "experiments/cli/command.h"

#include <string.h>

#include "experiments/schema/key_tables.h"

/* Longer than an error with its quoted line and hint. */
#define TEXT_BYTES 8192

/* The statuses are those of err_exit_status(), and 1 and 5. */
const char command_exit_text[] =
    "  0    done\n"
    "  1    an expectation or a regression check failed\n"
    "  2    usage\n"
    "  3    the input is wrong\n"
    "  4    a file could not be read or written\n"
    "  5    some trials failed; the results of the others are written\n"
    "  70   a bug in the program, or no memory\n"
    "  130  interrupted; --resume goes on\n";

/* Prints an error, with `before` in front of it.  stdout is flushed first, so
 * that both streams appear in their order on a terminal. */
static void print_err(struct cli *cli, const char *before,
                      const struct err *err)
{
    char text[TEXT_BYTES];
    size_t bytes = err_format(err, text, sizeof text);

    if (bytes >= sizeof text)
        bytes = sizeof text - 1;
    fflush(cli->out);
    fprintf(cli->err, "%s%s%s", before, text,
            bytes > 0 && text[bytes - 1] == '\n' ? "" : "\n");
}

/* Errors of one file hang together by `next`; the first decides the status. */
int command_fail(struct cli *cli, const struct err *err)
{
    unsigned count = 0, more = 0;

    for (const struct err *e = err; e != NULL; e = e->next) {
        print_err(cli, "", key_tables_hint(cli->arena, e));
        more = e->more;
        count++;
    }
    if (more > 0)
        fprintf(cli->err, "%u errors; the first %u are printed\n",
                count + more, count);
    else if (count > 1)
        fprintf(cli->err, "%u errors\n", count);
    return err_exit_status(err->kind);
}

void command_warn(void *cli, const struct err *err)
{
    print_err(cli, "warning: ", err);
}

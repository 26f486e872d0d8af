/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * main.c - the process: signals, the standard streams, the exit status.
 */
#include <errno.h>
#include <gsl/gsl_errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "experiments/cli/cli.h"

/* An assertion has said where; this says whose fault it is. */
static void on_abort(int number)
{
    static const char text[] =
        "clustersim: a bug in the program, or no memory; results that were "
        "not finished are not there\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);

    (void)written;
    (void)number;
    _exit(70);
}

/* An answer that did not arrive is no answer; a reader that has seen enough
 * (`clustersim list gpus | head`) is no fault. */
static int flush_answers(int status)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return status;
    if (errno == EPIPE)
        return status;
    fprintf(stderr, "standard output cannot be written: %s\n",
            strerror(errno));
    return status == 0 ? 4 : status;
}

int main(int argc, char **argv)
{
    struct sigaction ignore, abort_action;

    memset(&ignore, 0, sizeof ignore);
    ignore.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &ignore, NULL);
    sigaction(SIGXFSZ, &ignore, NULL);      /* a write then fails: EFBIG */
    memset(&abort_action, 0, sizeof abort_action);
    abort_action.sa_handler = on_abort;
    sigaction(SIGABRT, &abort_action, NULL);
    gsl_set_error_handler_off();
    return flush_answers(cli_main(argc, argv, stdout, stderr));
}

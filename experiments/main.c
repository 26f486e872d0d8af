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

/* While trials run these signals are heard by a thread that ends them
 * (runner/runner.c); between runs there is nothing to end. */
static void on_stop(int number)
{
    static const char text[] = "interrupted\n";
    ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);

    (void)written;
    (void)number;
    _exit(130);
}

static void hear(int number, void (*handler)(int))
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigaction(number, &action, NULL);
}

/* What was ignored when the program began stays so: nohup. */
static void hear_unless_ignored(int number)
{
    struct sigaction before;

    if (sigaction(number, NULL, &before) == 0 && before.sa_handler != SIG_IGN)
        hear(number, on_stop);
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
    hear(SIGPIPE, SIG_IGN);
    hear(SIGXFSZ, SIG_IGN);         /* a write then fails: EFBIG */
    hear(SIGCHLD, SIG_DFL);         /* ignored, the ends of our processes would be lost */
    hear(SIGABRT, on_abort);
    hear_unless_ignored(SIGINT);
    hear_unless_ignored(SIGTERM);
    hear_unless_ignored(SIGHUP);
    gsl_set_error_handler_off();
    return flush_answers(cli_main(argc, argv, stdout, stderr));
}

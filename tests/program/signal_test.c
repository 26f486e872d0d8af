/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * signal_test.c - charts that are cut off by a signal end with status 130, and gnuplot with
 * them; what gnuplot is told of the environment.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <cmocka.h>

#include "tests/aid/signals.h"

/* gnuplot that hangs, and has a child that does. */
static const char hangs[] = "#!/bin/sh\nsleep 1000 &\necho $$ $! >> \"$0.pids\"\nwait\n";

static bool lives(pid_t pid)
{
    unsigned long long mask;
    char path[64], state[64] = "";
    FILE *file;

    if (!status_of(pid, "SigCgt:", &mask))
        return false;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    file = fopen(path, "r");
    if (file != NULL) {
        (void)!fscanf(file, "%*d %*s %60s", state);
        fclose(file);
    }
    return state[0] != 'Z' && state[0] != '\0';
}

static void no_gnuplot_is_left(void)
{
    char path[300];
    int one, two, count = 0;
    FILE *file;

    snprintf(path, sizeof path, "%s/bin/gnuplot.pids", signalled.folder);
    file = fopen(path, "r");
    assert_non_null(file);
    while (fscanf(file, "%d %d", &one, &two) == 2) {
        for (int i = 0; i < 2000 && (lives(one) || lives(two)); i++)
            pause_ms(5);
        assert_false(lives(one));
        assert_false(lives(two));
        count++;
    }
    fclose(file);
    assert_true(count > 0);
}

/* Files NAME.tmp in the folder of the charts: pictures that are being drawn.  What a chart is
 * drawn from has a name such as NAME.dat.tmp until it is whole. */
static int count_parts(const char *out)
{
    char path[320];
    int count = 0;

    snprintf(path, sizeof path, "%s/plots", out);
    DIR *dir = opendir(path);
    assert_non_null(dir);
    for (struct dirent *at = readdir(dir); at != NULL; at = readdir(dir)) {
        const char *dot = strchr(at->d_name, '.');
        count += dot != NULL && dot > at->d_name && strcmp(dot, ".tmp") == 0;
    }
    closedir(dir);
    return count;
}

/* All pictures are drawn by one gnuplot, into files beside: none of these is left. */
static void charts_are_ended_with_gnuplot_and_its_children(void **state)
{
    char out[300], bin[300];
    const char *const run[] = { signalled.path, "run", "tests/faults/counted.yaml", "-o", out,
                                "-q", NULL };
    const char *const plot[] = { signalled.path, "plot", out, NULL };

    (void)state;
    snprintf(out, sizeof out, "%s/charts", signalled.folder);
    snprintf(bin, sizeof bin, "%s/bin", signalled.folder);
    assert_int_equal(program_spawn(run, NULL), 0);
    assert_int_equal(mkdir(bin, 0700), 0);
    write_text("bin/gnuplot", hangs, 0700);
    for (int i = 0; i < 12; i++) {
        assert_int_equal(cut_off(plot, bin, 300), 130);
        assert_int_equal(count_parts(out), 0);
    }
    no_gnuplot_is_left();
}

/* A gnuplot that says what it was given: no signal is held back, or it would not end by one. */
static void the_environment_does_not_decide_about_charts(void **state)
{
    static const char tells[] =
        "#!/usr/bin/env python3\nimport os, sys\nout = open(sys.argv[0] + '.env', 'w')\n"
        "out.writelines('%s=%s\\n' % pair for pair in os.environ.items())\n"
        "out.write(open('/proc/self/status').read())\nsys.exit(1)\n";
    char out[300], bin[300], path[300], *text;
    const char *const plot[] = { signalled.path, "plot", out, NULL };

    (void)state;
    snprintf(out, sizeof out, "%s/charts", signalled.folder);
    snprintf(bin, sizeof bin, "%s/bin", signalled.folder);
    write_text("bin/gnuplot", tells, 0700);
    setenv("GNUTERM", "x11", 1);
    setenv("GNUPLOT_LIB", "/nowhere", 1);
    setenv("LC_NUMERIC", "de_DE.UTF-8", 1);
    setenv("KEPT", "yes", 1);
    (void)end_of(begin(plot, bin), &(double){ 0 });
    snprintf(path, sizeof path, "%s/bin/gnuplot.env", signalled.folder);
    text = program_read(path);
    assert_non_null(text);
    assert_non_null(strstr(text, "SigBlk:\t0000000000000000\n"));
    assert_null(strstr(text, "GNUTERM"));
    assert_null(strstr(text, "GNUPLOT_LIB"));
    assert_null(strstr(text, "LC_NUMERIC"));
    assert_non_null(strstr(text, "LC_ALL=C.UTF-8"));
    assert_non_null(strstr(text, "KEPT=yes"));
    free(text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(charts_are_ended_with_gnuplot_and_its_children),
        cmocka_unit_test(the_environment_does_not_decide_about_charts),
    };

    (void)argc;
    program_open(&signalled, argv[0]);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&signalled);
    return failed;
}

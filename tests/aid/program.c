/* SPDX-License-Identifier: GPL-3.0-or-later */
/* program.c - where the test was started from. */
#include "tests/aid/program.h"

const char *program_argv0;

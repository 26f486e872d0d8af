/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page_text.h - the page of a results folder, and a text that a test puts together to hold it to.
 */
#ifndef TESTS_PAGE_TEXT_H
#define TESTS_PAGE_TEXT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "experiments/report/report.h"
#include "sim/base/err.h"
#include "tests/aid/results_aid.h"

/* A growing text, of 64 KiB at most.  The test frees `at`. */
struct text {
    char *at;
    size_t used, room;
};

static inline struct text text_new(void)
{
    struct text text = { calloc(1, 1 << 16), 0, 1 << 16 };

    assert_non_null(text.at);
    return text;
}

__attribute__((format(printf, 2, 3)))
static inline void add(struct text *text, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text->used += (size_t)vsnprintf(text->at + text->used, text->room - text->used, format, args);
    va_end(args);
    assert_true(text->used < text->room);
}

/* Writes the page of a folder and returns it; the caller frees it. */
static inline char *page_of(const char *dir)
{
    struct err err = { 0 };

    if (!report_write(dir, NULL, &err))
        fail_msg("%s", err.text);
    return results_text(dir, "report.html");
}

#endif

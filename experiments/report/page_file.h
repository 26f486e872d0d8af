/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page_file.h - the files under page/, held in the program: the template of the
 * report, its script, and the chart library with its style.
 *
 * The build turns each of them into an item of this table (models/embed.sh).
 */
#ifndef EXPERIMENTS_REPORT_PAGE_FILE_H
#define EXPERIMENTS_REPORT_PAGE_FILE_H

#include <stddef.h>

struct page_file {
    const char *name;   /* the last path element: "page.html" */
    const char *text;   /* ends with NUL; see html_fill */
    size_t bytes;       /* of text, without the NUL */
};

extern const struct page_file page_file[];
extern const unsigned page_file_count;

#endif

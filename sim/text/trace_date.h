/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * trace_date.h - dates and times as logs write them.
 *
 * Each reads a whole field and sets *ns to nanoseconds since 1970-01-01, UTC.
 * False, with *ns unspecified: it is no such date, or of a year before 1970 or
 * after 2200.
 */
#ifndef SIM_TEXT_TRACE_DATE_H
#define SIM_TEXT_TRACE_DATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "2017-10-09 07:01:55", or with a T between; then perhaps a fraction of a
 * second of up to nine digits, and "Z", "UTC", or an offset such as "+08:00",
 * "+0800" or "+08".  Without the seconds, or without the time, which is then
 * midnight, it is read too (ISO 8601).  Since 1970; UTC where no offset
 * stands. */
bool date_read(const char *text, size_t bytes, int64_t *ns);
/* "2/24/2020", the month first: its midnight. */
bool date_read_us(const char *text, size_t bytes, int64_t *ns);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * quotas.h - for policies with a text that gives tenants GPUs: "a=16 b=25% 'my team'=4".
 *
 * A parameter with the word CS_GPUS_OF_TENANTS (params.h) is read by this before any trial,
 * and a text that cannot be read is refused at its key.  Since ABI 2.13.
 */
#ifndef POLICIES_QUOTAS_H
#define POLICIES_QUOTAS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CS_QUOTAS_MAX 64u       /* tenants that a text may name */
#define CS_QUOTA_NAME 48u       /* bytes of a name, with its end */

struct cs_quota {
    char name[CS_QUOTA_NAME];
    double amount;              /* GPUs; percent of all GPUs if it is a share */
    bool share;
};

/* What is wrong with a text. */
enum cs_quota_fault {
    CS_QUOTAS_GOOD,
    CS_QUOTAS_UNREAD,           /* an entry is no name with GPUs or a share */
    CS_QUOTAS_TWICE,            /* a tenant is named twice */
    CS_QUOTAS_ABOVE,            /* a share is above 100% */
    CS_QUOTAS_MANY              /* more than CS_QUOTAS_MAX entries */
};

/* Reads a name, which is in quotes if it has blanks or =, into *out.  Returns the text behind
 * it; NULL: there is no name, or it is too long. */
static inline const char *cs_quota_name(const char *at, struct cs_quota *out)
{
    bool quoted = *at == '\'';
    size_t bytes = 0;

    at += quoted;
    while (at[bytes] && (quoted ? at[bytes] != '\'' : at[bytes] != '=' && at[bytes] != ' '))
        bytes++;
    if (bytes == 0 || bytes >= CS_QUOTA_NAME || (quoted && at[bytes] == '\0'))
        return NULL;
    memcpy(out->name, at, bytes);
    out->name[bytes] = '\0';
    return at + bytes + quoted;
}

/* Reads "name=12" or "name=12.5%" into *out.  Returns the text behind it; NULL: it is neither. */
static inline const char *cs_quota_entry(const char *at, struct cs_quota *out)
{
    double digit = 1;

    at = cs_quota_name(at, out);
    if (at == NULL || *at++ != '=')
        return NULL;
    if (*at < '0' || *at > '9')
        return NULL;
    out->amount = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        out->amount = 10 * out->amount + (*at - '0');
    if (*at == '.')
        for (at++; *at >= '0' && *at <= '9'; at++)
            out->amount += (*at - '0') * (digit /= 10);
    out->share = *at == '%';
    at += out->share;
    return *at == ' ' || *at == '\0' ? at : NULL;
}

/* Reads the text *at into quota, an array of CS_QUOTAS_MAX, and stores in *count how many
 * entries were good.  *at becomes the entry with the fault, or the end of the text. */
static inline enum cs_quota_fault cs_quotas_read(const char **at, struct cs_quota *quota,
                                                 uint32_t *count)
{
    const char *next = *at;

    for (*count = 0;; ++*count) {
        while (*next == ' ')
            next++;
        *at = next;
        if (*next == '\0')
            return CS_QUOTAS_GOOD;
        if (*count == CS_QUOTAS_MAX)
            return CS_QUOTAS_MANY;
        next = cs_quota_entry(next, &quota[*count]);
        if (next == NULL)
            return CS_QUOTAS_UNREAD;
        for (uint32_t i = 0; i < *count; i++)
            if (strcmp(quota[i].name, quota[*count].name) == 0)
                return CS_QUOTAS_TWICE;
        if (quota[*count].share && quota[*count].amount > 100)
            return CS_QUOTAS_ABOVE;
    }
}

#endif

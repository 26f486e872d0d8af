/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page.h - a text that grows, for what is said of key tables (doc.c, json_schema.c).
 */
#ifndef SIM_CONFIG_PAGE_H
#define SIM_CONFIG_PAGE_H

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"

/* A growing text that always ends with NUL. */
struct page {
    struct arena *arena;        /* of the caller */
    char *text;
    size_t used_bytes, room_bytes;
};

static inline void page_put_bytes(struct page *page, const char *text, size_t bytes)
{
    assert(text != NULL);
    ARENA_REACH(page->arena, page->text, page->room_bytes,
                page->used_bytes + bytes);
    memcpy(page->text + page->used_bytes, text, bytes);
    page->used_bytes += bytes;
    page->text[page->used_bytes] = '\0';
}

static inline void page_put(struct page *page, const char *text)
{
    page_put_bytes(page, text, strlen(text));
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * page.c - copies first, and then looks at the copy: the page may still be written to.
 */
#include "experiments/runner/page.h"

#include <stdio.h>
#include <string.h>

#include "experiments/runner/pool.h"
#include "sim/base/arena.h"
#include "sim/base/utf8.h"
#include "sim/expr/expr.h"
#include "sim/text/paths.h"

#define PAGE_WHOLE 0x57484f4cu

/* Copies an error into the page, which another process reads: texts stand within it,
 * since pointers mean nothing there. */
static void put_err(struct page_err *to, const struct err *from)
{
    to->kind = (uint32_t)from->kind;
    to->line = from->pos.line;
    to->col = from->pos.col;
    snprintf(to->file, sizeof to->file, "%s", from->pos.file != NULL ? from->pos.file : "");
    memcpy(to->text, from->text, sizeof to->text);
    memcpy(to->hint, from->hint, sizeof to->hint);
}

/* `returned` is written last: a process that dies before leaves no page that
 * page_whole() takes for one. */
void page_put(struct guest_page *page, enum runner_state state, const struct outcome *trial,
              const struct err *keep_err)
{
    page->state = (uint32_t)state;
    page->kept = keep_err == NULL;
    if (keep_err != NULL)
        put_err(&page->keep_err, keep_err);
    put_err(&page->err, &trial->err);
    page->result = trial->result;
    page->returned = PAGE_WHOLE;
}

/* The policy of a user ran in that process and may have written anywhere, so that
 * nothing of the page is believed before its bounds are looked at. */
bool page_whole(const struct guest_page *page)
{
    return page->returned == PAGE_WHOLE &&
           (page->state == RUNNER_WAITING || page->state == RUNNER_DONE ||
            page->state == RUNNER_FAILED);
}

/* Ends a text within its bytes. */
static void end_text(char *text, size_t bytes)
{
    text[bytes - 1] = '\0';
    utf8_mend(text);
}

/* Reads a bool of which any bit may be set. */
static bool is_set(const bool *at)
{
    unsigned char byte;

    memcpy(&byte, at, 1);
    return byte != 0;
}

/* Numbers are taken as they are; what is used as an index or as a bool is checked. */
struct trial_result page_result(const struct guest_page *page)
{
    struct trial_result result = page->result;

    for (size_t m = 0; m < METRIC_OWN_MAX; m++)
        if (result.own_gap[m] >= EXPR_GAP_COUNT)
            result.own_gap[m] = EXPR_WHOLE;
    result.interrupted = is_set(&page->result.interrupted);
    result.clairvoyant = is_set(&page->result.clairvoyant);
    return result;
}

struct trial_watch page_watch(const struct guest_page *page)
{
    struct trial_watch watch = page->watch;

    for (size_t i = 0; i < TRIAL_LAST; i++)
        end_text(watch.last[i], sizeof watch.last[i]);
    return watch;
}

/* Returns the error with texts in the arena.  A kind that there is not is a fault of
 * the policy: ERR_BUG. */
struct err page_err(struct arena *arena, const struct page_err *from)
{
    struct page_err copy = *from;
    struct err err = { .kind = copy.kind <= ERR_BUG ? (enum err_kind)copy.kind : ERR_BUG };

    end_text(copy.file, sizeof copy.file);
    end_text(copy.text, sizeof copy.text);
    end_text(copy.hint, sizeof copy.hint);
    memcpy(err.text, copy.text, sizeof err.text);
    memcpy(err.hint, copy.hint, sizeof err.hint);
    if (copy.file[0] != '\0')
        err.pos = (struct err_pos){ text_format(arena, "%s", copy.file), copy.line, copy.col };
    return err;
}

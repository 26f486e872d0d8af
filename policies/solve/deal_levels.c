/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deal_levels.c - GPUs for whole levels of steps at once.
 *
 * Let U be the least set of classes that stand above all others.  Its jobs take their
 * steps before any other job does.  If all these steps fit, they are taken in any order.
 * If not, and no class of U stands above another one of it, the jobs that would end
 * first take theirs.  Both hold as long as a job that took its step stands below U.
 *
 * Jobs of a level have GPUs, all of them or none.  At first none has.  A job without
 * GPUs stands below no other, so that all are of the first level, and those that do not
 * get their step there have no more.
 */
#include <string.h>

#include "policies/solve/deal.h"
#include "policies/solve/step_class.h"

#define FEW 12u                 /* keys that are sorted one by one */

/* Puts a job into the list of its class, if it has a step. */
static void list_job(struct cs_deal *deal, uint32_t i)
{
    uint32_t k = deal->job[i].next.class;

    if (deal->job[i].next.gpus == 0)
        return;
    deal->next[i] = deal->classes.class[k].first;
    deal->classes.class[k].first = i;
    set_put(&deal->classes.live, k);
}

/* Begins with those that none stands above, and adds what does not stand below all of them. */
bool deal_find_top(const struct cs_deal *deal, struct class_set *top)
{
    bool more = false;

    memset(top, 0, sizeof *top);
    for (EACH_CLASS(k, &deal->classes.live))
        if (!set_meet(&deal->classes.class[k].above, &deal->classes.live)) {
            set_put(top, k);
            more = true;
        }
    bool found = more;
    while (more) {
        more = false;
        for (EACH_CLASS(k, &deal->classes.live))
            if (!set_has(top, k) && !set_is_within(top, &deal->classes.class[k].above)) {
                set_put(top, k);
                more = true;
            }
    }
    return found;
}

/* By key, of equals by number. */
static bool key_before(const struct deal_key *a, const struct deal_key *b)
{
    return a->key != b->key ? a->key < b->key : a->job < b->job;
}

static void swap_keys(struct deal_key *a, struct deal_key *b)
{
    struct deal_key was = *a;

    *a = *b;
    *b = was;
}

static void sort_few(struct deal_key *key, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && key_before(&key[k], &key[k - 1]); k--)
            swap_keys(&key[k], &key[k - 1]);
}

/* As part of the keys go before the one in the middle; where that one stands then. */
static uint32_t part_keys(struct deal_key *key, uint32_t count)
{
    uint32_t at = 0;

    swap_keys(&key[count / 2], &key[count - 1]);
    for (uint32_t i = 0; i + 1 < count; i++)
        if (key_before(&key[i], &key[count - 1]))
            swap_keys(&key[at++], &key[i]);
    swap_keys(&key[at], &key[count - 1]);
    return at;
}

/* Chooses, in the order of the keys, each whose step fits what is left of the room, and
 * returns what is left then. */
static uint64_t choose_first(struct deal_key *key, uint32_t count, uint64_t room)
{
    uint64_t sum = 0;
    uint32_t least = UINT32_MAX;

    if (room == 0)
        return 0;
    for (uint32_t i = 0; i < count; i++) {
        sum += key[i].step;
        least = key[i].step < least ? key[i].step : least;
    }
    if (least > room)
        return room;
    if (sum > room && count > FEW) {
        uint32_t at = part_keys(key, count);
        room = choose_first(key, at, room);
        room = choose_first(key + at, 1, room);
        return choose_first(key + at + 1, count - at - 1, room);
    }
    if (sum > room)
        sort_few(key, count);
    for (uint32_t i = 0; i < count; i++) {
        key[i].chosen = key[i].step <= room;
        room -= key[i].chosen ? key[i].step : 0;
    }
    return room;
}

/* Lists the jobs of the top classes; false: they have no common order. */
static bool list_keys(struct cs_deal *deal, const struct class_set *top,
                      uint32_t *count, uint64_t *sum)
{
    bool ordered = true;

    *count = 0;
    *sum = 0;
    for (EACH_CLASS(k, top)) {
        ordered &= !set_meet(&deal->classes.class[k].above, top);
        for (uint32_t i = deal->classes.class[k].first; i != NONE; i = deal->next[i]) {
            const struct deal_job *job = &deal->job[i];
            *sum += step_of(job);
            deal->key[(*count)++] = (struct deal_key) {
                job->now.gpus > 0 ? job->end_s : job->left_s, i, step_of(job), false };
        }
    }
    return ordered;
}

/* Takes the steps that were chosen, if all their jobs then stand below the top
 * classes; false: one does not, and none is taken. */
static bool take_chosen(struct cs_deal *deal, const struct class_set *top, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++) {
        const struct deal_job *job = &deal->job[deal->key[c].job];
        if (!deal->key[c].chosen)
            continue;
        struct step_size then = deal_look_ahead(deal, job);
        if (then.gpus > 0 && (then.class == NONE || set_has(top, then.class) ||
                              !set_is_within(top, &deal->classes.class[then.class].above)))
            return false;
    }
    for (EACH_CLASS(k, top)) {
        deal->classes.class[k].first = NONE;
        set_drop(&deal->classes.live, k);
    }
    for (uint32_t c = 0; c < count; c++) {
        struct deal_job *job = &deal->job[deal->key[c].job];
        if (!deal->key[c].chosen)
            continue;
        deal_take_step(job, deal_look_ahead(deal, job));
        list_job(deal, deal->key[c].job);
    }
    return true;
}

uint64_t deal_levels(struct cs_deal *deal, uint64_t room)
{
    struct class_set top;
    uint32_t count;
    uint64_t sum;

    for (uint32_t i = 0; i < deal->count; i++)
        list_job(deal, i);
    while (room > 0 && deal_find_top(deal, &top)) {
        bool ordered = list_keys(deal, &top, &count, &sum);
        if (sum > room && !ordered)
            return room;
        uint64_t left = choose_first(deal->key, count, room);
        if (!take_chosen(deal, &top, count))
            return room;
        room = left;
    }
    return room;
}

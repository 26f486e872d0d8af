/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * step_class.c - the classes of steps and the order between each two of them.
 *
 * A step takes a job from one size to the next; steps with the same speed before and after it are
 * of one class, whatever the jobs have left.  Workloads have few kinds of jobs, so that few
 * classes stand for thousands of steps, and two classes are compared once.
 */
#include <string.h>

#include "policies/solve/step_class.h"

/* By the bits of both speeds: classes are of equal numbers, not of near ones. */
static uint32_t hash_speeds(double speedup, double next)
{
    uint64_t a, b;

    memcpy(&a, &speedup, sizeof a);
    memcpy(&b, &next, sizeof b);
    a = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
    return (uint32_t)(a >> 40) & (CLASS_SLOTS - 1);
}

/* By open addressing; slots hold numbers from 1 on, as 0 is an empty one.  A new class is compared
 * with all others. */
uint32_t find_class(struct step_classes *classes, double speedup, double next)
{
    uint32_t i = hash_speeds(speedup, next);

    for (; classes->slot[i] > 0; i = (i + 1) & (CLASS_SLOTS - 1)) {
        const struct step_class *class = &classes->class[classes->slot[i] - 1];
        if (class->speedup == speedup && class->next == next)
            return classes->slot[i] - 1;
    }
    if (classes->count == CLASSES) {
        classes->full = true;
        return NONE;
    }
    uint32_t k = classes->count++;
    struct step_class *made = &classes->class[k];
    classes->slot[i] = (uint16_t)(k + 1);
    *made = (struct step_class) { .speedup = speedup, .next = next, .first = NONE,
                                 .root = NONE };
    for (uint32_t l = 0; l < k; l++) {
        struct step_class *other = &classes->class[l];
        if (is_above(speedup, next, other->speedup, other->next)) {
            set_put(&made->below, l);
            set_put(&other->above, k);
        }
        if (is_above(other->speedup, other->next, speedup, next)) {
            set_put(&made->above, l);
            set_put(&other->below, k);
        }
    }
    return k;
}

/* The classes stay from deal to deal, and only lose their steps.  Where there was no room for one
 * more, all are forgotten; the epoch tells those who know classes by number. */
void clear_classes(struct step_classes *classes)
{
    memset(&classes->live, 0, sizeof classes->live);
    for (uint32_t k = 0; k < classes->count; k++)
        classes->class[k].first = classes->class[k].root = NONE;
    if (!classes->full)
        return;
    memset(classes->slot, 0, sizeof classes->slot);
    classes->count = 0;
    classes->full = false;
    classes->epoch++;
}

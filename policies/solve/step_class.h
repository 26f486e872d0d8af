/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * step_class.h - which steps of jobs stand above which, by the rule of AFS-L
 * (policies/solve/deal.c).
 *
 * Let p and p' be a job's speeds without and with its next step.  All jobs of the same
 * p and p' are a class.  Call (p' - p) / p' the low end of a class's interval, and
 * (p' - p) / p the high one.  By the rule of AFS-L a job whose interval lies above
 * another's wins against it: its class stands above the other.  Of two jobs whose
 * intervals overlap the one that would end first wins, and neither class stands above
 * the other.
 */
#ifndef POLICIES_SOLVE_STEP_CLASS_H
#define POLICIES_SOLVE_STEP_CLASS_H

#include <stdbool.h>
#include <stdint.h>

#define NONE UINT32_MAX
#define CLASSES 256u            /* kept at once: with more, all jobs are compared */
#define CLASS_WORDS (CLASSES / 64)
#define CLASS_SLOTS (2 * CLASSES)

struct class_set {
    uint64_t word[CLASS_WORDS];
};

/* Jobs of one pair of speeds. */
struct step_class {
    double speedup, next;
    struct class_set above, below;      /* those that stand above it, below it */
    uint32_t first;             /* its jobs: a list of a deal */
    uint32_t root;              /* or a heap of a deal; NONE: empty */
};

struct step_classes {
    struct step_class class[CLASSES];
    uint16_t slot[CLASS_SLOTS];         /* 1 + class, by hash of its speeds */
    uint32_t count;
    uint32_t epoch;             /* rises when all classes are forgotten */
    bool full;                  /* there was no room for a class */
    struct class_set live;      /* classes that have jobs */
};

/* Returns the class of two speeds, made if need be; NONE: there is no room for it, and
 * `full` is set. */
uint32_t find_class(struct step_classes *classes, double speedup, double next);
/* No class has jobs.  Forgets all classes if there was no room for one. */
void clear_classes(struct step_classes *classes);

/* Does a job with the first two speeds win against one with the others even if that
 * one would end first? */
static inline bool is_above(double speedup, double next, double speedup_b, double next_b)
{
    return (next - speedup) * speedup_b > (next_b - speedup_b) * next;
}

/* ---- sets of classes ---- */

static inline bool set_has(const struct class_set *set, uint32_t k)
{
    return set->word[k / 64] >> k % 64 & 1;
}

static inline void set_put(struct class_set *set, uint32_t k)
{
    set->word[k / 64] |= UINT64_C(1) << k % 64;
}

static inline void set_drop(struct class_set *set, uint32_t k)
{
    set->word[k / 64] &= ~(UINT64_C(1) << k % 64);
}

static inline bool set_meet(const struct class_set *a, const struct class_set *b)
{
    uint64_t both = 0;

    for (uint32_t w = 0; w < CLASS_WORDS; w++)
        both |= a->word[w] & b->word[w];
    return both != 0;
}

/* Is all of a in b? */
static inline bool set_is_within(const struct class_set *a, const struct class_set *b)
{
    uint64_t rest = 0;

    for (uint32_t w = 0; w < CLASS_WORDS; w++)
        rest |= a->word[w] & ~b->word[w];
    return rest == 0;
}

/* The first class of a set from k on; CLASSES: there is none. */
static inline uint32_t set_find_from(const struct class_set *set, uint32_t k)
{
    while (k < CLASSES) {
        uint64_t word = set->word[k / 64] >> k % 64;
        if (word != 0)
            return k + (uint32_t)__builtin_ctzll(word);
        k = (k / 64 + 1) * 64;
    }
    return CLASSES;
}

#define EACH_CLASS(k, set) \
    uint32_t k = set_find_from(set, 0); k < CLASSES; k = set_find_from(set, k + 1)

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * pairing_test.c - jobs of two sides in pairs, and their sums by blocks of time: drawn trials
 * beside a search of each name on the other side.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "experiments/pairs/jobs_read.h"
#include "experiments/pairs/pairing.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"

#define JOBS 60
#define TRIALS 4
#define BLOCKS 4000

/* The jobs of one side of a trial; names are fixed, so that they ascend as numbers do. */
struct side {
    struct trial_jobs jobs;
    struct job_row row[JOBS];
};

/* What is counted by hand; blocks by number. */
struct naive {
    size_t pairs, faster, slower, early, left, right, neither;
    double sum_left[BLOCKS], sum_right[BLOCKS], apart[BLOCKS], jobs[BLOCKS];
    uint64_t end;
};

static char names[JOBS][8];

/* Each side has most of the jobs; the submission is that of the job, whatever the side. */
static void draw_trial(struct rng *rng, double span_s, struct side *left, struct side *right)
{
    left->jobs = (struct trial_jobs){ .job = left->row };
    right->jobs = (struct trial_jobs){ .job = right->row };
    for (size_t i = 0; i < JOBS; i++) {
        double submit_s = floor(span_s * rng_uniform(rng));
        for (int s = 0; s < 2; s++) {
            struct side *side = s == 0 ? left : right;
            if (rng_below(rng, 8) == 0)
                continue;
            side->row[side->jobs.count++] = (struct job_row){ .name = names[i],
                .submit_s = submit_s,
                .jct_s = rng_below(rng, 8) == 0 ? NAN : (double)(10 * (1 + rng_below(rng, 4))) };
        }
    }
}

static const struct job_row *find(const struct side *side, const char *name)
{
    for (size_t i = 0; i < side->jobs.count; i++)
        if (strcmp(side->row[i].name, name) == 0)
            return &side->row[i];
    return NULL;
}

/* A trial of other jobs than the first one has blocks of its own, behind all others. */
static void count_trial(struct naive *n, const struct side *left, const struct side *right,
                        bool as_first, double warmup_s, double block_s)
{
    uint64_t base = as_first ? 0 : n->end;
    double from_s = INFINITY;

    for (size_t i = 0; i < left->jobs.count; i++)
        if (left->row[i].submit_s >= warmup_s && left->row[i].submit_s < from_s)
            from_s = left->row[i].submit_s;
    for (size_t i = 0; i < JOBS; i++) {
        const struct job_row *a = find(left, names[i]), *b = find(right, names[i]);
        bool left_ended = a != NULL && !isnan(a->jct_s);
        bool right_ended = b != NULL && !isnan(b->jct_s);
        if (a == NULL && b == NULL)
            continue;
        if ((a != NULL ? a : b)->submit_s < warmup_s) {
            n->early++;
        } else if (!left_ended || !right_ended) {
            n->left += left_ended;
            n->right += right_ended;
            n->neither += !left_ended && !right_ended;
        } else {
            uint64_t at = base + (uint64_t)((a->submit_s - from_s) / block_s);
            assert_true(at < BLOCKS);
            n->pairs++;
            n->faster += b->jct_s < a->jct_s;
            n->slower += b->jct_s > a->jct_s;
            n->sum_left[at] += a->jct_s;
            n->sum_right[at] += b->jct_s;
            n->apart[at] += b->jct_s - a->jct_s;
            n->jobs[at]++;
            n->end = at >= n->end ? at + 1 : n->end;
        }
    }
}

static void check_pairing(uint64_t seed, struct pairing *p, const struct naive *n)
{
    size_t listed = 0;

    if (p->pairs != n->pairs || p->faster != n->faster || p->slower != n->slower ||
        p->early != n->early || p->left_alone != n->left || p->right_alone != n->right ||
        p->neither != n->neither || p->seeds != TRIALS)
        fail_msg("seed %llu: %zu pairs of %zu, %zu faster of %zu", (unsigned long long)seed,
                 p->pairs, n->pairs, p->faster, n->faster);
    pairs_list_blocks(p);
    for (uint64_t b = 0; b < BLOCKS; b++) {
        if (n->jobs[b] == 0)
            continue;
        assert_true(listed < p->blocks.count);
        if (p->blocks.jobs[listed] != n->jobs[b] || p->blocks.left[listed] != n->sum_left[b] ||
            p->blocks.right[listed] != n->sum_right[b] || p->blocks.apart[listed] != n->apart[b])
            fail_msg("seed %llu: block %llu: %g jobs, expected %g", (unsigned long long)seed,
                     (unsigned long long)b, p->blocks.jobs[listed], n->jobs[b]);
        listed++;
    }
    assert_int_equal(listed, p->blocks.count);
}

/* The second trial has the jobs of the first; the others are drawn anew.  Few long blocks, and more
 * than the table of slots begins with. */
static void drawn_jobs_are_paired_by_name(void **state)
{
    static struct side left[TRIALS], right[TRIALS];
    static struct naive naive;

    (void)state;
    for (size_t i = 0; i < JOBS; i++)
        snprintf(names[i], sizeof names[i], "j%02zu", i);
    for (uint64_t seed = 1; seed <= 200; seed++) {
        struct pairing pairing = { .arena = arena_new(1 << 14), .block_s = seed % 2 ? 3600 : 60,
                                   .warmup_s = seed % 3 == 0 ? 5000 : 0 };
        struct rng rng;
        rng_init(&rng, seed, "pairs", 0);
        memset(&naive, 0, sizeof naive);
        for (int t = 0; t < TRIALS; t++) {
            bool again = t == 1;
            if (!again)
                draw_trial(&rng, 50000, &left[t], &right[t]);
            const struct side *a = &left[again ? 0 : t], *b = &right[again ? 0 : t];
            count_trial(&naive, a, b, t <= 1, pairing.warmup_s, pairing.block_s);
            pairs_add_trial(&pairing, &a->jobs, &b->jobs);
        }
        check_pairing(seed, &pairing, &naive);
        arena_free(pairing.arena);
    }
}

/* A side without jobs leaves the others alone; without any, there is no block. */
static void a_side_without_jobs_has_no_pair(void **state)
{
    static struct side left, right;
    struct pairing pairing = { .arena = arena_new(1 << 14), .block_s = 10 };

    (void)state;
    left.jobs = (struct trial_jobs){ .job = left.row, .count = 2 };
    left.row[0] = (struct job_row){ "a", 5, 1 };
    left.row[1] = (struct job_row){ "b", 6, NAN };
    right.jobs = (struct trial_jobs){ .job = right.row };
    pairs_add_trial(&pairing, &left.jobs, &right.jobs);
    pairs_add_trial(&pairing, &right.jobs, &left.jobs);
    pairs_add_trial(&pairing, &right.jobs, &right.jobs);
    pairs_list_blocks(&pairing);
    assert_true(pairing.pairs == 0 && pairing.blocks.count == 0 && pairing.seeds == 3);
    assert_true(pairing.left_alone == 1 && pairing.right_alone == 1 && pairing.neither == 2);
    arena_free(pairing.arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drawn_jobs_are_paired_by_name),
        cmocka_unit_test(a_side_without_jobs_has_no_pair),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare_jobs.c - prints how the times of paired jobs differ.
 */
#include "experiments/pairs/compare_jobs.h"

#include <math.h>
#include <string.h>

#include "experiments/pairs/block_stats.h"
#include "experiments/pairs/jobs_read.h"
#include "experiments/pairs/pairing.h"
#include "experiments/report/plot_data.h"
#include "experiments/report/services_table.h"
#include "experiments/results/grid.h"
#include "sim/base/arena.h"
#include "sim/stats/interval.h"
#include "sim/text/paths.h"

/* One comparison at work.  Everything is of the arena, which is freed at the end. */
struct sides {
    struct arena *arena;
    FILE *file;                 /* where the answer is printed */
    const struct compare_jobs *what;    /* the folders and the policies */
    struct jobs_table left, right;          /* of one folder both are the same */
    double warmup_s;            /* the longer one of both folders */
    uint64_t lines;             /* pairs of policies so far: each draws by its number */
};

/* "1.5 h": a time in the unit that fits it. */
static const char *format_time(struct arena *arena, double s)
{
    struct plot_unit unit = plot_time_unit(s);

    return text_format(arena, "%.4g %s", s / unit.seconds, unit.name);
}

/* How sure the difference is: an interval by the bootstrap over blocks, a
 * signed-rank test, and a warning where neighbouring blocks depend on each other.  It has no
 * end where many draws of the bootstrap are of blocks without a difference. */
static void print_sure(struct sides *s, const struct pairing *p)
{
    const struct blocks *b = &p->blocks;
    double *mean = arena_alloc(s->arena, b->count + 1, sizeof *mean);
    struct block_ratio r = block_ratio(s->arena, b->right, b->left, b->count,
                                       s->lines);
    struct block_ratio apart = block_ratio(s->arena, b->apart, b->jobs,
                                           b->count, s->lines);
    char ratio[INTERVAL_BYTES], seconds[INTERVAL_BYTES];
    double near;

    for (size_t i = 0; i < b->count; i++)
        mean[i] = b->apart[i] / b->jobs[i];
    fprintf(s->file, "    change of the mean  %+.4g%%, %+.6g s",
            100 * (r.value - 1), apart.value);
    if (b->count < BLOCKS_LEAST) {
        fprintf(s->file, "; no interval: %zu block%s, and at least %u are "
                "needed (--block)\n", b->count, b->count == 1 ? "" : "s",
                BLOCKS_LEAST);
        return;
    }
    fprintf(s->file, "; 95%% interval %s, %s\n    %zu blocks; p = %.2g (signed "
            "ranks of their mean differences)\n",
            interval_text(ratio, (struct interval_form){ 4, true, "%" },
                          100 * (fmax(0, r.low) - 1), 100 * (r.high - 1)),
            interval_text(seconds, (struct interval_form){ 6, true, " s" }, apart.low,
                          apart.high), b->count,
            block_signed_rank(s->arena, mean, b->count));
    near = block_neighbours(mean, b->count);
    if (near > 2 / sqrt((double)b->count))
        fprintf(s->file, "    neighbouring blocks are alike (correlation "
                "%.2f): take longer ones (--block)\n", near);
}

/* Says which jobs the figures do not speak of. */
static void print_left_out(const struct sides *s, const struct pairing *p)
{
    size_t lost = p->left_alone + p->right_alone + p->neither;

    if (lost > 0)
        fprintf(s->file, " of %zu: %zu jobs did not end on both sides (%zu on the left alone, "
                "%zu on the right alone, %zu on neither), and nothing is said of them",
                p->pairs + lost, lost, p->left_alone, p->right_alone, p->neither);
    if (p->early > 0)
        fprintf(s->file, "; %zu jobs of the warm-up are left out", p->early);
    if (p->single > 0)
        fprintf(s->file, "; %zu trial%s of seeds that one side lacks %s left out", p->single,
                p->single == 1 ? "" : "s", p->single == 1 ? "is" : "are");
}

/* All that is said of one pair of policies at one point. */
static void print_pairing(struct sides *s, struct pairing *p,
                          const char *point, const char *title)
{
    const struct blocks *b = &p->blocks;
    double left = 0, right = 0, n = (double)p->pairs;

    pairs_list_blocks(p);
    for (size_t i = 0; i < b->count; i++) {
        left += b->left[i];
        right += b->right[i];
    }
    fprintf(s->file, "\n%s, %s\n    %zu pairs", point, title, p->pairs);
    print_left_out(s, p);
    if (p->pairs == 0) {
        fputc('\n', s->file);
        return;
    }
    fprintf(s->file, "%smean completion time %s -> %s\n    faster %.1f%%, "
            "slower %.1f%%, equal %.1f%% of the jobs\n",
            p->left_alone + p->right_alone + p->neither > 0 ? "\n    of the pairs: " : "; ",
            format_time(s->arena, left / n), format_time(s->arena, right / n),
            100 * (double)p->faster / n, 100 * (double)p->slower / n,
            100 * (n - (double)p->faster - (double)p->slower) / n);
    if (p->faster + p->slower > 0)
        print_sure(s, p);
}

/* Counts the trials of a policy at a point whose seed another table lacks. */
static size_t count_single(const struct jobs_table *table, const char *policy,
                           const struct jobs_table *other, const char *of, const char *point)
{
    size_t count = 0;

    for (size_t i = 0; i < table->count; i++) {
        const struct trial_jobs *t = &table->trial[i];

        count += strcmp(t->policy, policy) == 0 && strcmp(t->point, point) == 0 &&
                 jobs_trial(other, point, of, t->seed) == NULL;
    }
    return count;
}

/* Compares one policy of the left with one of the right, over all seeds that both
 * have. */
static void compare_pair(struct sides *s, const char *point,
                         const char *left, const char *right)
{
    struct pairing p = { .arena = s->arena,
                         .block_s = (double)s->what->block_ns / 1e9,
                         .warmup_s = s->warmup_s };
    const char *title = strcmp(left, right) == 0 ? left
        : text_format(s->arena, "%s -> %s", left, right);

    for (size_t i = 0; i < s->left.count; i++) {
        const struct trial_jobs *a = &s->left.trial[i], *b;

        if (strcmp(a->policy, left) != 0 || strcmp(a->point, point) != 0)
            continue;
        b = jobs_trial(&s->right, point, right, a->seed);
        if (b != NULL)
            pairs_add_trial(&p, a, b);
    }
    s->lines++;
    p.single = count_single(&s->left, left, &s->right, right, point) +
               count_single(&s->right, right, &s->left, left, point);
    if (p.seeds > 0 || p.single > 0)
        print_pairing(s, &p, point, title);
}

/* Within one folder each policy is compared with the baseline; between two folders, each policy
 * with itself. */
static bool compare_folders(struct sides *s, struct err *err)
{
    const char *left = s->what->left, *right = s->what->right;
    struct plot_source source;

    if (!plot_source_read(s->arena, left, NULL, &source, err) ||
        !jobs_read(s->arena, left, &s->left, err))
        return false;
    s->right = s->left;
    s->warmup_s = source.warmup_s;
    if (right != NULL) {
        struct plot_source other;

        memset(&s->right, 0, sizeof s->right);
        if (!plot_source_read(s->arena, right, NULL, &other, err) ||
            !jobs_read(s->arena, right, &s->right, err))
            return false;
        s->warmup_s = fmax(s->warmup_s, other.warmup_s);
    }
    fputs("jobs of the same name and seed, paired; what was submitted within "
          "a block is one sample\n", s->file);
    if (s->left.replicas + s->right.replicas > 0)
        fputs("replicas of services are left out: they are no jobs of a user\n", s->file);
    uint32_t base = source.baseline == UINT32_MAX ? 0 : source.baseline;
    for (uint32_t t = 0; t < source.grid->point_count; t++)
        for (uint32_t p = 0; p < source.grid->policy_count; p++)
            if (right != NULL || p != base)
                compare_pair(s, source.grid->point[t],
                             source.grid->policy[right != NULL ? p : base],
                             source.grid->policy[p]);
    return true;
}

bool compare_jobs_print(FILE *file, const struct compare_jobs *what,
                        struct err *err)
{
    struct sides sides = { .arena = arena_new(1 << 16), .file = file,
                           .what = what };
    bool ok = compare_folders(&sides, err);

    if (!ok)
        plot_keep_err(err, what->left);
    arena_free(sides.arena);
    return ok;
}

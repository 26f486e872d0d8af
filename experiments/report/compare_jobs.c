/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * compare_jobs.c - jobs of two sides paired by point, seed and name.
 *
 * Jobs of one cluster are not independent: one that runs long delays those
 * behind it.  So it is not jobs that are samples, but blocks of time: all that
 * was submitted within a day, say.  Seeds that hold the very same jobs as the first
 * one share its blocks; of seeds with other jobs each has blocks of its own.
 */
#include "experiments/report/compare_jobs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "experiments/columns/columns.h"
#include "experiments/report/block_stats.h"
#include "experiments/report/plot_data.h"
#include "experiments/report/services_table.h"
#include "experiments/results/grid.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/text/csv.h"
#include "sim/text/hash.h"
#include "sim/text/paths.h"

struct job_row {
    const char *name;
    double submit_s, jct_s;     /* jct NAN: it did not end */
};

/* The jobs of one trial. */
struct trial_jobs {
    const char *point, *policy, *seed;
    struct job_row *job;        /* by name */
    size_t count, room;
};

struct jobs_table {
    struct trial_jobs *trial;
    size_t count, room;
    size_t replicas;            /* of services, left out: no jobs of a user */
};

/* ---- reading ---- */

enum { POINT, POLICY, SEED, JOB, KIND, SUBMIT, JCT, FIELDS };

/* Rows of a trial stand together, so the trial of a row is the last one, or a new
 * one. */
static struct trial_jobs *trial_for(struct arena *arena,
                                    struct jobs_table *table,
                                    const struct csv *in, const size_t *c)
{
    struct trial_jobs *last = table->count == 0
        ? NULL : &table->trial[table->count - 1];

    if (last != NULL &&
        strcmp(last->seed, csv_text(in, c[SEED])) == 0 &&
        strcmp(last->policy, csv_text(in, c[POLICY])) == 0 &&
        strcmp(last->point, csv_text(in, c[POINT])) == 0)
        return last;
    if (table->count == table->room) {
        size_t room = table->room * 2 + 16;

        table->trial = arena_grow(arena, table->trial, table->room, room,
                                  sizeof *table->trial);
        table->room = room;
    }
    last = &table->trial[table->count++];
    *last = (struct trial_jobs){
        .point = arena_text(arena, csv_text(in, c[POINT])),
        .policy = arena_text(arena, csv_text(in, c[POLICY])),
        .seed = arena_text(arena, csv_text(in, c[SEED]))
    };
    return last;
}

/* Reads a row of jobs.csv.  A job that was not done has no time (NAN). */
static bool read_job(struct arena *arena, struct trial_jobs *trial,
                     const struct csv *in, const size_t *c,
                     struct err *err)
{
    struct job_row *job;

    if (trial->count == trial->room) {
        size_t room = trial->room * 2 + 64;

        trial->job = arena_grow(arena, trial->job, trial->room, room,
                                sizeof *trial->job);
        trial->room = room;
    }
    job = &trial->job[trial->count++];
    job->name = arena_text(arena, csv_text(in, c[JOB]));
    return csv_number(in, c[SUBMIT], &job->submit_s, err) &&
           csv_number(in, c[JCT], &job->jct_s, err);
}

/* For qsort(): by name, then by submission, since names may repeat. */
static int compare_names(const void *a, const void *b)
{
    const struct job_row *x = a, *y = b;
    int order = strcmp(x->name, y->name);

    return order != 0 ? order
                      : (x->submit_s > y->submit_s) -
                        (x->submit_s < y->submit_s);
}

/* Reads the row at hand, unless it is a replica of a service, which is counted alone. */
static bool read_row(struct arena *arena, struct jobs_table *table,
                     const struct service_names *services, const struct csv *in,
                     const size_t *c, struct err *err)
{
    if (service_names_replica(services, csv_text(in, c[JOB]), csv_text(in, c[KIND]))) {
        table->replicas++;
        return true;
    }
    return read_job(arena, trial_for(arena, table, in, c), in, c, err);
}

/* Jobs are sorted by name, then by submission: the order in which they are paired. */
static bool read_jobs(struct arena *arena, const char *dir,
                      struct jobs_table *table, struct err *err)
{
    static const char *const name[FIELDS] = {
        "point", "policy", "seed", "job", "kind", "submit_s", "jct_s"
    };
    struct service_names services;
    enum csv_step step = CSV_ERROR;
    size_t c[FIELDS], found = 0;
    struct csv *in;

    if (!service_names_read(arena, dir, &services, err))
        return false;
    in = csv_open(arena, path_join(arena, dir, csv_jobs.file), CSV_TABLE, err);

    while (in != NULL && found < FIELDS &&
           csv_need_column(in, name[found], &c[found], err))
        found++;
    if (found == FIELDS)
        while ((step = csv_next(in, err)) == CSV_ROW)
            if (!read_row(arena, table, &services, in, c, err)) {
                step = CSV_ERROR;
                break;
            }
    csv_close(in);
    for (size_t i = 0; i < table->count; i++)
        qsort(table->trial[i].job, table->trial[i].count,
              sizeof *table->trial[i].job, compare_names);
    return step == CSV_END;
}

/* Returns the trial of that point, policy and seed, or NULL. */
static const struct trial_jobs *find_trial(const struct jobs_table *table,
                                           const char *point,
                                           const char *policy,
                                           const char *seed)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct trial_jobs *t = &table->trial[i];

        if (strcmp(t->policy, policy) == 0 && strcmp(t->point, point) == 0 &&
            strcmp(t->seed, seed) == 0)
            return t;
    }
    return NULL;
}

/* ---- pairing ---- */

/* Sums over the pairs of a block, by the time of submission. */
struct block {
    uint64_t number;            /* of the time, from the first submission on */
    double left, right, apart, jobs;
};

/* Blocks that have a pair: so memory follows the jobs, not how long they came. */
struct blocks {
    struct block *item;
    size_t count, room;
    size_t *slot, slots;        /* 1 + the item of a number; at most half are in use */
    uint64_t end;               /* behind the largest number */
    double *left, *right, *apart, *jobs;        /* by time: list_blocks() */
};

struct pairing {
    struct arena *arena;
    double block_s;
    struct blocks blocks;
    uint64_t first_jobs;        /* hash of the jobs of the first seed */
    double warmup_s;            /* jobs that came before are not compared: early */
    size_t seeds, pairs, faster, slower, early;
    size_t left_alone, right_alone, neither;    /* ended, or there, on one side or on none */
};

/* Names and submissions: two seeds with equal hashes hold the same jobs. */
static uint64_t hash_jobs(const struct trial_jobs *t)
{
    uint64_t hash = HASH_START, bits;

    for (size_t i = 0; i < t->count; i++) {
        memcpy(&bits, &t->job[i].submit_s, sizeof bits);
        hash = hash_u64(hash_text(hash, t->job[i].name), bits);
    }
    return hash;
}

/* Returns the slot of a block, or the free one where it belongs. */
static size_t *slot_of(const struct blocks *b, uint64_t number)
{
    size_t at = (size_t)hash_u64(HASH_START, number) & (b->slots - 1);

    while (b->slot[at] != 0 && b->item[b->slot[at] - 1].number != number)
        at = (at + 1) & (b->slots - 1);
    return &b->slot[at];
}

/* Returns the block of that number, made at its first pair. */
static struct block *reach_block(struct pairing *p, uint64_t number)
{
    struct blocks *b = &p->blocks;
    size_t *slot;

    if (2 * b->count >= b->slots) {
        b->slots = b->slots == 0 ? 64 : 2 * b->slots;
        b->slot = arena_alloc(p->arena, b->slots, sizeof *b->slot);
        for (size_t i = 0; i < b->count; i++)
            *slot_of(b, b->item[i].number) = i + 1;
    }
    slot = slot_of(b, number);
    if (*slot == 0) {
        ARENA_ADD(p->arena, b->item, b->count, b->room, (struct block){ .number = number });
        *slot = b->count;
        b->end = number >= b->end ? number + 1 : b->end;
    }
    return &b->item[*slot - 1];
}

/* Counts a job that did not end on both sides: it has no difference. */
static void add_lost(struct pairing *p, bool left, bool right)
{
    p->left_alone += left && !right;
    p->right_alone += right && !left;
    p->neither += !left && !right;
}

/* A job that came in the warm-up, or did not end on both sides, is no pair. */
static void add_pair(struct pairing *p, const struct job_row *left,
                     const struct job_row *right, uint64_t number)
{
    struct block *block;

    if (left->submit_s < p->warmup_s) {
        p->early++;
        return;
    }
    if (isnan(left->jct_s) || isnan(right->jct_s)) {
        add_lost(p, !isnan(left->jct_s), !isnan(right->jct_s));
        return;
    }
    block = reach_block(p, number);
    p->pairs++;
    p->faster += right->jct_s < left->jct_s;
    p->slower += right->jct_s > left->jct_s;
    block->left += left->jct_s;
    block->right += right->jct_s;
    block->apart += right->jct_s - left->jct_s;
    block->jobs++;
}

/* Counts a job that the other side has not got. */
static void add_single(struct pairing *p, const struct job_row *job, bool left)
{
    if (job->submit_s < p->warmup_s)
        p->early++;
    else
        add_lost(p, left && !isnan(job->jct_s), !left && !isnan(job->jct_s));
}

/* Returns when the first job of a trial came that did not come before `from_s`, where the
 * first block begins; INFINITY without any. */
static double first_submit_s(const struct trial_jobs *t, double from_s)
{
    double first = INFINITY;

    for (size_t i = 0; i < t->count; i++)
        if (t->job[i].submit_s >= from_s)
            first = fmin(first, t->job[i].submit_s);
    return first;
}

/* Pairs the jobs of a trial by merging both lists, which are sorted by name.  A
 * seed with other jobs than the first one gets blocks of its own. */
static void pair_trial(struct pairing *p, const struct trial_jobs *left,
                       const struct trial_jobs *right)
{
    uint64_t hash = hash_jobs(left);
    double from_s = first_submit_s(left, p->warmup_s);
    uint64_t base = p->seeds > 0 && hash != p->first_jobs ? p->blocks.end : 0;
    size_t i = 0, j = 0;

    if (p->seeds++ == 0)
        p->first_jobs = hash;
    while (i < left->count && j < right->count) {
        const struct job_row *a = &left->job[i], *b = &right->job[j];
        int order = strcmp(a->name, b->name);

        if (order == 0)
            add_pair(p, a, b, base + (uint64_t)(fmax(a->submit_s - from_s, 0) /
                                                p->block_s));
        else
            add_single(p, order < 0 ? a : b, order < 0);
        i += order <= 0;
        j += order >= 0;
    }
    for (; i < left->count; i++)
        add_single(p, &left->job[i], true);
    for (; j < right->count; j++)
        add_single(p, &right->job[j], false);
}

/* For qsort(): by number, which no two share. */
static int compare_blocks(const void *a, const void *b)
{
    uint64_t x = ((const struct block *)a)->number, y = ((const struct block *)b)->number;

    return (x > y) - (x < y);
}

/* Puts the sums into lists in the order of time, by which neighbours are known.  No pair
 * may be added after it. */
static void list_blocks(struct pairing *p)
{
    struct blocks *b = &p->blocks;

    if (b->count > 0)
        qsort(b->item, b->count, sizeof *b->item, compare_blocks);
    b->left = arena_alloc(p->arena, b->count + 1, sizeof *b->left);
    b->right = arena_alloc(p->arena, b->count + 1, sizeof *b->right);
    b->apart = arena_alloc(p->arena, b->count + 1, sizeof *b->apart);
    b->jobs = arena_alloc(p->arena, b->count + 1, sizeof *b->jobs);
    for (size_t i = 0; i < b->count; i++) {
        b->left[i] = b->item[i].left;
        b->right[i] = b->item[i].right;
        b->apart[i] = b->item[i].apart;
        b->jobs[i] = b->item[i].jobs;
    }
}

/* ---- the table ---- */

struct sides {
    struct arena *arena;
    FILE *file;
    const struct compare_jobs *what;
    struct jobs_table left, right;
    double warmup_s;            /* the longer one of both folders */
    uint64_t lines;
};

/* "1.5 h": a time in the unit that fits it. */
static const char *format_time(struct arena *arena, double s)
{
    struct plot_unit unit = plot_time_unit(s);

    return text_format(arena, "%.4g %s", s / unit.seconds, unit.name);
}

/* How sure the difference is: an interval by the bootstrap over blocks, a
 * signed-rank test, and a warning where neighbouring blocks depend on each other. */
static void print_sure(struct sides *s, const struct pairing *p)
{
    const struct blocks *b = &p->blocks;
    double *mean = arena_alloc(s->arena, b->count + 1, sizeof *mean);
    struct block_ratio r = block_ratio(s->arena, b->right, b->left, b->count,
                                       s->lines);
    struct block_ratio apart = block_ratio(s->arena, b->apart, b->jobs,
                                           b->count, s->lines);
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
    fprintf(s->file, "; 95%% interval [%+.4g%%, %+.4g%%], [%+.6g s, %+.6g "
            "s]\n    %zu blocks; p = %.2g (signed ranks of their mean "
            "differences)\n", 100 * (r.low - 1), 100 * (r.high - 1),
            apart.low, apart.high, b->count,
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
}

/* All that is said of one pair of policies at one point. */
static void print_pairing(struct sides *s, struct pairing *p,
                          const char *point, const char *title)
{
    const struct blocks *b = &p->blocks;
    double left = 0, right = 0, n = (double)p->pairs;

    list_blocks(p);
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
        b = find_trial(&s->right, point, right, a->seed);
        if (b != NULL)
            pair_trial(&p, a, b);
    }
    s->lines++;
    if (p.seeds > 0)
        print_pairing(s, &p, point, title);
}

/* Of one folder, each policy with its baseline; of two, each policy with itself. */
static bool compare_folders(struct sides *s, struct err *err)
{
    const char *left = s->what->left, *right = s->what->right;
    struct plot_source source;

    if (!plot_source_read(s->arena, left, NULL, &source, err) ||
        !read_jobs(s->arena, left, &s->left, err))
        return false;
    s->right = s->left;
    s->warmup_s = source.warmup_s;
    if (right != NULL) {
        struct plot_source other;

        memset(&s->right, 0, sizeof s->right);
        if (!plot_source_read(s->arena, right, NULL, &other, err) ||
            !read_jobs(s->arena, right, &s->right, err))
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

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * afs.c - apathetic future share: GPUs one by one, to the shorter job unless
 * the longer gains so much more that both are better off.
 *
 * Hwang, Kim, Kim, Shin and Park, "Elastic Resource Sharing for Distributed
 * Deep Learning", NSDI 2021 (AFS-L).  Of two jobs a, b of which a would end
 * first, let p and p' be their speeds without and with the next GPU.  To give
 * it to b shortens the sum of their completion times if
 *     (p'_b - p_b) / p'_b > (p'_a - p_a) / p_a,
 * as b will have the GPU anyway when a is gone.  From nothing, every GPU goes to
 * the job that wins against all others, one after another.  Done anew when a
 * job came or ended, and no sooner than `interval` after the last time.
 *
 * Lengths are the host's estimates, as AFS-L knows them.  Where a job cannot
 * have every number of GPUs, its next step counts as one GPU.
 *
 * Who wins against all others is found by a contest in the order of submission,
 * as the rule is not transitive.  Most of it is spared:
 *
 * Let p and p' be a job's speeds without and with its next step.  Call (p' - p) / p' the
 * low end of the job's interval, and (p' - p) / p the high one.  By the rule of
 * AFS-L a job whose interval lies above another's wins against it, and of two whose
 * intervals overlap the one that would end first.  All jobs of the same p and p' are
 * a class, and of two classes one stands above the other or neither does.
 *
 * Levels: let U be the least set of classes that stand above all others.  Its jobs
 * take their steps before any other job does.  If all these steps fit, they are
 * taken in any order.  If not, and no class of U stands above another one of it, the
 * jobs that would end first take theirs.  Both hold as long as a job that took its
 * step stands below U.
 *
 * Heaps: else the first of each class is found by a heap, and a GPU goes to the one
 * of them that wins against all others.
 *
 * Contest: where none does, or there are too many classes, each GPU goes to the winner
 * of a contest in the order of submission, which is what the policy is.
 */
#include <string.h>

#include "policies/params.h"
#include "policies/policy.h"
#include "policies/resize.h"

extern const struct cs_policy afs_policy;

#define NONE UINT32_MAX
#define CLASSES 256u
#define WORDS (CLASSES / 64)
#define SLOTS (2 * CLASSES)
#define FEW 12u                 /* keys that are sorted one by one */

/* A size and the speed on it; gpus 0: none. */
struct afs_size {
    uint32_t gpus;
    uint32_t class;             /* of the step to it, if the deal knows it */
    double speedup;
};

/* A job of a deal.  `now` and `next` are what it has and its next step, which is no
 * step if next.gpus is 0. */
struct afs_job {
    struct job_id job;
    uint32_t had;               /* GPUs before the deal */
    struct afs_size now, next;
    double left_s;
    double end_s;               /* time to the end, of a job with GPUs and a step */
    uint32_t curve;             /* cs_curve() */
    uint32_t steps;             /* that it has taken */
};

struct class_set {
    uint64_t word[WORDS];
};

/* Jobs of one pair of speeds. */
struct afs_class {
    double speedup, next;
    struct class_set above, below;      /* those that stand above it, below it */
    uint32_t first;             /* its jobs: a list, linked by next[] */
    uint32_t root;              /* or a pairing heap; NONE: empty */
};

struct afs_key {
    double key;
    uint32_t job, step;
    bool chosen;
};

/* Steps of jobs that are alike, as far as they were asked for. */
struct afs_curve {
    struct afs_size *step;
    uint32_t count, room, epoch;
};

struct afs_deal {
    struct afs_class class[CLASSES];
    uint16_t slot[SLOTS];       /* 1 + class, by hash of its speeds */
    uint32_t classes, epoch;
    bool full;                  /* there was no room for a class */
    struct class_set live;      /* classes that have jobs */
    struct afs_curve *curve;    /* by cs_curve() */
    uint32_t curve_room;
    struct afs_job *job;
    uint32_t count, room;
    uint32_t *next, *child;     /* of a job, in lists and heaps */
    struct afs_key *key;
    uint32_t *won;              /* who won against all before it, in turn */
};

static struct afs_deal *make_deal(struct cs_host *host)
{
    struct afs_deal *deal = cs_alloc(host, 1, sizeof *deal);

    deal->epoch = 1;
    return deal;
}

/* ---- sets of classes ---- */

static bool has(const struct class_set *set, uint32_t k)
{
    return set->word[k / 64] >> k % 64 & 1;
}

static void put(struct class_set *set, uint32_t k)
{
    set->word[k / 64] |= UINT64_C(1) << k % 64;
}

static void drop(struct class_set *set, uint32_t k)
{
    set->word[k / 64] &= ~(UINT64_C(1) << k % 64);
}

static bool meet(const struct class_set *a, const struct class_set *b)
{
    uint64_t both = 0;

    for (uint32_t w = 0; w < WORDS; w++)
        both |= a->word[w] & b->word[w];
    return both != 0;
}

/* Is all of a in b? */
static bool is_within(const struct class_set *a, const struct class_set *b)
{
    uint64_t rest = 0;

    for (uint32_t w = 0; w < WORDS; w++)
        rest |= a->word[w] & ~b->word[w];
    return rest == 0;
}

/* The first class of a set from k on; CLASSES: there is none. */
static uint32_t find_from(const struct class_set *set, uint32_t k)
{
    while (k < CLASSES) {
        uint64_t word = set->word[k / 64] >> k % 64;
        if (word != 0)
            return k + (uint32_t)__builtin_ctzll(word);
        k = (k / 64 + 1) * 64;
    }
    return CLASSES;
}

#define EACH(k, set) \
    uint32_t k = find_from(set, 0); k < CLASSES; k = find_from(set, k + 1)

/* ---- classes ---- */

/* Does a job with the first two speeds win against one with the others even if that
 * one would end first? */
static bool is_above(double speedup, double next, double speedup_b, double next_b)
{
    return (next - speedup) * speedup_b > (next_b - speedup_b) * next;
}

static uint32_t hash_speeds(double speedup, double next)
{
    uint64_t a, b;

    memcpy(&a, &speedup, sizeof a);
    memcpy(&b, &next, sizeof b);
    a = (a ^ b * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
    return (uint32_t)(a >> 40) & (SLOTS - 1);
}

/* Returns the class of two speeds, made if need be; NONE: there is no room for it. */
static uint32_t find_class(struct afs_deal *deal, double speedup, double next)
{
    uint32_t i = hash_speeds(speedup, next);

    for (; deal->slot[i] > 0; i = (i + 1) & (SLOTS - 1)) {
        const struct afs_class *class = &deal->class[deal->slot[i] - 1];
        if (class->speedup == speedup && class->next == next)
            return deal->slot[i] - 1;
    }
    if (deal->classes == CLASSES) {
        deal->full = true;
        return NONE;
    }
    uint32_t k = deal->classes++;
    struct afs_class *made = &deal->class[k];
    deal->slot[i] = (uint16_t)(k + 1);
    *made = (struct afs_class) { .speedup = speedup, .next = next, .first = NONE,
                                 .root = NONE };
    for (uint32_t l = 0; l < k; l++) {
        struct afs_class *other = &deal->class[l];
        if (is_above(speedup, next, other->speedup, other->next)) {
            put(&made->below, l);
            put(&other->above, k);
        }
        if (is_above(other->speedup, other->next, speedup, next)) {
            put(&made->above, l);
            put(&other->below, k);
        }
    }
    return k;
}

/* Forgets all classes if there was no room for one. */
static void clear_classes(struct afs_deal *deal)
{
    memset(&deal->live, 0, sizeof deal->live);
    for (uint32_t k = 0; k < deal->classes; k++)
        deal->class[k].first = deal->class[k].root = NONE;
    if (!deal->full)
        return;
    memset(deal->slot, 0, sizeof deal->slot);
    deal->classes = 0;
    deal->full = false;
    deal->epoch++;
}

/* ---- steps ---- */

/* The step from a size; a size that is no faster is none. */
static struct afs_size find_step(struct afs_deal *deal, struct cs_host *host,
                                 struct job_id job, struct afs_size from)
{
    struct afs_size to = { .gpus = cs_size_above(host, job, from.gpus), .class = NONE };

    if (to.gpus > 0)
        to.speedup = cs_best_speedup(host, job, to.gpus);
    if (!(to.speedup > from.speedup))
        to.gpus = 0;
    if (to.gpus > 0)
        to.class = find_class(deal, from.speedup, to.speedup);
    return to;
}

/* Returns the step of that number of a curve, from nothing on; those before it are
 * known. */
static struct afs_size find_curve_step(struct afs_deal *deal, struct cs_host *host,
                                       const struct afs_job *job, uint32_t number)
{
    struct afs_curve *curve = &deal->curve[job->curve];

    if (curve->epoch != deal->epoch)
        curve->count = 0;
    curve->epoch = deal->epoch;
    if (number < curve->count)
        return curve->step[number];
    struct afs_size from = { 0 };
    if (number > 0)
        from = curve->step[number - 1];
    if (curve->count == curve->room)
        curve->step = cs_grow(host, curve->step, &curve->room, curve->count,
                              sizeof *curve->step);
    return curve->step[curve->count++] = find_step(deal, host, job->job, from);
}

/* The job has no GPU. */
static void begin_job(struct afs_deal *deal, struct cs_host *host, struct afs_job *job)
{
    job->now = (struct afs_size) { 0 };
    job->steps = 0;
    if (job->curve == ID_NONE) {
        job->next = find_step(deal, host, job->job, job->now);
        return;
    }
    if (job->curve >= deal->curve_room)
        deal->curve = cs_grow(host, deal->curve, &deal->curve_room, job->curve,
                              sizeof *deal->curve);
    job->next = find_curve_step(deal, host, job, 0);
}

/* The step after the next one. */
static struct afs_size look_ahead(struct afs_deal *deal, struct cs_host *host,
                                  const struct afs_job *job)
{
    return job->curve == ID_NONE ? find_step(deal, host, job->job, job->next)
                                 : find_curve_step(deal, host, job, job->steps + 1);
}

static void take_step(struct afs_job *job, struct afs_size then)
{
    job->now = job->next;
    job->next = then;
    job->steps++;
    if (then.gpus > 0)
        job->end_s = job->left_s / job->now.speedup;
}

static uint32_t step_of(const struct afs_job *job)
{
    return job->next.gpus - job->now.gpus;
}

/* Puts a job into the list of its class, if it has a step. */
static void list_job(struct afs_deal *deal, uint32_t i)
{
    uint32_t k = deal->job[i].next.class;

    if (deal->job[i].next.gpus == 0)
        return;
    deal->next[i] = deal->class[k].first;
    deal->class[k].first = i;
    put(&deal->live, k);
}

/* ---- the rule ---- */

/* Time to the end at the speed now; jobs that have none go by what is left. */
static bool ends_first(const struct afs_job *x, const struct afs_job *y)
{
    bool both = x->now.gpus > 0 && y->now.gpus > 0;
    double a = both ? x->end_s : x->left_s, b = both ? y->end_s : y->left_s;

    return a != b ? a < b : x->job.i < y->job.i;
}

/* Does x get the next GPU rather than y?  Of two without GPUs the one that would end
 * first. */
static bool wins(const struct afs_job *x, const struct afs_job *y)
{
    bool first = ends_first(x, y);

    if (!(x->now.speedup > 0) && !(y->now.speedup > 0))
        return first;
    const struct afs_job *a = first ? x : y, *b = first ? y : x;
    bool to_b = is_above(b->now.speedup, b->next.speedup, a->now.speedup,
                         a->next.speedup);

    return to_b != first;
}

/* ---- levels ---- */

/* Finds the least set of classes that stand above all others; false: there are
 * circles. */
static bool find_top_classes(const struct afs_deal *deal, struct class_set *top)
{
    bool more = false;

    memset(top, 0, sizeof *top);
    for (EACH(k, &deal->live))
        if (!meet(&deal->class[k].above, &deal->live)) {
            put(top, k);
            more = true;
        }
    bool found = more;
    while (more) {
        more = false;
        for (EACH(k, &deal->live))
            if (!has(top, k) && !is_within(top, &deal->class[k].above)) {
                put(top, k);
                more = true;
            }
    }
    return found;
}

/* By key, of equals by number. */
static bool key_before(const struct afs_key *a, const struct afs_key *b)
{
    return a->key != b->key ? a->key < b->key : a->job < b->job;
}

static void swap_keys(struct afs_key *a, struct afs_key *b)
{
    struct afs_key was = *a;

    *a = *b;
    *b = was;
}

static void sort_few(struct afs_key *key, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++)
        for (uint32_t k = i; k > 0 && key_before(&key[k], &key[k - 1]); k--)
            swap_keys(&key[k], &key[k - 1]);
}

/* As part of the keys go before the one in the middle; where that one stands then. */
static uint32_t part_keys(struct afs_key *key, uint32_t count)
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
static uint32_t choose_first(struct afs_key *key, uint32_t count, uint32_t room)
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
static bool list_keys(struct afs_deal *deal, const struct class_set *top,
                      uint32_t *count, uint64_t *sum)
{
    bool ordered = true;
    uint32_t idle = 0;

    *count = 0;
    *sum = 0;
    for (EACH(k, top)) {
        ordered &= !meet(&deal->class[k].above, top);
        for (uint32_t i = deal->class[k].first; i != NONE; i = deal->next[i]) {
            const struct afs_job *job = &deal->job[i];
            bool none = job->now.gpus == 0;
            idle += none;
            *sum += step_of(job);
            deal->key[(*count)++] = (struct afs_key) {
                none ? job->left_s : job->end_s, i, step_of(job), false };
        }
    }
    return ordered && (idle == 0 || idle == *count);
}

/* Takes the steps that were chosen, if all who took them then stand below the top
 * classes; false: one does not, and none is taken. */
static bool take_chosen(struct afs_deal *deal, struct cs_host *host,
                        const struct class_set *top, uint32_t count)
{
    for (uint32_t c = 0; c < count; c++) {
        const struct afs_job *job = &deal->job[deal->key[c].job];
        if (!deal->key[c].chosen)
            continue;
        struct afs_size then = look_ahead(deal, host, job);
        if (then.gpus > 0 && (then.class == NONE || has(top, then.class) ||
                              !is_within(top, &deal->class[then.class].above)))
            return false;
    }
    for (EACH(k, top)) {
        deal->class[k].first = NONE;
        drop(&deal->live, k);
    }
    for (uint32_t c = 0; c < count; c++) {
        struct afs_job *job = &deal->job[deal->key[c].job];
        if (!deal->key[c].chosen)
            continue;
        take_step(job, look_ahead(deal, host, job));
        list_job(deal, deal->key[c].job);
    }
    return true;
}

/* Deals level by level as long as that can be; returns what is left of the room. */
static uint32_t deal_levels(struct afs_deal *deal, struct cs_host *host, uint32_t room)
{
    struct class_set top;
    uint32_t count;
    uint64_t sum;

    while (room > 0 && find_top_classes(deal, &top)) {
        bool ordered = list_keys(deal, &top, &count, &sum);
        if (sum > room && !ordered)
            return room;
        uint32_t left = choose_first(deal->key, count, room);
        if (!take_chosen(deal, host, &top, count))
            return room;
        room = left;
    }
    return room;
}

/* ---- heaps ---- */

/* Joins two heaps of a class. */
static uint32_t join(struct afs_deal *deal, uint32_t a, uint32_t b)
{
    if (a == NONE || b == NONE)
        return a == NONE ? b : a;
    if (ends_first(&deal->job[b], &deal->job[a])) {
        uint32_t was = a;
        a = b;
        b = was;
    }
    deal->next[b] = deal->child[a];
    deal->child[a] = b;
    return a;
}

static void push_job(struct afs_deal *deal, uint32_t i)
{
    struct afs_class *class = &deal->class[deal->job[i].next.class];

    deal->child[i] = deal->next[i] = NONE;
    class->root = join(deal, class->root, i);
    put(&deal->live, deal->job[i].next.class);
}

/* Takes the first job out of a class: its children are joined in pairs, then all. */
static void pop_job(struct afs_deal *deal, uint32_t k)
{
    uint32_t child = deal->child[deal->class[k].root], pairs = NONE, all = NONE;

    while (child != NONE) {
        uint32_t a = child, b = deal->next[a];
        child = b == NONE ? NONE : deal->next[b];
        a = join(deal, a, b);
        deal->next[a] = pairs;
        pairs = a;
    }
    while (pairs != NONE) {
        uint32_t pair = pairs;
        pairs = deal->next[pair];
        all = join(deal, all, pair);
    }
    deal->class[k].root = all;
    if (all == NONE)
        drop(&deal->live, k);
}

/* Jobs whose steps are larger than the room have no more steps. */
static void drop_unfit(struct afs_deal *deal, uint32_t room)
{
    for (EACH(k, &deal->live))
        while (has(&deal->live, k) && step_of(&deal->job[deal->class[k].root]) > room)
            pop_job(deal, k);
}

/* Does the first of a class win against the first ones of all others, and so against
 * all their jobs? */
static bool wins_all(const struct afs_deal *deal, uint32_t k)
{
    const struct afs_class *class = &deal->class[k];
    const struct afs_job *job = &deal->job[class->root];

    if (meet(&class->above, &deal->live))
        return false;
    for (EACH(l, &deal->live))
        if (l != k && !has(&class->below, l) &&
            !ends_first(job, &deal->job[deal->class[l].root]))
            return false;
    return true;
}

/* Deals by heaps as long as somebody wins against all; returns what is left of the
 * room. */
static uint32_t deal_heaps(struct afs_deal *deal, struct cs_host *host, uint32_t room)
{
    memset(&deal->live, 0, sizeof deal->live);
    for (uint32_t i = 0; room > 0 && i < deal->count; i++)
        if (deal->job[i].next.gpus > 0)
            push_job(deal, i);
    while (room > 0) {
        uint32_t k;
        drop_unfit(deal, room);
        for (k = find_from(&deal->live, 0); k < CLASSES && !wins_all(deal, k);)
            k = find_from(&deal->live, k + 1);
        if (k == CLASSES)
            return room;
        uint32_t i = deal->class[k].root;
        struct afs_job *job = &deal->job[i];
        struct afs_size then = look_ahead(deal, host, job);
        pop_job(deal, k);
        room -= step_of(job);
        take_step(job, then);
        if (deal->full)
            return room;
        if (then.gpus > 0)
            push_job(deal, i);
    }
    return room;
}

/* ---- the contest ---- */

/* The larger of a step in GPUs and the widest one so far. */
static uint32_t find_widest(const struct afs_job *job, uint32_t widest)
{
    uint32_t step = job->next.gpus ? step_of(job) : 0;

    return step > widest ? step : widest;
}

/* Goes on with the contest from a job. */
static void hold_contest(struct afs_deal *deal, uint32_t from, uint32_t room,
                         uint32_t *winners)
{
    const struct afs_job *best = *winners > 0 ? &deal->job[deal->won[*winners - 1]] : NULL;

    for (uint32_t i = from; i < deal->count; i++) {
        const struct afs_job *job = &deal->job[i];
        if (job->next.gpus == 0 || step_of(job) > room)
            continue;
        if (best != NULL && !wins(job, best))
            continue;
        deal->won[(*winners)++] = i;
        best = job;
    }
}

/* Gives GPUs one by one.  The winner among the jobs before one still wins after
 * that one got a GPU, unless one of them could have taken more than is left; so
 * the contest goes on from there, and not from the first job. */
static void deal_contest(struct afs_deal *deal, struct cs_host *host, uint32_t room)
{
    uint32_t winners = 0, from = 0, widest = 0;

    for (uint32_t i = 0; i < deal->count; i++)
        widest = find_widest(&deal->job[i], widest);
    while (room > 0) {
        hold_contest(deal, from, room, &winners);
        if (winners == 0)
            return;
        from = deal->won[--winners];
        struct afs_job *job = &deal->job[from];
        room -= step_of(job);
        take_step(job, look_ahead(deal, host, job));
        widest = find_widest(job, widest);
        if (widest > room)
            winners = from = 0;
    }
}

/* ---- a deal ---- */

/* Lists are one longer than the jobs that there may be. */
static void make_room(struct afs_deal *deal, struct cs_host *host, uint32_t count)
{
    if (count <= deal->room && deal->room > 0)
        return;
    deal->next = cs_grow(host, deal->next, &deal->room, count, sizeof *deal->next);
    deal->child = cs_alloc(host, deal->room, sizeof *deal->child);
    deal->key = cs_alloc(host, deal->room, sizeof *deal->key);
    deal->won = cs_alloc(host, deal->room, sizeof *deal->won);
}

/* Deals `room` GPUs to jobs, of which left_s, job and had are known, from nothing.  Sets
 * now.gpus.  Jobs stand in the order of submission. */
static void deal_gpus(struct afs_deal *deal, struct cs_host *host, struct afs_job *job,
                      uint32_t count, uint32_t room)
{
    make_room(deal, host, count);
    clear_classes(deal);
    deal->job = job;
    deal->count = count;
    for (uint32_t i = 0; i < count; i++)
        begin_job(deal, host, &job[i]);
    if (!deal->full) {
        for (uint32_t i = 0; i < count; i++)
            list_job(deal, i);
        room = deal_levels(deal, host, room);
    }
    if (!deal->full)
        room = deal_heaps(deal, host, room);
    if (room > 0)
        deal_contest(deal, host, room);
}

/* ---- the policy ---- */

/* Parameters first, which the host fills; then the jobs that may be resized, in the
 * order of submission, and what the last deal knew. */
struct afs {
    int64_t interval_ns, last_ns;
    struct afs_job *job;
    struct cs_size *size;
    struct afs_deal *deal;
    uint32_t count, room;
    uint32_t total;             /* GPUs that there were, at the last look */
    bool changed, once;
};

/* What is left of a job without GPUs stays so. */
static void afs_submitted(void *self, struct cs_host *host, struct job_id id)
{
    struct afs *afs = self;

    if (afs->count == afs->room) {
        afs->job = cs_grow(host, afs->job, &afs->room, afs->count, sizeof *afs->job);
        afs->size = cs_alloc(host, afs->room, sizeof *afs->size);
    }
    if (afs->deal == NULL)
        afs->deal = make_deal(host);
    afs->job[afs->count++] = (struct afs_job) {
        .job = id, .left_s = 1e-9 * (double)cs_left_ns(host, id),
        .curve = cs_curve(host, id),
    };
    afs->changed = true;
}

/* Forgets the job, and keeps the order of the others. */
static void afs_ended(void *self, struct cs_host *host, struct job_id id)
{
    struct afs *afs = self;
    uint32_t at = 0, end = afs->count;

    (void)host;
    while (at < end) {
        uint32_t middle = at + (end - at) / 2;
        if (afs->job[middle].job.i < id.i)
            at = middle + 1;
        else
            end = middle;
    }
    afs->changed = true;
    if (at == afs->count || afs->job[at].job.i != id.i)
        return;
    afs->count--;
    memmove(&afs->job[at], &afs->job[at + 1], (afs->count - at) * sizeof *afs->job);
}

/* A failure took GPUs of a job. */
static bool afs_lost(const struct afs *afs, const struct cs_host *host)
{
    for (uint32_t i = 0; i < afs->count; i++)
        if (afs->job[i].had > 0 && cs_size_now(host, afs->job[i].job) < afs->job[i].had)
            return true;
    return false;
}

/* Sets the sizes all at once; the host may grant fewer, and what it granted is
 * remembered. */
static void afs_set_sizes(struct afs *afs, struct cs_host *host)
{
    uint32_t sizes = 0;

    for (uint32_t i = 0; i < afs->count; i++)
        if (afs->job[i].now.gpus != afs->job[i].had)
            afs->size[sizes++] = (struct cs_size) { afs->job[i].job,
                                                    afs->job[i].now.gpus };
    cs_set_sizes(host, afs->size, sizes);
    for (uint32_t i = 0; i < afs->count; i++) {
        struct afs_job *job = &afs->job[i];
        if (job->now.gpus == job->had)
            continue;
        job->had = cs_size_now(host, job->job);
        if (job->had == 0)              /* stopped: as long as it waits */
            job->left_s = 1e-9 * (double)cs_left_ns(host, job->job);
    }
}

/* Sizes are computed from nothing, no sooner than an interval after the last time. */
static void afs_decide(void *self, struct cs_host *host)
{
    struct afs *afs = self;
    uint32_t room = cs_total_gpus(host, 0);
    int64_t now = cs_now_ns(host);

    if (room != afs->total)             /* nodes have come or gone */
        afs->changed = true;
    afs->total = room;
    if (afs->count == 0 || (!afs->changed && !afs_lost(afs, host)))
        return;
    int64_t due_ns = clock_after(afs->last_ns, afs->interval_ns);
    if (afs->once && now < due_ns) {
        cs_wake_at(host, due_ns);
        return;
    }
    for (uint32_t i = 0; i < afs->count; i++) {
        struct afs_job *job = &afs->job[i];
        if (job->had == 0)
            continue;
        job->left_s = 1e-9 * (double)cs_left_ns(host, job->job);
        job->had = cs_size_now(host, job->job);
    }
    deal_gpus(afs->deal, host, afs->job, afs->count, room);
    afs_set_sizes(afs, host);
    afs->changed = false;
    afs->once = true;
    afs->last_ns = now;
}

static const struct cs_param params[] = {
    { "interval", CS_PARAM_TIME, offsetof(struct afs, interval_ns), 0, 1e6,
      "0s", "sizes are set no sooner after they were set" },
};

const struct cs_policy afs_policy = {
    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),
    .name = "afs",
    .cites = "hwang2021elastic",
    .summary = "elastic: GPUs to the shorter job, or where both gain by it",
    .flags = CS_PREEMPTS | CS_RESIZES | CS_ASKS_ESTIMATES | CS_ONE_ROLE | CS_NEEDS_GPUS,
    .param_count = 1, .param = params,
    .self_bytes = sizeof(struct afs), .decide = afs_decide,
    .job_submitted = afs_submitted, .job_ended = afs_ended,
};

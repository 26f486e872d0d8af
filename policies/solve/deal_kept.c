/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * deal_kept.c - deals of which little changes, without a look at each job.
 *
 * While whole levels of steps are taken (deal_levels.c), what is left of a job decides
 * nothing: how many jobs there are of each curve says how far all of them come.  In the last
 * level some of the jobs take one step more, those that end first.  So a deal is a size of each
 * curve, and which jobs have a step more.
 *
 * Jobs of one curve that hold as many GPUs stand in a heap.  Of those that hold the step more
 * the one that ends last stands first, of the others the one that ends first.  Work that is
 * left is known by bounds: it never rises while a job keeps its GPUs, and falls no faster than
 * `per_s`.  What the bounds do not decide is asked for.
 *
 * Where there is no such deal, or much of it changes, the caller makes a whole one.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "policies/policy.h"
#include "policies/solve/deal.h"
#include "policies/solve/step_class.h"

#define GROUPS 64u              /* of jobs of one curve and size; with more no deal is kept */
#define LOOKS 192u              /* jobs that a kept deal looks at, or changes, at most */
#define CLOSE_S 1e-5            /* far above what work and bounds are rounded by */
#define LATEST_S 1e9            /* times up to which CLOSE_S is that */

/* A job in a heap.  bound_s: seconds of work left, at least or at most (of heaps that fall with
 * time, with what falls until then added). */
struct kept_item {
    double bound_s;
    uint32_t seat;
};

/* Jobs of a curve that hold as many GPUs. */
struct kept_group {
    struct kept_item *item;
    uint32_t count, room;
    uint32_t curve, gpus;
    double per_s;               /* work falls by no more in a second; 0: not at all */
    bool last;                  /* the job that ends last stands first */
};

/* What is kept of a job, by seat. */
struct kept_job {
    uint32_t job;               /* of equal jobs the lower one goes first; NONE: no job */
    uint32_t group, place;      /* its heap, and where it stands there; NONE: taken out */
};

/* How far the jobs of a curve come. */
struct kept_curve {
    uint32_t jobs;
    uint32_t any;               /* one of them */
    uint32_t steps;             /* that all of them take */
    struct step_size now, next; /* next.gpus 0: none */
    bool parts;                 /* some of its jobs have the next step, too */
};

/* A job that was looked at. */
struct kept_look {
    double key;                 /* time to its end, or its work where none has GPUs */
    double left_s;
    uint32_t seat;
    bool chosen;
};

struct cs_kept_deal {
    struct cs_deal *deal;
    cs_next_size *next_size;    /* these are called with the deal's `self` */
    cs_left_s *left_s;
    struct kept_job *job;       /* by seat */
    struct kept_curve *curve;   /* by number */
    uint32_t job_room, curve_room, curves;
    struct kept_group group[GROUPS];
    uint32_t groups;
    struct kept_look look[LOOKS];
    uint32_t looks;
    struct cs_kept_change change[LOOKS];
    uint32_t changes;
    double now_s;
    bool full;                  /* a group found no room */
};

/* ---- heaps ---- */

static bool stands_first(const struct cs_kept_deal *k, const struct kept_group *group,
                         const struct kept_item *a, const struct kept_item *b)
{
    if (a->bound_s != b->bound_s)
        return (a->bound_s < b->bound_s) != group->last;
    return (k->job[a->seat].job < k->job[b->seat].job) != group->last;
}

static void put_item(struct cs_kept_deal *k, struct kept_group *group, uint32_t at,
                     struct kept_item item)
{
    group->item[at] = item;
    k->job[item.seat].place = at;
}

/* Moves the item at `at` down to its place; all below is a heap. */
static void sink_item(struct cs_kept_deal *k, struct kept_group *group, uint32_t at)
{
    struct kept_item item = group->item[at];
    uint32_t child;

    while ((child = 2 * at + 1) < group->count) {
        if (child + 1 < group->count &&
            stands_first(k, group, &group->item[child + 1], &group->item[child]))
            child++;
        if (!stands_first(k, group, &group->item[child], &item))
            break;
        put_item(k, group, at, group->item[child]);
        at = child;
    }
    put_item(k, group, at, item);
}

/* Moves the item at `at` to its place; all others are a heap. */
static void settle_item(struct cs_kept_deal *k, struct kept_group *group, uint32_t at)
{
    struct kept_item item = group->item[at];

    for (; at > 0 && stands_first(k, group, &item, &group->item[(at - 1) / 2]); at = (at - 1) / 2)
        put_item(k, group, at, group->item[(at - 1) / 2]);
    put_item(k, group, at, item);
    sink_item(k, group, at);
}

static struct kept_item make_item(const struct cs_kept_deal *k, const struct kept_group *group,
                                  uint32_t seat, double left_s)
{
    double bound_s = left_s;

    if (group->last)
        bound_s += CLOSE_S;
    else if (group->per_s > 0)
        bound_s += group->per_s * k->now_s - CLOSE_S;
    return (struct kept_item) { bound_s, seat };
}

static void push_item(struct cs_kept_deal *k, struct kept_group *group, uint32_t seat,
                      double left_s)
{
    if (group->count == group->room)
        group->item = cs_grow(k->deal->host, group->item, &group->room, group->count,
                              sizeof *group->item);
    group->item[group->count++] = make_item(k, group, seat, left_s);
    settle_item(k, group, group->count - 1);
}

static void drop_item(struct cs_kept_deal *k, struct kept_group *group, uint32_t at)
{
    assert(at < group->count);
    k->job[group->item[at].seat].place = NONE;
    if (at == --group->count)
        return;
    group->item[at] = group->item[group->count];
    settle_item(k, group, at);
}

static double ask_left_s(const struct cs_kept_deal *k, uint32_t seat)
{
    return k->left_s(k->deal->host, k->deal->self, k->job[seat].job);
}

/* Turns a heap around.  O(jobs): a level of steps was filled, or a new one begun. */
static void turn_group(struct cs_kept_deal *k, struct kept_group *group, bool last)
{
    if (group->last == last)
        return;
    group->last = last;
    for (uint32_t i = 0; i < group->count; i++)
        group->item[i] = make_item(k, group, group->item[i].seat,
                                   ask_left_s(k, group->item[i].seat));
    for (uint32_t i = group->count; i-- > 0;)
        sink_item(k, group, i);
}

/* ---- jobs ---- */

static uint32_t find_group(struct cs_kept_deal *k, const struct cs_kept_job *job)
{
    uint32_t spare = NONE;

    for (uint32_t g = 0; g < k->groups; g++) {
        if (k->group[g].curve == job->curve && k->group[g].gpus == job->gpus)
            return g;
        if (k->group[g].count == 0)
            spare = g;
    }
    if (spare == NONE && k->groups == GROUPS)
        return NONE;
    uint32_t g = spare == NONE ? k->groups++ : spare;
    k->group[g] = (struct kept_group) { .item = k->group[g].item, .room = k->group[g].room,
                                        .curve = job->curve, .gpus = job->gpus,
                                        .per_s = job->per_s };
    return g;
}

struct cs_kept_deal *cs_make_kept_deal(struct cs_deal *deal, cs_next_size *next_size,
                                       cs_left_s *left_s)
{
    struct cs_kept_deal *k = cs_alloc(deal->host, 1, sizeof *k);

    k->deal = deal;
    k->next_size = next_size;
    k->left_s = left_s;
    return k;
}

void cs_keep_none(struct cs_kept_deal *k)
{
    for (uint32_t g = 0; g < k->groups; g++)
        k->group[g].count = 0;
    for (uint32_t c = 0; c < k->curves; c++)
        k->curve[c].jobs = 0;
    for (uint32_t s = 0; s < k->job_room; s++)
        k->job[s] = (struct kept_job) { NONE, NONE, NONE };
    k->full = false;
}

static void make_rooms(struct cs_kept_deal *k, const struct cs_kept_job *job, uint32_t seat)
{
    uint32_t before = k->job_room;

    if (seat >= k->job_room)
        k->job = cs_grow(k->deal->host, k->job, &k->job_room, seat, sizeof *k->job);
    for (uint32_t s = before; s < k->job_room; s++)
        k->job[s] = (struct kept_job) { NONE, NONE, NONE };
    if (job->curve >= k->curve_room)
        k->curve = cs_grow(k->deal->host, k->curve, &k->curve_room, job->curve,
                           sizeof *k->curve);
    if (job->curve >= k->curves)
        k->curves = job->curve + 1;
}

void cs_keep_job(struct cs_kept_deal *k, uint32_t seat, const struct cs_kept_job *job)
{
    make_rooms(k, job, seat);
    if (k->job[seat].group != NONE)
        cs_keep_no_more(k, seat);
    uint32_t g = find_group(k, job);
    k->full |= g == NONE;
    if (g == NONE)
        return;
    k->now_s = job->now_s;
    k->job[seat] = (struct kept_job) { job->job, g, NONE };
    k->curve[job->curve].jobs++;
    k->curve[job->curve].any = job->job;
    push_item(k, &k->group[g], seat, job->left_s);
}

void cs_keep_no_more(struct cs_kept_deal *k, uint32_t seat)
{
    if (seat >= k->job_room || k->job[seat].group == NONE)
        return;
    struct kept_group *group = &k->group[k->job[seat].group];
    assert(k->curve[group->curve].jobs > 0 && k->job[seat].place != NONE);
    k->curve[group->curve].jobs--;
    drop_item(k, group, k->job[seat].place);
    k->job[seat] = (struct kept_job) { NONE, NONE, NONE };
}

/* ---- levels by numbers of jobs ---- */

/* Returns a step of the jobs of a curve; those before it are known. */
static struct step_size step_at(struct cs_kept_deal *k, uint32_t curve, uint32_t number)
{
    return deal_curve_step(k->deal, k->next_size, curve, k->curve[curve].any, number);
}

/* Begins without GPUs.  `any` of a curve may be over: it is a job that a heap holds now. */
static void begin_curves(struct cs_kept_deal *k)
{
    for (uint32_t c = 0; c < k->curves; c++) {
        struct kept_curve *curve = &k->curve[c];
        curve->parts = false;
        curve->steps = 0;
        curve->now = curve->next = (struct step_size) { .class = NONE };
    }
    for (uint32_t g = 0; g < k->groups; g++)
        if (k->group[g].count > 0)
            k->curve[k->group[g].curve].any = k->job[k->group[g].item[0].seat].job;
    for (uint32_t c = 0; c < k->curves; c++)
        if (k->curve[c].jobs > 0)
            k->curve[c].next = step_at(k, c, 0);
}

/* Is the step after the next one below all top classes, as deal_levels.c asks for? */
static bool falls_below(const struct cs_kept_deal *k, const struct class_set *top,
                        struct step_size then)
{
    return then.gpus == 0 ||
           (then.class != NONE && !set_has(top, then.class) &&
            set_is_within(top, &k->deal->classes.class[then.class].above));
}

static bool is_on_top(const struct kept_curve *curve, const struct class_set *top)
{
    return curve->jobs > 0 && curve->next.gpus > 0 && set_has(top, curve->next.class);
}

/* Adds up the steps of a level: *step is theirs, if all are as large, else 0.  False: there is
 * no next level, or one of another kind. */
static bool add_steps(struct cs_kept_deal *k, struct class_set *top, uint64_t *sum, uint32_t *step)
{
    struct class_set *live = &k->deal->classes.live;

    memset(live, 0, sizeof *live);
    for (uint32_t c = 0; c < k->curves; c++)
        if (k->curve[c].jobs > 0 && k->curve[c].next.gpus > 0)
            set_put(live, k->curve[c].next.class);
    if (k->deal->classes.full || !deal_find_top(k->deal, top))
        return false;
    *sum = 0;
    *step = UINT32_MAX;
    for (uint32_t c = 0; c < k->curves; c++) {
        const struct kept_curve *curve = &k->curve[c];
        if (!is_on_top(curve, top))
            continue;
        uint32_t more = curve->next.gpus - curve->now.gpus;
        if (!falls_below(k, top, step_at(k, c, curve->steps + 1)))
            return false;
        *sum += (uint64_t)curve->jobs * more;
        *step = *step == UINT32_MAX || *step == more ? more : 0;
    }
    return !k->deal->classes.full;
}

/* All jobs of the top classes take their steps. */
static void take_level(struct cs_kept_deal *k, const struct class_set *top)
{
    for (uint32_t c = 0; c < k->curves; c++) {
        struct kept_curve *curve = &k->curve[c];
        if (!is_on_top(curve, top))
            continue;
        curve->now = curve->next;
        curve->next = step_at(k, c, ++curve->steps);
    }
}

/* Finds how far all jobs of each curve come, and marks the curves of which *chosen jobs have a
 * step more.  False: the deal is of another kind. */
static bool find_levels(struct cs_kept_deal *k, uint64_t room, uint64_t *chosen)
{
    struct class_set top;
    uint64_t sum;
    uint32_t step;
    bool steps = true;

    *chosen = 0;
    clear_classes(&k->deal->classes);
    begin_curves(k);
    while (room > 0 && steps) {
        steps = false;
        for (uint32_t c = 0; c < k->curves && !steps; c++)
            steps = k->curve[c].jobs > 0 && k->curve[c].next.gpus > 0;
        if (!steps)
            return true;
        if (!add_steps(k, &top, &sum, &step))
            return false;
        if (sum > room)
            break;
        take_level(k, &top);
        room -= sum;
    }
    if (room == 0)
        return true;
    for (EACH_CLASS(l, &top))
        if (set_meet(&k->deal->classes.class[l].above, &top))
            return false;
    if (step == 0 || room % step != 0)
        return false;
    *chosen = room / step;
    for (uint32_t c = 0; c < k->curves; c++)
        k->curve[c].parts = is_on_top(&k->curve[c], &top);
    return true;
}

/* ---- who has the step more ---- */

static double key_of(const struct cs_kept_deal *k, const struct kept_group *group, double left_s)
{
    const struct kept_curve *curve = &k->curve[group->curve];

    return curve->now.gpus > 0 ? left_s / curve->now.speedup : left_s;
}

/* Looks at the first job of a heap, and takes it out.  False: that is one too many. */
static bool look_at_first(struct cs_kept_deal *k, struct kept_group *group)
{
    uint32_t seat = group->item[0].seat;

    if (k->looks == LOOKS)
        return false;
    double left_s = group->per_s > 0 || group->last ? ask_left_s(k, seat) : group->item[0].bound_s;
    k->look[k->looks++] = (struct kept_look) { key_of(k, group, left_s), left_s, seat,
                                               group->last };
    drop_item(k, group, 0);
    return true;
}

/* Ends one job before another?  Of equal ones the one that was submitted first. */
static bool ends_before(const struct cs_kept_deal *k, const struct kept_look *a,
                        const struct kept_look *b)
{
    return a->key != b->key ? a->key < b->key : k->job[a->seat].job < k->job[b->seat].job;
}

/* Returns the job that was looked at and ends last of the chosen ones, or first of the others;
 * NULL: none was. */
static struct kept_look *find_edge(struct cs_kept_deal *k, bool chosen)
{
    struct kept_look *edge = NULL;

    for (uint32_t i = 0; i < k->looks; i++) {
        struct kept_look *look = &k->look[i];
        if (k->curve[k->group[k->job[look->seat].group].curve].parts && look->chosen == chosen &&
            (edge == NULL || ends_before(k, look, edge) != chosen))
            edge = look;
    }
    return edge;
}

/* Might the first job of a heap go beyond that one? */
static bool may_go_beyond(const struct cs_kept_deal *k, const struct kept_group *group,
                          const struct kept_look *edge)
{
    struct kept_item first = group->item[0];
    double key = key_of(k, group, first.bound_s -
                                      (group->last ? 0 : group->per_s * k->now_s));

    if (edge == NULL)
        return true;
    if (group->last || group->per_s > 0)
        return group->last ? key >= edge->key : key <= edge->key;
    return ends_before(k, &(struct kept_look) { .key = key, .seat = first.seat }, edge);
}

/* As find_edge(), of all jobs; *ok becomes false if that takes too many looks. */
static struct kept_look *look_for_edge(struct cs_kept_deal *k, bool chosen, bool *ok)
{
    struct kept_look *edge = find_edge(k, chosen);

    for (uint32_t g = 0; g < k->groups; g++) {
        struct kept_group *group = &k->group[g];
        if (!k->curve[group->curve].parts || group->last != chosen)
            continue;
        while (*ok && group->count > 0 && may_go_beyond(k, group, edge)) {
            *ok = look_at_first(k, group);
            edge = find_edge(k, chosen);
        }
    }
    return edge;
}

/* Gives heaps the order that they need; jobs that hold neither size are looked at.  Returns how
 * many hold the step more; *ok: as above. */
static uint64_t order_groups(struct cs_kept_deal *k, bool *ok)
{
    uint64_t held = 0;

    for (uint32_t g = 0; g < k->groups; g++) {
        struct kept_group *group = &k->group[g];
        const struct kept_curve *curve = &k->curve[group->curve];
        bool more = curve->parts && group->gpus == curve->next.gpus;
        if (group->count == 0)
            continue;
        turn_group(k, group, more);
        if (more)
            held += group->count;
        if (more || group->gpus == curve->now.gpus)
            continue;
        while (*ok && group->count > 0)
            *ok = look_at_first(k, group);
    }
    return held;
}

/* Chooses the jobs that have the step more: from those that hold it now, one by one. */
static bool choose_jobs(struct cs_kept_deal *k, uint64_t chosen)
{
    bool ok = true;
    uint64_t held = order_groups(k, &ok);

    for (uint32_t turn = 0; ok && turn < LOOKS; turn++) {
        struct kept_look *last = held >= chosen && held > 0 ? look_for_edge(k, true, &ok) : NULL;
        struct kept_look *first = held <= chosen ? look_for_edge(k, false, &ok) : NULL;
        if (!ok)
            return false;
        if (held < chosen && first == NULL)
            return false;
        if (held == chosen && (last == NULL || first == NULL || ends_before(k, last, first)))
            return true;
        held += (first != NULL) - (uint64_t)(last != NULL);
        if (first != NULL)
            first->chosen = true;
        if (last != NULL)
            last->chosen = false;
    }
    return false;
}

/* Lists the jobs that are to have another size than they hold, and puts all that were looked
 * at back into their heaps. */
static void list_changes(struct cs_kept_deal *k, bool ok)
{
    for (uint32_t i = 0; i < k->looks; i++) {
        const struct kept_look *look = &k->look[i];
        const struct kept_job *job = &k->job[look->seat];
        struct kept_group *group = &k->group[job->group];
        const struct kept_curve *curve = &k->curve[group->curve];
        uint32_t gpus = look->chosen && curve->parts ? curve->next.gpus : curve->now.gpus;

        push_item(k, group, look->seat, look->left_s);
        if (ok && gpus != group->gpus)
            k->change[k->changes++] = (struct cs_kept_change) { job->job, gpus };
    }
}

static void sort_changes(struct cs_kept_change *change, uint32_t count)
{
    for (uint32_t i = 1; i < count; i++) {
        struct cs_kept_change moved = change[i];
        uint32_t at = i;
        for (; at > 0 && change[at - 1].job > moved.job; at--)
            change[at] = change[at - 1];
        change[at] = moved;
    }
}

const struct cs_kept_change *cs_deal_changes(struct cs_kept_deal *k, uint64_t room, double now_s,
                                             uint32_t *count)
{
    uint64_t chosen;

    *count = k->looks = k->changes = 0;
    k->now_s = now_s;
    if (k->full || !(now_s < LATEST_S) || !find_levels(k, room, &chosen))
        return NULL;
    bool ok = choose_jobs(k, chosen);
    list_changes(k, ok);
    sort_changes(k->change, k->changes);
    *count = k->changes;
    return ok ? k->change : NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * flow.c - fluid flows in time: rates become progress, progress becomes ends.
 *
 * sim/share says what the rates are; this file says since when.  A flow keeps
 * its work left at the instant its rate last changed; a link keeps the area
 * under its load up to the instant that last changed.  Nothing is touched while
 * rates stand still.
 *
 * A crowd (share_crowd.c) has a virtual clock that runs at its level: a flow of
 * it with work w left and weight u ends w / u later on that clock, whatever
 * becomes of the level, so its flows stand in a heap by their virtual ends, and
 * only the first end is an event.  The clock is a sum of 100 bits: it runs on
 * for as long as the crowd lasts, and loses nothing beside the flows' sizes.
 *
 * Invariant: whenever time moves on, nothing is dirty: a change made at an
 * instant puts one event at that instant in LOOP_RANK_SETTLE.
 * Invariant: a flow whose rate is above 0 and that is in no crowd has a finish
 * event, and so has each crowd whose level is, for its first flow, at the end
 * rounded up to whole nanoseconds; when that fires, the flow is done, whatever
 * rounding has left of its work.
 */
#include "sim/flow/flow.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "sim/base/arena.h"
#include "sim/base/clock.h"
#include "sim/containers/lazy_heap.h"
#include "sim/event/loop.h"
#include "sim/flow/share.h"

/* A flow in time; its rate is the solver's. */
struct flow {
    double work;                /* all of it */
    double left;                /* work at since_ns; in a crowd it is not kept, see end */
    struct share_sum end;       /* on the crowd's clock, in work per weight; of a flow in a
                                 * crowd */
    int64_t since_ns;
    int64_t finish_ns;          /* CLOCK_NEVER_NS: no event */
    struct loop_handle finish;
    uint32_t generation;        /* odd while alive; a slot is used again with another one */
    flow_done_fn *done;         /* called with self and arg at its end; NULL: nobody is told */
    void *self;
    uint64_t arg;
};

/* A link in time; its load is the solver's. */
struct flow_link {
    struct share_sum area;      /* up to since_ns */
    struct share_sum crowd_time; /* at since_ns, of the crowd that crosses it */
    int64_t since_ns;
};

/* The virtual clock of a crowd. */
struct flow_crowd {
    struct share_sum time;      /* at since_ns */
    int64_t since_ns;
    struct lazy_heap ends;           /* of its flows */
    int64_t finish_ns;          /* CLOCK_NEVER_NS: no event */
    struct loop_handle finish;
};

/* All links, flows and crowds of a simulation.  The solver has arrays of the same numbers:
 * what it knows of a flow stands in share.flow, what time adds to it in `flow`. */
struct flow_net {
    uint32_t ended_at;          /* bottleneck of the flow that ended last */
    struct loop *loop;          /* events of flows that end are its own */
    struct share share;         /* the solver: who gets which rate */
    struct flow *flow;          /* beside share.flow */
    uint32_t flow_room;
    struct flow_link *link;     /* beside share.link */
    uint32_t link_room;
    struct flow_crowd *crowd;   /* beside share.crowd */
    uint32_t crowd_room;
    bool settle_pending;        /* an event at this instant will solve the changes */
    flow_heard_fn *heard;       /* or NULL */
    void *heard_self;
};

struct flow_net *flow_new(struct loop *loop)
{
    struct flow_net *net = calloc(1, sizeof *net);

    assert(loop != NULL && net != NULL);
    net->loop = loop;
    share_init(&net->share);
    return net;
}

void flow_free(struct flow_net *net)
{
    uint32_t i;

    if (net == NULL)
        return;
    assert(net->crowd_room <= net->share.crowd_room);
    for (i = 0; i < net->crowd_room; i++)
        lazy_heap_release(&net->crowd[i].ends);
    free(net->crowd);
    share_release(&net->share);
    free(net->flow);
    free(net->link);
    free(net);
}

/* Crowds in time ---------------------------------------------------------- */

/* Returns the crowd's virtual time now, in units of work per unit of weight.  For example, at
 * a level of 3 the clock moves by 6 in 2 s: a flow with weight 2 does 12 units of work in that
 * time. */
static struct share_sum crowd_time(const struct flow_net *net, uint32_t crowd)
{
    const struct flow_crowd *in_time = &net->crowd[crowd];
    int64_t past_ns = loop_now_ns(net->loop) - in_time->since_ns;
    struct share_sum time = in_time->time;

    assert(past_ns >= 0);
    share_sum_add(&time, net->share.crowd[crowd].level *
                             clock_s_from_ns(past_ns));
    return time;
}

/* Returns a - b without the error of rounding both first. */
static double sum_minus(struct share_sum a, struct share_sum b)
{
    assert(isfinite(a.hi) && isfinite(b.hi));
    share_sum_add(&a, -b.hi);
    share_sum_add(&a, -b.lo);
    return share_sum_value(a);
}

/* When the flow of a crowd ends if the level stays.  What rounding left of it
 * is nothing: a flow due at this instant stays due.  Returns CLOCK_NEVER_NS if the level is 0. */
static int64_t end_ns(const struct flow_net *net, uint32_t crowd,
                      struct share_sum end)
{
    const struct flow_crowd *in_time = &net->crowd[crowd];
    double left = sum_minus(end, in_time->time);
    int64_t need_ns;

    assert(crowd < net->crowd_room && isfinite(left));
    if (left < DBL_EPSILON * end.hi)
        left = 0;
    need_ns = clock_ns_for_work(left, net->share.crowd[crowd].level);
    assert(need_ns >= 0);
    return need_ns < CLOCK_NEVER_NS - in_time->since_ns
               ? clock_after(in_time->since_ns, need_ns)
               : CLOCK_NEVER_NS;
}

/* Of `ends`, whose items are about flows.  Is an item of a heap of ends valid? The flow's
 * stamp changes when it leaves its crowd or ends. */
static bool end_holds(const void *self, const struct lazy_heap_item *item)
{
    const struct share *share = self;

    assert(item->id < share->flow_count);
    return share->flow[item->id].stamp == item->stamp;
}

static void on_crowd(struct loop *loop, void *self, uint64_t arg);

/* Puts the event of a crowd where its first flow ends.  If the first flow has changed, the old
 * event is cancelled.  An end that rounding puts before now is now. */
static void crowd_arm(struct flow_net *net, uint32_t crowd)
{
    struct flow_crowd *in_time = &net->crowd[crowd];
    const struct lazy_heap_item *top = lazy_heap_top(&in_time->ends, end_holds,
                                                     &net->share);
    int64_t now_ns = loop_now_ns(net->loop);
    int64_t finish_ns = CLOCK_NEVER_NS;

    assert(crowd < net->crowd_room);
    if (top != NULL)
        finish_ns = end_ns(net, crowd, net->flow[top->id].end);
    if (finish_ns < now_ns)
        finish_ns = now_ns;
    if (finish_ns == in_time->finish_ns)
        return;
    if (in_time->finish_ns != CLOCK_NEVER_NS)
        loop_cancel(net->loop, in_time->finish);
    in_time->finish_ns = finish_ns;
    if (finish_ns != CLOCK_NEVER_NS)
        in_time->finish = loop_at(net->loop, finish_ns, LOOP_RANK_FINISH,
                                  on_crowd, net, crowd);
}

/* Before its level changes: the clock is read.  An empty one starts anew.  No flow of it is
 * left when the link that keeps the crowd is not crossed by it. */
static void crowd_settle(struct flow_net *net, uint32_t crowd)
{
    struct flow_crowd *in_time = &net->crowd[crowd];
    uint32_t link = net->share.crowd[crowd].link;

    assert(crowd < net->crowd_room && in_time->since_ns <= loop_now_ns(net->loop));
    in_time->time = crowd_time(net, crowd);
    in_time->since_ns = loop_now_ns(net->loop);
    if (net->share.link[link].crowd == crowd)
        return;
    in_time->time = (struct share_sum){0, 0};
    in_time->ends.count = 0;
    crowd_arm(net, crowd);
}

/* A flow whose rate was just set enters the crowd's heap of ends. */
static void crowd_join(struct flow_net *net, uint32_t slot)
{
    struct flow *flow = &net->flow[slot];
    const struct share_flow *shared = &net->share.flow[slot];
    struct flow_crowd *crowd = &net->crowd[shared->crowd];

    assert(shared->crowd < net->crowd_room && shared->weight > 0);
    assert(crowd->since_ns == flow->since_ns);
    if (flow->finish_ns <= flow->since_ns)
        return;                 /* it is due, and its event is pending */
    if (flow->finish_ns != CLOCK_NEVER_NS)
        loop_cancel(net->loop, flow->finish);
    flow->finish_ns = CLOCK_NEVER_NS;
    flow->end = crowd->time;
    share_sum_add(&flow->end, flow->left / shared->weight);
    lazy_heap_push(&crowd->ends,
                   (struct lazy_heap_item){flow->end.hi, flow->end.lo, slot,
                                           shared->stamp},
                   end_holds, &net->share);
}

/* Links in time ----------------------------------------------------------- */

/* Returns the area under a link's load since it was settled.  The load of flows outside of the
 * crowd is constant since then.  The crowd's part is its demand times the time that its clock
 * has moved, whatever its level was meanwhile. */
static double area_since(const struct flow_net *net, uint32_t link)
{
    assert(link < net->link_room);
    const struct share_link *shared = &net->share.link[link];
    int64_t past_ns = loop_now_ns(net->loop) - net->link[link].since_ns;
    double area;

    assert(past_ns >= 0);
    if (past_ns == 0)
        return 0;
    area = share_sum_value(shared->load) * clock_s_from_ns(past_ns);
    if (shared->crowd == SHARE_NONE)
        return area;
    return area + share_sum_value(net->share.across[link].demand) *
                      sum_minus(crowd_time(net, shared->crowd),
                                net->link[link].crowd_time);
}

/* Adds to the area of a link what it carried since it was settled last.  To be called before
 * its load changes, since the load of now is taken for all of that time. */
static void area_settle(struct flow_net *net, uint32_t link)
{
    int64_t now_ns = loop_now_ns(net->loop);

    assert(net->link[link].since_ns <= now_ns);
    if (net->link[link].since_ns == now_ns)
        return;
    share_sum_add(&net->link[link].area, area_since(net, link));
    net->link[link].since_ns = now_ns;
}

/* Before the load of any link may change that was just solved. */
static void solved_areas_settle(struct flow_net *net)
{
    const struct share_list *set_link = &net->share.set_link;
    uint32_t i;

    assert(set_link->count <= net->share.link_count);
    for (i = 0; i < set_link->count; i++)
        area_settle(net, set_link->item[i]);
}

/* Settles the links of a flow. */
static void flow_areas_settle(struct flow_net *net, uint32_t slot)
{
    const struct share_flow *shared = &net->share.flow[slot];
    const struct share_use *use = share_uses(&net->share, shared);
    uint32_t k;

    assert(shared->live);
    for (k = 0; k < shared->use_count; k++)
        area_settle(net, use[k].link);
}

/* Flows in time ----------------------------------------------------------- */

/* Work left now; the rate in force has been so since since_ns. */
static double left_now(const struct flow_net *net, uint32_t slot)
{
    const struct flow *flow = &net->flow[slot];
    const struct share_flow *shared = &net->share.flow[slot];
    int64_t now_ns = loop_now_ns(net->loop);
    double left;

    assert(now_ns >= flow->since_ns);
    if (flow->finish_ns <= now_ns)
        return 0;
    if (shared->crowd == SHARE_NONE)
        left = flow->left -
               shared->rate * clock_s_from_ns(now_ns - flow->since_ns);
    else if (end_ns(net, shared->crowd, flow->end) <= now_ns)
        return 0;
    else
        left = sum_minus(flow->end, crowd_time(net, shared->crowd)) *
               shared->weight;
    assert(isfinite(left));
    return left > 0 ? left : 0;
}

/* Tells what was done of a flow.  The uses are copied into an array of 64, and one with more
 * is told in several calls. */
static void tell_done(const struct flow_net *net, uint32_t slot, double left,
                      flow_heard_fn *heard, void *self)
{
    const struct share_flow *shared = &net->share.flow[slot];
    const struct share_use *use = share_uses(&net->share, shared);
    struct flow_use told[64];
    double done = net->flow[slot].work - left;

    assert(left >= 0);
    for (uint32_t k = 0; k < shared->use_count;) {
        uint32_t n = 0;

        for (; n < 64 && k < shared->use_count; n++, k++)
            told[n] = (struct flow_use){ use[k].link, use[k].per_unit };
        heard(self, told, n, done, net->flow[slot].arg);
    }
}

/* Its last event's slot is passed as the argument; gone means gone. */
static void flow_remove(struct flow_net *net, uint32_t slot)
{
    struct flow *flow = &net->flow[slot];
    uint32_t crowd = net->share.flow[slot].crowd;

    assert((flow->generation & 1) == 1);
    flow_areas_settle(net, slot);
    share_drop(&net->share, slot);
    flow->generation++;
    if (crowd != SHARE_NONE)
        crowd_arm(net, crowd);
}

static void settle_later(struct flow_net *net);

/* A flow has ended: it goes, and its owner is told. */
static void finish_flow(struct flow_net *net, uint32_t slot)
{
    struct flow flow = net->flow[slot];

    assert((flow.generation & 1) == 1);
    if (net->heard != NULL)
        tell_done(net, slot, 0, net->heard, net->heard_self);
    net->ended_at = net->share.flow[slot].bottleneck;
    flow_remove(net, slot);
    settle_later(net);
    if (flow.done != NULL)
        flow.done(flow.self, flow.arg);
}

/* The event of a single flow fires: the flow is done, whatever rounding has
 * left of its work. */
static void on_finish(struct loop *loop, void *self, uint64_t arg)
{
    struct flow_net *net = self;
    uint32_t slot = (uint32_t)arg;

    assert(loop == net->loop);
    assert(net->flow[slot].finish_ns == loop_now_ns(loop));
    finish_flow(net, slot);
}

/* The event of a crowd stands where its first flow ends, as crowd_arm is called
 * whenever that may be another. */
static void on_crowd(struct loop *loop, void *self, uint64_t arg)
{
    struct flow_net *net = self;
    struct flow_crowd *in_time = &net->crowd[arg];
    const struct lazy_heap_item *top = lazy_heap_top(&in_time->ends, end_holds,
                                                     &net->share);

    assert(loop == net->loop && in_time->finish_ns == loop_now_ns(loop));
    assert(top != NULL && net->share.flow[top->id].crowd == arg);
    in_time->finish_ns = CLOCK_NEVER_NS;
    finish_flow(net, top->id);
}

/* Moves the finish to where the rate in force puts it.  A flow due at this
 * very instant stays due. */
static void finish_move(struct flow_net *net, uint32_t slot)
{
    struct flow *flow = &net->flow[slot];
    int64_t now_ns = loop_now_ns(net->loop);
    int64_t need_ns, finish_ns;

    assert(flow->since_ns == now_ns);
    if (flow->finish_ns <= now_ns)
        return;
    need_ns = clock_ns_for_work(flow->left, net->share.flow[slot].rate);
    finish_ns = clock_after(now_ns, need_ns);
    if (finish_ns == flow->finish_ns)
        return;
    if (flow->finish_ns != CLOCK_NEVER_NS)
        loop_cancel(net->loop, flow->finish);
    flow->finish_ns = finish_ns;
    if (finish_ns != CLOCK_NEVER_NS)
        flow->finish = loop_at(net->loop, finish_ns, LOOP_RANK_FINISH,
                               on_finish, net, slot);
    assert(flow->finish_ns >= now_ns);
}

/* Puts the solved rate of one flow in force from now on; the areas of its
 * links are settled. */
static void rate_change(struct flow_net *net, uint32_t slot, uint32_t crowd)
{
    struct flow *flow = &net->flow[slot];

    assert((flow->generation & 1) == 1);
    flow->left = left_now(net, slot);
    flow->since_ns = loop_now_ns(net->loop);
    share_commit(&net->share, slot, crowd);
    assert(net->share.flow[slot].crowd == crowd);
    if (crowd == SHARE_NONE)
        finish_move(net, slot);
    else
        crowd_join(net, slot);
}

/* Takes a flow out of its crowd; one that is due at this instant stays due.  One whose work is
 * done gets an event of its own at this instant, since the crowd's heap no longer has it. */
static void crowd_leave(struct flow_net *net, uint32_t slot)
{
    struct flow *flow = &net->flow[slot];
    int64_t now_ns = loop_now_ns(net->loop);

    assert(net->share.flow[slot].crowd != SHARE_NONE);
    flow->left = left_now(net, slot);
    flow->since_ns = now_ns;
    share_leave(&net->share, slot);
    if (flow->left > 0 || flow->finish_ns <= now_ns)
        return;
    flow->finish_ns = now_ns;
    flow->finish = loop_at(net->loop, now_ns, LOOP_RANK_FINISH, on_finish, net,
                           slot);
}

/* Settling ---------------------------------------------------------------- */

/* There may be new crowds.  The arrays beside the solver's grow with them; new clocks stand at
 * 0. */
static void crowds_match(struct flow_net *net)
{
    uint32_t i = net->crowd_room;

    if (net->share.crowd_room == i)
        return;
    ARENA_REACH(NULL, net->crowd, net->crowd_room, net->share.crowd_room - 1);
    for (; i < net->crowd_room; i++)
        net->crowd[i] = (struct flow_crowd){.finish_ns = CLOCK_NEVER_NS};
    assert(net->crowd_room == net->share.crowd_room);
}

/* The flows just solved leave their crowds, whose levels change then.  First all flows leave,
 * so that each takes its work left along by the old level; then the clocks are read; only then
 * the levels change. */
static void crowds_begin(struct flow_net *net)
{
    struct share *share = &net->share;
    uint32_t i;

    assert(share_has_crowds(share));
    crowds_match(net);
    for (i = 0; i < share->set.count; i++)
        if (share->flow[share->set.item[i]].crowd != SHARE_NONE)
            crowd_leave(net, share->set.item[i]);
    for (i = 0; i < share->set_link.count; i++) {
        uint32_t crowd = share->link[share->set_link.item[i]].kept;

        if (crowd != SHARE_NONE)
            crowd_settle(net, crowd);
    }
    share_levels(share);
}

/* From here on the crowd's part of the link's area counts. */
static void crowd_time_note(struct flow_net *net, uint32_t link)
{
    uint32_t crowd = net->share.link[link].crowd;

    assert(link < net->link_room);
    if (crowd != SHARE_NONE)
        net->link[link].crowd_time = crowd_time(net, crowd);
}

/* All rates are in force.  Limits of crowds are made of the loads of all flows,
 * and so only now. */
static void crowds_end(struct flow_net *net)
{
    struct share *share = &net->share;
    uint32_t i;

    assert(!share_is_dirty(share));
    share_limits(share);
    for (i = 0; i < share->set_link.count; i++) {
        uint32_t link = share->set_link.item[i];

        crowd_time_note(net, link);
        if (share->link[link].kept != SHARE_NONE)
            crowd_arm(net, share->link[link].kept);
    }
}

/* Solves what changed at this instant and puts the new rates in force: the
 * areas of links first, since they end with the old load, then the flows.  A flow whose rate
 * stays and that joins no crowd keeps its event. */
static void settle_rates(struct flow_net *net)
{
    struct share *share = &net->share;
    bool crowds;
    uint32_t i;

    if (!share_is_dirty(share))
        return;
    share_solve(share);
    crowds = share_has_crowds(share);
    solved_areas_settle(net);
    if (crowds)
        crowds_begin(net);
    for (i = 0; i < share->set.count; i++) {
        uint32_t slot = share->set.item[i];
        const struct share_flow *shared = &share->flow[slot];
        uint32_t crowd = crowds ? share_joins(share, slot) : SHARE_NONE;

        if (shared->next != shared->rate || crowd != SHARE_NONE)
            rate_change(net, slot, crowd);
        else if (crowds)
            share_commit(share, slot, SHARE_NONE);
    }
    if (crowds)
        crowds_end(net);
    assert(!share_is_dirty(share));
}

/* The event of LOOP_RANK_SETTLE: all changes of this instant are known. */
static void on_settle(struct loop *loop, void *self, uint64_t arg)
{
    struct flow_net *net = self;

    assert(loop == net->loop && net->settle_pending);
    (void)arg;
    net->settle_pending = false;
    settle_rates(net);
}

/* Sees to it that changes are solved before the clock moves: one event of
 * LOOP_RANK_SETTLE for all changes of an instant. */
static void settle_later(struct flow_net *net)
{
    if (net->settle_pending || !share_is_dirty(&net->share))
        return;
    net->settle_pending = true;
    loop_at(net->loop, loop_now_ns(net->loop), LOOP_RANK_SETTLE, on_settle,
            net, 0);
}

/* Links ------------------------------------------------------------------- */

/* The area of the link counts from now on. */
uint32_t flow_link_add(struct flow_net *net, double capacity)
{
    uint32_t link = share_link_add(&net->share, capacity);

    ARENA_REACH(NULL, net->link, net->link_room, link);
    net->link[link].area = (struct share_sum){0, 0};
    net->link[link].since_ns = loop_now_ns(net->loop);
    return link;
}

void flow_link_set(struct flow_net *net, uint32_t link, double capacity)
{
    share_link_set(&net->share, link, capacity);
    settle_later(net);
}

uint32_t flow_link_count(const struct flow_net *net)
{
    return net->share.link_count;
}

double flow_link_load(struct flow_net *net, uint32_t link)
{
    assert(link < net->share.link_count);
    settle_rates(net);
    return share_link_load(&net->share, &net->share.link[link]);
}

/* Needs no settling: a change at this instant has moved no work yet. */
double flow_link_area(struct flow_net *net, uint32_t link)
{
    struct share_sum area;

    assert(link < net->share.link_count);
    area = net->link[link].area;
    share_sum_add(&area, area_since(net, link));
    return share_sum_value(area);
}

double flow_link_capacity(const struct flow_net *net, uint32_t link)
{
    assert(link < net->share.link_count);
    return net->share.link[link].capacity;
}

/* Flows ------------------------------------------------------------------- */

bool flow_alive(const struct flow_net *net, struct flow_handle handle)
{
    return handle.slot < net->share.flow_count &&
           (handle.generation & 1) == 1 &&
           net->flow[handle.slot].generation == handle.generation;
}

/* Returns the weight of the dominant share of a flow (flow.h); 1 without uses.  For example, a
 * unit takes 2 of a link of 10 and 3 of a link of 60: the parts are 0.2 and 0.05, and the
 * weight is 5. */
static double dominant_weight(const struct flow_net *net, const struct flow_spec *spec)
{
    double part = 0;

    for (uint32_t k = 0; k < spec->use_count; k++) {
        double capacity = flow_link_capacity(net, spec->use[k].link);

        assert(capacity > 0 && spec->use[k].per_unit > 0);
        part = fmax(part, spec->use[k].per_unit / capacity);
    }
    return part > 0 ? 1 / part : 1;
}

/* Takes a number for a flow, in the solver and here; numbers are used again. */
static uint32_t slot_take(struct flow_net *net, const struct flow_spec *spec)
{
    double weight = spec->weight > 0 ? spec->weight : dominant_weight(net, spec);
    uint32_t slot = share_add(&net->share, weight, spec->rate_max, spec->use_count);

    ARENA_REACH(NULL, net->flow, net->flow_room, slot);
    return slot;
}

/* A flow without links runs at its cap; the solver never hears of it. */
static void rate_unshared(struct flow_net *net, uint32_t slot)
{
    struct share_flow *shared = &net->share.flow[slot];

    assert(shared->use_count == 0 && isfinite(shared->rate_max));
    shared->next = shared->rate_max;
    if (shared->next != shared->rate)
        rate_change(net, slot, SHARE_NONE);
}

/* Rates are not computed here: all changes of one instant are settled once, at
 * its end. */
struct flow_handle flow_start(struct flow_net *net,
                              const struct flow_spec *spec)
{
    struct flow *flow;
    uint32_t slot, k;

    assert(spec->work > 0 && isfinite(spec->work) && spec->weight >= 0);
    assert(spec->use_count > 0 || isfinite(spec->rate_max));
    slot = slot_take(net, spec);
    assert(slot < net->flow_room && (net->flow[slot].generation & 1) == 0);
    flow = &net->flow[slot];
    flow->work = flow->left = spec->work;
    flow->since_ns = loop_now_ns(net->loop);
    flow->finish_ns = CLOCK_NEVER_NS;
    flow->generation++;
    flow->done = spec->done;
    flow->self = spec->self;
    flow->arg = spec->arg;
    for (k = 0; k < spec->use_count; k++)
        share_use(&net->share, slot, k, spec->use[k].link,
                  spec->use[k].per_unit);
    if (spec->use_count > 0)
        share_dirty(&net->share, slot);
    else
        rate_unshared(net, slot);
    settle_later(net);
    return (struct flow_handle){slot, flow->generation};
}

/* The solver looks at the links again at the end of this instant. */
double flow_stop(struct flow_net *net, struct flow_handle handle)
{
    struct flow *flow;
    double left;

    if (!flow_alive(net, handle))
        return 0;
    flow = &net->flow[handle.slot];
    left = left_now(net, handle.slot);
    if (flow->finish_ns != CLOCK_NEVER_NS)
        loop_cancel(net->loop, flow->finish);
    if (net->heard != NULL)
        tell_done(net, handle.slot, left, net->heard, net->heard_self);
    flow_remove(net, handle.slot);
    settle_later(net);
    assert(left >= 0);
    return left;
}

/* A flow without a link runs at its cap; others are marked, and settled
 * later. */
void flow_set_cap(struct flow_net *net, struct flow_handle handle,
                  double rate_max)
{
    const struct share_flow *shared;

    assert(rate_max >= 0);
    if (!flow_alive(net, handle))
        return;
    shared = &net->share.flow[handle.slot];
    if (shared->rate_max == rate_max)
        return;
    share_cap(&net->share, handle.slot, rate_max);
    if (shared->use_count == 0)
        rate_unshared(net, handle.slot);
    settle_later(net);
}

void flow_set_arg(struct flow_net *net, struct flow_handle handle, uint64_t arg)
{
    if (flow_alive(net, handle))
        net->flow[handle.slot].arg = arg;
}

double flow_rate(struct flow_net *net, struct flow_handle handle)
{
    if (!flow_alive(net, handle))
        return 0;
    settle_rates(net);
    assert(!share_is_dirty(&net->share));
    return share_rate(&net->share, &net->share.flow[handle.slot]);
}

double flow_left(struct flow_net *net, struct flow_handle handle)
{
    return flow_alive(net, handle) ? left_now(net, handle.slot) : 0;
}

uint32_t flow_ended_at(const struct flow_net *net)
{
    return net->ended_at;
}

uint32_t flow_bottleneck(struct flow_net *net, struct flow_handle handle)
{
    if (!flow_alive(net, handle))
        return UINT32_MAX;
    settle_rates(net);
    assert(!share_is_dirty(&net->share));
    return net->share.flow[handle.slot].bottleneck;
}

/* For audits -------------------------------------------------------------- */

void flow_listen(struct flow_net *net, flow_heard_fn *heard, void *self)
{
    assert(heard != NULL && net->heard == NULL);
    net->heard = heard;
    net->heard_self = self;
}

/* A flow without links is not told of. */
void flow_each(struct flow_net *net, flow_heard_fn *heard, void *self)
{
    assert(heard != NULL);
    for (uint32_t i = 0; i < net->share.flow_count; i++)
        if (net->share.flow[i].live)
            tell_done(net, i, left_now(net, i), heard, self);
}

bool flow_is_fair(const struct flow_net *net, uint32_t *flow)
{
    assert(!share_is_dirty(&net->share));
    return share_is_fair(&net->share, flow);
}

uint32_t flow_count(const struct flow_net *net)
{
    assert(net->share.live_count <= net->share.flow_count);
    return net->share.live_count;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * audit_leases_test.c - the audit of leases hears facts of a host that does wrong.
 *
 * No host does so: what it may not do is played to the audit, which is compiled here with
 * leases and requests of this file in their place.  The second opinion is played a host that
 * says a wrong part of a phase.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "models/cluster/rented.h"
#include "models/jobs/job.h"
#include "models/jobs/speedup.h"
#include "policies/policy.h"

static struct cs_lease fake_lease;
static struct job_request fake_request;

#define cs_lease(HOST, ID) ((void)(HOST), (void)(ID), &fake_lease)
#define cs_request(HOST, ID) ((void)(HOST), &fake_request)
#include "experiments/audit/leases.c"
#undef cs_lease
#undef cs_request

#include "experiments/recount/held.h"
#include "experiments/spec/trial_spec.h"
#include "models/types/facts.h"
#include "policies/state/lease_slot.h"
#include "policies/state/state.h"
#include "sim/event/loop.h"
#include "sim/flow/flow.h"
#include "tests/aid/cluster_aid.h"

#define A_TYPE 3u
#define L_TYPE 5u

/* Two pools with a node each: p of four GPUs of 50 to 450 W, q of four of 20 to 120 W.  A
 * node without its GPUs draws 100 W, and 300 W with all of its ten cores at work. */
struct played {
    struct gpu_type gpu[2];
    struct node_group group[2];
    struct cluster_spec cluster;
    struct job_form form;
    struct share share[2];
    struct audit_checks checks;
    struct audit_parts parts;
    int64_t now_ns;
};

/* Begins anew; q is rented where `rent` is not NULL. */
static void begin_rented(struct played *p, double cap_w, const struct rent_spec *rent)
{
    memset(p, 0, sizeof *p);
    p->gpu[0] = (struct gpu_type){ .name = "a", .index = A_TYPE, .tdp_w = 450, .idle_w = 50,
                                   .memory_bytes = 80 * 1048576.0 };
    p->gpu[1] = (struct gpu_type){ .name = "l", .index = L_TYPE, .tdp_w = 120, .idle_w = 20,
                                   .memory_bytes = 40 * 1048576.0 };
    p->cluster = cluster_aid_new(p->group);
    for (unsigned g = 0; g < 2; g++) {
        p->group[g] = (struct node_group){
            .pool = g, .node_count = 1, .gpu = &p->gpu[g], .gpus = 4, .cores = 10,
            .memory_bytes = 1000, .idle_w = 100, .max_w = 300
        };
        cluster_aid_count(&p->cluster, &p->group[g]);
    }
    p->group[1].rent = rent;
    p->cluster.pue = 1;
    p->cluster.power_cap_w = cap_w;
    p->cluster.unpriced = true;
    p->form.role[0].gpus = 2;
    p->form.role_count = 1;
    fake_request = (struct job_request){ .form = &p->form };
    p->parts.arena = arena_new(1 << 12);
    p->parts.journal = journal_new(p->parts.arena);
    p->parts.loop = loop_new((struct loop_limits){ .event_count_max = 1 });
    p->parts.cluster = &p->cluster;
    p->checks.loop = p->parts.loop;
    audit_leases_new(&p->parts, &p->checks);
}

static void begin(struct played *p, double cap_w)
{
    begin_rented(p, cap_w, NULL);
}

static void end(struct played *p)
{
    loop_free(p->parts.loop);
    arena_free(p->parts.arena);
}

static void tell(struct played *p, enum fact_kind kind, uint32_t subject)
{
    struct fact fact = { .time_ns = p->now_ns, .kind = kind, .subject = subject };

    journal_tell(p->parts.journal, &fact);
}

/* A lease of those GPUs and cores of a node is taken. */
static void take(struct played *p, uint32_t lease, uint32_t node, uint64_t gpus, uint32_t cores)
{
    p->share[0] = (struct share){ .node = node, .gpu_mask = gpus, .cores = cores };
    fake_lease = (struct cs_lease){ .placement = { p->share, 1 } };
    tell(p, FACT_LEASE_TAKE, lease);
}

/* What the audit says of a lease of two GPUs of a node; "": nothing. */
static const char *said(struct played *p, uint32_t node, uint64_t gpus)
{
    take(p, 0, node, gpus, 1);
    return p->checks.broken == NULL ? "" : p->checks.broken;
}

static void a_lease_lies_in_the_pool_of_its_role(void **state)
{
    struct played p;

    (void)state;
    for (unsigned node = 0; node < 2; node++) {
        begin(&p, 0);
        p.form.role[0].pool = "q";
        assert_string_equal(said(&p, node, 3), node == 1 ? "" :
                            "a lease lies in another pool than its role asks for");
        assert_true(p.checks.broken == NULL || p.checks.kind == AUDIT_CAPACITY);
        end(&p);
    }
}

static void a_lease_holds_types_of_its_role(void **state)
{
    static const uint32_t both[] = { L_TYPE, A_TYPE };
    struct played p;

    (void)state;
    for (unsigned types = 0; types < 3; types++) {
        begin(&p, 0);
        p.form.role[0].gpu_types = both;
        p.form.role[0].gpu_type_count = types;          /* none: any */
        assert_string_equal(said(&p, 0, 3), types != 1 ? "" :
                            "a lease holds GPUs of a type that its role does not ask for");
        end(&p);
    }
}

/* Its second share is the wrong one. */
static void every_share_of_a_lease_is_looked_at(void **state)
{
    static const uint32_t a[] = { A_TYPE };
    struct played p;

    (void)state;
    begin(&p, 0);
    p.form.role[0].gpu_types = a;
    p.form.role[0].gpu_type_count = 1;
    p.share[0] = (struct share){ .node = 0, .gpu_mask = 1 };
    p.share[1] = (struct share){ .node = 1, .gpu_mask = 1 };
    fake_lease = (struct cs_lease){ .placement = { p.share, 2 } };
    tell(&p, FACT_LEASE_TAKE, 0);
    assert_non_null(p.checks.broken);
    end(&p);
}

static void a_lease_has_a_rate_and_memory_and_gpus(void **state)
{
    struct job_rates rates = { .pool_mask = 1u << 1, .pool_count = 2 };
    struct played p;

    (void)state;
    begin(&p, 0);
    fake_request.rates = &rates;
    assert_string_equal(said(&p, 0, 3), "a lease lies in a pool where its job has no rate");
    end(&p);
    begin(&p, 0);
    fake_request.gpu_mib = 41;                  /* of 80 and 40 */
    assert_string_equal(said(&p, 0, 3), "");
    end(&p);
    begin(&p, 0);
    fake_request.gpu_mib = 41;
    assert_string_equal(said(&p, 1, 3),
                        "a lease holds GPUs with less memory than its job asks for");
    end(&p);
    begin(&p, 0);
    assert_string_equal(said(&p, 0, 0), "a lease is on cores alone, and its role needs GPUs");
    end(&p);
    begin(&p, 0);
    p.form.role[0].on_cores.cores = 1;
    assert_string_equal(said(&p, 0, 0), "");
    end(&p);
}

/* Both nodes stand by at 2 x 100 + 4 x 50 + 4 x 20 = 480 W.  Two GPUs of q and five cores
 * are 2 x 100 + 5 x 20 = 300 W more, two of p 800 W: 1,580 W in all, and 1,280 W when the
 * first lease is gone. */
static void what_could_be_drawn_is_at_most_the_cap(void **state)
{
    static const double cap_w[] = { 1580, 1579.9, 779, 1280 };
    static const unsigned breaks[] = { 0, 2, 1, 2 };       /* at which lease */
    struct played p;

    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        begin(&p, cap_w[i]);
        take(&p, 0, 1, 3, 5);
        assert_int_equal(p.checks.broken != NULL, breaks[i] == 1);
        take(&p, 1, 0, 3, 0);
        assert_int_equal(p.checks.broken != NULL, breaks[i] > 0);
        if (breaks[i] > 0)
            assert_string_equal(p.checks.broken,
                                "leases and nodes could draw more than power_cap");
        end(&p);
    }
    begin(&p, 1280);
    take(&p, 0, 1, 3, 5);
    tell(&p, FACT_LEASE_DROP, 0);
    take(&p, 1, 0, 3, 0);
    assert_null(p.checks.broken);
    end(&p);
}

/* The node of q, 180 W, is rented: it counts from its order to its end.  That of p stands by
 * at 300 W, and two of its GPUs make 1,100 W. */
static void a_rented_node_draws_from_its_order_to_its_end(void **state)
{
    static const struct rent_spec rent;
    struct played p;

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        begin_rented(&p, i == 0 ? 1280 : 1279, &rent);
        take(&p, 0, 0, 3, 0);
        assert_null(p.checks.broken);
        tell(&p, FACT_RENT_ORDER, 1);
        assert_int_equal(p.checks.broken != NULL, i == 1);
        tell(&p, FACT_RENT_UP, 1);
        tell(&p, FACT_RENT_END, 1);
        tell(&p, FACT_RENT_ORDER, 1);
        assert_int_equal(p.checks.broken != NULL, i == 1);
        end(&p);
    }
}

static void hear_flow(void *self, const struct flow_use *use, uint32_t count, double work,
                      uint64_t lease)
{
    (void)use;
    (void)count;
    held_flowed(self, lease, work);
}

/* A phase on two GPUs, which alone takes 10 s, is cut at 10 s.  Its link lets 0.05 of it through
 * in a second: a half has run, and its GPUs were busy for 0.8 of 5 s, though the host says that
 * all ran.  Without a flow nothing slows it, though the host says that a quarter ran; the copy of
 * another lease, which is cut as it begins at that instant, is no flow of it.  Step by step the
 * host is asked. */
static void what_flowed_of_a_phase_is_what_ran(void **state)
{
    static const struct { bool flows, copies, by_step; double said, busy_s; } row[] = {
        { true, false, false, 1, 8 }, { false, false, false, 0.25, 16 },
        { false, true, false, 0.25, 16 }, { false, false, true, 0.25, 4 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        struct loop *loop = loop_new((struct loop_limits){ .until_ns = 10000000000,
                                                           .event_count_max = 100 });
        struct flow_net *net = flow_new(loop);
        struct flow_use use = { flow_link_add(net, 0.05), 1 };
        struct flow_spec flow = { .work = 1, .weight = 1, .rate_max = 0.1, .use = &use,
                                  .use_count = 1 };
        struct cluster_spec cluster = { .pool_count = 0 };
        struct trial_spec spec = { .cluster = &cluster, .by_step = row[i].by_step };
        struct host_lease_slot slot = { .run = { .rate_max = 0.1, .busy_fraction = 0.8,
                                                 .part = row[i].said } };
        struct host_leases leases = { .slot = &slot, .count = 1 };
        struct cs_host host = { .parts = { .loop = loop }, .leases = &leases };
        struct held_lease lease[] = {
            { .live = true, .does = HELD_WORKS, .milli = 2000, .flowed = -1 },
            { .live = true, .does = HELD_LOADS, .milli = 1000, .flowed = -1 }
        };
        struct held held = { .spec = &spec, .host = &host, .lease = lease, .room = 2 };
        struct fact end = { .time_ns = 10000000000 };

        struct flow_handle runs = flow_start(net, &flow);
        (void)loop_run(loop);
        flow_listen(net, hear_flow, &held);
        if (row[i].flows)
            (void)flow_stop(net, runs);
        if (row[i].copies)
            held_flowed(&held, 1, 0);
        held_phase(&held, &end);
        if (fabs(held.busy_s - row[i].busy_s) > 1e-6 || held.phase_s != 20)
            fail_msg("row %zu: busy for %g s", i, held.busy_s);
        flow_free(net);
        loop_free(loop);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_flowed_of_a_phase_is_what_ran),
        cmocka_unit_test(a_lease_lies_in_the_pool_of_its_role),
        cmocka_unit_test(a_lease_holds_types_of_its_role),
        cmocka_unit_test(every_share_of_a_lease_is_looked_at),
        cmocka_unit_test(a_lease_has_a_rate_and_memory_and_gpus),
        cmocka_unit_test(what_could_be_drawn_is_at_most_the_cap),
        cmocka_unit_test(a_rented_node_draws_from_its_order_to_its_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

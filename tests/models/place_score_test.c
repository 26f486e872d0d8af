/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_score_test.c - the scores of single nodes: fgd against a search over all that it could
 * do, and every score blind to what lies behind a node's last GPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include "models/cluster/place.h"
#include "models/cluster/place_parts.h"
#include "sim/base/rng.h"

#define WORLDS 4000
#define GPUS 8

struct one {
    uint16_t left[GPUS + 1], sizes[4];
    struct place_kind kind[5];
    struct place_world world;
    struct place_node node;
    struct place_task task;
};

static void draw_kind(struct rng *rng, struct place_kind *kind)
{
    static const uint32_t milli[] = { 1000, 1000, 500, 250 };

    kind->task.gpus = (uint32_t)rng_below(rng, 4);
    kind->task.gpu_milli = kind->task.gpus == 1 ? milli[rng_below(rng, 4)] : 1000;
    kind->task.core_milli = (int64_t)(1000 * rng_below(rng, 5));
    kind->type_mask = rng_below(rng, 3) == 0 ? 1 : UINT64_MAX;
    kind->weight = (double)(1 + rng_below(rng, 4));
}

/* A node, and a task that it holds. */
static void draw(struct rng *rng, struct one *w)
{
    static const uint16_t left[] = { 0, 250, 500, 700, 1000, 1000 };
    uint32_t idle = 0;

    memset(w, 0, sizeof *w);
    w->node = (struct place_node){ .core_milli = (int64_t)(1000 * (4 + rng_below(rng, 8))),
                                   .gpus = 1 + (uint32_t)rng_below(rng, GPUS),
                                   .gpu_type = (uint32_t)rng_below(rng, 2), .left = w->left,
                                   .kinds = w->sizes, .kind_count = 4 };
    for (uint32_t g = 0; g < w->node.gpus; g++) {
        w->left[g] = left[rng_below(rng, 6)];
        idle += w->left[g] == 1000;
    }
    for (uint32_t k = 0; k < 4; k++)
        w->sizes[k] = (uint16_t)rng_below(rng, 2);
    for (uint32_t k = 0; k < 5; k++)
        draw_kind(rng, &w->kind[k]);
    w->world = (struct place_world){ 16000, 8000, w->kind, 5 };
    do {
        struct place_kind kind;
        draw_kind(rng, &kind);
        w->task = kind.task;
    } while (w->task.gpu_milli == 1000 && w->task.gpus > idle);
    if (w->task.gpu_milli < 1000)
        w->left[rng_below(rng, w->node.gpus)] = 700;
}

/* What of a node's free GPUs each kind cannot use, as the paper says. */
static double lost_milli(const struct one *w, const uint16_t *left, int64_t cores)
{
    double sum = 0;

    for (uint32_t k = 0; k < w->world.kind_count; k++) {
        const struct place_kind *kind = &w->world.kind[k];
        double small = 0, all = 0;
        uint32_t fit = 0;
        for (uint32_t g = 0; g < w->node.gpus; g++) {
            bool takes = left[g] >= kind->task.gpu_milli;
            fit += takes;
            all += left[g];
            small += takes ? 0 : left[g];
        }
        bool typed = w->node.gpu_type < 64 &&
                     (kind->type_mask & UINT64_C(1) << w->node.gpu_type) != 0;
        bool can = kind->task.gpus > 0 && typed && cores >= kind->task.core_milli &&
                   fit >= kind->task.gpus;
        sum += kind->weight * (can ? small : all);
    }
    return sum;
}

static void fgd_takes_what_loses_least(void **state)
{
    struct one w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 1, "fgd", 0);
    for (int i = 0; i < WORLDS; i++) {
        draw(&rng, &w);
        double before = lost_milli(&w, w.left, w.node.core_milli);
        assert_true(fabs(place_fragment(&w.world, &w.node) - before) < 1e-9);
        int64_t cores = w.node.core_milli - w.task.core_milli;
        bool part = w.task.gpus == 1 && w.task.gpu_milli < 1000;
        uint32_t gpu = 77, best = 0, whole = w.task.gpus;
        int32_t score = place_fgd(&w.world, &w.node, &w.task, &gpu), most = -1;
        uint16_t left[GPUS + 1];
        memcpy(left, w.left, sizeof left);
        for (uint32_t g = 0; g < w.node.gpus; g++) {
            if (part && left[g] >= w.task.gpu_milli) {
                left[g] = (uint16_t)(left[g] - w.task.gpu_milli);
                double gain = (before - lost_milli(&w, left, cores)) / 1000;
                int32_t here = (int32_t)(100 / (1 + exp(-gain)));
                best = here > most ? g : best;
                most = here > most ? here : most;
                left[g] = w.left[g];
            } else if (!part && left[g] == 1000 && whole > 0) {
                left[g] = 0;
                whole--;
            }
        }
        if (!part)
            most = (int32_t)(100 / (1 + exp(-(before - lost_milli(&w, left, cores)) / 1000)));
        assert_int_equal(score, most);
        assert_int_equal(gpu, best);
    }
}

static void no_score_sees_what_lies_behind_the_last_gpu(void **state)
{
    static const uint16_t behind[] = { 0, 250, 500, 1000 };
    struct one w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 2, "behind", 0);
    for (int i = 0; i < WORLDS; i++) {
        draw(&rng, &w);
        for (int rule = 0; rule < PLACE_RULE_COUNT; rule++) {
            place_score_fn *score = place_info((enum place_rule)rule)->score;
            uint32_t gpu, first = 0;
            int32_t found = 0;
            for (int b = 0; b < 4; b++) {
                w.left[w.node.gpus] = behind[b];
                int32_t now = score(&w.world, &w.node, &w.task, &gpu);
                if (b == 0) {
                    found = now;
                    first = gpu;
                }
                assert_int_equal(now, found);
                assert_int_equal(gpu, first);
                assert_true(gpu < w.node.gpus);
            }
        }
    }
}

/* A part of a GPU lies on the fullest that holds it, in worst_fit on the emptiest, and on the
 * first of equals. */
static void parts_lie_on_the_fullest_gpu_or_the_emptiest(void **state)
{
    struct one w;
    struct rng rng;

    (void)state;
    rng_init(&rng, 3, "parts", 0);
    for (int i = 0; i < WORLDS; i++) {
        draw(&rng, &w);
        if (w.task.gpus != 1 || w.task.gpu_milli == 1000)
            continue;
        uint32_t low = GPUS, high = GPUS, gpu;
        for (uint32_t g = 0; g < w.node.gpus; g++) {
            if (w.left[g] < w.task.gpu_milli)
                continue;
            low = low == GPUS || w.left[g] < w.left[low] ? g : low;
            high = high == GPUS || w.left[g] > w.left[high] ? g : high;
        }
        place_info(PLACE_BEST_FIT)->score(&w.world, &w.node, &w.task, &gpu);
        assert_int_equal(gpu, low);
        place_info(PLACE_WORST_FIT)->score(&w.world, &w.node, &w.task, &gpu);
        assert_int_equal(gpu, high);
    }
}

/* What gpu_packing looks at: 2, 1 or 0 for parts of GPUs in use, idle GPUs of nodes in use, and
 * idle nodes; then what is left of the GPUs that the task takes, the fullest that hold it, or how
 * many idle ones it takes, or how many the idle node has. */
static void rank_packing(const struct one *w, int *rank, int *less)
{
    bool used[GPUS] = { false };
    int idle = 0, left = 0, whole = 0;

    for (uint32_t g = 0; g < w->node.gpus; g++)
        whole += w->left[g] == 1000;
    for (uint32_t n = 0; n < w->task.gpus; n++) {
        uint32_t best = GPUS;
        for (uint32_t g = 0; g < w->node.gpus; g++)
            if (!used[g] && w->left[g] >= w->task.gpu_milli &&
                (best == GPUS || w->left[g] < w->left[best]))
                best = g;
        assert_true(best < GPUS);
        used[best] = true;
        idle += w->left[best] == 1000;
        left += w->left[best] / 10;
    }
    *rank = whole == (int)w->node.gpus ? 0 : idle > 0 ? 1 : 2;
    *less = *rank == 0 ? whole : *rank == 1 ? idle : left;
}

/* Of two nodes that hold a task, the one of the better rank has the higher score, and of one
 * rank the one that has less of what is looked at; tens of percent are one score. */
static void packing_takes_parts_in_use_then_nodes_in_use(void **state)
{
    struct one a, b;
    struct rng rng;
    uint32_t gpu, ranks[3][3] = { { 0 } };

    (void)state;
    rng_init(&rng, 4, "packing", 0);
    for (int i = 0; i < WORLDS; i++) {
        int rank[2], less[2];
        draw(&rng, &a);
        draw(&rng, &b);
        for (uint64_t g = 0, idle = rng_below(&rng, 4); g < GPUS && idle < 2; g++)
            (idle == 0 ? &a : &b)->left[g] = 1000;
        b.task = a.task;
        uint32_t holds = 0;
        for (uint32_t g = 0; g < b.node.gpus; g++)
            holds += b.left[g] >= b.task.gpu_milli;
        if (a.task.gpus == 0 || holds < b.task.gpus)
            continue;
        rank_packing(&a, &rank[0], &less[0]);
        rank_packing(&b, &rank[1], &less[1]);
        int32_t of_a = place_info(PLACE_GPU_PACKING)->score(&a.world, &a.node, &a.task, &gpu);
        int32_t of_b = place_info(PLACE_GPU_PACKING)->score(&b.world, &b.node, &b.task, &gpu);
        ranks[rank[0]][rank[1]]++;
        if (rank[0] != rank[1])
            assert_true(rank[0] > rank[1] ? of_a > of_b : of_a < of_b);
        else if (rank[0] == 2 && less[0] / 10 == less[1] / 10)
            assert_int_equal(of_a, of_b);
        else if (less[0] != less[1])
            assert_true(less[0] < less[1] ? of_a > of_b : of_a < of_b);
    }
    for (int k = 0; k < 9; k++)
        assert_true(ranks[k / 3][k % 3] + ranks[k % 3][k / 3] > 0);
}

/* The commonest kinds that make up the share, and no kind more; of equal weights the larger
 * first, by cores, then the part of a GPU, then GPUs, then types. */
static void typical_kinds_are_the_commonest_that_make_up_the_share(void **state)
{
    struct place_kind kind[6];
    struct rng rng;

    (void)state;
    rng_init(&rng, 4, "typical", 0);
    for (int i = 0; i < WORLDS; i++) {
        double all = 0, sum = 0, share = (double)(1 + rng_below(&rng, 10)) / 10;
        for (int k = 0; k < 6; k++) {
            draw_kind(&rng, &kind[k]);
            all += kind[k].weight;
        }
        uint32_t kept = place_typical(kind, 6, share);
        assert_in_range(kept, 1, 6);
        for (uint32_t k = 0; k < kept; k++)
            sum += kind[k].weight;
        assert_true(fabs(sum - 1) < 1e-9);
        /* With what follows the weights are as before; the kept ones had `had` of `all`. */
        double rest = 0;
        for (uint32_t k = kept; k < 6; k++)
            rest += kind[k].weight;
        double had = all - rest;
        assert_true(had >= share * all - 1e-9);
        assert_true(had - kind[kept - 1].weight * had < share * all);
        for (uint32_t k = 1; k < kept; k++) {
            const struct place_kind *a = &kind[k - 1], *b = &kind[k];
            const double by[5][2] = {
                { a->weight, b->weight },
                { (double)a->task.core_milli, (double)b->task.core_milli },
                { a->task.gpu_milli, b->task.gpu_milli },
                { a->task.gpus, b->task.gpus },
                { (double)a->type_mask, (double)b->type_mask },
            };
            int at = 0;
            while (at < 4 && by[at][0] == by[at][1])
                at++;
            assert_true(by[at][0] >= by[at][1]);
        }
    }
    assert_int_equal(place_typical(kind, 0, 0.5), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fgd_takes_what_loses_least),
        cmocka_unit_test(no_score_sees_what_lies_behind_the_last_gpu),
        cmocka_unit_test(parts_lie_on_the_fullest_gpu_or_the_emptiest),
        cmocka_unit_test(packing_takes_parts_in_use_then_nodes_in_use),
        cmocka_unit_test(typical_kinds_are_the_commonest_that_make_up_the_share),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

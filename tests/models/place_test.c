/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * place_test.c - parts of GPUs, scores, and placements against a slow
 * simulator that shares nothing with them.
 *
 * The slow one reads the arrivals that `clustersim export` writes and the list
 * of nodes, and follows the rules of FGD's simulator (Weng et al., ATC 2023) as
 * written there; who is dropped must be the same, job by job.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <math.h>

#include "models/catalogue/catalogue.h"
#include "models/cluster/cluster.h"
#include "models/cluster/place.h"
#include "sim/base/arena.h"
#include "sim/base/rng.h"
#include "tests/aid/program.h"

/* ---- the slow simulator ---- */

struct slow_node { long cpu, mem, left[8]; int gpus, holds[10]; char model; };
struct slow_pod { char name[32], types[32]; long cpu, mem, milli; int gpus; };
struct slow_kind { struct slow_pod pod; double count; };

static struct slow {
    struct slow_node node[64];
    struct slow_pod pod[2000], list[400];
    struct slow_kind kind[200];
    int nodes, pods, listed, kinds;
} slow;

static bool slow_takes(const struct slow_pod *pod, char model)
{
    return pod->types[0] == '\0' || strchr(pod->types, model) != NULL;
}

static long slow_left(const struct slow_node *node)
{
    long sum = 0;
    for (int g = 0; g < node->gpus; g++)
        sum += node->left[g];
    return sum;
}

static int slow_holds(const struct slow_node *node, const struct slow_pod *pod)
{
    int count = 0;
    for (int g = 0; g < node->gpus; g++)
        count += node->left[g] >= pod->milli;
    return count;
}

static bool slow_fits(const struct slow_node *node, const struct slow_pod *pod)
{
    return node->cpu >= pod->cpu && node->mem >= pod->mem &&
           (pod->gpus == 0 || (slow_takes(pod, node->model) &&
                               slow_holds(node, pod) >= pod->gpus));
}

static double slow_fragment(const struct slow_node *node)
{
    double sum = 0;
    for (int k = 0; k < slow.kinds; k++) {
        const struct slow_pod *pod = &slow.kind[k].pod;
        long lost = 0;
        bool usable = pod->gpus > 0 && node->cpu >= pod->cpu &&
                      slow_takes(pod, node->model) &&
                      slow_holds(node, pod) >= pod->gpus;
        for (int g = 0; g < node->gpus; g++)
            if (!usable || node->left[g] < pod->milli)
                lost += node->left[g];
        sum += slow.kind[k].count * (double)lost;
    }
    return sum;
}

static bool slow_is_part(const struct slow_pod *pod)
{
    return pod->gpus == 1 && pod->milli < 1000;
}

static struct slow_node slow_after(struct slow_node node,
                                   const struct slow_pod *pod, int gpu)
{
    int need = pod->gpus;
    node.cpu -= pod->cpu;
    node.mem -= pod->mem;
    if (slow_is_part(pod))
        node.left[gpu] -= pod->milli;
    for (int g = 0; !slow_is_part(pod) && g < node.gpus && need > 0; g++)
        if (node.left[g] == 1000) {
            node.left[g] = 0;
            need--;
        }
    return node;
}

static long slow_percent(double before, double after)
{
    return (long)(100 / (1 + exp(-(before - after) / 1000)));
}

static long slow_fgd(const struct slow_node *node, const struct slow_pod *pod,
                     int *gpu)
{
    double before = slow_fragment(node);
    long best = -1;
    struct slow_node after;
    if (!slow_is_part(pod)) {
        after = slow_after(*node, pod, -1);
        return slow_percent(before, slow_fragment(&after));
    }
    for (int g = 0; g < node->gpus; g++) {
        if (node->left[g] < pod->milli)
            continue;
        after = slow_after(*node, pod, g);
        long score = slow_percent(before, slow_fragment(&after));
        if (score > best) {
            best = score;
            *gpu = g;
        }
    }
    return best;
}

static long slow_packing(const struct slow_node *node,
                         const struct slow_pod *pod)
{
    int idle = 0, need = pod->gpus, fresh = 0;
    long used = 0, last = -1;
    for (int g = 0; g < node->gpus; g++)
        idle += node->left[g] == 1000;
    if (pod->gpus == 0)
        return 0;
    if (idle == node->gpus)
        return 33 - idle > idle ? 33 - idle : idle;
    for (long left = pod->milli; left <= 1000 && need > 0; left++, last = left)
        for (int g = 0; g < node->gpus && need > 0; g++)
            if (node->left[g] == left) {
                need--;
                fresh += left == 1000;
                used += left / 10;
            }
    (void)last;
    if (fresh > 0)
        return 50 - fresh > 33 ? 50 - fresh : 33;
    return 100 - used / 10 > 50 ? 100 - used / 10 : 50;
}

static long slow_clustering(const struct slow_node *node,
                            const struct slow_pod *pod)
{
    int kinds = 0, mine = slow_is_part(pod) ? 0 : pod->gpus;
    long full = 25 * (8000 - slow_left(node)) / 8000;
    for (int k = 0; k < 10; k++)
        kinds += node->holds[k] > 0;
    if (pod->gpus == 0)
        return 0;
    if (node->holds[mine] > 0)
        return full + (kinds == 1 ? 75 : 50);
    return kinds == 0 ? full + 25 : full;
}

static long slow_score(const char *rule, const struct slow_node *node,
                       const struct slow_pod *pod, int *gpu)
{
    double cpu = 96000, all = 8000;     /* the largest node of the list */
    long asked = pod->milli * pod->gpus;
    for (int g = 0; slow_is_part(pod) && g < node->gpus; g++)
        if (node->left[g] >= pod->milli &&
            (*gpu < 0 || node->left[g] < node->left[*gpu]))
            *gpu = g;
    if (strcmp(rule, "fgd") == 0)
        return slow_fgd(node, pod, gpu);
    if (strcmp(rule, "gpu_packing") == 0)
        return slow_packing(node, pod);
    if (strcmp(rule, "gpu_clustering") == 0)
        return slow_clustering(node, pod);
    if (strcmp(rule, "best_fit") == 0)
        return (long)((1 - ((double)(node->cpu - pod->cpu) / cpu * 0.5 +
                            (double)(slow_left(node) - asked) / all * 0.5)) *
                      100);
    double product = (double)node->cpu / cpu * ((double)pod->cpu / cpu);
    product += (double)slow_left(node) / all * ((double)asked / all);
    return (long)(100 * (1 - product / 2));
}

/* True: it was placed. */
static bool slow_place(const char *rule, const struct slow_pod *pod)
{
    int best = -1, best_gpu = -1;
    long most = 0;
    for (int n = 0; n < slow.nodes; n++) {
        int gpu = -1;
        if (!slow_fits(&slow.node[n], pod))
            continue;
        long score = slow_score(rule, &slow.node[n], pod, &gpu);
        if (best >= 0 && score <= most)
            continue;
        best = n;
        best_gpu = gpu;
        most = score;
    }
    if (best < 0)
        return false;
    slow.node[best] = slow_after(slow.node[best], pod, best_gpu);
    if (pod->gpus > 0)
        slow.node[best].holds[slow_is_part(pod) ? 0 : pod->gpus]++;
    return true;
}

/* Fields of a line, cut at commas; how many. */
static int fields(char *line, char **field)
{
    int count = 0;
    line[strcspn(line, "\r\n")] = '\0';
    for (char *at = line; at != NULL && count < 16;) {
        field[count++] = at;
        at = strchr(at, ',');
        if (at != NULL)
            *at++ = '\0';
    }
    return count;
}

static void slow_nodes(void)
{
    FILE *file = fopen("workloads/traces/nodes.csv", "r");
    char line[256], *f[16];
    assert_non_null(file);
    slow.nodes = 0;
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) && fields(line, f) == 5) {
        struct slow_node *node = &slow.node[slow.nodes++];
        memset(node, 0, sizeof *node);
        node->cpu = atol(f[1]);
        node->mem = atol(f[2]);
        node->gpus = atoi(f[3]);
        node->model = f[4][0];
        for (int g = 0; g < node->gpus; g++)
            node->left[g] = 1000;
    }
    fclose(file);
    assert_int_equal(slow.nodes, 40);
}

/* What export wrote: job,submit_s,run_s,gpus,cores,memory_mib,gpu_types. */
static int slow_read(const char *path, struct slow_pod *pod)
{
    FILE *file = fopen(path, "r");
    char line[256], *f[16];
    int count = 0;
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) && fields(line, f) == 7) {
        long milli = lround(atof(f[3]) * 1000);
        memset(&pod[count], 0, sizeof pod[count]);
        snprintf(pod[count].name, sizeof pod->name, "%s", f[0]);
        snprintf(pod[count].types, sizeof pod->types, "%s", f[6]);
        pod[count].cpu = lround(atof(f[4]) * 1000);
        pod[count].mem = atol(f[5]);
        pod[count].gpus = milli >= 1000 ? (int)(milli / 1000) : milli > 0;
        pod[count].milli = milli > 1000 ? 1000 : milli;
        count++;
    }
    fclose(file);
    return count;
}

static bool slow_alike(const struct slow_pod *a, const struct slow_pod *b)
{
    return a->cpu == b->cpu && a->gpus == b->gpus && a->milli == b->milli &&
           strcmp(a->types, b->types) == 0;
}

/* Larger demands first among equally common kinds. */
static bool slow_before(const struct slow_kind *a, const struct slow_kind *b)
{
    if (a->count != b->count)
        return a->count > b->count;
    if (a->pod.cpu != b->pod.cpu)
        return a->pod.cpu > b->pod.cpu;
    if (a->pod.milli != b->pod.milli)
        return a->pod.milli > b->pod.milli;
    if (a->pod.gpus != b->pod.gpus)
        return a->pod.gpus > b->pod.gpus;
    return strlen(a->pod.types) < strlen(b->pod.types);
}

static void slow_typical(void)
{
    double sum = 0, all = slow.listed;
    int kept = 0;
    slow.kinds = 0;
    for (int i = 0; i < slow.listed; i++) {
        int k = 0;
        while (k < slow.kinds && !slow_alike(&slow.kind[k].pod, &slow.list[i]))
            k++;
        if (k == slow.kinds)
            slow.kind[slow.kinds++] = (struct slow_kind){ slow.list[i], 0 };
        slow.kind[k].count++;
    }
    for (int i = 1; i < slow.kinds; i++)
        for (int j = i; j > 0 && slow_before(&slow.kind[j], &slow.kind[j - 1]);
             j--) {
            struct slow_kind other = slow.kind[j];
            slow.kind[j] = slow.kind[j - 1];
            slow.kind[j - 1] = other;
        }
    while (sum < 0.95 * all)
        sum += slow.kind[kept++].count;
    slow.kinds = kept;
    for (int k = 0; k < kept; k++)
        slow.kind[k].count /= sum;
}

/* ---- what the program says, and the slow one ---- */

static void export_to(const struct program *program, const char *workload,
                      const char *path)
{
    char log[200];
    const char *argv[] = { program->path, "export", workload, "-o", path,
                           "--cluster", "models/clusters/pods_40.yaml", NULL };

    snprintf(log, sizeof log, "%s/export.log", program->folder);
    if (program_spawn(argv, log) != 0)
        fail_msg("%s", program_read(log));
}

static void a_slow_simulator_drops_the_same_jobs(void **state)
{
    static const char *const rules[] = { "dot_product", "gpu_clustering",
                                         "gpu_packing", "best_fit", "fgd" };
    const struct program *program = *state;
    char path[200], yaml[200], here[300];

    assert_non_null(getcwd(here, sizeof here));
    snprintf(path, sizeof path, "%s/drawn.csv", program->folder);
    export_to(program, "workloads/trace_pods.yaml", path);
    slow.pods = slow_read(path, slow.pod);
    assert_in_range(slow.pods, 150, 1999);
    FILE *file;
    for (size_t r = 0; r < sizeof rules / sizeof rules[0]; r++) {
        snprintf(yaml, sizeof yaml, "%s/%s.yaml", program->folder, rules[r]);
        file = fopen(yaml, "w");
        assert_non_null(file);
        fprintf(file, "experiment: slow\ncluster: %s/models/clusters/"
                "pods_40.yaml\nworkload: %s/workloads/trace_pods.yaml\n"
                "policies: [{policy: fcfs, placement: %s, blocking: drop}]\n"
                "output: {tables: [jobs], plots: []}\n", here, here, rules[r]);
        fclose(file);
        assert_int_equal(program_experiment(program, yaml, rules[r], NULL), 0);
        char *jobs = program_result(program, rules[r], "jobs.csv");
        assert_non_null(jobs);
        slow_nodes();
        slow.listed = 0;
        for (int i = 0; i < slow.pods && slow.listed < 150; i++)
            if (strchr(slow.pod[i].name, '+') == NULL)
                slow.list[slow.listed++] = slow.pod[i];
        assert_int_equal(slow.listed, 150);
        slow_typical();
        for (int i = 0; i < slow.pods; i++) {
            char row[100];
            const char *at;
            bool placed = slow_place(rules[r], &slow.pod[i]);
            snprintf(row, sizeof row, "fcfs,0,%s,", slow.pod[i].name);
            at = strstr(jobs, row);
            assert_non_null(at);
            const char *done_at = strstr(at, ",done");
            bool done = done_at != NULL && done_at < at + strcspn(at, "\n");
            if (done != placed)
                fail_msg("%s: job %d, %s, is %s here", rules[r], i,
                         slow.pod[i].name, placed ? "placed" : "dropped");
        }
        free(jobs);
    }
}

/* ---- clusters ---- */

struct small {
    struct arena *arena;
    struct gpu_type gpu;
    struct node_group group;
    struct cluster_spec spec;
    struct cluster *cluster;
};

static void small_open(struct small *s, uint32_t nodes, uint32_t domain)
{
    static const char *const pool[] = { "pool" };

    memset(s, 0, sizeof *s);
    s->arena = arena_new(0);
    s->gpu.name = "gpu";
    s->gpu.memory_bytes = 16.0 * 1024 * 1048576;
    s->group = (struct node_group){
        .name = "node", .node_count = nodes, .gpu = &s->gpu, .gpus = 8,
        .cores = 64, .memory_bytes = INT64_C(1) << 40, .nvlink_domain = domain,
    };
    s->spec = (struct cluster_spec){
        .name = "small", .group = &s->group, .group_count = 1,
        .pool_name = pool, .pool_count = 1, .node_count = nodes,
        .gpu_count = 8 * nodes, .core_count = 64 * nodes, .leaf_nodes = 2,
    };
    s->cluster = cluster_new(s->arena, &s->spec);
}

static struct placer *placer_of(struct small *s, enum place_rule rule)
{
    struct placer_parts parts = { .arena = s->arena, .cluster = s->cluster,
                                  .rule = rule, .seed = 1 };
    return placer_new(&parts);
}

static void parts_of_a_gpu_add_up_to_one_and_no_more(void **state)
{
    struct small s;
    struct share share[4];
    struct placement place;
    struct fit_want part = { .gpus = 1, .gpu_milli = 400, .pod = true };

    (void)state;
    small_open(&s, 1, 0);
    struct placer *placer = placer_of(&s, PLACE_BEST_FIT);
    for (int i = 0; i < 16; i++) {
        assert_true(placer_find(placer, &part, share, 4, &place));
        assert_int_equal(share[0].gpu_mask, UINT64_C(1) << i / 2);
        assert_int_equal(share[0].gpu_milli, 400);
        cluster_take(s.cluster, &place);
    }
    assert_false(placer_find(placer, &part, share, 4, &place));
    part.gpu_milli = 200;
    assert_true(placer_find(placer, &part, share, 4, &place));
    part.gpu_milli = 201;
    assert_false(placer_find(placer, &part, share, 4, &place));
    assert_int_equal(s.cluster->free_gpus, 0);
    arena_free(s.arena);
}

/* Of two placers of one seed one also looks, and searches in vain. */
static void looks_and_searches_in_vain_draw_nothing(void **state)
{
    struct small s;
    struct share share[4], other[4];
    struct placement place;
    struct fit_want want = { .gpus = 1 }, large = { .gpus = 1000 };
    struct placer *plain, *curious;

    (void)state;
    small_open(&s, 4, 0);
    plain = placer_of(&s, PLACE_RANDOM);
    curious = placer_of(&s, PLACE_RANDOM);
    for (int i = 0; i < 12; i++) {
        assert_true(placer_look(curious, &want, other, 4, &place));
        assert_false(placer_find(curious, &large, share, 4, &place));
        assert_true(placer_find(curious, &want, share, 4, &place));
        assert_int_equal(share[0].node, other[0].node);
        assert_true(placer_find(plain, &want, share, 4, &place));
        assert_int_equal(share[0].node, other[0].node);
        cluster_take(s.cluster, &place);
    }
    arena_free(s.arena);
}

static void memory_of_a_gpu_limits_its_parts_where_they_state_it(void **state)
{
    struct small s;
    struct share share[4];
    struct placement place;
    struct fit_want part = { .gpus = 1, .gpu_milli = 100, .pod = true,
                             .gpu_mib = 10 * 1024 };

    (void)state;
    small_open(&s, 1, 0);
    struct placer *placer = placer_of(&s, PLACE_BEST_FIT);
    for (int i = 0; i < 8; i++) {       /* 16 GiB hold one of them */
        assert_true(placer_find(placer, &part, share, 4, &place));
        assert_int_equal(share[0].gpu_mask, UINT64_C(1) << i);
        cluster_take(s.cluster, &place);
    }
    assert_false(placer_find(placer, &part, share, 4, &place));
    part.gpu_mib = 6 * 1024;
    assert_true(placer_find(placer, &part, share, 4, &place));
    arena_free(s.arena);
}

static void a_gpu_is_whole_again_when_all_its_parts_are_back(void **state)
{
    struct small s;
    struct share share[64][1];
    struct placement place[64];
    struct rng rng;
    bool held[64] = { false };

    (void)state;
    small_open(&s, 2, 0);
    rng_init(&rng, 7, "parts", 0);
    for (int round = 0; round < 4000; round++) {
        size_t i = (size_t)rng_below(&rng, 64);
        enum place_rule rule = (enum place_rule)rng_below(&rng,
                                                          PLACE_RULE_COUNT);
        struct fit_want want = {
            .gpus = 1, .pod = true,
            .gpu_milli = 1 + (uint32_t)rng_below(&rng, 999),
            .core_milli = (int64_t)rng_below(&rng, 4000),
        };
        if (held[i]) {
            cluster_release(s.cluster, &place[i]);
            held[i] = false;
        } else if (placer_find(placer_of(&s, rule), &want, share[i], 1,
                               &place[i])) {
            assert_true(cluster_can_take(s.cluster, &place[i]));
            cluster_take(s.cluster, &place[i]);
            held[i] = true;
        }
        if (round % 500 == 0) {         /* placers are made for each */
            for (size_t k = 0; k < 64; k++)
                if (held[k])
                    cluster_release(s.cluster, &place[k]);
            memset(held, 0, sizeof held);
            assert_int_equal(s.cluster->free_gpus, 16);
            assert_int_equal(s.cluster->free_cores[0], 64);
            assert_int_equal(cluster_core_milli(s.cluster, 1), 64000);
        }
    }
    arena_free(s.arena);
}

static void take_gpus(struct small *s, uint32_t node, uint64_t mask)
{
    struct share share = { .node = node, .gpu_mask = mask };
    struct placement place = { &share, 1 };

    cluster_take(s->cluster, &place);
}

static void topology_prefers_a_domain_then_a_node_then_a_rack(void **state)
{
    struct small s;
    struct share share[8];
    struct placement place;
    struct fit_want want = { .gpus = 4 };

    (void)state;
    small_open(&s, 6, 4);               /* racks of two nodes */
    take_gpus(&s, 0, 0x33);             /* four free, but two in each domain */
    take_gpus(&s, 1, 0x01);             /* a domain of four, and three */
    take_gpus(&s, 2, 0x0f);             /* one domain free */
    struct placer *placer = placer_of(&s, PLACE_TOPOLOGY);
    assert_true(placer_find(placer, &want, share, 8, &place));
    assert_int_equal(share[0].node, 1);
    assert_int_equal(share[0].gpu_mask, 0xf0);
    want.gpus = 6;
    assert_true(placer_find(placer, &want, share, 8, &place));
    assert_int_equal(place.share_count, 1);
    assert_int_equal(share[0].node, 1); /* seven free: the fullest of nodes */
    want.gpus = 12;                     /* racks have 11, 12 and 16 free */
    assert_true(placer_find(placer, &want, share, 8, &place));
    assert_int_equal(place.share_count, 2);
    assert_int_equal(share[0].node, 2);
    assert_int_equal(share[1].node, 3);
    want.gpus = 30;                     /* no rack: any */
    assert_true(placer_find(placer, &want, share, 8, &place));
    arena_free(s.arena);
}

static void consolidate_relaxes_only_when_it_is_told_to(void **state)
{
    struct small s;
    struct share share[8];
    struct placement place;
    struct fit_want want = { .gpus = 6 };

    (void)state;
    small_open(&s, 2, 0);
    take_gpus(&s, 0, 0x0f);
    take_gpus(&s, 1, 0x0f);
    struct placer *placer = placer_of(&s, PLACE_CONSOLIDATE);
    assert_false(placer_find(placer, &want, share, 8, &place));
    want.relaxed = true;
    assert_true(placer_find(placer, &want, share, 8, &place));
    assert_int_equal(place.share_count, 2);
    arena_free(s.arena);
}

/* A gang that no node holds takes whole empty nodes and one more. */
static void gangs_of_several_nodes_are_placed_by_every_score(void **state)
{
    (void)state;
    for (int rule = PLACE_WORST_FIT; rule <= PLACE_FGD; rule++) {
        struct small s;
        struct share share[8];
        struct placement place;
        struct fit_want want = { .gpus = 19, .cores = 2 };

        small_open(&s, 4, 0);
        take_gpus(&s, 1, 0x1f);         /* three free: fits the rest */
        struct placer *placer = placer_of(&s, (enum place_rule)rule);
        assert_true(placer_find(placer, &want, share, 8, &place));
        assert_int_equal(place.share_count, 3);
        assert_int_equal(placement_gpus(&place), 19);
        assert_true(cluster_can_take(s.cluster, &place));
        want.gpus = 30;                 /* 27 are free */
        assert_false(placer_find(placer, &want, share, 8, &place));
        arena_free(s.arena);
    }
}

/* ---- the best of many nodes ---- */

/* Is there room on a node, by a look at each of its GPUs? */
static bool naive_room(const struct small *s, uint32_t n, const struct fit_want *want)
{
    const uint16_t *left = cluster_left(s->cluster, n);
    const uint32_t *mib = cluster_mib_left(s->cluster, n);
    uint32_t with = 0;

    for (uint32_t g = 0; g < 8; g++)
        with += left[g] >= want->gpu_milli && mib[g] >= want->gpu_mib;
    return with >= want->gpus && s->cluster->free_memory[n] >= want->memory_bytes &&
           cluster_core_milli(s->cluster, n) >= want->core_milli;
}

/* The first node with the highest score; UINT32_MAX: none has room. */
static uint32_t naive_best(const struct small *s, enum place_rule rule,
                           const struct fit_want *want)
{
    const struct place_world world = { .core_milli_max = 64000, .gpu_milli_max = 8000 };
    struct place_task task = { want->core_milli, want->gpus, want->gpu_milli };
    uint32_t found = UINT32_MAX, gpu = 0;
    int32_t best = 0;

    for (uint32_t n = 0; n < s->spec.node_count; n++) {
        const struct cluster_parts *parts = s->cluster->parts;
        struct place_node node = { cluster_core_milli(s->cluster, n), 8, 0,
                                   cluster_left(s->cluster, n),
                                   &parts->kinds[(size_t)n * parts->kind_count],
                                   parts->kind_count };
        if (!naive_room(s, n, want))
            continue;
        int32_t score = place_info(rule)->score(&world, &node, &task, &gpu);
        if (found == UINT32_MAX || score > best) {
            found = n;
            best = score;
        }
    }
    return found;
}

/* What a pod wants by lot: a part of a GPU or some whole ones, little or much memory. */
static struct fit_want draw_pod(struct rng *rng)
{
    struct fit_want want = {
        .pod = true, .gpus = 1, .gpu_milli = GPU_MILLI, .core_milli = 500 *
        (int64_t)rng_below(rng, 12), .memory_bytes = INT64_C(1) << rng_below(rng, 40),
    };

    if (rng_below(rng, 2) == 0)
        want.gpu_milli = 250 * (1 + (uint32_t)rng_below(rng, 3));
    else
        want.gpus = 1 + (uint32_t)rng_below(rng, 4);
    if (want.gpu_milli < GPU_MILLI && rng_below(rng, 3) == 0)
        want.gpu_mib = 4096 * (1 + (uint32_t)rng_below(rng, 4));
    return want;
}

/* Half of the nodes have nearly no memory left, so that far more winners than are set
 * aside in a search have no room for what wants memory. */
static void the_best_node_is_that_of_a_look_at_each(void **state)
{
    enum { NODES = 100, KEPT = 700 };
    (void)state;
    for (int rule = PLACE_WORST_FIT; rule <= PLACE_GPU_CLUSTERING; rule++) {
        struct small s;
        struct rng rng;
        struct share share[KEPT];
        struct placement place;
        uint32_t kept = 0, vain = 0;

        if (rule == PLACE_RANDOM)
            continue;
        rng_init(&rng, 7, "place_test", (uint32_t)rule);
        small_open(&s, NODES, 0);
        cluster_split(s.cluster);
        for (uint32_t n = 0; n < NODES; n += 2)
            cluster_take(s.cluster, &(struct placement){
                &(struct share){ .node = n, .memory_bytes = (INT64_C(1) << 40) - 4096 }, 1 });
        struct placer *placer = placer_of(&s, (enum place_rule)rule);
        for (uint32_t turn = 0; turn < 3000; turn++) {
            struct fit_want want = draw_pod(&rng);
            uint32_t best = naive_best(&s, (enum place_rule)rule, &want);
            bool found = placer_find(placer, &want, &share[kept], 1, &place);
            assert_int_equal(found, best != UINT32_MAX);
            vain += !found;
            if (found) {
                assert_int_equal(share[kept].node, best);
                cluster_take(s.cluster, &place);
                kept++;
            }
            while (kept == KEPT || (kept > 0 && rng_below(&rng, 9) < 4)) {
                uint32_t i = (uint32_t)rng_below(&rng, kept--);
                cluster_release(s.cluster, &(struct placement){ &share[i], 1 });
                share[i] = share[kept];
            }
        }
        assert_true(vain > 10);
        arena_free(s.arena);
    }
}

/* ---- jobs that share and leave ---- */

static void half_a_gpu_costs_and_counts_half(void **state)
{
    const struct program *program = *state;
    char yaml[200], cell[64];
    FILE *file;

    snprintf(yaml, sizeof yaml, "%s/half.yaml", program->folder);
    file = fopen(yaml, "w");
    assert_non_null(file);
    fputs("experiment: half\n"
          "cluster: {nodes: [{name: n, count: 1, price: 8USD/h, gpus: {type: "
          "generic, count: 1}}]}\n"
          "workload: {arrival: {process: all_at_once}, jobs: 4, mix: [{recipe: "
          "trace, gpus: 0.5, duration: 3600s}]}\n"
          "policies: [fcfs, {policy: sjf, blocking: skip}]\n"
          "output: {tables: [summary, jobs], plots: []}\n", file);
    fclose(file);
    assert_int_equal(program_experiment(program, yaml, "half", NULL), 0);
    char *summary = program_result(program, "half", "summary.csv");
    char *jobs = program_result(program, "half", "jobs.csv");
    assert_non_null(summary);
    assert_non_null(jobs);
    assert_true(csv_cell(summary, "fcfs", NULL, "makespan_s", cell,
                         sizeof cell));
    assert_string_equal(cell, "7200");  /* two at a time */
    assert_true(csv_cell(summary, "fcfs", NULL, "gpu_allocated_fraction", cell,
                         sizeof cell));
    assert_string_equal(cell, "1");
    assert_true(csv_cell(summary, "fcfs", NULL, "held_cost_usd", cell,
                         sizeof cell));
    assert_string_equal(cell, "16");
    assert_non_null(strstr(jobs, ",3600,0,3600,0.5,generic,1800,"));
    assert_true(csv_cell(summary, "sjf", NULL, "makespan_s", cell,
                         sizeof cell));
    assert_string_equal(cell, "7200");
    free(summary);
    free(jobs);
}

int main(int argc, char **argv)
{
    struct program program;
    const struct CMUnitTest tests[] = {
#define WITH_PROGRAM(TEST) cmocka_unit_test_prestate(TEST, &program)
        WITH_PROGRAM(a_slow_simulator_drops_the_same_jobs),
        cmocka_unit_test(parts_of_a_gpu_add_up_to_one_and_no_more),
        cmocka_unit_test(looks_and_searches_in_vain_draw_nothing),
        cmocka_unit_test(memory_of_a_gpu_limits_its_parts_where_they_state_it),
        cmocka_unit_test(a_gpu_is_whole_again_when_all_its_parts_are_back),
        cmocka_unit_test(topology_prefers_a_domain_then_a_node_then_a_rack),
        cmocka_unit_test(consolidate_relaxes_only_when_it_is_told_to),
        cmocka_unit_test(gangs_of_several_nodes_are_placed_by_every_score),
        cmocka_unit_test(the_best_node_is_that_of_a_look_at_each),
        WITH_PROGRAM(half_a_gpu_costs_and_counts_half),
    };

    program_open(&program, argc > 0 ? argv[0] : "");
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}

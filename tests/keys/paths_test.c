/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paths_test.c - an error about a key names the path that the user wrote.
 *
 * A wrong key is put into each map of an experiment in turn.  The path of the map is
 * found here by the columns of lines alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/aid/world.h"

/* Maps that several keys have in common, each where it can stand. */
static const char whole[] =
    "experiment: t\n"
    "seeds: 3\n"
    "until: drained\n"
    "cluster:\n"
    "  nodes:\n"
    "    - name: g\n"
    "      count: 2\n"
    "      gpus:\n"
    "        type: a100-80\n"
    "        count: 8\n"
    "      cpu:\n"
    "        type: epyc-7763\n"
    "        sockets: 2\n"
    "      memory: 1TB\n"
    "      nics:\n"
    "        type: ib-hdr\n"
    "        count: 2\n"
    "      price:\n"
    "        unit: USD/h\n"
    "        points: [[0s, 9]]\n"
    "  storage:\n"
    "    bandwidth: 10GB/s\n"
    "workload:\n"
    "  arrival:\n"
    "    process: bursty\n"
    "    rate: 3/h\n"
    "    burst:\n"
    "      high: 12\n"
    "      low: 1\n"
    "      stay_high: 30m\n"
    "      stay_low: 60m\n"
    "  jobs: 3\n"
    "  mix:\n"
    "    - recipe: batch-infer\n"
    "      name: e\n"
    "      model: bert-base\n"
    "      prompts: 100\n"
    "      prompt_tokens: 128\n"
    "      steps:\n"
    "        lognormal:\n"
    "          mean: 3\n"
    "          cv: 1\n"
    "      infer:\n"
    "        gpus: 1\n"
    "        cpu:\n"
    "          cores: 4\n"
    "    - recipe: grpo\n"
    "      name: align\n"
    "      model: qwen2.5-1.5b\n"
    "      prompts: 32\n"
    "      prompt_tokens: 300\n"
    "      steps: 5\n"
    "      response:\n"
    "        mean: 400\n"
    "        cv: 1\n"
    "        max: 2048\n"
    "      reward:\n"
    "        core_time: 50ms\n"
    "      rollout:\n"
    "        gpus: 4\n"
    "      train:\n"
    "        gpus: 4\n"
    "      data:\n"
    "        cores: 16\n"
    "    - recipe: lora\n"
    "      name: tune\n"
    "      model: qwen2.5-0.5b\n"
    "      sequence: 512\n"
    "      batch: 8\n"
    "      steps: 10\n"
    "      loader:\n"
    "        kind: text\n"
    "      train:\n"
    "        gpus: 1\n"
    "        cpu:\n"
    "          cores: 16\n"
    "    - recipe: trace\n"
    "      name: fixed\n"
    "      gpus: 2\n"
    "      duration:\n"
    "        exponential:\n"
    "          mean: 1h\n"
    "      elastic:\n"
    "        scaling: linear\n"
    "        min: 1\n"
    "        max: 4\n"
    "      role:\n"
    "        cores: 2\n"
    "  services:\n"
    "    - name: s\n"
    "      model: bert-base\n"
    "      gpu:\n"
    "        tp: 1\n"
    "      cpu:\n"
    "        cores: 8\n"
    "      replicas:\n"
    "        min: 1\n"
    "        max: 2\n"
    "      cpu_replicas:\n"
    "        min: 1\n"
    "        max: 2\n"
    "      switch:\n"
    "        cpu_below: 1/s\n"
    "        gpu_above: 9/s\n"
    "      slo:\n"
    "        latency: 1s\n"
    "      scaling:\n"
    "        target: 4\n"
    "      times:\n"
    "        request: 5ms\n"
    "      requests:\n"
    "        arrival:\n"
    "          process: poisson\n"
    "          rate: 5/s\n"
    "        prompt:\n"
    "          lognormal:\n"
    "            mean: 100\n"
    "            cv: 1\n"
    "        for: 10min\n"
    "policies:\n"
    "  - policy: fcfs\n"
    "  - policy: dynamic\n"
    "    name: eight\n"
    "    with:\n"
    "      workload.mix.align.rollout:\n"
    "        gpus: 8\n"
    "sweep:\n"
    "  workload.mix.align.loader:\n"
    "    - from: storage\n"
    "    - from: memory\n"
    "metrics:\n"
    "  mine:\n"
    "    of: jct_mean_s / cost_usd\n"
    "    unit: s/USD\n"
    "    better: less\n"
    "    help: what it is\n"
    "expect:\n"
    "  - claim: c\n"
    "    metric: jct_mean_s\n"
    "    policy: fcfs\n"
    "    at_most: 9d\n";

/* A part of the path, and the column where it stands. */
struct step {
    size_t column;
    char name[80];
};

/* The path to where a line is. */
struct way {
    struct step step[16];
    size_t count;
};

/* Keeps the steps that stand before that column, and adds one there. */
static void go(struct way *way, size_t column, const char *name, size_t bytes)
{
    while (way->count > 0 && way->step[way->count - 1].column >= column)
        way->count--;
    struct step *step = &way->step[way->count++];
    step->column = column;
    snprintf(step->name, sizeof step->name, "%.*s", (int)bytes, name);
}

/* Writes the path of the map that holds the last step. */
static void write_path(const struct way *way, char *out)
{
    out[0] = '\0';
    for (size_t i = 0; i + 1 < way->count; i++) {
        if (i > 0 && way->step[i].name[0] != '[')
            strcat(out, ".");
        strcat(out, way->step[i].name);
    }
}

/* Puts the wrong key before the first key of a map, which stands at that column of the line.
 * Returns false, and does nothing, if the line is not the first of its map. */
static bool plant(const char *line, struct way *way, char *text, char *path)
{
    size_t dash = strspn(line, " "), column = dash;
    size_t before = way->count > 0 ? way->step[way->count - 1].column : 0;
    bool item = line[dash] == '-', first = way->count == 0;

    if (item) {
        column += 2;
        go(way, dash, "[]", 2);
        first = true;
    }
    if (strchr(line + column, ':') == NULL)
        return false;
    first = first || column > before;
    go(way, column, line + column, strcspn(line + column, ":"));
    if (!first)
        return false;
    write_path(way, path);
    memcpy(text, whole, (size_t)(line - whole));
    sprintf(text + (line - whole), "%.*szzz: 1\n%*s%s", (int)column, line, (int)column, "",
            line + column);
    return true;
}

/* Is `name` the path, perhaps with "experiment." before it or a recipe behind it? */
static bool names(const char *name, size_t bytes, const char *path)
{
    static const char *const recipe[] = { "", ".batch-infer", ".grpo", ".lora", ".trace" };
    char want[200];

    if (path[0] == '\0')
        return bytes == 10 && strncmp(name, "experiment", 10) == 0;
    for (int before = 0; before < 2; before++)
        for (size_t i = 0; i < sizeof recipe / sizeof recipe[0]; i++) {
            snprintf(want, sizeof want, "%s%s%s", before ? "experiment." : "", path, recipe[i]);
            if (strlen(want) == bytes && strncmp(name, want, bytes) == 0)
                return true;
        }
    return false;
}

/* Six maps have keys of no table: three distributions, `with`, `sweep` and `metrics`. */
static void a_wrong_key_is_named_where_it_was_written(void **state)
{
    static const char said[] = "key 'zzz' is not known in '";
    static char text[sizeof whole + 200];
    struct way way = { .count = 0 };
    struct world right = { 0 };
    int maps = 0, others = 0;

    (void)state;
    if (!world_open(&right, whole))
        fail_msg("%s", world_error(&right));
    world_close(&right);
    for (const char *line = whole; *line != '\0'; line = strchr(line, '\n') + 1) {
        struct world world = { 0 };
        char path[200];
        bool told = false;
        if (!plant(line, &way, text, path))
            continue;
        assert_false(world_open(&world, text));
        for (const struct err *err = &world.err; err != NULL; err = err->next) {
            const char *at = strstr(err->text, said);
            if (at == NULL)
                continue;
            at += strlen(said);
            if (!names(at, strcspn(at, "'"), path))
                fail_msg("%s: %s", path, err->text);
            told = true;
        }
        maps += told;
        others += !told;
        world_close(&world);
    }
    assert_int_equal(others, 6);
    assert_true(maps > 40);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_wrong_key_is_named_where_it_was_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * idle_keys_test.c - keys of clusters and workloads, each set to another value
 * in the worlds of idle_keys.txt: the result differs, or the key is refused, or
 * stands among those that may be idle, with a reason.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/world.h"

#define LINE 1200
#define FIELDS 100

static char idle_key[FIELDS][32];
static unsigned idle_count;

static uint64_t add_bytes(uint64_t sum, const void *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++)
        sum = (sum ^ ((const unsigned char *)bytes)[i]) * 1099511628211u;
    return sum;
}

static uint64_t add_table(uint64_t sum, struct table *table)
{
    size_t bytes;
    const char *at = table_bytes(table, &bytes);

    sum = add_bytes(sum, at, bytes);
    table_free(table);
    return sum;
}

/* Of all that a trial says; 0: it is refused or fails, and err says why. */
static uint64_t run_with(const char *folder, const char *set, struct err *err)
{
    struct experiment_options options = { .set = &set, .set_count = set != NULL };
    struct arena *arena = arena_new(1 << 16);
    struct trial_result result;
    uint64_t sum = 1469598103934665603u;
    char path[100];

    memset(err, 0, sizeof *err);
    snprintf(path, sizeof path, "%s/experiment.yaml", folder);
    const struct experiment *experiment = experiment_read(arena, path, &options, err);
    if (experiment == NULL) {
        arena_free(arena);
        return 0;
    }
    struct trial_spec spec = experiment_trial_spec(experiment, 0);
    struct trial_tables tables = {
        .jobs = table_new(csv_jobs.columns, csv_jobs.count),
        .phases = table_new(csv_phases.columns, csv_phases.count),
        .services = table_new(csv_services.columns, csv_services.count),
    };
    bool ok = trial_run(&spec, &tables, &result, err);
    sum = add_table(sum, tables.jobs);
    sum = add_table(sum, tables.phases);
    sum = add_table(sum, tables.services);
    if (ok)
        sum = add_bytes(sum, result.value, sizeof result.value);
    arena_free(arena);
    return ok ? sum : 0;
}

/* Is a step of the dotted key among those that may be idle? */
static bool may_be_idle(const char *set)
{
    char key[LINE], *save = NULL;

    snprintf(key, sizeof key, "%.*s", (int)strcspn(set, "="), set);
    for (char *step = strtok_r(key, ".", &save); step != NULL;
         step = strtok_r(NULL, ".", &save))
        for (unsigned i = 0; i < idle_count; i++)
            if (strcmp(step, idle_key[i]) == 0)
                return true;
    return false;
}

/* 30 jobs, two tenants, from 0 s. */
static void write_jobs(const struct world *world)
{
    char text[2000] = "job,submit,duration,gpus,lim,ten\n";
    size_t used = strlen(text);

    for (int i = 0; i < 30; i++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "j%d,%d,%d,%d,%d,t%d\n", i, i * 100,
                                 300 + i * 37 % 900, 1 + i % 3, 2000, i % 2);
    world_write(world, "jobs.csv", text);
}

struct reading {
    FILE *file;
    struct world world;
    char name[32];
    uint64_t base;
    unsigned worlds, tries, acts, refusals, wrong;
};

static void read_world(struct reading *r)
{
    char text[8000] = "", line[LINE];
    struct err err;

    while (fgets(line, sizeof line, r->file) && strcmp(line, "-----\n") != 0)
        strncat(text, line, sizeof text - strlen(text) - 1);
    world_write(&r->world, "experiment.yaml", text);
    r->base = run_with(r->world.folder, NULL, &err);
    if (r->base == 0)
        fail_msg("%s: %s", r->name, err.text);
    r->worlds++;
}

static void judge(struct reading *r, const char *set, bool refused)
{
    struct err err;
    uint64_t sum = run_with(r->world.folder, set, &err);
    bool said = sum == 0 && strstr(err.text, "does nothing here") != NULL &&
                err.hint[0] != '\0';

    r->tries++;
    r->acts += sum != 0 && sum != r->base;
    r->refusals += said;
    if (refused ? said : sum != r->base || may_be_idle(set))
        return;
    r->wrong++;
    print_message("%s: %s: %s\n", r->name, set,
                  refused ? "is not refused" : "does nothing, untold");
}

static void a_key_acts_or_is_refused_or_has_a_reason(void **state)
{
    struct reading r = { .file = fopen("tests/keys/idle_keys.txt", "r") };
    char line[LINE];

    (void)state;
    assert_non_null(r.file);
    strcpy(r.world.folder, "/tmp/clustersim-test-XXXXXX");
    assert_non_null(mkdtemp(r.world.folder));
    write_jobs(&r.world);
    while (fgets(line, sizeof line, r.file)) {
        line[strcspn(line, "\n")] = '\0';
        if (sscanf(line, "world %31s", r.name) == 1 &&
            strncmp(line, "world ", 6) == 0)
            read_world(&r);
        else if (strncmp(line, "exempt ", 7) == 0)
            assert_int_equal(sscanf(line, "exempt %31s",
                                    idle_key[idle_count++]), 1);
        else if (strncmp(line, "try ", 4) == 0)
            judge(&r, line + 4, false);
        else if (strncmp(line, "refused ", 8) == 0)
            judge(&r, line + 8, true);
    }
    fclose(r.file);
    print_message("%u worlds, %u keys set: %u act, %u are refused\n", r.worlds,
                  r.tries, r.acts, r.refusals);
    assert_int_equal(r.wrong, 0);
    assert_true(r.worlds >= 20 && r.acts > 250 && r.refusals >= 60);
    r.world.arena = arena_new(0);
    world_close(&r.world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_key_acts_or_is_refused_or_has_a_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

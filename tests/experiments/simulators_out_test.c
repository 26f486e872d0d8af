/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * simulators_out_test.c - `clustersim export --format batsim` and `opendc`, read
 * by readers of this file alone, which follow the documentation of BatSim
 * ("Workload") and OpenDC ("Workload", "Topology").
 */
#include <ctype.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "tests/aid/import_aid.h"

#define JOBS "job,submit_s,run_s,gpus,limit_s,tenant\n" \
    "a,0,90.25,2,3600,x\n\"b, \"\"c\"\"\",1.5,90.25,1,0,y\nd,7,3,4,9,x\n"
#define JOBS_MAX 16

/* ---- a reader of JSON ------------------------------------------------------ */

static const char *at;          /* what is left of the text */

static void skip_blanks(void)
{
    while (isspace((unsigned char)*at))
        at++;
}

static void expect(char c)
{
    skip_blanks();
    if (*at != c)
        fail_msg("'%c' is expected before: %.40s", c, at);
    at++;
}

static bool is_next(char c)
{
    skip_blanks();
    return *at == c;
}

static void read_string(char out[64])
{
    size_t n = 0;

    expect('"');
    while (*at != '"' && n < 63) {
        assert_true(*at != '\0' && *at != '\n');
        if (*at == '\\')
            at++;
        out[n++] = *at++;
    }
    out[n] = '\0';
    expect('"');
}

static double read_number(void)
{
    char *end;
    double value;

    skip_blanks();
    assert_true(isdigit((unsigned char)*at));
    value = strtod(at, &end);
    at = end;
    return value;
}

/* ---- BatSim ---------------------------------------------------------------- */

struct batsim {
    double nb_res;
    size_t jobs, profiles;
    struct { char id[64], profile[64]; double subtime, res, walltime; }
        job[JOBS_MAX];
    struct { char name[64], type[64]; double delay; } profile[JOBS_MAX];
};

static void read_job(struct batsim *w)
{
    char key[64];
    size_t i = w->jobs++;

    assert_true(i < JOBS_MAX);
    w->job[i].subtime = w->job[i].res = w->job[i].walltime = -1.0;
    expect('{');
    do {
        read_string(key);
        expect(':');
        if (!strcmp(key, "id"))
            read_string(w->job[i].id);
        else if (!strcmp(key, "profile"))
            read_string(w->job[i].profile);
        else if (!strcmp(key, "subtime"))
            w->job[i].subtime = read_number();
        else if (!strcmp(key, "res"))
            w->job[i].res = read_number();
        else if (!strcmp(key, "walltime"))
            w->job[i].walltime = read_number();
        else
            fail_msg("a job has no field %s", key);
    } while (is_next(',') && at++);
    expect('}');
}

static void read_profile(struct batsim *w)
{
    char key[64];
    size_t i = w->profiles++;

    assert_true(i < JOBS_MAX);
    w->profile[i].delay = -1.0;
    read_string(w->profile[i].name);
    expect(':');
    expect('{');
    do {
        read_string(key);
        expect(':');
        if (!strcmp(key, "type"))
            read_string(w->profile[i].type);
        else if (!strcmp(key, "delay"))
            w->profile[i].delay = read_number();
        else
            fail_msg("a delay profile has no field %s", key);
    } while (is_next(',') && at++);
    expect('}');
}

static void read_batsim(const char *text, struct batsim *w)
{
    char key[64], value[64];

    memset(w, 0, sizeof *w);
    at = text;
    expect('{');
    do {
        read_string(key);
        expect(':');
        if (!strcmp(key, "nb_res")) {
            w->nb_res = read_number();
        } else if (!strcmp(key, "jobs")) {
            expect('[');
            do
                read_job(w);
            while (is_next(',') && at++);
            expect(']');
        } else if (!strcmp(key, "profiles")) {
            expect('{');
            do
                read_profile(w);
            while (is_next(',') && at++);
            expect('}');
        } else {
            read_string(value);
        }
    } while (is_next(',') && at++);
    expect('}');
    skip_blanks();
    assert_int_equal(*at, '\0');
}

/* The run time of a job, which its profile has. */
static double delay_of(const struct batsim *w, size_t i)
{
    double delay = NAN;
    size_t found = 0;

    for (size_t p = 0; p < w->profiles; p++)
        if (!strcmp(w->profile[p].name, w->job[i].profile)) {
            assert_string_equal(w->profile[p].type, "delay");
            delay = w->profile[p].delay;
            found++;
        }
    assert_int_equal(found, 1);
    return delay;
}

/* export WORKLOAD of JOBS -o NAME --format FORMAT MORE; what it printed. */
static char *export_jobs(const struct program *program, const char *name,
                         const char *format, const char *option,
                         const char *value)
{
    char csv[160], workload[160], path[160], *said;
    const char *none[] = { NULL };
    const char *words[] = { "export", workload, "-o",
                            in_folder(program, name, path), "--format",
                            format, option, value, NULL };

    write_file(in_folder(program, "jobs.csv", csv), JOBS);
    assert_int_equal(import(program, "csv", csv, none, &said), 0);
    free(said);
    in_folder(program, "w.yaml", workload);
    if (run(program, words, &said) != 0)
        fail_msg("%s", said);
    return said;
}

static void batsim_has_each_job_with_its_profile(void **state)
{
    static const struct { const char *id; double subtime, res, delay, limit; }
    want[] = { { "a", 0, 2, 90.25, 3600 }, { "b, \"c\"", 1.5, 1, 90.25, -1 },
               { "d", 7, 4, 3, 9 } };
    const struct program *program = the_program(state);
    char path[160], *text, *said;
    struct batsim w;

    said = export_jobs(program, "b.json", "batsim", "--gpus", "8");
    has(said, "b.json: 3 jobs\n  3 jobs: have a tenant");
    free(said);
    text = program_read(in_folder(program, "b.json", path));
    read_batsim(text, &w);
    assert_true(w.nb_res == 8.0);
    assert_int_equal(w.jobs, 3);
    assert_int_equal(w.profiles, 2);    /* 90.25 s stands once */
    for (size_t i = 0; i < 3; i++) {
        assert_string_equal(w.job[i].id, want[i].id);
        assert_true(w.job[i].subtime == want[i].subtime);
        assert_true(w.job[i].res == want[i].res);
        assert_true(w.job[i].walltime == want[i].limit);
        assert_true(delay_of(&w, i) == want[i].delay);
    }
    free(text);
}

/* Without a cluster there are as many resources as the largest job takes. */
static void batsim_holds_its_largest_job(void **state)
{
    const struct program *program = the_program(state);
    char path[160], *text;
    struct batsim w;

    free(export_jobs(program, "b.json", "batsim", NULL, NULL));
    text = program_read(in_folder(program, "b.json", path));
    read_batsim(text, &w);
    assert_true(w.nb_res == 4.0);
    free(text);
}

/* ---- OpenDC ---------------------------------------------------------------- */

static void opendc_has_a_fragment_for_each_task(void **state)
{
    const struct program *program = the_program(state);
    char path[160], cluster[160], *text, *said;

    write_file(in_folder(program, "c.yaml", cluster), "nodes:\n"
               "  - {name: g, count: 3, gpus: {type: generic, count: 2}, "
               "cores: 8, memory: 64GB}\n"
               "  - {name: c, count: 1, cores: 8, memory: 64GB}\n");
    said = export_jobs(program, "t.csv", "opendc", "--cluster", cluster);
    has(said, "t.csv: 3 jobs\n  2 jobs: have a limit");
    has(said, "  1 jobs: ask for more GPUs than any node has");
    free(said);
    text = program_read(in_folder(program, "t.csv", path));
    assert_string_equal(text, "id,submission_time,duration,cpu_count,"
                        "cpu_capacity,mem_capacity\n"
                        "\"a\",0,90250,2,2000.0,0\n"
                        "\"b, \"\"c\"\"\",1500,90250,1,1000.0,0\n"
                        "\"d\",7000,3000,4,4000.0,0\n");
    free(text);
    text = program_read(in_folder(program, "t.fragments.csv", path));
    assert_string_equal(text, "id,duration,cpu_count,cpu_usage\n"
                        "\"a\",90250,2,2000.0\n"
                        "\"b, \"\"c\"\"\",90250,1,1000.0\n"
                        "\"d\",3000,4,4000.0\n");
    free(text);
}

/* clusters[].hosts[] with name, count, cpu and memory; nodes without GPUs are not
 * there. */
static void opendc_topology_has_the_nodes_with_gpus(void **state)
{
    static const char *const keys[] = { "clusters", "name", "hosts" };
    const struct program *program = the_program(state);
    char path[160], cluster[160], word[64], *text;

    write_file(in_folder(program, "c.yaml", cluster), "nodes:\n"
               "  - {name: 'g\"h', count: 3, gpus: {type: generic, count: 2}, "
               "cores: 8, memory: 64GB}\n"
               "  - {name: c, count: 1, cores: 8, memory: 64GB}\n");
    free(export_jobs(program, "t.csv", "opendc", "--cluster", cluster));
    text = program_read(in_folder(program, "t.topology.json", path));
    at = text;
    for (size_t i = 0; i < 3; i++) {
        if (i < 2)
            expect('{');
        read_string(word);
        assert_string_equal(word, keys[i]);
        expect(':');
        if (i != 1)
            expect('[');
        if (i == 1) {
            read_string(word);
            expect(',');
        }
    }
    expect('{');
    read_string(word);
    assert_string_equal(word, "name");
    expect(':');
    read_string(word);
    assert_string_equal(word, "g\"h");
    has(at, "\"count\": 3, \"cpu\": {\"coreCount\": 2, \"coreSpeed\": 1000}, "
        "\"memory\": {\"memorySize\": 64000000000}}\n]}]}\n");
    free(text);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(batsim_has_each_job_with_its_profile),
        cmocka_unit_test(batsim_holds_its_largest_job),
        cmocka_unit_test(opendc_has_a_fragment_for_each_task),
        cmocka_unit_test(opendc_topology_has_the_nodes_with_gpus),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, program_setup, program_teardown);
}

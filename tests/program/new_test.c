/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * new_test.c - `clustersim new`: files that are right for every recipe on many
 * clusters, questions on a terminal, and answers that are refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiments/start/start.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "tests/aid/scratch.h"

static char program[4096];      /* its path */

/* Runs lines of sh in the scratch folder, where `clustersim` is the program, and
 * returns their status; what they say goes to the file `said`. */
static int run_lines(struct scratch *scratch, const char *lines)
{
    char command[8192];

    snprintf(command, sizeof command, "cd %s; clustersim() { '%s' \"$@\"; "
             "}; new() { clustersim new \"$@\"; }; { %s\n} >said 2>&1", scratch->dir, program,
             lines);
    int status = system(command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

static void expect_lines(struct scratch *scratch, const char *lines, int status,
                         const char *says)
{
    int got = run_lines(scratch, lines);
    char *said = scratch_read(scratch, "said");

    assert_non_null(said);
    if (got != status || strstr(said, says) == NULL)
        fail_msg("%s: status %d for %d, and it says\n%s", lines, got, status, said);
    free(said);
}

/* One node, parts of nodes, many, two types, GPUs without BF16. */
static void every_recipe_is_right_on_every_kind_of_cluster(void **state)
{
    expect_lines(*state,
        "jobs=$(new --jobs nothing-like-it 2>&1 | sed -n 's/.*Allowed: //p' | tr -d ',.')\n"
        "n=0; for job in $jobs; do\n"
        "for gpus in t4:2 v100-32:8 l40s:12 rtx-2080ti:16 h100:64 a100-80:32,l40s:16; do\n"
        "new --jobs $job --gpus $gpus -o x.yaml && clustersim validate x.yaml || exit 9\n"
        "rm x*.yaml; n=$((n + 1)); done; done; echo $n combinations", 0, "60 combinations");
}

static void what_is_compared_changes_the_sweep(void **state)
{
    expect_lines(*state, "new --compare load --load 100% -o l.yaml && clustersim validate l.yaml"
                 " && clustersim l.yaml -q && ls out/l && cat out/l/compare.csv",
                 0, "report.html");
    expect_lines(*state, "new --compare size --jobs dpo --gpus a100-80:32 -o s.yaml && "
                 "clustersim validate s.yaml | head -1; grep count: s.yaml", 0,
                 "cluster.nodes.*.count: [2, 3, 4]");
    expect_lines(*state, "new --compare size --gpus h100:8,l4:32 -o t.yaml && "
                 "clustersim validate t.yaml && grep count: t.yaml", 0,
                 "cluster.nodes.h100.count: [1, 2, 3]");
}

/* `validate` counts the load on its own. */
static void the_load_is_that_of_the_fullest_pool(void **state)
{
    expect_lines(*state, "new --jobs grpo,lora --load 65% -o x.yaml && clustersim validate "
                 "x.yaml | grep -m 1 'train *16 GPUs'", 0, "0.650");
}

/* Questions come one by one; wrong answers are asked again.  The last line is of the
 * files that the answers made. */
static void a_terminal_is_asked_five_questions(void **state)
{
    if (system("command -v script >/dev/null") != 0) {
        print_message("skip: there is no script(1) to make a terminal\n");
        skip();
    }
    expect_lines(*state, "printf '%s\\n' '' t5:4 t4:4 lora,lroa lora '' fcfs,easi fcfs,easy | "
                 "script -qec \"'$PROGRAM' new\" "
                 "/dev/null | tr -d '\\r' && clustersim validate first.yaml && "
                 "grep policies: first.yaml && grep 'type: t4, count: 4' first-cluster.yaml",
                 0, "policies: [fcfs, easy]");
    expect_lines(*state, "cat first.yaml; exit 0", 0, "policies: [fcfs, easy]");
    expect_lines(*state, "printf '%s\\n' '' '' '' '' | script -qec \"'$PROGRAM' new -o two.yaml\""
                 " /dev/null; ls; exit 0", 0, "nothing is written");
    assert_int_equal(run_lines(*state, "ls two*.yaml"), 2);
}

/* The end of a long line is no answer: t4:4 is not taken, and h100:8 is, so that lora
 * answers the question of jobs. */
static void the_end_of_a_long_answer_is_not_taken_for_one(void **state)
{
    char in[1200], out[8000] = "";
    struct arena *arena = arena_new(0);
    struct err err = { 0 };
    struct start *start = start_open(arena, "x.yaml", NULL, &err);
    FILE *from, *to = fmemopen(out, sizeof out, "w");

    (void)state;
    snprintf(in, sizeof in, "\n%01023dt4:4\nh100:8\nlora\n\n\n", 0);
    from = fmemopen(in, strlen(in), "r");
    assert_true(start != NULL && from != NULL && to != NULL);
    assert_true(start_ask(start, from, to));
    fclose(from);
    fclose(to);
    assert_non_null(strstr(out, "an answer must have at most 1022 characters"));
    assert_null(strstr(out, "h100:8'"));
    arena_free(arena);
}

static void without_a_terminal_the_options_are_told(void **state)
{
    expect_lines(*state, "new </dev/null", 2, "--compare, --gpus, --jobs, --load, --policies");
    expect_lines(*state, "new -o x.yaml", 2, "no question can be asked");
}

/* An H100 has 989 TFLOPS in BF16, an H20 148, an L40S 362; a V100 112 in FP16 alone, a T4 65.  An
 * H200 has as many as an H100 and the faster memory, so it generates; so does the H20 with 4,000
 * GB/s rather than the L40S with 864. */
static void the_gpus_of_most_flops_train_in_any_order(void **state)
{
    expect_lines(*state,
        "roles() { new --jobs dpo --gpus $1 -o y.yaml >/dev/null &&\n"
        "sed -n 's/.*- name: //p; s/ *gpus: {type: \\([^,]*\\),.*/\\1/p' y-cluster.yaml |\n"
        "paste -sd ' '; rm y*.yaml; }\n"
        "roles h100:8,l40s:8; roles l40s:8,h100:8; roles h100:8,h200:8; roles h200:8,h100:8\n"
        "roles v100-32:8,t4:8; roles h20:8,l40s:8,h100:8; roles h100:8,l40s:8,h20:8", 0,
        "train h100 rollout l40s\nrollout l40s train h100\ntrain h100 rollout h200\n"
        "rollout h200 train h100\ntrain v100-32 rollout t4\n"
        "rollout h20 l40s l40s train h100\ntrain h100 l40s l40s rollout h20\n");
}

static void wrong_answers_are_refused_with_the_nearest(void **state)
{
    static const struct { const char *typed; int status; const char *says; } answers[] = {
        { "new --gpus a10-80:8", 2, "Did you mean 'a100-80'?" },
        { "new --gpus a100:8", 2, "It may be a100-40 or a100-80." },
        { "new --gpus h100-94:8", 2, "'h100' is known; is it meant?" },
        { "new --gpus genric:8", 2, "Did you mean generic?" },
        { "new --gpus a100-80", 2, "Write for example a100-80:64." },
        { "new --gpus a100-80:0", 2, "from 1 to 100000, and is '0'" },
        { "new --gpus t4:8,t4:4", 2, "the type t4 is there twice" },
        { "new --jobs lroa", 2, "Did you mean lora?" },
        { "new --jobs dpo --gpus t4:1", 2, "two GPUs or more" },
        { "new --jobs lora --gpus generic:8", 2, "jobs of known length" },
        { "new --load 80", 2, "such as 80%, and is '80'" },
        { "new --load 900%", 2, "from 1% to 500%" },
        { "new --compare sizes", 2, "Did you mean size?" },
        { "new --policies fcfs,eazy", 2, "Did you mean easy?" },
        { "new --policies fcfs,fcfs", 2, "there twice" },
        { "new --jobs dpo --policies gavel", 3, "gavel" },
        { "new --jobs a.csv", 4, "a.csv" },
        { "new --load 80% -o x.yml", 2, "must end in .yaml" },
        { "new plicy x", 2, "new policy NAME" },
        { "new policy", 2, "needs a name" },
    };

    for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++)
        expect_lines(*state, answers[i].typed, answers[i].status, answers[i].says);
    assert_int_equal(run_lines(*state, "ls *.yaml"), 2);
}

static void nothing_is_written_over(void **state)
{
    expect_lines(*state, "echo mine >first-workload.yaml; new --load 80%", 4,
                 "first-workload.yaml: file error: is there already");
    expect_lines(*state, "cat first-workload.yaml; ls", 0, "mine");
    assert_int_equal(run_lines(*state, "ls first.yaml first-cluster.yaml"), 2);
}

static void a_trace_is_taken_by_its_header(void **state)
{
    scratch_write(*state, "jobs.csv", "job_id,submit_time,num_gpu,runtime,user\n"
                  "a,0,2,100,u\nb,5,4,50,v\nc,6,8,10,u\n");
    scratch_write(*state, "other.csv", "name,arrived,n,length\na,0,2,100\nb,5,4,50\n");
    expect_lines(*state, "mkdir sub; new --jobs jobs.csv --gpus generic:8 -o sub/x.yaml && "
                 "clustersim sub/x.yaml -q -o r && awk -F, '{ print $4, $5 }' r/summary.csv",
                 0, "3 3");
    expect_lines(*state, "new --jobs other.csv -o y.yaml", 3, "--columns submit=NAME");
    expect_lines(*state, "new --jobs other.csv --columns submit=arrived,gpus=n,duration=length "
                 "--gpus t4:8 -o y.yaml && clustersim validate y.yaml", 0, "ok");
    expect_lines(*state, "new --jobs jobs.csv --load 80% -o z.yaml", 2, "Leave --load away");
    expect_lines(*state, "new --jobs jobs.csv --compare load -o z.yaml", 2, "take a recipe");
}

int main(int argc, char **argv)
{
    const char *slash = strrchr(argv[0], '/');
    char here[2048];
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_setup, scratch_teardown)
        TEST(every_recipe_is_right_on_every_kind_of_cluster),
        TEST(what_is_compared_changes_the_sweep),
        TEST(the_load_is_that_of_the_fullest_pool),
        TEST(a_terminal_is_asked_five_questions),
        TEST(the_end_of_a_long_answer_is_not_taken_for_one),
        TEST(without_a_terminal_the_options_are_told),
        TEST(wrong_answers_are_refused_with_the_nearest),
        TEST(the_gpus_of_most_flops_train_in_any_order),
        TEST(nothing_is_written_over),
        TEST(a_trace_is_taken_by_its_header),
    };

    (void)argc;
    assert_non_null(getcwd(here, sizeof here));
    snprintf(program, sizeof program, "%s%s%.*s/../clustersim", argv[0][0] == '/' ? "" : here,
             argv[0][0] == '/' ? "" : "/", slash == NULL ? 1 : (int)(slash - argv[0]),
             slash == NULL ? "." : argv[0]);
    setenv("PROGRAM", program, 1);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

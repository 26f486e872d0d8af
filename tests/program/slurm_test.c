/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * slurm_test.c - batch files say what is to run; an sbatch that is a script takes them, or
 * refuses.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/shell.h"

const char *program_argv0;

static const char small[] =
    "experiment: x\n"
    "seeds: 4\n"
    "policies: [{policy: ljf, placement: count, estimate: noisy}]\n"
    "output: {plots: []}\n";

/* It names what it was asked, and gives jobs the numbers 41, 42 ... */
static const char sbatch[] =
    "#!/bin/sh\n"
    "echo \"$@\" >>asked\n"
    "echo $((40 + $(wc -l <asked)))\n";

static int setup(void **state)
{
    struct shell *w = shell_new(small);

    scratch_write(&w->scratch, "sbatch", sbatch);
    /* The program stands alone there, so that it finds no module of MPI. */
    w->before = "chmod +x sbatch && mkdir -p bin && cp $C bin/cs && cs=bin/cs && PATH=$PWD:$PATH";
    *state = w;
    return 0;
}

static void array_is_submitted_with_a_merge_behind_it(void **state)
{
    struct shell *w = *state;

    run_line(w, "$cs run e.yaml -o r --slurm '-p cpu -N 3'", 0,
             "submitted as job 41, 3 shards, and job 42");
    run_line(w, "cat asked", 0,
             "--parsable r.sbatch\n--parsable --dependency=afterany:41 r.merge.sbatch\n");
    run_line(w, "cat r.sbatch", 0, "#SBATCH -p cpu\n#SBATCH --nodes=1 --ntasks=1 --array=1-3\n");
}

/* The files are scripts: here a shell runs them as Slurm would. */
static void batch_files_run_what_they_say(void **state)
{
    struct shell *w = *state;

    run_line(w, "$cs run e.yaml -q -o whole && "
                "$cs run e.yaml -q -o \"a dir/it's\" --slurm '--array=1-2%1 -c 2' --dry-run", 0,
             "a dir/it's.sbatch\na dir/it's.merge.sbatch\n");
    run_line(w, "for i in 1 2; do SLURM_ARRAY_TASK_ID=$i sh \"a dir/it's.sbatch\" || exit; done; "
                "sh \"a dir/it's.merge.sbatch\" && "
                "cmp whole/summary.csv \"a dir/it's/summary.csv\"", 0, NULL);
}

/* As a shell completes it: else the files were hidden ones in the folder. */
static void files_stand_beside_a_folder_with_a_slash(void **state)
{
    struct shell *w = *state;

    run_line(w, "$cs run e.yaml -o out/r// --slurm '-n 2' --dry-run", 0,
             "out/r.sbatch\nout/r.merge.sbatch\n");
    run_line(w, "cat out/r.sbatch", 0, "-o 'out/r'.shard-");
}

/* Each job of the array runs the experiment that was asked for. */
static void what_changes_the_experiment_is_handed_on(void **state)
{
    struct shell *w = *state;

    run_line(w, "$cs run e.yaml -o r --slurm '-n 2' --dry-run --set experiment=x "
                "--set output.plots=[cost] --seeds 2 --only ljf", 0, "r.sbatch\n");
    run_line(w, "cat r.sbatch", 0, "'e.yaml' --set 'experiment=x' --set 'output.plots=[cost]' "
                                   "--seeds '2' --only 'ljf'");
}

static void merge_says_which_shard_is_missing(void **state)
{
    struct shell *w = *state;

    run_line(w, "$cs run e.yaml -q -o r --slurm '-n 2' --dry-run && "
                "SLURM_ARRAY_TASK_ID=2 sh r.sbatch && sh r.merge.sbatch", 5,
             "shard 1/2 has 0 of 2: it is not among the folders");
}

static void options_of_sbatch_are_read_as_it_reads_them(void **state)
{
    struct shell *w = *state;

    run_line(w, "$cs run e.yaml -o r --slurm '--comment=\"a -N 9\" --ntasks 5 -N2' --dry-run && "
                "cat r.sbatch", 0,
             "#SBATCH --comment=\"a -N 9\"\n#SBATCH --nodes=1 --ntasks=1 --array=1-5\n");
    run_line(w, "$cs run e.yaml -o r --slurm '-a 1-4%2 -t 5' --dry-run && cat r.sbatch", 0,
             "#SBATCH -a 1-4%2 -t 5\n");
    run_line(w, "$cs run e.yaml -o r --slurm '--array=\"1-4\"' --dry-run && cat r.sbatch", 0,
             "--shard \"$SLURM_ARRAY_TASK_ID/4\"");
    /* In single quotation marks, too, a backslash takes the meaning of the mark behind it. */
    run_line(w, "$cs run e.yaml -o r --slurm \"--comment='a\\\\' -n 9' -n 6\" --dry-run && "
                "cat r.sbatch", 0,
             "#SBATCH --nodes=1 --ntasks=1 --array=1-6\n");
}

/* From a # on, sbatch takes its line for a comment, and the job would have one node. */
static void options_that_sbatch_would_not_read_are_refused(void **state)
{
    struct shell *w = *state;

    run_line(w, "$cs run e.yaml -o r --slurm '--comment=a#b -N 3'", 2, "from '#' on");
    run_line(w, "$cs run e.yaml -o r --slurm '-N 3 # nodes'", 2, "from '#' on");
    run_line(w, "test ! -e r.sbatch && test ! -e asked", 0, NULL);
    run_line(w, "$cs run e.yaml -o r --slurm '--comment=\"a#b\" -J c\\#d -N 3' --dry-run && "
                "cat r.sbatch", 0, "#SBATCH --comment=\"a#b\" -J c\\#d\n");
}

/* 2^32 + 3 and such are no 3. */
static void counts_out_of_range_are_refused(void **state)
{
    struct shell *w = *state;

    run_line(w, "$cs run e.yaml -o r --slurm '-a 1-4294967299'", 2, "1000000 at most");
    run_line(w, "$cs run e.yaml -o r --slurm '-a 1-+3'", 2, "must be 1-N");
    run_line(w, "$cs run e.yaml -o r --slurm '-a 1-3%x'", 2, "must be 1-N");
    run_line(w, "$cs run e.yaml -o r --slurm '-n 4294967299'", 2, "does not say how many");
    run_line(w, "test ! -e r.sbatch && test ! -e asked", 0, NULL);
}

static void what_sbatch_refuses_is_told_in_its_words(void **state)
{
    struct shell *w = *state;

    scratch_write(&w->scratch, "sbatch", "#!/bin/sh\necho 'sbatch: no such partition' >&2\n"
                                         "exit 1\n");
    run_line(w, "$cs run e.yaml -o r --slurm '-n 2'", 2, "It says: sbatch: no such partition");
    run_line(w, "rm sbatch; PATH=/nowhere; $cs run e.yaml -o r --slurm '-n 2'", 2,
             "there is none on PATH");
}

/* Without its number no job could wait for it. */
static void job_without_a_number_is_an_error(void **state)
{
    struct shell *w = *state;

    scratch_write(&w->scratch, "sbatch", "#!/bin/sh\necho x >>asked\n");
    run_line(w, "$cs run e.yaml -o r --slurm '-n 2'", 4, "the number of the job was not read");
    run_line(w, "cat asked | wc -l", 0, "1");
}

static void what_jobs_cannot_do_is_refused_before_anything_is_written(void **state)
{
    struct shell *w = *state;

    run_line(w, "$cs run e.yaml -o r --slurm '-p cpu'", 2, "does not say how many");
    run_line(w, "$cs run e.yaml -o r --slurm '-a 0-3'", 2, "must be 1-N");
    run_line(w, "$cs run e.yaml -o r --slurm '-n 2' --shard 1/2", 2, "leave out --shard");
    run_line(w, "$cs run e.yaml -o r --dry-run", 2, "--dry-run needs --slurm");
    run_line(w, "$cs run e.yaml -o r --slurm '-n 2' "
                "--set 'seeds={until: \"±5%\", at_most: 40}'", 2,
             "--seeds N gives a number");
    run_line(w, "$cs run e.yaml -o r --slurm '-n 2' --set seeds=no", 3, "seeds");
    run_line(w, "test ! -e r.sbatch && test ! -e asked", 0, NULL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, shell_teardown)

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        TEST(array_is_submitted_with_a_merge_behind_it),
        TEST(batch_files_run_what_they_say),
        TEST(files_stand_beside_a_folder_with_a_slash),
        TEST(what_changes_the_experiment_is_handed_on),
        TEST(merge_says_which_shard_is_missing),
        TEST(options_of_sbatch_are_read_as_it_reads_them),
        TEST(options_that_sbatch_would_not_read_are_refused),
        TEST(counts_out_of_range_are_refused),
        TEST(what_sbatch_refuses_is_told_in_its_words),
        TEST(job_without_a_number_is_an_error),
        TEST(what_jobs_cannot_do_is_refused_before_anything_is_written),
    };

    assert(argc > 0);
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

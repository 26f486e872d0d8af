/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * cli_test.c - exit statuses, messages and files of the commands.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "experiments/cli/cli.h"
#include "tests/aid/logs.h"
#include "tests/aid/scratch.h"

#define WORDS_MAX 24

struct said {
    int status;
    char out[16384], err[8192];
};

static void collect(FILE *file, char *text, size_t room)
{
    size_t got;

    rewind(file);
    got = fread(text, 1, room - 1, file);
    text[got] = '\0';
    fclose(file);
}

/* Splits `line` at blanks; every @ becomes the scratch folder. */
static void say(struct scratch *scratch, struct said *said, const char *line)
{
    char text[2048], *argv[WORDS_MAX] = { (char *)"clustersim" }, *p = text;
    FILE *out = tmpfile(), *err = tmpfile();
    int argc = 1;

    for (; *line != '\0'; line++)
        if (*line == '@')
            p += sprintf(p, "%s", scratch->dir);
        else
            *p++ = *line;
    *p = '\0';
    for (p = strtok(text, " "); p != NULL; p = strtok(NULL, " "))
        argv[argc++] = p;
    assert_true(out != NULL && err != NULL && argc < WORDS_MAX);
    said->status = cli_main(argc, argv, out, err);
    collect(out, said->out, sizeof said->out);
    collect(err, said->err, sizeof said->err);
}

static const char experiment[] =
    "experiment: small\n"
    "seeds: 2\n"
    "policies: [{policy: fcfs, placement: count}, {policy: sjf, placement: "
    "count, estimate: noisy, noise: 0.01}]\n"
    "output: {plots: [], tables: [compare, jobs, phases, timeline, "
    "decisions]}\n"
    "expect:\n"
    "  - {claim: C1, metric: jct_mean_s, policy: sjf, vs: fcfs, at_most: "
    "-1%}\n"
    "  - {claim: C2, metric: jobs_done, policy: fcfs, between: [40, 40]}\n";

static int setup(void **state)
{
    struct scratch *scratch = calloc(1, sizeof *scratch);

    scratch_open(scratch);
    scratch_experiment(scratch, experiment);
    *state = scratch;
    return 0;
}

static int teardown(void **state)
{
    scratch_close(*state);
    free(*state);
    return 0;
}

static void assert_says(const char *text, const char *part)
{
    if (strstr(text, part) == NULL)
        fail_msg("no '%s' in: %s", part, text);
}

static void assert_same_file(struct scratch *scratch, const char *a,
                             const char *b)
{
    char *left = scratch_read(scratch, a), *right = scratch_read(scratch, b);

    assert_non_null(left);
    assert_non_null(right);
    assert_string_equal(left, right);
    free(left);
    free(right);
}

static void usage_errors_exit_2_and_name_the_nearest(void **state)
{
    static const struct {
        const char *line, *part;
    } wrong[] = {
        { "", "usage: clustersim" },
        { "chekc x", "Did you mean check?" },
        { "nothing", "there is no command 'nothing'" },
        { "advise", "advise needs an operand" },
        { "advise @/e.yaml --sort x", "--sort must be cost or time" },
        { "advise @/e.yaml --gpus 0", "--gpus must be a whole number" },
        { "run", "run needs an operand" },
        { "run a.yaml b.yaml", "'b.yaml' is one word too many" },
        { "run a.yaml --sed 3", "there is no option '--sed'" },
        { "fork a.yaml --at 1h --set policy=sjf --shard 1/2",
          "there is no option '--shard' here\nhint: Commands that take it: run" },
        { "fork a.yaml --slurm=x", "hint: Commands that take it: run" },
        { "run a.yaml --seeds", "--seeds needs a value" },
        { "run a.yaml --output=", "--output needs a value, and is empty" },
        { "run a.yaml --seeds x", "--seeds must be a whole number" },
        { "run a.yaml --seeds 0", "--seeds must be a whole number" },
        { "run a.yaml --resume=1", "--resume takes no value" },
        { "run @/e.yaml -j 0", "--threads must be a whole number" },
        { "run a.yaml --shard 3/2", "--shard must be I/N" },
        { "run @/e.yaml --set x", "--set needs KEY=VALUE" },
        { "run @/e.yaml --only sfj", "Did you mean sjf?" },
        { "compare @", "compare needs two operands" },
        { "list gpu", "Did you mean gpus?" },
        { "explain sedes", "Did you mean seeds?" },
        { "explain stirct", "Did you mean strict?" },
        { "explain heliso", "Did you mean helios?" },
        { "explain h1000", "Did you mean h100?" },
        { "schema experimnet", "there is no kind of file 'experimnet'\nhint: Did you mean "
                               "experiment?" },
        { "schema zzzzzz", "hint: Kinds are experiment, advise, cluster, workload, catalogue "
                           "and weights." },
        { "check experiments/claims/D1_weights.yaml --baseline @",
          "is a question to advise, which has no trials to compare" },
        { "check experiments/claims/D1_weights.yaml --only x", "is a question to advise" },
        { "plot @ --format gif", "--format must be png, svg or pdf" },
        { "train @/e.yaml", "train needs -o" },
        { "train @/e.yaml -o @/./e.yaml", "e.yaml would be overwritten: give -o another name" },
        { "check @/e.yaml --tolerance x", "--tolerance must be a fraction" },
    };
    struct said said;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        say(*state, &said, wrong[i].line);
        assert_int_equal(said.status, 2);
        assert_string_equal(said.out, "");
        assert_says(said.err, wrong[i].part);
    }
}

static void options_that_would_change_nothing_are_refused(void **state)
{
    static const struct {
        const char *line, *part;
    } wrong[] = {
        { "run @/e.yaml --only fcfs --only sjf", "--only is given twice: 'fcfs' and 'sjf'" },
        { "run @/e.yaml -o a --output=b", "--output is given twice: 'a' and 'b'" },
        { "run @/e.yaml --set seeds=2 --set seed=3 --set seeds=4",
          "--set is given twice: 'seeds=2' and 'seeds=4'" },
        { "run @/e.yaml --set seeds=2 --seeds 3",
          "seeds are given twice: --set seeds=2 and --seeds 3" },
        { "validate experiments/small_model.yaml --cluster models/clusters/mixed_64.yaml",
          "small_model.yaml: usage error: --cluster is what a workload is checked against" },
        { "check @/e.yaml --tolerance 5%", "--tolerance needs --baseline" },
        { "check @ --only fcfs", "--only is for an experiment, which is run, and " },
        { "check @ --set seeds=2", "--set is for an experiment, which is run, and " },
        { "check @ --output x", "--output is for an experiment, which is run, and " },
        { "check @ --resume", "--resume is for an experiment, which is run, and " },
        { "advise experiments/advise/d8_13b.yaml --job lora-13b --plot @/x.jpg",
          "--plot must name a file that ends with .png, and is '" },
        { "advise experiments/advise/d8_13b.yaml --memory --csv @/x.csv",
          "--csv has no effect with --memory" },
        { "advise experiments/advise/d8_13b.yaml --memory -o @/x.yaml",
          "--output has no effect with --memory" },
        { "export workloads/trace_sample.yaml -o @/x.swf", "--format swf writes SWF" },
    };
    struct said said;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        say(*state, &said, wrong[i].line);
        assert_int_equal(said.status, 2);
        assert_string_equal(said.out, "");
        assert_says(said.err, wrong[i].part);
    }
}

/* One error says so, in the place of one for each key. */
static void an_experiment_in_the_place_of_its_part_is_told(void **state)
{
    static const struct {
        const char *line, *part;
    } wrong[] = {
        { "advise @/e.yaml", "the file is an experiment, not a workload" },
        { "advise workloads/dpo_mix.yaml --cluster @/e.yaml",
          "the file is an experiment, not a cluster" },
        { "export @/e.yaml -o @/e.csv", "the file is an experiment, not a workload" },
    };
    struct said said;

    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        say(*state, &said, wrong[i].line);
        assert_int_equal(said.status, 3);
        assert_string_equal(said.out, "");
        assert_says(said.err, wrong[i].part);
        assert_null(strstr(said.err, "is not known"));
    }
}

static void help_and_version_go_to_stdout(void **state)
{
    static const char *const lines[] = {
        "--help", "-h", "help", "--version", "run --help", "help check",
        "list --help", "train -h"
    };
    struct said said;

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        say(*state, &said, lines[i]);
        assert_int_equal(said.status, 0);
        assert_says(said.out, "clustersim");
        assert_string_equal(said.err, "");
    }
}

static void every_list_has_lines(void **state)
{
    static const char *const lines[] = {
        "list policies", "list gpus", "list cpus", "list links",
        "list models", "list prices", "list formats", "list metrics",
        "list recipes", "list semantics", "list columns", "list columns --json"
    };
    struct said said;

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        say(*state, &said, lines[i]);
        assert_int_equal(said.status, 0);
        assert_non_null(strchr(said.out, '\n'));
    }
}

/* What users write in files, wherever it stands. */
static void explain_knows_nested_keys_presets_and_values(void **state)
{
    static const struct {
        const char *words, *says, *also;
    } row[] = {
        { "explain cluster.nodes.gpus.count", "cluster.nodes[].gpus.count",
          "whole number" },
        { "explain rounds.length", "experiment.policies[].rounds.length",
          "required" },
        { "explain preemption.cost", "more: 60s",
          "experiment.policies[].preemption.cost" },
        { "explain helios", "helios: preset", "helios: placement" },
        { "explain gavel", "gavel: policy", "gavel: preset" },
        { "explain gavel", "workload.trace.format", "it holds for these" },
        { "explain strict", "strict: value of experiment.policies[].blocking, "
          "its default", "strict, skip, commit, drop" },
        { "explain best_fit", "best_fit: placement", "where it is bad" },
        { "explain poisson", "value of workload.arrival.process", "bursty" },
        { "explain makespan", "in objective of the policy gavel", "max-min" },
        { "explain h100", "in `clustersim list gpus`", "H100 SXM5" },
        { "explain A100-80GB", "A100-80GB: another name of a100-80", "SXM4 80 GB" },
        { "explain a100", "a100: may be a100-40", "a100: may be a100-80" },
        { "explain meta-llama/Llama-3.1-8B", "another name of llama-3.1-8b", "131072" },
        { "explain workload.mix.train.gpus", "GPUs the owner would like", "whole number" },
        { "explain workload.mix.0.train.gpus", "GPUs the owner would like", "whole number" },
        { "explain mix.train",
          "workload.mix[].train: table\n  GPUs that train\n  keys      gpus, min, ", "memory" },
        { "explain grpo", "workload.mix[].grpo: table\n  group relative policy optimization\n"
          "  keys      recipe, ", "\ngrpo: in `clustersim list recipes`\n" },
        { "explain rollout", "\nworkload.mix[].{dpo, grpo, ppo}.rollout\n  GPUs that generate: ",
          "\n  keys      gpus, min, " },
        { "explain services.gpu", "workload.services[].gpu\n  replicas on GPUs",
          "\n  keys      gpus, min, " },
        { "explain dpo", "in `clustersim list recipes`", "preference" },
        { "explain llama-3.1-8b", "in `clustersim list models`", "131072" },
        { "explain burstgpt", "in `clustersim list formats`", "tokens" },
        { "explain blocking", "acts on   fcfs, sjf", "synergy" },
        { "explain starburst", "needs wait: constant", "semantics that act: " },
    };
    struct said said;

    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        say(*state, &said, row[i].words);
        assert_int_equal(said.status, 0);
        assert_says(said.out, row[i].says);
        assert_says(said.out, row[i].also);
    }
    say(*state, &said, "explain blocking");
    assert_null(strstr(said.out, "srtf"));
}

static void explain_finds_keys_metrics_columns_and_policies(void **state)
{
    struct said said;

    say(*state, &said, "explain output.detail_seeds");
    assert_int_equal(said.status, 0);
    assert_says(said.out, "experiment.output.detail_seeds");
    say(*state, &said, "explain jct_mean_s");
    assert_says(said.out, "less is better");
    say(*state, &said, "explain backfill");
    assert_says(said.out, "backfill: term\n  A job that is not first in the queue starts early, "
                "because the jobs before\n  it do not fit now.\n");
    say(*state, &said, "explain fcfs");
    assert_says(said.out, "fcfs: policy");
    say(*state, &said, "explain p_value");
    assert_says(said.out, "column of compare.csv");
}

static void schema_is_one_json_object(void **state)
{
    struct said said;

    say(*state, &said, "schema");
    assert_int_equal(said.status, 0);
    assert_int_equal(said.out[0], '{');
}

static void run_writes_all_tables_and_prints_them(void **state)
{
    static const char *const files[] = {
        "o/summary.csv", "o/compare.csv", "o/jobs.csv", "o/phases.csv",
        "o/timeline.csv", "o/decisions.csv", "o/checks.csv", "o/audit.json",
        "o/provenance.json"
    };
    struct said said;

    say(*state, &said, "@/e.yaml -o @/o");
    assert_int_equal(said.status, 0);
    assert_says(said.out, "jobs done");
    assert_says(said.out, "semantics\n  fcfs: blocking=strict");
    assert_says(said.out, "C1: jct_mean_s of sjf vs fcfs at most -1%");
    assert_says(said.out, "results: ");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        char *text = scratch_read(*state, files[i]);

        assert_non_null(text);
        free(text);
    }
    assert_null(scratch_read(*state, "o/failures.csv"));
    assert_int_not_equal(access(scratch_path(*state, "o/.trials"), F_OK), 0);
}

static void quiet_run_prints_nothing(void **state)
{
    struct said said;

    say(*state, &said, "run -q @/e.yaml -o @/o");
    assert_int_equal(said.status, 0);
    assert_string_equal(said.out, "");
    assert_string_equal(said.err, "");
}

static void threads_and_shards_give_the_same_bytes(void **state)
{
    static const char *const files[] = {
        "summary.csv", "compare.csv", "jobs.csv", "phases.csv",
        "timeline.csv", "decisions.csv", "checks.csv", "audit.json"
    };
    struct said said;
    char a[64], b[64], command[256];

    say(*state, &said, "run -q @/e.yaml -o @/one -j 1");
    say(*state, &said, "run -q @/e.yaml -o @/many -j 3");
    assert_int_equal(said.status, 0);
    say(*state, &said, "run @/e.yaml -o @/s1 --shard 1/2");
    assert_says(said.out, "shard 1/2: 2 of 3 trials");
    assert_null(scratch_read(*state, "s1/summary.csv"));
    say(*state, &said, "run -q @/e.yaml -o @/s2 --shard 2/2");
    snprintf(command, sizeof command, "cp %s/s1/.trials/* %s/s2/.trials/",
             ((struct scratch *)*state)->dir, ((struct scratch *)*state)->dir);
    assert_int_equal(system(command), 0);
    say(*state, &said, "run @/e.yaml -o @/s2 --resume");
    assert_says(said.err, "3 trials were known already");
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        snprintf(a, sizeof a, "one/%s", files[i]);
        snprintf(b, sizeof b, "many/%s", files[i]);
        assert_same_file(*state, a, b);
        snprintf(b, sizeof b, "s2/%s", files[i]);
        assert_same_file(*state, a, b);
    }
}

static void check_exits_1_when_an_expectation_does_not_hold(void **state)
{
    struct said said;
    char *text;

    say(*state, &said, "check @/e.yaml -o @/o");
    assert_says(said.out, "holds          C2: jobs_done of fcfs");
    assert_int_equal(said.status, 0);
    say(*state, &said, "check @/e.yaml -o @/o --set expect.0.at_most=-99%");
    assert_int_equal(said.status, 1);
    say(*state, &said, "check @/o --junit @/j.xml --markdown @/m.md");
    assert_int_equal(said.status, 1);
    text = scratch_read(*state, "j.xml");
    assert_says(text, "tests=\"2\" failures=\"1\"");
    free(text);
    text = scratch_read(*state, "m.md");
    assert_says(text, "| does not hold | C1");
    free(text);
}

static void check_finds_a_regression_and_its_tolerance(void **state)
{
    struct said said;

    say(*state, &said, "run -q @/e.yaml -o @/a --set expect=[]");
    say(*state, &said, "run -q @/e.yaml -o @/b --set expect=[] --set "
        "cluster.nodes.gpu.count=3");
    say(*state, &said, "check @/a --baseline @/a");
    assert_int_equal(said.status, 2);
    say(*state, &said, "run -q @/e.yaml -o @/c --set expect=[]");
    say(*state, &said, "check @/c --baseline @/a");
    assert_int_equal(said.status, 0);
    assert_says(said.out, "nothing worse");
    say(*state, &said, "check @/b --baseline @/a");
    assert_int_equal(said.status, 1);
    assert_says(said.out, "jct_mean_s worse in 1 of 1 seeds");
    say(*state, &said, "check @/b --baseline @/a --tolerance 100000%");
    assert_int_equal(said.status, 0);
}

static void compare_and_diff_show_where_runs_part(void **state)
{
    struct said said;

    say(*state, &said, "run -q @/e.yaml -o @/a");
    say(*state, &said, "run -q @/e.yaml -o @/b --set "
        "policies.fcfs.blocking=skip");
    say(*state, &said, "compare @/a @/a");
    assert_int_equal(said.status, 0);
    assert_says(said.out, "no metric moved");
    say(*state, &said, "compare @/a @/b");
    assert_says(said.out, "jct_mean_s");
    say(*state, &said, "diff @/a @/b");
    assert_int_equal(said.status, 0);
    assert_says(said.out, "base, fcfs, seed 0: parts here");
    assert_says(said.out, "decisions: 1 trials the same, 1 part");
    assert_says(said.out, "the left has decisions of 2 of its 3 trials");
    say(*state, &said, "run -q @/e.yaml -o @/a --set "
        "output.detail_seeds=all");
    say(*state, &said, "run -q @/e.yaml -o @/b --set "
        "output.detail_seeds=all --set policies.fcfs.blocking=skip");
    say(*state, &said, "diff @/a @/b");
    assert_says(said.out, "decisions: 2 trials the same, 1 part");
    assert_null(strstr(said.out, "of its 3 trials"));
    say(*state, &said, "diff @/a @/nowhere");
    assert_int_equal(said.status, 4);
}

static void failed_trials_exit_5_and_are_listed(void **state)
{
    struct said said;
    char *text;

    say(*state, &said, "run @/e.yaml -o @/o --set event_count_max=10");
    assert_int_equal(said.status, 5);
    assert_says(said.err, "3 of 3 trials failed");
    text = scratch_read(*state, "o/failures.csv");
    assert_says(text, "base,sjf,1,,");
    free(text);
}

static void wrong_input_exits_3_with_its_place(void **state)
{
    struct scratch *scratch = *state;
    struct said said;

    scratch_experiment(scratch, "experiment: small\nsede: 3\n"
                       "policies: [fcfs]\n");
    say(scratch, &said, "@/e.yaml");
    assert_int_equal(said.status, 3);
    assert_says(said.err, "e.yaml:5:1");
    assert_says(said.err, "sede");
    scratch_experiment(scratch, "experiment: small\npolicies: [{polcy: fcfs}]\n");
    say(scratch, &said, "@/e.yaml");
    assert_int_equal(said.status, 3);
    assert_says(said.err, "key 'polcy' is not known in 'experiment.policies[]'");
    assert_says(said.err, "Did you mean 'policy'?");
    scratch_experiment(scratch, "experiment: small\nsede: 3\npolicies: [fcfs]\n");
    say(scratch, &said, "validate @/e.yaml @/cluster.yaml");
    assert_int_equal(said.status, 3);
    assert_says(said.out, "cluster.yaml: ok: cluster: 4 nodes, 32 GPUs");
}

static void unreadable_and_unwritable_files_exit_4(void **state)
{
    struct said said;

    say(*state, &said, "@/nothing.yaml");
    assert_int_equal(said.status, 4);
    say(*state, &said, "check @");
    assert_int_equal(said.status, 4);
    say(*state, &said, "@/none.yml");
    assert_int_equal(said.status, 4);
    assert_says(said.err, "none.yml: file error: cannot read the file");
    say(*state, &said, "run @/e.yaml -o @/e.yaml/o");
    assert_int_equal(said.status, 4);
    assert_says(said.err, "cannot make the folder");
    assert_int_equal(mkdir(scratch_path(*state, "p"), 0700), 0);
    scratch_write(*state, "p/.trials", "a file");
    say(*state, &said, "run @/e.yaml -o @/p");
    assert_int_equal(said.status, 4);
    assert_says(said.err, "p/.trials: file error: the folder cannot be opened");
    say(*state, &said, "check @/e.yaml -o @/o --junit /dev/full");
    assert_int_equal(said.status, 4);
    assert_says(said.err, "/dev/full");
}

/* A limit on the size of files stands in for a full disk. */
static void full_disk_exits_4_and_leaves_no_table(void **state)
{
    struct rlimit before, small;
    struct said said;

    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 6000;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    say(*state, &said, "run @/e.yaml -o @/o");
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(said.status, 4);
    assert_null(scratch_read(*state, "o/summary.csv"));
    assert_null(scratch_read(*state, "o/jobs.csv"));
    assert_null(scratch_read(*state, "o/jobs.csv.tmp"));
}

static void calibrate_does_not_overwrite_measurements(void **state)
{
    struct said said;

    scratch_write(*state, "measured.csv", "id,suite,model\n1,x,y\n");
    say(*state, &said, "calibrate --suite Korthikanti-T5 --csv @/measured.csv");
    assert_int_equal(said.status, 4);
    assert_says(said.err, "would overwrite this file");
    char *kept = scratch_read(*state, "measured.csv");
    assert_string_equal(kept, "id,suite,model\n1,x,y\n");
    free(kept);
    say(*state, &said, "calibrate --suite Korthikanti-T5 --csv @/new.csv");
    assert_int_equal(said.status, 0);
    say(*state, &said, "calibrate --suite Korthikanti-T5 --csv @/new.csv");
    assert_int_equal(said.status, 0);
    char *table = scratch_read(*state, "new.csv");
    say(*state, &said, "calibrate --suite Korthikanti-T6 --csv @/new.csv");
    assert_int_equal(said.status, 2);
    assert_says(said.err, "Did you mean Korthikanti-T5?");
    say(*state, &said, "calibrate --data @/nowhere --csv @/new.csv");
    assert_int_equal(said.status, 4);
    assert_says(said.err, "there is no such folder of measurements");
    kept = scratch_read(*state, "new.csv");     /* neither emptied it */
    assert_string_equal(kept, table);
    assert_non_null(strstr(table, "Korthikanti-T5,"));
    free(kept);
    free(table);
    /* a file of measurements that cannot be read ends it */
    scratch_write(*state, "training_throughput.csv", "suite,id\nKorthikanti-T5\n");
    say(*state, &said, "calibrate --suite Korthikanti-T5 --data @");
    assert_int_equal(said.status, 3);
    assert_says(said.err, "training_throughput.csv:2");
    assert_null(strstr(said.out, "targets met"));
    /* what a law cannot predict is told with its reason */
    scratch_write(*state, "training_throughput.csv",
                  "id,suite,model,params_b,layers,hidden,heads,ffn,seq,vocab,gpu,gpus,tp,pp,mbs,"
                  "gbs,precision,act_ckpt,iter_s,solid\n"
                  "1,Korthikanti-T5,x,22,48,6144,64,24576,2048,51200,abacus,8,8,1,4,4,fp16,full,"
                  "1.4,yes\n");
    say(*state, &said, "calibrate --suite Korthikanti-T5 --data @");
    assert_int_equal(said.status, 0);
    assert_says(said.out, "Korthikanti-T5 (step time): 1 rows, 1 solid, 0 of those predicted\n");
    assert_says(said.out, "  refused   1 solid and 0 other rows: the GPU is not in the "
                "catalogue\n");
}

/* Until the first trial is kept, for 30 s at most. */
static void wait_for_trial(struct scratch *scratch)
{
    const struct timespec moment = { 0, 20000000 };

    for (int i = 0; i < 1500; i++) {
        if (logs_count(scratch->dir, "o/.trials") > 0)
            return;
        nanosleep(&moment, NULL);
    }
    fail_msg("no trial was finished");
}

static void interrupt_keeps_trials_and_resume_goes_on(void **state)
{
    struct said said;
    int status;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        say(*state, &said, "run @/e.yaml -o @/o --seeds 100000 -j 1");
        _exit(said.status);
    }
    wait_for_trial(*state);
    kill(pid, SIGINT);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
    assert_null(scratch_read(*state, "o/summary.csv"));
    say(*state, &said, "run @/e.yaml -o @/o --seeds 2 --resume");
    assert_int_equal(said.status, 0);
    assert_says(said.err, "were known already");
    say(*state, &said, "run -q @/e.yaml -o @/p --seeds 2");
    assert_same_file(*state, "o/jobs.csv", "p/jobs.csv");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(usage_errors_exit_2_and_name_the_nearest),
        TEST(options_that_would_change_nothing_are_refused),
        TEST(an_experiment_in_the_place_of_its_part_is_told),
        TEST(help_and_version_go_to_stdout),
        TEST(every_list_has_lines),
        TEST(explain_finds_keys_metrics_columns_and_policies),
        TEST(explain_knows_nested_keys_presets_and_values),
        TEST(schema_is_one_json_object),
        TEST(run_writes_all_tables_and_prints_them),
        TEST(quiet_run_prints_nothing),
        TEST(threads_and_shards_give_the_same_bytes),
        TEST(check_exits_1_when_an_expectation_does_not_hold),
        TEST(check_finds_a_regression_and_its_tolerance),
        TEST(compare_and_diff_show_where_runs_part),
        TEST(failed_trials_exit_5_and_are_listed),
        TEST(wrong_input_exits_3_with_its_place),
        TEST(unreadable_and_unwritable_files_exit_4),
        TEST(full_disk_exits_4_and_leaves_no_table),
        TEST(calibrate_does_not_overwrite_measurements),
        TEST(interrupt_keeps_trials_and_resume_goes_on),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

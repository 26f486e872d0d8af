/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * shared_traces_test.c - every file of ../shared/traces is imported, with the
 * counts that are known of it, or refused for a stated reason.
 *
 * Each file must be named by a row of the table below, the first one that fits;
 * a file that none fits is a failure, so that none is forgotten.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "tests/aid/program.h"

#define DLRM_SKIP "gpus_not_positive,no_submit_time,still_running," \
    "never_ran,run_time_not_positive"
#define OPENB_SKIP "fractional_gpus,gpus_not_positive,never_ran," \
    "type_constraint"
#define REFUSED NULL

/* RATES and LENGTHS stand for files. */
static const struct expected {
    const char *pattern, *format;
    const char *more[4];
    const char *said[3];        /* REFUSED first: the reason follows */
} table[] = {
    { "*/SOURCE.md", NULL, { NULL }, { NULL } },
    { "*/LICENSE.txt", NULL, { NULL }, { NULL } },

    { "acme/cluster_summary.csv", "acme", { NULL },
      { REFUSED, "summary of clusters" } },
    { "alibaba_dlrm_2025/*", "dlrm2025", { "--skip", DLRM_SKIP, "--sort" },
      { "rows         23871\n", "rows left out: no_submit_time" } },
    { "alibaba_spot_2026/node_info_df.csv", "spot2026", { NULL },
      { REFUSED, "list of nodes" } },
    { "elasticflow_results/n16g8.csv", "elasticflow", { NULL },
      { REFUSED, "a cluster of Tiresias' simulator" } },
    { "gavel/*.json", "gavel", { "--gpu-type", "v100", "RATES" },
      { REFUSED, "7 or 10" } },
    { "gavel/*_throughputs.json.gz", "gavel",
      { "--gpu-type", "v100", "RATES" }, { REFUSED, "7 or 10" } },
    { "gavel/msr_seed0/2869ce.trace", "gavel",
      { "--gpu-type", "v100", "RATES" }, { REFUSED, "--skip no_length" } },
    { "gavel/msr_seed0/e13805.trace", "gavel",
      { "--gpu-type", "v100", "RATES" }, { REFUSED, "--skip no_length" } },
    { "gavel/msr_seed0/ed69ec.trace", "gavel",
      { "--gpu-type", "v100", "RATES" }, { "jobs         951\n" } },
    { "gavel/physical_cluster/max_min*", "gavel",
      { "--gpu-type", "v100", "RATES" }, { "jobs         96\n" } },
    { "gavel/physical_cluster/minimize*", "gavel",
      { "--gpu-type", "p100", "RATES" }, { "jobs         100\n" } },
    { "gavel/physical_cluster/*", "gavel",
      { "--gpu-type", "v100", "RATES" }, { "jobs         " } },
    { "helios/helios_cluster_summary.csv", "helios", { NULL },
      { REFUSED, "summary of clusters" } },
    { "helios/earth_gpu_number.csv", "table", { NULL },
      { "series       26 of table", "points       4706\n" } },
    { "helios/earth_*_cluster_sequence.csv.gz", "table", { NULL },
      { "series       23 of table", "points       1026720\n" } },
    { "helios/philly_node_sequence.csv.gz", "table", { NULL },
      { "series       2 of table", "points       211288\n" } },
    { "msitp/*/cluster01.csv", "itp", { NULL }, { "jobs         1595\n" } },
    { "msitp/*/cluster06.csv", "itp", { NULL }, { "jobs         2396\n" } },
    { "msitp/*/cluster10.csv", "itp", { NULL },
      { "jobs         260\n", "GPU-hours    4023.491389\n" } },
    { "msitp/elasticflow/195job.csv", "itp", { NULL },
      { "jobs         195\n" } },
    { "openb/openb_node_list_*", "openb", { NULL },
      { REFUSED, "list of nodes" } },
    { "openb/openb_pod_list_multigpu20.csv", "openb", { NULL },
      { REFUSED, "multigpu lists hold no times" } },
    { "openb/openb_pod_list_gpushare40.csv", "openb",
      { "--skip", OPENB_SKIP }, { REFUSED, "with --sort" } },
    { "openb/openb_pod_list_gpuspec10.csv", "openb",
      { "--skip", OPENB_SKIP },
      { "jobs         7255\n" } },
    { "openb/openb_pod_list_*", "openb", { "--sort", "--skip", OPENB_SKIP },
      { "jobs         ", "rows left out: never_ran" } },
    { "philly/helios_philly_vc.csv", "philly", { NULL },
      { REFUSED, "list of nodes" } },
    { "philly/philly_2017-10.csv.gz", "philly", { "--sort" },
      { "jobs         47192\n", "24905 rows submitted before" } },
    { "pollux/simulator/workloads-0.5/*", "pollux", { "LENGTHS" },
      { "jobs         80\n" } },
    { "pollux/simulator/workloads-1.5/*", "pollux", { "LENGTHS" },
      { "jobs         240\n" } },
    { "pollux/simulator/workloads-2.0/*", "pollux", { "LENGTHS" },
      { "jobs         320\n" } },
    { "pollux/*", "pollux", { "LENGTHS" }, { "jobs         160\n" } },
    { "sia/philly/*", "sia", { "LENGTHS" }, { "jobs         160\n" } },
    { "shockwave/120_*", "shockwave", { NULL }, { "jobs         120\n" } },
    { "shockwave/220_*", "shockwave", { NULL }, { "jobs         220\n" } },
    { "swf/LCG-2005-1.swf.gz", "swf", { "--skip", "run_time_not_positive" },
      { "jobs         187520\n" } },
    { "swf/hpc2n.swf.machines", "swf", { NULL },
      { REFUSED, "row has 6 fields" } },
    { "swf/hpc2n_alea_slice.swf", "swf",
      { "--skip", "run_time_not_positive" }, { "jobs         3145\n" } },
    { "swf/lublin_256.swf", "swf", { NULL }, { "jobs         10000\n" } },
    { "tiresias/60_job.csv", "tiresias", { NULL }, { "jobs         60\n" } },
    { "tiresias/tf_job.csv", "tiresias", { NULL },
      { REFUSED, "file has no column iterations" } },
    { "tiresias/yarn-gput*.csv", "tiresias", { NULL },
      { REFUSED, "Run times alone are no jobs" } },
    { "tiresias/*", "tiresias", { NULL },
      { REFUSED, "a cluster of Tiresias' simulator" } },

    { "carbon/fr_ci.csv", "carbon", { NULL }, { "points       18574\n" } },
    { "carbon/ger_ci.csv.gz", "carbon", { NULL },
      { "points       37147\n" } },
    { "infinitehbd/fault_trace.json", "faults", { NULL },
      { "series       231 of faults", "points       1168\n",
        "2 faults of a node that has one already" } },
    { "infinitehbd/fault_statistics.json", "faults", { NULL },
      { REFUSED, "an array of faults is expected" } },
    { "spot_prices_2020/aws_cost/*", "aws-price", { "--sort" },
      { "of price, USD/h\n", "points before the one above: sorted" } },
    { "spot_prices_2020/azure/cost/*", "azure-price", { NULL },
      { "series       12 of price, USD/h\n", "span         2" } },
    { "spot_prices_2020/azure/instance_mapping.csv", "azure-price", { NULL },
      { REFUSED, "has a column Date" } },
    { "spot_prices_2020/availability/*", "spot-log", { NULL },
      { "of availability, instances\n", "could not be created" } },
    { "spot_prices_2020/gcp_spin_up/*", "spot-log", { NULL },
      { REFUSED, "have no times: they are no series" } },
    { "spot_skypilot/availability/1-node/aws-10-26-2022/*", "spot-ticks",
      { NULL }, { "points       3895\n", "span         2336400 s" } },
    { "spot_skypilot/*", "spot-ticks", { NULL },
      { "of availability, instances\n" } },

    /* What services were asked, and how fast they were. */
    { "azure_llm_2023/*", "azure", { NULL },
      { "requests     8819\n", "span         3435.948056 s" } },
    { "mooncake/*", "mooncake", { NULL },
      { "requests     3993\n", "11 requests at the instant of the one above",
        "121877 hash ids, 43924 distinct" } },
    { "servegen/*-trace.csv", "servegen", { NULL }, { "requests     " } },
    { "servegen/*", "servegen", { NULL },
      { REFUSED, "is a file chunk-N-trace.csv" } },
    { "splitwise/*", "csv", { NULL }, { REFUSED, "measured times" } },
    { "vidur/*", "csv", { NULL }, { REFUSED, "lengths of requests" } },
};

struct walk {
    const struct program *program;
    char root[700];
    char side[160], rates[800];
    size_t files, imported, refused;
};

static void write_lengths(const char *path)
{
    FILE *file = fopen(path, "wb");

    fputs("application,run_s\ncifar10,600\ndeepspeech2,3600\nncf,400\n"
          "bert,9000\nyolov3,7200\nimagenet,40000\n", file);
    assert_int_equal(fclose(file), 0);
}

static const struct expected *expected_of(const char *file)
{
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (fnmatch(table[i].pattern, file, 0) == 0)
            return &table[i];
    fail_msg("%s is in no row of the table", file);
    return NULL;
}

static int import_file(struct walk *walk, const struct expected *expected,
                       const char *path, char **said)
{
    char yaml[200], log[200];
    const char *argv[PROGRAM_ARGS_MAX + 2] = {
        walk->program->path, "import", expected->format, path, "-o", yaml };
    size_t n = 6;

    snprintf(yaml, sizeof yaml, "%s/w.yaml", walk->program->folder);
    snprintf(log, sizeof log, "%s/log", walk->program->folder);
    for (size_t i = 0; i < 4 && expected->more[i]; i++) {
        bool rates = strcmp(expected->more[i], "RATES") == 0;

        if (rates || strcmp(expected->more[i], "LENGTHS") == 0) {
            argv[n++] = "--lengths";
            argv[n++] = rates ? walk->rates : walk->side;
        } else {
            argv[n++] = expected->more[i];
        }
    }
    int status = program_spawn(argv, log);

    *said = program_read(log);
    assert_non_null(*said);
    return status;
}

static void check_file(struct walk *walk, const char *file)
{
    const struct expected *expected = expected_of(file);
    char path[1600], *said;
    size_t first;
    int status;

    walk->files++;
    if (expected->format == NULL)
        return;
    snprintf(path, sizeof path, "%s/%s", walk->root, file);
    status = import_file(walk, expected, path, &said);
    first = expected->said[0] == REFUSED;
    if ((first == 1) != (status == 2 || status == 3) || status > 3)
        fail_msg("%s: status %d\n%s", file, status, said);
    for (size_t i = first; i < 3 && expected->said[i]; i++)
        if (!strstr(said, expected->said[i]))
            fail_msg("%s: \"%s\" is not in:\n%s", file, expected->said[i],
                     said);
    walk->imported += first == 0;
    walk->refused += first == 1;
    free(said);
}

static void walk_folder(struct walk *walk, const char *folder)
{
    char path[1600], file[800];
    DIR *dir;
    struct dirent *entry;
    struct stat status;

    snprintf(path, sizeof path, "%s/%s", walk->root, folder);
    dir = opendir(path);
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        if (entry->d_name[0] == '.')
            continue;
        snprintf(file, sizeof file, "%s%s%s", folder,
                 folder[0] == '\0' ? "" : "/", entry->d_name);
        snprintf(path, sizeof path, "%s/%s", walk->root, file);
        assert_int_equal(stat(path, &status), 0);
        if (S_ISDIR(status.st_mode))
            walk_folder(walk, file);
        else if (folder[0] != '\0')
            check_file(walk, file);
    }
    closedir(dir);
}

static void every_file_is_imported_or_refused_for_its_reason(void **state)
{
    struct walk walk = { .program = *state };
    const char *shared = getenv("SHARED");

    snprintf(walk.root, sizeof walk.root, "%s/traces",
             shared ? shared : "../shared");
    if (access(walk.root, R_OK) != 0) {
        print_message("skip: %s is not there\n", walk.root);
        skip();
    }
    snprintf(walk.rates, sizeof walk.rates,
             "%s/gavel/simulation_throughputs.json.gz", walk.root);
    snprintf(walk.side, sizeof walk.side, "%s/side", walk.program->folder);
    write_lengths(walk.side);
    walk_folder(&walk, "");
    print_message("%zu files: %zu imported, %zu refused for a reason\n",
                  walk.files, walk.imported, walk.refused);
    assert_true(walk.imported > 0 && walk.refused > 0);
}

int main(int argc, char **argv)
{
    struct program program;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(
            every_file_is_imported_or_refused_for_its_reason, &program),
    };
    int failed;

    (void)argc;
    program_open(&program, argv[0]);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    program_close(&program);
    return failed;
}

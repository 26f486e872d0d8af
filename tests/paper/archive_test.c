/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * archive_test.c - an archive runs again elsewhere with the same tables; what differs is
 * told; and an archive that reaches out of its folder is refused before it is unpacked.
 *
 * Archives are changed, and bad ones are made, with tar and zstd.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/shell.h"

const char *program_argv0;

static const char experiment[] =
    "experiment: x\n"
    "seeds: 3\n"
    "policies: [{policy: ljf, placement: count, estimate: noisy}, {policy: fcfs, "
    "placement: count}, ./widest.c]\n"
    "output: {plots: []}\n";

static const char widest[] =
    "#include \"policies/policy.h\"\n"
    "static bool before(const void *self, const struct cs_host *host,\n"
    "                   struct task_id a, struct task_id b)\n"
    "{\n"
    "    (void)self;\n"
    "    return cs_task(host, a)->gpus > cs_task(host, b)->gpus;\n"
    "}\n"
    "extern const struct cs_policy widest_policy;\n"
    "const struct cs_policy widest_policy = {\n"
    "    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),\n"
    "    .name = \"widest\", .summary = \"most GPUs first\", .before = before,\n"
    "};\n";

static int setup(void **state)
{
    struct shell *w = shell_new(experiment);

    scratch_write(&w->scratch, "widest.c", widest);
    w->before = "mkdir -p tmp && export TMPDIR=$PWD/tmp";      /* archives unpack there */
    *state = w;
    return 0;
}

/* Nothing was left where archives are unpacked. */
static void assert_tidy(struct shell *w)
{
    DIR *dir = opendir(scratch_path(&w->scratch, "tmp"));
    struct dirent *entry;

    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL)
        assert_true(entry->d_name[0] == '.');
    closedir(dir);
}

static void make(struct shell *w)
{
    run_line(w, "$C run e.yaml -q -o out --set policies.1=sjf --seeds 2 && "
             "$C archive out -o x.tar.zst", 0, "archive: x.tar.zst");
}

/* Makes y.tar.zst, the archive of a run with its files changed by a command. */
static void make_changed(struct shell *w, const char *command)
{
    char line[400];

    make(w);
    snprintf(line, sizeof line, "mkdir t && cd t && tar xf ../x.tar.zst && %s && "
             "tar --zstd -cf ../y.tar.zst *", command);
    run_line(w, line, 0, NULL);
}

/* From another folder, without any of the files that it was made from. */
static void an_archive_runs_again_with_the_same_tables(void **state)
{
    struct shell *w = *state;

    make(w);
    run_line(w, "mkdir far && mv x.tar.zst far && rm -r e.yaml jobs.csv widest.c out && cd far && "
             "$C reproduce x.tar.zst", 0, "the archive's is the same\n");
    run_line(w, "$C reproduce far/x.tar.zst", 0,
             "6 files (tables and audit.json) are the same, to the byte\n");
    assert_tidy(w);
}

/* A fork is written down in its archive: the time, and what each branch set.  The file of a
 * policy that is read and not run is in it, too. */
static void forks_and_single_policies_run_again(void **state)
{
    static const char *const made[] = {
        "$C fork e.yaml --at 1s --only fcfs --set policy=ljf --set blocking=skip -q -o out",
        "$C run e.yaml --only fcfs -q -o out",
    };
    struct shell *w = *state;
    char line[400];

    for (int i = 0; i < 2; i++) {
        snprintf(line, sizeof line, "%s && $C archive out -o x.tar.zst && mkdir far && "
                 "mv x.tar.zst far && mkdir away && mv e.yaml jobs.csv widest.c out away", made[i]);
        run_line(w, line, 0, "archive: x.tar.zst");
        run_line(w, "cd far && $C reproduce x.tar.zst", 0, "are the same, to the byte");
        run_line(w, "mv away/[ejw]* . && rm -r far away", 0, NULL);
    }
    assert_tidy(w);
}

/* The experiment lies beside the folder in which it is run, and names files above it. */
static void files_keep_their_places_beside_each_other(void **state)
{
    struct shell *w = *state;

    run_line(w, "mkdir -p a/b work data && mv jobs.csv widest.c data && sed 's|jobs.csv|"
             "../../data/jobs.csv|; s|./widest.c|../../data/widest.c|; s|cluster.yaml|"
             "../../cluster.yaml|' e.yaml >a/b/e.yaml && rm e.yaml", 0, NULL);
    run_line(w, "cd work && $C run ../a/b/e.yaml -q -o out && $C archive out -o ../x.tar.zst && "
             "cd .. && rm -r a data work cluster.yaml && $C reproduce x.tar.zst", 0,
             "are the same, to the byte");
    assert_tidy(w);
}

/* Names that are not ASCII, in each place and in the locale of each user. */
static void names_of_any_letters_are_kept(void **state)
{
    struct shell *w = *state;

    run_line(w, "mkdir -p läufe 'Åbo 1' && mv jobs.csv 'Åbo 1/jobś.csv' && mv widest.c "
             "'Åbo 1/幅.c' && sed \"s|jobs.csv|Åbo 1/jobś.csv|; s|./widest.c|'./Åbo 1/幅.c'|\" "
             "e.yaml >ä.yaml && rm e.yaml", 0, NULL);
    run_line(w, "cd läufe && LC_ALL=C $C run ../ä.yaml -q -o 'er gebniß' && LC_ALL=C $C archive "
             "'er gebniß' -o ../ž.tar.zst && cd .. && rm -r läufe 'Åbo 1' ä.yaml cluster.yaml", 0,
             "archive: ../ž.tar.zst");
    run_line(w, "tar --zstd -tf ž.tar.zst --quoting-style=literal | grep -c 'Åbo 1/jobś.csv$'", 0,
             "1\n");
    run_line(w, "LC_ALL=C $C reproduce ž.tar.zst", 0, "are the same, to the byte");
    assert_tidy(w);
}

/* Neither times, owners nor the order of the folder count. */
static void the_same_files_give_the_same_bytes(void **state)
{
    struct shell *w = *state;

    make(w);
    run_line(w, "cp x.tar.zst first.tar.zst && cp -r out copy && rm -r out && mv copy out && "
             "touch -d 2001-01-01 e.yaml out/summary.csv && chmod 600 jobs.csv && "
             "$C archive out -o x.tar.zst && cmp x.tar.zst first.tar.zst", 0, NULL);
}

static void a_table_that_differs_is_told_with_its_line(void **state)
{
    struct shell *w = *state;

    make_changed(w, "sed -i '3s/$/9/' results/jobs.csv && sed -i '$d' results/summary.csv");
    run_line(w, "$C reproduce y.tar.zst", 1, "jobs.csv:3:78: differs\n  archive  ...");
    run_line(w, "$C reproduce y.tar.zst", 1, "2 of 6 files (tables and audit.json) differ\n");
    run_line(w, "$C reproduce y.tar.zst", 1,
             "summary.csv:5:1: differs\n  archive  (no such line)\n");
    run_line(w, "cd t && rm results/jobs.csv && tar --zstd -cf ../z.tar.zst * && cd .. && "
             "$C reproduce z.tar.zst", 1, "jobs.csv: only here\n");
    assert_tidy(w);
}

/* The digest of all events, which is in no table. */
static void an_audit_that_differs_is_told(void **state)
{
    struct shell *w = *state;

    make_changed(w, "sed -i 's/digest\": \"./&f/' results/audit.json");
    run_line(w, "$C reproduce y.tar.zst", 1, "audit.json:6:");
    run_line(w, "$C reproduce y.tar.zst", 1, "1 of 6 files (tables and audit.json) differ\n");
}

/* A run of 100,000 seeds does not end before the signal, which the run does not get. */
static void a_signal_leaves_nothing_behind(void **state)
{
    struct shell *w = *state;

    make_changed(w, "sed -i 's/seeds=2/seeds=100000/' archive.json");
    run_line(w, "$C reproduce y.tar.zst & until ls -d tmp/*/again/.trials; do sleep 0.1; done; "
             "kill -TERM $!; wait $!", 130, "interrupted");
    assert_tidy(w);
}

/* An input that the run would need is what the archive holds, not what lies about. */
static void an_input_of_the_archive_is_what_runs(void **state)
{
    struct shell *w = *state;

    make_changed(w, "sed -i 's/ljf/srtf/' inputs/e.yaml");
    run_line(w, "$C reproduce y.tar.zst", 1,
             "input e.yaml: changed after the results were made from it\n");
    run_line(w, "$C reproduce x.tar.zst | grep -c ^input || true", 0, "0\n");
    run_line(w, "cd t && rm inputs/jobs.csv && tar --zstd -cf ../y.tar.zst * && cd .. && "
             "$C reproduce y.tar.zst", 4, "the run ended with status 4");
    assert_tidy(w);
}

static void what_cannot_be_packed_is_refused(void **state)
{
    struct shell *w = *state;

    make(w);
    run_line(w, "$C archive out", 2, "archive needs -o NAME.tar.zst\n");
    run_line(w, "$C archive out -o x.zip", 2, "archive needs -o NAME.tar.zst, and has x.zip");
    run_line(w, "mkdir none && $C archive none -o y.tar.zst", 4, "there is no summary.csv in it");
    run_line(w, "cd tmp && $C archive ../out -o y.tar.zst", 4, "cannot be read, and ../out was");
    run_line(w, "echo '# more' >>widest.c && $C archive out -o y.tar.zst", 4,
             "./widest.c: file error: has changed since out was made from it");
    run_line(w, "rm jobs.csv && $C archive out -o y.tar.zst", 4, "jobs.csv: file error");
    run_line(w, "test ! -e y.tar.zst && test ! -e tmp/y.tar.zst", 0, NULL);
}

/* A folder of results may have been edited, or lie elsewhere than what it was made from. */
static void a_provenance_that_lacks_something_is_refused(void **state)
{
    static const struct { const char *sed; int status; const char *says; } bad[] = {
        { "/\"inputs\"/,/\\]/s|\"}$|&, {}|", 3, "an input must have 'file' and 'xxh64'" },
        { "/\"inputs\"/,/\\]/s|\"}$|&, \"e.yaml\"|", 3, "must have 'file' and 'xxh64'" },
        { "s|\"xxh64\": \"[0-9a-f]*\"|\"xxh64\": []|", 3, "must have 'file' and 'xxh64'" },
        { "s|\"file\": \"e.yaml\",$|\"file\": \"gone.yaml\",|", 4,
          "gone.yaml: file error: is not there, and bad was made from it" },
        { "s|\"file\": \"e.yaml\",$|\"file\": [],|", 3, "key 'file' is not there" },
    };
    struct shell *w = *state;
    char line[300];

    make(w);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(line, sizeof line, "rm -rf bad && cp -r out bad && sed -i '%s' "
                 "bad/provenance.json && ! cmp -s out/provenance.json bad/provenance.json && "
                 "$C archive bad -o y.tar.zst", bad[i].sed);
        run_line(w, line, bad[i].status, bad[i].says);
    }
    run_line(w, "test ! -e y.tar.zst && sed -i 's|\"command\": \\[|&[], {},|' "
             "out/provenance.json && $C archive out -o y.tar.zst", 0, NULL);
}

static void an_input_named_by_its_whole_path_is_refused(void **state)
{
    struct shell *w = *state;

    run_line(w, "sed -i \"s|jobs.csv|$PWD/jobs.csv|\" e.yaml && $C run e.yaml -q -o out", 0, NULL);
    run_line(w, "$C archive out -o x.tar.zst", 3, "must name files by relative paths, and names");
}

static void a_shard_is_no_run(void **state)
{
    struct shell *w = *state;

    run_line(w, "$C run e.yaml -q -o s1 --shard 1/1 && test ! -e s1/provenance.json || "
             "$C archive s1 -o x.tar.zst", 2, "s1 is a shard of a run");
}

/* Shards can run on one disk at once: each has a folder of its own, beside that of the run. */
static void a_shard_has_a_folder_of_its_own(void **state)
{
    struct shell *w = *state;

    run_line(w, "$C run e.yaml -q --shard 1/2 && $C run e.yaml -q --shard 2/2 && ls -d out/*", 0,
             ".shard-1-of-2\n");
    run_line(w, "test $(ls -d out/* | grep -c -- '-of-2$') = 2 && test $(ls -d out/* | wc -l) = 2",
             0, NULL);
}

/* Each is the good archive with one entry more, which comes last. */
static void entries_that_leave_the_folder_are_refused(void **state)
{
    static const struct { const char *make, *says; } bad[] = {
        { "tar -P --zstd -cf y.tar.zst $PWD/evil", "must have a relative name" },
        { "tar --zstd --transform 's|evil|../../evil|' -cf y.tar.zst -P evil",
          "must lie in the archive's folder, and has '..'" },
        { "tar --zstd --transform 's|evil|a/../../evil|' -cf y.tar.zst -P evil",
          "must lie in the archive's folder" },
        { "ln -sf /etc link && tar --zstd -cf y.tar.zst link", "is a link or a device" },
        { "ln -f evil hard && tar --zstd -cf y.tar.zst evil hard", "is a link or a device" },
        { "mkfifo pipe && tar --zstd -cf y.tar.zst pipe", "is a link or a device" },
        { "truncate -s 9G huge && tar --sparse --zstd -cf y.tar.zst huge",
          "is larger than a file of an archive may be" },
        { "tar --hard-dereference --zstd -cf y.tar.zst evil evil", "must be there once" },
        { "tar --zstd -cf y.tar.zst evil", "must hold archive.json" },
        { "echo nothing >y.tar.zst", "must be a .tar.zst as `clustersim archive` writes it" },
        { "tar -czf y.tar.zst evil", "must be a .tar.zst" },
        { "head -c 3000 x.tar.zst >y.tar.zst", "must be a .tar.zst" },
    };
    struct shell *w = *state;
    char line[400];

    make(w);
    run_line(w, "echo evil >evil", 0, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(line, sizeof line, "%s && rm -f y.mark && $C reproduce y.tar.zst",
                 bad[i].make);
        run_line(w, line, 3, bad[i].says);
        assert_tidy(w);
    }
    run_line(w, "$C reproduce tmp", 4, "tmp: file error: cannot be read: it is a folder");
    run_line(w, "$C reproduce none.tar.zst", 4, "none.tar.zst: file error: cannot be read");
}

/* archive.json is not trusted either. */
static void keys_that_leave_the_folder_are_refused(void **state)
{
    static const struct { const char *sed, *says; } bad[] = {
        { "s|e.yaml|../e.yaml|", "must lie in the archive" },
        { "s|e.yaml|/etc/e.yaml|", "must lie in the archive" },
        { "s|\"folder\": \"\"|\"folder\": \"a/../..\"|", "must lie in the archive" },
        { "s|--seeds=2|--output=/tmp/evil|",
          "an option must be --set, --seeds, --only, --audit or --at" },
        { "s|archive\": 1|archive\": 2|", "must be of format 1, and is of format 2" },
        { "s|version|vision|", "key 'version' must be a text" },
        { "s|^{|[|", "y.tar.zst: archive.json:" },
    };
    struct shell *w = *state;
    char line[400];

    make(w);
    run_line(w, "mkdir t && cd t && tar xf ../x.tar.zst", 0, NULL);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(line, sizeof line, "cp -r t u && cd u && sed -i '%s' archive.json && tar "
                 "--zstd -cf ../y.tar.zst * && cd .. && rm -r u && $C reproduce y.tar.zst",
                 bad[i].sed);
        run_line(w, line, 3, bad[i].says);
        assert_tidy(w);
    }
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, shell_teardown)
        TEST(forks_and_single_policies_run_again),
        TEST(an_archive_runs_again_with_the_same_tables),
        TEST(files_keep_their_places_beside_each_other),
        TEST(names_of_any_letters_are_kept),
        TEST(the_same_files_give_the_same_bytes),
        TEST(a_table_that_differs_is_told_with_its_line),
        TEST(an_audit_that_differs_is_told),
        TEST(a_signal_leaves_nothing_behind),
        TEST(an_input_of_the_archive_is_what_runs),
        TEST(what_cannot_be_packed_is_refused),
        TEST(a_provenance_that_lacks_something_is_refused),
        TEST(an_input_named_by_its_whole_path_is_refused),
        TEST(a_shard_is_no_run),
        TEST(a_shard_has_a_folder_of_its_own),
        TEST(entries_that_leave_the_folder_are_refused),
        TEST(keys_that_leave_the_folder_are_refused),
#undef TEST
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * plugin_test.c - policies from files: as good as built-in ones where they are, and
 * refused or ended alone where they are not.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <time.h>

#include <cmocka.h>

#include "tests/aid/program.h"

#define HEAD                                                                    \
    "experiment: e\n"                                                           \
    "seeds: 3\n"                                                                \
    "cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}}]}\n"  \
    "workload:\n"                                                               \
    "  arrival: {process: poisson, rate: 30/h}\n"                               \
    "  jobs: 40\n"                                                              \
    "  mix:\n"                                                                  \
    "    - {recipe: trace, name: x, share: 1, gpus: 4, duration: 10min}\n"      \
    "    - {recipe: trace, name: y, share: 2, gpus: 8, duration: 14min}\n"      \
    "output: {tables: [summary, jobs], plots: []}\n"

/* A policy that starts what waits, after MORE in each decision. */
#define SOURCE(NAME, BEFORE, MORE)                                              \
    "#include \"policies/policy.h\"\n"                                          \
    "#include <string.h>\n" BEFORE "\n"                                         \
    "static void decide(void *self, struct cs_host *host)\n"                    \
    "{\n"                                                                       \
    "    (void)self;\n"                                                         \
    "    while (cs_pending_count(host) > 0 &&\n"                                \
    "           cs_start(host, cs_pending(host, 0)) == CS_DONE)\n"              \
    "        continue;\n"                                                       \
    "    " MORE "\n"                                                            \
    "}\n"                                                                       \
    "const struct cs_policy " NAME "_policy = {\n"                              \
    "    .abi_major = CS_POLICY_ABI_MAJOR,\n"                                   \
    "    .size_bytes = sizeof(struct cs_policy),\n"                             \
    "    .name = \"" NAME "\", .summary = \"x\", .decide = decide,\n"           \
    "};\n"

static int setup(void **state)
{
    if (program_setup(state) != 0)
        return 1;
    return setenv("XDG_CACHE_HOME", ((struct program *)*state)->folder, 1);
}

/* Runs HEAD and `rest` into folder/name. */
static int run(const struct program *program, const char *rest, const char *name,
               char **said)
{
    char text[2000];
    const char *out = program_path(program, name);

    snprintf(text, sizeof text, "%s%s", HEAD, rest);
    const char *words[] = { "run", program_write(program, "e.yaml", text), "-q", "-o",
                            out, NULL };
    return program_say(program, words, said);
}

/* Runs `clustersim explain folder/NAME`. */
static int explain(const struct program *program, const char *name, char **said)
{
    const char *words[] = { "explain", program_path(program, name), NULL };

    return program_say(program, words, said);
}

/* Copies a built-in policy as NAME.c, with `from` replaced by `to` everywhere. */
static void copy_policy(const struct program *program, const char *path,
                        const char *name, const char *from, const char *to)
{
    char *text = program_read(path), *at = text, *next;
    FILE *file = fopen(program_path(program, name), "wb");

    assert_non_null(text);
    assert_non_null(file);
    while ((next = strstr(at, from)) != NULL) {
        fwrite(at, 1, (size_t)(next - at), file);
        fputs(to, file);
        at = next + strlen(from);
    }
    fputs(at, file);
    assert_int_equal(fclose(file), 0);
    free(text);
}

/* The tables of a run are the same, whatever the policy's file is. */
static void assert_same_tables(const struct program *program, const char *one,
                               const char *other)
{
    static const char *const tables[] = { "summary.csv", "jobs.csv" };

    for (size_t i = 0; i < 2; i++) {
        char *a = program_result(program, one, tables[i]);
        char *b = program_result(program, other, tables[i]);

        assert_non_null(a);
        assert_non_null(b);
        assert_string_equal(a, b);
        free(a);
        free(b);
    }
}

static void a_file_gives_the_bytes_of_the_built_in_policy(void **state)
{
    static const struct { const char *path, *name, *keys; } copies[] = {
        { "policies/ordering/fcfs.c", "fcfs", "" },
        { "policies/ordering/sjf.c", "sjf", ", blocking: skip" },
        { "policies/backfill/easy.c", "easy", ", reservation: none" },
        { "policies/preemptive/srtf.c", "srtf", "" },
        { "policies/phases/static.c", "static", "" },
    };

    for (size_t i = 0; i < sizeof copies / sizeof copies[0]; i++) {
        char from[64], to[64], rest[200], *said;

        snprintf(from, sizeof from, "\"%s\"", copies[i].name);
        snprintf(to, sizeof to, "\"%s-file\"", copies[i].name);
        copy_policy(*state, copies[i].path, "copy.c", from, to);
        snprintf(rest, sizeof rest, "policies: [{policy: %s, name: p%s}]\n",
                 copies[i].name, copies[i].keys);
        if (run(*state, rest, "built_in", &said) != 0)
            fail_msg("%s", said);
        free(said);
        snprintf(rest, sizeof rest, "policies: [{policy: ./copy.c, name: p%s}]\n",
                 copies[i].keys);
        if (run(*state, rest, "file", &said) != 0)
            fail_msg("%s", said);
        free(said);
        assert_same_tables(*state, "built_in", "file");
        snprintf(rest, sizeof rest, "policies: [{policy: ./copy.c, name: p%s}]\n"
                 "plugins: {isolate: false}\n", copies[i].keys);
        assert_int_equal(run(*state, rest, "together", &said), 0);
        free(said);
        assert_same_tables(*state, "built_in", "together");
    }
}

/* Of 150 letters: what is read of an entry that is a word is all of it, and no more. */
static void a_long_name_of_a_policy_is_its_name(void **state)
{
    char to[160] = "\"", *said;

    memset(to + 1, 'n', 150);
    to[151] = '"';
    copy_policy(*state, "policies/ordering/fcfs.c", "copy.c", "\"fcfs\"", to);
    if (run(*state, "policies: [./copy.c]\n", "long", &said) != 0)
        fail_msg("%s", said);
    free(said);
    to[151] = '\0';
    said = program_result(*state, "long", "summary.csv");
    assert_non_null(said);
    assert_non_null(strstr(said, to + 1));
    free(said);
}

static char source_text[4000];     /* of what_makes_no_sense_is_told */

/* The policy's trials fail, those of `random` are all there. */
static void assert_fails_alone(const struct program *program, const char *source,
                               const char *limits, const char *why)
{
    char rest[200], *said, *failures, *summary;

    program_write(program, "mine.c", source);
    snprintf(rest, sizeof rest, "policies: [random, ./mine.c]\n%s", limits);
    assert_int_equal(run(program, rest, "out", &said), 5);
    assert_part(said, "3 of 6 trials failed");
    assert_part(said, why);
    failures = program_result(program, "out", "failures.csv");
    summary = program_result(program, "out", "summary.csv");
    assert_non_null(failures);
    assert_non_null(summary);
    assert_part(failures, why);
    assert_part(summary, "base,random,2,");
    assert_null(strstr(summary, ",mine,"));
    free(said);
    free(failures);
    free(summary);
}

#define AFTER_AN_HOUR "if (cs_now_ns(host) > 3600000000000LL) "

static void a_crash_ends_one_trial(void **state)
{
    assert_fails_alone(*state, SOURCE("mine", "", AFTER_AN_HOUR "__builtin_trap();"), "",
                       "policy mine crashed (");
    assert_fails_alone(*state, SOURCE("mine", "", AFTER_AN_HOUR
                                      "__assert_fail(\"mine\", \"mine.c\", 1, \"x\");")
                       "", "", "policy mine ended itself: ");
    assert_fails_alone(*state, SOURCE("mine", "", AFTER_AN_HOUR
                                      "cs_lease(host, (struct lease_id){ 1u << 30 });"),
                       "", "Assertion `lease.i < ");
    assert_fails_alone(*state, SOURCE("mine", "", AFTER_AN_HOUR "cs_fail(host, NULL);"), "",
                       "gives no reason (cs_fail without a text)");
    assert_fails_alone(*state, SOURCE("mine", "", "if (cs_now_ns(host) > 0) "
                                      "(void)cs_true_left_ns(host, (struct job_id){ 0 });"),
                       "", "calls cs_true_left_ns without the flag CS_CLAIRVOYANT");
}

/* What no policy may ask at all is refused, or said of the trial that asks it. */
static void what_makes_no_sense_is_told(void **state)
{
    static const struct { const char *more, *why; } asked[] = {
        { "cs_tried(host, cs_pending(host, 0), CS_ALIKE_NONE);",
          "cs_next_candidate did not tell that one last" },
        { "(void)cs_next_candidate(host); cs_tried(host, cs_pending(host, 1), CS_ALIKE_NONE);",
          "cs_next_candidate did not tell that one last" },
        { "cs_wake_when_idle(host, 5);",
          "calls cs_wake_when_idle without the flag CS_PER_PHASE" },
        { "cs_reorder(host, cs_task(host, cs_pending(host, 0))->job);",
          "calls cs_reorder without before() or CS_PER_PHASE, or with CS_ORDER_MOVES" },
        { "cs_fail(host, cs_start_want(host, cs_pending(host, 0), "
          "&(struct cs_want){ .role = 9 }) == CS_BAD_SHAPE ? \"as it should\" : \"no\");",
          "policy mine: as it should" },
        { "cs_fail(host, cs_job_known(host, (struct job_id){ 0 }) && "
          "!cs_job_known(host, (struct job_id){ cs_job_count(host) }) && "
          "!cs_lease_held(host, (struct lease_id){ cs_lease_room(host) }) ? "
          "\"as it should\" : \"no\");", "policy mine: as it should" },
    };

    for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
        char more[400];

        snprintf(more, sizeof more, "if (cs_pending_count(host) > 1) {\n%s\n}", asked[i].more);
        snprintf(source_text, sizeof source_text, SOURCE("mine", "#include \"policies/phases.h\"\n"
                 "#include \"policies/known.h\"",
                                                         "%s"), more);
        assert_fails_alone(*state, source_text, "", asked[i].why);
    }
}

static void what_was_asked_for_last_is_told(void **state)
{
    char *said;

    program_write(*state, "mine.c", SOURCE("mine", "", AFTER_AN_HOUR
                                           "__builtin_trap();"));
    assert_int_equal(run(*state, "policies: [./mine.c]\n", "out", &said), 5);
    assert_part(said, " s of simulated time\n");
    assert_part(said, "hint: It asked for last: at ");
    assert_part(said, " s: start job ");
    free(said);
}

static void an_endless_loop_ends_one_trial(void **state)
{
    assert_fails_alone(*state, SOURCE("mine", "", AFTER_AN_HOUR
                                      "for (volatile int i = 0;; i++) ;"),
                       "plugins: {event_limit: 1s}\n",
                       "policy mine needs more than 1 s of wall time for one event");
}

/* Status 0 without a result is no trial. */
static void a_trial_that_leaves_its_process_failed(void **state)
{
    assert_fails_alone(*state, SOURCE("mine", "", AFTER_AN_HOUR "{\n"
                                      "#ifdef __x86_64__\n"
                                      "__asm__ volatile(\"syscall\" :: \"a\"(231), \"D\"(0) :"
                                      " \"rcx\", \"r11\", \"memory\");\n"
                                      "#else\n"
                                      "__asm__ volatile(\"mov x8, 94\\nmov x0, 0\\nsvc 0\");\n"
                                      "#endif\n}"),
                       "", "policy mine left its process with status 0");
}

static void too_much_memory_ends_one_trial(void **state)
{
#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    print_message("skip: a sanitizer reserves more addresses than any limit allows\n");
    skip();
#endif
#endif
    assert_fails_alone(*state, SOURCE("mine", "", "for (;;) "
                                      "memset(cs_alloc(host, 1, 1 << 20), 1, 1 << 20);"),
                       "plugins: {memory: 500MB}\n",
                       "policy mine ended itself (an assertion, or no memory)");
}

static void what_spins_ends_with_the_run(void **state)
{
    const struct program *program = *state;
    const char *path, *trials;
    int status;
    pid_t pid;

    program_write(program, "mine.c", SOURCE("mine", "", "for (volatile int i = 0;;) i++;"));
    path = program_write(program, "e.yaml", HEAD "policies: [./mine.c]\n");
    trials = program_path(program, "out/.trials");
    pid = fork();
    if (pid == 0) {
        (void)!freopen("/dev/null", "w", stderr);
        execl(program->path, "clustersim", "run", path, "-q", "-o",
              program_path(program, "out"), (char *)NULL);
        _exit(127);
    }
    while (access(trials, F_OK) != 0)
        nanosleep(&(struct timespec){ 0, 10000000 }, NULL);
    nanosleep(&(struct timespec){ 0, 300000000 }, NULL);             /* the trials run */
    kill(pid, SIGTERM);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 130);
}

/* A source whose table has these members as well. */
#define TABLE(MEMBERS)                                                          \
    "#include \"policies/params.h\"\n"                                           \
    "#include \"policies/policy.h\"\n"                                           \
    "struct me { double x; };\n"                                                \
    "#define P(KEY, TYPE, AT, FALLBACK, HELP) .param_count = 1, \\\n"             \
    "    .param = (const struct cs_param[]){ { KEY, TYPE, AT, 0, 10, \\\n"        \
    "                                          FALLBACK, HELP } }\n"             \
    "const struct cs_policy mine_policy = {\n"                                  \
    "    .abi_major = CS_POLICY_ABI_MAJOR,\n"                                   \
    "    .size_bytes = sizeof(struct cs_policy), .name = \"mine\",\n"           \
    "    .summary = \"x\", .self_bytes = sizeof(struct me), " MEMBERS "\n"      \
    "};\n"

/* ---- other commands ---- */

/* As with built-in ones: a policy from a file, and a program, each with a parameter. */
static void tune_and_border_take_guests(void **state)
{
    static const struct { const char *command, *rest, *table; } runs[] = {
        { "tune", "tune:\n  metric: jct_mean_s\n  over:\n"
          "    policies.m.weight: {from: 0.5, to: 5}\n"
          "    policies.p.weight: {from: 0.5, to: 5}\n  budget: 24\n", "tuned.yaml" },
        { "border", "expect:\n  - {claim: c, metric: jct_mean_s, policy: p, vs: m, "
          "at_most: 0%}\nborder:\n  - {claim: c, key: workload.jobs, from: 20, to: 40}\n",
          "border.csv" },
    };
    const struct program *program = *state;
    char *said, *table;

    program_write(program, "mine.c", TABLE("P(\"weight\", CS_PARAM_REAL, 0, \"1\", \"h\")"));
    program_write(program, "mine.py",
                  "import json, sys\n"
                  "waits, asked = [], []\n"
                  "for line in sys.stdin:\n"
                  "    m = json.loads(line)\n"
                  "    a = {'n': m['n']}\n"
                  "    if 'hello' in m: a.update(protocol=1, name='p', params=[{'key': 'weight',\n"
                  "        'kind': 'real', 'default': 1, 'min': 0, 'max': 10, 'help': 'h'}])\n"
                  "    elif 'end' in m: break\n"
                  "    elif 'now' in m: waits = [w for w in waits + m.get('waits', [])\n"
                  "        if w['job'] not in asked]; asked = []\n"
                  "    left = sum(m.get('free', []))\n"
                  "    while 'now' in m and waits[len(asked):] and \\\n"
                  "            waits[len(asked)]['gpus'] <= left:\n"
                  "        left -= waits[len(asked)]['gpus']\n"
                  "        asked.append(waits[len(asked)]['job'])\n"
                  "    if asked: a['do'] = [{'start': j} for j in asked]\n"
                  "    print(json.dumps(a), flush=True)\n");
    for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
        char text[3000];

        snprintf(text, sizeof text, "%spolicies:\n  - {policy: ./mine.c, name: m}\n"
                 "  - {exec: python3 mine.py, name: p}\n%s", HEAD, runs[i].rest);
        const char *words[] = { runs[i].command, program_write(program, "e.yaml", text), "-q",
                                "-o", program_path(program, "out"), NULL };
        if (program_say(program, words, &said) != 0)
            fail_msg("%s: %s", runs[i].command, said);
        free(said);
        table = program_result(program, "out", runs[i].table);
        assert_non_null(table);
        free(table);
    }
}

static void a_program_is_explained(void **state)
{
    const char *words[] = { "explain", "exec:python3 policies/clients/python/dynamic.py", NULL };
    char *said;

    assert_int_equal(program_say(*state, words, &said), 0);
    assert_part(said, "dynamic: policy");
    assert_part(said, "gain_min         number, from 0 to 100, default 1");
    free(said);
}

/* ---- refused ---- */

static void a_file_that_is_no_policy_is_refused(void **state)
{
    static const struct { const char *source; int status; const char *why; } bad[] = {
        { SOURCE("mine", "#include <stdio.h>", "printf(\"%d\", 3);"), 5,
          "./mine.c calls printf\n" },
        { SOURCE("mine", "#include <stdlib.h>", "free(malloc(9)); abort();"), 5,
          "./mine.c calls abort" },
        { SOURCE("mine", "void cs_nothing(void);", "cs_nothing();"), 5,
          "./mine.c calls cs_nothing, which this program (ABI " },
        { SOURCE("mine", "#undef CS_POLICY_ABI_MAJOR\n#define CS_POLICY_ABI_MAJOR 1",
                 ""), 5, "policy mine: abi 1, this program has " },
        { SOURCE("mine", "__attribute__((constructor)) static void go(void)\n"
                 "{ __builtin_trap(); }", ""), 5,
          "./mine.c cannot be loaded: its code crashed (" },
        { SOURCE("fcfs", "", ""), 5,
          "mine.c is named fcfs, as a built-in one" },
        { SOURCE("MINE", "", ""), 5, "policy MINE: member name must match" },
        { "int f(void);\nint f(void) { return 0; }\n", 5, "./mine.c has no table" },
        { SOURCE("mine", "", "") "const struct cs_policy my_policy;\n", 5,
          "./mine.c has more than one table" },
        { SOURCE("mine", "", "x = 3;"), 3, "mine.c:10:5: syntax error: " },
        { "\177ELF\002\001\001", 3, "mine.c:1:1: syntax error: " },
        { "#include \"policies/host/host.h\"\n", 3, "mine.c:1:10: syntax error: " },
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *said;

        program_write(*state, "mine.c", bad[i].source);
        assert_int_equal(run(*state, "policies: [./mine.c]\n", "out", &said),
                         bad[i].status);
        assert_part(said, bad[i].why);
        free(said);
    }
}

static void a_table_that_is_not_sound_is_refused(void **state)
{
    static const struct { const char *source, *why; } bad[] = {
        { TABLE("P(\"x\", CS_PARAM_REAL, 0, \"24\", \"h\")"),
          "default of param x: 'x' must be from 0 to 10, found '24'" },
        { TABLE("P(\"x\", CS_PARAM_REAL, 0, \"abc\", \"h\")"),
          "default of param x: 'x' must be a number" },
        { TABLE("P(\"x\", CS_PARAM_REAL, 0, \"1 # half\", \"h\")"),
          "default of param x: 'x' must be a number without a unit, found '1 # half'" },
        { TABLE("P(\"x\", CS_PARAM_REAL, 0, \"1\", NULL)"), "param x has no help" },
        { TABLE("P(\"x\", CS_PARAM_REAL, 8, \"1\", \"h\")"), "param x lies outside of self" },
        { TABLE("P(\"x\", 99, 0, \"1\", \"h\")"), "param x has a type that is none" },
        { TABLE("P(\"x\", CS_PARAM_CHOICE, 0, \"1\", \"h\")"), "a choice without words" },
        { TABLE("P(\"blocking\", CS_PARAM_REAL, 0, \"1\", \"h\")"),
          "param blocking has the name of a key that all policies have" },
        { TABLE("P(\"X\", CS_PARAM_REAL, 0, \"1\", \"h\")"), "key of param[0] must match" },
        { TABLE(".limits = \"depth\""), "limits names 'depth', which is no key of param" },
        { TABLE(".need_count = 2"), "need_count without member need" },
        { TABLE(".self_bytes = -1"), "member self_bytes is " },
        { TABLE(".name = (const char *)1"), "crashed (Segmentation fault) as its table was read" },
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *said;

        program_write(*state, "mine.c", bad[i].source);
        assert_int_equal(run(*state, "policies: [./mine.c]\n", "out", &said), 5);
        assert_part(said, bad[i].why);
        free(said);
        assert_int_equal(explain(*state, "mine.c", &said), 5);
        assert_part(said, bad[i].why);
        free(said);
    }
}

/* A word in a list and a map lack it at their own place, and that is all that is wrong. */
static void a_key_without_a_default_is_required(void **state)
{
    static const char *const entry[] = { "./mine.c", "{policy: ./mine.c}" };
    char rest[100], *said;

    program_write(*state, "mine.c", TABLE("P(\"x\", CS_PARAM_REAL, 0, NULL, \"h\")"));
    assert_int_equal(explain(*state, "mine.c", &said), 0);
    assert_part(said, "number, from 0 to 10, required\n");
    free(said);
    for (size_t i = 0; i < sizeof entry / sizeof entry[0]; i++) {
        snprintf(rest, sizeof rest, "policies: [fcfs, %s]\n", entry[i]);
        assert_int_equal(run(*state, rest, "out", &said), 3);
        assert_part(said, ":18: schema error: key 'x' is missing in 'experiment.policies[]'");
        assert_null(strstr(said, "errors\n"));
        free(said);
    }
    assert_int_equal(run(*state, "policies: [fcfs, {policy: ./mine.c, x: 2}]\n", "out", &said),
                     0);
    free(said);
}

static void a_fault_before_any_trial_is_told(void **state)
{
    char *said;

    program_write(*state, "mine.c",
                  "#include \"policies/policy.h\"\n"
                  "static const char *never(const void *self, const struct job_request *r,\n"
                  "                         uint32_t gpus)\n"
                  "{ (void)self; (void)r; (void)gpus; __builtin_trap(); }\n"
                  "const struct cs_policy mine_policy = {\n"
                  "    .abi_major = CS_POLICY_ABI_MAJOR, .name = \"mine\", .summary = \"x\",\n"
                  "    .size_bytes = sizeof(struct cs_policy), .never = never };\n");
    assert_int_equal(run(*state, "policies: [./mine.c]\n", "out", &said), 0);
    assert_part(said, "policy mine: its never() crashed (");
    free(said);
}

static void a_path_that_is_no_policy_is_refused(void **state)
{
    static const struct { const char *name; int status; const char *why; } bad[] = {
        { "./none.c", 4, "policies names the file '" },
        { "./folder.so", 4, "which is a folder" },
        { "./text.so", 5, "is not a shared library" },
        { "./cut.so", 5, "is not a shared library" },
        { "./empty.so", 5, "is not a shared library" },
        { "./folder.c", 4, "which is a folder" },
        { "./e.yaml", 3, "a policy from a file must be a library (.so) or a source" },
    };
    char rest[100], *said;

    program_write(*state, "text.so", "int main(void) { return 0; }\n");
    program_write(*state, "cut.so", "\177ELF\002\001\001");
    program_write(*state, "empty.so", "");
    assert_int_equal(mkdir(program_path(*state, "folder.so"), 0700), 0);
    assert_int_equal(mkdir(program_path(*state, "folder.c"), 0700), 0);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(rest, sizeof rest, "policies: [fcfs, %s]\n", bad[i].name);
        assert_int_equal(run(*state, rest, "out", &said), bad[i].status);
        assert_part(said, bad[i].why);
        assert_part(said, "e.yaml:11:18: ");
        free(said);
    }
}

/* What the file names is not there, so that loading it would fail; a setting of one of its
 * entries, before the others take their place, still asks for it. */
static void policies_that_are_replaced_are_not_loaded(void **state)
{
    const struct program *program = *state;
    const char *file = program_write(program, "e.yaml", HEAD "policies: [./gone.c]\n");
    const char *whole[] = { "run", file, "-q", "--seeds", "1", "--set", "policies=[fcfs]",
                            "--set", "policies.fcfs.placement=count", "-o",
                            program_path(program, "out"), NULL };
    const char *part[] = { "run", file, "-q", "--set", "policies.0.name=x", "--set",
                           "policies=[fcfs]", NULL };
    char *said = NULL;

    assert_int_equal(program_say(program, whole, &said), 0);
    free(said);
    assert_int_equal(program_say(program, part, &said), 4);
    assert_part(said, "gone.c', which is not there");
    free(said);
}

/* An entry of an ELF head, and what it is changed to. */
struct elf_fault {
    size_t at;
    unsigned char to[2], bytes;
    const char *why;
};

/* Makes mine.so of a source, with a further library or NULL. */
static void link_library(const struct program *program, const char *source, const char *more)
{
    const char *path = program_write(program, "mine.c", source);
    const char *const cc[] = { "cc", "-shared", "-fPIC", "-I.", "-Wl,--no-as-needed", "-o",
                               program_path(program, "mine.so"), path, more, NULL };

    assert_int_equal(program_spawn(cc, NULL), 0);
}

/* Whoever has a library of another machine, or of another release, is told so. */
static void a_library_of_another_machine_is_refused(void **state)
{
    static const struct elf_fault faults[] = {
        { 18, { 0xf3, 0 }, 2, "is for another kind of processor than this program" },
        { 4, { 1, 0 }, 1, "is for another kind of processor than this program" },
        { 5, { 2, 0 }, 1, "is for another kind of processor than this program" },
        { 16, { 2, 0 }, 2, "is not a shared library: link it with -shared" },
        { 16, { 1, 0 }, 2, "is not a shared library: link it with -shared" },
    };
    char *said;

    link_library(*state, SOURCE("mine", "", ""), NULL);
    assert_int_equal(run(*state, "policies: [./mine.so]\n", "out", &said), 0);
    free(said);
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        FILE *file;

        link_library(*state, SOURCE("mine", "", ""), NULL);
        file = fopen(program_path(*state, "mine.so"), "r+b");
        assert_non_null(file);
        assert_int_equal(fseek(file, (long)faults[i].at, SEEK_SET), 0);
        assert_int_equal(fwrite(faults[i].to, 1, faults[i].bytes, file), faults[i].bytes);
        assert_int_equal(fclose(file), 0);
        assert_int_equal(run(*state, "policies: [./mine.so]\n", "out", &said), 5);
        assert_part(said, "mine.so ");
        assert_part(said, faults[i].why);
        free(said);
    }
    link_library(*state, "int f(void);\nint f(void) { return 0; }\n", "-lz");
    assert_int_equal(run(*state, "policies: [./mine.so]\n", "out", &said), 5);
    assert_part(said, "needs the library libz");
    free(said);
}

/* A table of an older minor number is shorter, of an older major number refused. */
static void a_library_of_another_release(void **state)
{
    static const struct { const char *head, *why; } tables[] = {
        { "#define BYTES offsetof(struct cs_policy, weights_count)", NULL },
        { "#define BYTES 16", "policy mine: member size_bytes is 16, expected " },
        { "#define BYTES 100000", "built with the headers of another release" },
        { "#define BYTES sizeof(struct cs_policy)\n#undef CS_POLICY_ABI_MAJOR\n"
          "#define CS_POLICY_ABI_MAJOR 1", "policy mine: abi 1, this program has 2" },
        { "#define BYTES sizeof(struct cs_policy)\n#undef CS_POLICY_ABI_MAJOR\n"
          "#define CS_POLICY_ABI_MAJOR 3", "policy mine: abi 3, this program has 2" },
    };

    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++) {
        char source[1000], *said;

        snprintf(source, sizeof source, "#include \"policies/policy.h\"\n%s\n"
                 "const struct cs_policy mine_policy = { .abi_major = CS_POLICY_ABI_MAJOR,\n"
                 "    .size_bytes = BYTES, .name = \"mine\", .summary = \"x\" };\n",
                 tables[i].head);
        link_library(*state, source, NULL);
        int status = run(*state, "policies: [./mine.so]\n", "out", &said);
        if (status != (tables[i].why == NULL ? 0 : 5))
            fail_msg("%s: status %d: %s", tables[i].head, status, said);
        if (tables[i].why != NULL)
            assert_part(said, tables[i].why);
        free(said);
    }
}

/* Keys of a policy from a file are those of its table. */
static void a_key_that_no_table_has_is_refused(void **state)
{
    static const struct { const char *keys, *why; } bad[] = {
        { ", depht: 3", "Did you mean 'depth'?" }, { ", depth: 11", "must be from 0 to 10" },
        { ", depth: much", "'depth' must be a" }, { ", depth: .nan", "'depth' must be a" },
        { ", exec: true", "policy and exec exclude each other" },
    };
    char rest[200], *said;

    program_write(*state, "mine.c", TABLE("P(\"depth\", CS_PARAM_REAL, 0, \"1\", \"h\")"));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        snprintf(rest, sizeof rest, "policies: [{policy: ./mine.c%s}]\n", bad[i].keys);
        assert_int_equal(run(*state, rest, "out", &said), 3);
        assert_part(said, "e.yaml:11:");
        assert_part(said, bad[i].why);
        free(said);
    }
}

static void the_key_needs_a_policy_from_a_file(void **state)
{
    char *said;

    assert_int_equal(run(*state, "policies: [fcfs]\nplugins: {isolate: false}\n", "out",
                         &said), 3);
    assert_part(said, "key plugins has no effect: no policy is from a file");
    free(said);
    program_write(*state, "mine.c", SOURCE("mine", "", ""));
    assert_int_equal(run(*state, "policies: [./mine.c]\n"
                         "plugins: {isolate: false, memory: 1GB}\n", "out", &said), 3);
    assert_part(said, "needs `isolate: true`");
    free(said);
}

/* ---- what is compiled when ---- */

static void a_changed_file_is_run_again(void **state)
{
    const struct program *program = *state;
    char path[192], out[192], *said;
    const char *words[] = { "run", path, "-q", "--resume", "-o", out, NULL };

    snprintf(out, sizeof out, "%s", program_path(program, "out"));
    snprintf(path, sizeof path, "%s",
             program_write(program, "e.yaml", HEAD "policies: [./mine.c]\n"));

    for (int turn = 0; turn < 3; turn++) {
        program_write(program, "mine.h", turn < 2 ? "#define MORE 0\n"
                                                  : "#define MORE 3600000000000LL\n");
        program_write(program, "mine.c", SOURCE("mine", "#include \"mine.h\"",
                      "if (cs_now_ns(host) < MORE) cs_fail(host, \"too soon\");"));
        assert_int_equal(program_say(program, words, &said), turn < 2 ? 0 : 5);
        free(said);
    }
}

static void a_changed_header_is_seen_where_paths_have_blanks(void **state)
{
    static const char *const said_of[] = { "once", "anew" };
    char *said;

    assert_int_equal(mkdir(program_path(*state, "a folder"), 0700), 0);
    program_write(*state, "a folder/my own.c",
                  "#include \"policies/policy.h\"\n#include \"of mine.h\"\n"
                  "const struct cs_policy mine_policy = {\n"
                  "    .abi_major = CS_POLICY_ABI_MAJOR, .name = \"mine\",\n"
                  "    .size_bytes = sizeof(struct cs_policy), .summary = SAID };\n");
    for (size_t i = 0; i < sizeof said_of / sizeof said_of[0]; i++) {
        char text[40];

        snprintf(text, sizeof text, "#define SAID \"%s\"\n", said_of[i]);
        program_write(*state, "a folder/of mine.h", text);
        assert_int_equal(explain(*state, "a folder/my own.c", &said), 0);
        assert_part(said, said_of[i]);
        free(said);
    }
}

static void the_compiler_is_the_one_that_cc_names(void **state)
{
    static const struct { const char *cc; int status; const char *says; } of[] = {
        { "clang", 0, "mine: policy\n" },
        { " gcc  -O1", 0, "mine: policy\n" },
        { "no-such-compiler -O1", 4, "there is no compiler named no-such-compiler\n" },
        { "/", 5, "does not compile: / cannot be run\n" },
        { "gcc -O1 -O1 -O1 -O1 -O1 -O1 -O1 -O1 -O1 -O1 -O1 -O1 -O1 -O1 -O1 -O1 -O1 -O1 -O1 -O1",
          5, "CC must have at most 20 words, and is 'gcc -O1 " },
        { "true", 5, "does not compile: true ended well, and wrote no list of files" },
    };
    const char *before = getenv("CC");
    char *kept = before != NULL ? strdup(before) : NULL, *said;

    program_write(*state, "mine.c", SOURCE("mine", "", ""));
    for (size_t i = 0; i < sizeof of / sizeof of[0]; i++) {
        assert_int_equal(setenv("CC", of[i].cc, 1), 0);
        assert_int_equal(explain(*state, "mine.c", &said), of[i].status);
        assert_part(said, of[i].says);
        free(said);
    }
    assert_int_equal(kept != NULL ? setenv("CC", kept, 1) : unsetenv("CC"), 0);
    free(kept);
}

static void the_skeleton_is_a_policy(void **state)
{
    const struct program *program = *state;
    char path[192], *said;
    const char *words[] = { "new", "policy", "wide-first", "-o", path, NULL };
    const char *explain[] = { "explain", path, NULL };

    snprintf(path, sizeof path, "%s", program_path(program, "wide-first.c"));
    assert_int_equal(program_say(program, words, &said), 0);
    free(said);
    assert_int_equal(program_say(program, words, &said), 4);
    assert_part(said, "is there already");
    free(said);
    assert_int_equal(program_say(program, explain, &said), 0);
    assert_part(said, "wide-first: policy\n");
    assert_part(said, "patience_h       number, from 0 to 1e+06, default 24\n");
    free(said);
    assert_int_equal(run(program, "policies: [{policy: ./wide-first.c, patience_h: 1}]\n",
                         "out", &said), 0);
    free(said);
}

/* Words of C and structs of the headers are names of policies, too. */
static void the_skeleton_takes_names_that_c_has(void **state)
{
    static const char *const name[] = { "for", "double", "cs-policy", "cs-host", "task-id" };
    char file[32], path[192], *said;

    for (size_t i = 0; i < sizeof name / sizeof name[0]; i++) {
        const char *words[] = { "new", "policy", name[i], "-o", path, NULL };

        snprintf(file, sizeof file, "%s.c", name[i]);
        snprintf(path, sizeof path, "%s", program_path(*state, file));
        assert_int_equal(program_say(*state, words, &said), 0);
        free(said);
        if (explain(*state, file, &said) != 0)
            fail_msg("%s", said);
        assert_part(said, "patience_h       number, from 0 to 1e+06, default 24\n");
        free(said);
    }
}

/* `validate` reads its table and does not let it begin; each trial does, and tells its words. */
static void validate_does_not_let_a_policy_from_a_file_begin(void **state)
{
    char *said;

    program_write(*state, "refuses.c", SOURCE("refuses",
        "static bool begin(void *self, struct cs_host *host)\n"
        "{\n"
        "    (void)self;\n"
        "    cs_fail(host, \"it never begins\");\n"
        "    return false;\n"
        "}\n", ""));
    char *text = program_read(program_path(*state, "refuses.c"));
    char *at = strstr(text, ".decide = decide");
    char *whole = malloc(strlen(text) + 40);

    sprintf(whole, "%.*s.init = begin, %s", (int)(at - text), text, at);
    program_write(*state, "refuses.c", whole);
    free(whole);
    free(text);
    assert_int_equal(run(*state, "policies: [./refuses.c]\n", "out", &said), 5);
    assert_non_null(strstr(said, "policy refuses: it never begins"));
    free(said);
    const char *words[] = { "validate", program_path(*state, "e.yaml"), NULL };
    if (program_say(*state, words, &said) != 0)
        fail_msg("%s", said);
    free(said);
}

/* `harvest` starts on fewer GPUs the role alone that its key `role` names.  In a policy from a
 * file a key of that name may be anything: the role of 16 GPUs, with a `min` of 4, has a place on
 * 8.  Without CS_SHRINKS it has none. */
static void a_key_of_a_file_says_nothing_of_roles(void **state)
{
    static const char text[] =
        "#include <stddef.h>\n#include \"policies/params.h\"\n#include \"policies/policy.h\"\n"
        "struct keyed { const char *role; };\n"
        "static const struct cs_param param[] = {\n"
        "    { .key = \"role\", .type = CS_PARAM_TEXT, .fallback = \"x\", .help = \"x\",\n"
        "      .offset = offsetof(struct keyed, role) },\n};\n"
        "extern const struct cs_policy keyed_policy;\n"
        "const struct cs_policy keyed_policy = {\n"
        "    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),\n"
        "    .name = \"keyed\", .summary = \"x\", .flags = %s,\n"
        "    .self_bytes = sizeof(struct keyed), .param = param, .param_count = 1,\n};\n";
    static const char experiment[] =
        "experiment: e\nseeds: 1\ncluster: {nodes: [{name: a, count: 1, gpus: {type: a100-80, "
        "count: 8}, cpu: {type: epyc-7742, sockets: 2}, memory: 1TB}]}\n"
        "workload: {arrival: {process: all_at_once}, jobs: 1, mix: [{recipe: lora, name: l, model: "
        "llama-3.1-8b, batch: 64, sequence: 2048, steps: 10, train: {gpus: 16, min: 4}}]}\n"
        "policies: [./keyed.c]\n";
    const struct program *program = *state;

    for (int shrinks = 0; shrinks <= 1; shrinks++) {
        char source[1500], *said;

        snprintf(source, sizeof source, text, shrinks ? "CS_SHRINKS" : "0");
        program_write(program, "keyed.c", source);
        const char *words[] = { "validate", program_write(program, "e.yaml", experiment), NULL };
        assert_int_equal(program_say(program, words, &said), shrinks ? 0 : 3);
        if (!shrinks)
            assert_non_null(strstr(said, "it asks for 16 GPUs, and there are 8"));
        free(said);
    }
}

/* A parameter `lend` that is off says nothing of a policy from a file, where it may mean anything:
 * with CS_CONFINES the policy confines roles to their home. */
static void a_key_lend_of_a_file_confines_nothing(void **state)
{
    static const char text[] =
        "#include <stddef.h>\n#include \"policies/params.h\"\n#include \"policies/policy.h\"\n"
        "struct keyed { bool lend; };\n"
        "static const struct cs_param param[] = {\n"
        "    { .key = \"lend\", .type = CS_PARAM_BOOL, .fallback = \"false\", .help = \"x\",\n"
        "      .offset = offsetof(struct keyed, lend) },\n};\n"
        "extern const struct cs_policy keyed_policy;\n"
        "const struct cs_policy keyed_policy = {\n"
        "    .abi_major = CS_POLICY_ABI_MAJOR, .size_bytes = sizeof(struct cs_policy),\n"
        "    .name = \"keyed\", .summary = \"x\", .flags = %s,\n"
        "    .self_bytes = sizeof(struct keyed), .param = param, .param_count = 1,\n};\n";
    char source[1500], rest[2000], *said;

    for (int confines = 0; confines <= 1; confines++) {
        snprintf(source, sizeof source, text, confines ? "CS_CONFINES" : "0");
        program_write(*state, "keyed.c", source);
        snprintf(rest, sizeof rest, "%spolicies: [./keyed.c]\n", HEAD);
        const char *words[] = { "validate", program_write(*state, "e.yaml", rest), NULL };
        assert_int_equal(program_say(*state, words, &said), 0);
        assert_true((strstr(said, ", at home (keyed)") != NULL) == (confines == 1));
        free(said);
    }
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, program_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(a_long_name_of_a_policy_is_its_name),
        TEST(a_file_gives_the_bytes_of_the_built_in_policy),
        TEST(validate_does_not_let_a_policy_from_a_file_begin),
        TEST(a_crash_ends_one_trial),
        TEST(what_makes_no_sense_is_told),
        TEST(what_was_asked_for_last_is_told),
        TEST(an_endless_loop_ends_one_trial),
        TEST(a_trial_that_leaves_its_process_failed),
        TEST(too_much_memory_ends_one_trial),
        TEST(what_spins_ends_with_the_run),
        TEST(tune_and_border_take_guests),
        TEST(a_program_is_explained),
        TEST(a_file_that_is_no_policy_is_refused),
        TEST(a_table_that_is_not_sound_is_refused),
        TEST(a_key_without_a_default_is_required),
        TEST(a_fault_before_any_trial_is_told),
        TEST(a_path_that_is_no_policy_is_refused),
        TEST(policies_that_are_replaced_are_not_loaded),
        TEST(a_library_of_another_machine_is_refused),
        TEST(a_library_of_another_release),
        TEST(a_key_that_no_table_has_is_refused),
        TEST(the_key_needs_a_policy_from_a_file),
        TEST(a_changed_file_is_run_again),
        TEST(a_changed_header_is_seen_where_paths_have_blanks),
        TEST(the_compiler_is_the_one_that_cc_names),
        TEST(the_skeleton_is_a_policy),
        TEST(the_skeleton_takes_names_that_c_has),
        TEST(a_key_of_a_file_says_nothing_of_roles),
        TEST(a_key_lend_of_a_file_confines_nothing),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

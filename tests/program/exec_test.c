/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * exec_test.c - policies that are programs: in any language the same bytes as the
 * built-in ones; and each way to break the protocol ends one trial with a reason.
 */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>

#include "tests/aid/program.h"

#define JOBS                                                                    \
    "experiment: e\n"                                                           \
    "seeds: 2\n"                                                                \
    "cluster: {nodes: [{name: a, count: 2, gpus: {type: generic, count: 8}}]}\n"  \
    "workload:\n"                                                               \
    "  arrival: {process: poisson, rate: 30/h}\n"                               \
    "  jobs: 60\n"                                                              \
    "  mix:\n"                                                                  \
    "    - {recipe: trace, name: x, share: 1, gpus: 4, duration: 10min}\n"      \
    "    - {recipe: trace, name: y, share: 2, gpus: 8, duration: 14min}\n"      \
    "    - {recipe: trace, name: z, share: 2, gpus: 1,\n"                       \
    "       duration: {lognormal: {mean: 8min, cv: 2}}}\n"                      \
    "output: {tables: [summary, jobs], plots: []}\n"

static char *here;              /* the checkout */

/* Runs `text` into folder/name by so many threads; its status. */
static int run_on(const struct program *program, const char *threads, const char *text,
                  const char *name, char **said)
{
    const char *out = program_path(program, name);
    const char *words[] = { "run", program_write(program, "e.yaml", text), "-q", "-o",
                            out, "--threads", threads, NULL };

    return program_say(program, words, said);
}

static int run(const struct program *program, const char *text, const char *name,
               char **said)
{
    return run_on(program, "2", text, name, said);
}

static void run_well(const struct program *program, const char *text, const char *name)
{
    char *said;

    if (run(program, text, name, &said) != 0)
        fail_msg("%s", said);
    free(said);
}

static void assert_same_tables(const struct program *program, const char *what)
{
    static const char *const tables[] = { "summary.csv", "jobs.csv" };

    for (size_t i = 0; i < 2; i++) {
        char *a = program_result(program, "built_in", tables[i]);
        char *b = program_result(program, "program", tables[i]);

        assert_non_null(a);
        assert_non_null(b);
        if (strcmp(a, b) != 0)
            fail_msg("%s: %s differs", what, tables[i]);
        free(a);
        free(b);
    }
}

/* ---- the same bytes ---- */

static const char *phases(char *out, size_t bytes, const char *until)
{
    snprintf(out, bytes, "experiment: e\nseeds: 2\n"
             "cluster: %s/models/clusters/mixed_64.yaml\n"
             "workload: %s/workloads/dpo_mix.yaml\nuntil: %s\n"
             "output: {tables: [summary, jobs], plots: []}\n", here, here, until);
    return out;
}

/* `command` has gaps for a folder and the policy's name. */
static void assert_conforms(const struct program *program, const char *command,
                            const char *folder)
{
    static const struct { const char *name, *keys; } policies[] = {
        { "fcfs", "" }, { "fcfs", ", blocking: skip" }, { "sjf", "" },
        { "sjf", ", blocking: skip" }, { "easy", "" }, { "dynamic", "" },
        { "dynamic", ", lend: false" }, { "dynamic", ", gain_min: 3, release_max: 2%" },
    };
    char head[2000], text[3000], words[300];

    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        const char *name = policies[i].name;
        bool phase = strcmp(name, "dynamic") == 0;

        snprintf(text, sizeof text, "%spolicies: [{policy: %s, name: p%s}]\n",
                 phase ? phases(head, sizeof head, "2h") : JOBS, name, policies[i].keys);
        run_well(program, text, "built_in");
        snprintf(words, sizeof words, command, folder, name);
        snprintf(text, sizeof text, "%spolicies: [{exec: '%s', name: p%s}]\n",
                 phase ? head : JOBS, words, policies[i].keys);
        run_well(program, text, "program");
        assert_same_tables(program, words);
    }
}

static void python_gives_the_bytes_of_the_built_in_policies(void **state)
{
    assert_conforms(*state, "python3 %s/policies/clients/python/%s.py", here);
}

static void compile(const struct program *program, const char *source, const char *name)
{
    const char *const cc[] = { "cc", "-std=c11", "-D_POSIX_C_SOURCE=200809L", "-O2", "-Wall",
                               "-Wextra", "-Werror", "-ffp-contract=off", "-o",
                               program_path(program, name), source, "-lm", NULL };

    assert_int_equal(program_spawn(cc, NULL), 0);
}

static void c_gives_the_bytes_of_the_built_in_policies(void **state)
{
    compile(*state, "policies/clients/c/client.c", "client");
    compile(*state, "policies/clients/c/dynamic.c", "dynamic");
    program_write(*state, "client.sh", "cd ${0%/*}\n"
                  "if [ $1 = dynamic ]; then exec ./dynamic; fi\nexec ./client $1\n");
    assert_conforms(*state, "sh %s/client.sh %s", ((struct program *)*state)->folder);
}

static void go_gives_the_bytes_of_the_built_in_policies(void **state)
{
    const struct program *program = *state;
    char command[700];
    const char *const shell[] = { "sh", "-c", command, NULL };

    snprintf(command, sizeof command, "PATH=$PATH:/usr/local/go/bin command -v go");
    if (program_spawn(shell, "/dev/null") != 0) {
        print_message("skip: go is missing\n");
        skip();
    }
    snprintf(command, sizeof command, "cd %s/policies/clients/go && "
             "PATH=$PATH:/usr/local/go/bin GOFLAGS=-buildvcs=false GOTOOLCHAIN=local "
             "go build -o %s .", here, program_path(program, "client"));
    assert_int_equal(program_spawn(shell, NULL), 0);
    assert_conforms(program, "%s/client %s", program->folder);
}

/* ---- as it is specified ---- */

/* Between clustersim and a client, judges each line by the schema, whose references are
 * followed once and not at each line.  An hour of `dynamic` has all kinds of messages. */
static const char judge_py[] =
    "import json, subprocess, sys\n"
    "import jsonschema\n"
    "schema = json.load(open(sys.argv[1]))\n"
    "parts = schema['definitions']\n"
    "def inline(part):\n"
    "    if isinstance(part, list): return [inline(item) for item in part]\n"
    "    if not isinstance(part, dict): return part\n"
    "    if '$ref' in part: return inline(parts[part['$ref'].rsplit('/', 1)[1]])\n"
    "    return {key: inline(value) for key, value in part.items()}\n"
    "judges = {kind: jsonschema.Draft7Validator(inline(parts[kind]))\n"
    "    for kind in ('hello', 'start', 'decide', 'end', 'self', 'answer')}\n"
    "def judge(line, *kinds):\n"
    "    if len(kinds) > 1:\n"
    "        kinds = [k for k in kinds if '\"%s\":' % k in line] or ['decide']\n"
    "    judges[kinds[0]].validate(json.loads(line))\n"
    "    return line\n"
    "client = subprocess.Popen(sys.argv[2:], stdin=subprocess.PIPE, text=True,\n"
    "                          stdout=subprocess.PIPE)\n"
    "for line in sys.stdin:\n"
    "    judge(line, 'hello', 'start', 'end')\n"
    "    client.stdin.write(line)\n"
    "    client.stdin.flush()\n"
    "    kind = 'self' if '\"hello\":' in line else 'answer'\n"
    "    print(judge(client.stdout.readline(), kind), end='', flush=True)\n";

static void messages_are_as_the_schema_says(void **state)
{
    static const char *const names[] = { "fcfs", "easy", "dynamic" };
    const char *const look[] = { "python3", "-c", "import jsonschema", NULL };
    char head[2000], text[4000];

    if (program_spawn(look, NULL) != 0) {
        print_message("skip: python3-jsonschema is missing\n");
        skip();
    }
    program_write(*state, "judge.py", judge_py);
    for (size_t i = 0; i < 3; i++) {
        snprintf(text, sizeof text, "%spolicies: [{exec: [python3, judge.py, "
                 "%s/policies/protocol.json, python3, %s/policies/clients/python/%s.py]}]\n"
                 "seeds: 1\n", i < 2 ? JOBS : phases(head, sizeof head, "1h"), here, here,
                 names[i]);
        char *twice = strstr(text, "seeds: 2\n");
        memmove(twice, twice + 9, strlen(twice + 9) + 1);
        run_well(*state, text, "out");
    }
}

/* ---- broken programs ---- */

/* Answers as it should until message N, then does as it is told: bad.py WAY N. */
static const char bad_py[] =
    "import json, os, signal, sys, time\n"
    "way, at = sys.argv[1], int(sys.argv[2])\n"
    "def say(text):\n"
    "    os.write(1, text.encode() if isinstance(text, str) else text)\n"
    "def bad(n):\n"
    "    good = '{\"n\":%d}\\n' % n\n"
    "    print('about to', way, file=sys.stderr, flush=True)\n"
    "    if way == 'twice': say(good + good)\n"
    "    elif way == 'again': say('{\"n\":%d}\\n' % (n - 1))\n"
    "    elif way == 'ahead': say('{\"n\":%d}\\n' % (n + 1))\n"
    "    elif way == 'later': say(good); time.sleep(0.3); say(good)\n"
    "    elif way == 'never': time.sleep(100)\n"
    "    elif way == 'half': say('{\"n\":'); time.sleep(100)\n"
    "    elif way == 'garbage': say('Starting up...\\n')\n"
    "    elif way == 'binary': say(b'\\x00\\xff\\x00\\n')\n"
    "    elif way == 'cut': say('{\"n\":%d,\"do\":[{\"start\":\\n' % n)\n"
    "    elif way == 'deep': say('[' * 100000 + '\\n')\n"
    "    elif way == 'long': say(b'x' * 100000000)\n"
    "    elif way == 'leave': sys.exit(3)\n"
    "    elif way == 'raise': raise ValueError('no such queue')\n"
    "    elif way == 'killed': os.kill(os.getpid(), signal.SIGKILL)\n"
    "    elif way == 'close': os.close(0); os.close(1); time.sleep(100)\n"
    "    elif way == 'spam': say(good * 100000)\n"
    "    elif way == 'stderr':\n"
    "        for i in range(20000): print('x' * 1000, i, file=sys.stderr)\n"
    "        sys.exit(4)\n"
    "    elif way == 'lives': os.close(1); time.sleep(100)\n"
    "    elif way == 'child':\n"
    "        if os.fork() == 0: time.sleep(1000)\n"
    "        sys.exit(5)\n"
    "    elif way == 'huge':\n"
    "        for i in range(1024): say(b'x' * 1048576)\n"
    "    elif way == 'spin': say('{\"n\":%d,\"again\":\"always\"}\\n' % n)\n"
    "    else: say('{\"n\":%d,%s}\\n' % (n, way))\n"
    "waits = []\n"
    "for line in sys.stdin:\n"
    "    message = json.loads(line)\n"
    "    n = message['n']\n"
    "    if n >= at and 'end' not in message: bad(n)\n"
    "    elif n == 0: say('{\"n\":0,\"protocol\":1,\"name\":\"mine\"}\\n')\n"
    "    elif 'end' in message: break\n"
    "    else:\n"
    "        told = message.get('verdicts', [])\n"
    "        waits = [j for j, v in zip(waits, told) if v != 'done'] + \\\n"
    "            [t['job'] for t in message.get('waits', [])]\n"
    "        say(json.dumps({'n': n, 'skip': True,\n"
    "                        'do': [{'start': j} for j in waits]}) + '\\n')\n";

/* Runs a bad program beside fcfs; what is said. */
static char *run_bad(const struct program *program, const char *way, int at, int status)
{
    char text[3000], *said;

    program_write(program, "bad.py", bad_py);
    snprintf(text, sizeof text, "%s\npolicies: [fcfs, {exec: [python3, bad.py, '%s', %d]}]\n",
             JOBS, way, at);
    assert_int_equal(run(program, text, "out", &said), status);
    return said;
}

struct bad_way {
    const char *way, *why;
    bool waits;                 /* until a limit that is short here */
};

static const struct bad_way bad_ways[] = {
    { "twice", "answers twice", false },
    { "again", "it answers message 5 again, and message 6 is open", false },
    { "later", "it answers message 6 again, and message 7 is open", false },
    { "ahead", "it answers message 7, and message 6 is open", false },
    { "never", "gave no answer within 2 s of wall time", true },
    { "half", "did not end its line within 2 s of wall time", true },
    { "garbage", "column 1: a JSON value is expected", false },
    { "binary", "the line holds a byte 0", false },
    { "cut", "column 15: line ends within a bracket", false },
    { "deep", "a map {...} is expected here, and nothing else on stdout", false },
    { "long", "sends a line of more than 64 MB", false },
    { "leave", "ended with status 3 before `end`", false },
    { "raise", "ValueError: no such queue", false },
    { "killed", "was ended by a signal (Killed)", false },
    { "close", "closed its stdin or stdout and goes on", false },
    { "spam", "answers twice", false },
    { "huge", "sends a line of more than 64 MB", false },
    { "stderr", "ended with status 4 before `end`", false },
    { "lives", "closed its stdin or stdout and goes on", false },
    { "child", "ended with status 5 before `end`", false },
    { "spin", "goes on with one decision for 2 s of wall time", true },
    { "\"do\":[{\"start\":999}]", "names job 999 in `start`, and it was told of no such", false },
    { "\"do\":[{\"start\":0.5}]", "column 23: a whole number is expected here", false },
    { "\"do\":[{\"start\":-1}]", "column 23: -1 is not from 0 to ", false },
    { "\"do\":[{\"start\":0,\"pools\":6}]", "wants pools 6, a mask of more than the 1", false },
    { "\"do\":[{\"begin\":0}]", "column 15: there is no key 'begin'", false },
    { "\"do\":[{\"strat\":0}]", "there is no key 'strat' (did you mean 'start'?)", false },
    { "\"do\":[{\"start\":0,\"start\":1}]", "column 25: key 'start' is given twice", false },
    { "\"do\":[{\"start\":0,\"stop\":1}]", "a request has one verb", false },
    { "\"do\":[{\"start\":0,\"gpus\":1,\"gpus\":1}]", "key 'gpus' is given twice", false },
    { "\"do\":[{\"start\":0,\"roles\":[{\"cores\":1,\"cores\":1}]}]",
      "key 'cores' is given twice", false },
    { "\"do\":[],\"do\":[]", "key 'do' is given twice", false },
    { "\"skip\":true,\"skip\":true", "key 'skip' is given twice", false },
    { "\"do\":{\"start\":0}", "column 13: a list is expected here", false },
    { "\"again\":\"yes\"", "again is refused, always or never, and not 'yes'", false },
    { "\"n\":6", "key 'n' is given twice", false },
};
#define BAD_WAYS (sizeof bad_ways / sizeof bad_ways[0])

/* The line of failures.csv of the first trial of a policy, for the caller to free. */
static char *find_failure(const char *failures, const char *policy)
{
    char begin[80];
    const char *line = failures;

    snprintf(begin, sizeof begin, "base,%s,0,", policy);
    while (line != NULL && strncmp(line, begin, strlen(begin)) != 0) {
        line = strchr(line, '\n');
        line = line == NULL ? NULL : line + 1;
    }
    if (line == NULL)
        fail_msg("no failure of %s:\n%s", policy, failures);
    return strndup(line, strcspn(line, "\n"));
}

/* Runs all programs that wait, or all that do not, beside fcfs. */
static void assert_ways_fail_alone(const struct program *program, bool waits)
{
    char text[8000], name[16], *said, *summary, *failures;
    size_t used, count = 0;

    used = (size_t)snprintf(text, sizeof text, "%splugins: {event_limit: %s}\n"
                            "policies:\n  - fcfs\n", JOBS, waits ? "2s" : "60s");
    for (size_t i = 0; i < BAD_WAYS; i++)
        if (bad_ways[i].waits == waits) {
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "  - {exec: [python3, bad.py, '%s', 6], name: bad-%zu}\n",
                                     bad_ways[i].way, i);
            count++;
        }
    assert_true(used < sizeof text);
    *strchr(text, '2') = '1';           /* seeds */
    assert_int_equal(run(program, text, "out", &said), 5);
    snprintf(name, sizeof name, "%zu of %zu t", count, count + 1);
    assert_part(said, name);
    summary = program_result(program, "out", "summary.csv");
    failures = program_result(program, "out", "failures.csv");
    assert_part(summary, "base,fcfs,0,");
    assert_null(strstr(summary, ",bad-"));
    for (size_t i = 0; i < BAD_WAYS; i++) {
        if (bad_ways[i].waits != waits)
            continue;
        snprintf(name, sizeof name, "bad-%zu", i);
        char *line = find_failure(failures, name);
        assert_part(line, ": its program ");
        assert_part(line, bad_ways[i].why);
        assert_part(line, "It wrote");
        assert_part(line, "Last messages: ");
        assert_part(line, "> {\"\"n\"\":");
        free(line);
    }
    free(said);
    free(summary);
    free(failures);
}

/* Asks for what stands in argv, once four jobs have come; then says what it was told. */
static const char asks_py[] =
    "import json, sys\n"
    "seen = 0\n"
    "for line in sys.stdin:\n"
    "    m = json.loads(line)\n"
    "    a = {'n': m['n']}\n"
    "    if 'hello' in m:\n"
    "        a.update(protocol=1, name='mine', flags=['per_phase', 'preempts', 'estimates'])\n"
    "    elif 'end' in m: break\n"
    "    elif 'now' in m:\n"
    "        seen += 1\n"
    "        if seen == 5: sys.exit('told ' + json.dumps(m['verdicts'])[1:-1])\n"
    "        a['do'] = [{'start': t['job'], 'role': t['role']} for t in m.get('waits', [])]\n"
    "        if seen == 4: a.update(do=json.loads(sys.argv[1]), skip=True, again='always')\n"
    "    print(json.dumps(a), flush=True)\n";

static const struct { const char *ask, *why; } asks[] = {
#define VERB(NAME, OF, NEEDS, TAKES) ASK_##OF(NAME)
#define ASK_JOB(NAME)                                                           \
    { "{\"" #NAME "\":99999}", "names job 99999 in `" #NAME "`, and it was told of no such job" },
#define ASK_NUMBER(NAME)
#include "experiments/exec/verbs.def"
#undef VERB
    { "{\"start\":0,\"role\":9}", "names role 9 of job 0 in `start`, and the job has 1" },
    { "{\"left\":0,\"role\":7}", "names role 7 of job 0 in `left`, and the job has 1" },
    { "{\"wake_at\":-1}", ": -1 is not from 0 to " },
    { "{\"earliest\":0.5}", ": a whole number is expected here" },
    { "{\"start\":3,\"role\":0,\"gpus\":4294967295}", "told \"bad_shape\"" },
    { "{\"start\":3,\"role\":0,\"cores\":4294967295}", "told \"no_room\"" },
    { "{\"forecast\":3,\"role\":0,\"gpu_type\":4294967295}", "told \"no_room\"" },
    { "{\"wake_at\":9223372036854775807}", "told \"done\"" },
    { "{\"wake_when_idle\":9223372036854775807}", "told \"done\"" },
    { "{\"earliest\":9223372036854775807}", "told {\"at_ns\": 9223372036854775807" },
    { "{\"room_in\":4294967295}", "told null" },
    { "{\"room_in\":1,\"pools\":2}", "wants pools 2, a mask of more than the 1" },
    { "{\"take_back\":0,\"role\":0,\"delay_ns\":9223372036854775807}", "told \"done\"" },
    { "{\"next\":0},{\"anew\":0},{\"tried\":3,\"role\":0}", "\"not_pending\"" },
    { "{\"tried\":3,\"role\":0,\"alike\":3}", ": 3 is not from 0 to 2" },
    { "{\"start\":3,\"stop\":3}", "a request has one verb, and this is its second" },
    { "{}", "the request has no verb" },
    /* What a verb does not take would be passed over: the job is stopped as a whole. */
    { "{\"stop\":3,\"role\":0,\"gpus\":2}", "'stop' takes no key 'gpus'" },
    { "{\"alike\":1,\"start\":3,\"role\":0}", "'start' takes no key 'alike'" },
    { "{\"room_in\":1,\"pools\":1,\"cores\":1}", "'room_in' takes no key 'cores'" },
    { "{\"start\":3,\"roles\":[{}],\"gpus\":2}", "stands in roles, or beside the verb" },
};

/* Whatever a request names is looked at: an error of its trial, or a verdict. */
static void what_a_request_names_is_checked(void **state)
{
    enum { COUNT = sizeof asks / sizeof asks[0] };
    char text[16000], name[16], *said, *failures;
    size_t used = (size_t)snprintf(text, sizeof text, "%spolicies:\n  - fcfs\n", JOBS);

    program_write(*state, "asks.py", asks_py);
    for (size_t i = 0; i < COUNT; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "  - {exec: [python3, "
                                 "asks.py, '[%s]'], name: ask-%zu}\n", asks[i].ask, i);
    assert_true(used < sizeof text);
    *strchr(text, '2') = '1';           /* seeds */
    assert_int_equal(run(*state, text, "out", &said), 5);
    free(said);
    said = program_result(*state, "out", "summary.csv");
    failures = program_result(*state, "out", "failures.csv");
    assert_part(said, "base,fcfs,0,");
    assert_null(strstr(said, ",ask-"));
    for (size_t i = 0; i < COUNT; i++) {
        char *line, why[120] = "";

        snprintf(name, sizeof name, "ask-%zu", i);
        line = find_failure(failures, name);
        for (size_t k = 0, at = 0; asks[i].why[k] != '\0' && at < 118; k++) {
            if (asks[i].why[k] == '"')
                why[at++] = '"';        /* as in a CSV */
            why[at++] = asks[i].why[k];
        }
        assert_part(line, why);
        free(line);
    }
    free(said);
    free(failures);
}

/* Of a job with roles, a program without per_phase asks to start one: all would start. */
static void a_role_alone_needs_leases_for_phases(void **state)
{
    static const char alone_py[] =
        "import json, sys\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    a = {'n': m['n']}\n"
        "    if 'hello' in m: a.update(protocol=1, name='mine')\n"
        "    elif 'end' in m: break\n"
        "    else: a['do'] = [{'start': t['job'], 'role': 1} for t in m.get('waits', [])]\n"
        "    if 'start' in m: del a['do']\n"
        "    print(json.dumps(a), flush=True)\n";
    char text[1000], *said;

    program_write(*state, "alone.py", alone_py);
    snprintf(text, sizeof text, "experiment: e\ncluster: %s/models/clusters/mixed_64.yaml\n"
             "workload: %s/workloads/dpo_mix.yaml\nuntil: 2h\noutput: {plots: []}\n"
             "policies: [{exec: python3 alone.py}]\n", here, here);
    assert_int_equal(run(*state, text, "out", &said), 5);
    assert_part(said, "asks to start role 1 of job 0 alone, which needs the flag per_phase");
    free(said);
}

/* The job of both questions has ended, and the second lacks its flag; the third is
 * answered all the same, without `skip`: 0 GPUs are free in 0 s. */
static void a_question_never_ends_the_list(void **state)
{
    static const char curious_py[] =
        "import json, sys\n"
        "gone = None\n"
        "for line in sys.stdin:\n"
        "    m = json.loads(line)\n"
        "    a = {'n': m['n']}\n"
        "    if 'hello' in m: a.update(protocol=1, name='mine')\n"
        "    elif 'end' in m: break\n"
        "    elif 'now' in m:\n"
        "        if gone is not None:\n"
        "            sys.exit('told ' + json.dumps(m['verdicts']))\n"
        "        a['do'] = [{'start': t['job']} for t in m.get('waits', [])]\n"
        "        for job in m.get('ended', [])[:1]:\n"
        "            gone = job\n"
        "            a['do'] = [{'attained': job}, {'left': job}, {'room_in': 0}]\n"
        "            a['again'] = 'always'\n"
        "    print(json.dumps(a), flush=True)\n";
    char text[2000], *said;

    program_write(*state, "curious.py", curious_py);
    snprintf(text, sizeof text, "%spolicies: [{exec: python3 curious.py}]\n", JOBS);
    assert_int_equal(run(*state, text, "out", &said), 5);
    assert_part(said, "told [\"not_pending\", \"not_allowed\", 0");
    free(said);
}

static void what_breaks_the_protocol_fails_alone(void **state)
{
    program_write(*state, "bad.py", bad_py);
    assert_ways_fail_alone(*state, false);
    assert_ways_fail_alone(*state, true);
}

/* A child whose parent has gone waits for the first process to look at it. */
static bool is_zombie(int pid)
{
    char path[64], *text, *at;

    snprintf(path, sizeof path, "/proc/%d/stat", pid);
    text = program_read(path);
    at = text == NULL ? NULL : strrchr(text, ')');
    bool gone = at == NULL || at[2] == 'Z';
    free(text);
    return gone;
}

/* It is ended at each message from the first on; the last is `end`. */
static void an_end_at_any_message_fails_its_trial(void **state)
{
    char text[4000], name[16], *said = run_bad(*state, "killed", 0, 5);
    size_t used;

    assert_part(said, "program python3 was ended by a signal (Killed)");
    assert_part(said, "Last messages: ");
    free(said);
    used = (size_t)snprintf(text, sizeof text, "%spolicies:\n  - fcfs\n", JOBS);
    for (int at = 1; at <= 12; at++)
        used += (size_t)snprintf(text + used, sizeof text - used,
                                 "  - {exec: python3 bad.py killed %d, name: m%d}\n", at, at);
    assert_int_equal(run(*state, text, "out", &said), 5);
    assert_part(said, "24 of 26 trials failed");
    free(said);
    char *summary = program_result(*state, "out", "summary.csv");
    char *failures = program_result(*state, "out", "failures.csv");
    assert_part(summary, "base,fcfs,1,");
    for (int at = 1; at <= 12; at++) {
        snprintf(name, sizeof name, "m%d", at);
        char *line = find_failure(failures, name);
        assert_part(line, ": its program ");
        assert_part(line, "was ended by a signal (Killed)");
        assert_part(line, "Last messages: ");
        free(line);
    }
    free(summary);
    free(failures);
}

/* What it started ends with it, and does not keep the run. */
static void a_child_that_is_left_ends_with_its_trial(void **state)
{
    char text[3000], *said;

    program_write(*state, "leaves.py",
                  "import json, os, sys, time\n"
                  "pid = os.fork()\n"
                  "if pid == 0: time.sleep(1000)\n"
                  "with open('pids', 'a') as f: print(pid, file=f)\n"
                  "for line in sys.stdin:\n"
                  "    m = json.loads(line)\n"
                  "    if 'end' in m: break\n"
                  "    a = {'n': m['n']}\n"
                  "    if 'hello' in m: a.update(protocol=1, name='mine')\n"
                  "    a_do = [{'start': t['job']} for t in m.get('waits', [])]\n"
                  "    if 'now' in m: a['do'] = a_do\n"
                  "    print(json.dumps(a), flush=True)\n");
    snprintf(text, sizeof text, "%spolicies: [{exec: python3 leaves.py}]\n", JOBS);
    (void)run(*state, text, "out", &said);
    free(said);
    FILE *file = fopen(program_path(*state, "pids"), "r");
    int pid, count = 0;

    assert_non_null(file);
    for (; fscanf(file, "%d", &pid) == 1; count++)
        for (int ms = 0; kill(pid, 0) == 0 && !is_zombie(pid); ms++) {
            assert_true(ms < 2000);
            nanosleep(&(struct timespec){ 0, 1000000 }, NULL);
        }
    fclose(file);
    assert_true(count >= 2);
}

static void a_program_that_is_none_is_refused_when_read(void **state)
{
    static const struct { const char *way, *why; } bad[] = {
        { "garbage", "program python3 sent a bad answer to hello, column 1: " },
        { "leave", "program python3 ended with status 3 before `end`" },
        { "\"protocol\":2", "it speaks version 2 of the protocol" },
        { "\"name\":\"x\"", "the key protocol is missing" },
        { "\"protocol\":1,\"name\":\"Mine\"", "calls itself 'Mine', and a name must match" },
        { "\"protocol\":1", "the key name is missing" },
        { "\"name\":\"a234567890b234567890c234567890d2345678901\"",
          "this text has 41 bytes, and may have 40" },
        { "\"name\":\"x\",\"flags\":[\"preempt\"]", "(did you mean 'preempts'?)" },
        { "\"name\":\"x\",\"order\":[\"age\"]", "tasks are not ordered by 'age'" },
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char *said = run_bad(*state, bad[i].way, 0, 5);

        assert_part(said, "e.yaml:14:25: ");
        assert_part(said, bad[i].why);
        free(said);
    }
}

static void entries_that_name_no_program_are_refused(void **state)
{
    static const struct { const char *rest; int status; const char *why; } bad[] = {
        { "policies: [{exec: ./none}]\n", 5, "program ./none is not there" },
        { "policies: [{exec: .}]\n", 5, "program . cannot be started: " },
        { "policies: [{exec: ./e.yaml}]\n", 5, "program ./e.yaml cannot be started: " },
        { "policies: [{exec: ''}]\n", 3, "exec must be a program and its arguments" },
        { "policies: [{exec: []}]\n", 3, "exec must be a program and its arguments" },
        { "policies: [{exec: x, policy: fcfs}]\n", 3, "policy and exec exclude each other" },
        { "plugins: {isolate: false}\npolicies: [{exec: python3 bad.py a 99}]\n", 3,
          "isolate must be true, since a policy is a program" },
        { "policies: [{exec: python3 bad.py a 99, blocking: skip}]\n", 3, "blocking" },
        { "policies: [{exec: python3 bad.py a 99, estimate: noisy}]\n", 3, "estimate" },
    };

    program_write(*state, "bad.py", bad_py);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[3000], *said;

        snprintf(text, sizeof text, "%s%s", JOBS, bad[i].rest);
        assert_int_equal(run(*state, text, "out", &said), bad[i].status);
        assert_part(said, bad[i].why);
        free(said);
    }
}

/* ---- one program for all trials ---- */

/* A policy that breaks what it was given, and fails where it finds it broken; each start
 * of the program is a line of the file `starts`. */
static const char dirty_py[] =
    "import os, sys\n"
    "sys.path.insert(0, sys.argv[1])\n"
    "import clustersim_client as cs, fcfs\n"
    "print(os.getpid(), file=open('starts', 'a'))\n"
    "seen = []\n"
    "class Mine(fcfs.Fcfs):\n"
    "    name, reuse = 'mine', sys.argv[2] == 'reuse'\n"
    "    tried = set()\n"
    "    def begin(self, start):\n"
    "        if seen or self.tried or hasattr(cs, 'left') or hasattr(self, 'x'):\n"
    "            raise ValueError('another trial was here')\n"
    "        seen.append(1); self.tried.add(1); cs.left = self.x = 1\n"
    "cs.run(Mine())\n";

static int count_lines(const struct program *program, const char *name)
{
    char *text = program_read(program_path(program, name)), *at = text;
    int lines = 0;

    assert_non_null(text);
    for (; *at != '\0'; at++)
        lines += *at == '\n';
    free(text);
    return lines;
}

static void a_program_that_is_used_again_finds_nothing_of_other_trials(void **state)
{
    static const struct { const char *word, *threads; int least, most; } ways[] = {
        { "anew", "1", 7, 7 }, { "reuse", "1", 2, 2 }, { "reuse", "3", 3, 4 },
    };
    char text[3000], *said;

    snprintf(text, sizeof text, "%spolicies: [{policy: fcfs, name: mine}]\n", JOBS);
    *strchr(text, '2') = '6';           /* seeds */
    run_well(*state, text, "built_in");
    program_write(*state, "dirty.py", dirty_py);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        (void)remove(program_path(*state, "starts"));
        snprintf(text, sizeof text, "%spolicies: [{exec: [python3, dirty.py, "
                 "%s/policies/clients/python, %s]}]\n", JOBS, here, ways[i].word);
        *strchr(text, '2') = '6';
        if (run_on(*state, ways[i].threads, text, "program", &said) != 0)
            fail_msg("%s", said);
        free(said);
        assert_same_tables(*state, ways[i].word);
        assert_in_range(count_lines(*state, "starts"), ways[i].least, ways[i].most);
    }
}

/* Serves trials until, in the second one of this process, it does as it is told:
 * worn.py WAY. */
static const char worn_py[] =
    "import json, os, signal, sys, time\n"
    "way, trials, waits = sys.argv[1], 0, []\n"
    "def say(message): os.write(1, (json.dumps(message) + '\\n').encode())\n"
    "for line in sys.stdin:\n"
    "    message = json.loads(line)\n"
    "    n = message['n']\n"
    "    answer = {'n': n}\n"
    "    trials += 'hello' in message\n"
    "    second = trials == 2\n"
    "    if 'hello' in message:\n"
    "        if second and way == 'leaves': sys.exit(0)\n"
    "        if second and way == 'hangs': time.sleep(100)\n"
    "        name = 'other' if second and way == 'changes' else 'mine'\n"
    "        waits = []\n"
    "        answer.update(protocol=1, name=name, reuse=True)\n"
    "    if 'end' in message:\n"
    "        if way == 'silent at end': time.sleep(100)\n"
    "        if way == 'leaves at end': sys.exit(3)\n"
    "        if way == 'twice at end': say(answer)\n"
    "        if way == 'wrong at end': answer['n'] = 7\n"
    "    if 'now' in message:\n"
    "        if second and n == 6 and way == 'killed': os.kill(os.getpid(), signal.SIGKILL)\n"
    "        if second and n == 6 and way == 'garbage': answer = 'x'\n"
    "        if second and n == 6 and way == 'never': time.sleep(100)\n"
    "        if second and n == 6 and way == 'raises': raise ValueError('worn out')\n"
    "        told = message.get('verdicts', [])\n"
    "        waits = [j for j, v in zip(waits, told) if v != 'done'] + waits[len(told):] + \\\n"
    "            [t['job'] for t in message.get('waits', [])]\n"
    "        if answer != 'x':\n"
    "            answer['do'] = [{'start': j} for j in waits]\n"
    "    say(answer)\n"
    "    if second and 'end' in message and way == 'adds later': say(answer)\n";

struct worn_way {
    const char *way, *why;      /* NULL: no trial fails */
    bool waits;                 /* until a limit that is short here */
};

static const struct worn_way worn_ways[] = {
    { "fine", NULL, false }, { "leaves", NULL, false }, { "hangs", NULL, true },
    { "changes", NULL, false }, { "silent at end", NULL, true },
    { "leaves at end", NULL, false }, { "twice at end", NULL, false },
    { "wrong at end", NULL, false }, { "adds later", NULL, false },
    { "killed", "was ended by a signal (Killed)", false },
    { "garbage", "a map {...} is expected here", false },
    { "never", "gave no answer within 1 s of wall time", true },
    { "raises", "ValueError: worn out", false },
};

/* Runs the programs that wait, or those that do not, on one thread: of each one process
 * serves three trials, and the second one may fail. */
static void assert_others_are_whole(const struct program *program, bool waits)
{
    char text[5000], row[48], *said, *summary;
    size_t used = (size_t)snprintf(text, sizeof text, "%splugins: {event_limit: %s}\n"
                                   "policies:\n", JOBS, waits ? "1s" : "60s");

    for (size_t i = 0; i < sizeof worn_ways / sizeof worn_ways[0]; i++)
        if (worn_ways[i].waits == waits)
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "  - {exec: [python3, worn.py, '%s'], name: worn-%zu}\n",
                                     worn_ways[i].way, i);
    assert_true(used < sizeof text);
    *strchr(text, '2') = '3';           /* seeds */
    assert_int_equal(run_on(program, "1", text, "out", &said), 5);
    free(said);
    summary = program_result(program, "out", "summary.csv");
    said = program_result(program, "out", "failures.csv");
    for (size_t i = 0; i < sizeof worn_ways / sizeof worn_ways[0]; i++) {
        const char *why = worn_ways[i].why;

        if (worn_ways[i].waits != waits)
            continue;
        for (int seed = 0; seed < 3; seed++) {
            bool fails = why != NULL && seed == 1;
            snprintf(row, sizeof row, "\nbase,worn-%zu,%d,", i, seed);
            if ((strstr(summary, row) == NULL) != fails)
                fail_msg("%s, seed %d: %s", worn_ways[i].way, seed, said);
            const char *line = strstr(said, row);
            assert_int_equal(line != NULL, fails);
            if (fails)
                assert_part(line, why);
        }
    }
    free(summary);
    free(said);
}

static void what_one_trial_breaks_breaks_no_other(void **state)
{
    program_write(*state, "worn.py", worn_py);
    assert_others_are_whole(*state, false);
    assert_others_are_whole(*state, true);
}

/* ---- parameters ---- */

/* Fails unless `start` has the values that are given, as JSON: wants.py '{...}'. */
static const char wants_py[] =
    "import json, sys\n"
    "hello = {'n': 0, 'protocol': 1, 'name': 'mine', 'params': [\n"
    "    {'key': 'depth', 'kind': 'int', 'default': 12, 'min': 1, 'max': 99,\n"
    "     'help': 'tasks that are looked at'},\n"
    "    {'key': 'quantum', 'kind': 'time', 'default': '90s', 'help': 'a turn'},\n"
    "    {'key': 'share', 'kind': 'fraction', 'default': '20%', 'help': 'of GPUs'},\n"
    "    {'key': 'weight', 'kind': 'real', 'default': 0.5, 'min': 0.25, 'help': 'of age'},\n"
    "    {'key': 'greedy', 'kind': 'bool', 'default': False, 'help': 'or not'},\n"
    "    {'key': 'pool_name', 'kind': 'text', 'default': 'a\"b: #c', 'help': 'a pool'},\n"
    "    {'key': 'rule', 'kind': 'choice', 'words': ['first', 'best'],\n"
    "     'default': 'best', 'help': 'which fits'}]}\n"
    "for line in sys.stdin:\n"
    "    message = json.loads(line)\n"
    "    answer = {'n': message['n']}\n"
    "    if 'hello' in message: answer = hello\n"
    "    elif 'end' in message: break\n"
    "    elif 'start' in message:\n"
    "        got, want = message['start']['params'], json.loads(sys.argv[1])\n"
    "        assert got == want, got\n"
    "    else: answer['do'] = [{'start': t['job']} for t in message.get('waits', [])]\n"
    "    print(json.dumps(answer), flush=True)\n";

#define WANTS_ALL "{\"depth\":12,\"quantum\":90000000000,\"share\":0.2,\"weight\":0.5," \
                  "\"greedy\":false,\"pool_name\":\"a\\\"b: #c\",\"rule\":\"best\"}"

static int run_wants(const struct program *program, const char *want, const char *keys,
                     char **said)
{
    char text[3000];

    program_write(program, "wants.py", wants_py);
    snprintf(text, sizeof text, "%spolicies: [{exec: [python3, wants.py, '%s']%s}]\n", JOBS,
             want, keys);
    return run(program, text, "out", said);
}

static void keys_of_an_entry_reach_the_program(void **state)
{
    static const struct { const char *keys, *want; } good[] = {
        { "", WANTS_ALL },
        { ", depth: 3, quantum: 2min, share: 50%, weight: 2, greedy: true, rule: first, "
          "pool_name: x",
          "{\"depth\":3,\"quantum\":120000000000,\"share\":0.5,\"weight\":2,"
          "\"greedy\":true,\"pool_name\":\"x\",\"rule\":\"first\"}" },
    };
    static const struct { const char *keys, *why; } bad[] = {
        { ", deepth: 3", "Did you mean 'depth'?" }, { ", depth: 100", "must be from 1 to 99" },
        { ", depth: x", "must be" }, { ", quantum: 5", "unit" },
        { ", rule: worst", "first, best" }, { ", blocking: skip", "blocking" },
    };
    char *said;

    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        (void)run_wants(*state, good[i].want, good[i].keys, &said);
        assert_null(strstr(said, "AssertionError"));
        free(said);
    }
    assert_int_equal(run_wants(*state, "{}", "", &said), 5);    /* the check checks */
    assert_part(said, "AssertionError");
    free(said);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(run_wants(*state, WANTS_ALL, bad[i].keys, &said), 3);
        assert_part(said, bad[i].why);
        free(said);
    }
}

static void parameters_that_make_no_sense_are_refused(void **state)
{
    static const struct { const char *param, *why; } bad[] = {
        { "\"key\":\"x\",\"kind\":\"txt\",\"help\":\"h\"", "(did you mean 'text'?)" },
        { "\"key\":\"x\",\"kind\":\"int\",\"help\":\"h\"", "needs a default" },
        { "\"key\":\"x\",\"kind\":\"int\",\"default\":1", "needs key, kind and help" },
        { "\"key\":\"x\",\"kind\":\"choice\",\"default\":1,\"help\":\"h\"",
          "a choice has words" },
        { "\"key\":\"x\",\"kind\":\"int\",\"default\":7,\"min\":1,\"max\":3,\"help\":\"h\"",
          "default of param x: 'x' must be from 1 to 3, found '7'" },
        { "\"key\":\"x\",\"kind\":\"int\",\"default\":7,\"min\":8,\"help\":\"h\"",
          "default of param x: 'x' must be at least 8, found '7'" },
        { "\"key\":\"x\",\"kind\":\"real\",\"default\":7,\"max\":-3,\"help\":\"h\"",
          "default of param x: 'x' must be at most -3, found '7'" },
        { "\"key\":\"x\",\"kind\":\"int\",\"default\":\"a\",\"help\":\"h\"",
          "default of param x: " },
        { "\"key\":\"x\",\"kind\":\"real\",\"default\":\"0.5 # half\",\"help\":\"h\"",
          "default of param x: " },
        { "\"key\":\"blocking\",\"kind\":\"int\",\"default\":1,\"help\":\"h\"",
          "has the name of a key that all policies have" },
        { "\"key\":\"exec\",\"kind\":\"int\",\"default\":1,\"help\":\"h\"",
          "param exec stands there twice" },
        { "\"key\":\"X\",\"kind\":\"int\",\"default\":1,\"help\":\"h\"",
          "must match [a-z][a-z0-9_]*" },
        { "\"key\":\"x\",\"kind\":\"int\",\"default\":1,\"default\":2,\"help\":\"h\"",
          "key 'default' is given twice" },
        { "\"key\":\"x\",\"kind\":\"int\",\"default\":1,\"help\":\"h\"}],\"params\":[{",
          "key 'params' is given twice" },
    };

    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char source[600], text[3000], *said;

        snprintf(source, sizeof source, "import sys\nsys.stdin.readline()\n"
                 "print('{\"n\":0,\"protocol\":1,\"name\":\"mine\",\"params\":[{%s}]}', "
                 "flush=True)\nsys.stdin.readline()\n", bad[i].param);
        program_write(*state, "mine.py", source);
        snprintf(text, sizeof text, "%spolicies: [{exec: python3 mine.py}]\n", JOBS);
        assert_int_equal(run(*state, text, "out", &said), 5);
        assert_part(said, "e.yaml:");
        assert_part(said, bad[i].why);
        free(said);
    }
}

static void a_changed_program_is_run_again(void **state)
{
    const struct program *program = *state;
    char text[3000], *said;

    snprintf(text, sizeof text, "%spolicies: [{exec: python3 bad.py leave 99999}]\n", JOBS);
    program_write(program, "bad.py", bad_py);
    run_well(program, text, "out");
    program_write(program, "bad.py", "import sys\n"
                  "print('{\"n\":0,\"protocol\":1,\"name\":\"mine\"}', flush=True)\n");
    const char *words[] = { "run", program_write(program, "e.yaml", text), "-q", "--resume",
                            "-o", program_path(program, "out"), NULL };
    assert_int_equal(program_say(program, words, &said), 5);
    assert_part(said, "2 of 2 trials failed");
    free(said);
}

/* `python3` may be a script that looks for an interpreter at each start, which takes longer
 * than the interpreter: what it finds goes first from now on. */
static void find_python(void)
{
    FILE *said = popen("python3 -c 'import os, sys; print(os.path.dirname(sys.executable))'",
                       "r");
    char folder[400] = "", path[4000];

    if (said != NULL && fgets(folder, sizeof folder, said) != NULL && folder[0] == '/') {
        folder[strcspn(folder, "\n")] = '\0';
        snprintf(path, sizeof path, "%s:%s", folder, getenv("PATH"));
        setenv("PATH", path, 1);
    }
    if (said != NULL)
        (void)pclose(said);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, program_setup, program_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(python_gives_the_bytes_of_the_built_in_policies),
        TEST(c_gives_the_bytes_of_the_built_in_policies),
        TEST(go_gives_the_bytes_of_the_built_in_policies),
        TEST(messages_are_as_the_schema_says),
        TEST(what_breaks_the_protocol_fails_alone),
        TEST(a_role_alone_needs_leases_for_phases),
        TEST(a_question_never_ends_the_list),
        TEST(what_a_request_names_is_checked),
        TEST(an_end_at_any_message_fails_its_trial),
        TEST(a_child_that_is_left_ends_with_its_trial),
        TEST(a_program_that_is_none_is_refused_when_read),
        TEST(entries_that_name_no_program_are_refused),
        TEST(a_program_that_is_used_again_finds_nothing_of_other_trials),
        TEST(what_one_trial_breaks_breaks_no_other),
        TEST(keys_of_an_entry_reach_the_program),
        TEST(parameters_that_make_no_sense_are_refused),
        TEST(a_changed_program_is_run_again),
    };

    (void)argc;
    program_argv0 = argv[0];
    here = getcwd(NULL, 0);
    find_python();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

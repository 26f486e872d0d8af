/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * args.c - one table of options, one loop over the words.
 *
 * A table of all options of all commands (`info`) gives name, letter, value and
 * help; a mask says which of them a command takes, so that `--help` and the
 * parser cannot disagree.  Two entries may have one name (--format is of charts
 * or of a file) where no command takes both.
 *
 * getopt_long is not used: it permutes argv, prints by itself, accepts
 * abbreviated names, and has no notion of the nearest spelling.
 */
#include "experiments/options/args.h"

#include <assert.h>
#include <string.h>

#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/text/paths.h"
#include "sim/text/scan.h"

/* A command line has no file and no line. */
static const struct err_pos nowhere = { NULL, 0, 0 };

static const struct arg_info info[ARG_COUNT] = {
    [ARG_OUT] = { "--output", 'o', "PATH",
                  "where results go (train: the weights file)" },
    [ARG_THREADS] = { "--threads", 'j', "N",
                      "threads; without it one per processor" },
    [ARG_SET] = { "--set", 0, "KEY=VALUE",
                  "replace a key of the experiment; may be repeated" },
    [ARG_SEEDS] = { "--seeds", 0, "N", "replicas, instead of the file's" },
    [ARG_SHARD] = { "--shard", 0, "I/N",
                    "run only part I of N, into a folder of its own" },
    [ARG_RESUME] = { "--resume", 0, NULL,
                     "keep the finished trials of an interrupted run" },
    [ARG_ONLY] = { "--only", 0, "POLICY,..", "run only these policies" },
    [ARG_QUIET] = { "--quiet", 'q', NULL, "print nothing but errors" },
    [ARG_BASELINE] = { "--baseline", 0, "DIR",
                       "results to which nothing may be worse" },
    [ARG_TOLERANCE] = { "--tolerance", 0, "FRACTION",
                        "by how much it may be worse, such as 0.5% (0)" },
    [ARG_JUNIT] = { "--junit", 0, "FILE", "verdicts as JUnit XML" },
    [ARG_MARKDOWN] = { "--markdown", 0, "FILE", "verdicts as Markdown" },
    [ARG_FORMAT] = { "--format", 0, "png|svg|pdf", "of the charts (png)" },
    [ARG_CLUSTER] = { "--cluster", 0, "FILE",
                      "cluster that workload files are checked against" },
    [ARG_DATA] = { "--data", 0, "DIR", "folder of measured tables" },
    [ARG_SUITE] = { "--suite", 0, "NAME", "only this suite" },
    [ARG_CSV] = { "--csv", 0, "FILE", "write the rows there, as CSV" },
    [ARG_PLOTS] = { "--plots", 0, "DIR", "a chart of each suite" },
    [ARG_JOB] = { "--job", 0, "NAME", "only this job of the mix" },
    [ARG_GPUS] = { "--gpus", 0, "N",
                   "GPUs of the cluster (advise: most of one kind, 1024)" },
    [ARG_SORT] = { "--sort", 0, "cost|time", "what ranks rows (cost)" },
    [ARG_TOP] = { "--top", 0, "N", "rows that are shown (10)" },
    [ARG_MEMORY] = { "--memory", 0, NULL,
                     "bytes on each GPU of the job as written" },
    [ARG_PLOT] = { "--plot", 0, "FILE.png", "a chart of time and cost" },
    [ARG_SKIP] = { "--skip", 0, "REASON,..",
                   "leave such rows out, counted; may be repeated" },
    [ARG_IN_ORDER] = { "--sort", 0, NULL,
                       "sort rows by submit time, counted" },
    [ARG_LENGTHS] = { "--lengths", 0, "FILE",
                      "run times or rates that the trace lacks" },
    [ARG_GPU_TYPE] = { "--gpu-type", 0, "NAME",
                       "whose rates, where --lengths has several" },
    [ARG_SEED] = { "--seed", 0, "N", "of what is drawn (1)" },
    [ARG_SHAPE] = { "--format", 0, "SHAPE",
                    "of the file: csv (default), swf, batsim, opendc" },
    [ARG_NOT_JUDGED] = { "--allow-not-judged", 0, NULL,
                         "what a flag left out of the run passes" },
    [ARG_JOBS] = { "--jobs", 0, NULL,
                   "pair jobs by name and seed, not trials" },
    [ARG_BLOCK] = { "--block", 0, "TIME",
                    "jobs submitted within it count as one sample (1d)" },
    [ARG_TIER] = { "--tier", 0, "TIER",
                   "prices that rank: list, marketplace, reserved, spot, "
                   "assumption (list)" },
    [ARG_COLUMNS] = { "--columns", 0, "KEY=NAME,..",
                      "which column of a CSV is what; a number stands for "
                      "every row" },
    [ARG_JSON] = { "--json", 0, NULL, "as JSON, for other programs" },
    [ARG_SLURM] = { "--slurm", 0, "OPTIONS",
                    "submit it to Slurm, with these options of sbatch" },
    [ARG_DRY_RUN] = { "--dry-run", 0, NULL,
                      "with --slurm: write the batch file, submit nothing" },
    [ARG_TRIAL] = { "--trial", 0, "N",
                    "run only trial N, in this process, and write nothing" },
    [ARG_PAPER] = { "--paper", 0, "STYLE",
                    "for print, in PDF and TeX: ieee, acm, usenix or slide" },
    [ARG_TABLE_FORM] = { "--format", 0, "FORM", "text, latex, markdown or csv (text)" },
    [ARG_METRICS] = { "--metrics", 0, "METRIC,..",
                      "its columns; without it those that a run ends with" },
    [ARG_UPDATE] = { "--update-baseline", 0, "DIR",
                     "write the run there as a baseline of 10 kB" },
    [ARG_ANNOTATE] = { "--annotate", 0, "github",
                       "lines that GitHub shows beside the file" },
    [ARG_QUALITY] = { "--code-quality", 0, "FILE",
                      "findings as GitLab's code quality report" },
    [ARG_COMPARE] = { "--compare", 0, "policies|load|size",
                      "what differs between runs, beside the policies (policies)" },
    [ARG_NEW_GPUS] = { "--gpus", 0, "TYPE:COUNT,..",
                       "GPUs of the cluster (a100-80:32)" },
    [ARG_NEW_JOBS] = { "--jobs", 0, "RECIPE,..|FILE",
                       "recipes of its jobs, or a trace or a workload (lora)" },
    [ARG_LOAD] = { "--load", 0, "PERCENT",
                   "work that comes over what the fullest pool can do (80%)" },
    [ARG_POLICIES] = { "--policies", 0, "POLICY,..", "policies to compare" },
    [ARG_AUDIT] = { "--audit", 0, "quick|full",
                    "full: count again all that can be, at its price (quick)" },
    [ARG_AT] = { "--at", 0, "TIME", "when the branches part, such as 14h" },
    [ARG_BRANCH] = { "--set", 0, "KEY=VALUE",
                     "a branch: a key of the policy, or {KEY: VALUE, ..}; may be repeated" },
    [ARG_FORKED] = { "--only", 0, "POLICY", "which policy is forked, where there are several" },
    [ARG_HELP] = { "--help", 'h', NULL, "this text" },
};

const struct arg_info *arg_info(enum arg arg)
{
    assert((unsigned)arg < ARG_COUNT);
    return &info[arg];
}

static bool takes_option(uint64_t mask, int arg)
{
    return (mask >> arg & 1) != 0 || arg == ARG_HELP;
}

/* Returns the option that the first `bytes` of a word name, or ARG_COUNT.  Names
 * are never abbreviated: what is unambiguous today would be ambiguous with the
 * next option. */
static enum arg find_long(uint64_t mask, const char *word, size_t bytes)
{
    for (int a = 0; a < ARG_COUNT; a++)
        if (takes_option(mask, a) && strlen(info[a].name) == bytes &&
            memcmp(word, info[a].name, bytes) == 0)
            return (enum arg)a;
    return ARG_COUNT;
}

/* Returns the option with the letter of `-j`, or ARG_COUNT. */
static enum arg find_letter(uint64_t mask, char letter)
{
    for (int a = 0; a < ARG_COUNT; a++)
        if (takes_option(mask, a) && info[a].letter != 0 &&
            info[a].letter == letter)
            return (enum arg)a;
    return ARG_COUNT;
}

/* False, with err; the hint is the nearest of the options that the command takes. */
static bool refuse_option(uint64_t mask, const char *word, size_t bytes,
                          struct err *err)
{
    const char *names[ARG_COUNT + 1], *near;
    char text[64];
    size_t n = 0;

    for (int a = 0; a < ARG_COUNT; a++)
        if (takes_option(mask, a))
            names[n++] = info[a].name;
    names[n] = NULL;
    if (bytes >= sizeof text)
        bytes = sizeof text - 1;
    memcpy(text, word, bytes);
    text[bytes] = '\0';
    err_set(err, ERR_USAGE, nowhere, "there is no option '%s' here", text);
    near = conf_nearest(text, names);
    return near == NULL ? false : err_hint(err, "Did you mean %s?", near);
}

/* Where the loop over the words is: argv[at] is read now, and take_value() may
 * move on to the next word. */
struct reading {
    int argc, at;
    char *const *argv;
    uint64_t mask;              /* bits of enum arg: options that the command takes */
    struct args *args;          /* what is read */
};

/* Options that may stand several times. */
static bool is_repeated(enum arg arg)
{
    return arg == ARG_SET || arg == ARG_SKIP || arg == ARG_BRANCH;
}

/* Returns the earlier --set of the same key with another value, or NULL. */
static const char *find_set(const struct args *args, const char *value)
{
    size_t bytes = strcspn(value, "=");

    for (size_t i = 0; i < args->set_count; i++)
        if (strncmp(args->set[i], value, bytes) == 0 && args->set[i][bytes] == '=' &&
            strcmp(args->set[i], value) != 0)
            return args->set[i];
    return NULL;
}

/* False, with err, if the option has another value already: one of the two would be passed
 * over without a word. */
static bool check_once(const struct args *args, enum arg arg, const char *value,
                       struct err *err)
{
    const char *before = arg == ARG_SET ? find_set(args, value)
                       : args->given[arg] && !is_repeated(arg) ? args->value[arg] : NULL;

    if (before == NULL || value == NULL || strcmp(before, value) == 0)
        return true;
    return err_set(err, ERR_USAGE, nowhere, "%s is given twice: '%.60s' and '%.60s'",
                   info[arg].name, before, value);
}

/* False, with err, if --seeds and --set say two numbers of seeds. */
static bool check_seeds(const struct args *args, struct err *err)
{
    const char *key = "seeds=", *seeds = args->value[ARG_SEEDS];

    for (size_t i = 0; args->given[ARG_SEEDS] && i < args->set_count; i++)
        if (strncmp(args->set[i], key, strlen(key)) == 0 &&
            strcmp(args->set[i] + strlen(key), seeds) != 0)
            return err_set(err, ERR_USAGE, nowhere, "seeds are given twice: --set %.60s and "
                           "--seeds %.60s", args->set[i], seeds);
    return true;
}

/* Stores the value of an option, or takes the next word for it.  An empty value is
 * refused for every option: none has a use for it, and a variable that a script
 * forgot to set (`--output=$DIR`) is found here rather than by its effects. */
static bool take_value(struct reading *r, enum arg arg, const char *value,
                       struct err *err)
{
    struct args *args = r->args;

    if (info[arg].value == NULL && value != NULL)
        return err_set(err, ERR_USAGE, nowhere, "%s takes no value",
                       info[arg].name);
    if (info[arg].value != NULL && value == NULL) {
        if (r->at + 1 >= r->argc)
            return err_set(err, ERR_USAGE, nowhere, "%s needs a value: %s %s",
                           info[arg].name, info[arg].name, info[arg].value);
        value = r->argv[++r->at];
    }
    if (value != NULL && value[0] == '\0')
        return err_set(err, ERR_USAGE, nowhere, "%s needs a value, and is "
                       "empty: %s %s", info[arg].name, info[arg].name,
                       info[arg].value);
    if (!check_once(args, arg, value, err))
        return false;
    args->given[arg] = true;
    args->value[arg] = value;
    if (is_repeated(arg))
        args->set[args->set_count++] = value;
    return true;
}

/* One word that starts with '-': a long option with or without '=', or a letter
 * with its value joined.  Letters cannot be bundled (-qj4): few options have one. */
static bool read_option(struct reading *r, const char *word, struct err *err)
{
    const char *equals = strchr(word, '=');
    size_t bytes = equals == NULL ? strlen(word) : (size_t)(equals - word);
    enum arg arg;

    if (word[1] == '-') {
        arg = find_long(r->mask, word, bytes);
        if (arg == ARG_COUNT)
            return refuse_option(r->mask, word, bytes, err);
        return take_value(r, arg, equals == NULL ? NULL : equals + 1, err);
    }
    arg = find_letter(r->mask, word[1]);
    if (arg == ARG_COUNT)
        return refuse_option(r->mask, word, strlen(word), err);
    return take_value(r, arg, word[2] == '\0' ? NULL : word + 2, err);
}

/* A lone "-" is an operand, as elsewhere in Unix; after "--" all words are.  `set`
 * has room for argc words, which is more than can come. */
bool args_read(struct arena *arena, int argc, char *const *argv, int first,
               uint64_t mask, struct args *args, struct err *err)
{
    struct reading r = { argc, first, argv, mask, args };
    bool options = true;

    *args = (struct args){ .argc = argc, .argv = argv };
    args->word = arena_alloc(arena, (size_t)argc + 1, sizeof *args->word);
    args->set = arena_alloc(arena, (size_t)argc + 1, sizeof *args->set);
    for (; r.at < argc; r.at++) {
        const char *word = argv[r.at];

        if (options && strcmp(word, "--") == 0)
            options = false;
        else if (!options || word[0] != '-' || word[1] == '\0')
            args->word[args->word_count++] = word;
        else if (!read_option(&r, word, err))
            return false;
    }
    return check_seeds(args, err);
}

bool args_number(const struct args *args, enum arg arg, uint32_t min,
                 uint32_t max, uint32_t *out, struct err *err)
{
    const char *text = args->value[arg];
    int64_t number;

    if (!args->given[arg])
        return true;
    if (!scan_i64(text, strlen(text), &number) || number < min || number > max)
        return err_set(err, ERR_USAGE, nowhere,
                       "%s must be a whole number from %u to %u, and is "
                       "'%.40s'", info[arg].name, min, max, text);
    *out = (uint32_t)number;
    return true;
}

bool args_shard(const struct args *args, uint32_t *shard, uint32_t *count,
                struct err *err)
{
    const char *text = args->value[ARG_SHARD], *slash;
    int64_t i, n;

    if (!args->given[ARG_SHARD])
        return true;
    slash = strchr(text, '/');
    if (slash == NULL || !scan_i64(text, (size_t)(slash - text), &i) ||
        !scan_i64(slash + 1, strlen(slash + 1), &n) || i < 1 || n < i ||
        n > 1000000)
        return err_set(err, ERR_USAGE, nowhere,
                       "--shard must be I/N with I from 1 to N, and is "
                       "'%.40s'", text);
    *shard = (uint32_t)(i - 1);
    *count = (uint32_t)n;
    return true;
}

bool args_fraction(const struct args *args, enum arg arg, double *out,
                   struct err *err)
{
    const char *text = args->value[arg];
    size_t bytes;
    bool percent;

    if (!args->given[arg])
        return true;
    bytes = strlen(text);
    percent = bytes > 0 && text[bytes - 1] == '%';
    if (!scan_f64(text, bytes - percent, out) || *out < 0 ||
        (!percent && *out > 1))     /* 5 is 5% to one, 500% to another */
        return err_set(err, ERR_USAGE, nowhere, "%s must be a fraction such "
                       "as 0.5%% or 0.005, and is '%.40s'", info[arg].name,
                       text);
    if (percent)
        *out /= 100;
    return true;
}

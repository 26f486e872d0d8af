/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * explain.c - `clustersim explain`.
 *
 * One word may mean several things (a key in several tables, a policy, a
 * metric); all of them are printed, an empty line between.  The texts are those
 * of the tables that read files, of the registry and of the catalogue, so there
 * is no second manual. If nothing matches, the nearest of all words is hinted
 * at.
 */
#include <stdlib.h>
#include <string.h>

#include "experiments/cli/command.h"
#include "experiments/cli/explain_words.h"
#include "experiments/exec/exec.h"
#include "experiments/plugins/plugin.h"
#include "experiments/run/trial.h"
#include "experiments/schema/key_tables.h"
#include "experiments/schema/schemas.h"
#include "experiments/words/explain_policy.h"
#include "experiments/words/explain_results.h"
#include "experiments/words/glossary.h"
#include "models/catalogue/catalogue.h"
#include "models/cluster/place.h"
#include "policies/host/host.h"
#include "policies/params.h"
#include "policies/policy.h"
#include "policies/registry/heeds.h"
#include "policies/registry/registry.h"
#include "policies/registry/rules.h"
#include "sim/base/arena.h"
#include "sim/base/err.h"
#include "sim/config/conf.h"
#include "sim/config/doc.h"
#include "sim/text/out.h"

/* One run of the command: the word, and the tables of keys.  `found` counts the
 * meanings that were printed. */
struct explaining {
    struct cli *cli;
    const char *word;           /* what was asked for */
    const struct conf_schema *const *schema;
    size_t schema_count;
    unsigned found;
};

/* Copies a path without what says which of a list, as `--set` names it, or each: "mix.0.train"
 * and "mix[].train" become "mix.train".  Returns the bytes. */
static size_t strip_items(const char *path, char *out, size_t out_bytes)
{
    size_t used = 0;

    for (; *path != '\0' && used < out_bytes - 1; path++) {
        size_t digits = *path == '.' ? strspn(path + 1, "0123456789") : 0;

        if (digits > 0 && (path[1 + digits] == '.' || path[1 + digits] == '\0'))
            path += digits;
        else if (*path != '[' && *path != ']')
            out[used++] = *path;
    }
    out[used] = '\0';
    return used;
}

/* Does the front part of a word, of `bytes` bytes, name the table?  It may be
 * any number of the last steps of the table's name: "cluster.nodes", "nodes",
 * or nothing. */
static bool schema_matches(const struct conf_schema *schema, const char *word,
                           size_t bytes)
{
    char name[128];
    size_t used = strip_items(schema->name, name, sizeof name);

    return bytes <= used && memcmp(name + used - bytes, word, bytes) == 0 &&
           (bytes == used || bytes == 0 || name[used - bytes - 1] == '.');
}

/* Prints an empty line before each meaning but the first. */
static void print_separator(struct explaining *e)
{
    if (e->found++ > 0)
        fputc('\n', e->cli->out);
}

/* Prints the line "keys" with the keys of a table. */
static void print_keys(const struct explaining *e, const struct conf_schema *schema)
{
    fputs("  keys      ", e->cli->out);
    for (size_t k = 0; k < schema->count; k++)
        fprintf(e->cli->out, "%s%s", k == 0 ? "" : ", ", schema->fields[k].key);
    fputc('\n', e->cli->out);
}

/* Prints the keys of the table that lies below a key, if there is one. */
static void print_keys_below(const struct explaining *e,
                             const struct conf_schema *above, const char *key)
{
    const struct conf_schema *below = key_table(e->schema, e->schema_count, above, key);

    if (below != NULL)
        print_keys(e, below);
}

/* Prints the policies that a key of `policies:` acts on, unless it acts on all. */
static void print_policies(const struct explaining *e, const char *key)
{
    const struct cs_policy *p;
    unsigned acts = 0, all = 0;

    for (size_t i = 0; (p = registry_at(i)) != NULL; i++, all++)
        acts += policy_accepts_key(p, key);
    if (acts == all)
        return;
    fputs("  acts on   ", e->cli->out);
    for (size_t i = acts = 0; (p = registry_at(i)) != NULL; i++)
        if (policy_accepts_key(p, key))
            fprintf(e->cli->out, "%s%s", acts++ == 0 ? "" : ", ", p->name);
    fputc('\n', e->cli->out);
}

/* Prints a text in lines of at most 78 columns, two blanks before each. */
static void print_wrapped(FILE *out, const char *text)
{
    size_t column = 0;

    while (*text != '\0') {
        size_t bytes = strcspn(text, " ");

        if (column > 0 && column + 1 + bytes > 76) {
            fputc('\n', out);
            column = 0;
        }
        fprintf(out, "%s%.*s", column == 0 ? "  " : " ", (int)bytes, text);
        column += bytes + (column > 0);
        text += bytes + (text[bytes] == ' ');
    }
    fputc('\n', out);
}

/* A term of the glossary. */
static void explain_term(struct explaining *e)
{
    const struct glossary_term *term = glossary_find(e->word);

    if (term == NULL)
        return;
    print_separator(e);
    fprintf(e->cli->out, "%s: term\n", term->word);
    print_wrapped(e->cli->out, term->meaning);
}

/* Explains a path that names a table of keys, such as "mix.train" or a recipe, which the
 * table above does not have as a key since each recipe has its own. */
static void explain_tables(struct explaining *e, const char *path)
{
    for (size_t i = 0; i < e->schema_count; i++) {
        if (!schema_matches(e->schema[i], path, strlen(path)))
            continue;
        print_separator(e);
        fprintf(e->cli->out, "%s: table\n  %s\n", e->schema[i]->name, e->schema[i]->help);
        print_keys(e, e->schema[i]);
    }
}

/* Returns the bytes of a table's name up to its last step, with the dot. */
static size_t front_bytes(const struct conf_schema *schema)
{
    const char *dot = strrchr(schema->name, '.');

    return dot == NULL ? 0 : (size_t)(dot - schema->name) + 1;
}

/* Is the same said of a key in two tables that lie beside each other, as those of recipes?
 * text[i] is what conf_explain() says of it in table i; NULL: nothing. */
static bool says_same(const struct explaining *e, char *const *text, size_t i, size_t k)
{
    const struct conf_schema *a = e->schema[i], *b = e->schema[k];
    size_t front = front_bytes(a);

    return text[k] != NULL && front > 0 && front == front_bytes(b) &&
           strncmp(a->name, b->name, front) == 0 &&
           strcmp(strchr(text[i], '\n'), strchr(text[k], '\n')) == 0;
}

/* Prints what is said of a key in table i, and, once, in those beside it that say the same;
 * theirs is taken out of text. */
static void print_key(struct explaining *e, char **text, size_t i, const char *key)
{
    const struct conf_schema *schema = e->schema[i];
    size_t front = front_bytes(schema), same = 0;

    print_separator(e);
    for (size_t k = i + 1; k < e->schema_count; k++) {
        if (!says_same(e, text, i, k))
            continue;
        if (same++ == 0)
            fprintf(e->cli->out, "%.*s{%s", (int)front, schema->name, schema->name + front);
        fprintf(e->cli->out, ", %s", e->schema[k]->name + front);
        text[k] = NULL;
    }
    if (same > 0)
        fprintf(e->cli->out, "}.%s", key);
    fputs(same == 0 ? text[i] : strchr(text[i], '\n'), e->cli->out);
    print_keys_below(e, schema, key);
    if (schema == &host_rules_schema)
        print_policies(e, key);
}

/* Explains the word as a key.  In "cluster.nodes.count" the last step is the
 * key, and the steps before it limit the tables in which it is looked for. */
static void explain_keys(struct explaining *e)
{
    char word[256], **text = arena_alloc(e->cli->arena, e->schema_count, sizeof *text);
    (void)strip_items(e->word, word, sizeof word);
    const char *dot = strrchr(word, '.');
    const char *key = dot == NULL ? word : dot + 1;
    size_t bytes = dot == NULL ? 0 : (size_t)(dot - word);
    unsigned found = e->found;

    for (size_t i = 0; i < e->schema_count; i++)
        if (schema_matches(e->schema[i], word, bytes))
            text[i] = conf_explain(e->cli->arena, e->schema[i], key);
    for (size_t i = 0; i < e->schema_count; i++)
        if (text[i] != NULL)
            print_key(e, text, i, key);
    if (e->found == found)
        explain_tables(e, word);
}

/* Explains a policy, an empty line before it if something was explained already. */
static void explain_one_policy(struct explaining *e, const struct cs_policy *p)
{
    print_separator(e);
    explain_policy(e->cli->out, p);
}

/* Explains the word as a policy, or as a key of some policies. */
static void explain_policies(struct explaining *e)
{
    const struct cs_policy *p;

    for (size_t i = 0; (p = registry_at(i)) != NULL; i++) {
        if (strcmp(p->name, e->word) == 0) {
            explain_one_policy(e, p);
            continue;
        }
        for (uint32_t k = 0; k < p->param_count; k++) {
            if (strcmp(p->param[k].key, e->word) != 0)
                continue;
            print_separator(e);
            fprintf(e->cli->out, "%s: key of the policy %s\n", e->word, p->name);
            explain_param(e->cli->out, p, &p->param[k]);
        }
    }
}

/* Explains one placement, or, for the key `placement`, all of them. */
static void explain_placements(struct explaining *e)
{
    bool all = strcmp(e->word, "placement") == 0;

    for (int rule = 0; rule < PLACE_RULE_COUNT; rule++) {
        const struct place_info *info = place_info((enum place_rule)rule);

        if (!all && strcmp(info->name, e->word) != 0)
            continue;
        print_separator(e);
        fprintf(e->cli->out, "%s: placement\n  %s\n  where it is bad: %s\n"
                "  source: %s\n", info->name, info->summary, info->bad,
                info->source);
    }
}

static const struct command *const commands[] = {
#define COMMAND(name) &command_##name,
#include "experiments/cli/commands.def"
#undef COMMAND
};
#define COMMANDS (sizeof commands / sizeof commands[0])

/* Explains the word as a command, if it is one. */
static void explain_commands(struct explaining *e)
{
    for (size_t i = 0; i < COMMANDS; i++)
        if (strcmp(commands[i]->name, e->word) == 0) {
            print_separator(e);
            fprintf(e->cli->out, "%s: command\n  %s\n  more in `clustersim %s "
                    "--help`\n", e->word, commands[i]->summary, e->word);
        }
}

/* Returns the nearest spelling among all words that are known; NULL: none is
 * near.  The array of names is first counted, then filled, by the same
 * functions. */
static const char *find_nearest(struct explaining *e,
                                const struct explain_words *words)
{
    size_t count = PLACE_RULE_COUNT + COMMANDS + 1 +
                   explain_words_names(words, NULL) +
                   explain_results_names(NULL, 0), n;
    const char **names;
    const struct cs_policy *p;

    for (size_t i = 0; i < e->schema_count; i++)
        count += e->schema[i]->count;
    for (size_t i = 0; (p = registry_at(i)) != NULL; i++)
        count += 1 + p->param_count;
    names = arena_alloc(e->cli->arena, count, sizeof *names);
    n = explain_words_names(words, names);
    n = explain_results_names(names, n);
    for (unsigned r = 0; r < PLACE_RULE_COUNT; r++)
        names[n++] = place_names[r];
    for (size_t i = 0; i < COMMANDS; i++)
        names[n++] = commands[i]->name;
    for (size_t i = 0; (p = registry_at(i)) != NULL; i++) {
        names[n++] = p->name;
        for (uint32_t k = 0; k < p->param_count; k++)
            names[n++] = p->param[k].key;
    }
    for (size_t i = 0; i < e->schema_count; i++)
        for (size_t k = 0; k < e->schema[i]->count; k++)
            names[n++] = e->schema[i]->fields[k].key;
    names[n] = NULL;
    return conf_nearest(e->word, names);
}

/* Joins the operands: "home", "pool" is one term. */
static void join_words(const struct args *args, char *out, size_t out_bytes)
{
    size_t used = 0;

    for (size_t i = 0; i < args->word_count && used < out_bytes; i++)
        used += (size_t)snprintf(out + used, out_bytes - used, "%s%s",
                                 i == 0 ? "" : " ", args->word[i]);
}

/* Explains a policy from a file, which is compiled and loaded for it. */
static int explain_file(struct explaining *e, const char *path)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    struct plugin plugin;
    struct err err = { 0 };

    if (!plugin_load(e->cli->arena, path, nowhere, &plugin, &err) ||
        !host_guest_check(e->cli->arena, plugin.policy, &err))
        return command_fail(e->cli, &err);
    explain_one_policy(e, plugin.policy);
    return 0;
}

/* Explains a policy that a program decides, "exec:COMMAND"; the command runs in
 * this folder. */
static int explain_program(struct explaining *e, const char *command)
{
    struct err_pos nowhere = { NULL, 0, 0 };
    const struct cs_policy *policy;
    struct err err = { 0 };
    uint64_t hash;

    policy = exec_load(e->cli->arena, command, ".", nowhere, &hash, &err);
    if (policy == NULL || !host_guest_check(e->cli->arena, policy, &err))
        return command_fail(e->cli, &err);
    explain_one_policy(e, policy);
    return 0;
}

static int explain_all(struct cli *cli, const struct args *args);

/* Writes the parts of a text as JSON objects {title, text}. Parts are apart by
 * an empty line; the title is the first line.  The text is cut in place. */
static void put_parts(struct out *out, char *text)
{
    bool any = false;

    for (char *part = text, *next; part != NULL && *part != '\0'; part = next) {
        char *end = strstr(part, "\n\n"), *body;

        next = end == NULL ? NULL : end + 2;
        if (end == NULL)
            end = part + strlen(part) - (part[strlen(part) - 1] == '\n');
        *end = '\0';
        body = part + strcspn(part, "\n");
        if (*body != '\0')
            *body++ = '\0';
        out_text(out, any ? ",\n  {\"title\": " : "\n  {\"title\": ");
        any = true;
        out_json_text(out, part);
        out_text(out, ", \"text\": ");
        out_json_text(out, body);
        out_text(out, "}");
    }
}

/* Prints as JSON what is printed for people: that is caught in memory, and cut
 * into parts.  Returns the exit status. */
static int explain_json(struct cli *cli, const struct args *args)
{
    FILE *out = cli->out, *page;
    struct out *answer;
    struct err err = { 0 };
    char *text = NULL;
    size_t bytes;
    int status;

    page = open_memstream(&text, &bytes);
    if (page == NULL)
        return command_fail(cli, &err);
    cli->out = page;
    status = explain_all(cli, args);
    cli->out = out;
    fclose(page);
    if (status == 0) {
        answer = out_stream(cli->arena, "the answer", cli->out);
        out_text(answer, "[");
        put_parts(answer, text);
        out_text(answer, "\n]\n");
        status = out_close(answer, &err) ? 0 : command_fail(cli, &err);
    }
    free(text);
    return status;
}

static int run_explain(struct cli *cli, const struct args *args)
{
    return args->given[ARG_JSON] ? explain_json(cli, args) : explain_all(cli, args);
}

/* A program or a file is explained alone; any other word gets all its meanings. */
static int explain_all(struct cli *cli, const struct args *args)
{
    char word[256];
    struct explaining e = { .cli = cli, .word = word };
    struct explain_words words = { .arena = cli->arena, .out = cli->out };
    struct err_pos nowhere = { NULL, 0, 0 };
    struct err err = { 0 };
    const char *near;

    if (args->word_count == 1 && strncmp(args->word[0], "exec:", 5) == 0)
        return explain_program(&e, args->word[0] + 5);
    words.catalogue = catalogue_load(cli->arena, NULL, 0, &err);
    if (words.catalogue == NULL)
        return command_fail(cli, &err);
    if (args->word_count == 1 && plugin_is_file(args->word[0]) &&
        catalogue_llm(words.catalogue, args->word[0]) == NULL)
        return explain_file(&e, args->word[0]);
    join_words(args, word, sizeof word);
    if (word[0] == '\0') {
        err_set(&err, ERR_USAGE, nowhere, "explain needs a word, and has an empty text");
        return command_fail(cli, &err);
    }
    e.schema = schemas_all(cli->arena, &e.schema_count);
    explain_term(&e);
    explain_policies(&e);
    explain_keys(&e);
    explain_placements(&e);
    explain_commands(&e);
    e.found = explain_results(cli->out, e.word, e.found);
    words.schema = e.schema;
    words.schema_count = e.schema_count;
    e.found = explain_words(&words, e.word, e.found);
    if (e.found > 0)
        return 0;
    near = find_nearest(&e, &words);
    err_set(&err, ERR_USAGE, nowhere,
            "nothing is called '%.80s': no term, key, value, metric, "
            "column, chart, command, policy, preset, type, model, recipe or "
            "format", e.word);
    if (near != NULL)
        err_hint(&err, "Did you mean %s?", near);
    return command_fail(cli, &err);
}

const struct command command_explain = {
    "explain", "WORD... [--json]",
    "type, unit, default, meaning",
    "A key may be given with what stands before it: seeds, output.dir,\n"
    "cluster.nodes.count, or as for --set, policies.0.blocking.  A metric, a\n"
    "column, a table, a chart, a policy, a placement, a preset of semantics, a\n"
    "value of a key, a recipe, a format, a model, a type of GPU, CPU or link, by\n"
    "any of its names, a command; or a term of the glossary, such as lease or\n"
    "home pool.  All that match are printed.  ./FILE.c and ./FILE.so are\n"
    "policies from files.  --json prints a list of {title, text}.\n",
    ARG_BIT(ARG_JSON), 1, 3, run_explain
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * manual_page_test.c - the manual page and the completions of shells say what --help says,
 * command by command.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/shell.h"

/* What `clustersim WORD WORD` says; to be freed. */
static char *say(const struct shell *shell, const char *word, const char *more)
{
    const char *words[] = { word, more, NULL };
    char *said;

    assert_int_equal(program_say(&shell->program, words, &said), 0);
    return said;
}

/* Makes one blank of blanks and ends of lines, and none at the ends. */
static void join_lines(char *text)
{
    char *to = text;

    for (const char *from = text; *from != '\0'; from++)
        if (*from != ' ' && *from != '\n')
            *to++ = *from;
        else if (to > text && to[-1] != ' ')
            *to++ = ' ';
    if (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
}

/* Takes requests and escapes out of a part of the page: what is left is what a reader sees. */
static void read_troff(char *text)
{
    char *to = text;
    bool begins = true;

    for (const char *from = text; *from != '\0';) {
        if (begins && *from == '.') {
            from += strcspn(from, "\n");
        } else if (from[0] == '\\') {
            assert_non_null(strchr("f-e&", from[1]));
            if (from[1] == '-' || from[1] == 'e')
                *to++ = from[1] == '-' ? '-' : '\\';
            from += from[1] == 'f' ? 3 : 2;
            begins = false;
        } else {
            begins = *from == '\n';
            *to++ = *from++;
        }
    }
    *to = '\0';
    join_lines(text);
}

/* The part of the page from a line on, to the next heading; to be freed. */
static char *part_of(const char *page, const char *heading)
{
    const char *from = strstr(page, heading), *end;

    if (from == NULL)
        fail_msg("no %s", heading);
    from = strchr(from, '\n') + 1;
    end = strstr(from, "\n.S");
    return end != NULL ? strndup(from, (size_t)(end - from)) : strdup(from);
}

/* The text of --help as the page has it: without headings, and with a full stop behind the
 * summary, which stands alone between two empty lines; to be freed. */
static char *as_page(const char *help)
{
    const char *summary = strstr(help, "\n\n"), *options = strstr(help, "\noptions\n");
    const char *end = summary + 2 + strcspn(summary + 2, "\n");
    char *text = malloc(strlen(help) + 2);

    assert_true(text != NULL && summary != NULL && strncmp(help, "usage: ", 7) == 0);
    sprintf(text, "%.*s.", (int)(end - help) - 7, help + 7);
    if (options == NULL)
        strcat(text, end);
    else
        sprintf(text + strlen(text), "%.*s%s", (int)(options - end), end,
                options + strlen("\noptions\n"));
    join_lines(text);
    return text;
}

/* Calls with the name of every command that --help lists; returns how many there are. */
static int each_command(const struct shell *shell,
                        void (*call)(const struct shell *shell, const char *name, void *with),
                        void *with)
{
    char *help = say(shell, "--help", NULL), *at = strstr(help, "\ncommands\n"), name[32];
    int count = 0, used;

    assert_non_null(at);
    for (at += 10; sscanf(at, "  %31[a-z]%n", name, &used) == 1 && *at == ' '; count++) {
        call(shell, name, with);
        at = strchr(at, '\n') + 1;
    }
    free(help);
    return count;
}

static void compare_command(const struct shell *shell, const char *name, void *page)
{
    char heading[60], *help, *wanted, *part;

    if (strcmp(name, "bench") == 0)             /* a program of its own */
        return;
    snprintf(heading, sizeof heading, ".SS clustersim %s\n", name);
    part = part_of(page, heading);
    read_troff(part);
    help = say(shell, name, "--help");
    wanted = as_page(help);
    if (strcmp(part, wanted) != 0)
        fail_msg("%s: the page says\n%s\n--help says\n%s", name, part, wanted);
    free(part);
    free(help);
    free(wanted);
}

static void the_manual_page_says_what_help_says(void **state)
{
    char *page = say(*state, "man", NULL);

    assert_true(each_command(*state, compare_command, page) > 20);
    free(page);
}

static void the_manual_page_has_every_exit_status(void **state)
{
    char *page = say(*state, "man", NULL), *help = say(*state, "--help", NULL);
    char *part = part_of(page, ".SH EXIT STATUS\n"), *wanted = strstr(help, "\nexit status\n");

    assert_non_null(wanted);
    wanted += strlen("\nexit status\n");
    read_troff(part);
    join_lines(wanted);
    assert_string_equal(part, wanted);
    free(part);
    free(help);
    free(page);
}

/* ---- completions ----------------------------------------------------------- */

static int set_up(void **state)
{
    struct shell *shell = shell_new("experiment: e\n");

    scratch_write(&shell->scratch, "ask.sh",
                  "source ./completion\n"
                  "ask() { COMP_WORDS=(clustersim \"$@\"); COMP_CWORD=$#; _clustersim\n"
                  "    printf '%s\\n' \"${COMPREPLY[@]}\" | sort; }\n"
                  "offers() { want=$1; shift; got=$(ask \"$@\" | tr '\\n' ' ')\n"
                  "    [ \"$got\" = \"$want \" ] || { echo \"$*: '$got', not '$want'\"\n"
                  "                                exit 1; }; }\n");
    run_line(shell, "$C completion bash >completion", 0, NULL);
    *state = shell;
    return 0;
}

/* Of every command, in one process of bash. */
static void bash_completes_the_options_that_help_names(void **state)
{
    struct shell *shell = *state;

    scratch_write(&shell->scratch, "options.sh",
                  ". ./ask.sh\n"
                  "for name in $($1 --help |\n"
                  "    sed -n '/^commands$/,/^$/s/^  \\([a-z]*\\) .*/\\1/p')\n"
                  "do  ask $name | grep -qx $name || { echo $name is not offered; exit 1; }\n"
                  "    [ $name != bench ] || continue\n"
                  "    offers \"$($1 $name --help | sed -n '/^options$/,$s/^  [ -].[ ,] "
                  "\\(--[a-z-]*\\).*/\\1/p;$s/.*/--help/p' | sort | tr '\\n' ' ' | sed 's/ $//')\" "
                  "$name --\n"
                  "done\n");
    run_line(shell, "bash options.sh $C", 0, NULL);
}

static void bash_completes_values_by_their_kind(void **state)
{
    struct shell *shell = *state;

    scratch_write(&shell->scratch, "values.sh",
                  ". ./ask.sh\n"
                  "offers conservative run x.yaml --only conse\n"
                  "offers fcfs,easy new --policies fcfs,eas\n"
                  "offers jobs,jct_p95_s table out --metrics jobs,jct_p95\n"
                  "offers lora new --jobs lor\n"
                  "offers jct_mean_s explain jct_me\n"
                  "offers svg plot out --format s\n"
                  "offers 'cost time' advise --sort ''\n"
                  "offers recipes list rec\n"
                  "offers 'bash fish zsh' completion ''\n"
                  "offers e.yaml run e.y\n"
                  "offers e.yaml e.y\n"
                  "offers e.yaml merge out -o e.y\n"
                  "offers '' run --seeds e.y\n"
                  "offers '' man e.y\n"
                  "offers --resume first.yaml --res\n"
                  "offers --resume first.yml --res\n"
                  "offers '--help --version' --\n");
    run_line(shell, "bash values.sh", 0, NULL);
}

/* zsh and fish read their scripts; fish says what it completes. */
static void other_shells_read_their_scripts(void **state)
{
    run_line(*state, "$C completion zsh >z; ! command -v zsh >/dev/null || zsh -n z", 0, NULL);
    run_line(*state, "$C completion fish >f\ncommand -v fish >/dev/null || exit 0\nfish -n f && "
             "HOME=$PWD fish -c 'source f; complete -C\"clustersim run --only conse\"; "
             "complete -C\"clustersim list rec\"; complete -C\"clustersim run --resu\"' >o &&"
             "cut -f 1 o | tr '\\n' ' ' | grep -x 'conservative recipes --resume '", 0, NULL);
}

static void a_shell_that_is_not_known_is_refused(void **state)
{
    run_line(*state, "$C completion fis", 2, "Did you mean fish?");
    run_line(*state, "$C completion powershell", 2, "Shells: bash, zsh, fish.");
    run_line(*state, "$C completion", 2, "usage: clustersim completion bash|zsh|fish");
}

#define TEST(NAME) cmocka_unit_test_setup_teardown(NAME, set_up, shell_teardown)

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        TEST(the_manual_page_says_what_help_says),
        TEST(the_manual_page_has_every_exit_status),
        TEST(bash_completes_the_options_that_help_names),
        TEST(bash_completes_values_by_their_kind),
        TEST(other_shells_read_their_scripts),
        TEST(a_shell_that_is_not_known_is_refused),
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

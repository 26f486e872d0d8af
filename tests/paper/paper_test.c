/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * paper_test.c - figures, tables and citations as a paper takes them: LaTeX sets all of
 * them without an error, and nothing is wider than its column.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "tests/aid/results_aid.h"
#include "tests/aid/shell.h"

const char *program_argv0;

static const char experiment[] =
    "experiment: a_b\n"
    "seeds: 3\n"
    "policies: [{policy: ljf, estimate: noisy}, {policy: sjf, name: sjf_100%, estimate: "
    "noisy}, {policy: srtf, name: 'x&y#$~^{}', estimate: noisy}, dlas, easy]\n"
    "sweep: {cluster.nodes.gpu.count: [4, 5, 6, 8]}\n";

static int setup(void **state)
{
    *state = shell_new(experiment);
    return 0;
}

static void need(const char *program)
{
    char command[60];

    snprintf(command, sizeof command, "command -v %s >/dev/null", program);
    if (system(command) == 0)
        return;
    print_message("skip: %s is not installed\n", program);
    skip();
}

/* A page of two columns as wide as the style's. */
static void write_page(struct shell *w, const char *paper, int text_pt, int gap_pt)
{
    char page[2000], *at = page;
    static const char *const figure[] = {
        "sweep", "delta", "utilization", "idle", "jct_cdf", "timeline", "gantt"
    };

    at += sprintf(at, "\\documentclass[%s10pt]{article}\n"
                  "\\usepackage{graphicx,xcolor,calc,booktabs}\n"
                  "\\setlength\\textwidth{%dpt}\\setlength\\columnsep{%dpt}\n"
                  "\\setlength\\textheight{650pt}\\setlength\\topmargin{-40pt}\n"
                  "\\graphicspath{{out/plots/%s/}}\n\\begin{document}\n",
                  gap_pt > 0 ? "twocolumn," : "", text_pt, gap_pt, paper);
    for (size_t f = 0; f < sizeof figure / sizeof figure[0]; f++)
        at += sprintf(at, "\\begin{figure}\\centering\\input{out/plots/%s/%s-tex}\n"
                      "\\input{out/plots/%s/%s-caption}\\end{figure}\n", paper, figure[f],
                      paper, figure[f]);
    at += sprintf(at, "\\input{narrow}%sTable~\\ref{tab:a-b}.\n"
                  "\\end{document}\n", gap_pt > 0 ? "\\input{wide}" : "");
    assert_true((size_t)(at - page) < sizeof page);
    scratch_write(&w->scratch, "page.tex", page);
}

static void latex_sets_figures_and_tables_within_the_column(void **state)
{
    static const struct { const char *paper; int text_pt, gap_pt; } style[] = {
        { "ieee", 516, 12 }, { "acm", 506, 24 }, { "usenix", 506, 24 }, { "slide", 399, 0 }
    };
    struct shell *w = *state;
    char line[200];

    need("gnuplot");
    need("pdflatex");
    run_line(w, "$C run e.yaml -q -o out && $C table out --format latex >wide.tex && $C table out "
             "--format latex --metrics jct_mean_s,wait_mean_s >narrow.tex", 0, NULL);
    for (size_t i = 0; i < sizeof style / sizeof style[0]; i++) {
        snprintf(line, sizeof line, "$C plot out --paper %s", style[i].paper);
        run_line(w, line, 0, "charts: out/plots/");
        write_page(w, style[i].paper, style[i].text_pt, style[i].gap_pt);
        run_line(w, "pdflatex -interaction=nonstopmode -halt-on-error page.tex && pdflatex "
                 "-interaction=nonstopmode -halt-on-error page.tex", 0, NULL);
        run_line(w, "! grep -a -n -A2 -E 'Overfull .hbox|undefined|Float too large' page.log", 0,
                 NULL);
    }
}

static void bibtex_reads_every_entry(void **state)
{
    struct shell *w = *state;

    need("bibtex");
    run_line(w, "$C cite e.yaml >e.bib", 0, NULL);
    scratch_write(&w->scratch, "page.aux", "\\citation{*}\n\\bibstyle{plain}\n\\bibdata{e}\n");
    run_line(w, "bibtex page && ! grep Warning-- page.blg", 0, NULL);
    run_line(w, "grep -c bibitem page.bbl", 0, "5\n");       /* clustersim, ljf, easy, dlas, Holm */
}

/* The folder of results lists what the experiment rests on. */
static void results_are_cited_as_their_experiment(void **state)
{
    struct shell *w = *state;

    run_line(w, "$C run e.yaml -q -o out && $C cite out >a && $C cite e.yaml >b && cmp a b && "
             "cat a", 0, "@inproceedings{gu2019tiresias,\n");
    run_line(w, "cat a", 0, "@inproceedings{lifka1995anl,");
    run_line(w, "! grep -E 'zheng2023|williams2009' a", 0, NULL);   /* no law of a trace */
    run_line(w, "sed -i 's/gu2019tiresias/gu2018tiresias/' out/provenance.json && "
                "$C cite out >b", 3,
             "there is no such work");
    run_line(w, "test ! -s b", 0, NULL);                 /* not half of it */
    run_line(w, "sed -i '/\"cites\"/d' out/provenance.json && $C cite out", 3,
             "key 'cites' is not there");
    run_line(w, "$C cite none.yaml", 4, "none.yaml");
}

static void styles_and_forms_that_are_none_are_refused(void **state)
{
    struct shell *w = *state;

    run_line(w, "$C run e.yaml -q -o out --seeds 1 && $C plot out --paper iee", 2,
             "--paper must be ieee, acm, usenix or slide, and is 'iee'\nhint: Did you mean ieee?");
    run_line(w, "$C plot out --paper acm --format svg", 2, "--format cannot be given with --paper");
    run_line(w, "$C table out --format tex", 2,
             "--format must be text, latex, markdown or csv, and is 'tex'");
    run_line(w, "$C table out --metrics jct_mean", 2, "Did you mean jct_mean_s?");
    run_line(w, "$C table none", 4, "none");
}

/* Charts of an earlier run would show its numbers. */
static void a_new_run_removes_figures_of_the_last_one(void **state)
{
    struct shell *w = *state;

    need("gnuplot");
    run_line(w, "$C run e.yaml -q -o out && $C plot out --paper acm && echo mine "
             ">out/plots/acm/mine.txt && test -e out/plots/acm/sweep.pdf", 0, NULL);
    run_line(w, "$C run e.yaml -q -o out && ls out/plots/acm", 0, "mine.txt\n");
    run_line(w, "test ! -e out/plots/acm/sweep-tex.tex && test -e out/plots/sweep.png", 0, NULL);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, shell_teardown)
        TEST(latex_sets_figures_and_tables_within_the_column),
        TEST(bibtex_reads_every_entry),
        TEST(results_are_cited_as_their_experiment),
        TEST(styles_and_forms_that_are_none_are_refused),
        TEST(a_new_run_removes_figures_of_the_last_one),
#undef TEST
    };

    (void)argc;
    program_argv0 = argv[0];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * figures.c - the files of every chart in figures.def.
 *
 * A run that is repeated into a folder must remove the files of charts that it
 * no longer has, and only these; so the list of all names that a run may make
 * is closed, and stands here.
 */
#include "experiments/columns/figures.h"

#include <stddef.h>
#include <string.h>

#include "sim/text/paths.h"

#define COUNT_OF(a) (sizeof(a) / sizeof((a)[0]))

/* Names of the charts, in the order of figures.def. */
static const char *const figure[] = {
#define FIGURE(NAME, WITH, QUESTION) #NAME,
#include "experiments/columns/figures.def"
#undef FIGURE
};
/* What each of them answers. */
static const char *const question[] = {
#define FIGURE(NAME, WITH, QUESTION) QUESTION,
#include "experiments/columns/figures.def"
#undef FIGURE
};

const char *figure_name(unsigned i)
{
    return i < COUNT_OF(figure) ? figure[i] : NULL;
}

const char *figure_question(unsigned i)
{
    return i < COUNT_OF(question) ? question[i] : NULL;
}

const char *figure_ending(unsigned i)
{
    static const char *const ending[] = {
        ".gp", ".dat", ".png", ".svg", ".pdf", "-tex.tex", "-tex.pdf", "-caption.tex"
    };

    return i < COUNT_OF(ending) ? ending[i] : NULL;
}

/* The lone files first, then each chart with all its endings. */
const char *figure_file(struct arena *arena, unsigned i)
{
    static const char *const lone[] = { CHART_LIST, CHART_SKIPS, "style.gp" };
    unsigned endings = 0;

    while (figure_ending(endings) != NULL)
        endings++;
    if (i < COUNT_OF(lone))
        return lone[i];
    i -= (unsigned)COUNT_OF(lone);
    return i >= COUNT_OF(figure) * endings ? NULL
           : text_format(arena, "%s%s", figure[i / endings],
                         figure_ending(i % endings));
}

/* Styles of print, of papers.def. */
static const struct paper paper[] = {
#define PAPER(NAME, WIDTH, HEIGHT, LETTER, LINE, LETTERS) \
    { #NAME, WIDTH, HEIGHT, LETTER, LINE, LETTERS },
#include "experiments/columns/papers.def"
#undef PAPER
};

const struct paper *paper_at(unsigned i)
{
    return i < COUNT_OF(paper) ? &paper[i] : NULL;
}

const struct paper *paper_find(const char *name)
{
    for (unsigned i = 0; i < COUNT_OF(paper); i++)
        if (strcmp(paper[i].name, name) == 0)
            return &paper[i];
    return NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * glossary.c - finds a term as people write it.
 */
#include "experiments/words/glossary.h"

#include <stdbool.h>
#include <string.h>

static const struct glossary_term terms[] = {
#define TERM(word, meaning) { word, meaning },
#include "experiments/words/glossary.def"
#undef TERM
};
#define TERMS (sizeof terms / sizeof terms[0])

/* Small letters, and one sign for all that may stand between the parts of a term. */
static char fold_letter(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (char)(c - 'A' + 'a');
    return (char)(c == '_' || c == '-' ? ' ' : c);
}

/* Is the word the term's, or the term's with an "s"? */
static bool names_term(const char *word, const char *term)
{
    for (; *term != '\0'; word++, term++)
        if (fold_letter(*word) != fold_letter(*term))
            return false;
    return *word == '\0' || (fold_letter(*word) == 's' && word[1] == '\0');
}

const struct glossary_term *glossary_at(size_t i)
{
    return i < TERMS ? &terms[i] : NULL;
}

/* Linear, in some dozen terms. */
const struct glossary_term *glossary_find(const char *word)
{
    for (size_t i = 0; i < TERMS; i++)
        if (names_term(word, terms[i].word))
            return &terms[i];
    return NULL;
}

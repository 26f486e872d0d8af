/* SPDX-License-Identifier: GPL-3.0-or-later */
/*
 * glossary.h - the words of glossary.def and what they mean.
 */
#ifndef EXPERIMENTS_WORDS_GLOSSARY_H
#define EXPERIMENTS_WORDS_GLOSSARY_H

#include <stddef.h>

struct glossary_term {
    const char *word, *meaning;
};

/* Term `i`, in the order of the alphabet; NULL past the last. */
const struct glossary_term *glossary_at(size_t i);
/* The term that a word names, in large or small letters, with blanks, "-" or
 * "_" between its parts, in the singular or with an "s" behind; NULL: none. */
const struct glossary_term *glossary_find(const char *word);

#endif

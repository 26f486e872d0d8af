#!/bin/sh
# SPDX-License-Identifier: GPL-3.0-or-later
#
# embed.sh - prints C that holds the given files' text, so that the program
# runs from any folder.  `embed.sh NAME HEADER FILE...` defines the array
# NAME_file[] and NAME_file_count that HEADER declares; items keep the order
# of the arguments, and an item's name is the file's last path element.
# Text only, lines ended by LF; a question mark is escaped for trigraphs' sake.
set -eu
export LC_ALL=C

name=$1 header=$2
shift 2
echo "/* Made by models/embed.sh; do not edit. */"
echo "#include \"$header\""
echo "#pragma GCC diagnostic ignored \"-Woverlength-strings\""
i=0
for file in "$@"; do
    echo "static const char text_$i[] = \"\""
    sed 's/[\\"?]/\\&/g; s/^/"/; s/$/\\n"/' "$file"
    echo ';'
    i=$((i + 1))
done
echo "const struct ${name}_file ${name}_file[] = {"
i=0
for file in "$@"; do
    case $file in *.h) item=$file ;; *) item=${file##*/} ;; esac
    echo "    { \"$item\", text_$i, sizeof text_$i - 1 },"
    i=$((i + 1))
done
echo "    { 0, 0, 0 }     /* one more than counted: no array is empty */"
echo "};"
echo "const unsigned ${name}_file_count = $i;"

# SPDX-License-Identifier: GPL-3.0-or-later
"""places.py - where a fault can be planted in C, and which: one change of one line.

Read by tests/faults.py, which asks whether a wrong figure leaves the program, and by
tests/mutants.py, which asks whether a test fails.
"""
import collections
import os
import re

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# What a change replaces, by what. Longer tokens stand before their beginnings.
SWAPS = [
    ("relation", r"<=", ["<"]), ("relation", r">=", [">"]),
    ("relation", r"==", ["!="]), ("relation", r"!=", ["=="]),
    ("relation", r"(?<![-<>])>(?![>=])", [">=", "<"]),
    ("relation", r"(?<!<)<(?![<=])", ["<=", ">"]),
    ("arithmetic", r"\+=", ["-=", "="]), ("arithmetic", r"-=", ["+="]),
    ("arithmetic", r"(?<= )\+(?= )", ["-"]), ("arithmetic", r"(?<= )-(?= )", ["+"]),
    ("arithmetic", r"(?<= )\*(?= )", ["/"]), ("arithmetic", r"(?<= )/(?= )", ["*"]),
    ("logic", r"&&", ["||"]), ("logic", r"\|\|", ["&&"]),
    ("constant", r"(?<![\w.])0(?![\w.])", ["1"]), ("constant", r"(?<![\w.])1(?![\w.])", ["2", "0"]),
    ("constant", r"(?<![\w.])1e9\b", ["1e8"]), ("constant", r"\b3600\b", ["360"]),
    ("constant", r"\btrue\b", ["false"]), ("constant", r"\bfalse\b", ["true"]),
]
STATEMENT = re.compile(r"^\s+[A-Za-z_][\w>.\[\]() ,&*-]*(\([^;]*\)|[-+*/|&]?= [^;]*|\+\+|--);$")
DECLARATION = re.compile(r"^\s+(const |static |struct |enum |u?int\d+_t |double |bool |char |"
                         r"wide |wide_ns |size_t |uint|return|else )")
NOT_CODE = re.compile(r"^\s*(/?\*|//|#|assert\(|_Static_assert|\"|[}{]?$)|^\s*case |^#|_MAX\b.*\[")
STRING = re.compile(r'"(\\.|[^"])*"')


def code_lines(text):
    """Numbers and texts of lines that are code within functions."""
    depth, comment = 0, False
    for number, line in enumerate(text.split("\n")):
        bare = STRING.sub('""', line)
        inside = depth > 0 and not comment
        if "/*" in bare and "*/" not in bare:
            comment = True
        if inside and not NOT_CODE.match(line):
            yield number, line
        if "*/" in bare:
            comment = False
        depth += bare.count("{") - bare.count("}")


def changes_of(line):
    """(kind, new line) of all single changes of a line."""
    code = line.split("/*")[0]
    for kind, pattern, by in SWAPS:
        for found in re.finditer(pattern, code):
            for new in by:
                yield kind, line[:found.start()] + new + line[found.end():]
    if STATEMENT.match(code.rstrip()) and not DECLARATION.match(code):
        yield "dropped", re.match(r"\s*", line).group() + ";"
    found = re.search(r"\w\(([\w>.\-]+), ([\w>.\-]+)\)", code)
    if found and found.group(1) != found.group(2):
        yield "swapped", (line[:found.start(1)] + found.group(2) + ", " + found.group(1) +
                          line[found.end(2):])


def places_of(files):
    for name in files:
        with open(os.path.join(ROOT, name), encoding="utf-8") as file:
            text = file.read()
        for number, line in code_lines(text):
            for kind, new in changes_of(line):
                yield name, number, kind, new


def lines_of(files):
    """The changes of each line, by (file, number), in a fixed order."""
    by_line = collections.defaultdict(list)
    for place in places_of(files):
        by_line[place[:2]].append(place)
    return by_line


def planted(name, number, new):
    """The text of a file with one line changed."""
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        text = file.read().split("\n")
    text[number] = new
    return "\n".join(text)


def in_words(name, number, new):
    """Is the change within a text between quotes, which a user reads?"""
    old = line_at(name, number)
    return STRING.sub('""', old) == STRING.sub('""', new)


def line_at(name, number):
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        return file.read().split("\n")[number]


def in_table(name, number):
    """Is the line one of a table of data, which no test runs?"""
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        text = file.read().split("\n")
    begins = next((line for line in reversed(text[:number]) if re.match(r"[A-Za-z_{}]", line)), "")
    return begins.rstrip().endswith("= {")


def function_at(name, number):
    """The function that has the line: the name before the last parenthesis that begins one."""
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        text = file.read().split("\n")
    for line in reversed(text[:number]):
        line = re.sub(r"^__attribute__\(\(\w+\)\) ", "", line)
        found = re.match(r"^[A-Za-z_][^=;]*?(\w+)\(", line)
        if found:
            return found.group(1)
    return "-"


def function_lines(name, number):
    """The lines of the function that has the line, as numbers."""
    with open(os.path.join(ROOT, name), encoding="utf-8") as file:
        text = file.read().split("\n")
    first = next((n for n in range(number, -1, -1) if text[n].startswith("{")), number)
    last = next((n for n in range(number, len(text)) if text[n].startswith("}")), number)
    return range(first, last + 1)

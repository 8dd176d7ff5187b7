#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measure the C sources of folders: types, lengths of functions, helpers that are called once.

usage: shape.py [--list] [--limits TYPES,ONCE,MEDIAN,TENTH,LONGEST] FOLDER...

A type is a definition of a struct, union or enum or a typedef; an enum without a name is a list of
constants and no type. A line of a function is one from the
line with its opening brace to the closing one, both left out. A function is called once if its name
occurs once beside its definition and declarations in these folders, and is used, not exported; one
that is not called there but handed over (a table of functions, qsort) has no caller to go back to,
nor has main().
With limits the last line and the exit status say whether the measures are within them: types,
percent of functions called once and at most 12 lines long, the median and the 90th percentile of the
lines of functions, the longest function.
"""
import pathlib
import re
import sys


def strip(text):
    """Comments and texts go, line numbers stay."""
    def blank(match):
        found = match.group(0)
        return '""' if found[0] == '"' else re.sub(r"[^\n]", " ", found)
    return re.sub(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"', blank, text, flags=re.S)


def functions(text):
    """(name, is static or internal, lines) of every function with a body in column 0."""
    lines = text.split("\n")
    for number, line in enumerate(lines):
        if line != "{":
            continue
        head = ""
        for before in range(number - 1, -1, -1):
            if not lines[before].strip() or lines[before][0] in "}#{" or lines[before].endswith(";"):
                break
            head = lines[before] + " " + head
        name = re.search(r"\b(\w+)\s*\(", re.sub(r"__attribute__\(\(.*?\)\)\)?", "", head))
        end = lines.index("}", number)
        if name:
            yield name.group(1), "BP_PUBLIC" in head, end - number - 1


def is_handed_over(name, everything):
    return re.search(r"\b%s\b(?!\s*\()" % name, everything) is not None


def measure(folders):
    paths = [path for folder in folders for path in sorted(pathlib.Path(folder).rglob("*.[ch]"))
             if "kernel-headers" not in path.parts]
    texts = {path: strip(path.read_text()) for path in paths}
    everything = "\n".join(texts.values())
    found = []
    for path, text in texts.items():
        for name, public, lines in functions(text):
            found.append((path, name, public, lines))
    types = []
    for path, text in texts.items():
        for match in re.finditer(r"\b(?:struct|union|enum)\s*(\w*)\s*\{|^typedef\b[^;{]*;", text, re.M):
            if match.group(0).split("{")[0].strip() != "enum":
                types.append((path, match.group(1) or match.group(0).strip()))
    words = {}
    for word in re.findall(r"\b\w+\b", everything):
        words[word] = words.get(word, 0) + 1
    declared = {}
    for name in re.findall(r"^(?!\s)[\w *]*?\b(\w+)\([^;{}]*\)[^;{}=]*;", everything, re.M):
        declared[name] = declared.get(name, 0) + 1
    once = [(path, name, lines) for path, name, public, lines in found
            if not public and name != "main" and lines <= 12 and
            words[name] - 1 - declared.get(name, 0) == 1 and not is_handed_over(name, everything)]
    return paths, texts, found, types, once


def main():
    listed = "--list" in sys.argv
    limits = None
    if "--limits" in sys.argv:
        at = sys.argv.index("--limits")
        limits = [float(word) for word in sys.argv[at + 1].split(",")]
        del sys.argv[at:at + 2]
    folders = [word for word in sys.argv[1:] if word != "--list"]
    paths, texts, found, types, once = measure(folders)
    lengths = sorted(lines for _, _, _, lines in found)
    longest = max(found, key=lambda one: one[3])
    file_lines = {path: texts[path].count("\n") for path in paths}
    biggest = max(file_lines, key=file_lines.get)
    print(f"files {len(paths)}, lines {sum(file_lines.values())}, longest {biggest} {file_lines[biggest]}")
    print(f"types {len(types)}")
    print(f"functions {len(found)}: median {lengths[len(lengths) // 2]}, "
          f"90th percentile {lengths[len(lengths) * 9 // 10]}, longest {longest[1]} {longest[3]}")
    print(f"called once and at most 12 lines {len(once)}, {100 * len(once) / len(found):.1f} %")
    if listed:
        for path, name in types:
            print(f"type {path} {name}")
        for path, name, lines in once:
            print(f"once {path} {name} {lines}")
    measures = [len(types), 100 * len(once) / len(found), lengths[len(lengths) // 2],
                lengths[len(lengths) * 9 // 10], longest[3]]
    if limits and any(one > most for one, most in zip(measures, limits, strict=True)):
        sys.exit("over the limits " + ", ".join(f"{one:g}" for one in limits))


if __name__ == "__main__":
    main()

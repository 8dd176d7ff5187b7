#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-only
"""Measure the C sources of folders: types, lengths of functions, helpers that are called once.

usage: shape.py [--list] FOLDER...

A type is a definition of a struct, union or enum or a typedef. A line of a function is one from the
line with its opening brace to the closing one, both left out. A function is called once if its name
occurs once beside its definition and declarations in these folders, and is used, not exported.
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
            types.append((path, match.group(1) or match.group(0).strip()))
    words = {}
    for word in re.findall(r"\b\w+\b", everything):
        words[word] = words.get(word, 0) + 1
    declared = {}
    for name in re.findall(r"^(?!\s)[\w *]*?\b(\w+)\([^;{}]*\)[^;{}=]*;", everything, re.M):
        declared[name] = declared.get(name, 0) + 1
    once = [(path, name, lines) for path, name, public, lines in found
            if not public and lines <= 12 and
            words[name] - 1 - declared.get(name, 0) == 1]
    return paths, texts, found, types, once


def main():
    listed = "--list" in sys.argv
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


if __name__ == "__main__":
    main()
